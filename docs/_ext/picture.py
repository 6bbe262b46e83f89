"""The directive ``picture``: an image that is left out as long as its file is not there."""

from pathlib import Path

from docutils.parsers.rst.directives.images import Figure


class Picture(Figure):
    """A figure of docutils, with its options, of a file that other tools make."""

    def run(self):
        env = self.state.document.settings.env
        _, path = env.relfn2path(self.arguments[0], env.docname)
        if Path(path).is_file():
            return super().run()
        env.note_dependency(path)  # the page is built anew when the file comes
        return []


def setup(app):
    """Sphinx calls this."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

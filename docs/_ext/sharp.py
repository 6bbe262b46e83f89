"""Pictures of `make_pictures.py` in their size: two of their pixels are one of the page. A click shows all of them."""

from pathlib import Path

from docutils import nodes
from PIL import Image

_SHARPNESS = 2  # `DPI` of make_pictures.py over the 96 pixels an inch of a page


def mend(app, doctree):
    """Give each picture its width, unless it has one or leads to something else."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir, image["uri"])
        linked = isinstance(image.parent, nodes.reference)
        if path.parent.name == "pictures" and path.is_file() and not linked:
            with Image.open(path) as picture:
                image.setdefault("width", f"{picture.width // _SHARPNESS}px")


def setup(app):
    """Sphinx calls this."""
    app.connect("doctree-read", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

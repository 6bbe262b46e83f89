"""Formulas as MathML at build time: browsers draw it themselves, so that pages need neither a network nor scripts."""

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.errors import ExtensionError

_CONVERTER = LatexToMathML(fancy_error=False)


def mathml(tex: str, *, block: bool = False) -> str:
    r"""A formula of LaTeX as MathML Core; an error that names the formula where a command is not known."""
    try:
        return _CONVERTER.convert_with_local_state(tex.strip(), displaystyle=block)
    except LatexError as error:
        raise ExtensionError(
            f"the formula {tex!r} has no counterpart in MathML: {error}"
        ) from error


def _draw_inline(writer, node):
    writer.body.append(f'<span class="math">{mathml(node.astext())}</span>')
    raise nodes.SkipNode


def _draw_block(writer, node):
    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (_draw_inline, None), (_draw_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The examples as notebooks to download: ``notebooks/NAME.ipynb`` of the site is made from ``examples/NAME.py``."""

from pathlib import Path

import jupytext
from nbformat.v4 import new_markdown_cell


def notebook(path):
    """A script with cells (``# %%``) as a notebook, in which the titles of cells are headings."""
    read = jupytext.read(path)
    cells = []
    for cell in read.cells:
        if title := cell.metadata.pop("title", None):
            cells.append(new_markdown_cell(f"## {title}", id=f"title-{len(cells)}"))
        cells.append(cell)
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"  # the same in every build
    read.cells = cells
    read.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    return read


def write(app, exception):
    """Write them beside the pages."""
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir, "notebooks")
        folder.mkdir(exist_ok=True)
        for path in sorted(Path(app.srcdir).parent.glob("examples/ex*.py")):
            jupytext.write(notebook(path), folder / f"{path.stem}.ipynb")


def setup(app):
    """Sphinx calls this."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

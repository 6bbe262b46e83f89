"""The examples as notebooks: what a reader downloads has the text of the script, cell by cell."""

import ast
from pathlib import Path

import pytest

from tests.fixtures import script

pytest.importorskip("jupytext", reason="the extra 'docs' is not installed")
nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("ex*.py"))


@pytest.fixture(scope="module")
def notebook():
    return script(ROOT / "docs" / "_ext" / "notebooks.py").notebook


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_says_what_the_script_says(path, notebook):
    made = notebook(path)
    nbformat.validate(made)
    source = path.read_text(encoding="utf-8")
    words, *rest = made.cells
    assert words.cell_type == "markdown" and words.source.split() == ast.get_docstring(ast.parse(source)).split()
    code = "\n".join(cell.source for cell in rest if cell.cell_type == "code")
    assert ast.dump(ast.parse(code)) == ast.dump(ast.Module(ast.parse(source).body[1:], []))
    titles = [cell.source for cell in rest if cell.cell_type == "markdown"]
    assert titles == [line.replace("# %%", "##") for line in source.splitlines() if line.startswith("# %% ")][1:]
    assert notebook(path) == made  # the same in every build

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


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore")  # of jupyter's libraries
def test_a_notebook_runs_and_shows_its_figure(notebook, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # of the checks; a notebook has its own
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    made = notebook(ROOT / "examples" / "ex02_tracking.py")
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(made, kernel_name="python3", timeout=600, resources=resources).execute()
    outputs = [cell.get("outputs", []) for cell in made.cells]
    assert sum("image/png" in output.get("data", {}) for output in outputs[-1]) == 1
    assert any("error at the end" in output.get("text", "") for some in outputs for output in some)

"""Figures in a notebook: one picture each, whatever is imported, and wherever in a cell."""

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
import nbformat  # noqa: E402

RUN = """
import cmbcontrol as cmb
from cmbcontrol import plants
plant = plants.pendulum()
run = cmb.simulate(plant, q0=plant.assemble(angle=-1.0), t_end=0.1, output_times=0.05)
def small():  # as run.plot makes its own, with less to draw
    figure = cmb.plot.figure.new_figure(2.0, 2.0)
    figure.add_subplot()
    return figure
"""
# (cell, pictures that it shows)
CELLS = (
    ("run.plot()", 1),
    ("for _ in range(3):\n    small()", 3),
    ("kept = small()", 1),
    ("kept", 1),
    ("small();", 1),
    ("display(small())", 1),
    ("run.plot()\ncmb.plot.accuracy(run)", 2),
    ("cmb.plot.save(small(), folder + '/x.svg'); None", 1),
)


def pictures(cell):
    """How many a cell shows; a picture in several formats is one."""
    data = [output["data"] for output in cell.outputs if "data" in output]
    assert not any(output.output_type == "error" for output in cell.outputs), cell.outputs
    return sum(any(kind.startswith("image/") for kind in shown) for shown in data)


def notebook(*cells):
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(made, kernel_name="python3", timeout=300).execute()
    return made.cells


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore")  # of jupyter's libraries
@pytest.mark.parametrize(
    "before", ["", "import matplotlib.pyplot as plt\n", "%matplotlib agg\nimport matplotlib.pyplot as plt\n"]
)
def test_each_figure_is_shown_once(before, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # which a kernel inherits: with "Agg" nothing is shown
    folder = f"folder = {str(tmp_path)!r}\n"
    cells = notebook(
        before + folder + RUN, *(cell for cell, _ in CELLS), "import matplotlib.pyplot as plt", "run", "plant"
    )
    silent = [1, 0, 0, 1, 0, 1, 1, 0]  # where a backend that shows nothing was chosen: what a cell ends with
    assert [pictures(cell) for cell in cells[1:-3]] == (silent if "agg" in before else [n for _, n in CELLS])
    for cell in cells[-2:]:
        (output,) = cell.outputs
        assert output["data"]["text/html"].startswith("<div>") and "data:image/png" in output["data"]["text/html"]
    assert (tmp_path / "x.svg").exists()

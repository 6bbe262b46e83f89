"""The Python blocks of the documentation run, page by page, and print and find what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from cmbcontrol import plants
from cmbcontrol.controllers.constrained_actuation import ActuationStatus
from tests.fixtures import script

DOCS = Path(__file__).parents[2] / "docs"
PLAIN = (
    "c-code.md",
    *(
        "coming-from.md",
        "cascade.md",
        "gain-scheduling.md",
        "robust-tuning.md",
        "controller-chains.md",
        "control.md",
        "designing-gains.md",
        "experiments.md",
        "formulations.md",
    ),
    *(
        "gallery.md",
        "getting-started.md",
        "index.md",
        "linear.md",
        "measured-responses.md",
        "machine-files.md",
        "fmu.md",
        "mjcf.md",
        "motion-profiles.md",
        "urdf.md",
        "plants.md",
        "python-control.md",
        "reports.md",
        "robust-synthesis.md",
        "singular-configurations.md",
        "trim.md",
    ),
    "studies.md",
    "tutorial.md",
    "viewer.md",
)
OWN = (
    *(
        "force.md",
        "legged.md",
        "limits.md",
        "modes.md",
        "motion.md",
        "parametrizations.md",
        "passive-joints.md",
        "switching.md",
    ),
    "your-own-machine.md",
)
SKETCHES = ("million-runs.md", "simulation.md")  # their blocks are calls in the middle of a program
NUMBER = re.compile(r"[-+]?\b\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
ROUNDING = 1e-6  # numbers below it, errors of loops and energies, differ from platform to platform
LONG = ("controller-chains.md", "designing-gains.md", "studies.md", "tutorial.md")


make_pictures = script(DOCS / "make_pictures.py")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a page in an empty folder; its text, its blocks of Python, and the names that they leave."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def execute(page):
        text = (DOCS / page).read_text(encoding="utf-8")
        blocks, names = [], {"__name__": "page"}
        for part in make_pictures.parts_of(page.removesuffix(".md")):
            if part["block"] is not None:
                blocks.append(part["block"])
                if page.removesuffix(".md") in make_pictures.APART:
                    names = {"__name__": "page"}
                ran = make_pictures.run_block(part["block"], names, page)
                print(ran.printed, end="")
            elif part["picture"]:
                assert isinstance(ran.value, Figure), part["picture"]
            elif blocks:
                assert_same(part["output"], ran.printed)
        assert blocks
        return text, blocks, names

    monkeypatch.chdir(tmp_path)
    yield execute
    plt.close("all")


def assert_same(shown, printed):
    """What a page shows is what its block prints: words, and numbers up to the rounding of another processor."""
    assert " ".join(NUMBER.sub("#", shown).split()) == " ".join(NUMBER.sub("#", printed).split())
    for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        x, y = (float(number.replace(",", "")) for number in (a, b))
        assert max(abs(x), abs(y)) < ROUNDING or abs(x - y) <= 0.02 * max(abs(x), abs(y)), (a, b)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] * (p in LONG)) for p in PLAIN])
@pytest.mark.first(4)
def test_page_runs(page, run):
    run(page)


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")  # laws in continuous time
def test_force(run):
    _, blocks, names = run("force.md")
    assert len(blocks) == 4
    assert np.abs(names["run"].report.sel(quantity="force_error_grasp_fx")).max() < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")  # laws that iterate
def test_legged(run):
    _, blocks, names = run("legged.md")
    assert len(blocks) == 11
    assert names["tips"].max_energy_error < 1e-5
    assert 0.1 < names["tips"].q.sel(position="trunk_x")[-1] < 0.5


@pytest.mark.nojit_slow
def test_limits(run):
    _, _, names = run("limits.md")
    assert names["found"].status == ActuationStatus.OPTIMAL


def test_modes(run, tmp_path, capsys):
    _, _, names = run("modes.md")
    assert "participation of the independent coordinates" in capsys.readouterr().out
    assert names["poles"].real.max() < 0.0
    assert {path.name for path in tmp_path.iterdir()} == {"modes.png", "mode.gif", "locus.png"}


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")  # laws in continuous time
def test_motion(run, capsys):
    run("motion.md")
    error, norm = map(float, capsys.readouterr().out.split())
    assert error < 0.01 and 0.1 < norm < 1.0


@pytest.mark.nojit_slow
def test_parametrizations(run):
    run("parametrizations.md")


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_passive_joints(run, tmp_path, capsys):
    run("passive-joints.md")
    printed = capsys.readouterr().out
    assert "True True" in printed
    assert "['q2'] ['singular configuration']" in printed
    assert "['actuation singularity']" in printed
    assert "margin 0.49 " in printed and "least reached: elbow_left 1, elbow_right -1" in printed
    assert (tmp_path / "margin.png").stat().st_size > 10_000


@pytest.mark.nojit_slow
def test_switching(run):
    _, blocks, _ = run("switching.md")
    assert len(blocks) == 7


@pytest.mark.nojit_slow
def test_your_own_machine(run, capsys):
    """It is the machine of the catalogue, in at most 30 lines."""
    _, blocks, names = run("your-own-machine.md")
    machine = blocks[0].split("bodies = [")[1].split("print(")[0]
    assert len(machine.strip().splitlines()) <= 30
    theirs = plants.excavator()
    for own, body in zip(names["arm"].bodies, theirs.bodies, strict=True):
        assert own.mass == body.mass and np.array_equal(own.com, body.com)
    assert names["peak"] > 1e4 and "of its limit" in capsys.readouterr().out


def test_every_page_with_python_is_run():
    """Those of PLAIN run through, those of OWN have a test here for what they say."""
    with_python = {path.name for path in DOCS.glob("*.md") if "```python\n" in path.read_text(encoding="utf-8")}
    assert with_python == {*PLAIN, *OWN, *SKETCHES}


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore")  # of jupyter's libraries
def test_the_tutorial_in_a_bare_notebook(tmp_path):
    """A cell a block, nothing imported beforehand: the figures of the page appear below their cells."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```python\n(.*?)^```$|^!\[.*?\]\((.*?)\)$", text, re.M | re.S)
    cells = [nbformat.v4.new_code_cell(code) for code, _ in parts if code]
    made = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(made, kernel_name="python3", timeout=600, resources=resources).execute()
    expected = []  # pictures after each block
    for code, _ in parts:
        if code:
            expected.append(0)
        else:
            expected[-1] += 1
    shown = [sum("image/png" in x.get("data", {}) for x in cell.outputs) for cell in made.cells]
    assert shown == expected and sum(expected) >= 6

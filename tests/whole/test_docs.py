"""The Python blocks of the documentation run, page by page, and print and find what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.controllers.constrained_actuation import ActuationStatus

DOCS = Path(__file__).parents[2] / "docs"
PLAIN = (
    "c-code.md",
    *("controller-chains.md", "control.md", "designing-gains.md", "experiments.md", "formulations.md"),
    *(
        "getting-started.md",
        "linear.md",
        "machine-files.md",
        "fmu.md",
        "mjcf.md",
        "urdf.md",
        "plants.md",
        "python-control.md",
        "singular-configurations.md",
        "trim.md",
    ),
    "studies.md",
)
OWN = (
    *("force.md", "limits.md", "modes.md", "motion.md", "parametrizations.md", "passive-joints.md", "switching.md"),
    "your-own-machine.md",
)
SKETCHES = ("million-runs.md", "simulation.md")  # their blocks are calls in the middle of a program
LONG = ("controller-chains.md", "designing-gains.md")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a page in an empty folder; its text, its blocks of Python, and the names that they leave."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def execute(page):
        text = (DOCS / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        assert blocks
        names: dict = {"__name__": "page"}
        for block in blocks:
            exec(compile(block, page, "exec"), names)
        return text, blocks, names

    monkeypatch.chdir(tmp_path)
    yield execute
    plt.close("all")


def assert_printed(text, printed):
    """What the page shows as output was printed."""
    for block in re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S):
        assert block in printed


@pytest.mark.nojit_slow
@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] * (p in LONG)) for p in PLAIN])
def test_page_runs(page, run):
    run(page)


@pytest.mark.nojit_slow
def test_force(run):
    _, blocks, names = run("force.md")
    assert len(blocks) == 4
    assert np.abs(names["run"].report.sel(quantity="force_error_grasp_fx")).max() < 1e-9


@pytest.mark.nojit_slow
def test_limits(run):
    _, _, names = run("limits.md")
    assert names["found"].status == ActuationStatus.OPTIMAL


def test_modes(run, tmp_path, capsys):
    text, _, names = run("modes.md")
    assert_printed(text, capsys.readouterr().out)
    assert names["poles"].real.max() < 0.0
    assert {path.name for path in tmp_path.iterdir()} == {"modes.png", "mode.gif", "locus.png"}


@pytest.mark.nojit_slow
def test_motion(run, capsys):
    run("motion.md")
    error, norm = map(float, capsys.readouterr().out.split())
    assert error < 0.01 and 0.1 < norm < 1.0


@pytest.mark.nojit_slow
def test_parametrizations(run, capsys):
    text, _, _ = run("parametrizations.md")
    assert_printed(text, capsys.readouterr().out)


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
    assert len(blocks) == 6


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

"""The numbered examples run, and show what they promise. Examples 5 to 11 are run by the tests of what they show."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def results(name):
    """Import an example and run its main()."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main()


@pytest.mark.nojit_slow
def test_ex01_own_machine():
    found = results("ex01_own_machine")
    assert found["dof"] == 1 and found["redundant rows"] == 3
    assert found["drift, m"] < 1e-12 and found["difference to the twin, rad"] < 1e-9


@pytest.mark.nojit_slow
def test_ex02_tracking():
    found = results("ex02_tracking")
    assert found["continuous: error at the end, rad"] < 1e-6
    assert found["1 kHz: error at the end, rad"] < 1e-2


@pytest.mark.nojit_slow
def test_ex03_singular_poses():
    found = results("ex03_singular_poses")
    assert all(value <= 2.2e-5 for name, value in found.items() if "mirror" in name)  # as in test_simulate.MIRROR
    assert all(value <= 6000 for name, value in found.items() if "evaluations" in name)


def test_ex04_linear_model():
    found = results("ex04_linear_model")
    assert found["poles differ between coordinates by, rad/s"] < 1e-8
    assert found["slowest closed-loop pole, rad/s"] < -1.0
    assert found["error left after 3 s, rad"] < 0.02


@pytest.mark.slow
def test_ex12_tuning():
    found = results("ex12_tuning")
    assert found["robust gain: models inside of the region"] == 27
    assert found["robust gain: nonlinear machines inside"] == 27
    assert found["nominal LQR: nonlinear machines inside"] < 20
    assert found["tuned cost over that of the start"] < 0.1


@pytest.mark.nojit_slow
def test_the_tour_of_the_readme(tmp_path, monkeypatch):
    import re

    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    tour = re.search(r"^```python\n(.*?)^```$", readme, re.M | re.S).group(1)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    try:
        exec(compile(tour, "README.md", "exec"), names)
    finally:
        plt.close("all")
    assert names["sys"].nstates == 4
    assert names["poles"].real.max() < 0.0
    assert (tmp_path / "five_bar.gif").stat().st_size > 10_000


@pytest.mark.nojit_slow
def test_ex17_own_scheduler():
    found = results("ex17_own_scheduler")
    assert found["ended by the event"] == 1.0 and found["error there, rad"] < 0.031
    assert found["time until it rests at the goal, s"] < 1.2

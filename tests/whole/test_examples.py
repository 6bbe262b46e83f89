"""The numbered examples run, and show what they promise."""

import importlib.util
from pathlib import Path

import pytest

from tests.fixtures import matched

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    """A numbered example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(name):
    """What the main() of an example finds."""
    return example(name).main()


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
    # as MIRROR in tests/sim/test_simulate.py
    assert all(value <= 2.2e-5 for name, value in found.items() if "mirror" in name)
    assert all(value <= 6000 for name, value in found.items() if "evaluations" in name)


def test_ex04_linear_model():
    found = results("ex04_linear_model")
    assert found["poles differ between coordinates by, rad/s"] < 1e-8
    assert found["slowest closed-loop pole, rad/s"] < -1.0
    assert found["error left after 3 s, rad"] < 0.02


@pytest.mark.nojit_slow
def test_ex05_loader():
    """Off equilibrium the eigenvalues belong to the coordinates, as in the thesis; at one, to the machine."""
    found = results("ex05_loader")
    poles = {name.split(":")[0]: value for name, value in found.items() if name.endswith("eigenvalues, 1/s")}
    assert matched(poles["falling, boom and bucket"], poles["falling, lift and tilt"]) > 0.5
    assert matched(poles["held, boom and bucket"], poles["held, lift and tilt"]) < 1e-9
    errors = {name: value for name, value in found.items() if "error of" in name}
    assert len(errors) == 12
    assert all(value < 1e-8 for name, value in errors.items() if "order 8" in name)
    assert all(1e-8 < value < 1e-2 for name, value in errors.items() if "forward" in name)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex06_task_tracking():
    found = results("ex06_task_tracking")
    assert all(x < 1e-6 for name, x in found.items() if "error equation" in name)
    assert all(x < 1e-8 for name, x in found.items() if "error at the end" in name)
    assert found["paths of the object differ by, m"] < 1e-6  # what is left over has no effect on the path
    assert found["turned at the end, damped, rad"] > 0.3 and abs(found["turned at the end, posture, rad"]) < 1e-3


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex07_force_control():
    found = results("ex07_force_control")
    assert found["compensated: largest force error, N"] < 0.5
    assert found["compensated: largest moment error, N m"] < 0.06
    assert found["coupling ignored: largest force error, N"] > 2.0
    ratio = found["coupling ignored: largest path error, m"] / found["compensated: largest path error, m"]
    assert ratio == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex08_passive_joints(tmp_path):
    module = example("ex08_passive_joints")
    found = module.main()
    assert found["five-bar: largest torque on a passive joint, N m"] == 0.0
    assert found["five-bar: error at the end, rad"] < 1e-8
    assert found["slider-crank: largest error, rad"] < 1e-8
    assert found["slider-crank: torque off virtual work, N m"] < 2e-8
    assert found["slider-crank: losses"] == 1 and found["slider-crank: margin there"] == 0.0
    begin, exact = (found[f"slider-crank: {x}, rad"] for x in ("angle where the window begins", "the same by eq. (70)"))
    assert begin == pytest.approx(exact, abs=1e-4)
    assert module.figure(tmp_path / "chart.png").stat().st_size > 30_000


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex09_limits(tmp_path):
    module = example("ex09_limits")
    found = module.main()
    assert found["five-bar, clipped: aside of the path, rad"] > 10 * found["five-bar, scaled: aside of the path, rad"]
    assert all(value < 5e-3 for name, value in found.items() if name.startswith("five-bar") and "at the end" in name)
    assert all(value <= 1.0 + 1e-9 for name, value in found.items() if "largest use of a limit" in name)
    assert found["arms, least efforts: largest use of friction"] > 1.0
    assert found["arms, contacts kept: largest use of friction"] <= 0.9 + 1e-3
    assert found["arms, contacts kept: smallest normal force, N"] >= 20.0 - 1e-5
    assert found["arms, contacts kept: largest error, m and rad"] < 5e-3
    assert module.figure(tmp_path / "limits.png").stat().st_size > 50_000


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex10_grasp():
    found = results("ex10_grasp")
    assert found["largest joint error, rad"] < 1e-3 and found["joint error at the end, rad"] < 1e-5
    assert found["energy error, J"] < 1e-9 and found["loops open by at most, m"] < 1e-13
    assert found["soft, 0.02 rad off: energy lost at the switches, J"] > 1e-6
    assert found["soft, 0.02 rad off: energy error, J"] < 1e-9


@pytest.mark.nojit_slow
def test_ex11_touch_down():
    found = results("ex11_touch_down")
    assert found["error of that time, s"] < 1e-9 and found["landings"] == 2
    assert found["deepest the foot gets, m"] > -1e-9 and found["energy error, J"] < 1e-9
    assert found["highest the foot gets after it, m"] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "run"), [("ex10_grasp", "carry"), ("ex11_touch_down", "jump")])
def test_figures_of_runs_that_switch(name, run, tmp_path):
    module = example(name)
    module.figure(getattr(module, run)()).savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.slow
def test_ex12_tuning():
    found = results("ex12_tuning")
    assert found["robust gain: models inside of the region"] == 27
    assert found["robust gain: nonlinear machines inside"] == 27
    assert found["nominal LQR: nonlinear machines inside"] < 20
    assert found["tuned cost over that of the start"] < 0.1


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_ex13_de_falco():
    found = results("ex13_de_falco")
    assert found["our default: right until, s"] == 20.0 > found["rank 11 given: right until, s"]
    assert found["rank 11 given: right until, s"] > found["threshold = tolerance: right until, s"]
    assert found["our default: sum of Psi^2 at the end, m2"] < 1e-24


@pytest.mark.slow
def test_ex14_spencer_five_bar():
    found = results("ex14_spencer_five_bar")
    assert found["Lagrange, Baumgarte: energy error, J"] > 1e3 * found["default: energy error, J"]
    assert found["default: loop open, m"] < 1e-13
    largest = found["largest exact multiplier at the same times, N"]
    assert found["default: largest multiplier, N"] == pytest.approx(largest, rel=0.01)


@pytest.mark.slow
def test_ex15_aghili_slider_crank():
    found = results("ex15_aghili_slider_crank")
    assert found["closed forms: largest difference"] < 1e-13
    assert found["default: tracking error, rad"] < 1e-9


@pytest.mark.nojit_slow
def test_ex16_benchmarks():
    module = example("ex16_benchmarks")
    found = module.main()
    assert all(value < 1e-6 for name, value in found.items() if name.endswith((", m", ", J")))
    assert [value for name, value in found.items() if "flat configurations" in name] == [0, 10, 10, 0]
    assert len(module.figure(module.measured()).axes[0].lines) == 4


@pytest.mark.nojit_slow
def test_ex17_own_scheduler():
    found = results("ex17_own_scheduler")
    assert found["ended by the event"] == 1.0 and found["error there, rad"] < 0.031
    assert found["time until it rests at the goal, s"] < 1.2


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


def test_every_example_is_run():
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{path.stem}"' in text for path in EXAMPLES.glob("ex*.py"))

"""The numbered examples run, show what they promise, and draw it so that it can be read."""

import functools
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from tests.fixtures import matched, script

EXAMPLES = Path(__file__).parents[2] / "examples"
LONG = ("ex09_limits", "ex12_tuning", "ex13_de_falco", "ex14_spencer_five_bar", "ex15_aghili_slider_crank")
NO_UNIT = ("run", "cost", "damping_ratio")  # what axes of numbers are called


@functools.cache
def example(name):
    """A numbered example as a module; its runs are made once, for numbers and figure."""
    return script(EXAMPLES / f"{name}.py")


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
def test_ex08_passive_joints():
    found = results("ex08_passive_joints")
    assert found["five-bar: largest torque on a passive joint, N m"] == 0.0
    assert found["five-bar: error at the end, rad"] < 1e-8
    assert found["slider-crank: largest error, rad"] < 1e-8
    assert found["slider-crank: torque off virtual work, N m"] < 2e-8
    assert found["slider-crank: losses"] == 1 and found["slider-crank: margin there"] == 0.0
    begin, exact = (found[f"slider-crank: {x}, rad"] for x in ("angle where the window begins", "the same by eq. (70)"))
    assert begin == pytest.approx(exact, abs=1e-4)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex09_limits():
    found = results("ex09_limits")
    assert found["five-bar, clipped: aside of the path, rad"] > 10 * found["five-bar, scaled: aside of the path, rad"]
    assert all(value < 5e-3 for name, value in found.items() if name.startswith("five-bar") and "at the end" in name)
    assert all(value <= 1.0 + 1e-9 for name, value in found.items() if "largest use of a limit" in name)
    assert found["arms, least efforts: largest use of friction"] > 1.0
    assert found["arms, contacts kept: largest use of friction"] <= 0.9 + 1e-3
    assert found["arms, contacts kept: smallest normal force, N"] >= 20.0 - 1e-5
    assert found["arms, contacts kept: largest error, m and rad"] < 5e-3


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex10_grasp():
    found = results("ex10_grasp")
    assert found["largest joint error, rad"] < 1e-3 and found["joint error at the end, rad"] < 1e-5
    assert found["energy error, J"] < 1e-9 and found["loops open by at most, m"] < 1e-13
    assert found["soft, 0.02 rad off: energy lost at the switches, J"] > 1e-6
    assert found["soft, 0.02 rad off: energy error, J"] < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_ex11_touch_down():
    found = results("ex11_touch_down")
    assert found["error of that time, s"] < 1e-9 and found["landings"] == 2
    assert found["deepest the foot gets, m"] > -1e-9 and found["energy error, J"] < 1e-9
    assert found["highest the foot gets after it, m"] > 0.1


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
    found = results("ex16_benchmarks")
    assert all(value < 1e-6 for name, value in found.items() if name.endswith((", m", ", J")))
    assert [value for name, value in found.items() if "flat configurations" in name] == [0, 10, 10, 0]


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex17_own_scheduler():
    found = results("ex17_own_scheduler")
    assert found["ended by the event"] == 1.0 and found["error there, rad"] < 0.031
    assert found["time until it rests at the goal, s"] < 1.2


# -- figures -----------------------------------------------------------------------------------------------------


NAMES = sorted(path.stem for path in EXAMPLES.glob("ex*.py"))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in NAMES])
@pytest.mark.first(2)
def test_figures_can_be_read(name):
    figure = example(name).figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    assert [ax.get_title() for ax in figure.axes if not ax.has_data()] == []
    assert unlabelled(figure) == []
    assert outside(figure) == []
    assert unnamed(figure) == []


def unlabelled(figure):
    """Axes without a name, or without a unit; a neighbour with the same numbers may have it for both."""
    wrong = []
    for ax in figure.axes:
        for axis in [ax.xaxis, ax.yaxis] + ([ax.zaxis] if hasattr(ax, "zaxis") else []):
            text = axis.get_label_text()
            if text and text not in NO_UNIT and not re.search(r"\(.+\)", text):
                wrong.append(f"no unit: {text}")
            if not text and not any(same_numbers(ax, other, axis.axis_name) for other in figure.axes):
                wrong.append(f"no label on {axis.axis_name} of {ax.get_title() or ax.get_ylabel()!r}")
    return wrong


def same_numbers(ax, other, which):
    """Whether another panel of the row or column has the same limits, and their name."""
    places = [a.get_window_extent().get_points()[:, "xy".index(which)] / ax.figure.bbox.width for a in (ax, other)]
    limits = [getattr(a, f"get_{which}lim")() for a in (ax, other)]
    return bool(getattr(other, f"get_{which}label")()) and np.allclose(*limits) and np.allclose(*places, atol=0.02)


def outside(figure):
    """Texts that the border of the figure cuts."""
    page = figure.bbox.padded(1.0)
    texts = [ax.title for ax in figure.axes] + [ax.xaxis.label for ax in figure.axes]
    texts += [ax.yaxis.label for ax in figure.axes]
    texts += [text for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    boxes = ((text, text.get_window_extent()) for text in texts if text.get_text() and text.get_visible())
    return [t.get_text() for t, b in boxes if not (page.contains(*b.min) and page.contains(*b.max))]


def unnamed(figure):
    """Curves that no legend names, in panels with more than one colour; parts of machines need no names."""
    wrong = []
    for ax in figure.axes:
        if ax.get_xlabel() == "x (m)" or hasattr(ax, "zaxis"):
            continue
        curves = [line for line in ax.lines if len(line.get_xdata()) > 2 and line.get_linestyle() != "None"]
        colors = {to_rgb(line.get_color()) for line in curves}
        handles = ax.get_legend().legend_handles if ax.get_legend() else []
        named = {to_rgb(handle.get_color()) for handle in handles if hasattr(handle, "get_color")}
        if len(colors) > 1 and not colors <= named:
            wrong.append(f"{ax.get_ylabel()}: {len(colors - named)} colours")
    return wrong


def test_the_judges_of_figures_see_what_is_wrong():
    figure = Figure(figsize=(4.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    for color in ("red", "blue"):
        left.plot([0.0, 1.0, 2.0], color=color, label="a red one" if color == "red" else None)
    left.legend()
    left.set(xlabel="time", ylabel="angle (rad)")
    right.plot([0.0, 5.0])
    right.text(0.5, 0.5, "inside")
    right.set_title("a title that is longer than its figure is wide" + 40 * ".")
    figure.draw_without_rendering()
    assert unlabelled(figure) == ["no unit: time", *(f"no label on {x} of {right.get_title()!r}" for x in "xy")]
    assert outside(figure) == [right.get_title()]
    assert unnamed(figure) == ["angle (rad): 1 colours"]


# -- the tour ----------------------------------------------------------------------------------------------------


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

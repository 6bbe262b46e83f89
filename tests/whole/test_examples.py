"""The numbered examples run, show what they promise, and draw it so that it can be read."""

import functools
import re
import runpy
import tempfile
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from tests.fixtures import matched

EXAMPLES = Path(__file__).parents[2] / "examples"
LONG = (
    "ex09_limits",
    "ex18_servo_press",
    "ex12_tuning",
    "ex13_de_falco",
    "ex14_spencer_five_bar",
    "ex15_aghili_slider_crank",
)
NO_UNIT = ("run", "cost", "damping_ratio")  # what axes of numbers are called


@functools.cache
def example(name):
    """What the script of an example leaves in its names, run once in an empty folder, where it writes its picture."""
    import matplotlib.pyplot as plt

    try:
        with tempfile.TemporaryDirectory() as folder, chdir(folder), np.printoptions():
            names = runpy.run_path(str(EXAMPLES / f"{name}.py"))
            assert [path.name for path in Path(folder).iterdir()] == [f"{name}.png"]
    finally:
        plt.close("all")
    return names


@pytest.mark.nojit_slow
def test_ex01_own_machine():
    names = example("ex01_own_machine")
    assert names["found"].dof == 1 and names["found"].redundant["pin"] == 3
    assert names["run"].max_drift < 1e-12 and names["difference"] < 1e-9


@pytest.mark.nojit_slow
def test_ex02_tracking():
    final = {name: float(abs(run.error[-1]).max()) for name, run in example("ex02_tracking")["runs"].items()}
    assert final["continuous"] < 1e-6
    assert final["1 kHz"] < 1e-2


@pytest.mark.nojit_slow
def test_ex03_singular_poses():
    names = example("ex03_singular_poses")
    assert set(names["mirror"]) == set(names["runs"]) == set(names["starts"])
    # as MIRROR in tests/sim/test_simulate.py
    assert all(error.max() <= 2.2e-5 for error in names["mirror"].values())
    assert all(run.data.attrs["evaluations"] <= 6000 for run in names["runs"].values())


def test_ex04_linear_model():
    names = example("ex04_linear_model")
    assert names["difference"] < 1e-8
    assert names["closed"].real.max() < -1.0
    assert names["left_over"] < 0.02


@pytest.mark.nojit_slow
def test_ex05_loader():
    """Off equilibrium the eigenvalues belong to the coordinates, as in the thesis; at one, to the machine."""
    names = example("ex05_loader")
    poles = {case: model.poles() for case, model in names["models"].items()}
    assert matched(poles["falling", ("boom", "bucket")], poles["falling", ("lift", "tilt")]) > 0.5
    assert matched(poles["held", ("boom", "bucket")], poles["held", ("lift", "tilt")]) < 1e-9
    errors = names["errors"]
    assert len(errors) == 12
    assert all(value < 1e-8 for (*_, scheme), value in errors.items() if scheme == "order 8")
    assert all(1e-8 < value < 1e-2 for (*_, scheme), value in errors.items() if scheme == "forward")


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex06_task_tracking():
    names = example("ex06_task_tracking")
    assert len(names["misses"]) == len(names["ends"]) == 3
    assert max(names["misses"].values()) < 1e-6
    assert max(names["ends"].values()) < 1e-8
    assert names["apart"] < 1e-6  # what is left over has no effect on the path
    damped, level = (float(names["turned"][f"object, {how}"][-1]) for how in ("damped", "posture"))
    assert damped > 0.3 and abs(level) < 1e-3


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex07_force_control():
    names = example("ex07_force_control")
    compensated, ignored = names["force_errors"]["compensated"], names["force_errors"]["coupling ignored"]
    assert compensated[:2].max() < 0.5 and compensated[2] < 0.06
    assert ignored[:2].max() > 2.0
    ratio = names["path_errors"]["coupling ignored"].max() / names["path_errors"]["compensated"].max()
    assert ratio == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex08_passive_joints():
    names = example("ex08_passive_joints")
    assert names["passive"] == 0.0
    assert names["error"][-1] < 1e-8
    assert names["crank_error"] < 1e-8
    assert names["torque_error"] < 2e-8
    assert names["lost"].sizes["loss"] == 1 and names["lost"].loss_margin[0] == 0.0
    assert names["begin"] == pytest.approx(np.arccos(0.2 / np.sqrt(5.0)), abs=1e-4)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex09_limits():
    names = example("ex09_limits")
    assert names["aside"]["clipped"] > 10 * names["aside"]["scaled"]
    assert len(names["ends"]) == 4 and max(names["ends"].values()) < 5e-3
    assert all(use <= 1.0 + 1e-9 for name, use in names["uses"].items() if name != "without limits")
    assert names["friction_used"]["least efforts"] > 1.0
    assert names["friction_used"]["contacts kept"] <= 0.9 + 1e-3
    assert names["contacts"]["contacts kept"][..., 0].min() >= 20.0 - 1e-5
    assert names["carry_errors"]["contacts kept"] < 5e-3


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex10_grasp():
    names = example("ex10_grasp")
    run, soft = names["run"], names["soft"]
    assert names["error"].max() < 1e-3 and names["error"][-1] < 1e-5
    assert run.max_energy_error < 1e-9 and run.max_drift < 1e-13
    assert soft.impact_loss[-1] > 1e-6
    assert soft.max_energy_error < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_ex11_touch_down():
    names = example("ex11_touch_down")
    assert names["fall_error"] < 1e-9 and len(names["landings"]) == 2
    assert names["sole"].min() > -1e-9 and names["run"].max_energy_error < 1e-9
    assert names["hop"] > 0.1


@pytest.mark.slow
def test_ex12_tuning():
    names = example("ex12_tuning")
    assert names["models_inside"] == 27
    assert names["machines_inside"]["one gain for all"] == 27
    assert names["machines_inside"]["LQR of one model"] < 20
    assert names["gained"] < 0.1


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_ex13_de_falco():
    names = example("ex13_de_falco")
    right = names["right_until"]
    assert right["our default"] == 20.0 > right["rank 11 given"]
    assert right["rank 11 given"] > right["threshold = tolerance"]
    assert names["violations"]["our default"] < 1e-24


@pytest.mark.slow
def test_ex14_spencer_five_bar():
    names = example("ex14_spencer_five_bar")
    ours = names["ours"]
    assert names["lagrange"].energy_error > 1e3 * ours.energy_error
    assert ours.violation.max() < 1e-13
    largest = np.abs(names["exact_multipliers"]).max()
    assert np.abs(ours.multipliers).max() == pytest.approx(largest, rel=0.01)


@pytest.mark.slow
def test_ex15_aghili_slider_crank():
    names = example("ex15_aghili_slider_crank")
    assert names["closed_form_error"] < 1e-13
    assert names["tracking"]["default"] < 1e-9


@pytest.mark.nojit_slow
def test_ex16_benchmarks():
    results = list(example("ex16_benchmarks")["results"].values())
    assert all(max(result.largest, result.run.max_energy_error) < 1e-6 for result in results)
    assert [len(result.run.events()) for result in results] == [0, 10, 10, 0]


@pytest.mark.slow
def test_ex18_servo_press():
    names = example("ex18_servo_press")
    margins = names["tuned"].margins.loops[0]
    assert (margins.phase, margins.phase_frequency) == pytest.approx((45.0, 40.0), rel=1e-6)
    for name in ("as the law knows it", "real"):
        assert np.abs(names["errors"][name]).max() < 0.1  # mm
        assert np.abs(names["dwells"][name] - 4.0).max() < 0.01
    found = names["loops_measured"]
    assert float(found["as the law knows it"].deviation().max()) < 1e-6
    assert float(found["as the law knows it"].data["coherence"].min()) > 0.99
    assert 0.1 < float(found["real"].deviation().max()) < 1.0  # friction holds the ram where the motion is slow


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_ex17_own_scheduler():
    names = example("ex17_own_scheduler")
    assert "at the goal" in names["stepper"].ended and names["left_over"] < 0.031
    assert names["times"][-1] < 1.2


# -- figures -----------------------------------------------------------------------------------------------------


NAMES = sorted(path.stem for path in EXAMPLES.glob("ex*.py"))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in NAMES])
@pytest.mark.first(2)
def test_figures_can_be_read(name):
    figure = example(name)["fig"]
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

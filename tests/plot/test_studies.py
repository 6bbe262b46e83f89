"""Figures of studies show the rows, their limits, what failed, and units."""

from itertools import pairwise

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.plot.studies import distribution, envelope, pareto, scatter, tornado
from cmbcontrol.studies import Vary, sobol_indices, study
from tests.fixtures import drawn_curve, refuses


def case(a, b):
    if a > 0.9:
        raise ValueError("too large")
    return {"y": 3.0 * a - b, "z": 1.0 / (1.0 + a)}


@pytest.fixture(scope="module")
def found():
    vary = {"a": Vary((0.0, 1.0), "kg"), "b": (0.0, 1.0)}
    return study(case, vary, runs=64, sampling="sobol", measure_units={"y": "rad"})


def test_distribution(found):
    figure = distribution(found, "y", low=0.0)
    ax, share = figure.axes
    good = found.data.y.values[np.isfinite(found.data.y.values)]
    assert ax.get_xlabel() == "y (rad)" and sum(patch.get_height() for patch in ax.patches) == good.size
    x, p = share.lines[0].get_data()
    assert x.tolist() == sorted(good) and p[-1] == 1.0
    within = 100.0 * (good >= 0.0).sum() / 64
    assert ax.get_title().startswith(f"{within:.1f} % of 64 runs")
    refuses(lambda: distribution(found, "w"), "'w'", kind=ValueError)


def test_scatter(found):
    figure = scatter(found, color="b")
    assert len(figure.axes) == 5  # two by two, and a bar
    first = figure.axes[0]
    assert first.get_ylabel() == "y (rad)" and figure.axes[2].get_xlabel() == "a (kg)"
    points = first.collections[0].get_offsets()
    good = np.isfinite(found.data.y.values)
    np.testing.assert_allclose(points[good, 0], found.data.a.values[good])
    failed = first.lines[0].get_xdata()
    assert sorted(failed) == sorted(found.data.a.values[~good]) and len(failed) > 0


def test_tornado(found):
    figure = tornado(found.sensitivities("y"))
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["b", "a"]
    indices = sobol_indices(lambda a, b: {"y": 3.0 * a - b}, {"a": (0.0, 1.0), "b": (0.0, 1.0)}, "y", runs=256)
    bars = [patch.get_width() for patch in tornado(indices).axes[0].patches]
    assert bars == pytest.approx([0.1, 0.9, 0.1, 0.9], abs=0.02)
    refuses(lambda: tornado(found.statistics("y")), "tornado", kind=ValueError)


def test_pareto(found):
    figure = pareto(found, "y", "z")
    x, y = drawn_curve(figure.axes[0], "Pareto front")
    a, b = found.data.y.values, found.data.z.values
    for i in range(len(x)):
        assert not ((a < x[i]) & (b < y[i])).any()
    assert (np.diff(x) > 0.0).all() and (np.diff(y) < 0.0).all()


def test_envelope():
    plant = plants.pendulum()
    starts = np.linspace(0.1, 0.5, 5)
    runs = [simulate(plant, q0=plant.assemble(angle=a), t_end=0.2, output_times=0.05) for a in starts]
    ax = envelope(runs, "q", "angle").axes[0]
    t, middle = drawn_curve(ax, "median")
    np.testing.assert_allclose(middle, runs[2].q.sel(position="angle"))
    assert ax.get_ylabel() == "q angle (rad)" and t[-1] == 0.2
    refuses(lambda: envelope(runs[:1], "q", "angle"), "two runs", kind=ValueError)
    refuses(lambda: envelope(runs, "q", "angel"), "'angel'", "angle", kind=ValueError)
    other = simulate(plant, q0=plant.assemble(angle=0.1), t_end=0.1)
    refuses(lambda: envelope([*runs, other], "q", "angle"), "output times", kind=ValueError)


def test_a_limit_far_from_all_values_does_not_squeeze_them(found):
    ax = distribution(found, "z", low=0.0, high=1e6).axes[0]
    low, high = ax.get_xlim()
    assert high < 1.2 and low > -0.2 and ax.get_title().startswith(f"{100.0 * 57 / 64:.1f} % of 64 runs in 0 to 1e+06")


def test_many_parameters_go_on_below_and_all_are_named():
    names = [f"a_parameter_of_a_long_name_{i}" for i in range(13)]
    many = study(lambda **k: {"y": sum(k.values())}, {name: (0.0, 1.0) for name in names}, runs=10)
    figure = scatter(many)
    seen = [ax for ax in figure.axes if ax.get_visible()]
    assert len(figure.axes) == 16 and [ax.get_xlabel().replace("\n", "") for ax in seen] == names
    figure.draw_without_rendering()
    boxes = [ax.xaxis.label.get_window_extent() for ax in seen[:4]]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert seen[1].get_shared_y_axes().joined(seen[0], seen[12])


def test_failed_runs_are_counted_in_words(found):
    assert scatter(found).get_suptitle() == f"x at the bottom: {found.failures} runs that failed"


def test_an_envelope_of_rounding_is_a_line():
    plant = plants.pendulum()
    runs = [simulate(plant, q0=plant.assemble(angle=a), t_end=0.2, output_times=0.05) for a in (0.1, 0.2)]
    ax = envelope(runs, "drift", "pivot").axes[0]
    assert ax.get_ylim()[1] > 1e-3


def test_a_measure_that_does_not_vary_says_so():
    """Up to rounding: a histogram of rounding would look like one of something."""
    found = study(lambda a: {"y": 12_300.0 + 1e-13 * a * 12_300.0}, {"a": (0.0, 1.0)}, runs=24)
    assert distribution(found, "y").axes[0].get_title() == "the same in all 24 runs: 12,300"
    (text,) = tornado(found.sensitivities("y")).axes[0].texts
    assert "does not vary" in text.get_text()


def test_axes_are_in_the_unit_of_their_size():
    """Forces of 100 kN, lengths of millimetres: as in figures of runs. What is drawn stays in SI units."""

    def press(stroke, ratio):
        return {"force": 2e5 * (0.5 + stroke / 4e-3), "gap": stroke * ratio, "same": 3e-3}

    vary = {"stroke": Vary((1e-3, 4e-3), "m"), "ratio": (0.1, 1.0)}
    found = study(press, vary, runs=30, measure_units={"force": "N", "gap": "m", "same": "m"})
    ax = distribution(found, "force", low=2e5, high=2.5e5).axes[0]
    assert ax.get_xlabel() == "force (kN)" and " in 200 to 250 kN\n" in ax.get_title()
    assert distribution(found, "same").axes[0].get_title() == "the same in all 30 runs: 3 mm"
    figure = scatter(found, ["force", "gap"], color="gap")
    assert [ax.get_ylabel() for ax in figure.axes] == ["force (kN)", "", "gap (mm)", "", "gap (mm)"]
    assert [ax.get_xlabel() for ax in figure.axes[:4]] == ["", "", "stroke (mm)", "ratio"]
    both = pareto(found, "force", "gap").axes[0]
    assert (both.get_xlabel(), both.get_ylabel()) == ("force (kN)", "gap (mm)")
    for ax, axis in ((figure.axes[0], "y"), (figure.axes[3], "y"), (figure.axes[2], "x"), (both, "x"), (both, "y")):
        ax.figure.draw_without_rendering()
        ticks = getattr(ax, f"get_{axis}ticks")()
        shown = [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]
        factor = 1e3 if max(ticks) > 1.0 else 1e-3
        if any(shown):
            read = [float(text.replace("\N{MINUS SIGN}", "-")) for text in shown]
            np.testing.assert_allclose(np.array(read) * factor, ticks, atol=1e-9 * max(ticks))
    np.testing.assert_array_equal(both.lines[0].get_xdata(), found.data.force.values)

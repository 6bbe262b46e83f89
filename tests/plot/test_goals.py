"""Goals of a tuned law, each over its limit."""

import numpy as np
import pytest

from cmbcontrol.design.loop_certificates import GoalBound
from cmbcontrol.design.loop_goals import GoalValue, TunedLaw
from cmbcontrol.plot.figure import narrow
from cmbcontrol.plot.goals import goals
from tests.whole.test_labels import faults

VALUES = (
    GoalValue("disk margin above 0.6", "empty, wide", 0.5, True),
    GoalValue("disk margin above 0.6", "full, high", 0.8, True),
    GoalValue("tracking to 6 rad/s", "empty, wide", 1.4, False),
    GoalValue("tracking to 6 rad/s", "full, high", 0.9, False),
    GoalValue("decay above 2 1/s", "empty, wide", -0.5, False),
    GoalValue("decay above 2 1/s", "full, high", -0.7, False),
)
BOUNDS = (
    GoalBound("disk margin above 0.6", "empty, wide", 0.85, 0.95, {"left_upper_mass": 7.0, "damping_left": 0.25}),
    GoalBound("tracking to 6 rad/s", "empty, wide", 1.3, np.inf, {"left_upper_mass": 3.0}),
    GoalBound("decay above 2 1/s", "full, high", -0.6, 1.0, {"left_upper_mass": 3.0}),
)


def tuned(bounds=()):
    return TunedLaw(None, {"kp": 3.0}, 1.4, VALUES, np.array([1.4]), bounds)


def told(ax):
    """Words on the right, as they are read."""
    (right,) = ax.child_axes
    return [t.get_text().replace("\n", " ") for t in right.get_yticklabels()]


def rings(ax, row):
    return sorted(
        x for line in ax.lines if line.get_marker() == "o" for x, y in zip(*line.get_data(), strict=True) if y == row
    )


def test_a_bar_ends_at_the_worst_machine_which_is_named():
    ax = goals(tuned()).axes[0]
    assert [t.get_text().replace("\n", " ") for t in ax.get_yticklabels()] == [
        "disk margin above 0.6 (hard)",
        "tracking to 6 rad/s",
        "decay above 2 1/s",
    ]
    assert told(ax) == ["0.8 at full, high", "1.4 at empty, wide", "-0.5 at empty, wide"]
    bars = [bar for bar in ax.patches if bar.get_width() != ax.get_xlim()[1] - 1.0]
    assert [bar.get_width() for bar in bars] == [0.8, 1.4, 0.0]
    assert [bool(bar.get_hatch()) for bar in bars] == [False, True, False]  # missed: seen without colours, too
    assert rings(ax, 0) == [0.5] and rings(ax, 1) == [0.9]
    arrows = [tuple(np.ravel(line.get_data())) for line in ax.lines if line.get_marker() == "<"]
    assert arrows == [(0.0, 2.0)]  # below zero
    assert ax.get_xlabel() == "value over its limit (1), of 2 machines\nbetween them nothing is proven"
    assert [t.get_text() for t in ax.texts] == ["met", "missed"]


def test_bounds_are_brackets_and_what_is_not_proven_is_said():
    ax = goals(tuned(BOUNDS)).axes[0]
    assert told(ax) == [
        "0.85 at empty, wide, left_upper_mass = 7, damping_left = 0.25 proven: at most 0.95",
        "1.4 at empty, wide not proven",
        "-0.5 at empty, wide proven: at most 1",
    ]
    brackets = [line for line in ax.lines if not isinstance(line.get_marker(), str)]
    assert [tuple(np.ravel(line.get_data())) for line in brackets] == [(0.95, 0.0), (1.0, 2.0)]
    assert rings(ax, 0) == [0.5, 0.8] and rings(ax, 1) == [0.9, 1.3]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "another machine",
        "proven for all within the intervals",
    ]
    assert "nothing is proven" not in ax.get_xlabel()


def test_values_far_beyond_the_limit_do_not_squeeze_the_others():
    values = (*VALUES, GoalValue("compliance below 0.002", "empty, wide", 250.0, False))
    ax = goals(TunedLaw(None, {}, 250.0, values, np.array([250.0]))).axes[0]
    assert ax.get_xlim() == (0.0, 3.0) and told(ax)[-1] == "250 at empty, wide"
    assert [tuple(np.ravel(x.get_data())) for x in ax.lines if x.get_marker() == ">"] == [(3.0, 3.0)]
    lost = (GoalValue("tracking to 6 rad/s", "empty, wide", np.inf, False),)
    assert told(goals(TunedLaw(None, {}, np.inf, lost, np.array([np.inf]))).axes[0]) == ["not stable at empty, wide"]


@pytest.mark.parametrize("bounds", [(), BOUNDS], ids=["models", "intervals"])
def test_no_label_lies_over_another_one(bounds):
    assert faults(goals(tuned(bounds))) == ([], [])
    with narrow():
        assert faults(goals(tuned(bounds))) == ([], [])


def test_axes_that_are_given_and_what_is_no_law():
    ax = goals(tuned()).axes[0]
    ax.clear()
    assert goals(tuned(), axes=ax) is ax.figure
    with pytest.raises(TypeError, match=r"tuned .*design\.structured"):
        goals({"kp": 3.0})

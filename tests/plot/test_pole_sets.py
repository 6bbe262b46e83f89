"""Poles of many machines, and the region that was asked for."""

import numpy as np
import pytest

from cmbcontrol.design import Case, Certificate, PoleRegion
from cmbcontrol.plot.pole_sets import pole_sets

REGION = PoleRegion(decay=1.0, damping=0.5, radius=10.0)
CASES = (
    Case("light, up", np.array([-2.0 - 1.0j, -2.0 + 1.0j]), {}, True),
    Case("light, down", np.array([-3.0, -4.0], dtype=complex), {}, True),
    Case("heavy, up", np.array([0.5, np.nan], dtype=complex), {}, False),
)


def test_machines_look_alike_at_all_their_poses():
    figure = pole_sets(Certificate(REGION, CASES))
    ax = figure.axes[0]
    drawn = {line.get_label(): line for line in ax.lines if line.get_marker() != "None"}
    assert list(drawn) == ["light", "heavy (1 not finite)"]
    found = drawn["light"].get_xdata() + 1j * drawn["light"].get_ydata()
    assert sorted(found.tolist(), key=abs) == sorted([-2.0 - 1.0j, -2.0 + 1.0j, -3.0, -4.0], key=abs)
    assert drawn["heavy (1 not finite)"].get_xdata().tolist() == [0.5]  # what is not finite is left out, and told
    assert len({line.get_marker() for line in drawn.values()}) == 2


def test_forty_machines_can_be_told_apart():
    cases = tuple(Case(f"machine {i}, up", np.array([-2.0 - 0.1j * i]), {}, True) for i in range(40))
    lines = [line for line in pole_sets(Certificate(REGION, cases)).axes[0].lines if line.get_marker() != "None"]
    assert len({(line.get_marker(), line.get_color()) for line in lines}) == 40


def test_the_region_is_the_one_that_was_asked_for():
    """Its border on the real axis is the decay and the end of the disk."""
    ax = pole_sets(Certificate(REGION, CASES)).axes[0]
    (shade,) = ax.collections
    border = shade.get_paths()[0].vertices
    assert border[:, 0].max() == pytest.approx(-1.0, abs=1e-2) and border[:, 0].min() >= -10.0 - 1e-9
    inside = border[np.abs(border[:, 1]) > 1e-9]
    assert (np.abs(inside[:, 1]) <= -inside[:, 0] * np.tan(np.pi / 3.0) * (1.0 + 1e-6)).all()  # damping 0.5: 60 degrees


def test_a_legend_that_is_not_wanted_and_axes_that_are_given():
    figure = pole_sets(Certificate(REGION, CASES))
    assert figure.axes[0].get_legend() is not None
    again = pole_sets(Certificate(REGION, CASES), ax=figure.axes[0], legend=False)
    assert again is figure
    with pytest.raises(TypeError, match="certificate"):
        pole_sets(CASES)

"""Position, velocity, acceleration and jerk of references, with units and names."""

import numpy as np
import pytest

from cmbcontrol import CamProfile, ElectronicCam, JerkLimited, Sine
from cmbcontrol.plot import profile


def test_the_panels_show_all_derivatives_with_units():
    move = JerkLimited([0.0, 1.0], [1.0, 0.0], 1.0, 4.0, 40.0)
    figure = profile(move, unit="m", names=["x", "y"])
    labels = ["position (m)", "velocity (m/s)", "acceleration (m/s²)", "jerk (m/s³)"]
    assert [ax.get_ylabel() for ax in figure.axes] == labels
    assert figure.axes[-1].get_xlabel() == "time (s)"
    for order, ax in enumerate(figure.axes):
        lines = {line.get_label(): line for line in ax.lines}
        assert {"x", "y"} <= set(lines)
        t = lines["x"].get_xdata()
        np.testing.assert_array_equal(lines["x"].get_ydata(), move.derivatives(np.asarray(t), 4)[order][0])
    assert t[0] < 0.0 and t[-1] > move.duration  # what is before and after is seen


def test_two_periods_are_shown_and_times_are_asked_for_where_there_are_none():
    lift = CamProfile([0.0, 0.5, 1.0], [0.0, 0.03, 0.0], periodic=True)
    assert profile(lift).axes[0].get_xlim() == (0.0, 2.0)
    jerk = profile(lift).axes[3].lines[0].get_ydata()
    assert jerk[-1] == pytest.approx(jerk[1000 - 1], rel=1e-2)  # as before a period ends, not as the next one begins
    assert profile(Sine([0.0], [1.0], 4.0)).axes[0].get_xlim() == (0.0, 0.5)
    cam = ElectronicCam(lift, JerkLimited([0.0], [1.0], 1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match=r"goes on for ever; give times"):
        profile(cam)
    assert profile(cam, [0.0, 1.0, 3.0]).axes[0].get_xlim() == (0.0, 3.0)
    with pytest.raises(ValueError, match="names must be 1"):
        profile(lift, names=["a", "b"])

"""The leg: configurations by triangles, what its motors do at rest by virtual work."""

import numpy as np
import pytest

from cmbcontrol import plants, trim
from cmbcontrol.plants.leg import LINK, angles, configuration


@pytest.mark.parametrize("base", ["slider", "free"])
@pytest.mark.parametrize("length", [0.1, 0.35, 0.6])
def test_the_foot_is_straight_below_the_hip(base, length):
    plant = plants.leg(base)
    q = configuration(plant, 0.8, length)
    np.testing.assert_allclose(plant.point(q, "shank", (LINK, 0.0, 0.0)), [0.0, 0.8 - length, 0.0], atol=1e-14)
    knee = plant.point(q, "thigh", (LINK, 0.0, 0.0))
    assert knee[0] < 0.0 and knee[1] == pytest.approx(0.8 - 0.5 * length)  # half-way down, on the left
    assert np.abs(plant.terms(configuration(plant, length), np.zeros(plant.nv)).phi).max() < 1e-14


def test_lengths_out_of_reach():
    for length in (0.0, 2.0 * LINK, np.nan):
        with pytest.raises(ValueError, match=r"the leg reaches more than 0 and less than 0\.7 m"):
            angles(length)


@pytest.mark.parametrize("height", [0.4, 0.6])
def test_motors_at_rest_by_virtual_work(height):
    """Two motors for one freedom: with the hip's at zero, the knee's is the weight's work over its turn."""
    plant = plants.leg()
    bend = np.arccos(0.5 * height / LINK)
    # trunk and thigh, shank are at heights H, 3 H / 4 and H / 4; the knee turns by 2 bend, d bend/dH = -1 / (2 l sin)
    weight = 9.81 * (12.0 + 2.0 * 0.75 + 1.0 * 0.25)
    knee = weight / (-1.0 / (LINK * np.sin(bend)))
    held = trim(plant, configuration(plant, height), u={"hip": 0.0})
    assert held.u == pytest.approx([0.0, knee], rel=1e-9)
    both = trim(plant, configuration(plant, height))  # hip: d/dH of -pi/2 - bend
    hip_rate, knee_rate = 0.5 / (LINK * np.sin(bend)), -1.0 / (LINK * np.sin(bend))
    assert both.u @ [hip_rate, knee_rate] == pytest.approx(weight, rel=1e-9)
    assert both.u / both.u[0] == pytest.approx([1.0, knee_rate / hip_rate], rel=1e-9)  # the smallest that do

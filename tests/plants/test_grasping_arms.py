"""Arms that grasp an object of its own: configurations, loops, and the same statics as the arms that hold it."""

import numpy as np
import pytest

from cmbcontrol import plants, trim
from cmbcontrol.plants.grasping_arms import TABLE, configuration
from cmbcontrol.plants.two_arms import configuration as held_configuration


@pytest.mark.parametrize("elbows", ["out", "in"])
def test_hands_are_where_they_grasp(elbows):
    plant = plants.grasping_arms(table=True)
    q = configuration(plant, 0.05, 0.5, 0.2, elbows=elbows)
    assert max(abs(plant.loop_residuals(q)[name]) for name in ("left_grasp", "right_grasp")) < 1e-13
    np.testing.assert_allclose(plant.point(q, "object"), [0.05, 0.5, 0.0], atol=1e-15)
    assert abs(plant.loop_residuals(configuration(plant, *TABLE))["table"]) < 1e-13
    apart = configuration(plant, 0.05, 0.5, 0.2, clearance=0.03, elbows=elbows)
    assert [plant.loop_residuals(apart)[name] for name in ("left_grasp", "right_grasp")] == pytest.approx([0.03] * 2)


def test_out_of_reach():
    with pytest.raises(ValueError, match="reach"):
        configuration(plants.grasping_arms(), 0.0, 3.0)


def test_it_holds_as_the_arms_that_never_let_go():
    plant, fixed = plants.grasping_arms(), plants.two_arms()
    efforts = trim(plant, configuration(plant, 0.1, 0.55)).u, trim(fixed, held_configuration(fixed, 0.1, 0.55)).u
    assert efforts[0] == pytest.approx(efforts[1], rel=1e-9, abs=1e-9)


def test_the_object_alone_falls():
    plant = plants.grasping_arms().without("left_grasp", "right_grasp")
    q = configuration(plants.grasping_arms(), 0.0, 0.5, clearance=0.05)
    terms = plant.terms(q, np.zeros(plant.nv))
    at = [plant.index(name) for name in ("object_x", "object_y", "object_angle")]
    assert np.linalg.solve(terms.M, -terms.h)[at] == pytest.approx([0.0, -9.81, 0.0], abs=1e-12)

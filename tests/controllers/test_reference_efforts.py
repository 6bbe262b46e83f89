"""Efforts of a motion through closed loops, against inverse dynamics of a run and turns of a crank."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Coordinates
from cmbcontrol.controllers.reference_efforts import ReferenceEfforts
from cmbcontrol.errors import AssemblyError, InputError
from tests.fixtures import refuses, slider


def crank_slider():
    """A crank of 0.1 m that moves a slider on a line by a rod of 0.4 m, upright."""
    bodies = [cmb.Body.planar("crank", 2.0, (0.03, 0), 0.02), cmb.Body.planar("rod", 1.0, (0.2, 0), 0.02)]
    bodies.append(cmb.Body.planar("slide", 3.0, (0, 0), 0.1))
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Revolute("rod", "crank", "rod", frame=cmb.Frame((0.1, 0, 0))),
    ]
    joints.append(cmb.Prismatic("slide", "ground", "slide", axis=(1, 0, 0)))
    pin = cmb.PointOnLine("pin", "slide", "rod", (0, 0, 0), (0.4, 0, 0))
    return cmb.Mechanism(
        "crank-slider", bodies, joints, [pin], actuators=[cmb.Actuator("crank")], gravity=(-9.81, 0, 0)
    )


def test_efforts_give_the_accelerations():
    """Forward dynamics under them accelerate the coordinates as asked."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    ahead, rng = ReferenceEfforts(Coordinates(plant, ("left", "right")), q0), np.random.default_rng(0)
    for _ in range(30):
        y, rate, a = np.array([2.1, 1.0]) + 0.3 * rng.standard_normal(2), *rng.standard_normal((2, 2))
        u, point = ahead.at(y, rate, a), ahead.point(y)
        np.testing.assert_allclose(point.q[[0, 2]], y, atol=1e-12)
        assert plant.closure_error(point.q) < 1e-12
        found = cmb.forward_dynamics(plant, point.q, point.K @ rate, u)
        np.testing.assert_allclose(found[[0, 2]], a, atol=1e-8)


def test_a_crank_turns_on_and_what_is_found_depends_on_no_history():
    plant = crank_slider()
    q0 = plant.assemble(guess={"rod": -0.2, "slide": 0.4}, crank=0.7)
    task = Coordinates(plant, "crank")
    ways = [ReferenceEfforts(task, q0) for _ in range(3)]
    angles = np.linspace(-9.0, 25.0, 60)
    rng = np.random.default_rng(0)
    found = []
    for ahead, order in zip(ways, (range(60), range(59, -1, -1), rng.permutation(60)), strict=True):
        u = np.zeros((60, plant.nu))
        for k in order:
            u[k] = ahead.at([angles[k]], [2.0], [0.5])
        found.append(u)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    turned = ways[0].at(np.array([angles[3] + 4.0 * np.pi]), np.array([2.0]), np.array([0.5]))
    np.testing.assert_allclose(turned, found[0][3], rtol=1e-9, atol=1e-9 * np.abs(found[0]).max())


def test_where_the_branch_ends_the_place_is_told():
    """The height of a ram has its end where the crank is at a dead centre."""
    plant = crank_slider()
    q0 = plant.assemble(guess={"rod": -0.2, "slide": 0.4}, crank=0.7)
    with pytest.raises(AssemblyError, match=r"this ends .* of the way"):
        ReferenceEfforts(Coordinates(plant, "slide"), q0).point(np.array([0.52]))


def test_coordinates_that_determine_nothing_are_refused():
    plant = plants.five_bar()
    refuses(lambda: ReferenceEfforts(Coordinates(plant, "left")), "degrees of freedom", kind=InputError)


def test_without_loops_any_distance_is_one_step():
    plant = slider(mass=3.0)
    ahead = ReferenceEfforts(Coordinates(plant, "x"))
    np.testing.assert_allclose(ahead.at([2e6], [1.0], [0.5]), [1.5], rtol=1e-12)
    assert ahead.point(np.array([2e6])).q.tolist() == [2e6]

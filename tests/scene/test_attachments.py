"""Where parts are attached, and the plane in which a machine moves."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.scene.attachments import attachments, carriers, held_together, plane_of_motion


@pytest.mark.parametrize(
    ("axis", "gravity", "plane"),
    [((0, 0, 1), (0, -9.81, 0), (0, 1)), ((0, 1, 0), (0, 0, -9.81), (0, 2)), ((-1, 0, 0), (0, 0, 0), (1, 2))],
)
def test_the_plane_of_motion_is_found(axis, gravity, plane):
    arm = cmb.Body("arm", 1.0, (0.1, 0.2, 0.3), (0.1, 0.1, 0.1))
    plant = cmb.Mechanism("arm", [arm], [cmb.Revolute("pivot", "ground", "arm", axis=axis)], gravity=gravity)
    assert plane_of_motion(plant) == plane


def test_slides_alone_move_in_the_plane_of_gravity():
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    plant = cmb.Mechanism("slide", [block], [cmb.Prismatic("x", "ground", "block", axis=(1, 0, 0))])
    assert plane_of_motion(plant) == (0, 2)


def test_machines_that_leave_the_plane_have_none():
    assert plane_of_motion(plants.stewart()) is None
    arm = cmb.Body.rod("arm", 1.0, 1.0)
    tilted = cmb.Revolute("pivot", "ground", "arm", axis=(0, 1, 1))
    assert plane_of_motion(cmb.Mechanism("arm", [arm], [tilted])) is None


def test_points_of_each_body_are_there_once():
    plant = plants.five_bar()
    points = attachments(plant)
    np.testing.assert_allclose(points["left_lower"], [[0, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(np.sort(points["left_upper"][:, 0]), [0.0, 1.5])  # elbow, and the loop
    np.testing.assert_allclose(points["ground"], [[0, 0, 0], [1, 0, 0]])


def test_what_holds_on_a_plane_or_a_path_is_no_point_of_it():
    ball = cmb.Body("ball", 1.0, inertia=(0.01, 0.01, 0.01))
    roll = cmb.RollingBall("roll", "ground", "ball", (3.0, 0.0, 0.0), radius=0.1)
    plant = cmb.Mechanism("ball", [ball], [cmb.Free("free", "ground", "ball")], [roll])
    points = attachments(plant)
    assert len(points["ground"]) == 0
    np.testing.assert_allclose(points["ball"], [[0, 0, 0]])


def test_carriers_are_bodies_without_mass_shape_or_extent():
    plant = plants.pendulum()
    hidden = carriers(plant, attachments(plant))
    assert hidden == {b.name for b in plant.bodies if b.mass == 0.0} and "rod" not in hidden
    shown = cmb.Body("frame", shapes=[cmb.shapes.Ball((0, 0, 0), 0.1)])
    arm = cmb.Body.rod("arm", 1.0, 1.0)
    joints = [cmb.Fixed("base", "ground", "frame"), cmb.Revolute("pivot", "frame", "arm")]
    plant = cmb.Mechanism("arm", [shown, arm], joints)
    assert carriers(plant, attachments(plant)) == set()


def test_pairs_are_those_of_joints_and_loops():
    pairs = {frozenset(pair) for pair in held_together(plants.five_bar())}
    assert frozenset(("left_upper", "right_upper")) in pairs and frozenset(("ground", "right_lower")) in pairs
    assert len(pairs) == 5

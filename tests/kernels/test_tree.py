"""Kinematics of the tree: positions move along joint exponentials, twists and their rates are derivatives."""

import numpy as np
import pytest
from scipy.linalg import expm

from cmbcontrol.kernels import tree
from cmbcontrol.model.elements import Fixed, Free, Planar, Spherical, Universal
from tests.fixtures import (
    JOINTS,
    LINEAR,
    cross_motion,
    joint_motion,
    kinematics,
    largest,
    link_of,
    name_of,
    random_state,
    random_tree,
    rate_along,
    skew,
)

MOVING = [k for k in JOINTS if k is not Fixed]
TREES = range(6)


def matrix(plant, q, body="body0"):
    """Configuration of a body as a 4 x 4 matrix."""
    T = np.eye(4)
    here = plant.pose(q, body)
    T[:3, :3], T[:3, 3] = here.R, here.p
    return T


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-6, 1e-3, 0.099, 0.101, 1.0, 2.9])
@pytest.mark.parametrize("kind", MOVING, ids=name_of)
def test_difference_undoes_integrate_for_tiny_and_large_motions(kind, size):
    plant = random_tree(3, 1, (kind,))
    rng = np.random.default_rng(0)
    q, _ = random_state(plant, 0)
    for _ in range(5):
        dq = rng.standard_normal(plant.nv)
        dq *= size / np.linalg.norm(dq)
        back = plant.difference(q, plant.integrate(q, dq))
        np.testing.assert_allclose(back, dq, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("kind", MOVING, ids=name_of)
def test_integrate_undoes_difference(kind):
    plant = random_tree(4, 1, (kind,))
    q0, _ = random_state(plant, 0)
    q1, _ = random_state(plant, 1)
    reached = plant.integrate(q0, plant.difference(q0, q1))
    np.testing.assert_allclose(matrix(plant, reached), matrix(plant, q1), atol=1e-14)


@pytest.mark.parametrize("kind", LINEAR, ids=name_of)
def test_plain_coordinates_are_counted_over_many_turns(kind):
    plant = random_tree(5, 1, (kind,))
    dq = np.full(plant.nv, 100.0)
    np.testing.assert_allclose(plant.difference(plant.neutral(), plant.integrate(plant.neutral(), dq)), dq, rtol=1e-15)


@pytest.mark.parametrize("kind", [Spherical, Free], ids=name_of)
@pytest.mark.parametrize("angle", [3.1415, 3.1417, 4.0, 6.2])
def test_rotation_difference_is_the_shorter_way(kind, angle):
    plant = random_tree(6, 1, (kind,))
    q0, _ = random_state(plant, 0)
    dq = np.zeros(plant.nv)
    dq[:3] = angle * np.array([0.6, 0.0, 0.8])
    q1 = plant.integrate(q0, dq)
    back = plant.difference(q0, q1)
    shorter = angle if angle < np.pi else angle - 2.0 * np.pi
    np.testing.assert_allclose(back[:3], shorter * np.array([0.6, 0.0, 0.8]), atol=1e-13)
    np.testing.assert_allclose(matrix(plant, plant.integrate(q0, back)), matrix(plant, q1), atol=1e-13)


@pytest.mark.parametrize("kind", [Spherical, Free], ids=name_of)
def test_opposite_quaternions_are_the_same_pose(kind):
    plant = random_tree(6, 1, (kind,))
    q, _ = random_state(plant, 0)
    other = q.copy()
    other[:4] *= -1.0
    np.testing.assert_allclose(plant.difference(q, other), 0.0, atol=1e-15)
    np.testing.assert_allclose(matrix(plant, other), matrix(plant, q), atol=1e-15)


@pytest.mark.parametrize("kind", [k for k in MOVING if k is not Universal], ids=name_of)
@pytest.mark.parametrize("size", [1e-5, 1e-3, 0.099, 0.101, 0.5, 4.0])
def test_integrate_is_the_exponential_of_the_joint_screws(kind, size):
    plant = random_tree(7, 1, (kind,))
    q, _ = random_state(plant, 0)
    dq = size * np.random.default_rng(1).uniform(-1.0, 1.0, plant.nv)
    V = kinematics(plant, q, dq).V[-1]
    hat = np.zeros((4, 4))
    hat[:3, :3], hat[:3, 3] = skew(V[:3]), V[3:]
    np.testing.assert_allclose(matrix(plant, plant.integrate(q, dq)), expm(hat) @ matrix(plant, q), atol=2e-14)


@pytest.mark.parametrize("kind", LINEAR, ids=name_of)
def test_joints_move_as_they_are_defined(kind):
    plant = random_tree(8, 1, (kind,))
    joint = plant.joints[0]
    q, _ = random_state(plant, 2)
    expected = joint.frame @ joint_motion(joint, q) @ joint.child_frame.inverse()
    here = plant.pose(q, "body0")
    np.testing.assert_allclose(here.R, expected.R, atol=1e-14)
    np.testing.assert_allclose(here.p, expected.p, atol=1e-14)


def test_a_planar_joint_moves_across_its_axis_in_a_frame_turned_to_it():
    plant = random_tree(9, 1, (Planar,))
    joint = plant.joints[0]
    q = np.array([0.3, -0.4, 0.0])
    moved = joint.frame.inverse() @ plant.pose(q, "body0") @ joint.child_frame
    assert abs(moved.p @ joint.axis) < 1e-15
    assert np.linalg.norm(moved.p) == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize("kind", JOINTS, ids=name_of)
def test_joint_frames_coincide_at_zero(kind):
    plant = random_tree(10, 1, (kind,))
    joint, here = plant.joints[0], plant.pose(plant.neutral(), "body0")
    np.testing.assert_allclose((here @ joint.child_frame).R, joint.frame.R, atol=1e-14)
    np.testing.assert_allclose((here @ joint.child_frame).p, joint.frame.p, atol=1e-14)


def test_quaternions_need_not_have_length_one():
    plant = random_tree(11, 1, (Free,))
    q, _ = random_state(plant, 0)
    long = q.copy()
    long[:4] *= 1.7
    np.testing.assert_allclose(matrix(plant, long), matrix(plant, q), atol=1e-14)
    tree.normalize(plant.arrays.links, long)
    np.testing.assert_allclose(long, q, atol=1e-15)


@pytest.mark.parametrize("seed", TREES)
def test_position_rate_is_the_derivative_of_integrate(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    np.testing.assert_allclose(plant.position_rate(q, v), rate_along(plant, q, v, lambda x: x), atol=1e-9)


@pytest.mark.parametrize("seed", TREES)
def test_twists_are_the_rates_of_link_poses(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    now = kinematics(plant, q, v)
    Rdot = rate_along(plant, q, v, lambda x: plant.link_poses(x)[0])
    pdot = rate_along(plant, q, v, lambda x: plant.link_poses(x)[1])
    for R, p, V, dR, dp in zip(now.R, now.p, now.V, Rdot, pdot, strict=True):
        np.testing.assert_allclose(dR, skew(V[:3]) @ R, atol=1e-8)
        np.testing.assert_allclose(dp, V[3:] + np.cross(V[:3], p), atol=1e-8)


@pytest.mark.parametrize("seed", TREES)
def test_joint_screws_are_carried_by_the_twist_of_their_child(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    now = kinematics(plant, q, v)
    Sdot = rate_along(plant, q, v, lambda x: kinematics(plant, x, v).S)
    for i, link in enumerate(plant.arrays.links):
        for k in range(link["iv"], link["iv"] + link["nv"]):
            np.testing.assert_allclose(Sdot[k], cross_motion(now.V[i], now.S[k]), atol=1e-8)


@pytest.mark.parametrize("seed", TREES)
def test_bias_accelerations_are_twist_rates_at_constant_joint_velocity(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    Vdot = rate_along(plant, q, v, lambda x: kinematics(plant, x, v).V)
    np.testing.assert_allclose(kinematics(plant, q, v).A0, Vdot, atol=1e-7)


def test_pose_and_point_are_in_body_axes_not_link_axes():
    plant = random_tree(12, 9)
    q, _ = random_state(plant, 0)
    R, p = plant.link_poses(q)
    for joint in plant.joints:
        k, here = link_of(plant, joint.child), plant.pose(q, joint.child)
        np.testing.assert_allclose(plant.point(q, joint.child, joint.child_frame.p), p[k], atol=1e-14)
        assert largest(here.R - R[k]) > 1e-3


def test_world_frame_of_the_ground():
    plant = random_tree(12, 2)
    here = plant.pose(plant.neutral(), "ground")
    np.testing.assert_array_equal(here.R, np.eye(3))
    np.testing.assert_array_equal(here.p, 0.0)

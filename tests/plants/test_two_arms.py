"""Two arms on one object: statics."""

import numpy as np
import pytest

from cmbcontrol import trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import constraint_force, inverse_dynamics
from cmbcontrol.plants import catalogue, two_arms
from cmbcontrol.plants.two_arms import configuration as arms_configuration
from tests.fixtures import admissible_velocity, gradient

G = 9.81


def test_arms_share_the_weight():
    """In the symmetric configuration, mirrored efforts; the right hand carries half of the object."""
    plant, q, v = catalogue["two-arms"].start()
    u = trim(plant, q).u
    assert u[3:] == pytest.approx(-u[:3], rel=1e-9)
    lam = constraint_force(plant, q, v, u).multipliers
    assert abs(lam[plant.row_names.index("grasp_y")]) == pytest.approx(0.5 * 6.0 * G, rel=1e-9)  # the object is level


def test_arms_squeeze_without_moving():
    """Three combinations of efforts leave the motion alone and change the force in the grasp."""
    plant = two_arms("planar")
    q = arms_configuration(plant, 0.05, 0.55, 0.1)
    v = admissible_velocity(plant, q)
    terms = plant.terms(q, v)
    inner = np.linalg.svd(terms.Z.T @ terms.B)[2][3:]
    assert inner.shape == (3, 6)
    u = np.array([5.0, 3.0, 1.0, -5.0, 2.0, 1.0])
    base, pressed = [], []
    for squeeze in inner:
        base = constraint_force(plant, q, v, u)
        pressed.append(constraint_force(plant, q, v, u + 10.0 * squeeze).multipliers - base.multipliers)
        assert forward_dynamics(plant, q, v, u + 10.0 * squeeze) == pytest.approx(base.acceleration, abs=1e-9)
    assert np.linalg.matrix_rank(pressed) == 3  # any force and moment in the grasp can be had
    u_min = inverse_dynamics(plant, q, v, base.acceleration).u
    assert inner @ u_min == pytest.approx([0.0] * 3, abs=1e-9) and np.linalg.norm(u_min) < np.linalg.norm(u)


def test_arms_squeeze_by_the_jacobian_of_an_arm():
    """A pair of forces of 50 N on the object, pushed by each arm: torques J'f of both arms, alone."""
    plant = two_arms("planar")
    q = arms_configuration(plant, 0.0, 0.55, 0.0)

    def wrists(angles, side):  # the grasp point from the shoulder
        total = np.cumsum(angles)
        return [sum(l * f(a) for l, a in zip((0.45, 0.40, 0.12), total, strict=True)) for f in (np.cos, np.sin)]

    torques = []
    for side, push in (("left", 50.0), ("right", -50.0)):
        angles = q[[plant.position_names.index(f"{side}_{j}") for j in ("shoulder", "elbow", "wrist")]]
        J = gradient(lambda x, side=side: wrists(x, side), angles)
        torques.append(J.T @ [push, 0.0])
    extra = np.concatenate(torques)
    free, rest = trim(plant, q).u, np.zeros(6)
    assert np.abs(forward_dynamics(plant, q, rest, free + extra)).max() < 1e-6
    lam = [constraint_force(plant, q, rest, u).multipliers for u in (free, free + extra)]
    # both grasps are at the same height: a pure push along x, no moment
    assert np.abs(lam[1] - lam[0])[:2] == pytest.approx([50.0, 0.0], abs=1e-7)


def test_arms_poses():
    plant = two_arms()
    for elbows in ("out", "in"):
        q = arms_configuration(plant, 0.05, 0.45, -0.2, elbows)
        frame = plant.pose(q, "object")
        assert [*frame.p[:2], frame.R[1, 0]] == pytest.approx([0.05, 0.45, np.sin(-0.2)], abs=1e-14)
    outer, inner = (arms_configuration(plant, elbows=e) for e in ("out", "in"))
    apart = [plant.point(q, "right_fore")[0] - plant.point(q, "left_fore")[0] for q in (outer, inner)]
    assert apart[0] > apart[1]

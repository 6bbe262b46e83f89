"""Components of constraint forces by name: frames, bodies, and the work that they do."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Mechanism, plants
from cmbcontrol.controllers.force_components import ForceComponents
from cmbcontrol.plants.two_arms import configuration


def test_frames_and_bodies_agree():
    plant = plants.two_arms()
    q = configuration(plant, 0.05, 0.5, 0.3)
    terms = plant.terms(q, np.zeros(6))
    F = cmb.constraint_force(plant, q, np.zeros(6), [3.0, 2.0, 1.0, -4.0, 5.0, 1.5]).force
    force = ["grasp_fx", "grasp_fy", "grasp_mz"]

    def seen(frame, on="b"):
        return ForceComponents(plant, force, frame, on).matrix(terms) @ F

    ground = seen("ground")
    for body in ("object", "right_hand", "left_upper"):
        R = np.eye(3)
        R[:2, :2] = plant.pose(q, body).R[:2, :2]
        np.testing.assert_allclose(seen(body), R.T @ ground, atol=1e-10)
    np.testing.assert_allclose(seen("ground", "a"), -ground, atol=1e-12)
    # the closure's frame on body a is turned by half a turn, and -lam pushes body b along its rows
    np.testing.assert_allclose(seen("loop"), seen("right_hand"), atol=1e-9)
    lam = ForceComponents(plant, ["grasp_x", "grasp_y"]).matrix(terms) @ F
    np.testing.assert_allclose(seen("loop")[:2], -lam, atol=1e-10)


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic", "Helical", "Spherical", "Universal", "Distance", "Weld"])
def test_the_force_on_a_body_does_the_work_of_the_closure(kind):
    """F v = force . velocity of the point + moment . rate, of body b against body a, for any velocity off the loops."""
    rng = np.random.default_rng(5)
    turn = cmb.Frame.turned((1.0, 2.0, -1.0), 0.7, (0.2, 0.1, -0.3))
    joint = getattr(cmb, kind)
    extra = {"pitch": 0.05} if kind == "Helical" else {}
    if kind == "Distance":
        loop = joint("link", "one", "two", turn.p, (0.1, 0.0, 0.2), 0.4)
    elif kind == "Weld":
        loop = joint("link", "one", "two", turn, cmb.Frame((0.1, 0.0, 0.2)))
    else:
        loop = joint("link", "one", "two", frame=turn, child_frame=cmb.Frame((0.1, 0.0, 0.2)), **extra)
    bodies = [cmb.Body(n, 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)) for n in ("one", "two")]
    joints = [cmb.Free(f"free_{n}", "ground", n) for n in ("one", "two")]
    plant = Mechanism("pair", bodies, joints, [loop])
    q = plant.assemble(guess=plant.integrate(plant.neutral(), 0.3 * rng.standard_normal(12)))
    terms = plant.terms(q, np.zeros(12))
    names = [f"link_{c}" for c in ("fx", "fy", "fz", "mx", "my", "mz")]
    lam = rng.standard_normal(len(plant.row_names))
    wrench = ForceComponents(plant, names, "ground").combinations(q) @ lam
    point = plant.point(q, "two", (0.1, 0.0, 0.2))

    def relative_power(v, step=1e-6):
        """Power of the wrench on b, and of the opposite one on a, at b's point; by differences of configurations."""
        ends = [plant.integrate(q, sign * step * v) for sign in (1.0, -1.0)]
        rates = []
        for body in ("two", "one"):
            there = plant.pose(q, body)
            local = there.R.T @ (point - there.p)
            dp = (plant.point(ends[0], body, local) - plant.point(ends[1], body, local)) / (2.0 * step)
            W = (plant.pose(ends[0], body).R - plant.pose(ends[1], body).R) @ there.R.T / (2.0 * step)
            rates.append(np.concatenate([dp, [W[2, 1], W[0, 2], W[1, 0]]]))
        return wrench @ (rates[0] - rates[1])

    for _ in range(4):
        v = rng.standard_normal(12)
        assert -(terms.A.T @ lam) @ v == pytest.approx(relative_power(v), abs=1e-7)

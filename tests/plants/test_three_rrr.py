"""The 3-RRR platform: symmetry, weights, lost freedom."""

import numpy as np
import pytest

from cmbcontrol import trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.plants import three_rrr
from cmbcontrol.plants.three_rrr import DISTAL, DRIVEN
from cmbcontrol.plants.three_rrr import configuration as rrr_configuration
from tests.fixtures import gradient

G = 9.81


@pytest.mark.parametrize("elbows", ["+++", "---", "+-+", "-++"])
def test_rrr_pose(elbows):
    plant = three_rrr()
    q = rrr_configuration(plant, 0.06, -0.03, 0.2, elbows)
    assert plant.closure_error(q) < 1e-15
    frame = plant.pose(q, "platform")
    assert [*frame.p[:2], np.arctan2(frame.R[1, 0], frame.R[0, 0])] == pytest.approx([0.06, -0.03, 0.2], abs=1e-14)
    signs = [np.sign(-q[plant.position_names.index(f"elbow{n}")]) for n in (1, 2, 3)]
    assert signs == [1.0 if sign == "+" else -1.0 for sign in elbows]


@pytest.mark.parametrize("closure", ["line", "revolute"])
def test_rrr_is_the_same_after_a_third_of_a_turn(closure):
    """Configuration, velocity and torques turned by 120 degrees: the accelerations go round with the arms."""
    plant = three_rrr(closure=closure)
    third = 2.0 * np.pi / 3.0
    x, y = turn = np.array([0.06, -0.03])
    c, s = np.cos(third), np.sin(third)
    q1 = rrr_configuration(plant, *turn, 0.2)
    q2 = rrr_configuration(plant, c * x - s * y, s * x + c * y, 0.2)
    drives = [plant.index(f"drive{n}") for n in (1, 2, 3)]
    rates, u = np.array([1.0, -0.5, 0.7]), np.array([2.0, -1.0, 0.5])
    found = []
    for q, k in ((q1, 0), (q2, 1)):
        Z = plant.terms(q, np.zeros(plant.nv)).Z
        v = Z @ np.linalg.solve(Z[drives], np.roll(rates, k))
        found.append(forward_dynamics(plant, q, v, np.roll(u, k)))
    assert found[1][drives] == pytest.approx(np.roll(found[0][drives], 1), rel=1e-10)
    elbows = [plant.index(f"elbow{n}") for n in (1, 2, 3)]
    assert found[1][elbows] == pytest.approx(np.roll(found[0][elbows], 1), rel=1e-10)


def test_rrr_gravity_acts_in_the_vertical_plane_only():
    level, upright = three_rrr(), three_rrr("vertical")
    q = rrr_configuration(level, 0.05, 0.04, 0.1)
    assert trim(level, q).u.tolist() == [0.0, 0.0, 0.0]
    held = trim(upright, q).u

    def height(x):  # mass times height, kg m, at given angles of the drives
        at = upright.assemble(guess=q, **dict(zip(("drive1", "drive2", "drive3"), x, strict=True)))
        return G * sum(b.mass * upright.point(at, b.name, b.com)[1] for b in upright.bodies)

    drives = q[[upright.position_names.index(f"drive{n}") for n in (1, 2, 3)]]
    assert held == pytest.approx(gradient(height, drives, 1e-3), rel=1e-7)


def test_rrr_loses_a_freedom_where_its_distal_links_meet():
    """Turned so far that all distal links point at the centre, the motors do not hold the platform's rotation."""
    reach = 0.12 + DISTAL  # from the centre to the elbows
    bend = np.arccos((0.5**2 + reach**2 - DRIVEN**2) / (2.0 * 0.5 * reach))
    plant = three_rrr()
    # the elbow lies on the ray of the platform's pin, turned by -bend; to the left of pivot and pin
    q = rrr_configuration(plant, 0.0, 0.0, bend, "---")
    ends = [plant.point(q, "platform", (0, 0, 0)), plant.point(q, "distal1"), plant.point(q, "distal1", (DISTAL, 0, 0))]
    assert np.cross(ends[2] - ends[1], ends[0] - ends[1])[2] == pytest.approx(0.0, abs=1e-14)
    found = plant.diagnose(q)
    assert (found.dof, found.actuation.verdict, found.actuation.rank) == (3, "under-actuated", 2)
    near = plant.diagnose(rrr_configuration(plant, 0.0, 0.0, bend - 0.05, "---"))
    assert near.actuation.complete and near.actuation.margin < 0.1

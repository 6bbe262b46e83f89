"""Contacts that only push, and friction cones."""

import numpy as np
import pytest

from cmbcontrol.controllers import Cone, Unilateral
from cmbcontrol.controllers.constrained_actuation import ActuationStatus
from cmbcontrol.model.elements import Actuator, Body, Frame, Point, PointOnPlane, Prismatic
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import allowed_acceleration, largest, limited, moving_terms, two_arms_at_start

OPTIMAL, DEGRADED, CONTACT_LOST, SOLVER_FAILED = ActuationStatus


class TestContacts:
    def test_a_block_on_the_floor_is_pushed_up(self):
        """-lam is the weight, along the normal of the floor; a motor that lifts takes it away, never more."""
        block = Body("block", 2.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
        plant = Mechanism(
            "block",
            [block],
            [Prismatic("lift", "ground", "block", axis=(0.0, 1.0, 0.0))],
            [PointOnPlane("floor", "ground", "block", normal=(0.0, 1.0, 0.0))],
            actuators=[Actuator("lift")],
            gravity=(0.0, -9.81, 0.0),
        )
        terms = plant.terms([0.0], [0.0])
        for nominal, force in ((0.0, 19.62), (10.0, 9.62), (30.0, 0.0)):
            found = limited(plant, unilateral=["floor"], nominal=[nominal]).solve(terms, [0.0])
            assert found.contact_forces == pytest.approx([force], abs=1e-6)
            assert found.u == pytest.approx([min(nominal, 19.62)], abs=1e-6)
        pressed = limited(plant, unilateral={"floor_normal": 25.0}).solve(terms, [0.0])
        assert pressed.u == pytest.approx([19.62 - 25.0], abs=1e-6) and pressed.status == OPTIMAL
        weak = limited(plant, unilateral={"floor": 25.0}, limits=3.0).solve(terms, [0.0])
        assert weak.status == CONTACT_LOST and weak.u == pytest.approx([-3.0], abs=1e-4)
        assert weak.violation == pytest.approx(25.0 - (19.62 + 3.0), abs=1e-4)
        assert "2.38 N" in weak.message

    @pytest.mark.parametrize("closure", ["planar", "weld"])
    @pytest.mark.parametrize("solver", ["direct", "cvxpy"])
    def test_two_arms_squeeze(self, closure, solver):
        plant, q = two_arms_at_start(closure)
        terms = moving_terms(plant, q, 2)
        wanted = allowed_acceleration(terms, np.random.default_rng(2), 2.0)
        free = limited(plant, solver=solver).solve(terms, wanted)
        least = -free.multipliers[0] + 15.0
        found = limited(plant, unilateral={"grasp_x": least}, solver=solver).solve(terms, wanted)
        assert found.status == OPTIMAL and found.slack_norm < 1e-6
        assert found.contact_forces == pytest.approx([least], rel=1e-6)
        # the least change of the efforts does not move the arms, and squeezes along one direction
        change = found.u - free.u
        assert largest(terms.Z.T @ terms.B @ change) < 1e-5
        slope = (terms.A_pinv.T @ terms.B)[0] @ (np.eye(6) - np.linalg.pinv(terms.Z.T @ terms.B) @ terms.Z.T @ terms.B)
        assert largest(change + 15.0 * slope / (slope @ slope)) < 1e-5 * largest(change)

    def test_both_closures_need_the_same_efforts(self):
        found = []
        # outwards from the object, in the frames of the closures on it
        for closure, normal in (("planar", (1.0, 0.0)), ("weld", (-1.0, 0.0, 0.0))):
            plant, q = two_arms_at_start(closure)
            law = limited(plant, limits=(30.0, 22.0, 8.0) * 2, cones=[Cone("grasp", 0.4, normal=normal)])
            terms = plant.terms(q, np.zeros(6))
            found.append(law.solve(terms, np.zeros(6)))
        assert [x.status for x in found] == [OPTIMAL, OPTIMAL]
        assert largest(found[0].u - found[1].u) < 1e-5
        assert found[0].friction_use == pytest.approx(1.0, abs=1e-6)

    def test_cones_of_all_shapes(self):
        plant, q = two_arms_at_start("weld")
        terms, rng = moving_terms(plant, q, 4), np.random.default_rng(4)
        wanted = allowed_acceleration(terms, rng, 3.0)
        cones = [
            Cone("grasp", 0.5, normal=(1.0, 0.0, 0.0)),
            Cone("grasp_x", (0.5, 0.02), tangential=("grasp_y", "grasp_twist"), minimum=40.0),
        ]
        found = limited(plant, cones=cones, limits=200.0).solve(terms, wanted)
        p = -found.multipliers
        twist = plant.row_names.index("grasp_twist")
        assert found.status == OPTIMAL and found.slack_norm < 1e-6
        assert np.hypot(p[1], p[2]) <= 0.5 * p[0] + 1e-6 and p[0] >= 40.0 - 1e-6
        assert np.hypot(p[1] / 0.5, p[twist] / 0.02) <= p[0] + 1e-6
        assert found.friction_use <= 1.0 + 1e-6

    def test_centre_of_pressure_and_largest_force(self):
        plant, q = two_arms_at_start("weld")
        terms = moving_terms(plant, q, 4)
        wanted = allowed_acceleration(terms, np.random.default_rng(4), 3.0)
        edges = [Unilateral({"grasp_x": 0.01, "grasp_twist": s}) for s in (1.0, -1.0)]
        law = limited(plant, unilateral=[*edges, Unilateral({"grasp_x": -1.0}, -60.0), Unilateral("grasp_x", 20.0)])
        found = law.solve(terms, wanted)
        p, twist = -found.multipliers, plant.row_names.index("grasp_twist")
        assert found.status == OPTIMAL
        assert 20.0 - 1e-6 <= p[0] <= 60.0 + 1e-6 and abs(p[twist]) <= 0.01 * p[0] + 1e-6

    def test_the_motion_gives_way_to_the_contact(self):
        """With weak motors, the squeeze is kept and the object falls behind; without the contact, the other way."""
        plant, q = two_arms_at_start()
        terms = plant.terms(q, np.zeros(6))
        lift = terms.Z @ np.linalg.lstsq(_object_map(plant, q) @ terms.Z, [0.0, 25.0, 0.0], rcond=None)[0]
        weak = {"limits": (60.0, 40.0, 12.0) * 2}
        free, held = (
            limited(plant, **weak, **more).solve(terms, lift) for more in ({}, {"unilateral": {"grasp_x": 140.0}})
        )
        assert held.status == DEGRADED and held.contact_forces[0] >= 140.0 - 1e-5
        assert -free.multipliers[0] < 130.0 and free.slack_norm < 0.9 * held.slack_norm

    def test_lost_contacts_miss_as_little_as_can_be(self):
        plant, q = two_arms_at_start()
        terms = plant.terms(q, np.zeros(6))
        limits = np.array([30.0, 20.0, 8.0] * 2)
        found = limited(plant, limits=limits, unilateral={"grasp_x": 1e3}).solve(terms, np.zeros(6))
        assert found.status == CONTACT_LOST
        # a linear program over a box: each motor to the side that squeezes more
        rest = limited(plant, limits=0.0).solve(terms, np.zeros(6))
        slope = np.array([limited(plant, limits=[e, e]).solve(terms, np.zeros(6)).multipliers[0] for e in np.eye(6)])
        slope -= rest.multipliers[0]
        best = -rest.multipliers[0] + np.abs(slope) @ limits
        assert found.violation == pytest.approx(1e3 - best, rel=1e-4)


def _object_map(plant, q):
    """Rates of the object's x, y and angle to joint velocities, by differences."""

    def where(q):
        pose = plant.pose(q, "object")
        return np.array([pose.p[0], pose.p[1], np.arctan2(pose.R[1, 0], pose.R[0, 0])])

    return np.array([(where(q + 1e-6 * e) - where(q - 1e-6 * e)) / 2e-6 for e in np.eye(plant.nv)]).T


def test_frames_do_not_matter_for_a_spatial_cone():
    """A normal is given in the frame of body a: turned with it, the answer stays."""
    efforts = []
    for angle in (0.0, 0.8):
        turn = Frame.turned((0.0, 0.0, 1.0), angle).R
        bodies = [Body("arm", 2.0, (0.5, 0.0, 0.0), (0.1, 0.2, 0.2)), Body("hand", 1.0, (0.0, 0.0, 0.0), (0.1,) * 3)]
        joints = [
            Prismatic("x", "ground", "arm", axis=(1.0, 0.0, 0.0), frame=Frame((0.0, 0.0, 0.0))),
            Prismatic("y", "arm", "hand", axis=(0.0, 1.0, 0.0), child_frame=Frame((0.0, 0.0, 0.0), turn)),
        ]
        plant = Mechanism(
            "press",
            bodies,
            joints,
            [Point("wall", "hand", "ground", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))],
            actuators=[Actuator("x"), Actuator("y")],
            gravity=(0.0, -9.81, 0.0),
        )
        law = limited(plant, cones=[Cone("wall", 0.6, normal=turn @ np.array([1.0, 0.2, 0.0]))], limits=100.0)
        found = law.solve(plant.terms([0.0, 0.0], [0.0, 0.0]), [0.0, 0.0])
        assert found.status == OPTIMAL and found.friction_use == pytest.approx(1.0, abs=1e-6)
        efforts.append(found.u)
    assert largest(efforts[0] - efforts[1]) < 1e-6

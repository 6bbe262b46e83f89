"""Prescribed motions as inputs of linear models: against the nonlinear machine, and models that are known otherwise."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import (
    Actuator,
    Body,
    DistanceMotion,
    JointMotion,
    Mechanism,
    PointMotion,
    PoseMotion,
    Prismatic,
    Revolute,
    plants,
)
from tests.fixtures import refuses, slope

MASS, LENGTH, G = 1.3, 0.6, 9.81


def cart_and_rod(*loops, actuators=()):
    support = Body("support", 0.4, (0, 0, 0), 0.01 * np.eye(3))
    rod = Body("rod", MASS, (0.0, 0.0, -0.5 * LENGTH), (MASS * LENGTH**2 / 12.0,) * 2 + (1e-4,))
    joints = [
        Prismatic("way", "ground", "support", axis=(1, 0, 0)),
        Revolute("angle", "support", "rod", axis=(0, 1, 0)),
    ]
    return Mechanism("crane", [support, rod], joints, loops, actuators=actuators)


def test_a_pendulum_that_is_carried():
    """(4/3) (L/2) a'' + g a = x'', for a rod that hangs on a trolley whose acceleration is given: any textbook."""
    plant = cart_and_rod(JointMotion("trolley", "way", position=0.2))
    point = cmb.trim(plant, [0.2, 0.0])
    lin = cmb.linearize(plant, point, inputs=["trolley"], outputs=["angle", "way", "trolley_effort"])
    assert lin.inputs == ("trolley_acceleration",) and lin.input_units == ("m/s2",)
    assert set(lin.states) == {"way", "angle", "way_rate", "angle_rate"}
    s = 2.7j
    w2 = 1.5 * G / LENGTH
    angle, way, effort = (lin.C @ np.linalg.solve(s * np.eye(4) - lin.A, lin.B) + lin.D)[:, 0]
    assert way == pytest.approx(1.0 / s**2, rel=1e-12)
    assert angle == pytest.approx(1.5 / LENGTH / (s**2 + w2), rel=1e-12)
    force = (MASS + 0.4) - MASS * 0.5 * LENGTH * s**2 * angle
    assert effort == pytest.approx(force, rel=1e-12)
    assert sorted(np.abs(lin.poles())) == pytest.approx([0.0, 0.0, np.sqrt(w2), np.sqrt(w2)], abs=1e-7)
    held = cmb.linearize(plant, point)
    assert np.abs(held.poles()) == pytest.approx(np.sqrt(w2), rel=1e-12)


def test_it_is_the_model_of_a_driven_joint():
    """Of a joint with a motor and a given acceleration; the motion has no motor."""
    plain = plants.five_bar()
    q = plain.assemble(left=2.1, right=1.0)
    point = cmb.trim(plain, q)
    known = cmb.linearize(plain, point, inputs=["left_acceleration", "right"], coordinates=("left", "right"))
    right = [motor for motor in plain.actuators if motor.name == "right"]
    plant = plain.with_parts(actuators=right).with_loops(JointMotion("drive", "left", position=q[0]))
    found = cmb.linearize(
        plant, cmb.trim(plant, q, u={"right": point.u[1]}), inputs=["drive", "right"], coordinates=("left", "right")
    )
    np.testing.assert_allclose(found.A, known.A, atol=1e-9)
    np.testing.assert_allclose(found.B, known.B, atol=1e-9)


@pytest.mark.parametrize("kind", [JointMotion, DistanceMotion, PointMotion])
def test_against_differences_of_the_machine(kind):
    """At a state with velocity: of the machine whose motion is elsewhere, has another rate, or accelerates."""
    plain = plants.five_bar().with_parts(actuators=[Actuator("right")])
    q = plain.assemble(left=2.1, right=1.0)
    spot = plain.point(q, "left_lower", (0.6, 0.2, 0.0))
    motion = {
        JointMotion: lambda: JointMotion("m", "left", position=q[0], velocity=0.7, acceleration=-1.1),
        DistanceMotion: lambda: DistanceMotion(
            "m", "ground", "left_lower", (0.3, -2.0, 0.0), (0.6, 0.2, 0.0), velocity=0.7, acceleration=-1.1,
            position=float(np.linalg.norm(spot - [0.3, -2.0, 0.0])), length=1.0,
        ),
        PointMotion: lambda: PointMotion("m", "ground", "left_lower", (0, 0, 0), (0.6, 0.2, 0.0), position=spot),
    }[kind]()  # fmt: skip
    if kind is PointMotion:  # a point of a crank cannot be moved at will
        plant = plain.with_loops(motion)
        refuses(
            lambda: cmb.affine_approximation(plant, cmb.OperatingPoint.at(plant, q), inputs=["m"]),
            "'m_x'", "Drive fewer", kind=ValueError,
        )  # fmt: skip
        return
    plant = plain.with_loops(motion)
    v = plant.project_velocity(q, np.array([0.0, 0.0, 0.9, 0.0]))
    u = np.array([4.0])
    point = cmb.OperatingPoint.at(plant, q, u, v)
    lin = cmb.affine_approximation(
        plant, point, inputs=["right", "m"], coordinates=("left", "right"), outputs=["left", "m_effort"]
    )
    value = plant.motion_values()[0]
    pair = [0, 2]

    def machine(y, rates, effort, second):
        """Accelerations and effort of the machine at other coordinates, by its own constraint."""
        at = plain.assemble(guess=q, left=q[0] + y[0], right=q[2] + y[1])
        free = plain.terms(at, np.zeros(4))
        K = free.Z @ np.linalg.inv(free.Z[pair])
        moved = K @ (v[pair] + rates)
        there = plain.with_loops(motion)
        place = (
            at[0]
            if kind is JointMotion
            else float(np.linalg.norm(plain.point(at, "left_lower", (0.6, 0.2, 0)) - [0.3, -2, 0]))
        )
        row = plant.jacobian(at)[-1] @ moved
        rate = row if kind is JointMotion else row * motion.length / place
        there = there.with_motion_values([[place, rate, value[2] + second]])
        a = cmb.forward_dynamics(there, at, moved, u + effort)
        terms = there.terms(at, moved)
        lam = terms.A_pinv.T @ (terms.B @ (u + effort) - terms.h - terms.M @ a)
        return np.append(a[pair], there.motion_efforts(lam))

    zero = np.zeros(2)
    size = 1.0 + np.abs(lin.A).max()
    for k in range(2):
        e = np.eye(2)[k]
        by_y, by_rate = (
            slope(lambda d, e=e: machine(d * e, zero, 0.0, 0.0), 3e-3),
            slope(lambda d, e=e: machine(zero, d * e, 0.0, 0.0), 3e-3),
        )
        np.testing.assert_allclose(lin.A[2:, k], by_y[:2], atol=1e-8 * size)
        np.testing.assert_allclose(lin.A[2:, 2 + k], by_rate[:2], atol=1e-8 * size)
        np.testing.assert_allclose(lin.C[1, [k, 2 + k]], [by_y[2], by_rate[2]], atol=1e-7 * size)
    by_u, by_second = slope(lambda d: machine(zero, zero, d, 0.0)), slope(lambda d: machine(zero, zero, 0.0, d))
    np.testing.assert_allclose(lin.B[2:], np.stack([by_u[:2], by_second[:2]], axis=1), atol=1e-9 * size)
    np.testing.assert_allclose(lin.D[1], [by_u[2], by_second[2]], atol=1e-8 * size)
    assert machine(zero, zero, 0.0, 0.0)[:2] == pytest.approx(lin.drift[2:], abs=1e-9)


def test_poses_are_refused():
    free = Mechanism(
        "box",
        [Body("box", 1.0, (0, 0, 0), np.eye(3))],
        [cmb.Free("box", "ground", "box")],
        [PoseMotion("p", "ground", "box")],
    )
    point = cmb.trim(free, free.neutral())
    refuses(lambda: cmb.linearize(free, point, inputs=["p"]), "'p'", "PointMotion", kind=ValueError)
    refuses(lambda: cmb.linearize(free, point, inputs=["pose"]), "'pose'", "p", kind=ValueError)

"""Impedance: poles, deflections, walls and payloads in closed form."""

import numpy as np
import pytest

from cmbcontrol import Constant, closed_loop_equilibrium, linearize_closed_loop, plants, simulate
from cmbcontrol.controllers import Controller, Impedance, PointTask, PoseTask, WithModel
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import ActuationError
from cmbcontrol.linear.signals import Wrench
from cmbcontrol.model.elements import Frame, JointSpring
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import largest, matched, open_arm, second_order

TIP = np.array([1.5, 0.0, 0.0])


def tip_law(plant, stiffness=None, damping=None, inertia=None, **options):
    task = PointTask(plant, "left_upper", TIP, axes=("x", "y"))
    q = plant.assemble(left=2.1, right=1.0)
    at = task.value(plant.terms(q, np.zeros(4)))
    K = np.array([[900.0, 150.0], [150.0, 600.0]]) if stiffness is None else stiffness
    D = np.array([[60.0, 5.0], [5.0, 40.0]]) if damping is None else damping
    return Impedance(plant, task, Constant(at), K, D, inertia, **options), q, K, D


def task_inertia(law, terms):
    J = law.task.jacobian(terms) @ terms.Z
    return np.linalg.inv(J @ np.linalg.solve(terms.Z.T @ terms.M @ terms.Z, J.T))


@pytest.mark.parametrize("options", [{}, {"closure": "revolute"}])
def test_poles_of_an_impedance(options):
    """Lambda e'' + D e' + K e = 0 with the machine's own inertia; M_d e'' + D e' + K e = 0 with a wanted one."""
    plant = plants.five_bar(**options)
    law, q, K, D = tip_law(plant)
    loop = linearize_closed_loop(plant, law, q)
    inertia = task_inertia(law, plant.terms(q, np.zeros(4)))
    assert matched(loop.poles(), second_order(inertia, D, K)) < 1e-7
    M_d = np.array([[8.0, 1.0], [1.0, 5.0]])
    law = tip_law(plant, inertia=M_d)[0]
    assert matched(linearize_closed_loop(plant, law, q).poles(), second_order(M_d, D, K)) < 1e-7


def test_an_outside_force_deflects_by_the_stiffness():
    """At rest under F the tip has given way by K^-1 F, to the last digit, however large the deflection."""
    plant = plants.five_bar()
    law, q, K, _ = tip_law(plant)
    F = np.array([20.0, -35.0])

    class Pushes(Controller):
        """The law, and the efforts that stand for F: Z'B u = Z'J'F."""

        def effort(self, t, terms, state):
            J = law.task.jacobian(terms)
            load = np.linalg.lstsq(terms.Z.T @ terms.B, terms.Z.T @ J.T @ F, rcond=None)[0]
            return law(t, terms, state) + load

    rest = closed_loop_equilibrium(plant, Pushes(), q)
    x = law.task.value(plant.terms(rest.point.q, np.zeros(4)))
    moved = x - law.reference(0.0)[0]
    assert moved == pytest.approx(np.linalg.solve(K, F), abs=1e-9)
    assert largest(moved) > 0.05
    # and in the linear loop, with a wrench at the tip
    loop = linearize_closed_loop(plant, law, q, disturbances=Wrench("left_upper", Frame(TIP), "tip"))
    J = law.task.jacobian(plant.terms(q, np.zeros(4))) @ loop.plant.K
    gain = loop.to_ss().dcgain()[:2, [loop.inputs.index("tip_fx"), loop.inputs.index("tip_fy")]]
    # the wrench is in the axes of the world
    assert largest(J @ gain - np.linalg.inv(K)) < 1e-8


def test_a_wanted_inertia_changes_what_a_force_meets():
    """K^-1 M_d Lambda^-1 F, as the docstring says: nothing is measured."""
    plant = plants.five_bar()
    M_d = np.diag([8.0, 5.0])
    law, q, K, _ = tip_law(plant, inertia=M_d)
    loop = linearize_closed_loop(plant, law, q, disturbances=Wrench("left_upper", Frame(TIP), "tip"))
    terms = plant.terms(q, np.zeros(4))
    gain = loop.to_ss().dcgain()[:2, [loop.inputs.index("tip_fx"), loop.inputs.index("tip_fy")]]
    truth = np.linalg.solve(K, M_d @ np.linalg.inv(task_inertia(law, terms)))
    assert largest(law.task.jacobian(terms) @ loop.plant.K @ gain - truth) < 1e-8


def test_a_payload_sags_by_the_stiffness():
    """A mass that the law does not know, on the tip of an arm."""
    plain, loaded = open_arm(2), open_arm(2, loaded=0.5)
    task = PointTask(plain, "link1", (0.25, 0.0, 0.0), axes=("x", "y"))
    q = plain.assemble(q0=0.3, q1=0.9)
    x = task.value(plain.terms(q, np.zeros(2)))
    law = Impedance(plain, task, Constant(x), 400.0, 40.0)
    rest = closed_loop_equilibrium(loaded, WithModel(plain, law), q)
    sag = task.value(plain.terms(rest.point.q, np.zeros(2))) - x
    assert sag == pytest.approx([0.0, -0.5 * 9.81 / 400.0], abs=1e-9)


def test_an_elastic_wall_by_a_spring():
    """A spring at a joint, coordinate by coordinate: K e = K_s (q - rest)."""
    plant = plants.five_bar()
    with_spring = Mechanism(
        plant.name,
        plant.bodies,
        plant.joints,
        plant.loops,
        springs=[JointSpring("wall", "left", stiffness=50.0, rest=1.5)],
        actuators=plant.actuators,
        gravity=plant.gravity,
    )
    law = Impedance(plant, ("left", "right"), Constant([2.1, 1.0]), [300.0, 200.0], 30.0)
    rest = closed_loop_equilibrium(with_spring, WithModel(plant, law))
    left, right = rest.point.q[[0, 2]]
    assert 300.0 * (2.1 - left) == pytest.approx(50.0 * (left - 1.5), abs=1e-8)
    assert right == pytest.approx(1.0, abs=1e-9)
    assert linearize_closed_loop(plant, law).inputs[2:4] == ("left_ref", "right_ref")


def test_more_freedoms_than_the_task():
    """Three joints, two directions: the task obeys its impedance, and the rest of the motion is damped."""
    plant = open_arm(3)
    task = PointTask(plant, "link2", (0.25, 0.0, 0.0), axes=("x", "y"))
    q = plant.assemble(q0=0.3, q1=0.6, q2=0.7)
    x = task.value(plant.terms(q, np.zeros(3)))
    law = Impedance(plant, task, Constant(x), 300.0, 50.0, null_damping=7.0)
    loop = linearize_closed_loop(plant, law, q, find_equilibrium=False)
    inertia = task_inertia(law, plant.terms(q, np.zeros(3)))
    truth = [*second_order(inertia, 50.0 * np.eye(2), 300.0 * np.eye(2)), -7.0, 0.0]
    assert matched(loop.poles(), truth) < 1e-6
    # a force at the task meets the inertia of the task, with no share from the rest of the motion
    terms = plant.terms(q, np.array([0.5, -1.0, 2.0]))
    F = np.array([3.0, -2.0])
    u = law(0.0, terms, np.zeros(0))
    load = task.jacobian(terms).T @ F
    a = [forward_dynamics(plant, terms.q, terms.v, u + x) for x in (0.0, load)]
    assert task.jacobian(terms) @ (a[1] - a[0]) == pytest.approx(np.linalg.solve(inertia, F), rel=1e-9)


@pytest.mark.nojit_slow
def test_a_platform_on_springs():
    """All six directions of a Stewart platform, rotations too, against a wrench."""
    plant = plants.stewart()
    task = PoseTask(plant, "platform")
    q = plants.catalogue["stewart"].initial(plant)[0]
    K = np.diag([4e3, 5e3, 6e3, 300.0, 400.0, 500.0])
    at = task.value(plant.terms(q, np.zeros(plant.nv)))
    law = Impedance(plant, task, Constant(at), K, 0.1 * K)
    loop = linearize_closed_loop(plant, law, q)
    inertia = task_inertia(law, plant.terms(q, np.zeros(plant.nv)))
    truth = second_order(inertia, 0.1 * K, K)
    assert matched(loop.poles(), truth) < 1e-6 * largest(np.abs(truth))


@pytest.mark.parametrize("inertia", [None, np.array([[8.0, 1.0], [1.0, 5.0]])])
def test_an_impedance_in_motion(inertia):
    """Lambda e'' + D e' + K e = 0 at any state, with the acceleration that the machine has under these efforts."""
    plant = plants.five_bar()
    law, _, K, D = tip_law(plant, inertia=inertia)
    q = plant.assemble(left=2.3, right=0.8)
    terms = plant.terms(q, plant.project_velocity(q, [2.0, 0.0, -3.0, 0.0]))
    a = forward_dynamics(plant, q, terms.v, law(0.0, terms, np.zeros(0)))
    e, rate = law.error(0.0, terms)
    bend = -(law.task.jacobian(terms) @ a + law.task.bias(terms))  # e'' under a reference at rest
    M = task_inertia(law, terms) if inertia is None else inertia
    assert largest(law.task.bias(terms)) > 0.3
    assert M @ bend + D @ rate + K @ e == pytest.approx(np.zeros(2), abs=1e-8)


def test_a_law_for_other_laws():
    """desired_acceleration is what the efforts produce, and keeps to the loops."""
    plant = plants.five_bar()
    law = tip_law(plant)[0]
    q = plant.assemble(left=2.0, right=1.2)
    v = plant.project_velocity(q, [1.0, 0.0, -2.0, 0.0])
    terms = plant.terms(q, v)
    a = law.desired_acceleration(0.0, terms)
    assert largest(terms.A @ a + terms.b) < 1e-10
    assert forward_dynamics(plant, q, v, law(0.0, terms, np.zeros(0))) == pytest.approx(a, abs=1e-8)


def test_wrong_impedances():
    plant = plants.five_bar()
    with pytest.raises(ValueError, match="symmetric and positive semidefinite"):
        tip_law(plant, stiffness=np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="the damping of Impedance must be symmetric"):
        tip_law(plant, damping=-1.0)
    with pytest.raises(ValueError, match="the inertia of Impedance must be symmetric and positive definite"):
        tip_law(plant, inertia=0.0)
    with pytest.raises(ValueError, match=r"shape \(2,\) each"):
        Impedance(plant, ("left", "right"), Constant([1.0]), 1.0, 1.0)
    three = Impedance(plant, ("left", "right", "elbow_left"), Constant([1.0] * 3), 1.0, 1.0, inertia=1.0)
    terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
    with pytest.raises(ActuationError, match=r"in all its 3 directions .* with 2 degrees of freedom"):
        three(0.0, terms, None)
    stretched = open_arm(2)
    task = PointTask(stretched, "link1", (0.25, 0.0, 0.0), axes=("x", "y"))
    law = Impedance(stretched, task, Constant([0.9, 0.0]), 1.0, 1.0, inertia=1.0)
    with pytest.raises(ActuationError, match="cannot move in all its 2 directions"):
        law(0.0, stretched.terms([0.0, 0.0], [0.0, 0.0]), None)


class Compliance(Controller):
    """The textbook's law J'(K e - D J v) + h, which needs no inverse of J."""

    def __init__(self, plant, task, goal):
        self.plant, self.task, self.goal = plant, task, np.array(goal)

    def effort(self, t, terms, state):
        J, e = self.task.jacobian(terms), self.goal - self.task.value(terms)
        return J.T @ (500.0 * e - 50.0 * J @ terms.v) + self.plant.terms(terms.q, np.zeros(2)).h


def stretched_arm():
    plant = open_arm(2)
    return plant, PointTask(plant, "link1", (0.25, 0.0, 0.0), axes=("x", "y"))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [None, 1e-3])
def test_an_arm_is_pulled_straight(period):
    """A spring to a point beyond reach: it rests stretched towards it, with the efforts of the textbook's law."""
    plant, task = stretched_arm()
    goal = [0.95, 0.0]  # of 0.75
    law = Impedance(plant, task, Constant(goal), 500.0, 50.0, period=period)
    run, plain = (simulate(plant, made, [0.3, 0.5], t_end=3.0) for made in (law, Compliance(plant, task, goal)))
    np.testing.assert_allclose(run.q.values[-1], 0.0, atol=1e-4)
    np.testing.assert_allclose(run.v.values[-1], 0.0, atol=1e-3)
    assert np.abs(run.u.values).max() < 3.0 * np.abs(plain.u.values).max()


def test_at_a_singular_configuration_efforts_are_those_of_spring_and_damper():
    """Stretched, at rest and moving along what is left: J'(K e + D e') + h + the weight, to the last digits."""
    plant, task = stretched_arm()
    law = Impedance(plant, task, Constant([1.2, 0.1]), 500.0, 50.0, null_damping=0.0)
    terms = plant.terms([0.0, 0.0], [0.0, 0.0])
    expected = task.jacobian(terms).T @ (500.0 * (np.array([1.2, 0.1]) - task.value(terms))) + terms.h
    np.testing.assert_allclose(law(0.0, terms, np.zeros(0)), expected, atol=1e-8)
    near = [law(0.0, plant.terms([0.0, x], [0.0, 0.0]), np.zeros(0)) for x in (1e-3, 1e-6, 1e-9)]
    np.testing.assert_allclose(near, [expected] * 3, atol=2.0)

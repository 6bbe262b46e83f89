"""Gravity compensation with PD, computed torque, impedance."""

import numpy as np
import pytest
from machines import five_bar, largest, matched

from cmbcontrol import (
    Constant,
    Quintic,
    Sine,
    closed_loop_equilibrium,
    linearize,
    linearize_closed_loop,
    plants,
    simulate,
    trim,
)
from cmbcontrol.controllers import (
    ComputedTorque,
    Controller,
    GravityPD,
    Impedance,
    PointTask,
    PoseTask,
    ProjectedInverseDynamics,
    Saturation,
    WithModel,
)
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import ActuationError
from cmbcontrol.linear.signals import Wrench
from cmbcontrol.model.elements import Actuator, Body, Frame, JointSpring, Revolute
from cmbcontrol.model.mechanism import Mechanism

TIP = np.array([1.5, 0.0, 0.0])


def arm(n=3, gear=1.0, loaded=0.0, damping=0.0):
    """An open arm in the plane with a motor on each joint."""
    bodies = [Body.rod(f"link{i}", 1.0 + loaded * (i == n - 1), 0.5) for i in range(n)]
    joints = [
        Revolute(
            f"q{i}", f"link{i - 1}" if i else "ground", f"link{i}", frame=Frame((0.5 * (i > 0), 0, 0)), damping=damping
        )
        for i in range(n)
    ]
    return Mechanism(
        "arm", bodies, joints, actuators=[Actuator(f"q{i}", gear=gear) for i in range(n)], gravity=(0, -9.81, 0)
    )


def second_order(M, D, K):
    """Eigenvalues of M e'' + D e' + K e = 0."""
    n = len(M)
    return np.linalg.eigvals(
        np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    )


# -- gravity compensation and PD ---------------------------------------------------------------------------


def test_it_holds_the_weight_as_trim_does():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = GravityPD(plant, Constant([2.1, 1.0]), kp=50.0, kd=5.0)
    assert law(0.0, plant.terms(q, np.zeros(4)), np.zeros(0)) == pytest.approx(trim(plant, q).u, rel=1e-10)
    rest = closed_loop_equilibrium(plant, law)
    assert rest.point.q == pytest.approx(q, abs=1e-10)


@pytest.mark.parametrize("options", [{}, {"closure": "revolute"}])
def test_poles_are_those_of_springs_and_dampers(options):
    """M_Z e'' + K_D e' + (K_P + what the weights leave) e = 0; with the weights compensated nothing is left but K_P."""
    plant = plants.five_bar(**options)
    kp, kd = np.array([[200.0, 20.0], [20.0, 150.0]]), np.diag([30.0, 20.0])
    law = GravityPD(plant, Constant([2.1, 1.0]), kp=kp, kd=kd)
    loop = linearize_closed_loop(plant, law)
    K = loop.plant.K
    M = K.T @ plant.terms(loop.point.q, np.zeros(4)).M @ K
    assert matched(loop.poles(), second_order(M, kd, kp)) < 1e-7


def test_energy_falls_and_it_comes_to_rest_far_away():
    """v'Mv/2 + e'K_P e/2 falls with e'K_D e'."""
    plant = plants.five_bar()
    kp, kd = np.diag([60.0, 40.0]), np.diag([12.0, 9.0])
    law = GravityPD(plant, Constant([1.8, 1.2]), kp=kp, kd=kd)
    q = plant.assemble(left=2.3, right=0.7)
    run = simulate(plant, law, q, t_end=8.0, output_times=0.05, rtol=1e-9, atol=1e-9)

    def stored(q, v):
        e = np.array([1.8, 1.2]) - q[[0, 2]]
        return plant.terms(q, v).kinetic + 0.5 * e @ kp @ e

    V = np.array([stored(a, b) for a, b in zip(run.q.values, run.v.values, strict=True)])
    lost = np.array([v[[0, 2]] @ kd @ v[[0, 2]] for v in run.v.values])
    assert (np.diff(V) <= 1e-9).all()
    # by Simpson's rule over pairs of steps
    simpson = 0.05 / 3.0 * (lost[0:-2:2] + 4.0 * lost[1:-1:2] + lost[2::2])
    assert largest(V[:-2:2] - V[2::2] - simpson) < 1e-3 * V[0]
    assert run.q.values[-1][[0, 2]] == pytest.approx([1.8, 1.2], abs=1e-3)


def test_wrong_weights_shift_the_rest():
    """K_P e = the weight that is missing, with a model given to the law or by WithModel alike."""
    plant, model = five_bar(0.2), five_bar()
    gains = {"kp": 300.0, "kd": 30.0}
    laws = [
        GravityPD(model, Constant([2.1, 1.0]), **gains),
        WithModel(model, GravityPD(plant, Constant([2.1, 1.0]), **gains)),
        WithModel(model, GravityPD(plant, Constant([2.1, 1.0]), **gains) | Saturation(1e6)),
    ]
    rests = [closed_loop_equilibrium(plant, law) for law in laws]
    for rest in rests:
        assert rest.point.q == pytest.approx(rests[0].point.q, abs=1e-10)
    e = np.array([2.1, 1.0]) - rests[0].point.q[[0, 2]]
    terms, known = (x.terms(rests[0].point.q, np.zeros(4)) for x in (plant, model))
    S = np.eye(4)[[0, 2]]
    assert terms.Z.T @ S.T @ (300.0 * e) == pytest.approx(terms.Z.T @ (terms.h - known.h), abs=1e-9)
    assert largest(e) > 1e-3


def test_gears_and_shared_work():
    """A gear changes efforts, not motion; with too many motors the efforts are the smallest ones."""
    q, v = np.array([0.3, -0.5, 0.7]), np.array([1.0, 2.0, -1.0])
    law = [GravityPD(arm(gear=g), Constant(np.zeros(3)), kp=[9.0, 8.0, 7.0], kd=2.0) for g in (1.0, 20.0)]
    u = [x(0.0, x.plant.terms(q, v), np.zeros(0)) for x in law]
    assert 20.0 * u[1] == pytest.approx(u[0])
    assert u[0] == pytest.approx(arm().terms(q, np.zeros(3)).h - np.array([9.0, 8.0, 7.0]) * q - 2.0 * v)
    plant = plants.two_arms()
    at = plants.catalogue["two-arms"].initial(plant)[0]
    terms = plant.terms(at, np.zeros(plant.nv))
    names = [n for n in plant.actuator_names if n in plant.position_names]
    reference = Constant([at[plant.position_names.index(n)] for n in names])
    for weight in (None, np.arange(1.0, plant.nu + 1.0)):
        law = GravityPD(plant, reference, kp=10.0, kd=1.0, coordinates=names, weight=weight)
        u = law(0.0, terms, np.zeros(0))
        assert terms.Z.T @ terms.B @ u == pytest.approx(terms.Z.T @ terms.h, abs=1e-9)
        W = np.eye(plant.nu) if weight is None else np.diag(weight)
        free = np.linalg.svd(terms.Z.T @ terms.B)[2][terms.dof :]
        assert free @ np.linalg.solve(W, u) == pytest.approx(np.zeros(len(free)), abs=1e-9)


def test_wrong_gravity_compensation():
    plant = plants.five_bar()
    at = {"kp": 1.0, "kd": 1.0}
    with pytest.raises(ValueError, match="did you mean 'left'"):
        GravityPD(plant, Constant([2.1]), coordinates="lefft", **at)
    with pytest.raises(ValueError, match=r"shape \(2,\) each"):
        GravityPD(plant, Constant([2.1]), **at)
    with pytest.raises(TypeError, match="callable with the time"):
        GravityPD(plant, [2.1, 1.0], **at)
    with pytest.raises(ValueError, match=r"kp must have shape \(2,\)"):
        GravityPD(plant, Constant([2.1, 1.0]), kp=[1.0, 2.0, 3.0], kd=1.0)
    with pytest.raises(ValueError, match="the motors right of plant 'five-bar' do not drive single one-axis joints"):
        GravityPD(plants.five_bar(cut="right"), Constant([2.1, 1.0]), **at)
    one = Mechanism(
        plant.name, plant.bodies, plant.joints, plant.loops, actuators=plant.actuators[:1], gravity=plant.gravity
    )
    weak = GravityPD(one, Constant([2.1]), **at)
    with pytest.raises(ActuationError, match=r"the motors reach 1 of 2 degrees of freedom"):
        weak(0.0, one.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4)), np.zeros(0))


# -- computed torque ---------------------------------------------------------------------------------------


def test_the_classical_law_of_an_open_arm():
    plant = arm(gear=5.0)
    reference = Sine([0.3, -0.4, 0.8], 0.3, [0.5, 0.7, 0.9])
    law = ComputedTorque(plant, reference, kp=[30.0, 40.0, 50.0], kd=[11.0, 12.0, 13.0])
    q, v, t = np.array([0.1, 0.2, 0.3]), np.array([-0.5, 1.0, 2.0]), 0.37
    p, rate, acceleration = reference(t)
    terms = plant.terms(q, v)
    wanted = acceleration + np.array([11.0, 12.0, 13.0]) * (rate - v) + np.array([30.0, 40.0, 50.0]) * (p - q)
    assert 5.0 * law(t, terms, np.zeros(0)) == pytest.approx(terms.M @ wanted + terms.h, rel=1e-12)
    assert law.coordinates == ("q0", "q1", "q2")


def test_errors_decay_as_asked():
    """e'' + G_D e' + G_P e = 0 exactly, while the arm swings."""
    plant = arm()
    reference = Sine([0.3, -0.4, 0.8], 0.3, 0.5)
    law = ComputedTorque(plant, reference, bandwidth=6.0)
    p, rate, _ = reference(0.0)
    e0 = np.array([0.1, -0.2, 0.3])
    run = simulate(plant, law, p - e0, rate, t_end=1.0, output_times=0.1)
    t = run.time
    truth = np.exp(-6.0 * t)[:, None] * (1.0 + 6.0 * t[:, None]) * e0
    assert largest(np.array([reference(x)[0] for x in t]) - run.q.values - truth) < 1e-8


def test_on_a_closed_chain_it_is_projected():
    plant = plants.five_bar()
    reference = Quintic([2.1, 1.0], [1.8, 1.2], 1.0)
    twin = ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=6.0)
    law = ComputedTorque(plant, reference, bandwidth=6.0, period=1e-3)
    terms = plant.terms(plant.assemble(left=2.0, right=1.1), np.zeros(4))
    assert law(0.3, terms, None) == pytest.approx(twin(0.3, terms, None), abs=1e-12)
    assert law.period == 1e-3
    with pytest.raises(ValueError, match="do not drive single one-axis joints of the tree; name the coordinates"):
        ComputedTorque(plants.five_bar(cut="right"), reference, bandwidth=6.0)


# -- impedance ----------------------------------------------------------------------------------------------


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
    plain, loaded = arm(2), arm(2, loaded=0.5)
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
    plant = arm(3)
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
    three = Impedance(plant, ("left", "right", "elbow_left"), Constant([1.0] * 3), 1.0, 1.0)
    terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
    with pytest.raises(ActuationError, match=r"in all its 3 directions .* with 2 degrees of freedom"):
        three(0.0, terms, None)
    stretched = arm(2)
    task = PointTask(stretched, "link1", (0.25, 0.0, 0.0), axes=("x", "y"))
    law = Impedance(stretched, task, Constant([0.9, 0.0]), 1.0, 1.0)
    with pytest.raises(ActuationError, match="cannot move in all its 2 directions"):
        law(0.0, stretched.terms([0.0, 0.0], [0.0, 0.0]), None)


def test_linear_weights_need_no_linearization():
    """The plant alone is unstable at this pose, so that the tests above mean something."""
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    assert linearize(plant, point, coordinates=("left", "right")).poles().real.max() > 1.0

"""Control of constraint forces: (51), (52), (54), frames, signs, sampling, and what motors cannot do."""

import importlib.util
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Constant, Mechanism, Sine, plants, simulate
from cmbcontrol.controllers import ConstraintForcePI, HybridMotionForce, ProjectedInverseDynamics, WithModel
from cmbcontrol.controllers.decoupling import cross_coupling
from cmbcontrol.controllers.force_components import ForceComponents
from cmbcontrol.errors import ActuationError
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.two_arms import FORE, HAND, UPPER, pose

ACCURATE = {"rtol": 1e-11, "atol": 1e-11}


def five_bar(motors=("left", "elbow_left", "right", "elbow_right"), heavier=1.0, copies=1, closure="line"):
    """With a motor on every joint: coupled, by 1.0 of its potent forces."""
    plant = plants.five_bar(closure=closure)
    bodies = [replace(b, mass=heavier * b.mass) if b.name == "left_upper" else b for b in plant.bodies]
    loops = [replace(loop, name=loop.name + "'" * k) for k in range(copies) for loop in plant.loops]
    return Mechanism("five-bar", bodies, plant.joints, loops, actuators=map(Actuator, motors), gravity=plant.gravity)


def motion_of(plant, still=False, period=None, **options):
    """A motion law for the five-bar or the particle; moving, or holding the start."""
    if plant.name == "five-bar":
        names, centre, amplitude = ("left", "right"), [2.1, 1.0], [0.3, 0.2]
    else:
        names, centre, amplitude = ("q2",), [0.0], [0.4]
    path = Constant(centre) if still else Sine(centre=centre, amplitude=amplitude, frequency=0.5)
    return ProjectedInverseDynamics(plant, names, path, bandwidth=10.0, period=period, **options)


def start(plant, still=False):
    """On the path of `motion_of`."""
    if plant.name != "five-bar":
        q0 = plant.neutral()
        return q0, np.zeros(2) if still else np.array([0.0, 0.4 * math.pi])
    q0 = plant.assemble(left=2.1, right=1.0)
    terms = plant.terms(q0, np.zeros(4))
    rates = np.zeros(2) if still else math.pi * np.array([0.3, 0.2])
    return q0, terms.Z @ np.linalg.solve(terms.Z[[0, 2]], rates)


def particle():
    """Decoupled: M = m I."""
    return plants.particle_on_circle(mass=2.0)


TREE = Mechanism("tree", [cmb.Body.rod("rod", 1.0, 1.0)], [cmb.Revolute("pivot", "ground", "rod")])
ROWS = {"particle": ("circle",), "five-bar": ("tip_x", "tip_y")}
PLANTS = {"decoupled": particle, "coupled": five_bar}


def hybrid(plant, desired, *, still=False, period=None, model=None, **options):
    """Both laws on a plant, by the names of its rows."""
    force = ConstraintForcePI(model or plant, desired, ROWS[plant.name], period=period, **options)
    return HybridMotionForce(motion_of(model or plant, still, period), force)


def errors(run, *names):
    """Force error over time (times, k), as measured."""
    return run.report.sel(quantity=[f"force_error_{n}" for n in names]).values


# -- the law itself -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", PLANTS.values(), ids=PLANTS)
def test_equation_54_with_its_mu(make):
    plant = make()
    q0, v0 = start(plant)
    terms = plant.terms(q0, v0)
    mu, P = cross_coupling(terms).mu, terms.P
    lam = np.array([3.0, -2.0])[: len(ROWS[plant.name])]
    motion = motion_of(plant)
    u_p, u_F, C_c_v = motion.desired_acceleration(0.3, terms), terms.A.T @ lam, terms.M @ terms.Cv
    f = terms.h + mu @ C_c_v + (np.eye(plant.nv) + mu) @ P @ terms.M @ u_p + u_F
    np.testing.assert_allclose(f, terms.M @ u_p + terms.h + u_F, atol=1e-10)
    whole = HybridMotionForce(motion, ConstraintForcePI(plant, u_F))
    for law in (whole, hybrid(plant, lam)):
        u = law(0.3, terms, law.start(plant))
        np.testing.assert_allclose(terms.B @ u, f, atol=1e-10)
        found = cmb.constraint_force(plant, q0, v0, u)
        np.testing.assert_allclose(found.force, u_F, atol=1e-10)
        np.testing.assert_allclose(found.acceleration, u_p, atol=1e-10)


def test_particle_on_a_circle_in_closed_form():
    plant = plants.particle_on_circle(mass=2.0, radius=0.5, gravity=(0.0, 0.0))
    law = ConstraintForcePI(plant, [3.0], ["circle"])
    terms = plant.terms([0.3, 0.4], [-0.8, 0.6])
    u = law(0.0, terms, law.start(plant))  # F = f_normal + m |v|^2/rho, nothing along the circle
    np.testing.assert_allclose(u, (3.0 - 2.0 * 1.0 / 0.5) * np.array([0.6, 0.8]), atol=1e-12)


@pytest.mark.nojit_slow
def test_alone_it_leaves_the_motion_as_it_is():
    plant = plants.two_arms()
    q0 = pose(plant, 0.05, 0.5)
    free = simulate(plant, None, q0, t_end=0.15, **settings(**ACCURATE))
    law = ConstraintForcePI(plant, [50.0], ["grasp_fx"], kp=1.0, ki=10.0, on="a")
    forced = simulate(plant, law, q0, t_end=0.15, **settings(**ACCURATE))
    assert np.abs(free.q.values - q0).max() > 0.01
    np.testing.assert_allclose(forced.q.values, free.q.values, atol=1e-8)
    assert np.abs(errors(forced, "grasp_fx")).max() < 1e-6


# -- error dynamics -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", PLANTS.values(), ids=PLANTS)
@pytest.mark.nojit_slow
def test_the_error_decays_as_the_gains_say(make):
    """(1 + G_F) de/dt + G_I e = 0, on a moving machine."""
    plant = make()
    kp, ki = 0.8, 12.0
    wanted = np.array([5.0, -4.0])[: len(ROWS[plant.name])]
    law = hybrid(plant, wanted, kp=kp, ki=ki, initial=wanted - 2.0)
    run = simulate(plant, law, *start(plant), t_end=0.5, output_times=0.01, **settings(**ACCURATE))
    e = errors(run, *ROWS[plant.name])
    rate = np.polyfit(run.time, np.log(e), 1)[0]
    np.testing.assert_allclose(rate, -ki / (1.0 + kp), rtol=1e-4)
    np.testing.assert_allclose(law.force.error_poles, -ki / (1.0 + kp))


@pytest.mark.nojit_slow
def test_the_error_behind_a_filter():
    """Two poles, of tau p^2 + (1 + G_F) p + G_I, from an error that the filter knows."""
    plant = five_bar()
    kp, ki, tau = 0.8, 12.0, 0.04
    law = hybrid(plant, [5.0, -4.0], kp=kp, ki=ki, filter_time=tau, initial=[3.0, 1.0])
    run = simulate(plant, law, *start(plant), t_end=0.5, output_times=0.005, **settings(**ACCURATE))
    x = np.array([[2.0, -5.0], -(1.0 + kp) / ki * np.array([2.0, -5.0])])  # filtered error, integral
    A = np.array([[-(1.0 + kp) / tau, -ki / tau], [1.0, 0.0]])
    poles, vectors = np.linalg.eig(A)
    modes = np.exp(np.outer(run.time, poles))[:, :, None] * np.linalg.solve(vectors, x)[None]
    expected = np.einsum("j,tjk->tk", np.array([-kp, -ki]) @ vectors, modes)
    np.testing.assert_allclose(errors(run, *ROWS["five-bar"]), expected.real, atol=1e-6)
    np.testing.assert_allclose(np.sort(law.force.error_poles[0]), np.sort(poles), rtol=1e-12)


@pytest.mark.parametrize("filter_time", [None, 0.03])
@pytest.mark.nojit_slow
def test_the_sampled_error_has_the_poles_that_are_promised(filter_time):
    plant, T = five_bar(), 0.01
    kp, ki = 0.6, 20.0
    law = hybrid(plant, [5.0, -4.0], still=True, period=T, kp=kp, ki=ki, filter_time=filter_time, initial=[3.0, 1.0])
    run = simulate(plant, law, *start(plant, still=True), t_end=0.4, output_times=(np.arange(40) + 0.5) * T)
    e = errors(run, "tip_x", "tip_y")[1:]  # the first sample has no measurement
    poles = law.force.error_poles[0]
    recursion = np.poly(poles).real
    np.testing.assert_allclose(recursion[0] * e[2:] + recursion[1] * e[1:-1] + recursion[2] * e[:-2], 0.0, atol=1e-8)
    slowest = np.abs(poles).max()
    if filter_time is None:
        assert e[-1] / e[-11] == pytest.approx(np.full(2, slowest**10), rel=0.01)


def test_poles_of_the_sampled_error_from_the_recursion_itself():
    """The characteristic polynomial against the recursion of (52), written down and iterated."""
    rng = np.random.default_rng(3)
    plant, T = particle(), 0.02
    for tau in (None, 0.05):
        a = 0.0 if tau is None else math.exp(-T / tau)
        limit = (1.0 + a) / (1.0 - a)
        for _ in range(20):
            kp = rng.uniform(0.0, 1.3 * limit)
            ki = rng.uniform(0.1, 2.6 * max(limit - kp, 0.2)) / T
            step = np.empty((3, 3))  # (e, x, s) -> the next: F answers the efforts one sample later
            for i, (e, x, s) in enumerate(np.eye(3)):
                x = a * x + (1.0 - a) * e
                s = s + T * x
                step[:, i] = -kp * x - ki * s, x, s
            radius = np.abs(np.linalg.eigvals(step)).max()
            stable = kp < limit and ki * T < 2.0 * (limit - kp)
            assert (radius < 1.0) == stable
            if stable:
                law = ConstraintForcePI(plant, [1.0], ["circle"], kp=kp, ki=ki, period=T, filter_time=tau)
                assert np.abs(law.error_poles).max() == pytest.approx(radius)
            else:
                with pytest.raises(ValueError, match="spectral radius"):
                    ConstraintForcePI(plant, [1.0], ["circle"], kp=kp, ki=ki, period=T, filter_time=tau)


def test_the_remedy_for_sampled_gains_works():
    plant = particle()
    with pytest.raises(ValueError, match=r"must stay below 1; it is 2.1.* filter_time above 0.00965") as caught:
        ConstraintForcePI(plant, [1.0], ["circle"], kp=2.0, ki=20.0, period=0.01)
    told = float(str(caught.value).split("above ")[1].split(" s")[0])
    ConstraintForcePI(plant, [1.0], ["circle"], kp=2.0, ki=20.0, period=0.01, filter_time=1.01 * told)
    with pytest.raises(ValueError, match="With a filter"):
        ConstraintForcePI(plant, [1.0], ["circle"], kp=2.0, ki=20.0, period=0.01, filter_time=0.97 * told)
    with pytest.raises(ValueError, match=r"spectral radius of the error is 1[.,]"):
        ConstraintForcePI(plant, [1.0], ["circle"], kp=1.0, period=0.01)


# -- decoupling -----------------------------------------------------------------------------------


def moved_by_a_force_step(plant, **options):
    """Largest change of the joint positions from a step of 40 N in all multipliers, and the step that was made."""
    k, still = len(ROWS[plant.name]), options.get("still", False)
    runs = []
    for height in (0.0, 40.0):
        law = hybrid(plant, lambda t, h=height: np.full(k, h if t >= 0.1 else 0.0), kp=0.5, ki=10.0, **options)
        begin = start(plant, still)
        runs.append(simulate(plant, law, *begin, t_end=0.4, output_times=0.01, **settings(**ACCURATE)))
    step = runs[1].multipliers.values[-1] - runs[0].multipliers.values[-1]
    return np.abs(runs[0].q.values - runs[1].q.values).max(), step


@pytest.mark.parametrize(("period", "still"), [(None, False), (0.005, True)])
@pytest.mark.parametrize("make", PLANTS.values(), ids=PLANTS)
@pytest.mark.nojit_slow
def test_a_force_step_does_not_move_the_joints(make, period, still):
    moved, step = moved_by_a_force_step(make(), period=period, still=still)
    np.testing.assert_allclose(step, 40.0, rtol=1e-6)
    assert moved < 1e-8


@pytest.mark.parametrize("make", PLANTS.values(), ids=PLANTS)
@pytest.mark.nojit_slow
def test_efforts_that_are_held_while_the_pose_changes_move_the_joints_in_proportion_to_the_period(make):
    moved = [moved_by_a_force_step(make(), period=period)[0] for period in (0.008, 0.004)]
    assert 1e-8 < moved[1] < 1e-3
    assert moved[0] / moved[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("filter_time", [None, 0.02])
@pytest.mark.parametrize("make", PLANTS.values(), ids=PLANTS)
@pytest.mark.nojit_slow
def test_motion_does_not_disturb_the_force(make, filter_time):
    plant = make()
    k = len(ROWS[plant.name])
    law = hybrid(plant, np.full(k, 20.0), kp=0.5, ki=30.0, filter_time=filter_time, initial=np.full(k, 10.0))
    run = simulate(plant, law, *start(plant), t_end=1.5, output_times=0.05, **settings(**ACCURATE))
    assert np.ptp(run.q.values, axis=0).max() > 0.3
    np.testing.assert_allclose(run.multipliers.values[run.time > 1.2], 20.0, rtol=1e-6)


@pytest.mark.parametrize("make", PLANTS.values(), ids=PLANTS)
@pytest.mark.nojit_slow
def test_between_samples_the_motion_disturbs_the_force_in_proportion_to_the_period(make):
    plant = make()
    k = len(ROWS[plant.name])
    worst = []
    for period in (0.004, 0.002):
        law = hybrid(plant, np.full(k, 20.0), kp=0.2, ki=30.0, period=period)
        run = simulate(plant, law, *start(plant), t_end=0.4, output_times=0.0005)
        worst.append(np.abs(run.multipliers.values[run.time > 0.2] - 20.0).max())
    assert worst[1] < 0.05
    assert worst[0] / worst[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.nojit_slow
def test_without_compensation_the_coupling_shows():
    plant = five_bar()
    worst = []
    for compensate in (True, False):
        law = hybrid(plant, [20.0, 20.0], kp=0.5, ki=30.0, compensate=compensate)
        run = simulate(plant, law, *start(plant), t_end=1.0, output_times=0.05)
        worst.append(np.abs(errors(run, *ROWS["five-bar"])[10:]).max())
    assert worst[0] < 1e-6 and worst[1] > 0.5
    terms = plant.terms(*start(plant))
    motion = motion_of(plant)
    law = hybrid(plant, [0.0, 0.0], compensate=False)
    u = law(0.0, terms, law.start(plant))
    a = motion.desired_acceleration(0.0, terms)
    lost = (np.eye(4) - terms.P) @ terms.M @ a  # mu (f_parallel - h_parallel + C_c v)
    np.testing.assert_allclose(cmb.constraint_force(plant, terms.q, terms.v, u).force, -lost, atol=1e-10)
    whole = HybridMotionForce(motion, ConstraintForcePI(plant, np.zeros(4), compensate=False))
    np.testing.assert_allclose(whole(0.0, terms, whole.start(plant)), u, atol=1e-10)


# -- a wrong model --------------------------------------------------------------------------------


@pytest.mark.parametrize(("period", "filter_time"), [(None, None), (None, 0.02), (0.005, None), (0.005, 0.02)])
@pytest.mark.nojit_slow
def test_the_integral_removes_what_a_wrong_model_leaves(period, filter_time):
    model, plant = five_bar(), five_bar(heavier=1.3)
    options = {"still": True, "period": period, "filter_time": filter_time, "model": model}
    left = []
    for ki in (0.0, 40.0):
        law = WithModel(model, hybrid(plant, [20.0, 10.0], kp=0.4, ki=ki, **options))
        run = simulate(plant, law, *start(plant, still=True), t_end=2.0, output_times=0.1, rtol=1e-8)
        left.append(np.abs(run.multipliers.values[-1] - [20.0, 10.0]).max())
    assert left[0] > 0.5 and left[1] < 1e-4


@pytest.mark.nojit_slow
def test_a_measured_force_is_attenuated_by_one_plus_the_gain():
    model, plant = five_bar(), five_bar(heavier=1.3)
    left = []
    for kp in (0.0, 0.5):
        law = WithModel(model, hybrid(plant, [20.0, 10.0], kp=kp, still=True, period=0.005, model=model))
        run = simulate(plant, law, *start(plant, still=True), t_end=2.0, output_times=0.1, rtol=1e-8, atol=1e-8)
        left.append(run.multipliers.values[-1] - [20.0, 10.0])
    np.testing.assert_allclose(left[1], left[0] / 1.5, rtol=1e-6)


# -- which force ----------------------------------------------------------------------------------


def from_the_right_hand(plant, q, u):
    """Force and moment (fx, fy, mz) of the right hand on the object, ground axes, by statics of the right arm alone."""
    parts = ("shoulder", "elbow", "wrist")
    angles = np.cumsum([q[plant.position_names.index(f"right_{part}")] for part in parts])
    torques = [u[plant.actuator_names.index(f"right_{part}")] for part in parts]
    links = np.array([UPPER, FORE, HAND])[:, None] * np.array([np.cos(angles), np.sin(angles)]).T
    joints = np.cumsum([[0.5, 0.0], *links], axis=0)
    middles = 0.5 * (joints[1:] + joints[:-1])
    rows, loads = [], []
    for k, torque in enumerate(torques):  # balance of moments about joint k
        arm = joints[3] - joints[k]
        rows.append([-arm[1], arm[0], 1.0])
        loads.append(torque - 9.81 * np.array([4.0, 3.0, 0.8])[k:] @ (middles[k:, 0] - joints[k, 0]))
    return np.linalg.solve(rows, loads)


@pytest.mark.parametrize("closure", ["weld", "planar"])
def test_squeeze_by_statics(closure):
    """The right hand pushes with 50 N along the object, towards its middle, up with 10 N, and bends it with 2 N m."""
    plant = plants.two_arms(closure)
    angle = 0.3
    q = pose(plant, 0.05, 0.5, angle)
    motion = ProjectedInverseDynamics(plant, plant.velocity_names[:3], Constant(q[:3]), bandwidth=5.0)
    names = ["grasp_fx", "grasp_fy", "grasp_mz"] if closure == "weld" else ["grasp_fx", "grasp_fy"]
    wanted = np.array([-50.0, 10.0, 2.0])[: len(names)]
    law = HybridMotionForce(motion, ConstraintForcePI(plant, wanted, names, frame="object", on="a"))
    terms = plant.terms(q, np.zeros(6))
    u = law(0.0, terms, law.start(plant))
    fx, fy, m = from_the_right_hand(plant, q, u)
    c, s = math.cos(angle), math.sin(angle)
    np.testing.assert_allclose([c * fx + s * fy, -s * fx + c * fy], wanted[:2], atol=1e-9)
    if closure == "weld":
        assert m == pytest.approx(2.0)
    np.testing.assert_allclose(cmb.forward_dynamics(plant, q, np.zeros(6), u), 0.0, atol=1e-9)


def test_frames_and_bodies_agree():
    plant = plants.two_arms()
    q = pose(plant, 0.05, 0.5, 0.3)
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
        """Power of the wrench on b, and of the opposite one on a, at b's point; by differences of poses."""
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


# -- redundant rows, few motors -------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_rows_written_twice_give_the_same_force():
    plain = five_bar()
    F_d = plain.terms(*start(plain)).A.T @ [12.0, -7.0]
    runs = []
    for plant in (plain, five_bar(copies=2), five_bar(closure="revolute")):
        law = HybridMotionForce(motion_of(plant), ConstraintForcePI(plant, F_d, kp=0.5, ki=10.0))
        runs.append(simulate(plant, law, *start(plant), t_end=0.2, output_times=0.02, **settings(**ACCURATE)))
    for run in runs[1:]:
        np.testing.assert_allclose(run.constraint_force.values, runs[0].constraint_force.values, atol=1e-7)
        np.testing.assert_allclose(run.u.values, runs[0].u.values, atol=1e-7)
    revolute = five_bar(closure="revolute")
    by_name = HybridMotionForce(motion_of(revolute), ConstraintForcePI(revolute, [12.0, -7.0], ["tip_x", "tip_y"]))
    terms = revolute.terms(*start(revolute))
    np.testing.assert_allclose(by_name(0.0, terms, by_name.start(revolute)), runs[0].u.values[0], atol=1e-8)


def test_a_component_that_redundant_rows_share_is_refused_by_name():
    with pytest.raises(ActuationError, match=r"does not determine 'tip_x'.*leave the components out"):
        ConstraintForcePI(five_bar(copies=2), [1.0], ["tip_x"])
    with pytest.raises(ActuationError, match=r"'grasp_z', 'grasp_tilt_x', 'grasp_tilt_y'.*grasp_x, grasp_y"):
        ConstraintForcePI(plants.two_arms(), np.zeros(6), ["grasp"])
    with pytest.raises(ActuationError, match="'grasp_fz'"):
        ConstraintForcePI(plants.two_arms(), np.zeros(2), ["grasp_fx", "grasp_fz"])


@pytest.mark.nojit_slow
def test_what_few_motors_cannot_reach_is_reported_and_not_integrated():
    plant = five_bar(motors=("left", "right", "elbow_left"))
    force = ConstraintForcePI(plant, [20.0, -15.0], ["tip_x", "tip_y"], kp=0.5, ki=20.0)
    law = HybridMotionForce(motion_of(plant), force)
    run = simulate(plant, law, *start(plant), t_end=0.5, output_times=0.1, **settings(**ACCURATE))
    missing = run.report.sel(quantity=["unreachable_tip_x", "unreachable_tip_y"]).values
    assert np.abs(missing).max() > 5.0
    np.testing.assert_allclose([20.0, -15.0] - run.multipliers.values, missing, atol=1e-6)  # all the rest is there
    terms = plant.terms(*start(plant))
    measured = terms.with_force(terms.A.T @ [20.0, -15.0] + terms.A.T @ [1.0, 2.0])
    change = law.evaluate(0.0, measured, law.start(plant)).state
    u, N = law(0.0, terms, law.start(plant)), np.linalg.svd(terms.Z.T @ terms.B)[2][2]
    reach = terms.A_pinv.T @ terms.B @ N
    assert abs(np.cross(np.append(change, 0.0), np.append(reach, 0.0))[2]) < 1e-9  # along what can be reached
    # the distance to the wish is smallest: perpendicular to what can be reached
    lam = cmb.constraint_force(plant, terms.q, terms.v, u).multipliers
    assert abs(([20.0, -15.0] - lam) @ reach) < 1e-8
    one = ConstraintForcePI(plant, [20.0, -15.0], ["tip_x", "tip_y"], force_weight=[1.0, 1e8])
    u = HybridMotionForce(motion_of(plant), one)(0.0, terms, one.start(plant))
    assert cmb.constraint_force(plant, terms.q, terms.v, u).multipliers[1] == pytest.approx(-15.0, abs=1e-4)


def test_a_motor_that_is_left_over_is_given_what_the_weight_says():
    plant = plants.two_arms()
    q = pose(plant, 0.05, 0.5)
    motion = ProjectedInverseDynamics(plant, plant.velocity_names[:3], Constant(q[:3]), bandwidth=5.0)
    terms = plant.terms(q, np.zeros(6))
    found = []
    for weight in (None, plant.effort**2):
        force = ConstraintForcePI(plant, [30.0], ["grasp_fx"], weight=weight)
        law = HybridMotionForce(motion, force)
        found.append(law(0.0, terms, law.start(plant)))
        W = np.eye(6) if weight is None else np.diag(weight)
        rows = np.vstack([terms.Z.T @ terms.B, force.components.matrix(terms) @ terms.B])
        free = np.linalg.svd(rows)[2][4:].T
        np.testing.assert_allclose(free.T @ np.linalg.solve(W, found[-1]), 0.0, atol=1e-9)
    assert np.abs(found[0] - found[1]).max() > 0.1


@pytest.mark.nojit_slow
def test_the_integral_stops_at_its_limit():
    """It takes 2 N off an error that it could not take off as a whole."""
    model, plant = five_bar(), five_bar(heavier=4.0)
    for period in (None, 0.005):
        left = []
        for limit in (0.0, 2.0):
            options = {"still": True, "period": period, "model": model, "integral_limit": limit}
            law = WithModel(model, hybrid(plant, [20.0, 10.0], ki=40.0, **options))
            run = simulate(plant, law, *start(plant, still=True), t_end=2.0, output_times=0.1, rtol=1e-7)
            left.append(np.abs(run.multipliers.values[-1] - [20.0, 10.0]))
        np.testing.assert_allclose(left[0] - left[1], 2.0, rtol=1e-2)
    force = ConstraintForcePI(model, [20.0, 10.0], ["tip_x", "tip_y"], ki=40.0, integral_limit=[2.0, 4.0], period=0.01)
    terms = model.terms(*start(model)).with_force(np.zeros(4))
    state = force.start(model)
    for _ in range(100):
        state = force.evaluate(0.0, terms, state).state
    np.testing.assert_allclose(40.0 * state[:2], [2.0, 4.0])


# -- what is handed on, what is refused -----------------------------------------------------------


def test_both_laws_in_one():
    plant = five_bar()
    motion, force = motion_of(plant), ConstraintForcePI(plant, [1.0, 2.0], ["tip_x", "tip_y"], ki=1.0)
    law = HybridMotionForce(motion, force)
    assert law.coordinates == ("left", "right") and law.period is None and law.measures_force
    law = law.with_reference(Constant([2.0, 1.0]))
    assert motion.reference is not law.reference
    terms = plant.terms(*start(plant))
    np.testing.assert_array_equal(law.desired_acceleration(0.0, terms), law.motion.desired_acceleration(0.0, terms))
    report = law.evaluate(0.0, terms, law.start(plant)).reported()
    assert {"force_error_tip_x", "unreachable_tip_y", "coupling"} <= set(report)
    assert math.isnan(report["force_error_tip_x"]) and report["coupling"] == pytest.approx(0.9957, abs=1e-3)
    with pytest.raises(TypeError, match="motion law"):
        HybridMotionForce(force, force)
    with pytest.raises(TypeError, match="motion law"):
        HybridMotionForce(WithModel(plant, force), force)
    with pytest.raises(TypeError, match="ConstraintForcePI"):
        HybridMotionForce(motion, motion)
    with pytest.raises(ValueError, match=r"sampled at 0\.01 s and the force law continuous"):
        HybridMotionForce(motion_of(plant, period=0.01), force)
    with pytest.raises(ValueError, match="different loops"):
        HybridMotionForce(motion_of(five_bar(copies=2)), force)
    with pytest.raises(ValueError, match="motors"):
        HybridMotionForce(motion_of(plants.five_bar()), force)
    with pytest.raises(ValueError, match=r"other|made for"):
        law.start(plants.five_bar())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"components": ["tip_q", "tip_x"]}, "did you mean"),
        ({"components": []}, "empty"),
        ({"components": ["tip_x", "tip_x"]}, "twice"),
        ({"frame": "ground"}, "no axes"),
        ({"components": ["tip_fx", "tip_fy"], "frame": "grond"}, "no body 'grond'"),
        ({"components": ["tip_fx", "tip_fy"], "on": "c"}, "'c'"),
        ({"desired": [1.0]}, r"shape \(2,\)"),
        ({"desired": lambda t: [1.0]}, r"shape \(2,\)"),
        ({"desired": [1.0, np.nan]}, "tip_y = nan"),
        ({"kp": -1.0}, "kp must be >= 0"),
        ({"kp": [0.1, 0.2, 0.3, 0.4], "components": None, "desired": [0.0] * 4}, "one number each"),
        ({"filter_time": 0.0}, "filter_time"),
        ({"period": -0.1}, "period"),
        ({"initial": [3.0, 2.0]}, "give ki > 0"),
        ({"force_weight": [0.0, 1.0]}, "force_weight must be > 0"),
        ({"weight": [-1.0] * 4}, "positive definite"),
    ],
)
def test_input_is_checked(options, words):
    with pytest.raises(ValueError, match=words):
        ConstraintForcePI(five_bar(), **({"components": ["tip_x", "tip_y"], "desired": [1.0, 2.0]} | options))


def test_plants_that_it_is_not_for():
    with pytest.raises(ValueError, match="given by functions"):
        ConstraintForcePI(particle(), [1.0], ["circle_fx"])
    with pytest.raises(ValueError, match="coupling of joint coordinates"):
        ConstraintForcePI(plants.two_arms("planar"), [1.0], ["grasp_angle_mz"])
    assert ConstraintForcePI(plants.two_arms("planar"), [1.0], ["grasp_angle"]).names == ("grasp_angle",)
    with pytest.raises(ValueError, match="no loops"):
        ConstraintForcePI(TREE, [])
    with pytest.raises(ActuationError, match=r"no motor.*reachable_forces"):
        ConstraintForcePI(plants.five_bar(), [1.0], ["tip_x"])


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_the_example():
    path = Path(__file__).parents[1] / "examples" / "ex07_force_control.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.main()
    assert found["compensated: largest force error, N"] < 0.5
    assert found["compensated: largest moment error, N m"] < 0.06
    assert found["coupling ignored: largest force error, N"] > 2.0
    ratio = found["coupling ignored: largest path error, m"] / found["compensated: largest path error, m"]
    assert ratio == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("period", [None, 0.01])
def test_states_have_names(period):
    plant = five_bar()
    law = hybrid(plant, [1.0, 2.0], ki=1.0, period=period, filter_time=0.02)
    names = law.state_names(plant)
    assert len(names) == law.start(plant).size and names[0] == "tip_x_integral"


@pytest.mark.nojit_slow
def test_the_page_runs():
    page = Path(__file__).parents[1] / "docs" / "force.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 4
    names: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
    assert np.abs(names["run"].report.sel(quantity="force_error_grasp_fx")).max() < 1e-9

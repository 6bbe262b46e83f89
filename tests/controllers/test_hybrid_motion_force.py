"""Motion and force at once (54): neither disturbs the other, and what motors cannot do."""

import math

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants, simulate
from cmbcontrol.controllers import ConstraintForcePI, HybridMotionForce, ProjectedInverseDynamics, WithModel
from cmbcontrol.controllers.decoupling import cross_coupling
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.two_arms import FORE, HAND, UPPER, configuration
from tests.fixtures import FORCE_PLANTS, FORCE_ROWS, actuated_five_bar, force_errors, force_motion, force_start, hybrid

ACCURATE = {"rtol": 1e-11, "atol": 1e-11}

# In continuous time the force that is measured answers the efforts, and Python runs the law.
pytestmark = pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")


# -- the law itself -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FORCE_PLANTS.values(), ids=FORCE_PLANTS)
def test_equation_54_with_its_mu(make):
    plant = make()
    q0, v0 = force_start(plant)
    terms = plant.terms(q0, v0)
    mu, P = cross_coupling(terms).mu, terms.P
    lam = np.array([3.0, -2.0])[: len(FORCE_ROWS[plant.name])]
    motion = force_motion(plant)
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


# -- decoupling -----------------------------------------------------------------------------------


def moved_by_a_force_step(plant, **options):
    """Largest change of the joint positions from a step of 40 N in all multipliers, and the step that was made."""
    k, still = len(FORCE_ROWS[plant.name]), options.get("still", False)
    runs = []
    for height in (0.0, 40.0):
        law = hybrid(plant, lambda t, h=height: np.full(k, h if t >= 0.1 else 0.0), kp=0.5, ki=10.0, **options)
        begin = force_start(plant, still)
        runs.append(simulate(plant, law, *begin, t_end=0.4, output_times=0.01, **settings(**ACCURATE)))
    step = runs[1].multipliers.values[-1] - runs[0].multipliers.values[-1]
    return np.abs(runs[0].q.values - runs[1].q.values).max(), step


@pytest.mark.parametrize(("period", "still"), [(None, False), (0.005, True)])
@pytest.mark.parametrize("make", FORCE_PLANTS.values(), ids=FORCE_PLANTS)
@pytest.mark.nojit_slow
def test_a_force_step_does_not_move_the_joints(make, period, still):
    moved, step = moved_by_a_force_step(make(), period=period, still=still)
    np.testing.assert_allclose(step, 40.0, rtol=1e-6)
    assert moved < 1e-8


@pytest.mark.parametrize("make", FORCE_PLANTS.values(), ids=FORCE_PLANTS)
@pytest.mark.nojit_slow
def test_efforts_that_are_held_while_the_pose_changes_move_the_joints_in_proportion_to_the_period(make):
    moved = [moved_by_a_force_step(make(), period=period)[0] for period in (0.008, 0.004)]
    assert 1e-8 < moved[1] < 1e-3
    assert moved[0] / moved[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("filter_time", [None, 0.02])
@pytest.mark.parametrize("make", FORCE_PLANTS.values(), ids=FORCE_PLANTS)
@pytest.mark.nojit_slow
@pytest.mark.first(1)
def test_motion_does_not_disturb_the_force(make, filter_time):
    plant = make()
    k = len(FORCE_ROWS[plant.name])
    law = hybrid(plant, np.full(k, 20.0), kp=0.5, ki=30.0, filter_time=filter_time, initial=np.full(k, 10.0))
    run = simulate(plant, law, *force_start(plant), t_end=1.5, output_times=0.05, **settings(**ACCURATE))
    assert np.ptp(run.q.values, axis=0).max() > 0.3
    np.testing.assert_allclose(run.multipliers.values[run.time > 1.2], 20.0, rtol=1e-6)


@pytest.mark.parametrize("make", FORCE_PLANTS.values(), ids=FORCE_PLANTS)
@pytest.mark.nojit_slow
@pytest.mark.slow
def test_between_samples_the_motion_disturbs_the_force_in_proportion_to_the_period(make):
    plant = make()
    k = len(FORCE_ROWS[plant.name])
    worst = []
    for period in (0.004, 0.002):
        law = hybrid(plant, np.full(k, 20.0), kp=0.2, ki=30.0, period=period)
        run = simulate(plant, law, *force_start(plant), t_end=0.4, output_times=0.0005)
        worst.append(np.abs(run.multipliers.values[run.time > 0.2] - 20.0).max())
    assert worst[1] < 0.05
    assert worst[0] / worst[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.nojit_slow
def test_without_compensation_the_coupling_shows():
    plant = actuated_five_bar()
    worst = []
    for compensate in (True, False):
        law = hybrid(plant, [20.0, 20.0], kp=0.5, ki=30.0, compensate=compensate)
        run = simulate(plant, law, *force_start(plant), t_end=1.0, output_times=0.05)
        worst.append(np.abs(force_errors(run, *FORCE_ROWS["five-bar"])[10:]).max())
    assert worst[0] < 1e-6 and worst[1] > 0.5
    terms = plant.terms(*force_start(plant))
    motion = force_motion(plant)
    law = hybrid(plant, [0.0, 0.0], compensate=False)
    u = law(0.0, terms, law.start(plant))
    a = motion.desired_acceleration(0.0, terms)
    lost = (np.eye(4) - terms.P) @ terms.M @ a  # mu (f_parallel - h_parallel + C_c v)
    np.testing.assert_allclose(cmb.constraint_force(plant, terms.q, terms.v, u).force, -lost, atol=1e-10)
    whole = HybridMotionForce(motion, ConstraintForcePI(plant, np.zeros(4), compensate=False))
    np.testing.assert_allclose(whole(0.0, terms, whole.start(plant)), u, atol=1e-10)


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
    q = configuration(plant, 0.05, 0.5, angle)
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


# -- redundant rows, few motors -------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_rows_written_twice_give_the_same_force():
    plain = actuated_five_bar()
    F_d = plain.terms(*force_start(plain)).A.T @ [12.0, -7.0]
    runs = []
    for plant in (plain, actuated_five_bar(copies=2), actuated_five_bar(closure="revolute")):
        law = HybridMotionForce(force_motion(plant), ConstraintForcePI(plant, F_d, kp=0.5, ki=10.0))
        runs.append(simulate(plant, law, *force_start(plant), t_end=0.2, output_times=0.02, **settings(**ACCURATE)))
    for run in runs[1:]:
        np.testing.assert_allclose(run.constraint_force.values, runs[0].constraint_force.values, atol=1e-7)
        np.testing.assert_allclose(run.u.values, runs[0].u.values, atol=1e-7)
    revolute = actuated_five_bar(closure="revolute")
    by_name = HybridMotionForce(force_motion(revolute), ConstraintForcePI(revolute, [12.0, -7.0], ["tip_x", "tip_y"]))
    terms = revolute.terms(*force_start(revolute))
    np.testing.assert_allclose(by_name(0.0, terms, by_name.start(revolute)), runs[0].u.values[0], atol=1e-8)


@pytest.mark.nojit_slow
def test_what_few_motors_cannot_reach_is_reported_and_not_integrated():
    plant = actuated_five_bar(motors=("left", "right", "elbow_left"))
    force = ConstraintForcePI(plant, [20.0, -15.0], ["tip_x", "tip_y"], kp=0.5, ki=20.0)
    law = HybridMotionForce(force_motion(plant), force)
    run = simulate(plant, law, *force_start(plant), t_end=0.5, output_times=0.1, **settings(**ACCURATE))
    missing = run.report.sel(quantity=["unreachable_tip_x", "unreachable_tip_y"]).values
    assert np.abs(missing).max() > 5.0
    np.testing.assert_allclose([20.0, -15.0] - run.multipliers.values, missing, atol=1e-6)  # all the rest is there
    terms = plant.terms(*force_start(plant))
    measured = terms.with_force(terms.A.T @ [20.0, -15.0] + terms.A.T @ [1.0, 2.0])
    change = law.evaluate(0.0, measured, law.start(plant)).state
    u, N = law(0.0, terms, law.start(plant)), np.linalg.svd(terms.Z.T @ terms.B)[2][2]
    reach = terms.A_pinv.T @ terms.B @ N
    assert abs(np.cross(np.append(change, 0.0), np.append(reach, 0.0))[2]) < 1e-9  # along what can be reached
    # the distance to the wish is smallest: perpendicular to what can be reached
    lam = cmb.constraint_force(plant, terms.q, terms.v, u).multipliers
    assert abs(([20.0, -15.0] - lam) @ reach) < 1e-8
    one = ConstraintForcePI(plant, [20.0, -15.0], ["tip_x", "tip_y"], force_weight=[1.0, 1e8])
    u = HybridMotionForce(force_motion(plant), one)(0.0, terms, one.start(plant))
    assert cmb.constraint_force(plant, terms.q, terms.v, u).multipliers[1] == pytest.approx(-15.0, abs=1e-4)


def test_a_motor_that_is_left_over_is_given_what_the_weight_says():
    plant = plants.two_arms()
    q = configuration(plant, 0.05, 0.5)
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


# -- what is handed on, what is refused -----------------------------------------------------------


def test_both_laws_in_one():
    plant = actuated_five_bar()
    motion, force = force_motion(plant), ConstraintForcePI(plant, [1.0, 2.0], ["tip_x", "tip_y"], ki=1.0)
    law = HybridMotionForce(motion, force)
    assert law.coordinates == ("left", "right") and law.period is None and law.measures_force
    law = law.with_reference(Constant([2.0, 1.0]))
    assert motion.reference is not law.reference
    terms = plant.terms(*force_start(plant))
    np.testing.assert_array_equal(law.desired_acceleration(0.0, terms), law.motion.desired_acceleration(0.0, terms))
    report = law.evaluate(0.0, terms, law.start(plant)).reported()
    assert {"force_error_tip_x", "unreachable_tip_y", "coupling"} <= set(report)
    Z, M = terms.Z, terms.M  # the coupling is the size of mu P = (I - P) M Z (Z'M Z)^-1 Z'
    mu = (np.eye(4) - Z @ Z.T) @ M @ Z @ np.linalg.inv(Z.T @ M @ Z)
    assert math.isnan(report["force_error_tip_x"])
    assert report["coupling"] == pytest.approx(np.linalg.norm(mu, 2), rel=1e-12)
    with pytest.raises(TypeError, match="motion law"):
        HybridMotionForce(force, force)
    with pytest.raises(TypeError, match="motion law"):
        HybridMotionForce(WithModel(plant, force), force)
    with pytest.raises(TypeError, match="ConstraintForcePI"):
        HybridMotionForce(motion, motion)
    with pytest.raises(ValueError, match=r"sampled at 0\.01 s and the force law continuous"):
        HybridMotionForce(force_motion(plant, period=0.01), force)
    with pytest.raises(ValueError, match="different loops"):
        HybridMotionForce(force_motion(actuated_five_bar(copies=2)), force)
    with pytest.raises(ValueError, match="motors"):
        HybridMotionForce(force_motion(plants.five_bar()), force)
    with pytest.raises(ValueError, match=r"other|made for"):
        law.start(plants.five_bar())

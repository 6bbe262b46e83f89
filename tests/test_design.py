"""Designs: gains by formula, one gain for many machines, gains by simulation."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, linearize_closed_loop, plants
from cmbcontrol.controllers import PointTask, ProjectedInverseDynamics
from cmbcontrol.design import (
    Performance,
    PoleRegion,
    Range,
    certify,
    effort_cost,
    error_cost,
    lqr,
    overshoot_cost,
    pd_gains,
    pd_gains_from_poles,
    poses_and_payloads,
    robust_state_feedback,
    sampled_pd_gains,
    tune,
    weighted_cost,
    with_payload,
)
from cmbcontrol.design.norms import h2_norm, hinf_norm
from cmbcontrol.papers.methods import settings

NAMES = ("left", "right")
TIP = (1.5, 0.0, 0.0)
MASSES = (0.0, 2.0, 4.0)
POSES = {f"({a}, {b})": {"left": a, "right": b} for a in (1.9, 2.3, 2.7) for b in (0.4, 0.8, 1.2)}
REGION = PoleRegion(decay=3.0, damping=0.6, radius=40.0)
DESIGN = PoleRegion(decay=3.5, damping=0.6, radius=40.0)  # inside of it: loaded machines rest aside of their poses


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def machines(plant):
    return {f"{m:g} kg": with_payload(plant, "left_upper", m, TIP) for m in MASSES}


@pytest.fixture(scope="module")
def models(machines):
    return poses_and_payloads(machines, POSES, coordinates=NAMES)


@pytest.fixture(scope="module")
def robust(models):
    return robust_state_feedback(models, DESIGN)


def law_of(robust, machines):
    """The gain about the middle pose of the machine with the nominal payload of 2 kg."""
    nominal = machines["2 kg"]
    middle = cmb.linearize(
        nominal, cmb.trim(nominal, nominal.assemble(**POSES["(2.3, 0.8)"])), coordinates=NAMES
    )  # fmt: skip
    return robust.law(middle)


# -- gains by formula --------------------------------------------------------------------------------------


def test_pd_gains_and_poles_agree():
    kp, kd = pd_gains([5.0, 8.0], [1.0, 0.5])
    again = pd_gains_from_poles([(-5.0, -5.0), (-4.0 + 1j * np.sqrt(48.0), -4.0 - 1j * np.sqrt(48.0))])
    assert np.allclose([kp, kd], again)


@pytest.mark.parametrize("period", [0.001, 0.05, 0.2])
def test_sampled_pd_gains_place_the_poles_of_the_sampled_loop(plant, period):
    poles = np.array([[-4.0, -10.0], [-3.0 + 4.0j, -3.0 - 4.0j]])
    kp, kd = sampled_pd_gains(poles=poles, period=period)
    # a double integrator for each coordinate, held
    for k, d, pair in zip(kp, kd, poles, strict=True):
        A = np.array([[1.0, period], [0.0, 1.0]]) - np.array([[0.5 * period**2], [period]]) @ [[k, d]]
        assert np.allclose(np.sort_complex(np.linalg.eigvals(A)), np.sort_complex(np.exp(pair * period)), atol=1e-9)
    slow = sampled_pd_gains(poles=poles, period=1e-6)
    assert np.allclose(slow, pd_gains_from_poles(poles), rtol=1e-4)


def test_sampled_pd_gains_serve_projected_inverse_dynamics(plant):
    """On the five-bar, with its slope of the inertia frozen by the hold, to the order of the period."""
    kp, kd = sampled_pd_gains(8.0, 1.0, period=0.01)
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), kp=kp[0], kd=kd[0], period=0.01)
    poles = linearize_closed_loop(plant, law).continuous_poles()
    assert np.abs(poles + 8.0).max() < 1.0 and abs(poles.prod() / 8.0**4 - 1.0) < 0.02


def test_pd_gains_refuse():
    for call in (
        lambda: pd_gains(-1.0),
        lambda: pd_gains([1.0, 2.0], [1.0, 1.0, 1.0]),
        lambda: pd_gains_from_poles([-1.0 + 1.0j, -2.0 - 1.0j]),
        lambda: pd_gains_from_poles([-1.0 + 1.0j, -1.0]),
        lambda: pd_gains_from_poles([1.0, -1.0]),
        lambda: pd_gains_from_poles([-1.0, -1.0, -1.0]),
        lambda: sampled_pd_gains(100.0, 0.1, period=0.05),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        sampled_pd_gains(period=0.1)


# -- regions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [None, 0.03])
@pytest.mark.parametrize(
    "region",
    [
        PoleRegion(decay=1.0),
        PoleRegion(decay=0.5, damping=0.5),
        PoleRegion(radius=8.0, center=-2.0),
        PoleRegion(frequency=4.0),
        PoleRegion(decay=1.0, damping=0.7, radius=12.0, frequency=6.0),
    ],
)
def test_inequalities_of_a_region_are_the_region(region, period):
    """With X = 1 a number z is in the region where all L + z U + conj(z) U' < 0."""
    rng = np.random.default_rng(3)
    s = rng.uniform(-15.0, 3.0, 4000) + 1j * rng.uniform(-12.0, 12.0, 4000)
    z = s if period is None else np.exp(s * period)
    parts = region.inequalities(period)

    def inside(z):
        return all(np.linalg.eigvalsh(p.L + z * p.U + np.conj(z) * p.U.T)[-1] < 0.0 for p in parts)

    found, wanted = np.array([inside(x) for x in z]), np.array([region.contains(x) for x in s])
    assert wanted.sum() > 100
    if period is None:
        assert (found == wanted).all()
    else:  # the images of disk and sector are replaced by smaller ones
        assert not (found & ~wanted).any()
        assert found.sum() > 0.6 * wanted.sum()


def test_regions_that_make_no_sense():
    with pytest.raises(ValueError, match="empty"):
        PoleRegion(decay=5.0, radius=4.0)
    with pytest.raises(ValueError, match="below 1"):
        PoleRegion(damping=1.0)
    with pytest.raises(ValueError, match="quarter of the sampling"):
        PoleRegion(frequency=100.0).inequalities(0.02)
    assert PoleRegion(decay=1.0).margins([-3.0, -1.5]) == {"decay": 0.5}
    assert not PoleRegion(damping=0.5).contains([0.0]) and PoleRegion().contains([-np.inf + 0j])


# -- norms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [None, 0.1])
def test_norms_by_quadrature_and_by_frequency(period):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4, 4))
    A = A - (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(4)
    B, C = rng.standard_normal((4, 3)), rng.standard_normal((2, 4))
    if period is not None:
        from scipy.linalg import expm

        A = expm(A * period)
    w = np.linspace(0.0, np.pi, 4001) if period is not None else np.tan(np.linspace(0.0, 0.5 * np.pi, 6001)[:-1])
    at = np.exp(1j * w) if period is not None else 1j * w
    G = np.array([C @ np.linalg.solve(z * np.eye(4) - A, B) for z in at])
    assert hinf_norm(A, B, C, period) == pytest.approx(np.linalg.norm(G, 2, axis=(1, 2)).max(), rel=1e-4)
    energy = np.trapezoid((np.abs(G) ** 2).sum(axis=(1, 2)), w) / np.pi
    assert h2_norm(A, B, C, period) == pytest.approx(np.sqrt(energy), rel=1e-3)
    assert h2_norm(A + 5.0 * np.eye(4), B, C, period) == np.inf == hinf_norm(A + 5.0 * np.eye(4), B, C, period)


# -- families --------------------------------------------------------------------------------------------------


def test_payload_is_a_welded_body(plant):
    """The twin: a body of its own, fixed by a joint."""
    inertia = np.diag([0.1, 0.2, 0.25])
    loaded = with_payload(plant, "left_upper", 3.0, (1.2, 0.3, 0.0), inertia)
    box = cmb.Body("box", 3.0, (0.2, 0.1, 0.0), inertia)
    weld = cmb.Fixed("weld", "left_upper", "box", frame=cmb.Frame((1.0, 0.2, 0.0)))
    twin = cmb.Mechanism(
        "twin",
        [*plant.bodies, box],
        [*plant.joints, weld],
        plant.loops,
        actuators=plant.actuators,
        gravity=plant.gravity,
    )
    q, v = plant.assemble(left=2.1, right=1.0), np.array([0.3, -0.2, 0.4, 0.1])
    for name in ("M", "h"):
        assert np.allclose(getattr(loaded.terms(q, v), name), getattr(twin.terms(q, v), name), atol=1e-12)
    assert np.array_equal(with_payload(plant, "left_upper", 0.0).terms(q, v).M, plant.terms(q, v).M)
    with pytest.raises(ValueError, match="did you mean 'left_upper'"):
        with_payload(plant, "left_uper", 1.0)


def test_models_by_label(models, machines):
    assert len(models) == 27 and models["4 kg, (2.7, 0.4)"].point.plant is machines["4 kg"]
    single = poses_and_payloads(machines["2 kg"], POSES["(1.9, 0.4)"], coordinates=NAMES)
    (label,) = single
    assert label == "five-bar with 2 kg, pose 1"
    assert np.allclose(single[label].A, models["2 kg, (1.9, 0.4)"].A)
    by_q = poses_and_payloads(machines["2 kg"], machines["2 kg"].assemble(**POSES["(1.9, 0.4)"]), coordinates=NAMES)
    assert np.allclose(by_q[label].A, single[label].A)


# -- one gain for all ------------------------------------------------------------------------------------------


def test_one_gain_puts_27_pole_sets_into_the_region(robust, models):
    assert robust.certificate.valid and len(robust.certificate.cases) == 27
    for label, case in zip(models, robust.certificate.cases, strict=True):
        lin = models[label]
        poles = np.linalg.eigvals(lin.A - lin.B @ robust.K)
        assert case.label == label and np.allclose(np.sort_complex(poles.astype(complex)), case.poles)
        assert poles.real.max() <= -3.0 and np.abs(poles).max() <= 40.0
        assert (-poles.real / np.abs(poles)).min() >= 0.6


def test_common_lyapunov_matrix_proves_the_decay(robust, models):
    P, a = robust.lyapunov, robust.common_decay
    assert np.linalg.eigvalsh(P)[0] > 0.0 and a >= 3.5
    for lin in models.values():
        A = lin.A - lin.B @ robust.K
        S = A.T @ P + P @ A + 2.0 * a * P
        assert np.linalg.eigvalsh(S)[-1] < 1e-6 * np.abs(S).max()


@pytest.mark.nojit_slow
def test_certified_on_the_nonlinear_plants_where_they_rest(robust, machines):
    law = law_of(robust, machines)
    found = certify(machines, law, POSES, REGION)
    assert len(found.cases) == 27 and found.valid, str(found)
    sag = [
        np.abs(case.point.q[[0, 2]] - list(pose.values())).max()
        for case, pose in zip(found.cases, 3 * [*POSES.values()], strict=True)
    ]
    assert max(sag) > 0.01  # payloads that the law does not know: the machines rest aside of the pose
    assert min(sag) < 1e-9  # and those that it knows, at it


def test_nominal_lqr_fails_for_some(models):
    """Inside of the region for its own model, the unloaded machine in the middle pose, it leaves it elsewhere."""
    nominal = models["0 kg, (2.3, 0.8)"]
    law = lqr(nominal, Q={"left": 100.0, "right": 100.0}, R=0.01)
    assert REGION.contains(law.continuous_poles())
    assert sum(not REGION.contains(law.continuous_poles(lin)) for lin in models.values()) > 10
    cheap = lqr(nominal, Q={"left": 0.1, "right": 0.1}, R=0.01)
    assert (cheap.continuous_poles().real < 0.0).all()
    assert (
        sum(cheap.continuous_poles(lin).real.max() > 0.0 for lin in models.values()) > 3
    )  # it lets loaded machines fall


def starts(law, machines, count, seed=0):
    """Random machines, poses and starts: 0.3 rad and 1 rad/s about the pose in the driven joints."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        plant = machines[rng.choice(list(machines))]
        pose = POSES[rng.choice(list(POSES))]
        wanted = np.array(list(pose.values()))
        there = plant.assemble(**pose)
        off = wanted + rng.uniform(-0.3, 0.3, 2)
        q0 = plant.assemble(there, **dict(zip(NAMES, off, strict=True)))
        rows = np.vstack([np.eye(4)[[0, 2]], plant.jacobian(q0)])
        v0 = np.linalg.solve(rows, np.append(rng.uniform(-1.0, 1.0, 2), np.zeros(2)))
        held = copy.copy(law)
        held = held.with_reference(Constant(wanted))
        yield plant, held, there, q0, v0


def converges(plant, law, there, q0, v0):
    """At rest after 3 s, where the linearized loop rests."""
    run = cmb.simulate(plant, law, q0, v0, t_end=3.0, rtol=1e-6, atol=1e-6, output_times=0.5)
    rest = cmb.closed_loop_equilibrium(plant, law, there).point.q
    return np.abs(run.q.values[-1] - rest).max() < 2e-4 and np.abs(run.v.values[-1]).max() < 1e-3


@pytest.mark.nojit_slow
def test_nonlinear_loop_converges_from_random_starts(robust, machines):
    law = law_of(robust, machines)
    assert all(converges(*start) for start in starts(law, machines, 10))


@pytest.mark.slow
def test_nonlinear_loop_converges_from_a_hundred_random_starts(robust, machines):
    law = law_of(robust, machines)
    assert all(converges(*start) for start in starts(law, machines, 100, seed=1))


@pytest.mark.parametrize("period", [None, 0.02])
def test_norm_bounds_hold_for_every_model(models, period):
    some = {label: models[label] for label in list(models)[::9]}
    goal = Performance(states={"left": 20.0, "right": 20.0}, inputs=0.01)
    for name in ("h2", "hinf"):
        small = robust_state_feedback(some, REGION, performance=goal, period=period, **{name: "min"})
        best = getattr(small, name)
        assert all(getattr(case, name) <= best * (1.0 + 1e-5) for case in small.certificate.cases)
        bound = 1.5 * best
        held = robust_state_feedback(some, REGION, performance=goal, period=period, **{name: bound})
        assert all(getattr(case, name) <= bound for case in held.certificate.cases)
        assert held.certificate.valid
        with pytest.raises(cmb.errors.DesignError, match=name) as caught:
            robust_state_feedback(some, REGION, performance=goal, period=period, explain=False, **{name: 0.3 * best})
        assert "Loosen" in str(caught.value)


def test_h2_design_of_one_model_is_lqr(models):
    """Disturbances at the motors: the smallest H2 norm is that of LQR, whose gain does not depend on them."""
    lin = models["0 kg, (2.3, 0.8)"]
    goal = Performance(states={"left": 20.0, "right": 20.0, "left_rate": 1.0, "right_rate": 1.0}, inputs=0.1)
    found = robust_state_feedback([lin], performance=goal, h2="min")
    law = lqr(lin, [400.0, 400.0, 1.0, 1.0], 0.01)
    C = np.vstack([np.diag([20.0, 20.0, 1.0, 1.0]), -0.1 * law.K])
    best = h2_norm(law.closed_loop(), lin.B, C)
    assert found.certificate.cases[0].h2 == pytest.approx(best, rel=1e-3)
    assert found.h2 == pytest.approx(best, rel=1e-3)
    same = robust_state_feedback([lin], performance=replace(goal, disturbance=lin.B), h2="min")
    assert same.h2 == pytest.approx(found.h2, rel=1e-6)
    sampled = robust_state_feedback([lin], performance=goal, h2="min", period=0.05)
    held = lqr(lin, [400.0, 400.0, 1.0, 1.0], 0.01, period=0.05, cost="sum")
    B = lin.sampled(0.05).B
    C = np.vstack([np.diag([20.0, 20.0, 1.0, 1.0]), -0.1 * held.K])
    assert sampled.certificate.cases[0].h2 == pytest.approx(h2_norm(held.closed_loop(), B, C, 0.05), rel=1e-3)


def test_sampled_design_with_integral_action(models, machines):
    some = {label: models[label] for label in list(models)[::4]}
    region = PoleRegion(decay=1.0, damping=0.4, radius=60.0)
    found = robust_state_feedback(some, region, integral=NAMES, period=0.01)
    assert found.certificate.valid and found.K.shape == (2, 6) and found.common_decay >= 1.0
    law = found.law(models["2 kg, (2.3, 0.8)"])
    assert law.period == 0.01
    on_plants = certify({"4 kg": machines["4 kg"]}, law, {"middle": POSES["(2.3, 0.8)"]}, region)
    assert on_plants.valid
    assert np.allclose(on_plants.cases[0].point.q[[0, 2]], [2.3, 0.8], atol=1e-8)  # integrals remove the sag


def test_design_does_not_depend_on_units(models):
    """Milliradians and kilonewtons: the same gain in other words."""
    some = {label: models[label] for label in list(models)[::9]}
    T, U = 1e3, 1e-3
    other = {k: replace(m, B=m.B * T / U) for k, m in some.items()}
    first, second = (robust_state_feedback(x, REGION) for x in (some, other))
    assert np.allclose(first.K, second.K * T / U, rtol=1e-4, atol=1e-4 * np.abs(first.K).max())


def test_the_other_solver(models):
    some = {label: models[label] for label in list(models)[::13]}
    found = robust_state_feedback(some, PoleRegion(decay=2.0, damping=0.5), solver="SCS")
    assert found.certificate.valid and found.solver == "SCS"
    assert found.gain_bound == pytest.approx(robust_state_feedback(some, PoleRegion(2.0, 0.5)).gain_bound, rel=1e-2)


def test_what_cannot_be_is_explained(models):
    some = {label: models[label] for label in list(models)[::13]}
    with pytest.raises(cmb.errors.DesignError) as caught:
        robust_state_feedback(some, PoleRegion(decay=3.0, radius=6.0))
    found = caught.value.feasible
    assert "gain exists for decay at most" in str(caught.value) and "radius at least" in str(caught.value)
    assert 0.0 < found["decay"] < 3.0 and found["radius"] > 6.0
    assert robust_state_feedback(some, PoleRegion(decay=found["decay"], radius=6.0)).certificate.valid
    assert robust_state_feedback(some, PoleRegion(decay=3.0, radius=found["radius"])).certificate.valid


def test_models_that_no_gain_can_stabilise_together(models):
    lin = models["0 kg, (2.3, 0.8)"]
    with pytest.raises(cmb.errors.DesignError, match="Not even stability"):
        robust_state_feedback([lin, replace(lin, B=-lin.B)])


def test_design_refuses(models, plant):
    lin = models["0 kg, (2.3, 0.8)"]
    with pytest.raises(ValueError, match="different states"):
        robust_state_feedback(
            [lin, cmb.linearize(plant, cmb.trim(plant, lin.point.q), coordinates=("left", "elbow_left"))]
        )
    with pytest.raises(TypeError, match="performance"):
        robust_state_feedback([lin], h2=1.0)
    with pytest.raises(TypeError, match="PoleRegion"):
        robust_state_feedback([lin], 3.0)
    with pytest.raises(ValueError, match="at least one linear model"):
        robust_state_feedback([])
    with pytest.raises(TypeError, match="minimise h2 or hinf"):
        robust_state_feedback([lin], h2="min", hinf="min", performance=Performance({"left": 1.0}))
    with pytest.raises(ValueError, match="solver"):
        robust_state_feedback([lin], solver="clarabell")
    with pytest.raises(TypeError, match="no coordinates"):
        certify(plant, 0.0, {"left": 2.1, "right": 1.0}, REGION)


def test_a_machine_that_comes_to_no_rest_is_outside(plant):
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=NAMES)
    weak = lqr(lin, 1e-6, 1e6)
    found = certify(with_payload(plant, "left_upper", 500.0, TIP), weak, {"left": 2.1, "right": 1.0}, PoleRegion())
    assert not found.valid and found.outside == (found.cases[0].label,) and str(found)


# -- by simulation ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pendulum():
    return plants.pendulum()


def step(pendulum, damping_ratio):
    """A step of 0.5 rad with 6 rad/s."""
    kp, kd = sampled_pd_gains(6.0, damping_ratio, period=0.01)
    law = ProjectedInverseDynamics(pendulum, ("angle",), Constant([0.5]), kp=kp, kd=kd, period=0.01)
    q0 = pendulum.assemble(angle=0.0)
    options = {"t_end": 2.5, "output_times": 0.02, "rtol": 1e-6, "atol": 1e-6}
    return {"plant": pendulum, "controller": law, "q0": q0, **options}


@pytest.mark.nojit_slow
def test_best_damping_ratio_for_the_squared_error_is_one_half(pendulum):
    """Closed form: the integral of e^2 of a step is (1 + 4 z^2) / (4 z w), smallest at z = 1/2."""
    found = tune(
        lambda damping_ratio: step(pendulum, damping_ratio),
        {"damping_ratio": Range(0.3, 1.0, log=True)},
        error_cost("ISE"),
        tolerance=5e-3,
        max_evaluations=40,
    )
    assert found.complete and found.gains["damping_ratio"] == pytest.approx(0.5, abs=0.02)
    assert found.cost == pytest.approx(0.25 * 2.0 / (4.0 * 0.5 * 6.0), rel=0.02)
    assert found.run is not None and found.failures == 0
    assert (np.diff(found.data["best"]) <= 0.0).all() and found.data["best"][-1] == found.cost


@pytest.mark.nojit_slow
def test_costs_have_their_closed_forms(pendulum):
    run = cmb.simulate(**settings(**step(pendulum, 0.3)))
    w, z = 6.0, 0.3
    assert error_cost("ISE")(run) == pytest.approx(0.25 * (1.0 + 4.0 * z**2) / (4.0 * z * w), rel=0.03)
    assert overshoot_cost()(run) == pytest.approx(0.5 * np.exp(-np.pi * z / np.sqrt(1 - z**2)), rel=0.05)
    assert error_cost("IAE", after=10.0)(run) == 0.0
    both = weighted_cost(error=(2.0, error_cost()), effort=(0.5, effort_cost({"motor": 1.0})))
    assert both(run) == pytest.approx(2.0 * error_cost()(run) + 0.5 * effort_cost()(run))
    t = run.time
    held = np.trapezoid(run.u.values[:, 0] ** 2, t)
    assert effort_cost()(run) == pytest.approx(held)
    with pytest.raises(ValueError, match="no reference"):
        error_cost()(cmb.simulate(pendulum, q0=pendulum.assemble(angle=0.1), t_end=0.1))
    with pytest.raises(ValueError, match="did you mean 'IAE'"):
        error_cost("IAEE")


def test_costs_of_a_law_on_a_task():
    """Its names are no joints: the error is that of the law."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    task = PointTask(plant, "left_upper", (1.5, 0, 0), axes="xy")
    law = ProjectedInverseDynamics(plant, task, Constant([0.5, 1.9]), bandwidth=8.0, period=0.01)
    run = cmb.simulate(plant, law, q0, t_end=0.2, output_times=0.01)
    assert error_cost("IAE")(run) == pytest.approx(np.trapezoid(np.abs(run.error.values), run.time, axis=0).sum())
    assert overshoot_cost()(run) == 0.0
    first, second = task.names
    assert error_cost(weight={first: 1.0})(run) + error_cost(weight={second: 1.0})(run) == error_cost()(run)
    with pytest.raises(ValueError, match=r"no error of .*which are no joint positions"):
        error_cost()(cmb.Simulation(run.data.drop_vars("error")))


def fake(x, y=0.0):
    """A run that is there at once; the cost is in the test."""
    fake.at = (x, y)
    return fake.run


@pytest.fixture
def quick(pendulum):
    fake.run = cmb.simulate(pendulum, q0=pendulum.assemble(angle=0.1), t_end=0.01, output_times=0.01)
    return fake


def bowl(run):
    x, y = fake.at
    return (x - 3.0) ** 2 + 10.0 * (y - 0.2) ** 2 + 1.0


BOUNDS = {"x": Range(1.0, 10.0, log=True, unit="1/s"), "y": (-1.0, 1.0)}


@pytest.mark.parametrize(
    "method", ["nelder-mead", "powell", "cobyqa", "differential-evolution", "dual-annealing", "direct"]
)
def test_every_method_finds_the_minimum_and_repeats_itself(quick, method):
    options = {"method": method, "max_evaluations": 600, "tolerance": 1e-4, "seed": 3}
    first, second = (tune(quick, BOUNDS, bowl, **options) for _ in range(2))
    assert first.gains["x"] == pytest.approx(3.0, abs=0.05) and first.gains["y"] == pytest.approx(0.2, abs=0.05)
    assert first.data.equals(second.data)
    inside = first.data["gains"]
    assert (inside >= first.data["low"]).all() and (inside <= first.data["high"]).all()


def test_seed_decides_random_searches(quick):
    runs = [tune(quick, BOUNDS, bowl, method="differential-evolution", max_evaluations=40, seed=s) for s in (1, 2)]
    assert not runs[0].data.equals(runs[1].data) and runs[0].evaluations == 40
    assert "largest number of 40 runs" in runs[0].message


def test_failed_runs_are_counted_and_do_not_end_the_search(quick, pendulum):
    def make(x, y):
        if x > 4.0:
            raise cmb.errors.SimulationError("it fell over")
        return fake(x, y)

    def cost(run):
        return np.inf if fake.at[1] > 0.9 else bowl(run)

    found = tune(make, BOUNDS, cost, method="differential-evolution", max_evaluations=150, start={"x": 9.0, "y": 0.95})
    assert found.failures > 10 and "it fell over" in found.data["failure"].values
    assert found.gains["x"] == pytest.approx(3.0, abs=0.3)
    assert found.data["failed"][0] and found.data["cost"][0] == 1e6 and np.isfinite(found.data["cost"]).all()
    none = tune(lambda x, y: make(9.0, y), BOUNDS, cost, max_evaluations=5)
    assert none.run is None and none.cost == np.inf and "Every run failed" in none.message and str(none)


def test_interruption_keeps_what_was_computed(quick):
    def cost(run):
        cost.calls += 1
        if cost.calls == 7:
            raise KeyboardInterrupt
        return bowl(run)

    cost.calls = 0
    with pytest.raises(cmb.Interrupted, match="after 6 runs") as caught:
        tune(quick, BOUNDS, cost)
    found = caught.value.partial
    assert not found.complete and found.evaluations == 6 and "interrupted" in found.message
    assert np.isfinite(found.cost) and set(found.gains) == {"x", "y"}


def test_interruption_inside_a_run_is_no_failure(quick):
    def make(x, y):
        raise cmb.Interrupted("the run was interrupted")

    with pytest.raises(cmb.Interrupted) as caught:
        tune(make, BOUNDS, bowl)
    found = caught.value.partial
    assert not found.complete and found.evaluations == 0 and np.isnan(found.gains["x"]) and str(found)


def test_progress_is_told(quick, capsys):
    told = []
    tune(quick, BOUNDS, bowl, max_evaluations=10, progress=told.append)
    assert told == [pytest.approx((i + 1) / 10) for i in range(10)]
    tune(quick, BOUNDS, bowl, max_evaluations=3, progress=True)


def test_tune_refuses(quick):
    with pytest.raises(ValueError, match="low bound must be below"):
        tune(quick, {"x": (2.0, 1.0)}, bowl)
    with pytest.raises(ValueError, match="logarithmic"):
        Range(0.0, 1.0, log=True)
    with pytest.raises(ValueError, match="not within its bounds"):
        tune(quick, BOUNDS, bowl, start={"x": 20.0})
    with pytest.raises(ValueError, match="did you mean 'nelder-mead'"):
        tune(quick, BOUNDS, bowl, method="neldermead")
    with pytest.raises(TypeError, match="make must return a run"):
        tune(lambda x, y: 3.0, BOUNDS, bowl)
    with pytest.raises(TypeError, match="Range or"):
        tune(quick, {"x": 3.0}, bowl)
    with pytest.raises(ZeroDivisionError):
        tune(quick, BOUNDS, lambda run: 1 / 0)
    with pytest.raises(ValueError, match="whole number"):
        tune(quick, BOUNDS, bowl, max_evaluations=0)

"""State feedback, LQR, observers: closed forms, python-control, and the nonlinear plant."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, OperatingPoint, affine_approximation, linearize_closed_loop, plants
from cmbcontrol.controllers import (
    Delay,
    Encoder,
    MotionObserver,
    ObserverFeedback,
    ProjectedInverseDynamics,
    Saturation,
    StateFeedback,
    WithModel,
)
from cmbcontrol.design import bryson, kalman, lqr, with_payload
from cmbcontrol.errors import ActuationError
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.stewart import pose

NAMES = ("left", "right")
WEIGHTS = {"Q": {"left": 400.0, "right": 400.0}, "R": 0.01}


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def lin(plant):
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    return cmb.linearize(plant, point, coordinates=NAMES)


def sorted_equal(a, b, tolerance):
    return np.abs(np.sort_complex(a) - np.sort_complex(b)).max() < tolerance


# -- the gain and the law ----------------------------------------------------------------------------------


def test_pendulum_has_the_closed_form_of_a_double_integrator_with_stiffness():
    # x'' = -s x + b u, cost q x^2 + r u^2: the poles satisfy p^4 - 2 s... -> k1, k2 of the scalar Riccati equations
    plant = plants.pendulum()
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(angle=1.0)), coordinates=("angle",))
    s, d, b, q, r = -lin.A[1, 0], -lin.A[1, 1], lin.B[1, 0], 50.0, 0.3
    k1 = (-s + np.sqrt(s**2 + b**2 * q / r)) / b
    k2 = (-d + np.sqrt(d**2 + 2.0 * b * k1)) / b
    law = lqr(lin, Q={"angle": q}, R=r)
    assert np.allclose(law.K, [[k1, k2]], rtol=1e-9)


@pytest.mark.parametrize("period", [None, 0.02])
@pytest.mark.parametrize("integral", [(), NAMES])
def test_the_nonlinear_loop_has_the_poles_of_the_design(plant, lin, period, integral):
    Q = WEIGHTS["Q"] | {f"{name}_integral": 900.0 for name in integral}
    law = lqr(lin, Q, 0.01, period=period, integral=integral)
    found = linearize_closed_loop(plant, law)
    assert sorted_equal(found.poles(), np.linalg.eigvals(law.closed_loop()), 1e-8)
    assert found.stable and sorted_equal(found.continuous_poles(), law.continuous_poles(), 1e-6)
    assert found.states[4:] == tuple(f"{name}_integral" for name in integral)


def test_gain_is_that_of_python_control(lin):
    import control

    K = control.lqr(lin.to_ss(), np.diag([400.0, 400.0, 1.0, 1.0]), 0.01 * np.eye(2))[0]
    assert np.allclose(lqr(lin, [400.0, 400.0, 1.0, 1.0], 0.01).K, K, rtol=1e-8)
    sampled = lin.sampled(0.02)
    K = control.dlqr(sampled.A, sampled.B, np.diag([400.0, 400.0, 1.0, 1.0]), 0.01 * np.eye(2))[0]
    assert np.allclose(lqr(lin, np.diag([400.0, 400.0, 1.0, 1.0]), 0.01, period=0.02, cost="sum").K, K, rtol=1e-8)


def test_sampled_cost_is_the_integral_between_the_samples(lin):
    """The cost of the sampled law, summed by its Riccati equation, against quadrature of the linear motion."""
    from scipy.linalg import expm, solve_discrete_lyapunov

    from cmbcontrol.design.lqr import _sampled_cost

    Q, R, N, T = np.diag([4.0, 3.0, 1.0, 2.0]), np.diag([0.1, 0.2]), np.zeros((4, 2)), 0.1
    N[0, 1] = 0.05
    law = lqr(lin, Q, R, N, period=T)
    Qd, Rd, Nd = _sampled_cost(lin, Q, R, N, T)
    A, K = law.closed_loop(), law.K
    P = solve_discrete_lyapunov(A.T, Qd + K.T @ Rd @ K - Nd @ K - K.T @ Nd.T)
    x, total = np.array([0.1, -0.2, 0.3, 0.1]), 0.0
    start = x.copy()
    nodes, weights = np.polynomial.legendre.leggauss(8)
    block = np.zeros((6, 6))
    block[:4, :4], block[:4, 4:] = lin.A, lin.B
    between = [expm(block * node)[:4] for node in 0.5 * T * (nodes + 1.0)]
    for _ in range(200):
        u = -K @ x
        for E, w in zip(between, 0.5 * T * weights, strict=True):
            y = E @ np.append(x, u)
            total += w * (y @ Q @ y + u @ R @ u + 2.0 * y @ N @ u)
        x = A @ x
    assert total == pytest.approx(start @ P @ start, rel=1e-9)


def test_gain_does_not_depend_on_units_or_on_the_choice_of_coordinates(plant, lin):
    # the other two joints as coordinates, weights transformed: the same efforts
    other = cmb.linearize(plant, lin.point, coordinates=("elbow_left", "elbow_right"))
    rows = [plant.index(name) for name in NAMES]
    T = other.K[rows]  # (left, right) of (elbow_left, elbow_right)
    T = np.block([[T, np.zeros((2, 2))], [np.zeros((2, 2)), T]])
    Q = np.diag([400.0, 300.0, 1.0, 2.0])
    first, second = lqr(lin, Q, 0.01), lqr(other, T.T @ Q @ T, 0.01)
    assert np.allclose(first.K @ T, second.K, rtol=1e-7)


def test_bryson_by_names(lin):
    Q, R = bryson(lin, {"left": 0.1, "right_rate": 2.0}, {"left": 10.0, "right_effort": 5.0}, {"left": 0.01})
    assert np.allclose(Q.diagonal(), [100.0, 0.0, 0.0, 0.25, 1e4]) and np.allclose(R.diagonal(), [0.01, 0.04])
    with pytest.raises(ValueError, match="largest effort of every input"):
        bryson(lin, {"left": 0.1}, {"left": 10.0})
    with pytest.raises(ValueError, match="did you mean 'left'"):
        bryson(lin, {"lefd": 0.1}, 10.0)


def test_at_the_reference_the_effort_holds_the_pose(plant, lin):
    law = lqr(lin, **WEIGHTS, reference=Constant([2.4, 0.8]))
    q = plant.assemble(lin.point.q, left=2.4, right=0.8)
    u = law(0.0, plant.terms(q, np.zeros(4)), law.start(plant))
    assert np.allclose(u, cmb.trim(plant, q).u, atol=1e-9)
    linear = lqr(lin, **WEIGHTS, reference=Constant([2.1 + 1e-5, 1.0]), feedforward="linear")
    exact = lqr(lin, **WEIGHTS, reference=Constant([2.1 + 1e-5, 1.0]))
    assert np.allclose(linear.desired(0.0).u, exact.desired(0.0).u, atol=1e-7)
    assert np.allclose(
        lqr(lin, **WEIGHTS, reference=Constant([2.4, 0.8]), feedforward="none").desired(0.0).u, lin.point.u
    )


@pytest.mark.nojit_slow
def test_tracks_a_sine_with_the_feedforward_of_the_model(plant, lin):
    path = cmb.Sine([2.1, 1.0], [0.3, 0.2], 0.5, [0.5 * np.pi, 0.5 * np.pi])
    off = {}
    for feedforward in ("inverse-dynamics", "linear", "none"):
        law = lqr(lin, **WEIGHTS, reference=path, feedforward=feedforward, period=0.01)
        q0 = plant.assemble(lin.point.q, left=2.4, right=1.2)
        run = cmb.simulate(plant, law, q0, t_end=2.0, rtol=1e-7, atol=1e-7)
        off[feedforward] = np.abs(run.reference.values - run.q.values[:, [0, 2]]).max()
    assert off["inverse-dynamics"] < 0.5 * off["linear"] and off["linear"] < 0.1 * off["none"]
    assert off["inverse-dynamics"] < 0.003


@pytest.mark.nojit_slow
def test_reference_of_a_platform_with_several_axes_counts_from_the_point():
    plant = plants.stewart()
    point = cmb.trim(plant, pose(plant))
    lin = cmb.linearize(plant, point)
    law = lqr(lin, 100.0, 1e-4)
    assert sorted_equal(linearize_closed_loop(plant, law, point).poles(), law.continuous_poles(), 1e-6)
    moved = lqr(lin, 100.0, 1e-4, reference=Constant(np.full(6, 0.02)))
    desired = moved.desired(0.0)
    q = plant.integrate(point.q, desired.delta)
    assert plant.closure_error(q) < 1e-10 and np.allclose(
        desired.u, cmb.trim(plant, q).u, atol=1e-6 * np.abs(desired.u).max()
    )


@pytest.mark.nojit_slow
def test_integral_action_removes_the_error_of_a_payload(plant, lin):
    loaded = with_payload(plant, "left_upper", 2.0, (1.5, 0.0, 0.0))
    Q = WEIGHTS["Q"] | {"left_integral": 4000.0, "right_integral": 4000.0}
    off = {}
    for integral in ((), NAMES):
        law = lqr(lin, Q if integral else WEIGHTS["Q"], 0.01, integral=integral, period=0.01)
        run = cmb.simulate(loaded, law, lin.point.q, t_end=6.0, rtol=1e-7, atol=1e-7, output_times=0.1)
        off[integral] = np.abs(run.q.values[-1, [0, 2]] - [2.1, 1.0]).max()
    assert off[()] > 0.02 and off[NAMES] < 2e-4


@pytest.mark.nojit_slow
def test_integral_waits_while_the_effort_is_at_its_limit(plant, lin):
    Q = WEIGHTS["Q"] | {"left_integral": 4000.0, "right_integral": 4000.0}
    left = {}
    for limits in (None, 55.0):
        law = lqr(lin, Q, 0.01, integral=NAMES, period=0.01, limits=limits, reference=Constant([2.5, 1.0]))
        chain = law if limits is not None else law | Saturation(55.0)
        run = cmb.simulate(plant, chain, lin.point.q, t_end=3.0, rtol=1e-7, atol=1e-7)
        assert np.abs(run.u.values).max() <= 55.0
        left[limits] = abs(run.q.values[-1, 0] - 2.5)
    assert left[55.0] < 0.02 and left[None] > 0.5  # wound up, it has swung far beyond


def test_stands_in_chains_and_on_models(plant, lin):
    law = lqr(lin, **WEIGHTS, period=0.005)
    delayed = linearize_closed_loop(plant, law | Delay(0.005))
    assert delayed.stable and len(delayed.states) == 6
    model = with_payload(plant, "left_upper", 1.0, (1.5, 0.0, 0.0))
    told = linearize_closed_loop(plant, WithModel(model, law))
    assert sorted_equal(told.poles(), linearize_closed_loop(plant, law).poles(), 1e-9)  # q and v alone


def test_a_plant_given_by_functions():
    plant = plants.slider_crank()
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(q1=0.8)), coordinates=("q1",))
    law = lqr(lin, 10.0, 1.0, reference=Constant([0.9]))
    found = linearize_closed_loop(plant, law)
    assert found.stable and found.point.q[0] == pytest.approx(0.9, abs=1e-9)
    law = law.with_reference(Constant([0.8]))
    assert sorted_equal(linearize_closed_loop(plant, law).poles(), law.continuous_poles(), 1e-5)


def test_one_motor_of_two(plant):
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    lin = cmb.linearize(plant, point, coordinates=NAMES, inputs=("left",))
    law = lqr(lin, 100.0, 0.01)
    assert law.K.shape == (1, 4)
    u = law(0.0, plant.terms(plant.assemble(point.q, left=2.15, right=1.0), np.zeros(4)), law.start(plant))
    assert u[1] == point.u[1] and u[0] != point.u[0]
    assert sorted_equal(linearize_closed_loop(plant, law).poles(), law.continuous_poles(), 1e-8)


def test_what_is_refused(plant, lin):
    with pytest.raises(ValueError, match=r"K \(4 states and 0 integrals\) must have shape \(2, 4\)"):
        StateFeedback(lin, np.zeros((2, 3)))
    falling = affine_approximation(plant, OperatingPoint.at(plant, lin.point.q), coordinates=NAMES)
    with pytest.raises(ValueError, match="not at rest"):
        StateFeedback(falling, np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"shape \(2,\) each"):
        StateFeedback(lin, np.zeros((2, 4)), reference=Constant([1.0]))
    with pytest.raises(ValueError, match="did you mean 'linear'"):
        StateFeedback(lin, np.zeros((2, 4)), feedforward="liner")
    with pytest.raises(ValueError, match="limits must be 2 efforts"):
        StateFeedback(lin, np.zeros((2, 4)), limits=[1.0, -1.0])
    with pytest.raises(ValueError, match="semidefinite"):
        lqr(lin, {"left": -1.0}, 0.01)
    with pytest.raises(ValueError, match=r"'right_effort' has the weight 0"):
        lqr(lin, 1.0, {"left": 0.01})
    with pytest.raises(ValueError, match="symmetric"):
        lqr(lin, np.triu(np.ones((4, 4))), 0.01)
    with pytest.raises(ActuationError, match="has no weight"):
        lqr(lin, 0.0, 0.01, integral=NAMES)
    driven = cmb.linearize(plant, lin.point, coordinates=NAMES, inputs=("left_acceleration", "right"))
    with pytest.raises(ValueError, match="no motor"):
        StateFeedback(driven, np.zeros((2, 4)))
    with pytest.raises(ValueError, match="made for"):
        StateFeedback(lin, np.zeros((2, 4))).start(plants.pendulum())


def test_a_mode_that_no_motor_moves_is_named(plant):
    forced = cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=NAMES)
    from dataclasses import replace

    B = forced.B.copy()
    values, vectors = np.linalg.eig(forced.A.T)
    w = np.real(vectors[:, np.argmax(values.real)])  # left vector of an unstable mode
    B -= np.outer(w, w @ B) / (w @ w)
    with pytest.raises(ActuationError, match=f"do not move the mode at {values.real.max():.3g}"):
        lqr(replace(forced, B=B), 1.0, 0.01)


# -- observers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("period", "kind"), [(None, "predictor"), (0.02, "predictor"), (0.02, "current")])
@pytest.mark.parametrize("outputs", [NAMES, ("elbow_left", "right")])
def test_separation_principle(plant, lin, period, kind, outputs):
    feedback = lqr(lin, **WEIGHTS, period=period)
    L = kalman(lin, outputs, effort_noise=1.0, measurement_noise=1e-6, period=period)
    law = ObserverFeedback(feedback, L, outputs, kind=kind)
    found = linearize_closed_loop(plant, law)
    A, C = feedback.closed_loop(), law.C
    held = lin.A if period is None else lin.sampled(period).A
    poles = np.concatenate([np.linalg.eigvals(A), np.linalg.eigvals(held - L @ C)])
    assert sorted_equal(found.poles(), poles, 1e-9)
    assert np.allclose(np.sort_complex(law.observer_poles()).real.max() < 0.0, True)


def test_kalman_gain_of_the_double_integrator():
    # position measured, effort noise: L = [sqrt(2 r), r], r = sqrt(w b^2 / v), for x'' = b u + ... without stiffness
    plant = plants.pendulum()
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(angle=0.0)), coordinates=("angle",))
    s, d = -lin.A[1, 0], -lin.A[1, 1]
    assert abs(s) < 1e-9  # level: gravity has no stiffness
    r = np.sqrt(4.0 * lin.B[1, 0] ** 2 / 1e-4)
    L = kalman(lin, ("angle",), effort_noise=4.0, measurement_noise=1e-4)
    assert d == 0.0 and np.allclose(L[:, 0], [np.sqrt(2.0 * r), r], rtol=1e-8)


def test_sampled_kalman_gain_approaches_the_continuous_one(lin):
    slow = kalman(lin, NAMES, effort_noise=1.0, measurement_noise=1e-6)
    T = 1e-5  # a sample of variance V / T carries as much as noise of intensity V
    fast = kalman(lin, NAMES, effort_noise=1.0, measurement_noise=1e-6 / T, period=T)
    assert np.allclose(fast / T, slow, rtol=2e-3, atol=1e-3 * np.abs(slow).max())


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", ["predictor", "current"])
def test_estimate_converges_at_the_rate_of_the_observer(plant, lin, kind):
    import control

    T, poles = 0.01, np.array([-20.0, -22.0, -24.0, -26.0])
    feedback = lqr(lin, **WEIGHTS, period=T)
    held = lin.sampled(T)
    C = np.eye(2, 4)
    L = control.place(held.A.T, C.T, np.exp(poles * T)).T
    law = ObserverFeedback(feedback, L, NAMES, kind=kind, estimate=[1e-3, 0.0, 0.0, 0.0])
    assert sorted_equal(law.observer_poles(), poles, 1e-6)
    run = cmb.simulate(plant, law, lin.point.q, t_end=1.0, output_times=T, rtol=1e-9, atol=1e-9)
    error = np.sqrt((run.report.sel(quantity=[f"{n}_error" for n in lin.states]).values ** 2).sum(axis=1))
    late = error[30] / error[20]  # over 0.1 s
    assert error[0] >= 1e-5 and late == pytest.approx(np.exp(-20.0 * 0.1), rel=0.35)
    assert error[-1] < 1e-8


def test_observer_with_integrals_and_moving_reference(plant, lin):
    Q = WEIGHTS["Q"] | {"left_integral": 900.0, "right_integral": 900.0}
    feedback = lqr(lin, Q, 0.01, integral=NAMES, period=0.02)
    L = kalman(lin, NAMES, effort_noise=1.0, measurement_noise=1e-6, period=0.02)
    law = ObserverFeedback(feedback, L, NAMES)
    poles = np.concatenate([np.linalg.eigvals(feedback.closed_loop()), np.linalg.eigvals(law._A - L @ law.C)])
    assert sorted_equal(linearize_closed_loop(plant, law).poles(), poles, 1e-8)
    moved = ObserverFeedback(feedback, L, NAMES)
    moved = moved.with_reference(Constant([2.3, 0.9]))
    assert feedback.reference(0.0)[0][0] == pytest.approx(2.1)  # the feedback itself is left alone
    rest = cmb.closed_loop_equilibrium(plant, moved)
    assert np.allclose(rest.point.q[[0, 2]], [2.3, 0.9], atol=1e-9)
    with pytest.raises(ValueError, match="integrated but not measured"):
        ObserverFeedback(feedback, L, ("left", "elbow_right"))


def test_observer_refuses(lin, plant):
    feedback = lqr(lin, **WEIGHTS)
    with pytest.raises(TypeError, match="StateFeedback"):
        ObserverFeedback(lin, np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"L \(states x measured left, right\) must have shape"):
        ObserverFeedback(feedback, np.zeros((4, 1)), NAMES)
    with pytest.raises(ValueError, match="did you mean 'left'"):
        ObserverFeedback(feedback, np.zeros((4, 1)), ("lefd",))
    with pytest.raises(TypeError, match="without noise"):
        kalman(lin, NAMES, measurement_noise=1.0)
    with pytest.raises(ValueError, match="definite"):
        kalman(lin, NAMES, effort_noise=1.0, measurement_noise=0.0)


# -- the nonlinear observer -------------------------------------------------------------------------------------


@pytest.mark.parametrize("disturbance", [True, False])
def test_gains_of_the_motion_observer_place_equal_poles(plant, disturbance):
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=0.01)
    found = MotionObserver(law, NAMES, bandwidth=50.0, disturbance=disturbance)
    z, n = np.exp(-0.5), 3 if disturbance else 2
    F = np.array([[1.0, 1.0, 0.5], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])[:n, :n]
    G, H = np.array(found.gains)[:n, None], np.eye(1, n)
    assert np.allclose(np.poly(F @ (np.eye(n) - G @ H)), np.poly([z] * n), atol=1e-12)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("load", [0.0, 1.0])
def test_motion_observer_finds_the_velocity(plant, load):
    """From a wrong first velocity, and with a payload that it does not know."""
    machine = with_payload(plant, "left_upper", load, (1.5, 0.0, 0.0)) if load else plant
    path = cmb.Sine([2.1, 1.0], [0.3, 0.3], 0.5)
    law = ProjectedInverseDynamics(plant, NAMES, path, bandwidth=8.0, period=5e-3)
    observed = MotionObserver(law, NAMES, bandwidth=60.0)
    q0 = plant.assemble(left=2.1, right=1.0)
    v0 = np.linalg.solve(np.vstack([np.eye(4)[[0, 2]], plant.jacobian(q0)]), np.append(path(0.0)[1], np.zeros(2)))
    options = {"t_end": 0.8, "output_times": 5e-3, "rtol": 1e-8, "atol": 1e-8}
    run = cmb.simulate(machine, observed, q0, v0, **settings(**options))
    off = np.abs(run.report.sel(quantity=[f"{n}_rate_error" for n in plant.velocity_names]).values).max(axis=1)
    assert off[0] > 0.5  # the first estimate is at rest
    assert off[run.time > 0.3].max() < (0.15 if load else 2e-3)
    if not load:
        direct = cmb.simulate(machine, law, q0, v0, **settings(**options))
        assert np.abs(run.q.values - direct.q.values)[-1].max() < 5e-3


@pytest.mark.nojit_slow
def test_motion_observer_without_disturbance_keeps_an_error_under_a_load(plant):
    machine = with_payload(plant, "left_upper", 1.0, (1.5, 0.0, 0.0))
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    left = {}
    for disturbance in (True, False):
        observed = MotionObserver(law, NAMES, bandwidth=60.0, disturbance=disturbance)
        run = cmb.simulate(machine, observed, plant.assemble(left=2.1, right=1.0), t_end=2.0, rtol=1e-7, atol=1e-7)
        left[disturbance] = abs(float(run.report.sel(quantity="left_rate_error")[-1]))
    assert left[True] < 1e-3 < left[False]


@pytest.mark.nojit_slow
def test_motion_observer_loop_is_stable_and_stands_in_chains(plant):
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    chain = Encoder(bits=14) | MotionObserver(law, ("left", "elbow_right"), 60.0, limits=80.0) | Delay(1e-3)
    run = cmb.simulate(plant, chain, plant.assemble(left=2.15, right=0.95), t_end=0.6, rtol=1e-6, atol=1e-6)
    assert np.abs(run.q.values[-1, [0, 2]] - [2.1, 1.0]).max() < 0.02
    with pytest.raises(ValueError, match="give ProjectedInverseDynamics a period"):
        MotionObserver(ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0), NAMES, 60.0)
    with pytest.raises(ValueError, match="joint to measure"):
        MotionObserver(law, ("tip",), 60.0)
    with pytest.raises(ActuationError, match="do not determine"):
        few = MotionObserver(law, ("left",), 60.0)
        cmb.simulate(plant, few, plant.assemble(left=2.1, right=1.0), t_end=0.02)


@pytest.mark.nojit_slow
def test_linearized_motion_observer_forgets_at_its_bandwidth(plant):
    law = ProjectedInverseDynamics(plant, NAMES, Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    found = linearize_closed_loop(plant, MotionObserver(law, NAMES, 40.0, disturbance=False))
    values = np.abs(found.poles())
    assert found.stable
    near = values[(values > 0.7) & (values < 0.9)]
    assert near.size == 4 and abs(near.prod() ** 0.25 - np.exp(-0.2)) < 5e-3  # 2 equal poles of each degree of freedom

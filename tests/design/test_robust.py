"""One state feedback for many linear models, by matrix inequalities."""

import contextlib
import copy
from dataclasses import replace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant
from cmbcontrol.design import Performance, PoleRegion, certify, lqr, robust_state_feedback
from cmbcontrol.linear.norms import h2_norm
from tests.fixtures import ARMS, PAYLOAD_POSES, ROBUST_REGION, robust_law


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


def starts(law, machines, count, seed=0):
    """Random machines, configurations and starts: 0.3 rad and 1 rad/s about the configuration in the driven joints."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        plant = machines[rng.choice(list(machines))]
        pose = PAYLOAD_POSES[rng.choice(list(PAYLOAD_POSES))]
        wanted = np.array(list(pose.values()))
        there = plant.assemble(**pose)
        off = wanted + rng.uniform(-0.3, 0.3, 2)
        q0 = plant.assemble(guess=there, **dict(zip(ARMS, off, strict=True)))
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
    law = robust_law(robust, machines)
    assert all(converges(*start) for start in starts(law, machines, 10))


@pytest.mark.slow
def test_nonlinear_loop_converges_from_more_random_starts(robust, machines):
    law = robust_law(robust, machines)
    assert all(converges(*start) for start in starts(law, machines, 30, seed=1))


@pytest.mark.parametrize("period", [None, 0.02])
def test_norm_bounds_hold_for_every_model(models, period):
    some = {label: models[label] for label in list(models)[::9]}
    goal = Performance(states={"left": 20.0, "right": 20.0}, inputs=0.01)
    for name in ("h2", "hinf"):
        small = robust_state_feedback(some, ROBUST_REGION, performance=goal, period=period, **{name: "min"})
        best = getattr(small, name)
        assert all(getattr(case, name) <= best * (1.0 + 1e-5) for case in small.certificate.cases)
        bound = 1.5 * best
        held = robust_state_feedback(some, ROBUST_REGION, performance=goal, period=period, **{name: bound})
        assert all(getattr(case, name) <= bound for case in held.certificate.cases)
        assert held.certificate.valid
        with pytest.raises(cmb.errors.DesignError, match=name) as caught:
            robust_state_feedback(
                some, ROBUST_REGION, performance=goal, period=period, explain=False, **{name: 0.3 * best}
            )
        assert "Loosen" in str(caught.value)


def test_a_norm_made_small_with_efforts_that_cost_nothing(models):
    """Gains grow without bound; a radius bounds them."""
    some = [models["0 kg, (2.3, 0.8)"]]
    goal = Performance(states={"left": 20.0, "right": 20.0})
    with pytest.warns(cmb.errors.DesignWarning, match="gains grow without bound"), contextlib.suppress(cmb.CmbError):
        robust_state_feedback(some, performance=goal, h2="min")
    assert robust_state_feedback(some, PoleRegion(radius=30.0), performance=goal, h2="min").certificate.valid


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
    found = robust_state_feedback(some, region, integral=ARMS, period=0.01)
    assert found.certificate.valid and found.K.shape == (2, 6) and found.common_decay >= 1.0
    law = found.law(models["2 kg, (2.3, 0.8)"])
    assert law.period == 0.01
    on_plants = certify({"4 kg": machines["4 kg"]}, law, {"middle": PAYLOAD_POSES["(2.3, 0.8)"]}, region)
    assert on_plants.valid
    assert np.allclose(on_plants.cases[0].point.q[[0, 2]], [2.3, 0.8], atol=1e-8)  # integrals remove the sag


def test_design_does_not_depend_on_units(models):
    """Milliradians and kilonewtons: the same gain in other words."""
    some = {label: models[label] for label in list(models)[::9]}
    T, U = 1e3, 1e-3
    other = {k: replace(m, B=m.B * T / U) for k, m in some.items()}
    first, second = (robust_state_feedback(x, ROBUST_REGION) for x in (some, other))
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
    with pytest.raises(TypeError, match="controller with coordinates"):
        certify(plant, 0.0, {"left": 2.1, "right": 1.0}, ROBUST_REGION)

"""State feedback and LQR: closed forms, python-control, and the nonlinear plant."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, OperatingPoint, affine_approximation, linearize_closed_loop, plants
from cmbcontrol.controllers import Delay, EffortBlock, Saturation, StateFeedback, WithModel
from cmbcontrol.design import lqr, with_payload
from cmbcontrol.errors import ActuationError
from cmbcontrol.plants.stewart import configuration
from tests.fixtures import matched

NAMES = ("left", "right")
WEIGHTS = {"Q": {"left": 400.0, "right": 400.0}, "R": 0.01}


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
    assert matched(found.poles(), np.linalg.eigvals(law.closed_loop())) < 1e-8
    assert found.stable and matched(found.continuous_poles(), law.continuous_poles()) < 1e-6
    assert found.states[4:] == tuple(f"{name}_integral" for name in integral)


def test_at_the_reference_the_effort_holds_the_pose(plant, lin):
    law = lqr(lin, **WEIGHTS, reference=Constant([2.4, 0.8]))
    q = plant.assemble(guess=lin.point.q, left=2.4, right=0.8)
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
        q0 = plant.assemble(guess=lin.point.q, left=2.4, right=1.2)
        run = cmb.simulate(plant, law, q0, t_end=2.0, rtol=1e-7, atol=1e-7)
        off[feedforward] = np.abs(run.reference.values - run.q.values[:, [0, 2]]).max()
    assert off["inverse-dynamics"] < 0.5 * off["linear"] and off["linear"] < 0.1 * off["none"]
    assert off["inverse-dynamics"] < 0.003


@pytest.mark.nojit_slow
def test_reference_of_a_platform_with_several_axes_counts_from_the_point():
    plant = plants.stewart()
    point = cmb.trim(plant, configuration(plant))
    lin = cmb.linearize(plant, point)
    law = lqr(lin, 100.0, 1e-4)
    assert matched(linearize_closed_loop(plant, law, point).poles(), law.continuous_poles()) < 1e-6
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
    """Also where a block behind it has the limit; one that does not tell lets it wind up, and it swings far beyond."""

    class Silent(EffortBlock):
        def effort(self, t, terms, u, state):
            return np.clip(u, -55.0, 55.0)

    Q = WEIGHTS["Q"] | {"left_integral": 4000.0, "right_integral": 4000.0}
    left = []
    for limits, block in ((55.0, None), (None, Saturation(55.0)), (None, Silent())):
        law = lqr(lin, Q, 0.01, integral=NAMES, period=0.01, limits=limits, reference=Constant([2.5, 1.0]))
        chain = law if block is None else law | block
        run = cmb.simulate(plant, chain, lin.point.q, t_end=3.0, rtol=1e-7, atol=1e-7)
        assert np.abs(run.u.values).max() <= 55.0
        left.append(abs(run.q.values[-1, 0] - 2.5))
    assert left[0] < 0.02 and left[2] > 0.5
    assert left[1] == pytest.approx(left[0], abs=1e-9)


def test_stands_in_chains_and_on_models(plant, lin):
    law = lqr(lin, **WEIGHTS, period=0.005)
    delayed = linearize_closed_loop(plant, law | Delay(0.005))
    assert delayed.stable and len(delayed.states) == 6
    model = with_payload(plant, "left_upper", 1.0, (1.5, 0.0, 0.0))
    told = linearize_closed_loop(plant, WithModel(model, law))
    assert matched(told.poles(), linearize_closed_loop(plant, law).poles()) < 1e-9  # q and v alone


def test_a_plant_given_by_functions():
    plant = plants.slider_crank()
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(q1=0.8)), coordinates=("q1",))
    law = lqr(lin, 10.0, 1.0, reference=Constant([0.9]))
    found = linearize_closed_loop(plant, law)
    assert found.stable and found.point.q[0] == pytest.approx(0.9, abs=1e-9)
    law = law.with_reference(Constant([0.8]))
    assert matched(linearize_closed_loop(plant, law).poles(), law.continuous_poles()) < 1e-5


def test_one_motor_of_two(plant):
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    lin = cmb.linearize(plant, point, coordinates=NAMES, inputs=("left",))
    law = lqr(lin, 100.0, 0.01)
    assert law.K.shape == (1, 4)
    u = law(0.0, plant.terms(plant.assemble(guess=point.q, left=2.15, right=1.0), np.zeros(4)), law.start(plant))
    assert u[1] == point.u[1] and u[0] != point.u[0]
    assert matched(linearize_closed_loop(plant, law).poles(), law.continuous_poles()) < 1e-8


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


def test_a_run_has_the_error_of_its_reference():
    plant = plants.five_bar()
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    lin = cmb.linearize(plant, point, coordinates=("left", "right"))
    law = lqr(lin, Q={"left": 400.0, "right": 400.0}, R=0.01).with_reference(Constant([2.15, 1.0]))
    run = cmb.simulate(plant, law, point.q, t_end=0.2)
    expected = run.reference.values - run.q.sel(position=["left", "right"]).values
    np.testing.assert_allclose(run.error.values, expected, atol=1e-12)
    assert run.error.controlled.values.tolist() == ["left", "right"]
    assert repr(law) == "<StateFeedback of 'five-bar' by left, right>"

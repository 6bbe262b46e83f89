"""Linear observers and Kalman gains: separation, closed forms, the rate of the estimate."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, linearize_closed_loop
from cmbcontrol.controllers import ObserverFeedback
from cmbcontrol.design import kalman, lqr
from tests.fixtures import matched

NAMES = ("left", "right")
WEIGHTS = {"Q": {"left": 400.0, "right": 400.0}, "R": 0.01}


@pytest.mark.parametrize(("period", "kind"), [(None, "predictor"), (0.02, "predictor"), (0.02, "current")])
@pytest.mark.parametrize("outputs", [NAMES, ("elbow_left", "right")])
def test_separation_principle(plant, lin, period, kind, outputs):
    feedback = lqr(lin, **WEIGHTS, period=period)
    L = kalman(lin, outputs, effort_noise=1.0, measurement_noise=1e-6, period=period)
    law = ObserverFeedback(feedback, L, outputs, kind=kind)
    found = linearize_closed_loop(plant, law)
    A, C = feedback.closed_loop(), law.C
    held = lin.A if period is None else lin.sampled(period).A
    wanted = np.concatenate([np.linalg.eigvals(A), np.linalg.eigvals(held - L @ C)])
    assert matched(found.poles(), wanted) < 1e-9
    assert np.allclose(np.sort_complex(law.observer_poles()).real.max() < 0.0, True)


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
    assert matched(law.observer_poles(), poles) < 1e-6
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
    wanted = np.concatenate([np.linalg.eigvals(feedback.closed_loop()), np.linalg.eigvals(law._A - L @ law.C)])
    assert matched(linearize_closed_loop(plant, law).poles(), wanted) < 1e-8
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

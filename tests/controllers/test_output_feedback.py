"""Dynamic feedback from measured joints: eigenvalues of the loop, code, files, runs, limits."""

import json

import control
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, linearize_closed_loop
from cmbcontrol.controllers import ObserverFeedback, OutputFeedback, Saturation, law_from_dict, law_to_dict
from cmbcontrol.design import kalman, lqr
from tests.fixtures import matched

NAMES = ("left", "right")


def lqg(lin, outputs, period=None):
    """LQG controller as a law of its own, and as a system from errors to efforts."""
    feedback = lqr(lin, Q={"left": 400.0, "right": 400.0}, R=0.01, period=period)
    L = kalman(lin, outputs, effort_noise=1.0, measurement_noise=1e-6, period=period)
    law = ObserverFeedback(feedback, L, outputs)
    A = law._A - law._B @ feedback.K - L @ law.C  # the estimate is of x - x_d, and the error is -y
    return law, control.ss(A, -L, -feedback.K, np.zeros((2, len(outputs))), period or 0)


@pytest.mark.parametrize("period", [None, 0.02])
@pytest.mark.parametrize("outputs", [NAMES, ("elbow_left", "right_rate", "left")])
def test_poles_are_those_of_the_linear_system(plant, lin, period, outputs):
    """Of an LQG controller, written as one system: by the separation principle, and as the law that estimates."""
    observer, K = lqg(lin, outputs, period)
    law = OutputFeedback(lin, K, outputs)
    found = linearize_closed_loop(plant, law)
    held = lin.A if period is None else lin.sampled(period).A
    wanted = np.concatenate(
        [np.linalg.eigvals(observer.feedback.closed_loop()), np.linalg.eigvals(held - observer.L @ observer.C)]
    )
    assert law.period == period
    assert matched(found.poles(), wanted) < 1e-8
    runs = [
        cmb.simulate(plant, x, plant.assemble(left=2.12, right=1.01), t_end=0.4, output_times=0.1, rtol=1e-9, atol=1e-9)
        for x in (law, observer)
    ]
    scale = np.abs(runs[1].data.q.values[0] - lin.point.q).max()
    # the observer estimates with the same efforts: both laws are one
    assert np.abs(runs[0].data.q.values - runs[1].data.q.values).max() < 1e-6 * scale


def test_follows_a_reference_and_is_written_down(plant, lin):
    law = OutputFeedback(lin, lqg(lin, NAMES, 0.02)[1], NAMES, reference=Constant([2.2, 0.9]))
    law = law.with_reference(Constant([2.3, 0.9]))
    rest = cmb.closed_loop_equilibrium(plant, law)
    assert np.allclose(rest.point.q[[0, 2]], [2.3, 0.9], atol=1e-9)  # the efforts ahead hold it there
    data = json.loads(json.dumps(law_to_dict(law, plant)))
    again = law_from_dict(data, plant)
    assert law_to_dict(again, plant) == data
    start = plant.assemble(left=2.12, right=1.01)
    runs = [cmb.simulate(plant, x, start, t_end=0.1, output_times=0.02) for x in (law, again)]
    assert np.array_equal(runs[0].data.q.values, runs[1].data.q.values)


def test_an_integral_waits_behind_a_limit(plant, lin):
    """PI with a filtered derivative: an integral that cannot act does not grow, and the machine arrives sooner."""
    s = control.tf("s")
    pid = 400.0 + 2000.0 / s + 60.0 * s / (0.005 * s + 1.0)
    K = control.append(control.ss(pid), control.ss(pid))
    law = OutputFeedback(lin, K, NAMES, reference=Constant([2.3, 0.9]))
    assert law.integrates

    class WithoutWaiting(OutputFeedback):
        def anti_windup(self, t, terms, state, after, cut):
            return after

    limits = Saturation(np.abs(lin.point.u).max() + 60.0)
    start = plant.assemble(left=2.1, right=1.0)
    worst = []
    for x in (law, WithoutWaiting(lin, K, NAMES, reference=Constant([2.3, 0.9]))):
        run = cmb.simulate(plant, x | limits, start, t_end=1.5, output_times=0.02)
        worst.append(float(run.data.q.values[:, 0].max()) - 2.3)
    assert 0.0 < worst[0] < 0.8 * worst[1]  # overshoot


def test_refuses(plant, lin):
    K = lqg(lin, NAMES)[1]
    with pytest.raises(ValueError, match=r"has 2 inputs and 2 outputs; measured are 1 \(left\), and 2 motors"):
        OutputFeedback(lin, K, "left")
    with pytest.raises(ValueError, match="did you mean 'left'"):
        OutputFeedback(lin, K, ("lefd", "right"))
    with pytest.raises(ValueError, match="not one by motor"):
        OutputFeedback(lin, {"left": K}, NAMES)
    with pytest.raises(TypeError, match="LinearModel"):
        OutputFeedback(plant, K, NAMES)

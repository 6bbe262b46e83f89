"""Implicit steps: a stiff component of known solution, a blow-up."""

import numpy as np
import pytest

from cmbcontrol.sim.implicit import RosenbrockStepper, SdirkStepper, StepTooSmall

FIXED = {"sdirk4": 4, "rodas4": 4, "rodas5p": 5}  # method: order


class Prothero:
    """x' = rate (x - cos t) - sin t, so x = cos t whatever the rate (Prothero and Robinson)."""

    def __init__(self, rate):
        self.k, self.count = rate, 0

    def rate(self, t, x):
        self.count += 1
        return self.k * (x - np.cos(t)) - np.sin(t)

    def jacobian(self, t, x):
        return np.array([[self.k]]), np.array([self.k * np.sin(t) - np.cos(t)])


def make(method, system, x0, h, tol, fixed=False):
    arguments = (system, 0.0, np.asarray(x0), h, tol, tol, np.inf, fixed)
    return SdirkStepper(*arguments) if method == "sdirk4" else RosenbrockStepper(method, *arguments)


@pytest.mark.parametrize("method", FIXED)
def test_a_stiff_component_costs_nothing(method):
    counts = []
    for k in (-1.0, -1e6):
        system = Prothero(k)
        stepper = make(method, system, [1.0], 1e-2, 1e-6)
        while stepper.t < 3.0:
            step = stepper.advance(3.0)
            middle = 0.5 * (step.t0 + step.t1)
            assert abs(step.dense(middle)[0] - np.cos(middle)) < 1e-3
        assert stepper.t == 3.0 and abs(stepper.x[0] - np.cos(3.0)) < 1e-5
        counts.append(system.count)
    assert counts[1] < 6 * counts[0] < 6000


@pytest.mark.parametrize("method", FIXED)
def test_a_blow_up_ends(method):
    """x' = x^2 from 1 is infinite at t = 1."""

    class Square:
        def rate(self, t, x):
            return x * x

        def jacobian(self, t, x):
            return np.diag(2.0 * x), np.zeros(1)

    stepper = make(method, Square(), [1.0], 1e-2, 1e-6)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(StepTooSmall):
        for _ in range(5000):
            stepper.advance(2.0)
    assert stepper.t == pytest.approx(1.0, abs=1e-3)

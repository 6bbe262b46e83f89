"""Explicit steps: digits that a state cannot hold, step control, and the state between nodes."""

import numpy as np
import pytest

from cmbcontrol.kernels import runge_kutta
from cmbcontrol.papers.methods import verner65
from cmbcontrol.sim.tableaux import tableau

pytestmark = pytest.mark.nojit_slow  # whole runs


def test_the_digits_that_a_state_cannot_hold_are_kept():
    x, low = np.array([np.pi, 1.0]), np.zeros(2)
    K, one = np.array([[1.0, -1.0]]), np.ones(1)
    for _ in range(1000):
        out, lost = np.empty(2), np.empty(2)
        runge_kutta.step_from(x, low, K, one, 1, 1e-17, out, lost)
        x, low = out, lost
    assert x + low == pytest.approx([np.pi + 1e-14, 1.0 - 1e-14], abs=1e-15)
    assert (x - [np.pi, 1.0] + low) == pytest.approx([1e-14, -1e-14], rel=1e-6)


@pytest.mark.parametrize("method", ["dop853", "verner65"])
def test_a_step_across_has_no_stage_near_the_pose(method):
    method = verner65() if method == "verner65" else tableau(method)
    assert np.abs(np.concatenate([method.c, method.c_extra]) - method.gap).min() > 0.1


@pytest.mark.parametrize("order", [4, 8])
@pytest.mark.parametrize(
    ("error", "rejected", "factor"),
    [
        (0.0, False, 10.0),
        (0.0, True, 1.0),  # not longer at once after a step that failed
        (1e-30, False, 10.0),
        (np.nan, False, 0.1),
        (1e30, False, 0.1),
    ],
)
def test_bounds_of_the_next_step(order, error, rejected, factor):
    assert runge_kutta.next_step(0.3, error, rejected, order) == pytest.approx(0.3 * factor)


def test_the_next_step_has_nine_tenths_of_what_the_order_says():
    """An error of order p: h (1/error)^(1/p), with a margin of 0.9."""
    assert runge_kutta.next_step(1.0, 0.5, False, 8) == pytest.approx(0.9 * 2.0 ** (1.0 / 8.0))
    assert runge_kutta.next_step(1.0, 16.0, False, 4) == pytest.approx(0.45)


def test_polynomials_through_values_and_rates():
    """Of degree 2 count - 1: given back exactly."""
    rng = np.random.default_rng(0)
    times = np.array([0.0, 0.3, 0.5, 1.1])
    for count in range(1, 5):
        exact = [np.polynomial.Polynomial(c) for c in rng.standard_normal((2, 2 * count))]
        values, rates = (np.array([[p(t) for p in ps] for t in times]) for ps in (exact, [p.deriv() for p in exact]))
        out = np.empty(2)
        runge_kutta.hermite(times, values, rates, count, 0.77, out)
        assert out == pytest.approx([p(0.77) for p in exact], abs=1e-12)


def test_dense_output_of_a_step_known_by_its_ends():
    p = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.7])
    x0, x1, F, out = np.array([p(0.2)]), np.array([p(0.9)]), np.empty((7, 1)), np.empty(1)
    runge_kutta.cubic(x0, x1, np.array([p.deriv()(0.2)]), np.array([p.deriv()(0.9)]), 0.7, F)
    for s in (0.0, 0.25, 0.5, 1.0):
        runge_kutta.interpolate(x0, F, s, out)
        assert out[0] == pytest.approx(p(0.2 + 0.7 * s), abs=1e-14)

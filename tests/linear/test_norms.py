"""H2 and H-infinity norms by quadrature and by frequency."""

import numpy as np
import pytest

from cmbcontrol.linear.norms import h2_norm, hinf_norm, largest_gain, response, spectral_abscissa

from .compleib import BEST, TRAPS, compleib


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


@pytest.mark.first(1)
@pytest.mark.parametrize("rate", [1.0, 1e2, 1e4, 1e6])
def test_the_same_systems_with_faster_poles(rate):
    """A response is a bound from below, and the norm does not depend on the unit of time."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(2, 7))
        X = rng.normal(size=(n, n))
        A = X - (np.linalg.eigvals(X).real.max() + 10.0 ** rng.uniform(-4, 0)) * np.eye(n)
        B, C = rng.normal(size=(n, 2)), rng.normal(size=(3, n))
        poles = np.linalg.eigvals(A)
        grid = np.concatenate([np.abs(poles.imag), np.abs(poles), np.geomspace(1e-3, 1e3, 300)])
        seen = max(np.linalg.norm(C @ np.linalg.solve(1j * w * np.eye(n) - A, B), 2) for w in grid)
        norm = hinf_norm(A, B, C)
        assert norm >= seen * (1.0 - 1e-12)
        assert hinf_norm(rate * A, B, rate * C) == pytest.approx(norm, rel=1e-8)


def test_poles_that_are_far_apart():
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-1.44840966e8, 6.22381982e7, -2.41597890e7, 2.77469207e6],
                  [2.81042895e7, -1.20823605e7, 4.68770216e6, -5.39098537e5]])  # fmt: skip
    B = np.array([[0, 0], [0, 0], [0.51999006, -0.01938402], [-0.01938402, 0.53200682]])
    C = np.array([[10, 0, 0, 0], [0, 10, 0, 0], [-2769525.95428501, 1190061.93598655, -461962.96405548, 53054.7977474],
                  [427360.18742219, -183748.88786692, 71281.64315613, -8200.1743024]])  # fmt: skip
    seen = max(np.linalg.norm(C @ np.linalg.solve(1j * w * np.eye(4) - A, B), 2) for w in np.geomspace(1e-2, 1e8, 4000))
    assert seen * (1.0 - 1e-12) <= hinf_norm(A, B, C) <= seen * (1.0 + 1e-3)


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap["plant"])
def test_a_second_peak_that_is_nearly_as_high(trap):
    """Norms that a bisection with a tight tolerance gave 1 to 7 % too small; values to 7 digits, from 20,000 points."""
    loop = compleib(trap["plant"]).closed(np.array(trap["K"]))
    value, where = largest_gain(response(loop.A, loop.B, loop.C, loop.D, 0.0))
    assert value == pytest.approx(trap["true_norm"], rel=1e-6)
    assert where == pytest.approx(trap["w_peak"], rel=1e-3)  # of a flat peak, from a grid


@pytest.mark.parametrize("key", BEST, ids=str)
def test_what_published_gains_attain(key):
    """Gains are published to 10 digits: loops with large gains lose the more of them."""
    name, order, measure = key
    loop = compleib(name).with_order(order).closed(np.array(BEST[key]["K"]))
    if measure == "hinf":
        found = hinf_norm(loop.A, loop.B, loop.C, None, loop.D)
    elif measure == "h2":
        found = h2_norm(loop.A, loop.B, loop.C)
    else:
        found = spectral_abscissa(loop.A)
    assert found == pytest.approx(BEST[key]["value"], rel=5e-5)


@pytest.mark.parametrize("slow", [1e-8, 1e-4, 1.0])
@pytest.mark.parametrize("second", [-1e-6, 1e-6])
def test_plateaus_and_resonances_of_like_height(slow, second):
    """diag(1/(s/slow + 1), g(s)) with a resonance g that is higher, or lower, than the plateau by a millionth.

    The peak of 1/(s^2 + 2 d s + 1) is 1/(2 d sqrt(1 - d^2)).
    """
    d = 1e-3
    height = 1.0 + second
    A = np.array([[-slow, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, -2.0 * d]])
    B = np.array([[slow, 0.0], [0.0, 0.0], [0.0, height * 2.0 * d * np.sqrt(1.0 - d * d)]])
    C = np.eye(3)[:2]
    T = np.array([[1.0, 1e6, 0.0], [0.0, 1.0, 1e-5], [0.0, 0.0, 1.0]])  # states in no order, and of no size
    A, B, C = T @ A @ np.linalg.inv(T), T @ B, C @ np.linalg.inv(T)
    value, where = largest_gain(response(A, B, C, np.zeros((2, 2)), 0.0))
    assert value == pytest.approx(max(height, 1.0), rel=3e-8 if slow == 1.0 else 1e-8)
    assert (where < 0.1 * slow) if second < 0.0 else where == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("damping", [1e-3, 1e-6, 1e-9])
def test_poles_near_the_border(damping):
    """Sharp resonances of many sizes, the highest by one percent: heights are known, and no grid has them."""
    w = np.geomspace(0.1, 100.0, 6)
    heights = np.array([1.0, 0.99, 1.01, 0.98, 0.9, 1.0])
    A, B, C = np.zeros((12, 12)), np.zeros((12, 6)), np.zeros((6, 12))
    for k, (x, height) in enumerate(zip(w, heights, strict=True)):
        A[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[0.0, x], [-x, -2.0 * damping * x]]
        B[2 * k + 1, k] = height * 2.0 * damping * np.sqrt(1.0 - damping**2) * x
        C[k, 2 * k] = 1.0
    rng = np.random.default_rng(2)
    T = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    value, where = largest_gain(response(T @ A @ T.T, T @ B, C @ T.T, np.zeros((6, 6)), 0.0))
    assert value == pytest.approx(1.01, rel=1e-14 * 100.0 / damping + 1e-9)  # rounding, over the damping
    assert where == pytest.approx(w[2], rel=1e-5)


def test_a_gain_that_is_highest_at_infinity_and_no_states():
    value, where = largest_gain(response(-np.eye(1), np.eye(1), -np.eye(1), 2.0 * np.eye(1), 0.0))
    assert (value, where) == (2.0, np.inf)
    none = np.zeros((0, 0))
    assert hinf_norm(none, np.zeros((0, 2)), np.zeros((1, 0)), None, np.array([[3.0, 4.0]])) == pytest.approx(5.0)


def test_growth_of_the_fastest_mode():
    A = np.array([[0.3, 0.4], [-0.4, 0.3]])
    assert spectral_abscissa(A) == pytest.approx(0.3, rel=1e-14)
    assert spectral_abscissa(A, 0.1) == pytest.approx(0.5, rel=1e-14)

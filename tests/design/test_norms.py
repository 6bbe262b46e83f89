"""H2 and H-infinity norms by quadrature and by frequency."""

import numpy as np
import pytest

from cmbcontrol.design.norms import h2_norm, hinf_norm


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

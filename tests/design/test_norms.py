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

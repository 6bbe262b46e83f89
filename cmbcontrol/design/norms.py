"""H2 and H-infinity norms of C (s - A)^-1 B, or C (z - A)^-1 B in sampled time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["h2_norm", "hinf_norm"]

Array = NDArray[np.float64]


def h2_norm(A: Array, B: Array, C: Array, period: float | None = None) -> float:
    """sqrt(trace C W C') with the Gramian W; infinite where A is not stable.

    Examples
    --------
    >>> h2_norm(np.array([[-2.0]]), np.array([[1.0]]), np.array([[3.0]]))
    1.5
    """
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    if not _stable(A, period):
        return np.inf
    W = solve_continuous_lyapunov(A, -B @ B.T) if period is None else solve_discrete_lyapunov(A, B @ B.T)
    return float(np.sqrt(max(np.trace(C @ W @ C.T), 0.0)))


def hinf_norm(A: Array, B: Array, C: Array, period: float | None = None) -> float:
    """Largest singular value over all frequencies; infinite where A is not stable (``control.norm``).

    In sampled time that of the continuous system with s = (z - 1) / (z + 1), which has the same values.

    Examples
    --------
    >>> round(hinf_norm(np.array([[-2.0]]), np.array([[1.0]]), np.array([[3.0]])), 6)
    1.5
    """
    import control

    if not _stable(A, period):
        return np.inf
    # python-control 0.10.2 needs as many outputs as inputs: zeros change no singular value
    size = max(len(C), B.shape[1])
    B, C = np.pad(B, ((0, 0), (0, size - B.shape[1]))), np.pad(C, ((0, size - len(C)), (0, 0)))
    D = np.zeros((size, size))
    if period is not None:
        back = np.linalg.inv(A + np.eye(len(A)))
        A, B, C, D = back @ (A - np.eye(len(A))), np.sqrt(2.0) * back @ B, np.sqrt(2.0) * C @ back, D - C @ back @ B
    return float(control.norm(control.ss(A, B, C, D), "inf", tol=1e-8, print_warning=False))


def _stable(A: Array, period: float | None) -> bool:
    values = np.linalg.eigvals(A)
    return bool(values.real.max() < 0.0) if period is None else bool(np.abs(values).max() < 1.0)

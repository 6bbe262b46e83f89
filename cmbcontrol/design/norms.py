"""H2 and H-infinity norms of C (s - A)^-1 B, or C (z - A)^-1 B in sampled time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..linear.balancing import balanced
from ..linear.controllability import slowest_decay

__all__ = ["h2_norm", "hinf_norm"]

Array = NDArray[np.float64]

_ACCURACY = 1e-9
_NEAR = 1e-5  # of an eigenvalue: two that meet on the axis are off it by the root of rounding
_STEPS = 50  # the error is squared by each
_GRID = 60  # frequencies that are looked at first: where poles are far apart, rounding hides eigenvalues on the axis


def h2_norm(A: Array, B: Array, C: Array, period: float | None = None) -> float:
    """H2 norm, sqrt(trace C W C') with the Gramian W; infinite where A is not stable.

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
    """H-infinity norm, the largest singular value over all frequencies, to 1e-9; infinite where A is not stable.

    By Bruinsma and Steinbuch (1990): at frequencies where a singular value has a level, i omega is an eigenvalue of a
    Hamiltonian matrix; between two of these it is higher. The result is a response at some frequency in any case.
    Eigenvalues near the axis count as on it: a few frequencies too many cost little, but a missed one would make the
    norm wrong.

    In sampled time it is that of the continuous system with s = (z - 1) / (z + 1), which has the same values.

    Examples
    --------
    >>> round(hinf_norm(np.array([[-2.0]]), np.array([[1.0]]), np.array([[3.0]])), 6)
    1.5
    """
    from scipy.optimize import minimize_scalar

    if not _stable(A, period):
        return np.inf
    D = np.zeros((len(C), B.shape[1]))
    if period is not None:
        back = np.linalg.inv(A + np.eye(len(A)))
        A, B, C, D = back @ (A - np.eye(len(A))), np.sqrt(2.0) * back @ B, np.sqrt(2.0) * C @ back, D - C @ back @ B
    A, B, C = balanced(A, B, C)

    def responses(frequencies: Array) -> Array:
        at = 1j * frequencies[:, None, None] * np.eye(len(A)) - A
        return np.linalg.norm(C @ np.linalg.solve(at, np.broadcast_to(B, (len(at), *B.shape))) + D, 2, (1, 2))

    def nearby(omega: float) -> float:
        """Largest response near a frequency."""
        ends = np.log(omega) - 0.4, np.log(omega) + 0.4
        found = minimize_scalar(lambda x: -responses(np.exp(np.atleast_1d(x)))[0], bounds=ends, method="bounded")
        return -float(found.fun)

    poles = np.abs(np.linalg.eigvals(A))
    grid = np.unique(np.concatenate([poles, np.geomspace(0.1 * poles.min(), 10.0 * poles.max(), _GRID)]))
    seen = responses(grid)
    best = max(responses(np.zeros(1))[0], float(np.linalg.norm(D, 2)), seen.max(), nearby(grid[seen.argmax()]))
    for _ in range(_STEPS):
        level = best * (1.0 + _ACCURACY)
        if level == 0.0:
            break
        R = np.linalg.inv(np.eye(B.shape[1]) - D.T @ D / level**2)
        moved = A + B @ R @ D.T @ C / level**2
        down = C.T @ (np.eye(len(C)) + D @ R @ D.T / level**2) @ C
        values = np.linalg.eigvals(np.block([[moved, B @ R @ B.T / level], [-down / level, -moved.T]]))
        there = np.unique(np.abs(values.imag[np.abs(values.real) <= _NEAR * np.abs(values)]))
        if not there.size:
            break
        between = 0.5 * (there[1:] + there[:-1])
        looked = np.concatenate([there, between, np.sqrt(there[1:] * there[:-1])])
        seen = responses(looked)
        found = max(seen.max(), nearby(looked[seen.argmax()])) if looked[seen.argmax()] else seen.max()
        if found <= level:
            break
        best = found
    return float(best)


def _stable(A: Array, period: float | None) -> bool:
    return slowest_decay(np.linalg.eigvals(A), period) > 0.0

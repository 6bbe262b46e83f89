"""Modes that do not decay and that inputs do not move: the test of Popov, Belevitch and Hautus, with a scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linear.balancing import balanced

__all__ = ["slowest_decay", "unmoved"]

Array = NDArray[np.float64]

# Of the size of the balanced A: a mode that decays slower does not, and a direction of which less is left is not moved.
# Eigenvalues of defective modes, as of free motions, are right to 1e-8; what is left of their direction to its square.
_NOTHING = 1e-9


def unmoved(A: Array, B: Array, period: float | None = None) -> complex | None:
    """Eigenvalue of a mode that does not decay and that B does not move; None where there is none.

    The test is the rank of [s - A, B] at the eigenvalues of A, in balanced coordinates and with inputs of unit size, so
    that units do not matter. With A' and C' it is a mode that C does not show.

    Parameters
    ----------
    A, B : ndarray, shape (n, n) and (n, m)
    period : float, optional
        Sample time of a sampled model, s.

    Examples
    --------
    >>> A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    >>> unmoved(A, np.array([[0.0], [1.0], [0.0]])) is None
    True
    >>> abs(unmoved(A, np.array([[1.0], [0.0], [0.0]])))
    0.0
    """
    A, B, _ = balanced(A, B, np.zeros((0, len(A))))
    size = float(np.linalg.norm(A, 2)) or 1.0
    lengths = np.linalg.norm(B, axis=0)
    B = size * B / np.where(lengths > 0.0, lengths, 1.0)
    for value in np.linalg.eigvals(A):
        decay = -value.real / size if period is None else 1.0 - abs(value)
        if decay > _NOTHING:
            continue
        left = np.linalg.svd(np.hstack([value * np.eye(len(A)) - A, B]), compute_uv=False)
        if left[-1] < _NOTHING * size:
            return complex(value)
    return None


def slowest_decay(values: NDArray[Any], period: float | None) -> float:
    """Decay of the slowest of some modes, as a part of the largest rate; not above zero where one does not decay."""
    if period is not None:
        return float(1.0 - np.abs(values).max(initial=0.0))
    return float(-values.real.max(initial=-np.inf) / max(np.abs(values).max(initial=0.0), 1e-300))

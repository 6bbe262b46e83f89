"""Scaling of the states of a linear model to similar size, so that its units do not matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["balanced", "bilinear", "state_scales"]

Array = NDArray[np.float64]

# Powers of two. Blocks of which one acts on the other, and not the other way, are balanced ever better by ever larger
# ratios: they are no units.
_LARGEST = 2.0**120


def state_scales(A: Array) -> Array:
    """Units s (n,), powers of two, in which rows and columns of A, entries A_ij s_j / s_i, are of similar size.

    A state that acts on no other, or on which no other acts, is left as it is.

    Examples
    --------
    >>> s = state_scales(np.array([[0.0, 1e-6], [1e6, 0.0]]))
    >>> bool(s[1] / s[0] == 2.0**20)
    True
    """
    from scipy.linalg import matrix_balance

    with np.errstate(invalid="ignore"):  # scipy casts scales to integers, which are permutations elsewhere
        scales = np.abs(matrix_balance(A)[1]).sum(axis=1) if A.size else np.ones(0)
    return np.clip(scales, 1.0 / _LARGEST, _LARGEST)


def balanced(A: Array, B: Array, C: Array) -> tuple[Array, Array, Array]:
    """System A, B, C in units (see `state_scales`) in which rows and columns of A are of similar size.

    Examples
    --------
    >>> A, B, C = balanced(np.array([[0.0, 1e-6], [1e6, 0.0]]), np.ones((2, 1)), np.ones((1, 2)))
    >>> bool(np.abs(A).max() < 2.0), float((C @ B)[0, 0])
    (True, 2.0)
    """
    s = state_scales(A)
    return A * s / s[:, None], B / s[:, None], C * s


def bilinear(A: Array, B: Array, C: Array, D: Array, dt: float) -> tuple[Array, Array, Array, Array]:
    """System A, B, C, D of continuous time for a stable sampled one, by s = 2/dt (z - 1)/(z + 1).

    Its response at 2/dt tan(w dt/2) is exactly that of the sampled one at the frequency w.

    Examples
    --------
    >>> A, B, C, D = bilinear(np.array([[0.5]]), np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), 1.0)
    >>> round(float((D - C @ np.linalg.solve(A, B))[0, 0]), 6)  # 1 / (z - 0.5) at rest
    2.0
    """
    n = len(A)
    P = np.linalg.inv(A + np.eye(n))  # no pole of a stable system is at z = -1
    return 2.0 / dt * P @ (A - np.eye(n)), 4.0 / dt * P @ P @ B, C, D - C @ P @ B

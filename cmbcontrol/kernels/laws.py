"""Small dense solves that the record of a state and the control laws ask for at every call.

All rest on the pivoted row factorization of `kernels.split`: the smallest solution takes a tenth of what a singular
value decomposition costs, and the pivots tell how near the rows are to losing their rank.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .split import factor_rows, solve_head, to_space

__all__ = ["constraint_split", "smallest_solution"]


@kernel
def constraint_split(A, b, rank):
    """Orthonormal bases R (n, rank) of the rows of A and Z (n, n - rank) of N(A), and the smallest c with A c = -b.

    The rank is given. c takes the pivot rows at their word: where others are redundant, it is -A+ b if they agree.
    """
    rows, n = A.shape
    norms = np.empty(rows)
    largest = 0.0
    for i in range(rows):
        s = 0.0
        for k in range(n):
            s += A[i, k] * A[i, k]
        norms[i] = np.sqrt(s)
        largest = max(largest, norms[i])
    G, rhs = np.empty((rows, n)), np.empty(rows)
    for i in range(rows):
        scale = 1.0 / norms[i] if norms[i] > 1e-3 * largest else 1.0
        rhs[i] = -scale * b[i]
        for k in range(n):
            G[i, k] = scale * A[i, k]
    order, tau, pivots = np.empty(rows, np.int64), np.empty(rows), np.empty(rows)
    found = factor_rows(G, order, tau, pivots, 0.0, rank)
    R, Z, c, axis = np.empty((n, found)), np.empty((n, n - found)), np.zeros(n), np.empty(n)
    for j in range(n):
        axis[:] = 0.0
        axis[j] = 1.0
        to_space(G, tau, found, axis)
        for i in range(n):
            if j < found:
                R[i, j] = axis[i]
            else:
                Z[i, j - found] = axis[i]
    solve_head(G, order, found, rhs, c)
    to_space(G, tau, found, c)
    return R, Z, c


@kernel
def smallest_solution(X, rhs, tolerance):
    """The smallest y (n,) with X y = rhs, the rank of X, and its smallest over its largest pivot.

    Rows beyond the rank, those of which less than `tolerance` times the largest pivot is left, are not looked at.
    """
    rows, n = X.shape
    G = X.copy()
    order, tau, pivots = np.empty(rows, np.int64), np.empty(rows), np.empty(rows)
    rank = factor_rows(G, order, tau, pivots, tolerance, rows)
    y = np.zeros(n)
    solve_head(G, order, rank, rhs, y)
    to_space(G, tau, rank, y)
    closeness = 1.0
    if rows > 0:
        closeness = pivots[rows - 1] / pivots[0] if pivots[0] > 0.0 else 0.0
    return y, rank, closeness

"""Small dense solves that the record of a state and the control laws ask for at every call.

All rest on the pivoted row factorization of `kernels.split`: the smallest solution takes a tenth of what a singular
value decomposition costs, and the pivots tell how near the rows are to losing their rank.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .split import factor_rows, solve_head, to_space

__all__ = ["constraint_split", "motor_reach", "smallest_solution"]


@kernel
def constraint_split(A, b, row_scale, rank):
    """Orthonormal bases R (n, rank) of the rows of A and Z (n, n - rank) of N(A), and the smallest c with A c = -b.

    The rank is given; rows are compared in metres. c takes the pivot rows at their word: where others are redundant,
    it is -A+ b if they agree.
    """
    rows, n = A.shape
    G, rhs = np.empty((rows, n)), np.empty(rows)
    for i in range(rows):
        rhs[i] = -row_scale[i] * b[i]
        for k in range(n):
            G[i, k] = row_scale[i] * A[i, k]
    order, tau, pivots = np.empty(rows, np.int64), np.empty(rows), np.empty(rows)
    found = factor_rows(G, order, tau, pivots, 0.0, 0.0, rank)
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
def motor_reach(Z, B, reach):
    """Z'B (dof, nu) with rows of unit motions; the lengths (dof,) of the columns of Z; and the scale of the motors.

    Lengths are in metres: a coordinate counts by its `reach`. The scale is the largest column of B in the same metric,
    in newtons. Entries over it are cosines between motions and motors, so zero can be told from rounding.
    """
    n, dof = Z.shape
    X, lengths = np.zeros((dof, B.shape[1])), np.empty(dof)
    for i in range(dof):
        s = 0.0
        for k in range(n):
            s += (reach[k] * Z[k, i]) ** 2
        lengths[i] = np.sqrt(s)
        for j in range(B.shape[1]):
            for k in range(n):
                X[i, j] += Z[k, i] * B[k, j]
            X[i, j] /= lengths[i]
    scale = 0.0
    for j in range(B.shape[1]):
        s = 0.0
        for k in range(n):
            s += (B[k, j] / reach[k]) ** 2
        scale = max(scale, s)
    return X, lengths, np.sqrt(scale)


@kernel
def smallest_solution(X, rhs, scale, tolerance):
    """The smallest y (n,) with X y = rhs, the rank of X, and its smallest pivot over `scale`.

    The scale is that of the terms of which X is the sum, such as |J| |Z| for J Z: see `_tolerance`. Rows beyond the
    rank, those of which less than `tolerance` times the scale is left, are not looked at.
    """
    rows, n = X.shape
    G = X.copy()
    order, tau, pivots = np.empty(rows, np.int64), np.empty(rows), np.empty(rows)
    rank = factor_rows(G, order, tau, pivots, 0.0, tolerance * scale, rows)
    y = np.zeros(n)
    solve_head(G, order, rank, rhs, y)
    to_space(G, tau, rank, y)
    closeness = 1.0
    if rows > 0:
        closeness = pivots[rows - 1] / scale if scale > 0.0 and rows <= n else 0.0
    return y, rank, closeness

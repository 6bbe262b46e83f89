"""Small dense solves that the record of a state and the control laws ask for at every call.

All rest on the pivoted row factorization of `kernels.split`: the smallest solution takes a tenth of what a singular
value decomposition costs, and the pivots tell how near the rows are to losing their rank.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .split import factor_rows, solve_head, to_space

__all__ = [
    "constraint_split",
    "motion_and_force",
    "motor_reach",
    "only_acceleration",
    "sine",
    "smallest_effort",
    "smallest_solution",
    "smallest_solutions",
]


@kernel
def constraint_split(A, b, row_scale, rank):
    """Orthonormal bases R (n, rank) of the rows of A and Z (n, n - rank) of N(A), and the smallest c with A c = -b.

    The rank is given; rows are compared in metres. c takes the pivot rows at their word: where others are redundant,
    it is -A+ b if they agree, and whether they do is the last that is returned.
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
    left, all_of_it = 0.0, 0.0
    if found < rows:
        for i in range(rows):
            s = b[i]
            for k in range(n):
                s += A[i, k] * c[k]
            left += s * s
            all_of_it += b[i] * b[i]
    return R, Z, c, not left > 1e-24 * all_of_it


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


@kernel
def smallest_solutions(X, sides):
    """The smallest Y (k, n) with X Y' = sides' (k, rows), for X with independent rows."""
    rows, n = X.shape
    G = X.copy()
    order, tau, pivots = np.empty(rows, np.int64), np.empty(rows), np.empty(rows)
    rank = factor_rows(G, order, tau, pivots, 0.0, 0.0, rows)
    Y = np.zeros((sides.shape[0], n))
    for i in range(sides.shape[0]):
        solve_head(G, order, rank, sides[i], Y[i])
        to_space(G, tau, rank, Y[i])
    return Y


@kernel
def only_acceleration(Z, c, J, target):
    """The only a = c + Z z with J a = target, the smallest pivot of J Z over the size of J, and that size."""
    k, n = J.shape
    dof = Z.shape[1]
    X, rest, size = np.zeros((k, dof)), np.empty(k), 0.0
    for i in range(k):
        rest[i] = target[i]
        for m in range(n):
            rest[i] -= J[i, m] * c[m]
            size += J[i, m] * J[i, m]
            for j in range(dof):
                X[i, j] += J[i, m] * Z[m, j]
    size = np.sqrt(size)
    z, _, closeness = smallest_solution(X, rest, size, 0.0)
    a = c.copy()
    for m in range(n):
        for j in range(dof):
            a[m] += Z[m, j] * z[j]
    return a, closeness, size


@kernel
def smallest_effort(Z, B, reach, M, h, vdot, tolerance):
    """The smallest u (nu,) with Z'B u = Z'(M vdot + h), and the rank of Z'B: see `motor_reach`."""
    X, lengths, scale = motor_reach(Z, B, reach)
    n, dof = Z.shape
    need = np.zeros(dof)
    for k in range(n):
        force = h[k]
        for m in range(n):
            force += M[k, m] * vdot[m]
        for i in range(dof):
            need[i] += Z[k, i] * force / lengths[i]
    u, rank, _ = smallest_solution(X, need, scale, tolerance)
    return u, rank


@kernel
def motion_and_force(Z, B, reach, C):
    """Rows X (dof + k, nu) of Z'B and C B in newtons, the factors that bring them there, and the scale of the motors.

    Rows of Z'B are along unit motions (`motor_reach`), those of C B count as their largest joint force.
    """
    motions, lengths, scale = motor_reach(Z, B, reach)
    dof, nu = motions.shape
    k, n = C.shape
    X, by = np.zeros((dof + k, nu)), np.ones(dof + k)
    for i in range(dof):
        by[i] = 1.0 / lengths[i]
        for j in range(nu):
            X[i, j] = motions[i, j]
    for i in range(k):
        size = 0.0
        for m in range(n):
            size += (C[i, m] * reach[m]) ** 2
        if size > 0.0:
            by[dof + i] = 1.0 / np.sqrt(size)
        for j in range(nu):
            s = 0.0
            for m in range(n):
                s += C[i, m] * B[m, j]
            X[dof + i, j] = by[dof + i] * s
    return X, by, scale


@kernel
def sine(t, centre, amplitude, frequency, phase):
    """Position, velocity and acceleration, the rows of (3, k), of centre + amplitude sin(2 pi frequency t + phase)."""
    out = np.empty((3, centre.size))
    for i in range(centre.size):
        w = 2.0 * np.pi * frequency[i]
        angle = w * t + phase[i]
        out[0, i] = centre[i] + amplitude[i] * np.sin(angle)
        out[1, i] = w * amplitude[i] * np.cos(angle)
        out[2, i] = -w * w * amplitude[i] * np.sin(angle)
    return out

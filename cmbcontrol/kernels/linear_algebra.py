"""Small dense linear algebra: bases of null spaces, least-norm solutions, singular values, reach of motors.

The record of a state and the control laws need it at every call.

Most rest on the pivoted row factorization of `kernels.split`: the smallest solution takes a tenth of what a singular
value decomposition costs, and the pivots show how near the rows are to losing their rank. From Python, numpy takes as
long for each operation on arrays of a few numbers as a kernel for all of them; so a kernel does as much as a law can
ask for in one call.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .split import backward, cholesky, factor_rows, forward, new_root, new_rows, solve_head, take_rows, to_space

__all__ = [
    "active_subspace",
    "admissible_acceleration",
    "constraint_split",
    "damped_solution",
    "effort_with_force",
    "gauss_rows",
    "motion_and_force",
    "motor_reach",
    "only_acceleration",
    "reached_motions",
    "reduced_coordinates",
    "reduced_root",
    "reduced_rows",
    "singular_values",
    "smallest_effort",
    "smallest_solution",
    "smallest_solutions",
    "unit_motions",
]


@kernel(allocates=True)
def constraint_split(A, b, row_scale, rank):
    """Orthonormal bases R (n, rank) of the rows of A and Z (n, n - rank) of N(A), and the smallest c with A c = -b.

    The rank is given; rows are compared in metres. c follows from the pivot rows: where other rows are
    redundant, it is -A+ b if they agree. Whether they agree is returned last.
    """
    rows, n = A.shape
    split, rhs = new_rows(rows, n), np.empty(rows)
    for i in range(rows):
        rhs[i] = -row_scale[i] * b[i]
        for k in range(n):
            split.G[i, k] = row_scale[i] * A[i, k]
    independent = factor_rows(split, 0.0, 0.0, rank)
    R, Z, c, axis = np.empty((n, independent)), np.empty((n, n - independent)), np.zeros(n), np.empty(n)
    for j in range(n):
        axis[:] = 0.0
        axis[j] = 1.0
        to_space(split, independent, axis)
        for i in range(n):
            if j < independent:
                R[i, j] = axis[i]
            else:
                Z[i, j - independent] = axis[i]
    solve_head(split, independent, rhs, c)
    to_space(split, independent, c)
    left, all_of_it = 0.0, 0.0
    if independent < rows:
        for i in range(rows):
            s = b[i]
            for k in range(n):
                s += A[i, k] * c[k]
            left += s * s
            all_of_it += b[i] * b[i]
    return R, Z, c, not left > 1e-24 * all_of_it


@kernel(allocates=True)
def unit_motions(A, row_scale, unit_lengths, rank):
    """Basis (n, dof) of N(A), orthonormal where each coordinate counts by its `unit_lengths`."""
    Z = constraint_split(A / unit_lengths, np.zeros(A.shape[0]), row_scale, rank)[1]
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            Z[i, j] /= unit_lengths[i]
    return Z


@kernel(allocates=True)
def motor_reach(Z, B, unit_lengths):
    """Z'B (dof, nu) in rows for unit motions, the lengths (dof,) of the columns of Z, and the scale of the motors.

    Lengths are in metres: a coordinate counts by its `unit_lengths`. The scale is the largest column of B in the same
    metric, in newtons. Entries over it are cosines between motions and motors, so zero can be told from rounding.
    """
    n, dof = Z.shape
    X, lengths = np.zeros((dof, B.shape[1])), np.empty(dof)
    for i in range(dof):
        s = 0.0
        for k in range(n):
            s += (unit_lengths[k] * Z[k, i]) ** 2
        lengths[i] = np.sqrt(s)
        for j in range(B.shape[1]):
            for k in range(n):
                X[i, j] += Z[k, i] * B[k, j]
            X[i, j] /= lengths[i]
    scale = 0.0
    for j in range(B.shape[1]):
        s = 0.0
        for k in range(n):
            s += (B[k, j] / unit_lengths[k]) ** 2
        scale = max(scale, s)
    return X, lengths, np.sqrt(scale)


@kernel(allocates=True)
def smallest_solution(X, rhs, scale, tolerance):
    """Smallest y (n,) with X y = rhs, the rank of X, and its smallest pivot over `scale`.

    The scale is that of the terms of which X is the sum, such as |J| |Z| for J Z: see `_tolerance`. Rows beyond the
    rank, those of which less than `tolerance` times the scale is left, are ignored.
    """
    rows, n = X.shape
    split = new_rows(rows, n)
    take_rows(X, split)
    rank = factor_rows(split, 0.0, tolerance * scale, rows)
    y = np.zeros(n)
    solve_head(split, rank, rhs, y)
    to_space(split, rank, y)
    closeness = 1.0
    if rows > 0:
        closeness = split.pivots[rows - 1] / scale if scale > 0.0 and rows <= n else 0.0
    return y, rank, closeness


@kernel(allocates=True)
def smallest_solutions(X, sides):
    """Smallest Y (k, n) with X Y' = sides' (k, rows), for X with independent rows."""
    rows, n = X.shape
    split = new_rows(rows, n)
    take_rows(X, split)
    rank = factor_rows(split, 0.0, 0.0, rows)
    Y = np.zeros((sides.shape[0], n))
    for i in range(sides.shape[0]):
        solve_head(split, rank, sides[i], Y[i])
        to_space(split, rank, Y[i])
    return Y


@kernel(allocates=True)
def only_acceleration(Z, c, J, target):
    """Acceleration a = c + Z z with J a = target, the smallest pivot of J Z over the size of J, and that size."""
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


@kernel(allocates=True)
def smallest_effort(Z, B, unit_lengths, M, h, vdot, tolerance):
    """Smallest efforts u (nu,) with Z'B u = Z'(M vdot + h), and the rank of Z'B; see `motor_reach`."""
    X, lengths, scale = motor_reach(Z, B, unit_lengths)
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


@kernel(allocates=True)
def motion_and_force(Z, B, unit_lengths, C):
    """Rows X (dof + k, nu) of Z'B and C B in newtons, the factors that scale them so, and the scale of the motors.

    Rows of Z'B are along unit motions (`motor_reach`), those of C B count as their largest joint force.
    """
    motions, lengths, scale = motor_reach(Z, B, unit_lengths)
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
            size += (C[i, m] * unit_lengths[m]) ** 2
        if size > 0.0:
            by[dof + i] = 1.0 / np.sqrt(size)
        for j in range(nu):
            s = 0.0
            for m in range(n):
                s += C[i, m] * B[m, j]
            X[dof + i, j] = by[dof + i] * s
    return X, by, scale


@kernel(allocates=True)
def effort_with_force(Z, B, unit_lengths, C, f, force, tolerance):
    """Smallest efforts u (nu,) with Z'B u = Z'f and C B u = force, and whether they exist for any f and force."""
    X, need, scale = motion_and_force(Z, B, unit_lengths, C)  # `need` is the factors of the rows first
    n, dof = Z.shape
    for i in range(dof):
        s = 0.0
        for k in range(n):
            s += Z[k, i] * f[k]
        need[i] *= s
    for i in range(force.size):
        need[dof + i] *= force[i]
    u, rank, _ = smallest_solution(X, need, scale, tolerance)
    return u, rank == X.shape[0]


@kernel(allocates=True)
def product(X, Y):
    """X Y, for matrices too small for BLAS."""
    out = np.zeros((X.shape[0], Y.shape[1]))
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            for j in range(Y.shape[1]):
                out[i, j] += X[i, k] * Y[k, j]
    return out


# -- accelerations a = c + Z L'^-1 y, in whose coordinates y the metric of M is 1: Z'M Z = L L' --------------------


@kernel(allocates=True)
def reduced_root(Z, M):
    """Cholesky root L (dof, dof) of Z'M Z, and whether that is positive definite."""
    root = new_root(Z.shape[1])
    return root, cholesky(product(Z.T, product(M, Z)), root)


@kernel(allocates=True)
def reduced_coordinates(Z, c, M, root, vdot):
    """Coordinates y (dof,) of the admissible acceleration c + Z L'^-1 y that is nearest to vdot in the metric of M."""
    n, dof = Z.shape
    y = np.zeros(dof)
    for i in range(n):
        force = 0.0
        for k in range(n):
            force += M[i, k] * (vdot[k] - c[k])
        for j in range(dof):
            y[j] += Z[i, j] * force
    forward(root, y)
    return y


@kernel(allocates=True)
def admissible_acceleration(Z, c, root, y):
    """Acceleration a (n,) = c + Z L'^-1 y."""
    z = y.copy()
    backward(root, z)
    a = c.copy()
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            a[i] += Z[i, j] * z[j]
    return a


@kernel(allocates=True)
def reduced_rows(Z, c, M, own, J, target):
    """Matrix Y (k, dof) and r (k,) with Y y - r = J a - target, and the mobility J M^-1 J' (k, k) without the loops."""
    k, n = J.shape
    Y, rest, free, root = product(J, Z), target.copy(), J.copy(), new_root(n)
    cholesky(M, root)
    for i in range(k):
        for m in range(n):
            rest[i] -= J[i, m] * c[m]
        forward(own, Y[i])
        forward(root, free[i])
    return Y, rest, product(free, free.T)


@kernel(allocates=True)
def gauss_rows(Y, rest, mobility, least):
    """Rows Y (m, dof) and r (m,) scaled to the metric (J M^-1 J')^-1 of Gauss' principle for J a - target.

    Rows of the task that move by less than `least` are left out; rows that are almost equal count as one.
    """
    size = np.sqrt(np.maximum(np.diag(mobility), 0.0))
    some = np.flatnonzero(size > least)
    k = some.size
    alike, V = np.empty((k, k)), np.empty((k, k))
    for i in range(k):
        for j in range(k):
            alike[i, j] = mobility[some[i], some[j]] / (size[some[i]] * size[some[j]])
    values = singular_values(alike, V)  # of a symmetric matrix, none of them negative
    m = 0
    while m < k and values[m] > 1e-12:  # squares: rows that differ by less than 1e-6 count as one
        m += 1
    out, right = np.zeros((m, Y.shape[1])), np.zeros(m)
    for i in range(m):
        for j in range(k):
            weight = V[j, i] / (np.sqrt(values[i]) * size[some[j]])
            right[i] += weight * rest[some[j]]
            for c in range(Y.shape[1]):
                out[i, c] += weight * Y[some[j], c]
    return out, right


@kernel(allocates=True)
def damped_solution(Y, rest, part, size, least):
    """Smallest y (dof,) that brings Y y nearest to rest, damped; and V (dof, dof) and s (dof,) of Y = U s V'.

    A singular value s below tau, `part` of the largest or of `size`, counts with s/tau^2 in place of 1/s; one that is
    not above `least` is ignored.
    """
    X, V = Y.copy(), np.empty((Y.shape[1], Y.shape[1]))
    s = singular_values(X, V)
    y = np.zeros(s.size)
    tau = part * max(size, s.max()) if s.size > 0 else 0.0
    for j in range(s.size):
        if s[j] > least:
            share = 0.0
            for i in range(X.shape[0]):
                share += X[i, j] * rest[i]
            share /= max(s[j], tau) ** 2
            for i in range(s.size):
                y[i] += share * V[i, j]
    return y, V, s


# -- what motors reach --------------------------------------------------------------------------------


@kernel(allocates=True)
def singular_values(X, V):
    """Singular values (n,) of X (m, n), largest first; X becomes X V with the orthogonal V (n, n), its columns U s.

    One-sided Jacobi: pairs of columns are turned until all are orthogonal to rounding, also those that are tiny. Only
    what is below 1e-25 of all of X, the rounding of a rounding, is left: columns of a null space never are orthogonal.
    """
    m, n = X.shape
    least = 1e-50 * (X**2).sum()
    V[:] = 0.0
    for j in range(n):
        V[j, j] = 1.0
    for _ in range(60):  # sweeps; it takes some five
        turned = False
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = 0.0, 0.0, 0.0
                for k in range(m):
                    a += X[k, i] * X[k, i]
                    b += X[k, j] * X[k, j]
                    c += X[k, i] * X[k, j]
                if abs(c) <= 1e-15 * np.sqrt(a) * np.sqrt(b) or min(a, b) <= least:
                    continue
                turned = True
                half = 0.5 * (b - a) / c
                t = 1.0 / (abs(half) + np.sqrt(1.0 + half * half))
                t = t if half >= 0.0 else -t
                cosine = 1.0 / np.sqrt(1.0 + t * t)
                turn_columns(X, i, j, cosine, t * cosine)
                turn_columns(V, i, j, cosine, t * cosine)
        if not turned:
            break
    s = np.empty(n)
    for j in range(n):
        s[j] = np.sqrt((X[:, j] ** 2).sum())
    for j in range(1, n):
        i = j
        while i > 0 and s[i - 1] < s[i]:
            s[i - 1], s[i] = s[i], s[i - 1]
            turn_columns(X, i - 1, i, 0.0, -1.0)
            turn_columns(V, i - 1, i, 0.0, -1.0)
            i -= 1
    return s


@kernel
def turn_columns(X, i, j, cosine, sine):
    """Turn columns i and j of X in their plane, in place."""
    for k in range(X.shape[0]):
        x, y = X[k, i], X[k, j]
        X[k, i] = cosine * x - sine * y
        X[k, j] = sine * x + cosine * y


@kernel(allocates=True)
def active_subspace(B, tolerance):
    """Orthonormal basis U (n, r) of R(B), and G (nu, r) with B G = U: the smallest efforts that give it.

    Gears and units of efforts are the user's: motors are compared by their own columns when dependent ones are found.
    """
    n, nu = B.shape
    X, V = np.zeros((n, nu)), np.empty((nu, nu))
    for j in range(nu):
        size = np.sqrt((B[:, j] ** 2).sum())
        for i in range(n):
            X[i, j] = B[i, j] / size if size > 0.0 else 0.0
    s = singular_values(X, V)
    r = 0
    while r < nu and s[r] > tolerance:
        r += 1
    U = np.empty((n, r))
    for j in range(r):
        for i in range(n):
            U[i, j] = X[i, j] / s[j]
    return U, smallest_solutions(product(U.T, B), np.eye(r)).T.copy()


@kernel(allocates=True)
def reached_motions(L, inverse, Z, B, dependent, least):
    """Cosines between admissible motions and motors in the metric L L' of the velocities, with their directions.

    Returns cosines s (dof,), largest first; motions in scaled coordinates (n, dof) and as velocities (n, dof); the
    forces (n, dof) of the motors that move them, of length one; and the smallest efforts (nu, dof) for these forces.
    Cosines below `least` are zero, with no force and no efforts.
    """
    dof = Z.shape[1]
    motions, V = product(L.T, Z), np.empty((dof, dof))
    lengths = singular_values(motions, V)
    for j in range(dof):
        for i in range(motions.shape[0]):
            motions[i, j] /= lengths[j]
    U, G = active_subspace(product(inverse, B), dependent)
    pushed = product(U.T, motions)
    s = singular_values(pushed, V)
    for j in range(dof):
        for i in range(pushed.shape[0]):
            pushed[i, j] = pushed[i, j] / s[j] if s[j] >= least else 0.0
        s[j] = min(s[j], 1.0) if s[j] >= least else 0.0
    motions = product(motions, V)
    return s, motions, product(inverse.T, motions), product(L, product(U, pushed)), product(G, pushed)

"""Reduction of a constrained system to independent coordinates: the local state-space form to first order.

Independent coordinates y (p,), as many as there are degrees of freedom, change by dy = R delta with a small
displacement q [+] delta, and have the velocities y_v = R v. The row R of a cut joint's coordinate depends on the
configuration. Its velocity and its acceleration then have derivatives of their own: rate_q = d(R v)/dq,
accel_q = d(R a + R' v)/dq and accel_v = d(R' v)/dv.

A change of state that stays on the manifold fulfils A delta = 0 and A dv + d(A v)/dq delta = 0. So it is

    delta = K y,           [R; A] K = [1; 0],
    dv = K y_v + N y,      [R; A] N = -[rate_q K; d(A v)/dq K],

with y and y_v for the changes. With F = M a + h + A' lam - B u and C = A a + b, the equations of motion M a + h +
A' lam = B u and A a + b = 0 change by

    M da + A' dlam = B du - F_q delta - F_v dv,    A da = -C_q delta - C_v dv.

One row of the inverse of this system belongs to each coordinate: R da = G f - mu c for M da + A' dlam = f, A da = -c,
where M G' + A' mu' = R' and A G' = 0. Two adjoint solves a coordinate replace one solve for every column. With

    L_q = G F_q + mu C_q - accel_q,    L_v = G F_v + mu C_v - accel_v

follows the local state-space form (Spencer, eq. 4.10b; his K' is N)

    dy/dt = R v + factor R ad_v K y + y_v,
    dy_v/dt = R a + R' v - (L_q K + L_v N) y - L_v K y_v + G B du.

The bracket ad_v of the joints' Lie algebras is zero for one-axis joints. Velocities of the others are body-fixed, so
that y_v is not dy/dt: factor is -1/2 in a chart fixed at the point, -1 for deviations from the moving trajectory.
R' v is quadratic in v, half of what accel_v gives. Redundant rows of A change nothing.

Friction in proportion to what constraints carry adds D' c to F, with c = N(lam) (`kernels.friction`): its slopes at
fixed c are part of those of F, and the change of c is a change of low rank of the inverse, so of G and mu (`rub`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .._tolerance import DEPENDENT
from .arrays import copy
from .constrained import (
    FAILED,
    generalized_force,
    mass_split,
    multipliers,
    new_work,
    solve_forced,
    solve_motion,
    update_position,
    update_velocity,
)
from .derivatives import new_carried, new_pair, new_slopes, null_space, slopes
from .friction import correct_rows, load_slopes
from .layout import FREE, PLANAR, SPHERICAL
from .split import backward, forward, new_root, new_rows, solve_head, solve_multipliers, to_head, to_space

__all__ = ["DEPENDENT_COORDINATES", "WRONG_COUNT", "CoordinateRows", "add_joint_bracket", "reduce", "state_space"]

WRONG_COUNT = FAILED - 1  # in place of a rank: there are not as many coordinates as degrees of freedom
DEPENDENT_COORDINATES = FAILED - 2  # in place of a rank: the coordinates do not determine the motion


@bundle
class CoordinateRows(NamedTuple):
    """Coordinates to first order: dy = R delta, dy_v = R dv + rate_q delta, and the same for accelerations.

    Rows that are combinations of velocity coordinates have constant R, and zeros elsewhere; the coordinate of a cut
    joint changes its row with the configuration.

    Attributes
    ----------
    R, rate_q, accel_q, accel_v : ndarray, shape (p, nv)
    constant : ndarray of bool, shape (p,)
        Rows with a constant R.
    """

    R: np.ndarray
    rate_q: np.ndarray
    accel_q: np.ndarray
    accel_v: np.ndarray
    constant: np.ndarray


@kernel
def add_joint_bracket(links, v, x, scale, out):
    """out += scale * ad_v x, joint by joint: the brackets of the joints' Lie algebras; zero where axes commute."""
    for i in range(links.shape[0]):
        kind, k = links[i].kind, links[i].iv
        if kind == PLANAR:
            out[k] += scale * (v[k + 1] * x[k + 2] - v[k + 2] * x[k + 1])
            out[k + 1] += scale * (v[k + 2] * x[k] - v[k] * x[k + 2])
        elif kind == SPHERICAL or kind == FREE:
            out[k] += scale * (v[k + 1] * x[k + 2] - v[k + 2] * x[k + 1])
            out[k + 1] += scale * (v[k + 2] * x[k] - v[k] * x[k + 2])
            out[k + 2] += scale * (v[k] * x[k + 1] - v[k + 1] * x[k])
            if kind == FREE:
                for c in range(3):  # w x dx + x x dw
                    d, e = (c + 1) % 3, (c + 2) % 3
                    out[k + 3 + c] += scale * (v[k + d] * x[k + 3 + e] - v[k + e] * x[k + 3 + d])
                    out[k + 3 + c] += scale * (v[k + 3 + d] * x[k + e] - v[k + 3 + e] * x[k + d])


@kernel
def invert_small(X, Y):
    """Y = inverse of X by elimination with pivoting, X is overwritten; False where X is singular.

    The rows of X are the parts of unit vectors in a subspace: what is left of them is compared with one.
    """
    n = X.shape[0]
    Y[:] = 0.0
    for i in range(n):
        Y[i, i] = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(X[i, k]) > abs(X[best, k]):
                best = i
        if not abs(X[best, k]) > DEPENDENT:
            return False
        for c in range(n):
            X[k, c], X[best, c] = X[best, c], X[k, c]
            Y[k, c], Y[best, c] = Y[best, c], Y[k, c]
        factor = 1.0 / X[k, k]
        for c in range(n):
            X[k, c] *= factor
            Y[k, c] *= factor
        for i in range(n):
            factor = X[i, k]
            if i != k and factor != 0.0:
                for c in range(n):
                    X[i, c] -= factor * X[k, c]
                    Y[i, c] -= factor * Y[k, c]
    return True


@kernel
def add_product(x, Y, out):
    """out += x Y, for a row x; zero entries of x cost nothing."""
    for k in range(x.shape[0]):
        if x[k] != 0.0:
            for c in range(out.shape[0]):
                out[c] += x[k] * Y[k, c]


@kernel(allocates=True)
def adjoint_rows(scale, root, split, rank, R, K, G, mu):
    """Compute K' (p, nv), G (p, nv) and mu (p, rows) of the coordinates R; False where these are dependent.

    In mass coordinates the tail of R is R Z', and its head, carried back to the rows, is mu.
    """
    p, nv = R.shape
    Z = np.empty((p, nv))
    null_space(root, split, rank, Z)
    x = np.empty(nv)
    tails, inverse, sizes = np.empty((p, p)), np.empty((p, p)), np.empty(p)
    for i in range(p):
        copy(R[i], x)
        forward(root, x)
        s = 0.0
        for k in range(nv):
            s += x[k] * x[k]
        sizes[i] = np.sqrt(s)
        to_head(split, rank, x)
        solve_multipliers(split, rank, x, mu[i])
        for r in range(mu.shape[1]):
            mu[i, r] *= scale[r]
        G[i] = 0.0
        for j in range(p):
            tails[i, j] = x[rank + j]
        add_product(tails[i], Z, G[i])
        for j in range(p):
            tails[i, j] /= sizes[i] if sizes[i] > 0.0 else 1.0
    if not invert_small(tails, inverse):
        return False
    for i in range(p):  # K = Z' (R Z')^-1
        K[i] = 0.0
        for j in range(p):
            for c in range(nv):
                K[i, c] += inverse[j, i] / sizes[i] * Z[j, c]
    return True


@kernel(allocates=True)
def reduce_split(links, scale, root, split, rank, d, B, v, a, rows, factor, D, loads):
    """Local state-space form from the slopes d of the equations of motion, and a split of A in the metric of M.

    D (k, nv) and loads (k, rows) are the forces of unit loads of friction, and the slopes of the loads.

    Returns
    -------
    A (2p, 2p), B (2p, nu), drift (2p,) : arrays
    K, N, G : arrays (p, nv)
        Transposed: rows belong to y.
    rank : int
        As given, FAILED too; WRONG_COUNT where p is not the number of degrees of freedom, DEPENDENT_COORDINATES where
        the coordinates are not independent.
    """
    R = rows.R
    p, nv = R.shape
    A_y, B_y, drift = np.zeros((2 * p, 2 * p)), np.zeros((2 * p, B.shape[1])), np.empty(2 * p)
    K, N, G, mu = np.empty((p, nv)), np.zeros((p, nv)), np.empty((p, nv)), np.empty((p, scale.shape[0]))
    if rank != FAILED and p != nv - rank:
        rank = WRONG_COUNT
    if rank >= 0 and not adjoint_rows(scale, root, split, rank, R, K, G, mu):
        rank = DEPENDENT_COORDINATES
    if rank < 0:
        return A_y, B_y, drift, K, N, G, rank
    if D.shape[0] > 0:
        rub(scale, root, split, rank, D, loads, G, mu)
    target = np.empty(scale.shape[0])
    for i in range(p):
        rate_target(scale, d, K[i], target)
        solve_head(split, rank, target, N[i])
        to_space(split, rank, N[i])
        backward(root, N[i])
    assemble(links, d, B, v, a, rows, factor, K, N, G, mu, A_y, B_y, drift)
    return A_y, B_y, drift, K, N, G, rank


@kernel(allocates=True)
def rub(scale, root, split, rank, D, loads, G, mu):
    """Add the friction D' c, dc = loads dlam, to G and mu, in place; see `friction.correct_rows`."""
    k, nv, p, rows = D.shape[0], D.shape[1], G.shape[0], scale.shape[0]
    rhs, head, reply, pivot = np.zeros(rows), np.empty(nv), np.empty(nv), np.empty(k)
    reply_lam, unit_a, unit_lam = np.empty((k, rows)), np.zeros((k, nv)), np.empty((k, rows))
    for j in range(k):
        for c in range(nv):
            reply[c] = -D[j, c]
        solve_forced(root, split, rank, rhs, reply, head)
        multipliers(scale, split, rank, head, reply_lam[j])
    for j in range(k):
        for r in range(rows):
            rhs[r] = scale[r] * loads[j, r]
        solve_forced(root, split, rank, rhs, unit_a[j], head)
        multipliers(scale, split, rank, head, unit_lam[j])
    correct_rows(loads, D, reply_lam, unit_a, unit_lam, np.empty((k, k + p)), pivot, G, mu)


@kernel
def rate_target(scale, d, k, target):
    """target = -d(A v)/dq k, in metres: the value of A dv where the configuration changes by k."""
    for r in range(target.shape[0]):
        s = 0.0
        for c in range(k.shape[0]):
            s -= d.r_q[r, c] * k[c]
        target[r] = scale[r] * s


@kernel(allocates=True)
def assemble(links, d, B, v, a, rows, factor, K, N, G, mu, A_y, B_y, drift):
    """Compute A_y, B_y and drift of the local state-space form from K, N, G and mu; N is completed in place.

    A_y and B_y are zero before. The docstring of the module has the equations. N (p, nv) fulfils A N' = -d(A v)/dq K'
    as it is given, and [R; A] N' as it is returned.
    """
    R = rows.R
    p, nv = R.shape
    L_q, L_v, brackets, along = np.zeros((p, nv)), np.zeros((p, nv)), np.zeros((p, nv)), np.empty(p)
    for i in range(p):
        add_product(G[i], d.f_q, L_q[i])
        add_product(mu[i], d.c_q, L_q[i])
        add_product(G[i], d.f_v, L_v[i])
        add_product(mu[i], d.c_v, L_v[i])
        add_product(G[i], B, B_y[p + i])
        if not rows.constant[i]:
            for k in range(nv):
                L_q[i, k] -= rows.accel_q[i, k]
                L_v[i, k] -= rows.accel_v[i, k]
        add_joint_bracket(links, v, K[i], factor, brackets[i])
    for i in range(p):  # R N = -rate_q K
        for j in range(p):
            along[j] = 0.0
            for k in range(nv):
                along[j] -= R[j, k] * N[i, k]
            if not rows.constant[j]:
                for k in range(nv):
                    along[j] -= rows.rate_q[j, k] * K[i, k]
        add_product(along, K, N[i])
    for i in range(p):
        drift[i], drift[p + i] = 0.0, 0.0
        for k in range(nv):
            drift[i] += R[i, k] * v[k]
            drift[p + i] += R[i, k] * a[k]
        if not rows.constant[i]:
            for k in range(nv):
                drift[p + i] += 0.5 * rows.accel_v[i, k] * v[k]
        for j in range(p):
            s11, s21, s22 = 0.0, 0.0, 0.0
            for k in range(nv):
                s11 += R[i, k] * brackets[j, k]
                s21 -= L_q[i, k] * K[j, k] + L_v[i, k] * N[j, k]
                s22 -= L_v[i, k] * K[j, k]
            # y_v of a row that is not constant is the rate of its coordinate
            A_y[i, j], A_y[p + i, j], A_y[p + i, p + j] = s11 if rows.constant[i] else 0.0, s21, s22
        A_y[i, p + i] = 1.0


@kernel(allocates=True)
def reduce(links, M, A, scale, unit_lengths, d, B, v, a, rows, factor, tolerance, rank, D, loads):
    """Local state-space form from the slopes d, M and A, where A has the given rank; returns as `reduce_split`.

    The rank is FAILED where M is not positive definite.
    """
    root, split = new_root(M.shape[0]), new_rows(A.shape[0], A.shape[1])
    rank = mass_split(M, A, scale, unit_lengths, 1.0, tolerance, rank, root, split)
    return reduce_split(links, scale, root, split, rank, d, B, v, a, rows, factor, D, loads)


@kernel(allocates=True)
def state_space(model, q, v, u, R, factor, tolerance, cap):
    """The local state-space form to first order at (q, v), for y = R (q [-] q0), y_v = R v with a constant R (dof, nv).

    Returns
    -------
    A (2p, 2p), B (2p, nu), drift (2p,) : arrays
    K, N, G : arrays (p, nv)
        Transposed: rows belong to y.
    a, lam : arrays (nv,), (rows,)
        Acceleration, and multipliers of pivot rows.
    rank : int
        Rank of A, or FAILED, WRONG_COUNT, DEPENDENT_COORDINATES.
    """
    p, nv = R.shape
    rows = model.rows.shape[0]
    a, lam, f = np.empty(nv), np.empty(rows), np.empty(nv)
    w = new_work(model)
    d = new_slopes(model)
    rank = update_position(model, q, w, tolerance, cap)
    if rank != FAILED:
        update_velocity(model, q, v, w)
        generalized_force(model, u, w, f)
        for i in range(rows):
            w.b[i] = -w.b[i]
        solve_motion(model, q, v, w, rank, f, w.b, a)
        multipliers(model.scale, w.rows, rank, w.z, lam)
        slopes(model, w, q, v, a, lam, u, new_pair(nv), new_carried(model), d)
    zero = np.zeros((p, nv))
    constant = CoordinateRows(R, zero, zero, zero, np.ones(p, np.bool_))
    s = w.friction
    loads = np.empty((s.level.shape[0], rows))
    load_slopes(s.first, s.count, s.side, lam, loads)
    A, B, drift, K, N, G, rank = reduce_split(
        model.links, model.scale, w.root, w.rows, rank, d, w.B, v, a, constant, factor, s.D, loads
    )
    return A, B, drift, K, N, G, a, lam, rank

"""Derivatives of the equations of motion.

Positions move by q [+] delta, on the right of each joint. A small displacement of coordinate l
carries all that lies beyond it by the twist S_l: screws turn as ``dS_k/dq_l = S_l x S_k`` (joint l's
own included), points and directions fixed on a link as with the velocity S_l, wrenches fixed on a
link as ``S_l x* g``. All forces at rest are weights, and wrenches g that act on a link b and, turned
round, on a link a: springs, loop rows, drives across cut joints. With the sign s_k = +1 for
coordinates on the path to b and -1 on the path to a (the common part of the paths cancels),

    tau_k = s_k S_k . g      d tau_k/dq_l = s_k ([l carries k] (S_l x S_k) . g + S_k . d_l g)

where d_l g is the change of the wrench when coordinate l carries its one end. For loop rows it
comes from `loops.row_wrench_rate`, which takes twists of the links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import kernel
from .constrained import FAILED, new_work, update_position, update_velocity
from .forces import drive_matrix, spring_line
from .layout import ROW_COUPLING, SPRING_JOINT
from .loops import path_projection, row_wrench_rate
from .spatial import cross_force, cross_motion, dot6, rotate, screw_at, transform_point
from .split import backward, to_space

__all__ = [
    "add_stiffness",
    "equilibrium_terms",
    "static_stiffness",
]


class Pair(NamedTuple):
    """Scratch for the wrench between two links: what moves the one relative to the other, and how it changes."""

    coordinate: np.ndarray  # (nv,) velocity coordinates between the two links
    link: np.ndarray  # (nv,) the link that the coordinate carries
    side: np.ndarray  # (nv,) +1 on the path to b, -1 on the path to a
    g: np.ndarray  # (6,) wrench
    dg: np.ndarray  # (nv, 6) its derivatives, in the order of `coordinate`


@kernel(inline=True)
def new_pair(nv):
    """Scratch of the right size."""
    return Pair(np.empty(nv, np.int64), np.empty(nv, np.int64), np.empty(nv), np.empty(6), np.empty((nv, 6)))


@kernel
def set_path(links, a, b, pair):
    """List the coordinates that move link b relative to link a; returns their number."""
    n = 0
    while a != b:
        i = max(a, b)  # parents stand before their children
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            pair.coordinate[n] = k
            pair.link[n] = i
            pair.side[n] = 1.0 if i == b else -1.0
            n += 1
        if i == b:
            b = links[b].parent
        else:
            a = links[a].parent
    return n


@kernel
def add_pair_stiffness(S, pair, n, scale, K):
    """K += scale * d/dq of the joint forces of a wrench between two links."""
    turned = np.empty(6)
    for i in range(n):
        k = pair.coordinate[i]
        for j in range(n):
            l = pair.coordinate[j]
            s = dot6(S[k], pair.dg[j])
            if pair.side[i] == pair.side[j] and pair.link[j] <= pair.link[i]:  # l carries k
                turned[:] = 0.0
                cross_motion(S[l], S[k], turned)
                s += dot6(turned, pair.g)
            K[k, l] += scale * pair.side[i] * s


@kernel(inline=True)
def add_gravity_stiffness(links, composite, S, gravity, K):
    """K += d/dq of the weights, whose joint forces are tau_k = -gamma . c_k, c_k = w_k x mc + m v_k.

    gamma is gravity, mc and m belong to all that joint k carries, and c_k is how k shifts mc. Where
    coordinate l carries k (or is on its joint), c_k turns with it: d tau_k/dq_l = -gamma . (w_l x c_k).
    For l on another joint d tau_l/dq_k is the same, for k shifts the mc of l by c_k.
    """
    c = np.empty(3)
    t = np.empty(3)
    for i in range(links.shape[0]):
        I = composite[i]
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            s = S[k]
            c[0] = s[1] * I[3] - s[2] * I[2] + I[0] * s[3]
            c[1] = s[2] * I[1] - s[0] * I[3] + I[0] * s[4]
            c[2] = s[0] * I[2] - s[1] * I[1] + I[0] * s[5]
            t[0] = gravity[1] * c[2] - gravity[2] * c[1]
            t[1] = gravity[2] * c[0] - gravity[0] * c[2]
            t[2] = gravity[0] * c[1] - gravity[1] * c[0]
            j = i
            while j >= 0:
                for l in range(links[j].iv, links[j].iv + links[j].nv):
                    stiffness = S[l, 0] * t[0] + S[l, 1] * t[1] + S[l, 2] * t[2]
                    K[k, l] += stiffness
                    if j != i:
                        K[l, k] += stiffness
                j = links[j].parent


@kernel(inline=True)
def add_loop_stiffness(model, E, wrenches, S, lam, V, pair, K):
    """K += d(A' lam)/dq, the stiffness of the constraint forces. V (links, 6) is scratch.

    Couplings have a constant row of A and add nothing.
    """
    V[:] = 0.0
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        if row.kind == ROW_COUPLING or lam[i] == 0.0:
            continue
        n = set_path(model.links, row.a, row.b, pair)
        pair.g[:] = wrenches[i]
        for j in range(n):
            moved = row.b if pair.side[j] > 0.0 else row.a
            V[moved] = S[pair.coordinate[j]]
            row_wrench_rate(row, E[i], V, wrenches[i], pair.dg[j])
            V[moved] = 0.0
        add_pair_stiffness(S, pair, n, lam[i], K)


@kernel(inline=True)
def add_spring_stiffness(model, R, p, S, pair, K):
    """K += d/dq of the springs.

    The tension T = k (length - rest) pulls along e = d/length, d = p_b - p_a. When an end moves by x,
    d(T e) = k e (e . x) + (T/length) (x - e (e . x)), and the wrench is that force at p_b.
    """
    pa, pb = np.empty(3), np.empty(3)
    x, df, push = np.empty(3), np.empty(3), np.empty(6)
    for i in range(model.springs.shape[0]):
        spring = model.springs[i]
        if spring.kind == SPRING_JOINT:
            K[spring.iv, spring.iv] += spring.stiffness
            continue
        length = spring_line(spring, R, p, pa, pb, pair.g)
        e = pair.g[3:].copy()
        tension = spring.stiffness * (length - spring.rest)
        across = spring.stiffness  # T/length; without a length at rest also where the length is zero
        if spring.rest != 0.0:
            across = tension / length if length > 0.0 else np.nan
        for c in range(6):
            pair.g[c] *= tension
        n = set_path(model.links, spring.a, spring.b, pair)
        for j in range(n):
            s = S[pair.coordinate[j]]
            end = pb if pair.side[j] > 0.0 else pa
            x[0] = s[1] * end[2] - s[2] * end[1] + s[3]
            x[1] = s[2] * end[0] - s[0] * end[2] + s[4]
            x[2] = s[0] * end[1] - s[1] * end[0] + s[5]
            along = e[0] * x[0] + e[1] * x[1] + e[2] * x[2]
            for c in range(3):
                df[c] = pair.side[j] * ((spring.stiffness - across) * along * e[c] + across * x[c])
            screw_at(pb, df, pair.dg[j])
            if pair.side[j] > 0.0:  # the force moves along with p_b
                screw_at(x, pair.g[3:], push)
                for c in range(3):
                    pair.dg[j, c] += push[c]
        add_pair_stiffness(S, pair, n, 1.0, K)


@kernel(inline=True)
def add_drive_stiffness(model, R, p, S, u, pair, K):
    """K -= d(B u)/dq of drives across cut joints: their wrench is fixed on link a; other columns are constant."""
    point, line, turn = np.empty(3), np.empty(3), np.empty(3)
    for i in range(model.drives.shape[0]):
        drive = model.drives[i]
        if drive.iv >= 0 or u[i] == 0.0:
            continue
        if drive.a < 0:
            point[:] = drive.pa
            line[:] = drive.linear
            turn[:] = drive.angular
        else:
            transform_point(R[drive.a], p[drive.a], drive.pa, point)
            rotate(R[drive.a], drive.linear, line)
            rotate(R[drive.a], drive.angular, turn)
        screw_at(point, line, pair.g)
        for c in range(3):
            pair.g[c] += turn[c]
        n = set_path(model.links, drive.a, drive.b, pair)
        for j in range(n):
            pair.dg[j] = 0.0
            if pair.side[j] < 0.0:
                cross_force(S[pair.coordinate[j]], pair.g, pair.dg[j])
        add_pair_stiffness(S, pair, n, -drive.gear * u[i], K)


@kernel
def add_stiffness(model, w, lam, u, K):
    """K += d/dq [h(q, 0) + A'lam - B u], from a `Work` that is up to date with q. Overwrites w.V."""
    pair = new_pair(K.shape[0])
    add_gravity_stiffness(model.links, w.composite, w.S, model.gravity, K)
    add_spring_stiffness(model, w.R, w.p, w.S, pair, K)
    add_loop_stiffness(model, w.E, w.wrenches, w.S, lam, w.V, pair, K)
    add_drive_stiffness(model, w.R, w.p, w.S, u, pair, K)


@kernel
def static_stiffness(model, q, lam, u):
    """Stiffness at rest, K (nv, nv) = d/dq [h(q, 0) + A(q)' lam - B(q) u], for q [+] delta.

    Gravity, springs, constraint forces (Spencer 4.3, with the loops' part that his tree leaves to
    dK'/dy) and drives across cut joints. Not symmetric where a joint has several axes: it is the
    derivative of the joint forces, and the axes of such a joint turn with it.
    """
    w = new_work(model)
    update_position(model, q, w, 0.0, 0)
    K = np.zeros_like(w.M)
    add_stiffness(model, w, lam, u, K)
    return K


@kernel(inline=True)
def damping_matrix(model, R, p, S, D):
    """D (nv, nv) = dh/dv at v = 0: joint friction, joint dampers, point dampers c J'J.

    The other forces that depend on velocity are quadratic in it.
    """
    D[:] = 0.0
    nv = D.shape[0]
    for k in range(nv):
        D[k, k] = model.damping[k]
    pa, pb, g, J = np.empty(3), np.empty(3), np.empty(6), np.empty(nv)
    for i in range(model.springs.shape[0]):
        spring = model.springs[i]
        if spring.kind == SPRING_JOINT:
            D[spring.iv, spring.iv] += spring.damping
        elif spring.damping != 0.0:
            spring_line(spring, R, p, pa, pb, g)
            J[:] = 0.0  # rate of the length = J v
            path_projection(model.links, spring.a, spring.b, g, S, J)
            for k in range(nv):
                for l in range(nv):
                    D[k, l] += spring.damping * J[k] * J[l]


@kernel(inline=True)
def null_space(w, rank, Z):
    """Z (dof, nv): rows span the admissible velocities, A z = 0, orthonormal in the metric of M: Z M Z' = 1."""
    Z[:] = 0.0
    for i in range(Z.shape[0]):
        Z[i, rank + i] = 1.0
        to_space(w.G, w.tau, rank, Z[i])
        backward(w.L, Z[i])


@kernel
def equilibrium_terms(model, q, lam, u, tolerance):
    """All that the linear model at rest needs, in one call.

    Returns
    -------
    M, A, B : arrays
        Mass matrix, constraint Jacobian, drive matrix.
    K, D : arrays (nv, nv)
        d/dq [h + A' lam - B u] and dh/dv at v = 0.
    Z : array (dof, nv)
        Admissible velocities, orthonormal in the metric of M.
    phi : array (rows,)
        Residual of the loops.
    h : array (nv,)
        Weights and springs.
    rank : int
        Rank of A, or FAILED where M is not positive definite.
    """
    w = new_work(model)
    nv = w.M.shape[0]
    rank = update_position(model, q, w, tolerance, nv)
    K = np.zeros((nv, nv))
    D = np.zeros((nv, nv))
    Z = np.empty((nv - max(rank, 0), nv))
    if rank == FAILED:
        return w.M, w.A, w.B, K, D, Z, w.phi, w.h, rank
    update_velocity(model, q, np.zeros(nv), w)
    drive_matrix(model, w.R, w.p, w.S, w.B)
    add_stiffness(model, w, lam, u, K)
    damping_matrix(model, w.R, w.p, w.S, D)
    null_space(w, rank, Z)
    return w.M, w.A, w.B, K, D, Z, w.phi, w.h, rank

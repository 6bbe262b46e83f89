"""Derivatives of the equations of motion at any state.

Positions move by q [+] delta, on the right of each joint. A displacement of coordinate l, of the joint
between link m and its parent p, carries all that lies beyond it by the twist S_l: screws turn as
``dS_k/dq_l = S_l x S_k`` (joint l's own included) and inertias with them. Seen from what is carried, a body j
beyond l changes its twist and its acceleration by

    d_l V_j - S_l x V_j = U_l                with  U_l = V_p x S_l
    d_l A_j - S_l x A_j = X_l - V_j x U_l    with  X_l = A_p x S_l + V_p x U_l

and a velocity of that coordinate (``dV_j/dv_l = S_l``) changes its acceleration by

    dA_j/dv_l = Y_l - V_j x S_l              with  Y_l = (V_m + V_p) x S_l.

So the wrench of a body, f = I A + V x* I V, changes (seen from what is carried) by I X_l + E U_l and by
I Y_l + E S_l, with the matrix E(U) = I (U x V) + V x* I U + U x* I V, and both I and E of all bodies beyond
a joint add up to those of a composite body (after Carpentier and Mansard, RSS 2018, and Singh, Russo
and Wensing, RA-L 2022; Spencer's recursions of section 4.3 give the same numbers one by one).

A loop row phi has the rate g . (V_b - V_a). With the same three vectors, and the sign s = +1 for coordinates on the
path to b, -1 on the path to a (the common part of the paths cancels),

    d phi/dq_l   = s g . S_l
    d phi'/dq_l  = s (g' . S_l + g . U_l)
    d phi''/dq_l = s (g'' . S_l + 2 g' . U_l + g . X_l)
    d phi''/dv_l = s (2 g' . S_l + g . Y_l),

for one-axis joints simply A', A'' and 2 A'. Gravity enters as an acceleration of the ground; rows do not feel it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel, scratch
from .arrays import copy
from .constrained import FAILED, new_work, update_position, update_velocity
from .constraint_rows import (
    measured,
    point_rate,
    rate_of_measure,
    relative_twist,
    row_wrench_rate,
    row_wrench_second_rate,
)
from .force_elements import OUTPUTS, SLOPES
from .forces import drive_matrix, load_wrench, spring_line
from .friction import load_of, load_slopes, unit_load_forces
from .inertia import inertia_times, newton_euler
from .layout import MEASURES, PLAIN, RESTING, ROW_COUPLING, ROW_FORMULA, SPRING_JOINT
from .spatial import cross_force, cross_motion, dot6, rotate, screw_at, transform_point
from .split import backward, to_space
from .tapes import SLOTS, run
from .tree import joint_screws, link_poses, twists

__all__ = [
    "Carried",
    "Slopes",
    "link_motion",
    "local_terms",
    "new_carried",
    "new_pair",
    "new_slopes",
    "null_space",
    "slopes",
]


# Outputs of the slopes of a formula row: three by each measure, and one by two of them.
FORMULA_SLOPES = 3 * MEASURES + MEASURES * MEASURES


@bundle
class Slopes(NamedTuple):
    """Derivatives of the equations of motion at a state; derivatives by q are by delta in q [+] delta."""

    f_q: np.ndarray  # (nv, nv) d/dq [M a + h + A'lam - B u]
    f_v: np.ndarray  # (nv, nv) d/dv of the same, dh/dv
    r_q: np.ndarray  # (rows, nv) d(A v)/dq
    c_q: np.ndarray  # (rows, nv) d(A a + b)/dq
    c_v: np.ndarray  # (rows, nv) d(A a + b)/dv


@bundle
class Carried(NamedTuple):
    """Vectors of links and coordinates that the derivatives are made of; the docstring of the module defines them."""

    acc: np.ndarray  # (links, 6) accelerations, gravity as one of the ground
    E: np.ndarray  # (links, 12) of the composite bodies: upper left 3 x 3 of E, linear momentum
    U: np.ndarray  # (nv, 6)
    X: np.ndarray  # (nv, 6)
    Y: np.ndarray  # (nv, 6)
    measures: np.ndarray  # (MEASURES, nv) Jacobian of the measures of a force element or of a row
    rates: np.ndarray  # (MEASURES, nv) derivatives of their rates by q
    accels: np.ndarray  # (MEASURES, nv) of their second rates by q, of a row that is a formula
    accel_rates: np.ndarray  # (MEASURES, nv) of the same by v


@kernel(allocates=True)
def new_slopes(model):
    """New `Slopes` of the right size for a model, filled with zeros."""
    rows, nv = model.rows.shape[0], model.damping.shape[0]
    return Slopes(
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((rows, nv)),
        np.zeros((rows, nv)),
        np.zeros((rows, nv)),
    )


@kernel(allocates=True)
def new_carried(model):
    """New scratch arrays `Carried` of the right size for a model."""
    links, nv = model.links.shape[0], model.damping.shape[0]
    measures = MEASURES if model.measures.shape[0] > 0 else 0
    return Carried(
        np.empty((links, 6)),
        np.empty((links, 12)),
        np.empty((nv, 6)),
        np.empty((nv, 6)),
        np.empty((nv, 6)),
        np.empty((measures, nv)),
        np.empty((measures, nv)),
        np.empty((measures, nv)),
        np.empty((measures, nv)),
    )


# -- bodies -------------------------------------------------------------------------------------------


@kernel
def carried_vectors(model, w, a, carried):
    """Compute link accelerations in w.A0, and acc, U, X and Y of `carried`, at the joint accelerations a.

    This replaces the bias accelerations in w.A0.
    """
    V, S = w.V, w.S
    acc, U, X, Y = carried.acc, carried.U, carried.X, carried.Y
    ground, still, twist = scratch(6), scratch(6), scratch(6)
    for c in range(3):
        still[c], still[3 + c] = 0.0, 0.0
        ground[c], ground[3 + c] = 0.0, -model.gravity[c]
    for i in range(model.links.shape[0]):
        link = model.links[i]
        p = link.parent
        Vp = still if p < 0 else V[p]
        Ap = ground if p < 0 else acc[p]
        # A_i = A_p + V_p x (V_i - V_p) + sum S_k a_k
        for c in range(6):
            twist[c] = V[i, c] - Vp[c]
            acc[i, c] = Ap[c]
        cross_motion(Vp, twist, acc[i])
        for c in range(6):
            twist[c] = V[i, c] + Vp[c]
        for k in range(link.iv, link.iv + link.nv):
            for c in range(6):
                acc[i, c] += S[k, c] * a[k]
                U[k, c], X[k, c], Y[k, c] = 0.0, 0.0, 0.0
            cross_motion(Vp, S[k], U[k])
            cross_motion(Ap, S[k], X[k])
            cross_motion(Vp, U[k], X[k])
            cross_motion(twist, S[k], Y[k])
        for c in range(3):
            w.A0[i, c] = acc[i, c]
            w.A0[i, 3 + c] = acc[i, 3 + c] + model.gravity[c]


@kernel
def composite_coriolis(links, I, V, E):
    """E (links, 12) = matrices E of the composite bodies (see the docstring of the module), by their entries.

    With the momentum P = m v + w x mc, and Q = tr(J)/2 - J, E has only the two left blocks
    ``-2 (w x) Q - 2 (mc x) (v x)`` and ``-2 (P x)``: no other part of its motion acts on a body.
    """
    for i in range(links.shape[0]):
        m, x, y, z = I[i, 0], I[i, 1], I[i, 2], I[i, 3]
        wx, wy, wz, vx, vy, vz = V[i, 0], V[i, 1], V[i, 2], V[i, 3], V[i, 4], V[i, 5]
        half = 0.5 * (I[i, 4] + I[i, 7] + I[i, 9])
        qxx, qyy, qzz = half - I[i, 4], half - I[i, 7], half - I[i, 9]
        qxy, qxz, qyz = -I[i, 5], -I[i, 6], -I[i, 8]
        # (c x)(v x) = v c' - (c . v) 1
        along = x * vx + y * vy + z * vz
        E[i, 0] = -2.0 * (wy * qxz - wz * qxy + vx * x - along)
        E[i, 1] = -2.0 * (wy * qyz - wz * qyy + vx * y)
        E[i, 2] = -2.0 * (wy * qzz - wz * qyz + vx * z)
        E[i, 3] = -2.0 * (wz * qxx - wx * qxz + vy * x)
        E[i, 4] = -2.0 * (wz * qxy - wx * qyz + vy * y - along)
        E[i, 5] = -2.0 * (wz * qxz - wx * qzz + vy * z)
        E[i, 6] = -2.0 * (wx * qxy - wy * qxx + vz * x)
        E[i, 7] = -2.0 * (wx * qyy - wy * qxy + vz * y)
        E[i, 8] = -2.0 * (wx * qyz - wy * qxz + vz * z - along)
        E[i, 9] = m * vx + wy * z - wz * y
        E[i, 10] = m * vy + wz * x - wx * z
        E[i, 11] = m * vz + wx * y - wy * x
    for i in range(links.shape[0] - 1, -1, -1):
        if links[i].parent >= 0:
            for c in range(12):
                E[links[i].parent, c] += E[i, c]


@kernel
def coriolis_times(E, U, out):
    """out += E U, for E as stored by `composite_coriolis`."""
    for r in range(3):
        out[r] += E[3 * r] * U[0] + E[3 * r + 1] * U[1] + E[3 * r + 2] * U[2]
    out[3] -= 2.0 * (E[10] * U[2] - E[11] * U[1])
    out[4] -= 2.0 * (E[11] * U[0] - E[9] * U[2])
    out[5] -= 2.0 * (E[9] * U[1] - E[10] * U[0])


@kernel
def add_body_slopes(links, w, carried, d):
    """Add the derivatives of Newton-Euler forces to d.f_q and d.f_v, from composites and the joint wrenches w.W.

    With l at or below k, d tau_k/dq_l = S_k . (S_l x* W_m + I X_l + E U_l), composites of link m; with l above k
    (or on its joint) the part with W cancels against the turn of S_k, and d tau_k/dq_l = S_k . (I X_l + E U_l),
    composites of k's link. The same with Y_l and S_l in place of X_l and U_l, without W, for velocities.
    """
    S = w.S
    p, e, by_q, by_v = scratch(6), scratch(3), scratch(6), scratch(6)
    for i in range(links.shape[0]):
        I, E = w.composite[i], carried.E[i]
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            s = S[k]
            for c in range(6):
                p[c], by_q[c], by_v[c] = 0.0, 0.0, 0.0
            inertia_times(I, s, p)  # I is symmetric; E' S_k = (e, 0)
            e[0] = E[0] * s[0] + E[3] * s[1] + E[6] * s[2] + 2.0 * (E[10] * s[5] - E[11] * s[4])
            e[1] = E[1] * s[0] + E[4] * s[1] + E[7] * s[2] + 2.0 * (E[11] * s[3] - E[9] * s[5])
            e[2] = E[2] * s[0] + E[5] * s[1] + E[8] * s[2] + 2.0 * (E[9] * s[4] - E[10] * s[3])
            inertia_times(I, carried.X[k], by_q)
            coriolis_times(E, carried.U[k], by_q)
            cross_force(s, w.W[i], by_q)
            inertia_times(I, carried.Y[k], by_v)
            coriolis_times(E, s, by_v)
            j = i
            while j >= 0:
                for l in range(links[j].iv, links[j].iv + links[j].nv):
                    U, t = carried.U[l], S[l]
                    d.f_q[k, l] += dot6(carried.X[l], p) + U[0] * e[0] + U[1] * e[1] + U[2] * e[2]
                    d.f_v[k, l] += dot6(carried.Y[l], p) + t[0] * e[0] + t[1] * e[1] + t[2] * e[2]
                    if j != i:
                        d.f_q[l, k] += dot6(t, by_q)
                        d.f_v[l, k] += dot6(t, by_v)
                j = links[j].parent


# -- wrenches between two links -----------------------------------------------------------------------


@bundle
class PairScratch(NamedTuple):
    """Scratch arrays for wrenches between two links: the coordinates between these, and the changes of the wrench."""

    coordinate: np.ndarray  # (nv,) velocity coordinates between the two links
    link: np.ndarray  # (nv,) the link that the coordinate carries
    side: np.ndarray  # (nv,) +1 on the path to b, -1 on the path to a
    g: np.ndarray  # (6,) wrench on b, turned round on a
    dg: np.ndarray  # (nv, 6) its change where the coordinate carries its end of it, in the order of `coordinate`


@kernel(allocates=True)
def new_pair(nv):
    """New scratch arrays `PairScratch` for nv velocity coordinates."""
    return PairScratch(np.empty(nv, np.int64), np.empty(nv, np.int64), np.empty(nv), np.empty(6), np.empty((nv, 6)))


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
    """K += scale * d/dq of the joint forces of a wrench between two links.

    tau_k = s_k S_k . g, so d tau_k/dq_l = s_k ((S_l x S_k) . g [l carries k] + S_k . d_l g), and the first is -S_k .
    (S_l x* g).
    """
    carried = scratch(6)
    for j in range(n):
        l = pair.coordinate[j]
        change = pair.dg[j]
        for c in range(6):
            carried[c] = 0.0
        cross_force(S[l], pair.g, carried)
        for c in range(6):
            carried[c] = change[c] - carried[c]
        for i in range(n):
            k = pair.coordinate[i]
            if pair.side[i] == pair.side[j] and pair.link[j] <= pair.link[i]:  # l carries k
                K[k, l] += scale * pair.side[i] * dot6(S[k], carried)
            else:
                K[k, l] += scale * pair.side[i] * dot6(S[k], change)


@kernel
def of_bodies(row):
    """Whether a row is geometric, between points and directions on two links: no coupling and no formula."""
    return row.kind != ROW_COUPLING and row.kind != ROW_FORMULA


@kernel
def add_loop_stiffness(model, E, wrenches, S, lam, pair, K):
    """K += d(A' lam)/dq, the stiffness of the constraint forces; rows between the same links go together.

    Couplings have a constant row of A and add nothing.
    """
    rate = scratch(6)
    rows = model.rows.shape[0]
    i = 0
    while i < rows:
        a, b, first = model.rows[i].a, model.rows[i].b, i
        i += 1
        if not of_bodies(model.rows[first]):
            continue
        while i < rows and of_bodies(model.rows[i]) and model.rows[i].a == a and model.rows[i].b == b:
            i += 1
        n = set_path(model.links, a, b, pair)
        pair.g[:] = 0.0
        for r in range(first, i):
            for c in range(6):
                pair.g[c] += lam[r] * wrenches[r, c]
        for j in range(n):
            s, change = S[pair.coordinate[j]], pair.dg[j]
            for c in range(6):
                change[c] = 0.0
            for r in range(first, i):  # as seen from a: for b's side the whole change
                if lam[r] != 0.0:
                    row_wrench_rate(model.rows[r], E[r], s, rate)
                    for c in range(6):
                        change[c] += pair.side[j] * lam[r] * rate[c]
            if pair.side[j] < 0.0:
                cross_force(s, pair.g, change)
        add_pair_stiffness(S, pair, n, 1.0, K)


@kernel
def add_row_slopes(model, w, carried, d, pair):
    """Set d.r_q, d.c_q and d.c_v of geometric loop rows; needs w.A0 at the joint accelerations."""
    V, A = w.V, w.A0
    T, a = scratch(6), scratch(6)
    n, last_a, last_b = 0, -2, -2
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        if row.kind == ROW_COUPLING or row.kind == ROW_FORMULA:
            continue
        if row.a != last_a or row.b != last_b:
            last_a, last_b = row.a, row.b
            n = set_path(model.links, last_a, last_b, pair)
            relative_twist(V, last_a, last_b, T)
            relative_twist(A, last_a, last_b, a)
            if last_a >= 0:
                cross_motion(T, V[last_a], a)  # its rate as seen from a
        set_row_slopes(model, row, w.E[i], w.wrenches[i], T, a, n, w, carried, pair, d.r_q[i], d.c_q[i], d.c_v[i])


@kernel
def set_row_slopes(model, row, e, g, T, a, n, w, carried, pair, r_q, c_q, c_v):
    """Derivatives (nv,) of the rate and second rate of a geometric row, for the n coordinates in `pair`.

    T is the relative twist of the row's links, a its rate seen from the first one.
    """
    S, V, A = w.S, w.V, w.A0
    g1, g2, seen = scratch(6), scratch(6), scratch(6)
    row_wrench_rate(row, e, T, seen)
    row_wrench_second_rate(row, e, T, a, g2)
    copy(seen, g1)
    if row.a >= 0:  # into the world: g' = V_a x* g + seen, and once more
        cross_force(V[row.a], g, g1)
        cross_force(V[row.a], g1, g2)
        cross_force(V[row.a], seen, g2)
        cross_force(A[row.a], g, g2)
    for j in range(n):
        l, s = pair.coordinate[j], pair.side[j]
        own = 2.0 * dot6(g1, S[l])
        r_q[l] = s * (0.5 * own + dot6(g, carried.U[l]))
        # X_l without gravity, which the rows do not feel: A_p x S_l with the true acceleration
        x = dot6(g, carried.X[l]) + gravity_power(model.gravity, S[l], g)
        c_q[l] = s * (dot6(g2, S[l]) + 2.0 * dot6(g1, carried.U[l]) + x)
        c_v[l] = s * (own + dot6(g, carried.Y[l]))


@kernel
def add_formula_slopes(model, w, q, v, a, lam, carried, d, pair):
    """Add all derivatives of rows that are formulas: the chain rule by z, dz/dt and d2z/dt2 of their measures.

    With f the coefficients of dz/dt, the second rate is c = f . d2z/dt2 + dz/dt' (df/dz) dz/dt. The slopes are those of
    f . dz/dt by z, of c by dz/dt, of c by z, and df/dz. Needs w.A0 at the joint accelerations.
    """
    if model.formulas.shape[0] == 0:
        return
    S, V, nv = w.S, w.V, v.shape[0]
    A, r_q, c_q, c_v = carried.measures, carried.rates, carried.accels, carried.accel_rates
    e, g, g1 = scratch((MEASURES, 5, 3)), scratch((MEASURES, 6)), scratch(6)
    T, rel, value, f = scratch(6), scratch(6), scratch(SLOTS), scratch(MEASURES)
    slope = scratch(FORMULA_SLOPES)
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        if row.kind != ROW_FORMULA:
            continue
        formula = model.formulas[row.formula]
        m = formula.count
        n = set_path(model.links, row.a, row.b, pair)
        for k in range(m):
            measure = model.measures[formula.first + k]
            value[k] = measured(model, measure, q, w.R, w.p, e[k], g[k])
            value[m + k] = rate_of_measure(model, measure, v, V, T, g[k])
            f[k] = 0.0
            for c in range(nv):
                A[k, c], r_q[k, c], c_q[k, c], c_v[k, c] = 0.0, 0.0, 0.0, 0.0
            if measure.kind == ROW_COUPLING:
                value[2 * m + k] = 0.0
                for c in range(nv):
                    A[k, c] = model.couplings_v[measure.coupling, c]
                    value[2 * m + k] += A[k, c] * a[c]
                continue
            relative_twist(V, row.a, row.b, T)
            relative_twist(w.A0, row.a, row.b, rel)
            row_wrench_rate(measure, e[k], T, g1)
            if row.a >= 0:
                cross_force(V[row.a], g[k], g1)
            value[2 * m + k] = dot6(g1, T) + dot6(g[k], rel)
            for j in range(n):
                A[k, pair.coordinate[j]] = pair.side[j] * dot6(g[k], S[pair.coordinate[j]])
            if row.a >= 0:
                cross_motion(T, V[row.a], rel)
            set_row_slopes(model, measure, e[k], g[k], T, rel, n, w, carried, pair, r_q[k], c_q[k], c_v[k])
        run(model.tape, model.numbers, formula.rate, formula.bias, value, 3 * m, f)
        for k in range(3 * m + m * m):
            slope[k] = 0.0
        run(model.tape, model.numbers, formula.slope, formula.end, value, 3 * m, slope)
        for k in range(m):
            measure = model.measures[formula.first + k]
            if measure.kind != ROW_COUPLING:
                add_row_stiffness(model.links, measure, e[k], g[k], S, lam[i] * f[k], pair, d.f_q)
            of_rate, of_speed, of_place = slope[k], slope[m + k], slope[2 * m + k]
            for c in range(nv):
                d.r_q[i, c] += f[k] * r_q[k, c] + of_rate * A[k, c]
                d.c_q[i, c] += f[k] * c_q[k, c] + of_place * A[k, c] + of_speed * r_q[k, c]
                d.c_v[i, c] += f[k] * c_v[k, c] + of_speed * A[k, c]
            for j in range(m):
                turn = lam[i] * slope[3 * m + k * m + j]
                for r in range(nv):
                    for c in range(nv):
                        d.f_q[r, c] += turn * A[k, r] * A[j, c]


@kernel
def gravity_power(gravity, S, g):
    """Term g . (gravity x S): g . X_l without gravity is g . X_l plus this term."""
    return (
        g[3] * (gravity[1] * S[2] - gravity[2] * S[1])
        + g[4] * (gravity[2] * S[0] - gravity[0] * S[2])
        + g[5] * (gravity[0] * S[1] - gravity[1] * S[0])
    )


@kernel
def add_spring_slopes(model, w, carried, d, pair):
    """Add the derivatives of springs, dampers and joint friction to d.f_q and d.f_v.

    A point spring pulls along e = x/length, x = p_b - p_a, with T = k (length - rest) + c rate, rate = g . (V_b -
    V_a) for g the wrench of e at p_b. Its rate changes like that of a row, and where an end moves by y, e by
    (y - e (e . y)) / length.
    """
    S, V = w.S, w.V
    nv = model.damping.shape[0]
    pa, pb, y, turn, push = scratch(3), scratch(3), scratch(3), scratch(3), scratch(6)
    T, unit, g1 = scratch(6), scratch(6), scratch(6)
    for k in range(nv):
        d.f_v[k, k] += model.damping[k]
    for i in range(model.springs.shape[0]):
        spring = model.springs[i]
        if spring.kind == SPRING_JOINT:
            d.f_q[spring.iv, spring.iv] += spring.stiffness
            d.f_v[spring.iv, spring.iv] += spring.damping
            continue
        length = spring_line(spring, w.R, w.p, pa, pb, unit)
        e = unit[3:]
        relative_twist(V, spring.a, spring.b, T)
        rate = dot6(T, unit)
        tension = spring.stiffness * (length - spring.rest) + spring.damping * rate
        # tension / length; without a length at rest and a damper also where the length is zero
        across = spring.stiffness
        if spring.rest != 0.0 or spring.damping != 0.0:
            across = tension / length if length > 0.0 else np.nan
        # rate of the unit wrench: seen from a the far end moves with T
        point_rate(T, pb, y)
        for c in range(3):
            turn[c] = (y[c] - e[c] * rate) / length if length > 0.0 else 0.0
        screw_at(pa, turn, g1)  # p_b x e' + p_b' x e = p_a x e' for e along p_b - p_a
        if spring.a >= 0:
            cross_force(V[spring.a], unit, g1)
        n = set_path(model.links, spring.a, spring.b, pair)
        for c in range(6):
            pair.g[c] = tension * unit[c]
        for j in range(n):
            l, s = pair.coordinate[j], pair.side[j]
            point_rate(S[l], pb if s > 0.0 else pa, y)
            along = dot6(S[l], unit)
            stretch = (spring.stiffness - across) * along
            stretch += spring.damping * (dot6(g1, S[l]) + dot6(unit, carried.U[l]))
            for c in range(3):
                turn[c] = s * (stretch * e[c] + across * y[c])
            screw_at(pb, turn, pair.dg[j])
            if s > 0.0:  # the force moves along with p_b
                screw_at(y, pair.g[3:], push)
                for c in range(3):
                    pair.dg[j, c] += push[c]
            if spring.damping != 0.0:
                for m in range(n):
                    k = pair.coordinate[m]
                    d.f_v[k, l] += spring.damping * pair.side[m] * s * along * dot6(S[k], unit)
        add_pair_stiffness(S, pair, n, 1.0, d.f_q)


@kernel
def add_element_slopes(model, w, q, v, lam, carried, d, pair):
    """Add the derivatives of force elements A' F(z, A v) to d.f_q and d.f_v.

    d.f_q gets A' (F_z A + F_z' d(A v)/dq) and d(A' F)/dq at constant F, d.f_v gets A' F_z' A. F_z and F_z' are the
    slopes of the tape. Elements with a load are taken at the load that follows from the multipliers.
    """
    if model.elements.shape[0] == 0:
        return
    S, V, A, rates = w.S, w.V, carried.measures, carried.rates
    e, g = scratch((MEASURES, 5, 3)), scratch((MEASURES, 6))
    T, g1, value, out = scratch(6), scratch(6), scratch(SLOTS), scratch(OUTPUTS)
    slope = scratch(SLOPES)
    for i in range(model.elements.shape[0]):
        element = model.elements[i]
        if element.kind == RESTING:
            continue
        load = 1.0 if element.kind == PLAIN else load_of(lam, element.row, element.rows, element.side)
        m = element.count
        for k in range(m):
            row = model.measures[element.first + k]
            value[k] = measured(model, row, q, w.R, w.p, e[k], g[k])
            value[m + k] = rate_of_measure(model, row, v, V, T, g[k])
            for c in range(A.shape[1]):
                A[k, c], rates[k, c] = 0.0, 0.0
            if row.kind == ROW_COUPLING:
                for c in range(A.shape[1]):
                    A[k, c] = model.couplings_v[row.coupling, c]
                continue
            n = set_path(model.links, row.a, row.b, pair)
            row_wrench_rate(row, e[k], T, g1)
            if row.a >= 0:
                cross_force(V[row.a], g[k], g1)
            for j in range(n):
                l, s = pair.coordinate[j], pair.side[j]
                A[k, l] = s * dot6(g[k], S[l])
                rates[k, l] = s * (dot6(g1, S[l]) + dot6(g[k], carried.U[l]))
        run(model.tape, model.numbers, element.force, element.slope, value, 2 * m, out)
        for k in range(2 * m * m):
            slope[k] = 0.0
        run(model.tape, model.numbers, element.slope, element.end, value, 2 * m, slope)
        for k in range(m):
            row = model.measures[element.first + k]
            if row.kind != ROW_COUPLING:
                add_row_stiffness(model.links, row, e[k], g[k], S, load * out[k], pair, d.f_q)
        for j in range(m):
            for k in range(m):
                by_z, by_rate = load * slope[j * m + k], load * slope[m * m + j * m + k]
                for l in range(A.shape[1]):
                    along = by_z * A[k, l] + by_rate * rates[k, l]
                    across = by_rate * A[k, l]
                    if A[k, l] == 0.0 and rates[k, l] == 0.0:
                        continue
                    for r in range(A.shape[1]):
                        d.f_q[r, l] += A[j, r] * along
                        d.f_v[r, l] += A[j, r] * across


@kernel
def add_row_stiffness(links, row, e, g, S, lam, pair, K):
    """K += d(A' lam)/dq of one row; `add_loop_stiffness` does this for all rows."""
    n = set_path(links, row.a, row.b, pair)
    for c in range(6):
        pair.g[c] = lam * g[c]
    for j in range(n):
        s, change = S[pair.coordinate[j]], pair.dg[j]
        row_wrench_rate(row, e, s, change)
        for c in range(6):
            change[c] *= pair.side[j] * lam
        if pair.side[j] < 0.0:
            cross_force(s, pair.g, change)
    add_pair_stiffness(S, pair, n, 1.0, K)


@kernel
def add_drive_stiffness(model, w, u, pair, K):
    """K -= d(B u)/dq of drives across cut joints: their wrench is fixed on link a; other columns are constant."""
    point, line, turn = scratch(3), scratch(3), scratch(3)
    for i in range(model.drives.shape[0]):
        drive = model.drives[i]
        if drive.iv >= 0 or u[i] == 0.0:
            continue
        if drive.a < 0:
            for c in range(3):
                point[c], line[c], turn[c] = drive.pa[c], drive.linear[c], drive.angular[c]
        else:
            transform_point(w.R[drive.a], w.p[drive.a], drive.pa, point)
            rotate(w.R[drive.a], drive.linear, line)
            rotate(w.R[drive.a], drive.angular, turn)
        screw_at(point, line, pair.g)
        for c in range(3):
            pair.g[c] += turn[c]
        n = set_path(model.links, drive.a, drive.b, pair)
        for j in range(n):
            pair.dg[j] = 0.0
            if pair.side[j] < 0.0:
                cross_force(w.S[pair.coordinate[j]], pair.g, pair.dg[j])
        add_pair_stiffness(w.S, pair, n, -drive.gear * u[i], K)


@kernel
def add_load_stiffness(model, w, pair, K):
    """K -= d(joint forces of the loads)/dq: a load moves along with its link, and turns with it or not."""
    point, y, push = scratch(3), scratch(3), scratch(6)
    for i in range(model.loads.shape[0]):
        load = model.loads[i]
        load_wrench(load, load.value, w.R, w.p, point, pair.g)
        n = set_path(model.links, -1, load.link, pair)
        for j in range(n):
            s, change = w.S[pair.coordinate[j]], pair.dg[j]
            for c in range(6):
                change[c] = 0.0
            if load.turning == 1:
                cross_force(s, pair.g, change)
            else:
                point_rate(s, point, y)
                screw_at(y, pair.g[3:], push)
                for c in range(3):
                    change[c] = push[c]
        add_pair_stiffness(w.S, pair, n, -1.0, K)


# -- all together -------------------------------------------------------------------------------------


@kernel
def slopes(model, w, q, v, a, lam, u, pair, carried, d):
    """d = all derivatives at a state, from a `Work` that is up to date with q and v. Overwrites w.A0, w.W and w.z."""
    carried_vectors(model, w, a, carried)
    newton_euler(model.links, w.I, w.S, w.V, w.A0, model.gravity, w.W, w.z)
    composite_coriolis(model.links, w.I, w.V, carried.E)
    add_body_slopes(model.links, w, carried, d)
    add_spring_slopes(model, w, carried, d, pair)
    add_loop_stiffness(model, w.E, w.wrenches, w.S, lam, pair, d.f_q)
    add_row_slopes(model, w, carried, d, pair)
    add_formula_slopes(model, w, q, v, a, lam, carried, d, pair)
    add_drive_stiffness(model, w, u, pair, d.f_q)
    add_load_stiffness(model, w, pair, d.f_q)
    add_element_slopes(model, w, q, v, lam, carried, d, pair)


@kernel(allocates=True)
def local_terms(model, q, v, a, lam, u, tolerance):
    """All terms that a linear model needs, at given accelerations, multipliers and efforts.

    Returns
    -------
    M, A, B : arrays
        Mass matrix, constraint Jacobian, drive matrix.
    f_q, f_v, r_q, c_q, c_v : arrays
        See `Slopes`.
    Z : array (dof, nv)
        Admissible velocities, orthonormal in the metric of M.
    phi, h, b : arrays
        Residual of the loops, forces at zero acceleration, (dA/dt) v.
    D, loads : arrays (k, nv), (k, rows)
        Forces of unit loads of friction, slopes of the loads by multipliers.
    rank : int
        Rank of A, or FAILED where M is not positive definite.
    """
    w = new_work(model)
    d = new_slopes(model)
    nv = v.shape[0]
    rank = update_position(model, q, w, tolerance, nv)
    Z = np.empty((nv - max(rank, 0), nv))
    s = w.friction
    loads = np.zeros((s.level.shape[0], lam.shape[0]))
    if rank != FAILED:
        update_velocity(model, q, v, w)
        drive_matrix(model, w.R, w.p, w.S, w.B, w.z)
        slopes(model, w, q, v, a, lam, u, new_pair(nv), new_carried(model), d)
        null_space(w.root, w.rows, rank, Z)
        unit_load_forces(model, q, v, w.R, w.p, w.S, w.V, s.D)
        load_slopes(s.first, s.count, s.side, lam, loads)
    return w.M, w.A, w.B, d.f_q, d.f_v, d.r_q, d.c_q, d.c_v, Z, w.phi, w.h, w.b, s.D, loads, rank


@kernel
def null_space(root, split, rank, Z):
    """Z (dof, nv) = basis of the admissible velocities, A z = 0, in its rows; orthonormal in M: Z M Z' = 1."""
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            Z[i, k] = 0.0
        Z[i, rank + i] = 1.0
        to_space(split, rank, Z[i])
        backward(root, Z[i])


@kernel(allocates=True)
def link_motion(model, q, v, a):
    """Screws S of the coordinates, twists V and accelerations of the links, and U, X, Y.

    X counts the acceleration of the ground by gravity; a model without gravity has the true accelerations in it.
    """
    w, carried = new_work(model), new_carried(model)
    link_poses(model.links, q, w.R, w.p)
    joint_screws(model.links, w.R, w.p, w.S)
    twists(model.links, w.S, v, w.V)
    carried_vectors(model, w, a, carried)
    return w.S, w.V, w.A0, carried.U, carried.X, carried.Y

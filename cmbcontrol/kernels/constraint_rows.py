"""Constraint rows: residual, Jacobian and bias of each.

Every constraint is made of rows of six kinds between link a and link b:

========== ====================================== =================================
kind       equation                               used by
========== ====================================== =================================
offset     u . (p_b - p_a) = 0                    points, lines, planes, all joints
align      u . w = value                          axes of cut joints
distance   (|p_b - p_a|^2 - L^2) / (2 L) = 0      rods
screw      u . (p_b - p_a) - pitch * angle = 0    helical joints
coupling   sum_k c_k q_k = value                  gears
formula    phi(z) = 0, or f(z) . dz/dt = 0        cams, wheels; z are rows of the other kinds
========== ====================================== =================================

A row of a prescribed motion is to be r(t) in place of zero: its residual is less r, its rate has to be dr/dt, and its
bias is less the second rate.

u is fixed on link a, w on link b. For all but couplings the rate is ``g . (V_b - V_a)`` with one
wrench g a row, so the Jacobian is ``g . S_k`` along the path to b, and minus that along the path to a.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, scratch
from .layout import MEASURES, ROW_ALIGN, ROW_COUPLING, ROW_DISTANCE, ROW_FORMULA, ROW_SCREW
from .spatial import cross_force, dot6, rotate, transform_point
from .tapes import SLOTS, run

__all__ = [
    "constraint_bias",
    "constraint_jacobian",
    "constraint_rates",
    "constraint_residual",
    "dot3",
    "measured",
    "path_projection",
    "point_rate",
    "rate_of_measure",
    "relative_twist",
    "row_frame",
    "row_wrench",
    "row_wrench_rate",
    "row_wrench_second_rate",
    "take_measures",
]


@kernel
def row_frame(row, R, p, e):
    """e (5, 3) = world directions and points of a row: u, x, p_a, w, p_b."""
    a, b = row.a, row.b
    if a < 0:
        for c in range(3):
            e[0, c], e[1, c], e[2, c] = row.u[c], row.x[c], row.pa[c]
    else:
        rotate(R[a], row.u, e[0])
        rotate(R[a], row.x, e[1])
        transform_point(R[a], p[a], row.pa, e[2])
    if b < 0:
        for c in range(3):
            e[3, c], e[4, c] = row.w[c], row.pb[c]
    else:
        rotate(R[b], row.w, e[3])
        transform_point(R[b], p[b], row.pb, e[4])


@kernel
def cross3(a, b, out):
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def dot3(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def screw_angle(e, y):
    """Angle of w about u, from x; y = u x x is filled in."""
    cross3(e[0], e[1], y)
    return np.arctan2(dot3(y, e[3]), dot3(e[1], e[3]))


@kernel
def row_wrench(row, e, g):
    """Residual of a geometric row; g (6,) gets its wrench: the rate of the residual is g . (V_b - V_a)."""
    u, w, pb = e[0], e[3], e[4]
    d = scratch(3)
    for c in range(3):
        d[c] = pb[c] - e[2, c]
    if row.kind == ROW_ALIGN:
        cross3(w, u, g)
        g[3], g[4], g[5] = 0.0, 0.0, 0.0
        return dot3(u, w) - row.value
    if row.kind == ROW_DISTANCE:
        length = row.value
        for c in range(3):
            g[3 + c] = d[c] / length
        cross3(pb, g[3:], g)
        return 0.5 * (dot3(d, d) - length * length) / length
    for c in range(3):
        g[3 + c] = u[c]
    cross3(pb, u, g)
    residual = dot3(u, d)
    if row.kind == ROW_SCREW:
        y = scratch(3)
        t = scratch(3)
        pitch = row.value
        angle = screw_angle(e, y)
        if pitch != 0.0:  # the turn counted that is nearest to the travel
            angle += 2.0 * np.pi * np.round((residual / pitch - angle) / (2.0 * np.pi))
        co, si = dot3(e[1], w), dot3(y, w)
        n = co * co + si * si
        cross3(w, y, t)
        for c in range(3):
            g[c] -= pitch * co * t[c] / n
        cross3(w, e[1], t)
        for c in range(3):
            g[c] += pitch * si * t[c] / n
        residual -= pitch * angle
    return residual


@kernel
def relative_twist(V, a, b, out):
    """out = V_b - V_a; the ground stands still."""
    for c in range(6):
        out[c] = 0.0
        if b >= 0:
            out[c] += V[b, c]
        if a >= 0:
            out[c] -= V[a, c]


@kernel
def point_rate(T, x, out):
    """out = rate of a point x that moves with the twist T."""
    cross3(T, x, out)
    for c in range(3):
        out[c] += T[3 + c]


@kernel
def screw_angle_rates(e, dw, ddw, m1, m2):
    """First and second rate of the wrench of a screw row's angle, with link a at rest.

    The angle of w about u has the rate (co s' - si c') / n with co = x.w, si = y.w, n = co^2 + si^2, and so
    the wrench m = (co w x y - si w x x) / n, a moment. Differentiated as a quotient.
    """
    f = scratch((7, 3))
    y, wy, wx, dwy, dwx, ddwy, ddwx = f[0], f[1], f[2], f[3], f[4], f[5], f[6]
    x, w = e[1], e[3]
    cross3(e[0], x, y)
    cross3(w, y, wy)
    cross3(w, x, wx)
    cross3(dw, y, dwy)
    cross3(dw, x, dwx)
    cross3(ddw, y, ddwy)
    cross3(ddw, x, ddwx)
    co, dco, ddco = dot3(x, w), dot3(x, dw), dot3(x, ddw)
    si, dsi, ddsi = dot3(y, w), dot3(y, dw), dot3(y, ddw)
    n, dn = co * co + si * si, 2.0 * (co * dco + si * dsi)
    ddn = 2.0 * (dco * dco + co * ddco + dsi * dsi + si * ddsi)
    for c in range(3):
        m = (co * wy[c] - si * wx[c]) / n
        dq = dco * wy[c] + co * dwy[c] - dsi * wx[c] - si * dwx[c]
        ddq = ddco * wy[c] + 2.0 * dco * dwy[c] + co * ddwy[c] - ddsi * wx[c] - 2.0 * dsi * dwx[c] - si * ddwx[c]
        m1[c] = (dq - m * dn) / n
        m2[c] = (ddq - 2.0 * m1[c] * dn - m * ddn) / n


@kernel
def row_wrench_rate(row, e, T, out):
    """Rate (6,) of a row's wrench g as seen from link a, where b moves past it with the twist T = V_b - V_a.

    In the world, g' = V_a x* g + this rate: the row depends on the pose of b relative to a alone. Linear in T.
    """
    d = out[3:]  # no scratch of its own: this is called often
    if row.kind == ROW_ALIGN:
        cross3(T, e[3], d)
        cross3(d, e[0], out)
        d[0], d[1], d[2] = 0.0, 0.0, 0.0
        return
    point_rate(T, e[4], d)
    if row.kind == ROW_DISTANCE:
        for c in range(3):
            d[c] /= row.value
        cross3(e[2], d, out)  # p_b x d = p_a x d for d along p_b - p_a
        return
    cross3(d, e[0], out)
    d[0], d[1], d[2] = 0.0, 0.0, 0.0
    if row.kind == ROW_SCREW:
        dw, m1, m2 = scratch(3), scratch(3), scratch(3)
        cross3(T, e[3], dw)
        screw_angle_rates(e, dw, dw, m1, m2)
        for c in range(3):
            out[c] -= row.value * m1[c]


@kernel
def row_wrench_second_rate(row, e, T, a, out):
    """Second rate (6,) of a row's wrench as seen from link a; T is the relative twist, a its rate seen from there."""
    f = scratch((4, 3))
    d, dd, n, m = f[0], f[1], f[2], f[3]
    for c in range(6):
        out[c] = 0.0
    if row.kind == ROW_ALIGN or row.kind == ROW_SCREW:  # rates of the direction w
        cross3(T, e[3], d)
        cross3(T, d, dd)
        cross3(a, e[3], n)
        for c in range(3):
            dd[c] += n[c]
    if row.kind == ROW_ALIGN:
        cross3(dd, e[0], out)
        return
    if row.kind == ROW_SCREW:
        screw_angle_rates(e, d, dd, n, m)
        for c in range(3):
            m[c] *= row.value
    point_rate(T, e[4], d)
    point_rate(a, e[4], dd)
    cross3(T, d, n)
    for c in range(3):
        dd[c] += n[c]
    if row.kind == ROW_DISTANCE:
        for c in range(3):
            dd[c] /= row.value
            out[3 + c] = dd[c]
        cross3(e[2], dd, out)
        return
    cross3(dd, e[0], out)
    if row.kind == ROW_SCREW:
        for c in range(3):
            out[c] -= m[c]


@kernel
def path_projection(links, a, b, g, S, out):
    """out[k] += g . S_k for joints on the path from the ground to b, -= on the path to a; common ones are skipped."""
    while a != b:
        if b > a:
            for k in range(links[b].iv, links[b].iv + links[b].nv):
                out[k] += dot6(S[k], g)
            b = links[b].parent
        else:
            for k in range(links[a].iv, links[a].iv + links[a].nv):
                out[k] -= dot6(S[k], g)
            a = links[a].parent


@kernel
def coupling_residual(model, row, q):
    """Residual of a coupling of coordinates: sum of coefficient * coordinate, less the offset."""
    s = -row.value
    for k in range(q.shape[0]):
        s += model.couplings_q[row.coupling, k] * q[k]
    return s


@kernel
def measured(model, row, q, R, p, e, g):
    """Position z of a measure; e (5, 3) and g (6,) get its frames and wrench, unless it is one of coordinates."""
    if row.kind == ROW_COUPLING:
        return coupling_residual(model, row, q)
    row_frame(row, R, p, e)
    return row_wrench(row, e, g)


@kernel
def rate_of_measure(model, row, v, V, T, g):
    """Rate dz/dt of a measure whose wrench is g; T (6,) is scratch."""
    if row.kind == ROW_COUPLING:
        rate = 0.0
        for k in range(v.shape[0]):
            rate += model.couplings_v[row.coupling, k] * v[k]
        return rate
    relative_twist(V, row.a, row.b, T)
    return dot6(T, g)


@kernel
def take_measures(model, formula, q, R, p, e, g, value):
    """value = positions of the measures of a formula, in its first entries; g (MEASURES, 6) = their wrenches."""
    for k in range(formula.count):
        value[k] = measured(model, model.measures[formula.first + k], q, R, p, e, g[k])


@kernel
def formula_residual(model, row, q, R, p):
    """Residual phi(z) of a formula row; zero where it binds velocities only."""
    if row.level > 0:
        return 0.0
    formula = model.formulas[row.formula]
    e, g, value, out = scratch((5, 3)), scratch((MEASURES, 6)), scratch(SLOTS), scratch(1)
    take_measures(model, formula, q, R, p, e, g, value)
    run(model.tape, model.numbers, formula.residual, formula.rate, value, 3 * formula.count, out)
    return out[0]


@kernel
def formula_jacobian(model, row, q, R, p, S, G, A):
    """A (nv,) += sum_k f_k of a formula row times the Jacobians of its measures; G (6,) = that sum of their wrenches.

    Its measures are between its two links, or coordinates.
    """
    formula = model.formulas[row.formula]
    m = formula.count
    e, g, value, f = scratch((5, 3)), scratch((MEASURES, 6)), scratch(SLOTS), scratch(MEASURES)
    take_measures(model, formula, q, R, p, e, g, value)
    for k in range(m):
        f[k] = 0.0
    run(model.tape, model.numbers, formula.rate, formula.bias, value, 3 * m, f)
    for c in range(6):
        G[c] = 0.0
    for k in range(m):
        measure = model.measures[formula.first + k]
        if measure.kind == ROW_COUPLING:
            for c in range(A.shape[0]):
                A[c] += f[k] * model.couplings_v[measure.coupling, c]
        else:
            for c in range(6):
                G[c] += f[k] * g[k, c]
    path_projection(model.links, row.a, row.b, G, S, A)


@kernel
def formula_bias(model, row, q, v, R, p, V, T, out):
    """sum_kj df_k/dz_j dz_j/dt dz_k/dt of a formula row; out (6,) = sum_k f_k times the rates of wrenches, seen from a.

    T (6,) is the relative twist of its links.
    """
    formula = model.formulas[row.formula]
    m = formula.count
    e, g, value, f = scratch((5, 3)), scratch(6), scratch(SLOTS), scratch(MEASURES)
    twist, seen = scratch(6), scratch((MEASURES, 6))
    for k in range(m):
        measure = model.measures[formula.first + k]
        value[k] = measured(model, measure, q, R, p, e, g)
        value[m + k] = rate_of_measure(model, measure, v, V, twist, g)
        if measure.kind != ROW_COUPLING:
            row_wrench_rate(measure, e, T, seen[k])
        f[k] = 0.0
    run(model.tape, model.numbers, formula.rate, formula.bias, value, 3 * m, f)
    for c in range(6):
        out[c] = 0.0
    for k in range(m):
        if model.measures[formula.first + k].kind != ROW_COUPLING:
            for c in range(6):
                out[c] += f[k] * seen[k, c]
    f[0] = 0.0
    run(model.tape, model.numbers, formula.bias, formula.slope, value, 3 * m, f)
    return f[0]


@kernel
def constraint_residual(model, q, R, p, phi):
    """phi (rows,) = residual of all constraint rows."""
    e = scratch((5, 3))
    g = scratch(6)
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        if row.kind == ROW_COUPLING:
            phi[i] = coupling_residual(model, row, q)
        elif row.kind == ROW_FORMULA:
            phi[i] = formula_residual(model, row, q, R, p)
        else:
            row_frame(row, R, p, e)
            phi[i] = row_wrench(row, e, g)
        if row.target >= 0:
            phi[i] -= model.targets[row.target, 0]


@kernel
def constraint_jacobian(model, q, R, p, S, E, G, phi, A):
    """phi (rows,) = residual, A (rows, nv) = Jacobian; E (rows, 5, 3) and G (rows, 6) keep frames and wrenches.

    Outside of the spans of its rows nothing is written: A has to be zero there before.
    """
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        for k in range(model.spans[i, 0], model.spans[i, 1]):
            A[i, k] = 0.0
        if row.kind == ROW_COUPLING:
            phi[i] = coupling_residual(model, row, q)
            for k in range(A.shape[1]):
                A[i, k] = model.couplings_v[row.coupling, k]
        elif row.kind == ROW_FORMULA:
            row_frame(row, R, p, E[i])
            phi[i] = formula_residual(model, row, q, R, p)
            formula_jacobian(model, row, q, R, p, S, G[i], A[i])
        else:
            row_frame(row, R, p, E[i])
            phi[i] = row_wrench(row, E[i], G[i])
            path_projection(model.links, row.a, row.b, G[i], S, A[i])
        if row.target >= 0:
            phi[i] -= model.targets[row.target, 0]


@kernel
def constraint_rates(model, rates):
    """rates (rows,) = the value that A v has to have: zero, but for prescribed motions."""
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        rates[i] = model.targets[row.target, 1] if row.target >= 0 else 0.0


@kernel
def constraint_bias(model, q, v, R, p, E, G, V, A0, b):
    """b (rows,) = (dA/dt) v, less prescribed second rates, from twists V and bias accelerations A0 of the links.

    The rate of g . T, T = V_b - V_a, at zero joint acceleration: (V_a x* g + rate seen from a) . T + g . (A0_b - A0_a).
    """
    T, a = scratch(6), scratch(6)
    rate = scratch(6)
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        b[i] = 0.0
        if row.kind != ROW_COUPLING:
            relative_twist(V, row.a, row.b, T)
            relative_twist(A0, row.a, row.b, a)
            rest = 0.0
            if row.kind == ROW_FORMULA:
                rest = formula_bias(model, row, q, v, R, p, V, T, rate)
            else:
                row_wrench_rate(row, E[i], T, rate)
            if row.a >= 0:
                cross_force(V[row.a], G[i], rate)
            b[i] = dot6(T, rate) + dot6(a, G[i])
            if row.kind == ROW_FORMULA:
                b[i] += rest
        if row.target >= 0:
            b[i] -= model.targets[row.target, 2]

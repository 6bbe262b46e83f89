"""Loop closures: residual, Jacobian and bias, row by row.

Every closure is made of rows of five kinds between link a and link b:

========== ====================================== =================================
kind       equation                               used by
========== ====================================== =================================
offset     u . (p_b - p_a) = 0                    points, lines, planes, all joints
align      u . w = value                          axes of cut joints
distance   (|p_b - p_a|^2 - L^2) / (2 L) = 0      rods
screw      u . (p_b - p_a) - pitch * angle = 0    helical joints
coupling   sum_k c_k q_k = value                  gears
========== ====================================== =================================

u is fixed on link a, w on link b. For all but couplings the rate is ``g . (V_b - V_a)`` with one
wrench g a row, so the Jacobian is ``g . S_k`` along the path to b, and minus that along the path to a.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .layout import ROW_ALIGN, ROW_COUPLING, ROW_DISTANCE, ROW_SCREW
from .spatial import dot6, rotate, transform_point

__all__ = [
    "loop_bias",
    "loop_jacobian",
    "loop_residual",
    "path_projection",
    "row_frame",
    "row_wrench",
    "row_wrench_rate",
]


@kernel
def row_frame(row, R, p, e):
    """World directions and points of a row, e (5, 3): u, x, p_a, w, p_b."""
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
    """Angle of w about u, from x; y = u x x is filled."""
    cross3(e[0], e[1], y)
    return np.arctan2(dot3(y, e[3]), dot3(e[1], e[3]))


@kernel
def row_wrench(row, e, g):
    """Residual of a geometric row, and its wrench g (6,): the rate of the residual is g . (V_b - V_a)."""
    u, w, pb = e[0], e[3], e[4]
    d = np.empty(3)
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
        y = np.empty(3)
        t = np.empty(3)
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
def carried(links_V, i, x, moving_point, out):
    """out = rate of a direction (or a point) x fixed on link i."""
    if i < 0:
        out[0], out[1], out[2] = 0.0, 0.0, 0.0
        return
    V = links_V[i]
    out[0] = V[1] * x[2] - V[2] * x[1]
    out[1] = V[2] * x[0] - V[0] * x[2]
    out[2] = V[0] * x[1] - V[1] * x[0]
    if moving_point:
        for c in range(3):
            out[c] += V[3 + c]


@kernel
def row_wrench_rate(row, e, V, g, gdot):
    """Rate gdot (6,) of a row's wrench g under the link twists V."""
    t = np.empty((6, 3))
    du, dx, dpa, dw, dpb, n = t[0], t[1], t[2], t[3], t[4], t[5]
    carried(V, row.a, e[0], False, du)
    carried(V, row.b, e[3], False, dw)
    carried(V, row.b, e[4], True, dpb)
    if row.kind == ROW_ALIGN:
        cross3(dw, e[0], gdot)
        cross3(e[3], du, n)
        for c in range(3):
            gdot[c] += n[c]
            gdot[3 + c] = 0.0
        return
    if row.kind == ROW_DISTANCE:
        carried(V, row.a, e[2], True, dpa)
        for c in range(3):
            gdot[3 + c] = (dpb[c] - dpa[c]) / row.value
    else:
        for c in range(3):
            gdot[3 + c] = du[c]
    cross3(dpb, g[3:], gdot)
    cross3(e[4], gdot[3:], n)
    for c in range(3):
        gdot[c] += n[c]
    if row.kind == ROW_SCREW:
        # angle rate = (co s' - si c') / (co^2 + si^2) with co = x.w, si = y.w; its wrench is
        # m = (co w x y - si w x x) / (co^2 + si^2), differentiated term by term
        carried(V, row.a, e[1], False, dx)
        f = np.empty((6, 3))
        y, dy, wy, wx, r1, r2 = f[0], f[1], f[2], f[3], f[4], f[5]
        cross3(e[0], e[1], y)
        carried(V, row.a, y, False, dy)
        co, si = dot3(e[1], e[3]), dot3(y, e[3])
        dco = dot3(dx, e[3]) + dot3(e[1], dw)
        dsi = dot3(dy, e[3]) + dot3(y, dw)
        norm = co * co + si * si
        dnorm = 2.0 * (co * dco + si * dsi)
        cross3(e[3], y, wy)
        cross3(e[3], e[1], wx)
        cross3(dw, y, r1)
        cross3(e[3], dy, r2)
        for c in range(3):
            m = (co * wy[c] - si * wx[c]) / norm
            gdot[c] -= row.value * ((dco * wy[c] + co * (r1[c] + r2[c]) - dsi * wx[c]) / norm - m * dnorm / norm)
        cross3(dw, e[1], r1)
        cross3(e[3], dx, r2)
        for c in range(3):
            gdot[c] += row.value * si * (r1[c] + r2[c]) / norm


@kernel
def path_projection(links, a, b, g, S, out):
    """out[k] += g . S_k on the path from the ground to b, -= on the path to a (common part skipped)."""
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
def loop_residual(model, q, R, p, phi):
    """Residual phi (rows,) of all loop rows."""
    e = np.empty((5, 3))
    g = np.empty(6)
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        if row.kind == ROW_COUPLING:
            phi[i] = -row.value
            for k in range(q.shape[0]):
                phi[i] += model.couplings_q[row.coupling, k] * q[k]
        else:
            row_frame(row, R, p, e)
            phi[i] = row_wrench(row, e, g)


@kernel
def loop_jacobian(model, q, R, p, S, E, G, phi, A):
    """Residual phi (rows,), Jacobian A (rows, nv); E (rows, 5, 3) and G (rows, 6) keep frames and wrenches."""
    A[:] = 0.0
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        if row.kind == ROW_COUPLING:
            phi[i] = -row.value
            for k in range(q.shape[0]):
                phi[i] += model.couplings_q[row.coupling, k] * q[k]
            for k in range(A.shape[1]):
                A[i, k] = model.couplings_v[row.coupling, k]
        else:
            row_frame(row, R, p, E[i])
            phi[i] = row_wrench(row, E[i], G[i])
            path_projection(model.links, row.a, row.b, G[i], S, A[i])


@kernel
def loop_bias(model, E, G, V, A0, b):
    """b (rows,) = (dA/dt) v, from the twists V and the bias accelerations A0 of the links.

    The rate of g . (V_b - V_a) at zero joint acceleration: g' . (V_b - V_a) + g . (A0_b - A0_a).
    """
    gdot = np.empty(6)
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        b[i] = 0.0
        if row.kind == ROW_COUPLING:
            continue
        row_wrench_rate(row, E[i], V, G[i], gdot)
        if row.b >= 0:
            b[i] += dot6(V[row.b], gdot) + dot6(A0[row.b], G[i])
        if row.a >= 0:
            b[i] -= dot6(V[row.a], gdot) + dot6(A0[row.a], G[i])

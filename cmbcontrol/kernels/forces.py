"""Springs, dampers and joint friction, drives, and the energies."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, scratch
from .._tolerance import ROUNDING
from .constraint_rows import dot3, path_projection
from .layout import SPRING_JOINT
from .spatial import dot6, screw_at, transform_point

__all__ = [
    "add_passive_forces",
    "dissipated_power",
    "drive_matrix",
    "kinetic_energy",
    "potential_energy",
    "spring_line",
]


@kernel
def spring_line(spring, R, p, pa, pb, g):
    """Length of a point spring, and the wrench g (6,) of a unit force along it (a towards b)."""
    if spring.a < 0:
        for c in range(3):
            pa[c] = spring.pa[c]
    else:
        transform_point(R[spring.a], p[spring.a], spring.pa, pa)
    if spring.b < 0:
        for c in range(3):
            pb[c] = spring.pb[c]
    else:
        transform_point(R[spring.b], p[spring.b], spring.pb, pb)
    d = scratch(3)
    length = 0.0
    for c in range(3):
        d[c] = pb[c] - pa[c]
        length += d[c] * d[c]
    length = np.sqrt(length)
    if length > 0.0:
        for c in range(3):
            d[c] /= length
    screw_at(pb, d, g)
    return length


@kernel
def add_passive_forces(model, q, v, R, p, S, V, h):
    """h += forces of springs, dampers and joint friction (on the left of M dv/dt + h = f - A' lam)."""
    for k in range(h.shape[0]):
        h[k] += model.damping[k] * v[k]
    pa = scratch(3)
    pb = scratch(3)
    g = scratch(6)
    for i in range(model.springs.shape[0]):
        spring = model.springs[i]
        if spring.kind == SPRING_JOINT:
            h[spring.iv] += spring.stiffness * (q[spring.iq] - spring.rest) + spring.damping * v[spring.iv]
        else:
            length = spring_line(spring, R, p, pa, pb, g)
            rate = 0.0
            if spring.b >= 0:
                rate += dot6(V[spring.b], g)
            if spring.a >= 0:
                rate -= dot6(V[spring.a], g)
            tension = spring.stiffness * (length - spring.rest) + spring.damping * rate
            for c in range(6):
                g[c] *= tension
            path_projection(model.links, spring.a, spring.b, g, S, h)


@kernel
def dissipated_power(model, v, R, p, V):
    """Power lost in joint friction and dampers, watts."""
    power = 0.0
    for k in range(v.shape[0]):
        power += model.damping[k] * v[k] * v[k]
    if model.springs.shape[0] > 0:
        pa = scratch(3)
        pb = scratch(3)
        g = scratch(6)
        for i in range(model.springs.shape[0]):
            spring = model.springs[i]
            if spring.damping == 0.0:
                continue
            if spring.kind == SPRING_JOINT:
                rate = v[spring.iv]
            else:
                spring_line(spring, R, p, pa, pb, g)
                rate = 0.0
                if spring.b >= 0:
                    rate += dot6(V[spring.b], g)
                if spring.a >= 0:
                    rate -= dot6(V[spring.a], g)
            power += spring.damping * rate * rate
    return power


@kernel
def drive_matrix(model, R, p, S, B, column):
    """B (nv, nu): joint forces of a unit of each actuator; `column` (nv,) is scratch."""
    B[:] = 0.0
    g = scratch(6)
    point = scratch(3)
    line = scratch(3)
    turn = scratch(3)
    for k in range(model.drives.shape[0]):
        drive = model.drives[k]
        if drive.iv >= 0:
            B[drive.iv, k] = drive.gear
            continue
        # actuator on a cut joint: a wrench on link b, and its reaction on link a
        for c in range(3):
            point[c], line[c], turn[c] = drive.pa[c], drive.linear[c], drive.angular[c]
        if drive.a >= 0:
            Ra = R[drive.a]
            transform_point(Ra, p[drive.a], drive.pa, point)
            for r in range(3):
                line[r] = Ra[r, 0] * drive.linear[0] + Ra[r, 1] * drive.linear[1] + Ra[r, 2] * drive.linear[2]
                turn[r] = Ra[r, 0] * drive.angular[0] + Ra[r, 1] * drive.angular[1] + Ra[r, 2] * drive.angular[2]
        screw_at(point, line, g)
        for c in range(3):
            g[c] += turn[c]
        column[:] = 0.0
        path_projection(model.links, drive.a, drive.b, g, S, column)
        # What its wrench amounts to, N: of a joint that it does not move, across its axis, rounding of it is left.
        # Moments are about the origin of the world.
        push = np.sqrt(dot3(line, line)) + np.sqrt(dot3(turn, turn)) / model.size
        least = ROUNDING * push * (1.0 + np.sqrt(dot3(point, point)) / model.size)
        for i in range(B.shape[0]):
            if abs(column[i]) > least * model.reach[i]:
                B[i, k] = drive.gear * column[i]


@kernel
def kinetic_energy(M, v):
    """v' M v / 2, joules."""
    T = 0.0
    for i in range(v.shape[0]):
        for j in range(v.shape[0]):
            T += 0.5 * v[i] * M[i, j] * v[j]
    return T


@kernel
def potential_energy(model, q, R, p):
    """Energy of gravity and springs, joules; gravity counts from the world origin."""
    U = 0.0
    c = scratch(3)
    for i in range(model.links.shape[0]):
        link = model.links[i]
        transform_point(R[i], p[i], link.com, c)
        U -= link.mass * (model.gravity[0] * c[0] + model.gravity[1] * c[1] + model.gravity[2] * c[2])
    pa = scratch(3)
    pb = scratch(3)
    g = scratch(6)
    for i in range(model.springs.shape[0]):
        spring = model.springs[i]
        if spring.kind == SPRING_JOINT:
            U += 0.5 * spring.stiffness * (q[spring.iq] - spring.rest) ** 2
        else:
            U += 0.5 * spring.stiffness * (spring_line(spring, R, p, pa, pb, g) - spring.rest) ** 2
    return U

"""Springs, dampers, joint friction, drives and loads; kinetic and potential energy, and lost power."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, scratch
from .._tolerance import ROUNDING
from .constraint_rows import dot3, path_projection
from .force_elements import add_element_forces, element_energy, element_loss
from .layout import SPRING_JOINT
from .spatial import dot6, rotate, screw_at, transform_point

__all__ = [
    "add_passive_forces",
    "dissipated_power",
    "drive_matrix",
    "kinetic_energy",
    "load_matrix",
    "load_power",
    "load_wrench",
    "potential_energy",
    "spring_line",
]


@kernel
def spring_line(spring, R, p, pa, pb, g):
    """Length of a point spring, and the wrench g (6,) of a unit force along it (from a towards b)."""
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
    """h += forces of springs, dampers, joint friction, force elements, loads (left of M dv/dt + h = f - A' lam)."""
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
    add_element_forces(model, q, v, R, p, S, V, h)
    for i in range(model.loads.shape[0]):
        load = model.loads[i]
        load_wrench(load, load.value, R, p, pa, g)
        for c in range(6):
            g[c] = -g[c]
        path_projection(model.links, -1, load.link, g, S, h)


@kernel
def load_wrench(load, value, R, p, point, g):
    """Wrench g (6,) about the origin of the world of a load with this value, and the point where it acts."""
    link = load.link
    transform_point(R[link], p[link], load.point, point)
    own, line, turn = scratch(3), scratch(3), scratch(3)
    if load.turning == 1:
        rotate(load.axes, value[:3], own)
        rotate(R[link], own, line)
        rotate(load.axes, value[3:], own)
        rotate(R[link], own, turn)
    else:
        for c in range(3):
            line[c], turn[c] = value[c], value[3 + c]
    screw_at(point, line, g)
    for c in range(3):
        g[c] += turn[c]


@kernel
def load_power(model, R, p, V):
    """Power of the loads, watts."""
    power = 0.0
    if model.loads.shape[0] > 0:
        point = scratch(3)
        g = scratch(6)
        for i in range(model.loads.shape[0]):
            load = model.loads[i]
            load_wrench(load, load.value, R, p, point, g)
            power += dot6(V[load.link], g)
    return power


@kernel
def load_matrix(model, R, p, S, W, column):
    """W (nv, 6 loads): joint forces of a unit of each component of each load; `column` (nv,) is scratch."""
    W[:] = 0.0
    unit = scratch(6)
    point = scratch(3)
    g = scratch(6)
    for i in range(model.loads.shape[0]):
        load = model.loads[i]
        for k in range(6):
            for c in range(6):
                unit[c] = 1.0 if c == k else 0.0
            load_wrench(load, unit, R, p, point, g)
            column[:] = 0.0
            path_projection(model.links, -1, load.link, g, S, column)
            least = faint(1.0 if k < 3 else 1.0 / model.size, point, model.size)
            for r in range(W.shape[0]):
                if abs(column[r]) > least * model.unit_lengths[r]:
                    W[r, 6 * i + k] = column[r]


@kernel
def faint(push, point, size):
    """Rounding error, N, of a wrench of size `push` on a joint that it does not move: what is smaller counts as zero.

    Moments are about the origin of the world, a point of the wrench is somewhere else.
    """
    return ROUNDING * push * (1.0 + np.sqrt(dot3(point, point)) / size)


@kernel
def dissipated_power(model, q, v, R, p, V):
    """Power lost in joint friction, dampers and force elements, watts."""
    power = element_loss(model, q, v, R, p, V)
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
        push = np.sqrt(dot3(line, line)) + np.sqrt(dot3(turn, turn)) / model.size
        least = faint(push, point, model.size)
        for i in range(B.shape[0]):
            if abs(column[i]) > least * model.unit_lengths[i]:
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
    """Energy of gravity, springs and force elements, joules; gravity counts from the world origin."""
    U = element_energy(model, q, R, p)
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

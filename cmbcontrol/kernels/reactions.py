"""Wrenches that joints and constraints carry, about the origin of the world.

The wrench that moves a link crosses the joint that carries it, less all that acts on the link otherwise: springs,
loads, motors across cut joints, constraints. Newton-Euler adds up the first from the leaves to the root; a wrench that
acts between two links is subtracted from all joints on the path between them. Motors and friction that belong to a
constraint, such as a cut joint, are returned apart, since they are part of the wrench that it carries.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, scratch
from .constrained import new_work
from .constraint_rows import constraint_jacobian, measured, rate_of_measure, relative_twist
from .force_elements import OUTPUTS
from .forces import load_wrench, spring_line
from .friction import load_of
from .inertia import newton_euler, world_inertias
from .layout import MEASURES, PLAIN, RESTING, ROW_COUPLING, SPRING_JOINT
from .spatial import dot6, rotate, screw_at, transform_point
from .tapes import SLOTS, run
from .tree import bias_accelerations, joint_screws, link_poses, twists

__all__ = ["carried_wrenches", "row_wrenches", "wrenches_of_rows"]


@kernel
def take_off(links, a, b, g, W):
    """W -= effect of a wrench g on link b, and of its reaction on link a, on the joints between these links."""
    while a != b:
        if b > a:
            for c in range(6):
                W[b, c] -= g[c]
            b = links[b].parent
        else:
            for c in range(6):
                W[a, c] += g[c]
            a = links[a].parent


@kernel(allocates=True)
def carried_wrenches(model, q, v, a, lam, u):
    """Wrench (links, 6) on each link through the joint that carries it, about the origin of the world, in its axes.

    At accelerations a, multipliers lam and efforts u that belong to the state. Returned behind it: the wrenches of the
    rows (rows, 6), of force elements between bodies (elements, 6), and of motors there (drives, 6), on the second body.
    """
    w = new_work(model)
    link_poses(model.links, q, w.R, w.p)
    joint_screws(model.links, w.R, w.p, w.S)
    world_inertias(model.links, w.R, w.p, w.I)
    constraint_jacobian(model, q, w.R, w.p, w.S, w.E, w.wrenches, w.phi, w.A)
    twists(model.links, w.S, v, w.V)
    bias_accelerations(model.links, w.S, v, w.V, w.A0)
    own = np.empty((model.links.shape[0], 6))
    twists(model.links, w.S, a, own)
    for i in range(own.shape[0]):
        for c in range(6):
            w.A0[i, c] += own[i, c]
    newton_euler(model.links, w.I, w.S, w.V, w.A0, model.gravity, w.W, w.z)
    take_off_springs(model, w)
    of_elements, of_drives = np.zeros((model.elements.shape[0], 6)), np.zeros((model.drives.shape[0], 6))
    take_off_elements(model, q, v, lam, w, of_elements)
    take_off_motors(model, u, w, of_drives)
    point, g = scratch(3), scratch(6)
    for i in range(model.loads.shape[0]):
        load = model.loads[i]
        load_wrench(load, load.value, w.R, w.p, point, g)
        take_off(model.links, -1, load.link, g, w.W)
    wrenches_of_rows(model, w.wrenches, lam, w.W)
    return w.W, w.wrenches, of_elements, of_drives


@kernel
def take_off_springs(model, w):
    """Subtract springs and dampers between points from the joint wrenches w.W."""
    pa, pb, g, T = scratch(3), scratch(3), scratch(6), scratch(6)
    for i in range(model.springs.shape[0]):
        spring = model.springs[i]
        if spring.kind == SPRING_JOINT:
            continue
        length = spring_line(spring, w.R, w.p, pa, pb, g)
        relative_twist(w.V, spring.a, spring.b, T)
        pull = spring.stiffness * (length - spring.rest) + spring.damping * dot6(T, g)
        for c in range(6):
            g[c] *= -pull
        take_off(model.links, spring.a, spring.b, g, w.W)


@kernel
def take_off_elements(model, q, v, lam, w, acting):
    """Subtract force elements between bodies from the joint wrenches w.W; `acting` (elements, 6) += their wrenches.

    Friction in proportion to loads is among them.
    """
    if model.elements.shape[0] == 0:
        return
    e, T = scratch((5, 3)), scratch(6)
    g, value, out = scratch((MEASURES, 6)), scratch(SLOTS), scratch(OUTPUTS)
    for i in range(model.elements.shape[0]):
        element = model.elements[i]
        if element.kind == RESTING:
            continue
        load = 1.0 if element.kind == PLAIN else load_of(lam, element.row, element.rows, element.side)
        m = element.count
        for k in range(m):
            row = model.measures[element.first + k]
            value[k] = measured(model, row, q, w.R, w.p, e, g[k])
            value[m + k] = rate_of_measure(model, row, v, w.V, T, g[k])
        run(model.tape, model.numbers, element.force, element.slope, value, 2 * m, out)
        for k in range(m):
            row = model.measures[element.first + k]
            if row.kind != ROW_COUPLING:
                for c in range(6):
                    T[c] = -load * out[k] * g[k, c]
                    acting[i, c] += T[c]
                take_off(model.links, row.a, row.b, T, w.W)


@kernel
def take_off_motors(model, u, w, acting):
    """Subtract motors on cut joints and between bodies from the joint wrenches w.W; `acting` (drives, 6) += theirs."""
    point, line, turn, g = scratch(3), scratch(3), scratch(3), scratch(6)
    for i in range(model.drives.shape[0]):
        drive = model.drives[i]
        if drive.iv >= 0:
            continue
        if drive.a < 0:
            for c in range(3):
                point[c], line[c], turn[c] = drive.pa[c], drive.linear[c], drive.angular[c]
        else:
            transform_point(w.R[drive.a], w.p[drive.a], drive.pa, point)
            rotate(w.R[drive.a], drive.linear, line)
            rotate(w.R[drive.a], drive.angular, turn)
        screw_at(point, line, g)
        for c in range(3):
            g[c] += turn[c]
        for c in range(6):
            g[c] *= drive.gear * u[i]
            acting[i, c] += g[c]
        take_off(model.links, drive.a, drive.b, g, w.W)


@kernel
def wrenches_of_rows(model, wrenches, lam, W):
    """Subtract the multipliers from W; `wrenches` (rows, 6) become the wrenches on the second link of each row.

    Couplings act on coordinates, as motors do, and have no wrench.
    """
    for i in range(model.rows.shape[0]):
        row = model.rows[i]
        for c in range(6):
            wrenches[i, c] = 0.0 if row.kind == ROW_COUPLING else -lam[i] * wrenches[i, c]
        if row.kind != ROW_COUPLING:
            take_off(model.links, row.a, row.b, wrenches[i], W)


@kernel(allocates=True)
def row_wrenches(model, q, lam):
    """Wrenches of joints (links, 6) and of rows (rows, 6) under the multipliers lam alone."""
    w = new_work(model)
    link_poses(model.links, q, w.R, w.p)
    joint_screws(model.links, w.R, w.p, w.S)
    constraint_jacobian(model, q, w.R, w.p, w.S, w.E, w.wrenches, w.phi, w.A)
    w.W[:] = 0.0
    wrenches_of_rows(model, w.wrenches, lam, w.W)
    return w.W, w.wrenches

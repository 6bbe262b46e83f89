"""Constrained dynamics of a mechanism: acceleration, projections, all terms at a state.

Sign convention (Aghili, eq. 19): ``M dv/dt + h = f - A' lam``, with ``A dv/dt + b = 0``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .._tolerance import ROUNDING
from .arrays import add_dot, copy, copy_rows
from .constraint_rows import constraint_bias, constraint_jacobian, constraint_rates, constraint_residual
from .forces import add_passive_forces, drive_matrix, potential_energy
from .friction import UNSOLVED, FrictionScratch, new_friction, solve_loads, unit_load_forces
from .inertia import add_armature, composite_inertia, newton_euler, world_inertias
from .split import (
    Root,
    Rows,
    backward,
    cholesky,
    factor_rows,
    forward,
    forward_between,
    new_root,
    new_rows,
    solve_head,
    solve_multipliers,
    to_head,
    to_space,
    transposed_product,
)
from .tree import bias_accelerations, joint_screws, link_poses, retract, twists

__all__ = [
    "FAILED",
    "Work",
    "acceleration",
    "carried",
    "close_loops",
    "close_step",
    "euclidean_split",
    "forward_dynamics",
    "gauss_acceleration",
    "generalized_force",
    "jacobian",
    "least_change",
    "mass_split",
    "multipliers",
    "new_work",
    "project_velocity",
    "row_motion",
    "smallest_multipliers",
    "solve_acceleration",
    "solve_forced",
    "solve_motion",
    "state_terms",
    "update_forces",
    "update_matrices",
    "update_position",
    "update_velocity",
    "velocity_correction",
]

# Smallest over largest constraint gradient below which velocities are projected as in `velocity_correction`.
WEAK = 0.02

FAILED = -1  # in place of a rank: the mass matrix is not positive definite


@bundle
class Work(NamedTuple):
    """Scratch arrays of one evaluation; they hold the terms at the last state that they were updated with."""

    R: np.ndarray  # (links, 3, 3) poses
    p: np.ndarray  # (links, 3)
    S: np.ndarray  # (nv, 6) joint screws
    I: np.ndarray  # (links, 10) link inertias
    composite: np.ndarray  # (links, 10)
    V: np.ndarray  # (links, 6) twists
    A0: np.ndarray  # (links, 6) bias accelerations
    W: np.ndarray  # (links, 6) wrenches
    E: np.ndarray  # (rows, 5, 3) frames of the loop rows
    wrenches: np.ndarray  # (rows, 6)
    phi: np.ndarray  # (rows,)
    A: np.ndarray  # (rows, nv)
    b: np.ndarray  # (rows,)
    M: np.ndarray  # (nv, nv)
    h: np.ndarray  # (nv,)
    B: np.ndarray  # (nv, nu)
    root: Root  # of the metric
    rows: Rows  # in mass coordinates, factored
    rhs: np.ndarray  # (rows,)
    z: np.ndarray  # (nv,)
    friction: FrictionScratch  # of elements with loads


@kernel(allocates=True)
def new_work(model):
    """New scratch arrays of the right size for a model."""
    links, rows, nv, nu = model.links.shape[0], model.rows.shape[0], model.damping.shape[0], model.drives.shape[0]
    root, split = new_root(nv), new_rows(rows, nv)
    copy(model.envelope, root.begin)
    copy_rows(model.spans, split.spans)
    return Work(
        np.empty((links, 3, 3)),
        np.empty((links, 3)),
        np.empty((nv, 6)),
        np.empty((links, 10)),
        np.empty((links, 10)),
        np.empty((links, 6)),
        np.empty((links, 6)),
        np.empty((links, 6)),
        np.empty((rows, 5, 3)),
        np.empty((rows, 6)),
        np.empty(rows),
        np.zeros((rows, nv)),
        np.empty(rows),
        np.zeros((nv, nv)),
        np.empty(nv),
        np.empty((nv, nu)),
        root,
        split,
        np.empty(rows),
        np.empty(nv),
        new_friction(model),
    )


@kernel
def mass_split(M, A, scale, unit_lengths, far, tolerance, cap, root, split):
    """Factor the rows of A in mass coordinates of M, as `update_position` does; returns the rank, or FAILED.

    A row in metres has entries of at most some `unit_lengths`, and a gradient of some of these over sqrt(M_kk) in the
    metric of M; what rounding leaves of one that vanishes is a part of that. `far` (1 and above) is how many sizes of
    the machine its farthest link is away from the origin of the world, about which moments are taken. Where all rows
    vanish together, the tolerance is that of a hundredth of it, since only the lightest joint has a gradient so large.
    """
    if not cholesky(M, root):
        return FAILED
    for i in range(A.shape[0]):
        scaled_row(scale[i], A[i], split, i)
        split.end[i] = forward_between(root, split.G[i], split.first[i], split.end[i])
    largest = 0.0
    for k in range(M.shape[0]):
        largest = max(largest, unit_lengths[k] / np.sqrt(M[k, k]))
    return factor_rows(split, tolerance, max(ROUNDING * far, 0.01 * tolerance) * largest, cap)


@kernel
def scaled_row(scale, a, rows, i):
    """Row i of G = scale a, from the first nonzero entry of a to its last."""
    begin, end = rows.spans[i, 0], rows.spans[i, 1]
    while begin < end and a[begin] == 0.0:
        begin += 1
    while end > begin and a[end - 1] == 0.0:
        end -= 1
    for k in range(begin, end):
        rows.G[i, k] = scale * a[k]
    rows.first[i], rows.end[i] = begin, end


@kernel
def remoteness(model, p):
    """Distance of the farthest link from the origin of the world, as a multiple of the machine's size, at least 1."""
    farthest = model.size
    for i in range(p.shape[0]):
        for c in range(3):
            farthest = max(farthest, abs(p[i, c]))
    return farthest / model.size


@kernel
def update_position(model, q, w, tolerance, cap):
    """Compute all terms that depend on q alone: poses, screws, M, A, phi, the split. Returns the rank, or FAILED."""
    update_matrices(model, q, w)
    far = remoteness(model, w.p)
    return mass_split(w.M, w.A, model.scale, model.unit_lengths, far, tolerance, cap, w.root, w.rows)


@kernel
def update_matrices(model, q, w):
    """Compute poses, screws, M, A and phi at a configuration."""
    link_poses(model.links, q, w.R, w.p)
    joint_screws(model.links, w.R, w.p, w.S)
    world_inertias(model.links, w.R, w.p, w.I)
    copy_rows(w.I, w.composite)
    composite_inertia(model.links, w.composite, w.S, w.M)
    add_armature(model.armature, w.M)
    constraint_jacobian(model, q, w.R, w.p, w.S, w.E, w.wrenches, w.phi, w.A)


@kernel
def euclidean_split(model, w, tolerance, cap):
    """Replace the split in the metric of M by the one in the Euclidean metric; returns the rank."""
    L, first, last = w.root.L, w.root.first, w.root.last
    for k in range(L.shape[0]):
        L[k, k] = 1.0
        first[k], last[k] = k, k
    return euclidean_rows(model, w, tolerance, cap)


@kernel
def euclidean_rows(model, w, tolerance, cap):
    """Factor the rows in the Euclidean metric, without setting the root L to it; returns the rank."""
    largest = 0.0
    for k in range(w.A.shape[1]):
        largest = max(largest, model.unit_lengths[k])
    for i in range(w.A.shape[0]):
        scaled_row(model.scale[i], w.A[i], w.rows, i)
    floor = max(ROUNDING * remoteness(model, w.p), 0.01 * tolerance) * largest
    return factor_rows(w.rows, tolerance, floor, cap)


@kernel
def update_velocity(model, q, v, w):
    """Compute all terms that depend on v: twists, h and b = (dA/dt) v. Needs `update_position` at q."""
    twists(model.links, w.S, v, w.V)
    bias_accelerations(model.links, w.S, v, w.V, w.A0)
    newton_euler(model.links, w.I, w.S, w.V, w.A0, model.gravity, w.W, w.h)
    add_passive_forces(model, q, v, w.R, w.p, w.S, w.V, w.h)
    constraint_bias(model, q, v, w.R, w.p, w.E, w.wrenches, w.V, w.A0, w.b)


@kernel
def generalized_force(model, u, w, f):
    """f (nv,) = B u, the joint forces of the efforts u."""
    if u.shape[0] > 0:
        drive_matrix(model, w.R, w.p, w.S, w.B, w.z)
    for i in range(f.shape[0]):
        f[i] = 0.0
        for k in range(u.shape[0]):
            f[i] += w.B[i, k] * u[k]


@kernel
def solve_acceleration(scale, w, rank, f, target, vdot):
    """vdot (nv,) = acceleration by Gauss' principle: nearest to the free one in the metric of M, with A vdot = target.

    In mass coordinates the free acceleration is y = L^-1 (f - h); its component along the
    constraints is replaced by the one that they demand. Equal to the null space form
    c + Z (Z'MZ)^-1 Z'(f - h - M c) wherever the constraints are consistent.
    """
    for k in range(vdot.shape[0]):
        vdot[k] = f[k] - w.h[k]
    for i in range(w.rhs.shape[0]):
        w.rhs[i] = scale[i] * target[i]
    solve_forced(w.root, w.rows, rank, w.rhs, vdot, w.z)


@kernel
def solve_forced(root, rows, rank, rhs, vdot, head):
    """Solve, in place, for the acceleration under forces where the scaled rows times it have to be rhs.

    z + G' lam_scaled = y, so `head` (nv,) gets the difference of the heads of y and z, which the multipliers carry.
    """
    forward(root, vdot)
    to_head(rows, rank, vdot)
    for k in range(rank):
        head[k] = vdot[k]
    solve_head(rows, rank, rhs, vdot)
    for k in range(rank):
        head[k] -= vdot[k]
    to_space(rows, rank, vdot)
    backward(root, vdot)


@kernel
def solve_motion(model, q, v, w, rank, f, target, vdot):
    """vdot (nv,) = acceleration with friction in proportion to loads, see `friction`; w.friction.total gets its force.

    Returns the power that this friction takes, watts. That and the acceleration are nan where there is no acceleration,
    or more than one (Painleve). Else as `solve_acceleration`.
    """
    solve_acceleration(model.scale, w, rank, f, target, vdot)
    s, power = w.friction, 0.0
    if s.level.shape[0] == 0:
        return power
    multipliers(model.scale, w.rows, rank, w.z, s.lam)
    copy(w.z, s.head)
    unit_load_forces(model, q, v, w.R, w.p, w.S, w.V, s.D)
    w.rhs[:] = 0.0
    for j in range(s.level.shape[0]):
        for k in range(v.shape[0]):
            s.replies[j, k] = -s.D[j, k]
        solve_forced(w.root, w.rows, rank, w.rhs, s.replies[j], s.heads[j])
        multipliers(model.scale, w.rows, rank, s.heads[j], s.reply_lam[j])
    if not solve_loads(s.first, s.count, s.side, s.lam, s.reply_lam, s.level, s.pivot, s.J, s.carried):
        power = np.nan
    copy(s.head, w.z)
    s.total[:] = 0.0
    for j in range(s.level.shape[0]):
        taken, size = 0.0, 0.0
        for k in range(v.shape[0]):
            force = s.level[j] * s.D[j, k]
            vdot[k] += s.level[j] * s.replies[j, k]
            w.z[k] += s.level[j] * s.heads[j, k]
            s.total[k] += force
            power += force * v[k]
            taken += force * v[k]
            size += abs(force * v[k])
        if s.side[j] == 0 and taken < -UNSOLVED * size:  # of a contact, as a step leads beyond the end of sliding
            power = np.nan
    if np.isnan(power):
        vdot[:] = np.nan
    return power


@kernel
def multipliers(scale, rows, rank, head, lam):
    """lam (rows,) = multipliers that carry the head of a solution: those of pivot rows; all others are zero."""
    solve_multipliers(rows, rank, head, lam)
    for i in range(lam.shape[0]):
        lam[i] *= scale[i]


@kernel
def least_change(w, rank, change):
    """Smallest change of the velocities, in the metric of the last split, by which the rows change by `w.rhs`."""
    change[:] = 0.0
    solve_head(w.rows, rank, w.rhs, change)
    to_space(w.rows, rank, change)
    backward(w.root, change)


@kernel
def velocity_correction(model, w, rank, v, change):
    """change (nv,) = smallest change that makes v admissible, A v = dr/dt, in the metric of the last split.

    It is small where v is nearly admissible, and so are its rounding errors. Near a singular configuration they would
    be divided by the distance to it; there all of v is rotated, its head replaced, and rotated back, at the price of
    one rounding.
    """
    n = v.shape[0]
    pivots = w.rows.pivots
    constraint_rates(model, w.rhs)
    if rank > 0 and pivots[rank - 1] < WEAK * pivots[0]:
        transposed_product(w.root, v, change)
        to_head(w.rows, rank, change)
        for i in range(w.rhs.shape[0]):
            w.rhs[i] *= model.scale[i]
        solve_head(w.rows, rank, w.rhs, change)
        to_space(w.rows, rank, change)
        backward(w.root, change)
        for k in range(n):
            change[k] -= v[k]
    else:
        for i in range(w.rhs.shape[0]):
            s = add_dot(0.0, w.A[i], v, model.spans[i, 0], model.spans[i, 1])
            w.rhs[i] = model.scale[i] * (w.rhs[i] - s)
        least_change(w, rank, change)


@kernel
def project_velocity(model, w, rank, v):
    """Change v, in place, to a velocity that constraints allow (smallest change in the metric of the last split)."""
    velocity_correction(model, w, rank, v, w.z)
    for k in range(v.shape[0]):
        v[k] += w.z[k]


@kernel
def update_forces(model, q, v, u, tolerance, cap, w):
    """w.z = forces B u, w.b = acceleration that rows demand, at a state; returns the rank, or FAILED."""
    rank = update_position(model, q, w, tolerance, cap)
    if rank != FAILED:
        update_velocity(model, q, v, w)
        generalized_force(model, u, w, w.z)
        for i in range(w.b.shape[0]):
            w.b[i] = -w.b[i]
    return rank


@kernel
def acceleration(model, q, v, u, tolerance, cap, w, vdot):
    """Constrained acceleration (nv,) at a state, into `vdot`; returns the rank, or FAILED."""
    rank = update_forces(model, q, v, u, tolerance, cap, w)
    if rank != FAILED:
        solve_motion(model, q, v, w, rank, w.z, w.b, vdot)
    return rank


@kernel(allocates=True)
def smallest_multipliers(scale, w, rank, lam):
    """lam (rows,) = smallest multipliers that carry the head w.z, where other rows than the pivots share it.

    With the heads X (rows, rank) of all rows, X' (lam / scale) = z. For orthonormal Y with X / scale = Y R, that is
    lam = Y R'^-1 z. By Gram and Schmidt, each column twice, which leaves no more than rounding.
    """
    count, y, g = lam.shape[0], np.empty(rank), np.empty(w.A.shape[1])
    Y = np.zeros((rank, count))
    for i in range(count):
        place = w.rows.place[i]
        if place < rank:
            for j in range(w.rows.first[i], place + 1):
                Y[j, i] = w.rows.G[i, j] / scale[i]
        else:  # rows that vanish have not been rotated to the end
            for k in range(g.shape[0]):
                g[k] = w.A[i, k]
            forward(w.root, g)
            to_head(w.rows, rank, g)
            for j in range(rank):
                Y[j, i] = g[j]
    lam[:] = 0.0
    for j in range(rank):
        y[j] = w.z[j]
        for k in range(2 * j):
            k %= j
            part = add_dot(0.0, Y[k], Y[j], 0, count)
            y[j] -= part * y[k]
            for i in range(count):
                Y[j, i] -= part * Y[k, i]
        size = np.sqrt(add_dot(0.0, Y[j], Y[j], 0, count))
        y[j] /= size
        for i in range(count):
            Y[j, i] /= size
            lam[i] += y[j] * Y[j, i]


@kernel(allocates=True)
def carried(model, q, v, u, tolerance, cap, w, beside, lam):
    """lam (rows,) = multipliers of the constraints at a state. Returns the rank, or FAILED.

    They are the multipliers nearest to `beside` (rows,): the smallest ones, if that is zero. ``w.friction.pivot`` shows
    how well each friction in proportion to loads determines them.
    """
    rank = update_forces(model, q, v, u, tolerance, cap, w)
    if rank == FAILED:
        return FAILED
    for i in range(lam.shape[0]):
        for k in range(v.shape[0]):
            w.z[k] -= w.A[i, k] * beside[i]
    solve_motion(model, q, v, w, rank, w.z, w.b, np.empty(v.shape[0]))
    if rank == lam.shape[0]:
        multipliers(model.scale, w.rows, rank, w.z, lam)
    else:
        smallest_multipliers(model.scale, w, rank, lam)
    for i in range(lam.shape[0]):
        lam[i] += beside[i]
    return rank


@kernel
def row_motion(model, q, v, w, rate):
    """w.phi = residual of the rows, and rate (rows,) = its rate A v, less prescribed rates."""
    link_poses(model.links, q, w.R, w.p)
    joint_screws(model.links, w.R, w.p, w.S)
    constraint_jacobian(model, q, w.R, w.p, w.S, w.E, w.wrenches, w.phi, w.A)
    constraint_rates(model, rate)
    for i in range(rate.shape[0]):
        rate[i] = add_dot(-rate[i], w.A[i], v, model.spans[i, 0], model.spans[i, 1])


@kernel(allocates=True)
def forward_dynamics(model, q, v, u, tolerance, w):
    """Acceleration (nv,) at a state under efforts u, and the rank; no acceleration where the rank is FAILED."""
    vdot = np.empty(v.shape[0])
    rank = acceleration(model, q, v, u, tolerance, v.shape[0], w, vdot)
    return vdot, rank


@kernel
def largest(model, phi):
    """Largest entry of the residual phi in scaled units, metres."""
    s = 0.0
    for i in range(phi.shape[0]):
        s = max(s, abs(phi[i]) * model.scale[i])
    return s


@kernel(allocates=True)
def close_loops(model, q, w, tolerance, cap, euclidean, accuracy, split_rank, moved):
    """Move q, in place, to the nearest point where the loops are closed (Gauss-Newton).

    `moved` (nv,) gets the displacement. The factorization is kept while the residual falls at least tenfold; where
    the split of w is that of a configuration nearby, `split_rank` is its rank, and else -1. Returns the residual that
    is left, metres; negative where the mass matrix failed.
    """
    n = w.z.shape[0]
    moved[:] = 0.0
    if model.rows.shape[0] == 0:
        return 0.0
    step = np.empty(n)
    trial = q.copy()
    fresh = split_rank >= 0
    rank = max(split_rank, 0)
    link_poses(model.links, q, w.R, w.p)
    constraint_residual(model, q, w.R, w.p, w.phi)
    residual = largest(model, w.phi)
    best = residual
    for _ in range(50):
        if not residual > accuracy:
            break
        if not fresh:
            rank = update_position(model, q, w, tolerance, cap)
            if rank == FAILED:
                return -1.0
            if euclidean:
                rank = euclidean_split(model, w, tolerance, cap)
            fresh = True
            exact = True
        else:
            exact = False
        for i in range(w.phi.shape[0]):
            w.rhs[i] = -model.scale[i] * w.phi[i]
        least_change(w, rank, step)
        retract(model.links, q, step, trial)
        link_poses(model.links, trial, w.R, w.p)
        constraint_residual(model, trial, w.R, w.p, w.phi)
        residual = largest(model, w.phi)
        if residual < best:
            if residual > 0.1 * best:
                fresh = False
            best = residual
            copy(trial, q)
            for k in range(n):
                moved[k] += step[k]
        elif exact:
            return best  # no direction helps any more: rounding, or an open loop
        else:
            fresh = False
            link_poses(model.links, q, w.R, w.p)
            constraint_residual(model, q, w.R, w.p, w.phi)
            residual = best
    return best


@kernel
def close_step(model, x, tolerance, cap, accuracy, w, q):
    """q = x, moved towards the closed loops by one Newton step in the Euclidean metric; for the stages of a step.

    The Euclidean metric is the cheapest. A stage is off the loops by an error of low order. On them it does not matter
    how the rows are written, and near a singular configuration the error is not divided by the distance to it.
    """
    copy(x, q)
    link_poses(model.links, x, w.R, w.p)
    joint_screws(model.links, w.R, w.p, w.S)
    constraint_jacobian(model, x, w.R, w.p, w.S, w.E, w.wrenches, w.phi, w.A)
    if not largest(model, w.phi) > accuracy:
        return
    for i in range(w.A.shape[0]):
        w.rhs[i] = -model.scale[i] * w.phi[i]
    rank = euclidean_rows(model, w, tolerance, cap)
    w.z[:] = 0.0
    solve_head(w.rows, rank, w.rhs, w.z)
    to_space(w.rows, rank, w.z)
    retract(model.links, x, w.z, q)


@kernel(allocates=True)
def state_terms(model, q, v, tolerance, cap, projected, accuracy):
    """All terms of the equations of motion at one state; v is first projected onto the loops, in place, if asked.

    Where loops are open by more than `accuracy`, q is first moved by one step, in place. Returns M, h, phi, A, b, B,
    potential energy, the pivots of the split in the metric of M, and the forces D of unit loads of friction; rank is
    FAILED where M is not positive definite.
    """
    w = new_work(model)
    if accuracy < np.inf:
        close_step(model, q.copy(), tolerance, cap, accuracy, w, q)
    rank = update_position(model, q, w, tolerance, cap)
    if projected and rank != FAILED:
        project_velocity(model, w, rank, v)
    update_velocity(model, q, v, w)
    drive_matrix(model, w.R, w.p, w.S, w.B, w.z)
    unit_load_forces(model, q, v, w.R, w.p, w.S, w.V, w.friction.D)
    return w.M, w.h, w.phi, w.A, w.b, w.B, potential_energy(model, q, w.R, w.p), w.rows.pivots, w.friction.D, rank


@kernel(allocates=True)
def jacobian(model, q):
    """Constraint Jacobian A (rows, nv) at a configuration, and whether M is positive definite there."""
    w = new_work(model)
    update_matrices(model, q, w)
    return w.A, cholesky(w.M, w.root)


@kernel(allocates=True)
def gauss_acceleration(M, A, scale, unit_lengths, force, target, tolerance, cap):
    """Acceleration nearest to M^-1 force, in the metric of M, with A vdot = target; the multipliers; and the rank.

    The multipliers belong to pivot rows; the others are zero. See `solve_acceleration`.
    """
    rows, n = A.shape
    root, split = new_root(n), new_rows(rows, n)
    rank = mass_split(M, A, scale, unit_lengths, 1.0, tolerance, cap, root, split)
    vdot, head, rhs, lam = force.copy(), np.empty(n), np.empty(rows), np.zeros(rows)
    if rank == FAILED:
        vdot[:] = np.nan
        return vdot, lam, rank
    for i in range(rows):
        rhs[i] = scale[i] * target[i]
    solve_forced(root, split, rank, rhs, vdot, head)
    multipliers(scale, split, rank, head, lam)
    return vdot, lam, rank

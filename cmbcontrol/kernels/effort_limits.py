"""Motor efforts within limits: the program at a state, in numbers of the order of one, and its solution in stages.

The equations of motion and the contacts become maps of the efforts u. Efforts are measured by their limits, or by what
is typical at the state; motion and forces by what the motors can do. Demands that cannot be met are given up in the
order of `ConstrainedActuation`, and each stage finds the nearest point of a convex set by `kernels.conic`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .._tolerance import ROUNDING, UNREACHED
from .arrays import copy, copy_rows, largest_of
from .conic import CONTRADICTION, FOUND, Within, missing_force, point_within
from .linear_algebra import (
    admissible_acceleration,
    constraint_split,
    motor_reach,
    product,
    reduced_coordinates,
    reduced_root,
    reduced_rows,
    singular_values,
    smallest_effort,
    smallest_solutions,
    unit_motions,
)
from .split import backward, forward
from .task_levels import Order, descend, start_of

__all__ = [
    "DEGRADED",
    "EXACT",
    "LENIENT",
    "LOST",
    "MET",
    "NOT_FINITE",
    "OPEN",
    "REGULAR",
    "TINY",
    "ConicProgram",
    "EffortProblem",
    "Levels",
    "Limits",
    "brought_back",
    "half_spaces",
    "let_miss",
    "levels_of",
    "limited_effort",
    "open_program",
    "order_of",
    "produces",
    "unmet_motion",
]

# How the efforts were found: all that was asked; not all of the motion, or not all contacts; not found, or no numbers.
MET, DEGRADED, LOST, OPEN, NOT_FINITE = 0, 1, 2, 3, 4

# Scaled by limits and typical efforts, everything in a program is of the order of one.
TINY, EXACT = 1e-6, 1e-9  # what counts as met by it; and without doubt
REGULAR = 1e-10  # cost of efforts where they do not matter, so that they stay bounded
LENIENT = 1e-5  # what lost contacts may miss above the least, so that a choice of efforts is left
# Needs are measured by what the motors can do, but are at most so many of these units.
FAR_MOTION, FAR_FORCE = 1e4, 10.0
UNFELT = 1e-7  # part of the largest effect of motors that is none: the exact solver reaches 1e-9
ALIKE = 1e-2  # the smallest effect beside the largest, with which the motion alone settles the efforts


@bundle
class EffortTerms(NamedTuple):
    """Terms of the equations of motion at a state, as far as efforts need them."""

    Z: np.ndarray  # (nv, dof) basis of the admissible velocities
    M: np.ndarray
    h: np.ndarray
    B: np.ndarray
    A: np.ndarray
    b: np.ndarray
    across: np.ndarray  # (nv,) the acceleration that the loops demand
    unit_lengths: np.ndarray
    row_scale: np.ndarray
    force_scale: float


@bundle
class Limits(NamedTuple):
    """Limits of efforts and contact forces that a law keeps to, with its metrics and nominal efforts."""

    lower: np.ndarray  # (nu,)
    upper: np.ndarray
    free: np.ndarray  # (nf,) motors with a choice
    given: np.ndarray  # (nu,) efforts of the others
    nominal: np.ndarray  # (nu,)
    root: np.ndarray  # (nu, nu) of the metric of efforts
    unweighted: np.ndarray  # (nu, nu) its inverse
    metric: np.ndarray  # (k, nv) root of the metric of accelerations; none for the kinetic energy
    F: np.ndarray  # (forces, rows) of forces that only push
    minimum: np.ndarray  # (forces,)
    G: np.ndarray  # (sum of cones, rows)
    cones: np.ndarray  # rows of each cone
    shared: np.ndarray  # (k, rows) forces of redundant rows that balance each other: the last k efforts, no motors
    scaling: int  # whether a part of the desired acceleration is looked for


@bundle
class Levels(NamedTuple):
    """Tasks in a strict order, Y_k y = r_k, of accelerations y in which the metric of M is 1; empty for a lone task."""

    Y: np.ndarray  # (m, dof)
    r: np.ndarray  # (m,)
    ends: np.ndarray  # (levels,) one past the last row of each
    least: np.ndarray  # (levels,) singular values of Y up to this are rounding
    y: np.ndarray  # (dof,) of the desired acceleration, which is best where nothing limits it


@bundle
class EffortProblem(NamedTuple):
    """Maps of the efforts u: R u = n gives the desired motion, R u = hold free rolling; contacts F u + f, G u + g.

    Contacts need F u + f >= 0, and each block of G u + g in its cone.
    """

    R: np.ndarray
    n: np.ndarray
    hold: np.ndarray
    F: np.ndarray
    f: np.ndarray
    G: np.ndarray
    g: np.ndarray
    rounding: float  # of n


@bundle
class ConicProgram(NamedTuple):
    """An effort problem in scaled unknowns x: free efforts, then the part of the desired acceleration if it is sought.

    Efforts cost |L x - l|^2, R x = n is the motion, lower <= x <= upper.
    """

    L: np.ndarray
    l: np.ndarray
    R: np.ndarray
    n: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    F: np.ndarray
    f: np.ndarray
    G: np.ndarray
    g: np.ndarray
    unit: np.ndarray  # of the efforts
    size: float  # unit of the motion
    unique: int  # whether the motion leaves no choice of efforts


# -- from the equations of motion to a problem in u --------------------------------------------------------------------


@kernel(allocates=True)
def effort_problem(state, limits, desired, reached, root):
    """Equations of motion as maps of u; with `reached` the motors are known to reach every motion.

    a(u) = c + Z M_Z^-1 Z'(B u - h - M c) with M_Z = Z'M Z = C C', whose factor C is `root`. |R u - n| is the size of
    the slack in the metric of M: C' M_Z^-1 Z' = C^-1 Z' is the first factor for it, Q Z M_Z^-1 Z' for a metric Q'Q.
    """
    Z, M, B = state.Z, state.M, state.B
    (nv, dof), nu = Z.shape, B.shape[1]
    contacts = limits.F.shape[0] + limits.G.shape[0] > 0
    forces = np.zeros((nu + 4, nv))  # of each motor, of M a_d, M c and h; the last is the weight of the machine
    for i in range(nv):
        for j in range(nu):
            forces[j, i] = B[i, j]
        for k in range(nv):
            forces[nu, i] += M[i, k] * desired[k]
            if contacts or limits.scaling:
                forces[nu + 1, i] += M[i, k] * state.across[k]
        forces[nu + 2, i] = state.h[i]
    along = product(forces, Z)  # (nu + 4, dof), each row becomes a column of M_Z^-1 Z' force
    for j in range(dof):
        s = 0.0
        for i in range(nv):
            s += (state.unit_lengths[i] * Z[i, j]) ** 2
        along[nu + 3, j] = state.force_scale * np.sqrt(s)
    if not reached:
        along[:nu] = felt_motors(state)
    for j in range(nu + 4):
        forward(root, along[j])
    measured = along
    if contacts or limits.metric.shape[0] > 0:
        measured = along.copy()
        for j in range(nu + 4):
            backward(root, along[j])
        if limits.metric.shape[0] > 0:
            measured = product(along, product(limits.metric, Z).T)
    R, n, hold = measured[:nu].T.copy(), np.empty(measured.shape[1]), np.empty(measured.shape[1])
    largest = np.zeros(3)
    for i in range(n.shape[0]):
        n[i] = measured[nu, i] + measured[nu + 2, i]
        hold[i] = measured[nu + 1, i] + measured[nu + 2, i]
        largest[0] = max(largest[0], abs(measured[nu, i]))
        largest[1] = max(largest[1], abs(measured[nu + 2, i]))
        largest[2] = max(largest[2], abs(measured[nu + 3, i]))
    slope, offset = np.zeros((0, nu)), np.zeros(0)
    if contacts:
        slope, offset = contact_maps(state, limits, along)
    k = limits.F.shape[0]
    for i in range(k):
        offset[i] -= limits.minimum[i]
    rounding = 1e-12 * largest.sum()
    return EffortProblem(R, n, hold, slope[:k].copy(), offset[:k].copy(), slope[k:].copy(), offset[k:].copy(), rounding)


@kernel(allocates=True)
def felt_motors(state):
    """Forces of motors along admissible motions, Z'B (nu, dof), without rounding of motors that reach nothing."""
    Z, unit_lengths = state.Z, state.unit_lengths
    motions = unit_motions(state.A, state.row_scale, unit_lengths, Z.shape[0] - Z.shape[1])
    X, _, scale = motor_reach(motions, state.B, unit_lengths)
    V = np.empty((X.shape[1], X.shape[1]))
    s = singular_values(X, V)
    for j in range(s.shape[0]):
        if not s[j] > UNREACHED * scale:
            X[:, j] = 0.0
    weighed = Z.copy()
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            weighed[i, j] *= unit_lengths[i] ** 2
    return product(product(weighed.T, motions), product(X, V.T)).T.copy()


@kernel(allocates=True)
def contact_maps(state, limits, along):
    """Slope (k, nu) and offset (k,) of the contact forces p = -lam = A+'(M a + h - B u), in the rows of F and G.

    With an orthonormal basis Q of the rows of A, A' = Q (A Q)': the smallest solution of A'l = force is that of
    (A Q)'l = Q'force, whose rows are independent.
    """
    Z, M, B = state.Z, state.M, state.B
    nv, nu = B.shape
    Q = constraint_split(state.A, state.b, state.row_scale, nv - Z.shape[1])[0]
    loads = np.zeros((nu + 1, nv))  # that the contacts take, of each motor and of the rest
    moved = product(along, Z.T)
    rest = np.empty(nv)
    for i in range(nv):
        rest[i] = state.across[i] - moved[nu + 1, i] - moved[nu + 2, i]
    for i in range(nv):
        loads[nu, i] = state.h[i]
        for j in range(nu):
            loads[j, i] = -B[i, j]
        for k in range(nv):
            loads[nu, i] += M[i, k] * rest[k]
            for j in range(nu):
                loads[j, i] += M[i, k] * moved[j, k]
    lam = smallest_solutions(product(state.A, Q).T.copy(), product(loads, Q))  # (nu + 1, rows)
    balanced = limits.shared.shape[0]
    for j in range(balanced):
        copy(limits.shared[j], lam[nu - balanced + j])
    count = limits.F.shape[0] + limits.G.shape[0]
    slope, offset = np.zeros((count, nu)), np.zeros(count)
    for i in range(count):
        row = limits.F[i] if i < limits.F.shape[0] else limits.G[i - limits.F.shape[0]]
        for k in range(row.shape[0]):
            offset[i] += row[k] * lam[nu, k]
            for j in range(nu):
                slope[i, j] += row[k] * lam[j, k]
    return slope, offset


# -- from a problem in u to numbers of the order of one ----------------------------------------------------------------


@kernel
def row_unit(slope, offset, far):
    """Unit of rows, by which their slopes are of the order of one, and offsets at most `far`; 1 for zero rows."""
    s = 0.0
    for i in range(slope.shape[0]):
        for j in range(slope.shape[1]):
            s += slope[i, j] * slope[i, j]
    size = max(np.sqrt(s), largest_of(offset) / far)
    return size if size != 0.0 else 1.0


@kernel(allocates=True)
def image(X, x, offset):
    """Affine map X x + offset."""
    out = offset.copy()
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i] += X[i, j] * x[j]
    return out


@kernel(allocates=True)
def nearest_efforts(R, n):
    """Smallest u with the smallest |R u - n|, where directions of negligible effect count as none."""
    X, V = R.copy(), np.empty((R.shape[1], R.shape[1]))
    s, u = singular_values(X, V), np.zeros(R.shape[1])
    for j in range(s.shape[0]):
        if s[j] > UNFELT * s[0]:
            share = 0.0
            for i in range(X.shape[0]):
                share += X[i, j] * n[i]
            for i in range(u.shape[0]):
                u[i] += share / s[j] ** 2 * V[i, j]
    return u


@kernel(allocates=True)
def effort_units(problem, limits, u):
    """Unit of each free effort: its limit, or a typical effort at the state, if that is less."""
    lower, upper, free = limits.lower, limits.upper, limits.free
    within = np.minimum(np.maximum(u, lower), upper)
    typical = max(largest_of(u), largest_of(within), largest_of(limits.nominal))
    typical = typical if typical != 0.0 else 1.0
    # and what moves a contact force to zero, where that can be felt
    worst = 0.0
    for part in range(2):
        rows, needed = (problem.F, problem.f) if part == 0 else (problem.G, problem.g)
        needed = image(rows, within, needed)
        for i in range(rows.shape[0]):
            reach = np.sqrt((rows[i] ** 2).sum())
            if reach * (FAR_MOTION * typical) > abs(needed[i]):
                worst = max(worst, abs(needed[i]) / reach)
    typical, unit = max(typical, worst), np.empty(free.shape[0])
    for k in range(free.shape[0]):
        i = free[k]
        unit[k] = min(max(abs(lower[i]), abs(upper[i])), typical)
    return unit


@kernel(allocates=True)
def reachable_part(R, n):
    """Part of R x = n that x can reach, as min(R.shape) orthogonal rows, and whether it leaves no choice of x.

    What x cannot reach is the same for all x, and its rows are zero. R' = U S V': the rows of V'R are S U'.
    """
    X, V = R.T.copy(), np.empty((R.shape[0], R.shape[0]))
    s = singular_values(X, V)
    rows = min(R.shape[0], R.shape[1])
    reached, need, kept = np.zeros((rows, R.shape[1])), np.zeros(rows), 0
    while kept < rows and s[kept] > UNFELT * s[0]:
        for j in range(R.shape[1]):
            reached[kept, j] = X[j, kept]
        for i in range(R.shape[0]):
            need[kept] += V[i, kept] * n[i]
        kept += 1
    unique = kept == R.shape[1] and (kept == 0 or s[kept - 1] > ALIKE * s[0])
    return reached, need, int(unique)


@kernel(allocates=True)
def free_columns(X, free, unit, by, more):
    """Columns of the free efforts in their units, divided by `by`, and `more` zero columns."""
    out = np.zeros((X.shape[0], free.shape[0] + more))
    for i in range(X.shape[0]):
        for k in range(free.shape[0]):
            out[i, k] = X[i, free[k]] * unit[k] / by
    return out


@kernel(allocates=True)
def scaled_contacts(problem, limits, unit):
    """F, f, G and g of the contacts in their unit of force, without entries that are rounding."""
    more = limits.scaling
    F, G = (
        free_columns(problem.F, limits.free, unit, 1.0, more),
        free_columns(problem.G, limits.free, unit, 1.0, more),
    )
    f, g = image(problem.F, limits.given, problem.f), image(problem.G, limits.given, problem.g)
    if f.shape[0] + g.shape[0] > 0:
        force = row_unit(np.concatenate((F, G)), np.concatenate((f, g)), FAR_FORCE)
        for X, x in ((F, f), (G, g)):
            for i in range(X.shape[0]):
                x[i] /= force
                for j in range(X.shape[1]):
                    X[i, j] = X[i, j] / force if abs(X[i, j]) > 1e-11 * force else 0.0
    return F, f, G, g


@kernel(allocates=True)
def scaled_program(problem, limits, u, reached):
    """The effort problem in unknowns of the order of one, without given efforts; u are the efforts without limits."""
    free, given, more = limits.free, limits.given, limits.scaling
    unit = effort_units(problem, limits, u if reached else nearest_efforts(problem.R, problem.n))
    n, hold = image(problem.R, -given, problem.n), image(problem.R, -given, problem.hold)
    R = free_columns(problem.R, free, unit, 1.0, more)
    needs = np.concatenate((n, hold)) if more else n
    size = row_unit(R, needs, FAR_MOTION)
    for i in range(n.shape[0]):
        if more:  # R x = hold + k (n - hold)
            R[i, free.shape[0]] = hold[i] - n[i]
            n[i] = hold[i]
        n[i] /= size
        for j in range(R.shape[1]):
            R[i, j] /= size
    L = free_columns(limits.unweighted, free, unit, 1.0, more)
    l = image(limits.unweighted, limits.nominal - given, np.zeros(given.shape[0]))
    effort = row_unit(L, l, FAR_MOTION)
    L /= effort
    l /= effort
    lower, upper = np.zeros(free.shape[0] + more), np.ones(free.shape[0] + more)
    for k in range(free.shape[0]):
        lower[k] = min(max(limits.lower[free[k]] / unit[k], -FAR_MOTION), FAR_MOTION)
        upper[k] = min(max(limits.upper[free[k]] / unit[k], -FAR_MOTION), FAR_MOTION)
    F, f, G, g = scaled_contacts(problem, limits, unit)
    reached_rows, need, unique = reachable_part(R, n)
    return ConicProgram(L, l, reached_rows, need, lower, upper, F, f, G, g, unit, size, unique)


@kernel(allocates=True)
def brought_back(program, limits, x):
    """Efforts (nu,) from the unknowns of a program, clipped to their limits."""
    u = limits.given.copy()
    for k in range(limits.free.shape[0]):
        u[limits.free[k]] = program.unit[k] * x[k]
    return np.minimum(np.maximum(u, limits.lower), limits.upper)


@kernel(allocates=True)
def produces(problem, u, size):
    """Whether efforts produce the motion; `size` is the unit of its needs."""
    missed = largest_of(image(problem.R, u, -problem.n)) - problem.rounding
    return missed <= TINY * max(1.0, largest_of(problem.n) / size) * size


@kernel(allocates=True)
def missing_at(program, cones, x):
    """Largest violation of the contacts at x, in the program's unit of force."""
    return missing_force(image(program.F, x, program.f), image(program.G, x, program.g), cones)


@kernel(allocates=True)
def unmet_motion(R, n, x):
    """Residual of the motion of a program at x, as a part of its needs."""
    return largest_of(image(R, x, -n)) / max(1.0, largest_of(n))


# -- stage by stage ----------------------------------------------------------------------------------------------------


@kernel(allocates=True)
def half_spaces(program, limits, missing, miss):
    """Bounds of the unknowns and contacts as a convex set; contacts may be violated by `missing`.

    With `miss` there is one more unknown, the last one, >= 0, by which contacts may be violated, too.

    A cone of two rows is two half spaces.
    """
    n, free = program.lower.shape[0], limits.free.shape[0]
    bounds, flat, curved, tall = int(miss) + 2 * limits.scaling, 0, 0, 0
    for k in range(free):
        i = limits.free[k]
        bounds += int(np.isfinite(limits.lower[i])) + int(np.isfinite(limits.upper[i]))
    for size in limits.cones:
        flat += size if size <= 2 else 0
        curved += int(size > 2)
        tall += size if size > 2 else 0
    count = bounds + program.F.shape[0] + flat
    C, b = np.zeros((count, n + miss)), np.zeros(count)
    G, g, cones = np.zeros((tall, n + miss)), np.zeros(tall), np.empty(curved, np.int64)
    at = 0
    for k in range(n):
        if k >= free or np.isfinite(limits.lower[limits.free[k]]):
            C[at, k], b[at] = 1.0, program.lower[k]
            at += 1
        if k >= free or np.isfinite(limits.upper[limits.free[k]]):
            C[at, k], b[at] = -1.0, -program.upper[k]
            at += 1
    if miss:
        C[at, n] = 1.0
        at += 1
    for i in range(program.F.shape[0]):
        copy(program.F[i], C[at, :n])
        b[at] = -program.f[i] - missing
        if miss:
            C[at, n] = 1.0
        at += 1
    first, tall, curved = 0, 0, 0
    for size in limits.cones:
        if size <= 2:  # head + tail >= 0 and head - tail >= 0; or the head alone
            for side in range(size):
                sign = 1.0 - 2.0 * side if size == 2 else 0.0
                tail = first + size - 1
                for j in range(n):
                    C[at, j] = program.G[first, j] + sign * program.G[tail, j]
                b[at] = -program.g[first] - sign * program.g[tail] - missing
                if miss:
                    C[at, n] = 1.0
                at += 1
        else:
            cones[curved] = size
            curved += 1
            for i in range(size):
                copy(program.G[first + i], G[tall + i, :n])
                g[tall + i] = program.g[first + i]
            g[tall] += missing
            if miss:
                G[tall, n] = 1.0
            tall += size
        first += size
    return Within(C, b, G, g, cones)


@kernel(allocates=True)
def costs(program, scaling, R, n, weights, aim):
    """T and d of the cost |T x - d|^2: miss of R x = n; efforts and, beside `aim`, part of the motion, by weights."""
    m, k, columns = R.shape[0], program.L.shape[0], program.lower.shape[0]
    T, d = np.zeros((m + k + scaling, columns)), np.zeros(m + k + scaling)
    copy_rows(R, T[:m])
    copy(n, d[:m])
    for i in range(k):
        d[m + i] = weights[0] * program.l[i]
        for j in range(columns):
            T[m + i, j] = weights[0] * program.L[i, j]
    if scaling:
        T[m + k, columns - 1] = weights[1]
        d[m + k] = weights[1] * aim
    return T, d


@kernel(allocates=True)
def without_part(R, n, part, scaling):
    """Rows R and n of R x = n for a given part of the desired acceleration, without rows that are zero.

    With `scaling` this part was the last unknown; its column becomes zero.
    """
    m, columns = 0, R.shape[1]
    for i in range(R.shape[0]):
        m += int((R[i] ** 2).sum() > 0.0)
    out, need = R[:m].copy(), n[:m].copy()
    if scaling:
        for i in range(m):
            need[i] -= out[i, columns - 1] * part
            out[i, columns - 1] = 0.0
    return out, need


@kernel(allocates=True)
def nearest_motion(program, limits, within, R, n, x):
    """Find x with the smallest miss of R x = n within limits, and least efforts where there is a choice."""
    if program.unique and not limits.scaling:
        return point_within(R, n, R[:0], n[:0], within, x)
    small = np.sqrt(REGULAR)
    T, d = costs(program, limits.scaling, R, n, (small, small), 1.0)
    return point_within(T, d, R[:0], n[:0], within, x)


@kernel(allocates=True)
def least_missing(program, limits, x):
    """Find x with the least violation e of the contacts: the least e + e^2 / 2 is the least e >= 0.

    The term e is not small where e is, so a small cost of efforts beside it moves nothing.
    """
    n, none = program.lower.shape[0], np.zeros(0)
    small = np.sqrt(REGULAR)
    T, d = costs(program, limits.scaling, program.R[:0], none, (small, small), 1.0)
    metric, right = np.zeros((T.shape[0] + 1, n + 1)), np.zeros(T.shape[0] + 1)
    for i in range(T.shape[0]):
        copy(T[i], metric[i, :n])
        right[i] = d[i]
    metric[T.shape[0], n], right[T.shape[0]] = 1.0, -1.0
    y = np.zeros(n + 1)
    status = point_within(metric, right, metric[:0], none, half_spaces(program, limits, 0.0, 1), y)
    copy(y[:n], x)
    return status


@kernel
def let_miss(least):
    """Violation that is allowed to contacts whose least violation is `least`."""
    return least + (LENIENT if least > TINY else EXACT)


@kernel(allocates=True)
def with_contacts(program, limits, R, n, x):
    """Find the nearest motion x with the least violation of contacts; returns the status and the allowed violation."""
    within = half_spaces(program, limits, 0.0, 0)
    status = nearest_motion(program, limits, within, R, n, x)
    if status != CONTRADICTION or program.F.shape[0] + program.G.shape[0] == 0:
        return status, 0.0
    status = least_missing(program, limits, x)
    if status != FOUND:
        return status, 0.0
    missing = let_miss(missing_at(program, limits.cones, x))
    return nearest_motion(program, limits, half_spaces(program, limits, missing, 0), R, n, x), missing


@kernel(allocates=True)
def furthest(program, limits, within, x):
    """Find the x nearest to free rolling with the largest part of the desired acceleration; returns the status."""
    R, n = without_part(program.R, program.n, 1.0, 0)
    status = nearest_motion(program, limits, within, R, n, x)
    if status != FOUND:
        return status
    if unmet_motion(R, n, x) > EXACT:
        n = image(R, x, np.zeros(R.shape[0]))
    # the largest part k: the least (k - 2)^2, which is steep up to k = 1
    T, d = costs(program, 1, R[:0], n[:0], (np.sqrt(REGULAR), 1.0), 2.0)
    return point_within(T, d, R, n, within, x)


@kernel(allocates=True)
def staged(program, limits, x):
    """Find the efforts x in stages; returns the part of the motion, and `MET` (as far as known here), `LOST` or `OPEN`.

    First the least efforts that meet all demands. If there are none, contacts are kept as well as they can be; then the
    motion is the nearest one; and at last efforts are the least that give it.
    """
    scaling, part, missing = limits.scaling, 1.0, 0.0
    contacts = program.F.shape[0] + program.G.shape[0] > 0
    within = half_spaces(program, limits, 0.0, 0)
    R, n = without_part(program.R, program.n, part, scaling)
    if scaling or not program.unique:
        T, d = costs(program, scaling, R[:0], n[:0], (1.0, 1.0), part)
        if point_within(T, d, R, n, within, x) == FOUND:
            return part, MET
    if contacts or not scaling:
        status, missing = with_contacts(program, limits, R, n, x)
        if status != FOUND:
            return part, OPEN
        if missing > 0.0:
            within = half_spaces(program, limits, missing, 0)
    if scaling and (not contacts or unmet_motion(R, n, x) > TINY):
        if furthest(program, limits, within, x) != FOUND:
            return part, OPEN
        part = min(max(x[x.shape[0] - 1], 0.0), 1.0)
        R, n = without_part(program.R, program.n, part, scaling)
    if unmet_motion(R, n, x) > TINY:
        n = image(R, x, np.zeros(R.shape[0]))  # from now on what is desired
    if not program.unique:
        T, d = costs(program, scaling, R[:0], n[:0], (1.0, 1.0), part)
        least = x.copy()
        # The efforts that do it may be the ones at hand alone, and rounding take these away, too: then they stay.
        if point_within(T, d, R, n, within, least) == FOUND:
            copy(least, x)
    lost = missing > TINY + EXACT or missing_at(program, limits.cones, x) - missing > TINY
    return part, LOST if lost else MET


# -- level by level ----------------------------------------------------------------------------------------------------


@kernel(allocates=True)
def order_of(problem, program, limits, levels):
    """Levels as maps of the unknowns, y = R u - n + y_d; the last level asks for least efforts."""
    R = free_columns(problem.R, limits.free, program.unit, 1.0, 0)
    at_none = image(problem.R, limits.given, levels.y - problem.n)
    count, k, m = levels.ends.shape[0], program.L.shape[0], levels.Y.shape[0]
    T, d = np.empty((m + k, R.shape[1])), np.empty(m + k)
    copy_rows(product(levels.Y, R), T[:m])
    copy(image(levels.Y, -at_none, levels.r), d[:m])
    copy_rows(program.L, T[m:])
    copy(program.l, d[m:])
    size = np.sqrt((R**2).sum())
    ends, least = np.empty(count + 1, np.int64), np.zeros(count + 1)
    for i in range(count):
        ends[i], least[i] = levels.ends[i], levels.least[i] * size
    ends[count] = m + k
    return Order(T, d, ends, least)


@kernel(allocates=True)
def kept_contacts(program, limits, x):
    """Find x with the least violation of contacts; returns the status and the allowed violation."""
    none = np.zeros(0)
    status = point_within(program.L, program.l, program.R[:0], none, half_spaces(program, limits, 0.0, 0), x)
    if status != CONTRADICTION or program.F.shape[0] + program.G.shape[0] == 0:
        return status, 0.0
    status = least_missing(program, limits, x)
    return status, let_miss(missing_at(program, limits.cones, x))


@kernel(allocates=True)
def level_by_level(problem, program, limits, levels, x):
    """Find the efforts x by levels; returns `MET` (as far as is known here), `LOST` or `OPEN`.

    First the least efforts for the motion that is best without limits. If there are none, contacts are kept as well as
    they can be; then each level is met as far as those above it allow; and at last efforts are the least.
    """
    R, n = without_part(program.R, program.n, 1.0, 0)
    within = half_spaces(program, limits, 0.0, 0)
    found = point_within(program.L, program.l, R, n, within, x) == FOUND
    if found and produces(problem, brought_back(program, limits, x), program.size):
        return MET
    status, missing = kept_contacts(program, limits, x)
    if status != FOUND:
        return OPEN
    order = order_of(problem, program, limits, levels)
    at, level = descend(order, half_spaces(program, limits, missing, 0), start_of(x), 0)
    if level < order.ends.shape[0]:
        return OPEN
    copy(at.x, x)
    lost = missing > TINY + EXACT or missing_at(program, limits.cones, x) - missing > TINY
    return LOST if lost else MET


@kernel(allocates=True)
def levels_of(Z, c, M, unit_lengths, J, target, ends, wish):
    """Levels J_k a = target_k, a last one nearest to a wish in the metric of M, and the best acceleration for them.

    That acceleration is NaN where there is none: the mass matrix is not positive definite, or numbers are not finite.
    """
    dof, count, m = Z.shape[1], ends.shape[0], J.shape[0]
    root, definite = reduced_root(Z, M)
    Y, r, least = np.zeros((m + dof, dof)), np.zeros(m + dof), np.zeros(count + 1)
    all_ends, best, y = np.empty(count + 1, np.int64), np.full(c.shape[0], np.nan), np.full(dof, np.nan)
    if definite:
        rows, rest, mobility = reduced_rows(Z, c, M, root, J, target)
        copy_rows(rows, Y[:m])
        copy(rest, r[:m])
        unit = 0.0  # a metre of the lightest coordinate
        for i in range(unit_lengths.shape[0]):
            unit = max(unit, unit_lengths[i] / np.sqrt(M[i, i]))
        first = 0
        for k in range(count):
            scale = 0.0
            for i in range(first, ends[k]):
                scale = max(scale, mobility[i, i])
            all_ends[k], least[k] = ends[k], max(UNREACHED * np.sqrt(scale), ROUNDING * unit)
            first = ends[k]
        for j in range(dof):
            Y[m + j, j] = 1.0
        copy(reduced_coordinates(Z, c, M, root, wish), r[m:])
        all_ends[count] = m + dof
        order, none = Order(Y, r, all_ends, least), np.zeros((0, dof))
        nowhere = Within(none, np.zeros(0), none, np.zeros(0), np.zeros(0, np.int64))
        at, level = descend(order, nowhere, start_of(np.zeros(dof)), 0)
        if level > count:
            copy(at.x, y)
            best = admissible_acceleration(Z, c, root, y)
    return Levels(Y, r, all_ends, least, y), best


# -- all of it -----------------------------------------------------------------------------------------------------


@kernel
def is_finite(x):
    """Whether the sum of x is finite: then all its numbers are. False, too, for sums beyond 1e308."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return np.isfinite(s)


@kernel(allocates=True)
def unlimited(state, limits, desired):
    """Least efforts without limits, and whether they produce the motion."""
    rest = image(state.B, -limits.nominal, state.h)
    y, rank = smallest_effort(
        state.Z, product(state.B, limits.root), state.unit_lengths, state.M, rest, desired, UNREACHED
    )
    return image(limits.root, y, limits.nominal), rank == state.Z.shape[1]


@kernel(allocates=True)
def has_numbers(problem):
    """Whether all numbers of a problem are finite."""
    sound = True
    for X in (problem.R, problem.F, problem.G):
        sound = sound and is_finite(X.ravel())
    for x in (problem.n, problem.hold, problem.f, problem.g):
        sound = sound and is_finite(x)
    return sound


@kernel(allocates=True)
def limited_effort(Z, M, h, B, A, b, across, unit_lengths, row_scale, force_scale, limits, desired, levels, staging):
    """Efforts within limits, how they were found, and the part of the desired acceleration. See `EffortTerms`.

    With `levels` the desired acceleration is the best one without limits; within limits, the nearest one is found level
    by level.

    `OPEN` where the stages are left to another solver, as all are without `staging`, or did not end; `NOT_FINITE`
    where numbers are not finite. Then the efforts are those without limits, or the nominal ones, clipped.
    """
    state = EffortTerms(Z, M, h, B, A, b, across, unit_lengths, row_scale, force_scale)
    u, reached = unlimited(state, limits, desired)
    finite = is_finite(u) and is_finite(state.A.ravel()) and is_finite(state.b)
    clipped = np.minimum(np.maximum(u if finite else limits.nominal, limits.lower), limits.upper)
    if not finite:
        return clipped, NOT_FINITE, 1.0
    inside = reached
    for i in range(u.shape[0]):
        inside = inside and u[i] == clipped[i]
    contacts = limits.F.shape[0] + limits.G.shape[0] > 0
    if inside and not contacts:
        return u, MET, 1.0
    root, definite = reduced_root(Z, M)
    if not definite:
        return clipped, NOT_FINITE, 1.0
    problem = effort_problem(state, limits, desired, reached, root)
    if not has_numbers(problem):
        return clipped, NOT_FINITE, 1.0
    if inside and missing_force(image(problem.F, u, problem.f), image(problem.G, u, problem.g), limits.cones) <= 0.0:
        return u, MET, 1.0
    if not staging:
        return clipped, OPEN, 1.0
    program = scaled_program(problem, limits, u, reached)
    x = np.zeros(program.lower.shape[0])
    part, status = 1.0, OPEN
    if levels.ends.shape[0] > 0:
        status = level_by_level(problem, program, limits, levels, x)
    else:
        part, status = staged(program, limits, x)
    if status == OPEN:
        return clipped, OPEN, 1.0
    u = brought_back(program, limits, x)
    part = 1.0 if part > 1.0 - TINY else part
    if status == MET and not (part == 1.0 and produces(problem, u, program.size)):
        status = DEGRADED
    return u, status, part


@kernel(allocates=True)
def open_program(Z, M, h, B, A, b, across, unit_lengths, row_scale, force_scale, limits, desired):
    """Effort problem and scaled program that `limited_effort` has left open, for another solver."""
    state = EffortTerms(Z, M, h, B, A, b, across, unit_lengths, row_scale, force_scale)
    u, reached = unlimited(state, limits, desired)
    problem = effort_problem(state, limits, desired, reached, reduced_root(Z, M)[0])
    return problem, scaled_program(problem, limits, u, reached)

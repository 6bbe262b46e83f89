"""Friction in proportion to what constraints carry: forces and multipliers that depend on each other.

A force element with a load resists with c F(z, dz/dt), where the load c = N(lam) >= 0 is what a constraint carries, N:
the push of a contact, or the size of several multipliers. With the forces D (loads, nv) of unit loads,

    M a + h + A' lam + D' c = f,    A a = target,    c = N(lam).

The split that solves this for c = 0 also gives the replies of a and lam to -D_j. So lam = lam_0 + replies' c, and what
is left is c = N(lam_0 + replies' c): as many equations as there are loads, which Newton's method solves. For contacts
they are linear. Where a pivot of the last matrix is not positive, sliding is inconsistent or not unique (Painleve's
paradox).

For one load, c - N is concave in c and below zero at c = 0, so Newton's steps from there rise to its first root, or
meet a slope that is not positive, beyond which there is none. For several, steps may cycle, whether there is a solution
or not. So their residual is checked; where it is not rounding, the solution is followed from that without friction,
while the replies grow from zero to their full size. It is the solution on which a constraint that gives way a little
settles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .force_elements import add_element_force
from .layout import LOADED

__all__ = [
    "FrictionScratch",
    "correct_rows",
    "load_levels",
    "load_of",
    "load_slopes",
    "loaded",
    "new_friction",
    "solve_loads",
    "solve_loads_near",
    "unit_load_forces",
]

# Of Newton's method. Its error is squared by each, and the first leaves about the square of the coefficient of
# friction: from 0.3 to rounding it takes four.
STEPS = 6

# Of the terms that a load is the sum of: what it may miss. Rounding leaves some 1e-16 of them, and a step of Newton's
# method that is not yet exact the square of what it began with.
UNSOLVED = 1e-12

# Of the replies: the least by which they grow at once where the loads are followed. A branch that needs less turns
# back there, or grows without bound.
LEAST_GROWTH = 1e-6

# Under the root that measures several multipliers, so that none of them has a slope, too.
NOTHING = 1e-200


@bundle
class FrictionScratch(NamedTuple):
    """Scratch arrays for all elements with loads at one evaluation."""

    first: np.ndarray  # (loads,) row that a load begins with, how many there are, on which side they push
    count: np.ndarray
    side: np.ndarray
    level: np.ndarray  # (loads,) the loads c
    pivot: np.ndarray  # (loads,) of the equations for them
    lam: np.ndarray  # (rows,) multipliers without friction
    head: np.ndarray  # (nv,) what they follow from
    D: np.ndarray  # (loads, nv) forces of unit loads
    replies: np.ndarray  # (loads, nv) accelerations that -D makes
    heads: np.ndarray  # (loads, nv) what their multipliers follow from
    reply_lam: np.ndarray  # (loads, rows) their multipliers
    J: np.ndarray  # (loads, loads + 1)
    carried: np.ndarray  # (rows,)
    total: np.ndarray  # (nv,) D' c, of the last solution; zero where there is none


@kernel
def loaded(model):
    """Number of force elements that have a load."""
    found = 0
    for i in range(model.elements.shape[0]):
        if model.elements[i].kind == LOADED:
            found += 1
    return found


@kernel(allocates=True)
def new_friction(model):
    """New scratch arrays for the elements with loads of a model."""
    k, nv = loaded(model), model.damping.shape[0]
    first, count, side = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64)
    j = 0
    for i in range(model.elements.shape[0]):
        element = model.elements[i]
        if element.kind == LOADED:
            first[j], count[j], side[j] = element.row, element.rows, element.side
            j += 1
    rows = model.rows.shape[0] if k > 0 else 0
    return FrictionScratch(
        first,
        count,
        side,
        np.zeros(k),
        np.zeros(k),
        np.zeros(rows),
        np.zeros(nv if k > 0 else 0),
        np.zeros((k, nv)),
        np.zeros((k, nv)),
        np.zeros((k, nv)),
        np.zeros((k, rows)),
        np.zeros((k, k + 1)),
        np.zeros(rows),
        np.zeros(nv),
    )


@kernel
def unit_load_forces(model, q, v, R, p, S, V, D):
    """D (loads, nv) = joint forces of the elements with a unit load each."""
    j = 0
    for i in range(model.elements.shape[0]):
        element = model.elements[i]
        if element.kind == LOADED:
            D[j] = 0.0
            add_element_force(model, element, q, v, R, p, S, V, D[j])
            j += 1


@kernel
def load_of(lam, first, count, side):
    """Load that an element measures, N: the push of a contact, else the size of the multipliers of its rows."""
    if side != 0:
        return -side * lam[first]
    square = NOTHING
    for r in range(first, first + count):
        square += lam[r] * lam[r]
    return np.sqrt(square)


@kernel
def load_slope(x, load, side):
    """Derivative of a load by a multiplier x that is part of it."""
    return -1.0 * side if side != 0 else x / load


@kernel
def load_slopes(first, count, side, lam, slopes):
    """slopes (loads, rows) = derivatives of the loads by all multipliers."""
    for i in range(slopes.shape[0]):
        for r in range(slopes.shape[1]):
            slopes[i, r] = 0.0
        load = load_of(lam, first[i], count[i], side[i])
        for r in range(first[i], first[i] + count[i]):
            slopes[i, r] = load_slope(lam[r], load, side[i])


@kernel
def solve_loads(first, count, side, lam, reply_lam, level, pivot, J, carried):
    """level (loads,) = the loads c with c = N(lam + reply_lam' c); `carried` (rows,) becomes their multipliers.

    Returns whether they solve it, with positive `pivot` (loads,) of 1 - N' reply_lam'. Else friction leaves no motion,
    or none that continues that without friction.
    """
    missing = load_levels(first, count, side, lam, reply_lam, level, pivot, J, carried)
    if not missing <= UNSOLVED:
        missing = follow_levels(first, count, side, lam, reply_lam, level, pivot, J, carried)
    return missing <= UNSOLVED and all_positive(pivot)


@kernel
def solve_loads_near(first, count, side, lam, reply_lam, level, pivot, J, carried):
    """Solve c = N(lam + reply_lam' c) from `level` as given, to the solution near it; returns whether that is found.

    There may be several solutions; `pivot` (loads,) may have any sign.
    """
    improve_levels(first, count, side, lam, reply_lam, 1.0, STEPS, level, pivot, J, carried)
    return missing_loads(first, count, side, lam, reply_lam, 1.0, level, carried) <= UNSOLVED


@kernel
def load_levels(first, count, side, lam, reply_lam, level, pivot, J, carried):
    """level (loads,) = the loads c by Newton's method from zero; returns their residual, see `missing_loads`."""
    steps = 1
    for i in range(level.shape[0]):
        level[i] = 0.0
        if side[i] == 0:
            steps = STEPS
    improve_levels(first, count, side, lam, reply_lam, 1.0, steps, level, pivot, J, carried)
    return missing_loads(first, count, side, lam, reply_lam, 1.0, level, carried)


@kernel(allocates=True)
def follow_levels(first, count, side, lam, reply_lam, level, pivot, J, carried):
    """Follow the loads c from c = N(lam) while the replies grow to full size; returns their residual."""
    k, grown, growth, missing = level.shape[0], 0.0, 0.25, np.inf
    kept = np.zeros(k)
    for i in range(k):
        kept[i] = load_of(lam, first[i], count[i], side[i])
    while grown < 1.0 and growth >= LEAST_GROWTH:
        part = min(grown + growth, 1.0)
        for i in range(k):
            level[i] = kept[i]
        improve_levels(first, count, side, lam, reply_lam, part, STEPS, level, pivot, J, carried)
        missing = missing_loads(first, count, side, lam, reply_lam, part, level, carried)
        if missing <= UNSOLVED and all_positive(pivot):
            grown, growth = part, 2.0 * growth
            for i in range(k):
                kept[i] = level[i]
        else:
            missing, growth = np.inf, 0.5 * growth
    return missing


@kernel
def all_positive(pivot):
    """Whether all pivots are above zero; not where one is nan."""
    least = np.inf
    for i in range(pivot.shape[0]):
        if not pivot[i] >= least:
            least = pivot[i]
    return least > 0.0


@kernel
def improve_levels(first, count, side, lam, reply_lam, part, steps, level, pivot, J, carried):
    """Take `steps` steps of Newton's method for c = N(lam + part reply_lam' c) in `level`."""
    k = level.shape[0]
    for _ in range(steps):
        carry(lam, reply_lam, part, level, carried)
        for i in range(k):
            load = load_of(carried, first[i], count[i], side[i])
            J[i, k] = load - level[i]
            for j in range(k):
                J[i, j] = 1.0 if i == j else 0.0
            for r in range(first[i], first[i] + count[i]):
                slope = part * load_slope(carried[r], load, side[i])
                for j in range(k):
                    J[i, j] -= slope * reply_lam[j, r]
        eliminate(J, pivot)
        for i in range(k):
            level[i] += J[i, k]
    carry(lam, reply_lam, part, level, carried)


@kernel
def missing_loads(first, count, side, lam, reply_lam, part, level, carried):
    """Residual |N - c| of the loads, each relative to the terms that it is the sum of; added up."""
    missing = 0.0
    for i in range(level.shape[0]):
        size = 1e-100  # of nothing: the root of NOTHING
        for r in range(first[i], first[i] + count[i]):
            size += abs(lam[r])
            for j in range(level.shape[0]):
                size += abs(part * reply_lam[j, r] * level[j])
        missing += abs(load_of(carried, first[i], count[i], side[i]) - level[i]) / size
    return missing


@kernel
def carry(lam, reply_lam, part, level, carried):
    """carried (rows,) = lam + part reply_lam' level, the multipliers with friction."""
    for r in range(carried.shape[0]):
        carried[r] = lam[r]
        for j in range(level.shape[0]):
            carried[r] += part * reply_lam[j, r] * level[j]


@kernel
def eliminate(J, pivot):
    """Solve J (k, k + more) x = the last columns, in place, without exchanging rows; `pivot` (k,) gets the pivots."""
    k, columns = J.shape
    for i in range(k):
        pivot[i] = J[i, i]
        for m in range(i + 1, k):
            factor = J[m, i] / J[i, i]
            for c in range(i, columns):
                J[m, c] -= factor * J[i, c]
    for i in range(k - 1, -1, -1):
        for c in range(k, columns):
            for m in range(i + 1, k):
                J[i, c] -= J[i, m] * J[m, c]
            J[i, c] /= J[i, i]


@kernel
def correct_rows(slopes, D, reply_lam, unit_a, unit_lam, J, pivot, G, mu):
    """Turn rows of the inverse without friction, in G and mu, into those with friction, in place.

    For the system M da + A' dlam = f, A da = -c they are R da = G f - mu c; see `kernels.reduction`. With D' dc on the
    left, dc = slopes dlam, that is a change of low rank (Woodbury). unit_a (loads, nv) and unit_lam (loads, rows) are
    its solutions for f = 0, -c = slopes; J is (loads, loads + p), p the number of rows.
    """
    k, p, columns = D.shape[0], G.shape[0], J.shape[1]
    for i in range(k):
        for j in range(k):
            J[i, j] = 1.0 if i == j else 0.0
            for r in range(slopes.shape[1]):
                J[i, j] -= slopes[i, r] * reply_lam[j, r]
    # x J = G D', row by row: the transpose of J, with the rows of G D' as columns
    for i in range(k):
        for j in range(i):
            J[i, j], J[j, i] = J[j, i], J[i, j]
    for i in range(k):
        for row in range(p):
            J[i, k + row] = 0.0
            for c in range(D.shape[1]):
                J[i, k + row] += G[row, c] * D[i, c]
    eliminate(J, pivot)
    for row in range(columns - k):
        for i in range(k):
            for c in range(D.shape[1]):
                G[row, c] -= J[i, k + row] * unit_a[i, c]
            for r in range(slopes.shape[1]):
                mu[row, r] -= J[i, k + row] * unit_lam[i, r]

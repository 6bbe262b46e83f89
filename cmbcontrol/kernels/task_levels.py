"""Least squares in a strict order, within limits: each level has the choice that the levels above it have left.

Level k asks for the least |T_k x - d_k|. It settles T_k x; the unknowns move on in the null space of T_k, so levels
above are kept to rounding, whatever a level below asks for. Limits are measured from the point at hand, which
keeps them: each level has this point at least, and none contradicts the levels above it.

A level whose rows depend on each other, or on those of levels above, has a choice of x with the same T_k x. Its stage
stays near the point at hand, and is solved again from the point that it has found, until T_k x rests (a proximal point
iteration): so the small cost of motions that do not matter to a level takes nothing from it.

A limit that pushes a level off its aim is met with equality by every x that is as good for this level (complementary
slackness). It counts as settled, too: else levels below would have next to no room beside it, and rounding would
take it away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .conic import FOUND, Within, nearest_point_and_push, tail_length
from .linear_algebra import product, singular_values

__all__ = ["Order", "Settled", "Stage", "at_rest", "descend", "moved_on", "stage_at", "start_of", "taken"]

# Part of the rows of a level that is left of them where levels above hold, and is none: unknowns are of the order of
# one, so a level below changes one above it by no more than this part of its rows.
UNTOUCHED = 1e-7

SMALL = 1e-4  # root of the cost of a step in what a level does not tell, beside the largest of what it tells
RESTS = 1e-9  # change of T_k x, in units of its largest row times an unknown, with which a level is at its end
PUSHES = 1e-5  # part of the gradient of a level that a limit takes, with which it pushes; SMALL alone pushes by less

# How far stages aim, in unknowns: at all of what is missing. Where that is too far for the digits at hand, at less: the
# point that is nearest to an aim that cannot be had is so for one on the way to it, too.
FAR, NEXT, NEAR = 1.0, 1e-2, 1e-7
FINEST = 1e-12  # moves that limits allow anyway, see `conic.KEPT`
NONE = 1e-300  # in place of a zero to divide by
AGAIN = 20  # stages: one or two as a rule, more where limits tie what a level does not tell weakly to what it tells


@bundle
class Order(NamedTuple):
    """Levels T_k x = d_k in their order, with their rows one after the other."""

    T: np.ndarray  # (m, n)
    d: np.ndarray  # (m,)
    ends: np.ndarray  # (levels,) one past the last row of each
    least: np.ndarray  # (levels,) singular values up to this are rounding


@bundle
class Settled(NamedTuple):
    """Point x that the levels so far have led to, and N, in whose columns x may move on."""

    x: np.ndarray  # (n,)
    N: np.ndarray  # (n, r) orthonormal


@bundle
class Stage(NamedTuple):
    """Level in the coordinates z of the motions that are left, x + N V z: the least |T z - d| within limits."""

    T: np.ndarray  # (r, r) diagonal
    d: np.ndarray
    within: Within
    V: np.ndarray  # (r, r) orthogonal
    told: int  # the first coordinates, that the level tells
    part: float  # of what is missing, that d is


@kernel(allocates=True)
def start_of(x):
    """Starting point x before the first level: x may move everywhere."""
    return Settled(x.copy(), np.eye(x.shape[0]))


@kernel(allocates=True)
def shifted(G, x, offset, sign):
    """Sum offset + sign G x."""
    out = offset.copy()
    for i in range(G.shape[0]):
        for j in range(x.shape[0]):
            out[i] += sign * G[i, j] * x[j]
    return out


@kernel(allocates=True)
def stage_at(order, within, at, level, small, far):
    """Stage of a level from the point `at`, which is taken to keep the limits; it aims at most `far`.

    A step in motions that the level does not determine costs the square of `small`.
    """
    first, last = order.ends[level - 1] if level > 0 else 0, order.ends[level]
    T, N, r = order.T[first:last].copy(), at.N, at.N.shape[1]
    need = shifted(T, at.x, order.d[first:last], -1.0)
    none = max(order.least[level], UNTOUCHED * np.sqrt((T**2).sum()))
    X, V = product(T, N), np.empty((r, r))
    s = singular_values(X, V)
    told = 0
    while told < r and s[told] > none:
        told += 1
    metric, d, part = np.zeros((r, r)), np.zeros(r), 1.0
    for j in range(r):
        metric[j, j] = small
        if j < told:
            metric[j, j] = s[j] / s[0]
            for i in range(X.shape[0]):
                d[j] += X[i, j] * need[i]
            d[j] /= s[j] * s[0]
            part = min(part, far * metric[j, j] / max(abs(d[j]), NONE))
    d *= part
    ways = product(N, V)
    b, g = shifted(within.C, at.x, within.b, -1.0), shifted(within.G, at.x, within.g, 1.0)
    for i in range(b.shape[0]):
        b[i] = min(b[i], 0.0)
    begin = 0
    for size in within.cones:
        g[begin] = max(g[begin], tail_length(g, begin, size))
        begin += size
    left = Within(product(within.C, ways), b, product(within.G, ways), g, within.cones.copy())
    return Stage(metric, d, left, V, told, part)


@kernel(allocates=True)
def moved_on(stage, at, z):
    """Point that a stage has found by its z, and the motions in its coordinates."""
    N, x = product(at.N, stage.V), at.x.copy()
    return Settled(shifted(N, z, x, 1.0), N)


@kernel(allocates=True)
def later_columns(X, first):
    """Columns of X from the first one on, contiguous: slices would be a second kind of argument for other kernels."""
    out = np.empty((X.shape[0], X.shape[1] - first))
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = X[i, first + k]
    return out


@kernel(allocates=True)
def taken(at, told):
    """Point `at` without the first `told` motions, which a level has determined."""
    return Settled(at.x.copy(), later_columns(at.N, told))  # of its own: what comes from Python is kept by Python


@kernel(allocates=True)
def touching(stage, z, push):
    """Rows E of length one, in a stage's coordinates, with the same E z for all z that are as good for its level.

    For a half space that pushes, this is its row. For a cone whose multiplier is inside the cone the push is zero: all
    rows; for one whose multiplier is on it the push keeps its direction (1, t): the rows across.
    """
    r, within = z.shape[0], stage.within
    aim = 0.0
    for j in range(stage.told):
        aim += (stage.T[j, j] * (stage.T[j, j] * z[j] - stage.d[j])) ** 2
    least = PUSHES * np.sqrt(aim)
    E = np.zeros((within.C.shape[0] + within.G.shape[0], r))
    count = 0
    for i in range(within.C.shape[0]):
        size = np.sqrt((within.C[i] ** 2).sum())
        if push[i] * size > least:
            E[count] = within.C[i] / size
            count += 1
    lam = push[within.C.shape[0] :]
    first = 0
    for k in within.cones:
        size = np.sqrt((within.G[first : first + k] ** 2).sum())
        if lam[first] * size > least:
            length = tail_length(lam, first, k)
            across = lam[first] - length <= PUSHES * lam[first]
            for i in range(first, first + k):
                E[count] = within.G[i]
                if across:  # head - t'tail, and the tail without its part along t, with t = -tail of lam / its length
                    for l in range(first + 1, first + k):
                        along = lam[l] / length if i == first else -lam[i] * lam[l] / length**2
                        E[count] += along * within.G[l]
                E[count] /= size
                count += 1
        first += k
    return E[:count].copy()


@kernel(allocates=True)
def without(at, E, told):
    """Point `at` with the motions left after the first `told` ones, without those that change E z."""
    left = taken(at, told)
    r = left.N.shape[1]
    X, V = later_columns(E, told), np.empty((r, r))
    s = singular_values(X, V)
    gone = 0
    while gone < r and s[gone] > UNTOUCHED:
        gone += 1
    return taken(Settled(left.x, product(left.N, V)), gone)


@kernel
def lacks(stage, z):
    """Largest distance of the level of a stage from its aim."""
    worst = 0.0
    for j in range(stage.told):
        worst = max(worst, abs(stage.T[j, j] * z[j] - stage.d[j] / stage.part))
    return worst


@kernel
def at_rest(stage, z):
    """Whether a level is finished: it determines all motions, or reaches its aim, or has not moved."""
    moves = 0.0
    for j in range(stage.told):
        moves = max(moves, abs(stage.T[j, j] * z[j]))
    if stage.told == z.shape[0] and stage.part == 1.0:
        return True
    return moves <= max(RESTS * stage.part, FINEST) or lacks(stage, z) <= RESTS


@kernel(allocates=True)
def ended(stage, at, z, push):
    """Point and motions that the level of a stage, finished at the point `at`, leaves to the levels below."""
    if lacks(stage, z) <= RESTS:
        return taken(at, stage.told)
    return without(at, touching(stage, z, push), stage.told)


@kernel(allocates=True)
def descend(order, within, at, level):
    """Solve levels from `level` on, as far as this succeeds; returns the point and motions, and the level left open.

    For the last level the point at hand is taken where no other is found: limits may leave just this point, and
    rounding take it away, too.
    """
    count = order.ends.shape[0]
    while level < count and at.N.shape[1] > 0:
        rests, far = False, np.inf
        for _ in range(AGAIN):
            stage = stage_at(order, within, at, level, SMALL, far)
            z, left = np.zeros(stage.d.shape[0]), stage.within
            push = np.zeros(left.C.shape[0] + left.G.shape[0])
            if stage.told > 0:
                status = nearest_point_and_push(
                    stage.T, stage.d, stage.T[:0], stage.d[:0], left.C, left.b, left.G, left.g, left.cones, z, push
                )
                if status != FOUND:
                    far = min(FAR, far * NEXT)
                    if far < NEAR:
                        break
                    continue
            at, rests = moved_on(stage, at, z), at_rest(stage, z)
            if rests:
                at = ended(stage, at, z, push)
                break
            far = np.inf
        if not rests:
            return at, count if level == count - 1 else level
        level += 1
    return at, count

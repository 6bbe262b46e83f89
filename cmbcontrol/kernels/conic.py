"""Small convex programs: the point of a convex set that is nearest in a metric, by active sets.

The set is given by equations E x = e, half spaces C x >= b, and second-order cones: in each block of G x + g the first
entry is at least as large as the length of the others. Unknowns and rows are without units and of the order of one:
the caller scales them so, and the tolerances here rely on it.

Without cones this is the dual method of Goldfarb and Idnani (1983). It starts at the point that is nearest without
limits, and activates one violated limit after the other; each step keeps the point the nearest one under the active
limits, so the result is exact, and limits that contradict each other are detected.

A cone is the intersection of the half spaces head - t'tail >= 0 for all unit vectors t. The one with t along the tail
touches the cone where the point is. A round takes this half space in place of the cone, and adds the curvature of the
cone, times its multiplier, to the metric (Newton's method on the conditions of the optimum). Where rounds come to rest
these conditions hold, so the result is again exact; else the status is `UNSOLVED`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .._tolerance import DEPENDENT
from .arrays import copy

__all__ = [
    "CONTRADICTION",
    "FOUND",
    "UNSOLVED",
    "Within",
    "missing_force",
    "nearest_point",
    "nearest_point_and_push",
    "point_within",
    "polyhedron_point",
    "tail_length",
]

FOUND, CONTRADICTION, UNSOLVED = 0, 1, 2  # the nearest point; there is no point; not found whether there is one

# A limit counts as kept that is missed by less, beside 1 and its offset: sums of some ten products, in a point that
# has been moved some ten times, lose 1e-15 or so; times the conditioning of the metric, a root of 1e10 at most, where
# costs are of so different weight. What is missed on a curved cone moves the point by a root of it, so no more is let
# pass than must be.
KEPT = 1e-12
OF_CONDITIONING, KEPT_AT_WORST = 1e-15, 1e-10

# Rounds on cones have come to rest where the unknowns change by less. They converge quadratically: the next change
# would be rounding.
AT_REST = 1e-9
STRAIGHT = 1e-7  # and where tails turn by less: the push of a cone turns with its tail, however short that is
ROUNDS = 30  # five or six as a rule

# A tail that is shorter has no direction but that of rounding, and the point is the tip of the cone, where half spaces
# of several rounds meet. A longer one has a curvature of 1e9 at most, of which the metric takes the root.
TIP = 1e-9

# Half spaces touch a cone beside each other where their directions differ by less: Newton's method is at home there.
BESIDE = 0.1


@bundle
class Within(NamedTuple):
    """A convex set: C x >= b, and blocks of G x + g in their cones."""

    C: np.ndarray
    b: np.ndarray
    G: np.ndarray
    g: np.ndarray
    cones: np.ndarray


@kernel
def missing_force(linear, conic, cones):
    """Largest violation of linear >= 0 and of the cones of the blocks of `conic`; zero where there is none."""
    worst, first = 0.0, 0
    for i in range(linear.shape[0]):
        worst = max(worst, -linear[i])
    for size in cones:
        worst = max(worst, tail_length(conic, first, size) - conic[first])
        first += size
    return worst


@kernel
def tail_length(conic, first, size):
    """Length of the tail of a block: of all entries but the first."""
    s = 0.0
    for i in range(first + 1, first + size):
        s += conic[i] * conic[i]
    return np.sqrt(s)


@kernel
def triangular_inverse(T, d, J, x):
    """J (n, n) with |T J y|^2 = |y|^2 for all y, and the x with the smallest |T x - d|^2; T and d are written over.

    Returns whether columns of T are independent. Householder reflections bring T (m, n) to a triangle, whose inverse
    is J. No squares of T are formed: the metric T'T may be conditioned as badly as 1e10.
    """
    m, n = T.shape
    if m < n:
        return False
    for k in range(n):
        s, whole = 0.0, 0.0
        for i in range(m):
            whole += T[i, k] * T[i, k]
            if i >= k:
                s += T[i, k] * T[i, k]
        if not s > DEPENDENT * DEPENDENT * whole:
            return False
        norm = np.sqrt(s)
        beta = -norm if T[k, k] >= 0.0 else norm
        head = T[k, k] - beta
        factor = -head / beta  # of the reflection I - factor w w' with w = (1, column / head)
        for i in range(k + 1, m):
            T[i, k] /= head
        for j in range(k + 1, n + 1):
            s = T[k, j] if j < n else d[k]
            for i in range(k + 1, m):
                s += T[i, k] * (T[i, j] if j < n else d[i])
            s *= factor
            if j < n:
                T[k, j] -= s
                for i in range(k + 1, m):
                    T[i, j] -= s * T[i, k]
            else:
                d[k] -= s
                for i in range(k + 1, m):
                    d[i] -= s * T[i, k]
        T[k, k] = beta
    for j in range(n):
        for i in range(n):
            J[i, j] = 0.0
        J[j, j] = 1.0 / T[j, j]
        for i in range(j - 1, -1, -1):
            s = 0.0
            for k in range(i + 1, j + 1):
                s += T[i, k] * J[k, j]
            J[i, j] = -s / T[i, i]
    for i in range(n):
        x[i] = 0.0
        for j in range(i, n):
            x[i] += J[i, j] * d[j]
    return True


@kernel
def rotate(X, i, j, cosine, sine):
    """Turn columns i and j of X so that the pair (cosine, sine) of a row becomes (1, 0)."""
    for k in range(X.shape[0]):
        a, b = X[k, i], X[k, j]
        X[k, i] = cosine * a + sine * b
        X[k, j] = cosine * b - sine * a


@kernel
def take_up(J, U, d, q):
    """Add the q-th active row, with d = J'row: J is turned until d ends at q, and d becomes a column of U."""
    n = J.shape[0]
    for j in range(n - 1, q, -1):
        if d[j] != 0.0:
            length = np.hypot(d[j - 1], d[j])
            rotate(J, j - 1, j, d[j - 1] / length, d[j] / length)
            d[j - 1], d[j] = length, 0.0
    for i in range(q + 1):
        U[i, q] = d[i]


@kernel
def let_go(J, U, active, out, q):
    """Remove the active row in place `out` of q: U is made a triangle again, and J is turned with it."""
    for k in range(out, q - 1):
        active[k] = active[k + 1]
        for i in range(k + 2):
            U[i, k] = U[i, k + 1]
    for k in range(out, q - 1):
        if U[k + 1, k] != 0.0:
            length = np.hypot(U[k, k], U[k + 1, k])
            cosine, sine = U[k, k] / length, U[k + 1, k] / length
            for j in range(k, q - 1):
                a, b = U[k, j], U[k + 1, j]
                U[k, j] = cosine * a + sine * b
                U[k + 1, j] = cosine * b - sine * a
            rotate(J, k, k + 1, cosine, sine)


@kernel(allocates=True)
def polyhedron_point(J, x, E, e, C, b, y):
    """Move x, the nearest point without limits, to the nearest with E x = e and C x >= b; y = multipliers of C x >= b.

    The metric is T'T with T J orthogonal; J is written over. In y = J^-1 x the metric is 1, and the active rows are
    the columns of a triangle U below which J has been turned: the first q columns of J are along them, the others are
    the directions that are left.

    Returns
    -------
    int
        `FOUND`, or `CONTRADICTION` where there is no such point, or `UNSOLVED` where rounding keeps it from ending.
    """
    n, equations, rows = x.shape[0], E.shape[0], C.shape[0]
    U, active, cost = np.zeros((n, n)), np.empty(n, np.int64), np.empty(n)
    d, r, is_active = np.empty(n), np.empty(n), np.zeros(rows, np.bool_)
    q, fixed = 0, 0  # active rows, and equations among them: these come first and stay
    y[:] = 0.0
    kept = kept_limit(J)
    for i in range(equations):
        s, left, whole = missing_and_directions(J, E[i], e[i], x, q, d)
        if not left > DEPENDENT * DEPENDENT * whole:
            if not abs(s) <= kept * (1.0 + abs(e[i])):
                return CONTRADICTION
            continue
        step(J, d, q, -s / left, x)
        take_up(J, U, d, q)
        active[q], cost[q] = i, 0.0
        q += 1
        fixed = q
    # Each limit comes in and goes a few times at most; more is rounding that goes in circles.
    for _ in range(10 * (n + rows) + 10):
        new, worst = -1, 0.0
        for i in range(rows):
            if not is_active[i]:
                s = b[i]
                for j in range(n):
                    s -= C[i, j] * x[j]
                if s > worst and s > kept * (1.0 + abs(b[i])):
                    new, worst = i, s
        if new < 0:
            for k in range(fixed, q):
                y[active[k]] = cost[k]
            for j in range(n):
                if not np.isfinite(x[j]):
                    return UNSOLVED
            return FOUND
        paid = 0.0
        while True:
            s, left, whole = missing_and_directions(J, C[new], b[new], x, q, d)
            largest = 0.0
            for k in range(q - 1, -1, -1):  # r = U^-1 d: how the costs of the active rows fall
                r[k] = d[k]
                for j in range(k + 1, q):
                    r[k] -= U[k, j] * r[j]
                r[k] /= U[k, k]
                largest = max(largest, abs(r[k]))
            out, length = -1, np.inf
            for k in range(fixed, q):
                # What is 1e-12 beside others is rounding of them.
                if r[k] > 1e-12 * largest and cost[k] < length * r[k]:
                    out, length = k, cost[k] / r[k]
            free = left > DEPENDENT * DEPENDENT * whole
            if not free and out < 0:
                return CONTRADICTION
            full = free and -s <= length * left
            if full:
                length = -s / left
            if free:
                step(J, d, q, length, x)
            for k in range(fixed, q):
                cost[k] = max(cost[k] - length * r[k], 0.0)
            paid += length
            if full:
                take_up(J, U, d, q)
                active[q], cost[q], is_active[new] = new, paid, True
                q += 1
                break
            is_active[active[out]] = False
            for k in range(out, q - 1):
                cost[k] = cost[k + 1]
            let_go(J, U, active, out, q)
            q -= 1
    return UNSOLVED


@kernel
def kept_limit(J):
    """Tolerance for keeping a limit, from the conditioning of the metric, which the initial triangle J shows."""
    least, most = np.inf, 0.0
    for j in range(J.shape[0]):
        least, most = min(least, abs(J[j, j])), max(most, abs(J[j, j]))
    return min(max(KEPT, OF_CONDITIONING * most / least), KEPT_AT_WORST) if most > 0.0 else KEPT


@kernel
def missing_and_directions(J, row, offset, x, q, d):
    """Residual row x - offset; d = J'row; the square of its part from q on, and of all of it."""
    s, left, whole = -offset, 0.0, 0.0
    for j in range(x.shape[0]):
        s += row[j] * x[j]
        d[j] = 0.0
        for i in range(x.shape[0]):
            d[j] += J[i, j] * row[i]
        whole += d[j] * d[j]
        if j >= q:
            left += d[j] * d[j]
    return s, left, whole


@kernel
def step(J, d, q, length, x):
    """Move x along the part of d in the directions from q on."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(q, x.shape[0]):
            s += J[i, j] * d[j]
        x[i] += length * s


@kernel(allocates=True)
def nearest_point(T, d, E, e, C, b, G, g, cones, x):
    """Find the x (n,) with the smallest |T x - d|^2, E x = e, C x >= b, and blocks of G x + g in second-order cones.

    Parameters
    ----------
    T, d : ndarray, shape (m, n) and (m,)
        The columns of T are independent.
    E, e, C, b : ndarray
        Equations and half spaces; rows that depend on others do no harm.
    G, g : ndarray, shape (sum of cones, n) and (sum of cones,)
    cones : ndarray of int
        Rows of each block.
    x : ndarray, shape (n,)
        Gets the point.

    Returns
    -------
    int
        `FOUND`, `CONTRADICTION` or `UNSOLVED`.
    """
    return nearest_point_and_push(T, d, E, e, C, b, G, g, cones, x, np.empty(C.shape[0] + G.shape[0]))


@kernel(allocates=True)
def nearest_point_and_push(T, d, E, e, C, b, G, g, cones, x, push):
    """Find `nearest_point` and the multipliers of its limits: `push` gets those of C x, then those of G x.

    With y = (C', G') push half the gradient of |T x - d|^2 is y, where there are no equations. A multiplier of a cone
    is in the cone, too.
    """
    n, m, rows, count = x.shape[0], T.shape[0], C.shape[0], cones.shape[0]
    J = np.empty((n, n))
    if count == 0:
        if not triangular_inverse(T.copy(), d.copy(), J, x):
            return UNSOLVED
        return polyhedron_point(J, x, E, e, C, b, push)
    conic, before, costs = np.empty(G.shape[0]), np.empty(n), np.zeros(count)
    half, offset = np.zeros((rows + count * ROUNDS, n)), np.zeros(rows + count * ROUNDS)
    y, tails = np.empty(half.shape[0]), np.zeros((ROUNDS, G.shape[0]))
    half[:rows], offset[:rows] = C, b
    conic[:] = 0.0  # at first the heads alone are not to be negative
    for turn in range(ROUNDS):
        now = rows + turn * count
        touch(G, g, cones, conic, tails[turn], half[now : now + count], offset[now : now + count])
        forget(cones, tails, turn, half[rows:now], offset[rows:now])
        metric, right = np.zeros((m + G.shape[0], n)), np.zeros(m + G.shape[0])
        metric[:m], right[:m] = T, d
        curve(G, g, cones, conic, costs, metric[m:], right[m:])
        if not triangular_inverse(metric, right, J, x):
            return UNSOLVED
        now += count
        status = polyhedron_point(J, x, E, e, half[:now], offset[:now], y[:now])
        if status != FOUND:
            return status
        costs[:] = 0.0
        for i in range(rows, now):
            costs[(i - rows) % count] += y[i]
        for i in range(G.shape[0]):
            conic[i] = g[i]
            for j in range(n):
                conic[i] += G[i, j] * x[j]
        change, size, largest = 0.0, 1.0, 0.0
        for j in range(n):
            change, size = max(change, abs(x[j] - before[j])), max(size, abs(x[j]))
            before[j] = x[j]
        for i in range(conic.shape[0]):
            largest = max(largest, abs(conic[i]))
        kept = missing_force(offset[:0], conic, cones) <= KEPT_AT_WORST * (1.0 + largest)
        still = change <= AT_REST * size and largest_turn(cones, conic, costs, tails[turn]) <= STRAIGHT
        if kept and (turn == 0 or still):
            push[:rows] = y[:rows]
            push_of_cones(cones, tails, y[rows:now], push[rows:])
            return FOUND
    return UNSOLVED


@kernel
def push_of_cones(cones, tails, y, push):
    """push = multipliers of the rows of cones, from those of the half spaces that touch them, round by round."""
    push[:] = 0.0
    first, count = 0, cones.shape[0]
    for c in range(count):
        for k in range(c, y.shape[0], count):
            push[first] += y[k]
            for i in range(first + 1, first + cones[c]):
                push[i] -= y[k] * tails[k // count, i]
        first += cones[c]


@kernel(allocates=True)
def point_within(T, d, E, e, within, x):
    """Find the `nearest_point` of a set; returns the status."""
    return nearest_point(T, d, E, e, within.C, within.b, within.G, within.g, within.cones, x)


@kernel
def largest_turn(cones, conic, y, tails):
    """Largest change of direction, since the last round, of a tail whose cone has a multiplier."""
    worst, first = 0.0, 0
    for c in range(cones.shape[0]):
        rho = tail_length(conic, first, cones[c])
        if y[c] > 0.0 and rho > TIP:
            s = 0.0
            for i in range(first + 1, first + cones[c]):
                s += (conic[i] / rho - tails[i]) ** 2
            worst = max(worst, np.sqrt(s))
        first += cones[c]
    return worst


@kernel
def curve(G, g, cones, conic, y, rows, right):
    """Rows of |rows x - right|^2 = sum of y / rho |(1 - t t') tail|^2: the second derivative of -y head + y |tail|.

    t and rho are the direction and the length of the tail. No matter where the point is on the ray t, the bracket is
    zero there: so the point itself drops out.
    """
    first = 0
    for c in range(cones.shape[0]):
        size = cones[c]
        rho = tail_length(conic, first, size)
        weight = np.sqrt(y[c] / rho) if y[c] > 0.0 and rho > TIP else 0.0
        if weight > 0.0:
            for i in range(first + 1, first + size):
                for k in range(first + 1, first + size):
                    part = weight * ((1.0 if i == k else 0.0) - conic[i] * conic[k] / (rho * rho))
                    for j in range(G.shape[1]):
                        rows[i, j] += part * G[k, j]
                    right[i] -= part * g[k]
        first += size


@kernel
def touch(G, g, cones, conic, tails, half, offset):
    """Set, for each cone, the half space head - t'tail >= 0 that touches it along its tail at hand; `tails` gets t."""
    first = 0
    for c in range(cones.shape[0]):
        size = cones[c]
        rho = tail_length(conic, first, size)
        copy(G[first], half[c])
        offset[c] = -g[first]
        if rho > TIP:
            for i in range(first + 1, first + size):
                tails[i] = conic[i] / rho
                for j in range(G.shape[1]):
                    half[c, j] -= tails[i] * G[i, j]
                offset[c] += tails[i] * g[i]
        first += size


@kernel
def forget(cones, tails, turn, half, offset):
    """Drop half spaces of earlier rounds that touch beside the new one, where the curvature is more accurate.

    They would hold the point in the corners between them. Those that touch elsewhere keep rounds from going in circles.
    """
    count = cones.shape[0]
    first = 0
    for c in range(count):
        for k in range(turn):
            apart = 0.0
            for i in range(first + 1, first + cones[c]):
                apart += (tails[turn, i] - tails[k, i]) ** 2
            if apart < BESIDE * BESIDE:
                for j in range(half.shape[1]):
                    half[k * count + c, j] = 0.0
                offset[k * count + c] = -1.0
        first += cones[c]

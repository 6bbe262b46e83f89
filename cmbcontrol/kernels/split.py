"""Rank-revealing split of the constraint gradients into row space and null space.

In mass coordinates z = L' v (M = L L') the metric of the kinetic energy is the identity, and a
gradient row a becomes g = L^-1 a. Householder reflections with row pivoting bring the rows to
lower triangular form: in the rotated coordinates Q' z the first `rank` entries belong to the
constraints and the others are free. Then every projection is "replace the head, keep the tail".
Working in the metric of M, on rows scaled to metres, keeps units from deciding the rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .arrays import add_dot

# Entries of a reflector that are a smaller part of it change nothing: rounding is a thousand times larger.
NOTHING = 1e-19

__all__ = [
    "Root",
    "Rows",
    "backward",
    "cholesky",
    "factor_rows",
    "forward",
    "forward_between",
    "new_root",
    "new_rows",
    "solve_head",
    "solve_multipliers",
    "take_rows",
    "to_head",
    "to_space",
    "transposed_product",
]


@bundle
class Root(NamedTuple):
    """Lower Cholesky factor of a metric. Its zeros for limbs without a common joint cost nothing."""

    L: np.ndarray  # (n, n), nothing outside of the envelope
    begin: np.ndarray  # (n,) column from which on each row of the metric may have entries
    first: np.ndarray  # (n,) column of the first entry of each row
    last: np.ndarray  # (n,) row of the last entry of each column


@bundle
class Rows(NamedTuple):
    """Rows to be factored, and their factorization by `factor_rows`; rows of loops far apart share no entries."""

    G: np.ndarray  # (rows, n), nothing outside of the parts of its rows
    spans: np.ndarray  # (rows, 2) columns between which each row of A may have entries
    order: np.ndarray  # (rows,) which row each pivot is of, then the others
    place: np.ndarray  # (rows,) where each row is in that order
    tau: np.ndarray  # (rows,) of the reflectors
    pivots: np.ndarray  # (rows,) sizes, largest first
    first: np.ndarray  # (rows,) column of the first entry of each row, those of its head from there on
    begin: np.ndarray  # (rows,) column from which on the rest of each row has entries
    end: np.ndarray  # (rows,) one past the last one
    size: np.ndarray  # (rows, 2) squares of what is left of each row, now and when last summed up
    after: np.ndarray  # (rows + 1,) the row that follows in a list, the first one after the last place; `rows` is none
    heads: np.ndarray  # (n + 1,) scratch of sorting


@kernel(allocates=True)
def new_root(n):
    """New arrays `Root` for the factor of a metric of size n."""
    return Root(np.empty((n, n)), np.zeros(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))


@kernel(allocates=True)
def new_rows(rows, n):
    """New arrays `Rows` for so many rows, each of which may have entries everywhere."""
    spans = np.zeros((rows, 2), np.int64)
    spans[:, 1] = n
    return Rows(
        np.empty((rows, n)),
        spans,
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows),
        np.empty(rows),
        np.zeros(rows, np.int64),
        np.empty(rows, np.int64),
        np.full(rows, n),
        np.empty((rows, 2)),
        np.empty(rows + 1, np.int64),
        np.empty(n + 1, np.int64),
    )


@kernel
def take_rows(X, rows):
    """G = X (rows, n), as `factor_rows` needs it."""
    for i in range(X.shape[0]):
        rows.first[i], rows.end[i] = 0, X.shape[1]
        for k in range(X.shape[1]):
            rows.G[i, k] = X[i, k]


@kernel
def cholesky(M, root):
    """Factor the metric M, row by row, each from its first entry on; False where M is not positive definite."""
    L, begin, first, last = root.L, root.begin, root.first, root.last
    for i in range(M.shape[0]):
        first[i], last[i] = i, i
        for k in range(begin[i], i):
            if M[i, k] != 0.0:
                first[i] = k
                break
        for j in range(first[i], i + 1):
            last[j] = i
            s = M[i, j]
            for k in range(max(first[i], first[j]), j):
                s -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = s / L[j, j]
            elif s > 1e-14 * abs(M[i, i]):
                L[i, i] = np.sqrt(s)
            else:
                return False
    return True


@kernel
def forward(root, x):
    """Solve L y = x; x becomes y, in place."""
    forward_between(root, x, 0, x.shape[0])


@kernel
def forward_between(root, x, begin, end):
    """Solve L y = x, in place, where x has entries from `begin` to before `end` only; returns where the result ends.

    Entries of x behind `end` are not read; they are overwritten as far as the result goes.
    """
    L, first, last = root.L, root.first, root.last
    i, reached = begin, begin
    while i < end or i < reached:
        s = x[i] if i < end else 0.0
        for k in range(max(first[i], begin), i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]
        if s != 0.0:
            reached = max(reached, last[i] + 1)
        i += 1
    return reached


@kernel
def backward(root, x):
    """Solve L' y = x; x becomes y, in place."""
    L, first = root.L, root.first
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(first[i], i):
            x[k] -= L[i, k] * x[i]


@kernel
def transposed_product(root, x, out):
    """out = L' x, for the factor L of a metric."""
    L, first = root.L, root.first
    for i in range(x.shape[0]):
        out[i] = L[i, i] * x[i]
        for k in range(first[i], i):
            out[k] += L[i, k] * x[i]


@kernel
def begin_rows(rows):
    """Find the first and last entry of each row of G, and sort the rows by their first entries, in a list."""
    order, place, heads = rows.order, rows.place, rows.heads
    G, first, begin, end, size, after = rows.G, rows.first, rows.begin, rows.end, rows.size, rows.after
    count = G.shape[0]
    for i in range(count):
        order[i], place[i] = i, i
        while end[i] > first[i] and G[i, end[i] - 1] == 0.0:
            end[i] -= 1
        while first[i] < end[i] and G[i, first[i]] == 0.0:
            first[i] += 1
        begin[i] = first[i]
        s = add_dot(0.0, G[i], G[i], first[i], end[i])
        size[i, 0], size[i, 1] = s, s
    heads[:] = count  # of lists of rows with the same first column
    for i in range(count - 1, -1, -1):
        after[i], heads[first[i]] = heads[first[i]], i
    last = count
    for c in range(heads.shape[0]):
        i = heads[c]
        while i < count:
            after[last] = i
            last, i = i, after[i]
    after[last] = count


@kernel
def best_row(rows, least, enough):
    """Find the row that ends first among those whose square is `enough`, and the row before it in the list.

    Rows whose square is not above `least` never will be pivots. They leave the list, and are not rotated any more:
    their rounding errors would otherwise couple the ends of a long chain. Returns the largest square of these, too.
    """
    first, end, size, after, place = rows.first, rows.end, rows.size, rows.after, rows.place
    count = end.shape[0]
    best, before_best, before, left = count, count, count, 0.0
    i = after[count]
    while i < count and (best == count or first[i] < end[best]):  # what begins there ends later
        if not size[i, 0] > least:
            left = max(left, size[i, 0])
            after[before] = after[i]
        else:
            ends_first = best == count or end[i] < end[best] or (end[i] == end[best] and place[i] < place[best])
            if size[i, 0] >= enough and ends_first:
                best, before_best = i, before
            before = i
        i = after[i]
    return best, before_best, left


@kernel
def longest_row(rows):
    """Longest row in the list; of equal ones the last, which is the last to become shorter."""
    size, after = rows.size, rows.after
    count = size.shape[0]
    longest, i = count, after[count]
    while i < count:
        if longest == count or size[i, 0] >= size[longest, 0]:
            longest = i
        i = after[i]
    return longest


@kernel
def extend_row(rows, i, begin, end):
    """Extend the rest of row i by zeros, to have entries from `begin` to before `end`, too."""
    G = rows.G
    if rows.end[i] <= rows.begin[i]:
        rows.begin[i], rows.end[i] = begin, begin
    for c in range(begin, rows.begin[i]):
        G[i, c] = 0.0
    for c in range(rows.end[i], end):
        G[i, c] = 0.0
    rows.begin[i], rows.end[i] = min(rows.begin[i], begin), max(rows.end[i], end)


@kernel
def enter_head(rows, i, k):
    """Make place k part of the head of row i; returns where its rest begins."""
    if not rows.begin[i] <= k < rows.end[i]:
        rows.G[i, k] = 0.0
    rows.first[i] = min(rows.first[i], k)
    return max(rows.begin[i], k + 1)


@kernel
def factor_rows(rows, tolerance, floor, cap):
    """Factor the rows of G (rows, n) by Householder reflections with pivoting; returns the rank.

    `first` and `end` say where each row may have entries. On return the row of the k-th pivot, `order[k]`, holds its
    first entries in the rotated coordinates, its head, and behind it the k-th reflector (its 1 at place k implied). The
    rank counts rows of which more than `tolerance` times the largest, and more than `floor`, is left when their turn
    comes, and is at most `cap`; `pivots` are those sizes, sorted, largest first, and the first that is too small. The
    floor is the rounding of rows that vanish: where all do, there is no largest one to compare with.

    Among rows at least a third as long as the longest, the one that ends first is taken, so that rows of neighbouring
    loops stay short (the longest alone would mix far ends of a long chain). Only rows that begin before a pivot ends
    are visited, and of a reflector only entries that are not far below rounding: in a chain of loops with more freedoms
    than rows, reflectors reach back to its beginning, but fall off. So the cost grows in proportion to the number of
    loops.
    """
    G, order, place, tau, pivots = rows.G, rows.order, rows.place, rows.tau, rows.pivots
    first, begin, end, size, after = rows.first, rows.begin, rows.end, rows.size, rows.after
    count, n = G.shape
    begin_rows(rows)
    pivots[:] = 0.0
    rank, largest, left = 0, 0.0, 0.0
    longest = longest_row(rows)
    for k in range(min(count, n)):
        least = max(tolerance * largest, floor)
        r, before, vanishing = best_row(rows, least * least, 0.1 * size[longest, 0] if longest < count else 0.0)
        left = max(left, vanishing)
        if r == count:
            pivots[k] = np.sqrt(left)
            break
        low = enter_head(rows, r, k)
        norm = np.sqrt(add_dot(0.0, G[r], G[r], max(begin[r], k), end[r]))
        pivots[k] = norm
        largest = max(largest, norm)
        if np.sqrt(size[longest, 0]) <= max(tolerance * largest, floor) or k >= cap or norm == 0.0:
            break
        after[before] = after[r]
        order[place[r]], place[order[k]] = order[k], place[r]
        order[k], place[r] = r, k
        rank = k + 1
        x = G[r, k]
        beta = -norm if x >= 0.0 else norm
        tau[k] = (beta - x) / beta
        while low < end[r] and abs(G[r, low]) <= NOTHING * norm:
            low += 1
        begin[r] = low
        for c in range(low, end[r]):
            G[r, c] /= x - beta
        G[r, k] = beta
        shorter = r == longest
        i = after[count]
        while i < count and first[i] < end[r]:  # others have nothing in common with it, and stay as they are
            rest = enter_head(rows, i, k)
            s = add_dot(G[i, k], G[r], G[i], max(low, rest), min(end[i], end[r]))
            if s != 0.0:  # else the reflection leaves the row as it is; its head counts all the same
                extend_row(rows, i, low, end[r])
                s *= tau[k]
                G[i, k] -= s
                for c in range(low, end[r]):
                    G[i, c] -= s * G[r, c]
            size[i, 0] -= G[i, k] * G[i, k]
            if size[i, 0] < 1e-8 * size[i, 1]:  # cancellation: sum up afresh
                s = add_dot(0.0, G[i], G[i], max(begin[i], k + 1), end[i])
                size[i, 0], size[i, 1] = s, s
            shorter = shorter or i == longest
            i = after[i]
        if shorter:
            longest = longest_row(rows)
    for k in range(1, count):  # insertion sort: they are nearly sorted already
        p = pivots[k]
        j = k - 1
        while j >= 0 and pivots[j] < p:
            pivots[j + 1] = pivots[j]
            j -= 1
        pivots[j + 1] = p
    return rank


@kernel
def to_head(rows, rank, z):
    """z = Q' z: transform into the rotated coordinates, constraints first."""
    for k in range(rank):
        reflect(rows, k, z)


@kernel
def to_space(rows, rank, z):
    """z = Q z: transform back from the rotated coordinates."""
    for k in range(rank - 1, -1, -1):
        reflect(rows, k, z)


@kernel
def reflect(rows, k, z):
    """Apply the k-th reflection to z, in place."""
    r = rows.order[k]
    g, begin, end = rows.G[r], rows.begin[r], rows.end[r]
    s = rows.tau[k] * add_dot(z[k], g, z, begin, end)
    z[k] -= s
    for c in range(begin, end):
        z[c] -= s * g[c]


@kernel
def solve_head(rows, rank, rhs, z):
    """Set the head of z such that the pivot rows take the values rhs (given in the original order of rows)."""
    G, order, first = rows.G, rows.order, rows.first
    for k in range(rank):
        r = order[k]
        s = rhs[r]
        for j in range(first[r], k):
            s -= G[r, j] * z[j]
        z[k] = s / G[r, k]


@kernel
def solve_multipliers(rows, rank, z, lam):
    """lam = multipliers of the pivot rows whose combination has the head z; all others are zero."""
    G, order, first = rows.G, rows.order, rows.first
    lam[:] = 0.0
    for k in range(rank):
        lam[order[k]] = z[k]
    for k in range(rank - 1, -1, -1):
        r = order[k]
        lam[r] /= G[r, k]
        for j in range(first[r], k):
            lam[order[j]] -= G[r, j] * lam[r]

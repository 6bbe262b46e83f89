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
    "to_head",
    "to_space",
]


@bundle
class Root(NamedTuple):
    """Lower Cholesky factor of a metric. Limbs that share no joint leave zeros in it, which cost nothing."""

    L: np.ndarray  # (n, n)
    first: np.ndarray  # (n,) column of the first entry of each row
    last: np.ndarray  # (n,) row of the last entry of each column


@bundle
class Rows(NamedTuple):
    """Rows to be factored, and what `factor_rows` makes of them. Rows of loops far apart leave zeros, too."""

    G: np.ndarray  # (rows, n)
    order: np.ndarray  # (rows,) which row each of them was
    tau: np.ndarray  # (rows,) of the reflectors
    pivots: np.ndarray  # (rows,) sizes, largest first
    first: np.ndarray  # (rows,) column of the first entry of each row
    end: np.ndarray  # (rows,) one past the last one
    size: np.ndarray  # (rows, 2) squares of what is left of each row, now and when last summed up


@kernel(allocates=True)
def new_root(n):
    """Room for the factor of a metric."""
    return Root(np.empty((n, n)), np.empty(n, np.int64), np.empty(n, np.int64))


@kernel(allocates=True)
def new_rows(rows, n):
    """Room for so many rows."""
    return Rows(
        np.empty((rows, n)),
        np.empty(rows, np.int64),
        np.empty(rows),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty((rows, 2)),
    )


@kernel
def cholesky(M, root):
    """Factor the metric M, row by row, each from its first entry on; False where M is not positive definite."""
    L, first, last = root.L, root.first, root.last
    for i in range(M.shape[0]):
        first[i], last[i] = i, i
        for k in range(i):
            L[i, k] = 0.0
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
    """Solve L x = x in place; entries that are zero cost nothing."""
    forward_between(root, x, 0, x.shape[0])


@kernel
def forward_between(root, x, begin, end):
    """The same where x has entries from `begin` to before `end` only; returns where the result ends."""
    L, last = root.L, root.last
    k = begin
    while k < end:
        if x[k] == 0.0:
            k += 1
            continue
        end = max(end, last[k] + 1)
        x[k] /= L[k, k]
        for i in range(k + 1, last[k] + 1):
            x[i] -= L[i, k] * x[k]
        k += 1
    return end


@kernel
def backward(root, x):
    """Solve L' x = x in place."""
    L, first = root.L, root.first
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(first[i], i):
            x[k] -= L[i, k] * x[i]


@kernel
def swap_rows(rows, i, k):
    """Exchange rows i and k, with all that belongs to them."""
    G, order, first, end, size = rows.G, rows.order, rows.first, rows.end, rows.size
    for c in range(min(first[i], first[k]), max(end[i], end[k])):
        G[k, c], G[i, c] = G[i, c], G[k, c]
    order[k], order[i] = order[i], order[k]
    first[k], first[i] = first[i], first[k]
    end[k], end[i] = end[i], end[k]
    for c in range(2):
        size[k, c], size[i, c] = size[i, c], size[k, c]


@kernel
def factor_rows(rows, tolerance, floor, cap):
    """Householder factorization of the rows of G (rows, n) with pivoting; returns the rank.

    On return row k of G, which was row `order[k]`, holds its first entries in the rotated
    coordinates and, right of the diagonal, the k-th reflector (its leading 1 implied). The rank
    counts rows of which more than `tolerance` times the largest, and more than `floor`, is left when
    their turn comes, and is at most `cap`; `pivots` are those sizes, sorted, largest first. The floor
    is what rounding leaves of rows that vanish: where all do, there is no largest one to compare with.

    Among rows at least a third as long as the longest, the one that ends first is taken, so that
    rows of neighbouring loops stay short (the longest alone would mix far ends of a long chain).
    """
    G, order, tau, pivots = rows.G, rows.order, rows.tau, rows.pivots
    first, end, size = rows.first, rows.end, rows.size
    count, n = G.shape
    for i in range(count):
        order[i] = i
        s = 0.0
        first[i], end[i] = n, 0
        for c in range(n):
            if G[i, c] != 0.0:
                s += G[i, c] * G[i, c]
                first[i] = min(first[i], c)
                end[i] = c + 1
        size[i, 0], size[i, 1] = s, s
        pivots[i] = 0.0
    rank = 0
    largest = 0.0
    for k in range(min(count, n)):
        longest = 0.0
        for i in range(k, count):
            longest = max(longest, size[i, 0])
        best = -1
        for i in range(k, count):
            if size[i, 0] >= 0.1 * longest and (best < 0 or end[i] < end[best]):
                best = i
        if best != k:
            swap_rows(rows, best, k)
        norm = np.sqrt(add_dot(0.0, G[k], G[k], k, end[k]))
        pivots[k] = norm
        largest = max(largest, norm)
        if np.sqrt(longest) <= max(tolerance * largest, floor) or k >= cap or norm == 0.0:
            break
        rank = k + 1
        x = G[k, k]
        beta = -norm if x >= 0.0 else norm
        tau[k] = (beta - x) / beta
        for c in range(k + 1, end[k]):
            G[k, c] /= x - beta
        G[k, k] = beta
        first[k] = min(first[k], k)
        for i in range(k + 1, count):
            if first[i] >= end[k]:
                continue  # nothing in common: the reflection leaves the row as it is, and its head is zero
            first[i] = min(first[i], k)
            s = add_dot(G[i, k], G[k], G[i], k + 1, end[k])
            if s != 0.0:  # else the reflection leaves the row as it is; its head counts all the same
                s *= tau[k]
                G[i, k] -= s
                for c in range(k + 1, end[k]):
                    G[i, c] -= s * G[k, c]
                end[i] = max(end[i], end[k])
            size[i, 0] -= G[i, k] * G[i, k]
            if size[i, 0] < 1e-8 * size[i, 1]:  # cancellation: sum up afresh
                s = add_dot(0.0, G[i], G[i], k + 1, end[i])
                size[i, 0], size[i, 1] = s, s
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
    """z = Q' z: into the rotated coordinates, constraints first."""
    G, tau, end = rows.G, rows.tau, rows.end
    for k in range(rank):
        reflect(G, tau, end, k, z)


@kernel
def to_space(rows, rank, z):
    """z = Q z: back from the rotated coordinates."""
    G, tau, end = rows.G, rows.tau, rows.end
    for k in range(rank - 1, -1, -1):
        reflect(G, tau, end, k, z)


@kernel
def reflect(G, tau, end, k, z):
    """The k-th reflection, in place."""
    s = tau[k] * add_dot(z[k], G[k], z, k + 1, end[k])
    z[k] -= s
    for c in range(k + 1, end[k]):
        z[c] -= s * G[k, c]


@kernel
def solve_head(rows, rank, rhs, z):
    """Head of z such that the pivot rows take the values rhs (given in the original order)."""
    G, order, first = rows.G, rows.order, rows.first
    for k in range(rank):
        s = rhs[order[k]]
        for j in range(first[k], k):
            s -= G[k, j] * z[j]
        z[k] = s / G[k, k]


@kernel
def solve_multipliers(rows, rank, z, lam):
    """Multipliers of the pivot rows whose combination has the head z; the others are zero."""
    G, order = rows.G, rows.order
    lam[:] = 0.0
    for k in range(rank - 1, -1, -1):
        s = z[k]
        for j in range(k + 1, rank):
            s -= G[j, k] * lam[order[j]]
        lam[order[k]] = s / G[k, k]

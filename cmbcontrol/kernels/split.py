"""Rank-revealing split of the constraint gradients into row space and null space.

In mass coordinates z = L' v (M = L L') the metric of the kinetic energy is the identity, and a
gradient row a becomes g = L^-1 a. Householder reflections with row pivoting bring the rows to
lower triangular form: in the rotated coordinates Q' z the first `rank` entries belong to the
constraints and the others are free. Then every projection is "replace the head, keep the tail".
Working in the metric of M, on rows scaled to metres, keeps units from deciding the rank.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel

__all__ = ["backward", "cholesky", "factor_rows", "forward", "solve_head", "solve_multipliers", "to_head", "to_space"]


@kernel
def cholesky(M, L):
    """Lower Cholesky factor of M; False where M is not positive definite.

    Rows are taken from their first entry on: limbs that share no joint leave zeros there, which
    the factor keeps.
    """
    n = M.shape[0]
    first = np.empty(n, np.int64)
    for i in range(n):
        first[i] = i
        for k in range(i):
            L[i, k] = 0.0
            if M[i, k] != 0.0:
                first[i] = k
                break
        for j in range(first[i], i + 1):
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
def forward(L, x):
    """Solve L x = x in place; entries that are zero cost nothing."""
    for k in range(x.shape[0]):
        if x[k] == 0.0:
            continue
        x[k] /= L[k, k]
        for i in range(k + 1, x.shape[0]):
            x[i] -= L[i, k] * x[k]


@kernel
def backward(L, x):
    """Solve L' x = x in place."""
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@kernel
def swap_rows(G, order, size, start, end, i, k):
    """Exchange rows i and k, and what is known of them."""
    for c in range(G.shape[1]):
        G[k, c], G[i, c] = G[i, c], G[k, c]
    order[k], order[i] = order[i], order[k]
    size[k], size[i] = size[i], size[k]
    start[k], start[i] = start[i], start[k]
    end[k], end[i] = end[i], end[k]


@kernel
def factor_rows(G, order, tau, pivots, tolerance, floor, cap):
    """Householder factorization of the rows of G (rows, n) with pivoting; returns the rank.

    On return row k of G, which was row `order[k]`, holds its first entries in the rotated
    coordinates and, right of the diagonal, the k-th reflector (its leading 1 implied). The rank
    counts rows of which more than `tolerance` times the largest, and more than `floor`, is left when
    their turn comes, and is at most `cap`; `pivots` are those sizes, sorted, largest first. The floor
    is what rounding leaves of rows that vanish: where all do, there is no largest one to compare with.

    Among rows at least a third as long as the longest, the one that ends first is taken, so that
    rows of neighbouring loops stay short (the longest alone would mix far ends of a long chain).
    """
    rows, n = G.shape
    size = np.empty(rows)  # squared norm of what is left of each row
    start = np.empty(rows)
    end = np.empty(rows, np.int64)  # one past the last entry of each row
    for i in range(rows):
        order[i] = i
        s = 0.0
        end[i] = 0
        for c in range(n):
            if G[i, c] != 0.0:
                s += G[i, c] * G[i, c]
                end[i] = c + 1
        size[i] = s
        start[i] = s
    for k in range(pivots.shape[0]):
        pivots[k] = 0.0
    rank = 0
    largest = 0.0
    for k in range(min(rows, n)):
        longest = 0.0
        for i in range(k, rows):
            longest = max(longest, size[i])
        best = -1
        for i in range(k, rows):
            if size[i] >= 0.1 * longest and (best < 0 or end[i] < end[best]):
                best = i
        if best != k:
            swap_rows(G, order, size, start, end, best, k)
        s = 0.0
        for c in range(k, end[k]):
            s += G[k, c] * G[k, c]
        norm = np.sqrt(s)
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
        for i in range(k + 1, rows):
            s = G[i, k]
            for c in range(k + 1, end[k]):
                s += G[k, c] * G[i, c]
            if s != 0.0:  # else the reflection leaves the row as it is; its head counts all the same
                s *= tau[k]
                G[i, k] -= s
                for c in range(k + 1, end[k]):
                    G[i, c] -= s * G[k, c]
                end[i] = max(end[i], end[k])
            size[i] -= G[i, k] * G[i, k]
            if size[i] < 1e-8 * start[i]:  # cancellation: sum up afresh
                s = 0.0
                for c in range(k + 1, end[i]):
                    s += G[i, c] * G[i, c]
                size[i] = s
                start[i] = s
    for k in range(1, pivots.shape[0]):  # insertion sort: they are nearly sorted already
        p = pivots[k]
        j = k - 1
        while j >= 0 and pivots[j] < p:
            pivots[j + 1] = pivots[j]
            j -= 1
        pivots[j + 1] = p
    return rank


@kernel
def to_head(G, tau, rank, z):
    """z = Q' z: into the rotated coordinates, constraints first."""
    for k in range(rank):
        s = z[k]
        for c in range(k + 1, z.shape[0]):
            s += G[k, c] * z[c]
        s *= tau[k]
        z[k] -= s
        for c in range(k + 1, z.shape[0]):
            z[c] -= s * G[k, c]


@kernel
def to_space(G, tau, rank, z):
    """z = Q z: back from the rotated coordinates."""
    for k in range(rank - 1, -1, -1):
        s = z[k]
        for c in range(k + 1, z.shape[0]):
            s += G[k, c] * z[c]
        s *= tau[k]
        z[k] -= s
        for c in range(k + 1, z.shape[0]):
            z[c] -= s * G[k, c]


@kernel
def solve_head(G, order, rank, rhs, z):
    """Head of z such that the pivot rows take the values rhs (given in the original order)."""
    for k in range(rank):
        s = rhs[order[k]]
        for j in range(k):
            s -= G[k, j] * z[j]
        z[k] = s / G[k, k]


@kernel
def solve_multipliers(G, order, rank, z, lam):
    """Multipliers of the pivot rows whose combination has the head z; the others are zero."""
    lam[:] = 0.0
    for k in range(rank - 1, -1, -1):
        s = z[k]
        for j in range(k + 1, rank):
            s -= G[j, k] * lam[order[j]]
        lam[order[k]] = s / G[k, k]

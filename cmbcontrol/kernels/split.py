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
    """Lower Cholesky factor of M; False where M is not positive definite."""
    n = M.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = M[i, j]
            for k in range(j):
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
    """Solve L x = x in place."""
    for i in range(x.shape[0]):
        s = x[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]


@kernel
def backward(L, x):
    """Solve L' x = x in place."""
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@kernel
def factor_rows(G, order, tau, pivots, tolerance, cap):
    """Householder factorization of the rows of G (rows, n) with pivoting; returns the rank.

    On return row k of G, which was row `order[k]`, holds its first entries in the rotated
    coordinates and, right of the diagonal, the k-th reflector (its leading 1 implied). The rank
    counts pivots above `tolerance` times the first, and is at most `cap`.
    """
    rows, n = G.shape
    size = np.empty(rows)  # squared norm of what is left of each row
    start = np.empty(rows)
    for i in range(rows):
        order[i] = i
        s = 0.0
        for c in range(n):
            s += G[i, c] * G[i, c]
        size[i] = s
        start[i] = s
    steps = min(rows, n)
    for k in range(pivots.shape[0]):
        pivots[k] = 0.0
    rank = 0
    for k in range(steps):
        best = k
        for i in range(k + 1, rows):
            if size[i] > size[best]:
                best = i
        if best != k:
            for c in range(n):
                G[k, c], G[best, c] = G[best, c], G[k, c]
            order[k], order[best] = order[best], order[k]
            size[k], size[best] = size[best], size[k]
            start[k], start[best] = start[best], start[k]
        s = 0.0
        for c in range(k, n):
            s += G[k, c] * G[k, c]
        norm = np.sqrt(s)
        pivots[k] = norm
        if norm <= tolerance * pivots[0] or k >= cap or norm == 0.0:
            break
        rank = k + 1
        x = G[k, k]
        beta = -norm if x >= 0.0 else norm
        tau[k] = (beta - x) / beta
        for c in range(k + 1, n):
            G[k, c] /= x - beta
        G[k, k] = beta
        for i in range(k + 1, rows):
            s = G[i, k]
            for c in range(k + 1, n):
                s += G[k, c] * G[i, c]
            if s == 0.0:
                continue
            s *= tau[k]
            G[i, k] -= s
            for c in range(k + 1, n):
                G[i, c] -= s * G[k, c]
            size[i] -= G[i, k] * G[i, k]
            if size[i] < 1e-8 * start[i]:  # cancellation: sum up afresh
                s = 0.0
                for c in range(k + 1, n):
                    s += G[i, c] * G[i, c]
                size[i] = s
                start[i] = s
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

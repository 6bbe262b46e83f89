"""Sparse elimination in symbols: structural zeros are never computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import numbers

__all__ = ["ConstrainedSolver", "Factor", "fewest_first", "sparse", "symmetric"]

Vector = dict[int, Any]  # the entries of a vector that are not zero by structure


def is_zero(x: Any) -> bool:
    """Whether a number is a structural zero."""
    return isinstance(x, float) and x == 0.0


def sparse(x: Iterable[Any]) -> Vector:
    """Entries that are not structural zeros, by index."""
    return sparse_of(dict(enumerate(x)))


def fewest_first(neighbours: list[set[int]]) -> list[int]:
    """Order of elimination of a graph: always the node with the fewest neighbours left (minimum degree)."""
    left = [set(others) - {i} for i, others in enumerate(neighbours)]
    order: list[int] = []
    remaining = set(range(len(left)))
    while remaining:
        k = min(remaining, key=lambda i: (len(left[i]), i))
        remaining.remove(k)
        order.append(k)
        for i in left[k]:
            left[i] |= left[k]
            left[i] -= {i, k}
    return order


class Factor:
    """Factors A = L D L' of a symmetric positive definite matrix, eliminated in a given order.

    With the coordinates of a tree from the leaves to the root, L has entries for ancestors only (Featherstone 2008,
    section 6.5): no entry is filled in.

    Attributes
    ----------
    order : list of int
    below : list of dict
        below[k][i]: entry of L in the column of k, for i that comes after k.
    pivots, inverse : list
        D, and 1 / D.
    """

    def __init__(self, rows: list[Vector], order: list[int]) -> None:
        n = len(rows)
        place = {k: at for at, k in enumerate(order)}
        rows = [dict(row) for row in rows]
        self.order, self.below = order, [{} for _ in range(n)]
        self.pivots: list[Any] = [None] * n
        self.inverse: list[Any] = [None] * n
        for k in order:
            self.pivots[k] = rows[k].pop(k)
            self.inverse[k] = 1.0 / self.pivots[k]
            later = sorted((i for i in rows[k] if place[i] > place[k]), key=place.__getitem__)
            for i in later:
                self.below[k][i] = rows[k][i] * self.inverse[k]
            for at, i in enumerate(later):
                for j in later[at:]:
                    rows[i][j] = rows[j][i] = rows[i].get(j, 0.0) - self.below[k][i] * rows[k][j]
                rows[i].pop(k, None)

    def forward(self, x: Mapping[int, Any]) -> Vector:
        """Solution L^-1 x."""
        x = dict(x)
        for k in self.order:
            if k in x:
                for i, entry in self.below[k].items():
                    x[i] = x.get(i, 0.0) - entry * x[k]
        return sparse_of(x)

    def backward(self, x: Mapping[int, Any]) -> Vector:
        """Solution L'^-1 x, with all entries."""
        x = dict(x)
        for k in reversed(self.order):
            s = x.get(k, 0.0)
            for i, entry in self.below[k].items():
                s = s - entry * x.get(i, 0.0)
            x[k] = s
        return x

    def divided(self, x: Mapping[int, Any]) -> Vector:
        """Quotient D^-1 x."""
        return {k: value * self.inverse[k] for k, value in x.items()}

    def solve(self, x: Mapping[int, Any]) -> Vector:
        """Solution A^-1 x."""
        return self.backward(self.divided(self.forward(x)))


_SWEEPS = {1: 0, 2: 1, 3: 5, 4: 6}  # of rotations; the number of digits doubles with each, once there are some
_MORE_SWEEPS = 8


def symmetric(S: Any) -> tuple[list[Any], Any, Any]:
    """Eigenvalues, eigenvectors in columns, and the sum of squares left beside the diagonal of a symmetric matrix.

    By Jacobi's rotations, as many as matrices of a few rows need: a straight line of operations, without pivoting. The
    sum that is left shows whether they were enough.
    """
    n = len(S)
    S, U = np.array(S, object), np.eye(n).astype(object)
    for _ in range(_SWEEPS.get(n, _MORE_SWEEPS)):
        for i in range(n):
            for j in range(i + 1, n):
                angle = 0.5 * numbers.arctan2(2.0 * S[i, j], S[i, i] - S[j, j])
                c, s = numbers.cos(angle), numbers.sin(angle)
                for X in (S, S.T, U.T):
                    X[i], X[j] = c * X[i] + s * X[j], c * X[j] - s * X[i]
    left = sum((S[i, j] * S[i, j] for i in range(n) for j in range(n) if i != j), 0.0)
    return list(S.diagonal()), U, left


class ConstrainedSolver:
    """Solver of M x + A' lam = f with A x = c, by the Schur complement S = A M^-1 A' of independent rows.

    With Y = L^-1 A' of M = L D L', S = Y' D^-1 Y has entries only for rows that share a coordinate, and is eliminated
    in the order of `fewest_first`: loops stay local to where they are.

    S squares the distance to dependent rows, and so does rounding. A correction by the residual of a solution
    undoes that, as long as the square has digits left.

    Parameters
    ----------
    metric : Factor
        Factors of M.
    rows : list of dict
        Rows of A.
    M : list of dict, optional
        Rows of M; solutions are corrected if they are given.

    Attributes
    ----------
    metric, schur : Factor
        Factors of M and of S.
    gradients : list
        Diagonal of S: squares of the sizes of the rows in the metric of M.
    """

    def __init__(self, metric: Factor, rows: list[Vector], M: list[Vector] | None = None) -> None:
        self.metric, self.rows, self.M = metric, rows, M
        self.Y = [metric.forward(row) for row in rows]
        scaled = [metric.divided(y) for y in self.Y]
        S: list[Vector] = [{} for _ in rows]
        users: dict[int, list[int]] = {}
        for i, y in enumerate(self.Y):
            for k in y:
                users.setdefault(k, []).append(i)
        for k, sharing in sorted(users.items()):
            for at, i in enumerate(sharing):
                for j in sharing[at:]:
                    S[i][j] = S[j][i] = S[i].get(j, 0.0) + scaled[i][k] * self.Y[j][k]
        if not all(i in row for i, row in enumerate(S)):
            raise ArithmeticError("a row that is zero by structure")
        self.gradients = [S[i][i] for i in range(len(rows))]
        self.schur = Factor(S, fewest_first([set(row) for row in S]))

    def multipliers(self, rhs: Mapping[int, Any]) -> Vector:
        """S^-1 rhs, the multipliers for a right side in the rows."""
        return self.schur.solve(rhs) if self.rows else {}

    def least_change(self, c: Mapping[int, Any]) -> Vector:
        """Smallest x, in the metric of M, with A x = c."""
        x = self._least_change(c)
        return x if self.M is None else added(x, self._least_change(self._missed(c, x)))

    def _least_change(self, c: Mapping[int, Any]) -> Vector:
        lam = self.multipliers(c)
        x: Vector = {}
        for i, y in enumerate(self.Y):
            for k, value in y.items():
                x[k] = x.get(k, 0.0) + value * lam[i]
        return self.metric.backward(self.metric.divided(x))

    def solve(self, f: Mapping[int, Any], c: Mapping[int, Any]) -> tuple[Vector, Vector]:
        """Solution x and lam of M x + A' lam = f, A x = c."""
        x, lam = self._solve(f, c)
        if self.M is None:
            return x, lam
        left = {k: f.get(k, 0.0) - product(row, x) for k, row in enumerate(self.M)}
        for i, row in enumerate(self.rows):
            for k, value in row.items():
                left[k] = left[k] - value * lam[i]
        more, lam_more = self._solve(sparse_of(left), self._missed(c, x))
        return added(x, more), added(lam, lam_more)

    def _missed(self, c: Mapping[int, Any], x: Vector) -> Vector:
        """Residual c - A x."""
        return sparse_of({i: c.get(i, 0.0) - product(row, x) for i, row in enumerate(self.rows)})

    def _solve(self, f: Mapping[int, Any], c: Mapping[int, Any]) -> tuple[Vector, Vector]:
        y = self.metric.forward(f)
        free = self.metric.divided(y)
        rhs: Vector = {}
        for i, column in enumerate(self.Y):
            s = -c.get(i, 0.0)
            for k, value in column.items():
                s = s + value * free.get(k, 0.0)
            rhs[i] = s
        lam = self.multipliers(rhs)
        for i, column in enumerate(self.Y):
            for k, value in column.items():
                y[k] = y.get(k, 0.0) - value * lam[i]
        return self.metric.backward(self.metric.divided(y)), lam


def sparse_of(x: Vector) -> Vector:
    """Entries of a sparse vector that are not structural zeros."""
    return {k: value for k, value in x.items() if not is_zero(value)}


def product(x: Vector, y: Vector) -> Any:
    """Sum of the products of entries that both vectors have."""
    return sum((value * y[k] for k, value in x.items() if k in y), 0.0)


def added(x: Vector, y: Vector) -> Vector:
    """Sum x + y of sparse vectors."""
    made = dict(x)
    for k, value in y.items():
        made[k] = made.get(k, 0.0) + value
    return made


def smallest(values: list[Any]) -> Any:
    """Smallest of some numbers; infinite where there are none."""
    found: Any = None
    for value in values:
        found = value if found is None else numbers.minimum(found, value)
    return numbers.inf if found is None else found


def largest(values: list[Any]) -> Any:
    """Largest of some numbers that are not negative; zero where there are none."""
    found: Any = 0.0
    for value in values:
        found = value if is_zero(found) else numbers.maximum(found, value)
    return found

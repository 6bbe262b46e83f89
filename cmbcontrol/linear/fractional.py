"""Linear fractional transformations of quadratic functions of parameters, with as few repetitions as their ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fraction", "Quadratic", "fraction", "interpolated"]

Array = NDArray[np.float64]


class Quadratic(NamedTuple):
    """Matrix Q(x) = Q0 + sum of x_i Q_i + sum of x_i x_j Q_ij over i <= j, for x in [-1, 1].

    Attributes
    ----------
    constant : ndarray, shape (m, n)
    first : list of ndarray
        Q_i.
    second : dict of (int, int) to ndarray
        Q_ij for i <= j; pairs without one have none.
    """

    constant: Array
    first: list[Array]
    second: Mapping[tuple[int, int], Array]


def interpolated(function: Callable[[Array], Array], count: int) -> Quadratic:
    """Quadratic function through the values of a function of `count` numbers in [-1, 1]; exact where it is one.

    The values are those in the middle, at both ends of each interval, and at two opposite ends of each pair, so that
    terms of third order cancel: what is left of a smooth function is of the order of the interval to the power of
    three along one number, and of four across two.
    """
    units = np.eye(count)
    middle = function(np.zeros(count))
    ends = [(function(e), function(-e)) for e in units]
    first = [0.5 * (above - below) for above, below in ends]
    second = {(i, i): 0.5 * ((above - middle) + (below - middle)) for i, (above, below) in enumerate(ends)}
    for i in range(count):
        for j in range(i + 1, count):
            both = (function(units[i] + units[j]) - middle) + (function(-units[i] - units[j]) - middle)
            second[i, j] = 0.5 * both - second[i, i] - second[j, j]
    return Quadratic(middle, first, second)


class Fraction(NamedTuple):
    """Matrix L X (1 - T X)^-1 R with X = diag(x_1, ..., x_1, x_2, ...), each x_i repeated.

    Attributes
    ----------
    L, T, R : ndarray, shape (m, N), (N, N) and (N, n)
    repetitions : list of int
        Of each x_i; their sum is N.
    """

    L: Array
    T: Array
    R: Array
    repetitions: list[int]

    def __call__(self, x: Array) -> Array:
        """Value at numbers x."""
        X = np.repeat(x, self.repetitions)
        return self.L * X @ np.linalg.solve(np.eye(len(X)) - self.T * X, self.R)


def fraction(quadratic: Quadratic, tolerance: float) -> Fraction:
    """Variable part Q(x) - Q0 of a quadratic function as a fraction; parts of rank one below `tolerance` are left out.

    By Horner's rule Q - Q0 is the sum of x_i (Q_i + sum of x_j Q_ij over j >= i). The singular value decomposition of
    (Q_i, Q_ij, ...) side by side is L_i (R_i, R_ij, ...). So x_i takes R_i times the input and x_j R_ij times the
    input, where a channel of x_j gives the second from rows that all R_ij share.
    """
    count, width = len(quadratic.first), quadratic.constant.shape[1]
    left: list[Array] = []
    own: list[Array] = []
    later: list[dict[int, Array]] = []
    asked: list[list[Array]] = [[] for _ in range(count)]
    for i in range(count):
        after = [j for j in range(i, count) if np.linalg.norm(quadratic.second.get((i, j), 0.0)) > tolerance]
        side = np.hstack([quadratic.first[i], *(quadratic.second[i, j] for j in after)])
        U, s, Vt = _parts(side)
        r = int(np.count_nonzero(s > tolerance))
        parts = np.split(s[:r, None] * Vt[:r], 1 + len(after), axis=1)
        left.append(U[:, :r])
        own.append(parts[0])
        later.append(dict(zip(after, parts[1:], strict=True)))
        for j, part in later[i].items():
            asked[j].append(part)
    shared = []  # rows that a number multiplies the input with, orthonormal
    for i in range(count):
        if not later[i]:  # then its own part is such a product, too
            asked[i].append(own[i])
        rows = np.vstack([*asked[i], np.zeros((0, width))])
        _, s, Vt = _parts(rows)
        shared.append(Vt[: np.count_nonzero(s > tolerance)])
    repetitions = [len(shared[i]) + (len(own[i]) if later[i] else 0) for i in range(count)]
    ends = np.cumsum(repetitions)
    size = int(ends[-1]) if count else 0
    L, T, R = np.zeros((len(quadratic.constant), size)), np.zeros((size, size)), np.zeros((size, width))
    at = [slice(end - len(rows), end) for end, rows in zip(ends, shared, strict=True)]  # of the products
    for i, rows in enumerate(shared):
        R[at[i]] = rows
        if later[i]:
            mine = slice(at[i].start - len(own[i]), at[i].start)
            L[:, mine], R[mine] = left[i], own[i]
            for j, part in later[i].items():
                T[mine, at[j]] = part @ shared[j].T
        else:
            L[:, at[i]] = left[i] @ (own[i] @ rows.T)
    return Fraction(L, T, R, repetitions)


def _parts(X: Array) -> tuple[Array, Array, Array]:
    """Singular value decomposition in which rows and columns of zeros stay zeros."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    U[~X.any(axis=1)] = 0.0
    Vt[:, ~X.any(axis=0)] = 0.0
    return U, s, Vt

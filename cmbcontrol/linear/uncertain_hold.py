"""Linear systems with uncertainty behind a sampler: x(k+1) and the signals of the uncertainty over a period.

In x' = A x + B u + P d + B_w w, z = C x + D u + D_d d + D_w w with w = Delta z, Delta is constant, but w is not: it
moves within a period as x does. It is taken as a polynomial through its values at Gauss points of the period, and all
else is solved exactly, so that without uncertainty the model is that of the zero-order hold, and the error is that of
the polynomials times Delta. Each point has signals z and w of its own, with the same Delta.
"""

from __future__ import annotations

import itertools
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeldSystem", "UncertainSystem", "hold"]

Array = NDArray[np.float64]


class UncertainSystem(NamedTuple):
    """Matrices of x' = A x + B u + P d + B_w w, z = C x + D u + D_d d + D_w w."""

    A: Array
    B: Array
    P: Array
    B_w: Array
    C: Array
    D: Array
    D_d: Array
    D_w: Array


class HeldSystem(NamedTuple):
    """Rows of a matrix over (x, u now, u before, d, w of all points): the next x, and z of all points.

    Attributes
    ----------
    x : ndarray, shape (n, n + 2 nu + nd + points * nw)
    z : ndarray, shape (points * nz, ...)
        Point after point.
    points : int
    """

    x: Array
    z: Array
    points: int


def hold(system: UncertainSystem, period: float, part: Array, stages: int) -> HeldSystem:
    """System over a period in which each u is its value before until `part` (nu,), s, then its value now; d is held.

    Parameters
    ----------
    system : UncertainSystem
    period : float
        s.
    part : ndarray, shape (nu,)
    stages : int
        Points of each part of the period in which all u are constant.
    """
    A, B, P, B_w, C, D, D_d, D_w = system
    (n, nu), nd, nw = B.shape, P.shape[1], B_w.shape[1]
    borders = np.unique(np.concatenate([[0.0], part, [period]]))
    points = stages * (len(borders) - 1)
    width = n + 2 * nu + nd + points * nw
    every = np.eye(width)
    now, before = every[n : n + nu], every[n + nu : n + 2 * nu]
    d, w = every[n + 2 * nu : n + 2 * nu + nd], every[n + 2 * nu + nd :].reshape(points, nw, width)
    nodes = 0.5 * (np.polynomial.legendre.leggauss(stages)[0] + 1.0)
    taylor = np.linalg.inv([[c**k / factorial(k) for k in range(stages)] for c in nodes])
    x, z = every[:n], []
    for k, (start, end) in enumerate(itertools.pairwise(borders)):
        u = np.where((part <= start)[:, None], now, before)
        own = w[k * stages : (k + 1) * stages]
        rates = np.einsum("ij,jab->iab", taylor, own).reshape(stages * nw, width)  # derivatives of w at the start
        given = np.vstack([x, u, d, rates])
        moves = [_moved(A, np.hstack([B, P]), B_w, end - start, c, stages) @ given for c in (*nodes, 1.0)]
        z += [C @ at + D @ u + D_d @ d + D_w @ here for at, here in zip(moves[:-1], own, strict=True)]
        x = moves[-1]
    return HeldSystem(x, np.vstack(z) if z else np.zeros((0, width)), points)


def _moved(A: Array, B: Array, B_w: Array, span: float, share: float, stages: int) -> Array:
    """Matrix from (x, held inputs, w and its derivatives by t / span) at the start to x after a share of a span."""
    from scipy.linalg import expm

    (n, m), nw = B.shape, B_w.shape[1]
    whole = np.zeros((n + m + stages * nw, n + m + stages * nw))
    whole[:n, : n + m + nw] = span * np.hstack([A, B, B_w])
    chain = n + m + np.arange((stages - 1) * nw)
    whole[chain, chain + nw] = 1.0
    return expm(share * whole)[:n]

"""Admissible accelerations that fulfil a task, with a choice of the motion that it leaves free.

All are written a = c + Z L'^-1 y with A c = -b and Z'M Z = L L', so that the smallest change of y is the smallest
change of the acceleration in the metric of M (Gauss' principle).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import ROUNDING, UNREACHED
from ..kernels import linear_algebra
from ..model.terms import Terms

__all__ = ["Wish", "best", "nearest"]

Array = NDArray[np.float64]

_LEFT = 0.1  # part of the mobility below which a second task is given up, smoothly

# Of how far the coordinates of a machine go: tasks of machines in use go about as far, or up to ten times less.
USUAL = 0.1


class Wish(NamedTuple):
    """Wish for the motion that a task leaves free: an acceleration, or a second task.

    Attributes
    ----------
    vdot : ndarray, shape (nv,)
        Acceleration to come near to, in the metric of M.
    J, target : ndarray, shape (m, nv) and (m,), optional
        A second task, J a = target, that is more important than `vdot`.
    """

    vdot: Array
    J: Array | None = None
    target: Array | None = None


def nearest(terms: Terms, J: Array, target: Array, wish: Wish) -> tuple[Array, float]:
    """Acceleration a (nv,) with J a = target, A a = -b, that is nearest to a wish in the metric of M.

    Returns
    -------
    a : ndarray, shape (nv,)
    closeness : float
        Smallest pivot of J on N(A), over its largest row without the loops, in the metric of M: 0 where its rows
        cannot all be fulfilled.
    """
    kinetic = _Kinetic(terms)
    Y, rest, scale = kinetic.rows(J, target)
    y = kinetic.coordinates(wish.vdot)
    more, _, closeness = linear_algebra.smallest_solution(Y, rest - Y @ y, scale, 0.0)
    y += more
    if wish.J is not None and closeness > 0.0:
        y += _second(kinetic, wish, y, np.linalg.qr(Y.T)[0])
    return kinetic.acceleration(y), closeness


def best(
    terms: Terms,
    J: Array,
    target: Array,
    wish: Wish,
    *,
    gauss: bool,
    damped: float | None = None,
    unit: float = 1.0,
) -> Array:
    """Acceleration a (nv,) with A a = -b and the smallest J a - target; of several, that nearest to a wish.

    Parameters
    ----------
    terms : Terms
    J : ndarray, shape (k, nv)
    target : ndarray, shape (k,)
    wish : Wish
    gauss : bool
        Measure J a - target in the metric (J M^-1 J')^-1, as Gauss' principle does where J = 1; else plainly.
    damped : float, optional
        Singular values sigma below this part of the largest, tau, count with sigma/tau^2 in place of 1/sigma. The
        largest counts as no smaller than a tenth of that of the coordinates themselves, so that a task of one value has
        a threshold, too.
    unit : float
        Metres that a unit of the task counts as.
    """
    kinetic = _Kinetic(terms)
    Y, rest, scale = kinetic.rows(J, target, gauss)
    y = kinetic.coordinates(wish.vdot)
    none = UNREACHED * scale
    least = 0.0 if damped is None else USUAL * (1.0 if gauss else kinetic.most / unit)
    more, V, sigma = linear_algebra.damped_solution(Y, rest - Y @ y, damped or 0.0, least, none)
    y += more
    if wish.J is not None:
        y += _second(kinetic, wish, y, V[:, sigma > none])
    return kinetic.acceleration(y)


def _second(kinetic: _Kinetic, wish: Wish, y: Array, taken: Array) -> Array:
    """Change of y that is best for the second task, across the directions (dof, k) that the first one takes."""
    Y, rest, scale = kinetic.rows(wish.J, wish.target, gauss=True)
    largest = float(np.linalg.norm(Y, 2)) if Y.size else 0.0
    return linear_algebra.damped_solution(Y - (Y @ taken) @ taken.T, rest - Y @ y, _LEFT, largest, UNREACHED * scale)[0]


class _Kinetic:
    """Admissible accelerations at a state in the coordinates y, in which the metric of M is 1."""

    def __init__(self, terms: Terms) -> None:
        self.M, self.Z, self.c, self.reach = terms.M, terms.Z, terms.Cv, terms.reach
        self._root, definite = linear_algebra.reduced_root(self.Z, self.M)
        if not definite:
            raise np.linalg.LinAlgError("Z'M Z is not positive definite")
        self.unit = float((terms.reach / np.sqrt(np.diagonal(terms.M))).max())  # a metre of the lightest coordinate

    @property
    def most(self) -> float:
        """Size of diag(reach) Z L'^-1: the mobility of the coordinates, in metres, a bound for that of tasks.

        It does not vanish where a task loses its motion, as in a dead centre.
        """
        ways = linear_algebra.reduced_rows(
            self.Z, self.c, self.M, self._root, np.diag(self.reach), np.zeros(len(self.c))
        )[0]
        return float(np.linalg.norm(ways))

    def coordinates(self, vdot: Array) -> Array:
        """Coordinates y of the admissible acceleration nearest to vdot."""
        return linear_algebra.reduced_coordinates(self.Z, self.c, self.M, self._root, vdot)

    def acceleration(self, y: Array) -> Array:
        return linear_algebra.admissible_acceleration(self.Z, self.c, self._root, y)

    def rows(self, J: Array, target: Array, gauss: bool = False) -> tuple[Array, Array, float]:
        """Rows Y and r with |Y y - r| = |J a - target|, or its size in the metric (J M^-1 J')^-1; and the scale of Y.

        The scale is the largest row of J in the metric of M, without the loops; 1 for Gauss' rows, which are cosines.
        Rows of the size of rounding (of a metre of task per metre of motion) count as zero.
        """
        Y, rest, mobility = linear_algebra.reduced_rows(
            self.Z, self.c, self.M, self._root, _check.plain(J), _check.plain(target)
        )
        least = ROUNDING * self.unit
        if gauss:
            return *linear_algebra.gauss_rows(Y, rest, mobility, least), 1.0
        size = math.sqrt(max(mobility.diagonal().max(initial=0.0), 0.0))
        return Y, rest, max(size, least / UNREACHED)

"""Accelerations that the loops allow: by Gauss' principle, for a task, and with a choice of the motion that is left.

Those for tasks are written a = c + Z L'^-1 y with A c = -b and Z'M Z = L L', so that the smallest change of y is the
smallest change of the acceleration in the metric of M (Gauss' principle). See `trace.equations.EquationsOfMotion`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import DEPENDENT, ROUNDING, UNREACHED
from ..errors import ModelError, PainleveError
from ..kernels import constrained, linear_algebra
from ..kernels import friction as kernels
from ..trace.equations import USUAL, NullSpaceMotion
from .multipliers import unique_multipliers

if TYPE_CHECKING:
    from .terms import Terms

__all__ = ["Solved", "least_squares", "nearest", "only", "require_unique_loads", "response", "solved"]

Array = NDArray[np.float64]

_LEFT = 0.1  # part of the mobility below which a second task is given up, smoothly

_CLEAR = 1e-3  # pivots of a task above this part of its size need no second look, whatever the units


class Solved(NamedTuple):
    """Acceleration by Gauss' principle, with multipliers, rank and friction in proportion to loads.

    Attributes
    ----------
    vdot : ndarray, shape (nv,)
    lam : ndarray, shape (rows,)
        Multipliers of independent rows, zero of the others.
    rank : int
    friction : ndarray, shape (nv,)
        D' c of friction in proportion to loads, a part of the left side as h is; zero where there is none.
    pivot : ndarray, shape (k,)
        Pivot of each such friction: 1 where it does not change its own load, 0 where it makes it grow without bound.
    """

    vdot: Array
    lam: Array
    rank: int
    friction: Array
    pivot: Array


def solved(
    terms: Terms,
    g: Array,
    target: Array | None = None,
    *,
    tolerance: float = DEPENDENT,
    cap: int | None = None,
    checked: bool = True,
) -> Solved:
    """Solution of M vdot + A' lam + D' c = g, A vdot = target (-b where None), with friction in proportion to loads.

    It takes one call of a kernel, and one more for each load of friction.

    Raises
    ------
    PainleveError
        Where friction leaves no acceleration, or several, unless this is not `checked`.
    ModelError
        Where redundant rows share a load.
    """
    target = -terms.b if target is None else target
    scales = terms.row_scale, terms.unit_lengths
    rest = tolerance, terms.rank if cap is None else cap
    vdot, lam, rank = constrained.gauss_acceleration(terms.M, terms.A, *scales, g, target, *rest)
    rubs = terms.friction
    if rubs is None or rank == constrained.FAILED:
        return Solved(vdot, lam, rank, np.zeros(g.size), np.zeros(0))
    require_unique_loads(terms)
    none = np.zeros(target.size)
    replies = [constrained.gauss_acceleration(terms.M, terms.A, *scales, -D, none, *rest)[:2] for D in rubs.D]
    reply_lam = np.array([reply for _, reply in replies])
    k = len(rubs.names)
    level, pivot, carried = np.zeros(k), np.zeros(k), np.zeros(lam.size)
    found = kernels.solve_loads(
        rubs.first, rubs.count, rubs.side, lam, reply_lam, level, pivot, np.zeros((k, k + 1)), carried
    )
    if checked and not found:
        raise PainleveError(
            f"friction {rubs.names[int(np.argmin(pivot))]!r} leaves no acceleration, or more than one, at q = "
            f"{np.round(terms.q, 6).tolist()} (Painleve's paradox: its own force makes the load grow that it is "
            "proportional to). Take a smaller coefficient of friction, or let the bodies give way where they touch"
        )
    vdot = vdot + sum(c * a for c, (a, _) in zip(level, replies, strict=True))
    return Solved(vdot, carried, rank, level @ rubs.D, pivot)


def require_unique_loads(terms: Terms) -> None:
    """Raise an error for friction in proportion to a load that redundant rows share.

    It would not be determined, nor would the motion.

    Raises
    ------
    ModelError
    """
    rubs = terms.friction
    if rubs is None or terms.rank == len(terms.A):
        return
    unique = unique_multipliers(terms.levers, terms.rank)
    for name, first, count in zip(rubs.names, rubs.first, rubs.count, strict=True):
        if not unique[first : first + count].all():
            rows = ", ".join(terms.row_names[first : first + count])
            raise ModelError(
                f"friction {name!r} is in proportion to the force of {rows}, which redundant rows share, so that "
                "nothing determines it: leave out rows that others imply (print(plant) names them)"
            )


def response(terms: Terms, f: Array) -> Array:
    """Acceleration Z (Z'M Z)^-1 Z'f (nv,) that joint forces f add in the closed machine."""
    Z = terms.Z
    return Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T @ f)


def only(terms: Terms, J: Array, target: Array, unit: float) -> tuple[Array, float]:
    """Acceleration a = c + Z z with J a = target, where there is only one, and its closeness.

    Where that is small, motions are orthogonal in metres, and it is the smallest pivot of J over its largest row: rows
    of the size of rounding (of a metre per metre) do not count.
    """
    J = _check.plain(J)
    a, closeness, size = linear_algebra.only_acceleration(terms.Z, terms.Cv, J, target)
    if closeness >= _CLEAR and size >= _CLEAR:
        return a, closeness
    Z, c = terms.unit_motions, terms.Cv
    of_motors = np.ascontiguousarray(J.T)  # J as if it was
    X, lengths, scale = linear_algebra.motor_reach(Z, of_motors, terms.unit_lengths)
    least = ROUNDING / UNREACHED / unit
    z, _, closeness = linear_algebra.smallest_solution(
        np.ascontiguousarray(X.T), target - J @ c, max(scale, least), 0.0
    )
    return c + Z @ (z / lengths), closeness


def nearest(terms: Terms, J: Array, target: Array, free: NullSpaceMotion) -> tuple[Array, float]:
    """Acceleration a (nv,) with A a = -b and J a = target, nearest to a wanted one; and its closeness.

    Closeness is the smallest pivot of J on N(A), over its largest row without the loops, in the metric of M.
    """
    kinetic = _Kinetic(terms)
    Y, rest, scale = kinetic.rows(J, target)
    y = kinetic.coordinates(free.vdot)
    more, _, closeness = linear_algebra.smallest_solution(Y, rest - Y @ y, scale, 0.0)
    y += more
    if free.J is not None and closeness > 0.0:
        y += _second(kinetic, free, y, np.linalg.qr(Y.T)[0])
    return kinetic.acceleration(y), closeness


def least_squares(
    terms: Terms,
    J: Array,
    target: Array,
    free: NullSpaceMotion,
    *,
    gauss: bool = False,
    damped: float | None = None,
    unit: float = 1.0,
) -> Array:
    """Acceleration a (nv,) with A a = -b and the smallest J a - target; see `EquationsOfMotion`."""
    kinetic = _Kinetic(terms)
    Y, rest, scale = kinetic.rows(J, target, gauss)
    y = kinetic.coordinates(free.vdot)
    none = UNREACHED * scale
    least = 0.0 if damped is None else USUAL * (1.0 if gauss else kinetic.most / unit)
    more, V, sigma = linear_algebra.damped_solution(Y, rest - Y @ y, damped or 0.0, least, none)
    y += more
    if free.J is not None:
        y += _second(kinetic, free, y, V[:, sigma > none])
    return kinetic.acceleration(y)


def _second(kinetic: _Kinetic, free: NullSpaceMotion, y: Array, taken: Array) -> Array:
    """Change of y that is best for the second task, across the directions (dof, k) that the first one takes."""
    Y, rest, scale = kinetic.rows(free.J, free.target, gauss=True)
    largest = float(np.linalg.norm(Y, 2)) if Y.size else 0.0
    return linear_algebra.damped_solution(Y - (Y @ taken) @ taken.T, rest - Y @ y, _LEFT, largest, UNREACHED * scale)[0]


class _Kinetic:
    """Admissible accelerations at a state in the coordinates y, in which the metric of M is 1."""

    def __init__(self, terms: Terms) -> None:
        self.M, self.Z, self.c, self.unit_lengths = terms.M, terms.Z, terms.Cv, terms.unit_lengths
        self._root, definite = linear_algebra.reduced_root(self.Z, self.M)
        if not definite:
            raise np.linalg.LinAlgError("Z'M Z is not positive definite")
        # a metre of the lightest coordinate
        self.unit = float((terms.unit_lengths / np.sqrt(np.diagonal(terms.M))).max())

    @property
    def most(self) -> float:
        """Size of diag(reach) Z L'^-1: the mobility of the coordinates, in metres, a bound for that of tasks.

        It does not vanish where a task loses its motion, as in a dead centre.
        """
        ways = linear_algebra.reduced_rows(
            self.Z, self.c, self.M, self._root, np.diag(self.unit_lengths), np.zeros(len(self.c))
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

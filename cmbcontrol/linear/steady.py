"""Steady motions: constant velocities, and equations that do not change along the motion."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.derivatives import derivatives
from ..errors import EquilibriumError
from ..model.accelerations import solved
from ..model.evaluation import require_motions_followed
from ..model.plant import Plant
from .operating import OperatingPoint, turning_axes
from .reduced import MOVING
from .signals import LinearizedEquations, best_coordinates

__all__ = ["steady_motion"]

Array = NDArray[np.float64]

_STEPS, _STALLED = 40, 3  # Newton's steps at most; those that bring nothing any more before what is left is rounding
_DONE = 1e-9  # of radians, sizes and the speed: what a steady motion may be missed by
_CHANGE = 1e-4  # step of the differences: rounding leaves 1e-12 of the largest slope, third derivatives 1e-8 of a slope
_WEAK = 1e-3  # of the largest slope of all rows: rows that have less are compared with that
_NOISE = 1e-15  # of the largest slope of all rows: what rounding leaves of the residual
_SEEN = 1e-7  # of the scale of a row: slopes that are less are what differences leave of none


def steady_motion(
    plant: Plant,
    q: ArrayLike | Mapping[str, float],
    v: ArrayLike,
    *,
    u: ArrayLike | Mapping[str, float] | float | None = 0.0,
    hold: Collection[str] = (),
    hold_rates: Collection[str] = (),
) -> OperatingPoint:
    """Steady motion nearest to a guess: constant velocities, with equations that do not change as it goes on.

    Examples are a wheel that rolls in a circle, a vehicle at constant speed, a governor that turns. The accelerations
    vanish, and so does their rate along the motion: gravity and the constraints act alike as it goes on.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,), or mapping of position name to value
        Guess of the configuration, with closed loops.
    v : array_like, shape (nv,)
        Guess of the velocities; they are made admissible.
    u : array_like, shape (nu,), a number for all motors, mapping of actuator name to value, or None
        Motor efforts that are given, N or N m; those that a mapping does not name, and with None all, are found.
    hold : collection of str
        Velocity coordinates along which the position stays as in q.
    hold_rates : collection of str
        Velocity coordinates whose velocities stay as in v.

    Returns
    -------
    OperatingPoint
        For `linearize`.

    Raises
    ------
    EquilibriumError
        Where none is found near the guess; the message gives the error of the best one.
    ValueError
        For unknown names.

    Notes
    -----
    Newton's method, with the least change of positions, velocities and efforts, for K'M a = 0 and K'M A21 dy/dt = 0 of
    the linear model, as unbalanced forces and their rate. What nothing depends on, such as the place of a wheel, stays.

    Examples
    --------
    >>> from cmbcontrol import Body, Frame, Mechanism, Revolute
    >>> hub = Body("hub", 1.0, inertia=(1.0, 1.0, 1.0))
    >>> rod = Body("rod", 1.0, com=(0, 0, -1.0), inertia=(1e-9, 1e-9, 1e-9))
    >>> joints = [Revolute("hub", "ground", "hub"), Revolute("rod", "hub", "rod", axis=(0, 1, 0))]
    >>> governor = Mechanism("governor", [hub, rod], joints)
    >>> point = steady_motion(governor, [0.0, 0.9], [4.0, 0.0], hold_rates=["hub"])
    >>> round(float(np.cos(point.q[1])), 9), 9.81 / 16.0  # cos a = m g l / ((m l^2) w^2)
    (0.613125, 0.613125)
    """
    _check.plant(plant)
    q = plant.configuration(q).copy()
    v = plant.project_velocity(q, _check.vector(v, plant.nv, "v", plant.velocity_names))
    require_motions_followed(plant, q, v)
    given, value = _efforts(plant, u)
    held, kept = (_chosen(plant, names, what) for names, what in ((hold, "hold"), (hold_rates, "hold_rates")))
    best: tuple[float, Array, Array, Array] = np.inf, q, v, value
    since = 0
    for _ in range(_STEPS):
        here = _Balance.at(plant, q, v, value)
        J, row_scale, noise = here.slopes()
        off = float(np.abs(here.residual / row_scale).max(initial=0.0))
        since = 0 if off < 0.5 * best[0] else since + 1
        if off < best[0]:
            best = off, q, v, value
        if off == 0.0 or since >= _STALLED:  # what is left is rounding
            break
        keep = np.vstack([here.kept(held, kept), np.eye(J.shape[1])[here.count - plant.nu :][given]])
        free = np.linalg.svd(keep)[2][np.linalg.matrix_rank(keep) :].T if len(keep) else np.eye(J.shape[1])
        q, v, value = here.moved(free @ _least_step(J @ free / row_scale[:, None], here.residual / row_scale, noise))
    off, q, v, value = best
    if not off <= _DONE:
        raise EquilibriumError(
            f"no steady motion of {plant.name!r} was found near the guess: it is missed by {off:.3g} (radians, sizes, "
            f"and parts of its speed) at q = {np.round(q, 6).tolist()}, v = {np.round(v, 6).tolist()}. Hold less, let "
            f"u= be found (None), or start nearer to one{turning_axes(plant, v)}"
        )
    a = solved(terms := plant.terms(q, v), terms.B @ value - terms.h).vdot
    speed = float(np.abs(v / plant.displacement_scale).max(initial=0.0))
    if not np.abs(a / plant.displacement_scale).max(initial=0.0) <= _DONE * max(speed, 1e-3) ** 2:
        raise EquilibriumError(
            f"{plant.name!r} moves steadily, but its velocities do not stay as they are{turning_axes(plant, v)}"
        )
    return OperatingPoint.at(plant, q, value, v)


@dataclass(frozen=True)
class _Balance:
    """Residual of a steady motion at a state, and its slopes by positions, rates and efforts, each in its own unit.

    Unbalanced forces, by their work on a size, and not accelerations: an acceleration is divided by the mass of its
    body, and the rounding of a light one would hide the equations of all others. Rows are compared with their own
    slopes, so that their error is a distance in radians and sizes, parts of the speed, and efforts.
    """

    plant: Plant
    q: Array
    v: Array
    u: Array
    names: tuple[str, ...]
    equations: LinearizedEquations
    residual: Array
    unit: Array  # of positions, rates and efforts

    @property
    def count(self) -> int:
        """Number of unknowns."""
        return self.unit.size

    @classmethod
    def at(cls, plant: Plant, q: Array, v: Array, u: Array, like: _Balance | None = None) -> _Balance:
        """Residual at a state, with its units; `like` gives another one whose coordinates and units are used."""
        names = best_coordinates(plant, plant.terms(q, v).Z) if like is None else like.names
        found = LinearizedEquations(plant, derivatives(plant, q, v, u), names, plant.actuator_names, MOVING)
        n = len(found.names)
        unit = _units(plant, found, v) if like is None else like.unit
        M = found.K_rates.T @ found.local.M @ found.K_rates / _lengths(plant, found.K_rates)[:, None]
        forces, change = M @ found.drift[n:], M @ (found.A[n:, :n] @ found.drift[:n])
        return cls(plant, q, v, u, names, found, np.r_[forces, change], unit)

    def moved(self, step: Array) -> tuple[Array, Array, Array]:
        """State and efforts after a step."""
        n, p, equations = len(self.equations.names), len(self.equations.rated), self.equations
        y, rates, efforts = np.split(self.unit * step, [n, n + p])
        new = self.plant.close(self.plant.integrate(self.q, equations.K @ y))
        moved = self.v + equations.N @ y + equations.K_rates @ rates
        return new, self.plant.project_velocity(new, moved), self.u + efforts

    def slopes(self) -> tuple[Array, Array, Array]:
        """Slopes J of the residual by steps, the scale of each row, and the rounding of the residual in these scales.

        The scale of a row is its largest slope, or a part of that of all rows. On positions like the place of a wheel
        nothing depends: differences there are rounding, and no slope.
        """
        J = np.empty((self.residual.size, self.count))
        for i, way in enumerate(np.eye(self.count)):
            states = (self.moved(s * way) for s in (_CHANGE, -_CHANGE))
            plus, minus = (_Balance.at(self.plant, *state, like=self).residual for state in states)
            J[:, i] = (plus - minus) / (2.0 * _CHANGE)
        scale = np.abs(J).max(axis=1, initial=0.0)
        p = len(self.equations.rated)
        noise = np.zeros(scale.size)
        for half in (slice(p), slice(p, None)):  # forces, and their rates
            largest = scale[half].max(initial=0.0) or 1.0
            scale[half] = np.maximum(scale[half], _WEAK * largest)
            noise[half] = _NOISE * largest / scale[half]
        J[np.abs(J) < _SEEN * scale[:, None]] = 0.0
        return J, scale, noise

    def kept(self, held: NDArray[np.int64], kept: NDArray[np.int64]) -> Array:
        """Slopes of the held coordinates and velocities by steps."""
        K, N, K_rates = self.equations.K, self.equations.N, self.equations.K_rates
        places = np.hstack([K[held], np.zeros((held.size, K_rates.shape[1]))])
        rows = np.vstack([places, np.hstack([N[kept], K_rates[kept]])])
        return np.hstack([rows, np.zeros((len(rows), self.count - rows.shape[1]))]) * self.unit


def _units(plant: Plant, equations: LinearizedEquations, v: Array) -> Array:
    """Units of the unknowns: a radian or a size, the whole speed, the force that gives it within a size."""
    speed = max(float(np.abs(v / plant.displacement_scale).max(initial=0.0)), 1e-3)
    local = equations.local
    gained = _lengths(plant, np.linalg.solve(local.M, local.B).astype(np.float64)) if plant.nu else np.zeros(0)
    ways, rates = _lengths(plant, equations.K), _lengths(plant, equations.K_rates)
    return np.r_[1.0 / ways, speed / rates, speed**2 / np.maximum(gained, 1e-12)]


def _least_step(J: Array, residual: Array, noise: Array) -> Array:
    """Least step that makes the residual vanish, as far as it is more than rounding.

    Where a machine can move on steadily in many ways, slopes across these vanish towards the solution, and rounding
    divided by such a slope would be a step of its own.
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    part = -U.T @ residual
    told = (s > _SEEN * s.max(initial=0.0)) & (np.abs(part) > np.abs(U * noise[:, None]).sum(axis=0))
    return Vt[told].T @ (part[told] / s[told])


def _lengths(plant: Plant, directions: Array) -> Array:
    """Sizes of directions (nv, k), in radians and sizes of the machine: of the coordinate that moves most."""
    return np.maximum(np.abs(directions / plant.displacement_scale[:, None]).max(axis=0, initial=0.0), 1e-300)


def _efforts(plant: Plant, u: ArrayLike | Mapping[str, float] | float | None) -> tuple[NDArray[np.bool_], Array]:
    """Mask of the efforts that are given, and all efforts at the start."""
    value, given = np.zeros(plant.nu), np.ones(plant.nu, dtype=bool)
    if u is None:
        return ~given, value
    if isinstance(u, Mapping):
        given[:] = False
        for name, x in u.items():
            _check.one_of(name, plant.actuator_names, "actuator")
            given[plant.actuator_names.index(name)] = True
            value[plant.actuator_names.index(name)] = _check.number(x, f"the effort of {name!r}")
        return given, value
    if _check.single(u):
        return given, np.full(plant.nu, _check.number(u, "u"))
    return given, _check.vector(u, plant.nu, "u", plant.actuator_names).copy()


def _chosen(plant: Plant, names: Collection[str], what: str) -> NDArray[np.int64]:
    """Indices of velocity coordinates, by name."""
    given = (names,) if isinstance(names, str) else _check.sequence(names, what, "names of velocity coordinates")
    given = _check.names(given, what, plant.velocity_names, "velocity coordinate") if given else ()
    return np.array([plant.velocity_names.index(name) for name in given], dtype=np.int64)

"""Steady motions: velocities that stay as they are, while all looks alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.derivatives import derivatives
from ..errors import EquilibriumError
from ..model.plant import Plant
from .operating import OperatingPoint
from .reduced import MOVING
from .signals import LinearizedEquations, best_coordinates

__all__ = ["steady_motion"]

Array = NDArray[np.float64]

_STEPS, _DONE = 40, 1e-12  # Newton's steps at most; of the speeds at which accelerations count as zero
_CHANGE = 1e-5  # step of the differences by which the second equations are differentiated


def steady_motion(
    plant: Plant,
    q: ArrayLike | Mapping[str, float],
    v: ArrayLike,
    *,
    u: ArrayLike | Mapping[str, float] | float | None = 0.0,
    hold: Collection[str] = (),
    hold_rates: Collection[str] = (),
) -> OperatingPoint:
    """The steady motion nearest to a guess: constant velocities, and nothing that changes how they act.

    A wheel that rolls in a circle, a vehicle at constant speed, a governor that turns. Its accelerations vanish, and so
    does their rate along the motion: gravity and the constraints look alike as it goes on.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,), or mapping of position name to value
        Where it is about, with closed loops.
    v : array_like, shape (nv,)
        What the velocities are about; they are made admissible.
    u : array_like, shape (nu,), a number for all motors, mapping of actuator name to value, or None
        Motor efforts that are given, N or N m; those that a mapping does not name, and with None all, are found.
    hold : collection of str
        Velocity coordinates along which the machine stays where q has it.
    hold_rates : collection of str
        Those whose velocities stay as v has them.

    Returns
    -------
    OperatingPoint
        For `linearize`.

    Raises
    ------
    EquilibriumError
        Where none is found near the guess; the message says how far off the best one is.
    ValueError
        For unknown names.

    Notes
    -----
    Newton's method, with the least change of positions, velocities and efforts, for R a = 0 and d(R a)/dt = A21 dy/dt
    = 0 of the linear model.

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
    given, value = _efforts(plant, u)
    held, kept = (_chosen(plant, names, what) for names, what in ((hold, "hold"), (hold_rates, "hold_rates")))
    names = best_coordinates(plant, plant.terms(q, v).Z)
    best: tuple[float, Array, Array, Array] = np.inf, q, v, value
    for _ in range(_STEPS):
        equations, residual = _equations(plant, names, q, v, value)
        speed = float(np.abs(v / plant.spans).max(initial=0.0))
        off = float(np.abs(residual).max(initial=0.0)) / max(speed, 1e-3) ** 2
        if off < best[0]:
            best = off, q, v, value
        if off <= _DONE:
            break
        K, N, K_rates, n = equations.K, equations.N, equations.K_rates, len(equations.names)
        p, unit = len(names), np.abs(equations.rows.R) @ plant.spans
        J = np.zeros((2 * p, n + p + plant.nu))
        J[:p, : n + p], J[:p, n + p :] = equations.A[n:] / unit[:, None], equations.B[n:] / unit[:, None]
        for i in range(J.shape[1]):
            ways = _CHANGE * np.array([1.0, -1.0])[:, None] * np.eye(J.shape[1])[i]
            plus, minus = (_moved_residual(plant, names, equations, q, v, value, way)[p:] for way in ways)
            J[p:, i] = (plus - minus) / (2.0 * _CHANGE)
        keep = np.vstack([np.hstack([K[held], np.zeros((held.size, J.shape[1] - n))]), _rate_rows(N, K_rates, kept, J)])
        fixed = np.eye(J.shape[1])[n + len(names) :][given]
        C = np.vstack([keep, fixed])
        free = np.linalg.svd(C)[2][np.linalg.matrix_rank(C) :].T if len(C) else np.eye(J.shape[1])
        step = free @ np.linalg.lstsq(J @ free, -residual, rcond=1e-8)[0]
        q, v, value = _moved(plant, equations, q, v, value, step)
        names = best_coordinates(plant, plant.terms(q, v).Z)
    off, q, v, value = best
    if not off <= 1e-9:
        raise EquilibriumError(
            f"no steady motion of {plant.name!r} was found near the guess: accelerations of {off:.3g} (of the square "
            f"of its speed) are left at q = {np.round(q, 6).tolist()}, v = {np.round(v, 6).tolist()}. Hold less, let "
            "u= be found (None), or start nearer to one"
        )
    return OperatingPoint.at(plant, q, value, v)


def _efforts(plant: Plant, u: ArrayLike | Mapping[str, float] | float | None) -> tuple[NDArray[np.bool_], Array]:
    """Which efforts are given, and all of them to begin with."""
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
    """Indices of velocity coordinates."""
    given = (names,) if isinstance(names, str) else _check.sequence(names, what, "names of velocity coordinates")
    given = _check.names(given, what, plant.velocity_names, "velocity coordinate") if given else ()
    return np.array([plant.velocity_names.index(name) for name in given], dtype=np.int64)


def _equations(plant: Plant, names: tuple[str, ...], q: Array, v: Array, u: Array) -> tuple[LinearizedEquations, Array]:
    """The linear model about a state, and what is to vanish: accelerations, and their rates along the motion."""
    found = LinearizedEquations(plant, derivatives(plant, q, v, u), names, plant.actuator_names, MOVING)
    n = len(found.names)
    unit = np.abs(found.rows.R) @ plant.spans
    accelerations, change = found.drift[n:], found.A[n:, :n] @ found.drift[:n]
    return found, np.concatenate([accelerations / unit, change / unit])


def _moved(
    plant: Plant, equations: LinearizedEquations, q: Array, v: Array, u: Array, step: Array
) -> tuple[Array, Array, Array]:
    """The state and the efforts after a step of positions, rates and efforts."""
    n, p = len(equations.names), len(equations.rated)
    y, rates = step[:n], step[n : n + p]
    new = plant.close(plant.integrate(q, equations.K @ y))
    moved = v + equations.N @ y + equations.K_rates @ rates
    return new, plant.project_velocity(new, moved), u + step[n + p :]


def _moved_residual(
    plant: Plant, names: tuple[str, ...], equations: LinearizedEquations, q: Array, v: Array, u: Array, step: Array
) -> Array:
    return _equations(plant, names, *_moved(plant, equations, q, v, u, step))[1]


def _rate_rows(N: Array, K_rates: Array, kept: NDArray[np.int64], J: Array) -> Array:
    """How the velocities that are held change with positions, rates and efforts."""
    rows = np.hstack([N[kept], K_rates[kept]])
    return np.hstack([rows, np.zeros((kept.size, J.shape[1] - rows.shape[1]))])

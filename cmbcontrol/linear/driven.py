"""Inputs that are accelerations: driven joints, and prescribed motions that become driven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import InputError
from ..model.elements import DistanceMotion, Motion
from ..model.plant import Plant

__all__ = ["Driven", "Released", "release_motions"]

Array = NDArray[np.float64]


class Driven(NamedTuple):
    """Joint or motion with a given acceleration as an input, and the effort that it needs."""

    name: str
    unit: str
    row: tuple[Array, Array, Array, Array]  # as in `CoordinateRows`
    force: Array  # (nv,) generalized force of a unit of effort
    effort_q: Array  # (nv,) how the effort changes that makes the same generalized force, as this turns


class Released(NamedTuple):
    """Machine whose prescribed motions are inputs of a linear model.

    Attributes
    ----------
    plant : Plant
        Plant without these motions: their positions and velocities are among its states.
    local : Derivatives
        Derivatives with the forces that the motions have at the point, which turn with the machine.
    driven : dict of str to list of Driven
        Inputs by the name of the motion.
    stiffness : ndarray, shape (nv, nv)
        Contribution of these forces to ``local.force_q``.
    """

    plant: Plant
    local: Derivatives
    driven: dict[str, list[Driven]]
    stiffness: Array


def release_motions(plant: Plant, local: Derivatives, inputs: Sequence[Any] | None) -> Released:
    """Release the motions that inputs name, as ``<motion>`` or ``<component>_acceleration``.

    Raises
    ------
    ValueError
        For a `PoseMotion`, which has more rows than components.
    """
    listed = inputs if isinstance(inputs, (tuple, list)) else [inputs]  # what is no name, others refuse
    given = [x for x in listed if isinstance(x, str)]
    chosen = [motion for motion in plant.motions if motion.name in plant.row_slices and _named(motion, given)]
    none = np.zeros((plant.nv, plant.nv))
    if not chosen:
        return Released(plant, local, {}, none)
    driven, gone = {}, np.zeros(len(plant.row_names), dtype=bool)
    for motion in chosen:
        rows = plant.row_slices[motion.name]
        if rows.stop - rows.start > len(motion.component_names):
            raise InputError(
                f"motion {motion.name!r} prescribes an attitude, and is no input of a linear model: use a PointMotion "
                "and JointMotions, or a wrench on the body"
            )
        gone[rows] = True
        driven[motion.name] = [_driven(plant, motion, k, i, local) for k, i in enumerate(range(rows.start, rows.stop))]
    lam = np.where(gone, local.lam, 0.0)
    loads = [derivatives(plant, local.q, local.v, local.u, a=local.a, lam=x).force_q for x in (lam, np.zeros_like(lam))]
    kept = ~gone
    free = plant.without(*driven)
    terms = free.terms(local.q, local.v)
    Z = np.linalg.solve(np.linalg.cholesky(terms.Z.T @ local.M @ terms.Z), terms.Z.T).T
    fields = ("lam", "A", "rate_q", "accel_q", "accel_v", "phi", "b")
    parts = {name: getattr(local, name)[kept] for name in fields}
    return Released(free, replace(local, **parts, Z=Z, rank=terms.rank), driven, loads[0] - loads[1])


def _named(motion: Motion, given: Sequence[str]) -> bool:
    names = {motion.name, *(f"{n}_acceleration" for n in motion.component_names)}
    return bool(names.intersection(given))


def _driven(plant: Plant, motion: Motion, component: int, row: int, local: Derivatives) -> Driven:
    """Driven component of a motion: its row; for a distance, whose row is (length^2 - c^2) / (2 c), the length."""
    name = motion.component_names[component]
    unit = plant.motion_units[plant.motion_names.index(name)]
    effort_q = np.zeros(plant.nv)
    A, rate_q, accel_q, accel_v = (x[row] for x in (local.A, local.rate_q, local.accel_q, local.accel_v))
    if isinstance(motion, DistanceMotion):
        # with y = length, row = y^2 / (2 c) + ..: row' = y y' / c, row'' = (y y'' + y'^2) / c
        y = float(np.sqrt(motion.length**2 + 2.0 * motion.length * _distance_row(plant, local.q, row)))
        f = float(motion.length) / y
        A = f * A
        first = A @ local.v
        second = f * (local.A[row] @ local.a + local.b[row] + _second_rate(plant, row)) - first**2 / y
        rate_q = f * rate_q - first / y * A
        accel_q = f * accel_q - (second * A + 2.0 * first * rate_q) / y
        accel_v = f * accel_v - 2.0 * first / y * A
        effort_q = -local.lam[row] / (f * y) * A  # effort f is the same, and df/dq = -f A / y
    return Driven(name, unit, (A, rate_q, accel_q, accel_v), A, effort_q)


def _distance_row(plant: Plant, q: Array, row: int) -> float:
    """Value of (length^2 - c^2) / (2 c) of a distance at q."""
    return float(plant.residual(q)[row] + plant.arrays.targets[plant.arrays.rows["target"][row], 0])  # type: ignore[attr-defined]


def _second_rate(plant: Plant, row: int) -> float:
    """Prescribed second derivative of a row, which b already contains with a minus sign."""
    return float(plant.arrays.targets[plant.arrays.rows["target"][row], 2])  # type: ignore[attr-defined]

"""Internal forces: motor efforts that the constraints balance, without any motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import UNREACHED, null_space
from ..model.multipliers import unique_multipliers
from ..model.plant import Plant
from ..model.units import effort_units, force_units, row_force_units
from .operating import OperatingPoint
from .static_efforts import motor_reach
from .statics import require_closed

__all__ = ["PreloadDirections", "preload_directions"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PreloadDirections:
    """Directions of preload: u + efforts @ w is in equilibrium where u is, for all w, as the constraints balance it.

    Attributes
    ----------
    plant : Plant
    efforts : ndarray, shape (nu, n)
        Orthonormal columns N with Z'B N = 0, by the multipliers that a unit of effort causes, largest first. The last
        ones may cause none: motors on the same joint that work against each other.
    multipliers : ndarray, shape (rows, n)
        Change of the smallest multipliers lam by each column.
    unique : ndarray of bool, shape (rows,)
        Mask of the multipliers that are unique; redundant rows share the others.
    forces : ndarray, shape (nv, n)
        Change of the constraint force A' lam by each column: it is B N.
    room : ndarray, shape (n, 2)
        Range of w from the operating point, one direction at a time, until an actuator is at its limit.
    """

    plant: Plant
    efforts: Array
    multipliers: Array
    unique: NDArray[np.bool_]
    forces: Array
    room: Array

    def __len__(self) -> int:
        return self.efforts.shape[1]

    def __str__(self) -> str:
        plant, n = self.plant, len(self)
        lines = [f"preload of {plant.name}: {n} direction(s)"]
        kinds = (
            ("motor", plant.actuator_names, effort_units(plant), self.efforts, [""] * plant.nu),
            (
                "lam",
                plant.row_names,
                row_force_units(plant),
                self.multipliers,
                ["" if x else "  shared" for x in self.unique],
            ),
            ("joint", plant.velocity_names, force_units(plant), self.forces, [""] * plant.nv),
        )
        for kind, names, units, values, notes in kinds if n else ():
            for name, unit, row, note in zip(names, units, values, notes, strict=True):
                listed = " ".join(f"{x: 10.4g}" for x in row)
                lines.append(f"  {kind:<6}{name:<20}{listed} {unit}{note}".rstrip())
        return "\n".join(lines)


def preload_directions(plant: Plant, point: OperatingPoint) -> PreloadDirections:
    """Internal forces of a machine with more motors than degrees of freedom: the null space of Z'B.

    Motor efforts N w do no work on any admissible motion, Z'B N = 0. They change the constraint
    force by B N w and nothing else (Aghili, section 7: the redundancy that the metric W resolves).

    Parameters
    ----------
    plant : Plant
    point : OperatingPoint
        From `trim`; only its configuration and efforts are used.

    Returns
    -------
    PreloadDirections
        Without columns where every effort moves the machine.

    Raises
    ------
    AssemblyError
        Where the loops are open.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import trim
    >>> plant = plants.five_bar()
    >>> len(preload_directions(plant, trim(plant, plant.assemble(left=2.1, right=1.0))))
    0
    """
    _check.plant(plant)
    _check.instance(point, OperatingPoint, "point", "from trim(plant, q)")
    require_closed(plant, point.q)
    terms = plant.terms(point.q, np.zeros(plant.nv))
    X, _, scale = motor_reach(terms.unit_motions, terms.B, terms.unit_lengths)
    N = null_space(X, scale, UNREACHED)
    turn = np.linalg.svd((terms.A_pinv.T @ terms.B @ N) / plant.row_scale[:, None])[2]
    N = N @ turn.T
    N = N * np.where(N[np.argmax(np.abs(N), axis=0), np.arange(N.shape[1])] < 0.0, -1.0, 1.0) if N.size else N
    forces = terms.B @ N
    unique = unique_multipliers(terms.levers, terms.rank)
    return PreloadDirections(plant, N, terms.A_pinv.T @ forces, unique, forces, _room(plant, point.u, N))


def _room(plant: Plant, u: Array, N: Array) -> Array:
    """Range of w (n, 2) for each column alone, until an actuator is at its limit."""
    room = np.tile([-np.inf, np.inf], (N.shape[1], 1))
    for i, column in enumerate(N.T):
        some = np.abs(column) > 1e-12
        ends = np.stack([(-plant.effort - u)[some] / column[some], (plant.effort - u)[some] / column[some]])
        room[i] = ends.min(axis=0).max(initial=-np.inf), ends.max(axis=0).min(initial=np.inf)
    return room

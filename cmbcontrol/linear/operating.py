"""Operating points: equilibria on the manifold of the closed loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import EquilibriumError
from ..model.base import PlantBase
from ..model.terms import Terms
from .at_rest import at_rest, list_forces, multipliers, relative_force, require_closed, unbalanced
from .holding import holding_efforts, require_limits
from .settling import moving_coordinates, settle

__all__ = ["OperatingPoint", "Residuals", "trim"]

Array = NDArray[np.float64]


class Residuals(NamedTuple):
    """How well an operating point is at rest.

    Attributes
    ----------
    position : float
        Largest opening of a loop, m.
    velocity : float
        Largest rate at which a loop opens, m/s.
    balance : float
        Largest generalized force P(h - B u) that nothing balances, N or N m.
    """

    position: float
    velocity: float
    balance: float


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A state with the efforts and the multipliers that belong to it.

    Attributes
    ----------
    plant : Mechanism or FunctionPlant, or None
        None where the point was loaded from a file.
    q, v : ndarray, shape (nq,) and (nv,)
        rad or m; rad/s or m/s.
    u : ndarray, shape (nu,)
        Motor efforts, N or N m.
    lam : ndarray, shape (rows,)
        The smallest multipliers that carry the rest: ``A' lam`` nearest to ``B u - h``, N or N m.
    residuals : Residuals

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> falling = OperatingPoint.at(plant, plant.assemble(left=2.1, right=1.0))
    >>> falling.residuals.balance > 1.0
    True
    """

    plant: PlantBase | None
    q: Array
    v: Array
    u: Array
    lam: Array
    residuals: Residuals

    @classmethod
    def at(
        cls,
        plant: PlantBase,
        q: ArrayLike | Mapping[str, float],
        u: ArrayLike | float = 0.0,
        v: ArrayLike | None = None,
    ) -> OperatingPoint:
        """The point at given q, u and v (zero unless given), be it an equilibrium or not."""
        q = plant.configuration(q).copy()
        v = np.zeros(plant.nv) if v is None else _check.vector(v, plant.nv, "v", plant.velocity_names).copy()
        return _point(plant, plant.terms(q, v), _efforts(plant, u))

    def __str__(self) -> str:
        q, u = list(map(str, range(self.q.size))), list(map(str, range(self.u.size)))
        title, units = "operating point", ("",) * self.q.size
        if self.plant is not None:
            title += f" of {self.plant.name}"
            q, u, units = self.plant.position_names, self.plant.actuator_names, self.plant.position_units
        lines = [title]
        lines += [f"  {n:<16} {x: .6g} {unit}" for n, x, unit in zip(q, self.q, units, strict=True)]
        lines += [f"  motor {n:<10} {x: .6g}" for n, x in zip(u, self.u, strict=True)]
        r = self.residuals
        lines.append(f"  loops open by {r.position:.1e} m, forces unbalanced by {r.balance:.1e} N or N m")
        return "\n".join(lines)


def trim(
    plant: PlantBase,
    q: ArrayLike | Mapping[str, float],
    *,
    u: ArrayLike | float | None = None,
    weight: ArrayLike | None = None,
    free: str | Collection[str] = (),
    stable: bool = False,
    tolerance: float = 1e-9,
) -> OperatingPoint:
    """Equilibrium on the manifold: at the configuration q, or near it.

    At rest the equations say ``h + A' lam = B u``, so that ``Z'(h - B u) = 0`` on the admissible
    velocities Z. The efforts are the smallest that hold the pose within the limits of the actuators.

    Parameters
    ----------
    plant : Mechanism or FunctionPlant
    q : array_like, shape (nq,), or mapping of position name to value
        Configuration with closed loops, from ``plant.assemble(...)``.
    u : array_like, shape (nu,), or a number for all motors, optional
        Motor efforts, N or N m, where they are given: 0 for motors that are off. Found unless given.
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the efforts: u' W^-1 u is minimised, as in `inverse_dynamics`.
    free : "all", or names of velocity coordinates or joints, optional
        Coordinates that may move from q to where the given u (or, without u, any efforts) hold the machine;
        all others are held. Without it none moves. The nearest equilibrium is looked for, stable or
        not; from where it lies in no direction (a pendulum held level), the machine is first let go downhill.
    stable : bool
        Where coordinates are free, go downhill to a stable equilibrium, as the machine itself would settle.
    tolerance : float
        Largest force left, relative to weights, springs, motor forces and stiffness.

    Returns
    -------
    OperatingPoint

    Raises
    ------
    AssemblyError
        Where q does not close the loops.
    EquilibriumError
        Where the pose cannot be held: too few actuators (the message lists the generalized force that is
        left, by coordinate), or too weak ones (it names the actuator, what it needs and what it has).

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> trim(plant, plant.assemble(left=2.1, right=1.0)).u.round(2)
    array([-31.49,  32.91])
    """
    _check.positive(tolerance, "tolerance")
    q = plant.configuration(q).copy()
    require_closed(plant, q)
    given = None if u is None else _efforts(plant, u)
    if given is not None:
        require_limits(plant, given)
    moving = moving_coordinates(plant, free)
    if moving.any():
        q = settle(plant, q, given, moving, weight=weight, stable=stable, tolerance=tolerance)
    terms = plant.terms(q, np.zeros(plant.nv))
    point = _point(plant, terms, holding_efforts(plant, terms, weight) if given is None else given)
    left = unbalanced(terms, point.u)
    if not relative_force(plant, at_rest(plant, q, point.lam, point.u), left, point.lam, point.u) <= tolerance:
        raise EquilibriumError(_not_held(plant, q, left, given is not None, bool(moving.any())))
    return point


def _efforts(plant: PlantBase, u: ArrayLike | float) -> Array:
    """Motor efforts as a vector; a number counts for all."""
    if np.ndim(u) == 0:
        return np.full(plant.nu, _check.number(u, "u"))
    return _check.vector(u, plant.nu, "u", plant.actuator_names).copy()


def _point(plant: PlantBase, terms: Terms, u: Array) -> OperatingPoint:
    """The operating point of a state."""
    position, velocity = np.abs(terms.row_scale * [terms.phi, terms.A @ terms.v]).max(axis=1, initial=0.0)
    balance = np.abs(unbalanced(terms, u)).max(initial=0.0)
    residuals = Residuals(float(position), float(velocity), float(balance))
    return OperatingPoint(plant, terms.q, terms.v, u, multipliers(terms, u), residuals)


def _not_held(plant: PlantBase, q: Array, left: Array, given: bool, moved: bool) -> str:
    """What is not balanced, and what to do."""
    where = f"at q = {np.round(q, 6).tolist()} the generalized force left is {list_forces(plant, left)}"
    if moved:
        return f"no equilibrium of {plant.name!r} was found near the pose: {where}. Start nearer, or free more."
    if given:
        return f"{plant.name!r} is not in equilibrium with the given u: {where}. Leave out u= to find it, or use free=."
    return (
        f"the actuators cannot hold {plant.name!r}: {where}. Add an actuator, choose another pose, or name "
        "coordinates that may move with free=."
    )

"""The equations of motion at rest, with their derivatives: what trim and linearize share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, ModelError
from ..kernels import derivatives
from ..model.base import PlantBase
from ..model.mechanism import Mechanism
from ..model.terms import FAILED, RANK_TOLERANCE, Terms

__all__ = [
    "AtRest",
    "at_rest",
    "coordinate_lengths",
    "effort_units",
    "force_units",
    "list_forces",
    "multipliers",
    "relative_force",
    "require_closed",
    "unbalanced",
]

Array = NDArray[np.float64]

_FORCES = {"rad/s": "N m", "m/s": "N"}


class AtRest(NamedTuple):
    """M dv/dt + h = B u - A' lam to first order about (q, 0).

    Attributes
    ----------
    M, A, B : ndarray
        Mass matrix (nv, nv), constraint Jacobian (rows, nv), drive matrix (nv, nu).
    K : ndarray, shape (nv, nv)
        Stiffness d/dq [h + A' lam - B u], for q [+] delta.
    D : ndarray, shape (nv, nv)
        Damping dh/dv.
    Z : ndarray, shape (nv, dof)
        Admissible velocities, A Z = 0, orthonormal in the metric of M: Z'MZ = 1.
    phi : ndarray, shape (rows,)
        Residual of the loops.
    h : ndarray, shape (nv,)
        Weights and springs.
    rank : int
        Of A.
    """

    M: Array
    A: Array
    B: Array
    K: Array
    D: Array
    Z: Array
    phi: Array
    h: Array
    rank: int


def at_rest(plant: PlantBase, q: Array, lam: Array, u: Array) -> AtRest:
    """The equations at rest: compiled and analytic for a `Mechanism`, by finite differences for functions."""
    if not isinstance(plant, Mechanism):
        return _by_differences(plant, q, lam, u)
    M, A, B, K, D, Z, phi, h, rank = derivatives.equilibrium_terms(plant.model, q, lam, u, RANK_TOLERANCE)
    if rank == FAILED:
        raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q.tolist()}")
    if not np.isfinite(K.sum()):
        raise ModelError(
            f"the stiffness of {plant.name!r} is not finite at q = {q.tolist()}: has a point spring length zero?"
        )
    return AtRest(M, A, B, K, D, Z.T, phi, h, rank)


def _by_differences(plant: PlantBase, q: Array, lam: Array, u: Array) -> AtRest:
    """A plant given by functions: K and D by central differences of order 8."""
    rest = np.zeros(plant.nv)

    def static(q: Array) -> Array:
        terms = plant.terms(q, rest)
        return terms.h + terms.A.T @ lam - terms.B @ u

    terms = plant.terms(q, rest)
    scale = 1e-2 * coordinate_lengths(plant)
    K = _differences(lambda delta: static(plant.integrate(q, delta)), scale)
    D = _differences(lambda v: plant.terms(q, v).h, scale)
    Z = np.linalg.solve(np.linalg.cholesky(terms.Z.T @ terms.M @ terms.Z), terms.Z.T)
    return AtRest(terms.M, terms.A, terms.B, K, D, Z.T, terms.phi, terms.h, terms.rank)


def _differences(function: Callable[[Array], Array], steps: Array) -> Array:
    """Jacobian of a function at zero, by central differences of order 8."""
    columns = []
    for k, step in enumerate(steps):
        e = np.zeros(steps.size)
        e[k] = step
        weights = ((1.0, 0.8), (2.0, -0.2), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0))
        columns.append(sum(w / step * (function(i * e) - function(-i * e)) for i, w in weights))
    return np.stack(columns, axis=1)


def multipliers(terms: Terms, u: Array) -> Array:
    """The smallest lam (rows,) with A' lam nearest to B u - h."""
    return terms.A_pinv.T @ (terms.B @ u - terms.h)


def unbalanced(terms: Terms, u: Array) -> Array:
    """P(h - B u), the generalized force (nv,) that neither motors nor loops balance."""
    return terms.Z @ (terms.Z.T @ (terms.h - terms.B @ u))


def relative_force(plant: PlantBase, local: AtRest, force: Array, lam: Array, u: Array) -> float:
    """The largest entry of a generalized force over all forces here: weights, springs, motors, loops, stiffness.

    All in N m: a radian compares with the size of the machine.
    """
    length = coordinate_lengths(plant)
    acting = np.abs(local.h) + np.abs(local.B) @ np.abs(u) + np.abs(local.A.T) @ np.abs(lam)
    stiffness = np.abs(local.K) * length[:, None] * length
    scale = max(float((acting * length).max(initial=0.0)), float(stiffness.max(initial=0.0)), 1e-300)
    return float(np.abs(force * length).max(initial=0.0)) / scale


def coordinate_lengths(plant: PlantBase) -> Array:
    """What counts as one in each velocity coordinate: a radian, or the size of the machine; (nv,)."""
    return np.array([1.0 if u == "rad/s" else plant.size for u in plant.velocity_units])


def force_units(plant: PlantBase) -> tuple[str, ...]:
    """Units of the generalized forces."""
    return tuple(_FORCES.get(u, "") for u in plant.velocity_units)


def effort_units(plant: PlantBase) -> tuple[str, ...]:
    """Units of the motor efforts (gears count as numbers)."""
    units = dict(zip(plant.velocity_names, plant.velocity_units, strict=True))
    units |= {loop.name: loop.velocity_units[0] for loop in plant.loops if getattr(loop, "velocity_units", ())}
    driven = {a.name: a.joint for a in getattr(plant, "actuators", ())}
    units |= {a.joint: "rad/s" for a in getattr(plant, "actuators", ()) if a.bodies}  # a torque between bodies
    return tuple(_FORCES.get(units.get(driven.get(n, n), ""), "") for n in plant.actuator_names)


def list_forces(plant: PlantBase, forces: Array) -> str:
    """The generalized forces that count, by coordinate: ``'left' 3.2 N m, 'right' -1 N m``."""
    size, units = np.abs(forces * coordinate_lengths(plant)), force_units(plant)
    shown = sorted(k for k in np.argsort(-size)[:6] if size[k] > 1e-3 * size.max())
    return ", ".join(f"{plant.velocity_names[k]!r} {forces[k]:.4g} {units[k]}".rstrip() for k in shown)


def require_closed(plant: PlantBase, q: Array) -> None:
    """Refuse a configuration whose loops are open."""
    residuals = plant.loop_residuals(q)
    listed = ", ".join(f"{k!r} open by {r:.3e} m" for k, r in residuals.items() if not r <= 1e-9 * plant.size)
    if listed:
        raise AssemblyError(
            f"q does not close the loops of {plant.name!r}: {listed}. Use plant.assemble(...), or plant.close(q).",
            residuals,
            q,
        )

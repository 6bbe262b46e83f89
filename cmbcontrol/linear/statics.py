"""Static equilibrium: the equations of motion at rest with their derivatives, and checks of a configuration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import ModelError
from ..model import closing
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import force_units, in_unit

__all__ = [
    "constraint_curvatures",
    "largest_force",
    "list_forces",
    "multipliers",
    "outside_limits",
    "relative_force",
    "require_closed",
    "require_holonomic",
    "static_derivatives",
    "unbalanced_force",
]

Array = NDArray[np.float64]


def static_derivatives(plant: Plant, q: Array, lam: Array, u: Array) -> Derivatives:
    """Derivatives of the equations at rest, v = a = 0, at given multipliers and efforts; force_q is the stiffness."""
    rest = np.zeros(plant.nv)
    return derivatives(plant, q, rest, u, a=rest, lam=lam)


def constraint_curvatures(plant: Plant, q: Array, local: Derivatives) -> list[Array]:
    """Forms C_i = Z' d(A' n_i)/dq Z (dof, dof) of a singular configuration; empty where q is regular.

    The n_i span N(A'). Rows that are redundant everywhere satisfy n'A = 0 on the manifold, and give C_i = 0. Where the
    rank is lost at this configuration only, the motions that the constraints allow are v = Z z with z' C_i z = 0, to
    second order.

    C_i is a difference of derivatives of forces, in which the weights cancel: with multipliers as large as the weights
    what rounding leaves of them is that of a length. It counts where it is 1e-6 of the levers of the rows, or where all
    of these vanish, as of bearings in line, of 1e-3 of the machine.
    """
    rows = local.A.shape[0]
    if local.rank == rows or local.Z.shape[1] == 0:
        return []
    scaled = plant.row_scale[:, None] * local.A
    length, off = plant.displacement_scale, np.zeros(plant.nu)
    tangent = length[:, None] * np.linalg.qr(local.Z / length[:, None])[0]
    weights = static_derivatives(plant, q, np.zeros(rows), off).force_q
    forms, largest, force = [], 0.0, plant.force_scale or 1.0
    for n in np.linalg.svd(scaled)[0].T[local.rank :]:
        C = (static_derivatives(plant, q, force * plant.row_scale * n, off).force_q - weights) / force  # linear in lam
        largest = max(largest, float(np.abs(tangent.T @ C @ tangent).max()))
        forms.append(local.Z.T @ C @ local.Z)
    return forms if largest > 1e-6 * max(float(np.abs(scaled).max()), 1e-3 * plant.size) else []


def multipliers(terms: Terms, u: Array) -> Array:
    """Smallest multipliers lam (rows,) with A' lam nearest to B u - h."""
    return terms.A_pinv.T @ (terms.B @ u - terms.h)


def unbalanced_force(terms: Terms, u: Array) -> Array:
    """Generalized force P(h - B u) (nv,) that neither motors nor loops balance."""
    return terms.Z @ (terms.Z.T @ (terms.h - terms.B @ u))


def relative_force(plant: Plant, local: Derivatives, force: Array, lam: Array, u: Array) -> float:
    """Largest entry of a generalized force over the largest force: weights, springs, motors, loops, stiffness.

    All in N m: a radian compares with the size of the machine. The whole weight counts: springs may balance it.
    """
    largest = float(np.abs(force * plant.displacement_scale).max(initial=0.0))
    return largest / largest_force(plant, local, lam, u) if largest > 0.0 else 0.0


def largest_force(plant: Plant, local: Derivatives, lam: Array, u: Array) -> float:
    """Largest of all forces at a configuration, N m: the rounding errors of their sum are relative to it."""
    length = plant.displacement_scale
    acting = np.abs(local.h) + np.abs(local.B) @ np.abs(u) + np.abs(local.A.T) @ np.abs(lam)
    stiffness = np.abs(local.force_q) * length[:, None] * length
    own = plant.force_scale * plant.size
    return max(float((acting * length).max(initial=0.0)), float(stiffness.max(initial=0.0)), own)


def outside_limits(plant: Plant, q: Array) -> NDArray[np.bool_]:
    """Mask of the position coordinates beyond their limits, by more than 1e-9 rad or sizes of the machine."""
    slack = 1e-9 * plant.position_scale
    return (q < plant.limits[:, 0] - slack) | (q > plant.limits[:, 1] + slack)


def list_forces(plant: Plant, forces: Array) -> str:
    """Text of the generalized forces that are not negligible, by coordinate: ``'left' 3.2 N m, 'right' -1 N m``."""
    size, units = np.abs(forces * plant.displacement_scale), force_units(plant)
    shown = sorted(k for k in np.argsort(-size)[:6] if size[k] > 1e-3 * size.max())
    return ", ".join(f"{plant.velocity_names[k]!r} {in_unit(forces[k], units[k])}" for k in shown)


def require_holonomic(plant: Plant, q: Array) -> None:
    """Raise an error for rows that bind velocities only: 2 dof states would lose the positions they leave free."""
    rolling = plant.rolling_rows(q)
    if rolling:
        raise ModelError(
            f"the rows {', '.join(map(repr, rolling))} of {plant.name!r} bind velocities and no positions: A is not "
            "the gradient of Phi there, as with rolling wheels. The machine has more positions than velocities, which "
            "independent coordinates with one state pair for each degree of freedom cannot hold. simulate(plant, ...) "
            "takes such rows, linearize(plant, point) has the further positions as states, and underlying_ode(plant, "
            "point) is the linear model in all coordinates; if the rows come from positions, include these in Phi."
        )


def require_closed(plant: Plant, q: Array, given: object = None) -> None:
    """Raise an error for a configuration whose loops are open by more than 1e-9 sizes of the machine; see `closing`."""
    closing.require_closed(plant, q, 1e-9, given)

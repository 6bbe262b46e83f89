"""The equations of motion at rest, with their derivatives: what trim and linearize share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import AssemblyError, ModelError
from ..model.plant import Plant
from ..model.terms import Terms

__all__ = [
    "at_rest",
    "effort_units",
    "force_units",
    "forces_at_hand",
    "list_forces",
    "loop_curvatures",
    "multipliers",
    "outside_limits",
    "relative_force",
    "require_closed",
    "require_holonomic",
    "row_force_units",
    "unbalanced",
]

Array = NDArray[np.float64]

_FORCES = {"rad/s": "N m", "m/s": "N"}


def at_rest(plant: Plant, q: Array, lam: Array, u: Array) -> Derivatives:
    """The equations at rest, v = a = 0, at given multipliers and efforts; force_q is the stiffness."""
    rest = np.zeros(plant.nv)
    return derivatives(plant, q, rest, u, a=rest, lam=lam)


def loop_curvatures(plant: Plant, q: Array, local: Derivatives) -> list[Array]:
    """The forms C_i = Z' d(A' n_i)/dq Z (dof, dof) of a singular configuration; empty where the pose is regular.

    The n_i span N(A'). Rows that are redundant for good go on to satisfy n'A = 0 on the manifold, and
    give C_i = 0. Where rank is lost at this pose alone, the motions that the loops allow are those of the
    cone z' C_i z = 0, v = Z z, to second order.
    """
    rows = local.A.shape[0]
    if local.rank == rows or local.Z.shape[1] == 0:
        return []
    scaled = plant.row_scale[:, None] * local.A
    length, off = plant.spans, np.zeros(plant.nu)
    tangent = length[:, None] * np.linalg.qr(local.Z / length[:, None])[0]
    weights = at_rest(plant, q, np.zeros(rows), off).force_q
    bent, largest = [], 0.0
    for n in np.linalg.svd(scaled)[0].T[local.rank :]:
        C = at_rest(plant, q, plant.row_scale * n, off).force_q - weights  # K is linear in lam
        largest = max(largest, float(np.abs(tangent.T @ C @ tangent).max()))
        bent.append(local.Z.T @ C @ local.Z)
    return bent if largest > 1e-6 * max(float(np.abs(scaled).max()), 1e-9 * plant.size) else []


def multipliers(terms: Terms, u: Array) -> Array:
    """The smallest lam (rows,) with A' lam nearest to B u - h."""
    return terms.A_pinv.T @ (terms.B @ u - terms.h)


def unbalanced(terms: Terms, u: Array) -> Array:
    """P(h - B u), the generalized force (nv,) that neither motors nor loops balance."""
    return terms.Z @ (terms.Z.T @ (terms.h - terms.B @ u))


def relative_force(plant: Plant, local: Derivatives, force: Array, lam: Array, u: Array) -> float:
    """The largest entry of a generalized force over all forces here: weights, springs, motors, loops, stiffness.

    All in N m: a radian compares with the size of the machine. The whole weight counts: springs may balance it.
    """
    left = float(np.abs(force * plant.spans).max(initial=0.0))
    return left / forces_at_hand(plant, local, lam, u) if left > 0.0 else 0.0


def forces_at_hand(plant: Plant, local: Derivatives, lam: Array, u: Array) -> float:
    """The largest of all forces at a pose, N m: what is left where they cancel is rounding of it."""
    length = plant.spans
    acting = np.abs(local.h) + np.abs(local.B) @ np.abs(u) + np.abs(local.A.T) @ np.abs(lam)
    stiffness = np.abs(local.force_q) * length[:, None] * length
    own = plant.force_scale * plant.size
    return max(float((acting * length).max(initial=0.0)), float(stiffness.max(initial=0.0)), own)


def outside_limits(plant: Plant, q: Array) -> NDArray[np.bool_]:
    """Mask of the position coordinates beyond their limits, by more than 1e-9 rad or sizes of the machine."""
    slack = 1e-9 * plant.position_spans
    return (q < plant.limits[:, 0] - slack) | (q > plant.limits[:, 1] + slack)


def force_units(plant: Plant) -> tuple[str, ...]:
    """Units of the generalized forces."""
    return tuple(_FORCES.get(u, "") for u in plant.velocity_units)


def row_force_units(plant: Plant) -> tuple[str, ...]:
    """Units of the multipliers."""
    return tuple({"m": "N", "rad": "N m"}.get(u, "") for u in plant.row_units)


def effort_units(plant: Plant) -> tuple[str, ...]:
    """Units of the motor efforts (gears count as numbers)."""
    units = dict(zip(plant.velocity_names, plant.velocity_units, strict=True))
    units |= {loop.name: loop.velocity_units[0] for loop in plant.loops if getattr(loop, "velocity_units", ())}
    driven = {a.name: a.joint for a in getattr(plant, "actuators", ())}
    units |= {a.joint: "rad/s" for a in getattr(plant, "actuators", ()) if a.bodies}  # a torque between bodies
    return tuple(_FORCES.get(units.get(driven.get(n, n), ""), "") for n in plant.actuator_names)


def list_forces(plant: Plant, forces: Array) -> str:
    """The generalized forces that count, by coordinate: ``'left' 3.2 N m, 'right' -1 N m``."""
    size, units = np.abs(forces * plant.spans), force_units(plant)
    shown = sorted(k for k in np.argsort(-size)[:6] if size[k] > 1e-3 * size.max())
    return ", ".join(f"{plant.velocity_names[k]!r} {forces[k]:.4g} {units[k]}".rstrip() for k in shown)


def require_holonomic(plant: Plant, q: Array) -> None:
    """Refuse rows that bind velocities only: 2 dof states would lose the positions that they leave free."""
    rolling = plant.rolling_rows(q)
    if rolling:
        raise ModelError(
            f"the rows {', '.join(map(repr, rolling))} of {plant.name!r} bind velocities and no positions: A is not "
            "the gradient of Phi there, as with rolling wheels. The machine has more positions than velocities, which "
            "independent coordinates with one state pair for each degree of freedom cannot hold. simulate(plant, ...) "
            "takes such "
            "rows, and underlying_ode(plant, point) is the linear model in all coordinates; if they come from "
            "positions, let Phi say so."
        )


def require_closed(plant: Plant, q: Array) -> None:
    """Refuse a configuration whose loops are open."""
    residuals = plant.loop_residuals(q)
    listed = ", ".join(f"{k!r} open by {r:.3e} m" for k, r in residuals.items() if not r <= 1e-9 * plant.size)
    if listed:
        raise AssemblyError(
            f"q does not close the loops of {plant.name!r}: {listed}. Use plant.assemble(...), or plant.close(q).",
            residuals,
            q,
        )

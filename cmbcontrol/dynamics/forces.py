"""Constraint forces, motor torques, power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import ControllabilityError
from ..model.diagnosis import Actuation, actuation_verdict, unique_multipliers
from ..model.plant import Plant
from ..model.terms import Terms
from .formulations import acceleration

__all__ = [
    "ConstraintForce",
    "MotorEffort",
    "constraint_force",
    "inverse_dynamics",
    "motor_effort",
    "passive_joint_map",
    "power",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConstraintForce:
    """Force of the loops.

    Attributes
    ----------
    force : ndarray, shape (nv,)
        F = A' lam, always unique; it enters as M dv/dt + h = f - F (Aghili, eqs. 18-19). N or N m.
    multipliers : ndarray, shape (rows,)
        The smallest lam with A' lam = F.
    unique : ndarray of bool, shape (rows,)
        Which multipliers the motion determines; the others are shared among redundant rows.
    acceleration : ndarray, shape (nv,)
    """

    force: Array
    multipliers: Array
    unique: NDArray[np.bool_]
    acceleration: Array


def constraint_force(
    plant: Plant, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None, *, formulation: str = "gauss"
) -> ConstraintForce:
    """Force that the loops exert at a state under motor efforts u.

    The multipliers are forces on the second body of the closure with a minus sign, in the axes of
    the closure's frame on the first: -lam pushes body b along the row.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> found = constraint_force(plant, plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> found.unique.all()
    np.True_
    """
    terms = plant.terms(q, v)
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    f = terms.B @ u
    vdot = acceleration(terms, f, formulation=formulation)
    force = f - terms.h - terms.M @ vdot
    return ConstraintForce(force, terms.A_pinv.T @ force, unique_multipliers(terms.A, terms.rank), vdot)


@dataclass(frozen=True, eq=False)
class MotorEffort:
    """Motor efforts for a wanted acceleration.

    Attributes
    ----------
    u : ndarray, shape (nu,)
        Motor efforts, N or N m.
    f : ndarray, shape (nv,)
        The same as joint forces, B u: exactly zero on passive joints.
    residual : ndarray, shape (nv,)
        Part of the needed force P(M a + h) that no motor can give; zero where the plant is fully actuated.
    actuation : Actuation
        Verdict at this pose.
    """

    u: Array
    f: Array
    residual: Array
    actuation: Actuation


def motor_effort(terms: Terms, vdot: ArrayLike, weight: ArrayLike | None = None, *, strict: bool = True) -> MotorEffort:
    """Smallest motor efforts u with Z'B u = Z'(M vdot + h).

    Equals Aghili's (I + H) f_parallel (eq. 62) where each motor acts on one joint.

    Parameters
    ----------
    terms : Terms
    vdot : array_like, shape (nv,)
        Wanted acceleration; its part across the loops is left to the constraint forces.
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the efforts: u' W^-1 u is minimised, as in Aghili, eq. 49. Effort limits squared
        weigh each motor by what it can give.
    strict : bool
        Raise where the motors cannot produce the motion; else return the nearest and the residual.

    Raises
    ------
    ControllabilityError
        Where rank(Z'B) is below the freedom that the motion needs.
    """
    vdot = _check.vector(vdot, terms.h.size, "vdot")
    Z = terms.Z
    need = Z.T @ (terms.M @ vdot + terms.h)
    root = _weight_root(weight, terms.B.shape[1])
    reach = Z.T @ terms.B @ root
    u = root @ (np.linalg.pinv(reach, rcond=1e-10) @ need) if reach.size else np.zeros(terms.B.shape[1])
    f = terms.B @ u
    residual = Z @ (need - Z.T @ f)
    verdict = actuation_verdict(terms)
    if strict and np.abs(residual).max(initial=0.0) > 1e-9 * (1.0 + np.abs(need).max(initial=0.0)):
        raise ControllabilityError(
            f"the motors reach {verdict.rank} of {verdict.dof} freedoms at this pose; forces up to "
            f"{np.abs(residual).max():.3g} are missing (q = {np.round(terms.q, 6).tolist()}). "
            "Add an actuator, or leave this pose (strict=False gives the nearest efforts)."
        )
    return MotorEffort(u, f, residual, verdict)


def _weight_root(weight: ArrayLike | None, nu: int) -> Array:
    """A square root of the metric of the efforts."""
    if weight is None:
        return np.eye(nu)
    W = np.asarray(weight, dtype=np.float64)
    if W.ndim == 1:
        W = np.diag(_check.vector(W, nu, "weight"))
    W = _check.matrix(W, (nu, nu), "weight")
    try:
        return np.linalg.cholesky(W)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"weight must be symmetric and positive definite, got {W.tolist()}") from error


def inverse_dynamics(
    plant: Plant,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    strict: bool = True,
) -> MotorEffort:
    """Motor efforts that give the closed machine the acceleration vdot; zero on passive joints.

    Parameters as in `motor_effort`; vdot should satisfy the loops (A vdot + b = 0), or else its
    admissible part is what is produced.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> hold = inverse_dynamics(plant, plant.assemble(left=2.1, right=1.0), [0.0] * 4, [0.0] * 4)
    >>> hold.u.round(2), hold.actuation.verdict
    (array([-31.49,  32.91]), 'fully-actuated')
    """
    return motor_effort(plant.terms(q, v), vdot, weight, strict=strict)


def passive_joint_map(terms: Terms, active: ArrayLike | None = None) -> Array:
    """Aghili's I + H (eqs. 57-62): from a force in N(A) to one on active joints that moves the same.

    Parameters
    ----------
    active : array_like of bool, shape (nv,), optional
        Joints with motors; by default those that B reaches.

    Returns
    -------
    IH : ndarray, shape (nv, nv)
        f = IH @ f_parallel is zero on passive joints, where the plant is controllable.
    """
    n = terms.h.size
    mask = np.any(terms.B != 0.0, axis=1) if active is None else np.asarray(active, dtype=bool)
    if mask.shape != (n,):
        raise ValueError(f"active must be {n} booleans, one a velocity coordinate, got shape {mask.shape}")
    I, B, P = np.eye(n), np.diag(mask.astype(float)), terms.P
    Q = I - B - P + B @ P
    H = -(I - P) @ np.linalg.pinv(Q, rcond=1e-10) @ (I - B)
    return I + H


def power(terms: Terms, u: ArrayLike, vdot: ArrayLike) -> dict[str, float]:
    """Power balance v'(M vdot + h) = v'B u - v'A' lam, watts.

    Returns
    -------
    dict
        ``actuators`` v'B u, ``inertia`` v'(M vdot + h), ``constraints`` their difference (zero in truth).
    """
    u = _check.vector(u, terms.B.shape[1], "u")
    vdot = _check.vector(vdot, terms.h.size, "vdot")
    actuators = float(terms.v @ terms.B @ u)
    inertia = float(terms.v @ (terms.M @ vdot + terms.h))
    return {"actuators": actuators, "inertia": inertia, "constraints": actuators - inertia}

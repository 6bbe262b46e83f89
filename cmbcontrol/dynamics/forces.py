"""Constraint forces, motor efforts and power at a state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..model.accelerations import solved
from ..model.actuation import Actuation, actuation_at
from ..model.efforts import weight_root
from ..model.evaluation import require_motions_followed
from ..model.multipliers import unique_multipliers
from ..model.plant import Plant
from ..model.terms import Terms
from .acceleration import Formulation, constrained_motion

__all__ = [
    "ConstraintForce",
    "MotorEffort",
    "constraint_force",
    "inverse_dynamics",
    "measured_force",
    "motor_effort",
    "power",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConstraintForce:
    """Force that the loops exert, as joint forces and as multipliers.

    Attributes
    ----------
    force : ndarray, shape (nv,)
        F = A' lam, always unique; it enters as M dv/dt + h = f - F (Aghili, eqs. 18-19). N or N m.
    multipliers : ndarray, shape (rows,)
        Smallest lam with A' lam = F.
    unique : ndarray of bool, shape (rows,)
        Whether the motion determines a multiplier; the others are shared among redundant rows.
    acceleration : ndarray, shape (nv,)
    """

    force: Array
    multipliers: Array
    unique: NDArray[np.bool_]
    acceleration: Array


def constraint_force(
    plant: Plant, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None, *, formulation: Formulation | None = None
) -> ConstraintForce:
    """Force that the loops exert at a state under motor efforts u (Aghili, eqs. 18 and 32; Remark 4).

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
    _check.plant(plant)
    require_motions_followed(plant, q, v)
    terms = plant.terms(q, _check.moderate(_check.vector(v, plant.nv, "v", plant.velocity_names), "v"))
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    _check.moderate(u, "u", plant.actuator_names)
    g = terms.B @ u - terms.h
    if formulation is None:
        found = solved(terms, g)
        vdot, force = found.vdot, g - terms.M @ found.vdot - found.friction
    else:
        vdot, force, *_ = constrained_motion(terms, terms.B @ u, formulation=formulation)
    return ConstraintForce(force, terms.A_pinv.T @ force, unique_multipliers(terms.levers, terms.rank), vdot)


def measured_force(terms: Terms, u: Array) -> Terms:
    """Terms with the constraint force A' lam under motor efforts u (nu,), as a sensor would measure it."""
    g = terms.B @ u - terms.h
    found = solved(terms, g)
    return terms.with_force(g - terms.M @ found.vdot - found.friction)


@dataclass(frozen=True, eq=False)
class MotorEffort:
    """Motor efforts for a desired acceleration.

    Attributes
    ----------
    u : ndarray, shape (nu,)
        Motor efforts, N or N m.
    terms : Terms
        The equations of motion; friction in proportion to loads is a part of their h, as these efforts make it.
    vdot : ndarray, shape (nv,)
        The desired acceleration.
    f : ndarray, shape (nv,)
        The efforts as joint forces, B u: exactly zero on passive joints.
    residual : ndarray, shape (nv,)
        Part of the needed force P(M a + h) that no motor can give; zero where the plant is fully actuated.
    actuation : Actuation
        Rank and margin of the actuation at this configuration.
    """

    u: Array
    terms: Terms
    vdot: Array

    @cached_property
    def f(self) -> Array:
        return self.terms.B @ self.u

    @cached_property
    def residual(self) -> Array:
        terms = self.terms
        return terms.Z @ (terms.Z.T @ (terms.M @ self.vdot + terms.h - self.f))

    @cached_property
    def actuation(self) -> Actuation:
        return actuation_at(self.terms)


def motor_effort(terms: Terms, vdot: ArrayLike, weight: ArrayLike | None = None, *, strict: bool = True) -> MotorEffort:
    """Smallest motor efforts u with Z'B u = Z'(M vdot + h).

    Friction in proportion to what constraints carry, as of gears with losses, is a part of h that follows from the
    efforts: both are solved for together.

    Equals Aghili's (I + H) f_parallel (eq. 62) where each motor acts on one joint.

    Parameters
    ----------
    terms : Terms
    vdot : array_like, shape (nv,)
        Wanted acceleration; its part across the loops is left to the constraint forces.
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the efforts: u' W^-1 u is minimised, as in Aghili, eq. 49. Effort limits squared
        weigh each motor by what it can give; see `cmbcontrol.controllers.metrics`.
    strict : bool
        Raise where the motors cannot produce the motion; else return the nearest and the residual.

    Raises
    ------
    ActuationError
        Where rank(Z'B) is below the freedom that the motion needs.
    ValueError
        Where the weight is not symmetric and positive definite.
    PainleveError
        Where friction leaves no efforts, or several.
    """
    vdot = _check.vector(vdot, terms.h.size, "vdot")
    root = weight_root(weight, terms.B.shape[1])

    def effort(terms: Terms, vdot: Array) -> Array:
        return terms.smallest_effort(vdot, root, strict=False)

    terms = terms.with_friction_of_loads(vdot, effort)
    return MotorEffort(terms.smallest_effort(vdot, root, strict=strict), terms, vdot)


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

    Parameters as in `motor_effort`; vdot should satisfy the loops (A vdot + b = 0), else
    its admissible part is produced.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> hold = inverse_dynamics(plant, plant.assemble(left=2.1, right=1.0), [0.0] * 4, [0.0] * 4)
    >>> hold.u.round(2), hold.actuation.verdict
    (array([-31.49,  32.91]), 'fully-actuated')
    """
    _check.plant(plant)
    strict = _check.flag(strict, "strict")
    require_motions_followed(plant, q, v)
    _check.moderate(_check.vector(v, plant.nv, "v", plant.velocity_names), "v")
    vdot = _check.moderate(_check.vector(vdot, plant.nv, "vdot", plant.velocity_names), "vdot")
    return motor_effort(plant.terms(q, v), vdot, weight, strict=strict)


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

"""Constraint forces, motor efforts and power at a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING, UNREACHED, pinv
from ..errors import ActuationError, InputError, PainleveError
from ..kernels import friction as kernels
from ..kernels import linear_algebra
from ..model.actuation import Actuation, actuation_at
from ..model.diagnosis import unique_multipliers
from ..model.evaluation import require_motions_followed
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.terms import TracedTerms
from .acceleration import Formulation, constrained_motion, require_unique_loads, solved

__all__ = [
    "ConstraintForce",
    "MotorEffort",
    "constraint_force",
    "free_acceleration",
    "inverse_dynamics",
    "measured_force",
    "motor_effort",
    "power",
    "require_reached",
    "response",
    "smallest_effort",
    "weight_root",
    "with_friction_of_loads",
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


def free_acceleration(terms: Terms, f: Array) -> Array:
    """Acceleration M^-1 f of the machine with its loops cut."""
    if isinstance(terms, TracedTerms):
        return terms.free_acceleration(f)
    return np.linalg.solve(terms.M, f)


def response(terms: Terms, f: Array) -> Array:
    """Acceleration Z (Z'M Z)^-1 Z'f that joint forces f (nv,) add in the closed machine."""
    if isinstance(terms, TracedTerms):
        return terms.response(f)
    Z = terms.Z
    return Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T @ f)


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
    if not isinstance(terms, TracedTerms):
        terms = with_friction_of_loads(terms, vdot, partial(smallest_effort, root=root, strict=False))
    return MotorEffort(smallest_effort(terms, vdot, root, strict=strict), terms, vdot)


def smallest_effort(terms: Terms, vdot: Array, root: Array | None = None, *, strict: bool = True) -> Array:
    """Smallest motor efforts u (nu,) as in `motor_effort`, with a root of the metric (`weight_root`), for fast laws."""
    if isinstance(terms, TracedTerms):
        return terms.smallest_effort(vdot, root)
    if terms.friction is not None:
        terms = with_friction_of_loads(terms, vdot, partial(smallest_effort, root=root, strict=False))
    B = terms.B if root is None else terms.B @ root
    x, rank = linear_algebra.smallest_effort(terms.Z, B, terms.reach, terms.M, terms.h, vdot, UNREACHED)
    if rank < terms.dof:
        U, inertial = terms.unit_motions, terms.M @ vdot
        X, lengths, scale = linear_algebra.motor_reach(U, B, terms.reach)
        need = U.T @ (inertial + terms.h) / lengths
        x = pinv(X, scale, UNREACHED) @ need
        if strict:
            require_reached(terms, need - X @ x, inertial)
    return x if root is None else root @ x


def with_friction_of_loads(
    terms: Terms, vdot: Array, effort: Callable[[Terms, Array], Array], given: Array | None = None
) -> Terms:
    """Terms with friction in proportion to loads as a part of h, for the efforts that give an acceleration.

    Efforts, multipliers and friction are linear in the loads c, which c = 0 and unit loads determine; c = N(lam) is
    left to be solved, as in `kernels.friction`. Where there are motions that no motor reaches, missing forces are
    linear in c, too, and several c may solve it: those are taken with which no force is missing.

    Parameters
    ----------
    terms : Terms
    vdot : ndarray, shape (nv,)
    effort : callable, (terms, vdot) -> (nu,)
        Efforts that a law gives for an acceleration, linear in h and vdot.
    given : ndarray, shape (nu,), optional
        Efforts that the law adds, independent of h and vdot.

    Raises
    ------
    PainleveError
        Where no loads solve these equations, or several do.
    """
    rubs = terms.friction
    if rubs is None:
        return terms
    require_unique_loads(terms)
    plain = terms.without_friction()

    def multipliers(h: Array, a: Array, more: Array | float = 0.0) -> tuple[Array, Array]:
        left = plain.B @ (effort(plain.with_bias(h), a) + more) - h - plain.M @ a
        return plain.A_pinv.T @ left, terms.unit_motions.T @ left

    lam, missing = multipliers(terms.h, vdot, 0.0 if given is None else given)
    replies, missed = (np.array(x) for x in zip(*(multipliers(D, np.zeros(vdot.size)) for D in rubs.D), strict=True))
    k = len(rubs.names)
    level, pivot, J, carried = np.zeros(k), np.zeros(k), np.zeros((k, k + 1)), np.zeros(lam.size)
    loads = (rubs.first, rubs.count, rubs.side, lam, replies)
    found = kernels.solve_loads(*loads, level, pivot, J, carried)
    unreached = np.abs(missing + level @ missed).max(initial=0.0)
    if unreached > UNREACHED * np.abs(missing).max(initial=0.0):
        near = np.linalg.lstsq(missed.T, -missing, rcond=UNREACHED)[0]
        solved_near = kernels.solve_loads_near(*loads, near, np.empty(k), J, carried)
        if solved_near and np.abs(missing + near @ missed).max() < UNREACHED * unreached:
            found, level = True, near
    if not found:
        raise PainleveError(
            f"friction {rubs.names[int(np.argmin(pivot))]!r} leaves no efforts for this acceleration, or several, "
            f"at q = {np.round(terms.q, 6).tolist()}: a drive that locks itself holds whatever its motor does. Ask for "
            "another acceleration, or take a smaller loss"
        )
    return plain.with_bias(terms.h + level @ rubs.D)


def require_reached(terms: Terms, missing: Array, force: Array) -> None:
    """Raise an error for a motion that the motors cannot produce.

    Parameters
    ----------
    terms : Terms
    missing : ndarray, shape (dof,)
        Forces that are missing along unit motions, N, as `kernels.linear_algebra.motor_reach` counts them.
    force : ndarray, shape (nv,)
        Desired joint forces besides h.

    Raises
    ------
    ActuationError
        Where more is missing than the rounding of the forces at hand, and of weight and springs that cancel.
    """
    at_hand = float((np.abs(force) / terms.reach).max() + (np.abs(terms.h) / terms.reach).max())
    if np.abs(missing).max(initial=0.0) <= UNREACHED * at_hand + ROUNDING * terms.force_scale:
        return
    verdict = actuation_at(terms)
    raise ActuationError(
        f"the motors reach {verdict.rank} of {verdict.dof} degrees of freedom at this configuration; forces of "
        f"{np.abs(missing).max():.3g} N (at a lever of the size of the machine for torques) are missing "
        f"(t = {terms.t:.6g} s, q = {np.round(terms.q, 6).tolist()}). "
        "Add an actuator, or leave this configuration (strict=False gives the nearest efforts)."
    )


def weight_root(weight: ArrayLike | None, nu: int, what: str = "weight") -> Array | None:
    """Root R of a metric of the efforts, R R' = W (nu, nu); None where no weight is given."""
    if weight is None:
        return None
    W = _check.numbers(weight, what, f"{nu} numbers or a {nu} x {nu} matrix")
    if W.ndim == 1:
        W = np.diag(_check.vector(W, nu, what))
    W = _check.matrix(W, (nu, nu), what)
    try:
        if np.abs(W - W.T).max(initial=0.0) > 1e-9 * np.abs(W).max(initial=0.0):
            raise np.linalg.LinAlgError
        return np.linalg.cholesky(W)
    except np.linalg.LinAlgError as error:
        raise InputError(f"{what} must be symmetric and positive definite, got {W.tolist()}") from error


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

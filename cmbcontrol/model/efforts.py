"""Efforts of motors that give an acceleration, and a constraint force, with friction in proportion to loads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING, UNREACHED, pinv
from ..errors import ActuationError, InputError, PainleveError
from ..kernels import friction as kernels
from ..kernels import linear_algebra
from .accelerations import require_unique_loads
from .actuation import actuation_at

if TYPE_CHECKING:
    from .terms import Terms

__all__ = ["effort_with_force", "require_reached", "smallest_effort", "weight_root", "with_friction_of_loads"]

Array = NDArray[np.float64]


def smallest_effort(
    terms: Terms, vdot: Array, root: Array | None = None, nominal: Array | None = None, *, strict: bool = True
) -> Array:
    """Motor efforts u (nu,) with Z'B u = Z'(M vdot + h), nearest to nominal ones; see `EquationsOfMotion`.

    Unless this is `strict`, the nearest efforts where the motors cannot produce the motion.
    """
    given = None
    if nominal is not None:  # the efforts are linear in h and vdot, but for those that are the nearest to nominal ones
        still = terms.without_friction().with_bias(-terms.B @ nominal)
        given = nominal + smallest_effort(still, np.zeros_like(vdot), root, strict=False)
    if terms.friction is not None:
        effort = partial(smallest_effort, root=root, strict=False)
        terms = with_friction_of_loads(terms, vdot, effort, given)
    if given is not None:
        return given + smallest_effort(terms, vdot, root, strict=strict)
    B = terms.B if root is None else terms.B @ root
    x, rank = linear_algebra.smallest_effort(terms.Z, B, terms.unit_lengths, terms.M, terms.h, vdot, UNREACHED)
    if rank < terms.dof:
        U, inertial = terms.unit_motions, terms.M @ vdot
        X, lengths, scale = linear_algebra.motor_reach(U, B, terms.unit_lengths)
        need = U.T @ (inertial + terms.h) / lengths
        x = pinv(X, scale, UNREACHED) @ need
        if strict:
            require_reached(terms, need - X @ x, inertial)
    return x if root is None else root @ x


def effort_with_force(terms: Terms, C: Array, f: Array, force: Array, root: Array | None = None) -> tuple[Array, bool]:
    """Smallest efforts with Z'(B u - f) = 0 and C B u = force, and whether motors reach both; in newtons."""
    B = terms.B if root is None else terms.B @ root
    u, complete = linear_algebra.effort_with_force(terms.Z, B, terms.unit_lengths, C, f, force, UNREACHED)
    return (u if root is None else root @ u), complete


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
    at_hand = float((np.abs(force) / terms.unit_lengths).max() + (np.abs(terms.h) / terms.unit_lengths).max())
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

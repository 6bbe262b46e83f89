"""The local state-space form to first order: from all coordinates to independent ones."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import ModelError
from ..kernels import derivatives as kernels
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE
from .at_rest import require_holonomic

__all__ = ["CoordinateRows", "Reduced", "bracket", "reduce", "reduced_model"]

Array = NDArray[np.float64]

FIXED, MOVING = -0.5, -1.0  # upper left block of A, in units of R ad_v K


class CoordinateRows(NamedTuple):
    """Coordinates to first order: dy = R delta, dy_v = R dv + rate_q delta, and the same for accelerations.

    Rows that are combinations of velocity coordinates have constant R, and zeros elsewhere; the coordinate of a cut
    joint changes its row with the pose.

    Attributes
    ----------
    R, rate_q, accel_q, accel_v : ndarray, shape (p, nv)
    constant : ndarray of bool, shape (p,)
        Rows with a constant R.
    """

    R: Array
    rate_q: Array
    accel_q: Array
    accel_v: Array
    constant: NDArray[np.bool_]

    @classmethod
    def linear(cls, R: Array) -> CoordinateRows:
        """Rows that are constant."""
        zero = np.zeros_like(R)
        return cls(R, zero, zero, zero, np.ones(len(R), dtype=bool))


class Reduced(NamedTuple):
    """d(y, y_v)/dt = drift + A (y, y_v) + B du, in p independent coordinates.

    Attributes
    ----------
    A : ndarray, shape (2p, 2p)
        [[bracket, 1], [A21, A22]]; the bracket is zero for one-axis joints, and at rest.
    B : ndarray, shape (2p, nu)
    drift : ndarray, shape (2p,)
        (R v, R a).
    K, N : ndarray, shape (nv, p)
        delta = K y and dv = K y_v + N y: [R; A] K = [1; 0], and N is dv/dy at fixed y_v, Spencer's K' (2.45) for
        one-axis joints.
    G : ndarray, shape (p, nv)
        A generalized force f adds G f to dy_v/dt.
    a : ndarray, shape (nv,)
    lam : ndarray, shape (rows,)
        Multipliers; where rows are redundant one choice of many.
    rank : int
        Of A.
    """

    A: Array
    B: Array
    drift: Array
    K: Array
    N: Array
    G: Array
    a: Array
    lam: Array
    rank: int


def reduced_model(
    plant: Plant, q: ArrayLike, v: ArrayLike, u: ArrayLike, R: ArrayLike, *, moving: bool = False
) -> Reduced:
    """The local state-space form to first order at a state on the manifold, fast (Spencer, section 4.2).

    Parameters
    ----------
    plant : Plant
        A `Mechanism` in one compiled call: two to three times the cost of a forward dynamics.
    q, v, u : array_like
        State and motor efforts.
    R : array_like, shape (dof, nv)
        y = R (q [-] q0) and y_v = R v.
    moving : bool
        Deviations are measured from the moving trajectory, in place of the fixed q0 = q. Differs only for joints of
        several axes at states with velocity.

    Raises
    ------
    ModelError
        Where the mass matrix is not positive definite.
    ValueError
        Where R has not as many rows as there are degrees of freedom, or they are dependent.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> found = reduced_model(plant, plant.assemble(left=2.1, right=1.0), np.zeros(4), np.zeros(2), np.eye(4)[[0, 2]])
    >>> found.drift.round(3)
    array([ 0.   ,  0.   ,  5.457, -5.662])
    """
    _check.plant(plant)
    moving = _check.flag(moving, "moving")
    q = plant.configuration(q)
    v = _check.vector(v, plant.nv, "v", plant.velocity_names)
    u = _check.vector(u, plant.nu, "u", plant.actuator_names)
    fits = type(R) is np.ndarray and R.dtype == np.float64 and R.ndim == 2 and R.shape[1] == plant.nv
    if not (fits and R.flags.carray and math.isfinite(R.ravel().dot(R.ravel()))):
        R = _check.matrix(R, (len(_check.sequence(R, "R", "rows")), plant.nv), "R").copy()
    factor = MOVING if moving else FIXED
    if not isinstance(plant, Mechanism):
        return reduce(plant, derivatives(plant, q, v, u), CoordinateRows.linear(R), factor)
    A, B, drift, K, N, G, a, lam, rank = kernels.state_space(plant.arrays, q, v, u, R, factor, RANK_TOLERANCE, plant.nv)
    if rank < 0:
        raise _refusal(plant, q, R, rank)
    return Reduced(A, B, drift, K.T, N.T, G, a, lam, rank)


def _refusal(plant: Plant, q: Array, R: Array, rank: int) -> Exception:
    where = f"at q = {np.round(q, 6).tolist()}"
    if rank == FAILED:
        return ModelError(f"the mass matrix of {plant.name!r} is not positive definite {where}")
    terms = plant.terms(q, np.zeros(plant.nv))
    if rank == FAILED - 1:
        return ValueError(f"{plant.name!r} has {terms.dof} degrees of freedom {where}; R has {len(R)} rows")
    return ValueError(
        f"the coordinates R of {plant.name!r} are dependent {where}: their condition on the admissible velocities is "
        f"{np.linalg.cond(R @ terms.Z):.1e}"
    )


def reduce(plant: Plant, here: Derivatives, rows: CoordinateRows, factor: float = FIXED) -> Reduced:
    """The same from `Derivatives`, for any coordinates; the formulas of the kernel `state_space` in matrices.

    With delta = K y and dv = K y_v + N y tangent to the manifold, da = Z Z'(B du - F) - A_plus C, F = F_q delta + F_v
    dv and C = C_q delta + C_v dv, and dy_v/dt = R da + (the rows' own changes).
    """
    require_holonomic(plant, here.q)
    R, Z, p = rows.R, here.Z, len(rows.R)
    tails = R @ Z
    try:
        K = Z @ np.linalg.inv(tails)
    except np.linalg.LinAlgError:
        raise _refusal(plant, here.q, R, FAILED - 2) from None
    # [R; A] N = -[rate_q of the rows; rate_q] K
    N = -here.A_plus @ (here.rate_q @ K)
    N -= K @ (R @ N + rows.rate_q @ K)

    def slope(delta: Array, dv: Array) -> Array:
        force = -here.force_q @ delta - here.force_v @ dv
        return (
            R @ here.acceleration(force, here.accel_q @ delta + here.accel_v @ dv)
            + rows.accel_q @ delta
            + rows.accel_v @ dv
        )

    A, B = np.zeros((2 * p, 2 * p)), np.zeros((2 * p, here.B.shape[1]))
    A[:p, p:] = np.eye(p)
    A[:p, :p] = factor * np.where(rows.constant[:, None], R @ bracket(plant, here.v, K), 0.0) + 0.0  # no -0
    A[p:, :p] = slope(K, N)
    A[p:, p:] = slope(np.zeros_like(K), K)
    G = tails @ Z.T
    B[p:] = G @ here.B
    b = rows.accel_v @ here.v if not rows.constant.all() else 0.0
    # y_v = R(q) v, so its rate is R a + R' v; the second is quadratic in v, half of what accel_v gives
    drift = np.concatenate([R @ here.v, R @ here.a + 0.5 * b])
    return Reduced(A, B, drift, K, N, G, here.a, here.lam, here.rank)


def bracket(plant: Plant, v: Array, X: Array) -> Array:
    """ad_v X, column by column: the brackets of the joints' Lie algebras; zero for one-axis joints and functions."""
    out = np.zeros((X.shape[1], X.shape[0]))
    if isinstance(plant, Mechanism):
        for x, column in zip(np.ascontiguousarray(X.T), out, strict=True):
            kernels.add_joint_bracket(plant.arrays.links, v, x, 1.0, column)
    return out.T

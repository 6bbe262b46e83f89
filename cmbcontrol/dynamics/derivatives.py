"""Derivatives of the equations of motion at any state: inverse dynamics, constraints, accelerations, multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT
from ..errors import ModelError
from ..kernels import derivatives as kernels
from ..model.accelerations import solved
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE
from .differences import jacobian

__all__ = [
    "AccelerationDerivatives",
    "Derivatives",
    "InverseDynamicsDerivatives",
    "acceleration_derivatives",
    "derivatives",
    "inverse_dynamics_derivatives",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Equations of motion ``M a + h + A' lam = B u``, ``A a + b = 0`` at a state, and their derivatives.

    A derivative with respect to q is with respect to delta (nv,) in q [+] delta.

    Attributes
    ----------
    q, v, u, a, lam : ndarray
        State, motor efforts, acceleration and multipliers.
    M, A, B : ndarray
        Mass matrix (nv, nv), constraint Jacobian (rows, nv), drive matrix (nv, nu).
    force_q, force_v : ndarray, shape (nv, nv)
        d/dq [M a + h + A' lam - B u] with a, lam and u held, and dh/dv.
    rate_q : ndarray, shape (rows, nv)
        d(A v)/dq.
    accel_q, accel_v : ndarray, shape (rows, nv)
        d(A a + b)/dq and d(A a + b)/dv = db/dv.
    Z : ndarray, shape (nv, dof)
        Admissible velocities, A Z = 0, orthonormal in the metric of M: Z'MZ = 1.
    phi, b : ndarray, shape (rows,)
        Residual of the loops; (dA/dt) v.
    h : ndarray, shape (nv,)
        Coriolis, centrifugal, gravity, spring and friction forces.
    rank : int
        Rank of A.
    D, loads : ndarray, shape (k, nv) and (k, rows)
        Friction in proportion to k loads c = N(lam): its forces at unit loads, and dc/dlam. Its force D' c is part
        of the balance, and force_q and force_v hold c.
    """

    q: Array
    v: Array
    u: Array
    a: Array
    lam: Array
    M: Array
    A: Array
    B: Array
    force_q: Array
    force_v: Array
    rate_q: Array
    accel_q: Array
    accel_v: Array
    Z: Array
    phi: Array
    h: Array
    b: Array
    rank: int
    D: Array
    loads: Array

    @cached_property
    def A_plus(self) -> Array:
        """Inverse of A at its rank in the metric of M (nv, rows): the smallest x'Mx with A x = c is A_plus c."""
        L = np.linalg.cholesky(self.M)
        G = np.linalg.solve(L, self.A.T).T
        norms = np.linalg.norm(G, axis=1)
        scale = 1.0 / np.where(norms > 1e-9 * norms.max(initial=0.0), norms, 1.0)
        U, sigma, Vt = np.linalg.svd(scale[:, None] * G, full_matrices=False)
        r = self.rank
        return np.linalg.solve(L.T, Vt[:r].T / sigma[:r] @ U[:, :r].T) * scale

    @cached_property
    def A_pinv(self) -> Array:
        """Moore-Penrose inverse of A at its rank (nv, rows)."""
        U, sigma, Vt = np.linalg.svd(self.A, full_matrices=False)
        return Vt[: self.rank].T / sigma[: self.rank] @ U[:, : self.rank].T

    def acceleration(self, force: Array, accel: Array) -> Array:
        """Acceleration change da, in columns, for ``M da + A' dlam + D' dc = force``, ``A da = -accel``."""
        da = self._without_friction(force, accel)
        if not self.D.size:
            return da
        replies = self._without_friction(-self.D.T, np.zeros((self.A.shape[0], len(self.D))))
        grow = np.eye(len(self.D)) - self.loads @ self.A_pinv.T @ (-self.D.T - self.M @ replies)
        return da + replies @ np.linalg.solve(grow, self.loads @ self.A_pinv.T @ (force - self.M @ da))

    def _without_friction(self, force: Array, accel: Array) -> Array:
        return self.Z @ (self.Z.T @ force) - self.A_plus @ accel

    def multipliers(self, force: Array, da: Array) -> Array:
        """Smallest dlam, in columns, with ``A' dlam + D' dc = force - M da``."""
        return self.spread @ (force - self.M @ da)

    @cached_property
    def spread(self) -> Array:
        """Matrix (rows, nv) from a force to the smallest dlam with ``A' dlam + D' dc`` equal to it."""
        return np.linalg.pinv(self.A.T + self.D.T @ self.loads, rcond=DEPENDENT) if self.D.size else self.A_pinv.T


class AccelerationDerivatives(NamedTuple):
    """Acceleration and multipliers, with their derivatives.

    They hold for changes that stay on the manifold: A delta = 0 and A dv + d(A v)/dq delta = 0. Multipliers are the
    smallest ones where rows are redundant.

    Attributes
    ----------
    a, lam : ndarray, shape (nv,) and (rows,)
    a_q, a_v, a_u : ndarray, shape (nv, nv), (nv, nv), (nv, nu)
    lam_q, lam_v, lam_u : ndarray, shape (rows, nv), (rows, nv), (rows, nu)
    """

    a: Array
    lam: Array
    a_q: Array
    a_v: Array
    a_u: Array
    lam_q: Array
    lam_v: Array
    lam_u: Array


class InverseDynamicsDerivatives(NamedTuple):
    """Joint forces tau = M a + h of the tree, with their derivatives.

    Attributes
    ----------
    tau : ndarray, shape (nv,)
    tau_q, tau_v, tau_a : ndarray, shape (nv, nv)
        The last is the mass matrix.
    """

    tau: Array
    tau_q: Array
    tau_v: Array
    tau_a: Array


def derivatives(
    plant: Plant,
    q: ArrayLike,
    v: ArrayLike,
    u: ArrayLike | None = None,
    *,
    a: ArrayLike | None = None,
    lam: ArrayLike | None = None,
) -> Derivatives:
    """Equations of motion at a state with all first derivatives.

    Parameters
    ----------
    plant : Plant
        A `Mechanism` is differentiated analytically (see `cmbcontrol.kernels.derivatives`), others by central
        differences of order 8.
    q, v : array_like, shape (nq,) and (nv,)
    u : array_like, shape (nu,), optional
        Motor efforts, N or N m; defaults to zero.
    a : array_like, shape (nv,), optional
        Acceleration; defaults to that of the constrained dynamics.
    lam : array_like, shape (rows,), optional
        Multipliers; defaults to the smallest with A' lam nearest to B u - h - M a.

    Raises
    ------
    ModelError
        Where the mass matrix is not positive definite, or a derivative not finite.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.pendulum()
    >>> found = derivatives(plant, plant.assemble(angle=0.3), [0.0, 0.0, 0.0])
    >>> found.Z.shape
    (3, 1)
    """
    _check.plant(plant)
    q = _check.vector(q, plant.nq, "q", plant.position_names)
    v = _check.vector(v, plant.nv, "v", plant.velocity_names)
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    if a is None or lam is None:
        terms = plant.terms(q, v)
        f = terms.B @ u - terms.h
        if a is None or terms.friction is not None:
            found = solved(terms, f)
            a, f = found.vdot if a is None else a, f - found.friction
        if lam is None:
            lam = terms.A_pinv.T @ (f - terms.M @ np.asarray(a))
    a = _check.vector(a, plant.nv, "a", plant.velocity_names)
    lam = _check.vector(lam, len(plant.row_names), "lam", plant.row_names)
    if not isinstance(plant, Mechanism):
        return _by_differences(plant, q, v, u, a, lam)
    q = plant.configuration(q)
    M, A, B, f_q, f_v, r_q, c_q, c_v, Z, phi, h, b, D, loads, rank = kernels.local_terms(
        plant.arrays, q, v, a, lam, u, RANK_TOLERANCE
    )
    if rank == FAILED:
        raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q.tolist()}")
    if not np.isfinite(f_q.sum()):
        raise ModelError(
            f"the stiffness of {plant.name!r} is not finite at q = {q.tolist()}: has a point spring length zero?"
        )
    return Derivatives(q, v, u, a, lam, M, A, B, f_q, f_v, r_q, c_q, c_v, Z.T, phi, h, b, rank, D, loads)


def acceleration_derivatives(
    plant: Plant, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None
) -> AccelerationDerivatives:
    """Acceleration and multipliers of the constrained machine, with derivatives by q, v and u.

    From M da + A' dlam = B du - F_q delta - F_v dv and A da = -C_q delta - C_v dv, F = M a + h + A' lam - B u and
    C = A a + b. Redundant rows change nothing.

    Parameters
    ----------
    plant : Plant
    q, v : array_like, shape (nq,) and (nv,)
        A state on the manifold.
    u : array_like, shape (nu,), optional
        Motor efforts; defaults to zero.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.pendulum()
    >>> q = plant.assemble(angle=-0.5 * np.pi)
    >>> found = acceleration_derivatives(plant, q, np.zeros(3))
    >>> z = derivatives(plant, q, np.zeros(3)).Z[:, 0]
    >>> (found.a_q @ z / z)[2].round(3)  # the free fall of the angle, -3 g / (2 L)
    np.float64(-14.715)
    """
    partials = derivatives(plant, q, v, u)
    a_q = partials.acceleration(-partials.force_q, partials.accel_q)
    a_v = partials.acceleration(-partials.force_v, partials.accel_v)
    a_u = partials.acceleration(partials.B, np.zeros((len(partials.lam), plant.nu)))
    return AccelerationDerivatives(
        partials.a,
        partials.lam,
        a_q,
        a_v,
        a_u,
        partials.multipliers(-partials.force_q, a_q),
        partials.multipliers(-partials.force_v, a_v),
        partials.multipliers(partials.B, a_u),
    )


def inverse_dynamics_derivatives(plant: Plant, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> InverseDynamicsDerivatives:
    """Joint forces tau = M a + h of the tree (loops open), with derivatives by q, v and a.

    Spencer's tau_NE of (4.9), section 4.3, with springs, dampers and friction, for joints of any number of axes.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> found = inverse_dynamics_derivatives(plant, plant.neutral(), np.zeros(4), np.zeros(4))
    >>> bool(np.allclose(found.tau_a, found.tau_a.T))
    True
    """
    _check.plant(plant)
    a = _check.vector(a, plant.nv, "a", plant.velocity_names)
    partials = derivatives(plant, q, v, a=a, lam=np.zeros(len(plant.row_names)))
    return InverseDynamicsDerivatives(
        partials.M @ partials.a + partials.h, partials.force_q, partials.force_v, partials.M
    )


# -- plants given by functions --------------------------------------------------------------------------


def _by_differences(plant: Plant, q: Array, v: Array, u: Array, a: Array, lam: Array) -> Derivatives:
    """Equations of motion with derivatives by central differences of order 8, for plants given by functions."""
    terms = plant.terms(q, v)
    n, rows = plant.nv, len(plant.row_names)

    def balance(q: Array, v: Array) -> Array:
        terms = plant.terms(q, v)
        force = terms.M @ a + terms.h + terms.A.T @ lam - terms.B @ u
        return np.concatenate([force, terms.A @ v, terms.A @ a + terms.b])

    steps = 1e-2 * plant.displacement_scale
    by_q = jacobian(lambda delta: balance(plant.integrate(q, delta), v), steps)
    by_v = jacobian(lambda dv: balance(q, v + dv), steps)
    force, rate, accel = slice(n), slice(n, n + rows), slice(n + rows, None)
    Z = np.linalg.solve(np.linalg.cholesky(terms.Z.T @ terms.M @ terms.Z), terms.Z.T).T
    return Derivatives(
        q, v, u, a, lam, terms.M, terms.A, terms.B, by_q[force], by_v[force], by_q[rate], by_q[accel], by_v[accel],
        Z, terms.phi, terms.h, terms.b, terms.rank, np.zeros((0, n)), np.zeros((0, rows)),
    )  # fmt: skip

"""The record that dynamics, controllers and simulation share: the equations of motion at one state."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels import constrained, split

__all__ = ["RANK_TOLERANCE", "Terms"]

Array = NDArray[np.float64]

# Pivots below this fraction of the largest count as zero. Loops are closed to 1e-14, so redundant
# rows leave pivots of about 1e-15; a pose must be this near to a singular one to lose its row.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Terms:
    """M dv/dt + h = B u - A' lam, with A v = 0 and A dv/dt + b = 0, at one state.

    Attributes
    ----------
    t : float
        Time, s.
    q, v : ndarray, shape (nq,) and (nv,)
        State. Velocities of multi-axis joints are body-fixed.
    M : ndarray, shape (nv, nv)
        Mass matrix.
    h : ndarray, shape (nv,)
        Coriolis, centrifugal, gravity, spring and friction forces.
    phi : ndarray, shape (rows,)
        Residual of the loops, metres and radians.
    A : ndarray, shape (rows, nv)
        Constraint Jacobian (Aghili's A, Spencer's G).
    b : ndarray, shape (rows,)
        (dA/dt) v.
    B : ndarray, shape (nv, nu)
        Joint forces of a unit of each actuator.
    potential : float
        Potential energy, J.
    pivots : ndarray
        Sizes of the constraint gradients in the metric of M, largest first; zero where redundant.
    rank : int
        Number of independent rows.
    row_scale : ndarray, shape (rows,)
        Factors that bring the rows to metres, for decisions about rank.
    force : ndarray, shape (nv,), or None
        Constraint force A' lam that was measured, for laws that ask for it (``measures_force``).
    """

    t: float
    q: Array
    v: Array
    M: Array
    h: Array
    phi: Array
    A: Array
    b: Array
    B: Array
    potential: float
    pivots: Array
    rank: int
    row_scale: Array
    force: Array | None = None

    @property
    def dof(self) -> int:
        """True degrees of freedom: velocities that the loops leave free."""
        return self.M.shape[0] - self.rank

    @property
    def conditioning(self) -> float:
        """Smallest over largest independent constraint gradient, 1 best, 0 singular."""
        return float(self.pivots[self.rank - 1] / self.pivots[0]) if self.rank else 1.0

    @cached_property
    def _orthonormal(self) -> Array:
        """Orthogonal matrix whose first `rank` columns span the rows of A."""
        rows, n = self.A.shape
        norms = np.sqrt(np.einsum("ij,ij->i", self.A, self.A))
        G = self.A / np.where(norms > 1e-3 * norms.max(initial=0.0), norms, 1.0)[:, None]
        order, tau, pivots = np.empty(rows, np.int64), np.empty(rows), np.empty(rows)
        rank = split.factor_rows(G, order, tau, pivots, 0.0, self.rank)
        Q = np.eye(n)
        for k in range(n):
            split.to_space(G, tau, rank, Q[k])
        return Q.T

    @cached_property
    def Z(self) -> Array:
        """Orthonormal basis of the admissible velocities N(A), shape (nv, dof)."""
        return self._orthonormal[:, self.rank :]

    @cached_property
    def P(self) -> Array:
        """Projector on N(A) (Aghili, eq. 15), shape (nv, nv)."""
        return self.Z @ self.Z.T

    @cached_property
    def A_pinv(self) -> Array:
        """Moore-Penrose pseudoinverse of A at its rank, shape (nv, rows)."""
        Q = self._orthonormal[:, : self.rank]
        q, r = np.linalg.qr(self.A @ Q)
        return Q @ np.linalg.solve(r, q.T)

    @cached_property
    def Cv(self) -> Array:
        """C v = -A+ b, the acceleration across N(A) that the loops demand (Aghili, eq. 16)."""
        return -self.A_pinv @ self.b

    @cached_property
    def singular_values(self) -> Array:
        """Singular values of A, largest first."""
        return np.linalg.svd(self.A, compute_uv=False)

    def with_force(self, force: Array) -> Terms:
        """The same with a measured constraint force A' lam (nv,)."""
        terms = copy.copy(self)  # what has been computed from it is kept
        object.__setattr__(terms, "force", force)
        return terms

    @property
    def kinetic(self) -> float:
        """Kinetic energy v' M v / 2, J."""
        return 0.5 * float(self.v @ self.M @ self.v)

    @property
    def energy(self) -> float:
        """Kinetic plus potential energy, J."""
        return self.kinetic + self.potential


FAILED = constrained.FAILED

"""Record of the equations of motion at one state, which dynamics, controllers and simulation share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._tolerance import DEPENDENT, INDEPENDENT
from .._tolerance import rank as rank_of
from ..errors import InputTypeError
from ..kernels import constrained, linear_algebra
from ..trace.equations import EquationsOfMotion, NullSpaceMotion
from . import accelerations, efforts
from .actuation import Actuation, Metric, actuation_at
from .multipliers import determined

__all__ = ["RANK_TOLERANCE", "LoadFriction", "Terms", "independent_rows"]

Array = NDArray[np.float64]
_T = TypeVar("_T")

RANK_TOLERANCE = DEPENDENT

# What must be left of a row beside those that were taken before it: of its own size, and of the smallest pivot of a
# choice by size. Less where these are too few.
_LEFT = (0.1, 0.03, 0.01)

# Of a row: loops are closed to 1e-14 of the size of the machine, and levers may be a tenth of it, or less.
_AGREE = 1e-12


class LoadFriction(NamedTuple):
    """Friction in proportion to what constraints carry, at one state: forces D' c, with loads c that follow from lam.

    Attributes
    ----------
    names : tuple of str
        Names of the force elements.
    D : ndarray, shape (k, nv)
        Forces against the motion of a unit of each load.
    first, count, side : ndarray of int, shape (k,)
        Rows that make a load: the push of one of them on one side, or (side 0) the size of all multipliers.
    """

    names: tuple[str, ...]
    D: Array
    first: NDArray[np.int64]
    count: NDArray[np.int64]
    side: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms(EquationsOfMotion):
    """Terms of M dv/dt + h = B u - A' lam, with A v = 0 and A dv/dt + b = 0, at one state.

    Where motions are prescribed, rows of them have A v = dr/dt, and b is less the second rate of r.

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
        (dA/dt) v, less what is prescribed.
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
    reach : ndarray, shape (nv,)
        Metres that a unit of each velocity coordinate counts as, see `Plant.unit_lengths`.
    force_scale : float
        N; rounding of joint forces is a part of it, see `Plant.force_scale`.
    force : ndarray, shape (nv,), or None
        Constraint force A' lam that was measured, for laws that ask for it (``measures_force``).
    row_names : tuple of str
        Names of the rows.
    absent : frozenset of str
        Constraints of the plant that do not hold at present, where they come and go.
    rates : ndarray, shape (rows,), or None
        Rates that A v has to have, where motions are prescribed; None is zero.
    friction : LoadFriction or None
        Friction in proportion to what constraints carry, which is no part of h: it depends on lam. None where there is
        none.
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
    unit_lengths: Array
    force_scale: float
    force: Array | None = None
    row_names: tuple[str, ...] = ()
    absent: frozenset[str] = frozenset()
    rates: Array | None = None
    friction: LoadFriction | None = None

    def __getitem__(self, key: object) -> None:
        """Raise an error: a law that is written for (t, q, v) takes this record for q."""
        raise InputTypeError(
            "Terms have no entries: a controller is called as (t, terms, state), with positions terms.q and velocities "
            "terms.v"
        )

    @property
    def dof(self) -> int:
        """Degrees of freedom of the closed machine: dimension of the admissible velocities."""
        return self.M.shape[0] - self.rank

    @property
    def conditioning(self) -> float:
        """Smallest over largest independent constraint gradient, 1 best, 0 singular."""
        return float(self.pivots[self.rank - 1] / self.pivots[0]) if self.rank else 1.0

    @cached_property
    def _split(self) -> tuple[Array, Array, Array, bool]:
        """Orthonormal bases of rows (nv, rank) and of N(A) (nv, dof), c with A c = -b, and whether all rows agree."""
        return linear_algebra.constraint_split(self.A, self.b, self.row_scale, self.rank)

    @property
    def Z(self) -> Array:
        """Orthonormal basis of the admissible velocities N(A), shape (nv, dof)."""
        return self._split[1]

    @cached_property
    def unit_motions(self) -> Array:
        """Basis (nv, dof) of N(A), orthonormal where coordinates count by their `unit_lengths`: motions of a metre.

        Where joints turn and slide, columns of Z that are orthogonal in radians and metres may be almost the same
        motion: the reach of motors is determined from this basis.
        """
        return linear_algebra.unit_motions(self.A, self.row_scale, self.unit_lengths, self.rank)

    @cached_property
    def P(self) -> Array:
        """Projector on N(A) (Aghili, eq. 15), shape (nv, nv)."""
        return self.Z @ self.Z.T

    @cached_property
    def A_pinv(self) -> Array:
        """Moore-Penrose pseudoinverse of A at its rank, shape (nv, rows)."""
        Q = self._split[0]
        q, r = np.linalg.qr(self.A @ Q)
        return Q @ np.linalg.solve(r, q.T)

    @property
    def Cv(self) -> Array:
        """Acceleration C v = -A+ b across N(A) that the loops demand (Aghili, eq. 16)."""
        _, _, c, agree = self._split
        return c if agree else -self.A_pinv @ self.b  # off the manifold, redundant rows need not agree with the others

    @cached_property
    def levers(self) -> Array:
        """Jacobian A (rows, nv) in metres of gap a metre of motion: lever arms over the size of the machine."""
        return self.row_scale[:, None] * self.A / self.unit_lengths

    @cached_property
    def singular_values(self) -> Array:
        """Singular values of A, largest first."""
        return np.linalg.svd(self.A, compute_uv=False)

    def of_independent_rows(self) -> Terms:
        """Terms without redundant rows, for a state off the loops, where they do not agree with the others.

        Sensors give such states, or a model of other dimensions. Pivoting would take other rows from state to state,
        with steps in the results; these are `independent_rows`, as in generated code.
        """
        if self.rank == len(self.A) or self.rank < 0:
            return self
        kept, rubs = independent_rows(self), self.friction
        if len(kept) < self.rank or self._agree_on(kept):
            return self
        if rubs is not None:
            loaded = [kept.index(i) if i in kept else -1 for i in rubs.first]
            if -1 in loaded:  # a load that redundant rows share: told where it is asked for
                return self
            rubs = rubs._replace(first=np.array(loaded, dtype=np.int64))
        scale = self.row_scale[kept]
        scale.setflags(write=self.row_scale.flags.writeable)  # kernels know one kind
        return replace(
            self,
            phi=self.phi[kept],
            A=self.A[kept],
            b=self.b[kept],
            row_scale=scale,
            row_names=tuple(self.row_names[i] for i in kept) if self.row_names else (),
            rates=None if self.rates is None else self.rates[kept],
            friction=rubs,
        )

    def _agree_on(self, rows: list[int]) -> bool:
        """Whether all rows follow from these, up to rounding, so that the choice of rows does not matter.

        Biases of rows are sums of centripetal accelerations, which may cancel: these are what rounding is a part of.
        """
        levers, b = self.levers, self.row_scale * self.b
        R, upper = np.linalg.qr(levers[rows].T)
        left = np.linalg.norm(levers - levers @ R @ R.T, axis=1)
        apart = b - levers @ R @ np.linalg.solve(upper.T, b[rows])
        turning = float(np.abs(self.unit_lengths * self.v).max()) ** 2 / float(self.unit_lengths.max())
        agree = (left <= _AGREE * np.linalg.norm(levers, axis=1)) & (np.abs(apart) <= _AGREE * (turning + np.abs(b)))
        return bool(agree.all())

    def copied(self) -> Terms:
        """Terms with arrays of their own, into which a law may write without changing others.

        Read-only views would not do: kernels are compiled again, for seconds each, for arrays that are read-only.
        """
        terms, given = object.__new__(Terms), vars(self)
        own = vars(terms)
        own.update(zip(_FIELDS, _values(given), strict=True))  # without what has been computed from them
        for name in _WRITABLE:
            own[name] = given[name].copy()
        if self.force is not None:
            own["force"] = self.force.copy()
        return terms

    def with_force(self, force: Array) -> Terms:
        """Terms with a measured constraint force A' lam (nv,)."""
        terms = copy.copy(self)  # what has been computed from it is kept
        object.__setattr__(terms, "force", force)
        return terms

    def with_bias(self, h: Array) -> Terms:
        """Terms with other bias forces (nv,)."""
        terms = copy.copy(self)
        object.__setattr__(terms, "h", h)
        return terms

    def with_friction_of(self, names: Collection[str]) -> Terms:
        """Terms with friction in proportion to loads of some force elements only."""
        rubs = self.friction
        kept = [] if rubs is None else [i for i, name in enumerate(rubs.names) if name in names]
        if rubs is None or not kept:
            return self.without_friction()
        if len(kept) == len(rubs.names):
            return self
        terms = copy.copy(self)
        arrays = rubs.D[kept], rubs.first[kept], rubs.count[kept], rubs.side[kept]
        some = LoadFriction(tuple(rubs.names[i] for i in kept), *arrays)
        object.__setattr__(terms, "friction", some)
        return terms

    def without_friction(self) -> Terms:
        """Terms without friction in proportion to loads."""
        terms = copy.copy(self)
        object.__setattr__(terms, "friction", None)
        return terms

    @property
    def row_rate(self) -> Array:
        """Rate (rows,) of phi: A v, less prescribed rates."""
        return self.A @ self.v if self.rates is None else self.A @ self.v - self.rates

    @property
    def kinetic(self) -> float:
        """Kinetic energy v' M v / 2, J."""
        return 0.5 * float(self.v @ self.M @ self.v)

    @property
    def regular_gradient(self) -> float:
        """Largest gradient that a row in metres can have in the metric of M: reach over the root of the inertia."""
        return float((self.unit_lengths / np.sqrt(np.diag(self.M))).max(initial=0.0))

    @property
    def energy(self) -> float:
        """Kinetic plus potential energy, J."""
        return self.kinetic + self.potential

    # -- what laws ask: see `EquationsOfMotion` --------------------------------------------------------------

    def acceleration(self, f: Array) -> Array:
        return accelerations.solved(self, f - self.h).vdot

    def response(self, f: Array) -> Array:
        return accelerations.response(self, f)

    def free_acceleration(self, f: Array) -> Array:
        return np.linalg.solve(self.M, f)

    def only_acceleration(self, J: Array, target: Array, unit: float = 1.0) -> tuple[Array, float]:
        return accelerations.only(self, J, target, unit)

    def nearest_acceleration(self, J: Array, target: Array, free: NullSpaceMotion) -> tuple[Array, float]:
        return accelerations.nearest(self, J, target, free)

    def least_squares_acceleration(
        self,
        J: Array,
        target: Array,
        free: NullSpaceMotion,
        *,
        gauss: bool = False,
        damped: float | None = None,
        unit: float = 1.0,
    ) -> Array:
        return accelerations.least_squares(self, J, target, free, gauss=gauss, damped=damped, unit=unit)

    def determined_by(self, columns: Sequence[int]) -> bool:
        motions = np.linalg.qr(self.unit_lengths[:, None] * self.Z)[0]
        return rank_of(np.linalg.svd(motions[list(columns)], compute_uv=False), 1.0, INDEPENDENT) == self.dof

    def motion_of(self, columns: Sequence[int], change: Array) -> Array:
        return self.Z @ np.linalg.lstsq(self.Z[list(columns)], change, rcond=None)[0]

    def independence(self, mobility: Array, J: Array) -> float:
        sizes = np.sqrt(np.einsum("ij,ji->i", J, np.linalg.solve(self.M, J.T)))
        if not (sizes > 0.0).all():
            return 0.0
        return float(np.linalg.eigvalsh(mobility / np.outer(sizes, sizes))[0])

    def smallest_effort(
        self, vdot: Array, root: Array | None = None, nominal: Array | None = None, *, strict: bool = True
    ) -> Array:
        return efforts.smallest_effort(self, vdot, root, nominal, strict=strict)

    def effort_with_force(self, C: Array, f: Array, force: Array, root: Array | None = None) -> tuple[Array, bool]:
        return efforts.effort_with_force(self, C, f, force, root)

    def with_friction_of_loads(
        self, vdot: Array, effort: Callable[[Terms, Array], Array], given: Array | None = None
    ) -> Terms:
        return efforts.with_friction_of_loads(self, vdot, effort, given)

    def actuation(self, names: tuple[str, ...], metric: Metric | None, epsilon: float = 0.0) -> Actuation:
        return actuation_at(self, names, metric, epsilon)

    def in_present_rows(self, S: Array, row_names: tuple[str, ...]) -> Array:
        if not self.row_names or self.row_names == row_names:
            return S
        column = {name: i for i, name in enumerate(self.row_names)}
        pairs = [(column[name], j) for j, name in enumerate(row_names) if name in column]
        out = np.zeros((len(S), len(self.row_names)))
        for i, j in pairs:
            out[:, i] = S[:, j]
        return out

    def determines(self, S: Array) -> NDArray[np.bool_]:
        return determined(S / self.row_scale, self.levers, self.rank)

    def force_rows(self, S: Array) -> Array:
        if self.rank == len(self.A):  # the smallest c with A c = S' is A+ S'
            return linear_algebra.smallest_solutions(self.A, S)
        return S @ self.A_pinv.T

    def at_first_sample(self, flag: float) -> bool:
        return flag < 0.5

    def by_program(self, program: Callable[[], _T], regular: Callable[[], _T]) -> _T:
        return program()

    def assume_less(self, a: float, b: float) -> None:
        pass


def independent_rows(terms: Terms) -> list[int]:
    """Indices of independent rows, as many as the rank, the first ones where there is a choice.

    They are fewer where others are too near to being dependent.

    Pivoting would take other ones at other configurations, and each choice is compiled once more.
    """
    count = len(terms.A)
    if terms.rank == count:
        return list(range(count))
    G = np.linalg.solve(np.linalg.cholesky(terms.M), (terms.row_scale[:, None] * terms.A).T).T
    sizes = np.linalg.norm(G, axis=1)
    least = terms.pivots[terms.rank - 1] if terms.rank else 0.0
    taken: list[int] = []
    basis = np.empty((0, G.shape[1]))
    for share in _LEFT:
        for i in range(count):
            if i not in taken and len(taken) < terms.rank:
                left = G[i] - basis.T @ (basis @ G[i])
                left -= basis.T @ (basis @ left)  # twice is enough
                size = np.linalg.norm(left)
                if size > share * max(sizes[i], least):
                    taken.append(i)
                    basis = np.vstack([basis, left / size])
    return sorted(taken)


_FIELDS = tuple(Terms.__dataclass_fields__)
_values = itemgetter(*_FIELDS)
_WRITABLE = ("q", "v", "M", "h", "phi", "A", "b", "B", "pivots")
FAILED = constrained.FAILED

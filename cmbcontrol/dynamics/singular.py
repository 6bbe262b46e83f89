"""Singular configurations: the motions that go through them, and the exact acceleration there.

Where the constraint Jacobian A loses rank, A v = 0 leaves more velocities than there are motions. A row that is lost to
first order binds again to second order. Let n be a left null vector, n'A = 0. Along any motion A a + b(v) = 0, so

    n'b(v) = 0,      with v = Z s:      s' Q_n s = 0,

the tangent cone: quadratic forms Q_n on the first-order degrees of freedom Z. Rows that depend on others everywhere on
the manifold give Q_n = 0. At third order, d/dt (A a + b) = A j + (dA/dt) a + (db/dq) v + (db/dv) a = 0. With plain
coordinates (dA/dt) a = phi''(v, a) and (db/dv) a = 2 phi''(v, a); body-fixed velocities add a bracket A [v, a] that n
removes. So (dA/dt) a is half of (db/dv) a as n sees it, and

    n' (3/2 (db/dv) a + (db/dq) v) = 0,

a linear condition on the acceleration. Its row, n' dA/dt = n' (db/dv) / 2, is the limit of the constraint gradient that
was lost: the terms with [A; n' dA/dt] have the rank of the configurations nearby, and give the acceleration of the
branch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _tolerance
from ..errors import InputError, SingularConfigurationError
from ..model.closing import require_closed
from ..model.plant import Plant
from ..model.terms import Terms
from . import cone, singular_report
from .acceleration import ConstrainedMotion, acceleration, constrained_motion
from .derivatives import derivatives

__all__ = [
    "Branch",
    "SingularConfiguration",
    "moves",
    "singular_configuration",
]

Array = NDArray[np.float64]

_TOLERANCE = 1e-7  # of the largest constraint gradient: smaller ones are lost
_BINDING = 1e-6  # of the largest b: forms below it are zero. Null vectors of lost rows are as exact as their loss
_STRAIGHT = 1e-4  # of the largest b that turning could give: smaller ones are measured against it
_ON = 1e-6  # velocities this near to a branch, relative to their length, are on it
_STILL = 1e-10  # of the speed that gravity and springs give within a size of the machine: slower is at rest


@dataclass(frozen=True, eq=False)
class Branch:
    """One smooth family of motions through a singular configuration.

    Attributes
    ----------
    direction : ndarray, shape (nv,)
        A velocity on it, of unit speed in the metric of M (v'Mv = 1). The opposite one is on it, too.
    motions : ndarray, shape (nv, dof)
        Velocities next to `direction` on the branch, orthonormal in the metric of M.
    linear : bool
        Whether all combinations of the degrees of freedom are on the branch; else they form a cone about it.
    regular : bool
        Whether the machine regains its rank on it, to second order. Where not, part of it may stay at a
        singular configuration while the rest moves, or branches touch; the acceleration then needs higher orders.
    samples : ndarray, shape (nv, k)
        Some velocities on it, of unit speed: the degrees of freedom, where it is linear.
    """

    direction: Array
    motions: Array
    linear: bool
    regular: bool
    samples: Array

    @property
    def dof(self) -> int:
        """Number of degrees of freedom of the motions on the branch."""
        return self.motions.shape[1]


@dataclass(frozen=True, eq=False)
class SingularConfiguration:
    """Motions of a machine at a configuration, to first and second order; made by `singular_configuration`.

    Attributes
    ----------
    plant : Plant
    q : ndarray, shape (nq,)
    rank : int
        Number of independent rows.
    lost_rows : tuple of dict of str to float
        Combination n of rows that vanishes, for each condition of second order: names and weights (largest 1).
    motions : ndarray, shape (nv, d)
        First-order motions Z, orthonormal in the metric of M.
    forms : ndarray, shape (p, d, d)
        The quadratic forms Q_n: velocities Z s go on where s' Q_n s = 0 for all of them. Metres.
    v : ndarray, shape (nv,), or None
        The velocity that was given.
    """

    plant: Plant
    q: Array
    rank: int
    lost_rows: tuple[dict[str, float], ...]
    motions: Array
    forms: Array
    v: Array | None
    _left: Array  # (p, rows), in the units of the rows
    _at_rest: Terms

    @cached_property
    def _rank_near(self) -> int:
        return self.plant.generic_rank(self.q)

    @cached_property
    def _found(self) -> tuple[list[cone.Component], bool]:
        """Pieces of the cone, and whether these are proven to be all."""
        if not len(self.forms) and self.rank < self._rank_near:
            return [], False
        return cone.components(self.forms, [] if self.v is None else [self._part(self.v)])

    @property
    def _pieces(self) -> list[cone.Component]:
        return self._found[0]

    def _branch_of(self, piece: cone.Component, v: Array | None = None) -> Branch:
        """Branch of a piece of the cone, in velocities.

        Without a velocity, its direction is the one nearest to the joint that takes part most, forward: it does not
        depend on the basis of the degrees of freedom.
        """
        Z = self.motions
        if v is not None:
            tangent, samples = Z @ piece.tangent, Z @ piece.samples
            return Branch(v / self.speed(v), tangent, piece.linear, not piece.double, samples)
        basis = Z @ piece.tangent if piece.linear else Z
        nearest = basis @ basis.T @ self.M  # of each joint axis
        share = nearest.diagonal()
        k = int(np.argmax(share > 0.999 * share.max()))
        direction = nearest[:, k]
        if not piece.linear:
            direction = Z @ cone.nearest(self.forms, self._part(direction), list(piece.samples.T))
        direction = direction / self.speed(direction)
        return Branch(direction, Z @ piece.tangent, piece.linear, not piece.double, Z @ piece.samples)

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Branches of motion through the configuration; searched at the first use."""
        branches = [self._branch_of(piece) for piece in self._pieces]
        return tuple(sorted(branches, key=lambda b: (b.dof, not b.regular, *(-b.direction).round(6))))

    @property
    def complete(self) -> bool:
        """Whether `branches` are proven to be all.

        They are where the forms are products of linear ones, as of chains of parallel bars, where at most one other is
        left on each plane of these, and where as many lines were found as quadrics can have in common.
        """
        return self._found[1]

    @property
    def generic_rank(self) -> int:
        """Number of independent rows at configurations nearby on the manifold; nv at a locked configuration."""
        if not len(self.forms):
            return max(self.rank, self._rank_near)
        if self.v is not None and self.moves(self.v):
            return self.plant.nv - self._piece(self.v).dof
        return (
            self.plant.nv - min((c.tangent.shape[1] for c in self._pieces), default=0)
            if self.complete
            else self._rank_near
        )

    @property
    def few(self) -> bool:
        """Whether the branches are found quickly: the search grows with the cube of the degrees of freedom."""
        return self.motions.shape[1] <= 12

    def _part(self, v: Array) -> Array:
        """Coordinates s of a velocity v = Z s."""
        return self.motions.T @ self.M @ v

    def _piece(self, v: Array) -> Branch:
        """Branch that a velocity is on."""
        speed = self.speed(v)
        if not len(self.forms) and self.singular:
            raise SingularConfigurationError(f"{self.outline} {singular_report.verdict(self)}")
        if self.moves(v) and self._off(v) <= _ON:
            s = self._part(v) / speed
            piece = cone.piece_at(self.forms, s / np.linalg.norm(s))
            if piece is not None:
                return self._branch_of(piece, v)
        raise self._no_motion(v)

    @property
    def singular(self) -> bool:
        """Whether the configuration is singular."""
        return len(self.forms) > 0 or self.rank < self._rank_near

    @property
    def locked(self) -> bool:
        """Whether the machine is rigid there: infinitesimal mobility, and no finite motion."""
        return self.motions.shape[1] > 0 and len(self.forms) > 0 and self.complete and not self._pieces

    @property
    def bifurcation(self) -> bool:
        """Whether motion can go on in more ways than along one smooth branch."""
        return self.singular and (len(self._pieces) > 1 or not self.isolated)

    @property
    def isolated(self) -> bool:
        """Whether the branches are separate smooth ones, not a cone of directions."""
        return all(piece.linear for piece in self._pieces)

    @cached_property
    def infinitesimal(self) -> Array:
        """First-order degrees of freedom (nv, j) without finite motion: orthogonal to all branches, in the metric M."""
        if not len(self.forms):
            return np.zeros((len(self.motions), 0))
        spans = [self._part(branch.samples) for branch in self.branches]
        return self.motions @ cone.complement(np.hstack([np.zeros((self.motions.shape[1], 0)), *spans]))

    @property
    def new_motions(self) -> Array:
        """Degrees of freedom that the motion has only here (nv, k), orthonormal in the metric of M.

        Orthogonal to those of the branch of `v`, or of the first branch where there is no velocity.
        """
        if not self.singular:
            return self.motions[:, :0]
        if self.v is not None and self.moves(self.v):
            tangent = self._piece(self.v).motions
        elif self.branches:
            tangent = self.branches[0].motions
        else:
            return self.motions
        return self.motions @ cone.complement(self._part(tangent))

    @property
    def signature(self) -> tuple[int, int] | None:
        """Numbers of positive and negative directions of the form; None where there is not exactly one form."""
        if len(self.forms) != 1:
            return None
        values = np.linalg.eigvalsh(self.forms[0])
        small = _TOLERANCE * np.abs(values).max()
        return int((values > small).sum()), int((values < -small).sum())

    @property
    def M(self) -> Array:
        """Mass matrix (nv, nv): the metric of velocities."""
        return self._at_rest.M

    # -- which velocities -------------------------------------------------------------------------

    def contains(self, v: ArrayLike) -> bool:
        """Whether a motion with velocity v (nv,) can go through the configuration: A v = 0, and v on the cone."""
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        return self._off(v) <= _ON

    def _off(self, v: Array) -> float:
        """Distance of v from the velocities of motions, relative to its length."""
        speed = self.speed(v)
        if not self.moves(v):
            return 0.0
        s = self._part(v) / speed
        across = self.speed(v / speed - self.motions @ s)
        return max(across, cone.residual(self.forms, s))

    def moves(self, v: Array) -> bool:
        """Whether a velocity (nv,) is more than rounding; see `moves`."""
        return moves(self.plant, self._at_rest, v)

    def speed(self, v: Array) -> float:
        """Length of a velocity in the metric of M: the root of twice the kinetic energy."""
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        return float(np.sqrt(v @ self.M @ v))

    def branch_of(self, v: ArrayLike) -> int:
        """Index in `branches` of the branch that a velocity (nv,) is on.

        Raises
        ------
        SingularConfigurationError
            Where no motion has this velocity, or where it is zero, which is on all branches; the message names the
            branches.
        """
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        speed = self.speed(v)
        if self.moves(v) and self._off(v) <= _ON:
            distance = [self._distance(branch, v / speed) for branch in self.branches]
            near = [i for i, d in enumerate(distance) if d <= 10.0 * _ON]
            if near:
                return min(near, key=lambda i: (distance[i] > _ON, self.branches[i].dof, distance[i]))
        raise self._no_motion(v)

    def _no_motion(self, v: Array) -> SingularConfigurationError:
        """Error for a velocity that no motion has."""
        why = "is zero" if not self.moves(v) else "is not that of a motion through this configuration"
        velocity = f"the velocity {singular_report.direction(self.plant, v)}"
        return SingularConfigurationError(
            f"{velocity} of {self.plant.name!r} {why}. {singular_report.branches(self)}"
            if self._pieces
            else f"{self.plant.name!r} cannot go on with {velocity}. {singular_report.verdict(self)}"
        )

    def _distance(self, branch: Branch, v: Array) -> float:
        """Distance of a unit velocity on the cone from a branch; `_ON` for a curved family, which has it for sure."""
        return self.speed(v - branch.motions @ (branch.motions.T @ self.M @ v)) if branch.linear else _ON

    def toward(self, branch: int, v: ArrayLike) -> Array:
        """Unit velocity (nv,) on a branch that is nearest to v in the metric of M.

        Parameters
        ----------
        branch : int
            Index in `branches`.
        v : array_like, shape (nv,)
            A velocity, or an acceleration; where it is zero, the direction of the branch.
        """
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        chosen = self._branch(branch)
        target, tangent = self._part(v), self._part(chosen.motions)
        if chosen.linear:
            s = tangent @ (tangent.T @ target)
        else:
            starts = list(self._part(chosen.samples).T)
            s = cone.nearest(self.forms, target, starts)
        length = float(np.linalg.norm(s))
        if length <= 1e-12 * max(self.speed(v), 1e-300):
            return chosen.direction
        return self.motions @ (s / length)

    def on_branch(self, direction: ArrayLike) -> Array:
        """Unit velocity (nv,) of a motion, of any branch, that is nearest to a direction (nv,)."""
        direction = _check.vector(direction, self.plant.nv, "direction", self.plant.velocity_names)
        directions = [self.toward(i, direction) for i in range(len(self.branches))]
        if not self.complete and len(self.forms):  # it may be on a branch that was not found from elsewhere
            s = cone.nearest(self.forms, self._part(direction), [self._part(d) for d in directions])
            if s.any():
                directions.append(self.motions @ (s / np.linalg.norm(s)))
        if not directions:
            raise SingularConfigurationError(singular_report.verdict(self))
        reach = [float(direction @ self.M @ d) for d in directions]
        best = int(np.argmax(np.abs(reach)))
        return directions[best] if reach[best] >= 0.0 else -directions[best]

    def _branch(self, i: int) -> Branch:
        i = _check.count(i, "branch", -len(self.branches))
        if not -len(self.branches) <= i < len(self.branches):
            raise InputError(f"there is no branch {i}. {singular_report.branches(self)}")
        return self.branches[i]

    # -- dynamics ---------------------------------------------------------------------------------

    def terms(self, v: ArrayLike, t: float = 0.0) -> Terms:
        """Terms at a velocity v (nv,), with the rows that its branch has in place of the lost ones.

        A holds the limits of the constraint gradients that vanish here, as rows ``lost_1`` ..., and b what
        they demand. So every formulation gives the acceleration of the motion, the limit of those before and behind.

        Raises
        ------
        SingularConfigurationError
            Where no motion has this velocity, or where second order leaves its acceleration open.
        """
        t = _check.number(t, "t")
        v = _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        terms = self.plant.terms(self.q, v, t)
        if not self.singular:
            return terms
        branch = self._piece(v)
        self._require_decided(branch)
        speed = self.speed(v)
        zero = np.zeros(self.plant.nv)
        partials = derivatives(self.plant, self.q, v / speed, a=zero, lam=np.zeros(len(self.plant.row_names)))
        rows = 0.5 * self._left @ partials.accel_v
        bias = speed**2 / 3.0 * (self._left @ (partials.accel_q @ (v / speed)))
        lost_names = tuple(f"lost_{i + 1}" for i in range(len(rows)))
        scale = np.append(terms.row_scale, np.ones(len(rows)))
        scale.setflags(write=False)  # as kernels know it
        A = np.vstack([terms.A, rows])
        rank = self.plant.nv - branch.dof
        pivots = np.sort(np.linalg.svd(self._scaled(A, scale), compute_uv=False))[::-1]
        return replace(
            terms,
            A=A,
            b=np.append(terms.b, bias),
            phi=np.append(terms.phi, np.zeros(len(rows))),
            row_scale=scale,
            row_names=(*terms.row_names, *lost_names) if terms.row_names else (),
            rank=rank,
            pivots=pivots,
        )

    def _scaled(self, A: Array, scale: Array) -> Array:
        """Rows in metres, in mass coordinates."""
        L = np.linalg.cholesky(self.M)
        return np.linalg.solve(L, (scale[:, None] * A).T).T

    def _require_decided(self, branch: Branch) -> None:
        if not branch.regular:
            direction = singular_report.direction(self.plant, branch.direction)
            raise SingularConfigurationError(
                f"{self.plant.name!r} does not regain its rank to second order along {direction}: "
                "part of it may stay at the singular configuration, or branches touch, and higher orders decide on the "
                "acceleration. Start a little beside the configuration, on the branch you want."
            )

    def acceleration(self, f: ArrayLike, v: ArrayLike | None = None, *, branch: int | None = None) -> Array:
        """Acceleration (nv,) at the configuration under the generalized force f (nv,), N or N m.

        With a velocity, the exact one of the motion on its branch: the limit of the regular dynamics along the motion,
        from both sides. At rest, the one nearest, in the metric of M, to the acceleration under those rows alone that
        are not lost (Gauss); on all branches, or on the one given.

        Raises
        ------
        SingularConfigurationError
            Where no motion has this velocity, or where second order leaves its acceleration open.
        """
        f = _check.vector(f, self.plant.nv, "f", self.plant.velocity_names)
        v = np.zeros(self.plant.nv) if v is None else _check.vector(v, self.plant.nv, "v", self.plant.velocity_names)
        if not self.singular or self.moves(v):
            return acceleration(self.terms(v), f)
        terms = self._at_rest
        free = acceleration(terms, f)  # b = 0 at rest: what the remaining rows allow
        if self.locked:
            return np.zeros(self.plant.nv)
        direction = self.on_branch(free) if branch is None else self.toward(branch, free)
        return direction * float(direction @ self.M @ free)

    def motion(self, f: ArrayLike, v: ArrayLike) -> ConstrainedMotion:
        """Acceleration, constraint force and multipliers here, on the branch of a velocity v (nv,) that moves.

        The multipliers of the rows ``lost_1`` ... stand for those of the rows that vanish here, which have no limit.
        """
        return constrained_motion(self.terms(v), f)

    # -- words ------------------------------------------------------------------------------------

    @property
    def outline(self) -> str:
        """Text with the configuration, its rank and degrees of freedom, without the search for branches."""
        return singular_report.outline(self)

    def __str__(self) -> str:
        return singular_report.report(self)


def singular_configuration(
    plant: Plant, q: ArrayLike, v: ArrayLike | None = None, *, tolerance: float = _TOLERANCE
) -> SingularConfiguration:
    """Motions of a machine at a singular configuration: rank, lost rows, branches, rigidity.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,)
        The configuration, with closed loops. `nearest_singular_configuration` makes it exact where it is known roughly.
    v : array_like, shape (nv,), optional
        A velocity there: its branch is found for sure, and `new_motions` are those that its motion has here only. Where
        prescribed motions move, the machine is taken with these held, and without a velocity.
    tolerance : float
        Constraint gradients below this part of the largest, in the metric of M, count as lost.

    Returns
    -------
    configuration : SingularConfiguration
        Also at configurations that are not singular: see ``configuration.singular``; ``print(configuration)`` shows
        all of it.

    Raises
    ------
    AssemblyError
        Where the loops are open.
    SingularConfigurationError
        Where no motion has the velocity v.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> configuration = singular_configuration(plants.slider_crank(), [np.pi / 2, np.pi])
    >>> configuration.rank, configuration.generic_rank, configuration.bifurcation
    (0, 1, True)
    >>> [(b.direction / b.direction[0]).round(9) + 0.0 for b in configuration.branches]  # q2 = pi; q2 = -2 q1
    [array([1., 0.]), array([ 1., -2.])]
    """
    _check.plant(plant)
    q = _check.vector(q, plant.nq, "q", plant.position_names).copy()
    tolerance = _check.positive(tolerance, "tolerance")
    if plant.moving:  # a velocity that follows prescribed motions is on no branch of the machine that stands
        plant, v = plant.standing(q), None
    require_closed(plant, q)
    at_rest = plant.terms(q, np.zeros(plant.nv))
    L = np.linalg.cholesky(at_rest.M)
    G = np.linalg.solve(L, (plant.row_scale[:, None] * at_rest.A).T).T
    U, sigma, Vt = np.linalg.svd(G)
    scale = max(float(sigma.max(initial=0.0)), 0.01 * at_rest.regular_gradient)
    rank = _tolerance.rank(sigma, scale, tolerance)
    Z = np.linalg.solve(L.T, Vt[rank:].T)
    left, forms = _forms(plant, q, Z, U[:, rank:].T * plant.row_scale)
    if v is not None:
        v = _check.vector(v, plant.nv, "v", plant.velocity_names).copy()
    lost_rows = tuple(_lost_row(plant, n) for n in left)
    configuration = SingularConfiguration(plant, q, rank, lost_rows, Z, forms, v, left, replace(at_rest, rank=rank))
    if v is not None and configuration.moves(v):
        configuration._piece(v)
    return configuration


def _forms(plant: Plant, q: Array, Z: Array, left: Array) -> tuple[Array, Array]:
    """Left null vectors n (p, rows) whose forms are independent, and these forms (p, d, d)."""
    d = Z.shape[1]
    if not len(left) or not d:
        return left[:0], np.zeros((0, d, d))
    squares = [plant.terms(q, np.ascontiguousarray(z)).b for z in Z.T]
    B = np.empty((d, d, left.shape[1]))
    for i in range(d):
        B[i, i] = squares[i]
        for j in range(i):
            both = plant.terms(q, Z[:, i] + Z[:, j]).b
            B[i, j] = B[j, i] = 0.5 * (both - squares[i] - squares[j])
    # Where the biases of all rows vanish, as in translation, the largest one is rounding: of products of two rates of
    # turning and a lever arm, as large as the machine.
    turning = float((np.abs(Z.T) @ (plant.unit_lengths / plant.size)).max())
    size = max(float(np.abs(B * plant.row_scale).max(initial=0.0)), _STRAIGHT * turning**2 * plant.size)
    forms = np.einsum("nr,ijr->nij", left, B)
    W, sigma, _ = np.linalg.svd(forms.reshape(len(left), -1), full_matrices=False)
    left = _few_rows(W[:, : _tolerance.rank(sigma, size, _BINDING)].T @ left)
    return left, np.einsum("nr,ijr->nij", left, B)


def _few_rows(left: Array) -> Array:
    """Combinations of the same span, each with a row of its own: a reduced echelon form with pivots."""
    from scipy.linalg import qr

    if not len(left):
        return left
    pivots = qr(left, mode="r", pivoting=True)[1][: len(left)]
    left = np.linalg.solve(left[:, np.sort(pivots)], left)
    return np.where(np.abs(left) > 1e-12, left, 0.0)


def _lost_row(plant: Plant, n: Array) -> dict[str, float]:
    """Combination of rows by names; the largest weight is 1."""
    n = n / n[int(np.abs(n).argmax())]
    order = np.argsort(-np.abs(n), kind="stable")
    return {plant.row_names[i]: float(n[i]) for i in order if abs(n[i]) > 1e-6}


def moves(plant: Plant, terms: Terms, v: Array) -> bool:
    """Whether a velocity (nv,) is more than rounding, against what the forces in the terms lead to within a size.

    Without forces, every velocity but zero is one.
    """
    fall = np.abs(np.linalg.solve(terms.M, terms.h) * plant.unit_lengths).max(initial=0.0)
    return bool(np.abs(v * plant.unit_lengths).max(initial=0.0) > _STILL * np.sqrt(fall * plant.size))

"""Accelerations of a constrained machine by the formulation of your choice, for comparison.

All agree where the constraints are consistent; those that accept redundant rows agree with redundant rows, too.

Rows are brought to metres (`Terms.row_scale`) before a rank is decided. By default, all formulations take the rank of
the terms, so they agree on which rows are redundant.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT
from ..dynamics.acceleration import Formulation, Solution, at_rank
from ..errors import InputError, InputTypeError, RedundantRowsError
from ..kernels import constrained, linear_algebra
from ..model.terms import FAILED, RANK_TOLERANCE, Terms
from .pseudoinverse import PSEUDOINVERSES, pivot_order, solve_triangular

__all__ = ["FORMULATIONS", "NamedFormulation", "constraint_inertia"]

Array = NDArray[np.float64]
Inverse = Callable[..., tuple[Array, int]]

_WORN = 30.0  # condition number of [R; A], rows of A orthonormal, over the best at its choice, from where R is renewed


@dataclass(frozen=True)
class NamedFormulation(Formulation):
    """A formulation of constrained dynamics with its options, checked.

    Parameters
    ----------
    name : str
        One of `FORMULATIONS`:

        ``"gauss"``: nearest to M^-1 (f - h) in the metric of M among those with A vdot + b = 0.
        ``"null-space"``: c + K (K'MK)^-1 K'(f - h - M c), A K = 0, c = -A+ b (Spencer, eqs. 2.43b and 3.5b), with
        the orthonormal K = Z of the terms, or a user's (``basis``).
        ``"null-space-svd"``: the same with K and c from singular values (Spencer, eqs. 3.1 to 3.7).
        ``"null-space-qr"``: the same with K and c from a pivoted QR of A'.
        ``"null-space-partitioning"``: generalized coordinate partitioning: K = [R; A]^-1 [I; 0] and
        c = -[R; A]^-1 [0; b], with rows of the identity for R (Spencer, eqs. 2.44 and 2.45).
        ``"null-space-differentiable"``: the same with orthonormal R, which stays the same from configuration to
        configuration in a run. ``"aghili"``: M_c vdot = P(f - h) + M C v, M_c = M + PM - (PM)' (Aghili, eqs. 22 to 24).
        ``"aghili-symmetric"``: M_c' = PMP + (I-P)M(I-P), right side P(f - h) + (I - 2P) M C v (Aghili,
        eqs. 26 to 28).
        ``"aghili-gamma"``: M_c'' = PM + gamma (I - P), right side P(f - h) + gamma C v (Aghili, eq. 29);
        ``gamma`` in units of mass, the 2-norm of M unless given.
        ``"lagrange"``: lam = (A M^-1 A')^-1 (A M^-1 (f - h) + b), vdot = M^-1 (f - h - A' lam) (Spencer,
        eqs. 2.4 and 2.5b).
        ``"augmented"``: [M A'; A 0] [vdot; lam] = [f - h; -b] (de Falco, eq. 20), in coordinates of unit inertia.
        ``"udwadia-kalaba"``: vdot_f + M^-1/2 D+ (-b - A vdot_f), D = A M^-1/2, vdot_f = M^-1 (f - h) (de Falco,
        eqs. 22 to 29). M^-1/2 is the inverse of the Cholesky factor: any root gives the same vdot, since two of them
        differ by a rotation Q, and (D Q)+ = Q' D+.
    pseudoinverse : str or callable, optional
        One of `cmbcontrol.papers.pseudoinverse.PSEUDOINVERSES`, or a function
        ``(A, tolerance=..., cap=...) -> (A_plus, rank)``, such as ``functools.partial(damped, damping=1e-3)``.
        It is taken of A in Aghili's three (P = I - A+ A and C v = -A+ b) and in the null space forms (c = -A+ b), of D
        in "udwadia-kalaba", of A M^-1 A' in "lagrange" and of the whole matrix in "augmented".
    rank_tolerance : float, optional
        Singular values (or pivots) below this fraction of the largest count as zero. Unless given, the rank is that of
        the terms. The matrices of "lagrange" and "augmented" hold small singular values squared, so their tolerance is
        squared as well, and at least 1e-14. The threshold of Aghili, eqs. 70 and 71, is absolute, since a single row
        has nothing to be compared with: ``pseudoinverse=functools.partial(svd, absolute=epsilon)``.
    gamma : float or "best", optional
        Factor of "aghili-gamma", in units of mass: the 2-norm of M unless given (Aghili, below eq. 31); ``"best"`` is
        the one of least condition number.
    basis : callable, optional
        Basis of "null-space": terms -> K (nv, dof) with A K = 0 and full column rank, in place of that of the terms.

    Raises
    ------
    ValueError
        Where a name is unknown or a number out of range.
    TypeError
        Where an option does not apply to the formulation; the message gives the reason.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar(closure="revolute")  # three of its five rows are redundant
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> way = NamedFormulation("udwadia-kalaba", pseudoinverse="greville")
    >>> way.acceleration(terms, [0.0] * 4).round(3)
    array([ 5.457, -9.875, -5.662,  9.881])
    >>> way.motion(terms, [0.0] * 4).rank
    2
    """

    name: str = "gauss"  # type: ignore[misc]  # a field here
    _: KW_ONLY
    pseudoinverse: str | Inverse | None = None
    gamma: float | str | None = None
    basis: Callable[[Terms], ArrayLike] | None = None
    _kept: _Kept | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check.one_of(self.name, FORMULATIONS, "formulation", "name")
        if self.pseudoinverse is not None:
            if self.name == "gauss":
                raise InputTypeError(
                    "formulation 'gauss' makes no pseudoinverse: it factors the rows in mass coordinates. Leave "
                    "pseudoinverse= out, or take 'udwadia-kalaba', which is the same principle through D+"
                )
            if not callable(self.pseudoinverse):
                _check.one_of(self.pseudoinverse, PSEUDOINVERSES, "pseudoinverse")
        super().__post_init__()
        if self.gamma is not None:
            self._only("gamma", "aghili-gamma", "only its inertia matrix M_c'' = P M + gamma (I - P) has one")
            _checked_gamma(self.gamma)
        if self.basis is not None:
            self._only("basis", "null-space", "the others compute their own K, or need none")
            if not callable(self.basis):
                raise InputTypeError(f"basis must be a function terms -> K, got {self.basis!r}")

    def _only(self, option: str, name: str, reason: str) -> None:
        if self.name != name:
            raise InputTypeError(f"formulation {self.name!r} takes no {option}=: it belongs to {name!r}, {reason}")

    def at(self, terms: Terms) -> NamedFormulation:
        """Copy of the formulation that is bound to a configuration, if its form keeps coordinates; else itself.

        "null-space-differentiable" and "null-space-partitioning" keep their coordinates R, so that K is a smooth
        function of q. Bound again elsewhere, R stays the same until the coordinates are nearly dependent.
        """
        super().at(terms)
        if self.name not in _CHOICES or terms.rank == FAILED:
            return self
        terms = self._ranked(terms)
        if self._kept is not None and self._kept.fits(terms):
            return self
        bound = copy.copy(self)
        object.__setattr__(bound, "_kept", _Kept.chosen(_CHOICES[self.name](terms), terms))
        return bound

    @property
    def bound(self) -> bool:
        """Whether the formulation keeps coordinates from configuration to configuration."""
        return self._kept is not None

    def _ranked(self, terms: Terms) -> Terms:
        return terms if self.pseudoinverse is not None else super()._ranked(terms)

    def _solve(self, terms: Terms, g: Array) -> Solution:
        return FORMULATIONS[self.name](_Problem(self, terms, g))


# -- what the formulations have in common -------------------------------------------------------------------------


@dataclass(eq=False)
class _Problem:
    """One state to solve: M vdot + A' lam = g, A vdot = -b."""

    way: NamedFormulation
    terms: Terms
    g: Array  # f - h

    @cached_property
    def A(self) -> Array:
        """Constraint Jacobian with rows in metres."""
        return self.terms.row_scale[:, None] * self.terms.A

    @property
    def b(self) -> Array:
        """Acceleration (dA/dt) v across the rows in metres."""
        return self.terms.row_scale * self.terms.b

    def inverse(self, X: Array, rank: int, squared: bool = False) -> tuple[Array, int]:
        """Pseudoinverse of X by the chosen method ("svd" unless chosen), and its rank.

        `rank` is that of the terms, the largest possible where no tolerance is given. `squared`: X has the squares of
        the singular values that the tolerance is for.
        """
        given = self.way.rank_tolerance
        tolerance = RANK_TOLERANCE if given is None else given
        method = self.way.pseudoinverse or "svd"
        function = PSEUDOINVERSES[method] if isinstance(method, str) else method
        tolerance = max(tolerance**2, 1e-14) if squared else tolerance
        return function(X, tolerance=tolerance, cap=rank if given is None else None)

    @cached_property
    def _across(self) -> tuple[Array | None, int]:
        """Pseudoinverse A+ by the chosen method, and the rank; None and that of the terms where none is chosen."""
        if self.way.pseudoinverse is None:
            return None, self.terms.rank
        return self.inverse(self.A, self.terms.rank)

    @property
    def rank(self) -> int:
        return self._across[1]

    @property
    def P(self) -> Array:
        """Projector on N(A), I - A+ A."""
        X = self._across[0]
        return self.terms.P if X is None else np.eye(self.g.size) - X @ self.A

    @property
    def Cv(self) -> Array:
        """Acceleration c = C v = -A+ b that the loops require."""
        X = self._across[0]
        return self.terms.Cv if X is None else -X @ self.b

    @property
    def Z(self) -> Array:
        return at_rank(self.terms, self.rank).Z

    def in_null_space(self, K: Array, c: Array, rank: int, *systems: tuple[Array, int]) -> Solution:
        """Solution vdot = c + K (K'MK)^-1 K'(g - M c) (Spencer, eqs. 2.43b and 3.5b)."""
        M = self.terms.M
        reduced = K.T @ M @ K
        vdot = c + K @ np.linalg.solve(reduced, K.T @ (self.g - M @ c))
        return Solution(vdot, rank, lambda: ((reduced, len(reduced)), *systems))

    def full_rank(self, matrix: str) -> None:
        """Refuse redundant rows, with which the named matrix is singular."""
        rank, rows = self.terms.rank, self.terms.b.size
        if rank < rows:
            raise RedundantRowsError(
                f"formulation {self.way.name!r} needs independent rows, but {rows - rank} of the {rows} constraint "
                f"rows are redundant (rank {rank} at q = {np.round(self.terms.q, 6).tolist()}), so {matrix} is "
                "singular. Give it a pseudoinverse (pseudoinverse='svd', for one), or take a formulation that stands "
                "redundant rows: 'gauss', 'udwadia-kalaba', 'aghili' or one of the null space forms"
            )


# -- Gauss' principle ---------------------------------------------------------------------------------------------


def _gauss(problem: _Problem) -> Solution:
    terms = problem.terms
    tolerance = problem.way.rank_tolerance or RANK_TOLERANCE
    vdot, lam, rank = constrained.gauss_acceleration(
        terms.M, terms.A, terms.row_scale, terms.unit_lengths, problem.g, -terms.b, tolerance, terms.rank
    )
    return Solution(vdot, rank, lambda: ((_in_mass_coordinates(problem)[1], rank),), lam)


def _in_mass_coordinates(problem: _Problem) -> tuple[Array, Array]:
    """Cholesky factor L with M = L L', and D = A L'^-1 with rows in metres."""
    L = np.linalg.cholesky(problem.terms.M)
    return L, solve_triangular(L, problem.A.T, lower=True).T


def _udwadia_kalaba(problem: _Problem) -> Solution:
    L, D = _in_mass_coordinates(problem)
    free = solve_triangular(L, problem.g, lower=True)  # L' vdot_f
    X, rank = problem.inverse(D, problem.terms.rank)
    z = X @ (-problem.b - D @ free)
    lam = problem.terms.row_scale * -(X.T @ z)
    return Solution(solve_triangular(L, free + z, lower=True, transposed=True), rank, lambda: ((D, rank),), lam)


# -- null space ---------------------------------------------------------------------------------------------------


def _null_space(problem: _Problem) -> Solution:
    basis = problem.way.basis
    K = problem.Z if basis is None else _checked_basis(basis(problem.terms), problem)
    return problem.in_null_space(K, problem.Cv, problem.rank, (problem.A, problem.rank))


def _checked_basis(K: ArrayLike, problem: _Problem) -> Array:
    """Basis K of a user, checked to span N(A)."""
    nv, dof = problem.g.size, problem.g.size - problem.rank
    K = _check.matrix(K, (nv, dof), f"K of basis= (velocities x degrees of freedom; rank {problem.rank})")
    s = np.linalg.svd(problem.terms.unit_lengths[:, None] * K, compute_uv=False)
    if dof and not s[-1] > DEPENDENT * s[0]:
        raise InputError(
            f"K of basis= must have {dof} independent columns; its singular values are {s[0]:.3g} to {s[-1]:.3g} "
            f"at q = {np.round(problem.terms.q, 6).tolist()}"
        )
    left = np.abs(problem.A @ K)
    if left.size and left.max() > 1e-8 * (np.abs(problem.A) @ np.abs(K)).max():
        i, k = np.unravel_index(left.argmax(), left.shape)
        row = problem.terms.row_names[i] if problem.terms.row_names else f"row {i}"
        raise InputError(
            f"K of basis= must satisfy A K = 0, but {row} gives {left[i, k]:.3g} in column {k} "
            f"at q = {np.round(problem.terms.q, 6).tolist()}"
        )
    return K


def _null_space_svd(problem: _Problem) -> Solution:
    A, n = problem.A, problem.g.size
    if not A.size:
        return problem.in_null_space(np.eye(n), np.zeros(n), 0)
    U, s, Vt = np.linalg.svd(A)
    rank = problem.rank
    if problem.way.pseudoinverse is None and problem.way.rank_tolerance is not None:
        rank = int(np.count_nonzero(s > problem.way.rank_tolerance * s[0]))
    chosen = problem.way.pseudoinverse is not None
    c = problem.Cv if chosen else -Vt[:rank].T @ ((U[:, :rank].T @ problem.b) / s[:rank])
    return problem.in_null_space(Vt[rank:].T, c, rank, (A, rank))


def _null_space_qr(problem: _Problem) -> Solution:
    A, rank = problem.A, problem.rank
    Q = np.linalg.qr(A[_pivots(A.T, rank)].T, mode="complete")[0]
    row_space = Q[:, :rank]
    if problem.way.pseudoinverse is None:
        c = row_space @ np.linalg.lstsq(A @ row_space, -problem.b, rcond=None)[0]
    else:
        c = problem.Cv
    return problem.in_null_space(Q[:, rank:], c, rank, (A, rank))


def _pivots(A: Array, rank: int) -> NDArray[np.intp]:
    """Indices of columns of A that span all of them, by pivoted QR."""
    return pivot_order(A, 0.0, rank)[0][:rank] if rank else np.zeros(0, dtype=np.intp)


def _partition(terms: Terms) -> Array:
    """Matrix R_q of generalized coordinate partitioning (dof, nv): rows of the identity of independent coordinates.

    Dependent ones are the pivots of the columns of A in units of equal inertia.
    """
    columns = terms.row_scale[:, None] * terms.A / np.sqrt(np.diagonal(terms.M))
    return np.delete(np.eye(terms.h.size), _pivots(columns, terms.rank), axis=0)


@dataclass(frozen=True, eq=False)
class _Kept:
    """Independent coordinates y = R q, and their condition number when they were chosen."""

    R: Array
    best: float

    @classmethod
    def chosen(cls, R: Array, terms: Terms) -> _Kept:
        return cls(R, np.linalg.cond(_stack(R, terms)[0]))

    def fits(self, terms: Terms) -> bool:
        """Whether the coordinates are still independent at another configuration."""
        if len(self.R) != terms.dof:
            return False
        return bool(np.linalg.cond(_stack(self.R, terms)[0]) < _WORN * self.best)


def _stack(R: Array, terms: Terms) -> tuple[Array, Array]:
    """Matrix [R; A] with an orthonormal basis of the rows in place of A, since rows may be redundant; and the basis."""
    rows = linear_algebra.constraint_split(terms.A, terms.b, terms.row_scale, terms.rank)[0].T
    return np.vstack([R, rows]), rows


def _with_coordinates(choose: Callable[[Terms], Array], problem: _Problem) -> Solution:
    """Solution with K and K' y_v for y = R q (Spencer, eqs. 2.44 and 2.45); R is kept by a bound formulation."""
    terms, kept = at_rank(problem.terms, problem.rank), problem.way._kept
    R = kept.R if kept is not None and len(kept.R) == terms.dof else choose(terms)
    stack, rows = _stack(R, terms)
    right = np.zeros((len(stack), len(R) + 1))
    right[: len(R), : len(R)] = np.eye(len(R))
    right[len(R) :, -1] = rows @ problem.Cv
    solved = np.linalg.solve(stack, right)
    return problem.in_null_space(solved[:, :-1], solved[:, -1], terms.rank, (stack, len(stack)))


_CHOICES: dict[str, Callable[[Terms], Array]] = {
    "null-space-partitioning": _partition,
    "null-space-differentiable": lambda terms: terms.Z.T,
}


# -- Aghili -------------------------------------------------------------------------------------------------------


def constraint_inertia(terms: Terms, form: str = "aghili", gamma: float | str | None = None) -> Array:
    """Constraint inertia matrix M_c, M_c' or M_c'' (Aghili, eqs. 23, 28 and 29), shape (nv, nv).

    `gamma` belongs to M_c'', in units of mass: |M| unless given, or ``"best"`` for the least condition number.
    """
    _check.one_of(form, ("aghili", "aghili-symmetric", "aghili-gamma"), "form")
    return _inertia(form, terms.M, terms.P, _gamma(terms.M, terms.P, gamma))


def _inertia(form: str, M: Array, P: Array, gamma: float) -> Array:
    I = np.eye(len(M))
    match form:
        case "aghili":
            return M + P @ M - (P @ M).T
        case "aghili-symmetric":
            return P @ M @ P + (I - P) @ M @ (I - P)
        case _:
            return P @ M + gamma * (I - P)


def _checked_gamma(gamma: float | str) -> float | str:
    if isinstance(gamma, str):
        return _check.one_of(gamma, ("best",), "gamma")
    return _check.positive(gamma, "gamma")


def _gamma(M: Array, P: Array, gamma: float | str | None) -> float:
    """Factor gamma as given, or Aghili's choice, |M|."""
    if gamma is None:
        return float(np.linalg.norm(M, 2))
    gamma = _checked_gamma(gamma)
    return _best_gamma(M, P) if gamma == "best" else gamma


def _best_gamma(M: Array, P: Array) -> float:
    """Factor gamma for which P M + gamma (I - P) has the least condition number.

    In an orthonormal basis [Z R] the matrix is diag(I, gamma) [H N; 0 I], H = Z'MZ, N = Z'MR. The logarithms of its
    norm and of that of its inverse are convex functions of log(gamma) (three lines theorem), so a bounded scalar
    minimisation finds the minimum. The condition number is at least gamma / |H N| and at least |H N| / gamma, which
    bounds the search by its value at gamma = |M|. Without N all gamma between the extreme eigenvalues of H are best.
    """
    from scipy.optimize import minimize_scalar

    PM, across = P @ M, np.eye(len(M)) - P
    size = float(np.linalg.norm(M, 2))
    if np.linalg.norm(PM) < 1e-12 * size or np.linalg.norm(across) < 1e-12:
        return size  # no degree of freedom, or no constraint: every gamma is as good

    def condition(log_gamma: float) -> float:
        return math.log(np.linalg.cond(PM + math.exp(log_gamma) * across))

    worst = condition(math.log(size))
    top = math.log(float(np.linalg.norm(PM, 2)))
    found = minimize_scalar(condition, bounds=(top - worst, top + worst), method="bounded")
    return math.exp(found.x)


def _aghili(problem: _Problem) -> Solution:
    name, M, P = problem.way.name, problem.terms.M, problem.P
    gamma = _gamma(M, P, problem.way.gamma) if name == "aghili-gamma" else 0.0
    Mc = _inertia(name, M, P, gamma)
    c = problem.Cv
    match name:
        case "aghili":
            right = M @ c
        case "aghili-symmetric":
            right = M @ c - 2.0 * P @ (M @ c)
        case _:
            right = gamma * c
    vdot = np.linalg.solve(Mc, P @ problem.g + right)
    return Solution(vdot, problem.rank, lambda: ((Mc, len(Mc)),))


# -- multipliers --------------------------------------------------------------------------------------------------


def _lagrange(problem: _Problem) -> Solution:
    L, D = _in_mass_coordinates(problem)
    free = solve_triangular(L, problem.g, lower=True)
    G, right = D @ D.T, D @ free + problem.b  # A M^-1 A' and what stands beside it
    if problem.way.pseudoinverse is None:
        problem.full_rank("A M^-1 A'")
        lam, rank = np.linalg.solve(G, right), problem.terms.rank
    else:
        X, rank = problem.inverse(G, problem.terms.rank, squared=True)
        lam = X @ right
    vdot = solve_triangular(L, free - D.T @ lam, lower=True, transposed=True)
    return Solution(vdot, rank, lambda: ((G, rank),), problem.terms.row_scale * lam)


def _augmented(problem: _Problem) -> Solution:
    terms, n = problem.terms, problem.g.size
    T = 1.0 / np.sqrt(np.diagonal(terms.M))  # coordinates of unit inertia, and rows of their size
    rows = problem.A * T
    size = float(np.linalg.norm(rows, 2)) if rows.size else 0.0
    rows = rows / (size or 1.0)
    matrix = np.zeros((n + len(rows), n + len(rows)))
    matrix[:n, :n], matrix[n:, :n], matrix[:n, n:] = T[:, None] * terms.M * T, rows, rows.T
    right = np.concatenate([T * problem.g, -problem.b / (size or 1.0)])
    if problem.way.pseudoinverse is None:
        problem.full_rank("the augmented matrix (20)")
        x, rank = np.linalg.solve(matrix, right), terms.rank
    else:
        X, count = problem.inverse(matrix, n + terms.rank, squared=True)
        x, rank = X @ right, count - n
    lam = terms.row_scale * x[n:] / (size or 1.0)
    return Solution(T * x[:n], rank, lambda: ((matrix, n + rank),), lam)


FORMULATIONS: dict[str, Callable[[_Problem], Solution]] = {
    "gauss": _gauss,
    "null-space": _null_space,
    "null-space-svd": _null_space_svd,
    "null-space-qr": _null_space_qr,
    "null-space-partitioning": partial(_with_coordinates, _CHOICES["null-space-partitioning"]),
    "null-space-differentiable": partial(_with_coordinates, _CHOICES["null-space-differentiable"]),
    "aghili": _aghili,
    "aghili-symmetric": _aghili,
    "aghili-gamma": _aghili,
    "lagrange": _lagrange,
    "augmented": _augmented,
    "udwadia-kalaba": _udwadia_kalaba,
}


# -- functions ----------------------------------------------------------------------------------------------------

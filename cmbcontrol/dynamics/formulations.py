"""Acceleration of a constrained machine, by the formulation of your choice.

All agree where the constraints are consistent, those that stand redundant rows with redundant rows included. The
default follows Gauss' principle in mass coordinates (one Cholesky factor, one set of reflections): the cheapest, and
the only one whose rank decision does not depend on units.

Rows are brought to metres (`Terms.row_scale`) before a rank is decided. Unless told otherwise, all formulations take
the rank that the terms tell, so they agree on which rows are redundant.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT
from ..errors import ModelError, RedundantRowsError
from ..kernels import constrained, laws
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE, Terms
from .pseudoinverse import PSEUDOINVERSES, pivot_order, solve_triangular

__all__ = [
    "FORMULATIONS",
    "Formulation",
    "Motion",
    "acceleration",
    "baumgarte_gains",
    "constrained_motion",
    "constraint_inertia",
    "forward_dynamics",
]

Array = NDArray[np.float64]
Inverse = Callable[..., tuple[Array, int]]

_WORN = 30.0  # condition number of [R; A], rows of A orthonormal, over the best at its choice, from where R is renewed


class Motion(NamedTuple):
    """What the equations of motion say at a state.

    Attributes
    ----------
    vdot : ndarray, shape (nv,)
        Acceleration, rad/s2 or m/s2.
    force : ndarray, shape (nv,)
        Constraint force F = A' lam, which enters as M dv/dt + h = f - F; always unique. N or N m.
    multipliers : ndarray, shape (rows,)
        The lam with A' lam = F; the smallest where rows are redundant.
    conditioning : float
        2-norm condition number of the matrix that the formulation solves with, without singular values that its
        pseudoinverse leaves out; inf where singular. Where there are two such matrices, the larger one. 1 is best.
    rank : int
        Of A, as the formulation decided.
    """

    vdot: Array
    force: Array
    multipliers: Array
    conditioning: float
    rank: int


class _Solved(NamedTuple):
    """What a formulation found, and what with."""

    vdot: Array
    rank: int
    systems: Callable[[], tuple[tuple[Array, int], ...]]  # matrices solved with, and how many singular values count
    multipliers: Array | None = None  # where they are a by-product


@dataclass(frozen=True)
class Formulation:
    """A formulation of constrained dynamics with its options, checked.

    Parameters
    ----------
    name : str
        One of `FORMULATIONS`; see `acceleration` for their formulas.
    pseudoinverse : str or callable, optional
        One of `cmbcontrol.dynamics.pseudoinverse.PSEUDOINVERSES`, or a function
        ``(A, tolerance=..., cap=...) -> (A_plus, rank)``, such as ``functools.partial(damped, damping=1e-3)``.
        Of A in Aghili's three (P = I - A+ A and C v = -A+ b) and in the null space forms (c = -A+ b), of D in
        "udwadia-kalaba", of A M^-1 A' in "lagrange" and of the whole matrix (20) in "augmented".
    rank_tolerance : float, optional
        Singular values (or pivots) below this fraction of the largest count as zero. Unless given, the rank is that of
        the terms. The matrices of "lagrange" and "augmented" hold small singular values squared, so their tolerance is
        squared as well, and at least 1e-14. The threshold of Aghili, eqs. 70 and 71, is absolute, since a single row
        has nothing to be compared with: ``pseudoinverse=functools.partial(svd, absolute=epsilon)``.
    gamma : float or "best", optional
        Of "aghili-gamma", in units of mass: the 2-norm of M unless given (Aghili, below eq. 31); ``"best"`` is the one
        of least condition number.
    basis : callable, optional
        Of "null-space": terms -> K (nv, dof) with A K = 0 and full column rank, in place of the basis of the terms.

    Raises
    ------
    ValueError
        Where a name is unknown or a number out of range.
    TypeError
        Where an option says nothing to the formulation; the message gives the reason.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar(closure="revolute")  # three of its five rows are redundant
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> way = Formulation("udwadia-kalaba", pseudoinverse="greville")
    >>> way.acceleration(terms, [0.0] * 4).round(3)
    array([ 5.457, -9.875, -5.662,  9.881])
    >>> way.motion(terms, [0.0] * 4).rank
    2
    """

    name: str = "gauss"
    _: KW_ONLY
    pseudoinverse: str | Inverse | None = None
    rank_tolerance: float | None = None
    gamma: float | str | None = None
    basis: Callable[[Terms], ArrayLike] | None = None
    _kept: _Kept | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check.one_of(self.name, FORMULATIONS, "formulation", "name")
        if self.pseudoinverse is not None:
            if self.name == "gauss":
                raise TypeError(
                    "formulation 'gauss' makes no pseudoinverse: it factors the rows in mass coordinates. Leave "
                    "pseudoinverse= out, or take 'udwadia-kalaba', which is the same principle through D+"
                )
            if not callable(self.pseudoinverse):
                _check.one_of(self.pseudoinverse, PSEUDOINVERSES, "pseudoinverse")
        if self.rank_tolerance is not None and _check.positive(self.rank_tolerance, "rank_tolerance") >= 1.0:
            raise ValueError(f"rank_tolerance is relative and must be below 1, got {self.rank_tolerance}")
        if self.gamma is not None:
            self._only("gamma", "aghili-gamma", "only its inertia matrix M_c'' = P M + gamma (I - P) has one")
            _checked_gamma(self.gamma)
        if self.basis is not None:
            self._only("basis", "null-space", "the others compute their own K, or need none")
            if not callable(self.basis):
                raise TypeError(f"basis must be a function terms -> K, got {self.basis!r}")

    def _only(self, option: str, name: str, reason: str) -> None:
        if self.name != name:
            raise TypeError(f"formulation {self.name!r} takes no {option}=: it belongs to {name!r}, {reason}")

    def acceleration(self, terms: Terms, f: ArrayLike, target: ArrayLike | None = None) -> Array:
        """Acceleration (nv,) under the generalized force f (nv,), with A vdot = target (rows,), -b unless given."""
        _require_terms(terms)
        return self._solve(self._problem(terms, f, target)).vdot

    def motion(self, terms: Terms, f: ArrayLike, target: ArrayLike | None = None) -> Motion:
        """Acceleration, constraint force, multipliers and conditioning; parameters as in `acceleration`.

        Raises
        ------
        RedundantRowsError
            Where rows depend on each other and the formulation needs independent ones.
        ModelError
            Where the mass matrix is not positive definite, or a matrix to solve with is singular.
        """
        _require_terms(terms)
        problem = self._problem(terms, f, target)
        solved = self._solve(problem)
        force = problem.g - terms.M @ solved.vdot
        lam = solved.multipliers
        if lam is None or solved.rank < lam.size:
            lam = _at_rank(terms, solved.rank).A_pinv.T @ force
        conditioning = max((_condition(*system) for system in solved.systems()), default=1.0)
        return Motion(solved.vdot, force, lam, conditioning, solved.rank)

    def at(self, terms: Terms) -> Formulation:
        """A copy that is bound to a pose, for formulations that keep something from pose to pose; else itself.

        "null-space-differentiable" and "null-space-partitioning" keep their coordinates R, so that K is a smooth
        function of the pose. Bound again elsewhere, R stays the same until the coordinates are nearly dependent.
        """
        _require_terms(terms)
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
        """Whether it keeps coordinates from pose to pose."""
        return self._kept is not None

    def _problem(self, terms: Terms, f: ArrayLike, target: ArrayLike | None) -> _Problem:
        if terms.rank == FAILED:
            raise ModelError(f"the mass matrix is not positive definite at q = {terms.q.tolist()}")
        f = _check.vector(f, terms.h.size, "f")
        if target is not None:  # everything about velocities enters through b
            terms = replace(terms, b=-_check.vector(target, terms.b.size, "target", terms.row_names))
        return _Problem(self, self._ranked(terms), f - terms.h)

    def _ranked(self, terms: Terms) -> Terms:
        """The terms at the rank that the tolerance decides."""
        if self.rank_tolerance is None or self.pseudoinverse is not None:
            return terms
        cap = terms.rank if self.rank_tolerance >= RANK_TOLERANCE else terms.h.size
        rank = constrained.gauss_acceleration(
            terms.M, terms.A, terms.row_scale, terms.reach, terms.h, terms.b, self.rank_tolerance, cap
        )[2]
        return _at_rank(terms, rank)

    def _solve(self, problem: _Problem) -> _Solved:
        try:
            return FORMULATIONS[self.name](problem)
        except np.linalg.LinAlgError as error:
            raise ModelError(
                f"formulation {self.name!r} meets a singular matrix at q = {problem.terms.q.tolist()} ({error}); "
                "'gauss' stands every pose"
            ) from error


def _at_rank(terms: Terms, rank: int) -> Terms:
    """The same terms with another decision about their rank."""
    return terms if rank == terms.rank else replace(terms, rank=rank)


def _condition(X: Array, count: int) -> float:
    """Largest over the count-th singular value; 1 of nothing, inf of a singular matrix."""
    if count == 0:
        return 1.0
    s = np.linalg.svd(X, compute_uv=False)
    return float(s[0] / s[count - 1]) if s[count - 1] > 1e-300 else math.inf


# -- what the formulations have in common -------------------------------------------------------------------------


@dataclass(eq=False)
class _Problem:
    """One state to solve: M vdot + A' lam = g, A vdot = -b."""

    way: Formulation
    terms: Terms
    g: Array  # f - h

    @cached_property
    def A(self) -> Array:
        """Rows in metres."""
        return self.terms.row_scale[:, None] * self.terms.A

    @property
    def b(self) -> Array:
        """(dA/dt) v of the rows in metres."""
        return self.terms.row_scale * self.terms.b

    def inverse(self, X: Array, rank: int, squared: bool = False) -> tuple[Array, int]:
        """A pseudoinverse by the chosen method ("svd" unless chosen), and its rank.

        `rank` is the one that the terms tell, the largest possible where no tolerance is given. `squared`: X has the
        squares of the singular values that the tolerance is for.
        """
        given = self.way.rank_tolerance
        tolerance = RANK_TOLERANCE if given is None else given
        method = self.way.pseudoinverse or "svd"
        function = PSEUDOINVERSES[method] if isinstance(method, str) else method
        tolerance = max(tolerance**2, 1e-14) if squared else tolerance
        return function(X, tolerance=tolerance, cap=rank if given is None else None)

    @cached_property
    def _across(self) -> tuple[Array | None, int]:
        """A+ by the chosen method and the rank; None and the rank of the terms where no method is chosen."""
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
        """c = C v = -A+ b."""
        X = self._across[0]
        return self.terms.Cv if X is None else -X @ self.b

    @property
    def Z(self) -> Array:
        return _at_rank(self.terms, self.rank).Z

    def in_null_space(self, K: Array, c: Array, rank: int, *systems: tuple[Array, int]) -> _Solved:
        """vdot = c + K (K'MK)^-1 K'(g - M c) (Spencer, eqs. 2.43b and 3.5b)."""
        M = self.terms.M
        reduced = K.T @ M @ K
        vdot = c + K @ np.linalg.solve(reduced, K.T @ (self.g - M @ c))
        return _Solved(vdot, rank, lambda: ((reduced, len(reduced)), *systems))

    def full_rank(self, matrix: str) -> None:
        """Refuse redundant rows."""
        rank, rows = self.terms.rank, self.terms.b.size
        if rank < rows:
            raise RedundantRowsError(
                f"formulation {self.way.name!r} needs independent rows, but {rows - rank} of the {rows} constraint "
                f"rows are redundant (rank {rank} at q = {np.round(self.terms.q, 6).tolist()}), so {matrix} is "
                "singular. Give it a pseudoinverse (pseudoinverse='svd', for one), or take a formulation that stands "
                "redundant rows: 'gauss', 'udwadia-kalaba', 'aghili' or one of the null space forms"
            )


# -- Gauss' principle ---------------------------------------------------------------------------------------------


def _gauss(problem: _Problem) -> _Solved:
    terms = problem.terms
    tolerance = problem.way.rank_tolerance or RANK_TOLERANCE
    vdot, lam, rank = constrained.gauss_acceleration(
        terms.M, terms.A, terms.row_scale, terms.reach, problem.g, -terms.b, tolerance, terms.rank
    )
    return _Solved(vdot, rank, lambda: ((_in_mass_coordinates(problem)[1], rank),), lam)


def _in_mass_coordinates(problem: _Problem) -> tuple[Array, Array]:
    """L with M = L L', and D = A L'^-1 with rows in metres."""
    L = np.linalg.cholesky(problem.terms.M)
    return L, solve_triangular(L, problem.A.T, lower=True).T


def _udwadia_kalaba(problem: _Problem) -> _Solved:
    L, D = _in_mass_coordinates(problem)
    free = solve_triangular(L, problem.g, lower=True)  # L' vdot_f
    X, rank = problem.inverse(D, problem.terms.rank)
    z = X @ (-problem.b - D @ free)
    lam = problem.terms.row_scale * -(X.T @ z)
    return _Solved(solve_triangular(L, free + z, lower=True, transposed=True), rank, lambda: ((D, rank),), lam)


# -- null space ---------------------------------------------------------------------------------------------------


def _null_space(problem: _Problem) -> _Solved:
    basis = problem.way.basis
    K = problem.Z if basis is None else _checked_basis(basis(problem.terms), problem)
    return problem.in_null_space(K, problem.Cv, problem.rank, (problem.A, problem.rank))


def _checked_basis(K: ArrayLike, problem: _Problem) -> Array:
    """A user's K, if it spans N(A)."""
    nv, dof = problem.g.size, problem.g.size - problem.rank
    K = _check.matrix(K, (nv, dof), f"K of basis= (velocities x freedoms; rank {problem.rank})")
    s = np.linalg.svd(problem.terms.reach[:, None] * K, compute_uv=False)
    if dof and not s[-1] > DEPENDENT * s[0]:
        raise ValueError(
            f"K of basis= must have {dof} independent columns; its singular values are {s[0]:.3g} to {s[-1]:.3g} "
            f"at q = {np.round(problem.terms.q, 6).tolist()}"
        )
    left = np.abs(problem.A @ K)
    if left.size and left.max() > 1e-8 * (np.abs(problem.A) @ np.abs(K)).max():
        i, k = np.unravel_index(left.argmax(), left.shape)
        row = problem.terms.row_names[i] if problem.terms.row_names else f"row {i}"
        raise ValueError(
            f"K of basis= must satisfy A K = 0, but {row} gives {left[i, k]:.3g} in column {k} "
            f"at q = {np.round(problem.terms.q, 6).tolist()}"
        )
    return K


def _null_space_svd(problem: _Problem) -> _Solved:
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


def _null_space_qr(problem: _Problem) -> _Solved:
    A, rank = problem.A, problem.rank
    Q = np.linalg.qr(A[_pivots(A.T, rank)].T, mode="complete")[0]
    row_space = Q[:, :rank]
    if problem.way.pseudoinverse is None:
        c = row_space @ np.linalg.lstsq(A @ row_space, -problem.b, rcond=None)[0]
    else:
        c = problem.Cv
    return problem.in_null_space(Q[:, rank:], c, rank, (A, rank))


def _pivots(A: Array, rank: int) -> NDArray[np.intp]:
    """Columns of A that span its columns, by pivoted QR."""
    return pivot_order(A, 0.0, rank)[0][:rank] if rank else np.zeros(0, dtype=np.intp)


def _partition(terms: Terms) -> Array:
    """R_q of generalized coordinate partitioning (dof, nv): the rows of the identity of independent coordinates.

    Dependent ones are the pivots of the columns of A in units of equal inertia.
    """
    columns = terms.row_scale[:, None] * terms.A / np.sqrt(np.diagonal(terms.M))
    return np.delete(np.eye(terms.h.size), _pivots(columns, terms.rank), axis=0)


@dataclass(frozen=True, eq=False)
class _Kept:
    """Independent coordinates y = R q, and how good they were when they were chosen."""

    R: Array
    best: float

    @classmethod
    def chosen(cls, R: Array, terms: Terms) -> _Kept:
        return cls(R, np.linalg.cond(_stack(R, terms)[0]))

    def fits(self, terms: Terms) -> bool:
        """Whether they are still independent at another pose."""
        if len(self.R) != terms.dof:
            return False
        return bool(np.linalg.cond(_stack(self.R, terms)[0]) < _WORN * self.best)


def _stack(R: Array, terms: Terms) -> tuple[Array, Array]:
    """[R; A] with an orthonormal basis of the rows in place of A, which stands redundant ones; and that basis."""
    rows = laws.constraint_split(terms.A, terms.b, terms.row_scale, terms.rank)[0].T
    return np.vstack([R, rows]), rows


def _with_coordinates(choose: Callable[[Terms], Array], problem: _Problem) -> _Solved:
    """K and K' y_v for y = R q (Spencer, eqs. 2.44 and 2.45); R is kept where the formulation is bound."""
    terms, kept = _at_rank(problem.terms, problem.rank), problem.way._kept
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
    """Aghili's constraint inertia matrix M_c (eq. 23), M_c' (28) or M_c'' (29), shape (nv, nv).

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
    """Aghili's choice, gamma = |M|, unless given."""
    if gamma is None:
        return float(np.linalg.norm(M, 2))
    gamma = _checked_gamma(gamma)
    return _best_gamma(M, P) if gamma == "best" else gamma


def _best_gamma(M: Array, P: Array) -> float:
    """The gamma for which P M + gamma (I - P) has the least condition number.

    In an orthonormal basis [Z R] the matrix is diag(I, gamma) [H N; 0 I], H = Z'MZ, N = Z'MR. The logarithms of its
    norm and of that of its inverse are convex functions of log(gamma) (three lines theorem), so a bounded scalar
    minimisation finds the minimum. The condition number is at least gamma / |H N| and at least |H N| / gamma, which
    bounds the search by its value at gamma = |M|. Without N all gamma between the extreme eigenvalues of H are best.
    """
    from scipy.optimize import minimize_scalar

    PM, across = P @ M, np.eye(len(M)) - P
    size = float(np.linalg.norm(M, 2))
    if np.linalg.norm(PM) < 1e-12 * size or np.linalg.norm(across) < 1e-12:
        return size  # no freedom, or no constraint: every gamma is as good

    def condition(log_gamma: float) -> float:
        return math.log(np.linalg.cond(PM + math.exp(log_gamma) * across))

    worst = condition(math.log(size))
    top = math.log(float(np.linalg.norm(PM, 2)))
    found = minimize_scalar(condition, bounds=(top - worst, top + worst), method="bounded")
    return math.exp(found.x)


def _aghili(problem: _Problem) -> _Solved:
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
    return _Solved(vdot, problem.rank, lambda: ((Mc, len(Mc)),))


# -- multipliers --------------------------------------------------------------------------------------------------


def _lagrange(problem: _Problem) -> _Solved:
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
    return _Solved(vdot, rank, lambda: ((G, rank),), problem.terms.row_scale * lam)


def _augmented(problem: _Problem) -> _Solved:
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
    return _Solved(T * x[:n], rank, lambda: ((matrix, n + rank),), lam)


FORMULATIONS: dict[str, Callable[[_Problem], _Solved]] = {
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


def _require_terms(terms: Terms) -> None:
    _check.instance(terms, Terms, "terms", "from plant.terms(q, v)")


def baumgarte_gains(step: float) -> tuple[float, float]:
    """Baumgarte's (alpha, beta) for steps of length h: (1 / h, sqrt(2) / h).

    They follow from asking that the residual vanish at the end of the step: to second order
    phi(t + h) = phi + h phi' + h^2 phi'' / 2 = 0, that is phi'' + (2 / h) phi' + (2 / h^2) phi = 0, to be compared with
    phi'' + 2 alpha phi' + beta^2 phi = 0 (de Falco, eq. 30).

    Examples
    --------
    >>> baumgarte_gains(0.5)
    (2.0, 2.8284271247461903)
    """
    h = _check.positive(step, "step")
    return 1.0 / h, math.sqrt(2.0) / h


def forward_dynamics(
    plant: Plant,
    q: ArrayLike,
    v: ArrayLike,
    u: ArrayLike | None = None,
    *,
    formulation: str | Formulation = "gauss",
    **options: Any,
) -> Array:
    """Acceleration of the machine under motor efforts u.

    Parameters
    ----------
    plant : Plant
    q, v : array_like, shape (nq,) and (nv,)
    u : array_like, shape (nu,), optional
        Motor efforts, N or N m; zero unless given.
    formulation : str or Formulation
        One of `FORMULATIONS`; see `acceleration`.
    **options
        ``pseudoinverse``, ``rank_tolerance``, ``baumgarte``, ``gamma``, ``basis``: see `acceleration`.

    Returns
    -------
    vdot : ndarray, shape (nv,)
        rad/s2 or m/s2.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> forward_dynamics(plant, plant.assemble(left=2.1, right=1.0), [0.0] * 4).round(3)
    array([ 5.457, -9.875, -5.662,  9.881])
    """
    _check.plant(plant)
    if isinstance(plant, Mechanism) and formulation == "gauss" and not options:  # one compiled call
        q = plant.configuration(q)
        v = _check.vector(v, plant.nv, "v", plant.velocity_names)
        u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
        vdot, rank = constrained.forward_dynamics(plant.model, q, v, u, RANK_TOLERANCE)
        if rank == FAILED:
            raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q.tolist()}")
        return vdot
    terms = plant.terms(q, v)
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    return acceleration(terms, terms.B @ u, formulation=formulation, **options)


def acceleration(
    terms: Terms,
    f: ArrayLike,
    *,
    formulation: str | Formulation = "gauss",
    baumgarte: Sequence[float] | None = None,
    **options: Any,
) -> Array:
    """Acceleration under the generalized force f.

    Parameters
    ----------
    terms : Terms
    f : array_like, shape (nv,)
        Joint forces, N or N m.
    formulation : str or Formulation
        ``"gauss"``: nearest to M^-1 (f - h) in the metric of M among those with A vdot + b = 0.
        ``"null-space"``: c + K (K'MK)^-1 K'(f - h - M c), A K = 0, c = -A+ b (Spencer, eq. 3.5b), with the orthonormal
        K = Z of the terms, or a user's (``basis``).
        ``"null-space-svd"``: the same with K and c from singular values (Spencer, eqs. 3.1 to 3.5b).
        ``"null-space-qr"``: the same with K and c from a pivoted QR of A'.
        ``"null-space-partitioning"``: generalized coordinate partitioning: K = [R; A]^-1 [I; 0] and
        c = -[R; A]^-1 [0; b], with rows of the identity for R (eqs. 2.44 and 2.45).
        ``"null-space-differentiable"``: the same with orthonormal R, which stays the same from pose to pose in a run.
        ``"aghili"``: M_c vdot = P(f - h) + M C v, M_c = M + PM - (PM)' (eqs. 22-24).
        ``"aghili-symmetric"``: M_c' = PMP + (I-P)M(I-P), right side P(f - h) + (I - 2P) M C v (eqs. 27-28).
        ``"aghili-gamma"``: M_c'' = PM + gamma (I - P), right side P(f - h) + gamma C v (eq. 29);
        ``gamma`` in units of mass, the 2-norm of M unless given.
        ``"lagrange"``: lam = (A M^-1 A')^-1 (A M^-1 (f - h) + b), vdot = M^-1 (f - h - A' lam) (Spencer, eq. 2.4).
        ``"augmented"``: [M A'; A 0] [vdot; lam] = [f - h; -b] (de Falco, eq. 20), in coordinates of unit inertia.
        ``"udwadia-kalaba"``: vdot_f + M^-1/2 D+ (-b - A vdot_f), D = A M^-1/2, vdot_f = M^-1 (f - h) (de Falco,
        eqs. 22 to 29). M^-1/2 is the inverse of the Cholesky factor: any root gives the same vdot, since two of them
        differ by a rotation Q, and (D Q)+ = Q' D+.
    baumgarte : (float, float), optional
        alpha and beta, 1/s: A vdot = -b - 2 alpha A v - beta^2 phi (de Falco, eq. 30).
    **options
        ``pseudoinverse``, ``rank_tolerance``, ``gamma``, ``basis``: see `Formulation`.

    Returns
    -------
    vdot : ndarray, shape (nv,)

    Raises
    ------
    RedundantRowsError
        Where rows depend on each other, by "lagrange" and "augmented" without a pseudoinverse.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> bool(np.allclose(acceleration(terms, np.zeros(4)), acceleration(terms, np.zeros(4), formulation="aghili")))
    True
    """
    _require_terms(terms)
    if formulation == "gauss" and baumgarte is None and not options:
        f = _check.vector(f, terms.h.size, "f")
        return constrained.gauss_acceleration(
            terms.M, terms.A, terms.row_scale, terms.reach, f - terms.h, -terms.b, RANK_TOLERANCE, terms.rank
        )[0]
    return _formulation(formulation, options).acceleration(terms, f, _target(terms, baumgarte))


def constrained_motion(
    terms: Terms,
    f: ArrayLike,
    *,
    formulation: str | Formulation = "gauss",
    baumgarte: Sequence[float] | None = None,
    **options: Any,
) -> Motion:
    """Acceleration, constraint force, multipliers, and the conditioning of the formulation; parameters as above.

    Parameters
    ----------
    terms, f, formulation, baumgarte, **options
        As in `acceleration`.

    Returns
    -------
    Motion

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> found = constrained_motion(terms, [0.0] * 4, formulation="lagrange")
    >>> bool(np.allclose(terms.A.T @ found.multipliers, found.force)), found.rank
    (True, 2)
    """
    _require_terms(terms)
    return _formulation(formulation, options).motion(terms, f, _target(terms, baumgarte))


def _formulation(given: str | Formulation, options: dict[str, Any]) -> Formulation:
    """A formulation by name with its options, or one that is made already."""
    if not isinstance(given, Formulation):
        return Formulation(given, **options)
    if any(value is not None for value in options.values()):
        raise TypeError(f"a Formulation has its options itself; leave out {', '.join(options)}")
    return given


def _target(terms: Terms, baumgarte: Sequence[float] | None) -> Array | None:
    """What A vdot has to be under Baumgarte's stabilisation; None without."""
    if baumgarte is None:
        return None
    alpha, beta = _check.vector(baumgarte, 2, "baumgarte", ("alpha", "beta"))
    _check.positive(min(alpha, beta), "baumgarte (alpha, beta)", zero=True)
    return -terms.b - 2.0 * alpha * (terms.A @ terms.v) - beta**2 * terms.phi

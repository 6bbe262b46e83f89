"""Accelerations of a constrained machine, by Gauss' principle or other formulations.

The default is Gauss' principle in mass coordinates (one Cholesky factor, one set of reflections): the cheapest
formulation, and the only one whose rank decision does not depend on units. Rows are brought to metres
(`Terms.row_scale`) before a rank is decided. `Formulation` is the base of others, which
`cmbcontrol.papers.formulations` has for comparison.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, ModelError
from ..kernels import constrained
from ..kernels.generated import CONDITIONS, at_state
from ..model.accelerations import solved
from ..model.evaluation import require_motions_followed
from ..model.generated import code_of
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE, Terms

__all__ = [
    "ConstrainedMotion",
    "Formulation",
    "Gauss",
    "Solution",
    "acceleration",
    "at_rank",
    "baumgarte_gains",
    "constrained_motion",
    "forward_dynamics",
]

Array = NDArray[np.float64]


class ConstrainedMotion(NamedTuple):
    """Acceleration, constraint force and multipliers at a state, with the conditioning of their computation.

    Attributes
    ----------
    vdot : ndarray, shape (nv,)
        Acceleration, rad/s2 or m/s2.
    force : ndarray, shape (nv,)
        Constraint force F = A' lam, which enters as M dv/dt + h = f - F; always unique. N or N m.
    multipliers : ndarray, shape (rows,)
        Multipliers lam with A' lam = F; the smallest where rows are redundant.
    conditioning : float
        2-norm condition number of the matrix that the formulation solves with, without singular values that its
        pseudoinverse leaves out; inf where singular. Where there are two such matrices, the larger one. 1 is best.
    rank : int
        Rank of A, as the formulation decided it.
    """

    vdot: Array
    force: Array
    multipliers: Array
    conditioning: float
    rank: int


class Solution(NamedTuple):
    """Acceleration that a formulation found, and the matrices that it solved with."""

    vdot: Array
    rank: int
    systems: Callable[[], tuple[tuple[Array, int], ...]]  # matrices solved with, and how many singular values count
    multipliers: Array | None = None  # where they are a by-product
    friction: Array | float = 0.0  # in proportion to loads


@dataclass(frozen=True)
class Formulation(ABC):
    """Base of the formulations of constrained dynamics: M vdot + A' lam = f - h with A vdot = -b.

    A formulation defines `_solve`. Pass an object as ``formulation=`` to `acceleration`, `constrained_motion`,
    `forward_dynamics` and `simulate`.

    Parameters
    ----------
    rank_tolerance : float, optional
        Singular values (or pivots) below this fraction of the largest count as zero. By default, the rank is that of
        the terms.
    """

    _: KW_ONLY
    rank_tolerance: float | None = None
    name: ClassVar[str] = ""  # what results call it

    def __post_init__(self) -> None:
        if self.rank_tolerance is not None and _check.positive(self.rank_tolerance, "rank_tolerance") >= 1.0:
            raise InputError(f"rank_tolerance is relative and must be below 1, got {self.rank_tolerance}")

    @abstractmethod
    def _solve(self, terms: Terms, g: Array) -> Solution:
        """Solve M vdot + A' lam = g with A vdot = -b; raise LinAlgError where the formulation cannot."""

    def acceleration(self, terms: Terms, f: ArrayLike, target: ArrayLike | None = None) -> Array:
        """Acceleration (nv,) under the generalized force f (nv,), with A vdot = target (rows,); defaults to -b."""
        return self._solution(*self._problem(terms, f, target)).vdot

    def motion(self, terms: Terms, f: ArrayLike, target: ArrayLike | None = None) -> ConstrainedMotion:
        """Acceleration, constraint force, multipliers and conditioning; parameters as in `acceleration`.

        Raises
        ------
        RedundantRowsError
            Where rows depend on each other and the formulation needs independent ones.
        ModelError
            Where the mass matrix is not positive definite, or a matrix to solve with is singular.
        """
        problem, g = self._problem(terms, f, target)
        solution = self._solution(problem, g)
        force = g - terms.M @ solution.vdot - solution.friction
        lam = solution.multipliers
        if lam is None or solution.rank < lam.size:
            lam = at_rank(terms, solution.rank).A_pinv.T @ force
        conditioning = max((_condition(*system) for system in solution.systems()), default=1.0)
        return ConstrainedMotion(solution.vdot, force, lam, conditioning, solution.rank)

    def at(self, terms: Terms) -> Formulation:
        """Formulation bound to a configuration, for those that keep something from one configuration to the next."""
        _require_terms(terms)
        return self

    @property
    def bound(self) -> bool:
        """Whether the formulation keeps something from configuration to configuration."""
        return False

    def _problem(self, terms: Terms, f: ArrayLike, target: ArrayLike | None) -> tuple[Terms, Array]:
        """Terms at the rank that the tolerance decides, with b for the target of A vdot, and f - h."""
        _require_terms(terms)
        if terms.rank == FAILED:
            raise ModelError(f"the mass matrix is not positive definite at q = {terms.q.tolist()}")
        f = _check.vector(f, terms.h.size, "f")
        if target is not None:  # everything about velocities enters through b
            terms = replace(terms, b=-_check.vector(target, terms.b.size, "target", terms.row_names))
        return self._ranked(terms), f - terms.h

    def _ranked(self, terms: Terms) -> Terms:
        if self.rank_tolerance is None:
            return terms
        cap = terms.rank if self.rank_tolerance >= RANK_TOLERANCE else terms.h.size
        rank = constrained.gauss_acceleration(
            terms.M, terms.A, terms.row_scale, terms.unit_lengths, terms.h, terms.b, self.rank_tolerance, cap
        )[2]
        return at_rank(terms, rank)

    def _solution(self, terms: Terms, g: Array) -> Solution:
        if terms.friction is not None and not isinstance(self, Gauss):
            raise ModelError(
                f"formulation {self.name!r} does not know friction in proportion to loads, as of "
                f"{terms.friction.names[0]!r}: leave formulation= out"
            )
        try:
            return self._solve(terms, g)
        except np.linalg.LinAlgError as error:
            raise ModelError(
                f"formulation {self.name!r} meets a singular matrix at q = {terms.q.tolist()} ({error}); the default "
                "stands every configuration"
            ) from error


@dataclass(frozen=True)
class Gauss(Formulation):
    """Gauss' principle: the acceleration nearest to M^-1 (f - h) in the metric of M with A vdot + b = 0. The default.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar(closure="revolute")  # three of its five rows are redundant
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> Gauss(rank_tolerance=1e-8).motion(terms, [0.0] * 4).rank
    2
    """

    name: ClassVar[str] = "gauss"

    def _solve(self, terms: Terms, g: Array) -> Solution:
        vdot, lam, rank, friction, _ = solved(terms, g, tolerance=self.rank_tolerance or RANK_TOLERANCE)

        def systems() -> tuple[tuple[Array, int], ...]:
            return ((np.linalg.solve(np.linalg.cholesky(terms.M), (terms.row_scale[:, None] * terms.A).T).T, rank),)

        return Solution(vdot, rank, systems, lam, friction)


def at_rank(terms: Terms, rank: int) -> Terms:
    """Terms with another decision about their rank."""
    return terms if rank == terms.rank else replace(terms, rank=rank)


def _condition(X: Array, count: int) -> float:
    """Largest over the count-th singular value of X; 1 for count 0, inf for a singular matrix."""
    if count == 0:
        return 1.0
    s = np.linalg.svd(X, compute_uv=False)
    return float(s[0] / s[count - 1]) if s[count - 1] > 1e-300 else math.inf


def _require_terms(terms: Terms) -> None:
    _check.instance(terms, Terms, "terms", "from plant.terms(q, v)")


def baumgarte_gains(step: float) -> tuple[float, float]:
    """Baumgarte's (alpha, beta) for steps of length h: (1 / h, sqrt(2) / h).

    They follow from a residual that vanishes at the end of the step: to second order
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
    formulation: Formulation | None = None,
    baumgarte: Sequence[float] | None = None,
) -> Array:
    """Acceleration of the machine under motor efforts u (Aghili, eq. 25).

    Parameters
    ----------
    plant : Plant
    q, v : array_like, shape (nq,) and (nv,)
    u : array_like, shape (nu,), optional
        Motor efforts, N or N m; defaults to zero.
    formulation : Formulation, optional
        Defaults to Gauss' principle.
    baumgarte : (float, float), optional
        See `acceleration`.

    Returns
    -------
    vdot : ndarray, shape (nv,)
        rad/s2 or m/s2.

    Raises
    ------
    InputError
        Where prescribed motions contradict each other or the loops.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> forward_dynamics(plant, plant.assemble(left=2.1, right=1.0), [0.0] * 4).round(3)
    array([ 5.457, -9.875, -5.662,  9.881])
    """
    _check.plant(plant)
    if u is None:
        u = np.zeros(plant.nu)
    require_motions_followed(plant, q, v)
    if isinstance(plant, Mechanism) and formulation is None and baumgarte is None:  # one compiled call
        fits, nv = _check.fits, plant.nv
        if fits(v, nv) and fits(q, plant.nq) and fits(u, plant.nu) and not plant.quaternions:
            vdot = _by_code(plant, q, v, u)  # which trusts no number that is not finite
            if vdot is not None:
                return vdot
        q = plant.configuration(q)
        v = _check.vector(v, plant.nv, "v", plant.velocity_names)
        u = _check.vector(u, plant.nu, "u", plant.actuator_names)
        vdot = _by_code(plant, q, v, u)
        if vdot is not None:
            return vdot
        _require_moderate(plant, q, v, u)
        with plant._scratch() as work:
            vdot, rank = constrained.forward_dynamics(plant.arrays, q, v, u, RANK_TOLERANCE, work)
        if rank == FAILED:
            raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q.tolist()}")
        if np.isfinite(vdot).all():
            return vdot  # else friction has no solution, which is told by name
    terms = plant.terms(q, v)
    u = _check.vector(u, plant.nu, "u", plant.actuator_names)
    _require_moderate(plant, terms.q, terms.v, u)
    return acceleration(terms, terms.B @ u, formulation=formulation, baumgarte=baumgarte)


def _require_moderate(plant: Plant, q: Array, v: Array, u: Array) -> None:
    _check.moderate(q, "q", plant.position_names)
    _check.moderate(v, "v", plant.velocity_names)
    _check.moderate(u, "u", plant.actuator_names)


def _by_code(plant: Mechanism, q: Array, v: Array, u: Array) -> Array | None:
    """Acceleration by generated code, for arrays as kernels take them; None where kernels have to compute it."""
    code = code_of(plant, q)
    address = 0 if code is None else code.address("forward")
    if code is None or not address:
        return None
    count = CONDITIONS + plant.nv + len(plant.row_names)
    y, trusted = at_state(address, code.p, q, v, u, len(code.rows), code.reference, count)
    return y[CONDITIONS : CONDITIONS + plant.nv] if trusted else None


def acceleration(
    terms: Terms,
    f: ArrayLike,
    *,
    formulation: Formulation | None = None,
    baumgarte: Sequence[float] | None = None,
) -> Array:
    """Acceleration under the generalized force f.

    Parameters
    ----------
    terms : Terms
    f : array_like, shape (nv,)
        Joint forces, N or N m.
    formulation : Formulation, optional
        Defaults to Gauss' principle; others are in `cmbcontrol.papers.formulations`.
    baumgarte : (float, float), optional
        alpha and beta, 1/s: A vdot = -b - 2 alpha A v - beta^2 phi (de Falco, eq. 30).

    Returns
    -------
    vdot : ndarray, shape (nv,)

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> acceleration(terms, [0.0] * 4).round(3)
    array([ 5.457, -9.875, -5.662,  9.881])
    """
    _require_terms(terms)
    if formulation is None and baumgarte is None:
        f = _check.vector(f, terms.h.size, "f")
        return solved(terms, f - terms.h).vdot
    return _formulation(formulation).acceleration(terms, f, _target(terms, baumgarte))


def constrained_motion(
    terms: Terms,
    f: ArrayLike,
    *,
    formulation: Formulation | None = None,
    baumgarte: Sequence[float] | None = None,
) -> ConstrainedMotion:
    """Acceleration, constraint force, multipliers, and the conditioning of the formulation, at a state.

    Parameters
    ----------
    terms, f, formulation, baumgarte
        As in `acceleration`.

    Returns
    -------
    Motion

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> found = constrained_motion(terms, [0.0] * 4)
    >>> bool(np.allclose(terms.A.T @ found.multipliers, found.force)), found.rank
    (True, 2)
    """
    _require_terms(terms)
    return _formulation(formulation).motion(terms, f, _target(terms, baumgarte))


def _formulation(given: Formulation | None) -> Formulation:
    """Formulation that is given, checked; Gauss' principle by default."""
    if given is None:
        return Gauss()
    return _check.instance(given, Formulation, "formulation", "such as cmbcontrol.papers.formulations.NamedFormulation")


def _target(terms: Terms, baumgarte: Sequence[float] | None) -> Array | None:
    """Target (rows,) of A vdot under Baumgarte's stabilisation; None without."""
    if baumgarte is None:
        return None
    alpha, beta = _check.vector(baumgarte, 2, "baumgarte", ("alpha", "beta"))
    _check.positive(min(alpha, beta), "baumgarte (alpha, beta)", zero=True)
    return -terms.b - 2.0 * alpha * terms.row_rate - beta**2 * terms.phi

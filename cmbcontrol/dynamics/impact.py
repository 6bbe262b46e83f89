"""Velocity jumps: effect of loops that close at once on a moving machine, and contacts that take part in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, ModelError, TooManyStatesError
from ..kernels import constrained
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE, Terms

__all__ = ["Impact", "impact", "supporting"]

Array = NDArray[np.float64]
Found = TypeVar("Found")
_MANY = 4096  # combinations of contacts that are looked at where need be: 12 that are open or closed
_PATIENCE = 4  # rounds of exchanges of all contacts that may go by before fewer contradict their states
_ROUNDS, _EACH = 20, 4  # exchanges, and more for each contact, before combinations are looked at


@dataclass(frozen=True, eq=False)
class Impact:
    """Jump of the velocity, with its impulse and the lost energy.

    Attributes
    ----------
    v : ndarray, shape (nv,)
        Velocity after the jump.
    impulse : ndarray, shape (nv,)
        Impulse of the loops A' mu, N s or N m s: M (v_before - v) = A' mu. Always unique.
    multipliers : ndarray, shape (rows,)
        Smallest mu; -mu pushes body b along the row, as the multipliers of forces do.
    loss : float
        Lost kinetic energy, J: the work mu' A (v_before + v) / 2 of the impulse at the mean velocity.
    """

    v: Array
    impulse: Array
    multipliers: Array
    loss: float


def impact(plant: Plant, q: ArrayLike, v: ArrayLike, restitution: float | Mapping[str, ArrayLike] = 0.0) -> Impact:
    """Velocity jump when all loops of the plant act at once, with its impulse and the lost energy.

    The velocity after it is the nearest to the one before, in the metric of M, with

        A v_after = -E A v,      M (v_after - v) = -A' mu,

    E the coefficients of restitution. Without restitution it is the projection onto the loops, and the machine loses
    the kinetic energy of the velocity that is removed, (v - v_after)' M (v - v_after) / 2; with the same e for all rows
    (1 - e^2) times that of the inelastic impact. Loops that were closed before have A v = 0 and stay closed. Rows of
    prescribed motions have A v = dr/dt in place of zero before and after.

    Parameters
    ----------
    plant : Plant
        With the loops that act; see `Mechanism.without`.
    q : array_like, shape (nq,)
        Configuration, with these loops closed.
    v : array_like, shape (nv,)
        Velocity before.
    restitution : float or mapping of loop name to float or (rows,)
        E, from 0 (the parts stay together) to 1 (nothing is lost); zero for loops that are not named.

    Raises
    ------
    ValueError
        Where a coefficient is outside 0 to 1, or belongs to no loop.

    Notes
    -----
    Aghili's projection (section 5.3) applied to velocities; the loss is Carnot's theorem, the work of an impulse that
    of Kelvin. Where redundant rows ask for different restitution, independent ones decide.

    Examples
    --------
    >>> from cmbcontrol import Body, Frame, Mechanism, PointOnPlane, Prismatic
    >>> ball = Body("ball", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    >>> floor = PointOnPlane("floor", "ground", "ball")
    >>> plant = Mechanism("ball", [ball], [Prismatic("height", "ground", "ball")], [floor])
    >>> hit = impact(plant, [0.0], [-3.0], restitution=0.5)
    >>> hit.v, hit.multipliers, hit.loss
    (array([1.5]), array([-9.]), 6.75)
    """
    _check.plant(plant)
    q = _check.vector(q, plant.nq, "q", plant.position_names)
    v = _check.vector(v, plant.nv, "v", plant.velocity_names)
    E = np.zeros(len(plant.row_names))
    named = restitution if isinstance(restitution, Mapping) else dict.fromkeys(plant.row_slices, restitution)
    for loop, e in named.items():
        if loop not in plant.row_slices:
            raise InputError(f"restitution: {_check.unknown(loop, plant.row_slices, 'loop')}")
        rows = plant.row_slices[loop]
        E[rows] = _coefficients(loop, e, rows.stop - rows.start)
    terms = plant.terms(q, v)
    rates = plant.row_rates
    return jump(terms, np.arange(E.size), v, rates - E * (terms.A @ v - rates))


def _coefficients(loop: str, e: ArrayLike, count: int) -> Array:
    """Coefficients of restitution of a loop's rows (rows,), checked."""
    e = _check.numbers(e, f"the restitution of {loop!r}")
    if e.shape not in ((), (count,)):
        raise InputError(
            f"the restitution of {loop!r} must be one number, or {count}, one per row, got shape {e.shape}"
        )
    if not np.all((e >= 0.0) & (e <= 1.0)):
        raise InputError(f"the restitution of {loop!r} must be from 0 to 1, got {e.tolist()}")
    return np.broadcast_to(e, (count,))


def jump(terms: Terms, rows: NDArray[np.int64], v: Array, target: Array) -> Impact:
    """Jump from v to the nearest velocity with A v = target, by impulses of the chosen rows alone."""
    v_after, impulse, mu, rank = nearest(terms, rows, terms.M @ v, target)
    if rank < rows.size:  # redundant rows share
        A, scale = terms.A[rows], terms.row_scale[rows]
        scale.setflags(write=False)  # as kernels know it
        mu = replace(terms, A=A, b=np.zeros(rows.size), row_scale=scale, rank=rank).A_pinv.T @ impulse
    mean = 0.5 * (v + v_after)
    return Impact(v_after, impulse, mu, float(impulse @ mean))


def nearest(terms: Terms, rows: NDArray[np.int64], force: Array, target: Array) -> tuple[Array, Array, Array, int]:
    """Vector x nearest to M^-1 force, in the metric of M, with A x = target on the chosen rows.

    Returns x, A' lam, multipliers lam of these rows, and the rank. x is an acceleration or a velocity.
    """
    A, scale = terms.A[rows], terms.row_scale[rows]
    scale.setflags(write=False)  # as kernels know it
    x, lam, rank = constrained.gauss_acceleration(
        terms.M, A, scale, terms.unit_lengths, force, target, RANK_TOLERANCE, force.size
    )
    if rank == FAILED:
        raise ModelError(f"the mass matrix is not positive definite at q = {terms.q.tolist()}")
    return x, A.T @ lam, lam, rank


def supporting(
    allowed: Sequence[tuple[str, ...]],
    solve: Callable[[tuple[str, ...]], tuple[Found, Array, tuple[str, ...]]],
) -> tuple[tuple[str, ...], Found] | None:
    """States of several contacts, such as sticking or open, that are consistent with their forces and motions.

    The complementarity problem of the contacts, by exchanges of states. It begins with the first state of each. All
    that contradict their states change at once, which takes a few rounds however many there are (block pivoting:
    Kostreva 1978, Judice and Pires 1994). Where this gets no further, that one changes which contradicts its state
    most, as long as this leads to states that were not tried. Where this gets no further either, all combinations
    are tried of those that have contradicted their states, earlier states first.

    Parameters
    ----------
    allowed : sequence of tuples of str
        States that each contact may have, such as "sticks", "slides", "open"; the preferred one first.
    solve : callable
        States -> the result; for each contact the margin of its state, negative where it contradicts the result; and
        the state that it should have in that case.

    Returns
    -------
    states, found
        Or None where no states fit (possible with contacts that stick or slide).

    Raises
    ------
    TooManyStatesError
        Where there are too many combinations to try.
    """
    tried: set[tuple[str, ...]] = set()
    unsettled: set[int] = set()
    states = tuple(choice[0] for choice in allowed)
    fewest, patience = len(allowed) + 1, _PATIENCE
    while states not in tried and len(tried) < _ROUNDS + _EACH * len(allowed):
        tried.add(states)
        found, margin, instead = solve(states)
        wrong = [int(i) for i in np.argsort(margin) if margin[i] < 0.0]
        if not wrong:
            return states, found
        unsettled.update(wrong)
        patience = _PATIENCE if len(wrong) < fewest else patience - 1
        fewest = min(fewest, len(wrong))
        changes = [i for i in wrong if instead[i] in allowed[i]]
        for some in ([changes] if patience > 0 else []) + [[i] for i in changes]:
            changed = tuple(instead[i] if i in some else x for i, x in enumerate(states))
            if changed not in tried:
                states = changed
                break
    some = sorted(unsettled)
    count = int(np.prod([float(len(allowed[i])) for i in some]))
    if count > _MANY:
        raise TooManyStatesError(
            f"{len(some)} contacts close, stick or slide at once, in more than the {_MANY} ways that can be looked at, "
            "and none of those that each of them asks for fits the others; leave out those that others imply"
        )
    rest = dict(enumerate(states))
    ways = [
        (sum(allowed[i].index(x) for i, x in zip(some, way, strict=True)), way)
        for way in product(*(allowed[i] for i in some))
    ]
    for _, way in sorted(ways, key=lambda pair: pair[0]):
        states = tuple((rest | dict(zip(some, way, strict=True))).values())
        if states not in tried:
            found, margin, _ = solve(states)
            if not (margin < 0.0).any():
                return states, found
    return None

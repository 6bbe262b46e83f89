"""Assembly: configurations with closed loops, from chosen joint values."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import DEPENDENT, pinv
from ..errors import ActuationError, AssemblyError, BranchWarning, InputError, ModelError
from .closing import CLOSED, Closing, listed_open
from .gears import gears_of
from .near_singular import refined

if TYPE_CHECKING:
    from .plant import Plant
    from .terms import Terms

__all__ = ["assemble", "close_holding", "closed_with", "completed", "start_configuration"]

Array = NDArray[np.float64]
Guess = ArrayLike | Mapping[str, float] | None

_FAR = 3.0  # times what first order predicts: what is farther from the guess is on another branch, or past a fold
_NOTICED = 0.1  # rad, or sizes of the machine: less is never called far
_TRIED = 6  # constraints that are open together, of which it is tried whether the others close without them
_FITS = 8  # starts from which what a guess does not name is looked for, where the loops do not close with what it names


def assemble(plant: Plant, values: dict[str, float], guess: Guess = None, *, starts: int = 30, seed: int = 0) -> Array:
    """Configuration with closed loops and the given joint values; see `Mechanism.assemble`."""
    for key, value in values.items():
        if key not in plant.position_names:
            raise InputError(_check.unknown(key, plant.position_names, "joint coordinate"))
        _check.number(value, f"the value of {key!r}")
        if key not in plant.velocity_names and plant.position_units[plant.position_names.index(key)] == "1":
            raise InputError(
                f"coordinate {key!r} is an entry of a quaternion, and no attitude by itself; give the whole attitude "
                "in guess=, or hold other joints"
            )
    origin = plant.neutral() if guess is None else plant.configuration(guess)
    known = frozenset(guess) if isinstance(guess, Mapping) else None
    gears = gears_of(plant, values)
    if gears is None:
        return _assembled(plant, values, _Start(origin, known, guess is not None), starts, seed)
    held, against = gears.named(values)
    if against:
        raise AssemblyError(gears.contradicted(against[0], values), plant.loop_residuals(origin), origin)
    start = _Start(gears.reduced(origin), known, guess is not None)
    if isinstance(guess, Mapping):
        named = gears.named(guess)[0]
        start = start._replace(q=gears.twin.configuration(named), known=frozenset(named))
    try:
        q = _assembled(gears.twin, held, start, starts, seed)
    except AssemblyError as error:
        raise gears.of_whole(error) from None
    return _with(gears.full(q), *_chosen(plant, values))


class _Start(NamedTuple):
    """Starting point for the search of a configuration."""

    q: Array  # (nq,)
    known: frozenset[str] | None = None  # coordinates that a guess names; None where it has all
    guessed: bool = True  # by the user, who wants to know of another branch


def _assembled(plant: Plant, values: Mapping[str, float], start: _Start, starts: int, seed: int) -> Array:
    """Configuration with closed loops and given joint values, for a machine without gears to be taken out."""
    chosen, target = _chosen(plant, values)
    if start.known is not None:
        start = start._replace(q=completed(plant, start.q, start.known, chosen, target))
    closing = Closing(plant, chosen, _with(start.q, chosen, target))
    start = start._replace(q=closing.turned(start.q))
    best_q, best_residual = start.q, np.inf
    rng = np.random.default_rng(seed)
    for attempt in range(starts):
        near = _random_start(closing, start.q, rng, attempt) if attempt > 1 else start.q
        try:
            q = closing.close(_with(near, chosen, target), damping=1e-4 if attempt else 1e-2)
        except (ModelError, np.linalg.LinAlgError):  # functions that are not defined at this start
            continue
        if _closed(closing, q):
            return _finished(closing, q, start, chosen, target)
        residual = plant.closure_error(q)
        if residual < best_residual:
            best_q, best_residual = q, residual
    with contextlib.suppress(ModelError):
        unlimited = Closing(plant, chosen, closing.at, limited=False).close(best_q)
        if _closed(closing, unlimited):  # limits were in the way of the steps, not of the configuration
            return _finished(closing, unlimited, start, chosen, target)
        if plant.closure_error(unlimited) < CLOSED * plant.length_scale(unlimited):
            best_q = unlimited
    raise AssemblyError(_explain(closing, best_q, chosen, target, starts), plant.loop_residuals(best_q), best_q)


def _chosen(plant: Plant, values: Mapping[str, float]) -> tuple[NDArray[np.int64], Array]:
    """Indices of positions by their names, and their values."""
    chosen = np.array([plant.position_names.index(name) for name in values], dtype=np.int64)
    return chosen, np.array([float(x) for x in values.values()])


def _with(q: Array, chosen: NDArray[np.int64], target: Array) -> Array:
    """Configuration with some coordinates set to other values."""
    q = q.copy()
    q[chosen] = target
    return q


def _finished(closing: Closing, q: Array, start: _Start, chosen: NDArray[np.int64], target: Array) -> Array:
    """Configuration nearest to the start on the branch of a closed one, refined to the last digit."""
    counted = _counted(closing.plant, start.known)
    nearest = closing.nearest(q, closing.within(start.q), counted)
    q = nearest if _closed(closing, nearest) else q
    exact = _with(refined(closing, q), chosen, target)
    q = exact if _closed(closing, exact) else q
    if start.guessed:
        with contextlib.suppress(ModelError):  # of functions that are not defined at the guess
            _compare(closing, start.q, counted, _with(start.q, chosen, target), q)
    return q


def _counted(plant: Plant, known: frozenset[str] | None) -> NDArray[np.bool_]:
    """Mask (nv,) of velocity coordinates whose positions are known; all of a joint with several axes if one is."""
    if known is None:
        return np.ones(plant.nv, dtype=bool)
    names = {plant.velocity_names[k] for i, k in plant.paired if plant.position_names[i] in known}
    for joint in getattr(plant, "joints", ()):
        if joint.position_names != joint.velocity_names and not known.isdisjoint(joint.position_names):
            names |= set(joint.velocity_names)
    return np.array([name in names for name in plant.velocity_names], dtype=bool)


def completed(
    plant: Plant,
    q: Array,
    known: frozenset[str],
    chosen: NDArray[np.int64] | None = None,
    target: Array | None = None,
    seed: int = 0,
) -> Array:
    """Guess completed: coordinates that it does not name are set so that the loops close best.

    Coordinates `chosen` are at their target meanwhile; those that the guess names have its values in the result.
    """
    chosen = np.zeros(0, dtype=int) if chosen is None else chosen
    start = q if target is None else _with(q, chosen, target)
    named = [i for i, name in enumerate(plant.position_names) if name in known]
    closing = Closing(plant, [*named, *(i for i in chosen if i not in named)], start)
    best, least, rng = start, np.inf, np.random.default_rng(seed)
    for attempt in range(_FITS if closing.free.size else 0):
        near = _random_start(closing, start, rng, attempt + 1) if attempt else start
        try:
            found = closing.close(near)
            left = float(np.linalg.norm(closing.equations(found)[0]))
        except (ModelError, np.linalg.LinAlgError):
            continue
        if left < 0.9 * least:  # of two that are alike, the first one, from the neutral configuration
            best, least = found, left
        if least < 1e-9:
            break
    kept = [i for i in chosen if i in named]
    return _with(best, np.array(kept, dtype=int), q[kept])


def start_configuration(plant: Plant) -> Array:
    """Default start of a machine: its configuration "start" if it has one, or the result of `assemble`."""
    return plant.configuration("start") if "start" in plant.configurations else plant.assemble()


def _random_start(closing: Closing, q0: Array, rng: np.random.Generator, attempt: int) -> Array:
    """Random start, farther from the guess with each attempt, and anywhere from the eleventh on."""
    plant, reach = closing.plant, min(np.pi, 0.1 * 1.4**attempt)
    away, free = reach * closing.lengths * rng.uniform(-1.0, 1.0, plant.nv), np.zeros(plant.nv)
    free[closing.free] = away[closing.free]
    q = plant.integrate(closing.within(q0), free)
    low, high = plant.limits.T
    if reach == np.pi:
        bounded = np.isfinite(low) & np.isfinite(high)
        q[bounded] = rng.uniform(low[bounded], high[bounded])
    return q


def close_holding(plant: Plant, start: Array, chosen: NDArray[np.int64], target: Array) -> Array:
    """Configuration near a start with the loops as closed as possible, within limits; `chosen` stay at `target`."""
    start = _with(start, chosen, target)
    return Closing(plant, chosen, start).close(start)


def _closed(closing: Closing, q: Array) -> bool:
    """Whether a configuration closes the loops within the limits, with no axis reversed and held places met."""
    plant = closing.plant
    least = CLOSED * plant.length_scale(q)
    near = plant.closure_error(q) < least and closing.displaced(q) < least
    return near and not _outside(plant, q).size and not closing.reversed_loops(q)


def _outside(plant: Plant, q: Array) -> NDArray[np.int64]:
    """Indices of the coordinates that are beyond their limits."""
    slack = 1e-9 * plant.position_scale
    return np.flatnonzero((q < plant.limits[:, 0] - slack) | (q > plant.limits[:, 1] + slack))


def _compare(closing: Closing, guess: Array, counted: NDArray[np.bool_], start: Array, q: Array) -> None:
    """Warn where the configuration found is much farther from the guess than first order predicts.

    `start` is the guess with the values that are held; coordinates that are not `counted` were not guessed.
    """
    plant, start = closing.plant, closing.within(start)
    r, jacobian = closing.equations(start)
    predicted = plant.difference(guess, start) / closing.lengths
    if closing.free.size and r.size:
        predicted[closing.free] -= np.linalg.lstsq(jacobian()[:, closing.free], r, rcond=1e-9)[0]
    predicted, moved = predicted[counted], (plant.difference(guess, q) / closing.lengths)[counted]
    far, near = float(np.linalg.norm(moved)), float(np.linalg.norm(predicted))
    if far > max(_NOTICED, _FAR * near):
        warnings.warn(
            f"the loops of {plant.name!r} were closed {far:.3g} from the guess (radians, and sizes of the machine), "
            f"where first order predicts {near:.3g}: this may be another branch than the one that was meant. Give a "
            "guess= nearer to it, or hold other joints.",
            BranchWarning,
            stacklevel=6,
        )


def _explain(closing: Closing, q: Array, chosen: NDArray[np.int64], target: Array, starts: int) -> str:
    """Error message: loops that could not be closed, by how much, and the remedy."""
    plant = closing.plant
    residuals, closed = plant.loop_residuals(q), CLOSED * plant.length_scale(q)
    names = [plant.position_names[i] for i in chosen]
    given = _check.values_by_name(names, target, "no joint values")
    off = closing.displaced(q)
    if max(residuals.values(), default=0.0) > closed or off > closed:
        together = [] if closing.placed.size else _dependent(plant, q, chosen, target)
        if together:
            return (
                f"{' and '.join(together)} depend on each other, and their values disagree: with "
                f"{', '.join(f'{k} = {x:.12g}' for k, x in zip(names, target, strict=True))} the loops stay open, "
                f"{listed_open(plant, q, closed)}. Hold one fewer of them."
            )
        beyond = _beyond(plant, chosen, target)
        missed = [listed_open(plant, q, closed), f"held places missed by {off:.3e} m" if off > closed else ""]
        remedy = _contradicting(closing, q, closed) or (
            "Hold fewer joints, give values within reach, or a guess= near the branch you want."
        )
        return (
            f"{f'{beyond} The' if beyond else 'the'} loops cannot be closed with {given}: "
            f"{', '.join(filter(None, missed))} at best, from {starts} starts. {remedy}"
            f"{'' if beyond else _degrees(plant, chosen, target)}"
        )
    wrong = closing.reversed_loops(q)
    if wrong:
        return f"with {given}, loop {wrong[0]!r} closes only with its axes reversed. Give a guess= on the right side."
    out = _outside(plant, q)
    return (
        f"the loops close with {given}, but not within the joint limits: {_beyond(plant, out, q[out])} "
        "Widen limits=, or choose other values."
    )


def _contradicting(closing: Closing, q: Array, closed: float) -> str:
    """Sentence on open constraints of which leaving out any one lets all others close; "" for none."""
    plant, residuals = closing.plant, closing.plant.loop_residuals(q)
    worst = max(residuals.values())
    open_ = [name for name, r in residuals.items() if r > max(closed, 1e-6 * worst)]
    if not 2 <= len(open_) <= _TRIED:
        return ""
    found = []
    for name in open_:
        with contextlib.suppress(ModelError, InputError, np.linalg.LinAlgError):
            other = Closing(plant.without(name), closing.held, closing.at)
            if _closed(other, other.close(q)):
                found.append(repr(name))
    if not found:
        return ""
    if len(found) == 1:
        return f"Without {found[0]} all others close: look at where it is to be, or hold fewer joints."
    return (
        f"{', '.join(found[:-1])} and {found[-1]} contradict one another: without any one of them all others close. "
        "Look at where they are to be, or hold fewer joints."
    )


def _degrees(plant: Plant, chosen: NDArray[np.int64], target: Array) -> str:
    """Hint at the unit, for angles of several turns; "" where there are none."""
    many = [i for i, x in zip(chosen, target, strict=True) if plant.position_units[i] == "rad" and abs(x) > 2.0 * np.pi]
    return f" Angles are in radians: is {plant.position_names[many[0]]} given in degrees?" if many else ""


def _beyond(plant: Plant, indices: NDArray[np.int64], values: Array) -> str:
    """Sentences on values outside the limits of their coordinates, and on units that look wrong; "" for none."""
    found, hints = [], {}
    for i, x in zip(indices, values, strict=True):
        (low, high), unit = plant.limits[i], plant.position_units[i]
        if low - 1e-9 * plant.position_scale[i] <= x <= high + 1e-9 * plant.position_scale[i]:
            continue
        if unit == "rad" and abs(x) > min(2.0 * np.pi, 3.0 * max(abs(low), abs(high))):
            hints["rad"] = f" Angles are in radians: is {plant.position_names[i]} given in degrees?"
        elif unit == "m" and low <= 1e-3 * x <= high:
            hints["m"] = f" Lengths are in metres: is {plant.position_names[i]} given in mm?"
        unit = "" if unit == "1" else f" {unit}"
        found.append(f"{plant.position_names[i]} = {x:.6g}{unit} is outside [{low:.6g}, {high:.6g}]{unit}")
    return f"{', '.join(found)}.{''.join(hints.values())}" if found else ""


def _dependent(plant: Plant, q: Array, chosen: NDArray[np.int64], target: Array) -> list[str]:
    """Names of held coordinates that depend on each other, where their values almost agree.

    Near a boundary of what is in reach, coordinates seem to depend on each other, too. So this is checked
    again elsewhere: one of them is set free, and the others are moved.
    """
    if not plant.closure_error(q) < 1e-6 * plant.length_scale(q):
        return []
    together = _bound(plant, q, chosen)
    if len(together) < 2:
        return []
    others = [k for k in range(len(chosen)) if k != together[-1]]
    moved = target[others] + 0.05 * plant.position_scale[chosen[others]]
    elsewhere = close_holding(plant, q, chosen[others], moved)
    if _bound(plant, elsewhere, chosen) != together:
        return []
    return [plant.position_names[chosen[k]] for k in together]


def _bound(plant: Plant, q: Array, chosen: NDArray[np.int64]) -> list[int]:
    """Indices of the held coordinates of which no admissible motion changes a combination."""
    pairs, unit = dict(plant.paired), np.eye(plant.nv)
    rows = [unit[pairs[i]] if i in pairs else np.array([plant.position_rate(q, e)[i] for e in unit]) for i in chosen]
    motions = np.array(rows).reshape(-1, plant.nv) @ plant.terms(q, np.zeros(plant.nv)).unit_motions
    U, s, _ = np.linalg.svd(motions)
    fixed = U[:, np.count_nonzero(s > 1e-5) :]  # where the loops are open by 1e-6, motions are right to some 1e-6
    return np.flatnonzero(np.abs(fixed).max(axis=1, initial=0.0) > 1e-3).tolist()


def closed_with(plant: Plant, q: Array, v: Array, columns: Sequence[int]) -> tuple[Array, Array]:
    """Nearest closed configuration and velocity with some coordinates as they are; see `Plant.closed_with`."""
    rows = list(columns)
    names = tuple(plant.velocity_names[k] for k in rows)
    terms = _closed_around(plant, q, names, rows)
    q, Z = terms.q, terms.Z
    if not terms.determined_by(rows):
        raise ActuationError(
            f"the joints {names} do not determine the motion at this configuration: {terms.dof} degrees of freedom (q "
            f"= {np.round(q, 6).tolist()}); measure others, or more"
        )
    if not plant.moving:
        return q, Z @ np.linalg.lstsq(Z[rows], v[rows], rcond=None)[0]
    moved = plant.project_velocity(q, np.zeros(v.size))
    return q, moved + Z @ np.linalg.lstsq(Z[rows], (v - moved)[rows], rcond=None)[0]


def _closed_around(plant: Plant, q: Array, names: Sequence[str], rows: list[int]) -> Terms:
    """Terms at rest at the nearest closed configuration with some coordinates held, by Newton's method."""
    at = [plant.position_names.index(name) for name in names]
    held, size = q[at], plant.size
    S, still, unit_lengths = np.eye(plant.nv)[rows], np.zeros(plant.nv), plant.unit_lengths
    moved = q
    for _ in range(10):
        terms = plant.terms(moved, still)
        gap, phi = unit_lengths[rows] * (held - moved[at]), terms.row_scale * terms.phi  # metres
        if np.abs(phi).max(initial=0.0) <= 1e-14 * size and np.abs(gap).max() <= 1e-15 * size:
            return terms
        step = pinv(np.vstack([S, terms.levers]), 1.0, DEPENDENT) @ np.concatenate([gap, -phi]) / unit_lengths
        moved = plant.integrate(moved, step)
    moved = plant.assemble(guess=q, **dict(zip(names, held, strict=True)))
    return plant.terms(moved, still)

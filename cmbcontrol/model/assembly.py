"""Closing the loops from chosen joint values."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import AssemblyError, BranchWarning, InputError, ModelError
from .closing import Closing, listed_open
from .near_singular import refined

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["CLOSED", "assemble", "close_holding", "start_configuration"]

Array = NDArray[np.float64]

CLOSED = 1e-12  # of the largest length in play: loops that are open by less are closed
_FAR = 3.0  # times what first order predicts: what is farther from the guess is on another branch, or past a fold
_NOTICED = 0.1  # rad, or sizes of the machine: less is never called far


def assemble(plant: Plant, values: dict[str, float], guess=None, *, starts: int = 30, seed: int = 0) -> Array:
    """Configuration with closed loops and the given joint values; see `Mechanism.assemble`."""
    for key, value in values.items():
        if key not in plant.position_names:
            raise InputError(_check.unknown(key, plant.position_names, "joint coordinate"))
        _check.number(value, f"the value of {key!r}")
    origin = plant.neutral() if guess is None else plant.configuration(guess)
    chosen = np.array([plant.position_names.index(k) for k in values], dtype=int)
    target = np.array([float(values[k]) for k in values])
    held = plant.velocity_of(chosen)
    closing = Closing(plant, held)
    best_q, best_residual = origin, np.inf
    rng = np.random.default_rng(seed)
    for attempt in range(starts):
        start = _random_start(closing, origin, rng, attempt) if attempt > 1 else origin.copy()
        start[chosen] = target
        try:
            q = closing.close(start, damping=1e-4 if attempt else 1e-2)
        except (ModelError, np.linalg.LinAlgError):  # functions that are not defined at this start
            continue
        if _closed(closing, q):
            nearest = closing.nearest(q, closing.within(origin))
            q = nearest if _closed(closing, nearest) else q
            exact = refined(closing, q).copy()
            exact[chosen] = target
            q = exact if _closed(closing, exact) else q
            with contextlib.suppress(ModelError):  # of functions that are not defined at the guess
                _compare(closing, guess, origin, chosen, target, q)
            return q
        residual = plant.closure_error(q)
        if residual < best_residual:
            best_q, best_residual = q, residual
    with contextlib.suppress(ModelError):
        unlimited = Closing(plant, held, limited=False).close(best_q)
        if plant.closure_error(unlimited) < CLOSED * plant.extent(unlimited):
            best_q = unlimited
    raise AssemblyError(_explain(closing, best_q, chosen, target, starts), plant.loop_residuals(best_q), best_q)


def start_configuration(plant: Plant) -> Array:
    """Where a machine is unless told: at its configuration "start", or as it is assembled."""
    return plant.configuration("start") if "start" in plant.configurations else plant.assemble()


def _random_start(closing: Closing, q0: Array, rng: np.random.Generator, attempt: int) -> Array:
    """A start that wanders further from the guess with each attempt, and from the eleventh on anywhere."""
    plant, reach = closing.plant, min(np.pi, 0.1 * 1.4**attempt)
    q = plant.integrate(q0, reach * closing.lengths * rng.uniform(-1.0, 1.0, plant.nv))
    low, high = plant.limits.T
    if reach == np.pi:
        bounded = np.isfinite(low) & np.isfinite(high)
        q[bounded] = rng.uniform(low[bounded], high[bounded])
    return q


def close_holding(plant: Plant, start: Array, chosen: Array, target: Array) -> Array:
    """The loops closed, as far as possible, near a start and within limits; coordinates `chosen` stay at `target`."""
    start = start.copy()
    start[chosen] = target
    return Closing(plant, plant.velocity_of(chosen)).close(start)


def _closed(closing: Closing, q: Array) -> bool:
    """Whether a configuration closes the loops, within the limits and with no axis reversed."""
    plant = closing.plant
    near = plant.closure_error(q) < CLOSED * plant.extent(q)
    return near and not _outside(plant, q).size and not closing.reversed_loops(q)


def _outside(plant: Plant, q: Array) -> NDArray[np.int64]:
    """The coordinates that are beyond their limits."""
    slack = 1e-9 * plant.position_spans
    return np.flatnonzero((q < plant.limits[:, 0] - slack) | (q > plant.limits[:, 1] + slack))


def _compare(closing: Closing, guess: object, origin: Array, chosen: Array, target: Array, q: Array) -> None:
    """Warn where the configuration found is much farther from the guess, if there was one, than first order predicts.

    Where only some joints were guessed, only these are compared.
    """
    if guess is None:
        return
    plant = closing.plant
    start = origin.copy()
    start[chosen] = target
    start = closing.within(start)
    r, jacobian = closing.equations(start)
    predicted = plant.difference(origin, start) / closing.lengths
    if closing.free.size and r.size:
        predicted[closing.free] -= np.linalg.lstsq(jacobian()[:, closing.free], r, rcond=1e-9)[0]
    moved = plant.difference(origin, q) / closing.lengths
    if isinstance(guess, Mapping):
        guessed = [k for i, k in plant.paired if plant.position_names[i] in guess]
        predicted, moved = predicted[guessed], moved[guessed]
    far, near = float(np.linalg.norm(moved)), float(np.linalg.norm(predicted))
    if far > max(_NOTICED, _FAR * near):
        warnings.warn(
            f"the loops of {plant.name!r} were closed {far:.3g} from the guess (radians, and sizes of the machine), "
            f"where first order predicts {near:.3g}: this may be another branch than the one that was meant. Give a "
            "guess= nearer to it, or hold other joints.",
            BranchWarning,
            stacklevel=4,
        )


def _explain(closing: Closing, q: Array, chosen: NDArray[np.int64], target: Array, starts: int) -> str:
    """What could not be closed, by how much, and what to do."""
    plant = closing.plant
    residuals, closed = plant.loop_residuals(q), CLOSED * plant.extent(q)
    names = [plant.position_names[i] for i in chosen]
    given = _check.values_by_name(names, target, "no joint values")
    if max(residuals.values(), default=0.0) > closed:
        together = _dependent(plant, q, chosen, target)
        if together:
            return (
                f"{' and '.join(together)} depend on each other, and their values disagree: with "
                f"{', '.join(f'{k} = {x:.12g}' for k, x in zip(names, target, strict=True))} the loops stay open, "
                f"{listed_open(residuals, closed)}. Hold one fewer of them."
            )
        beyond = _beyond(plant, chosen, target)
        return (
            f"{f'{beyond} The' if beyond else 'the'} loops cannot be closed with {given}: "
            f"{listed_open(residuals, closed)} at best, from {starts} starts. Hold fewer joints, "
            "give values within reach, or a guess= near the branch you want."
        )
    wrong = closing.reversed_loops(q)
    if wrong:
        return f"with {given}, loop {wrong[0]!r} closes only with its axes reversed. Give a guess= on the right side."
    out = _outside(plant, q)
    return (
        f"the loops close with {given}, but not within the joint limits: {_beyond(plant, out, q[out])} "
        "Widen limits=, or choose other values."
    )


def _beyond(plant: Plant, indices: NDArray[np.int64], values: Array) -> str:
    """Sentences on the values outside the limits of their coordinates, and on units that look wrong; "" for none."""
    found, hints = [], {}
    for i, x in zip(indices, values, strict=True):
        (low, high), unit = plant.limits[i], plant.position_units[i]
        if low - 1e-9 * plant.position_spans[i] <= x <= high + 1e-9 * plant.position_spans[i]:
            continue
        if unit == "rad" and abs(x) > min(2.0 * np.pi, 3.0 * max(abs(low), abs(high))):
            hints["rad"] = " Angles are in radians."
        elif unit == "m" and low <= 1e-3 * x <= high:
            hints["m"] = f" Lengths are in metres: is {plant.position_names[i]} given in mm?"
        unit = "" if unit == "1" else f" {unit}"
        found.append(f"{plant.position_names[i]} = {x:.6g}{unit} is outside [{low:.6g}, {high:.6g}]{unit}")
    return f"{', '.join(found)}.{''.join(hints.values())}" if found else ""


def _dependent(plant: Plant, q: Array, chosen: NDArray[np.int64], target: Array) -> list[str]:
    """Names of held coordinates that depend on each other, where their values all but agree.

    Near a boundary of what is in reach, coordinates seem to depend on each other, too. So this is asked again
    elsewhere: one of them is set free, and the others are moved.
    """
    if not plant.closure_error(q) < 1e-6 * plant.extent(q):
        return []
    together = _bound(plant, q, chosen)
    if len(together) < 2:
        return []
    others = [k for k in range(len(chosen)) if k != together[-1]]
    moved = target[others] + 0.05 * plant.position_spans[chosen[others]]
    elsewhere = close_holding(plant, q, chosen[others], moved)
    if _bound(plant, elsewhere, chosen) != together:
        return []
    return [plant.position_names[chosen[k]] for k in together]


def _bound(plant: Plant, q: Array, chosen: NDArray[np.int64]) -> list[int]:
    """Which of the held coordinates a combination of that no admissible motion changes."""
    motions = plant.terms(q, np.zeros(plant.nv)).unit_motions[plant.velocity_of(chosen)]
    U, s, _ = np.linalg.svd(motions)
    fixed = U[:, np.count_nonzero(s > 1e-5) :]  # where the loops are open by 1e-6, motions are right to some 1e-6
    return np.flatnonzero(np.abs(fixed).max(axis=1, initial=0.0) > 1e-3).tolist()

"""Closing the loops from chosen joint values."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import AssemblyError, BranchWarning, ModelError
from .closing import Closing
from .near_singular import refined

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["CLOSED", "assemble", "close_holding"]

Array = NDArray[np.float64]

CLOSED = 1e-12  # of the largest length in play: loops that are open by less are closed
_FAR = 3.0  # times what first order predicts: what is farther from the guess is on another branch, or past a fold
_NOTICED = 0.1  # rad, or sizes of the machine: less is never called far


def assemble(plant: Plant, values: dict[str, float], guess=None, *, starts: int = 30, seed: int = 0) -> Array:
    """Configuration with closed loops and the given joint values; see `Mechanism.assemble`."""
    for key, value in values.items():
        if key not in plant.position_names:
            raise ValueError(_check.unknown(key, plant.position_names, "joint coordinate"))
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
        except ModelError:  # functions that are not defined at this start
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
    raise AssemblyError(_explain(closing, best_q, values, starts), plant.loop_residuals(best_q), best_q)


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


def _explain(closing: Closing, q: Array, values: dict[str, float], starts: int) -> str:
    """What could not be closed, by how much, and what to do."""
    plant = closing.plant
    residuals = plant.loop_residuals(q)
    open_loops = {k: r for k, r in residuals.items() if r > CLOSED * plant.extent(q)}
    given = ", ".join(f"{k} = {float(x):.6g}" for k, x in values.items()) or "no joint values"
    if open_loops:
        listed = ", ".join(f"{k!r} open by {r:.3e} m" for k, r in open_loops.items())
        return (
            f"the loops cannot be closed with {given}: {listed} at best, from {starts} starts. "
            "Fix fewer joints, give values within reach, or a guess= near the branch you want."
        )
    wrong = closing.reversed_loops(q)
    if wrong:
        return f"with {given}, loop {wrong[0]!r} closes only with its axes reversed. Give a guess= on the right side."
    out = [
        f"{plant.position_names[i]} = {q[i]:.6g} outside [{plant.limits[i, 0]:.6g}, {plant.limits[i, 1]:.6g}]"
        for i in _outside(plant, q)
    ]
    return (
        f"the loops close with {given}, but not within the joint limits: {', '.join(out)}. "
        "Widen limits=, or choose other values."
    )

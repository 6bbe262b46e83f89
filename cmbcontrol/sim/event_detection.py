"""The event that ends a part of a run: the first of several functions that crosses zero upwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.acceleration import at_rank, solved
from ..model.plant import Plant
from .events import Path, detection_times

__all__ = ["EventDetector", "EventFunction", "EventState"]

Array = NDArray[np.float64]
Effort = Callable[[float, Array], Array]

_HALVINGS = 30
_LOOKS = 8  # at a step that may touch a limit
_INSTANT = 1e-9  # of a run: a function that has crossed zero may hang about it for so long


@dataclass(eq=False)
class EventFunction:
    """A function whose zero crossing, upwards, is an event.

    Attributes
    ----------
    value : callable
        (state) -> float, of an `EventState`.
    cause : object
        What happens at the event.
    tolerance : float
        Values up to it count as zero.
    armed : bool
        Whether a value above zero is an event: the function has been below since the last one.
    last : float
        Time of the last event, s.
    slope : callable, optional
        (state) -> float, the rate of the value: where it changes its sign from above between two looks, the value may
        have been above zero and below again.
    """

    value: Callable[[EventState], float]
    cause: Any
    tolerance: float = 0.0
    armed: bool = False
    last: float = -np.inf
    slope: Callable[[EventState], float] | None = None

    def arm(self, t: float, value: float, instant: float) -> None:
        """Arm it where it is below zero, and not just by rounding after an event."""
        self.armed = self.armed or (value < 0.0 and t - self.last > instant)


class EventState:
    """A state at which event functions are evaluated, and the multipliers there, computed when they are needed."""

    def __init__(self, plant: Plant, t: float, x: Array, effort: Effort) -> None:
        self.plant, self.t, self.x, self._effort = plant, t, x, effort
        self.q, self.v = x[: plant.nq].copy(), x[plant.nq : plant.nq + plant.nv].copy()  # conditions may write
        self._known: tuple[Array, dict[str, float]] | None = None
        self._of_whole: dict[str, Array] = {}

    def _carried(self) -> tuple[Array, dict[str, float]]:
        """The smallest multipliers (rows,), and how well each friction in proportion to loads determines them."""
        if self._known is None:
            u = self._effort(self.t, self.x)  # and brings loads to this time
            terms = self.plant.terms(self.q, self.v, self.t)
            g = terms.B @ u - terms.h
            found = solved(terms, g, cap=terms.h.size, checked=False)
            lam = found.lam
            if found.rank < lam.size:
                lam = at_rank(terms, found.rank).A_pinv.T @ (g - terms.M @ found.vdot - found.friction)
            names = () if terms.friction is None else terms.friction.names
            self._known = lam, dict(zip(names, found.pivot, strict=True))
        return self._known

    def residual(self, whole: Plant) -> Array:
        """The residual of the plant with all constraints that come and go, evaluated once for all functions."""
        if "residual" not in self._of_whole:
            self._of_whole["residual"] = whole.residual(self.q)
        return self._of_whole["residual"]

    def row_rate(self, whole: Plant) -> Array:
        """Its rate A v, less that of prescribed motions."""
        if "rate" not in self._of_whole:
            self._of_whole["rate"] = whole.terms(self.q, self.v).row_rate
        return self._of_whole["rate"]

    def multipliers(self, loop: str) -> Array:
        """The smallest multipliers (rows,) of a loop."""
        return self._carried()[0][self.plant.row_slices[loop]]

    def pivot(self, friction: str) -> float:
        """One where friction does not change its own load; zero where it makes it grow without bound."""
        return self._carried()[1][friction]


class EventDetector:
    """The event functions of a part of a run.

    With `limits` (nq, 2), nothing can happen but where a coordinate is at one of them: other steps need no look.
    """

    def __init__(
        self, plant: Plant, functions: list[EventFunction], duration: float, limits: Array | None = None
    ) -> None:
        self.plant, self.functions, self.duration, self.limits = plant, functions, duration, limits
        self.triggered: list[EventFunction] = []
        self._first = True
        self._moved = np.inf  # by how much the values have changed from the last look but one to the last

    def take(self, other: EventDetector) -> None:
        """Stand where another one stands, of the same functions."""
        self._first, self._moved = other._first, other._moved
        for function, its in zip(self.functions, other.functions, strict=True):
            function.armed, function.last = its.armed, its.last

    def first_event(self, T: Array, X: Array, path: Path, effort: Effort) -> float | None:
        """The time of the first event in the steps to T (n+1,), X (n+1, nx), after T[0]; None where there is none.

        ``path(t)`` is the state x between the steps, ``effort(t, x)`` the motor efforts (nu,) there. `triggered` are
        the functions that cross zero at the event.
        """
        if not self.functions:
            return None

        def state(t: float, x: Array | None = None) -> EventState:
            return EventState(self.plant, t, path(t) if x is None else x, effort)

        before, values = float(T[0]), self._values(state(float(T[0]), X[0]))
        event = self._event_time(before, values, lambda function: before, state)
        if event is not None:
            return event
        for t0, t1, x1 in zip(T[:-1], T[1:], X[1:], strict=True):
            times, self._first = detection_times(t0, t1, self._first, self.duration), False
            if self.limits is not None:  # asked for seldom: a coordinate may touch a limit and turn round
                times = np.linspace(t0, t1, _LOOKS + 1)[1:]
            for t in times:
                seen, values = values, self._values(state(t, x1 if t == t1 else None))
                root = partial(self._root, state=state, a=before, b=t)
                event = self._event_time(t, values, root, state, self._peak(before, t, seen, values, state))
                if event is not None:
                    return event
                before = t
        return None

    def _values(self, state: EventState) -> list[float]:
        return [function.value(state) for function in self.functions]

    def _peak(
        self, a: float, b: float, seen: list[float], values: list[float], state: Callable[[float], EventState]
    ) -> float | None:
        """The time of the first event of a function that goes above zero and back between a and b.

        Looked for where a value is no farther from zero than it moves from one look to the next, or has moved before.
        """
        from scipy.optimize import brentq

        found, moved = None, 0.0
        for function, v0, v1 in zip(self.functions, seen, values, strict=True):
            slope = function.slope
            if slope is None or not function.armed or v1 > function.tolerance:
                continue
            moved = max(moved, abs(v1 - v0))
            if max(v0, v1) < -2.0 * max(abs(v1 - v0), self._moved) or not (slope(state(a)) > 0.0 > slope(state(b))):
                continue
            top = brentq(lambda t, slope=slope: slope(state(t)), a, b, xtol=1e-15 * self.duration, rtol=1e-15)
            if function.value(state(top)) > function.tolerance and (found is None or top < found[0]):
                found = top, function
        self._moved = moved
        if found is None:
            return None
        self.triggered = [found[1]]
        return self._root(found[1], state, a, found[0])

    def _event_time(
        self,
        t: float,
        values: list[float],
        root: Callable[[EventFunction], float],
        state: Callable[[float], EventState],
        peak: float | None = None,
    ) -> float | None:
        """Arm the functions below zero; the root of the first one above, or has been before `peak`, if any."""
        above = [f for f, value in zip(self.functions, values, strict=True) if f.armed and value > f.tolerance]
        if not above and peak is not None:
            return peak
        if not above:
            for function, value in zip(self.functions, values, strict=True):
                function.arm(t, value, _INSTANT * self.duration)
            return None
        at_once, times = 1e-12 * self.duration, {above[0]: root(above[0])}
        first = times[above[0]]
        later = state(min(first + at_once, t))
        for function in above[1:]:
            if first + at_once < t and not function.value(later) > 0.0:
                continue  # it crosses zero later than another one
            times[function] = root(function)
            if times[function] < first:
                first = times[function]
                later = state(min(first + at_once, t))
        if peak is not None and peak < first:
            return peak
        self.triggered = [function for function, time in times.items() if time - first <= at_once]
        return first

    def _root(self, function: EventFunction, state: Callable[[float], EventState], a: float, b: float) -> float:
        """The zero crossing between a and b; where it is not clearly below before, when it counts as above.

        What begins at zero goes about it by rounding, and may first go down: a foot that hops.
        """
        from scipy.optimize import brentq

        level = 0.0

        def value(t: float) -> float:
            return function.value(state(t)) - level

        low = a
        for k in range(1, _HALVINGS):
            if value(low) < -function.tolerance:
                break
            low = a + (b - a) * 0.5**k
        else:
            low, level = a, function.tolerance
            if not value(low) < 0.0:
                return a
        if not value(b) > 0.0:  # the end of a step and its dense output differ by rounding
            return b
        return float(brentq(value, low, b, xtol=1e-16 * self.duration, rtol=1e-15, maxiter=200))

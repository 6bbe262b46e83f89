"""The event that ends a part of a run: the first of several functions that crosses zero upwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.acceleration import at_rank, solved
from ..errors import ModelError
from ..kernels import constrained
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE
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
    """A state at which event functions are evaluated; what several of them need is computed once, when it is needed."""

    def __init__(self, plant: Plant, t: float, x: Array, effort: Effort, scratch: Scratch) -> None:
        self.plant, self.t, self.x, self._effort, self._scratch = plant, t, x, effort, scratch
        self.q, self.v = plant.configuration(x[: plant.nq].copy()), x[plant.nq : plant.nq + plant.nv].copy()
        self._known: tuple[Array, dict[str, float]] | None = None
        self._of_whole: tuple[Array, Array] | None = None

    def _carried(self) -> tuple[Array, dict[str, float]]:
        """The smallest multipliers (rows,), and how well each friction in proportion to loads determines them."""
        if self._known is None:
            u = self._effort(self.t, self.x)  # and brings loads to this time
            self._known = self._scratch.carried(self.plant, self.t, self.q.copy(), self.v.copy(), u)
        return self._known

    def _rows(self, whole: Plant) -> tuple[Array, Array]:
        if self._of_whole is None:
            self._of_whole = self._scratch.row_motion(whole, self.q.copy(), self.v.copy())
        return self._of_whole

    def residual(self, whole: Plant) -> Array:
        """The residual of the plant with all constraints that come and go."""
        return self._rows(whole)[0]

    def row_rate(self, whole: Plant) -> Array:
        """Its rate A v, less that of prescribed motions."""
        return self._rows(whole)[1]

    def multipliers(self, loop: str) -> Array:
        """The smallest multipliers (rows,) of a loop."""
        return self._carried()[0][self.plant.row_slices[loop]]

    def pivot(self, friction: str) -> float:
        """One where friction does not change its own load; zero where it makes it grow without bound."""
        return self._carried()[1][friction]


class Scratch:
    """Rows and what they carry, by the kernels, with scratch that is kept."""

    def __init__(self) -> None:
        self._works: dict[int, tuple[Plant, constrained.Work]] = {}

    def __reduce__(self) -> tuple:
        return Scratch, ()  # it is of this process

    def _of(self, plant: Mechanism) -> constrained.Work:
        if id(plant) not in self._works:
            self._works[id(plant)] = plant, constrained.new_work(plant.arrays)
        return self._works[id(plant)][1]

    def row_motion(self, plant: Plant, q: Array, v: Array) -> tuple[Array, Array]:
        """How far rows are open, and the rate of that."""
        if not isinstance(plant, Mechanism):
            return plant.residual(q), plant.terms(q, v).row_rate
        work, rate = self._of(plant), np.empty(len(plant.row_names))
        constrained.row_motion(plant.arrays, q, v, work, rate)
        return work.phi.copy(), rate

    def carried(self, plant: Plant, t: float, q: Array, v: Array, u: Array) -> tuple[Array, dict[str, float]]:
        """The smallest multipliers (rows,), and the pivot of each friction in proportion to loads, by name."""
        if not isinstance(plant, Mechanism):
            terms = plant.terms(q, v, t)
            g = terms.B @ u - terms.h
            found = solved(terms, g, cap=terms.h.size, checked=False)
            return at_rank(terms, found.rank).A_pinv.T @ (g - terms.M @ found.vdot), {}
        work, lam = self._of(plant), np.empty(len(plant.row_names))
        rank = constrained.carried(plant.arrays, q, v, _check.plain(u), RANK_TOLERANCE, plant.nv, work, lam)
        if rank == FAILED:
            raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q.tolist()}")
        names = () if plant._loaded is None else plant._loaded.names
        return lam, dict(zip(names, work.friction.pivot.tolist(), strict=True))


class EventDetector:
    """The event functions of a part of a run.

    With `limits` (nq, 2), nothing can happen but where a coordinate is at one of them: other steps need no look.
    """

    def __init__(
        self, plant: Plant, functions: list[EventFunction], duration: float, limits: Array | None = None
    ) -> None:
        self.plant, self.functions, self.duration, self.limits = plant, functions, duration, limits
        self.triggered: list[EventFunction] = []
        self._scratch, self._first = Scratch(), True
        self._last: tuple[float, Array, Array, list[float]] | None = None  # time, state, efforts and values at the end
        self._moved = np.inf  # by how much the values have changed from the last look but one to the last

    def take(self, other: EventDetector) -> None:
        """Stand where another one stands, of the same functions."""
        self._first, self._moved, self._last = other._first, other._moved, other._last
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
            return EventState(self.plant, t, path(t) if x is None else x, effort, self._scratch)

        before, values = float(T[0]), self._values_at_start(float(T[0]), X[0], effort, state)
        event = self._event_time(before, values, lambda function: before, state)
        if event is not None:
            return event
        for t0, t1, x1 in zip(T[:-1], T[1:], X[1:], strict=True):
            times, self._first = detection_times(t0, t1, self._first, self.duration), False
            if self.limits is not None:  # asked for seldom: a coordinate may touch a limit and turn round
                times = np.linspace(t0, t1, _LOOKS + 1)[1:]
            at_end = self._values(state(t1, x1))
            if len(times) > 1 and not self._may_cross(values, self._values(state(0.5 * (t0 + t1))), at_end):
                self._passed(float(t1), values, at_end)
                before, values = float(t1), at_end
                times = times[:0]
            for t in times:
                seen, values = values, at_end if t == t1 else self._values(state(t))
                root = partial(self._root, state=state, a=before, b=t)
                event = self._event_time(t, values, root, state, self._peak(before, t, seen, values, state))
                if event is not None:
                    return event
                before = t
            self._last = float(t1), x1, effort(t1, x1).copy(), at_end
        return None

    def _values_at_start(
        self, t: float, x: Array, effort: Effort, state: Callable[[float, Array], EventState]
    ) -> list[float]:
        """The values where a step begins; those at the end of the last one where the efforts are the same."""
        if self._last is not None:
            t_last, x_last, u_last, values = self._last
            if t == t_last and np.array_equal(x, x_last) and np.array_equal(effort(t, x), u_last):
                return values
        return self._values(state(t, x))

    def _may_cross(self, start: list[float], middle: list[float], end: list[float]) -> bool:
        """Whether a function may change its sign within a step, or has: beyond what the parabola through three tells.

        A step resolves the motion to a small part of its tolerance, so what is left of a parabola is small beside it:
        what the middle is off a line allows for eight times what the parabola rises above its points.
        """
        for function, a, b, c in zip(self.functions, start, middle, end, strict=True):
            bend = abs(a - 2.0 * b + c)
            top, bottom = max(a, b, c) + bend, min(a, b, c) - bend
            if top > function.tolerance if function.armed else bottom <= 0.0 < top:
                return True
        return False

    def _passed(self, t: float, before: list[float], values: list[float]) -> None:
        """A step without an event."""
        moved = [abs(b - a) for f, a, b in zip(self.functions, before, values, strict=True) if f.slope and f.armed]
        self._moved = max(moved, default=0.0)
        for function, value in zip(self.functions, values, strict=True):
            function.arm(t, value, _INSTANT * self.duration)

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

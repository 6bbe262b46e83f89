"""Detection of the event that ends a part of a run: the first of several functions to cross zero upwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.acceleration import at_rank
from ..errors import ModelError
from ..kernels import constrained, watch
from ..kernels.watch import CARRIED, OPENING, OWN, PIVOT, RATE
from ..model.accelerations import solved
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import FAILED, RANK_TOLERANCE
from .events import Path, detection_times

__all__ = ["ConeMargin", "EventDetector", "EventFunction", "EventState"]

Array = NDArray[np.float64]
Effort = Callable[[float, Array], Array]

_HALVINGS = 30
_LOOKS = 8  # at a step that may touch a limit
_INSTANT = 1e-9  # of a run: a function that has crossed zero may hang about it for so long


@dataclass(frozen=True, eq=False)
class ConeMargin:
    """Event function of rows: offset + normal . y + size |across y|, for a motion or force y of these rows.

    Attributes
    ----------
    source : int
        Meaning of y, in `kernels.watch`: OPENING or RATE of rows of the plant with all constraints that come and go,
        CARRIED by rows at present (multipliers), or PIVOT of frictions in proportion to loads.
    rows : ndarray of int, shape (m,)
    normal : ndarray, shape (m,)
    across : ndarray, shape (k, m)
    size, offset : float
    """

    source: int
    rows: NDArray[np.int64]
    normal: Array
    across: Array = field(default_factory=lambda: np.zeros((0, 0)))
    size: float = 0.0
    offset: float = 0.0


@dataclass(eq=False)
class EventFunction:
    """Event function: it crosses zero upwards at the event.

    Attributes
    ----------
    value : Cone or callable
        (state) -> float, of an `EventState`. Where an opening changes the sign of its rate from above between two
        looks, it may have been above zero and below again.
    cause : object
        Switch, name of a contact, friction or other thing that changes at the event.
    tolerance : float
        Values up to this count as zero.
    armed : bool
        Whether a value above zero is an event: the function has been below since the last one.
    last : float
        Time of the last event, s.
    """

    value: ConeMargin | Callable[[EventState], float]
    cause: Any
    tolerance: float = 0.0
    armed: bool = False
    last: float = -np.inf


@dataclass(frozen=True, eq=False)
class EventState:
    """State at which event functions of a user are evaluated."""

    t: float
    q: Array
    v: Array
    multipliers: Callable[[str], Array]  # the smallest ones (rows,) of a loop


class EventDetector:
    """Event functions of a part of a run, and their values so far.

    With `limits` (nq, 2), nothing can happen but where a coordinate is at one of them: other steps need no look. Rows
    that share what they carry do so as near as can be to multipliers `beside` (rows,).

    Attributes
    ----------
    cones : kernels.watch.Cones
    looks : kernels.watch.Looks
    triggered : list of EventFunction
        Functions that cross zero at the event.
    """

    def __init__(
        self,
        plant: Plant,
        whole: Plant,
        functions: list[EventFunction],
        duration: float,
        states: int,
        limits: Array | None = None,
        beside: Array | None = None,
    ) -> None:
        self.plant, self.whole, self.functions = plant, whole, functions
        self.duration, self.limits = duration, limits
        self.triggered: list[EventFunction] = []
        self._own = [i for i, f in enumerate(functions) if not isinstance(f.value, ConeMargin)]
        self.cones = _cones(
            [f.value if isinstance(f.value, ConeMargin) else _NONE for f in functions], plant, whole, beside
        )
        n = len(functions)
        self.looks = watch.Looks(
            tolerance=np.array([f.tolerance for f in functions], dtype=np.float64),
            armed=np.array([f.armed for f in functions], dtype=np.bool_),
            last=np.array([f.last for f in functions], dtype=np.float64),
            start=np.zeros(n),
            middle=np.zeros(n),
            end=np.zeros(n),
            x=np.zeros(states),
            u=np.zeros(plant.nu),
            clock=np.array([np.nan, np.inf, 1.0]),
            instant=_INSTANT * duration,
        )
        self._needed = _sources(*self.cones.source)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "watch"}  # it has scratch of this process

    @property
    def compiled(self) -> bool:
        """Whether compiled code can find the steps in which an event may be."""
        return not self._own and isinstance(self.plant, Mechanism) and self.limits is None

    @cached_property
    def watch(self) -> watch.Watch:
        """Event functions in the form for compiled code."""
        plant, whole = cast("Mechanism", self.plant), cast("Mechanism", self.whole)
        return watch.Watch(
            self.cones,
            self.looks,
            whole.arrays,
            constrained.new_work(whole.arrays),
            constrained.new_work(plant.arrays),
            self._needed,
            np.zeros(plant.nq),
            np.zeros(plant.nv),
            np.zeros(self.looks.x.size),
            RANK_TOLERANCE,
        )

    def take(self, other: EventDetector) -> None:
        """Take over the progress of another detector with the same functions."""
        for mine, its in zip(self.looks, other.looks, strict=True):
            if isinstance(mine, np.ndarray):
                mine[...] = its
        for function, its in zip(self.functions, other.functions, strict=True):
            function.armed, function.last = its.armed, its.last

    def first_event(self, T: Array, X: Array, path: Path, effort: Effort) -> float | None:
        """Time of the first event in the steps to T (n+1,), X (n+1, nx), after T[0]; None if there is none.

        ``path(t)`` is the state x between the steps, ``effort(t, x)`` the motor efforts (nu,) there.
        """
        if not self.functions:
            return None
        looks, looking = self.looks, _Looking(self, path, effort)
        before = float(T[0])
        if not watch.stands(looks, before, X[0], effort(before, X[0])):
            looks.start[:] = looking.values(before, X[0])
            watch.begin(looks, before, X[0], effort(before, X[0]))
        event = looking.event_time(before, before, looks.start)
        if event is not None:
            return event
        for t0, t1, x1 in zip(T[:-1].tolist(), T[1:].tolist(), X[1:], strict=True):
            looks.end[:] = looking.values(t1, x1)
            looks.middle[:] = looking.values(0.5 * (t0 + t1))
            if watch.may_cross(looks):
                times = detection_times(t0, t1, bool(looks.clock[watch.FIRST]), self.duration)
                if self.limits is not None:  # asked for seldom: a coordinate may touch a limit and turn round
                    times = np.linspace(t0, t1, _LOOKS + 1)[1:]
                event = looking.event_between(t0, times)
                if event is not None:
                    return event
            watch.passed(self.cones, looks, t1, x1, effort(t1, x1))
        for i in self._own:
            self.functions[i].armed = bool(looks.armed[i])
        return None


class _Looking:
    """Evaluation of event functions along a path, under given efforts."""

    def __init__(self, detector: EventDetector, path: Path, effort: Effort) -> None:
        self.detector, self.path, self.effort = detector, path, effort
        self.plant, self.cones, self.looks = detector.plant, detector.cones, detector.looks

    def values(self, t: float, x: Array | None = None) -> Array:
        """Values of all event functions at a time."""
        detector = self.detector
        x = self.path(t) if x is None else x
        self._look(detector._needed, t, x)
        found = np.array([watch.cone(self.cones, i, source) for i, source in enumerate(self.cones.source.tolist())])
        for i in detector._own:
            found[i] = detector.functions[i].value(self._state(t, x))  # type: ignore[operator]
        return found

    def value(self, i: int, t: float, source: int | None = None) -> float:
        """Value of one event function at a time; `source` makes it another quantity of the same rows, as the rate."""
        x = self.path(t)
        if i in self.detector._own:
            return self.detector.functions[i].value(self._state(t, x))  # type: ignore[operator]
        source = int(self.cones.source[i]) if source is None else source
        self._look(_sources(source), t, x)
        return float(watch.cone(self.cones, i, source))

    def _state(self, t: float, x: Array) -> EventState:
        """State for event functions of a user."""
        nq, plant = self.plant.nq, self.plant

        def multipliers(loop: str) -> Array:
            self._look(_sources(CARRIED), t, x)
            return self.cones.carried[plant.row_slices[loop]].copy()

        return EventState(t, plant.configuration(x[:nq].copy()), x[nq : nq + plant.nv].copy(), multipliers)

    def _look(self, needed: NDArray[np.bool_], t: float, x: Array) -> None:
        """Evaluate the quantities on which event functions depend, at a state."""
        detector, plant = self.detector, self.plant
        u = detector.looks.u
        if needed[CARRIED] or needed[PIVOT] or plant.motions:
            u = _check.plain(self.effort(t, x))  # and brings loads and motions to this time
        if isinstance(plant, Mechanism):
            if watch.look(plant.arrays, detector.watch, needed, x, u) == FAILED:
                q = x[: plant.nq].tolist()
                raise ModelError(f"the mass matrix of {plant.name!r} is not positive definite at q = {q}")
            return
        cones, whole, nq = self.cones, detector.whole, plant.nq
        q, v = x[:nq].copy(), x[nq : nq + plant.nv].copy()
        if needed[OPENING] or needed[RATE]:
            cones.opening[:], cones.rate[:] = whole.residual(q), whole.terms(q, v).row_rate
        if needed[CARRIED]:
            terms = plant.terms(q, v, t)
            g = terms.B @ u - terms.h
            found = solved(terms, g, cap=terms.h.size, checked=False)
            left = g - terms.M @ found.vdot - terms.A.T @ cones.beside
            cones.carried[:] = cones.beside + at_rank(terms, found.rank).A_pinv.T @ left

    def event_between(self, before: float, times: Array) -> float | None:
        """Time of the first event after `before`, by evaluation at some times; the last is the end of the step."""
        values = self.looks.start
        for t in times.tolist():
            seen, values = values, self.looks.end if t == times[-1] else self.values(t)
            peak = self._peak(before, t, seen, values)
            event = self.event_time(before, t, values, peak)
            if event is not None:
                return event
            before = t
        return None

    def _peak(self, a: float, b: float, seen: Array, values: Array) -> tuple[float, int] | None:
        """Time of the first opening that exceeds zero and falls back between a and b, and the index of its function.

        It is searched for where a value is no farther from zero than it moves from one time to the next, or has moved.
        """
        from scipy.optimize import brentq

        looks, duration, found = self.looks, self.detector.duration, None
        moved = np.abs(values - seen)
        turns = (self.cones.source == OPENING) & looks.armed & (values <= looks.tolerance)
        near = np.maximum(seen, values) >= -2.0 * np.maximum(moved, looks.clock[watch.MOVED])
        for i in np.flatnonzero(turns & near).tolist():
            if not self.value(i, a, RATE) > 0.0 > self.value(i, b, RATE):
                continue
            top = brentq(lambda t, i=i: self.value(i, t, RATE), a, b, xtol=1e-15 * duration, rtol=1e-15)
            if self.value(i, top) > looks.tolerance[i] and (found is None or top < found[0]):
                found = top, i
        looks.clock[watch.MOVED] = moved[turns].max(initial=0.0)
        return None if found is None else (self._root(found[1], a, found[0]), found[1])

    def event_time(self, before: float, t: float, values: Array, peak: tuple[float, int] | None = None) -> float | None:
        """Time of the first event between two times, or of a peak, or None; arms functions that are below zero at t."""
        looks, detector = self.looks, self.detector
        above = np.flatnonzero(looks.armed & (values > looks.tolerance)).tolist()
        if not above:
            if peak is None:
                watch.arm(looks, t, values)
                return None
            detector.triggered = [detector.functions[peak[1]]]
            return peak[0]
        at_once, times = 1e-12 * detector.duration, {above[0]: self._root(above[0], before, t)}
        first = times[above[0]]
        for i in above[1:]:
            if first + at_once < t and not self.value(i, min(first + at_once, t)) > 0.0:
                continue  # it crosses zero later than another one
            times[i] = self._root(i, before, t)
            first = min(first, times[i])
        if peak is not None and peak[0] < first:
            detector.triggered = [detector.functions[peak[1]]]
            return peak[0]
        detector.triggered = [detector.functions[i] for i, time in times.items() if time - first <= at_once]
        return first

    def _root(self, i: int, a: float, b: float) -> float:
        """Time of the zero crossing between a and b, or where a value that begins within rounding of zero leaves it.

        A value that begins at zero varies by rounding, and may first fall, as of a foot that hops.
        """
        from scipy.optimize import brentq

        if a == b:
            return a
        level, tolerance, duration = 0.0, float(self.looks.tolerance[i]), self.detector.duration

        def value(t: float) -> float:
            return self.value(i, t) - level

        low = a
        for k in range(1, _HALVINGS):
            if value(low) < -tolerance:
                break
            low = a + (b - a) * 0.5**k
        else:
            low, level = a, tolerance
            if not value(low) < 0.0:
                return a
        if not value(b) > 0.0:  # the end of a step and its dense output differ by rounding
            return b
        return float(brentq(value, low, b, xtol=1e-16 * duration, rtol=1e-15, maxiter=200))


_NONE = ConeMargin(OWN, np.zeros(0, np.int64), np.zeros(0))


def _sources(*used: int) -> NDArray[np.bool_]:
    """Mask (4,) of the quantities, of `kernels.watch`, that event functions use."""
    return np.array([source in used for source in range(PIVOT + 1)])


def _cones(functions: Sequence[ConeMargin], plant: Plant, whole: Plant, beside: Array | None) -> watch.Cones:
    """Event functions of rows in the form for compiled code."""
    width = max((len(f.across) for f in functions), default=0)
    across = [np.zeros((f.rows.size, width)) for f in functions]
    for table, f in zip(across, functions, strict=True):
        table[:, : len(f.across)] = f.across.T if len(f.across) else 0.0
    loaded = plant._loaded if isinstance(plant, Mechanism) else None
    return watch.Cones(
        source=np.array([f.source for f in functions], dtype=np.int64),
        first=np.cumsum([0, *(f.rows.size for f in functions)], dtype=np.int64),
        row=np.concatenate([np.zeros(0, np.int64), *(f.rows for f in functions)]),
        normal=np.concatenate([np.zeros(0), *(f.normal for f in functions)]),
        across=np.concatenate([np.zeros((0, width)), *across]),
        size=np.array([f.size for f in functions], dtype=np.float64),
        offset=np.array([f.offset for f in functions], dtype=np.float64),
        opening=np.zeros(len(whole.row_names)),
        rate=np.zeros(len(whole.row_names)),
        beside=np.zeros(len(plant.row_names)) if beside is None else beside,
        carried=np.zeros(len(plant.row_names)),
        pivot=np.zeros(0 if loaded is None else len(loaded.names)),
    )

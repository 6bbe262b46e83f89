"""Events of one's own, and joint limits: what a run looks out for without being changed by it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import EventError, LimitWarning
from ..model.plant import Plant
from .path import NODES

__all__ = ["LIMITS", "Event", "Observers", "listed_events", "looks", "root"]

Array = NDArray[np.float64]
State = Callable[[float], Array]

LIMITS = ("warn", "stop", "ignore")
_LOOKS = 8  # points at which a long step is looked at
_LONG = 1e-3  # of a run: steps longer than this are long
_SLACK = 1e-9  # radians or sizes of the machine: joints that are beyond a limit by less are at it


@dataclass(frozen=True)
class Event:
    """Something that a run looks out for: a function that crosses zero.

    The run notes time and state of each crossing under the name of the event, and is not changed by it.

    Parameters
    ----------
    function : callable
        ``(t, q, v) -> float`` of time (s), positions (nq,) and velocities (nv,).
    name : str, optional
        What the run calls it; that of the function unless given.
    direction : {0, 1, -1}
        Which crossings count: 1 those upwards, -1 those downwards, 0 both.
    terminal : bool
        Whether the first crossing ends the run.

    Raises
    ------
    TypeError, ValueError
        Where these are none.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> level = Event(lambda t, q, v: q[0] - 2.5, "level", terminal=True)
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=2.0, events=[level])
    >>> [(event["kind"], round(event["time"], 3)) for event in run.events()], run.message
    ([('level', 0.395)], "The event 'level' ended the run.")
    """

    function: Callable[[float, Array, Array], float]
    name: str = ""
    direction: int = 0
    terminal: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"an event needs a function (t, q, v) -> float, got {self.function!r}")
        if not isinstance(self.name, str):
            raise TypeError(f"the name of an event must be a string, got {self.name!r}")
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        if not name.strip():
            raise ValueError(f"the name of an event must not be blank, got {name!r}")
        object.__setattr__(self, "name", name)
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise ValueError(f"the direction of event {name!r} must be 1, -1 or 0, got {self.direction!r}")
        object.__setattr__(self, "direction", int(self.direction))
        object.__setattr__(self, "terminal", _check.flag(self.terminal, f"terminal of event {name!r}"))

    def __call__(self, t: float, q: Array, v: Array) -> float:
        """The value of the function.

        Raises
        ------
        EventError
            Where it fails.
        """
        try:
            return _check.number(self.function(t, q, v), f"the value of event {self.name!r}")
        except Exception as error:
            raise EventError(
                f"the event {self.name!r} failed at t = {t:.9g} s: {type(error).__name__}: {error}"
            ) from error


def listed_events(given: Any) -> list[Event]:
    """Events from what a user gives: one or several, plain functions with the attributes that scipy knows, too."""
    single = callable(given) or isinstance(given, Event)
    found = []
    for x in [given] if single else _check.sequence(given, "events", "Event(function, name), or functions (t, q, v)"):
        if not isinstance(x, Event):
            x = Event(x, direction=int(np.sign(getattr(x, "direction", 0))), terminal=getattr(x, "terminal", False))
        found.append(x)
    names = [event.name for event in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"events need names of their own: {', '.join(map(repr, twice))} stands for several")
    return found


class _Limit(NamedTuple):
    """A limit of a joint coordinate; `side` is 1 for the upper one."""

    coordinate: int
    side: int
    at: float
    name: str
    unit: str


class Seen(NamedTuple):
    """What was found in a step: events in order, and the signs of all functions at its end."""

    events: list[dict[str, Any]]
    signs: Array
    stop: float  # when the run ends; infinite
    why: str  # it ends


class Observers:
    """The events and limits of a run.

    Attributes
    ----------
    found : list of dict
        What has happened so far: time, kind, q, v.
    limits : ndarray, shape (nq, 2)
        Where coordinates count as beyond a limit; infinite where nothing is said of it.
    """

    def __init__(self, plant: Plant, events: Sequence[Event], limits: str, duration: float) -> None:
        self.plant, self.events, self.duration = plant, list(events), duration
        self.stops = limits == "stop"
        metres = plant.position_spans
        self.limits = np.array(plant.limits, dtype=np.float64) + _SLACK * np.outer(metres, [-1.0, 1.0])
        if limits == "ignore":
            self.limits[:] = -np.inf, np.inf
        self._limits = [
            _Limit(i, side, float(plant.limits[i, int(side > 0)]), plant.position_names[i], plant.position_units[i])
            for i in range(plant.nq)
            for side in (-1, 1)
            if np.isfinite(self.limits[i, int(side > 0)])
        ]
        self.found: list[dict[str, Any]] = []
        self._signs = np.zeros(len(self.events) + len(self._limits))
        self._first = True

    def begin(self, t: float, x: Array) -> None:
        """A run begins; joints that are beyond a limit have passed it.

        Raises
        ------
        ValueError
            Where they are, and limits end the run.
        """
        self.found.clear()
        self._first, self._signs = True, np.sign(self._values(t, x))
        for k in np.flatnonzero(self._signs[len(self.events) :] > 0.0) + len(self.events):
            event = self._told(int(k), t, x)
            if self.stops:
                raise ValueError(f"q0 is beyond the {event['what']} already; limits='stop' ends a run that passes it")
            self.found.append(event)

    @property
    def needed(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.events or self._limits)

    def look(self, T: Array, state: State) -> Seen:
        """What happens in a step from T[0] to T[1]; it is kept by `keep`."""
        signs, events, before = self._signs.copy(), [], float(T[0])
        stop, why = np.inf, ""
        for t in np.union1d(looks(T[0], T[1], self._first, self.duration), self._turns(T, state)):
            values = self._values(float(t), state(float(t)))
            new = np.where(values == 0.0, signs, np.sign(values))
            for k in np.flatnonzero(new * signs < 0.0):
                if k < len(self.events) and self.events[k].direction == -new[k]:
                    continue
                if k >= len(self.events) and new[k] < 0.0:  # back within the limit
                    continue
                when = root(lambda s, k=k: float(self._values(s, state(s))[k]), before, float(t), self.duration)
                events.append(self._told(int(k), when, state(when)))
                ends = self.events[k].terminal if k < len(self.events) else self.stops
                if ends and when < stop:
                    stop, why = when, f"The {events[-1]['what']} ended the run."
            signs, before = new, float(t)
            if np.isfinite(stop):
                break
        events = sorted((e for e in events if e["time"] <= stop), key=lambda event: event["time"])
        return Seen(events, signs, stop, why)

    def keep(self, seen: Seen) -> None:
        """The step that was looked at counts."""
        self._signs, self._first = seen.signs, False
        self.found += seen.events

    def copy(self) -> Observers:
        """Another one that has seen the same, and goes on alone."""
        other = object.__new__(Observers)
        vars(other).update(vars(self), found=list(self.found), _signs=self._signs.copy())
        return other

    def warn(self, stacklevel: int, since: int = 0) -> None:
        """Tell of limits that were passed, one warning a joint; of those in `found` from an index on."""
        told = {event.get("joint") for event in self.found[:since]}
        for event in self.found[since:]:
            joint = event.get("joint")
            if joint is None or joint in told:
                continue
            told.add(joint)
            goes_on = "" if self.stops else " and the run goes on: nothing stops a joint at its limits by itself"
            warnings.warn(
                f"The {event['what']} is passed at t = {event['time']:.6g} s{goes_on}. limits='stop' ends a run there, "
                "limits='ignore' is silent.",
                LimitWarning,
                stacklevel=stacklevel + 1,
            )

    def _values(self, t: float, x: Array) -> Array:
        """Of all functions; those of limits are positive beyond."""
        nq, nv = self.plant.nq, self.plant.nv
        own = [event(t, x[:nq].copy(), x[nq : nq + nv].copy()) for event in self.events]
        beyond = [k.side * (x[k.coordinate] - self.limits[k.coordinate, int(k.side > 0)]) for k in self._limits]
        return np.array([*own, *beyond])

    def _turns(self, T: Array, state: State) -> Array:
        """When coordinates turn round within a step, next to a limit: there they may be beyond it for a moment."""
        if not self._limits:
            return np.zeros(0)
        s = np.append(0.0, NODES)
        Q = np.array([state(float(t)) for t in T[0] + s * (T[1] - T[0])])
        found = []
        for i, low, high in {(k.coordinate, *self.limits[k.coordinate]) for k in self._limits}:
            least, most = Q[:, i].min(), Q[:, i].max()
            spread = most - least  # between the samples it goes on by less
            if least - spread < low < most + spread or least - spread < high < most + spread:
                turns = np.polynomial.Polynomial.fit(s, Q[:, i], NODES.size, domain=[0.0, 1.0]).deriv().roots()
                found.append(turns[np.isreal(turns)].real)
        turns = np.concatenate([np.zeros(0), *found])
        return T[0] + turns[(turns > 0.0) & (turns < 1.0)] * (T[1] - T[0])

    def _told(self, k: int, t: float, x: Array) -> dict[str, Any]:
        nq, nv = self.plant.nq, self.plant.nv
        event: dict[str, Any] = {"time": t, "conditioning": np.nan, "q": x[:nq].copy(), "v": x[nq : nq + nv].copy()}
        event["rank"] = self.plant.terms(event["q"], np.zeros(nv)).rank
        if k < len(self.events):
            name = self.events[k].name
            return event | {"kind": name, "what": f"event {name!r}"}
        limit = self._limits[k - len(self.events)]
        which = "upper" if limit.side > 0 else "lower"
        what = f"{which} limit of {limit.name!r}, {limit.at:.6g} {limit.unit},"
        return event | {"kind": f"{which} limit {limit.name}", "what": what, "joint": limit.name}


def looks(t0: float, t1: float, first: bool, duration: float) -> Array:
    """Times at which a step of a run is looked at, without its start."""
    return np.linspace(t0, t1, _LOOKS + 1)[1:] if first or t1 - t0 > _LONG * duration else np.array([t1])


def root(value: Callable[[float], float], a: float, b: float, duration: float) -> float:
    """Where a function that has changed its sign between a and b is zero."""
    from scipy.optimize import brentq

    low, high = value(a), value(b)
    if low == 0.0 or np.sign(low) == np.sign(high):  # the end of a step and its path differ by rounding
        return a if abs(low) <= abs(high) else b
    return float(brentq(value, a, b, xtol=1e-16 * duration, rtol=1e-15, maxiter=200))

"""Events of the user and joint limits: crossings that a run records without being changed by them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import EventError, InputError, InputTypeError, LimitWarning
from ..model.plant import Plant
from .path import NODES

__all__ = ["LIMITS", "Event", "EventRecorder", "detection_times", "listed_events", "root"]

Array = NDArray[np.float64]
Path = Callable[[float], Array]  # the state at a time within a step

LIMITS = ("hold", "warn", "stop", "ignore")
_POINTS = 8  # at which the functions are evaluated within a long step
_LONG = 1e-3  # of a run: steps longer than this are long
_SLACK = 1e-9  # radians or sizes of the machine: joints that are beyond a limit by less are at it


@_check.knows_its_keywords
@dataclass(frozen=True)
class Event:
    """Event that a run records: a function that crosses zero.

    The run notes time and state of each crossing under the name of the event, and is not changed by it.

    Parameters
    ----------
    function : callable
        ``(t, q, v) -> float`` of time (s), positions (nq,) and velocities (nv,).
    name : str, optional
        Name of the event in the run; defaults to the name of the function.
    direction : {0, 1, -1}
        Crossings that count: 1 those upwards, -1 those downwards, 0 both.
    terminal : bool
        Whether the first crossing ends the run.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid.

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
            raise InputTypeError(f"an event needs a function (t, q, v) -> float, got {self.function!r}")
        if not isinstance(self.name, str):
            raise InputTypeError(f"the name of an event must be a string, got {self.name!r}")
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        if not name.strip():
            raise InputError(f"the name of an event must not be blank, got {name!r}")
        object.__setattr__(self, "name", name)
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise InputError(f"the direction of event {name!r} must be 1, -1 or 0, got {self.direction!r}")
        object.__setattr__(self, "direction", int(self.direction))
        object.__setattr__(self, "terminal", _check.flag(self.terminal, f"terminal of event {name!r}"))

    def __call__(self, t: float, q: Array, v: Array) -> float:
        """Value of the function.

        Raises
        ------
        EventError
            If it fails.
        """
        try:
            value = self.function(t, q, v)
            if isinstance(value, (bool, np.bool_)):
                raise InputTypeError(f"it returned {value}; return a signed number that crosses zero, such as t - 0.2")
            return _check.number(value, f"the value of event {self.name!r}")
        except Exception as error:
            raise EventError(
                f"the event {self.name!r} failed at t = {t:.9g} s: {type(error).__name__}: {error}"
            ) from error


def listed_events(given: Any) -> list[Event]:
    """Events from what a user gives: one or several, or plain functions with the attributes that scipy uses."""
    single = callable(given) or isinstance(given, Event)
    events = []
    for x in [given] if single else _check.sequence(given, "events", "Event(function, name), or functions (t, q, v)"):
        if not isinstance(x, Event):
            x = Event(x, direction=int(np.sign(getattr(x, "direction", 0))), terminal=getattr(x, "terminal", False))
        events.append(x)
    names = [event.name for event in events]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"events need names of their own: {', '.join(map(repr, twice))} stands for several")
    return events


class _Limit(NamedTuple):
    """Limit of a joint coordinate; `side` is 1 for the upper one and -1 for the lower one."""

    coordinate: int
    side: int
    at: float
    name: str
    unit: str


class StepEvents(NamedTuple):
    """Events in a step, in order, and the signs of all event functions at its end."""

    events: list[dict[str, Any]]
    signs: Array
    stop: float  # when the run ends; infinite
    why: str  # it ends


class EventRecorder:
    """Recorder of the events of a run, and of the joint limits that it passes.

    Attributes
    ----------
    recorded : list of dict
        Events so far: time, kind, q, v.
    limits : ndarray, shape (nq, 2)
        Bounds beyond which coordinates count as past a limit; infinite where limits are not recorded.
    """

    def __init__(self, plant: Plant, events: Sequence[Event], limits: str, duration: float) -> None:
        self.plant, self.events, self.duration = plant, list(events), duration
        self.stops = limits == "stop"
        metres = plant.position_scale
        self.limits = np.array(plant.limits, dtype=np.float64) + _SLACK * np.outer(metres, [-1.0, 1.0])
        if limits in ("ignore", "hold"):  # end stops are contacts
            self.limits[:] = -np.inf, np.inf
        self._limits = [
            _Limit(i, side, float(plant.limits[i, int(side > 0)]), plant.position_names[i], plant.position_units[i])
            for i in range(plant.nq)
            for side in (-1, 1)
            if np.isfinite(self.limits[i, int(side > 0)])
        ]
        self.recorded: list[dict[str, Any]] = []
        self._signs = np.zeros(len(self.events) + len(self._limits))
        self._first = True

    def begin(self, t: float, x: Array) -> None:
        """Begin a run at a state; joints that are beyond a limit count as having passed it.

        Raises
        ------
        ValueError
            Where a joint is beyond a limit, and limits end the run.
        """
        self.recorded.clear()
        self._first, self._signs = True, np.sign(self._values(t, x))
        for k in np.flatnonzero(self._signs[len(self.events) :] > 0.0) + len(self.events):
            event = self._event(int(k), t, x)
            if self.stops:
                raise InputError(f"q0 is beyond the {event['what']} already; limits='stop' ends a run that passes it")
            self.recorded.append(event)

    @property
    def active(self) -> bool:
        """Whether there is any event or limit to record."""
        return bool(self.events or self._limits)

    def detect(self, T: Array, path: Path) -> StepEvents:
        """Events in a step from T[0] to T[1]; `accept` records them."""
        signs, events, before = self._signs.copy(), [], float(T[0])
        stop, why = np.inf, ""
        for t in np.union1d(detection_times(T[0], T[1], self._first, self.duration), self._turning_times(T, path)):
            values = self._values(float(t), path(float(t)))
            new = np.where(values == 0.0, signs, np.sign(values))
            for k in np.flatnonzero(new * signs < 0.0):
                if k < len(self.events) and self.events[k].direction == -new[k]:
                    continue
                if k >= len(self.events) and new[k] < 0.0:  # back within the limit
                    continue
                when = root(lambda s, k=k: float(self._values(s, path(s))[k]), before, float(t), self.duration)
                events.append(self._event(int(k), when, path(when)))
                ends = self.events[k].terminal if k < len(self.events) else self.stops
                if ends and when < stop:
                    stop, why = when, f"The {events[-1]['what']} ended the run."
            signs, before = new, float(t)
            if np.isfinite(stop):
                break
        events = sorted((e for e in events if e["time"] <= stop), key=lambda event: event["time"])
        return StepEvents(events, signs, stop, why)

    def accept(self, events: StepEvents) -> None:
        """Record the events of a step that is accepted."""
        self._signs, self._first = events.signs, False
        self.recorded += events.events

    def copy(self) -> EventRecorder:
        """Independent copy, with the same events so far."""
        other = object.__new__(EventRecorder)
        vars(other).update(vars(self), recorded=list(self.recorded), _signs=self._signs.copy())
        return other

    def warn(self, stacklevel: int, since: int = 0) -> None:
        """Warn of limits that were passed, once for each joint, by the events in `recorded` from an index on."""
        joints = {event.get("joint") for event in self.recorded[:since]}
        for event in self.recorded[since:]:
            joint = event.get("joint")
            if joint is None or joint in joints:
                continue
            joints.add(joint)
            then = (
                ", and the run ended there, as limits='stop' asks."
                if self.stops
                else " and the run goes on, as limits='warn' asks. limits='hold' makes the limits end stops, limits="
                "'stop' ends a run there, limits='ignore' is silent."
            )
            warnings.warn(
                f"The {event['what']} is passed at t = {event['time']:.6g} s{then}",
                LimitWarning,
                stacklevel=stacklevel + 1,
            )

    def _values(self, t: float, x: Array) -> Array:
        """Values of all event functions; those of limits are positive beyond the limit."""
        nq, nv = self.plant.nq, self.plant.nv
        own = [event(t, x[:nq].copy(), x[nq : nq + nv].copy()) for event in self.events]
        beyond = [k.side * (x[k.coordinate] - self.limits[k.coordinate, int(k.side > 0)]) for k in self._limits]
        return np.array([*own, *beyond])

    def _turning_times(self, T: Array, path: Path) -> Array:
        """Times at which coordinates near a limit turn back within a step: they may be past it for a moment."""
        if not self._limits:
            return np.zeros(0)
        s = np.append(0.0, NODES)
        Q = np.array([path(float(t)) for t in T[0] + s * (T[1] - T[0])])
        times = []
        for i, low, high in {(k.coordinate, *self.limits[k.coordinate]) for k in self._limits}:
            least, most = Q[:, i].min(), Q[:, i].max()
            spread = most - least  # between the samples it goes on by less
            if least - spread < low < most + spread or least - spread < high < most + spread:
                roots = np.polynomial.Polynomial.fit(s, Q[:, i], NODES.size, domain=[0.0, 1.0]).deriv().roots()
                times.append(roots[np.isreal(roots)].real)
        roots = np.concatenate([np.zeros(0), *times])
        return T[0] + roots[(roots > 0.0) & (roots < 1.0)] * (T[1] - T[0])

    def _event(self, k: int, t: float, x: Array) -> dict[str, Any]:
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


def detection_times(t0: float, t1: float, first: bool, duration: float) -> Array:
    """Times in a step at which event functions are evaluated, without its start."""
    return np.linspace(t0, t1, _POINTS + 1)[1:] if first or t1 - t0 > _LONG * duration else np.array([t1])


def root(value: Callable[[float], float], a: float, b: float, duration: float) -> float:
    """Root of a function that changes its sign between a and b."""
    from scipy.optimize import brentq

    low, high = value(a), value(b)
    if low == 0.0 or np.sign(low) == np.sign(high):  # the end of a step and its path differ by rounding
        return a if abs(low) <= abs(high) else b
    return float(brentq(value, a, b, xtol=1e-16 * duration, rtol=1e-15, maxiter=200))

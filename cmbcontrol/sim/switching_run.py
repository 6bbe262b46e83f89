"""Run whose constraints change: parts with the same constraints, and the changes between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import AssemblyError, ModelError, PainleveError, Status, SwitchingError
from ..kernels.layout import MOTIONS, MOTORS, WORKS
from ..kernels.watch import CARRIED, OPENING, PIVOT, RATE
from ..model.contacts import TOUCH
from ..model.dry_friction import Rub
from ..model.terms import Terms
from .branch_selection import BranchSelector
from .constraint_modes import ConstraintModes, engages
from .contact_reset import REST, SINK, Reset, painleve
from .control import Control
from .event_detection import ConeMargin, EventDetector, EventFunction, EventState
from .output import RunPart
from .path import NODES, coefficients
from .run import INSTANT, IntegratorState, Record, Run
from .singular_passages import advance_through
from .switching import Engage, Lock, Release, Switch

__all__ = ["ModeSwitch", "RunHistory", "run_in_parts"]

Array = NDArray[np.float64]

_MANY, _CROWDED = 100, 1e-4  # so many changes in such a part of a run crowd; events of a fast machine do not
_LEAP, _LONGEST = 1e-6, 1e-3  # of a run: the first step over them, and the longest one
_FURTHER = 4.0  # from one to the next
_STUCK = Status.PROJECTION, Status.STEP_TOO_SMALL  # a step fails, however short it is
_BEGUN = 30.0  # times the speed below which a contact that begins to slide keeps its direction: it is clear there
_SERIES = 8  # impacts before the last one, of which the limit of a sequence is told
_PARADOX = 1e-3  # friction that makes the push of its contact grow a thousandfold leaves no motion


@dataclass
class RunHistory:
    """History of a run so far: its parts, their records, the energy lost in impacts before each, and the events."""

    segments: list[tuple[Run, list[Record], float]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def advance(
        self, run: Run, state: IntegratorState, until: float, selector: BranchSelector, loss: float = 0.0
    ) -> Record:
        """Run a new part, up to a time at the latest; returns its last record."""
        records: list[Record] = []
        self.segments.append((run, records, loss))
        try:
            advance_through(run, state, until, selector, records)
        finally:
            for record in records:  # one that has failed before its begin stands where the run does
                record.begin(state.t, state.x, run.plant.nu)
        return records[-1]

    @property
    def parts(self) -> list[RunPart]:
        """Parts of the run, one for each record; the last one holds how the run ended."""
        return [RunPart(run, record, loss) for run, records, loss in self.segments for record in records]


def run_in_parts(
    run: Run, state: IntegratorState, modes: ConstraintModes, selector: BranchSelector, history: RunHistory
) -> None:
    """Run to the end, from one mode to the next. If an exception is raised, the history holds all up to there.

    Raises
    ------
    ModelError, ValueError
        Where the start contradicts the constraints.
    """
    if not modes.changing:
        history.advance(run, state, run.t_end, selector)
        return
    switching = ModeSwitch(run, state, modes, history.events)
    switching.apply(switching.due(), [])
    while True:
        switching.meet_sample()
        part = switching.part()
        record = history.advance(part, state, min(run.t_end, switching.next), selector, switching.lost)
        ended = record.status
        going = ended == Status.COMPLETED or switching.stuck(record)
        if not going or state.t >= run.t_end * (1.0 - INSTANT):
            return
        try:
            switching.go_on(part, record, history)
        except (AssemblyError, ModelError) as error:
            if ended != Status.COMPLETED:
                record.status = ended
                return
            record.status = Status.PAINLEVE if isinstance(error, PainleveError) else Status.SWITCHING
            record.error = error
            return


class ModeSwitch:
    """Changes of the constraints between the parts of a run, with the times of those that are still to come."""

    def __init__(self, run: Run, state: IntegratorState, modes: ConstraintModes, events: list[dict[str, Any]]) -> None:
        self.run, self.state, self.modes, self.events = run, state, modes, events
        self.size = run.plant.size
        timed: list[tuple[float, Switch | _Settled]]
        timed = [(self._on_grid(s.at), s) for s in modes.switches if s.at is not None]
        self.waiting = sorted(timed, key=lambda pair: pair[0])
        self.conditions = [EventFunction(partial(_condition, s), s) for s in modes.switches if s.when is not None]
        self.jammed: set[str] = set()
        self.force = 0.0  # what counts as no force, N or N m
        self.lost = 0.0  # energy, J
        self.recent: list[float] = []  # times of the last changes
        self.struck: dict[str, list[float]] = {}  # times of the last impacts, of what has not come to rest
        self.beside: dict[str, float] = {}  # what multipliers, by row, have beside the smallest ones
        self.leap, self.leapt = 0.0, 0.0  # s: the last step over changes that crowd, and when it ended

    def copied(self, run: Run, state: IntegratorState, modes: ConstraintModes) -> ModeSwitch:
        """Copy for another run at the same state."""
        other = object.__new__(ModeSwitch)
        vars(other).update(vars(self), run=run, state=state, modes=modes)
        for name in ("waiting", "events", "recent"):
            setattr(other, name, list(getattr(self, name)))
        other.jammed = set(self.jammed)
        other.struck = {name: list(times) for name, times in self.struck.items()}
        other.conditions = [replace(function) for function in self.conditions]
        return other

    def part(self) -> Run:
        """Next part of the run, with the constraints that hold now, up to the next event."""
        run, modes = self.run, self.modes
        functions, states = self.event_functions(), self.state.x.size
        detector = None
        if functions:
            beside = np.array([self.beside.get(name, 0.0) for name in modes.present.row_names])
            detector = EventDetector(modes.present, modes.whole, functions, run.t_end, states, self.limits(), beside)
        q = self.state.x[: run.plant.nq].copy()
        return replace(run.on(modes.present, q, modes.ranks), detector=detector, slides=modes.slides())

    # -- when -------------------------------------------------------------------------------------

    @property
    def next(self) -> float:
        """Time of the next change that has a time, s."""
        return self.waiting[0][0] if self.waiting else np.inf

    def _on_grid(self, at: float) -> float:
        """Time moved onto a sample time where it is one but for rounding."""
        period = self.run.control.period
        if period is None or abs(at / period - round(at / period)) > 1e-9:
            return at
        return round(at / period) * period

    def meet_sample(self) -> None:
        """Move the state to the next sample time where it is there but for rounding."""
        following = self.run.control.next
        if 0.0 < following - self.state.t < INSTANT * self.run.t_end:
            self.state.t = following

    def meet(self, t: float, period: float) -> None:
        """Move changes onto the time t of a step where they are there but for rounding."""
        self.waiting = [(t if abs(at - t) <= 1e-9 * period else at, s) for at, s in self.waiting]

    def due(self) -> list[Switch | _Settled]:
        """Take out the changes whose time has come."""
        now = self.state.t + INSTANT * self.run.t_end
        ready = [s for at, s in self.waiting if at <= now]
        self.waiting = self.waiting[len(ready) :]
        return ready

    def event_functions(self) -> list[EventFunction]:
        """Event functions that may end the next part of the run."""
        modes = self.modes
        functions = list(self.conditions)
        for s in modes.switches:
            if isinstance(s, Release) and s.force is not None and s.constraint in modes.held:
                functions.append(EventFunction(partial(_force, s), s))
        for name in modes.contacts:
            if name in modes.closed:
                functions.append(EventFunction(self._pull(name), name, self.force, armed=name not in self.jammed))
            else:
                gap = ConeMargin(OPENING, modes.rows_of(modes.whole, name), -modes.direction[name])
                functions.append(EventFunction(gap, name, SINK * self.size, armed=True))
        for rub in modes.rubs.values():
            if rub.normal is not None and rub.name not in modes.closed:
                continue
            if rub.name not in modes.sliding:
                functions.append(EventFunction(self._beyond(rub), rub, self.force, armed=True))
                continue
            slip = partial(ConeMargin, RATE, modes.rows_of(modes.whole, *modes.sticking(rub)), across=rub.tangents)
            still, way = np.zeros(rub.tangents.shape[1]), modes.sliding[rub.name] @ rub.tangents
            # above zero where it has stopped, or turned by 60 degrees from the direction in which it began to slide;
            # armed, since what slides from rest to another side than that of its begin would be driven by its friction
            functions.append(EventFunction(slip(normal=-way, size=0.5), rub, REST * self.size, armed=True))
            if len(modes.sliding[rub.name]) > 1:  # in a plane the velocity turns at rest, and does not pass zero
                functions.append(EventFunction(slip(normal=still, size=-1.0, offset=0.5 * REST * self.size), rub))
            if rub.name in modes.outset:  # it slides clearly faster than its friction needs to know the direction
                clear = slip(normal=still, size=1.0, offset=-_BEGUN * modes.outset[rub.name])
                functions.append(EventFunction(clear, _Begun(rub.name), armed=True))
            if rub.normal is not None:  # friction makes the push of a contact grow without bound
                of = modes.present._loaded.names.index(rub.element)  # type: ignore[attr-defined]
                pivot = ConeMargin(PIVOT, np.array([of]), np.array([-1.0]), offset=_PARADOX)
                functions.append(EventFunction(pivot, _Paradox(rub.name), armed=True))
        return functions

    def limits(self) -> Array | None:
        """Limits (nq, 2) of the coordinates where only open end stops may end the next part; else None."""
        modes = self.modes
        others = set(modes.contacts) - modes.stops or modes.stops & modes.closed or self.conditions or modes.rubs
        forces = any(isinstance(s, Release) and s.force is not None for s in modes.switches)
        return None if others or forces or not modes.stops else np.asarray(modes.whole.limits)

    def _pull(self, name: str) -> ConeMargin:
        """Event function of a closed contact that would have to pull."""
        modes = self.modes
        way = modes.direction[name] if name not in modes.sliding else modes.sides[name]
        return ConeMargin(CARRIED, modes.rows_of(modes.present, modes.carrier(name)), way)

    def _beyond(self, rub: Rub) -> ConeMargin:
        """Event function of the force, N or N m, that sticking needs beyond static friction."""
        rows, bound = self.modes.rows_of(self.modes.present, *self.modes.sticking(rub)), float(rub.law.static)
        if rub.normal is None:
            return ConeMargin(CARRIED, rows, np.zeros(rows.size), rub.tangents, 1.0, -bound)
        return ConeMargin(CARRIED, rows, bound * rub.normal, rub.tangents, 1.0)

    def stuck(self, record: Record) -> bool:
        """Whether a part has ended since closed contacts leave no motion, as of rods that come to be stretched."""
        return record.status in _STUCK and bool(self.modes.closed)

    def go_on(self, part: Run, record: Record, history: RunHistory) -> None:
        """Change the constraints at the end of a part, by its time or by an event, or where it is `stuck`."""
        if self.stuck(record):
            record.status = Status.COMPLETED
            self.leap_over(history)  # an impulse ends the motion
            self.state.h = _LEAP * self.run.t_end  # not the step that failed
            for name in self.modes.closed:  # where it is now: points that held it apart cannot all hold
                self.modes.land(name, self.state.x[: self.run.plant.nq])
            return
        triggered = part.detector.triggered if self.state.stopped else []  # type: ignore[union-attr]
        self.apply(self.due(), triggered)
        while self.crowded:
            self.leap_over(history)

    def effort(self, terms: Terms, c: Array) -> Array:
        """Motor efforts now; the first ones of a sampled law are evaluated here."""
        control: Control = self.run.control
        if self.state.t == 0.0 and control.period is not None and control.drive is None and not control.delay.any():
            return control.first(terms)
        return control.effort(self.state.t, terms, c)

    # -- what -------------------------------------------------------------------------------------

    def apply(self, due: list[Switch | _Settled], triggered: list[EventFunction]) -> None:
        """Change the constraints as switches and contacts require, and the velocity with them."""
        nq, nv = self.run.plant.nq, self.run.plant.nv
        self.run.acting.at(self.state.t)
        causes = [function.cause for function in triggered]
        for function in triggered:
            function.armed, function.last = False, self.state.t
        for cause in causes:
            if isinstance(cause, _Paradox):
                raise painleve(cause.name, self.state.t)
        opening = {cause for cause in causes if isinstance(cause, str) and cause in self.modes.closed}
        changing = {cause.name for cause in causes if isinstance(cause, Rub)}
        settled = [s.name for s in due if isinstance(s, _Settled)]
        switches = [s for s in (*due, *causes) if isinstance(s, Switch)]
        if settled and not switches and not causes:  # nothing but that a sequence of impacts has come to its end
            self._log([f"engaged {n}" for n in settled], 0.0)
            return
        q = self.state.x[:nq].copy()
        kinds = self._switch(switches, q)
        touching = self._touching(q, opening)
        before, slid = self.modes.closed, dict(self.modes.sliding)
        reset = Reset(self, q, self.state.x[nq : nq + nv].copy(), self.state.x[nq + nv + WORKS :], touching, changing)
        reset.close_all()
        hits = reset.strike()
        for name in hits:
            self.struck[name] = [*self.struck.get(name, [])[-_SERIES:], self.state.t]
        self.modes.closed = reset.rest()
        self.jammed, self.beside = reset.jammed & self.modes.closed, reset.beside
        ways = {"struck in turn": reset.in_turn if len(reset.in_turn) > 1 else [], "struck at once": reset.at_once}
        kinds = [f"impact {n}" for n in hits] + [f"{way} {', '.join(ns)}" for way, ns in ways.items() if ns] + kinds
        kinds += [f"engaged {n}" for n in settled]
        kinds += [
            f"engaged {n}"
            for n in touching
            if n in self.modes.closed - before and not (n in reset.subdued and self._settles(n))
        ]
        kinds += [f"released {n}" for n in sorted(before - self.modes.closed) if not self._unsettled(n)]
        kinds += self._changes_of_sliding(before, slid)
        kinds += [f"jammed {n}" for n in sorted(self.jammed)]
        self.state.x = self.state.x.copy()
        self.state.x[:nq], self.state.x[nq : nq + nv] = reset.q, reset.v
        self.state.x[nq + nv + MOTIONS] += reset.motion_work
        self._log(kinds, reset.loss)

    def _settles(self, name: str) -> bool:
        """Whether a closed contact goes on to strike, faster and faster, until a time that is known; then it is queued.

        Intervals between its last impacts are a geometric series, whose sum is its limit (Aitken); so are those between
        every k-th impact, whose ratio is known more exactly. After two impacts only, the ratio is the restitution.
        """
        times = self.struck.pop(name, [])
        rising = np.flatnonzero(np.diff(times, 2) >= 0.0)  # before them, something else has moved it
        times = times[rising[-1] + 1 :] if rising.size else times
        if len(times) < 2:
            return False
        k = max((len(times) - 1) // 2, 1)
        interval, ratio = times[-1] - times[-1 - k], float(self.modes.contacts[name].restitution)
        if len(times) > 2:
            ratio = interval / (times[-1 - k] - times[-1 - 2 * k])
        if not 0.0 < ratio < 1.0:
            return False
        self.waiting.append((self.state.t + interval * ratio / (1.0 - ratio), _Settled(name)))
        self.waiting.sort(key=lambda pair: pair[0])
        return True

    def _unsettled(self, name: str) -> bool:
        """Whether a contact opens before its queued time of rest; it is then removed from the queue."""
        before = len(self.waiting)
        self.waiting = [(at, s) for at, s in self.waiting if not (isinstance(s, _Settled) and s.name == name)]
        return len(self.waiting) < before

    @property
    def crowded(self) -> bool:
        """Whether changes follow each other so closely that a run from one to the next would take forever."""
        now = self.state.t < min(self.next, self.run.t_end * (1.0 - INSTANT))
        return now and len(self.recent) == _MANY and self.state.t - self.recent[0] < _CROWDED * self.run.t_end

    def leap_over(self, history: RunHistory) -> None:
        """Step over changes that are too close: impacts and forces as one impulse (`Reset.leap`)."""
        run, state, nq = self.run, self.state, self.run.plant.nq
        nv, end = run.plant.nv, run.t_end
        since = self.recent[0] if self.recent else state.t
        soon = self.leap > 0.0 and since < self.leapt + self.leap  # changes crowd where the last step has led
        self.leap = min(_FURTHER * self.leap, _LONGEST * end) if soon else _LEAP * end
        until = min(state.t + self.leap, run.control.next, self.next, end)
        if until - state.t < INSTANT * end:
            self.recent.clear()
            return
        h, x = until - state.t, state.x.copy()
        touching, missed = list[str](), set(self._touching(state.x[:nq], set()))
        step, work = None, 0.0
        while step is None or missed:
            for name in missed - self.modes.closed:
                self.modes.land(name, state.x[:nq])
            touching += sorted(missed)
            q, v, c = x[:nq].copy(), x[nq : nq + nv].copy(), x[nq + nv + WORKS :].copy()
            step = Reset(self, q, v, c, touching, set())
            work, missed = step.leap(h)
        x[:nq], x[nq : nq + nv], x[nq + nv + WORKS :] = step.q, step.v, step.c
        x[nq + nv + MOTORS] += work
        self._log([f"stepped over {h:.2g} s of changes"], step.loss)
        part = replace(run.on(self.modes.present, state.x[:nq].copy(), self.modes.ranks), slides=self.modes.slides())
        state.x = np.concatenate([state.x[:nq], x[nq : nq + nv], state.x[nq + nv :]])  # the impulse comes first
        record = Record()
        history.segments.append((part, [record], self.lost))
        record.begin(state.t, state.x, run.plant.nu)
        way = [state.x + s * (x - state.x) for s in NODES]
        F = coefficients(state.x, way)
        record.append(np.array([state.t, until]), np.array([state.x, x]), F[None], run.control.command[None].copy())
        state.t, state.x, state.taken, self.leapt = until, x, state.taken + 1, until
        self.recent.clear()
        self.apply([], [])

    def _switch(self, switches: list[Switch], q: Array) -> list[str]:
        """Switch constraints on and off; returns the names of the events."""
        modes, kinds = self.modes, []
        for s in switches:
            if engages(s) == (s.constraint in modes.held):
                continue
            if not engages(s):
                modes.held.remove(s.constraint)
                kinds.append(f"released {s.constraint}")
                continue
            if isinstance(s, Lock) or s.capture:  # type: ignore[attr-defined]
                modes.hold(s.constraint, q)
            else:
                self._require_closed(s, q)  # type: ignore[arg-type]
            modes.held.add(s.constraint)
            kinds.append(f"engaged {s.constraint}")
        return kinds

    def _require_closed(self, s: Engage, q: Array) -> None:
        """Raise an error if a constraint to be engaged is open."""
        rows = self.modes.whole.row_slices[s.constraint]
        gap = float(np.abs(self.modes.whole.residual(q) * self.modes.whole.row_scale)[rows].max(initial=0.0))
        if gap > s.within:
            raise SwitchingError(
                f"{s.label} cannot engage at t = {self.state.t:.6g} s: the constraint is open by {gap:.3e} m, more "
                f"than within={s.within:g}. Bring it closer, or hold what is found with capture=True."
            )

    def _touching(self, q: Array, opening: set[str]) -> list[str]:
        """Names of the contacts that are closed or about to be."""
        modes, touching = self.modes, []
        residual = modes.whole.residual(q)
        for name in modes.contacts:
            if name in opening:
                continue
            gap = modes.gap(name, residual)
            if name not in modes.closed and gap < -1e-6 * self.size:
                raise SwitchingError(
                    f"{modes.contacts[name].label} is inside by {-gap:.3e} at t = {self.state.t:.6g} s, and a contact "
                    "is open or closed: begin with gap >= 0, or give the other side="
                )
            if name in modes.closed or gap <= TOUCH * self.size:
                if name not in modes.closed:
                    modes.land(name, q)
                touching.append(name)
        return touching

    def _changes_of_sliding(self, before: set[str], slid: Mapping[str, Array]) -> list[str]:
        """Names of the events "sticks" and "slides"; a change of direction alone is no event."""
        kinds = []
        for rub in self.modes.rubs.values():
            if rub.normal is not None and rub.name not in self.modes.closed:
                continue
            new = rub.normal is not None and rub.name not in before
            was = None if new else slid.get(rub.name)
            now = self.modes.sliding.get(rub.name)
            if now is None and (new or was is not None):
                kinds.append(f"sticks {rub.name}")
            elif now is not None and (was is None or float(now @ was) <= 0.0):
                kinds.append(f"slides {rub.name}")
        return kinds

    def _log(self, kinds: list[str], loss: float) -> None:
        """Record events at one time, the first of which gets the energy lost."""
        t, nq = self.state.t, self.run.plant.nq
        self.lost += loss
        q = self.state.x[:nq].copy()
        rank = self.modes.present.terms(q, np.zeros(self.run.plant.nv)).rank
        for i, kind in enumerate(kinds):
            lost = loss if i == 0 else 0.0
            self.events.append({"time": t, "kind": kind, "conditioning": np.nan, "rank": rank, "q": q, "loss": lost})
        self.recent = [*self.recent[1 - _MANY :], t]


def _condition(switch: Switch, state: EventState) -> float:
    """Value of the condition of a switch."""
    return _user_value(switch, "when", state.t, state.q, state.v)


def _force(switch: Release, state: EventState) -> float:
    return _user_value(switch, "force", state.multipliers(switch.constraint).copy(), t=state.t)


def _user_value(switch: Switch, which: str, *arguments: Any, t: float | None = None) -> float:
    """Checked value of a function of the user."""
    try:
        return _check.number(getattr(switch, which)(*arguments), f"the value of {which}= of {switch.label}")
    except Exception as error:
        t = arguments[0] if t is None else t
        raise SwitchingError(
            f"{which}= of {switch.label} failed at t = {t:.9g} s: {type(error).__name__}: {error}"
        ) from error


@dataclass(frozen=True)
class _Paradox:
    """Cause of an event: friction of a contact leaves no motion (Painleve's paradox)."""

    name: str


@dataclass(frozen=True)
class _Settled:
    """Cause of a change: the time at which impacts of a contact, ever closer, end; it counts as closed before."""

    name: str


@dataclass(frozen=True)
class _Begun:
    """Cause of an event: a contact that began to slide with little force now slides clearly."""

    name: str

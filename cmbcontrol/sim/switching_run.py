"""A run whose constraints change: parts with the same constraints, and what happens between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.impact import jump, nearest
from ..errors import AssemblyError, ModelError, PainleveError, Status, SwitchingError
from ..kernels.layout import MOTIONS, WORKS
from ..model.dry_friction import Rub, across
from ..model.plant import Plant
from ..model.terms import Terms
from .branch_selection import BranchSelector
from .constraint_modes import STILL, TOUCH, ConstraintModes, engages
from .contact_states import Balance, ContactProblem, Touch
from .control import Control
from .event_detection import EventDetector, EventFunction, EventState
from .output import Part
from .run import INSTANT, IntegratorState, Record, Run
from .singular_passages import advance_through
from .switching import Engage, Lock, Release, Switch

__all__ = ["RunHistory", "run_in_parts"]

Array = NDArray[np.float64]

_SINK = 1e-12  # of the size: gaps that are negative by less are rounding
_ZERO = 1e-10  # of the largest force (or impulse): less counts as none
_CLEAR = 4.0  # times that: a force that ends a part of a run, so that what it ends does not begin again beside it
_DRIVEN = 1e-6  # of the size a second, and of the fastest row: what still goes into a contact after an impact is driven
_SLOW = 1e-5  # of the size, a second: a rebound below it rises no higher than gaps can be told from zero
_CHATTER = 1e-8  # of a run: changes nearer than this are as good as at once
_MANY = 100  # changes that may crowd
_REST = 1e-7  # of the size, a second: what has stopped sliding and is slower rests
_BORDER = 1e-3  # of the accelerations at hand: what begins to slide with less has a direction that rounding would turn
_OUTSET, _BEGUN = 1e-6, 30.0  # of the size, a second: it keeps that of its begin; and times that, where it is clear
_PARADOX = 1e-3  # friction that makes the push of its contact grow a thousandfold leaves no motion


@dataclass
class RunHistory:
    """A run as far as it has come: its parts, each with its records, what impacts had taken by then, and the events."""

    segments: list[tuple[Run, list[Record], float]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def advance(
        self, run: Run, state: IntegratorState, until: float, selector: BranchSelector, loss: float = 0.0
    ) -> Record:
        """A new part, up to a time at the latest; returns its last record."""
        records: list[Record] = []
        self.segments.append((run, records, loss))
        try:
            advance_through(run, state, until, selector, records)
        finally:
            for record in records:  # one that has failed before its begin stands where the run does
                record.begin(state.t, state.x, run.plant.nu)
        return records[-1]

    @property
    def parts(self) -> list[Part]:
        """One for each record; the last one tells how the run ended."""
        return [Part(run, record, loss) for run, records, loss in self.segments for record in records]


def run_in_parts(
    run: Run, state: IntegratorState, modes: ConstraintModes, selector: BranchSelector, history: RunHistory
) -> None:
    """Run to the end, from one mode to the next. What is raised leaves the history as far as it came.

    Raises
    ------
    ModelError, ValueError
        Where the start contradicts itself.
    """
    if not modes.changing:
        history.advance(run, state, run.t_end, selector)
        return
    switching = _ModeSwitch(run, state, modes, history.events)
    switching.apply(switching.due(), [])
    while True:
        switching.meet_sample()
        detector = EventDetector(modes.present, switching.event_functions(), run.t_end, switching.limits())
        part = replace(run.on(modes.present, state.x[: run.plant.nq].copy()), detector=detector, slides=modes.slides())
        record = history.advance(part, state, min(run.t_end, switching.next), selector, switching.lost)
        if record.status != Status.COMPLETED or state.t >= run.t_end * (1.0 - INSTANT):
            return
        try:
            switching.apply(switching.due(), detector.triggered if state.stopped else [])
        except (AssemblyError, ModelError) as error:
            record.status = Status.PAINLEVE if isinstance(error, PainleveError) else Status.SWITCHING
            record.error = error
            return


class _ModeSwitch:
    """What happens to the constraints between two parts of a run."""

    def __init__(self, run: Run, state: IntegratorState, modes: ConstraintModes, events: list[dict[str, Any]]) -> None:
        self.run, self.state, self.modes, self.events = run, state, modes, events
        self.size = run.plant.size
        timed = [(self._on_grid(s.at), s) for s in modes.switches if s.at is not None]
        self.waiting = sorted(timed, key=lambda pair: pair[0])
        self.conditions = [EventFunction(partial(_condition, s), s) for s in modes.switches if s.when is not None]
        self.jammed: set[str] = set()
        self.force = 0.0  # what counts as no force, N or N m
        self.lost = 0.0  # energy, J
        self.chatter, self.last = 0, -np.inf

    # -- when -------------------------------------------------------------------------------------

    @property
    def next(self) -> float:
        """The next change that has a time."""
        return self.waiting[0][0] if self.waiting else np.inf

    def _on_grid(self, at: float) -> float:
        """A time; the sample time itself where it is one but for rounding."""
        period = self.run.control.period
        if period is None or abs(at / period - round(at / period)) > 1e-9:
            return at
        return round(at / period) * period

    def meet_sample(self) -> None:
        """A sample that is due but for rounding is due."""
        following = self.run.control.next
        if 0.0 < following - self.state.t < INSTANT * self.run.t_end:
            self.state.t = following

    def due(self) -> list[Switch]:
        """The changes whose time has come."""
        now = self.state.t + INSTANT * self.run.t_end
        ready = [s for at, s in self.waiting if at <= now]
        self.waiting = self.waiting[len(ready) :]
        return ready

    def event_functions(self) -> list[EventFunction]:
        """What may end the next part of the run."""
        modes = self.modes
        functions = list(self.conditions)
        for s in modes.switches:
            if isinstance(s, Release) and s.force is not None and s.constraint in modes.held:
                functions.append(EventFunction(partial(_force, s), s))
        for name in modes.contacts:
            if name in modes.closed:
                functions.append(
                    EventFunction(partial(self._pull, name), name, self.force, armed=name not in self.jammed)
                )
            else:
                functions.append(EventFunction(partial(self._sunk, name), name, _SINK * self.size, armed=True))
        for rub in modes.rubs.values():
            if rub.normal is not None and rub.name not in modes.closed:
                continue
            if rub.name not in modes.sliding:
                functions.append(EventFunction(partial(self._beyond, rub), rub, self.force, armed=True))
                continue
            # armed, since what slides from rest to another side than that of its begin would be driven by its friction
            functions.append(EventFunction(partial(self._stopping, rub), rub, _REST * self.size, armed=True))
            if len(modes.sliding[rub.name]) > 1:
                functions.append(EventFunction(partial(self._slow, rub), rub))
            if rub.name in modes.outset:
                functions.append(EventFunction(partial(self._clear, rub), _Begun(rub.name), armed=True))
            if rub.normal is not None:
                functions.append(EventFunction(partial(self._paradox, rub), _Paradox(rub.name), armed=True))
        return functions

    def limits(self) -> Array | None:
        """Limits (nq, 2) of the coordinates, where nothing but end stops that are open may end the next part."""
        modes = self.modes
        others = set(modes.contacts) - modes.stops or modes.stops & modes.closed or self.conditions or modes.rubs
        forces = any(isinstance(s, Release) and s.force is not None for s in modes.switches)
        return None if others or forces or not modes.stops else np.asarray(modes.whole.limits)

    def _pull(self, name: str, state: EventState) -> float:
        """Force with which a closed contact would have to pull."""
        lam = state.multipliers(self.modes.carrier(name))
        return float((self.modes.direction[name] if name not in self.modes.sliding else self.modes.sides[name]) @ lam)

    def _sunk(self, name: str, state: EventState) -> float:
        return -self.modes.gap(name, state.residual(self.modes.whole))

    def _beyond(self, rub: Rub, state: EventState) -> float:
        """Force that sticking needs beyond static friction, N or N m."""
        lam = np.concatenate([state.multipliers(name) for name in self.modes.sticking(rub)])
        held, bound = float(np.linalg.norm(rub.tangents @ lam)), float(rub.law.static)
        return held - bound * (1.0 if rub.normal is None else -float(rub.normal @ lam))

    def _stopping(self, rub: Rub, state: EventState) -> float:
        """Above zero where it has stopped, or turned by 60 degrees from the direction in which it began to slide."""
        rate = self.modes.sliding_rate(rub, state.row_rate(self.modes.whole))
        return 0.5 * float(np.linalg.norm(rate)) - float(rate @ self.modes.sliding[rub.name])

    def _slow(self, rub: Rub, state: EventState) -> float:
        """Above zero where it has slowed down to rest: in a plane the velocity turns there, and does not pass zero."""
        rate = self.modes.sliding_rate(rub, state.row_rate(self.modes.whole))
        return 0.5 * _REST * self.size - float(np.linalg.norm(rate))

    def _clear(self, rub: Rub, state: EventState) -> float:
        """Above zero where it slides clearly faster than its friction needs to know the direction."""
        rate = self.modes.sliding_rate(rub, state.row_rate(self.modes.whole))
        return float(np.linalg.norm(rate)) - _BEGUN * self.modes.outset[rub.name]

    def _paradox(self, rub: Rub, state: EventState) -> float:
        """Above zero where friction makes the push of a contact grow without bound."""
        return _PARADOX - state.pivot(rub.element)

    def effort(self, terms: Terms, c: Array) -> Array:
        """Motor efforts at present; the first ones of a sampled law are asked for here."""
        control: Control = self.run.control
        if self.state.t == 0.0 and control.period is not None and control.drive is None and not control.delay.any():
            return control.first(terms)
        return control.effort(self.state.t, terms, c)

    # -- what -------------------------------------------------------------------------------------

    def apply(self, due: list[Switch], triggered: list[EventFunction]) -> None:
        """Change the constraints as switches and contacts ask, and the velocity with them."""
        nq, nv = self.run.plant.nq, self.run.plant.nv
        self.run.acting.at(self.state.t)
        causes = [function.cause for function in triggered]
        for function in triggered:
            function.armed, function.last = False, self.state.t
        for cause in causes:
            if isinstance(cause, _Paradox):
                raise _painleve(cause.name, self.state.t)
        opening = {cause for cause in causes if isinstance(cause, str) and cause in self.modes.closed}
        changing = {cause.name for cause in causes if isinstance(cause, Rub)}
        switches = [*due, *(cause for cause in causes if isinstance(cause, Switch))]
        q = self.state.x[:nq].copy()
        kinds = self._switch(switches, q)
        touching = self._touching(q, opening)
        before, slid = self.modes.closed, dict(self.modes.sliding)
        reset = _Reset(self, q, self.state.x[nq : nq + nv].copy(), self.state.x[nq + nv + WORKS :], touching, changing)
        reset.close(reset.plant)
        hits = reset.strike()
        self.modes.closed = reset.rest()
        self.jammed = reset.jammed & self.modes.closed
        kinds = [f"impact {n}" for n in hits] + kinds
        kinds += [f"engaged {n}" for n in touching if n in self.modes.closed - before]
        kinds += [f"released {n}" for n in sorted(before - self.modes.closed)]
        kinds += self._changes_of_sliding(before, slid)
        kinds += [f"jammed {n}" for n in sorted(self.jammed)]
        self.state.x = self.state.x.copy()
        self.state.x[:nq], self.state.x[nq : nq + nv] = reset.q, reset.v
        self.state.x[nq + nv + MOTIONS] += reset.motion_work
        self._log(kinds, reset.loss)

    def _switch(self, switches: list[Switch], q: Array) -> list[str]:
        """Switch constraints on and off; what happened, in words."""
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
        """Refuse to engage a constraint that is open."""
        rows = self.modes.whole.row_slices[s.constraint]
        gap = float(np.abs(self.modes.whole.residual(q) * self.modes.whole.row_scale)[rows].max(initial=0.0))
        if gap > s.within:
            raise SwitchingError(
                f"{s.label} cannot engage at t = {self.state.t:.6g} s: the constraint is open by {gap:.3e} m, more "
                f"than within={s.within:g}. Bring it closer, or hold what is found with capture=True."
            )

    def _touching(self, q: Array, opening: set[str]) -> list[str]:
        """Contacts that are closed or about to be."""
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
        """What begins to slide or to stick, in words; that it turns is no change."""
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
        """Keep events at one time, of which the first bears the loss; refuse what would never end."""
        t, nq = self.state.t, self.run.plant.nq
        self.lost += loss
        q = self.state.x[:nq].copy()
        rank = self.modes.present.terms(q, np.zeros(self.run.plant.nv)).rank
        for i, kind in enumerate(kinds):
            lost = loss if i == 0 else 0.0
            self.events.append({"time": t, "kind": kind, "conditioning": np.nan, "rank": rank, "q": q, "loss": lost})
        self.chatter = self.chatter + 1 if t - self.last < _CHATTER * self.run.t_end else 0
        self.last = t
        if self.chatter > _MANY:
            recent = ", ".join(dict.fromkeys(event["kind"] for event in self.events[-8:]))
            raise SwitchingError(
                f"the constraints chatter at t = {t:.9g} s: {self.chatter} changes at as good as one time ({recent}). "
                "Raise the rest_speed of the contacts, or let the conditions that engage and release a constraint "
                "lie apart."
            )


def _condition(switch: Switch, state: EventState) -> float:
    """The condition of a switch."""
    return _user_value(switch, "when", state.t, state.q, state.v)


def _force(switch: Release, state: EventState) -> float:
    return _user_value(switch, "force", state.multipliers(switch.constraint).copy(), t=state.t)


def _user_value(switch: Switch, which: str, *arguments: Any, t: float | None = None) -> float:
    """The value of a function of the user."""
    try:
        return _check.number(getattr(switch, which)(*arguments), f"the value of {which}= of {switch.label}")
    except Exception as error:
        t = arguments[0] if t is None else t
        raise SwitchingError(
            f"{which}= of {switch.label} failed at t = {t:.9g} s: {type(error).__name__}: {error}"
        ) from error


@dataclass(frozen=True)
class _Paradox:
    """The contact whose friction leaves no motion."""

    name: str


@dataclass(frozen=True)
class _Begun:
    """A contact that slides, after it has begun to with little force."""

    name: str


def _painleve(name: str, t: float) -> PainleveError:
    return PainleveError(
        f"contact {name!r} cannot go on sliding at t = {t:.9g} s: its friction makes the push grow that it is in "
        "proportion to, so that there is no acceleration, or more than one (Painleve's paradox). With a smaller "
        "coefficient of friction there is one; so there is where the bodies give way, as with a PointForce in place of "
        "the contact"
    )


class _Reset:
    """Position and velocity at a change, with what touches, sticks and slides: closed, struck, at rest."""

    def __init__(
        self, switching: _ModeSwitch, q: Array, v: Array, c: Array, touching: list[str], changing: set[str]
    ) -> None:
        self.switching, self.modes = switching, switching.modes
        self.q, self.v, self.c = q, v, c
        self.stopped, self.breaking = changing & set(switching.modes.sliding), changing - set(switching.modes.sliding)
        self.loss = self.motion_work = 0.0
        self.jammed: set[str] = set()
        modes = self.modes
        forces = [rub for rub in modes.rubs.values() if rub.normal is None]
        rubs = [*forces, *(modes.rubs[name] for name in touching if name in modes.rubs)]
        modes.stick([rub.name for rub in rubs if rub.name in modes.sliding], q)  # where it might come to rest
        self.still = {rub.name: np.zeros(1) for rub in forces}
        self.closed = modes.holding(touching, {})
        self.plant = modes.mode(self.closed, self.still)
        self.contacts = [self._touch(name, modes.rubs.get(name), name) for name in touching]
        self.dry = [self._touch(rub.name, rub, None) for rub in forces]
        self.rates = self.plant.row_rates

    def _touch(self, name: str, rub: Rub | None, contact: str | None) -> Touch:
        """A contact or a force with friction, among the rows of the plant."""
        modes = self.modes
        rows = modes.rows_of(self.plant, *(modes.sticking(rub) if rub else (name,)))
        normal = None if contact is None else modes.direction[name] if rub is None else rub.normal
        own = across(normal) if rub is None else rub.tangents
        tangents = np.zeros((len(own), len(self.plant.row_names)))
        tangents[:, rows] = own
        opening = None
        if normal is not None:
            opening = np.zeros(len(self.plant.row_names))
            opening[rows] = normal
        breaks = name in self.breaking
        return Touch(name, opening, tangents, modes.contacts.get(contact or ""), rub, np.zeros(len(own)), breaks)

    def close(self, plant: Plant) -> None:
        """Close what is open by rounding, or by what `within` allows."""
        off = np.abs(plant.residual(self.q) * plant.row_scale).max(initial=0.0)
        if not off > 1e-15 * self.switching.size:
            return
        before = plant.terms(self.q, self.v).energy
        self.q = plant.close(self.q)
        moved = before - plant.terms(self.q, self.v).energy
        self.loss += moved if np.isfinite(moved) else 0.0

    def strike(self) -> list[str]:
        """The velocity after impact; the contacts that were struck. Dry friction in joints has no impulse."""
        still, contacts = STILL * self.switching.size, self.contacts
        plant = self.modes.mode(self.closed - self._of_dry, self.still) if self.dry else self.plant
        terms = plant.terms(self.q, self.v)
        kept = np.array([name in plant.row_names for name in self.plant.row_names], dtype=bool)
        touches = [replace(t, normal=t.normal[kept], tangents=t.tangents[:, kept]) for t in contacts]  # type: ignore[index]
        rates = terms.row_rate
        approach = np.array([t.normal @ rates for t in touches])
        for t in touches:
            t.rate = t.tangents @ rates if t.rub else t.rate
        problem = ContactProblem(terms, touches, terms.M @ self.v, plant.row_rates, {}, 0.0, still)
        jerk = np.abs(rates * terms.row_scale)[problem.base].max(initial=0.0)
        caught = [t for t in touches if t.rub is None and np.abs(t.tangents @ rates).max(initial=0.0) > still]
        if jerk <= 1e-14 * self.switching.size and not np.any(approach < -still) and not caught:
            return []
        back = np.array([t.contact.restitution * max(-a, 0.0) for t, a in zip(touches, approach, strict=True)])  # type: ignore[union-attr]
        slowest = _SLOW * self.switching.size
        back[[b <= max(t.contact.rest_speed, slowest) for b, t in zip(back, touches, strict=True)]] = 0.0  # type: ignore[union-attr]
        problem.nothing = _ZERO * float(np.abs(terms.M @ self.v / terms.reach).max(initial=0.0))
        for t in touches:  # an impulse may stop what slides, or turn it
            t.rate = np.zeros_like(t.rate)
        for rebound in (back, np.zeros_like(back)):
            problem.back = {t.name: b for t, b in zip(touches, rebound, strict=True)}
            states, found = problem.found()
            mean = 0.5 * (self.v + found.x)
            lost = float(mean @ (terms.M @ (self.v - found.x)))
            if lost > -1e-9 * terms.kinetic:  # else friction and rebound would make energy (Kane): no rebound
                break
        self.jammed |= set(problem.jammed(states))
        self._take(terms, found.x, found.lam, lost, plant.target_rows)
        self._require_stopped(plant, touches, float(np.abs(rates * terms.row_scale).max(initial=0.0)))
        return [t.name for t, a in zip(touches, approach, strict=True) if a < -still and states[t.name] != "open"]

    def _require_stopped(self, plant: Plant, touches: list[Touch], fastest: float) -> None:
        """Refuse what goes on into a contact: constraints that hold both ways drive it there.

        Raises
        ------
        SwitchingError
        """
        bound = _DRIVEN * (fastest + self.switching.size)
        off = plant.terms(self.q, self.v).row_rate
        driven = [t.name for t in touches if t.normal @ off < -bound]
        missed = [name for name, rows in plant.row_slices.items() if np.abs(off[rows]).max(initial=0.0) > bound]
        motions = [motion.name for motion in getattr(plant, "motions", ()) if motion.name in missed or driven]
        if not driven and not motions:
            return
        into = ", ".join(repr(name) for name in driven or [t.name for t in touches])
        cause = f"the prescribed motion {motions[0]!r}" if motions else "the constraints that hold"
        remedy = "Let the motion end before" if motions else "Take one of them away"
        stop = any(t.name in self.modes.stops for t in touches)
        other = "move the limit of the joint, or only tell of limits with limits='warn'" if stop else "open it"
        raise SwitchingError(
            f"{cause} leads into {into} at t = {self.switching.state.t:.6g} s, where it would have to stop. {remedy}, "
            f"or {other}"
        )

    @property
    def _of_dry(self) -> frozenset[str]:
        """Constraints that hold while dry friction sticks."""
        return frozenset().union(*(t.rub.sticking for t in self.dry))  # type: ignore[union-attr]

    def _take(self, terms: Terms, v: Array, lam: Array, lost: float, of_motions: NDArray[np.bool_]) -> None:
        """The velocity jumps. Impulses of prescribed motions do work, at the mean velocity: that is no loss."""
        mean = terms.A[of_motions] @ (0.5 * (self.v + v))
        work = -float(lam[of_motions] @ mean)
        self.v = v
        self.loss += lost + work
        self.motion_work += work

    def rest(self) -> set[str]:
        """The contacts that stay closed under the forces that act, and what slides; the velocity is brought onto it."""
        modes, size = self.modes, self.switching.size
        terms = self.plant.terms(self.q, self.v)
        moving: dict[str, Array] = {}
        for t in (*self.contacts, *self.dry):
            if t.rub is None:
                continue
            t.rate = t.tangents @ terms.row_rate
            speed = float(np.linalg.norm(t.rate))
            if speed <= _REST * size or (t.name in self.stopped and self._has_stopped(t, speed)):
                t.rate = np.zeros_like(t.rate)
            else:
                moving[t.name] = t.rate / speed
        terms = self._stilled(terms, [t for t in (*self.contacts, *self.dry) if t.rub and not t.moves])
        # what leaves slower than `_SLOW` rises no higher than gaps can be told from zero: where it comes back, it stays
        opening = [t for t in self.contacts if t.normal @ terms.row_rate > _SLOW * size]
        touches = [t for t in (*self.contacts, *self.dry) if t not in opening and not (t in self.dry and t.moves)]
        h = terms.h
        if any(t.moves for t in self.dry):
            h = modes.mode(self.closed, self.still | {t.name: moving[t.name] for t in self.dry if t.moves}).terms(
                self.q, self.v
            ).h  # fmt: skip
        problem = _Resting(self, terms, touches, h, moving)
        for t in (*opening, *(t for t in self.dry if t.moves)):
            problem.without((np.abs(t.tangents).sum(axis=0) > 0.0) | (t.normal is not None and np.abs(t.normal) > 0.0))
        states, found = problem.found() if touches else ({}, None)
        closed = {t.name for t in self.contacts if states.get(t.name, "open") != "open"}
        slides = {n: d for n, d in moving.items() if modes.rubs[n].normal is None or n in closed}
        slides |= {n: found.direction[n] for n, state in states.items() if state == "slides"}  # type: ignore[union-attr]
        self.jammed |= set(problem.jammed(states)) if touches else set()
        paradox = [n for n in slides if n in self.jammed]
        if paradox:
            raise _painleve(paradox[0], self.switching.state.t)
        modes.outset = {
            t.name: _OUTSET * size
            for t in touches
            if t.normal is not None
            and t.name in slides
            and not t.moves
            and problem.slip(t, found) < _BORDER * problem.free
        }
        modes.sliding = slides
        modes.stick([t.name for t in self.contacts if t.rub and t.name in closed and t.name not in slides], self.q)
        present = modes.mode(modes.holding(closed, slides), slides)
        self.close(present)  # all that touches need not close at once: two feet and two knees on their stops
        now = present.terms(self.q, self.v)
        hit = jump(now, np.arange(len(present.row_names)), self.v, present.row_rates)
        self._take(now, hit.v, hit.multipliers, hit.loss, present.target_rows)
        return closed

    def _stilled(self, terms: Terms, resting: list[Touch]) -> Terms:
        """What counts as at rest has no velocity: else the direction of that would be one of sliding."""
        if not resting:
            return terms
        C = np.vstack([np.eye(len(self.rates))[self._base], *(t.tangents for t in resting)])
        off = C @ terms.row_rate
        if not np.abs(off[len(self._base) :]).max(initial=0.0) > 0.0:
            return terms
        off[: len(self._base)] = 0.0
        scale = (np.abs(C) * terms.row_scale).sum(axis=1) / np.abs(C).sum(axis=1)
        own = replace(terms, A=C @ terms.A, b=np.zeros(len(C)), row_scale=scale, rank=len(C), friction=None)
        moved, _, pushed = nearest(own, np.arange(len(C)), np.zeros_like(self.v), -off)
        self.loss += float(pushed @ (self.v + 0.5 * moved))
        self.v = self.v + moved
        return self.plant.terms(self.q, self.v)

    @property
    def _base(self) -> NDArray[np.int64]:
        """Rows that belong to no contact and no dry friction."""
        own = np.zeros(len(self.rates), dtype=bool)
        for t in (*self.contacts, *self.dry):
            own |= np.abs(t.tangents).sum(axis=0) > 0.0
            own |= t.normal is not None and np.abs(t.normal) > 0.0
        return np.flatnonzero(~own)

    def _has_stopped(self, touch: Touch, speed: float) -> bool:
        """Whether what has triggered `_ModeSwitch._stopping` came to rest; else it has turned by 60 degrees.

        Where it passes zero, the direction at the event, which is within rounding of it, is the first one or its
        opposite.
        """
        cosine = float(touch.rate @ self.modes.sliding[touch.name]) / speed
        return len(touch.rate) == 1 or abs(cosine - 0.5) > 0.2 or speed <= _REST * self.switching.size


class _Resting(ContactProblem):
    """The accelerations at a change, with efforts that may depend on which constraints hold."""

    def __init__(
        self, reset: _Reset, terms: Terms, touches: list[Touch], h: Array, moving: Mapping[str, Array]
    ) -> None:
        super().__init__(terms, touches, -h, -terms.b, {}, 0.0, 0.0)
        self.reset, self.h, self.moving = reset, h, moving
        self.free = 0.0  # accelerations at hand, of which 1e-9 is noise
        self._efforts: dict[frozenset[str], Array] = {}
        self.nothing = _ZERO * float(np.abs(h / terms.reach).max(initial=0.0))

    def slip(self, touch: Touch, found: Balance) -> float:
        """Acceleration with which it slides."""
        return float(np.linalg.norm(touch.tangents @ (self.terms.A @ found.x - self.target)))

    def _judged(self, states: tuple[str, ...]) -> Any:
        reset, modes, terms = self.reset, self.reset.modes, self.terms
        pairs = list(zip(self.touches, states, strict=True))
        closed = {t.name for t, state in pairs if t.normal is not None and state != "open"}
        slides = dict(self.moving) | {t.name: np.eye(len(t.rate))[0] for t, x in pairs if x == "slides" and not t.moves}
        slides = {n: d for n, d in slides.items() if modes.rubs[n].normal is None or n in closed}
        key = frozenset(modes.holding(closed, slides))
        if key not in self._efforts:
            now = modes.mode(key, slides).terms(reset.q, reset.v, reset.switching.state.t)
            self._efforts[key] = terms.B @ reset.switching.effort(now, reset.c)
        self.g = self._efforts[key] - self.h
        free = np.abs(np.linalg.solve(terms.M, self.g))
        self.free = float((terms.row_scale * (np.abs(terms.A) @ free + np.abs(terms.b))).max(initial=0.0))
        self.noise = 1e-9 * self.free
        self.nothing = max(self.nothing, _ZERO * float((np.abs(self.g) / terms.reach).max(initial=0.0)))
        reset.switching.force = _CLEAR * self.nothing
        return super()._judged(states)

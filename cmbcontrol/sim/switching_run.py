"""A run whose constraints change: parts with the same constraints, and what happens between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.impact import Impact, jump, nearest, supporting
from ..errors import AssemblyError, ModelError, Status, SwitchingError
from ..kernels.layout import MOTIONS, WORKS
from ..model.terms import Terms
from .branch_selection import BranchSelector
from .constraint_modes import TOUCH, ConstraintModes, engages
from .control import Control
from .event_detection import EventDetector, EventFunction, EventState
from .output import Part
from .run import INSTANT, IntegratorState, Record, Run
from .singular_passages import advance_through
from .switching import Engage, Lock, Release, Switch

__all__ = ["RunHistory", "run_in_parts"]

Array = NDArray[np.float64]

_SINK = 1e-12  # of the size: gaps that are negative by less are rounding
_STILL = 1e-9  # of the size, a second: slower is at rest along a row
_ZERO = 1e-10  # of the largest force (or impulse): less counts as none
_SLOW = 1e-5  # of the size, a second: a rebound below it rises no higher than gaps can be told from zero
_CHATTER = 1e-8  # of a run: changes nearer than this are as good as at once
_MANY = 100  # changes that may crowd


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
        part = replace(run.on(modes.present, state.x[: run.plant.nq].copy()), detector=detector)
        record = history.advance(part, state, min(run.t_end, switching.next), selector, switching.lost)
        if record.status != Status.COMPLETED or state.t >= run.t_end * (1.0 - INSTANT):
            return
        try:
            switching.apply(switching.due(), detector.triggered if state.stopped else [])
        except (AssemblyError, ModelError) as error:
            record.status, record.error = Status.SWITCHING, error
            return


class _ModeSwitch:
    """What happens to the constraints between two parts of a run."""

    def __init__(self, run: Run, state: IntegratorState, modes: ConstraintModes, events: list[dict[str, Any]]) -> None:
        self.run, self.state, self.modes, self.events = run, state, modes, events
        self.size = run.plant.size
        timed = [(self._on_grid(s.at), s) for s in modes.switches if s.at is not None]
        self.waiting = sorted(timed, key=lambda pair: pair[0])
        self.conditions = [EventFunction(partial(_condition, s), s) for s in modes.switches if s.when is not None]
        self.slips: dict[str, EventFunction] = {}
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
        return functions + list(self.slips.values())

    def limits(self) -> Array | None:
        """Limits (nq, 2) of the coordinates, where nothing but end stops that are open may end the next part."""
        modes = self.modes
        others = set(modes.contacts) - modes.stops or modes.stops & modes.closed or self.conditions or self.slips
        forces = any(isinstance(s, Release) and s.force is not None for s in modes.switches)
        return None if others or forces or not modes.stops else np.asarray(modes.whole.limits)

    def _pull(self, name: str, state: EventState) -> float:
        """Force with which a closed contact would have to pull."""
        return float(self.modes.direction[name] @ state.multipliers(name))

    def _sunk(self, name: str, state: EventState) -> float:
        return -self.modes.gap(name, state.q)

    def _slip(self, name: str, state: EventState) -> float:
        """Tangential force of a contact beyond the cone of friction."""
        lam, n = state.multipliers(name), self.modes.direction[name]
        push = -float(n @ lam)
        return float(np.linalg.norm(lam + push * n)) - self.modes.contacts[name].friction * push  # type: ignore[operator]

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
        slipping = [name for name, function in self.slips.items() if function in triggered]
        for function in triggered:
            function.armed, function.last = False, self.state.t
        kinds = [f"slip begins {name}" for name in slipping]
        if slipping and len(slipping) == len(triggered) and not due:  # nothing changes
            self._log(kinds, 0.0)
            return
        opening = {cause for cause in causes if isinstance(cause, str) and cause in self.modes.closed} - set(slipping)
        switches = [*due, *(cause for cause in causes if isinstance(cause, Switch))]
        q = self.state.x[:nq].copy()
        kinds += self._switch(switches, q)
        touching = self._touching(q, opening)
        reset = _Reset(self, q, self.state.x[nq : nq + nv].copy(), self.state.x[nq + nv + WORKS :], touching)
        before = self.modes.closed
        reset.close()
        hits = reset.strike()
        self.modes.closed = reset.rest()
        self.jammed = reset.jammed & self.modes.closed
        kinds = [f"impact {n}" for n in hits] + kinds
        kinds += [f"engaged {n}" for n in touching if n in self.modes.closed - before]
        kinds += [f"released {n}" for n in sorted(before - self.modes.closed)]
        kinds += [f"jammed {n}" for n in sorted(self.jammed)]
        self.state.x = self.state.x.copy()
        self.state.x[:nq], self.state.x[nq : nq + nv] = reset.q, reset.v
        self.state.x[nq + nv + MOTIONS] += reset.motion_work
        self._slips_of(before)
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
        for name in modes.contacts:
            if name in opening:
                continue
            gap = modes.gap(name, q)
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

    def _slips_of(self, before: set[str]) -> None:
        """Event functions for the friction of contacts that have closed."""
        closed = self.modes.closed
        self.slips = {name: function for name, function in self.slips.items() if name in closed & before}
        for name in sorted(closed - before):
            if self.modes.contacts[name].friction is not None:
                self.slips[name] = EventFunction(partial(self._slip, name), name, self.force, armed=True)

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


class _Reset:
    """Position and velocity at a change, with the contacts that touch: closed, struck, at rest."""

    def __init__(self, switching: _ModeSwitch, q: Array, v: Array, c: Array, touching: list[str]) -> None:
        self.switching, self.modes = switching, switching.modes
        self.q, self.v, self.c, self.touching = q, v, c, touching
        self.plant = self.modes.mode(self.modes.held | set(touching))
        self.loss = self.motion_work = 0.0
        self.rates = self.plant.row_rates
        self.jammed: set[str] = set()
        self.rows = [self._rows_of(name) for name in touching]
        always = np.concatenate([np.zeros(0, np.int64), *self.rows])
        self.base = np.setdiff1d(np.arange(len(self.plant.row_names)), always)

    def _rows_of(self, name: str) -> NDArray[np.int64]:
        rows = self.plant.row_slices[name]
        return np.arange(rows.start, rows.stop)

    def _of(self, subset: tuple[int, ...]) -> NDArray[np.int64]:
        """Rows that act when these contacts do."""
        return np.concatenate([self.base, *(self.rows[i] for i in subset)])

    def _along(self, x: Array) -> Array:
        """What rows (rows,) say along the opening directions, one number a contact."""
        return np.array(
            [self.modes.direction[n] @ x[r] for n, r in zip(self.touching, self.rows, strict=True)], dtype=np.float64
        )

    def _pushes(self, subset: tuple[int, ...], multipliers: Array) -> Array:
        """How much each contact of the subset pushes; zero for the others."""
        whole = np.zeros(len(self.plant.row_names))
        whole[self._of(subset)] = multipliers
        return -self._along(whole)

    def close(self) -> None:
        """Close what is open by rounding, or by what `within` allows."""
        off = np.abs(self.plant.residual(self.q) * self.plant.row_scale).max(initial=0.0)
        if not off > 1e-15 * self.switching.size:
            return
        before = self.plant.terms(self.q, self.v).energy
        self.q = self.plant.close(self.q)
        moved = before - self.plant.terms(self.q, self.v).energy
        self.loss += moved if np.isfinite(moved) else 0.0

    def strike(self) -> list[str]:
        """The velocity after impact; the contacts that were struck."""
        contacts = [self.modes.contacts[n] for n in self.touching]
        terms = self.plant.terms(self.q, self.v)
        rates = terms.row_rate
        approach = self._along(rates)
        speed = np.abs(rates * terms.row_scale)[self.base].max(initial=0.0)
        still = _STILL * self.switching.size
        if speed <= 1e-14 * self.switching.size and not np.any(approach < -still):
            return []
        back = np.array([c.restitution * max(-a, 0.0) for c, a in zip(contacts, approach, strict=True)])
        slowest = _SLOW * self.switching.size
        back[[b <= max(c.rest_speed, slowest) for b, c in zip(back, contacts, strict=True)]] = 0.0
        nothing = _ZERO * float(np.abs(terms.M @ self.v / terms.reach).max(initial=0.0))

        def solve(subset: tuple[int, ...]) -> tuple[Impact, Array]:
            target = self.rates.copy()
            for i in subset:
                target[self.rows[i]] += back[i] * self.modes.direction[self.touching[i]]
            rows = self._of(subset)
            hit = jump(terms, rows, self.v, target[rows])
            margin = self._along(terms.A @ hit.v - self.rates) - back + still
            pushes = self._pushes(subset, hit.multipliers) + nothing
            margin[list(subset)] = pushes[list(subset)]
            return hit, margin

        subset, hit = self._supported(solve)
        self._take(hit, terms, subset)
        return [self.touching[i] for i in subset if approach[i] < -still]

    def _take(self, hit: Impact, terms: Terms, subset: tuple[int, ...]) -> None:
        """The velocity jumps. Impulses of prescribed motions do work, at the mean velocity: that is no loss."""
        rows = self._of(subset)
        mean = terms.A[rows] @ (0.5 * (self.v + hit.v))
        of_motions = self.plant.target_rows[rows]
        work = -float(hit.multipliers[of_motions] @ mean[of_motions])
        self.v = hit.v
        self.loss += hit.loss + work
        self.motion_work += work

    def rest(self) -> set[str]:
        """The contacts that stay closed under the forces that act; the velocity is brought onto them."""
        terms = self.plant.terms(self.q, self.v)
        opening = self._along(terms.row_rate)
        separating = tuple(i for i, speed in enumerate(opening) if speed > _STILL * self.switching.size)
        self.switching.force = _ZERO * float(np.abs(terms.h / terms.reach).max(initial=0.0))

        def solve(subset: tuple[int, ...]) -> tuple[Terms, Array]:
            mode = self.modes.mode(self.modes.held | {self.touching[i] for i in subset})
            rows = self._of(subset)
            f = terms.B @ self.switching.effort(mode.terms(self.q, self.v, self.switching.state.t), self.c)
            vdot, lam, pushed = nearest(terms, rows, f - terms.h, -terms.b[rows])
            self.switching.force = _ZERO * float((np.maximum(np.abs(f - terms.h), np.abs(pushed)) / terms.reach).max())
            free = np.abs(vdot) + np.abs(np.linalg.solve(terms.M, f - terms.h))  # rows that stay are rounding of it
            noise = 1e-9 * float((terms.row_scale * (np.abs(terms.A) @ free + np.abs(terms.b))).max(initial=0.0))
            margin = self._along(terms.A @ vdot + terms.b) + noise
            margin[list(subset)] = (self._pushes(subset, lam) + self.switching.force)[list(subset)]
            return terms, margin

        subset: tuple[int, ...] = ()
        if len(separating) < len(self.touching):
            subset, _ = self._supported(solve, separating)
        self._take(jump(terms, self._of(subset), self.v, self.rates[self._of(subset)]), terms, subset)
        return {self.touching[i] for i in subset}

    def _supported(self, solve: Any, separating: tuple[int, ...] = ()) -> tuple[tuple[int, ...], Any]:
        """Which contacts take part. Those that stick can jam: closed they pull, open they sink; they stay closed."""
        support = supporting(len(self.touching), solve, separating)
        if support is not None:
            return support
        subset = tuple(i for i in range(len(self.touching)) if i not in separating)
        result, margin = solve(subset)
        self.jammed |= {self.touching[i] for i in subset if margin[i] < 0.0}
        return subset, result

"""A run whose loops change: parts with the same loops, and what happens between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.impact import Impact, jump, nearest, supporting
from ..errors import AssemblyError, ModelError, Status, SwitchingError
from ..model.capture import capture
from ..model.elements import Coupling, Joint, Point, Weld
from ..model.plant import Plant
from ..model.terms import Terms
from .branching import advance_through
from .control import Control
from .output import Part
from .run import INSTANT, Record, Run, Standing
from .steering import Steering
from .switching import Contact, Engage, Lock, Release, Switch, Unlock
from .switching_watch import Guard, Moment, Watcher

__all__ = ["Course", "Loops", "run_in_parts"]

Array = NDArray[np.float64]

_TOUCH = 1e-9  # of the size: contacts with a smaller gap touch
_SINK = 1e-12  # of the size: gaps that are negative by less are rounding
_STILL = 1e-9  # of the size, a second: slower is at rest along a row
_ZERO = 1e-10  # of the largest force (or impulse): less counts as none
_SLOW = 1e-5  # of the size, a second: a rebound below it rises no higher than gaps can be told from zero
_CROWD = 1e-8  # of a run: changes nearer than this are as good as at once
_MANY = 100  # changes that may crowd


class Loops:
    """Which loops of a plant hold, and what is known of those that come and go.

    Attributes
    ----------
    whole : Plant
        With all loops that can ever hold, locks too, as they are at present.
    held : set of str
        Loops that hold both ways, except those that never change.
    closed : set of str
        Contacts that are closed.
    """

    def __init__(self, plant: Plant, switches: Sequence[Switch | Contact]) -> None:
        for switch in switches:
            if not isinstance(switch, (Switch, Contact)):
                raise TypeError(f"switches must be Engage, Release, Lock, Unlock or Contact, got {switch!r}")
        self.switches = [s for s in switches if isinstance(s, Switch)]
        self.contacts = {c.loop: c for c in switches if isinstance(c, Contact)}
        self.whole = plant
        self._modes: dict[frozenset[str], Plant] = {}
        locks = {s.loop: s.name for s in self.switches if isinstance(s, Lock)}
        for loop, name in locks.items():
            if loop in plant.row_slices:
                raise ValueError(f"plant {plant.name!r} has a loop {loop!r} already; rename it: a lock takes the name")
            self.take(_lock(plant, loop, name))
        self._check_names()
        self.direction = {
            name: contact.direction(self.part(name), self._rows(self.whole, name).size)
            for name, contact in self.contacts.items()
        }
        first = {s.loop: s for s in reversed(_in_order(self.switches))}
        self.held = {loop for loop, s in first.items() if not _engages(s)}
        self.changing = set(first) | set(self.contacts)
        self.closed: set[str] = set()

    def _check_names(self) -> None:
        for switch in [*self.switches, *self.contacts.values()]:
            if switch.loop not in self.whole.row_slices:
                raise ValueError(f"{switch.label}: {_check.unknown(switch.loop, self.whole.row_slices, 'loop')}")
            if isinstance(switch, Switch) and switch.loop in self.contacts:
                raise ValueError(f"{switch.label}: the loop is a contact, which opens and closes by itself")
            if getattr(switch, "capture", False) and not hasattr(self.whole, "bodies"):
                raise TypeError(
                    f"{switch.label}: capture needs a loop between bodies, and {self.whole.name!r} has none"
                )

    # -- modes ------------------------------------------------------------------------------------

    def part(self, name: str) -> Any:
        """A loop as a part; None where functions describe it."""
        return next((loop for loop in getattr(self.whole, "loops", ()) if loop.name == name), None)

    def take(self, loop: Any) -> None:
        """Put a loop in place of the present one."""
        self.whole = self.whole.with_loops(loop)
        self._modes.clear()

    def mode(self, names: set[str]) -> Plant:
        """The plant with these loops of the changing ones."""
        if not self.changing:
            return self.whole
        key = frozenset(names)
        if key not in self._modes:
            self._modes[key] = self.whole.without(*(n for n in self.changing if n not in key))
        return self._modes[key]

    @property
    def present(self) -> Plant:
        """The plant with the loops that hold now."""
        return self.mode(self.held | self.closed)

    def start(self, q: Array) -> Plant:
        """The plant with the loops that hold at the start; joints that are locked are so where they stand."""
        for name in sorted(self.held):
            if name.startswith("lock_") and any(isinstance(s, Lock) and s.loop == name for s in self.switches):
                self.hold(name, q)
        return self.mode(self.held)

    def near(self, q: Array) -> Plant:
        """The plant with the loops that hold, and the contacts that touch."""
        size = self.whole.size
        return self.mode(self.held | {name for name in self.contacts if abs(self.gap(name, q)) <= _TOUCH * size})

    def hold(self, name: str, q: Array) -> None:
        """Close a loop at q by making it again."""
        loop = self.part(name)
        if loop is None:  # a lock of a plant given by functions
            lock = next(s for s in self.switches if s.loop == name)
            here = float(q[self.whole.position_names.index(lock.name)])
            loop = Coupling(name, {lock.name: 1.0}, here)
        else:
            loop = capture(self.whole, loop, q)
        self.take(loop)

    # -- contacts ---------------------------------------------------------------------------------

    def _rows(self, plant: Plant, name: str) -> NDArray[np.int64]:
        rows = plant.row_slices[name]
        return np.arange(rows.start, rows.stop)

    def gap(self, name: str, q: Array) -> float:
        """How far a contact is open, m (or rad); negative inside."""
        return float(self.direction[name] @ self.whole.residual(q)[self.whole.row_slices[name]])

    def land(self, name: str, q: Array) -> None:
        """A point that sticks is held where it lands on its plane."""
        loop = self.part(name)
        if isinstance(loop, Point):
            n = self.direction[name]
            moved = np.asarray(capture(self.whole, loop, q).point_a) - loop.point_a
            self.take(replace(loop, point_a=loop.point_a + moved - n * (n @ moved)))


def _engages(switch: Switch) -> bool:
    return isinstance(switch, Engage) or (isinstance(switch, Lock) and not isinstance(switch, Unlock))


def _in_order(switches: Sequence[Switch]) -> list[Switch]:
    """In the order of time, where all have one; else as they are listed."""
    if all(s.at is not None for s in switches):
        return sorted(switches, key=lambda s: s.at)  # type: ignore[arg-type, return-value]
    return list(switches)


def _lock(plant: Plant, loop: str, name: str) -> Coupling | Weld:
    """The loop that locks a joint; it is captured before it is used."""
    tree, cut = getattr(plant, "joints", ()), [x for x in plant.loops if isinstance(x, Joint)]
    joint = next((j for j in (*tree, *cut) if j.name == name), None)
    if joint is not None and (joint in cut or joint.position_names != (name,)):
        return Weld(loop, joint.parent, joint.child)
    if name not in plant.position_names or plant.position_names.index(name) not in dict(plant.paired):
        known = [*(j.name for j in (*tree, *cut)), *plant.position_names]
        raise ValueError(f"Lock({name!r}): {_check.unknown(name, known, 'joint or coordinate')}")
    return Coupling(loop, {name: 1.0})


@dataclass
class Course:
    """A run as far as it has come: its parts, each with its records, what impacts had taken by then, and the events."""

    stretches: list[tuple[Run, list[Record], float]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def go(self, run: Run, now: Standing, until: float, steering: Steering, lost: float = 0.0) -> Record:
        """A new part, up to a time at the latest; returns its last record."""
        records: list[Record] = []
        self.stretches.append((run, records, lost))
        try:
            advance_through(run, now, until, steering, records)
        finally:
            for record in records:  # one that has failed before its begin stands where the run does
                record.begin(now.t, now.x, run.plant.nu)
        return records[-1]

    @property
    def parts(self) -> list[Part]:
        """One for each record; the last one tells how the run ended."""
        return [Part(run, record, lost) for run, records, lost in self.stretches for record in records]


def run_in_parts(run: Run, now: Standing, loops: Loops, steering: Steering, course: Course) -> None:
    """Run to the end, from one change of the loops to the next. What is raised leaves the course as far as it came.

    Raises
    ------
    ModelError, ValueError
        Where the start contradicts itself.
    """
    if not loops.changing:
        course.go(run, now, run.t_end, steering)
        return
    between = _Between(run, now, loops, course.events)
    between.settle(between.due(), [])
    while True:
        between.meet_sample()
        watcher = Watcher(loops.present, between.guards(), run.t_end)
        part = replace(run.on(loops.present, now.x[: run.plant.nq].copy()), watch=watcher)
        record = course.go(part, now, min(run.t_end, between.next), steering, between.lost)
        if record.status != Status.COMPLETED or now.t >= run.t_end * (1.0 - INSTANT):
            return
        try:
            between.settle(between.due(), watcher.fired if now.stopped else [])
        except (AssemblyError, ModelError) as error:
            record.status, record.error = Status.SWITCHING, error
            return


class _Between:
    """What happens to the loops between two parts of a run."""

    def __init__(self, run: Run, now: Standing, loops: Loops, events: list[dict[str, Any]]) -> None:
        self.run, self.now, self.loops, self.events = run, now, loops, events
        self.size = run.plant.size
        timed = [(self._on_grid(s.at), s) for s in loops.switches if s.at is not None]
        self.waiting = sorted(timed, key=lambda pair: pair[0])
        self.conditions = [Guard(partial(_condition, s), s) for s in loops.switches if s.when is not None]
        self.slips: dict[str, Guard] = {}
        self.jammed: set[str] = set()
        self.force = 0.0  # what counts as no force, N or N m
        self.lost = 0.0  # energy, J
        self.crowd, self.last = 0, -np.inf

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
        if 0.0 < following - self.now.t < INSTANT * self.run.t_end:
            self.now.t = following

    def due(self) -> list[Switch]:
        """The changes whose time has come."""
        now = self.now.t + INSTANT * self.run.t_end
        ready = [s for at, s in self.waiting if at <= now]
        self.waiting = self.waiting[len(ready) :]
        return ready

    def guards(self) -> list[Guard]:
        """What is watched from now on."""
        loops = self.loops
        found = list(self.conditions)
        for s in loops.switches:
            if isinstance(s, Release) and s.force is not None and s.loop in loops.held:
                found.append(Guard(partial(_force, s), s))
        for name in loops.contacts:
            if name in loops.closed:
                found.append(Guard(partial(self._pull, name), name, self.force, armed=name not in self.jammed))
            else:
                found.append(Guard(partial(self._sunk, name), name, _SINK * self.size, armed=True))
        return found + list(self.slips.values())

    def _pull(self, name: str, moment: Moment) -> float:
        """Force with which a closed contact would have to pull."""
        return float(self.loops.direction[name] @ moment.multipliers(name))

    def _sunk(self, name: str, moment: Moment) -> float:
        return -self.loops.gap(name, moment.q)

    def _slip(self, name: str, moment: Moment) -> float:
        """Tangential force of a contact beyond the cone of friction."""
        lam, n = moment.multipliers(name), self.loops.direction[name]
        push = -float(n @ lam)
        return float(np.linalg.norm(lam + push * n)) - self.loops.contacts[name].friction * push  # type: ignore[operator]

    def effort(self, terms: Terms, c: Array) -> Array:
        """Motor efforts at present; the first ones of a sampled law are asked for here."""
        control: Control = self.run.control
        if self.now.t == 0.0 and control.period is not None and control.drive is None and not control.delay.any():
            return control.first(terms)
        return control.effort(self.now.t, terms, c)

    # -- what -------------------------------------------------------------------------------------

    def settle(self, due: list[Switch], fired: list[Guard]) -> None:
        """Change the loops as switches and contacts ask, and the velocity with them."""
        nq, nv = self.run.plant.nq, self.run.plant.nv
        causes = [guard.cause for guard in fired]
        slipping = [name for name, guard in self.slips.items() if guard in fired]
        for guard in fired:
            guard.armed, guard.last = False, self.now.t
        kinds = [f"slip begins {name}" for name in slipping]
        if slipping and len(slipping) == len(fired) and not due:  # nothing changes
            self._log(kinds, 0.0)
            return
        opening = {cause for cause in causes if isinstance(cause, str) and cause in self.loops.closed} - set(slipping)
        switches = [*due, *(cause for cause in causes if isinstance(cause, Switch))]
        q = self.now.x[:nq].copy()
        kinds += self._switch(switches, q)
        touching = self._touching(q, opening)
        state = _State(self, q, self.now.x[nq : nq + nv].copy(), self.now.x[nq + nv + 2 :], touching)
        before = self.loops.closed
        state.close()
        hits = state.strike()
        self.loops.closed = state.rest()
        self.jammed = state.jammed & self.loops.closed
        kinds = [f"impact {n}" for n in hits] + kinds
        kinds += [f"engaged {n}" for n in touching if n in self.loops.closed - before]
        kinds += [f"released {n}" for n in sorted(before - self.loops.closed)]
        kinds += [f"jammed {n}" for n in sorted(self.jammed)]
        self.now.x = self.now.x.copy()
        self.now.x[:nq], self.now.x[nq : nq + nv] = state.q, state.v
        self._slips_of(before)
        self._log(kinds, state.loss)

    def _switch(self, switches: list[Switch], q: Array) -> list[str]:
        """Switch loops on and off; what happened, in words."""
        loops, kinds = self.loops, []
        for s in switches:
            if _engages(s) == (s.loop in loops.held):
                continue
            if not _engages(s):
                loops.held.remove(s.loop)
                kinds.append(f"released {s.loop}")
                continue
            if isinstance(s, Lock) or s.capture:  # type: ignore[attr-defined]
                loops.hold(s.loop, q)
            else:
                self._require_closed(s, q)  # type: ignore[arg-type]
            loops.held.add(s.loop)
            kinds.append(f"engaged {s.loop}")
        return kinds

    def _require_closed(self, s: Engage, q: Array) -> None:
        """Refuse to engage a loop that is open."""
        rows = self.loops.whole.row_slices[s.loop]
        gap = float(np.abs(self.loops.whole.residual(q) * self.loops.whole.row_scale)[rows].max(initial=0.0))
        if gap > s.within:
            raise SwitchingError(
                f"{s.label} cannot engage at t = {self.now.t:.6g} s: the loop is open by {gap:.3e} m, more than "
                f"within={s.within:g}. Bring it closer, or hold what is found with capture=True."
            )

    def _touching(self, q: Array, opening: set[str]) -> list[str]:
        """Contacts that are closed or about to be."""
        loops, found = self.loops, []
        for name in loops.contacts:
            if name in opening:
                continue
            gap = loops.gap(name, q)
            if name not in loops.closed and gap < -1e-6 * self.size:
                raise SwitchingError(
                    f"{loops.contacts[name].label} is inside by {-gap:.3e} at t = {self.now.t:.6g} s, and a contact is "
                    "open or closed: begin with gap >= 0, or give the other side="
                )
            if name in loops.closed or gap <= _TOUCH * self.size:
                if name not in loops.closed:
                    loops.land(name, q)
                found.append(name)
        return found

    def _slips_of(self, before: set[str]) -> None:
        """Watch the friction of contacts that have closed."""
        closed = self.loops.closed
        self.slips = {name: guard for name, guard in self.slips.items() if name in closed & before}
        for name in sorted(closed - before):
            if self.loops.contacts[name].friction is not None:
                self.slips[name] = Guard(partial(self._slip, name), name, self.force, armed=True)

    def _log(self, kinds: list[str], loss: float) -> None:
        """Keep events at one time, of which the first bears the loss; refuse what would never end."""
        t, nq = self.now.t, self.run.plant.nq
        self.lost += loss
        q = self.now.x[:nq].copy()
        rank = self.loops.present.terms(q, np.zeros(self.run.plant.nv)).rank
        for i, kind in enumerate(kinds):
            lost = loss if i == 0 else 0.0
            self.events.append({"time": t, "kind": kind, "conditioning": np.nan, "rank": rank, "q": q, "loss": lost})
        self.crowd = self.crowd + 1 if t - self.last < _CROWD * self.run.t_end else 0
        self.last = t
        if self.crowd > _MANY:
            recent = ", ".join(dict.fromkeys(event["kind"] for event in self.events[-8:]))
            raise SwitchingError(
                f"the loops chatter at t = {t:.9g} s: {self.crowd} changes at as good as one time ({recent}). Raise "
                "the rest_speed of the contacts, or let the conditions that engage and release a loop lie apart."
            )


def _condition(switch: Switch, moment: Moment) -> float:
    """What the user watches."""
    return _asked(switch, "when", moment.t, moment.q, moment.v)


def _force(switch: Release, moment: Moment) -> float:
    return _asked(switch, "force", moment.multipliers(switch.loop).copy(), t=moment.t)


def _asked(switch: Switch, which: str, *arguments: Any, t: float | None = None) -> float:
    """The value of a function of the user."""
    try:
        return _check.number(getattr(switch, which)(*arguments), f"the value of {which}= of {switch.label}")
    except Exception as error:
        t = arguments[0] if t is None else t
        raise SwitchingError(
            f"{which}= of {switch.label} failed at t = {t:.9g} s: {type(error).__name__}: {error}"
        ) from error


class _State:
    """Position and velocity at a change, with the contacts that touch: closed, struck, at rest."""

    def __init__(self, between: _Between, q: Array, v: Array, c: Array, touching: list[str]) -> None:
        self.between, self.loops = between, between.loops
        self.q, self.v, self.c, self.touching = q, v, c, touching
        self.plant = self.loops.mode(self.loops.held | set(touching))
        self.loss = 0.0
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
            [self.loops.direction[n] @ x[r] for n, r in zip(self.touching, self.rows, strict=True)], dtype=np.float64
        )

    def _pushes(self, subset: tuple[int, ...], multipliers: Array) -> Array:
        """How much each contact of the subset pushes; zero for the others."""
        whole = np.zeros(len(self.plant.row_names))
        whole[self._of(subset)] = multipliers
        return -self._along(whole)

    def close(self) -> None:
        """Close what is open by rounding, or by what `within` allows."""
        off = np.abs(self.plant.residual(self.q) * self.plant.row_scale).max(initial=0.0)
        if not off > 1e-15 * self.between.size:
            return
        before = self.plant.terms(self.q, self.v).energy
        self.q = self.plant.close(self.q)
        moved = before - self.plant.terms(self.q, self.v).energy
        self.loss += moved if np.isfinite(moved) else 0.0

    def strike(self) -> list[str]:
        """The velocity after impact; the contacts that were struck."""
        contacts = [self.loops.contacts[n] for n in self.touching]
        terms = self.plant.terms(self.q, self.v)
        rates = terms.A @ self.v
        approach = self._along(rates)
        speed = np.abs(rates * terms.row_scale)[self.base].max(initial=0.0)
        still = _STILL * self.between.size
        if speed <= 1e-14 * self.between.size and not np.any(approach < -still):
            return []
        back = np.array([c.restitution * max(-a, 0.0) for c, a in zip(contacts, approach, strict=True)])
        slowest = _SLOW * self.between.size
        back[[b <= max(c.rest_speed, slowest) for b, c in zip(back, contacts, strict=True)]] = 0.0
        nothing = _ZERO * float(np.abs(terms.M @ self.v / terms.reach).max(initial=0.0))

        def solve(subset: tuple[int, ...]) -> tuple[Impact, Array]:
            target = np.zeros(rates.size)
            for i in subset:
                target[self.rows[i]] = back[i] * self.loops.direction[self.touching[i]]
            rows = self._of(subset)
            hit = jump(terms, rows, self.v, target[rows])
            margin = self._along(terms.A @ hit.v) - back + still
            pushes = self._pushes(subset, hit.multipliers) + nothing
            margin[list(subset)] = pushes[list(subset)]
            return hit, margin

        subset, hit = self._supported(solve)
        self.v = hit.v
        self.loss += hit.loss
        return [self.touching[i] for i in subset if approach[i] < -still]

    def rest(self) -> set[str]:
        """The contacts that stay closed under the forces that act; the velocity is brought onto them."""
        terms = self.plant.terms(self.q, self.v)
        opening = self._along(terms.A @ self.v)
        leaving = tuple(i for i, speed in enumerate(opening) if speed > _STILL * self.between.size)
        self.between.force = _ZERO * float(np.abs(terms.h / terms.reach).max(initial=0.0))

        def solve(subset: tuple[int, ...]) -> tuple[Terms, Array]:
            mode = self.loops.mode(self.loops.held | {self.touching[i] for i in subset})
            rows = self._of(subset)
            f = terms.B @ self.between.effort(mode.terms(self.q, self.v, self.between.now.t), self.c)
            vdot, lam, pushed = nearest(terms, rows, f - terms.h, -terms.b[rows])
            self.between.force = _ZERO * float((np.maximum(np.abs(f - terms.h), np.abs(pushed)) / terms.reach).max())
            free = np.abs(vdot) + np.abs(np.linalg.solve(terms.M, f - terms.h))  # rows that stay are rounding of it
            noise = 1e-9 * float((terms.row_scale * (np.abs(terms.A) @ free + np.abs(terms.b))).max(initial=0.0))
            margin = self._along(terms.A @ vdot + terms.b) + noise
            margin[list(subset)] = (self._pushes(subset, lam) + self.between.force)[list(subset)]
            return terms, margin

        subset: tuple[int, ...] = ()
        if len(leaving) < len(self.touching):
            subset, _ = self._supported(solve, leaving)
        still = jump(terms, self._of(subset), self.v, np.zeros(self._of(subset).size))
        self.v = still.v
        self.loss += still.loss
        return {self.touching[i] for i in subset}

    def _supported(self, solve: Any, leaving: tuple[int, ...] = ()) -> tuple[tuple[int, ...], Any]:
        """Which contacts take part. Those that stick can jam: closed they pull, open they sink; they stay closed."""
        found = supporting(len(self.touching), solve, leaving)
        if found is not None:
            return found
        subset = tuple(i for i in range(len(self.touching)) if i not in leaving)
        result, margin = solve(subset)
        self.jammed |= {self.touching[i] for i in subset if margin[i] < 0.0}
        return subset, result

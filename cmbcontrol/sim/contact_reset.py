"""Changes of a machine at one instant: loops close, contacts strike, and friction sticks or slides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.impact import jump, nearest
from ..errors import PainleveError, SwitchingError
from ..model.plant import Plant
from ..model.terms import Terms
from .constraint_modes import STILL
from .contact_states import ContactProblem, Touch
from .control import Control

if TYPE_CHECKING:
    from .switching_run import ModeSwitch

__all__ = ["REST", "SINK", "Reset", "painleve"]

Array = NDArray[np.float64]

SINK = 1e-12  # of the size: gaps that are negative by less are rounding
REST = 1e-7  # of the size, a second: what slides slower rests
_ZERO = 1e-10  # of the largest force (or impulse): less counts as none
_CLEAR = 4.0  # times that: a force that ends a part of a run, so that what it ends does not begin again beside it
_DRIVEN = 1e-6  # of the size a second, and of the fastest row: what still goes into a contact after an impact is driven
_SLOW = 1e-5  # of the size, a second: a rebound below it rises no higher than gaps can be told from zero
_ROCKING = 10.0  # times that: as fast as it lifts, with what an impact takes, is what strikes as it rocks
_BORDER = 1e-3  # of the accelerations at hand: what begins to slide with less has a direction that rounding would turn
_IN_TURN = 1000  # impacts for each contact at one instant, one after the other: with e = 0.99 they have come to rest
_OUTSET = 1e-6  # of the size, a second: until it is faster it keeps that of its begin


def painleve(name: str, t: float) -> PainleveError:
    """Error to raise where the friction of a contact leaves no motion (Painleve's paradox)."""
    return PainleveError(
        f"contact {name!r} cannot go on sliding at t = {t:.9g} s: its friction makes the push grow that it is in "
        "proportion to, so that there is no acceleration, or more than one (Painleve's paradox). With a smaller "
        "coefficient of friction there is one; so there is where the bodies give way, as with a PointForce in place of "
        "the contact"
    )


class Reset:
    """Position and velocity at a change of constraints, and the contacts and frictions that touch, stick and slide."""

    def __init__(
        self, switching: ModeSwitch, q: Array, v: Array, c: Array, touching: list[str], changing: set[str]
    ) -> None:
        self.switching, self.modes = switching, switching.modes
        self.q, self.v, self.c = q, v, c
        self.stopped, self.breaking = changing & set(switching.modes.sliding), changing - set(switching.modes.sliding)
        self.loss = self.motion_work = 0.0
        self.jammed: set[str] = set()
        self.beside: dict[str, float] = {}
        self.approach: dict[str, float] = {}
        self.subdued: set[str] = set()  # contacts that would go on striking, too slowly to be followed
        self.in_turn: list[str] = []  # contacts that were struck one after the other
        self.at_once: list[
            str
        ] = []  # and those of which each takes part of one impulse, which another order would share
        modes = self.modes
        forces = [rub for rub in modes.rubs.values() if rub.normal is None]
        rubs = [*forces, *(modes.rubs[name] for name in touching if name in modes.rubs)]
        modes.stick([rub.name for rub in rubs if rub.name in modes.sliding], q)  # where it might come to rest
        self.still = {rub.name: np.zeros(1) for rub in forces}
        self.closed = modes.holding(touching, {})
        self.plant = modes.mode(self.closed, self.still)
        self.contacts = [self._touch(name) for name in touching]
        self.dry = [self._touch(rub.name) for rub in forces]

    def _touch(self, name: str) -> Touch:
        """Touch of a contact, or of a force with friction, with its directions among the rows of the plant."""
        return Touch.of(self.modes, self.plant, name, name in self.breaking)

    def _contacts_of(self, plant: Plant) -> list[Touch]:
        """Touches of the contacts, with their directions among the rows of a plant that has fewer constraints."""
        kept = np.array([name in plant.row_names for name in self.plant.row_names], dtype=bool)
        return [replace(t, normal=t.normal[kept], tangents=t.tangents[:, kept]) for t in self.contacts]  # type: ignore[index]

    def close_all(self) -> None:
        """Close all that touches. Friction in a joint then sticks where it is, on an end stop of the joint too."""
        before = self.q
        if self.dry:
            self._close(self.modes.mode(self.closed - self._of_dry, self.still))
        if self.q is not before:
            self.modes.stick([t.name for t in self.dry], self.q)
            self.plant = self.modes.mode(self.closed, self.still)
        self._close(self.plant)

    def _close(self, plant: Plant) -> None:
        """Close loops that are open by rounding, or by what `within` allows."""
        off = np.abs(plant.residual(self.q) * plant.row_scale).max(initial=0.0)
        if not off > 1e-15 * self.switching.size:
            return
        before = plant.terms(self.q, self.v).energy
        self.q = plant.close(self.q)
        moved = before - plant.terms(self.q, self.v).energy
        self.loss += moved if np.isfinite(moved) else 0.0

    def strike(self) -> list[str]:
        """Change the velocity by impacts; returns the names of the contacts struck. Dry friction has no impulse.

        One after the other, where the run asks for it: each time the contact that closes fastest, alone, until none
        closes faster than it rests. What is left then, or after so many impacts, is struck at once.
        """
        plant = self.modes.mode(self.closed - self._of_dry, self.still) if self.dry else self.plant
        terms, touches = plant.terms(self.q, self.v), self._contacts_of(plant)
        fastest = float(np.abs(terms.row_rate * terms.row_scale).max(initial=0.0))
        self.approach = {t.name: -t.opening(terms.row_rate) for t in touches}
        struck: list[str] = []
        for _ in range(_IN_TURN * len(touches) if self.modes.in_sequence and len(touches) > 1 else 0):
            rates = replace(terms, v=self.v).row_rate
            first = min(touches, key=lambda t: t.opening(rates))
            speed = -first.opening(rates)
            if speed <= max(first.contact.rest_speed, _SLOW * self.switching.size):  # type: ignore[union-attr]
                break
            self.approach[first.name] = max(self.approach[first.name], speed)
            struck += self._hit(plant, terms, touches, [first])
        self.in_turn = list(dict.fromkeys(struck))
        struck += self._hit(plant, terms, touches, touches)
        if struck or self.at_once:
            self._require_stopped(plant, touches, fastest)
        return list(dict.fromkeys(struck))

    def _hit(self, plant: Plant, terms: Terms, touches: list[Touch], some: list[Touch]) -> list[str]:
        """Change the velocity by one impact at some contacts at once; returns the names of those struck."""
        still, terms = STILL * self.switching.size, replace(terms, v=self.v)
        rates = terms.row_rate
        approach = np.array([t.opening(rates) for t in some])
        problem = ContactProblem(terms, some, terms.M @ self.v, plant.row_rates, {}, 0.0, still)
        for other in touches:
            if other not in some:
                problem.without(other)
        jerk = np.abs(rates * terms.row_scale)[problem.base].max(initial=0.0)
        caught = [t for t in some if t.rub is None and np.abs(t.tangents @ rates).max(initial=0.0) > still]
        if jerk <= 1e-14 * self.switching.size and not np.any(approach < -still) and not caught:
            return []
        back = np.array([t.contact.restitution * max(-a, 0.0) for t, a in zip(some, approach, strict=True)])  # type: ignore[union-attr]
        slowest = _SLOW * self.switching.size
        slow = [b <= max(t.contact.rest_speed, slowest) for b, t in zip(back, some, strict=True)]  # type: ignore[union-attr]
        self.subdued |= {t.name for t, b, s in zip(some, back, slow, strict=True) if s and b > still}
        back[slow] = 0.0
        problem.nothing = _ZERO * float(np.abs(terms.M @ self.v / terms.unit_lengths).max(initial=0.0))
        for rebound in (back, np.zeros_like(back)):
            problem.back = {t.name: b for t, b in zip(some, rebound, strict=True)}
            states, found = problem.found()
            mean = 0.5 * (self.v + found.x)
            lost = float(mean @ (terms.M @ (self.v - found.x)))
            if lost > -1e-9 * terms.kinetic:  # else friction and rebound would make energy (Kane): no rebound
                break
        self.jammed |= set(problem.jammed(states))
        self._take(terms, found.x, found.lam, lost, plant.target_rows)
        self.at_once = problem.coupled([t for t in some if found.pushes.get(t.name, 0.0) > problem.nothing])
        return [t.name for t, a in zip(some, approach, strict=True) if a < -still and states[t.name] != "open"]

    def _require_stopped(self, plant: Plant, touches: list[Touch], fastest: float) -> None:
        """Raise an error where a body still moves into a contact: constraints that act both ways drive it there.

        Raises
        ------
        SwitchingError
        """
        bound = _DRIVEN * (fastest + self.switching.size)
        off = plant.terms(self.q, self.v).row_rate
        driven = [t.name for t in touches if t.opening(off) < -bound]
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
        """Names of the constraints that hold while dry friction sticks."""
        return frozenset().union(*(t.rub.sticking for t in self.dry))  # type: ignore[union-attr]

    def _take(self, terms: Terms, v: Array, lam: Array, lost: float, of_motions: NDArray[np.bool_]) -> None:
        """Take over the velocity after an impact. Impulses of prescribed motions do work, which is no loss."""
        mean = terms.A[of_motions] @ (0.5 * (self.v + v))
        work = -float(lam[of_motions] @ mean)
        self.v = v
        self.loss += lost + work
        self.motion_work += work

    def rest(self) -> set[str]:
        """Names of the contacts that stay closed under the forces; sets what slides, and projects the velocity."""
        modes, size = self.modes, self.switching.size
        terms = self.plant.terms(self.q, self.v)
        moving: dict[str, Array] = {}
        for t in (*self.contacts, *self.dry):
            if t.rub is None:
                continue
            t.rate = t.tangents @ terms.row_rate
            speed = float(np.linalg.norm(t.rate))
            if speed <= REST * size or (t.name in self.stopped and self._has_stopped(t, speed)):
                t.rate = np.zeros_like(t.rate)
            else:
                moving[t.name] = t.rate / speed
        terms = self._stilled(terms, [t for t in (*self.contacts, *self.dry) if t.rub and not t.moves])
        # what leaves slower than `_SLOW` rises no higher than gaps can be told from zero: where it comes back, it stays
        speeds = {t.name: t.opening(terms.row_rate) for t in self.contacts}
        if any(STILL * size < speed <= _SLOW * size for speed in speeds.values()):  # it rocks from one to the other
            self.subdued |= {name for name, speed in self.approach.items() if 0.0 < speed <= _ROCKING * _SLOW * size}
        opening = [t for t in self.contacts if speeds[t.name] > _SLOW * size]
        touches = [t for t in (*self.contacts, *self.dry) if t not in opening and not (t in self.dry and t.moves)]
        h = terms.h
        if any(t.moves for t in self.dry):
            h = modes.mode(self.closed, self.still | {t.name: moving[t.name] for t in self.dry if t.moves}).terms(
                self.q, self.v
            ).h  # fmt: skip
        problem = _Resting(self, terms, touches, h, moving)
        for t in (*opening, *(t for t in self.dry if t.moves)):
            problem.without(t)
        states, found = problem.found() if touches else ({}, None)
        closed = {t.name for t in self.contacts if states.get(t.name, "open") != "open"}
        slides = {n: d for n, d in moving.items() if modes.rubs[n].normal is None or n in closed}
        slides |= {n: found.direction[n] for n, state in states.items() if state == "slides"}  # type: ignore[union-attr]
        self.jammed |= set(problem.jammed(states)) if touches else set()
        if found is not None and found.beside is not None:
            self.beside = dict(zip(self.plant.row_names, found.beside.tolist(), strict=True))
        paradox = [n for n in slides if n in self.jammed]
        if paradox:
            raise painleve(paradox[0], self.switching.state.t)
        begins = [t for t in touches if t.normal is not None and t.name in slides and not t.moves]
        modes.outset = {
            t.name: _OUTSET * size
            for t in begins
            if found is not None and problem.slip(t, found.x) < _BORDER * problem.free
        }
        modes.sliding = slides
        modes.stick([t.name for t in self.contacts if t.rub and t.name in closed and t.name not in slides], self.q)
        present = modes.mode(modes.holding(closed, slides), slides)
        self._close(present)  # all that touches need not close at once: two feet and two knees on their stops
        now = present.terms(self.q, self.v)
        hit = jump(now, np.arange(len(present.row_names)), self.v, present.row_rates)
        self._take(now, hit.v, hit.multipliers, hit.loss, present.target_rows)
        return closed

    def leap(self, h: float) -> tuple[float, set[str]]:
        """Take a step of a time-stepping method (Moreau-Jean) over any number of changes.

        Returns the work of the motors, and the contacts that the step meets but did not include; repeat it with these.

        The impulse of forces and impacts in a step, h f + r, leads to a velocity that is kept through it:

            M (v+ - v) = h (B u - bias) - A' mu,     gap + h d(gap)/dt >= 0,     pushes and friction as in an impact.

        It is of first order. Nothing rebounds, and what dry friction in joints does stays as it is.
        """
        modes, switching = self.modes, self.switching
        dry = {n: d for n, d in modes.sliding.items() if modes.rubs[n].normal is None}
        plant = modes.mode(modes.holding([t.name for t in self.contacts], dry), dry)
        terms = plant.terms(self.q, self.v, switching.state.t)
        u, rate_c = self._drive(terms)
        touches = self._contacts_of(plant)
        g, still = terms.M @ self.v + h * (terms.B @ u - terms.h), STILL * switching.size
        problem = ContactProblem(terms, touches, g, plant.row_rates, {}, 0.0, still)
        problem.nothing = _ZERO * float(np.abs(g / terms.unit_lengths).max(initial=0.0))
        problem.back = {t.name: -max(t.opening(terms.phi), 0.0) / h for t in touches}
        states, found = problem.found()
        before, work = terms.energy, h * float((terms.B @ u) @ (0.5 * (self.v + found.x)))
        self.q = self.plant.integrate(self.q, h * found.x)
        self.v, self.c = found.x, self.c + h * rate_c
        residual, known = modes.whole.residual(self.q), {t.name for t in self.contacts}
        missed = {n for n in modes.contacts if modes.gap(n, residual) < -SINK * switching.size} - known
        if missed:
            return work, missed
        rubbing = {t.name: np.eye(len(t.rate))[0] for t in self.contacts if t.rub}  # only planes, and no places
        held = modes.mode(modes.holding({n for n, x in states.items() if x != "open"}, dry | rubbing), dry | rubbing)
        self.q = held.close(self.q)
        self.loss += before + work - self.plant.terms(self.q, self.v).energy
        return work, missed

    def _drive(self, terms: Terms) -> tuple[Array, Array]:
        """Motor efforts at present, and the rates of the integrated states of the law."""
        control: Control = self.switching.run.control
        if control.holds:
            return self.switching.effort(terms, self.c), np.zeros_like(self.c)
        return control.moved(self.switching.state.t, terms.copied(), self.c)

    def _stilled(self, terms: Terms, resting: list[Touch]) -> Terms:
        """Set slip that counts as rest to zero, else rounding would be its direction; returns the new terms."""
        if not resting:
            return terms
        own = np.any([t.rows for t in (*self.contacts, *self.dry)], axis=0)
        C = np.vstack([np.eye(len(own))[~own], *(t.tangents for t in resting)])
        off = C @ terms.row_rate
        off[: np.count_nonzero(~own)] = 0.0
        if not off.any():
            return terms
        scale = (np.abs(C) * terms.row_scale).sum(axis=1) / np.abs(C).sum(axis=1)
        rows = replace(terms, A=C @ terms.A, b=np.zeros(len(C)), row_scale=scale, rank=len(C), friction=None)
        moved, pushed, _, _ = nearest(rows, np.arange(len(C)), np.zeros_like(self.v), -off)
        self.loss += float(pushed @ (self.v + 0.5 * moved))
        self.v = self.v + moved
        return self.plant.terms(self.q, self.v)

    def _has_stopped(self, touch: Touch, speed: float) -> bool:
        """Whether friction whose slip triggered an event has come to rest; else its direction turned by 60 degrees.

        Where the slip passes zero, the direction at the event, which is within rounding of it, is the first one or its
        opposite.
        """
        cosine = float(touch.rate @ self.modes.sliding[touch.name]) / speed
        return len(touch.rate) == 1 or abs(cosine - 0.5) > 0.2 or speed <= REST * self.switching.size


class _Resting(ContactProblem):
    """Contact problem of the accelerations at a change; efforts may depend on which constraints hold."""

    def __init__(self, reset: Reset, terms: Terms, touches: list[Touch], h: Array, moving: Mapping[str, Array]) -> None:
        super().__init__(terms, touches, -h, -terms.b, {}, 0.0, 0.0)
        self.reset, self.h, self.moving = reset, h, moving
        self.free = 0.0  # accelerations at hand, of which 1e-9 is noise
        self._efforts: dict[frozenset[str], Array] = {}
        self.nothing = _ZERO * float(np.abs(h / terms.unit_lengths).max(initial=0.0))

    def slip(self, touch: Touch, x: Array) -> float:
        """Acceleration with which a contact begins to slide."""
        return float(np.linalg.norm(touch.tangents @ (self.terms.A @ x - self.target)))

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
        self.nothing = max(self.nothing, _ZERO * float((np.abs(self.g) / terms.unit_lengths).max(initial=0.0)))
        reset.switching.force = _CLEAR * self.nothing
        return super()._judged(states)

"""States of contacts and dry friction at one instant (open, sticks, slides), for impulses and for forces alike.

With x the velocity after an impact and g = M v, or the acceleration and g = B u - h,

    M x + A' lam + D' c = g,      A x = target on the rows that act,

where c are the pushes of contacts that slide, and D their friction for a unit of push. Each state has a condition: what
is open does not sink in, what is closed pushes, what sticks stays within its cone, what slides from rest slides against
its friction. The states that contradict none of them are found by `dynamics.impact.supporting`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._tolerance import DEPENDENT, rank
from ..dynamics.acceleration import at_rank
from ..dynamics.impact import nearest, supporting
from ..errors import PainleveError, TooManyStatesError
from ..model.accelerations import solved
from ..model.contacts import Contact
from ..model.dry_friction import Rub, across
from ..model.multipliers import unique_multipliers
from ..model.plant import Plant
from ..model.terms import LoadFriction, Terms
from .contact_relaxation import Relaxed, relaxed
from .contact_sharing import Limit, within

if TYPE_CHECKING:
    from .constraint_modes import ConstraintModes

__all__ = ["ContactProblem", "ContactSolution", "Touch"]

Array = NDArray[np.float64]

_TURNS = 40  # steps of the directions in which something begins to slide: from 3 rad away, by damped steps
_TURNED, _ROUNDED = 1e-13, 1e-9  # rad: a direction is found, and what rounding may leave of slips that are small
_SIDE = 1e-7  # rad, of differences by directions
_UNSHARED = 1e-9  # of what a force does: a force of which sharing changes less is unique
_APART = 1e-9  # of how they move themselves: what contacts do to each other that is less is rounding


@dataclass(eq=False)
class Touch:
    """A contact that touches, or another element with dry friction.

    Attributes
    ----------
    name : str
    normal : ndarray, shape (rows,), or None
        Opening direction among the rows of the machine; None for friction without a contact.
    tangents : ndarray, shape (k, rows)
        Directions, among the rows of the machine, in which it can stick or slide.
    contact : Contact or None
    rub : Rub or None
        Its friction; without friction it sticks at any force.
    rate : ndarray, shape (k,)
        Velocity of sliding; zero where it is at rest.
    breaks : bool
        Whether it has just been found to need more than static friction.
    """

    name: str
    normal: Array | None
    tangents: Array
    contact: Contact | None
    rub: Rub | None
    rate: Array
    breaks: bool = False

    @classmethod
    def of(cls, modes: ConstraintModes, plant: Plant, name: str, breaks: bool = False) -> Touch:
        """Touch of a contact, or of a force with friction, with its directions among the rows of a plant."""
        rub, contact = modes.rubs.get(name), modes.contacts.get(name)
        rows = modes.rows_of(plant, *(modes.sticking(rub) if rub else (name,)))
        normal = rub.normal if rub else modes.direction[name]
        own = rub.tangents if rub else across(normal)
        tangents = np.zeros((len(own), len(plant.row_names)))
        tangents[:, rows] = own
        opening = None
        if normal is not None:
            opening = np.zeros(len(plant.row_names))
            opening[rows] = normal
        return cls(name, opening, tangents, contact, rub, np.zeros(len(own)), breaks)

    @property
    def moves(self) -> bool:
        """Whether it slides."""
        return bool(np.any(self.rate))

    @property
    def rows(self) -> NDArray[np.bool_]:
        """Mask of the rows of the machine that belong to this contact or friction."""
        own = np.abs(self.tangents).sum(axis=0) > 0.0
        return own if self.normal is None else own | (self.normal != 0.0)

    def opening(self, motion: Array) -> float:
        """Component of a motion of all rows that opens the contact."""
        return float(self.normal @ motion)  # type: ignore[operator]

    @property
    def states(self) -> tuple[str, ...]:
        """Possible states of it, the preferred one first."""
        if self.rub is None:
            return "sticks", "open"
        states = ("slides",) if self.moves else ("slides", "sticks") if self.breaks else ("sticks", "slides")
        return states if self.normal is None else (*states, "open")

    @property
    def coefficient(self) -> float:
        """Friction while it slides or begins to slide: a force, or for a contact the ratio to its push."""
        law, speed = self.rub.law, float(np.linalg.norm(self.rate))  # type: ignore[union-attr]
        return float(law.level(speed)) + law.viscous * speed


@dataclass(frozen=True)
class ContactSolution:
    """Motion and forces that follow from assumed states of contacts and frictions.

    Attributes
    ----------
    x : ndarray, shape (nv,)
    lam : ndarray, shape (rows,)
        Multipliers of the rows of the machine that act both ways; zero for other rows.
    direction : dict of str to ndarray
        Direction of each one that slides or begins to.
    pushes : dict of str to float
        Push of each closed contact.
    beside : ndarray, shape (rows,), or None
        Difference of the multipliers of all rows from the smallest ones; with it, all that is closed keeps its limits.
    """

    x: Array
    lam: Array
    direction: dict[str, Array]
    pushes: dict[str, float] = field(default_factory=dict)
    beside: Array | None = None


class ContactProblem:
    """Equations of motion or impact at one instant, with the contacts and frictions that touch.

    Parameters
    ----------
    terms : Terms
        Equations of motion with all rows that may act.
    touches : sequence of Touch
    g, target : ndarray, shape (nv,) and (rows,)
    back : mapping of str to float
        Rebound: how far the motion of the normal row of a contact is to be above `target`.
    nothing, noise : float
        Bounds below which a push, and a motion, count as zero.
    """

    def __init__(
        self,
        terms: Terms,
        touches: Sequence[Touch],
        g: Array,
        target: Array,
        back: Mapping[str, float],
        nothing: float,
        noise: float,
    ) -> None:
        self.terms, self.touches, self.g, self.target = terms, touches, g, target
        self.back, self.nothing, self.noise = back, nothing, noise
        self.outset: Mapping[str, Array] = {}  # directions from which those that begin to slide are looked for
        own = np.zeros(len(target), dtype=bool)
        for touch in touches:
            own |= touch.rows
        self.base = np.flatnonzero(~own)
        self._fits = False  # whether what was found contradicts nothing

    def without(self, touch: Touch) -> None:
        """Leave out the rows of a contact or friction that is known to be open, or to slide."""
        self.base = self.base[~touch.rows[self.base]]

    def found(self) -> tuple[dict[str, str], ContactSolution]:
        """States of all that touches, by name, and the motion and forces that follow; contacts that jam stay closed."""
        support, many, self._fits = self._still_held(), None, True
        rubbing = all(touch.rub for touch in self.touches)
        try:
            support = support or supporting([touch.states for touch in self.touches], self._judged)
        except TooManyStatesError as error:
            many = error
        if support is None and (many or rubbing):
            roughly = relaxed(self)
            states, self.outset = roughly.states, roughly.directions
            for _ in self.touches:  # redundant ones that slide are left out, one after the other
                balance, margin, states_of_others = self._judged(states)
                if not (margin < 0.0).any():
                    support = states, balance
                    break
                states = states_of_others
            self._fits = support is not None
            # they share in a way that states do not tell; what slides already may have no answer at all
            if support is None and roughly.settled and not any(touch.moves for touch in self.touches):
                support = roughly.states, self._carried(roughly)
        if support is None and many and not rubbing:  # what rubs may jam, and is told to
            raise many
        if support is None:
            self._fits, states = False, tuple(touch.states[0] for touch in self.touches)
            support = states, self._judged(states)[0]
        states, balance = support
        for t, state in zip(self.touches, states, strict=True):  # where nothing fits, there may be no direction, either
            if state == "slides" and t.name not in balance.direction:
                way = self.outset.get(t.name, np.eye(len(t.rate))[0])
                balance.direction[t.name] = t.rate / np.linalg.norm(t.rate) if t.moves else way
        return dict(zip((touch.name for touch in self.touches), states, strict=True)), balance

    def _still_held(self) -> tuple[tuple[str, ...], ContactSolution] | None:
        """States in which what has just left its cone stays at rest, by another share of forces, or None."""
        if not any(t.breaks for t in self.touches):
            return None
        states = tuple("sticks" if t.breaks and not t.moves else t.states[0] for t in self.touches)
        balance, margin, _ = self._judged(states)
        shared = balance.beside is not None and balance.beside.any()
        return (states, balance) if shared and not (margin < 0.0).any() else None

    def _carried(self, roughly: Relaxed) -> ContactSolution:
        """Motion and forces of a relaxation as they are; they are as exact as it has converged."""
        terms, x = self.terms, roughly.x
        left = self.g - terms.M @ x
        for t in self.touches:
            rows = t.tangents if t.normal is None else np.vstack([t.normal, t.tangents])
            left -= roughly.shares[t.name] @ rows @ terms.A
        lam = np.zeros(len(self.target))
        lam[self.base] = np.linalg.lstsq(terms.A[self.base].T, left, rcond=1e-10)[0]
        pushes = {t.name: -float(roughly.shares[t.name][0]) for t in self.touches if t.normal is not None}
        return ContactSolution(x, lam, dict(roughly.directions), pushes)

    def coupled(self, some: Sequence[Touch]) -> list[str]:
        """Names of the contacts in a list whose push would move another one of the list."""
        if len(some) < 2:
            return []
        terms, still = self.terms, np.zeros(len(self.base))
        C = np.array([t.normal for t in some])
        W = C @ terms.A @ np.array([nearest(terms, self.base, row @ terms.A, still)[0] for row in C]).T
        own = np.sqrt(np.abs(np.diag(W)))
        moves = np.abs(W - np.diag(np.diag(W))) > _APART * np.outer(own, own)
        return [t.name for t, moved in zip(some, moves.any(axis=0), strict=True) if moved]

    def jammed(self, states: Mapping[str, str]) -> list[str]:
        """Contacts that are closed in these states, as none better were found, but would have to pull."""
        if self._fits:
            return []
        chosen = tuple(states[touch.name] for touch in self.touches)
        _, margin, _ = self._judged(chosen)
        pairs = zip(self.touches, chosen, margin, strict=True)
        return [t.name for t, state, m in pairs if t.normal is not None and state != "open" and m < 0.0]

    # -- given states ------------------------------------------------------------------------------

    def _judged(self, states: tuple[str, ...]) -> tuple[ContactSolution, Array, tuple[str, ...]]:
        """Motion and forces in these states, margin of each (negative if wrong), and states to try instead."""
        system = _System(self, states)
        shared = system.shared
        if shared:  # one of them follows the others without a push, as all of them may that are redundant
            margin = np.array([-1.0 if t is shared else 1.0 for t in self.touches])
            instead = tuple("open" if t is shared else x for t, x in zip(self.touches, states, strict=True))
            return ContactSolution(np.zeros_like(self.g), np.zeros(len(self.target)), {}), margin, instead
        direction = {t.name: t.rate / np.linalg.norm(t.rate) for t in system.sliding if t.moves}
        seeking = [t for t in system.sliding if not t.moves]
        if seeking:  # each begins in the direction against which it is held, where all of them are
            direction |= self._outsets(states, seeking) | dict(self.outset)
        turning = [t for t in seeking if len(t.rate) > 1]
        try:
            x, lam, turned = self._turned(system, turning, direction)
        except PainleveError:
            x, lam = np.zeros_like(self.g), np.zeros(system.count)
            margin = np.array([-np.inf if t in system.sliding else 1.0 for t in self.touches])
            instead = tuple("open" if t.moves else "sticks" for t in self.touches)
            return ContactSolution(x, system.spread(lam), direction), margin, instead
        margin, instead = self._fit(system, states, x, lam, direction)
        smallest, within_cones = lam, None
        if (margin < 0.0).any():
            within_cones = system.shared_within(lam, states, margin < 0.0)
        if within_cones is not None:
            lam = within_cones
            margin, instead = self._fit(system, states, x, lam, direction)
        if not turned:
            margin[[t in turning for t in self.touches]] = -np.inf
        pushes = {name: -float(lam[row]) for name, row in system.normal.items()}
        return ContactSolution(x, system.spread(lam), direction, pushes, system.C.T @ (lam - smallest)), margin, instead

    def _turned(
        self, system: _System, turning: Sequence[Touch], direction: dict[str, Array]
    ) -> tuple[Array, Array, bool]:
        """Motion and multipliers with friction against the slip of `turning`, and whether such directions were found.

        The angles between directions and slips are zero, by Newton's method with damped steps. Slips turn against the
        direction, often by more than it has turned, so that taking theirs in its place would swing to and fro.
        """
        if not turning:
            return *system.solution(direction), True

        def solved_for(angles: Array) -> tuple[Array, Array, Array, Array]:
            for t, angle in zip(turning, angles, strict=True):
                direction[t.name] = np.array([np.cos(angle), np.sin(angle)])
            x, lam = system.solution(direction)
            motion, off, sizes = self.terms.A @ x - self.target, np.zeros(len(turning)), np.zeros(len(turning))
            for i, t in enumerate(turning):
                slip, (c, s) = t.tangents @ motion, direction[t.name]
                across, along, size = c * slip[1] - s * slip[0], c * slip[0] + s * slip[1], np.linalg.norm(slip)
                off[i] = 0.0 if size <= self.noise else np.arctan2(across, along) * min(1.0, size / clear)
                sizes[i] = size
            return x, lam, off, sizes

        clear = self.noise / _ROUNDED  # slips below it are worth less: their angles are rounding

        angles = np.array([np.arctan2(*direction[t.name][::-1]) for t in turning])
        x, lam, off, sizes = solved_for(angles)
        border = sizes <= self.noise
        for _ in range(_TURNS):
            largest = np.abs(off).max()
            if largest < _TURNED:
                break
            columns = [(solved_for(angles + _SIDE * unit)[2] - off) / _SIDE for unit in np.eye(len(angles))]
            step, part = np.linalg.lstsq(np.array(columns).T, -off, rcond=None)[0], 1.0
            step *= min(1.0, 1.0 / max(np.abs(step).max(), 1e-300))
            while part > 1e-3:
                found = solved_for(angles + part * step)
                if np.abs(found[2]).max() < (1.0 - 0.1 * part) * largest:
                    break
                part *= 0.5
            if np.abs(found[2]).max() >= largest and largest < _ROUNDED:  # rounding
                break
            angles = angles + part * step
            x, lam, off, _ = found
        x, lam, off, sizes = solved_for(angles)
        # what does not slip sticks, but for what needs all its friction to stay, and so did not slip from the outset:
        # where a machine cannot move across its plane, friction in some direction always is what it takes to stay
        slips = border | (sizes > self.noise)
        return x, lam, bool(slips.all() and np.abs(off).max() < _ROUNDED)

    def _outsets(self, states: tuple[str, ...], seeking: Sequence[Touch]) -> dict[str, Array]:
        """Directions of the forces (of b on a) that each would need to stick, all else as it is; it slides that way."""
        held = set(seeking)
        changed = tuple("sticks" if t in held else x for t, x in zip(self.touches, states, strict=True))
        system = _System(self, changed)
        try:
            _, lam = system.solution({t.name: t.rate / np.linalg.norm(t.rate) for t in system.sliding})
        except PainleveError:
            lam = np.zeros(system.count)
        forces = {t.name: lam[system.tangents[t.name]] for t in seeking}
        sizes = {name: float(np.linalg.norm(force)) for name, force in forces.items()}
        return {n: force / sizes[n] if sizes[n] > 0.0 else np.eye(len(force))[0] for n, force in forces.items()}

    def _fit(
        self, system: _System, states: tuple[str, ...], x: Array, lam: Array, direction: Mapping[str, Array]
    ) -> tuple[Array, tuple[str, ...]]:
        margin, instead = np.ones(len(self.touches)), list(states)
        motion = self.terms.A @ x - self.target
        for i, (t, state) in enumerate(zip(self.touches, states, strict=True)):
            push = 1.0
            if t.normal is not None:
                if state == "open":
                    margin[i] = t.normal @ motion - self.back.get(t.name, 0.0) + self.noise
                    instead[i] = t.states[0]
                    continue
                push = -float(lam[system.normal[t.name]])
                margin[i], instead[i] = push + self.nothing, "open"
            if t.rub is None or margin[i] < 0.0:
                continue
            if state == "sticks":
                held = float(np.linalg.norm(lam[system.tangents[t.name]]))
                bound = t.rub.law.static * max(push, 0.0) + self.nothing
                margin[i], instead[i] = bound - held, "slides"
            elif not t.moves:
                margin[i], instead[i] = direction[t.name] @ (t.tangents @ motion) + self.noise, "sticks"
        return margin, tuple(instead)


class _System:
    """Rows that act in given states, and the equations with them."""

    def __init__(self, problem: ContactProblem, states: tuple[str, ...]) -> None:
        self.problem, terms, target = problem, problem.terms, problem.target
        unit = np.eye(len(target))
        rows, aims = [unit[problem.base]], [target[problem.base]]
        self.count = len(problem.base)
        self.normal: dict[str, int] = {}
        self.tangents: dict[str, slice] = {}
        self.sliding = [t for t, state in zip(problem.touches, states, strict=True) if state == "slides"]
        for touch, state in zip(problem.touches, states, strict=True):
            if touch.normal is not None and state != "open":
                rows.append(touch.normal[None])
                aims.append(np.array([touch.normal @ target + problem.back.get(touch.name, 0.0)]))
                self.normal[touch.name] = self.count
                self.count += 1
            if state == "sticks":
                rows.append(touch.tangents)
                aims.append(touch.tangents @ target)
                self.tangents[touch.name] = slice(self.count, self.count + len(touch.tangents))
                self.count += len(touch.tangents)
        self.C, self.aim = np.vstack(rows), np.concatenate(aims)
        scale = (np.abs(self.C) * terms.row_scale).sum(axis=1) / np.maximum(np.abs(self.C).sum(axis=1), 1e-300)
        scale.setflags(write=False)  # as kernels know it
        own = {"A": self.C @ terms.A, "b": -self.aim, "row_scale": scale, "rank": self.count, "friction": None}
        self.terms = replace(terms, **own)

    @property
    def shared(self) -> Touch | None:
        """Last sliding contact whose push redundant rows share, so that its friction is undetermined; else None."""
        pushed = [t for t in self.sliding if t.normal is not None]
        if not pushed or self.count < 2:
            return None
        levers = self.terms.levers
        sizes = np.asarray(np.linalg.svd(levers, compute_uv=False), dtype=np.float64)
        known = unique_multipliers(levers, rank(sizes, 1.0, DEPENDENT))
        return next((t for t in reversed(pushed) if not known[self.normal[t.name]]), None)

    def solution(self, direction: Mapping[str, Array]) -> tuple[Array, Array]:
        """Motion x and the multipliers of these rows, with friction in the given directions of sliding."""
        whole, g, loads = self.problem.terms, self.problem.g, []
        for touch in self.sliding:
            along = direction[touch.name] @ touch.tangents @ whole.A
            if touch.normal is None:
                g = g - touch.coefficient * along
            else:
                loads.append((touch.name, touch.coefficient * along))
        terms = self.terms
        if loads:
            names, D = zip(*loads, strict=True)
            ones = np.ones(len(loads), np.int64)
            first = np.array([self.normal[name] for name in names])
            terms = replace(terms, friction=LoadFriction(names, np.array(D), first, ones, ones))
        found = solved(terms, g, self.aim, cap=g.size)
        lam, self.rank = found.lam, found.rank
        if found.rank < self.count:  # the smallest ones
            left = g - terms.M @ found.vdot - found.friction
            lam = at_rank(self.terms, found.rank).A_pinv.T @ left
        return found.vdot, lam

    def shared_within(self, lam: Array, states: tuple[str, ...], wrong: NDArray[np.bool_]) -> Array | None:
        """Multipliers for the same motion that keep all closed contacts within their limits; None if none do.

        None also where other shares of redundant rows cannot repair a wrong state.
        """
        if self.rank == self.count:
            return None
        problem, scale = self.problem, self.terms.row_scale
        _, _, Vt = np.linalg.svd(self.terms.levers.T)
        free = Vt[self.rank :].T
        N = scale[:, None] * free
        limits, unit, steepest = [], np.eye(self.count), 1.0
        for t, state, off in zip(problem.touches, states, wrong, strict=True):
            push = -unit[self.normal[t.name]] if t.name in self.normal else np.zeros(self.count)
            bears, rubs = t.name in self.normal, state == "sticks" and t.rub is not None
            own = unit[self.tangents[t.name]] if rubs else unit[:0]
            if off and (not (bears or rubs) or np.abs(np.vstack([push, own]) @ free).max() < _UNSHARED):
                return None
            if not (bears or rubs):
                continue
            static = t.rub.law.static if rubs else 0.0  # type: ignore[union-attr]
            steepest = max(steepest, static)
            rows = np.flatnonzero(np.abs(np.vstack([push, own])).any(axis=0))
            limit = Limit(push, own, 0.0, float(scale[rows].max()))
            if not bears:
                limits.append(limit._replace(bound=static))
            elif static > 0.0:
                limits.append(limit._replace(tails=own / static))
            else:
                limits += [limit._replace(tails=own[:0]), limit._replace(head=0.0 * push)]
        force = float(np.abs(problem.g / self.terms.unit_lengths).max(initial=0.0))
        return within(lam, N, limits, force, problem.nothing / steepest) if limits and force > 0.0 else None

    def spread(self, lam: Array) -> Array:
        """Multipliers of the rows of the machine that act both ways, at their places among all rows."""
        whole = np.zeros(len(self.problem.target))
        whole[self.problem.base] = lam[: len(self.problem.base)]
        return whole

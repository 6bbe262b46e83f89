"""Modes of a plant in a run: the sets of constraints that hold, between which switches and contacts change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..model.capture import capture
from ..model.contacts import BEYOND, TOUCH, Contact
from ..model.dry_friction import Rub, at_rest, directed, rubs_of_forces
from ..model.elements import Coupling, Joint, Weld
from ..model.end_stops import end_stops
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .dry_friction import rubs_of_contacts
from .run import Slide
from .switching import Engage, Lock, Switch, Unlock

__all__ = ["STILL", "ConstraintModes", "engages"]

Array = NDArray[np.float64]

STILL = 1e-9  # of the size, a second: slower is at rest


class ConstraintModes:
    """Constraints of a plant that hold at present, and what is known of those that come and go.

    Attributes
    ----------
    whole : Plant
        Plant with all constraints that can ever hold, locks too, as they are at present.
    held : set of str
        Constraints that hold at present and act both ways, except those that never change.
    closed : set of str
        Contacts that are closed.
    sliding : dict of str to ndarray
        Direction of sliding (k,) at its begin, of all that slides with friction; of contacts while they are closed.
    outset : dict of str to float
        For contacts that begin to slide with hardly more force than they resist: the speed, m/s, below which the
        direction of their friction is that of the begin. It turns with the velocity the faster the slower this is.
    stops : set of str
        Contacts that are end stops of joints.
    rubs : dict of str to Rub
        Contacts and force elements with friction that sticks and slides.
    ranks : dict of tuple of str to int
        The ranks that rows have nearly everywhere, as far as they are known, by the names of the rows.
    in_sequence : bool
        Whether contacts that close at once are struck one after the other.
    """

    def __init__(
        self,
        plant: Plant,
        switches: Sequence[Switch | Contact],
        stops: bool = False,
        exact: bool = False,
        in_sequence: bool = False,
    ) -> None:
        self._given, self.in_sequence, found = plant, in_sequence, []
        if stops:
            plant, found = end_stops(plant)
            switches = [*switches, *found]
        self.stops = {stop.name for stop in found}
        for switch in switches:
            if not isinstance(switch, (Switch, Contact)):
                raise InputTypeError(f"switches must be Engage, Release, Lock, Unlock or Contact, got {switch!r}")
        self.switches = [s for s in switches if isinstance(s, Switch)]
        self.contacts = {c.constraint: c for c in switches if isinstance(c, Contact)}
        self.rubs: dict[str, Rub] = {}
        self.sliding: dict[str, Array] = {}
        self.outset: dict[str, float] = {}
        self.ranks: dict[tuple[str, ...], int] = {}
        if isinstance(plant, Mechanism):
            plant, of_forces = rubs_of_forces(plant) if exact else (plant, [])
            plant, of_contacts = rubs_of_contacts(plant, list(self.contacts.values()))
            self.rubs = {rub.name: rub for rub in (*of_forces, *of_contacts)}
            self.sliding = {rub.name: np.zeros(1) for rub in of_forces}  # until it is known what sticks
        self.whole = plant
        # copies share the former until they take other constraints: nothing slides in them, so they are few
        self._plants: dict[tuple[frozenset[str], Any], Plant] = {}
        self._sliding: dict[tuple[frozenset[str], Any], Plant] = {}
        locks = {s.constraint: s.name for s in self.switches if isinstance(s, Lock)}
        for constraint, name in locks.items():
            if constraint in plant.row_slices:
                raise InputError(
                    f"plant {plant.name!r} has a constraint {constraint!r} already; rename it: a lock takes the name"
                )
            self.take(_lock(plant, constraint, name))
        self._check_names()
        self.direction = {
            name: contact.direction(self.part(name), self.rows_of(self.whole, name).size)
            for name, contact in self.contacts.items()
        }
        self.sides = {  # opening directions of contacts while they slide
            rub.name: np.array([1.0 if rub.name not in rub.sliding else float(self.contacts[rub.name].side)])
            for rub in self.rubs.values()
            if rub.normal is not None
        }
        self.hidden = self.stops.union(*(rub.hidden for rub in self.rubs.values()))  # laws are not told
        first = {s.constraint: s for s in reversed(_in_order(self.switches))}
        self.held = {constraint for constraint, s in first.items() if not engages(s)}
        self.changing = set(first).union(self.contacts, *(rub.sticking | rub.sliding for rub in self.rubs.values()))
        self.closed: set[str] = set()
        if self.hidden:  # without any of them it is the plant that laws know, and whose code there is
            known = frozenset(name for name in self.changing if name in self._given.row_slices)
            self._plants[known, None] = self._given

    def copied(self, given: Plant) -> ConstraintModes:
        """Independent copy, for the plant it was made of or for one that has other loads."""
        other = object.__new__(ConstraintModes)
        vars(other).update(vars(self), _sliding=dict(self._sliding), held=set(self.held), closed=set(self.closed))
        other.sliding, other.outset = dict(self.sliding), dict(self.outset)
        if given is not self._given:
            other._given = given
            other.whole = self.whole.with_records(given.arrays.loads, given.arrays.targets)  # type: ignore[attr-defined]
            other._plants = {key: given for key, plant in self._plants.items() if plant is self._given}
            other._sliding = {}
        return other

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, without cached modes: machines are pickled as parts, which do not hold what rests."""
        given = {key: plant for key, plant in self._plants.items() if plant is self._given}
        return vars(self) | {"_plants": given, "_sliding": {}}

    def _check_names(self) -> None:
        for switch in [*self.switches, *self.contacts.values()]:
            if switch.constraint not in self.whole.row_slices:
                raise InputError(
                    f"{switch.label}: {_check.unknown(switch.constraint, self.whole.row_slices, 'constraint')}"
                )
            if isinstance(switch, Switch) and switch.constraint in self.contacts:
                raise InputError(f"{switch.label}: the constraint is a contact, which opens and closes by itself")
            if getattr(switch, "capture", False) and not hasattr(self.whole, "bodies"):
                raise InputTypeError(
                    f"{switch.label}: capture needs a constraint between bodies, and {self.whole.name!r} has none"
                )

    # -- modes ------------------------------------------------------------------------------------

    def part(self, name: str) -> Any:
        """Constraint as a part of the machine; None for a plant given by functions."""
        return next((constraint for constraint in getattr(self.whole, "loops", ()) if constraint.name == name), None)

    def take(self, *constraints: Any) -> None:
        """Replace constraints by these ones of the same names. Cached plants without them stay."""
        if not constraints:
            return
        whole = self.whole
        taken = {constraint.name for constraint in constraints}
        known = isinstance(whole, Mechanism) and taken <= set(whole.row_slices)
        self.whole = whole.with_places(*constraints) if known else whole.with_loops(*constraints)  # type: ignore[attr-defined]
        for name in ("_plants", "_sliding"):
            kept = {key: plant for key, plant in getattr(self, name).items() if known and not taken & key[0]}
            setattr(self, name, kept)

    def mode(self, names: set[str] | frozenset[str], sliding: Mapping[str, Array] | None = None) -> Plant:
        """Plant with the named ones of the changing constraints, and exact friction in the directions of sliding.

        Without `sliding` force elements are those that the user gave, with smooth friction.
        """
        if not self.changing:
            return self.whole
        begins = None if sliding is None else tuple((n, self.outset.get(n), *sliding[n]) for n in sorted(sliding))
        key = frozenset(names), begins
        plants = self._sliding if begins else self._plants
        if key not in plants:
            plant = self.whole.without(*(n for n in self.changing if n not in key[0]))
            plants[key] = self._rubbing(plant, sliding) if self.rubs else plant
        return plants[key]

    def _rubbing(self, plant: Mechanism, sliding: Mapping[str, Array] | None) -> Mechanism:
        """Plant with smooth friction, or with exact friction of all that slides."""
        if sliding is None:
            return plant.with_force_numbers(resting=[rub.element for rub in self.rubs.values()])
        elements = {force.name: force for force in plant.forces}
        given, resting = [], []
        for rub in self.rubs.values():
            element = elements[rub.element]
            if rub.smooth:  # its viscous part, and a spring beside it, act while it sticks, too
                side = float(sliding.get(rub.name, np.zeros(1))[0])
                given.append(replace(element, characteristic=directed(elements[rub.smooth].characteristic, side)))
                resting.append(rub.smooth)
            elif rub.name in sliding:
                outset = self.outset.get(rub.name, element.outset)
                given.append(replace(element, direction=sliding[rub.name], outset=outset))
            else:
                resting.append(rub.element)
        return plant.with_force_numbers(*given, resting=resting)

    def holding(self, closed: Collection[str], sliding: Mapping[str, Array]) -> set[str]:
        """Names of the constraints that hold where these contacts are closed and these frictions slide."""
        names = self.held | (set(closed) - set(self.rubs))
        for rub in self.rubs.values():
            if rub.normal is None or rub.name in closed:
                names |= rub.sliding if rub.name in sliding else rub.sticking
        return names

    @property
    def present(self) -> Plant:
        """Plant with the constraints that hold now."""
        return self.mode(self.holding(self.closed, self.sliding), self.sliding)

    def told(self, row_names: tuple[str, ...]) -> Plant | None:
        """Plant with these rows as laws know it, without end stops; None where this is the plant of the run."""
        first = {name: self.whole.row_names[self.whole.row_slices[name].start] for name in self.changing}
        held = {name for name in self.changing if first[name] in row_names}
        if not self.hidden & held and not any(rub.smooth for rub in self.rubs.values()):
            return None
        return self.mode(held - self.hidden)

    def shown(self, plants: Iterable[Plant]) -> Plant:
        """Plant with all constraints that the output shows; end stops only where one has been closed.

        Forces of a contact that slides are shown as multipliers of its point.
        """
        contacts = [rub for rub in self.rubs.values() if rub.normal is not None]
        never = {name for rub in contacts for name in (rub.sliding | rub.sticking) - {rub.name}}
        if not any(self.hidden.intersection(plant.row_slices) for plant in plants):
            never |= self.hidden
        return self.mode(self.changing - never) if never else self.whole

    def start(self, q: Array) -> Plant:
        """Plant with the constraints that hold at the start; locked joints are locked where they stand."""
        for name in sorted(self.held):
            if name.startswith("lock_") and any(isinstance(s, Lock) and s.constraint == name for s in self.switches):
                self.hold(name, q)
        return self.mode(self.holding((), self.sliding), self.sliding)

    def require_within(self, q: Array) -> None:
        """Raise an error if the start is beyond an end stop."""
        residual = self.whole.residual(q)
        for stop in sorted(self.stops):
            gap = self.gap(stop, residual)
            if gap < -BEYOND * self.whole.size:
                name, which, _ = stop.rsplit("_", 2)
                i = self.whole.position_names.index(name)
                unit, limit = self.whole.position_units[i], self.whole.limits[i, int(which == "upper")]
                raise InputError(
                    f"q0 has {name} = {q[i]:.6g} {unit}, beyond its {which} limit of {limit:.6g} {unit}, which is an "
                    "end stop: start within it, or let the run only tell of limits with limits='warn'"
                )

    def near(self, q: Array, v: Array) -> Plant:
        """Plant with the constraints that hold and the contacts that touch at (q, v), which stick or slide."""
        size = self.whole.size
        residual, row_rate = self.whole.residual(q), self.whole.terms(q, v).row_rate
        closed = {name for name in self.contacts if abs(self.gap(name, residual)) <= TOUCH * size}
        sliding = dict(self.sliding)
        for rub in (self.rubs[name] for name in closed if name in self.rubs):
            rate = self.sliding_rate(rub, row_rate)
            speed = float(np.linalg.norm(rate))
            if speed > STILL * size:
                sliding[rub.name] = rate / speed
        return self.mode(self.holding(closed, sliding), sliding)

    def hold(self, name: str, q: Array) -> None:
        """Close a constraint at q by making it again for this configuration."""
        constraint = self.part(name)
        if constraint is None:  # a lock of a plant given by functions
            lock = next(s for s in self.switches if s.constraint == name)
            value = float(q[self.whole.position_names.index(lock.name)])
            constraint = Coupling(name, {lock.name: 1.0}, value)
        else:
            constraint = capture(self.whole, constraint, q)
        self.take(constraint)

    # -- contacts ---------------------------------------------------------------------------------

    def rows_of(self, plant: Plant, *names: str) -> NDArray[np.int64]:
        """Indices of the rows of some constraints."""
        return np.concatenate([np.arange(plant.row_slices[n].start, plant.row_slices[n].stop) for n in names])

    def gap(self, name: str, residual: Array) -> float:
        """Gap of a contact, m (or rad), from the residual of all rows; negative inside."""
        return float(self.direction[name] @ residual[self.whole.row_slices[name]])

    def sticking(self, rub: Rub) -> list[str]:
        """Names of the constraints that hold while a friction sticks, in the order of `Rub.tangents`."""
        return [name for name in self.whole.row_slices if name in rub.sticking]

    def sliding_rate(self, rub: Rub, row_rate: Array) -> Array:
        """Velocity of sliding (k,), m/s or rad/s, from the rates of all rows."""
        return rub.tangents @ row_rate[self.rows_of(self.whole, *self.sticking(rub))]

    def slides(self) -> tuple[Slide, ...]:
        """Contacts that slide with friction now, except those whose own constraint carries the push."""
        found = []
        for name in self.sliding:
            rub = self.rubs[name]
            if rub.normal is not None and name not in rub.sliding:
                element = next(force for force in self.present.forces if force.name == rub.element)  # type: ignore[attr-defined]
                rows = self.rows_of(self.whole, name)
                found.append(Slide(name, self.carrier(name), rows, rub.normal, rub.tangents, element, self.whole))  # type: ignore[arg-type]
        return tuple(found)

    def carrier(self, name: str) -> str:
        """Name of the constraint that carries the push of a closed contact."""
        return next(iter(self.rubs[name].sliding)) if name in self.sliding else name

    def stick(self, names: Iterable[str], q: Array) -> None:
        """Hold all that sticks where it is now; the point of a contact on its plane."""
        self.take(*(constraint for name in names for constraint in at_rest(self.whole, self.rubs[name], q)))

    def land(self, name: str, q: Array) -> None:
        """Hold the point of a contact that sticks where it lands on its plane."""
        if name in self.rubs:
            self.stick([name], q)
            return
        constraint, n = self.part(name), self.direction[name]
        if n.size > 1:  # a Point
            moved = np.asarray(capture(self.whole, constraint, q).point_a) - constraint.point_a
            self.take(replace(constraint, point_a=constraint.point_a + moved - n * (n @ moved)))


def engages(switch: Switch) -> bool:
    """Whether a switch makes its constraint hold."""
    return isinstance(switch, Engage) or (isinstance(switch, Lock) and not isinstance(switch, Unlock))


def _in_order(switches: Sequence[Switch]) -> list[Switch]:
    """Switches sorted by time if all have one; else in the order in which they are listed."""
    if all(s.at is not None for s in switches):
        return sorted(switches, key=lambda s: s.at)  # type: ignore[arg-type, return-value]
    return list(switches)


def _lock(plant: Plant, constraint: str, name: str) -> Coupling | Weld:
    """Constraint that locks a joint; it is made for a configuration (`capture`) before it is used."""
    tree, cut = getattr(plant, "joints", ()), [x for x in plant.loops if isinstance(x, Joint)]
    joint = next((j for j in (*tree, *cut) if j.name == name), None)
    if joint is not None and (joint in cut or joint.position_names != (name,)):
        return Weld(constraint, joint.parent, joint.child)
    if name not in plant.position_names or plant.position_names.index(name) not in dict(plant.paired):
        names = [*(j.name for j in (*tree, *cut)), *plant.position_names]
        raise InputError(f"Lock({name!r}): {_check.unknown(name, names, 'joint or coordinate')}")
    return Coupling(constraint, {name: 1.0})

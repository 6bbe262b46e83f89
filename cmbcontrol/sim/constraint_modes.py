"""Which constraints of a plant hold during a run: the modes between which switches and contacts change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..model.capture import capture
from ..model.elements import Coupling, Joint, Point, Weld
from ..model.plant import Plant
from .end_stops import end_stops
from .switching import Contact, Engage, Lock, Switch, Unlock

__all__ = ["TOUCH", "ConstraintModes", "engages"]

Array = NDArray[np.float64]

_BEYOND = 1e-6  # of the size: a start further beyond an end stop is refused
TOUCH = 1e-9  # of the size: contacts with a smaller gap touch


class ConstraintModes:
    """Which constraints of a plant hold, and what is known of those that come and go.

    Attributes
    ----------
    whole : Plant
        With all constraints that can ever hold, locks too, as they are at present.
    held : set of str
        ConstraintModes that hold both ways, except those that never change.
    closed : set of str
        Contacts that are closed.
    stops : set of str
        Contacts that are end stops of joints.
    """

    def __init__(self, plant: Plant, switches: Sequence[Switch | Contact], stops: bool = False) -> None:
        given, found = plant, []
        if stops:
            plant, found = end_stops(plant)
            switches = [*switches, *found]
        self.stops = {stop.name for stop in found}
        for switch in switches:
            if not isinstance(switch, (Switch, Contact)):
                raise InputTypeError(f"switches must be Engage, Release, Lock, Unlock or Contact, got {switch!r}")
        self.switches = [s for s in switches if isinstance(s, Switch)]
        self.contacts = {c.constraint: c for c in switches if isinstance(c, Contact)}
        self.whole = plant
        self._plants: dict[frozenset[str], Plant] = {}
        locks = {s.constraint: s.name for s in self.switches if isinstance(s, Lock)}
        for constraint, name in locks.items():
            if constraint in plant.row_slices:
                raise InputError(
                    f"plant {plant.name!r} has a constraint {constraint!r} already; rename it: a lock takes the name"
                )
            self.take(_lock(plant, constraint, name))
        self._check_names()
        self.direction = {
            name: contact.direction(self.part(name), self._rows(self.whole, name).size)
            for name, contact in self.contacts.items()
        }
        first = {s.constraint: s for s in reversed(_in_order(self.switches))}
        self.held = {constraint for constraint, s in first.items() if not engages(s)}
        self.changing = set(first) | set(self.contacts)
        self.closed: set[str] = set()
        if self.stops:  # without any of them it is the plant that laws know, and whose code there is
            self._plants[frozenset(name for name in self.changing if name in given.row_slices)] = given

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
        """A constraint as a part; None where functions describe it."""
        return next((constraint for constraint in getattr(self.whole, "loops", ()) if constraint.name == name), None)

    def take(self, constraint: Any) -> None:
        """Put a constraint in place of the present one."""
        self.whole = self.whole.with_loops(constraint)
        self._plants.clear()

    def mode(self, names: set[str]) -> Plant:
        """The plant with these constraints of the changing ones."""
        if not self.changing:
            return self.whole
        key = frozenset(names)
        if key not in self._plants:
            self._plants[key] = self.whole.without(*(n for n in self.changing if n not in key))
        return self._plants[key]

    @property
    def present(self) -> Plant:
        """The plant with the constraints that hold now."""
        return self.mode(self.held | self.closed)

    def told(self, row_names: tuple[str, ...]) -> Plant | None:
        """The plant that has these rows, but for end stops; None where there are none of these."""
        if not self.stops or not self.stops.intersection(row_names):
            return None
        first = {name: self.whole.row_names[self.whole.row_slices[name].start] for name in self.changing}
        held = {name for name in self.changing if first[name] in row_names}
        return self.mode(held - self.stops)

    def shown(self, plants: Iterable[Plant]) -> Plant:
        """The plant with all constraints that the output has: end stops only where one has been closed."""
        if any(self.stops.intersection(plant.row_slices) for plant in plants):
            return self.whole
        return self.mode(self.changing - self.stops) if self.stops else self.whole

    def start(self, q: Array) -> Plant:
        """The plant with the constraints that hold at the start; joints that are locked are so where they stand."""
        for name in sorted(self.held):
            if name.startswith("lock_") and any(isinstance(s, Lock) and s.constraint == name for s in self.switches):
                self.hold(name, q)
        return self.mode(self.held)

    def require_within(self, q: Array) -> None:
        """Refuse a start beyond an end stop."""
        for stop in sorted(self.stops):
            gap = self.gap(stop, q)
            if gap < -_BEYOND * self.whole.size:
                name, which, _ = stop.rsplit("_", 2)
                i = self.whole.position_names.index(name)
                unit, limit = self.whole.position_units[i], self.whole.limits[i, int(which == "upper")]
                raise InputError(
                    f"q0 has {name} = {q[i]:.6g} {unit}, beyond its {which} limit of {limit:.6g} {unit}, which is an "
                    "end stop: start within it, or let the run only tell of limits with limits='warn'"
                )

    def near(self, q: Array) -> Plant:
        """The plant with the constraints that hold, and the contacts that touch."""
        size = self.whole.size
        return self.mode(self.held | {name for name in self.contacts if abs(self.gap(name, q)) <= TOUCH * size})

    def hold(self, name: str, q: Array) -> None:
        """Close a constraint at q by making it again."""
        constraint = self.part(name)
        if constraint is None:  # a lock of a plant given by functions
            lock = next(s for s in self.switches if s.constraint == name)
            value = float(q[self.whole.position_names.index(lock.name)])
            constraint = Coupling(name, {lock.name: 1.0}, value)
        else:
            constraint = capture(self.whole, constraint, q)
        self.take(constraint)

    # -- contacts ---------------------------------------------------------------------------------

    def _rows(self, plant: Plant, name: str) -> NDArray[np.int64]:
        rows = plant.row_slices[name]
        return np.arange(rows.start, rows.stop)

    def gap(self, name: str, q: Array) -> float:
        """How far a contact is open, m (or rad); negative inside."""
        return float(self.direction[name] @ self.whole.residual(q)[self.whole.row_slices[name]])

    def land(self, name: str, q: Array) -> None:
        """A point that sticks is held where it lands on its plane."""
        constraint = self.part(name)
        if isinstance(constraint, Point):
            n = self.direction[name]
            moved = np.asarray(capture(self.whole, constraint, q).point_a) - constraint.point_a
            self.take(replace(constraint, point_a=constraint.point_a + moved - n * (n @ moved)))


def engages(switch: Switch) -> bool:
    """Whether a switch makes its constraint hold."""
    return isinstance(switch, Engage) or (isinstance(switch, Lock) and not isinstance(switch, Unlock))


def _in_order(switches: Sequence[Switch]) -> list[Switch]:
    """In the order of time, where all have one; else as they are listed."""
    if all(s.at is not None for s in switches):
        return sorted(switches, key=lambda s: s.at)  # type: ignore[arg-type, return-value]
    return list(switches)


def _lock(plant: Plant, constraint: str, name: str) -> Coupling | Weld:
    """The constraint that locks a joint; it is captured before it is used."""
    tree, cut = getattr(plant, "joints", ()), [x for x in plant.loops if isinstance(x, Joint)]
    joint = next((j for j in (*tree, *cut) if j.name == name), None)
    if joint is not None and (joint in cut or joint.position_names != (name,)):
        return Weld(constraint, joint.parent, joint.child)
    if name not in plant.position_names or plant.position_names.index(name) not in dict(plant.paired):
        names = [*(j.name for j in (*tree, *cut)), *plant.position_names]
        raise InputError(f"Lock({name!r}): {_check.unknown(name, names, 'joint or coordinate')}")
    return Coupling(constraint, {name: 1.0})

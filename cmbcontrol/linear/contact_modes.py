"""Plant at rest with those of its contacts and end stops that are closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import DEPENDENT
from ..errors import InputError, InputTypeError
from ..model.contacts import BEYOND, TOUCH, Contact, Hold, hold_of
from ..model.dry_friction import at_rest, grown, require_free
from ..model.end_stops import end_stops
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from .contact_statics import ClosedContact

__all__ = ["OPEN", "SLIDES", "STICKS", "ContactModes", "listed_contacts"]

Array = NDArray[np.float64]

OPEN, SLIDES, STICKS = "open", "slides", "sticks"

# Of the size: what a step may sink into a contact before it counts as its end. Loops are closed to 1e-14.
_SUNK = 1e-12
_BISECTIONS = 60  # of a part of a step, down to rounding


def listed_contacts(contacts: Any) -> list[Contact]:
    """List of contacts, from one or several."""
    if isinstance(contacts, Contact):
        return [contacts]
    found = list(_check.sequence(contacts, "contacts", "Contact(...) and so on"))
    for contact in found:
        if not isinstance(contact, Contact):
            raise InputTypeError(f"contacts must be Contact(...), got {_check.shown(contact)}")
    return found


class ContactModes:
    """Constraints that hold for given states of contacts and end stops at rest.

    A contact is open; or it sticks; or it slides, free of friction: so a search moves it.

    Attributes
    ----------
    whole : Plant
        Plant with all constraints that can ever hold, those of contacts that stick as they are at present.
    contacts : dict of str to Contact
        Contacts by name, end stops last.
    stops : frozenset of str
    holds : dict of str to Hold
    """

    def __init__(self, plant: Plant, contacts: Sequence[Contact], stops: bool) -> None:
        self.given = plant
        plant, found = end_stops(plant) if stops else (plant, [])
        self.stops = frozenset(stop.name for stop in found)
        self.contacts = {contact.name: contact for contact in (*contacts, *found)}
        parts = {loop.name: loop for loop in getattr(plant, "loops", ())}
        self.holds: dict[str, Hold] = {}
        for name, contact in self.contacts.items():
            if name not in plant.row_slices:
                raise InputError(f"{contact.label}: {_check.unknown(name, plant.row_slices, 'constraint')}")
            span = plant.row_slices[name]
            self.holds[name] = hold_of(contact, parts.get(name), span.stop - span.start)
        beside = [(name, hold.beside) for name, hold in self.holds.items() if hold.beside is not None]
        for name, part in beside:
            require_free(plant, self.contacts[name].label, part.name)  # type: ignore[arg-type]
        self.whole = grown(plant, [part for _, part in beside], []) if beside else plant  # type: ignore[arg-type]
        self._moved = False  # whether a contact sticks elsewhere than in the plant as it was given
        self._changing = frozenset().union(*(hold.sticking | hold.sliding for hold in self.holds.values()))

    # -- gaps -------------------------------------------------------------------------------------

    def gaps(self, q: Array) -> dict[str, float]:
        """Gap of each contact, m (rad), by name; negative inside."""
        residual = self.whole.residual(q)
        found = {}
        for name, hold in self.holds.items():
            normal = hold.normal[:1] if hold.sticking > {name} else hold.normal  # the others are beside it
            found[name] = float(normal @ residual[self.whole.row_slices[name]])
        return found

    def touching(self, q: Array) -> dict[str, str]:
        """States of the contacts at q: those that touch stick if they can, the others are open.

        Raises
        ------
        ValueError
            Where a contact is penetrated.
        """
        states, size = {}, self.whole.size
        for name, gap in self.gaps(q).items():
            if gap < -BEYOND * size:
                raise InputError(f"{self._beyond(name, q, gap)}: start on its open side, or where it touches")
            states[name] = OPEN if gap > TOUCH * size else self.closed(name)
        return states

    def begun(self, q: Array) -> Plant:
        """Plant with the contacts that touch at q; those that stick are held there."""
        states = self.touching(q)
        for name in (name for name, state in states.items() if state == STICKS):
            self.stick(name, q)
        return self.plant_of(states)

    def _beyond(self, name: str, q: Array, gap: float) -> str:
        if name not in self.stops:
            return f"contact {name!r} of {self.whole.name!r} is closed by {-gap:.4g} m too far at q"
        coordinate, which, _ = name.rsplit("_", 2)
        i = self.whole.position_names.index(coordinate)
        limit, unit = self.whole.limits[i, int(which == "upper")], self.whole.position_units[i]
        return f"q has {coordinate} = {q[i]:.6g} {unit}, beyond its {which} limit of {limit:.6g} {unit}"

    def closed(self, name: str) -> str:
        """State of a closed contact at rest: sticks if it can, else slides."""
        return STICKS if self.can_stick(name) else SLIDES

    def can_stick(self, name: str) -> bool:
        """Whether a contact resists sliding: with friction, or as a `Point` without."""
        law = self.contacts[name].law
        return bool(len(self.holds[name].tangents)) and (law is None or law.static > 0.0)

    def can_slide(self, name: str) -> bool:
        """Whether there is a constraint that lets the contact slide."""
        return self.holds[name].sliding != self.holds[name].sticking

    def guard(self, states: Mapping[str, str]) -> Callable[[Callable[[float], Array]], tuple[float, str]]:
        """Function that finds how far a path q(s), s from 0 to 1, leads until an open contact closes, and which."""
        names, slack = [name for name, state in states.items() if state == OPEN], _SUNK * self.whole.size

        def first(path: Callable[[float], Array]) -> tuple[float, str]:
            far, hit, end = 1.0, "", self.gaps(path(1.0)) if names else {}
            for name in names:
                if end[name] >= -slack or (hit and self.gaps(path(far))[name] >= 0.0):
                    continue
                low, high = 0.0, far
                for _ in range(_BISECTIONS):
                    middle = 0.5 * (low + high)
                    if self.gaps(path(middle))[name] >= 0.0:
                        low = middle
                    else:
                        high = middle
                    if high - low <= _SUNK * far:
                        break
                far, hit = low, name
            return far, hit

        return first

    # -- modes ------------------------------------------------------------------------------------

    def plant_of(self, states: Mapping[str, str]) -> Plant:
        """Plant with the constraints that hold in these states."""
        held: set[str] = set()
        for name, state in states.items():
            if state != OPEN:
                held |= self.holds[name].sticking if state == STICKS else self.holds[name].sliding
        gone = [name for name in self.whole.row_slices if name in self._changing and name not in held]
        plant = self.whole.without(*gone)
        return self.given if plant.row_names == self.given.row_names and not self._moved else plant

    def stick(self, name: str, q: Array) -> None:
        """Hold a contact that sticks where it is at q, on its plane; one that is held there already stays as it is."""
        whole, hold = self.whole, self.holds[name]
        if not isinstance(whole, Mechanism) or not len(hold.tangents):
            return
        rows = np.concatenate([np.arange(len(whole.row_names))[whole.row_slices[n]] for n in self._sticking(name)])
        if np.abs(hold.tangents @ whole.residual(q)[rows]).max() > TOUCH * whole.size:
            self._moved = True
            self.whole = whole.with_places(*at_rest(whole, hold, q))  # type: ignore[arg-type]

    def _sticking(self, name: str) -> list[str]:
        """Names of the constraints that hold a contact while it sticks, in the order of the machine."""
        return [n for n in self.whole.row_slices if n in self.holds[name].sticking]

    def touches(self, plant: Plant, terms: Terms, states: Mapping[str, str]) -> list[ClosedContact]:
        """Closed contacts in given states, with their directions among the rows of a plant."""
        found = []
        for name, state in states.items():
            if state == OPEN:
                continue
            hold, contact = self.holds[name], self.contacts[name]
            names = self._sticking(name) if state == STICKS else [n for n in plant.row_slices if n in hold.sliding]
            rows = np.concatenate([np.arange(len(plant.row_names))[plant.row_slices[n]] for n in names])
            normal, tangents = np.zeros(len(plant.row_names)), np.zeros((0, len(plant.row_names)))
            if state == STICKS:
                normal[rows] = hold.normal
                tangents = np.zeros((len(hold.tangents), len(plant.row_names)))
                tangents[:, rows] = hold.tangents
                tangents = _felt(tangents, terms)
            else:  # the plane of a point has its normal
                normal[rows] = float(contact.side) if name in hold.sliding else 1.0
            law = contact.law
            found.append(ClosedContact(name, normal, tangents, np.inf if law is None else float(law.static), rows))
        return found


def _felt(tangents: Array, terms: Terms) -> Array:
    """Directions of sliding in which the machine can move, or push, at all: one for a planar machine."""
    levers = tangents @ (terms.row_scale[:, None] * terms.A / terms.unit_lengths)
    U, sigma, _ = np.linalg.svd(levers)
    return U[:, : int(np.count_nonzero(sigma > DEPENDENT))].T @ tangents

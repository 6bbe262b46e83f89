"""Dry friction of contacts: the constraints that hold while they stick, and the forces that act while they slide."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np

from ..characteristics import Friction
from ..model.contacts import Contact, hold_of
from ..model.dry_friction import Rub, grown, remembered, require_free
from ..model.elements import DirectedFriction, PointOnPlane
from ..model.mechanism import Mechanism

__all__ = ["rubs_of_contacts"]

# Of the size, a second: within it the direction of sliding is that of its begin; below all speeds told from rest.
_OUTSET = 1e-12


def rubs_of_contacts(plant: Mechanism, contacts: Sequence[Contact]) -> tuple[Mechanism, list[Rub]]:
    """Plant with constraints and force elements for the friction of contacts, and a `Rub` for each of these."""
    dry = [contact for contact in contacts if contact.friction is not None]
    return remembered(plant, tuple(map(_key, dry)), lambda: _rubs_of_contacts(plant, dry))


def _key(contact: Contact) -> Hashable:
    """Key of all numbers of a contact on which the machine with its friction depends."""
    normal = None if contact.normal is None else tuple(np.asarray(contact.normal).tolist())
    return contact.name, normal, contact.side, contact.law.numbers  # type: ignore[union-attr]


def _rubs_of_contacts(plant: Mechanism, contacts: Sequence[Contact]) -> tuple[Mechanism, list[Rub]]:
    loops: list[Any] = []
    forces, rubs = [], []
    for contact in contacts:
        part = next((loop for loop in plant.loops if loop.name == contact.name), None)
        if part is None or not part.may_rub:
            continue  # refused where the direction of the contact is asked for
        name, law = contact.name, cast("Friction", contact.law)
        hold = hold_of(contact, part, len(part.rows()))
        beside, plane = cast("PointOnPlane", hold.beside), cast("PointOnPlane", hold.plane)
        require_free(plant, contact.label, beside.name, f"{name}_friction")
        loops.append(beside)
        element = DirectedFriction(f"{name}_friction", plane.name, law, side=hold.side, outset=_OUTSET * plant.size)
        forces.append(element)
        rubs.append(Rub(name, law, hold.sticking, hold.sliding, element.name, "", hold.tangents, hold.normal))
    return grown(plant, loops, forces), rubs

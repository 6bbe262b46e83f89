"""End stops: limits of joints as contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .contacts import Contact
from .dry_friction import grown
from .elements import Coupling
from .mechanism import Mechanism
from .plant import Plant

__all__ = ["end_stops"]

Array = NDArray[np.float64]


def end_stops(plant: Plant) -> tuple[Plant, list[Contact]]:
    """Plant with a constraint for each finite limit, and the contacts that close them.

    A limit of a coordinate q is a contact: q - lower cannot be negative, upper - q cannot.
    """
    if not isinstance(plant, Mechanism):
        return plant, []
    known = vars(plant)
    if "_end_stops" not in known:  # the machine is built again
        known["_end_stops"] = _with_stops(plant)
    whole, contacts = known["_end_stops"]
    return (plant, []) if whole is None else (whole, contacts)


def _with_stops(plant: Mechanism) -> tuple[Mechanism | None, list[Contact]]:
    bounce = {name: joint.restitution for joint in plant.joints for name in joint.position_names}
    couplings, contacts = [], []
    for i, _ in plant.paired:
        name = plant.position_names[i]
        for side, label, at in ((1, "lower", plant.limits[i, 0]), (-1, "upper", plant.limits[i, 1])):
            if np.isfinite(at):
                stop = f"{name}_{label}_stop"
                if stop in plant.row_slices:
                    raise InputError(
                        f"plant {plant.name!r} has a constraint {stop!r} already, which is the name of the end stop "
                        f"of {name!r}; rename it"
                    )
                couplings.append(Coupling(stop, {name: 1.0}, offset=float(at)))
                contacts.append(Contact(stop, side=side, restitution=bounce[name]))
    return (grown(plant, couplings, []) if couplings else None), contacts

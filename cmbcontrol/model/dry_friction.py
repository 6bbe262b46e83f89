"""Exact dry friction: constraints that hold while it sticks, and forces that act while it slides.

While it sticks, a constraint holds. While it slides, a force element resists with the level of friction, on the side
that the begin of sliding decides, so that it is smooth up to the end of sliding and beyond. Runs decide which of both
holds, and when it changes (`sim.switching_run`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..characteristics import Friction, KineticFriction, Sum
from ..errors import InputError
from .capture import capture
from .elements import ForceElement, rotation_to
from .mechanism import Mechanism

__all__ = [
    "Rub",
    "across",
    "at_rest",
    "directed",
    "grown",
    "remembered",
    "require_free",
    "rubs_of_forces",
    "with_friction",
]

Array = NDArray[np.float64]

_KNOWN = 4  # machines with what rubs that are kept for a machine


@dataclass(frozen=True, eq=False)
class Rub:
    """Contact or force element with friction that sticks or slides.

    Attributes
    ----------
    name : str
        Name of the contact, or of the force element with friction.
    law : Friction
        Friction, in forces; for a contact, in coefficients.
    sticking, sliding : frozenset of str
        Constraints that hold while it sticks, and while it slides.
    element : str
        Force element that acts while it slides.
    smooth : str
        Force element that it replaces, and that laws know; empty where there is none.
    tangents : ndarray, shape (k, rows)
        Sliding directions among the rows of all constraints in `sticking`, in their order.
    normal : ndarray, shape (rows,), or None
        Opening direction of a contact among these rows.
    """

    name: str
    law: Friction
    sticking: frozenset[str]
    sliding: frozenset[str]
    element: str
    smooth: str
    tangents: Array
    normal: Array | None = None

    @property
    def hidden(self) -> frozenset[str]:
        """Constraints that laws do not get: all that hold while it sticks, but a `Point` that the machine has."""
        return frozenset() if self.name in self.sticking - self.sliding else self.sticking - self.sliding


def across(normal: Array | None) -> Array:
    """Directions (k, rows) across an opening direction; none where there is one row."""
    if normal is None or len(normal) == 1:
        return np.zeros((0, 1))
    return rotation_to(np.asarray(normal))[:, :2].T


def rubs_of_forces(plant: Mechanism) -> tuple[Mechanism, list[Rub]]:
    """Plant with exact friction beside each force element that has some, and the list of these frictions."""
    return remembered(plant, "forces", lambda: _rubs_of_forces(plant))


def remembered(
    plant: Mechanism, key: Hashable, make: Callable[[], tuple[Mechanism, list[Rub]]]
) -> tuple[Mechanism, list[Rub]]:
    """Machine with friction parts for a key, and these parts, from a cache of the last few; made if it is not there."""
    known = vars(plant).setdefault("_rubbing", {})
    if key not in known:
        while len(known) >= _KNOWN:
            known.pop(next(iter(known)))
        known[key] = make()
    return known[key]


def _rubs_of_forces(plant: Mechanism) -> tuple[Mechanism, list[Rub]]:
    loops: list[Any] = []
    forces, rubs = [], []
    for force in plant.forces:
        law, stick, element = _friction_of(force), f"{force.name}_sticking", f"{force.name}_sliding"
        held = force.holding(stick, plant.size)
        if law is None or held is None:
            continue
        require_free(plant, f"exact friction of {force.name!r}", stick, element)
        loops.append(held)
        forces.append(replace(force, name=element, characteristic=directed(force.characteristic, 1.0)))  # type: ignore[attr-defined]
        rubs.append(Rub(force.name, law, frozenset([stick]), frozenset(), element, force.name, np.eye(1)))
    return grown(plant, loops, forces), rubs


def _friction_of(force: ForceElement) -> Friction | None:
    """Dry friction of a force element; None where it has none."""
    law = getattr(force, "characteristic", None)
    if law is None or force.loaded_by:
        return None
    parts = law.parts if isinstance(law, Sum) else (law,)
    dry = [part for part in parts if type(part) is Friction and part.static > 0.0]
    if len(dry) > 1:
        raise InputError(
            f"force element {force.name!r} has {len(dry)} frictions: where it sticks, only their sum is known. Make "
            "one of them"
        )
    return dry[0] if dry else None


def directed(law: Friction | Sum, side: float) -> KineticFriction | Sum:
    """Characteristic with friction that acts to one side, 1 or -1; with 0 the friction does not act."""
    if isinstance(law, Sum):
        return Sum(tuple(directed(part, side) if type(part) is Friction else part for part in law.parts))
    return KineticFriction.of(law, side)


def require_free(plant: Mechanism, what: str, *names: str) -> None:
    """Raise an error for names that the plant has already."""
    for name in names:
        if name in plant.row_slices or any(force.name == name for force in plant.forces):
            raise InputError(
                f"{what}: plant {plant.name!r} has a part {name!r} already, which is the name of what sticks or slides "
                "there; rename it"
            )


def grown(plant: Mechanism, loops: Sequence, forces: Sequence[ForceElement]) -> Mechanism:
    """Plant with more parts, and the same loads and motions.

    Parts that come and go never hold all at once, so their numbers are not made to agree.
    """
    if not (forces or loops):
        return plant
    made = plant.with_parts(forces=[*plant.forces, *forces], loops=[*plant.loops, *loops], precision=0.0)
    return made.with_records(plant.arrays.loads, plant.arrays.targets)


def at_rest(plant: Mechanism, rub: Rub, q: Array) -> list:
    """Constraints of a friction that sticks, made to hold at a configuration."""
    held = []
    for name in rub.sticking - rub.sliding:
        constraint = next(loop for loop in plant.loops if loop.name == name)
        found = capture(plant, constraint, q)
        if len(constraint.rows()) == 3:  # of a point, which stays on its plane
            n = rub.normal
            moved = np.asarray(found.point_a) - constraint.point_a
            found = replace(constraint, point_a=constraint.point_a + moved - n * (n @ moved))
        held.append(found)
    return held


def with_friction(plant: Mechanism, states: Mapping[str, str | int], q: ArrayLike | None = None) -> Mechanism:
    """Machine with exact friction in given states; see `Mechanism.with_friction`."""
    whole, rubs = rubs_of_forces(plant)
    known = {rub.name: rub for rub in rubs}
    elements = {force.name: force for force in whole.forces}
    given, resting, loops = [], [], []
    holding: list[str] = []
    for name, state in _check.mapping(states, "states", "force elements to states").items():
        rub = known[_check.one_of(name, known, "force element with dry friction")]
        if isinstance(state, bool) or state not in ("sticks", 1, -1):
            raise InputError(f"the state of {name!r} must be 'sticks', or 1 or -1 for sliding to a side, got {state!r}")
        if state == "sticks":
            if q is None:
                raise InputError(f"{name!r} sticks somewhere: give q")
            holding += rub.sticking
            loops += at_rest(whole, rub, _check.vector(q, plant.nq, "q", plant.position_names))
        side = 0.0 if state == "sticks" else float(state)
        given.append(replace(elements[rub.element], characteristic=directed(elements[rub.smooth].characteristic, side)))  # type: ignore[attr-defined]
        resting.append(rub.smooth)
    resting += [rub.element for rub in rubs if rub.name not in states]
    gone = [name for rub in rubs for name in rub.sticking if name not in holding]
    return whole.with_loops(*loops).without(*gone).with_force_numbers(*given, resting=resting)

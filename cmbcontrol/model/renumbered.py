"""Change of numbers of a machine, by the names that `parameters` gives them: it is built again from its parts.

A part is built once with all of its numbers: one by one, the six of an inertia would be refused, where each alone makes
a body that cannot exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _check
from ..errors import InputError
from .mechanism import Mechanism
from .parameters import parameters

__all__ = ["with_parameters"]

_PARTS = "bodies", "joints", "loops", "springs", "actuators", "loads", "forces"


class _Draft:
    """Part of a machine with changed fields; its attributes are those of the part with these changes."""

    def __init__(self, part: Any) -> None:
        self.part = part
        self.fields: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return self.fields[name] if name in self.fields else getattr(self.part, name)

    def built(self) -> Any:
        return replace(self.part, **self.fields) if self.fields else self.part


def with_parameters(plant: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """Machine with other numbers; see `Mechanism.with_parameters`."""
    given = _check.mapping(values, "values", "parameters to numbers")
    known = parameters(plant)
    parts = {key: [_Draft(part) for part in getattr(plant, key)] for key in _PARTS}
    gravity = plant.gravity.copy()
    for name, value in given.items():
        _check.one_of(name, known, "parameter")
        x = _check.number(value, f"parameter {name!r}")
        if name.startswith("gravity_"):
            gravity["xyz".index(name[-1])] = x
        elif not _of_coordinate(parts["joints"], name, x) and not any(
            _set(drafts, name, x) for drafts in parts.values()
        ):
            raise InputError(
                f"parameter {name!r} of {plant.name!r} cannot be set by its name; build the machine anew with it"
            )
    made = plant.with_parts(**{key: tuple(d.built() for d in drafts) for key, drafts in parts.items()}, gravity=gravity)
    regular = vars(plant).get("_regular_terms")
    if regular is not None:  # a place to start from for who looks for a regular configuration
        vars(made)["_regular_at"] = regular.q
    return made


def _of_coordinate(joints: list[_Draft], name: str, x: float) -> bool:
    """Set friction or rotor inertia of a joint coordinate, if the name is of one; returns whether it is."""
    field, _, coordinate = name.partition("_")
    if field not in ("damping", "armature"):
        return False
    for joint in joints:
        if coordinate in joint.velocity_names:
            numbers = np.array(getattr(joint, field), dtype=np.float64)
            numbers[joint.velocity_names.index(coordinate)] = x
            joint.fields[field] = tuple(numbers)
            return True
    return False


def _set(drafts: list[_Draft], name: str, x: float) -> bool:
    """Set a number of the part in a list whose name fits, the longest name first; returns whether one was found."""
    fitting = [draft for draft in drafts if name.startswith(f"{draft.prefix}{draft.name}_")]
    for draft in sorted(fitting, key=lambda draft: -len(draft.name)):
        what = name.removeprefix(f"{draft.prefix}{draft.name}_")
        for parameter in draft.parameters:
            if what in (changes := parameter.changes(draft)):
                draft.fields |= changes[what](x)
                return True
    return False

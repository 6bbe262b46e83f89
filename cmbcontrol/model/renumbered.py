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
from .elements import Body, Coupling, FrictionOfLoad, GearFriction, Helical, Joint, Load, Motion
from .elements.bodies import Frame
from .mechanism import Mechanism
from .parameters import parameters

__all__ = ["with_parameters"]

_AXES = dict(zip("xyz", np.eye(3), strict=True))
_PREFIXES = {"springs": "spring_", "actuators": "motor_", "loads": "load_", "forces": "force_"}
_FRAMES = {"frame": "frame", "child": "child_frame", "frame_a": "frame_a", "frame_b": "frame_b"}
_PLAIN = "mass", "length", "offset", "stiffness", "rest", "damping", "gear", "radius"


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
    parts = {key: [_Draft(part) for part in getattr(plant, key)] for key in ("bodies", "joints", "loops", *_PREFIXES)}
    gravity = plant.gravity.copy()
    for name, value in given.items():
        _check.one_of(name, known, "parameter")
        x = _check.number(value, f"parameter {name!r}")
        if name.startswith("gravity_"):
            gravity["xyz".index(name[-1])] = x
        elif not _of_coordinate(parts["joints"], name, x) and not any(
            _set(parts[key], _PREFIXES.get(key, ""), name, x) for key in parts
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


def _set(drafts: list[_Draft], prefix: str, name: str, x: float) -> bool:
    """Set a number of the part in a list whose name fits, the longest name first; returns whether one was found."""
    fitting = [draft for draft in drafts if name.startswith(f"{prefix}{draft.name}_")]
    for draft in sorted(fitting, key=lambda draft: -len(draft.name)):
        changed = _changed(draft, name.removeprefix(f"{prefix}{draft.name}_"), x)
        if changed is not None:
            draft.fields |= changed
            return True
    return False


def _changed(draft: _Draft, what: str, x: float) -> dict[str, Any] | None:
    """Changed field of a part, by the rest of the parameter's name; None where it is none of the part's numbers."""
    part = draft.part
    field, _, axis = what.rpartition("_")
    frame = _FRAMES.get(field.removesuffix("_turn"))
    if frame is not None and axis in _AXES and hasattr(part, frame):
        old = getattr(draft, frame)
        if field.endswith("_turn"):
            return {frame: Frame(old.p, Frame.turned(_AXES[axis], x).R @ old.R)}
        return {frame: Frame(_with_entry(old.p, axis, x), old.R)}
    if field in ("axis_turn", "normal_turn", "across_turn") and axis in _AXES:
        direction = field.removesuffix("_turn")
        return {direction: Frame.turned(_AXES[axis], x).R @ getattr(draft, direction)}
    if field in ("com", "point_a", "point_b") and axis in _AXES and hasattr(part, field):
        return {field: _with_entry(getattr(draft, field), axis, x)}
    if field == "inertia" and isinstance(part, Body):
        inertia = np.array(draft.inertia, dtype=np.float64)
        i, j = ("xyz".index(c) for c in axis)
        inertia[i, j] = inertia[j, i] = x
        return {"inertia": inertia}
    if isinstance(part, Load) and what in ("fx", "fy", "fz", "mx", "my", "mz"):
        which = "force" if what[0] == "f" else "moment"
        return {which: _with_entry(getattr(draft, which), what[1], x)}
    if isinstance(part, Coupling) and what.removeprefix("of_") in part.coefficients:
        return {"coefficients": {**draft.coefficients, what.removeprefix("of_"): x}}
    which = "friction" if isinstance(part, FrictionOfLoad) else "characteristic"
    law = getattr(draft, which, None)
    if law is not None and what in law.number_names and not isinstance(part, GearFriction):
        return {
            which: law.with_numbers([x if n == what else y for n, y in zip(law.number_names, law.numbers, strict=True)])
        }
    if what in _PLAIN and hasattr(part, what) and not isinstance(part, (Joint, Motion)):
        return {what: x}
    if what == "pitch" and isinstance(part, Helical):
        return {"pitch": x}
    return None


def _with_entry(vector: Any, axis: str, x: float) -> np.ndarray:
    made = np.array(vector, dtype=np.float64)
    made["xyz".index(axis)] = x
    return made

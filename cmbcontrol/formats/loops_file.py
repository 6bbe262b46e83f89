"""YAML file beside a URDF file, with what a tree of links cannot hold: loops and motors.

A convention that is in use for robots with closed loops: ``closed_loop`` has pairs of names of links or joints,
``type`` gives for each pair whether their frames coincide (``6d``) or their origins (``3d``), ``name_mot`` has the
motors, and ``joint_name`` with ``joint_type`` makes ball joints and universal joints of hinges, or fixes joints. Types
are the same in capitals and small letters. Not part of the convention, but written by `write_urdf`, are other types of
loops (`LOOP_TYPES`) with their numbers (``value``), and ``gravity``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check, _yaml
from ..errors import InputError
from ..model.elements import (
    Cylindrical,
    Distance,
    Fixed,
    Frame,
    Helical,
    Joint,
    Planar,
    Point,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from .conversion import Remarks
from .links import LONGEST, bounded

__all__ = [
    "BALL",
    "FIXED",
    "KEYS",
    "LOOP_TYPES",
    "UNIVERSAL",
    "Closure",
    "FramePair",
    "beside",
    "closure_of",
    "entries",
    "is_loops_file",
    "loop_of",
    "pair_name",
    "read_pairs",
    "short_name",
]

KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type", "value", "gravity")

# values of joint_type; UNIVERSAL with its two axes, such as UJOINT_XY
BALL, UNIVERSAL, FIXED = "SPHERICAL", "UJOINT_", "FIXED"

# The types of loops between two frames a and b. Those with an axis have it along z of both frames; a universal joint
# has its first axis along x of a and the second one along y of b; lines and planes are those of frame a.
LOOP_TYPES: dict[str, type] = {
    "6d": Weld,
    "3d": Point,
    "revolute": Revolute,
    "prismatic": Prismatic,
    "helical": Helical,  # value: m/rad
    "cylindrical": Cylindrical,
    "planar": Planar,
    "universal": Universal,
    "line": PointOnLine,
    "plane": PointOnPlane,
    "distance": Distance,  # value: m
}
_ALIASES = {"fixed": "6d"}  # which other tools write, too
_KIND_OF = {made: kind for kind, made in LOOP_TYPES.items()} | {Fixed: "6d", Spherical: "3d"}  # the same rows
_VALUES = {Helical: "pitch", Distance: "length"}

Placed = tuple[str, Frame]  # a body and a frame on it


@dataclass(frozen=True)
class FramePair:
    """Entry of ``closed_loop``: two frames by their names in the file, and its place in the file."""

    ends: tuple[str, str]
    kind: str
    value: float | None
    document: _yaml.YamlDocument
    keys: tuple[str | int, ...]


@dataclass(frozen=True)
class Closure:
    """Loop as such a file has it: its type, and a frame on each of two links."""

    kind: str
    a: Placed
    b: Placed
    value: float | None = None


def is_loops_file(data: Any) -> bool:
    """Whether the content of a YAML file may be of this convention."""
    return (
        isinstance(data, dict)
        and not {"closed_loop", "name_mot", "joint_name", "gravity"}.isdisjoint(data)
        and "bodies" not in data
    )


def read_pairs(document: _yaml.YamlDocument, remarks: Remarks) -> list[FramePair]:
    """Closed loops of a file.

    Raises
    ------
    ValueError, TypeError
        Where lists have different lengths, or an entry is no loop; the message names the line.
    """
    pairs, kinds, values = (entries(document, key) for key in ("closed_loop", "type", "value"))
    if pairs and "type" not in document.data:
        kinds = ("6d",) * len(pairs)
        remarks.assumed("closed_loop", "loops whose file has no 'type' are of 6d")
    for key, given in (("type", kinds), ("value", values)):
        if len(given) != len(pairs) and (key == "type" or given):
            with document.at(key):
                raise InputError(f"closed_loop has {len(pairs)} pairs, and {key} has {len(given)} entries")
    found = []
    for i, (pair, kind) in enumerate(zip(pairs, kinds, strict=True)):
        with document.at("closed_loop", i):
            ends = _check.sequence(pair, "a closed loop", "two names of links or joints")
            if len(ends) != 2:
                raise InputError(f"a closed loop must be a pair of names of links or joints, got {len(ends)} entries")
            for end in ends:
                short_name(end, "the name of a frame of a closed loop")
        with document.at("type", i):
            kind = short_name(kind, "a type of closed loops").lower()
            kind = _check.one_of(_ALIASES.get(kind, kind), LOOP_TYPES, "type of closed loops")
        with document.at("value", i):
            value = None if not values else values[i]
            if value is not None:
                value = bounded(_check.number(value, "the value of a closed loop"), "the value of a closed loop")
            if value is None and kind in ("helical", "distance"):
                raise InputError(f"a closed loop of type {kind!r} needs its number in 'value'")
        found.append(FramePair(ends, kind, value, document, ("closed_loop", i)))
    return found


def short_name(x: Any, what: str) -> str:
    """Text `x`, checked to be a possible name."""
    if len(_check.text(x, what)) > LONGEST:
        raise InputError(f"{what} has {len(x)} characters, and names have up to {LONGEST}: it begins with {x[:40]!r}")
    return x


def entries(document: _yaml.YamlDocument, key: str) -> tuple:
    """List under a key; empty where there is none."""
    with document.at(key):
        given = document.data.get(key)
        return _check.sequence(() if given is None else given, key, "entries")


def pair_name(a: str, b: str) -> str:
    """Name for a loop between two frames: their common part, where they are called knee_A and knee_B.

    Examples
    --------
    >>> pair_name("knee_A", "knee_B"), pair_name("foot", "floor")
    ('knee', 'foot_floor')
    """
    shared = a[:-1].rstrip("_- ")
    if a[:-1] == b[:-1] and {a[-1:].lower(), b[-1:].lower()} == {"a", "b"} and shared:
        return shared
    return f"{a}_{b}"


def loop_of(name: str, closure: Closure) -> Any:
    """Constraint of the machine for a loop of the file.

    Examples
    --------
    >>> loop_of("tip", Closure("line", ("left", Frame((1, 0, 0))), ("right", Frame()))).axis
    array([0., 0., 1.])
    """
    made, (a, frame_a), (b, frame_b) = LOOP_TYPES[closure.kind], closure.a, closure.b
    if made is Weld:
        return Weld(name, a, b, frame_a, frame_b)
    if issubclass(made, Joint):
        more: dict[str, Any] = {"pitch": closure.value} if made is Helical else {}
        return made(name, a, b, frame=frame_a, child_frame=frame_b, **more)
    along = np.asarray(frame_a.R)[:, 2]
    own: dict[Any, dict[str, Any]] = {
        PointOnLine: {"axis": along},
        PointOnPlane: {"normal": along},
        Distance: {"length": closure.value},
    }
    return made(name, a, b, point_a=frame_a.p, point_b=frame_b.p, **own.get(made, {}))


def closure_of(loop: Any) -> Closure | None:
    """Entry of the file for a loop of a machine, as `loop_of` reads it; None for loops that files cannot hold.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> closure_of(plants.five_bar().loops[0]).kind
    'line'
    """
    if (kind := _KIND_OF.get(type(loop))) is None:
        return None
    (a, b), (fa, fb) = loop.ends, loop.frames
    if isinstance(loop, Joint):
        R = loop.axis_frames()[0]
        if isinstance(loop, Universal):  # files have its two axes as x and y
            R = np.column_stack([loop.axis, loop.second_axis, np.cross(loop.axis, loop.second_axis)])
        fa, fb = fa @ Frame(R=R), fb @ Frame(R=R)
    elif loop.guides:
        fa = Frame(fa.p, loop.axes)
    value = getattr(loop, _VALUES[type(loop)]) if type(loop) in _VALUES else None
    return Closure(kind, (a, fa), (b, fb), value)


def beside(path: Path) -> Path:
    """Path of the YAML file beside a URDF file."""
    return next(
        (p for p in (path.with_suffix(".yaml"), path.with_suffix(".yml")) if p.is_file()), path.with_suffix(".yaml")
    )

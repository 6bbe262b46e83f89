"""Shapes of joints by kind, closing points and supports, and parts that stretch between bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.elements import GROUND, Ball, Box, Frame, Joint, Rod, Shape, rotation_to
from .attachments import STRETCHES, distinct, stretchable
from .deduced import rounded_plate
from .proportions import Proportions, sliding_ends

__all__ = ["Between", "Placed", "Track", "placed_parts", "stretched_parts"]

Array = NDArray[np.float64]

_REACH = 0.35  # how far a guide goes beyond what slides on it, in lengths of the body in the middle


@dataclass(frozen=True)
class Placed:
    """Shape on a body: of a joint, of a closing point or of a support."""

    body: str
    kind: str
    name: str
    shape: Shape


@dataclass(frozen=True)
class Between:
    """Part that stretches from a point of a body to a point of another one."""

    kind: str
    name: str
    a: str
    point_a: Array
    b: str
    point_b: Array


@dataclass(frozen=True)
class Track(Between):
    """Guide on body a through point a, along an axis, under point b, longer than needed at both ends."""

    axis: Array
    reach: float
    normal: Array | None = None  # of a plane, on which the axis follows point b


# -- joints -------------------------------------------------------------------------------------------------


def placed_parts(of: Proportions) -> list[Placed]:
    """Solids of all joints, closing points and supports."""
    plant = of.plant
    found: list[Placed] = []
    for kind, parts in (("joint", plant.joints), ("loop", plant.loops), ("joint", plant.forces)):
        for part in parts:
            if part.symbol in _SYMBOLS and not (part in plant.joints and set(part.ends) & of.hidden):
                found += [Placed(body, kind, part.name, shape) for body, shape in _SYMBOLS[part.symbol](part, kind, of)]
    return [*found, *_supports(of)]


Shown = Iterator[tuple[str, Shape]]  # bodies with shapes on them


def _weld(part: Any, kind: str, of: Proportions) -> Shown:
    """Block where something is welded to close a loop; joints of the tree that do not move are not shown."""
    if kind == "loop":
        b, at_b = part.places[1]
        yield b, _block((b,), at_b, part.frames[1].R, of)


def _slider(joint: Any, kind: str, of: Proportions) -> Shown:
    (a, _, _), (b, at_b, axis) = sliding_ends(joint)
    if not (_in_each_other(joint, of) or (kind == "joint" and b in of.blocks)):
        yield b, _block((a, b), at_b, rotation_to(axis), of, behind=1.2)


def _sleeve(joint: Any, kind: str, of: Proportions) -> Shown:
    """Sleeve of a joint that turns on what it slides on; that of a nut is short."""
    if not _in_each_other(joint, of):
        _, (b, at_b, axis) = sliding_ends(joint)
        half, radius = (0.5, 1.0) if joint.pitch else (0.9, 0.8)
        width = of.width_at(*joint.ends)
        yield b, Rod(at_b - half * width * axis, at_b + half * width * axis, radius * width)


def _in_each_other(joint: Joint, of: Proportions) -> bool:
    """Whether a slide is that of a rod in its barrel."""
    return joint.child in of.pistons and joint.parent in of.pistons


def _hinge(joint: Any, kind: str, of: Proportions) -> Shown:
    (a, at_a), (b, _) = joint.places
    yield a, _pin(a, at_a, joint.frame.R @ joint.axis, b, of)


def _cross(joint: Any, kind: str, of: Proportions) -> Shown:
    half, radius = 0.8 * of.width_at(*joint.ends), 0.24 * of.width_at(*joint.ends)
    axes = joint.frame.R @ joint.axis, joint.child_frame.R @ joint.second_axis
    for (body, p), axis in zip(joint.places, axes, strict=True):
        yield body, Rod(p - half * axis, p + half * axis, radius)


def _ball(joint: Any, kind: str, of: Proportions) -> Shown:
    a, at_a = joint.places[0]
    yield a, Ball(at_a, 0.62 * of.width_at(*joint.ends))


def _rod_ends(loop: Any, kind: str, of: Proportions) -> Shown:
    for body, p in loop.places:
        yield body, _spot(body, p, body, of)


def _blade(loop: Any, kind: str, of: Proportions) -> Shown:
    b, at_b = loop.places[1]
    yield b, Box(np.array([1.4, 1.4, 0.3]) * of.width, Frame(at_b, rotation_to(loop.across)))


def _point(loop: Any, kind: str, of: Proportions) -> Shown:
    (a, _), (b, at_b) = loop.places
    yield b, _spot(b, at_b, a, of)


def _bushing(element: Any, kind: str, of: Proportions) -> Shown:
    a, at_a = element.places[0]
    yield a, Ball(at_a, 0.6 * of.width)


_SYMBOLS = {
    "weld": _weld,
    "slider": _slider,
    "sleeve": _sleeve,
    "nut": _sleeve,
    "pin": _hinge,
    "cross": _cross,
    "ball": _ball,
    "rod": _rod_ends,
    "blade": _blade,
    "point": _point,
    "bushing": _bushing,
}


def _pin(body: str, p: Array, axis: Array, other: str, of: Proportions) -> Rod:
    """Pin about an axis; in a plane, through the layers of both bodies."""
    width = of.width_at(body, other)
    if of.plane is None:
        half = 0.9 * width
        return Rod(p - half * axis, p + half * axis, 0.6 * width)
    z = of.axis_in(body)
    own = float((of.world(body, p) @ of.normal)[0])
    spans = [of.spans.get(name, (own, own)) for name in (body, other)]
    stands_out = 0.2 * of.thickness
    low = min(span[0] for span in spans) - own - stands_out
    high = max(span[1] for span in spans) - own + stands_out
    return Rod(p + low * z, p + high * z, 0.27 * width)


def _block(bodies: tuple[str, ...], p: Array, R: Array, of: Proportions, behind: float = 0.0) -> Box:
    """Block on the last of some bodies, about the thickest of them, that slides along z of R or is welded.

    In a plane it is `behind` layers behind its body.
    """
    body, width = bodies[-1], max((of.width_of(n) for n in bodies if n in of.lengths), default=of.width)
    if of.plane is None:
        return Box((1.1 * width, 1.1 * width, 1.6 * width), Frame(p, R))
    own = float((of.world(body, p) @ of.normal)[0])
    n, z = of.axis_in(body), R[:, 2]
    middle = p + (of.heights.get(body, own) - own - behind * of.thickness) * n
    if abs(z @ n) > 1e-6:  # welded, with z across the plane
        return Box((1.1 * width, 1.1 * width, 1.2 * of.thickness), Frame(middle, R))
    return Box((1.1 * width, 1.2 * of.thickness, 1.7 * width), Frame(middle, np.column_stack([np.cross(n, z), n, z])))


def _spot(body: str, p: Array, other: str, of: Proportions) -> Shape:
    """Shape of a closing point: a pin in a plane, a ball in space."""
    return Ball(p, 0.62 * of.width_at(body, other)) if of.plane is None else _pin(body, p, of.axis_in(body), other, of)


# -- supports -----------------------------------------------------------------------------------------------


def ground_points(of: Proportions) -> Array:
    """Points of the ground that carry something that does not slide on it, (k, 3)."""
    plant = of.plant
    found: list[Array] = []
    for part in (*plant.joints, *plant.loops, *stretchable(plant)):
        if 0 not in part.fixed_at or not part.ends or (isinstance(part, Joint) and part.child in of.hidden):
            continue
        if (part.guides and _across(part, of) is not None) or (part.slides and of.plane is not None):
            continue
        found += [p for body, p in part.places if body == GROUND]
    return distinct(found, 1e-9 * plant.size)


def _supports(of: Proportions) -> Iterator[Placed]:
    points = ground_points(of)
    if of.plane is not None:
        s, (down, side) = support_size(of), directions_of_support(of)
        lowest = min((low for low, _ in of.spans.values()), default=0.0) - 0.7 * of.thickness
        z = of.normal
        R = np.column_stack([side, np.cross(z, side), z])
        for p in points:
            corners = np.array([p, p + s * (1.3 * down - side), p + s * (1.3 * down + side)])
            frame = Frame(p + (lowest - p @ z) * z, R)
            yield Placed(GROUND, "ground", GROUND, rounded_plate(corners, 0.25 * s, of.thickness, frame))
        return
    if len(points) >= 3:
        centre = points.mean(axis=0)
        sigma, Vt = np.linalg.svd(points - centre, full_matrices=False)[1:]
        if sigma[2] < 1e-6 * sigma[0] and sigma[1] > 0.05 * sigma[0]:
            z = np.cross(Vt[0], Vt[1])
            frame = Frame(centre, np.column_stack([Vt[0], Vt[1], z]))
            yield Placed(GROUND, "ground", GROUND, rounded_plate(points, of.width, 0.3 * of.width, frame))
            return
    down = directions_of_support(of)[0]
    for p in points:  # a foot: its top is where a joint of half a width ends
        foot = Frame(p + 0.85 * of.width * down, rotation_to(down))
        yield Placed(GROUND, "ground", GROUND, Box((1.9 * of.width, 1.9 * of.width, 0.5 * of.width), foot))


def support_size(of: Proportions) -> float:
    """Half the width of a support in a plane, m."""
    return 0.8 * of.width


def directions_of_support(of: Proportions) -> tuple[Array, Array]:
    """Directions of a support: down (along gravity, or against the axis upwards), and sideways in the plane."""
    gravity = of.plant.gravity - (of.plant.gravity @ of.normal) * of.normal
    weight = float(np.linalg.norm(gravity))
    down = gravity / weight if weight > 0.0 else -np.eye(3)[of.plane[1] if of.plane is not None else 2]
    return down, np.cross(down, of.normal)


# -- what stretches -----------------------------------------------------------------------------------------


def stretched_parts(of: Proportions) -> list[Between]:
    """Parts that stretch: rods without mass, springs, dampers, ropes and guides."""
    plant = of.plant
    found: list[Between] = []
    parts = [*plant.joints, *plant.loops, *plant.springs, *plant.forces]
    found += [_between(part.symbol, part) for part in parts if part.symbol == "rod" or part.symbol in STRETCHES]
    reach = _REACH * of.length
    part: Any
    for part in (*plant.joints, *plant.loops):
        if part.slides:
            (a, at_a, axis), (b, at_b, _) = sliding_ends(part)
            if b in of.pistons and a in of.pistons:
                found.append(_between("rod", part))  # between a rod that is short and its barrel
            elif of.plane is None and GROUND not in (a, b):
                found.append(_between("rod", part))  # in space, where a line would not look as if it carried anything
            elif not {a, b} & of.hidden:
                found.append(Track("guide", part.name, a, at_a, b, at_b, axis, reach))
        elif part.guides:
            across = _across(part, of)
            if across is not None:
                (a, at_a), (b, at_b) = part.places
                found.append(Track("guide", part.name, a, at_a, b, at_b, across, reach))
    return found


def _between(kind: str, part: Any) -> Between:
    (a, at_a), (b, at_b) = part.places
    return Between(kind, part.name, a, at_a, b, at_b)


def _across(loop: Any, of: Proportions) -> Array | None:
    """Direction of a guide that is visible: of a line, unless across the drawing plane, or of a plane seen edge-on."""
    if loop.guides == "line":
        axis = loop.axis
        return axis if of.plane is None or abs(axis @ of.axis_in(loop.a)) < 1e-6 else None
    if of.plane is None:
        return None
    line = np.cross(of.axis_in(loop.a), loop.normal)  # in which the two planes cut each other
    length = float(np.linalg.norm(line))
    return line / length if length > 1e-6 else None

"""Shapes of joints by kind, closing points and supports, and parts that stretch between bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..characteristics import DamperTable, Friction, GasSpring, Rope, SpringDamper, Strut, Sum
from ..model.elements import (
    GROUND,
    Ball,
    Box,
    Bushing,
    CoordinateConstraint,
    Distance,
    DistanceMotion,
    Fixed,
    Frame,
    Free,
    Helical,
    Joint,
    KnifeEdge,
    Planar,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    PoseMotion,
    Prismatic,
    Revolute,
    Rod,
    RollingBall,
    Shape,
    Spherical,
    Universal,
    Weld,
    Wheel,
    rotation_to,
)
from .attachments import SLIDING, distinct, ends, stretchable
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
    for joint in plant.joints:
        if not {joint.parent, joint.child} & of.hidden:
            found += _joint(joint, "joint", of)
    for loop in plant.loops:
        if isinstance(loop, Joint):
            found += _joint(loop, "loop", of)
        elif not isinstance(loop, (CoordinateConstraint, Wheel, RollingBall, PoseMotion)):
            found += _closing(loop, of)
    for element in plant.forces:
        if isinstance(element, Bushing):
            found.append(Placed(element.a, "joint", element.name, Ball(element.frame_a.p, 0.6 * of.width)))
    return [*found, *_supports(of)]


def _joint(joint: Joint, kind: str, of: Proportions) -> Iterator[Placed]:
    (a, at_a), (b, at_b) = ends(joint)
    if isinstance(joint, (Free, Planar, Fixed)):
        if kind == "loop" and isinstance(joint, Fixed):
            yield Placed(b, kind, joint.name, _block((b,), at_b, np.asarray(joint.child_frame.R), of))
        return
    if isinstance(joint, SLIDING):
        if joint.child in of.pistons and joint.parent in of.pistons:
            return
        axis = sliding_ends(joint)[1][2]
        if isinstance(joint, Prismatic):
            if not (kind == "joint" and joint.child in of.blocks):
                yield Placed(b, kind, joint.name, _block((a, b), at_b, rotation_to(axis), of, behind=1.2))
        else:  # sleeves turn
            half, radius = (0.9, 0.8) if not isinstance(joint, Helical) else (0.5, 1.0)
            width = of.width_at(a, b)
            sleeve = Rod(at_b - half * width * axis, at_b + half * width * axis, radius * width)
            yield Placed(b, kind, joint.name, sleeve)
    elif isinstance(joint, Revolute):
        yield Placed(a, kind, joint.name, _pin(a, at_a, joint.frame.R @ joint.axis, b, of))
    elif isinstance(joint, Universal):
        half, radius = 0.8 * of.width_at(a, b), 0.24 * of.width_at(a, b)
        for body, p, axis in (
            (a, at_a, joint.frame.R @ joint.axis),
            (b, at_b, joint.child_frame.R @ joint.second_axis),
        ):
            yield Placed(body, kind, joint.name, Rod(p - half * axis, p + half * axis, radius))
    elif isinstance(joint, Spherical):
        yield Placed(a, kind, joint.name, Ball(at_a, 0.62 * of.width_at(a, b)))


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


def _closing(loop: Any, of: Proportions) -> Iterator[Placed]:
    """Shapes of a constraint, on the bodies that it connects."""
    (a, at_a), (b, at_b) = ends(loop)
    if isinstance(loop, (Distance, DistanceMotion)):
        for body, p in ((a, at_a), (b, at_b)):
            yield Placed(body, "loop", loop.name, _spot(body, p, body, of))
    elif isinstance(loop, Weld):
        yield Placed(b, "loop", loop.name, _block((b,), at_b, np.asarray(loop.frame_b.R), of))
    elif isinstance(loop, KnifeEdge):
        blade = np.array([1.4, 1.4, 0.3]) * of.width
        yield Placed(b, "loop", loop.name, Box(blade, Frame(at_b, rotation_to(np.asarray(loop.across)))))
    else:
        yield Placed(b, "loop", loop.name, _spot(b, at_b, a, of))


def _spot(body: str, p: Array, other: str, of: Proportions) -> Shape:
    """Shape of a closing point: a pin in a plane, a ball in space."""
    return Ball(p, 0.62 * of.width_at(body, other)) if of.plane is None else _pin(body, p, of.axis_in(body), other, of)


# -- supports -----------------------------------------------------------------------------------------------


def ground_points(of: Proportions) -> Array:
    """Points of the ground that carry something that does not slide on it, (k, 3)."""
    plant = of.plant
    found: list[Array] = []
    for part in (*plant.joints, *plant.loops, *stretchable(plant)):
        if isinstance(part, (CoordinateConstraint, Free, Planar, Wheel, RollingBall, KnifeEdge, PointOnPlane)):
            continue
        if isinstance(part, Joint) and part.child in of.hidden:
            continue
        if isinstance(part, PointOnLine) and _across(part, of) is not None:
            continue
        if isinstance(part, SLIDING) and of.plane is not None:
            continue
        found += [p for body, p in ends(part) if body == GROUND]
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
    for loop in plant.loops:
        if isinstance(loop, (Distance, DistanceMotion)):
            found.append(_between("rod", loop))
    found += [_between(_kind(element), element) for element in stretchable(plant)]
    reach = _REACH * of.length
    for part in (*plant.joints, *plant.loops):
        if isinstance(part, SLIDING):
            (a, at_a, axis), (b, at_b, _) = sliding_ends(part)
            if b in of.pistons and a in of.pistons:
                found.append(_between("rod", part))  # between a rod that is short and its barrel
            elif of.plane is None and GROUND not in (a, b):
                found.append(_between("rod", part))  # in space, where a line would not look as if it carried anything
            elif not {a, b} & of.hidden:
                found.append(Track("guide", part.name, a, at_a, b, at_b, axis, reach))
        elif isinstance(part, (PointOnLine, PointOnPlane)):
            across = _across(part, of)
            if across is not None:
                (a, at_a), (b, at_b) = ends(part)
                found.append(Track("guide", part.name, a, at_a, b, at_b, across, reach))
        elif isinstance(part, (Wheel, RollingBall)) and of.plane is not None:
            across = _line_in_plane(part, of)
            if across is not None:
                (a, at_a), (b, at_b) = ends(part)
                found.append(Track("guide", part.name, a, at_a, b, at_b, across, reach))
    return found


def _between(kind: str, part: Any) -> Between:
    (a, at_a), (b, at_b) = ends(part)
    return Between(kind, part.name, a, at_a, b, at_b)


def _kind(element: Any) -> str:
    """Kind of an element between two points: spring, damper or rope."""
    if isinstance(element, PointSpring):
        return "spring" if element.stiffness else "damper"
    laws = [element.characteristic]
    while any(isinstance(law, Sum) for law in laws):
        laws = [part for law in laws for part in (law.parts if isinstance(law, Sum) else [law])]
    if any(isinstance(law, Rope) for law in laws):
        return "rope"
    dampers = (DamperTable, Friction, GasSpring, Strut)
    passive = [isinstance(x, dampers) or (isinstance(x, SpringDamper) and not x.stiffness) for x in laws]
    return "damper" if all(passive) else "spring"


def _across(loop: Any, of: Proportions) -> Array | None:
    """Direction of a guide that is visible: of a line, unless across the drawing plane, or of a plane seen edge-on."""
    if isinstance(loop, PointOnLine):
        axis = np.asarray(loop.axis)
        return axis if of.plane is None or abs(axis @ of.axis_in(loop.a)) < 1e-6 else None
    return None if of.plane is None else _line_in_plane(loop, of)


def _line_in_plane(loop: Any, of: Proportions) -> Array | None:
    """Direction of the line in which the plane of a constraint cuts the drawing plane; None if they are parallel."""
    line = np.cross(of.axis_in(loop.a), loop.normal)
    length = float(np.linalg.norm(line))
    return line / length if length > 1e-6 else None

"""Shapes of bodies without given ones: deduced from their attachments and their inertia."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from ..model.elements import (
    Ball,
    Body,
    Box,
    Cam,
    Frame,
    Joint,
    MachinePart,
    Plate,
    Rod,
    RollingBall,
    Shape,
    Wheel,
    rotation_to,
)
from .attachments import SAME
from .proportions import Proportions, sliding_ends

__all__ = ["deduced_shapes", "rounded_plate"]

Array = NDArray[np.float64]

_FLAT_IN_SPACE = 0.15  # points that lie in a slab thinner than this, in lengths of it, make a plate
_BROAD = (0.3, 0.6)  # width over length of a bar that its inertia makes a box
_AROUND = 24


def deduced_shapes(body: Body, of: Proportions) -> list[Shape]:
    """Shapes of a body without given ones, in its axes."""
    wheels = _wheels(body, of)
    points = of.points[body.name]
    if body.name in of.bars:
        return [*wheels, *_bar(body, of)]
    if len(points) < 2:
        return wheels or _by_inertia(body, of)
    return [*wheels, *_through(body, points, of)]


# -- bars and plates ------------------------------------------------------------------------------------------


def _bar(body: Body, of: Proportions) -> list[Shape]:
    a, b = of.bars[body.name]
    width = of.width_of(body.name)
    if body.name in of.pistons:
        return [_piston(body.name, a, b, of)]
    if of.plane is None:
        return [Rod(a, b, 0.45 * width, rounded=True)]
    broad = None if _hinged(body, of) else _breadth(body, a, b)
    frame = _in_plane(body, of)
    if broad is not None:
        middle, along = 0.5 * (a + b), (b - a) / np.linalg.norm(b - a)
        z = frame.R[:, 2]
        place = frame.p + (middle - frame.p) - ((middle - frame.p) @ z) * z
        R = np.column_stack([along, np.cross(z, along), z])
        return [Box((float(np.linalg.norm(b - a)), broad, of.thickness), Frame(place, R))]
    return [rounded_plate(np.array([a, b]), 0.5 * width, of.thickness, frame)]


def _piston(name: str, a: Array, b: Array, of: Proportions) -> Shape:
    """Shape of a barrel or its rod."""
    lift = of.lift(name, 0.5 * (a + b))
    return Rod(a + lift, b + lift, of.piston_radius(name), rounded=of.pistons[name] == "rod")


def _hinged(body: Body, of: Proportions) -> bool:
    """Whether a body turns about one of its points: then it is a link, and not an object that is held."""
    for part in (*of.plant.joints, *of.plant.loops):
        inner = part in of.plant.joints and part.ends[0] in of.hidden  # of a chain that carries the body
        if _turns(part) and not inner and body.name in part.ends:
            return True
    return False


def _turns(part: MachinePart) -> bool:
    """Whether a part is a pin, or holds a point that may turn."""
    return part.symbol == "pin" or (part.symbol == "point" and part.guides != "plane")


def _breadth(body: Body, a: Array, b: Array) -> float | None:
    """Width of the uniform box with a body's inertia, if a bar about its centre has one (a held object); else None."""
    length = float(np.linalg.norm(b - a))
    if body.mass == 0.0 or np.linalg.norm(0.5 * (a + b) - body.com) > 1e-3 * length:
        return None
    square = 12.0 * float(np.linalg.eigvalsh(body.inertia)[2]) / body.mass - length**2
    broad = float(np.sqrt(max(square, 0.0)))
    return broad if _BROAD[0] * length < broad < _BROAD[1] * length else None


def _through(body: Body, points: Array, of: Proportions) -> list[Shape]:
    """Shapes through points that are not on a line with the centre of mass."""
    width = of.width_of(body.name)
    if of.plane is not None:
        frame = _in_plane(body, of)
        if _on_a_line(points):
            points = np.concatenate([points, [body.com]])
        return [rounded_plate(points, 0.5 * width, of.thickness, frame)]
    if _on_a_line(points):
        points = np.concatenate([points, [body.com]])
    centre = points.mean(axis=0)
    sigma, Vt = np.linalg.svd(points - centre, full_matrices=False)[1:]
    if len(sigma) < 3 or sigma[2] < _FLAT_IN_SPACE * sigma[0]:
        frame = Frame(centre, np.column_stack([Vt[0], Vt[1], np.cross(Vt[0], Vt[1])]))
        return [rounded_plate(points, 0.45 * width, 0.6 * width, frame)]
    return [Rod(centre, p, 0.45 * width, rounded=True) for p in points if np.linalg.norm(p - centre) > 0.1 * width]


def _on_a_line(points: Array) -> bool:
    sigma = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(len(sigma) < 2 or sigma[1] <= 1e-6 * sigma[0])


def _in_plane(body: Body, of: Proportions) -> Frame:
    """Frame on the body whose z is the normal of the plane of motion, in the middle of its layer."""
    return Frame(of.lift(body.name, np.zeros(3)), rotation_to(of.axis_in(body.name)))


def rounded_plate(points: Array, radius: float, thickness: float, frame: Frame) -> Plate:
    """Plate that is the hull of discs about points, in the x-y plane of a frame."""
    flat = (points - frame.p) @ frame.R[:, :2]
    turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    discs = flat[:, None] + radius * np.column_stack([np.cos(turns), np.sin(turns)])
    corners = discs.reshape(-1, 2)
    scale = float(np.ptp(corners, axis=0).max())
    hull = ConvexHull(corners / scale)  # of size one: it knows no other tolerance
    return Plate(corners[hull.vertices], thickness, frame)


# -- inertia, wheels, cams ------------------------------------------------------------------------------------


def _by_inertia(body: Body, of: Proportions) -> list[Shape]:
    """Uniform solid with a body's mass and inertia; a ball for a point mass; nothing for no mass."""
    if body.mass == 0.0:
        return []
    lift = of.lift(body.name, np.asarray(body.com))
    centre = body.com + lift
    moments, axes = np.linalg.eigh(body.inertia)
    sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / body.mass, 0.0))
    slides = [x for x in of.plant.joints if x.symbol == "slider" and x.child == body.name]
    if slides and sides.max() < 1.7 * of.width:  # a block that is seen
        block = np.array([1.1, 1.1, 1.7]) * of.width
        return [Box(block, Frame(centre, rotation_to(sliding_ends(slides[0])[1][2])))]
    if sides.max() < 1e-3 * of.plant.size:
        return [Ball(centre, 0.7 * of.width)]
    pivot = _pivot(body, of)
    if pivot is not None:
        axis = pivot.child_frame.R @ pivot.axis
        radius = float(np.sqrt(2.0 * max(axis @ body.inertia @ axis, 0.0) / body.mass))
        if radius > 0.3 * of.width:
            long = of.thickness if of.plane is not None else max(_long(body, axis, radius), of.thickness)
            cam = _cam(body, pivot, axis, radius, of, lift)
            return [cam or Rod(centre - 0.5 * long * axis, centre + 0.5 * long * axis, radius)]
    sides = np.maximum(sides, 0.5 * of.thickness)
    return [Box(sides, Frame(centre, axes if np.linalg.det(axes) > 0.0 else axes * [1.0, 1.0, -1.0]))]


def _pivot(body: Body, of: Proportions) -> Any:
    """Hinge about which a body turns, through its centre of mass; None if there is none."""
    joint: Any
    for joint in of.plant.joints:
        if joint.symbol == "pin" and joint.child == body.name:
            off = body.com - joint.child_frame.p
            axis = joint.child_frame.R @ joint.axis
            if np.linalg.norm(off - (off @ axis) * axis) < SAME * of.plant.size:
                return joint
    return None


def _long(body: Body, axis: Array, radius: float) -> float:
    """Length of the uniform cylinder about an axis, from a body's inertia."""
    across = 0.5 * (np.trace(body.inertia) - axis @ body.inertia @ axis)
    return float(np.sqrt(max(12.0 * across / body.mass - 3.0 * radius**2, 0.0)))


def _wheels(body: Body, of: Proportions) -> list[Shape]:
    made: list[Shape] = []
    for loop in of.plant.loops:
        if isinstance(loop, Wheel) and loop.b == body.name:
            centre, axis, radius = np.asarray(loop.point_b), np.asarray(loop.axis), loop.radius + loop.tube
            half = max(loop.tube, 0.12 * radius)
            centre = centre + of.lift(body.name, centre)
            half = half if of.plane is None else 0.5 * of.thickness
            made.append(Rod(centre - half * axis, centre + half * axis, radius))
        elif isinstance(loop, RollingBall) and loop.b == body.name:
            made.append(Ball(loop.point_b, loop.radius))
    return made


def _cam(body: Body, pivot: Joint, axis: Array, radius: float, of: Proportions, lift: Array) -> Plate | None:
    """Disc of a cam, with its lift to scale for a follower that slides; None where the body has no cam.

    The point of the disc that meets the follower at an angle of the cam lies back by this angle.
    """
    cams = [x for x in of.plant.loops if isinstance(x, Cam) and x.cam == pivot.name and pivot.child == body.name]
    if not cams:
        return None
    angles = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    lifts = np.array([float(cams[0].lift(angle)) for angle in angles])
    lifts = lifts - lifts.min()
    follower: Any = next((j for j in of.plant.joints if j.name == cams[0].follower), None)
    towards = np.array([0.0, 1.0, 0.0])
    if follower is not None and follower.symbol == "slider" and lifts.max() < 2.0 * radius:
        towards = pivot.frame.R.T @ (follower.frame.R @ follower.axis)
    elif lifts.max() > 0.0:
        lifts = 0.4 * radius * lifts / lifts.max()
    R = rotation_to(axis)
    x, y, _ = R.T @ (pivot.child_frame.R @ towards)
    ahead = float(np.arctan2(y, x))
    far = 0.8 * radius + lifts
    outline = far[:, None] * np.column_stack([np.cos(ahead - angles), np.sin(ahead - angles)])
    return Plate(outline, of.thickness, Frame(np.asarray(pivot.child_frame.p) + lift, R))

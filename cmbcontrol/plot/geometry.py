"""What a machine looks like at a configuration: points and lines in the world, before any drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..model.elements import (
    GROUND,
    Body,
    CoordinateConstraint,
    Cylindrical,
    Distance,
    DistanceMotion,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Prismatic,
    Revolute,
)
from ..model.mechanism import Mechanism

__all__ = ["Sketch", "can_sketch", "sketcher"]

Array = NDArray[np.float64]
Spot = tuple[str, Array]  # body, point in its axes

_SLIDING = (Prismatic, Cylindrical, Helical)


@dataclass
class Sketch:
    """A machine at one configuration; all entries in metres in the world, shape (k, 3).

    Attributes
    ----------
    bodies : list of ndarray
        The outline of each body: two points are a bar, more a polygon (its first point is repeated).
    centres : ndarray
        Centres of mass.
    joints, sliders, loops, ground : ndarray
        Hinges, slides, closing points of the loops, and points on the ground that carry something.
    guides : list of ndarray
        Lines along which something slides.
    rods, springs : list of ndarray
        Massless rods of distance loops, and springs between two points.
    """

    bodies: list[Array] = field(default_factory=list)
    centres: Array = field(default_factory=lambda: np.empty((0, 3)))
    joints: Array = field(default_factory=lambda: np.empty((0, 3)))
    sliders: Array = field(default_factory=lambda: np.empty((0, 3)))
    loops: Array = field(default_factory=lambda: np.empty((0, 3)))
    ground: Array = field(default_factory=lambda: np.empty((0, 3)))
    guides: list[Array] = field(default_factory=list)
    rods: list[Array] = field(default_factory=list)
    springs: list[Array] = field(default_factory=list)

    def points(self) -> Array:
        """All points, (n, 3)."""
        lines = [*self.bodies, *self.guides, *self.rods, *self.springs]
        return np.concatenate([*lines, self.centres, self.joints, self.sliders, self.loops, self.ground])


class Sketcher:
    """Draws a plant at any configuration: ``sketcher(plant).at(q)``.

    Attributes
    ----------
    plane : (int, int) or None
        World axes of the plane in which all moves; None where the machine moves in space.
    down : ndarray, shape (3,)
        Direction of gravity, zero where there is none.
    size : float
        Of the plant, m.
    """

    plane: tuple[int, int] | None
    down: Array
    size: float

    def at(self, q: Array) -> Sketch:
        """The machine at configuration q (nq,)."""
        raise NotImplementedError


def can_sketch(plant: Any) -> bool:
    """Whether it is known what the plant looks like."""
    return isinstance(plant, Mechanism) or plant.sketch is not None


def sketcher(plant: Any) -> Sketcher:
    """How a plant is drawn.

    Raises
    ------
    ModelError
        Where a plant given by functions does not say what it looks like.
    """
    if isinstance(plant, Mechanism):
        return _MechanismSketcher(plant)
    if not can_sketch(plant):
        raise ModelError(
            f"plant {plant.name!r} is given by functions and does not say what it looks like; "
            "build it with sketch=, a function q -> list of lines, each (points, 2) or (points, 3) in metres"
        )
    return _FunctionSketcher(plant)


class _FunctionSketcher(Sketcher):
    """Lines that the plant draws itself."""

    def __init__(self, plant: Any) -> None:
        self._sketch: Callable[[Array], Any] = plant.sketch
        self.size = float(plant.size)
        lines = [np.asarray(line, dtype=np.float64) for line in plant.sketch(plant.neutral())]
        if not lines or any(line.ndim != 2 or line.shape[1] not in (2, 3) for line in lines):
            raise ModelError(
                f"plant {plant.name!r}: sketch(q) must return lines of shape (points, 2) or (points, 3), "
                f"got shapes {[line.shape for line in lines]}"
            )
        self.plane = (0, 1) if all(line.shape[1] == 2 for line in lines) else None
        self.down = np.array([0.0, -1.0, 0.0]) if self.plane else np.array([0.0, 0.0, -1.0])

    def at(self, q: Array) -> Sketch:
        lines = [np.atleast_2d(np.asarray(line, dtype=np.float64)) for line in self._sketch(q)]
        lines = [np.pad(line, ((0, 0), (0, 3 - line.shape[1]))) for line in lines]
        ends = np.concatenate([line[[0, -1]] for line in lines])
        return Sketch(bodies=lines, joints=np.unique(ends.round(12), axis=0))


class _MechanismSketcher(Sketcher):
    """Bars and polygons through the joints, loop points and centres of mass of each body."""

    def __init__(self, plant: Mechanism) -> None:
        self.plant = plant
        self.plane, self.size = _plane(plant), plant.size
        weight = float(np.linalg.norm(plant.gravity))
        self.down = plant.gravity / weight if weight > 0.0 else np.zeros(3)
        spots = _attachments(plant)
        same = 1e-9 * plant.size
        unique = {name: _distinct(points, same) for name, points in spots.items()}
        carriers = {b.name for b in plant.bodies if b.mass == 0.0 and len(unique[b.name]) < 2}
        self.outlines = [(b.name, _outline(b, unique[b.name], plant.size)) for b in plant.bodies]
        self.outlines = [(name, line) for name, line in self.outlines if name not in carriers and len(line)]
        self.centres = [(b.name, b.com) for b in plant.bodies if b.mass > 0.0]
        self.hinges: list[Spot] = []
        self.slides: list[tuple[Spot, Spot, Array]] = []
        self.loop_spots: list[Spot] = []
        self.ground: list[Array] = []
        self.rods: list[tuple[Spot, Spot]] = []
        self.springs = [((s.a, s.point_a), (s.b, s.point_b)) for s in plant.springs if isinstance(s, PointSpring)]
        self.ground += [p for pair in self.springs for body, p in pair if body == GROUND]
        for joint in plant.joints:
            if not {joint.parent, joint.child} & carriers:
                self._joint(joint)
        for loop in plant.loops:
            self._loop(loop)

    def _joint(self, joint: Joint) -> None:
        a, b = (joint.parent, joint.frame.p), (joint.child, joint.child_frame.p)
        if isinstance(joint, (Free, Planar)):
            return
        if isinstance(joint, _SLIDING):
            self.slides.append((a, b, joint.frame.R @ joint.axis))
        elif not isinstance(joint, Fixed):
            self.hinges.append(a)
        if joint.parent == GROUND:
            self.ground.append(joint.frame.p)

    def _loop(self, loop: Any) -> None:
        if isinstance(loop, CoordinateConstraint):
            return
        a, b = _ends(loop)
        self.loop_spots += [b] if not isinstance(loop, (Distance, DistanceMotion)) else [a, b]
        self.ground += [p for body, p in (a, b) if body == GROUND]
        if isinstance(loop, (Distance, DistanceMotion)):
            self.rods.append((a, b))
        elif isinstance(loop, _SLIDING):
            self.slides.append((a, b, loop.frame.R @ loop.axis))
        elif isinstance(loop, (PointOnLine, PointOnPlane)):
            axis = loop.axis if isinstance(loop, PointOnLine) else None
            across = self._across(loop, axis)
            if across is not None:
                self.slides.append((a, b, across))

    def _across(self, loop: Any, axis: Array | None) -> Array | None:
        """Direction of a guide that shows: a line unless it stands on the drawing plane, or a plane seen edge-on."""
        if self.plane is None:
            return axis
        R = self.plant.pose(self.plant.neutral(), loop.a).R
        normal = R.T @ np.eye(3)[({0, 1, 2} - set(self.plane)).pop()]
        if axis is not None:
            return axis if abs(axis @ normal) < 1e-6 else None
        line = np.cross(normal, loop.normal)
        length = float(np.linalg.norm(line))
        return line / length if length > 1e-6 else None

    def at(self, q: Array) -> Sketch:
        frames = {name: self.plant.pose(q, name) for name in [GROUND, *(b.name for b in self.plant.bodies)]}

        def world(body: str, points: Array) -> Array:
            return frames[body].p + np.atleast_2d(points) @ frames[body].R.T

        def spots(listed: list[Spot]) -> Array:
            return np.concatenate([np.empty((0, 3)), *(world(*spot) for spot in listed)])

        def pairs(listed: list[tuple[Spot, Spot]]) -> list[Array]:
            return [np.concatenate([world(*a), world(*b)]) for a, b in listed]

        reach = 0.2 * self.plant.size
        guides, sliders = [], []
        for (body, point), b, axis in self.slides:
            middle, along, there = world(body, point)[0], frames[body].R @ axis, world(*b)[0]
            travel = float((there - middle) @ along)
            ends = np.array([min(0.0, travel) - reach, max(0.0, travel) + reach])
            guides.append(middle + ends[:, None] * along)
            sliders.append(there)
        return Sketch(
            bodies=[world(body, points) for body, points in self.outlines],
            centres=spots(self.centres),
            joints=spots(self.hinges),
            sliders=np.array(sliders).reshape(-1, 3),
            loops=spots(self.loop_spots),
            ground=_distinct([np.asarray(p, dtype=float) for p in self.ground], 1e-9 * self.plant.size),
            guides=guides,
            rods=pairs(self.rods),
            springs=pairs(self.springs),
        )


def _ends(loop: Any) -> tuple[Spot, Spot]:
    """The two points that a loop brings together."""
    if isinstance(loop, Joint):
        return (loop.parent, loop.frame.p), (loop.child, loop.child_frame.p)
    if hasattr(loop, "frame_a"):
        return (loop.a, loop.frame_a.p), (loop.b, loop.frame_b.p)
    return (loop.a, loop.point_a), (loop.b, loop.point_b)


def _attachments(plant: Mechanism) -> dict[str, list[Array]]:
    """Points of each body that carry a joint, a loop or a spring, in its axes."""
    spots: dict[str, list[Array]] = {name: [] for name in [GROUND, *(b.name for b in plant.bodies)]}
    ends = [_ends(loop) for loop in plant.loops if not isinstance(loop, CoordinateConstraint)]
    ends += [_ends(joint) for joint in plant.joints if not isinstance(joint, (Free, Planar))]
    ends += [((s.a, s.point_a), (s.b, s.point_b)) for s in plant.springs if isinstance(s, PointSpring)]
    for pair in ends:
        for body, point in pair:
            spots[body].append(np.asarray(point, dtype=np.float64))
    return spots


def _distinct(points: list[Array], same: float) -> Array:
    """Points without repetitions, (k, 3)."""
    kept: list[Array] = []
    for p in points:
        if not any(np.abs(p - k).max() <= same for k in kept):
            kept.append(p)
    return np.array(kept).reshape(-1, 3)


def _outline(body: Body, points: Array, size: float) -> Array:
    """A line through the points of a body, in its axes; empty for one without extent."""
    if len(points) == 0:
        return _box_cross(body)
    beside = points[np.linalg.norm(points - body.com, axis=1) > 1e-9 * size]
    if len(beside) == 1:  # a joint at the centre of mass says nothing of the shape
        points = beside
    if len(points) == 1:
        away = body.com - points[0]
        reach = float(np.linalg.norm(away))
        if reach <= 1e-9 * size:
            return np.empty((0, 3))
        # to the far end of the uniform bar with this centre and inertia; to the centre itself for a point mass
        along = away / reach
        spread = max(0.5 * np.trace(body.inertia) - along @ body.inertia @ along, 0.0)
        far = reach + np.sqrt(3.0 * spread / body.mass) if body.mass > 0.0 else reach
        return np.array([points[0], points[0] + far * along])
    if _off_line(body.com, points, 0.02 * size):
        points = np.concatenate([points, [body.com]])
    centre = points.mean(axis=0)
    sigma, Vt = np.linalg.svd(points - centre, full_matrices=False)[1:]
    if len(points) == 2 or sigma[1] <= 1e-6 * sigma[0]:
        along = (points - centre) @ Vt[0]
        return points[sorted((along.argmin(), along.argmax()))]
    if len(sigma) > 2 and sigma[2] > 1e-6 * sigma[0]:  # in space: a star
        return np.concatenate([np.array([centre, p]) for p in points])
    flat = (points - centre) @ Vt[:2].T
    order = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))
    return points[[*order, order[0]]]


def _off_line(com: Array, points: Array, reach: float) -> bool:
    """Whether points lie on a line that the centre of mass is not on."""
    along = np.linalg.svd(points - points[0], full_matrices=False)[2][0]
    away = [x - points[0] - ((x - points[0]) @ along) * along for x in (*points, com)]
    far = np.linalg.norm(away, axis=1)
    return bool(far[:-1].max() < 1e-6 * reach < reach < far[-1])


def _box_cross(body: Body) -> Array:
    """The axes of the uniform box with a body's inertia, for a body that nothing is attached to."""
    if body.mass == 0.0:
        return np.empty((0, 3))
    moments, axes = np.linalg.eigh(body.inertia)
    half = np.sqrt(np.maximum(1.5 * (moments.sum() - 2.0 * moments) / body.mass, 0.0))
    ends = [body.com + h * np.array([0.0 * a, a, -a, 0.0 * a]) for h, a in zip(half, axes.T, strict=True) if h > 0.0]
    return np.concatenate([np.empty((0, 3)), *ends])


def _plane(plant: Mechanism) -> tuple[int, int] | None:
    """World axes (horizontal, vertical) of the plane in which all moves, if it is parallel to two of them."""
    q = plant.neutral()
    turns, shifts = [], []
    for joint in plant.joints:
        axes = [plant.pose(q, joint.parent).R @ joint.frame.R @ turn[:, 2] for turn in joint.axis_frames()]
        if isinstance(joint, (Revolute, Planar)):
            turns += axes
        elif isinstance(joint, Prismatic):
            shifts += axes
        elif not isinstance(joint, Fixed):
            return None
    fits = []
    for normal, plane in ((2, (0, 1)), (1, (0, 2)), (0, (1, 2))):
        flat = all(abs(abs(a[normal]) - 1.0) < 1e-9 for a in turns) and all(abs(a[normal]) < 1e-9 for a in shifts)
        if flat:
            fits.append((abs(float(plant.gravity[normal])), plane))
    return min(fits)[1] if fits else None

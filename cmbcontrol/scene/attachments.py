"""Points where parts of a machine are attached to its bodies, and the plane of its motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.elements import (
    GROUND,
    Bushing,
    Constraint,
    CoordinateConstraint,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    KnifeEdge,
    Planar,
    PointForce,
    PointMotion,
    PointOnPlane,
    PointSpring,
    PoseMotion,
    Prismatic,
    Revolute,
    RollingBall,
    Wheel,
)
from ..model.mechanism import Mechanism

__all__ = [
    "SAME",
    "SLIDING",
    "attachments",
    "carriers",
    "distinct",
    "ends",
    "held_together",
    "plane_of_motion",
    "stretchable",
]

Array = NDArray[np.float64]
Place = tuple[str, Array]  # body, point in its axes

SLIDING = (Prismatic, Cylindrical, Helical)
SAME = 1e-9  # of the size of the machine: points that are nearer are one
# What these hold on body a is no point of it, but a plane or a path.
_NO_POINT_ON_A = (PointOnPlane, Wheel, RollingBall, KnifeEdge, PointMotion, PoseMotion)


def ends(part: Any) -> tuple[Place, Place]:
    """Points that a joint, a constraint or a force element connects, each with its body."""
    if isinstance(part, Joint):
        return (part.parent, np.asarray(part.frame.p)), (part.child, np.asarray(part.child_frame.p))
    if hasattr(part, "frame_a"):
        return (part.a, np.asarray(part.frame_a.p)), (part.b, np.asarray(part.frame_b.p))
    return (part.a, np.asarray(part.point_a)), (part.b, np.asarray(part.point_b))


def stretchable(plant: Mechanism) -> list[Any]:
    """Springs and force elements between two points."""
    return [s for s in (*plant.springs, *plant.forces) if isinstance(s, (PointSpring, PointForce))]


def attachments(plant: Mechanism) -> dict[str, Array]:
    """Distinct points of each body, and of the ground, at which parts are attached, (k, 3) in its axes."""
    points: dict[str, list[Array]] = {name: [] for name in (GROUND, *(b.name for b in plant.bodies))}
    parts: list[Any] = [joint for joint in plant.joints if not isinstance(joint, (Free, Planar))]
    parts += [loop for loop in plant.loops if not isinstance(loop, CoordinateConstraint)]
    parts += [*stretchable(plant), *(f for f in plant.forces if isinstance(f, Bushing))]
    for part in parts:
        (a, at_a), (b, at_b) = ends(part)
        if not isinstance(part, _NO_POINT_ON_A):
            points[a].append(at_a)
        points[b].append(at_b)
    return {name: distinct(found, SAME * plant.size) for name, found in points.items()}


def distinct(points: list[Array], same: float) -> Array:
    """Points (k, 3) without repetitions."""
    kept: list[Array] = []
    for p in points:
        if not any(np.abs(p - k).max() <= same for k in kept):
            kept.append(p)
    return np.array(kept).reshape(-1, 3)


def carriers(plant: Mechanism, points: dict[str, Array]) -> set[str]:
    """Names of bodies that only carry joints: no mass, no shape, no two points."""
    return {b.name for b in plant.bodies if b.mass == 0.0 and not b.shapes and len(points[b.name]) < 2}


def plane_of_motion(plant: Mechanism) -> tuple[int, int] | None:
    """World axes (across, up) of the plane of all motion, if it is parallel to two of them; else None."""
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


def held_together(plant: Mechanism) -> list[tuple[str, str]]:
    """Pairs of bodies that a joint or a constraint connects."""
    parts = [*plant.joints, *(x for x in plant.loops if isinstance(x, (Joint, Constraint)))]
    return [(a, b) for (a, _), (b, _) in map(ends, parts)]

"""Points where parts of a machine are attached to its bodies, and the plane of its motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.elements import GROUND, MachinePart
from ..model.mechanism import Mechanism

__all__ = [
    "SAME",
    "STRETCHES",
    "attachments",
    "carriers",
    "distinct",
    "held_together",
    "plane_of_motion",
    "stretchable",
]

Array = NDArray[np.float64]
STRETCHES = ("spring", "damper", "rope")  # symbols
SAME = 1e-9  # of the size of the machine: points that are nearer are one


def stretchable(plant: Mechanism) -> list[MachinePart]:
    """Springs and force elements between two points."""
    return [part for part in (*plant.springs, *plant.forces) if part.symbol in STRETCHES]


def attachments(plant: Mechanism) -> dict[str, Array]:
    """Distinct points of each body, and of the ground, at which parts are attached, (k, 3) in its axes."""
    points: dict[str, list[Array]] = {name: [] for name in (GROUND, *(b.name for b in plant.bodies))}
    for part in (*plant.joints, *plant.loops, *plant.springs, *plant.forces):
        for body, point in (part.places[i] for i in part.fixed_at if part.places):
            points[body].append(point)
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
        if len(axes) > 1 or joint.has_quaternion or joint.pitch or joint.position_units == ("rad", "m"):
            return None
        turns += axes if "rad" in joint.position_units else []
        shifts += axes if joint.position_units == ("m",) else []
    fits = []
    for normal, plane in ((2, (0, 1)), (1, (0, 2)), (0, (1, 2))):
        flat = all(abs(abs(a[normal]) - 1.0) < 1e-9 for a in turns) and all(abs(a[normal]) < 1e-9 for a in shifts)
        if flat:
            fits.append((abs(float(plant.gravity[normal])), plane))
    return min(fits)[1] if fits else None


def held_together(plant: Mechanism) -> list[tuple[str, str]]:
    """Pairs of bodies that a joint or a constraint connects."""
    return [part.ends for part in (*plant.joints, *plant.loops) if part.ends]  # type: ignore[misc]

"""Proportions of a drawing: thickness of parts, and their heights in a machine that moves in a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.elements import GROUND, Body
from ..model.mechanism import Mechanism
from .attachments import SAME, attachments, carriers, held_together, plane_of_motion

__all__ = ["Proportions"]

Array = NDArray[np.float64]
Bar = tuple[Array, Array]

_WIDTH = 0.11  # of a bar, in lengths of the body in the middle;
_MOST = 0.06  # in sizes of the whole machine, which may be that one bar
_LEAST = 0.007  # in sizes of the whole machine: bars of many links stay visible,
_SLIM = 0.3  # as long as they are bars at all: width over length
_FLAT = 0.35  # thickness over width
_SEEN = 0.6  # of the width: joints of thinner bodies are drawn for this one
_ASIDE = 0.02  # of the size of the machine: a centre of mass that is farther off a line is not on it


class Proportions:
    """Sizes that the solids of a machine have in common.

    Attributes
    ----------
    plane : (int, int) or None
        World axes of the plane of all motion.
    normal : ndarray, shape (3,)
        Normal of that plane, in the world, towards the eye; zero where there is none.
    points : dict
        Points where parts are attached, by body.
    hidden : set of str
        Bodies that are not drawn.
    bars : dict of str to (ndarray, ndarray)
        Ends of the bodies that are bars.
    pistons : dict of str to str
        ``"barrel"`` or ``"rod"``, of bars that slide in each other.
    blocks : set of str
        Bodies that are blocks, or have shapes of their own: a slide needs no block for them.
    width, thickness : float
        Width and thickness of bars, m; the latter of those in a plane.
    length : float
        Length of the body in the middle, m.
    extent : float
        Extent of the whole machine, m.
    given : dict of str to ndarray
        Vertices of the shapes that bodies were given.
    heights : dict of str to float
        Heights of the middles of bodies along the normal, in the world, m; empty in space.
    spans : dict of str to (float, float)
        Heights of the lowest and highest points of bodies.
    """

    def __init__(self, plant: Mechanism) -> None:
        self.plant = plant
        self.plane = plane_of_motion(plant)
        self.normal = _towards_the_eye(self.plane)
        self.points = attachments(plant)
        self.hidden = carriers(plant, self.points)
        R, p = poses(plant, plant.neutral())
        self.frames = {name: (R[i], p[i]) for i, name in enumerate((GROUND, *(b.name for b in plant.bodies)))}
        shown = [b for b in plant.bodies if b.name not in self.hidden]
        self.given = {b.name: np.concatenate([s.triangles().vertices for s in b.shapes]) for b in shown if b.shapes}
        bars = {b.name: bar(b, self.points[b.name], plant.size) for b in shown}
        self.bars = {name: found for name, found in bars.items() if found is not None}
        self.lengths = {b.name: self._length(b) for b in shown}
        long = [length for length in self.lengths.values() if length > SAME * plant.size]
        self.length = float(np.median(long)) if long else plant.size
        self.extent = self._extent(shown)
        least = min(_LEAST * self.extent, _SLIM * self.length)
        self.width = max(min(_WIDTH * self.length, _MOST * self.extent), least)
        self.thickness = _FLAT * self.width
        self.pistons = self._pistons()
        self.blocks = {b.name for b in shown if b.shapes or (b.name not in self.bars and len(self.points[b.name]) < 2)}
        self.heights = self._heights(shown)
        self.spans = {b.name: self._span(b.name) for b in shown} if self.plane is not None else {}

    def _length(self, body: Body) -> float:
        points = np.array(self.bars.get(body.name, self.given.get(body.name, self.points[body.name])))
        return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0

    def _extent(self, shown: list[Body]) -> float:
        """Diagonal of the box around all points, at zero."""
        places = [self.world(name, found) for name, found in self.points.items() if len(found)]
        places += [self.world(b.name, np.array(self.bars.get(b.name, [b.com]))) for b in shown]
        corners = np.concatenate(places) if places else np.zeros((1, 3))
        return max(float(np.linalg.norm(np.ptp(corners, axis=0))), self.length)

    def world(self, body: str, points: Array) -> Array:
        """Positions in the world of points of a body, at zero."""
        R, p = self.frames[body]
        return p + np.atleast_2d(points) @ R.T

    def axis_in(self, body: str) -> Array:
        """Normal of the plane, in the axes of a body."""
        return self.frames[body][0].T @ self.normal

    def width_of(self, body: str) -> float:
        """Width of the bar for a body: short ones are slimmer; for a body with shapes, its middle extent."""
        if body in self.given:
            x = self.given[body] - self.given[body].mean(axis=0)
            along = np.linalg.svd(x, full_matrices=False)[2] if len(x) < 2000 else np.linalg.eigh(x.T @ x)[1].T
            return float(np.clip(np.sort(np.ptp(x @ along.T, axis=0))[1], _SEEN * self.width, self.width))
        length = self.lengths.get(body, 0.0)
        return min(self.width, _SLIM * length) if length > SAME * self.plant.size else self.width

    def width_at(self, *bodies: str) -> float:
        """Width of the slimmest of some bodies, for the joint between them."""
        return min([self.width, *(self.width_of(name) for name in bodies if name in self.lengths)])

    def _pistons(self) -> dict[str, str]:
        """Bars on the axis along which they slide in each other: a barrel and its rod."""
        found: dict[str, str] = {}
        joint: Any
        for joint in (part for part in (*self.plant.joints, *self.plant.loops) if part.slides):
            if all(self._along(body, point, axis) for body, point, axis in sliding_ends(joint)):
                found.setdefault(joint.parent, "barrel")
                found.setdefault(joint.child, "rod")
        return found

    def _along(self, body: str, point: Array, axis: Array) -> bool:
        if body not in self.bars:
            return False
        off = np.array(self.bars[body]) - point
        return bool(np.linalg.norm(off - np.outer(off @ axis, axis), axis=1).max() < _ASIDE * self.plant.size)

    def _heights(self, shown: list[Body]) -> dict[str, float]:
        """Heights of bodies along the normal of the plane, in the world: connected bodies lie on each other.

        Bodies take the lowest layer that none of their neighbours has; barrel and rod share one. A little more for each
        body, long ones first, keeps surfaces apart that cross without being joined.
        """
        if self.plane is None:
            return {}
        long_first = sorted(shown, key=lambda b: -self.lengths[b.name])
        own = {b.name: self._own_height(b) for b in long_first}
        pairs = [pair for pair in held_together(self.plant) if pair[0] in own and pair[1] in own]
        inside = {rod: barrel for barrel, rod in pairs if self.pistons.get(rod) == "rod" and barrel in self.pistons}
        beside: dict[str, set[str]] = {name: set() for name in own}
        for pair in pairs:
            a, b = (inside.get(name, name) for name in pair)
            if a != b:
                beside[a].add(b)
                beside[b].add(a)
        layer: dict[str, int] = {}
        for name in own:
            if name not in inside:
                taken = {layer[other] for other in beside[name] if other in layer}
                layer[name] = next(k for k in range(len(taken) + 1) if k not in taken)
        step = 1.25 * self.thickness  # layers do not touch
        apart = min(0.01 * step, 0.2 * step / max(len(own), 1))
        heights = {name: own[name] + layer[inside.get(name, name)] * step + i * apart for i, name in enumerate(own)}
        middle = 0.5 * step * max(layer.values(), default=0)
        return {name: height - middle for name, height in heights.items()}

    def _span(self, body: str) -> tuple[float, float]:
        """Heights of the lowest and the highest point of a body along the normal, in the world."""
        if body in self.given:
            heights = self.world(body, self.given[body]) @ self.normal
            return float(heights.min()), float(heights.max())
        rise = self.piston_radius(body) if body in self.pistons else 0.5 * self.thickness
        return self.heights[body] - rise, self.heights[body] + rise

    def piston_radius(self, body: str) -> float:
        """Radius of a barrel or its rod: from the diameters of a `Cylinder`, if these are large enough to be seen."""
        radius = {"barrel": 0.5, "rod": 0.25}[self.pistons[body]] * self.width_of(body)
        for cylinder in self.plant.cylinders:
            diameter = {f"{cylinder.name}_barrel": cylinder.bore, f"{cylinder.name}_rod": cylinder.rod}.get(body)
            radius = radius if diameter is None else max(0.5 * diameter, 0.7 * radius)
        return radius

    def lift(self, body: str, point: Array) -> Array:
        """Displacement of a point of a body to the middle of its layer, in its axes; zero in space."""
        if self.plane is None:
            return np.zeros(3)
        off = self.heights[body] - float((self.world(body, point) @ self.normal)[0])
        return off * self.axis_in(body)

    def _own_height(self, body: Body) -> float:
        if body.name in self.given:
            return float((self.world(body.name, self.given[body.name]) @ self.normal).mean())
        points = self.points[body.name]
        return float((self.world(body.name, points if len(points) else body.com) @ self.normal).mean())


def poses(plant: Mechanism, q: Any) -> tuple[Array, Array]:
    """Rotations (bodies, 3, 3) and origins (bodies, 3) of the ground and all bodies in the world."""
    R, p = plant.link_poses(q)
    R, p = np.concatenate([R, np.eye(3)[None]]), np.concatenate([p, np.zeros((1, 3))])  # link -1 is the ground
    names = (GROUND, *(b.name for b in plant.bodies))
    link = np.array([plant.link_index(name) for name in names])
    inside = [plant._compiled.frame_of[name] for name in names]
    turned = np.einsum("nij,nkj->nik", R[link], np.array([frame.R for frame in inside]))
    return turned, p[link] - np.einsum("nij,nj->ni", turned, np.array([frame.p for frame in inside]))


def bar(body: Body, points: Array, size: float) -> Bar | None:
    """Ends of a body that is a bar, in its axes; None for other bodies.

    Its points lie on a line with its centre of mass; or there is one, and the bar is the uniform one with this centre
    and inertia, which ends at the centre itself for a point mass.
    """
    beside = points[np.linalg.norm(points - body.com, axis=1) > SAME * size]
    if len(beside) == 1:  # a joint at the centre of mass says nothing of the shape
        away = body.com - beside[0]
        reach = float(np.linalg.norm(away))
        along = away / reach
        spread = max(0.5 * np.trace(body.inertia) - along @ body.inertia @ along, 0.0)
        far = reach + np.sqrt(3.0 * spread / body.mass) if body.mass > 0.0 else reach
        return beside[0], beside[0] + far * along
    if len(points) < 2:
        return None
    centre = points.mean(axis=0)
    sigma, Vt = np.linalg.svd(points - centre, full_matrices=False)[1:]
    if sigma[1] > 1e-6 * sigma[0]:
        return None
    off = body.com - centre
    if body.mass > 0.0 and np.linalg.norm(off - (off @ Vt[0]) * Vt[0]) > _ASIDE * size:
        return None
    along = (points - centre) @ Vt[0]
    return points[along.argmin()], points[along.argmax()]


def sliding_ends(joint: Any) -> tuple[tuple[str, Array, Array], tuple[str, Array, Array]]:
    """Body, point and direction of a slide, for its parent and for its child."""
    axis = np.asarray(joint.axis)  # type: ignore[attr-defined]
    (a, at_a), (b, at_b) = joint.places
    return (a, at_a, joint.frame.R @ axis), (b, at_b, joint.child_frame.R @ axis)


def _towards_the_eye(plane: tuple[int, int] | None) -> Array:
    if plane is None:
        return np.zeros(3)
    return np.cross(np.eye(3)[plane[0]], np.eye(3)[plane[1]])

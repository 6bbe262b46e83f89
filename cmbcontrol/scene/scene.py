"""Scene of a machine: solids that move with its bodies, and parts that stretch between two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import ModelError
from ..model.elements import GROUND, Shape
from ..model.mechanism import Mechanism
from .attachments import held_together
from .colors import GROUND_COLOR, INK, JOINT, LOOP, body_colors
from .deduced import deduced_shapes
from .joints import Between, Track, ground_points, placed_parts, stretched_parts
from .proportions import Proportions

__all__ = ["Scene", "Solid", "Spot", "Stretched", "has_look", "scene"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solid:
    """Closed surface of triangles that moves with a body.

    Attributes
    ----------
    body : str
        The body that it moves with, or ``"ground"``.
    kind : str
        ``"body"`` for the body itself, ``"joint"``, ``"loop"`` (a joint or point where a loop closes), ``"ground"``
        (a support).
    name : str
        Name of the body, joint or constraint that it shows.
    vertices : ndarray, shape (n, 3)
        Vertices in the axes of the body, m.
    faces : ndarray of int, shape (m, 3)
        Triangles, counter-clockwise from outside.
    color : str
        ``"#RRGGBB"``.
    smooth : bool
        Whether the surface is curved, so that shading runs across its triangles; else edges show.
    """

    body: str
    kind: str
    name: str
    vertices: Array
    faces: NDArray[np.int32]
    color: str
    smooth: bool = False


@dataclass(frozen=True)
class Stretched:
    """Part between a point of one body and a point of another: a rod, a spring, a rope, a guide.

    Attributes
    ----------
    kind : str
        ``"rod"`` (massless rod of a distance constraint), ``"spring"``, ``"damper"``, ``"rope"``, ``"guide"``
        (a line along which something slides).
    name : str
        Name of the part of the machine.
    radius : float
        Radius of the rod, or of the coil, m.
    color : str
    """

    kind: str
    name: str
    radius: float
    color: str


@dataclass(frozen=True)
class Spot:
    """Point that may leave a trace: of a joint, of a closing loop, or a centre of mass.

    Attributes
    ----------
    kind : str
        ``"joint"``, ``"loop"`` or ``"centre"``.
    name : str
        Name of the joint, constraint or body.
    body : str
    point : ndarray, shape (3,)
        In the axes of the body, m.
    """

    kind: str
    name: str
    body: str
    point: Array


class Scene:
    """Appearance of a machine for any drawing: matplotlib, the viewer, a program of the user.

    Attributes
    ----------
    name : str
        Name of the plant.
    plane : (int, int) or None
        World axes (across, up) of the plane in which all moves; None where the machine moves in space.
    down : ndarray, shape (3,)
        Direction of gravity; zero where there is none.
    size : float
        Size of the machine, m: the diagonal of the drawing, at zero.
    width : float
        Width of a bar, m.
    bodies : tuple of str
        ``"ground"`` first, then the bodies in the order of `poses`.
    solids : tuple of Solid
    stretched : tuple of Stretched
    spots : tuple of Spot
        Joints, closing points and centres of mass.
    supports : ndarray, shape (k, 3)
        Points of the ground that carry the machine, in the world.
    """

    name: str
    plane: tuple[int, int] | None
    down: Array
    size: float
    width: float
    bodies: tuple[str, ...] = (GROUND,)
    solids: tuple[Solid, ...] = ()
    stretched: tuple[Stretched, ...] = ()
    spots: tuple[Spot, ...] = ()
    supports: Array = np.zeros((0, 3))

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Origins (bodies, 3) and rotation matrices (bodies, 3, 3) of all bodies in the world at q (nq,)."""
        return np.zeros((1, 3)), np.eye(3)[None]

    def ends(self, q: Array) -> Array:
        """Both ends of all parts that stretch, in the world: (stretched, 2, 3)."""
        return np.zeros((0, 2, 3))

    def lines(self, q: Array) -> list[Array]:
        """Lines that a plant given by functions draws itself, each (points, 3); none for a `Mechanism`."""
        return []

    def points(self, q: Array) -> Array:
        """All vertices of the solids, ends of stretched parts and points of lines, in the world, (n, 3)."""
        p, R = self.poses(q)
        index = {name: i for i, name in enumerate(self.bodies)}
        found = [np.asarray(s.vertices) @ R[i].T + p[i] for s in self.solids for i in (index[s.body],)]
        return np.concatenate([np.zeros((0, 3)), *found, self.ends(q).reshape(-1, 3), *self.lines(q)])


def has_look(plant: Any) -> bool:
    """Whether the appearance of a plant is known.

    Parameters
    ----------
    plant : Plant

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> has_look(plants.five_bar())
    True
    """
    _check.plant(plant)
    return isinstance(plant, Mechanism) or plant.sketch is not None


def scene(plant: Any) -> Scene:
    """Scene of a plant, from which it can be drawn.

    Parameters
    ----------
    plant : Mechanism, or FunctionPlant with a sketch

    Returns
    -------
    Scene

    Raises
    ------
    ModelError
        Where a plant given by functions has no sketch.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> seen = scene(plants.five_bar())
    >>> seen.plane, [solid.name for solid in seen.solids if solid.kind == "loop"]
    ((0, 1), ['tip'])
    """
    _check.plant(plant)
    if isinstance(plant, Mechanism):
        return _MechanismScene(plant)
    if not has_look(plant):
        raise ModelError(
            f"plant {plant.name!r} is given by functions and does not say what it looks like; "
            "build it with sketch=, a function q -> list of lines, each (points, 2) or (points, 3) in metres"
        )
    return _FunctionScene(plant)


class _MechanismScene(Scene):
    """Scene of a mechanism: solids of the bodies, their own or deduced ones, and of joints."""

    def __init__(self, plant: Mechanism) -> None:
        of = Proportions(plant)
        self._plant = plant
        self.name, self.plane = str(plant.name), of.plane
        self.width = of.width
        weight = float(np.linalg.norm(plant.gravity))
        self.down = plant.gravity / weight if weight > 0.0 else np.zeros(3)
        self.bodies = (GROUND, *(b.name for b in plant.bodies))
        self.supports = ground_points(of)
        colors = body_colors(self.bodies[1:], held_together(plant))
        solids = []
        for body in plant.bodies:
            shapes: Sequence[Shape] = body.shapes or (() if body.name in of.hidden else deduced_shapes(body, of))
            solids += [_solid(body.name, "body", body.name, shape, colors[body.name]) for shape in shapes]
        shown = {"joint": JOINT, "loop": LOOP, "ground": GROUND_COLOR}
        solids += [_solid(part.body, part.kind, part.name, part.shape, shown[part.kind]) for part in placed_parts(of)]
        self.solids = tuple(solids)
        parts = stretched_parts(of)
        self.stretched = tuple(_stretched(part, of) for part in parts)
        self.spots = tuple(_spots(of))
        self._set_poses()
        self._set_ends(parts)
        self.size = float(np.linalg.norm(np.ptp(self.points(plant.neutral()), axis=0))) or plant.size

    def _set_poses(self) -> None:
        plant = self._plant
        inside = [plant._compiled.frame_of[name] for name in self.bodies]
        self._link = np.array([plant.link_index(name) for name in self.bodies])
        self._p, self._R = np.array([f.p for f in inside]), np.array([f.R for f in inside])

    def poses(self, q: Array) -> tuple[Array, Array]:
        R, p = self._plant.link_poses(q)
        R, p = np.concatenate([R, np.eye(3)[None]]), np.concatenate([p, np.zeros((1, 3))])  # link -1 is the ground
        turned = np.einsum("nij,nkj->nik", R[self._link], self._R)
        return p[self._link] - np.einsum("nij,nj->ni", turned, self._p), turned

    def _set_ends(self, parts: list[Between]) -> None:
        index = {name: i for i, name in enumerate(self.bodies)}
        self._ends = np.array([[index[part.a], index[part.b]] for part in parts], dtype=int).reshape(-1, 2)
        self._points = np.array([[part.point_a, part.point_b] for part in parts]).reshape(-1, 2, 3)
        self._tracks = [(i, part) for i, part in enumerate(parts) if isinstance(part, Track)]

    def ends(self, q: Array) -> Array:
        p, R = self.poses(q)
        found = p[self._ends] + np.einsum("nkij,nkj->nki", R[self._ends], self._points)
        for i, track in self._tracks:
            start, there = found[i]
            along = R[self._ends[i, 0]] @ track.axis
            travel = float((there - start) @ along)
            reach = np.array([min(0.0, travel) - track.reach, max(0.0, travel) + track.reach])
            found[i] = start + reach[:, None] * along
        return found


class _FunctionScene(Scene):
    """Scene of a plant given by functions: lines that the plant draws itself."""

    def __init__(self, plant: Any) -> None:
        self._sketch: Callable[[Array], Sequence[ArrayLike]] = plant.sketch
        self.name, self.size = str(plant.name), float(plant.size)
        self.width = 0.05 * self.size
        lines = [np.asarray(line, dtype=np.float64) for line in plant.sketch(plant.neutral())]
        if not lines or any(line.ndim != 2 or line.shape[1] not in (2, 3) for line in lines):
            raise ModelError(
                f"plant {plant.name!r}: sketch(q) must return lines of shape (points, 2) or (points, 3), "
                f"got shapes {[line.shape for line in lines]}"
            )
        self.plane = (0, 1) if all(line.shape[1] == 2 for line in lines) else None
        self.down = np.array([0.0, -1.0, 0.0]) if self.plane else np.array([0.0, 0.0, -1.0])

    def lines(self, q: Array) -> list[Array]:
        lines = [np.atleast_2d(np.asarray(line, dtype=np.float64)) for line in self._sketch(q)]
        return [np.pad(line, ((0, 0), (0, 3 - line.shape[1]))) for line in lines]


def _solid(body: str, kind: str, name: str, shape: Shape, color: str) -> Solid:
    vertices, faces, smooth = shape.triangles()
    return Solid(body, kind, name, vertices, faces, (shape.color or color).upper(), smooth)


def _stretched(part: Between, of: Proportions) -> Stretched:
    radius = {"rod": 0.16, "spring": 0.45, "damper": 0.3, "rope": 0.08, "guide": 0.06}[part.kind] * of.width
    return Stretched(part.kind, part.name, radius, GROUND_COLOR if part.kind == "guide" else INK)


def _spots(of: Proportions) -> list[Spot]:
    plant = of.plant
    found = [
        Spot("joint", joint.name, *joint.places[1])
        for joint in plant.joints
        if joint.symbol not in ("", "weld") and not set(joint.ends) & of.hidden
    ]
    found += [Spot("loop", loop.name, *loop.places[1]) for loop in plant.loops if loop.places]
    found += [Spot("centre", b.name, b.name, np.asarray(b.com)) for b in plant.bodies if b.mass > 0.0]
    return found

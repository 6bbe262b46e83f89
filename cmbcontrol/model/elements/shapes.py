"""Solids that show bodies in pictures, in their axes. Nothing of the mechanics depends on them."""

from __future__ import annotations

import math
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._frozen import Held, HeldArray, frozen, set_fields
from ...errors import InputError, ModelError
from .bodies import Shape, Triangles
from .frames import Frame, rotation_to
from .mesh_files import read_mesh

__all__ = ["Ball", "Box", "Mesh", "Plate", "Rod"]

Array = NDArray[np.float64]

_AROUND = 24  # facets around: a circle is off by 0.9 % of its radius, which a picture does not show
_POINTS = 500  # of an outline at most: the effort of its triangles grows with the square


@frozen
class Box(Shape):
    """Solid box.

    Parameters
    ----------
    size : array_like, shape (3,)
        Lengths of its edges along x, y and z of `frame`, m.
    frame : Frame
        Frame at its centre.
    color : str, optional
        ``"#RRGGBB"``; by default the machine's drawing chooses one.

    Raises
    ------
    ValueError
        If a length is not above zero.

    Examples
    --------
    >>> Box((0.4, 0.2, 0.1), Frame((0.2, 0, 0))).triangles().vertices.max(axis=0)
    array([0.4 , 0.1 , 0.05])
    """

    size: HeldArray
    frame: Frame = field(default_factory=Frame)

    def __post_init__(self) -> None:
        super().__post_init__()
        size = _check.vector(self.size, 3, "the size of a box")
        if size.min() <= 0.0:
            raise InputError(f"the size of a box is three lengths > 0, got {size.tolist()} m")
        _check.instance(self.frame, Frame, "the frame of a box")
        set_fields(self, size=size)

    @property
    def primitive(self) -> tuple[str, Frame, dict[str, Any]]:
        return "box", self.frame, {"size": self.size}

    def triangles(self) -> Triangles:
        half = 0.5 * np.asarray(self.size)
        square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * half[:2]
        return _extruded(square, [(0, 1, 2), (0, 2, 3)], half[2], self.frame)

    def moved(self, frame: Frame) -> Box:
        return replace(self, frame=frame @ self.frame)


@frozen
class Rod(Shape):
    """Round bar between two points; a disc or a wheel, where it is shorter than thick.

    Parameters
    ----------
    start, end : array_like, shape (3,)
        End points on its axis, m.
    radius : float
        m.
    rounded : bool
        Whether there are half balls around both points, which reach beyond them by the radius; otherwise the ends are
        flat.
    color : str, optional
        ``"#RRGGBB"``; by default the machine's drawing chooses one.

    Raises
    ------
    ModelError
        If both points are the same.

    Examples
    --------
    >>> Rod((0, 0, 0), (0, 0, 1.5), radius=0.1).triangles().vertices[:, 2].max()
    np.float64(1.5)
    """

    start: HeldArray
    end: HeldArray
    radius: float
    rounded: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        start, end = (_check.point(getattr(self, key), f"the {key} of a rod") for key in ("start", "end"))
        radius = _check.positive(self.radius, "the radius of a rod")
        if not 0.0 < math.dist(start, end) < math.inf:
            raise ModelError(f"a rod needs two different points, got {start.tolist()} twice; for a sphere use Ball")
        set_fields(self, start=start, end=end, radius=radius, rounded=_check.flag(self.rounded, "rounded of a rod"))

    @property
    def length(self) -> float:
        """Length from start to end, m."""
        return math.dist(np.asarray(self.start), np.asarray(self.end))

    @property
    def frame(self) -> Frame:
        """Frame at the middle, with z along the axis."""
        start, end = np.asarray(self.start), np.asarray(self.end)
        return Frame(0.5 * (start + end), rotation_to((end - start) / self.length))

    @property
    def primitive(self) -> tuple[str, Frame, dict[str, Any]]:
        return "capsule" if self.rounded else "cylinder", self.frame, {"radius": self.radius, "length": self.length}

    def triangles(self) -> Triangles:
        r, length = self.radius, self.length
        frame = Frame(self.start, self.frame.R)
        if self.rounded:
            ball, equator = _half_circle(r), _AROUND // 4
            return _revolved([np.vstack([ball[: equator + 1], ball[equator:] + np.array([0.0, length])])], frame)
        sharp = [[(0, 0), (r, 0)], [(r, 0), (r, length)], [(r, length), (0, length)]]
        return _revolved([np.array(piece, dtype=float) for piece in sharp], frame)

    def moved(self, frame: Frame) -> Rod:
        return replace(self, start=_seen(frame, self.start), end=_seen(frame, self.end))


@frozen
class Ball(Shape):
    """Solid ball.

    Parameters
    ----------
    centre : array_like, shape (3,)
        m.
    radius : float
        m.
    color : str, optional
        ``"#RRGGBB"``; by default the machine's drawing chooses one.

    Examples
    --------
    >>> Ball((0, 0, 0.3), 0.05).triangles().vertices[:, 2].max().round(3)
    np.float64(0.35)
    """

    centre: HeldArray
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        centre = _check.point(self.centre, "the centre of a ball")
        set_fields(self, centre=centre, radius=_check.positive(self.radius, "the radius of a ball"))

    @property
    def primitive(self) -> tuple[str, Frame, dict[str, Any]]:
        return "sphere", Frame(self.centre), {"radius": self.radius}

    def triangles(self) -> Triangles:
        return _revolved([_half_circle(self.radius)], Frame(self.centre))

    def moved(self, frame: Frame) -> Ball:
        return replace(self, centre=_seen(frame, self.centre))


@frozen
class Plate(Shape):
    """Flat plate of any outline.

    Parameters
    ----------
    outline : array_like, shape (k, 2)
        The corners, one after the other, either way round, in x and y of `frame`, m. It may be concave; it must not
        touch or cross itself.
    thickness : float
        Thickness along z of `frame`, half of it on either side, m.
    frame : Frame
    color : str, optional
        ``"#RRGGBB"``; by default the machine's drawing chooses one.

    Raises
    ------
    ModelError
        If the outline touches or crosses itself, or a corner is given twice; the message names the corners.

    Examples
    --------
    >>> corner = Plate([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], thickness=0.1)
    >>> len(corner.triangles().faces)  # four each above and below, twelve around
    20
    """

    outline: HeldArray
    thickness: float
    frame: Frame = field(default_factory=Frame)

    def __post_init__(self) -> None:
        super().__post_init__()
        outline = _check.numbers(self.outline, "the outline of a plate", "corners (x, y)")
        if outline.ndim != 2 or outline.shape[1] != 2 or not 3 <= len(outline) <= _POINTS:
            raise InputError(
                f"the outline of a plate must have shape (k, 2), from 3 to {_POINTS} corners (x, y), "
                f"got shape {outline.shape}"
            )
        outline = _check.matrix(outline, outline.shape, "the outline of a plate")
        _refuse_crossings(outline)
        _check.instance(self.frame, Frame, "the frame of a plate")
        set_fields(self, outline=outline, thickness=_check.positive(self.thickness, "the thickness of a plate"))

    @classmethod
    def bar(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        width: float,
        thickness: float,
        *,
        z: float = 0.0,
        color: str | None = None,
    ) -> Plate:
        """Flat bar in the xy plane with round ends about two points, as between two pins.

        Parameters
        ----------
        start, end : array_like, shape (2,) or (3,)
            The pins, m; of the z of both, their mean counts.
        width, thickness : float
            Sizes across the bar in the plane, and along z, m.
        z : float
            Added to the height of its middle, m: links that pass each other lie in planes of their own.
        color : str, optional

        Examples
        --------
        >>> Plate.bar((0, 0), (1, 0), width=0.1, thickness=0.02).triangles().vertices.max(axis=0).round(3)
        array([1.05, 0.05, 0.01])
        """
        a, b = (_check.numbers(p, "the end of a bar", "two or three coordinates") for p in (start, end))
        a, b = (_check.point(np.append(p, 0.0) if p.shape == (2,) else p, "the end of a bar") for p in (a, b))
        radius = 0.5 * _check.positive(width, "the width of a bar")
        along = (b - a)[:2]
        if not 0.0 < (length := math.hypot(*along)) < math.inf:
            raise ModelError(f"a bar needs two points that differ in x or y, got {a.tolist()} and {b.tolist()}")
        turns = np.linspace(-0.5, 0.5, _AROUND // 2 + 1) * math.pi
        half = radius * np.column_stack([np.cos(turns), np.sin(turns)])
        outline = np.vstack([half + np.array([length, 0.0]), -half])
        x, y = along / length
        middle = (a[0], a[1], 0.5 * (a[2] + b[2]) + _check.number(z, "z of a bar"))
        return cls(outline @ np.array([[x, y], [-y, x]]), thickness, Frame(middle), color=color)

    def triangles(self) -> Triangles:
        outline = np.asarray(self.outline)
        if _area(outline) < 0.0:
            outline = outline[::-1]
        return _extruded(outline, _ears(outline), 0.5 * self.thickness, self.frame)

    def moved(self, frame: Frame) -> Plate:
        return replace(self, frame=frame @ self.frame)


@frozen
class Mesh(Shape):
    """Surface of triangles.

    Parameters
    ----------
    vertices : array_like, shape (n, 3)
        m.
    faces : array_like of int, shape (m, 3)
        Three vertices each, counted from 0, counter-clockwise from outside.
    smooth : bool
        Whether it is curved: shading then runs across triangles.
    color : str, optional
        ``"#RRGGBB"``; by default the machine's drawing chooses one.

    Raises
    ------
    ValueError
        If a face names a vertex that does not exist, or one twice.

    Examples
    --------
    >>> wedge = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    >>> wedge.triangles().faces.shape
    (4, 3)
    """

    vertices: HeldArray
    faces: Held[ArrayLike, NDArray[np.int32]]
    smooth: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        vertices = _check.numbers(self.vertices, "the vertices of a mesh", "points (x, y, z)")
        faces = _check.numbers(self.faces, "the faces of a mesh", "triples of whole numbers")
        for x, what in ((vertices, "vertices"), (faces, "faces")):
            if x.ndim != 2 or x.shape[1] != 3 or not len(x):
                raise InputError(f"the {what} of a mesh must have shape (n, 3), got shape {x.shape}")
        if not np.isfinite(vertices).all():
            first = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
            raise InputError(f"the vertices of a mesh must be finite, but vertex {first} is {vertices[first].tolist()}")
        wrong = (faces != np.floor(faces)) | (faces < 0) | (faces >= len(vertices))
        twice = (faces == np.roll(faces, 1, axis=1)).any(axis=1)
        if (bad := np.flatnonzero(wrong.any(axis=1) | twice)).size:
            raise InputError(
                f"a face of a mesh names three different ones of its {len(vertices)} vertices, counted from 0, "
                f"and face {bad[0]} is {faces[bad[0]].tolist()}"
            )
        smooth = _check.flag(self.smooth, "smooth of a mesh")
        set_fields(self, vertices=vertices, faces=faces.astype(np.int32), smooth=smooth)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        scale: float = 1.0,
        *,
        frame: Frame | None = None,
        most: int | None = 2000,
        smooth: bool = False,
        color: str | None = None,
    ) -> Mesh:
        r"""Mesh read from a file: STL (binary or text) or OBJ.

        Parameters
        ----------
        path : str or Path
            Path of the file; its ending decides the format.
        scale : float
            Metres in one unit of the file: 0.001 for one in millimetres.
        frame : Frame, optional
            Frame of the file's axes on the body.
        most : int or None
            Largest number of triangles: finer meshes, such as those of construction programs, are `reduced`. None keeps
            all.
        smooth : bool
            Whether shading runs across triangles.
        color : str, optional

        Raises
        ------
        FileError
            If it cannot be read, or holds no triangles; the message has the line.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "roof.obj")
        ...     _ = file.write_text("v 0 0 0\nv 1000 0 0\nv 1000 1000 0\nf 1 2 3\n")
        ...     Mesh.from_file(file, scale=0.001).triangles().faces.tolist()
        [[0, 1, 2]]
        """
        scale = _check.positive(scale, "the scale of a mesh")
        vertices, faces = read_mesh(_check.path(path))
        made = cls(scale * vertices, faces, smooth, color=color)
        if most is not None:
            made = made.reduced(most)
        return made if frame is None else made.moved(_check.instance(frame, Frame, "the frame of a mesh"))

    def reduced(self, most: int) -> Mesh:
        """Mesh of at most `most` triangles with a similar look: vertices within a cell of a grid become one.

        A closed surface stays one. It is the finest regular grid, of up to 1024 cells along the mesh, that gives so few
        triangles.

        Raises
        ------
        ModelError
            If nothing would be left.

        Examples
        --------
        >>> fine = Mesh(*Ball((0, 0, 0), 1.0).triangles())
        >>> len(fine.faces), len(fine.reduced(200).faces) <= 200
        (528, True)
        """
        most = _check.count(most, "most, of the triangles of a mesh,", 4)
        vertices, faces = np.asarray(self.vertices), np.asarray(self.faces)
        if len(faces) <= most:
            return self
        best, low, high = None, 1, 1025  # cells along the mesh: too few triangles never, too many perhaps
        while high - low > 1:
            cells = (low + high) // 2
            found = _merged(vertices, faces, cells)
            if len(found[1]) > most:
                high = cells
            else:
                best, low = (found if len(found[1]) else best), cells
        if best is None:
            raise ModelError(f"a mesh of {len(faces)} triangles cannot be reduced to {most}; allow more of them")
        return replace(self, vertices=best[0], faces=best[1])

    def triangles(self) -> Triangles:
        return Triangles(np.array(self.vertices), np.array(self.faces), self.smooth)

    def moved(self, frame: Frame) -> Mesh:
        return replace(self, vertices=_seen(frame, self.vertices))


def _merged(vertices: Array, faces: NDArray[np.integer], cells: int) -> tuple[Array, NDArray[np.int32]]:
    """Mesh whose vertices within a cell of a grid are one, at their mean, without triangles of no area."""
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    place = np.floor((vertices - low) * (cells / size)).astype(np.int64) if size else np.zeros(vertices.shape, np.int64)
    _, cell, count = np.unique(place @ (1, 2048, 2048**2), return_inverse=True, return_counts=True)
    merged = np.column_stack([np.bincount(cell, weights=x) / count for x in vertices.T])
    faces = cell[faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    # of two sides of a thin wall that are one now, nothing is left: opposite triangles cancel, the surface stays closed
    least = np.argmin(faces, axis=1)[:, None]
    faces = np.take_along_axis(faces, (least + np.arange(3)) % 3, axis=1)  # the smallest number first
    n = len(merged)  # below 2 million, as the files are bounded: n^3 is a whole number of 64 bits
    keys, first, many = np.unique(faces @ (n * n, n, 1), return_index=True, return_counts=True)
    faces = faces[first]
    opposite = faces @ (n * n, 1, n)
    at = np.minimum(np.searchsorted(keys, opposite), len(keys) - 1)
    left = np.maximum(many - np.where(keys[at] == opposite, many[at], 0), 0) if len(keys) else many
    used, number = np.unique(np.repeat(faces, left, axis=0), return_inverse=True)
    return merged[used], number.reshape(-1, 3).astype(np.int32)


def _seen(frame: Frame, points: ArrayLike) -> Array:
    """Points (3,) or (n, 3) that are given in a frame, in the axes in which that frame is given."""
    return np.asarray(points) @ np.asarray(frame.R).T + frame.p


# -- bodies of revolution --------------------------------------------------------------------------------------------


def _half_circle(radius: float) -> Array:
    """Points (distance from the axis, height) from the lower pole of a ball to the upper one."""
    turns = np.linspace(-0.5, 0.5, _AROUND // 2 + 1) * math.pi
    profile = radius * np.column_stack([np.cos(turns), np.sin(turns)])
    profile[[0, -1], 0] = 0.0
    return profile


def _revolved(profiles: list[Array], frame: Frame) -> Triangles:
    """Surface of profiles (distance from z, height), from below to above, turned around z of a frame.

    Each profile has its own vertices: at the common points of two of them, the surface has an edge.
    """
    turns = np.arange(_AROUND) * (2.0 * math.pi / _AROUND)
    around = np.column_stack([np.cos(turns), np.sin(turns)])
    vertices: list[Array] = []
    faces: list[Array] = []
    count = 0
    for profile in profiles:
        rings = []
        for r, z in profile:
            ring = np.column_stack([r * around, np.full(_AROUND, z)]) if r else np.array([[0.0, 0.0, z]])
            rings.append(count + np.arange(_AROUND) % len(ring))
            vertices.append(ring)
            count += len(ring)
        for low, high in pairwise(rings):
            next_low, next_high = np.roll(low, -1), np.roll(high, -1)
            both = np.vstack([np.column_stack([low, next_low, next_high]), np.column_stack([low, next_high, high])])
            at_pole = (both == np.roll(both, 1, axis=1)).any(axis=1)
            faces.append(both[~at_pole])
    return Triangles(_seen(frame, np.vstack(vertices)), np.vstack(faces).astype(np.int32), True)


# -- plates ----------------------------------------------------------------------------------------------------------


def _extruded(outline: Array, cover: list[tuple[int, int, int]], half: float, frame: Frame) -> Triangles:
    """Surface between two copies of a counter-clockwise outline, covered by triangles, at -half and half."""
    k = len(outline)
    here, there = np.arange(k), np.roll(np.arange(k), -1)
    above = np.array(cover)
    sides = [np.column_stack([here, there, there + k]), np.column_stack([here, there + k, here + k])]
    vertices = np.vstack([np.column_stack([outline, np.full(k, z)]) for z in (-half, half)])
    return Triangles(_seen(frame, vertices), np.vstack([above[:, ::-1], above + k, *sides]).astype(np.int32), False)


def _area(outline: Array) -> float:
    """Area enclosed by an outline; negative where it goes round clockwise."""
    x, y = (outline - outline[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Twice the area of triangles a, b, c: above zero where they go round counter-clockwise."""
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])


def _refuse_crossings(outline: Array) -> None:
    """Raise an error for an outline that touches or crosses itself."""
    k = len(outline)
    what = "the outline of a plate"
    low, size = outline.min(axis=0), float(np.ptp(outline, axis=0).max())
    if not 0.0 < size < math.inf:
        raise ModelError(f"{what} needs corners at different points, got {_check.shown(outline.tolist())}")
    a = (outline - low) / size  # of size one, so that products are numbers
    order = np.lexsort(a.T)
    same = np.flatnonzero((a[order[1:]] == a[order[:-1]]).all(axis=1))
    if same.size:
        i, j = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        closing = "; the last corner need not be the first one again" if (i, j) == (0, k - 1) else ""
        raise ModelError(f"{what} has {outline[i].tolist()} twice, as corners {i} and {j} of {k}{closing}")
    before, b = np.roll(a, 1, axis=0), np.roll(a, -1, axis=0)
    spikes = (_turn(before, a, b) == 0.0) & (((a - before) * (b - a)).sum(axis=1) < 0.0)
    if spikes.any():
        raise ModelError(f"{what} goes back on itself at corner {int(np.flatnonzero(spikes)[0])}; leave that one out")
    p, q, r, s = a[:, None], b[:, None], a[None], b[None]
    meet = (_turn(p, q, r) * _turn(p, q, s) <= 0.0) & (_turn(r, s, p) * _turn(r, s, q) <= 0.0)
    near = (np.minimum(p, q) <= np.maximum(r, s)) & (np.minimum(r, s) <= np.maximum(p, q))
    meet &= near.all(axis=-1)
    row, column = np.indices((k, k))
    apart = (column - row) % k
    meet &= (apart > 1) & (apart < k - 1) & (row < column)
    if meet.any():
        first, second = (int(x[0]) for x in np.nonzero(meet))
        raise ModelError(
            f"{what} crosses or touches itself: the edge after corner {first}, {outline[first].tolist()}, and the edge "
            f"after corner {second}, {outline[second].tolist()}, of {k}"
        )
    if abs(_area(a)) < 1e-12:  # of a square around it: rounding leaves so much
        raise ModelError(f"{what} encloses nothing: its corners are on a line")


def _ears(outline: Array) -> list[tuple[int, int, int]]:
    """Triangles that cover a simple counter-clockwise outline, by cutting one corner after the other.

    A corner is cut where it is convex and no other corner lies in or on its triangle. Corners within a straight edge
    are kept, so that the sides of the plate meet the cover at common edges.
    """
    a = (outline - outline.min(axis=0)) / np.ptp(outline, axis=0).max()
    left = list(range(len(a)))
    found: list[tuple[int, int, int]] = []
    at = 0
    while len(left) > 3:
        n = len(left)
        tried = [(at + step) % n for step in range(n)]
        ear = next((i for i in tried if _is_ear(a, left, i)), None)
        if ear is None:  # by rounding, of very thin outlines: the corner that is most convex
            points = a[left]
            ear = int(np.argmax(_turn(np.roll(points, 1, axis=0), points, np.roll(points, -1, axis=0))))
        found.append((left[ear - 1], left[ear], left[(ear + 1) % n]))
        del left[ear]
        at = ear  # the next corner but one: fans of thin triangles are avoided
    return [*found, (left[0], left[1], left[2])]


def _is_ear(a: Array, left: list[int], i: int) -> bool:
    """Whether corner i of those that are left can be cut."""
    n = len(left)
    p, q, r = a[left[i - 1]], a[left[i]], a[left[(i + 1) % n]]
    if _turn(p, q, r) <= 0.0:
        return False
    others = a[[left[(i + k) % n] for k in range(2, n - 1)]]
    within = (_turn(p, q, others) >= 0.0) & (_turn(q, r, others) >= 0.0) & (_turn(r, p, others) >= 0.0)
    return not within.any()

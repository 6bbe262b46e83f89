"""Solids in space as shaded triangles, one artist for all of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.proj3d import proj_transform
from numpy.typing import NDArray

from ..kernels.raster import average_pixels, fill_triangles
from ..scene import Solid

__all__ = ["Patches", "Shaded", "coil", "patches", "tube"]

Array = NDArray[np.float64]

# Of the light: what a face has that looks away from it, and what the light adds.
_AMBIENT, _DIFFUSE = 0.55, 0.5
_MANY = 2000  # faces: of solids with more, details are left out,
_FINE = 400.0  # those below this part of a drawing: about a pixel


class Patches(NamedTuple):
    """Triangles with a normal at each corner, by body.

    Attributes
    ----------
    corners, normals : ndarray, shape (n, 3, 3)
        Triangle, corner, axis; in the axes of the body, m.
    color : ndarray, shape (n, 3)
    body : ndarray of int, shape (n,)
    """

    corners: Array
    normals: Array
    color: Array
    body: NDArray[np.int64]


def patches(solid: Solid, body: int, extent: float) -> Patches:
    """Triangles of a solid, as fine as a drawing of some extent (m) needs them."""
    vertices, faces = np.asarray(solid.vertices), np.asarray(solid.faces)
    corners = vertices[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(flat, axis=1)
    normals = np.repeat((flat / np.maximum(area, 1e-300)[:, None])[:, None], 3, axis=1)
    if solid.smooth:
        sums = np.zeros_like(vertices)
        for k in range(3):
            np.add.at(sums, faces[:, k], flat)
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        normals = (sums / np.maximum(length, 1e-300))[faces]
    if len(corners) > _MANY:
        corners, normals = _merged(corners, normals, extent / _FINE)
    count = len(corners)
    return Patches(corners, normals, np.tile(to_rgb(solid.color), (count, 1)), np.full(count, body))


def _merged(corners: Array, normals: Array, grain: float) -> tuple[Array, Array]:
    """Triangles with corners in the same cell of a grid merged, and without the faces that vanish by this."""
    cells = np.round(corners.reshape(-1, 3) / grain)
    _, first, place = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1, 3)
    kept = (place != np.roll(place, 1, axis=1)).all(axis=1)
    if not kept.any():  # all of it is smaller
        return corners, normals
    return corners.reshape(-1, 3)[first[place[kept]]], normals[kept]


# -- what stretches ---------------------------------------------------------------------------------------


def tube(line: Array, radius: float, sides: int = 8) -> tuple[Array, Array]:
    """Triangles (n, 3, 3) and normals of a tube along a line (k, 3); without ends."""
    along = np.gradient(line, axis=0)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    if length.min() <= 0.0:
        return np.zeros((0, 3, 3)), np.zeros((0, 3, 3))
    along = along / length
    whole = line[-1] - line[0]
    aside = np.eye(3)[np.abs(whole).argmin()]
    u = np.cross(along, aside)
    u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-12)
    w = np.cross(along, u)
    turns = 2.0 * np.pi * np.arange(sides) / sides
    out = np.cos(turns)[:, None] * u[:, None] + np.sin(turns)[:, None] * w[:, None]  # (k, sides, 3)
    ring = line[:, None] + radius * out

    def faces(x: Array) -> Array:
        a, b, c, d = x[:-1], np.roll(x[:-1], -1, axis=1), np.roll(x[1:], -1, axis=1), x[1:]
        return np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)], axis=2).reshape(-1, 3, 3)

    return faces(ring), faces(out)


def coil(ends: Array, radius: float, turns: int = 7) -> Array:
    """Line of a helical spring between two points (2, 3), with straight ends."""
    a, b = ends
    along = b - a
    length = float(np.linalg.norm(along))
    if length <= 0.0:
        return ends
    along = along / length
    u = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    u /= np.linalg.norm(u)
    w = np.cross(along, u)
    s = np.linspace(0.0, 1.0, 8 * turns + 1)
    angle = 2.0 * np.pi * turns * s
    swing = radius * np.minimum(1.0, 20.0 * np.minimum(s, 1.0 - s))[:, None]
    middle = a + (0.12 + 0.76 * s)[:, None] * (b - a)
    helix = middle + swing * (np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * w)
    return np.concatenate([[a], helix, [b]])


# -- the artist -------------------------------------------------------------------------------------------


class Shaded(Artist):
    """Shaded triangles on axes in space, with hidden surfaces removed in each pixel.

    Matplotlib itself sorts faces by the depth of their middles, which is wrong where long and short ones meet, as bars
    do in joints.
    """

    def __init__(self) -> None:
        super().__init__()
        self.corners, self.normals, self.color = np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3))

    def show(self, corners: Array, normals: Array, color: Array) -> None:
        """Replace the triangles by others (n, 3, 3) with normals (n, 3, 3) and colours (n, 3), in the world."""
        self.corners, self.normals, self.color = corners, normals, color
        self.stale = True

    def draw(self, renderer: Any) -> None:
        if not self.get_visible() or not len(self.corners):
            return
        axes: Any = self.axes
        x, y, z = proj_transform(*self.corners.reshape(-1, 3).T, axes.M)
        flat = np.asarray(axes.transData.transform(np.column_stack([x, y])))
        fine = float(renderer.get_image_magnification())  # of PDF and SVG; 1 of images
        clip = axes.figure.bbox
        low = np.floor(np.maximum(flat.min(axis=0), clip.min) * fine)
        high = np.ceil(np.minimum(flat.max(axis=0), clip.max) * fine)
        columns, rows = (int(n) for n in np.maximum(high - low, 0.0))
        if not columns or not rows:
            return
        corners = np.empty((len(flat), 3))
        corners[:, :2], corners[:, 2] = 2.0 * (flat * fine - low), z
        shades = _AMBIENT + _DIFFUSE * np.maximum(self.normals @ _light(axes), 0.0)
        depth = np.full((2 * rows, 2 * columns), np.inf)
        image = np.zeros((2 * rows, 2 * columns, 4), dtype=np.uint8)
        fill_triangles(corners.reshape(-1, 3, 3), shades, 255.0 * self.color, depth, image)
        seen = np.zeros((rows, columns, 4), dtype=np.uint8)
        average_pixels(image, seen)
        gc = renderer.new_gc()
        renderer.draw_image(gc, *(low / fine), seen)
        gc.restore()
        self.stale = False


def _light(axes: Any) -> Array:
    """Direction towards the light: beside and above the eye."""
    limits = (axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d())
    middle = np.array([*(0.5 * (low + high) for low, high in limits), 1.0])
    seen, back = axes.M @ middle, np.linalg.inv(axes.M)

    def moved(*by: float) -> Array:
        x = back @ np.array([*(seen[:3] / seen[3] + by), 1.0])
        return x[:3] / x[3] - middle[:3]

    towards, right, up = (_unit(x) for x in (moved(0.0, 0.0, -1e-3), moved(1e-3, 0.0, 0.0), moved(0.0, 1e-3, 0.0)))
    return _unit(towards + 0.7 * up - 0.4 * right)


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x)

"""Outlines of solids seen along a direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["silhouette", "welded"]

Array = NDArray[np.float64]

_EDGE_ON = 1e-6  # faces whose normals are as near to square to the direction are seen from neither side


def welded(vertices: Array, faces: NDArray[np.int32]) -> tuple[Array, NDArray[np.int64]]:
    """Surface with a single vertex at each place, so that faces share their edges."""
    grain = 1e-7 * max(float(np.ptp(vertices, axis=0).max()), 1e-300)
    low = vertices.min(axis=0)
    _, first, number = np.unique(np.round((vertices - low) / grain), axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.ravel()[faces]


def silhouette(vertices: Array, faces: NDArray[np.int32], towards_eye: Array) -> list[Array]:
    """Closed lines (k, 3) around the visible part of a surface along a direction.

    They are the boundaries of the faces towards the eye, counter-clockwise around them. Filled by winding number,
    they cover what the solid covers, with its holes, convex or not.

    Parameters
    ----------
    vertices : ndarray, shape (n, 3)
    faces : ndarray of int, shape (m, 3)
        Counter-clockwise from outside.
    towards_eye : ndarray, shape (3,)

    Examples
    --------
    >>> from cmbcontrol.model.elements import Box
    >>> box = Box((2.0, 1.0, 0.5)).triangles()
    >>> (line,) = silhouette(box.vertices, box.faces, np.array([0.0, 0.0, 1.0]))
    >>> np.ptp(line, axis=0)
    array([2., 1., 0.])
    """
    vertices, corners = welded(vertices, faces)
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    seen = corners[normals @ towards_eye > _EDGE_ON * np.maximum(length, 1e-300)]
    forth = np.concatenate([seen[:, [0, 1]], seen[:, [1, 2]], seen[:, [2, 0]]])
    inner = {(int(i), int(j)) for i, j in forth}
    onward: dict[int, list[int]] = {}
    for i, j in forth:
        if (int(j), int(i)) not in inner:
            onward.setdefault(int(i), []).append(int(j))
    return [vertices[loop] for loop in _loops(onward)]


def _loops(onward: dict[int, list[int]]) -> list[list[int]]:
    """Closed walks that use all edges."""
    found = []
    for start in list(onward):
        while onward[start]:
            walk, here = [start], onward[start].pop()
            while here != start and onward.get(here):
                walk.append(here)
                here = onward[here].pop()
            if len(walk) > 2:
                found.append(walk)
    return found

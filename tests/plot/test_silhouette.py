"""Outlines of solids, against their hulls and areas."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from scipy.spatial import ConvexHull

from cmbcontrol.model.elements import Ball, Box, Frame, Plate, Rod
from cmbcontrol.plot.silhouette import silhouette, welded

DIRECTIONS = [(0, 0, 1), (1, 0, 0), (1, 2, 3), (-2, 1, 0.5)]


def flat(loop, eye):
    """Coordinates across the direction to the eye, which looks at them the right way round."""
    eye = np.asarray(eye) / np.linalg.norm(eye)
    u = np.cross(eye, np.eye(3)[np.abs(eye).argmin()])
    u /= np.linalg.norm(u)
    return np.asarray(loop) @ np.column_stack([u, np.cross(eye, u)])


def area(points):
    x, y = points.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


@pytest.mark.parametrize("eye", DIRECTIONS)
@pytest.mark.parametrize(
    "shape", [Box((1.0, 0.5, 0.2), Frame.turned((1, 1, 0), 0.4)), Ball((1, 2, 3), 0.3)], ids=["box", "ball"]
)
def test_of_convex_solids_it_is_their_hull(shape, eye):
    vertices, faces, _ = shape.triangles()
    (loop,) = silhouette(vertices, faces, np.array(eye, dtype=float))
    assert area(flat(loop, eye)) == pytest.approx(ConvexHull(flat(vertices, eye)).volume, rel=1e-9)  # ccw, too


@pytest.mark.parametrize("eye", DIRECTIONS)
def test_rods_are_covered(eye):
    """Its faces are welded: a cap and the side share the rim."""
    vertices, faces, _ = Rod((0, 0, 0), (1, 0.2, 0), 0.1).triangles()
    loops = silhouette(vertices, faces, np.array(eye, dtype=float))
    assert sum(area(flat(loop, eye)) for loop in loops) == pytest.approx(
        ConvexHull(flat(vertices, eye)).volume, rel=1e-6
    )


def test_concave_outlines_keep_their_corners():
    corner = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices, faces, _ = Plate(corner, 0.1).triangles()
    (loop,) = silhouette(vertices, faces, np.array([0.0, 0.0, 1.0]))
    assert area(loop[:, :2]) == pytest.approx(3.0) and len(loop) == 6


def test_holes_stay_open():
    """A frame of four bars: winding numbers leave the middle out."""
    outer, inner = np.array([(0, 0), (3, 0), (3, 3), (0, 3)]), np.array([(1, 1), (2, 1), (2, 2), (1, 2)])
    top = np.column_stack([np.concatenate([outer, inner]), np.ones(8)])
    vertices = np.concatenate([top * [1, 1, 0], top])
    ring = [(k, (k + 1) % 4) for k in range(4)]
    faces = []
    for a, b in ring:
        faces += [(8 + a, 8 + b, 12 + b), (8 + a, 12 + b, 12 + a)]  # above
        faces += [(a, 4 + b, b), (a, 4 + a, 4 + b)]  # below
        faces += [(a, b, 8 + b), (a, 8 + b, 8 + a), (4 + a, 12 + b, 4 + b), (4 + a, 12 + a, 12 + b)]  # walls
    loops = silhouette(vertices, np.array(faces), np.array([0.0, 0.0, 1.0]))
    assert sorted(round(area(loop[:, :2]), 9) for loop in loops) == [-1.0, 9.0]
    codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY]
    whole = Path(np.concatenate([np.vstack([x, x[:1]])[:, :2] for x in loops]), codes * 2)
    figure = Figure(figsize=(3, 3), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 3), ylim=(0, 3))
    ax.add_patch(PathPatch(whole, facecolor="black", linewidth=0))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())
    assert image[50, 50, 0] == image[250, 150, 0] == 0 and image[150, 150, 0] == 255


def test_places_are_one_vertex_each():
    vertices, faces, _ = Rod((0, 0, 0), (1, 0, 0), 0.1).triangles()
    places, corners = welded(vertices, faces)
    assert len(places) < len(vertices) and len(np.unique(places.round(9), axis=0)) == len(places)
    np.testing.assert_allclose(places[corners], vertices[faces], atol=1e-7)

"""Shaded solids in space."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.proj3d import proj_transform

from cmbcontrol.model.elements import Ball, Box, Mesh
from cmbcontrol.plot.shading import Shaded, coil, patches, tube
from cmbcontrol.scene import Solid


def solid(shape, color="#FF0000"):
    vertices, faces, smooth = shape.triangles()
    return Solid("body", "body", "body", vertices, faces, color, smooth)


def seen(*solids, view=(20.0, -50.0)):
    """Pixels of solids in a cube from -1 to 1, and where a point of it is in them."""
    figure = Figure(figsize=(4, 4), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1), projection="3d")
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    ax.set_axis_off()
    ax.view_init(*view)
    artist = Shaded()
    ax.add_artist(artist)
    made = [patches(s, 0, 2.0) for s in solids]
    artist.show(*(np.concatenate([getattr(m, key) for m in made]) for key in ("corners", "normals", "color")))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)

    def at(point):
        x, y, _ = proj_transform(*np.array(point, dtype=float)[:, None], ax.M)
        column, row = ax.transData.transform([[x[0], y[0]]])[0]
        return image[int(image.shape[0] - row), int(column)]

    return image, at


def test_what_is_behind_is_hidden():
    """Two long boxes that cross at right angles: no order of whole faces is right for both."""
    red = solid(Box((1.8, 0.1, 0.1)), "#FF0000")
    blue = solid(Box((0.1, 0.1, 1.8)), "#0000FF")
    _, at = seen(red, blue, view=(0.0, -90.0))  # from -y, x to the right, z upwards
    assert at((0.6, 0, 0))[0] > 100 > at((0.6, 0, 0))[2]
    assert at((0, 0, 0.6))[2] > 100 > at((0, 0, 0.6))[0]
    ball = solid(Ball((0.5, -0.5, 0.0), 0.2), "#00FF00")  # nearer to the eye
    _, at = seen(red, blue, ball, view=(0.0, -90.0))
    assert at((0.5, -0.5, 0))[1] > 100 and at((0.5, -0.5, 0))[0] == 0
    _, at = seen(ball, red, blue, view=(0.0, 90.0))  # from behind, the bar hides the ball
    assert at((0.6, 0.05, 0))[0] > 100


def test_the_picture_is_the_right_way_up():
    image, at = seen(solid(Ball((0.5, 0.0, 0.6), 0.2)))
    rows, _ = np.nonzero(image[..., 1] < 200)
    assert at((0.5, 0.0, 0.6))[1] < 100
    assert rows.mean() < 0.45 * image.shape[0]  # above the middle


def test_faces_towards_the_light_are_brighter():
    _, at = seen(solid(Box((1.0, 1.0, 1.0)), "#FFFFFF"), view=(30.0, -60.0))
    above, left, right = at((0, 0, 0.5)), at((0, -0.5, 0)), at((0.5, 0, 0))
    assert above[0] > right[0] and left[0] > right[0] and right[0] >= 0.5 * 255


def test_flat_faces_have_one_shade_and_round_ones_many():
    counts = {}
    for name, shape in {"box": Box((1.0, 1.0, 1.0)), "ball": Ball((0, 0, 0), 0.7)}.items():
        image, _ = seen(solid(shape))
        counts[name] = np.sort(np.unique(image[image[..., 1] == 0][:, 0], return_counts=True)[1])[::-1]
    assert counts["box"][:3].sum() > 0.95 * counts["box"].sum()
    assert counts["ball"][:3].sum() < 0.3 * counts["ball"].sum() and len(counts["ball"]) > 50


def test_large_meshes_are_merged_to_what_is_seen():
    rng = np.random.default_rng(0)
    n = 120
    turn, rise = np.meshgrid(np.linspace(0, 2 * np.pi, n, endpoint=False), np.linspace(0.02, np.pi - 0.02, n))
    vertices = np.stack([np.cos(turn) * np.sin(rise), np.sin(turn) * np.sin(rise), np.cos(rise)], axis=-1)
    index = np.arange(n * n).reshape(n, n)
    a, b, c, d = index[:-1], np.roll(index, -1, axis=1)[:-1], np.roll(index, -1, axis=1)[1:], index[1:]
    faces = np.concatenate([np.stack([a, d, c], axis=-1).reshape(-1, 3), np.stack([a, c, b], axis=-1).reshape(-1, 3)])
    order = rng.permutation(len(faces))
    mesh = solid(Mesh(0.01 * vertices.reshape(-1, 3), faces[order], smooth=True))
    coarse = patches(mesh, 0, 2.0)
    assert len(faces) > 20_000 > 5000 > len(coarse.corners) > 100
    assert np.abs(np.linalg.norm(coarse.corners, axis=2) - 0.01).max() < 1e-9  # places are places of the mesh
    fine = patches(mesh, 0, 0.02)
    assert len(fine.corners) > 0.9 * len(faces)


def test_normals_of_round_solids_are_those_of_the_surface():
    ball = patches(solid(Ball((1, 2, 3), 0.5)), 0, 2.0)
    expected = (ball.corners - [1, 2, 3]) / 0.5
    assert np.abs(ball.normals - expected).max() < 0.05
    box = patches(solid(Box((1, 1, 1))), 0, 2.0)
    assert set(np.unique(np.abs(box.normals).round(12))) == {0.0, 1.0}


def test_tubes_and_coils_are_about_their_lines():
    line = np.array([[0.0, 0, 0], [0.5, 0.2, 0.1], [1.0, 0.4, 0.2]])
    corners, normals = tube(line, 0.1)
    along = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
    off = corners.reshape(-1, 3) - np.outer(corners.reshape(-1, 3) @ along, along)
    np.testing.assert_allclose(np.linalg.norm(off, axis=1), 0.1)
    np.testing.assert_allclose(off, 0.1 * normals.reshape(-1, 3), atol=1e-12)
    a, b, c = np.moveaxis(corners, 1, 0)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[:, 0]) > 0.0).all()  # outside is outside
    spring = coil(line[[0, 2]], 0.05)
    np.testing.assert_allclose(spring[[0, -1]], line[[0, 2]])
    off = spring - np.outer(spring @ along, along)
    assert np.linalg.norm(off, axis=1).max() == pytest.approx(0.05)


def test_what_has_no_length_is_not_drawn():
    point = np.zeros((2, 3))
    assert len(tube(point, 0.1)[0]) == 0
    np.testing.assert_array_equal(coil(point, 0.1), point)
    assert seen(solid(Ball((5.0, 0, 0), 0.1)))[0].min() == 255  # outside of the picture

"""Shapes: closed surfaces, the right way round, of the right volume; and nothing of the mechanics knows of them."""

import dataclasses
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest

from cmbcontrol import Body, Frame, Mechanism, Revolute, shapes
from cmbcontrol.errors import CmbError, InputError, InputTypeError, ModelError
from cmbcontrol.model.elements.shapes import _AROUND

from ...fixtures import random_state

TURNED = Frame.turned((1.0, 2.0, -0.5), 0.7, (0.3, -0.2, 0.1))
L_OUTLINE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
RING = 0.5 * _AROUND * math.sin(2.0 * math.pi / _AROUND)  # area of the polygon in a circle of radius one


def directed_edges(shape):
    """Edges of the surface, by points: those that are at one place are one."""
    vertices, faces, _ = shape.triangles()
    size = np.abs(vertices).max()
    _, number = np.unique(np.round(vertices / size, 9) + 0.0, axis=0, return_inverse=True)
    corners = number.reshape(-1)[faces]
    return np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])


def require_closed(shape):
    """Each edge is there once in either direction."""
    edges = [tuple(edge) for edge in directed_edges(shape).tolist()]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)


def volume(shape):
    """By the divergence theorem: above zero where triangles are counter-clockwise from outside."""
    vertices, faces, _ = shape.triangles()
    a, b, c = (vertices - vertices.mean(axis=0))[faces].transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum() / 6.0)


def revolved(profile):
    """The volume around an axis of a polygon line (radius, height), whose circles are polygons of 24 corners."""
    return RING / 3.0 * sum((z1 - z0) * (r0 * r0 + r0 * r1 + r1 * r1) for (r0, z0), (r1, z1) in profile)


def half_circles(radius, between=0.0):
    turns = np.linspace(-0.5, 0.5, _AROUND // 2 + 1) * math.pi
    points = [(radius * math.cos(a), radius * math.sin(a) + (between if a > 1e-9 else 0.0)) for a in turns]
    equator = _AROUND // 4
    points.insert(equator + 1, (radius, between))
    return list(pairwise(points))


SOLIDS = {
    "box": (shapes.Box((0.4, 0.2, 3.0), TURNED), 0.24),
    "rod": (shapes.Rod((1, 2, 3), (1, -1, 7), 0.25), RING * 0.25**2 * 5.0),
    "disc": (shapes.Rod((0, 0, 0), (0, 0, -1e-3), 0.5), RING * 0.25e-3),
    "capsule": (shapes.Rod((1, 2, 3), (1, -1, 7), 0.25, rounded=True), revolved(half_circles(0.25, 5.0))),
    "ball": (shapes.Ball((5, 5, 5), 0.7), revolved(half_circles(0.7))),
    "plate": (shapes.Plate(L_OUTLINE, 0.1, TURNED), 0.3),
    "clockwise plate": (shapes.Plate(L_OUTLINE[::-1], 0.1), 0.3),
    "corners in edges": (shapes.Plate([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2)], 0.1), 0.4),
    "bar": (shapes.Plate.bar((1, 1), (4, 5), 0.2, 0.5), (5.0 * 0.2 + RING * 0.01) * 0.5),
    "wedge": (shapes.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
                          [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]), 1.0 / 6.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_surfaces_are_closed_and_of_the_right_volume(name, size):
    shape, expected = SOLIDS[name]
    large = shapes.Mesh(size * shape.triangles().vertices, shape.triangles().faces)
    for one, factor in ((shape, 1.0), (large, size**3)):
        require_closed(one)
        assert volume(one) == pytest.approx(factor * expected, rel=1e-9)


@pytest.mark.parametrize("name", SOLIDS)
def test_moved_is_a_rigid_motion_of_the_surface(name):
    shape, _ = SOLIDS[name]
    one, other = shape.triangles(), shape.moved(TURNED).triangles()
    expected = one.vertices @ TURNED.R.T + TURNED.p
    assert np.array_equal(one.faces, other.faces) and one.smooth == other.smooth
    if isinstance(shape, (shapes.Rod, shapes.Ball)):
        assert volume(shape.moved(TURNED)) == pytest.approx(volume(shape), rel=1e-9)
        expected, found = expected.mean(axis=0), other.vertices.mean(axis=0)  # facets begin elsewhere
    else:
        found = other.vertices
    assert np.allclose(found, expected, atol=1e-12)


def test_round_things_are_inside_of_what_they_show_and_near_to_it():
    ball = shapes.Ball((1, 2, 3), 0.5).triangles()
    distance = np.linalg.norm(ball.vertices - (1, 2, 3), axis=1)
    assert np.allclose(distance, 0.5) and ball.smooth
    rod = shapes.Rod((0, 0, 1), (0, 0, 3), 0.1).triangles().vertices
    assert rod[:, 2].min() == 1.0 and rod[:, 2].max() == 3.0 and np.linalg.norm(rod[:, :2], axis=1).max() <= 0.1 + 1e-15
    capsule = shapes.Rod((0, 0, 1), (0, 0, 3), 0.1, rounded=True).triangles().vertices
    assert capsule[:, 2].min() == pytest.approx(0.9) and capsule[:, 2].max() == pytest.approx(3.1)


def test_sharp_edges_of_curved_surfaces_have_vertices_of_either_side():
    """So that a drawing that shades across common vertices shows the flat ends of a rod as flat."""
    vertices, faces, smooth = shapes.Rod((0, 0, 0), (0, 0, 1), 0.1).triangles()
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    for corner in range(len(vertices)):
        up = np.abs(normals[(faces == corner).any(axis=1), 2]) > 1e-12
        assert smooth and (up.all() or not up.any())


def star(rng, k):
    """A simple outline: corners at growing angles, at any distance."""
    angles = np.sort(rng.uniform(0.0, 2.0 * math.pi, k))
    radii = rng.uniform(0.05, 1.0, k)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]) * 10.0 ** rng.uniform(-3, 3)


def comb(rng, k):
    """Teeth of any length, with corners within straight edges."""
    up = []
    for x in np.arange(k) * 2.0:
        up += [(x, 0.0), (x, rng.uniform(1, 5)), (x + 1.0, rng.uniform(1, 5)), (x + 1.0, 0.0)]
    return np.array([(-1.0, 0.0), *up, (2.0 * k, 0.0), (2.0 * k, -1.0), (0.5 * k, -1.0), (-1.0, -1.0)])


def spiral(rng, k):
    turns = np.linspace(0.0, rng.uniform(4.0, 12.0), k)
    r = 1.0 + turns
    inner = np.column_stack([r * np.cos(turns), r * np.sin(turns)])
    return np.vstack([inner, inner[::-1] * (1.0 + 0.4 / r[::-1, None])])


@pytest.mark.parametrize("make", [star, comb, spiral])
@pytest.mark.parametrize("seed", range(25))
def test_random_plates(make, seed):
    rng = np.random.default_rng(seed)
    outline = make(rng, int(rng.integers(3, 40)))
    if make is star and np.diff(np.arctan2(*outline.T[::-1])).max(initial=0.0) > math.pi:
        return  # its centre is outside: it may cross itself
    if rng.random() < 0.5:
        outline = outline[::-1]
    outline = np.roll(outline, int(rng.integers(len(outline))), axis=0)
    x, y = outline.T
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    plate = shapes.Plate(outline, 0.2)
    vertices, faces, _ = plate.triangles()
    require_closed(plate)
    assert volume(plate) == pytest.approx(0.2 * area, rel=1e-9)
    a, b, c = vertices[faces].transpose(1, 0, 2)  # covers do not fold: the areas of all triangles add up
    normals = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert np.abs(normals).sum() == pytest.approx(2.0 * area, rel=1e-9)


@pytest.mark.parametrize(
    ("outline", "words"),
    [
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "crosses or touches itself"),
        ([(0, 0), (2, 0), (2, 2), (1, 0), (0, 2)], "crosses or touches itself"),  # a corner on an edge
        ([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], "need not be the first one again"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], r"twice, as corners 1 and 2 of 4"),
        ([(0, 0), (2, 0), (1, 0), (1, 1)], "goes back on itself at corner 1"),
        ([(0, 0), (1, 1), (2, 2)], "goes back on itself"),
        ([(0, 0), (0, 0), (0, 0)], "different points"),
        ([(0, 0), (1, 0)], "3 to 500 corners"),
        (np.zeros((3, 3)), r"\(k, 2\)"),
        ([(0, 0), (1, 0), (math.nan, 1)], "finite"),
    ],
)
def test_outlines_that_are_none(outline, words):
    with pytest.raises((ModelError, InputError), match=words):
        shapes.Plate(outline, 0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shapes.Box((1, 0, 1)), "three lengths > 0"),
        (lambda: shapes.Box((1, 1)), r"shape \(3,\)"),
        (lambda: shapes.Box((1, 1, 1), (0, 0, 0)), "must be a Frame"),
        (lambda: shapes.Rod((0, 0, 0), (0, 0, 0), 0.1), "two different points"),
        (lambda: shapes.Rod((0, 0), (0, 0, 1), 0.1), "in a plane give"),
        (lambda: shapes.Rod((0, 0, 0), (0, 0, 1), -0.1), "radius of a rod must be > 0"),
        (lambda: shapes.Ball((0, 0, 0), 0), "radius of a ball must be > 0"),
        (lambda: shapes.Ball((0, 0, 0), 1.0, color="red"), "'#RRGGBB', such as"),
        (lambda: shapes.Ball((0, 0, 0), 1.0, color="#12345"), "'#RRGGBB'"),
        (lambda: shapes.Ball((0, 0, 0), 1.0, color=3), "must be a string"),
        (lambda: shapes.Mesh([(0, 0, 0)] * 3, [(0, 1, 3)]), "face 0 is"),
        (lambda: shapes.Mesh([(0, 0, 0)] * 3, [(0, 1, 2), (0, 1, 1)]), "face 1 is"),
        (lambda: shapes.Mesh([(0, 0, 0)] * 3, [(0, 1, 0.5)]), "face 0 is"),
        (lambda: shapes.Mesh(np.zeros((0, 3)), np.zeros((0, 3))), r"shape \(n, 3\)"),
        (lambda: shapes.Mesh([(0, 0, math.inf)] * 3, [(0, 1, 2)]), "vertex 0"),
        (lambda: shapes.Plate.bar((1, 1), (1, 1), 0.1, 0.1), "two points that differ"),
        (lambda: Body("a", shapes=shapes.Ball((0, 0, 0), 1.0)), "sequence of shapes"),
        (lambda: Body("a", shapes=["ball"]), "a shape of body 'a' must be a Shape, from cmbcontrol.shapes"),
    ],
)  # fmt: skip
def test_wrong_shapes_say_what_is_wrong(make, words):
    with pytest.raises((InputError, InputTypeError, ModelError), match=words):
        make()


def test_shapes_are_frozen_and_so_are_their_copies():
    body = Body("a", shapes=[shapes.Box((1, 1, 1), color="#ff0000"), shapes.Plate(L_OUTLINE, 0.1)])
    again = pickle.loads(pickle.dumps(body))
    for one in (body, again):
        assert [type(s).__name__ for s in one.shapes] == ["Box", "Plate"] and one.shapes[0].color == "#ff0000"
        with pytest.raises(ValueError, match="read-only"):
            one.shapes[0].size[0] = 2.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.shapes[1].thickness = 1.0


def test_a_shape_of_ones_own():
    class Cone(shapes.Shape):
        def triangles(self):
            return shapes.Box((1, 1, 1)).triangles()

        def moved(self, frame):
            return self

    assert Body("a", shapes=[Cone()]).shapes[0].color is None
    with pytest.raises(TypeError, match="abstract"):
        shapes.Shape()


def test_the_mechanics_is_the_same_to_the_bit():
    def arm(*looks):
        return Mechanism("arm", [Body("arm", 1.0, (0.5, 0, 0), (0.1, 0.2, 0.3), looks)],
                         [Revolute("hinge", "ground", "arm", axis=(0, 1, 0))])  # fmt: skip

    plain, seen = arm(), arm(shapes.Rod((0, 0, 0), (1, 0, 0), 0.05))
    q, v = random_state(plain, 3)
    for key in ("M", "h", "A"):
        assert getattr(plain.terms(q, v), key).tobytes() == getattr(seen.terms(q, v), key).tobytes()
    assert plain.size == seen.size
    heavier = seen.with_parameters({"arm_mass": 2.0})
    assert heavier.bodies[0].shapes == seen.bodies[0].shapes


# -- reduced meshes ----------------------------------------------------------------------------------------------------


def fine_ball(k):
    """A closed ball of many triangles."""
    t, u = np.meshgrid(np.linspace(0, math.pi, k + 1)[1:-1], np.arange(2 * k) * math.pi / k, indexing="ij")
    around = np.stack([np.sin(t) * np.cos(u), np.sin(t) * np.sin(u), -np.cos(t)], axis=-1)
    vertices = np.vstack([[(0, 0, -1.0)], around.reshape(-1, 3), [(0, 0, 1.0)]])
    between = 1 + np.arange((k - 1) * 2 * k).reshape(k - 1, -1)
    rings = np.vstack([np.zeros(2 * k), between, np.full(2 * k, len(vertices) - 1)])
    low, high = rings[:-1].ravel(), rings[1:].ravel()
    low_next, high_next = np.roll(rings[:-1], -1, axis=1).ravel(), np.roll(rings[1:], -1, axis=1).ravel()
    faces = np.vstack([np.column_stack([low, low_next, high_next]), np.column_stack([low, high_next, high])])
    return shapes.Mesh(vertices, faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)])


@pytest.mark.parametrize("most", [100, 500, 2000, 5000])
def test_reduced_meshes_look_alike(most):
    mesh = fine_ball(60)
    require_closed(mesh)
    small = mesh.reduced(most)
    edges = directed_edges(small)
    forth, back = (sorted(map(tuple, x.tolist())) for x in (edges, edges[:, ::-1]))
    assert forth == back  # closed
    assert len(small.faces) <= most
    if most >= 500:
        assert len(small.faces) > 0.4 * most and volume(small) == pytest.approx(4.0 / 3.0 * math.pi, rel=0.1)
        assert np.abs(np.linalg.norm(small.vertices, axis=1) - 1.0).max() < 0.05


def test_what_cannot_be_reduced():
    far = np.arange(30)[:, None, None] * 10.0
    vertices = (np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)]) + far * (1, 0, 0)).reshape(-1, 3)
    loose = shapes.Mesh(vertices, np.arange(90).reshape(-1, 3))
    assert loose.reduced(30) is loose
    with pytest.raises(ModelError, match="30 triangles cannot be reduced to 20"):
        loose.reduced(20)
    with pytest.raises((CmbError, ValueError), match="most"):
        loose.reduced(3)

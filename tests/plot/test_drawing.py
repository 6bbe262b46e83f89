"""A machine on axes: what is drawn is where the plant says."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plot.drawing import Drawing, snapshot
from cmbcontrol.scene import scene

MACHINES = ("five-bar", "three-rrr", "two-arms", "loader", "excavator", "andrews", "n-four-bar", "parallelogram")


def drawn(plant, q, **options):
    seen = scene(plant)
    shot = snapshot(seen, q)
    drawing = Drawing(seen, [shot], **options)
    drawing.update(shot)
    return seen, drawing, shot


@pytest.mark.parametrize("name", MACHINES)
def test_shapes_contain_their_joints(name):
    """The outline of each deduced body, where it is drawn, contains the points it is attached by."""
    plant, q, _ = plants.catalogue[name].start()
    seen, drawing, _ = drawn(plant, q)
    paths, colors = drawing.body.shapes.get_paths(), [to_hex(c).upper() for c in drawing.body.shapes.get_facecolor()]
    assert len(paths) == len(seen.solids)
    by_color = {}
    for path, color in zip(paths, colors, strict=True):
        by_color.setdefault(color, []).append(path)
    color_of = {solid.body: solid.color for solid in seen.solids if solid.kind == "body"}
    for joint in plant.joints:
        if isinstance(joint, cmb.Revolute) and joint.child in color_of:
            at = plant.point(q, joint.child, joint.child_frame.p)[list(seen.plane)]
            assert any(path.contains_point(at) for path in by_color[color_of[joint.child]]), joint.name


def test_outlines_move_with_their_bodies():
    """Those at another configuration are those that a drawing of it would have."""
    plant = plants.five_bar()
    first, second = plant.assemble(left=2.1, right=1.0), plant.assemble(left=1.5, right=0.7)
    seen = scene(plant)
    moved = Drawing(seen, [snapshot(seen, q) for q in (first, second)])
    moved.update(snapshot(seen, second))
    _, fresh, _ = drawn(plant, second)
    for a, b in zip(moved.body.shapes.get_paths(), fresh.body.shapes.get_paths(), strict=True):
        np.testing.assert_allclose(a.vertices.min(axis=0), b.vertices.min(axis=0), atol=0.02)
        np.testing.assert_allclose(a.vertices.max(axis=0), b.vertices.max(axis=0), atol=0.02)


def test_lower_bodies_are_drawn_first():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    seen, drawing, shot = drawn(plant, q)
    tops = []
    for path, color in zip(drawing.body.shapes.get_paths(), drawing.body.faces, strict=True):
        assert isinstance(path, Path)
        solids = [s for s in seen.solids if s.color == color]
        tops.append(
            max((shot.rotations[seen.bodies.index(s.body)] @ np.asarray(s.vertices).T)[2].max() for s in solids)
        )
    bodies = [t for t, c in zip(tops, drawing.body.faces, strict=True) if c not in ("#E8E8E8", "#D55E00", "#8A8A8A")]
    assert bodies == sorted(bodies) and len(bodies) == 4


@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0)])
def test_machines_of_any_size_fill_their_figure(size, axis):
    arms = [cmb.Body.rod(f"arm{i}", 1.0, size) for i in range(2)]
    joints = [
        cmb.Revolute("shoulder", "ground", "arm0", axis=axis),
        cmb.Revolute("elbow", "arm0", "arm1", axis=axis, frame=cmb.Frame((size, 0, 0))),
    ]
    gravity = (0, -9.81, 0) if axis[2] else (0, 0, -9.81)
    plant = cmb.Mechanism("arm", arms, joints, gravity=gravity)
    _, drawing, _ = drawn(plant, plant.pack({"shoulder": -0.7, "elbow": 1.2}))
    (left, right), (low, high) = drawing.ax.get_xlim(), drawing.ax.get_ylim()
    corners = np.concatenate([p.vertices for p in drawing.body.shapes.get_paths()])
    assert left < corners[:, 0].min() and corners[:, 0].max() < right
    assert low < corners[:, 1].min() and corners[:, 1].max() < high
    assert np.ptp(corners, axis=0).max() > 0.7 * min(right - left, high - low)
    drawing.figure.draw_without_rendering()


def test_triangles_in_space_move_with_their_bodies():
    plant, q, _ = plants.catalogue["stewart"].start()
    seen, drawing, shot = drawn(plant, q)
    corners, normals, _ = drawing.body.triangles(shot)
    body = seen.bodies.index("platform")
    own = drawing.body.body == body
    pose = plant.pose(q, "platform")
    vertices = np.concatenate([s.vertices for s in seen.solids if s.body == "platform"])
    world = {tuple(p) for p in (pose.p + vertices @ pose.R.T).round(9)}
    assert {tuple(p) for p in corners[: len(own)][own].reshape(-1, 3).round(9)} == world
    np.testing.assert_allclose(np.linalg.norm(normals, axis=2), 1.0, atol=1e-9)


def test_boxes_in_space_are_within_the_figure():
    for name in ("stewart", "delta", "bricard", "governor"):
        plant, q, _ = plants.catalogue[name].start()
        drawing = drawn(plant, q)[1]
        image = drawing.pixels()
        assert image[:2].min() == image[-2:].min() == image[:, :2].min() == image[:, -2:].min() == 255


def test_springs_dampers_and_guides_in_a_plane():
    arm = cmb.Body.rod("arm", 1.0, 1.0)
    springs = [
        cmb.PointSpring("spring", "ground", "arm", (0, 1, 0), (0.9, 0, 0), stiffness=10.0),
        cmb.PointSpring("damper", "ground", "arm", (1, 1, 0), (0.5, 0, 0), damping=10.0),
    ]
    pivot = cmb.Revolute("pivot", "ground", "arm")
    plant = cmb.Mechanism("arm", [arm], [pivot], springs=springs, gravity=(0, -9.81, 0))
    q = np.array([0.3])
    _, drawing, _ = drawn(plant, q)
    for line, part in zip(drawing.body.links, springs, strict=True):
        points = np.array(line.get_data()).T
        np.testing.assert_allclose(points[0], part.point_a[:2], atol=1e-12)
        np.testing.assert_allclose(points[-1], plant.point(q, "arm", part.point_b)[:2], atol=1e-12)
        assert len(points) > 8


def test_ghosts_and_paths_are_added():
    plant = plants.five_bar()
    configurations = [plant.assemble(left=x, right=1.0) for x in (2.0, 2.1, 2.2)]
    seen = scene(plant)
    shots = [snapshot(seen, q) for q in configurations]
    drawing = Drawing(seen, shots)
    before = len(drawing.ax.collections)
    drawing.ghost(shots[0])
    drawing.paths(shots)
    assert len(drawing.ax.collections) == before + 1
    tips = [plant.point(q, "left_upper", (1.5, 0, 0))[:2] for q in configurations]
    paths = [np.array(line.get_data()).T for line in drawing.ax.lines if len(line.get_xdata()) == 3]
    assert any(np.allclose(path, tips) for path in paths)


def test_machines_in_space_need_axes_in_space():
    plant = plants.bricard()
    seen = scene(plant)
    with pytest.raises(ValueError, match="projection='3d'"):
        Drawing(seen, [snapshot(seen, plant.neutral())], Figure().add_subplot())

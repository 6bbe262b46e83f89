"""A machine as it looks: poses, ends and solids, against the plant itself."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plants import catalogue
from cmbcontrol.scene import has_look, scene
from cmbcontrol.scene.colors import GROUND_COLOR, JOINT, LOOP
from tests.fixtures import LOOPS, closed_machine, random_state, random_tree, wire_bead


def assert_follows(plant, q, seen):
    """Poses, rods and springs are where the plant says."""
    p, R = seen.poses(q)
    assert seen.bodies[0] == "ground" and len(seen.bodies) == len(p) == len(R)
    for name, at, turn in zip(seen.bodies, p, R, strict=True):
        frame = plant.pose(q, name)
        np.testing.assert_allclose(at, frame.p, atol=1e-12 * max(plant.size, 1.0))
        np.testing.assert_allclose(turn, frame.R, atol=1e-12)


@pytest.mark.parametrize("name", catalogue)
def test_every_plant_of_the_catalogue_has_a_look(name):
    plant, q, _ = catalogue[name].start()
    seen = scene(plant)
    assert has_look(plant) and seen.name == plant.name
    if isinstance(plant, cmb.Mechanism):
        assert_follows(plant, q, seen)
        shown = {solid.body for solid in seen.solids if solid.kind == "body"}
        assert {b.name for b in plant.bodies if b.mass > 0.0} <= shown
        assert np.isfinite(seen.points(q)).all()
    for solid in seen.solids:
        assert solid.faces.min() >= 0 and solid.faces.max() < len(solid.vertices)
        a, b, c = (np.asarray(solid.vertices)[solid.faces[:, k]] for k in range(3))
        assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0  # six times the volume: faces look outwards
        assert len(solid.color) == 7 and solid.color[0] == "#" and solid.color == solid.color.upper()


@pytest.mark.parametrize("seed", range(6))
def test_random_machines_follow_their_poses(seed):
    kinds = [LOOPS[(3 * seed + k) % len(LOOPS)] for k in range(3)]
    plant, q = closed_machine(seed, kinds)[:2]
    assert_follows(plant, q, scene(plant))
    tree = random_tree(seed, bodies=9)
    q, _ = random_state(tree, seed)
    assert_follows(tree, q, scene(tree))


def test_rods_have_their_length_and_springs_their_ends():
    corners = [(np.cos(a), np.sin(a), 0.0) for a in (0.0, 2.1, 4.2)]
    plate = cmb.Body("plate", 3.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.2))
    legs = [cmb.Distance(f"leg{i}", "ground", "plate", np.multiply(2, c), c, 1.6) for i, c in enumerate(corners)]
    spring = cmb.PointSpring("spring", "ground", "plate", (0, 0, 0), (0, 0, 0.1), stiffness=10.0, rest=1.0)
    plant = cmb.Mechanism("tripod", [plate], [cmb.Free("plate", "ground", "plate")], legs, [spring])
    q = plant.assemble(guess={"plate_z": 1.2})
    seen = scene(plant)
    ends = dict(zip((s.name for s in seen.stretched), seen.ends(q), strict=True))
    for i in range(3):
        a, b = ends[f"leg{i}"]
        assert np.linalg.norm(b - a) == pytest.approx(1.6)
    np.testing.assert_allclose(ends["spring"], [[0, 0, 0], plant.point(q, "plate", (0, 0, 0.1))], atol=1e-12)


@pytest.mark.parametrize("travel", [-0.7, 0.0, 1.3])
def test_guides_reach_beyond_what_slides(travel):
    block = cmb.Body("block", 2.0, inertia=(0.01, 0.01, 0.01))
    slide = cmb.Prismatic("slide", "ground", "block", axis=(3, 4, 0), frame=cmb.Frame((1, 1, 0)))
    seen = scene(cmb.Mechanism("slide", [block], [slide], gravity=(0, -9.81, 0)))
    (ends,) = seen.ends(np.array([travel]))
    along = (ends - [1, 1, 0]) @ [0.6, 0.8, 0.0]
    assert along.min() < min(0.0, travel) - 1e-3 and along.max() > max(0.0, travel) + 1e-3
    np.testing.assert_allclose(ends @ [-0.8, 0.6, 0.0], -0.2)


def test_shapes_and_colors_of_bodies_are_theirs():
    box = cmb.shapes.Box((0.4, 0.2, 0.1), cmb.Frame((0.2, 0, 0)), color="#abcdef")
    body = cmb.Body("arm", 1.0, (0.2, 0, 0), (0.1, 0.1, 0.1), shapes=[box, cmb.shapes.Ball((0.4, 0, 0), 0.05)])
    seen = scene(cmb.Mechanism("arm", [body], [cmb.Revolute("pivot", "ground", "arm")], gravity=(0, -9.81, 0)))
    first, second = (solid for solid in seen.solids if solid.kind == "body")
    np.testing.assert_array_equal(first.vertices, box.triangles().vertices)
    assert first.color == "#ABCDEF" and second.color != first.color and second.smooth and not first.smooth


def test_kinds_have_their_colors():
    seen = scene(plants.five_bar())
    colors = {kind: {s.color for s in seen.solids if s.kind == kind} for kind in ("joint", "loop", "ground", "body")}
    assert (colors["joint"], colors["loop"], colors["ground"]) == ({JOINT}, {LOOP}, {GROUND_COLOR})
    assert len(colors["body"]) == 4


def test_spots_are_on_the_machine():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    (tip,) = (spot for spot in scene(plant).spots if spot.kind == "loop")
    at = plant.point(q, tip.body, tip.point)
    np.testing.assert_allclose(at, plant.point(q, "left_upper", (1.5, 0, 0)), atol=1e-12)


def test_scenes_of_machines_without_weight_and_of_any_size():
    for size in (1e-3, 100.0):
        arm = cmb.Body.rod("arm", 1.0, size)
        seen = scene(cmb.Mechanism("arm", [arm], [cmb.Revolute("pivot", "ground", "arm")], gravity=(0, 0, 0)))
        assert not seen.down.any() and 0.5 * size < seen.size < 3.0 * size
        assert np.ptp(seen.points(np.zeros(1)), axis=0).max() < 1.5 * size


def test_plants_given_by_functions_draw_lines():
    plant, q, _ = catalogue["slider-crank"].start()
    lines = scene(plant).lines(q)
    assert all(line.shape[1] == 3 and not line[:, 2].any() for line in lines)
    np.testing.assert_allclose(scene(plant).points(q), np.concatenate(lines))
    assert scene(wire_bead(sketch=lambda q: [[[0.0, 0.0, 0.0], [*q, 1.0]]])).plane is None


def test_plants_without_a_sketch_say_so():
    assert not has_look(wire_bead())
    with pytest.raises(cmb.errors.ModelError, match=r"'bead' is given by functions.*sketch="):
        scene(wire_bead())
    with pytest.raises(cmb.errors.ModelError, match=r"sketch\(q\) must return lines.*\(2,\)"):
        scene(wire_bead(sketch=lambda q: [q]))


def test_what_slides_between_moving_bodies_in_space_is_carried():
    """By a rod from where the joint is on one body to where it is on the other, as long as the joint is out."""
    first = cmb.Body("first", 1.0, (0.1, 0.2, 0.1), (0.1, 0.1, 0.1))
    second = cmb.Body("second", 1.0, (0.0, 0.3, 0.1), (0.1, 0.1, 0.1))
    joints = [
        cmb.Spherical("ball", "ground", "first"),
        cmb.Prismatic("out", "first", "second", axis=(0, 0, 1), frame=cmb.Frame((0.0, 0.0, -0.5))),
    ]
    plant = cmb.Mechanism("leg", [first, second], joints)
    q = plant.configuration({"ball_qw": np.cos(0.3), "ball_qx": np.sin(0.3), "ball_qy": 0, "ball_qz": 0, "out": -0.4})
    seen = scene(plant)
    (i,) = [i for i, part in enumerate(seen.stretched) if part.name == "out"]
    assert seen.stretched[i].kind == "rod"
    a, b = seen.ends(q)[i]
    assert np.linalg.norm(b - a) == pytest.approx(0.4)
    np.testing.assert_allclose(a, plant.point(q, "first", (0.0, 0.0, -0.5)), atol=1e-12)

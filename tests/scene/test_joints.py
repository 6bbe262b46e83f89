"""Joints by kind, closing points, supports, and what stretches."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.characteristics import DamperTable, Rope, SpringDamper, SpringTable
from cmbcontrol.model.elements import Ball, Box, Rod
from cmbcontrol.scene.joints import Track, ground_points, placed_parts, stretched_parts
from cmbcontrol.scene.proportions import Proportions


def on_the_ground(kind, **options):
    body = cmb.Body("body", 1.0, (0.3, 0.1, 0.2), (0.1, 0.1, 0.1))
    far = cmb.Body("far", 1.0, (0.3, 0, 0), (0.1, 0.1, 0.1))
    joints = [
        kind("joint", "ground", "body", frame=cmb.Frame((1.0, 2.0, 3.0)), **options),
        cmb.Spherical("end", "body", "far", frame=cmb.Frame((0.5, 0, 0))),
    ]
    return Proportions(cmb.Mechanism("machine", [body, far], joints))


@pytest.mark.parametrize(
    ("kind", "options", "shapes"),
    [
        (cmb.Revolute, {}, [Rod]),
        (cmb.Prismatic, {}, [Box]),
        (cmb.Cylindrical, {}, [Rod]),
        (cmb.Helical, {"pitch": 0.1}, [Rod]),
        (cmb.Universal, {}, [Rod, Rod]),
        (cmb.Spherical, {}, [Ball]),
        (cmb.Planar, {}, []),
        (cmb.Free, {}, []),
        (cmb.Fixed, {}, []),
    ],
)
def test_joints_by_kind(kind, options, shapes):
    of = on_the_ground(kind, **options)
    found = [part for part in placed_parts(of) if part.name == "joint"]
    assert [type(part.shape) for part in found] == shapes
    for part in found:
        vertices = of.world(part.body, part.shape.triangles().vertices)
        middle = 0.5 * (vertices.max(axis=0) + vertices.min(axis=0))
        np.testing.assert_allclose(middle, [1.0, 2.0, 3.0], atol=1e-9)


def test_axes_of_joints_are_seen():
    of = on_the_ground(cmb.Revolute, axis=(1, 2, 2))
    (pin,) = (part.shape for part in placed_parts(of) if part.name == "joint")
    along = np.subtract(pin.end, pin.start)
    np.testing.assert_allclose(along / np.linalg.norm(along), [1 / 3, 2 / 3, 2 / 3])


def test_pins_in_a_plane_go_through_both_bodies():
    plant = plants.five_bar()
    of = Proportions(plant)
    pins = {part.name: part for part in placed_parts(of) if part.kind in ("joint", "loop")}
    assert set(pins) == {"left", "right", "elbow_left", "elbow_right", "tip"} and pins["tip"].kind == "loop"
    for name, bodies in {"elbow_left": ("left_lower", "left_upper"), "tip": ("left_upper", "right_upper")}.items():
        heights = of.world(pins[name].body, pins[name].shape.triangles().vertices)[:, 2]
        assert heights.min() < min(of.spans[b][0] for b in bodies)
        assert heights.max() > max(of.spans[b][1] for b in bodies)


def test_no_joint_of_a_carrier_is_drawn():
    parts = placed_parts(Proportions(plants.pendulum()))
    assert [(part.kind, part.name) for part in parts] == [("loop", "pivot"), ("ground", "ground")]


def test_supports_stand_where_the_ground_carries():
    np.testing.assert_allclose(ground_points(Proportions(plants.five_bar())), [[0, 0, 0], [1, 0, 0]])
    of = Proportions(plants.stewart())
    (base,) = (part for part in placed_parts(of) if part.kind == "ground")
    heights = base.shape.triangles().vertices[:, 2]
    assert len(ground_points(of)) == 6 and np.ptp(heights) < of.width  # a plate through all six
    assert sum(part.kind == "ground" for part in placed_parts(Proportions(plants.bricard()))) == 2


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 9.81, 0), (9.81, 0, 0), (0, 0, 0)])
def test_supports_are_below(gravity):
    arm = cmb.Body.rod("arm", 1.0, 1.0)
    plant = cmb.Mechanism("arm", [arm], [cmb.Revolute("pivot", "ground", "arm")], gravity=gravity)
    (support,) = (part for part in placed_parts(Proportions(plant)) if part.kind == "ground")
    middle = support.shape.triangles().vertices.mean(axis=0)
    down = np.array(gravity) if any(gravity) else np.array([0.0, -1.0, 0.0])
    assert middle @ down / np.linalg.norm(down) > 0.02
    assert abs(np.cross(middle, down)[2]) < 1e-9 * np.linalg.norm(down)


def test_rods_springs_and_ropes_stretch():
    plate = cmb.Body("plate", 3.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.2))
    laws = {
        "spring": SpringTable([0.0, 1.0], [0.0, 5.0]),
        "both": SpringDamper(5.0, rest=1.0, damping=2.0),
        "rope": Rope(2.0, stiffness=1e4),
        "pot": DamperTable([0.0, 1.0], [0.0, 5.0]),
        "sum": DamperTable([0.0, 1.0], [0.0, 5.0]) + SpringTable([0.0, 1.0], [0.0, 5.0]),
        "own": lambda d, rate: 3.0 * d,
    }
    forces = [cmb.PointForce(name, "ground", "plate", law, (1, 0, 0)) for name, law in laws.items()]
    springs = [
        cmb.PointSpring("coil", "ground", "plate", (0, 0, 0), (0, 0, 0.1), stiffness=10.0),
        cmb.PointSpring("dashpot", "ground", "plate", (0, 0, 0), (0, 0, 0.1), damping=10.0),
    ]
    loops = [cmb.Distance("leg", "ground", "plate", (2, 0, 0), (1, 0, 0), 1.6)]
    free = cmb.Free("free", "ground", "plate")
    of = Proportions(cmb.Mechanism("tripod", [plate], [free], loops, springs, forces=forces))
    kinds = {part.name: part.kind for part in stretched_parts(of)}
    assert kinds == {
        **{"leg": "rod", "coil": "spring", "dashpot": "damper", "spring": "spring", "both": "spring"},
        **{"rope": "rope", "pot": "damper", "sum": "spring", "own": "spring"},
    }


def test_guides_go_with_what_slides():
    crank, rod = cmb.Body.rod("crank", 1.0, 0.3), cmb.Body.rod("rod", 1.0, 0.8)
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Revolute("elbow", "crank", "rod", frame=cmb.Frame((0.3, 0, 0))),
    ]
    line = cmb.PointOnLine("guide", "ground", "rod", (0, 0, 0), (0.8, 0, 0), axis=(1, 0, 0))
    plane = cmb.PointOnPlane("guide", "ground", "rod", (0, 0, 0), (0.8, 0, 0), normal=(0, 1, 0))
    for loop in (line, plane):
        of = Proportions(cmb.Mechanism("press", [crank, rod], joints, [loop], gravity=(0, -9.81, 0)))
        (guide,) = stretched_parts(of)
        assert isinstance(guide, Track) and guide.kind == "guide"
        np.testing.assert_allclose(np.abs(guide.axis), [1, 0, 0], atol=1e-12)
    across = cmb.PointOnLine("pin", "ground", "rod", (1.1, 0, 0), (0.8, 0, 0))  # along z: a pin, no guide
    of = Proportions(cmb.Mechanism("press", [crank, rod], joints, [across], gravity=(0, -9.81, 0)))
    assert stretched_parts(of) == []


def test_cylinders_need_no_block_and_no_guide():
    of = Proportions(plants.excavator())
    kinds = {part.name: part.kind for part in stretched_parts(of)}
    assert kinds == {f"{name}_cylinder": "rod" for name in ("boom", "arm", "bucket")}
    assert not any(isinstance(part.shape, Box) for part in placed_parts(of))

"""Machines through SDF files and back: the same M, bias and loops, but for what the remarks say."""

from dataclasses import replace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Frame, Mechanism
from cmbcontrol.characteristics import Friction
from cmbcontrol.errors import AssemblyError, InputError, ModelError
from cmbcontrol.formats.sdf import read_sdf
from cmbcontrol.formats.sdf_writing import write_sdf
from cmbcontrol.model.elements import (
    Coupling,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    JointForce,
    JointSpring,
    Planar,
    Point,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from cmbcontrol.plants import catalogue

from ..fixtures import MECHANISMS
from ..robustness import machines
from ..seeds import rotating
from .matching import differences, made_body
from .test_urdf_writing import body, frame, kept_of


def cuts_of(kept):
    return [loop.name for loop in kept.loops if not isinstance(loop, Coupling)]


def is_kept(kept, made, q, v, start):
    found = differences(kept, made, q, v, start)
    assert found["M"] < 1e-12 and found["h"] < 1e-12 and found["closure"] < 1e-12 and found["space"] < 1e-8, found
    assert np.array_equal(made.gravity, kept.gravity)


def moves_alike(kept, made, start):
    """Whether bodies start to fall alike from rest, whatever joints are cut, and so whatever coordinates there are."""
    moved = []
    kept, made = (plant.with_parts(gravity=(3.0, -9.0, 2.0)) for plant in (kept, made))  # some lie flat
    for plant, q in ((kept, start), (made, made.neutral())):
        a = cmb.forward_dynamics(plant, q, np.zeros(plant.nv))
        size = 1e-5 / max(1.0, np.abs(a * plant.unit_lengths).max() / plant.size)
        ends = [plant.integrate(q, sign * size * a) for sign in (1.0, -1.0)]
        names = [(made_name(plant, name, made), name) for name in (x.name for x in kept.bodies)]
        rates = []
        for own, name in names:
            there, back = (plant.pose(end, own if plant is made else name) for end in ends)
            rates += [(there.p - back.p) / (2 * size), (there.R - back.R).ravel() / (2 * size) * kept.size]
        moved.append(np.concatenate(rates))
    return np.abs(moved[0] - moved[1]).max() / np.abs(moved[0]).max()


def made_name(plant, name, made):
    return made_body(made, Fixed("x", "ground", name))


def undamped(plant):
    """Springs of coordinates without dampers: in SDF, these are the joint's, and count in h as other forces do."""
    springs = [replace(x, damping=0.0) if isinstance(x, JointSpring) else x for x in plant.springs]
    return plant.with_parts(springs=springs)


@pytest.mark.first(5)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_ready_made_machines(name, tmp_path):
    plant = undamped(catalogue[name].factory())
    conversion = write_sdf(plant, tmp_path / "robot.sdf")
    kept = kept_of(plant, conversion)
    start = plant.assemble() if plant.row_names else plant.neutral()
    read = read_sdf(tmp_path / "robot.sdf", cuts=cuts_of(kept))
    made = read.machine
    assert set(made.position_names) == set(plant.position_names)
    assert not made.row_names or made.closure_error(made.neutral()) < 1e-14 * made.size
    for seed in range(3):
        rng = np.random.default_rng([seed, 9])
        q = kept.integrate(start, 0.3 * kept.displacement_scale * rng.uniform(-1, 1, kept.nv))
        q = kept.close(q) if kept.row_names else q
        v = rng.uniform(-1, 1, kept.nv)
        is_kept(kept, made, q, kept.project_velocity(q, v) if kept.row_names else v, start)
    assert {x.joint for x in made.actuators} == {x.joint for x in kept.actuators}
    chosen = read_sdf(tmp_path / "robot.sdf")  # cut where the reader likes
    assert moves_alike(kept, chosen.machine, start) < 1e-6
    if kept.row_names and any("is cut" in str(x) for x in read.remarks):
        assert any("is cut" in str(x) for x in chosen.remarks)


def random_machine(seed, folder):
    data = machines.machine(seed)
    try:
        plant = machines.build(data).with_parts(springs=())
    except ModelError:  # without inertia
        return
    start = data.q.astype(float)
    start = plant.close(start) if plant.row_names else start
    conversion = write_sdf(plant, folder / "robot.sdf", start)
    kept = kept_of(plant, conversion)
    try:
        made = read_sdf(folder / "robot.sdf", cuts=cuts_of(kept)).machine
    except ModelError as error:  # a body that floats, and has a joint to the world among its loops, needs no other one
        assert "no joint of the tree carries" in str(error) and any(isinstance(j, Free) for j in plant.joints)
        return
    if any(isinstance(j, Free) and (j.parent != "ground" or f"{j.child}_free_x" not in made.position_names)
           for j in plant.joints):  # fmt: skip
        return
    rng = np.random.default_rng([seed, 3])
    q = kept.integrate(start, 0.1 * kept.displacement_scale * rng.uniform(-1, 1, kept.nv))
    try:
        q = kept.close(q) if kept.row_names else q
    except AssemblyError:  # a chain that just reaches its end when it is stretched is closed nowhere else
        ranks = [np.linalg.matrix_rank(kept.terms(x, np.zeros(kept.nv)).A, 1e-8) for x in (start, q)]
        assert ranks[0] < ranks[1]
        q = start
    v = rng.uniform(-1, 1, kept.nv)
    is_kept(kept, made, q, kept.project_velocity(q, v) if kept.row_names else v, start)


@pytest.mark.parametrize("seed", range(1, 200, 17))
def test_some_random_machines(seed, tmp_path):
    random_machine(seed, tmp_path)


def test_a_chain_that_is_closed_only_when_it_is_stretched(tmp_path):
    random_machine(8335938200071, tmp_path)


@pytest.mark.rotates
@pytest.mark.parametrize("seed", rotating(100))
def test_random_machines_of_this_commit(seed, tmp_path):
    random_machine(seed, tmp_path)


def furnished():
    """All joints of the library in a tree, in any frames."""
    rng = np.random.default_rng(8)
    slanted = rng.standard_normal(3)
    kinds = [
        ("float", Free, {}),
        ("hinge", Revolute, {"axis": slanted, "limits": (-2, 1.5), "damping": 0.3}),
        ("rail", Prismatic, {"axis": (1, 2, 0), "damping": 0.1}),
        ("screw", Helical, {"axis": slanted, "pitch": -0.07}),
        ("tube", Cylindrical, {"axis": (0, 1, 1), "damping": (0.1, 0.2), "limits": {"travel": (-1, 2)}}),
        ("cross", Universal, {"axis": (1, 1, 0), "second_axis": (0, 0, 2), "damping": (0.3, 0.4)}),
        ("table", Planar, {"axis": slanted}),
        ("ball", Spherical, {}),
        ("flange", Fixed, {}),
    ]
    bodies = [body(f"body {name}", rng) for name, _, _ in kinds]
    joints = []
    for i, (name, made, keys) in enumerate(kinds):
        parent = "ground" if i == 0 else bodies[i - 1].name
        joints.append(made(name, parent, bodies[i].name, frame=frame(rng), child_frame=frame(rng), **keys))
    bodies.append(Body("tool"))
    joints.append(Fixed("at_tool", bodies[-2].name, "tool", frame=frame(rng), child_frame=frame(rng)))
    loops = [
        Coupling("gear", {"hinge": 2.0, "tube_angle": -3.0}, 0.4),
        Coupling("differential", {"hinge": 1.0, "rail": 1.0, "screw": 1.0}),
    ]
    return Mechanism(
        "furnished",
        bodies,
        joints,
        loops,
        springs=[JointSpring("coil", "hinge", 7.0, 0.4), JointSpring("twist", "cross_2", 3.0, -0.2)],
        forces=[JointForce("rub", "rail", Friction(0.2))],
        actuators=[Actuator("hinge", "motor", effort=20.0, gear=-30.0, speed=300.0), Actuator("cross_2", effort=5.0)],
        gravity=(0.3, -0.2, -9.7),
    )


@pytest.mark.parametrize("at_zero", [True, False])
def test_all_joints(at_zero, tmp_path):
    """Also where the file is written at another configuration than zero: all coordinates are from there."""
    whole = furnished()
    plant = whole.without("differential")
    rng = np.random.default_rng(3)
    start = plant.close(plant.integrate(plant.neutral(), (not at_zero) * rng.uniform(-1, 1, plant.nv)))
    conversion = write_sdf(plant, tmp_path / "robot.sdf", start)
    made = read_sdf(tmp_path / "robot.sdf").machine
    q = plant.integrate(start, rng.uniform(-1, 1, plant.nv))
    v = rng.uniform(-1, 1, plant.nv)
    found = differences(plant.with_parts(loops=()), made.with_parts(loops=()), q, v, start)
    assert found["M"] < 1e-12 and found["h"] < 1e-12, found
    told = str(conversion)
    for words in (
        "'differential'",
        "'motor'",
        "SDF has no largest speed",
        "'coil'",
        "two slides and a hinge",
        "its body has no joint",
    ):
        assert words in told, words
    (coupling,) = made.loops
    q0 = dict(zip(plant.position_names, start, strict=True))
    assert coupling.offset == pytest.approx(0.2 + 1.5 * q0["tube_angle"] - q0["hinge"])
    assert made.actuators[0].effort == 600.0 and made.actuators[1].effort == 5.0
    hinge = next(x for x in made.joints if x.name == "hinge")
    assert hinge.limits[0] == pytest.approx(np.array([-2.0, 1.5]) - q0["hinge"])
    there, here = made.pose(made.neutral(), "tool"), plant.pose(start, "tool")
    assert np.abs(there.p - here.p).max() < 1e-13 and np.abs(there.R - here.R).max() < 1e-13


def test_a_cut_universal_joint(tmp_path):
    """Its axes are perpendicular in the file, which has it turned by both of its angles."""
    rng = np.random.default_rng(4)
    bodies = [body("a", rng), body("b", rng)]
    joints = [Spherical("s", "ground", "a", frame=frame(rng)), Free("f", "ground", "b", frame=frame(rng))]
    cross = Universal("u", "a", "b", axis=(1, 2, 0), second_axis=(2, -1, 5), frame=frame(rng), child_frame=frame(rng))
    plant = Mechanism("pair", bodies, joints, [cross])
    start = plant.close(plant.integrate(plant.neutral(), rng.uniform(-1, 1, plant.nv)))
    write_sdf(plant, tmp_path / "pair.sdf", start)
    made = read_sdf(tmp_path / "pair.sdf").machine  # nothing is cut: b hangs on a
    assert made.nv == 5 and not made.row_names
    assert moves_alike(plant, made, start) < 1e-6


def test_planar_machines_and_others(tmp_path):
    """A point on a line is a hinge in a plane, and only there."""
    flat = catalogue["five-bar"].factory()
    conversion = write_sdf(flat, tmp_path / "flat.sdf")
    assert any("as a hinge" in x.what for x in conversion.of_kind("changed"))
    rng = np.random.default_rng(0)
    leaning = [
        replace(j, axis=j.axis + 0.1 * rng.standard_normal(3)) if j.name == "elbow_left" else j for j in flat.joints
    ]
    conversion = write_sdf(flat.with_parts(joints=leaning), tmp_path / "skew.sdf", flat.assemble(left=2.1, right=1.0))
    assert any("PointOnLine" in x.what for x in conversion.of_kind("left out"))


def test_names(tmp_path):
    """Links and joints share a scope in SDF, and some names are its own."""
    rods = [
        Body.rod("rod", 1.0, 1.0),
        Body.rod("world", 1.0, 1.0),
        Body.rod("a::b", 1.0, 1.0),
        Body.rod(" x  y ", 1.0, 1.0),
    ]
    joints = [
        Revolute("rod", "ground", "rod", axis=(0, 1, 0)),
        Revolute("__odd__", "rod", "world", axis=(0, 1, 0)),
        Revolute("rod_link", "world", "a::b", axis=(0, 1, 0)),
        Revolute("<&>'\"", "a::b", " x  y ", axis=(0, 1, 0)),
    ]
    conversion = write_sdf(Mechanism("names", rods, joints), tmp_path / "names.sdf")
    made = read_sdf(tmp_path / "names.sdf").machine
    assert made.position_names == ("rod", "odd", "rod_link", "<&>'\"")
    assert [x.name for x in made.bodies] == ["rod_link_2", "world_link", "a_b", "x y"]
    assert len(conversion.of_kind("changed")) >= 4


def test_what_no_file_can_hold(tmp_path):
    plant = Mechanism("bell\x07", [Body.rod("rod", 1.0, 1.0)], [Revolute("pivot", "ground", "rod")])
    with pytest.raises(InputError, match="XML cannot hold"):
        write_sdf(plant, tmp_path / "bell.sdf")
    with pytest.raises(TypeError, match="Mechanism"):
        write_sdf(cmb.simulate, tmp_path / "bell.sdf")
    assert not list(tmp_path.iterdir())


def test_points_are_ball_joints(tmp_path):
    rods = [Body("rod", 1.0, (0.5, 0, 0), (0.1, 0.2, 0.2)), Body("arm", 2.0, (0.3, 0, 0), (0.1, 0.2, 0.2))]
    joints = [Spherical("one", "ground", "rod"), Spherical("two", "ground", "arm", frame=Frame((1.2, 0, 0)))]
    plant = Mechanism("pair", rods, joints, [Point("pin", "rod", "arm", (1, 0, 0), (0.7, 0, 0))])
    conversion = write_sdf(plant, tmp_path / "pair.sdf")
    made = read_sdf(tmp_path / "pair.sdf", cuts=["pin"]).machine
    assert isinstance(made.loops[0], Spherical) and "ball joint" in str(conversion)
    assert moves_alike(plant, made, plant.assemble()) < 1e-6

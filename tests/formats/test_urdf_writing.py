"""Machines through URDF files and back: the same M, bias and loops, but for what the remarks say."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Frame, Mechanism, plants
from cmbcontrol.characteristics import Friction
from cmbcontrol.errors import FileError, InputError, ModelError
from cmbcontrol.formats.urdf import read_urdf
from cmbcontrol.formats.urdf_writing import write_urdf
from cmbcontrol.model.elements import (
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    Free,
    Helical,
    JointForce,
    JointSpring,
    Planar,
    Point,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from cmbcontrol.plants import catalogue

from ..fixtures import MECHANISMS
from ..robustness import machines
from ..seeds import rotating
from .matching import closed_state, differences
from .test_urdf import in_pinocchio


def kept_of(plant, conversion):
    """The machine without what the remarks say is left out."""
    gone = {kind: [] for kind in ("spring", "force element", "load", "loop", "actuator", "constraint")}
    for remark in conversion.of_kind("left out"):
        kind, _, name = remark.part.partition(" '")
        gone.setdefault(kind, []).append(name.rstrip("'"))
    kept = {
        "springs": [x for x in plant.springs if x.name not in gone["spring"]],
        "forces": [x for x in plant.forces if x.name not in gone["force element"]],
        "loads": [x for x in plant.loads if x.name not in gone["load"]],
        "actuators": [x for x in plant.actuators if x.name not in gone["actuator"]],
        "loops": [x for x in plant.loops if x.name not in gone["loop"]],
    }
    return plant.with_parts(**kept)


def through_a_file(plant, folder):
    """The machine that comes back, and what was written."""
    conversion = write_urdf(plant, folder / "robot.urdf")
    return read_urdf(folder / "robot.urdf").machine, conversion


def is_kept(plant, made, conversion, q, v):
    kept = kept_of(plant, conversion)
    found = differences(kept, made, q, v)
    assert found["M"] < 1e-12 and found["h"] < 1e-12 and found["closure"] < 1e-12 and found["space"] < 1e-8, found
    assert np.array_equal(made.gravity, plant.gravity)
    return kept


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_ready_made_machines(name, tmp_path):
    plant = catalogue[name].factory()
    made, conversion = through_a_file(plant, tmp_path)
    assert made.position_names == plant.position_names
    for seed in range(3):
        kept = is_kept(plant, made, conversion, *closed_state(kept_of(plant, conversion), seed))
    assert [(x.name, x.joint) for x in made.actuators] == [(x.name, x.joint) for x in kept.actuators]
    assert made.effort == pytest.approx(kept.effort, rel=1e-15)
    assert np.array_equal(made.limits, kept.limits)
    assert [x.name for x in made.loops if not isinstance(x, Coupling)] == [
        x.name for x in kept.loops if not isinstance(x, Coupling)
    ]
    again, _ = through_a_file(made, tmp_path)  # what is written the second time is as it was the first time
    assert [x.name for x in again.bodies] == [x.name for x in made.bodies]


def random_machine(seed, folder):
    data = machines.machine(seed)
    try:
        plant = machines.build(data)
    except ModelError:  # without inertia
        return
    made, conversion = through_a_file(plant, folder)
    kept = kept_of(plant, conversion)
    q = data.q.astype(float)
    q = kept.close(q) if kept.row_names else q
    v = np.random.default_rng([seed, 3]).uniform(-1, 1, plant.nv)
    is_kept(plant, made, conversion, q, kept.project_velocity(q, v) if kept.row_names else v)


@pytest.mark.parametrize("seed", range(0, 200, 17))
def test_some_random_machines(seed, tmp_path):
    random_machine(seed, tmp_path)


@pytest.mark.rotates
@pytest.mark.parametrize("seed", rotating(100))
def test_random_machines_of_this_commit(seed, tmp_path):
    random_machine(seed, tmp_path)


def body(name, rng):
    x = rng.standard_normal((5, 3)) * 0.3
    return Body(name, 5.0, x.mean(0), sum((a @ a) * np.eye(3) - np.outer(a, a) for a in x - x.mean(0)))


def frame(rng):
    return Frame.turned(rng.standard_normal(3), rng.uniform(-3, 3), rng.uniform(-0.5, 0.5, 3))


def furnished():
    """All joints of the library in a tree, with frames on both sides, and all loops between them."""
    rng = np.random.default_rng(5)
    slanted = rng.standard_normal(3)
    kinds = [
        ("hinge", Revolute, {"axis": slanted, "limits": (-2, 1.5), "damping": 0.3}),
        ("rail", Prismatic, {"axis": (1, 2, 0), "damping": 0.1}),
        ("screw", Helical, {"axis": slanted, "pitch": -0.07, "limits": (-9, 9)}),
        ("tube", Cylindrical, {"axis": (0, 1, 1), "damping": (0.1, 0.2), "limits": {"travel": (-1, 2)}}),
        ("cross", Universal, {"axis": (1, 1, 0), "second_axis": (0, 0, 2), "damping": (0.3, 0.4)}),
        ("table", Planar, {"axis": slanted}),
        ("ball", Spherical, {}),
        ("flange", Fixed, {}),
        ("float", Free, {}),
    ]
    bodies = [body(f"body {name}", rng) for name, _, _ in kinds]
    joints = []
    for i, (name, made, keys) in enumerate(kinds):
        parent = "ground" if i in (0, 8) else bodies[i - 1].name
        joints.append(made(name, parent, bodies[i].name, frame=frame(rng), child_frame=frame(rng), **keys))
    a, b = bodies[3].name, bodies[8].name
    ends = {"frame": frame(rng), "child_frame": frame(rng)}
    points = {"point_a": (0.1, 0.2, 0.3), "point_b": (0, 0.1, 0)}
    loops = [
        Point("p", a, b, **points),
        PointOnLine("l", a, b, **points, axis=slanted),
        PointOnPlane("s", a, b, **points, normal=slanted),
        Distance("d", a, b, **points, length=0.7),
        Weld("w", a, b, frame(rng), frame(rng)),
        Revolute("r", a, b, axis=slanted, **ends),
        Prismatic("t", "ground", b, axis=slanted, **ends),
        Helical("h", a, b, axis=slanted, pitch=0.2, **ends),
        Cylindrical("c", a, b, axis=slanted, **ends),
        Planar("e", a, b, axis=slanted, **ends),
        Universal("u", a, b, axis=(0, 3, 0), second_axis=(1, 0, 1), **ends),
        Spherical("o", a, b, **ends),
        Fixed("f", a, b, **ends),
        Coupling("gear", {"hinge": 2.0, "tube_angle": -3.0}, 0.4),
        Coupling("belt", {"cross_1": 1.0, "tube_angle": 0.5}),
        Coupling("differential", {"hinge": 1.0, "rail": 1.0, "screw": 1.0}),
    ]
    motors = [
        Actuator("hinge", "motor", effort=20.0, gear=-30.0, continuous=8.0),
        Actuator("cross_2", effort=5.0),
        Actuator("screw"),
        Actuator("r", "cut"),
        Actuator("wheel", bodies=(a, b), axis=(1, 0, 0)),
    ]
    return Mechanism("furnished", bodies, joints, loops, actuators=motors, gravity=(0.3, -0.2, -9.7))


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(3))
def test_all_joints_and_loops(seed, tmp_path):
    """At open configurations, where all rows are compared one by one with those of the same loop."""
    plant = furnished()
    made, conversion = through_a_file(plant, tmp_path)
    kept = kept_of(plant, conversion)
    rng = np.random.default_rng(seed)
    q = kept.integrate(kept.neutral(), rng.uniform(-1, 1, kept.nv))
    v = rng.uniform(-1, 1, kept.nv)
    for name in [loop.name for loop in kept.loops]:
        one = kept.with_parts(loops=[x for x in kept.loops if x.name == name], actuators=())
        other = made.with_parts(loops=[x for x in made.loops if x.name == COUPLED.get(name, name)], actuators=())
        found = differences(one, other, q, v)
        assert found["M"] < 1e-12 and found["h"] < 1e-12 and found["space"] < 1e-9, (name, found)
    told = str(conversion)
    for words in (
        "'differential'",
        "'cut'",
        "'wheel'",
        "'belt': is called 'cross_1_mimic'",
        "'screw'",
        "ball joint",
        "URDF has no continuous",
    ):
        assert words in told, words
    assert [(x.name, x.joint, x.gear) for x in made.actuators] == [
        ("motor", "hinge", -30.0), ("cross_2", "cross_2", 1.0), ("screw", "screw", 1.0)
    ]  # fmt: skip
    assert made.effort == pytest.approx([20.0, 5.0, np.inf])
    assert made.joints[made.position_names.index("hinge")].limits.tolist() == [[-2.0, 1.5]]


COUPLED = {"gear": "hinge_mimic", "belt": "cross_1_mimic"}


def test_what_is_written_is_read_by_pinocchio(tmp_path):
    """The tree, with hinges, slides, screws as two joints, and floating bodies."""
    rng = np.random.default_rng(1)
    bodies = [body(name, rng) for name in "abcd"]
    joints = [
        Revolute("one", "ground", "a", axis=(1, 2, 3), frame=frame(rng), child_frame=frame(rng)),
        Universal("two", "a", "b", frame=frame(rng), child_frame=frame(rng)),
        Cylindrical("three", "b", "c", axis=(1, 0, 1), frame=frame(rng), child_frame=frame(rng)),
        Free("four", "a", "d", frame=frame(rng), child_frame=frame(rng)),
    ]
    plant = Mechanism("tree", bodies, joints)
    path = write_urdf(plant, tmp_path / "tree.urdf").path
    q = plant.integrate(plant.neutral(), rng.uniform(-1, 1, plant.nv))
    v = rng.uniform(-1, 1, plant.nv)
    M, h = in_pinocchio(path, plant, q, v)
    terms = plant.terms(q, v)
    assert np.abs(terms.M - M).max() < 1e-12 * np.abs(M).max()
    assert np.abs(terms.h - h).max() < 1e-12 * np.abs(h).max()


def test_friction_and_what_is_left_out(tmp_path):
    rod = Body.rod("rod", 1.0, 1.0)
    pivot = Revolute("pivot", "ground", "rod", axis=(0, 1, 0), damping=0.5, armature=0.1, restitution=0.2)
    plant = Mechanism(
        "pendulum",
        [rod],
        [pivot],
        springs=[JointSpring("s", "pivot", 3.0), PointSpring("band", "ground", "rod", (1, 1, 1), (0, 0, 0), 1.0)],
        forces=[
            JointForce("rub", "pivot", Friction(0.4, static=0.5, viscous=0.1)),
            JointForce("table", "pivot", lambda x, rate: x),
        ],
        loads=[cmb.Load("wind", "rod", force=(1, 0, 0))],
        configurations={"down": {"pivot": 1.5}},
    )
    made, conversion = through_a_file(plant, tmp_path)
    assert made.joints[0].damping[0] == pytest.approx(0.6) and made.forces[0].characteristic.coulomb == 0.4
    told = str(conversion)
    for words in ("'s'", "'band'", "'table'", "'wind'", "'down'", "armature", "restitution", "'rub'", "while sliding"):
        assert words in told, words


@pytest.mark.parametrize("name", ["two words", "ü", "<&>'\"", "a\nb\tc\r", " edge ", "1e3", "ground_a", "null"])
def test_names_of_all_kinds(name, tmp_path):
    rods = [Body.rod(name, 1.0, 1.0), Body.rod("other", 1.0, 1.0)]
    joints = [Revolute(name, "ground", name, axis=(0, 1, 0)), Revolute("b", name, "other", axis=(0, 1, 0))]
    loop = Point("held", "ground", "other", (1, 0, 1), (1, 0, 0))
    plant = Mechanism(name, rods, joints, [loop], actuators=[Actuator(name)])
    made, _ = through_a_file(plant, tmp_path)
    assert (made.name, made.bodies[0].name, made.position_names[0]) == (name, name, name)
    assert [x.name for x in made.actuators] == [name] and [x.name for x in made.loops] == ["held"]


def test_a_name_that_no_xml_holds(tmp_path):
    plant = Mechanism("bell\x07", [Body.rod("rod", 1.0, 1.0)], [Revolute("pivot", "ground", "rod")])
    with pytest.raises(InputError, match="XML cannot hold"):
        write_urdf(plant, tmp_path / "bell.urdf")
    assert not list(tmp_path.iterdir())


def test_files_beside(tmp_path):
    """A YAML file of something else is not overwritten, an old one of loops is; nothing is written in part."""
    path = tmp_path / "robot.urdf"
    plants.leg().save(tmp_path / "robot.yaml")
    before = (tmp_path / "robot.yaml").read_text()
    with pytest.raises(FileError, match="no file of loops"):
        write_urdf(plants.five_bar(), path)
    assert (tmp_path / "robot.yaml").read_text() == before and not path.exists()
    (tmp_path / "robot.yaml").unlink()
    write_urdf(plants.five_bar(), path)
    free = plants.five_bar().with_parts(loops=())
    flat = Mechanism("flat", free.bodies, free.joints)  # nothing to say in YAML; the loops of before must go
    write_urdf(flat, path)
    assert not read_urdf(path).machine.loops
    with pytest.raises(InputError, match=r"ends in \.urdf"):
        write_urdf(flat, tmp_path / "robot.yaml")
    with pytest.raises(TypeError, match="Mechanism"):
        write_urdf(cmb.simulate, path)
    with pytest.raises(FileError, match="cannot be written"):
        write_urdf(flat, tmp_path / "gone" / "robot.urdf")

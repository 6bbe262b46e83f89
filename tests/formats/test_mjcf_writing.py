"""Machines into MJCF files: MuJoCo compiles them to the same equations of motion, and they come back."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, Load, Mechanism, characteristics, plants
from cmbcontrol.errors import CmbError, FileError, InputTypeError, ModelError
from cmbcontrol.formats.mjcf_writing import write_mjcf
from cmbcontrol.model import elements
from cmbcontrol.plants import catalogue

from ..fixtures import MECHANISMS
from ..robustness import machines
from ..seeds import rotating

ROD = Body("rod", 1.0, (0.4, 0.05, -0.1), np.diag([0.02, 0.03, 0.04]) + 0.004)

quiet = pytest.mark.filterwarnings("ignore::cmbcontrol.errors.BranchWarning")


def written(plant, folder):
    path = folder / "machine.xml"
    return write_mjcf(plant, path), path


def lost(found, *words):
    """What is left out that speaks of one of these."""
    return [str(x) for x in found.of_kind("left out") if any(word in str(x) for word in words)]


def equations_agree(plant, folder, states):
    """MuJoCo's M, forces, rows and motor forces, and those of the machine that is read back, at closed states."""
    mujoco = pytest.importorskip("mujoco")
    from cmbcontrol.formats.mjcf import read_mjcf

    from .mjcf_judge import Judge

    found, path = written(plant, folder)
    back = read_mjcf(path).machine
    judge = Judge(mujoco.MjModel.from_xml_path(str(path)), plant)
    again = Judge(judge.m, back)
    constraints = lost(found, "constraint", "cut joint", "coupling", "cam")
    forces = lost(found, "force element", "spring", "load", "damping", "static friction")
    for q, v in states:
        judge.take(q, v)
        M, h = judge.errors()
        assert M < 1e-12
        assert h < 1e-12 or forces
        again.set(judge.d.qpos, judge.d.qvel)
        M, h = again.errors()
        assert M < 1e-12 and h < 1e-12
        assert np.abs(judge.rows()[1]).max(initial=0.0) < 1e-9 * plant.length_scale(q)
        row_spaces = [judge.row_error()] if not constraints else []
        for error, one, other in [*row_spaces, again.row_error()]:
            assert one == other and error < 1e-8
        same = [type(x) for x in back.joints if x.velocity_names] == [type(x) for x in plant.joints if x.velocity_names]
        if same and back.position_names == plant.position_names:
            one, other = plant.terms(q, v), back.terms(q, v)
            assert np.abs(one.M - other.M).max() <= 1e-12 * np.abs(one.M).max()
            size = np.abs(one.h).max() + np.abs(one.M @ v).max() * np.abs(v).max()
            assert np.abs(one.h - other.h).max() <= 1e-12 * size or forces
        motors_agree(judge, plant, q, v)
    return found, back


def motors_agree(judge, plant, q, v):
    mujoco, m, d = pytest.importorskip("mujoco"), judge.m, judge.d
    if not m.nu:
        return
    moment = np.zeros((m.nu, m.nv))
    mujoco.mju_sparse2dense(moment, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    T, _ = judge.map(q)
    mine, theirs = plant.terms(q, v).B, judge.inverse(T).T @ moment.T
    for a in range(m.nu):
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, a)
        one = mine[:, plant.actuator_names.index(name)]
        assert np.abs(one - theirs[:, a]).max() <= 1e-9 * max(np.abs(one).max(), 1e-9), name


def closed_states(plant, count, start=None):
    """Closed configurations on the way from one, with velocities that the loops allow."""
    rng, found = np.random.default_rng(4), []
    start = plant.neutral() if start is None else start
    for _ in range(4 * count):
        try:
            q = plant.assemble(
                guess=plant.integrate(start, 0.4 * plant.displacement_scale * rng.uniform(-1.0, 1.0, plant.nv))
            )
        except CmbError:
            continue
        found.append((q, plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv))))
        if len(found) == count:
            break
    return found


# -- round trips -------------------------------------------------------------------------------------------------------


@pytest.mark.first(5)
@quiet
@pytest.mark.parametrize("name", MECHANISMS)
def test_ready_made_machines(name, tmp_path):
    plant = catalogue[name].factory()
    states = closed_states(plant, 3)
    assert states
    _, back = equations_agree(plant, tmp_path, states)
    assert sorted(back.position_names) == sorted(plant.position_names)
    assert back.source == plant.source and np.array_equal(back.gravity, plant.gravity)
    efforts = dict(zip(plant.actuator_names, plant.effort, strict=True))
    assert all(efforts[n] == x for n, x in zip(back.actuator_names, back.effort, strict=True))


def random_machine(seed, folder):
    spec = machines.machine(seed)
    try:
        plant = machines.build(spec)
    except ModelError:  # a joint that carries nothing: the package refuses it
        return
    if plant.size < 1e-2:  # MuJoCo takes places nearer than 1e-6 m for one
        return
    if any("kg" in remark.what for remark in written(plant, folder)[0].remarks):  # nor is it made for such light ones
        return
    q = np.asarray(spec.q, float)
    v = plant.project_velocity(q, np.random.default_rng(seed).uniform(-1.0, 1.0, plant.nv))
    equations_agree(plant, folder, [(q, v)])


@quiet
@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_some_random_machines(seed, tmp_path):
    random_machine(seed, tmp_path)


@quiet
@pytest.mark.parametrize("seed", [9202546000085, 17929493200086])
def test_a_slide_behind_a_ball_and_a_body_without_mass(seed, tmp_path):
    """The axes of the body in the file are those of the ball, whichever of its joints that is."""
    random_machine(seed, tmp_path)


@pytest.mark.rotates
@quiet
@pytest.mark.parametrize("seed", rotating(100))
def test_random_machines_of_this_commit(seed, tmp_path):
    random_machine(seed, tmp_path)


@quiet
@pytest.mark.slow
def test_a_candidate_for_a_loop_whose_rows_agree_by_chance(tmp_path):
    """Loops that are tried in place of others are no machines of the user: nothing of them is changed, or told."""
    random_machine(25550319000096, tmp_path)


def chain(*joints, loops=(), **more):
    """Bodies in a row, each on one of the joints; the masses may be given as (name, mass)."""
    bodies, made, parent = [], [], "ground"
    for k, (kind, options) in enumerate(joints):
        mass = options.pop("mass", 1.0)
        bodies.append(Body(f"b{k}", mass, ROD.com if mass else (0, 0, 0), ROD.inertia if mass else np.zeros((3, 3))))
        made.append(kind(f"j{k}", parent, f"b{k}", **options))
        parent = f"b{k}"
    return Mechanism("chain", bodies, made, loops, **more)


def states(plant, count=2):
    rng = np.random.default_rng(2)
    return [
        (plant.integrate(plant.neutral(), rng.uniform(-1, 1, plant.nv)), rng.uniform(-1, 1, plant.nv))
        for _ in range(count)
    ]


TURNED = {
    "frame": Frame.turned((1, 2, 3), 0.8, (0.1, -0.2, 0.3)),
    "child_frame": Frame.turned((0, 1, 2), 1.2, (0.2, 0, 0.1)),
}
SKEW = {"axis": (1, 2, -1), **TURNED}


@pytest.mark.parametrize(
    "joints",
    [
        [(cmb.Revolute, {**SKEW, "damping": 0.3, "armature": 0.2, "limits": (-1.0, 2.0)}), (cmb.Prismatic, SKEW)],
        [(cmb.Universal, {**TURNED, "damping": (0.1, 0.2), "armature": (0.3, 0.4)}), (cmb.Cylindrical, SKEW)],
        [(cmb.Planar, {**SKEW, "damping": (0.2, 0.2, 0.5)}), (cmb.Helical, {**SKEW, "pitch": -0.3, "damping": 0.2})],
        [(cmb.Spherical, {**TURNED, "damping": 0.4}), (cmb.Spherical, TURNED)],
        [(cmb.Free, {"damping": 0.3}), (cmb.Revolute, SKEW), (cmb.Fixed, TURNED), (cmb.Universal, TURNED)],
        [(cmb.Free, TURNED), (cmb.Free, {**TURNED, "damping": (0.1,) * 3 + (0.2,) * 3})],
        [(cmb.Revolute, {**SKEW, "mass": 0.0}), (cmb.Prismatic, {**SKEW, "mass": 0.0}), (cmb.Spherical, TURNED)],
        [(cmb.Prismatic, {**SKEW, "mass": 0.0}), (cmb.Revolute, {**SKEW, "mass": 0.0}), (cmb.Universal, TURNED)],
        [(cmb.Planar, {**SKEW, "mass": 0.0}), (cmb.Helical, {**SKEW, "pitch": 0.2})],
        [(cmb.Revolute, SKEW)] * 30,
    ],
    ids=lambda joints: "-".join(kind.__name__ for kind, _ in joints[:4]),
)
def test_joints(joints, tmp_path):
    plant = chain(*[(kind, dict(options)) for kind, options in joints])
    _, back = equations_agree(plant, tmp_path, states(plant))
    kinds = [type(x).__name__ for x in plant.joints if x.position_names]
    assert [type(x).__name__ for x in back.joints if x.position_names] == kinds
    assert back.position_names == plant.position_names and np.array_equal(back.limits, plant.limits)
    for key in ("damping", "armature"):
        one, other = ([x for j in p.joints for x in getattr(j, key)] for p in (plant, back))
        assert np.allclose(one, other, rtol=1e-15, atol=0.0)


def test_joints_one_by_one_stay_so(tmp_path):
    """Names alone make no joint of several axes, which would have other velocities."""
    names, joints, parent = ("x", "y", "angle"), [], "ground"
    for k, name in enumerate(names):
        kind = cmb.Revolute if name == "angle" else cmb.Prismatic
        joints.append(kind(f"table_{name}", parent, f"b{k}", axis=np.eye(3)[k]))
        parent = f"b{k}"
    bodies = [Body("b0"), Body("b1"), Body("b2", 1.0, ROD.com, ROD.inertia)]
    plant = Mechanism("table", bodies, joints)
    _, back = equations_agree(plant, tmp_path, states(plant))
    assert [type(x) for x in back.joints] == [cmb.Prismatic, cmb.Prismatic, cmb.Revolute]


CUTS = [cmb.Revolute, cmb.Prismatic, cmb.Cylindrical, cmb.Planar, cmb.Spherical, cmb.Universal, cmb.Fixed,
        cmb.PointOnPlane, cmb.PointOnLine, cmb.Distance, cmb.Weld, cmb.Point]  # fmt: skip


@quiet
@pytest.mark.parametrize("kind", CUTS)
def test_cuts_in_space(kind, tmp_path):
    """Each kind of constraint on a body that floats, held by nothing else: no other constraint does its work."""
    bodies = [Body("base", 2.0, ROD.com, ROD.inertia), Body("plate", 1.0, (0.1, 0.2, 0), ROD.inertia)]
    joints = [cmb.Revolute("base", "ground", "base", **SKEW), cmb.Free("plate", "ground", "plate")]
    more = {"length": 0.7} if kind is cmb.Distance else {}
    if issubclass(kind, elements.Joint):
        more = dict(TURNED)
    elif kind is cmb.Weld:
        more = {"frame_a": TURNED["frame"], "frame_b": TURNED["child_frame"]}
    else:
        more |= {"point_a": (0.1, 0.2, 0.3), "point_b": (0.3, -0.1, 0.2)}
    plant = Mechanism("cut", bodies, joints, [kind("cut", "base", "plate", **more)])
    found, back = equations_agree(plant, tmp_path, closed_states(plant, 3))
    assert not found.of_kind("left out")
    if kind in (cmb.Revolute, cmb.PointOnPlane, cmb.PointOnLine, cmb.Distance, cmb.Weld, cmb.Point):
        assert [type(x) for x in back.loops] == [kind] and back.loops[0].name == "cut"


def test_redundant_and_inactive_constraints(tmp_path):
    plant = plants.bricard()
    twin = plant.loops[0]
    more = cmb.Point("again", twin.parent, twin.child, twin.frame.p, twin.child_frame.p)
    plant = plant.with_parts(loops=[twin, more])
    _, back = equations_agree(plant, tmp_path, closed_states(plant, 2))
    assert [x.name for x in back.loops] == [x.name for x in plant.loops]
    _, path = written(plant.without("again"), tmp_path)
    assert ET.parse(path).find("equality/connect[@name='again']").get("active") == "false"
    mjcf = pytest.importorskip("cmbcontrol.formats.mjcf")
    assert mjcf.read_mjcf(path).machine.absent == plant.without("again").absent


def test_couplings_and_cams(tmp_path):
    loops = [
        cmb.Coupling("gear", {"j0": 1.0, "j1": 0.4}, 0.1),
        cmb.Coupling("belt", {"j1": 0.5, "j2": -1.5}),
        cmb.Coupling("differential", {"j2": 1.0, "j3": -2.0, "j4": 0.7}, -0.2),
        cmb.Cam("polynomial", "j5", "j4", lambda x: 0.1 * x - 0.3 * x**2 + 0.02 * x**4, offset=0.05),
    ]
    plant = chain(*[(cmb.Revolute, dict(SKEW)) for _ in range(6)], loops=loops)
    found, back = equations_agree(plant, tmp_path, closed_states(plant, 3))
    assert not found.of_kind("left out")
    assert [dict(x.coefficients) for x in back.loops[:3]] == [dict(x.coefficients) for x in loops[:3]]
    assert [x.offset for x in back.loops[:3]] == [x.offset for x in loops[:3]]
    eccentric = cmb.Cam("eccentric", "j1", "j0", lambda x: 0.1 * np.sin(x))
    found, _ = written(chain((cmb.Revolute, {}), (cmb.Revolute, {}), loops=[eccentric]), tmp_path)
    assert lost(found, "cam 'eccentric'")


def test_constraints_of_a_plane_become_points(tmp_path):
    """Where the machine itself keeps to a plane, a connect does the same; where it does not, tendons hold a line."""
    found, path = written(plants.five_bar(), tmp_path)
    assert [x.tag for x in ET.parse(path).find("equality")] == ["connect"]
    assert "'tip': is a point" in str(found)


def test_a_singular_machine_is_not_taken_for_another(tmp_path):
    """The only closed configurations are singular: their rows tell nothing, and no constraint is replaced."""
    bodies = [Body.rod("one", 1.0, 1.0), Body.rod("two", 1.0, 1.0), Body.rod("three", 1.0, 1.0)]
    joints = [cmb.Revolute("one", "ground", "one"), cmb.Revolute("two", "one", "two", frame=Frame((1, 0, 0))),
              cmb.Revolute("three", "ground", "three")]  # fmt: skip
    plane = cmb.PointOnPlane("reach", "ground", "two", (2, 0, 0), (1, 0, 0), normal=(1, 0, 0))
    _, path = written(Mechanism("stretched", bodies, joints, [plane]), tmp_path)
    assert {x.tag for x in ET.parse(path).find("equality")} == {"tendon"}


# -- forces, motors, configurations ------------------------------------------------------------------------------------


def test_forces(tmp_path):
    c = characteristics
    springs = [
        cmb.JointSpring("one", "j0", 30.0, 0.2, 0.5), cmb.JointSpring("two", "j0", 10.0, -0.4),
        cmb.PointSpring("band", "ground", "b1", (1, 0, 0), (0.2, 0, 0.1), 25.0, 0.3, 0.7),
    ]  # fmt: skip
    forces = [
        cmb.JointForce("damper", "j1", c.SpringDamper(3.0, rest=0.1, damping=0.2)),
        cmb.PointForce("rope", "ground", "b1", c.Rope(0.4, stiffness=100.0), (0, 1, 0), (0, 0, 0.1)),
        cmb.PointForce("strut", "b0", "b1", c.SpringDamper(20.0, rest=0.6), (0, 1, 0), (0, 0, 0.4)),
    ]
    lift = Load("lift", "b1", Frame(ROD.com), force=(0, 0, 3.0))
    plant = chain((cmb.Revolute, dict(SKEW)), (cmb.Prismatic, dict(SKEW)), springs=springs, forces=forces, loads=[lift])
    found, back = equations_agree(plant, tmp_path, states(plant, 4))
    assert not found.of_kind("left out")
    assert [(x.stiffness, x.rest) for x in back.springs if isinstance(x, cmb.JointSpring)] == [(40.0, 0.05), (3.0, 0.1)]
    friction = cmb.JointForce("bearing", "j0", c.Friction(0.8, viscous=0.1))
    found, back = equations_agree(plant.with_parts(forces=[friction]), tmp_path, states(plant))
    assert "is the friction of its joint" in str(found) and back.forces[0].characteristic.coulomb == 0.8


def test_what_mjcf_has_no_place_for_is_told(tmp_path):
    c = characteristics
    plant = chain(
        (cmb.Revolute, {"limits": (-1, np.inf), "restitution": 0.4}),
        (cmb.Planar, {"damping": (0.1, 0.2, 0.3), "limits": {"angle": (-1, 1)}}),
        (cmb.Free, {"limits": {"qx": (0, 1)}}),
        loops=[cmb.Wheel("wheel", "ground", "b0", radius=0.3), cmb.JointMotion("motion", "j0"),
               cmb.Helical("screw", "ground", "b2", pitch=0.1)],
        springs=[cmb.JointSpring("negative", "j0", -3.0)],
        forces=[cmb.JointForce("table", "j0", c.SpringTable([-1, 0, 1], [-2, 0, 5])),
                cmb.JointForce("static", "j0", c.Friction(1.0, static=2.0)),
                cmb.PointForce("gas", "ground", "b2", c.GasSpring(1.0, 1e6, 1e-4, 1e-3), (0, 0, 2)),
                cmb.Bushing("rubber", "ground", "b2", stiffness=(1,) * 6)],
        loads=[Load("push", "b0", force=(1, 0, 0)), Load("none", "b1")],
    )  # fmt: skip
    told = str(written(plant, tmp_path)[0])
    names = ("wheel", "motion", "screw", "negative", "table", "gas", "rubber", "push", "none")
    places = ("restitution of joint 'j0'", "damping of joint 'j1'", "limits of 'j2_qx'", "static friction of 'static'")
    for words in (*places, *map(repr, names)):
        assert words in told, (words, told)


def test_motors_between_bodies_and_on_cuts(tmp_path):
    plant = plants.pendulum()
    _, back = equations_agree(plant, tmp_path, closed_states(plant, 2))
    assert back.actuators[0].bodies is not None and back.effort[0] == plant.effort[0]
    wheel = cmb.Actuator(
        "wheel", bodies=("b0", "b1"), axis=(1, 2, 3), gear=-2.0, effort=7.0, continuous=2.0, speed=300.0
    )
    plant = chain(
        (cmb.Revolute, dict(SKEW)), (cmb.Spherical, dict(TURNED)), actuators=[wheel, cmb.Actuator("j0", gear=-3.0)]
    )
    told, back = equations_agree(plant, tmp_path, states(plant))
    assert "MJCF has no continuous effort and no largest speed of motors" in str(told)
    q, v = states(plant)[0]
    assert np.allclose(back.terms(q, v).B, plant.terms(q, v).B, atol=1e-14) and back.effort.tolist() == [7.0, np.inf]


def test_configurations_are_keyframes(tmp_path):
    joints = [(cmb.Free, {}), (cmb.Helical, {"pitch": 0.2, **SKEW}), (cmb.Spherical, dict(TURNED))]
    plant = chain(*joints)
    home = plant.integrate(plant.neutral(), np.random.default_rng(0).uniform(-1, 1, plant.nv))
    plant = plant.with_configurations({"home": home})
    _, path = written(plant, tmp_path)
    read_mjcf = pytest.importorskip("cmbcontrol.formats.mjcf").read_mjcf
    pytest.importorskip("mujoco")
    back = read_mjcf(path).machine
    assert np.array_equal(back.configuration("home"), plant.configuration("home"))


def test_frames_are_sites(tmp_path):
    """Bodies without mass that are fixed: on other ones, and with something that ends there."""
    bodies = [ROD, Body("flange"), Body("tool"), Body("camera")]
    joints = [cmb.Spherical("ball", "ground", "rod", **TURNED), cmb.Fixed("flange", "rod", "flange", **TURNED),
              cmb.Fixed("tool", "flange", "tool", **TURNED),
              cmb.Fixed("camera", "ground", "camera", **TURNED)]  # fmt: skip
    spring = cmb.PointSpring("spring", "camera", "tool", (0, 0.1, 0), (0.2, 0, 0), 12.0, 0.1)
    plant = Mechanism("frames", bodies, joints, springs=[spring])
    _, back = equations_agree(plant, tmp_path, states(plant))
    q, _ = states(plant)[0]
    for body in ("tool", "camera"):
        assert np.allclose(back.pose(q, body).p, plant.pose(q, body).p, atol=1e-14)
        assert np.allclose(back.pose(q, body).R, plant.pose(q, body).R, atol=1e-14)


def test_bodies_without_mass_that_carry_more(tmp_path):
    """They cannot be left away, and MuJoCo moves none without mass."""
    bodies = [Body("cross"), Body("a", 1.0, ROD.com, ROD.inertia), Body("b", 1.0, ROD.com, ROD.inertia)]
    joints = [cmb.Revolute("c", "ground", "cross", **SKEW), cmb.Revolute("a", "cross", "a", **TURNED),
              cmb.Prismatic("b", "cross", "b", **SKEW)]  # fmt: skip
    plant = Mechanism("cross", bodies, joints)
    found, _ = equations_agree(plant, tmp_path, states(plant))
    assert "has a mass of 2e-15 kg" in str(found)


def test_names_of_the_world(tmp_path):
    joints = [cmb.Revolute("two words", "ground", "world", axis=(0, 1, 0)), cmb.Revolute("<&>'\"", "world", "ü")]
    bodies = [Body("world", 1.0, ROD.com, ROD.inertia), Body("ü", 1.0, ROD.com, ROD.inertia)]
    source = "here & <there>\n\"and\" 'so on'"
    plant = Mechanism("n", bodies, joints, source=source)
    found, back = equations_agree(plant, tmp_path, states(plant))
    assert back.position_names == plant.position_names and back.source == source
    assert "'world': is called 'world_body'" in str(found)


def test_other_units(tmp_path):
    """Millimetres and grams are not those of MuJoCo, but any are, as long as they are not too small."""
    plant = machines.build(machines.machine(2))
    for length, mass in ((1e2, 1e-3), (1e-1, 1e4)):
        other = machines.machine(2)
        machines.scaled(other, length, mass, 1.0)
        q = np.asarray(other.q, float)
        made = machines.build(other)
        equations_agree(made, tmp_path, [(q, made.project_velocity(q, np.ones(plant.nv)))])


# -- files -------------------------------------------------------------------------------------------------------------


def test_files(tmp_path):
    with pytest.raises(InputTypeError, match="machine must be a Mechanism"):
        write_mjcf("five-bar", tmp_path / "x.xml")
    with pytest.raises(FileError, match="make the folder"):
        write_mjcf(plants.five_bar(), tmp_path / "none" / "x.xml")
    found = write_mjcf(plants.five_bar(), str(tmp_path / "x.xml"))
    assert found.path == tmp_path / "x.xml" and found.format == "MJCF" and found.path.read_text().startswith("<mujoco")


@pytest.mark.nojit_slow
def test_long_chains(tmp_path):
    def links(n):
        bodies = [Body(f"b{k}", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)) for k in range(n)]
        joints = [cmb.Revolute(f"j{k}", f"b{k - 1}" if k else "ground", f"b{k}", axis=(0, 1, 0)) for k in range(n)]
        return Mechanism("long", bodies, joints)

    with pytest.raises(ModelError, match="'b390' is number 391"):
        write_mjcf(links(400), tmp_path / "x.xml")
    equations_agree(links(390), tmp_path, [(np.full(390, 0.01), np.full(390, 0.1))])


def test_the_file_is_the_same_each_time(tmp_path):
    texts = [Path(written(plants.loader(), tmp_path)[1]).read_text() for _ in range(2)]
    assert texts[0] == texts[1] and str(tmp_path) not in texts[0]


def test_every_part_is_written_or_told(tmp_path):
    """A class of constraints or joints that is added later must not go by in silence."""
    known = {"Wheel", "RollingBall", "KnifeEdge", "JointMotion", "DistanceMotion", "PointMotion", "PoseMotion", "Cam"}
    known |= {"Coupling", "Distance", "Point", "PointOnLine", "PointOnPlane", "Weld"}
    kinds = [getattr(elements, name) for name in elements.__all__ if isinstance(getattr(elements, name), type)]
    bases = (elements.Constraint, elements.CoordinateConstraint)
    found = {kind.__name__ for kind in kinds if issubclass(kind, bases)}
    assert found - known == {"Constraint", "CoordinateConstraint", "Motion"} & found


def test_a_motion_is_no_constraint_of_another_kind(tmp_path):
    """A motion that begins at zero is not written as a point that stands there."""
    bodies = [Body("arm", 1.0, inertia=(1.0, 1.0, 1.0))]
    drive = cmb.PointMotion("drive", "ground", "arm", velocity=(0.1, 0.0, 0.0))
    plant = Mechanism("moved", bodies, [cmb.Free("base", "ground", "arm")], [drive])
    remarks = cmb.formats.write_mjcf(plant, tmp_path / "moved.xml").of_kind("left out")
    assert any("PointMotion" in str(remark) for remark in remarks)

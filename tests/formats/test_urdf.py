"""URDF files, read: against Pinocchio, which reads the same files; what is wrong in a file is told with its line."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.errors import CmbError, FileError, InputError
from cmbcontrol.formats.links import angles_of, rotation_of
from cmbcontrol.formats.urdf import read_urdf
from cmbcontrol.formats.urdf_writing import write_urdf
from cmbcontrol.model.elements import Coupling, Fixed, Free, Helical, Point, Revolute, Spherical, Universal, Weld

from .. import urdf_robots
from ..seeds import rotating
from . import mutations

ROBOTS = urdf_robots.names()
samples = pytest.mark.skipif(not ROBOTS, reason="the sample robots are not beside the repository")


def sample(name):
    return urdf_robots.FOLDER / name / "robot.urdf"


def written(folder, robot, yaml=None, name="robot"):
    """A robot in a file, from what is in its <robot>."""
    path = folder / f"{name}.urdf"
    path.write_text(f'<robot name="{name}">\n{robot}\n</robot>\n')
    if yaml is not None:
        path.with_suffix(".yaml").write_text(yaml)
    return path


def link(name, mass=1.0, moments=(0.1, 0.1, 0.1), xyz="0 0 0", rpy="0 0 0", products=(0.0, 0.0, 0.0)):
    ixx, iyy, izz = moments
    ixy, ixz, iyz = products
    return f"""<link name="{name}"><inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>
        <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}" ixz="{ixz}" iyz="{iyz}"/></inertial></link>"""


def joint(name, kind, parent, child, inside="", xyz="0 0 0", rpy="0 0 0", axis="0 0 1"):
    along = "" if kind in ("fixed", "floating") else f'<axis xyz="{axis}"/>'
    if kind in ("revolute", "prismatic") and "<limit" not in inside:
        inside += '<limit lower="-3" upper="3" effort="10" velocity="1e16"/>'
    return f"""<joint name="{name}" type="{kind}"><origin xyz="{xyz}" rpy="{rpy}"/>
        <parent link="{parent}"/><child link="{child}"/>{along}{inside}</joint>"""


# -- against Pinocchio -------------------------------------------------------------------------------------------------


def in_pinocchio(path, plant, q, v):
    """M and the bias of Pinocchio for the same file, in our coordinates."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    data, qp, T = model.createData(), pin.neutral(model), np.zeros((model.nv, plant.nv))
    positions = {name: x for name, x in zip(plant.position_names, q, strict=True)}
    rows = {name: i for i, name in enumerate(plant.velocity_names)}
    for i in range(1, model.njoints):
        part, name = model.joints[i], model.names[i]
        if part.nq == 7:  # quaternions have their real part last there, and linear velocities come first
            words = ("x", "y", "z", "qx", "qy", "qz", "qw")
            qp[part.idx_q : part.idx_q + 7] = [positions[f"{name}_{word}"] for word in words]
            for k, word in enumerate(("vx", "vy", "vz", "wx", "wy", "wz")):
                T[part.idx_v + k, rows[f"{name}_{word}"]] = 1.0
            continue
        x = positions[name]
        qp[part.idx_q : part.idx_q + part.nq] = x if part.nq == 1 else (np.cos(x), np.sin(x))
        T[part.idx_v, rows[name]] = 1.0
    M = np.triu(pin.crba(model, data, qp))
    M = M + np.triu(M, 1).T
    model.gravity.linear = np.asarray(plant.gravity)
    return T.T @ M @ T, T.T @ pin.nonLinearEffects(model, data, qp, T @ v)


def random_state(plant, seed):
    rng = np.random.default_rng(seed)
    q = plant.integrate(plant.neutral(), rng.uniform(-1.0, 1.0, plant.nv) * plant.displacement_scale)
    return q, rng.uniform(-1.0, 1.0, plant.nv)


def agrees(path, plant, seed, within=1e-10):
    q, v = random_state(plant, seed)
    M, h = in_pinocchio(path, plant, q, v)
    terms = plant.terms(q, v, check=False)
    assert np.abs(terms.M - M).max() < within * np.abs(M).max()
    assert np.abs(terms.h - h).max() < within * max(np.abs(h).max(), np.abs(M).max())


@samples
@pytest.mark.parametrize("name", ROBOTS or ["none"])
def test_sample_robots_against_pinocchio(name):
    plant = read_urdf(sample(name), loops=False).machine
    for seed in range(3):
        agrees(sample(name), plant, seed)


def random_robot(seed, links, scale=1.0):
    """A tree of all types of joints, with rotated inertia, axes of any length, masses of any size."""
    rng = np.random.default_rng([seed, links])
    text = [link("world", 0.0, (0, 0, 0)) if seed % 2 else link("base")]
    for i in range(1, links):
        kind = str(
            rng.choice(["revolute", "continuous", "prismatic", "fixed", "floating"], p=[0.3, 0.3, 0.2, 0.1, 0.1])
        )
        parent = i - 1 if rng.random() < 0.7 else int(rng.integers(0, i))
        points = rng.standard_normal((5, 3)) * scale * 0.2
        mass = 10.0 ** rng.uniform(-2, 2) * scale**3
        I = mass / 5 * sum((x @ x) * np.eye(3) - np.outer(x, x) for x in points)
        upper = (I[0, 1], I[0, 2], I[1, 2])
        words = ("{} {} {}".format(*x) for x in (points.mean(0), rng.uniform(-3, 3, 3)))
        text.append(link(f"l{i}", mass, np.diag(I), *words, upper))
        words = ("{} {} {}".format(*x) for x in (rng.standard_normal(3) * scale, rng.uniform(-3, 3, 3)))
        xyz, rpy = words
        axis = "{} {} {}".format(*rng.standard_normal(3) * 10.0 ** rng.uniform(-3, 3))
        above = ("world" if seed % 2 else "base") if parent == 0 else f"l{parent}"
        text.append(joint(f"j{i}", kind, above, f"l{i}", xyz=xyz, rpy=rpy, axis=axis))
    return "\n".join(text)


@pytest.mark.parametrize(("seed", "scale"), [(0, 1.0), (1, 1.0), (2, 1e-3), (3, 1e3), (4, 1.0), (5, 30.0)])
def test_random_trees_against_pinocchio(seed, scale, tmp_path):
    path = written(tmp_path, random_robot(seed, 3 + 3 * seed, scale))
    plant = read_urdf(path).machine
    assert plant.nv
    agrees(path, plant, seed)


@pytest.mark.nojit_slow
def test_a_deep_chain_against_pinocchio(tmp_path):
    """Of 150 links; deeper than Python recurses is 1,200 links that are fixed."""
    parts = [link("l0")]
    for i in range(1, 151):
        parts += [link(f"l{i}", 0.1, (1e-3,) * 3), joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", xyz="0.01 0 0")]
    path = written(tmp_path, "\n".join(parts))
    agrees(path, read_urdf(path).machine, 0, within=1e-9)
    fixed = [link(f"f{i}") + joint(f"k{i}", "fixed", f"f{i - 1}" if i else "l0", f"f{i}") for i in range(1200)]
    deep = written(tmp_path, "\n".join([link("l0"), *fixed]), name="deep")
    assert read_urdf(deep, base="free").machine.nv == 6


def test_a_free_base_against_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio")
    path = written(tmp_path, random_robot(0, 6))
    plant = read_urdf(path, base="free").machine
    assert isinstance(plant.joints[0], Free) and plant.nv == read_urdf(path).machine.nv + 6
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    pin.crba(model, data, pin.neutral(model))
    assert plant.terms(plant.neutral(), np.zeros(plant.nv)).M[3, 3] == pytest.approx(data.M[0, 0], rel=1e-13)


# -- the sample robots -------------------------------------------------------------------------------------------------

# degrees of freedom, and redundant rows, of the loops as the YAML files have them
COUNTED = {
    "5bar_linkage": (3, 3),
    "5bar_linkage_iso3d": (2, 0),
    "5bar_linkage_iso6d": (2, 0),
    "battobot_6d": (12, 0),
    "disney_robot": (14, 0),
    "robot_delta": (5, 9),
    "wl16_like": (12, 0),
}


@pytest.mark.nojit_slow
@samples
@pytest.mark.parametrize("name", ROBOTS or ["none"])
def test_sample_robots_close_and_are_diagnosed(name):
    conversion = read_urdf(sample(name))
    plant = conversion.machine
    q = plant.assemble()
    assert plant.closure_error(q) < 1e-14 * plant.size
    report = plant.diagnose(q)
    dofs, redundant = COUNTED[name]
    assert report.dof == dofs and len(plant.row_names) - report.rank == redundant
    told = str(conversion)
    assert "shape is not read" in told and "velocity" in told and "fixed to the ground" in told
    assert {x.joint for x in plant.actuators} <= {joint.name for joint in plant.joints}


@pytest.mark.nojit_slow
@samples
@pytest.mark.parametrize("name", [n for n in ROBOTS if not n.startswith(("battobot", "disney"))] or ["none"])
def test_mobility_against_jacobians_of_pinocchio(name):
    """Where the YAML file changes no types of joints, frames of Pinocchio tell the same rank."""
    pin = pytest.importorskip("pinocchio")
    import yaml

    plant = read_urdf(sample(name)).machine
    q = plant.assemble()
    model = pin.buildModelFromUrdf(str(sample(name)))
    data, qp = model.createData(), pin.neutral(model)
    for i in range(1, model.njoints):
        x, part = q[plant.position_names.index(model.names[i])], model.joints[i]
        qp[part.idx_q : part.idx_q + part.nq] = x if part.nq == 1 else (np.cos(x), np.sin(x))
    pin.computeJointJacobians(model, data, qp)
    pin.updateFramePlacements(model, data)
    given, rows = yaml.safe_load(sample(name).with_suffix(".yaml").read_text()), []
    for ends, kind in zip(given["closed_loop"], given["type"], strict=True):
        a, b = (model.getFrameId(end) for end in ends)
        gap = data.oMf[a].actInv(data.oMf[b])
        assert np.abs(gap.translation).max() < 1e-13 and (
            kind == "3d" or np.abs(gap.rotation - np.eye(3)).max() < 1e-13
        )
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.getFrameJacobian(model, data, a, axes) - pin.getFrameJacobian(model, data, b, axes)
        rows.append(J if kind == "6d" else J[:3])
    rank = np.linalg.matrix_rank(np.vstack(rows), tol=1e-8)
    assert model.nv - rank == COUNTED[name][0]


@samples
@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS or ["none"])
def test_sample_robots_keep_their_energy(name):
    """Two seconds of free motion; what moves is the kinetic energy, the potential one has no zero."""
    plant = read_urdf(sample(name)).machine
    run = cmb.simulate(plant, q0=plant.assemble(), t_end=2.0)
    q, v = run.data["q"].values, run.data["v"].values
    some = np.linspace(0, len(q) - 1, 100).astype(int)
    kinetic = max(0.5 * v[i] @ plant.mass_matrix(q[i]) @ v[i] for i in some)
    assert run.data["time"].values[-1] == pytest.approx(2.0) and kinetic > 0.0
    assert np.abs(run.data["energy_balance"].values).max() < 1e-8 * kinetic


@pytest.mark.nojit_slow
@samples
@pytest.mark.parametrize("name", ROBOTS or ["none"])
def test_sample_robots_are_linearized_at_a_trim(name):
    """With strong motors: the files have 1 N m for all, which holds none of the larger ones."""
    plant = read_urdf(sample(name)).machine
    plant = plant.with_parts(actuators=[replace(motor, effort=np.inf) for motor in plant.actuators])
    free_rods = name in ("disney_robot", "wl16_like")  # legs that turn about themselves hang where gravity takes them
    hold = [motor.joint for motor in plant.actuators] if free_rods else None
    point = cmb.trim(plant, plant.assemble(), hold=hold)
    assert plant.closure_error(point.q) < 1e-12 * plant.size
    model = cmb.linearize(plant, point)
    assert model.A.shape == (2 * COUNTED[name][0],) * 2 and np.isfinite(model.A).all()


# -- what is read, and how ---------------------------------------------------------------------------------------------

ARM = f"""
<link name="world"/>
{link("upper", 2.0, (0.1, 0.2, 0.25), "0.3 0 0.1", "0.2 -0.4 1.0", (0.01, 0.02, -0.01))}
{link("fore.arm", 1.0, (0.1, 0.1, 0.1))}
{link("slide", 0.5, (0.1, 0.1, 0.1))}
<link name="tool"/>
{
    joint(
        "shoulder",
        "revolute",
        "world",
        "upper",
        '<limit lower="-1" upper="2" effort="30" velocity="2"/>'
        '<dynamics damping="0.7" friction="0.3"/><safety_controller k_velocity="1"/>',
        axis="0 3 4",
    )
}
{joint("elbow", "continuous", "upper", "fore.arm", '<limit effort="20" velocity="1"/>', "0.5 0 0", "0 0 1.5708")}
{
    joint(
        "slide",
        "prismatic",
        "fore.arm",
        "slide",
        '<limit lower="-1" upper="1" effort="0" velocity="0"/><mimic joint="elbow" multiplier="-0.2" offset="0.1"/>',
    )
}
{joint("flange", "fixed", "slide", "tool", xyz="0 0 0.1")}
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder"/>
  <actuator name="motor"><mechanicalReduction>-50</mechanicalReduction></actuator></transmission>
<gazebo reference="tool"><material>Red</material></gazebo>
<material name="grey"/>
"""


def test_everything_of_a_robot(tmp_path):
    conversion = read_urdf(written(tmp_path, ARM))
    plant = conversion.machine
    assert plant.position_names == ("shoulder", "elbow", "slide")
    shoulder = plant.joints[0]
    assert shoulder.parent == "ground" and shoulder.axis == pytest.approx([0, 0.6, 0.8])
    assert shoulder.limits.tolist() == [[-1.0, 2.0]] and shoulder.damping.tolist() == [0.7]
    assert np.isinf(plant.joints[1].limits).all()
    (motor,) = plant.actuators
    assert (motor.joint, motor.name, motor.gear, motor.effort) == ("shoulder", "motor", -50.0, pytest.approx(30 / 50))
    (coupling,) = plant.loops
    assert coupling.coefficients == {"slide": 1.0, "elbow": 0.2} and coupling.offset == 0.1
    (friction,) = plant.forces
    assert friction.joint == "shoulder" and friction.characteristic.coulomb == 0.3
    upper, forearm, _, tool = plant.bodies
    R = Rotation.from_euler("xyz", [0.2, -0.4, 1.0]).as_matrix()
    I = np.array([[0.1, 0.01, 0.02], [0.01, 0.2, -0.01], [0.02, -0.01, 0.25]])
    assert upper.inertia == pytest.approx(R @ I @ R.T) and upper.com == pytest.approx([0.3, 0, 0.1])
    assert tool.mass == 0.0 and forearm.name == "fore_arm"
    told = str(conversion)
    for words in ("'fore.arm': is called 'fore_arm'", "<gazebo>", "velocity", "<safety_controller> is not read"):
        assert words in told
    q = plant.assemble(elbow=0.5)
    assert q[2] == pytest.approx(0.0, abs=1e-15)
    assert plant.point(q, "tool") - plant.point(q, "slide") == pytest.approx(plant.pose(q, "slide").R[:, 2] * 0.1)


def test_motors_that_no_file_names(tmp_path):
    robot = ARM[: ARM.index("<transmission")]
    conversion = read_urdf(written(tmp_path, robot))
    assert [x.joint for x in conversion.machine.actuators] == ["shoulder", "elbow"]
    assert any("no file names them" in str(x) for x in conversion.of_kind("assumed"))
    named = read_urdf(written(tmp_path, robot, "name_mot: [slide]\nclosed_loop: []\n")).machine.actuators
    assert [(x.joint, x.effort) for x in named] == [("slide", np.inf)]


SQUARE = "\n".join(
    [link("base"), *(link(f"l{i}", xyz="0.5 0 0") for i in range(3)), '<link name="end"/>', '<link name="post"/>']
    + [
        joint(f"j{i}", "continuous", f"l{i - 1}" if i else "base", f"l{i}", xyz="1 0 0" if i else "0 0 0")
        for i in range(3)
    ]
    + [joint("at_end", "fixed", "l2", "end", xyz="1 0 0"), joint("at_post", "fixed", "base", "post", xyz="0.5 1.2 0")]
)


@pytest.mark.parametrize(
    ("kind", "value", "dof"),
    [
        ("6d", None, 0),
        ("3d", None, 1),
        ("revolute", None, 1),
        ("cylindrical", None, 1),
        ("line", None, 1),
        ("plane", None, 2),
        ("distance", 0.4, 2),
        ("planar", None, 3),
    ],
)
def test_types_of_loops(kind, value, dof, tmp_path):
    """A planar chain of three links, held at its end; a plane across it, by frames of links or of joints."""
    turned = SQUARE.replace('xyz="0.5 1.2 0" rpy="0 0 0"', f'xyz="0.5 1.2 0" rpy="0 {np.pi / 2} 0"')
    robot = turned if kind == "plane" else SQUARE
    data = f"closed_loop: [[at_post, end]]\ntype: ['{kind}']\nname_mot: [j0]\n"
    plant = read_urdf(written(tmp_path, robot, data + (f"value: [{value}]\n" if value else ""))).machine
    assert [loop.name for loop in plant.loops] == ["at_post_end"] and [x.joint for x in plant.actuators] == ["j0"]
    guess = {"j0": 1.0, "j1": 0.8, "j2": 0.7} if kind != "6d" else {"j0": 1.8, "j1": -1.5, "j2": -0.3}
    q = plant.assemble(guess=guess)
    gap = plant.point(q, "end") - plant.point(q, "post")
    if kind not in ("plane", "distance", "planar"):
        assert np.abs(gap).max() < 1e-12
    if kind == "plane":
        assert abs(gap[0]) < 1e-12 < abs(gap[1])
    if kind == "distance":
        assert np.linalg.norm(gap) == pytest.approx(0.4)
    assert plant.diagnose(q).dof == dof


def test_ball_joints_and_universal_joints_of_the_yaml_file(tmp_path):
    data = "joint_name: [j1, j2, gone]\njoint_type: [SPHERICAL, UJOINT_ZX, SPHERICAL]\nclosed_loop: []\n"
    conversion = read_urdf(written(tmp_path, SQUARE, data))
    plant = conversion.machine
    kinds = {x.name: x for x in plant.joints}
    assert isinstance(kinds["j1"], Spherical) and isinstance(kinds["j2"], Universal)
    assert kinds["j2"].axis.tolist() == [0, 0, 1] and kinds["j2"].second_axis.tolist() == [1, 0, 0]
    assert any("'gone'" in x.part for x in conversion.of_kind("left out"))


def test_types_in_capitals_and_small_letters(tmp_path):
    """As tools write them: 3D, 6d, FIXED for frames that coincide; joints that are fixed by the file beside."""
    data = "closed_loop: [[base, end], [l1, post], [l0, end]]\ntype: [3D, FIXED, 6D]\n"
    plant = read_urdf(written(tmp_path, SQUARE, data)).machine
    assert [type(x) for x in plant.loops] == [Point, Weld, Weld]
    data = "joint_name: [j1, j2]\njoint_type: [spherical, fixed]\nclosed_loop: []\n"
    plant = read_urdf(written(tmp_path, SQUARE, data)).machine
    kinds = {x.name: x for x in plant.joints}
    assert isinstance(kinds["j1"], Spherical)
    assert "j2" not in plant.position_names


def test_loops_share_links_and_hold_the_ground(tmp_path):
    data = "closed_loop: [[base, end], [l1, post], [l0, l2]]\ntype: [3d, 3d, 3d]\n"
    plant = read_urdf(written(tmp_path, SQUARE, data)).machine
    assert [(x.a, x.b) for x in plant.loops] == [("base", "end"), ("l1", "post"), ("l0", "l2")]
    assert all(isinstance(x, Point) for x in plant.loops)


def test_mimic_chains(tmp_path):
    """j2 follows j1 follows j0: one degree of freedom is left, on the lines that the file says."""
    robot = SQUARE
    for i, (factor, offset) in ((1, (2.0, 0.1)), (2, (-0.5, 0.3))):
        at = robot.index("</joint>", robot.index(f'name="j{i}"'))
        robot = f'{robot[:at]}<mimic joint="j{i - 1}" multiplier="{factor}" offset="{offset}"/>{robot[at:]}'
    plant = read_urdf(written(tmp_path, robot)).machine
    assert all(isinstance(x, Coupling) for x in plant.loops)
    q = plant.assemble(j0=0.4)
    assert q == pytest.approx([0.4, 2 * 0.4 + 0.1, -0.5 * 0.9 + 0.3])
    assert plant.diagnose(q).dof == 1


def test_links_without_mass(tmp_path):
    """Those that a weld holds close loops by their joints; others are refused, or fixed where that is asked for."""
    robot = SQUARE + '<link name="pin"/>' + joint("hinge", "continuous", "l2", "pin", xyz="1 0 0")
    path = written(tmp_path, robot, "closed_loop: [[pin, post]]\ntype: [6d]\n")
    conversion = read_urdf(path)
    plant = conversion.machine
    (hinge,) = plant.loops
    assert isinstance(hinge, Revolute) and (hinge.parent, hinge.child) == ("l2", "pin") and plant.nv == 3
    q = plant.assemble(guess={"j0": 1.0, "j1": 0.8, "j2": 0.7})
    assert plant.diagnose(q).dof == 1 and np.abs(plant.point(q, "pin") - plant.point(q, "post")).max() < 1e-12
    assert any("cut" in str(x) for x in conversion.of_kind("changed"))
    with pytest.raises(InputError, match=r"line \d+: joint 'hinge' moves link 'pin', and nothing behind it has mass"):
        read_urdf(path, loops=False)
    fixed = read_urdf(path, loops=False, massless="fixed")
    assert isinstance({x.name: x for x in fixed.machine.joints}["hinge"], Fixed)
    assert any("fixed now" in x.what for x in fixed.of_kind("changed"))
    # between joints they are no trouble
    between = SQUARE.replace(link("l1", xyz="0.5 0 0"), '<link name="l1"/>')
    assert read_urdf(written(tmp_path, between, name="between")).machine.bodies[2].mass == 0.0


def test_gravity_and_yaml_files_beside(tmp_path):
    path = written(tmp_path, SQUARE)
    assert read_urdf(path).machine.gravity.tolist() == [0.0, 0.0, -9.81]
    path.with_suffix(".yaml").write_text("gravity: [0, -1.6, 0]\n")
    assert read_urdf(path).machine.gravity.tolist() == [0.0, -1.6, 0.0]
    assert read_urdf(path, gravity=(1, 2, 3)).machine.gravity.tolist() == [1.0, 2.0, 3.0]
    plants.leg().save(path.with_suffix(".yaml"))  # a machine file is no file of loops
    conversion = read_urdf(path)
    assert not conversion.machine.loops and any("no file of loops" in x.what for x in conversion.of_kind("left out"))
    (tmp_path / "other.yaml").write_text("closed_loop: [[end, post]]\ntype: [6d]\n")
    assert isinstance(read_urdf(path, loops=tmp_path / "other.yaml").machine.loops[0], Weld)
    path.with_suffix(".yaml").unlink()
    with pytest.raises(InputError, match=r"no file 'robot.yaml'"):
        read_urdf(path, loops=True)


def test_an_inertia_that_is_off_by_rounding_is_repaired(tmp_path):
    robot = link("base") + link("plate", 2.0, (0.333, 0.333, 0.667)) + joint("j", "continuous", "base", "plate")
    conversion = read_urdf(written(tmp_path, robot))
    I = conversion.machine.bodies[1].inertia
    assert I[2, 2] <= I[0, 0] + I[1, 1] + 1e-12 and np.abs(np.diag(I) - (0.333, 0.333, 0.667)).max() < 1e-3
    assert any("rounding" in x.what for x in conversion.of_kind("changed"))


def test_an_inertia_that_no_body_has(tmp_path):
    """It is refused, replaced where that is asked for, and of no effect at a root that is fixed."""
    odd, joints = link("arm", 2.0, (0.1, 0.1, 0.3)), joint("j", "continuous", "base", "arm")
    path = written(tmp_path, link("base", 1.0, (0.1, 0.1, 0.3)) + odd + joints)
    with pytest.raises(InputError, match=r"'arm'.*0.1, 0.1, 0.3 kg m2.*inertia='nearest'"):
        read_urdf(path)
    conversion = read_urdf(path, inertia="nearest")
    I = conversion.machine.bodies[1].inertia
    assert np.linalg.eigvalsh(0.5 * np.trace(I) * np.eye(3) - I)[0] > -1e-15
    assert [x.part for x in conversion.of_kind("changed")] == ["link 'base'", "link 'arm'"]
    path = written(tmp_path, link("base", 1.0, (0.1, 0.1, 0.3)) + link("arm") + joints)
    assert read_urdf(path).machine.nv == 1
    with pytest.raises(InputError, match="'base'"):
        read_urdf(path, base="free")
    light = written(
        tmp_path, link("base") + link("arm") + joints + link("foot", 0.0) + joint("k", "fixed", "arm", "foot")
    )
    with pytest.raises(InputError, match=r"'foot'.*no mass"):
        read_urdf(light)
    assert read_urdf(light, inertia="nearest").machine.bodies[2].mass == 0.0


def test_moments_of_points_are_rounding(tmp_path):
    point = link("arm", 1e-9, (2e-35, 0, -2e-35), "1 0 0")
    robot = link("base") + point + joint("j", "continuous", "base", "arm")
    assert read_urdf(written(tmp_path, robot)).machine.nv == 1


def test_screws_are_found(tmp_path):
    """Where the slide is nothing but the travel of the hinge; else both stay, with a coupling."""
    follow = '<mimic joint="turn" multiplier="0.05"/>'
    robot = link("base") + '<link name="nut"/>' + link("rod") + joint("turn", "continuous", "base", "nut")
    path = written(tmp_path, robot + joint("slide", "prismatic", "nut", "rod", follow))
    (_, screw), loops = read_urdf(path).machine.joints, read_urdf(path).machine.loops
    assert isinstance(screw, Helical) and screw.pitch == 0.05 and not loops and screw.child == "rod"
    for other in (
        joint("slide", "prismatic", "nut", "rod", follow, axis="1 0 0"),
        joint("slide", "prismatic", "nut", "rod", follow, xyz="0 0 1"),
        joint("slide", "prismatic", "nut", "rod", follow.replace("/>", ' offset="1"/>')),
        joint("slide", "prismatic", "nut", "rod", follow) + '<link name="x"/>' + joint("y", "fixed", "nut", "x"),
    ):
        plant = read_urdf(written(tmp_path, robot + other)).machine
        assert plant.position_names == ("turn", "slide") and len(plant.loops) == 1


def test_angles():
    """Against scipy; also where pitch is 90 degrees, and near it."""
    rng = np.random.default_rng(0)
    for i in range(300):
        angles = rng.uniform(-np.pi, np.pi, 3)
        if i % 3 == 0:
            angles[1] = rng.choice([-1, 1]) * (np.pi / 2 + rng.choice([0, 1e-16, 1e-12, 1e-8, 1e-4]))
        R = rotation_of(*angles)
        assert np.abs(R - Rotation.from_euler("xyz", angles).as_matrix()).max() < 1e-15
        assert np.abs(rotation_of(*angles_of(R)) - R).max() < 1e-15


# -- what is wrong -----------------------------------------------------------------------------------------------------

PAIR = link("base") + "\n" + link("arm") + "\n" + joint("hinge", "revolute", "base", "arm")


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        (PAIR.replace('type="revolute"', 'type="revolut"'), ["line 6", "'revolut'", "did you mean 'revolute'"]),
        (PAIR.replace('child link="arm"', 'child link="arn"'), ["line 7", "'arn'", "'arm'"]),
        (PAIR.replace('child link="arm"', 'child link="base"'), ["connects link 'base' with itself"]),
        (PAIR.replace("<child", "<kid"), ["mismatched|needs"]),
        (PAIR.replace('<child link="arm"/>', ""), ["line 6", "'hinge' needs <child"]),
        (PAIR + link("lone"), ["'lone'", "one root"]),
        (PAIR + joint("second", "fixed", "base", "arm"), ["'arm'", "'second'", "'hinge'", "closed_loop"]),
        (PAIR + joint("back", "fixed", "arm", "base"), ["circle|no links|root|children"]),
        (PAIR + link("arm"), ["second link", "'arm'", "line 4"]),
        (PAIR.replace('axis xyz="0 0 1"', 'axis xyz="0 0 0"'), ["line 6", "axis", "zero"]),
        (PAIR.replace('axis xyz="0 0 1"', 'axis xyz="0 1"'), ["line 7", "3 numbers"]),
        (PAIR.replace('axis xyz="0 0 1"', 'axis xyz="0 nan 1"'), ["finite", "nan"]),
        (PAIR.replace('lower="-3"', 'lower="4"'), ["lower limit 4", "upper limit 3"]),
        (PAIR.replace('effort="10"', 'effort="-10"'), ["effort", "negative", "-10"]),
        (PAIR.replace('mass value="1.0"', 'mass value="-1.0"'), ["line 3", "'base'", "negative", "-1 kg"]),
        (PAIR.replace('mass value="1.0"', 'mass value="0"'), ["line 5", "'arm'", "no mass"]),
        (
            PAIR.replace('izz="0.1"', 'izz="0.3"'),
            ["line 5", "'arm'", "0.1, 0.1, 0.3", "kg m2", "sum of the other two"],
        ),
        (PAIR.replace('izz="0.1"', 'izz="-0.1"'), ["principal moments -0.1"]),
        (PAIR.replace('ixy="0.0"', 'ixy="0.5"'), ["principal moments -0.4"]),
        (PAIR.replace('izz="0.1"', 'izz="1e300"'), ["1e+300"]),
        (PAIR.replace("<mass ", "<mas "), ["needs <mass"]),
        (PAIR.replace('name="arm"', f'name="{"a" * 300}"'), ["300 characters"]),
        (PAIR + "<xacro:macro name='m'/>", ["run xacro first"]),
        (PAIR.replace("</joint>", '<mimic joint="hinge"/></joint>'), ["mimics itself"]),
        (PAIR.replace("</joint>", '<mimic joint="hing"/></joint>'), ["'hing'", "'hinge'"]),
        (PAIR.replace("</joint>", '<dynamics damping="-1"/></joint>'), ["damping", "-1"]),
        (link("base"), ["nothing in it can move", "base='free'"]),
        ("", ["no links"]),
    ],
)
def test_mistakes_are_told(robot, words, tmp_path):
    path = written(tmp_path, robot)
    with pytest.raises(CmbError, match=r"robot\.urdf(, line \d+)?: ") as told:
        read_urdf(path)
    for word in words:
        assert any(x in str(told.value) for x in word.split("|")), told.value


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("closed_loop: [[end, pst]]\ntype: [6d]", ["line 1", "'pst'", "'post'"]),
        ("closed_loop: [[end, post, l1]]\ntype: [6d]", ["pair", "3"]),
        ("closed_loop: [[end, end]]\ntype: [6d]", ["on one link"]),
        ("closed_loop: [[end, post]]\ntype: [7d]", ["line 2", "'7d'"]),
        ("closed_loop: [[end, post]]\ntype: []", ["1 pairs", "0 entries"]),
        ("closed_loop: [[end, post]]\ntype: [distance]", ["'distance'", "'value'"]),
        ("closed_loop: [[end, post]]\ntype: [distance]\nvalue: [far]", ["line 3", "number"]),
        ("closed_loop: {a: b}\ntype: [6d]", ["closed_loop", "sequence"]),
        ("closed_loop: [[1, 2]]\ntype: [6d]", ["must be a string"]),
        ("name_mot: [j9]", ["line 1", "name_mot", "'j9'"]),
        ("name_mot: [j0, j0]", ["all different"]),
        ("name_mot: j0", ["name_mot", "sequence"]),
        ("joint_name: [j0]\njoint_type: []", ["1 entries", "0"]),
        ("joint_name: [j0]\njoint_type: [BALL]", ["line 2", "'BALL'", "SPHERICAL"]),
        ("joint_name: [at_end]\njoint_type: [SPHERICAL]", ["'at_end' is fixed"]),
        ("gravity: [0, 0]\nclosed_loop: []", ["gravity", "shape"]),
    ],
)
def test_mistakes_in_the_yaml_file_are_told(data, words, tmp_path):
    path = written(tmp_path, SQUARE, data + "\n")
    with pytest.raises(CmbError, match=r"robot\.yaml") as told:
        read_urdf(path)
    for word in words:
        assert word in str(told.value), told.value


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_urdf(tmp_path / "gone.urdf")
    path = tmp_path / "robot.urdf"
    path.write_text("<sdf version='1.9'/>")
    with pytest.raises(InputError, match=r"<sdf>.*<robot>"):
        read_urdf(path)
    with pytest.raises(InputError, match="base must be"):
        read_urdf(path, base="loose")


# -- files that are spoiled --------------------------------------------------------------------------------------------


@pytest.fixture
def originals(tmp_path, monkeypatch):
    """Robots in an empty folder: of ours, and one by hand."""
    monkeypatch.chdir(tmp_path)
    made = []
    for plant in (plants.five_bar(), plants.delta(), plants.leg(), plants.bricard()):
        made.append(write_urdf(plant, f"{plant.name}.urdf").path)
    return [*made, written(tmp_path, ARM, "name_mot: [shoulder]\nclosed_loop: [[upper, tool]]\ntype: [3d]\n")]


def spoil_robots(originals, seeds):
    read = 0
    for seed in seeds:
        path = originals[seed % len(originals)]
        Path("spoiled.urdf").write_bytes(mutations.xml(path.read_text(), seed))
        answer = mutations.answer(partial(read_urdf, loops=path.with_suffix(".yaml")), "spoiled.urdf")
        read += not isinstance(answer, Exception)
    return read


def spoil_loops(originals, seeds):
    for seed in seeds:
        path = originals[seed % len(originals)]
        Path("spoiled.yaml").write_bytes(mutations.yaml(path.with_suffix(".yaml").read_text(), seed))
        mutations.answer(partial(read_urdf, path), "spoiled.yaml")


def test_some_spoiled_files(originals):
    spoil_robots(originals, range(60))
    spoil_loops(originals, range(60))


@pytest.mark.rotates
def test_spoiled_robots_of_this_commit(originals):
    seeds = rotating(100)
    assert 0.05 < spoil_robots(originals, seeds) / len(seeds) < 0.95  # some can be read all the same


@pytest.mark.rotates
def test_spoiled_files_of_loops_of_this_commit(originals):
    spoil_loops(originals, rotating(100))

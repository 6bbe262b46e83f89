"""MJCF files into machines: MuJoCo itself says what they are; hostile files end in errors."""

import re
import sys

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers
from cmbcontrol.errors import (
    AssemblyError,
    CmbError,
    FileError,
    InputError,
    InputTypeError,
    MissingExtraError,
    ModelError,
)
from cmbcontrol.formats.mjcf import read_mjcf
from cmbcontrol.formats.mjcf_writing import write_mjcf

mujoco = pytest.importorskip("mujoco")

from ..seeds import rotating  # noqa: E402
from . import mutations  # noqa: E402
from .mjcf_judge import Judge  # noqa: E402
from .mjcf_texts import LOOPS, SITES, TREE, Random, shipped  # noqa: E402

TOLD = (FileError, InputError, InputTypeError, ModelError)
SHIPPED = shipped()
WITH_EQUALITIES = [key for key, text in SHIPPED.items() if "<equality>" in text]


def read(text, folder, name="machine.xml"):
    path = folder / name
    path.write_text(text)
    return read_mjcf(path)


def compiled(text):
    """As MuJoCo has it, without the meshes that need files."""
    text = re.sub(r"<asset><mesh.*?</asset>|<geom class=\"picture\".*?/>", "", text)
    return mujoco.MjModel.from_xml_string(text)


def judge_of(text, made):
    """The model, whose joints without names have those that the machine gives them."""
    model = compiled(text)
    bodies = {0: "ground"}
    renamed = {}
    for b in range(1, model.nbody):
        bodies[b] = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, b) or f"body_{b}"
    judge = Judge(model, made)
    for j in range(model.njnt):
        b = model.jnt_bodyid[j]
        k = j - model.body_jntadr[b] + 1
        given = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        renamed[j] = given or (bodies[b] if model.body_jntnum[b] == 1 else f"{bodies[b]}_{k}")
    judge.name = renamed.__getitem__
    return judge


def agree(text, made, seeds=range(3), reach=0.1):
    """M and forces anywhere; the row space where the loops are closed."""
    judge = judge_of(text, made)
    worst = np.zeros(3)
    if not made.nv:
        return worst
    for seed in seeds:
        judge.random(seed)
        worst[:2] = np.maximum(worst[:2], judge.errors())
    if not made.loops:
        return worst
    judge.set(judge.m.qpos0, np.zeros(judge.m.nv))
    rng, start = np.random.default_rng(0), made.assemble(guess=judge.q())
    for _ in seeds:
        q = made.assemble(guess=made.integrate(start, reach * made.displacement_scale * rng.standard_normal(made.nv)))
        judge.take(q, made.project_velocity(q, rng.uniform(-1.0, 1.0, made.nv)))
        worst[:2] = np.maximum(worst[:2], judge.errors())
        error, one, other = judge.row_error()
        assert one == other
        assert np.abs(judge.rows()[1]).max(initial=0.0) < 1e-9
        worst[2] = max(worst[2], error)
    return worst


# -- the same machine ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TREE, LOOPS, SITES], ids=["tree", "loops", "sites"])
def test_own_texts(text, tmp_path):
    assert max(agree(text, read(text, tmp_path).machine)) < 1e-12


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("key", [*WITH_EQUALITIES, *list(SHIPPED)[::10]])
def test_texts_that_ship_with_mujoco(key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo leaves its log
    shipped_text_agrees(SHIPPED[key], tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("key", SHIPPED)
def test_all_texts_that_ship_with_mujoco(key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped_text_agrees(SHIPPED[key], tmp_path)


def shipped_text_agrees(text, folder):
    """Up to what the remarks list; that is switched off in MuJoCo."""
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("a part of a file, or one that needs others")
    try:
        found = read(text, folder)
    except InputError as error:
        assert "mesh" in str(error), error
        return
    if model.nflex or not found.machine.nv:
        return
    told = str(found)
    judge = judge_of(text, found.machine)
    off = judge.m
    if "medium" in told:
        off.opt.density = off.opt.viscosity = 0.0
    for j in range(off.njnt):
        if off.jnt_type[j] in (0, 1) and "the armature of joint" in told:
            off.dof_armature[off.jnt_dofadr[j] : off.jnt_dofadr[j] + (6, 3)[off.jnt_type[j]]] = 0.0
    if "spring and damper of tendon" in told or "straight tendons" in told:
        off.tendon_stiffness[:] = off.tendon_damping[:] = 0.0
    if "the yield" in told:
        off.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SPRING
    for seed in range(2):
        judge.random(seed)
        M, h = judge.errors()
        assert M < 1e-12
        assert h < 1e-12 or "the yield" in told
    assert agree(text, found.machine, seeds=range(2))[2] < 1e-12  # the row space, where the loops are closed


def random_agrees(seed, folder):
    text = Random(np.random.default_rng([21, seed])).text()
    try:
        compiled(text)
    except ValueError:
        return None
    found = read(text, folder)
    try:
        worst = agree(text, found.machine, seeds=range(2))
    except AssemblyError:  # other configurations than that of the reference are not for every structure
        worst = agree(text, found.machine, seeds=range(2), reach=0.0)
    assert max(worst[:2]) < 1e-12 and worst[2] < 1e-9  # near singular poses row spaces are as the closure is
    return found


@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.BranchWarning")
@pytest.mark.parametrize("seed", range(8))
def test_random_texts(seed, tmp_path):
    random_agrees(seed, tmp_path)


@pytest.mark.rotates
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.BranchWarning")
@pytest.mark.parametrize("seed", rotating(100))
def test_random_texts_of_this_commit(seed, tmp_path):
    random_agrees(seed, tmp_path)


# -- what becomes of the parts ----------------------------------------------------------------------------------------


def test_parts_and_remarks(tmp_path):
    found = read(TREE, tmp_path)
    made, told = found.machine, str(found)
    kinds = {joint.name: type(joint) for joint in made.joints}
    assert kinds["pan"] is cmb.Revolute and kinds["reach"] is cmb.Prismatic
    assert kinds["ball"] is cmb.Spherical and kinds["float"] is cmb.Free
    limits = dict(zip(made.position_names, made.limits.tolist(), strict=True))
    assert limits["pan"] == pytest.approx(np.radians([-100, 120]).tolist()) and limits["reach"] == [-0.2, 0.5]
    effort = dict(zip(made.actuator_names, made.effort, strict=True))
    assert effort == {"pan": 5.0, "tilt_servo": 50.0, "spin": np.inf, "push": 0.75, "turn": np.inf}
    assert made.configurations["home"]["pan"] == 0.1 and made.configurations["home"]["float_qx"] == 1.0
    assert made.configurations["start"]["reach"] == 0.15
    assert [x.name for x in made.springs] == ["tilt_spring", "reach_spring", "band"]
    for words in (
        "motor 'both'",
        "actuator 'thrust'",
        "<contact>",
        "<sensor>",
        "<asset>",
        "is a load here",
        "'pointer'",
    ):
        assert words in told, words


def test_actuators_are_those_of_mujoco(tmp_path):
    """Forces of a unit of effort, by the transmissions of MuJoCo and the gains of its motors."""
    found = read(TREE, tmp_path)
    made, judge = found.machine, judge_of(TREE, found.machine)
    judge.random(3)
    T, _ = judge.map(judge.q())
    B = made.terms(judge.q(), T @ judge.d.qvel).B
    m, d = judge.m, judge.d
    moment = np.zeros((m.nu, m.nv))
    mujoco.mju_sparse2dense(moment, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    gains = {"pan": 1.0, "tilt_servo": 1.0, "push": 4.0, "turn": 1.0}
    for a in range(m.nu):
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, a)
        if name in gains:
            mine = T.T @ B[:, made.actuator_names.index(name)]
            assert np.abs(mine - gains[name] * moment[a]).max() < 1e-12, name


def test_servos_have_their_laws(tmp_path):
    found = read(TREE, tmp_path)
    made, judge = found.machine, judge_of(TREE, found.machine)
    judge.random(5, reach=0.2)
    q = dict(zip(made.position_names, judge.q(), strict=True))
    for servo in found.servos:
        a = next(i for i in range(judge.m.nu) if judge.m.actuator_gainprm[i][0] == servo.gain and servo.gain != 4.0)
        for command in (-3.0, 0.2, 0.9):
            judge.d.ctrl[a] = command
            mujoco.mj_forward(judge.m, judge.d)
            v = judge.d.qvel[judge.dof(servo.coordinate)]
            mine = np.clip(
                servo.effort(command, q[servo.coordinate], v), *([-50.0, 50.0] if servo.gain == 80.0 else [-9e9, 9e9])
            )
            assert mine == pytest.approx(judge.d.actuator_force[a], rel=1e-12)


@pytest.mark.nojit_slow
def test_a_servo_as_a_law(tmp_path):
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body><joint name="pivot"/><geom size="0.1" pos="1 0 0"/></body></worldbody>
      <actuator><position joint="pivot" kp="200" kv="40"/></actuator></mujoco>"""
    found = read(text, tmp_path)
    servo = found.servos[0]

    @controllers.compiled_law
    def hold(t, terms, state):
        return [servo.effort(0.5, terms.q[0], terms.v[0])]

    run = cmb.simulate(found.machine, hold, [0.0], t_end=3.0)
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("text", [TREE, LOOPS], ids=["tree", "loops"])
def test_what_is_read_can_be_saved_and_written_again(text, tmp_path):
    """As a machine file to the last digit; as MJCF to the same equations of motion."""
    made = read(text, tmp_path).machine
    saved = cmb.Mechanism.load(made.save(tmp_path / "machine.yaml"))
    again = read_mjcf(write_mjcf(made, tmp_path / "again.xml").path).machine
    judge = judge_of(text, made)
    judge.random(1)
    q = judge.q()
    v = judge.map(q)[0] @ judge.d.qvel
    assert again.position_names == made.position_names
    one, two, three = (plant.terms(q, v) for plant in (made, saved, again))
    assert np.array_equal(one.M, two.M) and np.array_equal(one.h, two.h)
    assert np.abs(one.M - three.M).max() < 1e-12 * np.abs(one.M).max()
    if text is LOOPS:  # no spring of the tree's springs and dampers that are not linear is in MJCF again
        assert np.abs(one.h - three.h).max() < 1e-12 * np.abs(one.h).max()
        assert [x.name for x in again.loops] == [x.name for x in made.loops]


def test_inactive_equalities_are_taken_out(tmp_path):
    made = read(LOOPS, tmp_path).machine
    assert made.absent and "off" not in [loop.name for loop in made.loops]
    switched = LOOPS.replace("<worldbody>", '<option><flag equality="disable"/></option><worldbody>', 1)
    assert not read(switched, tmp_path).machine.loops


def test_names_are_made_usable(tmp_path):
    text = """<mujoco model="a.b"><worldbody>
      <body name="ground"><joint name="x.y"/><geom size="1"/><site name="ground"/>
        <body name="a,b"><joint name="x_y"/><geom size="1"/>
          <body><joint/><joint axis="1 0 0"/><geom size="1"/></body></body>
      </body></worldbody><equality><joint name="x_y" joint1="x.y" joint2="x_y"/></equality></mujoco>"""
    found = read(text, tmp_path)
    made = found.machine
    assert made.name == "a_b" and made.position_names == ("x_y", "x_y_2", "body_3_1", "body_3_2")
    assert [loop.name for loop in made.loops] == ["x_y_3"]
    assert "ground_2" in [b.name for b in made.bodies] and "ground_3" in [b.name for b in made.bodies]
    assert "joint 'x.y': is called 'x_y' here" in str(found)


# -- motion ----------------------------------------------------------------------------------------------------------


def fall(text, made, t_end, step):
    """Where a fall from rest begins, the closed configuration nearest to the reference, and MuJoCo at its end."""
    model = compiled(text)
    model.opt.timestep, model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
    judge = judge_of(text, made)
    judge.m, judge.d = model, mujoco.MjData(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    mujoco.mj_forward(model, judge.d)
    q0 = made.assemble(guess=judge.q())
    judge.take(q0)
    for _ in range(round(t_end / step)):
        mujoco.mj_step(model, judge.d)
    mujoco.mj_forward(model, judge.d)
    return q0, judge


@pytest.mark.nojit_slow
def test_free_fall_of_a_tree(tmp_path):
    """1 s, with all passive forces but dry friction, which is another one in MuJoCo's solver."""
    text = TREE.replace('frictionloss="0.4"', "")
    text = re.sub(r"<actuator>.*</actuator>|range=\"[^\"]*\"", "", text, flags=re.DOTALL)
    made = read(text, tmp_path).machine
    q0, judge = fall(text, made, 1.0, 1e-3)
    run = cmb.simulate(made, q0=q0, t_end=1.0, rtol=1e-10, atol=1e-10)
    assert np.abs(run.q.values[-1] - judge.q()).max() < 1e-7


STIFF = '<default><equality solref="-1e6 -2e3" solimp="0.9999 0.9999 0.001 0.5 2"/></default>'


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("text", "within"), [(LOOPS, 2e-3)], ids=["loops"])
def test_free_fall_of_loops(text, within, tmp_path):
    """1 s; MuJoCo's equalities give way, as stiff as they are made."""
    text = text.replace("<worldbody>", f"{STIFF}<worldbody>", 1)
    made = read(text, tmp_path).machine
    q0, judge = fall(text, made, 1.0, 2e-4)
    run = cmb.simulate(made, q0=q0, t_end=1.0)
    assert np.abs(run.q.values[-1] - judge.q()).max() < within
    assert np.abs(run.q.values[-1] - q0).max() > 0.3  # it has moved


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('ref="30"', 'ref="nan"', ["LINE", "'ref' of <joint>", "finite", "nan"]),
        ('mass="2.5"', 'mass="heavy"', ["LINE", "'mass'", "heavy"]),
        ('mass="2.5"', 'mass="0"', ["<body name='arm'>", "MuJoCo says", "mass"]),
        ('axis="1 1 0"', 'axis="0 0 0"', ["LINE", "MuJoCo says"]),
        ('type="ball"', 'type="bal"', ["LINE", "MuJoCo says"]),
        ("<freejoint", "<frejoint", ["frejoint"]),
        ('<joint name="slip"', '<jont name="slip"', ["'jont'", "did you mean 'joint'"]),
        ('name="tilt" axis', 'name="pan" axis', ["MuJoCo says", "pan"]),
        ('joint="reach" gainprm', 'joint="rech" gainprm', ["rech", "MuJoCo says"]),
        ('<geom class="picture"', "<geom", ["line 20"]),
        ('count="3"', 'count="300000000"', ["more than", "elements"]),
        ('count="3"', 'count="-1"', ["'count'", "-1"]),
        ("<worldbody>", '<worldbody><include file="/etc/passwd"/>', ["leads out", "/etc/passwd"]),
        ("<worldbody>", '<worldbody><include file="../x.xml"/>', ["leads out", "../x.xml"]),
        ("<worldbody>", '<worldbody><include file="none.xml"/>', ["none.xml", "cannot be read"]),
        ("<worldbody>", '<worldbody><include file="machine.xml"/>', ["once only"]),
        ("<worldbody>", '<worldbody><attach model="x" prefix="y"/>', ["<attach>", "mj_saveLastXML"]),
        ("<mujoco", "<robot", ["this is no XML"]),
    ],
)  # fmt: skip
def test_mistakes_are_told(old, new, words, tmp_path):
    text = TREE.strip()
    if old not in text:
        text = LOOPS.strip()
    if words == ["line 20"]:
        text = text.replace(
            '<inertial pos="0.2 0.05 -0.1" mass="2.5" fullinertia="0.06 0.09 0.11 0.01 -0.02 0.015"/>', ""
        )
        words = ["mesh", "<inertial>", "mj_saveLastXML", "'arm'"]
    line = f"line {1 + text[: text.index(old)].count(chr(10))}"
    words = [line if word == "LINE" else word for word in words]
    with pytest.raises(TOLD) as told:
        read(text.replace(old, new, 1), tmp_path)
    assert all(word in str(told.value) for word in ["machine.xml", *words]), told.value


def test_a_mesh_that_does_not_count_is_a_remark(tmp_path):
    """Of a body that does not move, or whose mass is given."""
    text = TREE.replace(
        '<geom type="plane"', '<geom type="mesh" mesh="shell" mass="3" size="1 1 1"/><geom type="plane"'
    )
    assert "a geom of a mesh" in str(read(text, tmp_path))


def test_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude><body name="arm"><joint name="arm"/><geom size="0.1" pos="1 0 0"/></body></mujocoinclude>'
    )
    text = '<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>'
    assert read(text, tmp_path).machine.position_names == ("arm",)
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude>\n<body name="arm"><joint axis="0 0 0"/></body>\n</mujocoinclude>'
    )
    with pytest.raises(InputError, match=r"arm.xml, line 2"):
        read(text, tmp_path)
    outside = tmp_path.parent / "outside.xml"
    outside.write_text("<x/>")
    (tmp_path / "link.xml").symlink_to(outside)
    with pytest.raises(InputError, match="leads out"):
        read('<mujoco><worldbody><include file="link.xml"/></worldbody></mujoco>', tmp_path)


def test_nothing_is_printed_or_left(tmp_path, capfd, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    before = mujoco.get_mju_user_warning()
    text = TREE.replace("<compiler", '<compiler settotalmass="7"', 1)
    assert "settotalmass" in str(read(text, tmp_path))
    with pytest.raises(InputError):
        read(TREE.replace('mass="2.5"', 'mass="0"'), tmp_path)
    assert mujoco.get_mju_user_warning() is before
    assert capfd.readouterr() == ("", "") and not list((tmp_path / "here").iterdir())


def test_names_do_not_make_screws_or_universal_joints(tmp_path):
    """Files of others keep their joints one by one, whatever they are called."""
    text = """<mujoco><worldbody><body name="nut"><joint name="nut"/><joint name="nut_travel" type="slide"/>
      <geom size="0.1" pos="0.3 0 0"/><body name="cross"><joint name="cross_1"/><joint name="cross_2" axis="1 0 0"/>
      <geom size="0.1" pos="0.3 0 0"/></body></body></worldbody>
      <equality><joint joint1="nut_travel" joint2="nut" polycoef="0 0.1 0 0 0"/></equality></mujoco>"""
    made = read(text, tmp_path, "thread.xml").machine
    assert made.name == "thread" and len(made.loops) == 1
    assert [type(x) for x in made.joints] == [cmb.Revolute, cmb.Prismatic, cmb.Revolute, cmb.Revolute]
    assert max(agree(text, made)) < 1e-12


def test_an_old_mujoco(tmp_path, monkeypatch):
    monkeypatch.setattr(mujoco, "__version__", "3.3.1")
    with pytest.raises(MissingExtraError, match=r"4 or later, and this is 3.3.1"):
        read(TREE, tmp_path)


def test_without_mujoco(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"cmbcontrol\[mjcf\]"):
        read(TREE, tmp_path)


# -- files that have been spoiled -------------------------------------------------------------------------------------

FREE = '<body><freejoint/><geom size="1"/></body>'
MUSCLE = '<muscle joint="pan"/><general joint="pan" gaintype="muscle" biastype="muscle" dyntype="muscle"/>'
GRID = '<flexcomp name="f" type="grid" count="1000 1000 1000" spacing="1 1 1"/>'
ASSETS = '<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/><model name="m" file="/dev/zero"/>'
HOSTILE = [  # what is replaced, by what
    ('mass="2.5"', 'mass="1e300"'),
    ('pos="0.5 0 0"', 'pos="1e300 0 0"'),
    ('name="arm" pos="0 0 1"', 'name="arm" pos="1e-320 1e200 1"'),
    ('count="3"', 'count="9999"'),
    ("<worldbody>", "<worldbody>" + '<replicate count="999">' * 9 + '<geom size="1"/>' + "</replicate>" * 9),
    ("<worldbody>", "<worldbody>" + "<body>" * 390 + "</body>" * 390),
    ("<worldbody>", "<worldbody>" + '<body><joint/><geom size="1"/>' * 390 + "</body>" * 390),
    ("<worldbody>", "<worldbody>" + "<frame>" * 380 + "</frame>" * 380),
    ("<worldbody>", "<worldbody>" + "<frame>" * 3800 + "</frame>" * 3800),
    ("<worldbody>", "<worldbody>" + FREE * 3000),
    ("<worldbody>", "<worldbody>" + FREE * 160),
    ("<worldbody>", "<worldbody>" + "<site/>" * 30000),
    ("<worldbody>", "<worldbody>" + '<body><geom size="1"/></body>' * 2900),
    ("<worldbody>", "<worldbody>" + '<geom size="1"/>' * 30000),
    ("<equality>", "<equality>" + '<connect body1="b2" body2="a3" anchor="0 0 0"/>' * 5000),
    ("<actuator>", "<actuator>" + '<motor joint="pan"/>' * 20000),
    ("<actuator>", "<actuator>" + MUSCLE),
    ("<compiler", '<size memory="900G" nuser_body="1000000000"/><compiler'),
    ('joint="pan" coef="2"', 'joint="pan" coef="1e308"'),
    ('polycoef="0 0.3', 'polycoef="1e308 1e308'),
    ('quat="0.9 0.1 -0.3 0.2"', 'quat="0 0 0 0"'),
    ('quat="0.9 0.1 -0.3 0.2"', 'quat="1e200 1e200 1 1"'),
    ('type="free"', 'type="free" user="1000000"'),
    ('name="pan" axis', 'user="3" name="pan" axis'),
    ('name="pan" axis', 'user="' + "1 " * 100000 + '" name="pan" axis'),
    ("<worldbody>", '<extension><plugin plugin="mujoco.sdf.gear"/></extension><worldbody><plugin plugin="x"/>'),
    ("<worldbody>", "<worldbody>" + GRID),
    ("<worldbody>", '<worldbody><composite type="grid" count="1000 1000 1"/>'),
    ("<asset>", "<asset>" + ASSETS),
    ('<key name="home"', '<key name="home" ' + " ".join(f'x{i}="1"' for i in range(5000))),
    ('qpos="0.1', 'qpos="' + "1 " * 200000),
    ('body2="a3"', 'body2="b2"'),
    ('joint2="turn"', 'joint2="x"'),
    ("<default>", '<default class="a"><default class="a"/></default><default>'),
    ("<default>", "<default>" + "".join(f'<default class="{i}">' for i in range(300)) + "</default>" * 300),
    ('class="stiff"', 'class="nowhere"'),
    ('springlength="0.4"', 'springlength="-7"'),
    ("<keyframe>", "<keyframe>" + "<key/>" * 20000),
]


def told_or_read(text, folder):
    """A machine or an error, in bounded time and memory."""
    path = folder / "machine.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return mutations.answer(read_mjcf, path)


@pytest.mark.filterwarnings("ignore:overflow|invalid|divide:RuntimeWarning")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(*both, id=str(k), marks=[pytest.mark.slow] * (both[1].count("<") > 500))
        for k, both in enumerate(HOSTILE)
    ],
)
def test_hostile_files(old, new, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = TREE if old in TREE else LOOPS
    assert old in text
    told_or_read(text.replace(old, new, 1), tmp_path)
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def spoil(seed, folder):
    """Files of three texts, spoiled; they are told in most cases, and what is read is a machine."""
    text = (TREE, LOOPS, SITES)[seed % 3]
    found = told_or_read(mutations.xml(text, seed), folder)
    assert not (folder / "MUJOCO_LOG.TXT").exists()
    if isinstance(found, CmbError):
        assert "machine.xml" in str(found)


@pytest.mark.filterwarnings("ignore:overflow|invalid|divide:RuntimeWarning")
@pytest.mark.parametrize("part", range(3))
def test_spoiled_files(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in range(20 * part, 20 * part + 20):
        spoil(seed, tmp_path)


@pytest.mark.rotates
@pytest.mark.filterwarnings("ignore:overflow|invalid|divide:RuntimeWarning")
@pytest.mark.parametrize("part", range(5))
def test_spoiled_files_of_this_commit(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in rotating(100)[part::5]:
        spoil(seed, tmp_path)

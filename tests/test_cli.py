"""The command line: what it prints and writes, exit codes, errors in one line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import cmbcontrol as cmb
from cmbcontrol import affine_approximation, cli, load_linear, plants
from cmbcontrol import linearize as linear_model
from cmbcontrol.cli import common, linearize, study
from cmbcontrol.cli.matrices import matrix_lines
from cmbcontrol.plants import Entry

FILES = {
    "joints.png",
    "forces.png",
    "accuracy.png",
    "bode.png",
    "run.nc",
    "linear.mat",
    "linear.json",
    "summary.json",
}


NEEDS_COMPILATION, KERNELS = common._jit.needs_compilation, common._jit.kernels()


def call(*arguments):
    """Run a command; (exit code, stdout, stderr)."""
    result = CliRunner().invoke(cli.app, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


def assert_fails(match, *arguments, code=1):
    """The command ends with one line on stderr, and with that exit code."""
    exit_code, out, err = call(*arguments)
    assert exit_code == code
    assert err.startswith("error: ") and err.count("\n") == 1 and err.endswith("\n")
    assert match in err
    assert "Traceback" not in out + err


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """Nothing is said of compilation, whether this is the first test of all or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common._jit, "needs_compilation", lambda *kernel: False)
        patch.setattr(linearize, "needs_compilation", lambda: False)
        yield


@pytest.fixture
def only(monkeypatch):
    """A catalogue with a single plant of the test's."""

    def install(factory, initial, study=None):
        entry = Entry("mine", factory, "a plant of the test", "nowhere", initial, study)
        monkeypatch.setattr(common, "catalogue", {"mine": entry})

    return install


def unmotored():
    """The pendulum with its motor taken off."""
    plant = plants.pendulum()
    return cmb.Mechanism("swing", plant.bodies, plant.joints, plant.loops, gravity=plant.gravity)


# -- list and diagnose -----------------------------------------------------------------------------------


def test_list_shows_every_plant():
    code, out, err = call("list")
    assert (code, err) == (0, "")
    for name, entry in plants.catalogue.items():
        assert name in out and entry.description.split()[0] in out and common.options_text(entry) in out
    (line,) = [line for line in out.splitlines() if line.startswith("parallelogram")]
    assert line.split()[1:5] == ["1", "12", "6", "1"]  # degrees of freedom, coordinates, loops, motors
    assert "Spencer" in out


def test_diagnose_prints_the_mobility_table():
    code, out, err = call("diagnose", "five-bar", "--at", "left=2.0", "--at", "right=60deg")
    assert (code, err) == (0, "")
    assert out.startswith(str(plants.five_bar()))
    rest = out.split("  at left = 2, right = 1.0472:\n")[1]
    assert "left              2 rad" in rest
    assert "true degrees of freedom 2" in rest and "fully-actuated" in rest


def test_diagnose_tells_what_the_motors_can_do():
    _, out, _ = call("diagnose", "two-arms")
    assert "margin 1 (1 best, 0 lost)" in out and "reachable constraint forces: 3 of 3" in out and "|mu P|" in out
    _, out, _ = call("diagnose", "five-bar")
    assert "reachable constraint forces: 0 of 2" in out
    _, out, _ = call("diagnose", "bricard")
    assert out.count("constraint forces that the motors can set") == (plants.bricard().nu > 0)


def test_diagnose_without_values_uses_the_start_pose():
    code, out, _ = call("diagnose", "slider-crank")
    assert code == 0
    assert "at the start pose of the catalogue" in out and "q1                0.6 rad" in out


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1.5", 1.5),
        ("a = -.5e-1", -0.05),
        ("a=pi", np.pi),
        ("a=-pi/2", -np.pi / 2),
        ("a=2*pi/3", 2 * np.pi / 3),
        ("a=0.5pi", np.pi / 2),
        ("a=120deg", 2 * np.pi / 3),
    ],
)
def test_joint_values(text, value):
    assert common.numbers([text], "--at", "a=1") == {"a": pytest.approx(value, rel=1e-15)}


@pytest.mark.parametrize("text", ["left", "=1", "left=", "left=up", "left=pi/0", "left=1,5", "left=nan", "left=2*tau"])
@pytest.mark.parametrize("command", ["diagnose", "linearize"])
def test_bad_joint_values(command, text):
    assert_fails(f"got {text!r}", command, "five-bar", "--at", text)


def test_a_joint_is_given_once():
    assert_fails("--at gives 'left' twice", "diagnose", "five-bar", "--at", "left=1,right=1", "--at", "left=2")


def test_joint_values_with_commas_and_one_by_one():
    once = call("diagnose", "five-bar", "--at", "left=2.0, right=60deg")
    assert once == call("diagnose", "five-bar", "--at", "left=2.0", "--at", "right=60deg")
    assert once[0] == 0


def test_unknown_and_unreachable_joints():
    assert_fails("did you mean 'left'?", "diagnose", "five-bar", "--at", "lefd=1")
    assert_fails("cannot be closed with left = 2, right = 2, elbow_left = 3", "diagnose", "five-bar",
                 "--at", "left=2", "--at", "right=2", "--at", "elbow_left=3")  # fmt: skip


# -- study -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A short study of the five-bar: (stdout, folder)."""
    folder = tmp_path_factory.mktemp("out") / "five" / "bar"
    code, out, err = call("study", "five-bar", "-o", folder, "--duration", 0.3, "--bandwidth", 12)
    assert (code, err) == (0, "")
    return out, folder


def test_study_writes_its_files(studied):
    out, folder = studied
    assert {p.name for p in folder.iterdir()} == FILES | {"animation.gif"}
    for name in (*FILES, "animation.gif"):
        assert name in out
        assert (folder / name).stat().st_size > 100
    for path in folder.glob("*.png"):
        with Image.open(path) as image:
            assert min(image.size) > 400
    with Image.open(folder / "animation.gif") as gif:
        assert gif.n_frames == 51  # 2 s, slowed down


def test_study_decays_as_asked(studied):
    out, folder = studied
    summary = json.loads((folder / "summary.json").read_text())
    tracking = summary["tracking"]
    assert tracking["decay_rate_asked"] == pytest.approx(12.0)
    assert tracking["decay_rate_measured"] == pytest.approx(12.0, rel=0.01)
    assert tracking["error_start"] == pytest.approx(0.06)
    assert tracking["error_end"] == pytest.approx(0.06 * np.exp(-3.6), rel=0.01)
    assert "asked for 12 1/s" in out
    assert summary["max_loop_opening_m"] < 1e-12 and summary["max_energy_error_J"] < 1e-7


def test_study_keeps_the_run_and_the_linear_model(studied):
    _, folder = studied
    run = cmb.load_run(folder / "run.nc")
    assert run.time[-1] == pytest.approx(0.3)
    assert run.data.attrs["controller"] == "ProjectedInverseDynamics"
    summary = json.loads((folder / "summary.json").read_text())
    for suffix in ("mat", "json"):
        lin = load_linear(folder / f"linear.{suffix}")
        assert lin.states == ("left", "right", "left_rate", "right_rate")
        kept = [complex(*m["eigenvalue"]) for m in summary["linear_model"]["modes"]]
        np.testing.assert_allclose(np.sort_complex(kept), np.sort_complex([m.eigenvalue for m in lin.damping()]))
    assert summary["linear_model"]["pose"]["left"] == pytest.approx(2.1)  # the centre


def test_study_tells_open_loop_and_error_poles(studied):
    out, _ = studied
    assert "open loop, held" in out
    (line,) = [line for line in out.splitlines() if "asked for (4 poles)" in line]
    assert line.split()[-3:] == ["-12", "12", "1"]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", [n for n in plants.catalogue if n != "five-bar"])
def test_every_plant_can_be_studied(name, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "_figures", lambda *a: [])  # tested with the five-bar
    short = 0.03 if name == "andrews" else 0.2
    code, _, err = call("study", name, "--output", tmp_path, "--duration", short, "--no-animation")
    assert (code, err) == (0, "")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["linear_model"]["modes"]
    tracking = summary["tracking"]
    assert (tracking is None) == (plants.catalogue[name].study is None)
    if tracking is not None:
        assert tracking["decay_rate_measured"] == pytest.approx(tracking["decay_rate_asked"], rel=0.01)


def test_study_of_a_plant_without_motors(only, tmp_path):
    only(unmotored, lambda plant: (plant.assemble(angle=-1.0), np.zeros(3)))
    code, out, err = call("study", "mine", "-o", tmp_path, "--duration", 0.2, "--no-animation")
    assert (code, err) == (0, "")
    assert {p.name for p in tmp_path.iterdir()} == FILES - {"bode.png"}
    assert "free run" in out and "3.836j" in out  # sqrt(3 g / 2)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["tracking"] is None and summary["max_effort"] == {}


def test_study_of_a_plant_without_equilibrium(only, tmp_path):
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    only(
        lambda: cmb.Mechanism("fall", [block], [cmb.Prismatic("z", "ground", "block")]),
        lambda plant: (np.zeros(1), np.zeros(1)),
    )
    code, out, err = call("study", "mine", "-o", tmp_path, "--duration", 0.1, "--no-animation")
    assert (code, err) == (0, "")
    assert not list(tmp_path.glob("linear.*"))
    assert json.loads((tmp_path / "summary.json").read_text())["linear_model"] is None
    assert "eigenvalue" not in out


def test_a_run_that_ends_early_is_kept(tmp_path, monkeypatch):
    plant = plants.five_bar()
    part = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.05)

    def stop(*_, **__):
        raise cmb.errors.SimulationError("the run of 'five-bar' ended at t = 0.05 s.", part)

    monkeypatch.setattr(study, "simulate", stop)
    assert_fails("ended at t = 0.05 s. It is also in", "study", "five-bar", "-o", tmp_path)
    assert cmb.load_run(tmp_path / "run.nc").time[-1] == pytest.approx(0.05)


# -- linearize -------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def linearized(here):
    """Call linearize; (stdout, the model that it saved)."""

    def run(plant, *arguments):
        code, out, err = call("linearize", plant, "--save", "./kept.json", *arguments)
        assert (code, err) == (0, "")
        return out, load_linear(here / "kept.json", plants.catalogue[plant].start()[0])

    return run


def printed(out, title):
    """The matrix that was printed under a title; its blocks of columns side by side."""
    lines, blocks = out.splitlines(), []
    for i, line in enumerate(lines):
        if line.split()[:1] == [title] and i + 1 < len(lines) and lines[i + 1].startswith("  "):
            rows = []
            for row in lines[i + 1 :]:
                if not row.startswith("  "):
                    break
                rows.append([float(x) for x in row.split()[1:]])
            blocks.append(rows)
    return np.hstack(blocks)


@pytest.mark.parametrize("name", list(plants.catalogue))
def test_every_plant_can_be_linearized(name, linearized):
    out, lin = linearized(name)
    entry = plants.catalogue[name]
    plant, q0, _ = entry.start()
    assert out.startswith(f"{name}, {'held' if plant.nu else 'let go'} at the start pose of the catalogue")
    assert lin.point.residuals.balance <= 1e-6 * max(1.0, np.abs(lin.point.u).max(initial=0.0))
    if plant.nu:
        np.testing.assert_array_equal(lin.point.q, q0)
    for mode in lin.damping():
        assert f"{mode.frequency:.6g}" in out
    assert f"conditioning  {lin.conditioning:.3g}" in out
    digits = {"rtol": 5.1e-6, "atol": 1e-12 * np.abs(lin.A).max()}
    np.testing.assert_allclose(printed(out, "A"), lin.A, **digits)
    if lin.inputs:
        np.testing.assert_allclose(printed(out, "B"), lin.B, **digits)
    assert out.count(" rad\n") + out.count(" m\n") >= plant.nq - 8  # quaternions have no unit


def test_the_guide_shows_what_is_printed(here):
    guide = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text(encoding="utf-8")
    command, shown = re.search(r"```bash\ncmbcontrol (.*?)\n```\n\n```text\n(.*?)```", guide, re.S).groups()
    code, out, _ = call(*command.split())
    assert code == 0
    rounding = "  loops open by"
    shown = [line for line in shown.splitlines() if not line.startswith(rounding)]
    assert [line for line in out.splitlines() if not line.startswith(rounding)][: len(shown)] == shown
    assert {p.name for p in (here / "linear-five-bar").iterdir()} == {"bode.png", "model.mat"}


@pytest.mark.parametrize("name", list(plants.catalogue))
def test_every_plant_has_an_affine_model(name, linearized):
    out, lin = linearized(name, "--affine")
    plant, q0, _ = plants.catalogue[name].start()
    np.testing.assert_array_equal(lin.point.q, q0)
    assert not lin.point.u.any() and not lin.point.v.any()
    a = cmb.forward_dynamics(plant, q0, np.zeros(plant.nv))
    rows = [plant.velocity_names.index(n) for n in lin.states[: lin.dof]]
    np.testing.assert_allclose(lin.drift[lin.dof :], a[rows], rtol=1e-8, atol=1e-9)
    assert ("drift" in out) == bool(lin.drift.any())


def test_linearize_takes_coordinates_inputs_and_outputs(linearized):
    pose = ("--at", "left=2.1,right=1")
    out, lin = linearized("five-bar", *pose, "--coordinates", "left,right", "--inputs", "right",
                          "--outputs", "left, tip_force", "--outputs", "right_rate")  # fmt: skip
    plant = plants.five_bar()
    expected = linear_model(
        plant,
        cmb.trim(plant, plant.assemble(left=2.1, right=1.0)),
        coordinates=("left", "right"),
        inputs=("right",),
        outputs=("left", "tip_force", "right_rate"),
    )
    assert (lin.states, lin.inputs, lin.outputs) == (expected.states, expected.inputs, expected.outputs)
    for key in "ABCD":
        np.testing.assert_allclose(getattr(lin, key), getattr(expected, key), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(printed(out, key), getattr(lin, key), rtol=5.1e-6, atol=1e-12)
    assert "five-bar, held at left = 2.1, right = 1\n" in out
    assert "motor left       -31.486 N m" in out
    assert "left [rad], tip_x [N], tip_y [N], right_rate [rad/s]" in out
    assert "right 55 %, left 45 %" in out
    one_by_one = linearized("five-bar", "--at", "left=2.1", "--at", "right=1", "--coordinates", "left",
                            "--coordinates", "right", "--inputs", "right", "--outputs", "left",
                            "--outputs", "tip_force", "--outputs", "right_rate")  # fmt: skip
    assert one_by_one[0] == out


def test_linearize_without_inputs(linearized):
    out, lin = linearized("five-bar", "--inputs", "")
    assert lin.inputs == () and "inputs        none" in out and "B is empty, 4 x 0" in out


def test_linearize_lets_the_machine_go(linearized):
    out, lin = linearized("pendulum", "--free", "--at", "angle=1.2")
    assert "let go at angle = 1.2 to the nearest equilibrium, motors off" in out
    angle = lin.point.plant.position_names.index("angle")
    assert lin.point.q[angle] == pytest.approx(np.pi / 2)  # upright, unstable
    out, lin = linearized("pendulum", "--stable", "--at", "angle=1.2")
    assert "to a stable equilibrium" in out
    assert np.sin(lin.point.q[angle]) == pytest.approx(-1.0)
    np.testing.assert_allclose(lin.poles().imag, [-3.83601, 3.83601], rtol=1e-6)  # sqrt(3 g / 2)


def test_a_pose_that_is_too_heavy_is_let_go(linearized):
    heavy = ("--with", "effort=20", "--at", "left=2.1,right=1")
    out, lin = linearized("five-bar", *heavy)
    assert "the motors cannot hold that pose: actuator 'right' needs 32.91 N m and has 20 N m" in out
    assert not lin.point.u.any() and lin.point.residuals.balance < 1e-9
    assert_fails("has 20 N m. Raise its effort limit, or choose another configuration. --free lets it go, --affine "
                 "linearizes it where it stands.", "linearize", "five-bar", *heavy, "--held")  # fmt: skip


def test_linearize_where_neither_works(only, here):
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    joint = cmb.Prismatic("z", "ground", "block", axis=(0, 0, 1))
    only(
        lambda effort=5.0: cmb.Mechanism("fall", [block], [joint], actuators=[cmb.Actuator("z", effort=effort)]),
        lambda plant: (np.zeros(1), np.zeros(1)),
    )
    assert_fails("actuator 'z' needs 9.81 N and has 5 N. Raise its effort limit, or choose another configuration. When "
                 "it is let go: no equilibrium", "linearize", "mine")  # fmt: skip
    assert_fails("--affine linearizes it where it stands.", "linearize", "mine", "--free")
    code, out, _ = call("linearize", "mine", "--affine")
    assert code == 0 and "z_rate [m/s2]  -9.81" in out
    assert call("linearize", "mine", "--with", "effort=inf")[0] == 0
    assert list(here.iterdir()) == []


def test_linearize_with_efforts(linearized):
    _, lin = linearized("five-bar", "--affine", "--effort", "left=-5,right=3", "--at", "left=2.1,right=1")
    plant = plants.five_bar()
    point = cmb.OperatingPoint.at(plant, plant.assemble(left=2.1, right=1.0), (-5.0, 3.0))
    np.testing.assert_allclose(lin.drift, affine_approximation(plant, point).drift, rtol=1e-12)
    out, lin = linearized("pendulum", "--free", "--effort", "motor=2", "--at", "angle=-1")
    assert "with the efforts given" in out
    assert 4.905 * np.cos(lin.point.q[lin.point.plant.position_names.index("angle")]) == pytest.approx(2.0)
    _, lin = linearized("two-arms", "--effort", "left_shoulder=10")
    assert lin.point.u[0] == 10.0 and lin.point.u[1:].all()


def test_linearize_at_a_singular_pose():
    flat = ("--at", "left=pi,elbow_left=-pi", "--at", "right=0,elbow_right=pi")
    assert_fails("a singular configuration, with", "linearize", "five-bar", *flat, "--held")
    assert_fails("is at a singular configuration", "linearize", "five-bar", *flat, "--affine")


def test_linearize_names_better_coordinates():
    assert_fails("got 1 coordinates, 'left'; choose 'left', 'elbow_left'", "linearize", "five-bar",
                 "--coordinates", "left")  # fmt: skip
    stretched = ("five-bar", "--at", "right=120deg", "--at", "elbow_right=0")  # the right arm holds the tip on a circle
    assert_fails("are not independent at this configuration (conditioning ", "linearize", *stretched,
                 "--coordinates", "left,elbow_left")  # fmt: skip
    assert_fails("choose 'left', 'right'", "linearize", *stretched, "--coordinates", "left,elbow_left")


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("there is no coordinate 'lefd'; did you mean 'left'?", ["--coordinates", "lefd,right"]),
        ("the coordinate 'left' is named 2 times", ["--coordinates", "left,left"]),
        ("there is no actuator or other input 'lefd'", ["--inputs", "lefd"]),
        ("there is no output 'tip'; did you mean 'tip_", ["--outputs", "tip"]),
        ("there is no joint coordinate 'lefd'; did you mean 'left'?", ["--at", "lefd=1"]),
        ("there is no motor 'lefd'; did you mean 'left'?", ["--effort", "lefd=1"]),
        ("--effort takes name=value, such as left=5, got 'left'", ["--effort", "left"]),
        ("there is no option 'closur'; did you mean 'closure'?", ["--with", "closur=line"]),
        ("there is no closure 'lin'; did you mean 'line'?", ["--with", "closure=lin"]),
        ("--with effort takes a number, got 'big'", ["--with", "effort=big"]),
        ("--with effort takes a number, got '1,2'", ["--with", "effort=1,2"]),
        ("--with takes name=value, such as closure=revolute, got 'line'", ["--with", "line"]),
        ("--affine takes the pose as it stands", ["--affine", "--held"]),
        ("--affine takes the pose as it stands", ["--affine", "--free"]),
        ("--stable lets the machine go, --held does not", ["--held", "--stable"]),
        ("--sampled must be > 0, got -1.0", ["--sampled", "-1"]),
        ("--sampled must be finite, got inf", ["--sampled", "inf"]),
        ("--delay needs --sampled PERIOD", ["--delay", "0.1"]),
        ("--delay must be >= 0, got -0.1", ["--sampled", "0.1", "--delay", "-0.1"]),
        ("--delay takes a time in seconds, or name=time, got 'late'", ["--sampled", "0.1", "--delay", "late"]),
        ("there is no input 'lefd'", ["--sampled", "0.1", "--delay", "lefd=0.1"]),
        ("must end in .mat or .json or .npz, got 'model.txt'", ["--save", "model.txt"]),
        ("must end in .png or .pdf or .svg, got 'plot.xyz'", ["--bode=plot.xyz"]),
        ("five.png is to be written twice", ["--bode", "five.png", "--poles", "five.png"]),
        ("has no inputs", ["--inputs", "", "--bode", "five.png"]),
    ],
)
def test_linearize_refuses(message, arguments, here):
    assert_fails(message, "linearize", "five-bar", *arguments)
    assert list(here.iterdir()) == []


def test_linearize_options_of_the_plant():
    assert_fails("--with n takes a whole number, got '2.5'", "linearize", "n-four-bar", "--with", "n=2.5")
    code, out, _ = call("linearize", "n-four-bar", "--with", "n=5")
    assert code == 0 and "bar5 " in out
    code, out, _ = call("diagnose", "slider-crank", "--with", "actuated=q1,q2", "--with", "length=2")
    assert code == 0 and "over-actuated: 1 of 1 degrees of freedom" in out


@pytest.mark.parametrize(
    ("plant", "text", "expected"),
    [
        ("particle", "gravity=0,-1", {"gravity": (0.0, -1.0)}),
        ("two-arms", "effort=100", {"effort": 100.0}),
        ("two-arms", "closure=planar,effort=1,2,3", {"closure": "planar", "effort": (1.0, 2.0, 3.0)}),
        ("slider-crank", "actuated=", {"actuated": ()}),
        ("five-bar", "effort=inf", {"effort": np.inf}),
        ("governor", "motor=10", {"motor": 10.0}),
        ("governor", "motor=none", {"motor": None}),
    ],
)
def test_options_take_the_kind_of_their_default(plant, text, expected):
    assert common.factory_options(plants.catalogue[plant], [text]) == expected


def test_study_takes_options_of_the_plant(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "_figures", lambda *a: [])
    code, _, err = call("study", "five-bar", "--with", "closure=revolute,effort=inf", "-o", tmp_path, "--duration", 0.1)
    assert (code, err) == (0, "")
    assert json.loads((tmp_path / "summary.json").read_text())["options"] == {"closure": "revolute", "effort": "inf"}
    assert cmb.load_run(tmp_path / "run.nc").data.sizes["row"] == 5


def test_linearize_behind_a_computer(linearized):
    out, lin = linearized("five-bar", "--sampled", "0.01", "--delay", "left=0.015")
    digital = lin.sampled(0.01, {"left": 0.015})
    head, tail = out.split("sampled every 0.01 s: ")
    assert "6 states" in tail and "[k-2]" in tail
    np.testing.assert_allclose(printed(tail, "A"), digital.A, rtol=5.1e-6, atol=1e-12)
    np.testing.assert_allclose(printed(head, "A"), lin.A, rtol=5.1e-6, atol=1e-12)
    outside = np.count_nonzero(np.abs(digital.poles()) > 1.0)
    assert f"{outside} of 6 outside the unit circle" in tail
    assert f"{np.abs(digital.poles()).max():.6g}" in tail
    both = call("linearize", "five-bar", "--sampled", "0.01", "--delay", "0.015")[1]
    assert "8 states" in both


def test_large_models_are_not_printed(linearized):
    outputs = "platform_position,platform_velocity"
    out, lin = linearized("stewart", "--sampled", "0.01", "--delay", "0.001", "--outputs", outputs)
    head, tail = out.split("sampled every")
    assert "A 18 x 18, B 18 x 6, C 12 x 18, D 12 x 6: more than 12 states are not printed; --save" in tail
    np.testing.assert_allclose(printed(head, "C"), lin.C, rtol=5.1e-6, atol=1e-12)


def test_linearize_writes_figures_and_files(here):
    code, out, err = call("linearize", "five-bar", "--bode", "--poles", "p.svg", "--modes", "--save", "mat,json",
                          "--save", "deep/er/model.npz")  # fmt: skip
    assert (code, err) == (0, "")
    folder = here / "linear-five-bar"
    assert {p.name for p in folder.iterdir()} == {"bode.png", "p.svg", "modes.png", "linear.mat", "linear.json"}
    for name in ("bode.png", "modes.png"):
        with Image.open(folder / name) as image:
            assert min(image.size) > 400
    assert "<svg" in (folder / "p.svg").read_text()
    kept = [load_linear(p) for p in (*folder.glob("linear.*"), here / "deep" / "er" / "model.npz")]
    assert len(kept) == 3
    for lin in kept:
        np.testing.assert_array_equal(lin.A, kept[0].A)
    (line,) = [line for line in out.splitlines() if line.startswith("written: ")]
    assert line.count(",") == 5


def test_a_figure_before_the_plant(here):
    assert call("linearize", "--poles", "pendulum", "-o", "out", "--sampled", "0.1")[0] == 0
    assert [p.name for p in (here / "out").iterdir()] == ["poles.png"]
    assert call("linearize", "--poles=q.png", "pendulum", "-o", "out")[0] == 0
    assert {p.name for p in (here / "out").iterdir()} == {"poles.png", "q.png"}


def test_linearize_writes_nothing_unless_told(here):
    code, out, _ = call("linearize", "five-bar")
    assert code == 0 and "written" not in out
    assert list(here.iterdir()) == []


def test_a_file_in_the_way_of_a_model(here):
    (here / "taken").write_text("")
    assert_fails("cannot be made", "linearize", "five-bar", "--save", "taken/model.mat")


def test_the_eigenvalues_are_where_they_belong():
    from cmbcontrol.cli.figures import poles

    plant = plants.pendulum()
    lin = linear_model(plant, cmb.trim(plant, plant.assemble(angle=-np.pi / 2)))
    for digital in (None, lin.sampled(0.1)):
        (ax,) = poles(lin, digital).axes
        (line,) = [line for line in ax.lines if line.get_marker() == "x"]
        expected = lin.poles() if digital is None else digital.poles()
        np.testing.assert_allclose(np.sort_complex(line.get_xydata() @ [1.0, 1j]), np.sort_complex(expected), atol=1e-9)
        assert ax.get_xlabel() == ("real part (1/s)" if digital is None else "real part (1)")


# -- matrices as text --------------------------------------------------------------------------------------


def test_matrices_line_up():
    X = np.array([[0.0, 1.0, -1e-17], [-14.715, 1.5e-7, 123456.789]])
    assert matrix_lines("A", X, ["a", "long"], ["x", "y", "z"]) == [
        "A             x        y       z",
        "  a       0      1             0",
        "  long  -14.715  1.5e-07  123457",
    ]


def test_wide_matrices_are_broken_into_blocks():
    X = np.arange(1.0, 61.0).reshape(3, 20)
    names = [f"state{i}" for i in range(20)]
    lines = matrix_lines("A", X, ["a", "b", "c"], names, 60)
    assert max(map(len, lines)) <= 60
    assert [line.split()[0] for line in lines] == ["A", "a", "b", "c"] * (len(lines) // 4)
    np.testing.assert_array_equal(printed("\n".join(lines), "A"), X)
    assert len(matrix_lines("A", X, ["a", "b", "c"], names, 1)) == 4 * 20  # a column at least


def test_matrices_that_say_little():
    assert matrix_lines("D", np.zeros((2, 3)), "ab", "xyz") == ["D = 0, 2 x 3"]
    assert matrix_lines("B", np.zeros((4, 0)), "abcd", "") == ["B is empty, 4 x 0"]
    assert matrix_lines("C", np.ones((30, 2)), ["r"] * 30, "xy") == ["C is 30 x 2"]


# -- errors ------------------------------------------------------------------------------------------------


def test_unknown_plant_suggests_the_nearest():
    for command in ("diagnose", "linearize", "study"):
        assert_fails("there is no plant 'five-baar'; did you mean 'five-bar'?", command, "five-baar")


def test_a_file_in_the_way_of_the_folder(tmp_path):
    (tmp_path / "taken").write_text("")
    assert_fails("cannot be made: File exists", "study", "five-bar", "-o", tmp_path / "taken")
    assert_fails("cannot be made", "study", "five-bar", "-o", tmp_path / "taken" / "inside")


def test_numbers_that_make_no_sense(tmp_path):
    assert_fails("--duration must be > 0, got -1.0", "study", "five-bar", "-o", tmp_path, "--duration", "-1")
    assert_fails("--bandwidth must be finite, got nan", "study", "five-bar", "-o", tmp_path, "--bandwidth", "nan")
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback():
    result = CliRunner().invoke(cli.app, ["diagnose", "five-baar", "--debug"])
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


def test_unexpected_errors_are_named(monkeypatch):
    def fail(*_):
        raise KeyError("left\nright")

    monkeypatch.setattr(common, "entry_of", fail)
    assert_fails("KeyError: 'left\\nright' (--debug shows where)", "diagnose", "five-bar")


def test_interruption(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "entry_of", interrupt)
    assert_fails("interrupted", "diagnose", "five-bar", code=130)


def test_usage_errors_keep_their_code():
    assert call("study")[0] == 2
    assert call("study", "five-bar", "--no-such-option")[0] == 2
    assert call("study", "five-bar", "--duration", "long")[0] == 2
    assert call("nonsense")[0] == 2


def test_version_and_help():
    assert call("--version")[:2] == (0, f"cmbcontrol {cmb.__version__}\n")
    code, out, _ = call("--help")
    assert code == 0
    for command in ("list", "diagnose", "linearize", "study"):
        assert command in out


@pytest.mark.parametrize("command", ["list", "diagnose", "linearize", "study"])
def test_every_command_explains_itself(command):
    code, out, _ = call(command, "--help")
    assert code == 0 and "--debug" in out
    assert "[bold]" not in out


# -- starting ----------------------------------------------------------------------------------------------


def test_compilation_is_announced(monkeypatch):
    monkeypatch.setattr(common._jit, "needs_compilation", lambda *kernel: True)
    code, _, err = call("diagnose", "five-bar")
    assert code == 0
    assert err == "compiling kernels for the first time (about a minute) ...\n"


@pytest.mark.parametrize("command", ["list", "diagnose", "linearize"])
def test_quick_commands_do_not_wait_for_compilation(command, monkeypatch):
    calls = []
    monkeypatch.setitem(cli._QUICK, command, lambda: True)
    monkeypatch.setattr(cli.subprocess, "call", lambda command, env: calls.append((command, env)) or 3)
    monkeypatch.setattr(sys, "argv", ["cmbcontrol", command, "five-bar"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    (done,) = calls
    assert done[0] == [sys.executable, "-m", "cmbcontrol.cli", command, "five-bar"]
    assert done[1]["NUMBA_DISABLE_JIT"] == "1"


def test_the_derivatives_have_kernels_of_their_own(tmp_path, monkeypatch):
    if not common._jit.JIT_ENABLED:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(common._jit, "_folders", lambda: (tmp_path / "none", tmp_path))
    last = "derivatives.local_terms"
    assert NEEDS_COMPILATION(last)
    (tmp_path / "derivatives.local_terms-0123456789abcdef.code.part").touch()
    assert NEEDS_COMPILATION(last)
    (tmp_path / "derivatives.local_terms-0123456789abcdef.code").touch()
    assert not NEEDS_COMPILATION(last)
    names = {f"{k.__module__.rpartition('.')[2]}.{k.__name__}" for k in KERNELS}
    assert last in names


def test_the_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "cmbcontrol.cli", "linearize", "pendulum", "--at", "angle=-90deg"],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 +- 3.83601j" in done.stdout


def test_list_loads_nothing_heavy():
    """Nor does `import cmbcontrol`, which it begins with; nor are the experiments loaded whose names it knows."""
    code = (
        "import sys\n"
        "import cmbcontrol.papers\n"
        "from cmbcontrol.cli import app\n"
        "app(['list'], standalone_mode=False)\n"
        "heavy = {'control', 'matplotlib', 'cvxpy', 'xarray', 'scipy.optimize'} & set(sys.modules)\n"
        "experiments = {m for m in sys.modules if m.startswith('cmbcontrol.papers.')}\n"
        "heavy |= experiments - {'cmbcontrol.papers.report'}\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "five-bar" in done.stdout

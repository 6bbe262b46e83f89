"""What the commands share: joint values, options, folders, errors in one line, words about compilation."""

import numpy as np
import pytest
from typer.testing import CliRunner

from cmbcontrol import plants
from cmbcontrol.cli import commands, common, entries
from tests.fixtures import assert_fails, run_command

# -- list and diagnose -----------------------------------------------------------------------------------


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
    once = run_command("diagnose", "five-bar", "--at", "left=2.0, right=60deg")
    assert once == run_command("diagnose", "five-bar", "--at", "left=2.0", "--at", "right=60deg")
    assert once[0] == 0


def test_unknown_and_unreachable_joints():
    assert_fails("did you mean 'left'?", "diagnose", "five-bar", "--at", "lefd=1")
    assert_fails("cannot be closed with left = 2, right = 2, elbow_left = 3", "diagnose", "five-bar",
                 "--at", "left=2", "--at", "right=2", "--at", "elbow_left=3")  # fmt: skip


# -- linearize -------------------------------------------------------------------------------------------


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
    assert entries.factory_options(plants.catalogue[plant], [text]) == expected


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
    result = CliRunner().invoke(commands.app, ["diagnose", "five-baar", "--debug"])
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


def test_unexpected_errors_are_named(monkeypatch):
    def fail(*_):
        raise KeyError("left\nright")

    monkeypatch.setattr(entries, "entry_of", fail)
    assert_fails("KeyError: 'left\\nright' (--debug shows where)", "diagnose", "five-bar")


def test_interruption(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(entries, "entry_of", interrupt)
    assert_fails("interrupted", "diagnose", "five-bar", code=130)


# -- remarks on files ------------------------------------------------------------------------------------


def robot(path, meshes):
    """Robot of one link per mesh, whose files are not there."""
    links = "".join(
        f'<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial><visual><geometry><mesh filename="{name}"/></geometry></visual></link>'
        for i, name in enumerate(meshes)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/>'
        f'<limit effort="1" velocity="1" lower="-1" upper="1"/></joint>'
        for i in range(len(meshes) - 1)
    )
    path.write_text(f'<robot name="arm">{links}{joints}</robot>')
    return path


def test_remarks_on_a_file_are_grouped_and_listed(here):
    """34 meshes that are missing are one line, and 34 with --notes."""
    file = robot(here / "arm.urdf", [f"part_{i}.stl" for i in range(34)])
    code, out, err = run_command("diagnose", file)
    lines = [line for line in err.splitlines() if "part_" in line]
    assert code == 0 and len(lines) == 1
    told = "left out: 34 parts, such as link 'l0': a visual: the file 'part_0.stl' is not there; --notes lists them"
    assert lines[0] == f"  {told}" and err.startswith(f"note: remarks on {file}:")
    code, again, listed = run_command("diagnose", file, "--notes")
    assert (code, again) == (0, out)
    assert sum("part_" in line for line in listed.splitlines()) == 34
    assert len(listed.splitlines()) > len(err.splitlines())
    code, out, _ = run_command("convert", file, "arm.yaml")
    assert code == 0 and out.count("part_") == 1 and told in out
    code, out, _ = run_command("convert", file, "arm.yaml", "--force", "--notes")
    assert code == 0 and out.count("part_") == 34


# -- starting ----------------------------------------------------------------------------------------------


def test_compilation_is_announced(monkeypatch, here):
    monkeypatch.setattr(entries._jit, "needs_compilation", lambda *kernel: True)
    code, _, err = run_command("view", "pendulum")
    assert code == 0
    assert err == "compiling kernels for the first time (half a minute) ...\n"

"""The commands list and diagnose."""

import json
import subprocess
import sys

import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.cli import common, entries
from tests.fixtures import assert_fails, run_command


@pytest.mark.nojit_slow
def test_the_command_line_tells_branches_and_lock_up():
    from typer.testing import CliRunner

    from cmbcontrol.cli.commands import app

    flat = "bar0=0,coupler1=0,bar1=0,coupler2=0,bar2=0"
    said = CliRunner().invoke(app, ["diagnose", "n-four-bar", "--at", flat])
    assert said.exit_code == 0 and "how it can move on from there" in said.output and "Branches: 0:" in said.output


# -- list and diagnose -----------------------------------------------------------------------------------


def test_list_shows_every_plant():
    code, out, err = run_command("list")
    assert (code, err) == (0, "")
    for name, entry in plants.catalogue.items():
        assert name in out and entry.description.split()[0] in out and entries.options_text(entry) in out
    (line,) = [line for line in out.splitlines() if line.startswith("parallelogram")]
    assert line.split()[1:5] == ["1", "12", "6", "1"]  # degrees of freedom, coordinates, loops, motors
    assert "Spencer" in out


def test_diagnose_prints_the_mobility_table():
    code, out, err = run_command("diagnose", "five-bar", "--at", "left=2.0", "--at", "right=60deg")
    assert (code, err) == (0, "")
    assert out.startswith(str(plants.five_bar()))
    rest = out.split("  at left = 2, right = 1.0472:\n")[1]
    assert "left              2 rad" in rest
    assert "true degrees of freedom 2" in rest and "fully-actuated" in rest


def test_diagnose_tells_what_the_motors_can_do():
    _, out, _ = run_command("diagnose", "two-arms")
    assert "margin 1 (1 best, 0 lost)" in out and "reachable constraint forces: 3 of 3" in out and "|mu P|" in out
    _, out, _ = run_command("diagnose", "five-bar")
    assert "reachable constraint forces: 0 of 2" in out
    _, out, _ = run_command("diagnose", "bricard")
    assert out.count("constraint forces that the motors can set") == (plants.bricard().nu > 0)


def test_diagnose_without_values_uses_the_start_pose():
    code, out, _ = run_command("diagnose", "slider-crank")
    assert code == 0
    assert "at the start configuration" in out and "q1                0.6 rad" in out


# -- starting ----------------------------------------------------------------------------------------------


def test_what_is_listed_is_what_the_plants_are():
    listed = common.listed()
    assert listed == entries.known(), "python docs/make_listed.py writes it"
    code, out, err = run_command("list", "--json")
    assert (code, err) == (0, "") and json.loads(out)["plants"] == listed["plants"]


AT_ONCE = [
    "list",
    "--help",
    "study --help",
    "experiment",
    "lst",
    "run --workrs 2",
    "run none.yaml",
    "run . --workers many",
    "run . --format gif",
    "diagnose",
    "diagnose five-baar",
    "diagnose none.yaml",
    "diagnose five-bar --at left=up",
    "diagnose five-bar --with closre=line",
    "linearize five-bar --delay 1",
    "linearize five-bar --held --stable",
    "linearize five-bar --save x.y",
    "export five-bar",
    "export five-bar --c --at a=1,a=2",
    "export five-bar --c --functions foward",
    "export five-bar --fmu --fmi 4",
    "export five-bar --fmu --kind Model",
    "convert five-bar x.foo",
    "convert none.urdf x.yaml",
    "study five-bar --duration -1",
    "experiment nothing",
    "view none.nc",
]


@pytest.mark.parametrize("words", AT_ONCE)
def test_lists_helps_and_wrong_calls_load_nothing_heavy(words, tmp_path):
    """Wrong calls are told in 0.2 s, of which plain numpy takes a fourth: what takes seconds is imported after them."""
    words = words.split()
    code = (
        "import sys\n"
        "from cmbcontrol.cli.commands import app\n"
        f"sys.argv = {['cmbcontrol', *words]}\n"
        "code = 0\n"
        "try:\n"
        "    app()\n"
        "except SystemExit as ended:\n"
        "    code = ended.code\n"
        "heavy = {'rich', 'scipy', 'numba', 'control', 'matplotlib', 'cvxpy', 'xarray', 'yaml'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    right = words in (["list"], ["experiment"]) or "--help" in words
    assert done.returncode == (0 if right else 2 if "Usage:" in done.stderr else 1), done.stderr
    assert "loaded" not in done.stderr and bool(done.stderr) != right
    assert ("three-rrr" in done.stdout) == (words == ["list"])


# -- machine files -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_machine_file_stands_for_a_plant(tmp_path, monkeypatch, undrawn):
    """In every command, and what is written is named after the file, in the folder where the command is given."""
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    file = plants.five_bar().save(tmp_path / "mine" / "bar.yaml")
    code, out, err = run_command("diagnose", str(file), "--at", "left=2.0,right=60deg")
    assert (code, err) == (0, "") and out.startswith(str(plants.five_bar())) and "at left = 2, right = 1.0472:" in out
    assert run_command("export", str(file), "--c")[0] == 0
    assert (tmp_path / "bar-c" / "bar.h").exists()
    assert run_command("linearize", str(file), "--at", "left=2.0,right=1.0", "--bode")[0] == 0
    assert list((tmp_path / "linear-bar").iterdir())
    assert run_command("study", str(file), "--duration", "0.1", "--no-animation")[0] == 0
    assert (tmp_path / "study-bar" / "run.nc").exists()


def test_configurations_that_have_names(tmp_path, monkeypatch):
    """A machine file starts at "start"; --at takes the others, with joint values on top."""
    monkeypatch.chdir(tmp_path)
    named = {"start": {"left": 2.0, "right": 0.9}, "home": {"left": 2.1, "right": 1.0}}
    file = plants.five_bar().with_configurations(named).save("bar.yaml")
    out = run_command("diagnose", file)[1]
    assert "at the start configuration:" in out and "left              2 rad" in out
    assert "at the configuration 'home':" in run_command("diagnose", file, "--at", "home")[1]
    out = run_command("diagnose", file, "--at", "home,left=130deg")[1]
    assert "at the configuration 'home', left = 2.26893:" in out
    assert_fails("did you mean 'home'", "diagnose", file, "--at", "hme")
    assert_fails("takes one configuration by name", "diagnose", file, "--at", "home,start")
    assert_fails("has no configurations that have names", "diagnose", "five-bar", "--at", "home")
    assert run_command("linearize", file, "--at", "home")[0] == 0


def test_a_file_whose_joints_form_loops(tmp_path):
    """They are cut where it is best, or as the file says."""
    text = """format: cmbcontrol machine 1
name: four-bar
gravity: [0, -9.81, 0]
cuts: CUTS
bodies:
  crank: {mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}
  coupler: {mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}
  rocker: {mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}
joints:
  a: {type: Revolute, parent: ground, child: crank}
  b: {type: Revolute, parent: crank, child: coupler, frame: {p: [1, 0, 0]}}
  c: {type: Revolute, parent: coupler, child: rocker, frame: {p: [1, 0, 0]}, child_frame: {p: [1, 0, 0]}}
  d: {type: Revolute, parent: ground, child: rocker, frame: {p: [1, 0, 0]}}
actuators:
  d: {joint: d}
"""
    file = tmp_path / "bar.yaml"
    file.write_text(text.replace("CUTS", "automatic"))
    code, out, _ = run_command("diagnose", file, "--at", "d=2.0")
    assert code == 0 and "  loop   c " in out
    file.write_text(text.replace("CUTS", "[b]"))
    assert [joint.name for joint in cmb.Mechanism.load(file).loops] == ["b"]
    file.write_text(text.replace("CUTS", "[x]"))
    assert_fails("bar.yaml, line 4: there is no joint to cut 'x'", "diagnose", file)
    file.write_text(text.replace("cuts: CUTS", ""))
    assert run_command("diagnose", file)[0] == 1


def test_machine_files_that_are_none(tmp_path):
    code, _, err = run_command("diagnose", str(tmp_path / "none.yaml"))
    assert code == 1 and "none.yaml cannot be read" in err and "Traceback" not in err
    (tmp_path / "bad.yaml").write_text("format: cmbcontrol machine 1\nname: bad\nbodies: {a: {mass: x}}\njoints: {}\n")
    code, _, err = run_command("diagnose", str(tmp_path / "bad.yaml"))
    assert code == 1 and "bad.yaml, line 3: " in err and "'x'" in err
    assert "a file of a machine ends in .yaml, " in run_command("diagnose", "five")[2]

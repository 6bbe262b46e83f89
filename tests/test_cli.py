"""The command line: what it prints and writes, exit codes, errors in one line."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import cmbcontrol as cmb
from cmbcontrol import cli, plants
from cmbcontrol.linear import load_linear
from cmbcontrol.plants import Entry

FILES = {
    "joints.png",
    "forces.png",
    "evidence.png",
    "bode.png",
    "run.nc",
    "linear.mat",
    "linear.json",
    "summary.json",
}


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
        patch.setattr(cli._jit, "needs_compilation", lambda: False)
        yield


@pytest.fixture
def only(monkeypatch):
    """A catalogue with a single plant of the test's."""

    def install(factory, initial, study=None):
        entry = Entry("mine", factory, "a plant of the test", "nowhere", initial, study)
        monkeypatch.setattr(cli, "catalogue", {"mine": entry})

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
        assert name in out and entry.description.split()[0] in out
    (line,) = [line for line in out.splitlines() if line.startswith("parallelogram")]
    assert line.split()[1:5] == ["1", "12", "6", "1"]  # freedoms, coordinates, loops, motors
    assert "Spencer" in out


def test_diagnose_prints_the_mobility_table():
    code, out, err = call("diagnose", "five-bar", "--at", "left=2.0", "--at", "right=60deg")
    assert (code, err) == (0, "")
    assert out.startswith(str(plants.five_bar()))
    rest = out.split("  at left = 2, right = 1.0472:\n")[1]
    assert "left              2 rad" in rest
    assert "true degrees of freedom 2" in rest and "fully-actuated" in rest


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
    assert cli._joint_value(text) == ("a", pytest.approx(value, rel=1e-15))


@pytest.mark.parametrize("text", ["left", "=1", "left=", "left=up", "left=pi/0", "left=1,5", "left=nan", "left=2*tau"])
def test_bad_joint_values(text):
    assert_fails(f"got {text!r}", "diagnose", "five-bar", "--at", text)


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
    monkeypatch.setattr("cmbcontrol.cli._figures", lambda *a: [])  # tested with the five-bar
    short = 0.03 if name == "andrews" else 0.2
    code, _, err = call("study", name, "--output", tmp_path, "--duration", short, "--no-animation")
    assert (code, err) == (0, "")
    summary = json.loads((tmp_path / "summary.json").read_text())
    tracking = summary["tracking"]
    assert tracking["decay_rate_measured"] == pytest.approx(tracking["decay_rate_asked"], rel=0.01)
    assert summary["linear_model"]["modes"]


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
        raise cmb.SimulationError("the run of 'five-bar' ended at t = 0.05 s.", part)

    monkeypatch.setattr(cli, "simulate", stop)
    assert_fails("ended at t = 0.05 s. It is also in", "study", "five-bar", "-o", tmp_path)
    assert cmb.load_run(tmp_path / "run.nc").time[-1] == pytest.approx(0.05)


# -- errors ------------------------------------------------------------------------------------------------


def test_unknown_plant_suggests_the_nearest():
    for command in ("diagnose", "study"):
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

    monkeypatch.setattr(cli, "_entry", fail)
    assert_fails("KeyError: 'left\\nright' (--debug shows where)", "diagnose", "five-bar")


def test_interruption(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_entry", interrupt)
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
    for command in ("list", "diagnose", "study"):
        assert command in out


# -- starting ----------------------------------------------------------------------------------------------


def test_compilation_is_announced(monkeypatch):
    monkeypatch.setattr(cli._jit, "needs_compilation", lambda: True)
    code, _, err = call("diagnose", "five-bar")
    assert code == 0
    assert err == "compiling kernels for the first time (about a minute) ...\n"


@pytest.mark.parametrize("command", ["list", "diagnose"])
def test_quick_commands_do_not_wait_for_compilation(command, monkeypatch):
    calls = []
    monkeypatch.setattr(cli._jit, "needs_compilation", lambda: True)
    monkeypatch.setattr(cli.subprocess, "call", lambda command, env: calls.append((command, env)) or 3)
    monkeypatch.setattr(sys, "argv", ["cmbcontrol", command, "five-bar"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    (done,) = calls
    assert done[0] == [sys.executable, "-m", "cmbcontrol.cli", command, "five-bar"]
    assert done[1]["NUMBA_DISABLE_JIT"] == "1"


def test_list_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from cmbcontrol.cli import app\n"
        "app(['list'], standalone_mode=False)\n"
        "heavy = {'control', 'matplotlib', 'cvxpy', 'xarray', 'scipy.optimize'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "five-bar" in done.stdout

"""The command study: what it prints and writes."""

import json

import numpy as np
import pytest
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol import load_linear, plants
from cmbcontrol.cli import tracking_run
from cmbcontrol.controllers import Saturation
from tests.fixtures import assert_fails, run_command

FILES = {
    "joints.png",
    "forces.png",
    "accuracy.png",
    "report.html",
    "bode.png",
    "run.nc",
    "linear.mat",
    "linear.json",
    "summary.json",
}


def unmotored():
    """The pendulum with its motor taken off."""
    plant = plants.pendulum()
    return cmb.Mechanism("swing", plant.bodies, plant.joints, plant.loops, gravity=plant.gravity)


# -- study -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A short study of the five-bar: (stdout, folder)."""
    folder = tmp_path_factory.mktemp("out") / "five" / "bar"
    code, out, err = run_command("study", "five-bar", "-o", folder, "--duration", 0.3, "--bandwidth", 12)
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
    error = tracking["tracking_error_rad"]
    assert error["decay_rate"] == pytest.approx(12.0, rel=0.01)
    assert error["start"] == error["largest"] == pytest.approx(0.06)
    assert error["end"] == pytest.approx(0.06 * np.exp(-3.6), rel=0.01)
    assert "asked for 12 1/s" in out
    assert summary["max_loop_opening_m"] < 1e-12 and summary["max_energy_error_J"] < 1e-7


@pytest.mark.parametrize("rate", [0.3, 8.0, 300.0])
def test_errors_that_decay_and_errors_that_do_not(rate):
    t = np.linspace(0.0, 1.0, 400)
    assert tracking_run.decay_rate(t, 0.2 * np.exp(-rate * t)) == pytest.approx(rate, rel=1e-9)
    swinging = np.abs(np.exp(-8.0 * t) * np.cos(60.0 * t))
    assert tracking_run.decay_rate(t, swinging) == pytest.approx(8.0, rel=0.2)
    assert tracking_run.decay_rate(t, 0.2 * np.exp(rate * t / 100.0)) is None  # grows
    still = np.abs(-0.02 + 0.1 * np.sin(2.0 * np.pi * 0.4 * 5.0 * t))  # the reference moves, and the machine does not
    assert tracking_run.decay_rate(5.0 * t, still) is None


def test_an_error_that_is_zero_at_the_end_by_chance_is_no_success():
    t = np.linspace(0.0, 2.5, 400)
    still = np.abs(-0.02 + 0.1 * np.sin(2.0 * np.pi * 0.4 * t) + 0.02 * t / t[-1])
    assert still[-1] < 1e-12 and tracking_run.decay_rate(t, still) is None
    told = {"start": 0.02, "largest": 0.1, "end": still[-1], "last_tenth": still[-40:].max(), "decay_rate": None}
    asked = {"decay_rate_asked": 10.0}
    followed, words = tracking_run.verdict(asked | {"tracking_error_rad": told})
    assert not followed and "error in rad does not decay" in words
    good = told | {"end": 1e-9, "last_tenth": 1e-6}
    assert tracking_run.verdict(asked | {"tracking_error_rad": good}) == (True, "the machine follows its reference")
    followed, words = tracking_run.verdict(asked | {"tracking_error_rad": good, "tracking_error_m": told})
    assert not followed and "error in m does not decay (0.02 m at the start" in words and " rad" not in words


def test_angles_and_lengths_have_errors_of_their_own(tmp_path, undrawn):
    """A slide that moves by centimetres, and a joint on it that turns by a radian."""
    bodies = [cmb.Body.rod("cart", 1.0, 0.2), cmb.Body.rod("arm", 1.0, 0.5)]
    joints = [
        cmb.Prismatic("slide", "ground", "cart", axis=(1, 0, 0), limits=(-0.01, 0.01)),
        cmb.Revolute("turn", "cart", "arm", axis=(0, 0, 1)),
    ]
    plant = cmb.Mechanism("crane", bodies, joints, actuators=[cmb.Actuator("slide"), cmb.Actuator("turn")])
    plant.save(tmp_path / "crane.yaml")
    words = "study", tmp_path / "crane.yaml", "--no-animation", "--no-report", "--duration", 0.5
    code, out, err = run_command(*words, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    tracking = json.loads(out)["tracking"]
    of_slide, of_turn = tracking["tracking_error_m"], tracking["tracking_error_rad"]
    run = cmb.load_run(tmp_path / "out" / "run.nc")
    assert of_slide["start"] == pytest.approx(abs(run.error.sel(controlled="slide").values[0]))
    assert of_turn["start"] == pytest.approx(abs(run.error.sel(controlled="turn").values[0]))
    assert 0.0 < of_slide["largest"] < 0.002 < of_turn["largest"]
    assert of_slide["decay_rate"] == pytest.approx(10.0, rel=0.01)
    out = run_command(*words, "--out", tmp_path / "again")[1]
    assert "decay of the error in m" in out and "decay of the error in rad" in out


def test_a_machine_that_stands_still_has_not_followed(tmp_path, undrawn, monkeypatch):
    def weak(plant, law, *start, **options):
        return cmb.simulate(plant, law | Saturation(1e-3), *start, **options)

    monkeypatch.setattr(tracking_run, "simulate", weak)
    words = "study", "five-bar", "--no-animation", "--no-report", "--duration", 0.5
    code, out, err = run_command(*words, "--out", tmp_path / "a", "--check")
    assert code == 3, err
    assert "verdict" in out and "does not follow its reference" in out
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert not summary["followed"] and summary["tracking"]["tracking_error_rad"]["decay_rate"] is None
    assert run_command(*words, "--out", tmp_path / "b")[0] == 0


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
    assert summary["linear_model"]["configuration"]["left"] == pytest.approx(2.1)  # the centre


def test_study_tells_open_loop_and_error_poles(studied):
    out, _ = studied
    assert "open loop, held" in out
    (line,) = [line for line in out.splitlines() if "asked for (4 poles)" in line]
    assert line.split()[-3:] == ["-12", "12", "1"]


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", [n for n in plants.catalogue if n != "five-bar"])
def test_every_plant_can_be_studied(name, tmp_path, undrawn):
    short = 0.03 if name == "andrews" else 0.2
    code, _, err = run_command("study", name, "--out", tmp_path, "--duration", short, "--no-animation")
    assert (code, err) == (0, "")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["linear_model"]["modes"]
    tracking = summary["tracking"]
    assert (tracking is None) == (plants.catalogue[name].study is None)
    if tracking is not None:
        errors = [told for key, told in tracking.items() if key.startswith("tracking_error_")]
        assert errors
        for error in errors:
            assert error["decay_rate"] == pytest.approx(tracking["decay_rate_asked"], rel=0.01)


@pytest.mark.slow
def test_nothing_is_overwritten_unasked(tmp_path, undrawn):
    words = "study", "pendulum", "--duration", 0.1, "--no-animation", "--out", tmp_path
    (tmp_path / "notes.txt").write_text("mine")
    assert run_command(*words)[0] == 0
    (tmp_path / "accuracy.png").touch()
    before = (tmp_path / "run.nc").read_bytes()
    assert_fails("has a study already (accuracy.png, ", *words)
    assert (tmp_path / "run.nc").read_bytes() == before
    assert run_command(*words, "--force")[0] == 0


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_a_study_elsewhere(tmp_path, undrawn):
    """About the configuration that is given, and of a machine that brings no task along."""
    words = "--duration", 0.2, "--no-animation"
    assert run_command("study", "five-bar", "--at", "left=2.3,right=0.8", "--out", tmp_path / "a", *words)[0] == 0
    linear = json.loads((tmp_path / "a" / "summary.json").read_text())["linear_model"]
    assert linear["configuration"]["left"] == pytest.approx(2.3)
    named = {"start": {"left": 2.0, "right": 1.1}}
    file = plants.five_bar().with_configurations(named).save(tmp_path / "bar.yaml")
    assert run_command("study", file, "--out", tmp_path / "b", *words)[0] == 0
    summary = json.loads((tmp_path / "b" / "summary.json").read_text())
    assert summary["linear_model"]["configuration"]["left"] == pytest.approx(2.0)
    assert summary["tracking"]["tracking_error_rad"]["decay_rate"] == pytest.approx(10.0, rel=0.01)
    assert run_command("study", "particle", "--at", "q2=0.1", "--out", tmp_path / "c", *words)[0] == 0


@pytest.mark.slow
def test_motors_that_are_too_weak_leave_a_machine_of_a_file_free(tmp_path, undrawn):
    rod, weak = cmb.Body.rod("rod", 1.0, 1.0), cmb.Actuator("hinge", effort=1.0)
    hinge = cmb.Revolute("hinge", "ground", "rod", axis=(0, 1, 0), limits=(-1.0, 0.5))
    named = {"start": {"hinge": 0.5}}
    arm = cmb.Mechanism("arm", [rod], [hinge], actuators=[weak], configurations=named)
    out = run_command("study", arm.save(tmp_path / "arm.yaml"), "-o", tmp_path, "--duration", 0.1, "--no-animation")[1]
    assert "arm: free run" in out


@pytest.mark.smoke
def test_short_help():
    for words in ([], ["study"], ["run"], ["linearize"]):
        assert run_command(*words, "-h")[:2] == run_command(*words, "--help")[:2]


@pytest.mark.slow
def test_study_of_a_plant_without_motors(only, tmp_path):
    only(unmotored, lambda plant: (plant.assemble(angle=-1.0), np.zeros(3)))
    code, out, err = run_command("study", "mine", "-o", tmp_path, "--duration", 0.2, "--no-animation")
    assert (code, err) == (0, "")
    assert {p.name for p in tmp_path.iterdir()} == FILES - {"bode.png"}
    assert "free run" in out and f"{np.sqrt(1.5 * 9.81):.4g}j" in out
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["tracking"] is None and summary["max_effort"] == {}


@pytest.mark.slow
def test_study_of_a_plant_without_equilibrium(only, tmp_path):
    block = cmb.Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    only(
        lambda: cmb.Mechanism("fall", [block], [cmb.Prismatic("z", "ground", "block")]),
        lambda plant: (np.zeros(1), np.zeros(1)),
    )
    code, out, err = run_command("study", "mine", "-o", tmp_path, "--duration", 0.1, "--no-animation")
    assert (code, err) == (0, "")
    assert not list(tmp_path.glob("linear.*"))
    assert json.loads((tmp_path / "summary.json").read_text())["linear_model"] is None
    assert "eigenvalue" not in out


def test_a_run_that_ends_early_is_kept(tmp_path, monkeypatch):
    plant = plants.five_bar()
    part = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.05)

    def stop(*_, **__):
        raise cmb.errors.SimulationError("the run of 'five-bar' ended at t = 0.05 s.", part)

    monkeypatch.setattr(tracking_run, "simulate", stop)
    assert_fails("ended at t = 0.05 s. It is also in", "study", "five-bar", "-o", tmp_path)
    assert cmb.load_run(tmp_path / "run.nc").time[-1] == pytest.approx(0.05)


# -- linearize -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_study_takes_options_of_the_plant(tmp_path, undrawn):
    code, _, err = run_command(
        "study", "five-bar", "--with", "closure=revolute,effort=inf", "-o", tmp_path, "--duration", 0.1
    )
    assert (code, err) == (0, "")
    assert json.loads((tmp_path / "summary.json").read_text())["options"] == {"closure": "revolute", "effort": None}
    assert cmb.load_run(tmp_path / "run.nc").data.sizes["row"] == 5


def test_a_law_that_asks_for_more_than_a_motor_has_is_told(tmp_path):
    words = "--duration", 0.1, "--no-animation", "--no-report", "--format", "svg", "--out", tmp_path
    code, out, _ = run_command("study", "five-bar", "--with", "effort=40", *words)
    told = " ".join(out.split())
    assert code == 0 and "the law asks up to" in told and "(limit 40 N m) at t = 0 s, above its limit for" in told
    summary = json.loads((tmp_path / "summary.json").read_text())
    (motor, *_) = summary["motors_at_limits"]
    assert motor["limit"] == 40.0 and motor["beyond"] and motor["asked"] == max(summary["max_effort"].values())
    assert (tmp_path / "joints.svg").read_bytes().startswith(b"<?xml") and not (tmp_path / "joints.png").exists()

"""The command run: a study from a file, its folder, resumption, figures."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray
from PIL import Image

from tests.fixtures import assert_fails, run_command

TEXT = """\
machine: five-bar
law:
  type: ProjectedInverseDynamics
  coordinates: [left, right]
  reference: {type: Constant, position: [2.1, 1.0]}
  bandwidth: 8
  period: 1e-2
start: {left: 2.1, right: 1.0}
run: {t_end: 0.1, output_times: 0.05}
vary:
  left_lower_scale: {low: 0.9, high: 1.1, unit: "1"}
runs: 8
measures: {worst: worst_error, conditioning: worst_conditioning}
limits: {worst: [0, 1e-3]}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "masses.yaml"
    path.write_text(TEXT)
    return path


def test_rows_summary_and_figures(file):
    code, out, err = run_command("run", file, "--report")
    assert (code, err) == (0, "")
    folder = Path("masses-runs")
    assert "8 runs of masses.yaml, 0 of them failed" in out
    assert "within limits (worst from 0 to 0.001): " in out
    for name in (
        "results.nc",
        "summary.json",
        "worst.png",
        "worst-sensitivities.png",
        "conditioning.png",
        "scatter.png",
    ):
        assert name in out.replace("\n", " ")
        assert (folder / name).stat().st_size > 100
    with Image.open(folder / "scatter.png") as image:
        assert min(image.size) > 400
    summary = json.loads((folder / "summary.json").read_text())
    with xarray.open_dataset(folder / "results.nc") as rows:
        worst = rows["worst"].values
    assert summary["runs"] == 8 and summary["failed"] == 0 and summary["kinds"] == {"completed": 8}
    assert summary["measures"]["worst"]["mean"] == pytest.approx(worst.mean())
    assert summary["measures"]["worst"]["unit"] == "rad"
    assert summary["measures"]["worst"]["largest_in_runs"][0] == int(np.argmax(worst))
    assert summary["within_limits"]["share"] == pytest.approx((worst <= 1e-3).mean())


def test_figures_in_another_format(file):
    assert run_command("run", file, "--report", "--format", "pdf")[0] == 0
    names = {path.name for path in Path("masses-runs").iterdir()}
    assert {"worst.pdf", "scatter.pdf"} <= names and not any(name.endswith(".png") for name in names)
    assert_fails("--format must be 'png', 'svg' or 'pdf', got 'gif'", "run", file, "--format", "gif", "--resume")


def test_nothing_is_overwritten_unasked(file):
    assert run_command("run", file, "-o", "out")[0] == 0
    before = (Path("out") / "results.nc").read_bytes()
    assert_fails("has a study already: say --resume", "run", file, "-o", "out")
    assert (Path("out") / "results.nc").read_bytes() == before
    next(Path("out", "parts").iterdir()).unlink()
    code, out, _ = run_command("run", file, "-o", "out", "--resume")
    assert code == 0 and "8 runs" in out
    file.write_text(TEXT.replace("runs: 8", "runs: 9"))
    assert_fails("holds another study: its", "run", file, "-o", "out", "--resume")


@pytest.mark.smoke
def test_failed_runs_are_told(file):
    file.write_text(TEXT.replace("low: 0.9", "low: -0.5"))
    code, out, _ = run_command("run", file, "-o", "out")
    assert code == 0
    assert "failed: InputError, such as run" in out and "left_lower_scale" in out


def test_what_is_refused(file, tmp_path):
    assert_fails("line 1: plant of the catalogue must be a name", "run", _with(file, "machine: five-bar", "machine: 5"))
    assert_fails("--workers takes a number, or all, got 'many'", "run", file, "--workers", "many")
    assert_fails("cannot be read: No such file", "run", tmp_path / "none.yaml")
    assert not Path("masses-runs").exists()


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer(file):
    """Asked for five seconds."""
    assert_fails("no Dask scheduler answers", "run", file, "--scheduler", "tcp://127.0.0.1:1")
    assert not Path("masses-runs").exists()


def _with(file, old, new):
    path = file.with_name("other.yaml")
    path.write_text(TEXT.replace(old, new))
    return path

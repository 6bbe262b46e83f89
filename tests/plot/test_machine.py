"""Drawings and animations of machines."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import animation_frames

# -- machines ------------------------------------------------------------------------------------------


def test_mechanism_draws_bodies_between_their_joints():
    plant = plants.five_bar()
    q = configuration(plant)
    figure = plot.mechanism(plant, q)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (m)", "y (m)")
    assert ax.get_aspect() == 1.0
    drawn = [{tuple(p) for p in np.round(np.array(line.get_data()).T, 9)} for line in ax.lines]
    base, elbow = (0.0, 0.0), tuple(np.round(plant.point(q, "left_upper")[:2], 9))
    tip = tuple(np.round(plant.point(q, "left_upper", (1.5, 0, 0))[:2], 9))
    assert {base, elbow} in drawn and {elbow, tip} in drawn
    assert {tip} in drawn  # where the loop closes


def test_mechanism_takes_values_by_name_and_given_axes():
    figure = Figure()
    ax = figure.add_subplot()
    assert plot.mechanism(plants.n_four_bar(1), {"bar0": 1.0, "coupler1": -1.0, "bar1": 1.0}, ax=ax) is figure
    assert ax.get_title() == "n-four-bar"


def test_machines_in_space_need_space():
    plant = plants.bricard()
    figure = plot.mechanism(plant, plant.neutral())
    assert [figure.axes[0].get_xlabel(), figure.axes[0].get_zlabel()] == ["x (m)", "z (m)"]
    figure.draw_without_rendering()
    with pytest.raises(ValueError, match="projection='3d'"):
        plot.mechanism(plant, plant.neutral(), ax=Figure().add_subplot())


# -- animations ----------------------------------------------------------------------------------------


def test_animation_has_its_frames_and_moves(free, tmp_path):
    fractions = []
    path = plot.animate(free, tmp_path / "run.gif", fps=20, speed=2.0, progress=fractions.append)
    with Image.open(path) as gif:
        assert gif.n_frames == 8  # 0.7 s in steps of 0.1 s
        assert gif.info["duration"] == 50
        first = np.asarray(gif.convert("RGB"), dtype=int)
        gif.seek(7)
        last = np.asarray(gif.convert("RGB"), dtype=int)
    assert first.shape == last.shape
    assert np.abs(first - last).max() > 100
    assert tuple(first[2, 2]) == (255, 255, 255)
    np.testing.assert_allclose(fractions, np.arange(1, 9) / 8)


def test_animation_in_space(tmp_path):
    plant, q0, v0 = plants.catalogue["bricard"].start()
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.2, output_times=0.05)
    assert animation_frames(run.animate(tmp_path / "b.gif", fps=10, progress=True)) == 3


def test_animation_of_a_single_instant(free, tmp_path):
    short = cmb.Simulation(free.data.isel(time=[0]), free.plant)
    assert animation_frames(short.animate(tmp_path / "one.gif")) == 1


def test_animation_refuses_what_it_cannot_write(free, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"\.gif or \.mp4 file, got 'run\.avi'"):
        plot.animate(free, tmp_path / "run.avi")
    with pytest.raises(ValueError, match="fps must be > 0"):
        plot.animate(free, tmp_path / "run.gif", fps=0)
    with pytest.raises(ValueError, match="speed"):
        plot.animate(free, tmp_path / "run.gif", speed=float("nan"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cmb.errors.MissingExtraError, match=r"run\.mp4 needs ffmpeg"):
        plot.animate(free, tmp_path / "run.mp4")
    with pytest.raises(OSError, match="nowhere"):
        plot.animate(free, tmp_path / "nowhere" / "run.gif")


def test_a_drawing_with_open_loops_says_so():
    with pytest.warns(cmb.CmbWarning, match="open loops, by .* m; plant.assemble"):
        plot.mechanism(plants.five_bar(), {"left": 2.1})

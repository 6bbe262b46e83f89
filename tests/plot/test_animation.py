"""Frames as files."""

import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol.plot.animation import animation_path, write_animation

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
COLORS = ["#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#F0E442", "#D55E00"]


def frame(i, shape=(60, 81)):
    """A grey picture with a square in the colour of its number, and a smooth blend beside it."""
    image = np.full((*shape, 3), 255, dtype=np.uint8)
    image[10:30, 10 + i : 30 + i] = tuple(bytes.fromhex(COLORS[i % len(COLORS)][1:]))
    image[40:50, :, 0] = np.linspace(0, 255, shape[1]).astype(np.uint8)
    image[40:50, :, 1] = (7 * i) % 256
    return image


def test_gif_frames_have_exactly_the_colors_asked_for(tmp_path):
    """Also those that appear in one frame only, which is none of those the palette is made from."""
    path = write_animation(tmp_path / "a.gif", frame, 25, 25.0, COLORS, None)
    with Image.open(path) as gif:
        assert gif.n_frames == 25 and gif.info["duration"] == 40
        for i in range(25):
            gif.seek(i)
            image = np.asarray(gif.convert("RGB"))
            expected = tuple(bytes.fromhex(COLORS[i % len(COLORS)][1:]))
            assert (image[10:30, 10 + i : 30 + i] == expected).all(), (i, COLORS[i % len(COLORS)])
            assert (image[0:8] == 255).all()
            assert np.abs(image[40:50].astype(int) - frame(i)[40:50]).max() < 40


def test_gif_frames_share_one_palette(tmp_path):
    content = write_animation(tmp_path / "a.gif", frame, 6, 25.0, COLORS, None).read_bytes()
    at, local = 13 + 3 * 2 ** ((content[10] & 7) + 1), 0
    assert content[10] & 0x80  # a global palette
    while content[at] != 0x3B:  # blocks, to the trailer
        if content[at] == 0x21:
            at += 2
        else:
            assert content[at] == 0x2C
            local += content[at + 9] >> 7
            at += 11
        while content[at]:
            at += content[at] + 1
        at += 1
    assert local == 0


def test_progress_is_told(tmp_path):
    told = []
    write_animation(tmp_path / "a.gif", frame, 4, 25.0, [], told.append)
    np.testing.assert_allclose(told, [0.25, 0.5, 0.75, 1.0])


@needs_ffmpeg
def test_mp4_is_what_players_know(tmp_path):
    """Even sizes, half colour resolution, all frames, colours as they were."""
    path = write_animation(tmp_path / "a.mp4", frame, 10, 25.0, [], None)  # frames of 81 x 60
    entries = "stream=width,height,pix_fmt,nb_frames,r_frame_rate,color_space"
    command = ["ffprobe", "-v", "error", "-show_entries", entries, "-of", "default=noprint_wrappers=1", str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = dict(line.split("=") for line in told.split())
    assert found == {
        **{"width": "82", "height": "60", "pix_fmt": "yuv420p", "nb_frames": "10"},
        **{"r_frame_rate": "25/1", "color_space": "bt709"},
    }
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    images = np.frombuffer(raw, dtype=np.uint8).reshape(10, 60, 82, 3).astype(int)
    for i, image in enumerate(images):
        assert np.abs(image[14:26, 14 + i : 26 + i].mean(axis=(0, 1)) - frame(i)[20, 20 + i]).max() < 12
        assert image[2:6, 2:60].min() > 240


@needs_ffmpeg
def test_an_mp4_that_fails_leaves_nothing_behind(tmp_path):
    def fails(i):
        if i == 2:
            raise RuntimeError("no picture")
        return frame(i)

    with pytest.raises(RuntimeError, match="no picture"):
        write_animation(tmp_path / "a.mp4", fails, 5, 25.0, [], None)
    assert list(tmp_path.iterdir()) == []


def test_paths_of_animations(tmp_path, monkeypatch):
    assert animation_path("run.gif", 25.0).name == "run.gif"
    with pytest.raises(ValueError, match=r"\.gif or \.mp4 file, got 'run\.avi'"):
        animation_path(tmp_path / "run.avi", 25.0)
    with pytest.raises(ValueError, match="fps must be > 0"):
        animation_path(tmp_path / "run.gif", 0.0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cmb.errors.MissingExtraError, match=r"run\.mp4 needs ffmpeg.*or write a \.gif"):
        animation_path(tmp_path / "run.mp4", 25.0)

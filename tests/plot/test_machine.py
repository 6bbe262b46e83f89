"""Drawings and animations of machines."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plants.five_bar import configuration
from cmbcontrol.plot.drawing import Drawing
from cmbcontrol.scene import scene
from cmbcontrol.scene.colors import JOINT, LOOP
from tests.fixtures import animation_frames, wire_bead

# -- machines ------------------------------------------------------------------------------------------


def test_mechanism_draws_bodies_about_their_joints():
    plant = plants.five_bar()
    q = configuration(plant)
    figure = plot.mechanism(plant, q)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (m)", "y (m)")
    assert ax.get_aspect() == 1.0
    (shapes,) = ax.collections
    paths, colors = shapes.get_paths(), [to_hex(c).upper() for c in shapes.get_facecolor()]
    tip = plant.point(q, "left_upper", (1.5, 0, 0))[:2]
    (closing,) = (path for path, color in zip(paths, colors, strict=True) if color == LOOP)
    np.testing.assert_allclose(0.5 * (closing.vertices.min(axis=0) + closing.vertices.max(axis=0)), tip, atol=1e-9)
    inside = [
        path for path, c in zip(paths, colors, strict=True) if c not in (LOOP, JOINT) and path.contains_point(tip)
    ]
    assert len(inside) == 2  # both upper links


@pytest.mark.parametrize("name", plants.catalogue)
def test_every_plant_of_the_catalogue_can_be_drawn(name):
    plant, q, _ = plants.catalogue[name].start()
    figure = plant.plot(q)
    figure.draw_without_rendering()
    assert figure.axes[0].get_title() == plant.name


def test_the_configuration_is_the_start_unless_given():
    parts = plants.five_bar()
    start = {"left": 2.1, "right": 1.0}
    named = cmb.Mechanism(
        *("five-bar", parts.bodies, parts.joints, parts.loops),
        gravity=parts.gravity,
        configurations={"start": start, "low": {"left": -1.3, "right": -1.9}},
    )

    def tip(figure):
        shapes = figure.axes[0].collections[0]
        colors = [to_hex(c).upper() for c in shapes.get_facecolor()]
        return shapes.get_paths()[colors.index(LOOP)].vertices.mean(axis=0)

    assert np.array_equal(tip(named.plot()), tip(named.plot("start")))
    assert np.array_equal(tip(named.plot("low")), tip(plot.mechanism(named, named.configuration("low"))))
    assert tip(named.plot("low"))[1] < 0.0 < tip(named.plot())[1]
    with pytest.raises(ValueError, match="high"):
        named.plot("high")
    assert tip(parts.plot()).shape == (2,)  # at zero, with closed loops


def test_one_body_alone_can_be_drawn():
    box = cmb.Body("box", 1.0, inertia=(0.02, 0.03, 0.04))
    cmb.Mechanism("one", [box], [cmb.Free("free", "ground", "box")]).plot().draw_without_rendering()
    disc = cmb.Body.planar("disc", 1.0, 0.0, 0.04)
    plant = cmb.Mechanism("one", [disc], [cmb.Planar("free", "ground", "disc")], gravity=(0, -9.81, 0))
    plant.plot().draw_without_rendering()


def test_figures_are_saved_in_every_format(tmp_path):
    """Solids in space are a picture in PDF and SVG, not thousands of gradients."""
    figure = plants.stewart().plot()
    for kind in ("png", "pdf", "svg"):
        figure.savefig(tmp_path / f"a.{kind}")
        assert 5_000 < (tmp_path / f"a.{kind}").stat().st_size < 400_000


def test_plants_given_by_functions_may_have_a_sketch(tmp_path):
    plant, q0, v0 = plants.catalogue["slider-crank"].start()
    plot.mechanism(plant, q0).draw_without_rendering()
    run = cmb.simulate(plant, q0=q0, v0=v0, t_end=0.1, output_times=0.02)
    assert animation_frames(run.animate(tmp_path / "a.gif")) == 3
    with pytest.raises(cmb.errors.ModelError, match=r"'bead' is given by functions.*sketch="):
        plot.mechanism(wire_bead(), [0.0, 0.0])


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


@pytest.mark.parametrize("trace", [True, ["tip"], [("left_upper", (1.5, 0.0, 0.0))]])
def test_traces_grow_from_frame_to_frame(free, tmp_path, monkeypatch, trace):
    """In frame i, the trace has i + 1 points, each where the point was in that frame."""
    seen = []
    update = Drawing.update

    def spied(self, shot, label="", number=0):
        update(self, shot, label, number)
        points = np.array(self.trace.get_data()).T
        seen.append((label, points[np.isfinite(points).all(axis=1)]))

    monkeypatch.setattr(Drawing, "update", spied)
    free.animate(tmp_path / "a.gif", fps=10, trace=trace)
    shown = dict(seen)
    assert len(shown) == 8
    for i, (label, points) in enumerate(sorted(shown.items())):
        assert label == f"t = {0.1 * i:.1f} s" and len(points) == i + 1
        for k, point in enumerate(points):
            q = free.data["q"].sel(time=0.1 * k, method="nearest").values
            expected = free.plant.point(q, "left_upper", (1.5, 0, 0))[:2]
            np.testing.assert_allclose(point, expected, atol=1e-6)


def test_pixels_of_the_trace_are_there_when_it_is(free, tmp_path):
    """The tip comes down: behind it, more and more of the picture has the colour of the trace."""

    def coloured(trace):
        with Image.open(free.animate(tmp_path / "a.gif", fps=10, trace=trace)) as gif:
            for i in range(gif.n_frames):
                gif.seek(i)
                r, g, b = np.moveaxis(np.asarray(gif.convert("RGB"), dtype=int), 2, 0)
                yield int(((r > 200) & (g < 180) & (b < 140) & (r - b > 80)).sum())

    plain, traced = list(coloured(False)), list(coloured(True))
    more = np.subtract(traced, plain)
    assert more[0] == 0 and (np.diff(more)[1:] > 5).all()


def test_frames_show_the_colors_of_the_bodies(free, tmp_path):
    with Image.open(free.animate(tmp_path / "a.gif", fps=10)) as gif:
        for i in range(gif.n_frames):
            gif.seek(i)
            image = gif.convert("RGB")
            found = {f"#{r:02X}{g:02X}{b:02X}": n for n, (r, g, b) in image.getcolors(1 << 24)}
            for color in {solid.color for solid in scene(free.plant).solids if solid.kind == "body"} - {LOOP}:
                assert found.get(color, 0) > 100, (i, color)
            assert found[LOOP] > 20 and max(found, key=found.get) == "#FFFFFF"


def test_what_cannot_be_traced(free, tmp_path):
    for trace, error, words in (
        (["nose"], ValueError, "joint, constraint or body to trace"),
        ("tip", TypeError, r"write \['tip'\]"),
        ([("left_upper",)], ValueError, "a body and a point"),
        ([("nose", (0, 0, 0))], ValueError, "nose"),
        ([("left_upper", (0, 0))], ValueError, "point"),
    ):
        with pytest.raises(error, match=words):
            free.animate(tmp_path / "a.gif", trace=trace)
    assert not (tmp_path / "a.gif").exists()


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

"""What all figures share: styles that can be told apart, panels, legends."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cmbcontrol.plot import style


@pytest.mark.parametrize("n", [0, 1, 7, 21, 42, 43, 120])
def test_curves_can_be_told_apart(n):
    assert len({(str(s["color"]), s["linestyle"]) for s in style.styles(n)}) == n


def test_panels_share_their_time_axis_or_are_those_given():
    figure, axes = style.panels(None, 3)
    axes[0].set_xlim(2.0, 5.0)
    assert axes[2].get_xlim() == (2.0, 5.0) and figure.get_figheight() == pytest.approx(3 * 1.75 + 0.55)
    assert style.panels(axes, 3) == (figure, axes)
    with pytest.raises(ValueError, match="has 2 panels; give as many axes, got 3"):
        style.panels(axes, 2)


@pytest.mark.parametrize("curves", [0, 1, 14, 40, 120])
def test_legends_name_all_and_stay_on_the_page(curves):
    figure, (ax, _) = style.panels(None, 2)
    for i in range(curves):
        ax.plot([0.0], [0.0], label=f"a curve of a long name {i}")
    style.beside(ax)
    if not curves:
        assert ax.get_legend() is None
        return
    figure.draw_without_rendering()
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"a curve of a long name {i}" for i in range(curves)]
    box = legend.get_window_extent()
    assert box.x0 > ax.get_window_extent().x1 > 0.35 * figure.bbox.x1 / legend._ncols
    assert box.x1 <= figure.bbox.x1 + 1.0 and box.y0 >= 0.0
    assert ax.get_window_extent().width > 3.5 * figure.dpi  # the curves keep their room


def test_a_legend_on_the_axes_of_others_does_not_change_their_figure():
    figure = Figure(figsize=(4.0, 3.0))
    ax = figure.subplots()
    for i in range(40):
        ax.plot([0.0], [0.0], label=f"curve {i}")
    style.beside(ax)
    assert len(ax.get_legend().get_texts()) == 40 and tuple(figure.get_size_inches()) == (4.0, 3.0)


def test_rounding_is_not_drawn_as_if_it_were_a_signal():
    ax = Figure().subplots()
    noise = [0.0, 3e-17, np.nan, 1e-16]
    ax.plot(range(4), noise)
    style.above_rounding(ax, 1e-14)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1e-14, 1e-14, np.nan, 1e-14])
    assert ax.get_yscale() == "log" and 1e-15 < ax.get_ylim()[0] < 1e-14 < 1e-12 < ax.get_ylim()[1]
    assert [text.get_text() for text in ax.texts] == ["rounding"]
    ax = Figure().subplots()
    ax.plot(range(3), [1e-9, 1e-6, 1e-20])
    style.above_rounding(ax, 1e-14)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1e-9, 1e-6, 1e-14])
    assert ax.get_ylim()[1] > 1e-6


@pytest.mark.parametrize(
    ("values", "scale", "low", "high"),
    [
        ([70.0, 70.0 + 1e-13], 1.0, 63.0, 77.0),
        ([1e-17, -2e-17], 100.0, -10.0, 10.0),
        ([0.0, 0.0], 1e-3, -1e-4, 1e-4),
        ([-5.0, np.nan], 1.0, -5.5, -4.5),
    ],
)
def test_constants_are_shown_about_their_value(values, scale, low, high):
    ax = Figure().subplots()
    ax.plot(range(2), values)
    style.room_for_constants(ax, scale)
    assert ax.get_ylim() == pytest.approx((low, high))


def test_what_varies_keeps_its_limits():
    ax = Figure().subplots()
    ax.plot(range(2), [1.0, 1.0 + 1e-9])
    before = ax.get_ylim()
    style.room_for_constants(ax, 1.0)
    assert ax.get_ylim() == before


def test_single_values_can_be_seen():
    ax = Figure().subplots()
    t, nan = np.arange(6.0), np.nan
    line = style.curve(ax, t, np.array([1.0, nan, 2.0, 3.0, nan, 4.0]))
    assert line.get_marker() == "o" and line.get_markevery() == [0, 5]
    assert style.curve(ax, t, t).get_marker() == "None"
    assert style.curve(ax, t[:1], t[:1]).get_markevery() == [0]


def pixels(figure, color):
    """How many pixels of a figure have a colour."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(image - wanted).max(axis=-1) <= 8).sum())


@pytest.mark.parametrize("count", [2, 3, 6])
def test_all_colours_are_seen_of_curves_that_lie_on_one_another(count):
    """Each gets its share of the line, and a solid key."""
    t = np.linspace(0.0, 1.0, 200)
    figure, (ax,) = style.panels(None, 1)
    for k in range(count):
        style.curve(ax, t, np.sin(5.0 * t) + 1e-9 * k, color=style.COLORS[k], linewidth=2.0, label=str(k))
    shares = [pixels(figure, style.COLORS[k]) for k in range(count)]
    assert min(shares) > 0.5 * max(shares) > 0
    style.beside(ax)
    assert all(key.get_linestyle() == "-" for key in ax.get_legend().get_lines())


def test_constants_that_differ_by_rounding_take_turns():
    t = np.linspace(0.0, 1.0, 50)
    _, (ax,) = style.panels(None, 1)
    noise = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 50))
    first, second = (style.curve(ax, t, 3e5 * (1.0 + 1e-15 * row)) for row in noise)
    assert first.get_linestyle() != "-" and second.get_linestyle() != "-"


def test_curves_that_differ_stay_solid():
    t = np.linspace(0.0, 1.0, 50)
    _, (ax,) = style.panels(None, 1)
    lines = [style.curve(ax, t, np.sin(5.0 * t) + shift) for shift in (0.0, 0.02)]
    lines.append(style.curve(ax, t, np.where(t < 0.5, np.sin(5.0 * t), np.nan)))
    lines.append(style.curve(ax, 2.0 * t, np.sin(5.0 * t)))
    assert [line.get_linestyle() for line in lines[:2]] == ["-", "-"] and lines[3].get_linestyle() == "-"


@pytest.mark.parametrize(
    ("values", "low", "words"),
    [
        ([0.0, *np.linspace(1e-3, 1e-2, 99)], 1e-4, "smallest: 0 at 0 s"),  # a zero at the start
        (np.abs(np.sin(np.linspace(0.3, 0.3 + 6.0 * np.pi, 1999))), 1e-3, None),  # crossings of zero
        ([*np.logspace(-1, -9, 100)], 1e-10, None),  # a decay: all of it
        ([0.0] * 10 + [1e-3] * 90, None, "rounding"),  # a tenth of the time is no accident
    ],
)
def test_the_range_of_errors_is_that_of_nearly_all_values(values, low, words):
    ax = Figure().subplots()
    ax.plot(np.arange(len(values)) / len(values), values)
    style.above_rounding(ax, 1e-14)
    if low is None:
        assert ax.get_ylim()[0] < 1e-14
    else:
        assert ax.get_ylim()[0] == pytest.approx(low)
    told = [text.get_text() for text in ax.texts]
    assert told == [words] if words else all(text.startswith("smallest: ") for text in told)


# -- without colours ----------------------------------------------------------------------------------------

# Matrices for linear RGB at full severity: Machado, Oliveira and Fernandes, A physiologically-based model for
# simulation of color vision deficiency, IEEE Transactions on Visualization and Computer Graphics 15 (2009), table 1.
EYES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,  # luminance, as printers take it (ITU-R BT.709)
}
SEEN = 40  # of 256 levels: what stands out on paper


def as_seen(image, eyes):
    """An image (h, w, 3) of 256 levels as it is seen by eyes."""
    x = image / 255.0
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)  # IEC 61966-2-1
    y = np.clip(linear @ np.array(EYES[eyes]).T, 0.0, 1.0)
    return 255.0 * np.where(y <= 0.0031308, 12.92 * y, 1.055 * y ** (1.0 / 2.4) - 0.055)


def keys(figure, ax):
    """Images of the keys of a legend, of one size."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[..., :3].astype(float)
    found = []
    for handle in ax.get_legend().legend_handles:
        (x0, y0), (x1, y1) = handle.get_window_extent().get_points()
        row, left = round(image.shape[0] - 0.5 * (y0 + y1)), round(x0)
        found.append(image[row - 12 : row + 13, left : left + round(x1 - x0)])
    width = min(part.shape[1] for part in found)
    return [part[:, :width] for part in found]


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("n", [2, 7, 21])
def test_curves_are_told_apart_without_their_colours(eyes, n):
    """Any two keys differ in lightness or form by as much as can be seen, in a tenth of the ink at least."""
    t = np.linspace(0.0, 1.0, 300)
    figure, (ax,) = style.panels(None, 1, height=5.0)
    for k, look in enumerate(style.styles(n)):
        style.curve(ax, t, np.sin(5.0 * t) + k, linewidth=1.5, label=str(k), **look)
    style.beside(ax)
    seen = [as_seen(key, eyes) for key in keys(figure, ax)]
    ink = [int((key.min(axis=2) < 255.0 - SEEN).sum()) for key in seen]
    for i in range(n):
        for j in range(i):
            differs = int((np.abs(seen[i] - seen[j]).max(axis=2) > SEEN).sum())
            assert differs >= 0.1 * min(ink[i], ink[j]), (i, j, differs, ink[i], ink[j])


def test_by_colour_alone_they_would_not_be():
    """The same curves without marks: in grey, some keys are one."""
    figure, (ax,) = style.panels(None, 1)
    for k in range(7):
        ax.plot([0.0, 1.0], [k, k], color=style.COLORS[k], label=str(k), linewidth=1.5)
    style.beside(ax)  # of two points: without marks
    seen = [as_seen(key, "grey") for key in keys(figure, ax)]
    assert any((np.abs(a - b) <= SEEN).all() for i, a in enumerate(seen) for b in seen[:i])


def test_marks_are_those_of_the_signal_in_every_panel():
    t = np.linspace(0.0, 1.0, 50)
    _, axes = style.panels(None, 2)
    for ax, shown in zip(axes, ((0, 1, 2), (2, 3)), strict=True):
        for k in shown:
            style.curve(ax, t, t + k, color=style.COLORS[k], label=str(k))
        style.beside(ax)
    marks = [{line.get_label(): line.get_marker() for line in ax.lines} for ax in axes]
    assert marks[0]["2"] == marks[1]["2"] and len({*marks[0].values()}) == 3
    counts = [len(line.get_markevery()) for ax in axes for line in ax.lines if line.get_marker() != "None"]
    assert set(counts) == {6}


def test_curves_that_differ_by_dashes_have_no_marks():
    t = np.linspace(0.0, 1.0, 50)
    _, (ax,) = style.panels(None, 1)
    for k, dash in enumerate(("-", "--", ":")):
        style.curve(ax, t, t + k, color=style.COLORS[k], linestyle=dash, label=str(k))
    style.beside(ax)
    assert {line.get_marker() for line in ax.lines} == {"None"}

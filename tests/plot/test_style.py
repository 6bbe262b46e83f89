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

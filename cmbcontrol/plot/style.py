"""Style of all figures: colours, sizes, limits of axes, legends beside the curves.

Everything is set on the artists themselves; matplotlib's global settings stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from .._tolerance import CONSTANT
from ..errors import InputError
from .figure import NARROW, is_narrow, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BAND",
    "COLORS",
    "DISTINCT",
    "FAINT",
    "INK",
    "LABEL",
    "QUIET",
    "TICK",
    "WIDTH",
    "above_rounding",
    "beside",
    "curve",
    "decades",
    "dress",
    "in_unit_of_its_size",
    "logarithmic",
    "mark",
    "panels",
    "reference",
    "room_for_constants",
    "solid_key",
    "styles",
    "time_axis",
    "with_unit",
]

Array = NDArray[np.float64]

# Okabe and Ito, distinct for colour-blind eyes; the yellow is left out, it is lost on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B")
# Neutral colours, which follow the colours of a page in pictures for it (`figure.svg`).
INK, QUIET, FAINT, GRID, BAND = "#222222", "#6F6F6F", "#B8B8B8", "#E4E4E4", "#ECECEC"
WIDTH, LABEL, TICK = 7.2, 9.0, 8.0  # inches; points
_DASH = 5.0  # widths of a line
_TURNS: WeakSet[Any] = WeakSet()  # lines that take turns with others
_HIDDEN = 2e-3  # of the span of curves: they are drawn wider than what parts them
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
DISTINCT = len(COLORS) * len(_DASHES)  # curves that differ by colour or dashes
_COLUMNS = (10, 24, 48)  # entries of a legend that one, two, three columns hold; four hold more
# Marks of curves by their colour, for eyes and printers that see no colours. The first colour needs none.
_MARKS = ("", "o", "s", "^", "D", "v", "P")
_MARKED = 6  # times on a curve; each colour at other ones
_BROAD, _PALE = 4.5, 0.35  # points; opacity: of a reference, below what follows it
_OF = "_reference of "  # what the label of a reference begins with
_SELDOM = 0.02  # of the values of a curve may be below the axis of errors, if they are much smaller than all others
_SMALLER = 100.0  # so many times
_DOWN = 30.0  # sizes of rounding: errors that come as near as this are drawn down to it


def styles(n: int) -> list[dict[str, Any]]:
    """Colour and line style of n curves: distinct colours, then these with dashes; many curves get a colour scale."""
    if n <= DISTINCT:
        return [{"color": COLORS[i % len(COLORS)], "linestyle": _DASHES[i // len(COLORS)]} for i in range(n)]
    import matplotlib

    shades = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.92, n))
    return [{"color": shade, "linestyle": _DASHES[i % 3]} for i, shade in enumerate(shades)]


def with_unit(what: str, unit: str) -> str:
    """Label with a unit; without one where it is not known."""
    return f"{what} ({unit})" if unit else what


def panels(axes: Any, count: int, height: float = 1.75) -> tuple[Figure, list[Axes]]:
    """Make a new figure with `count` panels above each other and one time axis, or use the axes that were given.

    Raises
    ------
    ValueError
        Where another number of axes was given.
    """
    if axes is None:
        height = min(height, 0.85 * NARROW) if is_narrow() else height
        figure = new_figure(WIDTH, height * count + 0.55)
        made = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        return figure, list(made)
    given = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
    if len(given) != count:
        raise InputError(f"this figure has {count} panels; give as many axes, got {len(given)}")
    return given[0].figure, given


def curve(ax: Axes, t: Array, y: Array, **style: Any) -> Any:
    """Draw a line, with dots at single values that have no neighbour to be joined to.

    Where it lies on earlier lines, as for symmetric machines, the lines become dashes in turns.
    """
    below = [line for line in ax.lines if _lies_on(t, y, line)]
    (line,) = ax.plot(t, y, **style)
    _take_turns([*below, line])
    known = np.isfinite(y)
    alone = known & ~np.append(known[1:], False) & ~np.append(False, known[:-1])
    if alone.any():
        line.set(marker="o", markersize=3.0, markevery=np.flatnonzero(alone).tolist())
    return line


def _take_turns(lines: list[Any]) -> None:
    """Turn solid lines on top of each other into dashes, each in the gaps of the others."""
    lines = [line for line in lines if line.get_linestyle() == "-" or line in _TURNS]
    if len(lines) > 1:
        gap = _DASH * (len(lines) - 1)
        for i, line in enumerate(lines):
            line.set_linestyle((_DASH * i, (_DASH, gap)))
            _TURNS.add(line)


def _key(handle: Any) -> Any:
    """Legend entry of a line: solid also for one that is drawn in dashes by turns."""
    return solid_key(handle) if handle in _TURNS else handle


def solid_key(line: Any) -> Any:
    """Legend entry of a line with its colour, width and mark, and without its dashes."""
    from matplotlib.lines import Line2D

    key = Line2D([], [], color=line.get_color(), linewidth=line.get_linewidth(), label=line.get_label())
    key.set(marker=line.get_marker(), markersize=line.get_markersize(), markeredgewidth=0.0)
    return key


def _lies_on(t: Array, y: Array, line: Any) -> bool:
    """Whether a curve coincides with a line that is already drawn."""
    x, below = (np.asarray(part, dtype=float) for part in (line.get_xdata(), line.get_ydata()))
    known = np.isfinite(y)
    if known.sum() < 2 or not np.array_equal(x, t) or not np.array_equal(known, np.isfinite(below)):
        return False
    y, below = y[known], below[known]
    low, high = min(y.min(), below.min()), max(y.max(), below.max())
    hidden = max(_HIDDEN * (high - low), CONSTANT * max(abs(low), abs(high)))  # the span of constants is rounding
    return bool((np.abs(y - below) <= hidden).all())


def reference(ax: Axes, t: Array, y: Array, of: str, color: Any) -> Any:
    """Draw what a curve follows, broad and pale in its colour, below the curve of this name."""
    style: dict[str, Any] = {"linewidth": _BROAD, "alpha": _PALE, "solid_capstyle": "butt", "zorder": 1.8}
    (line,) = ax.plot(t, y, color=color, label=_OF + of, **style)
    return line


def _reference_key() -> Any:
    """Legend entry of all references of a panel."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, linewidth=_BROAD, alpha=_PALE, label="reference")


def mark(ax: Axes, handles: Sequence[Any]) -> None:
    """Put marks on the curves of a legend that differ by colour alone, and hollow ones on their references.

    The mark follows from the colour, so that a signal has the same one in all panels.
    """
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D

    lines = [h for h in handles if isinstance(h, Line2D) and h.axes is ax and len(np.atleast_1d(h.get_xdata())) > 2]
    plain = [line for line in lines if line.get_linestyle() != "None" and not _has_own_mark(line)]
    dashes = ["-" if line in _TURNS else line.get_linestyle() for line in plain]
    references = {str(line.get_label()): line for line in ax.lines if str(line.get_label()).startswith(_OF)}
    known = [color.lower() for color in COLORS]
    for i, line in enumerate(plain):
        color = to_hex(line.get_color())
        k = known.index(color) if color in known else i
        mark = _MARKS[k % len(_MARKS)]
        if dashes.count(dashes[i]) < 2 or not mark:
            continue
        every = line.get_markevery()
        alone = every if isinstance(every, list) else []
        line.set(marker=mark, markersize=4.2, markeredgewidth=0.0, markevery=[*_spread(ax, line, k), *alone])
        if below := references.get(_OF + str(line.get_label())):
            below.set(marker=mark, markersize=6.0, markerfacecolor="none", markevery=_spread(ax, below, k + 3))


def _has_own_mark(line: Any) -> bool:
    """Whether a line has marks already; those at single values (`curve`) do not count."""
    return line.get_marker() not in ("None", "", " ", None) and not isinstance(line.get_markevery(), list)


def _spread(ax: Axes, line: Any, k: int) -> list[int]:
    """Indices of some points of a line, even along its axis (or, of lines that go to and fro, along the line)."""
    x, y = (np.asarray(part, dtype=float) for part in (line.get_xdata(), line.get_ydata()))
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not known.size:
        return []
    along = ax.xaxis.get_transform().transform(x[known])
    if not (np.isfinite(along).all() and np.all(np.diff(along) >= 0.0)):
        along = np.arange(known.size, dtype=float)
    shares = (np.arange(_MARKED) + (k % len(_MARKS) + 0.5) / len(_MARKS)) / _MARKED
    places = np.searchsorted(along, along[0] + shares * (along[-1] - along[0]))
    return sorted({int(i) for i in known[np.minimum(places, known.size - 1)]})


def dress(ax: Axes, label: str, *, log: bool = False) -> None:
    """Set axis label, ticks, grid and spines of one panel."""
    if log:
        logarithmic(ax)
    ax.set_ylabel(label, fontsize=LABEL, color=INK)
    ax.tick_params(labelsize=TICK, colors=INK, which="both", length=3, width=0.6)
    ax.tick_params(which="minor", length=1.5)
    ax.grid(True, color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set(linewidth=0.6, color=INK)
    for axis in (ax.xaxis, ax.yaxis):
        _plain_ticks(axis)


def _plain_ticks(axis: Any, factor: float = 1.0) -> None:
    """Set labels of ticks that are read as they stand, on a linear axis of numbers."""
    from matplotlib.ticker import AutoLocator, ScalarFormatter

    from .ticks import FittingTicks, PlainTicks

    if axis.get_scale() == "linear" and isinstance(axis.get_major_formatter(), (ScalarFormatter, PlainTicks)):
        axis.set_major_formatter(PlainTicks(factor))
        locator = axis.get_major_locator()
        if axis.axis_name == "x" and isinstance(locator, (AutoLocator, FittingTicks)):
            axis.set_major_locator(FittingTicks(factor, getattr(locator, "inside", False)))


def logarithmic(ax: Axes, name: str = "y") -> None:
    """Make an axis logarithmic; on a phone its labels have no raised letters."""
    from .ticks import PlainPowers

    ax.set(**{f"{name}scale": "log"})
    if is_narrow():
        axis = ax.xaxis if name == "x" else ax.yaxis
        axis.set_major_formatter(PlainPowers())
        axis.set_minor_formatter(PlainPowers(labelOnlyBase=False))


def in_unit_of_its_size(axis: Any, what: str, unit: str) -> tuple[str, float]:
    """Label an axis, whose limits are set, in its unit with a prefix that suits them: kN, mm.

    Logarithmic axes keep the unit itself. Returns the unit, and how many of the plain one it is.
    """
    from .ticks import prefixed

    linear = axis.get_scale() == "linear"
    shown, factor = prefixed(unit, float(np.abs(axis.get_view_interval()).max())) if linear else (unit, 1.0)
    axis.set_label_text(with_unit(what, shown), fontsize=LABEL, color=INK)
    _plain_ticks(axis, factor)
    return shown, factor


def time_axis(axes: Sequence[Axes], times: Array) -> None:
    """Set the time limits of all panels, and the label of the last."""
    axes[-1].set_xlabel("time (s)", fontsize=LABEL, color=INK)
    axes[0].figure.align_ylabels(list(axes))
    if times.size > 1 and times[-1] > times[0]:
        for ax in axes:
            ax.set_xlim(times[0], times[-1])


def room_for_constants(ax: Axes, scale: float) -> None:
    """Set limits for curves that are constant up to rounding: about their value, and not about their last digits.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With a linear axis.
    scale : float
        Size of the quantity in the panel: a length, a weight, a right angle.
    """
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float).ravel() for line in ax.lines] or [np.zeros(0)])
    values = values[np.isfinite(values)]
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    rounding = CONSTANT * max(abs(low), abs(high), scale)
    if high - low > rounding:
        return
    centre = 0.5 * (low + high)
    if abs(centre) <= rounding:
        ax.set_ylim(-0.1 * scale or -1.0, 0.1 * scale or 1.0)
    else:
        ax.set_ylim(centre - 0.1 * abs(centre), centre + 0.1 * abs(centre))


def above_rounding(ax: Axes, floor: float) -> None:
    """Set a logarithmic axis of errors that goes down as far as they do, at most into a band for rounding.

    Values below rounding are drawn on the band. A few values that are far below all others (the zero at the start of a
    run that begins on its reference, a crossing of zero) do not set the range: the smallest one is told in words.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With the curves drawn.
    floor : float
        Size of rounding, in the unit of the axis.
    """
    largest = lowest = floor
    least, when, most = np.inf, 0.0, np.inf  # the smallest value, its time, and what most values are above
    for line in ax.lines:
        x, y = (np.asarray(part, dtype=float) for part in (line.get_xdata(), line.get_ydata()))
        known = np.isfinite(y)
        line.set_ydata(np.maximum(y, floor))  # keeps nan
        if known.any():
            largest = max(largest, float(y[known].max()))
            most = min(most, float(np.quantile(y[known], _SELDOM, method="lower")))
            k = int(np.nanargmin(y))
            least, when = min((least, when), (float(y[k]), float(x[k])))
    ax.relim()
    logarithmic(ax)
    top = max(3.0 * largest, 1e3 * floor)
    small: dict[str, Any] = {"fontsize": TICK - 1.0, "color": QUIET, "zorder": 0.3, "ha": "right"}
    cut = least < most / _SMALLER
    lowest = most if cut else least
    if np.isfinite(lowest) and lowest > _DOWN * floor:
        decades(ax, lowest, top)
        if cut:
            ends = [np.asarray(line.get_ydata(), dtype=float)[-1:] for line in ax.lines]
            high = (
                np.nanmax(np.concatenate(ends), initial=floor) ** 2 > top * ax.get_ylim()[0]
            )  # curves that end in the upper half
            told = f"smallest: {'0' if least < floor else f'{least:.1g}'} at {when:.3g} s"
            up = 0.03 if high else 0.97
            ax.text(0.995, up, told, transform=ax.transAxes, va="bottom" if high else "top", **small)
        return
    band = (top / floor) ** 0.08  # of the height of the axis: room for its name
    ax.set_ylim(floor / band, top)
    ax.axhspan(floor / band, floor, color=BAND, linewidth=0.0, zorder=0.2)
    place = ax.get_yaxis_transform()
    ax.text(0.995, floor / np.sqrt(band), "rounding", transform=place, va="center", **small)


def decades(ax: Axes, low: float, high: float) -> None:
    """Set limits of a logarithmic axis around two values, with labels at the powers of ten: at two of them at least."""
    from matplotlib.ticker import NullFormatter

    first = np.floor(np.log10(low) - 0.05)
    last = first + 1.0 if high < 10.0 ** (first + 1.0) else np.log10(high)
    ax.set_ylim(10.0**first, 1.02 * 10.0**last)
    ax.yaxis.set_minor_formatter(NullFormatter())


def beside(ax: Axes, extra: Sequence[Any] = (), *, handles: Sequence[Any] | None = None) -> None:
    """Add a legend to the right of the panel with all names; a figure of this package grows until they have room.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    extra : sequence of artists
        Listed last.
    handles : sequence of artists, optional
        Artists listed before them; defaults to all curves of the panel.
    """
    if handles is None:
        handles = [h for h, text in zip(*ax.get_legend_handles_labels(), strict=True) if h not in extra and text]
    mark(ax, handles)
    references = [_reference_key()] if any(str(line.get_label()).startswith(_OF) for line in ax.lines) else []
    handles = [_key(handle) for handle in (*handles, *references, *extra)]
    if not handles:
        return
    look: dict[str, Any] = {"borderaxespad": 0.0, "frameon": False, "fontsize": TICK}
    look |= {"handlelength": 2.2, "columnspacing": 1.0}
    if is_narrow():
        _above(ax, handles, look)
        return
    columns = 1 + sum(len(handles) > most for most in _COLUMNS)
    look |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "labelspacing": 0.35}
    _make_room(ax, ax.legend(handles=handles, ncols=columns, **look))


def _above(ax: Axes, handles: Sequence[Any], look: dict[str, Any]) -> None:
    """Add a legend above a panel and its title, in as many columns as there is room for; the panel keeps its height."""
    from matplotlib.transforms import ScaledTranslation

    from .notebook_figure import NotebookFigure

    figure, columns = ax.figure, min(len(handles), 4)
    title = 1.4 * ax.title.get_window_extent().height / figure.dpi if ax.get_title() else 0.0  # inches, with a gap
    place = ax.transAxes + ScaledTranslation(0.0, title, figure.dpi_scale_trans)
    look = look | {"loc": "lower left", "bbox_to_anchor": (0.0, 1.03), "bbox_transform": place}
    look |= {"labelspacing": 0.25, "handlelength": 1.8}
    room = 0.78 * figure.bbox.width  # beside the labels of the axis
    legend = ax.legend(handles=handles, ncols=columns, **look)
    while columns > 1 and legend.get_window_extent().width > room:
        columns -= 1
        legend = ax.legend(handles=handles, ncols=columns, **look)
    if isinstance(figure, NotebookFigure) and ax.get_subplotspec() is not None:
        _grow(ax, title + legend.get_window_extent().height / figure.dpi)


def _grow(ax: Axes, more: float) -> None:
    """Make the row of a panel, and the figure, taller by some inches."""
    figure, spec = ax.get_figure(root=True), ax.get_subplotspec()
    if figure is None or spec is None:
        return
    width, height = figure.get_size_inches()
    grid = spec.get_gridspec()
    ratios = np.array(grid.get_height_ratios(), dtype=float)
    heights = height * ratios / ratios.sum()
    heights[spec.rowspan.start] += more
    grid.set_height_ratios(heights.tolist())
    figure.set_size_inches(width, float(heights.sum()))


def _make_room(ax: Axes, legend: Any) -> None:
    """Make a figure of this package as wide, and its row of panels as tall, as a legend needs."""
    from .notebook_figure import NotebookFigure

    figure, spec = ax.figure, ax.get_subplotspec()
    if not isinstance(figure, NotebookFigure) or spec is None:
        return
    box = legend.get_window_extent()
    wide, tall = box.width / figure.dpi, box.height / figure.dpi + 0.1
    width, height = figure.get_size_inches()
    if wide > figure.legend_room:
        width += wide - figure.legend_room
        figure.legend_room = wide
    figure.set_size_inches(width, height)
    ratios = np.array(spec.get_gridspec().get_height_ratios(), dtype=float)
    _grow(ax, max(tall - height * ratios[spec.rowspan.start] / ratios.sum(), 0.0))

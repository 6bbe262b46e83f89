"""What all figures share: colours, sizes, legends beside the curves.

Everything is set on the artists themselves; matplotlib's global settings stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "FAINT", "INK", "beside", "dress", "panels", "styles", "time_axis"]

# Okabe and Ito, distinct for colour-blind eyes; the yellow is left out, it is lost on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B")
INK, FAINT = "#222222", "#B8B8B8"
WIDTH, LABEL, TICK = 7.2, 9.0, 8.0  # inches; points
_LISTED = 14  # entries of a legend


def styles(n: int) -> list[dict[str, Any]]:
    """Colour and line style of n curves: distinct colours, then the same dashed and dotted, then a scale of colours."""
    dashes = ("-", "--", ":")
    if n <= len(COLORS) * len(dashes):
        return [{"color": COLORS[i % len(COLORS)], "linestyle": dashes[i // len(COLORS)]} for i in range(n)]
    import matplotlib

    return [{"color": c, "linestyle": "-"} for c in matplotlib.colormaps["viridis"](np.linspace(0.0, 0.92, n))]


def panels(axes: Any, count: int, height: float = 1.75) -> tuple[Figure, list[Axes]]:
    """A new figure with `count` panels above each other and one time axis, or the axes that were given.

    Raises
    ------
    ValueError
        Where another number of axes was given.
    """
    if axes is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH, height * count + 0.55), dpi=150, layout="constrained")
        made = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        return figure, list(made)
    given = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
    if len(given) != count:
        raise InputError(f"this figure has {count} panels; give as many axes, got {len(given)}")
    return given[0].figure, given


def dress(ax: Axes, label: str, *, log: bool = False) -> None:
    """Axis label, ticks, grid and spines of one panel."""
    if log:
        ax.set_yscale("log")
    ax.set_ylabel(label, fontsize=LABEL, color=INK)
    ax.tick_params(labelsize=TICK, colors=INK, which="both", length=3, width=0.6)
    ax.tick_params(which="minor", length=1.5)
    ax.grid(True, color="#E4E4E4", linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set(linewidth=0.6, color=INK)
    for offset in (ax.xaxis.get_offset_text(), ax.yaxis.get_offset_text()):
        offset.set_fontsize(TICK)


def time_axis(axes: Sequence[Axes], times: np.ndarray) -> None:
    """Limits of all panels, label of the last."""
    axes[-1].set_xlabel("time (s)", fontsize=LABEL, color=INK)
    if times.size > 1:
        for ax in axes:
            ax.set_xlim(times[0], times[-1])


def beside(ax: Axes, extra: Sequence[Any] = ()) -> None:
    """A legend to the right of the panel; long ones name the first curves and count the rest.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    extra : sequence of artists
        Listed last, whatever the number of curves.
    """
    from matplotlib.lines import Line2D

    handles = [h for h, text in zip(*ax.get_legend_handles_labels(), strict=True) if h not in extra and text]
    if len(handles) > _LISTED:
        more = Line2D([], [], linestyle="none", label=f"and {len(handles) - _LISTED + 1} more")
        handles = [*handles[: _LISTED - 1], more]
    handles += extra
    if handles:
        ax.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            frameon=False,
            fontsize=TICK,
            ncols=1 if len(handles) <= 7 else 2,
            handlelength=1.6,
            columnspacing=1.0,
            labelspacing=0.35,
        )

"""Plot of root loci in the complex plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..linear.root_locus import RootLocus
from .figure import new_figure
from .style import COLORS, FAINT, INK, LABEL, QUIET, TICK, dress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["damping_lines", "limits", "root_locus"]

Array = NDArray[np.float64]

_RATIOS = (0.2, 0.4, 0.6, 0.8)
_APART = np.array([0.25, 0.14])  # inches: names of lines that are nearer would overlap


def root_locus(locus: RootLocus, *, ax: Any = None, grid: bool = True) -> Figure:
    """Draw a root locus: crosses where the branches start, circles where they end, diamonds on the border.

    Parameters
    ----------
    locus : RootLocus
        From `cmbcontrol.root_locus`.
    ax : matplotlib axes, optional
        A new figure unless given.
    grid : bool
        Lines of equal damping ratio; in sampled time those that end on the unit circle.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol.linear.root_locus import root_locus as follow
    >>> locus = follow(lambda k: [[0.0, 1.0], [-4.0, 1.0 - k]], np.linspace(0.0, 3.0, 13), parameter="damping")
    >>> root_locus(locus).axes[0].get_xlabel()
    'real part (1/s)'
    """
    _check.instance(locus, RootLocus, "locus")
    grid = _check.flag(grid, "grid")
    data = locus.data
    if ax is None:
        ax = new_figure(6.4, 4.6).add_subplot()
    rows, period = data["eigenvalue"].values, float(data.attrs["period"])
    at = data["crossing_eigenvalue"].values
    at = np.concatenate([at, at.conj()[at.imag > 0.0]])
    limits(ax, np.concatenate([rows.ravel(), at]), period)
    if grid:
        damping_lines(ax, period, float(data.attrs["ratio"]))
    values, unit, name = locus.values, data.attrs["unit"], data.attrs["parameter"]
    many = rows.shape[1]
    for i, branch in enumerate(rows.T):
        color = COLORS[i % len(COLORS)] if many <= 2 * len(COLORS) else COLORS[0]
        ax.plot(branch.real, branch.imag, color=color, linewidth=1.5, zorder=3)
        given = branch[data["given"].values]
        ax.plot(given.real, given.imag, ".", color=color, markersize=2.5, zorder=3.2)
    place = f" {unit}" if unit else ""
    style = {"linestyle": "none", "zorder": 4, "markeredgecolor": INK}
    ax.plot(rows[0].real, rows[0].imag, marker="x", markersize=6.5, label=f"{name} = {values[0]:.4g}{place}", **style)
    end = f"{name} = {values[-1]:.4g}{place}"
    ax.plot(rows[-1].real, rows[-1].imag, marker="o", markersize=6.0, markerfacecolor="white", label=end, **style)
    if at.size:
        found = data["crossing_value"].values
        listed = ", ".join(f"{x:.5g}" for x in dict.fromkeys(found.round(12)[:4])) + (", ..." if found.size > 4 else "")
        label = f"on the border: {listed}{place}"
        ax.plot(at.real, at.imag, marker="D", markersize=5.0, markerfacecolor=COLORS[4], label=label, **style)
    parts = ("real part", "imaginary part")
    dress(ax, parts[1] + (" (1)" if period else " (rad/s)"))
    ax.set_xlabel(parts[0] + (" (1)" if period else " (1/s)"), fontsize=LABEL, color=INK)
    ax.set_title(f"root locus over {name}" + (f" ({unit})" if unit else ""), fontsize=LABEL + 1.0, color=INK)
    ax.grid(False)
    _legend(ax)
    return ax.figure


def _legend(ax: Any) -> None:
    """Draw the legend below the drawing, which keeps its width; long texts stand below each other."""
    longest = max(len(text) for text in ax.get_legend_handles_labels()[1])
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=3 if longest < 34 else 1,
        frameon=False,
        fontsize=TICK,
        handletextpad=0.3,
        columnspacing=1.4,
    )


def limits(ax: Any, points: NDArray[np.complex128], period: float) -> None:
    """Set limits with room for all curves and for the border."""
    x, y = points.real, points.imag
    if period:
        x, y = np.append(x, [-1.0, 1.0]), np.append(y, [-1.0, 1.0])
        ax.set_aspect("equal", adjustable="box")
    low, high = min(x.min(), 0.0), max(x.max(), 0.0)
    tall = max(float(np.abs(y).max()), 0.05 * (high - low), 1e-9)
    wide = max(high - low, 0.1 * tall)
    ax.set_xlim(low - 0.08 * wide, high + 0.08 * wide)
    ax.set_ylim(-1.1 * tall, 1.1 * tall)


def damping_lines(ax: Any, period: float, ratio: float) -> None:
    """Draw the border, and lines of equal damping ratio."""
    border = {"color": "#8A8A8A", "linewidth": 1.0, "zorder": 1.5}
    ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=1)
    ax.axvline(0.0, **(border if not (period or ratio) else {"color": FAINT, "linewidth": 0.6, "zorder": 1}))
    if period:
        half = np.pi if ax.get_xlim()[0] <= -1.0 else min(2.0 * ax.get_ylim()[1], np.pi)  # or the part that is seen
        circle = np.exp(1j * half * np.linspace(-1.0, 1.0, 181))
        ax.plot(circle.real, circle.imag, **(border if not ratio else {"color": FAINT, "linewidth": 0.8, "zorder": 1}))
    named: list[NDArray[np.float64]] = []
    for zeta in sorted({*_RATIOS, *([ratio] if ratio else [])}):
        style = border if zeta == ratio else {"color": FAINT, "linewidth": 0.6, "linestyle": ":", "zorder": 1}
        line = _line(ax, zeta, period)
        for part in (line, line.conj()):
            ax.plot(part.real, part.imag, **style)
        _name_line(ax, line, zeta, named)


def _line(ax: Any, zeta: float, period: float) -> NDArray[np.complex128]:
    """Eigenvalues with a damping ratio, to the edge of the drawing or to the highest frequency of a sampled system."""
    direction = -zeta + 1j * np.sqrt(1.0 - zeta**2)
    (left, right), (low, top) = ax.get_xlim(), ax.get_ylim()
    if period:
        line = np.exp(direction * np.linspace(0.0, np.pi / direction.imag, 121))
        if left <= -1.0:
            return line
        # a part of the circle near 1: z - 1 is nearly straight, and as long as the drawing at most
        line = np.exp(direction * np.linspace(0.0, np.hypot(right - left, top - low), 121))
        return line[(line.real >= left) & (line.imag <= top)]
    reach = min(left / direction.real, top / direction.imag)
    return direction * np.array([0.0, max(reach, 0.0)])


def _inches(ax: Any) -> Array:
    """Lengths of a unit of both axes, inches, as the layout will be."""
    size = ax.figure.get_size_inches() * [ax.get_position().width, ax.get_position().height]
    scale = size / [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())]
    return scale if ax.get_aspect() == "auto" else np.full(2, scale.min())


def _name_line(ax: Any, line: NDArray[np.complex128], zeta: float, named: list[Array]) -> None:
    """Write the ratio near the end of its line (on the unit circle half way), unless another text stands there."""
    whole = ax.get_xlim()[0] <= -1.0 and len(line) > 2
    z = line[len(line) // 2] if whole else line[0] + 0.97 * (line[-1] - line[0])
    place = np.array([z.real, z.imag]) * _inches(ax)
    for i, other in enumerate(named):
        room = np.array([2.2 if i == 0 else 1.0, 1.0]) * _APART  # the first one has a word with it
        if np.all(np.abs(place - other) < room):
            return
    named.append(place)
    words = f"{zeta:g}" if len(named) > 1 else f"damping {zeta:g}"
    look = {"fontsize": TICK - 1.0, "color": QUIET, "ha": "center", "va": "center", "zorder": 1.2, "clip_on": True}
    ax.text(z.real, z.imag, words, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8}, **look)

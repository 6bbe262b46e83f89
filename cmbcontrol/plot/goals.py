"""Plot of the goals of a tuned law: each over its limit, on all machines, and what is proven of all between them."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..design.loop_goals import MET, TunedLaw
from . import style
from .figure import is_narrow, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["goals"]

_LETTERS, _FEWER = (26, 30), (13, 17)  # of a line on the left, and on the right of the bars; on a phone
_LINE, _GAP = 0.145, 0.2  # inches: of a line of letters, and between rows
_THICK = 0.2  # inches: of a bar
_MOST = 3.0  # times the limit that are drawn: values beyond, and those below zero, are arrows at the edge
_LEAST = 1.25  # times the limit that are drawn at least
_TOLD = 4  # machines in words, by digits


class _Row(NamedTuple):
    """What is drawn of a goal."""

    goal: str
    hard: bool
    value: float  # the largest, of machines that the law was tuned for, and of the worst ones found
    case: str
    others: NDArray[np.float64]
    proven: float | None  # of all machines within the intervals; None without intervals


def goals(tuned: TunedLaw, *, axes: Any = None) -> Figure:
    r"""Draw how much of its limit each goal of a tuned law takes: left of the line at 1 it is met.

    Parameters
    ----------
    tuned : TunedLaw
        From `design.structured`.
    axes : matplotlib axes, optional
        A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    A bar ends at the largest value on all machines, which is told on the right, with the machine. Rings are the other
    machines. With uncertain parameters (`TunedLaw.bounds`) the worst machines found within the intervals count, too,
    and a bracket is the bound that is proven for all of them. Values beyond three times the limit, and those below
    zero (of a loop that decays twice as fast as it should, and faster), are arrows at the edge.

    Examples
    --------
    >>> from cmbcontrol.design.loop_goals import GoalValue
    >>> values = (GoalValue("decay above 2 1/s", "empty", 0.7, True), GoalValue("decay above 2 1/s", "full", 0.9, True))
    >>> ax = goals(TunedLaw(None, {"kp": 3.0}, 0.9, values, np.array([0.9]))).axes[0]
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['decay above 2 1/s\n(hard)']
    """
    _check.instance(tuned, TunedLaw, "tuned", "from design.structured")
    rows = _rows(tuned)
    left, right = _FEWER if is_narrow() else _LETTERS
    named = [_in_lines([row.goal, *["(hard)"] * row.hard], left) for row in rows]
    told = [_in_lines(_words(row), right) for row in rows]
    lines = max(text.count("\n") + 1 for text in (*named, *told))
    high = _GAP + lines * _LINE
    if axes is None:
        figure = new_figure(style.WIDTH, 1.15 + high * len(rows))
        ax = figure.subplots()
    else:
        figure, ax = axes.figure, axes
    drawn = np.concatenate([[row.value, row.proven or 0.0, *row.others] for row in rows])
    highest = 1.06 * float(drawn.max(where=np.isfinite(drawn), initial=0.0))
    far = min(max(highest, _LEAST), _MOST)
    ax.set(xlim=(0.0, far), ylim=(len(rows) - 0.5, -0.5))
    ax.axvspan(1.0, far, color=style.BAND, linewidth=0.0, zorder=0.2)
    ax.axvline(1.0, color=style.INK, linewidth=1.0, zorder=3.5)
    for k, row in enumerate(rows):
        _draw(ax, k, row, far, _THICK / high)
    style.dress(ax, "")
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_yticks(range(len(rows)), named)
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(range(len(rows)), told)
    beside.tick_params(labelsize=style.TICK, labelcolor=style.INK, length=0)
    beside.spines["right"].set_visible(False)
    count = len({one.case for one in tuned.goals})
    of = "the worst machines found" if tuned.bounds else f"{count} machines" if count > 1 else "one machine"
    said = [f"value over its limit (1), of {of}"]
    if count > 1 and not tuned.bounds:
        said.append("between them nothing is proven")
    ax.set_xlabel(_in_lines(said, 24 if is_narrow() else 60), fontsize=style.LABEL, color=style.INK)
    place: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "va": "bottom"}
    place |= {"fontsize": style.TICK, "color": style.QUIET}
    ax.text(1.0 - 0.012 * far, 1.01, "met", ha="right", **place)
    ax.text(1.0 + 0.012 * far, 1.01, "missed", ha="left", **place)
    _legend(ax, any(row.others.size for row in rows), bool(tuned.bounds))
    return figure


def _rows(tuned: TunedLaw) -> list[_Row]:
    """Goals in their order, each with its largest value, all others, and its bound."""
    found = []
    for name, worst in tuned.worst().items():
        seen = [(one.value, one.case) for one in tuned.goals if one.goal == name]
        bounds = [b for b in tuned.bounds if b.goal == name]
        for b in bounds:
            at = ", ".join(f"{parameter} = {x:.{_TOLD}g}" for parameter, x in b.worst.items())
            seen.append((b.value, f"{b.case}, {at}" if at else b.case))
        k = max(range(len(seen)), key=lambda i: seen[i][0])
        others = np.array([value for i, (value, _) in enumerate(seen) if i != k])
        proven = max(b.proven for b in bounds) if bounds else None
        found.append(_Row(name, worst.hard, *seen[k], others, proven))
    return found


def _words(row: _Row) -> list[str]:
    """Lines of a row: value and machine, and what is proven."""
    value = f"{row.value:.3g}" if np.isfinite(row.value) else "not stable"
    lines = [f"{value} at {row.case}"]
    if row.proven is not None:
        lines.append(f"proven: at most {row.proven:.3g}" if np.isfinite(row.proven) else "not proven")
    return lines


def _in_lines(texts: list[str], letters: int) -> str:
    """Texts, each in lines of so many letters at most, which end at words where they can."""
    wrapped = []
    for text in texts:
        whole = re.sub(r"\S+ = [^ ,]+,?", lambda x: x[0].replace(" ", "\xa0") if len(x[0]) <= letters else x[0], text)
        wrapped += textwrap.wrap(whole, letters, break_on_hyphens=False)
    return "\n".join(wrapped).replace("\xa0", " ")


def _draw(ax: Axes, k: int, row: _Row, far: float, thick: float) -> None:
    """Bar of a goal, rings of other machines, and a bracket from the bar to what is proven."""
    missed = row.value > 1.0 + MET
    look = {"color": style.COLORS[1], "hatch": "////"} if missed else {"color": style.COLORS[5], "hatch": ""}
    end = float(np.clip(row.value, 0.0, far))
    ax.barh(k, end, thick, edgecolor="white", facecolor=look["color"], hatch=look["hatch"], linewidth=0.0, zorder=2.0)
    edge: dict[str, Any] = {"color": style.INK, "markersize": 5.0, "clip_on": False, "zorder": 4.6}
    if row.value > far:
        ax.plot([far], [k], ">", **edge)
    elif row.value < 0.0:
        ax.plot([0.0], [k], "<", **edge)
    inside = row.others[(row.others >= 0.0) & (row.others <= far)]
    ax.plot(inside, np.full(inside.size, k), **_ring())
    if row.proven is not None and 0.0 <= row.proven <= far:
        ax.plot([end, row.proven], [k, k], color=style.INK, linewidth=1.0, zorder=4.0)
        ax.plot([row.proven], [k], **_bracket())


def _ring() -> dict[str, Any]:
    return {"marker": "o", "linestyle": "none", "color": style.INK, "markersize": 3.5, "markerfacecolor": "white",
            "markeredgewidth": 0.8, "zorder": 4.4}  # fmt: skip


def _bracket() -> dict[str, Any]:
    """Mark of a bound: a bracket that is open to the left, as high as a bar and more."""
    from matplotlib.path import Path

    shape = Path([(-0.45, 1.0), (0.0, 1.0), (0.0, -1.0), (-0.45, -1.0)])
    return {"marker": shape, "linestyle": "none", "color": style.INK, "markersize": 18.0, "markerfacecolor": "none",
            "markeredgewidth": 1.5, "zorder": 4.5}  # fmt: skip


def _legend(ax: Axes, others: bool, bounds: bool) -> None:
    """Names of marks, below the axis, where there is room on phones, too."""
    from matplotlib.lines import Line2D

    keys = [Line2D([], [], label="another machine", **_ring())] if others else []
    if bounds:
        bracket = _bracket() | {"markersize": 9.0}
        keys.append(Line2D([], [], label="proven for all within the intervals", **bracket))
    if keys:
        ax.legend(handles=keys, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=1.6, frameon=False,
                  fontsize=style.TICK, ncols=1 if is_narrow() else 2, columnspacing=1.0, handletextpad=0.3)  # fmt: skip

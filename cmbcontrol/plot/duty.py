"""Figure of the efforts of motors over their speeds, within their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from ..errors import InputError
from ..model.units import in_unit
from ..sim.motor_duty import SPEEDS, motor_speeds, ratings, rms
from ..sim.motor_limits import effort_limits
from ..sim.result import Simulation
from ..sim.units import column_units
from .figure import is_narrow, new_figure
from .style import COLORS, INK, LABEL, QUIET, TICK, dress, in_unit_of_its_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["effort_over_speed"]

_MOST, _COLUMNS = 12, 3  # motors of a figure, and panels in a row
_FAR = 5.0  # limits that are so many times the largest value are told and not drawn


def effort_over_speed(run: Simulation, *, motors: Sequence[str] | None = None) -> Figure:
    """Draw the effort of each motor over its speed, with its limits, its continuous effort, and the RMS point.

    Parameters
    ----------
    run : Simulation
    motors : sequence of str, optional
        By default all, or the first twelve.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a run without motors, or one that does not know its plant, of which the speeds follow.

    Notes
    -----
    Limits far from the run are told above the panel, and not drawn. The RMS point is at RMS speed and RMS effort: a
    motor that bears the run for ever has it below its continuous effort.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, [-20.0, 20.0], plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> [(ax.get_title(), ax.get_ylabel()) for ax in effort_over_speed(run).axes]
    [('left', 'effort (N m)'), ('right', 'effort (N m)')]
    """
    _check.run(run)
    known = [str(name) for name in run.data["actuator"].values]
    if not known:
        raise InputError(f"{run.data.attrs['plant']} has no motors, of which efforts could be drawn")
    if run.plant is None:
        raise InputError("the file of this run does not hold its plant, of which the speeds of its motors follow")
    names = known[:_MOST] if motors is None else list(_check.names(motors, "motors", known, "motor"))
    if not names:
        raise InputError(f"motors= names none; the run has {', '.join(known)}")
    columns = 1 if is_narrow() else min(len(names), _COLUMNS)
    rows = -(-len(names) // columns)
    figure = new_figure(max(2.9 * columns, 4.4), 2.5 * rows + 0.5)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[len(names) :]:
        ax.remove()
    u, speeds, units = run.data["u"].values, motor_speeds(run), column_units(run, "u")
    at, (continuous, fastest), limits = (rms(run.time, speeds), rms(run.time, u)), ratings(run), effort_limits(run)
    for ax, name in zip(axes, names, strict=False):
        k = known.index(name)
        ax.plot(speeds[:, k], u[:, k], color=COLORS[0], linewidth=1.3, label="run")
        ax.plot(at[0][k], at[1][k], "D", color=COLORS[1], markersize=5.0, label="RMS", zorder=3, linestyle="none")
        told = _limits(ax, units[k], float(limits[k]), float(continuous[k]), float(fastest[k]))
        dress(ax, "effort")
        ax.set_title(name + (f"\n{told}" if told else ""), fontsize=LABEL, color=INK)
        in_unit_of_its_size(ax.yaxis, "effort", units[k])
        in_unit_of_its_size(ax.xaxis, "speed", SPEEDS.get(units[k], ""))
    drawn = [ax.get_legend_handles_labels() for ax in axes[: len(names)]]
    legend = {text: line for lines, texts in drawn for line, text in zip(lines, texts, strict=True)}
    options = {"ncols": 2 if is_narrow() else len(legend), "frameon": False, "fontsize": TICK}
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", **options)
    return figure


def _limits(ax: Axes, unit: str, limit: float, continuous: float, fastest: float) -> str:
    """Draw the limits of a motor about what is drawn of the run; returns words for those that are out of sight."""
    speed, effort = (float(np.nanmax(np.abs(x), initial=0.0)) for x in ax.lines[0].get_data())
    told, near = [], {}
    for what, value, size, of in (
        ("limit", limit, effort, unit), ("continuous", continuous, effort, unit),
        ("at most", fastest, speed, SPEEDS.get(unit, "")),
    ):  # fmt: skip
        if np.isfinite(value) and value > _FAR * size:
            told.append(f"{what} {in_unit(value, of)}")
        elif np.isfinite(value):
            near[what] = value
    look: dict[str, Any] = {"color": QUIET, "linewidth": 1.0}
    end, top = near.get("at most"), near.get("limit")
    for what, dashes in (("limit", "-"), ("continuous", "--")):
        for y in (-near[what], near[what]) if what in near else ():
            line = look | {"linestyle": dashes, "label": what}
            ax.axhline(y, **line) if end is None else ax.plot([-end, end], [y, y], **line)
    for x in () if end is None else (-end, end):
        ax.axvline(x, label="limit", **look) if top is None else ax.plot([x, x], [-top, top], label="limit", **look)
    return ", ".join(told)

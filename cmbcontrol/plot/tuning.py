"""Plot of a search for gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from ..design.tune import TuneResult
from ..errors import InputError
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["tuning"]


def tuning(result: TuneResult, *, axes: Any = None) -> Figure:
    """Draw the cost of every run with the best so far, and the gains that were tried.

    Parameters
    ----------
    result : TuneResult
    axes : sequence of matplotlib axes, optional
        One for the cost and one for each gain; a new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        Where no run was made.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> from cmbcontrol.design import tune
    >>> plant = plants.pendulum()
    >>> run = simulate(plant, q0=plant.assemble(angle=0.1), t_end=0.01, output_times=0.01)
    >>> found = tune(lambda gain: run, {"gain": (0.0, 1.0)}, lambda run: 1.0, max_evaluations=3)
    >>> [ax.get_ylabel() for ax in tuning(found).axes]
    ['cost', 'gain']
    """
    _check.instance(result, TuneResult, "result", "from tune")
    data = result.data
    if not result.evaluations:
        raise InputError("no run was made: there is nothing to draw")
    names = [str(name) for name in data["gain"].values]
    figure, panels = style.panels(axes, 1 + len(names), height=1.5)
    k, failed = data["evaluation"].values, data["failed"].values
    costs, best = data["cost"].values, data["best"].values
    shown = costs[~failed]
    ax = panels[0]
    ax.plot(k[~failed], shown, ".", color=style.COLORS[5], markersize=4.5, label="run")
    ax.step(
        k, np.where(np.isfinite(best), best, np.nan), where="post", color=style.COLORS[0], linewidth=1.4, label="best"
    )
    style.dress(ax, "cost", log=bool(shown.size and shown.min() > 0.0 and shown.max() > 5.0 * shown.min()))
    if failed.any():
        level = shown.max() if shown.size else 1.0
        ax.plot(k[failed], np.full(failed.sum(), level), "x", color=style.COLORS[1], markersize=4.5, label="failed run")
    style.beside(ax)
    for i, (name, panel) in enumerate(zip(names, panels[1:], strict=True)):
        values = data["gains"].values[:, i]
        panel.plot(k[~failed], values[~failed], ".", color=style.COLORS[5], markersize=4.5)
        panel.plot(k[failed], values[failed], "x", color=style.COLORS[1], markersize=4.5)
        panel.axhline(result.gains[name], color=style.COLORS[0], linewidth=1.0)
        unit, log = str(data["unit"].values[i]), bool(data["log"].values[i])
        style.dress(panel, f"{name} ({unit})" if unit not in ("", "1") else name, log=log)
        if log:
            _plain_ticks(panel, values)
    panels[-1].set_xlabel("run", fontsize=style.LABEL, color=style.INK)
    panels[-1].set_xlim(0.5, k[-1] + 0.5)
    return figure


def _plain_ticks(ax: Any, values: np.ndarray) -> None:
    """Write plain numbers as ticks of a logarithmic axis that spans less than a few decades."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if values.max() < 300.0 * values.min():
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        ax.yaxis.set_minor_formatter(NullFormatter())

"""Errors and efforts of several runs of one machine, in the same panels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from ..errors import InputError
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sim.result import Simulation

__all__ = ["comparison"]

_PANELS = (("error", "controlled", "error"), ("u", "actuator", "effort"))


def comparison(runs: Mapping[str, Simulation], *, axes: Any = None) -> Figure:
    """Draw the tracking errors and the efforts of several runs: a panel for each coordinate and each motor.

    Parameters
    ----------
    runs : mapping of str to Simulation
        Runs of the same coordinates and motors, by the names of the legend.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each panel; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, simulate
    >>> from cmbcontrol.controllers import GravityPD
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> made = {f"kp = {kp}": GravityPD(plant, Constant([2.2, 1.2]), kp=kp, kd=20.0) for kp in (50, 100)}
    >>> figure = comparison({name: simulate(plant, law, q0, t_end=0.2) for name, law in made.items()})
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['error of left (rad)', 'error of right (rad)', 'effort of left (N m)', 'effort of right (N m)']
    """
    _check.mapping(runs, "runs", "names to runs")
    if not runs:
        raise InputError("there are no runs to compare")
    for name, run in runs.items():
        _check.run(run, f"the run {name!r}")
    first = next(iter(runs.values())).data
    shown = [(name, of, what, k) for name, of, what in _PANELS if name in first for k in range(first.sizes[of])]
    for name, of, *_ in shown:
        for title, run in runs.items():
            if name not in run.data or list(run.data[of].values) != list(first[of].values):
                raise InputError(f"the run {title!r} has other coordinates or motors than the first one")
    figure, all_axes = style.panels(axes, len(shown), 1.3)
    for ax, (name, of, what, k) in zip(all_axes, shown, strict=True):
        for (title, run), look in zip(runs.items(), style.styles(len(runs)), strict=True):
            style.curve(ax, run.time, run.data[name].values[:, k], linewidth=1.3, label=title, **look)
        unit, label = json.loads(first[name].attrs["units"])[k], f"{what} of {first[of].values[k]}"
        style.dress(ax, label)
        style.in_unit_of_its_size(ax.yaxis, label, unit)
    style.beside(all_axes[0])
    style.time_axis(all_axes, np.concatenate([run.time for run in runs.values()][:1]))
    return figure

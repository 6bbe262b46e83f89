"""Plots of a run over time: joints and motors, constraint forces, and the errors that show how accurate it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.units import in_unit
from ..sim.motor_limits import effort_limits
from ..sim.panels import ROUNDING, Panel, Scales, panels_of
from ..sim.result import Simulation
from ..sim.units import column_units
from .signals import SignalStyles
from .style import (
    COLORS,
    FAINT,
    INK,
    above_rounding,
    beside,
    curve,
    decades,
    dress,
    in_unit_of_its_size,
    panels,
    reference,
    room_for_constants,
    styles,
    time_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy", "forces", "reports", "responses"]

Array = NDArray[np.float64]

_ERRORS = ("error", "drift", "energy_balance")  # kinds that are drawn down to rounding
_SINGULAR = 0.03  # conditioning below which multipliers may leave the panel

_PASSAGES = ("singular passage", "singular start", "near-singular passage")  # kinds of events
_EVENT_LINES = ("-", "--", ":", "-.")  # by kind


def responses(run: Simulation, *, velocities: bool = False, axes: Any = None) -> Figure:
    """Plot joint positions with their references, the tracking error, and motor efforts with their limits.

    Parameters
    ----------
    run : Simulation
    velocities : bool
        Whether joint velocities are plotted, too.
    axes : sequence of matplotlib axes, optional
        One for each panel: positions by unit, velocities by unit (where wanted), tracking errors by unit (if there is a
        reference), efforts by unit (if motors are on). A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    A joint, and the motor on it, have one colour in all panels and figures. Where only some coordinates are controlled,
    the others are drawn thin. Vertical lines are singular passages and other events, under their names. Tracking errors
    are drawn down to rounding, 1e-14 rad, or of the size of the machine.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, [-20.0, 20.0], plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> [ax.get_ylabel() for ax in responses(run).axes]
    ['joint angle (rad)', 'motor effort (N m)']
    """
    _check.run(run)
    kinds = ("q", "v", "error", "u") if _check.flag(velocities, "velocities") else ("q", "error", "u")
    found, styles_of = panels_of(run, *kinds), SignalStyles(run).of
    figure, all_axes = panels(axes, len(found))
    for ax, panel in zip(all_axes, found, strict=True):
        if panel.kind == "q":
            _positions(ax, run, panel, styles_of(panel))
        elif panel.kind == "u":
            _efforts(ax, run, panel, styles_of(panel))
        else:
            _signals(ax, run, panel, styles_of(panel), 1.3)
        _dress(ax, panel)
    _finish(run, all_axes)
    return figure


def forces(run: Simulation, *, axes: Any = None) -> Figure:
    """Plot the constraint force A' lam by coordinate, and the smallest multipliers by row.

    Parameters
    ----------
    run : Simulation
    axes : sequence of matplotlib axes, optional
        One for each panel: constraint force by unit, multipliers. A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> [ax.get_ylabel() for ax in forces(run).axes]
    ['constraint force (N m)', 'multiplier (N)']
    """
    _check.run(run)
    found, styles_of = panels_of(run, "constraint_force", "multipliers"), SignalStyles(run).of
    if not run.data.sizes["row"]:
        found.append(Panel("multipliers", 1.0, "multiplier", "N", {}))
    figure, all_axes = panels(axes, len(found), 2.1)
    for ax, panel in zip(all_axes, found, strict=True):
        _signals(ax, run, panel, styles_of(panel), 1.2)
        _dress(ax, panel)
        if not panel.signals:
            _remark(ax, "no loops")
        elif panel.kind == "multipliers":
            regular = run.data["conditioning"].values > _SINGULAR
            _keep_in_sight(ax, np.array([*panel.signals.values()])[:, regular])
            in_unit_of_its_size(ax.yaxis, panel.label, panel.unit)
    _finish(run, all_axes)
    return figure


def reports(run: Simulation, *panels_of: str | Sequence[str], axes: Any = None) -> Figure:
    """Plot the reports of the controller over the run: margins, force errors, saturated efforts, a status.

    Parameters
    ----------
    run : Simulation
        Run of a controller that reports; see ``run.report``.
    *panels_of : str or sequence of str
        Quantities, one or several a panel; each in a panel of its own unless given.
    axes : sequence of matplotlib axes, optional
        One for each panel. A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a run without reports, for unknown quantities, and for several in one panel with different units.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, simulate
    >>> from cmbcontrol.controllers import PassiveJoints, ProjectedInverseDynamics
    >>> plant = plants.slider_crank()
    >>> law = PassiveJoints(ProjectedInverseDynamics(plant, "q1", Constant(0.6), bandwidth=8.0))
    >>> run = simulate(plant, law, plant.assemble(q1=0.5), t_end=0.1, output_times=0.05)
    >>> [ax.get_ylabel() for ax in reports(run, "margin", ["lost", "rank"]).axes]
    ['margin (1)', 'reported (1)']
    """
    _check.run(run)
    if "report" not in run.data:
        raise InputError(f"the controller of this run, {run.data.attrs['controller']}, has no method report(...)")
    known = [str(n) for n in run.data["quantity"].values]
    groups = [[group] if isinstance(group, str) else list(group) for group in panels_of or known]
    for name in (name for group in groups for name in group):
        if name not in known:
            raise InputError(_check.unknown(name, known, "quantity"))
    units = dict(zip(known, column_units(run, "report"), strict=True))
    for group in groups:
        if len({units[name] for name in group}) > 1:
            told = ", ".join(f"{name} ({units[name] or 'no unit'})" for name in group)
            raise InputError(f"quantities in one panel have one unit, got {told}; give them in panels of their own")
    figure, all_axes = panels(axes, len(groups))
    for ax, group in zip(all_axes, groups, strict=True):
        for name, style in zip(group, styles(len(group)), strict=True):
            curve(ax, run.time, run.data["report"].sel(quantity=name).values, linewidth=1.3, label=name, **style)
        label = _short(group[0]) if len(group) == 1 else "reported"
        dress(ax, label)
        room_for_constants(ax, 1.0)
        in_unit_of_its_size(ax.yaxis, label, units[group[0]])
    _finish(run, all_axes)
    return figure


def accuracy(run: Simulation, *, axes: Any = None) -> Figure:
    """Plot the loop opening, the energy balance, the energies, and the distance from singular configurations.

    Parameters
    ----------
    run : Simulation
    axes : sequence of four matplotlib axes, optional
        A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> [ax.get_ylabel() for ax in accuracy(run).axes]
    ['loop opening (m)', 'energy error (J)', 'energy (J)', 'conditioning (1)']
    """
    _check.run(run)
    t, data, scales, styles_of = run.time, run.data, Scales(run), SignalStyles(run).of
    figure, all_axes = panels(axes, 4)
    opening, balance, energy, conditioning = all_axes
    (of_balance,), (of_energy,) = panels_of(run, "energy_balance"), panels_of(run, "energy")
    of_loops = (*panels_of(run, "drift"), Panel("drift", scales.size, "loop opening", "m", {}))[0]
    _signals(opening, run, of_loops, styles_of(of_loops), 1.0)
    if not of_loops.signals:
        _remark(opening, "no loops")
    _signals(balance, run, of_balance, {name: {"color": INK} for name in of_balance.signals}, 1.0)
    looks = dict(zip(("kinetic", "potential"), styles(2), strict=True)) | {"total": {"color": INK, "linestyle": "--"}}
    _signals(energy, run, of_energy, looks, 1.3)
    if not np.isfinite(of_energy.signals["total"]).any():
        for ax in (balance, energy):
            _remark(ax, "no potential energy is known")
    for ax, panel in ((opening, of_loops), (balance, of_balance), (energy, of_energy)):
        _dress(ax, panel)
    curve(conditioning, t, _positive(data["conditioning"].values), color=INK, linewidth=1.2)
    passed = np.isfinite(data["event_conditioning"].values)  # changes of the loops have none
    at, least = (data[name].values[passed] for name in ("event_time", "event_conditioning"))
    least = np.maximum(least, 1e-12)
    if at.size:
        conditioning.plot(at, least, "v", color=COLORS[1], markersize=5, label="least on the way", clip_on=False)
    lowest = np.nanmin([*data["conditioning"].values, *least], initial=1.0)
    dress(conditioning, "conditioning (1)", log=_has_data(conditioning) and lowest < 0.1)
    if lowest >= 0.1:
        conditioning.set_ylim(0.0, 1.05)
    elif _has_data(conditioning):
        decades(conditioning, max(lowest, 1e-12), 1.0)
    _finish(run, all_axes)
    return figure


# -- parts -----------------------------------------------------------------------------------------


def _signals(ax: Axes, run: Simulation, panel: Panel, looks: Mapping[str, dict[str, Any]], width: float) -> None:
    """Draw the signals of a panel for which there is a style; of errors their size."""
    for name, values in panel.signals.items():
        if name in looks:
            shown = np.abs(values) if panel.kind in _ERRORS else values
            curve(ax, run.time, shown, linewidth=width, label=name, **looks[name])


def _dress(ax: Axes, panel: Panel) -> None:
    """Set label and limits of a panel that is drawn."""
    dress(ax, panel.label)
    if panel.kind not in _ERRORS:
        room_for_constants(ax, panel.scale)
    elif _has_data(ax):
        above_rounding(ax, ROUNDING * panel.scale)
    in_unit_of_its_size(ax.yaxis, panel.label, panel.unit)


def _positions(ax: Axes, run: Simulation, panel: Panel, looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw the positions of one unit, with their references below them, broad and pale."""
    references = {name: y for part in panels_of(run, "reference") for name, y in part.signals.items()}
    followed = references.keys() & {str(name) for name in run.data["position"].values}
    order = sorted(panel.signals, key=lambda name: name not in followed)
    for name in order:
        width = 1.7 if name in followed or not followed else 0.8
        curve(ax, run.time, panel.signals[name], linewidth=width, label=name, **looks[name])
    for name in order:
        if name in followed:
            reference(ax, run.time, references[name], name, looks[name]["color"])


def _efforts(ax: Axes, run: Simulation, panel: Panel, looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw efforts, with limits as dotted lines if they are in range; in the colour of the motor if it is its own."""
    limits = dict(zip(run.data["actuator"].values, effort_limits(run), strict=True))
    largest = float(np.nanmax(np.abs(run.data["u"].values), initial=0.0))
    lines: dict[float, str] = {}
    for name, values in panel.signals.items():
        limit = float(limits[name])
        text = name if np.isinf(limit) else f"{name} (limit {in_unit(limit, panel.unit)})"
        curve(ax, run.time, values, linewidth=1.3, label=text, **looks[name])
        if limit <= 2.0 * largest:
            lines[limit] = looks[name]["color"] if limit not in lines else INK
    for limit, color in lines.items():
        for y in (-limit, limit):
            ax.axhline(y, color=color, linewidth=1.0, linestyle=":")


def _finish(run: Simulation, axes: list[Axes]) -> None:
    """Draw singular passages and other events with their names, the legends and the time axis."""
    kinds = ["singular passage" if str(kind) in _PASSAGES else str(kind) for kind in run.data["event_kind"].values]
    lines = {kind: _EVENT_LINES[i % len(_EVENT_LINES)] for i, kind in enumerate(dict.fromkeys(kinds))}
    for i, ax in enumerate(axes):
        last, told = [], set()
        for x, what in zip(run.data["event_time"].values, kinds, strict=True):
            line = ax.axvline(x, color=FAINT, linewidth=0.8, linestyle=lines[what], zorder=0.5, label=f"_{what}")
            if what not in told and i == 0:
                told.add(what)
                line.set_label(what)
                last.append(line)
        beside(ax, last)
    time_axis(axes, run.time)


def _short(text: str) -> str:
    """Label shortened to the side of a panel."""
    return text if len(text) <= 24 else text[:11] + "..." + text[-10:]


def _keep_in_sight(ax: Axes, values: Array) -> None:
    """Set limits for the regular values: at singular configurations multipliers grow without limit."""
    low, high = ax.get_ylim()
    least, most = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    room = 0.08 * (most - least)
    if room > 0.0 and high - low > 3.0 * (most - least):
        ax.set_ylim(least - room, most + room)


def _remark(ax: Axes, text: str) -> None:
    """Write a remark in place of curves."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", fontsize=8.0, color=INK)


def _positive(x: Array) -> Array:
    """Values for a logarithmic axis: nan where they are not positive."""
    return np.where(x > 0.0, x, np.nan)


def _has_data(ax: Axes) -> bool:
    """Whether there is anything to draw, which a logarithmic axis needs."""
    return any(np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any() for line in ax.lines)

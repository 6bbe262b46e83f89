"""Plots of a run over time: joints and motors, constraint forces, and the errors that show how accurate it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.units import in_unit
from ..sim.motor_limits import effort_limits
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
    dress,
    panels,
    room_for_constants,
    styles,
    time_axis,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy", "forces", "reports", "responses"]

Array = NDArray[np.float64]

_POSITIONS = {"rad": "joint angle (rad)", "m": "joint travel (m)", "1": "coordinate (1)"}
_VELOCITIES = {"rad/s": "joint rate (rad/s)", "m/s": "joint speed (m/s)", "1/s": "rate (1/s)"}
_ERRORS = {"rad": "tracking error (rad)", "m": "tracking error (m)", "1": "tracking error (1)"}
_SINGULAR = 0.03  # conditioning below which multipliers may leave the panel
_ROUNDING = 1e-14  # of its scale: closing a loop, or a sum of energies, is no more accurate (1e-16 times some tens)

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
    velocities = _check.flag(velocities, "velocities")
    t, data, signals = run.time, run.data, SignalStyles(run)
    names, units = [str(n) for n in data["position"].values], column_units(run, "q")
    followed = [str(n) for n in data["controlled"].values] if "reference" in data else []
    tracked = [n for n in followed if n in names]
    positions = _by_unit(names, units)
    rates = _by_unit([str(n) for n in data["velocity"].values], column_units(run, "v")) if velocities else {}
    errors = _errors(run, followed, dict(zip(names, units, strict=True)))
    motors = [str(n) for n in data["actuator"].values]
    driven = motors if data.attrs["controller"] != "none" else []
    efforts = _by_unit(driven, column_units(run, "u")[: len(driven)])
    figure, all_axes = panels(axes, len(positions) + len(rates) + len(errors) + len(efforts))
    left = iter(all_axes)
    for unit, group in positions.items():
        ax = next(left)
        _positions(ax, run, group, tracked, signals)
        dress(ax, _POSITIONS.get(unit, with_unit("coordinate", unit)))
        room_for_constants(ax, signals.span(unit))
    for unit, group in rates.items():
        ax = next(left)
        for name in group:
            curve(ax, t, data["v"].sel(velocity=name).values, linewidth=1.3, label=name, **signals.coordinate(name))
        dress(ax, _VELOCITIES.get(unit, with_unit("rate", unit)))
        room_for_constants(ax, signals.span(unit.removesuffix("/s")))
    for unit, found in errors.items():
        ax = next(left)
        for name, error in found.items():
            curve(ax, t, np.abs(error), linewidth=1.3, label=name, **signals.coordinate(name))
        dress(ax, _ERRORS.get(unit, with_unit("tracking error", unit)))
        if _has_data(ax):
            above_rounding(ax, _ROUNDING * signals.span(unit))
    for unit, group in efforts.items():
        ax = next(left)
        _efforts(ax, run, group, motors, signals)
        dress(ax, with_unit("motor effort", unit))
        room_for_constants(ax, signals.force(unit))
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
    t, data, signals = run.time, run.data, SignalStyles(run)
    names, units = [str(n) for n in data["velocity"].values], column_units(run, "constraint_force")
    groups = _by_unit(names, units)
    rows = [str(n) for n in data["row"].values]
    multipliers = _by_unit(rows, column_units(run, "multipliers")) or {"N": []}
    figure, all_axes = panels(axes, len(groups) + len(multipliers), 2.1)
    left = iter(all_axes)
    for what, variable, order, found, style in (
        ("constraint force", "constraint_force", names, groups, signals.coordinate),
        ("multiplier", "multipliers", rows, multipliers, signals.row),
    ):
        for unit, group in found.items():
            ax = next(left)
            for name in group:
                values = data[variable].values[:, order.index(name)]
                curve(ax, t, values, linewidth=1.2, label=name, **style(name))
            dress(ax, with_unit(what, unit))
            room_for_constants(ax, signals.force(unit))
            if not group:
                _remark(ax, "no loops")
            elif variable == "multipliers":
                _keep_in_sight(ax, data[variable].values[data["conditioning"].values > _SINGULAR])
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
        For a run without reports, and for unknown quantities.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, simulate
    >>> from cmbcontrol.controllers import PassiveJoints, ProjectedInverseDynamics
    >>> plant = plants.slider_crank()
    >>> law = PassiveJoints(ProjectedInverseDynamics(plant, "q1", Constant(0.6), bandwidth=8.0))
    >>> run = simulate(plant, law, plant.assemble(q1=0.5), t_end=0.1, output_times=0.05)
    >>> [ax.get_ylabel() for ax in reports(run, "margin", ["lost", "rank"]).axes]
    ['margin', 'reported']
    """
    _check.run(run)
    if "report" not in run.data:
        raise InputError(f"the controller of this run, {run.data.attrs['controller']}, has no method report(...)")
    known = [str(n) for n in run.data["quantity"].values]
    groups = [[group] if isinstance(group, str) else list(group) for group in panels_of or known]
    for name in (name for group in groups for name in group):
        if name not in known:
            raise InputError(_check.unknown(name, known, "quantity"))
    figure, all_axes = panels(axes, len(groups))
    for ax, group in zip(all_axes, groups, strict=True):
        for name, style in zip(group, styles(len(group)), strict=True):
            curve(ax, run.time, run.data["report"].sel(quantity=name).values, linewidth=1.3, label=name, **style)
        dress(ax, _short(group[0]) if len(group) == 1 else "reported")
        room_for_constants(ax, 1.0)
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
    t, data, signals = run.time, run.data, SignalStyles(run)
    figure, all_axes = panels(axes, 4)
    opening, balance, energy, conditioning = all_axes
    for k, name in enumerate(str(n) for n in data["loop"].values):
        curve(opening, t, data["drift"].values[:, k], linewidth=1.0, label=name, **signals.loop(name))
    if not data.sizes["loop"]:
        _remark(opening, "no loops")
    curve(balance, t, np.abs(data["energy_balance"].values), color=INK, linewidth=1.0, label="energy - work")
    for name, style in zip(("kinetic", "potential"), styles(2), strict=True):
        curve(energy, t, data[name].values, linewidth=1.3, label=name, **style)
    curve(energy, t, data["energy"].values, color=INK, linewidth=1.3, linestyle="--", label="total")
    if not np.isfinite(data["energy"].values).any():
        for ax in (balance, energy):
            _remark(ax, "no potential energy is known")
    curve(conditioning, t, _positive(data["conditioning"].values), color=INK, linewidth=1.2)
    passed = np.isfinite(data["event_conditioning"].values)  # changes of the loops have none
    at, least = (data[name].values[passed] for name in ("event_time", "event_conditioning"))
    least = np.maximum(least, 1e-12)
    if at.size:
        conditioning.plot(at, least, "v", color=COLORS[1], markersize=5, label="least on the way", clip_on=False)
    dress(opening, "loop opening (m)")
    dress(balance, "energy error (J)")
    dress(energy, "energy (J)")
    scale = _energy_scale(run)
    for ax, floor in ((opening, _ROUNDING * signals.size), (balance, _ROUNDING * scale)):
        if _has_data(ax):
            above_rounding(ax, floor)
    room_for_constants(energy, scale)
    lowest = np.nanmin([*data["conditioning"].values, *least], initial=1.0)
    dress(conditioning, "conditioning (1)", log=_has_data(conditioning) and lowest < 0.1)
    if lowest >= 0.1:
        conditioning.set_ylim(0.0, 1.05)
    _finish(run, all_axes)
    return figure


# -- parts -----------------------------------------------------------------------------------------


def _positions(ax: Axes, run: Simulation, group: list[str], tracked: list[str], signals: SignalStyles) -> None:
    """Draw the positions of one unit, with references dashed on top."""
    data, t = run.data, run.time
    names = [str(n) for n in data["position"].values]
    order = [n for n in group if n in tracked] + [n for n in group if n not in tracked]
    for name in order:
        main = name in tracked or not tracked
        values = data["q"].values[:, names.index(name)]
        curve(ax, t, values, linewidth=1.7 if main else 0.8, label=name, **signals.coordinate(name))
    label = "reference"
    for name in order:
        if name in tracked:
            values = data["reference"].sel(controlled=name).values
            curve(ax, t, values, color=INK, linewidth=0.9, dashes=(4, 3), label=label)
            label = "_reference"


def _efforts(ax: Axes, run: Simulation, group: list[str], motors: list[str], signals: SignalStyles) -> None:
    """Draw efforts, with limits as dotted lines if they are in range; in the colour of the motor if it is its own."""
    limits, units = effort_limits(run), column_units(run, "u")
    largest = float(np.nanmax(np.abs(run.data["u"].values), initial=0.0))
    lines: dict[float, str] = {}
    for name in group:
        k, style = motors.index(name), signals.motor(name)
        limit = float(limits[k])
        text = name if np.isinf(limit) else f"{name} (limit {in_unit(limit, units[k])})"
        curve(ax, run.time, run.data["u"].values[:, k], linewidth=1.3, label=text, **style)
        if limit <= 2.0 * largest:
            lines[limit] = style["color"] if limit not in lines else INK
    for limit, color in lines.items():
        for y in (-limit, limit):
            ax.axhline(y, color=color, linewidth=1.0, linestyle=":")


def _finish(run: Simulation, axes: list[Axes]) -> None:
    """Draw singular passages and other events with their names, the legends and the time axis."""
    kinds = ["singular passage" if str(kind) in _PASSAGES else str(kind) for kind in run.data["event_kind"].values]
    lines = {kind: _EVENT_LINES[i % len(_EVENT_LINES)] for i, kind in enumerate(dict.fromkeys(kinds))}
    for i, ax in enumerate(axes):
        last = [line for line in ax.lines if line.get_label() == "reference"]
        told = set()
        for x, what in zip(run.data["event_time"].values, kinds, strict=True):
            line = ax.axvline(x, color=FAINT, linewidth=0.8, linestyle=lines[what], zorder=0.5, label=f"_{what}")
            if what not in told and i == 0:
                told.add(what)
                line.set_label(what)
                last.append(line)
        beside(ax, last)
    time_axis(axes, run.time)


def _energy_scale(run: Simulation) -> float:
    """Largest sum of the energies and works in the energy balance, J; 1 where nothing moves or weighs."""
    parts = ("kinetic", "potential", "actuator_work", "dissipated_work", "load_work", "motion_work")
    total = sum(np.nan_to_num(np.abs(run.data[name].values)) for name in parts if name in run.data)
    return float(np.max(total, initial=0.0)) or 1.0


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


def _errors(run: Simulation, followed: list[str], units: dict[str, str]) -> dict[str, dict[str, np.ndarray]]:
    """Tracking errors by unit and name, as the controller computes them, or else of coordinates."""
    data = run.data
    if "error" in data:
        listed = column_units(run, "error")
        units = dict(zip(followed, listed, strict=True)) if len(listed) == len(followed) else units
    groups: dict[str, dict[str, np.ndarray]] = {}
    for name in followed:
        if "error" in data:
            error = data["error"].sel(controlled=name).values
        elif name in units:
            error = data["reference"].sel(controlled=name).values - data["q"].sel(position=name).values
        else:
            continue
        groups.setdefault(units.get(name, ""), {})[name] = error
    return groups


def _by_unit(names: Iterable[str], units: Iterable[str]) -> dict[str, list[str]]:
    """Names that share an axis, by unit."""
    groups: dict[str, list[str]] = {}
    for name, unit in zip(names, units, strict=True):
        groups.setdefault(unit, []).append(name)
    return groups

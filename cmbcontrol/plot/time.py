"""A run over time: joints and motors, constraint forces, and the errors that tell how accurate it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..sim.result import Simulation
from ..sim.units import column_units
from .style import COLORS, FAINT, INK, beside, dress, panels, styles, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy", "forces", "reports", "responses"]

Array = NDArray[np.float64]

_POSITIONS = {"rad": "joint angle (rad)", "m": "joint travel (m)", "1": "coordinate (1)"}
_ERRORS = {"rad": "tracking error (rad)", "m": "tracking error (m)", "1": "tracking error (1)"}
_SINGULAR = 0.03  # conditioning below which multipliers may leave the panel

_PASSAGES = ("singular passage", "singular start", "near-singular passage")  # kinds of events


def responses(run: Simulation, *, axes: Any = None) -> Figure:
    """Joint positions with their references, the tracking error, and motor efforts with their limits.

    Parameters
    ----------
    run : Simulation
    axes : sequence of matplotlib axes, optional
        One for each panel: positions by unit, tracking errors by unit (if there is a reference),
        efforts by unit (if motors are on). A new figure unless given.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Where only some coordinates are controlled, the others are drawn thin. Vertical lines are singular passages and
    other events, under their names.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, [-20.0, 20.0], plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> [ax.get_ylabel() for ax in responses(run).axes]
    ['joint angle (rad)', 'motor effort (N m)']
    """
    _check.run(run)
    t, data = run.time, run.data
    names, units = [str(n) for n in data["position"].values], column_units(run, "q")
    followed = [str(n) for n in data["controlled"].values] if "reference" in data else []
    tracked = [n for n in followed if n in names]
    positions = _by_unit(names, units)
    errors = _errors(run, followed, dict(zip(names, units, strict=True)))
    motors = [str(n) for n in data["actuator"].values]
    driven = motors if data.attrs["controller"] != "none" else []
    efforts = _by_unit(driven, column_units(run, "u")[: len(driven)])
    figure, all_axes = panels(axes, len(positions) + len(errors) + len(efforts))
    left = iter(all_axes)
    for unit, group in positions.items():
        ax = next(left)
        _positions(ax, run, group, tracked)
        dress(ax, _POSITIONS.get(unit, f"coordinate ({unit})"))
    for unit, group in errors.items():
        ax = next(left)
        for (name, error), style in zip(group.items(), styles(len(group)), strict=True):
            ax.plot(t, _positive(np.abs(error)), linewidth=1.3, label=name, **style)
        dress(ax, _ERRORS.get(unit, f"tracking error ({unit})"), log=_has_data(ax))
    for unit, group in efforts.items():
        ax = next(left)
        _efforts(ax, run, group, motors)
        dress(ax, with_unit("motor effort", unit))
    _finish(run, all_axes)
    return figure


def forces(run: Simulation, *, axes: Any = None) -> Figure:
    """The constraint force A' lam by coordinate, and the smallest multipliers by row.

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
    t, data = run.time, run.data
    names, units = [str(n) for n in data["velocity"].values], column_units(run, "constraint_force")
    groups = _by_unit(names, units)
    rows = [str(n) for n in data["row"].values]
    multipliers = _by_unit(rows, column_units(run, "multipliers")) or {"N": []}
    figure, all_axes = panels(axes, len(groups) + len(multipliers), 2.1)
    left = iter(all_axes)
    for what, variable, order, found in (
        ("constraint force", "constraint_force", names, groups),
        ("multiplier", "multipliers", rows, multipliers),
    ):
        for unit, group in found.items():
            ax = next(left)
            for name, style in zip(group, styles(len(group)), strict=True):
                ax.plot(t, data[variable].values[:, order.index(name)], linewidth=1.2, label=name, **style)
            dress(ax, with_unit(what, unit))
            if not group:
                _remark(ax, "no loops")
            elif variable == "multipliers":
                _keep_in_sight(ax, data[variable].values[data["conditioning"].values > _SINGULAR])
    _finish(run, all_axes)
    return figure


def reports(run: Simulation, *panels_of: str | Sequence[str], axes: Any = None) -> Figure:
    """What the controller reported over the run: margins, force errors, what was cut off, a status.

    Parameters
    ----------
    run : Simulation
        Of a controller that reports; see ``run.report``.
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
            ax.plot(run.time, run.data["report"].sel(quantity=name).values, linewidth=1.3, label=name, **style)
        dress(ax, group[0] if len(group) == 1 else "reported")
    _finish(run, all_axes)
    return figure


def accuracy(run: Simulation, *, axes: Any = None) -> Figure:
    """How far the loops are open, the energy balance, the energies, and the distance from singular configurations.

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
    t, data = run.time, run.data
    figure, all_axes = panels(axes, 4)
    opening, balance, energy, conditioning = all_axes
    loops = [str(n) for n in data["loop"].values]
    for k, (name, style) in enumerate(zip(loops, styles(len(loops)), strict=True)):
        opening.plot(t, _positive(data["drift"].values[:, k]), linewidth=1.0, label=name, **style)
    if not loops:
        _remark(opening, "no loops")
    balance.plot(t, _positive(np.abs(data["energy_balance"].values)), color=INK, linewidth=1.0, label="energy - work")
    for name, style in zip(("kinetic", "potential"), styles(2), strict=True):
        energy.plot(t, data[name].values, linewidth=1.3, label=name, **style)
    energy.plot(t, data["energy"].values, color=INK, linewidth=1.3, linestyle="--", label="total")
    if not np.isfinite(data["energy"].values).any():
        for ax in (balance, energy):
            _remark(ax, "the plant has no potential energy given")
    conditioning.plot(t, _positive(data["conditioning"].values), color=INK, linewidth=1.2)
    passed = np.isfinite(data["event_conditioning"].values)  # changes of the loops have none
    at, least = (data[name].values[passed] for name in ("event_time", "event_conditioning"))
    least = np.maximum(least, 1e-12)
    if at.size:
        conditioning.plot(at, least, "v", color=COLORS[1], markersize=5, label="least on the way", clip_on=False)
    dress(opening, "loop opening (m)", log=_has_data(opening))
    dress(balance, "energy error (J)", log=_has_data(balance))
    dress(energy, "energy (J)")
    lowest = np.nanmin([*data["conditioning"].values, *least], initial=1.0)
    dress(conditioning, "conditioning (1)", log=_has_data(conditioning) and lowest < 0.1)
    if lowest >= 0.1:
        conditioning.set_ylim(0.0, 1.05)
    _finish(run, all_axes)
    return figure


# -- parts -----------------------------------------------------------------------------------------


def _positions(ax: Axes, run: Simulation, group: list[str], tracked: list[str]) -> None:
    """Curves of one unit; references dashed on top."""
    data, t = run.data, run.time
    names = [str(n) for n in data["position"].values]
    order = [n for n in group if n in tracked] + [n for n in group if n not in tracked]
    for name, style in zip(order, styles(len(order)), strict=True):
        main = name in tracked or not tracked
        ax.plot(t, data["q"].values[:, names.index(name)], linewidth=1.7 if main else 0.8, label=name, **style)
    label = "reference"
    for name in order:
        if name in tracked:
            values = data["reference"].sel(controlled=name).values
            ax.plot(t, values, color=INK, linewidth=0.9, dashes=(4, 3), label=label)
            label = "_reference"


def _efforts(ax: Axes, run: Simulation, group: list[str], motors: list[str]) -> None:
    """Efforts, with limits as dotted lines where they are in sight."""
    limits = run.plant.effort if run.plant is not None else np.full(len(motors), np.inf)
    largest = float(np.nanmax(np.abs(run.data["u"].values), initial=0.0))
    for name, style in zip(group, styles(len(group)), strict=True):
        k = motors.index(name)
        limit = float(limits[k])
        text = name if np.isinf(limit) else f"{name} (limit {limit:.4g})"
        ax.plot(run.time, run.data["u"].values[:, k], linewidth=1.3, label=text, **style)
        if limit <= 2.0 * largest:
            for y in (-limit, limit):
                ax.axhline(y, color=style["color"], linewidth=1.0, linestyle=":")


def _finish(run: Simulation, axes: list[Axes]) -> None:
    """Singular passages and other events, by name, legends, the time axis."""
    for i, ax in enumerate(axes):
        last = [line for line in ax.lines if line.get_label() == "reference"]
        told = set()
        for x, kind in zip(run.data["event_time"].values, run.data["event_kind"].values, strict=True):
            what = "singular passage" if str(kind) in _PASSAGES else str(kind)
            line = ax.axvline(x, color=FAINT, linewidth=0.8, zorder=0.5, label=f"_{what}")
            if what not in told and i == 0:
                told.add(what)
                line.set_label(what)
                last.append(line)
        beside(ax, last)
    time_axis(axes, run.time)


def _keep_in_sight(ax: Axes, values: Array) -> None:
    """Limits for what is regular: at singular configurations multipliers have none."""
    low, high = ax.get_ylim()
    least, most = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    room = 0.08 * (most - least)
    if room > 0.0 and high - low > 3.0 * (most - least):
        ax.set_ylim(least - room, most + room)


def _remark(ax: Axes, text: str) -> None:
    """Words in place of curves."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", fontsize=8.0, color=INK)


def _positive(x: Array) -> Array:
    """For a logarithmic axis: gaps where x is zero."""
    return np.where(x > 0.0, x, np.nan)


def _has_data(ax: Axes) -> bool:
    """Whether anything is left to draw; a logarithmic axis needs it."""
    return any(np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any() for line in ax.lines)


def _errors(run: Simulation, followed: list[str], units: dict[str, str]) -> dict[str, dict[str, np.ndarray]]:
    """Tracking errors by unit and name, as the controller sees them, or else of coordinates."""
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


def with_unit(what: str, unit: str) -> str:
    """A label; plants of functions have efforts of units that they do not tell."""
    return f"{what} ({unit})" if unit else what


def _by_unit(names: Iterable[str], units: Iterable[str]) -> dict[str, list[str]]:
    """Names that share an axis."""
    groups: dict[str, list[str]] = {}
    for name, unit in zip(names, units, strict=True):
        groups.setdefault(unit, []).append(name)
    return groups

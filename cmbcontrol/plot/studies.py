"""Plots of a study: distributions, scatter of measures over parameters, sensitivities, fronts, envelopes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import CONSTANT
from ..errors import InputError
from ..model.units import in_unit
from ..sim.panels import Scales
from ..sim.result import Simulation
from ..sim.units import column_units
from ..studies.study import Study
from . import style
from .figure import is_narrow, new_figure

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["distribution", "envelope", "figures_of", "pareto", "scatter", "tornado"]

Array = NDArray[np.float64]

_FAR = 1.5  # widths of the histogram: a limit that is farther would squeeze it
_ACROSS, _NARROW = 4, 2  # panels of a scatter side by side, and on a phone
_LETTERS, _FEWER = 26, 16  # of a label below such a panel in one line, and on a phone
_DOTS = 5000  # of a figure; more are drawn as an image, in place of as many elements of SVG or PDF


def _unit(data: xarray.Dataset, name: str) -> str:
    unit = str(data[name].attrs.get("units", ""))
    return "" if unit == "1" else unit


def _in_lines(text: str, letters: int) -> str:
    """Text in lines of so many letters at most, which end at words and behind underscores where they can."""
    lines = textwrap.wrap(text.replace("_", "_ "), letters, break_on_hyphens=False)
    return "\n".join(line.replace("_ ", "_") for line in lines)


def _values(found: Study, name: str) -> Array:
    """Numeric column of the rows of a study."""
    _check.instance(found, Study, "found", "from study")
    known = [*found.parameters, *found.measures]
    values = found.data[_check.one_of(name, known, "parameter or measure")].values
    if values.dtype.kind != "f":
        raise InputError(f"{name!r} is no number, and cannot be drawn on an axis")
    return values


def _table(indices: Any) -> xarray.Dataset:
    import xarray

    return _check.instance(indices, xarray.Dataset, "indices", "from Study.sensitivities or sobol_indices")


def figures_of(found: Study, limits: Mapping[str, Any], most: int | None = None) -> Iterator[tuple[str, str, str, Any]]:
    """Figures that show a study: heading, name, caption, and a function that makes it.

    They are the distribution of each measure, what it depends on if there are more runs than slopes, and all measures
    over all parameters, or the first of both (`most`).
    """
    finite = {name: int(np.isfinite(found.data[name].values).sum()) for name in found.measures}
    shown, varied = [name for name in finite if finite[name] > 1], _varied(found)
    for name in shown:
        low, high = (x if np.isfinite(x) else None for x in limits.get(name, (np.nan, np.nan)))
        yield name, name, f"Distribution of {name}", partial(distribution, found, name, low=low, high=high)
        if varied and finite[name] > len(varied) + 2:
            told = f"What {name} depends on, by linear regression"
            yield name, f"{name}-sensitivities", told, lambda name=name: tornado(found.sensitivities(name))
    if shown and varied:
        told = "Measures over parameters" + (", the first" if max(len(shown), len(varied)) > (most or np.inf) else "")
        yield "All against all", "scatter", told, partial(scatter, found, shown[:most], parameters=varied[:most])


def _varied(found: Study) -> list[str]:
    """Parameters that are numbers and vary."""
    return [n for n in found.parameters if found.data[n].dtype.kind == "f" and np.ptp(found.data[n].values) > 0.0]


def _one(axes: Any, width: float, height: float) -> tuple[Figure, Axes]:
    """Figure with one panel, or the axes that are given."""
    if axes is None:
        figure = new_figure(width, height)
        return figure, figure.subplots()
    return axes.figure, axes


def distribution(
    found: Study, measure: str, *, low: float | None = None, high: float | None = None, axes: Any = None
) -> Figure:
    """Plot the histogram of a measure over the completed runs, its cumulative share, and limits.

    Parameters
    ----------
    found : Study
    measure : str
    low, high : float, optional
        Limits; the share of all runs within them is written. Limits far from all values are outside the plot.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol.studies import study
    >>> found = study(lambda x: {"y": x**2}, {"x": (0.0, 1.0)}, runs=50)
    >>> distribution(found, "y").axes[0].get_xlabel()
    'y'
    """
    from matplotlib.ticker import MaxNLocator

    values = _values(found, measure)
    values = values[np.isfinite(values)]
    if not values.size:
        raise InputError(f"no run has a value of {measure!r}")
    figure, ax = _one(axes, 5.6, 3.4)
    same = bool(np.ptp(values) <= CONSTANT * np.abs(values).max())
    around = tuple(values[0] + np.array([-0.1, 0.1]) * abs(values[0])) if same and values[0] else None  # else 0.5 each
    bins = "auto" if values.size > 20 and not same else 10
    ax.hist(values, bins=bins, range=around, color=style.COLORS[5], edgecolor="white", linewidth=0.5)
    style.dress(ax, "runs")
    share = ax.twinx()
    ordered = np.sort(values)
    share.step(
        ordered, np.arange(1, ordered.size + 1) / ordered.size, color=style.COLORS[0], linewidth=1.3, where="post"
    )
    share.set_ylim(0.0, 1.02)
    share.set_ylabel("cumulative share", fontsize=style.LABEL, color=style.COLORS[0])
    share.tick_params(labelsize=style.TICK, colors=style.COLORS[0], length=3, width=0.6)
    for side in ("top", "left"):
        share.spines[side].set_visible(False)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    left, right = ax.get_xlim()
    for limit in (low, high):
        if limit is not None and abs(_check.number(limit, "a limit") - 0.5 * (left + right)) < _FAR * (right - left):
            ax.axvline(limit, color=style.COLORS[1], linewidth=1.2, linestyle="--")
    unit, factor = style.in_unit_of_its_size(ax.xaxis, measure, _unit(found.data, measure))
    if values.size > 1 and same:
        told = f"the same in all {values.size} runs: {in_unit(values[0] / factor, unit)}"
        ax.set_title(told, fontsize=style.LABEL, color=style.INK)
    if low is not None or high is not None:
        bounds = (-np.inf if low is None else low), (np.inf if high is None else high)
        inside = found.share((measure, *bounds))
        least, most = (None if x is None else f"{x / factor:g}" for x in (low, high))
        between = f"above {least}" if most is None else f"below {most}" if least is None else f"in {least} to {most}"
        between = f"{between} {unit}".strip()
        ax.set_title(
            f"{100 * float(inside.share):.1f} % of {inside.attrs['runs']} runs {between}\n"
            f"(95 % confidence: {100 * float(inside.low):.1f} to {100 * float(inside.high):.1f} %)",
            fontsize=style.LABEL,
            color=style.INK,
        )
    return figure


def scatter(
    found: Study,
    measures: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    *,
    color: str | None = None,
) -> Figure:
    """Plot measures over parameters, a panel for each pair; runs that failed are marked at the bottom.

    Parameters
    ----------
    found : Study
    measures, parameters : sequence of str, optional
        Default to all that are numbers and vary.
    color : str, optional
        A parameter or measure that is shown by colour.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol.studies import study
    >>> found = study(lambda a, b: {"y": a * b, "z": a - b}, {"a": (0.0, 1.0), "b": (0.0, 1.0)}, runs=20)
    >>> len(scatter(found).axes)
    4
    """
    from .ticks import FittingTicks

    _check.instance(found, Study, "found", "from study")
    rows = _check.names(found.measures if measures is None else measures, "measures", found.measures, "measure")
    columns = _varied(found) if parameters is None else parameters
    columns = _check.names(columns, "parameters", found.parameters, "parameter")
    if not rows or not columns:
        raise InputError("there is nothing to draw: no measure, or no numeric parameter that varies")
    across = min(len(columns), _NARROW if is_narrow() else _ACROSS)  # more parameters go on below
    below = -(-len(columns) // across)
    figure = new_figure(1.2 + 2.0 * across, 0.7 + (1.6 if below == 1 else 1.9) * below * len(rows))
    panels = figure.subplots(below * len(rows), across, squeeze=False, sharex="col" if below == 1 else False)
    shade = None if color is None else _values(found, color)
    failed = found.data["status"].values != "completed"
    drawn = None
    for i, measure in enumerate(rows):
        y = _values(found, measure)
        for j, parameter in enumerate(columns):
            ax, x = panels[i * below + j // across, j % across], _values(found, parameter)
            if j:
                ax.sharey(panels[i * below, 0])
            style.dress(ax, "")
            ax.tick_params(labelleft=j % across == 0)
            kind = {"color": style.COLORS[0]} if shade is None else {"c": shade, "cmap": "viridis"}
            many = x.size * len(rows) * len(columns) > _DOTS
            drawn = ax.scatter(x, y, s=7.0, alpha=0.75, linewidths=0.0, rasterized=many, **kind)
            if failed.any():
                place = {"transform": ax.get_xaxis_transform(), "clip_on": False}
                ends = x[failed]
                ax.plot(ends, np.zeros(ends.size), "x", color=style.COLORS[1], ms=4.0, **place)
            ax.xaxis.set_major_locator(FittingTicks(inside=True))
            style.in_unit_of_its_size(ax.xaxis, parameter, _unit(found.data, parameter))
            text = _in_lines(ax.get_xlabel(), _FEWER if is_narrow() else _LETTERS)
            ax.set_xlabel(text if below > 1 or i == len(rows) - 1 else "", fontsize=style.TICK, color=style.INK)
        for k, ax in enumerate(panels[i * below : (i + 1) * below].ravel()):  # one axis, whose limits are set by now
            style.in_unit_of_its_size(ax.yaxis, measure, _unit(found.data, measure))
            ax.set_ylabel(ax.get_ylabel() if k % across == 0 else "")
    for ax in panels.ravel():
        if not ax.has_data():
            ax.set_visible(False)
    if failed.any():
        count = int(np.count_nonzero(failed))
        told = f"x at the bottom: {count} run{'s' if count > 1 else ''} that failed"
        figure.suptitle(told, fontsize=style.TICK, color=style.COLORS[1])
    if shade is not None:
        bar = figure.colorbar(drawn, ax=panels, shrink=0.8)
        style.in_unit_of_its_size(bar.ax.yaxis, str(color), _unit(found.data, str(color)))
        bar.ax.tick_params(labelsize=style.TICK)
    return figure


def tornado(indices: xarray.Dataset, *, axes: Any = None) -> Figure:
    """Plot the sensitivities of a measure, the largest on top.

    Parameters
    ----------
    indices : xarray.Dataset
        Result of `Study.sensitivities` (standardized slopes) or `sobol_indices` (first-order and total, with
        intervals).
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol.studies import study
    >>> found = study(lambda a, b: {"y": 3 * a - b}, {"a": (0.0, 1.0), "b": (0.0, 1.0)}, runs=20)
    >>> [t.get_text() for t in tornado(found.sensitivities("y")).axes[0].get_yticklabels()]
    ['b', 'a']
    """
    by_variance = "total" in _table(indices)
    if not by_variance and "standardized" not in indices:
        raise InputError("a tornado is drawn from Study.sensitivities(...) or from sobol_indices(...)")
    main = indices["total" if by_variance else "standardized"].values
    order = np.argsort(np.abs(main))
    names = [str(n) for n in indices["parameter"].values[order]]
    figure, ax = _one(axes, 5.6, 1.1 + 0.42 * len(names))
    place = np.arange(len(names), dtype=float)
    if by_variance:
        parts = (("total", 0.18, style.COLORS[5], "total"), ("first", -0.18, style.COLORS[0], "alone"))
        for name, shift, colour, label in parts:
            x = indices[name].values[order]
            ends = np.array([x - indices[f"{name}_low"].values[order], indices[f"{name}_high"].values[order] - x])
            ax.barh(
                place + shift,
                x,
                0.34,
                color=colour,
                label=label,
                xerr=np.maximum(ends, 0.0),
                ecolor=style.INK,
                error_kw={"linewidth": 0.8},
            )
        label = f"part of the variance of {indices.attrs['measure']}"
        style.beside(ax)
    else:
        ax.barh(place, main[order], 0.6, color=[style.COLORS[0] if x >= 0.0 else style.COLORS[1] for x in main[order]])
        label = f"standard deviations of {indices.attrs['measure']}\nper standard deviation of the parameter"
    style.dress(ax, "")
    ax.axvline(0.0, color=style.INK, linewidth=0.7)
    ax.set_yticks(place, [_in_lines(name, _FEWER if is_narrow() else 2 * _LETTERS) for name in names])
    if not np.any(main):
        middle: dict[str, Any] = {
            "transform": ax.transAxes,
            "ha": "center",
            "va": "center",
            "bbox": {"fc": "white", "ec": "none"},
        }
        ax.text(0.5, 0.5, "it does not vary with any of them", fontsize=style.LABEL, color=style.INK, **middle)
    ax.set_xlabel(label, fontsize=style.LABEL, color=style.INK, loc="right" if is_narrow() else "center")
    if by_variance:
        style.beside(ax)
    return figure


def pareto(found: Study, x: str, y: str, *, axes: Any = None) -> Figure:
    """Plot two measures that should both be small, with the runs that no other run beats in both.

    Parameters
    ----------
    found : Study
    x, y : str
        Measures.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol.studies import study
    >>> found = study(lambda a: {"y": a, "z": 1.0 / a}, {"a": (0.5, 2.0)}, runs=20)
    >>> [line.get_label() for line in pareto(found, "y", "z").axes[0].lines][-1]
    'Pareto front'
    """
    a, b = _values(found, x), _values(found, y)
    good = np.isfinite(a) & np.isfinite(b)
    if not good.any():
        raise InputError(f"no run has both {x!r} and {y!r}")
    a, b = a[good], b[good]
    order = np.lexsort((b, a))
    best = np.minimum.accumulate(b[order])
    front = order[np.concatenate([[True], b[order][1:] < best[:-1]])]
    figure, ax = _one(axes, 5.6, 3.6)
    ax.plot(a, b, ".", color=style.COLORS[5], markersize=4.5, label="run")
    ax.step(a[front], b[front], where="post", color=style.COLORS[0], linewidth=1.2)
    ax.plot(a[front], b[front], "o", color=style.COLORS[0], markersize=4.0, label="Pareto front")
    style.dress(ax, "")
    for axis, name in ((ax.xaxis, x), (ax.yaxis, y)):
        style.in_unit_of_its_size(axis, name, _unit(found.data, name))
    style.beside(ax)
    return figure


def envelope(runs: Sequence[Simulation], variable: str, name: str, *, share: float = 0.9, axes: Any = None) -> Figure:
    """Plot a signal of several runs over time: the middle, the range of a share of the runs, and of all.

    Parameters
    ----------
    runs : sequence of Simulation
        Such as ``[found.rerun(i) for i in found.worst("error", 20)]``; with the same output times.
    variable : str
        Variable of the data of the runs, such as ``"error"`` or ``"u"``.
    name : str
        Name of one of its columns: a joint, a motor.
    share : float
        Part of the runs that the inner band holds.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.pendulum()
    >>> runs = [simulate(plant, q0=plant.assemble(angle=a), t_end=0.2, output_times=0.05) for a in (0.1, 0.2, 0.3)]
    >>> envelope(runs, "q", "angle").axes[0].get_ylabel()
    'q angle (rad)'
    """
    listed = list(_check.sequence(runs, "runs", "runs"))
    if len(listed) < 2:
        raise InputError("an envelope is that of two runs or more")
    part = _check.positive(share, "share")
    if part > 1.0:
        raise InputError(f"share must be at most 1, got {part}")
    for run in listed:
        _check.run(run)
        _check.one_of(variable, [n for n, x in run.data.items() if x.ndim == 2], "variable of the runs")
    columns, times = [], listed[0].time
    for run in listed:
        values = run.data[variable]
        names = [str(n) for n in values[values.dims[1]].values]
        if len(run.time) != len(times) or not np.allclose(run.time, times):
            raise InputError("the runs have different output times: give simulate(output_times=) the same for all")
        columns.append(values.values[:, names.index(_check.one_of(name, names, f"column of {variable}"))])
    signals = np.array(columns)
    low, middle, high = np.quantile(signals, [0.5 - 0.5 * part, 0.5, 0.5 + 0.5 * part], axis=0)
    figure, ax = _one(axes, 7.2, 3.0)
    ax.fill_between(
        times,
        signals.min(axis=0),
        signals.max(axis=0),
        color=style.COLORS[5],
        alpha=0.25,
        linewidth=0.0,
        label=f"all {len(listed)} runs",
    )
    ax.fill_between(
        times, low, high, color=style.COLORS[0], alpha=0.30, linewidth=0.0, label=f"{100 * part:g} % of them"
    )
    style.curve(ax, times, middle, color=style.COLORS[0], linewidth=1.4, label="median")
    unit = column_units(listed[0], variable)[names.index(name)]
    style.dress(ax, "")
    style.room_for_constants(ax, Scales(listed[0]).of(unit))
    style.in_unit_of_its_size(ax.yaxis, f"{variable} {name}", "" if unit == "1" else unit)
    style.time_axis([ax], times)
    style.beside(ax)
    return figure

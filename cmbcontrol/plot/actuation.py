"""Plot of the actuation margin of a machine with passive joints over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..controllers.actuation import actuation_along
from ..errors import InputError, InputTypeError
from ..sim.result import Simulation
from .style import COLORS, INK, beside, curve, dress, panels, time_axis

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["actuation"]

Array = NDArray[np.float64]


def actuation(run: Simulation | xarray.Dataset, *, ax: Axes | None = None, **options: Any) -> Figure:
    """Plot the actuation margin over time, its threshold, and the places where control is lost.

    Parameters
    ----------
    run : Simulation or xarray.Dataset
        A run, or the result of `actuation_along` for it.
    ax : matplotlib axes, optional
        A new figure unless given.
    **options
        With a run: ``margin``, ``weight`` and ``epsilon`` of `actuation_along`.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Losses are triangles at the least margin, named after the joint that moves most in the motion that is lost.
    Stretches below the threshold are shaded.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.slider_crank()
    >>> run = simulate(plant, q0=[1.2, -2.4], v0=[1.0, -2.0], t_end=1.0)
    >>> actuation(run).axes[0].get_legend_handles_labels()[1]
    ['margin', 'threshold 0.01', 'q2 lost at 0.432 s']
    """
    data = _dataset(run, options)
    t = data["time"].values
    figure, (ax,) = panels(ax, 1, 2.2)
    curve(ax, *_curve(data), color=COLORS[0], linewidth=1.5, label="margin")
    threshold = float(data.attrs["threshold"])
    ax.axhline(threshold, color=INK, linewidth=0.9, dashes=(4, 3), label=f"threshold {threshold:.3g}")
    for k in range(data.sizes["loss"]):
        at, begin, end, least = (float(data[f"loss_{key}"][k]) for key in ("time", "begin", "end", "margin"))
        ax.axvspan(begin, end, color=COLORS[1], alpha=0.15, linewidth=0.0)
        label = f"{data['loss_joint'].values[k]} lost at {at:.3g} s"
        ax.plot(at, least, "^", color=COLORS[1], markersize=6, clip_on=False, zorder=3, label=label)
    dress(ax, "actuation margin (1)")
    ax.set_ylim(0.0, 1.08 * max(float(np.nanmax(data["margin"].values, initial=0.0)), 2.0 * threshold))
    beside(ax)
    time_axis([ax], t)
    return figure


def _dataset(run: Any, options: dict[str, Any]) -> xarray.Dataset:
    """Actuation margin along a run: as given, or computed now."""
    if isinstance(run, Simulation):
        if run.plant is None:
            raise InputError(
                "this run was loaded from a file and has no plant; give what "
                "controllers.actuation_along(plant, run) returns"
            )
        return actuation_along(run.plant, run, **options)
    if not {"margin", "loss_time"} <= set(getattr(run, "data_vars", ())):
        raise InputTypeError(f"actuation draws a run, or what actuation_along returns, got {type(run).__name__}")
    if options:
        raise InputTypeError(f"{', '.join(options)} belong to a run; this data set was computed with its own")
    return run


def _curve(data: xarray.Dataset) -> tuple[Array, Array]:
    """Curve of the margin over time, with the least values between the times, and with jumps as vertical lines."""
    t, m = data["time"].values, data["margin"].values
    points = [(x, 1, y) for x, y in zip(t, m, strict=True)]
    for at, begin, end, least in zip(
        *(data[f"loss_{key}"].values for key in ("time", "begin", "end", "margin")), strict=True
    ):
        points.append((at, 1, least))
        if begin == end:
            points += [(at, side, float(np.interp(at, t, m))) for side in (0, 2)]
    points.sort(key=lambda point: point[:2])
    return np.array([p[0] for p in points]), np.array([p[2] for p in points])

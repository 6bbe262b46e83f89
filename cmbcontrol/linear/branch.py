"""Continuation along the branch through the base point of a chart, to configurations on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, ParametrizationError
from .chart import Chart, ChartPoint

__all__ = ["follow"]

Array = NDArray[np.float64]

_SHORTEST = 1e-4  # step along the way to a configuration, as a fraction of the way
_STRAIGHT = 0.3  # how far a step may bend away from its tangent, relative to its length
_ROUNDING = 1e-9  # of that, in radians or sizes of the machine


def follow(chart: Chart, y: Array) -> ChartPoint:
    """Point at y0 + y on the branch through the base point of the chart.

    Newton's method, in one step where the branch is straight enough, in several along the line where it is not. The
    result depends on y alone.

    Raises
    ------
    AssemblyError
        Where the branch ends before y.
    """
    length = chart.plant.displacement_scale
    # at most about a radian at once
    longest = min(1.0, 1.0 / max(float(np.abs(chart.base.T @ y / length).max(initial=0.0)), 1e-300))
    near, done, step = chart.base, 0.0, longest
    while done < 1.0:
        step = min(step, 1.0 - done)
        last = step == 1.0 - done
        try:
            point = chart.solve(chart.y0 + (1.0 if last else done + step) * y, near)
            ahead = near.T @ (point.y - near.y) / length
            bend = chart.plant.difference(near.q, point.q) / length - ahead
            accepted = np.abs(bend).max(initial=0.0) <= _STRAIGHT * np.abs(ahead).max(initial=0.0) + _ROUNDING
        except ParametrizationError:
            accepted = False
        if accepted:
            near, done, step = point, 1.0 if last else done + step, min(2.0 * step, longest)
        elif step > _SHORTEST:
            step *= 0.5
        else:
            raise _end_of_branch(chart, y, done, near)
    return near


def _end_of_branch(chart: Chart, y: Array, done: float, last: ChartPoint) -> AssemblyError:
    deviations = ", ".join(f"{n} {x:+.6g}" for n, x in zip(chart.names, y, strict=True))
    return AssemblyError(
        f"{chart.plant.name!r} cannot be brought to the deviations {deviations} on the branch of its operating point: "
        f"this ends {100.0 * done:.3g} % of the way, at q = {np.round(last.q, 6).tolist()}, where these coordinates no "
        f"longer determine the motion (conditioning {last.conditioning:.2g}, {chart.base.conditioning:.2g} at the "
        "operating point). Take smaller deviations, choose other coordinates, or an operating point on the other side.",
        chart.plant.loop_residuals(last.q),
        last.q,
    )

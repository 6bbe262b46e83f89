"""Choice of the samples of a run that a page shows, and of its playing speed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["chosen", "rows_of_curves", "rows_of_motion", "speed_of"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_RATE = 60.0  # pictures a second on the screen
_SHORTEST, _LONGEST = 1.0, 60.0  # s of playing: shorter runs are slowed down, longer ones go faster
_SLOWED = 2.0  # s that a run takes that is slowed down
_MOST_ROWS = 3600  # of a motion: a minute of pictures
_BYTES = 1.2e6  # of a motion, and of curves, before they are deflated: with both, a page stays near 2 MB
_CURVE = 2000  # samples of a curve: what a wide screen can show
_LEAST = 200  # samples, whatever the number of bodies and signals


def speed_of(span: float) -> float:
    """Seconds of a run for one second on the screen: 1, or 1, 2, 5 times a power of ten for short and long runs.

    Examples
    --------
    >>> speed_of(10.0), speed_of(0.02), speed_of(3600.0)
    (1.0, 0.01, 100.0)
    """
    if span <= 0.0 or _SHORTEST <= span <= _LONGEST:
        return 1.0
    wanted = span / _SLOWED if span < _SHORTEST else span / _LONGEST
    power = 10.0 ** math.floor(math.log10(wanted))
    steps = [float(f"{m * power:.0e}") for m in (1, 2, 5, 10)]
    if span < _SHORTEST:
        return max(s for s in steps if s <= wanted * (1.0 + 1e-9))
    return min(s for s in steps if s >= wanted * (1.0 - 1e-9))


def rows_of_motion(times: Array, bodies: int, events: Array) -> Rows:
    """Indices of the samples for pictures: at most 60 for a second on the screen, and those beside events."""
    span = float(times[-1] - times[0])
    wanted = _RATE * span / speed_of(span)
    bound = max(_BYTES / (14.0 * max(bodies, 1)), _LEAST)  # 7 numbers of a pose with 2 bytes each
    return chosen(times, int(min(wanted + 1.0, _MOST_ROWS, bound)), events)


def rows_of_curves(times: Array, signals: int, events: Array) -> Rows:
    """Indices of the samples for points of curves, and of those beside events."""
    bound = max(_BYTES / (4.0 * max(signals, 1)), _LEAST)
    return chosen(times, int(min(_CURVE, bound)), events)


def chosen(times: Array, most: int, events: Array) -> Rows:
    """Indices of about `most` samples, evenly spread over time, with the last before and the first after events.

    Examples
    --------
    >>> chosen(np.linspace(0.0, 1.0, 101), 3, np.array([0.204])).tolist()
    [0, 20, 21, 50, 100]
    """
    last = len(times) - 1
    if last < most:
        return np.arange(last + 1)
    grid = np.linspace(times[0], times[-1], max(most, 2))
    right = np.clip(np.searchsorted(times, grid), 1, last)
    near = right - (grid - times[right - 1] < times[right] - grid)
    beside = np.clip(np.searchsorted(times, events, side="right")[: most // 2], 1, last)  # a run may chatter
    return np.unique(np.concatenate([[0], near, beside - 1, beside, [last]]))

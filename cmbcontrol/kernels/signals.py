"""Plain signals that laws compute at every call: a scale within limits, a sine."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, where_less

__all__ = ["largest_scale", "sine"]


@kernel
def largest_scale(hold, more, limits):
    """Largest s in [0, 1] with |hold + s more| <= limits; 0 where there is none."""
    first, last = 0.0, 1.0
    for i in range(hold.size):
        size = abs(more[i])
        way = where_less(0.0, size, more[i], 1.0)
        a, b = (-limits[i] - hold[i]) / way, (limits[i] - hold[i]) / way
        still = where_less(limits[i], abs(hold[i]), np.inf, 0.0)  # where nothing changes, any s will do, or none
        first = np.maximum(first, where_less(0.0, size, np.minimum(a, b), still))
        last = np.minimum(last, where_less(0.0, size, np.maximum(a, b), 1.0))
    return where_less(last, first, 0.0, last)


@kernel(allocates=True)
def sine(t, centre, amplitude, frequency, phase):
    """Position, velocity and acceleration, the rows of (3, k), of centre + amplitude sin(2 pi frequency t + phase)."""
    out = np.empty((3, centre.size))
    for i in range(centre.size):
        w = 2.0 * np.pi * frequency[i]
        angle = w * t + phase[i]
        out[0, i] = centre[i] + amplitude[i] * np.sin(angle)
        out[1, i] = w * amplitude[i] * np.cos(angle)
        out[2, i] = -w * w * amplitude[i] * np.sin(angle)
    return out

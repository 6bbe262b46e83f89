"""What laws compute of plain signals at every call: a scale within limits, a sine."""

from __future__ import annotations

import numpy as np

from .._jit import kernel

__all__ = ["largest_scale", "sine"]


@kernel
def largest_scale(hold, more, limits):
    """The largest s in [0, 1] with |hold + s more| <= limits; 0 where there is none."""
    first, last = 0.0, 1.0
    for i in range(hold.size):
        if more[i] != 0.0:
            low, high = (-limits[i] - hold[i]) / more[i], (limits[i] - hold[i]) / more[i]
            first, last = max(first, min(low, high)), min(last, max(low, high))
        elif abs(hold[i]) > limits[i]:
            return 0.0
    return last if first <= last else 0.0


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

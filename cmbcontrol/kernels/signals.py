"""Plain signals that references compute at every call."""

from __future__ import annotations

import numpy as np

from .._jit import kernel

__all__ = ["sine"]


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

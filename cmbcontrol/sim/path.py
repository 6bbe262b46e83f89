"""State between the ends of a step: dense coefficients, and the path that they describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..kernels import runge_kutta

__all__ = ["NODES", "coefficients", "path"]

Array = NDArray[np.float64]

# Where a path within a step is read off for its dense coefficients, as fractions of the step; the last is its end.
NODES = 0.5 * (1.0 - np.cos(np.pi * np.arange(1, 8) / 7.0))


def path(T: Array, F: Array, X: Array) -> Callable[[float], Array]:
    """Function of the state between the steps to T (n+1,), X (n+1, nx), from the dense coefficients F (n, 7, nx)."""

    def state(t: float) -> Array:
        j = min(max(int(np.searchsorted(T, t)) - 1, 0), len(F) - 1)
        y = np.empty(X.shape[1])
        runge_kutta.interpolate(X[j], F[j], (t - T[j]) / (T[j + 1] - T[j]), y)
        return y

    return state


def coefficients(x0: Array, values: Sequence[Array]) -> Array:
    """Dense coefficients F (7, nx) of a path from x0 through its values at `NODES`."""
    return np.linalg.solve(_basis(), np.array(values) - x0)


@cache
def _basis() -> Array:
    """Value of `interpolate` at `NODES` for each unit coefficient, shape (7, 7)."""
    out, basis = np.empty(7), np.empty((7, 7))
    for i, s in enumerate(NODES):
        runge_kutta.interpolate(np.zeros(7), np.eye(7), s, out)
        basis[i] = out
    return basis

"""Central differences of order 8, for functions without analytic derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["ORDER_8", "jacobian", "slope"]

Array = NDArray[np.float64]

ORDER_8 = ((1, 0.8), (2, -0.2), (3, 4.0 / 105.0), (4, -1.0 / 280.0))  # multiples of the step, and their weights


def slope(function: Callable[[float], Array], step: float) -> Array:
    """Derivative of a function of one number at zero.

    Examples
    --------
    >>> slope(np.sin, 1e-2)
    np.float64(1.0)
    """
    return sum(w / step * (function(k * step) - function(-k * step)) for k, w in ORDER_8)


def jacobian(function: Callable[[Array], Array], steps: Array) -> Array:
    """Jacobian (rows, n) of a function of n numbers at zero, with a step for each.

    Examples
    --------
    >>> jacobian(lambda x: np.array([x[0] * x[1] + x[0]]), np.array([0.1, 0.1])).round(12)
    array([[1., 0.]])
    """
    axes = np.eye(steps.size)
    return np.stack([slope(lambda s, e=e: function(s * e), step) for e, step in zip(axes, steps, strict=True)], axis=1)

"""Runge-Kutta methods as tableaux; the coefficients of DOP853 are scipy's (Hairer, Norsett, Wanner)."""

from __future__ import annotations

from functools import cache

import numpy as np

from .. import _check
from ..kernels.stepping import Tableau

__all__ = ["METHODS", "tableau"]

METHODS = ("dop853", "rk4")


@cache
def tableau(method: str) -> Tableau:
    """Coefficients of a method by name.

    ``"dop853"``: order 8 with error estimates of order 5 and 3, dense output of order 7.
    ``"rk4"``: the classical method of order 4 with a fixed step, cubic Hermite output.
    """
    _check.one_of(method, METHODS, "method")
    if method == "rk4":
        A = np.array([[0.0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]])
        empty = np.zeros((0, 0))
        return Tableau(
            A, np.array([1, 2, 2, 1]) / 6.0, np.array([0, 0.5, 0.5, 1.0]), *[np.zeros(0)] * 2, empty, np.zeros(0), empty
        )
    from scipy.integrate import DOP853

    parts = (
        DOP853.A[:12, :12],
        DOP853.B,
        DOP853.C[:12],
        DOP853.E3,
        DOP853.E5,
        DOP853.A_EXTRA,
        DOP853.C_EXTRA,
        DOP853.D,
    )
    return Tableau(*(np.ascontiguousarray(p, dtype=np.float64) for p in parts))

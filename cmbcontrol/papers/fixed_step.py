"""Time loop of the papers: classical Runge-Kutta steps, with a correction after each that may do nothing.

`cmbcontrol.simulate` projects after every step, or every few, and to rounding. Spencer (3.1.3) and Aghili (section 6)
correct where the constraints are violated by more than a tolerance, which this loop leaves to a function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["March", "march"]

Array = NDArray[np.float64]
State = tuple[Array, Array]


@dataclass(frozen=True)
class March:
    """A run of `march`: states (steps + 1, n) at all steps, and the steps that were corrected."""

    time: Array
    q: Array
    v: Array
    evaluations: int
    corrected: Array

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.time) - 1


def march(
    acceleration: Callable[[float, Array, Array], Array],
    q: Array,
    v: Array,
    *,
    t_end: float,
    step: float,
    correct: Callable[[int, Array, Array], State | None] = lambda k, q, v: None,
    told: Callable[[float], None] = lambda _: None,
) -> March:
    """Run of the classical Runge-Kutta method of order 4 for dq/dt = v, dv/dt = acceleration(t, q, v).

    Parameters
    ----------
    acceleration : callable
        (t, q, v) -> dv/dt.
    q, v : ndarray, shape (n,)
    t_end, step : float
        End and step, s.
    correct : callable
        (number of steps so far, q, v) -> corrected (q, v), or None to leave them.
    told : callable
        Function that gets the fraction that is done.

    Examples
    --------
    >>> swing = march(lambda t, q, v: -q, np.array([1.0]), np.array([0.0]), t_end=np.pi, step=np.pi / 100)
    >>> swing.q[-1].round(6), swing.evaluations
    (array([-1.]), 400)
    """
    count, h = max(round(t_end / step), 1), step
    Q, V, corrected = [q], [v], []
    for k in range(count):
        t = k * h
        v1, a1 = v, acceleration(t, q, v)
        v2 = v + 0.5 * h * a1
        a2 = acceleration(t + 0.5 * h, q + 0.5 * h * v1, v2)
        v3 = v + 0.5 * h * a2
        a3 = acceleration(t + 0.5 * h, q + 0.5 * h * v2, v3)
        v4 = v + h * a3
        a4 = acceleration(t + h, q + h * v3, v4)
        q = q + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        better = correct(k + 1, q, v)
        if better is not None:
            q, v = better
            corrected.append(k + 1)
        Q.append(q)
        V.append(v)
        if k % 100 == 0:
            told((k + 1) / count)
    return March(h * np.arange(count + 1), np.array(Q), np.array(V), 4 * count, np.array(corrected, dtype=int))

"""Explicit Runge-Kutta steps: stages, error measures, step control, and the state within a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel

__all__ = [
    "Tableau",
    "combine",
    "cubic",
    "dense_coefficients",
    "error_norm",
    "hermite",
    "interpolate",
    "next_step",
    "refine_cubic",
    "step_from",
    "step_share",
]

# Share of the tolerance that a step of order 8 gets, down to the finest error above rounding.
SHARE, FINEST = 0.01, 1e-12


@bundle
class Tableau(NamedTuple):
    """An explicit Runge-Kutta method.

    E3 and E5 are the two error estimates of DOP853 (empty for a fixed step; E3 zero where there is one), A_extra
    and D give the dense output of order 7 (empty: cubic Hermite).
    """

    A: np.ndarray  # (stages, stages)
    b: np.ndarray  # (stages,)
    c: np.ndarray  # (stages,)
    E3: np.ndarray  # (stages + 1,) or (0,)
    E5: np.ndarray
    A_extra: np.ndarray  # (3, 16) or (0, 0)
    c_extra: np.ndarray
    D: np.ndarray  # (4, 16)
    order: int  # of the step control: the error of a step goes with this power of it
    gap: float  # fraction of a step that is farthest from all of its stages


@kernel
def combine(x, K, weights, count, h, out):
    """out = x + h * sum of weights[j] K[j] over the first `count` stages."""
    for i in range(x.shape[0]):
        out[i] = 0.0
    for j in range(count):
        if weights[j] != 0.0:
            for i in range(x.shape[0]):
                out[i] += weights[j] * K[j, i]
    for i in range(x.shape[0]):
        out[i] = x[i] + h * out[i]


@kernel
def step_from(x, low, K, weights, count, h, out, low_out):
    """out = x + low + h * sum of weights[j] K[j]; low_out = the part of this that out cannot hold (Neumaier's sum)."""
    combine(low, K, weights, count, h, low_out)
    for i in range(x.shape[0]):
        rise = low_out[i]
        out[i] = x[i] + rise
        low_out[i] = rise - (out[i] - x[i]) if abs(x[i]) >= abs(rise) else x[i] - (out[i] - rise)


@kernel
def step_share(tableau, rtol, atol, ladder):
    """Share of the tolerance that one step gets.

    The errors of many steps add up, and the motion lets them grow. A step of order 8 costs little more for a much
    smaller error, so it gets a small share, and the result of a run is about as accurate as was asked for. The lower
    methods of a ladder get the same.
    """
    return min(1.0, max(SHARE, FINEST / max(rtol, atol))) if tableau.order == 8 or ladder else 1.0


@kernel
def error_norm(K, tableau, x, x_new, first, end, h, share, rtol, atol):
    """Error measure of DOP853 over the states from `first` to before `end`; a step is accepted below 1.

    Errors are measured by a share of the tolerance, see `step_share`.
    """
    e5 = 0.0
    e3 = 0.0
    stages = tableau.E5.shape[0]
    for i in range(first, end):
        scale = share * (atol + rtol * max(abs(x[i]), abs(x_new[i])))
        s5 = 0.0
        s3 = 0.0
        for j in range(stages):
            s5 += tableau.E5[j] * K[j, i]
            s3 += tableau.E3[j] * K[j, i]
        e5 += (s5 / scale) ** 2
        e3 += (s3 / scale) ** 2
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return abs(h) * e5 / np.sqrt((e5 + 0.01 * e3) * (end - first))


@kernel
def next_step(h, error, rejected, order):
    """Size of the next step after a try with this error; the error goes with the power `order` of the step."""
    if not np.isfinite(error):
        return 0.1 * h
    if error == 0.0:
        factor = 10.0
    else:
        factor = 0.9 * error ** (-1.0 / order)
    if error < 1.0:
        return h * min(1.0 if rejected else 10.0, max(factor, 0.2))
    return h * max(0.1, factor)


@kernel
def interpolate(x0, F, s, out):
    """out = state at the fraction s of a step that starts at x0, from its dense coefficients F (7, nx)."""
    for i in range(x0.shape[0]):
        y = 0.0
        for k in range(F.shape[0] - 1, -1, -1):
            y += F[k, i]
            y *= s if (F.shape[0] - 1 - k) % 2 == 0 else 1.0 - s
        out[i] = x0[i] + y


@kernel
def dense_coefficients(K, tableau, x0, x1, h, F):
    """F (7, nx) = coefficients of the interpolant, from the rates K at the ends, the stages and the extra stages."""
    for i in range(x0.shape[0]):
        d = x1[i] - x0[i]
        last = tableau.b.shape[0]
        F[0, i] = d
        F[1, i] = h * K[0, i] - d
        F[2, i] = 2.0 * d - h * (K[last, i] + K[0, i])
        for k in range(3, 7):
            F[k, i] = 0.0
            if tableau.D.shape[0] > 0:
                for j in range(tableau.D.shape[1]):
                    F[k, i] += h * tableau.D[k - 3, j] * K[j, i]


@kernel
def cubic(x0, x1, rate0, rate1, step, F):
    """F = dense coefficients of a step of which only the ends are known (cubic Hermite)."""
    for i in range(x0.shape[0]):
        d = x1[i] - x0[i]
        F[0, i] = d
        F[1, i] = step * rate0[i] - d
        F[2, i] = 2.0 * d - step * (rate1[i] + rate0[i])
        for k in range(3, F.shape[0]):
            F[k, i] = 0.0


@kernel(allocates=True)
def hermite(times, values, rates, count, t, out):
    """out = polynomial through `count` nodes with given values and rates (Hermite, divided differences) at time t."""
    z = np.empty(2 * count)
    c = np.empty(2 * count)
    for j in range(count):
        z[2 * j] = times[j]
        z[2 * j + 1] = times[j]
    for i in range(out.shape[0]):
        for j in range(count):
            c[2 * j] = values[j, i]
            c[2 * j + 1] = values[j, i]
        for order in range(1, 2 * count):
            for j in range(2 * count - 1, order - 1, -1):
                if order == 1 and j % 2 == 1:
                    c[j] = rates[j // 2, i]
                else:
                    c[j] = (c[j] - c[j - 1]) / (z[j] - z[j - order])
        y = c[2 * count - 1]
        for j in range(2 * count - 2, -1, -1):
            y = y * (t - z[j]) + c[j]
        out[i] = y


@kernel(allocates=True)
def refine_cubic(times, values, rates, count, t, step, x0, F):
    """Refine the dense output F of a step known at several nodes, from the cubic to the polynomial through all.

    The two differ by s^2 (1-s)^2 g(s); g, a cubic, is read off at s = 1/5 .. 4/5, and written as
    F3 + s (F4 + (1-s) (F5 + s F6)).
    """
    nx = x0.shape[0]
    g = np.empty((4, nx))
    of_ends, y = np.empty(nx), np.empty(nx)
    for j in range(4):
        s = 0.2 * (j + 1)
        hermite(times, values, rates, count, t + s * step, y)
        interpolate(x0, F, s, of_ends)
        for i in range(nx):
            g[j, i] = (y[i] - of_ends[i]) / (s * (1.0 - s)) ** 2
    for i in range(nx):
        at_0 = 4.0 * g[0, i] - 6.0 * g[1, i] + 4.0 * g[2, i] - g[3, i]
        at_1 = 4.0 * g[3, i] - 6.0 * g[2, i] + 4.0 * g[1, i] - g[0, i]
        F[3, i] = at_0
        F[4, i] = at_1 - at_0
        e1 = (g[1, i] - at_0 - 0.4 * F[4, i]) / 0.24  # what is left at s = 2/5 and 3/5
        e2 = (g[2, i] - at_0 - 0.6 * F[4, i]) / 0.24
        F[6, i] = (e2 - e1) / 0.2
        F[5, i] = e1 - 0.4 * F[6, i]

"""Minimization of the largest of smooth functions, which have corners where several are largest.

Two methods that share their steps: quasi-Newton steps of the largest function with a line search that corners do not
disturb (Lewis and Overton, 2013), which come near a minimum from anywhere; and steps that lower all functions which are
nearly largest at once, by a quadratic program, which then meet the corner itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Minimum", "Values", "minimize_largest"]

Array = NDArray[np.float64]
Function = Callable[..., "Values | None"]

_DECREASE, _SLOPE = 1e-4, 0.5  # of a line search: least decrease, and part of the slope that may be left
_HALVINGS = 30
_LENGTH = 1e-3  # of the quadratic term in the level of a program, which makes it strictly convex; see `_lowered`
_NOTHING = 1e-9  # of values over their limits: the unit of steps where the largest passes zero
_ROUNDS, _WORTH = 8, 1e-3  # of both methods in turn, as long as they gain this part
_POLISH = 200  # steps of the second method


class Values(NamedTuple):
    """Functions at a point.

    Attributes
    ----------
    values : ndarray, shape (m,)
        The largest first; all that are nearly largest.
    gradients : ndarray, shape (m, n)
    kinds : ndarray of int, shape (m,)
        Which function each one is; those of one kind, as the peaks of one response, are told apart by their
    places : ndarray, shape (m,)
        such as logarithms of frequencies, which move little in a step.
    """

    values: Array
    gradients: Array
    kinds: NDArray[np.int64]
    places: Array

    @property
    def largest(self) -> float:
        return float(self.values[0])


class Minimum(NamedTuple):
    """A minimum that was found.

    Attributes
    ----------
    x : ndarray, shape (n,)
    value : float
    steps : int
    stationary : float
        Length of the shortest mixture of gradients of functions that are nearly largest, over their own lengths.
    """

    x: Array
    value: float
    steps: int
    stationary: float


def minimize_largest(
    function: Function,
    x: Array,
    *,
    steps: int = 300,
    tolerance: float = 1e-5,
    enough: float = -np.inf,
) -> Minimum:
    """Local minimum of the largest of functions.

    Parameters
    ----------
    function : callable
        ``function(x, bound=inf)``: values and gradients at a point; None where it is not defined, such as where a loop
        is not stable. Where the largest value is above the bound, it alone is enough, and need not be all of it.
    x : ndarray, shape (n,)
        Where to begin; the function is defined there.
    steps : int
        Most quasi-Newton steps.
    tolerance : float
        Relative decrease over ten steps below which it ends.
    enough : float
        Value below which it ends.
    """
    at = function(x)
    if at is None:
        raise ValueError("the function is not defined where the minimization begins")
    taken = 0
    for _ in range(_ROUNDS):
        before = at.largest
        x, at, first = _quasi_newton(function, x, at, steps, tolerance, enough)
        taken += first
        if at.largest <= enough:
            break
        x, at, more = _corners(function, x, at, tolerance, enough)
        taken += more
        if before - at.largest < _WORTH * abs(before) or at.largest <= enough:
            break
    return Minimum(x, at.largest, taken, _stationary(at))


def _quasi_newton(
    function: Function, x: Array, at: Values, steps: int, tolerance: float, enough: float
) -> tuple[Array, Values, int]:
    """BFGS steps for the largest function alone, with a weak Wolfe line search by bisection."""
    n = len(x)
    H = np.eye(n) / max(float(np.linalg.norm(at.gradients[0])), 1e-300)
    history = [at.largest]
    for k in range(steps):
        g = at.gradients[0]
        d = -H @ g
        slope = float(g @ d)
        if not np.isfinite(slope) or slope >= 0.0:
            break
        low, high, t = 0.0, np.inf, 1.0
        best: tuple[Array, Values] | None = None
        for _ in range(_HALVINGS):
            tried = function(x + t * d, at.largest)
            if tried is None or not tried.largest <= at.largest + _DECREASE * t * slope:
                high = t
            else:
                best = x + t * d, tried
                if tried.gradients[0] @ d >= _SLOPE * slope:
                    break
                low = t
            t = 2.0 * low if high == np.inf else 0.5 * (low + high)
            if high < np.inf and high - low < 1e-12 * high:
                break
        if best is None:
            return x, at, k
        s, y = best[0] - x, best[1].gradients[0] - g
        x, at = best
        sy = float(s @ y)
        if sy > 1e-14 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            if k == 0:
                H = np.eye(n) * sy / float(y @ y)
            Hy = H @ y
            H = H + (1.0 + y @ Hy / sy) * np.outer(s, s) / sy - (np.outer(Hy, s) + np.outer(s, Hy)) / sy
        history.append(at.largest)
        if at.largest <= enough:
            return x, at, k + 1
        if k >= 20 and history[-11] - history[-1] < tolerance * abs(history[-1]):
            return x, at, k + 1
    return x, at, steps


def _corners(function: Function, x: Array, at: Values, tolerance: float, enough: float) -> tuple[Array, Values, int]:
    """Steps that lower all nearly largest functions at once, within a region that grows and shrinks."""
    own = np.abs(x) + 1e-3 * np.abs(x).mean() + 1e-12
    # of the Lagrangian; at first, a step of its own size changes a value by itself
    B = np.diag(max(abs(at.largest), _NOTHING) / own**2)
    damping, history = 1.0, [at.largest]
    for k in range(_POLISH):
        d, weights, expected = _lowered(at, damping * B)
        tried = function(x + d, at.largest) if np.isfinite(d).all() else None
        gained = at.largest - tried.largest if tried is not None else -np.inf
        if expected <= 1e-12 * abs(at.largest) or damping > 1e12:
            break
        if gained < 0.1 * expected:
            damping *= 4.0
            continue
        damping = max(damping / (4.0 if gained > 0.7 * expected else 1.5), 1e-9)
        y = _change(at, tried, weights)  # type: ignore[arg-type]
        x, at = x + d, tried  # type: ignore[assignment]
        history.append(at.largest)
        Bd = B @ d
        dBd = float(d @ Bd)
        if dBd > 0.0 and y is not None:
            dy = float(d @ y)
            mix = 1.0 if dy >= 0.2 * dBd else 0.8 * dBd / (dBd - dy)  # damped (Powell, 1978)
            y = mix * y + (1.0 - mix) * Bd
            B = B - np.outer(Bd, Bd) / dBd + np.outer(y, y) / float(d @ y)
        if at.largest <= enough or (len(history) > 10 and history[-11] - history[-1] < tolerance * abs(history[-1])):
            return x, at, k + 1
    return x, at, _POLISH


def _lowered(at: Values, B: Array) -> tuple[Array, Array, float]:
    """Step d, weights of the functions, and the decrease expected: least level t + d B d/2 with f + g d <= t.

    As the point of least distance in a polyhedron, by nonnegative least squares (Lawson and Hanson, 1974): with a small
    square of the level added, which changes the weights of the functions by as much.
    """
    from scipy.optimize import nnls

    unit = max(abs(at.largest), _NOTHING)
    sizes, V = np.linalg.eigh(B / unit)
    roots = np.sqrt(np.maximum(sizes, max(1e-13 * sizes[-1], 1e-300)))
    G = at.gradients @ V / roots / unit  # in steps z = roots * V' d
    f = (at.values - at.largest) / unit
    root = np.sqrt(_LENGTH)
    rows = np.hstack([-G, np.full((len(f), 1), 1.0 / root)])
    right = f + 1.0 / _LENGTH
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return np.full(len(B), np.nan), np.zeros(len(f)), 0.0
    E = np.vstack([rows.T, right])
    e = np.zeros(len(E))
    e[-1] = 1.0
    try:
        u = nnls(E, e)[0]
    except RuntimeError:
        return np.full(len(B), np.nan), np.zeros(len(f)), 0.0
    r = E @ u - e
    if not r[-1] < 0.0:
        return np.full(len(B), np.nan), np.zeros(len(f)), 0.0
    z = -r[:-1] / r[-1]
    d = V @ (z[:-1] / roots)
    level = float((f + at.gradients @ d / unit).max())
    weights = u / max(float(u.sum()), 1e-300)
    return d, weights, -(level + 0.5 * float(z[:-1] @ z[:-1])) * unit if level < 0.0 else 0.0


def _change(at: Values, after: Values, weights: Array) -> Array | None:
    """Change of the weighted gradient over a step, each function found again; None where one of weight is not."""
    y, left = np.zeros(at.gradients.shape[1]), 1.0
    for i in np.flatnonzero(weights > 1e-6):
        same = np.flatnonzero(after.kinds == at.kinds[i])
        if not same.size:
            continue
        k = same[int(np.abs(after.places[same] - at.places[i]).argmin())]
        if abs(after.places[k] - at.places[i]) > 0.5:
            continue
        y, left = y + weights[i] * (after.gradients[k] - at.gradients[i]), left - weights[i]
    return y if left < 0.05 else None


def _stationary(at: Values) -> float:
    """Length of the shortest mixture of the gradients of functions within a thousandth of the largest."""
    from scipy.optimize import nnls

    near = at.values >= at.largest - 1e-3 * abs(at.largest)
    G = at.gradients[near]
    size = float(np.linalg.norm(G, axis=1).max(initial=0.0))
    if size == 0.0:
        return 0.0
    E = np.vstack([G.T / size, np.full(len(G), 1e3)])
    e = np.zeros(len(E))
    e[-1] = 1e3
    try:
        weights = nnls(E, e)[0]
    except RuntimeError:  # it ended before it had converged
        return np.nan
    return float(np.linalg.norm(weights / weights.sum() @ G) / size)

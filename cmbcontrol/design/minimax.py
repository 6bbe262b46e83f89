"""Minimization of the largest of smooth functions, which have corners where several are largest.

Two methods that share their line search: quasi-Newton steps of the largest function alone (Lewis and Overton, 2013),
which come near a minimum from anywhere, and go on where derivatives grow without bound; and steps that lower all
functions which are nearly largest at once, by a quadratic program, with the functions beside a corner where it needs
them (a bundle), which meet the corner itself.
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
_HALVINGS, _TRIED = 30, 8  # points along a step; along one of a program, which a bundle makes good
_LENGTH = 1e-3  # of the quadratic term in the level of a program, which makes it strictly convex; see `_lowered`
_NOTHING = 1e-9  # of values over their limits: the unit of steps where the largest passes zero
_ROUNDS, _WORTH = 3, 1e-4  # of both methods in turn, as long as they gain this part
_LOOSE = 300.0  # times the tolerance in ten quasi-Newton steps, and the corner is the other method's
_FIRST = 0.1  # of their size: by which a first step changes parameters
_SMALL = 1e-9  # of their size: steps that are rounding
_BESIDE, _CLOSE = 4, 1e-2  # times as many points beside a corner as parameters, and how far they are away


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
    rounds: int = _ROUNDS,
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
        Most steps of each method.
    tolerance : float
        Relative decrease that a program promises of a step, below which it ends.
    enough : float
        Value below which it ends.
    rounds : int
        Methods in turn, as long as they gain something.
    """
    at = function(x)
    if at is None:
        raise ValueError("the function is not defined where the minimization begins")
    taken = 0
    for k in range(rounds):
        before = at.largest
        if k % 2 == 0:
            x, at, more = _quasi_newton(function, x, at, steps, _LOOSE * tolerance, enough)
        else:
            x, at, more = _corners(function, x, at, steps, tolerance, enough)
        taken += more
        if at.largest <= enough or before - at.largest < _WORTH * abs(before):
            break
    return Minimum(x, at.largest, taken, _stationary(at))


def _along(
    function: Function, x: Array, at: Values, d: Array, slope: float, most: int
) -> tuple[Array, Values | None, bool]:
    """Point along a step by weak Wolfe conditions, functions there, and whether they are lower.

    Where none is lower it is the last point at which the function is defined, if there is one.
    """
    low, high, t = 0.0, np.inf, 1.0
    best: tuple[Array, Values] | None = None
    last: tuple[Array, Values | None] = x, None
    size = float(np.abs(d / _size(x)).max())
    for k in range(most):
        y = x + t * d
        # the last point is one of the bundle: there all functions count
        tried = function(y, at.largest if k < most - 1 and t * size > 2.0 * _SMALL else np.inf)
        if tried is None or not tried.largest <= at.largest + _DECREASE * t * slope:
            high = t
            last = (y, tried) if tried is not None else last
        else:
            best = y, tried
            if tried.gradients[0] @ d >= _SLOPE * slope:
                break
            low = t
        t = 2.0 * low if high == np.inf else 0.5 * (low + high)
        if t * size < _SMALL:
            break
    return (*best, True) if best is not None else (*last, False)


def _quasi_newton(
    function: Function, x: Array, at: Values, steps: int, tolerance: float, enough: float
) -> tuple[Array, Values, int]:
    """BFGS steps for the largest function alone; from the start again where one finds no lower point."""
    n, H, fresh = len(x), np.eye(len(x)), True
    history = [at.largest]
    for k in range(steps):
        g = at.gradients[0]
        if at.largest <= enough:
            return x, at, k
        if fresh:
            H = np.eye(n) / max(float(np.linalg.norm(g)), 1e-300)
        d = -H @ g
        slope = float(g @ d)
        if not (np.isfinite(d).all() and slope < 0.0):
            y, after, lower = x, None, False
        else:
            y, after, lower = _along(function, x, at, d, slope, _HALVINGS)
        if not lower:
            if fresh:
                return x, at, k
            fresh = True
            continue
        s, change = y - x, after.gradients[0] - g  # type: ignore[union-attr]
        x, at = y, after  # type: ignore[assignment]
        curved = float(s @ change)
        if curved > 0.0:
            if fresh:
                H = np.eye(n) * curved / float(change @ change)
            V = np.eye(n) - np.outer(s, change) / curved
            H = V @ H @ V.T + np.outer(s, s) / curved
        fresh = False
        history.append(at.largest)
        if len(history) > 10 and history[-11] - history[-1] < tolerance * abs(history[-1]):
            return x, at, k + 1
    return x, at, steps


def _corners(
    function: Function, x: Array, at: Values, steps: int, tolerance: float, enough: float
) -> tuple[Array, Values, int]:
    """Steps that lower all nearly largest functions at once.

    Where the line search along one finds no lower point, the functions there join those at x, until they do, or show
    that there is none (null steps of bundle methods).
    """
    n, fresh, flat = len(x), True, 0
    B = _first(at, x)
    beside: list[tuple[Array, Values]] = []
    for k in range(steps):
        if at.largest <= enough:
            return x, at, k
        joined = [(at.values, at.gradients)] + [_seen(y, there, x, at.largest) for y, there in beside]
        values, gradients = (np.concatenate(part) for part in zip(*joined, strict=True))
        found = _lowered(values, gradients, B)
        little = found is None or found[2] <= tolerance * abs(at.largest)
        if found is None or little or np.abs(found[0] / _size(x)).max() < _SMALL:
            flat += 1
            if fresh or flat > 1:
                return x, at, k
            B, fresh = _first(at, x), True
            continue
        d, weights, expected = found
        y, after, lower = _along(function, x, at, d, -expected, _TRIED)
        if not lower or after is None:
            if after is not None and len(beside) < _BESIDE * n:
                beside.append((y, after))
            elif fresh:
                return x, at, k
            else:
                B, fresh, beside = _first(at, x), True, []
            continue
        B = _updated(B, y - x, _change(at, after, weights), fresh)
        if at.largest - after.largest > 10.0 * tolerance * abs(at.largest):
            flat = 0
        x, at, fresh = y, after, False
        beside = [(p, q) for p, q in beside if np.abs((p - x) / _size(x)).max() < _CLOSE][-n:]
    return x, at, steps


def _size(x: Array) -> Array:
    """Sizes of parameters: their own, from 1 on."""
    return np.maximum(np.abs(x), 1.0)


def _first(at: Values, x: Array) -> Array:
    """Matrix of a program at its start: a step of the steepest gradient alone changes parameters by a part."""
    size = _size(x)
    steepest = float(np.linalg.norm(at.gradients * size, axis=1).max())
    return np.diag(max(steepest, 1e-12) / (_FIRST * size**2))


def _seen(y: Array, there: Values, x: Array, largest: float) -> tuple[Array, Array]:
    """Functions at y as they are seen from x, where none is above the largest."""
    return np.minimum(there.values + there.gradients @ (x - y), largest), there.gradients


def _updated(B: Array, s: Array, y: Array, fresh: bool) -> Array:
    """BFGS matrix with Powell's damping; the first one is scaled by what the first step has shown."""
    curved = float(s @ y)
    if fresh and curved > 0.0:
        B = B * np.clip(curved / float(s @ B @ s), 1e-3, 1e3)
    Bs = B @ s
    sBs = float(s @ Bs)
    if not (sBs > 0.0 and np.isfinite(y).all()):
        return B
    if curved < 0.2 * sBs:
        mix = 0.8 * sBs / (sBs - curved)
        y = mix * y + (1.0 - mix) * Bs
        curved = float(s @ y)
    return B - np.outer(Bs, Bs) / sBs + np.outer(y, y) / curved


def _lowered(values: Array, gradients: Array, B: Array) -> tuple[Array, Array, float] | None:
    """Step d, weights of the functions, and the decrease expected: least level t + d B d/2 with f + g d <= t.

    As the point of least distance in a polyhedron, by nonnegative least squares (Lawson and Hanson, 1974): with a small
    square of the level added, which changes the weights of the functions by as much. None where there is no answer.
    """
    from scipy.optimize import nnls

    largest = float(values.max())
    unit = max(abs(largest), _NOTHING)
    if not (np.isfinite(B).all() and (np.diag(B) > 0.0).all()):
        return None
    scale = 1.0 / np.sqrt(np.maximum(np.diag(B), 1e-24 * np.diag(B).max()))  # parameters in units in which B has ones
    sizes, V = np.linalg.eigh(B * scale * scale[:, None] / unit)
    roots = np.sqrt(np.maximum(sizes, max(1e-13 * sizes[-1], 1e-300)))
    G = (gradients * scale) @ V / roots / unit  # in steps z = roots * V' d
    f = (values - largest) / unit
    root = np.sqrt(_LENGTH)
    rows = np.hstack([-G, np.full((len(f), 1), 1.0 / root)])
    right = f + 1.0 / _LENGTH
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return None
    E = np.vstack([rows.T, right])
    e = np.zeros(len(E))
    e[-1] = 1.0
    try:
        u = nnls(E, e)[0]
    except RuntimeError:
        return None
    r = E @ u - e
    if not r[-1] < 0.0:
        return None
    z = -r[:-1] / r[-1]
    d = scale * (V @ (z[:-1] / roots))
    level = float((f + gradients @ d / unit).max())
    return d, u / max(float(u.sum()), 1e-300), max(-level, 0.0) * unit


def _change(at: Values, after: Values, weights: Array) -> Array:
    """Change of the weighted gradient over a step, each function continued by the nearest of its kind."""
    y = np.zeros(at.gradients.shape[1])
    for i in np.flatnonzero(weights[: len(at.values)] > 1e-6):
        same = np.flatnonzero(after.kinds == at.kinds[i])
        if same.size:
            k = same[int(np.abs(after.places[same] - at.places[i]).argmin())]
            y += weights[i] * (after.gradients[k] - at.gradients[i])
    return y


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

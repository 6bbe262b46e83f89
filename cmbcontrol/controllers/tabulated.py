"""What a law computes from its reference alone, as a function of time in pieces: code needs no model for it.

Efforts of a motion come from the machine along the reference, through closed loops. On a computer, or in an FMU, they
are read from pieces of polynomials, which are made as short as their errors ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import ArrayLike, NDArray

from ..errors import CmbError
from ..trace.graph import Scalar
from ..trace.symbols import array
from .pieces import Pieces, Profile
from .references import Constant, over_times

__all__ = ["Tabulated", "over_reference"]

Array = NDArray[np.float64]

_DEGREE = 9
_EXACT = 1e-9  # of the largest value: efforts are computed with a rounding of 1e-12 or so
_MOST = 512  # pieces; code looks through all of them at each call
_FIRST = 16  # pieces, at first
_POINTS = np.cos(
    np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)
)  # on [-1, 1], none at an end, where values jump
# Between the points, where the polynomial that vanishes at them is largest.
_BETWEEN = np.cos(np.pi * np.arange(_DEGREE + 2) / (_DEGREE + 1))[1:-1]
_SMALL = 1e-6  # of the largest value of all: smaller ones, as the effort of an idle motor, may be rounding


class Tabulated:
    """Function of time in pieces of degree nine, each found at Chebyshev points and tried between them.

    Attributes
    ----------
    span : (float, float) or None
        Times before and after which it is constant; None where it repeats.
    period : float or None
    error : float
        Largest error that was found, in parts of the largest value.
    """

    def __init__(self, parts: list[Pieces], error: float) -> None:
        self._parts, self.error = parts, error
        repeats = parts[0].advance is not None
        self.period = parts[0].period if repeats else None
        self.span = None if repeats else (float(parts[0].begins[0]), float(parts[0].begins[-1]))

    def __call__(self, t: Any) -> Any:
        """Values (k,), numbers or symbols, at a time."""
        made = [part(t, 1)[0] for part in self._parts]
        return array(np.array(made, dtype=object)) if isinstance(t, Scalar) else np.array(made)

    def over(self, times: ArrayLike) -> Array:
        """Values, a row (k,) for each time."""
        times = np.asarray(times, dtype=float)
        return np.column_stack([np.broadcast_to(part(times, 1)[0], times.shape) for part in self._parts])


def over_reference(function: Callable[[float], Any]) -> Profile | Tabulated | None:
    """Function of time of a law as one that code can hold; None where there is none.

    That is a reference itself, and what a law computes along a reference that ends, repeats or is constant.
    """
    if isinstance(function, Profile):
        return function
    reference = getattr(getattr(function, "__self__", function), "reference", None)
    if not isinstance(reference, Profile) or not hasattr(reference, "_parts"):  # a cam has none over the time
        return None
    try:
        return _tabulated(function, reference)
    except CmbError:  # beyond the run there may be no such motion
        return None


def _tabulated(function: Callable[[float], Any], reference: Profile) -> Tabulated | None:
    """Pieces of a function along a reference; None where too many would be needed, or it does not repeat."""
    if isinstance(reference, Constant):
        (values,) = over_times(function, np.zeros(1))
        return Tabulated([Pieces((0.0, 1.0), [[x]]) for x in values], 0.0)
    if reference.span is None and reference.period is None:
        return None
    bounded = reference._parts[0].bounded
    begin = float(reference._parts[0].begins[0]) if bounded else 0.0
    begin, end = reference.span or (begin, begin + reference.period)  # type: ignore[operator]
    breaks = np.concatenate([part.begins[np.isfinite(part.begins)] for part in reference._parts])
    times = np.concatenate([np.linspace(begin, end, _FIRST + 1), breaks[(breaks > begin) & (breaks < end)]])
    sizes = np.abs(over_times(function, times)).max(axis=0)
    sizes = np.maximum(np.maximum(sizes, _SMALL * sizes.max(initial=0.0)), np.finfo(float).tiny)
    knots: list[float] = []
    rows: list[Array] = []
    error, waiting = 0.0, list(pairwise(np.unique(times).tolist()))[::-1]
    while waiting:
        if len(rows) + len(waiting) > _MOST:
            return None
        a, b = waiting.pop()
        values = over_times(function, 0.5 * (a + b) + 0.5 * (b - a) * _POINTS)
        fits = [Chebyshev.fit(_POINTS, column, _DEGREE, domain=[-1.0, 1.0]) for column in values.T]
        exact = over_times(function, 0.5 * (a + b) + 0.5 * (b - a) * _BETWEEN)
        found = float((np.abs(np.column_stack([fit(_BETWEEN) for fit in fits]) - exact) / sizes).max())
        if found > _EXACT:
            waiting += [(0.5 * (a + b), b), (a, 0.5 * (a + b))]
            continue
        error = max(error, found)
        knots.append(a)
        # in powers of the time since the piece began: x = 2 s/(b - a) - 1
        inner = Polynomial([-1.0, 2.0 / (b - a)])
        rows.append(np.array([_filled(fit.convert(kind=Polynomial)(inner).coef) for fit in fits]))
    powers = np.array(rows)
    if reference.span is None:
        gains = _gains(function, begin, end, sizes)
        if gains is None:
            return None
        parts = [Pieces([*knots, end], powers[:, i], advance=float(x)) for i, x in enumerate(gains)]
        return Tabulated(parts, error)
    # Before the begin and after the end the machine rests, which other efforts hold than those of the motion.
    length = end - begin
    rest = over_times(function, np.array([begin - length, end + length]))
    whole = np.concatenate([_constant(rest[0]), powers, _constant(rest[1])])
    begins = [begin - length, *knots, end, end + length]
    return Tabulated([Pieces(begins, whole[:, i]) for i in range(len(sizes))], error)


def _filled(coefficients: NDArray[Any]) -> Array:
    return np.pad(coefficients, (0, _DEGREE + 1 - len(coefficients)))


def _constant(values: Array) -> Array:
    """Piece (1, k, degree + 1) that keeps values."""
    made = np.zeros((1, len(values), _DEGREE + 1))
    made[0, :, 0] = values
    return made


def _gains(function: Callable[[float], Any], begin: float, end: float, sizes: Array) -> Array | None:
    """What values gain in a period; None where they do not repeat."""
    times = begin + (end - begin) * np.array([0.31, 0.73])
    first, second, third = (over_times(function, times + k * (end - begin)) for k in range(3))
    gains = (second - first).mean(axis=0)
    gains[np.abs(gains) <= 1e3 * _EXACT * sizes] = 0.0
    steps = np.array([second - first, third - second]) - gains
    return gains if bool((np.abs(steps) <= 1e3 * _EXACT * sizes).all()) else None

"""Functions of one variable in pieces, a polynomial and a sine each: the one form that all references have.

Numbers, arrays of numbers and symbols are evaluated by the same text, so that code in C says what Python says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._arguments import KeepsArguments
from ..errors import InputError
from ..trace.graph import Scalar
from ..trace.symbols import array

__all__ = ["Pieces", "Profile", "hermite", "quintics"]

Array = NDArray[np.float64]
_FACTORIALS = [float(factorial(k)) for k in range(8)]
_SINES = (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))  # of the sine, order by order


class Pieces:
    """Function x -> p(s) + A sin(w s + phi) in pieces, with s = x - begins[i].

    Parameters
    ----------
    begins : array_like, shape (n + 1,)
        Where pieces begin, and where the last one ends; -inf and inf for one that has no ends, whose s is x.
    powers : array_like, shape (n, d + 1)
        Coefficients of p, of s to the power of zero first.
    sines : array_like, shape (n, 3), optional
        A, w and phi of each piece.
    end : float, optional
        Exact value at the end. Outside of the pieces the function is held at its first and last value,
    advance : float, optional
        unless it goes on periodically: then it gains this much in each period.
    """

    def __init__(
        self,
        begins: ArrayLike,
        powers: ArrayLike,
        sines: ArrayLike | None = None,
        *,
        end: float | None = None,
        advance: float | None = None,
    ) -> None:
        self.begins, self.powers = np.asarray(begins, dtype=float), np.asarray(powers, dtype=float)
        self.sines = np.zeros((len(self.powers), 3)) if sines is None else np.asarray(sines, dtype=float)
        self.advance, self._waves = advance, bool(self.sines[:, 0].any())
        self.end = float(self.edge(-1)[0] if self.bounded else np.nan) if end is None else float(end)

    @property
    def bounded(self) -> bool:
        """Whether the pieces have a begin and an end."""
        return bool(np.isfinite(self.begins).all())

    @property
    def period(self) -> float:
        """Length of all pieces together."""
        return float(self.begins[-1] - self.begins[0])

    def edge(self, side: int) -> list[Any]:
        """Value and two derivatives at the begin of the first piece (0), or at the end of the last one (-1)."""
        s = 0.0 if side == 0 else float(self.begins[-1] - self.begins[-2])
        return _derivatives(s, self.powers[side].tolist(), self.sines[side].tolist(), 3)

    @cached_property
    def _table(self) -> tuple[Array, Array, list[float], list[list[float]]]:
        """Where rows begin but the first, rows (origin, powers, sine), and the same as lists for single numbers."""
        origins = self.begins[:-1] if self.bounded else np.zeros(1)
        rows, switches = np.hstack([origins[:, None], self.powers, self.sines]), self.begins[1:-1]
        if self.bounded and self.advance is None:
            held = np.zeros((2, rows.shape[1]))
            held[:, 0], held[0, 1], held[1, 1] = self.begins[[0, -1]], self.edge(0)[0], self.end
            rows, switches = np.vstack([held[:1], rows, held[1:]]), self.begins
        return switches, rows, switches.tolist(), rows.tolist()

    def _row(self, x: Any) -> Any:
        """Origin, powers and sine of the pieces at x."""
        switches, rows, listed, plain = self._table
        if isinstance(x, np.ndarray):
            return rows[np.searchsorted(switches, x, "right")].T
        if not isinstance(x, Scalar):
            return plain[bisect_right(listed, x)]
        made = []
        for column in rows.T.tolist():
            value: Any = column[-1]
            for k in range(len(column) - 2, -1, -1):
                if column[k] != value:  # of the same number there is nothing to select
                    value = x.graph.select(x, listed[k], column[k], value)
            made.append(value)
        return made

    def __call__(self, x: Any, orders: int = 3) -> list[Any]:
        """Value and derivatives at x, a number, an array or a symbol: so many of them."""
        turns: Any = 0.0
        if self.advance is not None:
            turns = np.floor((x - float(self.begins[0])) * (1.0 / self.period))
            x = x - turns * self.period
        origin, *row = self._row(x)
        found = _derivatives(x - origin, row[:-3], row[-3:] if self._waves else (), orders)
        if self.advance:
            found[0] = found[0] + turns * self.advance
        return found

    def moved(self, begin: float) -> Pieces:
        """The same pieces, to begin elsewhere."""
        return Pieces(self.begins - self.begins[0] + begin, self.powers, self.sines, end=self.end)

    def followed(self, others: Sequence[Pieces], advance: float | None) -> Pieces:
        """One function of these pieces and of others, each of which begins where the one before ends."""
        every = [self, *others]
        powers = np.zeros((sum(len(p.powers) for p in every), max(p.powers.shape[1] for p in every)))
        row = 0
        for p in every:
            powers[row : row + len(p.powers), : p.powers.shape[1]] = p.powers
            row += len(p.powers)
        begins = np.concatenate([*(p.begins[:-1] for p in every), every[-1].begins[-1:]])
        return Pieces(begins, powers, np.vstack([p.sines for p in every]), end=every[-1].end, advance=advance)


def _derivatives(s: Any, powers: Sequence[Any], sine: Sequence[Any], orders: int) -> list[Any]:
    """Polynomial and sine at s, and their derivatives: by Horner's scheme, of all orders together."""
    made: list[Any] = [0.0 * s if isinstance(s, np.ndarray) else 0.0] * orders
    for c in reversed(powers):
        for order in range(orders - 1, 0, -1):
            made[order] = made[order] * s + made[order - 1]
        made[0] = made[0] * s + c
    for order in range(2, orders):
        made[order] = made[order] * _FACTORIALS[order]
    if len(sine):
        A, w, phi = sine
        for order in range(orders):
            made[order] = made[order] + A * _SINES[order % 4](w * s + phi)
            A = A * w
    return made


def quintics(times: Array, x: Array, v: Array, a: Array) -> Array:
    """Powers (n - 1, 6) of the polynomials between samples, from value, rate and its rate (n,) at both ends of each."""
    h, d = np.diff(times), np.diff(x)
    v0, v1, a0, a1 = v[:-1] * h, v[1:] * h, a[:-1] * h**2, a[1:] * h**2
    scaled = [
        x[:-1],
        v0,
        0.5 * a0,
        10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1,
    ]
    return np.column_stack(scaled) / h[:, None] ** np.arange(6)


def hermite(nodes: Array, values: Array) -> Array:
    """Powers of the polynomial with value and derivatives (nodes, m) at nodes, the first of which is 0.

    It is found in divided differences (Newton's form) over the width of all nodes, and then multiplied out.
    """
    m, width = values.shape[1], float(nodes[-1])
    x = np.repeat(nodes / width, m)
    scaled = values * width ** np.arange(m) / _FACTORIALS[:m]
    table = np.repeat(scaled[:, 0], m)
    newton = [table[0]]
    for order in range(1, len(x)):
        fresh = np.empty(len(x) - order)
        for i in range(len(fresh)):
            gap = x[i + order] - x[i]
            fresh[i] = scaled[i // m, order] if gap == 0.0 else (table[i + 1] - table[i]) / gap
        table = fresh
        newton.append(table[0])
    made = np.zeros(len(x))
    for c, at in zip(reversed(newton), reversed(x), strict=True):
        made = np.concatenate([[0.0], made[:-1]]) - at * made
        made[0] += c
    return made / width ** np.arange(len(x))


class Profile(KeepsArguments):
    """Base of references: coordinates over time, in pieces, with exact derivatives.

    Attributes
    ----------
    span : (float, float) or None
        When it begins and ends, s; None where it goes on for ever. Outside of it the coordinates are held.
    period : float or None
        Time after which it repeats, s.
    """

    _parts: Sequence[Pieces]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self._parts)

    @property
    def span(self) -> tuple[float, float] | None:
        if any(not part.bounded or part.advance is not None for part in self._parts):
            return None
        return min(float(p.begins[0]) for p in self._parts), max(float(p.begins[-1]) for p in self._parts)

    @property
    def period(self) -> float | None:
        periodic = all(part.bounded and part.advance is not None for part in self._parts)
        return self._parts[0].period if periodic else None

    def derivatives(self, t: Any, orders: int = 3) -> list[list[Any]]:
        """Position, velocity and so on, so many orders, of each coordinate: at a number, an array, or a symbol."""
        return [list(order) for order in zip(*[part(t, orders) for part in self._parts], strict=True)]

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        if isinstance(t, Scalar):
            return tuple(array(np.array(part, dtype=object)) for part in self.derivatives(t))  # type: ignore[return-value]
        position, velocity, acceleration = np.array(self.derivatives(float(t)))
        return position, velocity, acceleration

    def over(self, times: ArrayLike) -> Array:
        """Position, velocity and acceleration, a row (3 k,) for each time."""
        times = np.asarray(times, dtype=float)
        return np.column_stack([x for part in self.derivatives(times) for x in part])

    def jerk(self, times: ArrayLike) -> Array:
        """Jerk, the rate of the acceleration, at one time (k,), or at several (m, k)."""
        given = _check.numbers(times, "the times of a jerk")
        found = self.derivatives(np.atleast_1d(given), 4)[3]
        return np.array(found).T.reshape(*given.shape, self.size)

    def _require_ends(self, what: str) -> tuple[float, float]:
        """Begin and end; raises an error for a reference that has none."""
        if self.span is None:
            raise InputError(f"{what} needs a motion that ends, and {_check.shown(self)} goes on for ever")
        return self.span

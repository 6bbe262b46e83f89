"""References: desired motions of the controlled coordinates over time.

A reference is called with the time and returns position, velocity and acceleration, each of
shape (k,) for k controlled coordinates, in rad or m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING
from ..errors import InputError, InputTypeError
from ..kernels import signals
from ..trace.graph import Scalar
from ..trace.symbols import Time
from .pieces import Pieces, Profile, quintics

__all__ = ["Constant", "Quintic", "Reference", "Sine", "Spline", "at_time", "over_times", "require_reference"]

Array = NDArray[np.float64]
Reference = Callable[[float], tuple[Array, Array, Array]]

_COMMON = 1000  # periods of the first sine, within which all sines of a reference repeat


def at_time(function: Callable[[float], Any], t: float) -> Any:
    """Value of a function of time at t; in a law that is traced it is an input, evaluated beside the law."""
    return t.signal(function) if isinstance(t, Time) else function(t)


def over_times(function: Callable[[float], Any], times: Array) -> Array:
    """Values of a function of time at some times, in a row (m,) for each."""
    if hasattr(function, "over"):
        return function.over(times)
    return np.array([row(function(float(t))) for t in times], dtype=np.float64)


def row(values: Any) -> Array:
    """Row (m,) of the numbers that a function of time returns, one after the other."""
    parts = values if isinstance(values, (tuple, list)) else (values,)
    return np.concatenate([np.ravel(np.asarray(x, dtype=np.float64)) for x in parts])


def _values(x: ArrayLike, what: str) -> Array:
    """Vector of finite numbers, one or more, from `x`; refuses others."""
    x = np.atleast_1d(_check.numbers(x, what))
    return _check.vector(x, x.size, what)


def _same_size(**values: Array) -> list[Array]:
    """Broadcast single numbers to the size of the others; refuse sizes that contradict."""
    sizes = {name: v.size for name, v in values.items() if v.size != 1}
    if len(set(sizes.values())) > 1:
        raise InputError(f"the sizes of a reference contradict each other: {sizes}")
    k = max(v.size for v in values.values())
    return [np.broadcast_to(v, (k,)).copy() for v in values.values()]


def require_reference(reference: object, names: Sequence[str] | None) -> None:
    """Refuse a reference that is not callable, or has not as many coordinates as there are names (None: unknown)."""
    if not callable(reference):
        raise InputTypeError(f"the reference must be callable with the time, such as Sine(...), got {reference!r}")
    _check.takes(reference, "the reference", ("t",))
    given = reference(0.0)
    expected = "position, velocity and acceleration"
    parts = [_check.numbers(x, "what the reference returns") for x in _check.sequence(given, "the reference", expected)]
    if names is None:
        return
    k, shapes = len(names), [x.shape for x in parts]
    if isinstance(given, np.ndarray) and given.ndim == 1:
        raise InputError(
            f"the reference must return a tuple (position, velocity, acceleration), of shape ({k},) each, got one "
            f"array of shape {given.shape}"
        )
    if shapes != [(k,)] * 3:
        raise InputError(
            f"the reference must return position, velocity and acceleration of shape ({k},) each "
            f"for the coordinates {tuple(names)}, got {shapes}"
        )
    if not np.isfinite(parts).all():
        raise InputError(f"the reference must be finite, got {given!r} at t = 0")


class Constant(Profile):
    """Constant reference: the coordinates hold a position.

    Examples
    --------
    >>> Constant([2.1, 1.0])(0.5)[0]
    array([2.1, 1. ])
    """

    def __init__(self, position: ArrayLike) -> None:
        self.position = _values(position, "the position of a Constant reference")
        self._parts = [Pieces((-np.inf, np.inf), [[x]]) for x in self.position]

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        if isinstance(t, Scalar):
            return super().__call__(t)
        zero = np.zeros(self.position.size)  # what a law at rest asks for at each call
        return self.position, zero, zero


class Sine(Profile):
    """Sinusoidal reference, centre + amplitude * sin(2 pi frequency t + phase).

    Parameters
    ----------
    centre, amplitude : array_like, shape (k,)
        Middle and amplitude, rad or m; a single number serves all coordinates.
    frequency_hz : array_like
        Frequency, Hz.
    phase : array_like
        Phase, rad.

    Examples
    --------
    >>> position, velocity, _ = Sine(centre=[2.0], amplitude=[0.1], frequency_hz=1.0)(0.0)
    >>> position, velocity.round(4)
    (array([2.]), array([0.6283]))
    """

    def __init__(
        self, centre: ArrayLike, amplitude: ArrayLike, frequency_hz: ArrayLike, phase: ArrayLike = 0.0
    ) -> None:
        self.centre, self.amplitude, self.frequency_hz, self.phase = _same_size(
            centre=_values(centre, "the centre of a Sine reference"),
            amplitude=_values(amplitude, "the amplitude of a Sine reference"),
            frequency_hz=_values(frequency_hz, "the frequency_hz of a Sine reference"),
            phase=_values(phase, "the phase of a Sine reference"),
        )
        waves = np.column_stack([self.amplitude, 2.0 * np.pi * self.frequency_hz, self.phase])
        self._parts = [Pieces((-np.inf, np.inf), [[c]], [wave]) for c, wave in zip(self.centre, waves, strict=True)]

    @property
    def period(self) -> float | None:
        frequencies = np.abs(self.frequency_hz[self.frequency_hz != 0.0])
        if not frequencies.size:
            return None
        ratios = [Fraction(f / frequencies[0]).limit_denominator(_COMMON) for f in frequencies.tolist()]
        if any(abs(float(r) - f / frequencies[0]) > ROUNDING * r for r, f in zip(ratios, frequencies, strict=True)):
            return None
        return math.lcm(*(r.denominator for r in ratios)) / float(frequencies[0])

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        if isinstance(t, Scalar):
            return super().__call__(t)
        # compiled: the reference of most laws that are called in Python
        position, velocity, acceleration = signals.sine(
            float(t), self.centre, self.amplitude, self.frequency_hz, self.phase
        )
        return position, velocity, acceleration


class Quintic(Profile):
    """Reference from a start to a goal in a given time, at rest at both ends, with continuous acceleration.

    Examples
    --------
    >>> Quintic([0.0], [1.0], duration=2.0)(1.0)[0]
    array([0.5])
    """

    def __init__(self, start: ArrayLike, goal: ArrayLike, duration: float, begin: float = 0.0) -> None:
        self.start, self.goal = _same_size(
            start=_values(start, "the start of a Quintic reference"),
            goal=_values(goal, "the goal of a Quintic reference"),
        )
        self.duration = _check.positive(duration, "the duration of a Quintic reference")
        self.begin = _check.number(begin, "the begin of a Quintic reference")
        shape = np.array([10.0, -15.0, 6.0]) / self.duration ** np.arange(3, 6)
        times = self.begin, self.begin + self.duration
        self._parts = [
            Pieces(times, [[a, 0.0, 0.0, *((b - a) * shape)]], end=b)
            for a, b in zip(self.start, self.goal, strict=True)
        ]


class Spline(Profile):
    """Reference by a smooth curve through given samples, at rest at both ends and held before and after; or periodic.

    The curve is the cubic spline, with continuous acceleration. It swings beyond its samples where they stay or turn.
    A monotone curve does not: between two samples it goes from one to the other and no further, turns at samples
    only, and rests exactly where two samples are equal (a dwell). Its pieces are of degree five, its acceleration is
    continuous; velocities at samples are harmonic means of the slopes beside them (Fritsch and Butland, SIAM J. Sci.
    Stat. Comput. 5, 1984), and are made smaller, with accelerations, where a piece would not be monotone.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times, s, increasing.
    positions : array_like, shape (n, k)
    periodic : bool
        Whether it repeats after the last time, with continuous velocity and acceleration. Where the last position is
        not the first one, each period goes on from there: a crank that turns gains 2 pi.
    monotone : bool

    Examples
    --------
    >>> Spline([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]])(1.0)[0]
    array([1.])
    >>> Spline([0.0, 0.3, 1.0], [0.0, 3.0, 2.0 * np.pi], periodic=True)(10.3)[0].round(9)  # ten turns and 3 rad
    array([65.83185307])
    """

    def __repr__(self) -> str:
        return (
            f"<Spline: {self.size} positions at {self.times.size} times from {self.times[0]:g} to {self.times[-1]:g} s>"
        )

    def __init__(
        self, times: ArrayLike, positions: ArrayLike, *, periodic: bool = False, monotone: bool = False
    ) -> None:
        self.times, x = samples(times, positions, "a Spline reference")
        periodic, monotone = _check.flag(periodic, "periodic"), _check.flag(monotone, "monotone")
        curve = _monotone if monotone else _cubic
        advances = x[-1] - x[0] if periodic else [None] * x.shape[1]
        self._parts = [
            Pieces(self.times, curve(self.times, one, periodic), end=one[-1], advance=advance)
            for one, advance in zip(x.T, advances, strict=True)
        ]


def samples(times: ArrayLike, positions: ArrayLike, what: str) -> tuple[Array, Array]:
    """Times (n,) and positions (n, k) of samples, checked."""
    times = _values(times, f"the times of {what}")
    positions = _check.numbers(positions, f"the positions of {what}")
    positions = positions[:, None] if positions.ndim == 1 else positions
    if times.size < 2 or np.any(np.diff(times) <= 0.0):
        raise InputError(f"the times of {what} must increase, got {times.tolist()}")
    if positions.ndim != 2 or len(positions) != times.size or not positions.shape[1]:
        raise InputError(f"positions must have shape ({times.size}, k), got {positions.shape}")
    if not np.isfinite(positions).all():
        raise InputError(f"the positions of {what} must be finite")
    return times, positions


def _cubic(times: Array, x: Array, periodic: bool) -> Array:
    """Powers (n - 1, 4) of the cubic spline."""
    from scipy.interpolate import CubicSpline

    if not periodic:
        return CubicSpline(times, x, bc_type="clamped").c[::-1].T
    slope = (x[-1] - x[0]) / (times[-1] - times[0])  # of the turning itself; what is left is periodic
    left = x - slope * (times - times[0])
    left[-1] = left[0]
    powers = CubicSpline(times, left, bc_type="periodic").c[::-1].T.copy()
    powers[:, 0], powers[:, 1] = x[:-1], powers[:, 1] + slope
    return powers


def _monotone(times: Array, x: Array, periodic: bool) -> Array:
    """Powers (n - 1, 6) of the monotone curve of `Spline`."""
    h = np.diff(times)
    d, n = np.diff(x) / h, len(x)
    before, after, ha, hb = np.roll(d, 1), d, np.roll(h, 1), h  # of the sample at the begin of each piece
    same = before * after > 0.0
    weights = 2.0 * hb + ha, hb + 2.0 * ha
    with np.errstate(all="ignore"):
        v = np.where(same, sum(weights) / (weights[0] / before + weights[1] / after), 0.0)
    a = np.where(before * after != 0.0, 2.0 * (after - before) / (ha + hb), 0.0)
    v, a = np.append(v, v[0]), np.append(a, a[0])
    if not periodic:
        v[[0, -1]], a[[0, -1]] = 0.0, 0.0
    # towards rest at both ends, where the piece is monotone: 10 s^3 - 15 s^4 + 6 s^5
    asked = np.arange(n - 1)
    while True:
        powers = quintics(times, x, v, a)
        powers[d == 0.0, 1:] = 0.0
        turning = np.array([i for i in asked if not _is_monotone(powers[i], h[i])], dtype=int)
        if not turning.size:
            return powers
        ends = np.concatenate([turning, turning + 1])
        if periodic and np.isin(ends, (0, n - 1)).any():
            ends = np.concatenate([[0, n - 1], ends])
        ends = np.unique(ends)
        v[ends], a[ends] = 0.8 * v[ends], 0.8 * a[ends]
        asked = np.intersect1d(np.concatenate([ends - 1, ends]), np.arange(n - 1))


def _is_monotone(powers: Array, width: float) -> bool:
    """Whether a polynomial of degree five goes one way from 0 to `width`, to rounding."""
    scaled = np.polynomial.Polynomial(powers * width ** np.arange(6))
    rate = scaled.deriv()
    extremes = np.asarray(rate.deriv().roots(), dtype=complex)
    at = extremes.real[(np.abs(extremes.imag) < 1e-6) & (extremes.real > 0.0) & (extremes.real < 1.0)]
    rates = rate(np.concatenate([[0.0, 1.0], at]))
    rounding = 1e-13 * np.abs(rates).max()
    return bool((rates >= -rounding).all() or (rates <= rounding).all())

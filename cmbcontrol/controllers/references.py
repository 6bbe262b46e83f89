"""References: desired motions of the controlled coordinates over time.

A reference is called with the time and returns position, velocity and acceleration, each of
shape (k,) for k controlled coordinates, in rad or m.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._arguments import KeepsArguments
from ..errors import InputError, InputTypeError
from ..kernels import signals
from ..trace.symbols import Time

__all__ = ["Constant", "Quintic", "Reference", "Sine", "Spline", "at_time", "over_times", "require_reference"]

Array = NDArray[np.float64]
Reference = Callable[[float], tuple[Array, Array, Array]]


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


class Constant(KeepsArguments):
    """Constant reference: the coordinates hold a position.

    Examples
    --------
    >>> Constant([2.1, 1.0])(0.5)[0]
    array([2.1, 1. ])
    """

    def __init__(self, position: ArrayLike) -> None:
        self.position = _values(position, "the position of a Constant reference")

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        zero = np.zeros(self.position.size)
        return self.position, zero, zero

    def over(self, times: Array) -> Array:
        """Position, velocity and acceleration, a row (3 k,) for each time."""
        return np.tile(np.concatenate(self(0.0)), (len(times), 1))


class Sine(KeepsArguments):
    """Sinusoidal reference, centre + amplitude * sin(2 pi frequency t + phase).

    Parameters
    ----------
    centre, amplitude : array_like, shape (k,)
        Middle and amplitude, rad or m; a single number serves all coordinates.
    frequency : array_like
        Frequency, Hz.
    phase : array_like
        Phase, rad.

    Examples
    --------
    >>> position, velocity, _ = Sine(centre=[2.0], amplitude=[0.1], frequency=1.0)(0.0)
    >>> position, velocity.round(4)
    (array([2.]), array([0.6283]))
    """

    def __init__(self, centre: ArrayLike, amplitude: ArrayLike, frequency: ArrayLike, phase: ArrayLike = 0.0) -> None:
        self.centre, self.amplitude, self.frequency, self.phase = _same_size(
            centre=_values(centre, "the centre of a Sine reference"),
            amplitude=_values(amplitude, "the amplitude of a Sine reference"),
            frequency=_values(frequency, "the frequency of a Sine reference"),
            phase=_values(phase, "the phase of a Sine reference"),
        )

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        position, velocity, acceleration = signals.sine(
            float(t), self.centre, self.amplitude, self.frequency, self.phase
        )
        return position, velocity, acceleration

    def over(self, times: Array) -> Array:
        """Position, velocity and acceleration, a row (3 k,) for each time."""
        w = 2.0 * np.pi * self.frequency
        angle = w * times[:, None] + self.phase
        sine = self.amplitude * np.sin(angle)
        return np.hstack([self.centre + sine, w * self.amplitude * np.cos(angle), -w * w * sine])


class Quintic(KeepsArguments):
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

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        return self._at(float(min(max((t - self.begin) / self.duration, 0.0), 1.0)))

    def over(self, times: Array) -> Array:
        """Position, velocity and acceleration, a row (3 k,) for each time."""
        return np.hstack(self._at(np.minimum(np.maximum((times - self.begin) / self.duration, 0.0), 1.0)[:, None]))

    def _at(self, s: Any) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at parts s of the duration."""
        T, way = self.duration, self.goal - self.start
        position = self.start + way * (s**3 * (10.0 - 15.0 * s + 6.0 * s * s))
        velocity = way * (30.0 * s * s * (1.0 - s) ** 2 / T)
        acceleration = way * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / T**2)
        return position, velocity, acceleration


class Spline(KeepsArguments):
    """Reference by a cubic spline through given samples (at rest at both ends, held before and after).

    Parameters
    ----------
    times : array_like, shape (n,)
        Times, s, increasing.
    positions : array_like, shape (n, k)

    Examples
    --------
    >>> Spline([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]])(1.0)[0]
    array([1.])
    """

    def __repr__(self) -> str:
        positions = self._spline.c.shape[-1]
        return (
            f"<Spline: {positions} positions at {self.times.size} times from {self.times[0]:g} to {self.times[-1]:g} s>"
        )

    def __init__(self, times: ArrayLike, positions: ArrayLike) -> None:
        from scipy.interpolate import CubicSpline

        self.times = _values(times, "the times of a Spline reference")
        positions = _check.numbers(positions, "the positions of a Spline reference")
        positions = positions[:, None] if positions.ndim == 1 else positions
        if self.times.size < 2 or np.any(np.diff(self.times) <= 0.0):
            raise InputError(f"the times of a Spline reference must increase, got {self.times.tolist()}")
        if positions.ndim != 2 or len(positions) != self.times.size:
            raise InputError(f"positions must have shape ({self.times.size}, k), got {positions.shape}")
        if not np.isfinite(positions).all():
            raise InputError("the positions of a Spline reference must be finite")
        self._spline = CubicSpline(self.times, positions, bc_type="clamped")

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        inside = min(max(t, self.times[0]), self.times[-1])
        position = self._spline(inside)
        if t != inside:
            return position, np.zeros_like(position), np.zeros_like(position)
        return position, self._spline(inside, 1), self._spline(inside, 2)

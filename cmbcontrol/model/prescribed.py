"""Values of prescribed motions: numbers, functions of time, formulas whose derivatives are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError, ModelError
from .formula import curve_of

__all__ = ["Prescribed", "motion_of", "uniform"]

Array = NDArray[np.float64]
Prescribed = float | ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike] | Callable[[float], Any]


def motion_of(name: str, value: Prescribed, count: int) -> Callable[[float], Array]:
    """Function of time that returns position, velocity and acceleration (count, 3) of a prescribed motion.

    Parameters
    ----------
    name : str
        Name of the motion, for messages.
    value : number, array_like, tuple or callable
        A position (count,); a tuple of position, velocity and acceleration at time zero; or a function of time that
        returns such a tuple, as references do, or a position, written with operations of which derivatives are taken.
    count : int
        Number of components.

    Raises
    ------
    ValueError, TypeError
        Where it is none of these; later values of a function are checked when it is called.

    Examples
    --------
    >>> motion_of("shaker", lambda t: 0.1 * np.cos(3.0 * t), 1)(0.0).round(3) + 0.0
    array([[ 0.1,  0. , -0.9]])
    """
    what = f"motion {name!r}"
    if not callable(value):
        parts = value if isinstance(value, tuple) and len(value) == 3 and count != 3 else None
        if isinstance(value, tuple) and len(value) == 3 and count == 3 and np.ndim(value[0]) > 0:
            parts = value
        if parts is None:
            parts = value, np.zeros(count), np.zeros(count)
        return uniform(_columns(parts, count, what))
    _check.takes(value, what, ("t",))
    try:
        first = value(0.0)
    except Exception as error:
        raise InputError(f"{what} fails at t = 0: {type(error).__name__}: {error}") from error
    if isinstance(first, (tuple, list)) and len(first) == 3 and (count != 3 or np.ndim(first[0]) > 0):
        _columns(first, count, f"{what} at t = 0")

        def told(t: float) -> Array:
            return _columns(value(t), count, f"{what} at t = {t:.6g} s")

        _require_rates(told, what)
        return told
    if np.size(first) != count:
        raise InputError(
            f"{what} must say {_words(count)}, or position, velocity and acceleration, a tuple of three; got "
            f"{_check.shown(first)} at t = 0"
        )
    try:
        curve = curve_of(what, lambda t: list(np.ravel(np.asarray(value(t), dtype=object))))
    except ModelError as error:
        raise InputError(
            f"{error}. Or return position, velocity and acceleration, a tuple of three, as the references Sine, Spline "
            "and Quintic do"
        ) from error
    _columns(tuple(curve(0.0).T), count, f"{what} at t = 0")
    return curve


def uniform(start: Array) -> Callable[[float], Array]:
    """Motion with constant acceleration, from position, velocity and acceleration (count, 3) at time zero."""
    if not start[:, 1:].any():
        return lambda t: start
    position, velocity, acceleration = start.T

    def moved(t: float) -> Array:
        gained = acceleration * t
        return np.stack([position + (velocity + 0.5 * gained) * t, velocity + gained, acceleration], axis=1)

    return moved


def _require_rates(told: Callable[[float], Array], what: str) -> None:
    """Raise an error for velocities and accelerations that are not the rates of positions and velocities.

    No motion follows them. One check shows a wrong sign or unit. In so short a step, motions of up to a million radians
    a second are smooth.
    """
    t, h = 0.0123, 1e-7
    before, here, after = told(t - h), told(t), told(t + h)
    for order, kind, of in ((1, "velocity", "position"), (2, "acceleration", "velocity")):
        rate = (after - before)[:, order - 1] / (2.0 * h)
        rounding = 1e-15 * np.abs(here[:, order - 1]) / h
        off = np.abs(rate - here[:, order]) > 0.05 * np.maximum(np.abs(rate), np.abs(here[:, order])) + 100.0 * rounding
        if off.any():
            k = int(off.argmax())
            raise InputError(
                f"{what} says the {kind} {here[k, order]:.6g} at t = {t} s, where its {of} changes at a rate of "
                f"{rate[k]:.6g}. Say the true one, or return the position alone, which is differentiated"
            )


def _words(count: int) -> str:
    return "a position" if count == 1 else f"a position of {count} numbers"


def _columns(parts: Any, count: int, what: str) -> Array:
    """Position, velocity and acceleration as columns (count, 3), checked."""
    if not isinstance(parts, (tuple, list)) or len(parts) != 3:
        raise InputTypeError(f"{what}: position, velocity and acceleration are three, got {_check.shown(parts)}")
    columns = []
    for x, kind in zip(parts, ("position", "velocity", "acceleration"), strict=True):
        x = np.atleast_1d(_check.numbers(x, f"the {kind} of {what}"))
        if x.shape != (count,) or not np.isfinite(x).all():
            wanted = "a finite number" if count == 1 else f"{count} finite numbers"
            raise InputError(f"{what}: its {kind} must be {wanted}, got {_check.shown(x.tolist())}")
        columns.append(x)
    return np.stack(columns, axis=1)

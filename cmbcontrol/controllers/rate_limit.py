"""Rate limit of the efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import Setting, per_motor, require_one_each, require_values
from .lagging_effort import LaggingEffort, bound_initial

__all__ = ["RateLimit"]

Array = NDArray[np.float64]


@frozen
class RateLimit(LaggingEffort):
    """Rate limit of the motors: a block whose efforts change no faster than given rates.

    In sampled time an effort differs from the one before by no more than rate times period. In continuous time, and
    behind the held efforts, it follows with du/dt = clip((u_c - u) / time_constant, -rate, rate).

    Parameters
    ----------
    rate : float, array_like (nu,), or mapping of motor name to float
        Largest rates to both sides, N/s or N m/s; motors that a mapping does not name have no limit.
    time_constant : float, optional
        Time constant, s; needed in continuous time, and without effect in sampled time.
    initial : float, array_like (nu,), or mapping of motor name to float
        Efforts before the first sample, or at the start, N or N m.
    plant : Plant, optional
        Plant that has the names of motors, where the law has no plant of its own.

    Raises
    ------
    ValueError
        For rates that are not positive, unknown motors, and without a time constant in continuous time.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> chain = (lambda t, terms, state: [9.0, -9.0]) | RateLimit(100.0, time_constant=0.01)
    >>> chain.evaluate(0.0, plant.terms(plant.assemble(), [0.0] * 4), chain.start(plant)).state
    array([ 100., -100.])
    """

    rate: Held[ArrayLike | Mapping[str, float], Any]
    time_constant: Held[float | None, float] = held(None)
    initial: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    period: Held[float | None, float] = field(default=held(None), init=False, repr=False)  # None: in continuous time

    def __post_init__(self) -> None:
        require_values(self.rate, "the rate of RateLimit")
        require_values(self.initial, "the initial efforts of RateLimit", negative=True)

    def bound(self, setting: Setting) -> Self:
        given = self.rate
        if isinstance(given, Mapping):
            names = setting.known(self, "for names of motors").actuator_names
            given = dict.fromkeys(names, np.inf) | dict(given)
        rate = per_motor(given, setting, self, "the rate of RateLimit")
        if (rate == 0.0).any():
            raise InputError(f"the rate of RateLimit must be > 0, got {rate.tolist()}")
        if self.time_constant is not None:
            _check.positive(self.time_constant, "the time constant of RateLimit")
        elif setting.continuous:
            raise InputError(
                f"{self!r} works in continuous time here, where it needs a time constant with which efforts follow: "
                "RateLimit(rate, time_constant=...). In sampled time it stands before the blocks of the machine."
            )
        initial = bound_initial(self, setting)
        block = replace(self, rate=rate, initial=initial)
        object.__setattr__(block, "period", None if setting.continuous else setting.period)
        return block

    def start(self, plant: Plant) -> Array:
        require_one_each(np.asarray(self.rate), plant, "the rate of RateLimit")
        return super().start(plant)

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{n}_limited" for n in plant.actuator_names]

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        if self.period is None:
            return state
        most = self.rate * self.period
        return np.minimum(np.maximum(u, state - most), state + most)

    def cut(self, t: float, terms: Terms, u: Array, state: Array | None) -> Array | None:
        if state is None:  # behind the held efforts, where its state is that of the machine
            return None
        if self.period is None:
            return self.time_constant * (self.derivative(t, terms, u, state) - (u - state) / self.time_constant)
        return self.effort(t, terms, u, state) - u

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        rate = (u - state) / self.time_constant
        return np.minimum(np.maximum(rate, -self.rate), self.rate)

    def update(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return self.effort(t, terms, u, state)

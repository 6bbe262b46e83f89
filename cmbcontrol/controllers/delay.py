"""Computation and transport delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import EffortBlock, Setting, of_motors, per_motor, require_one_each, require_values

__all__ = ["Delay"]

Array = NDArray[np.float64]


@frozen
class Delay(EffortBlock):
    """Delay of the efforts of a sampled law against its samples: the time to compute and to send them.

    Several delays add up. Blocks of the controller that follow are computed at the sample all the same; they commute
    with a delay.

    Parameters
    ----------
    delay : float, array_like (nu,), or mapping of motor name to float
        Delay, s, of any length, also of more than a period or a part of it.
    initial : "hold", array_like (nu,), or mapping of motor name to float
        Efforts of the motors before the first one arrives, N or N m: ``"hold"`` for that of the first sample, as if the
        controller had been at work before the start; or numbers, such as 0 for motors that are switched on at the
        start. One of several delays may give numbers.
    plant : Plant, optional
        Plant that has the names of motors, where the law has no plant of its own.

    Raises
    ------
    ValueError
        If a delay is negative; in a chain, for a law in continuous time, unknown motors, efforts that are not finite.

    Examples
    --------
    >>> from cmbcontrol.controllers import FunctionController
    >>> law = FunctionController(lambda t, terms, state: -terms.v, period=1e-3)
    >>> (law | Delay(5e-4) | Delay(1e-3)).delay
    array(0.0015)
    """

    delay: Held[ArrayLike | Mapping[str, float], Any]
    initial: Held[str | ArrayLike | Mapping[str, float], Any] = held("hold")
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    place = "controller"

    def __post_init__(self) -> None:
        require_values(self.delay, "a Delay")

    def bound(self, setting: Setting) -> Self:
        if setting.period is None:
            raise InputError(
                f"{self!r} follows a law in continuous time, where a delay has no finite number of states. Give the "
                "law a period; margins(...) says what delay a loop in continuous time bears."
            )
        delay = per_motor(self.delay, setting, self, "a Delay")
        if not np.isfinite(delay).all():
            raise InputError(f"a Delay must be finite, got {delay.tolist()}")
        if isinstance(self.initial, str):
            _check.one_of(self.initial, ("hold",), "initial")
            return replace(self, delay=delay)
        initial = of_motors(self.initial, setting, self, "the initial efforts of a Delay")
        if initial.ndim > 1 or not np.isfinite(initial).all():
            raise InputError(
                "the initial efforts of a Delay must be finite, a number or one for each motor, or 'hold', got "
                f"{initial.tolist()}"
            )
        return replace(self, delay=delay, initial=initial)

    @property
    def latency(self) -> ArrayLike:  # type: ignore[override]
        """Delay that the block adds between a sample and its effort, s."""
        return self.delay

    @property
    def initial_effort(self) -> Array | None:  # type: ignore[override]
        """Efforts until the first one of the law arrives, N or N m; None for that of the first sample."""
        return None if isinstance(self.initial, str) else np.asarray(self.initial)

    def start(self, plant: Plant) -> Array:
        require_one_each(np.asarray(self.delay), plant, "a Delay")
        if self.initial_effort is not None:
            require_one_each(self.initial_effort, plant, "the initial efforts of a Delay")
        return np.zeros(0)

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return u

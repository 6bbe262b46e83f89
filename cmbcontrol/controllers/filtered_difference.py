"""Velocity from differences of positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import where_less
from .chain import SensorBlock, Setting
from .encoder import require_samples

__all__ = ["FilteredDifference"]

Array = NDArray[np.float64]


@frozen
class FilteredDifference(SensorBlock):
    """Velocity from backward differences of the positions, through a filter of first order.

        v(k) = a v(k-1) + (1 - a) (q(k) [-] q(k-1)) / T,    a = exp(-T / time_constant)

    The difference is the velocity half a period ago; the filter adds about its time constant. At the first sample of a
    run there is no difference yet, and the velocity is handed on as it comes, as of a settled filter. On joints of
    several axes the difference is the rotation and shift from sample to sample, in the axes of the body.

    Parameters
    ----------
    time_constant : float, optional
        Time constant of the filter, s; 0 is the plain difference.
    cutoff_hz : float, optional
        Its corner frequency, Hz: 1 / (2 pi time_constant).
    plant : Plant, optional
        Plant that has the joints of the machine, where the law has no plant of its own.

    Raises
    ------
    ValueError
        In continuous time, and for values that are not positive.
    TypeError
        Unless just one of time_constant and cutoff_hz is given.

    Examples
    --------
    >>> FilteredDifference(cutoff_hz=30.0).time_constant
    0.00530516
    """

    time_constant: Held[float | None, float] = held(None)
    cutoff_hz: float | None = field(default=None, kw_only=True)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _setting: Held[Setting | None, Setting] = field(default=held(None), init=False, repr=False)

    def __post_init__(self) -> None:
        if (self.time_constant is None) == (self.cutoff_hz is None):
            raise InputTypeError("give FilteredDifference either a time_constant (s) or a cutoff_hz")
        if self.cutoff_hz is not None:
            tau = 1.0 / (2.0 * np.pi * _check.positive(self.cutoff_hz, "the cutoff_hz of FilteredDifference"))
            object.__setattr__(self, "time_constant", tau)
            object.__setattr__(self, "cutoff_hz", None)
        _check.positive(self.time_constant, "the time constant of FilteredDifference", zero=True)

    def bound(self, setting: Setting) -> Self:
        require_samples(self, setting)
        setting.known(self, "for its joints")
        block = replace(self)
        object.__setattr__(block, "_setting", setting)
        return block

    # states: whether there is a last sample (0 or 1), its positions, the filtered velocity

    def start(self, plant: Plant) -> Array:
        return np.zeros(1 + plant.nq + plant.nv)

    def count(self, terms) -> int:
        return 1 + terms.q.size + terms.v.size

    def state_names(self, plant: Plant) -> Sequence[str]:
        last = [f"{n}_last" for n in plant.position_names]
        return ["difference_begun", *last, *(f"{n}_filtered_rate" for n in plant.velocity_names)]

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        return after

    def measured(self, t: float, q: Array, v: Array, state: Array) -> tuple[Array, Array]:
        plant, T = self._setting.plant, self._setting.period
        a = np.exp(-T / self.time_constant) if self.time_constant != 0.0 else 0.0  # type: ignore[operator]
        last, filtered = state[1 : 1 + q.size], state[1 + q.size :]
        last = where_less(state[0], 0.5, q, last)  # at the first sample there is none
        difference = plant.difference(last, q) / T  # type: ignore[union-attr]
        return q, where_less(state[0], 0.5, v, a * filtered + (1.0 - a) * difference)

    def update(self, t: float, q: Array, v: Array, state: Array) -> Array:
        return self._after(t, (q, v), self.measured(t, q, v, state), state)

    def _after(self, t: float, before: tuple[Array, Array], after: tuple[Array, Array], state: Array) -> Array:
        q, v = after
        return np.concatenate([np.ones(1), q, v])

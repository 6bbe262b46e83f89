"""Actuator saturation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._frozen import Held, frozen, held
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import EffortBlock, Setting, per_motor, require_one_each, require_values

__all__ = ["Saturation"]

Array = NDArray[np.float64]


@frozen
class Saturation(EffortBlock):
    """Saturation of the motors: a block that cuts efforts to what they can give.

    Integrals of the law before it do not grow while it does (`Controller.anti_windup`).

    Parameters
    ----------
    limits : float, array_like (nu,), or mapping of motor name to float, optional
        Largest efforts to both sides, N or N m; motors that a mapping does not name have no limit. Defaults to those
        of the plant (``plant.effort``).
    plant : Plant, optional
        Plant that has the limits, where the law has no plant of its own.

    Raises
    ------
    ValueError
        For negative limits, unknown motors, and where no plant is known that has limits.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> law = [50.0, -20.0] | Saturation({"left": 30.0}, plant=plant)
    >>> law(0.0, plant.terms(plant.assemble(), [0.0] * 4), law.start(plant))
    array([ 30., -20.])
    """

    limits: Held[ArrayLike | Mapping[str, float] | None, Any] = held(None)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.limits is not None:
            require_values(self.limits, "the limits of Saturation")

    def bound(self, setting: Setting) -> Self:
        if self.limits is None:
            return replace(self, limits=setting.known(self, "for its effort limits").effort)
        given = self.limits
        if isinstance(given, Mapping):
            names = setting.known(self, "for names of motors").actuator_names
            given = dict.fromkeys(names, np.inf) | dict(given)
        return replace(self, limits=per_motor(given, setting, self, "the limits of Saturation"))

    def start(self, plant: Plant) -> Array:
        require_one_each(np.asarray(self.limits), plant, "the limits of Saturation")
        return np.zeros(0)

    def cut(self, t: float, terms: Terms, u: Array, state: Array | None) -> Array:
        return self.effort(t, terms, u, np.zeros(0)) - u

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return np.minimum(np.maximum(u, -self.limits), self.limits)  # np.clip is slow

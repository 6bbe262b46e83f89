"""Actuators that lag behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import Block, EffortBlock, Setting, of_motors, per_motor, require_one_each

__all__ = ["FirstOrderActuator"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FirstOrderActuator(EffortBlock):
    """Efforts follow what is asked for with du/dt = (u_c - u) / time_constant: a current loop, a valve.

    Part of the machine: behind the held efforts of a sampled law it moves in continuous time.

    Parameters
    ----------
    time_constant : float, array_like (nu,), or mapping of motor name to float
        s. A mapping names all motors.
    initial : float, array_like (nu,), or mapping of motor name to float
        Efforts at the start, N or N m; 0 for motors that a mapping does not name.
    plant : Plant, optional
        For names of motors, where the law has no plant of its own.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> chain = (lambda t, terms, state: [3.0, -1.0]) | FirstOrderActuator(0.1)
    >>> terms, state = plant.terms(plant.assemble(), [0.0] * 4), chain.start(plant)
    >>> chain(0.0, terms, state), chain.evaluate(0.0, terms, state).state
    (array([0., 0.]), array([ 30., -10.]))
    """

    time_constant: ArrayLike | Mapping[str, float]
    initial: ArrayLike | Mapping[str, float] = 0.0
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    place = "machine"

    def bound(self, setting: Setting) -> Self:
        tau = per_motor(self.time_constant, setting, self, "the time constant of FirstOrderActuator")
        if not np.isfinite(tau).all() or (tau == 0.0).any():
            raise ValueError(
                f"the time constant of FirstOrderActuator must be > 0 and finite for each motor, got {tau.tolist()}; "
                "leave the block out where a motor answers at once"
            )
        return replace(self, time_constant=tau, initial=initial_efforts(self.initial, setting, self))

    def start(self, plant: Plant) -> Array:
        for x, what in ((self.time_constant, "the time constant"), (self.initial, "the initial efforts")):
            require_one_each(np.asarray(x), plant, f"{what} of FirstOrderActuator")
        return np.broadcast_to(self.initial, (plant.nu,)).astype(np.float64)  # type: ignore[arg-type]

    def count(self, terms: Terms) -> int:
        return terms.B.shape[1]

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{n}_actuator" for n in plant.actuator_names]

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return state

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return (u - state) / self.time_constant  # type: ignore[operator]


def initial_efforts(given: ArrayLike | Mapping[str, float], setting: Setting, block: Block) -> Array:
    """Efforts at the start, of any sign."""
    what = f"the initial efforts of {type(block).__name__}"
    x = of_motors(given, setting, block, what)
    return _check.vector(np.atleast_1d(x), x.size, what) if x.ndim else np.asarray(_check.number(float(x), what))

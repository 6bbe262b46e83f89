"""Actuators with a lag of first order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import Setting, per_motor, require_one_each, require_values
from .lagging_effort import LaggingEffort, bound_initial

__all__ = ["FirstOrderActuator"]

Array = NDArray[np.float64]


@frozen
class FirstOrderActuator(LaggingEffort):
    """Actuators with a lag of first order, du/dt = (u_c - u) / time_constant: a current loop, a valve.

    Part of the machine: behind the held efforts of a sampled law it moves in continuous time.

    Parameters
    ----------
    time_constant : float, array_like (nu,), or mapping of motor name to float
        Time constant, s. A mapping names all motors.
    initial : float, array_like (nu,), or mapping of motor name to float
        Efforts at the start, N or N m; 0 for motors that a mapping does not name.
    plant : Plant, optional
        Plant that has the names of motors, where the law has no plant of its own.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> chain = (lambda t, terms, state: [3.0, -1.0]) | FirstOrderActuator(0.1)
    >>> terms, state = plant.terms(plant.assemble(), [0.0] * 4), chain.start(plant)
    >>> chain(0.0, terms, state), chain.evaluate(0.0, terms, state).state
    (array([0., 0.]), array([ 30., -10.]))
    """

    time_constant: Held[ArrayLike | Mapping[str, float], Any]
    initial: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    place = "machine"

    def __post_init__(self) -> None:
        require_values(self.time_constant, "the time constant of FirstOrderActuator")
        require_values(self.initial, "the initial efforts of FirstOrderActuator", negative=True)

    def bound(self, setting: Setting) -> Self:
        tau = per_motor(self.time_constant, setting, self, "the time constant of FirstOrderActuator")
        if not np.isfinite(tau).all() or (tau == 0.0).any():
            raise InputError(
                f"the time constant of FirstOrderActuator must be > 0 and finite for each motor, got {tau.tolist()}; "
                "leave the block out where a motor answers at once"
            )
        return replace(self, time_constant=tau, initial=bound_initial(self, setting))

    def start(self, plant: Plant) -> Array:
        require_one_each(np.asarray(self.time_constant), plant, "the time constant of FirstOrderActuator")
        return super().start(plant)

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{n}_actuator" for n in plant.actuator_names]

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return state

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return (u - state) / self.time_constant

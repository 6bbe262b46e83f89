"""A law that computes with a model of its own, in place of the plant that it drives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.plant import Plant
from ..model.terms import Terms
from .protocol import as_controller, period_of, require_same_signals, start_of
from .references import Reference

__all__ = ["OnModel"]

Array = NDArray[np.float64]


class OnModel:
    """A law that is told the equations of motion of a model, in place of those of the plant that it drives.

    The plant gives its positions and velocities, the model everything else: masses, weights, loops, drives. So the
    effect of a payload that the law does not know, or of wrong dimensions, can be simulated and linearized.

    Parameters
    ----------
    model : Mechanism or FunctionPlant
        With the position and velocity coordinates, and the motors, of the plant. All else may differ.
    law : Controller
        Continuous or sampled. Its `period`, `coordinates`, `reference`, `start`, `derivative` and `update` are handed
        on where it has them; ``reference`` can be replaced.

    Raises
    ------
    ValueError
        At the start of a run, where plant and model do not have the same coordinates and motors.

    Notes
    -----
    Where dimensions differ, the loops of the model are not quite closed at the positions of the plant, and a row that
    is redundant on its own manifold may be independent there. No more rows count than the plant has independent ones.

    Examples
    --------
    The law does not know that a link weighs a fifth more; the machine comes to rest aside of the reference:

    >>> from dataclasses import replace
    >>> from cmbcontrol import Constant, Mechanism, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics, closed_loop_equilibrium
    >>> model = plants.five_bar()
    >>> bodies = [replace(b, mass=1.2 * b.mass) if b.name == "left_upper" else b for b in model.bodies]
    >>> parts = {"actuators": model.actuators, "gravity": model.gravity}
    >>> plant = Mechanism("loaded", bodies, model.joints, model.loops, **parts)
    >>> law = ProjectedInverseDynamics(model, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> closed_loop_equilibrium(plant, OnModel(model, law)).point.q[[0, 2]].round(4)
    array([2.1092, 0.9946])
    """

    def __init__(self, model: Plant, law: Any) -> None:
        if not isinstance(model, Plant):
            raise TypeError(
                f"the model must be a plant, such as a Mechanism, got {model!r}; is it OnModel(model, law)?"
            )
        self.model, self.law = model, as_controller(law, model)

    @property
    def period(self) -> float | None:
        """Sample time of the law, s; None in continuous time."""
        return period_of(self.law)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Those that the law controls, where it says so."""
        return self.law.coordinates

    @property
    def reference(self) -> Reference:
        """What the law follows. A new one goes to a copy of the law, which may be in use elsewhere."""
        return self.law.reference

    @reference.setter
    def reference(self, reference: Reference) -> None:
        law = copy.copy(self.law)
        law.reference = reference
        self.law = law

    def start(self, plant: Plant) -> Array:
        """Initial states of the law; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.model, plant)
        return start_of(self.law, self.model)

    def __call__(self, t: float, terms: Terms, state: Array) -> Array:
        """Motor efforts u (nu,), N or N m."""
        return self._on_model(self.law)(t, terms, state)

    @property
    def derivative(self) -> Callable[[float, Terms, Array], Array]:
        """Rate of the states, (t, terms, state) -> (n,), where the law has one."""
        return self._on_model(self.law.derivative)

    @property
    def update(self) -> Callable[[float, Terms, Array], Array]:
        """Next states, (t, terms, state) -> (n,), where the law has them."""
        return self._on_model(self.law.update)

    def _on_model(self, function: Callable) -> Callable[[float, Terms, Array], Array]:
        """A function of the law, told the terms of the model."""
        return lambda t, terms, state: function(t, self.model.terms(terms.q, terms.v, terms.t, cap=terms.rank), state)

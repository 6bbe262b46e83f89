"""A law that computes with a model of its own, in place of the plant that it drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from .around import AroundLaw
from .controller import Cut, Evaluation, MotionLaw, as_controller, evaluated, require_same_signals, start_of

__all__ = ["WithModel"]

Array = NDArray[np.float64]


class WithModel(AroundLaw, MotionLaw):
    """A law that gets the equations of motion of a model, in place of those of the plant that it drives.

    The plant gives its positions and velocities, the model everything else: masses, weights, loops, drives. So the
    effect of a payload that the law does not know, or of wrong dimensions, can be simulated and linearized.

    Parameters
    ----------
    model : Plant
        Model with the position and velocity coordinates, and the motors, of the plant. All else may differ.
    law : Controller
        Continuous or sampled, also a `Chain`. A law that asks its own plant for more than the terms is put on the
        model (``law.with_model(model)``).

    Raises
    ------
    ValueError
        At the start of a run, where plant and model do not have the same coordinates and motors.

    Notes
    -----
    Where dimensions differ, the loops of the model are not quite closed at the positions of the plant, and a row that
    is redundant on its own manifold may be independent there. No more rows count than the plant has independent ones.

    Where constraints come and go during a run, those of the model that have their names do so, too. A lock (`Lock`) is
    unknown to a model that has no constraint of its name.

    A measured constraint force is that of the plant, and so is all that the drive of a sampled law gets: it is part of
    the machine. In continuous time the blocks of a chain are part of the law: write ``WithModel(model, law) |
    DriveFriction(...)`` where they should get the true equations.

    Examples
    --------
    The law does not know that a link weighs a fifth more; the machine comes to rest aside of the reference:

    >>> from dataclasses import replace
    >>> from cmbcontrol import Constant, Mechanism, plants
    >>> from cmbcontrol import closed_loop_equilibrium
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> model = plants.five_bar()
    >>> bodies = [replace(b, mass=1.2 * b.mass) if b.name == "left_upper" else b for b in model.bodies]
    >>> parts = {"actuators": model.actuators, "gravity": model.gravity}
    >>> plant = Mechanism("loaded", bodies, model.joints, model.loops, **parts)
    >>> law = ProjectedInverseDynamics(model, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> closed_loop_equilibrium(plant, WithModel(model, law)).point.q[[0, 2]].round(4)
    array([2.1092, 0.9946])
    """

    def __init__(self, model: Plant, law: Any) -> None:
        if not isinstance(model, Plant):
            raise InputTypeError(
                f"the model must be a plant, such as a Mechanism, got {model!r}; is it WithModel(model, law)?"
            )
        self.model, self.law = model, as_controller(law, model).with_model(model)

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        return self.law.begun(start, after, terms)

    @property
    def plant(self) -> Plant:  # type: ignore[override]
        """Model, which is the machine as the law knows it."""
        return self.model

    def start(self, plant: Plant) -> Array:
        """Initial states of the law; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.model, plant)
        return start_of(self.law, self.model)

    def state_names(self, plant: Plant) -> Sequence[str]:
        """Names of the states of the law, where it names them."""
        return self.law.state_names(self.model)

    def with_model(self, model: Plant) -> WithModel:
        """The law itself: it keeps the model that it was given first."""
        return self

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        return evaluated(self.law, t, self._model_terms(terms), state)

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> ArrayLike:
        return self.law.anti_windup(t, self._model_terms(terms), state, after, cut)

    def error(self, t: float, terms: Terms) -> tuple[Array, Array] | None:
        """Error of the law and its rate, (k,) each, computed with the model; None where the law defines none."""
        return self.law.error(t, self._model_terms(terms))

    def desired_acceleration(self, t: float, terms: Terms) -> Array:
        """Acceleration (nv,) that a motion law wants, computed with the model; refuses other laws."""
        if not isinstance(self.law, MotionLaw):
            raise InputTypeError(f"{self.law.name} is no MotionLaw: it does not say which acceleration it wants")
        return self.law.desired_acceleration(t, self._model_terms(terms))

    def _model_terms(self, terms: Terms) -> Terms:
        """Equations of motion of the model at the plant's state, with the force that was measured."""
        modelled = self.model.as_at(terms).terms(terms.q, terms.v, terms.t, cap=terms.rank).of_independent_rows()
        return modelled if terms.force is None else modelled.with_force(terms.force)

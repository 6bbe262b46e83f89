"""Any linear dynamic controller from measured joints to efforts, about an operating point."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..linear.model import LinearModel
from ..model.plant import Plant
from ..model.terms import Terms
from .controller import Controller, Cut, Evaluation
from .filters import is_system, made_system, plain_system
from .observer import measured_deviation, measured_rows
from .references import Reference
from .state_feedback import StateFeedback

__all__ = ["OutputFeedback"]

Array = NDArray[np.float64]


class OutputFeedback(Controller):
    """Linear dynamic feedback u = u_d + K e of the errors e = y_d - y of measured joints, with K of any order.

    The controller may be from anywhere: `design.mixed_sensitivity`, `design.loop_shaping`, python-control. It acts on
    errors, reference less value, so that a positive gain brings a motor back to its reference.

    Parameters
    ----------
    model : LinearModel
        Model about an equilibrium: fixes the motors that act (its inputs; all others keep the efforts of the operating
        point), and the plant that the feedforward is computed from.
    K : control.StateSpace, control.TransferFunction or mapping
        Controller from the errors of `outputs` to the efforts of the inputs of the model. With a sample time the law
        is sampled, else it works in continuous time. Plain data ``{"A": ..., "B": ..., "C": ..., "D": ...}``, with
        ``"dt"`` in sampled time, are taken, too.
    outputs : sequence of str, optional
        Measured signals: velocity coordinates of the plant, and their rates ``<coordinate>_rate``; dependent ones too.
        Defaults to the outputs of the linear model.
    reference : callable, optional
        As in `StateFeedback`; defaults to the operating point.
    feedforward : {"inverse-dynamics", "linear", "none"}
        Efforts u_d, as in `StateFeedback`.

    Raises
    ------
    ValueError
        For a controller with other numbers of inputs or outputs, unknown names, a model that is not at rest.

    Notes
    -----
    Where later limits cut efforts off, the states of a controller that integrates follow what was let through (Hanus,
    Kinnaert and Henrotte, 1987), as those of `Filter` do.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=1.0)), coordinates=("angle",))
    >>> lead = {"A": [[-40.0]], "B": [[1.0]], "C": [[-1200.0]], "D": [[40.0]]}
    >>> law = OutputFeedback(lin, lead, ("angle",))
    >>> terms = plant.terms(plant.assemble(angle=0.9), [0.0] * 3)
    >>> (law(0.0, terms, np.zeros(1)) - lin.point.u).round(6), law.evaluate(0.0, terms, np.zeros(1)).state.round(6)
    (array([4.]), array([0.1]))
    """

    plant: Plant
    coordinates: Sequence[str]

    def __init__(
        self,
        model: LinearModel,
        K: Any,
        outputs: Sequence[str] | None = None,
        *,
        reference: Reference | None = None,
        feedforward: str = "inverse-dynamics",
    ) -> None:
        none = np.zeros((len(_check.instance(model, LinearModel, "model", "from linearize").inputs), len(model.A)))
        self._ahead = StateFeedback(model, none, reference=reference, feedforward=feedforward)
        self.model, self.plant = model, self._ahead.plant
        self.reference, self.coordinates = self._ahead.reference, self._ahead.coordinates
        outputs = model.outputs if outputs is None else outputs
        self.outputs = _check.sequence((outputs,) if isinstance(outputs, str) else outputs, "outputs", "names")
        self.C, self._joints, self._rates = measured_rows(model, self.outputs)
        data = plain_system(K, "the controller of OutputFeedback")
        if not is_system(data):
            raise InputError("the controller of OutputFeedback is one system of all measurements, not one by motor")
        self._system = made_system(data, "the controller of OutputFeedback")
        wanted = (len(model.inputs), len(self.outputs))
        if self._system.D.shape != wanted:
            raise InputError(
                f"the controller of OutputFeedback has {self._system.D.shape[1]} inputs and {self._system.D.shape[0]} "
                f"outputs; measured are {wanted[1]} ({', '.join(self.outputs)}), and {wanted[0]} motors act "
                f"({', '.join(model.inputs)})"
            )
        self.K = data
        self.period = self._system.dt or None
        self.integrates = not self._system.decays
        self._conditioning = self._system.conditioning()

    def with_reference(self, reference: Reference) -> Self:
        other = copy.copy(self)
        other._ahead = self._ahead.with_reference(reference)
        other.reference = other._ahead.reference
        return other

    # -- the law -------------------------------------------------------------------------------------------

    def start(self, plant: Plant) -> Array:
        """Initial states, zero; refuses a plant with other coordinates or motors than the model."""
        self._ahead.start(plant)
        return np.zeros(len(self._system.A))

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states of the controller."""
        return [f"feedback_{i + 1}" for i in range(len(self._system.A))]

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Errors of the model's coordinates, reference less value, and of their rates, (dof,) each."""
        return self._ahead.error(t, terms)

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, and rates or next values of the states."""
        A, B, C, D, _ = self._system
        desired = self._ahead.desired(t)
        e = -measured_deviation(self.model, desired, terms, self._joints, self._rates)
        u = desired.u.copy()
        u[self._ahead.motors] += C @ state + D @ e if len(A) else D @ e
        return Evaluation(u, A @ state + B @ e if len(A) else state)

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Rates or next values of the states of a controller that integrates, led by the efforts let through."""
        return after + self._conditioning @ cut.lost[self._ahead.motors] if self.integrates else after

    def __repr__(self) -> str:
        time = "" if self.period is None else f", {self.period:g} s a sample"
        of = f"of order {len(self._system.A)} from {', '.join(self.outputs)}"
        return f"<{type(self).__name__} of {self.plant.name!r}, {of}{time}>"

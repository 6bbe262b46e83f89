"""State feedback from measured joints alone, by a linear observer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..linear.model import LinearModel
from ..linear.sampled import zero_order_hold
from ..model.plant import Plant
from ..model.terms import Terms
from .around import AroundLaw
from .controller import Cut, Evaluation
from .state_feedback import DesiredState, StateFeedback, continuous_eigenvalues, require_rest

__all__ = ["ObserverFeedback", "measured_deviation", "measured_rows"]

Array = NDArray[np.float64]

KINDS = ("predictor", "current")


class ObserverFeedback(AroundLaw):
    """State feedback on estimates, which a linear observer makes from measured joints (LQG).

    The observer estimates the deviation e = x - x_d from the reference. In continuous time

        d ê/dt = A ê + B (u - u_d) + L (y - C ê),    u = u_d - K ê,

    with y the deviations of the measured joints of the machine. In sampled time, on the exact zero-order
    hold, ê(k+1) = A ê + B (u - u_d) + L (y - C ê). The effort follows from ê, which is one sample old
    (``kind="predictor"``), or from ê + A^-1 L (y - C ê), which uses the present sample (``kind="current"``); the poles
    are the same. The poles of the loop are those of A - B K and those of A - L C (separation principle).

    Parameters
    ----------
    feedback : StateFeedback
        Gain, reference, feedforward, limits, period and integrals; signals that are integrated must be measured.
    L : array_like, shape (states, outputs)
        Gain of the observer, from `kalman`, or by ``control.place``.
    outputs : sequence of str, optional
        Measured signals: velocity coordinates of the plant, and their rates ``<coordinate>_rate``; dependent ones too.
        Defaults to the outputs of the linear model.
    kind : {"predictor", "current"}
        Kind of estimate in sampled time.
    estimate : array_like, shape (states,), optional
        First estimate of x - x_d; defaults to zero.

    Notes
    -----
    The observer uses the efforts after the limits of the feedback, and after those of blocks in its chain that cut
    efforts off (`EffortBlock.cut`).

    Examples
    --------
    Motor angles alone, without velocities:

    >>> from cmbcontrol import linearize, plants, trim
    >>> from cmbcontrol import linearize_closed_loop
    >>> from cmbcontrol.design import kalman, lqr
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> feedback = lqr(lin, Q={"left": 400.0, "right": 400.0}, R=0.01)
    >>> L = kalman(lin, ("left", "right"), effort_noise=1.0, measurement_noise=1e-6)
    >>> law = ObserverFeedback(feedback, L, ("left", "right"))
    >>> linearize_closed_loop(plant, law).stable
    True
    """

    plant: Plant
    period: float
    inner = "feedback"

    def __init__(
        self,
        feedback: StateFeedback,
        L: ArrayLike,
        outputs: Sequence[str] | None = None,
        *,
        kind: str = "predictor",
        estimate: ArrayLike | None = None,
    ) -> None:
        if not isinstance(feedback, StateFeedback):
            raise InputTypeError(f"feedback must be a StateFeedback, such as lqr(...), got {type(feedback).__name__}")
        self.feedback, self.model, self.plant = feedback, feedback.model, feedback.plant
        self.outputs = self.model.outputs if outputs is None else outputs
        listed = (self.outputs,) if isinstance(self.outputs, str) else self.outputs
        self.outputs = _check.sequence(listed, "outputs", "names")
        self.C, self._joints, self._rates = measured_rows(self.model, self.outputs)
        n = len(self.model.A)
        self.L = _check.matrix(L, (n, len(self.outputs)), f"L (states x measured {', '.join(self.outputs)})")
        self.kind = _check.one_of(kind, KINDS, "kind of observer")
        self.estimate = np.zeros(n) if estimate is None else _check.vector(estimate, n, "estimate", self.model.states)
        self._A, self._B, self._one = self.model.A, self.model.B, np.eye(n)
        if self.period is not None:
            held = np.hstack([self.model.B, np.eye(n)])  # what the reference leaves undone is held, too
            self._A, both, *_ = zero_order_hold(self.model.A, held, self.period)
            self._B, self._one = both[:, :-n], both[:, -n:]
        self._correction = np.linalg.solve(self._A, self.L) if self.period is not None and kind == "current" else None
        self._integrated = self._measured_integrals()

    def _measured_integrals(self) -> Array:
        """Indices of the outputs that are integrated; refuses integrals of signals that are not measured."""
        unseen = [name for name in self.feedback.integral if name not in self.outputs]
        if unseen:
            raise InputError(
                f"{unseen[0]!r} is integrated but not measured ({', '.join(self.outputs)}): an estimate would drift "
                "away from it. Measure it, or integrate what is measured."
            )
        return np.array([self.outputs.index(name) for name in self.feedback.integral], dtype=np.int64)

    # -- the law -------------------------------------------------------------------------------------------

    def start(self, plant: Plant) -> Array:
        """Initial states: the first estimate, and integrals at zero."""
        return np.concatenate([self.estimate, self.feedback.start(plant)])

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the estimates and of the integrals."""
        return [*(f"{name}_estimate" for name in self.model.states), *self.feedback.state_names(plant)]

    def measured(self, t: float, terms: Terms) -> Array:
        """Deviations y (outputs,) of the measured joints from the reference."""
        return self._measured(self.feedback.desired(t), terms)

    def _measured(self, desired: DesiredState, terms: Terms) -> Array:
        return measured_deviation(self.model, desired, terms, self._joints, self._rates)

    def estimated(self, t: float, terms: Terms, state: Array) -> Array:
        """Estimate of x - x_d (states,) from which the effort is computed."""
        return self._estimated(self.measured(t, terms), state[: len(self._A)])

    def _estimated(self, y: Array, e: Array) -> Array:
        return e if self._correction is None else e + self._correction @ (y - self.C @ e)

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, estimate and integrals, with a report of ``<state>_error``, estimate less truth."""
        feedback, n = self.feedback, len(self._A)
        desired, e, z = feedback.desired(t), state[:n], state[n:]
        y = self._measured(desired, terms)
        present = self._estimated(y, e)
        u = feedback.clipped(feedback.unlimited_effort(desired, present, z))
        ahead = self._A @ e + self._B @ (u - desired.u)[feedback.motors] + self._one @ desired.rest
        ahead += self.L @ (y - self.C @ e)  # d ê/dt or ê(k+1)
        integral = feedback.integral_rate(desired, present, z, y[self._integrated])
        if self.period is not None:
            integral = z + self.period * integral

        def report() -> dict[str, float]:
            off = present - (feedback.state(terms) - desired.x)
            return {f"{name}_error": float(x) for name, x in zip(self.model.states, off, strict=True)}

        return Evaluation(u, np.concatenate([ahead, integral]), report)

    def report_units(self) -> Mapping[str, str]:
        units = zip(self.model.states, self.model.state_units, strict=True)
        return {f"{name}_error": unit for name, unit in units}

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Rates or next values of estimate and integrals under the efforts that limits let through."""
        n, feedback = len(self._A), self.feedback
        ahead = after[:n] + self._B @ cut.lost[feedback.motors]
        return np.concatenate([ahead, feedback.anti_windup(t, terms, state[n:], after[n:], cut)])

    def observer_poles(self) -> NDArray[np.complex128]:
        """Poles of A - L C, 1/s, by real, then by imaginary part; log(z)/period in sampled time."""
        return continuous_eigenvalues(self._A - self.L @ self.C, self.period)


def measured_rows(model: LinearModel, outputs: Sequence[str]) -> tuple[Array, Array, Array]:
    """Matrix C (outputs, states); for each measured signal, the index of its coordinate and whether it is a rate."""
    outputs = _check.sequence(outputs, "outputs", "names of joints")
    plant = require_rest(model)
    joints, rates = [], []
    signals = (*plant.velocity_names, *(f"{name}_rate" for name in plant.velocity_names))
    for name in outputs:
        _check.one_of(name, signals, "joint to measure", "outputs")
        rates.append(name not in plant.velocity_names)
        joints.append(plant.velocity_names.index(name.removesuffix("_rate") if rates[-1] else name))
    if not joints:
        raise InputError("give at least one joint to measure")
    if len(set(outputs)) < len(outputs):
        raise InputError(f"the outputs {', '.join(outputs)} are not all different")
    K, none = model.K[joints], np.zeros((len(joints), model.dof))
    moving = np.array(rates)
    C = np.where(moving[:, None], np.hstack([none, K]), np.hstack([K, none]))
    return C, np.array(joints), moving


def measured_deviation(model: LinearModel, desired: DesiredState, terms: Terms, joints: Array, rates: Array) -> Array:
    """Deviations (outputs,) of measured joints, by the indices that `measured_rows` gives, from the desired state."""
    deviation = model.point.plant.difference(model.point.q, terms.q) - desired.delta
    return np.where(rates, (terms.v - desired.v)[joints], deviation[joints])

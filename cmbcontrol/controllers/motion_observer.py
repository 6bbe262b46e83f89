"""Observer of positions and velocities of the whole machine, from some of its encoders and a simulated model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import ActuationError, InputError, InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from .around import AroundLaw
from .chain import names_of_states
from .controller import (
    Evaluation,
    as_controller,
    evaluated,
    moved,
    require_same_signals,
    start_of,
)
from .encoder import plain_positions
from .state_feedback import effort_limits

__all__ = ["MotionObserver", "foreseen"]

Array = NDArray[np.float64]


class _Estimate(NamedTuple):
    """Estimate at a sample: configuration, velocity, and acceleration that the model does not explain."""

    q: Array
    v: Array
    a: Array


class MotionObserver(AroundLaw):
    """A sampled law that gets an estimate of the motion, made from measured joint positions and a model.

    From sample to sample the constrained equations of motion are integrated with the effort of the law (one step of
    Runge and Kutta's method of order 4, then back onto the loops). At each sample this prediction is corrected by the
    measured positions, along the motions that the loops allow, delta = Z (R Z)^+ (y - R q):

        q <- close(q [+] l1 delta),    v <- v + l2 delta / T,    a_d <- a_d + l3 delta / T^2

    where a_d, an acceleration that the model does not explain (a payload, friction), may be left out. The law is
    called with the terms of the model at the corrected state, so that it gets the estimated velocities. The whole is a
    controller again: it may stand in a chain, ``Encoder(bits=14) | MotionObserver(law, ...) | Delay(1e-3)``.

    Parameters
    ----------
    law : Controller
        Sampled law.
    outputs : sequence of str
        Joints of one axis whose positions are measured; together they determine the motion.
    bandwidth : float
        Rate at which the error of an estimate decays, 1/s, with equal poles exp(-bandwidth T).
    disturbance : bool
        Estimate a_d, too: no lasting error of the velocity under a load that the model does not know.
    plant : Plant, optional
        Model; defaults to that of the law.
    limits : bool or array_like (nu,), optional
        Efforts that the machine really gets: clipped at the limits of the actuators (True) or at these, N or N m.
    velocity : array_like (nv,), optional
        First estimate of the velocity; defaults to rest. The first configuration is that of the measured joints, on
        the branch nearest to all positions at that sample.

    Raises
    ------
    ValueError
        For a law in continuous time, unknown joints, those of several axes.
    ActuationError
        In a call, where the measured joints do not determine the motion.

    Notes
    -----
    The gains put the poles of the error of three (or two) integrators in a row at z = exp(-bandwidth T):
    l1 = 1 - z^3, l2 = 3/2 (1 - z)^2 (1 + z), l3 = (1 - z)^3, or l1 = 1 - z^2, l2 = (1 - z)^2.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, simulate
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0, period=5e-3)
    >>> observed = MotionObserver(law, ("left", "right"), bandwidth=60.0)
    >>> run = simulate(plant, observed, plant.assemble(left=2.15, right=0.95), t_end=1.0)
    >>> bool(abs(run.q[-1, [0, 2]] - [2.1, 1.0]).max() < 1e-3)
    True
    """

    plant: Plant
    period: float

    def __init__(
        self,
        law: Any,
        outputs: Sequence[str],
        bandwidth: float,
        *,
        disturbance: bool = True,
        plant: Plant | None = None,
        limits: bool | ArrayLike | None = None,
        velocity: ArrayLike | None = None,
    ) -> None:
        disturbance = _check.flag(disturbance, "disturbance")
        if not callable(law) or isinstance(law, type):
            raise InputTypeError(f"the law must be a controller, got {_check.shown(law)}")
        law = as_controller(law)
        given = law.plant if plant is None else plant
        if not isinstance(given, Plant):
            raise InputTypeError(f"{law.name} has no plant; give MotionObserver(..., plant=plant)")
        self.plant, self.law = given, as_controller(law, given)
        if self.law.period is None:
            raise InputError(f"MotionObserver reads joints at samples; give {law.name} a period")
        self.outputs = _check.names((outputs,) if isinstance(outputs, str) else outputs, "outputs")
        self._q, self._v = _joints(self.plant, self.outputs)
        self.bandwidth = _check.positive(bandwidth, "bandwidth")
        self.disturbance = bool(disturbance)
        z = float(np.exp(-self.bandwidth * self.period))
        three, two = (1 - z**3, 1.5 * (1 - z) ** 2 * (1 + z), (1 - z) ** 3), (1 - z**2, (1 - z) ** 2, 0.0)
        self.gains = three if disturbance else two
        self.limits = effort_limits(self.plant, limits)
        nv, names = self.plant.nv, self.plant.velocity_names
        self.velocity = np.zeros(nv) if velocity is None else _check.vector(velocity, nv, "velocity", names)

    def with_model(self, model: Plant) -> MotionObserver:
        """Copy of the observer and its law that computes with another model; see `WithModel`."""
        other = self._around(self.law.with_model(model))
        other.plant = model
        return other

    # -- the law -------------------------------------------------------------------------------------------

    # states: whether there is an estimate (0 or 1), q, v (and a_d) as they are foreseen; then those of the law

    @property
    def _own_states(self) -> int:  # type: ignore[override]
        return 1 + self.plant.nq + self.plant.nv * (2 if self.disturbance else 1)

    def start(self, plant: Plant) -> Array:
        """Initial states: no estimate, and those of the law; refuses a plant with other coordinates than the model."""
        require_same_signals(self.plant, plant)
        return np.concatenate([np.zeros(self._own_states), start_of(self.law, self.plant)])

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        n = self._own_states
        return np.concatenate([after[:n], self.law.begun(start[n:], after[n:], terms)])

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states of the observer and of the law."""
        foreseen = [f"{n}_foreseen" for n in plant.position_names]
        ends = ("rate_foreseen", "unexplained") if self.disturbance else ("rate_foreseen",)
        rates = [f"{n}_{end}" for end in ends for n in plant.velocity_names]
        return ["estimate_begun", *foreseen, *rates, *names_of_states(self.law, plant)]

    def estimate(self, t: float, terms: Terms, state: Array) -> tuple[Array, Array]:
        """Estimated configuration (nq,) and velocity (nv,) that the law gets."""
        estimate = self._corrected(terms, np.asarray(state, dtype=np.float64))
        return estimate.q, estimate.v

    def _corrected(self, terms: Terms, state: Array) -> _Estimate:
        """Estimate at a sample: the prediction, corrected by the measured positions."""
        plant, nq, nv, T = self.plant.as_at(terms), self.plant.nq, self.plant.nv, self.period
        q, v, a = state[1 : 1 + nq], state[1 + nq : 1 + nq + nv], state[1 + nq + nv : self._own_states]
        l1, l2, l3 = self.gains
        if terms.at_first_sample(state[0]):
            values = {name: float(terms.q[i]) for name, i in zip(self.outputs, self._q, strict=True)}
            q = plant.assemble(guess=terms.q, **values) if len(values) <= terms.dof else plant.close(terms.q)
            self._seen(q, terms)
            return _Estimate(q, plant.project_velocity(q, self.velocity), np.zeros(nv))
        q = plant.reclosed(q)
        seen = self._seen(q, terms)
        way = seen.motion_of(self._v, terms.q[self._q] - q[self._q])
        kept = seen.P @ a if self.disturbance else None
        q = plant.close(plant.integrate(q, l1 * way))
        v = plant.project_velocity(q, v + l2 / T * way)
        return _Estimate(q, v, np.zeros(nv) if kept is None else kept + l3 / T**2 * way)

    def _seen(self, q: Array, terms: Terms) -> Terms:
        """Terms at rest at a configuration; refuses measured joints that do not determine the motion there."""
        seen = self.plant.as_at(terms).terms(q, np.zeros(self.plant.nv), cap=terms.rank)
        if not seen.determined_by(self._v):
            raise ActuationError(
                f"the joints {', '.join(self.outputs)} do not determine the motion at this configuration: {seen.dof} "
                f"degrees of freedom (t = {terms.t:.6g} s, q = {np.round(q, 6).tolist()}); measure others, or more"
            )
        return seen

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts of the law at the estimate; the prediction for the next sample, and the next states of the law.

        The report has the numbers of the law, and estimate less truth: ``<velocity>_error``,
        ``<velocity>_rate_error``.
        """
        plant, own = self.plant.as_at(terms), state[self._own_states :]
        estimate = self._corrected(terms, state)
        measured = plant.terms(estimate.q, estimate.v, terms.t, cap=terms.rank)
        measured = measured if terms.force is None else measured.with_force(terms.force)
        of_law = evaluated(self.law, t, measured, own)
        u = np.clip(of_law.effort, -self.limits, self.limits)
        ahead = foreseen(plant, *estimate[:2], u, self.period, estimate.a if self.disturbance else None)
        states = np.concatenate(
            [np.concatenate([[1.0], *ahead, estimate.a])[: self._own_states], moved(of_law, own, True)]
        )

        def report() -> Mapping[str, float]:
            names, way = self.plant.velocity_names, self.plant.difference(terms.q, estimate.q)
            numbers = of_law.reported() | {f"{n}_error": x for n, x in zip(names, way, strict=True)}
            return numbers | {f"{n}_rate_error": x for n, x in zip(names, estimate.v - terms.v, strict=True)}

        return Evaluation(of_law.effort, states, report)

    def report_units(self) -> Mapping[str, str]:
        rates = dict(zip(self.plant.velocity_names, self.plant.velocity_units, strict=True))
        errors = {f"{name}_error": unit.removesuffix("/s") for name, unit in rates.items()}
        return {**self.law.report_units(), **errors, **{f"{name}_rate_error": unit for name, unit in rates.items()}}


def foreseen(plant: Plant, q: Array, v: Array, u: Array, T: float, more: Array | None = None) -> tuple[Array, Array]:
    """Predicted configuration and velocity a time T later, under a held effort, by a Runge-Kutta step of order 4.

    `more` is an acceleration that is added to that of the equations of motion, as far as the loops allow it.
    """

    def rate(delta: Array, v: Array) -> tuple[Array, Array]:
        terms = plant.terms(plant.integrate(q, delta), v, project=True)
        a = terms.acceleration(terms.B @ u)
        return terms.v, a if more is None else a + terms.P @ more

    k1 = rate(np.zeros(plant.nv), v)
    k2 = rate(0.5 * T * k1[0], v + 0.5 * T * k1[1])
    k3 = rate(0.5 * T * k2[0], v + 0.5 * T * k2[1])
    k4 = rate(T * k3[0], v + T * k3[1])
    way, change = (T / 6.0 * (a + 2.0 * b + 2.0 * c + d) for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    end = plant.close(plant.integrate(q, way))
    return end, plant.project_velocity(end, v + change)


def _joints(plant: Plant, names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Indices of positions and of velocities of measured joints; refuses joints of several axes."""
    names = _check.sequence(names, "outputs", "names of joints")
    single = {plant.position_names[i] for i in plain_positions(plant)} & set(plant.velocity_names)
    for name in names:
        _check.one_of(name, plant.position_names, "joint to measure", "outputs")
        if name not in single:
            raise InputError(
                f"joint {name!r} has several axes and is not measured by itself; choose joints of one axis"
            )
    if not names or len(set(names)) < len(names):
        raise InputError(f"give the joints that are measured, each once, got {', '.join(names) or 'none'}")
    return [plant.position_names.index(n) for n in names], [plant.velocity_names.index(n) for n in names]

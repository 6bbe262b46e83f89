"""Linear state feedback about an operating point, with integral action and feedforward."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import UNREACHED, pinv
from ..dynamics.forces import motor_effort
from ..errors import InputError, InputTypeError
from ..linear.branch import follow
from ..linear.chart import Chart
from ..linear.model import LinearModel
from ..linear.parametrization import LinearParametrization
from ..linear.sampled import zero_order_hold
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of, where_less
from .controller import Controller, Cut, Evaluation, growth_of, held, require_same_signals
from .references import Constant, Reference, at_time, require_reference

__all__ = ["FEEDFORWARDS", "DesiredState", "StateFeedback"]

Array = NDArray[np.float64]

FEEDFORWARDS = ("inverse-dynamics", "linear", "none")


class DesiredState(NamedTuple):
    """Desired state and efforts of the machine at an instant, by the reference.

    Attributes
    ----------
    x : ndarray, shape (2 dof,)
        States of the linear model.
    delta, v : ndarray, shape (nv,)
        Deviation of all coordinates from the operating point, q [-] q0, and their velocities.
    u : ndarray, shape (nu,)
        Efforts that go with it.
    rest : ndarray, shape (2 dof,)
        Residual A x + B (u - u0) - dx/dt of these efforts in the linear model.
    """

    x: Array
    delta: Array
    v: Array
    u: Array
    rest: Array


class StateFeedback(Controller):
    """State feedback u = u_d - K (x - x_d), with x = (R (q [-] q0), R v) the states of a linear model.

    The gain may be from anywhere: `lqr`, `robust_state_feedback`, ``control.place``. Only measured positions and
    velocities are used, and nothing else of the machine's equations.

    Parameters
    ----------
    model : LinearModel
        Model about an equilibrium, from `linearize`: fixes the states, the motors that act (its inputs; all others
        keep the efforts of the operating point), and the plant that the feedforward is computed from.
    K : array_like, shape (inputs, states) or (inputs, states + k)
        Gain; with k integrals, their columns last.
    reference : callable, optional
        t -> (position, velocity, acceleration), (dof,) each, of the model's coordinates: absolute values (rad or m)
        for joints of one axis, else deviations from the operating point. Defaults to this point.
    integral : sequence of str, optional
        Signals whose deviation is integrated: states of the model, or any of its outputs that depends on states alone.
        In sampled time z(k+1) = z(k) + period * deviation.
    feedforward : {"inverse-dynamics", "linear", "none"}
        Efforts u_d: those of the motion that the reference describes, by the nonlinear model (for a reference that
        stands still, those that hold the machine there) or by the linear one; or those of the operating point.
        Efforts that motors cannot produce are left out.
    limits : bool or array_like (nu,), optional
        Clip efforts at the limits of the actuators (True) or at these, N or N m. Integrals wait while an effort is at
        its limit, or at that of a later block of a chain, and they push further.
    period : float, optional
        Sample time, s; defaults to continuous time.

    Raises
    ------
    ValueError
        For a gain of the wrong shape, unknown names, a model that is not at rest.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> from cmbcontrol.design import lqr
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> law = lqr(lin, Q={"left": 400.0, "right": 400.0}, R=0.01)
    >>> law(0.0, plant.terms(lin.point.q, [0.0] * 4), law.start(plant)).round(2)
    array([-31.49,  32.91])
    >>> law.continuous_poles().real.max() < -2.0
    np.True_
    """

    plant: Plant
    coordinates: Sequence[str]
    untraced = ("_chart",)  # which a run may find made, or not

    def __init__(
        self,
        model: LinearModel,
        K: ArrayLike,
        *,
        reference: Reference | None = None,
        integral: Sequence[str] = (),
        feedforward: str = "inverse-dynamics",
        limits: bool | ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        self.model, self.plant = model, require_rest(model)
        self.motors = input_motors(model)
        self.integral = (integral,) if isinstance(integral, str) else tuple(integral)
        self.C_integral = integral_rows(model, self.integral)
        n, k = len(model.A), len(self.integral)
        K = _check.matrix(K, (len(model.inputs), n + k), f"K ({n} states and {k} integrals)")
        self.K, self.K_integral = K[:, :n], K[:, n:]
        self.coordinates = model.states[: model.dof]
        self.feedforward = _check.one_of(feedforward, FEEDFORWARDS, "feedforward")
        self.limits = effort_limits(self.plant, limits)
        self.period = None if period is None else _check.positive(period, "period")
        self._efforts_for = _efforts_for(model, self.plant, self.motors)
        self._R = coordinate_matrix(model)
        self._origin = absolute_origin(model)
        self._follow(Constant(self._origin) if reference is None else reference)

    # -- what the reference asks -------------------------------------------------------------------------

    def desired(self, t: float) -> DesiredState:
        """Desired state and efforts by the reference at a time."""
        if self._fixed is not None:
            return self._fixed
        if self.feedforward == "inverse-dynamics":  # of the time alone, it is evaluated beside code
            return DesiredState(*at_time(self._desired_at, t))
        return self._desired_state(*(numbers_of(x) for x in at_time(self.reference, t)))

    def _desired_at(self, t: float) -> DesiredState:
        return self._desired_state(*(np.asarray(x, dtype=np.float64) for x in self.reference(t)))

    def with_reference(self, reference: Reference) -> Self:
        other = copy.copy(self)
        other._follow(reference)
        return other

    def _follow(self, reference: Reference) -> None:
        """Set the reference; the desired state of a constant one is computed once."""
        require_reference(reference, self.coordinates)
        self.reference, self._fixed = reference, None
        if isinstance(reference, Constant):
            self._fixed = self._desired_state(*(np.asarray(x, dtype=np.float64) for x in reference(0.0)))

    @cached_property
    def _chart(self) -> Chart:
        """Chart of the configurations about the operating point, by the coordinates of the model."""
        return LinearParametrization(self._R, self.coordinates).at(self.plant, self.model.point.q)

    def _desired_state(self, position: Array, velocity: Array, acceleration: Array) -> DesiredState:
        lin, p = self.model, self.model.dof
        y = position - self._origin
        x = np.concatenate([y, velocity])
        u0, delta, v = lin.point.u, lin.K @ y, lin.K @ velocity
        ahead = np.concatenate([velocity, acceleration]) - lin.A @ x  # what B du should be
        u = u0.copy()
        if self.feedforward == "linear":
            u[self.motors] += self._efforts_for @ ahead[p:]
        elif self.feedforward == "inverse-dynamics" and (x.any() or acceleration.any()):
            delta, v, needed = self._inverse_dynamics(y, velocity, acceleration)
            u[self.motors] += needed[self.motors]
            return DesiredState(x, delta, v, u, np.zeros(2 * p))
        return DesiredState(x, delta, v, u, lin.B @ (u - u0)[self.motors] - ahead)

    def _inverse_dynamics(self, y: Array, velocity: Array, acceleration: Array) -> tuple[Array, Array, Array]:
        """Deviation from the operating point, velocity of all coordinates, and efforts above those of the point."""
        point = self.model.point
        configuration = follow(self._chart, y)
        v = configuration.K @ velocity
        terms = self.plant.terms(configuration.q, v)
        Z, c, R = terms.Z, terms.Cv, self._R
        a = c + Z @ np.linalg.solve(R @ Z, acceleration - R @ c)
        terms_at_point = self.plant.terms(point.q, point.v)
        needed = motor_effort(terms, a, strict=False).u - motor_effort(terms_at_point, point.v, strict=False).u
        return self.plant.difference(point.q, configuration.q), v, needed

    # -- the law -------------------------------------------------------------------------------------------

    def start(self, plant: Plant) -> Array:
        """Initial integrals, zero; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        return np.zeros(len(self.integral))

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the integrals."""
        return [f"{name}_integral" for name in self.integral]

    def state(self, terms: Terms) -> Array:
        """States x = (R (q [-] q0), R v) of the linear model, shape (2 dof,)."""
        return np.concatenate([self._R @ self.plant.difference(self.model.point.q, terms.q), self._R @ terms.v])

    def deviation(self, t: float, terms: Terms) -> Array:
        """Deviation x - x_d from the desired state, shape (2 dof,)."""
        return self.state(terms) - self.desired(t).x

    def error(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Errors of the model's coordinates, reference less value, and of their rates, (dof,) each."""
        error = -self.deviation(t, terms)
        return error[: self.model.dof], error[self.model.dof :]

    def __repr__(self) -> str:
        coordinates, time = ", ".join(self.coordinates), "" if self.period is None else f", {self.period:g} s a sample"
        integral = f", integrals of {', '.join(self.integral)}" if self.integral else ""
        return f"<{type(self).__name__} of {self.plant.name!r} by {coordinates}{integral}{time}>"

    def unlimited_effort(self, desired: DesiredState, deviation: Array, integral: Array) -> Array:
        """Efforts (nu,) for a deviation x - x_d and integrals, before limits."""
        u = desired.u.copy()
        u[self.motors] -= self.K @ deviation + self.K_integral @ integral
        return u

    def clipped(self, u: Array) -> Array:
        """Efforts within the limits."""
        return np.minimum(np.maximum(u, -self.limits), self.limits)

    def integral_rate(self, desired: DesiredState, deviation: Array, integral: Array, error: Array) -> Array:
        """Rate of the integrals for an error (k,): zero where an effort is at its limit and this pushes further."""
        if not error.size:
            return error
        u = self.unlimited_effort(desired, deviation, integral)
        excess = (u - self.clipped(u))[self.motors]
        return where_less(0.0, excess @ (-self.K_integral * error), 0.0, error)

    @property
    def integrates(self) -> bool:  # type: ignore[override]
        """Whether deviations are integrated."""
        return bool(self.integral)

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> Array:
        """Rates or next values of the integrals, held where they push an effort further that a later limit cuts off."""
        if not self.integral:
            return after
        sampled = self.period is not None
        pushes = -self.K_integral * growth_of(state, after, sampled)  # (motors, integrals)
        lost, given = (u[self.motors] for u in cut)
        against = -(lost @ pushes)
        return held(state, after, sampled, np.maximum(against, 0.0), np.abs(given) @ np.abs(pushes))

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, and rates or next values of the integrals."""
        desired = self.desired(t)
        deviation = self.state(terms) - desired.x
        rate = self.integral_rate(desired, deviation, state, self.C_integral @ deviation)
        integral = rate if self.period is None else state + self.period * rate
        return Evaluation(self.clipped(self.unlimited_effort(desired, deviation, state)), integral)

    # -- in the linear model -----------------------------------------------------------------------------

    def closed_loop(self, model: LinearModel | None = None) -> Array:
        """Matrix of the closed loop (n + k, n + k), in sampled time of x(k+1); with its own linear model or another."""
        lin = self.model if model is None else require_same_model(self.model, model)
        A, B = augmented(lin, self.C_integral, self.period)
        return A - B @ np.hstack([self.K, self.K_integral])

    def continuous_poles(self, model: LinearModel | None = None) -> NDArray[np.complex128]:
        """Poles with a linear model, 1/s, by real, then by imaginary part; log(z)/period in sampled time."""
        return continuous_eigenvalues(self.closed_loop(model), self.period)


def continuous_eigenvalues(A: Array, period: float | None) -> NDArray[np.complex128]:
    """Eigenvalues of A, 1/s, by real, then by imaginary part; log(z)/period in sampled time."""
    values = np.linalg.eigvals(A).astype(complex)
    if period is not None:
        with np.errstate(divide="ignore"):
            values = np.log(values) / period
    return np.sort_complex(values)


# -- parts that observers and designs share ------------------------------------------------------------------


def require_rest(model: LinearModel) -> Plant:
    """Plant of a linear model about an equilibrium; refuses other models."""
    if not isinstance(model, LinearModel):
        raise InputTypeError(
            f"the model must be a LinearModel, from linearize(plant, point), got {type(model).__name__}"
        )
    if model.drift.any() or model.point.v.any():
        raise InputError(f"the linear model of {model.name!r} is not at rest; state feedback needs one from linearize")
    if model.K_rates is not None:
        raise InputError(
            f"{model.name!r} rolls: no feedback brings back some of its positions. Design for the states that it can "
            "bring back, with python-control and model.to_ss()"
        )
    if model.point.plant is None:
        raise InputError(f"the linear model of {model.name!r} has no plant; read it with load_linear(path, plant)")
    return model.point.plant


def require_same_model(expected: LinearModel, given: LinearModel) -> LinearModel:
    """Refuse a linear model with other states or inputs."""
    for what in ("states", "inputs"):
        if getattr(expected, what) != getattr(given, what):
            raise InputError(
                f"the linear models have different {what}: {', '.join(getattr(expected, what))}, "
                f"and {', '.join(getattr(given, what))}"
            )
    return given


def input_motors(model: LinearModel) -> Array:
    """Indices among the actuators of the inputs of a linear model."""
    motors = model.point.plant.actuator_names
    indices = []
    for name in model.inputs:
        motor = name.removesuffix("_effort")
        if motor not in motors:
            raise InputError(
                f"the input {name!r} of the linear model is no motor (known: {', '.join(motors) or 'none'})"
            )
        indices.append(motors.index(motor))
    return np.array(indices, dtype=np.int64)


def _efforts_for(model: LinearModel, plant: Plant, motors: Array) -> Array:
    """Matrix (motors, dof) of the smallest efforts for accelerations of the coordinates, or for the nearest ones.

    Nearest in the metric of M. In it the effect of motors within the loops is at most their effect without them, which
    is the scale of rounding where they reach nothing.
    """
    terms = plant.terms(model.point.q, model.point.v)
    B = terms.B[:, motors]
    free = np.sqrt(np.einsum("ij,ij->j", B, np.linalg.solve(terms.M, B)))
    root = np.linalg.cholesky(model.K.T @ terms.M @ model.K).T
    return pinv(root @ model.B[model.dof :], float(free.max(initial=0.0)), UNREACHED) @ root


def coordinate_matrix(model: LinearModel) -> Array:
    """Matrix R (dof, nv) with y = R (q [-] q0): rows of named coordinates; else a left inverse of K.

    Cut joints and combinations are thus known to first order about the operating point.
    """
    names = model.states[: model.dof]
    if set(names) <= set(model.coordinates):
        return np.eye(len(model.coordinates))[[model.coordinates.index(name) for name in names]]
    return np.linalg.pinv(model.K)


def absolute_origin(model: LinearModel) -> Array:
    """Values (dof,) at the operating point of coordinates that have one; 0 of others, which count from the point."""
    positions = model.point.plant.position_names
    names = model.states[: model.dof]
    return np.array([model.point.q[positions.index(n)] if n in positions else 0.0 for n in names])


def integral_rows(model: LinearModel, names: Sequence[str]) -> Array:
    """Rows C (k, states) of the signals that are integrated."""
    rows = []
    for name in names:
        if name in model.states:
            rows.append(np.eye(len(model.states))[model.states.index(name)])
            continue
        i = model.outputs.index(_check.one_of(name, (*model.states, *model.outputs), "state or output"))
        if model.D[i].any():
            raise InputError(
                f"the output {name!r} answers the efforts at once; integrate one that depends on states alone"
            )
        rows.append(model.C[i])
    if len(set(names)) < len(names):
        raise InputError(f"the integrals {', '.join(names)} are not all different")
    return np.array(rows).reshape(len(rows), len(model.states))


def effort_limits(plant: Plant, given: bool | ArrayLike | None) -> Array:
    """Limits (nu,) of the efforts; infinite where there are none."""
    if given is None or given is False:
        return np.full(plant.nu, np.inf)
    limits = _check.numbers(plant.effort if given is True else given, "limits")
    limits = np.broadcast_to(limits, (plant.nu,)) if limits.ndim == 0 else limits
    if limits.shape != (plant.nu,) or not (limits > 0.0).all():
        raise InputError(f"limits must be {plant.nu} efforts > 0 ({', '.join(plant.actuator_names)}), got {given!r}")
    return limits.copy()


def augmented(model: LinearModel, C: Array, period: float | None) -> tuple[Array, Array]:
    """Matrices A (n + k, n + k) and B (n + k, m) of a model with integrals of C x; in sampled time with exact hold."""
    A, B = model.A, model.B
    n, k = len(A), len(C)
    step = 1.0
    if period is not None:
        A, B, *_ = zero_order_hold(A, B, period)
        step = period
    keep = np.eye(k) if period is not None else np.zeros((k, k))
    return np.block([[A, np.zeros((n, k))], [step * C, keep]]), np.vstack([B, np.zeros((k, B.shape[1]))])

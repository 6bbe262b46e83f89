"""Steps of the local state-space form: integration in independent coordinates, on the manifold throughout.

The state is ``(y, y_v, c)`` in the present chart, with the controller's state c; see `linear.local_form`. Implicit
methods find the work of actuators and dampers by quadrature; an explicit one may integrate it, too. A step
never leaves the manifold, so nothing is projected. Where the conditioning of the chart has fallen to
its threshold, or a stage lies beyond the chart's end, the run goes on in a new chart about the state reached.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, PainleveError, ParametrizationError, SingularConfigurationError, Status
from ..kernels import constrained, forces, motion, runge_kutta
from ..kernels.layout import DISSIPATED, LOADS, MOTORS, WORKS
from ..linear.chart import ChartPoint
from ..linear.local_form import LocalForm, LocalPoint
from ..linear.parametrization import as_parametrization
from ..model.accelerations import solved
from ..model.mechanism import Mechanism
from ..model.terms import RANK_TOLERANCE, Terms
from .implicit import ImplicitStep, ImplicitStepper, OutOfReach, RosenbrockStepper, SdirkStepper, StepTooSmall
from .path import NODES, coefficients
from .run import IntegratorState, Run

__all__ = ["LocalMethod", "ScipyStepper"]

Array = NDArray[np.float64]

_NEAR = 1e-2  # closeness below which a run that cannot go on is said to have met a singular configuration
_CLOSE = 1e-3  # conditioning of a chart below which the pace is watched
_END = (1e-5, 1e-4)  # conditioning at which a run ends: ten times the tolerance, within these
_PACE = 50  # tries over which the pace is taken
_LAW_STEP = 1e-4  # of the differences of a controller


class _NoProgress(Exception):
    """Raised where the motion runs into the end of all charts."""


_HALVINGS = 20  # of a part of a step at most: a kink is then within a millionth of it


class _System:
    """Closed loop in one chart: dx/dt and its Jacobian, x = (y, y_v, c), and the work where it is a state."""

    def __init__(self, run: Run, form: LocalForm, working: bool) -> None:
        self.run, self.form, self.control = run, form, run.control
        self.states = 2 * form.dof
        self.working = working
        self.near: ChartPoint = form.chart.base
        self.counts = dict.fromkeys(
            ("evaluations", "jacobians", "factorizations", "power_evaluations", "position_iterations"), 0
        )
        self._last: tuple[float, Array, LocalPoint] | None = None

    def moved(self, form: LocalForm) -> _System:
        """Same closed loop in another chart; the counts of evaluations go on."""
        system = _System(self.run, form, self.working)
        system.counts = self.counts
        return system

    def point(self, t: float, x: Array) -> LocalPoint:
        """Configuration and equations of motion at a state; those of the last state are kept."""
        if self._last is not None and self._last[0] == t and np.array_equal(self._last[1], x):
            return self._last[2]
        state = np.ascontiguousarray(x[: self.states])
        if not (np.abs(x) < motion.HUGE).all():
            raise OutOfReach from None
        try:
            point = self.form.point(state, t, self.near)
        except ParametrizationError as error:
            raise OutOfReach from error
        self.counts["position_iterations"] += point.chart_point.iterations
        self.near = point.chart_point
        self._last = (t, x.copy(), point)
        return point

    def split(self, x: Array) -> tuple[Array, Array]:
        """State of the controller, and the work where it is a state."""
        end = x.size - WORKS if self.working else x.size
        return x[self.states : end], x[end:]

    def law(self, t: float, terms: Terms, c: Array) -> tuple[Array, Array]:
        """Motor efforts, and the rates of the integrated states of the law or its drive."""
        return self.control.moved(t, terms.copied(), c)

    def rate(self, t: float, x: Array) -> Array:
        """Rate dx/dt."""
        self.counts["evaluations"] += 1
        point = self.point(t, x)
        u, rate_c = self.law(t, point.terms, self.split(x)[0])
        powers = self.powers(point.terms, u) if self.working else np.zeros(0)
        return np.concatenate([self.form.rate(point, u), rate_c, powers])

    def jacobian(self, t: float, x: Array) -> tuple[Array, Array]:
        """Derivatives of dx/dt by x and by t: those of the plant exact, those of a continuous law by differences."""
        self.counts["jacobians"] += 1
        n, c = self.states, x[self.states :]
        point = self.point(t, x)
        u, _ = self.law(t, point.terms, c)
        try:
            A, B = self.form.jacobian_at(point, u)
        except ValueError as error:  # coordinates that are dependent, or another rank
            raise OutOfReach from error
        J, rate_t = np.zeros((x.size, x.size)), np.zeros(x.size)
        J[:n, :n] = A
        if not self.control.holds:
            gain, gain_t = self._law_gradient(t, x, point.chart_point)
            nu = u.size
            J[:n] += B @ gain[:nu]
            J[n:] = gain[nu:]
            rate_t[:n], rate_t[n:] = B @ gain_t[:nu], gain_t[nu:]
        return J, rate_t

    def _law_gradient(self, t: float, x: Array, near: ChartPoint) -> tuple[Array, Array]:
        """Derivatives of (u, dc/dt) by the state and by time, by central differences of order 4."""
        n = self.states

        def answer(time: float, state: Array) -> Array:
            try:
                terms = self.form.point(np.ascontiguousarray(state[:n]), time, near).terms
            except ParametrizationError as error:
                raise OutOfReach from error
            return np.concatenate(self.law(time, terms, state[n:]))

        columns = [
            _slope(lambda s, e=e: answer(t, x + s * e), _LAW_STEP * max(1.0, abs(value)))
            for e, value in zip(np.eye(x.size), x, strict=True)
        ]
        # a law need not be defined before the start or after the end
        h = min(_LAW_STEP, 0.05 * self.run.t_end)
        middle = min(max(t, 2.0 * h), self.run.t_end - 2.0 * h)
        return np.stack(columns, axis=1), _slope(lambda s: answer(middle + s, x), h)

    # -- in all coordinates ---------------------------------------------------------------------------

    def full(self, t: float, x: Array) -> tuple[Array, Array]:
        """Positions and velocities (q, v) of a state."""
        point = self.point(t, x)
        return point.chart_point.q, point.terms.v

    def powers_at(self, t: float, x: Array) -> Array:
        """Powers at a state, W."""
        terms = self.point(t, x).terms
        return self.powers(terms, self.law(t, terms, self.split(x)[0])[0])

    def powers(self, terms: Terms, u: Array) -> Array:
        """Powers of the actuators, of friction and dampers, and of the loads, W."""
        found = np.zeros(WORKS)
        found[MOTORS] = terms.v @ (terms.B @ u)
        found[DISSIPATED], found[LOADS] = self._passive_powers(terms)
        if terms.friction is not None:  # in proportion to loads, which follow from the motion
            found[DISSIPATED] += terms.v @ solved(terms, terms.B @ u - terms.h, cap=self.run.options.cap).friction
        return found

    @property
    def powered(self) -> bool:
        """Whether forces other than weight and springs do work."""
        moved = self.run.plant.moving
        return not self.control.holds or bool(self.control.command.any()) or self._damped or self._loaded or moved

    @property
    def _damped(self) -> bool:
        plant = self.run.plant
        return isinstance(plant, Mechanism) and bool(
            plant.arrays.damping.any() or plant.arrays.springs.size or plant.arrays.elements.size
        )

    @property
    def _loaded(self) -> bool:
        plant = self.run.plant
        return isinstance(plant, Mechanism) and bool(plant.arrays.loads.size)

    def _passive_powers(self, terms: Terms) -> tuple[float, float]:
        """Power lost in friction and dampers, and power of the loads, W; zero for plants given by functions."""
        if not (self._damped or self._loaded):
            return 0.0, 0.0
        plant: Mechanism = self.run.plant  # type: ignore[assignment]
        model, work = plant.arrays, self.work
        constrained.update_position(model, terms.q, work, RANK_TOLERANCE, self.run.options.cap)
        constrained.update_velocity(model, terms.q, terms.v, work)
        lost = float(forces.dissipated_power(model, terms.q, terms.v, work.R, work.p, work.V))
        return lost, float(forces.load_power(model, work.R, work.p, work.V))

    @cached_property
    def work(self) -> constrained.Work:
        """Scratch arrays of the kernels."""
        return constrained.new_work(self.run.plant.arrays)  # type: ignore[attr-defined]


class ScipyStepper:
    """Stepper of scipy's Radau or DOP853, with the interface of the steppers in `implicit`."""

    def __init__(self, solver: type, system: _System, t: float, x: Array, h: float, run: Run, rtol: float) -> None:
        self.solver, self.system, self.run = solver, system, run
        self.t, self.x, self.h, self.rtol = t, x, h, max(rtol, 2.3e-14)
        self.rejections, self.factorizations = 0, 0
        self._running: Any = None
        self._failure: OutOfReach | None = None

    def forget(self) -> None:
        """Start the method again from the present state."""
        self._running = None

    def _rate(self, t: float, x: Array) -> Array:
        """Rate dx/dt; nan beyond the chart, where the methods then shorten their step."""
        try:
            return self.system.rate(t, x)
        except OutOfReach as failure:
            self._failure = failure
            return np.full(x.size, np.nan)

    def advance(self, until: float) -> ImplicitStep:
        """Take the next step, at most to `until`."""
        if self._running is None or self._running.t_bound != until:
            first = min(self.h, until - self.t, self.run.options.max_step)
            more = {} if self.solver.__name__ == "DOP853" else {"jac": lambda t, x: self.system.jacobian(t, x)[0]}
            self._running = self.solver(
                self._rate, self.t, self.x, until, rtol=self.rtol, atol=self.run.options.atol,
                max_step=self.run.options.max_step, first_step=first, **more,
            )  # fmt: skip
        solver, self._failure = self._running, None
        factored, evaluated, t0 = solver.nlu, solver.nfev, self.t
        with np.errstate(invalid="ignore"):
            try:
                solver.step()
            except OutOfReach:
                self._running = None
                raise
        self.factorizations += solver.nlu - factored
        if self.solver.__name__ == "DOP853":  # 12 evaluations a try; Radau does not tell
            self.rejections += max(0, (solver.nfev - evaluated) // 12 - 1)
        if solver.status == "failed":
            self._running = None
            if self._failure is not None:
                raise self._failure
            raise StepTooSmall(bool(np.isfinite(solver.y).all()))
        self.t, self.x = float(solver.t), solver.y.copy()
        self.h = max(self.h, solver.h_abs) if solver.status == "finished" else solver.h_abs
        dense: list[Callable] = []

        def interpolate(t: float) -> Array:
            if not dense:  # DOP853 evaluates for it
                dense.append(solver.dense_output())
            return dense[0](t)

        return ImplicitStep(t0, self.t, self.x, interpolate)


class LocalMethod:
    """Method in independent coordinates, for the time loop; see `time_loop.Method`."""

    projected = False
    working = False  # whether the work is a state

    def __init__(self, run: Run, state: IntegratorState) -> None:
        self.run, self.h = run, state.h
        self.nq, self.nv = run.plant.nq, run.plant.nv
        self.charts = self._rejections = self._steps = 0
        self._mark = (0, state.t)  # tries until then, and the time, where the pace is taken from
        self._before = np.inf  # conditioning of the chart at the start of the last step
        self._q = state.x[: self.nq].copy()
        # made by the first step, which tells what is wrong with the start
        self.system: _System = None  # type: ignore[assignment]
        self.stepper: ImplicitStepper | ScipyStepper | None = None

    def forget(self) -> None:
        """Drop what is kept of past steps, as the efforts have changed; if this goes on for "auto", start again."""
        if self.run.where_stiff is not None:
            self._close_stepper()
        elif self.stepper is not None:
            self.stepper.forget()

    def __call__(self, t: float, x: Array, end: float) -> tuple[float, Array, Array]:
        """Take the next step: its end, state and dense coefficients; in a new chart where the present one ends."""
        self._q = x[: self.nq].copy()
        if self.stepper is None:
            chosen = self.run.integrator.independent() or as_parametrization(None, None)
            form = LocalForm(self.run.plant, chart=chosen.at(self.run.plant, self._q))
            self.system = _System(self.run, form, self.working) if self.system is None else self.system.moved(form)
        if self.stepper is not None and self.stepper.t == t:
            self._require_progress(t)
            if self.system.form.chart.needs_renewal(self.system.near):
                self._renew(t, x)
        else:
            self._restart(t, x)
        self._before = self.system.near.conditioning
        while True:
            try:
                step = self.stepper.advance(end)
                break
            except OutOfReach:
                self.h = self.stepper.h
                if self._away():
                    self._renew(t, x)  # a chart about this state reaches further
                elif self.run.integrator.fixed or self.h < 4e-16 * max(t, 1e-3 * self.run.t_end):
                    raise
                elif isinstance(self.stepper, ScipyStepper):
                    self.stepper.h = 0.25 * self.h
        self.h = self.stepper.h
        self._steps += 1
        return step.t1, *self._in_all_coordinates(x, step)

    def _in_all_coordinates(self, x: Array, step: ImplicitStep) -> tuple[Array, Array]:
        """State and dense coefficients of a step from x: exact where output or events need them, else cubic."""
        system, run, n = self.system, self.run, self.nq + self.nv
        quadrature = _Work(system, step) if system.powered and not system.working else None

        def state(t: float) -> Array:
            y = step.x1 if t == step.t1 else step.dense(t)
            q, v = system.full(t, y)
            c, work = system.split(y)
            if not system.working:
                work = x[n : n + WORKS] + (quadrature.until(t) if quadrature else 0.0)
            return np.concatenate([q, v, work, c])

        shown = np.searchsorted(run.times, [step.t0, step.t1], side="right")
        inner = run.detector is not None or bool(np.any(run.times[shown[0] : shown[1]] < step.t1))
        values = [state(t) for t in step.t0 + (step.t1 - step.t0) * NODES[:-1]] if inner else []
        new = state(step.t1)  # the last one: where the chart stands
        if inner:
            return new, coefficients(x, [*values, new])
        F, ends = np.zeros((7, x.size)), []
        for y in (x, new):
            rate = (new - x) / (step.t1 - step.t0)
            rate[: self.nq] = run.plant.position_rate(y[: self.nq].copy(), y[self.nq : n].copy())
            ends.append(rate)
        runge_kutta.cubic(x, new, *ends, step.t1 - step.t0, F)
        return new, F

    def _require_progress(self, t: float) -> None:
        """Raise an error where steps shrink without end before a configuration where all charts end.

        Rounding grows as the inverse square of the conditioning, so that steps shrink without end there. The run ends
        where the conditioning falls below ten times the tolerance, or where steps are so short that `max_steps`
        of them would not lead to the end.
        """
        run, now = self.run, self.system.near.conditioning
        lowest, highest = _END
        tolerance = 0.0 if run.integrator.fixed else 10.0 * max(run.options.rtol, run.options.atol)
        if now < self._before and now < min(max(tolerance, lowest), highest):
            raise _NoProgress
        tries = self._steps + self.rejections + self.charts
        if now > _CLOSE:
            self._mark = tries, t
        elif tries - self._mark[0] >= _PACE:
            if (t - self._mark[1]) * run.max_steps < _PACE * (run.t_end - t):
                raise _NoProgress
            self._mark = tries, t

    def _away(self) -> bool:
        """Whether the state is not the base point of the chart."""
        return bool(np.any(self._q != self.system.form.chart.q0))

    def _renew(self, t: float, x: Array) -> None:
        """Make a new chart about the present state."""
        system = self.system
        y = system.form.chart.coordinates(self._q, system.near.y)
        self.system = system.moved(system.form.reparametrize(self._q, y))
        self.charts += 1
        self._restart(t, x)

    def _restart(self, t: float, x: Array) -> None:
        """Start the method again at a state."""
        self._close_stepper()
        n = self.nq + self.nv
        work = x[n : n + WORKS] if self.system.working else np.zeros(0)
        own = self.system.form.state(self._q, x[self.nq : n].copy(), self.system.near.y)
        y = np.concatenate([own, x[n + WORKS :], work])
        self.stepper = self._made(t, y)

    def _made(self, t: float, y: Array) -> ImplicitStepper | ScipyStepper:
        """Make the stepper of the method."""
        run, opt, fixed = self.run, self.run.options, self.run.integrator.fixed
        name = run.integrator.name
        if name == "radau":
            from scipy.integrate import Radau

            return ScipyStepper(Radau, self.system, t, y, self.h, run, opt.rtol)
        arguments = (self.system, t, y, self.h, opt.rtol, opt.atol, np.inf if fixed else opt.max_step, fixed)
        return SdirkStepper(*arguments) if name == "sdirk4" else RosenbrockStepper(name, *arguments)

    def _close_stepper(self) -> None:
        """Add the counts of the present stepper, and drop it."""
        if self.stepper is not None:
            self._rejections += self.stepper.rejections
            self.system.counts["factorizations"] += self.stepper.factorizations
            self.stepper = None

    def largest_eigenvalue_at(self, t: float, x: Array) -> float:
        """Magnitude of the largest eigenvalue of the local linear system at a state, 1/s."""
        self._q = x[: self.nq].copy()
        chosen = self.run.integrator.independent() or as_parametrization(None, None)
        self.system = _System(self.run, LocalForm(self.run.plant, chart=chosen.at(self.run.plant, self._q)), False)
        n = self.nq + self.nv
        own = self.system.form.state(self._q, x[self.nq : n].copy(), self.system.near.y)
        return self._largest(t, np.concatenate([own, x[n + WORKS :]]))

    @property
    def largest_eigenvalue(self) -> float:
        """Largest eigenvalue (magnitude) of the local linear system at the present state, 1/s; infinite if unknown."""
        if self.stepper is None:
            return np.inf
        try:
            return self._largest(self.stepper.t, self.stepper.x)
        except OutOfReach:
            return np.inf

    def _largest(self, t: float, y: Array) -> float:
        J, _ = self.system.jacobian(t, y)
        return float(np.abs(np.linalg.eigvals(J)).max(initial=0.0))

    # -- what is told of it -------------------------------------------------------------------------------

    @property
    def rejections(self) -> int:
        """Number of steps that were rejected and taken again."""
        return self._rejections + (0 if self.stepper is None else self.stepper.rejections)

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the rate in these coordinates."""
        return 0 if self.system is None else self.system.counts["evaluations"]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of Jacobians, factorizations, charts and other work, by name."""
        if self.system is None:
            return {}
        counts = {name: n for name, n in self.system.counts.items() if name != "evaluations"}
        counts["factorizations"] += 0 if self.stepper is None else self.stepper.factorizations
        return {**counts, "reparametrizations": self.charts}

    def explain(self, error: Exception) -> tuple[Status, BaseException | None] | None:
        """Status and error with which a run ends by an exception of a step; None for exceptions not of this method."""
        if self.system is None and isinstance(error, (ModelError, ParametrizationError)):
            return None  # what does not fit the start goes to the caller as it is
        if isinstance(error, StepTooSmall):
            reason = (Status.STEP_TOO_SMALL, self._reason(None)) if error.finite else (Status.NOT_FINITE, None)
        elif isinstance(error, _NoProgress):
            reason = Status.STEP_TOO_SMALL, self._reason(None)
        elif isinstance(error, (OutOfReach, ParametrizationError, SingularConfigurationError)):
            cause = error.__cause__ if isinstance(error, OutOfReach) else error
            ended = Status.PROJECTION if self.run.integrator.fixed else Status.STEP_TOO_SMALL
            reason = Status.NOT_FINITE if cause is None else ended, self._reason(cause)
        elif isinstance(error, PainleveError):
            reason = Status.PAINLEVE, error
        elif isinstance(error, ModelError) and error.__cause__ is None:  # no function of the plant, nor a watched one
            reason = Status.MASS_MATRIX, error
        else:
            return None
        return (
            (Status.SINGULAR_CONFIGURATION, reason[1]) if isinstance(reason[1], SingularConfigurationError) else reason
        )

    def _reason(self, error: BaseException | None) -> BaseException | None:
        """Error by which the run ends here: singular configuration, dependent coordinates, or the given one."""
        opt, plant = self.run.options, self.run.plant
        near = motion.closeness(plant.terms(self._q, np.zeros(self.nv)).pivots, opt)
        if near < _NEAR:
            return SingularConfigurationError(
                f"a singular configuration is here: the smallest constraint gradient has fallen to {near:.1e} of the "
                f"largest, and the loops, which hold {plant.nv - opt.cap} degrees of freedom nearby, hold more in it. "
                "Local coordinates end at such a configuration; method='dop853' passes it."
            )
        if error is None and self.system is not None and self.system.near.conditioning < _NEAR:
            return ParametrizationError(
                f"the coordinates {', '.join(map(repr, self.system.form.chart.names))} cease to be independent here "
                f"(conditioning {self.system.near.conditioning:.1e}); choose others, or leave the choice to "
                "parametrization='tangent'.",
                self.system.near.conditioning,
            )
        return error


class _Work:
    """Work of actuators, dampers and loads within a step, by Gauss quadrature of the powers along its dense output.

    Powers of force elements may have kinks: parts of the step are halved until the result does not change.
    """

    def __init__(self, system: _System, step: ImplicitStep) -> None:
        self.system, self.step, options = system, step, system.run.options
        whole = _PartOfWork(system, step, step.t0, step.t1 - step.t0)
        self.parts = [whole]
        if options.work_scale > 0.0:
            self.parts = self._halved(whole, options.rtol * options.work_scale, _HALVINGS)

    def _halved(self, whole: _PartOfWork, tolerance: float, times: int) -> list[_PartOfWork]:
        half = 0.5 * whole.h
        parts = [_PartOfWork(self.system, self.step, t, half) for t in (whole.t0, whole.t0 + half)]
        if times == 0 or np.abs(parts[0].total + parts[1].total - whole.total).max() <= tolerance:
            return parts
        return [x for part in parts for x in self._halved(part, 0.5 * tolerance, times - 1)]

    def until(self, t: float) -> Array:
        """Work (WORKS,) since the start of the step."""
        work = np.zeros(WORKS)
        for part in self.parts:
            if t >= part.t0 + part.h:
                work += part.total
            elif t > part.t0:
                work += part.until(t)
        return work


class _PartOfWork:
    """Work between two times within a step, from a polynomial through the powers."""

    def __init__(self, system: _System, step: ImplicitStep, t0: float, h: float) -> None:
        nodes, _ = np.polynomial.legendre.leggauss(3)
        self.t0, self.h = t0, h
        self.nodes = 0.5 * (nodes + 1.0)
        self.powers = np.array([system.powers_at(t, step.dense(t)) for t in t0 + h * self.nodes])
        self.total = self.until(t0 + h)
        system.counts["power_evaluations"] += self.nodes.size

    def until(self, t: float) -> Array:
        """Work since the start of this part: the integral of the polynomial."""
        s = (t - self.t0) / self.h
        powers = np.arange(self.nodes.size)
        moments = s ** (powers + 1.0) / (powers + 1.0)
        weights = np.linalg.solve(np.vander(self.nodes, increasing=True).T, moments)
        return self.h * (weights @ self.powers)


def _slope(function: Callable[[float], Array], h: float) -> Array:
    """Derivative at zero, by central differences of order 4."""
    near, far = function(h) - function(-h), function(2.0 * h) - function(-2.0 * h)
    return (8.0 * near - far) / (12.0 * h)

"""Steps of scipy's integrators in all coordinates: RK45, DOP853, Radau, BDF, LSODA, and VODE.

They are driven step by step, so that runs with them have the same record, events and reported errors. States may be
projected after a step where a method keeps no history of past states.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, ModelError, Status
from ..sim.engine import Engine, NotFinite
from ..sim.path import NODES, coefficients
from ..sim.run import INSTANT, IntegratorState, Run

__all__ = ["SCIPY_METHODS", "ScipyMethod"]

Array = NDArray[np.float64]

SCIPY_METHODS = {  # and what scipy calls them
    "scipy-rk45": "RK45",
    "scipy-dop853": "DOP853",
    "scipy-radau": "Radau",
    "scipy-bdf": "BDF",
    "scipy-lsoda": "LSODA",
    "vode-adams": "adams",
    "vode-gear": "bdf",
}
_STAGES = {"scipy-rk45": 6, "scipy-dop853": 12}  # evaluations a try


class _Failed(Exception):
    """Failure of an integrator that gave up."""


class _Integrator(Protocol):
    """Interface of one of scipy's integrators between two changes of the efforts."""

    t: float
    x: Array
    h: float  # next step
    until: float

    def step(self) -> Callable[[float], Array]:
        """Take a step; returns the state within it as a function of time."""

    def replace(self, x: Array, rate: Array) -> None:
        """Go on from another state."""


class _Solver:
    """Integrator by a solver class of `scipy.integrate`."""

    def __init__(self, rate: Callable, run: Run, t: float, x: Array, h: float, until: float) -> None:
        import scipy.integrate

        solver = getattr(scipy.integrate, SCIPY_METHODS[run.integrator.name])
        opt = run.options
        limits = {"rtol": max(opt.rtol, 2.3e-14), "atol": opt.atol, "max_step": min(opt.max_step, until - t)}
        self._solver = solver(rate, t, x, until, first_step=min(h, limits["max_step"]), **limits)
        self.t, self.x, self.h, self.until = t, x, h, until

    def step(self) -> Callable[[float], Array]:
        message = self._solver.step()
        if self._solver.status == "failed":
            raise _Failed(message)
        self.t, self.x = float(self._solver.t), self._solver.y.copy()
        self.h = float(getattr(self._solver, "h_abs", None) or self._solver.step_size)
        return self._solver.dense_output()

    def replace(self, x: Array, rate: Array) -> None:
        self._solver.y, self._solver.f, self.x = x.copy(), rate, x


class _Vode:
    """Integrator VODE, with Adams' or Gear's (BDF) formulas of variable order."""

    def __init__(self, rate: Callable, run: Run, t: float, x: Array, h: float, until: float) -> None:
        from scipy.integrate import ode

        opt = run.options
        self._ode = ode(rate).set_integrator(
            "vode", method=SCIPY_METHODS[run.integrator.name], rtol=opt.rtol, atol=opt.atol, nsteps=10_000,
            with_jacobian=run.integrator.name == "vode-gear",  # for stiff systems: Newton's iteration
            first_step=min(h, until - t), max_step=0.0 if np.isinf(opt.max_step) else opt.max_step,
        )  # fmt: skip
        self._ode.set_initial_value(x, t)
        self.t, self.x, self.h, self.until = t, x, h, until

    def step(self) -> Callable[[float], Array]:
        x = np.array(self._ode.integrate(self.until, step=True))
        if not self._ode.successful():
            raise _Failed(_VODE_FAILURES.get(self._ode.get_return_code(), "VODE gave up"))
        t = float(self._ode.t)
        self.h, self.t, self.x = t - self.t, t, x
        within = self._within()
        if t > self.until:  # it steps beyond the end
            self.t, self.x = self.until, within(self.until)
        return within

    def _within(self) -> Callable[[float], Array]:
        """Polynomial of the step from VODE's work arrays: the scaled derivatives at its end (Nordsieck's array)."""
        real, whole, t, n = self._ode._integrator.rwork, self._ode._integrator.iwork, self._ode.t, self.x.size
        h, order = real[10], whole[13]
        scaled = real[20 : 20 + n * (order + 1)].reshape(order + 1, n).copy()
        return lambda s: ((s - t) / h) ** np.arange(order + 1) @ scaled

    def replace(self, x: Array, rate: Array) -> None:
        raise NotImplementedError  # multistep methods are not projected


_VODE_FAILURES = {
    -1: "VODE took too many steps between two calls",
    -2: "VODE cannot reach the tolerance: it is too small for double precision",
    -3: "VODE was given values it does not take",
    -4: "VODE failed its error test again and again",
    -5: "VODE's iteration failed to converge again and again",
    -6: "VODE met a weight of zero in its error test",
}


class ScipyMethod:
    """Steps of one of scipy's integrators, for the time loop; see `time_loop.Method`."""

    projected = True
    evaluations = 0  # the engine counts them

    @property
    def counts(self) -> dict[str, int]:
        """Further counts of the method: none."""
        return {}

    def __init__(self, run: Run, engine: Engine, state: IntegratorState) -> None:
        self.run, self.engine, self.h = run, engine, state.h
        self.rejections = 0
        self.integrator: _Integrator | None = None
        self.failure: Exception | None = None
        self.raised: BaseException | None = None  # through the integrator

    def forget(self) -> None:
        """Drop the integrator, because the efforts have changed."""
        self.integrator = None

    def __call__(self, t: float, x: Array, end: float) -> tuple[float, Array, Array]:
        """End, state and dense coefficients of the next step."""
        run, engine = self.run, self.engine
        corrected = engine.hold_correction(t, x, self.h)
        if self.integrator is None or self.integrator.t != t or self.integrator.until != end:
            kind = _Vode if run.integrator.name.startswith("vode") else _Solver
            self.integrator = kind(self._rate, run, t, x.copy(), self.h, end)
        elif corrected or not np.array_equal(x, self.integrator.x):  # it was projected
            self.integrator.replace(x.copy(), engine.derivative(t, x))
        integrator, before, self.failure = self.integrator, engine.evaluations, None
        try:
            with warnings.catch_warnings():  # failures are told by the status
                warnings.simplefilter("ignore", UserWarning)
                within = integrator.step()
        except (_Failed, ValueError, np.linalg.LinAlgError) as error:  # implicit methods refuse nan themselves
            if self.raised is None:
                failure = self.failure or _Failed(str(error))
                raise failure from failure.__cause__
        finally:
            if self.raised is not None:  # Fortran may have made another error of it, or none
                raise self.raised
        stages = _STAGES.get(run.integrator.name)
        if stages:  # the others do not tell
            self.rejections += max(0, (engine.evaluations - before) // stages - 1)
        if not np.isfinite(integrator.x).all():
            raise NotFinite
        self.h = integrator.h
        nodes = t + (integrator.t - t) * NODES[:-1]
        F = coefficients(x, [*(within(s) for s in nodes), integrator.x])
        if integrator.t > end - INSTANT * run.t_end:
            integrator.t = end
        return integrator.t, integrator.x, F

    def explain(self, error: Exception) -> tuple[Status, BaseException | None] | None:
        """Status of a run whose step raises this error, and the cause to report; None for errors of other origin."""
        if isinstance(error, NotFinite):
            return Status.NOT_FINITE, None
        if isinstance(error, AssemblyError):
            return Status.PROJECTION, None
        return (Status.STEP_TOO_SMALL, error) if isinstance(error, _Failed) else None

    def _rate(self, t: float, x: Array) -> Array:
        """Rate of the state, or nan where it cannot be evaluated: then the methods shorten their step.

        VODE and LSODA go on calling while an exception, their own or that of a law, is pending, until they see it:
        compiled code must not be called then.
        """
        if self.raised is not None:
            return np.full(x.size, np.nan)
        try:
            return self.engine.derivative(t, x)
        except NotFinite as error:
            self.failure = self.failure or error  # a stage that failed makes the next ones so
            return np.full(x.size, np.nan)
        except (AssemblyError, ModelError) as error:
            self.failure = error
            return np.full(x.size, np.nan)
        except BaseException as error:
            self.raised = error
            raise

"""The time loop around scipy's integrators in all coordinates: RK45, DOP853, Radau, BDF, LSODA, and VODE.

They are driven step by step, so that runs with them have the same record, events and evidence. States may be
projected after a step where a method keeps no history of past states.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._interrupt import let_through
from ..errors import AssemblyError, ModelError, RedundantRowsError, Status
from ..kernels import runge_kutta
from .engine import Engine, NotFinite
from .integrators import SCIPY_METHODS
from .run import INSTANT, Record, Run, Standing, path, spent

__all__ = ["run"]

Array = NDArray[np.float64]

_STAGES = {"scipy-rk45": 6, "scipy-dop853": 12}  # evaluations a try
_FLUSH = 256
_NODES = 0.5 * (1.0 - np.cos(np.pi * np.arange(1, 8) / 7.0))  # where a path within a step is read off


class _Failed(Exception):
    """The integrator gave up."""


class _Integrator(Protocol):
    """One of scipy's integrators between two changes of the efforts."""

    t: float
    x: Array
    h: float  # next step

    def step(self) -> Callable[[float], Array]:
        """Take a step; returns the state within it."""

    def replace(self, x: Array, rate: Array) -> None:
        """Go on from another state."""


class _Solver:
    """A solver class of `scipy.integrate`."""

    def __init__(self, rate: Callable, run: Run, t: float, x: Array, h: float, until: float) -> None:
        import scipy.integrate

        solver = getattr(scipy.integrate, SCIPY_METHODS[run.method])
        opt = run.options
        limits = {"rtol": max(opt.rtol, 2.3e-14), "atol": opt.atol, "max_step": min(opt.max_step, until - t)}
        self._solver = solver(rate, t, x, until, first_step=min(h, limits["max_step"]), **limits)
        self.t, self.x, self.h = t, x, h

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
    """VODE, Adams' or Gear's (BDF) formulas of variable order."""

    def __init__(self, rate: Callable, run: Run, t: float, x: Array, h: float, until: float) -> None:
        from scipy.integrate import ode

        opt = run.options
        self._ode = ode(rate).set_integrator(
            "vode", method=SCIPY_METHODS[run.method], rtol=opt.rtol, atol=opt.atol, nsteps=10_000,
            with_jacobian=run.method == "vode-gear",  # Gear's formulas are for stiff systems: Newton's iteration
            first_step=min(h, until - t), max_step=0.0 if np.isinf(opt.max_step) else opt.max_step,
        )  # fmt: skip
        self._ode.set_initial_value(x, t)
        self.t, self.x, self.h, self._until = t, x, h, until

    def step(self) -> Callable[[float], Array]:
        x = np.array(self._ode.integrate(self._until, step=True))
        if not self._ode.successful():
            raise _Failed(_VODE_FAILURES.get(self._ode.get_return_code(), "VODE gave up"))
        t = float(self._ode.t)
        self.h, self.t, self.x = t - self.t, t, x
        within = self._within()
        if t > self._until:  # it steps beyond the end
            self.t, self.x = self._until, within(self._until)
        return within

    def _within(self) -> Callable[[float], Array]:
        """The polynomial of the step from VODE's work arrays: the scaled derivatives at its end (Nordsieck's array)."""
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


def run(run: Run, record: Record, now: Standing, stop: float) -> None:
    """Step on to a time; the record keeps what was done, the status how it ended."""
    field, log = Engine(run, now), _Log(record, run.control.command, now)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():  # failures are told by the status
            warnings.simplefilter("ignore", UserWarning)
            _Loop(run, field, log, now).go(stop)
    except NotFinite:
        record.status = Status.NOT_FINITE
    except RedundantRowsError as error:
        record.status, record.error = Status.FORMULATION, error
    except AssemblyError:
        record.status = Status.PROJECTION
    except _Failed as error:
        record.status, record.error = Status.STEP_TOO_SMALL, error
    finally:
        log.flush()
        record.evaluations += field.evaluations


class _Log:
    """Collects steps and hands them to the record in blocks."""

    def __init__(self, record: Record, u: Array, now: Standing) -> None:
        self.record, self.u = record, u
        self.T, self.X, self.F = [now.t], [now.x], []
        record.begin(now.t, now.x, u.size)

    def add(self, t: float, x: Array, F: Array) -> None:
        """One accepted step."""
        self.T.append(t)
        self.X.append(x)
        self.F.append(F)
        if len(self.F) >= _FLUSH:
            self.flush()

    def effort(self, u: Array) -> None:
        """The effort changes from here on."""
        self.flush()
        self.u = u

    def flush(self) -> None:
        """Write to the record."""
        if self.F:
            self.record.append(np.array(self.T), np.array(self.X), np.array(self.F), np.tile(self.u, (len(self.F), 1)))
            self.T, self.X, self.F = self.T[-1:], self.X[-1:], []


class _Loop:
    """A run, step by step."""

    def __init__(self, run: Run, field: Engine, log: _Log, now: Standing) -> None:
        self.run, self.field, self.log, self.now, self.control = run, field, log, now, run.control
        self.integrator: _Integrator | None = None
        self.failure: Exception | None = None
        self.raised: BaseException | None = None  # through the integrator

    def go(self, stop: float) -> None:
        """All steps."""
        run, now, control, watch = self.run, self.now, self.control, self.run.watch
        while now.t < stop:
            let_through()
            if control.next <= now.t:
                q, v, c = self.field.split(now.x)
                control.refresh(now.t, lambda q=q, v=v: run.plant.terms(q, v, now.t), c)
                self.log.effort(control.command)
                self.integrator = None
            until = min(stop, control.next)
            if until - now.t < INSTANT * run.t_end:
                now.t = until
                continue
            end, new, F = self._step(until)
            if watch is not None:
                T, X = np.array([now.t, end]), np.array([now.x, new])
                crossing = watch.crossing(T, X, path(T, F[None], X), self.field.effort)
                if crossing is not None:  # the step is taken again, to there
                    stop, watch, now.stopped, self.integrator = crossing, None, True, None
                    continue
            self.log.add(end, new, F)
            now.t, now.x = end, new
            now.taken += 1
            self.field.keep(end, new)
            run.report.update(end / run.t_end)
            if (ended := spent(run, now, stop)) != Status.COMPLETED:
                self.log.record.status = ended
                return

    def _step(self, until: float) -> tuple[float, Array, Array]:
        """End, state and dense coefficients of the next step."""
        run, now, field = self.run, self.now, self.field
        corrected = field.correct(now.t, now.x, now.h)
        if self.integrator is None:
            kind = _Vode if run.method.startswith("vode") else _Solver
            self.integrator = kind(self._rate, run, now.t, now.x.copy(), now.h, until)
        elif corrected:
            self.integrator.replace(now.x, field.derivative(now.t, now.x))
        integrator, before, self.failure = self.integrator, field.evaluations, None
        try:
            within = integrator.step()
        except (_Failed, ValueError, np.linalg.LinAlgError) as error:  # implicit methods refuse nan themselves
            if self.raised is None:
                failure = self.failure or _Failed(str(error))
                raise failure from failure.__cause__
        finally:
            if self.raised is not None:  # Fortran may have made another error of it, or none
                raise self.raised
        stages = _STAGES.get(run.method)
        if stages:  # the others do not tell
            self.log.record.rejections += max(0, (field.evaluations - before) // stages - 1)
        end = until if integrator.t > until - INSTANT * run.t_end else integrator.t
        F = _dense(within, now.t, integrator.t, now.x, integrator.x)
        new = field.project(integrator.x) if field.due else integrator.x
        if new is not integrator.x:
            F[0] += new - integrator.x
            integrator.replace(new, field.derivative(end, new))
        if not np.isfinite(new).all():
            raise NotFinite
        now.h = integrator.h
        if end == until:
            self.integrator = None
        return end, new, F

    def _rate(self, t: float, x: Array) -> Array:
        """The rate, or nan where it cannot be evaluated: then the methods shorten their step.

        VODE and LSODA call on with an exception of their own, or what a law raised, pending, until they see it:
        compiled code must not be called then.
        """
        if self.raised is not None:
            return np.full(x.size, np.nan)
        try:
            return self.field.derivative(t, x)
        except NotFinite as error:
            self.failure = self.failure or error  # a stage that failed makes the next ones so
            return np.full(x.size, np.nan)
        except (AssemblyError, ModelError) as error:
            self.failure = error
            return np.full(x.size, np.nan)
        except BaseException as error:
            self.raised = error
            raise


def _dense(within: Callable[[float], Array], t0: float, t1: float, x0: Array, x1: Array) -> Array:
    """Coefficients (7, nx) of `interpolate` for the path within a step, read off at seven points."""
    values = np.stack([within(t0 + s * (t1 - t0)) for s in _NODES[:-1]] + [x1]) - x0
    return np.linalg.solve(_basis(), values)


@cache
def _basis() -> Array:
    """What `interpolate` makes of each coefficient at the points of `_NODES`, shape (7, 7)."""
    out, basis = np.empty(7), np.empty((7, 7))
    for i, s in enumerate(_NODES):
        runge_kutta.interpolate(np.zeros(7), np.eye(7), s, out)
        basis[i] = out
    return basis

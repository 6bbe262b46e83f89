"""The time loop for laws in continuous time and plants given by functions: Python around the same pieces.

It mirrors `kernels.stepping.advance`: stages at projected velocity, projection after each step,
DOP853's error measure, leaps over singular poses. The state is ``[q, v, work, dissipated, c]``
with the controller's state c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, ModelError, Status
from ..kernels import constrained, forces, stepping
from ..model.mechanism import Mechanism
from ..model.terms import FAILED, RANK_TOLERANCE, Terms
from .control import LawFailed
from .run import INSTANT, Record, Run, Standing, path

__all__ = ["run"]

Array = NDArray[np.float64]
_KEEP = 12  # past steps that a leap may look back on
_FLUSH = 256
_FAILING = 1e-9  # of a run: steps at which a law that fails is believed


class _NotFinite(Exception):
    """A stage could not be evaluated."""


class _Stepper:
    """One run: the derivative, the projection and the step."""

    def __init__(self, run: Run, energy0: float) -> None:
        self.run, self.plant, self.control = run, run.plant, run.control
        self.opt, self.tableau, self.energy0 = run.options, run.tableau, energy0
        self.nq, self.nv = run.plant.nq, run.plant.nv
        self.evaluations = 0
        self.closeness = 1.0
        self.projecting = run.options.stabilisation == stepping.PROJECT

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """q, v and the controller's state."""
        return x[: self.nq], x[self.nq : self.nq + self.nv], x[self.nq + self.nv + 2 :]

    def effort(self, t: float, x: Array) -> Array:
        """Motor efforts at a state."""
        q, v, c = self.split(x)
        return self.control.effort(t, self.plant.terms(q, v, t, project=self.projecting, cap=self.opt.cap), c)

    def derivative(self, t: float, x: Array) -> Array:
        """Rate of the state; see `kernels.stepping.derivative`."""
        self.evaluations += 1
        q, v, c = self.split(x)
        if not (np.abs(x) < stepping.HUGE).all():
            raise _NotFinite
        terms = self.plant.terms(
            np.ascontiguousarray(q), np.ascontiguousarray(v), t, project=self.projecting, cap=self.opt.cap
        )
        u = self.control.effort(t, terms, c)
        f = terms.B @ u
        target = -terms.b
        if self.opt.stabilisation == stepping.BAUMGARTE:
            target = target - 2.0 * self.opt.alpha * (terms.A @ terms.v) - self.opt.beta**2 * terms.phi
        vdot, _, rank = constrained.gauss_acceleration(
            terms.M, terms.A, terms.row_scale, f - terms.h, target, RANK_TOLERANCE, self.opt.cap
        )
        if rank == FAILED:
            raise _NotFinite
        self.closeness = stepping.closeness(terms.pivots, self.opt)
        dx = np.empty_like(x)
        dx[: self.nq] = self.plant.position_rate(terms.q, terms.v)
        dx[self.nq : self.nq + self.nv] = vdot
        dx[self.nq + self.nv] = f @ terms.v
        dx[self.nq + self.nv + 1] = self._dissipated(terms)
        dx[self.nq + self.nv + 2 :] = self.control.rate(t, terms, c, u)
        return dx

    def _dissipated(self, terms: Terms) -> float:
        """Power lost in friction and dampers; functions do not tell it."""
        if not isinstance(self.plant, Mechanism):
            return 0.0
        model = self.plant.model
        if not model.damping.any() and not model.springs.size:
            return 0.0
        work = constrained.new_work(model)
        constrained.update_position(model, terms.q, work, RANK_TOLERANCE, self.opt.cap)
        constrained.update_velocity(model, terms.q, terms.v, work)
        return float(forces.dissipated_power(model, terms.v, work.R, work.p, work.V))

    def project(self, x: Array) -> tuple[Array, float]:
        """x on the closed loops, and how far it had to move relative to the tolerance."""
        if not self.projecting:
            return x, 0.0
        out = x.copy()
        metric = "euclidean" if self.opt.euclidean else "mass"
        q, v, _ = self.split(x)
        out[: self.nq] = self.plant.close(np.ascontiguousarray(q), metric=metric, accuracy=1e-15)
        out[self.nq : self.nq + self.nv] = self.plant.project_velocity(
            out[: self.nq], np.ascontiguousarray(v), metric=metric
        )
        if self.opt.energy:
            self._scale_to_energy(out)
        return out, np.sqrt(
            np.mean(self.plant.difference(np.ascontiguousarray(q), out[: self.nq]) ** 2)
        ) if self.nv else 0.0

    def _scale_to_energy(self, x: Array) -> None:
        """Scale the velocity to the energy balance, in place."""
        q, v, _ = self.split(x)
        terms = self.plant.terms(np.ascontiguousarray(q), np.ascontiguousarray(v))
        wanted = self.energy0 + x[self.nq + self.nv] - x[self.nq + self.nv + 1] - terms.potential
        if terms.kinetic > 1e-9 * abs(self.energy0) and 0.25 * terms.kinetic < wanted < 4.0 * terms.kinetic:
            x[self.nq : self.nq + self.nv] *= np.sqrt(wanted / terms.kinetic)

    def attempt(self, t: float, x: Array, rate: Array, h: float) -> tuple[Array, Array, float]:
        """One step: the new state, all stages, and the error (above 1: reject)."""
        tab = self.tableau
        stages, extra = len(tab.b), len(tab.c_extra)
        K = np.zeros((stages + 1 + extra, x.size))
        K[0] = rate
        y = np.empty_like(x)
        for i in range(1, stages):
            stepping.combine(x, K, tab.A[i], i, h, y)
            K[i] = self.derivative(t + tab.c[i] * h, y)
        stepping.combine(x, K, tab.b, stages, h, y)
        new, moved = self.project(y)
        K[stages] = self.derivative(t + h, new)
        n = self.nq + self.nv
        error = 0.0
        if tab.E5.size:
            error = stepping.error_norm(K, tab, x, y, n, h, self.opt.rtol, self.opt.atol)
            if x.size > n + 2:  # states of the law or the drive, too
                own = [np.ascontiguousarray(part[..., n + 2 :]) for part in (K, x, y)]
                of_law = stepping.error_norm(own[0], tab, *own[1:], x.size - n - 2, h, self.opt.rtol, self.opt.atol)
                error = max(error, of_law)
            error = max(
                error,
                0.1 * moved / (self.opt.atol + self.opt.rtol * h * float(np.abs(new[self.nq : n]).max(initial=0.0))),
            )
        return new, K, error

    def dense(self, t: float, x: Array, new: Array, K: Array, h: float) -> Array:
        """Dense coefficients of an accepted step."""
        tab = self.tableau
        y, F = np.empty_like(x), np.empty((7, x.size))
        here = self.closeness
        for i in range(len(tab.c_extra)):
            stepping.combine(x, K, tab.A_extra[i], len(tab.b) + 1 + i, h, y)
            K[len(tab.b) + 1 + i] = self.derivative(t + tab.c_extra[i] * h, y)
        self.closeness = here
        stepping.dense_coefficients(K, tab, x, new, h, F)
        return F

    def closeness_at(self, x: Array) -> float:
        """Closeness to a singular pose."""
        q = np.ascontiguousarray(x[: self.nq])
        return float(stepping.closeness(self.plant.terms(q, np.zeros(self.nv), cap=self.opt.cap).pivots, self.opt))

    def leap(self, past: list[tuple[float, Array, Array, float]]) -> tuple[float, Array, tuple] | None:
        """Landing time, state and nodes of a leap beyond a singular pose ahead; see `kernels.stepping.leap`."""
        from scipy.optimize import minimize_scalar

        (t, x, _, now), (t_before, _, _, before) = past[-1], past[-2]
        if not (now < 0.1 and now < before):
            return None
        ahead = now / (before - now) * (t - t_before)
        low, high = t, t + 4.0 * ahead
        y = np.empty_like(x)
        for _ in range(2):
            nodes = self._nodes(past, 8.0 * ahead)
            if len(nodes[0]) < 3:
                return None

            def near(s: float, nodes: tuple[Array, Array, Array] = nodes) -> float:
                stepping.hermite(*nodes, len(nodes[0]), s, y)
                return self.closeness_at(y)

            found = minimize_scalar(near, bounds=(low, high), method="bounded", options={"xatol": 1e-9 * ahead})
            if not (found.x < high - 1e-6 * ahead and found.fun < 0.5 * now):
                return None
            ahead = found.x - t
            low, high = t + 0.5 * ahead, t + 1.5 * ahead
        stepping.hermite(*nodes, len(nodes[0]), found.x, y)
        gap = np.abs(self.plant.residual(y[: self.nq]) * self.plant.row_scale).max(initial=0.0)
        if found.fun > self.opt.pass_within or gap > self.opt.pass_within**2:
            return None
        landing = found.x + ahead
        doubt = stepping.doubt(*nodes, len(nodes[0]), landing, self.nq + self.nv, y)
        if doubt > max(1e3 * self.opt.rtol, 1e2 * stepping.LEAP_ERROR):
            return None
        return landing, y, nodes

    @staticmethod
    def _nodes(past: list[tuple[float, Array, Array, float]], window: float) -> tuple[Array, Array, Array]:
        """Up to five past states spread over a window, newest first."""
        chosen = [past[-1]]
        for k in range(1, 5):
            older = [p for p in past if p[0] <= past[-1][0] - k * window / 4.0]
            if older and older[-1][0] < chosen[-1][0]:
                chosen.append(older[-1])
        return np.array([p[0] for p in chosen]), np.array([p[1] for p in chosen]), np.array([p[2] for p in chosen])


def run(run: Run, record: Record, now: Standing, stop: float) -> None:
    """Step on to a time; the record keeps what was done, the status how it ended."""
    plant = run.plant
    n = plant.nq + plant.nv
    terms = plant.terms(now.x[: plant.nq], now.x[plant.nq : n])
    energy0 = terms.energy - now.x[n] + now.x[n + 1] if np.isfinite(terms.energy) else 0.0
    stepper, log = _Stepper(run, energy0), _Log(record, run.control.command, now)
    try:
        _loop(run, stepper, log, now, stop)
    except _NotFinite:
        record.status = Status.NOT_FINITE
    finally:
        log.flush()
        record.evaluations += stepper.evaluations


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
            self.record.append(np.array(self.T), np.array(self.X), np.array(self.F), self.u)
            self.T, self.X, self.F = self.T[-1:], self.X[-1:], []


def _loop(run: Run, stepper: _Stepper, log: _Log, now: Standing, stop: float) -> None:
    """Accept, reject and leap until the end."""
    record, opt, control, watch = log.record, run.options, run.control, run.watch
    adaptive = run.tableau.E5.size > 0
    t, x, h = now.t, now.x, now.h
    past: list[tuple[float, Array, Array, float]] = []
    rate = None
    rejected = False
    while t < stop:
        if control.next <= t:
            control.refresh(t, run.plant, *stepper.split(x))
            log.effort(control.command)
            past, rate = [], None
        until = min(stop, control.next)
        if until - t < INSTANT * run.t_end:
            t = now.t = until
            continue
        if rate is None:
            rate = stepper.derivative(t, x)
            past = [(t, x, rate, stepper.closeness)]
        h = min(h, opt.max_step)
        landed = None
        if adaptive and stepper.projecting and opt.pass_within > 0.0 and len(past) > 2 and not rejected:
            landed = _try_leap(stepper, past, t, x, rate, until)
            now_near, before = past[-1][3], past[-2][3]
            if landed is None and now_near < 0.1 and now_near < before:
                h = min(h, 0.5 * now_near / (before - now_near) * (t - past[-2][0]))
        if landed is not None:
            end, new, new_rate, F = landed
        else:
            last = t + h * (1.0 + 1e-9) >= until
            step = until - t if last else h
            if step < 4e-16 * max(abs(t), 1e-3 * run.t_end):
                record.status = Status.STEP_TOO_SMALL
                return
            new, K, error = _attempt(stepper, t, x, rate, step, adaptive)
            if adaptive:
                h = stepping.next_step(step, error, rejected)
                if not error < 1.0:
                    record.rejections += 1
                    rejected = True
                    if h < 4e-16 * max(abs(t), 1e-3 * run.t_end):
                        record.status = Status.STEP_TOO_SMALL if np.isfinite(error) else Status.PROJECTION
                        return
                    continue
            elif not np.isfinite(error):
                record.status = Status.PROJECTION
                return
            rejected = False
            end, new_rate, F = (until if last else t + step), K[len(run.tableau.b)], stepper.dense(t, x, new, K, step)
        if watch is not None:
            T, X = np.array([t, end]), np.array([x, new])
            crossing = watch.crossing(T, X, path(T, F[None], X), stepper.effort)
            if crossing is not None:  # the step is taken again, to there
                stop, watch, now.stopped = crossing, None, True
                continue
        log.add(end, new, F)
        h = end - t if landed is not None else h
        t, x, rate = end, new, new_rate
        closeness = stepper.closeness
        past = [(t, x, rate, closeness)] if landed is not None else [*past[-_KEEP:], (t, x, rate, closeness)]
        now.t, now.x, now.h = t, x, h
        now.taken += 1
        run.report.update(t / run.t_end)
        if now.taken >= run.max_steps and t < stop:
            record.status = Status.TOO_MANY_STEPS
            return


def _attempt(
    stepper: _Stepper, t: float, x: Array, rate: Array, step: float, adaptive: bool
) -> tuple[Array, Array, float]:
    """A step; one that cannot be evaluated or closed counts as an infinite error.

    A law that fails at a stage ahead is approached with shorter steps, so that the run ends where the law does.
    """
    try:
        return stepper.attempt(t, x, rate, step)
    except (AssemblyError, ModelError, _NotFinite):  # a stage may run away
        return x, np.empty((0, 0)), np.inf
    except LawFailed:
        if not adaptive or step < _FAILING * stepper.run.t_end:
            raise
        return x, np.empty((0, 0)), np.inf


def _try_leap(stepper: _Stepper, past, t: float, x: Array, rate: Array, until: float):
    """Leap over a singular pose if there is one ahead; the new time, state, rate and dense coefficients."""
    found = stepper.leap(past)
    if found is None or not t < found[0] < until:
        return None
    landing, y, nodes = found
    try:
        y, _ = stepper.project(y)
    except AssemblyError:
        return None
    new_rate = stepper.derivative(landing, y)
    F = np.empty((7, x.size))
    stepping.record_step(x, y, rate, new_rate, landing - t, F)
    stepping.refine_leap(*nodes, len(nodes[0]), t, landing - t, x, F)
    return landing, y, new_rate, F

"""The time loop for laws in continuous time and plants given by functions: Python around the same pieces.

It mirrors `kernels.stepping.advance`: stages at projected velocity, projection after each step,
DOP853's error measure, steps across singular poses. Formulations by name and the other stabilisations run here, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._interrupt import let_through
from ..errors import AssemblyError, ModelError, RedundantRowsError, Status
from ..kernels import stepping
from .control import LawFailed
from .field import Field, NotFinite
from .run import INSTANT, Record, Run, Standing, path, spent

__all__ = ["Log", "run"]

Array = NDArray[np.float64]
_KEEP = 12  # past steps that a leap may look back on
_FLUSH = 256
_FAILING = 1e-9  # of a run: steps at which a law that fails is believed


class _Stepper(Field):
    """One run: the rates, the projection, and the step."""

    failed = Status.PROJECTION  # how the last step that could not be taken failed
    failure: Exception | None = None  # and what said so
    least = 1.0  # closeness of the stages of the last step to a singular pose

    @property
    def tableau(self) -> stepping.Tableau:
        """Of the method."""
        return self.run.tableau

    def attempt(self, t: float, x: Array, rate: Array, h: float) -> tuple[Array, Array, float]:
        """One step: the new state, all stages, and the error (above 1: reject)."""
        tab = self.tableau
        stages, extra = len(tab.b), len(tab.c_extra)
        K = np.zeros((stages + 1 + extra, x.size))
        K[0] = rate
        y = np.empty_like(x)
        self.least = 1.0
        for i in range(1, stages):
            stepping.combine(x, K, tab.A[i], i, h, y)
            K[i] = self.derivative(t + tab.c[i] * h, y)
            self.least = min(self.least, self.closeness)
        stepping.combine(x, K, tab.b, stages, h, y)
        new, moved = self.project(y)
        K[stages] = self.derivative(t + h, new)
        n = self.nq + self.nv
        error = 0.0
        if tab.E5.size:
            share = 1.0 if self.closing else stepping.step_share(tab, self.opt.rtol, self.opt.atol)
            error = share * stepping.error_norm(K, tab, x, y, n, h, self.opt.rtol, self.opt.atol)
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

    def nearest(self, x: Array, F: Array, low: float, high: float) -> tuple[float, float, Array]:
        """Fraction of a step nearest to a singular pose, the closeness and the state there; see the kernel."""
        from scipy.optimize import minimize_scalar

        y = np.empty_like(x)

        def near(s: float) -> float:
            stepping.interpolate(x, F, s, y)
            return self.closeness_at(y)

        grid = np.linspace(low, high, stepping.LOOKS + 1)
        found = [near(s) for s in grid]
        k = int(np.argmin(found))
        s, least = float(grid[k]), found[k]
        if least <= 0.5 * found[0]:
            ends = (grid[max(k - 1, 0)], grid[min(k + 1, stepping.LOOKS)])
            best = minimize_scalar(near, bounds=ends, method="bounded", options={"xatol": 1e-3 * (grid[1] - low)})
            s, least = float(best.x), float(best.fun)
        stepping.interpolate(x, F, s, y)
        return s, least, y

    def turning_limit(self, x: Array) -> float:
        """Step in which no coordinate of the loops moves by more than a radian or a size; see the kernel."""
        q, v, _ = self.split(x)
        in_loops = np.any(self.plant.jacobian(q) != 0.0, axis=0)
        fastest = float(np.abs(v * self.plant.reach)[in_loops].max(initial=0.0)) / self.plant.size
        return 1.0 / fastest if fastest > 0.0 else np.inf

    def passage(self, last: _Step, reach: float) -> float:
        """Time left to a singular pose ahead; see `kernels.stepping.passage`."""
        fall = last.before - self.closeness
        if not fall > 0.0 or not self.closeness * last.length < 8.0 * fall * reach:
            return np.inf
        high = 1.0 + min(reach / last.length, 8.0)
        s, near, _ = self.nearest(last.x, last.F, 1.0, high)
        return (s - 1.0) * last.length if near < 0.5 * self.closeness and s < high - 1e-3 else np.inf

    def passed(self, x: Array, F: Array, fraction: float) -> bool:
        """Whether a step has gone through a singular pose; see `kernels.stepping.passed`."""
        _, near, y = self.nearest(x, F, max(fraction - 0.3, 0.0), min(fraction + 0.3, 1.0))
        left = np.abs(self.plant.residual(y[: self.nq]) * self.plant.row_scale).max(initial=0.0)
        return bool(near <= self.opt.pass_within and left <= self.opt.pass_within**2 * self.plant.size)

    def leap(self, past: list[tuple[float, Array, Array, float]]) -> tuple[float, Array, tuple] | None:
        """Landing time, state and nodes of a leap beyond a singular pose ahead; see `kernels.stepping.leap`."""
        from scipy.optimize import minimize_scalar

        (t, x, _, now), (t_before, _, _, before) = past[-1], past[-2]
        if not now < before:
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
        if found.fun > self.opt.pass_within or gap > self.opt.pass_within**2 * self.plant.size:
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


class _Step(NamedTuple):
    """The last step: its start, dense coefficients, length, and closeness to a singular pose at its start."""

    x: Array
    F: Array
    length: float
    before: float


def run(run: Run, record: Record, now: Standing, stop: float) -> None:
    """Step on to a time; the record keeps what was done, the status how it ended."""
    stepper, log = _Stepper(run, now), Log(record, run.control.command, now)
    try:
        with np.errstate(all="ignore"):  # values that run away are seen by their size
            _loop(run, stepper, log, now, stop)
    except NotFinite:
        record.status = Status.NOT_FINITE
    except RedundantRowsError as error:
        record.status, record.error = Status.FORMULATION, error
    finally:
        log.flush()
        record.evaluations += stepper.evaluations


class Log:
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


def _loop(run: Run, stepper: _Stepper, log: Log, now: Standing, stop: float) -> None:
    """Accept and reject steps until the end."""
    record, opt, control, watch = log.record, run.options, run.control, run.watch
    adaptive = run.tableau.E5.size > 0
    t, x, h = now.t, now.x, now.h
    watching = adaptive and stepper.stabilisation.passes and opt.pass_within > 0.0
    gap = stepping.widest_gap(run.tableau)
    unit = stepping.step_share(run.tableau, opt.rtol, opt.atol) * max(opt.rtol, opt.atol)
    across = np.inf  # error of the last try to step across a singular pose
    behind: _Step | None = None
    past: list[tuple[float, Array, Array, float]] = []
    rate = None
    rejected = False
    while t < stop:
        let_through()
        if control.next <= t:
            control.refresh(t, run.plant, *stepper.split(x))
            log.effort(control.command)
            behind, rate, past = None, None, []
        until = min(stop, control.next)
        if until - t < INSTANT * run.t_end:
            t = now.t = until
            continue
        if rate is None:
            rate = stepper.derivative(t, x)
            closeness = stepper.closeness
            past = [(t, x, rate, closeness)]
        stepper.closeness = closeness
        falling = watching and behind is not None and closeness < behind.before
        if not (falling and closeness < stepping.NEAR):
            h = min(h, opt.max_step)
        if watching:
            h = min(h, stepper.turning_limit(x))
        wanted = h
        crossing, ahead = False, np.inf
        if watching and behind is not None:
            ahead = stepper.passage(behind, 1.5 * h)
            wanted, crossing = stepping.plan(ahead, gap, h, closeness, until - t)
        stepper.closing = crossing or closeness > stepping.CROSS_FROM
        landed = None
        if watching and len(past) > 2 and not rejected and closeness < stepping.CROSS_FROM:
            landed = _try_leap(stepper, past, t, x, rate, until)
            if landed is None and falling:  # so that a leap has nodes
                h = wanted = min(wanted, 0.5 * closeness / (behind.before - closeness) * behind.length)
        if landed is not None:
            end, new, new_rate, F = landed
            h, here = end - t, stepper.closeness
        else:
            last = t + wanted * (1.0 + 1e-9) >= until
            step = until - t if last else wanted
            if step < 4e-16 * max(abs(t), 1e-3 * run.t_end):
                record.status = Status.STEP_TOO_SMALL
                return
            if not rejected and stepper.correct(t, x, step):
                rate = stepper.derivative(t, x)
            new, K, error = _attempt(stepper, t, x, rate, step, adaptive)
            if adaptive:
                longest, h = h, stepping.next_step(step, error, rejected, run.tableau.order)
                fastest = float(np.abs(rate[run.plant.nq : run.plant.nq + run.plant.nv]).max(initial=0.0))
                swift = float(np.abs(new[run.plant.nq : run.plant.nq + run.plant.nv]).max(initial=0.0))
                good = error < 1.0 or stepping.blurred(error * unit, stepper.least, swift)
                if crossing and not good:
                    good = stepping.settled(error, across, unit, step, fastest, stepper.least, opt.pass_within)
                    across = error
                if not good:
                    record.rejections += 1
                    rejected = True
                    if h < 4e-16 * max(abs(t), 1e-3 * run.t_end):
                        record.status, record.error = Status.STEP_TOO_SMALL, None
                        if not np.isfinite(error):
                            record.status, record.error = stepper.failed, stepper.failure
                        return
                    continue
            elif not np.isfinite(error):
                record.status, record.error = stepper.failed, stepper.failure
                return
            here = stepper.closeness
            end, new_rate, F = (until if last else t + step), K[len(run.tableau.b)], stepper.dense(t, x, new, K, step)
            if crossing and not stepper.passed(x, F, ahead / step):
                record.rejections += 1
                rejected, h = True, 0.5 * step
                continue
            if adaptive and wanted < longest and not last:
                h = max(h, longest)  # accuracy had no say
            across = np.inf if crossing else across
            rejected = False
        if watch is not None:
            T, X = np.array([t, end]), np.array([x, new])
            crossing = watch.crossing(T, X, path(T, F[None], X), stepper.effort)
            if crossing is not None:  # the step is taken again, to there
                stop, watch, now.stopped = crossing, None, True
                continue
        log.add(end, new, F)
        behind = _Step(x, F, end - t, closeness)
        t, x, rate, closeness = end, new, new_rate, here
        past = [*(past[-_KEEP:] if landed is None else []), (t, x, rate, closeness)]
        now.t, now.x, now.h = t, x, h
        now.taken += 1
        stepper.keep(t, x)
        run.report.update(t / run.t_end)
        if (ended := spent(run, now, stop)) != Status.COMPLETED:
            record.status = ended
            return


def _attempt(
    stepper: _Stepper, t: float, x: Array, rate: Array, step: float, adaptive: bool
) -> tuple[Array, Array, float]:
    """A step; one that cannot be evaluated or closed counts as an infinite error.

    A law, or a formulation, that fails at a stage ahead is approached with shorter steps, so that the run ends where
    it does.
    """
    try:
        return stepper.attempt(t, x, rate, step)
    except (LawFailed, RedundantRowsError):
        if not adaptive or step < _FAILING * stepper.run.t_end:
            raise
    except NotFinite:  # a stage may run away
        stepper.failed, stepper.failure = Status.NOT_FINITE, None
    except AssemblyError:
        stepper.failed, stepper.failure = Status.PROJECTION, None
    except ModelError as error:
        stepper.failed, stepper.failure = Status.FAILED, error
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
    stepping.refine_step(*nodes, len(nodes[0]), t, landing - t, x, F)
    return landing, y, new_rate, F

"""Time loop: from one time to another, in blocks of compiled steps; its questions to Python, and the record."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .._interrupt import let_through
from .._jit import entry
from ..errors import AssemblyError, ModelError, ParametrizationError, RedundantRowsError, Status
from ..kernels import motion, passages, time_loop
from ..kernels.layout import WORKS
from ..kernels.watch import no_watch
from ..model.terms import Terms
from ..trace.code import why_not
from .engine import ROOM, Engine, NotFinite
from .failures import LawFailed
from .integrator import Integrator
from .path import NODES, path
from .run import AT_SINGULAR, IntegratorState, Passage, Record, Run, stop_reason

if TYPE_CHECKING:
    from . import local

__all__ = ["Method", "TimeLoop"]

Array = NDArray[np.float64]

_CAPACITY, _PAST = 512, 12  # steps in a block of the record; those that the next block begins with
_LOOK = 0.1  # s: about how often the loop looks at the keyboard
_EVERY, _EVERY_IMPLICIT = 250, 25  # tries after which stiffness is looked at; the explicit number doubles each time
_UNSTABLE = 3.0  # steps times largest eigenvalue: dop853 is stable up to 6, and where errors bound it below 1.5
_SUSPECT = 0.5  # the same, told by two stages
_WORTH = 150.0  # the same of implicit steps, each of which takes as long as 25 explicit ones, in Python


class Method(Protocol):
    """Method of integration that is not compiled: it takes the steps, and the loop does all else.

    Attributes
    ----------
    projected : bool
        Whether its steps are projected as those of the loop are; else they stay on the closed loops by themselves.
    h : float
        Next step, s.
    rejections, evaluations : int
        Steps that were taken again, and evaluations that the engine has not counted.
    counts : dict
        Other counts by name.
    """

    projected: bool
    h: float

    @property
    def rejections(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def counts(self) -> dict[str, int]: ...

    def __call__(self, t: float, x: Array, end: float) -> tuple[float, Array, Array]:
        """Take the next step from (t, x), at most to `end`: its end, state and dense coefficients (7, nx).

        (t, x) is where the last step has ended, unless that was projected, or is taken again.
        """

    def forget(self) -> None:
        """Drop what is kept of past steps: the efforts have changed."""

    def explain(self, error: Exception) -> tuple[Status, BaseException | None] | None:
        """Status and error with which a run ends by an exception of a step; None for exceptions not of this method."""


class TimeLoop(Engine):
    """Steps of a run, by a method that is not compiled, or by compiled ones.

    Attributes
    ----------
    steps : kernels.time_loop.StepRecord
        Record of the last steps, and the state of the loop.
    stop : float
        Time at which `advance` returns, s.
    """

    def __init__(self, run: Run, state: IntegratorState) -> None:
        super().__init__(run, state)
        self.detector = run.detector
        self.recorder = run.recorder if run.recorder is not None and run.recorder.active else None
        self.method: Method | None = None
        self.stop = np.inf
        self._crossed, self._ended = False, ""
        self.hands_over = False  # whether another method is to go on
        self._since, self._look = (0, state.t), np.iinfo(np.int64).max  # when stiffness was, and is looked at
        self._passage: Passage | None = None

    def begin(self, state: IntegratorState, method: Method | None = None) -> None:
        """Begin steps at a state, by a method that is not compiled or else by compiled ones."""
        run, self.method = self.run, method
        bound = self.formulation is not None and self.formulation.bound
        quiet = self.detector is not None and self.detector.limits is not None and method is None
        notify = bound or bool(np.isfinite(run.stop_at_passages_after))
        if self.recorder is not None:
            notify |= bool(self.recorder.events) or method is not None
        looks = self.detector is not None and not quiet
        watched = looks and not notify and method is None and not self.options.law and self.detector.compiled  # type: ignore[union-attr]
        notify |= looks and not watched
        self.options = self.options._replace(
            notify=notify, watched=watched, ladder=run.integrator.ladder, no_law=not self.control.asked
        )
        if method is not None:
            kept = self.options.stabilisation if method.projected else motion.NONE
            self.options = self.options._replace(outside=True, stabilisation=kept)
        tables = (run.integrator if method is None else Integrator("dop853")).tables()  # another method uses none
        self._tables = tables
        if method is None and self.options.stabilisation == motion.PROJECT and not why_not():
            self.control.generate(run.plant, state.x[: self.nq].copy(), self.code)
        else:
            self.control.leave_to_python(why_not() or "samples go by code where the compiled loop projects every step")
        capacity = max(min(_CAPACITY, run.max_steps - state.taken), 1) + _PAST
        nx, nu = state.x.size, run.plant.nu
        stages = max(table.b.size + 1 + table.c_extra.size for table in tables)
        self.steps = steps = time_loop.StepRecord(
            T=np.zeros(capacity + 1),
            X=np.zeros((capacity + 1, nx)),
            F=np.zeros((capacity, 7, nx)),
            U=np.zeros((capacity, nu)),
            near=np.ones(capacity + 1),
            passages=np.zeros((ROOM, 2)),
            K=np.zeros((stages, nx)),
            low=np.zeros(nx),
            command=np.array(self.control.command, dtype=np.float64),
            times=np.array(run.times, dtype=np.float64),
            limits=np.tile([-np.inf, np.inf], (self.nq, 1)),
            law=self.control.sampled,
            memory=time_loop.remember(
                self.control.next, state.previous_closeness, self.energy0, np.full(len(tables), state.h), state.taken
            ),
            y=np.zeros(nx),
            lower=np.zeros(nx),
            leap=time_loop.Nodes(np.zeros(5), np.zeros((5, nx)), np.zeros((5, nx))),
        )
        if self.recorder is not None:
            steps.limits[:] = self.recorder.limits
        if quiet:
            inner = np.maximum(steps.limits[:, 0], self.detector.limits[:, 0])  # type: ignore[union-attr]
            outer = np.minimum(steps.limits[:, 1], self.detector.limits[:, 1])  # type: ignore[union-attr]
            steps.limits[:] = np.column_stack([inner, outer])
        steps.T[0], steps.X[0] = state.t, state.x
        state.previous_closeness, state.passage = np.inf, None
        watch = self.detector.watch if watched else no_watch(self.arrays, self.work)  # type: ignore[union-attr]
        self._arguments = (self.arrays, tables, self.options, self.exchange, self.work, steps, watch)
        self._advance = entry(time_loop.advance, *self._arguments, 0.0, 1)
        self._complete_terms: Callable | None = None
        if run.where_stiff is not None:
            self._look = self._tried + (_EVERY if method is None else _EVERY_IMPLICIT)
            self._since = self._tried, state.t

    def advance(self, tries: int) -> int:
        """Take compiled steps to `stop`, or so many, or until stiffness is to be checked; returns why they end."""
        return self._advance(*self._arguments, self.stop, max(min(tries, self._look - self._tried), 1))

    def present_terms(self) -> Terms:
        """Equations of motion at the present state of the loop, as a sampled law gets them.

        Raises
        ------
        NotFinite, ModelError
            Where they cannot be evaluated.
        """
        t, x = float(self.steps.T[self.last]), self.steps.X[self.last].copy()
        arguments = (self.arrays, self.options, self.exchange, self.work, self.steps, t, x)
        if self._complete_terms is None:
            self._complete_terms = entry(time_loop.complete_terms, *arguments)
        if self._complete_terms(*arguments) < 0:
            raise self.failure or NotFinite
        return self.evaluated_terms(t)

    def go(self, record: Record, state: IntegratorState, stop: float) -> None:
        """Step on to a time, or to the first event that ends the part, and record the steps."""
        steps = self.steps
        self.stop = self.run.acting.up_to(state.t, stop)
        first, tries, reason = 0, 8, time_loop.PAUSED
        evaluations, by_code, rejections = record.evaluations, record.by_code, record.rejections
        while reason in (time_loop.PAUSED, time_loop.EVENT):
            begin, tried = clock.perf_counter(), self._tried
            reason = self.advance(tries)
            tried = self._tried - tried
            count = int(tried * _LOOK / max(clock.perf_counter() - begin, 1e-9))
            tries = max(min(count, 8 * (tried + 1)), 1)
            self.place(state)
            if reason == time_loop.COMPLETED and self.stop < stop and not self.has_ended:
                self.stop = self.run.acting.up_to(state.t, stop)
                steps.memory.sample[0], reason = state.t, time_loop.PAUSED  # the rate may have jumped
                steps.memory.fresh[0] = 0
            try:
                self.run.report.update(state.t / self.run.t_end)
                let_through()
                if reason == time_loop.PAUSED:
                    reason = int(stop_reason(self.run, state, self.stop)) or time_loop.PAUSED
                if reason in (time_loop.PAUSED, time_loop.EVENT) and self.looks and self.look(state):
                    reason = time_loop.COMPLETED
            except BaseException:
                reason = time_loop.ERROR
                raise
            finally:
                if self.full or reason not in (time_loop.PAUSED, time_loop.EVENT):
                    first = self._hand_over(record, first)
                    record.evaluations = evaluations + self.evaluations
                    record.by_code = by_code + self.by_code
                    record.why_kernels, record.why_python = self.why_kernels, self.why_python
                    record.rejections = rejections + int(steps.memory.rejections[0])
                    if self.method is not None:
                        record.evaluations += self.method.evaluations
                        record.rejections += self.method.rejections
                        record.counts = self.method.counts
        self.end(record, state, reason)

    def end(self, record: Record, state: IntegratorState, reason: int) -> None:
        """Record how the steps end, and by what."""
        steps = self.steps
        state.stopped = self._crossed and reason == time_loop.COMPLETED
        state.passage = self._passage if reason == time_loop.COMPLETED else None
        if self.hands_over:  # the next method sees what comes
            state.previous_closeness = float(steps.memory.before[0])
        elif reason == time_loop.COMPLETED and not self._stopping:
            near = float(motion.glance(self.arrays, self.options, self.exchange, self.work, state.x))
            if near < min(float(steps.memory.before[0]), passages.MET):
                record.passages.append((state.t, near))
        record.status, record.error, record.where = self.ended(reason)

    @property
    def looks(self) -> bool:
        """Whether it is time to check for stiffness."""
        return self._tried >= self._look

    def look(self, state: IntegratorState) -> bool:
        """Whether an implicit method should go on, or an explicit one again, by the pace and the largest eigenvalue."""
        if self.steps.memory.rejected[0]:  # the stages are those of another step
            self._look = self._tried + 1
            return False
        tried, since = self._since
        count = self._tried - tried
        pace = (state.t - since) / count
        self._since, self._look = (self._tried, state.t), self._tried + count * (2 if self.method is None else 1)
        if self.method is not None:
            largest = cast("local.Method", self.method).largest_eigenvalue
            self.hands_over = largest * pace < _WORTH
        elif state.t + count * pace < self.run.t_end and self._steps_times_eigenvalue() > _SUSPECT:
            self.hands_over = self._largest_eigenvalue(state) * pace > _UNSTABLE
        return self.hands_over

    def _steps_times_eigenvalue(self) -> float:
        """Estimate of the last step times the largest eigenvalue, from its last two stages, which are at the same time.

        They differ most along what is stiff: h |f(x1) - f(x2)| / |x1 - x2|, velocities only (Hairer and Wanner, Solving
        Ordinary Differential Equations II, IV.2). It needs no evaluation, and no import of the linear model.
        """
        steps, n = self.steps, self.last
        table = self._tables[steps.memory.method[0]]
        last, v = table.b.size, slice(self.nq, self.nq + self.nv)
        h, K = steps.T[n] - steps.T[n - 1], steps.K[: last + 1, v].copy()
        K[0] = (steps.F[n - 1, 1, v] + steps.F[n - 1, 0, v]) / h  # the rate at its begin is that of the next one by now
        apart = float(np.linalg.norm((table.A[-1] - table.b) @ K[:last]))
        return float(np.linalg.norm(K[last] - K[last - 1])) / apart if apart > 0.0 else np.inf

    def _largest_eigenvalue(self, state: IntegratorState) -> float:
        """Largest eigenvalue of the local linear system, 1/s; zero where it cannot be found, as of a law that fails."""
        from . import local  # scipy.integrate takes 0.2 s

        try:
            return local.LocalMethod(self.run, state).largest_eigenvalue_at(state.t, state.x)
        except (ModelError, ParametrizationError, LawFailed, local.OutOfReach, np.linalg.LinAlgError):
            return 0.0

    @property
    def has_ended(self) -> bool:
        """Whether the steps end at an event or a passage, before their time."""
        return self._crossed or bool(self._ended) or self._passage is not None

    @property
    def _tried(self) -> int:
        return int(self.steps.memory.taken[0] + self.steps.memory.rejections[0])

    @property
    def last(self) -> int:
        """Index of the last state in the block of steps."""
        return int(self.steps.memory.last[0])

    @property
    def full(self) -> bool:
        """Whether the block of steps is full, or holds passages to take out."""
        return self.last >= len(self.steps.F) or self.steps.memory.passages[0] > 0

    def standing(self) -> list[Array]:
        """State of the loop, as copies of all its arrays; `stand` takes it."""
        parts = self.steps, self.exchange, self.work
        when = np.array([self.energy0, self.stop, self._look, *self._since])
        return [when, *(x.copy() for part in parts for x in _arrays(part))]

    def stand(self, at: list[Array]) -> None:
        """Take over the state of another loop, which began on the same plant."""
        parts = self.steps, self.exchange, self.work
        for mine, its in zip((x for part in parts for x in _arrays(part)), at[1:], strict=True):
            mine[...] = its
        self.energy0, self.stop = map(float, at[0][:2])
        self._look, self._since = int(at[0][2]), (int(at[0][3]), float(at[0][4]))
        if self.method is not None:
            self.method.h = float(self.steps.memory.steps[0])

    def place(self, state: IntegratorState) -> None:
        """Copy time, state and step size of the loop into `state`."""
        steps, n = self.steps, self.last
        state.t, state.x, state.taken = float(steps.T[n]), steps.X[n].copy(), int(steps.memory.taken[0])
        state.h = float(steps.memory.steps[steps.memory.method[0]])

    def _hand_over(self, record: Record, first: int) -> int:
        """Append the steps from entry `first` on to the record; returns the entry where the next ones begin."""
        steps, n = self.steps, self.last
        ends, new = slice(first, n + 1), slice(first, n)
        record.append(steps.T[ends], steps.X[ends], steps.F[new], steps.U[new])
        record.passages += self.empty()
        return self.last

    def empty(self) -> list[tuple[float, float]]:
        """Make room for a new block of steps; returns the singular configurations met."""
        steps, n = self.steps, self.last
        met = [(float(t), float(near)) for t, near in steps.passages[: steps.memory.passages[0]]]
        gone = max(n - _PAST, 0)
        for array in (steps.T, steps.X, steps.near):
            array[: n - gone + 1] = array[gone : n + 1].copy()
        for array in (steps.F, steps.U):
            array[: n - gone] = array[gone:n].copy()
        steps.memory.passages[0], steps.memory.last[0] = 0, n - gone
        steps.memory.since[0] = max(steps.memory.since[0] - gone, 0)
        return met

    def ended(self, reason: int) -> tuple[Status, BaseException | None, str]:
        """Status, error and name of the event with which the loop ended.

        Raises
        ------
        BaseException
            Any exception of a law or an event function.
        """
        refused, raised = self._refused, self._raised
        stopping, self._stopping, self._refused, self._raised = self._stopping, False, None, None  # told once
        if reason == time_loop.ERROR or stopping:
            if isinstance(raised, RedundantRowsError):
                return Status.FORMULATION, raised, ""
            if self.method is not None and isinstance(raised, Exception):
                explanation = self.method.explain(raised)
                if explanation is not None:
                    return *explanation, ""
            if raised is not None:
                raise raised
        elif reason in (time_loop.NOT_FINITE, time_loop.PROJECTION) and isinstance(refused, ModelError):
            unclosed = isinstance(refused, AssemblyError)
            return (Status.PROJECTION, None, "") if unclosed else (Status.FAILED, refused, "")
        elif reason == time_loop.COMPLETED and self._ended:
            return Status.EVENT, None, self._ended
        return Status(reason), None, ""

    # -- answers ----------------------------------------------------------------------------------

    def _sampled(self, t: float) -> None:
        """Take a sample of the law, and set the time at which the held efforts change next."""
        control = self.control
        control.refresh(t, lambda: self.evaluated_terms(t), self.exchange.x[self.nq + self.nv + WORKS :].copy())
        self.steps.command[:] = control.command
        self.steps.memory.sample[0] = control.next
        if self.method is not None:
            self.method.forget()

    def _attempted(self, until: float) -> None:
        """Take a step of a method that is not compiled."""
        steps, method = self.steps, self.method
        n = int(steps.memory.last[0])
        end, x, F = method(float(steps.T[n]), steps.X[n].copy(), until)  # type: ignore[misc]
        steps.T[n + 1], steps.X[n + 1], steps.F[n], steps.memory.steps[:] = end, x, F, method.h  # type: ignore[union-attr]

    def _stepped(self, t: float) -> int:
        """Check a step that was accepted; REFUSED where it leads beyond an event that ends the part."""
        steps = self.steps
        n = int(steps.memory.last[0])
        T, X, F = steps.T[n : n + 2].copy(), steps.X[n : n + 2].copy(), steps.F[n : n + 1].copy()
        state, first = path(T, F, X), np.inf
        if self.detector is not None:
            event = self.detector.first_event(T, X, state, self.effort)
            first = np.inf if event is None else event
        times, near = steps.passages[: steps.memory.passages[0]].T
        ahead = times[(times >= T[0]) & (times > self.run.stop_at_passages_after) & (near < AT_SINGULAR)]
        events = None if self.recorder is None else self.recorder.detect(T, state)
        if events is not None and events.stop < min([first, *ahead]):  # the step is taken again, to there
            self.recorder.accept(events)  # type: ignore[union-attr]
            self.stop, self._ended = events.stop, events.why
            self.recorder = self.detector = None  # what rounding makes of conditions that are zero all the time is late
            return motion.REFUSED
        if ahead.size and ahead[0] < first:
            states = np.array([state(T[0] + s * (ahead[0] - T[0])) for s in NODES])
            self.stop, self._passage = float(T[0]), Passage(float(ahead[0]), (float(T[0]), float(T[1])), states)
            return motion.REFUSED
        if np.isfinite(first):  # as above
            self.stop, self.detector, self._crossed = first, None, True
            return motion.REFUSED
        if events is not None:
            self.recorder.accept(events)  # type: ignore[union-attr]
        if self.formulation is not None and self.formulation.bound:  # it keeps a basis: does it still fit?
            self.formulation = self.formulation.at(self.terms(t, steps.X[n + 1]))
        return 0

    def _signalled(self, t: float) -> None:
        """Evaluate functions of time at the next samples."""
        self.control.evaluate_signals()

    _answers = Engine._answers | {
        motion.SIGNALS: _signalled,
        motion.SAMPLE: _sampled,
        motion.STEPPED: _stepped,
        motion.ATTEMPT: _attempted,
    }


def _arrays(record: tuple) -> Iterator[Array]:
    """Arrays of a record, and of the records in it."""
    for part in record:
        if isinstance(part, tuple):
            yield from _arrays(part)
        elif isinstance(part, np.ndarray):
            yield part

"""Steps of one's own: the time loop, driven from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Reporter
from ..controllers.controller import ConstantEffort
from ..errors import InputTypeError, ModelError, SimulationError, SingularConfigurationError, Status
from ..kernels import motion, passages, time_loop
from ..kernels.layout import WORKS
from ..model.plant import Plant
from ..model.terms import Terms
from .acting import Acting
from .branch_selection import BranchSelector
from .control import Control
from .ending import where, why_ended
from .engine import NotFinite
from .events import LIMITS, Event, EventRecorder, listed_events
from .integrator import Integrator
from .output import passage_events
from .run import IntegratorState, Record, Run, stop_reason
from .singular_start import step_from_singular
from .stabilisation import Stabilisation
from .start import check_start, first_step, options_of, start_state
from .time_loop import TimeLoop

__all__ = ["State", "Stepper"]

Array = NDArray[np.float64]

_TRIES = 10_000  # between two looks at whether a step leads anywhere
_ALL = 2**62  # steps that may be taken


class State(NamedTuple):
    """Where a machine stands.

    Attributes
    ----------
    time : float
        s.
    q, v : ndarray, shape (nq,) and (nv,)
    actuator_work, dissipated_work, load_work, motion_work : float
        Since the start, J.
    """

    time: float
    q: Array
    v: Array
    actuator_work: float
    dissipated_work: float
    load_work: float
    motion_work: float


class _Given(Control):
    """Efforts that are held until a time, as somebody outside says."""

    def __init__(self, plant: Plant) -> None:
        super().__init__(plant, ConstantEffort(np.zeros(plant.nu)))
        self.until = np.inf

    @property
    def next(self) -> float:
        """When the held efforts may change, s."""
        return self.until


class Stepper:
    """A machine that moves on when it is told to, under efforts that are held for so long.

    For hardware in the loop, learning, and schedulers of one's own. It is the time loop of `simulate`: the same samples
    give the same states, to the last bit, with the same `t_end`.

    Parameters
    ----------
    plant : Plant
    q0, v0 : array_like
        Start; the loops must be closed (see ``plant.assemble``). v0 defaults to zero.
    t_end : float
        About how long is to be stepped in all, s; what counts as an instant follows from it. It ends nothing.
    method : str or Integrator
        ``auto`` takes, for each step, the one of three methods that needs the fewest evaluations; or ``dop853``. Both
        are explicit: where the motion is stiff (`simulate` goes on with an implicit method there) steps are short.
    rtol, atol : float, optional
        Error allowed per step of the method, relative and absolute (rad, m, rad/s, m/s); defaults to 1e-11.
    events : sequence of Event, or of functions, optional
        What is recorded; a terminal one ends the steps (see `ended`).
    limits : {"warn", "stop", "ignore"}
        Joints that pass one of their limits; see `simulate`.
    motions : mapping of str to (number, callable or tuple), optional
        What prescribed motions follow; see `simulate`.

    Raises
    ------
    ValueError
        Where the start does not fit the plant.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> stepper = Stepper(plant, plant.assemble(left=2.1, right=1.0))
    >>> for _ in range(100):
    ...     state = stepper.step([0.1, 0.0], 1e-3)
    >>> round(state.time, 9), state.q.shape
    (0.1, (4,))
    """

    def __init__(
        self,
        plant: Plant,
        q0: ArrayLike,
        v0: ArrayLike | None = None,
        *,
        t_end: float = 10.0,
        method: str | Integrator = "auto",
        rtol: float | None = None,
        atol: float | None = None,
        events: Sequence[Event | Callable] = (),
        limits: str = "warn",
        motions: Mapping[str, Any] | None = None,
    ) -> None:
        _check.plant(plant)
        integrator = Integrator.of(method, rtol, atol)
        _check.one_of(integrator.name, integrator.STEPWISE, "method of a Stepper")
        tolerances = (integrator.default_tolerance if x is None else x for x in (integrator.rtol, integrator.atol))
        made: dict[str, Any] = dict(zip(("rtol", "atol"), tolerances, strict=True))
        self._integrator = replace(integrator, max_steps=_ALL, **made)
        self._acting = Acting(plant, motions=motions, held=True)
        self.plant, self._kept, self._t_end = self._acting.plant, Stabilisation(), _check.positive(t_end, "t_end")
        limits = _check.option(limits, LIMITS[1:], "limits")
        self._recorder = EventRecorder(plant, listed_events(events), limits, self._t_end)
        self._start: Terms = None  # type: ignore[assignment]  # until the steps begin
        self.reset(q0, v0)

    def reset(self, q0: ArrayLike | None = None, v0: ArrayLike | None = None) -> State:
        """Begin anew at time zero, at another start or at the same one; returns the state.

        Raises
        ------
        ValueError
            Where the start does not fit the plant.
        """
        plant = self.plant
        if q0 is None and self._start is not None:
            q0, v0 = self._start.q, self._start.v if v0 is None else v0
        terms = check_start(plant, start_state(plant, q0, v0, "mass", self._t_end), self._t_end)
        self._start = terms
        self._recorder.begin(0.0, np.concatenate([terms.q, terms.v]))
        options = options_of(plant, terms, self._kept, self._integrator, self._t_end)
        self._given = _Given(plant)
        self._run = Run(
            plant, self._given, options, self._integrator, self._t_end, _ALL, Reporter(False, ""),
            stabilisation=self._kept, recorder=self._recorder, acting=self._acting,
        )  # fmt: skip
        self._time, self._x = 0.0, np.concatenate([terms.q, terms.v, np.zeros(WORKS)])
        self._nq, self._n = plant.nq, plant.nq + plant.nv
        self._integrator_state = IntegratorState(0.0, self._x.copy(), 0.0)
        self._integrator_state.know(plant, terms)
        self._origin, self._dt, self._count = 0.0, 0.0, 0
        self._record = Record()
        self._record.begin(0.0, self._integrator_state.x, plant.nu)
        self._warned = len(self._recorder.recorded)
        self._passages: list[dict[str, Any]] = []
        self.ended = ""
        near = motion.closeness(terms.pivots, options)
        self._loop: Any = None  # a TimeLoop, as soon as a singular configuration is left behind
        if near >= passages.CROSS_FROM:
            self._begin()
        return self.state

    def _begin(self) -> None:
        """The loop goes on from here."""
        self._loop = TimeLoop(self._run, self._integrator_state)
        self._loop.options = self._loop.options._replace(no_law=True)
        self._loop.begin(self._integrator_state)

    # -- on the way -------------------------------------------------------------------------------

    def step(self, u: ArrayLike, dt: float, loads: Mapping[str, float | ArrayLike] | None = None) -> State:
        """Hold efforts for a time; returns the state then, or where something has ended the steps before.

        Parameters
        ----------
        u : array_like, shape (nu,)
            Motor efforts, N m or N.
        dt : float
            s.
        loads : mapping of str to float or array_like, optional
            Forces and moments of loads of the plant, N and N m, that act from now on until others are given, by name;
            see `Mechanism.with_loads`.

        Raises
        ------
        SimulationError
            Where the motion cannot go on, or something has ended it; the state is that of the last good step.
        EventError
            Where the function of an event fails.
        ValueError, TypeError
            Where these are no efforts or no time.
        """
        u = _check.vector(u, self._given.command.size, "the efforts u", self._given.motors)
        if not (type(dt) is float and 0.0 < dt < np.inf):
            dt = _check.positive(dt, "dt")
        if self.ended:
            raise SimulationError(f"{self.ended} reset() begins anew.")
        if loads is not None:
            self._hold_loads(loads)
        if dt != self._dt or self._origin + self._count * dt != self._time:
            self._origin, self._dt, self._count = self._time, dt, 0
        self._count += 1
        until = self._origin + self._count * dt  # equal steps end at multiples of their length, as samples do
        if self._integrator_state.h == 0.0:
            self._integrator_state.h = first_step(self.plant, self._start, u, self._run.options)
            if self._loop is not None:
                self._loop.steps.clock[time_loop.STEP :] = self._integrator_state.h
        if self._loop is None:
            self._start_at_singular(u, until)
        else:
            steps = self._loop.steps
            steps.command[:] = u
            steps.clock[time_loop.NEXT] = self._time
        try:
            if not self.ended:
                self._loop.stop = until
                reason = self._loop.advance(_TRIES)
                if reason != time_loop.COMPLETED or self._loop.full:
                    self._attend(reason)
        finally:
            n = self._loop.last
            self._time, self._x = float(self._loop.steps.T[n]), self._loop.steps.X[n].copy()
        if len(self._recorder.recorded) > self._warned:
            self._recorder.warn(stacklevel=2, since=self._warned)
            self._warned = len(self._recorder.recorded)
        return self.state

    def _hold_loads(self, loads: Mapping[str, float | ArrayLike]) -> None:
        """Other loads from here on; what has been evaluated is that under the present ones."""
        self._acting.hold(_check.mapping(loads, "loads", "names to forces"))
        if self._loop is not None:
            self._loop.steps.count[time_loop.FRESH] = 0
        else:
            self._start = self.plant.terms(self._start.q, self._start.v)
            self._integrator_state.know(self.plant, self._start)

    def _start_at_singular(self, u: Array, until: float) -> None:
        """From a singular configuration, or from beside one, by a step of collocation; see `singular_start`."""
        state, record = self._integrator_state, self._record
        self._given.command, self._given.until = np.array(u), until
        try:
            with np.errstate(all="ignore"):
                step_from_singular(self._run, record, state, until, BranchSelector())
        except SingularConfigurationError as error:
            raise SimulationError(
                f"the steps of {self.plant.name!r} cannot begin {where(self.plant, self._time, self._x)}. {error}"
            ) from error
        self._passages += passage_events(self._run, record)
        self.ended = record.where if record.status == Status.EVENT else ""
        self._begin()

    def _attend(self, reason: int) -> None:
        """What compiled steps leave to do: room for more of them, events, a reason to end."""
        loop, state, record = self._loop, self._integrator_state, self._record
        while True:
            steps, n = loop.steps, loop.last
            record.T, record.X = [steps.T[: n + 1].copy()], [steps.X[: n + 1].copy()]
            record.F, record.U = [steps.F[:n].copy()], [steps.U[:n].copy()]
            record.passages = loop.empty()
            self._passages += passage_events(self._run, record)
            if reason == time_loop.PAUSED:
                loop.place(state)
                reason = int(stop_reason(self._run, state, loop.stop)) or reason
            if reason not in (time_loop.PAUSED, time_loop.EVENT):
                break
            reason = loop.advance(_TRIES)
        record.status, record.error, record.where = loop.ended(reason)
        if record.status == Status.EVENT:
            self.ended = record.where
        elif record.status != Status.COMPLETED:
            raise SimulationError(
                f"the steps of {self.plant.name!r} end {where(self.plant, *record.end)}. "
                f"{why_ended(self.plant, record)}"
            ) from record.error

    # -- where it stands --------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """s."""
        return self._time

    @property
    def state(self) -> State:
        """Time, positions, velocities and work, as copies."""
        x, nq, n = self._x.copy(), self._nq, self._n
        return State(self._time, x[:nq], x[nq:n], *map(float, x[n : n + WORKS]))

    @property
    def terms(self) -> Terms:
        """The equations of motion here, as a sampled law gets them; see `Plant.terms`.

        Raises
        ------
        SimulationError
            Where they cannot be evaluated.
        """
        if self._loop is None:
            return self._start.copied()
        try:
            return self._loop.present_terms()
        except (NotFinite, ModelError) as error:
            raise SimulationError(
                f"the equations of motion cannot be evaluated {where(self.plant, self._time, self._x)}: {error}"
            ) from error

    def events(self) -> list[dict[str, Any]]:
        """What has happened so far, in order: singular passages, events, limits; as `Simulation.events`."""
        events = sorted([*self._passages, *self._recorder.recorded], key=lambda event: event["time"])
        names = "time", "kind", "conditioning", "rank"
        return [{name: event[name] for name in names} | {"loss": 0.0} for event in events]

    # -- copies -----------------------------------------------------------------------------------

    def copy(self) -> Stepper:
        """Another one that stands here; both go on alone, and under the same efforts alike to the last bit."""
        other = object.__new__(Stepper)
        vars(other).update(vars(self))
        other._recorder = self._recorder.copy()
        other._acting = self._acting.copied()
        other.plant = other._acting.plant
        other._given = _Given(other.plant)
        other._given.command, other._given.until = self._given.command, self._given.until
        other._run = replace(
            self._run, recorder=other._recorder, control=other._given, plant=other.plant, acting=other._acting
        )
        other._integrator_state = replace(self._integrator_state, x=self._integrator_state.x.copy())
        other._record = Record()
        other._passages, other._x = list(self._passages), self._x.copy()
        if self._loop is not None:
            other._begin()
            other._loop.take(self._loop)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> Stepper:
        return self.copy()

    def __reduce__(self) -> str:
        raise InputTypeError(
            "a Stepper stands in this process, and cannot be pickled; make one where it is needed, or copy()"
        )

    def __repr__(self) -> str:
        return f"<Stepper of {self.plant.name!r} at t = {self.time:.6g} s>"

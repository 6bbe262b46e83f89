"""Time loop of `simulate`, driven step by step from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Reporter
from ..controllers.controller import ConstantEffort
from ..errors import (
    AssemblyError,
    ModelError,
    PainleveError,
    SimulationError,
    SingularConfigurationError,
    Status,
    SwitchingError,
)
from ..kernels import motion, passages, time_loop
from ..kernels.layout import WORKS
from ..model.contacts import Contact
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from .acting import Acting
from .advance import Steps
from .branch_selection import BranchSelector
from .constraint_modes import ConstraintModes
from .control import Control
from .ending import ended, why_ended
from .engine import NotFinite
from .events import LIMITS, Event, EventRecorder, listed_events
from .integrator import Integrator
from .output import passage_events
from .run import IntegratorState, Record, Run, stop_reason
from .singular_passages import passing
from .singular_start import step_from_singular
from .stabilisation import Stabilisation
from .start import check_start, configuration_of, first_step, options_of, start_state
from .switching import IMPACTS, Switch, listed_switches
from .switching_run import ModeSwitch, RunHistory
from .time_loop import TimeLoop

__all__ = ["State", "Stepper"]

Array = NDArray[np.float64]

_TRIES = 10_000  # between two looks at whether a step leads anywhere
_ALL = 2**62  # steps that may be taken


class State(NamedTuple):
    """State of a machine at a time, with the works since the start.

    Attributes
    ----------
    time : float
        s.
    q, v : ndarray, shape (nq,) and (nv,)
    actuator_work, dissipated_work, load_work, motion_work : float
        Works since the start, J.
    impact_loss : float
        Energy that impacts have taken since the start, J.
    """

    time: float
    q: Array
    v: Array
    actuator_work: float
    dissipated_work: float
    load_work: float
    motion_work: float
    impact_loss: float = 0.0


class _Given(Control):
    """Control whose efforts are set from outside, and held until a time."""

    def __init__(self, plant: Plant) -> None:
        super().__init__(plant, ConstantEffort(np.zeros(plant.nu)))
        self.until = np.inf

    @property
    def next(self) -> float:
        """Time at which the held efforts may change, s."""
        return self.until

    @property
    def asked(self) -> bool:
        """Always False: the efforts are set from outside."""
        return False


class _Standing(NamedTuple):
    """State of the time loop of a stepper, from which another one is made."""

    implicit: bool
    where_stiff: Integrator | None
    arrays: list[Array]


class Stepper:
    """Stepper: moves a machine on by given times, under efforts that are held through each of them.

    For hardware in the loop, learning, and schedulers of one's own. It is the time loop of `simulate`: the same samples
    give the same states, to the last bit, with the same `t_end`; through singular configurations, end stops, contacts
    and switches, too.

    Parameters
    ----------
    plant : Plant
    q0, v0 : array_like
        Start; the loops must be closed (see ``plant.assemble``). v0 defaults to zero.
    t_end : float
        About the length of all steps together, s; what counts as an instant follows from it. It ends nothing.
    method : str or Integrator
        ``auto`` takes, for each step, the one of three methods that needs the fewest evaluations, and where the motion
        is stiff an implicit one; or ``dop853``.
    rtol, atol : float, optional
        Error allowed per step of the method, relative and absolute (rad, m, rad/s, m/s); defaults to 1e-11.
    events : sequence of Event, or of functions, optional
        Events to record; a terminal one ends the steps (see `ended`).
    limits : {"hold", "warn", "stop", "ignore"}
        Meaning of joint limits: end stops, or crossings that are recorded; see `simulate`.
    motions : mapping of str to (number, callable or tuple), optional
        Functions of time or numbers that prescribed motions follow; see `simulate`.
    switches : sequence of Engage, Release, Lock, Unlock or Contact, optional
        Switches and contacts that change the constraints; see `simulate`. Contacts at the start are settled in the
        first step, with its efforts.
    friction : {"smooth", "exact"}
        Friction of force elements with a `Friction`; see `simulate`.
    impacts : {"simultaneous", "sequential"}
        Impacts at several contacts at one instant; see `simulate`.

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

    @_check.knows_its_keywords
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
        limits: str = "hold",
        motions: Mapping[str, Any] | None = None,
        switches: Switch | Contact | Sequence[Switch | Contact] = (),
        friction: str = "smooth",
        impacts: str = "simultaneous",
    ) -> None:
        _check.plant(plant)
        integrator = Integrator.of(method, rtol, atol)
        _check.one_of(integrator.name, integrator.STEPWISE, "method of a Stepper")
        tolerances = (integrator.default_tolerance if x is None else x for x in (integrator.rtol, integrator.atol))
        made: dict[str, Any] = dict(zip(("rtol", "atol"), tolerances, strict=True))
        self._where_stiff = integrator.where_stiff() if integrator.ladder and isinstance(plant, Mechanism) else None
        self._integrator = replace(integrator, max_steps=_ALL, **made)
        self._acting = Acting(plant, motions=motions, held=True)
        self.plant, self._kept, self._t_end = self._acting.plant, Stabilisation(), _check.positive(t_end, "t_end")
        limits = _check.option(limits, LIMITS, "limits")
        exact = _check.option(friction, ("smooth", "exact"), "friction") == "exact"
        turns = _check.option(impacts, IMPACTS, "impacts") == "sequential"
        self._modes = ConstraintModes(self.plant, listed_switches(switches), limits == "hold", exact, turns)
        self._recorder = EventRecorder(plant, listed_events(events), limits, self._t_end)
        self._start: Terms = None  # type: ignore[assignment]  # until the steps begin
        self.reset(q0, v0)

    def reset(self, q0: ArrayLike | None = None, v0: ArrayLike | None = None) -> State:
        """Begin again at time zero, at another start or at the same one; returns the state.

        Raises
        ------
        ValueError
            Where the start does not fit the plant.
        """
        plant, modes = self.plant, self._modes.copied(self.plant)
        if q0 is None and self._start is not None:
            q0, v0 = self._start.q, self._start.v if v0 is None else v0
        if modes.changing and q0 is not None:
            plant = modes.start(configuration_of(plant, q0))
        terms = start_state(plant, q0, v0, "mass", self._t_end)
        modes.require_within(terms.q)
        terms = check_start(plant, terms, self._t_end)
        start = modes.near(terms.q, terms.v)  # with the contacts that touch
        self._start = terms if start is plant else start.terms(terms.q, terms.v)
        self._acting.modes = modes if modes.hidden else None
        self._recorder.begin(0.0, np.concatenate([terms.q, terms.v]))
        options = options_of(plant, terms, self._kept, self._integrator, self._t_end)
        self._given = _Given(plant)
        self._run = Run(
            plant, self._given, options, self._integrator, self._t_end, _ALL, Reporter(False, ""),
            stabilisation=self._kept, recorder=self._recorder, acting=self._acting,
            where_stiff=None if self._acting.changing else self._where_stiff,
        )  # fmt: skip
        self._x = np.concatenate([terms.q, terms.v, np.zeros(WORKS)])
        self._time, self._nq, self._n = 0.0, plant.nq, plant.nq + plant.nv
        self._integrator_state = IntegratorState(0.0, self._x.copy(), 0.0)
        self._integrator_state.know(start, self._start)
        self._switching = ModeSwitch(self._run, self._integrator_state, modes, []) if modes.changing else None
        self._origin, self._dt, self._count = 0.0, 0.0, 0
        self._record = Record()
        self._record.begin(0.0, self._x, plant.nu)
        self._warned = len(self._recorder.recorded)
        self._passages: list[dict[str, Any]] = []
        self.ended = ""
        self._present = start
        self._loop: Any = None  # a TimeLoop, as soon as a singular configuration is left behind
        if self._switching is None:
            self._begin_if_regular(self._run)
        return self.state

    def _begin_if_regular(self, part: Run) -> None:
        """Begin a part if no singular configuration is near; else `_cross` does, with the efforts of a step."""
        terms = self._integrator_state.terms(part)
        if not passing(part) or motion.closeness(terms.pivots, part.options) >= passages.CROSS_FROM:
            self._begin(part)

    def _begin(self, part: Run) -> None:
        """Begin a time loop from the present state, with the constraints of a part of the run."""
        state = self._integrator_state
        self._part, self._present = part, part.plant
        self._steps = Steps(part, state)
        self._follow_steps()

    def _follow_steps(self) -> None:
        """Take over the present loop of the steps, and keep the state at its begin."""
        state = self._integrator_state
        self._loop, self._begun = self._steps.loop, replace(state, x=state.x.copy())
        self._loop.steps.command[:] = self._given.command

    # -- on the way -------------------------------------------------------------------------------

    def step(self, u: ArrayLike, dt: float, loads: Mapping[str, float | ArrayLike] | None = None) -> State:
        """Hold efforts for a time; returns the state then, or where an event or limit has ended the steps before.

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
            Where the motion cannot go on, or an event or limit has ended it; the state is that of the last good step.
        EventError
            Where the function of an event fails.
        ValueError, TypeError
            Where efforts or time are not valid.
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
        self._given.command, self._given.until = u.copy(), until
        try:
            if self._loop is None:
                self._enter(until)
                if self._loop is not None and self._integrator_state.t == self._time:  # as at a sample
                    self._loop.steps.memory.sample[0] = self._time
            else:
                steps = self._loop.steps
                steps.command[:], steps.memory.sample[0] = u, self._time
                if self._loop.method is not None:
                    self._loop.method.forget()
                if self._integrator_state.h == 0.0:
                    steps.memory.steps[:] = self._first_step()
            self._go(until)
        except PainleveError as error:
            raise SimulationError(f"the steps of {self.plant.name!r} did not begin. {error}.") from error
        finally:
            self._place()
        if len(self._recorder.recorded) > self._warned:
            self._recorder.warn(stacklevel=2, since=self._warned)
            self._warned = len(self._recorder.recorded)
        return self.state

    def _hold_loads(self, loads: Mapping[str, float | ArrayLike]) -> None:
        """Replace loads from now on, and evaluate the equations of motion again."""
        self._acting.hold(_check.mapping(loads, "loads", "names to forces"))
        if self._loop is not None:
            self._loop.steps.memory.fresh[0] = 0
        state = self._integrator_state
        q, v = state.x[: self._nq], state.x[self._nq : self._n]
        state.know(self._present, self._present.terms(q, v, state.t))

    def _first_step(self) -> float:
        """Length of the very first step, s, under the first efforts."""
        terms = self._integrator_state.terms(replace(self._run, plant=self._present))
        loaded = terms if self._switching is None else terms.without_friction()
        self._integrator_state.h = first_step(self._present, loaded, self._given.command, self._run.options)
        return self._integrator_state.h

    def _enter(self, until: float) -> None:
        """Begin a part, at the start or after a change, with the constraints that hold now."""
        state, switching = self._integrator_state, self._switching
        if state.h == 0.0:
            self._first_step()
            self._settle(None)
        while True:
            part, stop = self._run, until
            if switching is not None:
                switching.meet_sample()
                part, stop = switching.part(), min(until, switching.next)
            self._loop, self._present = None, part.plant
            if state.t >= until:
                self._begin_if_regular(part)
                return
            self._cross(part, stop)
            if not state.stopped:
                break
            self._settle(part)
        self._begin(part)

    def _cross(self, part: Run, until: float) -> None:
        """Cross a singular configuration, if the part begins at or beside one, by a step of collocation."""
        state, record = self._integrator_state, self._record
        if not passing(part):
            return
        try:
            with np.errstate(all="ignore"):
                step_from_singular(part, record, state, until, BranchSelector())
        except SingularConfigurationError as error:
            raise SimulationError(
                f"the steps of {self.plant.name!r} cannot go on {ended(self.plant, state.t, state.x, str(error))}"
            ) from error
        self._passages += passage_events(part, record)
        record.passages = []
        self.ended = record.where if record.status == Status.EVENT else ""

    def _settle(self, part: Run | None) -> None:
        """Change the constraints as the end of a part requires; without a part, as the start does.

        Exceptions at a start that does not fit pass unchanged, as from `simulate`.
        """
        switching, state = self._switching, self._integrator_state
        if switching is None:
            return
        if part is None:
            switching.apply(switching.due(), [])
            return
        try:
            switching.go_on(part, self._record, RunHistory())
        except (AssemblyError, ModelError, SwitchingError) as error:
            raise SimulationError(
                f"the steps of {self.plant.name!r} end {ended(self.plant, state.t, state.x, str(error))}"
            ) from error

    def _go(self, until: float) -> None:
        """Take steps up to a time, from one change of the constraints to the next."""
        switching = self._switching
        if switching is not None:
            switching.meet(until, self._dt)
        while self._loop is not None and not self.ended:
            self._loop.stop = until if switching is None else min(until, switching.next)
            reason = self._loop.advance(_TRIES)
            changed = switching is not None and switching.next <= self._loop.stop
            ends = changed or self._loop.has_ended
            if reason == time_loop.COMPLETED and not (ends or self._loop.full or self._loop.looks):
                return
            with np.errstate(all="ignore"):
                if not self._attend(reason, changed):
                    return
            self._settle(self._part)
            self._enter(until)

    def _attend(self, reason: int, changed: bool) -> bool:
        """Do what compiled steps leave to Python: empty their block, change the method; True if constraints change."""
        state, record = self._integrator_state, self._record
        while True:
            loop = self._loop
            self._keep(loop)
            if reason == time_loop.PAUSED:
                loop.place(state)
                reason = int(stop_reason(self._run, state, loop.stop)) or reason
            going, ends = reason in (time_loop.PAUSED, time_loop.EVENT), changed or loop.has_ended
            fine = going or (reason == time_loop.COMPLETED and not ends)
            if not fine or loop.looks:
                loop.place(state)
            if not fine or (loop.looks and loop.look(state)):
                loop.end(record, state, time_loop.COMPLETED if fine else reason)
                if self._steps.change(record, state):
                    self._follow_steps()
                    self._loop.stop, going = loop.stop, going or not fine
                elif not fine:
                    break
            if not going:
                return False
            reason = self._loop.advance(_TRIES)
        if self._switching is not None and self._switching.stuck(record):
            return True
        if record.status == Status.EVENT:
            self.ended = record.where
        elif record.status != Status.COMPLETED:
            t, x = record.end
            raise SimulationError(
                f"the steps of {self.plant.name!r} end {ended(self.plant, t, x, why_ended(self.plant, record))}"
            ) from record.error
        return record.status == Status.COMPLETED

    def _keep(self, loop: TimeLoop) -> None:
        """Take the steps out of the loop; messages about an end need the last ones."""
        steps, n, record = loop.steps, loop.last, self._record
        record.T, record.X = [steps.T[: n + 1].copy()], [steps.X[: n + 1].copy()]
        record.F, record.U = [steps.F[:n].copy()], [steps.U[:n].copy()]
        record.passages = loop.empty()
        self._passages += passage_events(self._part, record)

    def _place(self) -> None:
        """Copy time and state from the loop."""
        state = self._integrator_state
        self._time, self._x = state.t, state.x
        if self._loop is not None:
            n = self._loop.last
            self._time, self._x = float(self._loop.steps.T[n]), self._loop.steps.X[n].copy()

    # -- where it stands --------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Present time, s."""
        return self._time

    @property
    def state(self) -> State:
        """Time, positions, velocities, works and the energy lost in impacts, as copies."""
        x, nq, n = self._x.copy(), self._nq, self._n
        lost = 0.0 if self._switching is None else self._switching.lost
        motors, dissipated, loads, motions = x[n : n + WORKS].tolist()
        return State(self._time, x[:nq], x[nq:n], motors, dissipated, loads, motions, lost)

    @property
    def terms(self) -> Terms:
        """Equations of motion at the present state, as a sampled law gets them; see `Plant.terms`.

        Raises
        ------
        SimulationError
            Where they cannot be evaluated.
        """
        try:
            if self._loop is None:
                state = self._integrator_state
                terms = self._present.terms(state.x[: self._nq], state.x[self._nq : self._n], state.t)
            else:
                terms = self._loop.present_terms()
            return terms if self._switching is None else self._acting.as_told(terms)
        except (NotFinite, ModelError) as error:
            raise SimulationError(
                f"the equations of motion cannot be evaluated {ended(self.plant, self._time, self._x, str(error))}"
            ) from error

    def events(self) -> list[dict[str, Any]]:
        """Events so far, in order: singular passages, events, limits, changes; as `Simulation.events`."""
        changes = [] if self._switching is None else self._switching.events
        events = sorted([*self._passages, *self._recorder.recorded, *changes], key=lambda event: event["time"])
        names = "time", "kind", "conditioning", "rank"
        return [{name: event[name] for name in names} | {"loss": event.get("loss", 0.0)} for event in events]

    # -- copies -----------------------------------------------------------------------------------

    def copy(self) -> Stepper:
        """Independent copy at the same state; under the same efforts both go on alike to the last bit."""
        return self._copied(self._standing)

    @property
    def _standing(self) -> _Standing | None:
        if self._loop is None:
            return None
        return _Standing(self._steps.implicit, self._steps.run.where_stiff, self._loop.standing())

    def _copied(self, at: _Standing | None) -> Stepper:
        """Copy whose loop takes over the state of another loop."""
        other = object.__new__(Stepper)
        vars(other).update(vars(self), _loop=None, _steps=None)
        other._recorder, other._acting = self._recorder.copy(), self._acting.copied()
        other.plant = other._acting.plant
        other._given = _Given(other.plant)
        other._given.command, other._given.until = self._given.command.copy(), self._given.until
        other._modes = self._modes.copied(other.plant)
        other._integrator_state = replace(self._integrator_state, x=self._integrator_state.x.copy(), _known=None)
        other._run = part = replace(
            self._run,
            plant=other.plant if self._switching is None else self._run.plant,
            recorder=other._recorder,
            control=other._given,
            acting=other._acting,
        )
        if self._switching is not None:
            modes = self._switching.modes.copied(other.plant)
            other._acting.modes = modes if modes.hidden else None
            other._switching = self._switching.copied(other._run, other._integrator_state, modes)
            part = other._switching.part()
        other._present = part.plant
        other._record, other._x = Record(), self._x.copy()
        other._record.begin(self._time, other._x, other.plant.nu)
        other._passages = list(self._passages)
        if at is not None:
            if part.detector is not None:
                part.detector.take(self._part.detector)  # type: ignore[arg-type]
            begun = replace(self._begun, x=self._begun.x.copy(), _known=None)
            now, other._integrator_state = other._integrator_state, begun
            other._part, other._present = replace(part, options=self._part.options), part.plant
            other._steps = Steps(replace(other._part, where_stiff=at.where_stiff), begun, at.implicit)
            other._follow_steps()
            other._loop.stand(at.arrays)
            other._integrator_state = now
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> Stepper:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_loop": self._standing, "_steps": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        vars(self).update(vars(self._copied(state["_loop"])))

    def __repr__(self) -> str:
        return f"<Stepper of {self.plant.name!r} at t = {self.time:.6g} s>"

"""Parts of a run that all of its modules share: the run, the state of its integration, the record of its steps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._progress import Reporter
from ..dynamics.acceleration import Formulation
from ..errors import Status, SwitchingError
from ..kernels import motion
from ..model.elements import DirectedFriction
from ..model.generic_rank import generic_rank
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from .acting import NOTHING, Acting
from .control import Control
from .event_detection import EventDetector
from .events import EventRecorder
from .failures import LawFailed
from .integrator import Integrator
from .stabilisation import Stabilisation

__all__ = [
    "AT_SINGULAR",
    "INSTANT",
    "IntegratorState",
    "Passage",
    "Record",
    "Run",
    "Slide",
    "stop_reason",
]

Array = NDArray[np.float64]

INSTANT = 1e-14  # of a run: what is shorter is no step
AT_SINGULAR = 1e-6  # closeness of a passage through a singular configuration; others pass near one
_LOOKS, _FEW = 100, 1000  # at the pace, in the course of all steps; with fewer steps between there is no pace
_HOPELESS = 100.0  # times the steps that a run may take


@dataclass
class Record:
    """Record of the steps of a run: times T, states X, dense coefficients F, and the efforts over each step."""

    T: list[Array] = field(default_factory=list)
    X: list[Array] = field(default_factory=list)
    F: list[Array] = field(default_factory=list)
    U: list[Array] = field(default_factory=list)  # efforts during each step, one row per step
    passages: list[tuple[float, float]] = field(default_factory=list)  # of singular configurations: time, and closeness
    evaluations: int = 0
    by_code: int = 0  # evaluations by generated code; the others are by the kernels
    why_kernels: str = ""  # why there is no code of the machine
    why_python: str = ""  # and none of the law
    rejections: int = 0
    status: Status = Status.COMPLETED
    error: BaseException | None = None
    where: str = ""  # what raised the error, and when, if that is a function of the user; or which event ended the run
    counts: dict[str, int] = field(default_factory=dict)  # what a method counts besides
    implicit_steps: int = 0  # of the method that goes on where the motion is stiff

    def begin(self, t: float, x: Array, nu: int) -> None:
        """Set the state from which the first step starts, if there is none."""
        if not self.T:
            self.T, self.X = [np.array([t])], [x[None].copy()]
            self.F, self.U = [np.empty((0, 7, x.size))], [np.empty((0, nu))]

    def append(self, T: Array, X: Array, F: Array, U: Array) -> None:
        """Add steps; T and X have one entry more than F and U, and begin where the record ends."""
        self.T.append(T[1:].copy())
        self.X.append(X[1:].copy())
        self.F.append(F.copy())
        self.U.append(U.copy())  # the last one: a block without it was interrupted, and does not count

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Record as whole arrays."""
        whole = (part[: len(self.U)] for part in (self.T, self.X, self.F, self.U))
        return tuple(np.ascontiguousarray(np.concatenate(part)) for part in whole)  # type: ignore[return-value]

    @property
    def end(self) -> tuple[float, Array]:
        """Last time, and the state there."""
        blocks = zip(self.T[: len(self.U)], self.X[: len(self.U)], strict=True)
        T, X = [(T, X) for T, X in blocks if len(T)][-1]
        return float(T[-1]), X[-1]

    def ended_by(self, error: BaseException) -> None:
        """Set status and error of a run that an exception ends."""
        self.error = error
        if isinstance(error, LawFailed):
            self.status, self.error, self.where = Status.CONTROLLER, error.__cause__, str(error)
        elif isinstance(error, KeyboardInterrupt):
            self.status = Status.INTERRUPTED
        elif isinstance(error, SwitchingError):
            self.status = Status.SWITCHING
        else:
            self.status = Status.FAILED


class Passage(NamedTuple):
    """Singular configuration within the next step: its time, the ends of the step, and states on the way to it."""

    time: float
    ends: tuple[float, float]
    states: Array


class Slide(NamedTuple):
    """Contact that slides with friction: data that turn forces of its plane into multipliers of its point."""

    name: str  # of the contact
    plane: str  # constraint that carries its push
    rows: NDArray[np.int64]  # of the contact in the plant with all constraints
    normal: Array  # of the push among these rows, where the multiplier of the plane is 1
    tangents: Array  # (2, rows) of sliding
    friction: DirectedFriction
    whole: Mechanism  # with all constraints


@dataclass
class Run:
    """Settings that stay the same during a run, or during a part of it in which the loops stay the same."""

    plant: Plant
    control: Control
    options: motion.Options
    integrator: Integrator
    t_end: float
    max_steps: int
    report: Reporter
    times: Array = field(default_factory=lambda: np.zeros(0))
    stabilisation: Stabilisation = field(default_factory=Stabilisation)
    formulation: Formulation | None = None  # None: Gauss' principle, in the kernels
    detector: EventDetector | None = None  # finds the event that ends a part of the run
    recorder: EventRecorder | None = None  # finds the events that the run records
    acting: Acting = NOTHING  # loads and motions, where they are not the numbers of the machine
    slides: tuple[Slide, ...] = ()  # contacts that slide with friction during this part
    where_stiff: Integrator | None = None  # goes on where the motion is stiff
    stop_at_passages_after: float = np.inf  # singular configurations after this time end a part of the run, too

    def on(self, plant: Plant, q: Array, ranks: dict[tuple[str, ...], int]) -> Run:
        """Copy of the run for a plant with other loops, at a configuration.

        `ranks` has the generic ranks of rows by their names: to find one takes as long as a hundred evaluations.
        """
        terms = plant.terms(q, np.zeros(plant.nv))
        if terms.rank != ranks.get(plant.row_names):
            ranks[plant.row_names] = generic_rank(plant, terms)
        options = self.options._replace(cap=ranks[plant.row_names], reference=terms.regular_gradient)
        return replace(self, plant=plant, options=options)


@dataclass
class IntegratorState:
    """State of the integration, which `advance` changes.

    Attributes
    ----------
    t : float
    x : ndarray
        q, v, work of the actuators, dissipated work, and the integrated states of the law or its drive.
    h : float
        Next step, s.
    taken : int
        Steps taken.
    mark : (float, int)
        Time and number of steps at which the pace was checked last.
    stopped : bool
        Whether the last part was ended by an event, before its time.
    passage : Passage or None
        The singular configuration before which the last part has ended.
    previous_closeness : float
        Closeness to a singular configuration a little before, infinite where it is not known.
    """

    t: float
    x: Array
    h: float
    taken: int = 0
    mark: tuple[float, int] = (0.0, 0)
    stopped: bool = False
    passage: Passage | None = None
    previous_closeness: float = np.inf
    _known: tuple[Plant, Terms] | None = None

    def know(self, plant: Plant, terms: Terms) -> None:
        """Keep the equations of motion of a plant at this state."""
        self._known = plant, terms

    def terms(self, run: Run) -> Terms:
        """Equations of motion at this state; those of the last call are kept."""
        plant, nq = run.plant, run.plant.nq
        q, v = self.x[:nq], self.x[nq : nq + plant.nv]
        if self._known is not None:
            known, terms = self._known
            if known is plant and np.array_equal(terms.q, q) and np.array_equal(terms.v, v):
                return terms
        run.acting.at(self.t)
        terms = plant.terms(q, v, self.t, cap=run.options.cap)
        self.know(plant, terms)
        return terms


def stop_reason(run: Run, state: IntegratorState, stop: float) -> Status:
    """Status by which steps end before `stop`: all are taken, or they get too short; COMPLETED where they go on.

    They are too short where error control (no sample and no `max_step`) made so many of them so short that at this pace
    the run would take a hundred times the steps it may take.
    """
    if state.t >= stop:
        return Status.COMPLETED
    if state.taken >= run.max_steps:
        return Status.TOO_MANY_STEPS
    start, taken = state.mark
    count = state.taken - taken
    if count < max(run.max_steps // _LOOKS, _FEW):
        return Status.COMPLETED
    state.mark = state.t, state.taken
    pace = (state.t - start) / count
    longest = min(run.options.max_step, run.control.period or np.inf)
    hopeless = pace * _HOPELESS * run.max_steps < run.t_end - state.t
    return Status.STEP_TOO_SMALL if hopeless and pace < 1e-2 * longest else Status.COMPLETED

"""Exceptions and statuses: what failed, where, with which numbers, and what to do."""

from __future__ import annotations

import functools
import linecache
import pickle
import sysconfig
from enum import IntEnum
from pathlib import Path
from traceback import walk_tb
from typing import Any

__all__ = [
    "ActuationError",
    "AssemblyError",
    "BranchWarning",
    "CmbError",
    "CmbWarning",
    "ContactWarning",
    "ContinuationError",
    "DesignError",
    "DesignWarning",
    "EquilibriumError",
    "EventError",
    "FileError",
    "ImmobileWarning",
    "InputError",
    "InputTypeError",
    "Interrupted",
    "LimitWarning",
    "MissingExtraError",
    "ModelError",
    "PainleveError",
    "ParametrizationError",
    "PrecisionWarning",
    "RedundantRowsError",
    "SimulationError",
    "SingularConfigurationError",
    "SpeedWarning",
    "Status",
    "SwitchingError",
    "TimeLimitError",
    "TooManyStatesError",
]


class _Portable:
    """Base of errors that keep their attributes between processes, whatever their constructor needs.

    An attribute that cannot be pickled, such as a plant of local functions, becomes None on the way, and a note of
    the error says so. The error itself always arrives: a pool waits for ever for one that does not.
    """

    def __reduce__(self) -> tuple:
        kept: dict[str, Any] = {}
        notes = list(getattr(self, "__notes__", ()))
        for name, value in vars(self).items():
            try:
                pickle.dumps(value)
            except Exception as reason:  # whatever the objects of a user raise
                kept[name] = None
                notes.append(f"The attribute {name!r} was lost on the way, for it cannot be pickled: {reason}")
            else:
                kept[name] = value
        return _again, (type(self), self.args, kept | ({"__notes__": notes} if notes else {}))


def _again(kind: Any, args: tuple, attributes: dict[str, Any]) -> Any:
    """Make an error again with its attributes, without its constructor."""
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


class CmbError(_Portable, Exception):
    """Base of all errors of this package."""


class InputError(CmbError, ValueError):
    """An argument has a value that it cannot have; the message names the argument, the value and the remedy."""


class InputTypeError(CmbError, TypeError):
    """An argument is of the wrong kind, missing, or contradicts another; the message names it and the remedy."""


class ModelError(CmbError, ValueError):
    """The description of a machine contradicts itself or physics."""


class AssemblyError(CmbError, ValueError):
    """The loops cannot be closed from the joint values given.

    Attributes
    ----------
    residuals : dict of str to float
        Opening of each loop that remains (metres; radians times the size of the machine).
    q : ndarray, shape (nq,)
        The closest configuration that was found.
    """

    def __init__(self, message: str, residuals: dict[str, float], q):
        super().__init__(message)
        self.residuals = residuals
        self.q = q


class CmbWarning(UserWarning):
    """Base of all warnings of this package."""


class BranchWarning(CmbWarning):
    """The loops were closed farther from the guess than first order predicts: perhaps on another branch."""


class PrecisionWarning(CmbWarning):
    """Redundant rows of a machine agree to some digits only; the message names the consequence."""


class ContactWarning(CmbWarning):
    """A linear model is about a point at which a contact is on its border: it holds for motions to one side only."""


class DesignWarning(CmbWarning):
    """A design has a result, but what was asked for leaves it without a bound: gains depend on the solver."""


class ImmobileWarning(CmbWarning):
    """A run starts where the constraints of the machine bind all of its velocities: nothing will move."""


class LimitWarning(CmbWarning):
    """A joint has moved beyond one of its limits during a run; nothing stops it there by itself."""


class SpeedWarning(CmbWarning):
    """A law runs in Python, many times slower, as it could not be compiled; the message gives reason and remedy."""


class ActuationError(CmbError, ValueError):
    """The actuators cannot produce every motion that the loops leave free."""


class DesignError(CmbError, ValueError):
    """No gain fulfils what was asked.

    Attributes
    ----------
    feasible : dict of str to float
        For each constraint, the best value that was found with all others as they were asked; nan where there is none.
    """

    def __init__(self, message: str, feasible: dict[str, float] | None = None) -> None:
        super().__init__(message)
        self.feasible = dict(feasible or {})


class EquilibriumError(CmbError, ValueError):
    """The operating point is not at rest, or no equilibrium exists for the request."""


class SingularConfigurationError(CmbError, ValueError):
    """The loops lose their rank at this pose: the machine can move in more than one way, so no linear model exists."""


class ContinuationError(EquilibriumError):
    """A branch of equilibria could not be followed further. What was computed until then is kept.

    Attributes
    ----------
    partial : EquilibriumBranch
        The part of the branch that was found.
    """

    def __init__(self, message: str, partial=None):
        super().__init__(message)
        self.partial = partial


class ParametrizationError(CmbError, ValueError):
    """Coordinates that are not independent, or a y that the chart does not reach.

    Attributes
    ----------
    conditioning : float
        Conditioning of [R; A] where it failed, 1 best; nan where it could not be computed.
    """

    def __init__(self, message: str, conditioning: float = float("nan")) -> None:
        super().__init__(message)
        self.conditioning = conditioning


class EventError(CmbError, ValueError):
    """The function of an event failed during a run; the message says which, when, and why."""


class SwitchingError(ModelError):
    """The loops cannot change as they should during a run; the message says why."""


class PainleveError(ModelError):
    """Friction leaves no motion, or more than one (Painleve's paradox); the message names it."""


class TooManyStatesError(ModelError):
    """Contacts may have more combinations of states than can be examined; the message says how many."""


class TimeLimitError(CmbError):
    """A run of a study took longer than its time limit; the message says which limit."""


class RedundantRowsError(ModelError):
    """A formulation that needs independent rows was given redundant ones; the message names them and the remedy."""


class MissingExtraError(CmbError, ImportError):
    """An optional dependency is missing; the message names the extra that brings it."""


class FileError(CmbError, OSError):
    """A file cannot be written; the message says which, why, what is left of an older one, and what to do."""


class SimulationError(CmbError, RuntimeError):
    """A run could not go on. What was computed until then is kept.

    Attributes
    ----------
    partial : Simulation or None
        The part of the run that was completed; None where it did not begin.
    """

    def __init__(self, message: str, partial=None):
        super().__init__(message)
        self.partial = partial


class Interrupted(_Portable, KeyboardInterrupt):
    """Raised when Ctrl-C ends a computation; carries its result so far. No `CmbError`: what skips failures must stop.

    Attributes
    ----------
    partial : Simulation, EquilibriumBranch, TuneResult or None
        Result so far: the part of a run or of a branch of equilibria, the trials of a search for gains. None where
        that is nothing: before the first step of a run, or where a second Ctrl-C came before its output.
    """

    def __init__(self, message: str = "", partial=None):
        super().__init__(message)
        self.partial = partial


_INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries, wherever they are


@functools.cache
def _homes() -> frozenset[Path]:
    """Folders of this package and of Python."""
    return frozenset({Path(__file__).parent, *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))})


def frames_of_user(error: BaseException) -> list[tuple[str, int]]:
    """Files and lines of the user (not of this package nor of a library) that were running when an error was raised."""
    found = []
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        path = Path(file)
        inside = not _homes().isdisjoint(path.parents) or not _INSTALLED.isdisjoint(path.parts)
        if not inside and not file.startswith(("<frozen", "<__array_function__")):
            found.append((file, line))
    return found


def line_of_user(error: BaseException) -> str:
    """Text with the last line of the user that was running, for a message; empty if there was none."""
    frames = frames_of_user(error)
    if not frames:
        return ""
    file, line = frames[-1]
    text = linecache.getline(file, line).strip()
    return f"line {line} of {Path(file).name}" + (f", {text[:80]!r}" if text else "")


class Status(IntEnum):
    """Status with which a run ended; `message` describes it."""

    COMPLETED = 0
    STEP_TOO_SMALL = 1
    NOT_FINITE = 2
    MASS_MATRIX = 3
    PROJECTION = 4
    TOO_MANY_STEPS = 5
    CONTROLLER = 6
    INTERRUPTED = 7
    SINGULAR_CONFIGURATION = 8
    SWITCHING = 9
    FORMULATION = 10
    FAILED = 11
    EVENT = 12
    PAINLEVE = 13

    @property
    def message(self) -> str:
        """Sentence on the cause of the status, and on what to try."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.COMPLETED: "The run reached its end.",
    Status.STEP_TOO_SMALL: "The steps became so short that they lead nowhere. The motion may run into a lock-up or a "
    "bifurcation here; look at the events and try other tolerances or start values.",
    Status.NOT_FINITE: "A value became infinite or not a number. Check the controller's output and the "
    "forces at this state.",
    Status.MASS_MATRIX: "The mass matrix is not positive definite here. Give every joint some inertia to move.",
    Status.PROJECTION: "The loops could not be closed after a step. Try a smaller tolerance or maximum step.",
    Status.TOO_MANY_STEPS: (
        "The maximum number of steps was reached. Raise `max_steps`, or loosen `rtol` and `atol`; a motion that grows "
        "faster and faster, as of a loop that is not stable (see `margins`), needs more at any limit."
    ),
    Status.CONTROLLER: "The controller raised an error.",
    Status.INTERRUPTED: "The run was interrupted.",
    Status.SINGULAR_CONFIGURATION: (
        "The run met a singular configuration, where independent coordinates end; method='dop853' passes it."
    ),
    Status.SWITCHING: "The loops could not change as they should.",
    Status.FORMULATION: "The formulation cannot be evaluated at this pose.",
    Status.FAILED: "Something that the run needs raised an error.",
    Status.EVENT: "An event ended the run.",
    Status.PAINLEVE: "Friction leaves no motion, or more than one.",
}

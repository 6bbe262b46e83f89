"""Single runs of a study: from the values of its parameters to a row of numbers, also if the run fails."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..controllers.closed_loop import ClosedLoop
from ..errors import InputTypeError, SimulationError, TimeLimitError
from ..linear.model import LinearModel
from ..sim.result import Simulation
from ..sim.simulate import simulate
from .case import takes_random
from .variation import PartOfVariation

__all__ = ["StudyRow", "StudyTask", "result_of", "rows_of", "run_file"]

Measure = Callable[[Any], float]

_TEXT = 400  # characters of a message that a row keeps
_AGAIN = 1.0  # s: an error that Python discards, as all that are raised while objects are deleted, is raised again


@dataclass(frozen=True, slots=True)
class StudyRow:
    """Row of a study: measures, status and times of one run.

    Attributes
    ----------
    index : int
    measures : dict of str to float
        Measures by name; nan where there is none.
    status : str
        "completed"; or the failure: the status of a run that ended early, the name of an error, "time limit", "memory",
        "worker died", "measure".
    message : str
        Reason of a failure; empty for a completed run.
    reached : float
        Time at which the run ended, s; nan for other cases.
    wall : float
        s.
    units : dict of str to str
        Units of measures that depend on the result.
    """

    index: int
    measures: dict[str, float]
    status: str
    message: str
    reached: float
    wall: float
    units: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StudyTask:
    """Task that a worker gets: case, measures, limits and folder.

    Attributes
    ----------
    case : callable
    measures : dict of str to callable
    time_limit : float
        s, infinite where there is none.
    memory_limit : int
        Bytes of a worker process; 0 where there is none.
    folder : str
        Folder for whole runs that are kept; empty where there is none.
    keep : frozenset of int, or None for all
    """

    case: Callable[..., Any]
    measures: dict[str, Measure]
    time_limit: float
    memory_limit: int
    folder: str
    keep: frozenset[int] | None


def run_file(folder: str | Path, index: int) -> Path:
    """Path of the file of a whole run."""
    return Path(folder) / "runs" / f"run-{index:08d}.nc"


def rows_of(task: StudyTask, part: PartOfVariation) -> list[StudyRow]:
    """Rows of some runs, one after the other. Ctrl-C ends them; other failures become rows."""
    if task.memory_limit:
        _limit_memory(task.memory_limit)
    return [row_of(task, part, k) for k in range(len(part.indices))]


def row_of(task: StudyTask, part: PartOfVariation, k: int) -> StudyRow:
    """Row of the k-th of some runs."""
    index = part.indices[k]
    begin, found, status, message = time.perf_counter(), None, "completed", ""
    try:
        with _within(task.time_limit):
            found = result_of(task.case, part, k)
    except SimulationError as error:
        found = error.partial
        status, message = _status_of(error), str(error)
        if isinstance(error.__cause__, TimeLimitError):
            status = "time limit"
    except TimeLimitError as error:
        status, message = "time limit", str(error)
    except MemoryError as error:
        status, message = "memory", str(error) or "the memory that a worker may use is used up"
    except Exception as error:
        status, message = type(error).__name__, str(error)
    reached = float(found.time[-1]) if isinstance(found, Simulation) and len(found.time) else np.nan
    values, units = dict.fromkeys(task.measures, np.nan), {}
    if found is not None:
        try:
            if isinstance(found, Simulation) and (task.keep is None or index in task.keep):
                found.save(run_file(task.folder, index))
            if status == "completed":
                values = measured(task.measures, found)
                units = {name: of(found) for name, m in task.measures.items() if (of := getattr(m, "unit_of", None))}
        except Exception as error:
            status, message = "measure", f"{type(error).__name__}: {error}"
    wall = time.perf_counter() - begin
    return StudyRow(index, values, status, message[:_TEXT], reached, wall, units)


def result_of(case: Callable[..., Any], part: PartOfVariation, k: int) -> Any:
    """Result of a case: a run (simulated here from arguments of `simulate`), a linear model, or numbers by name."""
    values = part.values(k)
    values.pop("repetition", None)
    if takes_random(case):
        values["rng"] = part.random(k)
    found = case(**values)
    if isinstance(found, Mapping) and "plant" in found:
        found = simulate(**found)
    if not isinstance(found, (Simulation, LinearModel, ClosedLoop, Mapping)):
        raise InputTypeError(
            "a case must return a run, the arguments of simulate as a mapping, a LinearModel, a ClosedLoop, or a "
            f"mapping of names to numbers, got {type(found).__name__}"
        )
    return found


def measured(measures: Mapping[str, Measure], found: Any) -> dict[str, float]:
    """Measures of a result; numbers that a case returns by name are measures of their own."""
    values = {str(name): float(x) for name, x in found.items()} if isinstance(found, Mapping) else {}
    return values | {name: float(measure(found)) for name, measure in measures.items()}


def _status_of(error: SimulationError) -> str:
    """Name of the status with which a run ended."""
    partial = error.partial
    if partial is None:
        return type(error.__cause__ or error).__name__
    return partial.status.name.lower().replace("_", " ")


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Context that raises `TimeLimitError` if the block takes longer than a time.

    In the main thread an alarm does this, which also interrupts waiting. In other threads, as those of Dask, and where
    there are no alarms, it is done as soon as Python code runs.
    """
    if not np.isfinite(seconds):
        yield
    elif hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        with _alarm(seconds):
            yield
    else:
        with _thrown(seconds):
            yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        raise TimeLimitError(f"the run took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds, _AGAIN))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _thrown(seconds: float) -> Iterator[None]:
    thread, lock, over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    throw = ctypes.pythonapi.PyThreadState_SetAsyncExc

    class Late(TimeLimitError):  # a thread is thrown a class, not an error: this one brings its message
        def __init__(self) -> None:
            super().__init__(f"the run took longer than {seconds:g} s")

    Late.__name__ = TimeLimitError.__name__

    def ring() -> None:
        wait = seconds
        while not over.wait(wait):
            with lock:
                if not over.is_set():
                    throw(thread, ctypes.py_object(Late))
            wait = max(seconds, _AGAIN)

    threading.Thread(target=ring, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()
        throw(thread, None)  # what was thrown and has not arrived is taken back


def _limit_memory(size: int) -> None:
    """Limit the memory of this process to so many bytes, if the system has such limits."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > size:
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))

"""From one time to another, by the loop that a run needs."""

from __future__ import annotations

from collections.abc import Callable

from . import engine, local, scipy_methods
from .integrators import SCIPY_METHODS
from .run import Record, Run, Standing

__all__ = ["advance"]


def advance(run: Run, record: Record, now: Standing, until: float) -> None:
    """Move on to a time, or to the first crossing that ``run.watch`` tells, or to where the run fails.

    What is raised leaves the record as far as it came.
    """
    now.stopped = False
    _loop_of(run)(run, record, now, until)


def _loop_of(run: Run) -> Callable[[Run, Record, Standing, float], None]:
    """The loop that a run needs."""
    if run.parametrization is not None:
        return local.run
    if run.method in SCIPY_METHODS:
        return scipy_methods.run
    return engine.run

"""From one time to another: the time loop, with the method that a run asks for."""

from __future__ import annotations

import numpy as np

from . import local, scipy_methods
from .integrators import SCIPY_METHODS
from .run import Record, Run, Standing
from .time_loop import Method, TimeLoop

__all__ = ["advance"]


def advance(run: Run, record: Record, now: Standing, until: float) -> None:
    """Move on to a time, or to the first crossing that ``run.watch`` tells, or to where the run fails.

    What is raised leaves the record as far as it came.
    """
    now.stopped = False
    record.begin(now.t, now.x, run.plant.nu)
    time_loop = TimeLoop(run, now)
    with np.errstate(all="ignore"):  # values that run away are seen by their size
        time_loop.begin(now, _method(run, time_loop, now))
        time_loop.go(record, now, until)


def _method(run: Run, time_loop: TimeLoop, now: Standing) -> Method | None:
    """The method of a run, where it is none of the loop's own."""
    if run.parametrization is not None:
        return local.Method(run, now)
    return scipy_methods.Method(run, time_loop, now) if run.method in SCIPY_METHODS else None

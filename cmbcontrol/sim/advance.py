"""From one time to another: the time loop, with the method that a run asks for."""

from __future__ import annotations

import numpy as np

from .run import Record, Run, Standing
from .time_loop import TimeLoop

__all__ = ["advance"]


def advance(run: Run, record: Record, now: Standing, until: float) -> None:
    """Move on to a time, or to the first crossing that ``run.watch`` tells, or to where the run fails.

    What is raised leaves the record as far as it came.
    """
    now.stopped = False
    record.begin(now.t, now.x, run.plant.nu)
    time_loop = TimeLoop(run, now)
    with np.errstate(all="ignore"):  # values that run away are seen by their size
        time_loop.begin(now, run.integrator.method(run, time_loop, now))
        time_loop.go(record, now, until)

"""From one time to another: the time loop, with the method that a run asks for."""

from __future__ import annotations

import numpy as np

from .run import IntegratorState, Record, Run
from .time_loop import TimeLoop

__all__ = ["advance"]


def advance(run: Run, record: Record, state: IntegratorState, until: float) -> None:
    """Move on to a time, or to the first event that ``run.detector`` finds, or to where the run fails.

    What is raised leaves the record as far as it came.
    """
    state.stopped = False
    record.begin(state.t, state.x, run.plant.nu)
    time_loop = TimeLoop(run, state)
    with np.errstate(all="ignore"):  # values that run away are seen by their size
        time_loop.begin(state, run.integrator.method(run, time_loop, state))
        time_loop.go(record, state, until)

"""From one time to another: the time loop, with the method that a run asks for, or that the motion needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Status
from .integrator import Integrator
from .run import IntegratorState, Record, Run
from .time_loop import TimeLoop

__all__ = ["advance"]

_OUT_OF_REACH = (Status.STEP_TOO_SMALL, Status.PROJECTION, Status.SINGULAR_CONFIGURATION, Status.NOT_FINITE)


def advance(run: Run, record: Record, state: IntegratorState, until: float) -> None:
    """Move on to a time, or to the first event that ``run.detector`` finds, or to where the run fails.

    With ``run.where_stiff`` this method takes over where the steps of the explicit one are as short as its stability
    asks for, and hands back where they would be long enough, or where it gets no further itself (independent
    coordinates end at singular configurations).

    What is raised leaves the record as far as it came.
    """
    state.stopped = False
    record.begin(state.t, state.x, run.plant.nu)
    implicit = False
    while True:
        present = _by(run.where_stiff, run) if implicit else run
        loop, taken = TimeLoop(present, state), state.taken
        with np.errstate(all="ignore"):  # values that run away are seen by their size
            loop.begin(state, present.integrator.method(present, loop, state))
            loop.go(record, state, until)
        record.implicit_steps += (state.taken - taken) * implicit
        if implicit and record.status in _OUT_OF_REACH:
            record.status, record.error = Status.COMPLETED, None
            run = replace(run, where_stiff=None)
        elif not loop.hands_over:
            return
        implicit = not implicit


def _by(integrator: Integrator, run: Run) -> Run:
    """A run by another method, and to its tolerances."""
    options = run.options._replace(rtol=integrator.rtol, atol=integrator.atol)
    return replace(run, integrator=integrator, options=options)

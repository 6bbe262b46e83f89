"""From one time to another: the time loop, with the method that a run asks for, or that the motion needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Status
from .integrator import Integrator
from .run import IntegratorState, Record, Run
from .time_loop import TimeLoop

__all__ = ["advance"]

_IMPLICIT = "radau"  # which goes on where the motion is stiff
_GIVEN_UP = (Status.STEP_TOO_SMALL, Status.PROJECTION, Status.SINGULAR_CONFIGURATION, Status.NOT_FINITE)


def advance(run: Run, record: Record, state: IntegratorState, until: float) -> None:
    """Move on to a time, or to the first event that ``run.detector`` finds, or to where the run fails.

    With ``run.switches_method`` an implicit method takes over where steps of the explicit one are as short as its
    stability asks for, and hands back where they would be as long; where it gets no further, too.

    What is raised leaves the record as far as it came.
    """
    state.stopped = False
    record.begin(state.t, state.x, run.plant.nu)
    present = run
    while True:
        loop, implicit = TimeLoop(present, state), present is not run and present.integrator.local
        with np.errstate(all="ignore"):  # values that run away are seen by their size
            loop.begin(state, present.integrator.method(present, loop, state))
            loop.go(record, state, until)
        if implicit and record.status in _GIVEN_UP:
            record.status, record.error = Status.COMPLETED, None
            present = replace(run, switches_method=False)
        elif loop.stiffness is None:
            return
        elif implicit:
            present = run
        else:
            tolerances = {"rtol": run.options.rtol, "atol": run.options.atol}
            present = replace(run, integrator=Integrator(_IMPLICIT, **tolerances))

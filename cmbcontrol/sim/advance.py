"""From one time to another: the time loop, with the method that a run asks for, or that the motion needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Status
from .integrator import Integrator
from .run import IntegratorState, Record, Run
from .time_loop import TimeLoop

__all__ = ["Steps", "advance"]

_OUT_OF_REACH = (Status.STEP_TOO_SMALL, Status.PROJECTION, Status.SINGULAR_CONFIGURATION, Status.NOT_FINITE)


class Steps:
    """The steps of a part of a run, by its method or, where the motion is stiff, by ``run.where_stiff``.

    This takes over where the steps of the explicit method are as short as its stability asks for, and hands back where
    they would be long enough, or where it gets no further itself (independent coordinates end at singular
    configurations).

    Attributes
    ----------
    loop : TimeLoop
        Which takes them at present.
    implicit : bool
        Whether the method for stiff motion does.
    """

    def __init__(self, run: Run, state: IntegratorState, implicit: bool = False) -> None:
        self.run, self.implicit = run, implicit
        self.loop = self._begun(state)

    def _begun(self, state: IntegratorState) -> TimeLoop:
        run = _by(self.run.where_stiff, self.run) if self.implicit else self.run  # type: ignore[arg-type]
        loop = TimeLoop(run, state)
        with np.errstate(all="ignore"):  # values that run away are seen by their size
            loop.begin(state, run.integrator.method(run, loop, state))
        return loop

    def change(self, record: Record, state: IntegratorState) -> bool:
        """Whether the other method goes on where these steps have ended; then its loop has begun."""
        if self.implicit and record.status in _OUT_OF_REACH:
            record.status, record.error = Status.COMPLETED, None
            self.run = replace(self.run, where_stiff=None)
        elif not self.loop.hands_over:
            return False
        self.implicit = not self.implicit
        self.loop = self._begun(state)
        return True


def advance(run: Run, record: Record, state: IntegratorState, until: float) -> None:
    """Move on to a time, or to the first event that ``run.detector`` finds, or to where the run fails.

    What is raised leaves the record as far as it came.
    """
    state.stopped = False
    record.begin(state.t, state.x, run.plant.nu)
    steps = Steps(run, state)
    while True:
        taken, implicit = state.taken, steps.implicit
        with np.errstate(all="ignore"):
            steps.loop.go(record, state, until)
        record.implicit_steps += (state.taken - taken) * implicit
        if not steps.change(record, state):
            return


def _by(integrator: Integrator, run: Run) -> Run:
    """A run by another method, and to its tolerances."""
    options = run.options._replace(rtol=integrator.rtol, atol=integrator.atol)  # type: ignore[arg-type]  # both given
    return replace(run, integrator=integrator, options=options)

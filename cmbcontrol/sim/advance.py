"""Advance of a run from one time to another, by the method it asks for, or by an implicit one for stiff motion."""

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
        The time loop that takes the steps at present.
    implicit : bool
        Whether this is the loop of the method for stiff motion.
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
        """Change to the other method if the steps ended for it, and begin its loop; True if this was so."""
        if self.implicit and record.status in _OUT_OF_REACH:
            record.status, record.error = Status.COMPLETED, None
            self.run = replace(self.run, where_stiff=None)
        elif not self.loop.hands_over:
            return False
        self.implicit = not self.implicit
        self.loop = self._begun(state)
        return True


def advance(run: Run, record: Record, state: IntegratorState, until: float) -> None:
    """Move a run on to a time, to the first event that ``run.detector`` finds, or to where it fails.

    Where an exception is raised, the record holds all steps up to there.
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
    """Copy of a run that uses another integrator and its tolerances."""
    options = run.options._replace(rtol=integrator.rtol, atol=integrator.atol)  # type: ignore[arg-type]  # both given
    return replace(run, integrator=integrator, options=options)

"""From one time to another: the time loop, with the method that a run asks for."""

from __future__ import annotations

import numpy as np

from . import local, scipy_methods
from .engine import Engine, Method
from .integrators import SCIPY_METHODS
from .run import Record, Run, Standing

__all__ = ["advance"]


def advance(run: Run, record: Record, now: Standing, until: float) -> None:
    """Move on to a time, or to the first crossing that ``run.watch`` tells, or to where the run fails.

    What is raised leaves the record as far as it came.
    """
    now.stopped = False
    record.begin(now.t, now.x, run.plant.nu)
    engine = Engine(run, now)
    with np.errstate(all="ignore"):  # values that run away are seen by their size
        engine.go(record, now, until, _method(run, engine, now))


def _method(run: Run, engine: Engine, now: Standing) -> Method | None:
    """The method of a run, where it is none of the loop's own."""
    if run.parametrization is not None:
        return local.Method(run, now)
    return scipy_methods.Method(run, engine, now) if run.method in SCIPY_METHODS else None

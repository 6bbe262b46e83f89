"""The compiled time loop, for machines under constant or held efforts."""

from __future__ import annotations

import time as clock

import numpy as np
from numpy.typing import NDArray

from .._interrupt import let_through
from ..errors import Status
from ..kernels import constrained, stepping
from .run import INSTANT, Record, Run, Standing, path, spent

__all__ = ["run"]

Array = NDArray[np.float64]

_CHUNK = 512  # steps in a block of the record
_LOOK = 0.1  # s: about how often the loop looks at the keyboard


def run(run: Run, record: Record, now: Standing, stop: float) -> None:
    """Constant or held efforts: the compiled loop, from one change of the efforts to the next."""
    plant, control, options, watch, tableau = run.plant, run.control, run.options, run.watch, run.tableau
    nq, nv, rows = plant.nq, plant.nv, len(plant.row_names)
    work = constrained.new_work(plant.model)
    t, x, c = now.t, now.x[: nq + nv + 2].copy(), now.x[nq + nv + 2 :]
    terms = plant.terms(x[:nq], x[nq : nq + nv])
    energy0 = terms.energy - x[nq + nv] + x[nq + nv + 1]
    capacity = max(min(_CHUNK if control.next == np.inf else 64, run.max_steps - now.taken), 1)
    T, X = np.empty(capacity + 1), np.empty((capacity + 1, x.size))
    F = np.empty((capacity, 7, x.size))
    pivots, ranks = np.zeros((capacity + 1, rows)), np.zeros(capacity + 1, np.int64)
    record.begin(t, x, plant.nu)
    pause, tries = stepping.new_pause(tableau, x.size), 8
    while t < stop:
        if control.next <= t:
            control.refresh(t, plant, x[:nq], x[nq : nq + nv], c)
        u, until = control.command, min(stop, control.next)
        if until - t < INSTANT * run.t_end:
            t = now.t = until
            continue
        n, status, raised = 0, stepping.RUNNING, None
        try:
            while status == stepping.RUNNING and n < capacity:
                begin, before = clock.perf_counter(), n
                n, now.h, evaluations, rejections, status = stepping.advance(
                    plant.model, tableau, options, work, t, x, u, until, now.h, energy0, tries,
                    T, X, F, pivots, ranks, pause,
                )  # fmt: skip
                record.evaluations += evaluations
                record.rejections += rejections
                tried = n - before + rejections
                wanted = int(tried * _LOOK / max(clock.perf_counter() - begin, 1e-9))
                tries = max(min(wanted, 8 * (tried + 1)), 1)
                let_through()
        except KeyboardInterrupt as error:  # what was computed goes to the record first
            raised = error
        if watch is not None and n:
            crossing = watch.crossing(T[: n + 1], X[: n + 1], path(T[: n + 1], F[:n], X), lambda t, x, u=u: u)
            if crossing is not None:  # what comes after is not true any more; the step that leads there is taken again
                n = max(int(np.searchsorted(T[: n + 1], crossing)) - 1, 0)
                stop, watch, now.stopped, status = crossing, None, True, stepping.COMPLETED
        record.append(T[: n + 1], X[: n + 1], F[:n], u)
        now.taken += n
        t, x = float(T[n]), X[n].copy()
        now.t, now.x = t, x
        if raised is not None:
            raise raised
        run.report.update(t / run.t_end)
        if status > 0:
            record.status = Status(status)
            return
        if (ended := spent(run, now, stop)) != Status.COMPLETED:
            record.status = ended
            return

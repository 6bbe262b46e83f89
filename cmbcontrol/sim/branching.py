"""Singular configurations on the way: from one to the next, on the branch of the velocity or on one that is chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._tolerance import BLURRED
from ..dynamics.nearest_singular import nearest_singular_configuration
from ..dynamics.singular import singular_configuration
from ..errors import SingularConfigurationError, Status, SwitchingError
from ..kernels import motion
from .advance import advance
from .leaving import leave
from .path import coefficients
from .run import Met, Record, Run, Standing
from .steering import Steering, turned

__all__ = ["advance_through"]

Array = NDArray[np.float64]

_APART = 1e-6  # s: nearer than this to the pose that was left, it is still the same


def advance_through(run: Run, now: Standing, until: float, steering: Steering, records: list[Record]) -> None:
    """Move on as `advance` does, at singular configurations along the branch of the velocity, or the chosen one.

    Adds one record, or several, where the velocity is turned between them; what is raised leaves the last one as far
    as it came.
    """
    since = now.t
    while True:
        record = Record()
        records.append(record)
        if _passing(run):
            try:
                if steering.active and steering.passed == 0 and now.t == 0.0:
                    _turn_at_start(run, now, steering)
                leave(run, record, now, until, steering)
            except (SingularConfigurationError, SwitchingError) as error:
                record.status, record.error = Status.SINGULAR_CONFIGURATION, error
            if record.status:
                return
        if not steering.active:
            advance(run, record, now, until)
            return
        advance(replace(run, meet_after=since + _APART), record, now, until)
        if now.met is None or record.status != Status.COMPLETED:
            return
        since = now.met.time
        try:
            _arrive(run, record, now, now.met, steering)
        except SingularConfigurationError:  # a near miss: nothing to choose
            continue
        except SwitchingError as error:
            record.status, record.error = Status.SWITCHING, error
            return
        if now.t >= until:
            return


def _passing(run: Run) -> bool:
    """Whether the method goes through singular configurations."""
    return (
        not run.integrator.local
        and run.options.pass_within > 0.0
        and run.stabilisation.passes
        and run.integrator.passes
    )


def _turn_at_start(run: Run, now: Standing, steering: Steering) -> None:
    """A start at a singular configuration is passage number 0."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    pose = singular_configuration(run.plant, now.x[:nq], tolerance=4.0 * BLURRED)
    v = now.x[nq:n].copy()
    if len(pose.forms) and pose.moves(v):
        now.x = now.x.copy()
        now.x[nq:n] = turned(pose, v, steering.choose(pose, 0.0, v))


def _arrive(run: Run, record: Record, now: Standing, met: Met, steering: Steering) -> None:
    """End the record exactly at the pose, by the part of the step that leads there; turn the velocity."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    x = met.states[-1].copy()
    x[:nq] = nearest_singular_configuration(run.plant, x[:nq])
    pose = singular_configuration(run.plant, x[:nq])
    steering.passed += 1
    v = x[nq:n].copy()
    v = pose.on_branch(v) * pose.speed(v)  # a path is as exact as its steps
    x[nq:n] = v
    if met.time > now.t:
        F = coefficients(now.x, [*met.states[:-1], x])
        record.append(np.array([now.t, met.time]), np.array([now.x, x]), F[None], run.control.command[None])
        pivots = run.plant.terms(x[:nq], np.zeros(run.plant.nv)).pivots
        record.passages.append((met.time, float(motion.closeness(pivots, run.options))))
    now.h = max(met.ends[1] - met.ends[0], 1e-9 * run.t_end)
    now.t, now.x = met.time, x.copy()
    now.taken += 1
    now.x[nq:n] = turned(pose, v, steering.choose(pose, now.t, v))

"""Passage of singular configurations, from one to the next: on the branch of the velocity or on one that is chosen."""

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
from .branch_selection import BranchSelector, velocity_on_branch
from .path import coefficients
from .run import IntegratorState, Passage, Record, Run
from .singular_start import step_from_singular

__all__ = ["advance_through", "passing"]

Array = NDArray[np.float64]

_APART = 1e-6  # s: nearer than this to the configuration that was left, it is still the same


def advance_through(
    run: Run, state: IntegratorState, until: float, selector: BranchSelector, records: list[Record]
) -> None:
    """Move on as `advance` does, and through singular configurations on the branch of the velocity or the chosen one.

    Adds one record, or several, between which the velocity is turned. If an exception is raised, the last one holds all
    steps up to there.
    """
    since = state.t
    while True:
        record = Record()
        records.append(record)
        if passing(run):
            try:
                if selector.active and selector.passages == 0 and state.t == 0.0:
                    _select_at_start(run, state, selector)
                step_from_singular(run, record, state, until, selector)
            except (SingularConfigurationError, SwitchingError) as error:
                record.status, record.error = Status.SINGULAR_CONFIGURATION, error
            if record.status or state.stopped:
                record.begin(state.t, state.x, run.plant.nu)
                return
        if not selector.active:
            advance(run, record, state, until)
            return
        advance(replace(run, stop_at_passages_after=since + _APART), record, state, until)
        if state.passage is None or record.status != Status.COMPLETED:
            return
        since = state.passage.time
        try:
            _end_at_passage(run, record, state, state.passage, selector)
        except SingularConfigurationError:  # a near miss: nothing to choose
            continue
        except SwitchingError as error:
            record.status, record.error = Status.SWITCHING, error
            return
        if state.t >= until:
            return


def passing(run: Run) -> bool:
    """Whether the run goes through singular configurations."""
    return (
        not run.integrator.local
        and not run.acting.moving
        and run.options.pass_within > 0.0
        and run.stabilisation.passes
        and run.integrator.passes
    )


def _select_at_start(run: Run, state: IntegratorState, selector: BranchSelector) -> None:
    """Turn the velocity at a start at a singular configuration, which is passage number 0."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    configuration = singular_configuration(run.plant, state.x[:nq], tolerance=4.0 * BLURRED)
    v = state.x[nq:n].copy()
    if len(configuration.forms) and configuration.moves(v):
        state.x = state.x.copy()
        state.x[nq:n] = velocity_on_branch(configuration, v, selector.choose(configuration, 0.0, v))


def _end_at_passage(
    run: Run, record: Record, state: IntegratorState, passage: Passage, selector: BranchSelector
) -> None:
    """End the record exactly at the singular configuration within a step, and turn the velocity there."""
    nq, n = run.plant.nq, run.plant.nq + run.plant.nv
    x = passage.states[-1].copy()
    x[:nq] = nearest_singular_configuration(run.plant, x[:nq])
    configuration = singular_configuration(run.plant, x[:nq])
    selector.passages += 1
    v = x[nq:n].copy()
    v = configuration.on_branch(v) * configuration.speed(v)  # a path is as exact as its steps
    x[nq:n] = v
    if passage.time > state.t:
        F = coefficients(state.x, [*passage.states[:-1], x])
        record.append(
            np.array([state.t, passage.time]), np.array([state.x, x]), F[None], run.control.command[None].copy()
        )
        pivots = run.plant.terms(x[:nq], np.zeros(run.plant.nv)).pivots
        record.passages.append((passage.time, float(motion.closeness(pivots, run.options))))
    state.h = max(passage.ends[1] - passage.ends[0], 1e-9 * run.t_end)
    state.t, state.x = passage.time, x.copy()
    state.taken += 1
    state.x[nq:n] = velocity_on_branch(configuration, v, selector.choose(configuration, state.t, v))

"""Steps that lead nowhere end a run."""

from types import SimpleNamespace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.sim.run import IntegratorState, stop_reason


class Pace:
    """A run of which only the pace matters."""

    t_end = 10.0

    def __init__(self, max_step=np.inf, period=None, max_steps=100_000):
        self.max_steps = max_steps
        self.options, self.control = SimpleNamespace(max_step=max_step), SimpleNamespace(period=period)


@pytest.mark.parametrize(
    ("run", "step", "status"),
    [
        (Pace(), 1e-5, cmb.Status.TOO_MANY_STEPS),  # slow, and as many steps as are allowed
        (Pace(), 1e-8, cmb.Status.STEP_TOO_SMALL),
        (Pace(max_step=1e-8), 1e-8, cmb.Status.TOO_MANY_STEPS),  # as was asked
        (Pace(period=1e-7), 1e-8, cmb.Status.TOO_MANY_STEPS),  # to take samples
        (Pace(period=1e-3), 1e-8, cmb.Status.STEP_TOO_SMALL),
    ],
)
def test_steps_that_lead_nowhere_end_a_run(run, step, status):
    now = IntegratorState(0.0, np.zeros(1), step)
    while (found := stop_reason(run, now, run.t_end)) == cmb.Status.COMPLETED:
        now.t, now.taken = now.t + step, now.taken + 1
    assert found == status
    assert now.taken == (1_000 if status == cmb.Status.STEP_TOO_SMALL else 100_000)


def test_a_short_phase_of_short_steps_does_not_end_a_run():
    """Such as the start of a stiff motion, a stop, or a passage next to a singular configuration."""
    run, now = Pace(max_steps=1_000_000), IntegratorState(0.0, np.zeros(1), 1e-9)
    while now.t < run.t_end:
        assert stop_reason(run, now, run.t_end) == cmb.Status.COMPLETED
        now.t, now.taken = now.t + (1e-9 if now.taken % 20_000 < 9_000 else 1e-4), now.taken + 1
    assert stop_reason(run, now, run.t_end) == cmb.Status.COMPLETED

"""The loop stops where something watched happens, and where a law fails."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.kernels.layout import WORKS
from tests.fixtures import Asks


class At:
    """Watches a coordinate cross a value."""

    limits, compiled = None, False

    def __init__(self, value):
        self.value = value

    def first_event(self, T, X, state, effort):
        from scipy.optimize import brentq

        above = X[:, 0] > self.value
        if not above.any() or above[0]:
            return None
        j = int(np.argmax(above))
        return brentq(lambda t: state(t)[0] - self.value, T[j - 1], T[j], xtol=1e-15)


@pytest.mark.parametrize("method", ["dop853", "rk4", "radau", "local-dop853"])
@pytest.mark.parametrize("law", ["constant", "sampled", "continuous"])
def test_a_part_of_a_run_ends_at_an_event(cart, method, law):
    from dataclasses import replace

    from cmbcontrol._progress import Reporter
    from cmbcontrol.kernels import motion
    from cmbcontrol.papers.methods import integrator
    from cmbcontrol.sim.advance import advance
    from cmbcontrol.sim.control import Control
    from cmbcontrol.sim.run import IntegratorState, Record, Run

    laws = {
        "constant": [2.0],
        "sampled": Asks(lambda t: np.array([2.0]), 0.07),
        "continuous": lambda t, terms, c: [2.0],
    }
    control = Control(cart, cmb.controllers.controller.as_controller(laws[law], cart))
    tolerance = 1e-10
    longest = 0.01 if method == "rk4" else np.inf
    options = motion.Options(tolerance, tolerance, longest, 1000, 1.0, 1e-10, 0, 1.0, 1e-15, 1e-4)
    way = integrator(method, step=0.01 if method == "rk4" else None)
    run = Run(cart, control, options, way, 1.0, 1000, Reporter(False, ""), np.zeros(0))
    state, record = IntegratorState(0.0, np.zeros(2 + WORKS), 0.01), Record()
    advance(replace(run, detector=At(0.125)), record, state, 1.0)  # x = t^2 / 2
    assert state.stopped
    assert state.t == pytest.approx(0.5, abs=1e-9)
    assert state.x == pytest.approx([0.125, 0.5, 0.25, *[0.0] * (WORKS - 1)], abs=1e-9)
    T, X, F, U = record.arrays()
    assert T[-1] == state.t
    assert np.all(np.diff(T) > 0.0)
    assert len(F) == len(U) == len(T) - 1 == len(X) - 1
    record = Record()
    advance(run, record, state, 1.0)
    assert not state.stopped
    assert state.t == 1.0
    assert state.x[:2] == pytest.approx([0.5, 1.0], abs=1e-9)


def test_a_run_ends_where_its_law_fails(cart):
    def law(t, terms, state):
        if terms.q[0] > 0.125:
            raise cmb.errors.ActuationError("the rail ends here")
        return [2.0]

    with pytest.raises(cmb.errors.SimulationError, match="the rail ends here") as caught:
        cmb.simulate(cart, law, [0.0], t_end=1.0)  # x = t^2 / 2
    assert caught.value.partial.time[-1] == pytest.approx(0.5, abs=1e-8)

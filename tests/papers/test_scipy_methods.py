"""Scipy's integrators through simulate: one motion, samples and events, failures that keep their work."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.controllers import Controller
from cmbcontrol.errors import SimulationError, Status
from cmbcontrol.papers.methods import MULTISTEP, settings
from cmbcontrol.papers.scipy_methods import SCIPY_METHODS
from tests.fixtures import apart

pytestmark = pytest.mark.nojit_slow  # whole runs
T_END = 0.5


@pytest.mark.parametrize("method", ["scipy-rk45", "scipy-dop853", "scipy-radau", "verner65"])
def test_one_step_methods_with_projection(free_five_bar, method):
    plant, q0, reference = free_five_bar
    run = cmb.simulate(plant, q0=q0, t_end=T_END, rtol=1e-8, atol=1e-8, **settings(method=method))
    assert apart(run, reference) < 1e-6  # between the steps, too
    assert run.max_drift < 1e-14
    attrs = run.data.attrs
    assert attrs["method"] == method and 0 < attrs["steps"] < attrs["evaluations"]


@pytest.mark.parametrize("method", MULTISTEP)
def test_multistep_methods(free_five_bar, method):
    plant, q0, reference = free_five_bar
    run = cmb.simulate(plant, q0=q0, t_end=T_END, rtol=1e-9, atol=1e-9, **settings(method=method, stabilisation="none"))
    assert apart(run, reference) < 2e-4
    stabilised = cmb.simulate(
        plant,
        q0=q0,
        t_end=T_END,
        rtol=1e-9,
        atol=1e-9,
        **settings(gains=(50, 50), method=method, stabilisation="baumgarte"),
    )
    assert stabilised.drift.values[-1, 0] < 0.5 * run.drift.values[-1, 0]
    with pytest.raises(TypeError, match="a projection would contradict"):
        cmb.simulate(plant, q0=q0, t_end=T_END, **settings(method=method))
    with pytest.raises(TypeError, match="cannot follow from the step"):
        cmb.simulate(plant, q0=q0, t_end=T_END, **settings(gains="adaptive", method=method, stabilisation="baumgarte"))


@pytest.mark.parametrize("method", SCIPY_METHODS)
def test_sampled_laws_and_events_with_scipy_methods(free_five_bar, method):
    """Held efforts restart the method; a step that holds an event is taken again to there."""
    plant, q0, _ = free_five_bar

    class Law(Controller):
        period = 0.02

        def effort(self, t, terms, state):
            return [-2.0 * terms.v[0], 1.0]

    kept = {} if method not in MULTISTEP else {"stabilisation": "none"}
    way = {"switches": cmb.Release("tip", at=0.0521), "rtol": 1e-9, "atol": 1e-9, "t_end": 0.1}
    run = cmb.simulate(plant, Law(), q0, **settings(method=method, **kept, **way))
    reference = cmb.simulate(plant, Law(), q0, **settings(**way))
    assert apart(run, reference) < 1e-4
    assert [e["kind"] for e in run.events()] == ["released tip"]
    assert np.array_equal(run.active.values, reference.active.values)


def test_a_law_that_fails_ends_a_scipy_run_with_what_was_computed(free_five_bar):
    plant, q0, _ = free_five_bar

    def law(t, terms, state):
        if t > 0.1:
            raise ZeroDivisionError("no more")
        return [0.0, 0.0]

    for method in ("scipy-rk45", "scipy-radau", "vode-adams"):
        kept = {} if method not in MULTISTEP else {"stabilisation": "none"}
        with pytest.raises(SimulationError, match="ZeroDivisionError: no more") as caught:
            cmb.simulate(plant, law, q0, t_end=T_END, rtol=1e-6, atol=1e-6, **settings(method=method, **kept))
        assert caught.value.partial.status is Status.CONTROLLER
        assert 0.05 < caught.value.partial.time[-1] <= 0.1


def test_a_tolerance_out_of_reach_is_told(free_five_bar):
    plant, q0, _ = free_five_bar
    with pytest.raises(SimulationError, match="VODE"):
        cmb.simulate(
            plant, q0=q0, t_end=T_END, rtol=1e-16, atol=1e-16, **settings(method="vode-adams", stabilisation="none")
        )

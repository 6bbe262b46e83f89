"""An observer of loads: how fast it finds them, what the law gains, and that code and Python say the same."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, Frame, Load, Sine, plants
from cmbcontrol.controllers import LoadObserver, ProjectedInverseDynamics, WithModel
from cmbcontrol.errors import ActuationError
from cmbcontrol.trace.code import why_not
from tests.fixtures import refuses

TRUE = np.array([-9.0, 4.0])
TIP = Frame((1.5, 0.0, 0.0))
AXES = ["pull_fx", "pull_fy"]


def machine(**options):
    return plants.five_bar(**options).with_parts(loads=[Load("pull", "left_upper", TIP)])


def tracking(plant, reference=None, period=2e-3, bandwidth=8.0):
    reference = Constant([2.1, 1.0]) if reference is None else reference
    return ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=bandwidth, period=period)


def estimates(run, names=AXES):
    return run.report.sel(quantity=[f"{name}_estimate" for name in names]).values


@pytest.mark.nojit_slow
def test_the_error_is_forgotten_with_the_bandwidth():
    """At each sample by exp(-bandwidth T), whatever the machine does."""
    plant, period, bandwidth = machine(), 1e-3, 40.0
    law = LoadObserver(tracking(plant, Sine([2.1, 1.0], [0.2, 0.1], [0.8, 0.5]), period), AXES, bandwidth)
    q0 = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(plant, law, q0, t_end=0.2, output_times=period, loads={"pull": (*TRUE, 0.0)})
    off = estimates(run)[1:150] / TRUE - 1.0
    samples = np.arange(1, 150)
    np.testing.assert_allclose(
        off, -np.exp(-bandwidth * period * samples)[:, None] * np.ones(2), atol=6e-4
    )  # it moves on while it is sampled


@pytest.mark.nojit_slow
@pytest.mark.parametrize("code", ["code", "kernels"])
@pytest.mark.first(1)
def test_no_lasting_error_under_a_load_that_nobody_knows(code, monkeypatch):
    if code == "kernels":
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    plant = machine()
    q0 = plant.assemble(left=2.1, right=1.0)
    ends = []
    for law in (tracking(plant), LoadObserver(tracking(plant), AXES, 30.0)):
        run = cmb.simulate(plant, law, q0, t_end=3.0, loads={"pull": (*TRUE, 0.0)})
        ends.append(np.abs(run.error.values[-1]).max())
    assert ends[0] > 1e-2 and ends[1] < 1e-7
    np.testing.assert_allclose(estimates(run)[-1], TRUE, atol=1e-7)
    wanted = run.data.attrs["samples_by_code"]
    assert wanted == 0 if code == "kernels" or why_not() else wanted > 1400


@pytest.mark.nojit_slow
def test_code_and_python_say_the_same(monkeypatch):
    plant = machine()
    law = LoadObserver(tracking(plant, Sine([2.1, 1.0], [0.2, 0.1], [0.8, 0.5])), AXES, 30.0)
    q0, runs = plant.assemble(left=2.1, right=1.0), []
    for generate in (True, False):
        if not generate:
            monkeypatch.setattr("cmbcontrol.sim.control.Control.generate", lambda *_: None)
        runs.append(cmb.simulate(plant, law, q0, t_end=0.5, loads={"pull": (*TRUE, 0.0)}))
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    np.testing.assert_allclose(estimates(runs[0]), estimates(runs[1]), atol=1e-6)


@pytest.mark.nojit_slow
def test_a_payload_is_a_load_that_hangs():
    """The law knows the empty machine; at rest the estimate is the weight of what it carries."""
    mass = 1.3
    plain = machine()
    box = cmb.Body("box", mass, (0, 0, 0), 1e-3 * np.eye(3))
    carried = plain.with_parts(
        bodies=[*plain.bodies, box], joints=[*plain.joints, cmb.Fixed("grip", "left_upper", "box", frame=TIP)]
    )
    law = WithModel(plain, LoadObserver(tracking(plain), AXES, 30.0))
    run = cmb.simulate(carried, law, carried.assemble(left=2.1, right=1.0), t_end=3.0)
    np.testing.assert_allclose(estimates(run)[-1], [0.0, -9.81 * mass], atol=1e-6)
    assert np.abs(run.error.values[-1]).max() < 1e-7


def test_what_it_cannot_see_is_refused():
    plant = machine()
    refuses(lambda: LoadObserver(tracking(plant), ["push"], 30.0), "'push'", "pull", kind=ValueError)
    refuses(lambda: LoadObserver(tracking(plant), ["pull", "pull_fx"], 30.0), "each once", kind=ValueError)
    refuses(lambda: LoadObserver(tracking(plant), AXES, -1.0), "bandwidth", kind=ValueError)
    refuses(lambda: LoadObserver(tracking(plant, period=None), AXES, 30.0), "period", kind=ValueError)
    refuses(lambda: LoadObserver(Constant([1.0]), AXES, 30.0), "controller", kind=TypeError)
    law = LoadObserver(tracking(plant), ["pull_fx", "pull_fz"], 30.0)  # z is across the plane
    q0 = plant.assemble(left=2.1, right=1.0)
    refuses(lambda: cmb.simulate(plant, law, q0, t_end=0.1), "pull_fz", "Estimate fewer", kind=ActuationError)


def test_the_estimate_by_itself():
    plant = machine()
    law = LoadObserver(tracking(plant), AXES, 30.0)
    terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
    state = law.start(plant)
    assert law.estimate(0.0, terms, state).tolist() == [0.0, 0.0]
    assert law.state_names(plant)[0] == "estimate_begun" and len(law.state_names(plant)) == state.size

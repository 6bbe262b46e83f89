"""Integral action of projected inverse dynamics: poles, steady errors, limits, code."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, Load, plants
from cmbcontrol.controllers import ComputedTorque, ConstrainedActuation, Delay, ProjectedInverseDynamics, WithModel
from cmbcontrol.design import with_payload
from tests.fixtures import refuses

GOAL = [2.1, 1.0]


pytestmark = pytest.mark.nojit_slow


def bar():
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", cmb.Frame((0.5, 0.0, 0.0)))])
    return plant, plant.assemble(left=GOAL[0], right=GOAL[1])


def tracking(plant, goal=GOAL, **options):
    given = {"bandwidth": 8.0, "damping_ratio": 0.7} | options
    return ProjectedInverseDynamics(plant, ("left", "right"), Constant(goal), **given)


@pytest.mark.parametrize("period", [None, 1e-3])
def test_unknown_loads_leave_no_error(period):
    """Without integral action the error is what the load makes of the stiffness; with it, none."""
    plant, q = bar()
    force = {"pull": (30.0, -40.0, 0.0)}
    without = cmb.simulate(plant, tracking(plant, period=period), q, t_end=4.0, loads=force)
    pulled, rest = plant.with_loads(force), np.zeros(4)
    end = without.data.q.values[-1]
    a = [cmb.forward_dynamics(m, end, rest, np.zeros(2)) for m in (pulled, plant)]
    theory = -(a[0] - a[1])[[0, 2]] / 64.0  # of reference less value
    np.testing.assert_allclose(without.data.error.values[-1], theory, rtol=1e-6)
    assert np.abs(theory).max() > 1e-2
    law = tracking(plant, integral=4.0, period=period)
    run = cmb.simulate(plant, law, q, t_end=6.0, loads=force)
    assert np.abs(run.data.error.values[-1]).max() < 1e-7
    assert run.data.attrs["samples_by_code"] in (0, 6000)


def test_a_wrong_payload_leaves_no_error():
    plant, q = bar()
    heavier = with_payload(plant, "left_upper", 3.0, (0.5, 0.0, 0.0))
    ends = [
        cmb.simulate(heavier, WithModel(plant, tracking(plant, integral=r)), q, t_end=6.0).data.error.values[-1]
        for r in (None, 3.0)
    ]
    assert np.abs(ends[0]).max() > 1e-2 and np.abs(ends[1]).max() < 1e-6


def test_poles_are_those_that_were_asked_for():
    plant, q = bar()
    law = tracking(plant, integral=[3.0, 5.0], bandwidth=[8.0, 6.0])
    loop = cmb.linearize_closed_loop(plant, law, q)
    found = np.sort_complex(loop.poles())
    expected = [-3.0, -5.0]
    for w in (8.0, 6.0):
        expected += [*np.roots([1.0, 1.4 * w, w * w])]
    np.testing.assert_allclose(found, np.sort_complex(np.array(expected)), rtol=1e-7)


def test_gains_are_those_of_the_polynomial():
    plant, _ = bar()
    law, other = tracking(plant, integral=3.0), tracking(plant)
    w, z, r = 8.0, 0.7, 3.0
    np.testing.assert_allclose(np.diag(law.kp), w * w + 2 * z * w * r)
    np.testing.assert_allclose(np.diag(law.ki), w * w * r)
    assert other.ki is None and other.start(plant).size == 0
    given = ProjectedInverseDynamics(
        plant, ("left", "right"), Constant(GOAL), kp=[60.0, 60.0], kd=[12.0, 12.0], ki=[40.0, 40.0]
    )
    assert list(given.state_names(plant)) == ["left_integral", "right_integral"]
    assert ComputedTorque(plant, Constant(GOAL), bandwidth=5.0, integral=1.0).ki.shape == (2, 2)


@pytest.mark.parametrize("saturation", ["clip", "scale"])
@pytest.mark.parametrize("period", [None, 2e-3])
def test_integrals_do_not_wind_up_at_limits(saturation, period):
    """A large step against small motors: it overshoots by little more than without integral action."""
    plant, q = bar()
    options = {"saturation": saturation, "limits": [60.0, 60.0], "period": period, "bandwidth": 12.0}
    goal = [2.3, 1.25]
    beyond = []
    for integral in (None, 3.0):
        law = tracking(plant, goal, integral=integral, **options)
        run = cmb.simulate(plant, law, q, t_end=6.0)
        assert np.abs(run.u.values).max() == pytest.approx(60.0)
        beyond.append(float((run.q.sel(position="left") - goal[0]).max()))
        assert np.abs(run.data.error.values[-1]).max() < 1e-3
    assert beyond[1] < beyond[0] + 0.08


def test_code_and_python_say_the_same(monkeypatch):
    plant, q = bar()
    law = tracking(plant, integral=4.0, period=5e-3, saturation="clip", limits=[45.0, 60.0])
    load = {"pull": (20.0, -10.0, 0.0)}
    coded = cmb.simulate(plant, law, q, t_end=0.5, loads=load)
    monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    plain = cmb.simulate(plant, law, q, t_end=0.5, loads=load)
    assert plain.data.attrs["samples_by_code"] == 0
    np.testing.assert_allclose(coded.q, plain.q, atol=1e-9)


def test_in_a_chain():
    plant, q = bar()
    chain = tracking(plant, integral=3.0, period=2e-3) | Delay(2e-3)
    run = cmb.simulate(plant, chain, q, t_end=4.0, loads={"pull": (10.0, 0.0, 0.0)})
    assert np.abs(run.data.error.values[-1]).max() < 1e-5


@pytest.mark.parametrize(("options", "words"), [
    ({"integral": -1.0}, ("integral",)),
    ({"integral": [1.0, 2.0, 3.0]}, ("integral",)),
    ({"ki": [1.0, 1.0]}, ("ki goes with kp and kd",)),
    ({"bandwidth": None, "kp": [1.0, 1.0], "kd": [1.0, 1.0], "integral": 1.0}, ("integral goes with bandwidth",)),
])  # fmt: skip
def test_wrong_options_are_told(options, words):
    plant, _ = bar()
    refuses(lambda: tracking(plant, **options), *words, kind=(ValueError, TypeError))


def test_laws_around_it_refuse_its_state():
    plant, q = bar()
    plant = plant.with_parts(actuators=[cmb.Actuator("left", effort=50.0), cmb.Actuator("right", effort=50.0)])
    outer = ConstrainedActuation(tracking(plant, integral=1.0))
    refuses(lambda: cmb.simulate(plant, outer, q, t_end=0.1), "integral action", kind=TypeError)

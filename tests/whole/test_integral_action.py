"""Integral action of projected inverse dynamics: poles, steady errors, limits, code."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, Load, design, plants
from cmbcontrol.controllers import (
    ComputedTorque,
    ConstrainedActuation,
    ConstraintForcePI,
    Delay,
    EffortBlock,
    ElectricDrive,
    FirstOrderActuator,
    HybridMotionForce,
    ObserverFeedback,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
    WithModel,
)
from cmbcontrol.design import with_payload
from cmbcontrol.plants.two_arms import configuration as two_arms_configuration
from tests.fixtures import matched, refuses, slider
from tests.seeds import rotating

GOAL = [2.1, 1.0]


pytestmark = pytest.mark.nojit_slow


def bar():
    plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", cmb.Frame((0.5, 0.0, 0.0)))])
    return plant, plant.assemble(left=GOAL[0], right=GOAL[1])


def tracking(plant, goal=GOAL, **options):
    given = {"bandwidth": 8.0, "damping_ratio": 0.7} | options
    return ProjectedInverseDynamics(plant, ("left", "right"), Constant(goal), **given)


@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")  # loads, in continuous time
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


LIMITS = {
    "saturation": lambda law: law | Saturation(),
    "before a delay": lambda law: law | Saturation() | Delay(5e-3),
    "behind a delay": lambda law: law | Delay(5e-3) | Saturation(),
    "of the drive": lambda law: law | ElectricDrive(0.1, gear=10.0, current=2.0, time_constant=2e-3),
    "of the machine": lambda law: law | FirstOrderActuator(2e-3) | Saturation(),
    "size and rate": lambda law: law | Saturation() | RateLimit(40.0, time_constant=2e-3),
    "in a model": lambda law: WithModel(slider(), law) | Saturation(),
    "in a chain in a model": lambda law: WithModel(slider(), law | Saturation()),
    "of the user": lambda law: law | Clipped(),
}


class Clipped(EffortBlock):
    def effort(self, t, terms, u, state):
        return np.clip(u, -2.0, 2.0)

    def cut(self, t, terms, u, state):
        return np.clip(u, -2.0, 2.0) - u


@pytest.mark.first(5)
@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.parametrize("where", LIMITS)
def test_integrals_know_later_limits(where, period):
    """A step of a metre against a weak motor overshoots as it does where the law itself clips."""
    plant = slider()

    def made(**options):
        given = {"bandwidth": 6.0, "integral": 3.0, "period": period} | options
        return ProjectedInverseDynamics(plant, "x", Constant([1.0]), **given)

    if period is None and "delay" in where:
        pytest.skip("a delay goes with samples")

    def beyond(law):
        run = cmb.simulate(plant, law, [0.0], t_end=12.0, output_times=0.02)
        assert abs(run.q.values[-1, 0] - 1.0) < 1e-2
        return run.q.values[:, 0].max() - 1.0

    own = beyond(made(saturation="clip"))
    chain = LIMITS[where](made())
    assert own < 0.4
    assert beyond(chain) < 1.3 * own
    assert "integrals wait at the limits of" in repr(chain) or isinstance(chain, WithModel)


def test_integrals_of_a_state_feedback_know_later_limits():
    plant = slider()
    lin = cmb.linearize(plant, cmb.trim(plant, [0.0]))
    given = {"Q": {"x": 900.0, "x_integral": 2000.0}, "R": 1.0, "integral": ["x"], "period": 0.01}
    law = design.lqr(lin, **given).with_reference(Constant([1.0]))
    limited = design.lqr(lin, **given, limits=True).with_reference(Constant([1.0]))
    ends = [
        cmb.simulate(plant, made, [0.0], t_end=12.0, output_times=0.02).q.values[:, 0]
        for made in (limited, law | Saturation())
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def test_an_observer_is_told_of_later_limits():
    """Its estimate is that of one whose feedback has the limits itself."""
    plant = slider()
    lin = cmb.linearize(plant, cmb.trim(plant, [0.0]))
    given = {"Q": {"x": 900.0, "x_integral": 2000.0}, "R": 1.0, "integral": ["x"], "period": 0.01}
    L = design.kalman(lin, ("x",), effort_noise=1.0, measurement_noise=1e-6, period=0.01)
    ends = []
    for limits, block in ((True, []), (None, [Saturation()])):
        feedback = design.lqr(lin, **given, limits=limits).with_reference(Constant([1.0]))
        law = ObserverFeedback(feedback, L, ("x",))
        for part in block:
            law = law | part
        ends.append(cmb.simulate(plant, law, [0.0], t_end=6.0, output_times=0.02).q.values[:, 0])
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def test_force_integrals_know_later_limits():
    """Two arms that are to squeeze with more than their motors have: the integral waits, and is back at once."""
    plant = plants.two_arms()
    q = two_arms_configuration(plant)

    def wanted(t):
        return [400.0 if t < 1.0 else 20.0]

    beyond = []
    for chained in (False, True):
        law = ConstraintForcePI(plant, wanted, ["grasp_fx"], ki=20.0, frame="object", on="a", period=1e-3)
        motion = ProjectedInverseDynamics(
            plant, plant.velocity_names[:2], Constant(q[:2]), bandwidth=8.0, consistent=True, period=1e-3
        )
        limited = HybridMotionForce(motion, law) | Saturation(60.0 if chained else 1e9)
        assert limited.integrates
        terms = plant.terms(q, np.zeros(plant.nv))
        state = limited.start(plant)
        for _ in range(50):
            said = limited.evaluate(0.0, terms.with_force(np.zeros(plant.nv)), state)
            state = said.state
        beyond.append(abs(state[0]))
    assert beyond[1] < 0.1 * beyond[0]


def test_the_linear_loop_is_that_without_limits():
    """At rest nothing is cut off: poles as asked for, with the limits behind the law."""
    plant, q = bar()
    law = tracking(plant, integral=3.0)
    expected = [-3.0, -3.0, *np.tile(np.roots([1.0, 2.0 * 0.7 * 8.0, 64.0]), 2)]
    for more in ({}, {"trace_at": q}):
        found = cmb.linearize_closed_loop(plant, law | Saturation(500.0), q, **more).poles()
        assert matched(found, np.array(expected)) < 1e-6


@pytest.mark.parametrize("where", ["saturation", "of the drive"])
def test_code_knows_later_limits_as_python_does(monkeypatch, where):
    plant, q = bar()
    law = tracking(plant, [2.3, 1.2], integral=4.0, period=5e-3)
    chain = law | (Saturation([45.0, 60.0]) if where == "saturation" else ElectricDrive(1.0, current=50.0))
    coded = cmb.simulate(plant, chain, q, t_end=0.5)
    monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    plain = cmb.simulate(plant, chain, q, t_end=0.5)
    assert coded.data.attrs["samples_by_code"] >= 99 or coded.data.attrs["law_code"] != "generated"
    assert plain.data.attrs["samples_by_code"] == 0
    np.testing.assert_allclose(coded.q, plain.q, atol=1e-9)


def random_step(seed):
    """How far a step of a slider goes beyond, against a weak motor: with limits of the law, and of a random chain."""
    rng = np.random.default_rng([seed, 4])
    m, w, step = 10.0 ** rng.uniform(-3.0, 1.0), 10.0 ** rng.uniform(0.0, 1.0), 10.0 ** rng.uniform(-1.0, 0.5)
    most, period = m * step * w * w * rng.uniform(0.03, 0.3), rng.choice([None, 0.03 / w])
    body, joint = cmb.Body.planar("m", m, (0, 0), m), cmb.Prismatic("x", "ground", "m", axis=(1, 0, 0))
    plant = cmb.Mechanism("slider", [body], [joint], actuators=[cmb.Actuator("x", effort=most)])
    given = {"bandwidth": w, "integral": rng.uniform(0.1, 1.0) * w, "period": None if period is None else float(period)}
    lag = 0.01 / w
    chains = {
        "saturation": lambda law: law | Saturation(),
        "drive": lambda law: law | ElectricDrive(0.2, gear=5.0, current=most),
        "lagging drive": lambda law: law | ElectricDrive(0.2, gear=5.0, current=most, time_constant=lag),
        "behind a lag": lambda law: law | FirstOrderActuator(lag) | Saturation(),
        "two": lambda law: law | Saturation(1.5 * most) | Saturation(),
        "in a model": lambda law: WithModel(plant, law) | Saturation(),
    }
    if period is not None:
        chains |= {"delayed": lambda law: law | Delay(float(period)) | Saturation()}
    name = list(chains)[seed % len(chains)]

    def beyond(made):
        run = cmb.simulate(plant, made, [0.0], t_end=60.0 / w, output_times=0.05 / w)
        return float(run.q.values[:, 0].max() / step - 1.0)

    def law(**more):
        return ProjectedInverseDynamics(plant, "x", Constant([step]), **given, **more)

    return name, beyond(law(saturation="clip")), beyond(chains[name](law()))


def require_no_windup(seeds):
    for seed in seeds:
        name, own, found = random_step(seed)
        assert found < 1.2 * own + 0.03, (seed, name, own, found)


@pytest.mark.slow
def test_random_steps_do_not_wind_up():
    require_no_windup(range(7))


@pytest.mark.rotates
def test_more_random_steps_do_not_wind_up():
    require_no_windup(rotating(100))

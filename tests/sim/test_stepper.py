"""The time loop driven from outside, and the same run asked for in different ways."""

import copy
import importlib
import pickle
import warnings

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import (
    Body,
    Contact,
    Engage,
    Lock,
    Mechanism,
    PointOnPlane,
    Prismatic,
    Release,
    Revolute,
    Unlock,
    plants,
)
from cmbcontrol.controllers import Controller
from cmbcontrol.papers.methods import settings
from tests.robustness import landings
from tests.seeds import rotating

five_bar = importlib.import_module("cmbcontrol.plants.five_bar")


class Law(Controller):
    """Sampled; its efforts follow from the time and from what it is told."""

    def __init__(self, period, scale=1.0):
        self.period, self.scale = period, scale

    def effort(self, t, terms, state):
        return self.scale * np.array([0.3 * np.sin(7.0 * t), 0.2 * np.cos(terms.q[0]) + 1e-3 * terms.M[0, 1]])


def constant(u):
    def law(t, terms, state):
        return np.array(u)

    return law


class Held(Controller):
    def __init__(self, u, period):
        self.u, self.period = u, period

    def effort(self, t, terms, state):
        return np.array(self.u)


def stepped(plant, q0, law, period, t_end, v0=None, **options):
    """The states of a stepper under a sampled law."""
    stepper = cmb.Stepper(plant, q0, v0, t_end=t_end, **options)
    states = [stepper.state]
    for _ in range(round(t_end / period)):
        states.append(stepper.step(law(stepper.time, stepper.terms, None), period))
    return stepper, states


def equal(states, run):
    assert [s.time for s in states] == run.time.tolist()
    assert np.array_equal([s.q for s in states], run.q.values)
    assert np.array_equal([s.v for s in states], run.v.values)
    assert np.array_equal([s.actuator_work for s in states], run.actuator_work.values)


STARTS = {
    "regular": lambda plant: plant.assemble(left=2.1, right=1.0),
    "singular": lambda plant: five_bar.configuration(plant, "singular"),
    "second": lambda plant: five_bar.configuration(plant, "second"),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("scale", [1.0, 0.0], ids=["driven", "free"])
def test_the_same_samples_give_the_same_states_to_the_last_bit(start, scale):
    """Through singular passages, too: both of Spencer's starts, which the free motions meet."""
    plant, period = plants.five_bar(), 5e-3
    q0 = STARTS[start](plant)
    run = cmb.simulate(plant, Law(period, scale), q0, t_end=1.0, output_times=period * np.arange(201))
    stepper, states = stepped(plant, q0, Law(period, scale), period, 1.0)
    equal(states, run)
    assert stepper.events() == run.events()
    if scale == 0.0 and start != "regular":
        assert [event["kind"] for event in run.events()] in (["singular start"], ["singular passage"])


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("u", [(0.0, 0.0), (0.3, -0.2)], ids=["free", "driven"])
def test_numbers_and_functions_give_the_same_states_to_the_last_bit(monkeypatch, start, u):
    monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")  # generated code is for numbers only
    plant = plants.five_bar()
    q0 = STARTS[start](plant)
    numbers = cmb.simulate(plant, u, q0, t_end=5.0)
    function = cmb.simulate(plant, constant(u), q0, t_end=5.0)
    assert numbers.data.attrs["steps"] == function.data.attrs["steps"]
    for name in ("q", "v", "a", "u", "multipliers", "energy", "actuator_work"):
        assert np.array_equal(numbers.data[name], function.data[name]), name
    assert numbers.events() == function.events()
    if u == (0.0, 0.0) and start != "regular":
        assert any(event["kind"] == "singular passage" for event in numbers.events())


@pytest.mark.parametrize("start", STARTS)
def test_held_numbers_are_those_of_a_sampled_law_where_steps_are_equal(start):
    """With one sample in all, the steps are the same, too."""
    plant, u = plants.five_bar(), (0.3, -0.2)
    q0 = STARTS[start](plant)
    numbers = cmb.simulate(plant, u, q0, t_end=1.0, method="dop853")
    sampled = cmb.simulate(plant, Held(u, 1.0), q0, t_end=1.0, method="dop853")
    stepper = cmb.Stepper(plant, q0, t_end=1.0, method="dop853")
    last = stepper.step(u, 1.0)
    for run in (numbers, sampled):
        assert np.array_equal(run.q[-1], last.q) and np.array_equal(run.v[-1], last.v)


@pytest.mark.parametrize("name", ["loader", "stewart", "n-four-bar"])
def test_other_machines(name):
    plant, q0, v0 = plants.catalogue[name].start()
    law = Held(np.linspace(1.0, 2.0, plant.nu), 0.01)
    run = cmb.simulate(plant, law, q0, v0, t_end=0.2, output_times=0.01 * np.arange(21), limits="ignore")
    _, states = stepped(plant, q0, law, 0.01, 0.2, v0, limits="ignore")
    equal(states, run)


def test_a_plant_of_functions():
    plant = plants.slider_crank()
    law = Held([0.1] * plant.nu, 0.01)
    run = cmb.simulate(plant, law, [1.2, -2.4], [2.0, -4.0], t_end=0.3, output_times=0.01 * np.arange(31))
    stepper, states = stepped(plant, [1.2, -2.4], law, 0.01, 0.3, [2.0, -4.0])
    equal(states, run)
    assert [event["kind"] for event in stepper.events()] == [event["kind"] for event in run.events()]


def test_copies_go_on_alone_and_alike():
    plant = plants.five_bar()
    law = Law(1e-2)
    stepper, _ = stepped(plant, STARTS["regular"](plant), law, 1e-2, 0.3)
    before = stepper.state
    twins = [stepper.copy(), copy.copy(stepper), copy.deepcopy(stepper)]
    ends = [t.step([1.0, 0.0], 0.1) for t in (stepper, *twins)]
    assert stepper.time > before.time
    for end in ends[1:]:
        assert np.array_equal(end.q, ends[0].q) and np.array_equal(end.v, ends[0].v)
    other = twins[0].step([-1.0, 0.0], 0.1)
    assert not np.array_equal(other.q, stepper.step([1.0, 0.0], 0.1).q)


def test_a_copy_at_a_singular_start():
    plant = plants.five_bar()
    stepper = cmb.Stepper(plant, STARTS["singular"](plant))
    twin = stepper.copy()
    assert np.array_equal(stepper.step([0.0, 0.0], 0.1).q, twin.step([0.0, 0.0], 0.1).q)


def test_reset():
    plant = plants.five_bar()
    stepper, states = stepped(plant, STARTS["regular"](plant), Law(1e-2), 1e-2, 0.1)
    state = stepper.reset()
    assert state.time == 0.0 and np.array_equal(state.q, states[0].q) and stepper.events() == []
    again = [state] + [stepper.step(Law(1e-2)(stepper.time, stepper.terms, None), 1e-2) for _ in range(10)]
    assert np.array_equal(again[-1].q, states[-1].q)
    other = plant.assemble(left=2.0, right=1.1)
    assert np.array_equal(stepper.reset(other).q, other)
    assert np.array_equal(stepper.reset().q, other)


def test_steps_of_different_lengths_meet_a_long_one():
    plant = plants.five_bar()
    q0 = STARTS["regular"](plant)
    one = cmb.Stepper(plant, q0).step([0.2, 0.1], 0.5)
    stepper = cmb.Stepper(plant, q0)
    for dt in (0.1, 0.05, 0.0123, 0.0377, 0.3):
        state = stepper.step([0.2, 0.1], dt)
    assert state.time == pytest.approx(0.5, abs=1e-15)
    assert np.abs(state.q - one.q).max() < 1e-8


def test_terms_are_those_of_the_plant():
    plant = plants.five_bar()
    stepper, _ = stepped(plant, STARTS["regular"](plant), Law(1e-2), 1e-2, 0.1)
    here, state = stepper.terms, stepper.state
    exact = plant.terms(state.q, state.v, state.time)
    for name in ("M", "A", "b", "h", "B"):
        assert np.abs(getattr(here, name) - getattr(exact, name)).max() < 1e-9, name
    assert here.t == state.time
    here.M[:] = 0.0  # a copy
    assert stepper.terms.M.any()


def test_events_and_limits():
    bar = cmb.Body.planar("bar", 1.0, 0.5, 0.1)
    joint = cmb.Revolute("swing", "ground", "bar", axis=(0, 0, 1), limits=(-1.7, np.inf))
    plant = cmb.Mechanism("pendulum", [bar], [joint], [], gravity=(0.0, -9.81, 0.0))
    level = cmb.Event(lambda t, q, v: q[0] + 1.0, "level")
    stepper = cmb.Stepper(plant, [0.0], events=[level], limits="warn")
    with pytest.warns(cmb.errors.LimitWarning, match="lower limit of 'swing'") as told:
        for _ in range(300):
            stepper.step(np.zeros(0), 0.01)
    assert len(told) == 1 and told[0].filename == __file__
    kinds = [event["kind"] for event in stepper.events()]
    assert kinds.count("level") >= 3 and kinds.count("lower limit swing") >= 2
    run = cmb.simulate(plant, q0=[0.0], t_end=3.0, events=[level], limits="ignore")
    times = [event["time"] for event in stepper.events() if event["kind"] == "level"]
    assert times == pytest.approx([event["time"] for event in run.events()], abs=1e-8)


def test_a_terminal_event_ends_the_steps():
    plant = plants.five_bar()
    level = cmb.Event(lambda t, q, v: q[0] - 2.5, "level", terminal=True)
    stepper = cmb.Stepper(plant, STARTS["regular"](plant), events=[level])
    state = stepper.step([0.0, 0.0], 2.0)
    assert state.time < 1.0 and abs(state.q[0] - 2.5) < 1e-9
    assert stepper.ended == "The event 'level' ended the run."
    with pytest.raises(cmb.errors.SimulationError, match=r"'level' ended the run\. reset"):
        stepper.step([0.0, 0.0], 0.1)
    assert stepper.reset().time == 0.0 and stepper.ended == ""


@pytest.mark.parametrize(
    ("u", "dt", "kind", "says"),
    [
        ([1.0], 0.1, ValueError, "the efforts u"),
        ([np.nan, 0.0], 0.1, ValueError, "the efforts u"),
        ([0.0, 0.0], -0.1, ValueError, "dt"),
        ([0.0, 0.0], "0.1", TypeError, "dt"),
        (["a", "b"], 0.1, TypeError, "the efforts u"),
    ],
)
def test_wrong_steps_are_refused_and_change_nothing(u, dt, kind, says):
    plant = plants.five_bar()
    stepper = cmb.Stepper(plant, STARTS["regular"](plant))
    with pytest.raises(kind, match=says):
        stepper.step(u, dt)
    assert stepper.time == 0.0


def test_a_motion_that_cannot_go_on_is_told():
    plant = cmb.FunctionPlant(
        "wall", ("x",), M=lambda q: np.eye(1) if q[0] < 1.0 else -np.eye(1), h=lambda q, v: np.zeros(1),
        Phi=lambda q: np.zeros(0), A=lambda q: np.zeros((0, 1)), Adot_v=lambda q, v: np.zeros(0), B=np.eye(1),
        actuators=("x",),
    )  # fmt: skip
    stepper = cmb.Stepper(plant, [0.0], [1.0])
    with pytest.raises(cmb.errors.SimulationError, match=r"'wall' end at t = 1 s: .*mass matrix.* It was at x = 1"):
        stepper.step([0.0], 3.0)
    assert stepper.time == pytest.approx(1.0, abs=1e-6)


def test_a_first_step_that_is_too_short_to_tell_the_branch():
    plant = plants.five_bar()
    stepper = cmb.Stepper(plant, STARTS["singular"](plant))
    with pytest.raises(cmb.errors.SimulationError, match=r"'five-bar' cannot go on at t = 0 s.*blurred by rounding"):
        stepper.step([0.3, 0.0], 1e-4)
    assert stepper.time == 0.0
    assert stepper.step([0.3, 0.0], 0.01).time == 0.01


def test_an_event_that_fails_once_does_not_end_the_steps():
    broken = [False]

    def sometimes(t, q, v):
        if broken[0]:
            raise ValueError("gone")
        return 1.0

    plant = plants.five_bar()
    stepper = cmb.Stepper(plant, STARTS["regular"](plant), events=[sometimes])
    stepper.step([0.0, 0.0], 0.1)
    broken[0] = True
    with pytest.raises(cmb.errors.EventError, match=r"'sometimes' failed at t = 0\.1"):
        stepper.step([0.0, 0.0], 0.1)
    assert stepper.time == 0.1
    broken[0] = False
    assert stepper.step([0.0, 0.0], 0.1).time == pytest.approx(0.2)


def test_long_steps_leave_no_trace_of_blocks():
    """More steps of the method than a block holds."""
    plant = plants.five_bar()
    q0 = STARTS["regular"](plant)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = cmb.Stepper(plant, q0, t_end=4.0, method=cmb.Integrator("dop853", max_step=5e-3)).step([0.0, 0.0], 4.0)
    run = cmb.simulate(plant, [0.0, 0.0], q0, t_end=4.0, **settings(max_step=5e-3, method="dop853"))
    assert run.data.attrs["steps"] > 700
    assert np.array_equal(run.q[-1], whole.q)


# -- contacts, stops, switches and exact friction, as `simulate` has them, to the last bit -------------------------


class Swinging(Controller):
    """Sampled; its efforts follow from the time and from what it is told."""

    def __init__(self, period, plant):
        self.period, self.size = period, plant.nu

    def effort(self, t, terms, state):
        return 0.1 * np.sin(7.0 * t + np.arange(self.size)) - 0.05 * (terms.B.T @ terms.v)


def both(plant, q0, v0, period, t_end, **options):
    """A run, and the stepper and its states under the same law."""
    law, count = Swinging(period, plant), round(t_end / period)
    run = cmb.simulate(plant, law, q0, v0, t_end=t_end, output_times=period * np.arange(count + 1), **options)
    stepper = cmb.Stepper(plant, q0, v0, t_end=t_end, **options)
    return run, stepper, [step(stepper, law) for _ in range(count)]


def step(stepper, law):
    return stepper.step(law.effort(stepper.time, stepper.terms, None), law.period)


def require_equal(run, stepper, states):
    """What happens at the start is settled by the first step."""
    assert [s.time for s in states] == run.time[1:].tolist()
    assert np.array_equal([s.q for s in states], run.q.values[1:])
    assert np.array_equal([s.v for s in states], run.v.values[1:])
    assert np.array_equal([s.actuator_work for s in states], run.actuator_work.values[1:])
    assert told(stepper.events()) == [event for event in told(run.events()) if event[0] < run.time[-1]]


def told(events):
    return [(event["time"], event["kind"], event["loss"]) for event in events]


def ball():
    joint = Prismatic("height", "ground", "ball")
    body = Body("ball", 2.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    return Mechanism("ball", [body], [joint], [PointOnPlane("floor", "ground", "ball")])


@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_a_ball_bounces_to_rest(restitution):
    run, stepper, states = both(ball(), [1.0], None, 1e-2, 4.0, switches=Contact("floor", restitution=restitution))
    require_equal(run, stepper, states)
    assert len(run.events()) > 1
    assert states[-1].impact_loss == pytest.approx(2.0 * 9.81 * 1.0, rel=1e-3)
    assert states[-1].impact_loss == float(run.data.impact_loss[-1])


def test_end_stops_and_dry_friction():
    joint = Revolute("swing", "ground", "rod", limits=(-1.0, 0.2), restitution=0.5)
    rub = cmb.JointForce("rub", "swing", cmb.characteristics.Friction(0.3))
    plant = Mechanism("rod", [Body.rod("rod", 1.0, 1.0)], [joint], forces=[rub], gravity=(0.0, -9.81, 0.0))
    run, stepper, states = both(plant, [0.0], None, 1e-2, 3.0, friction="exact")
    require_equal(run, stepper, states)
    kinds = {event["kind"].split()[0] for event in run.events()}
    assert {"impact", "engaged", "slides"} <= kinds


def test_switches_by_time_and_condition():
    plant = plants.five_bar()
    switches = [
        Lock("left", at=0.3),
        Unlock("left", at=0.5000001),  # between samples
        Lock("right", when=lambda t, q, v: t - 0.60001),
        Unlock("right", at=0.9),
    ]
    run, stepper, states = both(plant, plant.assemble(left=2.1, right=1.0), None, 5e-3, 1.2, switches=switches)
    require_equal(run, stepper, states)
    assert len(run.events()) == 4


def test_engage_and_release():
    plant = plants.grasping_arms()
    q = plant.assemble()
    name = plant.loops[-1].name
    switches = [Release(name, at=0.1), Engage(name, at=0.15, capture=True)]
    run, stepper, states = both(plant, q, None, 1e-2, 0.4, switches=switches)
    require_equal(run, stepper, states)
    assert len(run.events()) == 2


@pytest.mark.rotates
def test_random_landings_to_the_last_bit_with_copies_on_the_way():
    refused = 0
    for seed in rotating(8):
        _, plant, contacts, q, v = landings.drawing(seed)
        options = {"switches": contacts, "friction": "exact" if plant.forces else "smooth"}
        law = Swinging(1e-2, plant)
        stepper, copies = cmb.Stepper(plant, q, v, t_end=0.8, **options), []
        try:
            run = cmb.simulate(plant, law, q, v, t_end=0.8, output_times=1e-2 * np.arange(81), **options)
        except cmb.CmbError as error:
            with pytest.raises(cmb.CmbError) as ended:
                [step(stepper, law) for _ in range(80)]
            assert type(ended.value) is type(error)
            refused += 1
            continue
        states = []
        for k in range(80):
            states.append(step(stepper, law))
            if k in (20, 50):
                copies += [stepper.copy(), copy.deepcopy(stepper), pickle.loads(pickle.dumps(stepper))]
            for other in copies if k > 50 else copies[:3] if k > 20 else ():
                if k not in (20, 50):
                    step(other, law)
        require_equal(run, stepper, states)
        for other in copies[3:]:
            assert np.array_equal(other.state.q, states[-1].q)
            assert np.array_equal(other.state.v, states[-1].v)
            assert told(other.events()) == told(stepper.events())
    assert refused <= 4  # Painleve's paradox


def test_copies_have_their_own_contacts():
    stepper = cmb.Stepper(ball(), [1.0], t_end=4.0, switches=Contact("floor", restitution=0.5))
    for _ in range(40):
        stepper.step([], 1e-2)
    other = pickle.loads(pickle.dumps(stepper))
    for _ in range(60):
        stepper.step([], 1e-2)
    assert other.time == 0.4 and not other.events()
    for _ in range(60):
        other.step([], 1e-2)
    assert other.state.impact_loss == stepper.state.impact_loss
    assert np.array_equal(other.state.q, stepper.state.q)
    again = stepper.reset()
    assert again.impact_loss == 0.0 and stepper.events() == []


def test_a_start_inside_a_contact_is_refused():
    with pytest.raises(cmb.CmbError, match="inside"):
        cmb.Stepper(ball(), [-0.1], switches=Contact("floor")).step([], 1e-2)


def test_a_start_beyond_a_stop_is_refused():
    plant = Mechanism("rod", [Body.rod("rod", 1.0, 1.0)], [Revolute("swing", "ground", "rod", limits=(-1.0, 0.2))])
    with pytest.raises(ValueError, match="beyond its upper limit"):
        cmb.Stepper(plant, [0.3])

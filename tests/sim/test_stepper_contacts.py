"""Steps of one's own through contacts, stops, switches and exact friction: those of `simulate`, to the last bit."""

import copy
import pickle

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
from tests.robustness import landings
from tests.seeds import rotating


class Law(Controller):
    """Sampled; its efforts follow from the time and from what it is told."""

    def __init__(self, period, plant):
        self.period, self.size = period, plant.nu

    def effort(self, t, terms, state):
        return 0.1 * np.sin(7.0 * t + np.arange(self.size)) - 0.05 * (terms.B.T @ terms.v)


def both(plant, q0, v0, period, t_end, **options):
    """A run, and the stepper and its states under the same law."""
    law, count = Law(period, plant), round(t_end / period)
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
        law = Law(1e-2, plant)
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

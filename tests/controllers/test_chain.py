"""Sensors, a law and effort blocks in a row: composition, order, and the loop that a chain stands for."""

import copy

import numpy as np
import pytest

from cmbcontrol import Constant, plants, simulate
from cmbcontrol.controllers import (
    ConstraintForcePI,
    Controller,
    Delay,
    DriveFriction,
    ElectricDrive,
    Encoder,
    Evaluation,
    FilteredDifference,
    FirstOrderActuator,
    ForwardKinematics,
    FrictionCompensation,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
    SensorBlock,
    WithModel,
)
from cmbcontrol.controllers.chain import Chain
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import InputError, InputTypeError
from tests.fixtures import Told, largest, rotor


def sampled(plant):
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.0]), bandwidth=8.0, period=1e-3)
    return FilteredDifference(0.01) | law | Saturation(20.0) | RateLimit(1e3)


def test_a_chain_knows_a_state_by_its_numbers(plant, terms):
    """What went through is kept for the next question, not for a state that was written over in between."""
    chain = sampled(plant)
    state = chain.start(plant)
    state[0] = 1.0
    first = chain(0.0, terms, state)
    state[-2:] = 3.0, 5.0
    second = chain(0.0, terms, state)
    assert second.tolist() != first.tolist()
    assert second.tolist() == sampled(plant)(0.0, terms, state).tolist()
    assert second.tolist() == chain(0.0, terms, state.tolist()).tolist()


def test_the_next_states_of_a_chain_are_those_of_its_blocks(plant, terms):
    chain = sampled(plant)
    state = chain.start(plant)
    state[0], state[1:5] = 1.0, terms.q - 1e-3
    after = chain.evaluate(0.0, terms, state).state
    assert after[:9].tolist() == chain.sensors[0].update(0.0, terms.q, terms.v, state[:9]).tolist()
    assert after[9:].tolist() == chain(0.0, terms, state).tolist()


def test_a_block_of_your_own():
    class Biased(SensorBlock):
        def measured(self, t, q, v, state):
            return q + 0.1, v

    told = Told(rotor())
    (Biased() | told)(0.0, rotor().terms([0.5], [0.0]), np.zeros(0))
    assert told.heard[0][1] == 0.6


T = 2e-3


def tracking(plant, period=T, target=(2.0, 1.2)):
    return ProjectedInverseDynamics(
        plant, ("left", "right"), Constant(list(target)), kp=[40.0, 48.0], kd=[14.0, 13.9], period=period
    )


class Integral(Controller):
    """A law with states and a report."""

    def __init__(self, plant, period=T):
        self.plant, self.period, self.law = plant, period, tracking(plant, period)

    def start(self, plant):
        return np.array([0.5, -0.5])

    def evaluate(self, t, terms, state):
        return Evaluation(
            self._effort(t, terms, state),
            self._moved(t, terms, state),
            self._report(t, terms, state),
        )

    def _effort(self, t, terms, state):
        return self.law(t, terms, np.zeros(0)) + state

    def _moved(self, t, terms, state):
        return self._derivative(t, terms, state) if self.period is None else self._update(t, terms, state)

    def _update(self, t, terms, state):
        return state + self.period * self._derivative(t, terms, state)

    def _derivative(self, t, terms, state):
        return 50.0 * (self.law.reference(t)[0] - terms.q[[0, 2]])

    def _report(self, t, terms, state):
        return {"integral": state[0]}


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar(effort=60.0)


@pytest.fixture(scope="module")
def pose(plant):
    return plant.assemble(left=2.1, right=1.0)


# -- composition -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [None, T])
def test_a_chain_of_nothing_is_the_law(plant, pose, period):
    law = Integral(plant, period)
    chain = Chain(law)
    assert chain.period == period
    runs = [simulate(plant, x, pose, t_end=0.1, output_times=0.05) for x in (law, chain)]
    assert largest(runs[0].q.values[-1] - pose) > 1e-3
    assert largest(runs[0].q.values - runs[1].q.values) == 0.0
    assert runs[1].report.sel(quantity="integral").values == pytest.approx(runs[0].report.values[:, 0], nan_ok=True)


def test_it_reads_from_left_to_right(plant):
    law = tracking(plant)
    sensors = Encoder(bits=12) | FilteredDifference(0.01)
    efforts = Saturation() | Delay(T) | FirstOrderActuator(0.01) | DriveFriction(1.0)
    whole = sensors | law | efforts
    one_by_one = (
        Encoder(bits=12) | FilteredDifference(0.01) | law | Saturation() | Delay(T) | FirstOrderActuator(0.01)
    ) | DriveFriction(1.0)
    assert (
        str(whole)
        == str(one_by_one)
        == (
            "Encoder | FilteredDifference | ProjectedInverseDynamics | Saturation | Delay | FirstOrderActuator "
            "| DriveFriction"
        )
    )
    assert whole.law is law
    assert whole.plant is plant
    assert [type(x).__name__ for x in whole.blocks] == ["Saturation", "Delay"]
    assert [type(x).__name__ for x in whole.drive.blocks] == ["FirstOrderActuator", "DriveFriction"]
    assert whole.without(Encoder, Delay).name.count("|") == 4
    assert whole.without(FirstOrderActuator, DriveFriction).drive is None
    assert repr(whole).startswith("<Chain Encoder | Filtered")


def test_functions_and_numbers_are_laws(plant, pose):
    terms = plant.terms(pose, np.zeros(4))

    def law(t, terms, state):
        return [70.0, -5.0]

    for given in (law, np.array([70.0, -5.0]), [70.0, -5.0]):
        chain = given | Saturation(plant=plant)
        assert chain(0.0, terms, chain.start(plant)) == pytest.approx([60.0, -5.0])
        assert chain.period is None
    assert chain.reference is None and chain.coordinates is None
    assert chain.delay is None
    assert chain.drive is None


def test_order_matters(plant, pose):
    """A rate limit after a saturation begins at once to come down; before it, it winds up."""

    class Steps(Controller):
        period, plant = T, None

        def effort(self, t, terms, state):
            return np.full(2, 100.0 if t < 5.5 * T else 0.0)

    found = []
    terms = plant.terms(pose, np.zeros(4))
    for chain in (Steps() | Saturation(40.0) | RateLimit(1e4), Steps() | RateLimit(1e4) | Saturation(40.0)):
        state, u = chain.start(plant), []
        for k in range(12):
            u.append(chain(k * T, terms, state)[0])
            state = chain.evaluate(k * T, terms, state).state
        found.append(u)
    assert found[0] == pytest.approx([20, 40, 40, 40, 40, 40, 20, 0, 0, 0, 0, 0])
    assert found[1] == pytest.approx([20, 40, 40, 40, 40, 40, 40, 40, 40, 20, 0, 0])


@pytest.mark.nojit_slow
def test_saturation_is_never_exceeded(plant):
    law = tracking(plant, 1e-3, (2.4, 0.6)) | Saturation() | RateLimit(1e4, initial=[-31.5, 32.9])
    run = simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.3, output_times=1e-3)
    assert np.abs(run.u.values).max() == 60.0
    assert largest(np.diff(run.u.values[:-1], axis=0)) < 10.0 + 1e-9
    added = run.report.sel(quantity="saturation_right").values
    assert np.abs(added).max() > 1.0
    assert added[-1] == 0.0


def test_a_sampled_chain_against_a_loop_by_hand(plant, pose):
    """The same written out: rounding, differences, integral, limits, delay of a period, actuator behind the hold."""
    law, tau, slow, limit, step = Integral(plant), 0.008, 0.004, 45.0, 1e-4
    chain = (
        Encoder(resolution=step)
        | FilteredDifference(slow)
        | law
        | Saturation(limit)
        | RateLimit(4e3)
        | Delay(T, initial=0.0)
        | FirstOrderActuator(tau)
    )
    count = 12
    run = simulate(plant, chain, pose, t_end=count * T, output_times=T, rtol=1e-10, atol=1e-10)

    def field(y, command):
        q, v, u = np.split(y, [4, 8])
        return np.concatenate([v, forward_dynamics(plant, q, v, u), (command - u) / tau])

    y = np.concatenate([pose, np.zeros(6)])
    c, last, filtered, limited, command = law.start(plant), None, np.zeros(4), np.zeros(2), np.zeros(2)
    for k in range(count):
        assert largest(run.q.values[k] - y[:4]) < 1e-8
        assert largest(run.u.values[k] - y[8:]) < 1e-5
        q = np.round(y[:4] / step) * step
        a = np.exp(-T / slow)
        filtered = a * filtered + (1 - a) * (q - (q if last is None else last)) / T
        terms = plant.terms(q, filtered)
        u = np.clip(law(k * T, terms, c), -limit, limit)
        u = np.clip(u, limited - 4e3 * T, limited + 4e3 * T)
        c, last, limited = law.evaluate(k * T, terms, c).state, q, u
        n = 20
        for _ in range(n):  # Runge-Kutta
            h = T / n
            k1 = field(y, command)
            k2 = field(y + 0.5 * h * k1, command)
            k3 = field(y + 0.5 * h * k2, command)
            k4 = field(y + h * k3, command)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        command = u
    assert largest(run.q.values[-1] - pose) > 1e-3


def test_what_follows_the_machine_is_in_the_machine(plant, pose):
    """A saturation behind an actuator cuts in continuous time; friction sees the true velocity."""
    law = Encoder(noise=0.1) | tracking(plant) | FirstOrderActuator(0.01) | Saturation(20.0)
    assert law.blocks == ()
    terms, u = plant.terms(pose, np.zeros(4)), np.zeros(2)
    assert law.drive.evaluate(0.0, terms, u, np.array([30.0, -10.0])).effort == pytest.approx([20.0, -10.0])
    assert law.drive.evaluate(0.0, terms, u, np.array([30.0, -10.0])).state == pytest.approx([-3000.0, 1000.0])
    moving = plant.terms(pose, plant.project_velocity(pose, [1.0, 0, 0.5, 0]))
    drive = (Encoder(noise=0.1) | tracking(plant) | DriveFriction(viscous=2.0)).drive
    assert drive.evaluate(0.0, moving, u, np.zeros(0)).effort == pytest.approx(-2.0 * moving.v[[0, 2]])


def test_purity(plant, pose):
    """The same arguments, the same answer, in any order; the latest answer that is kept does not leak."""
    chain = Encoder(noise=1e-3) | FilteredDifference(0.01) | Integral(plant) | RateLimit(1e3)
    terms = [plant.terms(pose, np.zeros(4)), plant.terms(plant.assemble(left=2.0, right=1.2), np.zeros(4))]
    state = chain.start(plant)
    first = chain.evaluate(0.0, terms[0], state).state
    u = chain(0.0, terms[1], first)
    chain(T, terms[0], state)
    assert chain(0.0, terms[1], first) == pytest.approx(u, abs=0.0)
    changed = first.copy()
    assert largest(chain(0.0, terms[1], changed) - u) == 0.0
    changed[-1] += 1.0  # the last effort, from which the rate limit of 2 N m a sample counts
    assert chain(0.0, terms[1], changed)[1] == pytest.approx(u[1] + 1.0)
    assert largest(copy.copy(chain)(0.0, terms[1], first) - u) == 0.0


def test_states_and_their_names(plant, pose):
    chain = FilteredDifference(0.01) | Integral(plant) | RateLimit(1e3)
    names = chain.state_names(plant)
    assert names[0] == "difference_begun"
    assert names[1:3] == ["left_last", "elbow_left_last"]
    assert names[9:] == ["law_1", "law_2", "left_limited", "right_limited"]
    state = chain.start(plant)
    assert state.size == len(names)
    assert state[9:11] == pytest.approx([0.5, -0.5])
    after = chain.evaluate(0.0, plant.terms(pose, np.zeros(4)), state).state
    assert after[:9] == pytest.approx([1.0, *pose, 0, 0, 0, 0])


def test_reports(plant, pose):
    chain = (
        Encoder(resolution={"left": 0.5})
        | FilteredDifference(0.01)
        | Integral(plant)
        | Saturation({"left": 0.0})
        | Saturation()
        | FirstOrderActuator(0.01)
    )
    terms = plant.terms(pose, np.zeros(4))
    found = chain.evaluate(0.0, terms, chain.start(plant)).reported()
    assert found["integral"] == 0.5
    assert found["encoder_left"] == pytest.approx(-0.1)
    assert found["encoder_right"] == 0.0
    assert found["filtered_difference_left"] == 0.0
    assert "saturation_left" in found
    assert "saturation_2_left" in found
    assert not any(name.startswith("first_order") for name in found)
    run = simulate(plant, chain, pose, t_end=0.01, output_times=T)
    assert run.report.sel(quantity="encoder_left").values[0] == pytest.approx(-0.1)


# -- models, references, forces ---------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_models_inside_and_outside(plant, pose):
    """A chain on a model, and a law on a model in a chain; the drive and its friction stay the machine's."""
    model = plants.five_bar(effort=60.0, closure="revolute")
    law = tracking(model)
    blocks = (Saturation(), Delay(5e-4), FirstOrderActuator(0.005), DriveFriction(1.0, viscous=0.5))
    outside = WithModel(model, Chain(law, *blocks))
    inside = Chain(WithModel(model, law), *blocks)
    assert outside.period == inside.period == T
    assert outside.delay == inside.delay == 5e-4
    assert inside.plant is model
    runs = [
        simulate(plant, x, pose, t_end=0.1, output_times=0.02, rtol=1e-9, atol=1e-9)
        for x in (Chain(tracking(plant), *blocks), inside, outside)
    ]
    assert largest(runs[0].q.values[-1] - pose) > 1e-3
    for run in runs[1:]:
        assert largest(run.q.values - runs[0].q.values) < 1e-9
    # a law that brings its drive along
    more = outside | DriveFriction(1.0)
    assert len(more.drive.blocks) == 2
    assert more.drive.start(plant).size == 2
    with pytest.raises(ValueError, match=r"belongs to the controller and cannot follow the drive of the law"):
        outside | Delay(1e-3)
    # sensors on a model: their terms are the model's
    chain = WithModel(model, Encoder(noise=0.0) | tracking(plant))
    assert chain.law.plant is not None
    assert chain(0.0, plant.terms(pose, np.zeros(4)), np.zeros(0)) == pytest.approx(
        law(0.0, model.terms(pose, np.zeros(4)), np.zeros(0))
    )


def test_another_reference_is_its_own(plant):
    law = tracking(plant)
    chain = law | Saturation()
    other = copy.copy(chain)
    other = other.with_reference(Constant([2.1, 1.0]))
    assert chain.reference is law.reference
    assert other.reference is other.law.reference is not law.reference
    assert chain.coordinates == ("left", "right")


@pytest.mark.nojit_slow
@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_a_law_that_measures_forces(plant):
    """In a chain of harmless blocks it runs as without."""
    arms = plants.two_arms()
    q = plants.catalogue["two-arms"].initial(arms)[0]
    for period in (None, 1e-3):
        law = ConstraintForcePI(arms, [50.0], ["grasp_fx"], kp=0.3, ki=20.0, frame="object", on="a", period=period)
        chain = law | Saturation(1e6)
        assert chain.measures_force
        runs = [simulate(arms, x, q, t_end=0.02, output_times=0.005, rtol=1e-9, atol=1e-9) for x in (law, chain)]
        assert largest(runs[0].u.values) > 1.0
        assert largest(runs[0].u.values - runs[1].u.values) < 1e-9


def test_the_measured_force_reaches_the_law(plant, pose):
    """Through sensors, and through a model; in continuous time only where efforts are not asked for."""
    heard = []

    class Listens(Controller):
        measures_force = True

        def __init__(self, period):
            self.plant, self.period = plant, period

        def start(self, plant):
            return np.zeros(1)

        def evaluate(self, t, terms, state):
            heard.append(None if terms.force is None else terms.force[0])
            return Evaluation(np.zeros(2), state)

    terms = plant.terms(pose, np.zeros(4)).with_force(np.full(4, 7.0))
    sampled = Encoder(noise=1e-3) | WithModel(plant, Listens(T)) | Saturation(1.0)
    sampled.evaluate(0.0, terms, sampled.start(plant))
    assert heard == [7.0]
    continuous = WithModel(plant, Listens(None) | Saturation(1.0))
    assert continuous.measures_force
    continuous.evaluate(0.0, terms, continuous.start(plant))
    continuous.evaluate(0.0, terms.with_force(None), continuous.start(plant))
    assert heard[1:] == [7.0, None]
    heard.clear()
    simulate(plant, continuous, pose, t_end=1e-3)
    assert heard[0] is None and all(x is None for x in heard[1::2][:3]) and all(np.isfinite(heard[2::2][:3]))


# -- words -------------------------------------------------------------------------------------------------


def test_what_does_not_fit(plant, pose):
    law = tracking(plant)
    with pytest.raises(TypeError, match="a chain has one law, got ProjectedInverseDynamics and <lambda>"):
        Chain(law, lambda t, terms, state: np.zeros(2))
    with pytest.raises(TypeError, match="one law, got ProjectedInverseDynamics and ProjectedInverseDynamics"):
        (law | Saturation()) | (Encoder() | law)
    with pytest.raises(ValueError, match=r"Encoder.* stands right of the law ProjectedInverseDynamics: sensors come"):
        law | Encoder(0.1)
    with pytest.raises(ValueError, match=r"Saturation.* stands left of the law ProjectedInverseDynamics"):
        Saturation() | law
    with pytest.raises(ValueError, match=r"Delay.* belongs to the controller and cannot follow FirstOrderActuator"):
        law | FirstOrderActuator(0.1) | Delay(1e-3)
    with pytest.raises(ValueError, match=r"FrictionCompensation.* cannot follow DriveFriction"):
        law | DriveFriction(1.0) | FrictionCompensation(DriveFriction(1.0))
    with pytest.raises(ValueError, match=r"RateLimit.* needs a time constant.*before the blocks of the machine"):
        law | FirstOrderActuator(0.1) | RateLimit(10.0)
    with pytest.raises(TypeError, match="a block, a controller or numbers, got 'law'"):
        Chain("law", Saturation())
    with pytest.raises(TypeError, match=r"Saturation\(.*\) is a block without a law; it stands right of a law"):
        simulate(plant, Saturation(), pose, t_end=0.1)
    with pytest.raises(TypeError, match=r"Encoder.* is a block without a law; sensors stand left"):
        simulate(plant, Encoder(), pose, t_end=0.1)
    with pytest.raises(TypeError, match=r"the chain Encoder \| FilteredDifference has no law"):
        simulate(plant, Encoder() | FilteredDifference(0.1), pose, t_end=0.1)
    with pytest.raises(ValueError, match=r"ForwardKinematics.* is read at samples, and the law"):
        ForwardKinematics(("left", "right")) | tracking(plant, None)
    with pytest.raises(TypeError, match="kinds of blocks, such as Encoder"):
        (law | Saturation()).without(ProjectedInverseDynamics)
    other = plants.parallel_four_bar()
    with pytest.raises(ValueError, match="the controller was made for 'five-bar'"):
        simulate(other, law | Saturation(), other.assemble(q1=1.0, q2=2.0), t_end=0.1)
    with pytest.raises(ValueError, match="the controller was made for 'five-bar'"):
        law | Saturation() | FirstOrderActuator(0.1, plant=other)
    with pytest.raises(TypeError, match="the plant of a block must be a plant"):
        law | Saturation(plant=law)


@pytest.mark.parametrize("make", [
    lambda x: Saturation(x),
    lambda x: Saturation({"left": x}),
    lambda x: Delay(x),
    lambda x: FirstOrderActuator(x),
    lambda x: RateLimit(x),
    lambda x: DriveFriction(coulomb=x),
    lambda x: ElectricDrive(0.1, gear={"left": x}),
    lambda x: Encoder(noise=x),
])  # fmt: skip
@pytest.mark.parametrize("wrong", ["1.0", -1.0, np.nan])
def test_impossible_values_are_refused_when_a_block_is_made(make, wrong):
    """Not when it meets a law: which motors there are is known only then, what no motor takes is known before."""
    with pytest.raises((InputError, InputTypeError), match="must be"):
        make(wrong)

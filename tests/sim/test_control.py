"""What drives a plant in a run: samples, delays, drives, measured forces."""

from functools import partial

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Controller, Drive, Evaluation, ProjectedInverseDynamics
from cmbcontrol.errors import InputError, InputTypeError, SimulationError
from cmbcontrol.papers.methods import settings
from tests.fixtures import Asks


class Lag(Drive):
    """A first-order actuator, written down by hand."""

    def __init__(self, time_constant, nu=1):
        self.time_constant, self.nu = time_constant, nu

    def start(self, plant):
        return np.zeros(self.nu)

    def evaluate(self, t, terms, command, state):
        return Evaluation(self._effort(t, terms, command, state), self._derivative(t, terms, command, state))

    def _effort(self, t, terms, command, state):
        return state

    def _derivative(self, t, terms, command, state):
        return (command - state) / self.time_constant


def velocity(steps, t):
    """Velocity under efforts that change at given times: [(time, effort)]."""
    ends = [time for time, _ in steps[1:]] + [np.inf]
    return sum(u * max(0.0, min(t, end) - start) for (start, u), end in zip(steps, ends, strict=True)) / 2.0


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01, 0.017, 0.02, 0.035])
@pytest.mark.parametrize("method", ["dop853", "local-dop853", "radau"])
def test_efforts_act_a_delay_after_their_sample(cart, delay, method):
    law = Asks(lambda t: np.array([1.0 + 100.0 * t]), 0.01, delay=delay, initial_effort=0.0)
    run = cmb.simulate(cart, law, [0.0], t_end=0.1, output_times=0.005, **settings(method=method))
    steps = [(0.0, 0.0)] + [(0.01 * k + delay, 1.0 + k) for k in range(10)]
    wanted = [velocity(steps, t) for t in run.time]
    assert np.allclose(run.v[:, 0], wanted, atol=1e-9)
    late = (run.time > delay + 1e-9) & (run.time < 0.1)
    assert np.allclose(run.u[late, 0], 1.0 + np.floor((run.time[late] - delay) / 0.01 + 1e-9))
    assert (run.u[run.time < delay - 1e-9] == 0.0).all()


def test_each_motor_has_its_own_delay():
    plant = plants.five_bar()
    law = Asks(lambda t: np.array([1.0, 2.0]), 0.01, delay=(0.0, 0.015), initial_effort=(5.0, 0.0))
    run = cmb.simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.03, output_times=0.005)
    assert run.u[:, 0].values.tolist() == [1.0] * 7
    assert run.u[:, 1].values.tolist() == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0]


def test_until_the_first_effort_arrives_the_first_one_acts(cart):
    """Not none: a machine that was at rest under its law would fall for as long as the delay."""
    held = Asks(lambda t: np.array([1.0 + 100.0 * t]), 0.01, delay=0.015)
    run = cmb.simulate(cart, held, [0.0], t_end=0.04, output_times=0.005)
    assert run.u[:, 0].values.tolist() == [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    with pytest.raises(ValueError, match="initial effort of Asks must be finite"):
        cmb.simulate(cart, Asks(held.asks, 0.01, delay=0.015, initial_effort=np.nan), [0.0], t_end=0.1)


@pytest.mark.nojit_slow
def test_arrivals_that_are_one_but_for_rounding_are_one(cart):
    plant = plants.five_bar()
    law = Asks(lambda t: np.array([1.0, 2.0]), 1e-3, delay=(2e-4, 1.2e-3))
    run = cmb.simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.03)
    assert run.data.attrs["steps"] < 70  # two a period


@pytest.mark.parametrize("method", ["dop853", "local-dop853", "radau", "rodas5p"])
def test_a_drive_is_integrated_between_the_samples(cart, method):
    tau, tight = 0.02, {} if method.endswith("dop853") else {"rtol": 1e-10, "atol": 1e-10}
    law = Asks(lambda t: np.array([1.0]), 0.01, drive=Lag(tau))
    run = cmb.simulate(cart, law, [0.0], t_end=0.1, **settings(method=method, **tight))
    u = 1.0 - np.exp(-run.time / tau)
    assert np.allclose(run.u[:, 0], u, atol=1e-9)
    assert np.allclose(run.v[:, 0], 0.5 * (run.time - tau * u), atol=1e-9)
    assert run.max_energy_error < 1e-9


def test_delay_and_drive_together(cart):
    tau, delay = 0.02, 0.013
    law = Asks(lambda t: np.array([3.0]), 0.01, drive=Lag(tau), delay=delay, initial_effort=0.0)
    run = cmb.simulate(cart, law, [0.0], t_end=0.1)
    assert np.allclose(run.u[:, 0], 3.0 * (1.0 - np.exp(-np.maximum(run.time - delay, 0.0) / tau)), atol=1e-9)


class Listener(Controller):
    """Keeps the force that it is told."""

    measures_force = True

    def __init__(self, period, u):
        self.period, self.u = period, np.asarray(u, float)

    def start(self, plant):
        return np.zeros(1)

    def evaluate(self, t, terms, state):
        moved = state if self.period is not None or terms.force is None else terms.force[:1]
        return Evaluation(self.u * (1.0 + t), moved, partial(self._report, t, terms))

    def _report(self, t, terms):
        return {} if terms.force is None else {"force": terms.force[0], "time": t}


@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.SpeedWarning")
def test_a_law_in_continuous_time_feels_the_force_of_its_own_efforts():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(plant, Listener(None, [-30.0, 31.0]), q, t_end=0.05)
    force = run.constraint_force.values[:, 0]
    assert np.allclose(run.report.sel(quantity="force"), force, atol=1e-9)
    assert run.report.sel(quantity="time").values.tolist() == run.time.tolist()


def test_a_sampled_law_is_told_the_force_under_the_efforts_before():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(plant, Listener(0.01, [-30.0, 31.0]), q, t_end=0.05, output_times=0.01)
    told = run.report.sel(quantity="force").values
    assert np.isnan(told[0])  # no force has been measured yet
    for k in range(1, 5):
        before = cmb.constraint_force(plant, run.q[k].values, run.v[k].values, run.u[k - 1].values)
        assert told[k] == pytest.approx(before.force[0], abs=1e-9)


@pytest.mark.nojit_slow
def test_a_delay_shifts_the_whole_response_of_a_tracking_law():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0, period=0.002)
    ideal = cmb.simulate(plant, law, q, t_end=0.3)
    law.delay = 0.001
    ready = cmb.simulate(plant, law, q, t_end=0.3)
    law.initial_effort = 0.0
    late = cmb.simulate(plant, law, q, t_end=0.3)
    assert np.abs(ready.q.values - q).max() < 1e-10
    assert np.abs(ideal.q.values - q).max() < 1e-10
    assert 1e-9 < np.abs(late.q.values - q).max() < 1e-3  # it falls for a millisecond


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Asks(lambda t: [0.0], 0.01, delay=-0.1), "delay of Asks must be >= 0"),
        (Asks(lambda t: [0.0], None, delay=0.1), "no period"),
        (Asks(lambda t: [0.0], None, drive=Lag(0.1)), "has a drive and no period"),
        (Asks(lambda t: [0.0], 0.01, delay=np.nan), "delay of Asks"),
    ],
)
def test_what_cannot_be_is_refused(cart, law, message):
    with pytest.raises(ValueError, match=message):
        cmb.simulate(cart, law, [0.0], t_end=0.1)


def test_a_drive_that_fails_ends_the_run_with_what_there_is(cart):
    class Broken(Lag):
        def evaluate(self, t, terms, command, state):
            if t > 0.05:
                raise RuntimeError("the fuse is gone")
            return super().evaluate(t, terms, command, state)

    with pytest.raises(cmb.errors.SimulationError, match="the fuse is gone") as caught:
        cmb.simulate(cart, Asks(lambda t: np.array([1.0]), 0.01, drive=Broken(0.02)), [0.0], t_end=0.1)
    assert 0.04 < caught.value.partial.time[-1] <= 0.05


class Counter(Controller):
    """A law with a state, which says what it is told to say."""

    def __init__(self, said, period):
        self.said, self.period = said, period

    def start(self, plant):
        return np.zeros(2)

    def evaluate(self, t, terms, state):
        return Evaluation(np.zeros(2), self.said)


@pytest.mark.parametrize("said", ["none", [0.0], np.zeros(2) + 1.0j, ["0", "1"], np.zeros((2, 2)), [True, False]])
@pytest.mark.parametrize("period", [0.01, None])
def test_states_of_laws_are_numbers_as_many_as_at_the_start(period, said):
    law = Counter(said, period)
    plant = plants.five_bar()
    with pytest.raises(cmb.errors.SimulationError, match=r"state of Counter \(t = 0 s\) must"):
        cmb.simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.05)


class Off(Controller):
    """Says its error in one way or another."""

    period, coordinates, reference = 1e-2, ("angle",), cmb.Constant([0.0])

    def __init__(self, error):
        self.said = error

    def error(self, t, terms):
        return self.said(t, terms)

    def effort(self, t, terms, state):
        return [-5.0 * terms.q[0]]


@pytest.mark.parametrize("said", [
    lambda t, terms: -terms.q,
    lambda t, terms: (-terms.q[0], -terms.v[0]),
    lambda t, terms: (-terms.q[:1], -terms.v[:1], 0.0),
    lambda t, terms: (-terms.q[:1], None),
    lambda t, terms: (-terms.q, -terms.v),
    lambda t, terms: 3.0,
    lambda t, terms: "small",
    lambda t, terms: np.zeros((2, 2)),
])  # fmt: skip
def test_an_error_of_another_shape_is_refused_at_the_start(said):
    plant = cmb.plants.pendulum()
    with pytest.raises(InputError, match=r"Off\.error must return \(e, rate\).*\(1,\) each for the coordinates angle"):
        cmb.simulate(plant, Off(said), plant.assemble(angle=0.3), t_end=0.1)


def test_an_error_that_fails_on_the_way_is_told_with_the_run():
    """As any function that is asked for the output: nan from there on, and the rest of the run is kept."""
    plant = cmb.plants.pendulum()

    def said(t, terms):
        return (-terms.q[:1], -terms.v[:1]) if t < 0.05 else -terms.q

    with pytest.raises(SimulationError, match=r"Off\.error must return") as failure:
        cmb.simulate(plant, Off(said), plant.assemble(angle=0.3), t_end=0.1)
    run = failure.value.partial
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.error.values[:10]).all() and np.isnan(run.error.values[-1]).all()


def test_a_reference_of_another_shape_is_refused_at_the_start():
    plant = cmb.plants.pendulum()
    law = Off(lambda t, terms: (-terms.q[:1], -terms.v[:1]))
    law.reference = cmb.Constant([0.0, 1.0])
    with pytest.raises(InputError, match=r"reference must return .* shape \(1,\) each"):
        cmb.simulate(plant, law, plant.assemble(angle=0.3), t_end=0.1)
    law.reference, law.coordinates = cmb.Constant([0.0]), "angle"
    with pytest.raises(InputTypeError, match=r"must be names in a sequence, \('angle',\)"):
        cmb.simulate(plant, law, plant.assemble(angle=0.3), t_end=0.1)

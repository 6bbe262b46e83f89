"""PID control of motors against its equations, written down again."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, Sine, plants
from cmbcontrol.controllers import PID, Saturation, law_from_dict, law_to_dict
from cmbcontrol.errors import InputError
from tests.fixtures import refuses

T = 2e-3
WAY = Sine([2.1, 1.0], [0.2, 0.1], 1.5)
GAINS = {"kp": [300.0, 200.0], "ki": [400.0, 0.0], "kd": [20.0, 30.0]}


@pytest.fixture(scope="module")
def machine():
    plant = plants.five_bar()
    return plant, plant.assemble(left=2.1, right=1.0)


def states(plant, q0, count, rng):
    for _ in range(count):
        q = plant.close(plant.integrate(q0, 0.05 * rng.standard_normal(plant.nv)))
        yield q, plant.project_velocity(q, rng.standard_normal(plant.nv))


@pytest.mark.parametrize("period", [None, T])
@pytest.mark.parametrize("times", [[0.01, 0.03], [0.0, 0.02], 0.0])
def test_efforts_and_states(machine, period, times):
    plant, q0 = machine
    weights = {"set_point_weight": [0.3, 1.0], "derivative_weight": [0.0, 0.8]}
    law = PID(plant, WAY, **GAINS, **weights, derivative_time=times, feedforward="none", period=period)
    tau = np.broadcast_to(times, 2)
    kp, ki, kd, b, c = (np.array(x) for x in (*GAINS.values(), *weights.values()))
    rng, n = np.random.default_rng(0), int((tau > 0.0).sum())
    assert len(law.start(plant)) == 2 + n
    assert law.state_names(plant)[:2] == ["left_integral", "right_integral"]
    for k, (q, v) in enumerate(states(plant, q0, 8, rng)):
        t, state = 0.01 * k, rng.standard_normal(2 + n)
        said = law.evaluate(t, plant.terms(q, v), state)
        r, rate, _ = WAY(t)
        y, y_rate = q[[0, 2]], v[[0, 2]]
        d_in = c * rate - y_rate
        d, own = d_in.copy(), np.zeros(2)
        d[tau > 0.0] = own[tau > 0.0] = state[2:]
        np.testing.assert_allclose(said.effort, kp * (b * r - y) + state[:2] + kd * d, rtol=1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            if period is None:
                integrals, filters = ki * (r - y), (d_in - own) / tau
            else:
                integrals = state[:2] + T * ki * (r - y)
                filters = d_in + (own - d_in) * np.exp(-T / tau)  # of a value that is held for a period
        np.testing.assert_allclose(said.state, [*integrals, *filters[tau > 0.0]], rtol=1e-12, atol=1e-13)


def test_integrals_wait_at_limits(machine):
    plant, q0 = machine
    law = PID(plant, Constant([9.0, 1.0]), **GAINS, feedforward="none", period=T) | Saturation(50.0)
    terms, state = plant.terms(q0, np.zeros(4)), law.start(plant)
    for k in range(100):
        state = law.evaluate(k * T, terms, state).state
    assert state[0] <= 400.0 * T * 6.9 * (1.0 + 1e-12)  # that of the first sample


def test_as_a_file_and_with_another_reference(machine):
    plant, _ = machine
    law = PID(plant, WAY, **GAINS, derivative_time=0.01, set_point_weight=0.5, period=T).with_gains(kp=[1.0, 2.0])
    law = law.with_reference(Constant([2.0, 1.1]))
    again = law_from_dict(law_to_dict(law, plant), plant)
    assert again.kp.tolist() == [1.0, 2.0]
    assert again.ki.tolist() == [400.0, 0.0]
    assert again.reference(3.0)[0].tolist() == [2.0, 1.1]


def test_motors_and_coordinates(machine):
    """A coordinate that no motor drives alone needs the name of one; signs are those of the gains."""
    plant, q0 = machine
    refuses(
        lambda: PID(plant, Constant([0.0]), kp=1.0, coordinates="elbow_left"),
        "no motor",
        "'elbow_left'",
        "left, right",
        kind=InputError,
    )
    law = PID(plant, Constant([1.0]), kp=-2.0, coordinates="elbow_left", motors="right", feedforward="none")
    u = law(0.0, plant.terms(q0, np.zeros(4)), law.start(plant))
    value = q0[plant.position_names.index("elbow_left")]
    np.testing.assert_allclose(u, [0.0, -2.0 * (1.0 - value)], rtol=1e-12)
    assert repr(law) == "<PID of 'five-bar': elbow_left by right>"


@pytest.mark.parametrize(("options", "words"), [
    ({"kp": [1.0, 2.0, 3.0]}, ("kp of PID", "left, right")),
    ({"kp": np.inf}, ("kp of PID", "finite")),
    ({"derivative_time": -1.0}, ("derivative_time of PID", ">= 0")),
    ({"motors": ("left",)}, ("one motor for each coordinate",)),
    ({"motors": ("left", "rihgt")}, ("did you mean 'right'",)),
    ({"feedforward": "full"}, ("inverse-dynamics",)),
    ({"period": 0.0}, ("period",)),
])  # fmt: skip
def test_refusals(machine, options, words):
    refuses(lambda: PID(machine[0], WAY, **{"kp": 1.0} | options), *words, kind=InputError)


def test_coordinates_that_do_not_determine_the_motion_have_no_efforts_ahead(machine):
    plant, _ = machine
    made = {"kp": 1.0, "coordinates": "left"}
    refuses(lambda: PID(plant, Constant([2.0]), **made), "2 degrees of freedom", "feedforward='none'", kind=InputError)
    assert PID(plant, Constant([2.0]), **made, feedforward="none").motors == ("left",)


def test_a_chain_runs_compiled_and_ends_at_its_reference():
    plant = plants.five_bar(effort=400.0)
    q0 = plant.assemble(left=2.1, right=1.0)
    law = PID(plant, Constant([2.2, 0.9]), kp=900.0, ki=1800.0, kd=120.0, derivative_time=5e-3, period=T,
              feedforward="none", derivative_weight=0.0)  # fmt: skip
    run = cmb.simulate(plant, law | Saturation(), q0, t_end=8.0, output_times=0.1)
    assert run.data.attrs["samples_by_code"] >= 3999
    assert np.abs(run.q.values[-1][[0, 2]] - [2.2, 0.9]).max() < 1e-4

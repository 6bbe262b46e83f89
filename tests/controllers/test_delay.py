"""Delays shift by their length."""

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.controllers import Delay, Saturation, WithModel
from tests.fixtures import PERIOD, Asks, largest, rotor


def test_a_delay_of_one_period_shifts():
    plant = rotor()
    asks = Asks(lambda t: [np.sin(300.0 * t)], plant=plant)
    law = asks | Delay(PERIOD, initial=0.0)
    grid = PERIOD * (np.arange(30) + 0.5)
    run = simulate(plant, law, [0.0], t_end=0.03, output_times=grid)
    prompt = simulate(plant, asks, [0.0], t_end=0.03, output_times=grid)
    assert run.u.values[0, 0] == 0.0
    assert largest(run.u.values[1:] - prompt.u.values[:-1]) == 0.0
    assert largest(prompt.u.values) > 0.9


def test_delays_add_up():
    plant = plants.five_bar()
    law = Asks(lambda t: [1.0, 1.0], plant=plant) | Delay(2e-4) | Saturation(0.5) | Delay({"right": 1.1e-3}, 0.0)
    assert law.delay == pytest.approx([2e-4, 1.3e-3])
    run = simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=2e-3, output_times=1e-4)
    t = run.time
    assert run.u.values[:, 0] == pytest.approx(np.where(t > 1.9e-4, 0.5, 0.0))
    assert run.u.values[:, 1] == pytest.approx(np.where(t > 1.29e-3, 0.5, 0.0))
    with pytest.raises(ValueError, match=r"continuous time, where a delay has no finite number of states.*period"):
        Asks(lambda t: [1.0, 1.0], None, plant=plant) | Delay(1e-3)
    with pytest.raises(ValueError, match="must be finite"):
        Asks(lambda t: [1.0, 1.0], plant=plant) | Delay(np.inf)


def test_what_acts_before_the_first_effort_arrives():
    plant = plants.five_bar()
    law = Asks(lambda t: [1.0 + 1e3 * t, 4.0], plant=plant)
    assert (law | Delay(PERIOD)).initial_effort is None  # that of the first sample
    named = law | Delay(2.5e-3, {"left": -2.0}) | Delay(PERIOD)
    assert named.initial_effort.tolist() == [-2.0, 0.0]
    run = simulate(plant, named, plant.assemble(left=2.1, right=1.0), t_end=5e-3, output_times=PERIOD)
    assert run.u.values.tolist() == [[-2.0, 0.0]] * 4 + [[1.0, 4.0], [2.0, 4.0]]
    around = WithModel(plants.five_bar(), named)
    assert around.initial_effort.tolist() == [-2.0, 0.0]
    with pytest.raises(ValueError, match="both say what acts before the first effort arrives"):
        law | Delay(PERIOD, 0.0) | Delay(PERIOD, 0.0)
    with pytest.raises(ValueError, match="must be finite, a number or one for each motor, or 'hold'"):
        law | Delay(PERIOD, np.nan)
    with pytest.raises(ValueError, match="initial efforts of a Delay must have one entry for each motor"):
        law | Delay(PERIOD, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="did you mean 'hold'"):
        law | Delay(PERIOD, "holds")


@pytest.mark.parametrize("delay", [-0.01, "10 ms", {"left": -0.01}, {"left": "10 ms"}, [0.01, -0.01], float("nan")])
def test_delays_that_are_none_are_refused_when_they_are_made(delay):
    with pytest.raises((TypeError, ValueError), match="Delay"):
        Delay(delay)

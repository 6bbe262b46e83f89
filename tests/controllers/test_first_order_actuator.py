"""Actuators that lag: their step response in closed form."""

import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.controllers import DriveFriction, FirstOrderActuator
from tests.fixtures import Asks, largest, rotor


@pytest.mark.parametrize("period", [None, 0.05])
def test_step_response_of_an_actuator(period):
    """1 - exp(-t/tau) in continuous time, behind the hold as well; its integral is twice the velocity."""
    plant, tau = rotor(), 0.03
    law = Asks(lambda t: [1.0], period, plant=plant) | FirstOrderActuator(tau, initial=-0.5)
    run = simulate(plant, law, [0.0], t_end=0.2, output_times=0.01)
    t = run.time
    assert largest(run.u.values[:, 0] - (1.0 - 1.5 * np.exp(-t / tau))) < 1e-9
    assert largest(run.v.values[:, 0] - 0.5 * (t - 1.5 * tau * (1.0 - np.exp(-t / tau)))) < 1e-9
    assert (run.command.values == 1.0).all()


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_run_tells_the_command_from_what_friction_leaves_of_it(period):
    plant = rotor()
    friction = DriveFriction(coulomb=0.4, viscous=0.1)
    law = Asks(lambda t: [1.0 + np.sin(20.0 * np.floor(100.0 * t + 1e-6))], period, plant=plant) | friction
    run = simulate(plant, law, [0.0], t_end=0.2, output_times=0.01, rtol=1e-6, atol=1e-6)
    assert largest(run.command.values - run.u.values - friction.force(run.v.values)) < 1e-12
    asked = 1.0 + np.sin(20.0 * np.round(100.0 * run.time))
    assert largest((run.command.values[:, 0] - asked)[:-1]) < 1e-9  # no sample at the end
    assert largest(run.actuator_power.values - run.u.values[:, 0] * run.v.values[:, 0]) < 1e-12
    assert run.max_energy_error < 1e-4  # of what acts, not of what was asked
    assert run.command.attrs["units"] == run.u.attrs["units"] == '["N m"]'


def test_time_constants_by_motor():
    plant = plants.five_bar()
    law = Asks(lambda t: [1.0, 1.0], None, plant=plant) | FirstOrderActuator(
        {"left": 0.1, "right": 0.2}, initial={"left": 0.5}
    )
    terms = plant.terms(plant.assemble(), np.zeros(4))
    assert law.start(plant) == pytest.approx([0.5, 0.0])
    assert law.evaluate(0.0, terms, law.start(plant)).state == pytest.approx([5.0, 5.0])
    assert law.state_names(plant) == ["left_actuator", "right_actuator"]
    with pytest.raises(ValueError, match=r"must be > 0 and finite for each motor, got \[0.1, 0.0\]"):
        Asks(lambda t: [1.0, 1.0], plant=plant) | FirstOrderActuator({"left": 0.1})

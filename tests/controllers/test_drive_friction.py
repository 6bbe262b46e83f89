"""Friction of drives: its curve, and a rotor that it brakes in closed form."""

import numpy as np
import pytest

from cmbcontrol import simulate
from cmbcontrol.controllers import DriveFriction, FrictionCompensation
from tests.fixtures import Asks, largest, rotor


def test_the_friction_curve():
    friction = DriveFriction(coulomb=2.0, viscous=0.5, breakaway=3.0, stribeck_velocity=0.2, width=1e-3)
    w = np.array([0.2, -0.2, 1.0, 1e-4, 0.0])
    truth = np.array([2.0 + np.exp(-1.0) + 0.1, -(2.0 + np.exp(-1.0) + 0.1), 2.5 + np.exp(-25.0), 0.0, 0.0])
    truth[3] = (2.0 + np.exp(-2.5e-7)) * np.tanh(0.1) + 5e-5
    assert friction.force(w) == pytest.approx(truth, rel=1e-12)
    # odd, and against the motion
    grid = np.linspace(-3.0, 3.0, 61)
    assert largest(friction.force(grid) + friction.force(-grid)) == 0.0
    assert (friction.force(grid) * grid >= 0.0).all()


def test_friction_brakes_a_rotor():
    """Coulomb friction alone, far above its width: v falls by F t / I."""
    plant = rotor()
    run = simulate(plant, [0.0] | DriveFriction(3.0), [0.0], [2.0], t_end=1.0, output_times=0.1)
    assert largest(run.v.values[:, 0] - (2.0 - 1.5 * run.time)) < 1e-9
    # it acts at the motor: with a gear it is as much larger at the joint
    geared = rotor(gear=4.0)
    run = simulate(geared, [0.0] | DriveFriction(0.0, viscous=0.1), [0.0], [2.0], t_end=1.0, output_times=0.1)
    assert largest(run.v.values[:, 0] - 2.0 * np.exp(-0.1 * 16.0 / 2.0 * run.time)) < 1e-9


def test_wrong_friction():
    law = Asks(lambda t: [0.0], plant=rotor())
    with pytest.raises(ValueError, match=r"breakaway friction 1.0 of DriveFriction must not be below its coulomb"):
        law | DriveFriction(2.0, breakaway=1.0)
    with pytest.raises(ValueError, match="the width of DriveFriction must be > 0"):
        DriveFriction(2.0, width=0.0)
    with pytest.raises(TypeError, match=r"must be a DriveFriction, got 2\.0"):
        FrictionCompensation(2.0)
    with pytest.raises(ValueError, match="did you mean 'measured'"):
        FrictionCompensation(DriveFriction(1.0), "mesured")

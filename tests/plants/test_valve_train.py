"""The valve train: its torque, the speed at which its follower leaves the cam, its frequency."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Contact, JointMotion, plants
from cmbcontrol.plants.valve_train import RATIO, SWING, profile

MASS = 4e-5 + 0.09 * RATIO**2  # of rocker and valve, kg m2 at the rocker
STIFFNESS, PRELOAD = 30e3, 200.0


def slopes(x):
    """Angle of the rocker, and its two derivatives, by hand."""
    h, s, c = 0.5 * (1.0 - np.cos(x)), np.sin(x), np.cos(x)
    return SWING * h**3, 1.5 * SWING * h * h * s, 1.5 * SWING * (h * s * s + h * h * c)


def push(x, speed):
    """Torque with which the cam pushes the rocker at a given speed of the shaft."""
    f, _, second = slopes(x)
    return MASS * second * speed**2 + (STIFFNESS * RATIO * f + PRELOAD) * RATIO


def test_the_profile():
    for x in (0.3, 1.6, 3.0, 5.0):
        f, first, second = slopes(x)
        h = 1e-4
        assert float(profile(x)) == pytest.approx(f, rel=1e-14)
        assert (profile(x + h) - profile(x - h)) / (2 * h) == pytest.approx(first, abs=1e-7)
        assert (profile(x + h) - 2 * profile(x) + profile(x - h)) / h**2 == pytest.approx(second, abs=1e-6)


def test_torque_of_the_shaft_at_speed():
    speed = 200.0
    plant = plants.valve_train().with_parts(actuators=[]).with_loops(JointMotion("drive", "shaft", velocity=speed))
    run = cmb.simulate(plant, None, plant.assemble(), t_end=0.05)
    x = speed * run.time
    np.testing.assert_allclose(run.motion_effort.values[:, 0], slopes(x)[1] * push(x, speed), atol=1e-9)
    assert run.max_energy_error < 1e-10


def test_the_follower_jumps_above_a_speed():
    x = np.linspace(0.0, 2.0 * np.pi, 20001)
    f, _, second = slopes(x)
    held = (STIFFNESS * RATIO * f + PRELOAD) * RATIO
    falling = second < 0.0
    critical = np.sqrt((held[falling] / (-MASS * second[falling])).min())
    for factor, jumps in ((0.98, False), (1.05, True)):
        plant = plants.valve_train().with_loops(JointMotion("drive", "shaft", velocity=factor * critical))
        run = cmb.simulate(
            plant, None, plant.assemble(), t_end=2.2 * np.pi / critical, switches=[Contact("cam")], output_times=1e-4
        )
        assert any(event["kind"] == "released cam" for event in run.events()) == jumps


def test_its_frequency_about_the_open_valve():
    """At the top the spring pushes the shaft off: growth, by hand."""
    plant = plants.valve_train()
    point = cmb.trim(plant, plant.assemble(shaft=np.pi))
    second = slopes(np.pi)[2]
    force = (STIFFNESS * RATIO * SWING + PRELOAD) * RATIO
    assert cmb.linearize(plant, point).poles()[-1].real == pytest.approx(np.sqrt(-second * force / 2e-4), rel=1e-9)

"""One colour a signal, in all figures of a machine."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plot.signals import SignalStyles


@pytest.fixture(scope="module")
def crank():
    """Its motor has another name than the joint."""
    rod = cmb.Body.rod("rod", 1.0, 1.0)
    slide = cmb.Body("block", mass=1.0, inertia=np.eye(3))
    joints = [cmb.Prismatic("rail", "ground", "block", axis=(1, 0, 0)), cmb.Revolute("pin", "block", "rod")]
    motors = [cmb.Actuator("pin", name="first"), cmb.Actuator("pin", name="second", effort=5.0)]
    plant = cmb.Mechanism("cart", [slide, rod], joints, actuators=motors, gravity=(0, -9.81, 0))
    return cmb.simulate(plant, [1.0, 2.0], q0=[0.0, 0.3], t_end=0.1, output_times=0.05)


def look(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return line.get_color(), line.get_linestyle()


def test_a_joint_and_its_motor_have_one_colour(crank):
    signals = SignalStyles(crank)
    assert signals.motors["first"] == signals.coordinates["pin"]
    looks = (signals.motors["first"], signals.motors["second"], signals.coordinates["rail"])
    assert len(set(map(str, looks))) == 3


def test_a_joint_keeps_its_colour_from_panel_to_panel_and_from_run_to_run():
    plant = plants.five_bar(effort=80.0)
    path = cmb.Sine([2.1, 1.0], [0.3, 0.2], 0.5)
    law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0)
    q0 = plant.assemble(left=2.15, right=0.95)
    run = cmb.simulate(plant, law, q0, t_end=0.1, output_times=0.05)
    figure = plot.responses(run, velocities=True)
    angles, rates, error, effort = figure.axes
    assert rates.get_ylabel() == "joint rate (rad/s)"
    for name in ("left", "right"):
        of_effort = look(effort, f"{name} (limit 80 N m)")
        assert look(angles, name) == look(rates, name) == look(error, name) == of_effort
        free = cmb.simulate(plant, None, q0, t_end=0.1, output_times=0.05)
        assert look(plot.responses(free).axes[0], name) == of_effort == look(plot.forces(free).axes[0], name)
        assert look(plot.responses(cmb.Simulation(run.data)).axes[0], name) == of_effort  # from a file, without a plant


@pytest.mark.parametrize("size", [1e-3, 1e2])
def test_rounding_is_told_for_small_and_large_machines(size):
    """The band of rounding is 1e-14 of the size, for a millimetre and for a hundred metres."""
    plant = plants.pendulum(mass=1e3 * size**3, length=size)
    run = cmb.simulate(plant, q0=plant.assemble(angle=-1.0), t_end=0.01, output_times=0.005)
    ax = plot.accuracy(run).axes[0]
    (line,) = ax.lines[:1]
    floor = 1e-14 * plant.size
    assert np.all(line.get_ydata() >= floor) and ax.get_ylim()[0] == pytest.approx(floor / 4.0)
    assert line.get_ydata().max() < 1e3 * floor

"""Motions that are shown: ready-made machines under their tasks, a touch-down, a singular passage."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from cmbcontrol.dynamics.acceleration import acceleration
from cmbcontrol.errors import SimulationError
from cmbcontrol.plants.leg import angles, configuration

TASKS = ("five-bar", "loader", "delta", "stewart", "two-arms", "excavator")


def tracked(name, t_end, **options):
    """A machine of the catalogue under the task that it is studied with."""
    entry = plants.catalogue[name]
    plant, q, _ = entry.start()
    task = entry.study
    path = cmb.Sine(task.centre, task.amplitude, task.frequency_hz, task.phase)
    law = controllers.ProjectedInverseDynamics(plant, task.coordinates, path, bandwidth=task.bandwidth)
    start = {joint: float(x) for joint, x in zip(task.coordinates, path(0.0)[0], strict=True)}
    return cmb.simulate(plant, law, plant.assemble(guess=q, **start), t_end=t_end, **options)


def touch_down():
    """A leg falls, and stands on the ground."""
    plant = plants.leg()
    hip, knee = angles(0.6)
    law = controllers.ProjectedInverseDynamics(
        plant, ("hip", "knee"), cmb.Constant([hip, knee]), bandwidth=18.0, consistent=True, period=1e-3,
        posture=lambda t, terms: acceleration(terms, np.zeros(terms.h.size)),
    )  # fmt: skip
    foot = cmb.Contact("foot", normal=(0, 1, 0), friction=0.8)
    return cmb.simulate(plant, law, configuration(plant, 0.75, 0.6), t_end=0.5, output_times=2e-3, switches=foot)


def singular():
    """The five-bar through its singular configuration, from a mirror-symmetric start."""
    a = np.arccos(1.0 / 1.5)
    q0 = [2.0 * np.pi / 3.0, a - 2.0 * np.pi / 3.0, np.pi / 3.0, 2.0 * np.pi / 3.0 - a]
    return cmb.simulate(plants.five_bar(), q0=q0, t_end=2.0)


def failed():
    """A five-bar whose law gives no number from 0.3 s on."""
    plant = plants.five_bar()

    def arms(t, q, v):
        return [1.0, 0.0] if t < 0.3 else [np.nan, 0.0]

    with pytest.raises(SimulationError) as caught:
        cmb.simulate(plant, arms, plant.assemble(left=2.1, right=1.0), t_end=1.0)
    return caught.value.partial

"""The rod on a cut pivot."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.plants import pendulum


@pytest.mark.parametrize("closure", ["revolute", "line", "point"])
def test_pendulum(closure):
    plant = pendulum(mass=2.0, length=0.8, closure=closure)
    q = plant.assemble(angle=0.4)
    assert q == pytest.approx([0.4 * np.cos(0.4), 0.4 * np.sin(0.4), 0.4], abs=1e-12)
    across = np.array([-0.4 * np.sin(0.4), 0.4 * np.cos(0.4)])  # centre of mass by angle
    v, u = 1.5 * np.array([*across, 1.0]), 3.0
    inertia = 2.0 * 0.8**2 / 3.0
    expected = (u - 2.0 * 9.81 * 0.4 * np.cos(0.4)) / inertia
    assert forward_dynamics(plant, q, v, [u]) == pytest.approx(
        [*(expected * across - 1.5**2 * q[:2]), expected], abs=1e-10
    )
    assert pytest.approx(np.eye(3), abs=1e-12) == plant.pose(plant.assemble(angle=0.0), "rod").R


def test_pendulum_motor_acts_across_the_cut_pivot():
    plant = pendulum()
    assert plant.terms([0.0, 0.0, 0.3], [0.0] * 3).B[:, 0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)

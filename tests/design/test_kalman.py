"""Kalman gains, against closed forms."""

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.design import kalman
from tests.fixtures import ARMS


def test_kalman_gain_of_the_double_integrator():
    # position measured, effort noise: L = [sqrt(2 r), r], r = sqrt(w b^2 / v), for x'' = b u + ... without stiffness
    plant = plants.pendulum()
    lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(angle=0.0)), coordinates=("angle",))
    s, d = -lin.A[1, 0], -lin.A[1, 1]
    assert abs(s) < 1e-9  # level: gravity has no stiffness
    r = np.sqrt(4.0 * lin.B[1, 0] ** 2 / 1e-4)
    L = kalman(lin, ("angle",), effort_noise=4.0, measurement_noise=1e-4)
    assert d == 0.0 and np.allclose(L[:, 0], [np.sqrt(2.0 * r), r], rtol=1e-8)


def test_sampled_kalman_gain_approaches_the_continuous_one(lin):
    slow = kalman(lin, ARMS, effort_noise=1.0, measurement_noise=1e-6)
    T = 1e-5  # a sample of variance V / T carries as much as noise of intensity V
    fast = kalman(lin, ARMS, effort_noise=1.0, measurement_noise=1e-6 / T, period=T)
    assert np.allclose(fast / T, slow, rtol=2e-3, atol=1e-3 * np.abs(slow).max())

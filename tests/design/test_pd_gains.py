"""PD gains by formula."""

import numpy as np
import pytest

from cmbcontrol import Constant, linearize_closed_loop
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.design import pd_gains, pd_gains_from_poles, sampled_pd_gains
from tests.fixtures import ARMS


def test_pd_gains_and_poles_agree():
    kp, kd = pd_gains([5.0, 8.0], [1.0, 0.5])
    again = pd_gains_from_poles([(-5.0, -5.0), (-4.0 + 1j * np.sqrt(48.0), -4.0 - 1j * np.sqrt(48.0))])
    assert np.allclose([kp, kd], again)


@pytest.mark.parametrize("period", [0.001, 0.05, 0.2])
def test_sampled_pd_gains_place_the_poles_of_the_sampled_loop(plant, period):
    poles = np.array([[-4.0, -10.0], [-3.0 + 4.0j, -3.0 - 4.0j]])
    kp, kd = sampled_pd_gains(poles=poles, period=period)
    # a double integrator for each coordinate, held
    for k, d, pair in zip(kp, kd, poles, strict=True):
        A = np.array([[1.0, period], [0.0, 1.0]]) - np.array([[0.5 * period**2], [period]]) @ [[k, d]]
        assert np.allclose(np.sort_complex(np.linalg.eigvals(A)), np.sort_complex(np.exp(pair * period)), atol=1e-9)
    slow = sampled_pd_gains(poles=poles, period=1e-6)
    assert np.allclose(slow, pd_gains_from_poles(poles), rtol=1e-4)


def test_sampled_pd_gains_serve_projected_inverse_dynamics(plant):
    """On the five-bar, with its slope of the inertia frozen by the hold, to the order of the period."""
    kp, kd = sampled_pd_gains(8.0, 1.0, period=0.01)
    law = ProjectedInverseDynamics(plant, ARMS, Constant([2.1, 1.0]), kp=kp[0], kd=kd[0], period=0.01)
    poles = linearize_closed_loop(plant, law).continuous_poles()
    assert np.abs(poles + 8.0).max() < 1.0 and abs(poles.prod() / 8.0**4 - 1.0) < 0.02


def test_pd_gains_refuse():
    for call in (
        lambda: pd_gains(-1.0),
        lambda: pd_gains([1.0, 2.0], [1.0, 1.0, 1.0]),
        lambda: pd_gains_from_poles([-1.0 + 1.0j, -2.0 - 1.0j]),
        lambda: pd_gains_from_poles([-1.0 + 1.0j, -1.0]),
        lambda: pd_gains_from_poles([1.0, -1.0]),
        lambda: pd_gains_from_poles([-1.0, -1.0, -1.0]),
        lambda: sampled_pd_gains(100.0, 0.1, period=0.05),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        sampled_pd_gains(period=0.1)

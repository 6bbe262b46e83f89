"""Modes that inputs do not move, whatever the units and the scale."""

import numpy as np
import pytest

from cmbcontrol import design, linearize, plants, trim
from cmbcontrol.design.unmoved import slowest_decay, unmoved
from cmbcontrol.errors import ActuationError


def random_system(seed):
    """A stable part, and two undamped modes of which inputs move the first; states in units far apart."""
    rng = np.random.default_rng(seed)
    omega = 10.0 ** rng.uniform(-2, 4)
    A = np.zeros((6, 6))
    A[:2, :2] = omega * np.array([[0, 1.0], [-1.0, 0]])
    A[2:4, 2:4] = 1.7 * omega * np.array([[0, 1.0], [-1.0, 0]])
    A[4:, 4:] = -omega * np.diag(rng.uniform(0.1, 2.0, 2))
    B = rng.standard_normal((6, 2)) * 10.0 ** rng.uniform(-3, 3)
    B[2:4] = 0.0
    T = np.linalg.qr(rng.standard_normal((6, 6)))[0] * 10.0 ** rng.uniform(-2, 2, (6, 1))
    return T @ A @ np.linalg.inv(T), T @ B, omega


@pytest.mark.parametrize("seed", range(30))
def test_the_mode_is_told(seed):
    A, B, omega = random_system(seed)
    found = unmoved(A, B)
    assert found is not None and abs(abs(found.imag) - 1.7 * omega) < 1e-6 * omega
    assert unmoved(A, np.hstack([B, np.linalg.eig(A)[1].real.sum(axis=1, keepdims=True)])) is None
    shift = A - 0.01 * omega * np.eye(6)
    assert unmoved(shift, B) is None  # all modes decay


def test_in_sampled_time():
    A = np.diag([1.0, 0.5, 0.9])
    assert unmoved(A, np.array([[0.0], [1.0], [1.0]]), period=0.1) == 1.0
    assert unmoved(A, np.array([[1e-3], [0.0], [1.0]]), period=0.1) is None
    assert slowest_decay(np.array([0.5, -0.9]), 0.1) == pytest.approx(0.1)
    assert slowest_decay(np.array([-2.0, -0.5 + 1j]), None) == pytest.approx(0.25)


def test_a_mode_that_one_arm_of_a_delta_robot_does_not_show():
    """Hanging, two of its modes are alike, and a combination of them leaves each arm at rest."""
    plant = plants.delta()
    lin = linearize(plant, trim(plant, plants.catalogue["delta"].initial(plant)[0]))
    with pytest.raises(ActuationError, match=r"the measurements arm1 of 'delta' do not show the mode at .*3\.74"):
        design.kalman(lin, ("arm1",), effort_noise=1.0, state_noise=0.01, measurement_noise=1e-4)
    one = linearize(plant, lin.point, inputs=["arm1"])
    for period in (None, 0.01):
        with pytest.raises(ActuationError, match=r"the inputs arm1.* of 'delta' do not move the mode at .*3\.74"):
            design.lqr(one, 1.0, 0.01, period=period)

"""Spatial vectors: against matrices of 6 by 6, rotations of scipy, and high precision."""

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmbcontrol.kernels import spatial
from tests.fixtures import skew

RNG = np.random.default_rng(0)


def motion_matrix(V):
    """Of V x on twists [angular; linear]; that of V x* on wrenches is minus its transpose."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def test_products_of_twists_and_wrenches():
    V, S, F = RNG.standard_normal((3, 6))
    for kernel, expected in (
        (spatial.cross_motion, motion_matrix(V) @ S),
        (spatial.cross_force, -motion_matrix(V).T @ S),
    ):
        out = np.ones(6)
        kernel(V, S, out)  # it adds
        np.testing.assert_allclose(out - 1.0, expected, atol=1e-14)
    assert spatial.dot6(V, F) == pytest.approx(V @ F, rel=1e-14)


def test_power_does_not_change_where_both_are_carried_along():
    V, S, F = RNG.standard_normal((3, 6))
    S_rate, F_rate = np.zeros(6), np.zeros(6)
    spatial.cross_motion(V, S, S_rate)
    spatial.cross_force(V, F, F_rate)
    assert abs(S_rate @ F + S @ F_rate) < 1e-13


def test_rotations_and_points():
    R, (p, x, out) = np.ascontiguousarray(Rotation.random(random_state=1).as_matrix()), RNG.standard_normal((3, 3))
    spatial.rotate(R, x, out)
    np.testing.assert_allclose(out, R @ x, atol=1e-15)
    spatial.rotate_back(R, x, out)
    np.testing.assert_allclose(out, R.T @ x, atol=1e-15)
    spatial.transform_point(R, p, x, out)
    np.testing.assert_allclose(out, p + R @ x, atol=1e-15)
    screw = np.empty(6)
    spatial.screw_at(p, x, screw)
    np.testing.assert_allclose(screw, [*np.cross(p, x), *x], atol=1e-15)


@pytest.mark.parametrize("length", [1e-3, 1.0, 50.0])
def test_quaternions_of_any_length(length):
    turn, R = Rotation.random(random_state=2), np.empty((3, 3))
    x, y, z, w = length * turn.as_quat()
    spatial.quaternion_matrix(w, x, y, z, R)
    np.testing.assert_allclose(R, turn.as_matrix(), atol=1e-15)


def test_no_quaternion_is_no_rotation():
    R = np.empty((3, 3))
    spatial.quaternion_matrix(0.0, 0.0, 0.0, 0.0, R)
    np.testing.assert_array_equal(R, np.eye(3))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.0999, 0.1, 0.1001, 1.0, 3.0, 10.0])
def test_series_and_closed_forms_meet_with_all_digits(angle):
    with mpmath.workdps(50):
        a = mpmath.mpf(angle)
        exact = (
            (1.0, 0.5, 1.0 / 6.0)
            if angle == 0.0
            else (mpmath.sin(a) / a, (1 - mpmath.cos(a)) / a**2, (a - mpmath.sin(a)) / a**3)
        )
        for found, value in zip(spatial.sinc_terms(angle), exact, strict=True):
            # where the series ends, a - sin a has lost a factor of 6 / a^2 of its digits
            assert abs(found - value) <= 2e-13 * abs(value)

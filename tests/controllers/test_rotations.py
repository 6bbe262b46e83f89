"""Rotation vectors: exponential, inverse, left Jacobian and its rate."""

import numpy as np
import pytest
from scipy.linalg import expm

from cmbcontrol.controllers import rotations
from cmbcontrol.dynamics.differences import slope


class TestRotations:
    @pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.05, 0.099, 0.101, 1.0, 2.6, 3.0, np.pi - 1e-9])
    def test_exponential_and_logarithm(self, angle):
        for seed in range(5):
            axis = np.random.default_rng(seed).standard_normal(3)
            phi = angle * axis / np.linalg.norm(axis)
            R = rotations.rotation_matrix(phi)
            assert pytest.approx(expm(rotations.cross_matrix(phi)), abs=1e-14) == R
            assert rotations.rotation_vector(R) == pytest.approx(phi, abs=1e-9)

    @pytest.mark.parametrize("angle", [0.0, 1e-5, 0.0999, 0.1001, 1.0, 3.0, 9.0])
    def test_left_jacobian_and_its_rate(self, angle):
        rng = np.random.default_rng(0)
        phi, rate = rng.standard_normal((2, 3))
        phi *= angle / np.linalg.norm(phi)
        R = rotations.rotation_matrix(phi)
        spin = slope(lambda s: rotations.rotation_matrix(phi + s * rate), 1e-2) @ R.T
        assert rotations.cross_matrix(rotations.left_jacobian(phi) @ rate) == pytest.approx(spin, abs=1e-11)
        turn = slope(lambda s: rotations.left_jacobian(phi + s * rate), 1e-2)
        assert rotations.left_jacobian_rate(phi, rate) == pytest.approx(turn, abs=1e-11)

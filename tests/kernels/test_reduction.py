"""The reduction to independent coordinates, compiled, against the formulas at its head in matrices."""

import numpy as np
import pytest

from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.linear.reduced import MOVING, CoordinateRows, Reduced, bracket, constant_rows, reduce, reduced_model
from tests import fixtures
from tests.fixtures import driven_state, mixed_coordinates, relative_error, sprung_machine


def reduced_by_matrices(plant, local, rows, factor):
    """The formulas at the head of `kernels.reduction`, in matrices."""
    R, p = rows.R, len(rows.R)
    K = local.Z @ np.linalg.inv(R @ local.Z)
    N = -local.A_plus @ (local.rate_q @ K)
    N -= K @ (R @ N + rows.rate_q @ K)

    def slope_of_rates(delta, dv):
        force = -local.force_q @ delta - local.force_v @ dv
        da = local.acceleration(force, local.accel_q @ delta + local.accel_v @ dv)
        return R @ da + rows.accel_q @ delta + rows.accel_v @ dv

    A, G = np.zeros((2 * p, 2 * p)), R @ local.Z @ local.Z.T
    A[:p, p:] = np.eye(p)
    A[:p, :p] = factor * np.where(rows.constant[:, None], R @ bracket(plant, local.v, K), 0.0)
    A[p:, :p], A[p:, p:] = slope_of_rates(K, N), slope_of_rates(np.zeros_like(K), K)
    B = np.concatenate([np.zeros_like(G @ local.B), G @ local.B])
    drift = np.concatenate([R @ local.v, R @ local.a + 0.5 * rows.accel_v @ local.v])
    return Reduced(A, B, drift, K, N, G, local.a, local.lam, local.rank)


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_turn_with_the_configuration(seed):
    """The coordinates of cut joints."""
    plant, q = sprung_machine(seed, [fixtures.LOOPS[seed % len(fixtures.LOOPS)]])
    q, v, u = driven_state(plant, q, seed)
    local, R = derivatives(plant, q, v, u), mixed_coordinates(plant, q)
    rng = np.random.default_rng([seed, 11])
    turning = rng.random(len(R)) < 0.5
    slopes = turning[:, None] * rng.standard_normal((3, *R.shape))
    rows = CoordinateRows(R, *slopes, ~turning)
    for factor in (MOVING, -0.5):
        found, truth = reduce(plant, local, rows, factor), reduced_by_matrices(plant, local, rows, factor)
        for key in ("A", "B", "drift", "K", "N", "G"):
            assert relative_error(getattr(found, key), getattr(truth, key)) < 1e-9, key


@pytest.mark.parametrize("seed", range(6))
def test_kernel_and_matrices_agree(seed):
    """The compiled reduction of a mechanism and of `Derivatives`, and the formulas in matrices."""
    kinds = [fixtures.LOOPS[i] for i in np.random.default_rng(seed).permutation(len(fixtures.LOOPS))[:2]]
    plant, q = sprung_machine(seed, kinds, twice=seed % 2 == 1)
    q, v, u = driven_state(plant, q, seed)
    R = mixed_coordinates(plant, q)
    for moving in (False, True):
        quick = reduced_model(plant, q, v, u, R, moving=moving)
        args = plant, derivatives(plant, q, v, u), constant_rows(R), MOVING if moving else -0.5
        for slow in (reduce(*args), reduced_by_matrices(*args)):
            for key in ("A", "B", "drift", "K", "N", "G", "a"):
                assert relative_error(getattr(quick, key), getattr(slow, key)) < 1e-9, key
    p = len(R)
    assert relative_error(R @ quick.K, np.eye(p)) < 1e-12
    assert np.abs(plant.jacobian(q) @ quick.K).max(initial=0.0) < 1e-11 * np.abs(quick.K).max()
    assert np.abs(R @ quick.N).max(initial=0.0) < 1e-9 * max(np.abs(quick.N).max(), 1.0)

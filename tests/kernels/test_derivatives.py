"""The compiled reduction to independent coordinates is that of the matrices."""

import numpy as np
import pytest

from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.linear.reduced import MOVING, CoordinateRows, reduce, reduced_model
from tests import fixtures
from tests.fixtures import driven_state, mixed_coordinates, relative_error, sprung_machine


@pytest.mark.parametrize("seed", range(6))
def test_kernel_and_matrices_agree(seed):
    """The compiled reduction, and the formulas in matrices."""
    kinds = [fixtures.LOOPS[i] for i in np.random.default_rng(seed).permutation(len(fixtures.LOOPS))[:2]]
    plant, q = sprung_machine(seed, kinds, twice=seed % 2 == 1)
    q, v, u = driven_state(plant, q, seed)
    R = mixed_coordinates(plant, q)
    for moving in (False, True):
        quick = reduced_model(plant, q, v, u, R, moving=moving)
        slow = reduce(plant, derivatives(plant, q, v, u), CoordinateRows.linear(R), MOVING if moving else -0.5)
        for key in ("A", "B", "drift", "K", "N", "G", "a"):
            assert relative_error(getattr(quick, key), getattr(slow, key)) < 1e-9, key
    p = len(R)
    assert relative_error(R @ quick.K, np.eye(p)) < 1e-12
    assert np.abs(plant.jacobian(q) @ quick.K).max(initial=0.0) < 1e-11 * np.abs(quick.K).max()
    assert np.abs(R @ quick.N).max(initial=0.0) < 1e-9 * max(np.abs(quick.N).max(), 1.0)

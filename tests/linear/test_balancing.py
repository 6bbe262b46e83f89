"""Units in which states are of like size."""

import numpy as np
import pytest

from cmbcontrol.linear.balancing import balanced, state_scales
from tests.fixtures import largest


@pytest.mark.parametrize("seed", range(6))
def test_units_are_found(seed):
    """Of a matrix of entries of like size in other units, but for a factor that all share."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    units = 10.0 ** rng.uniform(-8.0, 8.0, n)
    A = rng.uniform(0.5, 2.0, (n, n)) * rng.choice([-1.0, 1.0], (n, n)) * units[:, None] / units
    found = state_scales(A) / units
    assert found.max() / found.min() < 16.0
    B, C = rng.standard_normal((n, 2)), rng.standard_normal((2, n))
    A2, B2, C2 = balanced(A, B, C)
    for s in (0.3j, 2.0 + 1.0j):
        one, other = (c @ np.linalg.solve(s * np.eye(n) - a, b) for a, b, c in ((A, B, C), (A2, B2, C2)))
        assert largest(one - other) < 1e-9 * largest(one)


def test_parts_of_which_one_does_not_hear_the_other():
    """They would be balanced ever better by ever larger ratios: readings that are kept, and filtered once more."""
    kept = np.zeros((10, 10))
    kept[:3, :3] = [[0.9954, 0.005, 2e-12], [-2.6, 1.0, 8e-10], [-5e9, 0.0, 0.7]]
    kept[:3, 4] = [4e-3, 2.5, 4.9e9]
    kept[4:10, 0] = [1.0, -1.2, -2.0, 196.0, -236.0, -401.0]
    kept[[7, 8, 9], [4, 5, 6]], kept[[7, 8, 9], [7, 8, 9]] = -196.0, 1.7e-28
    scales = state_scales(kept)
    assert scales.min() > 1e-40 and scales.max() < 1e40
    A, _, _ = balanced(kept, np.zeros((10, 1)), np.zeros((1, 10)))
    assert np.sort_complex(np.linalg.eigvals(A))[-3:] == pytest.approx(np.sort_complex(np.linalg.eigvals(kept))[-3:])
    assert state_scales(np.zeros((3, 3))).tolist() == [1.0] * 3
    assert state_scales(np.zeros((0, 0))).size == 0

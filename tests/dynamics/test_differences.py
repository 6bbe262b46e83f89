"""Central differences of order 8: exact for polynomials of degree 8, and of that order for others."""

import numpy as np
import pytest

from cmbcontrol.dynamics.differences import ORDER_8, jacobian, slope


def test_weights_are_exact_for_polynomials():
    """2 sum w k^p is 1 for p = 1 and 0 for the other odd powers up to 7; even powers cancel."""
    for power in (1, 3, 5, 7):
        assert 2.0 * sum(w * k**power for k, w in ORDER_8) == pytest.approx(float(power == 1), abs=1e-13)


def test_the_error_is_of_order_eight():
    """f' - found = f^(9) h^8 / 630 to first order; of exp at 0 that is h^8 / 630."""
    for h in (0.5, 0.25):
        assert 1.0 - slope(np.exp, h) == pytest.approx(h**8 / 630.0, rel=0.1)


def test_a_step_for_each_entry():
    found = jacobian(lambda x: np.array([np.sin(x[0]) * x[1], 1e6 * x[1] + x[0] ** 3, x[0]]), np.array([1e-2, 1e-8]))
    assert found.shape == (3, 2)
    assert found == pytest.approx(np.array([[0.0, 0.0], [0.0, 1e6], [1.0, 0.0]]), abs=1e-9)

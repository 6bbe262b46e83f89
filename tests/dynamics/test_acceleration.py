"""Accelerations by Gauss' principle, and what keeps them on the loops."""

import pytest

from cmbcontrol.dynamics.acceleration import baumgarte_gains


def test_gains_that_follow_from_the_step():
    """phi + h phi' + h^2 phi'' / 2 = 0: the residual vanishes at the end of the step, to second order."""
    h, phi, rate = 0.01, 3e-4, -2e-2
    alpha, beta = baumgarte_gains(h)
    acceleration_of_phi = -2.0 * alpha * rate - beta**2 * phi
    assert phi + h * rate + 0.5 * h * h * acceleration_of_phi == pytest.approx(0.0, abs=1e-18)
    with pytest.raises(ValueError, match="step must be > 0"):
        baumgarte_gains(0.0)

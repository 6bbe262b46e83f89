"""Explicit steps: digits that a state cannot hold, and the widest gap between stages."""

import numpy as np
import pytest

from cmbcontrol.kernels import runge_kutta
from cmbcontrol.papers.methods import verner65
from cmbcontrol.sim.tableaux import tableau

pytestmark = pytest.mark.nojit_slow  # whole runs


class TestPieces:
    def test_the_digits_that_a_state_cannot_hold_are_kept(self):
        x, low = np.array([np.pi, 1.0]), np.zeros(2)
        K, one = np.array([[1.0, -1.0]]), np.ones(1)
        for _ in range(1000):
            out, lost = np.empty(2), np.empty(2)
            runge_kutta.step_from(x, low, K, one, 1, 1e-17, out, lost)
            x, low = out, lost
        assert x + low == pytest.approx([np.pi + 1e-14, 1.0 - 1e-14], abs=1e-15)
        assert (x - [np.pi, 1.0] + low) == pytest.approx([1e-14, -1e-14], rel=1e-6)

    @pytest.mark.parametrize("method", ["dop853", "verner65"])
    def test_a_step_across_has_no_stage_near_the_pose(self, method):
        method = verner65() if method == "verner65" else tableau(method)
        gap = runge_kutta.widest_gap(method)
        assert np.abs(np.concatenate([method.c, method.c_extra]) - gap).min() > 0.1

"""Verner's method: its order, and that of its dense output."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.papers.methods import verner65

pytestmark = pytest.mark.nojit_slow  # whole runs


def test_order_of_verner():
    """Error of fixed steps and of the dense output on y' = y cos t; the tableau itself, without step control."""
    found, between = [], []
    tab = verner65()
    for n in (8, 16, 32):
        h, x = 2.0 / n, np.array([1.0])
        worst = 0.0
        for i in range(n):
            t, m = i * h, tab.b.size
            K = np.zeros((m + 4, 1))
            for j in range(m):
                K[j] = (x + h * tab.A[j] @ K[:m]) * np.cos(t + tab.c[j] * h)
            new = x + h * tab.b @ K[:m]
            K[m] = new * np.cos(t + h)
            for j, row in enumerate(tab.A_extra):
                K[m + 1 + j] = (x + h * row @ K) * np.cos(t + tab.c_extra[j] * h)
            F = np.empty((7, 1))
            cmb.kernels.runge_kutta.dense_coefficients(K, tab, x, new, h, F)
            out = np.empty(1)
            for s in (0.3, 0.6, 0.9):
                cmb.kernels.runge_kutta.interpolate(x, F, s, out)
                worst = max(worst, abs(out[0] - np.exp(np.sin(t + s * h))))
            x = new
        found.append(abs(x[0] - np.exp(np.sin(2.0))))
        between.append(worst)
    assert np.log2(found[0] / found[1]) > 5.5 and np.log2(found[1] / found[2]) > 5.5
    assert np.log2(between[1] / between[2]) > 5.0

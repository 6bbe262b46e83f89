"""Dense coefficients of a step: exact for the polynomials that they can be."""

import itertools

import numpy as np
import pytest

from cmbcontrol.sim.path import NODES, coefficients, path


def test_a_polynomial_is_given_back():
    """Seven values besides the start: polynomials of degree 7, at any time of any step."""
    rng = np.random.default_rng(0)
    polynomials = [np.polynomial.Polynomial(c) for c in rng.standard_normal((3, 8))]

    def exact(t):
        return np.array([p(t) for p in polynomials])

    times = np.array([0.0, 0.3, 1.0])
    F = np.array(
        [coefficients(exact(a), [exact(a + s * (b - a)) for s in NODES]) for a, b in itertools.pairwise(times)]
    )
    state = path(times, F, np.array([exact(t) for t in times]))
    for t in (0.0, 0.1, 0.3, 0.31, 0.77, 1.0):
        assert state(t) == pytest.approx(exact(t), abs=1e-12)

"""Minima of the largest of functions, where several are largest."""

import numpy as np

from cmbcontrol.design.minimax import Values, minimize_largest


def test_corners_are_met():
    """The largest of twelve quadratic functions in five dimensions: a mixture of gradients is zero."""
    rng = np.random.default_rng(3)
    G, f = rng.standard_normal((12, 5)), rng.standard_normal(12)

    def largest(x, bound=np.inf):
        values = f + G @ x + 0.01 * (x @ x)
        order = np.argsort(-values)
        return Values(values[order], (G + 0.02 * x)[order], order, np.zeros(12))

    found = minimize_largest(largest, np.zeros(5), tolerance=1e-9)
    end = largest(found.x)
    near = end.values > end.largest - 1e-6
    rows = np.vstack([end.gradients[near].T, np.ones(near.sum())])
    weights = np.linalg.lstsq(rows, np.r_[np.zeros(5), 1.0], rcond=None)[0]
    assert near.sum() >= 2 and weights.min() > -1e-3
    assert np.abs(rows @ weights - np.r_[np.zeros(5), 1.0]).max() < 1e-3


def test_a_valley_with_a_bend():
    """Rosenbrock's valley, with its sides as corners: |10 (y - x^2)| and (1 - x)^2 together, zero at (1, 1)."""

    def largest(z, bound=np.inf):
        x, y = z
        parts = [10.0 * (y - x * x), -10.0 * (y - x * x)]
        values = np.array([p + (1.0 - x) ** 2 for p in parts])
        slopes = np.array([[-20.0 * x - 2.0 * (1.0 - x), 10.0], [20.0 * x - 2.0 * (1.0 - x), -10.0]])
        order = np.argsort(-values)
        return Values(values[order], slopes[order], order, np.zeros(2))

    found = minimize_largest(largest, np.array([-1.2, 1.0]), tolerance=1e-12)
    assert found.value < 1e-5
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-2)


def test_where_it_is_not_defined_it_does_not_go():
    """A barrier: the minimum is on the border, which steps come near and do not cross."""

    def largest(x, bound=np.inf):
        if x[0] <= 0.0:
            return None
        return Values(x.copy(), np.ones((1, 1)), np.zeros(1, dtype=int), np.zeros(1))

    found = minimize_largest(largest, np.array([3.0]))
    assert 0.0 < found.value < 1e-3

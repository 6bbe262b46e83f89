"""Fractions of quadratic functions: the same values, and repetitions that the ranks ask for."""

import numpy as np
import pytest

from cmbcontrol.linear.fractional import Quadratic, fraction, interpolated


def random_quadratic(seed, count=4, rank=2):
    """Matrices of given rank in all terms, of entries about one."""
    rng = np.random.default_rng(seed)

    def low():
        return rng.standard_normal((5, rank)) @ rng.standard_normal((rank, 7))

    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    return Quadratic(rng.standard_normal((5, 7)), [low() for _ in range(count)], {pair: low() for pair in pairs})


def value(quadratic, x):
    found = quadratic.constant + np.tensordot(x, quadratic.first, 1)
    return found + sum(x[i] * x[j] * Q for (i, j), Q in quadratic.second.items())


@pytest.mark.parametrize("seed", range(5))
def test_a_quadratic_function_is_found_and_is_its_fraction(seed):
    given = random_quadratic(seed)
    found = interpolated(lambda x: value(given, x), 4)
    made = fraction(found, 1e-12)
    for x in np.random.default_rng(seed).uniform(-1.0, 1.0, (20, 4)):
        truth = value(given, x)
        np.testing.assert_allclose(value(found, x), truth, atol=1e-13 * np.abs(truth).max())
        np.testing.assert_allclose(found.constant + made(x), truth, atol=1e-12 * np.abs(truth).max())


@pytest.mark.smoke
def test_repetitions_are_ranks():
    """A sum of terms of rank one in x and of rank two in y; x y of rank one adds a channel of y at most."""
    rng = np.random.default_rng(3)
    a, b, c = (np.outer(rng.standard_normal(6), rng.standard_normal(6)) for _ in range(3))
    zero = np.zeros((6, 6))
    apart = Quadratic(zero, [a, b + c], {(0, 0): zero, (0, 1): zero, (1, 1): zero})
    assert fraction(apart, 1e-12).repetitions == [1, 2]
    together = Quadratic(zero, [a, zero], {(0, 0): zero, (0, 1): a, (1, 1): zero})  # x (1 + y) a
    assert fraction(together, 1e-12).repetitions == [1, 1]
    square = Quadratic(zero, [zero, zero], {(0, 0): a, (0, 1): zero, (1, 1): zero})
    assert fraction(square, 1e-12).repetitions == [2, 0]


def test_a_smooth_function_is_met_to_the_third_order():
    """exp(h x) to h^3 / (9 sqrt 3) at most, the largest x - x^3 over 6."""
    for h in (0.1, 0.2):
        found = interpolated(lambda x, h=h: np.exp(h * x[:, None]), 1)
        off = max(abs(value(found, np.array([x])) - np.exp(h * x)).item() for x in np.linspace(-1.0, 1.0, 401))
        assert 0.9 < off / (h**3 / (9.0 * np.sqrt(3.0))) < 1.2


def test_columns_of_zeros_stay_zeros():
    given = random_quadratic(0)
    for Q in (*given.first, *given.second.values()):
        Q[:, 2], Q[1] = 0.0, 0.0
    made = fraction(given, 1e-12)
    assert not made.R[:, 2].any() and not made.L[1].any()

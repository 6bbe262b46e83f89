"""Coefficients of methods: order conditions by rooted trees."""

from functools import cache
from math import prod

import numpy as np
import pytest

from cmbcontrol.sim.tableaux import rosenbrock, sdirk4, tableau


@cache
def trees(order):
    """Rooted trees with so many nodes; a tree is the sorted tuple of its branches."""
    if order == 1:
        return ((),)
    found = set()
    for tree in trees(order - 1):
        found |= set(_grafted(tree))
    return tuple(sorted(found))


def _grafted(tree):
    """The trees with one leaf more."""
    yield tuple(sorted((*tree, ())))
    for i, branch in enumerate(tree):
        for more in _grafted(branch):
            yield tuple(sorted((*tree[:i], more, *tree[i + 1 :])))


def nodes(tree):
    return 1 + sum(map(nodes, tree))


def density(tree):
    return nodes(tree) * prod(map(density, tree))


def weights(tree, alpha, beta):
    """Elementary weights of the stages; single branches carry beta, several carry alpha (Hairer and Wanner, IV.7)."""
    along = beta if len(tree) == 1 else alpha
    values = np.ones(len(alpha))
    for branch in tree:
        values = values * (along @ weights(branch, alpha, beta))
    return values


def violation(b, alpha, beta, order, s=1.0):
    """Largest error of the conditions up to an order, at s of the step."""
    all_trees = [tree for n in range(1, order + 1) for tree in trees(n)]
    return max(abs(b @ weights(t, alpha, beta) - s ** nodes(t) / density(t)) for t in all_trees)


def test_trees_are_complete():
    assert [len(trees(n)) for n in range(1, 6)] == [1, 1, 2, 4, 9]


def rosenbrock_weights(method):
    """(alpha, beta, gamma) of k-variables, and weights of x1, of the embedded solution and of x(s)."""
    tab = rosenbrock(method)
    Gamma = np.linalg.inv(np.eye(tab.c.size) / tab.gamma - tab.C)
    m = tab.A[-1].copy()
    embedded = m @ Gamma
    m[-1] += 1.0

    def dense(s):
        bend = sum(s**k * D for k, D in enumerate(tab.dense))
        return (s * m + s * (1.0 - s) * bend) @ Gamma

    return tab, tab.A @ Gamma, Gamma, m @ Gamma, embedded, dense


@pytest.mark.parametrize(("method", "order"), [("rodas4", 4), ("rodas5p", 5)])
def test_rosenbrock_conditions(method, order):
    tab, alpha, Gamma, b, embedded, dense = rosenbrock_weights(method)
    beta = alpha + Gamma
    assert tab.order == order
    assert np.allclose(alpha.sum(1), tab.c, atol=1e-12) and np.allclose(Gamma.sum(1), tab.d, atol=1e-12)
    assert np.allclose(np.diag(Gamma), tab.gamma, atol=1e-14)
    assert violation(b, alpha, beta, order) < 1e-11
    assert violation(embedded, alpha, beta, order - 1) < 1e-11
    assert violation(embedded, alpha, beta, order) > 1e-4  # else it estimates nothing
    for s in (0.2, 0.5, 0.9):
        assert violation(dense(s), alpha, beta, order - 1, s) < 1e-11
    assert np.allclose(dense(1.0), b, atol=1e-13)
    assert_l_stable(b, beta)


def test_sdirk_conditions():
    tab = sdirk4()
    assert violation(tab.b, tab.A, tab.A, 4) < 1e-13
    assert violation(tab.b - tab.error, tab.A, tab.A, 3) < 1e-13
    assert violation(tab.b - tab.error, tab.A, tab.A, 4) > 1e-4
    assert np.array_equal(tab.A[-1], tab.b) and set(np.diag(tab.A)) == {0.25}
    for s in (0.2, 0.5, 0.9):
        assert violation(s ** np.arange(1, 5) @ tab.dense, tab.A, tab.A, 3, s) < 1e-12
    assert np.allclose(tab.dense.sum(0), tab.b, atol=1e-12)
    cubic = np.array([tab.guess[i] @ tab.c**2 for i in range(3, 5)])
    assert np.allclose(cubic, tab.c[3:] ** 2)  # slopes are continued by a polynomial
    assert_l_stable(tab.b, tab.A)


def assert_l_stable(b, beta):
    """|R(iy)| <= 1, and R(-inf) = 0, R(z) = 1 + z b (1 - z beta)^-1 1."""
    one = np.ones(b.size)
    for y in np.logspace(-2, 4, 60):
        assert abs(1.0 + 1j * y * b @ np.linalg.solve(np.eye(b.size) - 1j * y * beta, one)) < 1.0 + 1e-12
    assert abs(1.0 - b @ np.linalg.solve(beta, one)) < 1e-11


def test_explicit_conditions():
    rk4, dop853 = tableau("rk4"), tableau("dop853")
    assert violation(rk4.b, rk4.A, rk4.A, 4) < 1e-15
    assert violation(dop853.b, dop853.A, dop853.A, 6) < 1e-13
    assert max(abs(dop853.b @ dop853.c**k - 1.0 / (k + 1)) for k in range(8)) < 1e-14

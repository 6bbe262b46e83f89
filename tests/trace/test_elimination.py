"""Sparse elimination, in numbers: it computes with whatever it is given."""

import numpy as np
import pytest

from cmbcontrol.trace.elimination import ConstrainedSolver, Factor, fewest_first, largest, smallest, sparse, symmetric
from cmbcontrol.trace.graph import Graph


def tree_matrix(rng, n):
    """Positive definite, with entries where one of a tree's coordinates moves the other."""
    parents = [int(rng.integers(-1, i)) for i in range(n)]
    J = np.zeros((n, n))
    for i in range(n):
        k = i
        while k >= 0:
            J[i, k] = rng.standard_normal()
            k = parents[k]
    return J.T @ (rng.uniform(0.1, 10.0, n)[:, None] * J) + np.diag(rng.uniform(0.1, 1.0, n))


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_factor_of_a_tree_is_not_filled_in(n):
    rng = np.random.default_rng(n)
    M, x = tree_matrix(rng, n), rng.standard_normal(n)
    factor = Factor([sparse(row) for row in M], list(range(n - 1, -1, -1)))
    assert sum(map(len, factor.below)) == np.count_nonzero(np.tril(M, -1))
    found = factor.solve(sparse(x))
    np.testing.assert_allclose([found[k] for k in range(n)], np.linalg.solve(M, x), rtol=1e-9)
    assert np.prod(factor.pivots) == pytest.approx(np.linalg.det(M), rel=1e-9)


@pytest.mark.parametrize("order", ["given", "fewest"])
def test_order_of_elimination_does_not_change_the_solution(order):
    rng = np.random.default_rng(5)
    n = 12
    A = np.diag(rng.uniform(5.0, 9.0, n))
    for i, k in rng.integers(0, n, (10, 2)):
        A[i, k] = A[k, i] = A[i, k] + 0.5 * rng.standard_normal()
    rows = [sparse(row) for row in A]
    taken = [int(k) for k in rng.permutation(n)] if order == "given" else fewest_first([set(row) for row in rows])
    x = rng.standard_normal(n)
    found = Factor(rows, taken).solve(sparse(x))
    np.testing.assert_allclose([found[k] for k in range(n)], np.linalg.solve(A, x), rtol=1e-12)


def test_fewest_first_takes_a_star_from_its_tips_and_a_chain_without_fill():
    assert fewest_first([{1, 2, 3, 4}, {0}, {0}, {0}, {0}])[:3] == [1, 2, 3]
    chain = [{k for k in (i - 1, i + 1) if 0 <= k < 50} for i in range(50)]
    left, filled = [set(x) for x in chain], 0
    for k in fewest_first(chain):
        for i in left[k]:
            filled += len(left[k] - left[i] - {i})
            left[i] = (left[i] | left[k]) - {i, k}
    assert filled == 0


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_constrained_solver_against_the_whole_system(rows):
    rng = np.random.default_rng(rows)
    n = 9
    M, f = tree_matrix(rng, n), rng.standard_normal(n)
    A = rng.standard_normal((rows, n)) * (rng.random((rows, n)) < 0.6)
    c = rng.standard_normal(rows)
    K = np.block([[M, A.T], [A, np.zeros((rows, rows))]])
    expected = np.linalg.solve(K, np.concatenate([f, c]))
    solver = ConstrainedSolver(
        Factor([sparse(row) for row in M], list(range(n - 1, -1, -1))), [sparse(row) for row in A]
    )
    x, lam = solver.solve(sparse(f), sparse(c))
    np.testing.assert_allclose([x[k] for k in range(n)], expected[:n], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose([lam[k] for k in range(rows)], expected[n:], rtol=1e-8, atol=1e-9)
    least = solver.least_change(sparse(c))
    by_formula = np.linalg.solve(M, A.T) @ np.linalg.solve(A @ np.linalg.solve(M, A.T), c) if rows else np.zeros(n)
    np.testing.assert_allclose([least.get(k, 0.0) for k in range(n)], by_formula, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solver.gradients, np.diag(A @ np.linalg.solve(M, A.T)), rtol=1e-9)


def test_extremes():
    assert smallest([3.0, -1.0, 2.0]) == -1.0
    assert largest([3.0, 1.0]) == 3.0
    assert smallest([]) == np.inf
    assert largest([]) == 0.0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 9])
def test_eigenvalues_by_rotations(n):
    """Of numbers and of symbols at their sample: those of LAPACK, also where some are equal, zero or far apart."""
    rng = np.random.default_rng(n)
    for values in (rng.standard_normal(n), np.ones(n), np.zeros(n), 10.0 ** rng.uniform(-12.0, 3.0, n)):
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        S = Q @ np.diag(values) @ Q.T
        S = 0.5 * (S + S.T)
        graph = Graph()
        symbols = np.empty((n, n), object)
        for i in range(n):
            for j in range(n):
                symbols[i, j] = graph.input("x", n * min(i, j) + max(i, j), S[i, j])
        found, U, left = symmetric(symbols)
        number = np.vectorize(lambda x: getattr(x, "value", x), otypes=[float])
        scale = np.abs(values).max() + 1e-300
        assert number(left) <= (1e-13 * scale) ** 2
        np.testing.assert_allclose(np.sort(number(np.array(found, object))), np.sort(values), atol=1e-14 * scale)
        np.testing.assert_allclose(number(U).T @ number(U), np.eye(n), atol=1e-14)
        np.testing.assert_allclose(
            number(U) @ np.diag(number(np.array(found, object))) @ number(U).T, S, atol=1e-14 * scale
        )

"""Nearest points of convex sets: against their conditions of optimality, linear programs and cvxpy."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from cmbcontrol.kernels.conic import CONTRADICTION, FOUND, UNSOLVED, missing_force, nearest_point
from tests.fixtures import largest

SEEDS = range(120)


def found(T, d, E=None, e=(), C=None, b=(), G=None, g=(), cones=()):
    """Status and point."""
    n = T.shape[1]
    E, C, G = (np.zeros((0, n)) if X is None else np.array(X, dtype=float) for X in (E, C, G))
    e, b, g = (np.array(x, dtype=float) for x in (e, b, g))
    x, kept = np.zeros(n), T.copy()
    status = nearest_point(T, d, E, e, C, b, G, g, np.array(cones, dtype=np.int64), x)
    assert np.array_equal(T, kept) or np.isnan(T).any()
    return status, x


def random_program(seed, cones=False):
    """A metric, equations and half spaces, some of them written twice, and cones; not always is there a point."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    T = rng.standard_normal((n + int(rng.integers(0, 3)), n)) * 10.0 ** rng.uniform(-2.0, 2.0)
    d = 3.0 * np.abs(T).max() * rng.standard_normal(len(T))
    equations, rows = int(rng.integers(0, n)), int(rng.integers(0, 16))
    E, C = rng.standard_normal((equations, n)), rng.standard_normal((rows, n))
    e, b = rng.standard_normal(equations), rng.standard_normal(rows) - 1.0
    if seed % 3 == 0 and rows:  # limits that are redundant, and some that are equal
        C, b = np.concatenate([C, 2.0 * C[:2], -C[:1]]), np.concatenate([b, 2.0 * b[:2], -b[:1]])
    if seed % 4 == 0 and equations:
        E, e = np.concatenate([E, E[:1] - E[-1:]]), np.append(e, e[0] - e[-1])
    sizes = [int(size) for size in rng.integers(3, 6, rng.integers(1, 3))] if cones else []
    G, g = rng.standard_normal((sum(sizes), n)), rng.standard_normal(sum(sizes))
    g[np.cumsum([0, *sizes[:-1]], dtype=int)[: len(sizes)]] += 1.0
    return T, d, E, e, C, b, G, g, sizes


def is_optimal(x, T, d, E, e, C, b, G, g, sizes):
    """The conditions of Karush, Kuhn and Tucker: equations, active limits and cones bear what the cost pushes."""
    scale = 1.0 + largest(x)
    kept = largest(E @ x - e) < 1e-9 * scale and (C @ x - b).min(initial=0.0) > -1e-9 * scale
    bearing, tips, first, conic = [*E, *-E, *C[C @ x - b < 1e-8 * scale]], [], 0, G @ x + g
    for size in sizes:
        head, tail, block = conic[first], conic[first + 1 : first + size], G[first + 1 : first + size]
        across = np.linalg.norm(tail)
        kept = kept and across - head < 1e-9 * scale
        if across < 1e-8 * scale and head < 1e-8 * scale:
            tips.append(G[first : first + size])
        elif across - head > -1e-8 * scale:
            bearing.append(G[first] - tail @ block / across)
        first += size
    slope = T.T @ (T @ x - d)
    return kept and unborne(slope / (1.0 + np.linalg.norm(T.T @ d)), np.reshape(bearing, (-1, len(x))), tips) < 1e-7


def unborne(slope, bearing, tips):
    """What is left of a slope beside rows with factors >= 0, and blocks at tips with factors in their cones."""
    if not tips:
        return nnls(bearing.T, slope)[1] if len(bearing) else np.linalg.norm(slope)
    import cvxpy as cp

    y, z = cp.Variable(len(bearing), nonneg=True), [cp.Variable(len(rows)) for rows in tips]
    left = slope - bearing.T @ y - sum(rows.T @ part for rows, part in zip(tips, z, strict=True))
    problem = cp.Problem(cp.Minimize(cp.norm(left)), [cp.SOC(part[0], part[1:]) for part in z])
    return problem.solve(solver=cp.CLARABEL)


def has_point(T, d, E, e, C, b, G, g, sizes):
    """Whether there is a point that keeps to everything, by cvxpy."""
    import cvxpy as cp

    x, first = cp.Variable(T.shape[1]), 0
    rules = [E @ x == e, C @ x >= b]
    for size in sizes:
        block = slice(first + 1, first + size)
        rules.append(cp.SOC(G[first] @ x + g[first], G[block] @ x + g[block]))
        first += size
    problem = cp.Problem(cp.Minimize(0), rules)
    problem.solve(solver=cp.CLARABEL)
    return problem.status == "optimal"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_polyhedra_of_all_sizes(scale):
    """The metric may have any scale: only where its minimum is counts."""
    contradictions = 0
    for seed in SEEDS:
        numbers = random_program(seed)
        T, d, E, e, C, b, *_ = numbers
        status, x = found(scale * T, scale * d, E, e, C, b)
        possible = linprog(np.zeros(len(x)), -C, -b, E, e, (None, None)).status == 0
        assert status == (FOUND if possible else CONTRADICTION), seed
        assert not possible or is_optimal(x, *numbers), seed
        contradictions += not possible
    assert 5 < contradictions < 60


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_far_and_near_points(scale):
    """Unknowns of any scale, as far as what counts as kept (1e-12) is small beside them."""
    for seed in SEEDS[::4]:
        T, d, E, e, C, b, *_ = random_program(seed)
        status, x = found(T, d, E, e, C, b)
        again, y = found(T, scale * d, E, scale * e, C, scale * b)
        assert again == status and (status != FOUND or largest(y / scale - x) < 1e-5 * (1.0 + largest(x))), seed


def test_cones_of_all_sizes():
    counts = [0, 0, 0]
    for seed in SEEDS:
        numbers = random_program(seed, cones=True)
        status, x = found(*numbers)
        counts[status] += 1
        if status == FOUND:
            assert is_optimal(x, *numbers), seed
        elif status == CONTRADICTION:
            assert not has_point(*numbers), seed
    assert counts[FOUND] > 40 and counts[CONTRADICTION] > 5 and counts[UNSOLVED] <= 1


class TestDegenerate:
    plane = np.eye(2)

    def test_nothing_to_keep(self):
        rng = np.random.default_rng(0)
        T, d = rng.standard_normal((5, 3)), rng.standard_normal(5)
        status, x = found(T, d)
        assert status == FOUND and x == pytest.approx(np.linalg.lstsq(T, d, rcond=None)[0], abs=1e-13)

    def test_nothing_to_choose(self):
        empty = np.zeros((0, 0))
        assert found(empty, np.zeros(0))[0] == FOUND
        assert found(empty, np.zeros(0), C=np.zeros((1, 0)), b=[-1.0])[0] == FOUND
        assert found(empty, np.zeros(0), C=np.zeros((1, 0)), b=[1.0])[0] == CONTRADICTION

    def test_limits_that_leave_one_value(self):
        status, x = found(self.plane, np.array([3.0, 4.0]), C=[[1.0, 0.0], [-1.0, 0.0]], b=[0.5, -0.5])
        assert status == FOUND and x == pytest.approx([0.5, 4.0], abs=1e-14)

    def test_more_limits_active_than_freedoms(self):
        """Ten lines through one corner."""
        turn = np.linspace(0.1, 1.4, 10)
        C = -np.column_stack([np.cos(turn), np.sin(turn)])
        status, x = found(self.plane, np.array([5.0, 5.0]), C=C, b=C @ [1.0, 2.0])
        assert status == FOUND and x == pytest.approx([1.0, 2.0], abs=1e-12)

    def test_equations_that_depend_on_others(self):
        E = np.array([[1.0, 1.0], [2.0, 2.0]])
        status, x = found(self.plane, np.zeros(2), E=E, e=[1.0, 2.0])
        assert status == FOUND and x == pytest.approx([0.5, 0.5], abs=1e-14)
        assert found(self.plane, np.zeros(2), E=E, e=[1.0, 2.1])[0] == CONTRADICTION

    def test_limits_that_contradict_each_other(self):
        assert found(self.plane, np.zeros(2), C=[[1.0, 0.0], [-1.0, 0.0]], b=[1.0, -0.9])[0] == CONTRADICTION
        assert found(self.plane, np.zeros(2), E=[[1.0, 0.0]], e=[0.0], C=[[1.0, 0.0]], b=[1.0])[0] == CONTRADICTION

    def test_costs_that_say_nothing_of_an_unknown(self):
        assert found(np.ones((2, 2)), np.ones(2))[0] == UNSOLVED
        assert found(np.ones((1, 2)), np.ones(1))[0] == UNSOLVED

    def test_numbers_that_are_none(self):
        with np.errstate(all="ignore"):
            assert found(np.full((2, 2), np.nan), np.ones(2))[0] == UNSOLVED
            assert found(self.plane, np.array([np.nan, 1.0]))[0] == UNSOLVED

    def test_costs_of_very_different_weight(self):
        """A cost of 1e-10 decides where the others leave a choice, to the digits that it leaves."""
        rng = np.random.default_rng(1)
        R, n = rng.standard_normal((2, 5)), rng.standard_normal(2)
        T, d = np.concatenate([R, 1e-5 * np.eye(5)]), np.append(n, np.zeros(5))
        status, x = found(T, d, C=np.concatenate([np.eye(5), -np.eye(5)]), b=np.full(10, -10.0))
        assert status == FOUND and x == pytest.approx(np.linalg.pinv(R) @ n, abs=1e-8)


class TestCones:
    @pytest.mark.parametrize("mu", [1e-4, 0.5, 1.0, 1e4])
    @pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
    @pytest.mark.parametrize("k", [3, 4])
    def test_projection(self, mu, size, k):
        """The nearest point of |tail| <= mu head: inside, on the cone, or its tip. Narrow cones and wide ones."""
        rng = np.random.default_rng(k)
        G = np.diag([1.0, *[1.0 / mu] * (k - 1)]) * min(mu, 1.0)
        for head in (-2.0, -0.3, 0.1, 1.0, 5.0):
            p = size * np.array([head, *rng.standard_normal(k - 1)])
            across = np.linalg.norm(p[1:])
            edge = np.array([1.0, *(mu * p[1:] / across)]) / np.hypot(1.0, mu)
            expected = p if across <= mu * p[0] else max(edge @ p, 0.0) * edge
            status, x = found(np.eye(k), p, G=G, g=np.zeros(k), cones=[k])
            assert status == FOUND and largest(x - expected) < 1e-8 * max(size, 1.0)

    def test_a_tip_within_other_limits(self):
        """A contact that separates: its forces are zero, and another limit is active besides."""
        G = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
        status, x = found(
            np.eye(4),
            np.array([-2.0, 0.1, -0.2, 3.0]),
            C=[[0.0, 0.0, 0.0, -1.0]],
            b=[-1.0],
            G=G,
            g=np.zeros(3),
            cones=[3],
        )
        assert status == FOUND and x == pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-9)

    def test_cones_that_have_no_point_in_common(self):
        G = np.concatenate([np.diag([1.0, 1.0, 1.0]), np.diag([-1.0, 1.0, 1.0])])
        g = np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # head >= 1 and head <= 0
        assert found(np.eye(3), np.zeros(3), G=G, g=g, cones=[3, 3])[0] == CONTRADICTION

    def test_what_is_missing(self):
        conic, cones = np.array([1.0, 3.0, 4.0, 5.0, 1.0]), np.array([3, 2])
        assert missing_force(np.array([0.5, -0.2]), conic, cones) == 4.0
        assert missing_force(np.array([0.5, -0.2]), conic[3:], cones[1:]) == 0.2
        assert missing_force(np.zeros(0), np.zeros(0), cones[:0]) == 0.0

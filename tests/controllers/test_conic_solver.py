"""The conic program: both solvers against its conditions of optimality, and against other solvers."""

import pickle

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from cmbcontrol.controllers.conic_solver import SOLVERS, ConvexProgram, Costs, ProgramShape
from tests.fixtures import largest

ALL = np.ones(3, dtype=bool)


def program(rng, **given):
    """min |L x - l|^2 and so on for three unknowns, with no forces and no cones unless given."""
    empty = dict(
        L=np.eye(3), l=np.zeros(3), R=rng.standard_normal((2, 3)), n=rng.standard_normal(2),
        lower=np.full(3, -1.0), upper=np.full(3, 1.0),
        F=np.zeros((0, 3)), f=np.zeros(0), G=np.zeros((0, 3)), g=np.zeros(0),
    )  # fmt: skip
    return ConvexProgram(**(empty | given))


@pytest.mark.parametrize("solver", SOLVERS)
def test_bounded_least_squares_are_those_of_scipy(solver):
    rng = np.random.default_rng(0)
    solve = SOLVERS[solver](ProgramShape(3, ALL, ALL, 5, 0, ()))
    for _ in range(10):
        R, n = rng.standard_normal((5, 3)), 3.0 * rng.standard_normal(5)
        x = solve(program(rng, R=R, n=n), Costs(square=1.0))
        expected = lsq_linear(R, n, (-1.0, 1.0), tol=1e-14).x
        assert largest(x - expected) < 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_projection_on_a_cone(solver):
    """The nearest point of the cone |(x1, x2)| <= x0 to (s, y) outside of it is (1 + s/|y|)/2 (|y|, y)."""
    solve = SOLVERS[solver](ProgramShape(3, ~ALL, ~ALL, 1, 0, (3,)))
    no_motion = dict(R=np.zeros((1, 3)), n=np.zeros(1))
    for s, y in ((1.0, np.array([3.0, 4.0])), (-2.0, np.array([0.0, 5.0]))):
        x = solve(
            program(np.random.default_rng(1), l=np.array([s, *y]), G=np.eye(3), g=np.zeros(3), **no_motion),
            Costs(effort=1.0, contact=1e3),
        )
        norm = np.linalg.norm(y)
        assert x == pytest.approx(0.5 * (1.0 + s / norm) * np.array([norm, *y]), abs=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_forces_are_kept_with_the_least_efforts(solver):
    """min |x|^2 with x0 + x1 >= 1: half each."""
    solve = SOLVERS[solver](ProgramShape(3, ALL, ALL, 1, 1, ()))
    given = dict(R=np.zeros((1, 3)), n=np.zeros(1), F=np.array([[1.0, 1.0, 0.0]]), f=np.array([-1.0]))
    x = solve(program(np.random.default_rng(2), **given), Costs(effort=1.0, contact=1e3))
    assert x == pytest.approx([0.5, 0.5, 0.0], abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_largest_entry_of_the_slack_is_least(solver):
    """One unknown within 1 that is wanted at 3 and at -1: the largest miss is 2, in the middle."""
    one = np.ones(1, dtype=bool)
    solve = SOLVERS[solver](ProgramShape(1, one, one, 2, 0, ()))
    numbers = ConvexProgram(
        np.eye(1), np.zeros(1), np.ones((2, 1)), np.array([3.0, -1.0]), np.full(1, -5.0), np.full(1, 5.0),
        np.zeros((0, 1)), np.zeros(0), np.zeros((0, 1)), np.zeros(0),
    )  # fmt: skip
    assert solve(numbers, Costs(peak=1.0)) == pytest.approx([1.0], abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_copies_and_numbers_that_are_none(solver):
    shape, rng = ProgramShape(3, ALL, ALL, 2, 0, ()), np.random.default_rng(3)
    numbers = program(rng)
    solve = SOLVERS[solver](shape)
    copied = pickle.loads(pickle.dumps(solve))
    assert copied(numbers, Costs(effort=1.0, square=1.0)) == pytest.approx(
        solve(numbers, Costs(effort=1.0, square=1.0)), abs=1e-9
    )
    assert solve(numbers._replace(n=np.array([np.nan, 1.0])), Costs(square=1.0)) is None

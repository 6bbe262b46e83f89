"""What makes calls of laws cheap changes nothing: kernels against numpy, arrays of any kind, chains that remember."""

import numpy as np
import pytest

from cmbcontrol import Constant, Sine, _check, actuation, plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol._tolerance import DEPENDENT, ROUNDING
from cmbcontrol.controllers import (
    ConstrainedActuation,
    FilteredDifference,
    PointTask,
    ProjectedInverseDynamics,
    RateLimit,
    Saturation,
)
from cmbcontrol.kernels import linear_algebra, signals


@pytest.fixture(scope="module")
def plant():
    return plants.five_bar()


@pytest.fixture(scope="module")
def terms(plant):
    q = plant.assemble(left=2.1, right=1.0)
    return plant.terms(q, plant.project_velocity(q, [0.3, 0.1, 0.2, 0.5]), 0.3)


# -- kernels against numpy --------------------------------------------------------------------------------


def matrices():
    """Wide, tall and square ones; graded, of deficient rank, zero, and empty."""
    rng = np.random.default_rng(4)
    for m, n in ((4, 4), (6, 3), (2, 5), (1, 1)):
        X = rng.standard_normal((m, n))
        yield X
        yield X * 10.0 ** -np.arange(0.0, 3.0 * n, 3.0)
        yield X[:, :1] @ rng.standard_normal((1, n))
        yield np.zeros((m, n))
    yield np.zeros((3, 0))
    yield np.zeros((0, 3))


@pytest.mark.parametrize("X", list(matrices()))
def test_singular_values(X):
    turned, V = X.copy(), np.empty((X.shape[1], X.shape[1]))
    s = linear_algebra.singular_values(turned, V)
    expected = np.append(np.linalg.svd(X, compute_uv=False), np.zeros(X.shape[1]))[: X.shape[1]]
    size = expected.max(initial=0.0)
    assert s == pytest.approx(expected, abs=1e-15 * size)
    assert turned == pytest.approx(X @ V, abs=1e-15 * size)
    assert np.abs(V.T @ V - np.eye(len(V))).max(initial=0.0) < 1e-14
    kept = turned[:, s > 1e-12 * size] / s[s > 1e-12 * size]
    assert kept.T @ kept == pytest.approx(np.eye(kept.shape[1]), abs=1e-13)


def test_small_singular_values_of_graded_columns_keep_their_digits():
    """As those of the rows of a machine that is described in odd units; LAPACK's have the error of the largest one."""
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 3)))[0]
    s = linear_algebra.singular_values(Q * [1.0, 1e-9, 1e-18], np.empty((3, 3)))
    assert s == pytest.approx([1.0, 1e-9, 1e-18], rel=1e-14)


def test_smallest_solutions():
    rng = np.random.default_rng(2)
    X, sides = rng.standard_normal((3, 5)), rng.standard_normal((4, 3))
    assert linear_algebra.smallest_solutions(X, sides) == pytest.approx(sides @ np.linalg.pinv(X).T, abs=1e-13)
    assert linear_algebra.smallest_solutions(X, sides[:0]).shape == (0, 5)


@pytest.mark.parametrize("motors", [0, 1, 2, 4])
def test_what_motors_reach_against_singular_values_of_numpy(plant, terms, motors):
    rng = np.random.default_rng(motors)
    B = rng.standard_normal((4, motors)) * [1.0, 300.0, 1e-2, 5.0][:motors]
    root = np.tril(rng.standard_normal((4, 4))) + 3.0 * np.eye(4)
    s, scaled, motions, forces, efforts = linear_algebra.reached_motions(
        root, np.linalg.inv(root), terms.unit_motions, B, DEPENDENT, ROUNDING
    )
    Z = np.linalg.qr(root.T @ terms.Z)[0]
    U = np.linalg.qr(np.linalg.solve(root, B))[0]
    cosines = np.linalg.svd(Z.T @ U, compute_uv=False)
    found = min(motors, 2)
    assert s[:found] == pytest.approx(cosines[:found], abs=1e-14)
    assert not s[found:].any() and not forces[:, found:].any() and not efforts[:, found:].any()
    assert scaled.T @ scaled == pytest.approx(np.eye(2), abs=1e-14)
    assert root.T @ motions == pytest.approx(scaled, abs=1e-13)
    assert terms.A @ motions == pytest.approx(np.zeros((2, 2)), abs=1e-13)
    assert motions.T @ forces == pytest.approx(np.diag(s), abs=1e-13)
    assert B @ efforts == pytest.approx(forces, abs=1e-12)
    smallest = np.linalg.pinv(B) @ forces
    assert efforts == pytest.approx(smallest, abs=1e-13 * np.abs(smallest).max(initial=1.0))


def test_a_plant_without_motors_reaches_nothing():
    plant = plants.five_bar()
    bare = type(plant)("bare", plant.bodies, plant.joints, plant.loops, gravity=plant.gravity)
    found = actuation(bare, plant.assemble(left=2.1, right=1.0))
    assert (found.rank, found.dof, found.margin, found.efforts.shape) == (0, 2, 0.0, (0, 2))


@pytest.mark.parametrize(
    ("hold", "more", "limits", "expected"),
    [
        ([1.0, 2.0], [4.0, -8.0], [3.0, 4.0], 0.5),
        ([1.0, 2.0], [4.0, -8.0], [np.inf, np.inf], 1.0),
        ([1.0, 2.0], [4.0, 0.0], [3.0, 1.0], 0.0),  # not even at rest
        ([5.0, 0.0], [-8.0, 1.0], [3.0, 2.0], 1.0),  # beyond the limit at rest, within it all the way
        ([5.0, 0.0], [-1.0, 1.0], [3.0, 2.0], 0.0),
        ([0.0, 0.0], [0.0, 0.0], [3.0, 2.0], 1.0),
    ],
)
def test_the_largest_scale_within_limits(hold, more, limits, expected):
    assert signals.largest_scale(np.array(hold), np.array(more), np.array(limits)) == expected


def test_a_sine_has_its_derivatives():
    path = Sine([2.0, 1.0], [0.2, 0.1], [0.5, 2.0], [0.3, -1.0])
    h, t = 1e-4, 0.7
    before, now, after = path(t - h), path(t), path(t + h)
    assert now[0] == pytest.approx(path.centre + path.amplitude * np.sin(2 * np.pi * path.frequency * t + path.phase))
    for value, rate in ((0, 1), (1, 2)):
        assert (after[value] - before[value]) / (2.0 * h) == pytest.approx(now[rate], abs=1e-4)
    assert [x.tolist() for x in path(1)] == [x.tolist() for x in path(1.0)]


# -- what users hand over --------------------------------------------------------------------------------


def kinds(x):
    """The same numbers as other arrays."""
    fixed = x.copy()
    fixed.setflags(write=False)
    return {"read-only": fixed, "Fortran": np.asfortranarray(x), "steps": np.repeat(x, 2, axis=0)[::2]}


@pytest.mark.parametrize("kind", ["read-only", "Fortran", "steps"])
def test_arrays_of_any_kind_make_no_new_kernels(plant, terms, kind):
    """A kernel is compiled anew, for seconds, for arrays that are read-only or lie in memory in another order."""

    class Tip(PointTask):
        def jacobian(self, terms):
            return kinds(super().jacobian(terms))[kind]

        def motion(self, desired, terms):
            now = super().motion(desired, terms)
            return now._replace(J=kinds(now.J)[kind], e=kinds(now.e)[kind], free=kinds(now.free)[kind])

    class Motion(ProjectedInverseDynamics):
        def desired_acceleration(self, t, terms):
            return kinds(super().desired_acceleration(t, terms))[kind]

    def efforts(task, motion):
        reference = Constant([0.5, 1.9])
        parts = [motion(plant, task(plant, "left_upper", (1.5, 0.0, 0.0), "xy"), reference, bandwidth=8.0)]
        parts.append(motion(plant, task(plant, "left_upper", (1.5, 0.0, 0.0), "x"), Constant([0.5]), bandwidth=8.0))
        parts.append(ConstrainedActuation(parts[0], limits=1e3))
        return np.concatenate([law(0.0, terms, np.zeros(0)) for law in parts])

    expected = efforts(PointTask, ProjectedInverseDynamics)
    used = (
        linear_algebra.only_acceleration,
        linear_algebra.smallest_effort,
        linear_algebra.reduced_rows,
        linear_algebra.smallest_solution,
    )
    known = [len(kernel.signatures) for kernel in used] if JIT_ENABLED else []
    assert efforts(Tip, Motion) == pytest.approx(expected, rel=1e-14)
    assert ([len(kernel.signatures) for kernel in used] if JIT_ENABLED else []) == known


def test_a_reference_may_return_lists(plant, terms):
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.0]), bandwidth=8.0)
    lists = ProjectedInverseDynamics(plant, ("left", "right"), lambda t: ([2, 1], (0, 0), [0.0, 0.0]), bandwidth=8.0)
    assert lists(0.0, terms, np.zeros(0)).tolist() == law(0.0, terms, np.zeros(0)).tolist()


def test_plain_arrays_are_handed_on_and_others_copied():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert _check.plain(x) is x and _check.matrix(x, (2, 2), "x") is x and _check.vector(x[0], 2, "x").base is x
    for other in (*kinds(x).values(), x.astype(int), x.tolist()):
        made = _check.plain(other)
        assert made is not other and made.flags.carray and made.dtype == np.float64
        assert made.tolist() == x.tolist()


def test_finite_is_told_from_numbers_whose_squares_are_not():
    assert _check.vector([1e200, -1e200], 2, "x").tolist() == [1e200, -1e200]
    assert _check.matrix([[1e200], [-1e200]], (2, 1), "x").tolist() == [[1e200], [-1e200]]
    assert _check.vector(np.full(40, 1e200), 40, "x").tolist() == [1e200] * 40
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"x must be finite, but 30 = "):
            _check.vector(np.where(np.arange(40) == 30, bad, 1e200), 40, "x")
        with pytest.raises(ValueError, match=r"x must be finite, but 1 = "):
            _check.vector(np.array([1e200, bad]), 2, "x")
        with pytest.raises(ValueError, match="x must be finite, got"):
            _check.matrix(np.array([[1e200], [bad]]), (2, 1), "x")


# -- chains -----------------------------------------------------------------------------------------------


def sampled(plant):
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.0]), bandwidth=8.0, period=1e-3)
    return FilteredDifference(0.01) | law | Saturation(20.0) | RateLimit(1e3)


def test_a_chain_knows_a_state_by_its_numbers(plant, terms):
    """What went through is kept for the next question, not for a state that was written over in between."""
    chain = sampled(plant)
    state = chain.start(plant)
    state[0] = 1.0
    first = chain(0.0, terms, state)
    state[-2:] = 3.0, 5.0
    second = chain(0.0, terms, state)
    assert second.tolist() != first.tolist()
    assert second.tolist() == sampled(plant)(0.0, terms, state).tolist()
    assert second.tolist() == chain(0.0, terms, state.tolist()).tolist()


def test_the_next_states_of_a_chain_are_those_of_its_blocks(plant, terms):
    chain = sampled(plant)
    state = chain.start(plant)
    state[0], state[1:5] = 1.0, terms.q - 1e-3
    after = chain.evaluate(0.0, terms, state).state
    assert after[:9].tolist() == chain.sensors[0].update(0.0, terms.q, terms.v, state[:9]).tolist()
    assert after[9:].tolist() == chain(0.0, terms, state).tolist()

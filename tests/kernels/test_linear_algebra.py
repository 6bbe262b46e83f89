"""Small dense kernels of the laws against numpy, with arrays of any kind."""

import numpy as np
import pytest

from cmbcontrol import Constant, Sine, actuation, plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol._tolerance import DEPENDENT, ROUNDING
from cmbcontrol.controllers import ConstrainedActuation, PointTask, ProjectedInverseDynamics
from cmbcontrol.kernels import linear_algebra
from tests.fixtures import other_arrays

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


def test_a_sine_has_its_derivatives():
    path = Sine([2.0, 1.0], [0.2, 0.1], [0.5, 2.0], [0.3, -1.0])
    h, t = 1e-4, 0.7
    before, now, after = path(t - h), path(t), path(t + h)
    assert now[0] == pytest.approx(
        path.centre + path.amplitude * np.sin(2 * np.pi * path.frequency_hz * t + path.phase)
    )
    for value, rate in ((0, 1), (1, 2)):
        assert (after[value] - before[value]) / (2.0 * h) == pytest.approx(now[rate], abs=1e-4)
    assert [x.tolist() for x in path(1)] == [x.tolist() for x in path(1.0)]


# -- what users hand over --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["read-only", "Fortran", "steps"])
def test_arrays_of_any_kind_make_no_new_kernels(plant, terms, kind):
    """A kernel is compiled anew, for seconds, for arrays that are read-only or lie in memory in another order."""

    class Tip(PointTask):
        def jacobian(self, terms):
            return other_arrays(super().jacobian(terms))[kind]

        def motion(self, desired, terms):
            now = super().motion(desired, terms)
            return now._replace(
                J=other_arrays(now.J)[kind], e=other_arrays(now.e)[kind], free=other_arrays(now.free)[kind]
            )

    class Motion(ProjectedInverseDynamics):
        def desired_acceleration(self, t, terms):
            return other_arrays(super().desired_acceleration(t, terms))[kind]

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

"""Pseudoinverses: the four Moore-Penrose conditions, for any shape, rank and scale."""

import math
from functools import partial

import numpy as np
import pytest

from cmbcontrol.papers.pseudoinverse import PSEUDOINVERSES, damped, filtered, gram_schmidt, pseudoinverse, svd

DAMPED = ("damped", "filtered")
EXACT = tuple(name for name in PSEUDOINVERSES if name not in DAMPED)
EPS = np.finfo(float).eps


def orthonormal(rng, rows, columns):
    return np.linalg.qr(rng.standard_normal((rows, rows)))[0][:, :columns]


def matrix(rng, m, n, rank, spread=0.0):
    """A matrix of the given rank with singular values between 1 and 10^-spread."""
    return (orthonormal(rng, m, rank) * 10.0 ** -np.linspace(0.0, spread, rank)) @ orthonormal(rng, n, rank).T


def samples(count=120, spread=6.0):
    """Random shapes, ranks and scales; rows come twice in every third."""
    rng = np.random.default_rng(5)
    for i in range(count):
        m, n = (int(k) for k in rng.integers(1, 13, 2))
        A = matrix(rng, m, n, int(rng.integers(1, min(m, n) + 1)), rng.uniform(0.0, spread))
        if i % 3 == 0:
            A = np.vstack([A, A[: m // 2 + 1]])[rng.permutation(m + m // 2 + 1)]
        yield A * 10.0 ** rng.uniform(-9.0, 9.0)


def flaws(A, X):
    """How far X is from the four conditions, in units of what rounding must do: eps cond(A)."""
    size, inverse = np.linalg.norm(A, 2), np.linalg.norm(X, 2)
    off = [A @ X - (A @ X).T, X @ A - (X @ A).T, (A @ X @ A - A) / size, (X @ A @ X - X) / inverse]
    return np.array([np.abs(x).max() for x in off]) / (EPS * size * inverse)


@pytest.mark.parametrize("name", EXACT)
def test_moore_penrose_conditions(name):
    for A in samples():
        X, rank = pseudoinverse(A, name)
        assert rank == np.linalg.matrix_rank(A, rtol=1e-10)
        assert flaws(A, X).max() < 50.0
        reference = np.linalg.pinv(A, rcond=1e-10)
        cond = np.linalg.norm(A, 2) * np.linalg.norm(reference, 2)
        assert np.abs(X - reference).max() < 50.0 * EPS * cond * np.abs(reference).max()


def test_gram_schmidt_without_reorthogonalisation_is_what_loses_accuracy():
    """A+ A is symmetric to eps cond^2 only: what the second pass is for."""
    rng = np.random.default_rng(1)
    A = matrix(rng, 9, 6, 6, 7.0)
    plain, careful = (gram_schmidt(A, reorthogonalise=again)[0] for again in (False, True))
    assert flaws(A, plain)[1] > 1e3 > 50.0 > flaws(A, careful).max()
    well = matrix(rng, 9, 6, 6, 0.5)
    assert flaws(well, gram_schmidt(well, reorthogonalise=False)[0]).max() < 50.0


@pytest.mark.parametrize("name", PSEUDOINVERSES)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (2, 5), (5, 2)])
def test_empty_and_zero_matrices(name, shape):
    X, rank = pseudoinverse(np.zeros(shape), name)
    assert X.shape == shape[::-1] and rank == 0 and not X.any()


@pytest.mark.parametrize("name", EXACT)
def test_integers_lists_and_other_layouts(name):
    A = np.random.default_rng(0).integers(-4, 5, (5, 7))
    expected = np.linalg.pinv(A)
    for given in (A, A.tolist(), np.asfortranarray(A), np.repeat(A, 2, axis=0)[::2], A.astype(np.float32)):
        before = np.array(given)
        assert pseudoinverse(given, name)[0] == pytest.approx(expected, abs=1e-12)
        assert np.array_equal(before, given)


@pytest.mark.parametrize("name", EXACT)
def test_of_extreme_size(name):
    """Squares of the entries would overflow or underflow."""
    A = np.array([[3.0, 4.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 2.0]])
    for size in (1e-200, 1e200):
        X, rank = pseudoinverse(A * size, name)
        assert rank == 2 and X * size == pytest.approx(np.linalg.pinv(A), rel=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_inverse_and_transpose(name):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 6))
    assert pseudoinverse(A, name)[0] == pytest.approx(np.linalg.inv(A), rel=1e-10)
    B = matrix(rng, 7, 5, 3, 1.0)
    X, of_transpose = pseudoinverse(B, name)[0], pseudoinverse(B.T, name)[0]
    assert pytest.approx(X.T, abs=1e-13) == of_transpose


@pytest.mark.parametrize("name", PSEUDOINVERSES)
def test_the_tolerance_decides_the_rank(name):
    """Noise of 1e-7 on a repeated row counts, or does not; the singular values are 1e-7 and 1 to 3."""
    A = np.vstack([np.eye(3)[:2], np.eye(3)[:2] + 1e-7 * np.eye(3)[1:]])
    assert [pseudoinverse(A, name, tolerance=x)[1] for x in (1e-5, 1e-9)] == [2, 3]
    assert pseudoinverse(A, name, tolerance=1e-9, cap=2)[1] == 2
    assert pseudoinverse(A, name, cap=0)[1] == 0
    if name in EXACT:
        kept = pseudoinverse(A, name, tolerance=1e-5)[0]
        assert kept == pytest.approx(np.linalg.pinv(A, rcond=1e-5), abs=2e-7)


@pytest.mark.parametrize("name", PSEUDOINVERSES)
def test_absolute_threshold(name):
    """A single row has nothing to be compared with but a threshold in its own unit (Aghili, eq. 70)."""
    row = [[3e-4, 4e-4]]
    assert pseudoinverse(row, name)[1] == 1
    assert pseudoinverse(row, name, absolute=1e-4)[1] == 1
    X, rank = pseudoinverse(row, name, absolute=1e-3)
    assert rank == 0 and not X.any()


class TestDamped:
    def test_it_is_the_regularised_least_squares_solution(self):
        A = matrix(np.random.default_rng(3), 5, 7, 4, 3.0)
        d = 0.02 * np.linalg.norm(A, 2)
        expected = A.T @ np.linalg.inv(A @ A.T + d * d * np.eye(5))
        assert damped(A, damping=0.02)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def test_it_tends_to_the_pseudoinverse_with_the_square_of_the_damping(self):
        A = matrix(np.random.default_rng(4), 6, 4, 3, 1.0)
        errors = [np.abs(damped(A, damping=d)[0] - svd(A)[0]).max() for d in (1e-3, 1e-4)]
        assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.01)
        assert damped(A, damping=0.0)[0] == pytest.approx(svd(A)[0], abs=1e-12)

    @pytest.mark.parametrize("s", np.geomspace(1e-9, 1.0, 10))
    def test_it_is_bounded(self, s):
        A = np.diag([1.0, s])
        assert np.linalg.norm(damped(A, damping=1e-3)[0], 2) <= 500.0 * (1.0 + 1e-12)

    def test_filtered_is_the_pseudoinverse_where_regular(self):
        """Redundant rows are regular: their singular values are zero."""
        A = np.repeat(matrix(np.random.default_rng(5), 4, 6, 4, 2.0), 2, axis=0)
        assert filtered(A)[0] == pytest.approx(svd(A)[0], abs=1e-11)

    def test_filtered_grows_smoothly_and_only_along_what_is_lost(self):
        def gains(s):
            return np.diag(filtered(np.diag([1.0, 0.3, s]), damping=1e-2, threshold=1e-1)[0])

        s = np.linspace(1e-4, 0.2, 2000)
        lost = np.array([gains(x) for x in s])
        assert np.allclose(lost[:, :2], [1.0, 1.0 / 0.3], rtol=1e-14)
        assert np.allclose(lost[s > 0.1, 2], 1.0 / s[s > 0.1], rtol=1e-14)
        slope = np.diff(lost[:, 2]) / np.diff(s)
        assert np.abs(np.diff(slope)).max() < 0.02 * np.abs(slope).max()  # no kink at the threshold
        assert lost[0, 2] == pytest.approx(1e-4 / (1e-8 + 1e-4), rel=1e-3)  # the full damping in the end
        assert lost[:, 2].max() < 1.1 * 50.0

    def test_bad_options(self):
        with pytest.raises(ValueError, match="damping must be >= 0"):
            damped(np.eye(2), damping=-1.0)
        with pytest.raises(ValueError, match="threshold must be > 0"):
            filtered(np.zeros((2, 2)), threshold=0.0)
        with pytest.raises(TypeError, match="damping"):
            svd(np.eye(2), damping=1.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (partial(pseudoinverse, np.eye(2), "svdd"), ValueError, "did you mean 'svd'"),
        (partial(pseudoinverse, [1.0, 2.0]), ValueError, r"shape \(2,\)"),
        (partial(pseudoinverse, [["a"]]), TypeError, "real numbers"),
        (partial(pseudoinverse, [[1.0, math.nan], [math.inf, 0.0]]), ValueError, r"2 entries are not: \[0, 1\] = nan"),
        (partial(pseudoinverse, np.eye(2), tolerance=1.0), ValueError, "below 1"),
        (partial(pseudoinverse, np.eye(2), tolerance=-1e-3), ValueError, "tolerance must be >= 0"),
        (partial(pseudoinverse, np.eye(2), absolute=-1.0), ValueError, "absolute must be >= 0"),
    ],
)
def test_errors_in_words(call, error, words):
    with pytest.raises(error, match=words):
        call()

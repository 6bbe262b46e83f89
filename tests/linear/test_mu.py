"""Bounds of the structured singular value: published examples, closed forms, brute force, and SLICOT as a judge."""

import numpy as np
import pytest

from cmbcontrol.errors import InputError
from cmbcontrol.linear import UncertainBlock, mu
from cmbcontrol.linear.mu import least_level, structure_of

REAL, COMPLEX = UncertainBlock("real"), UncertainBlock("complex")
# Example of AB13MD in the documentation of SLICOT (BSD-3).
ROWS = [
    [-1 + 6j, 2 - 3j, 3 + 8j, 3 + 8j, -5 - 9j, -6 + 2j],
    [4 + 2j, -2 + 5j, -6 - 7j, -4 + 11j, 8 - 7j, 12 - 1j],
    [5 - 4j, -4 - 8j, 1 - 3j, -6 + 14j, 2 - 5j, 4 + 16j],
]
MIXTURES = {
    "complex": [COMPLEX] * 4 + [UncertainBlock("full", 2)] * 2,
    "mixed": [REAL, REAL, COMPLEX, UncertainBlock("full", 2)],
    "repeated": [UncertainBlock("real", 2), UncertainBlock("complex", 3), REAL, COMPLEX],
    "not square": [REAL, COMPLEX, UncertainBlock("full", 2, 3), UncertainBlock("full", 2, 1)],
}


def drawn(rng, blocks):
    w, z = np.sum([b.shape for b in blocks], axis=0)
    return rng.standard_normal((z, w)) + 1j * rng.standard_normal((z, w))


@pytest.mark.parametrize(
    ("M", "blocks", "value"),
    [
        # Skogestad, Postlethwaite, Multivariable Feedback Control (2005): example 8.5, and (8.74), (8.75)
        ([[2, 2], [-1, -1]], [UncertainBlock("full", 2)], np.sqrt(10.0)),
        ([[2, 2], [-1, -1]], [COMPLEX, COMPLEX], 3.0),
        ([[1 + 2j]], [COMPLEX], np.sqrt(5.0)),
        ([[5.34]], [REAL], 5.34),
        ([[6.78j]], [REAL], 0.0),
        # the first value is printed, the second was computed with its lower bound
        (ROWS * 2, [REAL, REAL, UncertainBlock("full", 2), COMPLEX, COMPLEX], 41.74753408),
        (ROWS * 2, [COMPLEX, COMPLEX, UncertainBlock("full", 2), COMPLEX, COMPLEX], 41.9773646545),
    ],
)
def test_published_values(M, blocks, value):
    found = mu(M, blocks)
    assert found.upper == pytest.approx(value, rel=1e-9)
    assert found.lower == pytest.approx(value, rel=1e-6)
    assert found.lower <= found.upper * (1 + 1e-12)


def test_a_matrix_of_rank_one():
    x = np.array([2 - 0.5j, -2.6 - 0.2j, 0.4 - 2j, -0.6 - 0.2j])
    y = np.array([-0.9 - 0.3j, 3.3 - 0.7j, 0.2 - 1.1j, -0.4 - 0.4j])
    found = mu(np.outer(x, y.conj()), [COMPLEX] * 4)
    closed = np.abs(x) @ np.abs(y)
    assert (found.lower, found.upper) == pytest.approx((closed, closed), rel=1e-8)


@pytest.mark.parametrize("name", MIXTURES)
def test_the_perturbation_and_the_scalings_prove_what_they_say(name):
    """The perturbation makes 1 - M Delta singular and has its structure and size; D and G are put in anew."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        M = drawn(rng, MIXTURES[name])
        found = mu(M, MIXTURES[name])
        assert 0.8 * found.upper < found.lower <= found.upper * (1 + 1e-9)
        loop = M @ found.Delta
        assert np.linalg.svd(np.eye(len(loop)) - loop)[1][-1] < 1e-8 * (1 + np.linalg.norm(loop))
        assert np.linalg.norm(found.Delta, 2) == pytest.approx(1 / found.lower, rel=1e-9)
        np.testing.assert_allclose(found.Delta, structure_of(MIXTURES[name], *M.shape).delta(found.values), atol=1e-12)
        D_w, D_z, G = found.scalings
        F = (found.upper * (1 + 1e-7)) ** 2 * D_w - M.conj().T @ D_z @ M - 1j * (G @ M - (G @ M).conj().T)
        assert np.linalg.eigvalsh(F)[0] > 0.0 and np.linalg.eigvalsh(D_w)[0] > 0.0


def _real_mu(M):
    """1/mu of three real numbers, from the curves of all that make 1 - M Delta singular; one number is scanned.

    The determinant is linear in each: p + q d + r e + s d e, with complex factors that depend on the third. It is zero
    for real d, e where Im((p + q d) conj(r + s d)) = 0, a quadratic equation.
    """
    best = np.inf
    scan = np.linspace(-1.0, 1.0, 4000) * 3.0 / np.linalg.norm(M, 2)
    for k in range(3):
        order = [k, *(x for x in range(3) if x != k)]
        N = M[np.ix_(order, order)]

        def det(d, e, N=N):
            values = np.stack([scan, np.full_like(scan, d), np.full_like(scan, e)], axis=1)
            return np.linalg.det(np.eye(3) - N * values[:, None, :])

        p = det(0.0, 0.0)
        q, r = det(1.0, 0.0) - p, det(0.0, 1.0) - p
        s = det(1.0, 1.0) - p - q - r
        a, b, c = (q * s.conj()).imag, (p * s.conj() + q * r.conj()).imag, (p * r.conj()).imag
        root = np.sqrt(np.where(b * b >= 4 * a * c, b * b - 4 * a * c, np.nan))
        for sign in (1.0, -1.0):
            d = (-b + sign * root) / (2 * a)
            with np.errstate(invalid="ignore"):  # where no d is real
                e = -((p + q * d) / (r + s * d)).real
            sizes = np.max(np.abs([scan, d, e]), axis=0)
            best = min(best, np.min(sizes[np.isfinite(sizes)], initial=np.inf))
    return best


def test_real_numbers_against_all_curves():
    rng, met = np.random.default_rng(5), 0
    for _ in range(30):
        M = drawn(rng, [REAL] * 3)
        true, found = 1.0 / _real_mu(M), mu(M, [REAL] * 3)
        assert found.upper >= true  # a bound, and all that were scanned are there
        # the scan has steps of 1/700 of what it finds, and an end
        assert found.lower <= max(true * (1 + 3e-3), np.linalg.norm(M, 2) / 3.0)
        met += found.lower >= true * (1 - 3e-3)
    assert met >= 27  # the search may miss a curve that is far from its starts


def test_slicot_agrees():
    slycot = pytest.importorskip("slycot")
    rng = np.random.default_rng(0)
    blocks = [REAL, REAL, REAL, COMPLEX, UncertainBlock("full", 2), UncertainBlock("full", 2)]
    for _ in range(10):
        M = drawn(rng, blocks)
        theirs = slycot.ab13md(M, np.array([1, 1, 1, 1, 2, 2]), np.array([1, 1, 1, 2, 2, 2]))[0]
        ours = least_level(M, structure_of(blocks, 8, 8), 1e-9)[0]
        assert ours == pytest.approx(theirs, rel=1e-6)  # theirs ends at about 1e-7


def test_units_change_nothing():
    rng = np.random.default_rng(2)
    blocks = MIXTURES["mixed"]
    M = drawn(rng, blocks)
    unit = 10.0 ** rng.uniform(-6, 6, 4)
    unit = np.repeat(unit, [1, 1, 1, 2])
    a, b = mu(M, blocks), mu(unit[:, None] * M / unit, blocks)
    assert (b.lower, b.upper) == pytest.approx((a.lower, a.upper), rel=1e-6)


def test_nothing_acts():
    found = mu(np.zeros((2, 2)), [REAL, COMPLEX])
    assert (found.lower, found.upper) == (0.0, 0.0)
    # a chain without a loop is never singular; scalings come near to its 0, but do not reach it
    assert mu([[0.0, 1.0], [0.0, 0.0]], [COMPLEX, COMPLEX]).upper < 1e-3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: mu(np.eye(2), [REAL]), "the blocks have 1 inputs and 1 outputs"),
        (lambda: mu(np.eye(2), []), "at least one"),
        (lambda: mu([[np.nan]], [REAL]), "finite"),
        (lambda: UncertainBlock("real", 2, 3), "has 2 inputs, not 3"),
        (lambda: UncertainBlock("reel"), "real"),
    ],
)
def test_wrong_blocks(wrong, words):
    with pytest.raises(InputError, match=words):
        wrong()


def test_scalings_to_begin_with_that_prove_nothing():
    """Those of another matrix, or none at all, lead to the same level as a search without them."""
    rng = np.random.default_rng(5)
    M = 0.3 * (rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4)))
    structure = structure_of([UncertainBlock("real", 2), UncertainBlock("full", 2)], 4, 4)
    level, found = least_level(M, structure, 1e-6, own=(1,))
    wrong = found._replace(D_w=-found.D_w)
    for near in (found, wrong, found._replace(D_w=1e-6 * found.D_w)):
        assert least_level(M, structure, 1e-6, own=(1,), near=near)[0] == pytest.approx(level, rel=1e-4)

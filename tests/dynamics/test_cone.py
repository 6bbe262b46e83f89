"""Cones of quadratic forms: their pieces, and the nearest point of one."""

import itertools

import numpy as np
import pytest

from cmbcontrol.dynamics import cone

pytestmark = pytest.mark.nojit_slow  # whole runs


@pytest.mark.parametrize("seed", range(5))
def test_cone_of_products_is_their_planes(seed):
    """(a.s)(b.s) = 0 and (a.s)(c.s) = 0: the plane a and the line where b and c meet, in any basis."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.standard_normal((3, 3))
    forms = np.array([np.outer(a, b) + np.outer(b, a), np.outer(a, c) + np.outer(c, a)])
    found, complete = cone.components(forms)
    assert complete and [piece.tangent.shape[1] for piece in found] == [1, 2]
    assert abs(found[0].s @ np.cross(b, c)) == pytest.approx(np.linalg.norm(np.cross(b, c)))
    assert np.abs(a @ found[1].tangent).max() < 1e-9


def test_cone_of_a_definite_combination_is_its_tip():
    forms = np.array([np.diag([1.0, -1.0, 0.5]), np.diag([-0.5, 1.0, 0.1])])
    assert cone.components(forms) == ([], True)


@pytest.mark.parametrize("seed", range(4))
def test_nearest_point_of_a_cone(seed):
    """To rounding: what is left, g - s, is along the gradients; no point of a dense search is nearer."""
    rng = np.random.default_rng(seed)
    Q = np.diag([1.0, -2.0, 0.7]) + 0.2 * rng.standard_normal((3, 3))
    Q, g = Q + Q.T, rng.standard_normal(3)
    s = cone.nearest(Q[None], g, [])
    assert s @ Q @ s == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.norm(np.cross(g - s, Q @ s)) < 1e-13
    values, vectors = np.linalg.eigh(Q if np.linalg.det(Q) < 0.0 else -Q)  # signs -, +, +
    turn = np.linspace(0.0, 2.0 * np.pi, 4001)
    w = np.sqrt(-values[0]) * np.array([np.cos(turn), np.sin(turn)]) / np.sqrt(values[1:, None])
    S = vectors @ np.vstack([np.ones(turn.size), w])
    reach = np.abs(g @ S) / np.linalg.norm(S, axis=0)
    assert reach.max() <= np.linalg.norm(s) + 1e-12 and reach.max() > np.linalg.norm(s) - 1e-5
    assert cone.nearest(Q[None], s, []) == pytest.approx(s, abs=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_nearest_point_where_gradients_vanish(seed):
    """(a.s)^2 = (b.s)^2 = 0 is a line without multipliers: the projection on it."""
    a, b, g = np.random.default_rng(seed).standard_normal((3, 3))
    line = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
    s = cone.nearest(np.array([np.outer(a, a), np.outer(b, b)]), g, [line])
    assert s == pytest.approx(line * (line @ g), abs=1e-6)


def product(a, b):
    return np.outer(a, b) + np.outer(b, a)


def subspaces(factors, d):
    """All spans that choosing one factor of each product leaves, by null spaces; those within others left out."""
    found = []
    for choice in itertools.product(*factors):
        _, sigma, Vt = np.linalg.svd(np.array(choice))
        span = Vt[int((sigma > 1e-9).sum()) :].T
        if span.shape[1]:
            found.append(span)
    found.sort(key=lambda x: -x.shape[1])
    kept = []
    for span in found:
        if not any(np.abs(span - big @ (big.T @ span)).max() < 1e-7 for big in kept):
            kept.append(span)
    return kept


@pytest.mark.parametrize("block", range(5))
def test_products_of_linear_forms_are_solved_exactly(block):
    """60 random systems a block, also chains in which factors come again, in a basis and mixture that hide them."""
    unclear = 0
    for case in range(60):
        rng = np.random.default_rng([81, block, case])
        d, p = int(rng.integers(2, 7)), int(rng.integers(1, 6))
        chain = rng.random() < 0.4
        if chain:
            p = min(p, d - 1)
            X = np.linalg.qr(rng.standard_normal((d, d)))[0]
            factors = [(X[k], X[k] - X[k + 1]) for k in range(p)]
        else:
            factors = [tuple(rng.standard_normal((2, d))) for _ in range(p)]
        forms = np.array([product(a, b) for a, b in factors]) * 10.0 ** rng.uniform(-2, 2, (p, 1, 1))
        found, complete = cone.components(forms)
        true = subspaces(factors, d)
        unclear += not complete  # planes that nearly agree
        if not complete:
            continue
        assert sorted(c.tangent.shape[1] for c in found) == sorted(x.shape[1] for x in true)
        for span in true:
            assert any(c.linear and np.abs(span - c.tangent @ (c.tangent.T @ span)).max() < 1e-5 for c in found)
    assert unclear <= 3


@pytest.mark.parametrize("seed", range(60))
def test_two_forms_of_three_variables(seed):
    """Two conics meet in up to four points: by elimination of one variable, a polynomial of fourth order."""
    rng = np.random.default_rng([82, seed])
    forms = rng.standard_normal((2, 3, 3))
    forms = forms + forms.transpose(0, 2, 1)
    found, complete = cone.components(forms)
    # resultant in z of Q(x, 1, z): two quadratics in z
    x = np.cos(np.pi * (np.arange(9) + 0.5) / 9.0)
    c = [(Q[2, 2], 2 * (Q[0, 2] * x + Q[1, 2]), Q[0, 0] * x * x + 2 * Q[0, 1] * x + Q[1, 1]) for Q in forms]
    (a, b, e), (f, g, h) = c
    resultant = (a * h - e * f) ** 2 - (a * g - b * f) * (b * h - e * g)
    roots = np.roots(np.polyfit(x, resultant, 4))
    real = roots.real[np.abs(roots.imag) < 1e-7 * (1.0 + np.abs(roots.real))]
    assert complete and len(found) == len(real)
    assert np.sort([c.s[0] / c.s[1] for c in found]) == pytest.approx(np.sort(real), rel=1e-5, abs=1e-6)


def test_a_search_proves_nothing_but_by_a_count():
    """Random forms of four variables: all eight lines, or no claim."""
    claimed = 0
    for seed in range(25):
        rng = np.random.default_rng([83, seed])
        forms = rng.standard_normal((3, 4, 4))
        found, complete = cone.components(forms + forms.transpose(0, 2, 1))
        claimed += complete and bool(found)
        assert not complete or len(found) in (0, 8)
    assert claimed < 25


def test_independent_products_are_not_too_many():
    """a_k b_k = 0 for ten pairs has 1024 planes: the search is left to others, and nothing is claimed."""
    factors = np.eye(20)
    found, complete = cone.components(np.array([product(factors[2 * k], factors[2 * k + 1]) for k in range(10)]))
    assert not complete and all(cone.residual(np.array([product(factors[0], factors[1])]), c.s) < 1e-9 for c in found)

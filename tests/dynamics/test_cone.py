"""Cones of quadratic forms: their pieces, and the nearest point of one."""

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

"""Held systems with uncertainty against the exact hold of each system in it."""

import itertools

import numpy as np
import pytest
from scipy.linalg import expm

from cmbcontrol.linear.sampled import zero_order_hold
from cmbcontrol.linear.uncertain_hold import UncertainSystem, hold


def system(rng, n=4, nu=2, nd=1, k=2):
    """System whose uncertainty is an n-by-n and n-by-nu change of rank k, for each number delta."""
    A = rng.standard_normal((n, n)) - 2.0 * np.eye(n)
    return UncertainSystem(
        A,
        *(rng.standard_normal((n, m)) for m in (nu, nd, k)),
        *(0.5 * rng.standard_normal((k, m)) for m in (n, nu, nd, k)),
    )


def at(s, delta):
    """Matrices of x' = A x + B u + P d with w = delta z."""
    back = delta * np.linalg.solve(np.eye(len(s.C)) - delta * s.D_w, np.hstack([s.C, s.D, s.D_d]))
    n, nu = s.B.shape
    on = s.B_w @ back
    return s.A + on[:, :n], s.B + on[:, n : n + nu], s.P + on[:, n + nu :]


def closed(s, held, delta):
    """Next x by (x, u now, u before, d), with w = delta z."""
    w = held.points * s.B_w.shape[1]
    first = held.x.shape[1] - w
    back = delta * np.linalg.solve(np.eye(len(held.z)) - delta * held.z[:, first:], held.z[:, :first])
    return held.x[:, :first] + held.x[:, first:] @ back


def exact(s, period, part, delta):
    """The same of the system with this delta, by matrix exponentials over each part of the period."""
    A, B, P = at(s, delta)
    (n, nu), nd = B.shape, P.shape[1]
    x = np.eye(n, n + 2 * nu + nd)
    every = np.eye(n + 2 * nu + nd)
    borders = np.unique(np.concatenate([[0.0], part, [period]]))
    for start, end in itertools.pairwise(borders):
        u = np.where((part <= start)[:, None], every[n : n + nu], every[n + nu : n + 2 * nu])
        whole = np.zeros((n + nu + nd, n + nu + nd))
        whole[:n] = np.hstack([A, B, P])
        x = expm((end - start) * whole)[:n] @ np.vstack([x, u, every[n + 2 * nu :]])
    return x


@pytest.mark.parametrize("part", [(0.0, 0.0), (0.03, 0.0), (0.03, 0.07)])
def test_without_uncertainty_it_is_the_exact_hold(part):
    s = system(np.random.default_rng(1))
    held = hold(s, 0.1, np.array(part), 2)
    known = zero_order_hold(s.A, s.B, 0.1, part)
    assert np.allclose(held.x[:, :4], known.A, atol=1e-13)
    assert np.allclose(held.x[:, 4:6], known.B, atol=1e-13)
    assert np.allclose(held.x[:, 6:8], known.B_before, atol=1e-13)
    assert held.points == 2 * len(np.unique([0.0, *part]))


@pytest.mark.parametrize("part", [(0.0, 0.0), (0.03, 0.07)])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_the_error_is_of_twice_the_number_of_points(part, stages):
    """A Gauss rule with s points is of order 2 s: over a fixed time, half the period leaves 4^-s of the error."""
    rng = np.random.default_rng(stages)
    for _ in range(5):
        s = system(rng)
        off = []
        for period in (0.2, 0.1):
            share = period * np.array(part) / 0.1
            made = closed(s, hold(s, period, share, stages), 0.7)
            off.append(np.abs(made - exact(s, period, share, 0.7)).max() / period)
        assert off[1] < off[0] / 4.0**stages * 1.6 or off[0] < 1e-12
        assert off[1] < 0.02**stages

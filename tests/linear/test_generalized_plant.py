"""Generalized plants, closed by gains and controllers, against python-control and equations written out."""

import control
import numpy as np
import pytest

from cmbcontrol.errors import InputError
from cmbcontrol.linear.generalized_plant import GeneralizedPlant


def random_plant(rng, direct=True, dt=0.0):
    n, m1, m2, p1, p2 = 4, 2, 2, 3, 1
    X = rng.normal(size=(n + p1 + p2, n + m1 + m2))
    D22 = X[n + p1 :, n + m1 :] * direct
    return GeneralizedPlant(
        X[:n, :n] - 3.0 * np.eye(n),
        X[:n, n : n + m1],
        X[:n, n + m1 :],
        X[n : n + p1, :n],
        X[n + p1 :, :n],
        X[n : n + p1, n : n + m1],
        X[n : n + p1, n + m1 :],
        X[n + p1 :, n : n + m1],
        D22,
        dt,
    )


def response(system, s):
    A, B, C, D = (np.asarray(x) for x in (system.A, system.B, system.C, system.D))
    return C @ np.linalg.solve(s * np.eye(len(A)) - A, B) + D


@pytest.mark.parametrize("order", [0, 3])
def test_closed_loops_by_their_frequency_responses(order):
    """z = (P11 + P12 K (1 - P22 K)^-1 P21) w at one s, with controllers of an order, too, direct ways included."""
    rng = np.random.default_rng(0)
    P = random_plant(rng)
    K = control.ss(*(rng.normal(size=x) for x in ((order, order), (order, 1), (2, order), (2, 1))))
    s = 0.3 + 0.7j
    whole = response(P.to_ss(), s)
    P11, P12, P21, P22 = whole[:3, :2], whole[:3, 2:], whole[3:, :2], whole[3:, 2:]
    Ks = response(K, s)
    expected = P11 + P12 @ Ks @ np.linalg.solve(np.eye(1) - P22 @ Ks, P21)
    np.testing.assert_allclose(response(P.closed(K), s), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dt", [0.0, 0.01])
def test_there_and_back_to_python_control(dt):
    P = random_plant(np.random.default_rng(1), dt=dt)
    back = GeneralizedPlant.from_ss(P.to_ss(), 1, 2)
    for name in ("A", "B1", "B2", "C1", "C2", "D11", "D12", "D21", "D22", "dt"):
        np.testing.assert_array_equal(getattr(back, name), getattr(P, name))


def test_channels_keep_what_closes_the_loop():
    rng = np.random.default_rng(2)
    P, K = random_plant(rng), rng.normal(size=(2, 1))
    whole, part = P.closed(K), P.channel([1], [0, 2]).closed(K)
    np.testing.assert_array_equal(part.A, whole.A)
    np.testing.assert_allclose(part.D, whole.D[[0, 2]][:, [1]])
    np.testing.assert_allclose(part.B, whole.B[:, [1]])


def test_what_does_not_fit_is_told():
    with pytest.raises(InputError, match=r"B1 of a generalized plant must have the shape \(2, 1\), got \(3, 1\)"):
        GeneralizedPlant(np.eye(2), np.ones((3, 1)), np.ones((2, 1)), np.ones((1, 2)), np.ones((1, 2)))
    P = GeneralizedPlant([[-1.0]], [[1.0]], [[1.0]], [[1.0]], [[1.0]], D22=[[2.0]])
    with pytest.raises(InputError, match="1 - K D22 is singular"):
        P.closed(np.array([[0.5]]))
    with pytest.raises(InputError, match=r"shape \(1, 1\).*got \(1, 2\)"):
        P.closed(np.ones((1, 2)))
    with pytest.raises(InputError, match="not finite"):
        GeneralizedPlant([[np.nan]], [[1.0]], [[1.0]], [[1.0]], [[1.0]])
    with pytest.raises(InputError, match="no sample time"):
        GeneralizedPlant.from_ss(control.ss(0.5, 1, 1, 0, True), 1, 1)

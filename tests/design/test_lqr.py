"""LQR and Bryson's rule, against python-control and closed forms."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.design import bryson, lqr
from cmbcontrol.errors import ActuationError
from tests.fixtures import ARMS


def test_gain_is_that_of_python_control(lin):
    import control

    K = control.lqr(lin.to_ss(), np.diag([400.0, 400.0, 1.0, 1.0]), 0.01 * np.eye(2))[0]
    assert np.allclose(lqr(lin, [400.0, 400.0, 1.0, 1.0], 0.01).K, K, rtol=1e-8)
    sampled = lin.sampled(0.02)
    K = control.dlqr(sampled.A, sampled.B, np.diag([400.0, 400.0, 1.0, 1.0]), 0.01 * np.eye(2))[0]
    assert np.allclose(lqr(lin, np.diag([400.0, 400.0, 1.0, 1.0]), 0.01, period=0.02, cost="sum").K, K, rtol=1e-8)


def test_sampled_cost_is_the_integral_between_the_samples(lin):
    """The cost of the sampled law, summed by its Riccati equation, against quadrature of the linear motion."""
    from scipy.linalg import expm, solve_discrete_lyapunov

    from cmbcontrol.design.lqr import _sampled_cost

    Q, R, N, T = np.diag([4.0, 3.0, 1.0, 2.0]), np.diag([0.1, 0.2]), np.zeros((4, 2)), 0.1
    N[0, 1] = 0.05
    law = lqr(lin, Q, R, N, period=T)
    Qd, Rd, Nd = _sampled_cost(lin, Q, R, N, T)
    A, K = law.closed_loop(), law.K
    P = solve_discrete_lyapunov(A.T, Qd + K.T @ Rd @ K - Nd @ K - K.T @ Nd.T)
    x, total = np.array([0.1, -0.2, 0.3, 0.1]), 0.0
    start = x.copy()
    nodes, weights = np.polynomial.legendre.leggauss(8)
    block = np.zeros((6, 6))
    block[:4, :4], block[:4, 4:] = lin.A, lin.B
    between = [expm(block * node)[:4] for node in 0.5 * T * (nodes + 1.0)]
    for _ in range(200):
        u = -K @ x
        for E, w in zip(between, 0.5 * T * weights, strict=True):
            y = E @ np.append(x, u)
            total += w * (y @ Q @ y + u @ R @ u + 2.0 * y @ N @ u)
        x = A @ x
    assert total == pytest.approx(start @ P @ start, rel=1e-9)


def test_gain_does_not_depend_on_units_or_on_the_choice_of_coordinates(plant, lin):
    # the other two joints as coordinates, weights transformed: the same efforts
    other = cmb.linearize(plant, lin.point, coordinates=("elbow_left", "elbow_right"))
    rows = [plant.index(name) for name in ARMS]
    T = other.K[rows]  # (left, right) of (elbow_left, elbow_right)
    T = np.block([[T, np.zeros((2, 2))], [np.zeros((2, 2)), T]])
    Q = np.diag([400.0, 300.0, 1.0, 2.0])
    first, second = lqr(lin, Q, 0.01), lqr(other, T.T @ Q @ T, 0.01)
    assert np.allclose(first.K @ T, second.K, rtol=1e-7)


def test_bryson_by_names(lin):
    Q, R = bryson(lin, {"left": 0.1, "right_rate": 2.0}, {"left": 10.0, "right_effort": 5.0}, {"left": 0.01})
    assert np.allclose(Q.diagonal(), [100.0, 0.0, 0.0, 0.25, 1e4]) and np.allclose(R.diagonal(), [0.01, 0.04])
    with pytest.raises(ValueError, match="largest effort of every input"):
        bryson(lin, {"left": 0.1}, {"left": 10.0})
    with pytest.raises(ValueError, match="did you mean 'left'"):
        bryson(lin, {"lefd": 0.1}, 10.0)


def test_a_mode_that_no_motor_moves_is_named(plant):
    forced = cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=ARMS)
    from dataclasses import replace

    B = forced.B.copy()
    values, vectors = np.linalg.eig(forced.A.T)
    w = np.real(vectors[:, np.argmax(values.real)])  # left vector of an unstable mode
    B -= np.outer(w, w @ B) / (w @ w)
    with pytest.raises(ActuationError, match=f"do not move the mode at {values.real.max():.3g}"):
        lqr(replace(forced, B=B), 1.0, 0.01)

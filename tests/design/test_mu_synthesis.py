"""mu-synthesis: published values, bounds at all frequencies, the least norm against SLICOT and its differences.

Reference values: Skogestad and Postlethwaite, Multivariable Feedback Control (2005), example 8.12.
"""

import control
import numpy as np
import pytest

from cmbcontrol.design import mu_synthesis, optimal_feedback
from cmbcontrol.design.full_order import least_norm, regular
from cmbcontrol.design.mu_synthesis import _log_gain, _ScaledPlant, _scaling, _Starts
from cmbcontrol.linear import UncertainBlock, robust_stability

pytest.importorskip("slycot", reason="the extra 'robust' is not installed")

s = control.tf("s")
ONE, NONE = np.eye(2), np.zeros((2, 2))


def with_uncertain_inputs(A, B, C, input_weight, output_weight):
    """Two motors of which each, or both together, are uncertain, and sensitivity at the output."""
    n = np.zeros_like(B)
    D = np.block([[NONE, NONE, ONE], [NONE, ONE, NONE], [NONE, -ONE, NONE]])
    plant = control.ss(A, np.hstack([B, n, B]), np.vstack([0.0 * C, C, -C]), D)
    weights = [control.ss(input_weight)] * 2 + [control.ss(output_weight)] * 2
    return control.append(*weights, control.ss([], [], [], ONE)) * plant


def distillation():
    """Skogestad's column with 20 % to 200 % uncertainty of each input; slow pole for the integrator."""
    G = np.array([[87.8, -86.4], [108.2, -109.6]])
    return with_uncertain_inputs(-ONE / 75, ONE / 75, G, (s + 0.2) / (0.5 * s + 1), (s / 2 + 0.05) / (s + 1e-6))


def himat():
    A = [[-0.0226, -36.617, -18.897, -32.09], [1e-4, -1.8997, 0.9831, -7e-4], [0.0123, 11.72, -2.6316, 9e-4]]
    B = np.array([[0.0, 0.0], [-0.414, 0.0], [-77.8, 22.4], [0.0, 0.0]])
    C = np.array([[0.0, 57.3, 0.0, 0.0], [0.0, 0.0, 0.0, 57.3]])
    A.append([0.0, 0.0, 1.0, 0.0])
    return with_uncertain_inputs(A, B, C, 50 * (s + 100) / (s + 1e4), 0.5 * (s + 3) / (s + 0.03))


def require_bound(found, uncertain):
    """For random uncertainties of size 1/gamma the gain of the performance is at most gamma."""
    draw = np.random.default_rng(8)
    for _ in range(20):
        d = uncertain(draw) / found.gamma
        for w in np.geomspace(1e-3, 1e2, 30):
            N = found.loop(1j * w)
            seen = N[2:, 2:] + N[2:, :2] @ d @ np.linalg.solve(np.eye(2) - N[:2, :2] @ d, N[:2, 2:])
            assert np.linalg.norm(seen, 2) <= found.gamma * (1.0 + 1e-6)


@pytest.mark.slow
def test_distillation_column():
    """Known are 1.18 of the first design, 0.998 of D-K iteration, and 0.974 (Lundstrom, Skogestad, Doyle 1999)."""
    P = distillation()
    first, found = optimal_feedback(P, 2, 2), mu_synthesis(P, 2, 2, [1, 1, 2], iterations=3)
    assert first.gamma == pytest.approx(1.18, abs=0.01)
    assert found.gamma < 0.974
    require_bound(found, lambda draw: np.diag(np.exp(1j * draw.uniform(0.0, 2.0 * np.pi, 2))))
    # by scalings of its own at each frequency, and by a perturbation that exists: none of them knows the design
    blocks = [UncertainBlock("complex"), UncertainBlock("complex"), UncertainBlock("full", 2)]
    proven = robust_stability(found.loop, blocks)
    assert 0.98 * found.gamma < proven.lower <= found.gamma * (1.0 + 1e-6)
    assert proven.upper < 0.98 and proven.certified


@pytest.mark.slow
def test_himat():
    """An aircraft whose pitch is controlled by two surfaces: below 1, which its weights ask for, from 1.69."""
    P = himat()
    first, found = optimal_feedback(P, 2, 2), mu_synthesis(P, 2, 2, [2, 2], order=2, iterations=1)
    assert first.gamma == pytest.approx(1.69, abs=0.01)
    assert found.gamma < 0.98
    require_bound(found, lambda draw: np.linalg.qr(draw.normal(size=(2, 2)) + 1j * draw.normal(size=(2, 2)))[0])


@pytest.fixture(scope="module", params=[3, 4])
def scaled(request):
    return _ScaledPlant(regular(himat(), 2, 2), [2, 2], request.param)


def parameters(scaled):
    x = np.array([0.1, -0.2, 0.3, 0.1, -0.2, 1.5, 0.1, 2.0, 0.2])
    return x[: 1 + 2 * scaled.order]


def test_least_norm_without_a_controller(scaled):
    """By two Riccati equations, and by SLICOT's controllers."""
    x = parameters(scaled)
    value = scaled(x).largest
    K, shift, _ = least_norm(scaled.regular(x), 1e-5)
    assert shift == 0.0
    P, (left, right) = himat(), scaled.scalings(x)
    loop = P.lft(K)
    whole = left * control.ss(loop.A, loop.B, loop.C, loop.D) * right
    reached = max(np.linalg.norm(whole(1j * w), 2) for w in np.geomspace(1e-3, 1e5, 400))
    assert 0.999 * value < reached < value * (1.0 + 2e-5)
    assert scaled(x, 0.9 * value).largest > 0.9 * value  # above a bound no more is told


def test_gradient_of_the_least_norm(scaled):
    x, h = parameters(scaled), 1e-5
    found = scaled(x).gradients[0]
    differences = [(scaled(x + e).largest - scaled(x - e).largest) / (2.0 * h) for e in h * np.eye(len(x))]
    # levels are exact to 1e-9, in differences over 2e-5
    assert np.abs(found - differences).max() < 1e-4 * np.abs(found).max()


def test_scalings_have_the_gain_of_their_formula(scaled):
    x, w = parameters(scaled), np.geomspace(1e-2, 1e2, 7)
    d = control.ss(*_scaling(x))
    assert np.log(np.abs(d(1j * w))).ravel() == pytest.approx(_log_gain(x, 1j * w), abs=1e-12)
    assert max(d.poles().real.max(), d.zeros().real.max()) < 0.0


def test_starts_follow_the_scalings_of_the_loop(scaled):
    """Fitted where mu is near its peak; 1 with corners where they change; random ones differ."""
    starts = _Starts(optimal_feedback(himat(), 2, 2).loop, scaled)
    near = starts.weight > 0.8
    (target,) = starts.targets
    away = [np.abs(_log_gain(x, 1j * starts.omega) - target)[near].max() for x in (starts.fitted(), starts.constant())]
    assert away[0] < 0.1 < away[1]
    assert np.ptp(_log_gain(starts.constant(), 1j * starts.omega)) < 1e-12
    assert (starts.drawn() != starts.drawn())[1:].all()  # the first is the mean gain


def test_one_block_needs_no_scaling():
    P = himat()
    assert mu_synthesis(P, 2, 2, [4]).gamma == optimal_feedback(P, 2, 2).gamma


def test_wrong_calls():
    with pytest.raises(ValueError, match=r"blocks \[1, 1\] need 2 inputs w and outputs z, got 4, 4"):
        mu_synthesis(himat(), 2, 2, [1, 1])
    with pytest.raises(ValueError, match="order"):
        mu_synthesis(himat(), 2, 2, [2, 2], order=-1)
    with pytest.raises(ValueError, match="iterations"):
        mu_synthesis(himat(), 2, 2, [2, 2], iterations=0)
    with pytest.raises(ValueError, match="tolerance"):
        mu_synthesis(himat(), 2, 2, [2, 2], tolerance=0.0)

"""Uncertain systems over all frequencies: published examples, closed forms, sampled twins, and units."""

import control as ct
import numpy as np
import pytest

from cmbcontrol.errors import InputError
from cmbcontrol.linear import UncertainBlock, mu, robust_stability, worst_case_gain
from tests.fixtures import refuses

REAL, COMPLEX = UncertainBlock("real"), UncertainBlock("complex")
OSCILLATOR = ([[0.0, 1.0], [-1.0, -0.2]], [[0.0], [-1.0]], [[0.0, 1.0]], [[0.0]])


@pytest.fixture(scope="module")
def distillation():
    """Skogestad, Postlethwaite (2005), section 8.11.3: an inverse-based controller of a distillation column."""
    G0 = np.array([[87.8, -86.4], [108.2, -109.6]])
    I = np.eye(2)

    def twice(gain, zero, pole, N=I):
        """gain (s + zero) / (s + pole) N, two channels."""
        return ct.ss(-pole * I, N, gain * (zero - pole) * I, gain * N)

    G = ct.ss(-I / 75, G0 / 75, I, np.zeros((2, 2)), inputs=["v0", "v1"], outputs=["g0", "g1"])
    K = twice(0.7 * 75, 1 / 75, 1e-5, np.linalg.inv(G0))
    parts = [
        G,
        ct.ss(K, inputs=["e0", "e1"], outputs=["u0", "u1"]),
        ct.ss(twice(2.0, 0.2, 2.0), inputs=["u0", "u1"], outputs=["z0", "z1"]),
        ct.ss(twice(0.5, 0.1, 1e-6), inputs=["y0", "y1"], outputs=["p0", "p1"]),
    ]
    for i in "01":
        parts.append(ct.summing_junction([f"u{i}", f"d{i}"], f"v{i}"))
        parts.append(ct.summing_junction([f"g{i}", f"w{i}"], f"y{i}"))
        parts.append(ct.summing_junction([f"-y{i}"], f"e{i}"))
    return ct.interconnect(parts, inputs=["d0", "d1", "w0", "w1"], outputs=["z0", "z1", "p0", "p1"])


def test_distillation_column(distillation):
    """Peaks of mu computed on their own to seven digits; on the 61 frequencies of the book they are 5.7726, 0.5242."""
    robust = robust_stability(distillation, [COMPLEX, COMPLEX, UncertainBlock("full", 2)])
    assert robust.bounds.max() == pytest.approx(5.781813, abs=1e-6)
    assert robust.frequency == pytest.approx(1.463517, rel=1e-4)  # flat there
    assert robust.lower == pytest.approx(5.781813, abs=1e-6)
    assert robust.bounds.max() <= robust.upper <= robust.bounds.max() * (1 + 1.01e-3)
    assert not robust.certified
    stable = robust_stability(distillation[:2, :2], [COMPLEX, COMPLEX])
    assert (stable.bounds.max(), stable.lower) == pytest.approx((0.526156, 0.526156), abs=1e-6)
    assert stable.frequency == pytest.approx(1.13795, rel=1e-4)
    assert stable.certified and stable.margin[0] == pytest.approx(1.9006, rel=2e-3)


def test_worst_gain_of_the_distillation_column(distillation):
    """The book prints 44.93 on its frequencies, below the largest between them."""
    found = worst_case_gain(distillation, [COMPLEX, COMPLEX])
    assert 44.92 < found.lower <= found.upper < 1.005 * found.lower
    # the gain, with the worst perturbation put into the loop
    M = distillation(1j * found.worst_frequency)
    Delta = np.diag([found.worst["delta_1"], found.worst["delta_2"]])
    assert np.abs(Delta).max() <= 1 + 1e-9
    F = M[2:, 2:] + M[2:, :2] @ Delta @ np.linalg.solve(np.eye(2) - M[:2, :2] @ Delta, M[:2, 2:])
    assert np.linalg.norm(F, 2) == pytest.approx(found.lower, rel=1e-9)


def test_disk_margin():
    """L = 25 / (s^3 + 10 s^2 + 10 s + 10): 0.46 at 1.94 is printed (Seiler, Packard, Gahinet 2020)."""
    S = ct.ss(ct.feedback(ct.tf(1, 1), ct.tf(25, [1, 10, 10, 10])))
    found = robust_stability((S.A, S.B, S.C, S.D - 0.5), [COMPLEX])
    assert 1 / found.lower == pytest.approx(0.458093, abs=1e-6)
    assert 1 / found.bounds.max() == pytest.approx(0.458093, abs=1e-6)
    assert found.frequency == pytest.approx(1.95501, rel=1e-4)


def test_worst_disk_margin_is_that_of_the_worst_gain():
    """L = k / (s (s + 1)^2), 0.5 <= k <= 1.5; the margin is least for the largest gain: closed in one parameter."""

    def shifted(k):
        S = ct.ss(1 / (1 + ct.tf(k, [1, 2, 1, 0])))
        return S.A, S.B, S.C, S.D - 0.5

    # u = (1 + delta / 2) v, plant 1 / (s (s + 1)^2), v = d - y: z = v / 2
    A, B, C = np.array([[0.0, 1, 0], [0, 0, 1], [0, -1, -2]]), np.array([[0.0], [0], [1]]), np.array([[1.0, 0, 0]])
    system = (A - B @ C, np.hstack([B, B]), np.vstack([-0.5 * C, -C]), np.array([[0.0, 0.5], [0.0, 0.5]]))
    found = worst_case_gain(system, [UncertainBlock("real", name="gain")], [COMPLEX])
    largest = robust_stability(shifted(1.5), [COMPLEX], 1e-4).bounds.max()
    assert found.worst["gain"] == pytest.approx(1.0, abs=1e-9)
    assert found.lower == pytest.approx(largest, rel=1e-5)
    assert largest <= found.upper * (1 + 1e-6) and found.upper < 1.002 * largest


def test_a_real_parameter_is_met_at_one_frequency_only():
    """Damping 0.2 of an oscillator: mu is 5 at 1 rad/s, and 0 at all others, which a grid misses."""
    found = robust_stability(OSCILLATOR, [UncertainBlock("real", name="damping")])
    assert found.lower == pytest.approx(5.0, rel=1e-9)
    assert 5.0 <= found.upper < 5.0 * 1.0011
    assert found.frequency == pytest.approx(1.0, rel=1e-3)
    assert found.worst == {"damping": pytest.approx(-0.2, rel=1e-9)}
    assert "damping = -0.2" in str(found)


@pytest.mark.parametrize("omega", [1e-6, 1e6])
def test_units_change_nothing(omega):
    """Time in other units, states and parameters in others."""
    A, B, C, D = (np.array(x) for x in OSCILLATOR)
    T = np.diag([1e5, 1e-3])
    inside = np.linalg.inv(T)
    found = robust_stability((omega * T @ A @ inside, omega * T @ B * 1e4, C @ inside * 1e-4, D), [REAL])
    assert found.lower == pytest.approx(5.0, rel=1e-6)
    assert found.frequency == pytest.approx(omega, rel=1e-3)
    assert 5.0 <= found.upper < 5.0 * 1.0011


def test_sampled_systems():
    """x(k+1) = a x(k) is stable for |a| < 1; and a sampled response is that of its bilinear image."""
    found = robust_stability(([[0.5]], [[0.1]], [[1.0]], [[0.0]], 0.01), [REAL])
    assert found.lower == pytest.approx(0.2, rel=1e-9)  # 0.5 + 0.1 delta = 1, at rest
    assert found.frequency == 0.0 and found.certified
    turned = robust_stability(([[-0.5]], [[0.1]], [[1.0]], [[0.0]], 0.01), [REAL])
    assert turned.lower == pytest.approx(0.2, rel=1e-9)  # -1: the Nyquist frequency
    assert turned.frequency == pytest.approx(np.pi / 0.01, rel=1e-6)
    assert not robust_stability(([[1.5]], [[0.1]], [[1.0]], [[0.0]], 0.01), [REAL]).stable


def test_repeated_real_numbers_are_told_from_complex_ones():
    """x' = -(1 + 4 d^2 + e / 2) x: real numbers make it unstable from e = -2 on, d = +-i/2 at rest already."""
    # z = (x, 2 w1, x / 2), w = (d z1, d z2, e z3)
    system = (
        [[-1.0]],
        [[0.0, -2.0, -1.0]],
        [[1.0], [0.0], [0.5]],
        [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    )
    found = robust_stability(system, [UncertainBlock("real", 2, name="d"), UncertainBlock("real", name="e")])
    assert found.lower == pytest.approx(0.5, rel=1e-6)
    assert found.upper < 0.5 * 1.0015 and found.certified
    # for complex numbers, 4 r^2 + r / 2 = 1
    found = robust_stability(system, [UncertainBlock("complex", 2), UncertainBlock("complex")])
    assert found.lower == pytest.approx(8 / (np.sqrt(16.25) - 0.5), rel=1e-6)


def test_boxes_are_cut_where_the_bounds_are_apart():
    """A random system whose bounds are 7 % apart, and meet to 5 % where the box of its real numbers is cut."""
    rng = np.random.default_rng(1)
    for _ in range(10):  # the first with bounds apart is the tenth
        A, B, C, D = (rng.standard_normal(shape) for shape in ((6, 6), (6, 5), (5, 6), (5, 5)))
    A -= (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(6)
    system, blocks = (A, B, C, 0.2 * D), [REAL, REAL, COMPLEX, COMPLEX, REAL]
    whole = robust_stability(system, blocks)
    assert whole.upper > 1.05 * whole.lower
    cut = robust_stability(system, blocks, branches=100)
    assert whole.lower <= cut.lower <= cut.upper < 1.05 * cut.lower and cut.boxes > 1
    delta = np.diag(list(cut.worst.values()))
    poles = np.linalg.eigvals(A + B @ delta @ np.linalg.solve(np.eye(5) - 0.2 * D @ delta, C))
    assert np.abs(poles - 1j * cut.worst_frequency).min() < 1e-6 * np.abs(poles).max()
    few = robust_stability(system, blocks, branches=2)
    assert few.upper == whole.upper  # nothing is proven by so few


def test_systems_without_stability_and_without_states():
    assert str(robust_stability(([[1.0]], [[1.0]], [[1.0]], [[0.0]]), [REAL])) == (
        "not stable, even without uncertainty"
    )
    empty = np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[0.5]]
    assert robust_stability(empty, [COMPLEX]).lower == pytest.approx(0.5)
    lost = worst_case_gain((np.array([[-1.0]]), [[2.0, 1.0]], [[1.0], [1.0]], np.zeros((2, 2))), [REAL])
    assert lost.upper == np.inf  # x' = -x + 2 delta x
    with pytest.raises(InputError, match="has 1 outputs and 1 inputs"):
        robust_stability(OSCILLATOR, [REAL, REAL])
    with pytest.raises(InputError, match="none is left for the gain"):
        worst_case_gain(OSCILLATOR, [REAL])
    with pytest.raises(InputError, match="matrices A, B, C, D"):
        robust_stability(3.0, [REAL])


def test_bounds_at_frequencies_are_those_of_the_matrix_there():
    """Least bounds against `mu` of the response, computed from the system as it was given, continuous and sampled."""
    rng = np.random.default_rng(3)
    blocks = [UncertainBlock("real", 2), UncertainBlock("complex"), UncertainBlock("full", 2)]
    for dt in (0.0, 0.05):
        A = rng.normal(size=(4, 4))
        values = np.linalg.eigvals(A)
        A = 0.9 * A / np.abs(values).max() if dt else A - (values.real.max() + 0.5) * np.eye(4)
        B, C, D = rng.normal(size=(4, 5)), rng.normal(size=(5, 4)), 0.1 * rng.normal(size=(5, 5))
        found = robust_stability((A, B, C, D, dt), blocks, 1e-2)
        omega = np.array([0.0, 0.7, 9.0, np.pi / dt if dt else 1e4])
        at = np.exp(1j * omega * dt) if dt else 1j * omega
        known = [mu(C @ np.linalg.solve(s * np.eye(4) - A, B) + D, blocks).upper for s in at]
        np.testing.assert_allclose(found.bounds_at(omega), known, rtol=3e-4)
        assert (found.bounds_at(found.frequencies[np.isfinite(found.frequencies)]) <= found.upper).all()
        if dt:
            refuses(lambda found=found: found.bounds_at([70.0]), "62.8319 rad/s", kind=ValueError)
    unstable = robust_stability(([[1.0]], [[1.0]], [[1.0]], [[0.0]]), [UncertainBlock("real")])
    refuses(lambda: unstable.bounds_at([1.0]), "not stable", kind=ValueError)

"""Zeros, poles, gain and phase of single channels, against responses and closed forms."""

import control
import numpy as np
import pytest

from cmbcontrol.linear.channels import channel


def second_order(zeta, omega):
    return np.array([[0.0, 1.0], [-(omega**2), -2.0 * zeta * omega]]), np.array([0.0, 1.0]), np.array([1.0, 0.0])


def chain(masses, springs, damper=0.0):
    """Masses in a row, the first on a wall; the force is on the first."""
    n = len(masses)
    K = np.diag(np.append(np.array(springs[:-1]) + springs[1:], springs[-1]))
    K -= np.diag(springs[1:], 1) + np.diag(springs[1:], -1)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-K / np.array(masses)[:, None], -damper * np.eye(n)]])
    b = np.zeros(2 * n)
    b[n] = 1.0 / masses[0]
    return A, b


@pytest.mark.parametrize("seed", range(24))
def test_factors_are_those_of_the_response(seed):
    """Random systems, stable or not, of any relative degree; with python-control as the judge of the response."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    A, b, c = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n)
    if seed % 3 == 0:  # a chain of integrators behind: no direct way from the input
        A, b = np.block([[A, b[:, None]], [np.zeros((1, n)), -np.ones((1, 1))]]), np.append(np.zeros(n), 1.0)
        c = np.append(c, 0.0)
    d = float(rng.normal()) if seed % 4 == 0 else 0.0
    found = channel(A, b, c, d)
    omega = np.logspace(-2, 2, 4000)
    G = control.ss(A, b[:, None], c[None, :], d)(1j * omega)
    s = 1j * omega[:, None]
    factored = found.gain * np.prod(s - found.zeros, axis=1) / np.prod(s - found.poles, axis=1)
    np.testing.assert_allclose(factored, G, rtol=1e-7)
    phase = found.phase(omega)
    np.testing.assert_allclose(np.exp(1j * phase), G / np.abs(G), atol=1e-7)
    unwrapped = np.unwrap(np.angle(G))
    np.testing.assert_allclose(phase - phase[0], unwrapped - unwrapped[0], atol=1e-6)


def test_an_undamped_pole_is_the_limit_of_slight_damping():
    omega = np.array([0.5, 1.9, 2.1, 50.0])
    undamped = channel(*second_order(0.0, 2.0), 0.0).phase(omega)
    np.testing.assert_allclose(undamped, [0.0, 0.0, -np.pi, -np.pi], atol=1e-12)
    np.testing.assert_allclose(undamped, channel(*second_order(1e-4, 2.0), 0.0).phase(omega), atol=5e-3)


@pytest.mark.parametrize("damper", [0.0, 1e-8, 1e-3])
def test_a_collocated_chain_alternates_between_0_and_minus_180(damper):
    """Poles and zeros interlace: zeros are the poles of the chain with the first mass held."""
    masses, springs = [1.0, 2.0, 0.5, 1.0], [10.0, 20.0, 30.0, 5.0]
    A, b = chain(masses, springs, damper)
    c = np.zeros(8)
    c[0] = 1.0
    found = channel(A, b, c, 0.0)
    held = np.sqrt(np.linalg.eigvals(-chain(masses[1:], springs[1:])[0][3:, :3]).real)
    np.testing.assert_allclose(np.unique(np.abs(found.zeros).round(5)), np.sort(held).round(5), rtol=1e-4)
    edges = np.unique(np.concatenate([np.abs(found.poles), np.abs(found.zeros)]).round(8))
    between = np.sqrt(edges[:-1] * edges[1:])
    assert len(between) == 6
    np.testing.assert_allclose(np.degrees(found.phase(between)), np.tile([-180.0, 0.0], 3), atol=4.0)


def test_an_unstable_pair_a_growth_and_a_right_zero_keep_their_signs():
    """1 / (s^2 - 4) is negative at all frequencies; (1 - s) / (s + 1)^2 falls to -270; a negative stiffness rises."""
    omega = np.array([1e-3, 1e3])
    saddle = channel(np.array([[0.0, 1.0], [4.0, 0.0]]), np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.0)
    np.testing.assert_allclose(np.degrees(saddle.phase(omega)), [-180.0, -180.0], atol=1e-9)
    A = np.array([[0.0, 1.0], [-1.0, -2.0]])
    right = channel(A, np.array([0.0, 1.0]), np.array([1.0, -1.0]), 0.0)
    np.testing.assert_allclose(np.degrees(right.phase(omega)), [0.0, -270.0], atol=0.3)
    growing = channel(*second_order(-0.1, 2.0), 0.0)
    np.testing.assert_allclose(np.degrees(growing.phase(omega)), [0.0, 180.0], atol=0.1)


@pytest.mark.parametrize(("order", "gain", "degrees"), [(1, 1.0, -90), (2, 1.0, -180), (3, 1.0, -270), (2, -1.0, 0)])
def test_integrators(order, gain, degrees):
    A = np.diag(np.ones(order - 1), 1)
    b, c = np.zeros(order), np.zeros(order)
    b[-1], c[0] = gain, 1.0
    np.testing.assert_allclose(np.degrees(channel(A, b, c, 0.0).phase(np.array([0.1, 10.0]))), degrees)


def test_units_do_not_matter():
    """The same machine in millimetres and kilonewtons."""
    A, b = chain([1.0, 2.0], [10.0, 20.0])
    c = np.array([0.0, 1.0, 0.0, 0.0])
    scale = np.array([1e3, 1e-3, 1e3, 1e-3])
    one = channel(A, b, c, 0.0)
    other = channel(scale[:, None] * A / scale, 1e-6 * scale * b, 1e4 * c / scale, 0.0)
    assert other.gain == pytest.approx(1e-2 * one.gain) and one.zeros.size == other.zeros.size == 0
    np.testing.assert_allclose(np.sort(np.abs(other.poles)), np.sort(np.abs(one.poles)), rtol=1e-7)


def test_what_does_not_act_and_what_is_not_seen():
    A = np.diag([-1.0, -2.0])
    silent = channel(A, np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.0)
    assert silent.gain == 0.0 and silent.poles.size == 0 and silent.features().size == 0
    seen = channel(A, np.array([1.0, 1.0]), np.array([0.0, 1.0]), 0.0)  # the first state is not seen
    np.testing.assert_allclose(seen.poles, [-2.0])
    assert seen.zeros.size == 0
    assert channel(np.zeros((0, 0)), np.zeros(0), np.zeros(0), 2.0).gain == 2.0

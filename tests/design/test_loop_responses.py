"""Responses of closed loops: against closed forms of a pendulum without weight, and against runs of python-control."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, linearize, linearize_closed_loop, plants, trim
from cmbcontrol.controllers import ProjectedInverseDynamics, StateFeedback
from cmbcontrol.design.loop_responses import noise_curves, noise_gains, sensitivities, step_response
from cmbcontrol.errors import InputError

J, K, D = 0.35, 20.0, 2.0


def rotor(period=None, gains=(K, D)):
    """One joint with inertia J under u = -K q - D w."""
    body = cmb.Body("arm", 1.0, (0.0, -0.5, 0.0), (0.1, 0.1, 0.1))
    joint = cmb.Revolute("turn", "ground", "arm")
    plant = cmb.Mechanism("rotor", [body], [joint], actuators=[cmb.Actuator("turn")], gravity=(0, 0, 0))
    law = StateFeedback(linearize(plant, trim(plant, np.zeros(1))), [list(gains)], period=period)
    return linearize_closed_loop(plant, law, np.zeros(1))


def five_bar(period=None):
    plant = plants.five_bar()
    goal = Constant([2.1, 1.0])
    law = ProjectedInverseDynamics(plant, ("left", "right"), goal, kp=[40, 80], kd=[5, 18], period=period)
    return linearize_closed_loop(plant, law)


def test_sensitivities_of_a_rotor():
    x = sensitivities(rotor(), "turn")
    L = (K + 1j * x.omega * D) / (J * (1j * x.omega) ** 2)
    assert np.abs(x.L / L - 1.0).max() < 1e-6  # the law is differentiated by differences
    assert np.abs(x.S * (1.0 + L) - 1.0).max() < 1e-6 and np.abs(x.S + x.T - 1.0).max() < 1e-12


@pytest.mark.parametrize("period", [None, 0.01])
def test_the_open_loop_is_that_of_the_state_space_model(period):
    loop = five_bar(period)
    broken = loop.loop("input", "left")
    x = sensitivities(loop, "left", np.array([0.3, 4.0, 50.0]))
    points = np.exp(1j * x.omega * loop.dt) if loop.dt else 1j * x.omega
    assert np.abs(x.L / np.array([broken(s) for s in points]).ravel() - 1.0).max() < 1e-8


def test_a_disturbance_of_a_rotor():
    """Static compliance 1 / K; overshoot and peak of a system of second order."""
    x = step_response(rotor(), "turn_disturbance", ["turn"])
    w, z = np.sqrt(K / J), D / (2.0 * np.sqrt(K * J))
    damped = w * np.sqrt(1.0 - z * z)
    exact = (1.0 - np.exp(-z * w * x.time) * (np.cos(damped * x.time) + z * w / damped * np.sin(damped * x.time))) / K
    assert np.abs(x.values[:, 0] - exact).max() < 1e-6 / K
    assert x.final[0] == pytest.approx(1.0 / K, rel=1e-6)
    assert x.overshoot[0] == pytest.approx(100.0 * np.exp(-np.pi * z / np.sqrt(1.0 - z * z)), abs=0.05)
    assert np.interp(x.settling[0], x.time, np.abs(exact * K - 1.0)) < 0.025


@pytest.mark.parametrize("period", [None, 0.01])
def test_steps_of_references_are_those_of_python_control(period):
    import control

    loop = five_bar(period)
    x = step_response(loop, "left_ref", ["left", "right"])
    judge = control.step_response(loop.to_ss()[["left", "right"], ["left_ref"]], T=x.time)
    assert np.abs(x.values - judge.outputs.reshape(2, -1).T).max() < 1e-8
    assert x.final == pytest.approx([1.0, 0.0], abs=1e-6) and np.isfinite(x.settling[0])


def test_a_loop_that_is_not_stable_has_no_steps():
    with pytest.raises(InputError, match="does not come to rest after a step of turn_disturbance"):
        step_response(rotor(gains=(K, -D)), "turn_disturbance", ["turn"])


def test_noise_of_a_sampled_rotor_is_that_of_a_long_sequence_of_draws():
    loop = rotor(period=0.01)
    A, B, C, feed = loop.noise_system()
    rng, x, efforts = np.random.default_rng(1), np.zeros(len(A)), []
    for n in rng.standard_normal((200_000, 1)):
        efforts.append(C @ x + feed[:, 0] * n)
        x = A @ x + B[:, 0] * n
    found = {gain.reading: gain for gain in noise_gains(loop)}
    assert found["turn"].rms == pytest.approx(np.std(efforts), rel=0.01)  # 1 / sqrt(2e5 / correlated samples)
    assert found["turn"].unit == "N m/rad" and found["turn_rate"].unit == "N m/(rad/s)"
    _, curves = noise_curves(loop)
    assert found["turn"].peak >= curves["N m per rad"]["turn"].max() * (1.0 - 1e-8)


def test_noise_in_continuous_time_has_a_largest_gain_and_no_rms():
    """From the angle: K s^2 / (s^2 + D/J s + K/J), at infinite frequency K."""
    (angle, _) = noise_gains(rotor())
    w = np.geomspace(0.1, 1e4, 200_001)
    exact = np.abs(K * (1j * w) ** 2 / ((1j * w) ** 2 + D / J * 1j * w + K / J)).max()
    assert angle.rms == np.inf and angle.peak == pytest.approx(exact, rel=1e-5)

"""The velocity filter at a sine, and joints of several axes."""

import numpy as np
import pytest

from cmbcontrol.controllers import FilteredDifference
from cmbcontrol.model.elements import Body, Free
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import PERIOD, Told, rotor


@pytest.mark.parametrize("tau", [0.0, 0.004])
def test_the_filter_at_a_sine(tau):
    """After its transients the velocity of a sine is H(exp(j w T)) times its position."""
    plant, told, w = rotor(), Told(rotor()), 120.0
    law = FilteredDifference(tau) | told
    state = law.start(plant)
    t = PERIOD * np.arange(400)
    for x in t:
        terms = plant.terms([np.sin(w * x)], [w * np.cos(w * x)])
        state = law.evaluate(x, terms, state).state
    v = np.array([h[2][0] for h in told.heard])
    z, a = np.exp(1j * w * PERIOD), np.exp(-PERIOD / tau) if tau else 0.0
    H = (1.0 - a) / PERIOD * (1.0 - 1.0 / z) / (1.0 - a / z)
    assert v[100:] == pytest.approx((H * np.exp(1j * w * t)).imag[100:], abs=1e-8)
    assert v[0] == w  # the first velocity is taken as it is told


def test_differences_on_joints_of_several_axes():
    """A body that turns steadily about its own axis: the difference is its angular velocity."""
    plant = Mechanism("free", [Body("b", 1.0, np.zeros(3), np.eye(3))], [Free("float", "ground", "b")])
    told, rate = Told(plant), np.array([0.3, -2.0, 1.0, 0.5, 0.1, -0.4])
    law = FilteredDifference(0.002) | told
    state, q = law.start(plant), plant.integrate(plant.neutral(), np.arange(6.0))
    for k in range(30):
        terms = plant.terms(q, rate if k == 0 else np.zeros(6))
        law(k * PERIOD, terms, state)
        state = law.evaluate(k * PERIOD, terms, state).state
        q = plant.integrate(q, PERIOD * rate)
    assert told.heard[-1][2] == pytest.approx(rate, abs=1e-10)


def test_cutoff_and_time_constant():
    assert FilteredDifference(cutoff_hz=50.0).time_constant == pytest.approx(1.0 / (100.0 * np.pi))
    for wrong in ({}, {"time_constant": 0.1, "cutoff_hz": 3.0}):
        with pytest.raises(TypeError, match="either a time_constant"):
            FilteredDifference(**wrong)
    with pytest.raises(ValueError, match="must be > 0"):
        FilteredDifference(cutoff_hz=0.0)
    with pytest.raises(ValueError, match="must be >= 0"):
        FilteredDifference(-1.0)

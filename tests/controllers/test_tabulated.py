"""What laws compute along references, in pieces for code, against the laws themselves."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import CamProfile, Constant, JerkLimited, Sine, plants
from cmbcontrol.controllers import Cascade, StateFeedback
from cmbcontrol.controllers.tabulated import Tabulated, over_reference

from .test_reference_efforts import crank_slider

MOVED = ("left", "right")
REFERENCES = {
    "sine": Sine([2.1, 1.0], [0.2, 0.3], 1.0),
    "sines of two frequencies": Sine([2.1, 1.0], [0.2, 0.1], [0.8, 1.2]),
    "constant": Constant([2.1, 1.0]),
    "jerk limited": JerkLimited([2.1, 1.0], [2.4, 1.2], velocity=1.0, acceleration=4.0, jerk=40.0),
    "cam": CamProfile([0.0, 0.5, 1.25], [[2.1, 1.0], [2.4, 1.2], [2.1, 1.0]], law="modified sine"),
}


def cascade(reference, plant=None):
    plant = plants.five_bar() if plant is None else plant
    return Cascade(plant, reference, position_gain=10.0, velocity_gain=3.0, coordinates=MOVED, period=1e-3)


@pytest.mark.parametrize("name", REFERENCES)
def test_efforts_of_a_motion(name):
    law = cascade(REFERENCES[name])
    held = over_reference(law._ahead)
    times = np.random.default_rng(0).uniform(-0.5, 6.0, 200)
    exact = np.array([law._ahead(t) for t in times])
    assert isinstance(held, Tabulated) and held.error <= 1e-9
    np.testing.assert_allclose(held.over(times), exact, rtol=0.0, atol=2e-9 * np.abs(exact).max())
    np.testing.assert_allclose([held(t) for t in times], exact, rtol=0.0, atol=2e-9 * np.abs(exact).max())


@pytest.fixture(scope="module")
def crank():
    plant = crank_slider()
    return plant, plant.assemble(guess={"rod": -0.2, "slide": 0.4}, crank=0.3)


TURNING = CamProfile([0.0, 0.7, 1.0], [[0.3], [4.0], [0.3 + 2.0 * np.pi]], periodic=True)


def test_a_crank_that_goes_on_turning(crank):
    plant, q0 = crank
    law = Cascade(plant, TURNING, position_gain=5.0, velocity_gain=1.0, coordinates=("crank",), at=q0, period=1e-3)
    held = over_reference(law._ahead)
    times = np.random.default_rng(1).uniform(0.0, 5.0, 100)
    exact = np.array([law._ahead(t) for t in times])
    assert isinstance(held, Tabulated) and held.period == 1.0
    np.testing.assert_allclose(held.over(times), exact, rtol=0.0, atol=2e-9 * np.abs(exact).max())


def test_desired_states_along_a_motion(crank):
    """Of a state feedback: deviations, velocities and efforts together."""
    plant, q0 = crank
    model = cmb.linearize(plant, cmb.trim(plant, q0), coordinates=("crank",))
    motion = JerkLimited([0.3], [0.9], velocity=1.0, acceleration=4.0, jerk=40.0)
    law = StateFeedback(model, np.zeros((1, 2)), reference=motion, feedforward="inverse-dynamics", period=1e-3)
    held = over_reference(law._desired_at)
    times = np.random.default_rng(2).uniform(-0.2, 2.0, 50)
    exact = np.array([np.concatenate([np.ravel(x) for x in law._desired_at(t)]) for t in times])
    assert isinstance(held, Tabulated)
    np.testing.assert_allclose(held.over(times), exact, rtol=0.0, atol=2e-9 * np.abs(exact).max())


def test_what_has_no_pieces():
    """Motions of the user's own, those that do not repeat, and those whose efforts change too fast for a table."""
    plant = plants.five_bar()

    def own(t):
        return np.array([2.1, 1.0]), np.zeros(2), np.zeros(2)

    assert over_reference(own) is None
    assert over_reference(cascade(own, plant)._ahead) is None
    assert over_reference(cascade(Sine([2.1, 1.0], 0.1, [1.0, np.sqrt(2.0)]), plant)._ahead) is None
    assert over_reference(REFERENCES["sine"]) is REFERENCES["sine"]
    assert cmb.Sine([0.0, 0.0], 1.0, [0.8, 1.2]).period == pytest.approx(2.5, rel=1e-15)

"""Gains of laws: known derivatives are found, and a law with a corner has none."""

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, linearize, linearize_closed_loop, plants, trim
from cmbcontrol.controllers import Controller, Evaluation
from cmbcontrol.controllers.law_gains import FrozenLaw, Ways, law_gains
from tests.fixtures import actuated_pendulum


def test_a_law_with_a_corner():
    plant = actuated_pendulum()

    def law(t, terms, state):
        return np.array([np.clip(30.0 * (1.2 - terms.q[0]), -2.0, 4.905 * np.cos(1.2)) - 3.0 * np.abs(terms.v[0])])

    for angle, name in ((1.0, "pivot_rate"), (1.2 - 4.905 * np.cos(1.2) / 30.0, "pivot")):
        with pytest.raises(ValueError, match=rf"law law along {name} is not smooth here: its slope is .*saturated"):
            linearize_closed_loop(plant, law, OperatingPoint.at(plant, [angle]), find_equilibrium=False)


class Mixed(Controller):
    """u = sin(q) K - 3 v + c^2 / 2, dc/dt = c q - v: a law whose derivatives are known."""

    def __init__(self, K):
        self.K = K

    def start(self, plant):
        return np.array([0.4])

    def evaluate(self, t, terms, state):
        q, v = terms.q[[0, 2]], terms.v[[0, 2]]
        return Evaluation(self.K @ np.sin(q) - 3.0 * v + 0.5 * state**2, state * q[0] - v[1])


def test_gains_of_a_law_with_known_derivatives():
    """In the coordinates `left` and `right` of the five-bar, which are its states y."""
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    K = np.array([[2.0, -1.0], [0.5, 4.0]])
    law = FrozenLaw(plant, Mixed(K), 0.0)
    found = law_gains(law, Ways.of(linearize(plant, point, coordinates=("left", "right"))), law.start)
    c, q = 0.4, np.array([2.1, 1.0])
    np.testing.assert_allclose(found.u_x, np.hstack([K * np.cos(q), -3.0 * np.eye(2)]), atol=1e-9)
    np.testing.assert_allclose(found.u_c, [[c], [c]], atol=1e-10)
    np.testing.assert_allclose(found.c_x, [[c, 0.0, 0.0, -1.0]], atol=1e-9)
    np.testing.assert_allclose(found.c_c, [[q[0]]], atol=1e-10)
    assert found.u_r.shape == (2, 0) and found.c_u.tolist() == [[0.0, 0.0]]

"""Steps of collocation: rules of order 6, and a fall that they follow to rounding."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol.sim.collocation import KNOWN, UNKNOWN, collocated
from tests.fixtures import engine_at

RULES = pytest.mark.parametrize("nodes", [KNOWN, UNKNOWN], ids=["start known", "start unknown"])


@RULES
def test_rules_integrate_polynomials(nodes):
    """To each node exactly below as many powers as there are nodes, to the end of the step up to order 6."""
    n = nodes.c.size
    for power in range(n):
        np.testing.assert_allclose(nodes.A @ nodes.c**power, nodes.c ** (power + 1) / (power + 1), atol=1e-13)
        assert nodes.at(0.4) @ nodes.c**power == pytest.approx(0.4**power, abs=1e-11)
    for power in range(6):
        assert nodes.A[-1] @ nodes.c**power == pytest.approx(1.0 / (power + 1), abs=1e-12)


def test_the_known_start_is_lobattos():
    """Weights 1/12, 5/12, 5/12, 1/12 (Hairer and Wanner, Solving ODEs II, IV.5)."""
    np.testing.assert_allclose(KNOWN.A[-1], np.array([1.0, 5.0, 5.0, 1.0]) / 12.0, atol=1e-15)


@RULES
def test_a_fall_is_followed(nodes):
    plant = cmb.Mechanism("fall", [cmb.Body("stone", 2.0)], [cmb.Prismatic("z", "ground", "stone")])
    z, speed, h = 0.5, 1.5, 0.1
    engine, x = engine_at(plant, np.array([z]), np.array([speed]))
    rate = engine.derivative(0.0, x)
    assert rate[:2] == pytest.approx([speed, -9.81], rel=1e-14)
    defect, step = collocated(engine, nodes, 0.0, x, rate, h, 1e-6)
    assert defect < 1e-12
    exact = [[z + speed * t - 0.5 * 9.81 * t * t, speed - 9.81 * t] for t in step.times]
    assert step.times[[0, -1]].tolist() == [0.0, h]
    np.testing.assert_allclose(step.values[:, :2], exact, atol=1e-13)

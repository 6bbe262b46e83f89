"""Computed torque: the classical law on open arms, its projection on closed chains."""

import numpy as np
import pytest

from cmbcontrol import Quintic, Sine, plants, simulate
from cmbcontrol.controllers import ComputedTorque, ProjectedInverseDynamics
from tests.fixtures import largest, open_arm


def test_the_classical_law_of_an_open_arm():
    plant = open_arm(gear=5.0)
    reference = Sine([0.3, -0.4, 0.8], 0.3, [0.5, 0.7, 0.9])
    law = ComputedTorque(plant, reference, kp=[30.0, 40.0, 50.0], kd=[11.0, 12.0, 13.0])
    q, v, t = np.array([0.1, 0.2, 0.3]), np.array([-0.5, 1.0, 2.0]), 0.37
    p, rate, acceleration = reference(t)
    terms = plant.terms(q, v)
    wanted = acceleration + np.array([11.0, 12.0, 13.0]) * (rate - v) + np.array([30.0, 40.0, 50.0]) * (p - q)
    assert 5.0 * law(t, terms, np.zeros(0)) == pytest.approx(terms.M @ wanted + terms.h, rel=1e-12)
    assert law.coordinates == ("q0", "q1", "q2")


def test_errors_decay_as_asked():
    """e'' + G_D e' + G_P e = 0 exactly, while the arm swings."""
    plant = open_arm()
    reference = Sine([0.3, -0.4, 0.8], 0.3, 0.5)
    law = ComputedTorque(plant, reference, bandwidth=6.0)
    p, rate, _ = reference(0.0)
    e0 = np.array([0.1, -0.2, 0.3])
    run = simulate(plant, law, p - e0, rate, t_end=1.0, output_times=0.1)
    t = run.time
    truth = np.exp(-6.0 * t)[:, None] * (1.0 + 6.0 * t[:, None]) * e0
    assert largest(np.array([reference(x)[0] for x in t]) - run.q.values - truth) < 1e-8


def test_on_a_closed_chain_it_is_projected():
    plant = plants.five_bar()
    reference = Quintic([2.1, 1.0], [1.8, 1.2], 1.0)
    twin = ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=6.0)
    law = ComputedTorque(plant, reference, bandwidth=6.0, period=1e-3)
    terms = plant.terms(plant.assemble(left=2.0, right=1.1), np.zeros(4))
    assert law(0.3, terms, None) == pytest.approx(twin(0.3, terms, None), abs=1e-12)
    assert law.period == 1e-3
    with pytest.raises(ValueError, match="do not drive single one-axis joints of the tree; name the coordinates"):
        ComputedTorque(plants.five_bar(cut="right"), reference, bandwidth=6.0)

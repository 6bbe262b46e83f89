"""Cascades of drives against their equations, written down again."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, Sine, plants
from cmbcontrol.controllers import Cascade, Saturation
from cmbcontrol.errors import InputError
from tests.fixtures import refuses, slider

from .test_pid import T, machine, states

__all__ = ["machine"]

WAY = Sine([2.1, 1.0], [0.2, 0.1], 1.5)
GAINS = {"position_gain": [9.0, 12.0], "velocity_gain": [20.0, 30.0], "integral_time": [0.1, np.inf]}


@pytest.mark.parametrize("period", [None, T])
def test_efforts_and_states(machine, period):
    plant, q0 = machine
    limited = {"velocity_limit": [1.0, np.inf], "velocity_feedforward": [0.5, 1.0]}
    law = Cascade(plant, WAY, **GAINS, **limited, feedforward="none", period=period)
    Kv, Kp, Tn, most, f = (np.array(x) for x in (*GAINS.values(), *limited.values()))
    rng, cut = np.random.default_rng(0), 0
    for k, (q, v) in enumerate(states(plant, q0, 20, rng)):
        t, state = 0.05 * k, rng.standard_normal(2)
        said = law.evaluate(t, plant.terms(q, v), state)
        r, rate, _ = WAY(t)
        asked = Kv * (r - q[[0, 2]]) + f * rate
        cut += abs(asked[0]) > 1.0
        asked = np.clip(asked, -most, most)
        np.testing.assert_allclose(said.effort, Kp * (asked - v[[0, 2]]) + state, rtol=1e-12)
        integral = Kp / Tn * (asked - v[[0, 2]])
        np.testing.assert_allclose(said.state, integral if period is None else state + T * integral, rtol=1e-12)
        np.testing.assert_allclose(list(said.reported().values()), asked, rtol=1e-12)
    assert cut > 3
    assert law.report_units() == {"left_velocity_asked": "rad/s", "right_velocity_asked": "rad/s"}


def test_with_the_efforts_of_the_reference_nothing_is_left_for_the_loops():
    """On the exact model, continuous in time: the machine follows from its start on, whatever the gains are."""
    plant = plants.five_bar()
    way = Sine([2.1, 1.0], [0.3, 0.2], 0.8)
    q0 = plant.assemble(left=2.1, right=1.0)
    law = Cascade(plant, way, position_gain=5.0, velocity_gain=20.0, integral_time=0.2, at=q0)
    v0 = law._ahead.efforts.point(way(0.0)[0]).K @ way(0.0)[1]
    run = cmb.simulate(plant, law, q0, v0, t_end=1.0)
    assert np.abs(run.data.error.values).max() < 1e-8
    bare = cmb.simulate(
        plant, Cascade(plant, way, position_gain=5.0, velocity_gain=20.0, feedforward="none"), q0, v0, t_end=1.0
    )
    assert np.abs(bare.data.error.values).max() > 1e-2


def test_a_limited_velocity_is_not_exceeded():
    plant = slider(effort=500.0)
    law = Cascade(plant, Constant([2.0]), position_gain=20.0, velocity_gain=100.0, velocity_limit=0.3, period=T)
    run = cmb.simulate(plant, law | Saturation(), np.zeros(1), t_end=8.0)
    assert 0.3 * (1.0 - 1e-6) < run.v.values.max() < 0.3 * (1.0 + 1e-9)
    assert abs(run.q.values[-1, 0] - 2.0) < 1e-3


@pytest.mark.parametrize(("options", "words"), [
    ({"position_gain": -1.0}, ("position_gain of Cascade", ">= 0")),
    ({"integral_time": 0.0}, ("integral_time of Cascade", "> 0")),
    ({"velocity_limit": 0.0}, ("velocity_limit of Cascade", "> 0")),
    ({"velocity_gain": [1.0] * 3}, ("velocity_gain of Cascade", "left, right")),
])  # fmt: skip
def test_refusals(machine, options, words):
    refuses(lambda: Cascade(machine[0], WAY, **GAINS | options), *words, kind=InputError)

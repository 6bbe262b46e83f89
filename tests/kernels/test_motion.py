"""The rate of the state does not depend on how loops are written."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import engine_at


@pytest.mark.nojit_slow
def test_rates_do_not_depend_on_how_the_loops_are_written():
    """Off the loops a row along axes of body a and one along axes of body b differ in first order."""
    plant = plants.five_bar()
    (tip,) = plant.loops
    swapped = cmb.Mechanism(
        "swapped",
        plant.bodies,
        plant.joints,
        [cmb.PointOnLine("tip", tip.b, tip.a, tip.point_b, tip.point_a)],
        gravity=(0.0, -9.81, 0.0),
    )
    q = configuration(plant, "asymmetric") + 1e-6 * np.array([1.0, -2.0, 0.5, 3.0])
    v = plant.project_velocity(q, [1.0, 2.0, 3.0, 4.0])
    rates = []
    for machine in (plant, swapped):
        engine, x = engine_at(machine, q, v)
        rates.append(engine.derivative(0.0, x))
    assert np.abs(rates[0] - rates[1]).max() < 1e-9

"""Friction that is compensated cancels."""

import numpy as np
import pytest

from cmbcontrol import Constant, Sine, plants, simulate
from cmbcontrol.controllers import DriveFriction, FrictionCompensation, ProjectedInverseDynamics
from tests.fixtures import PERIOD, Asks, largest


@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_compensated_friction_cancels(fraction):
    plant = plants.five_bar()
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.0, 1.2]), bandwidth=8.0)
    friction = DriveFriction({"left": 5.0, "right": 3.0}, viscous=2.0, breakaway=[6.0, 3.0], width=0.05)
    q = plant.assemble(left=2.1, right=1.0)
    runs = [
        simulate(plant, x, q, t_end=0.4, output_times=0.1, rtol=1e-9, atol=1e-9)
        for x in (law, law | FrictionCompensation(friction, fraction=fraction) | friction, law | friction)
    ]
    error, whole = (largest(run.q.values - runs[0].q.values) for run in runs[1:])
    assert whole > 1e-3
    assert error < 1e-8 if fraction == 1.0 else 1e-4 < error < whole


def test_compensation_at_the_reference():
    """On the path itself both velocities agree."""
    plant = plants.five_bar()
    reference = Sine([2.1, 1.0], [0.1, 0.2], 1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), reference, bandwidth=8.0, period=PERIOD)
    friction = DriveFriction(1.0, viscous=[2.0, 3.0])
    by = {v: law | FrictionCompensation(friction, velocity=v) for v in ("measured", "reference")}
    q = plant.assemble(left=2.1, right=1.0)
    y_rate = reference(0.0)[1]
    Z = plant.terms(q, np.zeros(4)).Z
    terms = plant.terms(q, Z @ np.linalg.solve(Z[[0, 2]], y_rate))
    u = [by[v](0.0, terms, np.zeros(0)) for v in ("measured", "reference")]
    assert u[0] == pytest.approx(u[1], rel=1e-12)
    assert u[0] - law(0.0, terms, np.zeros(0)) == pytest.approx(friction.force(y_rate))
    resting = plant.terms(q, np.zeros(4))
    assert by["reference"](0.0, resting, np.zeros(0)) - law(0.0, resting, np.zeros(0)) == pytest.approx(
        friction.force(y_rate)
    )
    # another reference reaches the compensation
    by["reference"] = by["reference"].with_reference(Constant([2.1, 1.0]))
    plain = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    assert by["reference"](0.0, resting, np.zeros(0)) == pytest.approx(plain(0.0, resting, None))
    assert law.reference is reference
    with pytest.raises(ValueError, match=r"Asks has no reference in coordinates of the plant"):
        Asks(lambda t: [0.0, 0.0], plant=plant) | FrictionCompensation(friction, "reference")

"""Positions of joints without encoders follow from the loops."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.controllers import Encoder, ForwardKinematics
from cmbcontrol.errors import ActuationError
from tests.fixtures import Told, largest


def test_forward_kinematics_closes_the_loops():
    """Two encoders on the motors tell the whole state."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.3, 0.0, -0.2, 0.0])
    told = Told(plant)
    terms = plant.terms(q + np.array([0.0, 0.03, 0.0, -0.05]), v + np.array([0.0, 1.0, 0.0, 2.0]))
    (ForwardKinematics(("left", "right")) | told)(0.0, terms, np.zeros(0))
    assert told.heard[0][1] == pytest.approx(q, abs=1e-12)
    assert told.heard[0][2] == pytest.approx(v, abs=1e-12)
    rough = Encoder(bits=8) | ForwardKinematics(("left", "right")) | told
    rough(0.0, terms, np.zeros(0))
    assert plant.closure_error(told.heard[1][1]) < 1e-12
    assert 1e-4 < largest(told.heard[1][1] - q) < 0.05
    with pytest.raises(ActuationError, match=r"\('left',\) do not determine the motion.*2 degrees of freedom"):
        (ForwardKinematics("left") | told)(0.0, terms, np.zeros(0))
    with pytest.raises(ValueError, match="did you mean 'left'"):
        ForwardKinematics(("lefft", "right")) | told

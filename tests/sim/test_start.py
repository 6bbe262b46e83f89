"""Starts that are refused."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from tests.fixtures import regular_start


class TestFailures:
    def test_bad_starts(self):
        plant = plants.five_bar()
        q0 = regular_start(plant)
        with pytest.raises(TypeError, match="assemble"):
            cmb.simulate(plant, t_end=1.0)
        with pytest.raises(ValueError, match="leaves the loops open"):
            cmb.simulate(plant, q0=[0.1, 0.2, 0.3, 0.4], t_end=1.0)
        with pytest.raises(ValueError, match="violates the loops"):
            cmb.simulate(plant, q0=q0, v0=[1.0, 0.0, 0.0, 0.0], t_end=1.0)
        with pytest.raises(ValueError, match="q0 must have shape"):
            cmb.simulate(plant, q0=q0[:3], t_end=1.0)
        with pytest.raises(ValueError, match="finite"):
            cmb.simulate(plant, q0=q0 * np.nan, t_end=1.0)
        with pytest.raises(TypeError, match="step="):
            cmb.simulate(plant, q0=q0, t_end=1.0, method="rk4")
        with pytest.raises(TypeError, match="unexpected keyword"):
            cmb.simulate(plant, q0=q0, t_end=1.0, tolerance=1.0)

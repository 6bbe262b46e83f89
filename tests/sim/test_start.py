"""Where runs start: starts that are closed, and those that are refused."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.sim.start import start_state
from tests.fixtures import regular_start


def test_bad_starts():
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


def test_small_gaps_are_closed():
    """By rounding and a little more; what is closed already stays as it is, to the last bit."""
    plant = plants.five_bar()
    q0 = regular_start(plant)
    start = start_state(plant, q0 + 1e-9, plant.project_velocity(q0, [1.0, 0.0, 0.0, 0.0]), "mass")
    terms = plant.terms(start.q, start.v)
    assert np.abs(terms.phi).max() < 1e-15 and np.abs(terms.A @ start.v).max() < 1e-14
    assert np.abs(start.q - q0).max() < 1e-8
    closed = plant.close(q0, accuracy=1e-16)
    again = start_state(plant, closed, None, "mass")
    assert again.q.tolist() == closed.tolist() and again.v.tolist() == [0.0] * 4


def test_nothing_moves():
    locked = cmb.Mechanism("locked", [cmb.Body("body", 1.0)], [cmb.Fixed("held", "ground", "body")])
    with pytest.raises(ValueError, match="'locked' has no coordinates: nothing moves"):
        start_state(locked, [], None, "mass")


def test_quaternions_get_length_one():
    body = cmb.Body("body", 1.0, inertia=(0.1, 0.2, 0.3))
    plant = cmb.Mechanism("free", [body], [cmb.Spherical("ball", "ground", "body")])
    q = start_state(plant, [2.0, 0.0, 0.0, 2.0], None, "mass").q
    assert q == pytest.approx(np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0), abs=1e-15)

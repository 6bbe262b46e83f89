"""De Falco's parallelogram: exact motion, flat pose."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.plants import parallelogram
from cmbcontrol.plants.parallelogram import configuration as linkage_configuration
from cmbcontrol.plants.parallelogram import rate as linkage_rate


@pytest.mark.parametrize("coordinates", ["cartesian", "planar"])
def test_parallelogram_exact(coordinates):
    plant = parallelogram(coordinates)
    assert plant.position_names[:3] == ("link1_x", "link1_y", "link1_angle") and plant.nv == 12
    rng = np.random.default_rng(1)
    for _ in range(5):
        angle, speed = rng.uniform(-3.0, 3.0), rng.standard_normal()
        q, v = linkage_configuration(angle), linkage_rate(plant, angle, speed)
        assert plant.closure_error(q) < 1e-14
        terms = plant.terms(q, v)
        assert terms.A.shape == (12, 12) and terms.rank == 11
        assert np.abs(terms.A @ v).max() < 1e-14
        assert terms.kinetic == pytest.approx(0.5 * 3.05 * speed**2, rel=1e-12)
        vdot = acceleration(terms, np.zeros(12))
        turning = [2, 5, 8]
        assert vdot[turning] == pytest.approx([-34.335 * np.cos(angle) / 3.05] * 3, abs=1e-10)
        assert abs(vdot[11]) < 1e-10
        assert plant.assemble(link1_angle=angle) == pytest.approx(q, abs=1e-11)


@pytest.mark.parametrize("coordinates", ["cartesian", "planar"])
def test_parallelogram_flat(coordinates):
    """Here the velocities gain a degree of freedom, but all branches nearby have rank 11."""
    found = parallelogram(coordinates).diagnose(linkage_configuration(0.0))
    assert (found.rank, found.generic_rank, found.dof, found.singular) == (10, 11, 2, True)


def test_parallelogram_motor():
    plant = parallelogram()
    angle = 1.0
    vdot = forward_dynamics(plant, linkage_configuration(angle), np.zeros(12), [7.0])
    assert vdot[2] == pytest.approx((7.0 - 34.335 * np.cos(angle)) / 3.05, rel=1e-10)
    assert parallelogram("planar").nu == 0

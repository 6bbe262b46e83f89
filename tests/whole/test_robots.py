"""Robots of other makers, with welded loops: they close from their zero configuration, and near a guess."""

import warnings

import numpy as np
import pytest

from cmbcontrol.errors import BranchWarning
from tests import urdf_robots

pytestmark = [
    pytest.mark.nojit_slow,
    pytest.mark.skipif(not urdf_robots.names(), reason="the sample robots are not beside the repository"),
]


@pytest.mark.parametrize("name", urdf_robots.names() or ["none"])
def test_robots_close(name):
    plant = urdf_robots.robot(name)
    q = plant.assemble()
    assert plant.closure_error(q) < 1e-14 * plant.size
    lengths = np.array([1.0 if unit == "rad/s" else plant.size for unit in plant.velocity_units])
    for off in (0.05, 0.5, 1.0):
        for seed in range(3):
            guess = plant.integrate(q, off * lengths * np.random.default_rng(seed).uniform(-1.0, 1.0, plant.nv))
            with warnings.catch_warnings():
                warnings.simplefilter("error" if off < 0.1 else "ignore", BranchWarning)
                found = plant.assemble(guess=guess)
            assert plant.closure_error(found) < 1e-14 * plant.size
            moved = np.abs(plant.difference(guess, found) / lengths).max()
            assert off > 0.5 or moved < 2.0 * off
            if off < 1.0:
                assert plant.closure_error(plant.close(guess)) < 1e-13 * plant.size

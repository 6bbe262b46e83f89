"""Long runs: what a few seconds do not show."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(20))
def test_the_five_bar_from_random_starts(seed):
    plant = plants.five_bar()
    rng = np.random.default_rng(seed)
    while True:
        try:
            q0 = plant.assemble(left=rng.uniform(0.5, 2.6), right=rng.uniform(0.5, 2.6))
            break
        except cmb.errors.AssemblyError:
            continue
    v0 = plant.project_velocity(q0, rng.standard_normal(4))
    run = cmb.simulate(plant, None, q0, v0, t_end=10.0)
    assert run.max_drift < 1e-12
    assert run.max_energy_error < 1e-6

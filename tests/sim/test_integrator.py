"""Fixed steps and dense output have the order of the method."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.papers.methods import settings
from tests.fixtures import regular_start


def test_rk4_converges_with_order_four():
    plant = plants.five_bar()
    q0 = regular_start(plant)
    exact = cmb.simulate(plant, q0=q0, t_end=0.5, output_times=[0.5]).q.values[-1]
    errors = []
    for step in (0.02, 0.01):
        run = cmb.simulate(plant, q0=q0, t_end=0.5, output_times=[0.5], **settings(step=step, method="rk4"))
        errors.append(np.abs(run.q.values[-1] - exact).max())
    assert 3.5 < np.log2(errors[0] / errors[1]) < 5.0


@pytest.mark.nojit_slow
def test_dense_output_is_as_accurate_as_the_steps():
    plant = plants.five_bar()
    q0 = regular_start(plant)
    grid = np.linspace(0.0, 1.0, 41)
    coarse = cmb.simulate(plant, q0=q0, t_end=1.0, output_times=grid)
    fine = cmb.simulate(plant, q0=q0, t_end=1.0, output_times=grid, **settings(max_step=1e-3))
    assert np.abs(coarse.q.values - fine.q.values).max() < 1e-8
    assert np.abs(coarse.v.values - fine.v.values).max() < 1e-7

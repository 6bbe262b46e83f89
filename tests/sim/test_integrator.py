"""Fixed steps and dense output have the order of the method."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Integrator, plants
from cmbcontrol.papers.methods import settings
from tests.fixtures import refuses, regular_start


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


def test_tolerances_that_no_step_reaches_are_refused():
    """By what rounding leaves of numbers, and of the size of the machine."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    for rtol in (1e-300, 1e-20, 9e-17, 1.0, 1e3, 1e99):
        told = "rtol", f"{rtol:g}"
        refuses(lambda rtol=rtol: cmb.simulate(plant, None, q, t_end=0.1, rtol=rtol), *told, kind=ValueError)
        refuses(lambda rtol=rtol: Integrator("radau", rtol=rtol), *told, kind=ValueError)
    for atol in (1e-300, 1e-20, 1e200):
        refuses(lambda atol=atol: cmb.simulate(plant, None, q, t_end=0.1, atol=atol), "atol", kind=ValueError)
        refuses(lambda atol=atol: cmb.Stepper(plant, q, atol=atol), "atol", kind=ValueError)
    for tolerance in (1e-16, 1e-14):
        run = cmb.simulate(plant, None, q, t_end=0.1, rtol=tolerance, atol=tolerance)
        assert run.max_energy_error < 1e-10
    small = 1e-6  # m: a machine of micrometres has a finer tolerance
    rod = cmb.Body("rod", 1e-12, (small, 0, 0))
    slide = cmb.Prismatic("slide", "ground", "rod", axis=(0, 0, 1))
    tiny = cmb.Mechanism("tiny", [rod], [slide], [], springs=[cmb.JointSpring("spring", "slide", 1e-8)])
    cmb.simulate(tiny, None, [small], t_end=1e-2, atol=1e-21)

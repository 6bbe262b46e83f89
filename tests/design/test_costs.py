"""Costs of a run in closed form."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.controllers import PointTask, ProjectedInverseDynamics
from cmbcontrol.design import effort_cost, error_cost, overshoot_cost, weighted_cost
from cmbcontrol.papers.methods import settings
from tests.fixtures import step_run


@pytest.mark.nojit_slow
def test_costs_have_their_closed_forms(pendulum):
    run = cmb.simulate(**settings(**step_run(pendulum, 0.3)))
    w, z = 6.0, 0.3
    assert error_cost("ISE")(run) == pytest.approx(0.25 * (1.0 + 4.0 * z**2) / (4.0 * z * w), rel=0.03)
    assert overshoot_cost()(run) == pytest.approx(0.5 * np.exp(-np.pi * z / np.sqrt(1 - z**2)), rel=0.05)
    assert error_cost("IAE", after=10.0)(run) == 0.0
    both = weighted_cost(error=(2.0, error_cost()), effort=(0.5, effort_cost({"motor": 1.0})))
    assert both(run) == pytest.approx(2.0 * error_cost()(run) + 0.5 * effort_cost()(run))
    t = run.time
    held = np.trapezoid(run.u.values[:, 0] ** 2, t)
    assert effort_cost()(run) == pytest.approx(held)
    with pytest.raises(ValueError, match="no reference"):
        error_cost()(cmb.simulate(pendulum, q0=pendulum.assemble(angle=0.1), t_end=0.1))
    with pytest.raises(ValueError, match="did you mean 'IAE'"):
        error_cost("IAEE")


def test_costs_of_a_law_on_a_task():
    """Its names are no joints: the error is that of the law."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    task = PointTask(plant, "left_upper", (1.5, 0, 0), axes="xy")
    law = ProjectedInverseDynamics(plant, task, Constant([0.5, 1.9]), bandwidth=8.0, period=0.01)
    run = cmb.simulate(plant, law, q0, t_end=0.2, output_times=0.01)
    assert error_cost("IAE")(run) == pytest.approx(np.trapezoid(np.abs(run.error.values), run.time, axis=0).sum())
    assert overshoot_cost()(run) == 0.0
    first, second = task.names
    assert error_cost(weight={first: 1.0})(run) + error_cost(weight={second: 1.0})(run) == error_cost()(run)
    with pytest.raises(ValueError, match=r"no error of .*which are no joint positions"):
        error_cost()(cmb.Simulation(run.data.drop_vars("error")))

"""From steps to a result: every column is what the plant says of its state."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ProjectedInverseDynamics


def test_the_rank_is_told_where_all_rows_vanish_together():
    plant = plants.slider_crank()
    law = ProjectedInverseDynamics(plant, ("q1",), cmb.Quintic([1.0], [2.2], 1.0), bandwidth=8.0)
    run = cmb.simulate(plant, law, plant.assemble(q1=1.0), t_end=1.0)
    assert [(event["kind"], event["rank"]) for event in run.events()] == [("singular passage", 0)]


def test_the_columns_are_what_the_plant_says_of_each_state():
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(
        plant, ("left", "right"), cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5), bandwidth=8.0, period=1e-2
    )
    run = cmb.simulate(plant, law, q0, t_end=0.3, output_times=0.05)
    assert run.time == pytest.approx(0.05 * np.arange(7), abs=1e-15)
    for i in range(len(run.time)):
        q, v, u = (run.data[name].values[i] for name in ("q", "v", "u"))
        terms = plant.terms(q, v)
        force = cmb.constraint_force(plant, q, v, u)
        assert run.a.values[i] == pytest.approx(cmb.forward_dynamics(plant, q, v, u), abs=1e-9)
        assert run.multipliers.values[i] == pytest.approx(force.multipliers, abs=1e-9)
        assert run.constraint_force.values[i] == pytest.approx(force.force, abs=1e-9)
        assert (run.kinetic.values[i], run.potential.values[i]) == pytest.approx((terms.kinetic, terms.potential))
        assert run.actuator_power.values[i] == pytest.approx(v @ terms.B @ u, abs=1e-12)
        assert abs(run.constraint_power.values[i]) < 1e-12 and run.rank.values[i] == terms.rank
        assert run.reference.values[i] == pytest.approx(law.reference(run.time[i])[0], abs=1e-15)
        assert run.error.values[i] == pytest.approx(run.reference.values[i] - q[[0, 2]], abs=1e-15)


def test_output_times_of_ones_own():
    plant = plants.pendulum()
    times = [0.0, 0.013, 0.5]
    run = cmb.simulate(plant, q0=plant.assemble(angle=0.1), t_end=0.5, output_times=times)
    assert run.time.tolist() == times


def test_efforts_are_told_without_the_rest():
    """Those of held commands, as the data have them, with labels."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.0, 1.1]), bandwidth=8.0, period=1e-2)
    for efforts in (law, [1.0, -2.0], None):
        run = cmb.simulate(plant, efforts, q0, t_end=0.1, output_times=0.013)
        alone = {name: getattr(run, name) for name in ("u", "q", "v")}
        assert "data" not in vars(run) or efforts is law
        for name, found in alone.items():
            assert found.identical(run.data[name]), name

"""A run in words."""

import re

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.sim.summary import ALARMS, run_lines
from tests.fixtures import wire_bead


def test_a_tracking_run_tells_its_errors_and_efforts():
    plant = plants.five_bar()
    law = cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.0, 1.0]), bandwidth=8.0)
    run = cmb.simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.5)
    lines = str(run).splitlines()
    assert lines[0] == "run under ProjectedInverseDynamics of five-bar, 501 times from 0 s"
    words = {line[2:24].strip(): line[25:] for line in lines[1:]}
    assert words["ended"] == "The run reached its end, at 0.5 s"
    assert words["loops open by at most"] == f"{run.max_drift:.1e} m"
    assert words["energy error"] == f"{run.max_energy_error:.1e} J"
    error = np.abs(run.error.values).max(axis=1)
    assert words["tracking error"] == f"0.1 -> {error[-1]:.3g} rad (largest {error.max():.3g})"
    assert words["largest efforts"].startswith(f"left {np.abs(run.u.values[:, 0]).max():.4g} N m, right")
    assert words["RMS efforts"].endswith(f"; power at most {np.abs(run.actuator_power.values).max():.4g} W")


def test_free_runs_single_times_and_plants_of_functions():
    plant = plants.five_bar()
    free = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1, output_times=[0.1])
    assert str(free).startswith("free run of five-bar, 1 times from 0.1 s") and "efforts" not in str(free)
    single = cmb.simulate(plant, [3.0, 1.0], plant.assemble(left=2.1, right=1.0), t_end=0.1, output_times=[0.1])
    assert "largest efforts" in str(single) and "RMS" not in str(single)  # of one time there is none
    bead = cmb.simulate(wire_bead(), q0=[0.0, 0.0], t_end=0.1, output_times=0.05)
    assert "energy error           unknown: the plant gives no potential energy" in str(bead)


def test_events_are_told_and_counted():
    plant = plants.pendulum()
    ticks = [cmb.Event(lambda t, q, v, k=k: t - 0.01 * k - 0.005, f"tick {k}") for k in range(8)]
    run = cmb.simulate(plant, q0=plant.assemble(angle=-1.0), t_end=0.1, output_times=0.05, events=ticks)
    assert "tick 0 at 0.005 s" in str(run) and "8 in all" in str(run) and "tick 7" not in str(run)


def test_a_failure_comes_first():
    plant = plants.five_bar()

    def breaks(t, terms, state):
        return [np.nan if t > 0.05 else 0.0, 0.0]

    with pytest.raises(cmb.errors.SimulationError) as caught:
        cmb.simulate(plant, breaks, plant.assemble(left=2.1, right=1.0), t_end=0.1)
    part = caught.value.partial
    heading, text = run_lines(part)[0]
    assert heading == "failed" and heading in ALARMS
    assert text.startswith(part.message.rstrip(".")) and re.search(r"(, at| t =) 0\.05\d* s", text)
    whole = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1)
    assert run_lines(whole)[0][0] == "ended"


def test_efforts_beyond_limits_are_told_with_the_limits():
    plant = plants.five_bar(effort=20.0)
    run = cmb.simulate(plant, [-30.0, 15.0], plant.assemble(left=2.1, right=1.0), t_end=0.1)
    words = dict(run_lines(run))
    assert words["largest efforts"] == "left 30 N m of 20 N m, right 15 N m"
    assert words["beyond limit"].startswith("the law asks up to 30 N m of motor 'left' (limit 20 N m)")
    assert "beyond limit" in ALARMS

"""Laws inside of FMUs: samples, delays, drives, continuous time, references."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import fmu, plants
from cmbcontrol.controllers import (
    Cascade,
    ConstraintForcePI,
    Delay,
    Filter,
    FirstOrderActuator,
    HybridMotionForce,
    LeadLag,
    LowPass,
    Notch,
    ProjectedInverseDynamics,
    Saturation,
)

from ..fixtures import actuated_five_bar, force_motion, force_start
from .conftest import outer
from .test_runtime import simulated

fmpy = pytest.importorskip("fmpy")

COORDINATES = {
    "five-bar": ("left", "right"),
    "loader": ("lift", "tilt"),
    "delta": ("arm1", "arm2", "arm3"),
    "excavator": ("boom_cylinder", "arm_cylinder", "bucket_cylinder"),
}


def tracking(name, period=None):
    """A machine, its start, and a law that follows a sine from there."""
    plant, q, _ = plants.catalogue[name].start()
    q = plant.close(plant.configuration(q))
    names = COORDINATES[name]
    path = cmb.Sine([q[plant.position_names.index(n)] for n in names], 0.05, 0.5)
    return plant, q, ProjectedInverseDynamics(plant, names, path, bandwidth=8.0, period=period)


def reference(plant, q, law, t_end):
    run = cmb.simulate(plant, law, q, t_end=t_end, rtol=1e-11, atol=1e-11, output_times=0.01, limits="ignore")
    return np.asarray(run.q)


@pytest.mark.nojit_slow
@pytest.mark.slow
@pytest.mark.parametrize(("name", "version"), [*((name, "3.0") for name in COORDINATES), ("five-bar", "2.0")])
def test_machines_with_a_sampled_law_run_as_simulate_does(exported, name, version):
    """Five seconds, a sample each five milliseconds."""
    plant, q, law = tracking(name, 5e-3)
    expected = reference(plant, q, law, 5.0)
    made = exported(plant, q, law=law, version=version)
    found = simulated(made, relative_tolerance=1e-10)
    assert np.abs(outer(found, "q") - expected).max() < 1e-6
    assert found["closure"].max() < 1e-9
    found = simulated(made, "CoSimulation", start_values={"internal_step": 2.5e-3})
    assert np.abs(outer(found, "q") - expected).max() < 1e-9
    assert found["closure"].max() < 1e-9


CHAINS = {
    "law": lambda law: law,
    "delay": lambda law: law | Delay(6e-3),
    "delays": lambda law: law | Saturation(150.0) | Delay([1e-3, 5.5e-3]),
    "late": lambda law: law | Delay(2e-3, initial=[3.0, 4.0]),
    "actuator": lambda law: law | FirstOrderActuator(0.01),
    "filters": lambda law: law | Notch(40.0, 9.0) | LowPass(60.0, order=3) | LeadLag(20.0, 60.0) | Saturation(150.0),
    "filter of the machine": lambda law: law | FirstOrderActuator(0.01) | Filter({"num": [90.0], "den": [1.0, 90.0]}),
    "cascade": lambda law: Cascade(
        law.plant, law.reference, position_gain=9.0, velocity_gain=60.0, integral_time=0.1, feedforward="none",
        period=law.period),
}  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize(("chain", "version"), [*((chain, "3.0") for chain in CHAINS), ("delays", "2.0")])
def test_chains_run_as_simulate_does(exported, chain, version):
    plant, q, law = tracking("five-bar", 4e-3)
    law = CHAINS[chain](law)
    expected = reference(plant, q, law, 0.4)
    made = exported(plant, q, law=law, version=version)
    found = simulated(made, stop_time=0.4, relative_tolerance=1e-11)
    assert np.abs(outer(found, "q") - expected).max() < 1e-7
    found = simulated(made, "CoSimulation", stop_time=0.4)
    assert np.abs(outer(found, "q") - expected).max() < 1e-9


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("version", ["3.0", "2.0"])
@pytest.mark.parametrize("alone", [True, False])
def test_laws_that_measure_the_constraint_force(exported, alone, version):
    """At the first sample nothing has been measured; from then on it is the force under the efforts before."""
    plant = actuated_five_bar()
    q, _ = force_start(plant)
    law = ConstraintForcePI(plant, lambda t: [20.0 + t, -10.0], ["tip_x", "tip_y"], kp=0.2, ki=20.0, period=4e-3)
    if not alone:
        law = HybridMotionForce(force_motion(plant, period=4e-3), law)
    expected = reference(plant, q, law, 0.4)
    made = exported(plant, q, law=law, version=version)
    found = simulated(made, stop_time=0.4, relative_tolerance=1e-11)
    assert np.abs(outer(found, "q") - expected).max() < 1e-7
    found = simulated(made, "CoSimulation", stop_time=0.4)
    assert np.abs(outer(found, "q") - expected).max() < 1e-10


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("chain", ["law", "actuator"])
def test_a_law_in_continuous_time_has_states_and_derivatives(exported, opened, chain):
    plant, q, law = tracking("five-bar")
    law = CHAINS[chain](law)
    expected = reference(plant, q, law, 1.0)
    made = exported(plant, q, law=law)
    found = simulated(made, stop_time=1.0, relative_tolerance=1e-11)
    assert np.abs(outer(found, "q") - expected).max() < 1e-8
    assert len(made.states) == (4 if chain == "law" else 6)
    one = opened(plant, q, law=law, references="inputs").begin()
    one.run()
    unknowns = [*(f"der({n})" for n in one.made.states), *one.made.outputs]
    knowns = [*one.made.states, *one.made.inputs]
    found, h, x0 = one.derivatives(unknowns, knowns), 1e-4, one.x
    expected = np.empty_like(found)
    for j, name in enumerate(knowns):
        given, sides = one.get(name)[0], []
        for step in (h, -h):
            if j < len(x0):
                one.x = x0 + step * np.eye(len(x0))[j]
            else:
                one.set({name: given + step})
            sides.append(one.get(unknowns))
        expected[:, j] = (sides[0] - sides[1]) / (2.0 * h)
        one.x = x0
        if j >= len(x0):
            one.set({name: given})
    size = np.abs(expected).max(axis=1, keepdims=True) + 1e-3 * np.abs(expected).max()
    assert (np.abs(found - expected) / size).max() < 1e-5


MOVE = cmb.JerkLimited([2.09, 0.99], [2.05, 1.02], 1.0, 30.0, 2e3)
REFERENCES = {
    "Constant": cmb.Constant([2.05, 1.02]),
    "Quintic": cmb.Quintic([2.1, 1.0], [2.0, 1.1], 0.15, begin=0.05),
    "Spline": cmb.Spline([0.0, 0.05, 0.1, 0.15], [[2.1, 1.0], [2.08, 1.01], [2.09, 1.03], [2.1, 1.0]]),
    "periodic spline": cmb.Spline(
        [0.0, 0.02, 0.05, 0.08], [[2.1, 1.0], [2.08, 1.01], [2.09, 1.03], [2.1, 1.0]], periodic=True
    ),
    "Joined": cmb.Joined(
        [
            cmb.JerkLimited([2.1, 1.0], [2.05, 1.02], 1.0, 30.0, 2e3),
            0.02,
            cmb.CamProfile([0.0, 0.05], [[2.05, 1.02], [2.1, 1.0]], "modified trapezoid"),
        ],
        periodic=True,
    ),
    "ElectronicCam": cmb.ElectronicCam(
        cmb.CamProfile([0.0, 1.0, 2.0], [[2.1, 1.0], [2.05, 1.02], [2.1, 1.0]], periodic=True),
        cmb.JerkLimited([0.0], [5.0], 40.0, 1e3, 1e5),
    ),
    "formula of a motion": lambda t: (MOVE(t)[0] + 0.01, MOVE(t)[1], MOVE(t)[2]),
    "formula": lambda t: (np.array([2.1, 1.0]) - 0.5 * t * t, np.array([-1.0, -1.0]) * t, -np.ones(2)),
}


@pytest.mark.first(2)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", REFERENCES)
def test_references_are_computed_inside(exported, name):
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), REFERENCES[name], bandwidth=8.0, period=4e-3)
    expected = reference(plant, q, law, 0.2)
    made = exported(plant, q, law=law)
    assert made.inputs == ()
    found = simulated(made, "CoSimulation", stop_time=0.2)
    assert np.abs(outer(found, "q") - expected).max() < 1e-9


@pytest.mark.nojit_slow
def test_efforts_of_a_motion_are_computed_inside(exported):
    """Those of a cascade, which need the model along the reference: a table of them, right to 1e-9."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = Cascade(plant, REFERENCES["Joined"], position_gain=9.0, velocity_gain=40.0, at=q, period=4e-3)
    expected = reference(plant, q, law, 0.2)
    made = exported(plant, q, law=law)
    assert made.inputs == ()
    found = simulated(made, "CoSimulation", stop_time=0.2)
    assert np.abs(outer(found, "q") - expected).max() < 1e-8


@pytest.mark.slow
def test_what_is_no_formula_is_an_input(exported):
    """A function that asks what time it is would be decided once and for all."""

    def steps(t):
        return (np.array([2.1, 1.0]) if t < 0.1 else np.array([2.0, 1.0])), np.zeros(2), np.zeros(2)

    plant = plants.five_bar()
    law = ProjectedInverseDynamics(plant, ("left", "right"), steps, bandwidth=8.0, period=4e-3)
    made = exported(plant, plant.assemble(left=2.1, right=1.0), law=law)
    assert made.inputs[:3] == ("reference.left.position", "reference.right.position", "reference.left.velocity")
    times = np.arange(0.0, 0.2, 4e-3)
    given = np.zeros(len(times), dtype=[("time", float), *((n, float) for n in made.inputs)])
    given["time"], given[made.inputs[1]] = times, 1.0
    given[made.inputs[0]] = [steps(t)[0][0] for t in times]
    found = simulated(made, "CoSimulation", stop_time=0.196, output_interval=4e-3, input=given)
    expected = cmb.simulate(
        plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.196, rtol=1e-11, atol=1e-11, output_times=4e-3
    )
    assert np.abs(outer(found, "q") - np.asarray(expected.q)).max() < 1e-8


def test_laws_that_ask_python_are_refused(tmp_path):
    plant = plants.five_bar()

    def plain(t, terms, state):
        return [1.0, 2.0]

    with pytest.raises(TypeError, match=r"plain.*mark it with @compiled_law"):
        fmu.export(plant, tmp_path / "x.fmu", law=plain, binary=False)
    other = plants.loader()
    law = ProjectedInverseDynamics(other, ("lift", "tilt"), cmb.Constant([1.0, 1.0]), bandwidth=2.0, period=1e-3)
    with pytest.raises((ValueError, TypeError), match="loader"):
        fmu.export(plant, tmp_path / "x.fmu", law=law, binary=False)

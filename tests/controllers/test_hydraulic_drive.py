"""Hydraulic drives: oil as a spring, speed by the flow, forces that follow, limits of pressure."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Constant, Cylinder, Mechanism, Prismatic, plants
from cmbcontrol.controllers import FunctionController, HydraulicDrive, ProjectedInverseDynamics
from tests.fixtures import refuses

MASS, BETA, DEAD = 800.0, 1.2e9, 2e-4
CLOSED, EXTENDED, BORE, ROD = 0.8, 1.4, 0.08, 0.05
AREA, ROD_AREA = np.pi / 4 * BORE**2, np.pi / 4 * (BORE**2 - ROD**2)
LIGHT = (1e-3, 1e-3)  # kg, of barrel and rod

pytestmark = pytest.mark.nojit_slow


def cart():
    """A mass on a rail, pushed by a cylinder along it."""
    cylinder = Cylinder("ram", "ground", "mass", stroke=(CLOSED, EXTENDED), bore=BORE, rod=ROD, mass=LIGHT)
    rail = Prismatic("x", "ground", "mass", axis=(1, 0, 0))
    plant = Mechanism("cart", [Body("mass", MASS)], [rail], cylinders=[cylinder], gravity=(0, 0, 0))
    return plant, plant.assemble(x=1.0, guess={"x": 1.0, "ram": 1.0})


def drive(plant, **options):
    given = {"supply": 2e7, "rated_flow": 1e-3, "bulk_modulus": BETA, "dead_volume": DEAD} | options
    return HydraulicDrive(plant, **given)


def held(value, period=None):
    return FunctionController(lambda t, terms, state: [value], period=period)


def test_oil_is_a_spring():
    """With its valve closed the cylinder swings with the mass at the frequency of its oil."""
    plant, q = cart()
    bore, rod = DEAD + AREA * (1.0 - CLOSED), DEAD + ROD_AREA * (EXTENDED - 1.0)
    stiffness = BETA * (AREA**2 / bore + ROD_AREA**2 / rod)
    run = cmb.simulate(
        plant, held(0.0) | drive(plant, command="valve"), q, plant.project_velocity(q, [1e-3, 0, 1e-3]), t_end=0.5,
        output_times=1e-4,
    )  # fmt: skip
    v = run.v.sel(velocity="x").values
    crossings = run.time[1:][(v[1:] > 0.0) & (v[:-1] <= 0.0)]
    period = float(np.diff(crossings).mean())
    total = MASS + LIGHT[1]
    assert 2.0 * np.pi / period == pytest.approx(np.sqrt(stiffness / total), rel=2e-4)


def test_speed_by_the_flow_through_two_edges():
    """At constant speed the flows through both edges are those that the piston takes and gives."""
    plant, q = cart()
    opening, supply = 0.4, 2e7
    valve = 1e-3 / np.sqrt(3.5e6) * opening
    # valve sqrt(ps - pa) = A v, valve sqrt(pb) = Ar v, and no force: A pa = Ar pb
    pb = supply / ((AREA / ROD_AREA) ** 2 + ROD_AREA / AREA)
    speed = valve * np.sqrt(pb) / ROD_AREA
    run = cmb.simulate(plant, held(opening) | drive(plant, command="valve"), q, t_end=1.0, limits="ignore")
    assert float(run.v.sel(velocity="x")[-1]) == pytest.approx(speed, rel=2e-3)


@pytest.mark.filterwarnings("ignore::cmbcontrol.errors.ImmobileWarning")  # it is held on purpose
@pytest.mark.parametrize("period", [None, 1e-3])
@pytest.mark.first(1)
def test_forces_follow(period):
    """Against a stop: the inner loop brings the force that is asked for, within the pressure."""
    plant, q = cart()
    plant = plant.with_loops(cmb.Coupling("stop", {"x": 1.0}, 1.0))
    run = cmb.simulate(plant, held(2e4, period) | drive(plant, bandwidth=50.0), q, t_end=0.4)
    found, command = run.data.u.values[:, 0], run.data.command.values[:, 0]
    assert command[-1] == 2e4 and found[-1] == pytest.approx(2e4, rel=1e-6)
    middle = np.searchsorted(run.time, 0.05)
    assert found[middle] == pytest.approx(2e4 * (1.0 - np.exp(-2.5)), rel=1e-2)
    most = cmb.simulate(plant, held(1e7) | drive(plant), q, t_end=2.0)
    assert float(most.data.u[-1, 0]) == pytest.approx(2e7 * AREA, rel=1e-2)
    safe = cmb.simulate(plant, held(1e7) | drive(plant, relief=1e7), q, t_end=2.0)
    assert float(safe.data.u[-1, 0]) < 1.25e7 * AREA


def test_an_excavator_behind_its_valves():
    """Tracking by forces that the oil has to build up; by generated code and by Python alike."""
    plant = plants.excavator()
    q, _ = plants.catalogue["excavator"].start()[1:]
    names, point = ("boom", "arm", "bucket"), cmb.trim(plant, q)
    goal = q[[plant.position_names.index(n) for n in names]] + [0.1, -0.1, 0.2]
    law = ProjectedInverseDynamics(plant, names, Constant(goal), bandwidth=4.0, period=5e-3)
    initial = dict(zip(plant.actuator_names, point.u, strict=True))
    chain = law | HydraulicDrive(plant, supply=3e7, rated_flow=8e-3, initial=initial)
    run = cmb.simulate(plant, chain, q, t_end=3.0, rtol=1e-7, atol=1e-7)
    assert np.abs(run.data.error.values[-1]).max() < 0.02
    assert np.abs(run.data.u.values - run.data.command.values).max() > 1e3


def test_pressures_are_states_of_the_linear_model():
    plant, q = cart()
    loop = cmb.linearize_closed_loop(plant, held(0.0) | drive(plant, command="valve"), q, find_equilibrium=False)
    assert {"ram_bore_pressure", "ram_rod_pressure"} <= set(loop.states)
    bore, rod = DEAD + AREA * (1.0 - CLOSED), DEAD + ROD_AREA * (EXTENDED - 1.0)
    stiffness = BETA * (AREA**2 / bore + ROD_AREA**2 / rod)
    assert np.abs(loop.poles().imag).max() == pytest.approx(np.sqrt(stiffness / (MASS + LIGHT[1])), rel=1e-5)


@pytest.mark.parametrize(("options", "words"), [
    ({"supply": -1.0}, ("supply",)),
    ({"rated_flow": {"rum": 1.0}}, ("'rum'", "did you mean 'ram'")),
    ({"rated_flow": {}}, ("rated_flow", "'ram'")),
    ({"tank": 3e7}, ("tank",)),
    ({"command": "current"}, ("command", "force", "valve")),
    ({"bulk_modulus": 0.0}, ("bulk_modulus",)),
    ({"dead_volume": -1.0}, ("dead_volume",)),
])  # fmt: skip
def test_wrong_numbers_are_told(options, words):
    plant, _ = cart()
    refuses(lambda: drive(plant, **options), *words, kind=ValueError)


def test_other_mistakes():
    plant, q = cart()
    refuses(lambda: drive(plants.five_bar()), "no hydraulic cylinder", kind=ValueError)
    too_much = held(0.0) | drive(plant, initial={"ram": 1e7})
    refuses(lambda: cmb.simulate(plant, too_much, q, t_end=0.1), "initial force", "'ram'", kind=ValueError)

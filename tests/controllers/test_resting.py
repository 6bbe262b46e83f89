"""Where a plant rests under a law."""

import numpy as np
import pytest

from cmbcontrol import (
    Actuator,
    Body,
    Constant,
    Mechanism,
    OperatingPoint,
    Revolute,
    Spline,
    closed_loop_equilibrium,
    linearize_closed_loop,
    margins,
    plants,
    simulate,
)
from cmbcontrol.controllers import (
    PID,
    Delay,
    ElectricDrive,
    FilteredDifference,
    FirstOrderActuator,
    ProjectedInverseDynamics,
)
from cmbcontrol.controllers.resting import RestingLoop
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import EquilibriumError
from tests.fixtures import five_bar_law, largest


def test_the_rest_is_shifted(loaded):
    plant, law = loaded
    rest = closed_loop_equilibrium(plant, law)
    assert isinstance(rest, RestingLoop)
    shift = rest.point.q[[0, 2]] - [2.1, 1.0]
    assert 1e-3 < largest(shift) < 0.2
    a = forward_dynamics(plant, rest.point.q, np.zeros(4), law(0.0, plant.terms(rest.point.q, np.zeros(4)), None))
    assert largest(a) < 1e-9
    # the machine goes there by itself
    run = simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=6.0, rtol=1e-8, atol=1e-8, output_times=6.0)
    assert run.q.values[-1] == pytest.approx(rest.point.q, abs=1e-6)
    # gravity known, the loop rests where it should
    assert closed_loop_equilibrium(plant, five_bar_law(plant)).point.q[0] == pytest.approx(2.1, abs=1e-11)


def test_a_reference_that_only_accelerates_does_not_move():
    plant = plants.five_bar()
    spline = Spline([0.0, 2.0], [[2.1, 1.0], [2.3, 1.0]])
    law = ProjectedInverseDynamics(plant, ("left", "right"), spline, bandwidth=8.0)
    with pytest.raises(EquilibriumError, match="is accelerating at t = 0 s"):
        closed_loop_equilibrium(plant, law)
    rest = closed_loop_equilibrium(plant, law.with_reference(Constant([2.1, 1.0])))
    assert repr(rest).startswith("<RestingLoop of 'five-bar': q = [2.1, ") and len(repr(rest)) < 200


@pytest.mark.parametrize("mass", [1e-6, 1e-3, 1.0, 1e3, 1e5, 1e9])
def test_mass_does_not_matter(mass):
    """Gains are accelerations: an integral and a lag, of a gramme or of a thousand tonnes, have the same margins."""
    arm = Mechanism(
        "arm",
        [Body("arm", mass, (1.0, 0, 0), (mass * 0.1,) * 3)],
        [Revolute("arm", "ground", "arm")],
        actuators=[Actuator("arm")],
        gravity=(0, -9.81, 0),
    )
    law = ProjectedInverseDynamics(arm, "arm", Constant([0.3]), bandwidth=40.0, integral=10.0, period=1e-3)
    found = margins(arm, law | Delay(1e-3) | FirstOrderActuator(1.5e-3), arm.assemble(arm=0.3))
    assert found.loops[0].phase == pytest.approx(57.7, abs=0.2)


@pytest.mark.parametrize("integral", [3.0, 10.0])
def test_an_exact_rest_is_taken_as_one(integral):
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(
        plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=40.0, integral=integral, period=1e-3
    )
    found = margins(plant, law | FirstOrderActuator(1.5e-3), q)
    assert found.stable and found.loops[0].phase > 30.0


def test_a_filter_is_not_left_out_at_its_first_sample():
    """Where no rest is looked for, a difference of positions has been taken before: the same as at the rest."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=40.0, period=1e-3)
    chain = FilteredDifference(cutoff_hz=50.0) | law
    loops = [linearize_closed_loop(plant, chain, q, find_equilibrium=find) for find in (True, False)]
    assert largest(loops[0].A - loops[1].A) < 1e-9 * largest(loops[0].A)
    assert loops[0].margins().loops[0].phase < margins(plant, law, q).loops[0].phase - 5.0
    assert largest(loops[1].drift) < 1e-9


def test_a_filter_on_the_way():
    """At a state that moves, the last reading is that of a sample ago."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, [0.3, 0.0, -0.2, 0.0])
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=40.0, period=1e-3)
    point = OperatingPoint.at(plant, q, [0.0, 0.0], v)
    chain = FilteredDifference(cutoff_hz=50.0) | law
    told = linearize_closed_loop(plant, chain, point, find_equilibrium=False)
    bare = linearize_closed_loop(plant, law, point, find_equilibrium=False)
    assert told.point.u == pytest.approx(bare.point.u, rel=1e-3)  # it hears nearly that velocity


def test_drives_give_what_they_are_asked_for():
    """Where no rest is looked for, a lag has settled: the same model as at the rest."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=20.0, period=2e-3)
    for drive in (FirstOrderActuator(5e-3), ElectricDrive(0.1, gear=50.0, current=1e3, time_constant=2e-3)):
        loops = [linearize_closed_loop(plant, law | drive, q, find_equilibrium=find) for find in (True, False)]
        assert largest(loops[0].A - loops[1].A) < 1e-9 * largest(loops[0].A)
        assert loops[1].point.u == pytest.approx(loops[0].point.u, rel=1e-9)


def test_an_integral_without_a_gain_is_a_constant():
    """It holds no weight, and is no pole at zero: springs sag as far as the weight asks, kp (r - q) = the effort."""
    plant, to = plants.five_bar(), Constant([2.1, 1.0])
    law = PID(plant, to, kp=600.0, kd=[9.0, 12.0], ki=0.0, coordinates=("left", "right"), feedforward="none")
    loop = linearize_closed_loop(plant, law, plant.assemble(left=2.1, right=1.0))
    np.testing.assert_allclose(loop.point.u, 600.0 * (np.array([2.1, 1.0]) - loop.point.q[[0, 2]]), rtol=1e-9)
    assert loop.stable and len(loop.states) == 4
    half = PID(
        plant, to, kp=600.0, kd=9.0, ki=[0.0, 50.0], coordinates=("left", "right"), feedforward="none", period=1e-3
    )
    loop = linearize_closed_loop(plant, half, plant.assemble(left=2.1, right=1.0))
    assert loop.stable and loop.states[4:] == ("right_integral",)
    assert abs(loop.point.q[2] - 1.0) < 1e-9 < abs(loop.point.q[0] - 2.1)

"""Gains of drives: what they promise is read off loops that know nothing of the rule."""

import control
import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.characteristics import SpringDamper
from cmbcontrol.controllers import (
    PID,
    Cascade,
    Delay,
    Encoder,
    FilteredDifference,
    FirstOrderActuator,
    LowPass,
    Notch,
    Saturation,
)
from cmbcontrol.design import symmetrical_optimum, tune_loops
from cmbcontrol.errors import DesignError, InputError, InputTypeError
from tests.fixtures import refuses, slider


@pytest.mark.parametrize("margin", [20.0, 36.86989764584402, 60.0, 85.0])
@pytest.mark.parametrize(("inertia", "lag"), [(2.0, 5e-3), (1e4, 0.2)])
def test_symmetrical_optimum(margin, inertia, lag):
    found = symmetrical_optimum(inertia, lag, margin)
    kp, Tn = found["velocity_gain"], found["integral_time"]
    loop = control.tf([kp * Tn, kp], [Tn, 0.0]) * control.tf([1.0], [inertia * lag, inertia, 0.0])
    _, phase, _, crossover = control.margin(loop)
    assert phase == pytest.approx(margin, abs=1e-6)
    assert crossover == pytest.approx(found["crossover"], rel=1e-6)
    around = [float(np.angle(loop(1j * found["crossover"] * x))) for x in (0.99, 1.0, 1.01)]
    assert max(around) == around[1]  # the phase is largest there
    refuses(lambda: symmetrical_optimum(inertia, lag, 90.0), "below 90 degrees", kind=InputError)


def test_cascade_on_a_mass_against_python_control():
    plant = slider(3.0)
    law = Cascade(plant, Constant([0.0])) | FirstOrderActuator(2e-3)
    tuned = tune_loops(plant, law, crossover=40.0, phase_margin=50.0)
    Kv, Kp, Tn = (float(tuned.gains[n][0]) for n in ("position_gain", "velocity_gain", "integral_time"))
    s = control.tf("s")
    loop = Kp * (1 + 1 / (Tn * s)) * (s + Kv) / (3.0 * s**2 * (1 + 2e-3 * s))
    _, phase, _, crossover = control.margin(loop)
    assert (phase, crossover) == pytest.approx((50.0, 40.0), rel=1e-7)
    assert Kv == 10.0
    assert tuned.margins.loops[0].phase == pytest.approx(50.0, rel=1e-7)


def test_sampled_pid_on_a_mass_against_python_control():
    """With the hold exact, and a filter of the derivative that is discretised exactly."""
    plant, T = slider(3.0), 5e-3
    law = PID(plant, Constant([0.0]), derivative_time=0.01, period=T)
    tuned = tune_loops(plant, law, crossover=15.0, phase_margin=35.0)
    kp, ki, kd = (float(tuned.gains[n][0]) for n in ("kp", "ki", "kd"))
    assert kp * kp == pytest.approx(4.0 * ki * kd, rel=1e-9)
    z = np.exp(15.0j * T)
    position, rate = (T * T / 6.0 * (z + 1.0) / (z - 1.0) ** 2, T / 3.0 / (z - 1.0))  # of a held force on 3 kg
    a = np.exp(-T / 0.01)
    loop = (kp + ki * T / (z - 1.0)) * position + kd * (1.0 - a) / (z - a) * rate
    assert abs(loop) == pytest.approx(1.0, rel=1e-8)
    assert np.degrees(np.angle(-loop)) == pytest.approx(35.0, rel=1e-8)


CHAINS = {
    "bare": lambda law: law,
    "lag and limits": lambda law: law | Saturation(1e3) | FirstOrderActuator(3e-3),
    "delay": lambda law: law | Delay(1.4e-3),
    "filters": lambda law: law | LowPass(150.0, order=2) | Notch(40.0, 8.0),
    "sensors": lambda law: Encoder(bits=14) | FilteredDifference(2e-3) | law | Delay(1e-3),
}


@pytest.mark.parametrize("kind", [Cascade, PID])
@pytest.mark.parametrize("chain", CHAINS)
def test_loops_of_a_machine_that_act_on_one_another(kind, chain):
    """Each loop has what was asked for, with the other one closed, from margins that know nothing of it."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    options = {"derivative_time": 2e-3} if kind is PID else {}
    law = CHAINS[chain](kind(plant, Constant([2.1, 1.0]), at=q0, period=1e-3, **options))
    tuned = tune_loops(plant, law, q0, crossover=[25.0, 40.0], phase_margin=[50.0, 40.0])
    exact = tuned.law.without(Encoder) if chain == "sensors" else tuned.law
    found = cmb.margins(plant, exact, q0)
    assert found.stable
    for x, w, phase in zip(found.loops, (25.0, 40.0), (50.0, 40.0), strict=True):
        L = tuned.loop.response(x.channel, w)
        assert abs(L) == pytest.approx(1.0, rel=1e-6)
        assert np.degrees(np.angle(-L)) == pytest.approx(phase, rel=1e-6)
        assert x.phase <= phase * (1.0 + 1e-6)


def test_geared_motors_and_motors_that_turn_the_other_way():
    joint = cmb.Revolute("x", "ground", "m", axis=(0, 0, 1))
    for gear in (60.0, -60.0):
        motor = cmb.Actuator("x", name="drive", effort=5.0, gear=gear)
        plant = cmb.Mechanism("arm", [cmb.Body.planar("m", 3.0, (0, 0), 0.5)], [joint], actuators=[motor])
        tuned = tune_loops(plant, Cascade(plant, Constant([0.0])), crossover=30.0, phase_margin=60.0)
        assert np.sign(tuned.gains["velocity_gain"][0]) == np.sign(gear)
        assert tuned.margins.loops[0].phase == pytest.approx(60.0, rel=1e-6)


def test_refusals():
    plant = slider(3.0)
    law = Cascade(plant, Constant([0.0]), period=1e-3)
    refuses(
        lambda: tune_loops(plant, [1.0], crossover=9.0, phase_margin=50.0), "a Cascade or a PID", kind=InputTypeError
    )
    refuses(lambda: tune_loops(plant, law, crossover=9.0, phase_margin=88.0), "too much for a cascade", kind=InputError)
    late = law | Delay(0.04)
    refuses(lambda: tune_loops(plant, late, crossover=30.0, phase_margin=50.0), "too much for a casc", kind=InputError)
    refuses(lambda: tune_loops(plant, law, crossover=4e3, phase_margin=50.0), "cannot cross", kind=InputError)
    refuses(lambda: tune_loops(plant, law, crossover=9.0, phase_margin=180.0), "below 180", kind=InputError)
    refuses(lambda: tune_loops(plant, law, crossover=[9.0, 8.0], phase_margin=50.0), "crossover", kind=InputError)


def test_gains_that_leave_a_resonance_unstable_are_refused():
    """A load behind a spring: the crossover is fine, and its resonance is not."""
    bodies = [cmb.Body.planar("motor", 1.0, (0, 0), 0.1), cmb.Body.planar("load", 1.0, (0, 0), 0.1)]
    places = {"x": ("ground", "motor"), "z": ("motor", "load")}
    joints = [cmb.Prismatic(name, *between, axis=(1, 0, 0)) for name, between in places.items()]
    spring = cmb.JointForce("spring", "z", SpringDamper(1e6, damping=0.1))
    plant = cmb.Mechanism("two masses", bodies, joints, actuators=[cmb.Actuator("x")], forces=[spring])
    law = Cascade(plant, Constant([0.0]), coordinates="x", feedforward="none", period=1e-3) | Delay(2e-3)
    refuses(lambda: tune_loops(plant, law, crossover=40.0, phase_margin=30.0), "not stable", "Notch", kind=DesignError)

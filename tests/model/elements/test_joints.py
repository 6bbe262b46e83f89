"""Joints: what turns with them."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Mechanism, Revolute
from tests.fixtures import refuses

LENGTH, MASS, G = 0.8, 1.5, 9.81
INERTIA = MASS * LENGTH**2 / 3.0


def pendulum(armature):
    rod = Body.rod("rod", mass=MASS, length=LENGTH)
    pivot = Revolute("pivot", "ground", "rod", axis=(0, -1, 0), armature=armature)
    return Mechanism("pendulum", [rod], [pivot], actuators=[Actuator("pivot")])


def test_a_rotor_adds_to_the_inertia_and_nothing_else():
    """A motor of 2e-4 kg m2 behind a gear of 50 to 1."""
    rotor = 50.0**2 * 2e-4
    plant = pendulum(rotor)
    moment = 3.0 - 0.5 * MASS * G * LENGTH * np.cos(0.4)
    assert cmb.forward_dynamics(plant, [0.4], [2.0], [3.0]) == pytest.approx(moment / (INERTIA + rotor), rel=1e-13)
    efforts = cmb.inverse_dynamics(plant, [0.4], [2.0], [1.7]).u
    assert efforts == pytest.approx(1.7 * (INERTIA + rotor) + 3.0 - moment, rel=1e-13)
    poles = cmb.linearize(plant, cmb.trim(plant, [-np.pi / 2.0])).poles()
    assert abs(poles[0]) == pytest.approx(np.sqrt(0.5 * MASS * G * LENGTH / (INERTIA + rotor)), rel=1e-12)


def test_energy_with_a_rotor():
    run = cmb.simulate(pendulum(0.7), q0=[0.0], t_end=2.0)
    np.testing.assert_allclose(run.data.kinetic, 0.5 * (INERTIA + 0.7) * run.v[:, 0] ** 2, rtol=1e-12, atol=1e-12)
    assert run.max_energy_error < 1e-9


def test_cut_joints_turn_no_rotors():
    rods = [Body.rod(n, mass=1.0, length=1.0) for n in ("a", "b")]
    joints = [Revolute("ja", "ground", "a"), Revolute("jb", "a", "b", frame=cmb.Frame((1.0, 0.0, 0.0)))]
    cut = Revolute("cut", "b", "ground", armature=0.1)
    refuses(lambda: Mechanism("m", rods, joints, [cut]), "armature has no effect on the cut joint 'cut'")

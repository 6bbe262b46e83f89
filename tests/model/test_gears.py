"""Machines with gears have the answers of their twins without: rotors follow, and no distance counts them."""

import dataclasses
import warnings

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Coupling, Frame, Helical, JointMotion, Mechanism, Prismatic, Revolute, plants
from cmbcontrol.errors import AssemblyError
from cmbcontrol.model.gears import gears_of
from tests.fixtures import crank_and_slider, knuckle_press, refuses

ROTOR = Body("rotor", 1.0, inertia=(0.1, 0.1, 0.2))
GUESS = {"rod": -0.9, "upper": -1.9, "lower": 0.6, "ram": 0.05}


def of(plant, q, *names):
    return [float(q[plant.position_names.index(name)]) for name in names]


@pytest.mark.parametrize("ratio", [60.0, -1e-3, 1e3, 1.0])
@pytest.mark.parametrize("held", [{"crank": 1.5}, {"crank": 2.0}, {"crank": 3.0}, {"ram": 0.05}, {"ram": 0.1}], ids=str)
def test_a_press_assembles_as_without_its_gear(ratio, held):
    plant, twin = knuckle_press(ratio), knuckle_press()
    q, own = plant.assemble(**held, guess=GUESS), twin.assemble(**held, guess=GUESS)
    np.testing.assert_allclose(q[1:], own, rtol=0, atol=1e-12)
    assert q[0] == pytest.approx(ratio * own[0], rel=1e-14)
    assert plant.closure_error(q) < 1e-12


def test_values_of_a_press_by_the_lengths_of_its_links():
    """Crank 2.0: the knee is on two circles, the ram on a third; written here without the package."""
    plant, crank = knuckle_press(60.0), 2.0
    q = plant.assemble(crank=crank, guess=GUESS)
    pin = np.array([-0.78, -0.42]) + 0.12 * np.array([np.cos(crank), np.sin(crank)])
    d = np.hypot(*pin)
    along = (d * d + 0.4**2 - 0.66**2) / (2.0 * d)
    across = np.sqrt(0.4**2 - along**2)
    knees = [(along * pin + s * across * np.array([-pin[1], pin[0]])) / d for s in (1.0, -1.0)]
    rams = [k[1] - np.sqrt(0.5**2 - k[0] ** 2) + 0.9 for k in knees]
    assert of(plant, q, "ram")[0] == pytest.approx(0.0693, abs=1e-4)
    assert min(abs(of(plant, q, "ram")[0] - ram) for ram in rams) < 1e-12


def test_a_rotor_may_be_held_in_place_of_what_it_moves():
    plant = knuckle_press(60.0)
    np.testing.assert_allclose(
        plant.assemble(motor=120.0, guess=GUESS), plant.assemble(crank=2.0, guess=GUESS), atol=1e-11
    )
    assert plant.assemble(motor=120.0, guess=GUESS)[0] == 120.0
    error = refuses(lambda: plant.assemble(crank=2.0, motor=50.0), "contradict each other", kind=AssemblyError)
    assert "by its gear motor is 120 there" in str(error)
    both = plant.assemble(crank=2.0, motor=120.0, guess=GUESS)
    np.testing.assert_allclose(both, plant.assemble(crank=2.0, guess=GUESS), atol=1e-12)


def test_a_guess_that_names_a_rotor_tells_what_it_moves():
    plant = knuckle_press(60.0)
    q = plant.assemble(ram=0.05, guess=GUESS | {"motor": 60.0 * 1.7})
    np.testing.assert_allclose(q, plant.assemble(ram=0.05, guess=GUESS | {"crank": 1.7}), atol=1e-12)


def test_closing_brings_rotors_along():
    plant, twin = knuckle_press(60.0), knuckle_press()
    away = twin.assemble(crank=1.5, guess=GUESS) + np.array([0.05, -0.03, 0.02, 0.04, 0.01])
    for metric in ("mass", "euclidean"):
        q = plant.close(np.concatenate([[-7.0], away]), metric=metric)
        np.testing.assert_allclose(q[1:], twin.close(away, metric=metric), rtol=0, atol=1e-12)
        assert q[0] == pytest.approx(60.0 * q[1], rel=1e-13)
    np.testing.assert_array_equal(plant.close(q), q)


def test_limits_of_a_rotor_are_limits_of_what_it_moves():
    """The rod is left of the crank's pin or right of it; only the motor's limits tell which."""
    plain = crank_and_slider()
    for low, high, side in ((0.0, 500.0, 1.0), (-500.0, 0.0, -1.0)):
        rotor, motor = ROTOR, Revolute("motor", "ground", "rotor", limits=(low, high))
        geared = plain.with_parts(
            bodies=[*plain.bodies, rotor],
            joints=[*plain.joints, motor],
            loops=[*plain.loops, Coupling("gear", {"slide": -100.0, "motor": 1.0})],
        )
        q = geared.assemble(crank=0.7)
        assert of(geared, q, "slide")[0] == pytest.approx(
            np.cos(0.7) + side * np.sqrt(4.0 - np.sin(0.7) ** 2), abs=1e-12
        )
        assert of(geared, q, "motor")[0] == pytest.approx(100.0 * of(geared, q, "slide")[0], rel=1e-13)


def test_two_stages_and_a_differential():
    plain = plants.five_bar()
    bodies = [dataclasses.replace(ROTOR, name=name) for name in ("shaft", "one", "two", "three")]
    rotors = [Revolute(name, "ground", name) for name in ("shaft", "one", "two", "three")]
    gears = [
        Coupling("first", {"one": 1.0, "shaft": -10.0}, 0.3),
        Coupling("second", {"shaft": 1.0, "left": -6.0}),
        Coupling("sum", {"two": 1.0, "left": -50.0, "right": -50.0}),
        Coupling("difference", {"three": 2.0, "left": -50.0, "right": 50.0}),
    ]
    plant = plain.with_parts(
        bodies=[*bodies, *plain.bodies], joints=[*rotors, *plain.joints], loops=[*gears, *plain.loops]
    )
    q, own = plant.assemble(left=2.1, right=1.0), plain.assemble(left=2.1, right=1.0)
    np.testing.assert_array_equal(q[4:], own)
    np.testing.assert_allclose(q[:4], [12.6, 126.3, 155.0, 27.5], rtol=1e-14)
    q = plant.assemble(two=155.0, three=27.5)
    np.testing.assert_allclose(of(plant, q, "left", "right"), [2.1, 1.0], atol=1e-12)


def test_a_motion_of_a_rotor_is_a_motion_of_what_it_moves():
    plant = knuckle_press(60.0).with_loops(JointMotion("drive", "motor", position=90.0))
    q = plant.assemble(guess=GUESS)
    np.testing.assert_allclose(q[1:], knuckle_press().assemble(crank=1.5, guess=GUESS), atol=1e-11)
    moved = plant.with_motions({"drive": 120.0})
    assert of(moved, moved.assemble(guess=q), "crank")[0] == pytest.approx(2.0, abs=1e-12)


def test_rotors_are_told_from_what_they_move():
    press = gears_of(knuckle_press(60.0))
    assert [press.plant.position_names[i] for i in press.rotors] == ["motor"]
    assert press.twin.position_names == knuckle_press().position_names
    links = [Body.rod("upper", 1.0, 1.0), Body.rod("lower", 1.0, 0.6), ROTOR]
    joints = [
        Revolute("shoulder", "ground", "upper"),
        Revolute("elbow", "upper", "lower", frame=Frame((1, 0, 0))),
        Revolute("motor", "upper", "rotor"),
    ]
    arm = Mechanism("arm", links, joints, [Coupling("gear", {"motor": 1.0, "elbow": -100.0})])
    assert gears_of(arm).rotors.tolist() == [2]  # the last link is as idle, but for its weight
    even = [dataclasses.replace(body, com=(0, 0, 0)) for body in links]
    assert gears_of(arm.with_parts(bodies=even)) is None  # nothing tells which one it is
    assert gears_of(arm.with_parts(bodies=even, actuators=[Actuator("motor")])).rotors.tolist() == [2]
    belt = plants.five_bar().with_loops(Coupling("belt", {"left": 1.0, "right": 1.0}, offset=3.1))
    assert gears_of(belt) is None  # both move the linkage


def test_a_rack_follows_as_a_rotor_does():
    plain = crank_and_slider()
    plant = plain.with_parts(
        bodies=[Body("rack", 2.0), *plain.bodies],
        joints=[Prismatic("rack", "ground", "rack"), *plain.joints],
        loops=[*plain.loops, Coupling("pinion", {"rack": 1.0, "crank": -1e-3})],
    )
    q, own = plant.assemble(crank=0.7), plain.assemble(crank=0.7)
    np.testing.assert_array_equal(q[1:], own)
    assert q[0] == pytest.approx(7e-4, rel=1e-14)


def test_warnings_are_those_of_the_twin():
    guess = {"crank": 0.7, "knee": -1.0, "slide": 2.6}
    plain = crank_and_slider((-5.0, 2.0))
    plant = plain.with_parts(
        bodies=[ROTOR, *plain.bodies],
        joints=[Revolute("motor", "ground", "rotor"), *plain.joints],
        loops=[*plain.loops, Coupling("gear", {"motor": 1.0, "crank": -1000.0})],
    )
    told = []
    for machine in (plain, plant):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            machine.assemble(guess=guess, crank=0.7)
        told.append([str(x.message) for x in caught])
    assert told[0] == told[1] and "predicts" in told[0][0]


def test_an_error_of_the_twin_is_told_of_the_machine():
    plant = knuckle_press(60.0)
    error = refuses(lambda: plant.assemble(ram=0.3), "'knee' open by", kind=AssemblyError)
    assert error.q.shape == (6,) and set(error.residuals) == {"knee", "ram_pin", "gear"}
    assert error.residuals["gear"] < 1e-12 and "'gear'" not in str(error)
    with pytest.raises(AssemblyError, match="cannot be closed near"):
        cmb.Mechanism.close(
            plant.with_parts(loops=[*plant.loops, cmb.Point("far", "ground", "ram", (9, 0, 0))]), q=plant.neutral()
        )


@pytest.mark.first(2)
@pytest.mark.parametrize("pitch", [1.0, 1e-3, 1e-5, 10.0])
def test_a_nut_on_its_axis_travels_whatever_its_pitch(pitch):
    """A slider on a screw, in place of a rail: thousands of radians are as far as the travel that they make."""
    plain = crank_and_slider()
    screw = Helical("slide", "ground", "slide", axis=(1, 0, 0), pitch=pitch)
    nut = dataclasses.replace(plain.bodies[2], inertia=(0.1, 0.1, 0.1))
    plant = plain.with_parts(bodies=[*plain.bodies[:2], nut], joints=[*plain.joints[:2], screw])
    for crank in (0.7, 2.0):
        q, own = plant.assemble(crank=crank), plain.assemble(crank=crank)
        np.testing.assert_allclose(q * [1.0, 1.0, pitch], own, rtol=0, atol=1e-12)
    reach, twin = cmb.InverseKinematics(plant, "slide"), cmb.InverseKinematics(plain, "slide")
    for travel in (2.0, 2.9):
        found, own = reach([travel / pitch]), twin([travel])
        assert found.reached
        np.testing.assert_allclose(found.q[:2], own.q[:2], rtol=0, atol=1e-10)


def test_gears_that_contradict_limits_or_motions_are_told_of_the_whole_machine():
    """What a twin could not be built for is left to the machine itself."""
    plant = knuckle_press(60.0)
    limited = [
        dataclasses.replace(joint, limits=(200.0, 300.0)) if joint.name == "motor" else joint for joint in plant.joints
    ]
    limited = [dataclasses.replace(joint, limits=(0.0, 3.0)) if joint.name == "crank" else joint for joint in limited]
    assert gears_of(plant.with_parts(joints=limited)) is None
    both = plant.with_loops(JointMotion("turn", "crank", position=1.5), JointMotion("drive", "motor", position=90.0))
    assert gears_of(both) is None
    refuses(lambda: both.with_motions({"drive": 9.0}).assemble(guess=GUESS), "cannot be closed", kind=AssemblyError)

"""Stiff motion with method="auto": an implicit method goes on, and hands back."""

import numpy as np
import pytest

from cmbcontrol import Actuator, Body, Frame, JointForce, Mechanism, Revolute, plants, simulate
from cmbcontrol.characteristics import Friction
from cmbcontrol.controllers import Controller
from cmbcontrol.sim import advance


def rods(number, chain=False, coulomb=0.5, mass=0.02, length=0.05):
    """Rods with smooth friction in their joints, side by side or one after the other."""
    names = [f"rod{i}" for i in range(number)]
    before = ["ground", *names[:-1]] if chain else ["ground"] * number
    place = (length, 0.0, 0.0) if chain else (0.0, 0.0, 0.1)
    joints = [
        Revolute(f"j{i}", at, name, frame=Frame(np.multiply(i > 0 if chain else i, place)))
        for i, (at, name) in enumerate(zip(before, names, strict=True))
    ]
    rubs = [JointForce(f"rub{i}", f"j{i}", Friction(coulomb=coulomb)) for i in range(number)]
    bodies = [Body.rod(name, mass, length) for name in names]
    return Mechanism("rods", bodies, joints, forces=rubs, gravity=(0.0, -9.81, 0.0))


def methods(monkeypatch):
    """A list to which the name of each method that goes on after another is added."""
    taken, by = [], advance._by

    def told(integrator, run):
        taken.append(integrator.name)
        return by(integrator, run)

    monkeypatch.setattr(advance, "_by", told)
    return taken


@pytest.mark.parametrize("number", [2, 13, 44])
def test_sticking_joints_take_as_few_steps_however_many_they_are(number):
    plant = rods(number)
    run = simulate(plant, None, plant.neutral(), t_end=0.2)
    assert run.data.attrs["method"] == "dop853"
    assert run.data.attrs["steps"] < 300
    assert run.data.attrs["implicit_steps"] > 0
    # a rod creeps with the speed at which smooth friction, 0.5 v / 1 mrad/s for small v, carries its weight
    creep = 0.02 * 9.81 * 0.025 / 0.5 * 1e-3
    np.testing.assert_allclose(run.q[-1], -creep * 0.2, rtol=0.05)
    one = rods(1)  # each is alone
    reference = simulate(one, None, one.neutral(), t_end=0.2, method="radau", rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.q[-1], np.full(number, reference.q[-1, 0]), rtol=1e-6)


@pytest.mark.slow
def test_methods_change_in_both_directions(monkeypatch):
    plant = rods(5, chain=True, coulomb=0.05, mass=0.2, length=0.1)
    changes = methods(monkeypatch)
    run = simulate(plant, None, plant.neutral(), t_end=0.2)
    assert len(changes) >= 2  # so it was handed back in between
    assert 0 < run.data.attrs["implicit_steps"] < run.data.attrs["steps"] - 500
    reference = simulate(plant, None, plant.neutral(), t_end=0.2, method="dop853")
    assert reference.data.attrs["implicit_steps"] == 0
    assert run.data.attrs["steps"] < 0.5 * reference.data.attrs["steps"]
    np.testing.assert_allclose(run.q[-1], reference.q[-1], atol=1e-7)
    np.testing.assert_allclose(run.data.energy_balance, 0.0, atol=1e-8)


def test_what_is_not_stiff_is_as_before(monkeypatch):
    plant = plants.five_bar()
    start = plant.assemble(left=2.1, right=1.0)
    changes = methods(monkeypatch)
    auto, explicit = (simulate(plant, None, start, t_end=8.0, method=name) for name in ("auto", "dop853"))
    assert auto.data.attrs["steps"] > 250  # so stiffness was looked at
    assert not changes
    assert np.array_equal(auto.q, explicit.q)


def test_given_tolerances_are_those_of_both():
    plant = rods(3, chain=True, coulomb=0.05, mass=0.2, length=0.1)
    steps = [
        simulate(plant, None, plant.neutral(), t_end=0.05, rtol=tolerance, atol=tolerance).data.attrs["implicit_steps"]
        for tolerance in (1e-6, 1e-11)
    ]
    assert 0 < 2 * steps[0] < steps[1]


def test_events_are_found_by_both_methods():
    m = rods(3, chain=True, coulomb=0.05, mass=0.2, length=0.1)
    stopped = Revolute("j2", "rod1", "rod2", frame=Frame((0.1, 0.0, 0.0)), limits=(-0.02, 1e-4), restitution=0.3)
    m = Mechanism("rods", m.bodies, [*m.joints[:2], stopped], forces=m.forces, gravity=m.gravity)
    runs = [simulate(m, None, m.neutral(), t_end=0.3, method=name) for name in ("auto", "dop853")]
    times = [[event["time"] for event in run.events()] for run in runs]
    kinds = [[event["kind"] for event in run.events()] for run in runs]
    assert runs[0].data.attrs["implicit_steps"] > 0
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) >= 2
    np.testing.assert_allclose(times[0], times[1], atol=1e-7)
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-6)


def test_singular_configurations_are_passed_where_the_motion_is_stiff():
    """Independent coordinates end there: the explicit method goes on."""
    names = ("bar1", "bar2", "bar3", "tail")
    bodies = [Body.rod(name, 1.0, 0.4) for name in names[:3]] + [Body.rod("tail", 0.05, 0.2)]
    joints = [
        Revolute("left", "ground", "bar1"),
        Revolute("top", "bar1", "bar2", frame=Frame((0.4, 0.0, 0.0))),
        Revolute("right", "bar2", "bar3", frame=Frame((0.4, 0.0, 0.0))),
        Revolute("tail", "bar3", "tail"),
    ]
    at = Frame((0.4, 0.0, 0.0))
    loops = [Revolute("pivot", "ground", "bar3", frame=at, child_frame=at)]
    rub = JointForce("rub", "tail", Friction(coulomb=0.5))
    plant = Mechanism("four-bar", bodies, joints, loops, forces=[rub], gravity=(0.0, 0.0, 0.0))
    q, v = np.array([1.0, -1.0, 1.0 + np.pi, 0.0]), np.array([8.0, -8.0, 8.0, 0.0])
    runs = [simulate(plant, None, q, v, t_end=0.5, method=name) for name in ("auto", "dop853")]
    assert runs[0].data.attrs["implicit_steps"] > 0
    assert [e["kind"] for e in runs[0].events()] == [e["kind"] for e in runs[1].events()] != []
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-6)


def test_a_law_that_fails_beside_its_states_keeps_the_explicit_method():
    """An implicit method asks a law in continuous time at states beside those of the motion."""
    m = rods(2)
    plant = Mechanism("rods", m.bodies, m.joints, forces=m.forces, actuators=[Actuator("j0")], gravity=m.gravity)

    class Strict(Controller):
        def effort(self, t, terms, state):
            if np.abs(terms.q).max() > 5e-5:
                raise ValueError("too far")
            return np.zeros(1)

    run = simulate(plant, Strict(), plant.neutral(), t_end=0.0005)
    assert run.data.attrs["steps"] > 1000
    assert run.data.attrs["implicit_steps"] == 0

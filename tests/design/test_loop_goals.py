"""Gains that meet goals on several machines, checked by closed loops that are linearized one by one, and by runs."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Constant, plants
from cmbcontrol.controllers import PID, FirstOrderActuator
from cmbcontrol.controllers.closed_loop import linearize_closed_loop
from cmbcontrol.design import LoopGoal, Range, structured, with_payload
from cmbcontrol.errors import DesignError, InputError, InputTypeError
from tests.fixtures import refuses, slider

RANGES = {"kp": Range(10.0, 5e3, log=True), "ki": Range(1.0, 5e3, log=True), "kd": Range(1.0, 1e3, log=True)}
DRIVEN = ("left", "right")


def family(plant):
    loads = {f"{m:g} kg": with_payload(plant, "left_upper", m, (1.5, 0.0, 0.0)) for m in (0.0, 4.0)}
    return loads, {"wide": {"left": 2.6, "right": 0.5}, "high": {"left": 1.9, "right": 1.2}}


def law_of(plant):
    def law(kp, ki, kd):
        made = PID(plant, Constant([2.1, 1.0]), kp=kp, ki=ki, kd=kd, coordinates=DRIVEN, period=2e-3)
        return made | FirstOrderActuator(2e-3)

    return law


@pytest.mark.nojit_slow
def test_goals_on_a_family_of_machines():
    """Each value is that of the loop of its machine: disk margins bound, compliance and decay as they are."""
    plant = plants.five_bar()
    loads, poses = family(plant)
    goals = [LoopGoal.disk_margin(0.6, hard=True), LoopGoal.tracking(6.0), LoopGoal.decay(0.1)]
    tuned = structured(loads, poses, law_of(plant), RANGES, goals, delay=1e-3, starts=2)
    assert tuned.met and len(tuned.goals) == 3 * 4
    assert set(tuned.worst()) == {goal.name for goal in goals}
    for load, machine in loads.items():
        for pose, joints in poses.items():
            q = machine.assemble(**joints)
            law = tuned.law.with_reference(Constant([joints["left"], joints["right"]]))
            loop = linearize_closed_loop(machine, law, q, coordinates=DRIVEN, delay=1e-3)
            value = {one.goal: one.value for one in tuned.goals if one.case == f"{load}, {pose}"}
            assert loop.stable and loop.margins().disk >= 0.6 / value["disk margin above 0.6"] * (1.0 - 1e-6)
            growth = loop.continuous_poles().real.max()
            assert value["decay above 0.1 1/s"] == pytest.approx(1.0 + (growth + 0.1) / 0.1, abs=1e-5)
    text = str(tuned)
    assert "met; worst at" in text and "stable on all 4 models" in text


def test_a_mass_in_closed_form():
    """A mass m with springs kp and dampers kd: the compliance is 1/kp where it is damped well."""
    plant = slider(mass=2.0)

    def law(kp, kd):
        return PID(plant, Constant([0.0]), kp=kp, kd=kd, feedforward="none")

    ranges = {"kp": Range(1.0, 1e4, log=True), "kd": Range(1.0, 1e4, log=True)}
    goals = [LoopGoal.rejection(1.0 / 400.0), LoopGoal.complementary(1.05)]
    tuned = structured(plant, [[0.0]], law, ranges, goals, starts=2)
    kp, kd = tuned.gains["kp"], tuned.gains["kd"]
    values = {name: one.value for name, one in tuned.worst().items()}
    w = np.append(0.0, np.geomspace(1e-3, 1e5, 200001)) * 1j
    T, G = (kp + kd * w) / (2.0 * w * w + kd * w + kp), 1.0 / (2.0 * w * w + kd * w + kp)
    assert values["complementary sensitivity below 1.05"] == pytest.approx(np.abs(T).max() / 1.05, rel=1e-6)
    assert values["compliance below 0.0025"] == pytest.approx(np.abs(G).max() * 400.0, rel=1e-6)
    assert tuned.met


def test_hard_goals_come_first():
    """Of two goals that cannot be met together, the hard one is, and the other is as near as it can be."""
    plant = slider(mass=2.0)

    def law(kp, kd):
        return PID(plant, Constant([0.0]), kp=kp, kd=kd, period=5e-3, feedforward="none")

    ranges = {"kp": Range(1.0, 1e5, log=True), "kd": Range(1.0, 1e4, log=True)}
    soft = structured(plant, [[0.0]], law, ranges, [LoopGoal.sensitivity(1.4), LoopGoal.rejection(1e-5)], starts=2)
    firm = structured(
        plant, [[0.0]], law, ranges, [LoopGoal.sensitivity(1.4, hard=True), LoopGoal.rejection(1e-5)], starts=2
    )
    name = "sensitivity below 1.4"
    assert soft.worst()[name].value > 1.05 > firm.worst()[name].value
    assert firm.worst()[name].value == pytest.approx(1.0, abs=0.02)
    assert firm.worst()["compliance below 1e-05"].value > soft.worst()["compliance below 1e-05"].value


def test_noise_is_the_variance_of_a_run():
    """Standard deviation of the efforts under noise of readings, against a long run with an encoder."""
    plant, noise = slider(mass=2.0), 1e-4

    def law(kp):
        return PID(plant, Constant([0.0]), kp=kp, kd=40.0, period=5e-3, feedforward="none")

    tuned = structured(
        plant, [[0.0]], law, {"kp": (99.0, 101.0)}, [LoopGoal.noise_effort(1.0, position=noise)], starts=1
    )
    made = cmb.controllers.Encoder(noise=noise, seed=4) | law(tuned.gains["kp"])
    u = cmb.simulate(plant, made, [0.0], t_end=100.0, output_times=5e-3).u.values[200:, 0]
    assert tuned.value == pytest.approx(u.std(), rel=0.03)  # of 2e4 samples


def test_what_is_refused():
    plant = slider(mass=2.0)

    def law(kp, period=5e-3):
        return PID(plant, Constant([0.0]), kp=kp, kd=9.0, period=period, feedforward="none")

    given = (plant, [[0.0]], law, {"kp": (1.0, 9.0)})
    refuses(lambda: structured(*given, []), "one or more", kind=InputTypeError)
    refuses(lambda: structured(*given, ["fast"]), "one or more", kind=InputTypeError)
    refuses(lambda: structured(*given[:3], {}, [LoopGoal.decay(1.0)]), "at least one", kind=InputError)
    refuses(lambda: LoopGoal.sensitivity(0.9), "above 1", kind=InputError)
    refuses(lambda: LoopGoal.disk_margin(2.5), "below 2", kind=InputError)
    quiet = [LoopGoal.noise_effort(1.0, position=1e-3)]
    refuses(lambda: structured(plant, [[0.0]], lambda kp: law(kp, None), {"kp": (1.0, 9.0)}, quiet), "no variance",
            kind=InputError)  # fmt: skip

    def wrong(kp):
        return PID(plant, Constant([0.0]), kp=-kp, kd=-9.0, feedforward="none")

    refuses(lambda: structured(plant, [[0.0]], wrong, {"kp": (1.0, 9.0)}, [LoopGoal.decay(1.0)]), "no gains",
            kind=DesignError)  # fmt: skip

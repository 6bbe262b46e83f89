"""Goals for all machines within intervals, against closed loops of machines that are built anew."""

import numpy as np
import pytest

from cmbcontrol import Constant, linearize_closed_loop, plants
from cmbcontrol.controllers import PID, FirstOrderActuator
from cmbcontrol.design import LoopGoal, Range, structured
from tests.design.test_uncertain_loop import peak

DRIVEN = ("left", "right")
RANGES = {"kp": Range(10.0, 5e3, log=True), "ki": Range(1.0, 5e3, log=True), "kd": Range(1.0, 1e3, log=True)}
POSES = {"wide": {"left": 2.6, "right": 0.5}, "high": {"left": 1.9, "right": 1.2}}
INTERVALS = {"left_upper_mass": (2.0, 9.0), "damping_left": (0.0, 2.0)}


def law_of(plant, period):
    def law(kp, ki, kd):
        made = PID(plant, Constant([2.1, 1.0]), kp=kp, ki=ki, kd=kd, coordinates=DRIVEN, period=period)
        return made | FirstOrderActuator(2e-3) if period else made

    return law


@pytest.mark.nojit_slow
@pytest.mark.parametrize("period", [None, 2e-3])
def test_goals_are_bounded_for_all_machines(period):
    """Random machines are below the bounds; worst ones are as the loop of the machine itself says; they run."""
    plant = plants.five_bar()
    goals = [LoopGoal.disk_margin(0.6, hard=True), LoopGoal.rejection(2e-3), LoopGoal.decay(0.2)]
    delay = 1e-3 if period else 0.0
    tuned = structured(plant, POSES, law_of(plant, period), RANGES, goals, uncertain=INTERVALS, delay=delay, starts=1)
    assert tuned.certified and len(tuned.bounds) == 6 and set(tuned.loops) == {f"five-bar, {name}" for name in POSES}
    bounds = {(b.goal, b.case): b for b in tuned.bounds}
    rng = np.random.default_rng(5)
    for pose, joints in POSES.items():
        case = f"five-bar, {pose}"
        loop = tuned.loops[case]
        margin, compliance, decay = (bounds[goal.name, case] for goal in goals)
        drawn = [{name: rng.uniform(*ends) for name, ends in INTERVALS.items()} for _ in range(3)]
        for values in [*drawn, margin.worst, compliance.worst]:
            law = tuned.law.with_reference(Constant([joints["left"], joints["right"]]))
            known = linearize_closed_loop(
                loop.model.machine(values), law, loop.nominal.point.q, coordinates=DRIVEN, delay=delay or None
            )
            assert known.margins().disk >= 0.6 / margin.proven * (1.0 - 1e-6)
            assert known.continuous_poles().real.max() < -0.2
            if period:
                found = peak(known, [f"{n}_disturbance" for n in DRIVEN], list(DRIVEN)) / 2e-3
                assert found <= compliance.proven * (1.0 + 1e-6)
                if values is compliance.worst:
                    assert found == pytest.approx(compliance.value, rel=1e-3)
        assert decay.proven == 1.0 and margin.value <= margin.proven <= 1.0
    run = tuned.loops["five-bar, wide"].run(bounds[goals[1].name, "five-bar, wide"], 0.2)
    assert run.time[-1] == 0.2
    assert "proven" in str(tuned) and "between them not proven" not in str(tuned)


def test_worst_machines_are_tuned_for():
    """Gains for the middle machine alone miss the goal on the heaviest one; with intervals they meet it."""
    plant = plants.five_bar()
    goals = [LoopGoal.complementary(1.45), LoopGoal.tracking(9.0)]
    ranges = {"kp": Range(10.0, 4e3, log=True), "kd": Range(1.0, 1e3, log=True)}

    def law(kp, kd):
        return PID(plant, Constant([2.1, 1.0]), kp=kp, ki=50.0, kd=kd, coordinates=DRIVEN, period=4e-3)

    wide = {"left_upper_mass": (1.0, 16.0)}
    tuned = structured(plant, {"wide": POSES["wide"]}, law, ranges, goals, uncertain=wide, delay=4e-3, starts=1)
    cases = {one.case for one in tuned.goals}
    assert len(cases) > 1 and any("left_upper_mass" in case for case in cases)
    assert max(b.value for b in tuned.bounds) <= max(1.0, tuned.value) * 1.02


def test_noise_is_not_proven():
    plant = plants.five_bar()
    goals = [LoopGoal.noise_effort(50.0, position=1e-4, rate=1e-2), LoopGoal.rejection(5e-3)]
    law = law_of(plant, 2e-3)
    tuned = structured(plant, POSES, law, RANGES, goals, uncertain=INTERVALS, delay=1e-3, starts=1)
    assert not tuned.certified and "not proven" in str(tuned)
    noise = [b for b in tuned.bounds if "noise" in b.goal]
    assert all(np.isinf(b.proven) and 0.0 < b.value < 1.5 for b in noise)

"""One robust controller for payloads and poses of three machines: proven, and its worst case run with friction."""

from typing import NamedTuple

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import design, plants
from cmbcontrol.characteristics import Friction
from cmbcontrol.controllers import PID, FirstOrderActuator
from cmbcontrol.design import LoopGoal, Range

from .test_examples import example

START = {"motor": 172.0, "crank": 2.87, "rod": -2.8, "upper": -2.2, "lower": 1.1, "ram": 0.14}


class Job(NamedTuple):
    """A machine with poses, intervals of its parameters, and what is asked of its loop."""

    make: object
    coordinates: tuple
    poses: dict
    uncertain: dict
    period: float
    bandwidth: float  # rad/s
    friction: dict  # N m or N at joints
    way: float  # rad or m, of all coordinates


JOBS = {
    "five-bar": Job(
        plants.five_bar,
        ("left", "right"),
        {"wide": {"left": 2.6, "right": 0.5}, "high": {"left": 1.9, "right": 1.2}},
        {"left_upper_mass": (3.0, 7.0), "damping_left": (0.0, 2.0)},
        2e-3,
        8.0,
        {"left": 1.0, "right": 1.0},
        0.1,
    ),
    "delta": Job(
        plants.delta,
        ("arm1", "arm2", "arm3"),
        {"middle": {"arm1": 0.3, "arm2": 0.3, "arm3": 0.3}, "aside": {"arm1": 0.6, "arm2": 0.2, "arm3": 0.2}},
        {"platform_mass": (0.2, 1.2), "damping_arm1": (0.0, 0.05)},
        1e-3,
        20.0,
        {"arm1": 0.2, "arm2": 0.2, "arm3": 0.2},
        0.1,
    ),
    "press": Job(
        lambda: example("ex18_servo_press")["press"],
        ("motor",),
        {"up": {"motor": 172.0}, "low": {"motor": 160.0}},
        {"ram_mass": (600.0, 1200.0), "damping_crank": (10.0, 40.0)},
        1e-3,
        25.0,
        {"ram": 800.0},
        1.5,
    ),
}


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", JOBS)
def test_one_controller_for_all_payloads_and_poses(name):
    """Certified for all machines in the intervals; the worst one follows a motion with friction, sampled and late."""
    job = JOBS[name]
    plant = job.make()
    guess = {"guess": START} if name == "press" else {}
    poses = {pose: plant.assemble(**guess, **joints) for pose, joints in job.poses.items()}
    first = next(iter(poses.values()))
    index = [plant.position_names.index(x) for x in job.coordinates]
    model = cmb.linearize(plant, cmb.trim(plant, first), coordinates=job.coordinates)
    inertia, w = 1.0 / np.abs(np.diag(model.B[len(job.coordinates) :])), job.bandwidth

    def law(kp, ki, kd):
        gains = {"kp": kp * inertia, "ki": ki * inertia, "kd": kd * inertia}
        pid = PID(plant, cmb.Constant(first[index]), coordinates=job.coordinates, period=job.period, **gains)
        return pid | FirstOrderActuator(job.period)

    ranges = {
        "kp": Range(0.3 * w**2, 100.0 * w**2, log=True),
        "ki": Range(0.01 * w**3, 100.0 * w**3, log=True),
        "kd": Range(0.3 * w, 100.0 * w, log=True),
    }
    goals = [LoopGoal.disk_margin(0.6, hard=True), LoopGoal.tracking(w)]
    tuned = design.structured(
        plant, poses, law, ranges, goals, uncertain=job.uncertain, delay=0.5 * job.period, starts=2
    )
    assert tuned.met and tuned.certified, str(tuned)
    worst = max((b for b in tuned.bounds if "tracking" in b.goal), key=lambda b: b.value)
    loop = tuned.loops[worst.case]
    start = loop.nominal.point.q[index]
    motion = cmb.Quintic(start, start + job.way, duration=4.0 / w)

    def rubs(machine):
        forces = [
            cmb.JointForce(f"friction_{joint}", joint, Friction(size, transition_rate=1e-3))
            for joint, size in job.friction.items()
        ]
        return machine.with_parts(forces=[*machine.forces, *forces])

    for change in (None, rubs):
        run = loop.run(worst, 8.0 / w, law=tuned.law.with_reference(motion), plant=change)
        errors = np.abs(run.data.error.values).max(axis=1)
        assert errors.max() < 0.15 * job.way and run.drift.values.max() < 1e-9

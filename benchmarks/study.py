"""A thousand runs under a law, with masses and friction drawn: the five-bar at 1 kHz, an excavator arm at 200 Hz.

Each run has another plant and starts with its own loops closed; the law knows the nominal one. "bare" is the same runs
in a loop without a study, "of bare" how many runs a core does in a study for one that it does bare, and "speed-up" that
of all cores over one core in a study. What is compiled is compiled before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import (
    Delay,
    DriveFriction,
    Encoder,
    FilteredDifference,
    ForwardKinematics,
    PoseTask,
    ProjectedInverseDynamics,
    Saturation,
    WithModel,
)
from cmbcontrol.studies import study

from . import excavator

TITLE = "Studies: runs of 5 s with masses and friction drawn, on one core and on all"
COLUMNS = ("study", "runs", "cores", "wall s", "ms bare", "of bare", "speed-up", "samples by code", "largest error")
T_END, FEW = 5.0, 100


def scattered(plant: cmb.Mechanism, rng: np.random.Generator) -> cmb.Mechanism:
    """The plant with every mass, and the inertia with it, 20 % up or down."""
    bodies = []
    for body, share in zip(plant.bodies, rng.uniform(0.8, 1.2, len(plant.bodies)), strict=True):
        bodies.append(replace(body, mass=share * body.mass, inertia=np.multiply(share, body.inertia)))
    return cmb.Mechanism(
        plant.name, bodies, plant.joints, plant.loops, actuators=plant.actuators, gravity=plant.gravity
    )  # fmt: skip


def five_bar(rng: np.random.Generator) -> dict[str, Any]:
    """Angles along a sine at 1 kHz, delay of a sample, saturation, friction of the drives."""
    base = plants.five_bar()
    plant, path = scattered(base, rng), cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    law = ProjectedInverseDynamics(base, ("left", "right"), path, bandwidth=8.0, period=1e-3)
    chain = WithModel(base, law) | Saturation(60.0) | Delay(1e-3) | DriveFriction(coulomb=rng.uniform(0.0, 1.0))
    return {
        "plant": plant,
        "controller": chain,
        "q0": plant.assemble(left=2.1, right=1.0),
        "t_end": T_END,
        "output_times": 0.05,
    }


def excavator_arm(rng: np.random.Generator) -> dict[str, Any]:
    """The bucket tip along a level line at 200 Hz, encoders, filter, delay, limits, friction of the drives."""
    base = excavator.arm()
    plant, path = scattered(base, rng), cmb.Quintic(excavator.BEGIN, excavator.END, 4.0)
    task = PoseTask(base, "bucket", cmb.Frame(excavator.TIP), axes=("x", "y", "rz"))
    law = ProjectedInverseDynamics(base, task, path, bandwidth=6.0, period=5e-3)
    chain = (
        Encoder(bits=18)
        | FilteredDifference(cutoff_hz=25.0)
        | ForwardKinematics(excavator.JOINTS)
        | WithModel(base, law)
        | Saturation()
        | Delay(5e-3)
        | DriveFriction(coulomb=rng.uniform(0.0, 2e3), width=0.01)
    )
    q0 = excavator.at(plant, *excavator.BEGIN)
    return {"plant": plant, "controller": chain, "q0": q0, "t_end": T_END, "output_times": 0.05}


def angle_error(run: cmb.Simulation) -> float:
    """Largest error of the angles, rad."""
    path = cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    asked = np.array([path(t)[0] for t in run.time])
    angles = run.q.values[:, [run.plant.index("left"), run.plant.index("right")]]
    return float(np.abs(angles - asked).max())


def tip_error(run: cmb.Simulation) -> float:
    """Largest distance of the tip from where it should be, m."""
    path = cmb.Quintic(excavator.BEGIN, excavator.END, 4.0)
    tip = np.array([run.plant.point(q, "bucket", excavator.TIP)[:2] for q in run.q.values])
    asked = np.array([path(t)[0][:2] for t in run.time])
    return float(np.linalg.norm(tip - asked, axis=1).max())


def by_code_1000_hz(run: cmb.Simulation) -> float:
    """Part of the samples that generated code has taken."""
    return run.data.attrs["samples_by_code"] / round(T_END / 1e-3)


def by_code_200_hz(run: cmb.Simulation) -> float:
    """Part of the samples that generated code has taken."""
    return run.data.attrs["samples_by_code"] / round(T_END / 5e-3)


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    cores = len(os.sched_getaffinity(0))
    for case, runs, error, by_code, unit in (
        (five_bar, 1000, angle_error, by_code_1000_hz, "rad"),
        (excavator_arm, 500, tip_error, by_code_200_hz, "m"),
    ):
        measures = {"error": error, "by_code": by_code}
        drawn = [np.random.default_rng(i) for i in range(FEW + 1)]
        cmb.simulate(**case(drawn.pop()))
        begin = time.perf_counter()
        for rng in drawn:
            run = cmb.simulate(**case(rng))
            error(run), by_code(run)
        bare = (time.perf_counter() - begin) / FEW
        begin = time.perf_counter()
        study(case, {}, runs=FEW, measures=measures)
        single = (time.perf_counter() - begin) / FEW
        begin = time.perf_counter()
        found = study(case, {}, runs=runs, measures=measures, workers="all")
        wall = time.perf_counter() - begin
        assert not found.failures, found.data["message"].values
        yield (
            case.__name__.replace("_", "-"), str(runs), str(cores), f"{wall:.1f}", f"{1e3 * bare:.1f}",
            f"{bare / single:.2f}", f"{single * runs / wall:.2f}", f"{found.data.by_code.values.min():.3f}",
            f"{found.data.error.values.max():.2e} {unit}",
        )  # fmt: skip

"""A thousand runs under a law, with masses and friction drawn: the five-bar at 1 kHz, an excavator arm at 200 Hz.

Each run has another plant and starts with its own loops closed; the law knows the nominal one. Runs are shared out to
the cores. What is compiled is compiled before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

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

from . import excavator

TITLE = "Studies: runs of 5 s with masses and friction drawn, on all cores"
COLUMNS = ("study", "runs", "cores", "wall s", "goal s", "ms a run", "samples by code", "largest error")
RUNS, T_END = 1000, 5.0


def scattered(plant: cmb.Mechanism, rng: np.random.Generator) -> cmb.Mechanism:
    """The plant with every mass, and the inertia with it, 20 % up or down."""
    bodies = []
    for body, share in zip(plant.bodies, rng.uniform(0.8, 1.2, len(plant.bodies)), strict=True):
        bodies.append(replace(body, mass=share * body.mass, inertia=np.multiply(share, body.inertia)))
    return cmb.Mechanism(
        plant.name, bodies, plant.joints, plant.loops, actuators=plant.actuators, gravity=plant.gravity
    )  # fmt: skip


def five_bar(seed: int) -> tuple[float, float]:
    """Angles along a sine at 1 kHz, delay of a sample, saturation, friction of the drives: error in rad."""
    rng, base = np.random.default_rng(seed), plants.five_bar()
    plant, path = scattered(base, rng), cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    law = ProjectedInverseDynamics(base, ("left", "right"), path, bandwidth=8.0, period=1e-3)
    chain = law | Saturation(60.0) | Delay(1e-3) | DriveFriction(coulomb=rng.uniform(0.0, 1.0))
    run = cmb.simulate(plant, chain, plant.assemble(left=2.1, right=1.0), t_end=T_END, output_times=0.05)
    asked = np.array([path(t)[0] for t in run.time])
    angles = run.q.values[:, [plant.index("left"), plant.index("right")]]
    return float(np.abs(angles - asked).max()), _by_code(run, 1e-3)


def excavator_arm(seed: int) -> tuple[float, float]:
    """The bucket tip along a level line at 200 Hz, encoders, filter, delay, limits, friction of the drives: m."""
    rng, base = np.random.default_rng(seed), excavator.arm()
    plant, path = scattered(base, rng), cmb.Quintic(excavator.BEGIN, excavator.END, 4.0)
    task = PoseTask(base, "bucket", cmb.Frame(excavator.TIP), axes=("x", "y", "rz"))
    law = ProjectedInverseDynamics(base, task, path, bandwidth=6.0, period=5e-3)
    chain = (
        Encoder(bits=18)
        | FilteredDifference(cutoff=25.0)
        | ForwardKinematics(excavator.JOINTS)
        | WithModel(base, law)
        | Saturation()
        | Delay(5e-3)
        | DriveFriction(coulomb=rng.uniform(0.0, 2e3), width=0.01)
    )
    run = cmb.simulate(plant, chain, excavator.at(plant, *excavator.BEGIN), t_end=T_END, output_times=0.05)
    tip = np.array([plant.point(q, "bucket", excavator.TIP)[:2] for q in run.q.values])
    asked = np.array([path(t)[0][:2] for t in run.time])
    return float(np.linalg.norm(tip - asked, axis=1).max()), _by_code(run, 5e-3)


def _by_code(run: cmb.Simulation, period: float) -> float:
    """Part of the samples that generated code has taken."""
    return run.data.attrs["samples_by_code"] / round(T_END / period)


def _several(one: Callable[[int], tuple[float, float]], seeds: Sequence[int]) -> list[tuple[float, float]]:
    return [one(int(seed)) for seed in seeds]


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    cores = len(os.sched_getaffinity(0))
    for one, goal, unit in ((five_bar, 60.0, "rad"), (excavator_arm, 300.0, "m")):
        one(0)
        begin = time.perf_counter()
        with ProcessPoolExecutor(cores) as pool:
            parts = pool.map(_several, [one] * cores, np.array_split(np.arange(RUNS), cores))
            found = [run for part in parts for run in part]
        wall = time.perf_counter() - begin
        errors, by_code = np.array(found).T
        yield (
            one.__name__.replace("_", "-"), str(RUNS), str(cores), f"{wall:.1f}", f"{goal:g}",
            f"{1e3 * wall * cores / RUNS:.1f}", f"{by_code.min():.3f}", f"{errors.max():.2e} {unit}",
        )  # fmt: skip

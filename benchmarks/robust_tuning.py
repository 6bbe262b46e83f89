"""PID laws with a drive, tuned on many models of the five-bar at once: nine poses and more, three payloads and more."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import design, plants
from cmbcontrol.controllers import PID, FirstOrderActuator
from cmbcontrol.design import LoopGoal, Range

from .rivals.common import clock

TITLE = "Structured tuning, default starts: five gains of a PID with a drive for disk margin, tracking and compliance"
COLUMNS = ("models", "jobs", "CPU s of this process", "wall s", "largest goal over its limit")
GRIDS = {27: (3, 3, 3), 200: (8, 5, 5)}


def rows() -> Iterable[Sequence[str]]:
    """Yield a row for each number of models and processes; the law is linearized in the same time."""
    plant, to = plants.five_bar(), cmb.Constant([2.1, 1.0])

    def law(kp: float, ki: float, kd: float, kp_right: float, kd_right: float) -> Any:
        pid = PID(plant, to, kp=[kp, kp_right], ki=ki, kd=[kd, kd_right], coordinates=("left", "right"), period=2e-3)
        return pid | FirstOrderActuator(2e-3)

    high, low, fast = Range(10.0, 5e3, log=True), Range(1.0, 5e3, log=True), Range(1.0, 1e3, log=True)
    gains = {"kp": high, "ki": low, "kd": fast, "kp_right": high, "kd_right": fast}
    goals = [LoopGoal.disk_margin(0.6), LoopGoal.tracking(bandwidth=6.0), LoopGoal.rejection(2e-3)]
    for models, (payloads, lefts, rights) in GRIDS.items():
        loads = {
            f"{m:g} kg": design.with_payload(plant, "left_upper", m, (1.5, 0.0, 0.0))
            for m in np.linspace(0.0, 4.0, payloads)
        }
        poses = {
            f"{a:g}, {b:g}": {"left": a, "right": b}
            for a in np.linspace(1.9, 2.7, lefts)
            for b in np.linspace(0.4, 1.2, rights)
        }
        for jobs in sorted({1, min(2, len(os.sched_getaffinity(0)))}):
            began = clock(), time.perf_counter()
            found = design.structured(loads, poses, law, gains, goals, delay=1e-3, jobs=jobs)
            took = clock() - began[0], time.perf_counter() - began[1]
            yield str(models), str(jobs), f"{took[0]:.1f}", f"{took[1]:.1f}", f"{found.value:.4f}"

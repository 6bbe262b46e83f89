"""A hundred thousand linear models of the loader, with poles and margins, over poses and payloads.

The law is projected inverse dynamics at 200 Hz, whose goal is the pose. "known" is a law that knows the payload, and
"unknown" one that has the nominal one in its model, so that the machine rests aside of the goal, which has to be found.
Payloads are a list of 20, or drawn with the pose, so that every run has a machine of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.studies import LinearCase, damping, disk_margin, gain_margin, phase_margin, slowest_pole, study

TITLE = "Linear studies of the loader: poles, damping, disk, gain and phase margins"
COLUMNS = (
    "payload",
    "told to the law",
    "runs",
    "cores",
    "wall s",
    "ms a run and core",
    "smallest disk margin",
    "slowest pole",
)
RUNS = 100_000


def law(plant: cmb.Mechanism, start_boom: float, start_bucket: float) -> Any:
    """Hold the pose at 200 Hz."""
    goal = cmb.Constant([start_boom, start_bucket])
    return ProjectedInverseDynamics(plant, ("boom", "bucket"), goal, bandwidth=6.0, period=5e-3)


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table; all but the first are a tenth as long."""
    measures = {
        "pole": slowest_pole(),
        "damping": damping(),
        "disk": disk_margin(),
        "gain": gain_margin(),
        "phase": phase_margin(),
    }
    cores = len(os.sched_getaffinity(0))
    listed = [float(x) for x in np.linspace(0.2, 1.8, 20)]
    for payloads, knows, runs in (
        (listed, True, RUNS),
        (listed, False, RUNS // 10),
        ((0.2, 1.8), True, RUNS // 10),
        ((0.2, 1.8), False, RUNS // 10),
    ):
        case = LinearCase(plants.loader(load=3000.0), law, {"boom": 0.1, "bucket": -0.2}, knows=knows)
        vary = {"start_boom": (-0.6, 0.7), "start_bucket": (-0.6, 0.5), "load_scale": payloads}
        samples = runs // len(payloads) if isinstance(payloads, list) else runs
        begin = time.perf_counter()
        found = study(case, vary, runs=samples, measures=measures, workers="all")
        wall = time.perf_counter() - begin
        assert not found.failures, found.kinds
        done = found.data.sizes["run"]
        yield (
            "list of 20" if isinstance(payloads, list) else "drawn", "known" if knows else "unknown",
            str(done), str(cores), f"{wall:.0f}", f"{1e3 * wall * cores / done:.2f}",
            f"{found.data.disk.values.min():.3f}", f"{found.data.pole.values.max():.2f} 1/s",
        )  # fmt: skip

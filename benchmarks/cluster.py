"""What a run of a study costs on a Dask cluster: for the runs themselves, for each chunk, on disk, in memory.

The cluster is one on this machine, with one worker, then with one a core; "of bare" is the throughput of a core beside
that of a loop without a study.
"""

from __future__ import annotations

import os
import tempfile
import time
import tracemalloc
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import cmbcontrol as cmb
from cmbcontrol.studies import study

from .study import FEW, angle_error, five_bar

TITLE = "A study on a Dask cluster"
COLUMNS = (
    "case",
    "workers",
    "runs",
    "wall s",
    "ms a run and worker",
    "speed-up",
    "of bare",
    "bytes a row on disk",
    "in memory",
)
MANY = 20_000


def nothing(a: float, b: float, c: float) -> dict[str, float]:
    """A case that takes no time: what is left is the study itself."""
    return {"x": a + b, "y": b + c, "z": a + c}


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    from distributed import Client, LocalCluster

    drawn = [np.random.default_rng(i) for i in range(FEW + 1)]
    cmb.simulate(**five_bar(drawn.pop()))
    begin = time.perf_counter()
    for rng in drawn:
        angle_error(cmb.simulate(**five_bar(rng)))
    bare = (time.perf_counter() - begin) / FEW
    single: dict[str, float] = {}
    for workers in (1, len(os.sched_getaffinity(0))):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            study(five_bar, {}, runs=4 * workers, measures={"error": angle_error}, workers=client)  # loads and compiles
            for name, case, vary, runs, measures in (
                ("five-bar, 5 s at 1 kHz", five_bar, {}, 400, {"error": angle_error}),
                ("nothing", nothing, dict.fromkeys("abc", (0.0, 1.0)), MANY, {}),
            ):
                with tempfile.TemporaryDirectory() as folder:
                    begin = time.perf_counter()
                    found = study(case, vary, runs=runs, measures=measures, workers=client, folder=folder)
                    wall = time.perf_counter() - begin
                    del found
                    tracemalloc.start()  # which takes time
                    found = study(case, vary, runs=runs, measures=measures, folder=folder)  # reads the rows
                    memory = tracemalloc.get_traced_memory()[0]
                    tracemalloc.stop()
                    size = sum(file.stat().st_size for file in Path(folder, "parts").iterdir())
                assert not found.failures, found.kinds
                single.setdefault(name, wall / runs)
                yield (
                    name, str(workers), str(runs), f"{wall:.1f}", f"{1e3 * wall * workers / runs:.2f}",
                    f"{single[name] * runs / wall:.2f}",
                    f"{bare * runs / (wall * workers):.2f}" if case is five_bar else "",
                    f"{size / runs:.0f}", f"{memory / runs:.0f}",
                )  # fmt: skip

"""What a larger machine costs: forward dynamics, linear model, simulated second, and what has to be compiled.

Each machine is measured in a process of its own, with a cache of its own, so that compile times and memory are those of
a first start. Growth is from N = 40 on, for ten times as many loops.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.trace import code

from . import inside
from .linear import coordinates
from .rivals import common, with_mujoco
from .rivals.common import FOUR_BAR
from .stewart_chain import stewart_chain

Array = NDArray[np.float64]

TITLE = "Machines of growing size: compiled loops, a simulated second by simulate(), and MuJoCo beside it"
COLUMNS = (
    "machine", "nv", "rows", "forward us", "A, B us", "ratio", "simulated s", "evaluations", "compile s", "MiB",
    "MuJoCo forward us", "ours over it",
)  # fmt: skip
SIZES: tuple[tuple[str, int], ...] = (
    *((FOUR_BAR, n) for n in (10, 40, 100, 200, 400)),
    *(("stewart-chain", n) for n in (1, 2, 5, 10)),
)
FROM, TO = 40, 400


def machine(kind: str, n: int) -> tuple[cmb.Mechanism, Array, Array]:
    """A machine of a size, and a state from which it moves."""
    if kind == FOUR_BAR:
        plant = plants.n_four_bar(n)
        q, v = common.four_bar_state(n, np.pi / 2, -1.0)
        return plant, q, v
    return stewart_chain(n)


def shortest(call: Callable[[int], Any], budget: float = 0.3) -> float:
    """Time of one call, us."""
    begin = common.clock()
    call(1)
    once = max(common.clock() - begin, 1e-7)
    times = max(1, int(budget / once / 5))
    found = []
    for _ in range(5):
        begin = common.clock()
        call(times)
        found.append((common.clock() - begin) / times)
    return 1e6 * min(found)


def measure(kind: str, n: int) -> dict[str, float]:
    """All figures of a machine."""
    code.kept = lambda file: ()  # every machine is compiled anew
    first, q, v = plants.catalogue["five-bar"].start()
    cmb.simulate(first, None, q, v, t_end=0.1)  # kernels, which all machines share
    plant, q, v = machine(kind, n)
    begin = common.clock()
    simulate = partial(cmb.simulate, plant, None, q, v, limits="ignore")
    simulate(t_end=1e-3)
    compiled = common.clock() - begin
    wall, run = common.timed(lambda: simulate(t_end=1.0))
    u = np.zeros(plant.nu)
    q, v = run.q.values[-1], run.v.values[-1]
    begin = common.clock()
    forward = inside.forward(plant, q[None], v[None], u)
    linear = inside.linear(plant, q, v, u, coordinates(plant, q, v))
    forward(1)
    linear(1)
    compiled += common.clock() - begin
    found = {
        "nv": plant.nv,
        "rows": len(plant.row_names),
        "forward": shortest(forward),
        "linear": shortest(linear),
        "run": wall,
        "evaluations": int(run.data.attrs["evaluations"]),
        "compile": compiled,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }
    if kind == FOUR_BAR and n <= FROM and with_mujoco.available():
        call = with_mujoco.forward_dynamics((kind, n))
        found["mujoco"] = shortest(lambda times: [call() for _ in range(times)])
    return found


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    known = {}
    for kind, n in SIZES:
        done = subprocess.run(
            [sys.executable, "-m", __name__, kind, str(n)], capture_output=True, text=True, check=True
        )  # a process for each: memory is its own
        found = known[kind, n] = json.loads(done.stdout.splitlines()[-1])
        theirs = found.get("mujoco")
        yield (
            f"{kind} N={n}", str(found["nv"]), str(found["rows"]), f"{found['forward']:.2f}", f"{found['linear']:.2f}",
            f"{found['linear'] / found['forward']:.2f}", f"{found['run']:.4f}", str(found["evaluations"]),
            f"{found['compile']:.1f}", f"{found['memory']:.0f}",
            "" if theirs is None else f"{theirs:.1f}", "" if theirs is None else f"{found['forward'] / theirs:.3f}",
        )  # fmt: skip
    if (FOUR_BAR, TO) in known and (FOUR_BAR, FROM) in known:
        big, small = known[FOUR_BAR, TO], known[FOUR_BAR, FROM]
        growth = {name: big[name] / small[name] for name in ("forward", "linear", "run")}
        yield (
            f"growth, {FROM} to {TO}", "", "", f"{growth['forward']:.1f}", f"{growth['linear']:.1f}", "",
            f"{growth['run']:.1f}", *[""] * 5,
        )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))

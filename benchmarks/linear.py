"""What a linear model costs, as multiples of one forward dynamics evaluation of the same machine.

Everything is measured in one run, in blocks that take turns, and what counts is the median over the blocks: the
machine is shared, and times drift.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol import affine_approximation, plants
from cmbcontrol.linear.reduced import reduced_model

from . import inside
from .rivals import common, with_pinocchio

Array = NDArray[np.float64]

BLOCK_S, BLOCKS = 2e-3, 41
TITLE = (
    "Linear model in independent coordinates at a state with velocity: ratio = A and B over one forward dynamics, both "
    "compiled; of 2N = over central differences of all N = 2 nv states, of 4 dof = of the independent ones (without "
    "closing the loops); then from Python, in calls of forward_dynamics; Pinocchio in joint coordinates"
)
COLUMNS = (
    "machine", "nv", "rows", "dof", "forward us", "A, B us", "ratio", "of 2N", "of 4 dof",
    "from Python us", "reduced_model", "affine_appr.", "linearize", "Pinocchio us", "its derivatives",
)  # fmt: skip


class Case(NamedTuple):
    """A machine at a state with velocity, and at an equilibrium."""

    name: str
    plant: cmb.Mechanism
    q: Array
    v: Array
    u: Array
    point: cmb.OperatingPoint
    machine: common.Machine | None  # as the rivals know it


def cases() -> Iterable[Case]:
    """Yield the machines."""
    for name, machine in (("five-bar", common.FIVE_BAR), ("loader", None), ("stewart", None)):
        plant, q, _ = plants.catalogue[name].start()
        yield _case(name, plant, q, cmb.trim(plant, q), machine)
    for n in (2, 10, 40):
        plant = plants.n_four_bar(n)
        leaning, hanging = (common.four_bar_state(n, angle, 0.0)[0] for angle in (np.pi / 3, -np.pi / 2))
        yield _case(f"n-four-bar N={n}", plant, leaning, cmb.trim(plant, hanging, u=0.0), (common.FOUR_BAR, n))


def _case(name: str, plant: cmb.Mechanism, q: Array, point: cmb.OperatingPoint, machine: common.Machine | None) -> Case:
    """Moving as the loops allow of random joint rates, under random efforts."""
    rng = np.random.default_rng(0)
    v = plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv))
    return Case(name, plant, q, v, rng.uniform(-9.0, 9.0, plant.nu), point, machine)


def coordinates(plant: cmb.Mechanism, q: Array, v: Array) -> Array:
    """R (dof, nv): velocity coordinates that are independent at the state, best conditioned greedily."""
    basis = plant.terms(q, v).Z.copy()
    R = np.zeros(basis.shape[::-1])
    for row in R:
        k = int(np.argmax(np.linalg.norm(basis, axis=1)))
        row[k] = 1.0
        direction = basis[k] / np.linalg.norm(basis[k])
        basis -= np.outer(basis @ direction, direction)
    return R


# -- measuring ---------------------------------------------------------------------------------------------------


def medians(calls: dict[str, Callable[[int], Any]]) -> dict[str, list[float]]:
    """Times of one call in microseconds, a list over blocks; a call takes the number of repetitions."""
    sizes = {}
    for name, call in calls.items():
        call(1)
        begin = common.clock()
        call(3)
        sizes[name] = max(1, round(3.0 * BLOCK_S / (common.clock() - begin)))
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(BLOCKS):
        for name, call in calls.items():
            begin = common.clock()
            call(sizes[name])
            found[name].append(1e6 * (common.clock() - begin) / sizes[name])
    return found


def ratio(times: dict[str, list[float]], of: str, to: str) -> float:
    """Median over the blocks of the ratio of two calls that were timed side by side."""
    return statistics.median(a / b for a, b in zip(times[of], times[to], strict=True))


def repeated(call: Callable[[], Any]) -> Callable[[int], None]:
    """A call from Python, as many times as asked for."""

    def repeat(times: int) -> None:
        for _ in range(times):
            call()

    return repeat


def calls(case: Case) -> dict[str, Callable[[int], Any]]:
    """Everything that is timed on one machine."""
    plant, q, v, u, R = case.plant, case.q, case.v, case.u, coordinates(case.plant, case.q, case.v)
    moving = cmb.OperatingPoint.at(plant, q, u, v)
    found = {
        "forward": inside.forward(plant, q[None], v[None], u),
        "linear": inside.linear(plant, q, v, u, R),
        "forward_dynamics": repeated(partial(cmb.forward_dynamics, plant, q, v, u)),
        "reduced_model": repeated(partial(reduced_model, plant, q, v, u, R)),
        "affine_approximation": repeated(partial(affine_approximation, plant, moving, coordinates=R)),
        "linearize": repeated(partial(cmb.linearize, plant, case.point)),
    }
    if case.machine is not None and with_pinocchio.available():
        dynamics, slopes = with_pinocchio.derivatives(case.machine)
        found |= {"pinocchio": repeated(dynamics), "pinocchio derivatives": repeated(slopes)}
    return found


def rows() -> Iterable[Sequence[str]]:
    """Yield rows of the table."""
    for case in cases():
        times = medians(calls(case))
        here = {name: statistics.median(found) for name, found in times.items()}
        nv, dof = case.plant.nv, len(coordinates(case.plant, case.q, case.v))
        cost = ratio(times, "linear", "forward")
        from_python = [
            f"{ratio(times, name, 'forward_dynamics'):.1f}"
            for name in ("reduced_model", "affine_approximation", "linearize")
        ]
        theirs = ["", ""]
        if "pinocchio" in here:
            theirs = [f"{here['pinocchio']:.1f}", f"{ratio(times, 'pinocchio derivatives', 'pinocchio'):.1f}"]
        yield (
            case.name, str(nv), str(len(case.plant.row_names)), str(dof), f"{here['forward']:.2f}",
            f"{here['linear']:.2f}", f"{cost:.2f}", f"1/{4 * nv / cost:.0f}", f"1/{4 * dof / cost:.1f}",
            f"{here['forward_dynamics']:.1f}", *from_python, *theirs,
        )  # fmt: skip

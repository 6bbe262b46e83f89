"""Print times and accuracies of all tools that are installed, and their ratios to this package.

Everything is measured in one run on one machine; times are what the process computes, the shortest
of several passes, since shared machines are noisy. The ratios are what to compare.
"""

from __future__ import annotations

import argparse
import sys
import timeit
from collections.abc import Iterable, Sequence
from types import ModuleType

from rich.console import Console

from . import (
    c_code,
    cluster,
    compleib,
    contacts,
    control,
    laws,
    linear,
    linear_studies,
    ours,
    robust_tuning,
    runs,
    sizes,
    study,
)
from .rivals import common
from .rivals.common import FIVE_BAR, FOUR_BAR, Evaluation, Machine
from .table import show

TABLES = (
    "calls",
    "runs",
    "goals",
    "linear",
    "control",
    "laws",
    "sizes",
    "studies",
    "linear-studies",
    "cluster",
    "c",
    "contacts",
    "robust-tuning",
    "compleib",
)
MACHINES: tuple[Machine, ...] = (FIVE_BAR, (FOUR_BAR, 2), (FOUR_BAR, 10), (FOUR_BAR, 40))
GOALS: tuple[tuple[Machine, str, float, float, float], ...] = (
    (FIVE_BAR, "regular", 1.0, 1e-8, 1e-6),
    (FIVE_BAR, "regular", 5.0, 1e-8, 1e-6),
    (FIVE_BAR, "second", 1.0, 1e-6, 1e-3),
    ((FOUR_BAR, 2), "upright", 10.0, 1e-6, 1e-3),
)


def tools() -> dict[str, ModuleType]:
    """Return this package and the rivals that are installed."""
    return {"cmbcontrol": ours, **common.rivals()}


def call_time(call: Evaluation) -> float:
    """Return the time of one call in microseconds, the best of five."""
    timer = timeit.Timer(call, timer=common.clock)
    number, _ = timer.autorange()
    number = max(1, number // 2)
    return 1e6 * min(timer.repeat(5, number)) / number


def calls() -> Iterable[Sequence[str]]:
    """Yield rows on one constrained forward dynamics from Python."""
    for machine in MACHINES:
        exact = common.reference_acceleration(machine)
        bound = {tool: module.forward_dynamics(machine) for tool, module in tools().items()}
        times = {tool: min(call_time(call) for _ in range(2)) for tool, call in bound.items()}
        for tool, call in bound.items():
            off = abs(call.acceleration() - exact).max()
            ratio = times[tool] / times["cmbcontrol"]
            yield common.name(machine), tool, f"{times[tool]:.2f}", f"{ratio:.2f}", f"{off:.1e}"
        yield common.name(machine), "  ours in a compiled loop", f"{ours.inside_loop(machine):.2f}", "", ""


def goals() -> Iterable[Sequence[str]]:
    """Yield rows on the cheapest settings that reach a goal of accuracy."""
    for machine, start, t_end, gap, drift in GOALS:
        wall = None
        for tool, module in tools().items():
            found = common.reach(module, machine, start, t_end, gap, drift)
            head = common.name(machine), f"{start} {t_end:g} s", f"{gap:.0e} m, {drift:.0e} J", tool
            if found is None:
                yield *head, "not reached", *([""] * 9)
                continue
            wall = found[1].wall_s if wall is None else wall
            yield *head, " ".join(f"{k}={v:g}" for k, v in found[0].items()), *runs.row(found[1], wall)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--width", type=int, default=200, help="columns of the output")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    chosen = parser.parse_args()
    console = Console(file=sys.stdout, width=chosen.width)
    for tool, module in tools().items():
        console.print(f"[bold]{tool}[/bold] {module.version()}")
        for item, why in module.SETTINGS.items():
            console.print(f"  {item}: {why}", style="dim")
    if chosen.only in (None, "calls"):
        title = "One constrained forward dynamics from Python"
        show(console, title, ("machine", "tool", "us", "ratio to ours", "deviation"), calls())
    if chosen.only in (None, "runs"):
        show(console, runs.COST_TITLE, runs.COST_COLUMNS, runs.costs())
        show(console, runs.LAW_TITLE, runs.LAW_COLUMNS, runs.laws())
        show(console, runs.SIDE_TITLE, runs.SIDE_COLUMNS, runs.side_by_side(tools()))
    if chosen.only in (None, "goals"):
        columns = ("machine", "start", "goal", "tool", "settings", *runs.MEASURES)
        show(console, "Cheapest settings that reach a goal", columns, goals())
    if chosen.only in (None, "linear"):
        show(console, linear.TITLE, linear.COLUMNS, linear.rows())
    modules = control, laws, sizes, study, linear_studies, cluster, c_code, contacts, robust_tuning, compleib
    for name, module in zip(("control", "laws", *TABLES[-8:]), modules, strict=True):
        if chosen.only in (None, name):
            show(console, module.TITLE, module.COLUMNS, module.rows())


if __name__ == "__main__":
    main()

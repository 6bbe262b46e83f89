"""Print what the other tools cost and how accurate they are on the benchmark machines."""

from __future__ import annotations

import math
import textwrap
import timeit
from collections.abc import Iterable, Sequence

from . import common
from .common import FIVE_BAR, FOUR_BAR, Evaluation, Machine, Run

MACHINES: tuple[Machine, ...] = (FIVE_BAR, (FOUR_BAR, 2), (FOUR_BAR, 10), (FOUR_BAR, 40))
RUNS: tuple[tuple[Machine, str, float], ...] = (
    (FIVE_BAR, "singular", 1.0),
    (FIVE_BAR, "second", 1.0),
    (FIVE_BAR, "second", 2.0),
    (FIVE_BAR, "regular", 1.0),
    ((FOUR_BAR, 2), "upright", 10.0),
    ((FOUR_BAR, 10), "upright", 10.0),
    ((FOUR_BAR, 40), "upright", 10.0),
)
GOALS: tuple[tuple[Machine, str, float, float, float], ...] = (
    (FIVE_BAR, "regular", 1.0, 1e-8, 1e-6),
    (FIVE_BAR, "regular", 5.0, 1e-8, 1e-6),
    (FIVE_BAR, "second", 1.0, 1e-6, 1e-3),
    ((FOUR_BAR, 2), "upright", 10.0, 1e-6, 1e-3),
    ((FOUR_BAR, 10), "upright", 10.0, 1e-6, 1e-2),
)


def main() -> None:
    """Measure everything and print it as plain tables."""
    print("Rivals and how they are set up")
    for tool, module in common.rivals().items():
        print(f"\n{tool} {module.version()}")
        for item, why in module.SETTINGS.items():
            print(textwrap.fill(f"{item}: {why}", 110, initial_indent="  ", subsequent_indent="    "))
    table("One constrained forward dynamics from Python", ("machine", "tool", "us", "deviation"), calls())
    head = ("machine", "start", "t_end s")
    table("Simulations with the default settings of each start", (*head, "tool", *Run._fields), runs())
    columns = (*head, "goal", "tool", "settings", *Run._fields)
    table("Cheapest settings of the ladder that reach a goal", columns, goals())


def calls() -> Iterable[Sequence[object]]:
    """Yield the time of one forward dynamics and its deviation from the reference acceleration.

    All calls are timed in three passes, of which the shortest counts: on a shared machine others take their
    share for seconds at a time.
    """
    tools = common.rivals().items()
    cases = [(machine, tool, module.forward_dynamics(machine)) for machine in MACHINES for tool, module in tools]
    passes = [[call_time(call) for _, _, call in cases] for _ in range(3)]
    deviations = {machine: common.agreement(machine) for machine in MACHINES}
    for (machine, tool, _), *times in zip(cases, *passes, strict=True):
        yield common.name(machine), tool, f"{min(times):.2f}", deviations[machine][tool]


def call_time(call: Evaluation) -> float:
    """Return the time of one call in microseconds, the best of seven repetitions of about 0.1 s."""
    timer = timeit.Timer(call)
    number, _ = timer.autorange()
    number = max(1, number // 2)
    return 1e6 * min(timer.repeat(7, number)) / number


def runs() -> Iterable[Sequence[object]]:
    """Yield the simulations with default settings."""
    for machine, start, t_end in RUNS:
        for tool, module in common.rivals().items():
            yield common.name(machine), start, t_end, tool, *module.simulate(machine, start, t_end)


def goals() -> Iterable[Sequence[object]]:
    """Yield the cheapest simulations that reach a closure and an energy goal."""
    for machine, start, t_end, gap, drift in GOALS:
        for tool, module in common.rivals().items():
            found = common.reach(module, machine, start, t_end, gap, drift)
            head = common.name(machine), start, t_end, f"{gap:.0e} m {drift:.0e} J", tool
            if found is None:
                yield *head, "not reached", *([""] * len(Run._fields))
            else:
                yield *head, " ".join(f"{k}={v:g}" for k, v in found[0].items()), *found[1]


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with columns as wide as their longest entry."""
    cells = [list(columns), *([text(entry) for entry in row] for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    print(f"\n{title}\n")
    for row in cells:
        print("  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip())


def text(entry: object) -> str:
    """Format one entry; small and large numbers in scientific notation."""
    if not isinstance(entry, float):
        return str(entry)
    if math.isnan(entry):
        return "-"
    return f"{entry:.4g}" if entry == 0 or 1e-3 <= abs(entry) < 1e4 else f"{entry:.1e}"


if __name__ == "__main__":
    main()

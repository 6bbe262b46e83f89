"""What runs cost: evaluations in the time loop, laws in Python, steps of one's own, other tools side by side.

The yardstick is one forward dynamics of the same machine at the states of the run itself, in a compiled loop, as often
as the run evaluates it. Both are timed in turns, over times of the same order, and what counts is the shortest of
several passes. Times are those of `rivals.common.clock`: wall times of an idle computer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._jit import kernel
from cmbcontrol.controllers import (
    Delay,
    DriveFriction,
    Encoder,
    Evaluation,
    FilteredDifference,
    ProjectedInverseDynamics,
    Saturation,
)
from cmbcontrol.kernels import time_loop
from cmbcontrol.sim.time_loop import TimeLoop

from . import inside
from .rivals import common
from .rivals.common import FIVE_BAR, FOUR_BAR, Machine, Run

Array = NDArray[np.float64]

PASSES = 15
GOAL = 1.5  # an evaluation in a run, in forward dynamics in a loop
HELD_GOAL, LAW_GOAL = 4.0, 30e-6  # a run under a law in continuous time: runs under held efforts, and s a call
SAMPLED_GOAL, STEP_GOAL = 0.25, 10e-6  # s: 5 s of a sampled law; a step, beyond what is compiled
T_END, SAMPLE = 5.0, 1e-3  # of the runs under laws, s
BLOCK, TRIES = 400, 10_000  # steps between two clearings of the record; tries for all of them, by far enough

COST_TITLE = (
    "An evaluation in a run without efforts, over one forward dynamics at the states of the run in a compiled loop: "
    f"the time loop alone, and the whole call of simulate(); goal {GOAL:g}"
)
COST_COLUMNS = ("machine", "evaluations", "forward us", "loop s", "loop", "whole call s", "whole call")

LAW_TITLE = (
    f"{T_END:g} s of projected inverse dynamics on the five-bar, a law in Python, whole call of simulate(); and the "
    f"efforts of the law at {1 / SAMPLE:g} Hz again, given to a Stepper: ratio = over one forward dynamics in a loop"
)
LAW_COLUMNS = (
    "run", "evaluations", "calls of the law", "us a call", "s", "goal s", "us an evaluation", "ratio",
    "us a sample or step", "goal us",
)  # fmt: skip

SIDE_TITLE = "Simulations with each tool's settings"
MEASURES = ("s", "ratio", "closure m", "energy J", "mirror rad", "error m", "evaluations", "branch", "note")
SIDE_COLUMNS = ("machine", "start", "tool", *MEASURES)
STARTS: tuple[tuple[Machine, str, float], ...] = (
    (FIVE_BAR, "singular", 5.0),
    (FIVE_BAR, "second", 5.0),
    (FIVE_BAR, "regular", 5.0),
    ((FOUR_BAR, 2), "upright", 10.0),
    ((FOUR_BAR, 10), "upright", 10.0),
    ((FOUR_BAR, 40), "upright", 10.0),
)


# -- measuring -----------------------------------------------------------------------------------------------------


@kernel(allocates=True)
def steps_along(model, tables, opt, s, w, r, U, stops, tries):
    """The compiled work of a `Stepper`: to one stop after the other, under efforts that are held in between."""
    reason = time_loop.COMPLETED
    for n in range(len(stops)):
        r.command[:] = U[n]
        r.memory.sample[0] = r.T[r.memory.last[0]]
        reason = time_loop.advance(model, tables, opt, s, w, r, stops[n], tries)
        if reason != time_loop.COMPLETED:
            break
    return reason


def clocked(call: Callable[[], Any]) -> tuple[float, Any]:
    """Time of a call, s, and what it returns."""
    begin = common.clock()
    result = call()
    return common.clock() - begin, result


@contextmanager
def time_loop_clocked() -> Iterator[list[float]]:
    """Times of the time loop alone: a number for each part of a run."""
    original, walls = TimeLoop.go, []

    def go(self: TimeLoop, *arguments: Any) -> None:
        walls.append(clocked(partial(original, self, *arguments))[0])

    TimeLoop.go = go
    try:
        yield walls
    finally:
        TimeLoop.go = original


def shortest(*calls: Callable[[], float]) -> list[float]:
    """What each of several calls measures, the least of passes in which they take turns."""
    return list(np.min([[call() for call in calls] for _ in range(PASSES)], axis=0))


def forward(run: cmb.Simulation, plant: cmb.Mechanism) -> Callable[[], float]:
    """Time of one forward dynamics at the states of a run, s."""
    call = inside.forward(plant, run.q.values.copy(), run.v.values.copy(), np.zeros(plant.nu))
    times = int(run.data.attrs["evaluations"])
    call(1)
    return lambda: clocked(partial(call, times))[0] / times


# -- an evaluation in a run ----------------------------------------------------------------------------------------


def machines() -> Iterable[tuple[str, cmb.Mechanism, Array, Array, float]]:
    """Yield name, plant, start and duration."""
    plant = plants.five_bar()
    for start in common.STARTS[FIVE_BAR]:
        q, v = common.initial_state(FIVE_BAR, start)
        yield f"five-bar, {start}", plant, plant.close(q), v, 5.0
    yield "five-bar, 1 ms", plant, plant.close(q), v, 1e-3  # what a call costs that does next to nothing
    for name, options in (("loader", {}), ("stewart", {}), ("n-four-bar", {"n": 10}), ("n-four-bar", {"n": 40})):
        yield (
            ", ".join([name, *(f"N = {n}" for n in options.values())]),
            *plants.catalogue[name].start(**options),
            2.0,
        )


def costs() -> Iterable[Sequence[str]]:
    """Yield rows on evaluations in runs."""
    for name, plant, q, v, t_end in machines():
        run = partial(cmb.simulate, plant, None, q, v, t_end=t_end, limits="ignore")
        done = run()
        alone: list[float] = []

        def whole(run: Callable = run, alone: list[float] = alone) -> float:
            with time_loop_clocked() as walls:
                wall, _ = clocked(run)
            alone.append(sum(walls))
            return wall

        one, wall = shortest(forward(done, plant), whole)
        evaluations = int(done.data.attrs["evaluations"])
        within = min(alone)
        yield (
            name, str(evaluations), f"{1e6 * one:.2f}", f"{within:.4f}", f"{within / evaluations / one:.2f}",
            f"{wall:.4f}", f"{wall / evaluations / one:.2f}",
        )  # fmt: skip


# -- laws ----------------------------------------------------------------------------------------------------------


class Clocked(ProjectedInverseDynamics):
    """The law, which keeps the time of each of its calls."""

    def begin(self) -> Clocked:
        """No calls so far."""
        self.walls: list[float] = []
        return self

    def evaluate(self, t: float, terms: Any, state: Array) -> Evaluation:
        """Efforts."""
        wall, found = clocked(partial(super().evaluate, t, terms, state))
        self.walls.append(wall)
        return found


def motion(law: type[ProjectedInverseDynamics], plant: cmb.Mechanism, period: float | None) -> ProjectedInverseDynamics:
    """The law of all runs."""
    path = cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    return law(plant, ("left", "right"), path, bandwidth=8.0, period=period)


def continuous(law: ProjectedInverseDynamics) -> Any:
    """The law alone."""
    return law


def around(law: ProjectedInverseDynamics) -> Any:
    """The law behind an encoder, with motors of limited torque and with friction."""
    return (
        Encoder(bits=16)
        | FilteredDifference(cutoff_hz=30.0)
        | law
        | Saturation(60.0)
        | Delay(1e-3)
        | DriveFriction(2.0, 0.5)
    )


def laws() -> Iterable[Sequence[str]]:
    """Yield rows on runs under laws."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    run = partial(cmb.simulate, plant, q0=q, t_end=T_END)
    held = partial(run, np.zeros(plant.nu), limits="ignore")
    done = held()
    one, wall = shortest(forward(done, plant), lambda: clocked(held)[0])
    evaluation = wall / int(done.data.attrs["evaluations"])
    yield _row("held efforts of zero", done, [], wall, None, one, None)
    for name, period, chain in (
        ("law in continuous time", None, continuous),
        (f"law at {1 / SAMPLE:g} Hz", SAMPLE, continuous),
        ("law at 200 Hz, encoder, filter, delay, saturation, drive friction", 5e-3, around),
    ):
        under = partial(run, chain(motion(ProjectedInverseDynamics, plant, period)))
        watched = motion(Clocked, plant, period).begin()
        done = run(chain(watched))
        one, wall = shortest(forward(done, plant), lambda under=under: clocked(under)[0])
        goal, evaluations = SAMPLED_GOAL, int(done.data.attrs["evaluations"])
        if period is None:
            goal = HELD_GOAL * evaluation * evaluations + LAW_GOAL * len(watched.walls)
        yield _row(name, done, watched.walls, wall, goal, one, period)
    yield from steps(plant, q)


def _row(
    name: str,
    run: cmb.Simulation,
    calls: list[float],
    wall: float,
    goal: float | None,
    one: float,
    period: float | None,
) -> tuple[str, ...]:
    """Format a run."""
    evaluations = int(run.data.attrs["evaluations"])
    each = wall / evaluations
    return (
        name, str(evaluations), str(len(calls)), f"{1e6 * float(np.median(calls)):.1f}" if calls else "", f"{wall:.3f}",
        "" if goal is None else f"{goal:.3f}", f"{1e6 * each:.1f}", f"{each / one:.2f}",
        "" if period is None else f"{1e6 * wall * period / T_END:.1f}", "",
    )  # fmt: skip


def steps(plant: cmb.Mechanism, q: Array) -> Iterable[Sequence[str]]:
    """Yield rows on steps of one's own, under the efforts that the law has given at its samples.

    What is compiled is timed apart, with the same stops: once the time loop is called from Python for each step and
    nothing else is done, once from a compiled loop, so that not even that call is in it. What a step takes more than
    the latter is overhead: checks, the call with its some ninety arguments, the state, room in the record. In both, the
    record is cleared in between, which is not in the times.
    """
    stops = SAMPLE * np.arange(1, round(T_END / SAMPLE) + 1)
    law = motion(ProjectedInverseDynamics, plant, SAMPLE)
    run = cmb.simulate(plant, law, q, t_end=T_END, output_times=np.concatenate([[0.0], stops]))
    U = run.command.values[:-1].copy()
    stepper, other = (cmb.Stepper(plant, q, t_end=T_END) for _ in range(2))

    def stepped() -> None:
        for u in U:
            stepper.step(u, SAMPLE)

    def whole() -> float:
        stepper.reset()
        return clocked(stepped)[0]

    def called(*arguments: Any) -> int:
        *given, U, stops, tries = arguments
        r, advance, reason = given[-1], other._loop._advance, time_loop.COMPLETED
        for n in range(len(stops)):
            r.command[:] = U[n]
            r.memory.sample[0] = r.T[r.memory.last[0]]
            reason = reason or advance(*given, stops[n], tries)
        return reason

    def alone(way: Callable[..., int]) -> float:
        other.reset()
        other.step(U[0], SAMPLE)  # which finds the first step of the method
        walls, inner = [], other._loop
        for first in range(1, len(U), BLOCK):
            part = slice(first, first + BLOCK)
            wall, reason = clocked(partial(way, *inner._arguments, U[part], stops[part], TRIES))
            if reason != time_loop.COMPLETED:
                raise RuntimeError(f"the steps end between {stops[first]:g} and {stops[part][-1]:g} s, reason {reason}")
            inner.empty()
            walls.append(wall)
        return sum(walls) * len(U) / (len(U) - 1)

    alone(steps_along)
    one, wall, from_python, compiled = shortest(
        forward(run, plant), whole, partial(alone, called), partial(alone, steps_along)
    )
    same = all(
        np.array_equal(x, run.q.values[-1]) for x in (stepper.state.q, other._loop.steps.X[other._loop.last, :4])
    )
    evaluations = stepper._loop.evaluations
    for name, spent, goal in (
        (f"Stepper at {1 / SAMPLE:g} Hz" + (", the same last state" if same else ", ANOTHER LAST STATE"), wall, None),
        ("  the time loop, called from Python for each step", from_python, None),
        ("  the time loop, called from a compiled loop", compiled, None),
        ("  overhead: the first less the last", wall - compiled, STEP_GOAL),
    ):
        each = spent / evaluations
        yield (
            name, str(evaluations), "", "", f"{spent:.3f}", "", f"{1e6 * each:.1f}", f"{each / one:.2f}",
            f"{1e6 * spent / len(U):.1f}", "" if goal is None else f"{1e6 * goal:g}",
        )  # fmt: skip


# -- side by side --------------------------------------------------------------------------------------------------


def row(run: Run, wall: float) -> tuple[str, ...]:
    """Format a run of any tool; `wall` is the time that ours took."""
    lost = "lost" if common.lost(run) else "ok"
    return (
        f"{run.wall_s:.4f}", f"{run.wall_s / wall:.1f}", f"{run.closure_m:.1e}", f"{run.energy_J:.1e}",
        f"{run.mirror_rad:.1e}", f"{run.error_m:.1e}", str(run.evaluations), lost, run.note,
    )  # fmt: skip


def side_by_side(tools: dict[str, ModuleType]) -> Iterable[Sequence[str]]:
    """Yield rows on simulations with each tool's default settings; this package is the first."""
    for machine, start, t_end in STARTS:
        wall = None
        for tool, module in tools.items():
            run = module.simulate(machine, start, t_end)
            wall = run.wall_s if wall is None else wall
            yield common.name(machine), f"{start} {t_end:g} s", tool, *row(run, wall)

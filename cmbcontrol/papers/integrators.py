"""All integrators on three machines: a regular one, one through singular configurations, a stiff one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plants
from .._progress import Progress
from .iftomm import four_bar_problem, governor_problem
from .measure import Case, Measured, Problem, measure_all, work_precision
from .methods import LOCAL_METHODS, METHODS, MULTISTEP
from .report import Cell, Report, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["five_bar_problem", "integrators"]

TOLERANCE = 1e-8
ENOUGH = 20_000  # steps; what takes more crawls
STEPS = {"five-bar": 1e-3, "four-bars": 1e-3, "governor": 2e-4}  # of rk4, s
SHOWN = (
    "dop853",
    "verner65",
    "radau",
    "rodas5p",
    "scipy-rk45",
    "scipy-radau",
    "scipy-lsoda",
    "vode-adams",
    "vode-gear",
)
NOTES = {
    "five-bar": "Errors of all four joint angles, against a run at tolerance 1e-13.",
    "four-bars": "Errors against the exact motion. One of order 1 m belongs to a run that left the branch with level "
    "couplers at a flat configuration, where the machine has three degrees of freedom. Some stop there: their steps "
    "shrink without end.",
    "governor": "Errors of the slider, against a run at tolerance 1e-12. There are no loops, so nothing to stabilise.",
}
IMPLICIT = (
    "sdirk4",
    "rodas4",
    "rodas5p",
    "radau",
    "scipy-radau",
    "scipy-bdf",
)  # of low order: not for the smallest tolerances


def five_bar_problem(t_end: float) -> Problem:
    """The five-bar falling from a regular configuration, links 1 and 2 at -70 and -10 degrees, right elbow outside.

    Its reference is a run at tolerance 1e-13.
    """
    plant = plants.five_bar()
    left = {"left": np.radians(-70.0), "elbow_left": np.radians(60.0)}
    q0 = plant.assemble(guess=left | {"right": 0.3, "elbow_right": -1.96}, **left)
    times = np.linspace(0.0, t_end, round(50 * t_end) + 1)
    bare = Problem(plant, q0, np.zeros(4), t_end, times, lambda run: run.q.values, np.zeros((times.size, 4)), "rad")
    reference = bare.simulate(rtol=1e-13, atol=1e-13).q.values
    return Problem(plant, q0, np.zeros(4), t_end, times, lambda run: run.q.values, reference, "rad")


def stabilisations(method: str, loops: bool) -> tuple[str, ...]:
    """Stabilisations that a method permits and is shown with; the first one is taken for the diagrams."""
    if method in LOCAL_METHODS or not loops:
        return ("none",) if method in MULTISTEP else ("projection",)
    return ("baumgarte", "none") if method in MULTISTEP else ("projection",)


def integrators(quick: bool = False, progress: Progress = False) -> Report:
    """Every integrator of `simulate` through the same call: cost, error, closure and energy on three machines.

    Parameters
    ----------
    quick : bool
        Short runs, and two tolerances in the diagram.
    progress : bool or callable

    Returns
    -------
    report : Report
        ``data``: for each machine, by method and stabilisation (``"vode-gear, none"``), ``"error"``, ``"evaluations"``,
        ``"open"`` (m), ``"drift"`` (J).
    """
    machines = {
        "five-bar": five_bar_problem(0.5 if quick else 2.0),
        "four-bars": four_bar_problem(2, 1.5 if quick else 5.0),
        "governor": governor_problem(0.05 if quick else 1.0),
    }
    tolerances = (1e-4, 1e-6) if quick else (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
    rows: dict[str, list[Case]] = {name: _cases(name, problem) for name, problem in machines.items()}
    swept: dict[str, list[Case]] = {
        name: [
            (problem, method, _options(name, problem, method, tol))
            for method in SHOWN
            for tol in tolerances
            if tol >= (1e-8 if method in IMPLICIT else 0.0)
        ]
        for name, problem in machines.items()
    }
    runs = iter(measure_all([c for part in (rows, swept) for cases in part.values() for c in cases], progress, "runs"))
    measured = {name: [next(runs) for _ in cases] for name, cases in rows.items()}
    diagram = {name: [next(runs) for _ in cases] for name, cases in swept.items()}
    titles = {
        "five-bar": f"Five-bar from a regular configuration, {machines['five-bar'].t_end:g} s",
        "four-bars": f"IFToMM A02, N = 2, through flat configurations, {machines['four-bars'].t_end:g} s",
        "governor": f"IFToMM A05, stiff, {machines['governor'].t_end:g} s",
    }

    def precision() -> Figure:
        names = ("five-bar (rad)", "A02, N = 2, flat configurations (m)", "A05, stiff (m)")
        return work_precision(dict(zip(names, diagram.values(), strict=True)), "largest error")

    return Report(
        "Integrators through one call",
        "the library itself; machines of Spencer (five-bar) and of the IFToMM library (A02, A05)",
        [_table(titles[name], found, NOTES[name]) for name, found in measured.items()],
        {"integrators-work-precision": precision},
        (
            f"All have the tolerance {TOLERANCE:g}, relative and absolute; rk4 has fixed steps of "
            + ", ".join(f"{1e3 * step:g} ms ({name})" for name, step in STEPS.items())
            + ".",
            "Multistep methods take no projection: they run with Baumgarte's terms (alpha = beta = 10 1/s) or none.",
            "dop853, verner65 and rk4 run compiled; the methods in local coordinates have compiled terms in a Python "
            "loop, those of scipy interpreted ones. Evaluations compare; wall times tell of the loop, too.",
            "Implicit methods of scipy take their Jacobian by differences; these evaluations are counted.",
        ),
        {name: _numbers(found) for name, found in measured.items()},
    )


def _cases(name: str, problem: Problem) -> list[Case]:
    """Cases of a table: one for each method and each stabilisation that it permits."""
    loops = bool(problem.plant.row_names)
    return [
        (problem, f"{method}, {kept}", _options(name, problem, method, TOLERANCE, kept))
        for method in METHODS
        if method != "auto"  # which is one of the others
        for kept in stabilisations(method, loops)
    ]


def _options(name: str, problem: Problem, method: str, tol: float, kept: str | None = None) -> dict[str, Any]:
    """Options of a run: method, tolerances, stabilisation and limit of steps."""
    kept = kept or stabilisations(method, bool(problem.plant.row_names))[0]
    return {"method": method, "rtol": tol, "atol": tol, "stabilisation": kept, "max_steps": ENOUGH} | (
        {"step": STEPS[name]} if method == "rk4" else {}
    )


def _table(title: str, runs: Sequence[Measured], note: str) -> ResultTable:
    default = runs[0].wall
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        label, outcome, *numbers, wall = run.cells
        method, kept = str(label).split(", ")
        rows.append((method, kept, outcome, *numbers, wall, wall / default))
    unit = runs[0].problem.unit
    return ResultTable(
        title,
        (
            *("method", "stabilisation", "outcome", f"largest error ({unit})", "energy drift (J)", "loops open (m)"),
            *("evaluations", "Jacobians", "steps", "wall (s)", "wall over dop853's"),
        ),
        rows,
        note,
    )


def _numbers(runs: Sequence[Measured]) -> dict[str, dict[str, float]]:
    return {
        "error": {run.label: run.largest for run in runs},
        "evaluations": {run.label: run.count("evaluations") for run in runs},
        "open": {run.label: run.run.max_drift for run in runs},
        "drift": {run.label: run.run.max_energy_error for run in runs},
    }

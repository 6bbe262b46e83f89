"""Runs measured against a reference, and tables and figures of such runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._progress import Progress, Reporter
from ..errors import SimulationError, Status
from ..model.plant import Plant
from ..sim.result import Simulation
from ..sim.simulate import simulate
from .methods import settings
from .report import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Measured", "Problem", "columns", "curve", "measure_all", "published", "sweep", "work_precision"]

Array = NDArray[np.float64]
DATA = Path(__file__).parent / "data"


def published(name: str) -> dict[str, Any]:
    """Published values, from ``papers/data/NAME.json``."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def curve(file: str) -> Array:
    """Published curve, from ``papers/data``: a row for each time, the time first."""
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return np.array([[float(x) for x in line.split(",")] for line in lines if line[:1].isdigit()])


@dataclass(frozen=True)
class Problem:
    """A simulation problem whose solution is known.

    Attributes
    ----------
    plant : Plant
    q0, v0 : ndarray
    t_end : float
        End of the run, s.
    times : ndarray
        Times at which the run is compared with the reference, s.
    observe : callable
        Simulation -> (times, k) observed coordinates.
    reference : ndarray, shape (times, k)
    unit : str
        Unit of the observed coordinates.
    effort : ndarray or None
        Constant motor efforts.
    """

    plant: Plant
    q0: Array
    v0: Array
    t_end: float
    times: Array
    observe: Callable[[Simulation], Array]
    reference: Array
    unit: str = "m"
    effort: Array | None = None

    def simulate(self, **options: Any) -> Simulation:
        """Simulate the problem, with options of `settings`."""
        options = {"t_end": self.t_end, "output_times": self.times} | options
        return simulate(self.plant, self.effort, self.q0, self.v0, **settings(**options))

    def measure(self, label: str, **options: Any) -> Measured:
        """Simulate the problem, and compare with the reference; a run that stops early is measured up to there."""
        try:
            self._warm_up(options)
            run, outcome = self.simulate(**options), "finished"
        except SimulationError as stopped:
            run = stopped.partial
            cause = Status(run.status).name.lower().replace("_", " ")
            outcome = f"stops at {run.time[-1]:.3g} s: {cause}"
        reached = min(len(run.time), len(self.times)) - (outcome != "finished")
        error = np.abs(self.observe(run)[:reached] - self.reference[:reached])
        return Measured(label, self, run, error, outcome, options)

    def _warm_up(self, options: dict[str, Any]) -> None:
        """Simulate a first moment of the run, so that no wall time contains compilation."""
        short = 1e-3 * self.t_end
        self.simulate(**options | {"t_end": short, "output_times": [short]})


@dataclass(frozen=True)
class Measured:
    """A run compared with its reference.

    Attributes
    ----------
    label : str
    problem : Problem
    run : Simulation
        Run, as far as it came.
    error : ndarray, shape (times, k)
        Absolute error of the observed coordinates, as far as the run came.
    outcome : str
        ``"finished"``, or where it stopped.
    options : dict
        Options of `settings`.
    """

    label: str
    problem: Problem
    run: Simulation
    error: Array
    outcome: str
    options: dict[str, Any]

    @property
    def finished(self) -> bool:
        """Whether the run reached its end."""
        return self.outcome == "finished"

    @property
    def largest(self) -> float:
        """Largest error, at any time; NaN for a run that stopped."""
        return float(self.error.max()) if self.finished else float("nan")

    def count(self, what: str) -> int:
        """Count of ``evaluations``, ``steps``, ``rejected_steps``, ``jacobians`` or ``projections``; 0 for none."""
        return int(self.run.data.attrs.get(what, 0))

    @property
    def cost(self) -> int:
        """Cost of the run in evaluations; an exact Jacobian counts for three, as it takes as long."""
        return self.count("evaluations") + 3 * self.count("jacobians")

    @property
    def wall(self) -> float:
        """Wall time, s, output included."""
        return float(self.run.data.attrs["wall_time_s"])

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells of a row in a table with `columns`."""
        jacobians = self.count("jacobians")
        return (
            self.label,
            self.outcome,
            self.largest if self.finished else None,
            self.run.max_energy_error,
            self.run.max_drift,
            self.count("evaluations"),
            jacobians or None,
            self.count("steps"),
            self.wall,
        )


def columns(unit: str = "m") -> tuple[str, ...]:
    """Names of the columns in a table of runs."""
    return (
        "settings",
        "outcome",
        f"largest error ({unit})",
        "energy drift (J)",
        "loops open (m)",
        "evaluations",
        "Jacobians",
        "steps",
        "wall (s)",
    )


Case = tuple[Problem, str, dict[str, Any]]


def measure_all(cases: Iterable[Case], progress: Progress, title: str) -> list[Measured]:
    """Measure one case after the other, and report the progress."""
    cases, done = list(cases), []
    with Reporter(progress, title) as report:
        for i, (problem, label, options) in enumerate(cases, 1):
            run = problem.measure(label, **options)
            done.append(run)
            part = {"machine": problem.plant.name, "until (s)": problem.t_end}
            report.update(i / len(cases), part | dict(zip(columns(problem.unit), run.cells, strict=True)))
    return done


def sweep(problem: Problem, methods: Sequence[str], tolerances: Sequence[float], **options: Any) -> list[Case]:
    """Cases for a work-precision diagram: each method with each tolerance."""
    return [
        (problem, method, dict(method=method, rtol=tol, atol=tol, **options))
        for method in methods
        for tol in tolerances
    ]


def work_precision(groups: Mapping[str, Sequence[Measured]], label: str) -> Figure:
    """Largest error against cost, both logarithmic: a curve for each label, a point for each tolerance.

    Parameters
    ----------
    groups : mapping of title to runs
        A panel each, side by side; a label has the same colour in all. Runs that did not reach their end are left out.
    label : str
        Label of the error, with its unit.
    """
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    from ..plot.figure import new_figure
    from ..plot.style import INK, LABEL, beside, dress, styles

    names = list(dict.fromkeys(run.label for runs in groups.values() for run in runs))
    look = dict(zip(names, styles(len(names)), strict=True))
    figure = new_figure(7.2 if len(groups) == 1 else 3.3 * len(groups) + 1.3, 3.4)
    axes = figure.subplots(1, len(groups), squeeze=False)[0]
    for ax, (title, runs) in zip(axes, groups.items(), strict=True):
        for name in names:
            points = [(run.cost, run.largest) for run in runs if run.label == name and run.finished]
            if points:
                ax.plot(
                    *np.array(sorted(points)).T, marker="o", markersize=3.2, linewidth=1.2, label=name, **look[name]
                )
        dress(ax, label if ax is axes[0] else "", log=True)
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("evaluations (a Jacobian counts for 3)", fontsize=LABEL, color=INK)
        ax.set_title(title, fontsize=LABEL, color=INK, loc="left")
        ax.grid(True, which="minor", axis="x", color="#F0F0F0", linewidth=0.4)
    beside(axes[-1], _missing(axes, names, look))
    return figure


def _missing(axes: Sequence[Any], names: Sequence[str], look: dict[str, Any]) -> list[Any]:
    """Legend entries of curves that the last panel does not show."""
    from matplotlib.lines import Line2D

    shown = set(axes[-1].get_legend_handles_labels()[1])
    anywhere = {text for ax in axes for text in ax.get_legend_handles_labels()[1]}
    return [
        Line2D([], [], marker="o", markersize=3.2, linewidth=1.2, label=name, **look[name])
        for name in names
        if name in anywhere - shown
    ]

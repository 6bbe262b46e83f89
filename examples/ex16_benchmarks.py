"""Four IFToMM benchmark problems at default settings: how far from published and exact solutions they end."""

from __future__ import annotations

import sys
from pathlib import Path

from cmbcontrol.papers import iftomm
from cmbcontrol.papers.measure import Measured


def measured() -> dict[str, Measured]:
    """A01, A02 with N = 2 and 10, and A04, 10 s each."""
    return {
        "A01, pendulum": iftomm.pendulum_problem(10.0).measure("default"),
        "A02, N = 2": iftomm.four_bar_problem(2, 10.0).measure("default"),
        "A02, N = 10": iftomm.four_bar_problem(10, 10.0).measure("default"),
        "A04, Bricard (published, six digits)": iftomm.bricard_problem().measure("default"),
    }


def figure(runs: dict[str, Measured]):
    """Errors of the observed coordinates over time."""
    from matplotlib.figure import Figure

    from cmbcontrol.plot.style import COLORS, beside, dress, time_axis

    drawn = Figure(figsize=(7.2, 3.0), dpi=150, layout="constrained")
    ax = drawn.subplots()
    for (name, run), color in zip(runs.items(), COLORS, strict=False):
        ax.plot(run.problem.times, run.error.max(axis=1).clip(1e-17), color=color, linewidth=1.0, label=name)
    dress(ax, "error of observed point (m)", log=True)
    time_axis((ax,), runs["A01, pendulum"].problem.times)
    beside(ax)
    return drawn


def main() -> dict[str, float]:
    """Errors, energy drift, and cost of all four."""
    results = {}
    for name, run in measured().items():
        results[f"{name}: largest error, m"] = run.largest
        results[f"{name}: energy drift, J"] = run.run.max_energy_error
        results[f"{name}: flat configurations passed"] = len(run.run.events())
        results[f"{name}: evaluations"] = run.count("evaluations")
    return results


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    if len(sys.argv) > 1:
        figure(measured()).savefig(Path(sys.argv[1]))

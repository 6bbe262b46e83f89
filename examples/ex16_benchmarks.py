"""Four IFToMM benchmark problems at default settings: how far from published and exact solutions they end."""

from __future__ import annotations

from functools import cache

from matplotlib.figure import Figure

from cmbcontrol import plot
from cmbcontrol.papers import iftomm
from cmbcontrol.papers.measure import Measured
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress, time_axis


@cache
def measured() -> dict[str, Measured]:
    """A01, A02 with N = 2 and 10, and A04, 10 s each."""
    return {
        "A01, pendulum": iftomm.pendulum_problem(10.0).measure("default"),
        "A02, N = 2": iftomm.four_bar_problem(2, 10.0).measure("default"),
        "A02, N = 10": iftomm.four_bar_problem(10, 10.0).measure("default"),
        "A04, Bricard (published, six digits)": iftomm.bricard_problem().measure("default"),
    }


def main() -> dict[str, float]:
    """Errors, energy drift, and cost of all four."""
    results = {}
    for name, run in measured().items():
        results[f"{name}: largest error, m"] = run.largest
        results[f"{name}: energy drift, J"] = run.run.max_energy_error
        results[f"{name}: flat configurations passed"] = len(run.run.events())
        results[f"{name}: evaluations"] = run.count("evaluations")
    return results


def figure() -> Figure:
    """The Bricard mechanism, and errors of the observed coordinates of all four over time."""
    bricard = measured()["A04, Bricard (published, six digits)"].run
    drawn = new_figure(7.2, 6.4)
    top, below = drawn.subfigures(2, 1, height_ratios=(1.5, 1.0))
    for i, t in enumerate((0.0, 2.0), 1):
        ax = top.add_subplot(1, 2, i, projection="3d")
        bricard.plant.plot(bricard.q.sel(time=t, method="nearest"), ax=ax)
        ax.set_title(f"A04, {t:g} s", fontsize=9, y=0.93)
    error = below.subplots()
    for (name, run), color in zip(measured().items(), COLORS, strict=False):
        error.plot(run.problem.times, run.error.max(axis=1).clip(1e-17), color=color, label=name)
    dress(error, "error of observed point (m)", log=True)
    time_axis([error], measured()["A01, pendulum"].problem.times)
    beside(error)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex16_benchmarks.png"))

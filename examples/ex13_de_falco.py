"""De Falco's overconstrained linkage: why a threshold for the rank fails, and what the default does instead.

Its 12 equations have rank 11. Udwadia and Kalaba's equation copes with that through a pseudoinverse, which has to tell
a singular value that is zero from one that is small. On loops that drift open, the zero one grows past the threshold.
Given the rank, the run lasts longer, but the violation of the redundant equation, left to itself, grows.
The whole tables of the paper: ``cmbcontrol experiment de-falco-tables``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.papers.de_falco import exact_motion, violation
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.parallelogram import configuration
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import beside, dress, styles, time_axis

START = -np.pi / 6.0  # rad, at rest: swings to -150 degrees and back, always away from the flat configurations
TOLERANCE = 1e-6
UDWADIA_KALABA = {"formulation": "udwadia-kalaba", "pseudoinverse": "svd", "method": "vode-adams"}
RUNS: dict[str, dict[str, Any]] = {
    "threshold = tolerance": {**UDWADIA_KALABA, "rank_tolerance": TOLERANCE, "stabilisation": "none"},
    "rank 11 given": {**UDWADIA_KALABA, "stabilisation": "none"},
    "our default": {},
}


@cache
def run(name: str) -> cmb.Simulation:
    """20 s from the start, or as far as it goes: loops that have opened may end it before."""
    options = settings(rtol=TOLERANCE, atol=TOLERANCE, **RUNS[name])
    try:
        return cmb.simulate(plants.parallelogram(), q0=configuration(START), t_end=20.0, output_times=0.05, **options)
    except cmb.errors.SimulationError as error:
        if error.partial is None:
            raise
        return error.partial


def errors(found: cmb.Simulation) -> np.ndarray:
    """Of the link that is farthest off the exact motion, rad."""
    angles = found.q.sel(position=[f"link{i}_angle" for i in (1, 2, 3)]).values
    return np.abs(angles - exact_motion(found.time, START)[0][:, None]).max(axis=1)


def main() -> dict[str, float]:
    """How long each run is right, how far off it gets, and how far the loops open."""
    results = {}
    for name in RUNS:
        found = run(name)
        error = errors(found)
        wrong = np.flatnonzero(error > 1e-2)
        results[f"{name}: right until, s"] = float(found.time[wrong[0] if wrong.size else -1])
        results[f"{name}: largest error, rad"] = float(error.max())
        results[f"{name}: sum of Psi^2 at the end, m2"] = float(violation(found.plant, found.q[-1])[0])
        results[f"{name}: evaluations"] = int(found.data.attrs["evaluations"])
    return results


def figure() -> Figure:
    """The linkage, errors of the three runs over time, and how far their loops open."""
    runs = {name: run(name) for name in RUNS}
    ours = runs["our default"]
    drawn = new_figure(7.2, 6.6)
    machine, error, opening = drawn.subplots(3, 1, height_ratios=(1.2, 1.0, 1.0))
    ours.plant.plot(ours.q[0], ax=machine)
    for (name, found), style in zip(runs.items(), styles(len(runs)), strict=True):
        error.plot(found.time, np.maximum(errors(found), 1e-9), label=name, **style)
        opening.plot(found.time, np.maximum(found.drift.max("loop"), 1e-16), label=name, **style)
    for ax, label in ((error, "error of the links (rad)"), (opening, "loops open by (m)")):
        dress(ax, label, log=True)
        beside(ax)
        time_axis([ax], ours.time)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex13_de_falco.png"))

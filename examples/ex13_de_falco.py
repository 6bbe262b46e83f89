"""De Falco's overconstrained linkage: why a threshold for the rank fails, and what the default does instead.

Its 12 equations have rank 11. Udwadia and Kalaba's equation copes with that through a pseudoinverse, which has to tell
a singular value that is zero from one that is small. On loops that drift open, the zero one grows past the threshold.
Given the rank, the run lasts longer, but the violation of the redundant equation, left to itself, grows.
The whole tables of the paper: ``cmbcontrol experiment de-falco-tables``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.papers.de_falco import exact_motion, violation
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.parallelogram import configuration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

START = -np.pi / 6.0  # rad, at rest: swings to -150 degrees and back, always away from the flat configurations
TOLERANCE = 1e-6
UDWADIA_KALABA = {"formulation": "udwadia-kalaba", "pseudoinverse": "svd", "method": "vode-adams"}
RUNS: dict[str, dict[str, Any]] = {
    "threshold = tolerance": {**UDWADIA_KALABA, "rank_tolerance": TOLERANCE, "stabilisation": "none"},
    "rank 11 given": {**UDWADIA_KALABA, "stabilisation": "none"},
    "our default": {},
}


def run(**options: Any) -> cmb.Simulation:
    """20 s from the start, or as far as it goes: loops that have opened may end it before."""
    options = settings(rtol=TOLERANCE, atol=TOLERANCE, **options)
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
    for name, options in RUNS.items():
        found = run(**options)
        error = errors(found)
        wrong = np.flatnonzero(error > 1e-2)
        results[f"{name}: right until, s"] = float(found.time[wrong[0] if wrong.size else -1])
        results[f"{name}: largest error, rad"] = float(error.max())
        results[f"{name}: sum of Psi^2 at the end, m2"] = float(violation(found.plant, found.q[-1])[0])
        results[f"{name}: evaluations"] = int(found.data.attrs["evaluations"])
    return results


def figure() -> Figure:
    """Errors of the three runs over time."""
    from cmbcontrol.plot.style import beside, dress, panels, styles, time_axis

    made, (ax,) = panels(None, 1, height=3.0)
    for (name, options), style in zip(RUNS.items(), styles(len(RUNS)), strict=True):
        found = run(**options)
        ax.plot(found.time, np.maximum(errors(found), 1e-9), label=name, linewidth=1.2, **style)
    dress(ax, "error of the links (rad)", log=True)
    time_axis([ax], found.time)
    beside(ax)
    return made


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    figure().savefig("de_falco.png")

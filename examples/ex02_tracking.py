"""Track a sine on the five-bar with its two ground motors, in continuous and in sampled time."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import controllers, plants, plot
from cmbcontrol.plot.style import beside


@cache
def track(period: float | None = None) -> cmb.Simulation:
    """Start 0.05 rad off the reference: the error decays with the bandwidth asked for, as far as the motors can."""
    plant = plants.five_bar(effort=80.0)
    path = cmb.Sine(centre=[2.1, 1.0], amplitude=[0.3, 0.2], frequency=0.5)
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0, period=period)
    q0 = plant.assemble(left=2.15, right=0.95)
    within_limits = law | controllers.Saturation(plant=plant)
    return cmb.simulate(plant, within_limits, q0, t_end=3.0, rtol=1e-8, atol=1e-8)


def main() -> dict[str, float]:
    """Errors and torques of both."""
    results = {}
    for name, period in (("continuous", None), ("1 kHz", 1e-3)):
        run = track(period)
        error = np.abs(run.reference.values - run.q.values[:, [0, 2]]).max(axis=1)
        results[f"{name}: error after 1 s, rad"] = float(error[run.time >= 1.0][0])
        results[f"{name}: error at the end, rad"] = float(error[-1])
        results[f"{name}: largest torque, N m"] = float(np.abs(run.u.values).max())
        results[f"{name}: energy error, J"] = run.max_energy_error
    return results


def figure() -> Figure:
    """Angles with their references, errors and torques in continuous time; dotted the errors at 1 kHz."""
    drawn, sampled = track().plot(), track(1e-3)
    error = drawn.axes[1]
    error.plot(sampled.time, abs(sampled.data["error"]), "k:", linewidth=1.0, label=["both, at 1 kHz", None])
    beside(error)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:.4g}")
    print("drawn:", plot.save(figure(), "ex02_tracking.png"))

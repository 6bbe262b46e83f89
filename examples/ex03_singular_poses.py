"""Spencer's five-bar through its singular configuration (thesis, section 3.2): where many tools leave the branch."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress, time_axis

PLANT = plants.five_bar()
SINGULAR = np.array([np.pi, -np.pi, 0.0, np.pi])  # all links flat


def second_start() -> np.ndarray:
    """Mirror-symmetric, links at 120 and 48.19 degrees."""
    a = np.arccos(1.0 / 1.5)
    return np.array([2.0 * np.pi / 3.0, a - 2.0 * np.pi / 3.0, np.pi / 3.0, 2.0 * np.pi / 3.0 - a])


def mirror_error(run: cmb.Simulation) -> np.ndarray:
    """Over time: both motions are mirror symmetric, left + right = pi, and the elbows are opposite."""
    q = run.q.values
    off = np.stack([q[:, 0] + q[:, 2] - np.pi, q[:, 1] + q[:, 3]])
    return np.abs((off + np.pi) % (2.0 * np.pi) - np.pi).max(axis=0)


@cache
def runs() -> dict[str, cmb.Simulation]:
    """Both of Spencer's examples, 5 s with default settings."""
    starts = {"from the singular configuration": SINGULAR, "second example": second_start()}
    return {name: cmb.simulate(PLANT, q0=q0, t_end=5.0) for name, q0 in starts.items()}


def main() -> dict[str, float]:
    """How far both runs leave the exact branch, and their closure and energy errors."""
    results = {}
    for name, run in runs().items():
        passages = ", ".join(f"{e['time']:.4f}" for e in run.events())
        results[f"{name} (passages at {passages} s): mirror error, rad"] = float(mirror_error(run).max())
        results[f"{name}: drift, m"] = run.max_drift
        results[f"{name}: energy error, J"] = run.max_energy_error
        results[f"{name}: evaluations"] = int(run.data.attrs["evaluations"])
    return results


def figure() -> Figure:
    """The second example at some times, its angles with the passages, and the mirror errors of both."""
    run = runs()["second example"]
    drawn = new_figure(7.2, 6.6)
    top, below = drawn.subfigures(2, 1, height_ratios=(1.15, 2.6))
    for ax, t in zip(top.subplots(1, 4), (0.0, 0.4, run.events()[0]["time"], 0.9), strict=True):
        PLANT.plot(run.q.sel(time=t, method="nearest"), ax=ax)
        ax.set(xlim=(-1.8, 2.8), ylim=(-2.3, 2.7))
        ax.label_outer()
        ax.set_title(f"{t:.3g} s", fontsize=9)
    angles, mirror = below.subplots(2, 1, sharex=True)
    plot.responses(run, axes=angles)
    angles.set_xlabel("")
    for (name, shown), color in zip(runs().items(), COLORS, strict=False):
        mirror.plot(shown.time, np.maximum(mirror_error(shown), 1e-15), color=color, label=name)
    dress(mirror, "mirror error (rad)", log=True)
    time_axis([angles, mirror], run.time)
    beside(mirror)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex03_singular_poses.png"))

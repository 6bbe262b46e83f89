"""Aghili's slider-crank (section 8): its closed forms, and what the threshold of (70) costs on the way.

Example 8 drives the same machine with a threshold in the law alone. Here the model has it, too, as in the paper. The
whole, with the loop (39) every k steps and all three formulations: `cmbcontrol experiment aghili-slider-crank`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from cmbcontrol import plot
from cmbcontrol.papers.aghili import closed_forms, closed_loop, condition_numbers, virtual_work
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress, time_axis


@cache
def runs():
    """The paper's way without and with a threshold of 0.2 m, and ours, 1.3 s."""
    return closed_loop(quick=True)


def main() -> dict[str, float]:
    """Differences to the closed forms, condition numbers, tracking errors, torques."""
    results = {"closed forms: largest difference": max(closed_forms(50).column("largest difference"))}
    away = condition_numbers(np.linspace(0.1, 3.0, 101))
    near = condition_numbers([0.5 * np.pi - 1e-6])
    for label in ("M_c' (28)", "M_c'' (29), gamma = best", "KKT matrix"):
        results[f"condition number of {label}: largest on the way"] = float(away[label].max())
        results[f"condition number of {label}: 1e-6 rad from the pose"] = float(near[label][0])
    for run in runs()[0]:
        angle, torque = virtual_work(run.time)
        off = np.abs(run.u[:, 0] - torque)[run.outside]
        results[f"{run.label}: tracking error, rad"] = float(np.abs(run.q[:, 0] - angle).max())
        results[f"{run.label}: torque off virtual work, N m"] = float(off.max())
        results[f"{run.label}: loop open, m"] = float(run.opening.max())
        results[f"{run.label}: evaluations"] = run.evaluations
    return results


def figure() -> Figure:
    """Condition numbers over the angle; torque and opening of the loop over time."""
    drawn = new_figure(7.2, 6.4)
    condition, torque, opening = drawn.subplots(3, 1)
    angles = np.linspace(0.1, 3.0, 301)
    for k, (label, values) in enumerate(condition_numbers(angles).items()):  # some are equal: the first ones are wider
        condition.plot(angles, values, color=COLORS[k], linewidth=5.0 - 0.7 * k, label=label)
    for run, color in zip(runs()[0], COLORS, strict=False):
        label = run.label.split(", (39)")[0]
        torque.plot(run.time, run.u[:, 0], color=color, label=label)
        opening.plot(run.time, np.maximum(run.opening, 1e-16), color=color, label=label)
    torque.plot(run.time, virtual_work(run.time)[1], "k--", linewidth=0.9, label="virtual work")
    dress(condition, "condition number (1)", log=True)
    dress(torque, "torque (N m)")
    dress(opening, "loop open by (m)", log=True)
    condition.set_xlabel("angle of the crank (rad)", fontsize=9)
    for ax in (torque, opening):
        time_axis([ax], run.time)
    for ax in (condition, torque, opening):
        beside(ax)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex15_aghili_slider_crank.png"))

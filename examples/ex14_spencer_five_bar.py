"""Spencer's second five-bar example (thesis, section 3.2): multipliers against ours, beside the exact motion.

The whole of it, with the null space form and figures 3.3 to 3.10: `cmbcontrol experiment spencer-five-bar-1` and `-2`.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np

from cmbcontrol.papers.spencer import GAINS, STEP, Course, SymmetricMotion, machine, simulated

T_END = 4.2  # s, beyond the third passage


@cache
def courses() -> tuple[Course, Course, SymmetricMotion]:
    """The thesis's first method, ours, and the exact motion."""
    lagrange = simulated(
        "Lagrange, Baumgarte",
        "second",
        T_END,
        formulation="lagrange",
        stabilisation="baumgarte",
        gains=GAINS,
        method="rk4",
        step=STEP,
        pass_within=0.0,
    )
    return lagrange, simulated("default", "second", T_END), SymmetricMotion(machine(), "second", T_END)


def main() -> dict[str, float]:
    """Passages, energy, closure, multipliers, and the error against the exact motion."""
    lagrange, ours, exact = courses()
    results = {f"passage {k}, s": t for k, t in enumerate(exact.passages, 1)}
    for course in (lagrange, ours):
        results[f"{course.label}: evaluations"] = course.evaluations
        results[f"{course.label}: energy error, J"] = course.energy_error
        results[f"{course.label}: loop open, m"] = float(course.violation.max())
        results[f"{course.label}: mirror error, rad"] = float(course.mirror.max())
        results[f"{course.label}: error before the third passage, rad"] = course.error(exact, 3.9)
        results[f"{course.label}: largest multiplier, N"] = float(np.abs(course.multipliers).max())
    results["largest exact multiplier at the same times, N"] = float(np.abs(exact.multipliers(ours.time)).max())
    return results


def figure(path: str | Path = "spencer_five_bar.png") -> Path:
    """Link angles, change of the energy, and multipliers."""
    from cmbcontrol.plot.style import COLORS, INK, beside, dress, panels, time_axis

    *runs, exact = courses()
    drawn, axes = panels(None, 3, 2.0)
    axes[0].plot(runs[-1].time, runs[-1].angles, label=[f"link {k}" for k in (1, 2, 3, 4)])
    for curve, color in zip(axes[0].lines, COLORS, strict=False):
        curve.set(color=color, linewidth=1.2)
    for run, color in zip(runs, COLORS, strict=False):
        shown = dict(color=color, linewidth=1.2, label=run.label)
        axes[1].plot(run.time, np.maximum(np.abs(run.energy_change), 1e-15), **shown)
        axes[2].plot(run.time, np.linalg.norm(run.multipliers, axis=1), **shown)
    true = np.linalg.norm(exact.multipliers(runs[-1].time), axis=1)
    axes[2].plot(runs[-1].time, true, color=INK, linewidth=0.8, dashes=(4, 3), label="exact")
    for ax, label in zip(axes, ("link angle (rad)", "|change in energy| (J)", "|multipliers| (N)"), strict=True):
        dress(ax, label, log=ax is not axes[0])
        beside(ax)
    time_axis(axes, runs[-1].time)
    drawn.savefig(path)
    return Path(path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    if len(sys.argv) > 1:
        figure(sys.argv[1])

"""Spencer's second five-bar example (thesis, section 3.2): multipliers against ours, beside the exact motion.

The whole of it, with the null space form and figures 3.3 to 3.10: `cmbcontrol experiment spencer-five-bar-1` and `-2`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from cmbcontrol import plot
from cmbcontrol.papers.spencer import GAINS, STEP, Course, SymmetricMotion, machine, simulated
from cmbcontrol.plot.style import COLORS, beside, dress, panels, time_axis

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


def figure() -> Figure:
    """Link angles, change of the energy, and multipliers."""
    lagrange, ours, exact = courses()
    drawn, axes = panels(None, 3, 2.0)
    angle, energy, multiplier = axes
    for k, color in enumerate(COLORS[:4]):
        angle.plot(ours.time, ours.angles[:, k], color=color, label=f"link {k + 1}, default")
    for course, color in ((lagrange, COLORS[4]), (ours, COLORS[5])):
        energy.plot(course.time, np.maximum(np.abs(course.energy_change), 1e-15), color=color, label=course.label)
        multiplier.plot(course.time, np.linalg.norm(course.multipliers, axis=1), color=color, label=course.label)
    size = np.linalg.norm(exact.multipliers(ours.time), axis=1)
    multiplier.plot(ours.time, size, "k--", linewidth=0.8, label="exact")
    for ax, label in zip(axes, ("link angle (rad)", "change of energy (J)", "size of multipliers (N)"), strict=True):
        dress(ax, label, log=ax is not angle)
        beside(ax)
    time_axis(axes, ours.time)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex14_spencer_five_bar.png"))

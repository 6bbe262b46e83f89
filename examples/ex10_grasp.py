"""Two arms grasp an object, carry it, and put it down: one controller, whose loops come and go."""

from __future__ import annotations

from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.plants.grasping_arms import TABLE, configuration, grasping_arms

PLANT = grasping_arms(table=True)
JOINTS = PLANT.position_names[:6]
GRASPS = ("left_grasp", "right_grasp")
TAKE, PUT, END = 1.1, 2.8, 4.0  # s
SWITCHES = [
    *(cmb.Engage(name, at=TAKE, capture=True) for name in GRASPS),
    cmb.Release("table", at=TAKE),
    cmb.Engage("table", at=PUT, capture=True),
    *(cmb.Release(name, at=PUT) for name in GRASPS),
]


def where(t: float) -> np.ndarray:
    """The configuration wanted at a time: hands to the object, object over to the other side, hands off."""
    near = cmb.Quintic([0.1], [0.0], 0.9) if t < 2.0 else cmb.Quintic([0.0], [0.1], 0.9, begin=2.9)
    s = float(cmb.Quintic([0.0], [1.0], 1.5, begin=1.2)(t)[0][0])
    lift = np.sin(np.pi * s) ** 2
    return configuration(PLANT, TABLE[0] + 0.3 * s, TABLE[1] + 0.12 * lift, 0.25 * lift, clearance=float(near(t)[0][0]))


def carry(off: float = 0.0, bandwidth: float = 15.0, period: float = 2e-3) -> cmb.Simulation:
    """The whole task; `off` is how far the hands start from where they should be, rad."""
    times = np.linspace(0.0, END, 801)
    path = cmb.Spline(times, np.array([where(t) for t in times])[:, :6])
    law = ProjectedInverseDynamics(PLANT, JOINTS, path, bandwidth=bandwidth, consistent=True, period=period)
    q0 = where(0.0)
    q0[:6] += off
    return cmb.simulate(PLANT, law, q0, t_end=END, output_times=0.01, switches=SWITCHES)


def main() -> dict[str, float]:
    """Errors, forces, energy."""
    run = carry()
    error = np.abs(run.q.values[:, :6] - run.reference.values).max(axis=1)
    soft = carry(off=0.02, bandwidth=4.0)  # so soft that the hands are not yet there, and not at rest, when they grasp
    late = np.abs(soft.q.values[:, :6] - soft.reference.values).max(axis=1)
    object_at = run.q.values[-1, 6:]
    return {
        "largest joint error, rad": float(error.max()),
        "joint error at the end, rad": float(error[-1]),
        "object beside its place, m": float(np.hypot(*(object_at[:2] - [TABLE[0] + 0.3, TABLE[1]]))),
        "largest torque, N m": float(np.abs(run.u.values).max()),
        "loops open by at most, m": run.max_drift,
        "energy error, J": run.max_energy_error,
        "energy lost at the switches, J": float(run.impact_loss.values[-1]),
        "soft, 0.02 rad off: joint error at the grasp, rad": float(late[soft.time >= TAKE][0]),
        "soft, 0.02 rad off: joint error at the end, rad": float(late[-1]),
        "soft, 0.02 rad off: energy lost at the switches, J": float(soft.impact_loss.values[-1]),
        "soft, 0.02 rad off: energy error, J": soft.max_energy_error,
    }


def figure(run: cmb.Simulation) -> Any:
    """Stills of the machine; joint errors, grasp forces, torques and energy over time."""
    from matplotlib.figure import Figure

    from cmbcontrol.plot.style import COLORS, FAINT, INK, beside, dress, time_axis

    fig = Figure(figsize=(7.2, 7.6), dpi=150, layout="constrained")
    top, below = fig.subfigures(2, 1, height_ratios=[0.16, 0.84])
    stills = top.subplots(1, 4)
    axes = list(below.subplots(4, 1, sharex=True))
    for i, (t, title) in enumerate(((0.0, "reach"), (TAKE, "grasp"), (1.95, "carry"), (END, "back off"))):
        draw(stills[i], run.q.values[int(np.argmin(np.abs(run.time - t)))], f"{title}, {t:g} s")
    t, names = run.time, [name.replace("_", " ") for name in JOINTS]
    for k, name in enumerate(names):
        style = {"color": COLORS[k % 3], "linestyle": "-" if k < 3 else "--", "linewidth": 1.1}
        axes[0].plot(t, 1e3 * (run.q.values[:, k] - run.reference.values[:, k]), label=name, **style)
        axes[2].plot(t, run.u.values[:, k], label=name, **style)
    rows = list(run.data["row"].values)
    for name, color in zip((*GRASPS, "table"), COLORS[3:], strict=False):
        lam = run.multipliers.values[:, [rows.index(f"{name}_{axis}") for axis in "xy"]]
        force = np.where(run.active.sel(loop=name).values, np.hypot(*lam.T), np.nan)
        axes[1].plot(t, force, color=color, linewidth=1.3, label=name.replace("_", " "))
    axes[3].plot(t, run.energy.values - run.energy.values[0], color=COLORS[0], label="energy")
    axes[3].plot(t, run.actuator_work.values, color=COLORS[1], linestyle="--", label="work of the motors")
    for ax, label in zip(axes, ("error (mrad)", "force (N)", "torque (N m)", "energy (J)"), strict=True):
        dress(ax, label)
        beside(ax)
        for at in (TAKE, PUT):
            ax.axvline(at, color=FAINT, linewidth=0.9, zorder=0)
    for at, text in ((TAKE, "grasp"), (PUT, "release")):
        axes[0].annotate(
            text, (at, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8, color=INK
        )
    time_axis(axes, t)
    return fig


def draw(ax: Any, q: np.ndarray, title: str) -> None:
    """Arms, object and table in one pose."""
    from cmbcontrol.plot.style import COLORS, FAINT, INK

    for side, color in (("left", COLORS[0]), ("right", COLORS[1])):
        points = [PLANT.point(q, f"{side}_{part}")[:2] for part in ("upper", "fore", "hand")]
        points.append(PLANT.point(q, f"{side}_hand", (0.12, 0, 0))[:2])
        ax.plot(*np.transpose(points), "-o", color=color, linewidth=1.8, markersize=3)
    corners = [(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1), (-0.2, -0.1)]
    box = np.array([PLANT.point(q, "object", (x, y, 0.0))[:2] for x, y in corners])
    ax.fill(*box.T, facecolor=FAINT, edgecolor=INK, linewidth=0.8)
    ax.plot([-0.45, 0.45], [TABLE[1] - 0.1] * 2, color=INK, linewidth=1.0)
    ax.set(xlim=(-0.97, 0.97), ylim=(-0.08, 0.8), aspect="equal", xticks=[], yticks=[])
    ax.set_title(title, fontsize=8, color=INK)
    for spine in ax.spines.values():
        spine.set_visible(False)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    figure(carry()).savefig("grasp.png")

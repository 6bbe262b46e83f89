"""Two arms grasp an object, carry it, and put it down: one controller, whose loops come and go."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plot
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.plants.grasping_arms import TABLE, configuration, grasping_arms
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, FAINT, beside, dress, time_axis

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


@cache
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


def figure() -> Figure:
    """Stills of the machine; joint errors, grasp forces, torques and energy over time."""
    run = carry()
    t = run.time
    drawn = new_figure(7.2, 9.8)
    top, below = drawn.subfigures(2, 1, height_ratios=(1.3, 2.4))
    stills = (0.0, "reach"), (TAKE, "grasp"), (1.95, "carry"), (END, "back off")
    for ax, (at, what) in zip(top.subplots(2, 2).flat, stills, strict=True):
        with warnings.catch_warnings(action="ignore", category=cmb.errors.CmbWarning):  # loops that are open by intent
            PLANT.plot(run.q.sel(time=at, method="nearest"), ax=ax)
        ax.set(xlim=(-1.0, 1.0), ylim=(-0.1, 0.8), xticks=(-0.8, -0.4, 0.0, 0.4, 0.8))
        ax.label_outer()
        ax.set_title(f"{what}, {at:g} s", fontsize=9)
    axes = error, force, torque, energy = below.subplots(4, 1, sharex=True)
    for k, name in enumerate(JOINTS):
        style = {"color": COLORS[k % 3], "linestyle": "-" if k < 3 else "--"}
        error.plot(t, 1e3 * (run.q[:, k] - run.reference[:, k]), label=name, **style)
        torque.plot(t, run.u[:, k], label=name, **style)
    for name, color in zip((*GRASPS, "table"), COLORS[3:], strict=False):
        push = np.hypot(*run.multipliers.sel(row=[f"{name}_x", f"{name}_y"]).values.T)
        force.plot(t, np.where(run.active.sel(loop=name), push, np.nan), color=color, label=name)
    energy.plot(t, run.energy - run.energy[0], color=COLORS[0], label="change of energy")
    energy.plot(t, run.actuator_work, "--", color=COLORS[1], label="work of the motors")
    for ax, label in zip(axes, ("error (mrad)", "force (N)", "torque (N m)", "energy (J)"), strict=True):
        for at in (TAKE, PUT):
            ax.axvline(at, color=FAINT, zorder=0, label="grasp, release" if ax is force and at == TAKE else None)
        dress(ax, label)
        beside(ax)
    time_axis(axes, t)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex10_grasp.png"))

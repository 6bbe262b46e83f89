"""A leg falls, touches down, squats, hops and lands again: one controller, and a foot that only pushes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plot
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.dynamics.acceleration import acceleration
from cmbcontrol.plants.leg import LINK, angles, configuration, leg
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, FAINT, beside, dress, time_axis

PLANT = leg()
STROKES = (  # length of the leg, m, and when it begins to change, s
    cmb.Quintic([0.6], [0.6], 0.5, begin=0.0),
    cmb.Quintic([0.6], [0.42], 0.45, begin=0.5),
    cmb.Quintic([0.42], [0.62], 0.15, begin=0.95),
    cmb.Quintic([0.62], [0.5], 0.2, begin=1.15),
)


class Length:
    """Hip and knee for a leg of changing length, with the foot below the hip."""

    def __init__(self, strokes: Sequence[cmb.Quintic]) -> None:
        self.strokes = strokes

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        stroke = [s for s in self.strokes if s.begin <= t][-1]
        length, rate, second = (float(x[0]) for x in stroke(t))
        hip, knee = angles(length)  # length = 2 LINK cos(knee / 2)
        across = 2.0 * LINK * np.sin(0.5 * knee)
        bend = -rate / across
        bend_rate = -(second + length * bend**2) / across
        return np.array([hip, knee]), np.array([-bend, 2.0 * bend]), np.array([-bend_rate, 2.0 * bend_rate])


def falls_free(t: float, terms: Any) -> np.ndarray:
    """What the motors leave alone: the acceleration without them, which in the air is the fall of the trunk."""
    return acceleration(terms, np.zeros(terms.h.size))


@cache
def jump(period: float = 1e-3) -> cmb.Simulation:
    """From 0.15 m above the ground."""
    law = ProjectedInverseDynamics(
        PLANT, ("hip", "knee"), Length(STROKES), bandwidth=18.0, consistent=True, posture=falls_free, period=period
    )
    foot = cmb.Contact("foot", normal=(0, 1, 0), friction=0.8)
    return cmb.simulate(PLANT, law, configuration(PLANT, 0.75, 0.6), t_end=2.2, output_times=2e-3, switches=foot)


def sole(run: cmb.Simulation) -> np.ndarray:
    """Height of the foot, m."""
    return np.array([PLANT.point(q, "shank", (LINK, 0, 0))[1] for q in run.q.values])


def main() -> dict[str, float]:
    """When it touches down, what it loses, how high it hops, and the energy balance."""
    run = jump()
    hits = [e for e in run.events() if e["kind"] == "impact foot"]
    first = hits[0]
    return {
        "first touch down, s": first["time"],
        "error of that time, s": abs(first["time"] - np.sqrt(2.0 * 0.15 / 9.81)),
        "energy lost there, J": first["loss"],
        "landings": len(hits),
        "highest the foot gets after it, m": float(sole(run)[run.time > first["time"]].max()),
        "deepest the foot gets, m": float(sole(run).min()),
        "energy error, J": run.max_energy_error,
        "drift, m": run.max_drift,
        "joint error at the end, rad": float(np.abs(run.q.values[-1, 1:] - run.reference.values[-1]).max()),
    }


def figure() -> Figure:
    """Stills; heights, force on the foot, torques, energy; grey while the foot is on the ground."""
    run = jump()
    t = run.time
    drawn = new_figure(7.2, 9.0)
    top, below = drawn.subfigures(2, 1, height_ratios=(1.25, 2.6))
    for ax, at in zip(top.subplots(1, 5), (0.0, 0.18, 0.9, 1.2, 2.0), strict=True):
        with warnings.catch_warnings(action="ignore", category=cmb.errors.CmbWarning):  # the contact is open in the air
            PLANT.plot(run.q.sel(time=at, method="nearest"), ax=ax)
        ax.set(xlim=(-0.35, 0.35), ylim=(-0.05, 0.95))
        ax.label_outer()
        ax.set_title(f"{at:g} s", fontsize=9)
    axes = height, force, torque, energy = below.subplots(4, 1, sharex=True)
    height.plot(t, run.q[:, 0], color=COLORS[0], label="hip")
    height.plot(t, sole(run), color=COLORS[1], label="foot")
    force.plot(t, -run.multipliers[:, 1], color=COLORS[2], label="normal force")
    force.plot(t, run.multipliers[:, 0], "--", color=COLORS[3], label="sideways")
    for k, name in enumerate(("hip", "knee")):
        torque.plot(t, run.u[:, k], color=COLORS[k], label=name)
    energy.plot(t, run.energy - run.energy[0], color=COLORS[0], label="change of energy")
    energy.plot(t, run.actuator_work, "--", color=COLORS[1], label="work of the motors")
    energy.plot(t, run.impact_loss, ":", color=COLORS[3], label="lost in impacts")
    on_ground = np.ma.clump_unmasked(np.ma.masked_equal(run.active.values[:, 0], False))
    for ax, label in zip(axes, ("height (m)", "force (N)", "torque (N m)", "energy (J)"), strict=True):
        for i, span in enumerate(on_ground):
            name = "foot on the ground" if ax is height and i == 0 else None
            ax.axvspan(t[span.start], t[span.stop - 1], color=FAINT, alpha=0.25, linewidth=0, zorder=0, label=name)
        dress(ax, label)
        beside(ax)
    time_axis(axes, t)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
    print("drawn:", plot.save(figure(), "ex11_touch_down.png"))

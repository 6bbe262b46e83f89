"""Limits: a five-bar whose motors are too weak for the move, and a grasp of two arms that must only push.

The move of the five-bar needs 1.5 times the torque that there is. Clipped torques leave the path; a scaled request
stays on it and takes longer. The arms hold an object between two flat hands with friction: the least torques that move
it pull at it, and would lose it; with friction cones as limits the same motion keeps the grasp.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import Cone, ConstrainedActuation, Controller, ProjectedInverseDynamics, Unilateral
from cmbcontrol.plants.grasping_arms import configuration, grasping_arms
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress, time_axis

START, GOAL, DURATION = np.array([2.1, 1.0]), np.array([1.6, 0.8]), 0.5
PERIOD = 4e-3
FRICTION, SQUEEZE, HALF_HAND = 0.5, 20.0, 0.04  # 1, N, m
MARGIN = 0.9  # part of the friction that the law counts on: torques are held, and forces move on, between samples
HANDS = ("left", "right")
OBJECT = ("object_x", "object_y", "object_angle")


class Clipped(Controller):
    """A law whose efforts are cut at the limits."""

    period = PERIOD

    def __init__(self, law: Callable, limits: np.ndarray) -> None:
        self.law, self.limits = law, limits

    def effort(self, t, terms, state):
        return np.clip(self.law(t, terms, state), -self.limits, self.limits)


# -- the five-bar ------------------------------------------------------------------------------------------------


@cache
def moves() -> dict[str, cmb.Simulation]:
    """The same move without limits, then with two thirds of the largest torques that it takes."""
    plant = plants.five_bar()
    path = cmb.Quintic(START, GOAL, DURATION)
    motion = ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=10.0, period=PERIOD)
    start = plant.assemble(left=START[0], right=START[1])

    def run(law):
        return cmb.simulate(plant, law, start, t_end=1.6, rtol=1e-7, atol=1e-7, output_times=PERIOD)

    free = run(motion)
    limits = np.abs(free.u.values).max(axis=0) / 1.5
    return {
        "without limits": free,
        "clipped": run(Clipped(motion, limits)),
        "nearest": run(ConstrainedActuation(motion, limits=limits)),
        "scaled": run(ConstrainedActuation(motion, limits=limits, slack="scale")),
    }


def torque_limits() -> np.ndarray:
    """Of the two motors, N m."""
    return np.abs(moves()["without limits"].u.values).max(axis=0) / 1.5


def aside(run: cmb.Simulation) -> float:
    """Largest distance from the straight path between start and goal, rad."""
    way = (GOAL - START) / np.linalg.norm(GOAL - START)
    return float(np.abs((run.q.values[:, [0, 2]] - START) @ [-way[1], way[0]]).max())


# -- the arms ----------------------------------------------------------------------------------------------------


@cache
def grasps() -> dict[str, cmb.Simulation]:
    """Lift, shift and turn the object, with the least torques, and with the least that keep the contacts."""
    plant = grasping_arms()
    path = cmb.Quintic([-0.08, 0.45, 0.0], [0.10, 0.60, 0.3], 0.8)
    motion = ProjectedInverseDynamics(plant, OBJECT, path, bandwidth=8.0, period=PERIOD)
    start = configuration(plant, -0.08, 0.45, 0.0)

    def run(law):
        return cmb.simulate(plant, law, start, t_end=1.2, rtol=1e-7, atol=1e-7, output_times=PERIOD)

    return {"least efforts": run(motion), "contacts kept": run(holding(motion))}


def holding(motion: ProjectedInverseDynamics) -> ConstrainedActuation:
    """Each hand pushes with 20 N at least, within the friction cone, its pressure within the flat of the hand."""
    cones = [
        Cone(f"{hand}_grasp_x", MARGIN * FRICTION, tangential=[f"{hand}_grasp_y"], minimum=SQUEEZE) for hand in HANDS
    ]
    flat = [
        Unilateral({f"{hand}_grasp_x": HALF_HAND, f"{hand}_grasp_twist": sign})
        for hand in HANDS
        for sign in (1.0, -1.0)
    ]
    return ConstrainedActuation(motion, unilateral=flat, cones=cones)


def contact_forces(run: cmb.Simulation) -> np.ndarray:
    """Normal and tangential force of the hands, N, shape (times, hands, 2)."""
    plant = run.plant
    columns = [[plant.row_names.index(f"{hand}_grasp_{axis}") for axis in "xy"] for hand in HANDS]
    found = []
    for q, v, u in zip(run.q.values, run.v.values, run.u.values, strict=True):
        terms = plant.terms(q, v)
        a = cmb.forward_dynamics(plant, q, v, u)
        found.append(-(terms.A_pinv.T @ (terms.B @ u - terms.h - terms.M @ a))[columns])
    return np.array(found)


# -- results -----------------------------------------------------------------------------------------------------


def main() -> dict[str, float]:
    """Errors, use of the limits, and what the contacts bear."""
    results = {}
    for name, run in moves().items():
        error = np.abs(run.q.values[:, [0, 2]] - np.array([cmb.Quintic(START, GOAL, DURATION)(t)[0] for t in run.time]))
        results[f"five-bar, {name}: largest error, rad"] = float(error.max())
        results[f"five-bar, {name}: error at the end, rad"] = float(error[-1].max())
        results[f"five-bar, {name}: aside of the path, rad"] = aside(run)
        if name != "without limits":
            results[f"five-bar, {name}: largest use of a limit"] = float(np.abs(run.u.values / torque_limits()).max())
    for name, run in grasps().items():
        normal, tangential = np.moveaxis(contact_forces(run), -1, 0)
        use = np.where(normal > 0.0, np.abs(tangential) / np.where(normal > 0.0, FRICTION * normal, 1.0), np.inf)
        error = np.abs(run.reference.values - run.q.values[:, [run.plant.position_names.index(n) for n in OBJECT]])
        results[f"arms, {name}: smallest normal force, N"] = float(normal.min())
        results[f"arms, {name}: largest use of friction"] = float(use.max())
        results[f"arms, {name}: largest error, m and rad"] = float(error.max())
        results[f"arms, {name}: largest torque, N m"] = float(np.abs(run.u.values).max())
    return results


def figure() -> Figure:
    """Path and torques of the five-bar; the arms, and the forces of their hands in the friction cone."""
    drawn = new_figure(7.2, 9.6)
    path, torque, machine, cone = drawn.subplots(4, 1, height_ratios=(1.0, 1.0, 1.2, 1.2))
    for (name, run), color, dashes in zip(moves().items(), ("k", *COLORS), (":", "-", "--", "-"), strict=False):
        path.plot(run.q[:, 0], run.q[:, 2], dashes, color=color, label=name, zorder=3 if color == "k" else 2)
    dress(path, "right (rad)")
    path.set_xlabel("left (rad)", fontsize=9)
    path.set_title("five-bar: the driven angles", fontsize=9)
    _draw_torques(torque)
    carried = grasps()["contacts kept"]
    carried.plant.plot(carried.q[0], ax=machine)
    _draw_cone(cone)
    for ax in (path, torque, cone):
        beside(ax)
    return drawn


def _draw_torques(ax) -> None:
    runs, limits = moves(), torque_limits()
    for k, motor in enumerate(("left", "right")):
        for name, dashes in (("without limits", ":"), ("scaled", "-")):
            ax.plot(runs[name].time, runs[name].u[:, k], dashes, color=COLORS[k], label=f"{motor}, {name}")
        for sign in (-1.0, 1.0):
            ax.axhline(sign * limits[k], color=COLORS[k], linewidth=0.8, linestyle="--")
    ax.plot([], [], "k--", linewidth=0.8, label="limits")
    dress(ax, "torque (N m)")
    time_axis([ax], np.array([0.0, 1.0]))


def _draw_cone(ax) -> None:
    forces = {name: contact_forces(run) for name, run in grasps().items()}
    reach = 1.1 * max(np.abs(f[..., 0]).max() for f in forces.values())
    edge = FRICTION * reach
    ax.fill([0.0, reach, reach], [0.0, edge, -edge], color="#E8F0E8", label=f"friction cone, mu = {FRICTION:g}")
    for (name, force), dashes in zip(forces.items(), (":", "-"), strict=True):
        for k, hand in enumerate(HANDS):
            ax.plot(*force[:, k].T, dashes, color=COLORS[k], linewidth=1.3, label=f"{hand} hand, {name}")
    ax.axvline(SQUEEZE, color="0.6", linewidth=0.8, linestyle="--", label=f"least push, {SQUEEZE:g} N")
    dress(ax, "tangential force (N)")
    ax.set_xlabel("normal force (N)", fontsize=9)
    ax.set_title("arms: contact forces", fontsize=9)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:55} {value:.6g}")
    print("drawn:", plot.save(figure(), "ex09_limits.png"))

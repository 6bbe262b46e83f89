"""A scheduler of your own: a controller that looks ahead with copies of the machine, and decides every 20 ms.

Each decision tries 25 pairs of torques on top of those that hold the five-bar where it is: a copy of the stepper goes
on under each for a moment, and the pair that leads nearest to the goal is applied to the machine itself. The controller
needs no gradients and no linear model, only `Stepper.copy` and `Stepper.step`. An event ends the steps, when the
machine rests near its goal.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plot.style import COLORS, beside, dress, panels, time_axis

START, GOAL = np.array([2.1, 1.0]), np.array([1.8, 1.25])  # of the driven joints, rad
DECISION, AHEAD = 0.02, 0.12  # s: from one decision to the next, and how far each looks ahead
TORQUES = (-30.0, -8.0, 0.0, 8.0, 30.0)  # N m, tried for each motor
DAMPING = 0.02  # s^2: what a speed counts beside an angle
NEAR, SLOW = 0.03, 0.3  # rad, rad/s: at the goal
DRIVEN = [0, 2]


class Course(NamedTuple):
    """What was done: states of the machine and torques by decision, and what was tried in some of them."""

    time: np.ndarray
    angles: np.ndarray
    torques: np.ndarray
    tried: list[tuple[float, np.ndarray]]
    end: str


def miss(state) -> float:
    """How far a state is from resting at the goal."""
    return float(np.sum((state.q[DRIVEN] - GOAL) ** 2) + DAMPING * np.sum(state.v[DRIVEN] ** 2))


def arrived(t: float, q: np.ndarray, v: np.ndarray) -> float:
    """Below zero at the goal, and slow there."""
    return max(np.abs(q[DRIVEN] - GOAL).max() / NEAR, np.abs(v[DRIVEN]).max() / SLOW) - 1.0


@cache
def course() -> Course:
    """The machine from its start to its goal."""
    plant = plants.five_bar()
    at_goal = cmb.Event(arrived, "at the goal", direction=-1, terminal=True)
    stepper = cmb.Stepper(plant, plant.assemble(left=START[0], right=START[1]), rtol=1e-7, atol=1e-7, events=[at_goal])
    time, angles, torques, tried = [0.0], [START], [], []
    while stepper.time < 3.0 and not stepper.ended:
        state = stepper.state
        hold = cmb.inverse_dynamics(plant, state.q, np.zeros(plant.nv), np.zeros(plant.nv)).u
        found = []
        for more in product(TORQUES, TORQUES):
            twin = stepper.copy()
            found.append((twin.step(hold + more, AHEAD), hold + more))
        best = min(found, key=lambda pair: miss(pair[0]))
        if len(torques) % 5 == 0:
            tried.append((state.time, np.array([end.q[DRIVEN] for end, _ in found])))
        state = stepper.step(best[1], DECISION)
        time.append(state.time)
        angles.append(state.q[DRIVEN])
        torques.append(best[1])
    return Course(np.array(time), np.array(angles), np.array(torques), tried, stepper.ended)


def main() -> dict[str, float]:
    """The figures that are printed."""
    done = course()
    return {
        "time until it rests at the goal, s": float(done.time[-1]),
        "error there, rad": float(np.abs(done.angles[-1] - GOAL).max()),
        "decisions": float(len(done.torques)),
        "ended by the event": float("at the goal" in done.end),
    }


def figure() -> Figure:
    """Angles, what was looked ahead at by every fifth decision (thin), and torques."""
    done = course()
    drawn, axes = panels(None, 2, height=2.4)
    angle, torque = axes
    for k, (name, color) in enumerate(zip(("left", "right"), COLORS, strict=False)):
        for t, ends in done.tried:
            begin = np.full(len(ends), done.angles[round(t / DECISION), k])
            angle.plot([t, t + AHEAD], [begin, ends[:, k]], color=color, linewidth=0.4, alpha=0.5)
        angle.plot(done.time, done.angles[:, k], color=color, label=name)
        angle.axhline(GOAL[k], color=color, linestyle=":", label=f"{name}, goal")
        torque.step(done.time[:-1], done.torques[:, k], where="post", color=color, label=name)
    angle.plot([], [], "k", linewidth=0.4, label="looked ahead at")
    dress(angle, "angle (rad)")
    dress(torque, "torque (N m)")
    time_axis(axes, done.time)
    for ax in axes:
        beside(ax)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:.6g}")
    print("drawn:", plot.save(figure(), "ex17_own_scheduler.png"))

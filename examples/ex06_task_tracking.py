"""Tools that follow paths: a planar parallel robot, and two arms with one degree of freedom to spare.

The platform of a 3-RRR robot goes round an ellipse without turning. Two arms carry an object along a line, which takes
two of its three degrees of freedom; how far the object turns is left over: it is damped, or a posture brings it back to
level. Both start beside the path, and their errors obey e'' + G_D e' + G_P e = 0.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import PointTask, PoseTask, PostureTask, ProjectedInverseDynamics
from cmbcontrol.plants.three_rrr import configuration as pose_of_platform
from cmbcontrol.plants.two_arms import configuration as pose_of_object
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, INK, beside, dress, time_axis

BANDWIDTH = 12.0
Run = tuple[cmb.Simulation, ProjectedInverseDynamics]


@cache
def around_an_ellipse() -> Run:
    """The platform's centre round an ellipse in 2 s, its angle held."""
    plant = plants.three_rrr(plane="vertical")
    tool = PoseTask(plant, "platform", axes=("x", "y", "rz"))
    path = cmb.Sine([0.0, 0.0, 0.0], [0.10, 0.06, 0.0], frequency=0.5, phase=[0.5 * np.pi, 0.0, 0.0])
    law = ProjectedInverseDynamics(plant, tool, path, bandwidth=BANDWIDTH)
    q0 = pose_of_platform(plant, x=0.13, y=-0.02, angle=0.1)
    return cmb.simulate(plant, law, q0, t_end=2.0, output_times=0.01, rtol=1e-8, atol=1e-8), law


@cache
def along_a_line(posture: bool) -> Run:
    """The object's centre from left to right; its turning damped, or brought back to level by a posture."""
    plant = plants.two_arms()
    centre = PointTask(plant, "object", axes="xy")
    path = cmb.Quintic([-0.15, 0.45], [0.15, 0.60], duration=2.0)
    angle = PoseTask(plant, "object", axes=("rz",))
    wish = PostureTask(plant, cmb.Constant([0.0]), bandwidth=6.0, coordinates=angle) if posture else None
    law = ProjectedInverseDynamics(plant, centre, path, bandwidth=BANDWIDTH, posture=wish)
    q0 = pose_of_object(plant, -0.12, 0.52, 0.3)
    return cmb.simulate(plant, law, q0, t_end=2.0, output_times=0.01, rtol=1e-8, atol=1e-8), law


def task_values(run: cmb.Simulation, law: ProjectedInverseDynamics) -> np.ndarray:
    """Values of the task along a run, (times, k)."""
    return np.array([law.task.value(law.plant.terms(q, np.zeros(law.plant.nv))) for q in run.q.values])


def turns(run: cmb.Simulation) -> np.ndarray:
    """How far the object of the two arms is turned, rad."""
    q = run.q.values
    return q[:, 0] + q[:, 1] + q[:, 2]


def error_equation(run: cmb.Simulation, law: ProjectedInverseDynamics) -> float:
    """Largest distance of the error from the solution of e'' + 2 w e' + w^2 e = 0, over its start."""
    states = zip(run.time, run.q.values, run.v.values, strict=True)
    e, rate = (np.array(x) for x in zip(*(law.error(t, law.plant.terms(q, v)) for t, q, v in states), strict=True))
    t = run.time[:, None]
    exact = np.exp(-BANDWIDTH * t) * (e[0] + (rate[0] + BANDWIDTH * e[0]) * t)
    return float(np.abs(e - exact).max() / np.abs(e[0]).max())


def main() -> dict[str, float]:
    """Errors, efforts, and what becomes of the freedom that is left over."""
    found = {}
    ellipse, line, wish = around_an_ellipse(), along_a_line(posture=False), along_a_line(posture=True)
    for name, (run, law) in (("ellipse", ellipse), ("line, damped", line), ("line, posture", wish)):
        found[f"{name}: distance from the error equation, of the start"] = error_equation(run, law)
        found[f"{name}: error at the end, m"] = float(run.report.sel(quantity="tracking_error").values[-1])
        found[f"{name}: largest effort, N m"] = float(np.abs(run.u.values).max())
    found["paths of the object differ by, m"] = float(np.abs(task_values(*line) - task_values(*wish)).max())
    found["turned at the end, damped, rad"] = float(turns(line[0])[-1])
    found["turned at the end, posture, rad"] = float(turns(wish[0])[-1])
    return found


def figure() -> Figure:
    """Both machines with their paths; errors, the angle that is left over, and efforts."""
    ellipse, line, wish = around_an_ellipse(), along_a_line(posture=False), along_a_line(posture=True)
    drawn = new_figure(7.2, 8.6)
    top, below = drawn.subfigures(2, 1, height_ratios=(1.0, 1.9))
    robot, arms = top.subplots(1, 2)
    error, angle, torques, more_torques = below.subplots(4, 1, sharex=True)
    _path(robot, {"platform": ellipse})
    _path(arms, {"damped": line, "posture": wish})
    for (name, (run, _)), color in zip(
        {"platform": ellipse, "object, damped": line, "object, posture": wish}.items(), COLORS, strict=False
    ):
        error.plot(run.time, run.report.sel(quantity="tracking_error"), color=color, label=name)
        if run is not ellipse[0]:
            angle.plot(run.time, turns(run), color=color, label=name)
    _efforts(torques, ellipse[0])
    _efforts(more_torques, wish[0])
    dress(error, "error (m, rad)", log=True)
    dress(angle, "object angle (rad)")
    dress(torques, "robot: effort (N m)")
    dress(more_torques, "arms: effort (N m)")
    for ax in (error, angle, torques, more_torques):
        beside(ax)
    time_axis([error, angle, torques, more_torques], ellipse[0].time)
    return drawn


def _path(ax, cases: dict[str, Run]) -> None:
    """The machine where it starts, the path asked for, and those that were taken."""
    run, law = next(iter(cases.values()))
    run.plant.plot(run.q[0], ax=ax)
    wanted = np.array([law.reference(t)[0] for t in run.time])
    ax.plot(wanted[:, 0], wanted[:, 1], color=INK, linewidth=4.0, alpha=0.3, zorder=8, label="wanted")
    for (name, case), dashes in zip(cases.items(), ("-", "--"), strict=False):
        values = task_values(*case)
        ax.plot(values[:, 0], values[:, 1], dashes, color=INK, linewidth=1.2, zorder=8, label=name)
    ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3)


def _efforts(ax, run: cmb.Simulation) -> None:
    """Over time."""
    for i, name in enumerate(run.data["actuator"].values):
        ax.plot(run.time, run.u[:, i], ("-", "--")[i // 3], color=COLORS[i % 3], label=str(name))


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:65} {value:.4g}")
    print("drawn:", plot.save(figure(), "ex06_task_tracking.png"))

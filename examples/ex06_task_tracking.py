"""Tools that follow paths: a planar parallel robot, and two arms with one degree of freedom to spare.

The platform of a 3-RRR robot goes round an ellipse without turning. Two arms carry an object along a line, which takes
two of its three degrees of freedom; how far the object turns is left over: it is damped, or a posture brings it back to
level. Both start beside the path, and their errors obey e'' + G_D e' + G_P e = 0.
"""

from __future__ import annotations

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import PointTask, PoseTask, Posture, ProjectedInverseDynamics
from cmbcontrol.plants.three_rrr import configuration as pose_of_platform
from cmbcontrol.plants.two_arms import configuration as pose_of_object

BANDWIDTH = 12.0
Run = tuple[cmb.Simulation, ProjectedInverseDynamics]


def around_an_ellipse() -> Run:
    """The platform's centre round an ellipse in 2 s, its angle held."""
    plant = plants.three_rrr(plane="vertical")
    tool = PoseTask(plant, "platform", axes=("x", "y", "rz"))
    path = cmb.Sine([0.0, 0.0, 0.0], [0.10, 0.06, 0.0], frequency=0.5, phase=[0.5 * np.pi, 0.0, 0.0])
    law = ProjectedInverseDynamics(plant, tool, path, bandwidth=BANDWIDTH)
    q0 = pose_of_platform(plant, x=0.13, y=-0.02, angle=0.1)
    return cmb.simulate(plant, law, q0, t_end=2.0, output_times=0.01, rtol=1e-8, atol=1e-8), law


def along_a_line(posture: bool) -> Run:
    """The object's centre from left to right; its turning damped, or brought back to level by a posture."""
    plant = plants.two_arms()
    centre = PointTask(plant, "object", axes="xy")
    path = cmb.Quintic([-0.15, 0.45], [0.15, 0.60], duration=2.0)
    angle = PoseTask(plant, "object", axes=("rz",))
    wish = Posture(plant, cmb.Constant([0.0]), bandwidth=6.0, coordinates=angle) if posture else None
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


def figure():
    """Paths in the plane, errors, the angle left over, and efforts; returns a matplotlib figure."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=(8.2, 8.4), dpi=150, layout="constrained")
    axes = fig.subplots(3, 2)
    ellipse, line, wish = around_an_ellipse(), along_a_line(posture=False), along_a_line(posture=True)
    _paths(axes[0, 0], "platform of the 3-RRR", {"taken": ellipse})
    _paths(axes[0, 1], "object of the two arms", {"damped": line, "posture": wish})
    for i, (name, (run, _)) in enumerate({"3-RRR": ellipse, "arms, damped": line, "arms, posture": wish}.items()):
        axes[1, 0].semilogy(run.time, run.report.sel(quantity="tracking_error"), label=name, **STYLES[(2, 0, 1)[i]])
    axes[1, 0].set_ylabel("tracking error (m, rad)")
    for i, (name, (run, _)) in enumerate({"damped": line, "posture": wish}.items()):
        axes[1, 1].plot(run.time, turns(run), label=name, **STYLES[i])
    axes[1, 1].set_ylabel("angle of the object (rad)")
    axes[1, 1].set_ylim(-0.03, 0.55)
    _efforts(axes[2, 0], ellipse[0])
    _efforts(axes[2, 1], wish[0])
    for ax in axes[1:].flat:
        ax.set_xlabel("time (s)")
    for ax in axes.flat:
        ax.grid(True, color="#E4E4E4", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        place = "upper left" if ax is axes[0, 1] else "upper right"
        ax.legend(fontsize=8, frameon=False, loc=place, ncols=2 if len(ax.lines) == 6 else 1)
    return fig


STYLES = (
    {"color": "#D55E00", "linestyle": "-", "linewidth": 1.4},
    {"color": "#0072B2", "linestyle": "--", "linewidth": 1.4},
    {"color": "#009E73", "linestyle": "-.", "linewidth": 1.4},
)


def _paths(ax, title: str, cases: dict[str, Run]) -> None:
    """The path asked for, and those that were taken, from the dot on."""
    run, law = next(iter(cases.values()))
    wanted = np.array([law.reference(t)[0] for t in run.time])
    ax.plot(wanted[:, 0], wanted[:, 1], color="#222222", linewidth=3.0, alpha=0.3, label="wanted")
    for i, (name, case) in enumerate(cases.items()):
        values = task_values(*case)
        ax.plot(values[:, 0], values[:, 1], label=name, **STYLES[i])
        ax.plot(*values[0, :2], "o", color="#222222", markersize=3.5)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.15)
    ax.locator_params(nbins=6)
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("x (m)")
    ax.set_ylabel("y (m)")


def _efforts(ax, run: cmb.Simulation) -> None:
    """Motor efforts over time, with room for the legend above."""
    for i, name in enumerate(run.data["actuator"].values):
        style = {**STYLES[i % 3], "linestyle": ("-", "--")[i // 3]}
        ax.plot(run.time, run.u.values[:, i], label=str(name).replace("_", " "), **style)
    low, high = run.u.values.min(), run.u.values.max()
    ax.set_ylim(low - 0.05 * (high - low), high + 0.5 * (high - low))
    ax.set_ylabel("motor effort (N m)")


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:65} {value:.4g}")
    figure().savefig("task_tracking.png")

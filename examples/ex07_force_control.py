"""Two arms carry an object and squeeze it: its motion and the forces inside it are controlled together.

The object swings through an arc and turns. The right hand presses on it along its axis with 20 N, then with 60 N, then
with 30 N, carries half of its weight and does not bend it. The plant is coupled: acceleration loads the grasp. The
same law without the term for that (mu of Aghili's eq. 51) lets the motion into the force; the motion does not change.
"""

from __future__ import annotations

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ConstraintForcePI, HybridMotionForce, PoseTask, ProjectedInverseDynamics
from cmbcontrol.controllers.decoupling import is_decoupled
from cmbcontrol.plants.two_arms import configuration

PERIOD, WEIGHT = 4e-3, 6.0 * 9.81  # s, N
FORCES = ("grasp_fx", "grasp_fy", "grasp_mz")
PATH = cmb.Sine([0.0, 0.55, 0.0], [0.15, 0.05, 0.25], frequency=[0.75, 1.5, 0.75], phase=[0.0, 0.5 * np.pi, 0.0])


def wanted(t: float) -> np.ndarray:
    """Force (N) and moment (N m) of the right hand on the object, in its axes: a ramp, then a step."""
    squeeze = np.interp(t, [0.4, 0.8], [20.0, 60.0]) if t < 1.4 else 30.0
    return np.array([-squeeze, 0.5 * WEIGHT, 0.0])


def carry(compensate: bool = True) -> tuple[cmb.Simulation, HybridMotionForce]:
    """Move and squeeze for 2 s, sampled at 250 Hz."""
    plant = plants.two_arms()
    motion = ProjectedInverseDynamics(
        plant, PoseTask(plant, "object", axes=("x", "y", "rz")), PATH, bandwidth=15.0, period=PERIOD
    )
    force = ConstraintForcePI(
        plant, wanted, FORCES, kp=0.3, ki=60.0, frame="object", on="a", period=PERIOD, compensate=compensate
    )
    law = HybridMotionForce(motion, force)
    q0 = configuration(plant, *PATH(0.0)[0])
    terms = plant.terms(q0, np.zeros(plant.nv))
    v0 = terms.Z @ np.linalg.solve(motion.task.jacobian(terms) @ terms.Z, PATH(0.0)[1])
    return cmb.simulate(plant, law, q0, v0, t_end=2.0, output_times=0.004, rtol=1e-8, atol=1e-8), law


def forces(run: cmb.Simulation, law: HybridMotionForce) -> np.ndarray:
    """The components that are controlled, along a run, (times, 3)."""
    still = np.zeros(law.plant.nv)
    states = zip(run.q.values, run.constraint_force.values, strict=True)
    return np.array([law.force.components.matrix(law.plant.terms(q, still)) @ F for q, F in states])


def path_error(run: cmb.Simulation, law: HybridMotionForce) -> np.ndarray:
    """Distance of the object's centre from its path, m."""
    states = zip(run.time, run.q.values, run.v.values, strict=True)
    error = [law.motion.error(t, law.plant.terms(q, v))[0] for t, q, v in states]
    return np.linalg.norm(np.array(error)[:, :2], axis=1)


def main() -> dict[str, float]:
    """Force and path errors with and without compensation, and the coupling."""
    found = {}
    for name, compensate in (("compensated", True), ("coupling ignored", False)):
        run, law = carry(compensate)
        error = forces(run, law) - [wanted(t) for t in run.time]
        settled = (run.time > 0.1) & (np.abs(run.time - 1.4) > 0.1)
        found[f"{name}: largest force error, N"] = float(np.abs(error[settled, :2]).max())
        found[f"{name}: largest moment error, N m"] = float(np.abs(error[settled, 2]).max())
        found[f"{name}: largest path error, m"] = float(path_error(run, law).max())
    coupling = run.report.sel(quantity="coupling").values
    found["coupling along the path, least"], found["coupling along the path, most"] = coupling.min(), coupling.max()
    found["coupling at the start"] = is_decoupled(law.plant, run.q.values[0]).coupling
    return found


STYLES = (
    {"color": "#0072B2", "linewidth": 1.4},
    {"color": "#D55E00", "linewidth": 1.4},
    {"color": "#009E73", "linewidth": 1.4},
)


def figure():
    """Forces wanted and actual, path error, efforts and coupling; returns a matplotlib figure."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=(8.2, 8.6), dpi=150, layout="constrained")
    axes = fig.subplots(3, 2, sharex=True)
    cases = {"compensated": carry(), "coupling ignored": carry(compensate=False)}
    run = cases["compensated"][0]
    targets = np.array([wanted(t) for t in run.time])
    for ax, style, (name, case) in zip(axes[0], STYLES, cases.items(), strict=False):
        actual = forces(*case)
        for i, (label, sign) in enumerate((("squeeze", -1.0), ("lift", 1.0))):
            ax.plot(run.time, sign * targets[:, i], color="#222222", linewidth=3.0, alpha=0.3)
            ax.plot(run.time, sign * actual[:, i], label=label, **STYLES[i])
        ax.plot([], [], color="#222222", linewidth=3.0, alpha=0.3, label="wanted")
        ax.set(title=name, ylabel="force of the right hand (N)")
        style = {**style, "linestyle": "-" if name == "compensated" else "--"}
        axes[1, 0].plot(run.time, actual[:, 2], label=name, **style)
        axes[1, 1].plot(run.time, 1e3 * path_error(*case), label=name, **style)
    axes[1, 0].set(ylabel="moment of the right hand (N m)", ylim=(-1.5, 1.5))
    axes[1, 1].set(ylabel="path error of the object (mm)")
    for i, name in enumerate(run.data["actuator"].values):
        style = {**STYLES[i % 3], "linestyle": ("-", "--")[i // 3]}
        axes[2, 0].plot(run.time, run.u.values[:, i], label=str(name).replace("_", " "), **style)
    axes[2, 0].set(ylabel="motor effort (N m)")
    axes[2, 1].plot(run.time, run.report.sel(quantity="coupling"), label=r"$|\mu P|$", **STYLES[0])
    axes[2, 1].set(ylabel="cross coupling (no unit)")
    for ax in axes[2]:
        ax.set_xlabel("time (s)")
    for ax in axes.flat:
        ax.grid(True, color="#E4E4E4", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + (0.4 if len(ax.lines) == 6 else 0.25) * (high - low))
        columns = {"ncols": 3, "columnspacing": 1.0, "handlelength": 1.6}
        ax.legend(fontsize=7.5, frameon=False, loc="upper right", **columns)
    return fig


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:45} {value:.4g}")
    figure().savefig("force_control.png")

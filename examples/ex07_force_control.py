"""Two arms carry an object and squeeze it: its motion and the forces inside it are controlled together.

The object swings through an arc and turns. The right hand presses on it along its axis with 20 N, then with 60 N, then
with 30 N, carries half of its weight and does not bend it. The plant is coupled: acceleration loads the grasp. The
same law without the term for that (mu of Aghili's eq. 51) lets the motion into the force; the motion does not change.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import ConstraintForcePI, HybridMotionForce, PoseTask, ProjectedInverseDynamics
from cmbcontrol.controllers.decoupling import is_decoupled
from cmbcontrol.plants.two_arms import configuration
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, INK, beside, dress, time_axis

PERIOD, WEIGHT = 4e-3, 6.0 * 9.81  # s, N
FORCES = ("grasp_fx", "grasp_fy", "grasp_mz")
PATH = cmb.Sine([0.0, 0.55, 0.0], [0.15, 0.05, 0.25], frequency=[0.75, 1.5, 0.75], phase=[0.0, 0.5 * np.pi, 0.0])


def wanted(t: float) -> np.ndarray:
    """Force (N) and moment (N m) of the right hand on the object, in its axes: a ramp, then a step."""
    squeeze = np.interp(t, [0.4, 0.8], [20.0, 60.0]) if t < 1.4 else 30.0
    return np.array([-squeeze, 0.5 * WEIGHT, 0.0])


@cache
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


def figure() -> Figure:
    """The machine, the forces with and without compensation, moment and path errors, efforts."""
    cases = {"compensated": carry(), "coupling ignored": carry(compensate=False)}
    run = carry()[0]
    targets = np.array([wanted(t) for t in run.time])
    drawn = new_figure(7.2, 10.4)
    machine, *axes = drawn.subplots(6, 1, height_ratios=(1.6, 1.0, 1.0, 0.7, 0.7, 1.0))
    run.plant.plot(run.q[0], ax=machine)
    for ax, color, (name, case) in zip(axes, COLORS[3:], cases.items(), strict=False):
        actual = forces(*case)
        for i, (label, sign) in enumerate((("squeeze", -1.0), ("lift", 1.0))):
            ax.plot(run.time, sign * targets[:, i], color=INK, linewidth=3.5, alpha=0.25, label=("wanted", None)[i])
            ax.plot(run.time, sign * actual[:, i], color=COLORS[i], label=f"{label}, {name}")
        axes[2].plot(run.time, actual[:, 2], color=color, label=name)
        dashes = "-" if name == "compensated" else "--"
        axes[3].plot(run.time, 1e3 * path_error(*case), dashes, color=color, label=name)
    for i, name in enumerate(run.data["actuator"].values):
        axes[4].plot(run.time, run.u[:, i], ("-", "--")[i // 3], color=COLORS[i % 3], label=str(name))
    labels = ("force (N)", "force (N)", "moment (N m)", "path error (mm)", "motor effort (N m)")
    for ax, label in zip(axes, labels, strict=True):
        dress(ax, label)
        beside(ax)
        ax.sharex(axes[-1])
        ax.tick_params(labelbottom=ax is axes[-1])
    time_axis(axes, run.time)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:45} {value:.4g}")
    print("drawn:", plot.save(figure(), "ex07_force_control.png"))

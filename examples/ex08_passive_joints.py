"""Passive joints: a five-bar with motors on the ground alone, and a crank that drives through a singular configuration.

The slider-crank is that of Aghili's section 8. Where rod and crank point the same way, the rod may turn by itself: for
that instant there are two degrees of freedom and one motor. The machine passes, and the loss is reported.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import PassiveJoints, ProjectedInverseDynamics
from cmbcontrol.controllers.actuation import actuation_along
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress

EPSILON = 0.2  # singular values of A below it count as zero, in the window of the paper


@cache
def five_bar() -> cmb.Simulation:
    """Track two sines with the ground motors, from 0.05 rad off them."""
    plant = plants.five_bar()
    path = cmb.Sine(centre=[2.1, 1.0], amplitude=[0.3, 0.2], frequency=[0.5, 0.7])
    law = PassiveJoints(ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0))
    return cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.95), t_end=3.0, rtol=1e-9, atol=1e-9)


@cache
def slider_crank() -> cmb.Simulation:
    """From one side of the singular configuration q1 = pi/2 to the other with the motor on the crank."""
    plant = plants.slider_crank()
    path = cmb.Quintic([0.6], [2.5], duration=2.0)
    law = PassiveJoints(ProjectedInverseDynamics(plant, "q1", path, bandwidth=8.0))
    return cmb.simulate(plant, law, [0.6, -1.2], t_end=2.5)


@cache
def joint_forces(run: cmb.Simulation) -> np.ndarray:
    """B u (times, nv): what the motors exert on each joint."""
    states = zip(run.q.values, run.v.values, run.u.values, strict=True)
    return np.array([run.plant.terms(q, v).B @ u for q, v, u in states])


def crank_torque(run: cmb.Simulation) -> np.ndarray:
    """By virtual work along (1, -2), mass and length 1: I q1'' + I'/2 q1'^2 + g cos q1 with I = 3 - 2 cos 2 q1."""
    q, v, a = (run.data[x].values[:, 0] for x in ("q", "v", "a"))
    return (3.0 - 2.0 * np.cos(2.0 * q)) * a + 2.0 * np.sin(2.0 * q) * v**2 + 9.81 * np.cos(q)


def main() -> dict[str, float]:
    """Errors, torques, margins, and where control is lost."""
    linkage, crank = five_bar(), slider_crank()
    error = np.abs(linkage.reference.values - linkage.q.values[:, [0, 2]]).max(axis=1)
    lost, window = (actuation_along(crank.plant, crank, epsilon=e) for e in (None, EPSILON))
    away = np.abs(crank.q.values[:, 0] - 0.5 * np.pi) > 0.01
    off = np.abs(crank.u.values[:, 0] - crank_torque(crank))[away]
    return {
        "five-bar: error at the start, rad": float(error[0]),
        "five-bar: error at the end, rad": float(error[-1]),
        "five-bar: largest torque on a passive joint, N m": float(np.abs(joint_forces(linkage)[:, [1, 3]]).max()),
        "five-bar: least margin": float(actuation_along(linkage.plant, linkage).margin.min()),
        "slider-crank: largest error, rad": float(np.abs(crank.reference.values - crank.q.values[:, :1]).max()),
        "slider-crank: torque off virtual work, N m": float(off.max()),
        "slider-crank: margin away from the pose": float(lost.margin.median()),
        "slider-crank: losses": lost.sizes["loss"],
        "slider-crank: time of the loss, s": float(lost.loss_time[0]),
        "slider-crank: margin there": float(lost.loss_margin[0]),
        "slider-crank: angle where the window begins, rad": _angle(crank, float(window.loss_begin[0])),
        "slider-crank: the same by eq. (70), rad": float(np.arccos(EPSILON / np.sqrt(5.0))),
    }


def _angle(run: cmb.Simulation, t: float) -> float:
    return float(np.interp(t, run.time, run.q.values[:, 0]))


def figure() -> Figure:
    """Both machines: angles, torques, and the actuation margin."""
    drawn = new_figure(7.2, 10.0)
    left, right = drawn.subfigures(2, 1)
    _draw_five_bar(left, five_bar())
    _draw_slider_crank(right, slider_crank())
    left.suptitle("five-bar, motors on left and right", fontsize=10)
    right.suptitle("slider-crank, motor on the crank", fontsize=10)
    return drawn


def _panels(drawn, run: cmb.Simulation) -> tuple:
    """Axes for angles, torques and margin."""
    axes = drawn.subplots(3, 1, sharex=True)
    for ax, label in zip(axes, ("angle (rad)", "torque on joint (N m)"), strict=False):
        dress(ax, label)
    plot.actuation(run, ax=axes[2])
    return axes


def _draw_five_bar(drawn, run: cmb.Simulation) -> None:
    angle, torque, margin = _panels(drawn, run)
    for k, (name, color) in enumerate(zip(run.plant.velocity_names, COLORS, strict=False)):
        if k in (0, 2):
            angle.plot(run.time, run.q[:, k], color=color, label=name)
        torque.plot(run.time, joint_forces(run)[:, k], "--" if k == 3 else "-", color=color, label=name)
    angle.plot(run.time, run.reference, "k:", linewidth=1.2, label=["reference", None])
    for ax in (angle, torque, margin):
        beside(ax)


def _draw_slider_crank(drawn, run: cmb.Simulation) -> None:
    angle, torque, margin = _panels(drawn, run)
    angle.plot(run.time, run.q[:, 0], color=COLORS[0], label="q1")
    angle.plot(run.time, run.reference, "k:", linewidth=1.2, label="reference")
    angle.axhline(0.5 * np.pi, color="0.6", linewidth=0.8, label="singular configuration")
    torque.plot(run.time, run.u[:, 0], color=COLORS[0], label="q1")
    torque.plot(run.time, crank_torque(run), "k:", linewidth=1.2, label="virtual work")
    window = actuation_along(run.plant, run, epsilon=EPSILON)
    margin.plot(window.time, window.margin, "k:", linewidth=1.0, label=f"with epsilon = {EPSILON:g}")
    for ax in (angle, torque, margin):
        beside(ax)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:55} {value:.6g}")
    print("drawn:", plot.save(figure(), "ex08_passive_joints.png"))

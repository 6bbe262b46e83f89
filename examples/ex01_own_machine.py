"""Describe a machine of your own, and ask what it can do.

A slider-crank: crank, rod, and a slider in a guide. The tree is cut at the slider's pin; closed by
a full 3D revolute joint, it is redundant, and moves all the same.
"""

from __future__ import annotations

from functools import cache

from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plot
from cmbcontrol.plot.figure import new_figure

GUESS = {"crank_angle": 1.0, "rod_angle": -1.3, "travel": 0.35}  # rad, m: which of two ways to close the loop


def slider_crank(closure: str = "revolute") -> cmb.Mechanism:
    """Crank 0.1 m, rod 0.3 m, slider 0.5 kg along x; vertical plane, motor on the crank."""
    pin = cmb.Frame((0.3, 0.0, 0.0))
    closures = {
        "revolute": cmb.Revolute("pin", "rod", "slider", frame=pin),
        "line": cmb.PointOnLine("pin", "rod", "slider", point_a=(0.3, 0.0, 0.0)),
    }
    return cmb.Mechanism(
        "my slider-crank",
        bodies=[
            cmb.Body.rod("crank", mass=0.2, length=0.1),
            cmb.Body.rod("rod", mass=0.4, length=0.3),
            cmb.Body("slider", mass=0.5, inertia=(1e-3, 1e-3, 1e-3)),
        ],
        joints=[
            cmb.Revolute("crank_angle", "ground", "crank"),
            cmb.Revolute("rod_angle", "crank", "rod", frame=cmb.Frame((0.1, 0.0, 0.0))),
            cmb.Prismatic("travel", "ground", "slider", axis=(1, 0, 0), damping=2.0),
        ],
        loops=[closures[closure]],
        actuators=[cmb.Actuator("crank_angle", effort=5.0)],
        gravity=(0.0, -9.81, 0.0),
    )


@cache
def falls(closure: str = "revolute") -> cmb.Simulation:
    """Let go of at an angle of the crank of 1 rad."""
    plant = slider_crank(closure)
    return cmb.simulate(plant, q0=plant.assemble(crank_angle=1.0, guess=GUESS), t_end=1.0)


def main() -> dict[str, float]:
    """Diagnose it, find the torque that holds it, and let it go."""
    run, twin = falls(), falls("line")
    plant, q = run.plant, run.q[0]
    found = plant.diagnose(q)
    hold = cmb.inverse_dynamics(plant, q, [0.0] * 3, [0.0] * 3)
    return {
        "dof": found.dof,
        "redundant rows": found.redundant["pin"],
        "holding torque, N m": float(hold.u[0]),
        "drift, m": run.max_drift,
        "energy error, J": run.max_energy_error,
        "difference to the twin, rad": float(abs(run.q.values - twin.q.values).max()),
    }


def figure() -> Figure:
    """The machine at three times of its fall, and the motion of its joints."""
    run = falls()
    drawn = new_figure(7.2, 5.2)
    top, below = drawn.subfigures(2, 1, height_ratios=(1.0, 2.2))
    for ax, t in zip(top.subplots(1, 3), (0.0, 0.3, 0.6), strict=True):
        run.plant.plot(run.q.sel(time=t, method="nearest"), ax=ax)
        ax.set(xlim=(-0.15, 0.5), ylim=(-0.15, 0.15))
        ax.label_outer()
        ax.set_title(f"{t:g} s", fontsize=9)
    plot.responses(run, axes=below.subplots(2, 1, sharex=True))
    return drawn


if __name__ == "__main__":
    print(slider_crank())
    for name, value in main().items():
        print(f"{name:30} {value:.4g}")
    print("drawn:", plot.save(figure(), "ex01_own_machine.png"))

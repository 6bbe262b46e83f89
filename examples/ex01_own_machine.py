"""Describe a machine of your own, and ask what it can do.

A slider-crank: crank, rod, and a slider in a guide. The tree is cut at the slider's pin; closed by
a full 3D revolute joint, it is redundant, and moves all the same.
"""

from __future__ import annotations

import cmbcontrol as cmb


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


def main() -> dict[str, float]:
    """Diagnose it, find the torque that holds it, and let it go."""
    plant = slider_crank()
    q = plant.assemble(crank_angle=1.0, guess={"crank_angle": 1.0, "rod_angle": -1.3, "travel": 0.35})
    found = plant.diagnose(q)
    hold = cmb.inverse_dynamics(plant, q, [0.0] * 3, [0.0] * 3)
    run = cmb.simulate(plant, q0=q, t_end=1.0)
    twin = cmb.simulate(slider_crank("line"), q0=q, t_end=1.0)
    return {
        "dof": found.dof,
        "redundant rows": found.redundant["pin"],
        "holding torque, N m": float(hold.u[0]),
        "drift, m": run.max_drift,
        "energy error, J": run.max_energy_error,
        "difference to the twin, rad": float(abs(run.q.values - twin.q.values).max()),
    }


if __name__ == "__main__":
    print(slider_crank())
    for name, value in main().items():
        print(f"{name:30} {value:.4g}")

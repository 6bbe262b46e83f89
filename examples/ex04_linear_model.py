"""A linear model of a closed chain for python-control: poles, coordinates, LQR."""

from __future__ import annotations

import control as ct
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants


def main() -> dict[str, float]:
    """Trim, linearize in two sets of coordinates, design an LQR and close the loop on the nonlinear plant."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    point = cmb.trim(plant, q0)
    motors = cmb.linearize(plant, point, coordinates=("left", "right"))
    elbows = cmb.linearize(plant, point, coordinates=("elbow_left", "elbow_right"))
    poles = [np.sort_complex(m.poles()) for m in (motors, elbows)]
    K, _, closed = ct.lqr(motors.to_ss(), np.diag([100.0, 100.0, 1.0, 1.0]), np.eye(2))

    def law(t: float, terms: cmb.Terms, state: np.ndarray) -> np.ndarray:
        """State feedback around the trimmed configuration: a plain function is a controller."""
        y = terms.q[[0, 2]] - q0[[0, 2]], terms.v[[0, 2]]
        return point.u - K @ np.concatenate(y)

    run = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.97), t_end=3.0, rtol=1e-8, atol=1e-8)
    return {
        "poles differ between coordinates by, rad/s": float(np.abs(poles[0] - poles[1]).max()),
        "fastest open-loop pole, rad/s": float(poles[0].real.max()),
        "slowest closed-loop pole, rad/s": float(closed.real.max()),
        "error left after 3 s, rad": float(np.abs(run.q.values[-1] - q0).max()),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:45} {value:.4g}")

"""A linear model of a closed chain for python-control: poles, coordinates, LQR."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import control as ct
import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress, time_axis


class Design(NamedTuple):
    """Models of one equilibrium in two sets of coordinates, poles of the LQR, and a run under it."""

    q0: np.ndarray
    motors: cmb.LinearModel
    elbows: cmb.LinearModel
    closed: np.ndarray
    run: cmb.Simulation


@cache
def design() -> Design:
    """Trim, linearize in two sets of coordinates, design an LQR and close the loop on the nonlinear plant."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    point = cmb.trim(plant, q0)
    motors = cmb.linearize(plant, point, coordinates=("left", "right"))
    elbows = cmb.linearize(plant, point, coordinates=("elbow_left", "elbow_right"))
    K, _, closed = ct.lqr(motors.to_ss(), np.diag([100.0, 100.0, 1.0, 1.0]), np.eye(2))

    def law(t: float, terms: cmb.Terms, state: np.ndarray) -> np.ndarray:
        """State feedback around the trimmed configuration: a plain function is a controller."""
        y = terms.q[[0, 2]] - q0[[0, 2]], terms.v[[0, 2]]
        return point.u - K @ np.concatenate(y)

    run = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.97), t_end=3.0, rtol=1e-8, atol=1e-8)
    return Design(q0, motors, elbows, closed, run)


def main() -> dict[str, float]:
    """Poles before and after, and what is left of the error."""
    done = design()
    poles = [np.sort_complex(m.poles()) for m in (done.motors, done.elbows)]
    return {
        "poles differ between coordinates by, rad/s": float(np.abs(poles[0] - poles[1]).max()),
        "fastest open-loop pole, rad/s": float(poles[0].real.max()),
        "slowest closed-loop pole, rad/s": float(done.closed.real.max()),
        "error left after 3 s, rad": float(np.abs(done.run.q.values[-1] - done.q0).max()),
    }


def figure() -> Figure:
    """Poles without and with feedback, and the motion of the nonlinear machine back to its equilibrium."""
    done = design()
    drawn = new_figure(7.2, 4.6)
    poles, way_back = drawn.subplots(2, 1)
    sets = {
        "open loop, left and right": done.motors.poles(),
        "open loop, elbows": done.elbows.poles(),
        "LQR": done.closed,
    }
    for (name, values), mark, color in zip(sets.items(), "x+o", COLORS, strict=False):
        poles.plot(values.real, values.imag, mark, color=color, markersize=8, fillstyle="none", label=name)
    dress(poles, "imaginary part (rad/s)")
    poles.set_xlabel("real part (1/s)", fontsize=9)
    for k, (name, color) in enumerate(zip(done.run.plant.position_names, COLORS, strict=False)):
        way_back.plot(done.run.time, done.run.q[:, k] - done.q0[k], color=color, label=name)
    dress(way_back, "off the equilibrium (rad)")
    time_axis([way_back], done.run.time)
    beside(poles)
    beside(way_back)
    return drawn


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:45} {value:.4g}")
    print("drawn:", plot.save(figure(), "ex04_linear_model.png"))

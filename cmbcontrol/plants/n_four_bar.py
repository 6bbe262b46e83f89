"""N four-bar mechanism of the IFToMM multibody benchmarks (A02)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Frame, PointOnLine, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["n_four_bar"]

SOURCE = "IFToMM Technical Committee for Multibody Dynamics, benchmark A02"
GRAVITY = 9.81


def n_four_bar(n: int = 2, effort: float = math.inf) -> Mechanism:
    """Mechanism of N + 1 parallel bars on the ground, with N couplers between their tops: one degree of freedom.

    All 2 N + 1 bars are thin rods of 1 kg and 1 m. The bars ``bar0`` ... ``barN`` stand on ground pivots at
    (i, 0); their coordinates are absolute angles from +x (pi/2 upright). The coupler ``coupler{i}``, i = 1 ... N,
    hangs on the top of bar i - 1 at an angle relative to it, and the loop ``top{i}`` joins its far end to the
    top of bar i (two rows). Vertical x-y plane, gravity 9.81 along -y.

    Exact reduction while the couplers stay parallel to the ground, th the angle of the bars:
    I th'' = -9.81 G cos(th), I = (N + 1)/3 + N, G = (N + 1)/2 + N; top of the first bar (cos th, sin th).
    In the flat configurations th = k pi the freedom rises from 1 to N + 1.

    Parameters
    ----------
    n : int
        Number of loops.
    effort : float
        Torque limit of the motor on ``bar0``, N m.

    Examples
    --------
    >>> plant = n_four_bar(3)
    >>> plant.diagnose(configuration(3, 1.0)).dof
    1
    """
    n = _check.count(n, "n, the number of loops,")
    top = Frame((1.0, 0, 0))
    bodies, joints, loops = [], [], []
    for i in range(n + 1):
        bodies.append(Body.rod(f"bar{i}", 1.0, 1.0))
        joints.append(Revolute(f"bar{i}", "ground", f"bar{i}", frame=Frame((float(i), 0, 0))))
        if i < n:
            bodies.append(Body.rod(f"coupler{i + 1}", 1.0, 1.0))
            joints.append(Revolute(f"coupler{i + 1}", f"bar{i}", f"coupler{i + 1}", frame=top))
            loops.append(PointOnLine(f"top{i + 1}", f"bar{i + 1}", f"coupler{i + 1}", top.p, top.p))
    return Mechanism(
        "n-four-bar",
        bodies,
        joints,
        loops,
        actuators=[Actuator("bar0", effort=effort)],
        gravity=(0.0, -GRAVITY, 0.0),
        source=SOURCE,
    )


def configuration(n: int, angle: float) -> NDArray[np.float64]:
    """Configuration with all bars at `angle` from +x and the couplers level."""
    n = int(_check.positive(n, "n"))
    return np.array([*([angle, -angle] * n), angle])


def rate(n: int, speed: float) -> NDArray[np.float64]:
    """Velocity when the bars turn at `speed` (rad/s) and the couplers stay level."""
    return configuration(n, speed)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) of the benchmark: bars upright, their tops moving at 1 m/s along +x."""
    n = plant.nv // 2
    return configuration(n, 0.5 * math.pi), rate(n, -1.0)


ENTRY = Entry(
    "n-four-bar",
    n_four_bar,
    "N coupled four-bar linkages, IFToMM A02 (1 degree of freedom)",
    SOURCE,
    start,
    TrackingTask(("bar0",), (0.5 * np.pi,), (0.5,), 0.5, (0.0,), 8.0, 5.0),
)

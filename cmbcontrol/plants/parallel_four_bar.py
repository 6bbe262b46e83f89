"""Spencer's parallel four-bar robot (thesis, section 2.4.1, eq. 2.48)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..model.elements import Actuator, Body, Frame, PointOnLine, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["parallel_four_bar"]

SOURCE = "E. L. Spencer, thesis, Iowa State University 2004, section 2.4.1 (dimensions are ours: none are printed)"
L1, L2 = 0.5, 0.3
DENSITY = 4.0  # kg/m of the uniform bars


def parallel_four_bar(effort: float = math.inf) -> Mechanism:
    """Parallelogram of four bars on one ground pivot: two motors, two degrees of freedom, constant K.

    Bars 1 and 2 turn about the origin, with absolute angles ``q1`` and ``q2``; bar 3 (length L1) is hinged
    to the end of bar 2 at the relative angle ``q3``, bar 4 (length L2) to the end of bar 3 at ``q4``, and
    the loop ``A`` joins the end of bar 4 to the end of bar 1. On the parallelogram
    q3 = q1 - q2 and q4 = q2 - q1 - pi, hence K = [1 0; 0 1; 1 -1; -1 1] in (q1, q2).

    Dimensions (ours): L1 = 0.5 m, L2 = 0.3 m, uniform thin bars of 4 kg/m, vertical x-y plane, gravity
    9.81 along -y. Singular where the bars are in line, q1 - q2 = k pi: there the antiparallelogram, the
    other way to close the loop, branches off. Give ``assemble`` a guess, or use `configuration`, to choose.

    Parameters
    ----------
    effort : float
        Torque limit of both motors, N m.

    Examples
    --------
    >>> plant = parallel_four_bar()
    >>> q = configuration(2.0, 0.5)
    >>> plant.closure_error(q) < 1e-15
    True
    """
    bodies = [Body.rod(f"bar{i}", DENSITY * length, length) for i, length in enumerate((L1, L2, L1, L2), start=1)]
    joints = [
        Revolute("q1", "ground", "bar1"),
        Revolute("q2", "ground", "bar2"),
        Revolute("q3", "bar2", "bar3", frame=Frame((L2, 0, 0))),
        Revolute("q4", "bar3", "bar4", frame=Frame((L1, 0, 0))),
    ]
    return Mechanism(
        "parallel-four-bar",
        bodies,
        joints,
        [PointOnLine("A", "bar1", "bar4", (L1, 0, 0), (L2, 0, 0))],
        actuators=[Actuator("q1", effort=effort), Actuator("q2", effort=effort)],
        gravity=(0.0, -9.81, 0.0),
        source=SOURCE,
    )


def configuration(q1: float, q2: float) -> NDArray[np.float64]:
    """Configuration on the parallelogram (Spencer, eq. 2.48)."""
    return np.array([q1, q2, q1 - q2, q2 - q1 - math.pi])


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest at q1 = 2.0, q2 = 0.5."""
    return configuration(2.0, 0.5), np.zeros(plant.nv)


ENTRY = Entry(
    "parallel-four-bar",
    parallel_four_bar,
    "parallelogram of four bars on one pivot (2 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(("q1", "q2"), (2.0, 0.5), (0.3, 0.3), 0.5, (0.0, 0.5 * np.pi), 8.0, 5.0),
)

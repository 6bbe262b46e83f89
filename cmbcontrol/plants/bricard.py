"""Rectangular Bricard mechanism of the IFToMM multibody benchmarks (A04)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..model.elements import Actuator, Body, Frame, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["bricard"]

SOURCE = "IFToMM Technical Committee for Multibody Dynamics, benchmark A04"
POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))


def bricard(effort: float = math.inf) -> Mechanism:
    """Bricard mechanism: five rods and six revolute joints on edges of a cube, overconstrained, one degree of freedom.

    Thin rods of 1 kg and 1 m connect the points P0 ... P5 = (0,0,0), (1,0,0), (1,-1,0), (1,-1,1), (0,-1,1),
    (0,0,1), where revolute joints have the axes y, z, x, y, z, x. The first and the last are on the ground.
    Gravity 9.81 along -y; the benchmark starts at rest with all angles zero and follows P2.

    Tree: ``hinge0`` ... ``hinge4``, each turning the rod ``rod1`` ... ``rod5`` relative to the one before; the
    loop ``hinge5`` is the cut revolute joint between rod5 and the ground: five rows, rank four. On it
    hinge0 = hinge2 = hinge4 = a and hinge1 = hinge3 = b with (1 + sin a)(1 + sin b) = 1, so that each angle
    ranges from -30 to 210 degrees. No configuration on this path loses rank; at the ends of its range a hinge is no
    independent coordinate.

    Parameters
    ----------
    effort : float
        Torque limit of the motor on ``hinge0``, N m.

    Examples
    --------
    >>> plant = bricard()
    >>> found = plant.diagnose(plant.neutral())
    >>> found.rows, found.rank, found.dof
    (5, 4, 1)
    """
    points = np.array(POINTS, dtype=float)
    edges = np.diff(points, axis=0)
    bodies, joints = [], []
    for i, edge in enumerate(edges):
        across = 1.0 / 12.0 * (1.0 - np.abs(edge))  # none about its own line
        bodies.append(Body(f"rod{i + 1}", 1.0, 0.5 * edge, across))
        parent, place = ("ground", points[0]) if i == 0 else (f"rod{i}", edges[i - 1])
        joints.append(Revolute(f"hinge{i}", parent, f"rod{i + 1}", axis=AXES[i], frame=Frame(place)))
    last = Revolute("hinge5", "ground", "rod5", axis=AXES[5], frame=Frame(points[5]), child_frame=Frame(edges[4]))
    return Mechanism(
        "bricard",
        bodies,
        joints,
        [last],
        actuators=[Actuator("hinge0", effort=effort)],
        gravity=(0.0, -9.81, 0.0),
        source=SOURCE,
    )


def observed(plant: Mechanism, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Position (3,) of the point that the benchmark follows: the joint that starts at (1, -1, 0)."""
    return plant.point(q, "rod3")


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) of the benchmark: at rest on the cube."""
    return plant.neutral(), np.zeros(plant.nv)


ENTRY = Entry(
    "bricard",
    bricard,
    "rectangular Bricard mechanism, IFToMM A04 (3D, 1 degree of freedom, one redundant row)",
    SOURCE,
    start,
    TrackingTask(("hinge0",), (0.0,), (0.3,), 0.5, (0.0,), 8.0, 5.0),
)

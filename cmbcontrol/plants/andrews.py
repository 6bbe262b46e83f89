"""Andrews' squeezing mechanism, in the coordinates of the test set for initial value problems."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..model.elements import Actuator, Body, Frame, PointOnLine, PointSpring, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["andrews"]

SOURCE = "Test set for IVP solvers (Bari), Andrews' squeezing mechanism; Hairer and Wanner II, section VII.7"

# Metres, kilograms, kg m2, N/m; the names of the test set.
XA, YA, XB, YB, XC, YC = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
D, DA, E, EA, RR, RA = 28.0e-3, 115.0e-4, 2.0e-2, 1421.0e-5, 7.0e-3, 92.0e-5
SS, SA, SB, SC, SD = 35.0e-3, 1874.0e-5, 1043.0e-5, 18.0e-3, 2.0e-2
TA, TB, U, UA, UB = 2308.0e-5, 916.0e-5, 4.0e-2, 1228.0e-5, 449.0e-5
ZF, ZT, FA = 2.0e-2, 4.0e-2, 1421.0e-5
C0, L0, TORQUE = 4530.0, 0.07785, 0.033
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
Q0 = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)


def andrews(effort: float = math.inf) -> Mechanism:
    """Andrews' mechanism: seven bodies in the plane, three loops at one point, a stiff spring, one degree of freedom.

    All coordinates are those of the test set, in its order: the absolute angles ``beta`` (crank K1, on
    the ground at O), ``gamma`` (K3, at B), ``delta`` (K5, at A) and ``epsilon`` (K7, at A), and the angles
    ``Theta`` (K2 relative to K1), ``Phi`` (K4 relative to K5) and ``Omega`` (K6 relative to K7). The loops
    ``F3``, ``F4`` and ``F6`` hold the point F of K2 at that of K3, K4 and K6. The rows are those of the test
    set turned into the axes of K3, K4 and K6, with the same sign.

    A spring pulls the point D of K3 towards the ground point C. There is no gravity. The motor ``beta``
    drives the crank; the test set's constant torque is u = ``TORQUE`` = 0.033 N m. The bodies are
    millimetres and grams, the motion takes milliseconds. Bodies K1 to K7 are called ``K1`` ... ``K7``.

    Parameters
    ----------
    effort : float
        Torque limit of the motor, N m.

    Examples
    --------
    >>> plant = andrews()
    >>> plant.closure_error(np.array(Q0)) < 1e-16
    True
    """
    centres = ((RA, 0), (-DA, 0), (SB, -SA), (0, EA - E), (TA, -TB), (ZF - FA, 0), (UA, -UB))
    bodies = [
        Body(f"K{i}", m, (*c, 0.0), (0.5 * inertia, 0.5 * inertia, inertia))
        for i, (m, c, inertia) in enumerate(zip(MASSES, centres, INERTIAS, strict=True), start=1)
    ]
    A, B = Frame((XA, YA, 0)), Frame((XB, YB, 0))
    joints = [
        Revolute("beta", "ground", "K1"),
        Revolute("Theta", "K1", "K2", frame=Frame((RR, 0, 0))),
        Revolute("gamma", "ground", "K3", frame=B),
        Revolute("Phi", "K5", "K4", frame=Frame((ZT, 0, 0))),
        Revolute("delta", "ground", "K5", frame=A),
        Revolute("Omega", "K7", "K6", frame=Frame((0, -U, 0))),
        Revolute("epsilon", "ground", "K7", frame=A),
    ]
    F = (-D, 0, 0)
    loops = [
        PointOnLine("F3", "K3", "K2", (0, -SS, 0), F),
        PointOnLine("F4", "K4", "K2", (0, -E, 0), F),
        PointOnLine("F6", "K6", "K2", (ZF, 0, 0), F),
    ]
    spring = PointSpring("CD", "ground", "K3", (XC, YC, 0), (SD, -SC, 0), stiffness=C0, rest=L0)
    return Mechanism(
        "andrews",
        bodies,
        joints,
        loops,
        [spring],
        [Actuator("beta", effort=effort)],
        gravity=(0.0, 0.0, 0.0),
        source=SOURCE,
    )


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) of the test set, at rest."""
    return np.array(Q0), np.zeros(plant.nv)


ENTRY = Entry(
    "andrews",
    andrews,
    "Andrews' squeezing mechanism: seven bodies, a stiff spring (1 degree of freedom)",
    SOURCE,
    start,
    TrackingTask(("beta",), (Q0[0],), (0.4,), 5.0, (0.0,), 80.0, 0.5),
    {"beta": TORQUE},
)

"""Valve train: a camshaft, a rocker that follows the cam, and a valve with its spring."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Cam, Coupling, JointSpring, Plate, Prismatic, Revolute, Rod
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["valve_train"]

SOURCE = "an overhead cam of a car's engine, dimensions our own"

RATIO = 0.04  # of the rocker, m a radian: its arm to the valve
SWING = 0.22  # rad, of the rocker


def profile(angle: Any) -> Any:
    """Angle of the rocker: open around half a turn of the shaft, smooth to the fourth derivative."""
    return SWING * (0.5 * (1.0 - np.cos(angle))) ** 3


def valve_train(stiffness: float = 30e3, preload: float = 200.0) -> Mechanism:
    """Valve train of camshaft, rocker and valve: three bodies, a cam, a lever, one degree of freedom.

    The cam turns the rocker by 0.22 (1 - cos(shaft))^3 / 8 rad, whose arm of 40 mm pushes the valve, 8.8 mm at most.
    Shaft 2e-4 kg m2, rocker 4e-5 kg m2, valve and retainer 90 g. The cam acts both ways here, like a groove; with
    ``switches=[Contact("cam")]`` the follower leaves it where the spring is too weak.

    x-y plane, the shaft turns about z (``shaft``, rad), the rocker about z (``rocker``, rad), the valve moves along -y
    (``valve``, m, positive where it is open). Motor on the shaft. No gravity.

    Parameters
    ----------
    stiffness : float
        Stiffness of the valve spring, N/m.
    preload : float
        Force of the spring on the closed valve, N.

    Examples
    --------
    >>> plant = valve_train()
    >>> q = plant.assemble(shaft=np.pi)
    >>> plant.position_names, q.round(6)
    (('shaft', 'rocker', 'valve'), array([3.141593, 0.22    , 0.0088  ]))
    """
    stiffness = _check.positive(stiffness, "stiffness")
    preload = _check.positive(preload, "preload", zero=True)
    # the arm of the rocker goes to -x, so that it pushes the valve down where it turns to the left
    arm = Plate.bar((0.3 * RATIO, 0), (-RATIO, 0), width=0.01, thickness=0.008, z=0.012)
    stem = Rod((-RATIO, -0.006, 0.012), (-RATIO, -0.09, 0.012), 0.0035)
    head = Rod((-RATIO, -0.09, 0.012), (-RATIO, -0.094, 0.012), 0.016)
    bodies = [
        Body("shaft", 0.5, inertia=(2e-4, 2e-4, 2e-4)),
        Body("rocker", 0.1, inertia=(4e-5, 4e-5, 4e-5), shapes=[arm]),
        Body("valve", 0.09, inertia=(1e-5, 1e-5, 1e-5), shapes=[stem, head]),
    ]
    joints = [
        Revolute("shaft", "ground", "shaft"),
        Revolute("rocker", "ground", "rocker"),
        Prismatic("valve", "ground", "valve", axis=(0, -1, 0)),
    ]
    loops = [Cam("cam", "rocker", "shaft", profile), Coupling("lever", {"valve": 1.0, "rocker": -RATIO})]
    spring = JointSpring("spring", "valve", stiffness, rest=-preload / stiffness)
    return Mechanism(
        "valve-train", bodies, joints, loops, [spring], [Actuator("shaft")], gravity=(0.0, 0.0, 0.0), source=SOURCE
    )


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest at shaft = 1.6, where the valve opens."""
    return plant.assemble(shaft=1.6), np.zeros(plant.nv)


ENTRY = Entry(
    "valve-train",
    valve_train,
    "camshaft, rocker and valve of an engine: a follower that may jump (1 degree of freedom)",
    SOURCE,
    start,
    TrackingTask(("shaft",), (1.6,), (0.4,), 2.0, (0.0,), 60.0, 1.0),
)

"""Physical pendulum whose pivot is a loop: the smallest machine with all kinds of parts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Constraint, Frame, Joint, Point, PointOnLine, Prismatic, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["pendulum"]

SOURCE = "textbook: a thin rod on a revolute joint, omega^2 = 3 g / (2 L); Spencer's example 2.1 is its kin"


def pendulum(mass: float = 1.0, length: float = 1.0, closure: str = "revolute", effort: float = math.inf) -> Mechanism:
    """Pendulum: a thin rod that hangs on a revolute joint to the ground, with that joint cut.

    The rod can move freely in the vertical x-y plane (x to the right, gravity 9.81 along -y): two
    slides ``x`` and ``y`` without mass of their own and a hinge ``angle`` carry its centre of mass. The loop
    ``pivot`` then holds one end at the origin, so that one degree of freedom remains. At ``angle`` = 0 the rod
    points along +x; it hangs at ``angle`` = -pi/2. There is no singular configuration.

    Physical pendulum: J = m L^2/3, J angle'' = -m g L/2 cos(angle); at the hanging configuration
    omega^2 = 3 g/(2 L) whatever carries the rod. The weight does no work on the hinge at the centre of mass,
    so all of that is the stiffness of the constraint force: a tool that leaves it out finds zero.

    Parameters
    ----------
    mass, length : float
        kg, m.
    closure : {"revolute", "line", "point"}
        The cut joint itself (five rows, three of them redundant in the plane), or two or three rows at
        the same point.
    effort : float
        Torque limit of the motor, N m. It sits on the cut pivot; with the other closures, on ``angle``.

    Examples
    --------
    >>> plant = pendulum()
    >>> plant.assemble(angle=0.0)
    array([0.5, 0. , 0. ])
    >>> plant.diagnose(plant.assemble(angle=0.0)).dof
    1
    """
    mass, length = _check.positive(mass, "mass"), _check.positive(length, "length")
    _check.one_of(closure, ("revolute", "line", "point"), "closure")
    bodies = [Body("slide_x"), Body("slide_y"), Body.rod("rod", mass, length)]
    joints = [
        Prismatic("x", "ground", "slide_x", axis=(1, 0, 0)),
        Prismatic("y", "slide_x", "slide_y", axis=(0, 1, 0)),
        Revolute("angle", "slide_y", "rod", child_frame=Frame((0.5 * length, 0.0, 0.0))),
    ]
    pivot: Joint | Constraint
    if closure == "revolute":
        pivot = Revolute("pivot", "ground", "rod", frame=Frame(), child_frame=Frame())
    else:
        pivot = (PointOnLine if closure == "line" else Point)("pivot", "ground", "rod")
    motor = Actuator("pivot" if closure == "revolute" else "angle", name="motor", effort=effort)
    return Mechanism("pendulum", bodies, joints, [pivot], actuators=[motor], gravity=(0.0, -9.81, 0.0), source=SOURCE)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest, 0.5 rad beside the hanging configuration."""
    angle, half = 0.5 - 0.5 * math.pi, float(plant.joints[2].child_frame.p[0])
    configuration = {"x": half * math.cos(angle), "y": half * math.sin(angle), "angle": angle}
    return plant.pack(configuration), np.zeros(plant.nv)


ENTRY = Entry(
    "pendulum",
    pendulum,
    "rod on a revolute joint that is cut (1 degree of freedom)",
    SOURCE,
    start,
    TrackingTask(("angle",), (0.5 - 0.5 * np.pi,), (0.6,), 0.5, (0.0,), 8.0, 5.0),
)

"""Two planar arms and an object of its own on a table: grasp, carry, put down."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import GROUND, Body, Frame, Prismatic, Revolute, Weld
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask
from .two_arms import GRASP, HAND, arm_angles, two_arms

__all__ = ["grasping_arms"]

SOURCE = "the arms of two-arms, with an object that has coordinates of its own; dimensions and masses are our own"

TABLE = (-0.15, 0.45)  # where the object lies, m


def grasping_arms(
    table: bool = False, object_mass: float = 6.0, effort: float | Sequence[float] = (150.0, 80.0, 25.0)
) -> Mechanism:
    """Arms of `two_arms` with an object that is a body of its own, which the hands can grasp and let go.

    Coordinates: the six joint angles of `two_arms`, and ``object_x``, ``object_y``, ``object_angle``, the position (m)
    and angle (rad) of the object's centre. The loops ``left_grasp`` and ``right_grasp`` weld the hands to the middles
    of its short sides, ``table`` welds it to the ground at (-0.15, 0.45). Each has six rows, of which three count in
    the plane. With both grasps the machine has three degrees of freedom and moves just as `two_arms`; the
    switches of `simulate` determine which of the loops hold during a run.

    Parameters
    ----------
    table : bool
        With the loop ``table``, for runs in which the object lies there for a time; with all three loops at once
        nothing moves.
    object_mass : float
        kg.
    effort : float or (float, float, float)
        As in `two_arms`.

    Examples
    --------
    >>> plant = grasping_arms(table=True)
    >>> q = configuration(plant, *TABLE)
    >>> [plant.without(*off).diagnose(q).dof for off in ((), ("table",), ("left_grasp", "right_grasp"))]
    [0, 3, 6]
    """
    table = _check.flag(table, "table")
    arms = two_arms(object_mass=object_mass, effort=effort)
    joints = [
        *(joint for joint in arms.joints if joint.name != "left_grasp"),
        Prismatic("object_x", GROUND, "object_rail", axis=(1, 0, 0)),
        Prismatic("object_y", "object_rail", "object_slide", axis=(0, 1, 0)),
        Revolute("object_angle", "object_slide", "object"),
    ]
    hand = Frame((HAND, 0, 0))
    loops = [
        Weld("left_grasp", "object", "left_hand", Frame((-GRASP, 0, 0)), hand),
        Weld("right_grasp", "object", "right_hand", Frame.turned((0, 0, 1), math.pi, (GRASP, 0, 0)), hand),
    ]
    if table:
        loops.append(Weld("table", GROUND, "object", Frame((*TABLE, 0.0))))
    return Mechanism(
        "grasping-arms",
        [*arms.bodies, Body("object_rail"), Body("object_slide")],
        joints,
        loops,
        actuators=arms.actuators,
        gravity=arms.gravity,
        source=SOURCE,
    )


def configuration(
    plant: Mechanism, x: float = 0.0, y: float = 0.5, angle: float = 0.0, *, clearance: float = 0.0, elbows: str = "out"
) -> NDArray[np.float64]:
    """Configuration with the object's centre at (x, y), turned by `angle`, and the hands at it: in closed form.

    Parameters
    ----------
    plant : Mechanism
        Made by `grasping_arms`.
    x, y, angle : float
        m and rad.
    clearance : float
        Distance of the hands from the places where they grasp, straight outwards, m.
    elbows : {"out", "in"}
        Elbows on the outer sides, or between the arms.

    Raises
    ------
    ValueError
        Where an arm does not reach.

    Examples
    --------
    >>> plant = grasping_arms()
    >>> q = configuration(plant, 0.1, 0.6, 0.2, clearance=0.05)
    >>> plant.loop_residuals(q)["left_grasp"] <= 0.05, plant.point(q, "object").round(12)
    (True, array([0.1, 0.6, 0. ]))
    """
    _check.one_of(elbows, ("out", "in"), "elbows")
    arms = arm_angles(x, y, angle, GRASP + HAND + clearance, elbows)
    wrists = {name: math.remainder(value, 2.0 * math.pi) for name, value in arms.items() if name.endswith("wrist")}
    return plant.pack({"object_x": x, "object_y": y, "object_angle": angle, **arms, **wrists})


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest with the object in both hands; on the table, where there is one."""
    place = TABLE if "table" in plant.row_slices else (0.0, 0.5)
    return configuration(plant, *place), np.zeros(plant.nv)


ENTRY = Entry(
    "grasping-arms",
    grasping_arms,
    "two arms grasp an object of its own (3 degrees of freedom with it in both hands)",
    SOURCE,
    start,
    TrackingTask(
        ("object_x", "object_y", "object_angle"),
        (0.0, 0.5, 0.0),
        (0.1, 0.1, 0.3),
        0.5,
        (0.0, 0.5 * np.pi, np.pi),
        8.0,
        5.0,
    ),
)

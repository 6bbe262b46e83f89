"""Two planar arms that hold one object: more motors than degrees of freedom, and forces inside the object."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import (
    GROUND,
    Actuator,
    Body,
    Constraint,
    Coupling,
    Fixed,
    Frame,
    Joint,
    PointOnLine,
    Revolute,
    Weld,
)
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask
from .planar import turned, two_bar

__all__ = ["two_arms"]

SOURCE = "cooperating planar arms with a common rigid object; dimensions and masses are our own"

# Metres.
SHOULDER = 0.50  # of each arm, to the left and to the right of the origin
UPPER, FORE, HAND = 0.45, 0.40, 0.12
GRASP = 0.20  # of each hand, from the object's centre
JOINTS = ("shoulder", "elbow", "wrist")
OUTWARD = {"left": 1, "right": -1}  # side of the line from shoulder to wrist


def two_arms(
    closure: str = "weld", object_mass: float = 6.0, effort: float | Sequence[float] = (150.0, 80.0, 25.0)
) -> Mechanism:
    """Two arms of three links that hold an object from both sides: three degrees of freedom, six motors.

    Vertical x-y plane, gravity 9.81 along -y. Shoulders at (-0.5, 0) and (0.5, 0); links of 0.45 m (4 kg,
    0.07 kg m2), 0.40 m (3 kg, 0.04 kg m2) and, to the grasp, 0.12 m (0.8 kg, 0.001 kg m2), centres at mid-link. The
    object is a uniform box of 0.40 m x 0.20 m, held at the middle of its short sides.

    Coordinates: ``left_shoulder`` (angle from x), ``left_elbow`` and ``left_wrist`` (relative), ``right_...`` likewise.
    The left hand carries the object; the loop ``grasp`` welds it to the right hand. Six motors move three
    degrees of freedom: three combinations of efforts do not move the arms at all, they stretch, shear and bend the
    object.

    Parameters
    ----------
    closure : {"weld", "planar"}
        Six rows, three of them redundant in the plane, or just three: the point ``grasp`` (two rows) and the
        coupling ``grasp_angle`` of the joint angles, so that all multipliers are unique.
    object_mass : float
        kg.
    effort : float or (float, float, float)
        Torque limits of the motors, N m: of all, or of shoulder, elbow and wrist.

    Examples
    --------
    >>> plant = two_arms()
    >>> found = plant.diagnose(configuration(plant, x=0.1, y=0.5))
    >>> found.dof, found.rank, found.actuation.verdict
    (3, 3, 'over-actuated')
    """
    _check.one_of(closure, ("weld", "planar"), "closure")
    mass = _check.positive(object_mass, "object_mass")
    limits = [effort] * 3 if _check.single(effort) else list(_check.sequence(effort, "effort", "three limits"))
    for limit in limits:
        _check.positive(limit, "effort", infinite=True)
    if len(limits) != 3:
        raise InputError(f"effort must be one limit, or three, of shoulder, elbow and wrist, got {effort!r}")
    bodies, joints = [], []
    for side, x in (("left", -SHOULDER), ("right", SHOULDER)):
        upper, fore, hand = (f"{side}_{part}" for part in ("upper", "fore", "hand"))
        bodies += [Body.planar(upper, 4.0, 0.5 * UPPER, 0.07), Body.planar(fore, 3.0, 0.5 * FORE, 0.04)]
        bodies += [Body.planar(hand, 0.8, 0.5 * HAND, 0.001)]
        chain = ((GROUND, upper, x), (upper, fore, UPPER), (fore, hand, FORE))
        for joint, (parent, child, along) in zip(JOINTS, chain, strict=True):
            joints.append(Revolute(f"{side}_{joint}", parent, child, frame=Frame((along, 0, 0))))
    across = mass * (0.40**2 + 0.20**2) / 12.0
    bodies.append(Body.planar("object", mass, 0.0, across))
    hold, held = Frame((HAND, 0, 0)), Frame((-GRASP, 0, 0))
    joints.append(Fixed("left_grasp", "left_hand", "object", frame=hold, child_frame=held))
    motors = [
        Actuator(f"{side}_{joint}", effort=limit)
        for side in ("left", "right")
        for joint, limit in zip(JOINTS, limits, strict=True)
    ]
    return Mechanism(
        "two-arms", bodies, joints, _grasp(closure), actuators=motors, gravity=(0.0, -9.81, 0.0), source=SOURCE
    )


def _grasp(closure: str) -> list[Joint | Constraint | Coupling]:
    """Loop constraints of the right hand on the object, turned by half a turn."""
    hand = Frame((HAND, 0, 0))
    if closure == "weld":
        return [Weld("grasp", "object", "right_hand", Frame.turned((0, 0, 1), math.pi, (GRASP, 0, 0)), hand)]
    signs = (("right", 1.0), ("left", -1.0))
    angles = {f"{side}_{joint}": sign for side, sign in signs for joint in JOINTS}
    return [
        PointOnLine("grasp", "object", "right_hand", (GRASP, 0, 0), hand.p),
        Coupling("grasp_angle", angles, offset=math.pi),
    ]


def configuration(
    plant: Mechanism, x: float = 0.0, y: float = 0.5, angle: float = 0.0, elbows: str = "out"
) -> NDArray[np.float64]:
    """Configuration with the object's centre at (x, y), turned by `angle`: inverse kinematics, in closed form.

    Parameters
    ----------
    plant : Mechanism
        Made by `two_arms`.
    x, y, angle : float
        m and rad.
    elbows : {"out", "in"}
        Elbows on the outer sides, or between the arms.

    Raises
    ------
    ValueError
        Where an arm does not reach.

    Examples
    --------
    >>> plant = two_arms()
    >>> plant.point(configuration(plant, 0.1, 0.6, 0.2), "object").round(12)
    array([0.1, 0.6, 0. ])
    """
    _check.one_of(elbows, ("out", "in"), "elbows")
    return plant.pack(arm_angles(x, y, angle, GRASP + HAND, elbows))


def arm_angles(x: float, y: float, angle: float, reach: float, elbows: str) -> dict[str, float]:
    """Joint angles with the wrists at `reach` (m) from the point (x, y), on a line at `angle` through it, hands inward.

    Wrists are not wrapped: shoulder + elbow + wrist is the angle of the hand.
    """
    values: dict[str, float] = {}
    for side, base, hand in (("left", -SHOULDER, angle), ("right", SHOULDER, angle + math.pi)):
        wrist = np.array([x, y]) - turned((reach, 0.0), hand)
        bend = OUTWARD[side] if elbows == "out" else -OUTWARD[side]
        shoulder, fore = two_bar(wrist - (base, 0.0), UPPER, FORE, bend, f"the {side} arm")
        elbow = math.remainder(fore - shoulder, 2.0 * math.pi)
        values |= {f"{side}_shoulder": shoulder, f"{side}_elbow": elbow, f"{side}_wrist": hand - shoulder - elbow}
    return values


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest with the object level in the middle, elbows outwards."""
    return configuration(plant), np.zeros(plant.nv)


# the left arm in the middle of the study, with the object level at (0, 0.5)
_MIDDLE = two_bar((SHOULDER - GRASP - HAND, 0.5), UPPER, FORE, 1, "the left arm")

ENTRY = Entry(
    "two-arms",
    two_arms,
    "two arms hold one object, six motors (3 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(
        ("left_shoulder", "left_elbow", "left_wrist"),
        (_MIDDLE[0], _MIDDLE[1] - _MIDDLE[0], -_MIDDLE[1]),
        (0.15, 0.15, 0.15),
        0.5,
        (0.0, 0.5 * np.pi, np.pi),
        8.0,
        5.0,
    ),
)

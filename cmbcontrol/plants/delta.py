"""Clavel's delta robot: three arms and three pairs of parallel rods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import Actuator, Body, Fixed, Frame, Joint, Plate, Revolute, Rod, Spherical, Universal
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["delta"]

SOURCE = "R. Clavel, Delta, a fast robot with parallel geometry, Int. Symp. Industrial Robots 1988; dimensions our own"

# Metres: circles of the motors and of the platform's joints, arm, rod, distance of the rods of a pair.
BASE, PLATFORM, ARM, ROD, WIDTH = 0.20, 0.06, 0.30, 0.80, 0.12
DIRECTIONS = np.radians([0.0, 120.0, 240.0])
ROD_MASS = 0.12
_INWARD = BASE + ARM - PLATFORM  # from the end of a level arm to the platform's joint below
HEIGHT = math.sqrt(ROD**2 - _INWARD**2)  # of the base above the platform, where the arms are level
# Axes of a rod at a level arm, in the arm's: x along the arm's hinges, z along the rod.
_ALONG = np.array([-_INWARD, 0.0, -HEIGHT]) / ROD
_LEVEL = np.column_stack([(0.0, 1.0, 0.0), np.cross(_ALONG, (0.0, 1.0, 0.0)), _ALONG])


def delta(joints: str = "ball", load: float = 0.0, effort: float = 60.0) -> Mechanism:
    """Delta robot: three arms, each with a pair of parallel rods to the platform, which moves without turning.

    The motors' axes are level, on a circle of 0.20 m at 0, 120 and 240 degrees; arms 0.30 m, 1.0 kg, centre at
    0.12 m, 0.012 kg m2 across (with the rotor); rods 0.80 m, 0.12 kg, thin, the two of a pair 0.12 m apart;
    platform 0.5 kg, principal inertias 6e-4, 6e-4 and 1e-3 kg m2, with its joints on a circle of 0.06 m about its
    centre. z points up, gravity 9.81, origin in the middle of the motors.

    The rods have mass, 0.72 kg in all; halves lumped at their ends would overestimate their inertia. They hang on
    universal joints at the arms, so that no rod can spin about its own line; with ball joints on both ends there
    would be six more degrees of freedom. On the platform they have

    * ball joints: 15 rows, none redundant, or
    * universal joints, as in a robot with bearings: 20 rows, six of them redundant (the pairs would keep the
      platform level three times over). The motion is the same, but not all multipliers are unique.

    Coordinates: ``arm1`` ... ``arm3`` (zero level and outwards, positive downwards), ``rod1a_1``, ``rod1a_2`` ...
    ``rod3b_2`` (universal joints, zero where the rods hang as at level arms) and those of ``joint1a``, which
    carries the platform in the tree. The loops are ``joint1b`` ... ``joint3b``. All is zero where the arms are level.

    Parameters
    ----------
    joints : {"ball", "universal"}
        Joints of the rods on the platform.
    load : float
        Point mass at the platform's centre, kg.
    effort : float
        Torque limit of the motors, N m.

    Examples
    --------
    >>> plant = delta()
    >>> plant.diagnose(configuration(plant, 0.1, 0.0, -0.7)).dof
    3
    """
    _check.one_of(joints, ("ball", "universal"), "joints")
    load = _check.positive(load, "load", zero=True)
    bodies: list[Body] = []
    tree: list[Joint] = []
    loops: list[Joint] = []
    across = ROD_MASS * ROD**2 / 12.0
    for i, direction in enumerate(DIRECTIONS):
        n, out = i + 1, Frame.turned((0, 0, 1), direction)
        arm = [Rod((0, 0, 0), (ARM, 0, 0), 0.018, rounded=True)]
        arm.append(Rod((ARM, -0.5 * WIDTH, 0), (ARM, 0.5 * WIDTH, 0), 0.008))
        bodies.append(Body(f"arm{n}", 1.0, (0.12, 0, 0), (0.001, 0.012, 0.012), arm))
        tree.append(Revolute(f"arm{n}", "ground", f"arm{n}", axis=(0, 1, 0), frame=out @ Frame((BASE, 0, 0))))
        for name, side in ((f"{n}a", -0.5), (f"{n}b", 0.5)):
            look = [Rod((0, 0, 0), (0, 0, ROD), 0.006)]
            bodies.append(Body(f"rod{name}", ROD_MASS, (0, 0, 0.5 * ROD), (across, across, 0.0), look))
            tree.append(Universal(f"rod{name}", f"arm{n}", f"rod{name}", frame=Frame((ARM, side * WIDTH, 0), _LEVEL)))
            ends: dict[str, Any] = {
                "frame": Frame((0, 0, ROD)),
                "child_frame": out @ Frame((PLATFORM, side * WIDTH, 0), _LEVEL),
            }
            end: Joint
            if joints == "ball":
                end = Spherical(f"joint{name}", f"rod{name}", "platform", **ends)
            else:
                axes: dict[str, Any] = {"axis": (0, 1, 0), "second_axis": (1, 0, 0)}
                end = Universal(f"joint{name}", f"rod{name}", "platform", **axes, **ends)
            (tree if name == "1a" else loops).append(end)
    sides = [Frame((PLATFORM + 0.03, side * WIDTH, 0.0)) for side in (-0.5, 0.5)]
    corners = [(Frame.turned((0, 0, 1), direction) @ pin).p[:2] for direction in DIRECTIONS for pin in sides]
    bodies.append(Body("platform", 0.5, (0, 0, 0), (6e-4, 6e-4, 1e-3), [Plate(corners, 0.02)]))
    if load:
        bodies.append(Body("load", load))
        tree.append(Fixed("load", "platform", "load"))
    return Mechanism(
        "delta",
        bodies,
        tree,
        loops,
        actuators=[Actuator(f"arm{n}", effort=effort) for n in (1, 2, 3)],
        source=SOURCE,
    )


def configuration(plant: Mechanism, x: float, y: float, z: float) -> NDArray[np.float64]:
    """Configuration with the platform's centre at (x, y, z): inverse kinematics, in closed form, elbows outwards.

    Raises
    ------
    ValueError
        Where an arm does not reach.

    Examples
    --------
    >>> plant = delta()
    >>> q = configuration(plant, 0.1, -0.2, -0.8)
    >>> plant.point(q, "platform").round(12)
    array([ 0.1, -0.2, -0.8])
    """
    values = {}
    for i, direction in enumerate(DIRECTIONS):
        c, s = math.cos(direction), math.sin(direction)
        # the platform's joint from the motor, in the axes of the base turned towards the arm
        end = np.array([c * x + s * y + PLATFORM - BASE, c * y - s * x, z])
        arm = _arm_angle(end, i + 1)
        turn = _about_y(arm)
        along = _LEVEL.T @ turn.T @ (end - turn @ (ARM, 0.0, 0.0)) / ROD
        first, second = math.atan2(-along[1], along[2]), math.asin(along[0])
        values[f"arm{i + 1}"] = arm
        for side in "ab":
            values |= {f"rod{i + 1}{side}_1": first, f"rod{i + 1}{side}_2": second}
        if i == 0:
            # the platform is level: the joint undoes the turns of arm and rod
            values |= _platform(plant, -second, -arm - first)
    return plant.pack(values)


def _arm_angle(end: NDArray[np.float64], n: int) -> float:
    """Angle of an arm whose rods reach the point `end`, from the motor: e_x cos a - e_z sin a = k."""
    x, _, z = end
    k, reach = (ARM**2 + end @ end - ROD**2) / (2.0 * ARM), math.hypot(x, z)
    if not abs(k) < reach:
        raise InputError(
            f"arm{n} of the delta robot and its rods ({ARM:g} and {ROD:g} m) do not reach the platform's joint, at "
            f"{end.round(4).tolist()} m from the motor; choose a pose nearer to the middle of the workspace"
        )
    return math.remainder(math.atan2(-z, x) - math.acos(k / reach), 2.0 * math.pi)


def _about_y(angle: float) -> NDArray[np.float64]:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _platform(plant: Mechanism, second: float, first: float) -> dict[str, float]:
    """Coordinates of the joint that carries the platform: a turn about y, then one about x."""
    if "joint1a_1" in plant.position_names:
        return {"joint1a_1": second, "joint1a_2": first}
    cy, sy, cx, sx = (f(0.5 * a) for a in (second, first) for f in (math.cos, math.sin))
    return {"joint1a_qw": cy * cx, "joint1a_qx": cy * sx, "joint1a_qy": sy * cx, "joint1a_qz": -sy * sx}


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest below the middle of the base."""
    return configuration(plant, 0.0, 0.0, -0.75), np.zeros(plant.nv)


ENTRY = Entry(
    "delta",
    delta,
    "delta robot: three arms, six rods with mass (3 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(
        ("arm1", "arm2", "arm3"),
        (0.3, 0.3, 0.3),
        (0.4, 0.4, 0.4),
        1.0,
        (0.0, 2.0 * np.pi / 3.0, 4.0 * np.pi / 3.0),
        15.0,
        3.0,
    ),
)

"""Planar parallel manipulator 3-RRR: three arms of two links carry a platform."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import Actuator, Body, Frame, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask
from .planar import pin, turned, two_bar

__all__ = ["three_rrr"]

SOURCE = "C. M. Gosselin and J. Angeles, planar 3-RRR, J. Mech. Trans. Autom. 110 (1988); dimensions and masses our own"

# Metres: circles of the ground pivots and of the platform's pins, driven and distal links.
BASE, PLATFORM, DRIVEN, DISTAL = 0.50, 0.12, 0.30, 0.30
DIRECTIONS = np.radians([-90.0, 30.0, 150.0])  # of the pivots and of the pins, from the centre
GRAVITY = {"horizontal": (0.0, 0.0, -9.81), "vertical": (0.0, -9.81, 0.0)}


def three_rrr(plane: str = "horizontal", closure: str = "line", effort: float = 20.0) -> Mechanism:
    """Manipulator 3-RRR: three arms on the ground, of a driven and a distal link each, move a platform in the plane.

    The ground pivots are at -90, 30 and 150 degrees on a circle of 0.50 m about the origin, the pins of the
    platform in the same directions on one of 0.12 m. Links: 0.30 m; driven 1.2 kg, 0.012 kg m2 about the centre
    at mid-link; distal 0.8 kg, 0.008 kg m2; platform 1.5 kg, 0.012 kg m2. Motors on the ground.

    Coordinates: ``drive1`` ... ``drive3`` (driven links, angles from +x), ``elbow1`` ... ``elbow3`` (distal links,
    relative to the driven ones) and ``platform`` (relative to the first distal link, which carries it in the tree).
    The loops ``pin2`` and ``pin3`` are the platform's pins on the other arms.

    Parameters
    ----------
    plane : {"horizontal", "vertical"}
        The machine moves in the x-y plane; gravity 9.81 acts across it (and does nothing), or along -y.
    closure : {"line", "point", "revolute"}
        Two, three or five rows a loop; the last two are redundant and move just the same.
    effort : float
        Torque limit of the motors, N m.

    Examples
    --------
    >>> plant = three_rrr()
    >>> plant.diagnose(configuration(plant, x=0.05, y=0.02, angle=0.1)).dof
    3
    """
    _check.one_of(plane, tuple(GRAVITY), "plane")
    bodies, joints, loops = [], [], []
    elbow, wrist = Frame((DRIVEN, 0, 0)), (DISTAL, 0.0, 0.0)
    for i in range(3):
        n = i + 1
        bodies += [
            Body.planar(f"driven{n}", 1.2, 0.5 * DRIVEN, 0.012),
            Body.planar(f"distal{n}", 0.8, 0.5 * DISTAL, 0.008),
        ]
        joints.append(Revolute(f"drive{n}", "ground", f"driven{n}", frame=Frame(_spoke(BASE, i))))
        joints.append(Revolute(f"elbow{n}", f"driven{n}", f"distal{n}", frame=elbow))
        held = _spoke(PLATFORM, i)
        if i == 0:
            joints.append(Revolute("platform", "distal1", "platform", frame=Frame(wrist), child_frame=Frame(held)))
        else:
            loops.append(pin(closure, f"pin{n}", "platform", f"distal{n}", held, wrist))
    return Mechanism(
        "three-rrr",
        [*bodies, Body.planar("platform", 1.5, 0.0, 0.012)],
        joints,
        loops,
        actuators=[Actuator(f"drive{n}", effort=effort) for n in (1, 2, 3)],
        gravity=GRAVITY[plane],
        source=SOURCE,
    )


def _spoke(radius: float, i: int) -> tuple[float, float, float]:
    """Point of the plane in one of the three directions."""
    return radius * math.cos(DIRECTIONS[i]), radius * math.sin(DIRECTIONS[i]), 0.0


def configuration(
    plant: Mechanism, x: float = 0.0, y: float = 0.0, angle: float = 0.0, elbows: str = "+++"
) -> NDArray[np.float64]:
    """Configuration with the platform at a given pose: inverse kinematics, in closed form.

    Parameters
    ----------
    plant : Mechanism
        Made by `three_rrr`.
    x, y, angle : float
        Position of the platform's centre, m, and angle of the platform, rad.
    elbows : str
        For each arm, on which side of the line from its ground pivot to the platform the elbow lies: ``"+"`` to
        the left, ``"-"`` to the right. The eight choices are the working modes.

    Raises
    ------
    ValueError
        Where an arm does not reach the platform.

    Examples
    --------
    >>> plant = three_rrr()
    >>> plant.closure_error(configuration(plant, 0.1, 0.0, 0.2, "+-+")) < 1e-15
    True
    """
    if len(elbows) != 3 or set(elbows) - set("+-"):
        raise InputError(f"elbows must be three signs, such as '+++' or '+-+', got {elbows!r}")
    values: dict[str, float] = {}
    for i, sign in enumerate(elbows):
        held = np.array([x, y]) + turned(_spoke(PLATFORM, i)[:2], angle)
        side = 1 if sign == "+" else -1
        drive, far = two_bar(held - _spoke(BASE, i)[:2], DRIVEN, DISTAL, side, f"arm {i + 1} of the 3-RRR")
        values |= {f"drive{i + 1}": drive, f"elbow{i + 1}": math.remainder(far - drive, 2.0 * math.pi)}
    values["platform"] = math.remainder(angle - values["drive1"] - values["elbow1"], 2.0 * math.pi)
    return plant.pack(values)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest with the platform in the middle, not turned."""
    return configuration(plant), np.zeros(plant.nv)


# the driven links where the platform is in the middle
_MIDDLE = tuple(
    float(two_bar(np.subtract(_spoke(PLATFORM, i), _spoke(BASE, i))[:2], DRIVEN, DISTAL, 1, "an arm")[0])
    for i in range(3)
)

ENTRY = Entry(
    "three-rrr",
    three_rrr,
    "planar 3-RRR manipulator, three motors on the ground (3 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(
        tuple(f"drive{n}" for n in (1, 2, 3)),
        _MIDDLE,
        (0.25, 0.25, 0.25),
        0.5,
        (0.0, 2.0 * np.pi / 3.0, 4.0 * np.pi / 3.0),
        8.0,
        5.0,
    ),
)

"""Leg of two links under a trunk: it falls, touches down, squats and hops."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import (
    GROUND,
    Actuator,
    Ball,
    Body,
    Box,
    Constraint,
    Frame,
    Planar,
    Plate,
    Point,
    PointOnPlane,
    Prismatic,
    Revolute,
    Shape,
)
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["leg"]

SOURCE = "a planar leg of two equal links; dimensions and masses are our own"

LINK = 0.35  # thigh and shank, m
_BODIES = {"trunk": (12.0, 0.25), "thigh": (2.0, 0.022), "shank": (1.0, 0.011)}  # kg, kg m2


def leg(base: str = "slider", foot: str = "stick", effort: float = 300.0) -> Mechanism:
    """Leg in the vertical x-y plane, gravity 9.81 along -y, with motors at hip and knee.

    Thigh (2 kg, 0.022 kg m2) and shank (1 kg, 0.011 kg m2) of 0.35 m, centres at mid-link; trunk of 12 kg, with its
    centre at the hip (0.25 kg m2 on a free base). The loop ``foot`` joins the end of the shank to the ground,
    y = 0; as a `Contact` of `simulate` it opens and closes during a run.

    Coordinates: ``height`` of the hip (m), ``hip`` (angle of the thigh from x, relative to the trunk on a free base)
    and ``knee`` (relative). On a free base ``trunk_x``, ``trunk_y``, ``trunk_angle`` in place of the height.

    Parameters
    ----------
    base : {"slider", "free"}
        The hip on a vertical guide at x = 0, or a trunk that is free in the plane.
    foot : {"stick", "slide"}
        The foot is held at the point (0, 0) (three rows, one of them redundant in the plane; a `Contact` sticks where
        it lands), or stays on the line y = 0 and slides.
    effort : float
        Torque limit of both motors, N m.

    Examples
    --------
    >>> plant = leg()
    >>> stand = configuration(plant, 0.6)
    >>> plant.diagnose(stand).dof, plant.without("foot").diagnose(stand).actuation.verdict
    (1, 'under-actuated')
    """
    _check.one_of(base, ("slider", "free"), "base")
    _check.one_of(foot, ("stick", "slide"), "foot")
    link = Plate.bar((0, 0), (LINK, 0), width=0.06, thickness=0.03)
    looks: dict[str, list[Shape]] = {
        "trunk": [Box((0.44, 0.22, 0.12), Frame((0, 0, -0.1)))],
        "thigh": [link],
        "shank": [link.moved(Frame((0, 0, -0.035))), Ball((LINK, 0, -0.035), 0.035)],
    }
    bodies = [
        Body.planar(name, mass, 0.0 if name == "trunk" else 0.5 * LINK, inertia, looks[name])
        for name, (mass, inertia) in _BODIES.items()
    ]
    guide = (
        Prismatic("height", GROUND, "trunk", axis=(0, 1, 0)) if base == "slider" else Planar("trunk", GROUND, "trunk")
    )
    joints = [guide, Revolute("hip", "trunk", "thigh"), Revolute("knee", "thigh", "shank", frame=Frame((LINK, 0, 0)))]
    ground, sole = (0.0, 0.0, 0.0), (LINK, 0.0, 0.0)
    loop: Constraint
    if foot == "stick":
        loop = Point("foot", GROUND, "shank", ground, sole)
    else:
        loop = PointOnPlane("foot", GROUND, "shank", ground, sole, normal=(0, 1, 0))
    motors = [Actuator(joint, effort=effort) for joint in ("hip", "knee")]
    return Mechanism("leg", bodies, joints, [loop], actuators=motors, gravity=(0.0, -9.81, 0.0), source=SOURCE)


def angles(length: float) -> tuple[float, float]:
    """Hip and knee angle with the foot straight below the hip, at the distance `length` (m); the knee to the left.

    Raises
    ------
    ValueError
        Where the leg is not that long.

    Examples
    --------
    >>> np.degrees(angles(0.35)).round(9)
    array([-150.,  120.])
    """
    if not 0.0 < length < 2.0 * LINK:
        raise InputError(f"the leg reaches more than 0 and less than {2.0 * LINK:g} m, got {length} m")
    bend = math.acos(0.5 * length / LINK)
    return -0.5 * math.pi - bend, 2.0 * bend


def configuration(plant: Mechanism, height: float = 0.6, length: float | None = None) -> NDArray[np.float64]:
    """Configuration with the hip at a height, and the foot straight below it.

    Parameters
    ----------
    plant : Mechanism
        Made by `leg`.
    height : float
        Height of the hip, m.
    length : float, optional
        Distance from hip to foot, m; the height unless given, so that the foot is on the ground.
    """
    hip, knee = angles(height if length is None else length)
    up = "height" if "height" in plant.position_names else "trunk_y"
    return plant.pack({up: height, "hip": hip, "knee": knee})


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest on the ground, with the hip at 0.55 m."""
    return configuration(plant, 0.55), np.zeros(plant.nv)


ENTRY = Entry(
    "leg",
    leg,
    "leg of two links under a trunk on a vertical guide (1 degree of freedom on the ground)",
    SOURCE,
    start,
    TrackingTask(("height",), (0.5,), (0.1,), 0.5, (0.0,), 8.0, 5.0),
)

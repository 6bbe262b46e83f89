"""A biped in the plane: a trunk on two legs with flat feet, whose knees are driven through four-bars."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import (
    GROUND,
    Actuator,
    Body,
    Box,
    Constraint,
    Frame,
    Joint,
    Planar,
    Plate,
    Point,
    PointOnLine,
    Revolute,
)
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["biped"]

SOURCE = "a planar biped with knees by four-bars; dimensions and masses are our own"

LINK = 0.4  # thigh and shank, m
SOLE, HEEL, TOE = -0.07, -0.08, 0.14  # below, behind and in front of the ankle, m
LEGS = {"left": 0.1, "right": -0.1}  # beside the middle, m
SOLES = tuple(f"{name}_{leg}" for leg in LEGS for name in ("heel", "toe"))  # contacts
_CRANK, _SET = 0.08, math.radians(-25.0)  # m; the lever of the shank is ahead of it by so much, so that it never aligns
_KNEE = (-2.4, -0.05)  # rad, negative where the knee is in front; the four-bar is flat at 0.44 and -2.71


def biped(effort: float = 200.0) -> Mechanism:
    """Biped in the vertical x-y plane, gravity 9.81 along -y, with motors at hips, knee cranks and ankles.

    Trunk of 20 kg, centre 0.15 m above the hips (0.6 kg m2); thighs of 3 kg and shanks of 1.5 kg, 0.4 m; feet of 0.8 kg
    with a flat sole 0.07 m below the ankle, from 0.08 m behind it to 0.14 m ahead. A crank of 0.08 m on each hip turns
    the shank through a rod along the thigh, by the loop ``pin_<leg>``: a parallelogram.

    Coordinates: ``trunk_x``, ``trunk_y`` (hips), ``trunk_angle`` and for both legs ``hip``, ``knee``, ``ankle``
    (relative angles), ``crank`` (as the knee) and ``rod``, such as ``knee_left``. The loops ``heel_<leg>`` and
    ``toe_<leg>`` join the soles to the ground, y = 0, at three rows each, many of them redundant; as a `Contact` of
    `simulate` they open and close during a run.

    Parameters
    ----------
    effort : float
        Torque limit of each motor, N m.

    Examples
    --------
    >>> plant = biped()
    >>> plant.diagnose(stand(plant)).dof, plant.without(*SOLES).diagnose(stand(plant)).dof
    (3, 9)
    """
    bar = Plate.bar((0, 0), (LINK, 0), width=0.06, thickness=0.03)
    arm = (_CRANK * math.cos(_SET), _CRANK * math.sin(_SET))
    trunk = Body.planar("trunk", 20.0, (0.0, 0.15), 0.6, [Box((0.16, 0.4, 0.16), Frame((0.0, 0.18, 0.0)))])
    sole = Box((TOE - HEEL, 0.03, 0.09), Frame((0.5 * (TOE + HEEL), SOLE + 0.015, 0.0)))
    ankle = Box((0.05, 0.07, 0.05), Frame((0.0, -0.02, 0.0)))
    bodies, joints = [trunk], list[Joint]([Planar("trunk", GROUND, "trunk")])
    pins, soles = list[Constraint](), list[Constraint]()
    for leg, beside in LEGS.items():
        thigh, shank, foot, crank, rod = (f"{part}_{leg}" for part in ("thigh", "shank", "foot", "crank", "rod"))
        lever = Plate.bar((0, 0), arm, width=0.03, thickness=0.015)
        out = Frame((0.0, 0.0, math.copysign(0.03, beside)))
        bodies += [
            Body.planar(thigh, 3.0, 0.45 * LINK, 0.04, [bar]),
            Body.planar(shank, 1.5, 0.45 * LINK, 0.02, [bar, lever.moved(out)]),
            Body.planar(foot, 0.8, (0.03, -0.04), 0.003, [sole, ankle]),
            Body.planar(crank, 0.2, 0.5 * np.array(arm), 0.0003, [lever.moved(out)]),
            Body.planar(rod, 0.3, 0.5 * LINK, 0.004, [Plate.bar((0, 0), (LINK, 0), 0.02, 0.015).moved(out)]),
        ]
        at_end = Frame((LINK, 0.0, 0.0))
        joints += [
            Revolute(f"hip_{leg}", "trunk", thigh, frame=Frame((0.0, 0.0, beside))),
            Revolute(f"knee_{leg}", thigh, shank, frame=at_end, limits=_KNEE),
            Revolute(f"ankle_{leg}", shank, foot, frame=at_end),
            Revolute(f"crank_{leg}", thigh, crank),
            Revolute(f"rod_{leg}", crank, rod, frame=Frame((*arm, 0.0))),
        ]
        pins.append(PointOnLine(f"pin_{leg}", shank, rod, (*arm, 0.0), (LINK, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
        for name, x in (("heel", HEEL), ("toe", TOE)):
            soles.append(Point(f"{name}_{leg}", GROUND, foot, (x, 0.0, beside), (x, SOLE, 0.0)))
    motors = [Actuator(f"{joint}_{leg}", effort=effort) for leg in LEGS for joint in ("hip", "crank", "ankle")]
    return Mechanism(
        "biped", bodies, joints, [*pins, *soles], actuators=motors, gravity=(0.0, -9.81, 0.0), source=SOURCE
    )


def stand(plant: Mechanism, height: float = 0.8, above: float = 0.0) -> NDArray[np.float64]:
    """Configuration on flat feet, with ankles below the hips and knees bent forward.

    Parameters
    ----------
    plant : Mechanism
        Made by `biped`.
    height : float
        Height of the hips above the soles, m; up to 0.869, where the knees are at their limit.
    above : float
        Height of the soles above the ground, m.

    Raises
    ------
    ValueError
        Where the legs are not that long, or short.

    Examples
    --------
    >>> plant = biped()
    >>> bool(plant.closure_error(stand(plant, 0.75)) < 1e-12)
    True
    """
    _check.number(height, "height")
    _check.number(above, "above")
    shortest, longest = (2.0 * LINK * math.cos(0.5 * bend) - SOLE for bend in _KNEE)
    if not shortest <= height <= longest:
        raise InputError(f"the hips stand {shortest:.3f} to {longest:.3f} m above the soles, got {height} m")
    bend = 2.0 * math.acos(0.5 * (height + SOLE) / LINK)
    values = {"trunk_y": height + above}
    for leg in LEGS:
        # the thigh leans forward by half of what the shank turns back against it
        values |= {f"hip_{leg}": -0.5 * math.pi + 0.5 * bend, f"knee_{leg}": -bend, f"crank_{leg}": -bend}
        values |= {f"ankle_{leg}": 0.5 * (math.pi + bend), f"rod_{leg}": bend}
    return plant.pack(values)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest on both feet, with the hips at 0.8 m."""
    return stand(plant), np.zeros(plant.nv)


ENTRY = Entry(
    "biped",
    biped,
    "biped in the plane, flat feet, knees by four-bars (3 degrees of freedom on both feet)",
    SOURCE,
    start,
    TrackingTask(  # squats with an upright trunk
        ("hip_left", "knee_left", "ankle_left"),
        (-1.1, -0.95, 2.05),
        (0.1, 0.2, 0.1),
        0.5,
        (0.0, math.pi, 0.0),
        8.0,
        4.0,
    ),
)

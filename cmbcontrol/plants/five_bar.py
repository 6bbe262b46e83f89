"""Five-bar of Spencer's thesis (2004), section 3.2, table 3.1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Frame, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask
from .planar import CLOSURES, pin

__all__ = ["five_bar"]

SOURCE = "E. L. Spencer, thesis, Iowa State University 2004, section 3.2 (base 1.0 m, not printed there)"
SHORT, LONG, BASE = 1.0, 1.5, 1.0


def five_bar(cut: str = "tip", closure: str = "line", effort: float = math.inf) -> Mechanism:
    """Five-bar: two arms of two links each, joined at the tip; vertical x-y plane, two motors on the ground.

    Links: 1.0 m, 2 kg, 1 kg m2 (at the ground) and 1.5 m, 3 kg, 2 kg m2; centres at mid-link.

    Parameters
    ----------
    cut : {"tip", "right"}
        Place of the cut: at the tip, or at the right support. The ground joints are ``left`` and
        ``right``: absolute angles of the driven links, seen from their ground pivots, so that the
        singular configuration is left = pi, right = 0. Cut at the right support, ``right`` is the loop, and
        its motor is a torque between the ground and the driven link.
    closure : {"line", "point", "revolute"}
        Two rows (point on a line across the plane), three rows, or five rows of a full 3D revolute:
        the last two are redundant and move just the same.
    effort : float
        Torque limit of both motors, N m.
    """
    _check.one_of(cut, ("tip", "right"), "cut")
    _check.one_of(closure, CLOSURES, "closure")
    z = (0.0, 0.0, 1.0)
    bodies = [
        Body.planar("left_lower", 2.0, 0.5 * SHORT, 1.0),
        Body.planar("left_upper", 3.0, 0.5 * LONG, 2.0),
        Body.planar("right_lower", 2.0, 0.5 * SHORT, 1.0),
        Body.planar("right_upper", 3.0, 0.5 * LONG, 2.0),
    ]
    end, tip, base = Frame((SHORT, 0, 0)), Frame((LONG, 0, 0)), Frame((BASE, 0, 0))
    left = [
        Revolute("left", "ground", "left_lower", axis=z),
        Revolute("elbow_left", "left_lower", "left_upper", axis=z, frame=end),
    ]
    if cut == "tip":
        right = [
            Revolute("right", "ground", "right_lower", axis=z, frame=base),
            Revolute("elbow_right", "right_lower", "right_upper", axis=z, frame=end),
        ]
        loop = ("tip", "left_upper", "right_upper", tip.p, tip.p)
    else:
        right = [
            Revolute("tip", "left_upper", "right_upper", axis=z, frame=tip, child_frame=tip),
            Revolute("elbow_right", "right_upper", "right_lower", axis=z, child_frame=end),
        ]
        loop = ("right", "ground", "right_lower", base.p, (0.0, 0.0, 0.0))
    across = None if cut == "tip" else ("ground", "right_lower")
    motors = [Actuator("left", effort=effort), Actuator("right", effort=effort, bodies=across, axis=z)]
    return Mechanism(
        "five-bar",
        bodies,
        [*left, *right],
        [pin(closure, *loop)],
        actuators=motors,
        gravity=(0.0, -9.81, 0.0),
        source=SOURCE,
    )


def configuration(plant: Mechanism, case: str = "open") -> NDArray[np.float64]:
    """Configuration of a named case, for any cut.

    Parameters
    ----------
    plant : Mechanism
        Made by `five_bar`.
    case : {"open", "singular", "second", "asymmetric"}
        left = 2.1, right = 1.0 with the tip up, far from singular configurations; the stretched singular configuration
        left = pi, right = 0; the start of Spencer's second example (driven links at 120 and 60 degrees), whose motion
        passes that configuration; a regular one with the left links at -70 and -10 degrees from +x and the right elbow
        on the outer side.

    Examples
    --------
    >>> configuration(five_bar(), "singular").round(4)
    array([ 3.1416, -3.1416,  0.    ,  3.1416])
    """
    match _check.one_of(case, ("open", "singular", "second", "asymmetric"), "case"):
        case "open":
            left, right = 2.1, 1.0
            elbow = np.array([SHORT * math.cos(left), SHORT * math.sin(left)])
            across = np.array([BASE + SHORT * math.cos(right), SHORT * math.sin(right)]) - elbow
            half = 0.5 * float(np.hypot(*across))
            lift = math.acos(half / LONG)
            slope = math.atan2(across[1], across[0])
            left_upper, right_upper = slope + lift, slope + math.pi - lift
        case "asymmetric":
            left, left_upper = math.radians(-70.0), math.radians(-10.0)
            x = SHORT * math.cos(left) + LONG * math.cos(left_upper) - BASE
            y = SHORT * math.sin(left) + LONG * math.sin(left_upper)
            reach, bearing = math.hypot(x, y), math.atan2(y, x)
            spread = math.acos((SHORT**2 + reach**2 - LONG**2) / (2.0 * SHORT * reach))
            right = max(bearing + spread, bearing - spread, key=math.cos)
            right_upper = math.atan2(y - SHORT * math.sin(right), x - SHORT * math.cos(right))
        case _:  # mirror symmetric
            left = math.pi if case == "singular" else 2.0 * math.pi / 3.0
            left_upper = math.acos((0.5 * BASE - SHORT * math.cos(left)) / LONG)
            right, right_upper = math.pi - left, math.pi - left_upper
    values = {"left": left, "elbow_left": left_upper - left}
    if "right" in plant.position_names:
        values |= {"right": right, "elbow_right": right_upper - right}
    else:
        values |= {"tip": right_upper - left_upper, "elbow_right": right - right_upper}
    return plant.pack(values)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest in the open configuration."""
    return configuration(plant), np.zeros(plant.nv)


ENTRY = Entry(
    "five-bar",
    five_bar,
    "five-bar linkage with two motors on the ground (2 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(("left", "right"), (2.1, 1.0), (0.3, 0.3), 0.5, (0.0, 0.5 * np.pi), 8.0, 5.0),
)

"""Excavator arm with its hydraulic cylinders, and a digging force at the teeth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.elements import Body, Cylinder, Frame, Load, Plate, PointOnLine, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["excavator"]

SOURCE = "dimensions and masses of the 20 t class, our own"
TEETH = (1.45, 0.0, 0.0)  # on the bucket, m

# What is seen: outlines around the pins in the plane, m, as such machines have them.
BOOM = [
    *((-0.25, -0.15), (0.15, -0.28), (2.3, 0.28), (3.3, 0.5), (5.6, -0.2), (5.9, -0.1)),
    *((5.85, 0.18), (3.45, 1.1), (3.0, 1.18), (1.9, 0.85), (-0.2, 0.22)),
]
ARM = [
    *((-0.9, 0.25), (-0.2, -0.2), (0.4, -0.22), (2.8, -0.13), (3.0, -0.08), (3.0, 0.1), (2.5, 0.18)),
    *((0.8, 0.66), (0.55, 0.72), (-0.6, 0.5), (-0.85, 0.48)),
]
# of the bucket, from its lip around its back to the teeth, and back on the inner side; its ears hold the pins
_BACK = [(0.14, 0.05), (0.05, 0.3), (0.12, 0.58), (0.5, 0.72), (0.95, 0.55), TEETH[:2]]
_INSIDE = [(1.3, 0.06), (0.88, 0.46), (0.5, 0.63), (0.2, 0.52), (0.13, 0.3), (0.22, 0.07)]
_EARS = [(-0.12, -0.12), (0.15, -0.1), (0.25, 0.2), (0.25, 0.6), (-0.1, 0.54), (-0.23, 0.4)]

# Angles of rocker and link near which the four bars of the bucket are assembled the right way.
_BARS = {"rocker": 1.5, "link": -2.0}


def excavator(pressure: float = 34.3e6, damping: float = 8e3) -> Mechanism:
    """Excavator with boom, arm and bucket: five bodies, three cylinders, four loops, three degrees of freedom.

    Dimensions are those of a machine of 20 t: boom of 5.7 m, 1650 kg; arm of 2.9 m, 900 kg; bucket 750 kg with its
    teeth 1.45 m from its pin; rocker and link of the bucket 45 and 60 kg; bores of 170 (for a pair), 135 and 115 mm,
    steel barrels and rods.

    Vertical x-y plane, x forward, gravity 9.81 along -y, origin at the foot of the boom. Tree: ``boom`` (angle from x),
    ``arm`` (relative to the boom), ``bucket`` and ``rocker`` (relative to the arm), ``link`` (relative to the rocker),
    and for each cylinder its angle, ``boom_cylinder_pin``, and its length from pin to pin, ``boom_cylinder``, which its
    motor pushes. The load ``digging`` acts at the teeth.

    Parameters
    ----------
    pressure : float
        Largest pressure, Pa.
    damping : float
        Friction of a cylinder, N s/m.

    Examples
    --------
    >>> plant = excavator()
    >>> q = configuration(plant, boom=0.3, arm=-1.6, bucket=-0.6)
    >>> plant.diagnose(q).dof, plant.actuator_names
    (3, ('boom_cylinder', 'arm_cylinder', 'bucket_cylinder'))
    """
    bodies = [
        Body.planar("boom", 1650.0, (2.6, 0.35), 5200.0, shapes=[Plate(BOOM, 0.15, Frame((0, 0, -0.045)))]),
        Body.planar("arm", 900.0, (1.0, 0.15), 900.0, shapes=[Plate(ARM, 0.1, Frame((0, 0, -0.05)))]),
        Body.planar("bucket", 750.0, (0.65, 0.25), 190.0, shapes=_bucket(width=1.2, sides=0.05)),
        Body.planar("rocker", 45.0, (0.3, 0.0), 2.0),
        Body.planar("link", 60.0, (0.3, 0.0), 3.0),
    ]
    joints = [
        Revolute("boom", "ground", "boom"),
        Revolute("arm", "boom", "arm", frame=Frame((5.7, 0.0, 0.0))),
        Revolute("bucket", "arm", "bucket", frame=Frame((2.9, 0.0, 0.0))),
        Revolute("rocker", "arm", "rocker", frame=Frame((2.5, 0.06, 0.0))),
        Revolute("link", "rocker", "link", frame=Frame((0.62, 0.0, 0.0))),
    ]
    pins: dict[str, tuple[Any, ...]] = {
        "boom": ("ground", "boom", (0.5, -0.45, 0.0), (2.3, 0.55, 0.0), (1.6, 2.9), (0.17, 0.12)),
        "arm": ("boom", "arm", (3.2, 1.0, 0.0), (-0.75, 0.35, 0.0), (1.9, 3.3), (0.135, 0.095)),
        "bucket": ("arm", "rocker", (0.6, 0.6, 0.0), (0.62, 0.0, 0.0), (1.5, 2.5), (0.115, 0.08)),
    }
    cylinders = [
        Cylinder(f"{name}_cylinder", *ends, stroke=stroke, bore=bore, rod=rod, pressure=pressure, damping=damping)
        for name, (*ends, stroke, (bore, rod)) in pins.items()
    ]
    return Mechanism(
        "excavator",
        bodies,
        joints,
        [PointOnLine("link_pin", "bucket", "link", (-0.1, 0.4, 0.0), (0.6, 0.0, 0.0))],
        cylinders=cylinders,
        loads=[Load("digging", "bucket", Frame(TEETH))],
        gravity=(0.0, -9.81, 0.0),
        source=SOURCE,
    )


def _bucket(width: float, sides: float) -> list[Plate]:
    """Shapes of the bucket: a bent sheet, closed by two plates at its sides, and its ears."""
    ends = [Frame((0.0, 0.0, 0.5 * side * (width - sides))) for side in (-1.0, 1.0)]
    return [Plate(_BACK + _INSIDE, width), *(Plate(_BACK, sides, end) for end in ends), Plate(_EARS, 0.05)]


def configuration(plant: Mechanism, boom: float, arm: float, bucket: float) -> NDArray[np.float64]:
    """Configuration with given angles, rad, and the bars of the bucket as they are built.

    Examples
    --------
    >>> plant = excavator()
    >>> plant.closure_error(configuration(plant, boom=0.5, arm=-1.9, bucket=-1.2)) < 1e-12
    True
    """
    angles = {"boom": boom, "arm": arm, "bucket": bucket}
    lengths = {f"{name}_cylinder": 2.2 for name in angles}
    return plant.assemble(guess=_BARS | angles | lengths, **angles)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest with the bucket half out, above the ground."""
    return configuration(plant, 0.3, -1.6, -0.6), np.zeros(plant.nv)


ENTRY = Entry(
    "excavator",
    excavator,
    "arm of an excavator, three hydraulic cylinders, digging force at the teeth (3 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(("boom", "arm", "bucket"), (0.3, -1.6, -0.6), (0.15, 0.2, 0.3), 0.2, (0.0, 0.5, 1.0), 5.0, 5.0),
)

"""Stiff flyball governor of the IFToMM multibody benchmarks (A05)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Fixed, Frame, Joint, PointSpring, Prismatic, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry

__all__ = ["governor"]

SOURCE = "IFToMM Technical Committee for Multibody Dynamics, benchmark A05"
# Metres, kilograms.
LENGTH, THICKNESS, BLOCK, DENSITY, BALL = 1.0, 0.01, 0.10, 3000.0, 5.0
PIVOT, REST = 0.05, 0.50  # of the rods and springs, from the shaft's line; rest length of the springs
SPEED, SLIDER, DROP = 2.0 * math.pi, 0.50, math.radians(30.0)  # at the start


def governor(stiffness: float = 8e5, damping: float = 4e4, motor: float | None = None) -> Mechanism:
    """Governor: two balls on rods, hinged to a turning shaft, hold a slider by stiff springs; four degrees of freedom.

    No loops: the rods act on the slider through spring-dampers from its sides to their middles, so stiff that
    it follows them. z points up, gravity 9.81. Shaft and rods are 1 m long and 0.01 m thick, the slider is a cube
    of 0.10 m, all of density 3000 kg/m3 (0.3, 0.3 and 3 kg); the balls are point masses of 5 kg at the ends of
    the rods, 1 m from their hinges. The hinges are on the top of the shaft, 0.05 m off its line, and the springs
    are 0.5 m long at rest.

    Coordinates: ``shaft`` (angle about z), ``rod1`` and ``rod2`` (angles below the level, of the rods towards +x and
    -x of the shaft) and ``slider`` (height s of its centre above the foot of the shaft).
    The benchmark starts at s = 0.5 m and 30 degrees with springs at rest, turns at 2 pi rad/s and follows s for
    10 s. At the start its eigenvalues are -8117, -1450 and, twice, -20 1/s, where the slow motion has 7 rad/s: the
    first second takes 39000 evaluations with the default settings of `simulate`, and 11400 at any tolerance
    above 1e-6.

    Parameters
    ----------
    stiffness, damping : float
        Stiffness and damping of each of the two spring-dampers, N/m and N s/m.
    motor : float, optional
        Torque limit of a motor on the shaft, N m; there is none unless given.

    Examples
    --------
    >>> plant = governor()
    >>> plant.nv, plant.nu, len(plant.row_names)
    (4, 0, 0)
    """
    long = DENSITY * LENGTH * THICKNESS**2
    across, along = long * (LENGTH**2 + THICKNESS**2) / 12.0, long * THICKNESS**2 / 6.0
    cube = DENSITY * BLOCK**3
    bodies = [
        Body("shaft", long, (0, 0, 0.5 * LENGTH), (across, across, along)),
        Body("slider", cube, (0, 0, 0), (cube * BLOCK**2 / 6.0,) * 3),
    ]
    joints: list[Joint] = [Revolute("shaft", "ground", "shaft"), Prismatic("slider", "shaft", "slider")]
    springs = []
    for n, turn in ((1, 0.0), (2, math.pi)):
        bodies += [Body(f"rod{n}", long, (0.5 * LENGTH, 0, 0), (along, across, across)), Body(f"ball{n}", BALL)]
        hinge = Frame.turned((0, 0, 1), turn) @ Frame((PIVOT, 0, LENGTH))
        joints.append(Revolute(f"rod{n}", "shaft", f"rod{n}", axis=(0, 1, 0), frame=hinge))
        joints.append(Fixed(f"ball{n}", f"rod{n}", f"ball{n}", frame=Frame((LENGTH, 0, 0))))
        side, middle = (PIVOT * math.cos(turn), 0.0, 0.0), (0.5 * LENGTH, 0.0, 0.0)
        springs.append(
            PointSpring(
                f"spring{n}",
                "slider",
                f"rod{n}",
                side,
                middle,
                stiffness=_check.positive(stiffness, "stiffness", zero=True),
                rest=REST,
                damping=_check.positive(damping, "damping", zero=True),
            )
        )
    motors = [] if motor is None else [Actuator("shaft", effort=motor)]
    return Mechanism("governor", bodies, joints, (), springs, motors, source=SOURCE)


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) of the benchmark: springs at rest, turning at 2 pi rad/s."""
    v0 = np.zeros(plant.nv)
    v0[plant.index("shaft")] = SPEED
    return plant.pack({"slider": SLIDER, "rod1": DROP, "rod2": DROP}), v0


ENTRY = Entry(
    "governor",
    governor,
    "stiff flyball governor, IFToMM A05 (4 degrees of freedom, no loop)",
    SOURCE,
    start,
)

"""Wheel loader linkage with the topology of Spencer's thesis (2004), section 4.5."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Box, Fixed, Frame, Joint, Plate, Prismatic, Revolute, Shape
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask
from .planar import pin, turned, two_bar

__all__ = ["loader"]

SOURCE = "E. L. Spencer, thesis, Iowa State University 2004, section 4.5 (topology; dimensions and masses are our own)"

# Metres. On the front frame, from the boom's hinge: x forward, y up.
LIFT_BASE, TILT_BASE = np.array([-0.15, -0.65]), np.array([0.28, 0.10])
# On the boom: x from its hinge to the bucket's.
BOOM, LEVER_PIN, LIFT_PIN = 2.90, np.array([1.80, 0.46]), np.array([1.65, -0.15])
# Bell crank: x along its lower arm; the upper arm stands at an angle to it.
LOWER, UPPER, BEND = 0.92, 0.60, math.radians(202.0)
LINK = 0.52
# Bucket: x along its floor, from its hinge to the edge.
LINK_PIN, EDGE, LOAD_CENTRE = np.array([-0.15, 0.30]), 1.25, np.array([0.50, 0.45])
# Cylinders: pin to pin when retracted, stroke, and lengths of barrel and rod.
LIFT_CLOSED, LIFT_STROKE, TILT_CLOSED, TILT_STROKE = 1.36, 0.90, 0.92, 0.50

# What is seen: outlines around the pins, m; of the bucket, its back from the edge to the top, and inside back again.
BOOM_OUTLINE = [
    *((-0.14, -0.12), (0.15, -0.16), (1.6, -0.32), (2.0, -0.2), (2.85, -0.14), (3.04, -0.08), (3.04, 0.1)),
    *((2.85, 0.15), (2.05, 0.55), (1.8, 0.62), (1.6, 0.55), (1.2, 0.22), (0.0, 0.16), (-0.14, 0.1)),
]
BACK = [(EDGE, 0.0), (EDGE, -0.05), (0.15, -0.1), (0.1, 0.1), (0.02, 0.35), (0.06, 0.65), (0.26, 0.95)]
INSIDE = [(0.31, 0.91), (0.13, 0.63), (0.09, 0.36), (0.16, 0.0)]
EARS = [(-0.1, -0.1), (0.16, -0.1), (0.16, 0.4), (-0.1, 0.42), (-0.25, 0.33), (-0.2, 0.2)]  # which hold the pins
WIDTH, SHEET = 2.6, 0.05  # of the bucket, and of its sides


def loader(
    closure: str = "line", load: float = 0.0, lift_effort: float = 770e3, tilt_effort: float = 500e3
) -> Mechanism:
    """Wheel loader with boom and bucket, Z-bar linkage: eight bodies, three loops, two degrees of freedom.

    The thesis prints the topology and the linear models of one machine, not its dimensions. These are those
    of a machine of 20 t or so: boom of 2.9 m, 1500 kg; bucket 2000 kg; bell crank 350 kg; link 80 kg; the two lift
    cylinders count as one, barrel 220 kg and rod 150 kg, closed 1.36 m with a stroke of 0.90 m; tilt cylinder
    160 and 100 kg, 0.92 m and 0.50 m. The printed matrices can therefore not be matched. The pins are the
    constants of the module ``cmbcontrol.plants.loader``.

    Vertical x-y plane, x forward, gravity 9.81 along -y, origin at the boom's hinge on the front frame. Tree:
    ``boom`` (angle from x), ``bucket`` (angle relative to the boom; boom + bucket = 0 where its floor is level),
    ``lever`` (bell crank: its lower arm relative to the boom), ``link`` (relative to the lever), ``lift_swing`` and
    ``tilt_swing`` (angles of the cylinders from x), and the displacements ``lift`` and ``tilt``, zero where a
    cylinder is retracted. The loops are pins: ``lift_pin`` (rod and boom), ``tilt_pin`` (rod and bell crank) and
    ``bucket_pin`` (link and bucket). A longer tilt cylinder curls the bucket.

    Parameters
    ----------
    closure : {"line", "point", "revolute"}
        Two, three or five rows a loop; the last two are redundant and move just the same.
    load : float
        Mass of the load in the bucket, kg: a block of 0.9 m x 0.7 m, fixed to the bucket.
    lift_effort, tilt_effort : float
        Largest forces of the cylinders, N, pushing or pulling (250 bar on two bores of 140 mm and one of 160 mm).

    Examples
    --------
    >>> plant = loader()
    >>> plant.diagnose(configuration(plant, boom=0.2, bucket=-0.2)).dof
    2
    """
    load = _check.positive(load, "load", zero=True)

    def body(name: str, mass: float, x: float, y: float, inertia: float, *shapes: Shape) -> Body:
        return Body(name, mass, (x, y, 0.0), (0.5 * inertia, 0.5 * inertia, inertia), shapes)

    def cylinder(name: str, closed: float, stroke: float) -> Prismatic:
        along, end = (1.0, 0.0, 0.0), Frame((closed, 0, 0))
        return Prismatic(name, f"{name}_barrel", f"{name}_rod", axis=along, frame=end, limits=(0.0, stroke))

    upper = (*turned((UPPER, 0.0), BEND), 0.0)
    ends = [Frame((0.0, 0.0, 0.5 * side * (WIDTH - SHEET))) for side in (-1.0, 1.0)]
    bucket = [Plate(BACK + INSIDE, WIDTH), *(Plate([*BACK, (0.95, 0.3)], SHEET, end) for end in ends)]
    bucket.append(Plate(EARS, 0.04))
    arms = [Plate.bar((0, 0), end, width=0.2, thickness=0.03, z=0.03) for end in ((LOWER, 0), upper)]
    bodies = [
        body("boom", 1500.0, 1.40, 0.10, 1250.0, Plate(BOOM_OUTLINE, 0.1, Frame((0, 0, -0.05)))),
        body("bucket", 2000.0, 0.42, 0.38, 700.0, *bucket),
        body("lever", 350.0, 0.15, 0.05, 70.0, *arms),
        body("link", 80.0, 0.5 * LINK, 0.0, 2.0),
        body("lift_barrel", 220.0, 0.55, 0.0, 25.0),
        body("lift_rod", 150.0, -0.55, 0.0, 16.0),
        body("tilt_barrel", 160.0, 0.38, 0.0, 9.0),
        body("tilt_rod", 100.0, -0.36, 0.0, 5.0),
    ]
    joints: list[Joint] = [
        Revolute("boom", "ground", "boom", limits=(-0.80, 0.85)),
        Revolute("bucket", "boom", "bucket", frame=Frame((BOOM, 0, 0)), limits=(-1.55, 1.40)),
        Revolute("lever", "boom", "lever", frame=Frame((*LEVER_PIN, 0)), limits=(-1.35, -0.25)),
        Revolute("link", "lever", "link", frame=Frame((LOWER, 0, 0)), limits=(-0.40, 2.60)),
        Revolute("lift_swing", "ground", "lift_barrel", frame=Frame((*LIFT_BASE, 0)), limits=(-1.2, 1.6)),
        cylinder("lift", LIFT_CLOSED, LIFT_STROKE),
        Revolute("tilt_swing", "ground", "tilt_barrel", frame=Frame((*TILT_BASE, 0)), limits=(-1.2, 1.6)),
        cylinder("tilt", TILT_CLOSED, TILT_STROKE),
    ]
    if load:
        block = Box((0.9, 0.7, WIDTH - 3.0 * SHEET))
        bodies.append(body("load", load, 0.0, 0.0, load * (0.9**2 + 0.7**2) / 12.0, block))
        joints.append(Fixed("load", "bucket", "load", frame=Frame((*LOAD_CENTRE, 0))))
    loops = [
        pin(closure, "lift_pin", "boom", "lift_rod", (*LIFT_PIN, 0), (0, 0, 0)),
        pin(closure, "tilt_pin", "lever", "tilt_rod", upper, (0, 0, 0)),
        pin(closure, "bucket_pin", "bucket", "link", (*LINK_PIN, 0), (LINK, 0, 0)),
    ]
    return Mechanism(
        "loader",
        bodies,
        joints,
        loops,
        actuators=[Actuator("lift", effort=lift_effort), Actuator("tilt", effort=tilt_effort)],
        gravity=(0.0, -9.81, 0.0),
        source=SOURCE,
    )


def configuration(plant: Mechanism, boom: float, bucket: float) -> NDArray[np.float64]:
    """Configuration with given angles of the boom and of the bucket relative to it, in closed form.

    Raises
    ------
    ValueError
        Where the link does not reach the bucket.

    Examples
    --------
    >>> plant = loader()
    >>> plant.closure_error(configuration(plant, boom=-0.5, bucket=0.6)) < 1e-15
    True
    """
    # in the axes of the boom, but for the cylinders
    lever_to_pin = np.array([BOOM, 0.0]) + turned(LINK_PIN, bucket) - LEVER_PIN
    lever, link = two_bar(lever_to_pin, LOWER, LINK, -1, "the link of the loader's bucket")
    top = turned(LEVER_PIN + turned((UPPER, 0.0), lever + BEND), boom)
    lift, tilt = turned(LIFT_PIN, boom) - LIFT_BASE, top - TILT_BASE
    return plant.pack(
        {
            "boom": boom,
            "bucket": bucket,
            "lever": lever,
            "link": math.remainder(link - lever, 2.0 * math.pi),
            "lift_swing": math.atan2(lift[1], lift[0]),
            "lift": math.hypot(*lift) - LIFT_CLOSED,
            "tilt_swing": math.atan2(tilt[1], tilt[0]),
            "tilt": math.hypot(*tilt) - TILT_CLOSED,
        }
    )


def edge(plant: Mechanism, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """World position (3,) of the bucket's cutting edge."""
    return plant.point(q, "bucket", (EDGE, 0.0, 0.0))


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest, bucket low and level. Without cylinder forces, no equilibrium (Spencer, section 4.5)."""
    return configuration(plant, -0.72, 0.72), np.zeros(plant.nv)


ENTRY = Entry(
    "loader",
    loader,
    "boom and bucket of a wheel loader, two hydraulic cylinders (2 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(("boom", "bucket"), (0.0, 0.1), (0.35, 0.3), 0.2, (0.0, 0.5 * np.pi), 5.0, 5.0),
)

"""Overconstrained parallelogram linkage of de Falco, Pennestri and Vita."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.elements import Actuator, Body, Joint, Planar, PointOnLine, Prismatic, Revolute
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["parallelogram"]

SOURCE = "D. de Falco, E. Pennestri, L. Vita, Udwadia-Kalaba formulation, section 6, figure 1 (our initial values)"
LENGTH, MASS, INERTIA = 1.0, 1.0, 0.1  # each of the three links
COUPLER_LENGTH, COUPLER_MASS, COUPLER_INERTIA = 2.0, 2.0, 0.2


def parallelogram(coordinates: str = "cartesian", effort: float = math.inf) -> Mechanism:
    """Parallelogram of three links and a coupler: 12 coordinates, 12 equations, rank 11, one degree of freedom.

    The links (L = 1 m, 1 kg, 0.1 kg m2) turn about the ground pivots (0, 0), (1, 0), (2, 0); their ends
    carry the coupler (2 m, 2 kg, 0.2 kg m2) at its left end, its middle and its right end. Centres of mass
    are at mid-length, and the inertias are about them. Vertical x-y plane, gravity 9.81 along -y.

    Each body has its own three coordinates, as in the paper: ``link1_x``, ``link1_y`` (centre of mass, m),
    ``link1_angle`` (rad, from +x), and so on for link2, link3 and coupler. Each of the six revolute pairs is
    a loop of two rows in the plane.

    With angle th of the links the exact motion is J th'' = -G cos(th), J = 3 (0.1 + 0.25) + 2 = 3.05 kg m2,
    G = 9.81 (3 * 0.5 + 2) = 34.335 N m (see `start`). Singular where all is in line, th = k pi: to first
    order the coupler could turn by itself, too, but that leads nowhere.

    Parameters
    ----------
    coordinates : {"cartesian", "planar"}
        Joints that carry each body. ``"cartesian"``: two slides without mass and a hinge, so that velocities
        are those of the centre of mass in world axes, and a motor on ``link1_angle`` is possible.
        ``"planar"``: one planar joint, with velocities in the body's axes and no motor.
    effort : float
        Torque limit of the motor, N m.

    Examples
    --------
    >>> plant = parallelogram()
    >>> found = plant.diagnose(configuration(1.0))
    >>> found.rows, found.rank, found.dof
    (12, 11, 1)
    """
    cartesian = _check.one_of(coordinates, ("cartesian", "planar"), "coordinates") == "cartesian"
    links = [_body(f"link{i + 1}", MASS, INERTIA) for i in range(3)]
    coupler = _body("coupler", COUPLER_MASS, COUPLER_INERTIA)
    joints: list[Joint] = []
    bodies: list[Body] = []
    for body in [*links, coupler]:
        if cartesian:
            slides = [f"{body.name}_slide_x", f"{body.name}_slide_y"]
            bodies += [Body(name) for name in slides]
            joints += [
                Prismatic(f"{body.name}_x", "ground", slides[0], axis=(1, 0, 0)),
                Prismatic(f"{body.name}_y", slides[0], slides[1], axis=(0, 1, 0)),
                Revolute(f"{body.name}_angle", slides[1], body.name),
            ]
        else:
            joints.append(Planar(body.name, "ground", body.name))
        bodies.append(body)
    half = 0.5 * LENGTH
    loops = []
    for i, link in enumerate(links):
        along = 0.5 * COUPLER_LENGTH * (i - 1)
        loops += [
            PointOnLine(f"pivot{i + 1}", "ground", link.name, (float(i), 0, 0), (-half, 0, 0)),
            PointOnLine(f"pin{i + 1}", "coupler", link.name, (along, 0, 0), (half, 0, 0)),
        ]
    motors = [Actuator("link1_angle", name="motor", effort=effort)] if cartesian else []
    return Mechanism("parallelogram", bodies, joints, loops, actuators=motors, gravity=(0.0, -9.81, 0.0), source=SOURCE)


def _body(name: str, mass: float, inertia: float) -> Body:
    """Planar body with its origin at its centre of mass."""
    return Body.planar(name, mass, 0.0, inertia)


def configuration(angle: float) -> NDArray[np.float64]:
    """Configuration with all links at `angle` from +x (the coordinates are the same for both joints)."""
    c, s = LENGTH * math.cos(angle), LENGTH * math.sin(angle)
    links = [x for i in range(3) for x in (i + 0.5 * c, 0.5 * s, angle)]
    return np.array([*links, 1.0 + c, s, 0.0])


def rate(plant: Mechanism, angle: float, speed: float) -> NDArray[np.float64]:
    """Velocity at a configuration when the links turn at `speed` (rad/s)."""
    step = 0.5 * speed
    v = np.zeros(plant.nv)
    for i in range(3):
        v[3 * i : 3 * i + 3] = -step * math.sin(angle), step * math.cos(angle), speed
    v[9:11] = -speed * math.sin(angle), speed * math.cos(angle)
    if plant.velocity_names[0] == "link1_vx":  # planar joints: in the axes of the body
        for i in range(3):
            v[3 * i : 3 * i + 2] = 0.0, step
    return v


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest, links at 60 degrees from +x: the run of 20 s then swings between 60 and -240 degrees."""
    return configuration(math.pi / 3.0), np.zeros(plant.nv)


ENTRY = Entry(
    "parallelogram",
    parallelogram,
    "overconstrained parallelogram of three links in 12 planar coordinates (1 degree of freedom)",
    SOURCE,
    start,
    TrackingTask(("link1_angle",), (np.pi / 3.0,), (0.4,), 0.5, (0.0,), 8.0, 5.0),
)

"""Stewart-Gough platform: six legs between the base and a platform."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import Actuator, Body, Constraint, Frame, Free, Joint, Plate, Prismatic, Rod, Spherical, Universal
from ..model.mechanism import Mechanism
from .entry import Entry, TrackingTask

__all__ = ["stewart"]

SOURCE = "D. Stewart, A platform with six degrees of freedom, Proc. IMechE 180 (1965); dimensions and masses our own"

# Metres.
BASE_RADIUS, PLATFORM_RADIUS = 0.90, 0.60
BASE_SPREAD, PLATFORM_SPREAD = math.radians(10.0), math.radians(10.0)  # half the angle between paired joints
CLOSED, STROKE = 0.90, 0.50  # a leg from joint to joint when retracted, and its travel
BARREL = 0.75  # of the lower half, as it is seen: the upper one, 0.70 m long, stays in it


def _ring(radius: float, pairs: Sequence[float], spread: float) -> NDArray[np.float64]:
    """Points (6, 3) on a horizontal circle, on both sides of three directions (rad)."""
    angles = np.array([a + s * spread for a in pairs for s in (-1.0, 1.0)])
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


_THIRD = 2.0 * math.pi / 3.0
# leg 1 and its mirror image, leg 6, stand beside +x on the base; legs 1 and 2 meet on the platform
BASE = np.roll(_ring(BASE_RADIUS, (0.0, _THIRD, 2.0 * _THIRD), BASE_SPREAD), -1, axis=0)
PLATFORM = _ring(PLATFORM_RADIUS, (0.5 * _THIRD, 1.5 * _THIRD, 2.5 * _THIRD), PLATFORM_SPREAD)
_FLAT = float(np.linalg.norm(PLATFORM[0] - BASE[0]))
HEIGHT = math.sqrt((CLOSED + 0.5 * STROKE) ** 2 - _FLAT**2)
HOME = np.array([0.0, 0.0, HEIGHT])


def _thin(mass: float, length: float) -> tuple[float, float, float]:
    """Principal inertias of a thin rod along z."""
    across = mass * length**2 / 12.0
    return across, across, 0.0


def _mount(i: int) -> Frame:
    """Frame of a universal joint on the base: z along the leg at home, x level."""
    z = HOME + PLATFORM[i] - BASE[i]
    z /= np.linalg.norm(z)
    x = np.cross((0.0, 0.0, 1.0), z)
    x /= np.linalg.norm(x)
    return Frame(BASE[i], np.column_stack([x, np.cross(z, x), z]))


def stewart(carrier: str = "leg", effort: float = 3000.0) -> Mechanism:
    """Stewart-Gough platform on six legs with universal, prismatic and ball joints: six degrees of freedom, six motors.

    The base joints are in pairs on a circle of 0.90 m, 10 degrees to both sides of 0, 120 and 240 degrees; those of
    the platform on one of 0.60 m, 10 degrees to both sides of 60, 180 and 300 degrees. Legs are 0.90 m long when
    retracted, with a stroke of 0.50 m; at home all are extended half way, and the platform is level at 0.99 m.
    Platform: 200 kg, principal inertias 22, 22 and 42 kg m2, centre of mass 0.10 m above its joints. Each leg:
    lower half 12 kg (0.60 m thin rod from the base joint), upper half 5 kg (0.70 m thin rod from the platform
    joint). z points up, gravity 9.81.

    Coordinates: ``mount1_1``, ``mount1_2`` (universal joint on the base, zero in the direction of home) and
    ``leg1`` (extension, zero when retracted) of each leg, and the platform's. The loops are ball joints ``ball1``
    ... ``ball6``, three rows each, none redundant. A leg cannot spin: its halves do not turn in each other.

    Parameters
    ----------
    carrier : {"leg", "free"}
        Joint that carries the platform in the tree: the ball joint ``ball1`` of the first leg (21 coordinates, 15
        rows), or a free joint ``platform`` (24 coordinates, 18 rows), which has the pose of the platform among the
        coordinates, relative to home.
    effort : float
        Largest force of a leg, N.

    Notes
    -----
    Forward dynamics takes a fifth less time with ``"leg"``; the motion is the same.

    Examples
    --------
    >>> plant = stewart()
    >>> found = plant.diagnose(configuration(plant, (0.0, 0.1, 0.05)))
    >>> found.dof, found.rank
    (6, 15)
    """
    _check.one_of(carrier, ("leg", "free"), "carrier")
    bodies: list[Body] = []
    joints: list[Joint] = []
    loops: list[Joint | Constraint] = []
    corners = 1.08 * PLATFORM[:, :2]  # joints are below the rim of the plate
    top = Plate(corners, 0.06, Frame((0, 0, 0.06)))
    platform = Body("platform", 200.0, (0.0, 0.0, 0.10), (22.0, 22.0, 42.0), [top])
    for i in range(6):
        n = i + 1
        barrel, rod = Rod((0, 0, 0), (0, 0, BARREL), 0.045), Rod((0, 0, 0), (0, 0, -0.70), 0.025)
        bodies += [Body(f"lower{n}", 12.0, (0, 0, 0.30), _thin(12.0, 0.60), [barrel])]
        bodies += [Body(f"upper{n}", 5.0, (0, 0, -0.35), _thin(5.0, 0.70), [rod])]
        mount, end = _mount(i), Frame((0, 0, CLOSED))
        joints.append(Universal(f"mount{n}", "ground", f"lower{n}", frame=mount))
        joints.append(Prismatic(f"leg{n}", f"lower{n}", f"upper{n}", frame=end, limits=(0.0, STROKE)))
        level = Frame(R=mount.R.T)
        ball = Spherical(f"ball{n}", f"upper{n}", "platform", frame=level, child_frame=Frame(PLATFORM[i]))
        (joints if n == 1 and carrier == "leg" else loops).append(ball)
    if carrier == "free":
        joints.append(Free("platform", "ground", "platform", frame=Frame(HOME)))
    return Mechanism(
        "stewart",
        [*bodies, platform],
        joints,
        loops,
        actuators=[Actuator(f"leg{n}", effort=effort) for n in range(1, 7)],
        source=SOURCE,
    )


def configuration(
    plant: Mechanism, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Configuration with the platform at a given pose: inverse kinematics, in closed form.

    Parameters
    ----------
    plant : Mechanism
        Made by `stewart`.
    position : array_like, shape (3,)
        Position of the centre of the platform's joints, from home, m, world axes.
    rotation : array_like, shape (3, 3), optional
        Rotation of the platform, from level.

    Raises
    ------
    ValueError
        Where a leg is too short or too long for the pose.

    Examples
    --------
    >>> plant = stewart()
    >>> plant.point(configuration(plant, (0.1, 0.2, 0.0)), "platform").round(4)
    array([0.1   , 0.2   , 0.9899])
    """
    rotation = np.eye(3) if rotation is None else rotation
    platform = Frame(HOME + _check.vector(position, 3, "position"), rotation)
    values = {}
    for i in range(6):
        leg = platform.p + platform.R @ PLATFORM[i] - BASE[i]
        length = float(np.linalg.norm(leg))
        if not CLOSED <= length <= CLOSED + STROKE:
            raise InputError(
                f"leg{i + 1} would have to be {length:.4g} m long and can be {CLOSED:g} to {CLOSED + STROKE:g} m; "
                "choose a pose of the platform nearer to home"
            )
        x, y, z = _mount(i).R.T @ leg / length
        values[f"mount{i + 1}_1"], values[f"mount{i + 1}_2"] = math.atan2(-y, z), math.asin(x)
        values[f"leg{i + 1}"] = length - CLOSED
    q = plant.pack(values)
    if "ball1_qw" in plant.position_names:
        carried = plant.pose(q, "upper1").R @ _mount(0).R.T
        return plant.pack(_quaternion("ball1", carried.T @ platform.R), q)
    moved = dict(zip(("platform_x", "platform_y", "platform_z"), platform.p - HOME, strict=True))
    return plant.pack(_quaternion("platform", platform.R) | moved, q)


def _quaternion(joint: str, R: NDArray[np.float64]) -> dict[str, float]:
    """Quaternion coordinates (w, x, y, z) of a joint that turns by R."""
    from scipy.spatial.transform import Rotation  # imported where used: it takes 0.1 s

    x, y, z, w = Rotation.from_matrix(R).as_quat(canonical=True)
    return {f"{joint}_qw": w, f"{joint}_qx": x, f"{joint}_qy": y, f"{joint}_qz": z}


def start(plant: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Start (q, v) at rest at home."""
    return configuration(plant), np.zeros(plant.nv)


ENTRY = Entry(
    "stewart",
    stewart,
    "Stewart-Gough platform, six motors in the legs (6 degrees of freedom)",
    SOURCE,
    start,
    TrackingTask(
        tuple(f"leg{n}" for n in range(1, 7)),
        (0.25,) * 6,
        (0.08,) * 6,
        0.5,
        tuple(n * np.pi / 3.0 for n in range(6)),
        8.0,
        5.0,
    ),
)

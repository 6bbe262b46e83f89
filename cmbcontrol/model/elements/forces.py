"""Springs with dampers, and actuators."""

from __future__ import annotations

import math
from dataclasses import field

from ... import _check
from ..._frozen import HeldArray, Part, frozen, held, set_fields
from ...errors import ModelError
from .part import check_body_name, unit_vector

__all__ = ["Actuator", "JointSpring", "PointSpring"]


def _set_spring(spring: JointSpring | PointSpring) -> None:
    """Check and set the numbers of a spring. A stiffness may be negative, as near a dead centre; damping may not."""
    for key in ("stiffness", "rest"):
        set_fields(spring, **{key: _check.number(getattr(spring, key), f"{key} of spring {spring.name!r}")})
    set_fields(spring, damping=_check.positive(spring.damping, f"damping of spring {spring.name!r}", zero=True))


@frozen
class JointSpring(Part):
    """Spring and damper on one coordinate: force = -stiffness * (q - rest) - damping * v."""

    name: str
    joint: str
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check.name(self.name, "spring")
        check_body_name(self.joint, f"joint of spring {self.name!r}")
        _set_spring(self)


@frozen
class PointSpring(Part):
    """Spring and damper between two points: tension = stiffness * (length - rest) + damping * rate."""

    name: str
    a: str
    b: str
    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check.name(self.name, "spring")
        for key in ("a", "b"):
            check_body_name(getattr(self, key), f"{key} of spring {self.name!r}")
        if self.a == self.b:
            raise ModelError(f"spring {self.name!r} connects body {self.a!r} with itself")
        _set_spring(self)
        for key in ("point_a", "point_b"):
            set_fields(self, **{key: _check.point(getattr(self, key), f"{key} of spring {self.name!r}")})


@frozen
class Actuator(Part):
    """Motor or cylinder on one joint coordinate, or a torque between two bodies.

    Parameters
    ----------
    joint : str
        Coordinate it acts on, of the tree or of a cut revolute or prismatic joint.
    name : str, optional
        Defaults to the coordinate's name.
    effort : float
        Largest force or torque, N or N m.
    gear : float
        Joint force per unit of effort.
    bodies : (str, str), optional
        A pure torque on the second body, with its reaction on the first, where no joint has the
        axis; `joint` is then just a name.
    axis : array_like, shape (3,)
        Axis of that torque, in the axes of the first body.

    Examples
    --------
    >>> Actuator("wheel", bodies=("frame", "rotor"), axis=(0, 0, 2)).axis
    array([0., 0., 1.])
    """

    joint: str
    name: str = ""
    effort: float = math.inf
    gear: float = 1.0
    bodies: tuple[str, str] | None = field(default=None, kw_only=True)
    axis: HeldArray = field(default=held((0.0, 0.0, 1.0)), kw_only=True)

    def __post_init__(self) -> None:
        _check.name(self.joint, "joint to drive")
        set_fields(self, name=_check.name(self.joint if self.name == "" else self.name, "actuator"))
        gear = _check.number(self.gear, f"the gear of actuator {self.name!r}")
        if gear == 0.0:
            raise ModelError(f"the gear of actuator {self.name!r} must not be zero")
        effort = _check.positive(self.effort, f"the effort limit of actuator {self.name!r}", infinite=True)
        if self.bodies is not None:
            bodies = _check.sequence(self.bodies, f"bodies of actuator {self.name!r}", "two bodies")
            for body in bodies:
                check_body_name(body, f"bodies of actuator {self.name!r}")
            if len(bodies) != 2 or bodies[0] == bodies[1]:
                raise ModelError(f"actuator {self.name!r} needs two different bodies, got {self.bodies}")
            set_fields(self, bodies=bodies)
        set_fields(self, gear=gear, effort=effort, axis=unit_vector(self.axis, f"the axis of actuator {self.name!r}"))

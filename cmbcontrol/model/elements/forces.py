"""Springs with dampers, and actuators."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from ... import _check
from ..._frozen import HeldArray, frozen, held, set_fields
from ...errors import ModelError
from .pairs import BetweenPoints
from .parameters import Direction, Number, PartParameters
from .part import MachinePart, check_body_name, unit_vector

__all__ = ["Actuator", "JointSpring", "PointSpring", "Spring"]


class Spring(MachinePart):
    """Base of springs with dampers, on a coordinate or between two points."""

    prefix = "spring_"
    parameters: ClassVar[tuple[PartParameters, ...]] = (
        Number("stiffness", "N/m"),
        Number("rest", "m"),
        Number("damping", "N s/m"),
    )

    if TYPE_CHECKING:

        @property
        def stiffness(self) -> float: ...
        @property
        def rest(self) -> float: ...
        @property
        def damping(self) -> float: ...

    def _set_numbers(self: Any) -> None:
        """Check and set the numbers. A stiffness may be negative, as near a dead centre; damping may not."""
        _check.name(self.name, "spring")
        for key in ("stiffness", "rest"):
            set_fields(self, **{key: _check.number(getattr(self, key), f"{key} of spring {self.name!r}")})
        set_fields(self, damping=_check.positive(self.damping, f"damping of spring {self.name!r}", zero=True))


@frozen
class JointSpring(Spring):
    """Spring and damper on one coordinate: force = -stiffness * (q - rest) - damping * v."""

    name: str
    joint: str
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        self._set_numbers()
        check_body_name(self.joint, f"joint of spring {self.name!r}")

    @property
    def coordinates(self) -> tuple[str]:
        """Name of the coordinate on which it acts."""
        return (self.joint,)


@frozen
class PointSpring(BetweenPoints, Spring):
    """Spring and damper between two points: tension = stiffness * (length - rest) + damping * rate."""

    name: str
    a: str
    b: str
    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    parameters = (*BetweenPoints.parameters, *Spring.parameters)

    @property
    def symbol(self) -> str:  # type: ignore[override]
        """How pictures show it: a spring or a damper."""
        return "spring" if self.stiffness else "damper"

    def __post_init__(self) -> None:
        self._set_numbers()
        self.check_ends(f"spring {self.name!r}")


@frozen
class Actuator(MachinePart):
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
    continuous : float, optional
        Largest effort that it bears for ever, N or N m: the limit of its RMS effort. None where it is not known.
    speed : float, optional
        Largest speed, at which its effort ends, rad/s or m/s: of the motor itself, so gear times the speed of the
        joint. None where it has none.

    Notes
    -----
    Summaries of runs, `Simulation.motors` and `plot.effort_over_speed` compare runs with `continuous` and `speed`. No
    law keeps to them.

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
    continuous: float | None = field(default=None, kw_only=True)
    speed: float | None = field(default=None, kw_only=True)

    prefix = "motor_"
    parameters = (Number("gear", "1"), Direction("axis", 0))

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
        for key, what in (("continuous", "the continuous effort"), ("speed", "the largest speed")):
            if getattr(self, key) is not None:
                set_fields(self, **{key: _check.positive(getattr(self, key), f"{what} of actuator {self.name!r}")})
        if self.continuous is not None and self.continuous > effort:
            raise ModelError(
                f"actuator {self.name!r} has a continuous effort of {self.continuous:g}, above its largest of "
                f"{effort:g}; give effort= of {self.continuous:g} or more"
            )
        set_fields(self, gear=gear, effort=effort, axis=unit_vector(self.axis, f"the axis of actuator {self.name!r}"))

    @property
    def ends(self) -> tuple[str, ...]:
        """Names of the bodies between which it is a torque; none for a motor on a coordinate."""
        return self.bodies or ()

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Name of the coordinate, or of the cut joint, on which it acts."""
        return () if self.bodies else (self.joint,)

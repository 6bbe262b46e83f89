"""Constraints that are not joints: points, distances and frames that are held, and couplings of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Self

import numpy as np

from ... import _check
from ..._frozen import HeldArray, frozen_family, held, set_fields
from ...errors import ModelError
from .frames import Frame, rotation_to
from .pairs import BetweenFrames, BetweenPoints
from .parameters import Coefficients, Direction, Number
from .part import LoopPart, coefficients_of, unit_vector
from .rows import Row, coordinate_row, distance, offset, offsets, weld

__all__ = ["Constraint", "CoordinateConstraint", "Coupling", "Distance", "Point", "PointOnLine", "PointOnPlane", "Weld"]


@frozen_family
class Constraint(BetweenPoints, LoopPart):
    """Base of constraints that are not cut joints: a point or frame on body `b` is held relative to body `a`."""

    name: str
    a: str
    b: str

    acts_at = 1
    symbol = "point"

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint")
        self.check_ends(f"constraint {self.name!r}")
        for key in ("axis", "normal"):
            if hasattr(self, key):
                set_fields(self, **{key: unit_vector(getattr(self, key), f"the {key} of constraint {self.name!r}")})

    def captured(self, seen: Frame) -> Self:
        """Constraint whose place on body a is at the point of body b, with b at `seen`."""
        return replace(self, point_a=seen.p + seen.R @ self.point_b)  # type: ignore[call-arg]


@frozen_family
class Point(Constraint):
    """Constraint p_b - p_a = 0: a point of b coincides with a point of a (3 rows, in a's axes, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))

    may_rub = True

    def rows(self) -> list[Row]:
        return offsets(*self.ends, self.point_a, np.eye(3), self.point_b)


@frozen_family
class PointOnLine(Constraint):
    """Constraint of a point of b to the line through `point_a` along `axis`, both fixed on a (2 rows, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    axis: HeldArray = held((0.0, 0.0, 1.0))

    parameters = (*Constraint.parameters, Direction("axis", 0))
    guides = "line"

    @property
    def axes(self) -> np.ndarray:
        return rotation_to(self.axis)

    def rows(self) -> list[Row]:
        return offsets(*self.ends, self.point_a, self.axes, self.point_b, "xy")


@frozen_family
class PointOnPlane(Constraint):
    """Constraint of a point of b to the plane through `point_a` across `normal`, both fixed on a (1 row, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    normal: HeldArray = held((0.0, 0.0, 1.0))

    parameters = (*Constraint.parameters, Direction("normal", 0))
    guides = "plane"
    fixed_at = (1,)
    may_rub = True

    @property
    def axes(self) -> np.ndarray:
        return rotation_to(self.normal)

    def rows(self) -> list[Row]:
        return [offset("normal", *self.ends, self.point_a, self.normal, self.point_b)]


@frozen_family
class Distance(Constraint):
    """Constraint (|p_b - p_a|^2 - length^2) / (2 length) = 0: a massless rod with ball ends (1 row, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    length: float = 0.0

    parameters = (*Constraint.parameters, Number("length", "m"))
    symbol = "rod"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, length=_check.positive(self.length, f"the length of constraint {self.name!r}"))

    def rows(self) -> list[Row]:
        return [distance("length", *self.ends, self.point_a, self.point_b, self.length)]

    def captured(self, seen: Frame) -> Self:
        """Rod with the length that it has with body b at `seen`."""
        return replace(self, length=float(np.linalg.norm(seen.p + seen.R @ self.point_b - self.point_a)))


@frozen_family
class Weld(BetweenFrames, Constraint):
    """Constraint of frame `frame_b` of b to coincide with `frame_a` of a (6 rows: 3 in metres, 3 in radians)."""

    frame_a: Frame = field(default_factory=Frame)
    frame_b: Frame = field(default_factory=Frame)

    acts_at = 0
    symbol = "weld"

    @property
    def aligned(self) -> tuple[np.ndarray, np.ndarray]:
        return self.frame_a.R, self.frame_b.R

    def rows(self) -> list[Row]:
        return weld(*self.ends, *self.frames)

    def captured(self, seen: Frame) -> Self:
        """Weld whose frame on body a is where that on body b is, with b at `seen`."""
        return replace(self, frame_a=seen @ self.frame_b)


class CoordinateConstraint(LoopPart):
    """Base of constraints of coordinates, without bodies (1 row)."""


@frozen_family
class Coupling(CoordinateConstraint):
    """Constraint: sum of coefficient * coordinate = offset, as of gears, belts, differentials (1 row).

    Parameters
    ----------
    coefficients : mapping of coordinate name to float
        Coordinates of revolute, prismatic, helical, cylindrical or universal joints.
    """

    name: str
    coefficients: Mapping[str, float]
    offset: float = 0.0

    parameters = (Coefficients("coefficients"), Number("offset", "m"))

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint")
        what = f"coupling {self.name!r}"
        values = coefficients_of(self.coefficients, what)
        if not any(values.values()):
            raise ModelError(f"{what} has no coefficient that is not zero")
        set_fields(self, coefficients=values, offset=_check.number(self.offset, f"the offset of {what}"))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that it binds."""
        return tuple(self.coefficients)

    def rows(self) -> list[Row]:
        return [coordinate_row(self.coefficients, self.offset)]

    def captured(self, seen: Mapping[str, float]) -> Self:
        """Coupling with the offset that the values of its coordinates have."""
        return replace(self, offset=sum(c * seen[name] for name, c in self.coefficients.items()))

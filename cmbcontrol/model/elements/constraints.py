"""Constraints that are not joints: points, distances and frames that are held, and couplings of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ... import _check
from ..._frozen import HeldArray, Part, frozen_family, held, set_fields
from ...errors import ModelError
from .bodies import Frame
from .part import check_body_name, unit_vector

__all__ = ["Constraint", "CoordinateConstraint", "Coupling", "Distance", "Point", "PointOnLine", "PointOnPlane", "Weld"]


@frozen_family
class Constraint(Part):
    """Base of constraints that are not cut joints: a point or frame on body `b` is held relative to body `a`."""

    name: str
    a: str
    b: str

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint")
        for key in ("a", "b"):
            check_body_name(getattr(self, key), f"{key} of constraint {self.name!r}")
        if self.a == self.b:
            raise ModelError(f"constraint {self.name!r} connects body {self.a!r} with itself")
        for key in ("point_a", "point_b"):
            if hasattr(self, key):
                set_fields(self, **{key: _check.point(getattr(self, key), f"{key} of constraint {self.name!r}")})
        for key in ("axis", "normal"):
            if hasattr(self, key):
                set_fields(self, **{key: unit_vector(getattr(self, key), f"the {key} of constraint {self.name!r}")})


@frozen_family
class Point(Constraint):
    """Constraint p_b - p_a = 0: a point of b coincides with a point of a (3 rows, in a's axes, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))


@frozen_family
class PointOnLine(Constraint):
    """Constraint of a point of b to the line through `point_a` along `axis`, both fixed on a (2 rows, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    axis: HeldArray = held((0.0, 0.0, 1.0))


@frozen_family
class PointOnPlane(Constraint):
    """Constraint of a point of b to the plane through `point_a` across `normal`, both fixed on a (1 row, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    normal: HeldArray = held((0.0, 0.0, 1.0))


@frozen_family
class Distance(Constraint):
    """Constraint (|p_b - p_a|^2 - length^2) / (2 length) = 0: a massless rod with ball ends (1 row, metres)."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    length: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, length=_check.positive(self.length, f"the length of constraint {self.name!r}"))


@frozen_family
class Weld(Constraint):
    """Constraint of frame `frame_b` of b to coincide with `frame_a` of a (6 rows: 3 in metres, 3 in radians)."""

    frame_a: Frame = field(default_factory=Frame)
    frame_b: Frame = field(default_factory=Frame)

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("frame_a", "frame_b"):
            _check.instance(getattr(self, key), Frame, f"{key} of constraint {self.name!r}")


class CoordinateConstraint(Part):
    """Base of constraints of coordinates, without bodies (1 row)."""

    name: str


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

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint")
        what = f"coupling {self.name!r}"
        given = _check.mapping(self.coefficients, f"coefficients of {what}", "coordinates to numbers")
        values = {str(k): _check.number(c, f"coefficient {k!r} of {what}") for k, c in given.items()}
        if not any(values.values()):
            raise ModelError(f"{what} has no coefficient that is not zero")
        set_fields(self, coefficients=values, offset=_check.number(self.offset, f"the offset of {what}"))

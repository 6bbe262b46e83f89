"""Cams: constraints by which a coordinate follows a function of another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._frozen import Held, frozen_family, set_fields
from ...errors import InputError, ModelError
from ...trace.expression import text_of
from ...trace.symbols import where_less
from .constraints import CoordinateConstraint
from .rows import FormulaRows, RowOfFormula

__all__ = ["Cam"]

Array = NDArray[np.float64]

TURN = 2.0 * np.pi


@frozen_family
class Cam(FormulaRows, CoordinateConstraint):
    """Constraint follower = offset + profile(cam): a valve lifter, a pivoted lever on a disc, a groove (1 row).

    It holds both ways, as a groove does; a follower that a spring presses on, and that may jump, is a `Contact` on it.

    Parameters
    ----------
    name : str
    follower, cam : str
        Coordinates of revolute, prismatic, helical, cylindrical or universal joints.
    profile : callable or (angles, lifts)
        The follower's displacement, m or rad, as a function of the cam's angle, written with numpy's functions, which
        is differentiated; or points over a turn of the cam, rad, of which the last one has the lift of the first: a
        smooth periodic curve through them.
    offset : float
        m or rad.

    Raises
    ------
    ModelError
        Where cam and follower are one coordinate, or points are not over a turn.

    Examples
    --------
    >>> cam = Cam("cam", "valve", "shaft", lambda angle: 0.01 * (1.0 - np.cos(angle)))  # an eccentric disc
    >>> float(cam.lift(np.pi))
    0.02
    """

    name: str
    follower: str
    cam: str
    profile: Held[Callable[[Any], Any] | tuple[ArrayLike, ArrayLike], Callable[[Any], Any]]
    offset: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        _check.name(self.name, "constraint")
        what = f"cam {self.name!r}"
        for key in ("follower", "cam"):
            _check.name(getattr(self, key), f"coordinate of {what}")
        if self.follower == self.cam:
            raise ModelError(f"{what}: cam and follower are both coordinate {self.cam!r}; give two")
        set_fields(self, offset=_check.number(self.offset, f"the offset of {what}"))
        if isinstance(self.profile, type) or not callable(self.profile):
            points = _check.sequence(self.profile, f"the profile of {what}", "a function, or (angles, lifts)")
            if len(points) != 2:
                raise InputError(
                    f"the profile of {what} must be a function, or (angles, lifts), got {_check.shown(points)}"
                )
            angles, lifts = points
            set_fields(self, profile=_Periodic(angles, lifts, what))

    @property
    def measured(self) -> tuple[str, str]:
        """Names of the two coordinates, follower and cam."""
        return self.follower, self.cam

    @property
    def sample(self) -> Array:
        """Values of follower and cam at which the formula is traced."""
        return np.array([0.11, 0.1234])

    @property
    def formulas(self) -> tuple[RowOfFormula, ...]:
        return (RowOfFormula("", "", residual=lambda z: z[0] - self.offset - self.lift(z[1])),)

    def captured(self, seen: Mapping[str, float]) -> Self:
        """Cam with the offset that the values of its coordinates have."""
        return replace(self, offset=float(seen[self.follower] - self.lift(seen[self.cam])))

    def written(self, field: str) -> Any:
        """Value of a field as files have it: the profile as its points, or as a formula."""
        value = super().written(field)
        if field != "profile":
            return value
        if isinstance(value, _Periodic):
            return value.points
        return text_of(value, ["angle"], self.sample[1:], f"the profile of cam {self.name!r}")

    def lift(self, angle: Any) -> Any:
        """Displacement of the follower at an angle of the cam, by the profile."""
        return self.profile(angle)


class _Periodic:
    """Smooth periodic curve through points over a turn, for numbers and symbols."""

    def __init__(self, angles: ArrayLike, lifts: ArrayLike, what: str) -> None:
        from scipy.interpolate import CubicSpline

        given = _check.numbers(angles, f"the angles of {what}")
        angles = _check.vector(given, given.size, f"the angles of {what}")
        lifts = _check.vector(lifts, angles.size, f"the lifts of {what}")
        if angles.size < 4 or (np.diff(angles) <= 0.0).any():
            raise InputError(f"the angles of {what} must be four or more that increase, got {_check.shown(given)}")
        if abs(angles[-1] - angles[0] - TURN) > 1e-9 or abs(lifts[-1] - lifts[0]) > 1e-9 * np.ptp(lifts):
            raise ModelError(
                f"the points of {what} must be over one turn, and end where they began: they go over "
                f"{angles[-1] - angles[0]:.9g} of {TURN:.9g} rad, with a lift of {lifts[0]:.9g} at first and "
                f"{lifts[-1]:.9g} at last"
            )
        self.points = angles, lifts
        lifts = np.append(lifts[:-1], lifts[0])
        self._angles, self._pieces = angles, CubicSpline(angles, lifts, bc_type="periodic").c

    def __call__(self, angle: Any) -> Any:
        s = angle - TURN * np.rint((angle - (self._angles[0] + 0.5 * TURN)) / TURN)
        low, chosen = self._angles[-2], list(self._pieces[:, -1])
        for k in range(len(self._angles) - 2, 0, -1):
            chosen = [where_less(s, self._angles[k], a, b) for a, b in zip(self._pieces[:, k - 1], chosen, strict=True)]
            low = where_less(s, self._angles[k], self._angles[k - 1], low)
        value: Any = 0.0
        for c in chosen:
            value = value * (s - low) + c
        return value

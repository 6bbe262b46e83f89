"""Prescribed motions: coordinates, distances, points and frames that follow functions of time.

A motion is a constraint whose rows have to be r(t) in place of zero (rheonomic). The effort of its drive, whatever it
takes, is a multiplier.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ..._frozen import Held, HeldArray, frozen_family, held, set_fields
from ...errors import InputError, ModelError
from .constraints import Constraint, CoordinateConstraint
from .frames import Frame
from .pairs import BetweenFrames
from .parameters import MotionValues, PartParameters
from .part import MachinePart, check_body_name
from .rows import Row, coordinate_row, distance, offsets, relative_frame

__all__ = ["DistanceMotion", "JointMotion", "Motion", "PointMotion", "PoseMotion"]

Array = NDArray[np.float64]


class Motion(MachinePart):
    """Base of prescribed motions, with position, velocity and acceleration: numbers for each component.

    Attributes
    ----------
    suffixes : tuple of str
        Endings of the names of the components, behind the name of the motion.
    """

    name: str
    suffixes: tuple[str, ...] = ("",)
    parameters: ClassVar[tuple[PartParameters, ...]] = (
        *(MotionValues(key) for key in ("position", "velocity", "acceleration")),
    )

    def _check_value(self) -> None:
        count, what = len(self.suffixes), f"of motion {self.name!r}"
        for key in ("position", "velocity", "acceleration"):
            given = getattr(self, key)
            if count == 1:
                set_fields(self, **{key: _check.number(given, f"the {key} {what}")})
            else:
                set_fields(self, **{key: _check.vector(given, count, f"the {key} {what}")})

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components."""
        return tuple(f"{self.name}{suffix}" for suffix in self.suffixes)

    @property
    def value(self) -> Array:
        """Position, velocity and acceleration, a row for each component (components, 3)."""
        parts = (self.position, self.velocity, self.acceleration)  # type: ignore[attr-defined]
        return np.stack([np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in parts], axis=1)

    def require_possible(self, value: Array) -> None:
        """Raise an error for values (components, 3) that are impossible.

        Raises
        ------
        ModelError
        """

    def captured(self, seen: Any) -> Self:
        """Raise an error: a motion says itself where it is to be.

        Raises
        ------
        ValueError
        """
        raise InputError(
            f"motion {self.name!r} says itself where it is to be, and captures nothing: let it begin where the "
            "machine stands"
        )

    def targets(self, value: Array) -> Array:
        """Targets of the rows, with their first and second rates (rows, 3), at a value (components, 3)."""
        return value

    def efforts(self, lam: Array, value: Array) -> Array:
        """Efforts of the drive along the components, N or N m, at multipliers of the rows."""
        return -lam


@frozen_family
class JointMotion(Motion, CoordinateConstraint):
    """Motion of a coordinate by a function of time: a crank that turns at a given speed, a table that is shaken.

    Parameters
    ----------
    name : str
    joint : str
        A coordinate of a revolute, prismatic, helical, cylindrical or universal joint.
    position, velocity, acceleration : float
        By default it moves from this position at time zero with this velocity and acceleration, rad or m; see
        `Mechanism.with_motions` and ``simulate(motions=...)``.

    Examples
    --------
    >>> JointMotion("drive", "crank", velocity=10.0).value
    array([[ 0., 10.,  0.]])
    """

    name: str
    joint: str
    position: float = field(default=0.0, kw_only=True)
    velocity: float = field(default=0.0, kw_only=True)
    acceleration: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        _check.name(self.name, "motion")
        check_body_name(self.joint, f"the joint of motion {self.name!r}")
        self._check_value()

    @property
    def coordinates(self) -> tuple[str]:
        """Name of the coordinate that it moves."""
        return (self.joint,)

    def rows(self) -> list[Row]:
        return [coordinate_row({self.joint: 1.0})]


@frozen_family
class DistanceMotion(Motion, Constraint):
    """Motion of the distance between two points by a function of time: a winch, a cylinder that is moved.

    Parameters
    ----------
    name, a, b, point_a, point_b
        As for a `Distance`.
    position, velocity, acceleration : float
        Values of the distance, m; see `JointMotion`.
    length : float, optional
        The row is (distance^2 - length^2) / (2 length) = that of the motion, m; any length does, and that of the
        position is taken.

    Examples
    --------
    >>> DistanceMotion("winch", "ground", "hook", position=2.0, velocity=-0.1).targets(np.array([[2.0, -0.1, 0.0]]))
    array([[ 0.   , -0.1  ,  0.005]])
    """

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    position: float = field(default=0.0, kw_only=True)
    velocity: float = field(default=0.0, kw_only=True)
    acceleration: float = field(default=0.0, kw_only=True)
    length: Held[float | None, float] = field(default=held(None), kw_only=True)

    parameters = (*Motion.parameters, *Constraint.parameters)
    symbol = "rod"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_value()
        self.require_possible(self.value)
        length = self.position if self.length is None else self.length
        set_fields(self, length=_check.positive(length, f"the length of motion {self.name!r}"))

    def rows(self) -> list[Row]:
        return [distance("length", *self.ends, self.point_a, self.point_b, self.length)]

    def require_possible(self, value: Array) -> None:
        if not value[0, 0] > 0.0:
            raise ModelError(
                f"motion {self.name!r} asks for a distance of {value[0, 0]:.6g} m; a distance is above zero: where "
                "points are to meet, use a PointMotion"
            )

    def targets(self, value: Array) -> Array:
        L, d, dd = value[0]
        unit = float(self.length)
        return np.array([[0.5 * (L * L - unit * unit), L * d, d * d + L * dd]]) / unit

    def efforts(self, lam: Array, value: Array) -> Array:
        return -lam * value[0, 0] / self.length


@frozen_family
class PointMotion(Motion, Constraint):
    """Motion of a point of b along a curve in the axes of a: a handle that is moved, a foot on a given path.

    Parameters
    ----------
    name, a, b, point_a, point_b
        As for a `Point`.
    position, velocity, acceleration : array_like, shape (3,)
        Vector from point a to point b in the axes of a, m; see `JointMotion`.

    Examples
    --------
    >>> PointMotion("hand", "ground", "handle", position=(0.5, 0, 0)).component_names
    ('hand_x', 'hand_y', 'hand_z')
    """

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    position: HeldArray = field(default=held((0.0, 0.0, 0.0)), kw_only=True)
    velocity: HeldArray = field(default=held((0.0, 0.0, 0.0)), kw_only=True)
    acceleration: HeldArray = field(default=held((0.0, 0.0, 0.0)), kw_only=True)

    suffixes = ("_x", "_y", "_z")
    parameters = (*Motion.parameters, *Constraint.parameters)
    fixed_at = (1,)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_value()

    def rows(self) -> list[Row]:
        return offsets(*self.ends, self.point_a, np.eye(3), self.point_b)


@frozen_family
class PoseMotion(BetweenFrames, Motion, Constraint):
    """Motion of a frame of b in a frame of a by functions of time: a shaken platform, a vehicle on a given path.

    Parameters
    ----------
    name, a, b, frame_a, frame_b
        As for a `Weld`.
    position : array_like, shape (6,)
        x, y, z of the origin of frame b in frame a, m, and its rotation vector there, rad.
    velocity, acceleration : array_like, shape (6,)
        Rates of these six numbers; see `JointMotion`.

    Notes
    -----
    Its rows are three offsets and the nine cosines between the axes of the frames, of which any rotation leaves three
    independent.

    Examples
    --------
    >>> PoseMotion("road", "ground", "table", velocity=(0, 0, 0.1, 0, 0, 0)).component_names[2:4]
    ('road_z', 'road_rx')
    """

    frame_a: Frame = field(default_factory=Frame)
    frame_b: Frame = field(default_factory=Frame)
    position: HeldArray = field(default=held((0.0,) * 6), kw_only=True)
    velocity: HeldArray = field(default=held((0.0,) * 6), kw_only=True)
    acceleration: HeldArray = field(default=held((0.0,) * 6), kw_only=True)

    suffixes = ("_x", "_y", "_z", "_rx", "_ry", "_rz")
    acts_at, fixed_at = 0, (1,)
    symbol = ""
    parameters = (*Motion.parameters, *BetweenFrames.parameters)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_value()

    def rows(self) -> list[Row]:
        return relative_frame(*self.ends, *self.frames)

    def targets(self, value: Array) -> Array:
        turned = _rotation(value[3:])
        return np.concatenate([value[:3], turned.reshape(9, 3)])

    def efforts(self, lam: Array, value: Array) -> Array:
        """Force and moment about the origin of frame b, in the axes of frame a, for the pair of each component.

        The moment T belongs to the angular velocity w = J dp/dt; the effort along the rotation vector p is J(p)' T.
        """
        R = _rotation(value[3:] * (1.0, 0.0, 0.0))[:, :, 0]
        # the cosine of axis i of a and axis j of b changes by (R e_j) x e_i . w
        moment = sum(-lam[3 + 3 * i + j] * np.cross(R[:, j], np.eye(3)[i]) for i in range(3) for j in range(3))
        return np.concatenate([-lam[:3], _right_jacobian(value[3:, 0]).T @ (R.T @ moment)])


def _rotation(vector: Array) -> Array:
    """Rotation matrix of a rotation vector, and its first and second rate (3, 3, 3), from the vector and rates (3, 3).

    It is the exponential of K(t) = [p(t) x], to second order in time: that of the block matrix of K and its rates.
    """
    from scipy.linalg import expm

    block = np.zeros((9, 9), dtype=vector.dtype)
    for order in range(3):
        x, y, z = vector[:, order] / (1.0, 1.0, 2.0)[order]
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        for i in range(3 - order):
            block[3 * i : 3 * i + 3, 3 * (i + order) : 3 * (i + order) + 3] = K
    R = expm(block)[:3]
    return np.stack([R[:, :3], R[:, 3:6], 2.0 * R[:, 6:]], axis=2)


def _right_jacobian(p: Array) -> Array:
    """Right Jacobian J of a rotation vector p: the body-fixed angular velocity is J dp/dt."""
    angle = float(np.linalg.norm(p))
    K = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    if angle < 1e-4:  # what the series leaves out is below rounding
        return np.eye(3) - (0.5 - angle**2 / 24.0) * K + (1.0 / 6.0 - angle**2 / 120.0) * K @ K
    first, second = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.eye(3) - first * K + second * K @ K

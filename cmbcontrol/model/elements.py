"""The parts of a machine: bodies, joints, loop closures, springs, actuators.

All parts are frozen. Frames are given on bodies: ``Frame(p, R)`` is a frame at the point `p`
(metres, in the body's axes) whose axes are the columns of `R`. The ground is called ``"ground"``;
its frame is the world.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..errors import ModelError
from ..kernels import layout

__all__ = [
    "GROUND",
    "Actuator",
    "Body",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Frame",
    "Free",
    "Helical",
    "Joint",
    "JointSpring",
    "Loop",
    "Planar",
    "Point",
    "PointOnLine",
    "PointOnPlane",
    "PointSpring",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
    "Weld",
]

GROUND = "ground"


def _set(part: object, **values: object) -> None:
    """Write normalised values into a frozen dataclass."""
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.setflags(write=False)
        object.__setattr__(part, key, value)


class _Part:
    """Frozen, and so are its copies: pickle and deepcopy make arrays that could be written."""

    def __setstate__(self, state: dict[str, object]) -> None:
        _set(self, **state)


def _unit(axis: ArrayLike, what: str) -> np.ndarray:
    """`axis` scaled to length one."""
    x = _check.vector(axis, 3, what)
    length = float(np.linalg.norm(x))
    if length < 1e-12:
        raise ModelError(f"{what} must not be zero, got {x.tolist()}; give a direction such as (0, 0, 1)")
    return x / length


def _body_name(x: object, what: str) -> None:
    """Refuse what is no name; whether there is such a part, the mechanism says."""
    if not isinstance(x, str):
        raise TypeError(f"{what} must be a name, got {x!r}")


def _set_spring(spring: JointSpring | PointSpring) -> None:
    """Check the numbers of a spring. A stiffness may be negative, as near a dead centre; a damper takes energy."""
    for key in ("stiffness", "rest"):
        _set(spring, **{key: _check.number(getattr(spring, key), f"{key} of spring {spring.name!r}")})
    _set(spring, damping=_check.positive(spring.damping, f"damping of spring {spring.name!r}", zero=True))


def rotation_to(axis: np.ndarray) -> np.ndarray:
    """The shortest rotation that takes z to the unit vector `axis`; of those to -z, the half turn about x."""
    x, y, z = (float(component) for component in axis)
    if z >= 0.0:
        f = 1.0 / (1.0 + z)
        return np.array([[1.0 - f * x * x, -f * x * y, x], [-f * x * y, 1.0 - f * y * y, y], [-x, -y, z]])
    r = math.hypot(x, y)  # 1 + z would lose its digits: it is r^2 / (1 - z)
    c, s = (x / r, y / r) if r else (0.0, 1.0)
    across = (z - 1.0) * c * s
    return np.array([[s * s + z * c * c, across, x], [across, c * c + z * s * s, y], [-x, -y, z]])


def _orthonormal(R: np.ndarray) -> np.ndarray:
    """The orthogonal matrix nearest to one that is so to some digits (Newton's iteration for the polar factor).

    An error e becomes 3 e^2 / 4, so that 1e-6 is gone after two steps.
    """
    for _ in range(2):
        R = R - 0.5 * R @ (R.T @ R - np.eye(3))
    return R


@dataclass(frozen=True, eq=False)
class Frame(_Part):
    """A frame on a body.

    Parameters
    ----------
    p : array_like, shape (3,)
        Origin, metres, in the body's axes.
    R : array_like, shape (3, 3)
        Rotation matrix; its columns are the frame's axes in the body's axes. One given with few digits, orthogonal to
        1e-6, is replaced by the nearest one that is orthogonal to rounding: else it would falsify lengths.

    Raises
    ------
    ModelError
        Where `R` is no rotation.

    Examples
    --------
    >>> Frame((1.0, 0.0, 0.0)).p
    array([1., 0., 0.])
    """

    p: ArrayLike = (0.0, 0.0, 0.0)
    R: ArrayLike = field(default_factory=lambda: np.eye(3))

    def __post_init__(self) -> None:
        p = _check.vector(self.p, 3, "the origin of a frame")
        R = _check.matrix(self.R, (3, 3), "the rotation of a frame")
        off = float(np.abs(R.T @ R - np.eye(3)).max())
        if off > 1e-6 or np.linalg.det(R) < 0.0:  # 1e-6: what seven digits leave
            raise ModelError(
                f"the rotation of a frame must be orthogonal (to 1e-6) with determinant 1, got {R.tolist()}, off by "
                f"{off:.1e}; give more digits, or build it with Frame.turned(axis, angle)"
            )
        _set(self, p=p, R=_orthonormal(R) if off > 4e-16 else R)

    @classmethod
    def turned(cls, axis: ArrayLike, angle: float, p: ArrayLike = (0.0, 0.0, 0.0)) -> Frame:
        """A frame at `p`, turned by `angle` (rad) about `axis`.

        Examples
        --------
        >>> Frame.turned((0, 0, 1), math.pi / 2).R.round(12)[:, 0]
        array([0., 1., 0.])
        """
        x, y, z = _unit(axis, "the axis of a rotation")
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        angle = _check.number(angle, "the angle of a rotation")
        return cls(p, np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K)

    def __matmul__(self, other: Frame) -> Frame:
        """The frame `other`, given in this frame, in the body's axes."""
        _check.instance(other, Frame, "what a frame is multiplied with")
        return Frame(self.p + self.R @ other.p, self.R @ other.R)

    def inverse(self) -> Frame:
        """The body's frame, seen from this one."""
        return Frame(-self.R.T @ self.p, self.R.T)


@dataclass(frozen=True, eq=False)
class Body(_Part):
    """A rigid body.

    Parameters
    ----------
    name : str
    mass : float
        kg.
    com : array_like, shape (3,)
        Centre of mass in the body's axes, metres.
    inertia : array_like, shape (3, 3) or (3,)
        About the centre of mass, in the body's axes (or its diagonal), kg m2.

    Raises
    ------
    ModelError
        Where mass and inertia cannot belong to a rigid body.

    Examples
    --------
    >>> Body.rod("link", mass=3.0, length=2.0).inertia.diagonal()
    array([0., 1., 1.])
    """

    name: str
    mass: float = 0.0
    com: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check.name(self.name, "body")
        what = f"body {self.name!r}"
        mass = _check.number(self.mass, f"the mass of {what}")
        com = _check.vector(self.com, 3, f"the centre of mass of {what}")
        inertia = _check.numbers(self.inertia, f"the inertia of {what}", "a 3 x 3 matrix, or its diagonal")
        inertia = np.diag(inertia) if inertia.shape == (3,) else inertia
        inertia = _check.matrix(inertia, (3, 3), f"the inertia of {what}")
        _set(self, mass=mass, com=com, inertia=inertia)
        self._check_physics()

    def _check_physics(self) -> None:
        """Refuse mass and inertia that no distribution of mass can have."""
        what, I = f"body {self.name!r}", np.asarray(self.inertia)
        size = float(np.abs(I).max())
        if self.mass < 0.0:
            raise ModelError(f"{what}: the mass must not be negative, got {self.mass} kg")
        if self.mass == 0.0 and size > 0.0:
            raise ModelError(f"{what}: a body without mass cannot have inertia, got {I.tolist()} kg m2; give it a mass")
        if np.abs(I - I.T).max() > 1e-9 * size:
            raise ModelError(f"{what}: the inertia must be symmetric, got {I.tolist()} kg m2")
        moments = np.linalg.eigvalsh(I)
        if moments[0] < -1e-9 * size:
            raise ModelError(f"{what}: the principal moments must not be negative, got {moments.tolist()} kg m2")
        if moments[2] > (1.0 + 1e-9) * (moments[0] + moments[1]):
            raise ModelError(
                f"{what}: the largest principal moment must not exceed the sum of the other two, "
                f"got {moments.tolist()} kg m2; for a planar machine use Body.planar(...)"
            )

    @classmethod
    def rod(cls, name: str, mass: float, length: float) -> Body:
        """A thin uniform rod along x from the body's origin: inertia m L^2 / 12 across, none along."""
        mass = _check.positive(mass, f"the mass of body {name!r}", zero=True)
        length = _check.positive(length, f"the length of body {name!r}")
        i = mass * length**2 / 12.0
        return cls(name, mass, (0.5 * length, 0.0, 0.0), (0.0, i, i))

    @classmethod
    def planar(cls, name: str, mass: float, com: float, inertia: float) -> Body:
        """A body for planar machines: centre of mass at (com, 0, 0), `inertia` about z through it."""
        com, inertia = (_check.number(x, f"the {k} of body {name!r}") for x, k in ((com, "com"), (inertia, "inertia")))
        return cls(name, mass, (com, 0.0, 0.0), (0.5 * inertia, 0.5 * inertia, inertia))


Limits = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Joint(_Part):
    """A joint between two bodies; in the list of loops it is a cut joint.

    Parameters
    ----------
    name : str
        Also the name of its coordinate, if it has one; else the coordinates are ``name_suffix``.
    parent, child : str
        Bodies; ``"ground"`` is the world.
    frame, child_frame : Frame
        The joint's frame on the parent and on the child; they coincide at zero.
    damping : float or sequence
        Viscous friction, N m s/rad or N s/m, one for all velocity coordinates or one each.
    limits : (float, float) or mapping of suffix to (float, float)
        Range of the position coordinates, rad or m; used when loops are assembled.
    """

    name: str
    parent: str
    child: str
    frame: Frame = field(default_factory=Frame, kw_only=True)
    child_frame: Frame = field(default_factory=Frame, kw_only=True)
    damping: float | tuple[float, ...] = field(default=0.0, kw_only=True)
    limits: Limits | Mapping[str, Limits] | None = field(default=None, kw_only=True)

    kinds: ClassVar[tuple[int, ...]] = ()  # kernel joints, one link each
    position_suffixes: ClassVar[tuple[str, ...]] = ()
    velocity_suffixes: ClassVar[tuple[str, ...]] = ()
    position_units: ClassVar[tuple[str, ...]] = ()
    velocity_units: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        _check.name(self.name, "joint")
        what = f"joint {self.name!r}"
        if type(self) is Joint:
            raise ModelError(f"{what}: use one of the joint types, such as Revolute or Prismatic")
        for key in ("frame", "child_frame"):
            _check.instance(getattr(self, key), Frame, f"{key} of {what}")
        for key in ("parent", "child"):
            _body_name(getattr(self, key), f"{key} of {what}")
        if self.parent == self.child:
            raise ModelError(f"{what} connects body {self.parent!r} with itself")
        nv = len(self.velocity_suffixes)
        expected = f"one number, or {nv} numbers"
        damping = _check.numbers(self.damping, f"damping of {what}", expected)
        if damping.ndim and damping.shape != (nv,):
            raise ModelError(f"{what}: damping must be {expected}, got {self.damping!r}")
        if not np.isfinite(damping).all() or damping.min(initial=0.0) < 0.0:
            raise ModelError(f"{what}: damping must be finite and >= 0, got {self.damping}")
        damping = np.broadcast_to(damping, (nv,)).copy()
        _set(self, damping=damping, limits=self._limit_array())
        self._check_geometry()

    def _limit_array(self) -> np.ndarray:
        """Limits as an array (nq, 2), infinite where none are given."""
        what, suffixes = f"joint {self.name!r}", self.position_suffixes
        array = np.tile([-np.inf, np.inf], (len(suffixes), 1))
        if self.limits is None:
            return array
        limits = self.limits
        if isinstance(limits, np.ndarray) and limits.shape == array.shape:  # from another joint (dataclasses.replace)
            limits = dict(zip(suffixes, limits, strict=True))
        elif not suffixes:
            raise ModelError(f"{what} has no coordinates to limit; leave limits= out")
        if not isinstance(limits, Mapping):
            if len(suffixes) != 1:
                raise ModelError(
                    f"{what} has coordinates {suffixes}: give limits by suffix, such as "
                    f"limits={{{suffixes[0]!r}: (-1, 1)}}"
                )
            limits = {suffixes[0]: limits}
        for suffix, pair in limits.items():
            if suffix not in suffixes:
                raise ModelError(f"{what}: limits: {_check.unknown(suffix, suffixes, 'coordinate')}")
            low, high = _check.pair(pair, f"limits of {what}", infinite=True)
            if not low < high:
                raise ModelError(f"{what}: the lower limit {low} must be below the upper limit {high}")
            array[suffixes.index(suffix)] = low, high
        return array

    def _check_geometry(self) -> None:
        """For subclasses with axes."""

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the position coordinates."""
        return tuple(f"{self.name}_{s}" if s else self.name for s in self.position_suffixes)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates."""
        return tuple(f"{self.name}_{s}" if s else self.name for s in self.velocity_suffixes)

    def axis_frames(self) -> tuple[np.ndarray, ...]:
        """Rotations, in the joint frame, that bring z to the axis of each kernel joint."""
        return (np.eye(3),)


@dataclass(frozen=True, eq=False)
class _AxisJoint(Joint):
    """A joint with an axis, given in the joint frame (z unless told)."""

    axis: ArrayLike = field(default=(0.0, 0.0, 1.0), kw_only=True)

    def _check_geometry(self) -> None:
        _set(self, axis=_unit(self.axis, f"the axis of joint {self.name!r}"))

    def axis_frames(self) -> tuple[np.ndarray, ...]:
        return (rotation_to(np.asarray(self.axis)),)


@dataclass(frozen=True, eq=False)
class Revolute(_AxisJoint):
    """Rotation about `axis`; coordinate: angle, rad."""

    kinds = (layout.REVOLUTE,)
    position_suffixes = velocity_suffixes = ("",)
    position_units, velocity_units = ("rad",), ("rad/s",)


@dataclass(frozen=True, eq=False)
class Prismatic(_AxisJoint):
    """Translation along `axis`; coordinate: travel, m."""

    kinds = (layout.PRISMATIC,)
    position_suffixes = velocity_suffixes = ("",)
    position_units, velocity_units = ("m",), ("m/s",)


@dataclass(frozen=True, eq=False)
class Helical(_AxisJoint):
    """Screw about `axis`; coordinate: angle, rad; `pitch` is the travel a radian, m/rad."""

    pitch: float = field(default=0.0, kw_only=True)

    kinds = (layout.HELICAL,)
    position_suffixes = velocity_suffixes = ("",)
    position_units, velocity_units = ("rad",), ("rad/s",)

    def _check_geometry(self) -> None:
        super()._check_geometry()
        pitch = _check.number(self.pitch, f"the pitch of joint {self.name!r}")
        if pitch == 0.0:
            raise ModelError(f"joint {self.name!r}: a screw needs a pitch (m/rad); without one, use Revolute")
        _set(self, pitch=pitch)


@dataclass(frozen=True, eq=False)
class Cylindrical(_AxisJoint):
    """Rotation about and translation along `axis`; coordinates: angle (rad), travel (m)."""

    kinds = (layout.CYLINDRICAL,)
    position_suffixes = velocity_suffixes = ("angle", "travel")
    position_units, velocity_units = ("rad", "m"), ("rad/s", "m/s")


@dataclass(frozen=True, eq=False)
class Planar(_AxisJoint):
    """Motion in the plane across `axis`; positions (x, y, angle), velocities (vx, vy, omega) in the child's axes."""

    kinds = (layout.PLANAR,)
    position_suffixes = ("x", "y", "angle")
    velocity_suffixes = ("vx", "vy", "omega")
    position_units, velocity_units = ("m", "m", "rad"), ("m/s", "m/s", "rad/s")


@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """Two crossing axes: `axis`, fixed on the parent, then `second_axis`, fixed on the child."""

    axis: ArrayLike = field(default=(1.0, 0.0, 0.0), kw_only=True)
    second_axis: ArrayLike = field(default=(0.0, 1.0, 0.0), kw_only=True)

    kinds = (layout.REVOLUTE, layout.REVOLUTE)
    position_suffixes = velocity_suffixes = ("1", "2")
    position_units, velocity_units = ("rad", "rad"), ("rad/s", "rad/s")

    def _check_geometry(self) -> None:
        first = _unit(self.axis, f"the axis of joint {self.name!r}")
        second = _unit(self.second_axis, f"the second axis of joint {self.name!r}")
        if abs(first @ second) > 1e-9:
            raise ModelError(
                f"joint {self.name!r}: the two axes must be perpendicular at zero, got {first} and {second}"
            )
        _set(self, axis=first, second_axis=_unit(second - (first @ second) * first, "the second axis"))

    def axis_frames(self) -> tuple[np.ndarray, ...]:
        return rotation_to(np.asarray(self.axis)), rotation_to(np.asarray(self.second_axis))


@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Ball joint; positions: quaternion (w, x, y, z); velocities: angular velocity in the child's axes."""

    kinds = (layout.SPHERICAL,)
    position_suffixes = ("qw", "qx", "qy", "qz")
    velocity_suffixes = ("wx", "wy", "wz")
    position_units, velocity_units = ("1",) * 4, ("rad/s",) * 3


@dataclass(frozen=True, eq=False)
class Free(Joint):
    """No constraint; positions: quaternion (w, x, y, z), then x, y, z; velocities in the child's axes."""

    kinds = (layout.FREE,)
    position_suffixes = ("qw", "qx", "qy", "qz", "x", "y", "z")
    velocity_suffixes = ("wx", "wy", "wz", "vx", "vy", "vz")
    position_units, velocity_units = ("1",) * 4 + ("m",) * 3, ("rad/s",) * 3 + ("m/s",) * 3


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """No motion."""

    kinds = (layout.FIXED,)


@dataclass(frozen=True, eq=False)
class Loop(_Part):
    """A loop closure that is not a cut joint: something on body `b` is held relative to body `a`."""

    name: str
    a: str
    b: str

    def __post_init__(self) -> None:
        _check.name(self.name, "loop")
        for key in ("a", "b"):
            _body_name(getattr(self, key), f"{key} of loop {self.name!r}")
        if self.a == self.b:
            raise ModelError(f"loop {self.name!r} connects body {self.a!r} with itself")
        for key in ("point_a", "point_b"):
            if hasattr(self, key):
                _set(self, **{key: _check.vector(getattr(self, key), 3, f"{key} of loop {self.name!r}")})
        for key in ("axis", "normal"):
            if hasattr(self, key):
                _set(self, **{key: _unit(getattr(self, key), f"the {key} of loop {self.name!r}")})


@dataclass(frozen=True, eq=False)
class Point(Loop):
    """p_b - p_a = 0: a point of b coincides with a point of a (3 rows, in a's axes, metres)."""

    point_a: ArrayLike = (0.0, 0.0, 0.0)
    point_b: ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class PointOnLine(Loop):
    """A point of b stays on the line through `point_a` along `axis`, both fixed on a (2 rows, metres)."""

    point_a: ArrayLike = (0.0, 0.0, 0.0)
    point_b: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class PointOnPlane(Loop):
    """A point of b stays in the plane through `point_a` across `normal`, both fixed on a (1 row, metres)."""

    point_a: ArrayLike = (0.0, 0.0, 0.0)
    point_b: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Distance(Loop):
    """(|p_b - p_a|^2 - length^2) / (2 length) = 0: a massless rod with ball ends (1 row, metres)."""

    point_a: ArrayLike = (0.0, 0.0, 0.0)
    point_b: ArrayLike = (0.0, 0.0, 0.0)
    length: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, length=_check.positive(self.length, f"the length of loop {self.name!r}"))


@dataclass(frozen=True, eq=False)
class Weld(Loop):
    """Frame `frame_b` of b coincides with `frame_a` of a (6 rows: 3 in metres, 3 in radians)."""

    frame_a: Frame = field(default_factory=Frame)
    frame_b: Frame = field(default_factory=Frame)

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("frame_a", "frame_b"):
            _check.instance(getattr(self, key), Frame, f"{key} of loop {self.name!r}")


@dataclass(frozen=True, eq=False)
class Coupling(_Part):
    """sum of coefficient * coordinate = offset: gears, belts, differentials (1 row).

    Parameters
    ----------
    coefficients : mapping of coordinate name to float
        Coordinates of revolute, prismatic, helical, cylindrical or universal joints.
    """

    name: str
    coefficients: Mapping[str, float]
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check.name(self.name, "loop")
        what = f"coupling {self.name!r}"
        given = _check.mapping(self.coefficients, f"coefficients of {what}", "coordinates to numbers")
        values = {str(k): _check.number(c, f"coefficient {k!r} of {what}") for k, c in given.items()}
        if not any(values.values()):
            raise ModelError(f"{what} has no coefficient that is not zero")
        _set(self, coefficients=values, offset=_check.number(self.offset, f"the offset of {what}"))


@dataclass(frozen=True, eq=False)
class JointSpring(_Part):
    """Spring and damper on one coordinate: force = -stiffness * (q - rest) - damping * v."""

    name: str
    joint: str
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check.name(self.name, "spring")
        _body_name(self.joint, f"joint of spring {self.name!r}")
        _set_spring(self)


@dataclass(frozen=True, eq=False)
class PointSpring(_Part):
    """Spring and damper between two points: tension = stiffness * (length - rest) + damping * rate."""

    name: str
    a: str
    b: str
    point_a: ArrayLike = (0.0, 0.0, 0.0)
    point_b: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check.name(self.name, "spring")
        for key in ("a", "b"):
            _body_name(getattr(self, key), f"{key} of spring {self.name!r}")
        if self.a == self.b:
            raise ModelError(f"spring {self.name!r} connects body {self.a!r} with itself")
        _set_spring(self)
        for key in ("point_a", "point_b"):
            _set(self, **{key: _check.vector(getattr(self, key), 3, f"{key} of spring {self.name!r}")})


@dataclass(frozen=True, eq=False)
class Actuator(_Part):
    """A motor or cylinder on one joint coordinate, or a torque between two bodies.

    Parameters
    ----------
    joint : str
        Coordinate it acts on, of the tree or of a cut revolute or prismatic joint.
    name : str, optional
        The coordinate's name unless told.
    effort : float
        Largest force or torque, N or N m.
    gear : float
        Joint force a unit of effort.
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
    axis: ArrayLike = field(default=(0.0, 0.0, 1.0), kw_only=True)

    def __post_init__(self) -> None:
        _check.name(self.joint, "joint to drive")
        _set(self, name=_check.name(self.joint if self.name == "" else self.name, "actuator"))
        gear = _check.number(self.gear, f"the gear of actuator {self.name!r}")
        if gear == 0.0:
            raise ModelError(f"the gear of actuator {self.name!r} must not be zero")
        effort = _check.positive(self.effort, f"the effort limit of actuator {self.name!r}", infinite=True)
        if self.bodies is not None:
            bodies = _check.sequence(self.bodies, f"bodies of actuator {self.name!r}", "two bodies")
            for body in bodies:
                _body_name(body, f"bodies of actuator {self.name!r}")
            if len(bodies) != 2 or bodies[0] == bodies[1]:
                raise ModelError(f"actuator {self.name!r} needs two different bodies, got {self.bodies}")
            _set(self, bodies=bodies)
        _set(self, gear=gear, effort=effort, axis=_unit(self.axis, f"the axis of actuator {self.name!r}"))

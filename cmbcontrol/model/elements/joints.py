"""Joints between two bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ..._frozen import Held, HeldArray, frozen_family, held, set_fields
from ...errors import ModelError
from ...kernels import layout
from .frames import Frame, rotation_to
from .parameters import FramePlace, Number, PartParameters
from .part import ROUNDING, LoopPart, check_body_name, unit_vector
from .rows import Row, align, offsets, weld

__all__ = [
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]

Array = NDArray[np.float64]
Limits = tuple[float, float]

SAME = "its coordinates are the same"
INVERSE = "its coordinates are those of the inverse motion"


class Step(NamedTuple):
    """Simple joint, of which others are made in series: it turns about or slides along an axis, is a ball, or free.

    Attributes
    ----------
    kind : str
        ``"turn"``, ``"slide"``, ``"ball"`` or ``"free"``.
    suffix : str
        Of its coordinate.
    axis : ndarray, shape (3,), or None
        In the frame of the joint.
    """

    kind: str
    suffix: str = ""
    axis: Array | None = None


@frozen_family
class Joint(LoopPart):
    """Joint between two bodies; in the list of loops it is a cut joint.

    Parameters
    ----------
    name : str
        Also the name of its coordinate, if it has one; else the coordinates are ``name_suffix``.
    parent, child : str
        Bodies; ``"ground"`` is the world.
    frame, child_frame : Frame
        The joint's frame on the parent and on the child; they coincide at zero.
    damping : float or sequence
        For joints of the tree: viscous friction, N m s/rad or N s/m, one for all velocity coordinates or one each.
    armature : float or sequence
        For joints of the tree: inertia of the rotors that turn with it, through a gear of ratio n as n^2 J; kg m2 or
        kg, as `damping`. Inertia of a rotor about other axes is part of its body's.
    limits : (float, float) or mapping of suffix to (float, float)
        For joints of the tree: range of the position coordinates, rad or m. Loops are assembled inside it. In a run,
        limits are end stops, or the run reports where it leaves them: see `simulate`.
    restitution : float
        Restitution of the end stops, from 0 (nothing bounces) to 1.
    """

    name: str
    parent: str
    child: str
    frame: Frame = field(default_factory=Frame, kw_only=True)
    child_frame: Frame = field(default_factory=Frame, kw_only=True)
    damping: HeldArray = field(default=held(0.0), kw_only=True)
    armature: HeldArray = field(default=held(0.0), kw_only=True)
    limits: Held[Limits | Mapping[str, Limits] | Array | None, Array] = field(default=held(None), kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)

    kinds: ClassVar[tuple[int, ...]] = ()  # kernel joints, one link each
    position_suffixes: ClassVar[tuple[str, ...]] = ()
    velocity_suffixes: ClassVar[tuple[str, ...]] = ()
    position_units: ClassVar[tuple[str, ...]] = ()
    velocity_units: ClassVar[tuple[str, ...]] = ()
    parameters: ClassVar[tuple[PartParameters, ...]] = (
        FramePlace("frame", 0, "frame"),
        FramePlace("child_frame", 1, "child"),
    )
    rates: ClassVar[Mapping[str, str]] = {}  # velocities that are rates of coordinates with another name, by these
    floats: ClassVar[bool] = False  # whether it leaves all motion free
    pitch = 0.0  # travel per radian, m/rad
    reversal: ClassVar[str] = SAME  # what becomes of its coordinates where it is turned round

    def __post_init__(self) -> None:
        _check.name(self.name, "joint")
        what = f"joint {self.name!r}"
        if type(self) is Joint:
            raise ModelError(f"{what}: use one of the joint types, such as Revolute or Prismatic")
        for key in ("frame", "child_frame"):
            _check.instance(getattr(self, key), Frame, f"{key} of {what}")
        for key in ("parent", "child"):
            check_body_name(getattr(self, key), f"{key} of {what}")
        if self.parent == self.child:
            raise ModelError(f"{what} connects body {self.parent!r} with itself")
        numbers = {key: self._per_velocity(key) for key in ("damping", "armature")}
        if not self.plain_names and numbers["armature"].any():
            raise ModelError(
                f"{what}: armature is that of a rotor on one axis, and a {type(self).__name__} joint has none; leave "
                "it out, and give the rotors bodies of their own"
            )
        restitution = _check.positive(self.restitution, f"restitution of {what}", zero=True)
        if restitution > 1.0:
            raise ModelError(f"{what}: restitution must be from 0 to 1, got {restitution}")
        set_fields(self, **numbers, limits=self._limit_array(), restitution=restitution)
        self._check_geometry()

    def _per_velocity(self, key: str) -> np.ndarray:
        """Array with a number, not negative, for each velocity coordinate."""
        what, nv, given = f"joint {self.name!r}", len(self.velocity_suffixes), getattr(self, key)
        expected = f"one number, or {nv} numbers"
        found = _check.numbers(given, f"{key} of {what}", expected)
        if found.ndim and found.shape != (nv,):
            raise ModelError(f"{what}: {key} must be {expected}, got {given!r}")
        if not np.isfinite(found).all() or found.min(initial=0.0) < 0.0:
            raise ModelError(f"{what}: {key} must be finite and >= 0, got {given}")
        return np.broadcast_to(found, (nv,)).copy()

    def _limit_array(self) -> np.ndarray:
        """Limits as an array (nq, 2), infinite where none are given."""
        what, suffixes = f"joint {self.name!r}", self.position_suffixes
        array = np.tile([-np.inf, np.inf], (len(suffixes), 1))
        limits: Any = self.limits  # as they are given
        if limits is None:
            return array
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
        """Check and normalise the axes, in subclasses that have some."""

    def written(self, field: str) -> Any:
        """Value of a field as files have it: damping and armature as one number if they are, limits by suffix."""
        value = super().written(field)
        if field in ("damping", "armature"):
            return 0.0 if not value.any() else value[0] if value.size == 1 else value
        if field == "limits":
            limits = zip(self.position_suffixes, value, strict=True)
            pairs = {suffix: pair.tolist() for suffix, pair in limits if np.isfinite(pair).any()}
            return pairs.get("", pairs or None)
        return value

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the position coordinates."""
        return tuple(f"{self.name}_{s}" if s else self.name for s in self.position_suffixes)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates."""
        return tuple(f"{self.name}_{s}" if s else self.name for s in self.velocity_suffixes)

    @property
    def plain_names(self) -> tuple[str, ...]:
        """Names of the coordinates, where their rates are the velocities; empty where these are others."""
        return self.position_names if self.position_suffixes == self.velocity_suffixes else ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Simple joints that are the same in series; none where it does not move."""
        return ()

    @property
    def turning_names(self) -> tuple[str, ...]:
        """Names of angles that say the same a turn further."""
        units = zip(self.plain_names, self.position_units, strict=False)
        return tuple(name for name, unit in units if unit == "rad" and not self.pitch)

    @property
    def axes(self) -> Array:
        return self.frame.R @ self.axis_frames()[0]

    @property
    def aligned(self) -> tuple[Array, Array] | None:
        turn = self.axis_frames()[0]
        return self.frame.R @ turn, self.child_frame.R @ turn

    @property
    def has_quaternion(self) -> bool:
        """Whether its first four coordinates are a quaternion."""
        return self.position_suffixes[:1] == ("qw",)

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the bodies that it joins."""
        return self.parent, self.child

    @property
    def frames(self) -> tuple[Frame, Frame]:
        """Frames on these bodies that coincide at zero."""
        return self.frame, self.child_frame

    def axis_frames(self) -> tuple[np.ndarray, ...]:
        """Rotations, in the joint frame, that turn z to the axis of each kernel joint."""
        return (np.eye(3),)

    def rows(self) -> list[Row]:
        """Rows of the cut joint: the complement of its motion, in the axes of its frame on the parent.

        Raises
        ------
        ModelError
            Where nothing is left to hold.
        """
        raise ModelError(f"constraint {self.name!r}: a cut {type(self).__name__} joint holds nothing; leave it out")

    def captured(self, seen: Frame) -> Self:
        """Joint whose frame on the parent is where that on the child is, with the child at `seen`."""
        return replace(self, frame=seen @ self.child_frame)

    def reversed(self) -> Self:
        """Joint turned round: the child is the parent.

        A joint places its child's frame at X(q) in its parent's. Turned round, it is X(q)^-1: for a joint about or
        along axes that X leaves in place, X(q)^-1 is the same motion about -axis, with the same coordinates. A
        universal joint R1(a) R2(b) becomes R2(-b) R1(-a), whose coordinates change places. Joints with quaternions, and
        planar ones, have the coordinates of the inverse motion.

        Raises
        ------
        ModelError
            For limits, or damping by axis, of a joint whose coordinates are others then.

        Examples
        --------
        >>> from cmbcontrol import Revolute
        >>> turned = Revolute("pin", "a", "b").reversed()
        >>> turned.parent, turned.child, turned.axis.tolist()
        ('b', 'a', [-0.0, -0.0, -1.0])
        """
        if self.reversal == INVERSE and (np.isfinite(self.limits).any() or np.ptp(self.damping)):
            raise ModelError(
                f"joint {self.name!r} leads towards the ground in the tree, and its limits and damping by axis are "
                f"those of the other direction; write it from {self.child!r} to {self.parent!r}, or cut another joint"
            )
        return replace(self, parent=self.child, child=self.parent, frame=self.child_frame, child_frame=self.frame)


@frozen_family
class _AxisJoint(Joint):
    """Joint with an axis, given in the joint frame; defaults to z."""

    axis: HeldArray = field(default=held((0.0, 0.0, 1.0)), kw_only=True)

    def _check_geometry(self) -> None:
        set_fields(self, axis=unit_vector(self.axis, f"the axis of joint {self.name!r}"))

    def axis_frames(self) -> tuple[np.ndarray, ...]:
        return (rotation_to(np.asarray(self.axis)),)

    def reversed(self) -> Self:
        turned = super().reversed()
        return replace(turned, axis=-np.asarray(self.axis)) if self.reversal == SAME else turned

    def _sides(self) -> tuple[Array, Array]:
        """Axes of the joint on parent and child, with z along its axis."""
        turn = self.axis_frames()[0]
        return self.frame.R @ turn, self.child_frame.R @ turn

    def _offsets(self, labels: str) -> list[Row]:
        return offsets(*self.ends, self.frame.p, self._sides()[0], self.child_frame.p, labels)

    def _tilts(self) -> list[Row]:
        """Rows that keep the axes parallel."""
        (Ra, Rb), ends = self._sides(), self.ends
        return [align("tilt_x", *ends, Ra[:, 1], Rb[:, 2]), align("tilt_y", *ends, Ra[:, 0], Rb[:, 2])]


@frozen_family
class Revolute(_AxisJoint):
    """Joint that turns about `axis`; coordinate: angle, rad.

    `frame` on the parent and `child_frame` on the child coincide at zero; `axis` is given in them. Also: `damping`
    (N m s/rad), `armature` (inertia of rotors, kg m2), `limits` (range, rad), `restitution` of its end stops (0 to
    1).

    Examples
    --------
    >>> elbow = Revolute("elbow", "upper", "fore", axis=(0, 1, 0), frame=Frame((0.3, 0, 0)))
    >>> elbow.frame.p, elbow.child_frame.p
    (array([0.3, 0. , 0. ]), array([0., 0., 0.]))
    """

    kinds = (layout.REVOLUTE,)
    position_suffixes = velocity_suffixes = ("",)
    position_units, velocity_units = ("rad",), ("rad/s",)
    symbol = "pin"

    @property
    def steps(self) -> tuple[Step, ...]:
        return (Step("turn", "", self.axis),)

    def rows(self) -> list[Row]:
        return [*self._offsets("xyz"), *self._tilts()]

    def turning(self) -> list[Row]:
        """Rows for the cosine and sine of the angle."""
        Ra, Rb = self._sides()
        return [align("", *self.ends, Ra[:, i], Rb[:, 0]) for i in range(2)]

    def effort_axes(self) -> tuple[np.ndarray, np.ndarray]:
        return self.axis, np.zeros(3)


@frozen_family
class Prismatic(_AxisJoint):
    """Joint that slides along `axis`; coordinate: travel, m.

    `frame` on the parent and `child_frame` on the child coincide at zero; `axis` is given in them. Also: `damping`
    (N s/m), `armature` (inertia of rotors, kg), `limits` (range, m), `restitution` of its end stops (0 to 1).
    """

    kinds = (layout.PRISMATIC,)
    position_suffixes = velocity_suffixes = ("",)
    position_units, velocity_units = ("m",), ("m/s",)
    symbol, slides = "slider", True

    @property
    def steps(self) -> tuple[Step, ...]:
        return (Step("slide", "", self.axis),)

    def rows(self) -> list[Row]:
        Ra, Rb = self._sides()
        return [*self._offsets("xy"), *self._tilts(), align("twist", *self.ends, Ra[:, 0], Rb[:, 1])]

    def effort_axes(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(3), self.axis


@frozen_family
class Helical(_AxisJoint):
    """Screw joint about `axis`; coordinate: angle, rad; `pitch` is the travel per radian, m/rad.

    `frame` on the parent and `child_frame` on the child coincide at zero; `axis` is given in them. Also: `damping`
    (N m s/rad), `armature` (inertia of rotors, kg m2), `limits` (range, rad), `restitution` of its end stops (0 to
    1).
    """

    pitch: float = field(default=0.0, kw_only=True)

    kinds = (layout.HELICAL,)
    position_suffixes = velocity_suffixes = ("",)
    position_units, velocity_units = ("rad",), ("rad/s",)
    parameters = (*Joint.parameters, Number("pitch", "m/rad"))
    symbol, slides = "nut", True

    @property
    def steps(self) -> tuple[Step, ...]:
        return Step("turn", "", self.axis), Step("slide", "travel", self.axis)

    def _check_geometry(self) -> None:
        super()._check_geometry()
        pitch = _check.number(self.pitch, f"the pitch of joint {self.name!r}")
        if pitch == 0.0:
            raise ModelError(f"joint {self.name!r}: a screw needs a pitch (m/rad); without one, use Revolute")
        set_fields(self, pitch=pitch)

    def rows(self) -> list[Row]:
        (Ra, Rb), (fa, fb) = self._sides(), self.frames
        screw = Row("screw", "m", layout.ROW_SCREW, *self.ends, Ra[:, 2], Ra[:, 0], fa.p, Rb[:, 0], fb.p, self.pitch)
        return [*self._offsets("xy"), *self._tilts(), screw]


@frozen_family
class Cylindrical(_AxisJoint):
    """Joint that turns about and slides along `axis`; coordinates: angle (rad), travel (m).

    `frame` on the parent and `child_frame` on the child coincide at zero; `axis` is given in them. Also: `damping`
    (N m s/rad and N s/m), `armature` (inertia of rotors, kg m2 and kg), `limits` (ranges by suffix, rad and m),
    `restitution` of its end stops (0 to 1).
    """

    kinds = (layout.CYLINDRICAL,)
    position_suffixes = velocity_suffixes = ("angle", "travel")
    position_units, velocity_units = ("rad", "m"), ("rad/s", "m/s")
    symbol, slides = "sleeve", True

    @property
    def steps(self) -> tuple[Step, ...]:
        return Step("turn", "angle", self.axis), Step("slide", "travel", self.axis)

    def rows(self) -> list[Row]:
        return [*self._offsets("xy"), *self._tilts()]


@frozen_family
class Planar(_AxisJoint):
    """Joint in the plane across `axis`; positions (x, y, angle), velocities (vx, vy, omega) in the child's axes.

    `frame` on the parent and `child_frame` on the child coincide at zero; `axis` is given in them. Also: `damping`
    (N s/m and N m s/rad), `limits` (ranges by suffix, m and rad), `restitution` of its end stops (0 to 1).
    """

    kinds = (layout.PLANAR,)
    position_suffixes = ("x", "y", "angle")
    velocity_suffixes = ("vx", "vy", "omega")
    position_units, velocity_units = ("m", "m", "rad"), ("m/s", "m/s", "rad/s")
    rates: ClassVar[Mapping[str, str]] = {"angle": "omega"}
    fixed_at = ()
    reversal = INVERSE

    @property
    def steps(self) -> tuple[Step, ...]:
        x, y, z = self.axis_frames()[0].T
        return Step("slide", "x", x), Step("slide", "y", y), Step("turn", "angle", z)

    def rows(self) -> list[Row]:
        return [*self._offsets("z"), *self._tilts()]


@frozen_family
class Universal(Joint):
    """Joint with two crossing axes: `axis`, fixed on the parent, then `second_axis`, fixed on the child.

    `axis` is given in `frame` on the parent, `second_axis` in `child_frame` on the child; the frames coincide at
    zero. Also: `damping` (N m s/rad), `armature` (inertia of rotors, kg m2), `limits` (ranges by suffix, rad),
    `restitution` of its end stops (0 to 1).
    """

    axis: HeldArray = field(default=held((1.0, 0.0, 0.0)), kw_only=True)
    second_axis: HeldArray = field(default=held((0.0, 1.0, 0.0)), kw_only=True)

    kinds = (layout.REVOLUTE, layout.REVOLUTE)
    position_suffixes = velocity_suffixes = ("1", "2")
    position_units, velocity_units = ("rad", "rad"), ("rad/s", "rad/s")
    reversal = "its two coordinates have changed places"
    symbol = "cross"
    aligned = None  # its row vanishes at two angles of its axes, both of which are right angles

    @property
    def steps(self) -> tuple[Step, ...]:
        return Step("turn", "1", self.axis), Step("turn", "2", self.second_axis)

    @property
    def axes(self) -> Array:
        return self.frame.R

    def _check_geometry(self) -> None:
        first = unit_vector(self.axis, f"the axis of joint {self.name!r}")
        second = unit_vector(self.second_axis, f"the second axis of joint {self.name!r}")
        off = float(abs(first @ second))
        if off > 1e-3:  # numbers of three digits are meant to be perpendicular, and are taken so; see `axis_frames`
            raise ModelError(
                f"joint {self.name!r}: the two axes must be perpendicular at zero, got {first} and {second}"
            )
        if off > ROUNDING:
            second = unit_vector(second - (first @ second) * first, "the second axis")
        set_fields(self, axis=first, second_axis=second)

    def axis_frames(self) -> tuple[np.ndarray, ...]:
        return rotation_to(np.asarray(self.axis)), rotation_to(np.asarray(self.second_axis))

    def rows(self) -> list[Row]:
        fa, fb = self.frames
        cross = align("cross", *self.ends, fa.R @ self.axis, fb.R @ self.second_axis)
        return [*offsets(*self.ends, fa.p, fa.R, fb.p), cross]

    def reversed(self) -> Self:
        numbers: dict[str, Any] = {key: getattr(self, key)[::-1] for key in ("damping", "armature", "limits")}
        axes: dict[str, Any] = {"axis": -np.asarray(self.second_axis), "second_axis": -np.asarray(self.axis)}
        return replace(super().reversed(), **axes, **numbers)


@frozen_family
class Spherical(Joint):
    """Ball joint; positions: quaternion (w, x, y, z); velocities: angular velocity in the child's axes.

    Its centre is the origin of `frame` on the parent and of `child_frame` on the child, which coincide at zero.
    Also: `damping` (N m s/rad), `limits` (ranges by suffix), `restitution` of its end stops (0 to 1).
    """

    kinds = (layout.SPHERICAL,)
    position_suffixes = ("qw", "qx", "qy", "qz")
    velocity_suffixes = ("wx", "wy", "wz")
    position_units, velocity_units = ("1",) * 4, ("rad/s",) * 3
    symbol = "ball"
    reversal = INVERSE

    @property
    def steps(self) -> tuple[Step, ...]:
        return (Step("ball"),)

    def rows(self) -> list[Row]:
        fa, fb = self.frames
        return offsets(*self.ends, fa.p, fa.R, fb.p)


@frozen_family
class Free(Joint):
    """Joint without constraint; positions: quaternion (w, x, y, z), then x, y, z; velocities in the child's axes.

    They are those of `child_frame` on the child, seen from `frame` on the parent. Also: `damping` (N m s/rad and N
    s/m), `limits` (ranges by suffix), `restitution` of its end stops (0 to 1).
    """

    kinds = (layout.FREE,)
    position_suffixes = ("qw", "qx", "qy", "qz", "x", "y", "z")
    velocity_suffixes = ("wx", "wy", "wz", "vx", "vy", "vz")
    position_units, velocity_units = ("1",) * 4 + ("m",) * 3, ("rad/s",) * 3 + ("m/s",) * 3
    fixed_at = ()
    reversal = INVERSE
    floats = True

    @property
    def steps(self) -> tuple[Step, ...]:
        return (Step("free"),)


@frozen_family
class Fixed(Joint):
    """Joint without motion.

    `frame` on the parent and `child_frame` on the child coincide; it has no coordinates, so that `damping`,
    `armature`, `limits` and `restitution` say nothing of it.
    """

    kinds = (layout.FIXED,)
    symbol = "weld"

    def rows(self) -> list[Row]:
        return weld(*self.ends, *self.frames)

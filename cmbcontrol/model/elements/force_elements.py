"""Force elements, whose force is any function of a displacement and its rate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ..._frozen import Held, HeldArray, frozen, held, set_fields
from ...characteristics import Characteristic, FormulaForce, require_stored
from ...errors import InputTypeError, ModelError
from .constraints import Coupling, Distance
from .frames import Frame
from .joints import Joint
from .pairs import BetweenFrames, BetweenPoints
from .parameters import FormulaNumbers
from .part import LoopPart, MachinePart, check_body_name
from .rows import Row, align, coordinate_row, distance, offsets

__all__ = ["Bushing", "ForceElement", "JointForce", "OneForce", "PointForce"]

Array = NDArray[np.float64]

# Of the distance whose square measures a length d, (d^2 - UNIT^2) / (2 UNIT): below all lengths of machines, so that
# nothing cancels where d is found again.
UNIT = 1e-6  # m


class ForceElement(MachinePart):
    """Base of force elements, which resist with forces F(z, dz/dt) against the growth of some measures z.

    Ready-made ones are `JointForce`, `PointForce` and `Bushing`.

    Attributes
    ----------
    rows_of_load : int
        Rows of a constraint in proportion to whose load it is.
    side : int
        Side to which this load pushes; 0 where it counts without its sign.
    """

    prefix = "force_"
    rows_of_load: ClassVar[int] = 0
    side = 0

    @property
    def summary(self) -> str:
        """Text of its kind and place, for tables."""
        where = " <-> ".join(self.ends or self.coordinates)
        law = getattr(self, "characteristic", None)
        return type(law if law is not None else self).__name__.lstrip("_") + f" on {where}"

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of measures."""

    @abstractmethod
    def measures(self, on: Any = None) -> list[Row]:
        """Rows that it measures; on the part `on` that carries its load, if it is in proportion to one."""

    @property
    def loaded_by(self) -> str:
        """Name of the constraint in proportion to whose load it is; empty where it is a force of its own."""
        return ""

    def find_load(self, joints: Sequence[Joint], loops: Sequence[LoopPart]) -> tuple[Any, str]:
        """Part of a machine that carries its load, and the first constraint with the rows of it; None and "" for none.

        Raises
        ------
        ModelError
            Where the machine has no such part.
        """
        return None, ""

    @property
    def number_names(self) -> tuple[str, ...]:
        """Names of the numbers in its formula."""
        return ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """Values of the numbers in its formula."""
        return ()

    @property
    @abstractmethod
    def sample(self) -> Array:
        """Measures and rates (2 count,) at which its formula has a value."""

    @abstractmethod
    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        """Forces against the measures, one each."""

    @abstractmethod
    def energy(self, numbers: Any, z: Any) -> Any:
        """Stored energy, J."""

    @property
    def dry_rate(self) -> float:
        """Rate within which its dry friction is smooth; 0 where it has none."""
        return 0.0

    def without_dry_friction(self) -> ForceElement | None:
        """Element without its dry friction; None where nothing else is left."""
        return self

    def holding(self, name: str, length: float) -> LoopPart | None:
        """Constraint that holds its measure still; None where dry friction has none that sticks exactly."""
        return None


class OneForce(ForceElement):
    """Base of force elements with one characteristic."""

    characteristic: Held[Characteristic | Callable, Characteristic]

    count = 1
    sides: ClassVar[tuple[float, ...]] = (1.0, -1.0)  # to which its displacement goes

    def take_characteristic(self) -> None:
        """Check the characteristic; a plain function becomes one."""
        what = f"the characteristic of force element {self.name!r}"
        given = self.characteristic
        if not isinstance(given, Characteristic):
            if not callable(given) or isinstance(given, type):
                raise InputTypeError(
                    f"{what} must be a Characteristic, such as SpringTable(x, y) or Friction(2.0), or a function "
                    f"(x, rate) -> force, got {_check.shown(given)}"
                )
            set_fields(self, characteristic=_Function(given))
        law = self.characteristic
        if isinstance(law, FormulaForce) or not type(law).__module__.startswith(__package__.partition(".")[0] + "."):
            require_stored(law, what, self.sides)

    @property
    def dry_rate(self) -> float:
        return self.characteristic.dry_rate

    def without_dry_friction(self) -> ForceElement | None:
        return replace(self, characteristic=self.characteristic.without_dry_friction()) if self.dry_rate else self

    @property
    def number_names(self) -> tuple[str, ...]:
        return self.characteristic.number_names

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.characteristic.numbers


@frozen
class _Function(Characteristic):
    """Characteristic by a plain function (x, rate) -> force."""

    function: Callable

    def force(self, x: Any, rate: Any) -> Any:
        return self.function(x, rate)


@frozen
class JointForce(OneForce):
    """Force element on a coordinate: a nonlinear spring or damper, an end cushion, friction.

    Parameters
    ----------
    name : str
    joint : str
        Coordinate of a joint of the tree.
    characteristic : Characteristic or callable
        Force against the coordinate, N or N m, as ``force(q, v)``; see `Characteristic`.

    Examples
    --------
    >>> from cmbcontrol.characteristics import Friction
    >>> JointForce("bearing", "elbow", Friction(0.8, static=1.2)).joint
    'elbow'
    """

    name: str
    joint: str
    characteristic: Held[Characteristic | Callable, Characteristic]

    parameters = (FormulaNumbers("characteristic"),)

    def __post_init__(self) -> None:
        _check.name(self.name, "force element")
        check_body_name(self.joint, f"joint of force element {self.name!r}")
        self.take_characteristic()

    @property
    def coordinates(self) -> tuple[str]:
        """Name of the coordinate on which it acts."""
        return (self.joint,)

    def holding(self, name: str, length: float) -> Coupling:
        """Constraint that holds its measure still."""
        return Coupling(name, {self.joint: 1.0})

    def measures(self, on: Any = None) -> list[Row]:
        return [coordinate_row({self.joint: 1.0})]

    @property
    def sample(self) -> Array:
        return np.array([0.3, 0.2])

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        return [self.characteristic.with_numbers(numbers).force(z[0], rate[0])]

    def energy(self, numbers: Any, z: Any) -> Any:
        return self.characteristic.with_numbers(numbers).energy(z[0])


@frozen
class PointForce(BetweenPoints, OneForce):
    """Force element along the line between two points: a rope, a gas spring, a nonlinear strut.

    Parameters
    ----------
    name : str
    a, b : str
        Bodies.
    characteristic : Characteristic or callable
        Force against the distance d of the points, m, as ``force(d, rate)``: positive ones pull them together, N.
    point_a, point_b : array_like, shape (3,)
        Points on the bodies, m.

    Examples
    --------
    >>> from cmbcontrol.characteristics import Rope
    >>> PointForce("hoist", "ground", "hook", Rope(2.0, stiffness=1e6), point_a=(0.0, 0.0, 3.0)).b
    'hook'
    """

    name: str
    a: str
    b: str
    characteristic: Held[Characteristic | Callable, Characteristic]
    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))

    sides = (1.0,)
    parameters = (FormulaNumbers("characteristic"), *BetweenPoints.parameters)

    def __post_init__(self) -> None:
        _check.name(self.name, "force element")
        self.check_ends(f"force element {self.name!r}")
        self.take_characteristic()

    @property
    def symbol(self) -> str:  # type: ignore[override]
        """How pictures show it: a rope, a damper or a spring."""
        return self.characteristic.symbol

    def holding(self, name: str, length: float) -> Distance:
        """Constraint that holds its measure still: a rod between its points, of any length."""
        return Distance(name, *self.ends, self.point_a, self.point_b, length)

    def measures(self, on: Any = None) -> list[Row]:
        return [distance("", *self.ends, self.point_a, self.point_b, UNIT)]

    @property
    def sample(self) -> Array:
        return np.array([0.5 * (1.0 - UNIT**2) / UNIT, 0.2 / UNIT])

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        length = self._length(z[0])
        pull = self.characteristic.with_numbers(numbers).force(length, rate[0] * UNIT / length)
        return [pull * UNIT / length]

    def energy(self, numbers: Any, z: Any) -> Any:
        return self.characteristic.with_numbers(numbers).energy(self._length(z[0]))

    @staticmethod
    def _length(z: Any) -> Any:
        """Distance d from z = (d^2 - UNIT^2) / (2 UNIT)."""
        return np.sqrt(UNIT**2 + 2.0 * UNIT * z)


@frozen
class Bushing(BetweenFrames, ForceElement):
    """Force element of an elastic bearing between two frames: a 6 x 6 stiffness and damping.

    It resists with ``stiffness z + damping dz/dt``, where z is the displacement of frame b's origin in the axes of
    frame a (m), and the turn of b relative to a about these axes, as the sine of the angle along the axis of the turn:
    the vector of (R - R') / 2 (rad for small ones, right to 1 % up to 14 degrees).

    Parameters
    ----------
    name : str
    a, b : str
        Bodies.
    frame_a, frame_b : Frame
        Frames on the bodies; it is at rest where they coincide.
    stiffness, damping : array_like, shape (6,) or (6, 6)
        Along x, y, z (N/m, N s/m), and about them (N m/rad, N m s/rad); symmetric.

    Examples
    --------
    >>> mount = Bushing("mount", "frame", "engine", stiffness=[2e5, 2e5, 8e5, 300.0, 300.0, 100.0])
    >>> mount.stiffness.shape
    (6, 6)
    """

    name: str
    a: str
    b: str
    frame_a: Frame = field(default_factory=Frame)
    frame_b: Frame = field(default_factory=Frame)
    stiffness: HeldArray = field(default=held((0.0,) * 6), kw_only=True)
    damping: HeldArray = field(default=held((0.0,) * 6), kw_only=True)

    count = 9  # three displacements, and six entries of the rotation
    symbol = "bushing"

    def __post_init__(self) -> None:
        _check.name(self.name, "force element")
        self.check_ends(f"force element {self.name!r}")
        for key in ("stiffness", "damping"):
            what = f"{key} of force element {self.name!r}"
            given = _check.numbers(getattr(self, key), what, "6 numbers, or a 6 x 6 matrix")
            if given.shape != (6,):
                given = _check.matrix(given, (6, 6), what)
            matrix = np.diag(_check.vector(given, 6, what)) if given.ndim == 1 else given
            if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
                raise ModelError(f"{what} must be symmetric: one that is not makes energy of nothing")
            set_fields(self, **{key: 0.5 * (matrix + matrix.T)})
        scale = np.sqrt(np.maximum(np.abs(np.diag(self.damping)), 1e-300))
        if np.linalg.eigvalsh(self.damping / np.outer(scale, scale))[0] < -1e-9:
            raise ModelError(f"damping of force element {self.name!r} must take energy: it has a negative eigenvalue")

    def measures(self, on: Any = None) -> list[Row]:
        fa, fb = self.frames
        turns = ((2, 1), (1, 2), (0, 2), (2, 0), (1, 0), (0, 1))  # entries of R' R, those of the vector in pairs
        cosines = [align("", *self.ends, fa.R[:, i], fb.R[:, j]) for i, j in turns]
        return [*offsets(*self.ends, fa.p, fa.R, fb.p), *cosines]

    @property
    def sample(self) -> Array:
        return np.array([0.0] * 3 + [0.1, -0.1] * 3 + [0.1] * 9)

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        K, D, e, e_rate = self.stiffness, self.damping, _six(z), _six(rate)
        wrench = [_dot(K[i], e) + _dot(D[i], e_rate) for i in range(6)]
        return [*wrench[:3], *(s * 0.5 * wrench[3 + i] for i in range(3) for s in (1.0, -1.0))]

    def energy(self, numbers: Any, z: Any) -> Any:
        e = _six(z)
        return 0.5 * sum((e[i] * _dot(self.stiffness[i], e) for i in range(6)), 0.0)


def _six(z: Any) -> list[Any]:
    """Displacement (3), and half the differences of opposite entries of the rotation (3)."""
    return [*z[:3], *(0.5 * (z[3 + 2 * i] - z[4 + 2 * i]) for i in range(3))]


def _dot(row: Any, x: Any) -> Any:
    return sum((float(c) * y for c, y in zip(row, x, strict=True) if c), 0.0)

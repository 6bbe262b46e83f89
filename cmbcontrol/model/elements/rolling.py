"""Rolling without slipping: wheels, balls, omni wheels, and blades that slide along their edge only.

Their rows bind velocities and, but for the distance of a wheel from its plane, no positions (nonholonomic).
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ..._frozen import HeldArray, frozen_family, held, set_fields
from ...errors import ModelError
from .constraints import Constraint
from .frames import Frame, rotation_to
from .parameters import Direction, PartParameters, Place
from .part import unit_vector
from .rows import FormulaRows, RowOfFormula

__all__ = ["KnifeEdge", "RollingBall", "Wheel"]

Array = NDArray[np.float64]

# Where formulas are traced: an axle that is tilted and turned, off its plane.
_SAMPLE = np.concatenate([[0.2, -0.1, 0.3], Frame.turned((0.3, 0.8, -0.2), 1.1).R.ravel()])


def _rows_of(z: Any) -> tuple[Any, Any]:
    """Position, and rotation matrix by rows, from measures z or from their rates."""
    return z[:3], (z[3:6], z[6:9], z[9:12])


@frozen_family
class _Rolling(FormulaRows, Constraint):
    """Base of parts that roll on the plane through `point_a` of body a across `normal`; the centre is `point_b`."""

    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    normal: HeldArray = field(default=held((0.0, 0.0, 1.0)), kw_only=True)
    sample = _SAMPLE
    parameters: ClassVar[tuple[PartParameters, ...]] = (*Constraint.parameters, Direction("normal", 0))
    fixed_at = (1,)
    symbol, guides = "wheel", "plane"

    @property
    def plane(self) -> Frame:
        """Frame on body a whose z axis is the normal."""
        return Frame(self.point_a, rotation_to(np.asarray(self.normal)))

    def captured(self, seen: Frame) -> Self:
        """Part whose plane is where it touches it, with body b at `seen`."""
        plane, axle = self.measured
        rolls = plane.inverse() @ seen @ axle
        height = self.formulas[0].residual(np.concatenate([rolls.p, rolls.R.ravel()]))  # type: ignore[misc]
        return replace(self, point_a=self.point_a + height * self.normal)


@frozen_family
class Wheel(_Rolling):
    """Wheel that rolls on a plane without slipping, upright or tilted (3 rows).

    ``{name}_contact`` keeps its rim on the plane, both ways, metres. ``{name}_forward`` and ``{name}_side`` bind
    velocities only: the point of the wheel that touches the plane does not move, in the direction in which a wheel goes
    that spins about its axle, and to the left of it.

    Parameters
    ----------
    name : str
    a, b : str
        Body of the plane, and of the wheel.
    point_a, point_b : array_like, shape (3,)
        A point of the plane on a; the centre of the wheel on b.
    normal : array_like, shape (3,)
        Normal of the plane, on a; it points to the side of the wheel.
    axis : array_like, shape (3,)
        Axle of the wheel, on b.
    radius : float
        Radius of the wheel, m: of a disc, to its rim; of a tyre, to the middle of the tube.
    tube : float
        Radius of the tyre's cross section, m; zero is a disc with a sharp rim.
    rollers : float, optional
        For an omni wheel: angle of the axes of its rollers from forward to the left, where they touch, rad; 0 where
        it slides sideways freely, pi/4 of a Mecanum wheel. It has one velocity row along them, ``{name}_forward``.

    Raises
    ------
    ModelError, ValueError
        For radii that are impossible.

    Notes
    -----
    With u the normal, w the axle, s = |u x w| and the radius R, the lowest point is at -R (u - (u.w) w) / s - tube u
    from the centre. A wheel that lies flat (s = 0) touches the plane everywhere, and has no such point.

    Examples
    --------
    >>> Wheel("front", "ground", "wheel", axis=(0, 1, 0), radius=0.3).row_labels
    ('contact', 'forward', 'side')
    """

    axis: HeldArray = field(default=held((0.0, 1.0, 0.0)), kw_only=True)
    radius: float = field(default=0.0, kw_only=True)
    tube: float = field(default=0.0, kw_only=True)
    rollers: float | None = field(default=None, kw_only=True)

    parameters = (*_Rolling.parameters, Direction("axis", 1))

    def __post_init__(self) -> None:
        super().__post_init__()
        what = f"of wheel {self.name!r}"
        set_fields(self, radius=_check.positive(self.radius, f"the radius {what}"))
        set_fields(self, tube=_check.positive(self.tube, f"the tube {what}", zero=True))
        if self.rollers is not None:
            angle = _check.number(self.rollers, f"the angle of the rollers {what}")
            if abs(np.cos(angle)) < 1e-3:
                raise ModelError(
                    f"the rollers {what} turn about its own axle: {angle:.6g} rad from the direction in which it "
                    "rolls; it would transmit no torque. Give an angle between -pi/2 and pi/2"
                )
            set_fields(self, rollers=angle)

    @property
    def measured(self) -> tuple[Frame, Frame]:
        return self.plane, Frame(self.point_b, rotation_to(np.asarray(self.axis)))

    @property
    def row_labels(self) -> tuple[str, ...]:
        """Names of the rows, behind the name of the wheel."""
        return tuple(formula.label for formula in self.formulas)

    @property
    def formulas(self) -> tuple[RowOfFormula, ...]:
        contact = RowOfFormula("contact", "m", residual=self._height)
        if self.rollers is not None:
            along, across = float(np.cos(self.rollers)), float(np.sin(self.rollers))
            return contact, RowOfFormula("forward", "m", rate=partial(self._speed, along, across))
        directions = (("forward", 1.0, 0.0), ("side", 0.0, 1.0))
        return contact, *(RowOfFormula(label, "m", rate=partial(self._speed, x, y)) for label, x, y in directions)

    def _height(self, z: Any) -> Any:
        return z[2] - self.radius * np.sqrt(z[5] * z[5] + z[8] * z[8]) - self.tube

    def _speed(self, along: float, across: float, z: Any, rate: Any) -> Any:
        """Velocity of the touching point along a direction of the plane: forward w x u / s, and to the left of it."""
        wx, wy, wz = z[5], z[8], z[11]
        s = np.sqrt(wx * wx + wy * wy)
        x, y = _point_velocity(z, rate, -self.radius / s - self.tube, self.radius * wz / s)
        return (along * (wy * x - wx * y) + across * (wx * x + wy * y)) / s


@frozen_family
class RollingBall(_Rolling):
    """Ball that rolls on a plane without slipping; it may spin about the normal (3 rows).

    ``{name}_contact`` keeps it on the plane, both ways, metres; ``{name}_x`` and ``{name}_y`` bind velocities only.

    Parameters
    ----------
    name, a, b, point_a, point_b, normal
        As for a `Wheel`.
    radius : float
        m.

    Examples
    --------
    >>> RollingBall("ball", "table", "ball", radius=0.05).radius
    0.05
    """

    radius: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, radius=_check.positive(self.radius, f"the radius of ball {self.name!r}"))

    @property
    def measured(self) -> tuple[Frame, Frame]:
        return self.plane, Frame(self.point_b)

    @property
    def formulas(self) -> tuple[RowOfFormula, ...]:
        contact = RowOfFormula("contact", "m", residual=lambda z: z[2] - self.radius)
        return contact, *(RowOfFormula(label, "m", rate=partial(self._speed, k)) for k, label in enumerate("xy"))

    def _speed(self, k: int, z: Any, rate: Any) -> Any:
        return _point_velocity(z, rate, -self.radius, 0.0)[k]


@frozen_family
class KnifeEdge(FormulaRows, Constraint):
    """Constraint of a blade, a skate or a cart's wheel: a point moves along its edge only (1 row, velocities).

    The velocity of `point_b`, relative to body a, has no component across the edge. The blade is not held on a plane; a
    `Planar` joint or a `PointOnPlane` does that.

    Parameters
    ----------
    name : str
    a, b : str
        Body on which it slides, and body with the edge.
    point_b : array_like, shape (3,)
        Point on b, m.
    across : array_like, shape (3,)
        Direction on b in which it cannot move.

    Examples
    --------
    >>> KnifeEdge("skate", "ground", "sleigh", (0.5, 0, 0), across=(0, 1, 0)).across.tolist()
    [0.0, 1.0, 0.0]
    """

    point_b: HeldArray = held((0.0, 0.0, 0.0))
    across: HeldArray = field(default=held((0.0, 1.0, 0.0)), kw_only=True)

    point_a = (0.0, 0.0, 0.0)
    sample = _SAMPLE
    parameters = (Place("point_b", 1), Direction("across", 1))
    fixed_at = (1,)
    symbol = "blade"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, across=unit_vector(self.across, f"the direction across the edge {self.name!r}"))

    def captured(self, seen: Frame) -> Self:
        """Edge itself: it binds velocities only, and is closed everywhere."""
        return self

    @property
    def measured(self) -> tuple[Frame, Frame]:
        return Frame(), Frame(self.point_b, rotation_to(np.asarray(self.across)))

    @property
    def formulas(self) -> tuple[RowOfFormula, ...]:
        return (RowOfFormula("", "m", rate=self._speed),)

    def _speed(self, z: Any, rate: Any) -> Any:
        (_, R), (velocity, _) = _rows_of(z), _rows_of(rate)
        return sum((R[i][2] * velocity[i] for i in range(3)), 0.0)


def _point_velocity(z: Any, rate: Any, along_normal: float, along_axle: Any) -> tuple[Any, Any]:
    """Velocity, x and y, of the point at a u + b w from the centre, with u the normal and w the axle.

    It is dp/dt + dR/dt R' (a u + b w), where R' u is the last row of R, and R' w the last unit vector.
    """
    (_, R), (velocity, turned) = _rows_of(z), _rows_of(rate)
    spin = [sum((turned[i][j] * R[2][j] for j in range(3)), 0.0) for i in range(2)]
    x, y = (velocity[i] + along_normal * spin[i] + along_axle * turned[i][2] for i in range(2))
    return x, y

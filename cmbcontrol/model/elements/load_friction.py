"""Friction in proportion to the load of a constraint: of a point that slides on a plane, of a pin, of a gear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ..._frozen import Held, HeldArray, frozen_family, held, set_fields
from ...characteristics import Friction
from ...errors import InputError, InputTypeError, ModelError
from ...trace.symbols import where_less
from .constraints import Coupling, PointOnPlane
from .force_elements import ForceElement
from .frames import rotation_to
from .joints import Joint, Revolute
from .parameters import FormulaNumbers
from .part import LoopPart, check_body_name
from .rows import Row, coordinate_row, offsets

__all__ = ["DirectedFriction", "FrictionOfLoad", "GearFriction", "PinFriction", "SlidingFriction"]

Array = NDArray[np.float64]

# Of the transition rate: what sliding directions are divided by where nothing slides.
_STILL = 1e-9


@frozen_family
class FrictionOfLoad(ForceElement):
    """Base of friction in proportion to the load of a constraint, N; its formulas are those of a load of 1 N."""

    name: str
    on: str
    friction: Held[Friction | float, Friction]

    count = 2
    rows_of_load = 1
    parameters = (FormulaNumbers("friction"),)

    def __post_init__(self) -> None:
        what = f"friction {self.name!r}"
        _check.name(self.name, "force element")
        check_body_name(self.on, f"the constraint of {what}")
        if not isinstance(self.friction, Friction):
            mu = _check.positive(self.friction, f"the coefficient of {what}", zero=True)
            set_fields(self, friction=Friction(mu))
        if not isinstance(self.friction, Friction):
            raise InputTypeError(f"{what} must have a coefficient, or a Friction, got {_check.shown(self.friction)}")

    def find_load(self, joints: Sequence[Joint], loops: Sequence[LoopPart]) -> tuple[Any, str]:
        found = next((loop for loop in loops if loop.name == self.on), None)
        if found is None:
            known = [loop.name for loop in loops]
            raise ModelError(f"friction {self.name!r}: {_check.unknown(self.on, known, 'constraint')}")
        return found, self.on

    def _require(self, on: Any, kind: type, text: str) -> None:
        """Raise an error for a constraint that is not of a kind."""
        if not isinstance(on, kind):
            raise ModelError(text.format(what=f"friction {self.name!r}", on=repr(self.on), it=type(on).__name__))

    @property
    def characteristic(self) -> Friction:
        """Coefficient of friction as a function of the speed."""
        return self.friction

    @property
    def loaded_by(self) -> str:
        return self.on

    @property
    def dry_rate(self) -> float:
        return self.characteristic.dry_rate

    def without_dry_friction(self) -> ForceElement | None:
        return None

    @property
    def summary(self) -> str:
        return f"{type(self).__name__} on {self.on}, coefficient {self.characteristic.coulomb:g}"

    @property
    def number_names(self) -> tuple[str, ...]:
        return self.characteristic.number_names

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.characteristic.numbers

    @property
    def sample(self) -> Array:
        return np.array([0.3, 0.2, 0.5, -0.7])

    def energy(self, numbers: Any, z: Any) -> Any:
        return 0.0


@frozen_family
class _OnPlane(FrictionOfLoad):
    """Base of friction of a point on a plane, which measures the place of the point in it."""

    def measures(self, on: Any = None) -> list[Row]:
        text = "{what} slides on a PointOnPlane, and {on} is a {it}: name another constraint, or make it a PointOnPlane"
        self._require(on, PointOnPlane, text)
        a, b = on.ends
        return offsets(a, b, on.point_a, rotation_to(on.normal), on.point_b, "xy")


@frozen_family
class SlidingFriction(_OnPlane):
    """Friction of a point that slides on a plane, in proportion to the force that holds it there: a tool on a wall.

    Parameters
    ----------
    name : str
    on : str
        Name of the `PointOnPlane`, which holds the point on the plane both ways; its force counts without its sign. For
        a point that may lift off, give the friction to the `Contact` of the run in place of this.
    friction : float or Friction
        Coefficient; or a `Friction` with coefficients in place of forces, and rates in m/s. It is smooth: below the
        transition rate (1 mm/s) the point counts as at rest, and creeps.

    Examples
    --------
    >>> SlidingFriction("drag", "tool", 0.3).characteristic.coulomb
    0.3
    """

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        law = self.characteristic.with_numbers(numbers)
        still = _STILL * law.transition_rate
        speed = np.sqrt(rate[0] * rate[0] + rate[1] * rate[1] + still * still)
        level = law.force(0.0, speed) / speed
        return [level * rate[0], level * rate[1]]


@frozen_family
class DirectedFriction(_OnPlane):
    """Friction of a contact while it slides, in proportion to its push, and full from the begin on.

    Parameters
    ----------
    name, on, friction
        As for `SlidingFriction`.
    side : {1, -1}
        Side on which the contact is open.
    direction : array_like, shape (2,)
        Direction in which it begins to slide, along the x and y axes of its plane.
    outset : float
        m/s: the direction of sliding is that of the velocity plus `outset` times the initial direction.

    Examples
    --------
    >>> DirectedFriction("foot_friction", "foot", 0.5, side=1).numbers[-3:]
    (1.0, 0.0, 1e-12)
    """

    side: int = field(kw_only=True)
    direction: HeldArray = field(default=held((1.0, 0.0)), kw_only=True)
    outset: float = field(default=1e-12, kw_only=True)

    @property
    def number_names(self) -> tuple[str, ...]:
        return (*self.characteristic.number_names, "direction_x", "direction_y", "outset")

    @property
    def numbers(self) -> tuple[float, ...]:
        x, y = self.direction
        return (*self.characteristic.numbers, float(x), float(y), float(self.outset))

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        """Force against the velocity, or along it once this has turned by more than 90 degrees.

        So the force is smooth where sliding ends.

        A step leads past the end, and the event is found within it.
        """
        *of_law, dx, dy, outset = numbers
        law = self.characteristic.with_numbers(of_law)
        x, y = rate[0] + outset * dx, rate[1] + outset * dy
        speed = np.sqrt(x * x + y * y)
        level = law.level(speed) / speed
        level = where_less(0.0, x * dx + y * dy, level, -level) + law.viscous
        return [level * x, level * y]


@frozen_family
class PinFriction(FrictionOfLoad):
    """Friction of a pin in its bearing, in proportion to the radial force that the joint carries.

    Parameters
    ----------
    name : str
    on : str
        Name of a cut `Revolute` joint, one of the loops; or of one of the tree in a machine of
        `Mechanism.with_pin_forces`.
    friction : float or Friction
        Coefficient; or a `Friction` with coefficients in place of forces, and rates of the surface of the pin, m/s.
    radius : float
        Radius of the pin, m.

    Examples
    --------
    >>> PinFriction("elbow_friction", "elbow", 0.1, radius=0.02).number_names[-1]
    'radius'
    """

    radius: float = field(kw_only=True)

    rows_of_load = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, radius=_check.positive(self.radius, f"the radius of friction {self.name!r}"))

    def find_load(self, joints: Sequence[Joint], loops: Sequence[LoopPart]) -> tuple[Any, str]:
        found = next((joint for joint in joints if joint.name == self.on), None)
        if found is None:
            return super().find_load(joints, loops)
        held = f"{self.on}_pin_x_held"  # a row of `Mechanism.with_pin_forces`
        if not any(loop.name == held for loop in loops):
            raise ModelError(
                f"friction {self.name!r} is in proportion to the force of {self.on!r}, which is a joint of the tree: "
                f"make its force a multiplier, plant.with_pin_forces({self.on!r}).with_parts(forces=...), or put it "
                "among the loops"
            )
        return found, held

    def measures(self, on: Any = None) -> list[Row]:
        self._require(on, Revolute, "{what} is that of a cut Revolute joint, and {on} is a {it}: name another joint")
        return on.turning()

    @property
    def number_names(self) -> tuple[str, ...]:
        return (*self.characteristic.number_names, "radius")

    @property
    def numbers(self) -> tuple[float, ...]:
        return (*self.characteristic.numbers, float(self.radius))

    @property
    def sample(self) -> Array:
        return np.array([0.8, 0.6, -0.3, 0.4])

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        """Forces against z = (cos, sin) of the angle: the friction torque has a part of each."""
        *of_law, radius = numbers
        turn = z[0] * rate[1] - z[1] * rate[0]
        torque = radius * self.characteristic.with_numbers(of_law).force(0.0, radius * turn)
        return [-torque * z[1], torque * z[0]]


@frozen_family
class GearFriction(FrictionOfLoad):
    """Friction of a gear in proportion to the force of its teeth, set by an efficiency.

    Parameters
    ----------
    name : str
    on : str
        Name of the `Coupling`, a gear of two coordinates; the first one is where the motor is.
    efficiency : float
        Output power over input power, from 0 to 1, where the motor drives.
    transition_rate : float
        rad/s or m/s of its first coordinate, times its coefficient: below it the gear counts as at rest.

    Raises
    ------
    ValueError
        For an efficiency that is not above 0, or above 1.

    Notes
    -----
    With the multiplier lam of the gear and its coefficient c at the first coordinate, friction there is (1 / efficiency
    - 1) |c lam|. Backwards the same friction leaves an efficiency of 2 - 1 / efficiency: a gear of 0.5 and less locks
    itself.

    Examples
    --------
    >>> round(GearFriction("mesh", "gear", efficiency=0.8).characteristic.coulomb, 9)
    0.25
    """

    friction: Held[Friction | float, Friction] = field(default=held(0.0), init=False)
    efficiency: float = field(kw_only=True)
    transition_rate: float = field(default=1e-3, kw_only=True)

    count = 1
    parameters = (FormulaNumbers("friction", settable=False),)  # they follow from the efficiency

    def __post_init__(self) -> None:
        what = f"the efficiency of friction {self.name!r}"
        efficiency = _check.positive(self.efficiency, what)
        if efficiency > 1.0:
            raise InputError(f"{what} must be from 0 to 1, got {efficiency:g}")
        law = Friction(1.0 / efficiency - 1.0, transition_rate=self.transition_rate)
        set_fields(self, efficiency=efficiency, friction=law)
        super().__post_init__()

    def measures(self, on: Any = None) -> list[Row]:
        self._require(on, Coupling, "{what} is that of a Coupling, and {on} is a {it}: name another constraint")
        return [coordinate_row(dict([next(iter(on.coefficients.items()))]))]

    @property
    def sample(self) -> Array:
        return np.array([0.3, 0.2])

    def force(self, numbers: Any, z: Any, rate: Any) -> Any:
        return [self.characteristic.with_numbers(numbers).force(0.0, rate[0])]

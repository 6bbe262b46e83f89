"""Cylinders, hydraulic or electric: barrel, rod, pins, stroke and motor in one part."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._frozen import Frozen, Held, HeldArray, frozen, held, set_fields
from ...errors import ModelError
from .bodies import Body
from .constraints import Constraint, Point, PointOnLine
from .forces import Actuator
from .frames import Frame, rotation_to
from .joints import Joint, Prismatic, Revolute, Universal
from .part import check_body_name, unit_vector

__all__ = ["Cylinder"]

Array = NDArray[np.float64]

STEEL = 7850.0  # kg/m3
WALL = 0.1  # of a barrel, in bores


@frozen
class Cylinder(Frozen):
    """Hydraulic or electric cylinder between two bodies.

    It stands for two bodies, ``{name}_barrel`` and ``{name}_rod``; a pin ``{name}_pin`` on body a; the coordinate
    `name`, which is the length from pin to pin and has the stroke as its limits; a pin ``{name}_end`` on body b, which
    closes the loop; and the motor `name` that pushes with positive efforts, N.

    Parameters
    ----------
    name : str
    a, b : str
        Bodies; the barrel is on a, the rod on b.
    point_a, point_b : array_like, shape (3,)
        The pins on these bodies, m.
    stroke : (float, float)
        Length from pin to pin retracted and extended, m.
    bore, rod : float, optional
        Diameters of piston and rod, m.
    axis : array_like, shape (3,), or None
        Axis of the pins, on body a and b alike; None for a cylinder in space, with a universal joint at its barrel and
        a ball at its rod.
    mass : (float, float), optional
        Masses of barrel and rod, kg; defaults to those of steel tubes and rods of these diameters, as long as the
        retracted cylinder.
    pressure : float
        Largest pressure, Pa: it limits the effort to its force on the side of the rod. No limit by default.
    damping : float
        Viscous friction of the seals, N s/m.
    armature : float
        For an electric cylinder: inertia of its motor through gear and spindle, kg.
    motor : bool
        Whether it has a motor; False for a passive strut.

    Raises
    ------
    ModelError
        Where the lengths or diameters contradict each other.

    Examples
    --------
    >>> lift = Cylinder("lift", "base", "boom", (0.5, 0, 0), (2, 0, 0), stroke=(1.2, 2.0), bore=0.12, rod=0.07)
    >>> [body.name for body in lift.bodies], round(lift.area * 1e4, 2), round(lift.rod_area * 1e4, 2)
    (['lift_barrel', 'lift_rod'], 113.1, 74.61)
    """

    name: str
    a: str
    b: str
    point_a: HeldArray = held((0.0, 0.0, 0.0))
    point_b: HeldArray = held((0.0, 0.0, 0.0))
    stroke: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)
    bore: float | None = field(default=None, kw_only=True)
    rod: float | None = field(default=None, kw_only=True)
    axis: Held[ArrayLike | None, Array | None] = field(default=held((0.0, 0.0, 1.0)), kw_only=True)
    mass: Held[tuple[float, float] | None, tuple[float, float]] = field(default=held(None), kw_only=True)
    pressure: float = field(default=math.inf, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    armature: float = field(default=0.0, kw_only=True)
    motor: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        what = f"cylinder {self.name!r}" if isinstance(self.name, str) else "a cylinder"
        _check.name(self.name, "cylinder")
        for key in ("a", "b"):
            check_body_name(getattr(self, key), f"{key} of {what}")
        if self.a == self.b:
            raise ModelError(f"{what} connects body {self.a!r} with itself")
        for key in ("point_a", "point_b"):
            set_fields(self, **{key: _check.point(getattr(self, key), f"{key} of {what}")})
        stroke = _check.vector(self.stroke, 2, f"the stroke of {what}")
        if not 0.0 < stroke[0] < stroke[1]:
            raise ModelError(
                f"the stroke of {what} is (retracted, extended), lengths from pin to pin with 0 < retracted < "
                f"extended, got {tuple(stroke.tolist())} m"
            )
        if stroke[1] > 2.0 * stroke[0]:
            raise ModelError(
                f"{what} extends from {stroke[0]:g} to {stroke[1]:g} m: the rod would leave the barrel, since a "
                "cylinder of one stage is at most twice as long extended; give another stroke"
            )
        for key in ("bore", "rod"):
            if getattr(self, key) is not None:
                set_fields(self, **{key: _check.positive(getattr(self, key), f"{key} of {what}")})
        if self.bore is not None and self.rod is not None and self.rod >= self.bore:
            raise ModelError(f"{what}: the rod of {self.rod:g} m does not fit into the bore of {self.bore:g} m")
        pressure = _check.positive(self.pressure, f"the pressure of {what}", infinite=True)
        if math.isfinite(pressure) and (self.bore is None or self.rod is None):
            raise ModelError(f"{what}: a pressure limits the effort by the areas; give bore= and rod=")
        if self.mass is None and (self.bore is None or self.rod is None):
            raise ModelError(f"{what}: give mass=(barrel, rod), kg, or bore= and rod=, of which it follows for steel")
        axis = None if self.axis is None else unit_vector(self.axis, f"the axis of {what}")
        masses = self._steel() if self.mass is None else _check.vector(self.mass, 2, f"the mass of {what}")
        if masses.min() <= 0.0:
            raise ModelError(f"the mass of {what} must be above zero, of barrel and rod, got {masses.tolist()} kg")
        set_fields(self, axis=axis, pressure=pressure, motor=_check.flag(self.motor, f"motor of {what}"))
        object.__setattr__(self, "mass", tuple(masses.tolist()))
        object.__setattr__(self, "stroke", tuple(stroke.tolist()))
        len(self.joints)  # making them checks damping and armature

    def _steel(self) -> np.ndarray:
        """Masses of a steel barrel and rod, kg."""
        outer = (1.0 + 2.0 * WALL) * self.bore  # type: ignore[operator]
        volumes = np.array([outer**2 - self.bore**2, self.rod**2])  # type: ignore[operator]
        return STEEL * math.pi / 4.0 * volumes * float(self.stroke[0])

    @property
    def area(self) -> float:
        """Area of the piston, m2."""
        return math.pi / 4.0 * self._known("bore") ** 2

    @property
    def rod_area(self) -> float:
        """Area of the piston on the side of the rod, m2."""
        return self.area - math.pi / 4.0 * self._known("rod") ** 2

    def _known(self, key: str) -> float:
        if getattr(self, key) is None:
            raise ModelError(f"cylinder {self.name!r} has no {key}; give {key}=, m")
        return getattr(self, key)

    @property
    def effort(self) -> float:
        """Largest effort, N: the force of the pressure on the side of the rod, which is the smaller one."""
        return self.pressure * self.rod_area if math.isfinite(self.pressure) else math.inf

    # -- what it stands for -------------------------------------------------------------------------

    @property
    def bodies(self) -> tuple[Body, Body]:
        """Bodies of barrel and rod; x is along the cylinder, the origins are at the pins."""
        made = []
        radii = [0.5 * (x or 0.1 * self.stroke[0]) for x in (self.bore, self.rod)]
        for name, mass, radius, side in zip(("barrel", "rod"), self.mass, radii, (1.0, -1.0), strict=True):
            length = self.stroke[0]
            about, across = 0.5 * mass * radius**2, mass * (length**2 / 12.0 + 0.25 * radius**2)
            com = (0.5 * side * length, 0.0, 0.0)
            made.append(Body(f"{self.name}_{name}", mass, com, (about, across, across)))
        return tuple(made)  # type: ignore[return-value]

    @property
    def joints(self) -> tuple[Joint, Prismatic]:
        """Joints for the pin of the barrel, and for the length."""
        barrel, rod = f"{self.name}_barrel", f"{self.name}_rod"
        pin: Joint
        if self.axis is None:
            axes = {"axis": (0, 0, 1), "second_axis": (0, 1, 0)}
            pin = Universal(f"{self.name}_pin", self.a, barrel, **axes, frame=Frame(self.point_a))  # type: ignore[arg-type]
        else:
            turn = rotation_to(self.axis)  # z along the axis
            pin = Revolute(f"{self.name}_pin", self.a, barrel, axis=(0, 0, 1), frame=Frame(self.point_a, turn))
        options = {"limits": self.stroke, "damping": self.damping, "armature": self.armature}
        return pin, Prismatic(self.name, barrel, rod, axis=(1, 0, 0), **options)  # type: ignore[arg-type]

    @property
    def loops(self) -> tuple[Constraint]:
        """Constraint for the pin of the rod."""
        rod = f"{self.name}_rod"
        if self.axis is None:
            return (Point(f"{self.name}_end", self.b, rod, self.point_b),)
        return (PointOnLine(f"{self.name}_end", self.b, rod, self.point_b, axis=self.axis),)

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """Actuator of the motor, if there is one."""
        return (Actuator(self.name, effort=self.effort),) if self.motor else ()

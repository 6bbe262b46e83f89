"""Units of coordinates, forces, efforts and multipliers, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plant import Plant

__all__ = ["cut_joints", "effort_units", "force_units", "in_unit", "plain", "rate_of", "row_force_units", "unit_of"]

_PLAIN = 1e4, 1e7  # sizes of forces of machines with cylinders: told in digits, not in powers of ten
_FORCES = {"rad/s": "N m", "m/s": "N"}  # by the unit of the velocity that they do work on


def cut_joints(plant: Plant) -> dict[str, Any]:
    """Cut joints with one coordinate, by name."""
    return {loop.name: loop for loop in plant.loops if loop.effort_axes() is not None}


def unit_of(plant: Plant, name: str) -> str:
    """Unit of a coordinate, of the tree or of a cut joint; "" for combinations."""
    if name in plant.velocity_names:
        return plant.velocity_units[plant.velocity_names.index(name)].removesuffix("/s")
    cut = cut_joints(plant)
    return cut[name].position_units[0] if name in cut else ""


def rate_of(unit: str) -> str:
    """Unit of the rate of a quantity with this unit."""
    return f"{unit}/s" if unit else ""


def force_units(plant: Plant) -> tuple[str, ...]:
    """Units of the generalized forces (nv)."""
    return tuple(_FORCES.get(u, "") for u in plant.velocity_units)


def row_force_units(plant: Plant) -> tuple[str, ...]:
    """Units of the multipliers (rows)."""
    return tuple({"m": "N", "rad": "N m"}.get(u, "") for u in plant.row_units)


def in_unit(x: float, unit: str) -> str:
    """Text of a number with four digits and its unit; the number alone where the unit is ""."""
    return f"{plain(x)} {unit}".rstrip()


def plain(x: float, digits: int = 4) -> str:
    """Text of a number as one reads it: "390,600" and not "3.906e+05"."""
    rounded = f"{x:.{digits}g}"
    return f"{float(rounded):,.0f}" if _PLAIN[0] <= abs(float(rounded)) < _PLAIN[1] else rounded


def effort_units(plant: Plant) -> tuple[str, ...]:
    """Units of the motor efforts (gears count as numbers)."""
    units = dict(zip(plant.velocity_names, plant.velocity_units, strict=True))
    units |= {loop.name: loop.velocity_units[0] for loop in plant.loops if loop.velocity_units}
    driven = {a.name: a.joint for a in getattr(plant, "actuators", ())}
    units |= {a.joint: "rad/s" for a in getattr(plant, "actuators", ()) if a.bodies}  # a torque between bodies
    return tuple(_FORCES.get(units.get(driven.get(n, n), ""), "") for n in plant.actuator_names)

"""Colours of the signals of a run: one for each joint, motor, loop and row, the same in all figures of a machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sim.result import Simulation
from ..sim.units import column_units
from .style import styles

__all__ = ["SignalStyles"]

Style = dict[str, Any]


class SignalStyles:
    """Line styles of signals by name, and scales by unit.

    Joints with motors come first, and so have the most distinct colours; their motors share them. Styles depend on the
    names alone, not on what a panel shows: a joint keeps its colour from figure to figure, and from run to run of a
    study.

    Attributes
    ----------
    size : float
        Size of the machine, m.
    """

    def __init__(self, run: Simulation) -> None:
        data = run.data
        motors = _names(data, "actuator")
        joints = {a.name: a.joint for a in getattr(run.plant, "actuators", ())}
        coordinates = list(dict.fromkeys([*_names(data, "position"), *_names(data, "velocity")]))
        on = {motor: joints.get(motor, motor) for motor in motors}
        order = list(dict.fromkeys(on.values())) + coordinates  # of a cut joint, or of two bodies: no coordinate
        order += _names(data, "controlled") if "controlled" in data.dims else []
        self._coordinates = _styled(order)
        taken: set[str] = set()
        self._motors: dict[str, Style] = {}
        for motor, joint in on.items():  # two motors on one joint have two colours
            self._motors[motor] = self._coordinates[joint] if joint not in taken else {}
            taken.add(joint)
        more = [motor for motor, style in self._motors.items() if not style]
        spare = styles(len(self._coordinates) + len(more))[len(self._coordinates) :]
        self._motors |= dict(zip(more, spare, strict=True))
        self._loops, self._rows = _styled(_names(data, "loop")), _styled(_names(data, "row"))
        self.size = float(run.plant.size) if run.plant is not None else _size(run)
        self._force = _force(run, self.size)

    def coordinate(self, name: str) -> Style:
        """Style of a joint coordinate, its velocity, its constraint force, its error."""
        return self._coordinates[name]

    def motor(self, name: str) -> Style:
        return self._motors[name]

    def loop(self, name: str) -> Style:
        return self._loops[name]

    def row(self, name: str) -> Style:
        return self._rows[name]

    def span(self, unit: str) -> float:
        """Size of a large motion in a unit: a radian, or the size of the machine."""
        return self.size if unit == "m" else 1.0

    def scale(self, unit: str) -> float:
        """Scale of a quantity in a unit; values that are small against it are rounding."""
        return self.force(unit) if unit in ("N", "N m") else self.span(unit.removesuffix("2").removesuffix("/s"))

    def force(self, unit: str) -> float:
        """Largest force of the run, N; as a moment, N m, at the end of a lever as long as the machine."""
        return self._force * (self.size if unit == "N m" else 1.0)


def _names(data: Any, dimension: str) -> list[str]:
    return [str(n) for n in data[dimension].values]


def _styled(names: list[str]) -> dict[str, Style]:
    listed = list(dict.fromkeys(names))
    return dict(zip(listed, styles(len(listed)), strict=True))


def _size(run: Simulation) -> float:
    """Size of a machine that is not known: its longest travel, or a metre."""
    metres = [k for k, unit in enumerate(column_units(run, "q")) if unit == "m"]
    travel = np.abs(run.data["q"].values[:, metres])
    return float(np.nanmax(travel, initial=0.0)) or 1.0


def _force(run: Simulation, size: float) -> float:
    largest = 0.0
    for variable in ("constraint_force", "multipliers", "u"):
        values = np.abs(run.data[variable].values)
        levers = np.array([size if unit == "N m" else 1.0 for unit in column_units(run, variable)])
        if values.size:
            largest = max(largest, float(np.nanmax(values / levers, initial=0.0)))
    return largest or 1.0

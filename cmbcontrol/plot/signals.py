"""Colours of the signals of a run: one for each joint, motor, loop and row, the same in all figures of a machine."""

from __future__ import annotations

from typing import Any

from ..sim.panels import Panel
from ..sim.result import Simulation
from .style import styles

__all__ = ["SignalStyles"]

Style = dict[str, Any]


class SignalStyles:
    """Line styles of signals by name.

    Joints with motors come first, and so have the most distinct colours; their motors share them. Styles depend on the
    names alone, not on what a panel shows: a joint keeps its colour from figure to figure, and from run to run of a
    study.

    Attributes
    ----------
    coordinates, motors, loops, rows : dict of str to dict
        Styles by name. Those of a coordinate are also of its velocity, its constraint force, its error.
    """

    def __init__(self, run: Simulation) -> None:
        data = run.data
        joints = {a.name: a.joint for a in getattr(run.plant, "actuators", ())}
        on = {motor: joints.get(motor, motor) for motor in _names(data, "actuator")}
        order = [*on.values(), *_names(data, "position"), *_names(data, "velocity")]  # cut joints are no coordinates
        self.coordinates = _styled([*order, *(_names(data, "controlled") if "controlled" in data.dims else ())])
        taken: set[str] = set()
        self.motors: dict[str, Style] = {}
        for motor, joint in on.items():  # two motors on one joint have two colours
            self.motors[motor] = self.coordinates[joint] if joint not in taken else {}
            taken.add(joint)
        more = [motor for motor, style in self.motors.items() if not style]
        spare = styles(len(self.coordinates) + len(more))[len(self.coordinates) :]
        self.motors |= dict(zip(more, spare, strict=True))
        self.loops, self.rows = _styled(_names(data, "loop")), _styled(_names(data, "row"))

    def of(self, panel: Panel) -> dict[str, Style]:
        """Styles of the signals of a panel, by name."""
        known = {"u": self.motors, "command": self.motors, "multipliers": self.rows, "drift": self.loops}
        known |= dict.fromkeys(("reference", "error", "q", "v", "a", "constraint_force"), self.coordinates)
        return known[panel.kind] if panel.kind in known else _styled(list(panel.signals))


def _names(data: Any, dimension: str) -> list[str]:
    return [str(n) for n in data[dimension].values]


def _styled(names: list[str]) -> dict[str, Style]:
    listed = list(dict.fromkeys(names))
    return dict(zip(listed, styles(len(listed)), strict=True))

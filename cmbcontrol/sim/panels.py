"""Panels of a run: its signals by kind and unit, in the words in which figures and pages show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .result import Simulation
from .units import column_units

__all__ = ["ROUNDING", "Panel", "Scales", "panels_of"]

Array = NDArray[np.float64]

ROUNDING = 1e-14  # of its scale: closing a loop, or a sum of energies, is no more accurate (1e-16 times some tens)

# kinds of signals, in the order in which a page lists them: variables of a run with a column for each signal ...
_COLUMNS = {
    "reference": "reference",
    "error": "tracking error",
    "q": "coordinate",
    "v": "rate",
    "u": "motor effort",
    "command": "commanded effort",
    "constraint_force": "constraint force",
    "multipliers": "multiplier",
    "loads": "load",
    "motions": "prescribed position",
    "motion_effort": "effort of a prescribed motion",
    "report": "reported",
    "a": "acceleration",
    "drift": "loop opening",
}
_OF_JOINTS = {("q", "rad"): "joint angle", ("q", "m"): "joint travel"}
_OF_JOINTS |= {("v", "rad/s"): "joint rate", ("v", "m/s"): "joint speed"}
# ... and several variables together: those on the right only where they are not zero
_WORKS = ("actuator_work", "dissipated_work", "load_work", "motion_work", "impact_loss")
_POWERS = ("actuator_power", "dissipated_power", "load_power", "motion_power")
_TOGETHER = {
    "energy": ("energy", "J", ("kinetic", "potential", "energy"), _WORKS),
    "power": ("power", "W", (), _POWERS),
    "energy_balance": ("energy error", "J", ("energy_balance",), ()),
    "conditioning": ("conditioning", "1", ("conditioning",), ()),
}
_NAMES = {"energy": "total", "energy_balance": "energy - work"}


class Panel(NamedTuple):
    """Signals of one kind and one unit, which share an axis.

    Attributes
    ----------
    kind : str
        Variable of the run, such as "q"; "energy", "power", "energy_balance" and "conditioning".
    scale : float
        Size of a large value, see `Scales`.
    label, unit : str
    signals : dict of str to ndarray
        Values over time by name.
    """

    kind: str
    scale: float
    label: str
    unit: str
    signals: dict[str, Array]


class Scales:
    """Sizes of large values of a run, by unit; values that are small against them are rounding.

    Attributes
    ----------
    size : float
        Size of the machine, m; where it is not known, its longest travel, or a metre.
    """

    def __init__(self, run: Simulation) -> None:
        self.size = float(run.plant.size) if run.plant is not None else _largest(run, "q", {"m": 1.0}) or 1.0
        levers = {"N": 1.0, "N m": self.size, "": 1.0}
        force = max(_largest(run, name, levers) for name in ("constraint_force", "multipliers", "u")) or 1.0
        parts = (np.abs(run.data[n].values) for n in ("kinetic", "potential", *_WORKS[:-1]) if n in run.data)
        energy = float(np.max(sum(map(np.nan_to_num, parts)), initial=0.0)) or 1.0
        self._by_unit = {"m": self.size, "N": force, "N m": force * self.size, "J": energy}

    def of(self, unit: str) -> float:
        """Size of a large length, force, moment or energy of the run; 1 for other units, such as radians."""
        return self._by_unit.get(unit.removesuffix("2").removesuffix("/s"), 1.0)


def _largest(run: Simulation, variable: str, sizes: dict[str, float]) -> float:
    """Largest value in the columns with given units, in parts of their sizes."""
    columns = [(k, sizes[unit]) for k, unit in enumerate(column_units(run, variable)) if unit in sizes]
    values = np.abs(run.data[variable].values)
    return max((float(np.nanmax(values[:, k], initial=0.0)) / size for k, size in columns), default=0.0)


def panels_of(run: Simulation, *kinds: str) -> list[Panel]:
    """Panels of a run: of some kinds in the order asked for, or of all.

    Efforts are left out where there is no law, commands where they are the efforts, conditioning where there are no
    loops.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, [-20.0, 20.0], plant.assemble(left=2.1, right=1.0), t_end=0.2)
    >>> [(panel.label, panel.unit, *panel.signals) for panel in panels_of(run, "u", "drift")]
    [('motor effort', 'N m', 'left', 'right'), ('loop opening', 'm', 'tip')]
    """
    scales = Scales(run)
    parts = ((kind, *part) for kind in kinds or (*_COLUMNS, *_TOGETHER) for part in _parts(run, kind))
    return [Panel(kind, scales.of(unit), label, unit, signals) for kind, label, unit, signals in parts if signals]


def _parts(run: Simulation, kind: str) -> Iterator[tuple[str, str, dict[str, Array]]]:
    """Labels, units and signals of the panels of one kind."""
    data = run.data
    if kind in _TOGETHER:
        label, unit, always, others = _TOGETHER[kind]
        there = [*always, *(name for name in others if name in data and np.any(np.nan_to_num(data[name].values)))]
        if kind != "conditioning" or data.sizes["loop"]:
            yield label, unit, {_NAMES.get(name, name.replace("_", " ")): data[name].values for name in there}
        return
    columns = _columns(run, kind)
    for unit in dict.fromkeys(unit for _, unit, _ in columns):
        label = _OF_JOINTS.get((kind, unit), _COLUMNS[kind])
        yield label, unit, {name: values for name, u, values in columns if u == unit}


def _idle(run: Simulation, kind: str) -> bool:
    """Whether efforts are zero, as there is no law, or commands are the same as efforts."""
    u = run.data["u"].values
    no_law = run.data.attrs["controller"] == "none" and not u.any()
    return no_law or (kind == "command" and np.array_equal(run.data["command"].values, u, equal_nan=True))


def _columns(run: Simulation, kind: str) -> list[tuple[str, str, Array]]:
    """Names, units and values of the columns of a variable."""
    if kind == "error" and "error" not in run.data:  # of a law that follows a reference and does not say how well
        q = {name: values for name, _, values in _columns(run, "q")}
        return [(name, unit, y - q[name]) for name, unit, y in _columns(run, "reference") if name in q]
    if kind not in run.data or (kind in ("u", "command") and _idle(run, kind)):
        return []
    values = run.data[kind]
    names = (str(name) for name in values[values.dims[1]].values)
    return list(zip(names, column_units(run, kind), values.values.T, strict=True))

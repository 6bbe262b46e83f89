"""Curves of a run for the plots of a page: signals in groups, by kind and by unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plot.signals import SignalStyles
from ..sim.panels import ROUNDING, Panel, panels_of
from .sampling import rows_of_curves

if TYPE_CHECKING:
    from ..sim.result import Simulation

__all__ = ["NO_CURVES", "curves_of", "dashes"]

Array = NDArray[np.float64]

NO_CURVES: dict[str, Any] = {"times": np.zeros(1), "groups": [], "shown": []}

_FEW = 8  # curves that one panel shows at first
_PANELS = 3  # at first
_TRACKING, _REFERENCE = "tracking, reference dotted", ", reference"
_LOGARITHMIC = ("drift", "energy_balance", "conditioning")
_DASHES: dict[str, list[float]] = {"-": [], "--": [6, 4], ":": [2, 3], "-.": [6, 3, 2, 3]}


def dashes(linestyle: Any) -> list[float]:
    """Lengths of dashes and gaps, px, of a line style of matplotlib.

    Examples
    --------
    >>> dashes("--"), dashes((0, (8, 2)))
    ([6, 4], [8, 2])
    """
    return _DASHES[linestyle] if isinstance(linestyle, str) else list(linestyle[1])


def _hex(color: Any) -> str:
    if isinstance(color, str):
        return color
    return "#" + "".join(f"{round(255.0 * float(c)):02X}" for c in color[:3])


def curves_of(run: Simulation) -> dict[str, Any]:
    """Times, groups of signals, and indices of the groups that are shown at first."""
    data, signals = run.data, SignalStyles(run)
    motors = {a.joint for a in getattr(run.plant, "actuators", ())} or {str(n) for n in data["actuator"].values}
    found = [panel for panel in panels_of(run) if panel.kind != "constraint_force"]  # those are arrows
    errors = {name: y for panel in found if panel.kind == "error" for name, y in panel.signals.items()}
    groups = [
        _tracking(panel, errors, signals) if panel.kind == "reference" else _group(panel, signals, motors)
        for panel in found
    ]
    groups = [group for group in groups if group["signals"]]
    picked = rows_of_curves(data["time"].values, sum(len(g["signals"]) for g in groups), data["event_time"].values)
    for signal in (signal for group in groups for signal in group["signals"]):
        signal["values"] = np.asarray(signal["values"][picked], dtype=np.float32)
    return {"times": data["time"].values[picked].astype(float), "groups": groups, "shown": _first(groups)}


def _group(panel: Panel, signals: SignalStyles, motors: set[str]) -> dict[str, Any]:
    """Group of the signals of a panel that have numbers; of many, only those of joints with motors are shown at first.

    Errors that are small from the start have logarithmic axes, which end at rounding.
    """
    looks, log = signals.of(panel), panel.kind in _LOGARITHMIC
    first = motors & panel.signals.keys() if panel.kind in ("q", "v") else set()
    shown = set([name for name in panel.signals if not first or name in first][:_FEW])
    listed = [
        _signal(name, y if not log else np.maximum(np.abs(y), ROUNDING * panel.scale), looks[name], name in shown)
        for name, y in panel.signals.items()
        if np.isfinite(y).any()
    ]
    listed.sort(key=lambda signal: not signal["shown"])  # a long legend begins with what is shown
    return _told(panel, panel.label, listed, log=log, of_task=bool(first))


def _tracking(panel: Panel, errors: dict[str, Array], signals: SignalStyles) -> dict[str, Any]:
    """Group of the controlled coordinates, each with its reference."""
    looks, listed = signals.of(panel), []
    for name, reference in [*panel.signals.items()][:_FEW]:
        if name in errors:
            dotted = {"color": looks[name]["color"], "linestyle": ":"}
            listed.append(_signal(name, reference - errors[name], looks[name], True))
            listed.append(_signal(name + _REFERENCE, reference, dotted, True) | {"of": name})  # hidden together
    return _told(panel, _TRACKING, listed, log=False, of_task=True)


def _signal(name: str, values: Array, look: dict[str, Any], shown: bool) -> dict[str, Any]:
    dash = dashes(look["linestyle"])
    return {"name": name, "color": _hex(look["color"]), "dash": dash, "shown": shown, "values": values}


def _told(panel: Panel, label: str, signals: list[dict[str, Any]], *, log: bool, of_task: bool) -> dict[str, Any]:
    about = {"kind": panel.kind, "label": label, "unit": panel.unit, "of_task": of_task}
    return about | {"log": log, "scale": 0.0 if log else panel.scale, "signals": signals}


def _first(groups: list[dict[str, Any]]) -> list[int]:
    """Indices of the groups shown at first: the task, the efforts for it, the constraint forces."""
    seen: dict[str, int] = {}
    for i in sorted(range(len(groups)), key=lambda i: not groups[i]["of_task"]):  # of the units, that of the motors
        seen.setdefault(groups[i]["kind"], i)
    wanted = ("reference" if "reference" in seen else "q", "u", "multipliers", "q", "v", "energy")
    return list(dict.fromkeys(seen[kind] for kind in wanted if kind in seen))[:_PANELS]

"""Curves of a run for the plots of a page: signals in groups, by kind and by unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plot.signals import SignalStyles
from ..plot.style import DISTINCT, styles
from ..sim.panels import ROUNDING, Panel, panels_of
from .sampling import rows_of_curves

if TYPE_CHECKING:
    from ..sim.result import Simulation

__all__ = ["NO_CURVES", "curves_of", "dashes_of"]

Array = NDArray[np.float64]

NO_CURVES: dict[str, Any] = {"times": np.zeros(1), "groups": [], "shown": []}

_FEW = 8  # curves that one panel shows at first
_PANELS = 3  # at first
_TRACKING, _REFERENCE = "tracking, reference dotted", ", reference"
_LOGARITHMIC = ("drift", "energy_balance", "conditioning")
# Lengths of dashes and gaps, px, for eyes and printers that see no colours: as many as curves are shown at first. There
# are seven colours, so that curves with one colour have other dashes. References alone are dotted.
_DASHES: tuple[list[float], ...] = (
    [], [9, 4], [9, 3, 2, 3], [5, 3], [18, 4], [18, 3, 4, 3], [9, 3, 2, 3, 2, 3], [4, 3, 4, 8],
)  # fmt: skip
_DOTS: list[float] = [2, 3]
_PLACES = {(str(look["color"]), str(look["linestyle"])): i for i, look in enumerate(styles(DISTINCT))}


def dashes_of(looks: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Lengths of dashes and gaps, px, of the curves of a panel: those of its style, or others that are free.

    So a joint has the same ones in all panels where it can; eight curves in turn are told apart by them alone.

    Examples
    --------
    >>> dashes_of(styles(3)), dashes_of([styles(1)[0], styles(9)[8]])
    ([[], [9, 4], [9, 3, 2, 3]], [[], [9, 4]])
    """
    count, found = len(_DASHES), list[int]()
    for i, look in enumerate(looks):
        own = _PLACES.get((str(look["color"]), str(look["linestyle"])), i)  # else a colour of a scale
        taken = found[i - i % count :]
        found.append(next(k % count for k in range(own, own + count) if k % count not in taken))
    return [_DASHES[k] for k in found]


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
    for signal, dash in zip(listed, dashes_of([looks[signal["name"]] for signal in listed]), strict=True):
        signal["dash"] = dash
    return _told(panel, panel.label, listed, log=log, of_task=bool(first))


def _tracking(panel: Panel, errors: dict[str, Array], signals: SignalStyles) -> dict[str, Any]:
    """Group of the controlled coordinates, each with its reference."""
    looks, listed = signals.of(panel), []
    names = [name for name in panel.signals if name in errors][:_FEW]
    for name, dash in zip(names, dashes_of([looks[name] for name in names]), strict=True):
        reference = panel.signals[name]
        listed.append(_signal(name, reference - errors[name], looks[name], True) | {"dash": dash})
        dotted = _signal(name + _REFERENCE, reference, looks[name], True) | {"dash": _DOTS}
        listed.append(dotted | {"of": name})  # hidden together
    return _told(panel, _TRACKING, listed, log=False, of_task=True)


def _signal(name: str, values: Array, look: dict[str, Any], shown: bool) -> dict[str, Any]:
    return {"name": name, "color": _hex(look["color"]), "shown": shown, "values": values}


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

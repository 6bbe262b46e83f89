"""Curves of a run for the plots of a page: signals in groups, by kind and by unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plot.signals import SignalStyles
from ..plot.style import styles
from ..sim.units import column_units
from .sampling import rows_of_curves

if TYPE_CHECKING:
    from ..sim.result import Simulation

__all__ = ["NO_CURVES", "curves_of", "dashes"]

Array = NDArray[np.float64]

NO_CURVES: dict[str, Any] = {"times": np.zeros(1), "groups": [], "shown": []}

_FEW = 8  # curves that one panel shows at first
_PANELS = 3  # at first
_TRACKING, _REFERENCE = "tracking, reference dotted", ", reference"
_ROUNDING = 1e-16  # of what errors are errors of
_DASHES = {"-": [], "--": [6, 4], ":": [2, 3], "-.": [6, 3, 2, 3]}


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


class _Groups:
    """Collector of groups of signals."""

    def __init__(self) -> None:
        self.groups: list[dict[str, Any]] = []

    def add(
        self,
        label: str,
        unit: str,
        names: Sequence[str],
        values: Array,
        style: Sequence[dict[str, Any]],
        *,
        first: Sequence[str] = (),
        scale: float = 0.0,
        log: bool = False,
    ) -> None:
        """Add a group of signals (time, signal); of many, only those in `first` are shown at first."""
        if not len(names) or not np.isfinite(values).any():
            return
        order = [n for n in names if n in set(first)] or list(names)
        shown = set(order[:_FEW])
        signals = [
            {
                "name": name,
                "color": _hex(look["color"]),
                "dash": dashes(look["linestyle"]),
                "shown": name in shown,
                "values": values[:, k],
            }
            for k, (name, look) in enumerate(zip(names, style, strict=True))
        ]
        signals.sort(key=lambda signal: not signal["shown"])  # a long legend begins with what is shown
        of_task = bool(set(names) & set(first))
        self.groups.append(
            {"label": label, "unit": unit, "log": log, "scale": scale, "of_task": of_task, "signals": signals}
        )

    def by_unit(
        self,
        label: str,
        names: Sequence[str],
        units: Sequence[str],
        values: Array,
        style: Callable[[str], dict[str, Any]],
        scale: Callable[[str], float] = lambda unit: 0.0,
        first: Sequence[str] = (),
    ) -> None:
        """Add the columns of a variable, in a group for each unit."""
        for unit in dict.fromkeys(units):
            columns = [k for k, u in enumerate(units) if u == unit]
            these = [names[k] for k in columns]
            self.add(label, unit, these, values[:, columns], [style(n) for n in these], first=first, scale=scale(unit))


def curves_of(run: Simulation) -> dict[str, Any]:
    """Times, groups of signals, and indices of the groups that are shown at first."""
    data, signals, made = run.data, SignalStyles(run), _Groups()
    names = {d: [str(n) for n in data[d].values] for d in ("position", "velocity", "actuator", "row", "loop")}
    motors = [a.joint for a in getattr(run.plant, "actuators", ())] or names["actuator"]

    def span(unit: str) -> float:
        return signals.span(unit)

    if "reference" in data and data["reference"].size:
        _tracking(made, run, signals)
    q, v = (data[x].values for x in ("q", "v"))
    made.by_unit("joint positions", names["position"], column_units(run, "q"), q, signals.coordinate, span, motors)
    made.by_unit("joint velocities", names["velocity"], column_units(run, "v"), v, signals.coordinate, span, motors)
    acts = data.attrs.get("controller") != "none" or bool(np.any(data["u"].values))
    if acts:
        units, asked = column_units(run, "u"), data["command"].values
        made.by_unit("motor efforts", names["actuator"], units, data["u"].values, signals.motor, signals.force)
        if not np.array_equal(asked, data["u"].values, equal_nan=True):
            made.by_unit("commanded efforts", names["actuator"], units, asked, signals.motor, signals.force)
    rows = column_units(run, "multipliers")
    made.by_unit("constraint forces", names["row"], rows, data["multipliers"].values, signals.row, signals.force)
    _remaining(made, run)
    _errors(made, run, signals)
    picked = rows_of_curves(data["time"].values, sum(len(g["signals"]) for g in made.groups), data["event_time"].values)
    for group in made.groups:
        for signal in group["signals"]:
            signal["values"] = np.asarray(signal["values"][picked], dtype=np.float32)
    return {"times": data["time"].values[picked].astype(float), "groups": made.groups, "shown": _first(made.groups)}


def _tracking(made: _Groups, run: Simulation, signals: SignalStyles) -> None:
    """Add the controlled coordinates with their references."""
    data = run.data
    names, units = [str(n) for n in data["controlled"].values], column_units(run, "reference")
    reference, error = data["reference"].values, data["error"].values
    for unit in dict.fromkeys(units):
        columns = [k for k, u in enumerate(units) if u == unit][:_FEW]
        listed, values, looks = [], [], []
        for k in columns:
            look = signals.coordinate(names[k])
            listed += [names[k], names[k] + _REFERENCE]
            values += [reference[:, k] - error[:, k], reference[:, k]]
            looks += [look, {"color": look["color"], "linestyle": ":"}]
        made.add(_TRACKING, unit, listed, np.array(values).T, looks, first=listed, scale=signals.span(unit))
        for signal in made.groups[-1]["signals"]:
            signal["shown"] = True
            if signal["name"].endswith(_REFERENCE):  # hidden together with the other
                signal["of"] = signal["name"].removesuffix(_REFERENCE)
    made.by_unit("tracking errors", names, units, error, signals.coordinate, signals.span)


def _remaining(made: _Groups, run: Simulation) -> None:
    """Add loads, prescribed motions, reports of the law, energies and powers."""
    data = run.data
    listed = (
        ("loads", "load_component", "loads"),
        ("motions", "motion", "prescribed positions"),
        ("motion_effort", "motion", "efforts of what prescribes motions"),
        ("report", "quantity", "report of the law"),
        ("a", "velocity", "joint accelerations"),
    )
    for variable, dimension, label in listed:
        if variable in data and data[variable].size:
            names = [str(n) for n in data[dimension].values]
            looks = dict(zip(names, styles(len(names)), strict=True))
            made.by_unit(label, names, column_units(run, variable), data[variable].values, looks.__getitem__)
    for label, unit, variables in (
        ("energies and work", "J", ("energy", "kinetic", "potential", "actuator_work", "dissipated_work", "load_work",
                                    "motion_work", "impact_loss")),
        ("powers", "W", ("actuator_power", "dissipated_power", "load_power", "motion_power")),
    ):  # fmt: skip
        there = [name for name in variables if name in data and np.any(np.nan_to_num(data[name].values))]
        values = np.array([data[name].values for name in there]).T.reshape(len(data["time"]), -1)
        made.add(label, unit, [name.replace("_", " ") for name in there], values, styles(len(there)), first=())


def _errors(made: _Groups, run: Simulation, signals: SignalStyles) -> None:
    """Add closure and energy errors and conditioning, on logarithmic axes that end at rounding."""
    data = run.data
    one = styles(1)
    if data.sizes["loop"]:
        names = [str(n) for n in data["loop"].values]
        drift = np.maximum(np.abs(data["drift"].values), _ROUNDING * signals.size)
        made.add("closure errors", "m", names, drift, [signals.loop(n) for n in names], log=True)
    balance = np.abs(data["energy_balance"].values)
    largest = float(np.nanmax(np.abs(data["energy"].values), initial=0.0)) or 1.0
    made.add("energy error", "J", ["energy error"], np.maximum(balance, _ROUNDING * largest)[:, None], one, log=True)
    if data.sizes["loop"]:
        made.add("conditioning", "1", ["conditioning"], data["conditioning"].values[:, None], one, log=True)


def _first(groups: list[dict[str, Any]]) -> list[int]:
    """Indices of the groups shown at first: the task, the efforts for it, the constraint forces."""
    wanted = (
        _TRACKING,
        "motor efforts",
        "constraint forces",
        "joint positions",
        "joint velocities",
        "energies and work",
    )
    order = [i for label in wanted for i, group in enumerate(groups) if group["label"] == label]
    seen: dict[str, int] = {}
    for i in sorted(order, key=lambda i: not groups[i]["of_task"]):  # of the units, that of the joints with motors
        seen.setdefault(groups[i]["label"], i)
    seen = {label: seen[label] for label in wanted if label in seen}
    if _TRACKING not in seen and "joint positions" in seen:
        seen = {"joint positions": seen["joint positions"]} | seen
    return list(seen.values())[:_PANELS]

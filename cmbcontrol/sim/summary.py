"""Facts of a run in words: what it is of, how it ended, how accurate it is, its largest efforts, its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Status
from ..model.units import in_unit
from .motor_duty import beyond_ratings, ratings, rms
from .motor_limits import motors_at_limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .result import Simulation

__all__ = ["ALARMS", "event_words", "kind_of_run", "run_lines", "summary", "tracking_errors"]

# headings of lines that a reader must not miss, which pages show in colour
ALARMS = ("failed", "beyond limit", "beyond rating")
_EVENTS = 6  # that are told with their times
_ENDS = (Status.COMPLETED, Status.EVENT, Status.INTERRUPTED)  # of runs that have not failed


def kind_of_run(run: Simulation) -> str:
    """Words for a run: "free run", or "run under" its law."""
    law = str(run.data.attrs["controller"])
    return "free run" if law == "none" else f"run under {law}"


def event_words(event: dict[str, Any]) -> str:
    """Words for an event of `Simulation.events`: its kind, how singular the machine was, the energy that it took."""
    singular = f", conditioning {event['conditioning']:.1e}" if np.isfinite(event["conditioning"]) else ""
    lost = f", {event['loss']:.3g} J lost" if event["loss"] and np.isfinite(event["loss"]) else ""
    return f"{event['kind']}{singular}{lost}"


def run_lines(run: Simulation) -> list[tuple[str, str]]:
    """Lines of the summary of a run, as pairs of a heading and a text; how it ended comes first."""
    data = run.data
    lines = [
        ("ended" if run.status in _ENDS else "failed", _how_it_ended(run)),
        ("cost", _cost(run)),
        ("loops open by at most", f"{run.max_drift:.1e} m" if data.sizes["loop"] else "no loops"),
        ("energy error", _energy(run)),
    ]
    if "immobile" in data.attrs:
        lines.insert(1, ("mobility", "none: the constraints bind all velocities, nothing can move"))
    if "error" in data and data["error"].size:
        lines.append(("tracking error", _tracking(run)))
    if data.attrs["controller"] != "none" and data.sizes["actuator"]:
        lines.append(("largest efforts", _efforts(run)))
        if run.time.size > 1:
            lines.append(("RMS efforts", _rms_efforts(run)))
    if data.sizes["event"]:
        lines.append(("events", _events(run)))
    lines += [("beyond limit" if motor.beyond else "limit", str(motor)) for motor in motors_at_limits(run)]
    lines += [("beyond rating", text) for text in beyond_ratings(run)]
    return lines


def summary(run: Simulation) -> str:
    """Summary of a run as a text, for `print`."""
    data = run.data
    title = f"{kind_of_run(run)} of {data.attrs['plant']}, {data.sizes['time']} times from {run.time[0]:.6g} s"
    return "\n".join([title, *(f"  {what:<22} {text}" for what, text in run_lines(run))])


def _how_it_ended(run: Simulation) -> str:
    """Message of a run, with its last time where it does not tell one."""
    message = run.message.rstrip(".")
    return message if " t = " in message else f"{message}, at {run.time[-1]:.6g} s"


def _cost(run: Simulation) -> str:
    attrs = run.data.attrs
    implicit = f" ({attrs['implicit_steps']} implicit)" if attrs.get("implicit_steps") else ""
    return f"{attrs['steps']} steps{implicit}, {attrs['evaluations']} evaluations"


def _energy(run: Simulation) -> str:
    error = run.max_energy_error
    return f"{error:.1e} J" if np.isfinite(error) else "unknown: the plant gives no potential energy, or the run failed"


def tracking_errors(run: Simulation) -> dict[str, NDArray[np.float64]]:
    """Tracking error over time of the worst coordinate, by unit: lengths and angles have no common size."""
    from .units import column_units

    error, units = np.abs(run.data["error"].values), column_units(run, "error")
    return {unit: error[:, [k for k, u in enumerate(units) if u == unit]].max(axis=1) for unit in dict.fromkeys(units)}


def _tracking(run: Simulation) -> str:
    """Text with the tracking error at both ends and its largest value, for each unit."""
    return "; ".join(
        f"{worst[0]:.3g} -> {worst[-1]:.3g} {unit} (largest {np.nanmax(worst, initial=0.0):.3g})"
        for unit, worst in tracking_errors(run).items()
    )


def _efforts(run: Simulation) -> str:
    """Text with the largest effort of each motor, and with its limit where that is reached."""
    from .units import column_units

    peaks = np.nanmax(np.abs(run.data["u"].values), axis=0, initial=0.0)
    names, units = run.data["actuator"].values, column_units(run, "u")
    limits = {motor.motor: f" of {in_unit(motor.limit, motor.unit)}" for motor in motors_at_limits(run)}
    told = zip(names, peaks, units, strict=True)
    return ", ".join(f"{name} {in_unit(x, unit)}{limits.get(str(name), '')}" for name, x, unit in told)


def _rms_efforts(run: Simulation) -> str:
    """Text with the RMS effort of each motor, as a share of its rating where that is known, and the peak power."""
    from .units import column_units

    names, units, (continuous, _) = run.data["actuator"].values, column_units(run, "u"), ratings(run)
    told = []
    for name, unit, x, rated in zip(names, units, rms(run.time, run.data["u"].values), continuous, strict=True):
        share = f" ({100.0 * x / rated:.3g} % of continuous)" if np.isfinite(rated) else ""
        told.append(f"{name} {in_unit(x, unit)}{share}")
    power = np.abs(run.data["actuator_power"].values)
    peak = f"; power at most {in_unit(np.nanmax(power), 'W')}" if np.isfinite(power).any() else ""
    return ", ".join(told) + peak


def _events(run: Simulation) -> str:
    events = run.events()
    told = [f"{event['kind']} at {event['time']:.4g} s" for event in events[:_EVENTS]]
    return ", ".join(told) + (f", {len(events)} in all" if len(events) > _EVENTS else "")

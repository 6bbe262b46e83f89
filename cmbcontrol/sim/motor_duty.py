"""What a run asks of the motors over its time: RMS and peak efforts, speeds and powers, beside their ratings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.units import in_unit
from .motor_limits import effort_limits

if TYPE_CHECKING:
    import pandas

    from .result import Simulation

__all__ = ["SPEEDS", "beyond_ratings", "motor_speeds", "motor_table", "ratings", "rms"]

Array = NDArray[np.float64]

SPEEDS = {"N m": "rad/s", "N": "m/s"}  # of motors, by the unit of their efforts
_SAME = 1e-6  # of a rating: what is as near as this does not exceed it


def rms(t: Array, y: Array) -> Array:
    """RMS over time of columns (times, n), by the trapezoidal rule for their squares; nan for fewer than two times.

    What is not known, at the end of a run that failed, is left out.
    """
    square, steps = 0.5 * (y[1:] ** 2 + y[:-1] ** 2), np.diff(t)[:, None]
    known = np.isfinite(square)
    time = (known * steps).sum(axis=0)
    total = np.where(known, square * steps, 0.0).sum(axis=0)
    return np.sqrt(np.divide(total, time, out=np.full(y.shape[1], np.nan), where=time > 0.0))


def ratings(run: Simulation) -> tuple[Array, Array]:
    """Continuous efforts and largest speeds of the motors, (nu,) each; nan where they are not known."""
    known = {a.name: a for a in getattr(run.plant, "actuators", ())}
    motors = [known.get(str(name)) for name in run.data["actuator"].values]
    of = [[np.nan if (x := getattr(m, key, None)) is None else x for m in motors] for key in ("continuous", "speed")]
    return np.array(of[0], dtype=float), np.array(of[1], dtype=float)


def motor_speeds(run: Simulation) -> Array:
    """Speeds of the motors (times, nu), on which their efforts do work: B'v; nan where the plant is not known."""
    plant, data = run.plant, run.data
    q, v = data["q"].values, data["v"].values
    speeds = np.full((run.time.size, data.sizes["actuator"]), np.nan)
    if plant is None or not speeds.size:
        return speeds
    motors = getattr(plant, "actuators", None)
    if motors is not None and all(not a.bodies and a.joint in plant.velocity_names for a in motors):
        return v[:, [plant.velocity_names.index(a.joint) for a in motors]] * [a.gear for a in motors]
    for k in np.flatnonzero(np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)):
        speeds[k] = v[k] @ plant.terms(q[k], v[k], float(run.time[k]), check=False).B
    return speeds


def motor_table(run: Simulation) -> pandas.DataFrame:
    """Table of what the run asks of each motor; see `Simulation.motors`."""
    import pandas

    from .units import column_units

    t, u, units = run.time, run.data["u"].values, column_units(run, "u")
    speeds, (continuous, fastest) = motor_speeds(run), ratings(run)
    effort = rms(t, u)
    columns: dict[str, Any] = {"unit": units, "rms": effort}
    columns["peak"], columns["peak_time"] = _peaks(t, u)
    columns |= {"limit": effort_limits(run), "continuous": continuous, "share": effort / continuous}
    columns |= {"speed_unit": [SPEEDS.get(unit, "") for unit in units], "rms_speed": rms(t, speeds)}
    columns["peak_speed"], columns["peak_speed_time"] = _peaks(t, speeds)
    columns["speed_limit"] = fastest
    columns["peak_power"], columns["peak_power_time"] = _peaks(t, u * speeds)
    index = pandas.Index([str(name) for name in run.data["actuator"].values], name="motor")
    return pandas.DataFrame(columns, index=index)


def _peaks(t: Array, y: Array) -> tuple[Array, Array]:
    """Largest sizes of columns (times, n), and when they are first; nan where nothing is known."""
    sizes = np.where(np.isfinite(y), np.abs(y), -1.0)
    at = sizes.argmax(axis=0)
    largest = np.take_along_axis(sizes, at[None], axis=0)[0]
    known = largest >= 0.0
    return np.where(known, largest, np.nan), np.where(known, t[at], np.nan)


def beyond_ratings(run: Simulation) -> Iterator[str]:
    """Sentences about motors that are too hot if the run goes on like this, or turn faster than they can."""
    from .units import column_units

    (continuous, fastest), units = ratings(run), column_units(run, "u")
    effort, t = rms(run.time, run.data["u"].values), run.time
    peaks, times = _peaks(t, motor_speeds(run)) if np.isfinite(fastest).any() else (fastest, fastest)
    for k, (name, unit) in enumerate(zip(run.data["actuator"].values, units, strict=True)):
        if effort[k] > continuous[k] * (1.0 + _SAME):
            yield (
                f"motor {str(name)!r} gives {in_unit(effort[k], unit)} RMS over {t[-1] - t[0]:.4g} s, "
                f"{effort[k] / continuous[k]:.3g} times its continuous {in_unit(continuous[k], unit)}: going on like "
                "this it overheats"
            )
        if peaks[k] > fastest[k] * (1.0 + _SAME):
            speed = SPEEDS.get(unit, "")
            yield (
                f"motor {str(name)!r} reaches {in_unit(peaks[k], speed)} at t = {times[k]:.4g} s, above its largest "
                f"speed of {in_unit(fastest[k], speed)}"
            )

"""Ready measures of studies: functions of a run, or of a linear model, to a number, with a unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..linear.model import LinearModel
from ..sim.result import Simulation

__all__ = [
    "damping",
    "dissipated_energy",
    "final_error",
    "motor_energy",
    "peak_effort",
    "peak_multiplier",
    "rms_error",
    "settling_time",
    "share_at_limits",
    "slowest_pole",
    "worst_conditioning",
    "worst_error",
]

Array = NDArray[np.float64]
Measure = Callable[[Any], float]


class _Measure:
    """A function with a unit; it can be sent to other processes."""

    def __init__(self, function: Callable[..., float], unit: str, **options: Any) -> None:
        self.function, self.unit, self.options = function, unit, options

    def __call__(self, found: Any) -> float:
        return float(self.function(found, **self.options))

    def __repr__(self) -> str:
        return f"{self.function.__name__.lstrip('_')}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


def _errors(run: Simulation, name: str | None, after: float) -> Array:
    """Tracking errors (times, k) of one controlled value, or of all."""
    if not isinstance(run, Simulation) or "error" not in run.data:
        raise InputError("the run has no error: its law has no reference; write a measure of your own")
    names = [str(n) for n in run.data["controlled"].values]
    columns = slice(None) if name is None else [names.index(_check.one_of(name, names, "controlled value"))]
    return run.error.values[run.time >= after][:, columns]


def _worst(run: Simulation, name: str | None, after: float) -> float:
    return float(np.abs(_errors(run, name, after)).max())


def worst_error(name: str | None = None, *, after: float = 0.0) -> Measure:
    """Largest tracking error of a controlled joint or task value, or of all, after a time (s); rad or m."""
    return _Measure(_worst, "", name=name, after=_check.positive(after, "after", zero=True))


def _rms(run: Simulation, name: str | None, after: float) -> float:
    e, t = _errors(run, name, after), run.time[run.time >= after]
    return float(np.sqrt(np.trapezoid((e**2).sum(axis=1), t) / (t[-1] - t[0])))


def rms_error(name: str | None = None, *, after: float = 0.0) -> Measure:
    """Root of the mean square of the tracking error, over time; rad or m."""
    return _Measure(_rms, "", name=name, after=_check.positive(after, "after", zero=True))


def _final(run: Simulation, name: str | None) -> float:
    return float(np.abs(_errors(run, name, -np.inf)[-1]).max())


def final_error(name: str | None = None) -> Measure:
    """Tracking error at the end of the run; rad or m."""
    return _Measure(_final, "", name=name)


def _settling(run: Simulation, within: float, name: str | None) -> float:
    outside = np.flatnonzero(np.abs(_errors(run, name, -np.inf)).max(axis=1) > within)
    if not outside.size:
        return 0.0
    last = int(outside[-1])
    return float(run.time[last + 1]) if last + 1 < len(run.time) else np.nan


def settling_time(within: float, name: str | None = None) -> Measure:
    """Time after which the tracking error stays within a bound, s; nan where it does not."""
    return _Measure(_settling, "s", within=_check.positive(within, "within"), name=name)


def _efforts(run: Simulation, motor: str | None) -> Array:
    names = [str(n) for n in run.data["actuator"].values]
    columns = slice(None) if motor is None else [names.index(_check.one_of(motor, names, "motor"))]
    return run.u.values[:, columns]


def _peak(run: Simulation, motor: str | None) -> float:
    return float(np.abs(_efforts(run, motor)).max(initial=0.0))


def peak_effort(motor: str | None = None) -> Measure:
    """Largest effort of a motor, or of all; N or N m."""
    return _Measure(_peak, "", motor=motor)


def _at_limits(run: Simulation, tolerance: float) -> float:
    if run.plant is None:
        raise InputError("the run has no plant, whose efforts are limited")
    limit = np.asarray(run.plant.effort)
    return float((np.abs(run.u.values) >= (1.0 - tolerance) * limit).any(axis=1).mean())


def share_at_limits(tolerance: float = 1e-6) -> Measure:
    """Part of the time in which a motor is at its limit."""
    return _Measure(_at_limits, "1", tolerance=_check.positive(tolerance, "tolerance"))


def _motor_work(run: Simulation) -> float:
    return float(run.data["actuator_work"].values[-1])


def motor_energy() -> Measure:
    """Work of the motors over the run, J."""
    return _Measure(_motor_work, "J")


def _dissipated(run: Simulation) -> float:
    return float(run.data["dissipated_work"].values[-1])


def dissipated_energy() -> Measure:
    """What dampers and friction take over the run, J."""
    return _Measure(_dissipated, "J")


def _conditioning(run: Simulation) -> float:
    return float(run.data["conditioning"].min())


def worst_conditioning() -> Measure:
    """Smallest conditioning of the constraints: 0 at a singular configuration, 1 at best."""
    return _Measure(_conditioning, "1")


def _multiplier(run: Simulation, row: str) -> float:
    names = [str(n) for n in run.data["row"].values]
    return float(np.abs(run.multipliers.values[:, names.index(_check.one_of(row, names, "row"))]).max())


def peak_multiplier(row: str) -> Measure:
    """Largest multiplier of a row of the constraints: N, or N m."""
    return _Measure(_multiplier, "", row=row)


def _poles(model: Any) -> Array:
    if not isinstance(model, LinearModel):
        raise InputError(f"this measure is that of a LinearModel, and the case returned {type(model).__name__}")
    return model.poles()


def _slowest(model: Any) -> float:
    return float(_poles(model).real.max())


def slowest_pole() -> Measure:
    """Largest real part of the poles of a linear model, 1/s: below zero where it is stable."""
    return _Measure(_slowest, "1/s")


def _damping(model: Any) -> float:
    poles = _poles(model)
    sizes = np.abs(poles)
    return float((-poles.real[sizes > 0.0] / sizes[sizes > 0.0]).min(initial=1.0))


def damping() -> Measure:
    """Smallest damping ratio of the poles of a linear model."""
    return _Measure(_damping, "1")

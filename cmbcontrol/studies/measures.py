"""Ready measures of studies: functions of a run, or of a linear model, to a number, with a unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.actuation import actuation_along
from ..controllers.closed_loop import ClosedLoop
from ..controllers.loop_margins import LoopMargins, Margins
from ..dynamics.nearest_singular import nearest_singular_configuration
from ..errors import InputError, SingularConfigurationError
from ..linear.model import LinearModel
from ..sim.result import Simulation
from ..sim.units import column_units

__all__ = [
    "bandwidth",
    "closest_singularity",
    "damping",
    "delay_margin",
    "disk_margin",
    "dissipated_energy",
    "final_error",
    "gain_margin",
    "motor_energy",
    "overshoot",
    "peak_effort",
    "peak_multiplier",
    "peak_reaction",
    "phase_margin",
    "rms_error",
    "settling_time",
    "share_at_limits",
    "slowest_pole",
    "smallest_actuation",
    "worst_conditioning",
    "worst_error",
]

Array = NDArray[np.float64]
Measure = Callable[[Any], float]


class _Measure:
    """Function of a result with a unit, fixed or found from a run; it can be sent to other processes."""

    def __init__(self, function: Callable[..., float], unit: str | Callable[..., str], **options: Any) -> None:
        self.function, self.options = function, options
        self.unit = unit if isinstance(unit, str) else ""
        self._unit_of = None if isinstance(unit, str) else unit

    def __call__(self, found: Any) -> float:
        return float(self.function(found, **self.options))

    def unit_of(self, found: Any) -> str:
        """Unit of the measure, for a result."""
        return self.unit if self._unit_of is None else self._unit_of(found, **self.options)

    def __repr__(self) -> str:
        return f"{self.function.__name__.lstrip('_')}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


def _column_unit(run: Any, variable: str, name: str | None) -> str:
    """Unit of one column, or of all if they have the same."""
    values = run.data[variable]
    names, units = [str(n) for n in values[values.dims[1]].values], column_units(run, variable)
    found = set(units) if name is None else {units[names.index(name)]}
    return found.pop() if len(found) == 1 else ""


def _error_unit(run: Any, name: str | None, **_: Any) -> str:
    return _column_unit(run, "error", name)


def _effort_unit(run: Any, motor: str | None) -> str:
    return _column_unit(run, "u", motor)


def _multiplier_unit(run: Any, row: str) -> str:
    return _column_unit(run, "multipliers", row)


def _of_one_unit(run: Simulation, variable: str, one: str) -> None:
    """Refuse a measure of several columns at once whose numbers cannot be compared."""
    values, units = run.data[variable], column_units(run, variable)
    if len(set(units)) > 1:
        names = (str(name) for name in values[values.dims[1]].values)
        told = ", ".join(f"{name} ({unit or 'no unit'})" for name, unit in zip(names, units, strict=True))
        raise InputError(
            f"a measure of {told} at once would compare different units; name one {one}, or write a measure of your own"
        )


def _errors(run: Simulation, name: str | None, after: float) -> Array:
    """Tracking errors (times, k) of one controlled value, or of all, which then have one unit."""
    if not isinstance(run, Simulation) or "error" not in run.data:
        raise InputError("the run has no error: its law has no reference; write a measure of your own")
    if name is None:
        _of_one_unit(run, "error", "controlled value")
    return run.error.values[run.time >= after][:, _columns(run, "controlled", name, "controlled value")]


def _columns(run: Simulation, dimension: str, name: str | None, what: str) -> Any:
    """Index of one column by its name, or of all."""
    names = [str(n) for n in run.data[dimension].values]
    return slice(None) if name is None else [names.index(_check.one_of(name, names, what))]


def _worst(run: Simulation, name: str | None, after: float) -> float:
    return float(np.abs(_errors(run, name, after)).max())


def worst_error(name: str | None = None, *, after: float = 0.0) -> Measure:
    """Largest tracking error of a controlled joint or task value, or of all, after a time (s); rad or m."""
    return _Measure(_worst, _error_unit, name=name, after=_check.positive(after, "after", zero=True))


def _rms(run: Simulation, name: str | None, after: float) -> float:
    e, t = _errors(run, name, after), run.time[run.time >= after]
    return float(np.sqrt(np.trapezoid((e**2).sum(axis=1), t) / (t[-1] - t[0])))


def rms_error(name: str | None = None, *, after: float = 0.0) -> Measure:
    """Root of the mean square of the tracking error, over time; rad or m."""
    return _Measure(_rms, _error_unit, name=name, after=_check.positive(after, "after", zero=True))


def _final(run: Simulation, name: str | None) -> float:
    return float(np.abs(_errors(run, name, -np.inf)[-1]).max())


def final_error(name: str | None = None) -> Measure:
    """Tracking error at the end of the run; rad or m."""
    return _Measure(_final, _error_unit, name=name)


def _settling(run: Simulation, within: float, name: str | None) -> float:
    outside = np.flatnonzero(np.abs(_errors(run, name, -np.inf)).max(axis=1) > within)
    if not outside.size:
        return 0.0
    last = int(outside[-1])
    return float(run.time[last + 1]) if last + 1 < len(run.time) else np.nan


def settling_time(within: float, name: str | None = None) -> Measure:
    """Time after which the tracking error stays within a bound, s; nan where it does not."""
    return _Measure(_settling, "s", within=_check.positive(within, "within"), name=name)


def _overshoot(run: Simulation, name: str | None) -> float:
    e, columns = _errors(run, name, -np.inf), _columns(run, "controlled", name, "controlled value")
    reference = run.reference.values[:, columns]
    goal, position = reference[-1], reference - e
    way = goal - position[0]  # from where the run starts
    return float(np.maximum((position - goal) * np.sign(way), 0.0).max())


def overshoot(name: str | None = None) -> Measure:
    """Overshoot of a controlled value beyond the last value of its reference, seen from its start; rad or m."""
    return _Measure(_overshoot, _error_unit, name=name)


def _efforts(run: Simulation, motor: str | None) -> Array:
    if motor is None:
        _of_one_unit(run, "u", "motor")
    return run.u.values[:, _columns(run, "actuator", motor, "motor")]


def _peak(run: Simulation, motor: str | None) -> float:
    return float(np.abs(_efforts(run, motor)).max(initial=0.0))


def peak_effort(motor: str | None = None) -> Measure:
    """Largest effort of a motor, or of all; N or N m."""
    return _Measure(_peak, _effort_unit, motor=motor)


def _at_limits(run: Simulation, tolerance: float) -> float:
    if run.plant is None:
        raise InputError("the run has no plant, whose efforts are limited")
    limit = np.asarray(run.plant.effort)
    return float((np.abs(run.u.values) >= (1.0 - tolerance) * limit).any(axis=1).mean())


def share_at_limits(tolerance: float = 1e-6) -> Measure:
    """Fraction of the time in which a motor is at its limit."""
    return _Measure(_at_limits, "1", tolerance=_check.positive(tolerance, "tolerance"))


def _motor_work(run: Simulation) -> float:
    return float(run.data["actuator_work"].values[-1])


def motor_energy() -> Measure:
    """Work of the motors over the run, J."""
    return _Measure(_motor_work, "J")


def _dissipated(run: Simulation) -> float:
    return float(run.data["dissipated_work"].values[-1])


def dissipated_energy() -> Measure:
    """Energy that dampers and friction take over the run, J."""
    return _Measure(_dissipated, "J")


def _conditioning(run: Simulation) -> float:
    return float(run.data["conditioning"].min())


def worst_conditioning() -> Measure:
    """Smallest conditioning of the constraints: 0 at a singular configuration, 1 at best."""
    return _Measure(_conditioning, "1")


def _multiplier(run: Simulation, row: str) -> float:
    return float(np.abs(run.multipliers.values[:, _columns(run, "row", row, "row")]).max())


def peak_multiplier(row: str) -> Measure:
    """Largest multiplier of a row of the constraints: N, or N m."""
    return _Measure(_multiplier, _multiplier_unit, row=row)


def _reaction(run: Simulation, joint: str, what: str) -> float:
    found = run.reactions()[what]
    names = [str(n) for n in found["joint"].values]
    values = found.values[:, names.index(_check.one_of(joint, names, "joint"))]
    return float(np.linalg.norm(values, axis=1).max())


def peak_reaction(joint: str, what: str = "force") -> Measure:
    """Largest ``"force"`` (N) or ``"moment"`` (N m) that a joint or constraint carries."""
    unit = "N" if _check.option(what, ("force", "moment"), "what") == "force" else "N m"
    return _Measure(_reaction, unit, joint=joint, what=what)


def _actuation(run: Simulation) -> float:
    return float(actuation_along(run.plant, run)["margin"].min())


def smallest_actuation() -> Measure:
    """Smallest margin of the actuation condition along the run (Aghili, eq. 64): 0 where the motors lose control."""
    return _Measure(_actuation, "1")


def _closest(run: Simulation) -> float:
    """Distance from the worst conditioned configuration of a run to a singular one that a search finds, or inf."""
    plant, q = run.plant, run.q.values[int(np.argmin(run.data["conditioning"].values))]
    try:
        singular = nearest_singular_configuration(plant, q, within=1e3)
    except SingularConfigurationError:
        return np.inf
    return float(np.abs(plant.difference(q, singular) / plant.displacement_scale).max(initial=0.0))


def closest_singularity() -> Measure:
    """Distance to the closest singular configuration that is found: largest change of a coordinate, rad (or sizes).

    Lengths count in sizes of the machine. The search starts at the worst conditioned configuration of the run; inf
    where none is found.
    """
    return _Measure(_closest, "rad")


def _poles(model: Any) -> NDArray[np.complex128]:
    if not isinstance(model, (LinearModel, ClosedLoop)):
        raise InputError(f"this measure is that of a linear model, and the case returned {type(model).__name__}")
    return model.continuous_poles() if isinstance(model, ClosedLoop) else model.poles()


def _slowest(model: Any) -> float:
    return float(_poles(model).real.max())


def slowest_pole() -> Measure:
    """Largest real part of the poles of a linear model, 1/s: below zero where it is stable."""
    return _Measure(_slowest, "1/s")


def _damping(model: Any) -> float:
    poles = _poles(model)
    poles = poles[np.isfinite(poles) & (np.abs(poles) > 0.0)]
    return float((-poles.real / np.abs(poles)).min(initial=1.0))


def damping() -> Measure:
    """Smallest damping ratio of the poles of a linear model; of a sampled loop, of its poles in continuous time."""
    return _Measure(_damping, "1")


def _loop(model: Any) -> ClosedLoop:
    if not isinstance(model, ClosedLoop):
        raise InputError(f"this measure is that of a closed loop, and the case returned {type(model).__name__}")
    return model


def _bandwidth(model: Any, coordinate: str) -> float:
    return _loop(model).bandwidth(coordinate) if _loop(model).stable else 0.0


def bandwidth(coordinate: str) -> Measure:
    """Frequency up to which a coordinate follows its reference, rad/s; see `ClosedLoop.bandwidth`. 0 if unstable."""
    return _Measure(_bandwidth, "rad/s", coordinate=coordinate)


def _margins(model: Any, at: str) -> Margins | None:
    """Margins of a stable loop, broken at its inputs or outputs; None where it is unstable or has none."""
    loop = _loop(model)
    try:
        found = loop.margins(at)
    except InputError:  # it has none
        return None
    return found if found.stable else None


def _disk(model: Any, at: str) -> float:
    found = _margins(model, at)
    return 0.0 if found is None else found.disk


def disk_margin(at: str = "input") -> Measure:
    """Disk margin of all channels of a closed loop at once, see `Margins`; 0 where it is unstable."""
    return _Measure(_disk, "1", at=_check.option(at, ("input", "output"), "at"))


def _channels(model: Any, channel: str | None, at: str) -> list[LoopMargins]:
    """Margins of one channel, or of all; empty for an unstable loop."""
    found = _margins(model, at)
    if found is None:
        return []
    names = [loop.channel for loop in found.loops]
    if channel is None:
        return list(found.loops)
    return [found.loops[names.index(_check.one_of(channel, names, "channel"))]]


def _least(values: Iterable[float]) -> float:
    """Least of some values; 0 if there are none."""
    return min(values, default=0.0)


def _gain(model: Any, channel: str | None, at: str) -> float:
    return _least(min(one.gain_up, -one.gain_down) for one in _channels(model, channel, at))


def gain_margin(channel: str | None = None, *, at: str = "input") -> Measure:
    """Smallest change of the gain of a channel, or of any, that makes a closed loop unstable, dB; 0 if it is."""
    return _Measure(_gain, "dB", channel=channel, at=_check.option(at, ("input", "output"), "at"))


def _phase(model: Any, channel: str | None, at: str) -> float:
    return _least(one.phase for one in _channels(model, channel, at))


def phase_margin(channel: str | None = None, *, at: str = "input") -> Measure:
    """Smallest change of the phase of a channel, or of any, that makes a closed loop unstable, deg; 0 if it is."""
    return _Measure(_phase, "deg", channel=channel, at=_check.option(at, ("input", "output"), "at"))


def _delay(model: Any, channel: str | None, at: str) -> float:
    return _least(one.delay for one in _channels(model, channel, at))


def delay_margin(channel: str | None = None, *, at: str = "input") -> Measure:
    """Smallest further delay of a channel, or of any, that makes a closed loop unstable, s; 0 if it is."""
    return _Measure(_delay, "s", channel=channel, at=_check.option(at, ("input", "output"), "at"))

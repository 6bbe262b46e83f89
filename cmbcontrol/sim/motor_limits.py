"""Motors that reach their limits in a run, and laws that ask for more than the motors have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model.units import in_unit

if TYPE_CHECKING:
    from .result import Simulation

__all__ = ["MotorAtLimit", "effort_limits", "motors_at_limits"]

Array = NDArray[np.float64]

_SAME = 1e-6  # of a limit: efforts as near as this are at it, since programs with limits end a little inside


@dataclass(frozen=True)
class MotorAtLimit:
    """Motor that reaches its limit in a run.

    Attributes
    ----------
    motor, joint : str
        Names; of a motor between two bodies, both.
    unit : str
        N m or N; "" for plants given by functions.
    limit : float
        Largest effort of the motor.
    asked : float
        Largest effort that was asked of it, at the output times of the run.
    time : float
        Time of this largest effort, s; where no more than the limit was asked, the first time at the limit.
    share : float
        Fraction of the time at the limit or above, from 0 to 1.
    """

    motor: str
    joint: str
    unit: str
    limit: float
    asked: float
    time: float
    share: float

    @property
    def beyond(self) -> bool:
        """Whether more was asked than the motor has, so that a real machine will not move like this."""
        return self.asked > self.limit * (1.0 + _SAME)

    def __str__(self) -> str:
        place = f" on {self.joint}" if self.joint != self.motor else ""
        limit, percent = in_unit(self.limit, self.unit), 100.0 * self.share
        part = f"{percent:.0f} %" if percent >= 10.0 else f"{percent:.2g} %"
        if self.beyond:
            asked = in_unit(self.asked, self.unit)
            return (
                f"the law asks up to {asked} of motor {self.motor!r}{place} (limit {limit}) at t = {self.time:.4g} s, "
                f"above its limit for {part} of the time"
            )
        return (
            f"motor {self.motor!r}{place} is at its limit of {limit} for {part} of the time, first at t = "
            f"{self.time:.4g} s"
        )


def effort_limits(run: Simulation) -> Array:
    """Largest efforts of the motors, (nu,); infinite where there is no limit, or none is known."""
    if "effort_limit" in run.data:
        return run.data["effort_limit"].values
    count = run.data.sizes["actuator"]  # files of older versions
    return np.full(count, np.inf) if run.plant is None else np.asarray(run.plant.effort, dtype=float)


def motors_at_limits(run: Simulation) -> list[MotorAtLimit]:
    """Motors whose limits are reached, in the order of the motors; see `Simulation.motors_at_limits`."""
    from .units import column_units

    data, limits = run.data, effort_limits(run)
    # what drives make of a command may be another quantity (a valve): the larger of both is at the limit first
    asked = np.fmax(np.abs(data["u"].values), np.abs(data["command"].values if "command" in data else 0.0))
    joints = {a.name: a.joint or "{} and {}".format(*a.bodies) for a in getattr(run.plant, "actuators", ())}
    found = []
    for k, (name, unit) in enumerate(zip(data["actuator"].values, column_units(run, "u"), strict=True)):
        effort, limit = asked[:, k], float(limits[k])
        largest = float(np.nanmax(effort, initial=0.0))
        if not np.isfinite(limit) or largest < limit * (1.0 - _SAME):
            continue
        beyond = largest > limit * (1.0 + _SAME)
        border = limit * (1.0 + _SAME if beyond else 1.0 - _SAME)
        at = np.nanargmax(effort) if beyond else np.flatnonzero(effort >= border)[0]
        share = _share_above(run.time, effort, border)
        found.append(
            MotorAtLimit(str(name), str(joints.get(name, name)), unit, limit, largest, float(run.time[at]), share)
        )
    return found


def _share_above(t: Array, y: Array, border: float) -> float:
    """Fraction of the time with y, linear between the times, at a border or above; for one time, 0 or 1."""
    if t.size < 2 or t[-1] <= t[0]:
        return float(np.mean(y >= border))
    a, b = y[:-1] - border, y[1:] - border
    low, high = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = np.where(low >= 0.0, 1.0, np.where(high < 0.0, 0.0, high / (high - low)))
    return float(np.nansum(crossed * np.diff(t)) / (t[-1] - t[0]))

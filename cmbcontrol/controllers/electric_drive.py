"""Electric drives: current, voltage and gear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of, where_less
from .chain import EffortBlock, Setting, per_motor, require_one_each, require_values

__all__ = ["ElectricDrive"]

Array = NDArray[np.float64]

_NUMBERS = ("torque_constant", "gear", "current", "resistance", "voltage", "time_constant", "efficiency")


@frozen
class ElectricDrive(EffortBlock):
    """Servo motors with gears: efforts limited by current and bus voltage, with the losses of the gear.

    The current i for an effort u is u / (torque_constant gear), at most `current`, and where there is a `resistance` at
    most what the bus drives against the back electromotive force, |resistance i + torque_constant gear w| <= voltage
    (peaks), with the velocity w = B'v of the joint. Behind a current loop it lags by `time_constant`. Through the gear
    comes ``efficiency`` of it where the motor drives the joint, and 1 / efficiency where the joint drives the motor.
    Inertia of the rotor is the `armature` of the joint, gear^2 times it; friction is `DriveFriction`.

    Part of the machine: behind the held efforts of a sampled law it moves in continuous time.

    Parameters
    ----------
    torque_constant : float, array_like (nu,), or mapping of motor name to float
        Torque constant, N m/A (N/A): also V s/rad of the back electromotive force.
    gear : float, array_like (nu,), or mapping
        Turns of the motor per turn of the joint.
    current : float, array_like (nu,), or mapping
        Largest current, A.
    resistance, voltage : float, array_like (nu,), or mapping
        Resistance, ohm, and voltage of the bus, V. With a resistance of 0 the voltage limits nothing.
    time_constant : float, array_like (nu,), or mapping
        Time constant of the current loop, s; 0 for one without lag.
    efficiency : float, array_like (nu,), or mapping
        Efficiency of the gear, above 0 and up to 1.
    width : float
        Velocity over which the efficiency changes with the direction of power, rad/s or m/s.
    plant : Plant, optional
        Plant that has the names of motors, where the law has no plant of its own.

    Examples
    --------
    >>> drive = ElectricDrive(torque_constant=0.1, gear=50.0, current=10.0)
    >>> drive.limited(np.array([20.0, -80.0]), np.zeros(2))
    array([ 20., -50.])
    """

    torque_constant: Held[ArrayLike | Mapping[str, float], Any]
    gear: Held[ArrayLike | Mapping[str, float], Any] = held(1.0)
    current: Held[ArrayLike | Mapping[str, float], Any] = held(np.inf)
    resistance: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    voltage: Held[ArrayLike | Mapping[str, float], Any] = held(np.inf)
    time_constant: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    efficiency: Held[ArrayLike | Mapping[str, float], Any] = held(1.0)
    width: float = 1e-3
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    place = "machine"

    def __post_init__(self) -> None:
        _check.positive(self.width, "the width of ElectricDrive")
        for name in _NUMBERS:
            require_values(getattr(self, name), f"the {name} of ElectricDrive")

    def bound(self, setting: Setting) -> Self:
        found: dict[str, Any] = {
            name: per_motor(getattr(self, name), setting, self, f"the {name} of ElectricDrive") for name in _NUMBERS
        }
        for name in ("torque_constant", "gear", "resistance", "time_constant", "efficiency"):
            if not np.isfinite(found[name]).all():
                raise InputError(f"the {name} of ElectricDrive must be finite, got {found[name].tolist()}")
        for name in ("torque_constant", "gear", "current", "voltage", "efficiency"):
            if (found[name] == 0.0).any():
                raise InputError(f"the {name} of ElectricDrive must be > 0 for each motor, got {found[name].tolist()}")
        if (found["efficiency"] > 1.0).any():
            raise InputError(f"the efficiency of ElectricDrive is at most 1, got {found['efficiency'].tolist()}")
        if np.any((found["resistance"] > 0.0) & np.isinf(found["voltage"])):
            raise InputError("a resistance of ElectricDrive limits nothing without a voltage; give voltage=, V")
        return replace(self, **found)

    def start(self, plant: Plant) -> Array:
        for name in _NUMBERS:
            require_one_each(np.asarray(getattr(self, name)), plant, f"the {name} of ElectricDrive")
        return np.zeros(plant.nu if self._lags else 0)

    @property
    def _lags(self) -> bool:
        return bool(np.any(np.asarray(self.time_constant) > 0.0))

    def count(self, terms: Terms) -> int:
        return terms.B.shape[1] if self._lags else 0

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{n}_drive_effort" for n in plant.actuator_names] if self._lags else []

    def limited(self, u: ArrayLike, w: ArrayLike) -> Array:
        """Efforts (nu,) that current and voltage allow at joint velocities w (nu,), before the gear's losses."""
        u, w = numbers_of(u), numbers_of(w)
        per_ampere = np.asarray(self.torque_constant) * np.asarray(self.gear)
        most = per_ampere * np.asarray(self.current)
        u = np.minimum(np.maximum(u, -most), most)
        resistance = np.asarray(self.resistance)
        if not np.any(resistance > 0.0):
            return u
        driven = resistance > 0.0
        ohm, volt = np.where(driven, resistance, 1.0), np.where(driven, self.voltage, 0.0)
        high = per_ampere / ohm * (volt - per_ampere * w)
        low = per_ampere / ohm * (-volt - per_ampere * w)
        # a joint that is turned faster than the bus allows brakes itself, by no more than the largest current
        within = np.minimum(np.maximum(u, np.maximum(low, -most)), np.minimum(high, most))
        within = np.minimum(np.maximum(within, -most), most)
        return within if driven.all() else where_less(0.0, 1.0 * driven, within, u)

    def _through_gear(self, u: Any, w: Any) -> Any:
        """Efforts at the joint, behind the gear: less where the motor drives, more where the joint does."""
        efficiency = np.asarray(self.efficiency)
        if not np.any(efficiency < 1.0):
            return u
        driving = 0.5 * (1.0 + np.tanh(w / self.width) * np.tanh(u / self._small))
        return u * (driving * efficiency + (1.0 - driving) / efficiency)

    @property
    def _small(self) -> Array:
        """Effort that counts as zero, a thousandth of the largest one, or of that of one ampere without a limit."""
        known = np.where(np.isfinite(self.current), self.current, 1.0)
        return 1e-3 * np.asanyarray(self.torque_constant) * np.asanyarray(self.gear) * known

    def cut(self, t: float, terms: Terms, u: Array, state: Array | None) -> Array:
        return self.limited(u, terms.v.dot(terms.B)) - u

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        w = terms.v.dot(terms.B)
        return self._through_gear(state if self._lags else self.limited(u, w), w)

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        if not self._lags:
            return state
        fastest = np.maximum(np.asarray(self.time_constant), 1e-6)
        return (self.limited(u, terms.v.dot(terms.B)) - state) / fastest

"""PID control of motors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..model.plant import Plant
from ..model.units import effort_units
from .motor_loop import MotorLoop
from .references import Reference

__all__ = ["PID"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class PID(MotorLoop):
    """PID control of motors, each of one coordinate, with set-point weights and a filtered derivative.

    With the reference r and the value y of a coordinate, the effort of its motor is

        u = kp (b r - y) + I + kd d + u_r,    dI/dt = ki (r - y),    Tf dd/dt + d = c dr/dt - dy/dt

    (Astrom and Hagglund, Advanced PID Control, 2006, section 3.4) where u_r are the efforts that the reference needs by
    the exact model. Where a limit behind the law cuts its effort off, the integral waits.

    Parameters
    ----------
    plant : Plant
        Model for the efforts ahead.
    reference : callable
        t -> (position, velocity, acceleration), (k,) each.
    kp, ki, kd : float or array_like (k,)
        Gains by unit of the coordinate: N m/rad, N m/(rad s) and N m s/rad of a motor that turns its joint, say.
    coordinates : sequence of str, optional
        Joints of one axis; defaults to those that motors drive.
    motors : sequence of str, optional
        The motor of each coordinate; defaults to the one at its joint.
    derivative_time : float or array_like (k,)
        Time constant Tf of the filter of the derivative, s; 0 for none. In sampled time the filter is discretised
        exactly for values that are held.
    set_point_weight, derivative_weight : float or array_like (k,)
        b and c: with 0 in place of 1 a step of the reference gives no step of the effort.
    feedforward : {"inverse-dynamics", "none"}
        Whether the efforts of the reference are added. For "inverse-dynamics" the coordinates determine the motion.
    at : array_like (nq,), optional
        Configuration on the branch of the reference, with closed loops; defaults to ``plant.assemble()``.
    period : float, optional
        Sample time, s; defaults to continuous time.

    Raises
    ------
    ValueError
        For unknown coordinates or motors, and values of other sizes.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, trim
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> law = PID(plant, Constant([2.1, 1.0]), kp=400.0, ki=800.0, kd=60.0, at=q0, period=1e-3)
    >>> law(0.0, plant.terms(q0, [0.0] * 4), law.start(plant)).round(2), trim(plant, q0).u.round(2)
    (array([-31.49,  32.91]), array([-31.49,  32.91]))
    """

    def __init__(
        self,
        plant: Plant,
        reference: Reference,
        *,
        kp: ArrayLike = 0.0,
        ki: ArrayLike = 0.0,
        kd: ArrayLike = 0.0,
        coordinates: Sequence[str] | None = None,
        motors: Sequence[str] | None = None,
        derivative_time: ArrayLike = 0.0,
        set_point_weight: ArrayLike = 1.0,
        derivative_weight: ArrayLike = 1.0,
        feedforward: str = "inverse-dynamics",
        at: ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        self._set_up(plant, reference, coordinates, motors, feedforward, at, period)
        self.kp, self.ki, self.kd = (self._each(x, what) for x, what in ((kp, "kp"), (ki, "ki"), (kd, "kd")))
        self.derivative_time = self._each_positive(derivative_time, "derivative_time")
        self.set_point_weight = self._each(set_point_weight, "set_point_weight")
        self.derivative_weight = self._each(derivative_weight, "derivative_weight")
        self._filtered = [k for k, tau in enumerate(self.derivative_time) if tau]
        tau = self.derivative_time[self._filtered]
        # the share of the distance to its input that a filter goes in a sample, or in a second
        self._pace = 1.0 / tau if self.period is None else -np.expm1(-self.period / tau)

    def state_names(self, plant: Plant) -> list[str]:
        filtered = [f"{self.coordinates[i]}_filtered_rate_error" for i in self._filtered]
        return [*super().state_names(plant), *filtered]

    def _loops(
        self, desired: tuple[Array, Array], actual: tuple[Array, Array], state: Array
    ) -> tuple[Array, Array, Array, dict[str, Any]]:
        (r, r_rate), (y, y_rate), k = desired, actual, len(self.coordinates)
        d, at = self.derivative_weight * r_rate - y_rate, self._filtered
        known = state[k:]
        moved = known + self._pace * (d[at] - known) if self.period is not None else self._pace * (d[at] - known)
        if at:
            d = np.stack([known[at.index(i)] if i in at else d[i] for i in range(k)])
        proportional = self.kp * (self.set_point_weight * r - y)
        u = proportional + state[:k] + self.kd * d
        report = {f"{n}_integral": x for n, x in zip(self.motors, state[:k], strict=True)}
        return u, self.ki * (r - y), moved, report

    no_gains: ClassVar = {"kp": 0.0, "ki": 0.0, "kd": 0.0}
    trials = ({"kp": 1.0}, {"kd": 1.0})

    def gains_for(self, tried: Complex, integral: complex, crossover: float, margin: float) -> dict[str, float]:
        """Gains with Ti = 4 Td (Ziegler and Nichols), both zeros of the controller in one place."""
        from scipy.optimize import brentq

        def loop(Td: float) -> complex:
            return (1.0 + integral / (_RATIO * Td)) * tried[0] + Td * tried[1]

        def beyond(logarithm: float) -> float:  # phase above what is asked, rad
            return float(np.angle(loop(np.exp(logarithm) / crossover) * sign / -np.exp(1j * margin)))

        ways = np.linspace(np.log(_TIMES[0]), np.log(_TIMES[1]), 200)
        for sign in (1.0, -1.0):
            phases = np.array([beyond(x) for x in ways])
            crosses = np.flatnonzero((phases[:-1] * phases[1:] <= 0.0) & (np.abs(np.diff(phases)) < 1.0))
            if crosses.size:
                k = int(crosses[0])
                Td = float(np.exp(brentq(beyond, ways[k], ways[k + 1], xtol=1e-14, rtol=1e-14))) / crossover
                kp = sign / abs(loop(Td))
                return {"kp": kp, "ki": kp / (_RATIO * Td), "kd": kp * Td}
        raise InputError(
            f"no PID with Ti = 4 Td gives a phase margin of {np.degrees(margin):g} deg at {crossover:g} rad/s. Ask for "
            "less, cross lower, shorten derivative_time, or take out delays and lags"
        )

    def report_units(self) -> dict[str, str]:
        units = dict(zip(self.plant.actuator_names, effort_units(self.plant), strict=True))
        return {f"{name}_integral": units[name] for name in self.motors}


_RATIO = 4.0  # of Ti to Td
_TIMES = (1e-3, 1e3)  # of Td times the crossover: outside, the phase of the controller is that of one of its parts

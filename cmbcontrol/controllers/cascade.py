"""Cascaded control of drives: position, velocity, torque."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..model.plant import Plant
from .motor_loop import MotorLoop
from .references import Reference

__all__ = ["Cascade"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class Cascade(MotorLoop):
    """Cascade of drives: a P loop of the position around a PI loop of the velocity, with velocity and effort ahead.

    With the reference r and the value y of a coordinate, the effort of its motor is

        w = Kv (r - y) + f dr/dt,    u = Kp (w - dy/dt) + I + u_r,    dI/dt = Kp / Tn (w - dy/dt)

    where w is the velocity asked for, which may be limited, and u_r are the efforts that the reference needs by the
    exact model (Gross, Hamann and Wiegartner, Electrical Feed Drives in Automation, 2001). The loop of the current is
    a block behind the law, ``| FirstOrderActuator(time constant)``; limits, filters and delays are blocks, too. Where
    one of them cuts the effort off, the integral waits. `design.tune_loops` finds the gains.

    Parameters
    ----------
    plant : Plant
        Model for the efforts ahead.
    reference : callable
        t -> (position, velocity, acceleration), (k,) each.
    position_gain : float or array_like (k,)
        Kv, 1/s; by default 0, until `design.tune_loops` finds it.
    velocity_gain : float or array_like (k,)
        Kp by unit of the coordinate: N m s/rad of a motor that turns its joint, say.
    integral_time : float or array_like (k,)
        Tn, s; inf for no integral.
    coordinates : sequence of str, optional
        Joints of one axis; defaults to those that motors drive.
    motors : sequence of str, optional
        The motor of each coordinate; defaults to the one at its joint.
    velocity_limit : float or array_like (k,)
        Largest velocity asked for, to both sides, rad/s or m/s.
    velocity_feedforward : float or array_like (k,)
        f, the part of the reference's velocity that is added to what is asked for.
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
    >>> law = Cascade(plant, Constant([2.1, 1.0]), position_gain=8.0, velocity_gain=60.0, integral_time=0.1, at=q0)
    >>> law(0.0, plant.terms(q0, [0.0] * 4), law.start(plant)).round(2), trim(plant, q0).u.round(2)
    (array([-31.49,  32.91]), array([-31.49,  32.91]))
    """

    def __init__(
        self,
        plant: Plant,
        reference: Reference,
        *,
        position_gain: ArrayLike = 0.0,
        velocity_gain: ArrayLike = 0.0,
        integral_time: ArrayLike = np.inf,
        coordinates: Sequence[str] | None = None,
        motors: Sequence[str] | None = None,
        velocity_limit: ArrayLike = np.inf,
        velocity_feedforward: ArrayLike = 1.0,
        feedforward: str = "inverse-dynamics",
        at: ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        self._set_up(plant, reference, coordinates, motors, feedforward, at, period)
        self.position_gain = self._each_positive(position_gain, "position_gain")
        self.velocity_gain = self._each(velocity_gain, "velocity_gain")
        self.integral_time = self._each_positive(integral_time, "integral_time", zero=False, infinite=True)
        self.velocity_limit = self._each_positive(velocity_limit, "velocity_limit", zero=False, infinite=True)
        self.velocity_feedforward = self._each(velocity_feedforward, "velocity_feedforward")
        self.ki = self.velocity_gain / self.integral_time

    def _loops(
        self, desired: tuple[Array, Array], actual: tuple[Array, Array], state: Array
    ) -> tuple[Array, Array, Array, dict[str, Any]]:
        (r, r_rate), (y, y_rate), k = desired, actual, len(self.coordinates)
        asked = self.position_gain * (r - y) + self.velocity_feedforward * r_rate
        asked = np.minimum(np.maximum(asked, -self.velocity_limit), self.velocity_limit)
        error = asked - y_rate
        u = self.velocity_gain * error + state[:k]
        report = {f"{n}_velocity_asked": x for n, x in zip(self.coordinates, asked, strict=True)}
        return u, self.ki * error, state[k:], report

    def report_units(self) -> dict[str, str]:
        units = dict(zip(self.plant.velocity_names, self.plant.velocity_units, strict=True))
        pairs = {self.plant.position_names[i]: units[self.plant.velocity_names[k]] for i, k in self.plant.paired}
        return {f"{name}_velocity_asked": pairs[name] for name in self.coordinates}

    no_gains: ClassVar = {"position_gain": 0.0, "velocity_gain": 0.0, "integral_time": np.inf}
    trials = ({"velocity_gain": 1.0}, {"position_gain": 1.0, "velocity_gain": 1.0})

    def gains_for(self, tried: Complex, integral: complex, crossover: float, margin: float) -> dict[str, float]:
        """Gains with Kv of a part of the crossover; the PI loop of the velocity then gives the phase."""
        velocity, both = tried
        Kv = _SHARE * crossover
        loop = velocity + Kv * (both - velocity)
        asked = -np.exp(1j * margin) / loop  # Kp + Kp / Tn * integral
        Kp_Tn = asked.imag / integral.imag
        Kp = asked.real - Kp_Tn * integral.real
        if Kp == 0.0 or Kp_Tn / Kp < 0.0:
            most = np.degrees((np.angle(loop * np.sign(Kp or 1.0)) + 2.0 * np.pi) % (2.0 * np.pi) - np.pi)
            raise InputError(
                f"at {crossover:g} rad/s the loop without an integral has the phase margin {most:.1f} deg with Kv = "
                f"{Kv:.4g} 1/s: {np.degrees(margin):g} deg are too much for a cascade. Ask for less, cross lower, or "
                "take out delays and lags"
            )
        return {"position_gain": Kv, "velocity_gain": Kp, "integral_time": Kp / Kp_Tn if Kp_Tn else np.inf}


_SHARE = 0.25  # of the crossover: the position loop takes atan(1/4), 14 degrees, of its phase

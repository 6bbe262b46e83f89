"""Friction of the drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import numbers_of
from .chain import EffortBlock, Setting, per_motor, require_one_each, require_values

__all__ = ["DriveFriction"]

Array = NDArray[np.float64]


@frozen
class DriveFriction(EffortBlock):
    """Friction of bearings and gears in the drives, at the motors: Coulomb, viscous, and Stribeck's peak.

    With w = B'v, the velocities of the motors,

        u_joint = u - (F_c + (F_s - F_c) exp(-(w / w_s)^2)) tanh(w / width) - F_v w

    Part of the machine: behind the held efforts of a sampled law it acts in continuous time. Friction of the joints
    themselves belongs to the `Mechanism`.

    Parameters
    ----------
    coulomb : float, array_like (nu,), or mapping of motor name to float
        F_c, N or N m, at the effort of the motor; 0 for motors that a mapping does not name.
    viscous : float, array_like (nu,), or mapping
        F_v, N s/m or N m s/rad.
    breakaway : float, array_like (nu,), or mapping, optional
        F_s at the start of sliding, at least F_c; defaults to F_c itself.
    stribeck_velocity : float
        w_s over which the peak falls off, m/s or rad/s.
    width : float
        Velocity over which the friction turns round, m/s or rad/s. Below it the machine creeps rather than sticks; a
        smaller one takes smaller steps to integrate.
    plant : Plant, optional
        Plant that has the names of motors, where the law has no plant of its own.

    Notes
    -----
    Model of Armstrong-Helouvry, Dupont and Canudas de Wit, "A survey of models, analysis tools and compensation methods
    for the control of machines with friction", Automatica 30 (1994), with tanh in place of the sign.

    Examples
    --------
    >>> friction = DriveFriction(coulomb=2.0, viscous=0.5, breakaway=3.0)
    >>> friction.force(np.array([0.0, 1.0, -1.0])).round(6)
    array([ 0. ,  2.5, -2.5])
    """

    coulomb: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    viscous: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    breakaway: Held[ArrayLike | Mapping[str, float] | None, Any] = held(None)
    stribeck_velocity: float = 0.1
    width: float = 0.01
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    place = "machine"

    def __post_init__(self) -> None:
        _check.positive(self.stribeck_velocity, "the stribeck_velocity of DriveFriction")
        _check.positive(self.width, "the width of DriveFriction")
        for name in ("coulomb", "viscous", "breakaway"):
            if getattr(self, name) is not None:
                require_values(getattr(self, name), f"the {name} friction of DriveFriction")

    def bound(self, setting: Setting) -> Self:
        given = {f.name: getattr(self, f.name) for f in fields(self)[:3]}
        values: dict[str, Any] = {
            name: per_motor(x, setting, self, f"the {name} friction of DriveFriction")
            for name, x in given.items()
            if x is not None or name != "breakaway"
        }
        if not all(np.isfinite(x).all() for x in values.values()):
            raise InputError(f"DriveFriction must be finite, got {given}")
        if np.any(values.get("breakaway", np.inf) < values["coulomb"]):
            raise InputError(
                f"the breakaway friction {values['breakaway'].tolist()} of DriveFriction must not be below its coulomb "
                f"friction {values['coulomb'].tolist()}"
            )
        return replace(self, **values)

    def start(self, plant: Plant) -> Array:
        for f in fields(self)[:3]:
            if getattr(self, f.name) is not None:
                require_one_each(np.asarray(getattr(self, f.name)), plant, f"the {f.name} friction of DriveFriction")
        return np.zeros(0)

    def force(self, w: ArrayLike) -> Array:
        """Friction (nu,), N or N m, at motor velocities w (nu,), with the sign of w."""
        w = numbers_of(w)
        coulomb, viscous = np.asanyarray(self.coulomb), np.asanyarray(self.viscous)
        sliding = coulomb
        if self.breakaway is not None:
            peak = np.asanyarray(self.breakaway) - coulomb
            part = w / self.stribeck_velocity
            sliding = coulomb + peak * np.exp(-part * part)
        return sliding * np.tanh(w / self.width) + viscous * w

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return u - self.force(terms.v.dot(terms.B))

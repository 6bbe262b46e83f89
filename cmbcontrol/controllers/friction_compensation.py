"""Compensation of the friction of the drives."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import ActuationError, InputError, InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from .chain import EffortBlock, Setting
from .drive_friction import DriveFriction
from .references import at_time

__all__ = ["FrictionCompensation"]

Array = NDArray[np.float64]


@frozen
class FrictionCompensation(EffortBlock):
    """Friction compensation: a block that adds to the efforts those that the drives are expected to lose.

    Parameters
    ----------
    friction : DriveFriction
        The friction as the controller knows it.
    velocity : {"measured", "reference"}
        Velocity at which it is taken: the one that the law gets; or that of the law's reference, which has no noise
        and closes no loop (too much compensation cannot make it unstable), but does not depend on errors. The law
        then needs a reference in independent coordinates (``law.reference``, ``law.coordinates``).
    fraction : float
        Part of the friction that is compensated; above 1 the loop may oscillate.
    plant : Plant, optional
        Plant that has the names of motors and coordinates, where the law has no plant of its own.

    Raises
    ------
    ValueError
        In a chain, for a law without such a reference, where it is asked for.
    ActuationError
        Where the coordinates of the reference do not determine the motion.

    Examples
    --------
    Friction that is known cancels:

    >>> from cmbcontrol import plants
    >>> plant, friction = plants.five_bar(), DriveFriction(coulomb=2.0, viscous=0.5)
    >>> chain = [7.0, 3.0] | FrictionCompensation(friction) | friction
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [1.0, 0.0, 0.0, 0.0], project=True)
    >>> chain(0.0, terms, chain.start(plant))
    array([7., 3.])
    """

    friction: DriveFriction
    velocity: str = "measured"
    fraction: float = 1.0
    plant: Plant | None = field(default=None, kw_only=True, repr=False)

    place = "controller"
    _setting: Held[Setting | None, Setting] = field(default=held(None), init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.friction, DriveFriction):
            raise InputTypeError(f"the friction must be a DriveFriction, got {self.friction!r}")
        _check.one_of(self.velocity, ("measured", "reference"), "velocity")
        _check.positive(self.fraction, "the fraction of FrictionCompensation", zero=True)

    def bound(self, setting: Setting) -> Self:
        block = replace(self, friction=self.friction.bound(setting))
        if self.velocity == "reference":
            names = setting.known(self, "for the coordinates of the reference").velocity_names
            law = setting.law
            coordinates = law.coordinates
            if law.reference is None or not coordinates or not set(coordinates) <= set(names):
                raise InputError(
                    f"{self!r} takes the velocity of the law's reference, and {type(law).__name__} has no reference "
                    "in coordinates of the plant (attributes reference and coordinates); take velocity='measured'"
                )
        object.__setattr__(block, "_setting", setting)
        return block

    def start(self, plant: Plant) -> Array:
        return self.friction.start(plant)

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        v = terms.v if self.velocity == "measured" else self._reference_velocity(t, terms)
        return u + self.fraction * self.friction.force(v.dot(terms.B))

    def _reference_velocity(self, t: float, terms: Terms) -> Array:
        """Velocity of the reference (nv,), v = K y_d', with K from the coordinates to all velocities on the loops."""
        law, plant = self._setting.law, self._setting.plant
        rows = [plant.velocity_names.index(name) for name in law.coordinates]  # type: ignore[union-attr]
        R_Z = terms.Z[rows]
        if R_Z.shape[0] != R_Z.shape[1] or np.linalg.cond(R_Z) > 1e8:
            raise ActuationError(
                f"the coordinates {law.coordinates} do not determine the velocity at this configuration: {terms.dof} "
                f"degrees of freedom (t = {t:.6g} s, q = {np.round(terms.q, 6).tolist()}); take velocity='measured'"
            )
        return terms.Z @ np.linalg.solve(R_Z, at_time(law.reference, t)[1])

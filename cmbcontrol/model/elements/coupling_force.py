"""Force on a combination of coordinates: an elastic belt, gear or shaft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ... import _check
from ..._frozen import Held, frozen, set_fields
from ...characteristics import Characteristic
from ...errors import ModelError
from .constraints import Coupling
from .force_elements import JointForce, OneForce
from .parameters import Coefficients, FormulaNumbers
from .part import coefficients_of
from .rows import Row, coordinate_row

__all__ = ["CouplingForce"]


@frozen
class CouplingForce(OneForce):
    """Force element on a sum of coordinates: an elastic belt, a harmonic drive, a shaft that twists.

    What a `Coupling` holds, this resists: with z = sum of coefficient * coordinate, coordinate i feels the force
    -coefficient_i F(z, dz/dt).

    Parameters
    ----------
    name : str
    coefficients : mapping of coordinate name to float
        Two or more coordinates of revolute, prismatic, helical, cylindrical or universal joints.
    characteristic : Characteristic or callable
        Force F against the sum, N or N m by the unit of the first coordinate, as ``force(z, rate)``; see
        `Characteristic`.

    Raises
    ------
    ModelError
        For fewer than two coordinates.

    Examples
    --------
    >>> from cmbcontrol.characteristics import SpringDamper
    >>> drive = CouplingForce("flexspline", {"motor": -0.01, "arm": 1.0}, SpringDamper(2e4, damping=10.0))
    >>> drive.coordinates
    ('motor', 'arm')
    """

    name: str
    coefficients: Mapping[str, float]
    characteristic: Held[Characteristic | Callable, Characteristic]

    parameters = (FormulaNumbers("characteristic"), Coefficients("coefficients"))
    sample, force, energy = JointForce.sample, JointForce.force, JointForce.energy

    def __post_init__(self) -> None:
        _check.name(self.name, "force element")
        what = f"force element {self.name!r}"
        values = coefficients_of(self.coefficients, what)
        if np.count_nonzero([*values.values()]) < 2:
            raise ModelError(
                f"{what} needs two coordinates or more with coefficients that are not zero, got {values}; on a single "
                "one, use a JointForce"
            )
        set_fields(self, coefficients=values)
        self.take_characteristic()

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates on which it acts."""
        return tuple(self.coefficients)

    def holding(self, name: str, length: float) -> Coupling:
        """Constraint that holds its measure still."""
        return Coupling(name, self.coefficients)

    def measures(self, on: Any = None) -> list[Row]:
        return [coordinate_row(self.coefficients)]

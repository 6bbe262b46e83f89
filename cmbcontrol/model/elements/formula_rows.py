"""Constraints whose rows are formulas of measures: of coordinates, or of a frame as seen from another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FormulaRows", "RowOfFormula"]

Array = NDArray[np.float64]


class RowOfFormula(NamedTuple):
    """Row with ``residual(z)`` = 0, or with ``rate(z, dz)`` = 0 if it binds velocities and no positions.

    The formulas are written with numpy's functions, and are differentiated.
    """

    label: str
    unit: str  # of the residual, or of its integral; "" is that of the first coordinate that is measured
    residual: Callable[[Any], Any] | None = None
    rate: Callable[[Any, Any], Any] | None = None


class FormulaRows:
    """Base of constraints with rows of formulas, either of coordinates or between two bodies.

    They are also a `CoordinateConstraint` or a `Constraint`.

    Attributes
    ----------
    measured : tuple
        Names of coordinates, which are z; or a frame on body a and one on body b: z are the three offsets of the second
        one and the nine entries of its rotation matrix, row by row, as seen from the first one.
    sample : ndarray
        z at which the formulas are traced.
    formulas : tuple of RowOfFormula
    """

    name: str

    if TYPE_CHECKING:  # attributes or properties

        @property
        def measured(self) -> Any: ...
        @property
        def sample(self) -> Array: ...
        @property
        def formulas(self) -> tuple[RowOfFormula, ...]: ...

"""Rows: what parts of a machine hold at zero, or measure, in the axes of the bodies that they join."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels import layout
from .frames import GROUND, Frame

__all__ = [
    "FormulaRows",
    "Row",
    "RowOfFormula",
    "align",
    "coordinate_row",
    "distance",
    "offset",
    "offsets",
    "relative_frame",
    "weld",
]

Array = NDArray[np.float64]

_X, _Z, _ORIGIN = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
_XYZ = tuple(enumerate("xyz"))


@dataclass(frozen=True)
class Row:
    """Row of a constraint, or a measure of a force element; see `kernels.constraint_rows` for what each kind computes.

    Attributes
    ----------
    label : str
        Its name behind that of the part; empty for a part with one row.
    unit : str
        Empty for that of the first coordinate.
    kind : int
        Of `kernels.layout`.
    a, b : str
        Bodies.
    u, x, pa : array_like, shape (3,)
        Directions and point on a, in its axes.
    w, pb : array_like, shape (3,)
        Direction and point on b, in its axes.
    value : float
        Length, pitch or offset.
    coefficients : mapping of coordinate name to float
        Of a row of coordinates.
    formula : RowOfFormula, optional
    """

    label: str
    unit: str
    kind: int
    a: str = GROUND
    b: str = GROUND
    u: ArrayLike = _Z
    x: ArrayLike = _X
    pa: ArrayLike = _ORIGIN
    w: ArrayLike = _X
    pb: ArrayLike = _ORIGIN
    value: float = 0.0
    coefficients: Mapping[str, float] = field(default_factory=dict)
    formula: RowOfFormula | None = None


def offset(label: str, a: str, b: str, pa: ArrayLike, u: ArrayLike, pb: ArrayLike) -> Row:
    """Row (p_b - p_a) . u, m."""
    return Row(label, "m", layout.ROW_OFFSET, a, b, u=u, pa=pa, pb=pb)


def offsets(a: str, b: str, pa: ArrayLike, R: Array, pb: ArrayLike, labels: Iterable[str] = "xyz") -> list[Row]:
    """Rows of the offsets along axes of a, the columns of R."""
    return [offset(k, a, b, pa, R[:, "xyz".index(k)], pb) for k in labels]


def align(label: str, a: str, b: str, u: ArrayLike, w: ArrayLike) -> Row:
    """Row u . w, the cosine between a direction on a and one on b, rad."""
    return Row(label, "rad", layout.ROW_ALIGN, a, b, u=u, w=w)


def distance(label: str, a: str, b: str, pa: ArrayLike, pb: ArrayLike, length: float) -> Row:
    """Row (|p_b - p_a|^2 - length^2) / (2 length), m."""
    return Row(label, "m", layout.ROW_DISTANCE, a, b, pa=pa, pb=pb, value=length)


def coordinate_row(coefficients: Mapping[str, float], value: float = 0.0) -> Row:
    """Row with the sum of coefficient * coordinate, less `value`."""
    return Row("", "", layout.ROW_COUPLING, value=value, coefficients=coefficients)


def weld(a: str, b: str, fa: Frame, fb: Frame) -> list[Row]:
    """Rows of a weld: three offsets, and three pairs of axes that stay perpendicular."""
    pairs = (("tilt_x", 1, 2), ("tilt_y", 2, 0), ("twist", 0, 1))
    return [*offsets(a, b, fa.p, fa.R, fb.p), *(align(k, a, b, fa.R[:, i], fb.R[:, j]) for k, i, j in pairs)]


def relative_frame(a: str, b: str, fa: Frame, fb: Frame) -> list[Row]:
    """Rows of a frame of b as seen from one of a: three offsets, and the nine entries of the rotation, row by row."""
    cosines = [align(f"{m}{n}", a, b, fa.R[:, i], fb.R[:, j]) for i, m in _XYZ for j, n in _XYZ]
    return [*offsets(a, b, fa.p, fa.R, fb.p), *cosines]


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
        def ends(self) -> Any: ...
        @property
        def measured(self) -> Any: ...
        @property
        def sample(self) -> Array: ...
        @property
        def formulas(self) -> tuple[RowOfFormula, ...]: ...

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that it measures; none between bodies."""
        return () if self.ends else tuple(self.measured)

    def rows(self) -> list[Row]:
        """Rows of the constraint, one a formula; those between bodies say where it measures."""
        places: dict[str, Any] = {}
        if self.ends:
            fa, fb = self.measured
            places = dict(zip("ab", self.ends, strict=True)) | {"pa": fa.p, "pb": fb.p}
            places |= {"u": fa.R[:, 2], "x": fa.R[:, 0], "w": fb.R[:, 2]}
        return [Row(f.label, f.unit, layout.ROW_FORMULA, formula=f, **places) for f in self.formulas]

    def measures(self) -> list[Row]:
        """Rows that are the z of the formulas."""
        if not self.ends:
            return [coordinate_row({name: 1.0}) for name in self.measured]
        (a, b), (fa, fb) = self.ends, self.measured
        return relative_frame(a, b, fa, fb)

"""What parts of a machine have in common: where they are, what they hold, and checks of directions and names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ..._frozen import Frozen
from ...errors import InputTypeError, ModelError

if TYPE_CHECKING:
    from .frames import Frame
    from .parameters import PartParameters
    from .rows import Row, RowOfFormula

__all__ = ["ROUNDING", "LoopPart", "MachinePart", "check_body_name", "coefficients_of", "unit_vector"]

ROUNDING = 4e-16  # what directions and rotations that are right may be off; these are kept as they are


class MachinePart(Frozen):
    """Base of parts of a machine, each of which says where it is and what its numbers are.

    Attributes
    ----------
    ends : tuple of str
        Bodies that it joins or acts on.
    coordinates : tuple of str
        Names of the coordinates that it binds, measures or acts on.
    frames : tuple of Frame
        Where on its bodies it is.
    acts_at : int
        On which of them the point is at which its reaction is told.
    fixed_at : tuple of int
        On which of them it holds a point; the others have a plane, a path or nothing.
    symbol : str
        How pictures show it, a key of `cmbcontrol.scene.joints`; nothing for none.
    guides : str
        What it guides a point on: "line", "plane", or nothing.
    slides : bool
        Whether it slides along its axis.
    parameters : tuple of PartParameters
        Its fields that are parameters of the machine; see `cmbcontrol.model.parameters.parameters`.
    prefix : str
        What the names of its parameters begin with, before its own name.
    """

    name: str
    parameters: ClassVar[tuple[PartParameters, ...]] = ()
    acts_at: ClassVar[int] = 0
    fixed_at: ClassVar[tuple[int, ...]] = (0, 1)
    symbol: ClassVar[str] = ""
    guides: ClassVar[str] = ""
    slides: ClassVar[bool] = False
    prefix: ClassVar[str] = ""

    @property
    def ends(self) -> tuple[str, ...]:
        return ()

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ()

    @property
    def frames(self) -> tuple[Frame, ...]:
        return ()

    @property
    def places(self) -> tuple[tuple[str, np.ndarray], ...]:
        """Points where it is, each with its body."""
        return tuple((body, frame.p) for body, frame in zip(self.ends, self.frames, strict=True))


class LoopPart(MachinePart):
    """Base of what closes loops: cut joints, constraints and prescribed motions.

    Attributes
    ----------
    velocity_units : tuple of str
        Those of the velocity coordinates of a cut joint.
    formulas : tuple of RowOfFormula
        Its rows, where these are formulas.
    component_names : tuple of str
        Names of what follows functions of time, of a motion.
    may_rub : bool
        Whether a contact at it can stick and slide: that of a point.
    """

    velocity_units: ClassVar[tuple[str, ...]] = ()
    may_rub: ClassVar[bool] = False

    @property
    def formulas(self) -> tuple[RowOfFormula, ...]:
        return ()

    @property
    def component_names(self) -> tuple[str, ...]:
        return ()

    def effort_axes(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Torque and force of a unit effort of a motor on the cut joint, in its frame; None where it can have none."""
        return None

    def rows(self) -> list[Row]:
        """Rows that are held at zero."""
        raise NotImplementedError

    @property
    def axes(self) -> np.ndarray:
        """Axes in which its rows are written, as columns, in those of its first body."""
        return self.frames[0].R

    @property
    def aligned(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Axes on its two bodies that its rows keep aligned, also where these vanish with an axis reversed."""
        return None

    def captured(self, seen: Any) -> Self:
        """Part that is closed where `seen` is: the second body in the axes of the first; or values of coordinates."""
        raise NotImplementedError


def unit_vector(axis: ArrayLike, what: str) -> np.ndarray:
    """Direction `axis`, scaled to length one."""
    if isinstance(axis, str):
        raise InputTypeError(f"{what} must be a direction such as (1, 0, 0), got {axis!r}")
    x = _check.vector(axis, 3, what)
    length = math.hypot(*x)  # which does not overflow
    if length < 1e-12:
        raise ModelError(f"{what} must not be zero, got {x.tolist()}; give a direction such as (0, 0, 1)")
    return x if abs(length - 1.0) < ROUNDING else x / length  # what has length one stays as it is, in files, too


def coefficients_of(x: object, what: str) -> dict[str, float]:
    """Numbers by the names of coordinates, from a mapping that is given."""
    given = _check.mapping(x, f"coefficients of {what}", "coordinates to numbers")
    return {str(k): _check.number(c, f"coefficient {k!r} of {what}") for k, c in given.items()}


def check_body_name(x: object, what: str) -> None:
    """Raise an error if x is no name; the mechanism checks later whether there is such a part."""
    if not isinstance(x, str):
        raise InputTypeError(f"{what} must be a name, got {x!r}")

"""Capture of constraints: their places are set to the configuration at hand."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .elements import LoopPart
from .mechanism import Mechanism

__all__ = ["capture"]

_Loop = TypeVar("_Loop", bound=LoopPart)


def capture(plant: Mechanism, constraint: _Loop, q: NDArray[np.float64]) -> _Loop:
    """Constraint that is closed at q: its place on body b stays, and that on body a moves there.

    A weld or a cut joint keeps the frame on body b (the child) and moves the one on body a (the parent); a point is
    held where it is on body a; a plane or a line is moved through the point, in its direction, and the plane of a wheel
    or a ball to where that touches it; a rod gets the length, and a coupling the offset, of q.

    Parameters
    ----------
    plant : Mechanism
        With the bodies that the constraint joins; the constraint need not be one of its own.
    constraint : Joint, Constraint, Coupling or Cam
    q : array_like, shape (nq,)

    Examples
    --------
    >>> import numpy as np
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> q = np.array([2.0, -1.0, 1.0, 1.0])  # the tip is open
    >>> plant.with_loops(capture(plant, plant.loops[0], q)).closure_error(q) < 1e-15
    True
    """
    if constraint.ends:
        first, second = constraint.ends
        return constraint.captured(plant.pose(q, first).inverse() @ plant.pose(q, second))
    return constraint.captured({name: float(q[plant.position_names.index(name)]) for name in constraint.coordinates})

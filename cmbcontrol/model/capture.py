"""Loops made to hold what they find: a part is taken as it lies, a joint is locked where it stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .elements import Coupling, Distance, Frame, Joint, Loop, Weld
from .mechanism import Mechanism

__all__ = ["capture"]


def capture(plant: Mechanism, loop: Joint | Loop | Coupling, q: NDArray[np.float64]) -> Joint | Loop | Coupling:
    """The loop closed at q: what it holds on body b stays, and its place on body a moves there.

    A weld or a cut joint keeps the frame on body b (the child) and moves the one on body a (the parent); a point is
    held where it is on body a; a plane or a line is moved through the point, in its direction; a rod gets the length,
    and a coupling the offset, of q.

    Parameters
    ----------
    plant : Mechanism
        With the bodies that the loop joins; the loop need not be one of its own.
    loop : Joint, Loop or Coupling
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
    if isinstance(loop, Coupling):
        here = [plant.position_names.index(name) for name in loop.coefficients]
        return replace(loop, offset=float(np.dot(list(loop.coefficients.values()), q[here])))
    first, second = (loop.parent, loop.child) if isinstance(loop, Joint) else (loop.a, loop.b)
    seen = plant.pose(q, first).inverse() @ plant.pose(q, second)  # body b in the axes of body a
    if isinstance(loop, Joint):
        return replace(loop, frame=_proper(seen @ loop.child_frame))
    if isinstance(loop, Weld):
        return replace(loop, frame_a=_proper(seen @ loop.frame_b))
    point = seen.p + seen.R @ loop.point_b
    if isinstance(loop, Distance):
        return replace(loop, length=float(np.linalg.norm(point - loop.point_a)))
    return replace(loop, point_a=point)


def _proper(frame: Frame) -> Frame:
    """The frame with its rotation free of rounding."""
    U, _, Vt = np.linalg.svd(frame.R)
    return Frame(frame.p, U @ Vt)

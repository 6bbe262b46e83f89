"""Capture of constraints: their places are set to the configuration at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .elements import (
    Cam,
    Constraint,
    CoordinateConstraint,
    Coupling,
    Distance,
    Frame,
    Joint,
    KnifeEdge,
    Motion,
    RollingBall,
    Weld,
    Wheel,
)
from .mechanism import Mechanism

__all__ = ["capture"]


def capture(
    plant: Mechanism, constraint: Joint | Constraint | CoordinateConstraint, q: NDArray[np.float64]
) -> Joint | Constraint | CoordinateConstraint:
    """Constraint that is closed at q: its place on body b stays, and that on body a moves there.

    A weld or a cut joint keeps the frame on body b (the child) and moves the one on body a (the parent); a point is
    held where it is on body a; a plane or a line is moved through the point, in its direction, and the plane of a wheel
    or a ball to where that touches it; a rod gets the length, and a coupling the offset, of q.

    Parameters
    ----------
    plant : Mechanism
        With the bodies that the constraint joins; the constraint need not be one of its own.
    constraint : Joint, Constraint or Coupling
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
    if isinstance(constraint, Motion):
        raise InputError(
            f"motion {constraint.name!r} says itself where it is to be, and captures nothing: let it begin where the "
            "machine stands"
        )
    if isinstance(constraint, Cam):
        follower, cam = (q[plant.position_names.index(name)] for name in (constraint.follower, constraint.cam))
        return replace(constraint, offset=float(follower - constraint.lift(cam)))
    if isinstance(constraint, Coupling):
        indices = [plant.position_names.index(name) for name in constraint.coefficients]
        return replace(constraint, offset=float(np.dot(list(constraint.coefficients.values()), q[indices])))
    first, second = (
        (constraint.parent, constraint.child) if isinstance(constraint, Joint) else (constraint.a, constraint.b)
    )
    seen = plant.pose(q, first).inverse() @ plant.pose(q, second)  # body b in the axes of body a
    if isinstance(constraint, Joint):
        return replace(constraint, frame=_proper(seen @ constraint.child_frame))
    if isinstance(constraint, Weld):
        return replace(constraint, frame_a=_proper(seen @ constraint.frame_b))
    if isinstance(constraint, KnifeEdge):  # it binds velocities only
        return constraint
    if isinstance(constraint, (Wheel, RollingBall)):
        plane, axle = constraint.measured
        rolls = plane.inverse() @ seen @ axle
        height = constraint.formulas[0].residual(np.concatenate([rolls.p, rolls.R.ravel()]))  # type: ignore[misc]
        return replace(constraint, point_a=constraint.point_a + height * constraint.normal)
    point = seen.p + seen.R @ constraint.point_b
    if isinstance(constraint, Distance):
        return replace(constraint, length=float(np.linalg.norm(point - constraint.point_a)))
    return replace(constraint, point_a=point)


def _proper(frame: Frame) -> Frame:
    """Frame with a rotation free of rounding."""
    U, _, Vt = np.linalg.svd(frame.R)
    return Frame(frame.p, U @ Vt)

"""Frames on bodies: a point and a rotation."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ..._frozen import Frozen, HeldArray, frozen, held, set_fields
from ...errors import ModelError
from .part import ROUNDING, unit_vector

__all__ = ["GROUND", "Frame", "rotation_to"]

GROUND = "ground"


def rotation_to(axis: np.ndarray) -> np.ndarray:
    """Shortest rotation matrix that takes z to the unit vector `axis`; for -z, the half turn about x."""
    x, y, z = (float(component) for component in axis)
    if z >= 0.0:
        f = 1.0 / (1.0 + z)
        return np.array([[1.0 - f * x * x, -f * x * y, x], [-f * x * y, 1.0 - f * y * y, y], [-x, -y, z]])
    r = math.hypot(x, y)  # 1 + z would lose its digits: it is r^2 / (1 - z)
    c, s = (x / r, y / r) if r else (0.0, 1.0)
    across = (z - 1.0) * c * s
    return np.array([[s * s + z * c * c, across, x], [across, c * c + z * s * s, y], [-x, -y, z]])


def _orthonormal(R: np.ndarray) -> np.ndarray:
    """Orthogonal matrix nearest to one that is so to some digits (Newton's iteration for the polar factor).

    An error e becomes 3 e^2 / 4, so that 1e-6 is gone after two steps.
    """
    for _ in range(2):
        R = R - 0.5 * R @ (R.T @ R - np.eye(3))
    return R


_IDENTITY = np.eye(3)


@frozen
class Frame(Frozen):
    """Frame on a body: an origin and a rotation.

    Parameters
    ----------
    p : array_like, shape (3,)
        Origin, metres, in the body's axes.
    R : array_like, shape (3, 3)
        Rotation matrix; its columns are the frame's axes in the body's axes. One given with few digits, orthogonal to
        1e-6, is replaced by the nearest one that is orthogonal to rounding: else it would falsify lengths.

    Raises
    ------
    ModelError
        If `R` is no rotation.

    Examples
    --------
    >>> Frame((1.0, 0.0, 0.0)).p
    array([1., 0., 0.])
    """

    p: HeldArray = held((0.0, 0.0, 0.0))
    R: HeldArray = field(default_factory=lambda: held(np.eye(3)))

    def __post_init__(self) -> None:
        p = _check.point(self.p, "the origin of a frame")
        R = _check.matrix(self.R, (3, 3), "the rotation of a frame")
        with np.errstate(all="ignore"):  # large numbers, whose squares are none
            off = float(np.abs(R.T @ R - np.eye(3)).max())
        if off > 1e-6 or np.linalg.det(R) < 0.0:  # 1e-6: what seven digits leave
            raise ModelError(
                f"the rotation of a frame must be orthogonal (to 1e-6) with determinant 1, got {R.tolist()}, off by "
                f"{off:.1e}; give more digits, or build it with Frame.turned(axis, angle)"
            )
        set_fields(self, p=p, R=_orthonormal(R) if off > ROUNDING else R)

    @classmethod
    def turned(cls, axis: ArrayLike, angle: float, p: ArrayLike = (0.0, 0.0, 0.0)) -> Frame:
        """Frame at `p`, turned by `angle` (rad) about `axis`.

        Examples
        --------
        >>> Frame.turned((0, 0, 1), math.pi / 2).R.round(12)[:, 0]
        array([0., 1., 0.])
        """
        x, y, z = unit_vector(axis, "the axis of a rotation")
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        angle = _check.number(angle, "the angle of a rotation")
        return cls(p, np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K)

    def __matmul__(self, other: Frame) -> Frame:
        """Frame `other`, given in this frame, in the body's axes."""
        _check.instance(other, Frame, "what a frame is multiplied with")
        return self._made(self.p + self.R @ other.p, self.R @ other.R)

    def inverse(self) -> Frame:
        """Frame of the body, seen from this one."""
        return self._made(-self.R.T @ self.p, self.R.T)

    @classmethod
    def _made(cls, p: np.ndarray, R: np.ndarray) -> Frame:
        """Frame made from checked frames, without a check; kept from drifting in long products."""
        made = object.__new__(cls)
        off = float(np.abs(R.T @ R - _IDENTITY).max())
        set_fields(made, p=p, R=_orthonormal(R) if off > ROUNDING else R)
        return made

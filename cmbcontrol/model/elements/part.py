"""Checks that parts of a machine have in common: directions and names of bodies."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ...errors import InputTypeError, ModelError

__all__ = ["ROUNDING", "check_body_name", "unit_vector"]

ROUNDING = 4e-16  # what directions and rotations that are right may be off; these are kept as they are


def unit_vector(axis: ArrayLike, what: str) -> np.ndarray:
    """Direction `axis`, scaled to length one."""
    if isinstance(axis, str):
        raise InputTypeError(f"{what} must be a direction such as (1, 0, 0), got {axis!r}")
    x = _check.vector(axis, 3, what)
    length = math.hypot(*x)  # which does not overflow
    if length < 1e-12:
        raise ModelError(f"{what} must not be zero, got {x.tolist()}; give a direction such as (0, 0, 1)")
    return x if abs(length - 1.0) < ROUNDING else x / length  # what has length one stays as it is, in files, too


def check_body_name(x: object, what: str) -> None:
    """Raise an error if x is no name; the mechanism checks later whether there is such a part."""
    if not isinstance(x, str):
        raise InputTypeError(f"{what} must be a name, got {x!r}")

"""What parts of a machine are checked for alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ...errors import InputTypeError, ModelError

__all__ = ["check_body_name", "unit_vector"]


def unit_vector(axis: ArrayLike, what: str) -> np.ndarray:
    """`axis` scaled to length one."""
    if isinstance(axis, str):
        raise InputTypeError(f"{what} must be a direction such as (1, 0, 0), got {axis!r}")
    x = _check.vector(axis, 3, what)
    length = float(np.linalg.norm(x))
    if length < 1e-12:
        raise ModelError(f"{what} must not be zero, got {x.tolist()}; give a direction such as (0, 0, 1)")
    return x / length


def check_body_name(x: object, what: str) -> None:
    """Refuse what is no name; whether there is such a part, the mechanism says."""
    if not isinstance(x, str):
        raise InputTypeError(f"{what} must be a name, got {x!r}")

"""Common functions of planar plants: pins with two, three or five rows, and the angles of a two-bar chain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..model.elements import Constraint, Frame, Joint, Point, PointOnLine, Revolute

__all__ = ["CLOSURES", "pin", "turned", "two_bar"]

CLOSURES = ("line", "point", "revolute")


def pin(closure: str, name: str, a: str, b: str, point_a: ArrayLike, point_b: ArrayLike) -> Joint | Constraint:
    """Pin across the x-y plane through a point of each body, as a loop.

    Parameters
    ----------
    closure : {"line", "point", "revolute"}
        Two rows, three (one redundant), or the five of a revolute joint (three redundant).
    name, a, b : str
        Names of the loop and of the bodies.
    point_a, point_b : array_like, shape (3,)
        Points in the axes of each body, m.

    Examples
    --------
    >>> type(pin("line", "tip", "left", "right", (1, 0, 0), (1, 0, 0))).__name__
    'PointOnLine'
    """
    _check.one_of(closure, CLOSURES, "closure")
    if closure == "revolute":
        return Revolute(name, a, b, frame=Frame(point_a), child_frame=Frame(point_b))
    return (Point if closure == "point" else PointOnLine)(name, a, b, point_a, point_b)


def turned(vector: Sequence[float] | NDArray[np.float64], angle: float) -> NDArray[np.float64]:
    """Plane vector (2,) turned by `angle`, rad."""
    x, y = vector
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


def two_bar(
    span: Sequence[float] | NDArray[np.float64], first: float, second: float, side: int, what: str
) -> tuple[float, float]:
    """Absolute angles of two bars, end to end, that reach across `span`.

    Parameters
    ----------
    span : array_like, shape (2,)
        From the start of the first bar to the end of the second, m.
    first, second : float
        Lengths, m.
    side : {1, -1}
        The joint between the bars lies to the left (1) or to the right (-1) of the span.
    what : str
        Name for the message where the bars do not reach.

    Raises
    ------
    ValueError
        Where the span is too long or too short.

    Examples
    --------
    >>> np.degrees(two_bar((1.0, 0.0), 1.0, 1.0, 1, "the arm")).round(9)
    array([ 60., -60.])
    """
    x, y = span
    reach = math.hypot(x, y)
    if not abs(first - second) < reach < first + second:
        raise InputError(
            f"{what} cannot reach: its bars of {first:g} m and {second:g} m span more than {abs(first - second):.4g} m "
            f"and less than {first + second:.4g} m, and {reach:.4g} m are needed; choose a configuration within reach"
        )
    opening = math.acos((first**2 + reach**2 - second**2) / (2.0 * first * reach))
    start = math.atan2(y, x) + side * opening
    return start, math.atan2(y - first * math.sin(start), x - first * math.cos(start))

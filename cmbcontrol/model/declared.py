"""Declarations of a plant given by functions: names, units, limits and rows, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputTypeError, ModelError

__all__ = ["efforts", "limit_array", "names", "row_names", "units"]

Array = NDArray[np.float64]


def names(given: Sequence[str], what: str, plant: str) -> tuple[str, ...]:
    """Names, checked to be distinct."""
    if isinstance(given, str):
        raise InputTypeError(f"plant {plant!r}: the {what}s must be a sequence of names, got the string {given!r}")
    listed = _check.sequence(given, f"plant {plant!r}: the {what}s", "names")
    for n in listed:
        _check.name(n, what)
        if listed.count(n) > 1:
            raise ModelError(f"plant {plant!r}: {listed.count(n)} {what}s are called {n!r}; rename one")
    return listed


def units(given: Sequence[str] | None, count: int, default: str, what: str, plant: str) -> tuple[str, ...]:
    """Units, one per entry, checked."""
    given = (default,) * count if given is None else given
    listed = tuple(_check.text(u, what) for u in _check.sequence(given, f"plant {plant!r}: {what}", "units"))
    if len(listed) != count:
        raise ModelError(f"plant {plant!r}: {what} must have {count} entries, got {listed}")
    return listed


def limit_array(given: Mapping[str, tuple[float, float]], coordinates: Sequence[str], plant: str) -> Array:
    """Limits (nq, 2) of the coordinates, from pairs by name; infinite for others."""
    array = np.tile([-np.inf, np.inf], (len(coordinates), 1))
    for coordinate, ends in _check.mapping(given, f"plant {plant!r}: limits", "coordinates to pairs").items():
        low, high = _check.pair(ends, f"plant {plant!r}: limits of {coordinate!r}", infinite=True)
        if not low < high:
            raise ModelError(
                f"plant {plant!r}: the lower limit {low} of {coordinate!r} must be below the upper limit {high}"
            )
        array[coordinates.index(_check.one_of(coordinate, coordinates, "coordinate", "limits"))] = low, high
    return array


def efforts(given: ArrayLike | None, count: int, plant: str) -> Array:
    """Largest efforts (nu,) of the actuators, checked; infinite by default."""
    array = np.full(count, np.inf) if given is None else _check.numbers(given, f"plant {plant!r}: effort")
    if array.shape != (count,) or not np.all(array > 0.0):
        raise ModelError(
            f"plant {plant!r}: effort must have {count} entries > 0, one per actuator, got {array.tolist()}"
        )
    return array


def row_names(
    given: Sequence[str] | Mapping[str, Sequence[str]] | None, count: int, plant: str
) -> tuple[dict[str, slice], tuple[str, ...]]:
    """Slices of rows by constraint, and names of all rows, checked."""
    if given is None:
        given = ("loop",) if count == 1 else tuple(f"loop_{i + 1}" for i in range(count))
    slices: dict[str, slice] = {}
    listed: list[str] = []
    for loop, labels in (given if isinstance(given, Mapping) else {"loop": given}).items():
        _check.name(loop, "loop")
        slices[loop] = slice(len(listed), len(listed) + len(names(labels, "row", plant)))
        listed += labels
    checked = names(listed, "row", plant)
    if len(checked) != count:
        raise ModelError(f"plant {plant!r}: Phi(q) has {count} rows, but {len(checked)} are named: {list(checked)}")
    return slices, checked

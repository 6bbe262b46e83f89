"""The only place that normalises what users pass in."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["gain", "matrix", "name", "number", "one_of", "positive", "unknown", "vector"]

Array = NDArray[np.float64]


def vector(x: ArrayLike, n: int, what: str, names: Iterable[str] = ()) -> Array:
    """`x` as a contiguous float64 vector of length n, finite; else a ValueError that says what is wrong."""
    # a read-only array would make numba compile every kernel again for its kind: it is copied
    if not (type(x) is np.ndarray and x.dtype == np.float64 and x.ndim == 1 and x.flags.carray):
        try:
            x = np.array(x, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{what} must be {n} numbers, got {x!r}") from error
    if x.shape != (n,):
        listed = ", ".join(names)
        hint = f" (in the order {listed})" if listed else ""
        raise ValueError(f"{what} must have shape ({n},){hint}, got shape {x.shape}")
    if not math.isfinite(x.dot(x)):
        bad = np.flatnonzero(~np.isfinite(x))
        if bad.size:
            labels = list(names)
            where = ", ".join(f"{labels[i] if labels else i} = {x[i]}" for i in bad)
            raise ValueError(f"{what} must be finite, but {where}")
    return x


def matrix(x: ArrayLike, shape: tuple[int, int], what: str) -> Array:
    """`x` as a contiguous, finite float64 matrix of the given shape."""
    try:
        x = np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must be a {shape[0]} x {shape[1]} matrix of numbers") from error
    if x.shape != shape:
        raise ValueError(f"{what} must have shape {shape}, got {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError(f"{what} must be finite, got {x.tolist()}")
    return x


def number(x: float, what: str) -> float:
    """`x` as a finite float."""
    try:
        value = float(x)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must be a number, got {x!r}") from error
    if not math.isfinite(value):
        raise ValueError(f"{what} must be finite, got {value}")
    return value


def positive(x: float, what: str, zero: bool = False) -> float:
    """`x` as a finite float above zero (or not below it)."""
    value = number(x, what)
    if value < 0.0 or (value == 0.0 and not zero):
        raise ValueError(f"{what} must be {'>= 0' if zero else '> 0'}, got {value}")
    return value


def unknown(given: str, known: Collection[str], what: str) -> str:
    """A message about a name that does not exist, with the nearest one that does."""
    close = difflib.get_close_matches(str(given), list(known), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"there is no {what} {given!r}{hint} (known: {', '.join(map(repr, known)) or 'none'})"


def one_of(given: str, known: Collection[str], what: str) -> str:
    """`given` if it is one of the known names, else a ValueError with the nearest one."""
    if given not in known:
        raise ValueError(unknown(given, known, what))
    return given


def name(x: str, what: str) -> str:
    """`x` as a usable name: a non-empty string without dots or commas (python-control refuses dots)."""
    if not isinstance(x, str) or not x.strip() or "." in x or "," in x:
        raise ValueError(f"the name of a {what} must be a non-empty string without '.' or ',', got {x!r}")
    return x


def gain(values: ArrayLike, k: int, what: str, names: Iterable[str] = ()) -> Array:
    """A gain matrix (k, k), from a number, k numbers for the diagonal, or a matrix."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(k, values)
    if values.ndim == 1:
        values = np.diag(vector(values, k, what, names))
    return matrix(values, (k, k), what)

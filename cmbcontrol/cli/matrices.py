"""Text of matrices: six digits, decimal points below each other, rows and columns named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .tables import blocks, side_by_side

__all__ = ["matrix_lines"]

Array = NDArray[np.float64]

_NOISE = 1e-13  # entries this small, relative to the largest, are rounding
_MOST_ROWS = 24


def matrix_lines(title: str, X: Array, rows: Sequence[str], columns: Sequence[str], width: int = 120) -> list[str]:
    r"""Lines that show a matrix, in blocks of as many columns as fit; its size where it has more than 24 rows.

    Examples
    --------
    >>> states = ("angle", "rate")
    >>> print("\n".join(matrix_lines("A", np.array([[0.0, 1.0], [-14.715, 0.0]]), states, states)))
    A         angle  rate
      angle    0        1
      rate   -14.715    0
    """
    size = f"{X.shape[0]} x {X.shape[1]}"
    if not X.size:
        return [f"{title} is empty, {size}"]
    if not X.any():
        return [f"{title} = 0, {size}"]
    if len(X) > _MOST_ROWS:
        return [f"{title} is {size}"]
    columns_of_text = [_column(name, x) for name, x in zip(columns, np.where(_noise(X), 0.0, X).T, strict=True)]
    first = [title, *(f"  {name}" for name in rows)]
    first = [text.ljust(max(map(len, first))) for text in first]
    return [line for block in blocks(columns_of_text, width - len(first[0])) for line in side_by_side([first, *block])]


def _noise(X: Array) -> NDArray[np.bool_]:
    """Mask of the entries that are only rounding."""
    return np.abs(X) < _NOISE * np.abs(X).max()


def _column(name: str, x: Array) -> list[str]:
    """Heading and entries of a column, all of one width."""
    whole, rest = zip(*(_parts(f"{value + 0.0:.6g}") for value in x), strict=True)
    left, right = max(map(len, whole)), max(map(len, rest))
    texts = [name] + [a.rjust(left) + b.ljust(right) for a, b in zip(whole, rest, strict=True)]
    return [text.rjust(max(map(len, texts))) for text in texts]


def _parts(text: str) -> tuple[str, str]:
    """Parts of a number's text before and behind the place of the decimal point."""
    cut = min((i for i in (text.find("."), text.find("e")) if i >= 0), default=len(text))
    return text[:cut], text[cut:]

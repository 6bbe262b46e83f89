"""Labels of ticks that are read as they stand: no offset, no common factor, no two that are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import Formatter, LogFormatter, MaxNLocator
from numpy.typing import NDArray

__all__ = ["FittingTicks", "PlainPowers", "PlainTicks", "prefixed", "tick_texts"]

_PREFIXES = {-9: "n", -6: "µ", -3: "m", 3: "k", 6: "M", 9: "G"}
_GROW = ("N", "N m", "J", "W")  # units that also take prefixes of large numbers: nobody says kilometre of a machine
_SHRINK = (*_GROW, "m", "m/s", "m/s2", "rad", "rad/s", "rad/s2", "s")
_PLAIN = 1e-2, 1e4  # sizes of numbers that need no prefix
_POWERS = -5, 7  # powers of ten from which on, and up to which, numbers are written out
_NICE = (1, 2, 2.5, 5, 10)  # steps between ticks
_WIDE, _BETWEEN = 0.66, 1.2  # of a font size: a digit, with room for wide ones, and the gap between two labels
_MOST = 17  # digits behind the point; more are rounding of numbers of double precision


def prefixed(unit: str, size: float) -> tuple[str, float]:
    """Unit with the prefix that suits numbers of a size, and how many of the plain unit it is.

    Examples
    --------
    >>> prefixed("N", 1.26e6), prefixed("m", 8e-3), prefixed("rad", 2.0)
    (('MN', 1000000.0), ('mm', 0.001), ('rad', 1.0))
    """
    known = _SHRINK if size < _PLAIN[0] else _GROW
    if unit not in known or not np.isfinite(size) or size <= 0.0 or _PLAIN[0] <= size < _PLAIN[1]:
        return unit, 1.0
    power = int(np.clip(3 * np.floor(np.log10(size) / 3.0 + 1e-12), min(_PREFIXES), max(_PREFIXES)))
    return (_PREFIXES[power] + unit, 10.0**power) if power in _PREFIXES else (unit, 1.0)


def tick_texts(values: Sequence[float] | NDArray[np.float64]) -> list[str]:
    """Texts of numbers, all with the digits that the smallest step between them needs.

    Each is within a hundredth of a step of its number. Large and small numbers are written with a power of ten, each
    its own.

    Examples
    --------
    >>> tick_texts([0.25, 0.5, 0.75]), tick_texts([0.00802395, 0.008024]), tick_texts([0.0, 2e-7])
    (['0.25', '0.50', '0.75'], ['0.00802395', '0.00802400'], ['0', '2e-7'])
    """
    x = np.asarray(values, dtype=float)
    largest = float(np.abs(x).max(initial=0.0))
    if not largest:
        return ["0"] * x.size
    steps = np.diff(np.unique(x))
    steps = steps[steps > 4.0 * np.finfo(float).eps * largest]  # less is rounding: the same tick twice
    step = float(steps.min(initial=largest))
    power = int(np.floor(np.log10(largest) + 1e-12))
    exact = max(0.01 * step, 4.0 * np.finfo(float).eps * largest)
    digits = -int(np.floor(np.log10(step))) - 1  # behind the point, or one less than needed
    while digits < _MOST + max(-power, 0) and np.abs(x - np.round(x, digits)).max() > exact:
        digits += 1
    if _POWERS[0] < power < _POWERS[1] or power + digits > 8:  # with so many digits a power of ten is no help
        return [_without_minus_zero(f"{v:.{max(digits, 0)}f}") for v in x]
    mantissas = [f"{v / 10.0**power:.{max(digits + power, 0)}f}" for v in x]
    return [f"{m}e{power}" if float(m) else "0" for m in mantissas]


def _without_minus_zero(text: str) -> str:
    return text.removeprefix("-") if not float(text) else text


class PlainTicks(Formatter):
    """Formatter of a linear axis: `tick_texts` of its ticks, in a unit.

    Parameters
    ----------
    factor : float
        The unit of the labels in that of the data: 1000 where labels are in kN and data in N.
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def format_ticks(self, values: Any) -> list[str]:
        """Texts of all ticks of an axis."""
        texts = tick_texts(np.asarray(values, dtype=float) / self.factor)
        return [self.fix_minus(text) for text in texts]

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Text of one number, as under a pointer of the mouse."""
        return self.fix_minus(f"{x / self.factor:.6g}")


class PlainPowers(LogFormatter):
    """Formatter of a logarithmic axis without raised letters, which are too small on a phone: 1e-6, 0.1, 10."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Text of a tick; none where the axis has room for powers of ten only."""
        if not super().__call__(x, pos):
            return ""
        power = int(np.floor(np.log10(x) + 1e-12))
        return self.fix_minus(f"{x:g}" if -3 < power < 4 else f"{x / 10.0**power:g}e{power}")


class FittingTicks(MaxNLocator):
    """Locator of a horizontal linear axis: as many ticks, nine at most, as their labels have room side by side.

    Parameters
    ----------
    factor : float
        As of `PlainTicks`, which writes the labels.
    inside : bool
        Whether labels at the ends, of which a part would be beside the axis, are left out: another panel is there.
    """

    def __init__(self, factor: float = 1.0, inside: bool = False) -> None:
        super().__init__(9, steps=_NICE)
        self.factor, self.inside = factor, inside

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Ticks from one end to the other, in steps of which whole labels fit."""
        axis: Any = self.axis
        width = axis.axes.bbox.width * 72.0 / axis.axes.figure.dpi  # points
        size = axis.get_major_ticks(1)[0].label1.get_fontsize()
        for count in range(9, 0, -1):
            found = np.asarray(MaxNLocator(count, steps=_NICE).tick_values(vmin, vmax))
            seen = found[(found >= min(vmin, vmax)) & (found <= max(vmin, vmax))]
            longest = max(map(len, tick_texts(seen / self.factor)), default=0)
            if len(seen) < 2 or (longest * _WIDE + _BETWEEN) * size < width * (seen[1] - seen[0]) / abs(vmax - vmin):
                break
        else:  # two labels are too long already
            found = seen[:1]
        if self.inside:
            half = 0.5 * longest * _WIDE * size / width * abs(vmax - vmin)
            found = found[(found - half >= min(vmin, vmax)) & (found + half <= max(vmin, vmax))]
        return found

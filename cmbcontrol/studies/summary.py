"""Summary of a study in words and numbers: how its runs ended, and how its measures are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.units import plain
from .variation import balance_of

if TYPE_CHECKING:
    from .study import Study

__all__ = ["HEAD", "MeasureLine", "measure_lines", "setting_lines", "summary", "yield_line"]

_QUANTILES = (0.05, 0.5, 0.95)
HEAD = ("5 %", "median", "95 %", "largest")  # of `MeasureLine.numbers`


class MeasureLine(NamedTuple):
    """Line of a summary with the statistics of one measure.

    Attributes
    ----------
    name, unit : str
    numbers : tuple of str
        Statistics as in `HEAD`, of the runs in which it is finite.
    runs : list of int
        Indices of the runs with the largest values, the worst first.
    """

    name: str
    unit: str
    numbers: tuple[str, ...]
    runs: list[int]


def measure_lines(found: Study, worst: int = 1) -> list[MeasureLine]:
    """Lines of the measures that have a finite value in some run."""
    lines = []
    for name in found.measures:
        values = found.data[name].values
        values = values[np.isfinite(values)]
        if values.size:
            numbers = (*np.quantile(values, _QUANTILES), values.max())
            unit = str(found.data[name].attrs.get("units", ""))
            lines.append(MeasureLine(name, unit, tuple(plain(x, 5) for x in numbers), found.worst(name, worst)))
    return lines


def setting_lines(found: Study, index: int) -> list[tuple[str, str]]:
    """Lines of the parameters of a run with their values."""
    values = found.values(index).items()
    return [(name, f"{x:.6g}" if isinstance(x, (float, np.floating)) else str(x)) for name, x in values]


def yield_line(found: Study, limits: Mapping[str, tuple[float, float]]) -> str:
    """Text with the share of the runs within limits of measures, and its confidence interval."""
    share = found.share(*((name, *pair) for name, pair in limits.items()))
    asked = "; ".join(f"{name} from {plain(low, 5)} to {plain(high, 5)}" for name, (low, high) in limits.items())
    between = f"{float(share['low']):.1%} to {float(share['high']):.1%}"
    return f"within limits ({asked}): {float(share['share']):.1%} of the runs (95 % confidence: {between})"


def summary(found: Study) -> str:
    """Summary as a text, for `print`."""
    lines = [f"study of {found.table.runs} runs, {len(found.rows)} done, {found.failures} of them failed"]
    lines += [f"  {count:6d}  {kind}" for kind, count in found.kinds.items()]
    if told := balance_of(found.table.sampling, found.table.samples):
        lines.append(f"  {told}")
    for name, unit, (low, median, high, largest), (run,) in measure_lines(found):
        values = f"median {median}, 5 to 95 % {low} to {high}, largest {largest} {unit}".rstrip()
        lines.append(f"  {name}: {values} (run {run})")
    return "\n".join(lines)

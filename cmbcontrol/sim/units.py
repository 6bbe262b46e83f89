"""Units of the data of a run, one for each column."""

from __future__ import annotations

import json

from .result import Simulation

__all__ = ["column_units"]


def column_units(run: Simulation, variable: str) -> list[str]:
    """Units of a variable of a run, one for each entry of its second dimension; "" for plants given by functions."""
    values = run.data[variable]
    told, count = str(values.attrs.get("units", "")), values.sizes[values.dims[1]]
    units = [str(u) for u in json.loads(told)] if told.startswith("[") else [told] * count
    return units if len(units) == count else [""] * count  # of a task that does not know them

"""Rows of runs as labelled data, and conversion back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .running import StudyRow
from .variation import VariationTable

if TYPE_CHECKING:
    import xarray

__all__ = ["as_dataset", "measures_of", "rows_of_dataset"]


def measures_of(rows: Sequence[StudyRow], first: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of all measures of some rows."""
    return tuple(dict.fromkeys([*first, *(name for row in rows for name in row.measures)]))


def as_dataset(
    rows: Sequence[StudyRow], table: VariationTable, measures: Sequence[str], units: Mapping[str, str]
) -> xarray.Dataset:
    """Dataset of rows by run: a variable for each parameter and measure, and status, message, reached and wall."""
    import xarray

    index = np.array([row.index for row in rows], dtype=np.int64)
    variables: dict[str, Any] = {}
    for name, column in table.columns.items():
        variables[name] = ("run", column[index], {"units": table.units.get(name, ""), "kind": "parameter"})
    for name in measures:
        values = np.array([row.measures.get(name, np.nan) for row in rows], dtype=np.float64)
        variables[name] = ("run", values, {"units": units.get(name, ""), "kind": "measure"})
    variables["status"] = ("run", np.array([row.status for row in rows], dtype=str))
    variables["message"] = ("run", np.array([row.message for row in rows], dtype=str))
    variables["reached"] = ("run", np.array([row.reached for row in rows], dtype=np.float64), {"units": "s"})
    variables["wall"] = ("run", np.array([row.wall for row in rows], dtype=np.float64), {"units": "s"})
    attrs = {"seed": table.seed, "sampling": table.sampling, "planned_runs": table.runs}
    return xarray.Dataset(variables, {"run": index}, attrs)


def rows_of_dataset(data: xarray.Dataset) -> list[StudyRow]:
    """Rows of a dataset, without the parameters."""
    names = [str(n) for n, x in data.data_vars.items() if x.attrs.get("kind") == "measure"]
    units = {n: str(data[n].attrs.get("units", "")) for n in names}
    values = [data[n].values.tolist() for n in names]
    columns = (data[n].values.tolist() for n in ("run", "status", "message", "reached", "wall"))
    return [
        StudyRow(
            index,
            {n: x[i] for n, x in zip(names, values, strict=True)},
            str(status),
            str(message),
            reached,
            wall,
            units,
        )
        for i, (index, status, message, reached, wall) in enumerate(zip(*columns, strict=True))
    ]

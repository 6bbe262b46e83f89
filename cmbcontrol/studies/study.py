"""Studies: many runs with parameters that vary, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _files, _netcdf
from .._notebook import Shown
from .._progress import Progress, Reporter
from ..errors import InputError, InputTypeError, Interrupted
from ..sim.result import load_run
from .case import check_case, identity, units_of
from .execution import Workers
from .folder import Folder
from .rows import as_dataset, measures_of
from .running import StudyRow, StudyTask, result_of, run_file
from .summary import summary
from .variation import VariationTable, table_of

if TYPE_CHECKING:
    import xarray

__all__ = ["Study", "study"]

Array = NDArray[np.float64]


def study(
    case: Callable[..., Any],
    vary: Mapping[str, Any],
    *,
    runs: int | None = None,
    sampling: str | ArrayLike = "random",
    seed: int = 0,
    measures: Mapping[str, Callable[[Any], float]] | None = None,
    measure_units: Mapping[str, str] | None = None,
    workers: Any = 1,
    folder: str | Path | None = None,
    keep: bool | Sequence[int] = False,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress = False,
) -> Study:
    """Run a case many times with varying parameters; each run becomes a row of numbers, also if it fails.

    The same call gives the same numbers to the last bit, on one core, on all, or on a cluster, and after an
    interruption: random numbers of a run follow from the seed and its index alone.

    Parameters
    ----------
    case : callable
        A `MachineCase`, whose parameters are the numbers of a machine; or ``case(**values)`` of the parameters by name,
        which returns a run, the arguments of `simulate` as a mapping (``{"plant": plant, "controller": law, "q0": q0,
        "t_end": 2.0}``), a `LinearModel`, or a mapping of names to numbers. Where it has an argument ``rng``, it gets
        random numbers of its own, for noise.
    vary : mapping of str to distribution, (low, high), sequence, or Vary
        Frozen distributions of `scipy.stats`, bounds of equally likely values, or lists of values. Each combination of
        the lists is run with each of the `runs` samples of the distributions. `Vary` adds a unit; those of numbers of
        a machine are known.
    runs : int, optional
        Number of samples; needed where something is drawn. Without distributions, repetitions.
    sampling : {"random", "latin-hypercube", "sobol", "halton"} or array_like, shape (runs, drawn)
        Distribution of the samples. Sobol samples are balanced for powers of two; other numbers are the first of the
        next one, which `print` of the study reports. Or a design of your own, such as one of SALib: shares of the
        distributions from 0 to 1, with a column for each parameter that is drawn, in their order.
    seed : int
    measures : mapping of str to callable, optional
        Functions of what the case returns (of a run, its `Simulation`) to a number; ready ones are made by
        `cmbcontrol.studies`, such as ``worst_error()``. Numbers that the case returns are measures themselves.
    measure_units : mapping of str to str, optional
        For tables and figures; ready measures need none.
    workers : int, "all" or dask.distributed.Client
        Processes on this machine, or a Dask cluster (the extra ``dask``).
    folder : path, optional
        Folder in which rows are kept while the study runs, in parts that are written completely or not at all. The same
        call goes on where it was interrupted or killed; another study is refused.
    keep : bool or sequence of int
        Keep whole runs in the folder: of all indices, or of these.
    time_limit : float, optional
        s for a run; a longer one is a row with status "time limit". Compiled code that is under way ends first.
    memory_limit : float, optional
        Bytes for the process of a worker, where the system knows such limits; not with ``workers=1``.
    progress : bool or callable
        Show a progress bar, or call with the fraction that is done.

    Returns
    -------
    Study

    Raises
    ------
    ValueError, TypeError
        For arguments that make no sense, and where the folder holds another study.
    FileError
        Where the folder cannot be written, or another study writes into it.
    Interrupted
        After Ctrl-C, a `KeyboardInterrupt`; it carries the `Study` of all that was done as ``partial``.

    Examples
    --------
    >>> from scipy import stats
    >>> def pendulum(length, gravity):
    ...     return {"frequency": (gravity / length) ** 0.5}
    >>> found = study(pendulum, {"length": stats.norm(1.0, 0.02), "gravity": [9.81, 1.62]}, runs=100)
    >>> found.data.sizes["run"], found.failures
    (200, 0)
    """
    table = table_of(vary, runs, sampling, seed)
    parameters = [name for name in table.columns if name != "repetition"]
    check_case(case, parameters)
    known = units_of(case, parameters)
    table = replace(table, units={name: unit or known.get(name, "") for name, unit in table.units.items()})
    given = dict(_check.mapping({} if measures is None else measures, "measures", "names to functions"))
    for name, measure in given.items():
        _check.name(name, "measure")
        if not callable(measure):
            raise InputTypeError(f"measure {name!r} must be a function of what the case returns, got {measure!r}")
    _require_distinct(given, tuple(table.columns))
    units = {name: getattr(measure, "unit", "") for name, measure in given.items()}
    units |= {} if measure_units is None else dict(_check.mapping(measure_units, "measure_units", "names to units"))
    limit = math.inf if time_limit is None else _check.positive(time_limit, "time_limit")
    memory = 0 if memory_limit is None else int(_check.positive(memory_limit, "memory_limit"))
    if memory and isinstance(workers, (int, np.integer)) and workers == 1:
        raise InputTypeError("memory_limit= is that of processes of workers: take workers=2 or more, or leave it out")
    kept = _kept(keep, table.runs)
    if folder is None and (kept is None or kept):
        raise InputTypeError("keep= needs a folder=, where whole runs are kept")
    task = StudyTask(case, given, limit, memory, "" if folder is None else str(folder), kept)
    made = Study(case, table, given, units, folder)
    tell = Reporter(progress, "study", table.runs)
    if folder is None:
        with tell:
            _collect(made, task, workers, None, tell)
        return made
    place = Folder(folder, _manifest(case, table, given))
    with place.held(), tell:
        made.rows = {row.index: row for row in place.rows()}
        _collect(made, task, workers, place, tell)
    return made


def _collect(made: Study, task: StudyTask, workers: Any, place: Folder | None, tell: Reporter) -> None:
    """Do the runs that are missing; after Ctrl-C all finished ones are kept."""
    total = made.table.runs
    left = [index for index in range(total) if index not in made.rows]
    tell.update(len(made.rows) / total)
    try:
        with Workers(task, workers) as place_of_work:
            for rows in place_of_work.rows(made.table, left) if left else ():
                _require_distinct((name for row in rows for name in row.measures), made.parameters)
                if place is not None:
                    place.write(made.dataset(rows))
                made.rows |= {row.index: row for row in rows}
                tell.update(len(made.rows) / total)
    except KeyboardInterrupt as error:
        where = "" if place is None else f"; the same call with folder={str(place.path)!r} goes on from there"
        raise Interrupted(f"the study was interrupted after {len(made.rows)} of {total} runs{where}", made) from error


def _require_distinct(measures: Iterable[str], parameters: Sequence[str]) -> None:
    """Raise an error for a measure that has the name of a parameter."""
    for name in measures:
        if name in (*parameters, "status", "message", "reached", "wall", "run"):
            raise InputError(
                f"a measure is called {name!r}, which is the name of something else in the rows; rename it"
            )


def _kept(keep: bool | Sequence[int], runs: int) -> frozenset[int] | None:
    if keep is True or keep is False:
        return None if keep else frozenset()
    indices = [_check.count(i, "an index of keep", 0) for i in _check.sequence(keep, "keep", "indices of runs")]
    for i in indices:
        if i >= runs:
            raise InputError(f"keep= names run {i}, and the study has {runs}")
    return frozenset(indices)


def _manifest(case: Callable[..., Any], table: VariationTable, measures: Mapping[str, Callable]) -> dict[str, Any]:
    """Manifest of a study: the data that distinguish it from others."""
    return {
        "runs": table.runs,
        "seed": table.seed,
        "sampling": table.sampling,
        "parameters": list(table.columns),
        "values": table.fingerprint,
        "measures": {name: identity(measure) for name, measure in measures.items()},
        "case": identity(case),
    }


class Study(Shown):
    """Results of a study: a row for each run.

    Attributes
    ----------
    data : xarray.Dataset
        Dimension run: ``run`` (index), a variable for each parameter and each measure (nan where a run failed), with
        units; ``status`` ("completed", or why not), ``message``, ``reached`` (time at which the run ended, s),
        ``wall`` (s).
    parameters, measures : tuple of str
        Names.
    """

    def __init__(
        self,
        case: Callable[..., Any],
        table: VariationTable,
        measures: Mapping[str, Callable],
        units: Mapping[str, str],
        folder: str | Path | None,
    ) -> None:
        self._case, self.table, self._measures, self._given_units = case, table, measures, units
        self.folder = None if folder is None else Path(folder)
        self.rows: dict[int, StudyRow] = {}
        self._data: tuple[int, xarray.Dataset] | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.table.columns)

    @property
    def measures(self) -> tuple[str, ...]:
        return measures_of(list(self.rows.values()), list(self._measures))

    @property
    def data(self) -> xarray.Dataset:
        if self._data is None or self._data[0] != len(self.rows):
            self._data = len(self.rows), self.dataset([self.rows[index] for index in sorted(self.rows)])
        return self._data[1]

    def dataset(self, rows: Sequence[StudyRow]) -> xarray.Dataset:
        """Dataset of some rows with their parameters."""
        told = {name: unit for row in rows for name, unit in row.units.items()}
        units = told | {name: unit for name, unit in self._given_units.items() if unit or name not in told}
        return as_dataset(rows, self.table, measures_of(rows, list(self._measures)), units)

    def save(self, path: str | Path) -> Path:
        """Write all rows to a netCDF file, which xarray opens."""
        return _files.write(_check.path(path), _netcdf.encoded(self.data))

    @property
    def failures(self) -> int:
        """Number of runs that failed."""
        return sum(row.status != "completed" for row in self.rows.values())

    @property
    def kinds(self) -> dict[str, int]:
        """Number of runs by status, the most frequent first."""
        found: dict[str, int] = {}
        for row in self.rows.values():
            found[row.status] = found.get(row.status, 0) + 1
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def __repr__(self) -> str:
        return f"<Study of {self.table.runs} runs: {len(self.rows)} done, {self.failures} failed>"

    def __str__(self) -> str:
        return summary(self)

    def _good(self, name: str) -> Array:
        """Finite values of a measure."""
        _check.one_of(name, self.measures, "measure")
        values = self.data[name].values
        return values[np.isfinite(values)]

    def values(self, index: int) -> dict[str, Any]:
        """Parameters of a run, by name."""
        return self.table.values(self._index(index))

    def _index(self, index: int) -> int:
        index = _check.count(index, "the index of a run", 0)
        if index >= self.table.runs:
            raise InputError(f"there is no run {index}: the study has {self.table.runs}")
        return index

    def rerun(self, index: int) -> Any:
        """Run one run again, with its own parameters: returns a `Simulation`, or what else the case returns.

        A run that was kept is read from the folder.

        Raises
        ------
        SimulationError
            As the run did, with all that was computed as ``partial``.
        """
        index = self._index(index)
        if self.folder is not None and run_file(self.folder, index).exists():
            return load_run(run_file(self.folder, index))
        return result_of(self._case, self.table.part([index]), 0)

    def worst(self, measure: str, count: int = 1, *, largest: bool = True) -> list[int]:
        """Indices of the runs with the largest (or smallest) values of a measure, the worst first."""
        _check.one_of(measure, self.measures, "measure")
        _check.flag(largest, "largest")
        values, index = self.data[measure].values, self.data["run"].values
        order = np.argsort(-values if largest else values, kind="stable")
        return [int(index[i]) for i in order if np.isfinite(values[i])][: _check.count(count, "count")]

    def statistics(self, measure: str, *, confidence: float = 0.95, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Any:
        """Mean, standard deviation and quantiles of a measure over the completed runs, with confidence intervals.

        Intervals of the mean are by Student's t; those of quantiles by order statistics, without assumptions about the
        distribution.

        Returns
        -------
        xarray.Dataset
            Variables ``mean``, ``std``, ``quantile`` (quantile), with ``..._low`` and ``..._high``.
        """
        from .evaluation import statistics

        return statistics(self, measure, confidence, quantiles)

    def share(self, *limits: tuple[str, float, float], confidence: float = 0.95) -> Any:
        """Share of all runs whose measures are within limits (measure, low, high), the yield; failed runs are not.

        Returns
        -------
        xarray.Dataset
            ``share``, and its confidence interval ``low``, ``high`` (Wilson).
        """
        from .evaluation import share

        return share(self, limits, confidence)

    def sensitivities(self, measure: str) -> Any:
        """Share of the variance of a measure that each numeric parameter explains, by linear regression.

        Returns
        -------
        xarray.Dataset
            By parameter: ``slope`` (unit of the measure by that of the parameter), ``standardized`` (per standard
            deviations), ``rank_correlation`` (Spearman); and ``explained``, R^2 of the whole.
        """
        from .evaluation import sensitivities

        return sensitivities(self, measure)

"""Tuning of gains by simulation: the smallest cost of a closed-loop run within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._progress import Progress, Reporter
from ..errors import CmbError, InputError, InputTypeError, Interrupted, SimulationError
from ..sim.result import Simulation
from ..sim.simulate import simulate
from ..studies.execution import Workers
from ..studies.running import StudyTask
from ..studies.variation import VariationTable, table_of

if TYPE_CHECKING:
    import xarray

__all__ = ["METHODS", "Range", "TuneResult", "tune"]

Array = NDArray[np.float64]

METHODS = ("nelder-mead", "powell", "cobyqa", "differential-evolution", "dual-annealing", "direct", "optuna")
_AT_ONCE = 8  # gains that optuna is asked for at a time, however many workers there are: else they would decide


@_check.knows_its_keywords
@dataclass(frozen=True)
class Range:
    """Bounds of a gain for `tune`.

    Parameters
    ----------
    low, high : float
    log : bool
        Search its logarithm: for gains of which the order of magnitude is unknown. Both bounds above zero.
    unit : str
        Unit of the gain, for tables and figures.
    start : float, optional
        Value at which a local method starts; the middle unless given.

    Examples
    --------
    >>> Range(1.0, 100.0, log=True).value(0.5)
    10.0
    """

    low: float
    high: float
    log: bool = False
    unit: str = ""
    start: float | None = None

    def __post_init__(self) -> None:
        _check.number(self.low, "the low bound")
        _check.number(self.high, "the high bound")
        _check.flag(self.log, "log of a Range")
        _check.text(self.unit, "unit of a Range")
        if self.start is not None:
            _check.number(self.start, "the start of a Range")
        if not self.low < self.high:
            raise InputError(f"the low bound must be below the high one, got {self.low} and {self.high}")
        if self.log and not self.low > 0.0:
            raise InputError(f"bounds on a logarithmic scale must be > 0, got {self.low}")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise InputError(f"the start {self.start} is not within the bounds {self.low} and {self.high}")

    def value(self, share: float) -> float:
        """Gain at a share of the range, 0 to 1."""
        share = min(max(float(share), 0.0), 1.0)
        if share in (0.0, 1.0):
            return float(self.high if share else self.low)
        if self.log:
            return math.exp(math.log(self.low) + share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """Share of the range, 0 to 1, at which a gain lies."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Result of `tune`: the best gains, their cost and run, and all evaluations.

    Attributes
    ----------
    gains : dict of str to float
        Best gains, by name; NaN where no gains were good.
    cost : float
    run : Simulation or None
        The run with these gains, of several cases that with the largest cost; None where no gains were good.
    data : xarray.Dataset
        Every evaluation in order, dimensions evaluation and gain: ``gains``, ``cost`` (of failed runs the
        penalty, and somewhat less where constraints are violated), ``best`` (smallest cost so far), ``violation`` (of
        constraints, relative), ``failed`` and ``failure`` (the reason).
    complete : bool
        False where the search was interrupted.
    message : str
        Message on the end of the search.
    """

    gains: dict[str, float]
    cost: float
    run: Simulation | None
    data: xarray.Dataset
    complete: bool
    message: str

    @property
    def evaluations(self) -> int:
        """Number of runs."""
        return int(self.data.sizes["evaluation"])

    @property
    def failures(self) -> int:
        """Number of runs that failed."""
        return int(self.data["failed"].sum())

    def __str__(self) -> str:
        units = dict(zip(self.data["gain"].values.tolist(), self.data["unit"].values.tolist(), strict=True))
        lines = [f"cost {self.cost:.6g} after {self.evaluations} runs, {self.failures} of them failed"]
        lines += [f"  {name:12} {value:.6g} {units[name]}".rstrip() for name, value in self.gains.items()]
        return "\n".join([*lines, f"  {self.message}"])


def tune(
    make: Callable[..., Simulation | Mapping[str, Any]],
    bounds: Mapping[str, Range | tuple[float, float]],
    cost: Callable[[Simulation], float],
    *,
    cases: Mapping[str, Any] | None = None,
    runs: int | None = None,
    sampling: str = "latin-hypercube",
    combine: str = "worst",
    constraints: Mapping[str, tuple[Callable[[Simulation], float], float, float]] | None = None,
    method: str = "nelder-mead",
    start: Mapping[str, float] | None = None,
    max_evaluations: int = 200,
    tolerance: float = 1e-3,
    seed: int = 0,
    penalty: float | None = None,
    workers: Any = 1,
    progress: Progress = False,
) -> TuneResult:
    """Gains with the smallest cost of a closed-loop simulation, within bounds.

    The same call gives the same answer: every random number comes from the seed.

    Parameters
    ----------
    make : callable
        ``make(**gains)`` returns a run, or the arguments of `simulate` as a mapping, such as
        ``{"plant": plant, "controller": law, "q0": q0, "t_end": 2.0}``.
    bounds : mapping of gain to Range or (low, high)
    cost : callable, run -> float
        Your own, or `error_cost`, `effort_cost`, `overshoot_cost`, a `weighted_cost` of these, or a measure of
        `cmbcontrol.studies`.
    cases : mapping of str to list or distribution, optional
        Robust design: ``make(**gains, **case)`` is run for every case. Variations are written as for `study`: lists,
        of which all combinations are taken, bounds and distributions, with `runs` samples, the same for all gains.
    runs : int, optional
        Number of samples, where some of the cases are drawn.
    sampling : str
        Design of the samples, as in `study`.
    combine : {"worst", "mean"}
        Cost that counts: the largest, or the mean, of all cases. Constraints hold in every case.
    constraints : mapping of str to (measure, low, high), optional
        Measures of a run that must be within limits, such as ``{"effort": (peak_effort(), 0.0, 60.0)}``. Gains that
        violate them rank behind all that do not, by how much they do (Deb, 2000).
    method : {"nelder-mead", "powell", "cobyqa", "differential-evolution", "dual-annealing", "direct", "optuna"}
        Method of scipy.optimize, on gains scaled to 0 ... 1. The first three search locally, the others globally;
        "optuna" is its tree of Parzen estimators (the extra ``optuna``), for few expensive runs.
    start : mapping of gain to float, optional
        Gains at which a local method starts; others start in the middle, or at the ``start`` of their `Range`. Global
        methods try them first.
    max_evaluations : int
        Largest number of runs.
    tolerance : float
        A local search ends where gains change by less, as a share of their ranges.
    seed : int
    penalty : float, optional
        Cost of a run that fails (`SimulationError`, or another error of this package, or a cost that is not finite):
        ten times the largest cost before it (1e6 where there is none) unless given. Failed runs are counted, and never
        end the search.
    workers : int, "all" or dask.distributed.Client
        Processes, or a cluster, for the cases of each evaluation, and for the gains that "differential-evolution" and
        "optuna" try at once. The answer does not depend on it.
    progress : bool or callable
        Show a progress bar with the runs that are done, of `max_evaluations`, and the time that these would take; or
        call with the fraction of them that is done.

    Returns
    -------
    TuneResult
        After Ctrl-C, `Interrupted` carries it, with all that was computed until then, and ``complete`` False.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments. Errors of `make` and `cost` that are not the package's own are handed on.
    Interrupted
        After Ctrl-C, a `KeyboardInterrupt`; it carries all that was tried as ``partial``.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> from cmbcontrol.design import error_cost
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.2, right=0.9)
    >>> def make(bandwidth):
    ...     law = ProjectedInverseDynamics(
    ...         plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=bandwidth, period=0.01
    ...     )
    ...     return {"plant": plant, "controller": law, "q0": q0, "t_end": 0.2, "output_times": 0.01}
    >>> found = tune(make, {"bandwidth": (2.0, 20.0)}, error_cost("IAE"), max_evaluations=8)
    >>> found.evaluations <= 8, found.gains["bandwidth"] > 15.0
    (True, True)
    """
    given = _check.mapping(bounds, "bounds", "gains to Range or (low, high)")
    ranges = {name: as_range(name, pair) for name, pair in given.items()}
    seed = _check.count(seed, "seed", 0)
    if penalty is not None:
        penalty = _check.number(penalty, "penalty")
    if not ranges:
        raise InputError("give bounds of at least one gain")
    _check.one_of(method, METHODS, "method")
    max_evaluations = _check.count(max_evaluations, "max_evaluations")
    _check.positive(tolerance, "tolerance")
    for what, function in (("make", make), ("cost", cost)):
        if not callable(function):
            raise InputTypeError(f"{what} must be callable, got {function!r}")
    given = dict(_check.mapping({} if start is None else start, "start", "gains to numbers"))
    for name, value in given.items():
        _check.number(value, f"the start of {_check.one_of(name, ranges, 'gain')!r}")
    x0 = np.array([r.share(_start_value(name, r, given.get(name))) for name, r in ranges.items()])
    bound = _as_constraints(constraints)
    _check.one_of(combine, ("worst", "mean"), "combine")
    table = table_of({} if cases is None else cases, runs if cases else 1, sampling, seed)
    for name in table.columns:
        if name in ranges:
            raise InputError(f"{name!r} is a gain and varies between the cases; give it another name")
    measures = {"cost": cost, **{name: measure for name, (measure, *_) in bound.items()}}
    task = StudyTask(make, measures, math.inf, 0, "", frozenset())
    tell = Reporter(progress, "tuning", max_evaluations)
    with Workers(task, workers) as place, tell:
        search = _Search(make, ranges, measures, bound, table, combine, max_evaluations, penalty, tell, place)
        try:
            message = _minimise(search, x0, method, tolerance, seed, bool(given))
        except _Enough:
            message = f"The largest number of {max_evaluations} runs was reached."
        except KeyboardInterrupt as error:
            result = search.result("The search was interrupted.", False)
            raise Interrupted(f"the search was interrupted after {result.evaluations} runs", result) from error
        return search.result(message, True)


def _as_constraints(given: Any) -> dict[str, tuple[Callable[[Simulation], float], float, float]]:
    found = {}
    for name, item in _check.mapping({} if given is None else given, "constraints", "names to limits").items():
        if not (isinstance(item, tuple) and len(item) == 3 and callable(item[0])) or name == "cost":
            raise InputTypeError(f"constraint {name!r} must be (measure, low, high), got {_check.shown(item)}")
        low, high = (_check.number(x, f"a limit of {name!r}", infinite=True) for x in item[1:])
        if not low <= high:
            raise InputError(f"the limits of {name!r} must be (low, high) with low <= high, got {low} and {high}")
        found[_check.name(name, "constraint")] = item[0], low, high
    return found


def as_range(name: str, given: Any) -> Range:
    if isinstance(given, Range):
        return given
    return Range(*_check.pair(given, f"the bounds of {name!r} (a Range or a pair)"))


def _start_value(name: str, r: Range, given: float | None) -> float:
    if given is None:
        return r.value(0.5) if r.start is None else r.start
    if not r.low <= _check.number(given, f"the start of {name!r}") <= r.high:
        raise InputError(f"the start {given} of {name!r} is not within its bounds {r.low} and {r.high}")
    return float(given)


def _minimise(search: _Search, x0: Array, method: str, tolerance: float, seed: int, try_start: bool) -> str:
    """Search by a method; returns a message on its end, and raises `_Enough` where the runs are used up."""
    from scipy import optimize  # imported where used

    box = [(0.0, 1.0)] * x0.size
    if method == "nelder-mead":
        steps = np.where(x0 + 0.25 <= 1.0, 0.25, -0.25)
        # it ends where the corners are that near to each other, whatever their costs
        options: dict[str, Any] = {"xatol": tolerance, "fatol": np.inf, "maxfev": 10**9, "maxiter": 10**9}
        options["initial_simplex"] = np.vstack([x0, x0 + np.diag(steps)])
        found = optimize.minimize(search, x0, method="Nelder-Mead", bounds=box, options=options)
    elif method == "powell":
        options = {"xtol": tolerance, "ftol": 1e-12, "maxfev": 10**9, "maxiter": 10**9}
        found = optimize.minimize(search, x0, method="Powell", bounds=box, options=options)
    elif method == "cobyqa":
        options = {"initial_tr_radius": 0.25, "final_tr_radius": tolerance, "maxfev": search.most + 1, "maxiter": 10**6}
        found = optimize.minimize(search, x0, method="COBYQA", bounds=box, options=options)
    elif method == "differential-evolution":
        options = {"x0": x0} if try_start else {}
        options |= {"workers": search.many, "updating": "deferred"}  # however many there are: else they would decide
        found = optimize.differential_evolution(
            search, box, seed=seed, maxiter=10**6, polish=False, tol=tolerance, **options
        )
    elif method == "optuna":
        return _by_optuna(search, x0, seed, try_start)
    elif method == "dual-annealing":
        first = {"x0": x0} if try_start else {}
        found = optimize.dual_annealing(search, box, seed=seed, maxiter=10**6, **first)
    else:
        if try_start:
            search(x0)
        found = optimize.direct(search, box, maxfun=10**6, maxiter=10**6, len_tol=tolerance)
    text = found.message[0] if isinstance(found.message, (list, tuple)) else found.message
    return f"The search ended by itself: {text}"


# Statuses of rows whose fault another try does not mend: errors of Python, and of calls.
_MISTAKES = ("InputError", "InputTypeError", "TypeError", "NameError", "AttributeError", "KeyError", "IndexError")


class _Enough(Exception):
    """Exception that ends a search: the runs are used up."""


def _by_optuna(search: _Search, x0: Array, seed: int, try_start: bool) -> str:
    """Run trials of a tree of Parzen estimators, some at a time, until the runs are used up."""
    import warnings

    try:
        import optuna
    except ImportError as error:
        raise InputError('method="optuna" needs it: pip install "cmbcontrol[optuna]"') from error
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that waiting trials are guessed is experimental
            sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
            found = optuna.create_study(sampler=sampler)
            names = list(search.ranges)
            if try_start:
                found.enqueue_trial(dict(zip(names, x0.tolist(), strict=True)))
            space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
            while True:
                trials = [found.ask(space) for _ in range(_AT_ONCE)]
                for trial, value in zip(
                    trials, search.many(search, [[t.params[n] for n in names] for t in trials]), strict=True
                ):
                    found.tell(trial, value)
    finally:
        optuna.logging.set_verbosity(level)


class _Outcome(NamedTuple):
    """Outcome of the runs of all cases with some gains.

    Attributes
    ----------
    cost : float
        Combined cost.
    violation : float
        Sum over constraints and cases of the excess of a measure over its limit, relative to the limit.
    failure : str
        Reason of the failure of a run; empty where none failed.
    case : int
        Index of the case with the largest cost.
    run : Simulation or None
        Run of that case, where it was done in this process.
    """

    cost: float
    violation: float
    failure: str
    case: int
    run: Simulation | None


class _Search:
    """Cost function of gains, which keeps all that was tried."""

    def __init__(
        self,
        make: Callable,
        ranges: dict[str, Range],
        measures: dict[str, Callable],
        bound: dict[str, tuple[Callable, float, float]],
        cases: VariationTable,
        combine: str,
        most: int,
        penalty: float | None,
        tell: Any,
        place: Workers,
    ) -> None:
        self.make, self.ranges, self.measures, self.bound = make, ranges, measures, bound
        self.cases, self.combine, self.most, self.tell, self.place = cases, combine, most, tell, place
        self.penalty = penalty
        self.parallel = not place.here
        self.tried: list[tuple[Array, float, str, float]] = []
        self.best: tuple[float, Array, _Outcome | None] = (np.inf, np.full(len(ranges), np.nan), None)

    def __call__(self, x: Array) -> float:
        """Cost of gains given as shares of their ranges."""
        return self.many(self, [x])[0]

    def many(self, _: Any, shares: Iterable[Array]) -> list[float]:
        """Costs of several gains, given as shares, as a ``map`` of scipy; raises `_Enough` when no runs are left."""
        asked = list(shares)
        listed = asked[: self.most - len(self.tried)]
        if not listed:
            raise _Enough
        pairs = [zip(self.ranges.values(), np.atleast_1d(x), strict=True) for x in listed]
        gains = [np.array([r.value(share) for r, share in pair]) for pair in pairs]
        found = self._elsewhere(gains) if self.parallel else map(self._here, gains)
        values = [self._tried(g, outcome) for g, outcome in zip(gains, found, strict=True)]
        if len(listed) < len(asked):
            raise _Enough
        return values

    def _tried(self, gains: Array, outcome: _Outcome) -> float:
        """Keep the outcome of some gains; returns their cost for the search, with penalties."""
        value = outcome.cost
        if outcome.failure:
            value = self._failed()
        elif outcome.violation > 0.0:  # behind all that violate nothing, before failures
            value = self._failed() * (1.0 - 0.5 / (1.0 + outcome.violation))
        self.tried.append((gains, value, outcome.failure, outcome.violation))
        if not outcome.failure and not outcome.violation and value < self.best[0]:
            self.best = (value, gains, outcome)
        self.tell.update(len(self.tried) / self.most)
        return value

    def _here(self, gains: Array) -> _Outcome:
        """Outcome of the runs of all cases with some gains, in this process."""
        rows, runs, failure = [], [], ""
        for k in range(self.cases.runs):
            run, told, why = self._run({**self._gains(gains), **self._case(k)})
            rows.append(told)
            runs.append(run)
            failure = failure or why
        return self._combined(rows, runs, failure)

    def _elsewhere(self, gains: list[Array]) -> list[_Outcome]:
        """Outcomes of the runs of all cases with several gains, in processes or on a cluster."""
        count = self.cases.runs
        columns = {n: np.repeat([g[i] for g in gains], count) for i, n in enumerate(self.ranges)}
        varied = {n: x for n, x in self.cases.columns.items() if n != "repetition"}
        columns |= {n: np.tile(x, len(gains)) for n, x in varied.items()}
        table = VariationTable(columns, {}, self.cases.seed, self.cases.sampling)
        rows = {row.index: row for some in self.place.rows(table, range(table.runs)) for row in some}
        found = []
        for i in range(len(gains)):
            own = [rows[i * count + k] for k in range(count)]
            for row in own:
                if row.status in _MISTAKES:
                    raise InputError(f"{row.status}: {row.message}")
            why = next((row.message or row.status for row in own if row.status != "completed"), "")
            told = [row.measures for row in own]
            if not why and not all(math.isfinite(x["cost"]) for x in told):
                why = "the cost is not finite"
            found.append(self._combined(told, [None] * count, why))
        return found

    def _combined(self, rows: list[dict[str, float]], runs: list[Any], failure: str) -> _Outcome:
        if failure:
            return _Outcome(np.nan, 0.0, failure, 0, None)
        costs = np.array([row["cost"] for row in rows])
        violation = 0.0
        for name, (_, low, high) in self.bound.items():
            for row in rows:
                x = row[name]
                outside, limit = max((low - x, low), (x - high, high))
                if not math.isfinite(x):
                    violation = np.inf
                elif outside > 0.0:
                    violation += outside / (abs(limit) if limit else 1.0)
        case = int(costs.argmax())
        combined = costs.max() if self.combine == "worst" else costs.mean()
        return _Outcome(float(combined), min(violation, 1e12), "", case, runs[case])

    def _gains(self, gains: Array) -> dict[str, float]:
        return dict(zip(self.ranges, gains.tolist(), strict=True))

    def _case(self, k: int) -> dict[str, Any]:
        values = self.cases.values(k)
        values.pop("repetition", None)
        return values

    def _run(self, values: dict[str, Any]) -> tuple[Simulation | None, dict[str, float], str]:
        """Run with its measures and an empty text, or with the reason why it failed."""
        try:
            made = self.make(**values)
            if isinstance(made, Mapping):
                made = simulate(**made)
            if not isinstance(made, Simulation):
                raise InputTypeError(f"make must return a run, or the arguments of simulate as a mapping, got {made!r}")
            told = {name: float(measure(made)) for name, measure in self.measures.items()}
        except (InputError, InputTypeError):  # a mistake in a call, which another try does not mend
            raise
        except SimulationError as error:
            return None, {}, str(error)
        except CmbError as error:
            return None, {}, f"{type(error).__name__}: {error}"
        return made, told, "" if math.isfinite(told["cost"]) else f"the cost is {told['cost']}"

    def _failed(self) -> float:
        """Cost of a failed run: the penalty, or ten times the largest cost of good runs before it."""
        if self.penalty is not None:
            return self.penalty
        good = [abs(value) for _, value, failure, violation in self.tried if not failure and not violation]
        return 10.0 * max(good) if good and max(good) > 0.0 else 1e6

    def result(self, message: str, complete: bool) -> TuneResult:
        """Result of the search, with everything that was tried, labelled."""
        import xarray

        gains = np.array([g for g, *_ in self.tried]).reshape(len(self.tried), len(self.ranges))
        costs, failures = np.array([c for _, c, *_ in self.tried]), [f for _, _, f, _ in self.tried]
        violations = np.array([v for *_, v in self.tried], dtype=np.float64)
        good = np.where([bool(f) for f in failures] | (violations > 0.0), np.inf, costs) if failures else costs
        data = xarray.Dataset(
            {
                "gains": (("evaluation", "gain"), gains),
                "cost": ("evaluation", costs),
                "best": ("evaluation", np.minimum.accumulate(good) if good.size else good),
                "violation": ("evaluation", violations),
                "failed": ("evaluation", np.array([bool(f) for f in failures], dtype=bool)),
                "failure": ("evaluation", np.array(failures, dtype=str)),
            },
            {
                "evaluation": np.arange(1, len(self.tried) + 1),
                "gain": list(self.ranges),
                "unit": ("gain", np.array([r.unit for r in self.ranges.values()], dtype=str)),
                "low": ("gain", np.array([r.low for r in self.ranges.values()], dtype=float)),
                "high": ("gain", np.array([r.high for r in self.ranges.values()], dtype=float)),
                "log": ("gain", np.array([r.log for r in self.ranges.values()], dtype=bool)),
            },
        )
        value, best, outcome = self.best
        if not math.isfinite(value) and failures:
            if all(failures):
                message += f" Every run failed, the last with: {failures[-1]}"
            else:
                message += (
                    f" No gains keep the constraints; the nearest are off by {violations.min():.3g} of the limits"
                )
        run = None if outcome is None else outcome.run
        if outcome is not None and run is None:  # it was done elsewhere
            run = self._run({**self._gains(best), **self._case(outcome.case)})[0]
        return TuneResult(
            dict(zip(self.ranges, best.tolist(), strict=True)), float(value), run, data, complete, message
        )

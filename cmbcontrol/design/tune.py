"""Gains by simulation: the smallest cost of a closed-loop run within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._progress import Progress, Reporter
from ..errors import CmbError, InputError, InputTypeError, Interrupted, SimulationError
from ..sim.result import Simulation
from ..sim.simulate import simulate

if TYPE_CHECKING:
    import xarray

__all__ = ["METHODS", "Range", "TuneResult", "tune"]

Array = NDArray[np.float64]

METHODS = ("nelder-mead", "powell", "cobyqa", "differential-evolution", "dual-annealing", "direct")
_LOCAL = ("nelder-mead", "powell", "cobyqa")


@dataclass(frozen=True)
class Range:
    """Bounds of a gain.

    Parameters
    ----------
    low, high : float
    log : bool
        Search its logarithm: for gains of which the order of magnitude is unknown. Both bounds above zero.
    unit : str
        For tables and figures.
    start : float, optional
        Where a local method starts; the middle unless given.

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
        """The gain at a share of the range, 0 to 1."""
        share = min(max(float(share), 0.0), 1.0)
        if share in (0.0, 1.0):
            return float(self.high if share else self.low)
        if self.log:
            return math.exp(math.log(self.low) + share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """The share of the range, 0 to 1, that a gain is at."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, eq=False)
class TuneResult:
    """What `tune` found.

    Attributes
    ----------
    gains : dict of str to float
        The best, by name.
    cost : float
    run : Simulation or None
        The run with these gains; None where every run failed.
    data : xarray.Dataset
        Every evaluation in order, dimensions evaluation and gain: ``gains``, ``cost`` (of failed runs the
        penalty), ``best`` (smallest cost so far), ``failed`` and ``failure`` (why).
    complete : bool
        False where the search was interrupted.
    message : str
        How the search ended.
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
    method: str = "nelder-mead",
    start: Mapping[str, float] | None = None,
    max_evaluations: int = 200,
    tolerance: float = 1e-3,
    seed: int = 0,
    penalty: float | None = None,
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
        Your own, or `error_cost`, `effort_cost`, `overshoot_cost`, or a `weighted_cost` of these.
    method : {"nelder-mead", "powell", "cobyqa", "differential-evolution", "dual-annealing", "direct"}
        Of scipy.optimize, on gains scaled to 0 ... 1. The first three look nearby, the others everywhere.
    start : mapping of gain to float, optional
        Where a local method starts; what it does not name starts in the middle, or as its `Range` says. Global methods
        try it first.
    max_evaluations : int
        Largest number of runs.
    tolerance : float
        A local search ends where gains change by less, as a share of their ranges.
    seed : int
    penalty : float, optional
        Cost of a run that fails (`SimulationError`, or another error of this package, or a cost that is not finite):
        ten times the largest cost before it (1e6 where there is none) unless given. Failed runs are counted, and never
        end the search.
    progress : bool or callable
        Show a progress bar, or call with the fraction of `max_evaluations` that is done.

    Returns
    -------
    TuneResult
        Also on Ctrl-C: with all that was computed until then, and ``complete`` False.

    Raises
    ------
    TypeError, ValueError
        For arguments that make no sense. Errors of `make` and `cost` that are not the package's own are handed on.
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
    ranges = {name: _as_range(name, pair) for name, pair in given.items()}
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
    search = _Search(make, ranges, cost, max_evaluations, penalty, Reporter(progress, "tuning"))
    with search.tell:
        try:
            message = _minimise(search, x0, method, tolerance, seed, bool(given))
        except _Enough:
            message = f"The largest number of {max_evaluations} runs was reached."
        except KeyboardInterrupt as error:
            result = search.result("The search was interrupted.", False)
            raise Interrupted(f"the search was interrupted after {result.evaluations} runs", result) from error
    return search.result(message, True)


def _as_range(name: str, given: Any) -> Range:
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
    """The method's own end, in words; `_Enough` where the runs are used up."""
    from scipy import optimize  # imported where used

    box = [(0.0, 1.0)] * x0.size
    if method == "nelder-mead":
        steps = np.where(x0 + 0.25 <= 1.0, 0.25, -0.25)
        # it ends where the corners are that near to each other, whatever their costs
        options = {"xatol": tolerance, "fatol": np.inf, "maxfev": 10**9, "maxiter": 10**9}
        options["initial_simplex"] = np.vstack([x0, x0 + np.diag(steps)])
        found = optimize.minimize(search, x0, method="Nelder-Mead", bounds=box, options=options)
    elif method == "powell":
        options = {"xtol": tolerance, "ftol": 1e-12, "maxfev": 10**9, "maxiter": 10**9}
        found = optimize.minimize(search, x0, method="Powell", bounds=box, options=options)
    elif method == "cobyqa":
        options = {"initial_tr_radius": 0.25, "final_tr_radius": tolerance, "maxfev": search.most + 1, "maxiter": 10**6}
        found = optimize.minimize(search, x0, method="COBYQA", bounds=box, options=options)
    elif method == "differential-evolution":
        first = {"x0": x0} if try_start else {}
        found = optimize.differential_evolution(
            search, box, seed=seed, maxiter=10**6, polish=False, tol=tolerance, **first
        )
    elif method == "dual-annealing":
        first = {"x0": x0} if try_start else {}
        found = optimize.dual_annealing(search, box, seed=seed, maxiter=10**6, **first)
    else:
        if try_start:
            search(x0)
        found = optimize.direct(search, box, maxfun=10**6, maxiter=10**6, len_tol=tolerance)
    text = found.message[0] if isinstance(found.message, (list, tuple)) else found.message
    return f"The search ended by itself: {text}"


class _Enough(Exception):
    """The runs are used up."""


class _Search:
    """The cost of gains, and all that was tried."""

    def __init__(
        self, make: Callable, ranges: dict[str, Range], cost: Callable, most: int, penalty: float | None, tell: Any
    ) -> None:
        self.make, self.ranges, self.cost, self.most, self.tell = make, ranges, cost, most, tell
        self.penalty = None if penalty is None else _check.number(penalty, "penalty")
        self.tried: list[tuple[Array, float, str]] = []
        self.best: tuple[float, Array, Simulation | None] = (np.inf, np.full(len(ranges), np.nan), None)

    def __call__(self, x: Array) -> float:
        """Cost of gains given as shares of their ranges."""
        if len(self.tried) >= self.most:
            raise _Enough
        gains = np.array([r.value(share) for r, share in zip(self.ranges.values(), np.atleast_1d(x), strict=True)])
        run, value, failure = self._run(gains)
        if failure:
            value = self._failed()
        self.tried.append((gains, value, failure))
        if not failure and value < self.best[0]:
            self.best = (value, gains, run)
        self.tell.update(len(self.tried) / self.most)
        return value

    def _run(self, gains: Array) -> tuple[Simulation | None, float, str]:
        """A run with its cost, or why it failed."""
        try:
            made = self.make(**dict(zip(self.ranges, gains.tolist(), strict=True)))
            if isinstance(made, Mapping):
                made = simulate(**made)
            if not isinstance(made, Simulation):
                raise InputTypeError(f"make must return a run, or the arguments of simulate as a mapping, got {made!r}")
            value = float(self.cost(made))
        except (InputError, InputTypeError):  # a mistake in a call, which another try does not mend
            raise
        except SimulationError as error:
            return None, np.nan, str(error)
        except CmbError as error:
            return None, np.nan, f"{type(error).__name__}: {error}"
        return made, value, "" if math.isfinite(value) else f"the cost is {value}"

    def _failed(self) -> float:
        """What a failed run costs."""
        if self.penalty is not None:
            return self.penalty
        good = [abs(value) for _, value, failure in self.tried if not failure]
        return 10.0 * max(good) if good and max(good) > 0.0 else 1e6

    def result(self, message: str, complete: bool) -> TuneResult:
        """Everything that was tried, labelled."""
        import xarray

        gains = np.array([g for g, _, _ in self.tried]).reshape(len(self.tried), len(self.ranges))
        costs = np.array([c for _, c, _ in self.tried])
        failures = [f for _, _, f in self.tried]
        good = np.where([bool(f) for f in failures], np.inf, costs) if failures else costs
        data = xarray.Dataset(
            {
                "gains": (("evaluation", "gain"), gains),
                "cost": ("evaluation", costs),
                "best": ("evaluation", np.minimum.accumulate(good) if good.size else good),
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
        value, best, run = self.best
        if not math.isfinite(value) and failures:
            message += f" Every run failed, the last with: {failures[-1]}"
        return TuneResult(
            dict(zip(self.ranges, best.tolist(), strict=True)), float(value), run, data, complete, message
        )

"""Evaluation of the rows of a study: statistics, yield, sensitivities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import CONSTANT
from ..errors import InputError
from .case import check_case, identity, takes_random
from .variation import INSIDE, varied_of

if TYPE_CHECKING:
    import xarray

    from .study import Study

__all__ = ["sensitivities", "share", "sobol_indices", "statistics"]

Array = NDArray[np.float64]


def statistics(study: Study, measure: str, confidence: float, quantiles: ArrayLike) -> xarray.Dataset:
    """Statistics of a measure; see `Study.statistics`."""
    import xarray
    from scipy import stats

    values, level = np.sort(study._good(measure)), _level(confidence)
    n = values.size
    if n < 2:
        raise InputError(f"measure {measure!r} has {n} finite values: statistics need two or more")
    at = _check.numbers(quantiles, "quantiles")
    at = _check.vector(at, at.size, "quantiles")
    if ((at <= 0.0) | (at >= 1.0)).any():
        raise InputError(f"quantiles must be between 0 and 1, got {at.tolist()}")
    unit = study.data[measure].attrs["units"]
    mean, std = float(values.mean()), float(values.std(ddof=1))
    half = float(stats.t.ppf(0.5 + 0.5 * level, n - 1)) * std / np.sqrt(n)
    spread = np.sqrt((n - 1) / stats.chi2.ppf([0.5 + 0.5 * level, 0.5 - 0.5 * level], n - 1))
    # the k-th smallest of n values is below the quantile p with the probability of k or more successes of n
    low = np.clip(stats.binom.ppf(0.5 - 0.5 * level, n, at).astype(int) - 1, 0, n - 1)
    high = np.clip(stats.binom.ppf(0.5 + 0.5 * level, n, at).astype(int), 0, n - 1)
    data = {
        "mean": mean, "mean_low": mean - half, "mean_high": mean + half,
        "std": std, "std_low": std * spread[0], "std_high": std * spread[1],
        "quantile": ("probability", np.quantile(values, at)),
        "quantile_low": ("probability", values[low]), "quantile_high": ("probability", values[high]),
    }  # fmt: skip
    found = xarray.Dataset(data, {"probability": at}, {"measure": measure, "confidence": level, "runs": n})
    for name in found.data_vars:
        found[name].attrs["units"] = unit
    return found


def share(study: Study, limits: Sequence[tuple[str, float, float]], confidence: float) -> xarray.Dataset:
    """Share of the runs within limits; see `Study.share`."""
    import xarray
    from scipy import stats

    level, total = _level(confidence), len(study.rows)
    if not limits:
        raise InputError("give limits of a measure, (name, low, high)")
    if not total:
        raise InputError("no run has been done")
    good = np.ones(total, dtype=bool)
    for item in limits:
        if not isinstance(item, tuple) or len(item) != 3:
            raise InputError(f"a limit is (measure, low, high), got {_check.shown(item)}")
        name, low, high = item
        _check.one_of(name, study.measures, "measure")
        values = study.data[name].values
        good &= (values >= low) & (values <= high)  # nan is neither
    count = int(good.sum())
    z = float(stats.norm.ppf(0.5 + 0.5 * level))
    p, n = count / total, total
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    data = {"share": p, "low": max(middle - half, 0.0), "high": min(middle + half, 1.0), "count": count}
    return xarray.Dataset(data, attrs={"confidence": level, "runs": total})


def sensitivities(study: Study, measure: str) -> xarray.Dataset:
    """Sensitivities of a measure by regression; see `Study.sensitivities`."""
    import xarray
    from scipy import stats

    _check.one_of(measure, study.measures, "measure")
    data = study.data
    values = data[measure].values
    good = np.isfinite(values)
    names = [
        n for n in study.parameters if data[n].dtype.kind == "f" and good.any() and np.ptp(data[n].values[good]) > 0.0
    ]
    if not names:
        raise InputError("no numeric parameter varies, so nothing can be said about sensitivities")
    if good.sum() <= len(names) + 1:
        raise InputError(f"{good.sum()} completed runs are too few for {len(names)} parameters")
    X = np.array([data[n].values[good] for n in names]).T
    y = values[good]
    if np.ptp(y) <= CONSTANT * np.abs(y).max():
        y = np.zeros_like(y)  # slopes of what is rounding say nothing
    centred, spread = X - X.mean(axis=0), X.std(axis=0)
    beta = np.linalg.lstsq(centred / spread, y - y.mean(), rcond=None)[0]
    residual = y - y.mean() - centred / spread @ beta
    variance = float(((y - y.mean()) ** 2).sum())
    explained = 1.0 - float((residual**2).sum()) / variance if variance > 0.0 else 0.0
    scale = y.std() if y.std() > 0.0 else 1.0
    correlation = [float(stats.spearmanr(column, y).statistic) if y.std() > 0.0 else 0.0 for column in X.T]
    found = {
        "slope": ("parameter", beta / spread),
        "standardized": ("parameter", beta / scale),
        "rank_correlation": ("parameter", np.array(correlation)),
        "explained": explained,
    }
    return xarray.Dataset(found, {"parameter": names}, {"measure": measure})


def sobol_indices(
    case: Callable[..., Any],
    vary: Mapping[str, Any],
    measure: str,
    *,
    runs: int = 1024,
    seed: int = 0,
    confidence: float = 0.95,
    **options: Any,
) -> xarray.Dataset:
    """Sobol's indices: shares of the variance of a measure by each parameter, alone and with all others.

    By Saltelli's design, `runs` (d + 2) runs of d independent parameters, with the estimators of Saltelli et al. (2010)
    for first-order and of Jansen (1999) for total indices; confidence intervals by bootstrap.

    Parameters
    ----------
    case, vary
        Case and parameters as in `study`; all parameters are distributions or bounds.
    measure : str
        The measure whose variance is analysed.
    runs : int
        Base samples; a power of two.
    seed : int
    confidence : float
    **options
        Options of `study`: measures, workers, folder, and so on.

    Returns
    -------
    xarray.Dataset
        By parameter ``first``, ``total``, with ``..._low`` and ``..._high``; `failures` in its attrs: base samples with
        a run that failed are left out.

    Raises
    ------
    ValueError
        For lists of values, and where too few runs were completed.

    Examples
    --------
    >>> def weighted(a, b):
    ...     return {"y": 3.0 * a + 4.0 * b}
    >>> found = sobol_indices(weighted, {"a": (0.0, 1.0), "b": (0.0, 1.0)}, "y", runs=1024)
    >>> found.first.round(2).values
    array([0.36, 0.64])
    """
    import xarray

    from .study import study

    known, n, seed = varied_of(vary), _check.count(runs, "runs", 2), _check.count(seed, "seed", 0)
    if n & (n - 1):
        raise InputError(f"runs= must be a power of two, for which Sobol samples are balanced, got {n}")
    listed = [name for name, how in known.items() if how.listed is not None]
    if listed or not known:
        raise InputError(f"Sobol's indices are those of distributions, and {listed or 'nothing'} is a list of values")
    check_case(case, list(known))
    names = list(known)
    from scipy.stats import qmc

    d, level = len(names), _level(confidence)
    points = np.clip(qmc.Sobol(2 * d, rng=np.random.default_rng(seed)).random(n), *INSIDE)
    A, B = points[:, :d], points[:, d:]
    mixed = [np.where(np.arange(d) == i, B, A) for i in range(d)]
    shares = np.concatenate([A, B, *mixed])
    drawn = {name: known[name].value(shares[:, k]) for k, name in enumerate(names)}
    run = _Indexed(case, drawn)
    found = study(run, {"sample": list(range(len(shares)))}, seed=seed, **options)
    _check.one_of(measure, found.measures, "measure")
    y = np.full(len(shares), np.nan)
    y[found.data["run"].values] = found.data[measure].values
    f_A, f_B, f_mixed = y[:n], y[n : 2 * n], y[2 * n :].reshape(d, n)
    good = np.isfinite(f_A) & np.isfinite(f_B) & np.isfinite(f_mixed).all(axis=0)
    if good.sum() < 8:
        raise InputError(f"only {good.sum()} of {n} base samples were completed with all their runs")
    f_A, f_B, f_mixed = f_A[good], f_B[good], f_mixed[:, good]
    rng = np.random.default_rng([seed, 1])
    picks = rng.integers(0, f_A.size, (500, f_A.size))
    first, total = _indices(f_A, f_B, f_mixed)
    boot = np.array([_indices(f_A[p], f_B[p], f_mixed[:, p]) for p in picks])
    low, high = np.quantile(boot, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
    data = {
        "first": ("parameter", first), "first_low": ("parameter", low[0]), "first_high": ("parameter", high[0]),
        "total": ("parameter", total), "total_low": ("parameter", low[1]), "total_high": ("parameter", high[1]),
    }  # fmt: skip
    attrs = {"measure": measure, "confidence": level, "runs": len(shares), "failures": int(found.failures)}
    return xarray.Dataset(data, {"parameter": names}, attrs)


class _Indexed:
    """Case whose parameters are found by the number of the sample."""

    def __init__(self, case: Callable[..., Any], drawn: Mapping[str, Array]) -> None:
        self.case, self.drawn = case, drawn

    def __call__(self, sample: float, rng: np.random.Generator) -> Any:
        values: dict[str, Any] = {name: float(x[int(sample)]) for name, x in self.drawn.items()}
        return self.case(**values, **({"rng": rng} if takes_random(self.case) else {}))

    def described(self) -> str:
        """Text with everything that distinguishes this case from others."""
        return f"{identity(self.case)} {[(name, x.tolist()) for name, x in self.drawn.items()]}"


def _indices(f_A: Array, f_B: Array, f_mixed: Array) -> tuple[Array, Array]:
    """First-order and total indices; values are centred, so that a large mean costs no digits."""
    middle = 0.5 * (f_A.mean() + f_B.mean())
    a, b, m = f_A - middle, f_B - middle, f_mixed - middle
    variance = float(np.concatenate([a, b]).var())
    if not variance > 0.0:
        return np.zeros(len(m)), np.zeros(len(m))
    return (b * (m - a)).mean(axis=1) / variance, 0.5 * ((a - m) ** 2).mean(axis=1) / variance


def _level(confidence: float) -> float:
    level = _check.positive(confidence, "confidence")
    if level >= 1.0:
        raise InputError(f"confidence must be between 0 and 1, got {level}")
    return level

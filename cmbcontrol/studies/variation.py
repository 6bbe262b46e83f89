"""Variation of parameters in a study: lists, distributions, and the table of all runs that follows from a seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError

__all__ = ["INSIDE", "SAMPLINGS", "PartOfVariation", "VariationTable", "Vary", "balance_of", "table_of", "varied_of"]

Array = NDArray[np.float64]

INSIDE = 2.0**-54, 1.0 - 2.0**-53  # the first and the last share of a distribution that is not at its end
SAMPLINGS = ("random", "latin-hypercube", "sobol", "halton")


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Vary:
    """Variation of a parameter of a study.

    Parameters
    ----------
    how : distribution, sequence, or (float, float)
        A frozen distribution of `scipy.stats`; two numbers, between which all values are as likely; or a list of values
        (numbers or texts), of which all combinations with those of other lists are run.
    unit : str
        For tables and figures.

    Examples
    --------
    >>> from scipy import stats
    >>> Vary(stats.norm(2.0, 0.1), "kg").unit
    'kg'
    """

    how: Any
    unit: str = ""

    def __post_init__(self) -> None:
        _check.text(self.unit, "the unit of a Vary")

    @property
    def listed(self) -> list[Any] | None:
        """List of the values, if they are a list; else None."""
        return None if isinstance(self.how, tuple) or hasattr(self.how, "ppf") else list(self.how)

    def value(self, share: Array) -> Array:
        """Values at shares of the distribution, from 0 to 1."""
        if isinstance(self.how, tuple):
            low, high = self.how
            return low + share * (high - low)
        return np.asarray(self.how.ppf(share), dtype=np.float64)


def _as_vary(name: str, given: Any) -> Vary:
    """Variation of a parameter, from any accepted form, checked."""
    vary = given if isinstance(given, Vary) else Vary(given)
    how, what = vary.how, f"parameter {name!r}"
    if isinstance(how, tuple):
        low, high = (_check.number(x, f"the bounds of {what}") for x in _check.pair(how, what))
        if not low < high:
            raise InputError(f"the bounds of {what} must be (low, high) with low < high, got {how}")
        return Vary((low, high), vary.unit)
    if hasattr(how, "ppf"):
        if not hasattr(how, "dist") and not hasattr(how, "rvs"):
            raise InputTypeError(f"{what}: {_check.shown(how)} is no frozen distribution of scipy.stats")
        return vary
    if isinstance(how, (str, bytes)) or not isinstance(how, (Sequence, np.ndarray)):
        raise InputTypeError(
            f"{what} must be a distribution of scipy.stats, such as scipy.stats.norm(2.0, 0.1), bounds (low, high), or "
            f"a list of values, got {_check.shown(how)}"
        )
    values = [x.item() if isinstance(x, np.generic) else x for x in how]
    if not values:
        raise InputError(f"{what} has no values")
    for x in values:
        if not isinstance(x, (str, bool, int, float)) or (isinstance(x, float) and not np.isfinite(x)):
            raise InputTypeError(f"{what}: values are finite numbers or texts, got {_check.shown(x)}")
    if len({isinstance(x, str) for x in values}) > 1:
        raise InputTypeError(f"{what}: values are all numbers or all texts, got {_check.shown(values)}")
    return Vary(values, vary.unit)


@dataclass(frozen=True, eq=False)
class VariationTable:
    """Table of the parameter values of all runs.

    Attributes
    ----------
    columns : dict of str to ndarray, shape (runs,)
        By parameter: floats, or texts.
    units : dict of str to str
    seed : int
    sampling : str
    samples : int
        Number of samples of the distributions; each is combined with all lists.
    """

    columns: dict[str, NDArray[Any]]
    units: dict[str, str]
    seed: int
    sampling: str
    samples: int = 1

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(next(iter(self.columns.values()))) if self.columns else 1

    def values(self, index: int) -> dict[str, Any]:
        """Parameter values of one run, by name, as numbers and texts of Python."""
        return {name: column[index].item() for name, column in self.columns.items()}

    def part(self, indices: Sequence[int]) -> PartOfVariation:
        """Part of the table with some runs, as it is sent to a worker."""
        at = np.asarray(indices, dtype=np.int64)
        return PartOfVariation({name: column[at] for name, column in self.columns.items()}, tuple(indices), self.seed)

    @property
    def fingerprint(self) -> str:
        """Hash of the values: tables with the same one have the same values."""
        digest = hashlib.sha256(json.dumps([self.seed, self.sampling, self.units], sort_keys=True).encode())
        for name, column in self.columns.items():
            digest.update(name.encode() + str(column.dtype.kind).encode() + column.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PartOfVariation:
    """Parameter values of some runs, as a worker gets them.

    Attributes
    ----------
    columns : dict of str to ndarray, shape (n,)
    indices : tuple of int
        Indices of the runs in the whole table.
    seed : int
    """

    columns: dict[str, NDArray[Any]]
    indices: tuple[int, ...]
    seed: int

    def values(self, k: int) -> dict[str, Any]:
        """Parameter values of the k-th of these runs, by name, as numbers and texts of Python."""
        return {name: column[k].item() for name, column in self.columns.items()}

    def random(self, k: int) -> np.random.Generator:
        """Random numbers for the k-th of these runs, which depend only on the seed and its index in the table."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.indices[k],)))


def varied_of(vary: Mapping[str, Any]) -> dict[str, Vary]:
    """Variations of the parameters of a study, from any accepted form, checked."""
    given = _check.mapping(vary, "vary", "parameters to distributions or lists")
    varied = {_check.name(name, "parameter"): _as_vary(name, how) for name, how in given.items()}
    if "rng" in varied:
        raise InputError("no parameter may be called 'rng': a case gets its random numbers under this name")
    return varied


def table_of(vary: Mapping[str, Any], runs: int | None, sampling: str | ArrayLike, seed: int) -> VariationTable:
    """Table of a study: all combinations of the lists, each with so many samples of the distributions."""
    varied = varied_of(vary)
    seed, design = _check.count(seed, "seed", 0), None
    if not isinstance(sampling, str):
        count = sum(how.listed is None for how in varied.values())
        design, runs, sampling = *_design(sampling, count, runs), "given"
    else:
        _check.one_of(sampling, SAMPLINGS, "sampling")
    lists = {name: how.listed for name, how in varied.items() if how.listed is not None}
    drawn = [name for name, how in varied.items() if how.listed is None]
    if runs is None and drawn:
        raise InputTypeError(f"runs= is needed: how many samples of {', '.join(map(repr, drawn))} to draw")
    count = 1 if runs is None else _check.count(runs, "runs")
    shares = np.zeros((count, 0))
    if drawn:
        shares = _shares(sampling, len(drawn), count, seed) if design is None else design
    combinations = list(product(*lists.values()))  # one, of nothing, where there are none
    columns: dict[str, NDArray[Any]] = {}
    for name, how in varied.items():
        if name in lists:
            place, kind = list(lists).index(name), str if isinstance(lists[name][0], str) else np.float64
            values = np.array([combination[place] for combination in combinations], dtype=kind)
            columns[name] = np.repeat(values, count)
        else:
            values = how.value(shares[:, drawn.index(name)])
            if not np.isfinite(values).all():
                raise InputError(f"the distribution of parameter {name!r} has values that are not finite")
            columns[name] = np.tile(values, len(combinations))
    if not columns:
        columns["repetition"] = np.arange(count, dtype=np.float64)
    return VariationTable(
        columns, {name: how.unit for name, how in varied.items()}, seed, sampling, count if drawn else 1
    )


def _design(given: Any, drawn: int, runs: int | None) -> tuple[Array, int]:
    """Points of the unit cube from a given design, one row for each run, and their number."""
    points = _check.numbers(given, "sampling", f"one of {', '.join(SAMPLINGS)}, or an array of points")
    if points.ndim != 2 or points.shape[1] != drawn or not drawn:
        raise InputError(
            f"sampling must have a row for each run and a column for each of the {drawn} drawn parameters, got "
            f"shape {points.shape}"
        )
    if not ((points >= 0.0) & (points <= 1.0)).all():
        raise InputError("sampling: points are shares of the distributions, from 0 to 1")
    if runs is not None and runs != len(points):
        raise InputError(f"sampling has {len(points)} points, and runs={runs}; leave runs= out")
    return np.clip(points, *INSIDE), len(points)


def _shares(sampling: str, dimensions: int, count: int, seed: int) -> Array:
    """Points of the unit cube by a sampling method, none on its border."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    if sampling == "random":
        points = rng.random((count, dimensions))
    elif sampling == "latin-hypercube":
        points = qmc.LatinHypercube(dimensions, rng=rng).random(count)
    elif sampling == "halton":
        points = qmc.Halton(dimensions, rng=rng).random(count)
    else:  # the first ones of the next power of two
        points = qmc.Sobol(dimensions, rng=rng).random(1 << (count - 1).bit_length())[:count]
    return np.clip(points, *INSIDE)


def balance_of(sampling: str, samples: int) -> str:
    """Remark on the balance of Sobol samples; empty where they are balanced, and for other samples.

    Examples
    --------
    >>> balance_of("sobol", 256), balance_of("sobol", 300).split(",")[0]
    ('', '300 Sobol samples are the first of 512')
    """
    if sampling != "sobol" or samples & (samples - 1) == 0:
        return ""
    more = 1 << samples.bit_length()
    return (
        f"{samples} Sobol samples are the first of {more}, and only those of powers of two ({more // 2}, {more}) are "
        "balanced, with as many in each half, quarter and so on of every parameter"
    )

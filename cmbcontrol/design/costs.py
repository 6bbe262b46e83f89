"""Costs of a run, for `tune`: each is made with its options and called with a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..sim.result import Simulation

__all__ = ["effort_cost", "error_cost", "overshoot_cost", "weighted_cost"]

Array = NDArray[np.float64]
Cost = Callable[[Simulation], float]

_POWERS = {"ISE": (2, 0), "IAE": (1, 0), "ITSE": (2, 1), "ITAE": (1, 1)}


def error_cost(kind: str = "ISE", *, weight: ArrayLike | Mapping[str, float] = 1.0, after: float = 0.0) -> Cost:
    """Cost by the integral of the tracking error, for runs with a reference.

    Parameters
    ----------
    kind : {"ISE", "IAE", "ITSE", "ITAE"}
        Integral of the squared or absolute error, with the time as a factor or not: rad^2 s, rad s, rad^2 s^2, rad s^2
        (m for rad).
    weight : float, array_like (k,), or mapping of coordinate to float
        Weights of the integrals of the controlled coordinates, which are added.
    after : float
        Errors before this time do not count, s.

    Returns
    -------
    cost : callable, run -> float
    """
    _require_weight(weight)
    power, timed = _POWERS[_check.one_of(kind, _POWERS, "kind of error cost")]
    _check.positive(after, "after", zero=True)

    def cost(run: Simulation) -> float:
        t, e = run.time, np.abs(tracking_error(run)) ** power
        e = e * np.where(t >= after, 1.0, 0.0)[:, None] * (t**timed)[:, None]
        return float(np.trapezoid(e, t, axis=0) @ _by_coordinate(weight, run))

    return cost


def effort_cost(weight: ArrayLike | Mapping[str, float] = 1.0, *, rate: bool = False) -> Cost:
    """Cost by the integral of the squared motor efforts, (N m)^2 s; with `rate` of their slopes between output times.

    Parameters
    ----------
    weight : float, array_like (nu,), or mapping of motor to float
    rate : bool
        Integrate the squared slope, (N m)^2/s, so that chattering has a cost.
    """
    _require_weight(weight)
    rate = _check.flag(rate, "rate")

    def cost(run: Simulation) -> float:
        names = [str(n) for n in run.data["actuator"].values]
        u, t = run.u.values, run.time
        if rate:
            squares = ((np.diff(u, axis=0) / np.diff(t)[:, None]) ** 2 * np.diff(t)[:, None]).sum(axis=0)
        else:
            squares = np.trapezoid(u**2, t, axis=0)
        return float(squares @ _values(weight, names, "motor"))

    return cost


def overshoot_cost(weight: ArrayLike | Mapping[str, float] = 1.0) -> Cost:
    """Cost by the overshoot of controlled coordinates over the last reference, seen from their start; rad or m."""
    _require_weight(weight)

    def cost(run: Simulation) -> float:
        goal, e = run.reference.values[-1], tracking_error(run)
        way = goal - (run.reference.values[0] - e[0])  # from where the run starts
        position = run.reference.values - e
        beyond = np.maximum(((position - goal) * np.sign(way)).max(axis=0), 0.0)
        return float(beyond @ _by_coordinate(weight, run))

    return cost


def weighted_cost(**parts: tuple[float, Cost]) -> Cost:
    """Cost by a weighted sum of costs by name.

    Parameters
    ----------
    **parts : (float, callable)
        Weight and cost of each part.

    Examples
    --------
    >>> cost = weighted_cost(error=(1.0, error_cost("ITAE")), effort=(1e-6, effort_cost()))
    >>> sorted(cost.parts)
    ['effort', 'error']
    """
    if not parts:
        raise InputTypeError("give at least one part, such as error=(1.0, error_cost())")
    for name, part in parts.items():
        if not (isinstance(part, tuple) and len(part) == 2 and callable(part[1])):
            raise InputTypeError(f"part {name!r} must be (weight, cost), got {part!r}")
        _check.positive(part[0], f"the weight of {name!r}", zero=True)

    def cost(run: Simulation) -> float:
        return float(sum(weight * one(run) for weight, one in parts.values()))

    cost.parts = dict(parts)  # type: ignore[attr-defined]
    return cost


def tracking_error(run: Simulation) -> Array:
    """Tracking error (times, k) of coordinates or tasks, reference less value; the law's own error, if it has one.

    Raises
    ------
    ValueError
        Where the run has no reference, or no error of values that are no joint positions.
    """
    if "reference" not in run.data:
        raise InputError("the run has no reference: its law has none, or no coordinates; write a cost of your own")
    if "error" in run.data:
        return run.error.values
    names = [str(n) for n in run.data["controlled"].values]
    if not set(names) <= set(run.data["position"].values.tolist()):
        raise InputError(
            f"the run has no error of {', '.join(names)}, which are no joint positions; give the law a method "
            "error(t, terms) -> (e, rate), or write a cost of your own"
        )
    return run.reference.values - run.q.sel(position=names).values


def _require_weight(weight: ArrayLike | Mapping[str, float]) -> None:
    """Refuse wrong weights when a cost is made, not after the first run."""
    given = list(weight.values()) if isinstance(weight, Mapping) else weight
    x = _check.numbers(given, "weight")
    if x.ndim > 1 or not np.isfinite(x).all() or x.min(initial=0.0) < 0.0:
        raise InputError(f"weight must be >= 0, one for all or one each, got {weight!r}")


def _by_coordinate(weight: ArrayLike | Mapping[str, float], run: Simulation) -> Array:
    return _values(weight, [str(n) for n in run.data["controlled"].values], "controlled coordinate")


def _values(given: ArrayLike | Mapping[str, float], names: Sequence[str], what: str) -> Array:
    """Weights (k,) from one for all, from all, or by name; 0 for those that are not named."""
    if isinstance(given, Mapping):
        for name in given:
            _check.one_of(name, names, what)
        given = [given.get(name, 0.0) for name in names]
    if _check.single(given):
        given = np.full(len(names), _check.number(given, "weight"))
    weights = _check.vector(given, len(names), "weight", names)
    if (weights < 0.0).any():
        raise InputError(f"weights must be >= 0, got {weights.tolist()}")
    return weights

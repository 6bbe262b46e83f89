"""Laws of several operating points as one, blended by where the machine is or by a load."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.graph import Scalar
from ..trace.symbols import array, numbers_of
from .around import AroundLaw
from .chain import Chain, names_of_states
from .controller import Cut, Evaluation, as_controller, evaluated, moved, start_of
from .pieces import Pieces
from .references import Reference, at_time

__all__ = ["BY", "INTERPOLATIONS", "GainScheduled"]

Array = NDArray[np.float64]

BY = ("measured", "reference")
INTERPOLATIONS = ("linear", "cubic")


class GainScheduled(AroundLaw):
    """Law whose gains follow coordinates or a load: laws of a grid of operating points, blended in between.

    Efforts, and rates or next values of the states, are those of the laws about the present point, weighted. Where
    these are linear in their gains, which PID, cascades, state feedback and linear systems are, this is the law with
    gains interpolated. Integrals (those of `PID` and `Cascade` are efforts) are common to all laws, so no effort jumps
    where the machine goes on to other gains.

    Parameters
    ----------
    laws : nested sequence of Controller
        Laws at the grid points, nested as the grid: with two axes, ``laws[i][j]`` is at the i-th value of the first and
        the j-th of the second. They have the same states, motors, period and coordinates, and follow one reference.
    over : mapping of str to array_like
        Axes of the grid, one to three: growing values of a coordinate of the machine (rad or m), or of a signal.
    signals : mapping of str to callable, optional
        Functions of time that axes follow which are no coordinates: a load that is known, in the unit of its axis.
    by : {"measured", "reference"}
        Whether coordinates are those measured, or those that the reference asks for. Measured ones are right also
        where the machine lags, and add paths of their own to the loop; see `design.check_schedule`.
    interpolation : {"linear", "cubic"}
        Linear weights are never negative, so that gains stay between those of the neighbours. Cubic splines have
        smooth gains, and may go beyond. Outside of the grid gains are held.

    Raises
    ------
    ValueError, TypeError
        For laws that do not fit together or to the grid, unknown coordinates, and chains: blocks of a chain follow
        behind, ``GainScheduled(...) | Saturation()``.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import PID
    >>> plant = plants.five_bar()
    >>> laws = [PID(plant, Constant([2.1, 1.0]), kp=kp, kd=20.0) for kp in (100.0, 300.0)]
    >>> law = GainScheduled(laws, over={"left": [1.9, 2.3]})
    >>> law.weights(0.0, plant.terms(plant.assemble(left=2.0, right=1.0), [0.0] * 4))
    array([0.75, 0.25])
    """

    def __init__(
        self,
        laws: Sequence[Any],
        over: Mapping[str, ArrayLike],
        *,
        signals: Mapping[str, Callable[[float], float]] | None = None,
        by: str = "measured",
        interpolation: str = "linear",
    ) -> None:
        self.axes = _check.names(list(_check.mapping(over, "over", "coordinates or signals to grid values")), "over")
        if not 1 <= len(self.axes) <= 3:
            raise InputError(f"over: a grid has one to three axes, got {len(self.axes)}")
        self.grid = tuple(_axis(name, over[name]) for name in self.axes)
        self.by = _check.one_of(by, BY, "by")
        self.interpolation = _check.one_of(interpolation, INTERPOLATIONS, "interpolation")
        self.laws = tuple(_flat(laws, tuple(map(len, self.grid))))
        self.law = self.laws[0]
        self.signals = dict(_check.mapping(signals or {}, "signals", "names of axes to functions of time"))
        for name, function in self.signals.items():
            _check.one_of(name, self.axes, "axis", "signals")
            _check.function(function, f"the signal {name!r}", "t -> value")
        self._require_alike()
        self._places = tuple(self._place(name) for name in self.axes)
        self._bases = tuple(_basis(tuple(values.tolist()), self.interpolation) for values in self.grid)

    def _require_alike(self) -> None:
        """Refuse laws that cannot stand for one another."""
        first = self.law
        if first.plant is None:
            raise InputError(f"{first.name} knows no plant, of which coordinates could be taken")
        for law, point in zip(self.laws, self.points(), strict=True):
            if isinstance(law, Chain) or law.drive is not None:
                raise InputTypeError(
                    f"the law at {_told(point)} is a chain; blend the laws and put blocks around them: "
                    "sensors | GainScheduled(...) | Saturation() | ..."
                )
            for what in ("period", "coordinates", "measures_force", "delay"):
                a, b = getattr(first, what), getattr(law, what)
                if not np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object)):
                    raise InputError(
                        f"laws of one schedule have the same {what}; it is {a} at {_told(self.points()[0])} and {b} at "
                        f"{_told(point)}"
                    )
            if names_of_states(law, first.plant) != names_of_states(first, first.plant):
                raise InputError(f"the law at {_told(point)} has other states than that at {_told(self.points()[0])}")
            if (law.reference is None) != (first.reference is None):
                raise InputError("laws of one schedule follow one reference, or none")
        if first.reference is not None:  # one for all, so that they ask for the same
            self.laws = tuple(law if law.reference is first.reference else law.with_reference(first.reference)
                              for law in self.laws)  # fmt: skip
            self.law = self.laws[0]

    def _place(self, name: str) -> int | None:
        """Index of the coordinate of an axis; None for a signal."""
        if name in self.signals:
            return None
        if self.by == "measured":
            known = self.law.plant.position_names  # type: ignore[union-attr]
        else:
            known = tuple(self.law.coordinates or ()) if self.law.reference is not None else ()
        where = f"over, by={self.by!r}, without a signal"
        return list(known).index(_check.one_of(name, known, "coordinate", where))

    @property
    def plant(self) -> Plant:  # type: ignore[override]
        """The machine as the laws know it."""
        return self.law.plant  # type: ignore[return-value]

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"GainScheduled({self.law.name})"

    def __repr__(self) -> str:
        axes = ", ".join(f"{name} ({len(x)})" for name, x in zip(self.axes, self.grid, strict=True))
        return f"<GainScheduled {self.law.name} over {axes}>"

    def points(self) -> list[dict[str, float]]:
        """Grid points, in the order of `laws`."""
        grids = np.meshgrid(*self.grid, indexing="ij")
        return [dict(zip(self.axes, map(float, x), strict=True)) for x in np.column_stack([g.ravel() for g in grids])]

    # -- weights -----------------------------------------------------------------------------------------------------

    def weights(self, t: float, terms: Terms) -> Array:
        """Weights of the laws, whose sum is one, at a time and a state of the machine; see `points` for their order."""
        if self._fixed is not None:
            return self._fixed
        w = np.ones(1)
        for name, place, basis in zip(self.axes, self._places, self._bases, strict=True):
            w = (w[:, None] * basis(self._value(name, place, t, terms))).ravel()
        return w

    def _value(self, name: str, place: int | None, t: float, terms: Terms) -> Any:
        """Value of an axis."""
        if place is None:
            return numbers_of(at_time(self.signals[name], t)).reshape(-1)[0]
        if self.by == "measured":
            return terms.q[place]
        return at_time(self.reference, t)[0][place]  # type: ignore[arg-type]

    _fixed: Array | None = None

    def frozen(self, weights: ArrayLike | Mapping[str, float]) -> Self:
        """Copy whose gains stay, with weights (N,) of the laws or at values of the axes."""
        if isinstance(weights, Mapping):
            for name in self.axes:
                if name not in weights:
                    raise InputError(f"frozen: {name!r} has no value; give one of each of {', '.join(self.axes)}")
            w = np.ones(1)
            for name, basis in zip(self.axes, self._bases, strict=True):
                w = np.outer(w, basis(_check.number(weights[name], f"the value of {name!r}"))).ravel()
        else:
            w = _check.vector(weights, len(self.laws), "weights")
        other = copy.copy(self)
        other._fixed = w
        return other

    def held(self, values: Mapping[str, float]) -> Self:
        """Copy whose signals stay at values."""
        other = copy.copy(self)
        other.signals = {name: _Held(values[name]) if name in values else f for name, f in self.signals.items()}
        return other

    # -- what a controller has ----------------------------------------------------------------------------------------

    def _with(self, laws: Sequence[Any]) -> Self:
        other = copy.copy(self)
        other.laws, other.law = tuple(laws), laws[0]
        return other

    def with_reference(self, reference: Reference) -> Self:
        return self._with([law.with_reference(reference) for law in self.laws])

    def with_model(self, model: Plant) -> Self:
        return self._with([law.with_model(model) for law in self.laws])

    def start(self, plant: Plant) -> Array:
        """Initial states of the laws; refuses a plant that they do not fit."""
        return start_of(self.law, plant)

    def state_names(self, plant: Plant) -> Sequence[str]:
        return self.law.state_names(plant)

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        return self.law.begun(start, after, terms)

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, rates or next values of the states, and numbers of the laws' reports, weighted."""
        w = self.weights(t, terms)
        acting = [(x, evaluated(law, t, terms, state)) for x, law in zip(w, self.laws, strict=True) if _acts(x)]
        sampled = self.period is not None
        u = _blended([(x, numbers_of(e.effort)) for x, e in acting])
        after = _blended([(x, moved(e, state, sampled)) for x, e in acting]) if len(state) else state

        def report() -> Mapping[str, Any]:
            told = [(x, e.numbers()) for x, e in acting]
            return {name: sum((x * row[name] for x, row in told[1:]), told[0][0] * told[0][1][name])
                    for name in told[0][1]}  # fmt: skip

        return Evaluation(u, after, report)

    def anti_windup(self, t: float, terms: Terms, state: Array, after: Array, cut: Cut) -> ArrayLike:
        w = self.weights(t, terms)
        pairs = zip(w, self.laws, strict=True)
        return _blended([(x, numbers_of(law.anti_windup(t, terms, state, after, cut))) for x, law in pairs if _acts(x)])


class _Held:
    """Function of time that stays at a value."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, t: float) -> float:
        return self.value


def _acts(weight: Any) -> bool:
    """Whether a law counts: of symbols all may."""
    return isinstance(weight, Scalar) or weight != 0.0


def _blended(parts: Sequence[tuple[Any, Any]]) -> Any:
    """Weighted sum of arrays."""
    total = parts[0][0] * parts[0][1]
    for weight, x in parts[1:]:
        total = total + weight * x
    return total


def _axis(name: str, values: ArrayLike) -> Array:
    """Grid values of an axis, growing; refuses others."""
    x = np.atleast_1d(_check.numbers(values, f"over: the grid of {name!r}"))
    if x.ndim != 1 or x.size < 2 or not np.isfinite(x).all() or (np.diff(x) <= 0.0).any():
        raise InputError(f"over: the grid of {name!r} must be two or more growing values, got {x.tolist()}")
    return x


def _flat(laws: Any, shape: tuple[int, ...]) -> list[Any]:
    """Laws of a nested sequence of a shape, one after the other."""
    listed = list(_check.sequence(laws, "laws", "laws, nested as the grid"))
    if len(listed) != shape[0]:
        raise InputError(
            f"laws: {len(listed)} for {shape[0]} values of an axis; nest them as the grid is: laws[i][j] at the i-th "
            "value of the first axis and the j-th of the second"
        )
    if len(shape) == 1:
        return [as_controller(law) for law in listed]
    return [law for part in listed for law in _flat(part, shape[1:])]


@lru_cache(maxsize=256)  # equal grids have one, and laws over them one code
def _basis(values: tuple[float, ...], interpolation: str) -> _Basis:
    return _Basis(values, interpolation)


class _Basis:
    """Function from x, a number or a symbol, to the weights (n,) of grid values: what is interpolated is their sum."""

    __slots__ = ("_given", "_parts")  # as code sees it, its grid is no number of a law
    traced = True  # it takes symbols

    def __init__(self, values: tuple[float, ...], interpolation: str) -> None:
        grid, n, widths = np.array(values), len(values), np.diff(values)
        if interpolation == "cubic" and n > 2:
            from scipy.interpolate import CubicSpline

            powers = CubicSpline(grid, np.eye(n)).c[::-1].transpose(2, 1, 0)  # (n, pieces, 4), the lowest power first
        else:
            powers = np.zeros((n, n - 1, 2))
            for i in range(n - 1):
                powers[i, i], powers[i + 1, i] = (1.0, -1.0 / widths[i]), (0.0, 1.0 / widths[i])
        self._given = values, interpolation
        self._parts = [Pieces(grid, own, end=float(i == n - 1)) for i, own in enumerate(powers)]

    def __call__(self, x: Any) -> Any:
        found = [part(x, 1)[0] for part in self._parts]
        return array(np.array(found, dtype=object)) if isinstance(x, Scalar) else np.array(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return _basis, self._given


def _told(point: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in point.items())

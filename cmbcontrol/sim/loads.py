"""Loads that act during a run, where they are not the numbers of the machine: other numbers, functions of time, points.

They are written into the numbers of the simulated machine, where kernels and generated code read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.code import Code
from ..trace.machine import places
from .failures import LawFailed

if TYPE_CHECKING:
    from .constraint_modes import ConstraintModes

__all__ = ["NO_LOADS", "ActingLoads"]

Array = NDArray[np.float64]
Function = Callable[[float], ArrayLike]


class ActingLoads:
    """The loads of a run.

    Parameters
    ----------
    plant : Plant
        As it is given to the law.
    loads : mapping of str to (number, array_like, callable or (times, values)), optional
        By the name of a load or of a component, see `Mechanism.with_loads`.
    held : bool
        Whether they change between steps, see `hold`.

    Attributes
    ----------
    plant : Plant
        The machine under the loads that act.
    given : bool
        Whether these are others than the law knows.
    changing : bool
        Whether they follow functions of time.
    own : bool
        Whether the machine has numbers of its own for them, which change during the run.
    modes : ConstraintModes or None
        Knows the plant without end stops, of which laws do not know.
    breaks : ndarray
        Times at which they have a kink or jump, s.
    """

    def __init__(self, plant: Plant, loads: Mapping[str, Any] | None = None, held: bool = False) -> None:
        self.told = self.plant = plant
        if loads is not None:
            loads = _check.mapping(loads, "loads", "names to numbers, functions of time or (times, values)")
        self.given = bool(loads)
        self.own = False
        self.breaks = np.zeros(0)
        self._functions: list[tuple[NDArray[np.int64], Function, str]] = []
        self._followers: list[tuple[Array, NDArray[np.int64]]] = []
        self._time: float | None = None
        self._end = np.inf
        self.modes: ConstraintModes | None = None
        if held and isinstance(plant, Mechanism) and plant.loads:
            self._take_numbers(plant)
        if not self.given:
            return
        if not isinstance(plant, Mechanism):
            raise InputTypeError(
                f"loads= are those of a Mechanism; {plant.name!r} is given by functions, whose h can have them"
            )
        numbers = {}
        for name, value in loads.items():  # type: ignore[union-attr]
            _check.one_of(name, [*(load.name for load in plant.loads), *plant.load_names], "load")
            if callable(value):
                self._functions.append((self._entries(name), value, name))
            elif isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1:
                points = _Points(name, *value)
                self._functions.append((self._entries(name), points, name))
                self.breaks = np.union1d(self.breaks, points.times)
            else:
                numbers[name] = value
        self.plant = plant.with_loads(numbers)
        self._value = self.plant.load_values().ravel()
        if self.changing:
            self._take_numbers(self.plant)
            try:
                self.at(0.0)
            except LawFailed as failed:
                error = failed.__cause__
                raise (
                    error if isinstance(error, InputError) else InputError(f"{failed}: {type(error).__name__}: {error}")
                ) from error

    @property
    def changing(self) -> bool:
        return bool(self._functions)

    def _take_numbers(self, plant: Mechanism) -> None:
        """Give the machine numbers of its own for the loads, as `plant` has them."""
        self.own, self._value = True, plant.load_values().ravel()
        self._writable = plant.arrays.loads.copy()
        read = self._writable.view()
        read.setflags(write=False)  # as kernels know it
        self.plant = plant.with_load_records(read)

    def hold(self, values: Mapping[str, Any]) -> None:
        """From now on, these numbers in place of the present ones; those of others stay."""
        if not self.own:
            raise InputError(
                f"plant {self.told.name!r} has no loads: loads= {_check.shown(values)} has no place to act"
            )
        self._value[:] = self.plant.load_values(values, self._value).ravel()  # type: ignore[attr-defined]
        self._write()

    def copied(self) -> ActingLoads:
        """The same with numbers of its own, for held loads."""
        other = ActingLoads(self.told, held=True)
        if other.own:
            other._value[:] = self._value
            other._write()
        return other

    def _write(self) -> None:
        self._writable["value"] = self._value.reshape(-1, 6)
        for p, where in self._followers:
            p[where] = self._value

    def _entries(self, name: str) -> NDArray[np.int64]:
        """Which numbers (of 6 a load) a name stands for."""
        plant = self.told
        if name in plant.load_names:  # type: ignore[attr-defined]
            return np.array([plant.load_names.index(name)])  # type: ignore[attr-defined]
        first = 6 * [load.name for load in plant.loads].index(name)  # type: ignore[attr-defined]
        return np.arange(first, first + 6)

    def at(self, t: float) -> None:
        """Bring the loads to a time.

        Raises
        ------
        LawFailed
            Where a function fails, or says what is no load.
        """
        t = t if t < self._end else np.nextafter(self._end, -np.inf)
        if not self._functions or t == self._time:
            return
        for entries, function, name in self._functions:
            try:
                value = np.asarray(function(t), dtype=np.float64)
                value = _check.vector(value.reshape(-1), value.size, f"load {name!r} at t = {t:.6g} s")
                if value.size > entries.size or (entries.size == 6 and value.size not in (3, 6)):
                    wanted = "one number" if entries.size == 1 else "a force (3,), or force and moment (6,)"
                    raise InputError(f"load {name!r} must be {wanted}, got shape {value.shape} at t = {t:.6g} s")
            except Exception as error:
                raise LawFailed(function, t) from error
            self._value[entries[: value.size]] = value
        self._time = t
        self._write()

    def up_to(self, t: float, stop: float) -> float:
        """The end of the steps from t: the next kink or jump, or `stop`. Until then loads are those from its left."""
        ahead = self.breaks[self.breaks > t]
        self._end = np.inf
        if ahead.size and ahead[0] < stop:
            self._end = stop = float(ahead[0])
        return stop

    def follow(self, p: Array, code: Code) -> Array:
        """A copy of the numbers of generated code, of which those of the loads change from now on."""
        where = [i for i, place in enumerate(places(code.model)) if place.part == "loads" and place.field == "value"]
        p = p.copy()
        self._followers.append((p, np.array(where)))
        p[where] = self._value
        return p

    def as_told(self, terms: Terms) -> Terms:
        """The terms as the law knows them: without end stops, and with the loads of the plant that it was given."""
        if self.modes is not None:
            known = self.modes.told(terms.row_names)
            if known is not None:
                force = terms.force
                terms = known.terms(terms.q, terms.v, terms.t)
                terms = terms if force is None else terms.with_force(force)
        if not self.given:
            return terms
        W = self.plant.load_matrix(terms.q)  # type: ignore[attr-defined]
        told = self.told.load_values().ravel()  # type: ignore[attr-defined]
        return terms.with_bias(terms.h + W @ (self._value - told))

    def told_plant(self, plant: Plant) -> Plant:
        """A machine of the run, whose constraints may have changed, as the law knows it."""
        if self.modes is not None:
            plant = self.modes.told(plant.row_names) or plant
        if not self.given:
            return plant
        if plant is self.plant:
            return self.told
        values = {load.name: load.value for load in self.told.loads}  # type: ignore[attr-defined]
        return plant.with_loads(values)  # type: ignore[attr-defined]


class _Points:
    """Values at points of time; between them on straight lines, before and after as at the ends."""

    def __init__(self, name: str, times: ArrayLike, values: ArrayLike) -> None:
        what = f"load {name!r}"
        times = _check.numbers(times, f"the times of {what}")
        self.times = _check.vector(times, times.size, f"the times of {what}")
        if self.times.size < 2 or (np.diff(self.times) < 0.0).any():
            raise InputError(f"the times of {what} must be two or more that increase, got {self.times}")
        values = _check.numbers(values, f"the values of {what}")
        self.values = values.reshape(len(values), -1) if values.ndim else values[None, None]
        if len(self.values) != self.times.size or not np.isfinite(self.values).all():
            raise InputError(
                f"the values of {what} must be finite, one row for each of the {self.times.size} times, got shape "
                f"{values.shape}"
            )

    def __call__(self, t: float) -> Array:
        return np.array([np.interp(t, self.times, column) for column in self.values.T])


NO_LOADS = ActingLoads(None)  # type: ignore[arg-type]

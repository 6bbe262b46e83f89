"""Loads and prescribed motions that act on a machine during a run, and may follow functions of time.

Both are written into the numbers of the simulated machine, where kernels and generated code read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..kernels.layout import Model
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.prescribed import motion_of, uniform
from ..model.terms import Terms
from ..trace.machine import places
from .failures import LawFailed

if TYPE_CHECKING:
    from .constraint_modes import ConstraintModes

__all__ = ["NOTHING", "Acting"]

Array = NDArray[np.float64]


class _Follower(NamedTuple):
    """Numbers of generated code, and the places of loads and motions among them."""

    p: Array
    loads: NDArray[np.int64]
    which: NDArray[np.int64]  # of all components, the loads are these
    targets: NDArray[np.int64]


class Acting:
    """The loads and prescribed motions of a run.

    Laws know the motions, which are constraints of the machine, and of the loads those that the machine was given
    with, and those in `told`.

    Parameters
    ----------
    plant : Plant
        Plant as it is given to the law.
    loads : mapping of str to (number, array_like, callable or (times, values)), optional
        By the name of a load or of a component, see `Mechanism.with_loads`.
    motions : mapping of str to (number, array_like, callable or tuple), optional
        By the name of a motion or of a component, see `Mechanism.with_motions`. A motion that has a velocity goes on
        with it.
    told : bool or sequence of str
        Loads, or components, that the law knows in addition; True is all.
    held : bool
        Whether loads change between steps, see `hold`.

    Attributes
    ----------
    told : Plant
        The machine as laws know it: with the motions, and with the loads that it was given with.
    plant : Plant
        The machine with what acts on it.
    given : bool
        Whether the loads are others than the law knows.
    changing : bool
        Whether something follows functions of time.
    own : bool
        Whether the machine has numbers of its own, which change during the run.
    motion_values : ndarray, shape (motions, 3)
        Position, velocity and acceleration of what is prescribed, at the time of `at`.
    modes : ConstraintModes or None
        Knows the plant without end stops, of which laws do not know.
    breaks : ndarray
        Times at which something has a kink or jump, s.
    """

    def __init__(
        self,
        plant: Plant,
        loads: Mapping[str, Any] | None = None,
        motions: Mapping[str, Any] | None = None,
        told: bool | Sequence[str] = False,
        held: bool = False,
    ) -> None:
        self.told = self.plant = plant
        self.own, self.given = False, bool(_named(loads, "loads"))
        self._known = np.zeros(0, dtype=np.int64)
        self.breaks = np.zeros(0)
        self._functions: list[tuple[NDArray[np.int64], Callable, str]] = []
        self._moved: list[tuple[NDArray[np.int64], Callable, str]] = []
        self._followers: list[_Follower] = []
        self._told_records: NDArray[np.void] | None = None
        self._time: float | None = None
        self._end = np.inf
        self.modes: ConstraintModes | None = None
        self.motion_values = np.zeros((0, 3))
        if not isinstance(plant, Mechanism):
            self._require_nothing(loads, motions)
            return
        if self.given:
            self.plant = plant.with_loads(self._take_loads(plant, loads))  # type: ignore[arg-type]
        self._tell(plant, _named(loads, "loads"), told)
        self._take_motions(_named(motions, "motions"))
        self._loads = self.plant.load_values().ravel()  # type: ignore[attr-defined]
        if self.changing or (held and plant.loads):
            self._take_numbers()
        if self.changing:
            try:
                self.at(0.0)
            except LawFailed as failed:
                error = failed.__cause__
                raise (
                    error if isinstance(error, InputError) else InputError(f"{failed}: {type(error).__name__}: {error}")
                ) from error

    def _require_nothing(self, loads: Any, motions: Any) -> None:
        for what, given, instead in (("loads", loads, "whose h can have them"), ("motions", motions, "and has none")):
            if given:
                raise InputTypeError(
                    f"{what}= are those of a Mechanism; {self.told.name!r} is given by functions, {instead}"
                )

    def _tell(self, plant: Mechanism, loads: Mapping[str, Any], told: bool | Sequence[str]) -> None:
        """Set which components of the loads the law knows, and the machine as it knows it."""
        if isinstance(told, (bool, np.bool_)):
            names: Sequence[str] = list(loads) if told else ()
        else:
            listed = (told,) if isinstance(told, str) else _check.sequence(told, "told", "names of loads, or True")
            names = _check.names(listed, "told", [*(load.name for load in plant.loads), *plant.load_names], "load")
        entries = [i for name in names for i in self._entries(name)]
        self._known = np.array(sorted(set(entries)), dtype=np.int64)
        unknown = {int(i) for name in loads for i in self._entries(name)}.difference(self._known.tolist())
        self.given = bool(unknown)
        if self._known.size:
            values = plant.load_values().ravel()
            acting = self.plant.load_values().ravel()  # type: ignore[attr-defined]
            values[self._known] = acting[self._known]
            pairs = zip(plant.loads, values.reshape(-1, 6), strict=True)
            self.told = plant.with_loads({load.name: value for load, value in pairs})

    def _take_loads(self, plant: Mechanism, loads: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the loads that are functions of time, and return those that are numbers."""
        numbers = {}
        for name, value in loads.items():
            _check.one_of(name, [*(load.name for load in plant.loads), *plant.load_names], "load")
            if callable(value):
                self._functions.append((self._entries(name), value, name))
            elif isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1:
                points = _Points(name, *value)
                self._functions.append((self._entries(name), points, name))
                self.breaks = np.union1d(self.breaks, points.times)
            else:
                numbers[name] = value
        return numbers

    def _take_motions(self, motions: Mapping[str, Any]) -> None:
        """Keep the motions that are functions of time, and put the values of all at the start into the plant."""
        plant: Mechanism = self.plant  # type: ignore[assignment]
        start, free = plant.motion_values(), np.ones(len(plant.motion_names), dtype=bool)
        for name, value in motions.items():
            entries = plant.motion_entries(name)
            if not free[entries].all():
                raise InputError(f"motions= prescribes {name!r} twice: by the motion, and by its component")
            function = motion_of(name, value, entries.size)
            start[entries], free[entries] = function(0.0), False
            if callable(value):
                self._moved.append((entries, function, name))
                if hasattr(value, "times"):
                    self.breaks = np.union1d(self.breaks, _check.plain(value.times))
        if motions:
            self.plant = plant.with_motion_values(start)
        given = np.zeros(free.size, dtype=bool)
        given[[i for entries, _, _ in self._moved for i in entries]] = True
        steady = np.flatnonzero(~given & start[:, 1:].any(axis=1))
        if steady.size:
            self._moved.append((steady, uniform(start[steady]), plant.motion_names[steady[0]]))
        self.motion_values = start

    @property
    def changing(self) -> bool:
        return bool(self._functions or self._moved)

    @property
    def tells(self) -> bool:
        """Whether the machine that the law knows changes in time."""
        return self.moving or (self.changing and self._known.size > 0)

    @property
    def moving(self) -> bool:
        """Whether a prescribed motion moves; all others stand still."""
        return bool(self._moved)

    def _take_numbers(self) -> None:
        """Give the machine arrays of loads and motions of its own, which can be written to."""
        plant: Mechanism = self.plant  # type: ignore[assignment]
        self.own = True
        self._records, self._targets = plant.arrays.loads.copy(), plant.arrays.targets.copy()
        read = self._records.view(), self._targets.view()
        for array in read:
            array.setflags(write=False)  # as kernels know it
        self.plant = plant.with_records(*read)
        told: Mechanism = self.told  # type: ignore[assignment]
        if not self.given and (self.moving or self._known.size):
            self.told = self.plant
        elif self.moving or self._known.size:
            self._told_records = told.arrays.loads.copy()
            known = self._told_records.view()
            known.setflags(write=False)
            self.told = told.with_motion_values(self.motion_values).with_records(known, read[1])

    def hold(self, values: Mapping[str, Any]) -> None:
        """Replace the loads that `values` names from now on; the other loads stay."""
        if not (self.own and self.told.loads):  # type: ignore[attr-defined]
            raise InputError(
                f"plant {self.told.name!r} has no loads: loads= {_check.shown(values)} has no place to act"
            )
        self._loads[:] = self.plant.load_values(values, self._loads).ravel()  # type: ignore[attr-defined]
        self._write()

    def copied(self) -> Acting:
        """Copy of these loads and motions, with arrays of its own."""
        other = object.__new__(Acting)
        vars(other).update(vars(self), _followers=[], motion_values=self.motion_values.copy())
        if self.own:
            other._loads = self._loads.copy()
            other._take_numbers()
            other._write()
        return other

    def _write(self) -> None:
        self._records["value"] = self._loads.reshape(-1, 6)
        if self._told_records is not None:
            self._told_records["value"].reshape(-1)[self._known] = self._loads[self._known]
        for follower in self._followers:
            if follower.loads.size:
                follower.p[follower.loads] = self._loads[follower.which]
            follower.p[follower.targets] = self._targets.ravel()

    def _entries(self, name: str) -> NDArray[np.int64]:
        """Indices of the load components (6 for each load) that the name of a load or of a component stands for."""
        plant = self.told
        if name in plant.load_names:  # type: ignore[attr-defined]
            return np.array([plant.load_names.index(name)])  # type: ignore[attr-defined]
        first = 6 * [load.name for load in plant.loads].index(name)  # type: ignore[attr-defined]
        return np.arange(first, first + 6)

    def at(self, t: float) -> None:
        """Set loads and motions to their values at a time.

        Raises
        ------
        LawFailed
            Where a function fails, or returns what is no load or motion.
        """
        t = t if t < self._end else np.nextafter(self._end, -np.inf)
        if t == self._time or not self.changing:
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
            self._loads[entries[: value.size]] = value
        for entries, function, name in self._moved:
            try:
                value = function(t)
                if not np.isfinite(value).all():
                    raise InputError(f"motion {name!r} is not finite at t = {t:.6g} s: {value.tolist()}")
                self.motion_values[entries] = value
            except Exception as error:
                raise LawFailed(function, t) from error
        if self._moved:
            try:
                self._targets[:] = self.plant._motion_targets(self.motion_values)  # type: ignore[attr-defined]
            except Exception as error:
                raise LawFailed(self._moved[0][1], t) from error
        self._time = t
        self._write()

    def up_to(self, t: float, stop: float) -> float:
        """End of the steps from t: the next kink or jump, or `stop`; at the end, values are those just before it."""
        ahead = self.breaks[self.breaks > t]
        self._end = np.inf
        if ahead.size and ahead[0] < stop:
            self._end = stop = float(ahead[0])
        return stop

    def follow(self, p: Array, model: Model, told: bool = False) -> Array:
        """Copy of the numbers of generated code, whose entries for loads and motions are updated from now on.

        With `told`, loads are updated only where the law knows them.
        """
        known = list(enumerate(places(model)))
        of_loads = np.array([i for i, x in known if x.part == "loads" and x.field == "value"], dtype=np.int64)
        of_targets = np.array([i for i, x in known if x.part == "targets"], dtype=np.int64)
        which = self._known if told and self.given else np.arange(of_loads.size)
        p = p.copy()
        self._followers.append(_Follower(p, of_loads[which], which, of_targets))
        self._write()
        return p

    def as_told(self, terms: Terms) -> Terms:
        """Equations of motion as the law knows them: without end stops, with the loads the law was given.

        Measured values are those of the real machine; the terms include friction of the plant, as of gears, and not
        that of contacts.
        """
        if self.modes is not None:
            known = self.modes.told(terms.row_names)
            if known is not None:
                force = terms.force
                terms = known.terms(terms.q, terms.v, terms.t)
                terms = terms if force is None else terms.with_force(force)
        if terms.friction is not None:
            terms = terms.with_friction_of([force.name for force in self.told.forces])  # type: ignore[attr-defined]
        if not self.given:
            return terms
        W = self.plant.load_matrix(terms.q)  # type: ignore[attr-defined]
        told = self.told.load_values().ravel()  # type: ignore[attr-defined]
        told[self._known] = self._loads[self._known]
        return terms.with_bias(terms.h + W @ (self._loads - told))

    def told_plant(self, plant: Plant) -> Plant:
        """Machine of the run as the law knows it; its constraints may have changed during the run."""
        if self.modes is not None:
            plant = self.modes.told(plant.row_names) or plant
        if not self.given:
            return plant
        if plant is self.plant:
            return self.told
        if self._told_records is not None:
            return plant.with_records(loads=self.told.arrays.loads)  # type: ignore[attr-defined]
        values = {load.name: load.value for load in self.told.loads}  # type: ignore[attr-defined]
        return plant.with_loads(values)  # type: ignore[attr-defined]


def _named(given: Any, what: str) -> Mapping[str, Any]:
    """A checked mapping of names; empty for None."""
    return {} if given is None else _check.mapping(given, what, "names to numbers or functions of time")


class _Points:
    """Function of time through given points: linear between them, constant before the first and after the last."""

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


NOTHING = Acting(None)  # type: ignore[arg-type]

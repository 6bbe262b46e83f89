"""Inverse kinematics: configurations of a closed machine in which a task has a given value, or comes nearest to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import metres as metres_of
from ..errors import InputError, ModelError
from ..model.assembly import completed
from ..model.closing import Closing, descend
from ..model.gears import gears_of
from ..model.plant import Plant
from ..model.terms import Terms
from .tasks import Task, as_task

if TYPE_CHECKING:
    import xarray

__all__ = ["InverseKinematics", "Reached"]

Array = NDArray[np.float64]

_THERE = 1e-11  # sizes of the machine: a target that is missed by less is reached
_CLOSED = 1e-12  # the same of loops
_NEAR = (1, 8, 40)  # samples from which a target is tried, the nearest first, before it counts as out of reach
_ALMOST = 0.2  # sizes of the machine: a target that is missed by less is tried from more samples,
_ALL = 100  # so many: of 600 targets within reach, on 15 machines, none took more than 49
_LOCAL = 10  # of these, from where the nearest configuration is looked for
_OFTEN = 4  # searches that end at the nearest one found, before it counts as the nearest
_ROUGH, _FINE = 1e-6, 1e-14  # sizes of the machine that a step gains at least: to compare searches, and to end one
_BENT = 1e-5  # sizes, or rad, between which slopes are compared: both errors, h^2 and rounding / h, are 1e-10 or less
_TURN = 2.0 * np.pi
_ENDLESS = 64.0  # rad, or sizes: what goes on so far has no end
_NOTHING = (
    "no configuration of {!r} was found in which the loops are closed within the limits of the joints; give a guess, "
    "or look at the limits"
)
_SURE = 0.01  # chance that another start leads where none has led: less, and the search is given up
_APART = 1e-5  # rad, or sizes: configurations that are nearer are one branch
_ELSEWHERE = 0.03  # rad, or sizes: rough ends that are nearer are one; they are off by the root of _ROUGH
_TRIES = 60  # starts from which branches are looked for


@dataclass(frozen=True, eq=False)
class Reached:
    """Configuration that was found for a target, and its distance from it.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        Configuration with closed loops, within the limits of the joints.
    error : ndarray, shape (k,)
        Target less value, in the units of the task.
    distance : float
        Length of the error, m: a radian counts as the size of the machine.
    reached : bool
        Whether the target is reached, to 1e-11 of the size of the machine.
    at_limits : tuple of str
        Coordinates that are at one of their limits.
    """

    q: Array
    error: Array
    distance: float
    reached: bool
    at_limits: tuple[str, ...]

    def __str__(self) -> str:
        there = "reached" if self.reached else f"out of reach by {self.distance:.6g} m"
        limits = f", at limits: {', '.join(self.at_limits)}" if self.at_limits else ""
        return f"{there}{limits}: q = {np.round(self.q, 6).tolist()}"


class InverseKinematics:
    """Inverse kinematics of a machine with loops: configurations in which a task has a given value.

    Damped Gauss-Newton steps go from the guess, with the loops closed and within the limits of the joints; where they
    do not lead to the target, from the nearest of random configurations. Out of reach, the nearest configuration is
    found.

    Parameters
    ----------
    plant : Plant
    task : Task, str or sequence of str
        `PointTask`, `PoseTask`, `Coordinates`, `FunctionTask`, several as a `TaskStack`; or names of coordinates.
    samples : int
        Number of random configurations, which are made when they are first needed.
    seed : int
        Seed of these.

    Raises
    ------
    ValueError
        For a task of other coordinates than those of the plant.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.controllers import PointTask
    >>> plant = plants.five_bar()
    >>> reach = InverseKinematics(plant, PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy"))
    >>> found = reach([0.5, 1.9], guess=plant.assemble(left=2.1, right=1.0))
    >>> found.reached, plant.point(found.q, "left_upper", (1.5, 0.0, 0.0)).round(9)
    (True, array([0.5, 1.9, 0. ]))
    >>> print(round(reach([0.5, 9.0]).distance, 6))  # m out of reach
    6.55051
    """

    @_check.knows_its_keywords
    def __init__(
        self, plant: Plant, task: str | tuple[str, ...] | list[str] | Task, *, samples: int = 200, seed: int = 0
    ) -> None:
        _check.plant(plant)
        plant = plant._positional
        self.plant, self.task = plant, as_task(plant, task)
        self.names, self.units = tuple(self.task.names), tuple(self.task.units)
        self._scale = metres_of(self.units, plant.size) / plant.size
        self._count, self._rng = (
            _check.count(samples, "samples", 1),
            np.random.default_rng(_check.count(seed, "seed", 0)),
        )
        self._gears = gears_of(plant)
        self._twin = twin = plant if self._gears is None else self._gears.twin  # what is moved; q is its own below
        self._closing = Closing(twin)
        self._samples: Array | None = None
        whole = [name for j in getattr(twin, "joints", ()) for name in j.turning_names]
        free = [i for i, (low, high) in enumerate(twin.limits) if not (np.isfinite(low) or np.isfinite(high))]
        self._round = np.array([i for i in free if twin.position_names[i] in whole], dtype=int)

    def __call__(self, target: ArrayLike, guess: ArrayLike | Mapping[str, float] | str | None = None) -> Reached:
        """Configuration for a target: the one near the guess, where there are several.

        Parameters
        ----------
        target : array_like, shape (k,)
            Value of the task, m and rad.
        guess : array_like, shape (nq,), mapping, or name of a configuration, optional
            Defaults to the nearest of the samples. Coordinates that a mapping does not name are not known; see
            `Plant.assemble`.

        Returns
        -------
        Reached
        """
        target = self._target(target)
        starts = [] if guess is None else [self._start(guess)]
        origin, tried = starts[0] if starts else self._twin.neutral(), 0
        ends = list[float]()
        for tries in _NEAR if not starts else (0, *_NEAR[1:]):
            starts = [*starts, *self._nearest(target, tries)[max(tried - 1, 0) :]]
            for start in starts[tried:]:
                found, end = self._descend(target, start, origin)
                if found is not None and found.reached:
                    return found
                ends.append(end)
            tried = len(starts)
        best = self._nearest_of(target, starts[:_LOCAL], origin)
        if best is None:
            raise InputError(_NOTHING.format(self.plant.name))
        if not best.reached and best.distance < _ALMOST * self.plant.size:  # it may be there, behind a limit or a fold
            for start in self._nearest(target, _ALL)[tried:]:
                if _unseen(ends) < _SURE:
                    break
                found, end = self._descend(target, start, origin)
                if found is not None and found.reached:
                    return found
                ends.append(end)
        return best

    def branches(self, target: ArrayLike, tries: int = _TRIES) -> list[Reached]:
        """All configurations found in which the task has a value, one for each way to assemble the machine.

        Parameters
        ----------
        target : array_like, shape (k,)
        tries : int
            Number of random configurations to start from.

        Raises
        ------
        ValueError
            Where the task leaves motion free, so that there are infinitely many.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.five_bar()
        >>> [found.q.round(2).tolist() for found in InverseKinematics(plant, ("left", "right")).branches([2.1, 1.0])]
        [[2.1, -2.93, 1.0, 2.95], [2.1, -1.29, 1.0, 1.31]]
        """
        target, found = self._target(target), list[Reached]()
        lengths = self._closing.lengths
        for start in self._random(_check.count(tries, "tries", 1)):
            new, _ = self._descend(target, start, self._twin.neutral())
            if new is None or not new.reached:
                continue
            q = self._reduced(new.q)
            terms = self._twin.terms(q, np.zeros(self._twin.nv))
            if np.linalg.matrix_rank(self._slopes(self._terms(q)) @ terms.Z, 1e-9) < terms.dof and not found:
                raise InputError(
                    f"the task {self.names} leaves motion of {self.plant.name!r} free, so there are infinitely many "
                    "configurations; name more coordinates, or ask for one of them with a guess"
                )
            apart = [np.abs(self._twin.difference(self._reduced(x.q), q) / lengths).max() for x in found]
            if min(apart, default=np.inf) > _APART:
                found.append(new)
        return sorted(found, key=lambda x: self._reduced(x.q).tolist())

    def workspace(self, count: int = 1000) -> xarray.Dataset:
        """Values of the task at random configurations within the limits, and how well it can be moved there.

        Returns
        -------
        xarray.Dataset
            ``value`` (sample, name), ``q`` (sample, position), and ``manipulability`` (sample): smallest over largest
            singular value of the task's rate by motions of the machine, 0 where it loses a direction.
        """
        import xarray

        Q = list(self._random(_check.count(count, "count", 1)))
        values, quality = [], []
        for q in Q:
            terms = self._terms(q)
            motions = self._twin.terms(q, np.zeros(self._twin.nv)).unit_motions
            s = np.linalg.svd(self._scale[:, None] * self._slopes(terms) @ motions, compute_uv=False)
            values.append(self.task.value(terms))
            quality.append(s[-1] / s[0] if len(s) == len(self.names) and s[0] > 0.0 else 0.0)
        data = {
            "value": (("sample", "name"), np.array(values).reshape(-1, len(self.names))),
            "q": (("sample", "position"), np.array([self._full(q) for q in Q]).reshape(-1, self.plant.nq)),
            "manipulability": ("sample", np.array(quality), {"long_name": "smallest over largest rate of the task"}),
        }
        coords = {"name": np.array(self.names), "position": np.array(self.plant.position_names)}
        return xarray.Dataset(data, coords, {"plant": self.plant.name, "units": list(self.units)})

    def extremes(self, tries: int = _LOCAL) -> xarray.Dataset:
        """Smallest and largest value of each entry of the task that are found, within loops and limits.

        The search goes from the samples with the most extreme values, downhill and uphill, until no motion leads
        further. Parts of the machine's configurations that no sample is in may have more extreme values.

        Parameters
        ----------
        tries : int
            Number of samples to start from, for each value.

        Returns
        -------
        xarray.Dataset
            ``value`` (name, end), with the ends ``"least"`` and ``"most"``, and ``q`` (name, end, position), its
            configuration. A value that goes on beyond 64 radians, or sizes of the machine, is infinite, and q is that
            far out.

        Raises
        ------
        ValueError
            Where no closed configuration was found.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> from cmbcontrol.controllers import PointTask
        >>> plant = plants.five_bar()
        >>> reach = InverseKinematics(plant, PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy"))
        >>> reach.extremes().value.values.round(6) + 0.0
        array([[-1.5    ,  2.5    ],
               [-2.44949,  2.44949]])
        """
        import xarray

        _check.count(tries, "tries", 1)
        samples = self._sampled()
        if not len(samples):
            raise InputError(_NOTHING.format(self.plant.name))
        values = np.array([self.task.value(self._terms(q)) for q in samples]).reshape(len(samples), -1)
        ends, where = np.zeros((len(self.names), 2)), np.zeros((len(self.names), 2, self.plant.nq))
        for i, name in enumerate(self.names):
            one = InverseKinematics.__new__(InverseKinematics)
            vars(one).update(vars(self), task=_Entry(self.task, i), names=(name,), units=self.units[i : i + 1])
            one._scale = self._scale[i : i + 1]
            for k, sign in enumerate((-1.0, 1.0)):
                starts = [samples[j] for j in np.argsort(-sign * values[:, i])[:tries]]
                ends[i, k], where[i, k] = one._end(sign, starts)
        data = {"value": (("name", "end"), ends), "q": (("name", "end", "position"), where)}
        coords = {"name": list(self.names), "end": ["least", "most"], "position": list(self.plant.position_names)}
        return xarray.Dataset(data, coords, {"plant": self.plant.name, "units": list(self.units)})

    # -- how ------------------------------------------------------------------------------------------

    def _target(self, target: ArrayLike) -> Array:
        return _check.vector(target, len(self.names), "the target", self.names)

    def _full(self, q: Array) -> Array:
        return q if self._gears is None else self._gears.full(q)

    def _reduced(self, q: Array) -> Array:
        return q if self._gears is None else self._gears.reduced(q)

    def _start(self, guess: ArrayLike | Mapping[str, float] | str) -> Array:
        """Configuration to start from, in moved coordinates, from a guess of the user; a mapping is completed."""
        if not isinstance(guess, Mapping):
            return self._reduced(self.plant.configuration(guess))
        self.plant.configuration(guess)  # which checks it
        named = guess if self._gears is None else self._gears.named(guess)[0]
        return completed(self._twin, self._twin.configuration(named), frozenset(named))

    def _terms(self, q: Array) -> Terms:
        """Equations of motion of the machine at rest, at a configuration in moved coordinates."""
        return self.plant.terms(self._full(q), np.zeros(self.plant.nv))

    def _slopes(self, terms: Terms) -> Array:
        """Jacobian of the task (k, nv) by the coordinates that are moved."""
        J = self.task.jacobian(terms)
        return J if self._gears is None else J @ self._gears.rates

    def _residual(self, target: Array, q: Array) -> tuple[Array, Array]:
        """Residuals of the loops, and of the task to a target, in sizes of the machine."""
        return self._closing.rows(q)[0], -self._scale * self.task.error(target, self._terms(q))

    def _descend(self, target: Array, start: Array, origin: Array) -> tuple[Reached | None, float]:
        """Result of steps for loops and task together, None where the loops stay open; and the residual left there."""
        closing = self._closing

        def equations(q: Array) -> tuple[Array, Callable[[], Array]]:
            rows, jacobian = closing.rows(q)
            terms = self._terms(q)
            r = np.concatenate([rows, -self._scale * self.task.error(target, terms)])
            return r, lambda: np.vstack([jacobian(), self._scale[:, None] * self._slopes(terms) * closing.lengths])

        try:
            q = closing.close(start)
            q, left = descend(closing, q, equations, closing.step, 0.0, 1e-2)
        except ModelError:
            return None, np.inf
        return self._told(target, q, origin), left

    def _told(self, target: Array, q: Array, origin: Array) -> Reached | None:
        """Result for a configuration; None where its loops are open. Joints that turn round are near `origin`."""
        rows, left = self._residual(target, q)
        turns = np.zeros(q.size)
        turns[self._round] = np.round((q - origin)[self._round] / _TURN)
        every = turns if turns.any() else np.zeros((0, q.size))
        for some in np.vstack([every, turns * np.eye(q.size)[turns != 0.0]]):
            turned = self._residual(target, q - _TURN * some)
            counted = np.linalg.norm(turned[1] - left) > _CLOSED  # by the task; or by a coupling
            if turns @ some and not counted and np.abs(turned[0]).max(initial=0.0) <= _CLOSED:
                q, turns, (rows, left) = q - _TURN * some, turns - some, turned
        if np.abs(rows).max(initial=0.0) > _CLOSED or self._closing.reversed_loops(q):
            return None
        plant, whole = self.plant, self._full(q)
        distance = float(np.linalg.norm(left)) * plant.size
        at = np.abs(whole[:, None] - plant.limits).min(axis=1, initial=np.inf) < 1e-9
        names = tuple(plant.position_names[k] for k in np.flatnonzero(at))
        return Reached(whole, -left / self._scale, distance, distance <= _THERE * plant.size, names)

    def _nearest_of(self, target: Array, starts: list[Array], origin: Array) -> Reached | None:
        """Nearest configuration that is found from some starts: roughly from each, until it is found often.

        Of several at the same distance, as of a toggle on the crank that a task is about, it is the first.
        """
        found, nearest = list[Reached](), list[Reached]()
        for start in starts:
            new = self._approach(target, start, origin, _ROUGH)
            if new is None:
                continue
            found.append(new)
            least = min(x.distance for x in found)
            nearest = [x for x in found if x.distance - least < 10.0 * _ROUGH * self.plant.size]
            if len(nearest) >= _OFTEN:
                break
        ends = list[Reached]()
        for some in nearest:
            q = self._reduced(some.q)
            apart = [np.abs(self._twin.difference(self._reduced(x.q), q) / self._closing.lengths).max() for x in ends]
            if min(apart, default=np.inf) > _ELSEWHERE:
                ends.append(self._approach(target, q, origin, _FINE) or some)
        least = min((x.distance for x in ends), default=0.0)
        return next((x for x in ends if x.distance <= least + _THERE * self.plant.size), None)

    def _end(self, sign: float, starts: list[Array]) -> tuple[float, Array]:
        """Largest value of a task of one entry, or the smallest, found from some starts; and its configuration.

        Targets ahead of the present value are approached, and put further ahead as long as they are reached.
        """
        ahead, origin = 1.0, self._twin.neutral()
        while True:
            value = self.task.value(self._terms(starts[0]))
            best = self._nearest_of(value + sign * ahead / self._scale, starts, origin)
            if best is None:
                return float(value[0]), self._full(starts[0])
            starts = [self._reduced(best.q)]
            if not best.reached:
                return float(self.task.value(self._terms(starts[0]))[0]), best.q
            if ahead >= _ENDLESS:
                return sign * np.inf, best.q
            ahead *= 4.0

    def _approach(self, target: Array, start: Array, origin: Array, gain: float) -> Reached | None:
        """Nearest configuration that is found from a start: no motion within the loops and limits comes nearer.

        The search ends where a step gains no more than `gain` sizes of the machine; a fine one where slopes no longer
        fall: where the distance is flat to rounding, slopes still give the place to rounding, by Newton's steps.
        """
        twin, closing = self._twin, self._closing
        bend = np.zeros((twin.nv, twin.nv))  # of half the square of the distance along the closed loops, but for J'J
        try:
            now = self._told(target, closing.close(start), origin)
            damping, here, small = 1e-3, None if now is None else self._local(now), 0
            if gain <= _FINE and now is not None and here is not None:
                bend = self._bend(target, now, here, origin, bend)
            for _ in range(200):
                if now is None or here is None or damping > 1e8:
                    break
                q = self._reduced(now.q)
                ahead = twin.integrate(q, self._move(now, here, bend, damping))
                new = self._told(target, closing.close(ahead), origin)
                there = None
                if new is not None and new.distance < now.distance + _FINE * twin.size:
                    there = self._local(new)
                    # where distances are equal to rounding, slopes still tell
                    flatter = np.linalg.norm(there.downhill) < 0.5 * np.linalg.norm(here.downhill)
                nearer = new is not None and new.distance < now.distance - _FINE * twin.size
                if new is not None and there is not None and (flatter or nearer):
                    gained = now.distance - new.distance
                    moved = twin.difference(q, self._reduced(new.q)) / closing.lengths
                    bend = _secant(bend, moved, here.downhill - there.downhill - here.J.T @ (here.J @ moved))
                    if gain <= _FINE:
                        bend = self._bend(target, new, there, origin, bend)
                    now, here, damping = new, there, max(0.2 * damping, 1e-10)
                    small = small + 1 if gained < gain * twin.size else 0
                    # a single one may be short only, after some that led too far
                    if small > 1 and not (flatter and gain <= _FINE):
                        break
                else:
                    damping *= 10.0
        except ModelError:
            return None
        return now

    def _local(self, now: Reached) -> _Local:
        """Derivatives of the task and of the loops at a result, in sizes of the machine by radians or sizes."""
        closing, q = self._closing, self._reduced(now.q)
        J = self._scale[:, None] * self._slopes(self._terms(q)) * closing.lengths
        A = closing.rows(q)[1]()
        Z = _null_space(A)
        return _Local(J, A, Z @ (Z.T @ (J.T @ (self._scale * now.error))))

    def _bend(self, target: Array, now: Reached, here: _Local, origin: Array, other: Array) -> Array:
        """Second derivative along the closed loops, without J'J, by differences of slopes; else the `other` one."""
        closing, q, bend = self._closing, self._reduced(now.q), np.zeros_like(other)
        for z in _null_space(here.A).T:
            ends = [self._twin.integrate(q, side * _BENT * closing.lengths * z) for side in (1.0, -1.0)]
            found = [self._told(target, closing.close(end), origin) for end in ends]
            if found[0] is None or found[1] is None:
                return other
            ahead, behind = (self._local(x).downhill for x in found if x is not None)
            bend += np.outer((behind - ahead) / (2.0 * _BENT) - here.J.T @ (here.J @ z), z)
        return 0.5 * (bend + bend.T)

    def _move(self, now: Reached, here: _Local, bend: Array, damping: float) -> Array:
        """Damped step to the least distance along the closed machine; coordinates at a limit do not pass it."""
        plant, closing, q = self._twin, self._closing, self._reduced(now.q)
        lengths, (i, k) = closing.lengths, closing.bounded.T
        e, low, high = self._scale * now.error, np.full(plant.nv, -np.inf), np.full(plant.nv, np.inf)
        low[k], high[k] = ((plant.limits[i] - q[i, None]) / lengths[k, None]).T
        held: list[int] = []
        while True:
            Z = _null_space(np.vstack([here.A, np.eye(plant.nv)[held]]))
            if not Z.shape[1]:
                return np.zeros(plant.nv)
            G = here.J @ Z
            size = max(float((G * G).sum()), 1e-30)
            curvatures, V = np.linalg.eigh(G.T @ G + Z.T @ bend @ Z)
            y = Z @ (V @ ((V.T @ (G.T @ e)) / (np.abs(curvatures) + damping * size)))  # downhill at a saddle, too
            beyond = [int(c) for c in np.flatnonzero((y < low - 1e-12) | (y > high + 1e-12)) if c not in held]
            if not beyond or np.abs(y[beyond]).max() == 0.0:
                return closing.short(lengths * y)
            at = [c for c in beyond if min(abs(low[c]), abs(high[c])) < 1e-9]
            if not at:  # as far as the first limit
                share = min((high[c] if y[c] > 0.0 else low[c]) / y[c] for c in beyond)
                return closing.short(lengths * y * share)
            held += at

    def _random(self, count: int) -> list[Array]:
        """Random configurations with closed loops within the limits."""
        plant, closing, found = self._twin, self._closing, list[Array]()
        low, high = plant.limits.T
        for _ in range(20 * count):
            if len(found) == count:
                break
            q = plant.integrate(plant.neutral(), np.pi * closing.lengths * self._rng.uniform(-1.0, 1.0, plant.nv))
            bounded = np.isfinite(low) & np.isfinite(high)
            q[bounded] = self._rng.uniform(low[bounded], high[bounded])
            try:
                q = closing.close(q)
                if plant.closure_error(q) < _CLOSED * plant.length_scale(q) and not closing.reversed_loops(q):
                    found.append(q)
            except ModelError:
                continue
        return found

    def _nearest(self, target: Array, count: int) -> list[Array]:
        """Samples (count,) whose values are nearest to a target, the nearest first."""
        samples = self._sampled()
        if not count:
            return []
        left = [np.linalg.norm(self._scale * self.task.error(target, self._terms(q))) for q in samples]
        return [samples[k].copy() for k in np.argsort(left)[:count]]

    def _sampled(self) -> Array:
        """Random configurations (samples, nq) with closed loops, made when they are first needed."""
        if self._samples is None:
            self._samples = np.array(self._random(self._count)).reshape(-1, self._twin.nq)
        return self._samples


def _unseen(ends: list[float]) -> float:
    """Chance that one more search ends where none has ended, of searches that ended at these residuals.

    With w ends of n searches it is w (w + 1) / (n (n - 1)), whatever their catchments are (Boender and Rinnooy Kan,
    Mathematical Programming 37, 1987).
    """
    found = list[float]()
    for end in ends:
        if not any(abs(end - x) <= 1e-4 * max(end, x) for x in found if np.isfinite(x)) or not np.isfinite(end):
            found.append(end)
    n, w = len(ends), len(found)
    return w * (w + 1) / (n * (n - 1)) if n > 1 else 1.0


class _Entry(Task):
    """One value of a task, as a task of its own."""

    def __init__(self, task: Task, i: int) -> None:
        self.task, self.plant, self._i = task, task.plant, slice(i, i + 1)
        self.names, self.units = tuple(task.names[i : i + 1]), tuple(task.units[i : i + 1])

    def value(self, terms: Terms) -> Array:
        return self.task.value(terms)[self._i]

    def jacobian(self, terms: Terms) -> Array:
        return self.task.jacobian(terms)[self._i]

    def bias(self, terms: Terms) -> Array:
        return self.task.bias(terms)[self._i]


class _Local(NamedTuple):
    """Derivatives of the task and of the loops at a configuration."""

    J: Array  # (k, nv) of the task
    A: Array  # (rows, nv) of the loops
    downhill: Array  # (nv,) along the closed loops, J'e


def _null_space(rows: Array) -> Array:
    """Orthonormal motions (nv, free) that loops leave: singular values below 1e-9 are zero, closed loops 1e-12 off."""
    _, s, Vt = np.linalg.svd(rows)
    return Vt[np.count_nonzero(s > 1e-9 * s.max(initial=1.0)) :].T


def _secant(bend: Array, moved: Array, change: Array) -> Array:
    """Symmetric matrix that maps `moved` to `change`: `bend` with an update of rank one (SR1), or as it is."""
    off = change - bend @ moved
    along = float(off @ moved)
    if abs(along) < 1e-8 * float(np.linalg.norm(off) * np.linalg.norm(moved)) or along == 0.0:
        return bend  # it would grow without bound
    return bend + np.outer(off, off) / along

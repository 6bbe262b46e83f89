"""Motion asked of one part of a machine as reference of other coordinates, by the kinematics of its closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import metres
from ..errors import InputError
from ..model.closing import CLOSED, Closing
from ..model.plant import Plant
from .pieces import Pieces, Profile, hermite
from .tasks import Coordinates, Task, as_task, motion_of

__all__ = ["InverseMotion"]

Array = NDArray[np.float64]

_DEAD = (
    1e-4  # sizes that the task moves a size of the machine: less, and rounding of its value, 1e-16, is 1e-8 of rates
)
# Of the range of positions, the largest velocity and the largest acceleration: errors between knots. Solutions have
# rounding of 1e-15, which in pieces of a hundredth of the motion are 1e-11 of accelerations.
_EXACT = np.array([1e-11, 1e-10, 1e-9])
_ROUGH = 1e-6  # larger errors are never rounding
_FIRST = 16  # pieces of a motion, at first
_HALVINGS = 24  # of a step, before there is none
_NODES = np.array([0.0, 0.5, 1.0])  # of a piece, at which position, velocity and acceleration are exact
# The error of a piece is, to leading order, a multiple of w(s) = (s (s - 1/2) (s - 1))^3. Here w, w' and w'' are
# largest, each in one half or the other.
_CHECKS = (0.2, 0.8919, 0.9591)


class _State(NamedTuple):
    """Motion of the machine at a time: configuration, rate, acceleration, and of the followed coordinates (3, k)."""

    t: float
    q: Array
    v: Array
    a: Array
    told: Array


class InverseMotion(Profile):
    """Reference of coordinates that moves a task as asked: the crank, by the height that the ram is to have over time.

    The loops are closed and the task is solved for time by time, from the start on along one branch; velocities and
    accelerations are those of the exact kinematics. Between, pieces of degree eight have the exact position, velocity
    and acceleration at both ends and in the middle. They are made shorter until, where their errors are largest, they
    are right to 1e-11 of the range of positions, 1e-10 of the largest velocity and 1e-9 of the largest acceleration.

    Parameters
    ----------
    plant : Plant
    task : Task, str or sequence of str
        What is to move: names of coordinates, `PointTask`, and so on, with as many values as degrees of freedom.
    motion : reference
        Values of the task over time; it ends or repeats.
    coordinates : str or sequence of str
        Coordinates that the reference is for.
    start : array_like, mapping or str, optional
        Configuration at the beginning, or a guess of it, which chooses the branch; see `Plant.assemble`.

    Attributes
    ----------
    q0 : ndarray, shape (nq,)
        Configuration at the beginning.
    error : ndarray, shape (3,)
        Largest errors that were found between exact values: of the range of positions, of the largest velocity and of
        the largest acceleration.

    Raises
    ------
    ValueError
        Where the task cannot be reached, or hardly moves: at a dead centre of the coordinates, with time and place.
        There the motion is to be given in the coordinate itself.

    Examples
    --------
    >>> from cmbcontrol import CamProfile, plants
    >>> from cmbcontrol.controllers import PointTask
    >>> plant = plants.five_bar()
    >>> tip = PointTask(plant, "left_upper", (1.5, 0.0, 0.0), axes="xy")
    >>> line = CamProfile([0.0, 1.0], [[0.5, 1.9], [0.6, 1.8]])
    >>> motion = InverseMotion(plant, tip, line, ("left", "right"), start=plant.assemble(left=2.1, right=1.0))
    >>> motion(1.0)[0].round(4), bool(motion.error.max() < 1e-9)
    (array([2.152 , 0.8411]), True)
    """

    def __init__(
        self,
        plant: Plant,
        task: str | Sequence[str] | Task,
        motion: Profile,
        coordinates: str | Sequence[str],
        *,
        start: ArrayLike | Mapping[str, float] | str | None = None,
    ) -> None:
        self.plant = _check.plant(plant)
        if plant.moving:
            raise InputError(f"{plant.name!r} has prescribed motions, which would move its loops; leave them out")
        self.task = as_task(plant, (task,) if isinstance(task, str) else task)
        self.motion = _check.instance(motion, Profile, "motion", "such as CamProfile(...)")
        self.coordinates = Coordinates(plant, coordinates)
        if motion.size != len(self.task.names):
            raise InputError(f"motion has {motion.size} coordinates, and the task {len(self.task.names)}")
        self._scale = metres(self.task.units, plant.size) / plant.size
        self._closing = Closing(plant, limited=False)
        begin, end = self._range()
        self._state = self._first(begin, start)
        self.q0 = self._state.q
        times = np.unique(np.concatenate([self._breaks(begin, end), np.linspace(begin, end, _FIRST + 1)]))
        states = [self._state, *(self._at(float(t)) for t in times[1:])]
        told = np.array([state.told for state in states])
        self._sizes = np.abs(told).max(axis=0)
        self._sizes[0] = np.ptp(told[:, 0], axis=0)
        self._sizes = np.maximum(self._sizes, 1e-300)
        self.error = np.zeros(3)
        pieces = [piece for pair in pairwise(states) for piece in self._between(*pair)]
        knots, rows = np.array([t for t, _ in pieces] + [end]), np.array([powers for _, powers in pieces])
        self._parts = [
            Pieces(knots, rows[:, i], end=float(states[-1].told[0, i]), advance=advance)
            for i, advance in enumerate(self._advances(states[0], states[-1]))
        ]

    def __repr__(self) -> str:
        return f"<InverseMotion of {', '.join(self.coordinates.names)} by {', '.join(self.task.names)}>"

    def _range(self) -> tuple[float, float]:
        """Begin and end of the motion, or of its first period."""
        if self.motion.period is not None:
            begin = max(float(self.motion._parts[0].begins[0]), 0.0) if self.motion._parts[0].bounded else 0.0
            return begin, begin + self.motion.period
        return self.motion._require_ends("InverseMotion")

    def _breaks(self, begin: float, end: float) -> Array:
        """Times from begin to end at which derivatives of the motion may jump."""
        inner = np.concatenate([part.begins[np.isfinite(part.begins)] for part in self.motion._parts])
        return np.concatenate([[begin, end], inner[(inner > begin) & (inner < end)]])

    def _asked(self, t: float) -> tuple[Array, Array, Array]:
        """Value, rate and acceleration (k,) of the task at a time."""
        return self.motion(t)

    # -- exact states ----------------------------------------------------------------------------------------------

    def _first(self, t: float, start: Any) -> _State:
        """State at the beginning, near a configuration or guess."""
        plant = self.plant
        q = plant.assemble() if start is None else None
        if q is None:
            q = plant.assemble(guess=start) if isinstance(start, Mapping) else plant.close(plant.configuration(start))
        dof = plant.terms(q, np.zeros(plant.nv)).dof
        if dof != len(self.task.names):
            raise InputError(
                f"{plant.name!r} has {dof} degrees of freedom, and the task {self.task.names} has "
                f"{len(self.task.names)} values; as many are needed to tell how it moves"
            )
        found = self._closed(t, q)
        if found is None:
            from .inverse_kinematics import InverseKinematics

            reached = InverseKinematics(plant, self.task)(self._asked(t)[0], q)
            found = self._closed(t, reached.q) if reached.reached else None
            if found is None:
                raise InputError(
                    f"at t = {t:.6g} s {self._named(self._asked(t)[0])} is out of reach of {plant.name!r}: it comes no "
                    f"nearer than {reached.distance:.3g} m; look at InverseKinematics(plant, task).extremes()"
                )
        return self._moving(t, found)

    def _closed(self, t: float, q: Array) -> Array | None:
        """Configuration near q with closed loops and the value of the task at a time, by Newton's steps, or None."""
        plant, closing, target, rest = self.plant, self._closing, self._asked(t)[0], np.zeros(self.plant.nv)
        before = np.inf
        for _ in range(12):
            terms = plant.terms(q, rest, check=False)
            rows, slopes = closing.rows(q)
            r = np.concatenate([rows, -self._scale * self.task.error(target, terms)])
            left = float(np.abs(r).max())
            if left <= CLOSED and left >= 0.5 * before:  # rounding
                return q
            J = np.vstack([slopes(), self._scale[:, None] * self.task.jacobian(terms) * closing.lengths])
            step = -np.linalg.lstsq(J, r, rcond=1e-12)[0]
            if not np.isfinite(step).all() or np.abs(step).max() > 1.0:
                return None
            q, before = plant.integrate(q, closing.lengths * step), left
        return q if before <= CLOSED else None

    def _moving(self, t: float, q: Array, before: bool = False) -> _State:
        """State at a closed configuration, just before a time where `before`; refuses where the task hardly moves."""
        plant, asked = self.plant, self._asked(float(np.nextafter(t, -np.inf)) if before else t)
        low, high = plant.limits.T
        beyond = np.flatnonzero((q < low - 1e-9) | (q > high + 1e-9))
        if beyond.size:
            k = int(beyond[0])
            raise InputError(
                f"at t = {t:.6g} s {plant.position_names[k]} = {q[k]:.6g} is beyond its limits, {low[k]:g} to "
                f"{high[k]:g}; ask for a motion within them"
            )
        terms = plant.terms(q, np.zeros(plant.nv))
        motions = terms.unit_motions
        moved = self._scale[:, None] * self.task.jacobian(terms) @ motions
        if np.linalg.svd(moved, compute_uv=False)[-1] < _DEAD:
            raise self._dead(t, q)
        v = motions @ np.linalg.solve(moved, self._scale * motion_of(self.task, asked, terms).rate)
        terms = plant.terms(q, v)
        now = motion_of(self.task, asked, terms)
        a = terms.Cv + motions @ np.linalg.solve(moved, self._scale * (now.free - now.bias - now.J @ terms.Cv))
        of = self.coordinates
        told = np.array([of.value(terms), of.jacobian(terms) @ v, of.jacobian(terms) @ a + of.bias(terms)])
        return _State(t, q, v, a, told)

    def _dead(self, t: float, q: Array) -> InputError:
        place = ", ".join(f"{n} = {x:.6g}" for n, x in zip(self.coordinates.names, self._places(q), strict=True))
        return InputError(
            f"at t = {t:.6g} s, near {place}, {self._named(self._asked(t)[0])} is at or beyond a dead centre: the task "
            f"hardly moves there, so it does not tell how {', '.join(self.coordinates.names)} is to move. Ask for less "
            "of it, or give the motion there as a reference of the coordinate itself, which passes dead centres"
        )

    def _places(self, q: Array) -> Array:
        return self.coordinates.value(self.plant.terms(q, np.zeros(self.plant.nv), check=False))

    def _named(self, values: Array) -> str:
        return ", ".join(f"{name} = {x:.6g}" for name, x in zip(self.task.names, values, strict=True))

    def _at(self, t: float) -> _State:
        """State at a time, from the last one on: in steps so short that no other branch is met."""
        halvings = 0
        while self._state.t != t:
            now, until = self._state, t
            for _ in range(halvings):
                until = 0.5 * (now.t + until)
            h = until - now.t
            way = (now.v + 0.5 * h * now.a) * h
            q = (
                self._closed(until, self.plant.integrate(now.q, way))
                if np.abs(way / self._closing.lengths).max() < 1.0
                else None
            )
            if q is not None:
                ahead = self.plant.difference(now.q, q)
                off, size = (float(np.abs(x / self._closing.lengths).max()) for x in (ahead - way, ahead))
                if off <= 0.25 * size + 1e-6:
                    self._state, halvings = self._moving(until, q), max(halvings - 1, 0)
                    continue
            halvings += 1
            if halvings > _HALVINGS:
                raise self._dead(until, now.q)
        return self._state

    # -- pieces ----------------------------------------------------------------------------------------------------

    def _between(self, first: _State, last: _State, whole: Array | float = np.inf) -> list[tuple[float, Array]]:
        """Pieces between two states, begins and powers (k, 9): one, or those of both halves.

        Near a dead centre rounding may be larger than what is asked. There a half is no better than the `whole` of
        which it is one, by its errors, and `error` tells.
        """
        h = last.t - first.t
        self._state = first
        middle = self._at(first.t + 0.5 * h)
        nodes = (first, middle, self._moving(last.t, last.q, before=True))
        k = first.told.shape[1]
        powers = np.array([hermite(h * _NODES, np.array([s.told[:, i] for s in nodes])) for i in range(k)])
        if not any(state.told[1:].any() for state in nodes):
            powers[:, 1:] = 0.0  # at rest
        piece, found = [Pieces((first.t, last.t), powers[i : i + 1]) for i in range(k)], np.zeros(3)
        for part in _CHECKS:
            self._state = first if part < 0.5 else middle
            exact = self._at(first.t + part * h)
            made = np.array([one(exact.t) for one in piece]).T
            found = np.maximum(found, (np.abs(made - exact.told) / self._sizes).max(axis=1))
        if ((found <= _EXACT) | ((found < _ROUGH) & (found > 0.25 * whole))).all():
            self.error = np.maximum(self.error, found)
            return [(first.t, powers)]
        if h < 1e-6 * abs(last.t):
            raise self._dead(first.t, first.q)
        return [*self._between(first, middle, found), *self._between(middle, last, found)]

    def _advances(self, first: _State, last: _State) -> list[float | None]:
        """Gain of each coordinate in a period, None where the motion does not repeat."""
        if self.motion.period is None:
            return [None] * first.told.shape[1]
        gap = np.abs(last.told[1:] - first.told[1:]) / self._sizes[1:]
        if gap.max() > 1e-6:
            raise InputError(
                f"after a period of the motion {self.plant.name!r} is in another configuration than before, on another "
                "branch or a part of a turn further; give one cycle of a motion after which it is in the same one"
            )
        gains = last.told[0] - first.told[0]
        return [0.0 if abs(x) < 1e-9 * max(s, 1.0) else float(x) for x, s in zip(gains, self._sizes[0], strict=True)]

"""Agreement of the numbers of redundant rows, and the smallest change of the geometry by which they agree.

Loops of most machines hold some motions twice: the axes of a planar linkage are parallel, those of a wrist meet in a
point. Written numbers have a few digits, so such rows disagree by the last of them, and strictly the machine is
locked. A tolerance on the rank would be one on all results that follow from it. So the numbers are made to agree once,
where the machine is built: places, axes, lengths and ratios change by about their last digit, as little as possible,
and then all rows hold exactly. Rows that agree to rounding are not touched.

The rows at a configuration have singular values that count, and others near zero, whose left vectors U2 are the
combinations of rows that the geometry as meant makes redundant. Numbers that change by p, with P the derivative of the
residual r by them, close these rows where

    U2' (r + P p) = 0,

at as many configurations as it takes. The smallest such p is a step of Newton's method to a machine whose rows agree
everywhere. Whether they do is checked at other configurations, in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..kernels import constrained, constraint_rows, tree
from ..kernels.layout import ROW_COUPLING, ROW_FORMULA
from ..trace.machine import places
from .closing import Closing
from .terms import RANK_TOLERANCE

if TYPE_CHECKING:
    from ..kernels.layout import Model
    from .mechanism import Mechanism
    from .parameters import Parameter

__all__ = ["Agreement", "agreed", "left_as_they_are"]

Array = NDArray[np.float64]

FINE = 1e-9  # sizes, rad: changes below it are told on request only
_COARSE = 1e-3  # sizes, rad: with fewer digits than three it is another machine
_COUNTS = 3.0 * _COARSE  # singular values above it are none that such digits leave
_ALIKE = 30.0  # times what rows disagree by on one branch: so they may on another
_GAP = 100.0  # between singular values that count and others; where it is less, it is said only
_EXACT = 1e-13  # of the largest length: a tenth of what counts as closed
_LARGEST = 20_000  # coordinates times rows: singular values of larger ones take seconds
_TRIES, _MANY = 8, 8  # starts of compiled steps; coordinates
_STARTS, _SAMPLES, _FRESH, _ROUNDS, _ITERATIONS = 14, 6, 3, 3, 10
_FAR = 0.4  # rad, or sizes: from one configuration to the next
_DIFFERENCE = 1e-6  # of a number, for derivatives: they are right to 1e-10, and the steps see to the rest

# Numbers that rows depend on, by part and field of the kernel arrays; what changes masses, too, is not needed.
_GEOMETRY = {("links", "R"), ("links", "p"), ("links", "pitch"), ("couplings_q", "couplings_q")}
_OTHER = {"mass", "com", "inertia", "targets", "numbers", "gravity"}


@dataclass(frozen=True)
class Agreement:
    """Change by which redundant rows agree that agreed only to the digits of the numbers.

    Attributes
    ----------
    rank : int
        Rank of the rows as meant.
    open : dict of str to float
        Largest opening of each loop along its motion, m, with the numbers as they were given.
    gap : float
        Smallest singular value that counts, over the largest that is rounding.
    shift, turn : float
        Largest change of a place or length, m, and of an axis, rad, or part of a ratio.
    changes : dict of str to float
        All changes, by the names of `cmbcontrol.dynamics.parameters`; empty where the numbers were left as they are.
    """

    rank: int
    open: Mapping[str, float]
    gap: float
    shift: float
    turn: float
    changes: Mapping[str, float]

    def __str__(self) -> str:
        loops = ", ".join(f"{name!r} by {x:.2g} m" for name, x in sorted(self.open.items(), key=lambda pair: -pair[1]))
        changed = f"places by at most {self.shift:.2g} m, axes and ratios by at most {self.turn:.2g}"
        if self.changes:
            return f"redundant rows agree to {loops}; numbers were changed so that they hold, {changed}"
        return f"redundant rows all but agree, to {loops}; they would hold with other numbers, {changed}"


_left: ContextVar[bool] = ContextVar("_left", default=False)


@contextmanager
def left_as_they_are() -> Iterator[None]:
    """Context in which the numbers of new machines are neither checked for agreement nor changed."""
    token = _left.set(True)
    try:
        yield
    finally:
        _left.reset(token)


def agreed(plant: Mechanism) -> tuple[Agreement, Mechanism] | None:
    """Agreement of a machine's redundant rows, and the machine where they agree; None if they agree as they are.

    None, too, where no such machine is found.
    """
    if _left.get() or not plant.nv or not plant.loops:
        return None
    plain = _with_loops_only(plant)
    if not plain.row_names or plain.nv * len(plain.row_names) > _LARGEST:
        return None
    try:
        return None if _is_clear(plain) else _agreed(plant, plain)
    except (ModelError, np.linalg.LinAlgError):  # rows or masses without a value at a configuration
        return None


def _with_loops_only(plant: Mechanism) -> Mechanism:
    """Machine without prescribed motions and without rows that bind velocities only."""
    plain = plant._positional
    return plain.without(*(motion.name for motion in plain.motions)) if plain.motions else plain


def _is_clear(plant: Mechanism) -> bool:
    """Whether compiled steps close the loops somewhere, where rows are independent or dependent beyond doubt.

    Nearly all machines are so, which takes less than a millisecond; others are checked further. A part that cannot move
    there is not clear: it may move on another branch. For machines with many loops, hardly any start closes all of
    them; where their rows are independent with open loops, they count as independent.
    """
    rng, work, moved = np.random.default_rng(0), constrained.new_work(plant.arrays), np.empty(plant.nv)
    parts = _parts(plant)

    def are_clear(q: Array) -> bool:
        J = plant.row_scale[:, None] * plant.jacobian(q) / plant.unit_lengths
        for rows, coordinates in parts:
            s = np.linalg.svd(J[np.ix_(rows, coordinates)], compute_uv=False)
            count = int(np.count_nonzero(s > _COUNTS))
            if count == len(coordinates) or not (s[count:] < _EXACT).all():
                return False
        return True

    if plant.nv > _MANY and all(len(rows) < len(coordinates) for rows, coordinates in parts):
        q = plant.integrate(plant.neutral(), plant.displacement_scale * rng.uniform(-1.0, 1.0, plant.nv))
        J = plant.row_scale[:, None] * plant.jacobian(q) / plant.unit_lengths
        if np.linalg.svd(J, compute_uv=False)[-1] > _COUNTS:
            return True
    for _ in range(_TRIES):
        q = plant.integrate(plant.neutral(), plant.displacement_scale * rng.uniform(-1.0, 1.0, plant.nv))
        accuracy = 0.1 * _EXACT * plant.size
        left = constrained.close_loops(plant.arrays, q, work, RANK_TOLERANCE, plant.nv, True, accuracy, -1, moved)
        if 0.0 <= left <= _EXACT * plant.length_scale(q) and are_clear(q):
            return True
    return False


def _parts(plant: Mechanism) -> list[tuple[list[int], list[int]]]:
    """Rows and coordinates of each part of a machine whose loops have nothing in common with those of other parts."""
    found: list[tuple[list[int], set[int]]] = []
    for i, row in enumerate(plant.arrays.rows):
        if row["kind"] == ROW_COUPLING:
            bound = plant.arrays.couplings_v[row["coupling"]] != 0.0
        elif row["kind"] == ROW_FORMULA:
            bound = np.ones(plant.nv, dtype=bool)
        else:
            bound = plant.path_mask(int(row["a"])) != plant.path_mask(int(row["b"]))
        rows, coordinates = [i], set(np.flatnonzero(bound).tolist())
        for some, moved in [part for part in found if part[1] & coordinates]:
            rows, coordinates = some + rows, coordinates | moved
            found.remove((some, moved))
        found.append((rows, coordinates))
    return [(rows, sorted(coordinates)) for rows, coordinates in found]


def _agreed(plant: Mechanism, plain: Mechanism) -> tuple[Agreement, Mechanism] | None:
    """Agreement and changed machine, for a machine that is not clear; `plain` is the machine with its loops only."""
    starts, locked = [], False
    for q in _starts(plain):
        rows = _Rows(plain, _lengths(plain, q))
        samples: list[Array] = []
        rank, walk, exact = rows.split(q).rank, _Walk(q), False
        while rank < len(plain.row_names) and len(samples) < _SAMPLES and (near := walk.on(rows, rank)) is not None:
            there = rows.split(near).rank
            if there > rank:  # what was before is singular
                rank, samples = there, []
            if len(samples) == 1 and rows.shut(near) and not rows.shut(samples[0]):
                samples = []  # the steps have led onto a branch that closes
            samples.append(near)
            exact = len(samples) == 2 and max(rows.disagreement(x, rank) for x in samples) < _EXACT
            exact = exact or (len(samples) == _SAMPLES and all(map(rows.shut, samples)))
            if exact:
                break
        if exact and not walk.locked:
            return None
        locked |= exact  # loops that are locked here tell nothing of another branch, where they move
        if len(samples) == _SAMPLES and not exact:
            starts.append((rows, rank, samples, walk))
    starts = [start for start in starts if not (locked and start[-1].locked)]
    for rows, rank, samples, walk in starts:
        more = [x for x in starts if x[2] is not samples and _is_alike(rows, rank, samples, x[2])]
        found = _changed(plant, rows, rank, samples + [q for x in more for q in x[2]], walk)
        if found is None and more:
            found = _changed(plant, rows, rank, samples, walk)
        if found is not None:
            return found
    return None


def _starts(plant: Mechanism) -> Iterator[Array]:
    """Configurations at which the loops close as well as the numbers allow: near those with a name, and random ones."""
    closing, rng = Closing(plant, []), np.random.default_rng(0)
    named = [dict(values) for values in plant.configurations.values()]
    for attempt in range(-len(named), _STARTS):
        q = plant.neutral()
        if attempt < 0:
            q[[plant.position_names.index(name) for name in named[attempt]]] = list(named[attempt].values())
        elif attempt:  # the second ones may lead to any branch: a third of them to that of a crossed parallelogram
            away = closing.lengths * rng.uniform(-1.0, 1.0, plant.nv)
            q = plant.integrate(q, (np.pi if attempt % 2 == 0 else 0.2 * 1.5 ** (0.5 * attempt + 0.5)) * away)
        q = closing.close(q, damping=1e-2 if attempt <= 0 else 1e-4)
        if plant.closure_error(q) < _COARSE * plant.length_scale(q) and not closing.reversed_loops(q):
            yield q


def _is_alike(rows: _Rows, rank: int, samples: list[Array], others: list[Array]) -> bool:
    """Whether rows agree as well on another branch: a parallelogram is planar on both.

    On one of them alone its axes could have a twist, as those of Bennett's linkage.
    """
    level = max(rows.disagreement(q, rank) for q in samples)
    return all(rows.split(q).rank == rank and rows.disagreement(q, rank) < _ALIKE * level for q in others)


def _lengths(plant: Mechanism, q: Array) -> Array:
    """Largest distance between the joints of the loop of each row, m (rows,).

    A small linkage on a large machine has its own size.
    """
    R, p = plant.link_poses(q)
    parents, found = plant.arrays.links["parent"], np.empty(len(plant.row_names))

    def chain(link: int) -> set[int]:
        found = set()
        while link >= 0:
            found.add(link)
            link = int(parents[link])
        return found

    for i, row in enumerate(plant.arrays.rows):
        ends = [x if link < 0 else p[link] + R[link] @ x for link, x in ((row["a"], row["pa"]), (row["b"], row["pb"]))]
        loop = chain(int(row["a"])) ^ chain(int(row["b"]))
        points = np.array([*ends, *(p[link] for link in loop)])
        far = float(np.linalg.norm(points - points[0], axis=1).max())
        found[i] = far if far > _COARSE * plant.size else plant.size
    return found


class _Split(NamedTuple):
    """Singular values and vectors of the rows; the first `rank` of them count."""

    U: Array
    s: Array
    Vt: Array
    rank: int


class _Rows:
    """Constraint rows, scaled by radians and lengths of their loops, for displacements in radians and sizes."""

    def __init__(self, plant: Mechanism, lengths: Array) -> None:
        self.plant, self.lengths = plant, lengths
        self.spans = np.where([unit == "rad/s" for unit in plant.velocity_units], 1.0, plant.size)
        self.weights = np.where([unit == "m" for unit in plant.row_units], 1.0 / lengths, plant.row_scale / plant.size)

    def residual(self, q: Array) -> Array:
        return self.weights * self.plant.residual(q)

    def split(self, q: Array) -> _Split:
        U, s, Vt = np.linalg.svd(self.weights[:, None] * self.plant.jacobian(q) * self.spans)
        return _Split(U, s, Vt, int(np.count_nonzero(s > _COUNTS)))

    def disagreement(self, q: Array, rank: int) -> float:
        """Largest opening of a row, or singular value beyond those that count."""
        return float(max(np.abs(self.residual(q)).max(), self.split(q).s[rank:].max(initial=0.0)))

    def shut(self, q: Array) -> bool:
        """Whether all rows are closed, to rounding."""
        return self.plant.closure_error(q) < _EXACT * self.plant.length_scale(q)

    def closed(self, q: Array, rank: int) -> Array | None:
        """Configuration near q where the combinations of rows that count close; None where they do not."""
        for _ in range(_ITERATIONS):
            U, s, Vt, _ = self.split(q)
            step = -Vt[:rank].T @ (U[:, :rank].T @ self.residual(q) / s[:rank])
            largest = np.abs(step).max(initial=0.0)
            if not largest < 1.0:
                return None
            q = self.plant.integrate(q, self.spans * step)
            if largest < 1e-13:
                return q
        return q if largest < 1e-10 else None

    def elsewhere(self, q: Array, rank: int, away: Array) -> Array | None:
        """Configuration beside q, displaced by `away`, that the rows that count allow; None where others open there."""
        near = self.closed(there := self.plant.integrate(q, self.spans * away), rank)
        if near is None or not np.abs(self.residual(near)).max() < _COARSE:
            return None
        if not self.shut(near):  # at a singular configuration other rows may count: all of them close then
            whole = Closing(self.plant, []).close(there)
            gone = np.abs(self.plant.difference(q, whole) / self.spans).max()
            near = whole if self.shut(whole) and gone > 0.1 * np.abs(away).max() else near
        return near

    def by_numbers(self, q: Array, numbers: list[Parameter], where: Mapping[int, list[tuple[str, int]]]) -> Array:
        """Derivatives of the residual by numbers of the machine (rows, numbers), by central differences."""
        arrays = self.plant.arrays
        links, rows, couplings = arrays.links.copy(), arrays.rows.copy(), arrays.couplings_q.copy()
        flat = {"links": links.view(np.float64), "rows": rows.view(np.float64), "couplings_q": couplings.reshape(-1)}
        for array in (links, rows, couplings):  # kernels know read-only ones, and would be compiled again for others
            array.setflags(write=False)
        arrays = arrays._replace(links=links, rows=rows, couplings_q=couplings)
        R, p, phi = np.empty((len(links), 3, 3)), np.empty((len(links), 3)), np.empty((2, len(rows)))
        columns = np.empty((len(rows), len(numbers)))
        for k, number in enumerate(numbers):
            moves = [(flat[part], at, rate) for i, rate in number.moves.items() for part, at in where.get(i, ())]
            before = [view[at] for view, at, _ in moves]
            for side, step in enumerate((_DIFFERENCE, -_DIFFERENCE)):
                for (view, at, rate), x in zip(moves, before, strict=True):
                    view[at] = x + step * rate
                tree.link_poses(links, q, R, p)
                constraint_rows.constraint_residual(arrays, q, R, p, phi[side])
            for (view, at, _), x in zip(moves, before, strict=True):
                view[at] = x
            columns[:, k] = self.weights * (phi[0] - phi[1]) / (2.0 * _DIFFERENCE)
        return columns


class _Walk:
    """Random walk along the motion of a machine: rows that agree at all its configurations do so everywhere."""

    def __init__(self, q: Array) -> None:
        self.q, self.rng, self.way, self.locked = q, np.random.default_rng(0), np.zeros(0), False

    def on(self, rows: _Rows, rank: int) -> Array | None:
        """Next configuration of the walk; None where there is none."""
        free = rows.split(self.q).Vt[rank:].T
        for far in (_FAR, -_FAR, 0.5 * _FAR, -0.5 * _FAR) if free.size else ():  # nearer, other machines agree, too
            away = free @ (free.T @ self.way if self.way.size else self.rng.standard_normal(free.shape[1]))
            away += 0.3 * np.linalg.norm(away) * free @ self.rng.standard_normal(free.shape[1])
            whole = np.abs(away).max()
            away[~rows.plant._looped] = 0.0
            if not np.abs(away).max() > 1e-6 * whole:  # an arm moves, and the loops that it is on are locked
                self.locked = True
                return self.q
            away *= far / np.abs(away).max()
            near = rows.elsewhere(self.q, rank, away)
            if near is not None:
                self.q, self.way = near, away
                return near
        return None


def _in_arrays(arrays: Model) -> dict[int, list[tuple[str, int]]]:
    """Places of the numbers that rows depend on: for each number, the array, and the index in it as plain numbers."""
    found: dict[int, list[tuple[str, int]]] = {}
    for i, place in enumerate(places(arrays)):
        if place.part in ("links", "rows", "couplings_q"):
            kind = getattr(arrays, place.part).dtype
            start = (place.record * kind.itemsize + kind.fields[place.field][1]) // 8 if kind.names else 0
            found[i] = [(place.part, start + place.index)]
    return found


def _changed(
    plant: Mechanism, rows: _Rows, rank: int, samples: list[Array], walk: _Walk
) -> tuple[Agreement, Mechanism] | None:
    """Machine whose rows agree, by Newton's steps, with the agreement; None where they do not lead to one."""
    from .parameters import parameters

    where = [(place.part, place.field) for place in places(rows.plant.arrays)]
    known, in_arrays = parameters(rows.plant), _in_arrays(rows.plant.arrays)
    names = [
        name
        for name, number in known.items()
        if any(where[i] in _GEOMETRY or where[i][0] == "rows" for i in number.moves)
        and not any(where[i][1] in _OTHER for i in number.moves)
    ]
    units = np.array([_unit(known[name], plant.size) for name in names])
    opened = _opened(rows.plant, samples)
    values = [rows.split(q).s for q in samples]
    gap = min(float(s[rank - 1] / max(s[rank:].max(initial=0.0), 1e-300)) if rank else np.inf for s in values)
    made, total, before, rounds = plant, np.zeros(len(names)), np.inf, 0
    while rounds < _ROUNDS:
        numbers = [parameters(rows.plant)[name] for name in names]
        C, d = [], []
        for q in samples:
            near = rows.closed(q, rank)
            if near is None:
                return None
            U2 = rows.split(near).U[:, rank:].T
            C.append(U2 @ rows.by_numbers(near, numbers, in_arrays) * units)
            d.append(U2 @ rows.residual(near))
        left = float(np.abs(np.concatenate(d)).max(initial=0.0))
        if left < 1e-14 or not left < 0.1 * before:
            walk.q = walk.q if (near := rows.closed(walk.q, rank)) is None else near
            further = [walk.on(rows, rank) for _ in range(_FRESH)]
            if all(q is not None and rows.shut(q) for q in further):
                break
            samples = [*samples, *(q for q in further if q is not None)]
            before, rounds = np.inf, rounds + 1
            continue
        before = left
        step = _least(np.vstack(C), np.concatenate(d))
        total += step
        if not np.abs(total).max(initial=0.0) < 2.0 * _COARSE:
            return None
        changes = {name: number.value + x for name, number, x in zip(names, numbers, units * step, strict=True) if x}
        with left_as_they_are():
            made = made.with_parameters(changes)
        rows = _Rows(_with_loops_only(made), rows.lengths)
    else:
        return None
    lengths = np.array([known[name].unit == "m" for name in names])
    shift = plant.size * float(np.abs(total[lengths]).max(initial=0.0))
    turn = float(np.abs(total[~lengths]).max(initial=0.0))
    changes = {name: float(x) for name, x in zip(names, units * total, strict=True) if x}
    return Agreement(rank, opened, gap, shift, turn, changes if gap >= _GAP else {}), made


def _unit(number: Parameter, size: float) -> float:
    """Large change of a number: the size of the machine, a radian, or a ratio itself."""
    return {"m": size, "m/rad": size, "rad": 1.0}.get(number.unit, abs(number.value)) or 1.0


def _least(C: Array, d: Array) -> Array:
    """Smallest x with C x = -d, by as few singular values as leave a thousandth of d."""
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    parts = U.T @ d
    left = np.sqrt(np.maximum(d @ d - np.cumsum(parts**2), 0.0))
    enough = (
        int(np.argmax(left <= 1e-3 * np.linalg.norm(d))) + 1 if (left <= 1e-3 * np.linalg.norm(d)).any() else s.size
    )
    count = min(enough, int(np.count_nonzero(s > 1e-5 * s[0])))
    return -Vt[:count].T @ (parts[:count] / s[:count])


def _opened(plant: Mechanism, samples: list[Array]) -> dict[str, float]:
    """Loops that are open by more than rounding, with their largest opening, m."""
    found: dict[str, float] = {}
    for q in samples:
        for name, x in plant.loop_residuals(q).items():
            if x > _EXACT * plant.length_scale(q):
                found[name] = max(found.get(name, 0.0), x)
    return found

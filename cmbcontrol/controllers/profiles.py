"""Motions of machines: cam laws, motion within limits of velocity, acceleration and jerk, sequences, masters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from .pieces import Pieces, Profile
from .references import _same_size, _values, samples

__all__ = ["CAM_LAWS", "CamProfile", "ElectronicCam", "JerkLimited", "Joined"]

Array = NDArray[np.float64]

_PI = np.pi
# Accelerations of the cam laws from rest to rest, in any unit: each piece as a part of the way, a polynomial of s from
# its begin (lowest power first), and a sine of s with amplitude, rate and phase.
CAM_LAWS: dict[str, tuple[tuple[float, tuple[float, ...], tuple[float, float, float]], ...]] = {
    "3-4-5": ((1.0, (0.0, 60.0, -180.0, 120.0), (0.0, 0.0, 0.0)),),
    "4-5-6-7": ((1.0, (0.0, 0.0, 420.0, -1680.0, 2100.0, -840.0), (0.0, 0.0, 0.0)),),
    "simple harmonic": ((1.0, (), (1.0, _PI, 0.5 * _PI)),),
    "cycloidal": ((1.0, (), (1.0, 2.0 * _PI, 0.0)),),
    "modified sine": (
        (0.125, (), (1.0, 4.0 * _PI, 0.0)),
        (0.75, (), (1.0, 4.0 * _PI / 3.0, 0.5 * _PI)),
        (0.125, (), (1.0, 4.0 * _PI, 1.5 * _PI)),
    ),
    "modified trapezoid": (
        (0.125, (), (1.0, 4.0 * _PI, 0.0)),
        (0.25, (1.0,), (0.0, 0.0, 0.0)),
        (0.25, (), (1.0, 4.0 * _PI, 0.5 * _PI)),
        (0.25, (-1.0,), (0.0, 0.0, 0.0)),
        (0.125, (), (1.0, 4.0 * _PI, 1.5 * _PI)),
    ),
}
_GAP = 1e-9  # of the size of a motion: joined pieces that miss by less fit


def _unit_rise(law: str) -> Pieces:
    """Rise of 1 over a way of 1 by a cam law: its acceleration, integrated twice."""
    begins, powers, sines = [0.0], [], []
    y = v = 0.0
    for part, acceleration, (A, w, phi) in CAM_LAWS[law]:
        made = np.zeros(8)
        wave = (-A / w**2, w, phi) if A else (0.0, 0.0, 0.0)
        made[0] = y - wave[0] * np.sin(phi)
        made[1] = v - wave[0] * w * np.cos(phi)
        for j, c in enumerate(acceleration):
            made[j + 2] = c / ((j + 1) * (j + 2))
        begins.append(begins[-1] + part)
        powers.append(made)
        sines.append(wave)
        y, v, _ = Pieces(begins[-2:], powers[-1:], sines[-1:]).edge(-1)
    return Pieces(begins, np.array(powers) / y, np.array(sines) / [y, 1.0, 1.0], end=1.0)


class CamProfile(Profile):
    """Reference from rest to rest by cam laws: rise, dwell, return, once or repeated over a cycle.

    At each of the times it rests; where two positions that follow one another are equal, it dwells exactly.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times, s, or angles of a master, rad (see `ElectronicCam`), increasing.
    positions : array_like, shape (n, k)
        Positions at these times, m or rad.
    law : str or sequence of str
        Cam law of all pieces, or of each of the n - 1: ``"modified sine"``, ``"modified trapezoid"``, ``"cycloidal"``,
        ``"3-4-5"``, ``"4-5-6-7"``, or ``"simple harmonic"``, whose acceleration jumps at its ends (VDI 2143-1;
        Norton, Cam Design and Manufacturing Handbook, chapters 3 and 4).
    periodic : bool
        Whether it repeats. A last position that is not the first one is an advance: an indexing table goes on.

    Raises
    ------
    ValueError
        For times that do not increase, and unknown laws.

    Examples
    --------
    >>> lift = CamProfile([0.0, 0.4, 0.6, 1.0], [0.0, 0.03, 0.03, 0.0], periodic=True)  # rise, dwell, return
    >>> [round(float(lift(t)[0][0]), 4) for t in (0.2, 0.5, 0.8, 1.2)]
    [0.015, 0.03, 0.015, 0.015]
    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        law: str | Sequence[str] = "modified sine",
        *,
        periodic: bool = False,
    ) -> None:
        self.times, self.positions = samples(times, positions, "a CamProfile")
        steps = len(self.times) - 1
        laws = [law] * steps if isinstance(law, str) else list(_check.sequence(law, "law", "names of cam laws"))
        if len(laws) != steps:
            raise InputError(f"law must be one cam law, or one for each of the {steps} pieces, got {len(laws)}")
        rises = {name: _unit_rise(_check.one_of(name, CAM_LAWS, "cam law", "law")) for name in dict.fromkeys(laws)}
        periodic = _check.flag(periodic, "periodic")
        self._parts = []
        for x in self.positions.T:
            pieces = [
                _stretched(rises[name], *self.times[i : i + 2], *x[i : i + 2].tolist()) for i, name in enumerate(laws)
            ]
            self._parts.append(pieces[0].followed(pieces[1:], x[-1] - x[0] if periodic else None))


def _stretched(rise: Pieces, begin: float, end: float, low: float, high: float) -> Pieces:
    """Unit rise between two times and positions; a dwell is one piece."""
    T, way = end - begin, high - low
    if not way:
        return Pieces((begin, end), [[low]], end=high)
    powers = way * rise.powers / T ** np.arange(rise.powers.shape[1])
    powers[:, 0] += low
    begins = begin + T * rise.begins
    begins[-1] = end
    return Pieces(begins, powers, rise.sines * [way, 1.0 / T, 1.0], end=high)


class JerkLimited(Profile):
    """Reference from rest to rest in the least time within limits of velocity, acceleration and jerk.

    It has up to seven pieces with constant jerk, whose durations are given by closed forms (Biagiotti and Melchiorri,
    Trajectory Planning for Automatic Machines and Robots, section 3.4).

    Parameters
    ----------
    start, goal : array_like, shape (k,)
        rad or m.
    velocity, acceleration, jerk : array_like
        Limits, one for all coordinates or one for each. They may be infinite, but not those of acceleration and jerk
        both.
    begin : float
        Time at which it begins, s.
    synchronised : bool
        Whether all coordinates arrive with the slowest, each in a slower motion of its own shape; else each takes its
        least time.

    Attributes
    ----------
    duration : float
        s.

    Raises
    ------
    ValueError
        For limits that are not above zero.

    Examples
    --------
    >>> move = JerkLimited([0.0], [1.0], velocity=1.0, acceleration=4.0, jerk=40.0)
    >>> round(move.duration, 9)  # 1 s, and for each end half of 0.25 s + 0.1 s
    1.35
    """

    def __init__(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        jerk: ArrayLike,
        begin: float = 0.0,
        *,
        synchronised: bool = True,
    ) -> None:
        self.start, self.goal = _same_size(
            start=_values(start, "the start of a JerkLimited motion"), goal=_values(goal, "the goal of it")
        )
        k, self.begin = self.start.size, _check.number(begin, "the begin of a JerkLimited motion")
        limits = [
            _limits(x, k, what) for x, what in ((velocity, "velocity"), (acceleration, "acceleration"), (jerk, "jerk"))
        ]
        if (np.isinf(limits[1]) & np.isinf(limits[2])).any():
            raise InputError("acceleration and jerk are both unlimited, so that a move would take no time; limit one")
        ways = self.goal - self.start
        phases = [_phases(abs(float(way)), *map(float, x)) for way, *x in zip(ways, *limits, strict=True)]
        each = [2.0 * sum(durations) + cruise for durations, cruise in phases]
        self.duration = max(each)
        together = _check.flag(synchronised, "synchronised")
        self._parts = []
        for a, b, (durations, cruise), own in zip(self.start, self.goal, phases, each, strict=True):
            whole = self.duration if together else own
            slower = whole / own if own else 1.0
            self._parts.append(_seven(self.begin, a, b, [slower * T for T in durations], slower * cruise, whole))


def _limits(given: ArrayLike, k: int, what: str) -> Array:
    """Limits (k,) above zero, which may be infinite."""
    values = np.atleast_1d(_check.numbers(given, f"the {what} of a JerkLimited motion"))
    if values.shape not in ((1,), (k,)) or not (values > 0.0).all():
        raise InputError(
            f"the {what} of a JerkLimited motion must be one number above zero, or {k} of them, got "
            f"{_check.shown(values.tolist())}"
        )
    return np.broadcast_to(values, (k,))


def _phases(way: float, v: float, a: float, j: float) -> tuple[list[float], float]:
    """Durations of the three pieces in which the motion becomes faster, and of the one at constant velocity."""
    if not way:
        return [0.0, 0.0, 0.0], 0.0
    ramp = a / j  # time in which the acceleration reaches its limit
    if way >= 2.0 * a * ramp * ramp:
        rise = ramp
        free = 2.0 * way / (ramp + np.sqrt(ramp * ramp + 4.0 * (way / a)))  # velocity that the way lets it reach
    else:
        rise = np.cbrt(0.5 * (way / j))
        free = j * rise * rise
    if free <= v:
        return [rise, max(free / a - ramp, 0.0) if rise == ramp else 0.0, rise], 0.0
    rise = ramp if v >= a * ramp else np.sqrt(v / j)
    hold = max(v / a - ramp, 0.0) if rise == ramp else 0.0
    return [rise, hold, rise], max(way / v - 2.0 * rise - hold, 0.0)


def _seven(begin: float, start: float, goal: float, durations: Sequence[float], cruise: float, whole: float) -> Pieces:
    """Pieces of a motion over these durations: from rest faster, on, and slower to rest in the same way."""
    way = goal - start
    rise, hold, _ = durations
    ramp = 2.0 * rise + hold  # until it is fastest
    if not way:
        return Pieces((begin, begin), [[start]], end=goal)
    fastest = way / (ramp + cruise)
    top = fastest / (rise + hold)  # acceleration
    jerk = top / rise if rise else 0.0
    widths = (rise, hold, rise, cruise, rise, hold, rise)
    jerks = (jerk, 0.0, -jerk, 0.0, -jerk, 0.0, jerk)
    at = np.minimum(np.concatenate([[0.0], np.cumsum(widths)]), whole)
    at[-1] = whole
    # states at the begin of each piece; the second half is told from the goal
    v1, v2 = 0.5 * top * rise, fastest - 0.5 * top * rise
    x1, x2 = top * rise * rise / 6.0, top * rise * rise / 6.0 + 0.5 * (v1 + v2) * hold
    x3 = 0.5 * fastest * ramp
    states = (
        (start, 0.0, 0.0),
        (start + x1, v1, top),
        (start + x2, v2, top),
        (start + x3, fastest, 0.0),
        (goal - x3, fastest, 0.0),
        (goal - x2, v2, -top),
        (goal - x1, v1, -top),
    )
    powers = np.array([(x, v, 0.5 * a, j / 6.0) for (x, v, a), j in zip(states, jerks, strict=True)])
    kept = np.flatnonzero(np.diff(begin + at) > 0.0)  # others: limits that are not reached, and what rounding takes
    if not kept.size:
        return Pieces((begin, begin), [[start]], end=goal)
    return Pieces(np.append(begin + at[kept], begin + at[-1]), powers[kept], end=goal)


class Joined(Profile):
    """Reference of motions one after the other, with pauses between them, once or repeated.

    Parameters
    ----------
    motions : sequence of references and numbers
        References that end (`CamProfile`, `JerkLimited`, `Quintic`, `Spline`, `InverseMotion`, another `Joined`), each
        of which begins where the one before ends; numbers are pauses, s.
    begin : float
        Time at which the first one begins, s; begins of their own do not count.
    periodic : bool
        Whether it repeats; where it does not end at its start, each cycle goes on from there.

    Raises
    ------
    ValueError
        Where position or velocity jump between two motions, by how much and where, or one has no end.

    Examples
    --------
    >>> down = JerkLimited([0.3], [0.0], velocity=0.5, acceleration=2.0, jerk=50.0)
    >>> cycle = Joined([down, 0.1, CamProfile([0.0, 1.0], [0.0, 0.3])], periodic=True)
    >>> round(cycle.period, 6), cycle(down.duration + 0.05)[0]
    (1.99, array([0.]))
    """

    def __init__(self, motions: Sequence[Profile | float], *, begin: float = 0.0, periodic: bool = False) -> None:
        given = _check.sequence(motions, "motions", "references and pauses")
        at, periodic = _check.number(begin, "the begin of Joined motions"), _check.flag(periodic, "periodic")
        rows: list[list[Pieces]] = []
        before, told = "", ""
        for i, motion in enumerate(given):
            if not isinstance(motion, Profile):
                pause = _check.positive(motion, f"pause {i + 1} of Joined motions, or a reference,")
                if not rows:
                    raise InputError("Joined motions must begin with a motion, and not with a pause: it rests before")
                parts, length = [Pieces((at, at + pause), [[last.end]]) for last in rows[-1]], pause
                told = f"pause {i + 1}"
            else:
                told = f"motion {i + 1} ({type(motion).__name__})"
                first, last = motion._require_ends(f"{told} of Joined motions")
                length = last - first
                parts = [_lasting(part, first, last).moved(at) for part in motion._parts]
            if rows:
                _require_joined(rows[-1], parts, before, told)
            if length:
                rows.append(parts)
                at, before = at + length, told
        if not rows:
            raise InputError("Joined motions must be at least one that takes time")
        if periodic:
            _require_joined(rows[-1], rows[0], before, "the first motion, in the next cycle,", positions=False)
        self._parts = [
            row[0].followed(row[1:], row[-1].end - row[0].edge(0)[0] if periodic else None)
            for row in zip(*rows, strict=True)
        ]


def _lasting(part: Pieces, first: float, last: float) -> Pieces:
    """Pieces of a coordinate over the span of a whole motion: held before and after its own."""
    made, begin, end = part, float(part.begins[0]), float(part.begins[-1])
    if end == begin:
        return Pieces((first, last), [[part.end]], end=part.end)
    if last > end:
        made = made.followed([Pieces((end, last), [[part.end]], end=part.end)], None)
    if first < begin:
        made = Pieces((first, begin), [[part.edge(0)[0]]]).followed([made], None)
    return made


def _require_joined(
    before: Sequence[Pieces], after: Sequence[Pieces], one: str, other: str, positions: bool = True
) -> None:
    """Raise an error where motions do not fit at their joint."""
    if len(before) != len(after):
        raise InputError(f"{one} has {len(before)} coordinates, and {other} {len(after)}; motions are joined alike")
    for k, (a, b) in enumerate(zip(before, after, strict=True)):
        ends = [a.edge(-1), b.edge(0)]
        size = max(abs(float(p.powers[:, 0].max() - p.powers[:, 0].min())) for p in (a, b))
        size = max(size, *(abs(x[0]) for x in ends))
        scales = size, size / min(p.period for p in (a, b))
        for order, kind in enumerate(("position", "velocity")):
            gap = ends[1][order] - ends[0][order]
            if (order or positions) and abs(gap) > _GAP * scales[order]:
                raise InputError(
                    f"{other} begins with the {kind} {ends[1][order]:.9g} of coordinate {k + 1}, where {one} ends with "
                    f"{ends[0][order]:.9g}: a gap of {gap:.3g}; let it begin where the one before ends"
                )


class ElectronicCam(Profile):
    """Reference that follows a master: its position is a function of the master's, as on a cam.

    Velocity and acceleration are those of the chain rule, exact also where the master speeds up.

    Parameters
    ----------
    profile : reference
        Positions of k coordinates over the position of the master in place of the time: a `CamProfile` over an angle,
        say, or a periodic `Spline`.
    master : reference
        Position of the master over time, one coordinate.

    Raises
    ------
    ValueError
        For a master of several coordinates.

    Examples
    --------
    >>> lift = CamProfile([0.0, 2.0, 4.0, 2.0 * np.pi], [0.0, 0.03, 0.03, 0.0], periodic=True)  # over rad
    >>> master = JerkLimited([0.0], [20.0 * np.pi], velocity=10.0, acceleration=20.0, jerk=400.0)
    >>> ElectronicCam(lift, master)(3.0)[0].round(6)
    array([0.03])
    """

    def __init__(self, profile: Profile, master: Profile) -> None:
        self.profile = _check.instance(profile, Profile, "profile", "such as CamProfile(...)")
        self.master = _check.instance(master, Profile, "master", "such as JerkLimited(...)")
        if master.size != 1:
            raise InputError(f"the master of an ElectronicCam must be one coordinate, got {master.size}")

    @property
    def size(self) -> int:
        return self.profile.size

    @property
    def span(self) -> None:
        return None

    @property
    def period(self) -> None:
        return None

    def derivatives(self, t: Any, orders: int = 3) -> list[list[Any]]:
        x, *rates = [order[0] for order in self.master.derivatives(t, orders)]
        y = self.profile.derivatives(x, orders)
        made = [y[0]]
        if orders > 1:
            made.append([a * rates[0] for a in y[1]])
        if orders > 2:
            made.append([b * (rates[0] * rates[0]) + a * rates[1] for a, b in zip(y[1], y[2], strict=True)])
        if orders > 3:
            made.append(
                [
                    c * rates[0] ** 3 + b * (3.0 * rates[0] * rates[1]) + a * rates[2]
                    for a, b, c in zip(y[1], y[2], y[3], strict=True)
                ]
            )
        return made

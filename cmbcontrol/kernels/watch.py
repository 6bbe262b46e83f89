"""Functions of a state whose zero crossings end a part of a run: gaps, pushes and slips of contacts.

Each is a cone over quantities y of some rows::

    value = offset + normal . y + size |across' y|

with y their openings, the rates of these, or their multipliers; or how well frictions in proportion to loads determine
these (`Friction.pivot`). An event is a crossing from below. The time loop checks the begin, the middle and the end of
each step, and calls Python only for steps in which a function may cross zero (`passes`); see `sim.event_detection`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, kernel
from .arrays import copy
from .constrained import FAILED, Work, carried, row_motion
from .layout import Model
from .motion import at_time
from .runge_kutta import interpolate
from .tree import normalize

__all__ = [
    "CARRIED",
    "OPENING",
    "OWN",
    "PIVOT",
    "RATE",
    "Cones",
    "Looks",
    "Watch",
    "cone",
    "look",
    "no_watch",
    "passes",
]

# What a function looks at; that of a user, which Python evaluates.
OPENING, RATE, CARRIED, PIVOT = range(4)
OWN = -1

# Indices of `Looks.clock`.
TIME, MOVED, FIRST = range(3)


@bundle
class Cones(NamedTuple):
    """Event functions as cones, and the quantities of rows that they are functions of."""

    source: np.ndarray  # (n,) int64
    first: np.ndarray  # (n + 1,) int64: where their entries begin in the next three
    row: np.ndarray  # (m,) int64
    normal: np.ndarray  # (m,)
    across: np.ndarray  # (m, k)
    size: np.ndarray  # (n,)
    offset: np.ndarray  # (n,)
    opening: np.ndarray  # (rows of the whole,) how far all rows are open
    rate: np.ndarray  # (rows of the whole,) A v, less what motions prescribe
    beside: np.ndarray  # (rows at present,) multipliers
    carried: np.ndarray  # (rows at present,) the multipliers that are nearest to them
    pivot: np.ndarray  # of each friction in proportion to loads


@bundle
class Looks(NamedTuple):
    """Values of the event functions at the last checks, and which of them are armed."""

    tolerance: np.ndarray  # (n,) values up to it count as zero
    armed: np.ndarray  # (n,) bool: a value above zero is an event, since it has been below
    last: np.ndarray  # (n,) times of their last events, s
    start: np.ndarray  # (n,) values where the last step that was looked at has ended
    middle: np.ndarray  # (n,)
    end: np.ndarray  # (n,)
    x: np.ndarray  # (nx,) the state there
    u: np.ndarray  # (nu,) and the efforts
    clock: np.ndarray  # when; how far openings had changed by then from the look before; whether nothing has passed yet
    instant: float  # s: a function that has crossed zero may hang about it for so long


@bundle
class Watch(NamedTuple):
    """Event functions of a part of a run, with scratch, in the time loop."""

    cones: Cones
    looks: Looks
    whole: Model  # with all constraints that come and go
    of_whole: Work
    of_present: Work
    needed: np.ndarray  # (4,) bool: what any function looks at
    q: np.ndarray  # (nq,) scratch
    v: np.ndarray  # (nv,)
    y: np.ndarray  # (nx,)
    tolerance: float  # of the rank


def no_watch(model: Model, work: Work) -> Watch:
    """Empty `Watch`: no event functions."""
    none, nothing = np.zeros(0), np.zeros(0, np.int64)
    cones = Cones(nothing, nothing, nothing, none, np.zeros((0, 0)), *(none,) * 7)
    looks = Looks(none, np.zeros(0, np.bool_), none, none, none, none, none, none, none, 0.0)
    return Watch(cones, looks, model, work, work, np.zeros(0, np.bool_), none, none, none, 0.0)


@kernel
def cone(c, i, source):
    """Value of event function i; with another source, the value from that source of the same rows, such as its rate."""
    y = c.opening
    if source == RATE:
        y = c.rate
    elif source == CARRIED:
        y = c.carried
    elif source == PIVOT:
        y = c.pivot
    value = c.offset[i]
    for j in range(c.first[i], c.first[i + 1]):
        value += c.normal[j] * y[c.row[j]]
    if c.size[i] != 0.0:
        square = 0.0
        for k in range(c.across.shape[1]):
            part = 0.0
            for j in range(c.first[i], c.first[i + 1]):
                part += c.across[j, k] * y[c.row[j]]
            square += part * part
        value += c.size[i] * np.sqrt(square)
    return value


@kernel(allocates=True)
def look(model, watch, needed, x, u):
    """Compute the quantities of event functions at a state, as far as needed; FAILED where there is no acceleration."""
    c, nq, nv = watch.cones, watch.q.shape[0], watch.v.shape[0]
    copy(x[:nq], watch.q)
    copy(x[nq : nq + nv], watch.v)
    normalize(model.links, watch.q)
    if needed[OPENING] or needed[RATE]:
        row_motion(watch.whole, watch.q, watch.v, watch.of_whole, c.rate)
        copy(watch.of_whole.phi, c.opening)
    if needed[CARRIED] or needed[PIVOT]:
        w = watch.of_present
        if carried(model, watch.q, watch.v, u, watch.tolerance, nv, w, c.beside, c.carried) == FAILED:
            return FAILED
        copy(w.friction.pivot, c.pivot)
    return 0


@kernel
def values(model, watch, x, u, out):
    """out = values of all event functions at a state; returns FAILED where there is no acceleration."""
    status = look(model, watch, watch.needed, x, u)
    for i in range(out.shape[0]):
        out[i] = cone(watch.cones, i, watch.cones.source[i])
    return status


@kernel
def may_cross(looks):
    """Whether an event function may change its sign within a step, or has: with a margin on the parabola through three.

    A step resolves the motion to a small part of its tolerance, so the function differs little from a parabola: the
    distance of the middle from a line allows for eight times the rise of the parabola above its three points.
    """
    for i in range(looks.start.shape[0]):
        a, b, c = looks.start[i], looks.middle[i], looks.end[i]
        bend = abs(a - 2.0 * b + c)
        top, bottom = max(a, b, c) + bend, min(a, b, c) - bend
        if looks.armed[i]:
            if top > looks.tolerance[i]:
                return True
        elif bottom <= 0.0 and top > 0.0:
            return True
    return False


@kernel
def arm(looks, t, of):
    """Arm event functions that are below zero, if not just by rounding after an event."""
    for i in range(of.shape[0]):
        if of[i] < 0.0 and t - looks.last[i] > looks.instant:
            looks.armed[i] = True


@kernel
def begin(looks, t, x, u):
    """Set the state, under efforts u, at which the values at the start of a step hold."""
    looks.clock[TIME] = t
    copy(x, looks.x)
    copy(u, looks.u)


@kernel
def stands(looks, t, x, u):
    """Whether values where a step begins are known: those at the end of the last one, under the same efforts."""
    known = looks.clock[TIME] == t
    for i in range(x.shape[0]):
        known = known and looks.x[i] == x[i]
    for i in range(u.shape[0]):
        known = known and looks.u[i] == u[i]
    return known


@kernel
def passed(cones, looks, t, x, u):
    """Accept a step without event: the values at its end are those at the start of the next one."""
    moved = 0.0
    for i in range(looks.start.shape[0]):
        if cones.source[i] == OPENING and looks.armed[i]:
            moved = max(moved, abs(looks.end[i] - looks.start[i]))
    looks.clock[MOVED], looks.clock[FIRST] = moved, 0.0
    arm(looks, t, looks.end)
    copy(looks.end, looks.start)
    begin(looks, t, x, u)


@kernel
def passes(model, opt, watch, t0, x0, t1, x1, F, u):
    """Whether no event function can cross zero in a step, which then counts as passed; efforts u are held.

    False where a function cannot be evaluated: Python then reports the reason.
    """
    looks = watch.looks
    if not stands(looks, t0, x0, u):
        if at_time(opt, t0) != 0 or values(model, watch, x0, u, looks.start) == FAILED:
            return False
        begin(looks, t0, x0, u)
        for i in range(looks.start.shape[0]):
            if looks.armed[i] and looks.start[i] > looks.tolerance[i]:
                return False
        arm(looks, t0, looks.start)
    interpolate(x0, F, 0.5, watch.y)
    if at_time(opt, 0.5 * (t0 + t1)) != 0 or values(model, watch, watch.y, u, looks.middle) == FAILED:
        return False
    if at_time(opt, t1) != 0 or values(model, watch, x1, u, looks.end) == FAILED or may_cross(looks):
        return False
    passed(watch.cones, looks, t1, x1, u)
    return True

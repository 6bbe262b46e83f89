"""The time loop: embedded Runge-Kutta steps with projection onto the closed loops, samples, singular passages.

It is the only one: held efforts, laws in Python, sampled laws, plants given by functions, named formulations, and
methods that are not compiled differ only in the requests to Python.

A step has four parts: `look_ahead` plans it, `take` takes it, `judge` says how good it is, `keep` records it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, call, kernel
from .arrays import copy, largest_of
from .constrained import FAILED
from .generated import CLEAR, CLEAR_OF_LARGEST, HUGE, rate_by_code
from .generated import LAST as BY_CODE
from .layout import WORKS
from .motion import (
    ATTEMPT,
    PARADOX,
    PROJECT,
    RAISED,
    REFUSED,
    SAMPLE,
    SIGNALS,
    STEPPED,
    STOPPED,
    TIMED,
    at_time,
    closeness,
    complete,
    evaluate,
    hold_baumgarte,
    keep_low,
    project,
    rate,
    rate_evaluated,
    rate_projected,
)
from .passages import (
    CROSS_FROM,
    MET,
    NEAR,
    at_error_floor,
    blurred,
    leap,
    nearest_approach,
    passage,
    passed,
    plan,
    search,
    turning_limit,
)
from .runge_kutta import (
    combine,
    cubic,
    dense_coefficients,
    error_norm,
    next_step,
    refine_cubic,
    step_from,
    step_share,
)
from .sampling import SAMPLES, Sampled, arrive, next_change, sampled_by_code
from .watch import passes

__all__ = ["StepRecord", "advance", "complete_terms"]

# Why `advance` comes back; the first is followed by those of errors.Status. Its parts return COMPLETED to go on.
PAUSED, COMPLETED, STEP_TOO_SMALL, NOT_FINITE, MASS_MATRIX, PROJECTION = -1, 0, 1, 2, 3, 4
TOO_MANY_STEPS, PAINLEVE, EVENT, ERROR = 5, 13, 100, 101

# What a projection may leave open, in sizes of the machine: with step control, where a shorter step may help, and else.
OPEN, OPEN_FIXED = 1e-10, 1e-6

# Of a run: what is shorter is no step; steps at which a law that fails at a stage ahead is believed.
INSTANT, FAILING = 1e-14, 1e-9

# Of the largest closeness so far: below it, singular configurations are looked for ahead. A step whose stages come
# below half of what its ends have may have one inside: the widest gap of DOP853's stages is a fifth of a step. A step
# is searched for one afterwards where they come below a little more than that. A step that ends at so small a part of
# where it began may have one right before its end, beside which all that follows would be slow.
ALERT, DIP, SUSPECT, FALL = 0.3, 0.5, 0.6, 0.1

# How a step that another method of the ladder might take grows from one held interval to the next, while that one is
# not tried. It does not grow after a try that failed: methods that take turns could fail for ever.
HOPE = 1.1


@bundle
class Memory(NamedTuple):
    """What the loop knows from one try to the next: arrays of one number, but for `steps`."""

    sample: np.ndarray  # time of the next sample, s
    ahead: np.ndarray  # time of a singular configuration that the last try has found inside, s
    across: np.ndarray  # error of the last try across one
    peak: np.ndarray  # largest closeness so far
    before: np.ndarray  # closeness a little before the last entry
    energy: np.ndarray  # at the start, J
    steps: np.ndarray  # (methods,) next step of each method, s
    last: np.ndarray  # entry of the record
    since: np.ndarray  # entry since which the motion is smooth
    taken: np.ndarray  # steps
    rejections: np.ndarray
    rejected: np.ndarray  # whether the last try was rejected
    ready: np.ndarray  # whether K[0] is the rate at the last entry
    fresh: np.ndarray  # whether w is evaluated there
    method: np.ndarray  # number in the ladder
    shown: np.ndarray  # output times that are behind
    passages: np.ndarray  # singular configurations met


def remember(sample, before, energy, steps, taken):
    """Memory at the start of a part: what is known from before it, as numbers, and the next step of each method."""
    numbers = [np.array([x]) for x in (sample, -np.inf, np.inf, 0.0, before, energy)]
    counts = [np.array([x]) for x in (0, 0, taken, 0, 0, 0, 0, 0, 0, 0)]
    return Memory(*numbers, steps, *counts)


@bundle
class Nodes(NamedTuple):
    """States of the record from which a leap continues the motion."""

    times: np.ndarray  # (5,)
    values: np.ndarray  # (5, nx)
    rates: np.ndarray  # (5, nx)


@bundle
class StepRecord(NamedTuple):
    """Record of the steps of a run, and the state of the loop, from which it continues when it is called again.

    T, X and `near` have one entry more than the others; step n leads from entry n to entry n + 1.
    """

    T: np.ndarray  # (capacity + 1,) times
    X: np.ndarray  # (capacity + 1, nx) states
    F: np.ndarray  # (capacity, 7, nx) dense coefficients
    U: np.ndarray  # (capacity, nu) efforts that are held during the step
    near: np.ndarray  # (capacity + 1,) closeness to a singular configuration
    passages: np.ndarray  # (room, 2) times of singular configurations that were met, and the closeness to them
    K: np.ndarray  # (stages + 1 + extra, nx): the first is the rate at the last state
    low: np.ndarray  # (nx,): digits of that state below the last one that it can hold
    command: np.ndarray  # (nu,) efforts that are held at present
    times: np.ndarray  # output times
    limits: np.ndarray  # (nq, 2) of the coordinates; steps that may cross one count, too
    law: Sampled
    memory: Memory
    y: np.ndarray  # (nx,) buffer: the end of a step before its projection, or a state within it
    lower: np.ndarray  # (nx,) digits of y below its last ones
    leap: Nodes


class Plan(NamedTuple):
    """What `look_ahead` says of the next step."""

    step: float  # s
    wanted: float  # s: its length if it did not end with the interval
    allowed: float  # s: by error control and limits
    last: bool  # whether it ends with the interval
    landing: float  # s: where the state in the next entry leaps to, over a singular configuration; negative for a step
    nodes: int  # of the polynomial of that leap
    ahead: float  # s to a singular configuration; infinite without one
    seen: bool  # whether that was found inside the last try
    crossing: bool  # whether the step goes across it
    blunt: bool  # whether it begins so near to one that rounding rules its error
    regular: bool  # whether it is far from all of them
    closing: bool  # whether stages are brought to the closed loops


class Trial(NamedTuple):
    """What `take` says of a step that was taken."""

    rank: int  # at the end, or a negative error code
    left: float  # metres: what the projection has left open
    nearest: float  # least closeness of the stages
    near: float  # closeness at the end; 1 where it failed


@kernel
def advance(model, tableaus, opt, s, w, r, watch, until, tries):
    """Step on to a time, until the record is full, or for so many tries; returns the reason for its return.

    It goes on from the last entry of the record when it is called again. The methods are a ladder of rising order, of
    which `choose` takes one for each held interval, with opt.ladder; else the first one is taken.
    """
    m = r.memory
    while True:
        n = m.last[0]
        t = r.T[n]
        if t >= until:
            return COMPLETED
        if n >= r.F.shape[0] or tries <= 0 or m.passages[0] > 0.5 * r.passages.shape[0]:
            return PAUSED
        tries -= 1
        if m.sample[0] <= t:
            status = sample(model, opt, s, w, r, t, r.X[n])
            if status != 0:
                return failure(status)
        end = min(until, m.sample[0])
        if end - t < INSTANT * opt.t_end:
            r.T[n] = end
            continue
        if m.taken[0] >= opt.max_steps:
            return TOO_MANY_STEPS
        if opt.outside:
            status = step_outside(model, opt, s, w, r, watch, n, end)
        else:
            if opt.ladder and (m.since[0] == n or m.rejected[0] > 0):
                choose(tableaus, m, end - t)
            status = try_step(model, tableaus[m.method[0]], opt, s, w, r, watch, n, end)
        if status != COMPLETED:
            return status


@kernel
def choose(tableaus, m, room):
    """Choose the method of the ladder that reaches the end of a held interval by the fewest evaluations.

    This is judged by the last error of each method.
    """
    best, least = m.method[0], np.inf
    for k in range(len(tableaus)):
        cost = tableaus[k].b.shape[0] * np.ceil(room / m.steps[k] * (1.0 - 1e-9))
        if cost < least:
            best, least = k, cost
    for k in range(len(tableaus)):
        if k != best and m.rejected[0] == 0:
            m.steps[k] *= HOPE
    m.method[0] = best


@kernel
def try_step(model, tableau, opt, s, w, r, watch, n, end):
    """Try a step from entry n, at most to `end`, and keep it if it is good; COMPLETED, or why the loop ends."""
    m, t, x = r.memory, r.T[n], r.X[n]
    if m.ready[0] == 0:
        rank = first_rate(model, opt, s, w, r, n)
        if rank < 0:
            return failure(rank)
    plan = look_ahead(model, tableau, opt, s, w, r, n, end)
    if plan.landing > t:
        return land(model, tableau, opt, s, w, r, watch, n, plan)
    least_step = 4e-16 * max(abs(t), 1e-3 * opt.t_end)
    if plan.step < least_step:
        return STEP_TOO_SMALL
    if opt.held_gains and m.rejected[0] == 0:
        rank = evaluate(model, opt, s, w, t, x, True)
        if rank >= 0:
            hold_baumgarte(model, s, w, plan.step)
            rank = rate_evaluated(model, opt, s, w, t, rank, r.K[0])
        if rank < 0:
            return failure(rank)
    trial = take(model, tableau, opt, s, w, r, n, plan)
    adaptive = tableau.E5.shape[0] > 0
    if trial.rank == STOPPED or (trial.rank == RAISED and (not adaptive or plan.step < FAILING * opt.t_end)):
        return ERROR
    inside = missed(model, tableau, opt, s, w, r, n, plan, trial)
    if inside > 0.0:
        m.ahead[0] = t + inside * plan.step
        reject(m)
        return COMPLETED
    good, h = judge(model, tableau, opt, s, r, n, plan, trial)
    if not good:
        if adaptive:
            m.steps[m.method[0]] = h
            reject(m)
            if h >= least_step:
                return COMPLETED
            if trial.rank == RAISED:
                return ERROR
        if trial.rank < 0:
            return failure(trial.rank)
        return STEP_TOO_SMALL if closed(model, tableau, trial) else PROJECTION
    r.near[n + 1] = trial.near
    suspect = may_hide_passage(r.near[n], trial)
    reached = end if plan.last else t + plan.step
    notify = opt.notify or may_cross(r.limits, x, r.X[n + 1], r.K[0], r.K[tableau.b.shape[0]], plan.step)
    rank = states_within(model, tableau, opt, s, w, r, n, plan, reached, notify or opt.watched or suspect)
    if rank < 0:
        return failure(rank)
    if plan.crossing and not passed(model, opt, s, w, x, r.F[n], t, plan.step, plan.ahead / plan.step, r.y):
        m.steps[m.method[0]] = 0.5 * plan.step
        reject(m)
        return COMPLETED
    m.steps[m.method[0]] = h
    if plan.crossing:
        m.across[0] = np.inf
    status = keep(model, opt, s, w, r, watch, n, reached, r.K[tableau.b.shape[0]], suspect, notify)
    if status == COMPLETED:
        copy(r.lower, r.low)
    return status


@kernel
def reject(m):
    """Note that a try was rejected."""
    m.rejections[0] += 1
    m.rejected[0] = 1


@kernel
def first_rate(model, opt, s, w, r, n):
    """K[0] = rate at entry n, where no step has left it; returns the rank, or a negative error code."""
    if not opt.law:
        copy(r.command, s.u)
    copy_command(s.code, r.command)
    rank = rate(model, opt, s, w, r.T[n], r.X[n], True, r.K[0])
    if rank >= 0:
        r.near[n] = s.near[0]
        r.memory.ready[0] = 1
    return rank


# -- look ahead ------------------------------------------------------------------------------------------------------


@kernel
def watching(tableau, opt):
    """Whether singular configurations on the way are looked for."""
    return tableau.E5.shape[0] > 0 and opt.stabilisation == PROJECT and opt.every == 1 and opt.pass_within > 0.0


@kernel
def look_ahead(model, tableau, opt, s, w, r, n, end):
    """Plan the next step from entry n, at most to `end`: its length, and what to do about a singular configuration."""
    m, t, x, now = r.memory, r.T[n], r.X[n], r.near[n]
    m.peak[0] = max(m.peak[0], now)
    s.code.clear[0] = max(CLEAR, CLEAR_OF_LARGEST * m.peak[0])
    watches, smooth = watching(tableau, opt), n > m.since[0]
    before = r.near[n - 1] if smooth else now
    h = m.steps[m.method[0]]
    if not (watches and now < NEAR and now < before):
        h = min(h, opt.max_step)
    if watches:
        h = min(h, turning_limit(model, s.looped, x[opt.nq : opt.nq + opt.nv]))
    ahead = np.inf
    seen = watches and m.ahead[0] > t
    if seen:
        ahead = m.ahead[0] - t
        m.ahead[0] = -np.inf
    elif watches and smooth and now < max(ALERT * m.peak[0], NEAR):
        last_step = t - r.T[n - 1]
        ahead = passage(model, opt, s, w, r.X[n - 1], r.F[n - 1], last_step, 1.5 * h, now, before, r.y)
    wanted, crossing = plan(ahead, tableau.gap, h, now, end - t) if ahead < np.inf else (h, False)
    landing, nodes = -1.0, 0
    if watches and n > m.since[0] + 1 and m.rejected[0] == 0 and now < CROSS_FROM:
        landing, nodes = look_beyond(model, opt, s, w, r, n, end)
        if landing < 0.0 and now < before:  # so that a leap has nodes
            h = min(h, 0.5 * now / (before - now) * (t - r.T[n - 1]))
            wanted = min(wanted, h)
    blunt = not crossing and now <= CROSS_FROM
    regular = not blunt and not crossing and now > max(ALERT * m.peak[0], NEAR)
    return Plan(
        step=end - t if t + wanted * (1.0 + 1e-9) >= end else wanted,
        wanted=wanted,
        allowed=h,
        last=t + wanted * (1.0 + 1e-9) >= end,
        landing=landing,
        nodes=nodes,
        ahead=ahead,
        seen=seen,
        crossing=crossing,
        blunt=blunt,
        regular=regular,
        # between samples, errors do not grow to what rows make
        closing=not blunt and not (opt.ladder and regular),
    )


@kernel
def look_beyond(model, opt, s, w, r, n, end):
    """Next entry = state to which a leap over a singular configuration leads; returns its time, and nodes.

    The time is negative where there is no leap.
    """
    m, a = r.memory, r.leap
    landing, nodes = leap(model, opt, s, w, r, m.since[0], n, r.K[0], r.y, a.times, a.values, a.rates)
    if not (landing > r.T[n] and landing < end):
        return -1.0, 0
    copy(r.y, r.X[n + 1])
    left = project(model, opt, s, w, landing, r.X[n + 1], m.energy[0], -1)
    return (landing, nodes) if left >= 0.0 else (-1.0, 0)


@kernel
def land(model, tableau, opt, s, w, r, watch, n, plan):
    """Keep a leap from entry n, whose end is in the next entry; COMPLETED, or why the loop ends."""
    m, a, t, x, new = r.memory, r.leap, r.T[n], r.X[n], r.X[n + 1]
    step, end_rate = plan.landing - t, r.K[tableau.b.shape[0]]
    rank = rate(model, opt, s, w, plan.landing, new, False, end_rate)
    if rank < 0:
        return failure(rank)
    r.near[n + 1] = s.near[0]
    cubic(x, new, r.K[0], end_rate, step, r.F[n])
    refine_cubic(a.times, a.values, a.rates, plan.nodes, t, step, x, r.F[n])
    m.steps[m.method[0]] = step
    notify = opt.notify or may_cross(r.limits, x, new, r.K[0], end_rate, step)
    status = keep(model, opt, s, w, r, watch, n, plan.landing, end_rate, True, notify)
    if status == COMPLETED:
        r.low[:] = 0.0
        m.since[0] = n + 1
    return status


# -- take ------------------------------------------------------------------------------------------------------------


@kernel
def take(model, tableau, opt, s, w, r, n, plan):
    """Take the step from entry n: next entry = its end, projected onto the closed loops; K = rates on the way."""
    t, x, y, new, stages = r.T[n], r.X[n], r.y, r.X[n + 1], tableau.b.shape[0]
    rank, nearest = rates_of_stages(model, opt, s, w, tableau, x, r.low, r.K, t, plan.step, plan.closing, y, r.lower)
    left, projecting = 0.0, projected(opt, r.memory)
    if rank >= 0:
        step_from(x, r.low, r.K, tableau.b, stages, plan.step, y, r.lower)
        for i in range(y.shape[0]):
            if not abs(y[i]) < HUGE:
                rank = REFUSED
    if rank >= 0:
        copy(y, new)
        if projecting:
            split_rank = rank if plan.regular and stages > 1 and s.code.count[BY_CODE] == 0 else -1
            left = project(model, opt, s, w, t + plan.step, new, r.memory.energy[0], split_rank)
            if left <= RAISED:
                rank = int(left)
            elif opt.energy:
                r.lower[:] = 0.0
            else:
                keep_low(model.links, opt, y, s.moved, new, r.lower)
    if rank >= 0 and left >= 0.0:
        if projecting and plan.regular:
            rank = rate_projected(model, opt, s, w, t + plan.step, new, False, r.K[stages])
        else:
            rank = rate(model, opt, s, w, t + plan.step, new, plan.closing, r.K[stages])
    return Trial(rank=rank, left=left, nearest=nearest, near=1.0 if rank < 0 else s.near[0])


@kernel
def rates_of_stages(model, opt, s, w, tableau, x, low, K, t, step, closing, y, lower):
    """K[1:] = rates at the stages of a step from x; returns the rank or an error code, and the least closeness.

    One call a step, since passing all arguments takes as long as an evaluation by generated code.
    """
    rank, nearest = 0, 1.0
    for i in range(1, tableau.b.shape[0]):
        step_from(x, low, K, tableau.A[i], i, step, y, lower)
        rank = rate(model, opt, s, w, t + tableau.c[i] * step, y, closing, K[i])
        if rank < 0:
            break
        nearest = min(nearest, s.near[0])
    return rank, nearest


@kernel
def projected(opt, m):
    """Whether the next step ends in a projection."""
    return opt.stabilisation == PROJECT and (m.taken[0] + 1) % opt.every == 0


@kernel
def step_outside(model, opt, s, w, r, watch, n, end):
    """Take and keep a step of a method that is not compiled; COMPLETED, or why the loop ends."""
    if call(opt.ask, ATTEMPT, end) != 0:
        return ERROR
    if projected(opt, r.memory):
        copy(r.X[n + 1], r.y)
        left = project(model, opt, s, w, r.T[n + 1], r.X[n + 1], r.memory.energy[0], -1)
        if not 0.0 <= left <= OPEN_FIXED * model.size:
            return PROJECTION
        for i in range(r.y.shape[0]):
            r.F[n, 0, i] += r.X[n + 1, i] - r.y[i]
    r.near[n + 1], r.memory.fresh[0] = 1.0, 0
    return keep(model, opt, s, w, r, watch, n, r.T[n + 1], r.K[0], opt.cap > 0, opt.notify)


# -- judge -----------------------------------------------------------------------------------------------------------


@kernel
def missed(model, tableau, opt, s, w, r, n, plan, trial):
    """Fraction of a step at which it goes through a singular configuration not seen ahead; zero where it does not."""
    now, near = r.near[n], trial.near
    dip = trial.nearest < DIP * min(now, near) or near < min(FALL * now, NEAR)
    if not dip or plan.seen or plan.crossing or plan.blunt or not watching(tableau, opt):
        return 0.0
    if path_within(model, opt, s, w, tableau, r, n, plan) < 0:
        return 0.0
    at, nearest, _ = nearest_approach(model, opt, s, w, r.X[n], r.F[n], 0.0, 1.0, r.y)
    return at if nearest < CROSS_FROM else 0.0


@kernel
def closed(model, tableau, trial):
    """Whether a projection has closed the loops: with step control a shorter step may close them better."""
    return 0.0 <= trial.left <= (OPEN if tableau.E5.shape[0] > 0 else OPEN_FIXED) * model.size


@kernel
def judge(model, tableau, opt, s, r, n, plan, trial):
    """Whether a step is as good as was asked for, and the length of the next one, s."""
    if tableau.E5.shape[0] == 0:
        return trial.rank >= 0 and closed(model, tableau, trial), plan.allowed
    m, v = r.memory, slice(opt.nq, opt.nq + opt.nv)
    share = step_share(tableau, opt.rtol, opt.atol, opt.ladder)
    error = np.inf
    if trial.rank >= 0 and closed(model, tableau, trial):
        error = error_of(tableau, opt, s, r, n, plan, share)
    h = next_step(plan.step, error, m.rejected[0] > 0, tableau.order)
    good = error < 1.0
    if not good and np.isfinite(error):
        unit = share * max(opt.rtol, opt.atol)
        # at the start: a step that runs away must not excuse itself by its speed
        good = blurred(error * unit, trial.nearest, largest_of(r.X[n, v]))
        if plan.crossing and not good:
            fastest = largest_of(r.K[0, v])
            good = at_error_floor(error, m.across[0], unit, plan.step, fastest, trial.nearest, opt.pass_within)
    if not good and plan.crossing:
        m.across[0] = error
    if good and plan.wanted < plan.allowed and not plan.last:
        h = max(h, plan.allowed)  # the error control had no say
    return good, h


@kernel
def error_of(tableau, opt, s, r, n, plan, share):
    """Error of a step in what it may be: of positions and velocities, works, states of a law, and the projection."""
    x, y, K, step, moving, nx = r.X[n], r.y, r.K, plan.step, opt.nq + opt.nv, r.X.shape[1]
    error = error_norm(K, tableau, x, y, 0, moving, step, share, opt.rtol, opt.atol)
    if nx > moving + WORKS:
        error = max(error, error_norm(K, tableau, x, y, moving + WORKS, nx, step, share, opt.rtol, opt.atol))
    if opt.work_scale > 0.0:
        atol = opt.rtol * opt.work_scale
        for work in range(moving, moving + WORKS):
            error = max(error, error_norm(K, tableau, x, y, work, work + 1, step, share, opt.rtol, atol))
    if plan.blunt:
        error *= share  # rounding: no more than was asked for
    if projected(opt, r.memory) and opt.every == 1:
        # what the projection had to undo is an error of the step, too
        shift = 0.0
        for k in range(opt.nv):
            shift += (s.moved[k] / (opt.atol + opt.rtol * step * abs(r.X[n + 1, opt.nq + k]))) ** 2
        error = max(error, 0.1 * np.sqrt(shift / max(opt.nv, 1)))
    return error


# -- keep ------------------------------------------------------------------------------------------------------------


@kernel
def may_hide_passage(now, trial):
    """Whether a step may have a singular configuration inside.

    In others, stages see too little of a fall that would lead to zero.
    """
    most, least = max(now, trial.near), min(trial.nearest, now, trial.near)
    return least < max(SUSPECT * most, NEAR) and (2.0 * least < most or least < 10.0 * MET)


@kernel
def states_within(model, tableau, opt, s, w, r, n, plan, reached, needed):
    """F = dense coefficients of the step from entry n; returns the rank, or a negative error code.

    They are those of the method where they are `needed`, or an output time is inside, and else those of a cubic.
    """
    m, t, stages = r.memory, r.T[n], tableau.b.shape[0]
    shown = m.shown[0]
    while shown < r.times.shape[0] and r.times[shown] <= t:
        shown += 1
    m.shown[0] = shown
    dense = needed or plan.crossing or r.near[n + 1] < max(ALERT * m.peak[0], NEAR)
    if dense or (shown < r.times.shape[0] and r.times[shown] < reached):
        rank = path_within(model, opt, s, w, tableau, r, n, plan)
        extra = tableau.c_extra.shape[0] > 0
        m.fresh[0] = 1 if rank >= 0 and not extra and not plan.crossing and s.code.count[BY_CODE] == 0 else 0
        return rank
    cubic(r.X[n], r.X[n + 1], r.K[0], r.K[stages], plan.step, r.F[n])
    m.fresh[0] = 1 - s.code.count[BY_CODE]
    return 0


@kernel
def path_within(model, opt, s, w, tableau, r, n, plan):
    """F = dense coefficients of the method for the step from entry n; returns the rank, or a negative error code."""
    K, y, t, step, stages, rank = r.K, r.y, r.T[n], plan.step, tableau.b.shape[0], 0
    for i in range(tableau.c_extra.shape[0]):
        combine(r.X[n], K, tableau.A_extra[i], stages + 1 + i, step, y)
        rank = rate(model, opt, s, w, t + tableau.c_extra[i] * step, y, plan.closing, K[stages + 1 + i])
        if rank < 0:
            return rank
    dense_coefficients(K, tableau, r.X[n], r.X[n + 1], step, r.F[n])
    return rank


@kernel
def keep(model, opt, s, w, r, watch, n, t, end_rate, suspect, notify):
    """Accept the step from entry n, which ends at t; COMPLETED, or why the loop ends.

    A singular configuration is looked for where it is `suspect`, or where the last step ended at what may be the
    nearest approach. With `notify`, or where a function may cross zero, Python checks the step, and may refuse it.
    """
    m = r.memory
    r.T[n + 1] = t
    copy(r.command, r.U[n])
    passages, before = m.passages[0], m.before[0]
    if suspect or r.near[n] < min(before, NEAR):
        m.fresh[0] = 0
        m.passages[0], m.before[0] = search(
            model, opt, s, w, r.X[n], r.F[n], r.T[n], t - r.T[n], before, r.passages, passages, r.y
        )
    else:
        m.before[0] = r.near[n]
    if notify or (opt.watched and not passes(model, opt, watch, r.T[n], r.X[n], t, r.X[n + 1], r.F[n], r.command)):
        status = call(opt.ask, STEPPED, t)
        if status != 0:
            m.passages[0], m.before[0] = passages, before
            return EVENT if status == REFUSED else ERROR
    copy(end_rate, r.K[0])
    m.last[0] = n + 1
    m.taken[0] += 1
    m.rejected[0] = 0
    return COMPLETED


@kernel
def may_cross(limits, x0, x1, rate0, rate1, step):
    """Whether the path of a step may touch a limit of a coordinate, by a bound on how far it bends off its chord."""
    for i in range(limits.shape[0]):
        if limits[i, 0] > -np.inf or limits[i, 1] < np.inf:
            chord = x1[i] - x0[i]
            bend = 0.5 * (abs(step * rate0[i] - chord) + abs(step * rate1[i] - chord))  # twice that, to be sure
            low, high = min(x0[i], x1[i]) - bend, max(x0[i], x1[i]) + bend
            if (low < limits[i, 0] and high > limits[i, 0]) or (low < limits[i, 1] and high > limits[i, 1]):
                return True
    return False


@kernel
def ensure_evaluated(model, opt, s, w, r, t, x):
    """Make M, A, b, h and the split in w those at the last entry of the record; returns the rank.

    They are evaluated again where the last step has not left them at its end.
    """
    if r.memory.fresh[0] == 0:
        rank = evaluate(model, opt, s, w, t, x, opt.nq >= 0)
        if rank < 0:
            return rank
        r.memory.fresh[0] = 1
    copy(x, s.x)
    return s.rank[0]


@kernel
def complete_terms(model, opt, s, w, r, t, x):
    """Compute `ensure_evaluated` and all other terms that laws get, at the last entry; returns the rank."""
    rank = ensure_evaluated(model, opt, s, w, r, t, x)
    if rank >= 0:
        complete(model, opt, s, w)
    return rank


@kernel
def sample(model, opt, s, w, r, t, x):
    """Sample a law, or let efforts arrive: held efforts change. Returns zero, or a negative error code."""
    status = at_time(opt, t)
    if status != 0:
        return status
    if opt.no_law:
        r.memory.sample[0] = np.inf
    elif r.law.period > 0.0 and (
        t < r.law.count[SAMPLES] * r.law.period or sampled_by_code(r.law, opt.ask, SIGNALS, t, x, opt.nq, opt.nv)
    ):
        arrive(r.law, t)
        copy(r.law.command, r.command)
        r.memory.sample[0] = next_change(r.law)
    else:
        rank = complete_terms(model, opt, s, w, r, t, x)
        status = call(opt.ask, SAMPLE, t) if rank >= 0 else 0
        if rank < 0 or status != 0:
            return min(rank, status)
    if opt.outside:
        return 0
    if not opt.law:
        copy(r.command, s.u)
    copy_command(s.code, r.command)
    if s.code.rate != 0 and rate_by_code(s.code, opt.ask, TIMED, t, x, s.u, s.rate, opt.nq >= 0, r.K[0]):
        s.evaluations[0] += 1
    else:
        rank = ensure_evaluated(model, opt, s, w, r, t, x)
        if rank >= 0:
            s.near[0] = closeness(w.rows.pivots, opt)
            rank = rate_evaluated(model, opt, s, w, t, rank, r.K[0])
        if rank < 0:
            return rank
    m = r.memory
    n = m.last[0]
    r.near[n] = s.near[0]
    m.since[0], m.ready[0] = n, 1
    r.low[:] = 0.0
    return 0


@kernel
def copy_command(code, command):
    """Pass the held efforts to a drive that is part of generated code."""
    if code.own >= 0:
        copy(command, code.command)


@kernel
def failure(status):
    """Reason for leaving the loop, as a status, from the negative code of a rate that cannot be evaluated."""
    if status == FAILED:
        return MASS_MATRIX
    if status == PARADOX:
        return PAINLEVE
    return NOT_FINITE if status == REFUSED else ERROR

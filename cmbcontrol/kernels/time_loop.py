"""The time loop: embedded Runge-Kutta steps with projection onto the closed loops, samples, singular passages.

It is the only one: held efforts, laws in Python, sampled laws, plants given by functions, named formulations, and
methods that are not compiled differ only in the requests to Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, call, kernel, scratch
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

# Why `advance` comes back; the first is followed by those of errors.Status.
PAUSED, COMPLETED, STEP_TOO_SMALL, NOT_FINITE, MASS_MATRIX, PROJECTION = -1, 0, 1, 2, 3, 4
TOO_MANY_STEPS, PAINLEVE, EVENT, ERROR = 5, 13, 100, 101

# Indices of `Steps.clock` and `Steps.count`.
NEXT, ACROSS, ENERGY, AHEAD, PEAK, BEFORE, STEP = range(7)  # there is a next step for each method
COUNTS = 10
LAST, SINCE, TAKEN, REJECTIONS, REJECTED, READY, FRESH, METHOD, SHOWN, PASSAGES = range(COUNTS)

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
    # next sample; error of the last try across; energy at the start; time of a singular configuration ahead; largest
    # closeness; closeness a little before the last entry; next step of each method
    clock: np.ndarray
    # last entry; entry since which the motion is smooth; steps; rejections; whether the last try was rejected, K[0] is
    # the rate at the last entry, and w is evaluated there; the method; output times that are behind; singular
    # configurations met
    count: np.ndarray


@kernel
def choose(tableaus, clock, count, room):
    """Choose the method of the ladder that reaches the end of a held interval by the fewest evaluations.

    This is judged by the last error of each method. The choice goes to `count`.
    """
    best, least = count[METHOD], np.inf
    for k in range(len(tableaus)):
        cost = tableaus[k].b.shape[0] * np.ceil(room / clock[STEP + k] * (1.0 - 1e-9))
        if cost < least:
            best, least = k, cost
    for k in range(len(tableaus)):
        if k != best and count[REJECTED] == 0:
            clock[STEP + k] *= HOPE
    count[METHOD] = best


@kernel(allocates=True)
def advance(model, tableaus, gaps, opt, s, w, r, watch, until, tries):
    """Step on to a time, until the record is full, or for so many tries; returns the reason for its return.

    It goes on from the last entry of the record when it is called again. The methods are a ladder of rising order, of
    which `choose` takes one for each held interval, with opt.ladder; else the first one is taken. `gaps` are those of
    `sim.tableaux.widest_gap`.
    """
    nx = r.X.shape[1]
    nq, nv = opt.nq, opt.nv
    moving = nq + nv
    own = nx - moving - WORKS  # states of a law or a drive
    K, low, count, clock = r.K, r.low, r.count, r.clock
    y, lower = np.empty(nx), np.empty(nx)
    adaptive = tableaus[0].E5.shape[0] > 0
    watching = adaptive and opt.stabilisation == PROJECT and opt.every == 1 and opt.pass_within > 0.0
    times, values, rates = scratch(5), np.empty((5, nx)), np.empty((5, nx))
    while True:
        n = count[LAST]
        t, x = r.T[n], r.X[n]
        if t >= until:
            return COMPLETED
        if n >= r.F.shape[0] or tries <= 0 or count[PASSAGES] > 0.5 * r.passages.shape[0]:
            return PAUSED
        tries -= 1
        if clock[NEXT] <= t:
            status = sample(model, opt, s, w, r, t, x)
            if status != 0:
                return failure(status)
        end = min(until, clock[NEXT])
        if end - t < INSTANT * opt.t_end:
            r.T[n] = end
            continue
        if count[TAKEN] >= opt.max_steps:
            return TOO_MANY_STEPS
        if opt.outside:
            status = attempt(model, opt, s, w, r, watch, n, end, y)
            if status != COMPLETED:
                return status
            continue
        if count[READY] == 0:
            if not opt.law:
                copy(r.command, s.u)
            copy_command(s.code, r.command)
            rank = rate(model, opt, s, w, t, x, True, K[0])
            if rank < 0:
                return failure(rank)
            r.near[n] = s.near[0]
            count[READY] = 1
        if opt.ladder and (count[SINCE] == n or count[REJECTED] > 0):
            choose(tableaus, clock, count, end - t)
        method = count[METHOD]
        tableau, gap = tableaus[method], gaps[method]
        stages, extra = tableau.b.shape[0], tableau.c_extra.shape[0]
        share = step_share(tableau, opt.rtol, opt.atol, opt.ladder)
        unit = share * max(opt.rtol, opt.atol)
        now = r.near[n]
        clock[PEAK] = max(clock[PEAK], now)
        s.code.clear[0] = max(CLEAR, CLEAR_OF_LARGEST * clock[PEAK])
        since = count[SINCE]
        before = r.near[n - 1] if n > since else now
        rejected = count[REJECTED] > 0
        h = clock[STEP + method]
        if not (watching and now < NEAR and now < before):
            h = min(h, opt.max_step)
        if watching:
            h = min(h, turning_limit(model, s.looped, x[nq:moving]))
        crossing, planned, ahead = False, h, np.inf
        seen = watching and clock[AHEAD] > t  # within the last try
        if seen:
            ahead = clock[AHEAD] - t
            clock[AHEAD] = -np.inf
        elif watching and n > since and now < max(ALERT * clock[PEAK], NEAR):
            last_step = r.T[n] - r.T[n - 1]
            ahead = passage(model, opt, s, w, r.X[n - 1], r.F[n - 1], last_step, 1.5 * h, now, before, y)
        if ahead < np.inf:
            planned, crossing = plan(ahead, gap, h, now, end - t)
        if watching and n > since + 1 and not rejected and now < CROSS_FROM:
            landing, nodes = leap(model, opt, s, w, r, since, n, K[0], y, times, values, rates)
            if landing > t and landing < end:
                step = landing - t
                copy(y, r.X[n + 1])
                left = project(model, opt, s, w, landing, r.X[n + 1], clock[ENERGY], -1)
                if left >= 0.0:
                    rank = rate(model, opt, s, w, landing, r.X[n + 1], False, K[stages])
                    if rank < 0:
                        return failure(rank)
                    r.near[n + 1] = s.near[0]
                    cubic(x, r.X[n + 1], K[0], K[stages], step, r.F[n])
                    refine_cubic(times, values, rates, nodes, t, step, x, r.F[n])
                    clock[STEP + method] = step
                    notify = opt.notify or may_cross(r.limits, x, r.X[n + 1], K[0], K[stages], step)
                    status = keep(model, opt, s, w, r, watch, n, landing, K[stages], True, notify, y)
                    if status != 0:
                        return status
                    low[:] = 0.0
                    count[SINCE] = n + 1
                    continue
            if now < before:  # so that a leap has nodes
                h = min(h, 0.5 * now / (before - now) * (r.T[n] - r.T[n - 1]))
                planned = min(planned, h)
        blunt = not crossing and now <= CROSS_FROM
        regular = not blunt and not crossing and now > max(ALERT * clock[PEAK], NEAR)
        closing = not blunt and not (opt.ladder and regular)  # between samples, errors do not grow to what rows make
        last = t + planned * (1.0 + 1e-9) >= end
        step = end - t if last else planned
        least_step = 4e-16 * max(abs(t), 1e-3 * opt.t_end)
        if step < least_step:
            return STEP_TOO_SMALL
        if opt.held_gains and not rejected:
            rank = evaluate(model, opt, s, w, t, x, True)
            if rank >= 0:
                hold_baumgarte(model, s, w, step)
                rank = rate_evaluated(model, opt, s, w, t, rank, K[0])
            if rank < 0:
                return failure(rank)
        # -- the stages
        rank, nearest = rates_of_stages(model, opt, s, w, tableau, x, low, K, t, step, closing, y, lower)
        left = 0.0
        projecting = projected(opt, count)
        new = t + step
        if rank >= 0:
            step_from(x, low, K, tableau.b, stages, step, y, lower)
            for i in range(nx):
                if not abs(y[i]) < HUGE:
                    rank = REFUSED
        if rank >= 0:
            copy(y, r.X[n + 1])
            if projecting:
                split_rank = rank if regular and stages > 1 and s.code.count[BY_CODE] == 0 else -1
                left = project(model, opt, s, w, new, r.X[n + 1], clock[ENERGY], split_rank)
                if left <= RAISED:
                    rank = int(left)
                elif opt.energy:
                    lower[:] = 0.0
                else:
                    keep_low(model.links, opt, y, s.moved, r.X[n + 1], lower)
        if rank >= 0 and left >= 0.0:
            if projecting and regular:
                rank = rate_projected(model, opt, s, w, new, r.X[n + 1], False, K[stages])
            else:
                rank = rate(model, opt, s, w, new, r.X[n + 1], closing, K[stages])
        if rank == STOPPED or (rank == RAISED and (not adaptive or step < FAILING * opt.t_end)):
            return ERROR
        failed = rank < 0
        near = 1.0 if failed else s.near[0]
        least = min(nearest, now, near)
        # -- a singular configuration inside that was not seen ahead
        dip = nearest < DIP * min(now, near) or near < min(FALL * now, NEAR)
        if watching and not seen and not crossing and not blunt and dip:
            at = inside(model, opt, s, w, tableau, x, r.X[n + 1], t, step, closing, K, r.F[n], y)
            if at > 0.0:
                clock[AHEAD] = t + at * step
                count[REJECTIONS] += 1
                count[REJECTED] = 1
                continue
        # -- the error
        if adaptive:
            error = np.inf
            if not failed and 0.0 <= left <= OPEN * model.size:
                error = error_norm(K, tableau, x, y, 0, moving, step, share, opt.rtol, opt.atol)
                if own > 0:
                    of_law = error_norm(K, tableau, x, y, moving + WORKS, nx, step, share, opt.rtol, opt.atol)
                    error = max(error, of_law)
                if opt.work_scale > 0.0:
                    atol = opt.rtol * opt.work_scale
                    for work in range(moving, moving + WORKS):
                        error = max(error, error_norm(K, tableau, x, y, work, work + 1, step, share, opt.rtol, atol))
                if blunt:
                    error *= share  # rounding: no more than was asked for
                if projecting and opt.every == 1:
                    # what the projection had to undo is an error of the step, too
                    shift = 0.0
                    for k in range(nv):
                        shift += (s.moved[k] / (opt.atol + opt.rtol * step * abs(r.X[n + 1, nq + k]))) ** 2
                    error = max(error, 0.1 * np.sqrt(shift / max(nv, 1)))
            longest, h = h, next_step(step, error, rejected, tableau.order)
            good = error < 1.0
            if not good and np.isfinite(error):
                # at the start: a step that runs away must not excuse itself by its speed
                good = blurred(error * unit, nearest, largest_of(x[nq:moving]))
                if crossing and not good:
                    fastest = largest_of(K[0, nq:moving])
                    good = at_error_floor(error, clock[ACROSS], unit, step, fastest, nearest, opt.pass_within)
            if not good:
                if crossing:
                    clock[ACROSS] = error
                clock[STEP + method] = h
                count[REJECTIONS] += 1
                count[REJECTED] = 1
                if h < least_step:
                    if rank == RAISED:
                        return ERROR
                    if failed or not 0.0 <= left <= OPEN * model.size:
                        return failure(rank) if failed else PROJECTION
                    return STEP_TOO_SMALL
                continue
            if planned < longest and not last:
                h = max(h, longest)  # the error control had no say
        elif failed or not 0.0 <= left <= OPEN_FIXED * model.size:
            return failure(rank) if failed else PROJECTION
        # -- the state within the step, where somebody asks for it
        r.near[n + 1] = near
        # in others, stages see too little of a fall that would lead to zero
        most = max(now, near)
        suspect = least < max(SUSPECT * most, NEAR) and (2.0 * least < most or least < 10.0 * MET)
        reached = end if last else new
        shown = count[SHOWN]
        while shown < r.times.shape[0] and r.times[shown] <= t:
            shown += 1
        count[SHOWN] = shown
        notify = opt.notify or may_cross(r.limits, x, r.X[n + 1], K[0], K[stages], step)
        dense = notify or opt.watched or crossing or suspect or near < max(ALERT * clock[PEAK], NEAR)
        if dense or (shown < r.times.shape[0] and r.times[shown] < reached):
            rank = path_within(model, opt, s, w, tableau, x, r.X[n + 1], t, step, closing, K, r.F[n], y)
            if rank < 0:
                return failure(rank)
            count[FRESH] = 1 if extra == 0 and not crossing and s.code.count[BY_CODE] == 0 else 0
        else:
            cubic(x, r.X[n + 1], K[0], K[stages], step, r.F[n])
            count[FRESH] = 1 - s.code.count[BY_CODE]
        if crossing and not passed(model, opt, s, w, x, r.F[n], t, step, ahead / step, y):
            count[REJECTIONS] += 1
            count[REJECTED] = 1
            clock[STEP + method] = 0.5 * step
            continue
        clock[STEP + method] = h
        if crossing:
            clock[ACROSS] = np.inf
        status = keep(model, opt, s, w, r, watch, n, reached, K[stages], suspect, notify, y)
        if status != 0:
            return status
        copy(lower, low)


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
def projected(opt, count):
    """Whether the next step ends in a projection."""
    return opt.stabilisation == PROJECT and (count[TAKEN] + 1) % opt.every == 0


@kernel
def attempt(model, opt, s, w, r, watch, n, end, y):
    """Take a step of a method that is not compiled; returns the reason for leaving the loop, or COMPLETED."""
    if call(opt.ask, ATTEMPT, end) != 0:
        return ERROR
    if projected(opt, r.count):
        copy(r.X[n + 1], y)
        left = project(model, opt, s, w, r.T[n + 1], r.X[n + 1], r.clock[ENERGY], -1)
        if not 0.0 <= left <= OPEN_FIXED * model.size:
            return PROJECTION
        for i in range(y.shape[0]):
            r.F[n, 0, i] += r.X[n + 1, i] - y[i]
    r.near[n + 1], r.count[FRESH] = 1.0, 0
    return keep(model, opt, s, w, r, watch, n, r.T[n + 1], r.K[0], opt.cap > 0, opt.notify, y)


@kernel
def path_within(model, opt, s, w, tableau, x, new, t, step, closing, K, F, y):
    """F = dense coefficients of a step from x to `new`; returns the rank, or a negative error code."""
    stages, rank = tableau.b.shape[0], 0
    for i in range(tableau.c_extra.shape[0]):
        combine(x, K, tableau.A_extra[i], stages + 1 + i, step, y)
        rank = rate(model, opt, s, w, t + tableau.c_extra[i] * step, y, closing, K[stages + 1 + i])
        if rank < 0:
            return rank
    dense_coefficients(K, tableau, x, new, step, F)
    return rank


@kernel
def inside(model, opt, s, w, tableau, x, new, t, step, closing, K, F, y):
    """Fraction of a step at which its motion goes through a singular configuration; zero where it does not."""
    if path_within(model, opt, s, w, tableau, x, new, t, step, closing, K, F, y) < 0:
        return 0.0
    at, near, _ = nearest_approach(model, opt, s, w, x, F, 0.0, 1.0, y)
    return at if near < CROSS_FROM else 0.0


@kernel
def keep(model, opt, s, w, r, watch, n, t, end_rate, suspect, notify, y):
    """Accept the step from entry n, which ends at t; returns zero, or the reason for leaving the loop.

    A singular configuration is looked for where it is `suspect`, or where the last step ended at what may be the
    nearest approach. With `notify`, or where a function may cross zero, Python checks the step, and may refuse it.
    """
    count, clock = r.count, r.clock
    r.T[n + 1] = t
    copy(r.command, r.U[n])
    passages, before = count[PASSAGES], clock[BEFORE]
    if suspect or r.near[n] < min(before, NEAR):
        count[FRESH] = 0
        count[PASSAGES], clock[BEFORE] = search(
            model, opt, s, w, r.X[n], r.F[n], r.T[n], t - r.T[n], before, r.passages, passages, y
        )
    else:
        clock[BEFORE] = r.near[n]
    if notify or (opt.watched and not passes(model, opt, watch, r.T[n], r.X[n], t, r.X[n + 1], r.F[n], r.command)):
        status = call(opt.ask, STEPPED, t)
        if status != 0:
            count[PASSAGES], clock[BEFORE] = passages, before
            return EVENT if status == REFUSED else ERROR
    copy(end_rate, r.K[0])
    count[LAST] = n + 1
    count[TAKEN] += 1
    count[REJECTED] = 0
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
    if r.count[FRESH] == 0:
        rank = evaluate(model, opt, s, w, t, x, opt.nq >= 0)
        if rank < 0:
            return rank
        r.count[FRESH] = 1
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
        r.clock[NEXT] = np.inf
    elif r.law.period > 0.0 and (
        t < r.law.count[SAMPLES] * r.law.period or sampled_by_code(r.law, opt.ask, SIGNALS, t, x, opt.nq, opt.nv)
    ):
        arrive(r.law, t)
        copy(r.law.command, r.command)
        r.clock[NEXT] = next_change(r.law)
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
    n = r.count[LAST]
    r.near[n] = s.near[0]
    r.count[SINCE], r.count[READY] = n, 1
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

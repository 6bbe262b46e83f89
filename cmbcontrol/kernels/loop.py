"""The time loop: embedded Runge-Kutta steps with projection onto the closed loops, samples, singular passages.

It is the only one for explicit methods: held efforts, laws in Python, sampled laws, plants given by functions and named
formulations differ in what `motion` asks for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import call, kernel
from .constrained import FAILED
from .motion import (
    HUGE,
    PROJECT,
    RAISED,
    REFUSED,
    SAMPLE,
    STEPPED,
    STOPPED,
    closeness,
    complete,
    evaluate,
    hold_baumgarte,
    keep_low,
    project,
    rate,
    rate_here,
)
from .passages import CROSS_FROM, NEAR, blurred, leap, passage, passed, plan, settled, turning_limit
from .runge_kutta import (
    combine,
    cubic,
    dense_coefficients,
    error_norm,
    next_step,
    refine_cubic,
    step_from,
    step_share,
    widest_gap,
)

__all__ = ["Steps", "advance"]

# Why `advance` comes back; the first is followed by those of errors.Status.
PAUSED, COMPLETED, STEP_TOO_SMALL, NOT_FINITE, MASS_MATRIX, PROJECTION = -1, 0, 1, 2, 3, 4
TOO_MANY_STEPS, EVENT, ERROR = 5, 100, 101

# Indices of `Steps.clock` and `Steps.count`.
STEP, NEXT, ACROSS, ENERGY, FOUND = range(5)
LAST, SINCE, TAKEN, REJECTIONS, REJECTED, READY, FRESH = range(7)

# What a projection may leave open, in sizes of the machine: with step control, where a shorter step may help, and else.
OPEN, OPEN_FIXED = 1e-10, 1e-6

# Of a run: what is shorter is no step; steps at which a law that fails at a stage ahead is believed.
INSTANT, FAILING = 1e-14, 1e-9


class Steps(NamedTuple):
    """The record of the steps, and where the loop stands: it goes on from there when it is called again.

    T, X and `near` have one entry more than F and U; step n leads from entry n to entry n + 1.
    """

    T: np.ndarray  # (capacity + 1,) times
    X: np.ndarray  # (capacity + 1, nx) states
    F: np.ndarray  # (capacity, 7, nx) dense coefficients
    U: np.ndarray  # (capacity, nu) efforts that are held during the step
    near: np.ndarray  # (capacity + 1,) closeness to a singular pose
    K: np.ndarray  # (stages + 1 + extra, nx): the first is the rate at the last state
    low: np.ndarray  # (nx,): digits of that state below the last one that it can hold
    command: np.ndarray  # (nu,) efforts that are held at present
    clock: np.ndarray  # next step; next sample; error of the last try across; energy at the start; when an event is
    # last entry; entry since which the motion is smooth; steps; rejections; whether the last try was rejected, K[0] is
    # the rate at the last entry, and w is evaluated there
    count: np.ndarray


@kernel
def advance(model, tableau, opt, s, w, r, until, tries):
    """Step on to a time, until the record is full, or for so many tries; returns why it comes back.

    It goes on from the last entry of the record when it is called again.
    """
    nx = r.X.shape[1]
    nq, nv = opt.nq, opt.nv
    moving = nq + nv
    own = nx - moving - 2  # states of a law or a drive
    stages = tableau.b.shape[0]
    extra = tableau.c_extra.shape[0]
    adaptive = tableau.E5.shape[0] > 0
    K, low, count, clock = r.K, r.low, r.count, r.clock
    y, lower = np.empty(nx), np.empty(nx)
    watching = adaptive and opt.stabilisation == PROJECT and opt.every == 1 and opt.pass_within > 0.0
    gap = widest_gap(tableau)
    share = step_share(tableau, opt.rtol, opt.atol)
    unit = share * max(opt.rtol, opt.atol)
    times, values, rates = np.empty(5), np.empty((5, nx)), np.empty((5, nx))
    while True:
        n = count[LAST]
        t, x = r.T[n], r.X[n]
        if t >= until:
            return COMPLETED
        if n >= r.F.shape[0] or tries <= 0:
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
        if count[READY] == 0:
            if not opt.law:
                s.u[:] = r.command
            rank = rate(model, opt, s, w, t, x, True, K[0])
            if rank < 0:
                return failure(rank)
            r.near[n] = closeness(w.pivots, opt)
            count[READY] = 1
        if count[TAKEN] >= opt.max_steps:
            return TOO_MANY_STEPS
        now = r.near[n]
        since = count[SINCE]
        before = r.near[n - 1] if n > since else now
        rejected = count[REJECTED] > 0
        h = clock[STEP]
        if not (watching and now < NEAR and now < before):
            h = min(h, opt.max_step)
        if watching:
            h = min(h, turning_limit(model, w.A, x[nq:moving]))
        crossing, wanted, ahead = False, h, np.inf
        if watching and n > since:
            last_step = r.T[n] - r.T[n - 1]
            ahead = passage(model, opt, s, w, r.X[n - 1], r.F[n - 1], last_step, 1.5 * h, now, before, y)
            wanted, crossing = plan(ahead, gap, h, now, end - t)
        if watching and n > since + 1 and not rejected and now < CROSS_FROM:
            landing, nodes = leap(model, opt, s, w, r, since, n, K[0], y, times, values, rates)
            if landing > t and landing < end:
                step = landing - t
                r.X[n + 1] = y
                left = project(model, opt, s, w, landing, r.X[n + 1], clock[ENERGY])
                if left >= 0.0:
                    rank = rate(model, opt, s, w, landing, r.X[n + 1], False, K[stages])
                    if rank < 0:
                        return failure(rank)
                    r.near[n + 1] = closeness(w.pivots, opt)
                    cubic(x, r.X[n + 1], K[0], K[stages], step, r.F[n])
                    refine_cubic(times, values, rates, nodes, t, step, x, r.F[n])
                    clock[STEP] = step
                    count[FRESH] = 1
                    status = keep(opt, s, r, n, landing, K[stages])
                    if status != 0:
                        return status
                    low[:] = 0.0
                    count[SINCE] = n + 1
                    continue
            if now < before:  # so that a leap has nodes
                h = min(h, 0.5 * now / (before - now) * (r.T[n] - r.T[n - 1]))
                wanted = min(wanted, h)
        blunt = not crossing and now <= CROSS_FROM
        closing = not blunt and (crossing or now < NEAR)
        last = t + wanted * (1.0 + 1e-9) >= end
        step = end - t if last else wanted
        least_step = 4e-16 * max(abs(t), 1e-3 * opt.t_end)
        if step < least_step:
            return STEP_TOO_SMALL
        if opt.held_gains and not rejected:
            rank = rate(model, opt, s, w, t, x, True, K[0])
            hold_baumgarte(s, w, step)
            rate_here(model, opt, s, w, t, rank, K[0])
        # -- the stages
        rank, nearest = 0, 1.0
        for i in range(1, stages):
            step_from(x, low, K, tableau.A[i], i, step, y, lower)
            rank = rate(model, opt, s, w, t + tableau.c[i] * step, y, closing, K[i])
            if rank < 0:
                break
            nearest = min(nearest, closeness(w.pivots, opt))
        left = 0.0
        projecting = opt.stabilisation == PROJECT and (count[TAKEN] + 1) % opt.every == 0
        new = t + step
        if rank >= 0:
            step_from(x, low, K, tableau.b, stages, step, y, lower)
            for i in range(nx):
                if not abs(y[i]) < HUGE:
                    rank = REFUSED
        if rank >= 0:
            r.X[n + 1] = y
            if projecting:
                left = project(model, opt, s, w, new, r.X[n + 1], clock[ENERGY])
                if left <= RAISED:
                    rank = int(left)
                elif opt.energy:
                    lower[:] = 0.0
                else:
                    keep_low(model.links, opt, y, s.moved, r.X[n + 1], lower)
        if rank >= 0 and left >= 0.0:
            rank = rate(model, opt, s, w, new, r.X[n + 1], closing, K[stages])
        if rank == STOPPED or (rank == RAISED and (not adaptive or step < FAILING * opt.t_end)):
            return ERROR
        failed = rank < 0
        near = 1.0 if failed else closeness(w.pivots, opt)
        # -- the error
        if adaptive:
            error = np.inf
            if not failed and 0.0 <= left <= OPEN * model.size:
                error = error_norm(K, tableau, x, y, 0, moving, step, opt.rtol, opt.atol)
                if own > 0:
                    of_law = error_norm(K, tableau, x, y, moving + 2, nx, step, opt.rtol, opt.atol)
                    error = max(error, of_law)
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
                swift = np.abs(r.X[n + 1, nq:moving]).max()
                good = blurred(error * unit, nearest, swift)
                if crossing and not good:
                    fastest = np.abs(K[0, nq:moving]).max()
                    good = settled(error, clock[ACROSS], unit, step, fastest, nearest, opt.pass_within)
            if not good:
                if crossing:
                    clock[ACROSS] = error
                clock[STEP] = h
                count[REJECTIONS] += 1
                count[REJECTED] = 1
                if h < least_step:
                    if rank == RAISED:
                        return ERROR
                    if failed or not 0.0 <= left <= OPEN * model.size:
                        return MASS_MATRIX if rank == FAILED else NOT_FINITE if failed else PROJECTION
                    return STEP_TOO_SMALL
                continue
            if wanted < longest and not last:
                h = max(h, longest)  # the error control had no say
        elif failed or not 0.0 <= left <= OPEN_FIXED * model.size:
            return MASS_MATRIX if rank == FAILED else NOT_FINITE if failed else PROJECTION
        # -- the state within the step
        count[FRESH] = 1 if extra == 0 and not crossing else 0
        r.near[n + 1] = near
        for i in range(extra):
            combine(x, K, tableau.A_extra[i], stages + 1 + i, step, y)
            rank = rate(model, opt, s, w, t + tableau.c_extra[i] * step, y, closing, K[stages + 1 + i])
            if rank < 0:
                return failure(rank)
        dense_coefficients(K, tableau, x, r.X[n + 1], step, r.F[n])
        if crossing and not passed(model, opt, s, w, x, r.F[n], ahead / step, y):
            count[REJECTIONS] += 1
            count[REJECTED] = 1
            clock[STEP] = 0.5 * step
            continue
        clock[STEP] = h
        if crossing:
            clock[ACROSS] = np.inf
        status = keep(opt, s, r, n, end if last else new, K[stages])
        if status != 0:
            return status
        low[:] = lower


@kernel
def keep(opt, s, r, n, t, rate_there):
    """The step from entry n is accepted, and ends at t; returns zero, or why the loop is left."""
    r.T[n + 1] = t
    r.U[n] = r.command
    if opt.looked_at:
        status = call(opt.ask, STEPPED, t)
        if status != 0:
            return EVENT if status == REFUSED else ERROR
    r.K[0] = rate_there
    r.count[LAST] = n + 1
    r.count[TAKEN] += 1
    r.count[REJECTED] = 0
    return COMPLETED


@kernel
def sample(model, opt, s, w, r, t, x):
    """A law is sampled, or efforts arrive: what is held changes. Returns zero, or what is negative.

    The law sees what the last step has evaluated at its end. Where that is not at hand, it is evaluated again.
    """
    if r.count[FRESH] == 0:
        rank = evaluate(model, opt, s, w, t, x, True)
        if rank < 0:
            return rank
    rank = s.rank[0]
    complete(model, opt, s, w)
    s.x[:] = x
    status = call(opt.ask, SAMPLE, t)
    if status != 0:
        return status
    if not opt.law:
        s.u[:] = r.command
    rank = rate_here(model, opt, s, w, t, rank, r.K[0])
    if rank < 0:
        return rank
    n = r.count[LAST]
    r.near[n] = closeness(w.pivots, opt)
    r.count[SINCE], r.count[READY], r.count[FRESH] = n, 1, 1
    r.low[:] = 0.0
    return 0


@kernel
def failure(status):
    """Why the loop is left where the rate cannot be had."""
    if status == FAILED:
        return MASS_MATRIX
    return NOT_FINITE if status == REFUSED else ERROR

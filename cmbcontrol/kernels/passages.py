"""Singular configurations on the path of a run: seen ahead, stepped across, or leapt over.

The constraint forces near a singular configuration divide errors by the distance to it, while the motion itself is
smooth. So steps are placed such that no stage is near the configuration, or the neighbourhood is leapt over.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .arrays import copy
from .constrained import largest
from .constraint_rows import constraint_residual
from .forces import kinetic_energy
from .motion import at_time, closeness_at, energy_balance, glance
from .runge_kutta import hermite, interpolate
from .tree import link_poses

__all__ = [
    "at_error_floor",
    "blurred",
    "leap",
    "nearest_approach",
    "passage",
    "passed",
    "plan",
    "search",
    "turning_limit",
]

# From here on towards a singular configuration, steps may be longer than `max_step`: short ones would put stages next
# to it.
NEAR = 0.1

# Nearer than this to a singular configuration a step across has stages too near to it; what comes so near, with steps
# that samples or limits make short, leaps. Stages are left as they are there: closing them moves them by rounding over
# the distance to the configuration, and turns the constraint forces by as much over the distance again.
CROSS_FROM = 0.004

# Nearer than this to a singular configuration, rounding over the distance says nothing more of a step: configurations
# so near are that configuration, see _tolerance.BLURRED.
AT_IT = 1e-8

# Accuracy asked of a leap, in positions (rad, m) and in energy; configurations looked at, by golden section, to find
# it.
LEAP_ERROR, LEAP_LOOKS = 1e-10, 24

# A singular configuration is approached down to this closeness before a passage is ruled out.
END_OF_APPROACH = 1e-3

# Configurations looked at in a search for the nearest approach, evenly; then it is refined to a part of their distance:
# to 1e-3, the mirror error of the five-bar's second run was ten times what it is. At most so many looks refine it,
# which golden section alone, with its smaller part, would need for 1e-9.
LOOKS, COARSE, ENOUGH, GOLDEN = 6, 1e-7, 43, 0.3819660112501051

# A passage nearer than this is noted. It is looked for at so many configurations of a step, and refined to a part of
# their distance. Between two looks the closeness may fall by so many times what it falls by around them.
MET = 1e-3
FEWEST, MOST, FINE, STEEPER = 8, 400, 1e-9, 5.0
ROUNDING = 1e-14  # of the closeness
GLANCE = 1e-6  # a closeness below this is mostly rounding at a glance

# Motion that begins as far away, or farther, is looked at by glances: they miss the place of the nearest approach by
# their rounding, 1e-8, over this.
AWAY = 0.01


@kernel
def closeness_in(model, opt, s, w, x0, F, fraction, exact, y):
    """Closeness to a singular configuration at a fraction of a step, exact or by `glance`; y is the state there."""
    interpolate(x0, F, fraction, y)
    return closeness_at(model, opt, s, w, 0.0, y) if exact else glance(model, opt, s, w, y)


@kernel
def refined(model, opt, s, w, x0, F, low, high, part, exact, y):
    """Fraction of a step, between two, of its nearest approach to a singular configuration, and the closeness there.

    It is found to a `part` of the distance between the two; y is the state there. The smallest gradient goes through
    zero, or passes it at a distance: its square is smooth, and Brent's method finds the minimum of that by parabolas in
    some ten evaluations. Where another gradient takes over, there is a kink; there it cuts by golden section.
    """
    a, d, least = low, high, part * (high - low)
    at = a + GOLDEN * (d - a)
    second, third = at, at  # the next best places
    f = closeness_in(model, opt, s, w, x0, F, at, exact, y) ** 2
    f2, f3 = f, f
    step, before = 0.0, 0.0  # the last step, and the one before
    for _ in range(ENOUGH):
        middle = 0.5 * (a + d)
        if abs(at - middle) <= 2.0 * least - 0.5 * (d - a):
            break
        r, q = (at - second) * (f - f3), (at - third) * (f - f2)
        p, q = (at - third) * q - (at - second) * r, 2.0 * (q - r)
        p, q = -p if q > 0.0 else p, abs(q)
        if abs(before) > least and abs(p) < 0.5 * q * abs(before) and q * (a - at) < p and p < q * (d - at):
            before, step = step, p / q
            if at + step - a < 2.0 * least or d - at - step < 2.0 * least:
                step = least if at < middle else -least
        else:
            before = (a if at >= middle else d) - at
            step = GOLDEN * before
        new = at + (step if abs(step) >= least else least if step > 0.0 else -least)
        g = closeness_in(model, opt, s, w, x0, F, new, exact, y) ** 2
        if g <= f:
            a, d = (at, d) if new >= at else (a, at)
            third, f3, second, f2, at, f = second, f2, at, f, new, g
        else:
            a, d = (new, d) if new < at else (a, new)
            if g <= f2 or second == at:
                third, f3, second, f2 = second, f2, new, g
            elif g <= f3 or third == at or third == second:
                third, f3 = new, g
    interpolate(x0, F, at, y)
    return at, np.sqrt(f)


@kernel
def nearest_approach(model, opt, s, w, x0, F, low, high, y):
    """Fraction of a step, between low and high, at which its motion is nearest to a singular configuration.

    The motion is that of the dense coefficients F; beyond 1 it is continued. Where it comes nearer than half the
    closeness at `low`, the place is refined. Returns the fraction, the closeness there, and the one at `low`; by
    `glance`, where the motion begins away from it.
    """
    at, near = low, closeness_in(model, opt, s, w, x0, F, low, False, y)
    exact = near < AWAY
    if exact:
        near = closeness_in(model, opt, s, w, x0, F, low, True, y)
    first = near
    part = (high - low) / LOOKS
    for k in range(1, LOOKS + 1):
        c = closeness_in(model, opt, s, w, x0, F, low + k * part, exact, y)
        if c < near:
            at, near = low + k * part, c
    if near <= 0.5 * first:
        at, near = refined(model, opt, s, w, x0, F, max(at - part, low), min(at + part, high), COARSE, exact, y)
    return at, near, first


@kernel
def looks_in(model, v, step):
    """Number of points of a step that are checked: one per fifth of a radian or of the machine's size, in bounds."""
    fastest = 0.0
    for k in range(v.shape[0]):
        fastest = max(fastest, abs(v[k]) * model.unit_lengths[k])
    return int(min(max(5.0 * fastest / model.size * step, FEWEST), MOST))


@kernel(allocates=True)
def search(model, opt, s, w, x, F, t, step, before, passages, count, y):
    """Find the singular and nearly singular configurations in a step from x: `passages` gets times and closeness.

    The closeness may be that of `glance`, whose errors are far below the difference of singular and nearly singular.
    `count` entries of `passages` are taken already. `before` is the closeness a little before the step, infinite where
    nothing is known. Returns the number of entries, and the closeness a little before the end of the step.
    """
    nq, nv = opt.nq, opt.nv
    looks = looks_in(model, x[nq : nq + nv], step)
    part = 1.0 / looks
    near = np.empty(looks + 1)
    for i in range(0, looks + 1, looks):  # both ends
        near[i] = closeness_in(model, opt, s, w, x, F, i * part, False, y)
    exact = max(near[0], near[looks]) < AWAY
    for i in range(looks + 1):
        near[i] = closeness_in(model, opt, s, w, x, F, i * part, exact, y)
        if near[i] < GLANCE and not exact:
            near[i] = closeness_at(model, opt, s, w, 0.0, y)
    last = near[looks - 1]
    for i in range(looks + 1):
        c = near[i]
        if not (c < NEAR and c + ROUNDING < (near[i - 1] if i > 0 else before) and (i == looks or c <= near[i + 1])):
            continue
        # Where it falls to zero between two looks, its slope is seen around them.
        steepest = 0.0
        for k in range(max(i - 2, 0), min(i + 2, looks)):
            steepest = max(steepest, abs(near[k + 1] - near[k]))
        if c - STEEPER * steepest > MET:
            continue
        at, least = refined(model, opt, s, w, x, F, max(i - 1, 0) * part, min(i + 1, looks) * part, FINE, exact, y)
        if c < GLANCE and not exact:
            least = closeness_at(model, opt, s, w, 0.0, y)
        if c <= least + ROUNDING:  # a motion that sets out slowly from a configuration is at it for a while
            if i == looks:  # the next step tells whether it goes on to fall
                continue
            at, least = i * part, c
        elif i == looks:
            last = least
        if least <= MET and count < passages.shape[0]:
            passages[count, 0], passages[count, 1] = t + at * step, least
            count += 1
    return count, last


@kernel
def passage(model, opt, s, w, x, F, last, reach, now, before, y):
    """Time left to a singular configuration ahead, s; infinite where none is within reach.

    x, F and `last` are the last step, whose motion is continued; `now` and `before` are the closeness at its end and
    at its start. The closeness has kinks where another row becomes the smallest, so a slow fall may end soon.
    """
    if not (now < before and now * last < 8.0 * (before - now) * reach):
        return np.inf
    high = 1.0 + min(reach / last, 8.0)
    at, near, first = nearest_approach(model, opt, s, w, x, F, 1.0, high, y)
    return (at - 1.0) * last if near < 0.5 * min(now, first) and at < high - 1e-3 else np.inf


@kernel
def passed(model, opt, s, w, x, F, t, step, fraction, y):
    """Whether a step has gone through a singular configuration near `fraction` of it; a near miss opens the loops."""
    low, high = max(fraction - 0.3, 0.0), min(fraction + 0.3, 1.0)
    at, near, _ = nearest_approach(model, opt, s, w, x, F, low, high, y)
    interpolate(x, F, at, y)
    if opt.functions:
        near = closeness_at(model, opt, s, w, 0.0, y)  # which leaves w.phi
    elif at_time(opt, t + at * step) != 0:
        return False
    else:
        link_poses(model.links, y[: opt.nq], w.R, w.p)
        constraint_residual(model, y[: opt.nq], w.R, w.p, w.phi)
    return near <= opt.pass_within and largest(model, w.phi) <= opt.pass_within**2 * model.size


@kernel
def plan(ahead, gap, h, now, room):
    """Length of the next step with a singular configuration `ahead`, and whether it goes across it.

    The accuracy allows a step h. A step goes across where the configuration falls into the widest gap between its
    stages, at the fraction `gap`, so that none of them is near it; a tenth of the fraction may be missing. Else it
    leads to where the next one can do that at full length. `room` is the time to the end; where it comes soon after the
    configuration, a step across may lead there.
    """
    beyond = room - ahead
    if not beyond > 0.0 or now < CROSS_FROM:
        return h, False
    if beyond < 0.1 * ahead:
        if room <= h:
            return room, True
    elif ahead / gap > 1.1 * room:
        return min(h, ahead - gap / (1.0 - gap) * beyond), False
    elif ahead / gap <= 1.1 * h:
        return min(ahead / gap, h), True
    return min(h, max(ahead - gap * h, 0.3 * ahead)) if now > END_OF_APPROACH else h, False


@kernel
def at_error_floor(error, before, unit, step, acceleration, nearest, within):
    """Whether the error of a step across a singular configuration is as small as it can be, if above the tolerance.

    `error`, and `before` that of the last try from farther away, are measured in `unit`; `nearest` is the least
    closeness of a stage. Rounding opens the loops at a stage; closing them again moves it by eps / closeness. That
    turns the constraint forces by as much over the distance to the configuration, which goes with the closeness, too.
    And a motion that misses the configuration by less than `within`, which cannot be resolved, is not smooth there: a
    shorter step is no better, and none is better than one that goes straight on.
    """
    rounding = error * unit < 2e-15 * step * acceleration / nearest**2
    return error * unit < 0.1 * within and (rounding or error > 0.1 * before)


@kernel
def blurred(error, nearest, speed):
    """Whether the error of a step is what rounding makes of it beside a singular configuration.

    Closing the loops there moves a stage by rounding over the closeness, `nearest` at best. A shorter step does not get
    below that, where the motion misses the configuration and swings round it. At the configuration itself nothing is
    moved by closing: nearer than `AT_IT`, an error is one of the step.
    """
    return error < 4e-15 / max(nearest, AT_IT) * max(1.0, speed)


@kernel(allocates=True)
def doubt(times, values, rates, count, t, nq, y):
    """Error estimate of the continued motion at time t: change of its positions without the oldest node.

    y = the continued state at that time.
    """
    lower = np.empty(y.shape[0])
    hermite(times, values, rates, count, t, y)
    hermite(times, values, rates, count - 1, t, lower)
    worst = 0.0
    for i in range(nq):
        worst = max(worst, abs(y[i] - lower[i]) / (1.0 + abs(y[i])))
    return worst


@kernel
def leap_nodes(r, since, n, rate, window, times, values, rates):
    """Find up to five states of the record from `since` on, spread over a window, newest first; returns how many."""
    count = 1
    times[0] = r.T[n]
    copy(r.X[n], values[0])
    copy(rate, rates[0])
    j = n
    for k in range(1, times.shape[0]):
        target = r.T[n] - k * window / (times.shape[0] - 1)
        while j > since and r.T[j] > target:
            j -= 1
        if r.T[j] < times[count - 1]:
            h = r.T[j + 1] - r.T[j]
            times[count] = r.T[j]
            copy(r.X[j], values[count])
            for i in range(rate.shape[0]):
                rates[count, i] = (r.F[j, 0, i] + r.F[j, 1, i]) / h
            count += 1
        if j == since:
            break
    return count


@kernel
def nearest_along(model, opt, s, w, times, values, rates, count, a, d, y):
    """Time between a and d at which the continued motion is nearest to a singular configuration (golden section).

    Returns the time and the closeness there; y, and the positions of w, are those of that time.
    """
    g = 0.6180339887498949
    b, c = d - g * (d - a), a + g * (d - a)
    fb = fc = -1.0
    for _ in range(LEAP_LOOKS):
        if fb < 0.0:
            hermite(times, values, rates, count, b, y)
            fb = closeness_at(model, opt, s, w, 0.0, y)
        if fc < 0.0:
            hermite(times, values, rates, count, c, y)
            fc = closeness_at(model, opt, s, w, 0.0, y)
        if fb < fc:
            d, c, fc = c, b, fb
            b, fb = d - g * (d - a), -1.0
        else:
            a, b, fb = b, c, fc
            c, fc = a + g * (d - a), -1.0
    t = 0.5 * (a + d)
    hermite(times, values, rates, count, t, y)
    return t, closeness_at(model, opt, s, w, 0.0, y)


@kernel
def leap(model, opt, s, w, r, since, n, rate, y, times, values, rates):
    """Find a singular configuration ahead to be leapt over; y = state as far beyond it as it is ahead.

    Where the motion, continued from the record, passes within `opt.pass_within` of the configuration, and the
    continuation is as accurate as a step, the neighbourhood is leapt over. Returns the landing time, or a negative
    number where there is no reason to leap; and the number of nodes of the polynomial, which times, values and rates
    keep.
    """
    now, before = r.near[n], r.near[n - 1]
    if not (now < NEAR and now < before):
        return -1.0, 0
    nq, nv = opt.nq, opt.nv
    # linear in time where the configuration is passed, quadratic where it is touched at rest
    ahead = now / (before - now) * (r.T[n] - r.T[n - 1])
    low, high = r.T[n], r.T[n] + 4.0 * ahead
    passing, near, count = r.T[n], 1.0, 0
    for _ in range(2):
        count = leap_nodes(r, since, n, rate, 8.0 * ahead, times, values, rates)
        if count < 3:
            return -1.0, 0
        # look for the configuration only where the continuation is accurate that far
        if doubt(times, values, rates, count, r.T[n] + 2.0 * ahead, nq, y) > max(1e3 * opt.rtol, LEAP_ERROR):
            return -1.0, 0
        passing, near = nearest_along(model, opt, s, w, times, values, rates, count, low, high, y)
        if not (passing < high - 1e-6 * ahead and near < 0.5 * now):
            return -1.0, 0
        ahead = passing - r.T[n]
        low, high = r.T[n] + 0.5 * ahead, r.T[n] + 1.5 * ahead
    # at a true crossing the loops close to second order; a near miss would leave a gap here
    if opt.timed and not opt.functions:
        if at_time(opt, passing) != 0:
            return -1.0, 0
        constraint_residual(model, y[:nq], w.R, w.p, w.phi)
    if near > opt.pass_within or largest(model, w.phi) > opt.pass_within**2 * model.size:
        return -1.0, 0
    landing = passing + ahead
    if doubt(times, values, rates, count, landing, nq, y) > max(1e3 * opt.rtol, LEAP_ERROR):
        return -1.0, 0
    # the energy balance judges the velocities; forces over a radian or a metre set its scale; functions tell none
    scale = 0.0
    for k in range(nv):
        scale += abs(w.h[k])
    before_leap = energy_balance(model, opt, s, w, values[0])
    scale += kinetic_energy(w.M, values[0, nq : nq + nv])
    if abs(energy_balance(model, opt, s, w, y) - before_leap) > LEAP_ERROR * scale:
        return -1.0, 0
    return landing, count


@kernel
def turning_limit(model, looped, v):
    """Step in which no coordinate of the loops moves by more than a radian or a size of the machine, s.

    Where the motion is simple, such as uniform rotation, the error control would allow steps of many turns, and
    singular configurations in them would go unseen.
    """
    fastest = 0.0
    for k in range(v.shape[0]):
        rate = abs(v[k]) * model.unit_lengths[k] / model.size
        if looped[k] and rate > fastest:
            fastest = rate
    return 1.0 / fastest if fastest > 0.0 else np.inf

"""Time stepping of a mechanism: embedded Runge-Kutta with projection onto the closed loops.

The state is ``x = [q, v, work of the actuators, energy dissipated]``; the two integrals give the
energy balance of a run. Both loops (the compiled one here and the interpreted one of the `sim`
layer) are made of the same pieces: `combine`, `error_norm`, `next_step`, `dense_coefficients`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import kernel
from .constrained import (
    FAILED,
    close_loops,
    close_step,
    euclidean_split,
    generalized_force,
    largest,
    project_velocity,
    solve_acceleration,
    update_position,
    update_velocity,
    velocity_correction,
)
from .forces import dissipated_power, kinetic_energy, potential_energy
from .layout import FREE, PLANAR, SPHERICAL
from .tree import local_difference, normalize, position_rates, retract

__all__ = [
    "Options",
    "Tableau",
    "advance",
    "combine",
    "dense_coefficients",
    "error_norm",
    "interpolate",
    "new_pause",
    "next_step",
]

# statuses of `advance`; the first is followed by those of errors.Status
RUNNING, COMPLETED, STEP_TOO_SMALL, NOT_FINITE, MASS_MATRIX, PROJECTION = -1, 0, 1, 2, 3, 4

PROJECT, BAUMGARTE, NONE = range(3)

# States beyond this are as good as infinite: their squares still can be added up.
HUGE = 1e100

# Share of the tolerance that a step of order 8 gets, down to the finest error above rounding.
SHARE, FINEST = 0.01, 1e-12

# From here on towards a singular pose, steps may be longer than `max_step`: short ones would put stages next to it.
NEAR = 0.1

# Nearer than this to a singular pose a step across has stages too near to it; what comes so near, with steps that
# samples or limits make short, leaps. Stages are left as they are there: closing them moves them by rounding over the
# distance to the pose, and turns the constraint forces by as much over the distance again.
CROSS_FROM = 0.004

# Accuracy asked of a leap, in positions (rad, m) and in energy; poses looked at, by golden section, to find it.
LEAP_ERROR, LEAP_LOOKS = 1e-10, 24

# What a projection may leave open, in sizes of the machine: with step control, where a shorter step may help, and else.
OPEN, OPEN_FIXED = 1e-10, 1e-6

# A singular pose is approached down to this closeness before a passage is ruled out.
END_OF_APPROACH = 1e-3

# Poses looked at in a search for the nearest approach: evenly, then by golden section to 1/1000 of their distance.
LOOKS, CUTS = 6, 14


class Tableau(NamedTuple):
    """An explicit Runge-Kutta method.

    E3 and E5 are the two error estimates of DOP853 (empty for a fixed step; E3 zero where there is one), A_extra
    and D give the dense output of order 7 (empty: cubic Hermite).
    """

    A: np.ndarray  # (stages, stages)
    b: np.ndarray  # (stages,)
    c: np.ndarray  # (stages,)
    E3: np.ndarray  # (stages + 1,) or (0,)
    E5: np.ndarray
    A_extra: np.ndarray  # (3, 16) or (0, 0)
    c_extra: np.ndarray
    D: np.ndarray  # (4, 16)
    order: int  # of the step control: the error of a step goes with this power of it


class Options(NamedTuple):
    """Numbers that steer a run."""

    rtol: float
    atol: float
    max_step: float
    tolerance: float  # of the rank
    cap: int  # largest rank the loops can have on the manifold
    stabilisation: int  # PROJECT, BAUMGARTE or NONE
    euclidean: bool  # metric of the projection
    energy: bool  # project onto the energy balance too
    alpha: float  # Baumgarte: phi'' + 2 alpha phi' + beta^2 phi = 0
    beta: float
    accuracy: float  # loops count as closed below this, metres
    pass_within: float  # motion that comes this near to a singular pose goes through it; 0 knows no passages
    reference: float  # size of a regular constraint gradient, in the metric of M


class Pause(NamedTuple):
    """What `advance` keeps when it comes back before its record is full: it goes on as if it had not."""

    K: np.ndarray  # (stages + 1 + extra, nx): the first is the rate at the last state of the record
    low: np.ndarray  # (nx,): digits of that state below the last one that it can hold
    marks: np.ndarray  # steps in the record, -1 at its begin; 1 after a rejected try; error of the last try across


def new_pause(tableau: Tableau, nx: int) -> Pause:
    """For a record that begins."""
    stages = tableau.b.shape[0] + 1 + tableau.c_extra.shape[0]
    return Pause(np.zeros((stages, nx)), np.zeros(nx), np.array([-1.0, 0.0, np.inf]))


@kernel
def baumgarte(w, v, i, opt):
    """2 alpha phi' + beta^2 phi of row i."""
    rate = 0.0
    for k in range(v.shape[0]):
        rate += w.A[i, k] * v[k]
    return 2.0 * opt.alpha * rate + opt.beta * opt.beta * w.phi[i]


@kernel
def derivative(model, x, u, opt, w, closing, dx):
    """dx = rate of the state; returns the rank, or FAILED. With `closing`, at the nearest pose with closed loops."""
    nq, nv = dx.shape[0] - model.damping.shape[0] - 2, model.damping.shape[0]
    q = x[:nq].copy()
    v = x[nq : nq + nv].copy()
    if closing and opt.stabilisation == PROJECT and model.rows.shape[0] > 0:
        close_step(model, x[:nq], opt.tolerance, opt.cap, 8.0 * opt.accuracy, w, q)
    rank = update_position(model, q, w, opt.tolerance, opt.cap)
    if rank == FAILED:
        return FAILED
    if opt.stabilisation == PROJECT:
        # The stage need not lie on the manifold. Its velocity across the loops is an error of the
        # method, which the acceleration would divide by the distance to a singular pose.
        project_velocity(model.scale, w, rank, v)
    update_velocity(model, q, v, w)
    f = np.empty(nv)
    generalized_force(model, u, w, f)
    for i in range(w.b.shape[0]):
        w.b[i] = -w.b[i]
        if opt.stabilisation == BAUMGARTE:
            w.b[i] -= baumgarte(w, v, i, opt)
    position_rates(model.links, q, v, dx[:nq])
    solve_acceleration(model.scale, w, rank, f, w.b, dx[nq : nq + nv])
    power = 0.0
    for k in range(nv):
        power += f[k] * v[k]
    dx[nq + nv] = power
    dx[nq + nv + 1] = dissipated_power(model, v, w.R, w.p, w.V)
    return rank


@kernel
def combine(x, K, weights, count, h, out):
    """out = x + h * sum of weights[j] K[j] over the first `count` stages."""
    for i in range(x.shape[0]):
        out[i] = 0.0
    for j in range(count):
        if weights[j] != 0.0:
            for i in range(x.shape[0]):
                out[i] += weights[j] * K[j, i]
    for i in range(x.shape[0]):
        out[i] = x[i] + h * out[i]


@kernel
def step_share(tableau, rtol, atol):
    """Share of the tolerance that one step gets.

    The errors of many steps add up, and the motion lets them grow. A step of order 8 costs little more for a much
    smaller error, so it gets a small share, and the result of a run is about as accurate as was asked for.
    """
    return min(1.0, max(SHARE, FINEST / max(rtol, atol))) if tableau.order == 8 else 1.0


@kernel
def error_norm(K, tableau, x, x_new, n, h, rtol, atol):
    """DOP853's error measure over the first n states: below 1 is accepted.

    Errors are measured by `step_share` of the tolerance.
    """
    e5 = 0.0
    e3 = 0.0
    stages = tableau.E5.shape[0]
    share = step_share(tableau, rtol, atol)
    for i in range(n):
        scale = share * (atol + rtol * max(abs(x[i]), abs(x_new[i])))
        s5 = 0.0
        s3 = 0.0
        for j in range(stages):
            s5 += tableau.E5[j] * K[j, i]
            s3 += tableau.E3[j] * K[j, i]
        e5 += (s5 / scale) ** 2
        e3 += (s3 / scale) ** 2
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return abs(h) * e5 / np.sqrt((e5 + 0.01 * e3) * n)


@kernel
def next_step(h, error, rejected, order):
    """Step size after a try with this error, which goes with a power of the step."""
    if not np.isfinite(error):
        return 0.1 * h
    if error == 0.0:
        factor = 10.0
    else:
        factor = 0.9 * error ** (-1.0 / order)
    if error < 1.0:
        return h * min(1.0 if rejected else 10.0, max(factor, 0.2))
    return h * max(0.1, factor)


@kernel
def interpolate(x0, F, s, out):
    """State at the fraction s of a step that starts at x0, from its dense coefficients F (7, nx)."""
    for i in range(x0.shape[0]):
        y = 0.0
        for k in range(F.shape[0] - 1, -1, -1):
            y += F[k, i]
            y *= s if (F.shape[0] - 1 - k) % 2 == 0 else 1.0 - s
        out[i] = x0[i] + y


@kernel
def dense_coefficients(K, tableau, x0, x1, h, F):
    """Coefficients F (7, nx) of the interpolant; K (16, nx) for DOP853, its first and 13th rows else."""
    for i in range(x0.shape[0]):
        d = x1[i] - x0[i]
        last = tableau.b.shape[0]
        F[0, i] = d
        F[1, i] = h * K[0, i] - d
        F[2, i] = 2.0 * d - h * (K[last, i] + K[0, i])
        for k in range(3, 7):
            F[k, i] = 0.0
            if tableau.D.shape[0] > 0:
                for j in range(K.shape[0]):
                    F[k, i] += h * tableau.D[k - 3, j] * K[j, i]


@kernel
def step_from(x, low, K, weights, count, h, out, lost):
    """out = x + low + h * sum of weights[j] K[j]; lost = what out cannot hold of it (Neumaier's sum)."""
    combine(low, K, weights, count, h, lost)
    for i in range(x.shape[0]):
        rise = lost[i]
        out[i] = x[i] + rise
        lost[i] = rise - (out[i] - x[i]) if abs(x[i]) >= abs(rise) else x[i] - (out[i] - rise)


@kernel(inline=True)
def keep_low(links, x, moved, projected, low):
    """Add to low what rounding took from the projection that brought x to `projected`.

    Joints of several axes do not move by plain sums: theirs is not kept.
    """
    nv = moved.shape[0] // 2
    nq = x.shape[0] - nv - 2
    for i in range(links.shape[0]):
        if links[i].kind not in (PLANAR, SPHERICAL, FREE):
            for k in range(links[i].nv):
                j = links[i].iq + k
                low[j] += moved[links[i].iv + k] - (projected[j] - x[j])
    for k in range(nv):
        low[nq + k] += moved[nv + k] - (projected[nq + k] - x[nq + k])


@kernel
def project(model, x, opt, w, energy, moved):
    """Bring x onto the closed loops, in place; returns the residual left, metres, or < 0.

    moved (2 nv) gets by how much: displacements, then changes of the velocity.
    """
    nv = model.damping.shape[0]
    nq = x.shape[0] - nv - 2
    normalize(model.links, x[:nq])
    left = close_loops(model, x[:nq], w, opt.tolerance, opt.cap, opt.euclidean, opt.accuracy, moved[:nv])
    if left < 0.0:
        return left
    rank = update_position(model, x[:nq], w, opt.tolerance, opt.cap)
    if rank == FAILED:
        return -1.0
    if opt.euclidean:
        rank = euclidean_split(model, w, opt.tolerance, opt.cap)
    velocity_correction(model.scale, w, rank, x[nq : nq + nv], moved[nv:])
    for k in range(nv):
        x[nq + k] += moved[nv + k]
    if opt.energy:
        kinetic = kinetic_energy(w.M, x[nq : nq + nv])
        wanted = energy + x[nq + nv] - x[nq + nv + 1] - potential_energy(model, x[:nq], w.R, w.p)
        # near rest the velocity has no direction to scale
        if kinetic > 1e-9 * abs(energy) and wanted > 0.25 * kinetic and wanted < 4.0 * kinetic:
            factor = np.sqrt(wanted / kinetic)
            for k in range(nv):
                x[nq + k] *= factor
    return left


@kernel
def closeness(pivots, opt):
    """Smallest over largest constraint gradient among those that are independent nearby: 0 at a singular pose.

    A single row is compared with `opt.reference`, since it has no other.
    """
    if opt.cap == 0:
        return 1.0
    largest = pivots[0] if opt.cap > 1 else opt.reference
    return pivots[opt.cap - 1] / largest if largest > 0.0 else 0.0


@kernel
def hermite(times, values, rates, count, t, out):
    """Polynomial through `count` nodes with given values and rates (Hermite, divided differences) at time t."""
    z = np.empty(2 * count)
    c = np.empty(2 * count)
    for j in range(count):
        z[2 * j] = times[j]
        z[2 * j + 1] = times[j]
    for i in range(out.shape[0]):
        for j in range(count):
            c[2 * j] = values[j, i]
            c[2 * j + 1] = values[j, i]
        for order in range(1, 2 * count):
            for j in range(2 * count - 1, order - 1, -1):
                if order == 1 and j % 2 == 1:
                    c[j] = rates[j // 2, i]
                else:
                    c[j] = (c[j] - c[j - 1]) / (z[j] - z[j - order])
        y = c[2 * count - 1]
        for j in range(2 * count - 2, -1, -1):
            y = y * (t - z[j]) + c[j]
        out[i] = y


@kernel
def closeness_at(model, x0, F, s, opt, w, y):
    """Closeness at the fraction s of a step; y, and the positions of w, are those there."""
    interpolate(x0, F, s, y)
    update_position(model, y[: y.shape[0] - model.damping.shape[0] - 2], w, 0.0, opt.cap)
    return closeness(w.pivots, opt)


@kernel
def nearest_approach(model, x0, F, low, high, opt, w, y):
    """Fraction of a step, between low and high, at which its motion is nearest to a singular pose.

    The motion is that of the dense coefficients F; beyond 1 it is continued. Where it comes nearer than half the
    closeness at `low`, the place is refined, and y and the positions of w are those of it. Returns the fraction and
    the closeness there.
    """
    s, near = low, closeness_at(model, x0, F, low, opt, w, y)
    most = 0.5 * near
    part = (high - low) / LOOKS
    for k in range(1, LOOKS + 1):
        c = closeness_at(model, x0, F, low + k * part, opt, w, y)
        if c < near:
            s, near = low + k * part, c
    if near > most:
        return s, near
    # golden section
    g = 0.6180339887498949
    a, d = max(s - part, low), min(s + part, high)
    b, c = d - g * (d - a), a + g * (d - a)
    fb = closeness_at(model, x0, F, b, opt, w, y)
    fc = closeness_at(model, x0, F, c, opt, w, y)
    for _ in range(CUTS):
        if fb < fc:
            d, c, fc = c, b, fb
            b = d - g * (d - a)
            fb = closeness_at(model, x0, F, b, opt, w, y)
        else:
            a, b, fb = b, c, fc
            c = a + g * (d - a)
            fc = closeness_at(model, x0, F, c, opt, w, y)
    s = 0.5 * (a + d)
    return s, closeness_at(model, x0, F, s, opt, w, y)


@kernel(inline=True)
def passage(model, x, F, last, reach, now, before, opt, w, y):
    """Time left to a singular pose ahead; infinite where none is within reach.

    x, F and `last` are the last step, whose motion is continued; `now` and `before` are the closeness at its end and
    at its start. The closeness has kinks where another row becomes the smallest, so a slow fall may end soon.
    """
    if not (now < before and now * last < 8.0 * (before - now) * reach):
        return np.inf
    high = 1.0 + min(reach / last, 8.0)
    s, near = nearest_approach(model, x, F, 1.0, high, opt, w, y)
    return (s - 1.0) * last if near < 0.5 * now and s < high - 1e-3 else np.inf


@kernel(inline=True)
def passed(model, x, F, fraction, opt, w, y):
    """Whether a step has gone through a singular pose near a fraction of it: a near miss leaves the loops open."""
    low, high = max(fraction - 0.3, 0.0), min(fraction + 0.3, 1.0)
    _, near = nearest_approach(model, x, F, low, high, opt, w, y)
    return near <= opt.pass_within and largest(model, w.phi) <= opt.pass_within**2 * model.size


@kernel
def widest_gap(tableau):
    """Fraction of a step that is farthest from all of its stages."""
    c = np.sort(np.concatenate((tableau.c, tableau.c_extra)))
    widest, middle = 0.0, 0.5
    for i in range(1, c.shape[0]):
        if c[i] - c[i - 1] > widest:
            widest, middle = c[i] - c[i - 1], 0.5 * (c[i] + c[i - 1])
    return middle


@kernel
def plan(ahead, gap, h, now, room):
    """Length of the next step where a singular pose is `ahead`, and whether it goes across; h is what accuracy allows.

    A step goes across where the pose falls into the widest gap between its stages, at the fraction `gap`, so that none
    of them is near it. Else it leads to where the next one can do that at full length. `room` is the time to the end;
    where it comes soon after the pose, a step across may lead there.
    """
    beyond = room - ahead
    if not beyond > 0.0 or now < CROSS_FROM:
        return h, False
    if beyond < 0.1 * ahead:
        if room <= h:
            return room, True
    elif ahead / gap > room:
        return min(h, ahead - gap / (1.0 - gap) * beyond), False
    elif ahead / gap <= 1.1 * h:
        return min(ahead / gap, h), True
    return min(h, max(ahead - gap * h, 0.3 * ahead)) if now > END_OF_APPROACH else h, False


@kernel
def settled(error, before, unit, step, acceleration, nearest, within):
    """Whether a step across a singular pose is as good as it can be, though its error is above the tolerance.

    `error`, and `before` that of the last try from farther away, are measured in `unit`; `nearest` is the least
    closeness of a stage. Rounding opens the loops at a stage; closing them again moves it by eps / closeness. That
    turns the constraint forces by as much over the distance to the pose, which goes with the closeness, too. And a
    motion that misses the pose by less than can be told apart, `within`, is not smooth there: a shorter step is no
    better, and none is better than one that goes straight on.
    """
    rounding = error * unit < 2e-15 * step * acceleration / nearest**2
    return error * unit < 0.1 * within and (rounding or error > 0.1 * before)


@kernel
def blurred(error, nearest, speed):
    """Whether the error of a step is what rounding makes of it beside a singular pose.

    Closing the loops there moves a stage by rounding over the closeness, `nearest` at best. A shorter step does not get
    below that, where the motion misses the pose and swings round it.
    """
    return error < 4e-15 / nearest * max(1.0, speed)


@kernel
def doubt(times, values, rates, count, t, nq, y):
    """y = continued state at time t; returns how much its positions change without the oldest node."""
    lower = np.empty(y.shape[0])
    hermite(times, values, rates, count, t, y)
    hermite(times, values, rates, count - 1, t, lower)
    worst = 0.0
    for i in range(nq):
        worst = max(worst, abs(y[i] - lower[i]) / (1.0 + abs(y[i])))
    return worst


@kernel(inline=True)
def leap_nodes(T, X, F, n, rate, window, times, values, rates):
    """Up to four past states, spread over a window, newest first; returns how many."""
    count = 1
    times[0] = T[n]
    values[0] = X[n]
    rates[0] = rate
    j = n
    for k in range(1, times.shape[0]):
        target = T[n] - k * window / (times.shape[0] - 1)
        while j > 0 and T[j] > target:
            j -= 1
        if T[j] < times[count - 1]:
            h = T[j + 1] - T[j]
            times[count] = T[j]
            values[count] = X[j]
            for i in range(rate.shape[0]):
                rates[count, i] = (F[j, 0, i] + F[j, 1, i]) / h
            count += 1
        if j == 0:
            break
    return count


@kernel(inline=True)
def nearest_along(model, times, values, rates, count, a, d, opt, w, y):
    """Time between a and d at which the continued motion is nearest to a singular pose (golden section).

    Returns the time and the closeness there; y, and the positions of w, are those of that time.
    """
    nq = y.shape[0] - model.damping.shape[0] - 2
    g = 0.6180339887498949
    b, c = d - g * (d - a), a + g * (d - a)
    fb = fc = -1.0
    for _ in range(LEAP_LOOKS):
        if fb < 0.0:
            hermite(times, values, rates, count, b, y)
            update_position(model, y[:nq], w, 0.0, opt.cap)
            fb = closeness(w.pivots, opt)
        if fc < 0.0:
            hermite(times, values, rates, count, c, y)
            update_position(model, y[:nq], w, 0.0, opt.cap)
            fc = closeness(w.pivots, opt)
        if fb < fc:
            d, c, fc = c, b, fb
            b, fb = d - g * (d - a), -1.0
        else:
            a, b, fb = b, c, fc
            c, fc = a + g * (d - a), -1.0
    t = 0.5 * (a + d)
    hermite(times, values, rates, count, t, y)
    update_position(model, y[:nq], w, 0.0, opt.cap)
    return t, closeness(w.pivots, opt)


@kernel(inline=True)
def energy_balance(model, x, opt, w):
    """Kinetic and potential energy less the work that was put in: constant along exact motion."""
    nv = model.damping.shape[0]
    nq = x.shape[0] - nv - 2
    update_position(model, x[:nq], w, opt.tolerance, opt.cap)
    return (
        kinetic_energy(w.M, x[nq : nq + nv]) + potential_energy(model, x[:nq], w.R, w.p) - x[nq + nv] + x[nq + nv + 1]
    )


@kernel(inline=True)
def leap(model, T, X, F, pivots, n, rate, opt, w, y, times, values, rates):
    """Look ahead for a singular pose; y = state as far beyond it as it is ahead.

    The constraint forces near a singular pose divide errors by the distance to it, so stepping
    into its neighbourhood only collects noise, while the motion itself is smooth. Where the
    continued motion passes within `opt.pass_within` of the pose, and the continuation is as
    accurate as a step, the neighbourhood is leapt over. Returns the landing time, or a negative
    number where there is no reason to leap; the number of nodes of the polynomial, which times,
    values and rates keep; and how many poses were looked at.
    """
    now, before = closeness(pivots[n], opt), closeness(pivots[n - 1], opt)
    if not (now < 0.1 and now < before):
        return -1.0, 0, 0
    nv = model.damping.shape[0]
    nq = y.shape[0] - nv - 2
    # linear in time where the pose is passed, quadratic where it is touched at rest
    ahead = now / (before - now) * (T[n] - T[n - 1])
    low, high = T[n], T[n] + 4.0 * ahead
    passing, near, count, looks = T[n], 1.0, 0, 0
    for _ in range(2):
        count = leap_nodes(T, X, F, n, rate, 8.0 * ahead, times, values, rates)
        if count < 3:
            return -1.0, 0, looks
        # look for the pose only where the continuation is accurate that far
        if doubt(times, values, rates, count, T[n] + 2.0 * ahead, nq, y) > max(1e3 * opt.rtol, LEAP_ERROR):
            return -1.0, 0, looks
        looks += LEAP_LOOKS + 2
        passing, near = nearest_along(model, times, values, rates, count, low, high, opt, w, y)
        if not (passing < high - 1e-6 * ahead and near < 0.5 * now):
            return -1.0, 0, looks
        ahead = passing - T[n]
        low, high = T[n] + 0.5 * ahead, T[n] + 1.5 * ahead
    # at a true crossing the loops close to second order; a near miss would leave a gap here
    if near > opt.pass_within or largest(model, w.phi) > opt.pass_within**2 * model.size:
        return -1.0, 0, looks
    landing = passing + ahead
    if doubt(times, values, rates, count, landing, nq, y) > max(1e3 * opt.rtol, LEAP_ERROR):
        return -1.0, 0, looks
    # the energy balance judges the velocities; forces over a radian or a metre set its scale
    scale = 0.0
    for k in range(nv):
        scale += abs(w.h[k])
    before_leap = energy_balance(model, values[0], opt, w)
    scale += kinetic_energy(w.M, values[0, nq : nq + nv])
    if abs(energy_balance(model, y, opt, w) - before_leap) > LEAP_ERROR * scale:
        return -1.0, 0, looks
    return landing, count, looks + 2


@kernel(inline=True)
def leave(model, x, u, opt, w, energy, rate, y):
    """From an exactly singular pose x to y, a little later on the manifold; returns the time taken.

    The rows that are lost here bind again at second order. The motion that loses the fewest
    constraint forces (Gauss) is the point of the manifold nearest, in the metric of M, to where
    the remaining rows would let the machine go; it also fixes the rate at the start.
    Returns 0 where no such motion is found.
    """
    nx, nv = x.shape[0], model.damping.shape[0]
    nq = nx - nv - 2
    derivative(model, x, u, opt, w, True, rate)
    f = np.empty(nv)
    generalized_force(model, u, w, f)
    v = x[nq : nq + nv].copy()
    step = np.empty(nv)
    moved = np.empty(nv)
    at_rest = True
    for k in range(nv):
        at_rest = at_rest and v[k] == 0.0
    # Newton along a direction d of the cone: (d'Md) s'' = d'(f - h)
    M = w.M.copy()
    force = f - w.h
    fastest, quickest = 1e-300, 1e-300
    for k in range(nv):
        fastest = max(fastest, abs(v[k]))
        quickest = max(quickest, abs(rate[nq + k]))
    start = rate.copy()
    t = min(1e-6 / fastest, np.sqrt(2e-6 / quickest))  # far enough for the direction to stand above rounding
    for _ in range(20):
        rate[:] = start
        for _ in range(6 if at_rest else 1):
            for k in range(nv):
                step[k] = v[k] * t + 0.5 * rate[nq + k] * t * t
            y[:] = x
            retract(model.links, x[:nq], step, y[:nq])
            left = close_loops(model, y[:nq], w, opt.tolerance, opt.cap, opt.euclidean, opt.accuracy, moved)
            local_difference(model.links, x[:nq], y[:nq], step)
            if at_rest:
                along, inertia = 0.0, 2.0 * kinetic_energy(M, step)
                for k in range(nv):
                    along += step[k] * force[k]
                if not (along > 0.0 and inertia > 0.0):
                    return 0.0
                for k in range(nv):
                    rate[nq + k] = step[k] * along / inertia
        if 0.0 <= left <= 1e-12 * model.size:
            rank = update_position(model, y[:nq], w, opt.tolerance, opt.cap)
            if rank == opt.cap and closeness(w.pivots, opt) > 1e-6:
                for k in range(nv):
                    y[nq + k] = 2.0 * step[k] / t - v[k]
                    y[nq + nv] += f[k] * step[k]
                project_velocity(model.scale, w, rank, y[nq : nq + nv])
                wanted = energy + y[nq + nv] - y[nq + nv + 1] - potential_energy(model, y[:nq], w.R, w.p)
                kinetic = kinetic_energy(w.M, y[nq : nq + nv])
                if kinetic > 0.0 and wanted > 0.9 * kinetic and wanted < 1.1 * kinetic:
                    for k in range(nv):
                        y[nq + k] *= np.sqrt(wanted / kinetic)
                return t
        t *= 1.5
    return 0.0


@kernel
def record_step(x0, x1, rate0, rate1, step, F):
    """Dense coefficients of a step known by its ends only (cubic Hermite)."""
    for i in range(x0.shape[0]):
        d = x1[i] - x0[i]
        F[0, i] = d
        F[1, i] = step * rate0[i] - d
        F[2, i] = 2.0 * d - step * (rate1[i] + rate0[i])
        for k in range(3, F.shape[0]):
            F[k, i] = 0.0


@kernel(inline=True)
def refine_step(times, values, rates, count, t, step, x0, F):
    """Dense output of a step known at several nodes: from the cubic of its ends to the polynomial through all.

    The two differ by s^2 (1-s)^2 g(s); g, a cubic, is read off at s = 1/5 .. 4/5, and written as
    F3 + s (F4 + (1-s) (F5 + s F6)).
    """
    nx = x0.shape[0]
    g = np.empty((4, nx))
    cubic, y = np.empty(nx), np.empty(nx)
    for j in range(4):
        s = 0.2 * (j + 1)
        hermite(times, values, rates, count, t + s * step, y)
        interpolate(x0, F, s, cubic)
        for i in range(nx):
            g[j, i] = (y[i] - cubic[i]) / (s * (1.0 - s)) ** 2
    for i in range(nx):
        at_0 = 4.0 * g[0, i] - 6.0 * g[1, i] + 4.0 * g[2, i] - g[3, i]
        at_1 = 4.0 * g[3, i] - 6.0 * g[2, i] + 4.0 * g[1, i] - g[0, i]
        F[3, i] = at_0
        F[4, i] = at_1 - at_0
        e1 = (g[1, i] - at_0 - 0.4 * F[4, i]) / 0.24  # what is left at s = 2/5 and 3/5
        e2 = (g[2, i] - at_0 - 0.6 * F[4, i]) / 0.24
        F[6, i] = (e2 - e1) / 0.2
        F[5, i] = e1 - 0.4 * F[6, i]


@kernel(inline=True)
def turning_limit(model, A, v):
    """Step in which no coordinate of the loops moves by more than a radian or a size of the machine.

    Where the motion is simple, such as uniform rotation, the error control would allow steps of many turns, and
    singular poses in them would go unseen.
    """
    fastest = 0.0
    for k in range(v.shape[0]):
        rate = abs(v[k]) * model.reach[k] / model.size
        if rate > fastest:
            for i in range(A.shape[0]):
                if A[i, k] != 0.0:
                    fastest = rate
                    break
    return 1.0 / fastest if fastest > 0.0 else np.inf


@kernel
def advance(model, tableau, opt, w, t, x, u, t_end, h, energy, max_tries, T, X, F, pivots, ranks, pause):
    """Step from t to t_end with constant u, until the record is full, or until so many steps have been tried.

    T (n+1,), X (n+1, nx), F (n, 7, nx), pivots (n+1, rows) and ranks (n+1,) are the record, its
    first entry being the start. Returns the number of steps in it, the next step size, evaluations,
    rejected steps and a status. After so many tries it is called again with what it was called with, but for h,
    and goes on.
    """
    nx = x.shape[0]
    nv = model.damping.shape[0]
    nq = nx - nv - 2
    stages = tableau.b.shape[0]
    extra = tableau.c_extra.shape[0]
    adaptive = tableau.E5.shape[0] > 0
    K, low, marks = pause.K, pause.low, pause.marks
    y, lower = np.empty(nx), np.empty(nx)
    moved = np.empty(2 * nv)
    watching = adaptive and opt.stabilisation == PROJECT and opt.pass_within > 0.0
    gap = widest_gap(tableau)
    share = step_share(tableau, opt.rtol, opt.atol)
    unit = share * max(opt.rtol, opt.atol)
    times, values, rates = np.empty(5), np.empty((5, nx)), np.empty((5, nx))
    capacity = F.shape[0]
    n, evaluations, rejections, tries = int(marks[0]), 0, 0, 0
    rejected, across = marks[1] > 0.0, marks[2]
    status = RUNNING
    if n >= 0:
        t = T[n]
    else:
        n, rejected, across = 0, False, np.inf
        low[:] = 0.0
        marks[0] = -1.0
        ranks[0] = derivative(model, x, u, opt, w, True, K[0])
        evaluations += 1
        T[0] = t
        X[0] = x
        pivots[0] = w.pivots
        if ranks[0] == FAILED:
            return n, h, evaluations, rejections, MASS_MATRIX
        if opt.stabilisation == PROJECT and adaptive and ranks[0] < opt.cap and opt.pass_within > 0.0:
            step = leave(model, x, u, opt, w, energy, K[0], X[1])
            if 0.0 < step < t_end - t:
                ranks[1] = derivative(model, X[1], u, opt, w, True, K[stages])
                pivots[1] = w.pivots
                record_step(x, X[1], K[0], K[stages], step, F[0])
                t += step
                T[1] = t
                n = 1
                h = step
                K[0] = K[stages]
    while n < capacity and tries < max_tries:
        if t >= t_end:
            status = COMPLETED
            break
        tries += 1
        now = closeness(pivots[n], opt)
        before = closeness(pivots[n - 1], opt) if n > 0 else now
        if not (watching and now < NEAR and now < before):
            h = min(h, opt.max_step)
        if watching:
            h = min(h, turning_limit(model, w.A, X[n, nq : nq + nv]))
        crossing, wanted, ahead = False, h, np.inf
        if watching and n > 0:
            ahead = passage(model, X[n - 1], F[n - 1], T[n] - T[n - 1], 1.5 * h, now, before, opt, w, y)
            wanted, crossing = plan(ahead, gap, h, now, t_end - t)
        if watching and n > 1 and not rejected and now < CROSS_FROM:
            landing, count, _ = leap(model, T, X, F, pivots, n, K[0], opt, w, y, times, values, rates)
            if landing > t and landing < t_end:
                step = landing - t
                X[n + 1] = y
                project(model, X[n + 1], opt, w, energy, moved)
                ranks[n + 1] = derivative(model, X[n + 1], u, opt, w, False, K[stages])
                evaluations += 1
                pivots[n + 1] = w.pivots
                record_step(X[n], X[n + 1], K[0], K[stages], step, F[n])
                refine_step(times, values, rates, count, t, step, X[n], F[n])
                t = landing
                n += 1
                T[n] = t
                K[0] = K[stages]
                low[:] = 0.0
                h = step
                continue
            if now < before:  # so that a leap has nodes
                h = min(h, 0.5 * now / (before - now) * (T[n] - T[n - 1]))
                wanted = min(wanted, h)
        closing = crossing or now > CROSS_FROM
        last = t + wanted * (1.0 + 1e-9) >= t_end
        step = t_end - t if last else wanted
        if step < 4e-16 * max(abs(t), 1e-3 * t_end):
            status = STEP_TOO_SMALL
            break
        x = X[n]
        failed, nearest = False, 1.0
        for i in range(1, stages):
            step_from(x, low, K, tableau.A[i], i, step, y, lower)
            if derivative(model, y, u, opt, w, closing, K[i]) == FAILED:
                failed = True
                break
            nearest = min(nearest, closeness(w.pivots, opt))
        evaluations += stages - 1
        step_from(x, low, K, tableau.b, stages, step, y, lower)
        finite = not failed
        for i in range(nx):
            finite = finite and abs(y[i]) < HUGE
        if not finite:
            if not adaptive:
                status = MASS_MATRIX if failed else NOT_FINITE
                break
            rejections += 1
            rejected = True
            h = 0.1 * step
            if h < 1e-14 * max(abs(t_end), 1e-3):
                status = MASS_MATRIX if failed else NOT_FINITE
                break
            continue
        left = 0.0
        X[n + 1] = y
        if opt.stabilisation == PROJECT:
            left = project(model, X[n + 1], opt, w, energy, moved)
            if opt.energy:
                lower[:] = 0.0
            else:
                keep_low(model.links, y, moved, X[n + 1], lower)
        rank = derivative(model, X[n + 1], u, opt, w, closing, K[stages])
        evaluations += 1
        if adaptive:
            error = error_norm(K, tableau, x, y, nq + nv, step, opt.rtol, opt.atol)
            if not closing:
                error *= share  # rounding: no more than was asked for
            if opt.stabilisation == PROJECT:
                # what the projection had to undo is an error of the step, too
                shift = 0.0
                for k in range(nv):
                    shift += (moved[k] / (opt.atol + opt.rtol * step * abs(X[n + 1, nq + k]))) ** 2
                error = max(error, 0.1 * np.sqrt(shift / nv))
            if not left <= OPEN * model.size or rank == FAILED:
                error = np.inf
            longest, h = h, next_step(step, error, rejected, tableau.order)
            good = error < 1.0 or blurred(error * unit, nearest, np.abs(X[n + 1, nq : nq + nv]).max())
            if crossing and not good:
                fastest = np.abs(K[0, nq : nq + nv]).max()
                good = settled(error, across, unit, step, fastest, nearest, opt.pass_within)
                across = error
            if not good or not np.isfinite(error):
                rejections += 1
                rejected = True
                if h < 4e-16 * max(abs(t), 1e-3 * t_end):
                    status = PROJECTION if not left <= OPEN * model.size else STEP_TOO_SMALL
                    break
                continue
            rejected = False
            if wanted < longest and not last:
                h = max(h, longest)  # the error control had no say
            across = np.inf if crossing else across
        elif not left <= OPEN_FIXED * model.size or rank == FAILED:
            status = PROJECTION if rank != FAILED else MASS_MATRIX
            break
        # the record of the step; pivots belong to the derivative just taken
        pivots[n + 1] = w.pivots
        ranks[n + 1] = rank
        for i in range(extra):
            combine(x, K, tableau.A_extra[i], stages + 1 + i, step, y)
            derivative(model, y, u, opt, w, closing, K[stages + 1 + i])
        evaluations += extra
        dense_coefficients(K, tableau, x, X[n + 1], step, F[n])
        if crossing and not passed(model, x, F[n], ahead / step, opt, w, y):
            rejections += 1
            rejected = True
            h = 0.5 * step
            continue
        low[:] = lower
        t = t_end if last else t + step
        n += 1
        T[n] = t
        K[0] = K[stages]
    if status == RUNNING and t >= t_end:
        status = COMPLETED
    marks[0] = float(n) if status == RUNNING and n < capacity else -1.0
    marks[1] = 1.0 if rejected else 0.0
    marks[2] = across
    return n, h, evaluations, rejections, status

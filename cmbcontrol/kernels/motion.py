"""Rate of the state as a run integrates it, and projection of the state onto the closed loops.

The state is ``x = [q, v, works, c]``: the integrals, see `layout.WORKS`, give the energy balance, c
are the states of a control law in continuous time or of a drive. What is not compiled is called through an
address: functions of a plant, laws, formulations. Requests and answers go through the arrays of `Exchange`; see
`sim.engine`, which answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, call, kernel
from .arrays import copy
from .constrained import (
    FAILED,
    close_loops,
    close_step,
    euclidean_split,
    generalized_force,
    mass_split,
    project_velocity,
    solve_motion,
    update_position,
    update_velocity,
    velocity_correction,
)
from .forces import dissipated_power, drive_matrix, kinetic_energy, load_power, potential_energy
from .generated import HUGE, LANDED, LAST, RunCode, closed, closeness_by_code, rate_by_code, take_rate
from .layout import DISSIPATED, FREE, LOADS, MOTIONS, MOTORS, PLANAR, SPHERICAL, WORKS
from .tree import local_difference, normalize, position_rates

__all__ = [
    "Exchange",
    "Options",
    "added_energy",
    "baumgarte",
    "closeness",
    "closeness_at",
    "complete",
    "energy_balance",
    "evaluate",
    "glance",
    "hold_baumgarte",
    "keep_low",
    "motion_power",
    "project",
    "rate",
    "rate_evaluated",
    "rate_projected",
    "step_gains",
]

PROJECT, BAUMGARTE, NONE = range(3)

# What is asked for.
TERMS, PIVOTS, CLOSE, EFFORT, ACCELERATION, SAMPLE, STEPPED, ATTEMPT, SIGNALS, TIMED = range(10)

# Answers, and ranks that are none (FAILED is -1): it cannot be evaluated here; a law or a formulation has failed, which
# a shorter step may not meet; the run is to stop at once; friction leaves no acceleration here.
REFUSED, RAISED, STOPPED, PARADOX = -2, -3, -4, -5


@bundle
class Options(NamedTuple):
    """Settings of a run: tolerances, stabilisation, and what the kernels call for in Python."""

    rtol: float
    atol: float
    max_step: float
    max_steps: int
    t_end: float
    tolerance: float  # of the rank
    cap: int  # largest rank the loops can have on the manifold
    reference: float  # size of a regular constraint gradient, in the metric of M
    accuracy: float  # loops count as closed below this, metres
    pass_within: float  # motion that comes this near to a singular configuration goes through it; 0 knows no passages
    stabilisation: int = PROJECT  # PROJECT, BAUMGARTE or NONE
    every: int = 1  # steps from one projection to the next
    euclidean: bool = False  # metric of the projection
    energy: bool = False  # project onto the energy balance too
    alpha: float = 0.0  # Baumgarte: phi'' + 2 alpha phi' + beta^2 phi = 0
    beta: float = 0.0
    held_gains: bool = False  # his gains follow from the step, and his terms are held during it
    # what is asked for, where; `sim.engine` fills these in
    nq: int = 0
    nv: int = 0
    ask: int = 0  # address of the function that is asked
    functions: bool = False  # for the equations of motion
    law: bool = False  # for the efforts, at every evaluation; else they are held
    formulated: bool = False  # for the acceleration
    projected: bool = False  # for projections
    notify: bool = False  # after each step that counts
    watched: bool = False  # after those in which a function of `watch` may cross zero
    ladder: bool = False  # the method is chosen for each held interval
    outside: bool = False  # for steps: another method takes them
    no_law: bool = False  # efforts are held that come from outside
    work_scale: float = 0.0  # J, of the works, where steps are to be right for them, too
    timed: bool = False  # numbers of the machine follow functions of time


@bundle
class Exchange(NamedTuple):
    """Arrays through which the compiled time loop and Python exchange the state of a run."""

    q: np.ndarray  # (nq,) where the equations of motion are evaluated
    v: np.ndarray  # (nv,)
    x: np.ndarray  # (nx,) the state that goes with them; of a projection, the state to be projected
    u: np.ndarray  # (nu,) efforts at the joints
    rate: np.ndarray  # (nc,) rate of the states c
    force: np.ndarray  # (nv,) B u
    target: np.ndarray  # (rows,) what A dv/dt is to be
    held: np.ndarray  # (rows,) Baumgarte's terms, where they are held during a step
    vdot: np.ndarray  # (nv,) acceleration of a formulation
    moved: np.ndarray  # (2 nv,) how far a projection has moved the state: displacement, change of velocity
    potential: np.ndarray  # (1,) potential energy
    closing: np.ndarray  # (1,) whether s.q is to be brought to the closed loops
    evaluations: np.ndarray  # (1,) of the rate
    rank: np.ndarray  # (1,) of A, at the last evaluation
    near: np.ndarray  # (1,) closeness to a singular configuration, at the last evaluation of the rate; that of code
    looped: np.ndarray  # (nv,) whether a row depends on a coordinate
    code: RunCode  # which does for the kernels where it can


@kernel
def at_time(opt, t):
    """Set the numbers of the machine that follow functions of time to time t; returns zero or a negative error code."""
    return call(opt.ask, TIMED, t) if opt.timed else 0


@kernel
def stages_on_loops(opt):
    """Whether stages are evaluated at projected velocities (docs/decisions/rank.md): where every step is projected."""
    return opt.stabilisation == PROJECT and opt.every == 1 and not opt.projected


@kernel
def evaluate(model, opt, s, w, t, x, closing):
    """Evaluate M, A, b, h and the split at a state, in s.q and s.v; returns the rank, or a negative error code.

    Where `stages_on_loops` holds, the velocity is projected onto the loops first. With `closing`, the configuration,
    too, is moved to the nearest one with closed loops.
    """
    nq, nv = opt.nq, opt.nv
    s.evaluations[0] += 1
    s.code.count[LAST], s.code.count[LANDED] = 0, 0
    copy(x, s.x)
    rank = at_time(opt, t)
    for i in range(x.shape[0]):
        if not abs(x[i]) < HUGE:
            rank = REFUSED
    copy(x[:nq], s.q)
    copy(x[nq : nq + nv], s.v)
    if rank == 0:
        if opt.functions:
            s.closing[0] = closing
            rank = call(opt.ask, TERMS, t)
            if rank == 0:
                rank = mass_split(
                    w.M, w.A, model.scale, model.unit_lengths, 1.0, opt.tolerance, opt.cap, w.root, w.rows
                )
        else:
            onto = stages_on_loops(opt)
            if onto and closing and model.rows.shape[0] > 0:
                close_step(model, x[:nq], opt.tolerance, opt.cap, 8.0 * opt.accuracy, w, s.q)
            rank = update_position(model, s.q, w, opt.tolerance, opt.cap)
            if rank != FAILED:
                if onto:
                    # The stage need not lie on the manifold. Its velocity across the loops is an error of the
                    # method, which the acceleration would divide by the distance to a singular configuration.
                    project_velocity(model, w, rank, s.v)
                update_velocity(model, s.q, s.v, w)
    s.rank[0] = rank
    s.near[0] = closeness(w.rows.pivots, opt)
    return rank


@kernel
def rate(model, opt, s, w, t, x, closing, dx):
    """dx = rate of the state; returns the rank, or a negative number where there is no rate."""
    if s.code.rate != 0 and rate_by_code(s.code, opt.ask, TIMED, t, x, s.u, s.rate, closing, dx):
        s.evaluations[0] += 1
        return opt.cap
    return rate_by_kernels(model, opt, s, w, t, x, closing, dx)


@kernel
def rate_by_kernels(model, opt, s, w, t, x, closing, dx):
    """dx = rate of the state by the kernels, where generated code cannot compute it; returns as `rate`."""
    rank = evaluate(model, opt, s, w, t, x, closing)
    if rank >= 0:
        rank = rate_evaluated(model, opt, s, w, t, rank, dx)
    return rank


@kernel
def rate_projected(model, opt, s, w, t, x, closing, dx):
    """dx = rate right after `project` has brought x onto the loops, from its positions and split, which are at hand."""
    if s.code.count[LANDED] == 1:
        s.evaluations[0] += 1
        take_rate(s.code, s.rate, dx)
        return opt.cap
    if opt.functions or opt.projected or opt.euclidean:
        return rate(model, opt, s, w, t, x, closing, dx)
    s.evaluations[0] += 1
    s.code.count[LAST] = 0
    s.near[0] = closeness(w.rows.pivots, opt)
    copy(x, s.x)
    copy(x[: opt.nq], s.q)
    copy(x[opt.nq : opt.nq + opt.nv], s.v)
    status = at_time(opt, t)
    if status != 0:
        return status
    update_velocity(model, s.q, s.v, w)
    return rate_evaluated(model, opt, s, w, t, s.rank[0], dx)


@kernel
def complete(model, opt, s, w):
    """Compute B and the potential energy, which laws and formulations get with all other terms."""
    if not opt.functions:
        drive_matrix(model, w.R, w.p, w.S, w.B, w.z)
        s.potential[0] = potential_energy(model, s.q, w.R, w.p)


@kernel
def rate_evaluated(model, opt, s, w, t, rank, dx):
    """dx = rate of a state at which `evaluate` has run; returns the rank, or a negative error code."""
    nq, nv = opt.nq, opt.nv
    if opt.law or opt.formulated:
        complete(model, opt, s, w)
    status = call(opt.ask, EFFORT, t) if opt.law else 0
    if status == 0:
        if opt.functions:
            for i in range(nv):
                s.force[i] = 0.0
                for k in range(s.u.shape[0]):
                    s.force[i] += w.B[i, k] * s.u[k]
        else:
            generalized_force(model, s.u, w, s.force)
        for i in range(s.target.shape[0]):
            s.target[i] = -w.b[i]
            if opt.stabilisation == BAUMGARTE:
                s.target[i] += s.held[i] if opt.held_gains else baumgarte(model, w, s.v, i, opt.alpha, opt.beta)
        position_rates(model.links, s.q, s.v, dx[:nq])
        rubbed = 0.0
        if opt.formulated:
            status = call(opt.ask, ACCELERATION, t)
            copy(s.vdot, dx[nq : nq + nv])
        else:
            rubbed = solve_motion(model, s.q, s.v, w, rank, s.force, s.target, dx[nq : nq + nv])
            if np.isnan(rubbed):
                status = PARADOX
        power = 0.0
        for k in range(nv):
            power += s.force[k] * s.v[k]
        works = dx[nq + nv :]
        works[MOTORS] = power
        works[DISSIPATED] = 0.0 if opt.functions else dissipated_power(model, s.q, s.v, w.R, w.p, w.V) + rubbed
        works[LOADS] = load_power(model, w.R, w.p, w.V)
        works[MOTIONS] = motion_power(model, w, s.v, dx[nq : nq + nv], s.force)
        copy(s.rate, works[WORKS:])
    return rank if status == 0 else status


@kernel
def motion_power(model, w, v, vdot, force):
    """Power of prescribed motions, watts: of the constraint forces M dv/dt + h + D' c - B u; no other ones do work."""
    if model.targets.shape[0] == 0:
        return 0.0
    power = 0.0
    for i in range(v.shape[0]):
        s = w.h[i] + w.friction.total[i] - force[i]
        for k in range(v.shape[0]):
            s += w.M[i, k] * vdot[k]
        power += s * v[i]
    return power


@kernel
def added_energy(works):
    """Energy that motors, loads and prescribed motions have added, less the dissipated energy, J."""
    return works[MOTORS] + works[LOADS] + works[MOTIONS] - works[DISSIPATED]


@kernel
def baumgarte(model, w, v, i, alpha, beta):
    """Baumgarte's term -2 alpha phi' - beta^2 phi of row i (Spencer, eq. 3.8; de Falco, eq. 30)."""
    target = model.rows[i].target
    speed = -model.targets[target, 1] if target >= 0 else 0.0
    for k in range(v.shape[0]):
        speed += w.A[i, k] * v[k]
    return -2.0 * alpha * speed - beta * beta * w.phi[i]


@kernel
def step_gains(step):
    """Baumgarte's alpha and beta, 1/s, for terms that are held during a step.

    Terms in 1/h^2 at the stages of a Runge-Kutta step, which are off the loops by O(h^2), would cost all its order.
    Held, they bring (phi, h phi') to ((1 - b/2) phi + h phi'/2, -b phi) by the end of the step with alpha = 1/(2h),
    beta^2 = b/h^2. The double root at b = 6 - 4 sqrt 2 leaves sqrt 2 - 1 of an error a step: beta = (2 - sqrt 2)/h.
    """
    return 0.5 / step, (2.0 - np.sqrt(2.0)) / step


@kernel
def hold_baumgarte(model, s, w, step):
    """Compute Baumgarte's terms at the start of a step, with gains that follow from it; they are held during it."""
    alpha, beta = step_gains(step)
    for i in range(s.held.shape[0]):
        s.held[i] = baumgarte(model, w, s.v, i, alpha, beta)


@kernel
def project(model, opt, s, w, t, x, energy, split_rank):
    """Bring x onto the closed loops, in place; returns the residual left, metres, or a negative number on failure.

    s.moved gets the displacement and the change of velocity. `energy` is the energy that the state should have, less
    work done and energy dissipated. `split_rank` is the rank of the split in w if that is of a configuration nearby,
    and else -1.
    """
    nq, nv = opt.nq, opt.nv
    target = energy + added_energy(x[nq + nv :])
    if opt.functions or opt.projected:
        copy(x, s.x)
        s.potential[0] = target
        status = call(opt.ask, CLOSE, t)
        if status != 0:
            return float(status)
        local_difference(model.links, x[:nq], s.x[:nq], s.moved[:nv])
        for k in range(nv):
            s.moved[nv + k] = s.x[nq + k] - x[nq + k]
        copy(s.x, x)
        return 0.0
    normalize(model.links, x[:nq])
    if s.code.land != 0:
        left = closed(s.code, opt.ask, TIMED, t, x, s.u, s.moved)
        if left >= 0.0:
            return left
    status = at_time(opt, t)
    if status != 0:
        return float(status)
    split_rank = -1 if opt.euclidean else split_rank
    left = close_loops(model, x[:nq], w, opt.tolerance, opt.cap, opt.euclidean, opt.accuracy, split_rank, s.moved[:nv])
    if left < 0.0:
        return left
    rank = update_position(model, x[:nq], w, opt.tolerance, opt.cap)
    if rank == FAILED:
        return -1.0
    if opt.euclidean:
        rank = euclidean_split(model, w, opt.tolerance, opt.cap)
    s.rank[0] = rank
    velocity_correction(model, w, rank, x[nq : nq + nv], s.moved[nv:])
    for k in range(nv):
        x[nq + k] += s.moved[nv + k]
    if opt.energy:
        kinetic = kinetic_energy(w.M, x[nq : nq + nv])
        target -= potential_energy(model, x[:nq], w.R, w.p)
        # near rest the velocity has no direction to scale
        if kinetic > 1e-9 * abs(energy) and target > 0.25 * kinetic and target < 4.0 * kinetic:
            factor = np.sqrt(target / kinetic)
            for k in range(nv):
                x[nq + k] *= factor
    return left


@kernel
def keep_low(links, opt, x, moved, projected, low):
    """Add to `low` what rounding took from the displacement by which a projection brought x to `projected`.

    Joints of several axes do not move by plain sums: their rounding is not kept.
    """
    for i in range(links.shape[0]):
        if links[i].kind not in (PLANAR, SPHERICAL, FREE):
            for k in range(links[i].nv):
                j = links[i].iq + k
                low[j] += moved[links[i].iv + k] - (projected[j] - x[j])
    for k in range(opt.nv):
        low[opt.nq + k] += moved[opt.nv + k] - (projected[opt.nq + k] - x[opt.nq + k])


@kernel
def closeness(pivots, opt):
    """Smallest over largest constraint gradient of `opt.cap` independent rows: 0 at a singular configuration.

    A single row is compared with `opt.reference`, since it has no other.
    """
    if opt.cap == 0:
        return 1.0
    largest = pivots[0] if opt.cap > 1 else opt.reference
    return pivots[opt.cap - 1] / largest if largest > 0.0 else 0.0


@kernel
def closeness_at(model, opt, s, w, t, y):
    """Closeness to a singular configuration at a state, 1 where that fails; w.phi is evaluated, too."""
    if opt.functions:
        copy(y, s.x)
        if call(opt.ask, PIVOTS, t) != 0:
            return 1.0
    else:
        update_position(model, y[: opt.nq], w, 0.0, opt.cap)
    return closeness(w.rows.pivots, opt)


@kernel
def glance(model, opt, s, w, y):
    """Closeness to a singular configuration, for a quick check: by generated code where there is some.

    It is good to the square root of rounding, and does not leave the state in w. Code that keeps only some of
    the rows is not used: it does not know when others would be better.
    """
    whole = s.code.land != 0 and s.code.cap == model.rows.shape[0]
    near = closeness_by_code(s.code, y[: opt.nq]) if whole else -1.0
    return near if near >= 0.0 else closeness_at(model, opt, s, w, 0.0, y)


@kernel
def energy_balance(model, opt, s, w, x):
    """Kinetic and potential energy less the added work, J: constant along exact motion.

    nan for plants given by functions, which need not know their energy.
    """
    nq, nv = opt.nq, opt.nv
    if opt.functions:
        return np.nan
    update_position(model, x[:nq], w, opt.tolerance, opt.cap)
    return kinetic_energy(w.M, x[nq : nq + nv]) + potential_energy(model, x[:nq], w.R, w.p) - added_energy(x[nq + nv :])

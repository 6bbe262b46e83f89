"""Output of a run: states on a grid of times, and the quantities that follow from them."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .arrays import copy
from .constrained import (
    FAILED,
    generalized_force,
    multipliers,
    new_work,
    row_motion,
    solve_motion,
    update_position,
    update_velocity,
)
from .forces import dissipated_power, kinetic_energy, load_power, potential_energy
from .layout import WORKS
from .motion import BAUMGARTE, PROJECT, baumgarte, closeness, motion_power, project
from .runge_kutta import interpolate

__all__ = ["conditioning", "output_quantities", "output_states", "row_rates"]


@kernel(allocates=True)
def conditioning(pivots, opt):
    """Closeness to a singular configuration at each of some states (times,), from the pivots there (times, rows)."""
    near = np.empty(pivots.shape[0])
    for i in range(pivots.shape[0]):
        near[i] = closeness(pivots[i], opt)
    return near


@kernel(allocates=True)
def row_rates(model, X, out):
    """out (times, rows) = rates of all rows at given states (times, nq + nv): A v, less prescribed rates."""
    w, nq = new_work(model), X.shape[1] - model.damping.shape[0]
    for i in range(X.shape[0]):
        row_motion(model, X[i, :nq], X[i, nq:], w, out[i])


@kernel
def output_states(model, opt, s, w, times, T, X, F, out):
    """out (times, nx) = states at given times, from the record of the steps, on the closed loops.

    Returns the number of states that could not be closed.
    """
    n = F.shape[0]
    j, failed = 0, 0
    for i in range(times.shape[0]):
        while j < n - 1 and times[i] > T[j + 1]:
            j += 1
        while j > 0 and times[i] < T[j]:
            j -= 1
        if n == 0 or times[i] == T[j]:
            copy(X[j], out[i])
        elif times[i] == T[j + 1]:
            copy(X[j + 1], out[i])
        else:
            interpolate(X[j], F[j], (times[i] - T[j]) / (T[j + 1] - T[j]), out[i])
            if (
                opt.stabilisation == PROJECT
                and opt.every == 1
                and project(model, opt, s, w, times[i], out[i], 0.0, -1) < 0.0
            ):
                failed += 1
    return failed


@kernel(allocates=True)
def output_quantities(model, opt, X, U, vdot, force, lam, phi, energies, pivots, ranks, A):
    """Compute acceleration, constraint force, multipliers, residuals, energies and powers at given states.

    energies (times, 7): kinetic, potential, power of the actuators, dissipated power, power of the constraint forces
    that is not one of prescribed motions (of v' A' lam), power of the loads, of prescribed motions.
    A (times, rows, nv): the constraint Jacobian, if the array is not empty.
    """
    w = new_work(model)
    nv = model.damping.shape[0]
    nq = X.shape[1] - nv - WORKS
    f = np.empty(nv)
    for i in range(X.shape[0]):
        q = X[i, :nq]
        v = X[i, nq : nq + nv]
        ranks[i] = update_position(model, q, w, opt.tolerance, opt.cap)
        copy(w.rows.pivots, pivots[i])
        copy(w.phi, phi[i])
        for k in range(A.shape[1]):
            for j in range(nv):
                A[i, k, j] = w.A[k, j]
        if ranks[i] == FAILED:
            continue
        update_velocity(model, q, v, w)
        generalized_force(model, U[i], w, f)
        for k in range(w.b.shape[0]):
            w.b[k] = -w.b[k]
            if opt.stabilisation == BAUMGARTE:
                w.b[k] += baumgarte(model, w, v, k, opt.alpha, opt.beta)
        rubbed = solve_motion(model, q, v, w, ranks[i], f, w.b, vdot[i])
        multipliers(model.scale, w.rows, ranks[i], w.z, lam[i])
        energies[i, 0] = kinetic_energy(w.M, v)
        energies[i, 1] = potential_energy(model, q, w.R, w.p)
        energies[i, 2] = 0.0
        energies[i, 4] = 0.0
        for k in range(nv):
            force[i, k] = 0.0
            for r in range(lam.shape[1]):
                force[i, k] += w.A[r, k] * lam[i, r]
            energies[i, 2] += f[k] * v[k]
            energies[i, 4] += force[i, k] * v[k]
        energies[i, 3] = dissipated_power(model, q, v, w.R, w.p, w.V) + rubbed
        energies[i, 5] = load_power(model, w.R, w.p, w.V)
        energies[i, 6] = motion_power(model, w, v, vdot[i], f)
        energies[i, 4] += energies[i, 6]

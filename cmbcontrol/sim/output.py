"""From the steps of a run to its result: output grid, forces, energies, events."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..controllers.protocol import ConstantEffort
from ..kernels import constrained, record, stepping
from ..model.mechanism import Mechanism
from ..model.terms import RANK_TOLERANCE
from .result import Simulation, build_dataset

if TYPE_CHECKING:
    from .simulate import Record, _Run

__all__ = ["assemble_result"]

Array = NDArray[np.float64]

_LOOK = 0.1  # closeness below which the path is searched for singular passages
_EVENT = 1e-3  # closeness below which a passage is logged


def assemble_result(run: _Run, steps: Record, times: Array, settings: dict[str, Any], begin: float) -> Simulation:
    """The labelled result of a run, complete or not."""
    T, X, F, U = steps.arrays()
    times = times[times <= T[-1]] if steps.status else times
    if times.size == 0 or (steps.status and times[-1] < T[-1]):
        times = np.append(times, T[-1])
    states = _states(run, times, T, X, F) if not steps.grid else np.array([steps.grid.get(t, X[-1]) for t in times])
    efforts = _efforts(run, times, states, T, U)
    columns = _quantities(run, states, efforts)
    columns |= _reference(run, times)
    events = _events(run, T, X, F)
    attrs = {
        "plant": run.plant.name,
        "controller": "none" if isinstance(run.law, ConstantEffort) and not run.law.u.any() else type(run.law).__name__,
        "status": int(steps.status),
        "message": steps.status.message,
        "steps": len(F),
        "evaluations": steps.evaluations,
        "rejected_steps": steps.rejections,
        "wall_time_s": clock.perf_counter() - begin,
        "generic_rank": run.options.cap,
        **steps.counts,
        **settings,
    }
    return Simulation(build_dataset(run.plant, times, columns, events, attrs), run.plant)


def _states(run: _Run, times: Array, T: Array, X: Array, F: Array) -> Array:
    """States at the output times; those of a machine are brought onto the loops."""
    if isinstance(run.plant, Mechanism) and X.shape[1] == run.plant.nq + run.plant.nv + 2:
        out = np.empty((times.size, X.shape[1]))
        record.output_states(run.plant.model, run.options, times, T, X, F, out)
        return out
    return _interpreted_states(run, times, T, X, F)


def _interpreted_states(run: _Run, times: Array, T: Array, X: Array, F: Array) -> Array:
    plant, nq, nv = run.plant, run.plant.nq, run.plant.nv
    out = np.empty((times.size, X.shape[1]))
    for i, t in enumerate(times):
        j = int(np.clip(np.searchsorted(T, t) - 1, 0, max(len(F) - 1, 0)))
        if len(F) == 0 or t == T[j]:
            out[i] = X[j]
        elif t == T[j + 1]:
            out[i] = X[j + 1]
        else:
            stepping.interpolate(X[j], F[j], (t - T[j]) / (T[j + 1] - T[j]), out[i])
            if run.options.stabilisation == stepping.PROJECT:
                out[i, :nq] = plant.close(out[i, :nq])
                out[i, nq : nq + nv] = plant.project_velocity(out[i, :nq], out[i, nq : nq + nv])
    return out


def _efforts(run: _Run, times: Array, states: Array, T: Array, U: Array) -> Array:
    """Motor efforts at the output times: held ones of the step, or the law evaluated again."""
    from .simulate import call_law

    plant, nq, nv = run.plant, run.plant.nq, run.plant.nv
    if isinstance(run.law, ConstantEffort):
        return np.tile(run.law.u, (times.size, 1))
    if run.period is not None:
        j = np.clip(np.searchsorted(T, times, side="right") - 1, 0, max(len(U) - 1, 0))
        return U[j] if len(U) else np.zeros((times.size, plant.nu))
    out = np.full((times.size, plant.nu), np.nan)
    for i, (t, x) in enumerate(zip(times, states, strict=True)):
        try:
            out[i] = call_law(
                run.law, float(t), plant.terms(x[:nq], x[nq : nq + nv], float(t)), x[nq + nv + 2 :], plant
            )
        except Exception:  # the law that ended the run may fail here again; the rest is kept
            continue
    return out


def _quantities(run: _Run, X: Array, U: Array) -> dict[str, Array]:
    """Everything that follows from states and efforts."""
    plant, options = run.plant, run.options
    n, nq, nv, rows = len(X), plant.nq, plant.nv, len(plant.row_names)
    vdot, force = np.zeros((n, nv)), np.zeros((n, nv))
    lam, phi, pivots = np.zeros((n, rows)), np.zeros((n, rows)), np.zeros((n, rows))
    energies, ranks = np.zeros((n, 5)), np.zeros(n, np.int64)
    whole = np.ascontiguousarray(X[:, : nq + nv + 2])
    if isinstance(plant, Mechanism):
        record.output_quantities(plant.model, options, whole, U, vdot, force, lam, phi, energies, pivots, ranks)
    else:
        for i, (x, u) in enumerate(zip(X, U, strict=True)):
            terms = plant.terms(x[:nq], x[nq : nq + nv], cap=options.cap)
            f = terms.B @ u
            vdot[i], lam[i], ranks[i] = constrained.gauss_acceleration(
                terms.M, terms.A, terms.row_scale, f - terms.h, -terms.b, RANK_TOLERANCE, options.cap
            )
            phi[i], pivots[i], force[i] = terms.phi, terms.pivots, terms.A.T @ lam[i]
            v = terms.v
            energies[i] = terms.kinetic, terms.potential, v @ f, 0.0, v @ force[i]
    if rows and options.cap < rows:
        lam = _smallest_multipliers(plant, X[:, :nq], force, options.cap)
    loops = list(plant.row_slices.values())
    drift = np.abs(phi) * plant.row_scale
    columns = {
        "q": X[:, :nq],
        "v": X[:, nq : nq + nv],
        "a": vdot,
        "u": U,
        "constraint_force": force,
        "multipliers": lam,
        "drift": np.stack([drift[:, s].max(axis=1, initial=0.0) for s in loops], axis=1) if loops else np.zeros((n, 0)),
        "kinetic": energies[:, 0],
        "potential": energies[:, 1],
        "energy": energies[:, 0] + energies[:, 1],
        "actuator_work": X[:, nq + nv],
        "dissipated_work": X[:, nq + nv + 1],
        "actuator_power": energies[:, 2],
        "dissipated_power": energies[:, 3],
        "constraint_power": energies[:, 4],
        "rank": ranks,
        "conditioning": _conditioning(pivots, options),
    }
    balance = columns["energy"] - columns["actuator_work"] + columns["dissipated_work"]
    columns["energy_balance"] = balance - balance[0]
    return columns


def _conditioning(pivots: Array, options: stepping.Options) -> Array:
    """Smallest over largest gradient among those independent nearby."""
    return np.array([stepping.closeness(p, options) for p in pivots])


def _smallest_multipliers(plant, Q: Array, force: Array, cap: int) -> Array:
    """Minimum-norm multipliers where redundant rows share the force."""
    A = np.stack([plant.jacobian(q) for q in Q])
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    keep = (s > 1e-9 * s[:, :1]) & (np.arange(s.shape[1]) < cap)
    inverse = np.where(keep, 1.0 / np.where(keep, s, 1.0), 0.0)
    return np.einsum("tik,tk,tkj,tj->ti", U, inverse, Vt, force)


def _reference(run: _Run, times: Array) -> dict[str, Any]:
    """What a tracking controller was asked to follow."""
    reference, names = getattr(run.law, "reference", None), getattr(run.law, "coordinates", None)
    if not callable(reference) or names is None:
        return {}
    values = np.array([reference(float(t))[0] for t in times])
    return {"reference": values, "controlled": tuple(names)}


def _events(run: _Run, T: Array, X: Array, F: Array) -> list[dict[str, Any]]:
    """Singular passages: where the closeness to a singular pose has a minimum near zero."""
    cap, plant = run.options.cap, run.plant
    if cap == 0 or len(F) == 0:
        return []
    fractions = np.linspace(0.0, 1.0, 9)[:-1]
    fine = np.append((T[:-1, None] + np.diff(T)[:, None] * fractions).ravel(), T[-1])
    near = _closeness(run, fine, T, X, F)
    before, after = np.append(np.inf, near[:-1]), np.append(near[1:], np.inf)
    events = []
    for i in np.flatnonzero((near < _LOOK) & (near <= before) & (near < after)):
        t, c = _minimum(run, fine[max(i - 1, 0)], fine[min(i + 1, fine.size - 1)], T, X, F)
        if near[i] <= c:
            t, c = float(fine[i]), float(near[i])
        if c > _EVENT or (events and t - events[-1]["time"] < 1e-6):
            continue
        q = _path_position(run, t, T, X, F)
        pivots = plant.terms(q, np.zeros(plant.nv)).pivots[:cap]
        rank = int(np.count_nonzero(pivots > max(1e-6, 10.0 * c) * pivots[0])) if c < 1e-4 else cap
        kind = "singular start" if t < 1e-9 else ("singular passage" if c < 1e-6 else "near-singular passage")
        events.append({"time": t, "kind": kind, "conditioning": c, "rank": rank, "q": q})
    return events


def _path_position(run: _Run, t: float, T: Array, X: Array, F: Array) -> Array:
    """Position on the path of the steps."""
    j = int(np.clip(np.searchsorted(T, t) - 1, 0, len(F) - 1))
    y = np.empty(X.shape[1])
    stepping.interpolate(X[j], F[j], (t - T[j]) / (T[j + 1] - T[j]), y)
    return y[: run.plant.nq]


def _closeness(run: _Run, times: Array, T: Array, X: Array, F: Array) -> Array:
    """Closeness to a singular pose along the path."""
    out = np.empty(times.size)
    if isinstance(run.plant, Mechanism):
        n = run.plant.nq + run.plant.nv + 2
        if X.shape[1] != n:
            X, F = np.ascontiguousarray(X[:, :n]), np.ascontiguousarray(F[:, :, :n])
        record.path_closeness(run.plant.model, run.options, times, T, X, F, out)
        return out
    zero = np.zeros(run.plant.nv)
    for i, t in enumerate(times):
        pivots = run.plant.terms(_path_position(run, t, T, X, F), zero).pivots
        out[i] = stepping.closeness(pivots, run.options)
    return out


def _minimum(run: _Run, a: float, b: float, T: Array, X: Array, F: Array) -> tuple[float, float]:
    """Time and value of the least closeness between a and b: a zoom with 21 points a level."""
    t, c = a, np.inf
    for _ in range(8):
        grid = np.linspace(a, b, 21)
        values = _closeness(run, grid, T, X, F)
        i = int(values.argmin())
        t, c = float(grid[i]), float(values[i])
        a, b = grid[max(i - 1, 0)], grid[min(i + 1, 20)]
    return t, c

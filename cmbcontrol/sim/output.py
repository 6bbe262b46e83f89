"""From the steps of a run to its result: output grid, forces, energies, events."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..controllers.protocol import ConstantEffort
from ..kernels import constrained, record, stepping
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE
from .result import Simulation, build_dataset
from .run import Record, Run

__all__ = ["Part", "assemble_result"]

Array = NDArray[np.float64]

_LOOK = 0.1  # closeness below which the path is searched for singular passages
_EVENT = 1e-3  # closeness below which a passage is logged


class Part(NamedTuple):
    """A stretch of a run in which the loops stay the same."""

    run: Run
    steps: Record
    lost: float = 0.0  # energy that impacts have taken until then, J


def assemble_result(
    plant: Plant,
    parts: Sequence[Part],
    times: Array,
    settings: dict[str, Any],
    begin: float,
    events: Sequence[dict[str, Any]] = (),
) -> Simulation:
    """The labelled result of a run of a plant, complete or not.

    Where the loops change during the run, the plant has all of them; those that a part has not count as no force and
    no drift there.
    """
    first, last = parts[0].run, parts[-1].steps
    end = float(last.T[-1][-1]) if len(last.T[-1]) else float(last.T[-2][-1])
    times = times[times <= end] if last.status else times
    if times.size == 0 or (last.status and times[-1] < end):
        times = np.append(times, end)
    found = [_part_columns(part, _own(times, parts, i), plant) for i, part in enumerate(parts)]
    columns = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
    columns["energy_balance"] -= columns["energy_balance"][0]
    columns |= _tracking(first, times, columns) | _reports(parts, times, columns.pop("report"))
    logged = [event for part in parts for event in _events(part.run, *part.steps.arrays()[:3])]
    logged = sorted([*logged, *events], key=lambda event: event["time"])
    attrs = {
        "plant": plant.name,
        "controller": _name_of(first.control.law),
        "status": int(last.status),
        "message": last.status.message,
        "steps": sum(len(F) for part in parts for F in part.steps.F),
        "evaluations": sum(part.steps.evaluations for part in parts),
        "rejected_steps": sum(part.steps.rejections for part in parts),
        "wall_time_s": clock.perf_counter() - begin,
        "generic_rank": first.options.cap,
        **last.counts,
        **settings,
    }
    return Simulation(build_dataset(plant, times, columns, logged, attrs), plant)


def _name_of(law: Any) -> str:
    """What the result calls a controller."""
    if isinstance(law, ConstantEffort) and not law.u.any():
        return "none"
    name = getattr(law, "name", None)
    return name if isinstance(name, str) else type(law).__name__


def _own(times: Array, parts: Sequence[Part], i: int) -> Array:
    """The output times in a part: from its start on, up to the start of the next."""
    starts = [float(part.steps.T[0][0]) for part in parts]
    own = times >= starts[i] if i else np.ones(times.size, dtype=bool)
    return times[own & (times < starts[i + 1])] if i + 1 < len(parts) else times[own]


def _part_columns(part: Part, times: Array, whole: Plant) -> dict[str, Array]:
    """All that is told of a part, in the rows and loops of the whole plant."""
    run, steps = part.run, part.steps
    T, X, F, U = steps.arrays()
    states = _states(run, times, T, X, F) if not steps.grid else _on_grid(steps, times, X)
    efforts, reports = _efforts(run, times, states, T, U)
    columns = _quantities(run, states, efforts)
    columns["energy_balance"] += part.lost
    columns["impact_loss"] = np.full(times.size, part.lost)
    columns["active"] = np.tile([name in run.plant.row_slices for name in whole.row_slices], (times.size, 1))
    for name, own, all_names in (
        ("multipliers", run.plant.row_names, whole.row_names),
        ("drift", tuple(run.plant.row_slices), tuple(whole.row_slices)),
    ):
        if own != all_names:
            spread = np.zeros((times.size, len(all_names)))
            spread[:, [all_names.index(n) for n in own]] = columns[name]
            columns[name] = spread
    columns["report"] = reports
    return columns


def _on_grid(steps: Record, times: Array, X: Array) -> Array:
    """States where the method gives them at the output times."""
    return np.array([steps.grid.get(t, X[-1]) for t in times]).reshape(times.size, X.shape[1])


def _reports(parts: Sequence[Part], times: Array, asked: Array) -> dict[str, Any]:
    """What the law reported: at the latest sample, or at the output times."""
    control = parts[0].run.control
    found = list(asked)
    if control.period is not None:
        if not control.reports:
            return {}
        at, told = zip(*control.reports, strict=True)
        after = times + 1e-12 * parts[0].run.t_end
        found = [told[max(int(np.searchsorted(at, t, side="right")) - 1, 0)] for t in after]
    names = list(dict.fromkeys(name for report in found for name in report or ()))
    if not names:
        return {}
    return {"report": np.array([[float((r or {}).get(n, np.nan)) for n in names] for r in found]), "quantity": names}


def _states(run: Run, times: Array, T: Array, X: Array, F: Array) -> Array:
    """States at the output times; those of a machine are brought onto the loops."""
    if isinstance(run.plant, Mechanism) and X.shape[1] == run.plant.nq + run.plant.nv + 2:
        out = np.empty((times.size, X.shape[1]))
        record.output_states(run.plant.model, run.options, times, T, X, F, out)
        return out
    return _interpreted_states(run, times, T, X, F)


def _interpreted_states(run: Run, times: Array, T: Array, X: Array, F: Array) -> Array:
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


def _efforts(run: Run, times: Array, states: Array, T: Array, U: Array) -> tuple[Array, Array]:
    """Motor efforts at the output times, held ones or evaluated again, and what a law in continuous time reports."""
    plant, control = run.plant, run.control
    nq, nv = plant.nq, plant.nv
    reports = np.full(times.size, None, dtype=object)
    held = np.tile(control.command, (times.size, 1))
    if len(U):
        after = times + 1e-12 * run.t_end  # an output time that is a sample time but for rounding shows the new efforts
        held = U[np.clip(np.searchsorted(T, after, side="right") - 1, 0, len(U) - 1)]
    if control.holds:
        return held, reports
    out = np.full((times.size, plant.nu), np.nan)
    for i, (t, x) in enumerate(zip(times, states, strict=True)):
        terms, c = plant.terms(x[:nq], x[nq : nq + nv], float(t)), x[nq + nv + 2 :]
        try:
            out[i] = control.effort(float(t), terms, c, held[i])
            if control.period is None:
                reports[i] = control.report(float(t), terms, c, out[i])
        except Exception:  # the law that ended the run may fail here again; the rest is kept
            continue
    return out, reports


def _quantities(run: Run, X: Array, U: Array) -> dict[str, Array]:
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
    columns["energy_balance"] = columns["energy"] - columns["actuator_work"] + columns["dissipated_work"]
    return columns


def _conditioning(pivots: Array, options: stepping.Options) -> Array:
    """Smallest over largest gradient among those independent nearby."""
    return np.array([stepping.closeness(p, options) for p in pivots])


def _smallest_multipliers(plant, Q: Array, force: Array, cap: int) -> Array:
    """Minimum-norm multipliers where redundant rows share the force."""
    if not len(Q):
        return np.zeros((0, len(plant.row_names)))
    A = np.stack([plant.jacobian(q) for q in Q])
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    keep = (s > 1e-9 * s[:, :1]) & (np.arange(s.shape[1]) < cap)
    inverse = np.where(keep, 1.0 / np.where(keep, s, 1.0), 0.0)
    return np.einsum("tik,tk,tkj,tj->ti", U, inverse, Vt, force)


def _tracking(run: Run, times: Array, columns: dict[str, Array]) -> dict[str, Any]:
    """What a tracking controller was asked to follow, and the error as it sees it."""
    law = run.control.law
    reference, names = (getattr(law, name, None) for name in ("reference", "coordinates"))
    if not callable(reference) or names is None:
        return {}
    found = {"reference": np.array([reference(float(t))[0] for t in times]), "controlled": tuple(names)}
    of_plant = dict(zip(run.plant.position_names, run.plant.position_units, strict=True))
    units = getattr(getattr(law, "task", None), "units", None)
    found["controlled_units"] = tuple(of_plant.get(n, "") for n in names) if units is None else tuple(units)
    error = getattr(law, "error", None)
    if callable(error) and found["reference"].shape == (times.size, len(names)):
        states = zip(times, columns["q"], columns["v"], strict=True)
        found["error"] = np.array([error(float(t), run.plant.terms(q, v, float(t)))[0] for t, q, v in states])
    return found


def _events(run: Run, T: Array, X: Array, F: Array) -> list[dict[str, Any]]:
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
        largest = max(pivots[0], 1e-3 * run.options.reference)  # all rows may vanish together
        rank = int(np.count_nonzero(pivots > max(1e-6, 10.0 * c) * largest)) if c < 1e-4 else cap
        kind = "singular start" if t < 1e-9 else ("singular passage" if c < 1e-6 else "near-singular passage")
        events.append({"time": t, "kind": kind, "conditioning": c, "rank": rank, "q": q})
    return events


def _path_position(run: Run, t: float, T: Array, X: Array, F: Array) -> Array:
    """Position on the path of the steps."""
    j = int(np.clip(np.searchsorted(T, t) - 1, 0, len(F) - 1))
    y = np.empty(X.shape[1])
    stepping.interpolate(X[j], F[j], (t - T[j]) / (T[j + 1] - T[j]), y)
    return y[: run.plant.nq]


def _closeness(run: Run, times: Array, T: Array, X: Array, F: Array) -> Array:
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


def _minimum(run: Run, a: float, b: float, T: Array, X: Array, F: Array) -> tuple[float, float]:
    """Time and value of the least closeness between a and b: a zoom with 21 points a level."""
    t, c = a, np.inf
    for _ in range(8):
        grid = np.linspace(a, b, 21)
        values = _closeness(run, grid, T, X, F)
        i = int(values.argmin())
        t, c = float(grid[i]), float(values[i])
        a, b = grid[max(i - 1, 0)], grid[min(i + 1, 20)]
    return t, c

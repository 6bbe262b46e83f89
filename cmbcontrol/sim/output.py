"""Result of a run from its steps: output grid, forces, energies, events."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import compile_time
from ..controllers.controller import ConstantEffort, error_of
from ..controllers.references import over_times
from ..controllers.traced import LawCode, is_own
from ..errors import InputError, ModelError, Status
from ..kernels import constrained, motion, record
from ..kernels.layout import DISSIPATED, LOADS, MOTIONS, MOTORS, WORKS
from ..kernels.sampling import BY_CODE
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import RANK_TOLERANCE, Terms
from .control import after
from .engine import Engine
from .failures import LawFailed
from .path import path
from .result import Simulation, build_dataset, labelled
from .run import AT_SINGULAR, IntegratorState, Record, Run, Slide
from .singularities import hysteresis_rank
from .stabilisation import Stabilisation

if TYPE_CHECKING:
    import xarray

__all__ = ["RunPart", "assemble_result", "passage_events"]

Array = NDArray[np.float64]

_BACK = 1e3  # a row lost at the tolerance of the rank is back above this many times of it
_SAME = 1e-6  # s: singular configurations as near as this are one


class RunPart(NamedTuple):
    """Part of a run in which the loops stay the same."""

    run: Run
    steps: Record
    lost: float = 0.0  # energy that impacts have taken until then, J


def assemble_result(
    plant: Plant,
    parts: Sequence[RunPart],
    times: Array,
    settings: dict[str, Any],
    begin: tuple[float, float],
    events: Sequence[dict[str, Any]] = (),
) -> Simulation:
    """Assemble the labelled result of a run of a plant, complete or not.

    Where the loops change during the run, the plant has all of them; those that a part has not count as no force and
    no drift there. Where functions of the user fail, the result has nan, and the last record keeps the error. Where no
    such functions are needed, the output is computed when it is first read.
    """
    wall, compiled = clock.perf_counter() - begin[0], compile_time() - begin[1]
    settings = settings | {"wall_time_s": wall, "compile_time_s": compiled}
    output = _Output(plant, parts, times, settings, events)
    later = all(_follows_from_steps(part.run) for part in parts)
    return Simulation(output if later else output.dataset(), plant)


def _follows_from_steps(run: Run) -> bool:
    """Whether the output follows from the steps without a call of a function of the user."""
    control, law = run.control, run.control.law
    silent = (law.reference is None or law.coordinates is None) and not control.reports
    silent |= isinstance(control.code, LawCode) and all(is_own(function) for function, _ in control.code.signals)
    known = not run.acting.changing and run.formulation is None and isinstance(run.plant, Mechanism)
    return control.holds and silent and known


class _Output:
    """Output of a run, computed when it is read.

    Attributes
    ----------
    times : ndarray
        Output times, s.
    """

    def __init__(
        self,
        plant: Plant,
        parts: Sequence[RunPart],
        times: Array,
        settings: dict[str, Any],
        events: Sequence[dict[str, Any]],
    ) -> None:
        self.plant, self.parts, self.settings, self.events = plant, parts, settings, events
        last = parts[-1].steps
        end = last.end[0]
        times = times[times <= end] if last.status else times
        self.times = np.append(times, end) if times.size == 0 or (last.status and times[-1] < end) else times
        self.failures = _Failures()

    @cached_property
    def _states(self) -> list[Array]:
        """The states of each part at its times."""
        return [_states(part, times, self.failures) for part, times in self._own_times()]

    def _own_times(self) -> list[tuple[RunPart, Array]]:
        """Each part with its output times: from its start on, up to the start of the next."""
        starts = [-np.inf, *(float(part.steps.T[0][0]) for part in self.parts[1:]), np.inf]
        own = [self.times[(self.times >= begin) & (self.times < end)] for begin, end in pairwise(starts)]
        return list(zip(self.parts, own, strict=True))

    def variable(self, name: str) -> xarray.DataArray:
        """Positions "q", velocities "v" or efforts "u", without all else."""
        nq, nv = self.plant.nq, self.plant.nv
        if name == "u":  # held ones, or this would not be asked: no state is needed
            of_parts = [_held(part, times) for part, times in self._own_times()]
        else:
            of_parts = [states[:, slice(nq) if name == "q" else slice(nq, nq + nv)] for states in self._states]
        values = np.concatenate(of_parts)
        return labelled(self.plant, self.times, name, values)

    def dataset(self) -> xarray.Dataset:
        """Data of the run, as one dataset."""
        plant, parts, times, failures = self.plant, self.parts, self.times, self.failures
        first, last = parts[0].run, parts[-1].steps
        of_parts = [
            _part_columns(part, own, states, plant, failures)
            for (part, own), states in zip(self._own_times(), self._states, strict=True)
        ]
        columns = {name: np.concatenate([part[name] for part in of_parts]) for name in of_parts[0]}
        columns["energy_balance"] -= columns["energy_balance"][0]
        columns |= _tracking(first, times, columns, failures) | _reports(parts, times, columns.pop("report"))
        logged = _joined([event for part in parts for event in passage_events(part.run, part.steps)])
        logged = sorted([*logged, *self.events], key=lambda event: event["time"])
        failures.tell(last)
        attrs = {
            "plant": plant.name,
            "controller": _name_of(first.control.law),
            "status": int(last.status),
            "message": last.where if last.status == Status.EVENT else last.status.message,
            "steps": sum(len(F) for part in parts for F in part.steps.F),
            "evaluations": sum(part.steps.evaluations for part in parts),
            "evaluations_by_code": sum(part.steps.by_code for part in parts),
            "samples_by_code": int(first.control.sampled.count[BY_CODE]),
            "machine_code": _code(parts, "why_kernels"),
            "law_code": "none: no law" if isinstance(first.control.law, ConstantEffort) else _code(parts, "why_python"),
            "implicit_steps": sum(part.steps.implicit_steps for part in parts),
            "rejected_steps": sum(part.steps.rejections for part in parts),
            "generic_rank": first.options.cap,
            **last.counts,
            **self.settings,
        }
        return build_dataset(plant, times, columns, logged, attrs)


def _code(parts: Sequence[RunPart], reason: str) -> str:
    """Text "generated" if code was generated in all parts, else the first reason why not."""
    why = next(filter(None, (getattr(part.steps, reason) for part in parts)), "")
    return f"none: {why}" if why else "generated"


class _Failures:
    """First exception of a function of the user during output; the rest of the output is kept."""

    def __init__(self) -> None:
        self.first: Exception | None = None

    def add(self, error: Exception, whose: Any = None, t: float = 0.0) -> None:
        """Keep the first exception; `whose` function it was, and at what time, unless the exception holds it."""
        if self.first is None:
            self.first = error
            if whose is not None:
                self.first = LawFailed(whose, t)
                self.first.__cause__ = error

    def tell(self, last: Record) -> None:
        """Record the exception as the error that ended a run which has reached its end."""
        if self.first is not None and last.status == Status.COMPLETED:
            last.ended_by(self.first)


def _name_of(law: Any) -> str:
    """Name of a controller in the result."""
    if isinstance(law, ConstantEffort) and not law.u.any():
        return "none"
    return law.name


def _part_columns(part: RunPart, times: Array, states: Array, whole: Plant, failures: _Failures) -> dict[str, Array]:
    """Output of a part, as columns by name, in the rows and loops of the whole plant."""
    run = part.run
    efforts, commands, reports = _efforts(part, times, states, failures)
    columns = _quantities(run, times, states, efforts, failures) | {"command": commands}
    columns["energy_balance"] += part.lost
    columns["impact_loss"] = np.full(times.size, part.lost)
    in_place = {slide.plane: slide.name for slide in run.slides}
    holding = {in_place.get(name, name) for name in run.plant.row_slices}
    columns["active"] = np.tile([name in holding for name in whole.row_slices], (times.size, 1))
    for name, own, all_names in (
        ("multipliers", run.plant.row_names, whole.row_names),
        ("drift", tuple(run.plant.row_slices), tuple(whole.row_slices)),
    ):
        if own != all_names:
            spread, found = np.zeros((times.size, len(all_names))), columns[name]
            for i, n in enumerate(own):
                if in_place.get(n, n) in all_names:
                    spread[:, all_names.index(in_place.get(n, n))] = found[:, i]
            for slide in run.slides if name == "multipliers" else ():
                rows = [all_names.index(slide.whole.row_names[i]) for i in slide.rows]
                push = found[:, run.plant.row_slices[slide.plane].start]
                spread[:, rows] = _carried(slide, states[:, : run.plant.nq + run.plant.nv], push)
            columns[name] = spread
    columns["report"] = reports
    return columns


def _carried(slide: Slide, states: Array, lam: Array) -> Array:
    """Multipliers (times, rows) of the point of a contact that slides, from those of its plane."""
    rates = np.empty((len(states), len(slide.whole.row_names)))
    record.row_rates(slide.whole.arrays, np.ascontiguousarray(states), rates)
    slip = slide.tangents @ rates[:, slide.rows].T
    force = np.array(slide.friction.force(slide.friction.numbers, np.zeros(2), slip))
    return np.outer(lam, slide.normal) - lam[:, None] * (force.T @ slide.tangents)


def _reports(parts: Sequence[RunPart], times: Array, evaluated: Array) -> dict[str, Any]:
    """Reports of the law, as an array and the names of its columns: at the latest sample, or at the output times."""
    control = parts[0].run.control
    reports = list(evaluated)
    if control.period is not None:
        if not control.reports:
            return {}
        at, sampled = zip(*control.reports, strict=True)
        latest = np.searchsorted(at, after(times, parts[0].run.t_end), side="right") - 1
        reports = [sampled[max(int(k), 0)] for k in latest]
    names = list(dict.fromkeys(name for report in reports for name in report or ()))
    if not names:
        return {}
    units = control.law.report_units()
    return {
        "report": np.array([[float((r or {}).get(n, np.nan)) for n in names] for r in reports]),
        "quantity": names,
        "quantity_units": tuple(units.get(n, "") for n in names),
    }


def _states(part: RunPart, times: Array, failures: _Failures) -> Array:
    """States of a part at the output times, on the loops where the steps are."""
    T, X, F, _ = part.steps.arrays()
    out = np.empty((times.size, X.shape[1]))
    if not times.size:
        return out
    engine = _engine(part)
    record.output_states(engine.arrays, engine.options, engine.exchange, engine.work, times, T, X, F, out)
    failure = engine.failure
    if isinstance(failure, Exception):
        failures.add(failure)
    return out


def _engine(part: RunPart) -> Engine:
    """Engine that evaluates a part at single states; states between steps are only projected onto the loops."""
    run = replace(part.run, stabilisation=Stabilisation(metric=part.run.stabilisation.metric), formulation=None)
    run = replace(run, options=run.options._replace(energy=False))
    return Engine(run, IntegratorState(float(part.steps.T[0][0]), part.steps.X[0][0], 0.0))


def _held(part: RunPart, times: Array) -> Array:
    """Held efforts (times, nu) of the steps in which the output times lie."""
    T, _, _, U = part.steps.arrays()
    if not len(U):
        return np.tile(part.run.control.command, (times.size, 1))
    return U[np.clip(np.searchsorted(T, after(times, part.run.t_end), side="right") - 1, 0, len(U) - 1)]


def _efforts(part: RunPart, times: Array, states: Array, failures: _Failures) -> tuple[Array, Array, Array]:
    """Efforts at the joints and efforts commanded at the output times, and the reports of a continuous law.

    Efforts that are not held are evaluated again.
    """
    run, control, plant = part.run, part.run.control, part.run.plant
    nq, nv = plant.nq, plant.nv
    reports = np.full(times.size, None, dtype=object)
    held = _held(part, times)
    if control.holds:
        return held, held, reports
    out, commands = np.full((2, times.size, plant.nu), np.nan)
    for i, (t, x) in enumerate(zip(times, states, strict=True)):
        try:
            run.acting.at(float(t))
            terms, c = plant.terms(x[:nq], x[nq : nq + nv], float(t)), x[nq + nv + WORKS :]
            out[i], commands[i], evaluation = control.shown(float(t), terms, c, held[i])
            if evaluation is not None:
                reports[i] = control.reported(float(t), evaluation)
        except Exception as error:
            failures.add(error)
    return out, commands, reports


def _quantities(run: Run, times: Array, X: Array, U: Array, failures: _Failures) -> dict[str, Array]:
    """Output quantities that follow from states and efforts, as columns by name."""
    plant, options = run.plant, run.options
    n, nq, nv, rows = len(X), plant.nq, plant.nv, len(plant.row_names)
    vdot, force = np.zeros((n, nv)), np.zeros((n, nv))
    lam, phi, pivots = np.zeros((n, rows)), np.zeros((n, rows)), np.zeros((n, rows))
    energies, ranks = np.zeros((n, 7)), np.zeros(n, np.int64)
    whole = np.ascontiguousarray(X[:, : nq + nv + WORKS])
    load, motions = np.zeros((n, 0)), np.zeros((n, len(plant.motion_names), 3))
    redundant = options.cap < rows
    A = np.zeros((n, rows if redundant else 0, nv))
    if isinstance(plant, Mechanism):
        load = np.zeros((n, len(plant.load_names)))
        outputs = vdot, force, lam, phi, energies, pivots, ranks, A
        blocks = range(n) if run.acting.changing else range(0, n, max(n, 1))
        for i in blocks:
            block = slice(i, i + 1 if run.acting.changing else n)
            try:
                run.acting.at(float(times[i]))
            except LawFailed as error:
                failures.add(error)
                continue
            load[block] = plant.arrays.loads["value"].ravel()
            motions[block] = run.acting.motion_values
            record.output_quantities(plant.arrays, options, whole[block], U[block], *(x[block] for x in outputs))
    else:
        for i, (x, u) in enumerate(zip(X, U, strict=True)):
            try:
                terms = plant.terms(x[:nq], x[nq : nq + nv], cap=options.cap)
            except Exception as error:
                failures.add(error)
                vdot[i] = force[i] = lam[i] = phi[i] = energies[i] = np.nan
                continue
            f, scales = terms.B @ u, (terms.row_scale, terms.unit_lengths)
            vdot[i], lam[i], ranks[i] = constrained.gauss_acceleration(
                terms.M, terms.A, *scales, f - terms.h, _target(run, terms), RANK_TOLERANCE, options.cap
            )
            phi[i], pivots[i], force[i] = terms.phi, terms.pivots, terms.A.T @ lam[i]
            A[i] = terms.A[: A.shape[1]]
            v = terms.v
            energies[i] = terms.kinetic, terms.potential, v @ f, 0.0, v @ force[i], 0.0, 0.0
    if redundant:
        lam = _smallest_multipliers(A, force, np.minimum(ranks, options.cap))
    efforts = [plant.motion_efforts(*x) for x in zip(lam, motions, strict=True)] if plant.motions else np.zeros((n, 0))
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
        "actuator_work": X[:, nq + nv + MOTORS],
        "dissipated_work": X[:, nq + nv + DISSIPATED],
        "load_work": X[:, nq + nv + LOADS],
        "motion_work": X[:, nq + nv + MOTIONS],
        "actuator_power": energies[:, 2],
        "dissipated_power": energies[:, 3],
        "load_power": energies[:, 5],
        "motion_power": energies[:, 6],
        "loads": load,
        "motions": motions[:, :, 0],
        "motion_effort": np.array(efforts).reshape(n, len(plant.motion_names)),
        "constraint_power": energies[:, 4],
        "rank": _steady_rank(pivots, ranks, options),
        "conditioning": record.conditioning(pivots, options),
    }
    added = columns["actuator_work"] + columns["load_work"] + columns["motion_work"] - columns["dissipated_work"]
    columns["energy_balance"] = columns["energy"] - added
    if run.formulation is not None:
        columns |= _as_formulated(run, times, whole, U, failures)
    return columns


def _target(run: Run, terms: Terms) -> Array:
    """Required values of A dv/dt (rows,), with Baumgarte's terms where their gains are given."""
    kept = run.stabilisation
    if kept.kind != "baumgarte" or kept.adaptive:
        return -terms.b
    return kept.correction(terms.row_rate, terms.phi) - terms.b


def _as_formulated(run: Run, times: Array, X: Array, U: Array, failures: _Failures) -> dict[str, Array]:
    """Accelerations, forces and conditioning by the formulation of the run, as columns by name.

    They are nan where it cannot be evaluated, which may be why the run ended.
    """
    plant, options, nq, formulation = run.plant, run.options, run.plant.nq, run.formulation
    nv, rows = plant.nv, len(plant.row_names)
    widths = {"a": nv, "constraint_force": nv, "multipliers": rows, "formulation_conditioning": 1}
    columns = {name: np.full((len(X), size), np.nan) for name, size in widths.items()}
    for i, (x, u) in enumerate(zip(X, U, strict=True)):
        try:
            run.acting.at(float(times[i]))
            terms = plant.terms(x[:nq], x[nq : nq + nv], cap=options.cap)
            motion = formulation.at(terms).motion(terms, terms.B @ u, _target(run, terms))
        except ModelError:
            continue
        except Exception as error:  # of a pseudoinverse of the user
            failures.add(error)
            continue
        for column, value in zip(columns.values(), motion, strict=False):
            column[i] = value
    columns["formulation_conditioning"] = columns["formulation_conditioning"][:, 0]
    return columns


def _steady_rank(pivots: Array, ranks: NDArray[np.int64], options: motion.Options) -> NDArray[np.int64]:
    """Rank along the run: a row that is lost does not come back by rounding."""
    if options.cap == 0 or not len(ranks) or ranks.min() < 0:
        return ranks
    largest = pivots[:, :1] if options.cap > 1 else options.reference
    ratios = pivots[:, : options.cap] / np.maximum(largest, 1e-300)
    return np.minimum(hysteresis_rank(ratios, options.tolerance, _BACK * options.tolerance), np.maximum(ranks, 0))


def _smallest_multipliers(A: Array, force: Array, ranks: NDArray[np.int64]) -> Array:
    """Minimum-norm multipliers where redundant rows A (times, rows, nv) share the force; their ranks are known."""
    A = np.where(np.isfinite(force).all(axis=1)[:, None, None], A, 0.0)  # else the functions of the plant have failed
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    keep = (np.arange(s.shape[1]) < ranks[:, None]) & (s > 0.0)
    inverse = np.where(keep, 1.0 / np.where(keep, s, 1.0), 0.0)
    return np.einsum("tik,tk,tkj,tj->ti", U, inverse, Vt, force)


def _tracking(run: Run, times: Array, columns: dict[str, Array], failures: _Failures) -> dict[str, Any]:
    """Reference of a tracking controller, names and units of what it controls, and its tracking error."""
    law = run.control.law
    reference, names = law.reference, law.coordinates
    if reference is None or names is None:
        return {}

    def position_at(t: float) -> Array:
        position = np.asarray(reference(t)[0], dtype=np.float64)
        if position.shape != (len(names),):
            raise InputError(
                f"the reference must return positions of shape ({len(names)},) for {', '.join(names)}, got shape "
                f"{position.shape}"
            )
        return position

    def error_at(t: float, state: Callable[[], Terms]) -> Array | None:
        error = error_of(law, t, state())
        return None if error is None else error[0]

    def value_at(of: Callable, whose: Any, *arguments: Any) -> Array | None:
        """Value of a function of the user at a time; nan where it fails."""
        try:
            return of(*arguments)
        except Exception as error:
            failures.add(error, whose, arguments[0])
            return np.full(len(names), np.nan)

    followed = np.array([value_at(position_at, reference, float(t)) for t in times]) if not is_own(reference) else None
    if followed is None:
        followed = over_times(reference, times)[:, : len(names)]
    tracking = {"reference": followed, "controlled": tuple(names)}
    of_plant = dict(zip(run.plant.position_names, run.plant.position_units, strict=True))
    units = None if law.task is None else law.task.units
    tracking["controlled_units"] = tuple(of_plant.get(n, "") for n in names) if units is None else tuple(units)
    if tracking["reference"].shape == (times.size, len(names)):
        states = zip(times, columns["q"], columns["v"], strict=True)
        terms_at = ((float(t), partial(run.plant.terms, q, v, float(t))) for t, q, v in states)
        errors = [value_at(error_at, law.error, *x) for x in terms_at]
        if any(e is not None for e in errors):
            tracking["error"] = np.array([np.full(len(names), np.nan) if e is None else e for e in errors])
    return tracking


def passage_events(run: Run, steps: Record) -> list[dict[str, Any]]:
    """Events of the singular configurations that a run passes, exactly or nearly."""
    options, plant = run.options, run.plant
    T, X, F, _ = steps.arrays()
    events: list[dict[str, Any]] = []
    for t, _ in steps.passages:
        if events and t - events[-1]["time"] < _SAME:
            continue
        x = path(T, F, X)(t)
        q, v = x[: plant.nq], x[plant.nq : plant.nq + plant.nv]
        terms = plant.terms(q, np.zeros(plant.nv), check=False)
        pivots = terms.pivots if terms.rank >= 0 else np.zeros(len(terms.pivots))  # where M is not positive definite
        c = float(motion.closeness(pivots, options))  # the time loop may have had no more than a glance
        pivots = pivots[: options.cap]
        largest = max(pivots[0], 1e-3 * options.reference)  # all rows may vanish together
        rank = int(np.count_nonzero(pivots > max(1e-6, 10.0 * c) * largest)) if c < 1e-4 else options.cap
        kind = "singular start" if t < 1e-9 else ("singular passage" if c < AT_SINGULAR else "near-singular passage")
        events.append({"time": t, "kind": kind, "conditioning": c, "rank": rank, "q": q, "v": v, "v_after": v})
    return events


def _joined(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events in which the end of one part and the begin of the next, at one configuration, are a single event."""
    joined: list[dict[str, Any]] = []
    for event in events:
        if joined and abs(event["time"] - joined[-1]["time"]) < _SAME:
            joined[-1]["v_after"] = event["v_after"]
        else:
            joined.append(event)
    return joined

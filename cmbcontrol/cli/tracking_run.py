"""The work of ``cmbcontrol study``: the closed-loop run, its linear model, figures, summary, and what is printed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _files
from ..controllers.actuation import actuation
from ..controllers.projected_inverse_dynamics import ProjectedInverseDynamics
from ..controllers.references import Sine
from ..errors import CmbError, EquilibriumError, Interrupted, SimulationError
from ..linear.linearize import linearize
from ..linear.model import LinearModel
from ..linear.operating import trim
from ..linear.signals import best_coordinates
from ..plants import Entry, TrackingTask
from ..sim.result import Simulation
from ..sim.simulate import simulate
from ..sim.summary import kind_of_run, run_lines, tracking_errors
from . import common, entries, figures
from .common import Bars, NamedConfiguration
from .tables import coloured, described, table, width

__all__ = ["decay_rate", "report_study", "run_study"]

Array = NDArray[np.float64]

_OFF = 0.2  # how far a tracking run starts off its reference, as a part of the amplitude
_FREE_RUN = 5.0  # s

# of a machine that brings no task along: a slow motion that can be seen, well within its limits and its branch
_SWING = 0.1  # rad, or of the size of the machine
_ROOM = 0.5  # of the way to the nearest limit
_RATE = 0.4  # Hz
_WIDTH = 10.0  # rad/s, several times the frequency of the motion
_ERROR = "tracking_error_"  # what the names of numbers begin with, before the unit
_BENT = 0.1  # of the variance of log(error), which a straight line may leave
_WORST = 1e4  # condition of the motors' joints as coordinates: beyond, the configuration is next to a singular one

# -- the study -----------------------------------------------------------------------------------------


@dataclass
class _Found:
    """Results of a study, and the names of its files."""

    run: Simulation
    linear: LinearModel | None
    law: ProjectedInverseDynamics | None
    summary: dict[str, Any]
    files: list[str]


def run_study(
    entry: Entry,
    options: dict[str, Any],
    place: NamedConfiguration,
    folder: Path,
    duration: float | None,
    bandwidth: float | None,
    animation: bool,
    report: bool,
    suffix: str,
    bars: Bars,
) -> _Found:
    """Make the linear model, the run, the figures and the animation; each result is written at once."""
    plant, q0, v0 = entry.start(**options)
    recipe = entry.study if plant.nu else None
    if place != NamedConfiguration(None, {}) or (entry.study is None and plant.nu):
        q0, _ = entries.configuration(plant, q0, place)
        recipe, v0 = _about(plant, q0, recipe), np.zeros(plant.nv)
    law, files = None, []
    with bars.step("linear model") as tell:
        if recipe is not None:
            law, q, v0 = _tracking(plant, recipe, q0, bandwidth)
            centre = plant.assemble(guess=q0, **dict(zip(recipe.coordinates, recipe.centre, strict=True)))
            linear = linearize(plant, trim(plant, centre), coordinates=recipe.coordinates)
        else:
            q, linear = q0, _linear_if_any(plant, q0)
        for form in ("mat", "json") if linear is not None else ():
            files.append(linear.save(folder / f"linear.{form}").name)
        tell(1.0)
    t_end = duration or (recipe.t_end if recipe is not None else _FREE_RUN)
    try:
        with bars.step("simulation") as tell:
            run = simulate(plant, law, q, v0, t_end=t_end, progress=tell)
    except (SimulationError, Interrupted) as error:
        if error.partial is not None:
            error.partial.save(folder / "run.nc")
            raise type(error)(f"{error} It is also in {folder / 'run.nc'}.", error.partial) from error
        raise
    files.append(run.save(folder / "run.nc").name)
    files += _figures(run, linear, folder, animation, suffix, bars)
    if report:
        with bars.step("report") as tell:
            files.append(run.write_report(folder / "report.html", title=entry.name).name)
            tell(1.0)
    summary = _summary(entry, options, run, linear, law)
    _files.write(folder / "summary.json", common.json_of("study", summary) + "\n")
    return _Found(run, linear, law, summary, [*files, "summary.json"])


def _about(plant: Any, q: Array, recipe: TrackingTask | None) -> TrackingTask | None:
    """Small motion about a configuration, as a tracking task; None where the motors cannot set all of the motion."""
    Z = plant.terms(q, np.zeros(plant.nv)).Z
    dof = Z.shape[1]
    if recipe is not None:
        centre = tuple(float(q[plant.position_names.index(name)]) for name in recipe.coordinates)
        return replace(recipe, centre=centre)
    if not dof or actuation(plant, q).rank < dof:
        return None
    try:
        trim(plant, q)
    except EquilibriumError:  # the motors are too weak
        return None
    moved = [motor.joint for motor in plant.actuators]
    for names in (moved, best_coordinates(plant, Z)):
        if len(names) != dof or not set(names) <= set(plant.position_names) & set(plant.velocity_names):
            continue
        rows = [plant.index(name) for name in names]
        if np.linalg.cond(Z[rows] / plant.displacement_scale[rows, None]) > _WORST:
            continue
        places = [plant.position_names.index(name) for name in names]
        room = np.abs(plant.limits[places] - q[places, None]).min(axis=1)
        amplitude = np.minimum(_SWING * plant.displacement_scale[rows], _ROOM * room)
        zeros = (0.0,) * dof
        return TrackingTask(tuple(names), tuple(q[places]), tuple(amplitude), _RATE, zeros, _WIDTH, _FREE_RUN)
    return None


def _tracking(
    plant: Any, recipe: TrackingTask, q0: Array, bandwidth: float | None
) -> tuple[ProjectedInverseDynamics, Array, Array]:
    """Controller, and a start (q, v) beside its reference, with velocities so that e' = -bandwidth e."""
    reference = Sine(recipe.centre, recipe.amplitude, recipe.frequency_hz, recipe.phase)
    width = recipe.bandwidth if bandwidth is None else bandwidth
    law = ProjectedInverseDynamics(plant, recipe.coordinates, reference, bandwidth=width)
    position, velocity, _ = reference(0.0)
    error = _OFF * np.abs(reference.amplitude)
    q = plant.assemble(guess=q0, **dict(zip(recipe.coordinates, position - error, strict=True)))
    Z = plant.terms(q, np.zeros(plant.nv)).Z
    rows = [plant.index(name) for name in recipe.coordinates]
    return law, q, Z @ np.linalg.solve(Z[rows], velocity + width * error)


def _linear_if_any(plant: Any, q: Array) -> LinearModel | None:
    """Linear model about the equilibrium near q; None if there is none."""
    try:
        return linearize(plant, trim(plant, q, free="all"))
    except CmbError:
        return None


def _figures(
    run: Simulation, linear: LinearModel | None, folder: Path, animation: bool, suffix: str, bars: Bars
) -> list[str]:
    """Write all figures and the animation; returns the names of the files."""
    from .. import plot
    from ..scene import has_look

    makers: dict[str, Callable[[], Any]] = {
        f"joints{suffix}": lambda: plot.responses(run),
        f"forces{suffix}": lambda: plot.forces(run),
        f"accuracy{suffix}": lambda: plot.accuracy(run),
    }
    if linear is not None and linear.inputs:
        makers[f"bode{suffix}"] = lambda: plot.bode(linear)
    with bars.step("figures") as tell:
        figures.write_all(folder, makers, tell)
    if animation and has_look(run.plant):
        with bars.step("animation") as tell:
            # long runs are shown faster, short ones slower: between 2 and 20 s
            length = float(run.time[-1])
            plot.animate(run, folder / "animation.gif", speed=length / min(max(length, 2.0), 20.0), progress=tell)
        return [*makers, "animation.gif"]
    return list(makers)


def _summary(
    entry: Entry, options: dict[str, Any], run: Simulation, linear: LinearModel | None, law: Any
) -> dict[str, Any]:
    """Numbers of a study by name."""
    data = run.data
    peaks = np.abs(data["u"].values).max(axis=0, initial=0.0)
    summary: dict[str, Any] = {
        "plant": entry.name,
        "options": options,
        "source": entry.source,
        "duration_s": float(run.time[-1]),
        "status": run.message,
        "max_loop_opening_m": run.max_drift,
        "max_energy_error_J": run.max_energy_error,
        "motors_at_limits": [vars(motor) | {"beyond": motor.beyond} for motor in run.motors_at_limits()],
        "max_effort": {str(n): float(x) for n, x in zip(data["actuator"].values, peaks, strict=True)},
        "rms_effort": dict(run.motors()["rms"].astype(float)),
        "max_motor_power_W": float(np.abs(data["actuator_power"].values).max(initial=0.0)),
        "steps": int(data.attrs["steps"]),
        "evaluations": int(data.attrs["evaluations"]),
        "wall_time_s": float(data.attrs["wall_time_s"]),
        "compile_time_s": float(data.attrs["compile_time_s"]),
        "machine_code": data.attrs["machine_code"],
        "law_code": data.attrs["law_code"],
        "singular_passages": run.events(),
        "tracking": None if law is None else _tracking_numbers(run, law),
        "linear_model": None,
    }
    if summary["tracking"] is not None:
        summary["followed"], summary["verdict"] = verdict(summary["tracking"])
    if linear is not None:
        modes = [
            {"eigenvalue": [m.eigenvalue.real, m.eigenvalue.imag], "frequency_rad_s": m.frequency, "damping": m.damping}
            for m in linear.damping()
        ]
        centre = dict(zip(run.plant.position_names, linear.point.q.tolist(), strict=True))
        efforts = dict(zip(run.plant.actuator_names, linear.point.u.tolist(), strict=True))
        summary["linear_model"] = {"configuration": centre, "holding_effort": efforts, "modes": modes}
    return summary


def _tracking_numbers(run: Simulation, law: ProjectedInverseDynamics) -> dict[str, Any]:
    """Decay rate asked for, and of each unit the error at both ends and its decay rate."""
    k = len(law.coordinates)
    poles = np.linalg.eigvals(np.block([[np.zeros((k, k)), np.eye(k)], [-law.kp, -law.kd]])).astype(complex)
    asked = {
        "coordinates": list(law.coordinates),
        "decay_rate_asked": float(-poles.real.max()),
        "error_poles": [[float(p.real), float(p.imag)] for p in np.sort_complex(poles)],
    }
    return asked | {f"{_ERROR}{unit}": _error_numbers(run.time, e) for unit, e in tracking_errors(run).items()}


def _error_numbers(times: Array, error: Array) -> dict[str, float | None]:
    """Size of an error at both ends and in between, and its decay rate."""
    return {
        "start": float(error[0]),
        "largest": float(error.max()),
        "end": float(error[-1]),
        "last_tenth": float(error[-max(error.size // 10, 1) :].max()),
        "decay_rate": decay_rate(times, error),
    }


def _errors(tracking: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Numbers of the errors by unit."""
    return {key.removeprefix(_ERROR): told for key, told in tracking.items() if key.startswith(_ERROR)}


def decay_rate(times: Array, error: Array) -> float | None:
    """Decay rate of an error, 1/s: the slope of -log(error) above 1e-5 of its start; None where it does not decay.

    It decays where that is a straight line, or, as for errors that swing, where the largest error of the second half is
    less than half of that of the first one.

    Examples
    --------
    >>> t = np.linspace(0.0, 1.0, 50)
    >>> round(decay_rate(t, np.exp(-8.0 * t)), 6)
    8.0
    >>> decay_rate(t, np.abs(np.sin(20.0 * t) + 0.1)) is None
    True
    """
    below = np.flatnonzero(~(error > 1e-5 * error[0]))
    n = int(below[0]) if below.size else error.size
    if n < 4:
        return None
    logs = np.log(error[:n])
    line = np.polyfit(times[:n], logs, 1)
    straight = np.var(np.polyval(line, times[:n]) - logs) < _BENT * np.var(logs)
    halved = float(error[n // 2 : n].max()) < 0.5 * float(error[: n // 2].max())
    return float(-line[0]) if line[0] < 0.0 and (straight or halved) else None


def verdict(tracking: dict[str, Any]) -> tuple[bool, str]:
    """Whether a run has followed its reference, and a text that says so.

    It has where its error in each unit decays at half of the rate asked for, at least, or stays below a tenth of its
    start in the last tenth of the run: at the very end an error that swings may be zero by chance.
    """
    asked, failed = tracking["decay_rate_asked"], []
    for unit, error in _errors(tracking).items():
        start, largest, last, rate = (error[name] for name in ("start", "largest", "last_tenth", "decay_rate"))
        if last <= 0.1 * start or (rate is not None and rate >= 0.5 * asked):
            continue
        how = "does not decay" if rate is None else f"decays at {rate:.3g} of {asked:.3g} 1/s"
        sizes = f"{start:.3g} {unit} at the start, up to {last:.3g} in the last tenth, {largest:.3g} at most"
        failed.append(f"the error in {unit} {how} ({sizes})")
    follows = "does not follow" if failed else "follows"
    return not failed, f"the machine {follows} its reference{': ' if failed else ''}{'; '.join(failed)}"


# -- what is shown ---------------------------------------------------------------------------------------


def report_study(found: _Found, folder: Path) -> None:
    """Print two short tables and the names of the files."""
    s = found.summary
    tracking = s["tracking"]
    what = f"tracking of {', '.join(tracking['coordinates'])}" if tracking else kind_of_run(found.run)
    common.say(f"{s['plant']}: {what}, {s['duration_s']:g} s")
    rows = list(_lines(found))
    if tracking:
        rows.insert(0, ("verdict", coloured(s["verdict"], "green" if s["followed"] else "red")))
    common.show(described(rows, width()))
    if modes := _modes(found):
        headings = "", "eigenvalue\n1/s", "frequency\nrad/s", "damping"
        common.show(table(headings, modes, width(), indent=2))
    common.written(folder, found.files)


def _lines(found: _Found) -> Iterator[tuple[str, str]]:
    """Rows of the first table."""
    s = found.summary
    yield from run_lines(found.run)
    if tracking := s["tracking"]:
        errors, asked = _errors(tracking), tracking["decay_rate_asked"]
        for unit, error in errors.items():
            rate = "none" if error["decay_rate"] is None else f"{error['decay_rate']:#.4g} 1/s"
            of = f" in {unit}" if len(errors) > 1 else ""
            yield f"decay of the error{of}", f"{rate} (asked for {asked:.4g} 1/s)"
    compiling = f", {s['compile_time_s']:.2g} s of it for compiling, once" if s["compile_time_s"] > 0.01 else ""
    yield "time", f"{s['wall_time_s']:.2f} s{compiling}"
    if tracking and s["law_code"] != "generated":
        yield "the law runs in Python", s["law_code"].removeprefix("none: ")


def _modes(found: _Found) -> list[tuple[str, str, str, str]]:
    """Rows of the second table: modes of the machine by itself, then the required decay of the error."""
    rows = []
    if found.linear is not None:
        what = "open loop, held" if found.law is not None else "at the equilibrium"
        for i, mode in enumerate(found.linear.damping()):
            rows.append((what if i == 0 else "", *_eigenvalue(mode.eigenvalue)))
    if found.law is not None:
        # rounding splits equal poles: count those that read the same
        poles = Counter(_eigenvalue(complex(p, abs(q))) for p, q in found.summary["tracking"]["error_poles"])
        for i, (texts, count) in enumerate(poles.items()):
            rows.append(("error, asked for" if i == 0 else "", *texts))
            if count > (2 if "+-" in texts[0] else 1):
                rows[-1] = (f"{rows[-1][0]} ({count} poles)".strip(), *texts)
    return rows


def _eigenvalue(value: complex) -> tuple[str, str, str]:
    """Texts of an eigenvalue (of a pair, the upper one), its frequency and its damping ratio."""
    size = abs(value)
    # an imaginary part of rounding errors is none (double eigenvalues split)
    pair = abs(value.imag) > 1e-6 * size
    text = f"{value.real:.4g} +- {value.imag:.4g}j" if pair else f"{value.real:.4g}"
    damping = round(-value.real / size, 4) + 0.0 if size else math.nan
    return text, f"{size:.4g}", f"{damping:.3g}" if size else "-"

"""Cases that a page shows: a run, a mode, or a machine at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._tolerance import CONSTANT
from ..errors import InputError, ModelError, Status
from ..plot.style import COLORS
from ..plot.ticks import prefixed
from ..scene import Scene, scene
from ..sim.summary import event_words, kind_of_run, run_lines
from .appearance import look_of, motion_of, poses_of, traces_of
from .arrows import NO_ARROWS, arrows_of
from .curves import NO_CURVES, curves_of
from .sampling import rows_of_motion, speed_of

if TYPE_CHECKING:
    from ..linear.modes import Modes
    from ..sim.result import Simulation

__all__ = ["Case", "case_of_machine", "case_of_mode", "case_of_run"]

Array = NDArray[np.float64]
Case = dict[str, Any]
Trace = Sequence[tuple[str, ArrayLike]]

_TRACE = "#D55E00"
# what an event begins with, and the colour of its mark
_MARKS = (
    ("singular", "#D55E00"),
    ("near-singular", "#E69F00"),
    ("impact", "#CC79A7"),
    ("engaged", "#009E73"),
    ("released", "#009E73"),
)
_MARK = "#0072B2"
_NO_FAILURES = (Status.COMPLETED, Status.EVENT, Status.INTERRUPTED)
_PICTURES = 30.0  # a second, of a mode
_CYCLE = 2.0  # s on the screen


def case_of_run(run: Simulation, *, name: str = "", trace: Trace | None = None, speed: float | None = None) -> Case:
    """Case of a run: its motion, arrows, curves and events, as far as its numbers are finite."""
    if run.plant is None:
        raise ModelError("a run from a file does not know its plant; set run.plant to the plant that it was made with")
    whole = np.isfinite(run.data["q"].values).all(axis=1)
    count = len(whole) if whole.all() else int(np.argmin(whole))
    if count == 0:
        raise InputError("the run has no finite configuration: there is nothing to show")
    failure = None if run.status in _NO_FAILURES else {"time": float(run.time[count - 1]), "text": run.message}
    if count < len(whole):
        run = run._with(run.data.isel(time=slice(0, count)))
    seen = scene(run.plant)
    times, events = run.time, run.data["event_time"].values
    rows = rows_of_motion(times, len(seen.bodies) + 2 * len(seen.stretched), events)
    pictured = run if len(rows) == count else run._with(run.data.isel(time=rows))
    configurations = pictured.data["q"].values
    poses = poses_of(seen, configurations)
    return {
        "name": name,
        "note": _note(run),
        "failure": failure,
        "facts": [[what, text] for what, text in run_lines(run)],
        "look": look_of(seen),
        "motion": motion_of(seen, times[rows], configurations, poses),
        "speed": speed_of(float(times[-1] - times[0])) if speed is None else speed,
        "autoplay": False,
        "arrows": (arrows := arrows_of(pictured, seen.bodies, poses[1])),
        "traces": traces_of(seen, poses, _TRACE, trace),
        "events": _events(run),
        "plots": (curves := curves_of(run)),
        "readouts": _readouts(curves),
        "units": _units(curves["groups"], arrows["groups"]),
    }


def _units(curves: list[dict[str, Any]], arrows: list[dict[str, Any]]) -> dict[str, float]:
    """By SI unit, the size of the unit that suits the largest number in it, as axes of figures have it: 1000 for kN.

    Logarithmic axes do not count, nor does what is rounding.
    """
    largest: dict[str, float] = {}
    for group in curves:
        values = np.abs(np.concatenate([signal["values"] for signal in group["signals"]]))
        size = float(values[np.isfinite(values)].max(initial=0.0))
        if not group["log"] and size > CONSTANT * group["scale"]:
            largest[group["unit"]] = max(size, largest.get(group["unit"], 0.0))
    for group in arrows:
        largest[group["unit"]] = max(group["size"], largest.get(group["unit"], 0.0))
    return {unit: prefixed(unit, size)[1] for unit, size in largest.items()}


def _note(run: Simulation) -> str:
    """Text with the law, and with the end of a run that ended early but has not failed: that is told by itself."""
    early = run.status in _NO_FAILURES and run.status != Status.COMPLETED
    return f"{kind_of_run(run)}. {run.message}" if early else kind_of_run(run)


def _events(run: Simulation) -> list[dict[str, Any]]:
    """Events of a run, as times, texts and colours of their marks."""
    found = []
    for event in run.events():
        if not np.isfinite(event["time"]):
            continue
        color = next((color for begin, color in _MARKS if event["kind"].startswith(begin)), _MARK)
        found.append({"time": float(event["time"]), "text": event_words(event), "color": color})
    return found


def _readouts(curves: dict[str, Any]) -> list[dict[str, Any]]:
    """Errors of the run that are shown at the present time."""
    found = []
    for group in curves["groups"]:
        if group["kind"] in ("drift", "energy_balance"):
            values = np.array([signal["values"] for signal in group["signals"]])
            largest = np.max(values, axis=0).astype(np.float32)
            found.append({"label": group["label"], "unit": group["unit"], "values": largest})
    return found


def case_of_mode(modes: Modes, number: int, amplitude: float | None) -> Case:
    """Case of a mode of a linear model, which repeats."""
    from ..plot.modes import ModeMotion, mode_course, mode_title

    mode = modes[number]
    motion = ModeMotion(modes.linear_model, mode, amplitude)
    times, factors = mode_course(mode, 1.0, _CYCLE, False, _PICTURES)
    repeats = mode.kind in ("oscillation", "rigid-body")
    if repeats:  # to where it began
        times = np.append(times, times[-1] + times[1] - times[0])
        factors = np.append(factors, factors[0])
    seen = scene(motion.plant)
    title = mode_title([(number, mode)])
    value = mode.eigenvalue
    facts = [
        ["eigenvalue", f"{value.real:.6g} {'+' if value.imag >= 0.0 else '-'} {abs(value.imag):.6g}i 1/s"],
        ["amplitude", f"{motion.amplitude:.3g} of the coordinate that moves most (rad or m)"],
        ["shown", "the amplitude is chosen so that the motion is seen, and kept"],
    ]
    return _still(seen, times, [motion.at(f) for f in factors], title, facts, repeats=repeats) | {
        "speed": float(times[-1] - times[0]) / _CYCLE,
        "autoplay": True,
    }


def case_of_machine(plant: Any, q: Array, name: str = "") -> Case:
    """Case of a machine at one configuration."""
    gap = plant.closure_error(q)
    told = zip(plant.position_names, q, plant.position_units, strict=True)
    facts: list[list[Any]] = [[name, float(x), unit] for name, x, unit in told]  # in the units that the reader chooses
    facts.append(["loops open by", f"{gap:.1e} m"])
    return _still(scene(plant), np.zeros(1), [q], name, facts, repeats=False)


def _still(seen: Scene, times: Array, configurations: list[Array], name: str, facts: list, *, repeats: bool) -> Case:
    """Case of a motion without forces and curves."""
    poses = poses_of(seen, configurations)
    return {
        "name": name,
        "note": "",
        "failure": None,
        "facts": facts,
        "look": look_of(seen),
        "motion": motion_of(seen, times, configurations, poses, repeats=repeats),
        "speed": 1.0,
        "autoplay": False,
        "arrows": NO_ARROWS,
        "traces": traces_of(seen, poses, _TRACE) if repeats else [],
        "events": [],
        "plots": NO_CURVES,
        "readouts": [],
        "units": {},
    }


def colors() -> list[str]:
    """Colours of traces that the user puts on parts."""
    return list(COLORS)

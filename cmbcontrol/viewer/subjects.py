"""The verb `view`: pages of machines, runs, modes, and the worst runs of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..errors import InputError, InputTypeError, ModelError, SimulationError
from ..linear.model import LinearModel
from ..linear.modes import Modes
from ..linear.operating import OperatingPoint
from ..model.assembly import start_configuration
from ..model.elements import GROUND
from ..model.plant import Plant
from ..sim.result import Simulation
from ..studies import Study
from ..studies.summary import setting_lines
from .cases import Case, case_of_machine, case_of_mode, case_of_run
from .page import View

if TYPE_CHECKING:
    from .cases import Trace

__all__ = ["page_of", "view"]

_MODES = 12  # that are shown unless told, as in plot.modes


def view(
    subject: Plant | OperatingPoint | Simulation | LinearModel | Modes | Study,
    path: str | Path | None = None,
    *,
    title: str | None = None,
    q: ArrayLike | Mapping[str, float] | None = None,
    trace: Trace | None = None,
    speed: float | None = None,
    which: int | Sequence[int] | None = None,
    amplitude: float | None = None,
    measure: str | None = None,
    count: int | None = None,
    largest: bool | None = None,
) -> View | Path:
    """Show a machine in three dimensions: at rest, in a run, in its modes, in the worst runs of a study.

    The page is one HTML file that needs no network. Runs have their forces as arrows and their plots tied to the time.

    Parameters
    ----------
    subject : Plant, OperatingPoint, Simulation, LinearModel, Modes or Study
        A machine at `q`; a machine at an operating point; a run, also the computed part of a failed one
        (``error.partial``); a linear model by its modes, or these (``lin.undamped_modes()``); a study of runs by its
        worst ones and the one in the middle, each run again.
    path : str or Path, optional
        Path of the file, ``.html``; without it the page is returned, and shown by a notebook.
    title : str, optional
        The name of the plant unless given.
    q : array_like, shape (nq,), or mapping of position name to value, optional
        Of a machine: its configuration, rad and m; its start, or as `assemble` closes it, unless given.
    trace : sequence of (str, array_like), optional
        Of a run: bodies and points in their axes, m, whose paths are drawn; none for ``()``. Without it, the point
        where the only loop closes, or the centre of the body that is farthest from the ground.
    speed : float, optional
        Of a run: its seconds for one second on the screen, at first. Chosen unless given: 1 for 1 s to 60 s.
    which : int or sequence of int, optional
        Of modes: by number, as in ``lin.modes()``; the twelve slowest unless given.
    amplitude : float, optional
        Of modes: amplitude of the coordinate that moves most, rad or m; chosen for each unless given.
    measure : str, optional
        Of a study: decides which runs are the worst; the first one unless given.
    count : int, optional
        Of a study: number of the worst runs, 1 unless given.
    largest : bool, optional
        Of a study: whether large values are bad, as they are unless given.

    Returns
    -------
    View, or Path
        The path where one was given.

    Raises
    ------
    ModelError
        For a run or a linear model that does not know its plant, and a plant given by functions that has no sketch.
    AssemblyError
        Where the loops do not close at the amplitude of a mode, or at no configuration of a machine.
    ValueError, TypeError
        For what cannot be shown, options of another kind of thing, modes and measures that do not exist, measures
        without values.
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, simulate, trim
    >>> plant = plants.pendulum()
    >>> view(plant, q=plant.assemble(angle=0.3))
    <View of 'pendulum'; save('view.html') writes it>
    >>> view(simulate(plant, q0=plant.assemble(angle=0.3), t_end=0.1), speed=0.2)
    <View of 'pendulum'; save('view.html') writes it>
    >>> view(linearize(plant, trim(plant, plant.assemble(angle=-1.57))), which=0)
    <View of 'pendulum'; save('view.html') writes it>
    """
    given = {
        "q": q, "trace": trace, "speed": speed, "which": which, "amplitude": amplitude,
        "measure": measure, "count": count, "largest": largest,
    }  # fmt: skip
    page = page_of(subject, title, {name: value for name, value in given.items() if value is not None})
    return page if path is None else page.save(path)


def page_of(subject: Any, title: str | None, options: Mapping[str, Any]) -> View:
    """Page of `view`, for the options that are given."""
    kind = _check.kind_of(subject, _KINDS, "view", options)
    name, cases = kind.make(subject, **options)
    return View(name if title is None else _check.text(title, "title"), cases)


def _of_run(run: Simulation, trace: Any = None, speed: Any = None) -> tuple[str, list[Case]]:
    if speed is not None:
        speed = _check.positive(speed, "speed")
    if trace is not None:
        trace = _traced(run, trace)
    return str(run.data.attrs["plant"]), [case_of_run(run, trace=trace, speed=speed)]


def _traced(run: Simulation, trace: Any) -> Trace:
    bodies = [GROUND, *(body.name for body in getattr(run.plant, "bodies", ()))]
    found = []
    for pair in _check.sequence(trace, "trace", "pairs of a body and a point"):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise InputTypeError(f"trace= takes pairs of a body and a point, got {_check.shown(pair)}")
        body, point = pair
        _check.one_of(body, bodies, "body to trace")
        found.append((body, _check.point(point, f"the point of {body!r} to trace")))
    return found


def _of_linear_model(model: LinearModel, which: Any = None, amplitude: Any = None) -> tuple[str, list[Case]]:
    return _of_modes(model.modes(), which, amplitude)


def _of_modes(modes: Modes, which: Any = None, amplitude: Any = None) -> tuple[str, list[Case]]:
    if which is None:
        numbers = list(range(min(len(modes), _MODES)))
    else:
        asked = [which] if isinstance(which, (int, np.integer)) else _check.sequence(which, "which", "numbers of modes")
        numbers = [_check.count(i, "which mode", 0) for i in asked]
    for i in numbers:
        if i >= len(modes):
            raise InputError(f"there is no mode {i}; there are {len(modes)}, numbered from 0")
    name = modes.linear_model.name
    if not numbers:
        raise InputError(f"the linear model of {name!r} has no modes to show")
    return name, [case_of_mode(modes, i, amplitude) for i in numbers]


def _of_machine(plant: Plant, q: Any = None) -> tuple[str, list[Case]]:
    at = start_configuration(plant) if q is None else plant.configuration(q)
    return str(plant.name), [case_of_machine(plant, at)]


def _of_point(point: OperatingPoint) -> tuple[str, list[Case]]:
    if point.plant is None:
        raise ModelError("the operating point was loaded without its plant, which draws it")
    return _of_machine(point.plant, point.q)


def _of_study(study: Study, measure: Any = None, count: Any = 1, largest: Any = True) -> tuple[str, list[Case]]:
    if measure is None and not study.measures:
        raise InputError("the study has no measures, by which its worst run could be chosen")
    measure = study.measures[0] if measure is None else _check.one_of(measure, study.measures, "measure")
    ranked = study.worst(measure, len(study.rows) or 1, largest=_check.flag(largest, "largest"))
    if not ranked:
        raise InputError(f"no run of the study has a value of {measure!r}: there is no worst one")
    worst = ranked[: _check.count(count, "count")]
    middle = ranked[len(ranked) // 2]
    cases = [
        _case_of_row(study, measure, index, "worst" if k == 0 else f"worst but {k}") for k, index in enumerate(worst)
    ]
    if middle not in worst:
        cases.append(_case_of_row(study, measure, middle, "median"))
    return f"{cases[0]['look']['name']}, worst {measure}", cases


def _case_of_row(study: Study, measure: str, index: int, place: str) -> Case:
    try:
        run = study.rerun(index)
    except SimulationError as error:
        run = error.partial
    if not isinstance(run, Simulation):
        raise InputTypeError(f"run {index} of the study is no Simulation but {_check.shown(run)}: there is no motion")
    values, unit = study.data[measure].values, study.data[measure].attrs.get("units", "")
    value = float(values[study.data["run"].values == index][0])
    case = case_of_run(run, name=f"run {index}, {place}: {measure} = {value:.5g} {unit}".strip())
    return case | {"facts": [*map(list, setting_lines(study, index)), *case["facts"]]}


_KINDS = (
    _check.SubjectKind("a run", Simulation, ("trace", "speed"), _of_run),
    _check.SubjectKind("a linear model", LinearModel, ("which", "amplitude"), _of_linear_model),
    _check.SubjectKind("modes", Modes, ("which", "amplitude"), _of_modes),
    _check.SubjectKind("a study", Study, ("measure", "count", "largest"), _of_study),
    _check.SubjectKind("an operating point", OperatingPoint, (), _of_point),
    _check.SubjectKind("a machine", Plant, ("q",), _of_machine),
)

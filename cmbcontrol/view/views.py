"""Pages of runs, modes, machines, and the worst runs of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..errors import InputError, InputTypeError, SimulationError
from ..linear.model import LinearModel
from ..model.elements import GROUND
from ..sim.result import Simulation
from ..studies import Study
from ..studies.summary import setting_lines
from .cases import Case, case_of_machine, case_of_mode, case_of_run
from .page import View

if TYPE_CHECKING:
    from .cases import Trace

__all__ = ["view_machine", "view_modes", "view_run", "view_study"]


def view_run(
    run: Simulation,
    path: str | Path | None = None,
    *,
    title: str | None = None,
    trace: Trace | None = None,
    speed: float | None = None,
) -> View | Path:
    """Show a run in three dimensions, with forces as arrows and plots tied to the time, as one HTML file.

    Parameters
    ----------
    run : Simulation
        Run with its plant. Of a failed run (``error.partial``) the computed part is shown.
    path : str or Path, optional
        Path of the file, ``.html``; without it the page is returned, and shown by a notebook.
    title : str, optional
        The name of the plant unless given.
    trace : sequence of (str, array_like), optional
        Bodies and points in their axes, m, whose paths are drawn; none for ``()``. Without it, the point where the
        only loop closes, or the centre of the body that is farthest from the ground.
    speed : float, optional
        Seconds of the run for one second on the screen, at first. Chosen unless given: 1 for runs of 1 s to 60 s.

    Returns
    -------
    View, or Path
        The path where one was given.

    Raises
    ------
    ModelError
        For a run that does not know its plant, and a plant given by functions that has no sketch.
    ValueError, TypeError
        For arguments that make no sense.
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> view_run(simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1))
    <View of 'five-bar'; save('view.html') writes it>
    """
    _check.run(run)
    name = _title(title, str(run.data.attrs["plant"]))
    if speed is not None:
        speed = _check.positive(speed, "speed")
    if trace is not None:
        trace = _traced(run, trace)
    return _shown(View(name, [case_of_run(run, trace=trace, speed=speed)]), path)


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


def view_modes(
    linear_model: LinearModel,
    path: str | Path | None = None,
    *,
    which: int | Sequence[int] | None = None,
    amplitude: float | None = None,
    undamped: bool = False,
    title: str | None = None,
) -> View | Path:
    """Show the modes of a linear model on the closed machine, animated, as one HTML file.

    Parameters
    ----------
    linear_model : LinearModel
        Model with its plant.
    path : str or Path, optional
        Path of the file, ``.html``; without it the page is returned, and shown by a notebook.
    which : int or sequence of int, optional
        Modes by number, as in ``lin.modes()``; the twelve slowest unless given.
    amplitude : float, optional
        Amplitude of the coordinate that moves most, rad or m; chosen for each mode unless given, as in `plot.modes`.
    undamped : bool
        The modes of ``lin.undamped_modes()``.
    title : str, optional

    Returns
    -------
    View, or Path
        The path where one was given.

    Raises
    ------
    ModelError
        Where the model was loaded without its plant, or the plant has no sketch.
    AssemblyError
        Where the loops do not close at the amplitude.
    ValueError, TypeError
        For modes that do not exist.
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> from cmbcontrol import linearize, plants, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)))
    >>> view_modes(lin, which=0)
    <View of 'pendulum'; save('view.html') writes it>
    """
    _check.instance(linear_model, LinearModel, "linear_model", "from linearize")
    undamped = _check.flag(undamped, "undamped")
    found = linear_model.undamped_modes() if undamped else linear_model.modes()
    if which is None:
        numbers = list(range(min(len(found), _MODES)))
    else:
        asked = [which] if isinstance(which, (int, np.integer)) else _check.sequence(which, "which", "numbers of modes")
        numbers = [_check.count(i, "which mode", 0) for i in asked]
    for i in numbers:
        if i >= len(found):
            raise InputError(f"there is no mode {i}; there are {len(found)}, numbered from 0")
    if not numbers:
        raise InputError(f"the linear model of {linear_model.name!r} has no modes to show")
    cases = [case_of_mode(linear_model, i, undamped=undamped, amplitude=amplitude) for i in numbers]
    return _shown(View(_title(title, linear_model.name), cases), path)


_MODES = 12  # that are shown unless told, as in plot.modes


def view_machine(
    plant: Any, q: ArrayLike | Mapping[str, float], path: str | Path | None = None, *, title: str | None = None
) -> View | Path:
    """Show a machine at one configuration in three dimensions, as one HTML file.

    Parameters
    ----------
    plant : Mechanism, or FunctionPlant with a sketch
    q : array_like, shape (nq,), or mapping of position name to value
    path : str or Path, optional
        Path of the file, ``.html``; without it the page is returned, and shown by a notebook.
    title : str, optional

    Returns
    -------
    View, or Path
        The path where one was given.

    Raises
    ------
    ModelError
        For a plant given by functions that has no sketch.
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> view_machine(plant, plant.assemble(left=2.1, right=1.0))
    <View of 'five-bar'; save('view.html') writes it>
    """
    _check.plant(plant)
    case = case_of_machine(plant, plant.configuration(q))
    return _shown(View(_title(title, str(plant.name)), [case]), path)


def view_study(
    study: Study,
    measure: str,
    path: str | Path | None = None,
    *,
    count: int = 1,
    largest: bool = True,
    title: str | None = None,
) -> View | Path:
    """Show the worst runs of a study, and the one in the middle, each run again, as one HTML file.

    Parameters
    ----------
    study : Study
        Study of runs.
    measure : str
        Measure that decides which runs are the worst.
    path : str or Path, optional
        Path of the file, ``.html``; without it the page is returned, and shown by a notebook.
    count : int
        Number of the worst runs.
    largest : bool
        Whether large values are bad.
    title : str, optional

    Returns
    -------
    View, or Path
        The path where one was given.

    Raises
    ------
    TypeError
        For studies of other things than runs.
    ValueError
        For unknown measures, and for measures without values.
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> from cmbcontrol import plants, studies
    >>> def case(angle):
    ...     plant = plants.pendulum()
    ...     return {"plant": plant, "q0": plant.assemble(angle=angle), "t_end": 0.1}
    >>> found = studies.study(case, {"angle": [0.1, 0.2, 0.3]}, measures={"end": lambda run: run.q.values[-1, 2]})
    >>> view_study(found, "end")
    <View of 'pendulum, worst end', 2 cases; save('view.html') writes it>
    """
    _check.instance(study, Study, "study", "from studies.study")
    _check.one_of(measure, study.measures, "measure")
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
    name = cases[0]["look"]["name"]
    return _shown(View(_title(title, f"{name}, worst {measure}"), cases), path)


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


def _title(title: str | None, name: str) -> str:
    return name if title is None else _check.text(title, "title")


def _shown(view: View, path: str | Path | None) -> View | Path:
    return view if path is None else view.save(path)

"""Study as a YAML file: the machine, its law, the parameters that vary, and the measures."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _check, _yaml
from .._progress import Progress
from ..controllers.description import DescribedLaw
from ..errors import InputError, InputTypeError
from ..formats import Conversion, read
from ..formats.files import SUFFIXES
from ..model.elements.mesh_files import file_within
from ..model.mechanism import Mechanism
from . import measures as ready
from .case import LinearCase, MachineCase
from .study import Study, study
from .variation import Vary

__all__ = ["StudyFile", "read_study"]

_RUNS = ("vary", "runs", "sampling", "seed", "measures", "limits", "keep", "time_limit", "memory_limit")
_KEYS = ("machine", "options", "law", "start", "knows", "run", "linear", *_RUNS)


@dataclass(frozen=True)
class StudyFile:
    """Content of a study file.

    Attributes
    ----------
    path : Path
    case : MachineCase or LinearCase
    vary : dict of str to Vary
    measures : dict of str to callable
    limits : dict of str to (float, float)
        Limits of measures, for the yield.
    options : dict
        Options of `study`: runs, sampling, seed, keep, limits of time and memory.
    conversion : Conversion or None
        Remarks on a machine from a file; None for other machines.
    """

    path: Path
    case: MachineCase | LinearCase
    vary: dict[str, Vary]
    measures: dict[str, Any]
    limits: dict[str, tuple[float, float]]
    options: dict[str, Any]
    conversion: Conversion | None = None

    def run(self, *, workers: Any = 1, folder: str | Path | None = None, progress: Progress = False) -> Study:
        """Run the study; see `study`."""
        return study(
            self.case, self.vary, measures=self.measures, workers=workers, folder=folder, progress=progress,
            **self.options,
        )  # fmt: skip


def read_study(path: str | Path) -> StudyFile:
    """Read a study from a file.

    Its keys are ``machine`` (a plant of the catalogue, or a machine in a file of any format of `formats.read`,
    which is in the folder of this one or below), ``options`` (of a plant of the catalogue), ``law`` (see
    `controllers.law_from_dict`; texts ``$name`` are parameters), ``start`` (joint values), ``knows``; then ``run``
    (options of `simulate`, such as t_end) or ``linear`` (options of linear models); ``vary`` (parameters: a list of
    values, ``{low: 1, high: 2}``, or ``{distribution: norm, loc: 1, scale: 0.1}`` of `scipy.stats`, each with a
    ``unit``), ``runs``, ``sampling``, ``seed``; ``measures`` (names to ready ones: ``worst_error``, or
    ``{settling_time: {within: 0.001}}``), ``limits`` (measures to [low, high]), ``keep``, ``time_limit``,
    ``memory_limit``.

    Returns
    -------
    StudyFile

    Raises
    ------
    FileError
        Where it cannot be read.
    ValueError, TypeError
        For entries that make no sense; the message names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... machine: five-bar
    ... start: {left: 2.1, right: 1.0}
    ... run: {t_end: 0.1}
    ... vary:
    ...   left_lower_scale: {low: 0.9, high: 1.1, unit: "1"}
    ... runs: 2
    ... measures: {conditioning: worst_conditioning}
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "masses.yaml")
    ...     _ = file.write_text(text)
    ...     found = read_study(file).run()
    >>> found.data.sizes["run"], found.failures
    (2, 0)
    """
    file = _yaml.read(path)
    with file.at():
        data = _check.mapping(file.data, "a study", "its keys to what they say")
    for key in data:
        with file.at(key):
            _check.one_of(key, _KEYS, "key of a study")
    with file.at():
        for key in ("machine", "vary"):
            if key not in data:
                raise InputError(f"the key {key!r} is missing")
        if ("run" in data) == ("linear" in data):
            raise InputError("give either 'run', with options of simulate, or 'linear', with those of linear models")
    with file.at("machine"):
        plant, conversion = _machine(data["machine"], data.get("options"), Path(path).parent)
    kind = "run" if "run" in data else "linear"
    with file.at(kind):
        options = _check.mapping(data[kind] or {}, kind, "options to values")
    law = DescribedLaw(data["law"]) if data.get("law") is not None else None
    with file.at(kind):
        make = MachineCase if kind == "run" else LinearCase
        case = make(plant, law, data.get("start"), knows=data.get("knows", False), **options)
    with file.at("vary"):
        vary = _check.mapping(data["vary"] or {}, "vary", "parameters to what they take")
    with file.at("law"):
        for name in law.parameters if law is not None else ():
            if name not in vary:
                raise InputError(f"the law asks for ${name}, which does not vary; write its number, or vary it")
    varied = {}
    for name, given in vary.items():
        with file.at("vary", name):
            case.check([name])
            varied[name] = _vary(given)
    with file.at("law"):
        if law is not None:  # before thousands of runs fail of it
            law(plant, **{name: _middle(varied[name]) for name in law.parameters})
    with file.at("measures"):
        listed = _check.mapping(data.get("measures") or {}, "measures", "names to measures")
    measures = {}
    for name, given in listed.items():
        with file.at("measures", name):
            measures[name] = _measure(given)
    limits = {}
    with file.at("limits"):
        asked = _check.mapping(data.get("limits") or {}, "limits", "measures to [low, high]")
    for name, pair in asked.items():
        with file.at("limits", name):
            _check.one_of(name, measures, "measure")
            limits[name] = _check.interval(pair, f"the limits of {name!r}")
    rest = {key: data[key] for key in ("runs", "sampling", "seed", "keep", "time_limit", "memory_limit") if key in data}
    return StudyFile(Path(path), case, varied, measures, limits, rest, conversion)


def _machine(name: Any, options: Any, folder: Path) -> tuple[Mechanism, Conversion | None]:
    """Machine of the catalogue, or from a file with its remarks."""
    from ..plants import catalogue

    if isinstance(name, str) and Path(name).suffix.lower() in SUFFIXES:
        if options is not None:
            raise InputError("options are those of a plant of the catalogue; a machine of a file has none")
        found = read(file_within(folder, name, "the machine"))
        return found.machine, found
    entry = catalogue[_check.one_of(name, catalogue, "plant of the catalogue")]
    known = inspect.signature(entry.factory).parameters
    given = _check.mapping(options or {}, "options", "options of the plant to values")
    for key in given:
        _check.one_of(key, known, f"option of {name}")
    return entry.factory(**given), None


def _vary(given: Any) -> Vary:
    """Variation of a parameter, from an entry of the file."""
    if isinstance(given, list):
        return Vary(given)
    if not isinstance(given, Mapping):
        raise InputTypeError(
            "a parameter takes a list of values, {low: 1, high: 2}, or {distribution: norm, loc: 1, scale: 0.1}, got "
            f"{_check.shown(given)}"
        )
    rest = dict(given)
    unit = _check.text(rest.pop("unit", ""), "unit")
    if "values" in rest and len(rest) == 1:
        return Vary(rest["values"], unit)
    if set(rest) == {"low", "high"}:
        return Vary((_check.number(rest["low"], "low"), _check.number(rest["high"], "high")), unit)
    if "distribution" not in rest:
        raise InputError(
            f"a parameter takes values, low and high, or a distribution with its arguments, got {', '.join(rest)}"
        )
    return Vary(_distribution(rest.pop("distribution"), rest), unit)


def _distribution(name: Any, arguments: dict[str, Any]) -> Any:
    """Frozen distribution of scipy.stats, by its name and arguments."""
    from scipy import stats

    known = {n: d for n, d in vars(stats).items() if isinstance(d, (stats.rv_continuous, stats.rv_discrete))}
    distribution = known[_check.one_of(name, known, "distribution of scipy.stats")]
    shapes = [s.strip() for s in (distribution.shapes or "").split(",") if s.strip()]
    own = [*shapes, "loc", *(["scale"] if isinstance(distribution, stats.rv_continuous) else [])]
    for key, x in arguments.items():
        _check.number(x, f"{_check.one_of(key, own, f'argument of {name}')!r} of {name}")
    missing = [shape for shape in shapes if shape not in arguments]
    if missing:
        raise InputError(f"distribution {name!r} needs {', '.join(missing)}")
    frozen = distribution(**arguments)
    if frozen.support()[0] != frozen.support()[0]:
        raise InputError(f"distribution {name!r} does not exist with {arguments}")
    return frozen


def _middle(vary: Vary) -> Any:
    """Value in the middle of the range of a parameter."""
    import numpy as np

    return vary.listed[0] if vary.listed is not None else float(vary.value(np.array([0.5]))[0])


def _measure(given: Any) -> Any:
    """Ready measure, from an entry of the file."""
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, arguments),) = given.items()
        arguments = _check.mapping(arguments or {}, f"arguments of {name!r}", "names to values")
    else:
        name, arguments = given, {}
    make = getattr(ready, _check.one_of(name, ready.__all__, "measure"))
    for key in arguments:
        _check.one_of(key, inspect.signature(make).parameters, f"argument of {name}")
    try:
        return make(**arguments)
    except TypeError as error:
        if isinstance(error, InputTypeError):
            raise
        raise InputTypeError(f"measure {name!r}: {error}") from error

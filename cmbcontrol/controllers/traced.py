"""Laws as generated code: the law itself computes with symbols, and its results become a function of the state.

There is one text of a law: Python calls it with numbers, and it is traced with symbols. Its numbers (gains, limits,
time constants) and those of its model are inputs of the code, so that laws which differ in them share it. Functions of
time alone, references and noise, are evaluated beside it, see `at_time`.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputTypeError, line_of_user
from ..model.generated import code_of
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..trace.code import Code, compiled
from ..trace.functions import Function, Tracing, rate
from ..trace.graph import Graph
from ..trace.numbers import empty
from ..trace.plant import TracedPlant
from ..trace.symbols import NotTraceable, Symbols, Time, array
from ..trace.tangents import slope
from ..trace.terms import TracedTerms
from .controller import Controller, Drive, Evaluation, evaluated, moved, start_of

__all__ = [
    "LawCode",
    "NotCompiled",
    "Numbers",
    "TracedLaw",
    "compiled_law",
    "drive_code",
    "is_own",
    "law_code",
    "parts_of",
    "reason",
    "signals_of",
    "slope_code",
    "traced_sample",
    "untraceable",
]

Array = NDArray[np.float64]
_Given = TypeVar("_Given")

_OWN = __name__.partition(".")[0]
_PLAIN = (0.0, 1.0, -1.0)

# Closeness above which slopes are trusted: rounding grows by its inverse square, and differences have 1e-9 at best.
_CLEAR = 1e-3

_known: dict[str, _Traced] = {}  # by structure
_KEPT = 256


def compiled_law(given: _Given) -> _Given:
    """Mark a class of controllers, or a function (t, terms, state) -> effort, to be compiled for the time loop.

    It is then called once with symbols in place of numbers, and must do the same each time: no printing, no memory of
    its own. Arithmetic, ``@``, and numpy's functions of numbers work (sin, arctan2, exp, tanh, sqrt, minimum, clip,
    sign, mod and others), lists, and functions of time that it has as attributes, called with the time: its
    ``reference``, say. An ``if`` on a number is decided as it is at the start (after the first sample, where the law
    cannot be traced at the start), and where it would be decided otherwise, Python is called, as for all that cannot be
    traced; a `SpeedWarning` reports it.

    Parameters
    ----------
    given : type or callable
        A class derived from `Controller`, `EffortBlock`, `SensorBlock` or `Drive`, or a function.

    Returns
    -------
    type or callable
        The class or function that was given.

    Raises
    ------
    InputTypeError
        For anything else.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> @compiled_law
    ... def damping(t, terms, state):
    ...     return -2.0 * terms.B.T @ terms.v
    >>> plant = plants.five_bar()
    >>> damping(0.0, plant.terms(plant.assemble(), [1.0, 0.0, 0.0, 0.0]), []).round(2)
    array([-2., -0.])
    """
    if isinstance(given, Controller) or not callable(given):
        raise InputTypeError(
            "given must be a class derived from Controller, or a function (t, terms, state) -> effort, got "
            f"{_check.shown(given)}; @compiled_law marks what it stands above"
        )
    try:
        given.traced = True  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise InputTypeError(
            f"given: {_check.shown(given)} cannot be marked, as it takes no attributes; write a class or function of "
            "your own"
        ) from None
    return given


class NotCompiled(str):
    """Reason why a law that is made to be compiled has no code; for laws left to Python on purpose it is a str."""

    __slots__ = ()


class LawCode(NamedTuple):
    """Generated code of a law.

    Attributes
    ----------
    address : int
        Address of ``int64 f(double* p, double* x, double* y)``: x is time, q, v, states, held efforts (where the law
        measures the force) and signals; y is efforts, rates or next values of the states, and the report.
    p : ndarray
        Numbers of the machine, and of the law.
    signals : tuple of (callable, int)
        Functions of time, and how many numbers each one gives.
    report : tuple of str
        Names of its numbers.
    told : bool
        Whether the report holds the inputs from which Python computes it: q, v, states, and held efforts where the law
        measures the force.
    """

    address: int
    p: Array
    signals: tuple[tuple[Callable[[float], Any], int], ...]
    report: tuple[str, ...]
    told: bool = False


class Numbers:
    """Structure of a law, and its numbers in a fixed order, noted by `of`; with symbols in their place on request.

    Attributes
    ----------
    structure : list
        All but the numbers. Two laws that agree in it, and in the machines, differ in inputs only.
    values : list of float
    """

    def __init__(
        self,
        symbol: Callable[[str, float], Any] | None = None,
        make_plant: Callable[[Plant], Any] = lambda plant: plant,
    ) -> None:
        self.structure: list[Any] = []
        self.values: list[float] = []
        self.originals: dict[int, Any] = {}
        self.plants: list[Plant] = []
        self._symbol, self._make_plant = symbol, make_plant
        self._seen: dict[int, Any] = {}
        self.kept: list[Any] = []
        self._path: list[str] = []
        self._titles: list[str] = []

    def number(self, x: float) -> Any:
        x = float(x)
        if x in _PLAIN or not np.isfinite(x):
            self.structure.append(x)
            return x
        self.values.append(x)
        self.structure.append("number")
        return x if self._symbol is None else self._symbol("_".join(self._path), x)

    def _inside(self, name: Any, x: Any) -> Any:
        """Copy of a named part, as `of` makes it."""
        self._path.append(str(name))
        try:
            return self.of(x)
        finally:
            self._path.pop()

    def of(self, x: Any) -> Any:
        """Copy of an object, with symbols in place of its numbers on request; its structure and numbers are noted."""
        kind = type(x)
        if x is None or kind in (bool, int, str, bytes, np.bool_, np.int64, range):
            self.structure.append((kind.__name__, x))
            return x
        if kind in (float, np.float64):
            return self.number(x)
        if kind is np.ndarray:
            return self._array(x)
        if id(x) in self._seen:
            self.structure.append(("seen", list(self._seen).index(id(x))))
            return self._seen[id(x)]
        if isinstance(x, Plant):
            self._seen[id(x)] = made = self._make_plant(x)
            self.plants.append(x)
            self.structure.append("plant")
            return made
        if isinstance(x, (tuple, list)):
            self.structure.append((kind.__qualname__, len(x)))
            fields = getattr(x, "_fields", range(len(x)))
            parts = [self._inside(name, y) for name, y in zip(fields, x, strict=True)]
            return kind(*parts) if hasattr(x, "_fields") else kind(parts)
        if kind is dict:
            self.structure.append(("dict", tuple(map(str, x))))
            return {key: self._inside(key, y) for key, y in x.items()}
        of_time = hasattr(kind, "over")  # references: only what they say matters
        if is_traced(kind) and hasattr(x, "__dict__") and not isinstance(x, (type, types.FunctionType)) and not of_time:
            return self._object(x)
        plain = isinstance(x, (type, np.ufunc))
        if callable(x) and not plain and not getattr(x, "traced", False):
            self.structure.append("function")  # of time: only its values matter
            self._seen[id(x)] = made = _OfTime(self._path[-1] if self._path else kind.__name__)
            self.originals[id(made)] = x
            self.kept += [x, made]
            return made
        self.structure.append(("opaque", id(x)))
        self.kept.append(x)  # no other object gets its identity
        return x

    def _array(self, x: NDArray[Any]) -> Any:
        self.structure.append(("array", x.shape, x.dtype.kind))
        if x.dtype.kind != "f":
            self.structure.append(x.tobytes() if x.dtype.kind in "biu" else ("opaque", id(x)))
            self.kept.append(x)
            return x
        if self._symbol is None:
            for y in x.ravel().tolist():
                self.number(y)
            return x
        made = np.empty(x.shape, object)
        for at in np.ndindex(x.shape):
            made[at] = self._inside("_".join(map(str, at)), float(x[at])) if at else self.number(float(x))
        return Symbols(made)

    def _object(self, x: Any) -> Any:
        kind = type(x)
        made = object.__new__(kind)
        self._seen[id(x)] = made
        self.originals[id(made)] = x
        self.kept += [x, made]
        parts = {name: y for name, y in vars(x).items() if name != "_arguments"}
        parts = {name: y for name, y in parts.items() if name not in getattr(kind, "untraced", ())}
        self.structure.append((kind.__module__, kind.__qualname__, tuple(parts)))
        if not _is_of_package(kind):  # another class may have its name, as after a cell of a notebook was run again
            self.structure.append(id(kind))
            self.kept.append(kind)
        title = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")
        self._titles.append(title)
        again = self._titles.count(title)
        path, self._path = self._path, [title if again == 1 else f"{title}_{again}"]
        vars(made).update({name: self._inside(name.lstrip("_"), y) for name, y in parts.items()})
        for name, y in class_data(kind).items():
            if name in parts:
                continue
            if isinstance(y, (float, np.floating, np.ndarray)):  # of the class: no number that differs from law to law
                self.structure.append((name, np.asarray(y).tobytes()))
            else:
                vars(made)[name] = self._inside(name, y)
        self._path = path
        return made

    def key(self) -> Any:
        return repr(self.structure)


class _OfTime:
    """A function of time that a law has: it is evaluated beside the law, and its value is an input."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) == 1 and isinstance(arguments[0], Time):
            return arguments[0].signal(self)
        raise NotTraceable(
            f"{self._name!r} is asked for something else than what it says at the time t of the sample. A function of "
            "the time alone is evaluated beside the law, as self.NAME(t); mark one of the state with @compiled_law"
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self.__dict__.get('_name')!r} is a function of time, which is evaluated beside the law: of it there is "
            f"what it says at the time t, and no {name!r}"
        )


def _is_of_package(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == _OWN


def is_traced(kind: type) -> bool:
    """Whether tracing enters objects of a class: those of this package, and those marked for it (see `law`)."""
    return _is_of_package(kind) or getattr(kind, "traced", False)


def class_data(kind: type) -> dict[str, Any]:
    """Attributes of a class of a user, by name, without functions: a reference, say, or the period."""
    return {
        name: y
        for base in reversed(kind.__mro__)
        if not _is_of_package(base) and base is not object
        for name, y in vars(base).items()
        if not name.startswith(("__", "_abc")) and not hasattr(type(y), "__get__")
    }


def is_own(function: Callable) -> bool:
    """Whether a function of time is one of this package, which does not fail."""
    return is_traced(type(getattr(function, "__self__", function)))


def untraceable(part: Any) -> str:
    """Name of a part of a controller that only Python can evaluate, with the remedy; empty where there is none."""
    if isinstance(part, (tuple, list)):
        return next((why for x in part if (why := untraceable(x))), "")
    kind = type(part)
    if _is_of_package(kind):
        if why := getattr(part, "no_code", ""):
            return why
        inside = [vars(part).get(name) for name in ("law", "motion", "sensors", "blocks", "drive", "task")]
        function = vars(part).get("function")
        if isinstance(function, (types.FunctionType, functools.partial)) and not getattr(function, "traced", False):
            return f"{getattr(function, '__name__', 'a function')} (mark it with @compiled_law)"
        return next((why for x in inside if x is not None and (why := untraceable(x))), "")
    return "" if getattr(kind, "traced", False) else f"{kind.__name__} (mark it with @compiled_law)"


def law_code(plant: Plant, law: Controller, q: Array, code: Code | None = None) -> LawCode | str:
    """Generated code of a law in sampled time for a machine; or the reason why there is none.

    Parameters
    ----------
    plant : Plant
        Machine that is simulated: the law gets its terms.
    law : Controller
    q : ndarray, shape (nq,)
        Comparisons are decided as at this configuration.
    code : Code, optional
        Generated code of the machine.
    """
    return _code(plant, law, q, traced_sample, code)


def drive_code(plant: Plant, drive: Drive | Controller, q: Array, code: Code | None = None) -> LawCode | str:
    """Generated code of the rate of a machine with a drive or law in continuous time; or the reason for none.

    Its inputs x are q, v, efforts that are held, time, states, signals; y is as in `trace.functions.rate`, and the rate
    of the states.
    """
    return _code(plant, drive, q, traced_rate, code)


def slope_code(plant: Plant, law: Controller, q: Array) -> LawCode | str:
    """Generated code of a law's derivatives along a direction, see `traced_slope`; or the reason why there is none."""
    return _code(plant, law, q, traced_slope, None)


def _code(plant: Plant, law: Any, q: Array, trace: Callable, own: Code | None) -> LawCode | str:
    why = untraceable(law)
    if why:
        return why
    outline = Numbers()
    outline.of(law)
    codes = {}
    for machine in [plant, *outline.plants]:
        code = own if machine is plant and own is not None else None
        if code is None:
            code = code_of(machine, q) if isinstance(machine, Mechanism) and machine.nq == len(q) else None
        if code is None and not isinstance(machine, Mechanism):
            return f"{machine.name!r} is given by functions"
        if code is None:
            return NotCompiled(
                f"{machine.name!r} has no generated code at this configuration, which is singular or nearly so; start "
                "away from it"
            )
        codes[id(machine)] = code
    order = list(dict.fromkeys([id(plant), *map(id, outline.plants)]))
    which = [order.index(id(machine)) for machine in outline.plants]
    machines = [codes[number] for number in order]
    key = repr((trace.__name__, outline.key(), which, [(m.parameters.structure, m.rows) for m in machines]))
    found = _known.get(key)
    if found is None:
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)))
        found = _known[key] = _Traced(_traced(plant, law, q, machines, order, codes, trace), outline.kept)
    if isinstance(found.code, str):
        return found.code
    signals = signals_of(law, found.code.signals)
    p = np.concatenate([*(m.p for m in machines), np.array(outline.values, dtype=np.float64)])
    return found.code._replace(p=p, signals=signals)


class _Traced(NamedTuple):
    """Result of tracing, and objects whose identity is part of the structure, kept so that no other one gets it."""

    code: LawCode | str
    kept: list[Any]


def signals_of(law: Any, places: Sequence[tuple[tuple[int, str], int]]) -> tuple:
    """Functions of time of a law, by their places, which are the same in all laws of one structure."""
    parts = parts_of(law)
    return tuple((function_of(parts[place], name), size) for (place, name), size in places)


def function_of(owner: Any, name: str) -> Callable[[float], Any]:
    """Function of an object by its name, or the object itself for an empty name."""
    return getattr(owner, name) if name else owner


def parts_of(law: Any) -> list[Any]:
    """List of all objects in a law, in a fixed order."""
    found: list[Any] = []
    seen: set[int] = set()

    def visit(x: Any) -> None:
        if id(x) in seen or x is None or isinstance(x, (str, bytes, int, float, np.ndarray, Plant)):
            return
        seen.add(id(x))
        found.append(x)
        if isinstance(x, (tuple, list)):
            for y in x:
                visit(y)
        elif type(x) is dict:
            for y in x.values():
                visit(y)
        elif is_traced(type(x)) and hasattr(x, "__dict__") and not hasattr(type(x), "over"):  # see `Numbers.of`
            left = {"_arguments", *getattr(type(x), "untraced", ())}
            for name, y in (class_data(type(x)) | vars(x)).items():
                if name not in left:
                    visit(y)

    visit(law)
    return found


def _traced(plant, law, q, machines, order, codes, trace) -> LawCode | str:
    """Code of a law, traced and compiled; or a text that names what cannot be traced.

    Comparisons are decided as at the start; and as after the first sample where a law cannot be traced at the start,
    as one that has to begin with something.
    """
    found = _traced_at(plant, law, q, start_of(law, plant), machines, order, codes, trace)
    if isinstance(found, str) and trace is traced_sample and isinstance(plant, Mechanism):
        begun = _begun(plant, law, q)
        if begun is not None:
            again = _traced_at(plant, law, q, begun, machines, order, codes, trace)
            return found if isinstance(again, str) else again
    return found


def _begun(plant: Mechanism, law: Controller, q: Array) -> Array | None:
    """States of a law after a sample at a configuration; None where it fails there."""
    start, rest = start_of(law, plant), np.zeros(plant.nv)
    try:
        terms = plant.terms(q, rest)
        if law.measures_force:
            terms = terms.with_force(np.zeros(plant.nv))
        return moved(evaluated(law, 0.0, terms, start), start, True) if start.size else None
    except Exception:  # whatever it is: the run will tell
        return None


def _traced_at(plant, law, q, start, machines, order, codes, trace) -> LawCode | str:
    """Code of a law, traced with these states and compiled; or a text that names what cannot be traced."""
    graph = Graph()
    offsets = np.cumsum([0, *(len(machine.p) for machine in machines)])
    tracings = {
        number: Tracing(codes[number].model, codes[number].parameters, codes[number].rows, q, graph, int(at))
        for number, at in zip(order, offsets, strict=False)
    }
    for tracing in tracings.values() if trace is traced_slope else ():
        tracing.clear = _CLEAR
    places = itertools.count(int(offsets[-1]))
    numbers = Numbers(
        lambda _, x: graph.input("p", next(places), x), lambda machine: TracedPlant(machine, tracings[id(machine)])
    )
    try:
        found = trace(plant, law, numbers, tracings[id(plant)], start)
        address = compiled(found.function)
    except Exception as error:  # whatever it is that does not compute with symbols: Python computes with numbers
        return NotCompiled(f"{getattr(law, 'name', type(law).__name__)} cannot be traced: {reason(error)}")
    return LawCode(address, np.zeros(0), found.signals, found.report, found.told)


def reason(error: Exception) -> str:
    """Message on what does not compute with symbols, with the line of the user's code that asked for it."""
    said = str(error).splitlines()[0] if str(error) else repr(error)
    line = line_of_user(error)
    return f"{said} ({line})" if line else said


class TracedLaw(NamedTuple):
    """A traced law, as a function that can be compiled.

    Attributes
    ----------
    function : Function
    signals : tuple of ((int, str), int)
        Functions of time: the place of the owner among `parts_of` the law, the name there, and the count of numbers.
    report : tuple of str
    told : bool
        See `LawCode`.
    """

    function: Function
    signals: tuple[tuple[tuple[int, str], int], ...]
    report: tuple[str, ...]
    told: bool = False


class TimeSignals:
    """Functions of time that a law calls, as the last inputs of its function."""

    def __init__(self, law: Any, numbers: Numbers, graph: Graph) -> None:
        self._places = {id(x): place for place, x in enumerate(parts_of(law))}
        self._numbers, self._graph = numbers, graph
        self._asked: dict[tuple[int, str], Any] = {}
        self.found: list[tuple[tuple[int, str], int]] = []
        self.count = 0

    def __call__(self, function: Callable[[float], Any]) -> Any:
        owner = getattr(function, "__self__", function)
        name = function.__name__ if owner is not function else ""
        owner = self._numbers.originals.get(id(owner), owner)
        if id(owner) not in self._places:
            raise NotTraceable(f"a function of time, {getattr(function, '__qualname__', function)!r}")
        place = self._places[id(owner)], name
        if place not in self._asked:
            given = function_of(owner, name)(0.0)
            several = isinstance(given, (tuple, list))
            values = [np.asarray(x, dtype=np.float64) for x in (given if several else (given,))]
            made = [self._input(x) for x in values]
            self.found.append((place, sum(x.size for x in values)))
            self._asked[place] = tuple(made) if several else made[0]
        return self._asked[place]

    def _input(self, values: Array) -> Symbols:
        made = empty(values.size)
        for i, x in enumerate(values.ravel()):
            made[i] = self._graph.input("signal", self.count, x)
            self.count += 1
        return array(made.reshape(values.shape))

    def traced(self, outputs: Sequence[Any], size: int, report: Sequence[str] = (), told: bool = False) -> TracedLaw:
        """Traced law, whose signals come after `size` other inputs."""
        nodes = self._graph.nodes
        for k, node in enumerate(nodes):
            if node[:2] == ("input", "signal"):
                nodes[k] = ("input", "x", size + node[2])
        return TracedLaw(Function(self._graph, size + self.count, outputs), tuple(self.found), tuple(report), told)


def traced_sample(
    plant: Plant, original: Controller, numbers: Numbers, at: Tracing, start: Array | None = None, first: bool = False
) -> TracedLaw:
    """Traced law at a sample; comparisons are decided as with the states `start`, by default the initial ones.

    Its inputs are t, q, v, states, held efforts where it measures the force, signals; its outputs efforts, next states
    and report; with `first` also efforts and next states where no force has been measured, as at the first sample.
    """
    law, signal = numbers.of(original), TimeSignals(original, numbers, at.graph)
    start, nu = start_of(original, plant) if start is None else start, plant.nu
    held = np.ones(nu) if original.measures_force else np.zeros(0)
    t, q, v, state, u = at.inputs(np.zeros(1), at.sample, np.linspace(0.3, 0.7, at.nv), start, held)
    time = Time(t[0], signal)
    unmeasured = terms = TracedTerms(at, None, time, q, v)
    if original.measures_force:
        f = terms.B @ Symbols(u)
        terms = terms.with_force(f - terms.h - terms.M @ terms.acceleration(f))

    def said(terms: TracedTerms) -> tuple[Evaluation, list[Any]]:
        evaluation = evaluated(law, time, terms, Symbols(state))  # type: ignore[arg-type]
        effort = np.asarray(evaluation.effort, object).reshape(-1)
        after = np.asarray(moved(evaluation, Symbols(state), True), object)
        if effort.shape != (nu,) or after.shape != start.shape:
            raise NotTraceable("efforts or states in another shape than those of the machine")
        return evaluation, [*effort, *after]

    evaluation, outputs = said(terms)
    report, told = _report(at, evaluation, [*q, *v, *state, *u])
    outputs += report.values()
    if first:
        outputs += said(unmeasured)[1]
    return signal.traced(outputs, at.size, tuple(report), told)


def traced_slope(plant: Plant, original: Controller, numbers: Numbers, at: Tracing, start: Array) -> TracedLaw:
    """Traced derivatives of a law along a direction.

    The inputs are t, q, v, states, signals, and the changes of all but t along the direction. The outputs are efforts
    and next values (rates in continuous time) of the states, the changes of both, and the distance to the nearest
    comparison that is decided otherwise.
    """
    if original.measures_force:
        raise NotTraceable("the force that a law measures answers its efforts")
    law, signal = numbers.of(original), TimeSignals(original, numbers, at.graph)
    t, q, v, state = at.inputs(np.zeros(1), at.sample, np.linspace(0.3, 0.7, at.nv), start)
    time = Time(t[0], signal)
    evaluation = evaluated(law, time, TracedTerms(at, None, time, q, v), Symbols(state))  # type: ignore[arg-type]
    effort = np.asarray(evaluation.effort, object).reshape(-1)
    after = np.asarray(moved(evaluation, Symbols(state), original.period is not None), object).reshape(-1)
    if effort.shape != (plant.nu,) or after.shape != start.shape:
        raise NotTraceable("efforts or states in another shape than those of the machine")
    plain = signal.traced([*effort, *after], at.size)
    return plain._replace(function=slope(plain.function))


def _report(at: Tracing, evaluation: Evaluation, inputs: Sequence[Any]) -> tuple[dict[str, Any], bool]:
    """Report of an evaluation and False; or, where it does not compute with symbols, the inputs for Python and True."""
    guards, margins = dict(at.graph.guards), None if at.margins is None else list(at.margins)
    try:
        return evaluation.numbers(), False
    except Exception:  # see `_traced`; nothing of the try is left
        at.graph.guards, at.margins = guards, margins
        return {f"input_{i}": x for i, x in enumerate(inputs)}, True


def traced_rate(plant: Plant, original: Any, numbers: Numbers, at: Tracing, start: Array) -> TracedLaw:
    """Traced rate of a machine with a drive, or with a law in continuous time; see `drive_code`."""
    law, signal = numbers.of(original), TimeSignals(original, numbers, at.graph)

    def drive(machine: Any, t: Any, c: Any, u: Any) -> tuple[Any, Any]:
        time, state = Time(t[0], signal), Symbols(c)
        terms = TracedTerms.of_machine(at, time, machine)
        if isinstance(original, Drive):
            evaluation = law.evaluate(time, terms, Symbols(u), state)
        else:
            evaluation = evaluated(law, time, terms, state)  # type: ignore[arg-type]
        effort, rates = np.asarray(evaluation.effort, object).reshape(-1), moved(evaluation, state, False)
        if effort.shape != u.shape or rates.shape != c.shape:
            raise NotTraceable("efforts or states in another shape than those of the machine")
        return effort, np.asarray(rates, object)

    outputs = rate(at, start, drive).outputs
    return signal.traced(outputs, at.size)

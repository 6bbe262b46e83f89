"""Law inside an FMU: sampled, with held efforts, or in continuous time, with states among those of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..codegen.entries import ExportedMachine
from ..codegen.laws import require_same_machine
from ..controllers.chain import names_of_states
from ..controllers.controller import Controller, Drive, as_controller, moved, start_of
from ..controllers.pieces import Profile
from ..controllers.references import row
from ..controllers.tabulated import over_reference
from ..controllers.traced import (
    Numbers,
    TimeSignals,
    TracedLaw,
    reason,
    signals_of,
    traced_sample,
    traced_slope,
    untraceable,
)
from ..errors import InputError, InputTypeError
from ..model.mechanism import Mechanism
from ..trace.elimination import smallest
from ..trace.functions import Function, Tracing
from ..trace.graph import Graph, Scalar
from ..trace.plant import TracedPlant
from ..trace.symbols import NotTraceable, Symbols, Time
from ..trace.tangents import slope, tangents
from ..trace.terms import TracedTerms
from .equations import FmuOutput, quoted

__all__ = ["Law", "law_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """Functions, states and signals of a law, and of a drive behind it, inside an FMU.

    Attributes
    ----------
    controller : Controller
    functions : dict of str to Function
        ``law``, of a sampled one: t, q, v, states, present efforts where it measures the force, signals -> margin,
        efforts, next states, report; ``first_law`` is the same at its first sample, before any force is measured,
        without report. ``follow``, of a law in continuous time or of a drive: t, q, v, states, held
        efforts of a sampled law, signals -> efforts, rates of states; ``follow_slope``: the same, and how all but t
        change -> how efforts and rates change.
    states : list of str
        States that change at samples.
    start : ndarray
        Their values at the start.
    following : list of str
        States in continuous time.
    following_start : ndarray
    report : list of str
    signals : list of Output
        References that are inputs of the FMU.
    values : list of float
        Start values of these signals.
    delay : ndarray, shape (nu,)
        Time from a sample until its effort acts at each motor, s.
    initial : ndarray, shape (nu,), or None
        Efforts that act until then; those of the first sample where it is None.
    """

    controller: Controller
    functions: dict[str, Function]
    states: list[str]
    start: Array
    following: list[str]
    following_start: Array
    report: list[str]
    signals: list[FmuOutput]
    values: list[float]
    delay: Array
    initial: Array | None

    @property
    def period(self) -> float | None:
        """Sample time of the law, s; None in continuous time."""
        return self.controller.period

    @property
    def measures_force(self) -> bool:
        """Whether the law measures the constraint force, and so needs the efforts that act."""
        return self.controller.measures_force

    @property
    def follows(self) -> bool:
        """Whether a law or drive in continuous time has states or efforts that are integrated with the machine."""
        return "follow" in self.functions

    @property
    def under_way(self) -> int:
        """Number of samples that are kept until they act."""
        return 1 if self.period is None else int(np.ceil(self.delay.max(initial=0.0) / self.period)) + 2


def law_of(machine: ExportedMachine, given: Any, references: str) -> Law:
    """Law and drive as traced functions.

    Raises
    ------
    InputError, InputTypeError
        For a law that cannot be traced, or that computes with another machine.
    """
    plant = machine.plant
    law = as_controller(given, plant)
    _require_possible(law)
    trace = _Trace(machine, law, references)
    report: list[str] = []
    made: dict[str, Function] = {}
    names, start = names_of_states(law, plant), start_of(law, plant)
    nobody, nothing = [], np.zeros(0)
    if law.period is None:
        made = trace.following(law, start, traced_slope)
        following, following_start, states, start = names, start, nobody, nothing
    else:
        made, report = trace.sampled(law, start)
        following, following_start, states = nobody, nothing, names
        if law.drive is not None:
            following, following_start = names_of_states(law.drive, plant, "drive"), start_of(law.drive, plant)
            made |= trace.following(law.drive, following_start, _traced_drive)
    return Law(
        law,
        made,
        list(states),
        start,
        list(following),
        following_start,
        report,
        trace.signals,
        trace.values,
        _per_motor(law.delay, plant, f"the delay of {law.name}"),
        None if law.initial_effort is None else _per_motor(law.initial_effort, plant, "the initial effort"),
    )


def _per_motor(given: Any, plant: Mechanism, what: str) -> Array:
    values = np.zeros(()) if given is None else _check.numbers(given, what)
    return _check.vector(np.broadcast_to(values, (plant.nu,)), plant.nu, what, plant.actuator_names)


def _require_possible(law: Controller) -> None:
    """Raise an error for laws that the C of an FMU does not cover."""
    why = untraceable(law) or untraceable([] if law.drive is None else getattr(law.drive, "blocks", law.drive))
    if why:
        raise InputTypeError(f"law: {law.name} cannot be written as C: Python has to be asked by {why}")
    if law.measures_force and law.period is None:
        raise InputError(
            f"law: {law.name} measures the constraint force in continuous time, which answers its efforts; "
            "give it a period"
        )


class _Trace:
    """Tracing of a law and its drive, as functions of one machine.

    Attributes
    ----------
    signals, values
        Functions of time that are inputs, and their start values.
    """

    def __init__(self, machine: ExportedMachine, law: Controller, references: str) -> None:
        self.machine, self.law, self.inside = machine, law, references == "inside"
        self.signals: list[FmuOutput] = []
        self.values: list[float] = []

    def _start(self, margins: bool, title: str) -> tuple[Tracing, Numbers]:
        at, plant = self.machine.tracing(), self.machine.plant
        at.clear, at.margins = self.machine.clearance(at), [] if margins else None

        def symbol(name: str, value: float) -> Scalar:
            return self.machine.table.symbol(at.graph, f"{title}_{name}", value, f"a number of the {title}")

        def same(other: Any) -> TracedPlant:
            require_same_machine(plant, other, self.law)
            return TracedPlant(plant, at)

        return at, Numbers(symbol, same)

    def _traced(self, trace: Callable, part: Any, start: Array, at: Tracing, numbers: Numbers) -> TracedLaw:
        try:
            return trace(self.machine.plant, part, numbers, at, start)
        except InputError:
            raise
        except Exception as error:  # whatever does not compute with symbols
            raise InputTypeError(f"law: {self.law.name} cannot be written as C: {reason(error)}") from error

    def sampled(self, law: Controller, start: Array) -> tuple[dict[str, Function], list[str]]:
        """Functions of a law at a sample, and the names of its report."""
        at, numbers = self._start(True, "law")
        traced = self._traced(partial(traced_sample, first=law.measures_force), law, start, at, numbers)
        report = [] if traced.told else list(traced.report)
        count, outputs, margin = (
            self.machine.plant.nu + start.size,
            traced.function.outputs,
            smallest(at.margins or [1.0]),
        )
        parts = {"law": outputs[: count + len(report)]}
        if law.measures_force:
            parts["first_law"] = outputs[-count:]
        size = traced.function.inputs
        whole = [Function(at.graph, size, [margin, *part]) for part in parts.values()]
        found = signals_of(law, traced.signals)
        return dict(zip(parts, self._closed(whole, found, size), strict=True)), report

    def following(self, part: Any, start: Array, trace: Callable) -> dict[str, Function]:
        """Functions of a law or drive in continuous time: ``follow`` and ``follow_slope``."""
        at, numbers = self._start(False, "law" if part is self.law else "drive")
        traced = self._traced(trace, part, start, at, numbers)
        function, count = traced.function, self.machine.plant.nu + start.size
        size = (function.inputs + 1) // 2
        value = Function(function.graph, size, function.outputs[:count])
        slope = Function(function.graph, function.inputs, function.outputs[count : 2 * count])
        found = signals_of(part, traced.signals)
        if found and part is not self.law:
            raise InputTypeError(
                f"law: {self.law.name} has a drive that follows a function of time, which an FMU does not hold; "
                "leave it out"
            )
        return dict(zip(("follow", "follow_slope"), self._closed([value, slope], found, size), strict=True))

    def _closed(self, functions: list[Function], found: Sequence[tuple[Callable, int]], size: int) -> list[Function]:
        """Functions with references computed inside, whose inputs are the last ones up to `size`."""
        if self.inside:
            found = [(f if held is None else held, n) for f, n, held in ((f, n, over_reference(f)) for f, n in found)]
        own = [self.inside and _expression(f) is not None for f, _ in found]
        first = size - sum(n for _, n in found)
        named, values = _signals(self.law, [f for f, is_own in zip(found, own, strict=True) if not is_own])
        self.signals += named
        self.values += values
        return [_with_signals(f, found, own, first, size) for f in functions]


def _traced_drive(plant: Mechanism, original: Drive, numbers: Numbers, at: Tracing, start: Array) -> TracedLaw:
    """Drive and its derivative along a direction, as `traced_slope` of laws; held efforts stand behind the states."""
    drive, signal = numbers.of(original), TimeSignals(original, numbers, at.graph)
    given = np.zeros(1), at.sample, np.linspace(0.3, 0.7, at.nv), start, np.linspace(0.5, 0.6, at.nu)
    t, q, v, state, u = at.inputs(*given)
    time = Time(t[0], signal)
    evaluation = drive.evaluate(time, TracedTerms(at, None, time, q, v), Symbols(u), Symbols(state))
    effort = np.asarray(evaluation.effort, object).reshape(-1)
    rates = np.asarray(moved(evaluation, Symbols(state), False), object).reshape(-1)
    if effort.shape != (plant.nu,) or rates.shape != start.shape:
        raise NotTraceable("efforts or states in another shape than those of the machine")
    plain = signal.traced([*effort, *rates], at.size)
    return plain._replace(function=slope(plain.function))


def _signals(law: Controller, found: Sequence[tuple[Callable, int]]) -> tuple[list[FmuOutput], list[float]]:
    """Names and start values of the functions of time that are inputs."""
    made, values = [], []
    for i, (function, count) in enumerate(found):
        coordinates = list(law.coordinates or ())
        if function is law.reference and count == 3 * len(coordinates):
            for kind in ("position", "velocity", "acceleration"):
                made += [
                    FmuOutput(f"reference.{quoted(c)}.{kind}", "", f"{kind} to follow of {c}") for c in coordinates
                ]
        else:
            made += [FmuOutput(f"signal_{i + 1}[{k + 1}]", "", "what the law follows") for k in range(count)]
        values += row(function(0.0)).tolist()
    return made, values


def _with_signals(
    function: Function, found: Sequence[tuple[Callable, int]], inside: Sequence[bool], first: int, size: int
) -> Function:
    """Function with some of its signals computed from the time, its first input, in place of inputs.

    Signals are the inputs from `first` to `size`. Behind them there may be as many directions, but for that of time;
    those of signals that are inside are zero.
    """
    if not any(inside):
        return function
    graph, source = Graph(), function.graph
    values = {node[1:]: source.values[k] for k, node in enumerate(source.nodes) if node[0] == "input"}
    t = graph.input("x", 0, 0.0)
    known: dict[int, Any] = {}
    at = first
    for (signal, count), own in zip(found, inside, strict=True):
        if own:
            expression = _expression(signal)
            known |= dict(enumerate(expression(t), at))  # type: ignore[misc]
        at += count
    dropped = {i: x for i, x in known.items()} | {i + size - 1: 0.0 for i in known if function.inputs > size}
    place = {i: k for k, i in enumerate(i for i in range(function.inputs) if i not in dropped)}

    def given(array: str, i: int) -> tuple[Any, dict[int, Any]]:
        if array == "x" and i in dropped:
            return dropped[i], {}
        return graph.input(array, place[i] if array == "x" else i, values[array, i]), {}

    return Function(graph, len(place), [x for x, _ in tangents(function, given)])


def _expression(function: Callable) -> Callable[[Scalar], list[Any]] | None:
    """Function of time that takes a symbol; None where it cannot be written so."""
    if isinstance(function, Profile):
        return lambda t: [x for order in function.derivatives(t) for x in order]

    def traced(t: Scalar) -> list[Any]:
        given = function(t)
        parts = given if isinstance(given, (tuple, list)) else (given,)
        return [x for part in parts for x in np.ravel(np.asarray(part, object)).tolist()]

    graph = Graph()
    try:
        made = traced(graph.input("x", 0, 0.1))
        expected = row(function(0.1))
    except Exception:  # whatever the function does with a symbol
        return None
    agree = len(made) == len(expected) and all(
        abs((x.value if isinstance(x, Scalar) else float(x)) - y) <= 1e-12 * max(1.0, abs(y))
        for x, y in zip(made, expected, strict=True)
    )
    # a comparison with the time would be decided once and for all
    return traced if agree and not graph.guards else None

"""Export of a law, with the chain around it, as a C function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..controllers.chain import Chain, names_of_states
from ..controllers.controller import Controller, as_controller, evaluated, moved, start_of
from ..controllers.encoder import Encoder
from ..controllers.pieces import Profile
from ..controllers.references import row
from ..controllers.tabulated import Tabulated, over_reference
from ..controllers.traced import Numbers, reason, signals_of, traced_sample, untraceable
from ..dynamics.forces import measured_force
from ..errors import InputError, InputTypeError
from ..model.actuation import actuation_at
from ..model.mechanism import Mechanism
from ..model.terms import Terms
from ..trace.elimination import smallest
from ..trace.functions import Function
from ..trace.graph import Graph
from ..trace.plant import TracedPlant
from ..trace.symbols import joined
from .entries import NEAR, Argument, ExportedFunction, ExportedMachine, FunctionCase, FunctionState, size

__all__ = ["law_entries"]

Array = NDArray[np.float64]


def law_entries(machine: ExportedMachine, given: Any) -> list[ExportedFunction]:
    """Entry of a sampled law, its efforts and next states at a sample; and those of the references that it follows.

    Encoders are left out, as the computer reads real ones, and so are delays and blocks of the machine, as they are
    there anyway. References, and what a law computes from them with the model, are inputs, so that others can be
    followed; where they end or repeat there are functions that give them, too.

    Raises
    ------
    InputError, InputTypeError
        For a law in continuous time, one that cannot be traced, and one that computes with another machine.
    """
    plant = machine.plant
    law = as_controller(given, plant)
    if isinstance(law, Chain) and any(isinstance(part, Encoder) for part in law.sensors):
        law = law.without(Encoder)
    if law.period is None:
        raise InputError(f"law: {law.name} works in continuous time, and a computer takes samples; give it a period")
    why = untraceable(law)
    if why:
        raise InputTypeError(f"law: {law.name} cannot be written as C: Python has to be asked by {why}")
    at = machine.tracing()
    at.clear, at.margins = machine.clearance(at), []

    def symbol(name: str, value: float) -> Any:
        return machine.table.symbol(at.graph, f"law_{name}", value, "a number of the law")

    def same(other: Any) -> TracedPlant:
        require_same_machine(plant, other, law)
        return TracedPlant(plant, at)

    try:
        traced = traced_sample(plant, law, Numbers(symbol, same), at)
    except InputError:
        raise
    except Exception as error:  # whatever does not compute with symbols
        raise InputTypeError(f"law: {law.name} cannot be written as C: {reason(error)}") from error
    signals = signals_of(law, traced.signals)
    names, told = names_of_states(law, plant), () if traced.told else traced.report
    measured = machine.arguments("u") if law.measures_force else ()
    measured = tuple(Argument("u_held", arg.size, "motor efforts at present, N or N m") for arg in measured)

    def clearness(terms: Terms) -> float:
        seen = [np.linalg.svd(terms.unit_motions[columns], compute_uv=False)[-1] for columns in at.columns]
        return float(min([1.0, *seen]) * actuation_at(terms).margin)

    clear = clearness(machine.terms)

    def case(state: FunctionState) -> FunctionCase:
        start, t = start_of(law, plant), float(state.random.uniform())
        terms, own = state.terms, start * (1.0 + 0.1 * state.random.standard_normal(start.size))
        given = [np.array([t]), terms.q, terms.v, own]
        if law.measures_force:
            given.append(state.u)
            terms = measured_force(terms, state.u)
        said = evaluated(law, t, terms, own.copy())
        after = moved(said, own, True)
        report = np.array(list(said.reported().values())) if told else np.zeros(0)
        # Rounding grows with the inverse square of how well coordinates tell the motion, and motors reach it.
        blur = max(1.0, (clear / clearness(terms)) ** 2)
        effort = blur * size(said.effort, terms.h, report)  # the report says what limits have cut off
        scales = effort, size(after, effort), size(effort, 1.0)
        given += [row(function(t)) for function, _ in signals]
        return FunctionCase(tuple(given), (np.asarray(said.effort), after, report), scales)

    outputs = traced.function.outputs[: plant.nu + len(names) + len(told)]
    arguments = _references(law, signals)
    entry = ExportedFunction(
        "law",
        f"One sample of {law.name}, every {law.period:g} s.",
        Function(at.graph, traced.function.inputs, [smallest(at.margins or [1.0]), *outputs]),
        (NEAR,),
        (
            Argument("t", 1, "time, s"),
            *machine.arguments("q", "v"),
            Argument("state", len(names), f"states of the law: {', '.join(names)}"),
            *measured,
            *arguments,
        ),
        (
            *machine.arguments("u"),
            Argument("state_next", len(names), "states at the next sample; may be the same array"),
            Argument("report", len(told), f"numbers to keep: {', '.join(told)}"),
        ),
        case,
    )
    pairs = [(over_reference(f), argument) for (f, _), argument in zip(signals, arguments, strict=True)]
    return [entry, *(_of_time(given, argument) for given, argument in pairs if given is not None)]


def _of_time(profile: Profile | Tabulated, argument: Argument) -> ExportedFunction:
    """Entry of a reference, or of what follows from it: its values at a time."""
    graph = Graph()
    outputs = list(joined(profile(graph.input("x", 0, 0.0))))
    first, last = profile.span or (0.0, 2.0 * (profile.period or 1.0))
    scale = size(profile.over(np.linspace(first, last, 100)))

    def case(state: FunctionState) -> FunctionCase:
        time = first + (last - first) * state.random.uniform(-0.1, 1.1)
        said = profile.over(np.array([time]))[0]
        return FunctionCase((np.array([time]),), (said,), (scale,))

    table = isinstance(profile, Tabulated)
    told = "What the law computes from its reference" if table else f"{type(profile).__name__} that the law follows"
    return ExportedFunction(
        argument.name,
        f"{told}: its input {argument.name}.",
        Function(graph, 1, outputs),
        (),
        (Argument("t", 1, "time, s"),),
        (argument,),
        case,
    )


def _references(law: Controller, signals: Sequence[tuple[Any, int]]) -> list[Argument]:
    """Input arguments for the functions of time of a law."""
    made = []
    for i, (function, count) in enumerate(signals):
        if function is law.reference:
            names = ", ".join(law.coordinates or ())
            made.append(Argument("reference", count, f"positions, velocities and accelerations to follow: {names}"))
        else:
            made.append(Argument(f"signal_{i + 1}", count, "values at this time"))
    return made


def require_same_machine(plant: Mechanism, other: Any, law: Controller) -> None:
    """Raise an error for a law that computes with another machine than the exported one."""
    if other is plant:
        return
    alike = isinstance(other, Mechanism) and all(
        np.array_equal(a, b) for a, b in zip(plant.arrays, other.arrays, strict=True)
    )
    if not alike:
        raise InputError(
            f"law: {law.name} computes with the machine {other.name!r}, and {plant.name!r} is exported; export the "
            "machine as the law knows it: export(law.plant, ..., law=law)"
        )

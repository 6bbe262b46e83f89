"""Derivatives of traced functions by their inputs: forward differentiation of the graph, exact to rounding.

Each expression gets its value and its derivatives by some numbers, from those of its operands. The same code serves
twice: with symbols as inputs it makes a function to be compiled, with numbers it evaluates.

An input may depend on a number by which it is differentiated and be zero all the same. The value is then folded as any
structural zero, and the derivative is not: a damper of zero costs only the computation of its derivative.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import numbers
from .elimination import is_zero, sparse_of
from .functions import Function, Tracing
from .graph import FUNCTIONS, Graph, Scalar
from .kernels import friction
from .kernels.layout import LOADED, ROW_COUPLING, ROW_FORMULA
from .machine import Parameters, TracedMachine
from .program import needed

__all__ = ["GuardBroken", "Moves", "Partials", "balance", "evaluated", "partials", "slope", "tangents"]

Array = NDArray[Any]
# What the direction does not move at all is 1e100 steps away, also where it is equal; what it moves is not changed.
_APART, _STILL = 1e-200, 1e-300

Tangent = dict[int, Any]  # derivatives that are not zero by structure
Dual = tuple[Any, Tangent]


class GuardBroken(ArithmeticError):
    """Error: a comparison is decided otherwise than at the sample."""


def tangents(
    function: Function, given: Callable[[str, int], Dual], corners: list[tuple[Dual, Dual]] | None = None
) -> list[Dual]:
    """Value and derivatives of each output of a traced function.

    Parameters
    ----------
    function : Function
    given : callable
        Value and derivatives of an input, from the name of its array and its index: symbols of one graph, or numbers.
    corners : list, optional
        Gets all pairs whose order decides which expressions are computed.

    Raises
    ------
    GuardBroken
        Where numbers decide a comparison otherwise than it was.
    """
    graph, found = function.graph, dict[int, Dual]()
    wanted = [x.index for x in function.outputs if isinstance(x, Scalar)]
    decide = [k for k in graph.guards if k not in graph.trusted]
    matters = set() if corners is None else set(needed(graph, [*wanted, *decide]))
    for k in needed(graph, [*wanted, *graph.guards]):
        op, *operands = graph.nodes[k]
        if op == "const":
            found[k] = operands[0], {}
        elif op == "input":
            found[k] = given(*operands)
        elif op == "lt":
            if k not in graph.trusted:
                _note(corners, "lt", [found[i] for i in operands])
            if (found[operands[0]][0] < found[operands[1]][0]) != graph.guards[k]:
                raise GuardBroken
        else:
            parts = [found[i] for i in operands]
            if k in matters:
                _note(corners, op, parts)
            found[k] = _RULES[op](*parts)
    return [found[x.index] if isinstance(x, Scalar) else (x, {}) for x in function.outputs]


def _note(corners: list[tuple[Dual, Dual]] | None, op: str, parts: Sequence[Dual]) -> None:
    """Record the pair that an operation compares in `corners`.

    A number is rounded the other way half a unit from its rounded value.
    """
    if corners is None:
        return
    if op in ("lt", "min", "max", "select"):
        corners.append((parts[0], parts[1]))
    elif op == "abs":
        corners.append((parts[0], (0.0, {})))
    elif op == "rint":
        value, tangent = parts[0]
        corners.append(((_abs(value - _rint(value)), tangent), (0.5, {})))


def slope(function: Function) -> Function:
    """First-order expansion of a function along a direction, as a function.

    Its inputs x are those of the function but for the first, which does not change (time), and the direction behind
    all. Its outputs are those of the function, their derivatives along the direction, and the step along the direction
    to the nearest comparison that is decided otherwise, to first order.
    """
    graph, source, size = Graph(), function.graph, function.inputs
    values = {node[1:]: source.values[k] for k, node in enumerate(source.nodes) if node[0] == "input"}

    def given(array: str, i: int) -> Dual:
        x = graph.input(array, i, values[array, i])
        return x, {0: graph.input("x", size + i - 1, 0.5)} if array == "x" and i else {}

    corners: list[tuple[Dual, Dual]] = []
    found = tangents(function, given, corners)
    nearest: Any = math.inf
    for (a, moved_a), (b, moved_b) in corners:
        rate = _total((1.0, moved_a), (-1.0, moved_b)).get(0, 0.0)
        if not is_zero(rate):
            nearest = numbers.minimum(nearest, (_abs(a - b) + _APART) / (_abs(rate) + _STILL))
    outputs = [x for x, _ in found] + [tangent.get(0, 0.0) for _, tangent in found] + [nearest]
    return Function(graph, 2 * size - 1, outputs)


def _total(*parts: tuple[Any, Tangent]) -> Tangent:
    """Sum of tangents, each times a factor."""
    made: Tangent = {}
    for factor, tangent in parts:
        for k, x in tangent.items():
            made[k] = made.get(k, 0.0) + factor * x
    return sparse_of(made)


def _multiplied(a: Dual, b: Dual) -> Dual:
    return a[0] * b[0], _total((b[0], a[1]), (a[0], b[1]))


def _divided(a: Dual, b: Dual) -> Dual:
    inverse = _quotient(1.0, b[0])
    value = _quotient(a[0], b[0])
    return value, _total((inverse, a[1]), (-(value * inverse), b[1]))


def _quotient(a: Any, b: Any) -> Any:
    """Quotient a / b; nan where b is a structural zero, so that results show that they are not finite."""
    return math.nan if is_zero(b) else a / b


def _by_function(name: str) -> Callable[[Any], Any]:
    return lambda x: x.function(name) if isinstance(x, Scalar) else float(FUNCTIONS[name](x))


_sin, _cos, _sqrt, _rint, _abs, _exp, _log, _tanh = map(
    _by_function, ("sin", "cos", "sqrt", "rint", "abs", "exp", "log", "tanh")
)


def _root(a: Dual) -> Dual:
    value = _sqrt(a[0])
    return value, _total((_quotient(0.5, value), a[1]))


def _exponential(a: Dual) -> Dual:
    value = _exp(a[0])
    return value, _total((value, a[1]))


def _hyperbolic(a: Dual) -> Dual:
    value = _tanh(a[0])
    return value, _total((1.0 - value * value, a[1]))


def _angle(y: Dual, x: Dual) -> Dual:
    inverse = _quotient(1.0, x[0] * x[0] + y[0] * y[0])
    return numbers.arctan2(y[0], x[0]), _total((x[0] * inverse, y[1]), (-(y[0] * inverse), x[1]))


def _chosen(a: Any, b: Any, x: Any, y: Any) -> Any:
    """Selection of x where a < b, else y."""
    graph = next((z.graph for z in (a, b, x, y) if isinstance(z, Scalar)), None)
    return (x if a < b else y) if graph is None else graph.select(a, b, x, y)


def _selected(a: Dual, b: Dual, x: Dual, y: Dual) -> Dual:
    both = [*x[1], *(k for k in y[1] if k not in x[1])]
    tangent = {k: _chosen(a[0], b[0], x[1].get(k, 0.0), y[1].get(k, 0.0)) for k in both}
    return _chosen(a[0], b[0], x[0], y[0]), sparse_of(tangent)


_RULES: Mapping[str, Callable[..., Dual]] = {
    "add": lambda a, b: (a[0] + b[0], _total((1.0, a[1]), (1.0, b[1]))),
    "sub": lambda a, b: (a[0] - b[0], _total((1.0, a[1]), (-1.0, b[1]))),
    "neg": lambda a: (-a[0], _total((-1.0, a[1]))),
    "mul": _multiplied,
    "div": _divided,
    "sin": lambda a: (_sin(a[0]), _total((_cos(a[0]), a[1]))),
    "cos": lambda a: (_cos(a[0]), _total((-_sin(a[0]), a[1]))),
    "sqrt": _root,
    "rint": lambda a: (_rint(a[0]), {}),
    "abs": lambda a: (_abs(a[0]), _total((_chosen(a[0], 0.0, -1.0, 1.0), a[1]))),
    "exp": _exponential,
    "log": lambda a: (_log(a[0]), _total((_quotient(1.0, a[0]), a[1]))),
    "tanh": _hyperbolic,
    "atan2": _angle,
    "min": lambda a, b: _selected(a, b, a, b),
    "max": lambda a, b: _selected(b, a, a, b),
    "select": _selected,
}


# -- of a machine ----------------------------------------------------------------------------------------


class Moves:
    """Numbers of a machine that follow the parameters by which it is differentiated, with their rates.

    Attributes
    ----------
    count : int
        Number of parameters.
    of_number : dict of int to list of (int, int)
        Parameters that move each number, and the indices of their rates.
    rates : ndarray
    structure : bytes
        Hash of all data but rates that are not 1 or -1, as for `Parameters`.
    """

    def __init__(self, parameters: Sequence[Mapping[int, float]]) -> None:
        self.count = len(parameters)
        listed = [(i, k, rate) for k, moves in enumerate(parameters) for i, rate in moves.items()]
        self.rates = np.array([rate for *_, rate in listed])
        self.kept = np.isin(self.rates, (1.0, -1.0))
        self.of_number: dict[int, list[tuple[int, int]]] = {}
        for at, (i, k, _) in enumerate(listed):
            self.of_number.setdefault(i, []).append((k, at))
        structure = (
            repr([(i, k) for i, k, _ in listed]).encode() + self.kept.tobytes() + self.rates[self.kept].tobytes()
        )
        self.structure = hashlib.sha256(structure).digest()


class Partials(NamedTuple):
    """Derivatives as a function, whose outputs are the entries that are not structural zeros.

    Attributes
    ----------
    function : Function
        Its p is the numbers of the machine, and the rates of `Moves`.
    places : ndarray of int
        Place of each output in the flat matrix of all outputs by all parameters.
    """

    function: Function
    places: NDArray[np.int64]


def balance(at: Tracing) -> Function:
    """(q, v, a, lam, u) -> M a + h + A'lam + D'N(lam) - B u, A a + b, and the residual, of all rows."""
    count = len(at.model.rows)
    given = at.sample, np.linspace(0.3, 0.7, at.nv), np.ones(at.nv), np.ones(count), np.ones(at.nu)
    q, v, a, lam, u = at.inputs(*given)
    # A lever arm of a motor that is rounding, at a dead centre, is zero in B and has a derivative all the same: below a
    # negative reach nothing is taken for zero.
    at.model.unit_lengths = -np.ones(at.nv)
    machine = TracedMachine(at.model, q)
    machine.drive()
    machine.move(v, a)
    force = machine.h + lam @ machine.A
    loaded = [element for element in at.model.elements if element.kind == LOADED]
    for element, D in zip(loaded, machine.unit_load_forces(), strict=True):
        force = force + friction.load_of(lam, element.row, element.rows, element.side) * D
    if at.nu:
        force = force - machine.B @ u
    accel = machine.b
    for i, row in enumerate(at.model.rows):
        if row.kind == ROW_COUPLING or (
            row.kind == ROW_FORMULA and row.a == row.b
        ):  # which has no bodies whose accelerations would tell
            accel[i] = accel[i] + machine.A[i] @ a
    return at.finished(force, accel, machine.phi)


def partials(traced: Function, parameters: Parameters, moves: Moves) -> Partials:
    """Derivatives, as a function, of a function that was traced with all moving numbers as inputs."""
    graph, values, source = Graph(), parameters.values, traced.graph
    sample = {node[1:]: source.values[k] for k, node in enumerate(source.nodes) if node[0] == "input"}

    def rate(at: int) -> Any:
        x = moves.rates[at]
        return float(x) if moves.kept[at] else graph.input("p", len(values) + at, x)

    def given(array: str, i: int) -> Dual:
        if array == "x":
            return graph.input("x", i, sample["x", i]), {}
        value = float(values[i]) if parameters.kept[i] else graph.input("p", i, values[i])
        return value, {k: rate(at) for k, at in moves.of_number.get(i, ())}

    rows = enumerate(tangents(traced, given))
    found = [(row * moves.count + k, x) for row, (_, tangent) in rows for k, x in tangent.items()]
    places = np.array([place for place, _ in found], dtype=np.int64)
    return Partials(Function(graph, traced.inputs, [x for _, x in found]), places)


def evaluated(traced: Function, values: Array, moves: Moves, x: Array) -> Array:
    """Derivatives of a traced function at a state, outputs by parameters, without compiled code.

    Raises
    ------
    GuardBroken
        Where the state decides a comparison otherwise than the sample at which the function was traced.
    """
    arrays = {"p": values.tolist(), "x": x.tolist()}
    rates = moves.rates.tolist()

    def given(array: str, i: int) -> Dual:
        moved = moves.of_number.get(i, ()) if array == "p" else ()
        return arrays[array][i], {k: rates[at] for k, at in moved}

    found = np.zeros((len(traced.outputs), moves.count))
    for row, (_, tangent) in zip(found, tangents(traced, given), strict=True):
        for k, derivative in tangent.items():
            row[k] = derivative
    return found

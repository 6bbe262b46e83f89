"""Formulas of force elements, and of motions in time: Python functions as tapes, lines of operations for kernels.

A function is evaluated once with symbols, its derivatives are taken from the graph, and the rest is written down in
the order in which it can be computed; see `kernels.force_elements`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..kernels.tapes import OPERATIONS, OUT, SLOTS, run

__all__ = ["CurveFormula", "Formula", "RowFormula", "curve_of", "formula_of", "row_formula_of"]

Array = NDArray[np.float64]


class Formula(NamedTuple):
    """Formula of a force element as a tape for the kernels.

    Attributes
    ----------
    tape : ndarray, shape (lines, 5)
        Operation, and operands: places of values, a number of the formula, or an output.
    numbers : ndarray
        Numbers in it: first those that have names, then constants.
    sections : tuple of int
        Lines at which its parts begin: energy, forces and slopes of the energy, slopes of the forces; and the end.
    """

    tape: NDArray[np.int64]
    numbers: Array
    sections: tuple[int, int, int, int]


def formula_of(
    what: str,
    count: int,
    numbers: Sequence[float],
    force: Callable[[Any, Any, Any], Sequence[Any]],
    energy: Callable[[Any, Any], Any] | None,
    sample: Array,
) -> Formula:
    """Tape of a force element.

    Parameters
    ----------
    what : str
        Name of the element in messages.
    count : int
        Number of measures.
    numbers : sequence of float
        Numbers that may change, and are given to the functions as symbols.
    force : callable
        ``force(numbers, z, rate)``: forces that resist, one for each measure.
    energy : callable, optional
        ``energy(numbers, z)``, J.
    sample : ndarray, shape (2 count,)
        Positions and rates at which it is traced.

    Raises
    ------
    ModelError
        Where a function fails, decides by comparisons, or is too long.
    """
    from ..trace.functions import Function
    from ..trace.graph import Graph
    from ..trace.tangents import tangents

    graph = Graph()
    x = [graph.input("x", i, value) for i, value in enumerate(sample)]
    p = [graph.input("p", i, value) for i, value in enumerate(numbers)]
    with _written(what, graph):
        forces = [_one(f) for f in force(p, x[:count], x[count:])]
        stored = 0.0 if energy is None else _one(energy(p, x[:count]))
    derived = Graph()

    def given(array: str, i: int) -> tuple[Any, dict[int, Any]]:
        symbol = derived.input(array, i, graph.values[graph.input(array, i, 0.0).index])
        return symbol, {i: 1.0} if array == "x" else {}

    *resisting, potential = tangents(Function(graph, len(x), [*forces, stored]), given)
    energy_out = [potential[0]]
    force_out = [f for f, _ in resisting] + [potential[1].get(i, 0.0) for i in range(count)]
    slope_out = [f[1].get(i, 0.0) for f in resisting for i in range(count)]
    slope_out += [f[1].get(count + i, 0.0) for f in resisting for i in range(count)]
    constants = list(map(float, numbers))
    tape: list[tuple[int, ...]] = []
    sections = [0]
    for outputs in (energy_out, force_out, slope_out):
        _write(derived, outputs, 2 * count, constants, tape, what, skip_zeros=outputs is slope_out)
        sections.append(len(tape))
    lines = np.array(tape, dtype=np.int64).reshape(-1, 5)
    return Formula(lines, np.array(constants, dtype=np.float64), tuple(sections))  # type: ignore[arg-type]


class RowFormula(NamedTuple):
    """Formula of a constraint row as a tape for the kernels; see `layout.FORMULA_DTYPE`.

    Attributes
    ----------
    tape : ndarray, shape (lines, 5)
    numbers : ndarray
    sections : tuple of int
        Lines at which its parts begin: residual, coefficients of the rates, bias, slopes; and the end.
    """

    tape: NDArray[np.int64]
    numbers: Array
    sections: tuple[int, ...]


def row_formula_of(
    what: str,
    count: int,
    residual: Callable[[Any], Any] | None,
    rate: Callable[[Any, Any], Any] | None,
    sample: Array,
) -> RowFormula:
    """Tape of a constraint row.

    Parameters
    ----------
    what : str
        Name of the constraint in messages.
    count : int
        Number of measures z.
    residual : callable, optional
        ``residual(z)``, of a row that binds positions.
    rate : callable, optional
        ``rate(z, dz)``, linear in dz, of one that binds velocities only.
    sample : ndarray, shape (count,)
        Positions at which it is traced.

    Raises
    ------
    ModelError
        Where a function fails, decides by comparisons, or is too long.
    """
    from ..trace.functions import Function
    from ..trace.graph import Graph
    from ..trace.tangents import tangents

    speeds, seconds = np.linspace(0.3, 0.7, count), np.linspace(-0.4, 0.8, count)
    values = np.concatenate([sample, speeds, seconds])
    inputs, of_rate = 3 * count, count

    def lifted(outputs: list[Any], graph: Any, first: int) -> tuple[Any, list[Any], list[dict[int, Any]]]:
        """Outputs in a graph of their own, and their derivatives by the `count` inputs from the first on, or by all."""
        derived = Graph()

        def given(array: str, i: int) -> tuple[Any, dict[int, Any]]:
            return derived.input(array, i, values[i]), {i: 1.0} if first < 0 or first <= i < first + count else {}

        found = tangents(Function(graph, inputs, outputs), given)
        return derived, [x for x, _ in found], [slopes for _, slopes in found]

    graph = Graph()
    with _written(what, graph):
        x = [graph.input("x", i, value) for i, value in enumerate(values)]
        if residual is not None:
            phi, start = _one(residual(x[:count])), 0
            moved = phi
        else:
            phi, start = 0.0, of_rate
            moved = _one(rate(x[:count], x[count : 2 * count]))  # type: ignore[misc]
    graph, (phi, _), (_, slopes) = lifted([phi, moved], graph, start)
    f = [slopes.get(start + k, 0.0) for k in range(count)]
    graph, (phi, *f), (_, *by_z) = lifted([phi, *f], graph, 0)
    F = [[row.get(j, 0.0) for j in range(count)] for row in by_z]
    z1 = [graph.input("x", count + k, speeds[k]) for k in range(count)]
    z2 = [graph.input("x", 2 * count + k, seconds[k]) for k in range(count)]
    turned = [sum((F[k][j] * z1[k] for k in range(count)), 0.0) for j in range(count)]
    bias = sum((turned[j] * z1[j] for j in range(count)), 0.0)
    second = sum((f[k] * z2[k] for k in range(count)), 0.0) + bias
    flat = [x for row in F for x in row]
    outputs = [phi, bias, second, *f, *turned, *flat]
    graph, (phi, bias, _, *rest), (_, of_bias, of_second, *_) = lifted(outputs, graph, -1)
    f, turned, flat = rest[:count], rest[count : 2 * count], rest[2 * count :]
    by_speed = [of_bias.get(count + k, 0.0) for k in range(count)]
    by_place = [of_second.get(k, 0.0) for k in range(count)]
    tape: list[tuple[int, ...]] = []
    numbers: list[float] = []
    sections = [0]
    for part in ([phi], f, [bias], [*turned, *by_speed, *by_place, *flat]):
        _write(graph, part, inputs, numbers, tape, what, skip_zeros=len(part) > 1)
        sections.append(len(tape))
    return RowFormula(np.array(tape, dtype=np.int64).reshape(-1, 5), np.array(numbers), tuple(sections))


class CurveFormula:
    """Functions of one number and their derivatives, as a tape.

    Attributes
    ----------
    tape : ndarray, shape (lines, 5)
    numbers : ndarray
    """

    def __init__(self, tape: NDArray[np.int64], numbers: Array, count: int, order: int) -> None:
        for array in (tape, numbers):
            array.setflags(write=False)  # as kernels know them
        self.tape, self.numbers, self._shape = tape, numbers, (order + 1, count)
        self._value = np.empty(SLOTS)

    def __call__(self, t: float) -> Array:
        """Values and derivatives (functions, 1 + order) at t."""
        out = np.zeros(self._shape)
        self._value[0] = t
        run(self.tape, self.numbers, 0, len(self.tape), self._value, 1, out.ravel())
        return out.T


def curve_of(what: str, function: Callable[[Any], Sequence[Any]], order: int = 2, at: float = 0.1234) -> CurveFormula:
    """Functions of one number, as a tape with exact derivatives.

    Parameters
    ----------
    what : str
        Name of the function in messages.
    function : callable
        ``function(t)``: some values.
    order : int
        Order of the last derivative.
    at : float
        Number at which it is traced.

    Raises
    ------
    ModelError
        Where the function fails, decides by comparisons, or is too long.
    """
    from ..trace.functions import Function
    from ..trace.graph import Graph
    from ..trace.tangents import tangents

    graph = Graph()
    with _written(what, graph):
        found = [_one(x) for x in function(graph.input("x", 0, at))]
    count = len(found)
    for _ in range(order):
        derived = Graph()
        moved = tangents(Function(graph, 1, found), lambda array, i, into=derived: (into.input(array, i, at), {0: 1.0}))
        last = len(found) - count
        found = [x for x, _ in moved] + [rate.get(0, 0.0) for _, rate in moved[last:]]
        graph = derived
    tape: list[tuple[int, ...]] = []
    numbers: list[float] = []
    _write(graph, found, 1, numbers, tape, what, skip_zeros=True)
    return CurveFormula(np.array(tape, dtype=np.int64).reshape(-1, 5), np.array(numbers), count, order)


@contextmanager
def _written(what: str, graph: Any) -> Iterator[None]:
    """Context that raises an error, with the operations allowed, where a formula cannot be written down."""
    try:
        yield
    except Exception as error:
        raise ModelError(
            f"{what}: its formula cannot be written down: {type(error).__name__}: {error}. Use numbers, + - * / **, "
            "and sin, cos, sqrt, exp, log, tanh, arctan2, abs, minimum, maximum of numpy"
        ) from error
    if graph.guards:
        raise ModelError(
            f"{what}: its formula decides by a comparison, which would be decided once for all. Write "
            "cmbcontrol.where_less(a, b, x, y), numpy.minimum or numpy.maximum in place of if, and, or, <, >"
        )


def _one(value: Any) -> Any:
    """Number or symbol from a value that may be an array of one entry."""
    from ..trace.graph import Scalar

    if isinstance(value, np.ndarray):
        if value.size != 1:
            raise TypeError(f"one number is expected, not an array of shape {value.shape}")
        value = value.reshape(-1)[0]
    return value if isinstance(value, Scalar) else float(value)


def _write(
    graph: Any, outputs: list[Any], inputs: int, numbers: list[float], tape: list, what: str, skip_zeros: bool
) -> None:
    """Append the lines of a tape that compute these outputs."""
    from ..trace.graph import Scalar
    from ..trace.program import needed

    place: dict[int, int] = {}
    count = inputs

    def line(operation: int, *operands: int) -> int:
        nonlocal count
        tape.append((operation, *operands, *[0] * (4 - len(operands))))
        count += 1
        if count > SLOTS:
            raise ModelError(f"{what}: its formula takes more than {SLOTS - inputs} operations; make it shorter")
        return count - 1

    def number(value: float) -> int:
        numbers.append(value)
        return line(OPERATIONS.index("number"), len(numbers) - 1)

    for k in needed(graph, [x.index for x in outputs if isinstance(x, Scalar)]):
        op, *operands = graph.nodes[k]
        if op == "const":
            place[k] = number(operands[0])
        elif op == "input" and operands[0] == "x":
            place[k] = operands[1]
        elif op == "input":
            place[k] = line(OPERATIONS.index("number"), operands[1])
        else:
            place[k] = line(OPERATIONS.index(op), *(place[i] for i in operands))
    for i, x in enumerate(outputs):
        if isinstance(x, Scalar):
            tape.append((OUT, place[x.index], i, 0, 0))
        elif x != 0.0 or not skip_zeros:
            at = number(float(x))
            tape.append((OUT, at, i, 0, 0))

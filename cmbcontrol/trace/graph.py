"""Graph of symbolic expressions in which every expression is there once.

An expression is an operation on expressions that were there before, so the order in which they are made is an order in
which they can be computed. Equal expressions are the same one; zeros, ones and constants are folded as they are made.
Each has a value at a sample, by which a comparison decides in traced code; the decision is kept as a guard.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Graph", "NotTraceable", "Scalar", "TooLarge"]

# Expressions of a function that is traced, some gigabytes of them: a longer one is not compiled (see `program.MOST`).
MOST = 1_500_000


def _finite(function: Callable[[float], float]) -> Callable[[float], float]:
    """Function that returns nan where the given one has no value."""

    def at(x: float) -> float:
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return at


FUNCTIONS = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": _finite(math.sqrt),
    "rint": round,
    "abs": abs,
    "exp": _finite(math.exp),
    "log": _finite(math.log),
    "tanh": math.tanh,
}

_PACKAGE = __name__.partition(".")[0]

_UNKNOWN = "a number that follows from the state"  # what a user is told of an expression

_OPERATORS: dict[np.ufunc, Callable] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}


class TooLarge(ArithmeticError):
    """Error: a function is too long to be compiled."""


class NotTraceable(TypeError):
    """Error: a computation cannot be expressed as a straight line of operations."""


class Graph:
    """Graph of all expressions of a function that is traced.

    Attributes
    ----------
    nodes : list of tuple
        (operation, operands...): operands are indices, except for ``("const", value)`` and ``("input", array, index)``.
    values : list of float
        Values at the sample.
    guards : dict of index of a comparison to bool
        Decisions of the comparisons.
    trusted : set of int
        Guards up to which the code can be trusted; beyond them the same is computed in another way.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple] = []
        self.values: list[float] = []
        self.guards: dict[int, bool] = {}
        self.trusted: set[int] = set()
        self._index: dict[tuple, int] = {}

    def node(self, key: tuple, value: float) -> Scalar:
        """Expression for a key, which is made where it is not in the graph yet."""
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.nodes)
            if found > MOST:
                raise TooLarge(f"more than {MOST} expressions")
            self.nodes.append(key)
            self.values.append(value)
        return Scalar(self, found)

    def const(self, value: float) -> Scalar:
        """Expression of a constant number."""
        return self.node(("const", float(value)), float(value))

    def input(self, array: str, index: int, value: float) -> Scalar:
        """Expression of an entry of an input array."""
        return self.node(("input", array, index), float(value))

    def scalar(self, x: Any) -> Scalar:
        """Expression of x, which is a number or an expression already."""
        return x if isinstance(x, Scalar) else self.const(x)

    def atan2(self, y: Any, x: Any) -> Scalar:
        """Expression of the angle of (x, y)."""
        y, x = self.scalar(y), self.scalar(x)
        return self.node(("atan2", y.index, x.index), math.atan2(y.value, x.value))

    def extreme(self, name: str, a: Any, b: Any) -> Any:
        """Expression of the smaller ("min") or the larger ("max") of two; the second one where either is no number."""
        a, b = self.scalar(a), self.scalar(b)
        if a.index == b.index:
            return a
        first = a.value < b.value if name == "min" else a.value > b.value
        return self.node((name, a.index, b.index), a.value if first else b.value)

    def select(self, a: Any, b: Any, x: Any, y: Any) -> Any:
        """Expression that is x where a < b, else y."""
        a, b, x, y = (self.scalar(z) for z in (a, b, x, y))
        if x.index == y.index:
            return x
        value = x.value if a.value < b.value else y.value
        return self.node(("select", a.index, b.index, x.index, y.index), value)

    def assume_less(self, a: Any, b: Any, trusted: bool = False) -> None:
        """Add the guard a < b, under which all that follows is computed, whether it holds at the sample or not."""
        decided = self.node(("lt", self.scalar(a).index, self.scalar(b).index), 1.0)
        self.guards[decided.index] = True
        if trusted:
            self.trusted.add(decided.index)

    def require_less(self, a: Any, b: Any) -> None:
        """Add the guard a < b, under which all that follows can be trusted; it must hold at the sample."""
        a, b = self.scalar(a), self.scalar(b)
        self.trusted.add(self.node(("lt", a.index, b.index), float(a.value < b.value)).index)
        if not a < b:
            raise ArithmeticError(f"{self.scalar(a).value:.3g} is not below {self.scalar(b).value:.3g} at the sample")


def _asked_here() -> bool:
    """Whether the code that compares two expressions is part of this package."""
    asking = sys._getframe(2)
    return str(asking.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


class Scalar:
    """Symbolic expression, to compute with as with a number."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    @property
    def value(self) -> float:
        """Value of the expression at the sample."""
        return self.graph.values[self.index]

    def __repr__(self) -> str:
        return f"<{self.graph.nodes[self.index]} = {self.value:.6g}>"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply numpy's function; with numpy's arrays the result is an array of symbols."""
        from .symbols import Symbols

        if ufunc in _OPERATORS and not any(isinstance(x, np.ndarray) for x in inputs):
            return _OPERATORS[ufunc](*(float(x) if isinstance(x, np.number) else x for x in inputs))
        lifted = [Symbols(x) if isinstance(x, Scalar) else x for x in inputs]
        return getattr(ufunc, method)(*lifted, **options)

    # -- sums ----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        graph, a = self.graph, self.index
        nodes, values = graph.nodes, graph.values
        if not isinstance(other, Scalar):
            if isinstance(other, np.ndarray):
                return NotImplemented
            if other == 0.0:
                return self
            other = graph.const(other)
        b = other.index
        if nodes[b][0] == "neg":
            return self - Scalar(graph, nodes[b][1])
        if nodes[a][0] == "neg":
            return other - Scalar(graph, nodes[a][1])
        if a > b:
            a, b = b, a
        return graph.node(("add", a, b), values[a] + values[b])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        graph, a = self.graph, self.index
        if not isinstance(other, Scalar):
            if isinstance(other, np.ndarray):
                return NotImplemented
            if other == 0.0:
                return self
            other = graph.const(other)
        b = other.index
        if a == b:
            return 0.0
        if graph.nodes[b][0] == "neg":
            return self + Scalar(graph, graph.nodes[b][1])
        if graph.nodes[a][0] == "neg":
            return -(Scalar(graph, graph.nodes[a][1]) + other)
        return graph.node(("sub", a, b), graph.values[a] - graph.values[b])

    def __rsub__(self, other: Any) -> Any:
        return -self if other == 0.0 else self.graph.const(other) - self

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        graph, node = self.graph, self.graph.nodes[self.index]
        if node[0] == "neg":
            return Scalar(graph, node[1])
        if node[0] == "sub":
            return Scalar(graph, node[2]) - Scalar(graph, node[1])
        return graph.node(("neg", self.index), -graph.values[self.index])

    # -- products ------------------------------------------------------------------------------------------

    def __mul__(self, other: Any) -> Any:
        graph, a = self.graph, self.index
        nodes, values = graph.nodes, graph.values
        if not isinstance(other, Scalar):
            if isinstance(other, np.ndarray):
                return NotImplemented
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            if other == -1.0:
                return -self
            other = graph.const(other)
        b = other.index
        if nodes[a][0] == "neg":
            return -(Scalar(graph, nodes[a][1]) * other)
        if nodes[b][0] == "neg":
            return -(self * Scalar(graph, nodes[b][1]))
        if a > b:
            a, b = b, a
        return graph.node(("mul", a, b), values[a] * values[b])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        graph, a = self.graph, self.index
        if not isinstance(other, Scalar):
            if isinstance(other, np.ndarray):
                return NotImplemented
            return self if other == 1.0 else self * (1.0 / other)
        b = other.index
        if a == b:
            return 1.0
        if graph.nodes[a][0] == "neg":
            return -(Scalar(graph, graph.nodes[a][1]) / other)
        if graph.nodes[b][0] == "neg":
            return -(self / Scalar(graph, graph.nodes[b][1]))
        value = graph.values[a] / graph.values[b] if graph.values[b] else math.nan
        return graph.node(("div", a, b), value)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if other == 0.0 else self.graph.const(other) / self

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Scalar):
            return (self.function("log") * power).function("exp")  # of what is positive
        if power == 0.5:
            return self.function("sqrt")
        if power != int(power) or abs(power) > 32:
            return (self.function("log") * power).function("exp")
        made, base, left = 1.0, self, abs(int(power))
        while left:
            made = made * base if left & 1 else made
            base, left = (base * base, left >> 1) if left > 1 else (base, 0)
        return made if power >= 0 else 1.0 / made

    def __rpow__(self, base: float) -> Any:
        return (self * math.log(base)).function("exp")

    # -- functions and comparisons -------------------------------------------------------------------------

    def function(self, name: str) -> Any:
        """Expression of sin, cos, sqrt, rint, abs, exp, log or tanh of this one."""
        graph, node = self.graph, self.graph.nodes[self.index]
        if node[0] == "neg" and name in ("sin", "cos"):
            inner = Scalar(graph, node[1]).function(name)
            return -inner if name == "sin" else inner
        return graph.node((name, self.index), FUNCTIONS[name](self.value))

    def __floordiv__(self, other: Any) -> Any:
        quotient = self / other
        if not isinstance(quotient, Scalar):
            return math.floor(quotient)
        nearest = quotient.function("rint")
        return self.graph.select(quotient, nearest, nearest - 1.0, nearest)

    def __rfloordiv__(self, other: float) -> Any:
        return self.graph.const(other) // self

    def __mod__(self, other: Any) -> Any:
        return self - other * (self // other)

    def __rmod__(self, other: float) -> Any:
        return self.graph.const(other) % self

    def __round__(self, digits: int | None = None) -> Any:
        if digits:
            raise NotTraceable(f"round(x, {digits}) of {_UNKNOWN}")
        return self.function("rint")

    def __float__(self) -> float:
        raise NotTraceable(
            f"{_UNKNOWN} is used as a plain one, by float(...), a function of math, or an array of floats that it is "
            "written into; use numpy's functions, and put numbers together with np.array([...])"
        )

    def __int__(self) -> int:
        raise NotTraceable(f"{_UNKNOWN} is used as a whole one, on which it would depend what is computed")

    def clip(self, low: Any, high: Any, **_: Any) -> Any:
        """Expression clipped to limits, as `numpy.clip` calls it."""
        return self.graph.extreme("min", self.graph.extreme("max", self, low), high)

    def __abs__(self) -> Any:
        return self.function("abs")

    def _compare(self, name: str, other: Any, truth: bool) -> bool:
        graph = self.graph
        decided = graph.node((name, self.index, graph.scalar(other).index), float(truth))
        graph.guards[decided.index] = truth
        return truth

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self._compare("lt", other, self.value < self.graph.scalar(other).value)

    def __gt__(self, other: Any) -> bool:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self.graph.scalar(other).__lt__(self)  # and not of a subclass first

    def __le__(self, other: Any) -> bool:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return not self > other

    def __ge__(self, other: Any) -> bool:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return not self < other

    def __eq__(self, other: object) -> bool:
        """Whether `other` is the same expression: what is zero at some state is no structural zero.

        That is the meaning inside this package. For the law of a user, numbers are compared, under a guard.
        """
        same = isinstance(other, Scalar) and self.index == other.index
        if same or not isinstance(other, (Scalar, int, float)) or _asked_here():
            return same
        return not self < other and not self > other

    def __hash__(self) -> int:
        return hash(self.index)

    def __bool__(self) -> bool:
        raise NotTraceable(f"{_UNKNOWN} is asked whether it is true; compare it, as in x > 0.0")

"""Arrays of symbols with which laws compute as with numbers: numpy's functions of them make expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import numbers
from .graph import Graph, NotTraceable, Scalar

__all__ = ["NotTraceable", "Symbols", "Time", "array", "if_less", "joined", "numbers_of", "where_less"]


class Symbols(np.ndarray):
    """Array of symbols and numbers. Functions of numpy without an operation of symbols are refused."""

    def __new__(cls, values: Any) -> Symbols:
        return np.array(_objects(values)).view(cls)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, Symbols) else x for x in inputs]
        if method == "__call__" and ufunc in _ELEMENTWISE and not options:
            return array(_each(_ELEMENTWISE[ufunc], *plain))
        if ufunc in _ARITHMETIC:
            out = options.pop("out", None)
            if out is not None:
                options["out"] = tuple(x.view(np.ndarray) if isinstance(x, Symbols) else x for x in out)
            return array(getattr(ufunc, method)(*map(_objects, plain), **options))
        raise NotTraceable(f"numpy.{ufunc.__name__} has no code for numbers that follow from the state")

    def __array_function__(self, function: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _FUNCTIONS:
            return _FUNCTIONS[function](*args, **kwargs)
        if function in _MOVING:
            return array(function(*(_plain(x) for x in args), **{k: _plain(x) for k, x in kwargs.items()}))
        raise NotTraceable(f"numpy.{function.__name__} has no code for numbers that follow from the state")

    def __getitem__(self, key: Any) -> Any:
        return array(self.view(np.ndarray)[key])

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.reshape(-1)[0])
        return super().__bool__()

    def min(self, axis: None = None, *, initial: Any = None) -> Any:  # type: ignore[override]
        """Smallest entry."""
        return _extreme(numbers.minimum, self, axis, initial)

    def max(self, axis: None = None, *, initial: Any = None) -> Any:  # type: ignore[override]
        """Largest entry."""
        return _extreme(numbers.maximum, self, axis, initial)

    def dot(self, other: Any) -> Any:  # type: ignore[override]
        """Product self @ other."""
        return array(np.dot(self.view(np.ndarray), _objects(other)))


class Time(Scalar):
    """Time as a symbol, for a law that is traced."""

    __slots__ = ("_signal",)

    def __init__(self, scalar: Scalar, signal: Callable[[Callable[[float], Any]], Any]) -> None:
        super().__init__(scalar.graph, scalar.index)
        self._signal = signal

    def signal(self, function: Callable[[float], Any]) -> Any:
        """Values of a function of time, as inputs of the law; the function is evaluated outside of the code."""
        return self._signal(function)


def array(values: Any) -> Any:
    """Array of symbols, a symbol, or a number, from an array of objects or one entry of it."""
    if not isinstance(values, np.ndarray) or values.dtype != object:
        return [array(x) for x in values] if isinstance(values, list) else values
    return values.view(Symbols) if values.ndim else values[()]


def numbers_of(values: Any) -> NDArray[Any]:
    """Array of symbols where `values` has some, also in a list, else an array of numbers."""
    if isinstance(values, Symbols):
        return values
    return Symbols(values) if _has_symbols(values) else np.asarray(values, dtype=np.float64)


def _has_symbols(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return isinstance(values, Symbols) or (values.dtype == object and any(map(_has_symbols, values.flat)))
    return isinstance(values, Scalar) or (isinstance(values, (list, tuple)) and any(map(_has_symbols, values)))


def joined(parts: Any) -> Symbols:
    """All entries of an array of symbols, or of a sequence of such arrays, one after the other."""
    several = parts if isinstance(parts, (tuple, list)) else (parts,)
    return Symbols(np.concatenate([np.asarray(x, object).reshape(-1) for x in several]))


def where_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y, entry by entry; of numbers and of symbols.

    Unlike with an ``if``, both sides are computed and one is taken, so a law is traced as a whole.
    """
    if not any(isinstance(z, (Scalar, Symbols)) for z in (a, b, x, y)):
        return np.where(np.less(a, b), x, y)
    return array(_each(_select, a, b, x, y))


def if_less(a: Any, b: Any, x: Callable[[], tuple], y: Callable[[], tuple]) -> tuple:
    """Results x() where a < b, else y(). With numbers only that one is called; code has both, and takes one."""
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return tuple(where_less(a, b, *pair) for pair in zip(x(), y(), strict=True))
    return x() if a < b else y()


def _select(a: Any, b: Any, x: Any, y: Any) -> Any:
    graph = _graph(a, b)
    if graph is None:
        return x if a < b else y
    return graph.select(a, b, x, y)


def _graph(*values: Any) -> Graph | None:
    return next((x.graph for x in values if isinstance(x, Scalar)), None)


def _plain(x: Any) -> Any:
    if isinstance(x, Symbols):
        return x.view(np.ndarray)
    return type(x)(_plain(y) for y in x) if isinstance(x, (tuple, list)) else x


def _objects(x: Any) -> np.ndarray:
    if not isinstance(x, Scalar):
        return np.asarray(_plain(x), object)
    made = np.empty((), object)
    made[()] = x
    return made


def _each(function: Callable, *values: Any) -> Any:
    """Apply a function to the entries of arrays that are broadcast."""
    parts = np.broadcast_arrays(*map(_objects, values))
    made = np.empty(parts[0].shape, object)
    for at in np.ndindex(made.shape):
        made[at] = function(*(part[at] for part in parts))
    return made if made.ndim else made[()]


def _unary(name: str, plain: Callable[[float], float]) -> Callable:
    return lambda x: x.function(name) if isinstance(x, Scalar) else float(plain(x))


def _sign(x: Any) -> Any:
    return _select(x, 0.0, -1.0, _select(0.0, x, 1.0, 0.0))


def _extreme(function: Callable, values: Any, axis: None = None, initial: Any = None) -> Any:
    if axis is not None:
        raise NotTraceable("the smallest or largest along an axis has no code; take it of each row")
    found = initial
    for x in _objects(values).ravel():
        found = x if found is None else function(found, x)
    return found


def _norm(x: Any, ord: None = None) -> Any:
    if ord is not None:
        raise NotTraceable("numpy.linalg.norm(..., ord=...) has no code; norm(x) has")
    return numbers.sqrt(sum((y * y for y in _objects(x).ravel()), 0.0))


def _where(mask: Any, x: Any, y: Any) -> Any:
    """Replacement of `numpy.where`; a comparison of symbols is decided as at the sample, unlike in `where_less`."""
    return array(np.where(np.asarray(mask, dtype=bool), _objects(x), _objects(y)))


def _finite(x: Any) -> bool:
    """Whether a number is finite; an expression is so as at the sample, under a guard; numbers of a law are."""
    if not isinstance(x, Scalar):
        return bool(np.isfinite(x))
    return x.graph.nodes[x.index][:2] == ("input", "p") or abs(x) < np.inf


_ELEMENTWISE: dict[np.ufunc, Callable] = {
    np.sin: _unary("sin", np.sin),
    np.cos: _unary("cos", np.cos),
    np.sqrt: _unary("sqrt", np.sqrt),
    np.exp: _unary("exp", np.exp),
    np.log: _unary("log", np.log),
    np.tanh: _unary("tanh", np.tanh),
    np.rint: _unary("rint", np.rint),
    np.absolute: _unary("abs", np.abs),
    np.arctan2: numbers.arctan2,
    np.tan: lambda x: numbers.sin(x) / numbers.cos(x),
    np.arctan: lambda x: numbers.arctan2(x, 1.0),
    np.arcsin: lambda x: numbers.arctan2(x, numbers.sqrt(1.0 - x * x)),
    np.arccos: lambda x: numbers.arctan2(numbers.sqrt(1.0 - x * x), x),
    np.hypot: lambda x, y: numbers.sqrt(x * x + y * y),
    np.floor: lambda x: x // 1.0,
    np.ceil: lambda x: -(-x // 1.0),
    np.isfinite: _finite,
    np.minimum: numbers.minimum,
    np.maximum: numbers.maximum,
    np.sign: _sign,
    np.square: lambda x: x * x,
}
_ARITHMETIC = {
    np.add,
    np.subtract,
    np.multiply,
    np.divide,
    np.negative,
    np.positive,
    np.power,
    np.remainder,
    np.floor_divide,
    np.matmul,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.logical_and,
    np.logical_or,
    np.logical_not,
}


def _inverse(x: Any) -> Any:
    """Inverse of a diagonal matrix, or of a small one by its adjugate."""
    A = _objects(x)
    n = len(A)
    if not any(isinstance(A[i, j], Scalar) or A[i, j] != 0.0 for i in range(n) for j in range(n) if i != j):
        return Symbols(np.diag(1.0 / A.diagonal()) + 0.0)
    if n > 3:
        raise NotTraceable(f"the inverse of {n} x {n} symbols")
    minors = [[_determinant(np.delete(np.delete(A, j, 0), i, 1)) for j in range(n)] for i in range(n)]
    signs = [[(-1.0) ** (i + j) for j in range(n)] for i in range(n)]
    return Symbols(np.array(minors, object) * np.array(signs, object)) / _determinant(A)


def _determinant(A: Any) -> Any:
    if len(A) == 1:
        return A[0, 0]
    rest = A[1:]
    terms = [A[0, k] * _determinant(np.delete(rest, k, 1)) for k in range(len(A))]
    return sum((x if k % 2 == 0 else -x for k, x in enumerate(terms)), 0.0)


_FUNCTIONS: dict[Callable, Callable] = {
    np.where: _where,
    np.linalg.inv: _inverse,
    np.linalg.solve: lambda A, b: _inverse(A) @ b,
    np.linalg.norm: _norm,
    np.clip: lambda x, low, high: np.minimum(np.maximum(x, low), high),
    np.dot: lambda a, b: array(np.dot(_objects(a), _objects(b))),
    np.min: lambda x, axis=None, initial=None: _extreme(numbers.minimum, x, axis, initial),
    np.max: lambda x, axis=None, initial=None: _extreme(numbers.maximum, x, axis, initial),
    np.diag: lambda x: array(np.diag(_plain(x)) + 0.0),
    np.broadcast_to: lambda x, shape: array(np.broadcast_to(_plain(x), shape).copy()),
}
_MOVING = {
    np.concatenate,
    np.split,
    np.vstack,
    np.hstack,
    np.reshape,
    np.transpose,
    np.ravel,
    np.sum,
    np.copy,
    np.outer,
    np.cumsum,
    np.trace,
    np.append,
    np.stack,
}

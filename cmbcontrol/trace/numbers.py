"""Replacement of numpy for traced kernels: arrays of symbols, and functions of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .graph import Scalar

__all__ = [
    "arctan2",
    "cos",
    "empty",
    "exp",
    "inf",
    "int64",
    "log",
    "maximum",
    "minimum",
    "ndarray",
    "pi",
    "round",
    "sin",
    "sqrt",
    "tanh",
    "zeros",
]

pi, inf, nan, ndarray, int64, float64 = np.pi, np.inf, np.nan, np.ndarray, np.int64, np.float64


def empty(shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray:
    """Array of zeros that may hold symbols; of integers where such a type is given."""
    if dtype is not None and np.dtype(dtype).kind == "i":
        return np.zeros(shape, dtype)
    made = np.empty(shape, object)
    made[...] = 0.0
    return made


zeros = empty


def sin(x: Any) -> Any:
    """sin x"""
    return x.function("sin") if isinstance(x, Scalar) else math.sin(x)


def cos(x: Any) -> Any:
    """cos x"""
    return x.function("cos") if isinstance(x, Scalar) else math.cos(x)


def sqrt(x: Any) -> Any:
    """Square root of x."""
    return x.function("sqrt") if isinstance(x, Scalar) else math.sqrt(x)


def exp(x: Any) -> Any:
    """e to the power of x"""
    return x.function("exp") if isinstance(x, Scalar) else math.exp(x)


def log(x: Any) -> Any:
    """Natural logarithm of x"""
    return x.function("log") if isinstance(x, Scalar) else math.log(x)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent of x"""
    return x.function("tanh") if isinstance(x, Scalar) else math.tanh(x)


def arctan2(y: Any, x: Any) -> Any:
    """Angle of (x, y)."""
    symbols = [z for z in (y, x) if isinstance(z, Scalar)]
    return symbols[0].graph.atan2(y, x) if symbols else math.atan2(y, x)


def minimum(a: Any, b: Any) -> Any:
    """Smaller of a and b."""
    return _extreme("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """Larger of a and b."""
    return _extreme("max", a, b)


def _extreme(name: str, a: Any, b: Any) -> Any:
    graph = next((x.graph for x in (a, b) if isinstance(x, Scalar)), None)
    if graph is None:
        return min(a, b) if name == "min" else max(a, b)
    return graph.extreme(name, a, b)


def round(x: Any) -> Any:
    """Nearest whole number."""
    return x.function("rint") if isinstance(x, Scalar) else float(np.round(x))

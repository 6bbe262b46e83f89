"""Replacement of the package's `_jit` for kernels that are traced: nothing is compiled, scratch may hold symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .numbers import empty as scratch
from .symbols import where_less

__all__ = ["bundle", "call", "execute", "kernel", "scratch", "where_less"]


def bundle(made: type) -> type:
    """Return the named tuple unchanged."""
    return made


def kernel(function: Callable | None = None, **_: Any) -> Callable:
    """Return the function unchanged."""
    return function if function is not None else kernel


def call(address: int, what: int, t: float) -> int:
    """Refuse to call Python, since that cannot be traced."""
    raise TypeError("what asks Python cannot be traced")


def execute(address: int, p: Any, x: Any, y: Any) -> int:
    """Refuse to run generated code, since that cannot be traced again."""
    raise TypeError("what runs generated code cannot be traced")

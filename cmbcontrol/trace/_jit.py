"""What `_jit` is to the kernels while they are traced: nothing is compiled, and scratch may hold symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .numbers import empty as scratch
from .symbols import where_less

__all__ = ["bundle", "call", "execute", "kernel", "scratch", "where_less"]


def bundle(made: type) -> type:
    """The named tuple as it is."""
    return made


def kernel(function: Callable | None = None, **_: Any) -> Callable:
    """The function as it is."""
    return function if function is not None else kernel


def call(address: int, what: int, t: float) -> int:
    """Python cannot be asked while a machine is traced."""
    raise TypeError("what asks Python cannot be traced")


def execute(address: int, p: Any, x: Any, y: Any) -> int:
    """Generated code is not traced again."""
    raise TypeError("what runs generated code cannot be traced")

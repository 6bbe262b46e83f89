"""Stand-in for `_jit` with which kernels run as Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._jit import call, execute, plain
from .._jit import where_less as compiled_where_less

__all__ = ["bundle", "call", "execute", "kernel", "scratch", "where_less"]

where_less, scratch = plain(compiled_where_less), np.empty


def kernel(function: Callable | None = None, **_: Any) -> Callable:
    """Return the function unchanged."""
    return function if function is not None else kernel


def bundle(made: type) -> type:
    """Return the class of the compiled kernels, so that both kinds of kernels accept its objects."""
    module = made.__module__.replace(f"{__package__.rpartition('.')[2]}.", "")
    return getattr(sys.modules[module], made.__name__)

"""Time for which a kernel runs as Python before it is compiled."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from .._jit import is_kept
from .._jit import kernels as all_kernels

__all__ = ["begin_interpreted"]

# Of linear models, of reports on a machine and of laws outside the loop. The others are those of the loop as well.
_SELDOM = ("derivatives", "linear_algebra", "reduction")

# s that a kernel runs as Python before it is compiled. That takes 0.2 to 4 s, with all that it calls.
_PATIENCE = 0.5


def begin_interpreted() -> None:
    """Let the first calls of rarely used kernels run as Python."""
    from ..kernels import derivatives, linear_algebra, reduction  # noqa: F401 (_SELDOM, whose classes their twins share)
    from . import kernels

    for kernel in all_kernels():
        _, _, module = kernel.py_func.__module__.rpartition(".")
        if module in _SELDOM:
            kernel._compile_for_args = _Patience(kernel, getattr(getattr(kernels, module), kernel.__name__))


class _Patience:
    """Replacement of numba's compilation for new arguments: Python for some time, if no code is on disk."""

    def __init__(self, kernel: Any, function: Callable) -> None:
        self._kernel, self._function = kernel, function
        self._compile, self._left, self._looked = kernel._compile_for_args, _PATIENCE, False

    def __call__(self, *args: Any, **named: Any) -> Callable:
        if not self._looked:
            self._looked = True
            self._left *= not is_kept(self._kernel, *args)
        if self._left > 0.0:
            return self._run
        self._kernel._compile_for_args = self._compile
        return self._compile(*args, **named)

    def _run(self, *args: Any, **named: Any) -> Any:
        start = perf_counter()
        try:
            return self._function(*map(_with_attributes, args), **named)
        finally:
            self._left -= perf_counter() - start


def _with_attributes(x: Any) -> Any:
    """View of records for Python: `link.parent` is a field, as in compiled code."""
    if isinstance(x, np.ndarray):
        return x.view(np.recarray) if x.dtype.names else x
    return x._make(map(_with_attributes, x)) if hasattr(x, "_make") else x

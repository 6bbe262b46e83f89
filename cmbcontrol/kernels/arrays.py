"""Arrays as wholes."""

from __future__ import annotations

from .._jit import kernel

__all__ = ["copy", "copy_rows"]


@kernel
def copy(x, out):
    """out = x, of one axis; for parts of other arrays, too, which do not overlap."""
    for i in range(out.shape[0]):
        out[i] = x[i]


@kernel
def copy_rows(X, out):
    """out = X, of two axes."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = X[i, k]

"""Elementary operations on whole arrays: copies, sums of products, the largest entry."""

from __future__ import annotations

from .._jit import kernel

__all__ = ["add_dot", "copy", "copy_rows", "largest_of"]


@kernel
def copy(x, out):
    """out = x for arrays of one axis; they may be parts of other arrays that do not overlap."""
    for i in range(out.shape[0]):
        out[i] = x[i]


@kernel
def copy_rows(X, out):
    """out = X for arrays of two axes."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = X[i, k]


@kernel
def add_dot(s, x, y, begin, end):
    """s plus the sum of x[k] y[k] for k from `begin` to before `end`.

    Long sums are split into four side by side, since each addition has to wait for the one before it.
    """
    a, b, c, d = s, 0.0, 0.0, 0.0
    last = begin + (end - begin) // 4 * 4 if end - begin >= 24 else begin
    for k in range(begin, last, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(last, end):
        a += x[k] * y[k]
    return (a + b) + (c + d) if last > begin else a


@kernel
def largest_of(x):
    """Largest absolute value in x, zero for an empty x; numpy's own function takes half a second to compile."""
    found = 0.0
    for k in range(x.shape[0]):
        found = max(found, abs(x[k]))
    return found

"""Tapes: formulas of a user as lists of operations, which `model.formula` writes from a Python function.

Kernels run them, and where the kernels are traced their operations become code.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, where_less

__all__ = ["OPERATIONS", "OUT", "SLOTS", "run"]

# Values that a tape computes on the way, at most.
SLOTS = 4096

# Operations of a tape. An operand is the place of a value: inputs come first, then the result of each line.
OPERATIONS = (
    "number", "add", "sub", "neg", "mul", "div", "sin", "cos", "sqrt", "abs", "exp", "log", "tanh", "atan2", "min",
    "max", "select", "rint",
)  # fmt: skip
NUMBER, ADD, SUB, NEG, MUL, DIV, SIN, COS, SQRT, ABS, EXP, LOG, TANH, ATAN2, MIN, MAX, SELECT, RINT = range(18)
OUT = 18  # the first operand is an output, whose number is the second


@kernel
def run(tape, numbers, begin, end, value, count, out):
    """Run lines of a tape on `count` inputs, the first entries of `value`; its outputs go to `out`."""
    n = count
    for line in range(begin, end):
        op, i, j = tape[line, 0], tape[line, 1], tape[line, 2]
        if op == OUT:
            out[j] = value[i]
            continue
        if op == NUMBER:
            x = numbers[i]
        elif op == ADD:
            x = value[i] + value[j]
        elif op == SUB:
            x = value[i] - value[j]
        elif op == NEG:
            x = -value[i]
        elif op == MUL:
            x = value[i] * value[j]
        elif op == DIV:
            x = value[i] / value[j]
        elif op == SIN:
            x = np.sin(value[i])
        elif op == COS:
            x = np.cos(value[i])
        elif op == SQRT:
            x = np.sqrt(value[i])
        elif op == ABS:
            x = abs(value[i])
        elif op == EXP:
            x = np.exp(value[i])
        elif op == LOG:
            x = np.log(value[i])
        elif op == TANH:
            x = np.tanh(value[i])
        elif op == ATAN2:
            x = np.arctan2(value[i], value[j])
        elif op == MIN:
            x = np.minimum(value[i], value[j])
        elif op == MAX:
            x = np.maximum(value[i], value[j])
        elif op == SELECT:
            x = where_less(value[i], value[j], value[tape[line, 3]], value[tape[line, 4]])
        else:
            x = np.round(value[i])
        value[n] = x
        n += 1

"""Generated code in place of kernels, where its results can be trusted; see `cmbcontrol.trace`.

The code keeps the same independent rows, and returns how far these are from being dependent. Nearer to a singular
configuration, where other rows may be better, or where a comparison would be decided otherwise, kernels are used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, call, execute, kernel
from .arrays import copy
from .layout import WORKS

__all__ = [
    "CLEAR",
    "CLEAR_CORRECTED",
    "CLEAR_OF_LARGEST",
    "CONDITIONS",
    "RunCode",
    "at_state",
    "closed",
    "closeness_by_code",
    "evaluate",
    "no_code",
    "rate_by_code",
    "take_rate",
]

# Closeness to a singular configuration (see `motion.closeness`), with the square roots of the pivots of A M^-1 A' in
# place of those of `split.factor_rows`, above which generated code is used: rounding grows by its inverse square. In a
# run, also the part of the largest closeness so far: runs through three singular passages have 10 times the error of
# the kernels without it, and the same with it.
CLEAR, CLEAR_OF_LARGEST = 0.02, 0.1

# The same where solutions are corrected once. An error of rounding / closeness^2 becomes its square, which is less than
# what the kernels leave, rounding / closeness, above the cube root of rounding; long chains are worse by their length.
CLEAR_CORRECTED = 1e-4

# The same of the rows in the Euclidean metric, in which stages are closed. They are open by little, so the step that
# closes them need have few digits.
CLEAR_TO_CLOSE = 1e-3

# Of the gradient of a regular row: rows that are all smaller are rounding.
VANISHING = 1e-9

# Stages that are open by no more, in accuracies of a closed loop, are left as they are.
OPEN = 8.0

# Steps onto the closed loops, each of which squares the residual.
CLOSING_STEPS = 8

# What generated functions begin with: smallest pivot and largest diagonal of A M^-1 A', and what M has above zero.
CONDITIONS = 3

# States beyond this are as good as infinite: their squares still can be added up.
HUGE = 1e100

# The corrected rate is generated when it is first needed, which takes as long as for the plain one; and what is asked
# for then, beside the questions of `motion`.
LATER, GENERATE = -1, 10

# Entries of `Code.count`.
LAST, TOTAL, LANDED = range(3)


@bundle
class RunCode(NamedTuple):
    """Generated code of a machine in a run, with its arrays. Small, since all of it is passed at every call."""

    rate: int  # addresses; 0 where there is none
    land: int
    close: int
    own: int  # states of a drive or a law whose rate is part of the code; negative where nothing of it is
    timed: bool  # whether something of `p` or `given` follows functions of time, and is asked for
    nq: int
    nv: int
    cap: int  # rows that are kept
    accuracy: float  # loops count as closed below this, metres
    reference: float  # size of a regular constraint gradient, in the metric of M
    p: np.ndarray  # parameters, inputs and outputs
    given: np.ndarray  # q, v, efforts, and with a drive: time, states, signals
    found: np.ndarray
    command: np.ndarray  # (nu,) efforts that a drive is told
    q: np.ndarray  # (nq,) where the rate was evaluated
    best: np.ndarray  # (nq,) scratch
    near: np.ndarray  # (1,) closeness to a singular configuration there
    clear: np.ndarray  # (1,) code is used where that is larger
    near_code: np.ndarray  # (1,) address of the corrected rate; 0 where there is none, LATER before it is needed
    count: np.ndarray  # (3,) whether the last evaluation was by code; evaluations by code; whether `land` has left one


def no_code(nq: int, nv: int) -> RunCode:
    """Empty `RunCode`: everything is left to the kernels."""
    none, one = np.zeros(0), np.ones(1)
    return RunCode(
        0,
        0,
        0,
        -1,
        False,
        nq,
        nv,
        0,
        0.0,
        0.0,
        none,
        none,
        none,
        none,
        np.zeros(nq),
        np.zeros(nq),
        one,
        one.copy(),
        np.zeros(1, np.int64),
        np.zeros(3, np.int64),
    )


@kernel
def independence(found, cap, reference):
    """Closeness to a singular configuration of the rows that generated code keeps; 0 where M is not positive definite.

    As `motion.closeness`: a single row is compared with the gradient `reference`. 0, too, where all rows vanish.
    """
    if not found[2] > 0.0:
        return 0.0
    if cap == 0:
        return 1.0
    largest = found[1] if cap > 1 else reference * reference
    if not found[1] > VANISHING * VANISHING * reference * reference:
        return 0.0
    return np.sqrt(max(found[0], 0.0) / largest)


@kernel
def evaluate(address, p, x, y):
    """y = outputs of generated code without conditions at x; False where a comparison would be decided otherwise."""
    return execute(address, p, x, y) == 0


@kernel(allocates=True)
def at_state(address, p, q, v, u, rows, reference, outputs):
    """Outputs of generated code that keeps `rows` rows at a state, and whether they can be trusted."""
    nq, nv = q.shape[0], v.shape[0]
    x, y = np.empty(nq + nv + u.shape[0]), np.empty(outputs)
    copy(q, x[:nq])
    copy(v, x[nq : nq + nv])
    copy(u, x[nq + nv :])
    for i in range(x.shape[0]):
        if not abs(x[i]) < HUGE:
            return y, False
    held = execute(address, p, x, y) == 0
    return y, held and independence(y, rows, reference) > CLEAR


@kernel
def rate_by_code(c, ask, question, t, x, u, own, closing, dx):
    """dx = rate of the state x under efforts u, by generated code; False where it cannot be trusted.

    `own` are the rates of the states that a law integrates. A drive that is part of the code takes its efforts from
    `Code.command`; `question` is the request for functions of time.

    As `motion.rate`: at the nearest configuration with closed loops, and with the velocity that they allow.
    """
    nq, nv = c.nq, c.nv
    c.count[LANDED] = 0
    for i in range(nq + nv):
        if not abs(x[i]) < HUGE:
            return False
    copy(x[:nq], c.q)
    if c.timed and call(ask, question, t) != 0:
        return False
    if closing and c.cap > 0:
        copy(x[:nq], c.given[:nq])
        if execute(c.close, c.p, c.given, c.found) != 0:
            return False
        if not c.found[0] > CLEAR_TO_CLOSE * CLEAR_TO_CLOSE * c.found[1]:
            return False
        if c.found[2] > OPEN * c.accuracy:
            copy(c.found[3 : 3 + nq], c.q)
    if not found_rate(c, ask, t, x, u):
        return False
    take_rate(c, own, dx)
    return True


@kernel
def found_rate(c, ask, t, x, u):
    """Compute the rate at c.q, other states x and efforts u into c.found; False where it cannot be trusted.

    Numbers that follow functions of time are at time t already.
    """
    n = c.nq + c.nv
    copy(c.q, c.given[: c.nq])
    copy(x[c.nq : n], c.given[c.nq : n])
    if c.own < 0:
        copy(u, c.given[n:])
    else:
        nu = c.command.shape[0]
        copy(c.command, c.given[n : n + nu])
        c.given[n + nu] = t
        for i in range(c.own):
            if not abs(x[n + WORKS + i]) < HUGE:
                return False
            c.given[n + nu + 1 + i] = x[n + WORKS + i]
    if execute(c.rate, c.p, c.given, c.found) != 0:
        return False
    c.near[0] = independence(c.found, c.cap, c.reference)
    if c.near[0] > c.clear[0]:
        return True
    return near_enough(c, ask, c.near[0]) and execute(c.near_code[0], c.p, c.given, c.found) == 0


@kernel
def near_enough(c, ask, near):
    """Whether corrected code can be trusted at a closeness at which plain code cannot; generates it if needed."""
    if not (c.near_code[0] != 0 and c.clear[0] < np.inf and near > CLEAR_CORRECTED):
        return False
    return c.near_code[0] != LATER or (call(ask, GENERATE, 0.0) == 0 and c.near_code[0] != 0)


@kernel
def take_rate(c, own, dx):
    """dx = rate in c.found, with `own` for the states of a law; counts the evaluation."""
    start, n = CONDITIONS + c.nv, c.nq + c.nv + WORKS
    copy(c.found[start : start + n], dx[:n])
    copy(c.found[start + n :] if c.own >= 0 else own, dx[n:])
    c.count[LAST] = 1
    c.count[TOTAL] += 1
    c.count[LANDED] = 0


@kernel
def closeness_by_code(c, q):
    """Closeness to a singular configuration at q, by generated code; negative where it cannot be evaluated.

    This overwrites c.found.
    """
    c.count[LANDED] = 0
    for i in range(c.nq):
        if not abs(q[i]) < HUGE:
            return -1.0
    copy(q, c.given[: c.nq])
    if execute(c.land, c.p, c.given, c.found) != 0:
        return -1.0
    return independence(c.found, c.cap, c.reference)


@kernel
def closed(c, ask, question, t, x, u, moved):
    """Bring x onto the closed loops, as `motion.project`; returns the residual left, metres.

    Negative where that cannot be trusted; then x is unchanged. `moved` gets the displacement and the change of
    velocity; the rate at the new state is left in c.found.
    """
    nq, nv = c.nq, c.nv
    moved[:] = 0.0
    if c.timed and call(ask, question, t) != 0:
        return -1.0
    copy(x[:nq], c.q)
    copy(x[:nq], c.best)
    best, left = np.inf, -1.0
    for _ in range(CLOSING_STEPS):
        copy(c.q, c.given[:nq])
        if execute(c.land, c.p, c.given, c.found) != 0:
            break
        near = independence(c.found, c.cap, c.reference)
        if not (near > c.clear[0] or near_enough(c, ask, near)):
            break
        residual = c.found[CONDITIONS]
        if residual <= c.accuracy:
            left = residual
            break
        if not residual < best:  # rounding, or loops that cannot be closed
            copy(c.best, c.q)
            for k in range(nv):
                moved[k] -= moved[nv + k]
            left = best
            break
        best = residual
        copy(c.q, c.best)
        start = CONDITIONS + 1
        for k in range(nv):
            moved[nv + k] = c.found[start + k]
            moved[k] += moved[nv + k]
        copy(c.found[start + nv : start + nv + nq], c.q)
    if left < 0.0 or not found_rate(c, ask, t, x, u):
        return -1.0
    copy(c.found[CONDITIONS : CONDITIONS + nv], moved[nv:])
    copy(c.q, x[:nq])
    for k in range(nv):
        x[nq + k] += moved[nv + k]
    c.count[LANDED] = 1
    return left

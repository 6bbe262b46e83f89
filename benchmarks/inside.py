"""One evaluation in a compiled loop, without Python in between: by generated code, or by the kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol._jit import execute, kernel
from cmbcontrol.kernels import constrained, reduction
from cmbcontrol.kernels.generated import CONDITIONS
from cmbcontrol.linear.reduced import FIXED
from cmbcontrol.model.generated import code_of
from cmbcontrol.model.terms import RANK_TOLERANCE

Array = NDArray[np.float64]


@kernel(allocates=True)
def code_along(address, p, Q, V, u, outputs, times):
    """Generated code at states that take turns."""
    nq, nv = Q.shape[1], V.shape[1]
    x, y, status = np.empty(nq + nv + u.shape[0]), np.empty(outputs), 0
    x[nq + nv :] = u
    for i in range(times):
        n = i % Q.shape[0]
        for k in range(nq):
            x[k] = Q[n, k]
        for k in range(nv):
            x[nq + k] = V[n, k]
        status += execute(address, p, x, y)
    return y, status


@kernel(allocates=True)
def forward_along(model, Q, V, u, tolerance, times):
    """Forward dynamics by the kernels at states that take turns, with scratch that is kept."""
    w, vdot, rank = constrained.new_work(model), np.empty(V.shape[1]), 0
    for i in range(times):
        n = i % Q.shape[0]
        rank += constrained.acceleration(model, Q[n], V[n], u, tolerance, V.shape[1], w, vdot)
    return vdot, rank


@kernel(allocates=True)
def linear_times(model, q, v, u, R, bracket, tolerance, times):
    """The local state-space form to first order by the kernels."""
    total = 0.0
    for _ in range(times):
        found = reduction.state_space(model, q, v, u, R, bracket, tolerance, v.shape[0])
        total += found[0][0, 0]
    return total


def forward(plant: cmb.Mechanism, Q: Array, V: Array, u: Array) -> Callable[[int], Any]:
    """Forward dynamics at states, so many times."""
    code = code_of(plant, Q[-1])
    if code is None or not code.address("forward"):
        return partial(forward_along, plant.arrays, Q, V, u, RANK_TOLERANCE)
    outputs = CONDITIONS + plant.nv + len(plant.row_names)
    return partial(code_along, code.address("forward"), code.p, Q, V, u, outputs)


def linear(plant: cmb.Mechanism, q: Array, v: Array, u: Array, R: Array) -> Callable[[int], Any]:
    """The linear model of coordinates R at a state, so many times."""
    code = code_of(plant, q)
    if code is None or not code.linear(R, FIXED):
        return partial(linear_times, plant.arrays, q, v, u, R, FIXED, RANK_TOLERANCE)
    p = len(R)
    outputs = CONDITIONS + 1 + 4 * p * p + 2 * p * plant.nu + 2 * p + (3 * p + 1) * plant.nv + len(plant.row_names)
    return partial(code_along, code.linear(R, FIXED), code.p, q[None], v[None], u, outputs)

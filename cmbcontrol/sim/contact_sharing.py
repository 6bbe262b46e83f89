"""Shares of contacts in redundant forces, which motion does not determine: as far inside their cones as can be.

Where rows are redundant, as those of heel and toe that both stick, multipliers lam + N y with A' N = 0 do the same to
the motion. The smallest ones may lie outside the cone of a contact while others lie within: two feet on the sides of a
valley push against each other. A program of second-order cones finds those of which the smallest margin is largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Limit", "within"]

Array = NDArray[np.float64]

_SMALL = 1e-6  # cost of multipliers, squared, beside that of a margin: they are as small as the margin lets them be
_EXACT = 1e-12  # accuracy that the solver aims at; what is on the border of a cone is as exact as what it reaches


class Limit(NamedTuple):
    """Cone |tails lam| <= bound + head lam, in N or N m; a contact that only pushes has no tails.

    Attributes
    ----------
    head : ndarray, shape (rows,)
    tails : ndarray, shape (k, rows)
    bound : float
    scale : float
        Factor from a newton to the unit of the limit.
    """

    head: Array
    tails: Array
    bound: float
    scale: float


def within(lam: Array, N: Array, limits: Sequence[Limit], force: float, slack: float) -> Array | None:
    """Multipliers lam + N y within all limits, whose smallest margin is as large as it can be, up to `force`.

    Parameters
    ----------
    lam : ndarray, shape (rows,)
    N : ndarray, shape (rows, k)
        Null space of A'. Entries are of the order of one, times the factor from a newton to the unit of the row.
    limits : sequence of Limit
    force, slack : float
        The largest force at hand, and by how much limits may be missed, N.

    Returns
    -------
    ndarray, shape (rows,), or None
        None where no multipliers keep the limits, or where the solver does not come to its end.
    """
    import clarabel
    from scipy.sparse import csc_array, diags_array

    k = N.shape[1]
    rows, cones = [np.append(np.zeros(k), 1.0)], []  # margin <= force
    room: list[float] = [1.0]
    for limit in sorted(limits, key=lambda limit: len(limit.tails) > 1):  # cones come last
        unit = 1.0 / (limit.scale * force)
        # the margin of a limit of given size is told in its own size, that of one that grows with a push in forces
        part = limit.bound * unit or float(np.any(limit.head))
        head = np.append(-limit.head @ N / limit.scale, part)
        tails = np.column_stack([-limit.tails @ N / limit.scale, np.zeros(len(limit.tails))])
        free, held = unit * (limit.bound + float(limit.head @ lam)), unit * limit.tails @ lam
        if len(tails) > 1:
            rows += [head, *tails]
            room += [free, *held.tolist()]
            cones.append(clarabel.SecondOrderConeT(1 + len(tails)))
        else:  # a cone in a plane is two half spaces
            sides = (1.0, -1.0) if len(tails) else (0.0,)
            rows += [head + side * tails.sum(axis=0) for side in sides]
            room += [free + side * held.sum() for side in sides]
    linear = len(rows) - sum(cone.dim for cone in cones)
    cost = diags_array(np.append(np.full(k, _SMALL), 0.0), format="csc")
    aim = np.append(np.zeros(k), -1.0)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _EXACT
    solver = clarabel.DefaultSolver(
        cost, aim, csc_array(np.array(rows)), np.array(room), [clarabel.NonnegativeConeT(linear), *cones], settings
    )
    found = solver.solve()
    if found.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    *y, margin = found.x
    return lam + force * (N @ y) if margin * force >= -slack else None

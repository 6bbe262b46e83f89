"""Special points of a branch of equilibria: folds, branch points, singular configurations.

Each kind has a test function that changes its sign there. A step of the continuation in which one does is searched for
the point (Allgower and Georg, Numerical Continuation Methods, 1990, chapter 8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._tolerance import UNREACHED, floored
from .curve import BranchLost, Curve, CurvePoint
from .operating import OperatingPoint

__all__ = ["SpecialPoint", "special_points"]

Array = NDArray[np.float64]

_LOCATE = 1e-13  # of a step: accuracy of special points


class SpecialPoint(NamedTuple):
    """Special point of a branch of equilibria: a fold, a branch point or a singular configuration.

    Attributes
    ----------
    kind : str
        ``"fold"``: the parameter turns round. ``"branch point"``: another branch crosses; the stiffness is singular,
        the parameter does not turn. ``"singular configuration"``: the constraints lose rank.
    value : float
        Value of the parameter.
    arclength : float
    after : int
        Index of the last point of the branch before it.
    point : OperatingPoint
    """

    kind: str
    value: float
    arclength: float
    after: int
    point: OperatingPoint


def special_points(curve: Curve, base: CurvePoint, node: CurvePoint, h: float) -> list[tuple[float, str, CurvePoint]]:
    """Special points in a step from `base`: (step, kind, node), in order."""
    points = []
    flips = 0
    for kind, test in (("fold", _turning), ("branch point", _bordered), ("singular configuration", _loop_rank)):
        if test(base, base) * test(base, node) < 0.0:
            flips += kind != "singular configuration"
            s, point = _locate(curve, base, node, h, test)
            points.append((s, kind, point))
    if not any(kind == "singular configuration" for _, kind, _ in points):
        if node.balance.local.rank < base.balance.local.rank:  # the step ended on it
            points.append((h, "singular configuration", node))
        elif abs(_negative(node) - _negative(base)) > flips and node.balance.local.rank == base.balance.local.rank:
            s, point = _locate(curve, base, node, h, _soft_modes)
            points.append((s, "branch point", point))
    return sorted(points, key=lambda x: x[0])


def _locate(
    curve: Curve, base: CurvePoint, node: CurvePoint, h: float, test: Callable[[CurvePoint, CurvePoint], float]
) -> tuple[float, CurvePoint]:
    """Step and node at which a test function changes its sign, or the nearest node that can be computed."""
    from scipy.optimize import brentq  # imported where used: scipy.optimize takes 0.2 s

    values = {0.0: (test(base, base), base), h: (test(base, node), node)}

    def value(s: float) -> float:
        if s not in values:
            point = curve.ahead(base, s)
            values[s] = test(base, point), point
        return values[s][0]

    try:
        s = brentq(value, 0.0, h, xtol=_LOCATE * h, rtol=1e-15)
        value(s)
    except BranchLost:
        s = min(values, key=lambda s: abs(values[s][0]))
    return s, values[s][1]


def _turning(base: CurvePoint, node: CurvePoint) -> float:
    """Component of the tangent along the parameter; changes its sign at folds."""
    return float(node.P @ node.tangent)


def _bordered(base: CurvePoint, node: CurvePoint) -> float:
    """Determinant of the equations bordered by the tangent, in the bases of `base`; changes its sign at branch points.

    Zero where it is not defined: with motions of zero stiffness, or more than one unknown above the equations.
    """
    if node.J.shape[0] + 1 != node.J.shape[1] or node.balance.null_motions(node.J).shape[1] != 1:
        return 0.0
    rows, frame = node.balance.local.Z @ node.balance.Y, node.frame
    rows0, frame0 = base.balance.local.Z @ base.balance.Y, base.frame
    if rows.shape != rows0.shape or frame.shape != frame0.shape:
        return 0.0
    sign = np.sign(np.linalg.det(rows0.T @ node.balance.local.M @ rows)) * np.sign(np.linalg.det(frame0.T @ frame))
    size = max(float(np.linalg.norm(node.J)), 1e-300)
    return float(sign * np.linalg.det(np.vstack([node.J / size, node.tangent])))


def _loop_rank(base: CurvePoint, node: CurvePoint) -> float:
    """Least eigenvalue of the rows of A, relative to those at `base`; changes its sign at singular configurations."""
    rank = base.balance.local.rank
    if rank == 0 or node.balance.local.rank < rank:
        return 1.0 if rank == 0 else 0.0
    U, sigma, Vt = np.linalg.svd(_scaled_rows(base))
    change = U[:, :rank].T @ _scaled_rows(node) @ Vt[:rank].T / sigma[:rank]  # 1 at base
    return float(np.linalg.eigvals(change).real.min())


def _scaled_rows(node: CurvePoint) -> Array:
    plant = node.balance.plant
    return plant.row_scale[:, None] * node.balance.local.A * plant.displacement_scale


def _soft_modes(base: CurvePoint, node: CurvePoint) -> float:
    """Sign that is -1 where the number of negative stiffnesses differs from that at `base`, and else 1."""
    return 1.0 if _negative(node) == _negative(base) else -1.0


def _negative(node: CurvePoint) -> int:
    """Number of negative stiffnesses where all forces are given; else zero."""
    if node.balance.Y.shape != node.balance.W.shape or node.J.shape[1] != node.frame.shape[1] + 1:
        return 0
    values = np.linalg.eigvalsh(node.balance.stiffness)
    largest = floored(np.abs(values).max(initial=0.0), node.balance.stiffness_scale, UNREACHED)
    return int(np.count_nonzero(values < -UNREACHED * largest))

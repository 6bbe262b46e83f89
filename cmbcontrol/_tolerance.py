"""Tolerances: the only place that defines what counts as zero, and which rank a matrix has.

What is zero on paper comes out as rounding: some 1e-16 of the *terms* that were added up or multiplied, whatever is
left of them. So a number is compared with the size of its terms, never with itself, nor with its neighbours: where all
of them vanish, the largest one is rounding, too. For a matrix product X Y the terms are as large as |X| |Y|; for a row
of the constraint Jacobian they are lever arms, for which the size of the machine stands (`Plant.unit_lengths`); for
joint forces they are the weight and the springs (`Plant.force_scale`). So each function here asks for the `scale` of
the terms, in the units of what is judged.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLURRED",
    "CONSTANT",
    "DEPENDENT",
    "INDEPENDENT",
    "ROUNDING",
    "UNREACHED",
    "floored",
    "metres",
    "null_space",
    "pinv",
    "rank",
    "spans",
]

Array = NDArray[np.float64]

# What sums of some hundred products lose, relative to their largest term.
ROUNDING = 1e-13

# Constraint gradients of which less than this part is left count as dependent on others. Loops are closed to 1e-14, so
# redundant rows leave 1e-15; a pose must be this near to a singular one to lose its row.
DEPENDENT = 1e-10

# Of the largest constraint gradient: a smaller one is turned by rounding (1e-16 over its size) by more than its size.
# Poses so near to a singular one cannot be told from it, and velocities are not projected on what is noise.
BLURRED = 1e-8

# What varies over a run, or from run to run, by less than this part of its size is constant: a run adds up the rounding
# of some hundred steps.
CONSTANT = 1e-12

# Cosines below it, between admissible motions and what motors do, count as zero. The null space of the constraints is
# as exact as rounding over the conditioning of the rows; linkages in use stay above 1e-4: a margin of 1e3 is left.
UNREACHED = 1e-9

# Coordinates, or values of a task, of which less than this part is left on the admissible motions do not determine the
# motion: 1e-16 of rounding in them becomes 1e-8 of the motion, half of the digits.
INDEPENDENT = 1e-8


def metres(units: Iterable[str], size: float) -> Array:
    """Metres that a unit counts as: the size of the machine for a radian, a metre for all else."""
    return np.array([size if unit.startswith("rad") else 1.0 for unit in units])


def spans(units: Iterable[str], size: float) -> Array:
    """Size of a large change of a quantity: the size of the machine for a length, one for angles and all else."""
    return np.array([size if unit == "m" else 1.0 for unit in units])


def floored(largest: float, terms: float, tolerance: float) -> float:
    """Scale for a tolerance relative to the largest value, which may be rounding of terms of known size.

    Values below `tolerance` times this scale are small beside the largest, or rounding.
    """
    return max(float(largest), ROUNDING / tolerance * float(terms))


def rank(sizes: Array, scale: float, tolerance: float) -> int:
    """Rank: number of singular values, or pivots, above `tolerance` times the scale of the terms of their matrix."""
    return int(np.count_nonzero(sizes > tolerance * scale))


def pinv(X: Array, scale: float, tolerance: float) -> Array:
    """Pseudoinverse (n, m) of X (m, n) at the rank that `scale` and `tolerance` leave."""
    if not X.size:
        return np.zeros(X.shape[::-1])
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    r = rank(sigma, scale, tolerance)
    return (Vt[:r].T / sigma[:r]) @ U[:, :r].T


def null_space(X: Array, scale: float, tolerance: float) -> Array:
    """Orthonormal basis (n, n - r) of the null space of X (m, n), at the rank r that `scale` and `tolerance` leave."""
    if not X.size:
        return np.eye(X.shape[1])
    _, sigma, Vt = np.linalg.svd(X)
    return Vt[rank(sigma, scale, tolerance) :].T

"""Rank that the constraint rows have nearly everywhere, above that at a singular configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._tolerance import rank
from ..errors import AssemblyError
from .assembly import close_holding

if TYPE_CHECKING:
    from .plant import Plant
    from .terms import Terms

__all__ = ["generic_rank"]

_FOLLOWED = 0.1  # of a step: closing undoes less of one that leads to other configurations, its square
_SHUT = 1e-14  # of the largest length: loops that are open by less are closed for sure
_REGAINED = 2e-6  # of the largest gradient: rows that are back at configurations near a singular one

_FAILURES = 4  # searches for a higher rank, after one that has found it: the way out has been singular, too

Array = NDArray[np.float64]


def generic_rank(plant: Plant, terms: Terms) -> int:
    """Rank of A at configurations near that of `terms`, on the manifold: above the rank there where it is singular.

    Nearby configurations are found by moving 1e-3 (rad, or sizes of the machine) along admissible velocities and
    closing the loops again. At a singular configuration most of these are tangent to no branch, and closing leads part
    of the way back; then a coordinate is held off its value while the others close the loops. Prescribed motions move
    the machine, too: nearby are configurations that the loops alone allow.

    Where several loops are singular, most ways out open some of them only, as of a chain of bars in a line. So the
    search continues from the configuration with the highest rank, until there is none with more.
    """
    whole = plant
    if plant.motions and terms.rank < min(terms.A.shape):
        plant = plant.without(*(motion.name for motion in plant.motions if motion.name in plant.row_slices))
    rank_here, q, seed, failed = terms.rank, terms.q, 0, 0
    while rank_here < min(terms.A.shape) and failed < (_FAILURES if seed > failed else 1):
        loops = terms if plant is whole else plant.terms(q, np.zeros(plant.nv))
        ranks = _ranks_nearby(whole, plant, q, loops, seed, 3.0**failed * 1e-3 * plant.displacement_scale)
        found, near = max(ranks, key=lambda pair: pair[0], default=(0, q))
        seed += 1
        if found > rank_here:
            rank_here, q, terms, failed = found, near, whole.terms(near, np.zeros(plant.nv)), 0
        else:
            failed += 1
    return rank_here


def _ranks_nearby(
    whole: Plant, plant: Plant, q: Array, terms: Terms, seed: int, step: Array
) -> list[tuple[int, Array]]:
    """Ranks of the whole plant at configurations near q, with these; `terms` are those of the loops at q."""
    basis = np.linalg.qr(terms.Z / step[:, None])[0]  # of the degrees of freedom, in steps
    rng = np.random.default_rng(seed)
    ranks: list[tuple[int, Array]] = []
    free = True
    for _ in range(6):
        away = basis @ rng.standard_normal(terms.dof)
        away /= np.abs(away).max(initial=1e-300)
        try:
            near = plant.close(plant.integrate(q, away * step), accuracy=1e-14)
        except AssemblyError:
            free = False
            continue
        free = free and bool(np.abs(plant.difference(q, near) / step - away).max() < _FOLLOWED)
        ranks += _rank_nearby(whole, plant, q, near, step)
    if not free and max((found for found, _ in ranks), default=0) < min(terms.A.shape):
        pairs = sorted(plant.paired, key=lambda pair: -float(np.linalg.norm(basis[pair[1]])))
        for i, k in pairs[:6]:
            away = basis @ basis[k]
            if away[k] > 1e-6:
                near = plant.integrate(q, away * step / away[k])
                near = close_holding(plant, near, np.array([i]), near[[i]])
                ranks += _rank_nearby(whole, plant, q, near, step)
    return ranks


def _rank_nearby(whole: Plant, plant: Plant, q: Array, near: Array, step: Array) -> list[tuple[int, Array]]:
    """Rank of the whole plant at a closed configuration near q but not at it, with that configuration; else none.

    Loops that are closed to 1e-14 hold a part that is locked at a singular configuration to its root, 1e-7:
    gradients of that size are none. Those that the motion brings back are as large as its 1e-3, less the
    conditioning. Loops that are open by more may be open for good: some singular configurations open by the fourth
    power of the step.
    """
    distance = np.abs(plant.difference(q, near) / step).max()
    if not 0.1 < distance < 100.0 or not plant.closure_error(near) < _SHUT * plant.length_scale(near):
        return []
    terms = whole.terms(near, np.zeros(plant.nv))
    return [(min(terms.rank, rank(terms.pivots, float(terms.pivots.max(initial=0.0)), _REGAINED)), near)]

"""Which multipliers the motion of a machine determines, and which redundant rows share."""

from __future__ import annotations

import numpy as np

from .._tolerance import UNREACHED

__all__ = ["determined", "unique_multipliers"]


def determined(S: np.ndarray, levers: np.ndarray, independent: int) -> np.ndarray:
    """Mask (k,) of the combinations S lam, S (k, rows), that A' lam determines: those across N(A').

    Rows are as in `Terms.levers`, of which `independent` are independent. S is in newtons, for multipliers of such
    rows.
    """
    rows = levers.shape[0]
    if rows == 0 or independent == rows:
        return np.ones(len(S), dtype=bool)
    norms = np.linalg.norm(levers, axis=1)
    length = np.where(norms > UNREACHED, norms, 1.0)  # of a row that vanishes rounding is left: not to be blown up
    U = np.linalg.svd(levers / length[:, None])[0]
    scaled = S / length  # the same combination of multipliers of rows of length one
    # at its rank: the last columns of U span N(A'). They are as exact as rounding over the conditioning, so 1e-7
    # of a combination is rounding where the conditioning is above 1e-8; what is shared is of the order of one
    return np.linalg.norm(scaled @ U[:, independent:], axis=1) <= 1e-7 * np.linalg.norm(scaled, axis=1)


def unique_multipliers(levers: np.ndarray, independent: int) -> np.ndarray:
    """Mask (rows,) of multipliers that A' lam determines: rows that take no part in N(A'); see `determined`."""
    return determined(np.eye(len(levers)), levers, independent)

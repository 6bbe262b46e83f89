"""Search for the singular configuration nearest to a given configuration."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import SingularConfigurationError
from ..model.plant import Plant
from ..model.terms import Terms
from .derivatives import derivatives
from .singular import singular_configuration

__all__ = ["nearest_singular_configuration"]

Array = NDArray[np.float64]

_EXACT = 1e-12  # of the size: loops that are open by less are closed


def nearest_singular_configuration(plant: Plant, q: ArrayLike, *, within: float = 0.1) -> Array:
    """Singular configuration nearest to a given one that is close to it, exact to rounding.

    Newton's method: the loops close, and the smallest constraint gradients, those behind the largest gap in their
    sizes, vanish. With singular vectors U1, U2 (left) and V2 (right, on the small side) each step solves

        U1'(A x + phi) = 0,      U2'(A + D_x A) V2 = 0,

    for the smallest x in the metric of M. Where singular configurations form a family, the nearest one is found.

    Parameters
    ----------
    plant : Plant
    q : array_like, shape (nq,)
    within : float
        Largest distance to it, as a part of the largest coordinate change: radians, or sizes of the machine.

    Returns
    -------
    q : ndarray, shape (nq,)

    Raises
    ------
    SingularConfigurationError
        If there is none so near; the message has the smallest constraint gradient found.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> nearest_singular_configuration(plants.slider_crank(), [1.57, -3.14]).round(6)
    array([ 1.570796, -3.141593])
    """
    _check.plant(plant)
    within = _check.positive(within, "within")
    start = _check.vector(q, plant.nq, "q", plant.position_names)
    q = start.copy()
    length = plant.displacement_scale
    count, last = None, np.inf
    generic = plant.generic_rank(q)  # gradients beyond it vanish at every configuration
    for _ in range(30):
        terms = plant.terms(q, np.zeros(plant.nv))
        L = np.linalg.cholesky(terms.M)
        U, sigma, Vt = np.linalg.svd(np.linalg.solve(L, (plant.row_scale[:, None] * terms.A).T).T)
        scale = max(float(sigma.max(initial=0.0)), 0.01 * terms.regular_gradient)
        if count is None:
            compared = terms.regular_gradient if generic == 1 else scale  # a single row has no other
            count = _independent(sigma, compared, generic)
        if count is None:
            if plant.closure_error(q) < _EXACT * plant.size and singular_configuration(plant, q).singular:
                return q  # locked: there are no configurations nearby
            break
        x = _toward_singular(plant, q, terms, L, U, sigma, Vt, count)
        size = float(np.abs(x / length).max(initial=0.0))
        q = plant.integrate(q, x)
        if not np.abs(plant.difference(start, q) / length).max(initial=0.0) <= within:
            break
        if size <= 1e-15 or (size < 1e-9 and size >= 0.5 * last):
            return _closed_singular(plant, q, count)
        last = size
    raise SingularConfigurationError(
        f"there is no singular configuration of {plant.name!r} within {within:g} (rad, or sizes of the machine) of "
        f"the configuration given: its smallest independent constraint gradient is "
        f"{sigma[:generic].min(initial=np.inf) / scale:.3g} of the largest"
    )


def _independent(sigma: Array, scale: float, generic: int) -> int | None:
    """Number of gradients that stay, by the largest gap in the sizes of those independent nearby; None without one."""
    sizes = np.concatenate([[scale], np.maximum(sigma[:generic], 1e-9 * scale)])
    small = np.flatnonzero(sizes[1:] < 0.3 * scale)
    return int(small[np.argmin(sizes[small + 1] / sizes[small])]) if small.size else None


def _toward_singular(
    plant: Plant, q: Array, terms: Terms, L: Array, U: Array, sigma: Array, Vt: Array, count: int
) -> Array:
    """Step of Newton's method towards the singular configuration."""
    left = U[:, count:].T * plant.row_scale
    Z = np.linalg.solve(L.T, Vt[count:].T)
    zero, rows = np.zeros(plant.nv), np.zeros(len(plant.row_names))
    stay = U[:, :count].T * plant.row_scale
    equations, values = [stay @ terms.A], [stay @ terms.phi]
    for z in Z.T:
        rate = derivatives(plant, q, np.ascontiguousarray(z), a=zero, lam=rows).rate_q
        equations.append(left @ rate)
        values.append(left @ (terms.A @ z))
    G = np.linalg.solve(L, np.vstack(equations).T).T
    return np.linalg.solve(L.T, np.linalg.lstsq(G, -np.concatenate(values), rcond=1e-9)[0])


def _closed_singular(plant: Plant, q: Array, count: int) -> Array:
    """Configuration q itself, if it closes the loops."""
    gap = plant.closure_error(q)
    if gap > _EXACT * plant.size:
        raise SingularConfigurationError(
            f"where the constraint gradients of {plant.name!r} vanish, its loops are open by {gap:.3g} m: the motion "
            "passes near a singular configuration, not through it"
        )
    return q

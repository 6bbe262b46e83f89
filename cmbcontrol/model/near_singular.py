"""Closing of the loops at and near singular configurations, where the residual holds only part of the digits.

Where a constraint gradient of size s is left, rounding of the residual is divided by s. At the singular configuration
itself the residual is a square there, and a configuration that is off by 1e-8 closes to 1e-16. Two ways give all
digits:

* At the configuration: Newton's method on an extended problem, which is regular. Loops close along the gradients that
  stay, and the gradients that are lost vanish: with singular vectors U1, U2 (left) and V2 (right, on the small side)

      U1'(A x + phi) = 0,      U2'(A + D_x A) V2 = 0.

* Near it: the residual as an integral from the singular configuration, phi(q) = int A dx over the path. Its rounding
  is that of A times the distance; divided by the small gradients, which are as the distance, it is rounding again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .closing import Closing

__all__ = ["refined"]

Array = NDArray[np.float64]

# All gradients are in sizes of the machine by radians (or by sizes), where a regular one is near one.
_SQUARE = 1e-5  # a double root is found to 1e-8, or 1e-7 where it is flat: its gradient is not above this
_NEAR = 1e-3  # below, closing by the residual loses more than three digits
_ROUNDING = 1e-13  # times the extent over the size: redundant rows leave gradients of this size
_WITHIN = 0.1  # how far a singular configuration may be to measure from it
_STEP = 1e-4  # of central differences of A: errors of 1e-8 slow Newton's method by that much, no more


def refined(closing: Closing, q: Array, start: Array | None = None) -> Array:
    """Closed configuration with the digits that a singular one near it took; coordinates that are held stay.

    `start` is the configuration from which q was closed: this avoids the rounding on the path.
    """
    every, free = np.arange(closing.plant.nv), closing.free
    try:
        J, floor = _jacobian(closing, q), _floor(closing, q)
        is_near = _smallest(J, floor)[0] <= _NEAR
        if free.size < every.size:
            small = _NEAR if is_near else _SQUARE
            smallest, rank = _smallest(J[:, free], floor)
            if rank == free.size and smallest <= small:
                # what is held leaves this configuration alone; it may be a double root: the singular configuration, or
                # a turning point
                solution = _singular(closing, q, every if is_near else free, free, small, _SQUARE)
                if solution is not None:
                    return solution
        origin = _singular(closing, q, every, every, _NEAR, _WITHIN) if is_near else None
        if origin is None:
            return q
        starts = [q] if start is None or _distance(closing, start, q) > _SQUARE else [start, q]
        solutions = (_from_singular(closing, origin, near) for near in starts)
        return next((new for new in solutions if new is not None and _as_closed(closing, new, q)), q)
    except (ModelError, np.linalg.LinAlgError):  # of functions that are not defined so near
        return q


def _smallest(J: Array, floor: float) -> tuple[float, int]:
    """Smallest gradient that is not rounding, relative to the largest or one, and the number of such gradients."""
    s = np.linalg.svd(J, compute_uv=False)
    s = s[s > floor]
    return (float(s[-1]) / max(1.0, float(s[0])), s.size) if s.size else (np.inf, 0)


def _from_singular(closing: Closing, origin: Array, q: Array) -> Array | None:
    """Configuration q, closed by the integral from a singular configuration nearby; None where this fails."""
    plant, free = closing.plant, closing.free
    x = plant.difference(origin, q)
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact to rounding within 0.1 rad
    last = np.inf
    for _ in range(60):  # from 1e-8 off a double root, or nearly one, half of the way is left after each step
        mean = sum(
            0.5 * w * _jacobian(closing, plant.integrate(origin, 0.5 * (1.0 + s) * x))
            for s, w in zip(nodes, weights, strict=True)
        )
        U, s, Vt = np.linalg.svd(_jacobian(closing, plant.integrate(origin, x))[:, free], full_matrices=False)
        keep = s > _floor(closing, q)
        y = -Vt[keep].T @ (U[:, keep].T @ (mean @ (x / closing.lengths)) / s[keep])
        size = float(np.abs(y).max(initial=0.0))
        if not np.isfinite(size) or size > _WITHIN:
            return None
        x[free] += closing.lengths[free] * y
        if size <= 1e-16 or (size < 1e-6 * np.abs(x / closing.lengths).max() and size >= 0.5 * last):
            break
        last = size
    return plant.integrate(origin, x)


def _floor(closing: Closing, q: Array) -> float:
    return _ROUNDING * closing.plant.length_scale(q) / closing.plant.size


def _distance(closing: Closing, start: Array, q: Array) -> float:
    return float(np.abs(closing.plant.difference(start, q) / closing.lengths).max(initial=0.0))


def _jacobian(closing: Closing, q: Array) -> Array:
    return closing.rows(q)[1]()


def _as_closed(closing: Closing, new: Array, old: Array) -> bool:
    """Whether a configuration is closed to rounding, which adds up along the joints, or no worse than another one."""
    plant = closing.plant
    return plant.closure_error(new) <= max(
        plant.closure_error(old), 1e-15 * np.sqrt(plant.nv) * plant.length_scale(new)
    )


def _singular(closing: Closing, q: Array, columns: Array, unknown: Array, small: float, within: float) -> Array | None:
    """Closed configuration where gradients by some coordinates, those below `small` at q, vanish; else None.

    It is looked for by moving the `unknown` coordinates, at most by `within`.
    """
    plant, start = closing.plant, q
    sizes = np.linalg.svd(_jacobian(closing, q)[:, columns], compute_uv=False)
    count, last = int(np.count_nonzero(sizes > small * max(1.0, float(sizes.max(initial=0.0))))), np.inf
    for _ in range(12):
        r, jacobian = closing.rows(q)
        whole = jacobian()
        U, _, Vt = np.linalg.svd(whole[:, columns])
        stay, left, Z = U[:, :count].T, U[:, count:].T, Vt[count:].T
        rates = [(left @ rate[:, columns] @ Z).ravel() for rate in _rates(closing, q, unknown)]
        equations = np.vstack([stay @ whole[:, unknown], np.array(rates).T])
        values = np.concatenate([stay @ r, (left @ whole[:, columns] @ Z).ravel()])
        y = np.zeros(plant.nv)
        y[unknown] = -np.linalg.lstsq(equations, values, rcond=1e-7)[0]
        q = plant.integrate(q, closing.lengths * y)
        size = float(np.abs(y).max(initial=0.0))
        if not _distance(closing, start, q) <= within:
            return None
        if size <= 1e-15 or (size < 1e-9 and size >= 0.5 * last):
            sizes = np.linalg.svd(_jacobian(closing, q)[:, columns], compute_uv=False)
            vanish = (sizes[count:] <= _floor(closing, q)).all()
            return q if vanish and _as_closed(closing, q, start) else None
        last = size
    return None


def _rates(closing: Closing, q: Array, free: Array) -> list[Array]:
    """Derivatives of the Jacobian by the free coordinates."""
    plant, rates = closing.plant, []
    for k in free:
        h = np.zeros(plant.nv)
        h[k] = _STEP * closing.lengths[k]
        ahead, behind = (_jacobian(closing, plant.integrate(q, d)) for d in (h, -h))
        rates.append((ahead - behind) / (2.0 * _STEP))
    return rates

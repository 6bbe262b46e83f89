"""Motor efforts that hold a pose, within the limits of the actuators."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.forces import motor_effort
from ..errors import EquilibriumError
from ..model.base import PlantBase
from ..model.terms import Terms
from .at_rest import effort_units

__all__ = ["holding_efforts", "require_limits"]

Array = NDArray[np.float64]


def require_limits(plant: PlantBase, u: Array) -> None:
    """Refuse efforts that an actuator does not have."""
    for k in np.flatnonzero(np.abs(u) > plant.effort * (1.0 + 1e-9)):
        raise EquilibriumError(_too_weak(plant, int(k), u[k]))


def _too_weak(plant: PlantBase, k: int, need: float) -> str:
    unit = effort_units(plant)[k]
    return (
        f"actuator {plant.actuator_names[k]!r} needs {abs(need):.4g} {unit} and has {plant.effort[k]:.4g} {unit}. "
        "Raise its effort limit, or choose another pose."
    )


def holding_efforts(plant: PlantBase, terms: Terms, weight: ArrayLike | None = None) -> Array:
    """Smallest efforts with Z'B u = Z'h, in the metric u' W^-1 u; within the limits where there is a choice.

    Where the motors cannot balance all, what they can.

    Raises
    ------
    EquilibriumError
        Where a limit is passed; it names the actuator.
    """
    u = motor_effort(terms, np.zeros(plant.nv), weight, strict=False).u
    if np.all(np.abs(u) <= plant.effort):
        return u
    # With u = L x, W = L L', and x = x0 + N y over the null space N of Z'B L, wanted is the smallest y
    # with G y >= g: a problem of least distance, solved by one of non-negative least squares
    # (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
    from scipy.optimize import nnls  # imported where used: scipy.optimize takes 0.2 s

    L = _root(weight, plant.nu)
    reach = terms.Z.T @ terms.B @ L
    x0 = np.linalg.solve(L, u)
    N = _null_space(reach)
    limited = np.isfinite(plant.effort)
    part = L[limited] / plant.effort[limited, None]  # efforts as fractions of their limits
    G = np.concatenate([-part @ N, part @ N])
    g = np.concatenate([part @ x0, -part @ x0]) - 1.0
    E = np.concatenate([G.T, g[None]])
    target = np.append(np.zeros(N.shape[1]), 1.0)
    r = E @ nnls(E, target)[0] - target
    if np.linalg.norm(r) < 1e-9:
        raise EquilibriumError(_too_weak(plant, *_most_loaded(plant, reach @ x0, terms.Z.T @ terms.B, u)))
    return L @ (x0 - N @ r[:-1] / r[-1])


def _root(weight: ArrayLike | None, nu: int) -> Array:
    """L with W = L L'; `motor_effort` has checked the weight."""
    if weight is None:
        return np.eye(nu)
    W = np.asarray(weight, dtype=np.float64)
    return np.linalg.cholesky(np.diag(W) if W.ndim == 1 else W)


def _null_space(X: Array) -> Array:
    """Orthonormal columns N with X N = 0."""
    sigma, Vt = np.linalg.svd(X)[1:]
    return Vt[np.count_nonzero(sigma > 1e-10 * sigma.max(initial=0.0)) :].T


def _most_loaded(plant: PlantBase, need: Array, reach: Array, u: Array) -> tuple[int, float]:
    """The actuator that is loaded most, and its effort, where the load is spread as evenly as can be."""
    from scipy.optimize import linprog

    limited = np.flatnonzero(np.isfinite(plant.effort))
    rows, limit = np.eye(plant.nu)[limited], -plant.effort[limited, None]
    found = linprog(  # the least s with abs(u) <= s effort
        np.append(np.zeros(plant.nu), 1.0),
        A_ub=np.block([[rows, limit], [-rows, limit]]),
        b_ub=np.zeros(2 * limited.size),
        A_eq=np.column_stack([reach, np.zeros(len(reach))]),
        b_eq=need,
        bounds=[(None, None)] * plant.nu + [(0.0, None)],
    )
    best = u if found.x is None else found.x[:-1]
    k = int(limited[np.argmax(np.abs(best[limited]) / plant.effort[limited])])
    return k, float(best[k])

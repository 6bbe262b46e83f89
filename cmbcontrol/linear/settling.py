"""Looking for an equilibrium near a pose, on the manifold of the closed loops."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.forces import motor_effort
from ..errors import AssemblyError, EquilibriumError, ModelError
from ..model.base import PlantBase
from .at_rest import at_rest, coordinate_lengths, multipliers, relative_force, unbalanced

__all__ = ["moving_coordinates", "settle"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LONGEST = 0.5  # a step, in radians or sizes of the machine


def moving_coordinates(plant: PlantBase, free: str | Collection[str]) -> Mask:
    """Mask (nv,) of the velocity coordinates that may move, by their names or those of joints; or "all"."""
    if isinstance(free, str) and free == "all":
        return np.ones(plant.nv, dtype=bool)
    known = {j.name: j.velocity_names for j in getattr(plant, "joints", ())}
    known |= {n: (n,) for n in plant.velocity_names}
    mask = np.zeros(plant.nv, dtype=bool)
    for name in (free,) if isinstance(free, str) else free:
        if name not in known:
            raise ValueError(_check.unknown(name, list(known), "coordinate to free"))
        mask[[plant.index(n) for n in known[name]]] = True
    return mask


class _Pose:
    """What is out of balance at a pose, and how that changes along the motions that are free.

    r = Z'(h - B u) on velocities that are orthonormal in the metric of M, so that its entries
    are accelerations that compare. On the manifold dr = Z'K dq, up to terms with r itself. Where the efforts
    are to be found, the part of r that they can balance is left out.

    Attributes
    ----------
    r : ndarray, shape (dof,)
    W : ndarray, shape (dof, free)
        Free motions among the admissible ones: dq = Z W y.
    J : ndarray, shape (dof, free)
        dr/dy.
    """

    def __init__(self, plant: PlantBase, q: Array, u: Array | None, moving: Mask, weight: ArrayLike | None) -> None:
        self.plant, self.q, self.given, self.moving, self.weight = plant, q, u, moving, weight
        terms = plant.terms(q, np.zeros(plant.nv))
        u = motor_effort(terms, np.zeros(plant.nv), weight, strict=False).u if self.given is None else self.given
        lam = multipliers(terms, u)
        local = at_rest(plant, q, lam, u)
        self.Z = local.Z
        keep = np.eye(terms.dof)
        if self.given is None:
            reach = self.Z.T @ local.B
            keep -= reach @ np.linalg.pinv(reach, rcond=1e-10)
        self.length = coordinate_lengths(plant)
        held = self.Z[~moving] / self.length[~moving, None]
        sigma, Vt = np.linalg.svd(held)[1:]
        self.W = Vt[np.count_nonzero(sigma > 1e-9 * max(sigma.max(initial=0.0), 1e-9)) :].T
        self.r = keep @ self.Z.T @ (local.h - local.B @ u)
        self.J = keep @ self.Z.T @ local.K @ self.Z @ self.W
        self.size = float(np.linalg.norm(self.r))
        self.relative = relative_force(plant, local, unbalanced(terms, u), lam, u)

    def step(self, damping: float) -> Array:
        """Levenberg-Marquardt step y towards r = 0."""
        n = self.W.shape[1]
        added = np.sqrt(damping) * np.linalg.norm(self.J) * np.eye(n)
        return np.linalg.lstsq(np.concatenate([self.J, added]), np.append(-self.r, np.zeros(n)), rcond=1e-12)[0]

    def downhill(self) -> Array:
        """The longest step along the force."""
        y = -self.W.T @ self.r
        return y * (_LONGEST / max(float(np.abs(self.Z @ self.W @ y / self.length).max(initial=0.0)), 1e-300))

    def moved(self, y: Array) -> _Pose | None:
        """The pose after a step y, with the loops closed again; None where they do not close."""
        dq = self.Z @ (self.W @ y)
        dq *= min(1.0, _LONGEST / max(float(np.abs(dq / self.length).max(initial=0.0)), 1e-300))
        try:
            q = _close(self.plant, self.plant.integrate(self.q, dq), self.moving)
            return _Pose(self.plant, q, self.given, self.moving, self.weight)
        except (AssemblyError, ModelError):
            return None


def settle(
    plant: PlantBase, q: Array, u: Array | None, moving: Mask, weight: ArrayLike | None, tolerance: float
) -> Array:
    """Configuration near q where u (or, with None, any efforts) hold the machine; the best found where none does."""
    here = _Pose(plant, q, u, moving, weight)
    if here.W.shape[1] == 0 and here.relative > tolerance:
        held = ", ".join(repr(n) for n, m in zip(plant.velocity_names, moving, strict=True) if not m)
        raise EquilibriumError(f"with {held or 'nothing'} held, the loops allow no motion; free more coordinates")
    damping, escapes = 0.0, 8
    for _ in range(200):
        if here.relative < 1e-15:
            break
        ahead = here.moved(here.step(damping))
        if ahead is not None and ahead.size < 0.999 * here.size:
            here, damping = ahead, 0.1 * damping if damping > 1e-6 else 0.0
        elif here.relative <= tolerance:
            break  # rounding
        elif damping < 1e3:
            damping = max(10.0 * damping, 1e-4)
        elif escapes > 0:
            here, damping, escapes = here.moved(here.downhill()) or here, 0.0, escapes - 1
        else:
            break
    outside = (here.q < plant.limits[:, 0] - 1e-9) | (here.q > plant.limits[:, 1] + 1e-9)
    if here.relative <= tolerance and outside.any():
        i = int(np.argmax(outside))
        raise EquilibriumError(
            f"the equilibrium near the pose has {plant.position_names[i]} = {here.q[i]:.6g}, outside its limits "
            f"{plant.limits[i].tolist()}. Start elsewhere, or give u= that holds it inside."
        )
    return here.q


def _close(plant: PlantBase, q: Array, moving: Mask) -> Array:
    """Close the loops with the coordinates that are held at their values."""
    if moving.all():
        return plant.close(q)
    length = coordinate_lengths(plant)[moving]
    for _ in range(20):
        phi = plant.row_scale * plant.residual(q)
        if np.abs(phi).max(initial=0.0) <= 1e-14 * plant.size:
            break
        A = plant.row_scale[:, None] * plant.jacobian(q)[:, moving] * length
        dq = np.zeros(plant.nv)
        dq[moving] = length * np.linalg.lstsq(A, -phi, rcond=1e-9)[0]
        ahead = plant.integrate(q, dq)
        if not plant.open_loop(ahead) < np.abs(phi).max():
            break
        q = ahead
    left = plant.loop_residuals(q)
    if max(left.values(), default=0.0) > 1e-9 * plant.size:
        raise AssemblyError("the loops stay open", left, q)
    return q

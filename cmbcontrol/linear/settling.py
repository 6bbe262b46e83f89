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
    free : ndarray, shape (nv, n)
        Admissible motions that move free coordinates only: dq = free @ y.
    J : ndarray, shape (dof, n)
        dr/dy.
    size : float
        Norm of r.
    relative : float
        Largest force left over all forces here.
    """

    def __init__(self, plant: PlantBase, q: Array, u: Array | None, moving: Mask, weight: ArrayLike | None) -> None:
        self.q, self._again = q, (plant, u, moving, weight)
        terms = plant.terms(q, np.zeros(plant.nv))
        efforts = motor_effort(terms, np.zeros(plant.nv), weight, strict=False).u if u is None else u
        lam = multipliers(terms, efforts)
        local = at_rest(plant, q, lam, efforts)
        Z, self.length = local.Z, coordinate_lengths(plant)
        keep = np.eye(terms.dof)
        if u is None:
            reach = Z.T @ local.B
            keep -= reach @ np.linalg.pinv(reach, rcond=1e-10)
        sigma, Vt = np.linalg.svd(Z[~moving] / self.length[~moving, None])[1:]
        self._W = Vt[np.count_nonzero(sigma > 1e-9 * max(sigma.max(initial=0.0), 1e-9)) :].T
        self.free = Z @ self._W
        self.r = keep @ Z.T @ (local.h - local.B @ efforts)
        self.J = keep @ Z.T @ local.K @ self.free
        self.size = float(np.linalg.norm(self.r))
        self.relative = relative_force(plant, local, unbalanced(terms, efforts), lam, efforts)

    def newton(self, damping: float) -> Array:
        """Levenberg-Marquardt step y towards r = 0, stable or not."""
        n = self.free.shape[1]
        added = np.sqrt(damping) * np.linalg.norm(self.J) * np.eye(n)
        return np.linalg.lstsq(np.concatenate([self.J, added]), np.append(-self.r, np.zeros(n)), rcond=1e-12)[0]

    def downhill(self) -> tuple[Array, float]:
        """Newton's step with the stiffness made positive, towards a stable equilibrium; and the least stiffness.

        The stiffness counts relative to the largest. On a saddle the step leaves it.
        """
        H = self._W.T @ self.J
        values, vectors = np.linalg.eigh(0.5 * (H + H.T))
        largest = float(np.abs(values).max(initial=0.0))
        least = float(values.min(initial=largest)) / max(largest, 1e-300)
        if least < -1e-6 and self.relative < 1e-6:
            return vectors[:, 0], least
        y = -vectors @ ((vectors.T @ self.slope) / np.maximum(np.abs(values), max(1e-6 * largest, 1e-9 * self.size)))
        return y, least

    @property
    def slope(self) -> Array:
        """Force along the free motions, the gradient of the energy in y."""
        return self._W.T @ self.r

    def shortened(self, y: Array) -> Array:
        """The step y, no coordinate of it longer than half a radian (or size of the machine)."""
        return y * min(1.0, _LONGEST / max(self.longest(y), 1e-300))

    def longest(self, y: Array) -> float:
        """Largest entry of a step, in radians or sizes of the machine."""
        return float(np.abs(self.free @ y / self.length).max(initial=0.0))

    def moved(self, y: Array) -> _Pose | None:
        """The pose after a step y, with the loops closed again; None where they do not close."""
        plant, u, moving, weight = self._again
        try:
            return _Pose(plant, _close(plant, plant.integrate(self.q, self.free @ y), moving), u, moving, weight)
        except (AssemblyError, ModelError):
            return None


def settle(
    plant: PlantBase,
    q: Array,
    u: Array | None,
    moving: Mask,
    *,
    weight: ArrayLike | None = None,
    stable: bool = False,
    tolerance: float = 1e-9,
) -> Array:
    """Configuration near q where u (or, with None, any efforts) hold the machine; the best found where none does."""
    here = _Pose(plant, q, u, moving, weight)
    if here.free.shape[1] == 0 and here.relative > tolerance:
        held = ", ".join(repr(n) for n, m in zip(plant.velocity_names, moving, strict=True) if not m)
        raise EquilibriumError(f"with {held or 'nothing'} held, the loops allow no motion; free more coordinates")
    found = _nearest(_lower(here) if stable else here, tolerance)
    if found.relative > tolerance:  # no direction leads to an equilibrium from here
        found = _nearest(_lower(here), tolerance)
    if stable and found.relative <= tolerance and found.downhill()[1] < -1e-6:
        raise EquilibriumError(
            f"no stable equilibrium was found near the pose: that at q = {np.round(found.q, 6).tolist()} is "
            "unstable, or singular (see plant.diagnose(q)). Start elsewhere."
        )
    outside = (found.q < plant.limits[:, 0] - 1e-9) | (found.q > plant.limits[:, 1] + 1e-9)
    if found.relative <= tolerance and outside.any():
        i = int(np.argmax(outside))
        raise EquilibriumError(
            f"the equilibrium near the pose has {plant.position_names[i]} = {found.q[i]:.6g}, outside its limits "
            f"{plant.limits[i].tolist()}. Start elsewhere, or give u= that holds it inside."
        )
    return found.q


def _nearest(here: _Pose, tolerance: float) -> _Pose:
    """Levenberg-Marquardt: the imbalance falls with every step."""
    damping = 0.0
    for _ in range(200):
        if here.relative < 1e-15:
            break
        ahead = here.moved(here.shortened(here.newton(damping)))
        if ahead is not None and ahead.size < 0.999 * here.size:
            here, damping = ahead, 0.1 * damping if damping > 1e-6 else 0.0
        elif here.relative <= tolerance or damping > 1e3:
            break  # rounding, or no way down
        else:
            damping = max(10.0 * damping, 1e-4)
    return here


def _lower(here: _Pose) -> _Pose:
    """Downhill to where Newton's method finds the stable equilibrium: the force along a step must not turn round."""
    for _ in range(300):
        y, least = here.downhill()
        if least > 1e-6 and here.longest(y) < 0.02:
            break
        y = here.shortened(y)
        for _ in range(12):
            ahead = here.moved(y)
            if ahead is not None and y @ ahead.slope < -0.7 * (y @ here.slope):
                break
            y = 0.5 * y
        else:
            break
        here = ahead
    return here


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

"""Looking for an equilibrium near a pose, on the manifold of the closed loops."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import ROUNDING, UNREACHED, floored, null_space, pinv
from ..errors import AssemblyError, EquilibriumError, ModelError
from ..model.plant import Plant
from .at_rest import (
    at_rest,
    forces_at_hand,
    loop_curvatures,
    multipliers,
    outside_limits,
    relative_force,
    require_holonomic,
    unbalanced,
)
from .holding import Efforts, holding_efforts, least_distance, motors_reach, smallest_efforts

__all__ = ["Pose", "close_moving", "named_coordinates", "settle"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LONGEST = 0.5  # a step, in radians or sizes of the machine
_UNSTABLE = 1e-6  # a stiffness below -1e-6 of the largest counts as negative


def named_coordinates(plant: Plant, names: str | Collection[str], what: str) -> Mask:
    """Mask (nv,) of velocity coordinates, by their names or those of joints; or "all"."""
    if isinstance(names, str) and names == "all":
        return np.ones(plant.nv, dtype=bool)
    known = {j.name: j.velocity_names for j in getattr(plant, "joints", ())}
    known |= {plant.position_names[i]: (plant.velocity_names[k],) for i, k in plant.paired}
    known |= {n: (n,) for n in plant.velocity_names}
    mask = np.zeros(plant.nv, dtype=bool)
    for name in _check.names((names,) if isinstance(names, str) else names, what):
        if name not in known:
            raise ValueError(_check.unknown(name, list(known), f"coordinate to {what}"))
        mask[[plant.index(n) for n in known[name]]] = True
    return mask


class Pose:
    """What is out of balance at a pose, and how that changes along the motions that are free.

    Z is orthonormal in the metric of M, so that the entries of Z'(h - B u) are accelerations that compare. Of
    these forces r = Y'Z'(h - B u) are those that the efforts to be found do not reach. On the manifold
    dr = Y'Z'K dq, up to terms with r itself.

    Attributes
    ----------
    q : ndarray, shape (nq,)
    u : ndarray, shape (nu,)
        The smallest efforts, whatever their limits.
    r : ndarray, shape (m,)
    W : ndarray, shape (dof, n)
        Orthonormal: the motions Z W move free coordinates only.
    free : ndarray, shape (nv, n)
        Z W: dq = free @ y.
    Y : ndarray, shape (dof, m)
        Orthonormal.
    J : ndarray, shape (m, n)
        dr/dy.
    size : float
        Norm of r.
    relative : float
        Largest force left over all forces here.
    forces : float
        These, N m.
    """

    def __init__(self, plant: Plant, q: Array, efforts: Efforts, moving: Mask) -> None:
        self.plant, self.q, self.efforts, self.moving = plant, q, efforts, moving
        self.terms = terms = plant.terms(q, np.zeros(plant.nv))
        self.u = smallest_efforts(terms, efforts)
        self.lam = multipliers(terms, self.u)
        self.local = local = at_rest(plant, q, self.lam, self.u)
        self.length = plant.spans
        Z, found = local.Z, efforts.found
        self.Y = _unreached(Z, local.B[:, found], plant.reach) if found.any() else np.eye(Z.shape[1])
        self.W = self.held_still(moving)
        self.free = Z @ self.W
        self.r = self.Y.T @ (Z.T @ (local.h - local.B @ self.u))
        self.J = self.Y.T @ (Z.T @ local.force_q @ self.free)
        self.size = float(np.linalg.norm(self.r))
        self.relative = relative_force(plant, local, unbalanced(terms, self.u), self.lam, self.u)
        self.forces = forces_at_hand(plant, local, self.lam, self.u)

    @property
    def family(self) -> int:
        """Dimension of the equilibria that pass through this one."""
        triangle = np.linalg.qr(self.free / self.length[:, None])[1]
        return self.still(np.linalg.solve(triangle.T, self.J.T).T).shape[1]

    def still(self, J: Array) -> Array:
        """Orthonormal x with J x = 0, for the equations r = 0 with unknowns in radians and sizes of the machine."""
        J = J / np.linalg.norm(self.Y.T @ (self.local.Z / self.length[:, None]).T, axis=1)[:, None]  # N m
        largest = np.linalg.norm(J, 2) if J.size else 0.0
        return null_space(J, floored(largest, self.forces, UNREACHED), UNREACHED)

    def held_still(self, moving: Mask) -> Array:
        """Orthonormal W (dof, n) such that Z W moves the given coordinates only."""
        if moving.all():
            return np.eye(self.local.Z.shape[1])
        motions = self.local.Z / self.length[:, None]
        return null_space(motions[~moving], float(np.linalg.norm(motions)), UNREACHED)

    def newton(self, damping: float) -> Array:
        """Levenberg-Marquardt step y towards r = 0, stable or not."""
        n = self.free.shape[1]
        added = np.sqrt(damping) * np.linalg.norm(self.J) * np.eye(n)
        return np.linalg.lstsq(np.concatenate([self.J, added]), np.append(-self.r, np.zeros(n)), rcond=1e-12)[0]

    def downhill(self) -> tuple[Array, float]:
        """Newton's step with the stiffness made positive, towards a stable equilibrium; and the least stiffness.

        The stiffness counts relative to the largest. On a saddle the step leaves it.
        """
        values, vectors = np.linalg.eigh(self.stiffness)
        largest = floored(np.abs(values).max(initial=0.0), self.stiffness_of_all, _UNSTABLE)
        least = float(values.min(initial=largest)) / (largest or 1.0)
        if least < -_UNSTABLE and self.relative < 1e-6:
            return vectors[:, 0], least
        soft = max(_UNSTABLE * largest, 1e-9 * self.size, 1e-300)
        return -vectors @ ((vectors.T @ self.slope) / np.maximum(np.abs(values), soft)), least

    @property
    def stiffness(self) -> Array:
        """Of the free motions, symmetric part (n, n)."""
        H = self.W.T @ self.Y @ self.J
        return 0.5 * (H + H.T)

    @property
    def stiffness_of_all(self) -> float:
        """All forces here as a stiffness in y: where they cancel, the stiffness is rounding of it."""
        return self.forces * float(np.linalg.norm(self.free / self.length[:, None])) ** 2

    @property
    def slope(self) -> Array:
        """Force along the free motions, the gradient of the energy in y."""
        return self.W.T @ self.Y @ self.r

    def ahead_along(self, y: Array, ahead: Pose) -> float:
        """Force at a pose ahead along the step y that led there; bases differ from pose to pose."""
        return float((ahead.W.T @ (ahead.local.Z.T @ (ahead.local.M @ (self.free @ y)))) @ ahead.slope)

    def is_stable(self) -> bool:
        """Whether the stiffness is positive (or zero) on all motions that the loops allow.

        At a singular configuration the multipliers are not unique. The pose is stable where with some of them the
        stiffness is positive: for z'(K + sum mu_i C_i) z is then the same, z'Kz, on all motions z'C_i z = 0 that the
        loops allow (one such row: and only then, by Finsler's lemma).
        """
        least = self.downhill()[1]
        if least >= -_UNSTABLE:
            return True
        curved = [self.W.T @ C @ self.W for C in loop_curvatures(self.plant, self.q, self.local)]
        return bool(curved) and _largest_least(self.stiffness, curved) >= -_UNSTABLE

    def shortened(self, y: Array) -> Array:
        """The step y, no coordinate of it longer than half a radian (or size of the machine)."""
        return y * min(1.0, _LONGEST / max(self.longest(y), 1e-300))

    def longest(self, y: Array) -> float:
        """Largest entry of a step, in radians or sizes of the machine."""
        return float(np.abs(self.free @ y / self.length).max(initial=0.0))

    def moved(self, y: Array) -> Pose | None:
        """The pose after a step y, with the loops closed again; None where they do not close."""
        plant = self.plant
        try:
            q = close_moving(plant, plant.integrate(self.q, self.free @ y), self.moving)
            return Pose(plant, q, self.efforts, self.moving)
        except (AssemblyError, ModelError):
            return None


def _unreached(Z: Array, B: Array, reach: Array) -> Array:
    """Orthonormal Y (dof, m): the combinations Y'Z'f of forces that no motor gives, Y'Z'B = 0."""
    X, lengths, scale = motors_reach(Z, B, reach)
    return np.linalg.qr(null_space(X.T, scale, UNREACHED) / lengths[:, None])[0]


def _largest_least(H: Array, forms: list[Array]) -> float:
    """The largest that the least eigenvalue of H + sum mu_i C_i can be made, relative to the largest of H."""
    from scipy.optimize import minimize, minimize_scalar  # imported where used: scipy.optimize takes 0.2 s

    size = max(float(np.abs(np.linalg.eigvalsh(H)).max(initial=0.0)), 1e-300)
    H = H / size
    units = [C / max(float(np.linalg.norm(C)), 1e-300) for C in forms]

    def least(mu: Array) -> float:
        return -float(np.linalg.eigvalsh(H + sum(m * C for m, C in zip(np.atleast_1d(mu), units, strict=True)))[0])

    if len(units) == 1:  # concave in mu
        return -float(minimize_scalar(least).fun)
    return -float(minimize(least, np.zeros(len(units)), method="Nelder-Mead", options={"maxiter": 2000}).fun)


def settle(
    plant: Plant, q: Array, efforts: Efforts, moving: Mask, *, stable: bool = False, tolerance: float = 1e-9
) -> Pose:
    """The equilibrium near q, within the limits of joints and actuators where there is a choice.

    Without any equilibrium near, the pose that comes nearest.
    """
    require_holonomic(plant, q)
    here = Pose(plant, q, efforts, moving)
    if here.free.shape[1] == 0 and here.relative > tolerance:
        held = ", ".join(repr(n) for n, m in zip(plant.velocity_names, moving, strict=True) if not m)
        raise EquilibriumError(f"with {held or 'nothing'} held, the loops allow no motion; free more coordinates")
    found = _nearest(_lower(here) if stable else here, tolerance)
    if found.relative > tolerance:  # no direction leads to an equilibrium from here
        found = _nearest(_lower(here), tolerance)
    if found.relative <= tolerance and not _allowed(found) and found.free.shape[1]:
        found = _inside(found, q, tolerance) or _inside(here, q, tolerance) or found
    if stable and found.relative <= tolerance and not found.is_stable():
        raise EquilibriumError(
            f"no stable equilibrium was found near the pose: that at q = {np.round(found.q, 6).tolist()} is "
            "unstable. Start elsewhere."
        )
    if found.relative <= tolerance:
        _require_inside(found)
    return found


def _require_inside(found: Pose) -> None:
    """Refuse an equilibrium outside the joint limits."""
    plant, q = found.plant, found.q
    outside = outside_limits(plant, q)
    if outside.any():
        i = int(np.argmax(outside))
        raise EquilibriumError(
            f"the equilibrium near the pose has {plant.position_names[i]} = {q[i]:.6g}, outside its limits "
            f"{plant.limits[i].tolist()}. Start elsewhere, or give u= that holds it inside."
        )


def _nearest(here: Pose, tolerance: float) -> Pose:
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


def _lower(here: Pose) -> Pose:
    """Downhill to where Newton's method finds the stable equilibrium: the force along a step must not turn round."""
    for _ in range(300):
        y, least = here.downhill()
        if least > _UNSTABLE and here.longest(y) < 0.02:
            break
        y = here.shortened(y)
        for _ in range(12):
            ahead = here.moved(y)
            if ahead is not None and here.ahead_along(y, ahead) < min(-0.7 * (y @ here.slope), 0.0):
                break
            y = 0.5 * y
        else:
            break
        here = ahead
    return here


# -- limits -----------------------------------------------------------------------------------------------


def _inside(here: Pose, start: Array, tolerance: float) -> Pose | None:
    """The equilibrium within the limits nearest to the start; None where none is near.

    In each step the smallest (way from the start, u) with the balance and the limits to first order,
    Z'(h + K dq - B u) = 0. Motions count, efforts hardly.
    """
    plant, efforts = here.plant, here.efforts
    found = efforts.found
    pushes = plant.size * np.linalg.norm(here.local.B / plant.reach[:, None], axis=0)  # N m
    held = np.maximum(np.abs(here.u), here.forces / np.where(pushes > 0.0, pushes, 1.0))
    scale = 100.0 * np.where(np.isfinite(plant.effort), plant.effort, np.where(held > 0.0, held, 1.0))[found]
    index = np.array(plant.paired, dtype=int).reshape(-1, 2)
    low, high = plant.limits[index[:, 0]].T
    effort = np.concatenate([np.zeros((scale.size, here.free.shape[1])), np.eye(scale.size)], axis=1)
    u = here.u.copy()
    for _ in range(100):
        Z, n = here.local.Z, here.free.shape[1]
        F = here.length[:, None] * np.linalg.qr(here.free / here.length[:, None])[0]  # radians and sizes
        gone = F.T @ (plant.difference(start, here.q) / here.length**2)
        K = at_rest(plant, here.q, multipliers(here.terms, u), u).force_q
        balance = np.concatenate([Z.T @ K @ F, -Z.T @ here.local.B[:, found] * scale], axis=1)
        left = Z.T @ (here.local.B @ np.where(found, 0.0, u) - here.local.h) + Z.T @ K @ F @ gone
        motion = np.concatenate([F[index[:, 1]], np.zeros((len(index), scale.size))], axis=1)
        now = here.q[index[:, 0]] - F[index[:, 1]] @ gone
        G = np.concatenate([motion, -motion, effort, -effort])
        g = np.concatenate([low - now, now - high, efforts.low[found] / scale, -efforts.high[found] / scale])
        terms = here.forces * np.linalg.norm(Z / here.length[:, None], axis=0)
        x = least_distance(balance, left, G[np.isfinite(g)], g[np.isfinite(g)], terms=terms, rounding=ROUNDING * terms)
        if x is None or n != effort.shape[1] - scale.size:
            return None
        y = np.linalg.lstsq(here.free, F @ (x[:n] - gone), rcond=None)[0]
        ahead = here.moved(here.shortened(y))
        if ahead is None:
            return None
        step = here.longest(y)
        here, u = ahead, u.copy()
        u[found] = scale * x[n:]
        if step < 1e-10:
            break
    return here if here.relative <= tolerance and _allowed(here) else None


def _allowed(pose: Pose) -> bool:
    """Whether the joints are inside their limits, and some efforts hold the pose inside theirs."""
    try:
        _require_inside(pose)
        holding_efforts(pose.plant, pose.terms, pose.efforts)
    except EquilibriumError:
        return False
    return True


def close_moving(plant: Plant, q: Array, moving: Mask) -> Array:
    """Close the loops with the coordinates that are held at their values."""
    if moving.all():
        return plant.close(q)
    length = plant.spans[moving]
    for _ in range(20):
        phi = plant.row_scale * plant.residual(q)
        if np.abs(phi).max(initial=0.0) <= 1e-14 * plant.size:
            break
        A = plant.row_scale[:, None] * plant.jacobian(q)[:, moving] * length
        dq = np.zeros(plant.nv)
        dq[moving] = length * (pinv(A, plant.size, UNREACHED) @ -phi)
        ahead = plant.integrate(q, dq)
        if not plant.closure_error(ahead) < np.abs(phi).max():
            break
        q = ahead
    left = plant.loop_residuals(q)
    if max(left.values(), default=0.0) > 1e-9 * plant.size:
        raise AssemblyError("the loops stay open", left, q)
    return q

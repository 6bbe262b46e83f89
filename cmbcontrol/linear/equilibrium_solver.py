"""Solution of the static equilibrium equations on the manifold of the closed loops."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import ROUNDING, UNREACHED, floored, null_space, pinv
from ..dynamics.derivatives import Derivatives
from ..errors import AssemblyError, EquilibriumError, InputError, ModelError
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import effort_units
from .static_efforts import Efforts, least_distance, motor_reach, smallest_efforts, static_efforts
from .statics import (
    constraint_curvatures,
    largest_force,
    list_forces,
    multipliers,
    outside_limits,
    relative_force,
    require_holonomic,
    static_derivatives,
    unbalanced_force,
)

__all__ = [
    "Balance",
    "Guard",
    "chosen_names",
    "close_with",
    "named_coordinates",
    "nearest_equilibrium",
    "require_balance",
    "require_joint_limits",
    "search",
    "solve_equilibrium",
]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Guard = Callable[[Callable[[float], Array]], tuple[float, str]]  # how far a path q(s) may go, s <= 1, and what ends it

_LARGEST_STEP = 0.5  # a step, in radians or sizes of the machine
_NOT_MORE = 1.0 + 1e-6  # what a step that ends at a contact at once may add to r, by rounding
_AT_LIMIT = 1e-12  # rad or sizes: by so much a coordinate that a stop holds is off its limit, by rounding
_NEGATIVE = 1e-6  # a stiffness below -1e-6 of the largest counts as negative


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
            raise InputError(_check.unknown(name, list(known), f"coordinate to {what}"))
        mask[[plant.index(n) for n in known[name]]] = True
    return mask


class Balance:
    """Static equilibrium equations at a configuration, to first order along the motions of the free coordinates.

    Z is orthonormal in the metric of M, so that the entries of Z'(h - B u) are comparable accelerations. The residual
    r = Y'Z'(h - B u) is the part that no unknown effort balances. On the manifold dr = Y'Z'K dq, up to terms with r
    itself.

    Attributes
    ----------
    q : ndarray, shape (nq,)
    u : ndarray, shape (nu,)
        Smallest efforts, without regard to their limits.
    r : ndarray, shape (m,)
    W : ndarray, shape (dof, n)
        Orthonormal basis whose motions Z W move free coordinates only.
    motions : ndarray, shape (nv, n)
        Motions Z W: dq = motions @ y.
    Y : ndarray, shape (dof, m)
        Orthonormal.
    J : ndarray, shape (m, n)
        dr/dy.
    size : float
        Norm of r.
    relative : float
        Largest unbalanced force, relative to `forces`.
    forces : float
        Largest of all forces at the configuration, N m.
    guard : Guard or None
        Function that ends steps where contacts would close.
    hit : str
        Name of the contact that ended the step to here, or "".
    """

    def __init__(
        self, plant: Plant, q: Array, efforts: Efforts, free: Mask, guard: Guard | None = None, hit: str = ""
    ) -> None:
        self.plant, self.q, self.efforts, self.free, self.guard, self.hit = plant, q, efforts, free, guard, hit
        self.terms = terms = plant.terms(q, np.zeros(plant.nv))
        self.u = smallest_efforts(terms, efforts)
        self.lam = multipliers(terms, self.u)
        self.local = local = static_derivatives(plant, q, self.lam, self.u)
        self.length = plant.displacement_scale
        Z, unknown = local.Z, efforts.unknown
        self.Y = _unreached(Z, local.B[:, unknown], plant.unit_lengths) if unknown.any() else np.eye(Z.shape[1])
        self.W = self.free_basis(free)
        self.motions = Z @ self.W
        self.r = self.Y.T @ (Z.T @ (local.h - local.B @ self.u))
        self.J = self.Y.T @ (Z.T @ local.force_q @ self.motions)
        self.size = float(np.linalg.norm(self.r))
        self.relative = relative_force(plant, local, unbalanced_force(terms, self.u), self.lam, self.u)
        self.forces = largest_force(plant, local, self.lam, self.u)

    @property
    def family(self) -> int:
        """Dimension of the equilibria that pass through this one."""
        triangle = np.linalg.qr(self.motions / self.length[:, None])[1]
        return self.null_motions(np.linalg.solve(triangle.T, self.J.T).T).shape[1]

    def null_motions(self, J: Array) -> Array:
        """Orthonormal basis of x with J x = 0, for equations r = 0, unknowns in radians and sizes of the machine."""
        J = J / np.linalg.norm(self.Y.T @ (self.local.Z / self.length[:, None]).T, axis=1)[:, None]  # N m
        largest = np.linalg.norm(J, 2) if J.size else 0.0
        return null_space(J, floored(largest, self.forces, UNREACHED), UNREACHED)

    def free_basis(self, free: Mask) -> Array:
        """Orthonormal basis W (dof, n) such that Z W moves the given coordinates only."""
        if free.all():
            return np.eye(self.local.Z.shape[1])
        motions = self.local.Z / self.length[:, None]
        return null_space(motions[~free], float(np.linalg.norm(motions)), UNREACHED)

    def newton_step(self, damping: float) -> Array:
        """Levenberg-Marquardt step y towards r = 0, to stable or unstable equilibria alike."""
        n = self.motions.shape[1]
        added = np.sqrt(damping) * np.linalg.norm(self.J) * np.eye(n)
        return np.linalg.lstsq(np.concatenate([self.J, added]), np.append(-self.r, np.zeros(n)), rcond=1e-12)[0]

    def descent_step(self) -> tuple[Array, float]:
        """Newton's step with the stiffness made positive, towards a stable equilibrium; and the least stiffness.

        The stiffness counts relative to the largest. On a saddle the step leaves it.
        """
        values, vectors = np.linalg.eigh(self.stiffness)
        largest = floored(np.abs(values).max(initial=0.0), self.stiffness_scale, _NEGATIVE)
        least = float(values.min(initial=largest)) / (largest or 1.0)
        if least < -_NEGATIVE and self.relative < 1e-6:
            return vectors[:, 0], least
        soft = max(_NEGATIVE * largest, 1e-9 * self.size, 1e-300)
        return -vectors @ ((vectors.T @ self.gradient) / np.maximum(np.abs(values), soft)), least

    @property
    def stiffness(self) -> Array:
        """Stiffness of the free motions (n, n), its symmetric part."""
        H = self.W.T @ self.Y @ self.J
        return 0.5 * (H + H.T)

    @property
    def stiffness_scale(self) -> float:
        """Largest force as a stiffness in y: a stiffness far below it is rounding."""
        return self.forces * float(np.linalg.norm(self.motions / self.length[:, None])) ** 2

    @property
    def gradient(self) -> Array:
        """Gradient of the potential energy in y: the unbalanced force along the free motions."""
        return self.W.T @ self.Y @ self.r

    def force_along(self, y: Array, ahead: Balance) -> float:
        """Unbalanced force after a step y, along that step; the bases of the two configurations differ."""
        return float((ahead.W.T @ (ahead.local.Z.T @ (ahead.local.M @ (self.motions @ y)))) @ ahead.gradient)

    def is_stable(self) -> bool:
        """Whether the stiffness is positive (or zero) on all motions that the constraints allow.

        At a singular configuration the multipliers are not unique. It is stable where with some of them the
        stiffness is positive: for z'(K + sum mu_i C_i) z is then the same, z'Kz, on all motions z'C_i z = 0 that the
        constraints allow (one such row: and only then, by Finsler's lemma).
        """
        least = self.descent_step()[1]
        if least >= -_NEGATIVE:
            return True
        curvatures = [self.W.T @ C @ self.W for C in constraint_curvatures(self.plant, self.q, self.local)]
        return bool(curvatures) and _largest_least_eigenvalue(self.stiffness, curvatures) >= -_NEGATIVE

    def limited(self, y: Array) -> Array:
        """Step y, shortened so that no coordinate moves more than half a radian (or size of the machine)."""
        return y * min(1.0, _LARGEST_STEP / max(self.step_length(y), 1e-300))

    def step_length(self, y: Array) -> float:
        """Largest entry of a step, in radians or sizes of the machine."""
        return float(np.abs(self.motions @ y / self.length).max(initial=0.0))

    def after_step(self, y: Array) -> Balance | None:
        """Equations after a step y, with loops closed, or where its guard ends it; None if loops stay open."""
        plant, hit, far = self.plant, "", 1.0

        def path(part: float) -> Array:
            return close_with(plant, plant.integrate(self.q, part * (self.motions @ y)), self.free)

        try:
            if self.guard is not None:
                far, hit = self.guard(path)
            return Balance(plant, path(far), self.efforts, self.free, self.guard, hit)
        except (AssemblyError, ModelError):
            return None


def _unreached(Z: Array, B: Array, unit_lengths: Array) -> Array:
    """Orthonormal Y (dof, m): combinations Y'Z'f of forces that no motor can give, Y'Z'B = 0."""
    X, lengths, scale = motor_reach(Z, B, unit_lengths)
    return np.linalg.qr(null_space(X.T, scale, UNREACHED) / lengths[:, None])[0]


def _largest_least_eigenvalue(H: Array, forms: list[Array]) -> float:
    """Largest possible least eigenvalue of H + sum mu_i C_i, by choice of mu, relative to the largest of H."""
    from scipy.optimize import minimize, minimize_scalar  # imported where used: scipy.optimize takes 0.2 s

    size = max(float(np.abs(np.linalg.eigvalsh(H)).max(initial=0.0)), 1e-300)
    H = H / size
    units = [C / max(float(np.linalg.norm(C)), 1e-300) for C in forms]

    def least(mu: Array) -> float:
        return -float(np.linalg.eigvalsh(H + sum(m * C for m, C in zip(np.atleast_1d(mu), units, strict=True)))[0])

    if len(units) == 1:  # concave in mu
        return -float(minimize_scalar(least).fun)
    return -float(minimize(least, np.zeros(len(units)), method="Nelder-Mead", options={"maxiter": 2000}).fun)


def solve_equilibrium(
    plant: Plant, q: Array, efforts: Efforts, free: Mask, *, stable: bool = False, tolerance: float = 1e-9
) -> Balance:
    """Find the equilibrium near q, within the limits of joints and actuators where there is a choice.

    If there is none near, returns the configuration at which the search ended; its `relative` is above the tolerance.
    """
    require_holonomic(plant, q)
    start = Balance(plant, q, efforts, free)
    if start.motions.shape[1] == 0 and start.relative > tolerance:
        held = ", ".join(repr(n) for n, m in zip(plant.velocity_names, free, strict=True) if not m)
        raise EquilibriumError(f"with {held or 'nothing'} held, the constraints allow no motion; free more coordinates")
    end = nearest_equilibrium(start, search(start, stable, tolerance), tolerance)
    if stable and end.relative <= tolerance and not end.is_stable():
        raise EquilibriumError(
            f"no stable equilibrium was found near q: the one at q = {np.round(end.q, 6).tolist()} is unstable. Start "
            "from another configuration."
        )
    if end.relative <= tolerance:
        require_joint_limits(end, stable)
    return end


def search(start: Balance, stable: bool, tolerance: float) -> Balance:
    """Search from `start`: ends at an equilibrium, at a contact that closes, or short of both."""
    end = _levenberg_marquardt(_descend(start) if stable else start, tolerance)
    if end.relative > tolerance and not end.hit:  # Newton's method ends where r' vanishes: go downhill first
        end = _levenberg_marquardt(_descend(start), tolerance)
    return end


def nearest_equilibrium(start: Balance, end: Balance, tolerance: float) -> Balance:
    """End of a search, or the equilibrium of its family that is within limits and nearest to the start."""
    if end.relative <= tolerance and not _within_limits(end) and end.motions.shape[1]:
        end = (
            _nearest_within_limits(end, start.q, tolerance) or _nearest_within_limits(start, start.q, tolerance) or end
        )
    return end


def require_joint_limits(equilibrium: Balance, stable: bool = True) -> None:
    """Raise an error for an equilibrium outside the joint limits."""
    plant, q = equilibrium.plant, equilibrium.q
    outside = outside_limits(plant, q)
    if outside.any():
        i = int(np.argmax(outside))
        other = "" if stable else ", ask for a stable one with stable=True"
        raise EquilibriumError(
            f"the equilibrium near q has {plant.position_names[i]} = {q[i]:.6g}, outside its limits "
            f"{plant.limits[i].tolist()}. Start from another configuration{other}, give efforts u= that hold it "
            "inside, or let it rest against the limit, with limits='hold'."
        )


def _levenberg_marquardt(balance: Balance, tolerance: float) -> Balance:
    """Solve r = 0 by the Levenberg-Marquardt method: the norm of r falls with every step."""
    damping = 0.0
    for _ in range(200):
        if balance.relative < 1e-15 or balance.hit:
            break
        ahead = balance.after_step(balance.limited(balance.newton_step(damping)))
        if ahead is not None and ahead.hit and ahead.size <= _NOT_MORE * balance.size:
            return ahead
        if ahead is not None and ahead.size < 0.999 * balance.size:
            balance, damping = ahead, 0.1 * damping if damping > 1e-6 else 0.0
        elif balance.relative <= tolerance or damping > 1e3:
            break  # rounding, or no way down
        else:
            damping = max(10.0 * damping, 1e-4)
    return balance


def _descend(balance: Balance) -> Balance:
    """Descend until Newton's method finds the stable equilibrium: the force along a step keeps its sign."""
    for _ in range(300):
        y, least = balance.descent_step()
        if least > _NEGATIVE and balance.step_length(y) < 0.02:
            break
        y = balance.limited(y)
        for _ in range(12):
            ahead = balance.after_step(y)
            if ahead is not None and ahead.hit and balance.force_along(y, ahead) <= 0.0:
                return ahead
            if ahead is not None and balance.force_along(y, ahead) < min(-0.7 * (y @ balance.gradient), 0.0):
                break
            y = 0.5 * y
        else:
            break
        balance = ahead
    return balance


# -- limits -----------------------------------------------------------------------------------------------


def _nearest_within_limits(balance: Balance, q0: Array, tolerance: float) -> Balance | None:
    """Equilibrium within the limits nearest to the start; None if none is near.

    Each step takes the smallest (displacement from the start, u) with Z'(h + K dq - B u) = 0 and within the limits, to
    first order. Efforts are scaled so that they count a hundredth of the motions.
    """
    plant, efforts = balance.plant, balance.efforts
    unknown = efforts.unknown
    pushes = plant.size * np.linalg.norm(balance.local.B / plant.unit_lengths[:, None], axis=0)  # N m
    held = np.maximum(np.abs(balance.u), balance.forces / np.where(pushes > 0.0, pushes, 1.0))
    scale = 100.0 * np.where(np.isfinite(plant.effort), plant.effort, np.where(held > 0.0, held, 1.0))[unknown]
    index = np.array(plant.paired, dtype=int).reshape(-1, 2)
    slack = _AT_LIMIT * plant.position_scale[index[:, 0]]
    low, high = plant.limits[index[:, 0]].T + [[-1.0], [1.0]] * slack
    effort = np.concatenate([np.zeros((scale.size, balance.motions.shape[1])), np.eye(scale.size)], axis=1)
    u = balance.u.copy()
    for _ in range(100):
        Z, n = balance.local.Z, balance.motions.shape[1]
        F = balance.length[:, None] * np.linalg.qr(balance.motions / balance.length[:, None])[0]  # radians and sizes
        offset = F.T @ (plant.difference(q0, balance.q) / balance.length**2)
        K = static_derivatives(plant, balance.q, multipliers(balance.terms, u), u).force_q
        equations = np.concatenate([Z.T @ K @ F, -Z.T @ balance.local.B[:, unknown] * scale], axis=1)
        target = Z.T @ (balance.local.B @ np.where(unknown, 0.0, u) - balance.local.h) + Z.T @ K @ F @ offset
        motion = np.concatenate([F[index[:, 1]], np.zeros((len(index), scale.size))], axis=1)
        position = balance.q[index[:, 0]] - F[index[:, 1]] @ offset
        G = np.concatenate([motion, -motion, effort, -effort])
        g = np.concatenate(
            [low - position, position - high, efforts.low[unknown] / scale, -efforts.high[unknown] / scale]
        )
        terms = balance.forces * np.linalg.norm(Z / balance.length[:, None], axis=0)
        x = least_distance(
            equations, target, G[np.isfinite(g)], g[np.isfinite(g)], terms=terms, rounding=ROUNDING * terms
        )
        if x is None or n != effort.shape[1] - scale.size:
            return None
        y = np.linalg.lstsq(balance.motions, F @ (x[:n] - offset), rcond=None)[0]
        ahead = balance.after_step(balance.limited(y))
        if ahead is None:
            return None
        step = balance.step_length(y)
        balance, u = ahead, u.copy()
        u[unknown] = scale * x[n:]
        if step < 1e-10:
            break
    return balance if balance.relative <= tolerance and _within_limits(balance) else None


def _within_limits(equilibrium: Balance) -> bool:
    """Whether the joints are within their limits, and there are static equilibrium efforts within theirs."""
    try:
        require_joint_limits(equilibrium)
        static_efforts(equilibrium.plant, equilibrium.terms, equilibrium.efforts)
    except EquilibriumError:
        return False
    return True


def close_with(plant: Plant, q: Array, free: Mask) -> Array:
    """Close the loops by motion of the free coordinates only; returns q."""
    if free.all():
        return plant.close(q)
    length = plant.displacement_scale[free]
    for _ in range(20):
        phi = plant.row_scale * plant.residual(q)
        if np.abs(phi).max(initial=0.0) <= 1e-14 * plant.size:
            break
        A = plant.row_scale[:, None] * plant.jacobian(q)[:, free] * length
        dq = np.zeros(plant.nv)
        dq[free] = length * (pinv(A, plant.size, UNREACHED) @ -phi)
        ahead = plant.integrate(q, dq)
        if not plant.closure_error(ahead) < np.abs(phi).max():
            break
        q = ahead
    residuals = plant.loop_residuals(q)
    if max(residuals.values(), default=0.0) > 1e-9 * plant.size:
        raise AssemblyError("the loops stay open", residuals, q)
    return q


# -- refusals -------------------------------------------------------------------------------------------


def require_balance(
    plant: Plant, terms: Terms, u: Array, lam: Array, efforts: Efforts, tolerance: float, searched: bool
) -> Derivatives:
    """Derivatives at rest; raises an error that names the force left over where forces are not balanced."""
    force, local = unbalanced_force(terms, u), static_derivatives(plant, terms.q, lam, u)
    if not relative_force(plant, local, force, lam, u) <= tolerance:
        raise EquilibriumError(_no_equilibrium(plant, local, terms.q, force, efforts, searched))
    return local


def chosen_names(names: tuple[str, ...], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Names at which a mask is True."""
    return tuple(n for n, some in zip(names, mask, strict=True) if some)


def _missing_effort(plant: Plant, local: Derivatives, force: Array, efforts: Efforts) -> str:
    """Text with the one given effort that could hold the machine with the unknown ones; "" if there is none."""
    Z, found = local.Z, []
    for k in np.flatnonzero(~efforts.unknown):
        B = Z.T @ local.B[:, [*np.flatnonzero(efforts.unknown), k]]
        more = np.linalg.lstsq(B, Z.T @ force, rcond=UNREACHED)[0]
        if np.linalg.norm(B @ more - Z.T @ force) < 1e-9 * np.linalg.norm(force):
            found.append((k, efforts.value[k] + more[-1]))
    if len(found) != 1:
        return ""
    ((k, needed),) = found
    return f"{plant.actuator_names[k]!r} would have to give {needed:.6g} {effort_units(plant)[k]}: leave it out of u="


def _no_equilibrium(plant: Plant, local: Derivatives, q: Array, force: Array, efforts: Efforts, searched: bool) -> str:
    """Text with the force that is not balanced, and the remedies."""
    at = _check.values_by_name(plant.position_names, q)
    where = f"at {at} the unbalanced generalized force is {list_forces(plant, force)}"
    if constraint_curvatures(plant, q, local):
        where += f" (a singular configuration, with {local.Z.shape[1]} degrees of freedom; fewer nearby)"
    given = chosen_names(plant.actuator_names, ~efforts.unknown)
    listed = ", ".join(map(repr, given))
    if searched:
        given_too = f", with the efforts of {listed} given" if efforts.unknown.any() and given else ""
        return (
            f"no equilibrium of {plant.name!r} was found near q{given_too}: {where}. Start nearer to one, or free more "
            "coordinates."
        )
    if plant.nu and not efforts.unknown.any():
        return f"{plant.name!r} is not in equilibrium with the given u: {where}. Leave out u= to find it, or use free=."
    if given:
        others = ", ".join(map(repr, chosen_names(plant.actuator_names, efforts.unknown)))
        one = _missing_effort(plant, local, force, efforts)
        return (
            f"with the efforts of {listed} given, {others} cannot hold {plant.name!r}: {where}. "
            f"{one or 'Leave one out of u='}, or name coordinates that may move with free=."
        )
    return (
        f"the actuators cannot hold {plant.name!r}: {where}. Add an actuator, choose another configuration, or name "
        "coordinates that may move with free=."
    )

"""Closing the loops from chosen joint values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _check
from ..errors import AssemblyError, ModelError
from .elements import Fixed, Joint, Prismatic, Weld

if TYPE_CHECKING:
    from .base import PlantBase

__all__ = ["CLOSED", "assemble", "close_holding"]

CLOSED = 1e-12  # metres


def assemble(plant: PlantBase, values: dict[str, float], guess=None, *, starts: int = 30, seed: int = 0) -> np.ndarray:
    """Configuration with closed loops and the given joint values; see `Mechanism.assemble`."""
    for key, value in values.items():
        if key not in plant.position_names:
            raise ValueError(_check.unknown(key, plant.position_names, "joint coordinate"))
        _check.number(value, f"the value of {key!r}")
    guess_q = plant.neutral() if guess is None else plant.configuration(guess)
    chosen = np.array([plant.position_names.index(k) for k in values], dtype=int)
    target = np.array([float(values[k]) for k in values])
    best_q, best_residual = guess_q, np.inf
    rng = np.random.default_rng(seed)
    for attempt in range(starts):
        start = guess_q if attempt == 0 else _random_start(plant, guess_q, rng, attempt)
        start = start.copy()
        start[chosen] = target
        try:
            q = close_holding(plant, start, chosen, target)
        except ModelError:  # functions that are not defined at this start
            continue
        residual = plant.open_loop(q)
        held = float(np.abs(q[chosen] - target).max(initial=0.0))
        if residual < CLOSED and held < 1e-9 and _within(plant, q) and not _mirrored(plant, q):
            return q
        if residual + held < best_residual:
            best_q, best_residual = q, residual + held
    raise AssemblyError(_explain(plant, best_q, values, starts), plant.loop_residuals(best_q), best_q)


def _random_start(plant: PlantBase, q0: np.ndarray, rng: np.random.Generator, attempt: int) -> np.ndarray:
    """A start that wanders further from the guess with each attempt."""
    reach = np.pi * min(1.0, 0.2 * attempt)
    metres = np.array([1.0 if u == "rad/s" else plant.size for u in plant.velocity_units])
    q = plant.integrate(q0, reach * metres * rng.uniform(-1.0, 1.0, plant.nv))
    low, high = plant.limits.T
    bounded = np.isfinite(low) & np.isfinite(high)
    q[bounded] = rng.uniform(low[bounded], high[bounded])
    return q


def close_holding(plant: PlantBase, start: np.ndarray, chosen: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Damped Gauss-Newton on the tangent of the joints (Levenberg-Marquardt in scipy), limits as bounds.

    The chosen coordinates are held at their values: they are no unknowns. The result is polished by
    plain Gauss-Newton steps.
    """
    from scipy.optimize import least_squares  # imported where used: scipy.optimize takes 0.2 s

    free = np.array([k for k in range(plant.nv) if k not in set(plant.velocity_of(chosen))], dtype=int)
    if free.size == 0 or not plant.row_names:
        return start
    scale = plant.row_scale
    q = start
    low, high = _velocity_bounds(plant, q)
    for _ in range(8):  # outer loop: the tangent moves along for joints with quaternions

        def residual(x: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            return scale * plant.residual(plant.integrate(q, _spread(plant.nv, free, x)))

        def jacobian(x: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            return scale[:, None] * plant.jacobian(plant.integrate(q, _spread(plant.nv, free, x)))[:, free]

        x0 = np.clip(np.zeros(free.size), low[free] + 1e-12, high[free] - 1e-12)
        solution = least_squares(
            residual, x0, jac=jacobian, bounds=(low[free], high[free]), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=60
        )
        q = plant.integrate(q, _spread(plant.nv, free, solution.x))
        low, high = _velocity_bounds(plant, q)
        if np.abs(solution.fun).max(initial=0.0) < 1e-9 or plant.nq == plant.nv:
            break
    for _ in range(6):
        phi = scale * plant.residual(q)
        if np.abs(phi).max(initial=0.0) < 1e-15:
            break
        step = np.linalg.lstsq(scale[:, None] * plant.jacobian(q)[:, free], -phi, rcond=1e-7)[0]
        moved = plant.integrate(q, _spread(plant.nv, free, step))
        if np.abs(scale * plant.residual(moved)).max() >= np.abs(phi).max():
            break
        q = moved
    return q


def _spread(n: int, free: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x on the free entries of a vector of zeros."""
    full = np.zeros(n)
    full[free] = x
    return full


def _velocity_bounds(plant: PlantBase, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each velocity coordinate may move before its joint limit (quaternions have none)."""
    low, high = np.full(plant.nv, -np.inf), np.full(plant.nv, np.inf)
    for iq, iv in plant.paired:
        low[iv], high[iv] = plant.limits[iq] - q[iq]
    inside = high > low
    return np.where(inside, np.minimum(low, 0.0), -np.inf), np.where(inside, np.maximum(high, 1e-12), np.inf)


def _within(plant: PlantBase, q: np.ndarray) -> bool:
    """Whether q respects the joint limits."""
    return bool(np.all((q >= plant.limits[:, 0] - 1e-9) & (q <= plant.limits[:, 1] + 1e-9)))


def _mirrored(plant: PlantBase, q: np.ndarray) -> list[str]:
    """Loops whose rows vanish although an axis points the wrong way.

    Rows that keep axes perpendicular cannot tell an axis from its opposite.
    """
    wrong = []
    for loop in plant.loops:
        if isinstance(loop, (Weld, Joint)):
            if isinstance(loop, Joint) and loop.kinds and len(loop.kinds) > 1:
                continue
            turn = loop.axis_frames()[0] if isinstance(loop, Joint) else np.eye(3)
            a, b = (loop.parent, loop.child) if isinstance(loop, Joint) else (loop.a, loop.b)
            fa, fb = (loop.frame, loop.child_frame) if isinstance(loop, Joint) else (loop.frame_a, loop.frame_b)
            R = (plant.pose(q, a).R @ fa.R @ turn).T @ (plant.pose(q, b).R @ fb.R @ turn)
            full = isinstance(loop, (Weld, Fixed, Prismatic))
            aligned = R[2, 2] > 0.5 and (not full or R[0, 0] > 0.5)
            if not aligned and type(loop).__name__ != "Spherical":
                wrong.append(loop.name)
    return wrong


def _explain(plant: PlantBase, q: np.ndarray, values: dict[str, float], starts: int) -> str:
    """What could not be closed, by how much, and what to do."""
    residuals = plant.loop_residuals(q)
    open_loops = {k: r for k, r in residuals.items() if r > CLOSED}
    given = ", ".join(f"{k} = {float(x):.6g}" for k, x in values.items()) or "no joint values"
    if open_loops:
        listed = ", ".join(f"{k!r} open by {r:.3e} m" for k, r in open_loops.items())
        return (
            f"the loops cannot be closed with {given}: {listed} at best, from {starts} starts. "
            "Fix fewer joints, give values within reach, or a guess= near the branch you want."
        )
    wrong = _mirrored(plant, q)
    if wrong:
        return f"with {given}, loop {wrong[0]!r} closes only with its axes reversed. Give a guess= on the right side."
    out = [
        f"{n} = {x:.6g} outside [{lo:.6g}, {hi:.6g}]"
        for n, x, (lo, hi) in zip(plant.position_names, q, plant.limits, strict=True)
        if not lo - 1e-9 <= x <= hi + 1e-9
    ]
    return (
        f"the loops close with {given}, but not within the joint limits: {', '.join(out)}. "
        "Widen limits=, or choose other values."
    )

"""Relaxation of contacts: their states and forces by slow sweeps, where no exchange of states finds some that fit.

The pushes p of all contacts are improved one contact after the other, with the motion of its point at that moment
(non-smooth Gauss-Seidel, Jean 1999): what u = W p + u0 is left moves the push against it, onto the cone of friction,

    p <- projection of p - r (u + mu |u_t| n) onto |p_t| <= mu p_n,

whose fixed points fulfil Coulomb's law (De Saxce 1992). Impacts always have such pushes; forces of contacts that slide
already may have none (Painleve's paradox).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.impact import nearest

if TYPE_CHECKING:
    from .contact_states import ContactProblem, Touch

__all__ = ["Relaxed", "relaxed"]

Array = NDArray[np.float64]

_SWEEPS = 10_000  # through all contacts: of boxes on three corners most take some hundreds
_SETTLED = 1e-10  # of the largest push: changes in one sweep
_ROUGH = 1e-6  # of the largest push and motion: less is none


class Relaxed(NamedTuple):
    """Result of relaxation: states, directions and forces, all of which are still to be checked.

    Attributes
    ----------
    states : tuple of str
        State of each contact or friction that touches.
    directions : dict of str to ndarray
        Direction of each one that begins to slide.
    shares : dict of str to ndarray
        Multipliers of each one.
    x : ndarray, shape (nv,)
        Velocity or acceleration.
    settled : bool
        Whether the pushes have converged.
    """

    states: tuple[str, ...]
    directions: dict[str, Array]
    shares: dict[str, Array]
    x: Array
    settled: bool


def relaxed(problem: ContactProblem, sweeps: int = _SWEEPS) -> Relaxed:
    """States, directions and forces of all that touches, after at most so many sweeps."""
    terms, touches = problem.terms, problem.touches
    rows = [np.vstack([t.tangents] if t.normal is None else [t.normal, t.tangents]) for t in touches]
    C = np.vstack(rows)
    ends = np.cumsum([len(own) for own in rows])
    parts = [slice(end - len(own), end) for end, own in zip(ends, rows, strict=True)]
    x0, *_ = nearest(terms, problem.base, problem.g, problem.target[problem.base])
    still = np.zeros(len(problem.base))
    X = np.array([nearest(terms, problem.base, row @ terms.A, still)[0] for row in C])
    W, u0 = C @ terms.A @ X.T, C @ (terms.A @ x0 - problem.target)
    for t, part in zip(touches, parts, strict=True):
        u0[part.start] -= 0.0 if t.normal is None else problem.back.get(t.name, 0.0)
    p = np.zeros(len(C))
    gains = [1.0 / max(float(np.linalg.norm(W[part, part], 2)), 1e-300) for part in parts]
    settled = False
    for _ in range(sweeps):
        before = p.copy()
        for t, part, gain in zip(touches, parts, gains, strict=True):
            p[part] = _improved(t, p[part], W[part] @ p + u0[part], W[part, part], gain)
        settled = bool(np.abs(p - before).max() <= _SETTLED * np.abs(p).max())
        if settled:
            break
    u = W @ p + u0
    least_push, least_slip = _ROUGH * float(np.abs(p).max()), _ROUGH * float(np.abs(u0).max())
    states, directions = [], {}
    for t, part in zip(touches, parts, strict=True):
        push, slip = p[part], u[part]
        if t.normal is not None:
            if push[0] <= least_push:
                states.append("open")
                continue
            push, slip = push[1:], slip[1:]
        if t.rub is None or not (t.moves or np.linalg.norm(slip) > least_slip):
            states.append("sticks")
            continue
        states.append("slides")
        if not t.moves:
            directions[t.name] = slip / np.linalg.norm(slip)
    shares = {t.name: -p[part] for t, part in zip(touches, parts, strict=True)}
    return Relaxed(tuple(states), directions, shares, x0 + p @ X, settled)


def _improved(touch: Touch, p: Array, u: Array, W: Array, gain: float) -> Array:
    """Better force of one contact, whose point moves by u under the present force p."""
    if touch.normal is None:
        p = p - gain * u
        return p * min(1.0, touch.coefficient / max(float(np.linalg.norm(p)), 1e-300))
    if touch.rub is None:
        p = p - gain * u
        return p if p[0] > 0.0 else np.zeros_like(p)
    mu = touch.coefficient
    if touch.moves:
        way = -mu * touch.rate / np.linalg.norm(touch.rate)
        reply = W[0, 0] + float(W[0, 1:] @ way)
        push = max(float(p[0]) - float(u[0]) / reply, 0.0) if reply > 0.0 else 0.0
        return np.concatenate([[push], push * way])
    p = p - gain * u
    p[0] -= gain * mu * float(np.linalg.norm(u[1:]))
    held = float(np.linalg.norm(p[1:]))
    if held <= mu * p[0]:
        return p
    if mu * held <= -p[0]:
        return np.zeros_like(p)
    push = (p[0] + mu * held) / (1.0 + mu * mu)
    return np.concatenate([[push], mu * push / held * p[1:]])

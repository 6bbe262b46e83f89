"""Goals of a loop for all machines whose parameters are within intervals: the worst ones found, and what is proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.generalized_plant import GeneralizedPlant
from ..linear.norms import h2_norm, hinf_norm
from ..linear.robust_stability import is_bounded, robust_stability, worst_case_gain
from .structured import growth_rates
from .tunable_loops import LoopCase, TunableLoops
from .uncertain_loop import UncertainLoop, corners_and_others

if TYPE_CHECKING:
    from .loop_goals import LoopGoal

__all__ = ["GoalBound", "bound_of", "hardest"]

Array = NDArray[np.float64]

_NEAR = 0.01  # relative: what is proven at first, above the largest value found
_TOLERANCE = 5e-3  # relative, of the least bound, where that fails
_CORNERS, _INSIDE = 16, 16  # machines among which hard ones are sought before each proof


class GoalBound(NamedTuple):
    """A goal for all machines about one configuration.

    Attributes
    ----------
    goal, case : str
    value : float
        Largest value found, over its limit.
    proven : float
        What it is at most, over its limit; inf where nothing is proven, as of standard deviations under noise.
    worst : dict of str to float
        Parameters of the machine with the largest value found.
    """

    goal: str
    case: str
    value: float
    proven: float
    worst: dict[str, float]


def hardest(goal: LoopGoal, loops: TunableLoops, case: LoopCase, K: Array, loop: UncertainLoop) -> tuple[float, Array]:
    """Largest value over its limit at corners and random values, and these values as numbers in [-1, 1]."""
    P = goal.plant(loops, case, loop.uncertainty)
    points = list(corners_and_others(len(loop.model.parameters), _CORNERS, _INSIDE))
    values = [_value(goal, loop.machine_at(P, x), K) for x in points]
    best = int(np.argmax(values))
    return values[best], points[best]


def bound_of(goal: LoopGoal, loops: TunableLoops, case: LoopCase, K: Array, loop: UncertainLoop) -> GoalBound:
    """Bound of a goal over its limit for all machines."""
    P, blocks = goal.plant(loops, case, loop.uncertainty), loop.blocks
    value, x = hardest(goal, loops, case, K, loop)
    A, B, C, D, dt = P.closed(K)
    w, z = (sum(b.shape[k] for b in blocks) for k in (0, 1))
    proven, worst = np.inf, {}
    if goal.kind == "hinf":
        level = value * (1.0 + _NEAR)
        if is_bounded((A, B, C, D, dt), blocks, level * goal.limit):
            proven = level
        else:
            found = worst_case_gain((A, B, C, D, dt), blocks, tolerance=_TOLERANCE)
            proven, worst = found.upper / goal.limit, found.worst
    elif goal.kind == "growth":
        # x = exp(-rate t) y: y is stable where x decays at that rate
        rate = -goal.limit
        A, B = (A * np.exp(rate * dt), B * np.exp(rate * dt)) if dt else (A + rate * np.eye(len(A)), B)
        system = A, B[:, :w], C[:z], D[:z, :w], dt
        if is_bounded(system, blocks):
            proven = 1.0
        elif value <= 1.0:
            stability = robust_stability(system, blocks, _TOLERANCE)
            proven, worst = (1.0 if stability.certified else np.inf), stability.worst
    if worst:
        tried = np.array([float(np.real(worst.get(p.name, 0.0))) for p in loop.model.parameters])
        tried = tried / max(1.0, np.abs(tried).max())
        reached = _value(goal, loop.machine_at(P, tried), K)
        value, x = max((value, x), (reached, tried), key=lambda one: one[0])
    return GoalBound(goal.name, case.label, value, max(proven, value), loop.model.family.values(x))


def _value(goal: LoopGoal, P: GeneralizedPlant, K: Array) -> float:
    """Value of a goal over its limit with one gain; inf where the loop is not stable."""
    A, B, C, D, dt = P.closed(K)
    rate = float(growth_rates(np.linalg.eigvals(A), dt).max(initial=-np.inf))
    if goal.kind == "growth":
        return 1.0 + (rate - goal.limit) / abs(goal.limit)
    if not rate < 0.0:
        return np.inf
    if goal.kind == "h2":
        return float(np.hypot(h2_norm(A, B, C, dt), np.linalg.norm(D))) / goal.limit
    return float(hinf_norm(A, B, C, dt or None, D)) / goal.limit


def worst_of(bounds: Sequence[GoalBound]) -> dict[str, GoalBound]:
    """Bound of each goal in the case in which it is least proven."""
    found: dict[str, GoalBound] = {}
    for one in bounds:
        if one.goal not in found or (one.proven, one.value) > (found[one.goal].proven, found[one.goal].value):
            found[one.goal] = one
    return found

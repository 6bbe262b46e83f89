"""Several tasks at once, weighted or in a strict order (hierarchical inverse dynamics)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputTypeError
from ..kernels import effort_limits
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.equations import EquationsOfMotion, NullSpaceMotion
from ..trace.symbols import NotTraceable
from .controller import Evaluation, MotionLaw, require_same_signals
from .references import Reference
from .tasks import Tracking

__all__ = ["HierarchicalInverseDynamics", "TaskLevels"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TaskLevels:
    """Demands of tasks on the acceleration at a state, J_k a = target_k, in a strict order.

    Attributes
    ----------
    J : ndarray, shape (m, nv)
        Rows of all levels, one after the other, times the roots of their weights.
    target : ndarray, shape (m,)
        Targets of these rows, times the same roots.
    ends : ndarray of int, shape (levels,)
        One past the last row of each level.
    wish : ndarray, shape (nv,)
        Acceleration that is approached in motions that all levels leave free.
    """

    J: Array
    target: Array
    ends: NDArray[np.int64]
    wish: Array

    def residuals(self, acceleration: Array) -> Array:
        """Residual of each level (levels,) under an acceleration (nv,): the root of its weighted squares."""
        left = np.append(0.0, np.cumsum((self.J @ acceleration - self.target) ** 2))
        squares = np.diff(np.append(0.0, left[self.ends]))
        return np.sqrt(np.maximum(squares, 0.0))

    def best(self, terms: Terms) -> tuple[effort_limits.Levels, Array]:
        """Levels as kernels take them, and the acceleration (nv,) that is best without limits."""
        wish = _check.plain(self.wish)
        return effort_limits.levels_of(
            terms.Z,
            terms.Cv,
            terms.M,
            terms.unit_lengths,
            _check.plain(self.J),
            _check.plain(self.target),
            self.ends,
            wish,
        )


class HierarchicalInverseDynamics(MotionLaw):
    """Motion law for several tasks at once: weighted within a level, and levels in a strict order.

    Each task wants J a = target, with the target that gives its error the poles of `Tracking`. Of all accelerations a
    that the loops allow, those with the smallest weighted squares of J a - target of the first level are kept; of
    these, those with the smallest ones of the second level, and so on. Motion that all levels leave free comes as near
    as it can, in the metric of M, to ``-rest v``. Tasks may contradict each other, repeat each other, or have values
    that cannot move at present.

    `ConstrainedActuation` around it keeps the order within limits of motors and contacts, which come before all tasks:
    each level is met as well as limits and the levels above it allow.

    Parameters
    ----------
    plant : Plant
    levels : sequence
        Levels, the most important one first. Each is a `Tracking`, or several.
    rest : float, optional
        Damping of the motion that no level determines, 1/s; defaults to the smallest of all tasks.
    weight : array_like, optional
        Metric of the motor efforts, see `motor_effort`, where the law acts by itself.
    period : float, optional
        Sample time, s; defaults to continuous time.

    Raises
    ------
    TypeError, ValueError
        For levels that are no `Tracking`, tasks of other plants, unknown constraints.
    ActuationError
        By itself, where the motors cannot produce the motion; `ConstrainedActuation` produces the nearest one.

    Notes
    -----
    Strict orders of tasks: Siciliano and Slotine, A general framework for managing multiple tasks in highly redundant
    robotic systems (1991); with inequalities: Escande, Mansard and Wieber, Hierarchical quadratic programming (2014).

    Examples
    --------
    Two tools of one machine with targets that contradict each other:

    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import PointTask, Tracking
    >>> plant = plants.five_bar()
    >>> tip, elbow = (PointTask(plant, "left_upper", (x, 0.0, 0.0), axes="xy") for x in (1.5, 0.0))
    >>> first = Tracking(tip, Constant([0.5, 1.9]), bandwidth=8.0)
    >>> law = HierarchicalInverseDynamics(plant, [first, Tracking(elbow, Constant([0.0, 1.0]), bandwidth=8.0)])
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> levels = law.levels(0.0, terms)
    >>> bool(levels.residuals(law.desired_acceleration(0.0, terms))[0] < 1e-9)
    True
    """

    def __init__(
        self,
        plant: Plant,
        levels: Sequence[Tracking | Sequence[Tracking]],
        *,
        rest: float | None = None,
        weight: ArrayLike | None = None,
        period: float | None = None,
    ) -> None:
        _check.plant(plant)
        self.plant = plant
        if isinstance(levels, Tracking):
            levels = (levels,)
        levels = _check.sequence(levels, "levels", "Tracking(...), or several")
        self._levels = tuple(tuple(level) if isinstance(level, (list, tuple)) else (level,) for level in levels)
        tasks = [tracking for level in self._levels for tracking in level]
        if not tasks:
            raise InputTypeError("levels must have a task or more, Tracking(task, reference, bandwidth)")
        for tracking in tasks:
            if not isinstance(tracking, Tracking):
                raise InputTypeError(
                    f"levels must be Tracking(task, reference, bandwidth), or sequences of them, got {tracking!r}"
                )
            made_for = getattr(tracking.task, "plant", plant)
            if made_for is not plant:
                require_same_signals(made_for, plant)
            for name in (*tracking.while_held, *tracking.while_open):
                _check.one_of(name, plant.row_slices, "constraint", "while_held and while_open")
        least = min(float(tracking.damping.min()) for tracking in tasks)
        self.rest = least if rest is None else _check.positive(rest, "rest", zero=True)
        self.weight, self._root = weight, weight_root(weight, plant.nu)
        self.period = None if period is None else _check.positive(period, "period")

    @property
    def count(self) -> int:
        """Number of levels."""
        return len(self._levels)

    def with_reference(self, reference: Reference) -> Self:
        """Refuse another reference: each task has one of its own."""
        raise InputTypeError(
            f"{self.name} follows several references, one in each Tracking; make it again with other ones"
        )

    def start(self, plant: Plant) -> Array:
        """Initial states, none; refuses a plant with other coordinates or motors than the model."""
        require_same_signals(self.plant, plant)
        return np.zeros(0)

    def levels(self, t: float, terms: Terms) -> TaskLevels:
        """Demands of all levels at a state; tasks whose contacts are not closed or open as they need have none."""
        J, target, ends, rows = [np.zeros((0, self.plant.nv))], [np.zeros(0)], [], 0
        for level in self._levels:
            for tracking in level:
                if self._counts(tracking, terms):
                    root = np.sqrt(tracking.weight)
                    of_task, wanted = tracking.demand(t, terms)
                    J.append(root[:, None] * of_task)
                    target.append(root * wanted)
                    rows += len(wanted)
            ends.append(rows)
        return TaskLevels(
            np.concatenate(J), np.concatenate(target), np.array(ends, dtype=np.int64), -self.rest * terms.v
        )

    def _counts(self, tracking: Tracking, terms: Any) -> bool:
        """Whether contacts are closed and open as a task needs them, so that it counts."""
        return all(self._holds(name, terms) for name in tracking.while_held) and not any(
            self._holds(name, terms) for name in tracking.while_open
        )

    def _holds(self, name: str, terms: Any) -> bool:
        """Whether rows of a constraint act at a state."""
        rows = self.plant.row_names[self.plant.row_slices[name]]
        return not terms.row_names or not set(rows).isdisjoint(terms.row_names)

    def desired_acceleration(self, t: float, terms: Terms) -> Array:
        """Acceleration (nv,) that is best for the levels without limits, consistent with the loops."""
        return terms.by_program(lambda: self._best(t, terms), lambda: self._met_at_once(t, terms))

    def _best(self, t: float, terms: Terms) -> Array:
        best = self.levels(t, terms).best(terms)[1]
        if not np.isfinite(best).all():
            raise np.linalg.LinAlgError("Z'M Z is not positive definite, or the tasks ask for what is not finite")
        return best

    def _met_at_once(self, t: float, terms: EquationsOfMotion) -> Array:
        """Best acceleration where all tasks can be met at once: then their order and weights do not matter."""
        demands = [x.demand(t, terms) for level in self._levels for x in level if self._counts(x, terms)]
        rows = sum(len(target) for _, target in demands)
        if rows > terms.dof or not rows:
            raise NotTraceable(
                f"{rows} values of tasks at {terms.dof} degrees of freedom take singular values, for which there is no "
                "code; only tasks that can all be met at once have one"
            )
        J = np.concatenate([np.asarray(J, object) for J, _ in demands])
        target = np.concatenate([np.asarray(x, object) for _, x in demands])
        if rows == terms.dof:
            return terms.only_acceleration(J, target)[0]
        return terms.nearest_acceleration(J, target, NullSpaceMotion(-self.rest * terms.v))[0]

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Smallest efforts for the best acceleration; the report has the residuals ``level_1`` and so on."""
        wanted = self.desired_acceleration(t, terms)
        u = terms.smallest_effort(wanted, self._root)

        def report() -> dict[str, float]:
            return reported(self.levels(t, terms), wanted)

        return Evaluation(u, report=report)

    def __repr__(self) -> str:
        time = "" if self.period is None else f", {self.period:g} s a sample"
        told = "; ".join(", ".join(n for x in level for n in x.task.names) for level in self._levels)
        return f"<{type(self).__name__} of {self.plant.name!r} for {told}{time}>"


def reported(levels: TaskLevels, acceleration: Array) -> dict[str, float]:
    """Residuals of the levels under an acceleration, by name: ``level_1`` and so on."""
    return {f"level_{k + 1}": float(x) for k, x in enumerate(levels.residuals(acceleration))}

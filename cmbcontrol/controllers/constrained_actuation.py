"""Motor efforts within limits, for machines that may only push at their contacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..kernels import effort_limits, task_levels
from ..kernels.conic import missing_force
from ..kernels.effort_limits import EXACT, LENIENT, REGULAR, TINY
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.equations import EquationsOfMotion
from ..trace.symbols import NotTraceable
from .around import AroundMotion
from .conic_solver import SOLVERS, ConvexProgram, Costs, ProgramShape
from .contact_limits import Cone, ContactLimits, Unilateral, contact_limits
from .controller import Evaluation, require_same_signals
from .effort_program import at_part, of_stage, relaxed, unmet_motion
from .hierarchical_inverse_dynamics import HierarchicalInverseDynamics, TaskLevels, reported

__all__ = ["ActuationStatus", "ConstrainedActuation", "ConstrainedEffort"]

Array = NDArray[np.float64]

_SMALL = 1e-3  # cost of a force that redundant rows share, beside an effort: these stay the least but for its square
_FELT = 1e-9  # of the coefficients of limits: what is less does not change them
_FIRM = (1e1, 1e3, 1e6)  # exact penalties: a larger one only where one is not enough


class ActuationStatus(IntEnum):
    """Outcome of a request for motor efforts; `message` describes it."""

    OPTIMAL = 0
    DEGRADED = 1
    CONTACT_LOST = 2
    SOLVER_FAILED = 3

    @property
    def message(self) -> str:
        """Short message on what happened and what to try."""
        return _MESSAGES[self]


_MESSAGES = {
    ActuationStatus.OPTIMAL: "The desired acceleration is produced within all limits, with the least effort.",
    ActuationStatus.DEGRADED: "The limits do not allow the desired acceleration; the nearest one is produced. "
    "Ask for a slower motion, or give the motors more effort.",
    ActuationStatus.CONTACT_LOST: "No efforts within the limits keep all contacts; the force that is missing is as "
    "small as it can be. Lower the preload, or change the configuration or the contacts.",
    ActuationStatus.SOLVER_FAILED: "The numbers are not finite, or the solver found no solution; the efforts are those "
    "without regard to the contacts, clipped to the limits.",
}


@dataclass(frozen=True, eq=False)
class ConstrainedEffort:
    """Motor efforts within limits, with the motion and the contact forces that they produce.

    Attributes
    ----------
    u : ndarray, shape (nu,)
        Efforts, N or N m.
    status : ActuationStatus
    scale : float
        With ``slack="scale"``: part of the desired acceleration that is produced; else 1.
    shared : ndarray, shape (rows,)
        Forces of redundant rows that balance each other, with which the contacts are kept; zero without such rows.
    desired : ndarray, shape (nv,)
        Acceleration that was asked for; of tasks in levels the one that is best for them without limits.
    terms : Terms
    limits : ContactLimits
    levels : TaskLevels or None
        Demands of the tasks, level by level.
    """

    u: Array
    status: ActuationStatus
    scale: float
    shared: Array
    desired: Array
    terms: Terms
    limits: ContactLimits
    levels: TaskLevels | None = None

    @cached_property
    def acceleration(self) -> Array:
        """Acceleration that the efforts produce, shape (nv,)."""
        terms = self.terms
        return _acceleration(terms, terms.B @ self.u - terms.h)

    @cached_property
    def slack(self) -> Array:
        """Acceleration minus the desired one, as far as the loops allow that, shape (nv,)."""
        terms = self.terms
        return self.acceleration - _acceleration(terms, terms.M @ self.desired)

    @property
    def level_residuals(self) -> Array:
        """Residual of each level, shape (levels,): the root of its weighted squares of J a - target."""
        return np.zeros(0) if self.levels is None else self.levels.residuals(self.acceleration)

    @property
    def slack_norm(self) -> float:
        """Size of the slack in the metric of M (Gauss), sqrt(kg) m/s2; zero where the motion is what was asked for."""
        return float(np.sqrt(max(self.slack @ self.terms.M @ self.slack, 0.0)))

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers lam, shape (rows,); -lam pushes body b of a constraint along the row.

        Where rows are redundant, they may share forces in many ways; these are the smallest with which the contacts are
        kept.
        """
        terms = self.terms
        smallest = terms.A_pinv.T @ (terms.B @ self.u - terms.h - terms.M @ self.acceleration)
        return smallest - self.shared

    @property
    def contact_forces(self) -> Array:
        """Forces of the unilateral rows, then normal forces of the cones, N."""
        return -self.limits.normals @ self.multipliers

    @property
    def friction_use(self) -> float:
        """Largest |tangential| / (mu normal) of the cones; 1 on a cone, infinite where a contact pulls."""
        p, worst, first = -self.limits.G @ self.multipliers, 0.0, 0
        carried = max(np.abs(p).max(initial=0.0), np.abs(self.terms.h / self.terms.unit_lengths).max(initial=0.0))
        p[np.abs(p) <= EXACT * carried] = 0.0  # rounding of a contact that carries nothing
        for size in self.limits.cones:
            normal, across = p[first], float(np.linalg.norm(p[first + 1 : first + size]))
            worst = max(worst, across / normal if normal > 0.0 else (np.inf if normal < 0.0 or across else 0.0))
            first += size
        return worst

    @property
    def violation(self) -> float:
        """Force that is missing for all contacts to be kept, N; zero where they are kept."""
        p = -self.multipliers
        limits = self.limits
        return missing_force(limits.F @ p - limits.minimum, limits.G @ p, np.array(limits.cones, dtype=np.int64))

    @property
    def message(self) -> str:
        """Message on what happened and what to try, with the numbers."""
        text = self.status.message
        if self.status == ActuationStatus.DEGRADED:
            worst = int(np.abs(self.slack).argmax())
            text += f" Off by {np.abs(self.slack[worst]):.3g} in velocity coordinate {worst} (rad/s2 or m/s2)."
        if self.status == ActuationStatus.CONTACT_LOST:
            text += f" Missing: {self.violation:.3g} N."
        return text


class ConstrainedActuation(AroundMotion):
    """A motion law within the limits of the motors and of the contacts.

    At each state, with a(u) = the acceleration of the closed machine and lam(u) its multipliers, both affine in u::

        minimise    (u - u_0)' W^-1 (u - u_0)
        subject to  Z'(B u - h) = Z'M (a_d + s),   lower <= u <= upper,
                    -lam_i >= minimum_i,   abs(tangential) <= mu normal,

    where redundant rows share forces as the contacts need it (heel and toe of a flat foot), and the slack s is zero if
    it can be. If not everything is possible, these are sacrificed in this order: least
    effort first, then the desired acceleration (s as small as possible in the kinetic energy, Gauss' principle), last
    the contacts (the missing force as small as possible). Limits of the motors always hold. No state makes it raise;
    the status of `solve`, and of the report in a simulation, names what was given up. Friction of contacts that slide
    is not modelled: there the law knows nothing of it.

    Around a `HierarchicalInverseDynamics` the desired acceleration is given up level by level in place of by Gauss'
    principle: each level has the smallest weighted squares that the limits and the levels above it allow; motion that
    all of them leave free comes nearest to the one that the law wants, and last the efforts are the smallest.

    Parameters
    ----------
    motion : motion law
        Law with ``desired_acceleration(t, terms)``, such as `ProjectedInverseDynamics` or, for several tasks,
        `HierarchicalInverseDynamics`. Its period, reference and coordinates are handed on.
    limits : float, array_like (nu,) or (2, nu), or mapping of motor name to float or (lower, upper), optional
        Limits of the efforts: largest size, or lower and upper; defaults to ``plant.effort``. Infinite: no limit.
    weight : array_like, shape (nu,) or (nu, nu), optional
        Metric W of the efforts, as in `motor_effort`.
    nominal : array_like, shape (nu,), optional
        u_0, efforts from which the least deviation is sought (tension of cables, say); defaults to zero.
    unilateral : sequence of str or Unilateral, or mapping of str to float
        Rows (or loops of one row) that only push: -lam >= 0, or above the minimum of a mapping. -lam pushes body b
        along the row.
    cones : sequence of Cone
        Contacts with friction.
    slack : {"least", "scale"}
        Acceleration within the limits: the nearest one; or the largest possible part of the desired one,
        s = (k - 1) (a_d - a_0) with 0 <= k <= 1 and a_0 that of rolling on freely, a_0 = -A+ b, so that the direction
        is kept. Not with levels.
    metric : array_like, shape (nv,) or (nv, nv), optional
        Metric in which s is small, in place of M: weights of the velocity coordinates, > 0. Not with levels.
    solver : {"direct", "cvxpy"}
        Clarabel itself, for control rates; or the same program modelled in cvxpy.

    Raises
    ------
    TypeError, ValueError
        For a law that is no motion law, unknown names, limits that contradict each other.

    Notes
    -----
    The motion equation is Aghili's (45) and the weight that of his (49), without limits there. The efforts without
    limits are tried first: where they keep all limits they are the answer, and no program is solved.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar(effort=30.0)
    >>> motion = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> law = ConstrainedActuation(motion)
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> found = law.solve(terms, motion.desired_acceleration(0.0, terms))
    >>> found.u.round(2), found.status.name
    (array([-30.,  30.]), 'DEGRADED')
    """

    untraced = ("_solvers", "_kept", "_nothing", "_given", "_metric")  # what only programs need

    def __init__(
        self,
        motion: Any,
        *,
        limits: ArrayLike | Mapping | None = None,
        weight: ArrayLike | None = None,
        nominal: ArrayLike | None = None,
        unilateral: Iterable[str | Unilateral] | Mapping[str, float] = (),
        cones: Iterable[Cone] = (),
        slack: str = "least",
        metric: ArrayLike | None = None,
        solver: str = "direct",
    ) -> None:
        super().__init__(motion)
        plant = self.plant
        self.lower, self.upper = _bounds(plant, limits)
        self.limits = contact_limits(plant, unilateral, cones)
        self.slack = _check.one_of(slack, ("least", "scale"), "slack")
        self.solver = _check.one_of(solver, SOLVERS, "solver")
        self.nominal = np.zeros(plant.nu) if nominal is None else _check.vector(nominal, plant.nu, "nominal")
        self._root = weight_root(weight, plant.nu)
        self._metric = _root_of_metric(metric, plant.nv)
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        given = self.upper - self.lower <= 1e-9 * np.where(np.isfinite(size), size, 0.0)
        self._free, self._given = np.flatnonzero(~given), np.where(given, self.lower, 0.0)
        self._kept, self._staging = self._kept_at(self.limits, np.zeros((0, len(plant.row_names)))), solver == "direct"
        self._nothing = np.zeros(plant.nv)
        self._solvers: dict[Any, tuple[ProgramShape, Any]] = {}
        if self._leveled and (self.slack == "scale" or metric is not None):
            raise InputTypeError(
                f"{motion.name} says by its levels which motion is given up first; slack='scale' and metric= are for "
                "laws without levels"
            )

    @property
    def _leveled(self) -> bool:
        """Whether the motion law has tasks in levels."""
        return isinstance(self.motion, HierarchicalInverseDynamics)

    def _solver_of(self, shared: int) -> tuple[ProgramShape, Any]:
        """Shape and solver of all programs with so many forces that balance each other; no solver without unknowns."""
        if shared not in self._solvers:
            free = [False] * shared
            scaled = [True] * (self.slack == "scale")  # the last unknown is the part of the desired acceleration
            above, below = (
                np.array([*np.isfinite(x[self._free]), *free, *scaled], dtype=bool) for x in (self.upper, self.lower)
            )
            motion = min(above.size, self.plant.nv)
            shape = ProgramShape(self.lower.size + shared, above, below, motion, len(self.limits.F), self.limits.cones)
            self._solvers[shared] = shape, SOLVERS[self.solver](shape) if self._free.size + shared else None
        return self._solvers[shared]

    def start(self, plant: Plant) -> Array:
        """Initial states, none; refuses a plant with other coordinates, motors or contacts than the model."""
        require_same_signals(self.plant, plant)
        rubbing = [
            force.name
            for force in getattr(plant, "forces", ())
            if force.loaded_by and not force.side  # that of contacts that slide has one
        ]
        if rubbing:
            raise InputError(
                f"ConstrainedActuation does not know friction in proportion to loads, which {plant.name!r} has "
                f"({', '.join(map(repr, rubbing))}) and which follows from the efforts that it looks for; give it a "
                "model without, WithModel(model, ConstrainedActuation(...)), or Saturation behind a law without limits"
            )
        own = self.plant.as_at(plant) if plant.absent else self.plant
        if self.limits and not set(own.row_names) <= set(plant.row_names):
            raise InputError(
                f"the contacts were named on the loops of {self.plant.name!r}, {', '.join(self.plant.row_names)}; "
                f"{plant.name!r} has {', '.join(plant.row_names) or 'none'}"
            )
        return np.zeros(0)

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts, and a report of the status, the slack, the largest use of a limit (1 at it), and of the contacts.

        ``status``, ``motion_slack``, ``limit_use``; with contacts ``contact_force`` (the smallest, N) and with cones
        ``friction_use``; ``motion_scale`` with ``slack="scale"``; with levels ``level_1`` and so on, the residual of
        each.
        """
        return terms.by_program(lambda: self._solved(t, terms), lambda: self._within_limits(t, terms))

    def _solved(self, t: float, terms: Terms) -> Evaluation:
        motion = self.motion
        if isinstance(motion, HierarchicalInverseDynamics):
            found = self._found(terms, motion.levels(t, terms))
        else:
            found = self._found(terms, motion.desired_acceleration(t, terms))

        def report() -> dict[str, float]:
            return self._report(found)

        return Evaluation(found.u, report=report)

    def _within_limits(self, t: float, terms: EquationsOfMotion) -> Evaluation:
        """Efforts while no limit is active; the report is left to the program."""
        if self.limits or self._free.size < self.plant.nu:
            raise NotTraceable(
                "limits of contacts, and efforts that are given, take a program that iterates, for which there is no "
                "code; leave them out where they are never met"
            )
        u = terms.smallest_effort(self.motion.desired_acceleration(t, terms), self._root, self.nominal)
        for low, x, high in zip(self.lower, u, self.upper, strict=True):
            terms.assume_less(low, x)
            terms.assume_less(x, high)

        def report() -> dict[str, float]:
            raise NotTraceable("a program")

        return Evaluation(u, report=report)

    def _report(self, effort: ConstrainedEffort) -> dict[str, float]:
        report = {
            "status": float(effort.status),
            "motion_slack": effort.slack_norm,
            "limit_use": self.limit_use(effort.u),
        }
        if self.slack == "scale":
            report["motion_scale"] = effort.scale
        if self.limits:
            report["contact_force"] = float(effort.contact_forces.min())
        if self.limits.cones:
            report["friction_use"] = effort.friction_use
        return report if effort.levels is None else report | reported(effort.levels, effort.acceleration)

    def report_units(self) -> Mapping[str, str]:
        forces = {"motion_slack": "sqrt(kg) m/s2", "contact_force": "N"}
        return dict.fromkeys(("status", "limit_use", "motion_scale", "friction_use"), "1") | forces

    def limit_use(self, u: Array) -> float:
        """Largest use of a limit by a motor: the part of the way from the middle of its limits, 1 at a limit."""
        bounded = np.isfinite(self.upper - self.lower) & (self.upper > self.lower)
        lower, upper = self.lower[bounded], self.upper[bounded]
        return float(np.abs((2.0 * u[bounded] - upper - lower) / (upper - lower)).max(initial=0.0))

    def solve(self, terms: Terms, desired: ArrayLike | TaskLevels) -> ConstrainedEffort:
        """Efforts for a desired acceleration, or for tasks in levels, with the motion and forces that they produce.

        Parameters
        ----------
        terms : Terms
            Equations of motion at the state.
        desired : array_like, shape (nv,), or TaskLevels
            Acceleration; its part across the loops is left to the constraint forces. Or the demands of the levels of
            the motion law, ``motion.levels(t, terms)``.

        Returns
        -------
        ConstrainedEffort
        """
        if not isinstance(desired, TaskLevels):
            desired = np.asarray(desired, dtype=np.float64)
            if desired.shape != terms.h.shape:
                raise InputError(f"desired must have shape {terms.h.shape}, got {desired.shape}")
        elif not self._leveled:
            raise InputTypeError("levels are for a law around a HierarchicalInverseDynamics")
        return self._found(terms, desired)

    def _found(self, terms: Terms, desired: Array | TaskLevels) -> ConstrainedEffort:
        """Efforts for a checked request, with the motion and the forces that they produce; see `solve`."""
        limits = self._limits_at(terms)
        if not isinstance(desired, TaskLevels):
            return ConstrainedEffort(*self._efforts(terms, desired, _NO_LEVELS), desired, terms, limits)
        levels, best = desired.best(terms)
        return ConstrainedEffort(*self._efforts(terms, best, levels), best, terms, limits, desired)

    def _limits_at(self, terms: Terms) -> ContactLimits:
        """Limits of the contacts that act at a state."""
        return self.limits.at(terms, self.plant.row_names)

    # -- from the equations of motion to efforts -----------------------------------------------------------------

    def _efforts(
        self, terms: Terms, desired: Array, levels: effort_limits.Levels
    ) -> tuple[Array, ActuationStatus, float, Array]:
        """Efforts, status, the part of the desired acceleration that they produce, and forces of redundant rows."""
        with np.errstate(all="ignore"):
            asked, kept = self._asked(terms, desired)
            x, found, part = effort_limits.limited_effort(*asked, levels, self._staging)
            status = _STATUS[found]
            if found == effort_limits.OPEN:
                problem, given = effort_limits.open_program(*asked)
                if len(levels.ends):
                    x, status = self._solved_by_levels(kept, problem, given, levels) or (x, status)
                else:
                    x, status, part = self._solved_whole(kept, problem, given) or (x, status, part)
        nu = self.plant.nu
        return x[:nu], status, part, x[nu:] @ kept.shared

    def _asked(self, terms: Terms, desired: Array) -> tuple[tuple[Any, ...], effort_limits.Limits]:
        """Arguments of the kernels: a state, the limits there and the desired acceleration; and the limits alone."""
        across, kept, B = self._nothing, self._kept, terms.B
        if self.limits or self.slack == "scale":  # else it makes no difference
            try:
                across = terms.Cv
            except np.linalg.LinAlgError:
                across = np.full(len(terms.h), np.nan)
        if self.limits:
            limits, shared = self._limits_at(terms), kept.shared
            if terms.rank < len(terms.A):
                # N for a unit of effort
                strength = float(np.abs(B / terms.unit_lengths[:, None]).max(initial=0.0)) or 1.0
                shared = strength * _shared(terms, np.vstack([limits.F, limits.G]))
                B = np.hstack([B, np.zeros((len(B), len(shared)))])
            if limits is not self.limits or shared.size:
                kept = self._kept_at(limits, shared)
        asked = (
            terms.Z, terms.M, terms.h, B, terms.A, terms.b, across, terms.unit_lengths, terms.row_scale,
            terms.force_scale, kept, _check.plain(desired),
        )  # fmt: skip
        return asked, kept

    def _kept_at(self, limits: ContactLimits, shared: Array) -> effort_limits.Limits:
        """All limits as kernels take them; after the motors come forces that redundant rows share."""
        nu, more = self.plant.nu, len(shared)
        root, none = np.eye(nu + more), np.zeros(more)
        root[:nu, :nu] = np.eye(nu) if self._root is None else self._root
        root[nu:, nu:] /= _SMALL
        metric = np.zeros((0, self.plant.nv)) if self._metric is None else _check.plain(self._metric)
        cones = np.array(limits.cones, dtype=np.int64)
        F, minimum, G = (_check.plain(x) for x in (limits.F, limits.minimum, limits.G))
        free = np.concatenate([self._free, np.arange(nu, nu + more)])
        lower, upper = np.append(self.lower, none - np.inf), np.append(self.upper, none + np.inf)
        return effort_limits.Limits(
            lower, upper, free, np.append(self._given, none), np.append(self.nominal, none), root, np.linalg.inv(root),
            metric, F, minimum, G, cones, _check.plain(shared), int(self.slack == "scale"),
        )  # fmt: skip

    # -- the same by a solver that takes programs whole: a judge, and for what active sets leave open -----------------

    def _solved_whole(
        self, kept: effort_limits.Limits, problem: effort_limits.EffortProblem, given: effort_limits.ConicProgram
    ) -> tuple[Array, ActuationStatus, float] | None:
        """Efforts, status and part, by a program for each thing to give up, in order; None where the solver fails."""
        shape, _ = self._solver_of(len(kept.shared))
        whole, part = _padded(given, shape.motion), 1.0
        program = at_part(whole, part) if self.slack == "scale" else whole
        x = self._at_once(program)
        if x is not None:
            u = effort_limits.brought_back(given, kept, x)
            return u, ActuationStatus(int(not effort_limits.produces(problem, u, given.size))), 1.0
        program, x, lost = self._with_contacts(program)
        if x is None:
            return None
        if self.slack == "scale" and unmet_motion(program, x) > TINY:
            whole = whole._replace(f=program.f, g=program.g)
            further = self._further(whole)
            if further is not None:
                x, part = further, float(np.clip(further[-1], 0.0, 1.0))
                program = at_part(whole, part)
        if unmet_motion(program, x) > TINY:
            program = program._replace(n=program.R @ x)  # from now on what is desired
        if not given.unique:
            least = self._firm(program, _LEAST)
            x = x if least is None else least
        u = effort_limits.brought_back(given, kept, x)
        part = 1.0 if part > 1.0 - TINY else part
        met = part == 1.0 and effort_limits.produces(problem, u, given.size)
        lost = lost or self._missing_at(program, x) > TINY
        return u, ActuationStatus.CONTACT_LOST if lost else ActuationStatus(int(not met)), part

    def _solved_by_levels(
        self,
        kept: effort_limits.Limits,
        problem: effort_limits.EffortProblem,
        given: effort_limits.ConicProgram,
        levels: effort_limits.Levels,
    ) -> tuple[Array, ActuationStatus] | None:
        """Efforts and status level by level, by programs where active sets fail; None where the solver fails, too."""
        shape, _ = self._solver_of(len(kept.shared))
        program = _padded(given, shape.motion)
        x = self._solve_for(program, _KEPT)
        if x is None:
            return None
        missing = effort_limits.let_miss(self._missing_at(program, x))
        within = effort_limits.half_spaces(given, kept, missing, 0)
        order, at, level = effort_limits.order_of(problem, given, kept, levels), task_levels.start_of(x), 0
        while level < len(order.ends) and at.N.shape[1]:
            if self._staging:
                at, level = task_levels.descend(order, within, at, level)
                if level == len(order.ends):
                    break
            told = 0
            for _ in range(_STAGES):
                stage = task_levels.stage_at(order, within, at, level, _SLIGHT, np.inf)
                told = stage.told
                z = self._solved_stage(stage) if told else np.zeros(len(stage.d))
                if z is None:
                    return None
                at = task_levels.moved_on(stage, at, z)
                if task_levels.at_rest(stage, z):
                    break
            at, level = task_levels.taken(at, told), level + 1
        u = effort_limits.brought_back(given, kept, at.x)
        if self._missing_at(program, at.x) > TINY:
            return u, ActuationStatus.CONTACT_LOST
        return u, ActuationStatus(int(not effort_limits.produces(problem, u, given.size)))

    def _solved_stage(self, stage: task_levels.Stage) -> Array | None:
        """Solution of a level in its own coordinates; None where the solver fails."""
        program = of_stage(stage)
        free, cones = np.zeros(len(stage.d), dtype=bool), stage.within.cones
        shape = ProgramShape(len(stage.T), free, free, 1, len(program.F), tuple(cones.tolist()))
        key = len(stage.d), shape.forces, shape.cones
        if key not in self._solvers:
            self._solvers[key] = shape, SOLVERS[self.solver](shape)
        z, least = None, TINY
        for firm in _FIRM:
            solution = self._solvers[key][1](program, Costs(1.0, contact=firm))
            if solution is None:
                continue
            missing = missing_force(program.F @ solution + program.f, program.G @ solution + program.g, cones)
            if missing <= least:
                z, least = solution, missing
            if least <= EXACT:
                break
        return z

    def _at_once(self, program: ConvexProgram) -> Array | None:
        """Least efforts with all of the motion and the contacts, where a single program finds them; else None."""
        x = self._solve_for(program, _LEAST._replace(peak=_FIRM[0], contact=_FIRM[0]))
        met = x is not None and max(self._missing_at(program, x), unmet_motion(program, x)) <= EXACT
        return x if met else None

    def _with_contacts(self, program: ConvexProgram) -> tuple[ConvexProgram, Array | None, bool]:
        """Program with contacts that can be kept, its solution, and whether contacts had to be given up."""
        x, lost = self._nearest(program, _FIRM[:1]), False
        if x is None or self._missing_at(program, x) > EXACT:
            kept = self._solve_for(program, _KEPT)
            least = 0.0 if kept is None else self._missing_at(program, kept)
            if least > TINY:
                program, lost = relaxed(program, least + LENIENT, self.limits.cones), True
            x = self._nearest(program, _FIRM)
        return program, x, lost

    def _further(self, program: ConvexProgram) -> Array | None:
        """Solution with the largest part of the desired acceleration, the last unknown; None where there is none."""
        x = self._nearest(program, _FIRM)
        return None if x is None else self._firm(program._replace(n=program.R @ x), _FURTHEST)

    def _solve_for(self, program: ConvexProgram, costs: Costs) -> Array | None:
        """Solution of a program; zeros where all efforts are given, so that nothing is to be found."""
        n = program.R.shape[1]
        _, solve = self._solver_of(n - self._free.size - (self.slack == "scale"))
        return np.zeros(n) if solve is None else solve(program, costs)

    def _nearest(self, program: ConvexProgram, firmness: Iterable[float]) -> Array | None:
        """Solution with the smallest slack of the motion among those that keep the contacts, if they can be kept."""
        need, x, least = float(np.abs(program.n).max(initial=0.0)), None, np.inf
        square = 1.0 / max(need if need > 1.0 else need**2, TINY)  # so that the cost is of the order of one
        for firm in firmness:
            solution = self._solve_for(program, Costs(REGULAR, square=square, contact=firm))
            if solution is not None and (missing := self._missing_at(program, solution)) < least:
                x, least = solution, missing
            if least <= EXACT:
                break
        return x

    def _firm(self, program: ConvexProgram, costs: Costs) -> Array | None:
        """Solution with the motion and the contacts of the program, by penalties that are large enough."""
        x, least = None, TINY
        for firm in _FIRM:
            solution = self._solve_for(program, costs._replace(peak=firm, contact=firm))
            if solution is not None:
                missing = max(self._missing_at(program, solution), unmet_motion(program, solution))
                if missing <= least:
                    x, least = solution, missing
            if least <= EXACT:
                break
        return x

    def _missing_at(self, program: ConvexProgram, x: Array) -> float:
        """Force that is missing for the contacts, in the program's unit of force."""
        return missing_force(program.F @ x + program.f, program.G @ x + program.g, self._kept.cones)


_STATUS = {
    effort_limits.MET: ActuationStatus.OPTIMAL,
    effort_limits.DEGRADED: ActuationStatus.DEGRADED,
    effort_limits.LOST: ActuationStatus.CONTACT_LOST,
    effort_limits.OPEN: ActuationStatus.SOLVER_FAILED,
    effort_limits.NOT_FINITE: ActuationStatus.SOLVER_FAILED,
}
_SLIGHT = 1e-5  # as `task_levels.SMALL`: interior points take conditioning better, but take longer
_STAGES = 3  # of a level that is left to the solver, whose answers are exact to some 1e-7
_NO_LEVELS = effort_limits.Levels(np.zeros((0, 0)), np.zeros(0), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
_KEPT = Costs(REGULAR, contact=1.0)
_FURTHEST = Costs(REGULAR, progress=1.0)
_LEAST = Costs(1.0)


def _padded(given: effort_limits.ConicProgram, rows: int) -> ConvexProgram:
    """Program in the shape of the law, with as many rows of the motion at each state."""
    more = rows - len(given.n)
    R, n = np.pad(given.R, ((0, more), (0, 0))), np.pad(given.n, (0, more))
    return ConvexProgram(given.L, given.l, R, n, given.lower, given.upper, given.F, given.f, given.G, given.g)


def _shared(terms: Terms, limited: Array) -> Array:
    """Forces (k, rows) of redundant rows that balance each other, A'p = 0, and that `limited` (n, rows) depends on.

    Orthonormal in newtons: moments over the size of the machine.
    """
    U = np.linalg.svd(terms.row_scale[:, None] * terms.A)[0]
    balanced = terms.row_scale[:, None] * U[:, terms.rank :]
    _, s, Vt = np.linalg.svd(limited @ balanced)
    return Vt[: np.count_nonzero(s > _FELT * np.abs(limited).max(initial=0.0))] @ balanced.T


def _acceleration(terms: Terms, force: Array) -> Array:
    """Acceleration of the closed machine under a joint force, M a + A'lam = force; NaN where Z'M Z is singular."""
    Z, c = terms.Z, terms.Cv
    try:
        return c + Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T @ (force - terms.M @ c))
    except np.linalg.LinAlgError:
        return np.full(c.size, np.nan)


def _bounds(plant: Plant, limits: ArrayLike | Mapping | None) -> tuple[Array, Array]:
    """Lower and upper limits of the efforts, (nu,) each."""
    names = plant.actuator_names
    if limits is None:
        limits = plant.effort
    if isinstance(limits, Mapping):
        lower, upper = -np.array(plant.effort, dtype=float), np.array(plant.effort, dtype=float)
        for name, limit in limits.items():
            i = names.index(_check.one_of(name, names, "motor", "limits"))
            what = f"the limits of motor {name!r}"
            if _check.single(limit):
                limit = _check.number(limit, what, infinite=True)
                lower[i], upper[i] = -limit, limit
            else:
                lower[i], upper[i] = _check.pair(limit, what, infinite=True)
    else:
        given = _check.numbers(limits, "limits")
        if given.ndim == 2 and given.shape == (2, len(names)):
            lower, upper = given[0].copy(), given[1].copy()
        elif given.shape in ((), (len(names),)):
            upper = np.broadcast_to(given, (len(names),)).copy()
            lower = -upper
        else:
            raise InputError(
                f"limits must be a number, ({len(names)},) largest efforts or (2, {len(names)}) lower and upper ones, "
                f"in the order {', '.join(names)}, got shape {given.shape}"
            )
    for name, low, high in zip(names, lower, upper, strict=True):
        if not (low <= high and low < np.inf and high > -np.inf):
            raise InputError(
                f"the limits of motor {name!r} must be lower <= upper, or a largest effort >= 0, got {low}, {high}"
            )
    return lower, upper


def _root_of_metric(metric: ArrayLike | None, nv: int) -> Array | None:
    """Root Q (nv, nv) with Q'Q = metric; None for no metric."""
    root = weight_root(metric, nv, "metric")
    return None if root is None else root.T

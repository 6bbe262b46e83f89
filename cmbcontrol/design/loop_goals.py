"""Goals of loops, and gains of laws that meet them on many machines at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import AssemblyError, InputError, InputTypeError
from ..linear.generalized_plant import GeneralizedPlant
from ..linear.operating import trim
from ..linear.uncertain import UncertainModel, uncertain_model
from ..model.closing import require_closed
from ..model.plant import Plant
from .family import Configuration, configuration_of, labelled_configurations, labelled_plants
from .loop_certificates import GoalBound, bound_of, hardest, worst_of
from .structured import STARTS, MinimaxProblem, MinimaxSolution, Requirement
from .tunable_loops import LoopCase, TunableLoops
from .tune import Range, as_range
from .uncertain_loop import UncertainLoop, Uncertainty, uncertain_loop

__all__ = ["MET", "LoopGoal", "TunedLaw", "structured"]

Array = NDArray[np.float64]

_ROUNDS = 12  # of hard goals, each with more weight where they are missed
_LITTLE, _MUCH = 0.02, 2.5  # by which the logarithm of the weight grows in a round
_WORST_ROUNDS, _HARDER = 8, 0.01  # of worst machines: those that exceed what was found so far by this part are added
MET = 1e-3  # relative: by so much a goal may be missed and counts as met


@dataclass(frozen=True)
class LoopGoal:
    """Goal of a loop, made by one of its methods; each has a limit that holds on all machines.

    Attributes
    ----------
    name : str
    kind : {"hinf", "h2", "growth"}
        Largest gain over all frequencies, standard deviation under white noise, or growth of the poles.
    inputs, outputs : tuple of str
        Signals, see `TunableLoops.generalized`.
    limit : float
    weight : tuple, optional
        Numerator and denominator (a, b) of a s + b, of the outputs.
    noise : tuple, optional
        Standard deviations of readings, of coordinates and of their rates.
    hard : bool
        A hard goal is met before others are made better.
    """

    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    limit: float = 1.0
    weight: tuple[tuple[float, float], tuple[float, float]] | None = None
    noise: tuple[float, float] | None = None
    hard: bool = False

    @classmethod
    def sensitivity(cls, peak: float, *, hard: bool = False) -> LoopGoal:
        """Largest sensitivity at the motors, at most `peak`: 1.7 leaves a distance of 0.59 to the point -1."""
        peak = _above_one(peak, "peak")
        return cls(f"sensitivity below {peak:g}", "hinf", ("command",), ("load",), peak, hard=hard)

    @classmethod
    def complementary(cls, peak: float, *, hard: bool = False) -> LoopGoal:
        """Largest complementary sensitivity at the motors, at most `peak`."""
        peak = _above_one(peak, "peak")
        return cls(f"complementary sensitivity below {peak:g}", "hinf", ("command",), ("effort",), peak, hard=hard)

    @classmethod
    def disk_margin(cls, margin: float, *, hard: bool = False) -> LoopGoal:
        """Disk margin at all motors at once, at least `margin` (0 to 2): 0.7 bears gains of 0.48 to 2.1 and 39 deg."""
        margin = _check.positive(margin, "margin")
        if margin >= 2.0:
            raise InputError(f"a disk margin is below 2, which no loop has, got {margin:g}")
        return cls(f"disk margin above {margin:g}", "hinf", ("command",), ("disk",), 1.0 / margin, hard=hard)

    @classmethod
    def tracking(cls, bandwidth: float, *, peak: float = 2.0, rest: float = 1e-3, hard: bool = False) -> LoopGoal:
        """Error of coordinates below abs((s + bandwidth rest) / (s/peak + bandwidth)) of their reference.

        Parameters
        ----------
        bandwidth : float
            Frequency, rad/s, about which the error reaches the reference.
        peak : float
            Largest error over the reference at high frequencies.
        rest : float
            At rest, the part of the reference that the error may be.
        """
        bandwidth, peak = _check.positive(bandwidth, "bandwidth"), _above_one(peak, "peak")
        rest = _check.positive(rest, "rest")
        weight = (1.0 / peak, bandwidth), (1.0, bandwidth * rest)
        return cls(f"tracking to {bandwidth:g} rad/s", "hinf", ("reference",), ("error",), 1.0, weight, hard=hard)

    @classmethod
    def rejection(cls, compliance: float, *, hard: bool = False) -> LoopGoal:
        """Motion of coordinates under efforts at the motors, at most `compliance` in rad or m by N m or N."""
        compliance = _check.positive(compliance, "compliance")
        return cls(f"compliance below {compliance:g}", "hinf", ("raw effort",), ("raw output",), compliance, hard=hard)

    @classmethod
    def noise_effort(cls, effort: float, *, position: float, rate: float = 0.0, hard: bool = False) -> LoopGoal:
        """Standard deviation of the efforts, N or N m, at most `effort` under white noise of the readings.

        Parameters
        ----------
        effort : float
        position, rate : float
            Standard deviations of the noise of each sample, of coordinates (rad or m) and of their rates.
        """
        effort = _check.positive(effort, "effort")
        given = _check.positive(position, "position", zero=True), _check.positive(rate, "rate", zero=True)
        return cls(f"noise of efforts below {effort:g}", "h2", ("reading",), ("raw effort",), effort, None, given, hard)

    @classmethod
    def decay(cls, rate: float, *, hard: bool = False) -> LoopGoal:
        """Slowest decay of the loop, at least `rate`, 1/s."""
        rate = _check.positive(rate, "rate")
        return cls(f"decay above {rate:g} 1/s", "growth", ("command",), ("load",), -rate, hard=hard)

    def plant(self, loops: TunableLoops, case: LoopCase, uncertainty: Uncertainty | None = None) -> GeneralizedPlant:
        """Generalized plant of the goal in a case; with signals of an uncertainty before its own."""
        if self.kind == "h2" and not case.dt:
            raise InputError(f"{self.name!r}: under white noise efforts of a law in continuous time have no variance")
        raw = case._replace(unit_efforts=np.ones(len(case.unit_efforts)), unit_outputs=np.ones(len(case.unit_outputs)))
        own = raw if any(x.startswith("raw") for x in (*self.inputs, *self.outputs)) else case
        inputs, outputs = ([x.removeprefix("raw ") for x in names] for names in (self.inputs, self.outputs))
        made = loops.generalized(own, inputs, outputs, uncertainty)
        w, z = (0, 0) if uncertainty is None else (uncertainty.B_w.shape[1], len(uncertainty.C))
        if self.noise is not None:
            dof = case.ways.K.shape[1]
            sizes = np.concatenate([np.ones(w), np.zeros(case.states)])
            sizes[w:][:dof], sizes[w:][dof : 2 * dof] = self.noise
            made = replace(made, B1=made.B1 * sizes, D21=made.D21 * sizes, D11=made.D11 * sizes)
        return made if self.weight is None else made.weighted(*self.weight, first=z)


def _above_one(x: float, what: str) -> float:
    """Number above 1: no sensitivity has a smaller peak."""
    if not _check.positive(x, what) > 1.0:
        raise InputError(f"{what} must be above 1, which is where every loop ends at high frequencies, got {x:g}")
    return float(x)


class GoalValue(NamedTuple):
    """A goal on one machine: its value over its limit."""

    goal: str
    case: str
    value: float
    hard: bool


@dataclass(frozen=True, eq=False)
class TunedLaw:
    """Result of `structured`.

    Attributes
    ----------
    law : Controller
    gains : dict of str to float
    value : float
        Largest goal over its limit, on all machines: 1 and below where all are met.
    goals : tuple of GoalValue
        Each goal on each machine, from norms computed anew, without gaps between frequencies.
    found : ndarray
        Values that all starts have led to, increasing, those that were left behind after a few steps; inf where no
        stable loops were found.
    bounds : tuple of GoalBound
        With uncertain parameters: what each goal is at most on all machines within their intervals.
    loops : mapping of str to UncertainLoop
        With uncertain parameters: the loop at each configuration, with which worst cases are run.
    """

    law: Any
    gains: dict[str, float]
    value: float
    goals: tuple[GoalValue, ...]
    found: Array
    bounds: tuple[GoalBound, ...] = ()
    loops: Mapping[str, UncertainLoop] = field(default_factory=dict)

    @property
    def certified(self) -> bool:
        """Whether all goals are proven to be met, to a thousandth, on all machines within the intervals."""
        return bool(self.bounds) and all(one.proven <= 1.0 + MET for one in self.bounds)

    @property
    def met(self) -> bool:
        """Whether all goals are met, to a thousandth."""
        return self.value <= 1.0 + MET

    def worst(self) -> dict[str, GoalValue]:
        """Each goal on the machine on which it is nearest to its limit, or farthest beyond."""
        found: dict[str, GoalValue] = {}
        for one in self.goals:
            if one.goal not in found or one.value > found[one.goal].value:
                found[one.goal] = one
        return found

    def __str__(self) -> str:
        cases = len({one.case for one in self.goals})
        lines = [", ".join(f"{name} = {x:.6g}" for name, x in self.gains.items())]
        width = max(len(name) for name in self.worst())
        for name, one in self.worst().items():
            said = "met" if one.value <= 1.0 + MET else "missed"
            lines.append(f"  {name:{width}}  {one.value:8.4f} of its limit, {said}; worst at {one.case}")
        good = int((self.found <= self.found[0] * 1.01).sum())
        between = "" if self.bounds else ", between them not proven"
        lines.append(f"  {good} of {len(self.found)} starts lead there; stable on all {cases} models{between}")
        for name, bound in worst_of(self.bounds).items():
            proven = f"at most {bound.proven:.4f}, proven" if np.isfinite(bound.proven) else "not proven"
            at = ", ".join(f"{n} = {x:.6g}" for n, x in bound.worst.items())
            lines.append(
                f"  {name:{width}}  {bound.value:8.4f} on the worst machine found ({bound.case}, {at}); {proven}"
            )
        return "\n".join(lines)


def structured(
    plants: Plant | Mapping[str, Plant] | Sequence[Plant],
    configurations: Mapping[str, Configuration] | Sequence[Configuration],
    law: Callable[..., Any],
    gains: Mapping[str, Any],
    goals: Sequence[LoopGoal],
    *,
    uncertain: Mapping[str, float | tuple[float, float]] | None = None,
    delay: float = 0.0,
    starts: int = STARTS,
    seed: int = 0,
    jobs: int = 1,
) -> TunedLaw:
    """Gains of a law of any structure that meet goals of its loop on all machines at all configurations.

    Each loop is linearized exactly, with sampling, hold, delays, drives and filters. The largest goal over its limit is
    minimized by its exact derivatives, from several starts; no gains are returned with which a model is not stable.

    Parameters
    ----------
    plants : Plant, or several, or mapping of label to plant
    configurations : sequence, or mapping of label to configuration
        As in `model_family`.
    law : callable
        ``law(**gains)`` makes the law, or chain, with coordinates and a reference.
    gains : mapping of str to Range or (low, high)
    goals : sequence of LoopGoal
    uncertain : mapping of str to (float, float) or float, optional
        Parameters of the machines with intervals, as in `cmbcontrol.linear.uncertain_model`. The worst machines in them
        are found and tuned for, and what is proven of all of them is told in `TunedLaw.bounds`.
    delay : float
        Of the efforts of a sampled law, s.
    starts : int
        Local searches: one from the starts of the ranges, or their middles, others from random gains, and half of them
        from gains beside the best.
    seed : int
        Of the random gains.
    jobs : int
        Processes for the searches; the answer does not depend on it.

    Raises
    ------
    DesignError
        Where no gains make all loops stable.
    InputError, InputTypeError
        For laws without reference, wrong ranges, and goals that have no value for the law.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import PID
    >>> from cmbcontrol.design import Range
    >>> plant, to = plants.five_bar(), Constant([2.1, 1.0])
    >>> def law(kp, kd):
    ...     return PID(plant, to, kp=kp, kd=kd, period=2e-3, feedforward="none")
    >>> ranges = {"kp": Range(10.0, 3000.0, log=True), "kd": Range(1.0, 500.0, log=True)}
    >>> goals = [LoopGoal.disk_margin(0.8), LoopGoal.rejection(2e-3)]
    >>> tuned = structured(plant, {"up": {"left": 2.1, "right": 1.0}}, law, ranges, goals, delay=2e-3, starts=2)
    >>> tuned.met
    True
    """
    ranges = {
        _check.name(n, "gain"): as_range(n, r) for n, r in _check.mapping(gains, "gains", "names to ranges").items()
    }
    if not ranges:
        raise InputError("gains: give at least one")
    _check.function(law, "law", "(**gains) -> law")
    try:
        inspect.signature(law).bind(**ranges)
    except TypeError:
        raise InputTypeError(
            f"law is called with the gains {', '.join(ranges)}, and this one takes {inspect.signature(law)}"
        ) from None
    wanted = list(_check.sequence(goals, "goals", "goals, such as LoopGoal.sensitivity(1.7)"))
    if not wanted or not all(isinstance(goal, LoopGoal) for goal in wanted):
        raise InputTypeError(
            f"goals must be one or more of LoopGoal.sensitivity(...) and others, got {_check.shown(goals)}"
        )
    seed = _check.count(seed, "seed", 0)
    machines = {}
    for machine, plant in labelled_plants(plants).items():
        for where, configuration in labelled_configurations(configurations).items():
            q = configuration_of(plant, configuration)
            try:
                require_closed(plant, q)
            except AssemblyError as error:
                raise InputError(f"configurations, {where!r}: {error}") from error
            machines[f"{machine}, {where}"] = plant, q
    delay, starts = _check.positive(delay, "delay", zero=True), _check.count(starts, "starts")
    jobs = _check.count(jobs, "jobs")
    models: dict[str, UncertainModel] = {}
    if uncertain is not None:
        models = _uncertain(machines, law, ranges, uncertain)
        machines = {label: (model.machine({}), machines[label][1]) for label, model in models.items()}
    loops = TunableLoops(machines, law, ranges, delay)
    tuned = _tuned(loops, wanted, *_solved(loops, wanted, starts, seed, jobs))
    return tuned if not models else _certified(tuned, loops, wanted, models)


def _solved(
    loops: TunableLoops, goals: Sequence[LoopGoal], starts: int, seed: int, jobs: int, theta: Array | None = None
) -> tuple[list[tuple[LoopGoal, LoopCase, Requirement]], MinimaxSolution]:
    """Gains of loops, from several starts or from given parameters."""
    made = [
        (goal, case, Requirement(f"{k}, {i}", goal.plant(loops, case), goal.kind, goal.limit, i))
        for k, goal in enumerate(goals)
        for i, case in enumerate(loops.cases)
    ]
    return made, _with_hard(made, loops, starts, seed, jobs, theta)


def _tuned(
    loops: TunableLoops,
    goals: Sequence[LoopGoal],
    made: Sequence[tuple[LoopGoal, LoopCase, Requirement]],
    solution: MinimaxSolution,
) -> TunedLaw:
    found = tuple(GoalValue(goal.name, case.label, solution.values[one.name], goal.hard) for goal, case, one in made)
    values = loops.values(solution.theta)
    return TunedLaw(loops.law(**values), values, max(one.value for one in found), found, solution.found)


def _uncertain(
    machines: Mapping[str, tuple[Plant, Array]], law: Callable[..., Any], ranges: Mapping[str, Range], uncertain: Any
) -> dict[str, UncertainModel]:
    """Uncertain models of all machines, in coordinates of the law where these are independent."""
    names = law(**{name: r.value(0.5) for name, r in ranges.items()}).coordinates
    found = {}
    for label, (plant, q) in machines.items():
        dof = plant.terms(q, np.zeros(plant.nv)).dof
        coordinates = tuple(names) if names is not None and len(names) == dof else None
        found[label] = uncertain_model(plant, trim(plant, q), uncertain, coordinates=coordinates)
    return found


def _certified(
    tuned: TunedLaw, loops: TunableLoops, goals: Sequence[LoopGoal], models: Mapping[str, UncertainModel]
) -> TunedLaw:
    """Law that is tuned for the worst machines of all, too, as they are found, with bounds of goals for all of them."""
    first, found = {case.label: case for case in loops.cases}, tuned.found
    for last in [*[False] * _WORST_ROUNDS, True]:
        theta, late = loops.theta(tuned.gains), loops.delay or None
        gains = dict(zip((case.label for case in loops.cases), loops.gains(theta), strict=True))
        uncertain = {
            label: uncertain_loop(model, loops.held(first[label].plant, model.family.point.q, tuned.gains), delay=late)
            for label, model in models.items()
        }
        every = [(goal, loops, first[label], gains[label], loop) for goal in goals for label, loop in uncertain.items()]
        harder = {} if last else _harder(tuned, every, [hardest(*one) for one in every])
        if not harder:
            bounds = [bound_of(*one) for one in every]
            points = [(b.value, models[b.case].normalised(b.worst)) for b in bounds]
            harder = {} if last else _harder(tuned, every, points)
        if not harder:
            return replace(tuned, bounds=tuple(bounds), loops=uncertain, found=found)
        loops = loops.with_machines({label: machine for label, machine in harder.items() if label not in gains})
        tuned = _tuned(loops, goals, *_solved(loops, goals, 1, 0, 1, theta))
    raise AssertionError("the last round returns")


def _harder(
    tuned: TunedLaw,
    every: Sequence[tuple[LoopGoal, TunableLoops, LoopCase, Array, UncertainLoop]],
    found: Sequence[tuple[float, Array]],
) -> dict[str, tuple[Plant, Array]]:
    """Machines on which a goal exceeds its limit, and what the law was tuned to."""
    hard = max((one.value for one in tuned.goals if one.hard), default=1.0)
    machines = {}
    for (goal, _, case, _, loop), (value, x) in zip(every, found, strict=True):
        if value > max(1.0, hard if goal.hard else tuned.value) * (1.0 + _HARDER):
            family = loop.model.family
            machine = family.machine(x)
            at = ", ".join(f"{name} = {y:.6g}" for name, y in family.values(x).items())
            machines[f"{case.label}, {at}"] = machine, machine.close(case.q)
    return machines


def _with_hard(
    made: Sequence[tuple[LoopGoal, LoopCase, Requirement]],
    loops: TunableLoops,
    starts: int,
    seed: int,
    jobs: int,
    theta: Array | None = None,
) -> MinimaxSolution:
    """Solution in which hard goals are met, where they can be, before others are made better.

    Hard goals count c times as much as others; where the largest of all is c, they are at their limits.
    """
    plain = MinimaxProblem([one for _, _, one in made], loops)
    solution = plain.solve(starts, seed, jobs=jobs) if theta is None else plain.solve_from(theta)
    hard = [one.name for goal, _, one in made if goal.hard]
    if not hard or len(hard) == len(made):
        return solution
    c, known = 1.0, []
    for _ in range(_ROUNDS):
        missed = float(np.log(max(1.0, *(solution.values[name] for name in hard))))
        if missed <= MET:
            break
        known.append((float(np.log(c)), missed))
        # the last two say by how much c lowers what is missed
        (c0, m0), (c1, m1) = known[-2:] if len(known) > 1 else [(0.0, 2.0 * missed), known[-1]]
        slope = (m1 - m0) / (c1 - c0) if c1 > c0 and m1 < m0 else -1.0
        c *= float(np.exp(min(max(missed / -slope, _LITTLE), _MUCH)))
        weighed = [one._replace(weight=c) if goal.hard else one for goal, _, one in made]
        again = MinimaxProblem(weighed, loops).again(solution.theta)
        if again is None:
            break
        values = plain.exact(again)
        solution = replace(solution, theta=again, values=values, value=max(values.values()))
    return solution

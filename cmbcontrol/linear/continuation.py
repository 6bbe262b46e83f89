"""Branches of equilibria along a parameter: folds, branch points, stability."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._progress import Progress, Reporter
from ..errors import ContinuationError, InputError, Interrupted
from ..model.plant import Plant
from .bifurcation import SpecialPoint, special_points
from .curve import BranchLost, Curve, CurvePoint, between, distance, family_of, heading
from .operating import OperatingPoint
from .static_efforts import EffortValues

if TYPE_CHECKING:
    import xarray

__all__ = ["EquilibriumBranch", "continue_equilibria"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TITLE = "following the branch"
_TURN = np.cos(np.radians(15.0))  # of the tangent in one step
_SHORTEST = 1e-7  # step, radians


@dataclass(frozen=True, eq=False)
class EquilibriumBranch:
    """Equilibria along a parameter, from `continue_equilibria`.

    Attributes
    ----------
    name : str
        Name of the plant.
    parameter, unit : str
        Name and unit of the parameter.
    values : ndarray, shape (points,)
        The parameter.
    arclength : ndarray, shape (points,)
        Along the branch: radians, sizes of the machine, and fractions of the range of the parameter.
    points : tuple of OperatingPoint
    stiffness : ndarray, shape (points, n)
        Eigenvalues of the stiffness on the motions that leave the held coordinates in place, in the metric of M, 1/s2,
        least first: squares of natural frequencies where nothing damps. NaN where a singular configuration has more.
    eigenvalues : ndarray of complex, shape (points, 2 n)
        Eigenvalues of the linear model of these motions, 1/s.
    stable : ndarray of bool, shape (points,)
        Whether none of these motions grows.
    special : tuple of SpecialPoint
        Folds, branch points and singular configurations on the way.
    ended : str
        Reason why the branch ends.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.pendulum()
    >>> hanging = plant.assemble(angle=-np.pi / 2)
    >>> branch = continue_equilibria(plant, hanging, 0.0, 10.0, effort="motor")
    >>> print(branch)
    pendulum along 'motor' [N m]: ... points
      stable from 0 to ..., then unstable from ... to 0
      fold at 4.905
      ended: back at 0
    """

    name: str
    parameter: str
    unit: str
    values: Array
    arclength: Array
    points: tuple[OperatingPoint, ...]
    stiffness: Array
    eigenvalues: NDArray[np.complex128]
    stable: Mask
    special: tuple[SpecialPoint, ...]
    ended: str
    _curve: Curve = field(repr=False)
    _nodes: tuple[CurvePoint, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def folds(self) -> tuple[SpecialPoint, ...]:
        """Folds of the branch, where the parameter turns back."""
        return tuple(s for s in self.special if s.kind == "fold")

    @property
    def branch_points(self) -> tuple[SpecialPoint, ...]:
        """Branch points, where another branch crosses."""
        return tuple(s for s in self.special if s.kind == "branch point")

    @property
    def singular_configurations(self) -> tuple[SpecialPoint, ...]:
        """Singular configurations on the branch, where the constraints lose rank."""
        return tuple(s for s in self.special if s.kind == "singular configuration")

    def at(self, value: float) -> tuple[OperatingPoint, ...]:
        """Equilibria of the branch at which the parameter has this value, in the order of the branch.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.pendulum()
        >>> branch = continue_equilibria(plant, plant.assemble(angle=-np.pi / 2), 0.0, 10.0, effort="motor")
        >>> [point.q[2].round(4) for point in branch.at(3.0)]
        [np.float64(-0.9127), np.float64(0.9127)]
        """
        value = _check.number(value, "the value of the parameter")
        return tuple(self._curve.point(node) for node in _at_value(self._curve, self._nodes, value))

    def switch(self, special: SpecialPoint, *, sign: int = 1) -> EquilibriumBranch:
        """Branch that crosses at a branch point, followed to one side (sign 1 or -1) over the same range.

        Raises
        ------
        ValueError
            Where the special point is no branch point of this branch.
        ContinuationError
            Where no other branch is found.
        """
        if special.kind != "branch point" or not any(special is s for s in self.special):
            raise InputError("switch needs one of the branch.branch_points of this branch")
        if sign not in (1, -1):
            raise InputError(f"sign must be 1 or -1, got {sign!r}")
        curve = self._curve
        nodes, at = self._nodes, (special.value, special.point.q)
        i = next(i for i, n in enumerate(nodes) if n.p == at[0] and np.array_equal(n.q, at[1]))
        first = nodes[i]
        second = curve.beside(first, heading(curve, nodes[i - 1], nodes[i + 1]), float(sign))
        if second is None:
            raise ContinuationError(
                f"no branch of {self.name!r} was found beside {self.parameter} = {first.p:.6g}; the branch point may "
                "be one of several branches at once",
                self,
            )
        return _trace(curve, [first, second], Reporter(False, _TITLE))

    def to_dataset(self) -> xarray.Dataset:
        """Branch as an `xarray.Dataset` with named dimensions and units.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant = plants.pendulum()
        >>> branch = continue_equilibria(plant, plant.assemble(angle=-np.pi / 2), 0.0, 3.0, effort="motor")
        >>> branch.to_dataset().q.sel(position="angle").values[-1].round(4)
        np.float64(-0.9127)
        """
        import xarray  # imported where used: it takes 0.5 s

        plant, special = self.points[0].plant, self.special
        modes, poles = self.stiffness.shape[1], self.eigenvalues.shape[1]
        q = np.array([p.q for p in self.points])
        variables = {
            "parameter": ("point", self.values, {"units": self.unit, "long_name": self.parameter}),
            "q": (("point", "position"), q),
            "u": (("point", "actuator"), np.array([p.u for p in self.points]).reshape(len(self), plant.nu)),
            "lam": (("point", "row"), np.array([p.lam for p in self.points]).reshape(len(self), len(plant.row_names))),
            "stable": ("point", self.stable),
            "stiffness": (("point", "mode"), self.stiffness, {"units": "1/s2"}),
            "growth": (("point", "pole"), self.eigenvalues.real, {"units": "1/s"}),
            "frequency": (("point", "pole"), self.eigenvalues.imag, {"units": "rad/s"}),
            "special_kind": ("special", np.array([s.kind for s in special], dtype=str)),
            "special_parameter": ("special", np.array([s.value for s in special]), {"units": self.unit}),
            "special_arclength": ("special", np.array([s.arclength for s in special])),
            "special_q": (
                ("special", "position"),
                np.array([s.point.q for s in special]).reshape(len(special), plant.nq),
            ),
        }
        coordinates = {
            "arclength": ("point", self.arclength),
            "position": list(plant.position_names),
            "position_units": ("position", list(plant.position_units)),
            "actuator": list(plant.actuator_names),
            "row": list(plant.row_names),
            "mode": np.arange(modes),
            "pole": np.arange(poles),
        }
        attributes = {"name": self.name, "parameter": self.parameter, "units": self.unit, "ended": self.ended}
        return xarray.Dataset(variables, coordinates, attributes)

    def __str__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        lines = [f"{self.name} along {self.parameter!r}{unit}: {len(self)} points"]
        changes = [0, *(np.flatnonzero(np.diff(self.stable)) + 1).tolist(), len(self)]
        spans = []
        for a, b in pairwise(changes):
            word = "stable" if self.stable[a] else "unstable"
            spans.append(f"{word} from {self.values[a]:.6g} to {self.values[b - 1]:.6g}")
        lines.append("  " + ", then ".join(spans))
        lines += [f"  {s.kind} at {s.value:.6g}" for s in self.special]
        return "\n".join([*lines, f"  ended: {self.ended}"])


def continue_equilibria(
    plant: Plant | Callable[[float], Plant],
    q: ArrayLike | Mapping[str, float] | OperatingPoint,
    start: float,
    stop: float,
    *,
    effort: str | None = None,
    coordinate: str | None = None,
    u: EffortValues | float | None = None,
    preload: EffortValues | float | None = None,
    weight: ArrayLike | None = None,
    free: str | Collection[str] = "all",
    hold: Collection[str] | None = None,
    within: tuple[float, float] | None = None,
    step: float = 0.1,
    max_points: int = 1000,
    tolerance: float = 1e-9,
    name: str | None = None,
    unit: str = "",
    progress: Progress = False,
) -> EquilibriumBranch:
    """Follow an equilibrium while a parameter varies, also round folds and over branch points.

    Parameters
    ----------
    plant : Plant, or callable
        A plant, with ``effort=`` or ``coordinate=`` to name what varies; or a function value -> plant (a stiffness, a
        payload, a length): all its plants must have the same coordinates, motors and constraint rows.
    q : array_like, shape (nq,), mapping, or OperatingPoint
        Start of the search for the first equilibrium, with closed loops.
    start, stop : float
        Range of the parameter. The branch is followed from `start`, towards `stop`, until the parameter leaves the
        range on either side.
    effort : str, optional
        The parameter is the effort of this actuator, N or N m.
    coordinate : str, optional
        The parameter is this position coordinate, held at its value by the unknown efforts, rad or m.
    u, preload, weight
        As in `trim`. Without u all motors (but the one of ``effort=``) are off; where a coordinate is the parameter,
        they are computed.
    free, hold
        As in `trim`: the coordinates that may move, or those that may not.
    within : (float, float), optional
        A wider range to stay in, so that a branch that turns round may go on beyond `start`.
    step : float
        Largest step: radians, sizes of the machine, fractions of the range. Steps shorten where the branch bends.
    max_points : int
        Largest number of points.
    tolerance : float
        Largest unbalanced force, relative to all forces, as in `trim`.
    name, unit : str, optional
        Name and unit of the parameter, where it is the value of a function; defaults to the function's name.
    progress : bool or callable
        Show a progress bar, or call with the largest fraction of the range that was reached.

    Returns
    -------
    EquilibriumBranch

    Raises
    ------
    EquilibriumError
        Where there is no equilibrium to start from.
    ContinuationError
        Where the branch cannot be followed further; its ``partial`` is the computed part.
    Interrupted
        After Ctrl-C, a `KeyboardInterrupt`; it carries the same.
    ValueError
        For arguments that contradict each other, and unknown names.

    Notes
    -----
    A fold is where the parameter's component of the tangent changes its sign: with given efforts, where the stiffness
    Z'KZ, the loops' part included, becomes singular. It is a branch point where the parameter does not turn; found
    from the sign of the determinant of the equations bordered by the tangent, and, where two modes soften at once,
    from the number of negative stiffnesses. Stability is that of the motions that leave the held coordinates (and the
    one that is the parameter) in place, under constant efforts. At a singular configuration of the loops the branch is
    followed straight on; the point is located to the accuracy of the loop closure only.

    Examples
    --------
    A pendulum under a motor's torque holds up to m g l / 2, where it is level:

    >>> from cmbcontrol import plants
    >>> plant = plants.pendulum()
    >>> branch = continue_equilibria(plant, plant.assemble(angle=-np.pi / 2), 0.0, 10.0, effort="motor")
    >>> branch.folds[0].value
    4.905
    """
    start, stop = _check.number(start, "start"), _check.number(stop, "stop")
    if start == stop:
        raise InputError(f"start and stop must differ, both are {start}")
    if not isinstance(max_points, int) or max_points < 2:
        raise InputError(f"max_points must be a whole number of at least 2, got {max_points!r}")
    family = family_of(plant, effort, coordinate, start, name, unit)
    q = q.q if isinstance(q, OperatingPoint) else q
    if coordinate is None and u is None:
        u = 0.0
    curve = Curve(family, start, stop, u, preload, weight, free, hold, q)
    curve.bounds = _bounds(start, stop, within)
    curve.step, curve.max_points = _check.positive(step, "step"), max_points
    curve.tolerance = _check.positive(tolerance, "tolerance")
    with Reporter(progress, _TITLE) as reporter:
        return _trace(curve, [curve.first(q)], reporter)


def _bounds(start: float, stop: float, within: tuple[float, float] | None) -> tuple[float, float]:
    """Range of the parameter, low and high."""
    low, high = sorted((start, stop)) if within is None else _check.vector(within, 2, "within").tolist()
    if not (low <= min(start, stop) and max(start, stop) <= high):
        raise InputError(f"within must be (low, high) with start = {start} and stop = {stop} inside, got {within}")
    return low, high


# -- steps ------------------------------------------------------------------------------------------


class _Record:
    """Computed part of a branch."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.nodes: list[CurvePoint] = []
        self.arclength: list[float] = []
        self.points: list[OperatingPoint] = []
        self.modes: list[tuple[Array, NDArray[np.complex128]]] = []
        self.special: list[SpecialPoint] = []
        self.special_nodes: list[CurvePoint] = []

    def add(self, node: CurvePoint, specials: Sequence[tuple[float, str, CurvePoint]] = ()) -> None:
        """Add a point, with the special points before it."""
        before = self.nodes[-1] if self.nodes else node
        start = self.arclength[-1] if self.nodes else 0.0
        for _, kind, there in specials:
            arc = start + distance(self.curve, before, there)
            self.special.append(SpecialPoint(kind, there.p, arc, len(self.nodes) - 1, self.curve.point(there)))
            self.special_nodes.append(there)
        point = self.curve.point(node)
        self.modes.append(self.curve.stability(node, point))
        self.points.append(point)
        self.arclength.append(start + distance(self.curve, before, node))
        self.nodes.append(node)

    def branch(self, ended: str) -> EquilibriumBranch:
        """Make the branch from the computed points, with the reason why it ends."""
        family = self.curve.family
        n = min((k.size for k, _ in self.modes), default=0)
        stiffness = np.array([k if k.size == n else np.full(n, np.nan) for k, _ in self.modes])
        poles = np.array([e if e.size == 2 * n else np.full(2 * n, np.nan) for _, e in self.modes])
        largest = np.abs(poles).max(axis=1, initial=0.0)
        growth = np.where(np.isnan(poles.real), np.inf, poles.real).max(axis=1, initial=-np.inf)
        nodes = sorted(
            [*zip(self.arclength, self.nodes, strict=True)]
            + [(s.arclength, node) for s, node in zip(self.special, self.special_nodes, strict=True)],
            key=lambda x: x[0],
        )
        return EquilibriumBranch(
            name=self.curve.plant.name,
            parameter=family.label,
            unit=family.unit,
            values=np.array([node.p for node in self.nodes]),
            arclength=np.array(self.arclength),
            points=tuple(self.points),
            stiffness=stiffness.reshape(len(self.nodes), n),
            eigenvalues=poles.reshape(len(self.nodes), 2 * n),
            stable=growth <= 1e-6 * largest,
            special=tuple(self.special),
            ended=ended,
            _curve=self.curve,
            _nodes=tuple(node for _, node in nodes),
        )


def _trace(curve: Curve, nodes: list[CurvePoint], reporter: Reporter) -> EquilibriumBranch:
    """Follow the branch on from its first points."""
    record = _Record(curve)
    try:
        for node in nodes:
            record.add(node)
        return record.branch(_follow(curve, record, reporter))
    except BranchLost as error:
        last = record.nodes[-1]
        raise ContinuationError(
            f"the branch of {curve.plant.name!r} could not be followed beyond {curve.family.label} = {last.p:.6g}, "
            f"q = {np.round(last.q, 6).tolist()} ({len(record.nodes)} points are in error.partial). It may end at a "
            "singular configuration (see plant.diagnose(q)) or bend sharply: try another step=, or start from the "
            "other side.",
            record.branch("lost"),
        ) from error
    except (Exception, KeyboardInterrupt) as error:
        if not record.nodes:
            raise
        stopped = isinstance(error, KeyboardInterrupt)
        what = "interrupted" if stopped else f"stopped by {type(error).__name__}: {error}"
        raise (Interrupted if stopped else ContinuationError)(
            f"the branch of {curve.plant.name!r} was {what} after {curve.family.label} = {record.nodes[-1].p:.6g}; its "
            f"{len(record.nodes)} points are in the attribute partial",
            record.branch(what),
        ) from error


def _follow(curve: Curve, record: _Record, reporter: Reporter) -> str:
    """Add points until the branch ends; returns why."""
    h, reached = 0.3 * curve.step, 0.0
    while len(record.nodes) < curve.max_points:
        base = record.nodes[-1]
        h, node = _step(curve, base, h)
        specials = special_points(curve, base, node, h)
        node, ended = _stopped(curve, base, node, h)
        node, ended = _left_range(curve, base, node, specials, len(record.nodes) == 1) or (node, ended)
        length = distance(curve, base, node)
        record.add(node, [x for x in specials if not ended or distance(curve, base, x[2]) <= length])
        ended = ended or _closed(curve, record.nodes)
        reached = max(reached, abs(node.p - curve.start) / curve.range)
        reporter.update(min(reached, 1.0))
        if ended:
            return ended
        h = min(1.5 * h, curve.step)
    return f"max_points = {curve.max_points} reached"


def _step(curve: Curve, base: CurvePoint, h: float) -> tuple[float, CurvePoint]:
    """Next point, after a step on which the tangent turns little, within the range."""
    slope = float(base.P @ base.tangent)
    room = max(((bound - base.p) / slope for bound in curve.bounds), default=0.0) if slope else np.inf
    if 0.0 < room < h:
        try:
            node = curve.ahead(base, room, curve.bounds[1] if slope > 0.0 else curve.bounds[0])
            if _follows(curve, base, node, room):
                return room, node
        except BranchLost:  # it turns round before
            pass
    while h > _SHORTEST * min(1.0, curve.step):
        try:
            node = curve.ahead(base, h)
            if _follows(curve, base, node, h):
                return h, node
        except BranchLost:
            pass
        h *= 0.5
    raise BranchLost


def _follows(curve: Curve, base: CurvePoint, node: CurvePoint, h: float) -> bool:
    """Whether a point is on the same branch: about a step h further on, with nearly the same tangent."""
    bend = float(node.tangent @ node.project(base.heading))
    return bend > _TURN and 0.5 * h < distance(curve, base, node) < 2.0 * h


# -- ends ---------------------------------------------------------------------------------------------------


def _stopped(curve: Curve, base: CurvePoint, node: CurvePoint, h: float) -> tuple[CurvePoint, str | None]:
    """Last point before a joint or an actuator reaches its limit, and the message; or the node itself and None."""
    reason = curve.limit(node)
    if reason is None:
        return node, None
    low, high, last = 0.0, h, base
    while high - low > 1e-9 * h:
        s = 0.5 * (low + high)
        there = curve.ahead(base, s)
        if curve.limit(there) is None:
            low, last = s, there
        else:
            high = s
    return last, reason


def _left_range(
    curve: Curve, base: CurvePoint, node: CurvePoint, specials: list[tuple[float, str, CurvePoint]], first: bool
) -> tuple[CurvePoint, str] | None:
    """Node at which the parameter leaves its range between two points (with folds between), and why; else None."""
    nodes = [base, *(there for _, kind, there in specials if kind == "fold"), node]
    for a, b in pairwise(nodes):
        for value, side in zip(curve.bounds, (-1.0, 1.0), strict=True):
            outside = side * (b.p - value)
            if first and a.p == value and outside > 0.0:
                return node, f"left the range at {value:.6g}, a fold"
            if outside > 0.0 or (outside == 0.0 and not first):
                word = "back at" if value == curve.start else "reached"
                return between(curve, a, b, value), f"{word} {value:.6g}"
    return None


def _at_value(curve: Curve, nodes: tuple[CurvePoint, ...], value: float) -> list[CurvePoint]:
    """Points of a branch at which the parameter has a value; `nodes` must include the folds."""
    points = [n for n in nodes[:1] if n.p == value]
    for a, b in pairwise(nodes):
        if (a.p - value) * (b.p - value) < 0.0 or (b.p == value and a.p != value):
            try:
                points.append(b if b.p == value else between(curve, a, b, value))
            except BranchLost as error:
                raise ContinuationError(
                    f"no equilibrium of {curve.plant.name!r} was found between two points of the branch, at "
                    f"{curve.family.label} = {value:.6g}; use a smaller step="
                ) from error
    return points


def _closed(curve: Curve, nodes: list[CurvePoint]) -> str | None:
    """Message that the branch has returned to its first point (up to full turns of angles); None where it has not."""
    if len(nodes) < 5:
        return None
    a, b = nodes[0], nodes[-1]
    plant = a.balance.plant
    way = plant.difference(a.q, b.q)
    turns = np.array([u == "rad/s" for u in plant.velocity_units])
    way[turns] -= 2.0 * np.pi * np.round(way[turns] / (2.0 * np.pi))
    gap = np.append(way / plant.displacement_scale, (b.p - a.p) / curve.range)
    near = np.linalg.norm(gap) < 0.75 * distance(curve, nodes[-2], b)
    return "closed: it came round to its start" if near and b.tangent @ b.project(a.heading) > _TURN else None

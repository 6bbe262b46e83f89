"""Gain scheduling: linear models over a grid, a law from a design at each of its points, and checks between them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..controllers.chain import Chain
from ..controllers.closed_loop import ClosedLoop, linearize_closed_loop
from ..controllers.controller import Controller
from ..controllers.gain_scheduled import GainScheduled
from ..controllers.references import Constant
from ..errors import CmbError, InputError, InputTypeError
from ..linear.linearize import linearize
from ..linear.model import LinearModel
from ..linear.operating import trim
from ..model.plant import Plant

if TYPE_CHECKING:
    import control
    import xarray

__all__ = ["LinearGrid", "ScheduleCase", "ScheduleCheck", "check_schedule", "linear_grid"]

Array = NDArray[np.float64]
Point = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class LinearGrid:
    """Linear models over a grid of operating points: a linear parameter-varying model.

    Attributes
    ----------
    axes : dict of str to ndarray
        Grid values of each axis.
    models : dict of tuple of float to LinearModel
        Models by their points, in the order of the grid, the last axis first.
    """

    axes: Mapping[str, Array]
    models: Mapping[Point, LinearModel]

    def to_dataset(self) -> xarray.Dataset:
        """Matrices A, B, C, D over the axes, with the positions and efforts of the points, as an `xarray.Dataset`."""
        import xarray

        some, shape = next(iter(self.models.values())), tuple(len(x) for x in self.axes.values())

        def stacked(values: Callable[[LinearModel], Any]) -> Array:
            rows = np.array([values(model) for model in self.models.values()])
            return rows.reshape(*shape, *rows.shape[1:])

        axes = tuple(self.axes)
        sizes = {"A": ("state", "state_in"), "B": ("state", "input"), "C": ("output", "state_in"),
                 "D": ("output", "input")}  # fmt: skip
        plant = some.point.plant
        data: dict[str, Any] = {name: ((*axes, *dims), stacked(attrgetter(name))) for name, dims in sizes.items()}
        data["q"] = ((*axes, "position"), stacked(lambda m: m.point.q))
        data["u"] = ((*axes, "actuator"), stacked(lambda m: m.point.u))
        names = {"state": some.states, "state_in": some.states, "input": some.inputs, "output": some.outputs}
        names |= {"position": plant.position_names, "actuator": plant.actuator_names}  # type: ignore[union-attr]
        units = {"state_units": some.state_units, "input_units": some.input_units, "output_units": some.output_units}
        coords = {**self.axes, **{key: list(x) for key, x in names.items()}}
        return xarray.Dataset(data, coords, {"plant": some.name, **{key: list(x) for key, x in units.items()}})

    def to_ss(self) -> dict[Point, control.StateSpace]:
        """python-control systems by their points, with names of states, inputs and outputs."""
        return {point: model.to_ss() for point, model in self.models.items()}

    def schedule(self, design: Callable[[LinearModel], Any], **options: Any) -> GainScheduled | Chain:
        """Law with gains over the grid, from a design at each of its points.

        Parameters
        ----------
        design : callable
            From a `LinearModel` to a law. Of a chain, such as `tune_loops` gives, the laws are blended; its blocks,
            those of the first point, stay around them.
        **options
            Further arguments of `GainScheduled`: ``signals``, ``by``, ``interpolation``.

        Raises
        ------
        ValueError, TypeError
            Where a design fails, with its point, and as `GainScheduled`.

        Examples
        --------
        >>> from cmbcontrol import Constant, plants
        >>> from cmbcontrol.design import lqr
        >>> grid = linear_grid(plants.five_bar(), {"left": [1.9, 2.3], "right": [0.6, 1.0]}, ("left", "right"))
        >>> to = Constant([2.1, 0.8])
        >>> grid.schedule(lambda model: lqr(model, Q={"left": 400.0, "right": 400.0}, R=0.01, reference=to))
        <GainScheduled StateFeedback over left (2), right (2)>
        """
        _check.function(design, "design", "linear model -> law")
        made = []
        for point, model in self.models.items():
            try:
                made.append(design(model))
            except CmbError as error:
                error.add_note(f"at {_told(self.axes, point)}")
                raise
        laws = [law.law if isinstance(law, Chain) else law for law in made]
        shape = [len(x) for x in self.axes.values()]
        nested: Any = laws
        for n in reversed(shape[1:]):
            nested = [nested[i : i + n] for i in range(0, len(nested), n)]
        scheduled = GainScheduled(nested, {name: x.tolist() for name, x in self.axes.items()}, **options)
        return made[0]._around(scheduled) if isinstance(made[0], Chain) else scheduled


def linear_grid(
    plant: Plant | Callable[..., Plant],
    over: Mapping[str, ArrayLike],
    coordinates: Sequence[str],
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    **at: float,
) -> LinearGrid:
    """Linear models at all points of a grid of configurations, payloads, or both.

    Parameters
    ----------
    plant : Plant or callable
        A function gets the axes that are its arguments by name: ``lambda load: with_payload(machine, "tip", load)``.
    over : mapping of str to array_like
        Grid values of each axis: coordinates of the machine, rad or m, and arguments of `plant`.
    coordinates : sequence of str
        Independent coordinates of all models.
    inputs, outputs : sequence of str, optional
        As in `linearize`.
    **at : float
        Values of further coordinates, which are the same at all points, as in `Plant.assemble`.

    Raises
    ------
    AssemblyError, EquilibriumError, ValueError
        Where the machine cannot be closed, held or linearized at a point, which is named.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> grid = linear_grid(plants.five_bar(), {"left": [1.9, 2.3], "right": [0.6, 0.8, 1.0]}, ("left", "right"))
    >>> grid.to_dataset().A.shape
    (2, 3, 4, 4)
    """
    axes = {name: np.atleast_1d(_check.numbers(x, f"the grid of {name!r}")) for name, x in
            _check.mapping(over, "over", "axes to grid values").items()}  # fmt: skip
    coordinates = _check.names((coordinates,) if isinstance(coordinates, str) else coordinates, "coordinates")
    made = _plants(plant, axes)
    models = {}
    for values in product(*axes.values()):
        point = dict(zip(axes, map(float, values), strict=True))
        try:
            machine, joints = made(point)
            point_at = trim(machine, machine.assemble(**{**at, **joints}))
            models[tuple(point.values())] = linearize(
                machine, point_at, coordinates=coordinates, inputs=inputs, outputs=outputs
            )
        except CmbError as error:
            error.add_note(f"at {_told(axes, tuple(point.values()))}")
            raise
    return LinearGrid(axes, models)


def _plants(plant: Any, axes: Mapping[str, Array]) -> Callable[[Mapping[str, float]], tuple[Plant, dict[str, float]]]:
    """Machine of a point, and the joint values among its axes."""
    if isinstance(plant, Plant):
        return lambda point: (plant, dict(point))
    if not callable(plant):
        raise InputTypeError(f"plant must be a plant, or a function that makes one, got {_check.shown(plant)}")
    taken = [name for name in inspect.signature(plant).parameters if name in axes]
    if not taken:
        raise InputError(
            f"plant is a function of {', '.join(inspect.signature(plant).parameters) or 'nothing'}, none of which is "
            f"an axis ({', '.join(axes)})"
        )
    known: dict[Point, Plant] = {}

    def made(point: Mapping[str, float]) -> tuple[Plant, dict[str, float]]:
        key = tuple(point[name] for name in taken)
        if key not in known:
            known[key] = _check.plant(plant(**{name: point[name] for name in taken}))
        return known[key], {name: x for name, x in point.items() if name not in taken}

    return made


def _told(axes: Mapping[str, Any], point: Point) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in zip(axes, point, strict=True))


# -- checks ----------------------------------------------------------------------------------------------------------


class ScheduleCase(NamedTuple):
    """A scheduled loop at one point.

    Attributes
    ----------
    point : dict of str to float
        Values of the axes.
    between : bool
        Whether it is no point of the grid.
    poles : ndarray of complex
        Poles of the loop, 1/s, with gains that move with the machine; empty where there is no loop.
    growth : float
        Largest real part of them, 1/s; nan where there is none.
    frozen_growth : float
        The same with gains that stay: what the design at a point sees.
    coupling : float
        Hidden coupling: the largest distance of a pole from those with gains that stay, over its size.
    disk : float
        Disk margin at all motors at once; nan where the loop is not stable.
    failure : str
        Why there is no loop at this point; empty where there is one.
    """

    point: Mapping[str, float]
    between: bool
    poles: NDArray[np.complex128]
    growth: float
    frozen_growth: float
    coupling: float
    disk: float
    failure: str = ""

    @property
    def stable(self) -> bool:
        return bool(self.growth < 0.0)


@dataclass(frozen=True, eq=False)
class ScheduleCheck:
    """Loops of a scheduled law at the points of its grid and between them.

    Attributes
    ----------
    cases : tuple of ScheduleCase
    """

    cases: tuple[ScheduleCase, ...]

    @property
    def stable(self) -> bool:
        """Whether all loops are stable."""
        return all(case.stable for case in self.cases)

    @property
    def worst(self) -> ScheduleCase:
        """Case that is not stable, else the one with the smallest disk margin."""
        return min(self.cases, key=lambda case: (case.stable, case.disk if case.stable else -case.growth))

    def __str__(self) -> str:
        between = sum(case.between for case in self.cases)
        lines = [f"{len(self.cases)} points, {between} between those of the grid: "
                 f"{sum(case.stable for case in self.cases)} stable"]  # fmt: skip
        width = max(len(_words(case)) for case in self.cases)
        lines.append(f"{'':{width}}  slowest 1/s  gains fixed  coupling  disk margin")
        for case in self.cases:
            if case.failure:
                lines.append(f"{_words(case):{width}}  {case.failure}")
                continue
            lines.append(
                f"{_words(case):{width}}  {case.growth:11.4g}  {case.frozen_growth:11.4g}  {case.coupling:8.2g}  "
                f"{case.disk:11.3g}"
            )
        return "\n".join(lines)


def _words(case: ScheduleCase) -> str:
    told = ", ".join(f"{name} = {x:.4g}" for name, x in case.point.items())
    return told + (", between" if case.between else "")


def check_schedule(
    plant: Plant | Callable[..., Plant], law: GainScheduled | Chain, *, delay: float = 0.0, **at: float
) -> ScheduleCheck:
    """Loops of a scheduled law at all points of its grid and in the middle of all its cells.

    At each point the law is asked to hold the machine there, and the loop is linearized exactly, with the paths that
    gains which move with the machine add to it (hidden coupling), and without.

    Parameters
    ----------
    plant : Plant or callable
        The machine, or a function of the signals among the axes, as in `linear_grid`.
    law : GainScheduled, or Chain with one
        With a reference and coordinates.
    delay : float
        As in `linearize_closed_loop`, s.
    **at : float
        Values of further coordinates, as in `Plant.assemble`.

    Raises
    ------
    TypeError
        For another law.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.design import lqr
    >>> plant, to = plants.five_bar(), Constant([2.1, 0.8])
    >>> grid = linear_grid(plant, {"left": [1.9, 2.3], "right": [0.6, 1.0]}, ("left", "right"))
    >>> law = grid.schedule(lambda m: lqr(m, Q={"left": 4e4, "right": 4e4}, R=0.01, reference=to))
    >>> check = check_schedule(plant, law)
    >>> check.stable, len(check.cases), bool(check.worst.disk > 0.5)
    (True, 5, True)
    """
    delay = _check.positive(delay, "delay", zero=True)
    scheduled = law.law if isinstance(law, Chain) else law
    if not isinstance(scheduled, GainScheduled) or scheduled.reference is None or scheduled.coordinates is None:
        raise InputTypeError(
            "law must be a GainScheduled, or a chain with one, that has a reference and coordinates, which say what "
            f"configuration to hold, got {law!r}"
        )
    for name in scheduled.coordinates:
        _check.one_of(name, scheduled.plant.position_names, "coordinate of the machine", f"{scheduled.name} follows")
    made = _plants(plant, dict.fromkeys(scheduled.axes, np.zeros(0)))
    middles = product(*(0.5 * (x[:-1] + x[1:]) for x in scheduled.grid))
    points = [(point, False) for point in scheduled.points()]
    points += [(dict(zip(scheduled.axes, map(float, x), strict=True)), True) for x in middles]
    return ScheduleCheck(tuple(_case(made, law, scheduled, point, between, delay, at) for point, between in points))


def _case(
    made: Callable, law: Any, scheduled: GainScheduled, point: dict[str, float], between: bool, delay: float, at: Any
) -> ScheduleCase:
    """Case of one point, with its loops, or with the failure."""
    try:
        machine, values = made(point)
        joints = {name: x for name, x in values.items() if name not in scheduled.signals}
        q = machine.assemble(**{**at, **joints})
        names = scheduled.coordinates or ()
        held = scheduled.held({name: point[name] for name in scheduled.signals}).with_reference(
            Constant([q[machine.position_names.index(name)] for name in names])
        )
        loops = [_loop(machine, law, x, q, delay) for x in (held, held.frozen(point))]
    except (InputError, InputTypeError):  # a mistake in a call, which another try does not mend
        raise
    except CmbError as error:
        return ScheduleCase(point, between, np.zeros(0, complex), np.nan, np.nan, np.nan, np.nan, str(error))
    poles, frozen = (loop.continuous_poles() for loop in loops)
    apart = np.abs(poles[:, None] - frozen).min(axis=1) / np.maximum(np.abs(poles), np.abs(frozen).min())
    stable = loops[0].stable
    return ScheduleCase(
        point,
        between,
        poles,
        float(poles.real.max()),
        float(frozen.real.max()),
        float(apart[np.isfinite(apart)].max(initial=0.0)),
        loops[0].margins().disk if stable else np.nan,
    )


def _loop(machine: Plant, law: Any, scheduled: Controller, q: Array, delay: float) -> ClosedLoop:
    return linearize_closed_loop(
        machine, law._around(scheduled) if isinstance(law, Chain) else scheduled, q, delay=delay
    )

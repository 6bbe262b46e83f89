"""Tasks of motion laws: coordinates, points and frames of bodies, or any function theta(q) (Aghili, eq. 40).

A task is any object with

``names``, ``units``
    Name and unit of each of its k values.
``value(terms) -> (k,)``, ``jacobian(terms) -> (k, nv)``, ``bias(terms) -> (k,)``
    theta, the J with rate J v, and J' v, so that the task accelerates by J a + J' v. On rotations the value is a
    rotation vector and J v the angular velocity, which is not its rate.
``error(desired, terms) -> (k,)``
    Error to a desired value, desired less actual.

`motion` is optional; the tasks here have it, exact on rotations as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._arguments import KeepsArguments
from ..dynamics import differences
from ..errors import AssemblyError, InputError, InputTypeError
from ..model.plant import Plant
from ..model.terms import Terms
from .controller import require_same_signals
from .references import at_time, require_reference

__all__ = ["Coordinates", "FunctionTask", "PostureTask", "Task", "TaskMotion", "TaskStack"]

Array = NDArray[np.float64]
Desired = tuple[Array, Array, Array]


class TaskMotion(NamedTuple):
    """Error of a task with its equation of motion, e'' = free - (J a + bias), under an acceleration a (nv,).

    Attributes
    ----------
    e, rate : ndarray, shape (k,)
        Error and its rate.
    J : ndarray, shape (k, nv)
    bias : ndarray, shape (k,)
    free : ndarray, shape (k,)
        Value of e'' where the task itself does not accelerate.
    """

    e: Array
    rate: Array
    J: Array
    bias: Array
    free: Array


class Task(KeepsArguments, ABC):
    """Base class of tasks: k values theta(q) with rate J v and acceleration J a + bias (Aghili, eq. 40).

    Attributes
    ----------
    plant : Plant
        Model that the task is computed with.
    names, units : tuple of str
    """

    plant: Plant
    names: tuple[str, ...]
    units: tuple[str, ...]

    @abstractmethod
    def value(self, terms: Terms) -> Array:
        """Values theta (k,) of the task."""

    @abstractmethod
    def jacobian(self, terms: Terms) -> Array:
        """Jacobian J (k, nv) of the task."""

    @abstractmethod
    def bias(self, terms: Terms) -> Array:
        """Bias J' v (k,): the acceleration of the task where the coordinates have none."""

    def error(self, desired: ArrayLike, terms: Terms) -> Array:
        """Error e (k,), desired less actual value."""
        desired = _check.vector(desired, len(self.names), "desired", self.names)
        return desired - self.value(_check.instance(terms, Terms, "terms", "from plant.terms(q, v)"))

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        """Error from desired value, rate and acceleration, (k,) each, and its equation of motion."""
        position, velocity, acceleration = desired
        J = self.jacobian(terms)
        return TaskMotion(self.error(position, terms), velocity - J @ terms.v, J, self.bias(terms), acceleration)

    def __len__(self) -> int:
        return len(self.names)


class Coordinates(Task):
    """Task of coordinates of a plant by name: theta = R q.

    Parameters
    ----------
    plant : Plant
    names : str or sequence of str
        Positions with a rate of their own: of one-axis joints, the angle of a planar joint, or those of a plant of
        functions.

    Raises
    ------
    ValueError
        Where a name is not known, is named twice, or belongs to a joint with several axes.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> task = Coordinates(plant, ("left", "right"))
    >>> task.value(plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4))
    array([2.1, 1. ])
    """

    def __init__(self, plant: Plant, names: str | Sequence[str]) -> None:
        _check.plant(plant)
        self.plant = plant
        known = dict.fromkeys((*plant.position_names, *plant.velocity_names))
        self.names = _check.names((names,) if isinstance(names, str) else names, "coordinates", known, "coordinate")
        rates = {plant.position_names[i]: (i, k) for i, k in plant.paired}
        for name in (n for n in self.names if n not in rates):
            own = [n for n, (_, k) in rates.items() if plant.velocity_names[k] == name]
            raise InputError(
                f"coordinate {name!r} is a rate; its position is called {own[0]!r}"
                if own
                else f"coordinate {name!r} has no {'rate' if name in plant.position_names else 'position'} of its own; "
                "take a one-axis joint, or PointTask or PoseTask for where a body is"
            )
        self._q = np.array([rates[n][0] for n in self.names], dtype=np.int64)
        self._v = np.array([rates[n][1] for n in self.names], dtype=np.int64)
        self.units = tuple(plant.position_units[i] for i in self._q)
        self._J = np.eye(plant.nv)[self._v]
        self._zero = np.zeros(len(self.names))

    def value(self, terms: Terms) -> Array:
        return terms.q[self._q]

    def jacobian(self, terms: Terms) -> Array:
        return self._J

    def bias(self, terms: Terms) -> Array:
        return self._zero

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        position, velocity, acceleration = desired
        return TaskMotion(position - terms.q[self._q], velocity - terms.v[self._v], self._J, self._zero, acceleration)


class FunctionTask(Task):
    """Task of any function theta(q) of the positions.

    Parameters
    ----------
    plant : Plant
    theta : callable, q (nq,) -> (k,)
        Twice differentiable around the configurations of the machine, also where the loops are a little open. It is
        tried out at an assembled configuration.
    jacobian : callable, q -> (k, nv), optional
        J with d(theta)/dt = J v. Defaults to differences of order 8 along the joints.
    bias : callable, (q, v) -> (k,), optional
        J' v, the second derivative of theta at constant v. Defaults to differences of order 8.
    names : sequence of str, optional
        Names of the values; defaults to ``theta1``, ...
    units : sequence of str, optional
        Units of the values, ``"m"``, ``"rad"`` or any other; defaults to none.

    Raises
    ------
    ValueError
        Where a function does not return finite numbers in the right shape, or names are not as many as values.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.slider_crank()
    >>> slide = FunctionTask(plant, lambda q: [np.cos(q[0]) + np.cos(q[0] + q[1])], names=["slide"], units=["m"])
    >>> slide.jacobian(plant.terms([0.6, -1.2], [0.0, 0.0])).round(6)
    array([[0.      , 0.564642]])
    """

    def __init__(
        self,
        plant: Plant,
        theta: Callable[[Array], ArrayLike],
        jacobian: Callable[[Array], ArrayLike] | None = None,
        bias: Callable[[Array, Array], ArrayLike] | None = None,
        names: Sequence[str] | None = None,
        units: Sequence[str] | None = None,
    ) -> None:
        _check.plant(plant)
        for what, function in (("theta", theta), ("jacobian", jacobian), ("bias", bias)):
            if not callable(function) and (function is not None or what == "theta"):
                raise InputTypeError(f"{what} of a FunctionTask must be callable, got {function!r}")
        self.plant, self._theta, self._jacobian, self._bias = plant, theta, jacobian, bias
        self._length = plant.displacement_scale
        try:
            q = plant.assemble()
        except AssemblyError:
            q = plant.neutral()
        k = np.atleast_1d(_check.numbers(theta(q), "theta of a FunctionTask")).size
        self.names = value_names(names, [f"theta{i + 1}" for i in range(k)], plant)
        given = ("",) * k if units is None else _check.sequence(units, "units", "units")
        self.units = tuple(_check.text(u, "units") for u in given)
        if len(self.units) != k:
            raise InputError(f"units must be {k}, one per value of theta, got {self.units}")
        self._J(q)
        self._second(q, np.zeros(plant.nv))

    def value(self, terms: Terms) -> Array:
        return self._value(terms.q)

    def jacobian(self, terms: Terms) -> Array:
        return self._J(terms.q)

    def bias(self, terms: Terms) -> Array:
        return self._second(terms.q, terms.v)

    def _value(self, q: Array) -> Array:
        return _check.vector(np.atleast_1d(self._theta(q)), len(self), f"theta of the task {self.names}")

    def _J(self, q: Array) -> Array:
        shape = (len(self), self.plant.nv)
        if self._jacobian is not None:
            return _check.matrix(self._jacobian(q), shape, f"the jacobian of the task {self.names}")
        return differences.jacobian(lambda d: self._value(self.plant.integrate(q, d)), 1e-2 * self._length)

    def _second(self, q: Array, v: Array) -> Array:
        """Second derivative d2 theta / dt2 (k,) at constant v: q [+] t v is such a motion."""
        if self._bias is not None:
            return _check.vector(self._bias(q, v), len(self), f"the bias of the task {self.names}")
        fastest = float(np.abs(v / self._length).max(initial=0.0))
        if fastest == 0.0:
            return np.zeros(len(self))
        if self._jacobian is not None:
            return differences.slope(lambda s: self._J(self.plant.integrate(q, s * v)) @ v, 1e-2 / fastest)
        return _bend(lambda s: self._value(self.plant.integrate(q, s * v)), 3e-2 / fastest)


class TaskStack(Task):
    """Stack of several tasks as one, with their values one after the other.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.controllers import PointTask
    >>> plant = plants.three_rrr()
    >>> task = TaskStack(PointTask(plant, "platform", axes="xy"), Coordinates(plant, "drive1"))
    >>> task.names
    ('platform_x', 'platform_y', 'drive1')
    """

    def __init__(self, *tasks: Task) -> None:
        if not tasks:
            raise InputTypeError("give one task or more")
        for task in tasks:
            require_task(task)
            if task.plant is not tasks[0].plant:
                raise InputError(f"the tasks are of different plants, {tasks[0].plant.name!r} and {task.plant.name!r}")
        self.tasks, self.plant = tasks, tasks[0].plant
        self.names = tuple(n for task in tasks for n in task.names)
        self.units = tuple(u for task in tasks for u in task.units)
        if len(set(self.names)) < len(self.names):
            raise InputError(f"the values {self.names} are not all called differently; give a task names=[...]")
        self._ends = np.cumsum([len(task.names) for task in tasks])[:-1]

    def value(self, terms: Terms) -> Array:
        return np.concatenate([task.value(terms) for task in self.tasks])

    def jacobian(self, terms: Terms) -> Array:
        return np.concatenate([task.jacobian(terms) for task in self.tasks])

    def bias(self, terms: Terms) -> Array:
        return np.concatenate([task.bias(terms) for task in self.tasks])

    def error(self, desired: ArrayLike, terms: Terms) -> Array:
        parts = np.split(_check.vector(desired, len(self.names), "desired", self.names), self._ends)
        return np.concatenate([task.error(x, terms) for task, x in zip(self.tasks, parts, strict=True)])

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        parts = zip(*(np.split(x, self._ends) for x in desired), strict=True)
        motions = [motion_of(task, part, terms) for task, part in zip(self.tasks, parts, strict=True)]
        return TaskMotion(*(np.concatenate(x) for x in zip(*motions, strict=True)))


class Tracking(KeepsArguments):
    """A task with its reference and gains, e'' + G_D e' + G_P e = 0, as one of several tasks of a law.

    Parameters
    ----------
    task : Task
        Task with k values.
    reference : callable
        t -> (position, velocity, acceleration), of shape (k,) each.
    bandwidth : float or array_like
        Natural frequency of the error, rad/s.
    damping_ratio : float or array_like
    weight : float or array_like, shape (k,)
        Weight of the squares of J a - target, beside other tasks of the same level.
    while_held, while_open : str or sequence of str
        Constraints of the plant that must all hold, or all be open, for the task to count, such as the contacts of a
        foot that stands or swings. A contact that slides counts as held.

    Raises
    ------
    TypeError, ValueError
        For an object that is no task, a reference of another size, gains or weights that are not above zero.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.two_arms()
    >>> wrist = Tracking(Coordinates(plant, "left_wrist"), Constant([0.3]), bandwidth=4.0)
    >>> J, target = wrist.demand(0.0, plant.terms(plants.catalogue["two-arms"].initial(plant)[0], [0.0] * 6))
    >>> J, target.round(3)
    (array([[0., 0., 1., 0., 0., 0.]]), array([8.864]))
    """

    def __init__(
        self,
        task: Task,
        reference: Callable[[float], Desired],
        bandwidth: ArrayLike,
        damping_ratio: ArrayLike = 1.0,
        weight: ArrayLike = 1.0,
        while_held: str | Sequence[str] = (),
        while_open: str | Sequence[str] = (),
    ) -> None:
        require_task(task)
        self.task, self.reference = task, reference
        require_reference(reference, task.names)
        k = len(task.names)
        self.bandwidth = _check.each(bandwidth, k, "bandwidth")
        self.damping = 2.0 * self.bandwidth * _check.each(damping_ratio, k, "damping_ratio")
        self.weight = _check.each(weight, k, "weight")
        self.while_held, self.while_open = (
            _check.names((given,) if isinstance(given, str) else given, what)
            for given, what in ((while_held, "while_held"), (while_open, "while_open"))
        )

    def demand(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """Jacobian J (k, nv) of the task, and the target (k,) of J a."""
        now = motion_of(self.task, at_time(self.reference, t), terms)
        return now.J, now.free - now.bias + self.damping * now.rate + self.bandwidth**2 * now.e


class PostureTask(Tracking):
    """Motion that is wanted where a task leaves it free: some coordinates, or a second task, follow a reference.

    A law fulfils it as well as it can without touching its own task: e'' + G_D e' + G_P e = 0 holds where the motion
    left free is enough for it, else as nearly as possible in the metric of M. Where the own task takes all but a tenth
    of the mobility of a direction, the posture is given up there, smoothly.

    Parameters
    ----------
    plant : Plant
    reference : callable
        t -> (position, velocity, acceleration) of the coordinates.
    bandwidth : float or array_like
        Natural frequency of the error, rad/s.
    damping_ratio : float or array_like
    coordinates : sequence of str or Task, optional
        Coordinates, or second task, that follow the reference; defaults to all coordinates of the plant.
    rest : float, optional
        Damping of the motion that is free even then, 1/s; defaults to the smallest of the posture.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.two_arms()
    >>> posture = PostureTask(plant, Constant([0.3]), bandwidth=4.0, coordinates=["left_wrist"])
    >>> J, target = posture.demand(0.0, plant.terms(plants.catalogue["two-arms"].initial(plant)[0], [0.0] * 6))
    >>> J, target.round(3)
    (array([[0., 0., 1., 0., 0., 0.]]), array([8.864]))
    """

    def __init__(
        self,
        plant: Plant,
        reference: Callable[[float], Desired],
        bandwidth: ArrayLike,
        damping_ratio: ArrayLike = 1.0,
        coordinates: str | Sequence[str] | Task | None = None,
        rest: float | None = None,
    ) -> None:
        _check.plant(plant)
        task = as_task(plant, plant.velocity_names if coordinates is None else coordinates)
        super().__init__(task, reference, bandwidth, damping_ratio)
        self.rest = float(self.damping.min()) if rest is None else _check.positive(rest, "rest", zero=True)


def motion_of(task: Task, desired: Desired, terms: Terms) -> TaskMotion:
    """Motion of a task, as `Task.motion`, also of an object that has only the other members."""
    motion = getattr(task, "motion", None)
    return Task.motion(task, desired, terms) if motion is None else motion(desired, terms)


def as_task(plant: Plant, given: str | Sequence[str] | Task) -> Task:
    """Task from a task, or from names of coordinates; refuses one of a plant with other coordinates or motors."""
    if isinstance(given, Iterable) and not hasattr(given, "jacobian"):
        return Coordinates(plant, given)
    require_task(given)
    made_for = getattr(given, "plant", plant)
    if made_for is not plant:
        require_same_signals(made_for, plant)
    return given


def require_task(task: object) -> None:
    """Refuse an object that is no task."""
    missing = [m for m in ("names", "units", "value", "jacobian", "bias", "error") if not hasattr(task, m)]
    if missing:
        raise InputTypeError(
            f"{task!r} is neither names of coordinates nor a task: it has no {', '.join(missing)}. "
            "See Coordinates, PointTask, PoseTask and FunctionTask."
        )


def _bend(function: Callable[[float], Array], step: float) -> Array:
    """Second derivative of a function of one number at zero, by central differences of order 8."""
    weights = ((1, 1.6), (2, -0.2), (3, 8.0 / 315.0), (4, -1.0 / 560.0))
    centre = function(0.0)
    return sum(w / step**2 * (function(k * step) + function(-k * step) - 2.0 * centre) for k, w in weights)


def value_names(given: Sequence[str] | None, default: Sequence[str], plant: Plant) -> tuple[str, ...]:
    """Names of the values of a task, given or default, checked: as many as needed, none of them of a coordinate."""
    names = tuple(default)
    if given is not None:
        names = _check.sequence((given,) if isinstance(given, str) else given, "names", "names")
    if len(names) != len(default) or len(set(names)) < len(names):
        raise InputError(f"names must be {len(default)} different ones, got {names}")
    for name in names:
        _check.name(name, "task value")
        if name in plant.velocity_names:
            raise InputError(f"{plant.name!r} has a coordinate {name!r}; give the task other names=[...]")
    return names

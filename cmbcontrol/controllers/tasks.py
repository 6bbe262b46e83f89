"""What a motion law controls: coordinates, points and frames of bodies, or any function theta(q) (Aghili, eq. 40).

A task is any object with

``names``, ``units``
    One for each of its k values.
``value(terms) -> (k,)``, ``jacobian(terms) -> (k, nv)``, ``bias(terms) -> (k,)``
    theta, the J with rate J v, and J' v, so that the task accelerates by J a + J' v. On rotations the value is a
    rotation vector and J v the angular velocity, which is not its rate.
``error(desired, terms) -> (k,)``
    What is missing to a desired value.

`motion` is optional; the tasks here have it, as theirs is exact on rotations as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics import differences
from ..errors import AssemblyError
from ..kernels import frames
from ..model.elements import GROUND, Frame
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from .controller import require_same_signals
from .references import require_reference
from .rotations import left_jacobian, left_jacobian_rate, rotation_matrix, rotation_vector

__all__ = ["Coordinates", "FunctionTask", "PointTask", "PoseTask", "Posture", "Task", "TaskMotion", "TaskStack"]

Array = NDArray[np.float64]
Desired = tuple[Array, Array, Array]


class TaskMotion(NamedTuple):
    """The error of a task and how it moves: e'' = free - (J a + bias) under the acceleration a of the coordinates.

    Attributes
    ----------
    e, rate : ndarray, shape (k,)
        Error and its rate.
    J : ndarray, shape (k, nv)
    bias : ndarray, shape (k,)
    free : ndarray, shape (k,)
        e'' where the task itself does not accelerate.
    """

    e: Array
    rate: Array
    J: Array
    bias: Array
    free: Array


class Task(ABC):
    """Base of the tasks here: k values theta(q) with rate J v and acceleration J a + bias.

    Attributes
    ----------
    plant : Plant
        What the task is computed with.
    names, units : tuple of str
    """

    plant: Plant
    names: tuple[str, ...]
    units: tuple[str, ...]

    @abstractmethod
    def value(self, terms: Terms) -> Array:
        """theta (k,)."""

    @abstractmethod
    def jacobian(self, terms: Terms) -> Array:
        """J (k, nv)."""

    @abstractmethod
    def bias(self, terms: Terms) -> Array:
        """J' v (k,)."""

    def error(self, desired: ArrayLike, terms: Terms) -> Array:
        """e (k,), desired less actual value."""
        desired = _check.vector(desired, len(self.names), "desired", self.names)
        return desired - self.value(_check.instance(terms, Terms, "terms", "from plant.terms(q, v)"))

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        """The error from desired value, rate and acceleration, (k,) each, and its equation of motion."""
        position, velocity, acceleration = desired
        J = self.jacobian(terms)
        return TaskMotion(self.error(position, terms), velocity - J @ terms.v, J, self.bias(terms), acceleration)

    def __len__(self) -> int:
        return len(self.names)


class Coordinates(Task):
    """Coordinates of a plant by name: theta = R q.

    Parameters
    ----------
    plant : Plant
    names : str or sequence of str
        Velocity coordinates with a position of their own: one-axis joints, or those of a plant of functions.

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
        known = plant.velocity_names
        self.names = _check.names((names,) if isinstance(names, str) else names, "coordinates", known, "coordinate")
        shared = [n for n in self.names if n not in plant.position_names]
        if shared:
            raise ValueError(f"coordinate {shared[0]!r} has no position of its own; control a one-axis joint instead")
        self._v = np.array([known.index(n) for n in self.names], dtype=np.int64)
        self._q = np.array([plant.position_names.index(n) for n in self.names], dtype=np.int64)
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


class PoseTask(Task):
    """The pose of a frame on a body, as seen from a frame on the ground or on another body.

    Values are x, y, z, the origin of the frame in the axes of the other one (m), and rx, ry, rz, the rotation vector
    from the other frame to it (rad), in the axes of either. J v is the velocity of the origin and the angular velocity,
    both as seen from the other frame and in its axes.

    Parameters
    ----------
    plant : Mechanism
    body : str
    frame : Frame, optional
        On the body; its own unless given.
    relative_to : str
        Body that the other frame is on, ``"ground"`` unless given.
    other_frame : Frame, optional
    axes : sequence of str
        Of ``"x"``, ``"y"``, ``"z"``, ``"rx"``, ``"ry"``, ``"rz"``, in any number and order; all unless given.
    names : sequence of str, optional
        Of the values; ``<body>_<axis>`` unless given.

    Raises
    ------
    ValueError
        For unknown bodies and axes, or a body that no joint moves against the other one.

    Notes
    -----
    The desired pose is given by the same numbers, p_d and a rotation vector phi_d, with their rates; `value_of` finds
    them from a `Frame`. phi_d may be of any length, so that references can turn on and on. The error is e = p_d - p,
    and on rotations the rotation vector e of what is missing, exp(e) = exp(phi_d) R', in the axes of the other frame.
    It is unique up to half a turn, wherever the frame points. With the left Jacobian J_l of the exponential,
    omega_d = J_l(phi_d) phi_d' and E = exp(e),

        e' = J_l^-1(e) (omega_d - E omega),
        e'' = J_l^-1(e) (omega_d' - (omega_d - E omega) x E omega - E omega' - J_l'(e) e').

    These are solved for omega', so that e'' + G_D e' + G_P e = 0 holds exactly for the numbers e, on rotations too,
    and not only where they are small. Where just some of rx, ry, rz are chosen, it holds for these components of e,
    with zeros for the others of phi_d.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.stewart()
    >>> task = PoseTask(plant, "platform")
    >>> at_home = plant.terms(plants.catalogue["stewart"].initial(plant)[0], [0.0] * 21)
    >>> task.names[2], task.value(at_home)[2].round(4)
    ('platform_z', np.float64(0.9899))
    """

    AXES = ("x", "y", "z", "rx", "ry", "rz")

    def __init__(
        self,
        plant: Mechanism,
        body: str,
        frame: Frame | None = None,
        relative_to: str = GROUND,
        other_frame: Frame | None = None,
        axes: Sequence[str] = AXES,
        names: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(plant, Mechanism):
            raise TypeError(
                f"{type(self).__name__} needs a plant with bodies, a Mechanism, and {getattr(plant, 'name', plant)!r} "
                "has none; give theta(q) with FunctionTask"
            )
        self.plant, self.body, self.relative_to = plant, body, relative_to
        self.axes = _check.sequence(tuple(axes) if isinstance(axes, str) else axes, "axes", "names")
        for axis in self.axes:
            _check.one_of(axis, self.AXES, f"axis of a {type(self).__name__}", "axes")
        if not self.axes or len(set(self.axes)) < len(self.axes):
            raise ValueError(f"give one axis or more of {', '.join(self.AXES)}, all different, got {self.axes}")
        self._rows = np.array([self.AXES.index(axis) for axis in self.axes], dtype=np.int64)
        self._turns = bool((self._rows >= 3).any())
        self.names = _names(names, [f"{body}_{axis}" for axis in self.axes], plant)
        self.units = tuple("m" if row < 3 else "rad" for row in self._rows)
        _check.one_of(relative_to, (GROUND, *(b.name for b in plant.bodies)), "body", "relative_to")
        self._here, self._there = _OnLink.of(plant, body, frame), _OnLink.of(plant, relative_to, other_frame)
        side = _path(plant, self._here.link).astype(float) - _path(plant, self._there.link)
        if not side.any():
            raise ValueError(f"no joint moves {body!r} against {relative_to!r}; name another body")
        self._side = side

    def value_of(self, frame: Frame) -> Array:
        """The values (k,) of a frame that is given in the other frame, such as a goal."""
        return np.concatenate([frame.p, rotation_vector(frame.R)])[self._rows]

    def value(self, terms: Terms) -> Array:
        R, p = self.plant.link_poses(terms.q)
        (R, p), (Ro, po) = frames.frame_pose(R, p, *self._here), frames.frame_pose(R, p, *self._there)
        turned = rotation_vector(Ro.T @ R) if self._turns else np.zeros(3)
        return np.concatenate([Ro.T @ (p - po), turned])[self._rows]

    def jacobian(self, terms: Terms) -> Array:
        return np.ascontiguousarray(self._kinematics(terms).J[self._rows])

    def bias(self, terms: Terms) -> Array:
        return self._kinematics(terms).bias[self._rows]

    def error(self, desired: ArrayLike | Frame, terms: Terms) -> Array:
        """e (k,); the desired pose may be a `Frame`, given in the other one."""
        now = self._kinematics(_check.instance(terms, Terms, "terms", "from plant.terms(q, v)"))
        wanted = self._whole(self.value_of(desired) if isinstance(desired, Frame) else desired)
        turn = rotation_vector(rotation_matrix(wanted[3:]) @ now.R.T) if self._turns else np.zeros(3)
        return np.concatenate([wanted[:3] - now.p, turn])[self._rows]

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        now = self._kinematics(terms)
        position, velocity, acceleration = (self._whole(x) for x in desired)
        rate = now.J @ terms.v
        rows = self._rows
        shift = TaskMotion(position[:3] - now.p, velocity[:3] - rate[:3], now.J[:3], now.bias[:3], acceleration[:3])
        if not self._turns:
            return TaskMotion(*(x[rows] for x in shift))
        turn = tuple(x[3:] for x in (position, velocity, acceleration))
        parts = shift, _turning(turn, now.R, rate[3:], now.J[3:], now.bias[3:])
        return TaskMotion(*(np.concatenate(x)[rows] for x in zip(*parts, strict=True)))

    def _whole(self, values: ArrayLike) -> Array:
        """All six values, zero where they are not asked for."""
        out = np.zeros(6)
        out[self._rows] = _check.vector(values, self._rows.size, "desired", self.names)
        return out

    def _kinematics(self, terms: Terms) -> _Kinematics:
        """Relative pose, all six rows of J, and bias, in the axes of the other frame."""
        R, p = self.plant.link_poses(terms.q)
        links = self.plant.model.links
        return _Kinematics(*frames.frame_motion(links, R, p, terms.v, self._side, *self._here, *self._there))


class PointTask(PoseTask):
    """The position of a point of a body, such as a tool, in the axes of the ground or of another body.

    Parameters
    ----------
    plant : Mechanism
    body : str
    point : array_like, shape (3,)
        In the axes of the body, m.
    axes : str
        Of x, y and z, such as ``"xy"`` in a plane.
    relative_to : str
        ``"ground"``, or a body: its origin and its axes.
    names : sequence of str, optional
        Of the values; ``<body>_<axis>`` unless given.

    Raises
    ------
    ValueError
        As in `PoseTask`.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> tip = PointTask(plant, "left_upper", point=(1.5, 0.0, 0.0), axes="xy")
    >>> tip.names, tip.value(plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)).round(4)
    (('left_upper_x', 'left_upper_y'), array([0.5294, 1.9496]))
    """

    AXES = ("x", "y", "z")

    def __init__(
        self,
        plant: Mechanism,
        body: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        axes: str | Sequence[str] = "xyz",
        relative_to: str = GROUND,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(plant, body, Frame(_check.vector(point, 3, "point")), relative_to, None, axes, names)


class FunctionTask(Task):
    """Any function theta(q) of the positions.

    Parameters
    ----------
    plant : Plant
    theta : callable, q (nq,) -> (k,)
        Twice differentiable around the configurations of the machine, also where the loops are a little open. It is
        tried out at an assembled configuration.
    jacobian : callable, q -> (k, nv), optional
        With d(theta)/dt = J v. By differences of order 8 along the joints, unless given.
    bias : callable, (q, v) -> (k,), optional
        J' v, the second derivative of theta at constant v. By differences of order 8, unless given.
    names : sequence of str, optional
        ``theta1``, ... unless given.
    units : sequence of str, optional
        ``"m"``, ``"rad"`` or any other; none unless given.

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
                raise TypeError(f"{what} of a FunctionTask must be callable, got {function!r}")
        self.plant, self._theta, self._jacobian, self._bias = plant, theta, jacobian, bias
        self._length = plant.spans
        try:
            q = plant.assemble()
        except AssemblyError:
            q = plant.neutral()
        k = np.atleast_1d(_check.numbers(theta(q), "theta of a FunctionTask")).size
        self.names = _names(names, [f"theta{i + 1}" for i in range(k)], plant)
        given = ("",) * k if units is None else _check.sequence(units, "units", "units")
        self.units = tuple(_check.text(u, "units") for u in given)
        if len(self.units) != k:
            raise ValueError(f"units must be {k}, one a value of theta, got {self.units}")
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
        """d2 theta / dt2 at constant v: q [+] t v is such a motion."""
        if self._bias is not None:
            return _check.vector(self._bias(q, v), len(self), f"the bias of the task {self.names}")
        fastest = float(np.abs(v / self._length).max(initial=0.0))
        if fastest == 0.0:
            return np.zeros(len(self))
        if self._jacobian is not None:
            return differences.slope(lambda s: self._J(self.plant.integrate(q, s * v)) @ v, 1e-2 / fastest)
        return _bend(lambda s: self._value(self.plant.integrate(q, s * v)), 3e-2 / fastest)


class TaskStack(Task):
    """Several tasks as one, their values one after the other.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.three_rrr()
    >>> task = TaskStack(PointTask(plant, "platform", axes="xy"), Coordinates(plant, "drive1"))
    >>> task.names
    ('platform_x', 'platform_y', 'drive1')
    """

    def __init__(self, *tasks: Task) -> None:
        if not tasks:
            raise TypeError("give one task or more")
        for task in tasks:
            require_task(task)
            if task.plant is not tasks[0].plant:
                raise ValueError(f"the tasks are of different plants, {tasks[0].plant.name!r} and {task.plant.name!r}")
        self.tasks, self.plant = tasks, tasks[0].plant
        self.names = tuple(n for task in tasks for n in task.names)
        self.units = tuple(u for task in tasks for u in task.units)
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"the values {self.names} are not all called differently; give a task names=[...]")
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
        found = [motion_of(task, part, terms) for task, part in zip(self.tasks, parts, strict=True)]
        return TaskMotion(*(np.concatenate(x) for x in zip(*found, strict=True)))


class Posture:
    """A wish for what a task leaves free: coordinates, or a second task, towards a reference, all else damped.

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
        All of the plant unless given.
    rest : float, optional
        Damping of the motion that is free even then, 1/s; the smallest of the posture unless given.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> plant = plants.two_arms()
    >>> wish = Posture(plant, Constant([0.3]), bandwidth=4.0, coordinates=["left_wrist"])
    >>> J, target = wish.demand(0.0, plant.terms(plants.catalogue["two-arms"].initial(plant)[0], [0.0] * 6))
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
        self.task = as_task(plant, plant.velocity_names if coordinates is None else coordinates)
        self.reference = reference
        require_reference(reference, self.task.names)
        k = len(self.task.names)
        self.bandwidth = _check.each(bandwidth, k, "bandwidth")
        self.damping = 2.0 * self.bandwidth * _check.each(damping_ratio, k, "damping_ratio")
        self.rest = float(self.damping.min()) if rest is None else _check.positive(rest, "rest", zero=True)

    def demand(self, t: float, terms: Terms) -> tuple[Array, Array]:
        """J (k, nv) and what J a should be (k,)."""
        now = motion_of(self.task, self.reference(t), terms)
        return now.J, now.free - now.bias + self.damping * now.rate + self.bandwidth**2 * now.e


def motion_of(task: Task, desired: Desired, terms: Terms) -> TaskMotion:
    """`Task.motion`, also of an object that has the other members only."""
    motion = getattr(task, "motion", None)
    return Task.motion(task, desired, terms) if motion is None else motion(desired, terms)


def as_task(plant: Plant, given: str | Sequence[str] | Task) -> Task:
    """The task itself, or coordinates by their names; refuses a task of a plant with other coordinates or motors."""
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
        raise TypeError(
            f"{task!r} is neither names of coordinates nor a task: it has no {', '.join(missing)}. "
            "See Coordinates, PointTask, PoseTask and FunctionTask."
        )


def _bend(function: Callable[[float], Array], step: float) -> Array:
    """Second derivative of a function of one number at zero, by central differences of order 8."""
    weights = ((1, 1.6), (2, -0.2), (3, 8.0 / 315.0), (4, -1.0 / 560.0))
    here = function(0.0)
    return sum(w / step**2 * (function(k * step) + function(-k * step) - 2.0 * here) for k, w in weights)


# -- rotations --------------------------------------------------------------------------------------


def _turning(desired: Desired, R: Array, omega: Array, J: Array, bias: Array) -> TaskMotion:
    """The rotation vector of what a rotation R, with angular velocity and its J and bias, lacks; see `PoseTask`."""
    phi, rate, acceleration = desired
    left = left_jacobian(phi)
    omega_d = left @ rate
    alpha_d = left @ acceleration + left_jacobian_rate(phi, rate) @ rate
    E = rotation_matrix(phi) @ R.T
    e = rotation_vector(E)
    K, carried = np.linalg.inv(left_jacobian(e)), E @ omega
    missing = omega_d - carried
    e_rate = K @ missing
    free = K @ (alpha_d - _cross(missing, carried) - left_jacobian_rate(e, e_rate) @ e_rate)
    return TaskMotion(e, e_rate, K @ E @ J, K @ (E @ bias), free)


# -- frames on links --------------------------------------------------------------------------------


class _Kinematics(NamedTuple):
    """Of one frame as seen from another, in the axes of that."""

    p: Array
    R: Array
    J: Array  # (6, nv): velocity of the origin, angular velocity
    bias: Array


class _OnLink(NamedTuple):
    """A frame that a kernel link carries; link -1 is the ground."""

    link: int
    R: Array
    p: Array

    @classmethod
    def of(cls, plant: Mechanism, body: str, frame: Frame | None) -> _OnLink:
        """A frame given on a body."""
        if frame is not None and not isinstance(frame, Frame):
            raise TypeError(f"the frame on {body!r} (frame=, other_frame=) must be a Frame, got {frame!r}")
        q, link = plant.neutral(), plant.link_index(body)
        here = plant.pose(q, body) @ (frame or Frame())
        if link < 0:
            return cls(link, _check.plain(here.R), _check.plain(here.p))
        R, p = plant.link_poses(q)
        return cls(link, R[link].T @ here.R, R[link].T @ (here.p - p[link]))


def _path(plant: Mechanism, link: int) -> NDArray[np.bool_]:
    """Mask (nv,) of the coordinates that move a link."""
    links, mask = plant.model.links, np.zeros(plant.nv, dtype=bool)
    while link >= 0:
        mask[links[link]["iv"] : links[link]["iv"] + links[link]["nv"]] = True
        link = int(links[link]["parent"])
    return mask


def _cross(a: Array, b: Array) -> Array:
    """a x b; numpy's own takes ten times as long."""
    x, y, z = a
    u, v, w = b
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def _names(given: Sequence[str] | None, default: Sequence[str], plant: Plant) -> tuple[str, ...]:
    """Names of values: checked, as many as needed, none of them that of a coordinate."""
    names = tuple(default)
    if given is not None:
        names = _check.sequence((given,) if isinstance(given, str) else given, "names", "names")
    if len(names) != len(default) or len(set(names)) < len(names):
        raise ValueError(f"names must be {len(default)} different ones, got {names}")
    for name in names:
        _check.name(name, "task value")
        if name in plant.velocity_names:
            raise ValueError(f"{plant.name!r} has a coordinate {name!r}; give the task other names=[...]")
    return names

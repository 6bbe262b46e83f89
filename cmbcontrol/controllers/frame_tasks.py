"""Tasks on frames and points of bodies: their poses as seen from the ground or from another body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..kernels import frames
from ..model.elements import GROUND, Frame
from ..model.mechanism import Mechanism
from ..model.terms import Terms
from ..trace.symbols import Symbols
from .rotations import left_jacobian, left_jacobian_rate, rotation_matrix, rotation_vector
from .tasks import Desired, Task, TaskMotion, value_names

__all__ = ["PointTask", "PoseTask"]

Array = NDArray[np.float64]


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
        Frame on the body; defaults to its own.
    relative_to : str
        Body that the other frame is on; defaults to ``"ground"``.
    other_frame : Frame, optional
    axes : sequence of str
        Values of ``"x"``, ``"y"``, ``"z"``, ``"rx"``, ``"ry"``, ``"rz"``, in any number and order; defaults to all.
    names : sequence of str, optional
        Names of the values; defaults to ``<body>_<axis>``.

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
            raise InputTypeError(
                f"{type(self).__name__} needs a plant with bodies, a Mechanism, and {getattr(plant, 'name', plant)!r} "
                "has none; give theta(q) with FunctionTask"
            )
        self.plant, self.body, self.relative_to = plant, body, relative_to
        self.axes = _check.sequence(tuple(axes) if isinstance(axes, str) else axes, "axes", "names")
        for axis in self.axes:
            _check.one_of(axis, self.AXES, f"axis of a {type(self).__name__}", "axes")
        if not self.axes or len(set(self.axes)) < len(self.axes):
            raise InputError(f"give one axis or more of {', '.join(self.AXES)}, all different, got {self.axes}")
        self._rows = np.array([self.AXES.index(axis) for axis in self.axes], dtype=np.int64)
        self._turns = bool((self._rows >= 3).any())
        self.names = value_names(names, [f"{body}_{axis}" for axis in self.axes], plant)
        self.units = tuple("m" if row < 3 else "rad" for row in self._rows)
        _check.one_of(relative_to, (GROUND, *(b.name for b in plant.bodies)), "body", "relative_to")
        self._body_frame, self._reference_frame = (
            _OnLink.of(plant, body, frame),
            _OnLink.of(plant, relative_to, other_frame),
        )
        if body == relative_to:
            raise InputError(f"relative_to is {body!r}, the body itself; name another body")
        side = plant.path_mask(self._body_frame.link).astype(float) - plant.path_mask(self._reference_frame.link)
        if not side.any():
            raise InputError(f"no joint moves {body!r} against {relative_to!r}; name another body")
        self._side = side

    def still_axes(self) -> tuple[str, ...]:
        """Axes of the task in which no joint moves the body, such as z, rx and ry of a machine in the x-y plane."""
        plant, rng = self.plant, np.random.default_rng(0)
        metres = np.where(self._rows < 3, 1.0, plant.size)
        largest = np.zeros(len(self.axes))
        for _ in range(3):  # generic configurations, of the tree: a row that is zero at one may not be at others
            q = plant.integrate(plant.neutral(), plant.displacement_scale * rng.uniform(-1.0, 1.0, plant.nv))
            J = metres[:, None] * self.jacobian(plant.terms(q, np.zeros(plant.nv), check=False)) / plant.unit_lengths
            largest = np.maximum(largest, np.abs(J).max(axis=1))
        return tuple(axis for axis, x in zip(self.axes, largest, strict=True) if x < 1e-12)

    def value_of(self, frame: Frame) -> Array:
        """Values (k,) of the task for a frame that is given in the other frame, such as a goal."""
        return np.concatenate([frame.p, rotation_vector(frame.R)])[self._rows]

    def value(self, terms: Terms) -> Array:
        R, p = self.plant.link_poses(terms.q)
        (R, p), (Ro, po) = frames.frame_pose(R, p, *self._body_frame), frames.frame_pose(R, p, *self._reference_frame)
        turned = rotation_vector(Ro.T @ R) if self._turns else np.zeros(3)
        return np.concatenate([Ro.T @ (p - po), turned])[self._rows]

    def jacobian(self, terms: Terms) -> Array:
        return np.ascontiguousarray(self._kinematics(terms).J[self._rows])

    def bias(self, terms: Terms) -> Array:
        return self._kinematics(terms).bias[self._rows]

    def error(self, desired: ArrayLike | Frame, terms: Terms) -> Array:
        """Error e (k,) to a desired pose, which may be a `Frame` that is given in the other one."""
        now = self._kinematics(_check.instance(terms, Terms, "terms", "from plant.terms(q, v)"))
        goal = self._whole(self.value_of(desired) if isinstance(desired, Frame) else desired)
        turn = rotation_vector(rotation_matrix(goal[3:]) @ now.R.T) if self._turns else np.zeros(3)
        return np.concatenate([goal[:3] - now.p, turn])[self._rows]

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
        """All six values of a pose, zero where the task has none."""
        if isinstance(values, Symbols):
            out = Symbols(np.zeros(6))
        else:
            out, values = np.zeros(6), _check.vector(values, self._rows.size, "desired", self.names)
        out[self._rows] = values
        return out

    def _kinematics(self, terms: Terms) -> _Kinematics:
        """Motion of the frame as seen from the other one: pose, all six rows of J, and bias, in axes of the other."""
        ends = self._side, self._body_frame, self._reference_frame
        return _Kinematics(*self.plant.frame_motion(terms.q, terms.v, *ends))


class PointTask(PoseTask):
    """The position of a point of a body, such as a tool, in the axes of the ground or of another body.

    Parameters
    ----------
    plant : Mechanism
    body : str
    point : array_like, shape (3,)
        Position of the point in the axes of the body, m.
    axes : str
        Axes, of x, y and z, such as ``"xy"`` in a plane.
    relative_to : str
        ``"ground"``, or a body, in whose axes and from whose origin the position is measured.
    names : sequence of str, optional
        Names of the values; defaults to ``<body>_<axis>``.

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
        super().__init__(plant, body, Frame(_check.point(point, "point")), relative_to, None, axes, names)


# -- rotations --------------------------------------------------------------------------------------


def _turning(desired: Desired, R: Array, omega: Array, J: Array, bias: Array) -> TaskMotion:
    """Error in rotation, as a rotation vector with its motion, of R with its omega, J and bias; see `PoseTask`."""
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


def _cross(a: Array, b: Array) -> Array:
    """Cross product a x b; numpy's own takes ten times as long."""
    x, y, z = a
    u, v, w = b
    product = [y * w - z * v, z * u - x * w, x * v - y * u]
    return Symbols(product) if isinstance(a, Symbols) else np.array(product)


# -- frames on links --------------------------------------------------------------------------------


class _Kinematics(NamedTuple):
    """Motion of one frame as seen from another, in the axes of the other."""

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
        """Frame on a kernel link, from a frame that is given on a body."""
        if frame is not None and not isinstance(frame, Frame):
            raise InputTypeError(f"the frame on {body!r} (frame=, other_frame=) must be a Frame, got {frame!r}")
        q, link = plant.neutral(), plant.link_index(body)
        pose = plant.pose(q, body) @ (frame or Frame())
        if link < 0:
            return cls(link, _check.plain(pose.R), _check.plain(pose.p))
        R, p = plant.link_poses(q)
        return cls(link, R[link].T @ pose.R, R[link].T @ (pose.p - p[link]))

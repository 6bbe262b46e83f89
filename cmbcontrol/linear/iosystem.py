"""Plant as a native nonlinear system of python-control, in independent coordinates.

The class in it derives from one of python-control, which takes 1.1 s to import. So nothing imports this module until
``plant.to_iosystem`` is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import control
import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.derivatives import derivatives
from ..dynamics.forces import ConstraintForce, constraint_force
from ..errors import InputError
from ..kernels.layout import SPHERICAL
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.units import cut_joints
from .branch import follow
from .chart import Chart
from .kinematics import LinkMotion, frame_jacobian, motion
from .linearize import affine_approximation
from .local_form import LocalForm, LocalPoint
from .model import LinearModel
from .operating import OperatingPoint
from .parametrization import (
    CoordinatePartitioning,
    LinearParametrization,
    NonlinearParametrization,
)
from .right_jacobian import group_joints, inverse_right_jacobian
from .signals import FrameMotion, LinearizedEquations, named_frame

__all__ = ["PlantSystem", "output_values", "to_iosystem"]

Array = NDArray[np.float64]


def _chart(plant: Plant, q0: Array, names: tuple[str, ...], coordinates: Any) -> Chart:
    """Chart of independent coordinates: some of the machine's, angles or travels of cut joints, or combinations R."""
    if coordinates is not None and not _are_names(coordinates):
        return LinearParametrization(coordinates, names).at(plant, q0)
    if not any(name in cut_joints(plant) for name in names):
        return CoordinatePartitioning(names).at(plant, q0)
    signals = [_coordinate(plant, q0, name) for name in names]
    cut = cut_joints(plant)
    turns = np.array([name in cut and cut[name].position_units == ("rad",) for name in names])
    rest, off = np.zeros(plant.nv), np.zeros(plant.nu)

    def residual(q: Array, y: Array) -> Array:
        state = _OutputState(plant, q, rest, off, q0)
        error = np.concatenate([signal.value(state) for signal in signals]) - y
        return error - np.where(turns, 2.0 * np.pi * np.round(error / (2.0 * np.pi)), 0.0)  # any number of turns

    def gradient(q: Array, y: Array) -> Array:
        state = _OutputState(plant, q, rest, off, q0)
        return np.concatenate([_coordinate_gradient(state, name) for name in names])

    return NonlinearParametrization(residual, gradient, lambda q, y: -np.eye(y.size), names=names).at(plant, q0)


def _are_names(given: Any) -> bool:
    return isinstance(given, str) or all(isinstance(name, str) for name in given)


# -- output signals -------------------------------------------------------------------------------------


class _OutputState:
    """State of the machine, with what outputs are computed from.

    Attributes
    ----------
    q, v, u : ndarray
    q0 : ndarray
        Configuration from which deviations are measured.
    x : ndarray
        State of the system.
    """

    def __init__(self, plant: Plant, q: Array, v: Array, u: Array, q0: Array, x: Array | None = None) -> None:
        self.plant, self.q, self.v, self.u, self.q0, self.x = plant, q, v, u, q0, x

    @cached_property
    def delta(self) -> Array:
        """Displacement q [-] q0."""
        return self.plant.difference(self.q0, self.q)

    @cached_property
    def inverse_jacobian(self) -> Array:
        """Matrix by which eps of q [+] eps changes delta."""
        return inverse_right_jacobian(group_joints(self.plant), self.delta)

    @cached_property
    def motion(self) -> LinkMotion:
        """Twists of the links."""
        return motion(self.plant, self.q, self.v, np.zeros(self.plant.nv))

    @cached_property
    def constraint(self) -> ConstraintForce:
        """Constraint force and multipliers."""
        return constraint_force(self.plant, self.q, self.v, self.u)


class _Signal(NamedTuple):
    """Values of one item of the outputs, and the correction of its gradient.

    Attributes
    ----------
    value : callable, _OutputState -> ndarray, shape (k,)
    correction : callable, (_OutputState, rows, eps) -> rows, or None
        Makes rows (k, 2 dof) of the signals' gradients out of those of their rates; eps (nv, 2 dof) moves q.
    """

    value: Callable[[_OutputState], Array]
    correction: Callable[[_OutputState, Array, Array], Array] | None = None


def _signal(plant: Plant, states: Sequence[str], q0: Array, item: str | FrameMotion, names: Sequence[str]) -> _Signal:
    """Signals of one item of the outputs, named `names`; `LinearizedEquations.outputs` has checked it."""
    frame = item if isinstance(item, FrameMotion) else named_frame(plant, item)
    if frame is not None:
        return _frame(plant, q0, frame)
    if item in states:
        row = np.eye(len(states))[[states.index(item)]]
        return _Signal(lambda state: row @ state.x, lambda state, rows, eps: row)
    coordinate = item.removesuffix("_rate")
    if item in plant.velocity_names or item in cut_joints(plant):
        return _coordinate(plant, q0, item)
    if coordinate in plant.velocity_names:
        k = plant.index(coordinate)
        return _Signal(lambda state: state.v[[k]])
    if coordinate in cut_joints(plant):
        joint = cut_joints(plant)[coordinate]
        return _Signal(lambda state: state.motion.joint_rows(joint)[0][None] @ state.v)
    if names[0] in plant.row_names:
        rows = [plant.row_names.index(n) for n in names]
        return _Signal(lambda state: state.constraint.multipliers[rows])
    if names[0].endswith("_constraint_force"):
        axes = [plant.index(n.removesuffix("_constraint_force")) for n in names]
        return _Signal(lambda state: state.constraint.force[axes])
    motor = plant.actuator_names.index(item.removesuffix("_effort"))
    return _Signal(lambda state: state.u[[motor]])


def output_values(
    plant: Plant, q0: Array, item: str | FrameMotion, names: Sequence[str]
) -> Callable[[Array, Array, Array], Array]:
    """Function (q, v, u) -> values (k,) of one item of the outputs, named `names`, as they deviate from q0."""
    signal = _signal(plant, (), q0, item, names)
    return lambda q, v, u: signal.value(_OutputState(plant, q, v, u, q0))


def _coordinate(plant: Plant, q0: Array, name: str) -> _Signal:
    """Displacement along a velocity coordinate, or in a cut joint (angles up to half a turn)."""
    joint = cut_joints(plant).get(name)
    if name in plant.velocity_names or joint is None:
        k = plant.index(name)
        return _Signal(lambda state: state.delta[[k]], lambda state, rows, eps: state.inverse_jacobian[[k]] @ eps)
    start = _joint_value(plant, q0, joint)

    def value(state: _OutputState) -> Array:
        displacement = _joint_value(plant, state.q, joint) - start
        turns = np.round(displacement / (2.0 * np.pi)) if joint.position_units == ("rad",) else 0.0
        return np.array([displacement - 2.0 * np.pi * turns])

    return _Signal(value)


def _coordinate_gradient(state: _OutputState, name: str) -> Array:
    """Gradient (1, nv) of a coordinate at q [+] eps by eps."""
    if name in state.plant.velocity_names:
        return state.inverse_jacobian[[state.plant.index(name)]]
    return state.motion.joint_rows(cut_joints(state.plant)[name])[0][None]


def _joint_value(plant: Mechanism, q: Array, joint: Any) -> float:
    """Angle (rad, up to whole turns) or travel (m) of a cut joint."""
    a, b = plant.pose(q, joint.parent) @ joint.frame, plant.pose(q, joint.child) @ joint.child_frame
    if joint.position_units == ("m",):
        return float(joint.axis @ a.R.T @ (b.p - a.p))
    R = a.R.T @ b.R
    sine = joint.axis @ [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    return float(np.arctan2(0.5 * sine, 0.5 * (np.trace(R) - 1.0)))


def _frame(plant: Mechanism, q0: Array, item: FrameMotion) -> _Signal:
    """Displacement and rotation vector of a frame from its start, and its velocities, in world axes."""
    start = plant.pose(q0, item.body) @ item.frame

    def rotation_vector(state: _OutputState) -> Array:
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix((plant.pose(state.q, item.body) @ item.frame).R @ start.R.T).as_rotvec()

    def value(state: _OutputState) -> Array:
        pose = plant.pose(state.q, item.body) @ item.frame
        parts = [pose.p - start.p, rotation_vector(state)] if item.positions else []
        if item.rates:
            twist = frame_jacobian(state.motion, item.body, item.frame)[0] @ state.v
            parts += [twist[3:], twist[:3]]
        return np.concatenate(parts)

    def correction(state: _OutputState, rows: Array, eps: Array) -> Array:
        rows = rows.copy()
        if item.positions:  # of a rotation vector r in world axes: dr = J_l^-1(r) dphi, J_l(r) = J_r(-r)
            rows[3:6] = inverse_right_jacobian(((SPHERICAL, slice(3)),), -rotation_vector(state)) @ rows[3:6]
        return rows

    return _Signal(value, correction)


# -- the system -------------------------------------------------------------------------------------------


class PlantSystem(control.NonlinearIOSystem):
    """Constrained plant as a nonlinear system of python-control, from ``plant.to_iosystem``.

    The states are deviations from the operating point: ``<coordinate>``, y = R (q [-] q0), and ``<coordinate>_rate``,
    R (v - v0). The loops are closed inside, on the branch through the operating point, so that a state is always a
    state of the machine. Nothing is kept between calls: the same x gives the same result.

    Attributes
    ----------
    plant : Plant
    point : OperatingPoint
    form : LocalForm
        The equations in independent coordinates.
    absolute : bool
        Whether inputs are motor efforts, rather than deviations from those of the operating point.
    state_units, input_units, output_units : tuple of str
    """

    def __init__(
        self, model: LinearModel, plant: Plant, chart: Chart, items: Sequence | None, absolute: bool, name: str
    ) -> None:
        loads = [name for name in model.inputs if name in getattr(plant, "load_names", ())]
        self.plant, self.point, self.absolute = plant, model.point, absolute
        self._moved = np.array([model.inputs.index(name) for name in loads], dtype=int)  # inputs that are loads
        self._entries = np.array([plant.load_names.index(name) for name in loads], dtype=int)
        self._loads0 = plant.load_values().ravel() if loads else np.zeros(0)
        self._driven = np.setdiff1d(np.arange(len(model.inputs)), self._moved)
        self.form = LocalForm(plant, chart=chart)
        if loads:
            self._take_numbers()
        self.state_units, self.input_units, self.output_units = model.state_units, model.input_units, model.output_units
        names = [model.inputs[k].removesuffix("_effort") for k in self._driven]
        self._motors = [plant.actuator_names.index(name) for name in names]
        self._rates0 = chart.rates(model.point.q, model.point.v)
        super().__init__(
            self._rate,
            None if items is None else self._outputs,
            name=name,
            states=list(model.states),
            # not the names of the motors alone: those are often the names of joints, and python-control connects
            # signals that have the same name
            inputs=list(model.inputs),
            outputs=list(model.outputs),
            dt=0,
        )
        self._items = () if items is None else tuple(items)
        linearized = (
            self._linearized_equations(self._output_state(np.zeros(self.nstates), None)) if self._items else None
        )
        self._signals = [
            _signal(plant, self.state_labels, self.point.q, item, [o.name for o in linearized.outputs([item])])
            for item in self._items
        ]
        self._start = np.zeros(self.noutputs)
        self._start = self._outputs(0.0, np.zeros(self.nstates), None, {})

    # -- states ---------------------------------------------------------------------------------------

    def to_plant(self, x: ArrayLike) -> tuple[Array, Array]:
        """Configuration and velocity of the machine at a state.

        Parameters
        ----------
        x : array_like, shape (2 dof,) or (2 dof, N)
            States in python-control's order: the signal first, time last.

        Returns
        -------
        q, v : ndarray, shape (nq,) and (nv,), or (nq, N) and (nv, N)

        Raises
        ------
        AssemblyError
            Where the branch through the operating point does not reach x.
        """
        x = _check.numbers(x, "the state x")
        if x.ndim == 2:
            columns = [self.to_plant(column) for column in x.T]
            return tuple(np.array(part).T for part in zip(*columns, strict=True))  # type: ignore[return-value]
        point = self._point(_check.vector(x, self.nstates, "x", self.state_labels))
        return point.chart_point.q, point.terms.v

    def from_plant(self, q: ArrayLike, v: ArrayLike | None = None) -> Array:
        """State x (2 dof,) of a configuration and a velocity (defaults to zero) on the branch."""
        v = np.zeros(self.plant.nv) if v is None else v
        return self.form.state(self.plant.configuration(q), v) - np.concatenate([self.form.chart.y0, self._rates0])

    def _take_numbers(self) -> None:
        """Give the machine arrays of its own for its loads, into which inputs are written."""
        self._records = self.plant.arrays.loads.copy()  # type: ignore[attr-defined]
        read = self._records.view()
        read.setflags(write=False)  # as kernels know it
        self.plant = self.plant.with_records(loads=read)  # type: ignore[attr-defined]
        self.form = LocalForm(self.plant, chart=self.form.chart)

    def _at_point(self) -> Array:
        """Values of the inputs at the operating point."""
        u = np.zeros(len(self._driven) + len(self._moved))
        if self.absolute:
            u[self._driven], u[self._moved] = self.point.u[self._motors], self._loads0[self._entries]
        return u

    def _efforts(self, u: Array | None) -> Array:
        """Set the loads by the inputs, and return all motor efforts (nu,); None stands for missing inputs."""
        full, loads = self.point.u.copy(), self._loads0.copy()
        if u is not None:
            u = np.asarray(u, dtype=np.float64)
            own, pushed = u[self._driven], u[self._moved]
            full[self._motors] = own if self.absolute else full[self._motors] + own
            loads[self._entries] = pushed if self.absolute else loads[self._entries] + pushed
        if loads.size:
            if self.plant.arrays.loads.base is not self._records:  # type: ignore[attr-defined]
                self._take_numbers()  # in a copy
            self._records["value"] = loads.reshape(-1, 6)
        return full

    def _point(self, x: Array) -> LocalPoint:
        """Configuration and equations of motion at a state."""
        n = len(self._rates0)
        chart_point = follow(self.form.chart, x[:n])
        v = chart_point.K @ (self._rates0 + x[n:])
        return LocalPoint(chart_point, self.plant.terms(chart_point.q, v, cap=self.form.chart.rank))

    def _output_state(self, x: Array, u: Array | None) -> _OutputState:
        """State in the form that outputs need."""
        efforts, point = self._efforts(u), self._point(x)
        return _OutputState(self.plant, point.chart_point.q, point.terms.v, efforts, self.point.q, x)

    # -- callbacks of python-control ----------------------------------------------------------------------

    def _rate(self, t: float, x: Array, u: Array | None, params: dict) -> Array:
        """Rate dx/dt."""
        efforts = self._efforts(u)
        return self.form.rate(self._point(x), efforts)

    def _outputs(self, t: float, x: Array, u: Array | None, params: dict) -> Array:
        """Outputs, as deviations from those at the operating point."""
        if not self._signals:
            return x
        state = self._output_state(x, u)
        return np.concatenate([signal.value(state) for signal in self._signals]) - self._start

    def linearize(
        self,
        x0: ArrayLike | control.OperatingPoint | OperatingPoint,
        u0: ArrayLike | None = None,
        t: float = 0.0,
        params: dict | None = None,
        copy_names: bool = False,
        *,
        eps: float | None = None,
        **keywords: Any,
    ) -> control.StateSpace:
        """Linear model at any state, by analytic derivatives; ``control.linearize`` calls it.

        Parameters
        ----------
        x0 : array_like, shape (2 dof,), or a number for all, or an operating point
            State; or an operating point of python-control, or one of this package with its efforts.
        u0 : array_like, shape (inputs,), or a number for all, optional
            Inputs; defaults to those of the operating point.
        t, params, eps
            Accepted for python-control, and not used: the plant is time-invariant, the derivatives are analytic.
        copy_names : bool
            Name the model after the system, with the prefix and the suffix of python-control.
        **keywords
            ``name``, ``inputs``, ``outputs``, ``states`` of the model, in place of the names above.

        Returns
        -------
        control.StateSpace
            In deviations from (x0, u0). Where dx/dt is not zero there, it is the tangent of the vector field.

        Raises
        ------
        TypeError
            For a keyword that python-control does not accept.
        """
        x, u = self._nominal(x0, u0)
        A, B, C, D = self._derivatives(x, u)
        labels = {"states": self.state_labels, "inputs": self.input_labels, "outputs": self.output_labels}
        if copy_names:
            defaults = control.config.defaults
            prefix, suffix = (defaults[f"iosys.linearized_system_name_{end}"] for end in ("prefix", "suffix"))
            labels["name"] = f"{prefix}{self.name}{suffix}"
        return control.ss(A, B, C, D, **{**labels, **keywords})

    def _nominal(self, x0: Any, u0: Any) -> tuple[Array, Array]:
        """State and inputs as vectors, from any form that `linearize` takes."""
        if isinstance(x0, control.OperatingPoint):
            if x0.states is None:
                raise InputError("the operating point is empty: find_operating_point has found none")
            x0, u0 = x0.states, x0.inputs if u0 is None else u0
        elif isinstance(x0, OperatingPoint):
            own = self._at_point()
            own[self._driven] = x0.u[self._motors] - (0.0 if self.absolute else self.point.u[self._motors])
            efforts = self._efforts(own)
            if not np.allclose(efforts, x0.u, rtol=1e-12, atol=0.0):
                raise InputError(f"the motors of {self.name!r} that are no inputs are held: {efforts}, not {x0.u}")
            x0, u0 = self.from_plant(x0.q, x0.v), own if u0 is None else u0
        u0 = self._at_point() if u0 is None else u0
        return _vector(x0, self.state_labels, "x0"), _vector(u0, self.input_labels, "u0")

    def _derivatives(self, x: Array, u: Array) -> tuple[Array, Array, Array, Array]:
        """Matrices A, B, C, D at a state."""
        efforts = self._efforts(u)
        point = self._point(x)
        A, of_motors = self.form.jacobian_at(point, efforts)
        B = np.zeros((len(A), len(u)))
        B[:, self._driven] = of_motors[:, self._motors]
        rate, size = self.form.rate(point, efforts), self.plant.force_scale or 1.0
        for k in self._moved:  # in which the rate is linear
            pushed = np.array(u, dtype=np.float64)
            pushed[k] += size
            self._efforts(pushed)
            B[:, k] = (self.form.rate(self._point(x), efforts) - rate) / size
        self._efforts(u)
        if not self._items:
            return A, B, np.eye(len(A)), np.zeros((len(A), len(u)))
        state = _OutputState(self.plant, point.chart_point.q, point.terms.v, efforts, self.point.q, x)
        eps, dv = np.split(self.form.derivative(point), 2)  # from the chart of the system to that of the outputs
        linearized = self._linearized_equations(state)
        z = np.vstack([linearized.rows.R @ eps, linearized.rows.R @ dv + linearized.rows.rate_q @ eps])
        C, D = [], []
        for item, signal in zip(self._items, self._signals, strict=True):
            C_item, D_item = linearized.output_matrices(linearized.outputs([item]))
            rows = C_item @ z
            C.append(rows if signal.correction is None else signal.correction(state, rows, eps))
            D.append(D_item)
        return A, B, np.vstack(C), np.vstack(D)

    def _linearized_equations(self, state: _OutputState) -> LinearizedEquations:
        """Equations of motion to first order at a state, from which outputs are made."""
        names = [
            name.removesuffix("_effort") if k in self._driven else name for k, name in enumerate(self.input_labels)
        ]
        coordinates = [n for n in self.state_labels[: len(self._rates0)] if self._named]
        local = derivatives(self.plant, state.q, state.v, state.u)
        return LinearizedEquations(self.plant, local, coordinates or self.form.chart.base.V, names)

    @property
    def _named(self) -> bool:
        """Whether the independent coordinates have names of their own."""
        return not isinstance(self.form.chart.parametrization, LinearParametrization)


def _vector(x: ArrayLike, names: Sequence[str], what: str) -> Array:
    """Vector of given numbers, or of one number for all of its entries."""
    x = np.full(len(names), _check.number(x, what)) if np.ndim(x) == 0 else x
    return _check.vector(x, len(names), what, names)


def to_iosystem(
    plant: Plant,
    point: OperatingPoint,
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str | FrameMotion] | None = None,
    absolute: bool = False,
    name: str | None = None,
) -> PlantSystem:
    """Plant as a nonlinear system of python-control; see `Plant.to_iosystem`."""
    absolute = _check.flag(absolute, "absolute")
    if name is not None:
        _check.text(name, "name")
    loads = [*(load.name for load in getattr(plant, "loads", ())), *getattr(plant, "load_names", ())]
    known, what = [*plant.actuator_names, *loads], "actuator or load" if loads else "actuator"
    motors = (
        plant.actuator_names
        if inputs is None
        else _check.names((inputs,) if isinstance(inputs, str) else inputs, "inputs", known, what)
    )
    for motor in motors:
        _check.one_of(motor, known, what)
    items = (outputs,) if isinstance(outputs, (str, FrameMotion)) else outputs
    model = affine_approximation(plant, point, coordinates=coordinates, inputs=motors)
    outputs = model.states if items is None else items
    model = affine_approximation(plant, point, coordinates=coordinates, inputs=motors, outputs=outputs)
    chart = _chart(plant, point.q, model.states[: model.dof], coordinates)
    return PlantSystem(model, plant, chart, items, bool(absolute), plant.name if name is None else name)

"""Coordinates, inputs and outputs of a linear model: their names, and their rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import INDEPENDENT, UNREACHED, rank
from ..dynamics.derivatives import Derivatives, derivatives
from ..errors import InputError, InputTypeError, ParametrizationError
from ..kernels import split
from ..model.elements import GROUND, Frame
from ..model.mechanism import Mechanism
from ..model.multipliers import unique_multipliers
from ..model.plant import Plant
from ..model.units import cut_joints, effort_units, force_units, rate_of, row_force_units, unit_of
from .driven import Driven, release_motions
from .kinematics import LinkMotion, frame_jacobian, motion
from .reduced import FIXED, CoordinateRows, Reduced, constant_rows, position_rows, reduce, reduce_rolling

__all__ = ["FrameMotion", "Input", "LinearizedEquations", "Output", "Wrench", "best_coordinates"]

Array = NDArray[np.float64]

_OUTPUTS = (
    "There are coordinates, their <name>_rate, <body>_position and <body>_velocity, <motor>_effort, rows of loops, "
    "<loop>_force, and <coordinate>_constraint_force"
)


@_check.knows_its_keywords
@dataclass(frozen=True)
class Wrench:
    """Input: moment and force on a body at a frame's origin, in world axes.

    Six signals ``<name>_mx``, ``_my``, ``_mz`` (N m), ``_fx``, ``_fy``, ``_fz`` (N).

    Parameters
    ----------
    body : str
    frame : Frame
        Frame on the body; defaults to the body's own.
    name : str
        Defaults to ``<body>_wrench``.

    Examples
    --------
    >>> Wrench("tool").signals
    ('tool_wrench_mx', 'tool_wrench_my', 'tool_wrench_mz', 'tool_wrench_fx', 'tool_wrench_fy', 'tool_wrench_fz')
    """

    body: str
    frame: Frame = field(default_factory=Frame)
    name: str = ""

    def __post_init__(self) -> None:
        _require_on_body(self)

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the six signals."""
        name = self.name or f"{self.body}_wrench"
        return tuple(f"{name}_{s}" for s in ("mx", "my", "mz", "fx", "fy", "fz"))


@_check.knows_its_keywords
@dataclass(frozen=True)
class FrameMotion:
    """Output: motion of a frame on a body, in world axes.

    Six positions ``<name>_x``, ``_y``, ``_z`` (m) and ``_rx``, ``_ry``, ``_rz`` (rad, small rotation vector), and with
    `rates` six velocities ``<name>_vx`` ... ``_wz``.

    Parameters
    ----------
    body : str
    frame : Frame
        Frame on the body; defaults to the body's own.
    name : str
        Defaults to the body's.
    positions, rates : bool
        Whether positions, and velocities, are outputs.

    Examples
    --------
    >>> FrameMotion("tool", rates=False).signals
    ('tool_x', 'tool_y', 'tool_z', 'tool_rx', 'tool_ry', 'tool_rz')
    """

    body: str
    frame: Frame = field(default_factory=Frame)
    name: str = ""
    positions: bool = True
    rates: bool = True

    def __post_init__(self) -> None:
        _require_on_body(self)
        for key in ("positions", "rates"):
            _check.flag(getattr(self, key), f"{key} of a FrameMotion")

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the signals."""
        name = self.name or self.body
        signals = [f"{name}_{s}" for s in ("x", "y", "z", "rx", "ry", "rz")] if self.positions else []
        signals += [f"{name}_{s}" for s in ("vx", "vy", "vz", "wx", "wy", "wz")] if self.rates else []
        return tuple(signals)


def _require_on_body(signal: Wrench | FrameMotion) -> None:
    """Raise an error unless the body is a name, the frame a `Frame` and the name a text."""
    what = f"of a {type(signal).__name__}"
    _check.name(_check.text(signal.body, f"body {what}"), "body")
    _check.instance(signal.frame, Frame, f"frame {what}")
    if _check.text(signal.name, f"name {what}"):
        _check.name(signal.name, type(signal).__name__)


class Input(NamedTuple):
    """Column of B: the generalized force of a unit of the input, or a joint or motion with a given acceleration."""

    name: str
    unit: str
    force: Array  # (nv,)
    driven: int = -1  # index among the driven rows


class Output(NamedTuple):
    """Row of C and of D."""

    name: str
    unit: str
    C: Array
    D: Array


class LinearizedEquations:
    """Equations of motion to first order at a state, reduced to chosen coordinates and inputs.

    Parameters
    ----------
    plant : Plant
    local : Derivatives
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
    inputs : sequence of str or Wrench, optional
        Inputs; prescribed motions among them are released, and driven.
    factor : float
        See `reduced.FIXED` and `reduced.MOVING`.

    Attributes
    ----------
    names : tuple of str
        Independent coordinates.
    rated : tuple of str
        Independent coordinates whose rates are states, too: all, except for a machine that rolls.
    inputs : list of Input
    force : ndarray, shape (nv, inputs)
        Generalized force of a unit of each input.
    A, B, drift : ndarray
        Matrices of d(y, y_v)/dt = drift + A (y, y_v) + B u.
    K, N, K_rates : ndarray, shape (nv, p)
        delta = K y, dv = K_rates y_v + N y.
    rows : CoordinateRows
    conditioning : float
        Conditioning of the coordinates on the admissible velocities, in comparable units: 1 at best, 0 where dependent.
    """

    def __init__(
        self,
        plant: Plant,
        local: Derivatives,
        coordinates: Sequence[str] | ArrayLike | None = None,
        inputs: Sequence[str | Wrench] | None = None,
        factor: float = FIXED,
    ) -> None:
        released = release_motions(plant, local, inputs)
        self.plant, self.local, self._released = released.plant, released.local, released
        plant, local = self.plant, self.local
        chosen, self.rows = self._coordinates(coordinates)
        self.names = self.rated = chosen
        reduced = self._reduce(self.rows, factor)
        self.K, self.N, self.drift = reduced.K, reduced.N, reduced.drift
        self.K_rates = self.K if reduced.K_rates is None else reduced.K_rates
        self.inputs, self._driven = self._inputs(inputs)
        force = np.array([i.force for i in self.inputs]).reshape(-1, plant.nv).T
        self.A, self.B = reduced.A, np.zeros((len(reduced.A), len(self.inputs)))
        self.B[len(self.names) :] = reduced.G @ force
        self.force = force
        self._feedback = np.zeros((plant.nv, len(self.A)))  # and of the states, where joints are driven
        self._effort_rows: dict[str, tuple[Array, Array, str]] = {}
        if self._driven:
            self._drive(reduced)

    # -- coordinates ------------------------------------------------------------------------------------

    @cached_property
    def motion(self) -> LinkMotion:
        """Motion of the links."""
        return motion(self.plant, self.local.q, self.local.v, self.local.a)

    def _coordinates(self, given: Sequence[str] | ArrayLike | None) -> tuple[tuple[str, ...], CoordinateRows]:
        chosen: Any = best_coordinates(self.plant, self.local.Z) if given is None else given
        chosen = (chosen,) if isinstance(chosen, str) else chosen
        _check.sequence(chosen, "coordinates", "names, or a matrix R")
        if not all(isinstance(name, str) for name in chosen):
            R = _check.matrix(chosen, (*np.shape(chosen)[:1], self.plant.nv), "coordinates")
            return tuple(f"y{i + 1}" for i in range(len(R))), constant_rows(R)
        refuse_repetition(list(chosen), "coordinate")
        rows = []
        for name in chosen:
            row = self.coordinate_row(name)
            if row is None:
                known = [*self.plant.velocity_names, *cut_joints(self.plant)]
                raise InputError(_check.unknown(name, known, "coordinate"))
            rows.append(row)
        parts = np.array(rows).reshape(len(rows), 4, self.plant.nv).transpose(1, 0, 2)
        constant = np.array([name in self.plant.velocity_names for name in chosen], dtype=bool)
        return tuple(chosen), CoordinateRows(*parts, constant)

    def coordinate_row(self, name: str) -> tuple[Array, Array, Array, Array] | None:
        """Rows R, rate_q, accel_q, accel_v (nv,) of a coordinate, as in `CoordinateRows`; None for unknown names."""
        nv = self.plant.nv
        if name in self.plant.velocity_names:
            row = np.zeros(nv)
            row[self.plant.velocity_names.index(name)] = 1.0
            return row, np.zeros(nv), np.zeros(nv), np.zeros(nv)
        joint = cut_joints(self.plant).get(name)
        return None if joint is None else self.motion.joint_rows(joint)

    def _reduce(self, rows: CoordinateRows, factor: float) -> Reduced:
        """Reduced model; raises an error for too few, too many or dependent coordinates, and names better ones."""
        plant, Z, R = self.plant, self.local.Z, rows.R
        if len(R) != Z.shape[1]:
            raise InputError(
                f"{plant.name!r} has {Z.shape[1]} degrees of freedom at this configuration, got {len(R)} coordinates, "
                f"{listed(self.names)}; choose {listed(best_coordinates(plant, Z))}"
            )
        length = plant.displacement_scale
        try:
            reduced = self._reduced(rows, factor)
            rated = reduced.K if reduced.K_rates is None else reduced.K_rates
            # in comparable units, 1/|K| is about the smallest singular value of R on the tangent space
            growth = float(np.linalg.norm(rated / length[:, None] * np.linalg.norm(R * length, axis=1)))
        except ParametrizationError:
            growth = np.inf
        self.conditioning = 1.0 / growth if growth > 0.0 else 1.0
        if not growth < 1.0 / INDEPENDENT:
            raise ParametrizationError(
                f"the coordinates {listed(self.names)} of {plant.name!r} are not independent at this configuration "
                f"(conditioning {self.conditioning:.1e}, 1 is best); choose {listed(best_coordinates(plant, Z))}",
                self.conditioning,
            )
        return reduced

    def _reduced(self, rows: CoordinateRows, factor: float) -> Reduced:
        if self.plant.rolling_rows(self.local.q):
            return self._reduce_rolling(factor)
        return reduce(self.plant, self.local, rows, factor)

    def _reduce_rolling(self, factor: float) -> Reduced:
        """Reduced model of a machine that rolls: with more coordinates, for positions without a velocity."""
        plant, R = self.plant, self.rows.R
        if not self.rows.constant.all():
            raise InputError(
                f"{plant.name!r} rolls, and its coordinates are velocity coordinates or a matrix R; cut joints are none"
            )
        A, rank = position_rows(plant, self.local)
        free = np.linalg.svd(A * plant.displacement_scale)[2][rank:].T  # admissible displacements, in comparable units
        own = np.linalg.qr((R * plant.displacement_scale @ free).T)[0]
        left = free - free @ own @ own.T
        names = list(self.names)
        more = []
        for _ in range(free.shape[1] - len(R)):
            k = int(np.argmax(np.linalg.norm(left, axis=1)))
            unit = left[k] / np.linalg.norm(left[k])
            left = left - np.outer(left @ unit, unit)
            more.append(np.eye(plant.nv)[k])
            names.append(plant.velocity_names[k])
        self.names = tuple(names)
        return reduce_rolling(plant, self.local, R, np.array(more).reshape(-1, plant.nv), factor)

    # -- inputs -----------------------------------------------------------------------------------------

    def _inputs(self, given: Sequence[str | Wrench] | None) -> tuple[list[Input], list[Driven]]:
        plant = self.plant
        if given is None:
            given = plant.actuator_names
        columns: list[Input] = []
        driven: list[Driven] = []
        items: tuple[Any, ...] = (
            (given,) if isinstance(given, (str, Wrench)) else _check.sequence(given, "inputs", "names")
        )
        for item in items:
            if not isinstance(item, (str, Wrench)):
                raise InputTypeError(f"inputs must be names or Wrench(...), got {_check.shown(item)}")
            if isinstance(item, str) and (loads := self._load_inputs(item)) is not None:
                columns += loads
                continue
            if isinstance(item, str) and (moved := self._motions_named(item)):
                columns += [
                    Input(f"{d.name}_acceleration", f"{d.unit}/s2", np.zeros(plant.nv), len(driven) + k)
                    for k, d in enumerate(moved)
                ]
                driven += moved
                continue
            wrench = item if isinstance(item, Wrench) else _named_wrench(plant, item)
            joint = None if wrench is not None else self._driven_joint(item)
            if wrench is not None:
                columns += self._wrench_inputs(wrench)
            elif joint is not None:
                columns.append(Input(item, f"{joint.unit}/s2", np.zeros(plant.nv), len(driven)))
                driven.append(joint)
            elif (motor := item.removesuffix("_effort")) in plant.actuator_names:
                k = plant.actuator_names.index(motor)
                columns.append(Input(f"{motor}_effort", effort_units(plant)[k], self.local.B[:, k]))
            else:
                known = [*plant.actuator_names, *(f"{b}_wrench" for b in _bodies(plant))]
                known += [x.name for x in (*getattr(plant, "loads", ()), *plant.motions)]
                known += [f"{n}_acceleration" for n in (*plant.velocity_names, *cut_joints(plant))]
                raise InputError(_check.unknown(item, known, "actuator or other input"))
        refuse_repetition([i.name for i in columns], "input")
        return columns, driven

    def _motions_named(self, item: str) -> list[Driven]:
        """Components of a prescribed motion that is released, by its name; or the one component of that name."""
        known = self._released.driven
        single = [d for motion in known.values() for d in motion if item == f"{d.name}_acceleration"]
        return known.get(item) or single

    def _load_inputs(self, name: str) -> list[Input] | None:
        """Inputs for the components of a load that move the machine, or for the one of this name; else None."""
        plant = self.plant
        names = plant.load_names if isinstance(plant, Mechanism) else ()
        wanted = [n for load in getattr(plant, "loads", ()) if load.name == name for n in load.component_names]
        if not wanted and name not in names:
            return None
        W = plant.load_matrix(self.local.q)
        moving = [n for n in wanted if W[:, names.index(n)].any()] if wanted else [name]
        if not moving:
            raise InputError(f"the load {name!r} moves nothing of {plant.name!r}; leave it out of inputs")
        return [Input(n, "N" if n[-2] == "f" else "N m", W[:, names.index(n)]) for n in moving]

    def _wrench_inputs(self, wrench: Wrench) -> list[Input]:
        _check.one_of(wrench.body, _bodies(self.plant), "body")
        J, _ = frame_jacobian(self.motion, wrench.body, wrench.frame)
        units = ("N m",) * 3 + ("N",) * 3
        return [Input(n, unit, row) for n, unit, row in zip(wrench.signals, units, J, strict=True)]

    def _driven_joint(self, name: str) -> Driven | None:
        coordinate = name.removesuffix("_acceleration")
        row = self.coordinate_row(coordinate) if coordinate != name else None
        if row is None:
            return None
        return Driven(coordinate, unit_of(self.plant, coordinate), row, row[0], np.zeros(self.plant.nv))

    def _drive(self, free: Reduced) -> None:
        """Eliminate the efforts of the driven joints, so that these have given accelerations.

        The accelerations of the driven joints are w + W x + (J G') tau to first order, so the efforts are
        tau = (J G')^-1 (given - w - W x); deviations are from the motion at zero effort of these joints.
        """
        R, _, accel_q, accel_v = (np.array(part) for part in zip(*(d.row for d in self._driven), strict=True))
        p, local = len(self.names), self.local
        E = np.array([d.force for d in self._driven]).T
        reach = R @ (local.Z @ (local.Z.T @ E))
        # relative to what the efforts do without constraints, in the metric of M
        sizes = [np.sqrt(np.einsum("ij,ij->j", X, np.linalg.solve(local.M, X))) for X in (R.T, E)]
        cosines = reach / np.outer(*(np.where(size > 0.0, size, 1.0) for size in sizes))
        if rank(np.linalg.svd(cosines, compute_uv=False), 1.0, UNREACHED) < len(self._driven):
            raise InputError(
                f"the joints {listed(d.name for d in self._driven)} of {self.plant.name!r} cannot be driven "
                "independently: the constraints couple their accelerations. Drive fewer."
            )
        delta, dv = self._tangents
        own = self._accelerations(delta, dv, np.zeros((self.plant.nv, len(self.A))))
        W = R @ own + accel_q @ delta + accel_v @ dv
        inverse = np.linalg.inv(reach)
        given = np.array([[float(i.driven == j) for i in self.inputs] for j in range(len(self._driven))])
        D = inverse @ (given - R @ self._accelerations_of_force(self.force))
        C = -inverse @ W
        self._feedback, self.force = E @ C, self.force + E @ D
        self.A = self.A.copy()
        self.A[p:] += free.G @ self._feedback
        self.B[p:] = free.G @ self.force
        for j, d in enumerate(self._driven):
            unit = {"rad": "N m", "m": "N"}.get(d.unit, "")
            self._effort_rows[f"{d.name}_effort"] = (C[j] + d.effort_q @ delta, D[j], unit)

    @property
    def _tangents(self) -> tuple[Array, Array]:
        """Derivatives of delta and dv by the states (y, y_v), (nv, 2 dof) each."""
        return np.hstack([self.K, np.zeros_like(self.K_rates)]), np.hstack([self.N, self.K_rates])

    def descriptor(self, of: Callable[[Array], Array] = np.asarray) -> tuple[Array, Array]:
        """Mass matrix M (p, p) and F (p, n + p + inputs) of M dy_v/dt = F (y, y_v, du), at rest.

        The matrices of the motion before M is inverted: masses, stiffnesses and dampers enter them one by one. With
        ``of=np.abs`` they are sums of absolute values, the size that rounding is relative to.
        """
        local, K, (delta, dv) = self.local, of(self.K_rates).T, map(of, self._tangents)
        on_state = of(self._feedback) + of(-local.force_q) @ delta + of(-local.force_v) @ dv
        return K @ of(local.M) @ K.T, K @ np.hstack([on_state, of(self.force)])

    def _accelerations_of_force(self, force: Array) -> Array:
        return self.local.acceleration(force, np.zeros((len(self.local.lam), force.shape[1])))

    def _accelerations(self, delta: Array, dv: Array, force: Array) -> Array:
        """Changes da of all accelerations, for columns of delta, dv and further generalized forces."""
        local = self.local
        return local.acceleration(
            force - local.force_q @ delta - local.force_v @ dv, local.accel_q @ delta + local.accel_v @ dv
        )

    # -- outputs ----------------------------------------------------------------------------------------

    def labels(self, outputs: Sequence[Output]) -> dict[str, tuple[str, ...]]:
        """Names and units of the states, the inputs and given outputs, by the fields of a `LinearModel`."""
        units, rates = (tuple(unit_of(self.plant, name) for name in names) for names in (self.names, self.rated))
        return {
            "states": self.names + tuple(f"{name}_rate" for name in self.rated),
            "inputs": tuple(i.name for i in self.inputs),
            "outputs": tuple(o.name for o in outputs),
            "state_units": units + tuple(rate_of(unit) for unit in rates),
            "input_units": tuple(i.unit for i in self.inputs),
            "output_units": tuple(o.unit for o in outputs),
        }

    def output_matrices(self, outputs: Sequence[Output]) -> tuple[Array, Array]:
        """Matrices C (outputs, 2 dof) and D (outputs, inputs)."""
        count = len(outputs)
        C = np.array([o.C for o in outputs]).reshape(count, len(self.A))
        return C, np.array([o.D for o in outputs]).reshape(count, len(self.inputs))

    def outputs(self, given: Sequence[str | FrameMotion] | None) -> list[Output]:
        """Rows of C and D for names of coordinates, rates, frames, efforts, multipliers and constraint forces."""
        given = self.names if given is None else given
        rows: list[Output] = []
        items: tuple[Any, ...] = (
            (given,) if isinstance(given, (str, FrameMotion)) else _check.sequence(given, "outputs", "names")
        )
        for item in items:
            if not isinstance(item, (str, FrameMotion)):
                raise InputTypeError(f"outputs must be names or FrameMotion(...), got {_check.shown(item)}")
            frame = item if isinstance(item, FrameMotion) else named_frame(self.plant, item)
            named = None if frame is not None else self._named_output(item)
            rows += self._frame_outputs(frame) if frame is not None else named or []
            if frame is None and named is None:
                raise InputError(f"{_check.unknown(item, self._known_outputs(), 'output')}. {_OUTPUTS}")
        refuse_repetition([o.name for o in rows], "output")
        return rows

    def _known_outputs(self) -> list[str]:
        plant = self.plant
        coordinates = list(dict.fromkeys([*self.names, *plant.velocity_names, *cut_joints(plant)]))
        known = coordinates + [f"{n}_rate" for n in coordinates] + [f"{n}_effort" for n in plant.actuator_names]
        known += [f"{b}_position" for b in _bodies(plant)] + [f"{b}_velocity" for b in _bodies(plant)]
        known += list(plant.row_names) + [f"{n}_force" for n in plant.row_slices] + ["loop_force"]
        return known + [f"{n}_constraint_force" for n in plant.velocity_names] + ["constraint_force"]

    def _named_output(self, name: str) -> list[Output] | None:
        motion = self._motion_output(name)
        if motion is not None:
            return [motion]
        if name in self._effort_rows:
            C, D, unit = self._effort_rows[name]
            return [Output(name, unit, C, D)]
        motor = name.removesuffix("_effort")
        if motor != name and motor in self.plant.actuator_names:
            return [self._motor_output(name, motor)]
        if name == "constraint_force" or name.removesuffix("_constraint_force") in self.plant.velocity_names:
            return self._constraint_outputs(name)
        rows = _loop_rows(self.plant, name)
        return None if rows is None else self._multiplier_outputs(rows)

    def _row(self, on_y: Array, on_rate: Array) -> tuple[Array, Array]:
        return np.concatenate([on_y, on_rate]), np.zeros(len(self.inputs))

    def _motion_output(self, name: str) -> Output | None:
        """Output of a coordinate, or of the rate of one; None where the name is neither."""
        p = len(self.names)
        for coordinate, rate in ((name, False), (name.removesuffix("_rate"), name.endswith("_rate"))):
            unit = unit_of(self.plant, coordinate)
            if coordinate in (self.rated if rate else self.names):
                C = np.zeros(len(self.A))
                C[self.names.index(coordinate) + (p if rate else 0)] = 1.0
                return Output(name, rate_of(unit) if rate else unit, C, np.zeros(len(self.inputs)))
            row = self.coordinate_row(coordinate)
            if row is not None and rate:
                R, rate_q = row[:2]
                return Output(name, rate_of(unit), *self._row(R @ self.N + rate_q @ self.K, R @ self.K_rates))
            if row is not None:
                return Output(name, unit, *self._row(row[0] @ self.K, np.zeros(len(self.rated))))
        return None

    def _frame_outputs(self, item: FrameMotion) -> list[Output]:
        _check.one_of(item.body, _bodies(self.plant), "body")
        J, J_q = frame_jacobian(self.motion, item.body, item.frame)
        swap = [3, 4, 5, 0, 1, 2]  # position first
        J, J_q = J[swap], J_q[swap]
        delta, dv = self._tangents
        C = np.zeros((0, len(self.A)))
        units: list[str] = []
        if item.positions:
            C = np.concatenate([C, J @ delta])
            units += ["m"] * 3 + ["rad"] * 3
        if item.rates:
            C = np.concatenate([C, J @ dv + J_q @ delta])
            units += ["m/s"] * 3 + ["rad/s"] * 3
        zero = np.zeros(len(self.inputs))
        return [Output(n, unit, c, zero) for n, unit, c in zip(item.signals, units, C, strict=True)]

    def _motor_output(self, name: str, motor: str) -> Output:
        """Output of the effort of a motor: the input of this name; constant where there is none."""
        D = np.array([float(i.name == name) for i in self.inputs])
        unit = effort_units(self.plant)[self.plant.actuator_names.index(motor)]
        return Output(name, unit, np.zeros(len(self.A)), D)

    @cached_property
    def _loop_forces(self) -> tuple[Array, Array]:
        """Changes A' dlam = d(A' lam) - d(A') lam, by the states and by the inputs; (nv, .) each."""
        local = self.local
        delta, dv = self._tangents
        by_state = self._feedback - local.force_q @ delta - local.force_v @ dv
        by_state = by_state - local.M @ self._accelerations(delta, dv, self._feedback)
        by_input = self.force - local.M @ self._accelerations_of_force(self.force)
        if local.D.size:  # friction in proportion to loads takes its part
            by_state, by_input = (local.A.T @ local.spread @ part for part in (by_state, by_input))
        return by_state, by_input

    def _constraint_outputs(self, name: str) -> list[Output]:
        """Outputs of the generalized constraint force A' lam: A' dlam, and the change of A' with the configuration."""
        plant = self.plant
        C, D = self._loop_forces
        turn = self._stiffness_of_loops() @ self.K
        C = C + np.concatenate([turn, np.zeros((self.plant.nv, len(self.rated)))], axis=1)
        names, units = plant.velocity_names, force_units(plant)
        chosen = (
            range(plant.nv) if name == "constraint_force" else [names.index(name.removesuffix("_constraint_force"))]
        )
        return [Output(f"{names[k]}_constraint_force", units[k], C[k], D[k]) for k in chosen]

    def _stiffness_of_loops(self) -> Array:
        """Stiffness d(A' lam)/dq of the loops: force_q is linear in lam."""
        local, plant, force_q = self.local, self.plant, self.local.force_q
        if local.D.size:
            plant = plant.with_force_numbers(resting=plant.terms(local.q, local.v).friction.names)  # type: ignore[attr-defined, union-attr]
            force_q = derivatives(plant, local.q, local.v, local.u, a=local.a, lam=local.lam).force_q
        without = derivatives(plant, local.q, local.v, local.u, a=local.a, lam=np.zeros_like(local.lam))
        return force_q - without.force_q - self._released.stiffness

    def _multiplier_outputs(self, rows: list[int]) -> list[Output]:
        """Outputs of the multipliers, the smallest solution of A' dlam = B du - F_q delta - F_v dv - M da."""
        plant, local = self.plant, self.local
        unique = unique_multipliers(plant.row_scale[:, None] * local.A / plant.unit_lengths, local.rank)
        shared = [plant.row_names[i] for i in rows if not unique[i]]
        if shared:
            others = listed(n for n, alone in zip(plant.row_names, unique, strict=True) if alone)
            raise InputError(
                f"the multipliers of {listed(shared)} are not unique, for rows of {plant.name!r} are redundant; "
                f"unique are: {others}. Close the loops without redundant rows to have them."
            )
        share = local.A_pinv.T[rows]
        C, D = (share @ part for part in self._loop_forces)
        units = row_force_units(plant)
        return [Output(plant.row_names[i], units[i], c, d) for c, d, i in zip(C, D, rows, strict=True)]


# -- names ----------------------------------------------------------------------------------------------


def best_coordinates(plant: Plant, Z: Array) -> tuple[str, ...]:
    """Names of velocity coordinates that span the tangent space best, greedily: pivots of its basis Z (nv, dof)."""
    dof = Z.shape[1]
    basis = np.linalg.qr(Z / plant.displacement_scale[:, None])[0]
    rows = split.new_rows(*basis.shape)
    split.take_rows(basis, rows)
    split.factor_rows(rows, 0.0, 0.0, dof)
    return tuple(plant.velocity_names[k] for k in sorted(rows.order[:dof]))


def listed(names: Iterable[str]) -> str:
    """Text with names in quotes."""
    return ", ".join(map(repr, names)) or "none"


def refuse_repetition(names: Sequence[str], what: str) -> None:
    """Raise an error for a name that comes twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the {what} {name!r} is named {names.count(name)} times")


def _bodies(plant: Plant) -> list[str]:
    return [b.name for b in plant.bodies] if isinstance(plant, Mechanism) else []


def _named_wrench(plant: Plant, name: str) -> Wrench | None:
    body = name.removesuffix("_wrench")
    return Wrench(body) if body != name and body in _bodies(plant) else None


def named_frame(plant: Plant, name: str) -> FrameMotion | None:
    """Frame motion of a name ``<body>_position`` or ``<body>_velocity``; None for other names."""
    for suffix in ("_position", "_velocity"):
        body = name.removesuffix(suffix)
        if body != name and body in _bodies(plant) and body != GROUND:
            return FrameMotion(body, positions=suffix == "_position", rates=suffix == "_velocity")
    return None


def _loop_rows(plant: Plant, name: str) -> list[int] | None:
    """Indices of the rows named by a row, ``<loop>_force`` or ``loop_force``; None for other names."""
    every = list(range(len(plant.row_names)))
    if name in plant.row_names:
        return [plant.row_names.index(name)]
    loop = name.removesuffix("_force")
    if name != loop and loop in plant.row_slices:
        return every[plant.row_slices[loop]]
    return every if name == "loop_force" and every else None

"""Functions that can be exported: a traced function each, with names for its arrays and states to test it with.

One more function needs an `ExportedFunction`: its inputs, states and outputs are arguments, and its own numbers are
entries of `Machine.table`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.acceleration import acceleration
from ..errors import ActuationError, InputError
from ..kernels import reduction
from ..model.accelerations import solved
from ..model.actuation import actuation_at
from ..model.generated import independent_rows
from ..model.mechanism import Mechanism
from ..model.terms import RANK_TOLERANCE, Terms
from ..trace import functions as trace
from ..trace.functions import Function, Tracing
from .parameters import ParameterTable

__all__ = ["CLEAR", "FUNCTIONS", "Argument", "ExportedFunction", "ExportedMachine", "FunctionCase", "FunctionState"]

Array = NDArray[np.float64]

# Closeness to a singular configuration below which a function refuses. Rounding, 1e-16, is divided by its square: 1e-8
# is left of a result, which is below what sensors and motors of machines are good for. It is an entry of p.
CLEAR = 1e-4

NEAR, MASS, ACTUATION = "NEAR_SINGULAR", "MASS_MATRIX", "ACTUATION"


@dataclass(frozen=True)
class Argument:
    """Array argument of a C function.

    Attributes
    ----------
    name : str
    size : int
        An argument of size zero is left out.
    text : str
        Description with unit.
    always : bool
        Whether an output is given also where the function refuses, since it shows why.
    """

    name: str
    size: int
    text: str
    always: bool = False


@dataclass(frozen=True)
class FunctionState:
    """State of the machine at which functions are tested.

    Attributes
    ----------
    terms : Terms
        Equations of motion at a state with closed loops.
    u : ndarray, shape (nu,)
    random : Generator
        Source of all other inputs of a function.
    blur : float
        Factor by which rounding is larger than far from singular configurations.
    """

    terms: Terms
    u: Array
    random: np.random.Generator
    blur: float


@dataclass(frozen=True)
class FunctionCase:
    """Test case of a function: inputs, expected outputs, and the size of the terms of which these are sums.

    An output that is not known otherwise is None.
    """

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    scales: Sequence[float]


@dataclass(frozen=True)
class ExportedFunction:
    """Function of the exported library that is traced.

    Attributes
    ----------
    name, text : str
    traced : Function
        Its inputs are those of all arguments one behind the other; its outputs begin with one number for each of
        `refusals`.
    refusals : tuple of str
        The status that the function returns where the number is not above zero.
    inputs, outputs : tuple of Argument
        A state of a law is one of both: C may pass the same array twice.
    case : callable
        State -> Case, by the kernels.
    """

    name: str
    text: str
    traced: Function
    refusals: tuple[str, ...]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    case: Callable[[FunctionState], FunctionCase]

    @property
    def functions(self) -> dict[str, Function]:
        """Traced functions, by the end of their names in C."""
        return {"body": self.traced}


@dataclass(frozen=True)
class Solving(ExportedFunction):
    """Function with loops: several traced ones, and C that is the same for all machines, which calls them.

    Attributes
    ----------
    others : dict of str to Function
        Traced functions that it calls after `traced`, which is ``machine_<name>_first``.
    solver : str
        Name of the C file; its function ``machine_<name>_body`` returns the status.
    known : dict of str to sequence of int
        Tables of it, without the prefix.
    sizes : dict of str to tuple
        Macros of the header, with comments.
    indices : dict of str to tuple
        Enumerations of the header: a title, and names with comments.
    kept : tuple of str
        Statuses with which outputs are nevertheless given.
    room : int
        Numbers on the stack beside those of traced functions.
    """

    others: dict[str, Function] = field(default_factory=dict)
    solver: str = ""
    known: dict[str, Sequence[int]] = field(default_factory=dict)
    sizes: dict[str, tuple[int, str]] = field(default_factory=dict)
    indices: dict[str, tuple[str, Sequence[tuple[str, str]]]] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    room: int = 0

    @property
    def functions(self) -> dict[str, Function]:
        return {"first": self.traced, **self.others}

    def tables(self, prefix: str) -> list[str]:
        """Lines of the C tables."""
        return [
            f"static const int {prefix}_{name}[{len(values)}] = {{{', '.join(map(str, values))}}};"
            for name, values in self.known.items()
        ]


@dataclass
class ExportedMachine:
    """Machine to be exported, with a configuration at which rows and comparisons are chosen, and its numbers.

    Attributes
    ----------
    plant : Mechanism
    q : ndarray, shape (nq,)
    rows : list of int
        The independent rows that are kept.
    coordinates : tuple of str
        Independent coordinates of `linear`.
    """

    plant: Mechanism
    q: Array
    coordinates: tuple[str, ...] = ()
    rows: list[int] = field(init=False)
    table: ParameterTable = field(init=False)

    def __post_init__(self) -> None:
        self.terms = self.plant.terms(self.q, np.zeros(self.plant.nv))
        self.rows = independent_rows(self.terms)
        self.table = ParameterTable(self.plant)
        self.reference = self.terms.regular_gradient

    def tracing(self) -> Tracing:
        """Make a tracing for a function of the machine."""
        return Tracing(self.plant.arrays, self.table.parameters, self.rows, self.q)

    def clear(self, at: Tracing, closeness: Any) -> Any:
        """Number that is above zero where rows are far enough from being dependent."""
        return closeness - self.clearance(at)

    def clearance(self, at: Tracing) -> Any:
        """Closeness to a singular configuration above which results are trusted."""
        text = "closeness to a singular configuration below which functions refuse"
        return self.table.symbol(at.graph, "clear", CLEAR, text)

    def closeness(self, at: Tracing, low: Any, high: Any) -> Any:
        """Closeness of the kept rows to being dependent: 0 where they are."""
        text = "size of a regular constraint gradient, 1/sqrt(kg)"
        reference = self.table.symbol(at.graph, "reference", self.reference, text)
        return trace.closeness(low, high, len(self.rows), reference)

    def conditioned(self, at: Tracing, traced: Function, *parts: Any) -> tuple[Function, tuple[str, ...]]:
        """Traced function with its conditions first, as exported code has it, and with closeness at the end."""
        low, high, left, *rest = traced.outputs
        near = self.closeness(at, low, high)
        made = Function(traced.graph, traced.inputs, [self.clear(at, near), left, *rest, near])
        return made, (NEAR, MASS)

    # -- arguments ----------------------------------------------------------------------------------------

    @property
    def given(self) -> dict[str, Argument]:
        """Arguments that several functions have, by name."""
        plant = self.plant
        return {
            "q": Argument("q", plant.nq, "positions"),
            "v": Argument("v", plant.nv, "velocities"),
            "u": Argument("u", plant.nu, "motor efforts, N or N m"),
            "a": Argument("a", plant.nv, "accelerations, the rates of v"),
            "lambda": Argument(
                "lambda", len(plant.row_names), "multipliers of the rows, N or N m; zero for rows that repeat others"
            ),
            "closeness": Argument("closeness", 1, "to a singular configuration: 0 there, 1 far away", always=True),
        }

    def arguments(self, *names: str) -> tuple[Argument, ...]:
        """Common arguments of these names."""
        return tuple(self.given[name] for name in names)

    # -- what the kernels say ------------------------------------------------------------------------------

    def multipliers(self, terms: Terms, force: Array) -> Array:
        """Multipliers of the kept rows, from the constraint force."""
        lam = np.zeros(len(terms.A))
        if self.rows:
            metres = np.linalg.lstsq(terms.levers[self.rows].T, force / terms.unit_lengths, rcond=None)[0]
            lam[self.rows] = terms.row_scale[self.rows] * metres
        return lam


def size(*parts: Any) -> float:
    """Largest magnitude of some numbers."""
    return max((float(np.abs(part).max(initial=0.0)) for part in map(np.asarray, parts)), default=0.0)


def acceleration_size(terms: Terms, f: Array) -> float:
    """Size of the terms of which accelerations are sums: without constraints, and of the motion by itself."""
    return size(np.abs(np.linalg.inv(terms.M)) @ (np.abs(f) + np.abs(terms.h)), terms.Cv)


def multiplier_size(terms: Terms, rows: Sequence[int], *forces: Array) -> float:
    """Size of the multipliers that belong to some joint forces."""
    if not len(rows):
        return 1.0
    smallest = float(np.linalg.svd(terms.levers[rows], compute_uv=False)[-1])
    return size(terms.row_scale[rows]) * size(*(force / terms.unit_lengths for force in forces)) / smallest


# -- the functions -----------------------------------------------------------------------------------------


def terms(machine: ExportedMachine) -> ExportedFunction:
    """Entry of the equations of motion."""
    plant, at = machine.plant, machine.tracing()
    traced = trace.terms(at)
    nv, nu, rows = plant.nv, plant.nu, len(plant.row_names)

    def case(state: FunctionState) -> FunctionCase:
        t = state.terms
        outputs = t.M, t.h, t.phi, t.A, t.b, t.B, (t.kinetic, t.potential)
        far = plant.length_scale(t.q) + plant.size
        weight = plant.force_scale
        inertia = size(t.M)
        fast = size(t.v) ** 2
        sizes = (
            inertia,
            size(t.h, weight, inertia * fast),
            far,
            size(t.A, far),
            size(t.b, size(t.A, far) * fast),
            size(t.B, 1.0),
        )
        energy = size(t.kinetic, t.potential, weight * far)
        return FunctionCase((t.q, t.v), outputs, (*sizes, energy))

    return ExportedFunction(
        "terms",
        "The equations of motion M a + h = B u - A' lambda, A a + b = 0.",
        traced,
        (),
        machine.arguments("q", "v"),
        (
            Argument("M", nv * nv, "mass matrix, row by row"),
            Argument("h", nv, "Coriolis, centrifugal, gravity, spring and friction forces, N or N m"),
            Argument("phi", rows, "residual of the loops, m or rad"),
            Argument("A", rows * nv, "Jacobian of the rows, row by row"),
            Argument("b", rows, "(dA/dt) v"),
            Argument("B", nv * nu, "joint forces of a unit of each motor, row by row"),
            Argument("energy", 2, "kinetic and potential energy, J"),
        ),
        case,
    )


def forward(machine: ExportedMachine) -> ExportedFunction:
    """Entry of the accelerations under motor efforts."""
    at = machine.tracing()
    traced, refusals = machine.conditioned(at, trace.forward(at))

    def case(state: FunctionState) -> FunctionCase:
        t = state.terms
        f = t.B @ state.u
        a, _, _, friction, _ = solved(t, f - t.h)
        scales = acceleration_size(t, f), multiplier_size(t, machine.rows, f, t.h, t.M @ a), 1.0
        return FunctionCase(
            (t.q, t.v, state.u), (a, machine.multipliers(t, f - t.h - t.M @ a - friction), None), scales
        )

    return ExportedFunction(
        "forward",
        "Accelerations and constraint forces under motor efforts, at a state with closed loops.",
        traced,
        refusals,
        machine.arguments("q", "v", "u"),
        machine.arguments("a", "lambda", "closeness"),
        case,
    )


def inverse(machine: ExportedMachine) -> ExportedFunction:
    """Entry of the motor efforts of an acceleration."""
    plant, at = machine.plant, machine.tracing()
    if not plant.nu:
        raise ActuationError(f"{plant.name!r} has no motor; leave out the function 'inverse', or add an actuator")
    found = actuation_at(machine.terms)
    if not found.complete:
        raise ActuationError(
            f"the motors of {plant.name!r} reach {found.rank} of {found.dof} degrees of freedom: not every "
            "acceleration has efforts that give it; leave out the function 'inverse', or add an actuator"
        )
    if machine.terms.friction is not None:
        raise ActuationError(
            f"friction {machine.terms.friction.names[0]!r} of {plant.name!r} is in proportion to loads that efforts "
            "make, which C code does not solve for; leave out the function 'inverse'"
        )
    weights: list[Any] = [1.0] * plant.nu
    if plant.nu > found.dof:
        text = "W of this motor: the efforts have the least u' W^-1 u; its limit squared weighs it by what it can give"
        weights = [machine.table.symbol(at.graph, f"weight_{name}", 1.0, text) for name in plant.actuator_names]
    levers, pushes = machine.terms.levers[machine.rows], machine.terms.B.T / plant.unit_lengths
    # motors of a machine that cannot move may push nothing; their size is then as good as any other
    pushed = float((pushes**2).sum() / len(pushes)) or 1.0
    balance = pushed / float((levers**2).sum() / len(levers)) if machine.rows else 1.0
    made = trace.inverse(at, weights, balance)
    near, reached, *rest = made.outputs
    traced = Function(
        made.graph, made.inputs, [machine.clear(at, reached), machine.clear(at, near), *rest, near, reached]
    )

    def case(state: FunctionState) -> FunctionCase:
        t = state.terms
        a = acceleration(t, t.M @ state.random.standard_normal(plant.nv) / plant.unit_lengths * plant.size + t.h)
        u = t.smallest_effort(a)
        f = t.B @ u
        lam = machine.multipliers(t, f - t.h - t.M @ a)
        forces = f, t.h, t.M @ a
        efforts = size(u, size(*forces) * size(actuation_at(t).efforts, np.linalg.pinv(t.B)))
        scales = efforts, multiplier_size(t, machine.rows, *forces), 1.0, 1.0
        return FunctionCase((t.q, t.v, a), (u, lam, None, None), scales)

    return ExportedFunction(
        "inverse",
        "The smallest motor efforts that give an acceleration, which the loops must allow (A a + b = 0).",
        traced,
        (ACTUATION, NEAR),
        machine.arguments("q", "v", "a"),
        (
            *machine.arguments("u", "lambda", "closeness"),
            Argument("actuation", 1, "how far the motors reach all motions: 0 where one is lost", always=True),
        ),
        case,
    )


def close(machine: ExportedMachine) -> ExportedFunction:
    """Entry of a step onto the closed loops."""
    plant, at = machine.plant, machine.tracing()
    land = trace.land(at)
    low, high, left, residual, *rest = land.outputs
    reordered = Function(land.graph, land.inputs, [low, high, left, *rest[plant.nv :], residual])
    traced, refusals = machine.conditioned(at, reordered)

    def case(state: FunctionState) -> FunctionCase:
        t = state.terms
        away = 1e-3 * state.random.standard_normal(plant.nv) * plant.size / plant.unit_lengths
        q = plant.integrate(t.q, away)
        there = plant.terms(q, t.v, check=False)
        A, phi = there.row_scale[:, None] * there.A, there.row_scale * there.phi
        X = np.linalg.solve(there.M, A[machine.rows].T)
        step = -X @ np.linalg.solve(A[machine.rows] @ X, phi[machine.rows])
        far = plant.length_scale(q)
        return FunctionCase(
            (q,), (plant.integrate(q, step), size(phi), None), (size(q, far / plant.unit_lengths), far, 1.0)
        )

    return ExportedFunction(
        "close",
        "One Gauss-Newton step of positions onto the closed loops, in the metric of M. It squares the "
        "residual: repeat it until that is small. Quaternions stay of length one; joints of several axes turn by at "
        "most 0.1 rad.",
        traced,
        refusals,
        machine.arguments("q"),
        (
            Argument("q_next", plant.nq, "positions after the step"),
            Argument("residual", 1, "largest residual of the loops before it, m"),
            *machine.arguments("closeness"),
        ),
        case,
    )


def project_velocity(machine: ExportedMachine) -> ExportedFunction:
    """Entry of the velocities that the loops allow."""
    plant, at = machine.plant, machine.tracing()
    traced, refusals = machine.conditioned(at, trace.admissible(at))

    def case(state: FunctionState) -> FunctionCase:
        t = state.terms
        v = t.v + state.random.standard_normal(plant.nv) * plant.size / plant.unit_lengths
        return FunctionCase((t.q, v), (plant.project_velocity(t.q, v), None), (size(v), 1.0))

    return ExportedFunction(
        "project_velocity",
        "The velocities nearest to v, in the metric of M, that the loops allow.",
        traced,
        refusals,
        machine.arguments("q", "v"),
        (Argument("v_next", plant.nv, "velocities that the loops allow"), *machine.arguments("closeness")),
        case,
    )


def linear(machine: ExportedMachine) -> ExportedFunction:
    """Entry of the linear model in independent coordinates."""
    plant, at = machine.plant, machine.tracing()
    p, dof, nu = len(machine.coordinates), machine.terms.dof, plant.nu
    if p != dof:
        raise InputError(
            f"coordinates: {plant.name!r} has {dof} degrees of freedom, got {p} coordinates "
            f"({', '.join(machine.coordinates) or 'none'}); name {dof} independent ones of "
            f"{', '.join(plant.velocity_names)} for the function 'linear'"
        )
    R = np.eye(plant.nv)[[plant.index(name) for name in machine.coordinates]]
    factor = -0.5  # about a fixed configuration, as `linearize`
    found = trace.linear(at, R, factor)
    low, high, left, independent, *rest = found.outputs
    near = machine.closeness(at, low, high)
    model = rest[: 4 * p * p + 2 * p * nu + 2 * p]
    outputs = [machine.clear(at, near), left, machine.clear(at, independent), *model, near]

    def case(state: FunctionState) -> FunctionCase:
        t = state.terms
        A, B, drift, *_, rank = reduction.state_space(
            plant.arrays, t.q, t.v, state.u, R, factor, RANK_TOLERANCE, plant.nv
        )
        outputs = (None, None, None, None) if rank < 0 else (A, B, drift, None)
        f = t.B @ state.u
        return FunctionCase((t.q, t.v, state.u), outputs, (size(A), size(B), size(drift, acceleration_size(t, f)), 1.0))

    return ExportedFunction(
        "linear",
        "The linear model d(y, y')/dt = drift + A (y, y') + B du about a state, of the coordinates y = "
        f"({', '.join(machine.coordinates)}).",
        Function(found.graph, found.inputs, outputs),
        (NEAR, MASS, "COORDINATES"),
        machine.arguments("q", "v", "u"),
        (
            Argument("A", 4 * p * p, "row by row"),
            Argument("B", 2 * p * nu, "row by row"),
            Argument("drift", 2 * p, "rates of y and y' at the state"),
            *machine.arguments("closeness"),
        ),
        case,
    )


FUNCTIONS: dict[str, Callable[[ExportedMachine], ExportedFunction]] = {
    "terms": terms,
    "forward": forward,
    "inverse": inverse,
    "close": close,
    "project_velocity": project_velocity,
    "linear": linear,
}

"""Uncertain linear models of machines: fractions of real parameters, exact where these enter as masses and springs do.

At rest the linear model of a machine is M dy_v/dt = F (y, y_v, du) in independent coordinates, before M is inverted
(`LinearizedEquations.descriptor`). With the configuration held, masses, inertias, stiffnesses, dampers and preloads
enter M and F linearly, and through statics so do the efforts and multipliers that F holds. Products of two of them (a
mass and gravity, a stiffness and its rest length), and the square of a place of a centre of mass, are all else that
occurs. So a quadratic function of the parameters, found from its values in their intervals, is these matrices exactly.
Of lengths and angles it is an approximation; what it leaves is measured, and becomes a block of uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING
from ..errors import InputError, InputTypeError
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .fractional import Quadratic, fraction, interpolated
from .linearize import at_equilibrium
from .machine_family import BALANCED, MachineFamily, UncertainParameter, intervals
from .model import LinearModel
from .mu import UncertainBlock
from .operating import OperatingPoint
from .signals import FrameMotion, LinearizedEquations, Wrench

if TYPE_CHECKING:
    import control

__all__ = ["Matrices", "UncertainModel", "cover", "delay_weight", "uncertain_model", "weight_matrices"]

Array = NDArray[np.float64]

# Of the largest terms: what the quadratic function leaves of a machine that enters quadratically is rounding.
_EXACT = 1e-11
_MARGIN = 2.0  # of the bound of what is left, over the largest of the samples: of random machines 1.6 was needed
_CORNERS, _INSIDE = 32, 32  # samples of it


class Matrices(NamedTuple):
    """Matrices of dx/dt = A x + B u, y = C x + D u."""

    A: Array
    B: Array
    C: Array
    D: Array


@dataclass(frozen=True, eq=False)
class UncertainModel:
    """Linear model with uncertain parameters: a fixed system around which an uncertainty is closed.

    dx/dt = A x + B_w w + B u, z = C_z x + D_zw w + D_zu u, y = C x + D_yw w + D u, and w = Delta z, where Delta is
    block diagonal: for each parameter p = middle + radius delta a block delta 1 with delta in [-1, 1], then further
    blocks of norm one at most.

    Attributes
    ----------
    nominal : LinearModel
        Model in the middle of all intervals: Delta = 0.
    parameters : tuple of UncertainParameter
    blocks : tuple of UncertainBlock
        In the order of the channels.
    A, B_w, B, C_z, D_zw, D_zu, C, D_yw, D : ndarray
    remainder : float
        What the parameters' blocks leave of the machine's own matrices, at most, relative to the largest terms: twice
        the largest that was found at `samples` values of the parameters, all corners (32 of many) and random
        values among them. Above 1e-11 a complex block ``remainder`` stands for it.
    samples : int

    Examples
    --------
    >>> from cmbcontrol import plants, trim
    >>> plant = plants.five_bar()
    >>> point = trim(plant, plant.assemble(left=2.1, right=1.0))
    >>> model = uncertain_model(plant, point, {"left_upper_mass": (2.0, 6.0), "gravity_y": 0.01})
    >>> model.structure
    [('left_upper_mass', 2), ('gravity_y', 2)]
    """

    nominal: LinearModel
    parameters: tuple[UncertainParameter, ...]
    blocks: tuple[UncertainBlock, ...]
    A: Array
    B_w: Array
    B: Array
    C_z: Array
    D_zw: Array
    D_zu: Array
    C: Array
    D_yw: Array
    D: Array
    remainder: float
    samples: int
    family: MachineFamily
    states: tuple[str, ...]

    @property
    def structure(self) -> list[tuple[str, int]]:
        """Parameters with their repetitions, in the order of the channels."""
        return [(block.name, block.size) for block in self.blocks if block.kind == "real"]

    def normalised(self, values: Mapping[str, float], what: str = "values") -> Array:
        """Numbers delta in [-1, 1] of values of the parameters; those without a value are in the middle."""
        _check.mapping(values, what, "parameters to numbers")
        known = {p.name: p for p in self.parameters}
        found = dict.fromkeys(known, 0.0)
        for name, value in values.items():
            p = known[_check.one_of(name, known, "uncertain parameter", what)]
            x = _check.number(value, f"{what}: the parameter {name!r}")
            slack = 1e-9 * (p.high - p.low)
            if not p.low - slack <= x <= p.high + slack:
                raise InputError(f"the model is for {p}, got {x:.9g}; make another one with a wider interval")
            found[name] = (x - p.middle) / (0.5 * (p.high - p.low))
        return np.array(list(found.values()))

    def at(self, values: Mapping[str, float]) -> Matrices:
        """Matrices at values of the parameters, with further blocks at zero.

        Examples
        --------
        >>> from cmbcontrol import plants, trim
        >>> plant = plants.pendulum()
        >>> model = uncertain_model(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), {"gravity_y": (-10.0, -9.0)})
        >>> model.at({"gravity_y": -9.81}).A[1, 0].round(3)  # -3 g / (2 L)
        np.float64(-14.715)
        """
        by_name = dict(zip((p.name for p in self.parameters), self.normalised(values), strict=True))
        X = np.zeros(self.D_zw.shape[::-1])
        row = column = 0
        for b in self.blocks:
            if b.kind == "real":
                X[row : row + b.shape[0], column : column + b.shape[1]] = by_name[b.name] * np.eye(b.shape[0])
            row, column = row + b.shape[0], column + b.shape[1]
        back = X @ np.linalg.solve(np.eye(len(X.T)) - self.D_zw @ X, np.hstack([self.C_z, self.D_zu]))
        n = len(self.A)
        x, u = back[:, :n], back[:, n:]
        return Matrices(
            self.A + self.B_w @ x, self.B + self.B_w @ u, self.C + self.D_yw @ x, self.D + self.D_yw @ u
        )  # fmt: skip

    def machine(self, values: Mapping[str, float]) -> Plant:
        """Machine with these values of the parameters, to be simulated; those without a value are in the middle."""
        return self.family.machine(self.normalised(values))

    def linear(self, values: Mapping[str, float]) -> LinearModel:
        """Linear model of the machine with these values itself, built anew, about its own operating point."""
        return self.family.linear(self.normalised(values))

    def with_input_uncertainty(self, weights: Mapping[str, Any]) -> UncertainModel:
        """Model whose inputs are uncertain by factors 1 + W(s) Delta, each with a complex Delta of norm one at most.

        Parameters
        ----------
        weights : mapping of input to number, control.TransferFunction or control.StateSpace
            W, stable: |W(j omega)| is the largest relative error at a frequency, of an actuator or of dynamics that are
            not modelled. `with_delays` knows those of delays.

        Returns
        -------
        UncertainModel
            With a block ``<input>_dynamics`` for each weight, behind all others; its states behind the others.

        Examples
        --------
        >>> from cmbcontrol import plants, trim
        >>> plant = plants.five_bar()
        >>> model = uncertain_model(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), {"gravity_y": 0.01})
        >>> model.with_input_uncertainty({"left_effort": 0.2}).blocks[-1]
        UncertainBlock(kind='complex', size=1, inputs=None, name='left_effort_dynamics')
        """
        made = self
        for name, weight in _check.mapping(weights, "weights", "inputs to weights").items():
            k = self.nominal.inputs.index(_check.one_of(name, self.nominal.inputs, "input", "weights"))
            made = made._with_weight(f"{name}_dynamics", k, *weight_matrices(weight, name))
        return made

    def with_delays(self, longest: Mapping[str, float], order: int = 1) -> UncertainModel:
        """Model whose inputs come late, by anything from zero to the longest delay (s).

        Each gets a block of dynamics with the weight of `cmbcontrol.linear.uncertain.delay_weight`, which covers these
        delays at all frequencies; of order 3 it is 2 % above the smallest that does, of order 1 up to 73 %.

        Examples
        --------
        >>> from cmbcontrol import plants, trim
        >>> plant = plants.pendulum()
        >>> model = uncertain_model(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), {"gravity_y": 0.01})
        >>> model.with_delays({"motor_effort": 2e-3}).states
        ('x', 'x_rate', 'motor_effort_dynamics_1')
        """
        given = _check.mapping(longest, "longest", "inputs to delays, s")
        for name, x in given.items():
            _check.one_of(name, self.nominal.inputs, "input", "longest")
            _check.positive(x, f"longest: the delay of {name!r}")
        return self.with_input_uncertainty({name: delay_weight(x, order) for name, x in given.items()})

    def _with_weight(self, name: str, k: int, Aw: Array, Bw: Array, Cw: Array, Dw: Array) -> UncertainModel:
        """Model with a weight on input k, whose answer is the last channel of z, and w is added to the input."""
        n, m, width, late = len(self.A), self.B.shape[1], self.B_w.shape[1], len(Aw)
        on = np.zeros((1, m))
        on[0, k] = 1.0
        none = np.zeros((n, late))
        return replace(
            self,
            blocks=(*self.blocks, UncertainBlock("complex", name=name)),
            A=np.block([[self.A, none], [none.T, Aw]]),
            B_w=np.block([[self.B_w, self.B[:, [k]]], [np.zeros((late, width + 1))]]),
            B=np.vstack([self.B, Bw @ on]),
            C_z=np.block([[self.C_z, np.zeros((len(self.C_z), late))], [np.zeros((1, n)), Cw]]),
            D_zw=np.block([[self.D_zw, self.D_zu[:, [k]]], [np.zeros((1, width + 1))]]),
            D_zu=np.vstack([self.D_zu, Dw @ on]),
            C=np.hstack([self.C, np.zeros((len(self.C), late))]),
            D_yw=np.hstack([self.D_yw, self.D[:, [k]]]),
            states=(*self.states, *(f"{name}_{i + 1}" for i in range(late))),
        )

    def to_ss(self, name: str | None = None) -> control.StateSpace:
        """Convert the fixed system for python-control: inputs (w, u) and outputs (z, y), with names.

        Channels of the uncertainty are ``w_<block>_1`` and ``z_<block>_1``.

        Examples
        --------
        >>> from cmbcontrol import plants, trim
        >>> plant = plants.pendulum()
        >>> model = uncertain_model(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), {"gravity_y": 0.01})
        >>> model.to_ss().input_labels
        ['w_gravity_y_1', 'motor_effort']
        """
        import control  # imported where used: it takes 1.1 s

        w = [f"w_{b.name}_{i + 1}" for b in self.blocks for i in range(b.shape[0])]
        z = [f"z_{b.name}_{i + 1}" for b in self.blocks for i in range(b.shape[1])]
        return control.ss(
            self.A,
            np.hstack([self.B_w, self.B]),
            np.vstack([self.C_z, self.C]),
            np.block([[self.D_zw, self.D_zu], [self.D_yw, self.D]]),
            name=self.nominal.name if name is None else _check.name(name, "name"),
            inputs=[*w, *self.nominal.inputs],
            outputs=[*z, *self.nominal.outputs],
            states=list(self.states),
        )

    def __str__(self) -> str:
        repeated = dict(self.structure)
        lines = [f"uncertain linear model of {self.nominal.name}, {len(self.states)} states"]
        for p in self.parameters:
            times = f"repeated {repeated[p.name]} times" if p.name in repeated else "without effect"
            lines.append(f"  {p}, {times}")
        lines += [f"  {b.name}, {b.shape[0]} by {b.shape[1]}" for b in self.blocks if b.kind != "real"]
        found = f"{self.remainder:.2g} of the largest terms at most, by {self.samples} samples"
        exact = not any(b.name == "remainder" for b in self.blocks)
        return "\n".join([*lines, f"  {'exact' if exact else 'approximate'}: off by {found}"])


def uncertain_model(
    plant: Plant,
    point: OperatingPoint,
    uncertain: Mapping[str, float | tuple[float, float]],
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    inputs: Sequence[str | Wrench] | None = None,
    outputs: Sequence[str | FrameMotion] | None = None,
    machine: Callable[[Mapping[str, float]], Plant] | None = None,
) -> UncertainModel:
    """Linear model about an equilibrium for all values of some parameters in their intervals.

    The equilibrium of each machine is found as `trim` found that of the point. By default the configuration is held
    (where a length changes: the independent coordinates, and the loops are closed with the others), and the efforts
    follow from statics, those nearest to the efforts of the point. Efforts that were given are held, and coordinates
    that were free move to an equilibrium again.

    Parameters
    ----------
    plant : Plant
    point : OperatingPoint
        From `trim`.
    uncertain : mapping of str to (float, float) or float
        Parameters by the names of `cmbcontrol.dynamics.parameters`, with intervals (low, high), or with the largest
        change as a share of the machine's own value.
    coordinates, inputs, outputs
        As in `linearize`.
    machine : callable, optional
        ``machine(values)`` makes the plant for values of all parameters, which may then have any names; all need an
        interval. By default ``plant.with_parameters``.

    Returns
    -------
    UncertainModel
        Exact to rounding in masses, inertias, centres of mass, stiffnesses, rest lengths, dampers, preloads and
        gravity, several at once, while the configuration is held, with outputs that are motions. Lengths and angles, a
        mass together with its own centre, outputs that are forces, and driven joints have a remainder, as its attribute
        tells.

    Raises
    ------
    ValueError
        For unknown parameters and intervals that are none; where a machine in the intervals has no linear model: no
        equilibrium, a motor beyond its limits, a loop that does not close. The message has the values.
    EquilibriumError
        Where the point is no equilibrium, or moves.

    Notes
    -----
    The quadratic function is that of `cmbcontrol.linear.fractional`. Its parts are repeated as often as the ranks of
    their coefficients ask for, in which each coordinate has the scale of its own inertia, and each column that of the
    terms it is made of. Parts below rounding, 1e-13 over the conditioning of loops and coordinates, do not count.

    Examples
    --------
    >>> from cmbcontrol import plants, trim
    >>> plant = plants.five_bar()
    >>> point = trim(plant, plant.assemble(left=2.1, right=1.0))
    >>> model = uncertain_model(plant, point, {"left_upper_mass": (2.0, 6.0)}, coordinates=("left", "right"))
    >>> model.structure, model.remainder < 1e-11
    ([('left_upper_mass', 2)], True)
    >>> heavy = model.linear({"left_upper_mass": 6.0})  # of the machine built anew
    >>> bool(np.allclose(model.at({"left_upper_mass": 6.0}).A, heavy.A, rtol=1e-10))
    True
    """
    _check.plant(plant)
    _check.instance(point, OperatingPoint, "point", "from trim")
    if machine is not None:
        _check.function(machine, "machine", "values by name")
    elif not isinstance(plant, Mechanism):
        raise InputTypeError(f"{plant.name!r} has no named parameters; give machine=, which makes it for their values")
    chosen = intervals(plant, uncertain, own=machine is None)
    local = at_equilibrium(plant, point, BALANCED)
    if point.v.any():
        raise InputError(
            f"the operating point of {plant.name!r} moves; an uncertain model needs a rest: take trim(plant, q)"
        )
    equations = LinearizedEquations(plant, local, coordinates, inputs)
    kept: Any = equations.rated if coordinates is None else coordinates
    make = machine or plant.with_parameters  # type: ignore[attr-defined]  # of a Mechanism, then
    family = MachineFamily(make, point, chosen, kept, inputs, outputs, equations.rows.R)
    return _modelled(family)


def _samples(count: int) -> Iterator[Array]:
    """Values at which a model is checked: corners, where errors of terms of third order are largest, and inside."""
    rng = np.random.default_rng(0)
    if 2**count <= _CORNERS:
        yield from map(np.array, product((-1.0, 1.0), repeat=count))
    else:
        yield from rng.choice([-1.0, 1.0], (_CORNERS, count))
    for unit in np.eye(count):  # largest x**3 - x
        yield from (unit / np.sqrt(3.0), -unit / np.sqrt(3.0))
    yield from rng.uniform(-1.0, 1.0, (_INSIDE, count))


def _modelled(family: MachineFamily) -> UncertainModel:
    """Uncertain model of a family of machines."""
    count = len(family.chosen)
    quadratic = interpolated(family.matrix, count)
    nominal = family.linear(np.zeros(count))
    n, m, p = len(nominal.A), nominal.B.shape[1], nominal.dof
    points = list(_samples(count))
    values = [family.matrix(x) for x in points]
    r, c = family.scales()
    scale = r[:, None] * c
    tolerance = ROUNDING / max(family.conditioning, ROUNDING)
    scaled = Quadratic(
        quadratic.constant, [scale * x for x in quadratic.first], {k: scale * x for k, x in quadratic.second.items()}
    )
    found = fraction(scaled, tolerance)
    off = np.array([scale * (value - quadratic.constant) - found(x) for x, value in zip(points, values, strict=True)])
    L, T, R = found.L / r[:, None], found.T, found.R / c
    blocks = [
        UncertainBlock("real", k, name=q.name) for q, k in zip(family.chosen, found.repetitions, strict=True) if k
    ]
    remainder = _MARGIN * float(np.abs(off).max(initial=0.0))
    if remainder > max(_EXACT, 10.0 * tolerance):
        left, right = cover(off)
        blocks.append(UncertainBlock("full", left.shape[1], len(right), "remainder"))
        L, R = np.hstack([L, left / r[:, None]]), np.vstack([R, right / c])
        T = np.block([[T, np.zeros((len(T), left.shape[1]))], [np.zeros((len(right), len(T) + left.shape[1]))]])
    Q, moving = quadratic.constant, slice(n - p, n)
    M, F = -Q[moving, :p], Q[moving, p:]
    on = np.linalg.solve(M, np.hstack([F, L[moving]]))  # dy_v/dt by (x, u, w)
    whole = np.vstack([Q[: n - p, p:], on[:, : n + m]])
    by_w = np.vstack([L[: n - p], on[:, n + m :]])
    z = R[:, p:] + R[:, :p] @ on[:, : n + m]
    return UncertainModel(
        nominal=nominal,
        parameters=family.chosen,
        blocks=tuple(blocks),
        A=whole[:, :n],
        B_w=by_w,
        B=whole[:, n:],
        C_z=z[:, :n],
        D_zw=T + R[:, :p] @ on[:, n + m :],
        D_zu=z[:, n:],
        C=Q[n:, p : p + n],
        D_yw=L[n:],
        D=Q[n:, p + n :],
        remainder=remainder,
        samples=len(points),
        family=family,
        states=nominal.states,
    )


def cover(off: Array) -> tuple[Array, Array]:
    """Matrices S, T so that each matrix `off` is S X T with a norm of X of 1 / 2 at most, but for rounding."""
    largest = _MARGIN * np.abs(off).max(axis=0)
    rows, columns = largest.max(axis=1) > _EXACT, largest.max(axis=0) > _EXACT
    part = off[:, rows][:, :, columns]
    s = np.abs(part).max(axis=(0, 2))
    t = (np.abs(part).max(axis=0) / s[:, None]).max(axis=0)
    norm = _MARGIN * max(np.linalg.norm(x / s[:, None] / t, 2) for x in part)
    left, right = np.zeros((off.shape[1], len(s))), np.zeros((len(t), off.shape[2]))
    left[rows] = np.diag(norm * s)
    right[:, columns] = np.diag(t)
    return left, right


# -- weights -----------------------------------------------------------------------------------------------


def weight_matrices(given: Any, name: str, dt: float = 0.0) -> tuple[Array, Array, Array, Array]:
    """Matrices of a weight: of a number, or of a system of python-control with one input and one output.

    It is one of continuous time; with a sample time, that at 2/dt tan(omega dt/2) in place of omega (Tustin).
    """
    import control

    if not isinstance(given, (control.TransferFunction, control.StateSpace)):
        share = _check.positive(given, f"the weight of {name!r}, if it is no system of python-control,")
        return np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[share]])
    system = control.ss(given)
    if system.ninputs != 1 or system.noutputs != 1 or not system.isctime():
        raise InputError(f"the weight of {name!r} must have one input and one output, in continuous time")
    if system.nstates and not system.poles().real.max() < 0.0:
        raise InputError(f"the weight of {name!r} must be stable, its poles are {np.round(system.poles(), 6).tolist()}")
    if dt:
        system = system.sample(dt, method="tustin")
    return system.A, system.B, system.C, system.D


def delay_weight(error: float, order: int = 1) -> control.TransferFunction:
    """Weight W with |exp(-s T) - 1| <= |W(s)| on the imaginary axis, for all delays T from -error to error (s).

    Order 1 is W = T s / (1 + T s / sqrt(12)). With x = omega T / 2 the left side is 2 sin x up to x = pi / 2, and at
    most 2 beyond. The series 1 / sin^2 x - 1 / x^2 = 1/3 + x^2 / 15 + ... has positive coefficients only, so that
    |W| = 2 x / sqrt(1 + x^2 / 3) is not below 2 sin x; and it grows, from 2.3 at x = pi / 2 to 3.5. (The usual
    T s / (1 + T s / 2) is below by up to 18 %.) Order 3 is T s / (1 + T s / 2) times a factor of second order,
    Skogestad and Postlethwaite, Multivariable Feedback Control (2005), section 7.4: it is not below, and 2 % above at
    most. With y = x^2 and sin^2 x <= y - y^2 / 3 + 2 y^3 / 45, this is the sign of polynomials in y.

    Parameters
    ----------
    error : float
        Largest error of a delay, s; its longest value where the model has none.
    order : {1, 3}

    Examples
    --------
    >>> W = delay_weight(0.01, order=3)
    >>> [float(abs(W(1j * omega)).round(3)) for omega in (10.0, 100.0, 1e6)]
    [0.1, 0.96, 2.0]
    """
    import control

    T = _check.positive(error, "error")
    if order not in (1, 3):
        raise InputError(f"order must be 1 or 3, got {_check.shown(order)}")
    if order == 1:
        return control.tf([T, 0.0], [T / np.sqrt(12.0), 1.0])
    a = T / 2.363
    return control.tf([T, 0.0], [0.5 * T, 1.0]) * control.tf(
        [a * a, 2.0 * 0.838 * a, 1.0], [a * a, 2.0 * 0.685 * a, 1.0]
    )

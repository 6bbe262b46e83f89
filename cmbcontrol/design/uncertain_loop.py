"""Loops of one law around a machine with uncertain parameters: certificates, worst cases, and runs of them.

The closed loop of the machine in the middle of all intervals is exact, with sampling, hold, delays, drives and filters.
Around it w = Delta z is closed, as in an uncertain model: how the machine moves within a period has signals at Gauss
points of its own (`cmbcontrol.linear.uncertain_hold`). What is left is measured on loops of machines built anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.closed_loop import ClosedLoop, linearize_closed_loop
from ..controllers.controller import as_controller
from ..errors import CmbError, InputError
from ..linear.balancing import state_scales
from ..linear.generalized_plant import GeneralizedPlant
from ..linear.mu import UncertainBlock
from ..linear.robust_stability import RobustStability, WorstCaseGain, robust_stability, worst_case_gain
from ..linear.uncertain import UncertainModel, cover, weight_matrices
from ..linear.uncertain_hold import UncertainSystem, hold
from ..model.plant import Plant
from ..sim.simulate import simulate

if TYPE_CHECKING:
    import control

    from ..sim.result import Simulation

__all__ = ["UncertainLoop", "Uncertainty", "corners_and_others", "uncertain_loop", "uncertainty_of"]

Array = NDArray[np.float64]

_CORNERS, _INSIDE = 8, 4  # machines built anew, on which a loop is checked
_REMAINDER = "remainder_of_loop"
_STAGES = 3  # Gauss points of a period: the error is of the sixth power of what a machine does in it
_THERE = 1e-6  # rad, or of the machine's size (m): references so near are those of the model
_SMALL = 1e-6  # of the largest entries of the loop: signals that do less are left out
_NOTHING = 1e-9  # of these: derivatives of laws by differences are right to it


class Uncertainty(NamedTuple):
    """Signals of uncertainty in a loop that is open where the law stands.

    x' = A x + entry u + B_w w + .., z = C x + C_e e + D_u u + D_d d + D_w w, and e' = A_e e + B_e u, with the efforts u
    that the law asks for and disturbances d at the motors; next values where the law is sampled.

    Attributes
    ----------
    blocks : tuple of UncertainBlock
    B_w, C, D_u, D_d, D_w : ndarray
    A_e, B_e, C_e : ndarray
        States of weights.
    """

    blocks: tuple[UncertainBlock, ...]
    B_w: Array
    C: Array
    D_u: Array
    D_d: Array
    D_w: Array
    A_e: Array
    B_e: Array
    C_e: Array


def uncertainty_of(loop: ClosedLoop, model: UncertainModel) -> Uncertainty:
    """Uncertainty of a model in the loop of its machine, in the order of the loop's states."""
    parts, n, nu = loop._parts, len(loop.A), len(loop.plant.inputs)
    own = len(loop.plant.states)
    late = slice(own, len(model.A))  # states of weights
    if parts.held is None:
        B_w, C = np.zeros((n, model.B_w.shape[1])), np.zeros((len(model.C_z), n))
        B_w[:own], C[:, :own] = model.B_w[:own], model.C_z[:, :own]
        return Uncertainty(
            *(model.blocks, B_w, C, model.D_zu, model.D_zu, model.D_zw),
            *(model.A[late, late], model.B[late], model.C_z[:, late]),
        )
    held, plant = parts.held, parts.held.model
    states = len(plant.A)
    to_motors = model.D_zu @ held.motors
    C = to_motors[:, :states].copy()
    C[:, :own] += model.C_z
    B_w = np.zeros((states, model.B_w.shape[1]))
    B_w[:own] = model.B_w
    whole = np.floor(held.delays / loop.dt + 1e-9).astype(int)
    part = held.delays - whole * loop.dt
    part[part <= 1e-9 * loop.dt] = 0.0
    system = UncertainSystem(
        *(plant.A, plant.B, held.push[:, :nu], B_w, C, to_motors[:, states:], model.D_zu, model.D_zw)
    )
    made = hold(system, loop.dt, part, _STAGES)
    # efforts now and before are commands, or past ones, which are the last states of the loop
    past = whole + (part > 0.0)
    entered = np.zeros((made.x.shape[1], n + nu))
    entered[:states, :states] = np.eye(states)
    first = n - int(past.sum())
    for i in range(nu):
        for row, age in ((states + i, whole[i]), (states + nu + i, whole[i] + 1)):
            if age == 0:
                entered[row, n + i] = 1.0
            elif age <= past[i]:
                entered[row, first + age - 1] = 1.0
        first += int(past[i])
    z, w = made.z, made.x.shape[1] - made.points * model.B_w.shape[1]
    blocks, rows, columns = _by_blocks(model.blocks, made.points)
    on = np.zeros((n, len(columns)))
    on[:states] = made.x[:, w:][:, columns]
    by = z[rows] @ entered
    return _reduced(
        Uncertainty(
            *(blocks, on, by[:, :n], by[:, n:], z[rows][:, w - nu : w], z[rows][:, w:][:, columns]),
            *(np.zeros((0, 0)), np.zeros((0, nu)), np.zeros((len(rows), 0))),
        ),
        loop,
    )


def _reduced(u: Uncertainty, loop: ClosedLoop) -> Uncertainty:
    """Uncertainty without combinations of signals of a parameter that do next to nothing: balanced truncation.

    In a period a machine moves little, so that z is nearly the same at all its points. As a function of a number delta,
    w = delta z with z = D w + B v is a system in sampled time with 1/delta in place of the shift; what of it is hardly
    reached, or hardly seen, goes (Moore, 1981), whatever the law.
    """
    from scipy.linalg import block_diag, solve_discrete_lyapunov

    if not u.blocks:
        return u
    s, unit = scales_of(loop)
    asked = np.abs(loop._parts.effort * s).max(axis=1)  # efforts of a unit of the states
    asked = np.where(asked > 0.0, asked, 1.0)
    reached, seen = np.hstack([u.C * s, u.D_u * asked, u.D_d * asked]), u.B_w / s[:, None] / unit
    # z and w of a block in units of what reaches it; then what it does to the states is how much it counts elsewhere
    w, z = (np.cumsum([0, *(b.shape[k] for b in u.blocks)]) for k in (0, 1))
    sizes = [max(float(np.linalg.norm(reached[z[i] : z[i + 1]], 2)), 1e-300) for i in range(len(u.blocks))]
    z_units, w_units = (np.repeat(sizes, np.diff(ends)) for ends in (z, w))
    counts = [np.linalg.norm(seen[:, w[i] : w[i + 1]], 2) * size for i, size in enumerate(sizes)]
    D = u.D_w / z_units[:, None] * w_units
    reached = np.hstack([reached / z_units[:, None], D])
    seen = np.vstack([seen * w_units, D * np.repeat(counts, np.diff(z))[:, None]])
    left, right, blocks = [], [], []
    for i, b in enumerate(u.blocks):
        W, Z = slice(w[i], w[i + 1]), slice(z[i], z[i + 1])
        A, T, back = D[Z, W], np.eye(b.shape[0]), np.eye(b.shape[1])
        if b.kind != "full" and np.abs(np.linalg.eigvals(A)).max() < 1.0:
            B, C = reached[Z].copy(), seen[:, W].copy()
            B[:, reached.shape[1] - len(w_units) :][:, W], C[len(s) :][Z] = 0.0, 0.0
            roots = _root(solve_discrete_lyapunov(A, B @ B.T)), _root(solve_discrete_lyapunov(A.T, C.T @ C))
            U, values, Vh = np.linalg.svd(roots[1].T @ roots[0])
            kept = max(int((values > _SMALL).sum()), 1)
            half = 1.0 / np.sqrt(np.maximum(values[:kept], np.finfo(float).tiny))
            T, back = roots[0] @ Vh[:kept].T * half, (roots[1] @ U[:, :kept] * half).T
            b = replace(b, size=kept, inputs=None)
        left.append(back)
        right.append(T)
        blocks.append(b)
    L, R = block_diag(*left) / z_units, w_units[:, None] * block_diag(*right)
    return u._replace(
        blocks=tuple(blocks), B_w=u.B_w @ R, C=L @ u.C, D_u=L @ u.D_u, D_d=L @ u.D_d, D_w=L @ u.D_w @ R, C_e=L @ u.C_e
    )


def _root(X: Array) -> Array:
    """Matrix R with R R^T = X, which is semidefinite but for rounding."""
    values, V = np.linalg.eigh(0.5 * (X + X.T))
    return V * np.sqrt(np.maximum(values, 0.0))


def scales_of(loop: ClosedLoop) -> tuple[Array, float]:
    """Units of a loop's states, and the largest of what it changes of them, in a second or a sample."""
    rates = loop.A - np.eye(len(loop.A)) if loop.dt else loop.A
    s = state_scales(rates)
    return s, float(np.abs(rates * s / s[:, None]).max())


def _by_blocks(
    blocks: Sequence[UncertainBlock], points: int
) -> tuple[tuple[UncertainBlock, ...], list[int], list[int]]:
    """Blocks of all points, and where their z and w are: the same number at all of them, full blocks one by one."""
    wide, high = (sum(b.shape[k] for b in blocks) for k in (0, 1))
    found: list[UncertainBlock] = []
    rows: list[int] = []
    columns: list[int] = []
    w = z = 0
    for b in blocks:
        columns += [p * wide + w + i for p in range(points) for i in range(b.shape[0])]
        rows += [p * high + z + i for p in range(points) for i in range(b.shape[1])]
        if b.kind == "full":
            found += [replace(b, name=b.name if points == 1 else f"{b.name}_{p + 1}") for p in range(points)]
        else:
            found.append(replace(b, size=points * b.size, inputs=None))
        w, z = w + b.shape[0], z + b.shape[1]
    return tuple(found), rows, columns


@dataclass(frozen=True, eq=False)
class UncertainLoop:
    """Closed loop of a law with a machine whose parameters are uncertain.

    x' = A x + B_w w + .., z = C_z x + D_zw w + .., w = Delta z; x(k+1) where the law is sampled. Delta is block
    diagonal, each block one at most: a number in [-1, 1] for each parameter, then further blocks.

    Attributes
    ----------
    nominal : ClosedLoop
        Loop of the machine in the middle of all intervals.
    model : UncertainModel
        Of the machine.
    law : Controller
    blocks : tuple of UncertainBlock
        In the order of w and z.
    A, B_w, C_z, D_zw : ndarray
        The states are those of `nominal`, then those of weights.
    remainder : float
        Largest difference from loops of machines built anew, of the largest entries of the loop's matrix, before the
        last block that stands for it, ``remainder_of_loop``; it has none where the difference is rounding.
    checked : int
        Number of these machines: corners of the intervals, and random ones.
    uncertainty : Uncertainty
        The same, open where the law stands.
    """

    nominal: ClosedLoop
    model: UncertainModel
    law: Any
    blocks: tuple[UncertainBlock, ...]
    A: Array
    B_w: Array
    C_z: Array
    D_zw: Array
    remainder: float
    checked: int
    uncertainty: Uncertainty

    @property
    def dt(self) -> float:
        """Sample time, s; 0 in continuous time."""
        return self.nominal.dt

    # -- what is proven ------------------------------------------------------------------------------------------

    def robust_stability(self, tolerance: float = 1e-3, branches: int = 0) -> RobustStability:
        """Whether the loop is stable for all machines; see `cmbcontrol.linear.robust_stability`."""
        return robust_stability((self.A, self.B_w, self.C_z, self.D_zw, self.dt), self.blocks, tolerance, branches)

    def worst_case_gain(
        self, inputs: str | Sequence[str], outputs: str | Sequence[str], tolerance: float = 1e-3
    ) -> WorstCaseGain:
        """Largest gain over all machines and frequencies; see `cmbcontrol.linear.worst_case_gain`.

        Parameters
        ----------
        inputs : str or sequence of str
            Signals that enter the loop, as `ClosedLoop.entrance` knows them: ``left_disturbance``, ``left_ref``,
            ``left_command``, ``left_measurement``.
        outputs : str or sequence of str
            Outputs of `nominal`.
        tolerance : float
            Relative, of the upper bound.
        """
        return worst_case_gain((*self._matrices(inputs, outputs), self.dt), self.blocks, tolerance=tolerance)

    def disk_margin(self, tolerance: float = 1e-3) -> WorstCaseGain:
        """Smallest disk margin at all motors at once over all machines: 1 / gain, of the bounds that are returned."""
        motors = self.nominal.motors
        A, B, C, D = self._matrices([f"{name}_command" for name in motors], [f"{name}_effort" for name in motors])
        k, w = len(motors), self.B_w.shape[1]
        D = D.copy()
        D[-k:, w:] += 0.5 * np.eye(k)  # S - 1/2 = (S - 1) + 1/2
        performance = [UncertainBlock("complex", name=name) for name in motors]
        return worst_case_gain((A, B, C, D, self.dt), self.blocks, performance, tolerance)

    def to_ss(self, inputs: str | Sequence[str] = (), outputs: str | Sequence[str] = ()) -> control.StateSpace:
        """System of python-control with inputs (w, inputs) and outputs (z, outputs), named, to be weighted further."""
        import control

        given, asked = ([x] if isinstance(x, str) else list(x) for x in (inputs, outputs))
        w = [f"w_{b.name}_{i + 1}" for b in self.blocks for i in range(b.shape[0])]
        z = [f"z_{b.name}_{i + 1}" for b in self.blocks for i in range(b.shape[1])]
        A, B, C, D = self._matrices(inputs, outputs)
        name = f"uncertain {self.nominal.name}".replace(".", "_")
        return control.ss(A, B, C, D, self.dt, inputs=[*w, *given], outputs=[*z, *asked], name=name)

    def _matrices(self, inputs: str | Sequence[str], outputs: str | Sequence[str]) -> tuple[Array, Array, Array, Array]:
        """Matrices from (w, inputs) to (z, outputs)."""
        loop, u, n = self.nominal, self.uncertainty, len(self.nominal.A)
        inputs = _check.names([inputs] if isinstance(inputs, str) else inputs, "inputs")
        outputs = [outputs] if isinstance(outputs, str) else outputs
        outputs = _check.names(outputs, "outputs", loop.outputs, "output")
        rows = [loop.outputs.index(x) for x in outputs]
        B, D_z, D = [self.B_w], [self.D_zw], [np.zeros((len(rows), self.B_w.shape[1]))]
        for name in inputs:
            entrance = loop.entrance(name)
            asked, d = entrance.effort, np.zeros(len(loop.motors))
            if name.endswith("_command"):
                asked = np.array([float(name == f"{motor}_command") for motor in loop.motors])
            elif name.endswith("_disturbance"):
                d = np.array([float(name == f"{motor}_disturbance") for motor in loop.motors])
            B.append(np.concatenate([entrance.B, u.B_e @ asked])[:, None])
            D_z.append((u.D_u @ asked + u.D_d @ d)[:, None])
            D.append(entrance.D[rows][:, None])
        C = np.hstack([loop.C[rows], np.zeros((len(rows), len(self.A) - n))])
        return self.A, np.hstack(B), np.vstack([self.C_z, C]), np.vstack([np.hstack(D_z), np.hstack(D)])

    # -- machines ------------------------------------------------------------------------------------------------

    def values(self, worst: Any) -> dict[str, float]:
        """Parameters of a worst case, brought into their intervals.

        Parameters
        ----------
        worst : RobustStability, WorstCaseGain, GoalBound, or mapping of parameter to value
            Parameters that a mapping does not name are in the middle.
        """
        parameters = self.model.parameters
        if not isinstance(worst, (RobustStability, WorstCaseGain)):
            given = getattr(worst, "worst", worst)
            return self.model.family.values(self.model.normalised(given, "worst"))
        deltas = [float(np.real(worst.worst.get(p.name, 0.0))) for p in parameters]
        return self.model.family.values(np.array(deltas) / max(1.0, *np.abs(deltas)))

    def machine(self, worst: Any) -> Plant:
        """Machine of a worst case; see `values`."""
        return self.model.machine(self.values(worst))

    def machine_at(self, P: GeneralizedPlant, x: Array) -> GeneralizedPlant:
        """Generalized plant at numbers of the parameters; its first signals are those of the uncertainty."""
        Delta = _delta(self.blocks, self.model, x)
        w, z = Delta.shape
        back = np.linalg.solve(np.eye(z) - P.D11[:z, :w] @ Delta, np.hstack([P.C1[:z], P.D11[:z, w:], P.D12[:z]]))
        rows = np.vstack([P.B1[:, :w], P.D11[z:, :w], P.D21[:, :w]]) @ Delta @ back
        n, p = len(P.A), len(P.C1) - z
        x_, d_, u_ = slice(0, n), slice(n, n + P.B1.shape[1] - w), slice(n + P.B1.shape[1] - w, None)
        X, Z, Y = rows[:n], rows[n : n + p], rows[n + p :]
        return GeneralizedPlant(
            *(P.A + X[:, x_], P.B1[:, w:] + X[:, d_], P.B2 + X[:, u_], P.C1[z:] + Z[:, x_], P.C2 + Y[:, x_]),
            *(P.D11[z:, w:] + Z[:, d_], P.D12[z:] + Z[:, u_], P.D21[:, w:] + Y[:, d_], P.D22 + Y[:, u_]),
            dt=P.dt,
        )

    def run(self, worst: Any, t_end: float, **options: Any) -> Simulation:
        """Simulate the law on the machine of a worst case, from the configuration of the loop.

        Parameters
        ----------
        worst : RobustStability, WorstCaseGain, GoalBound, or mapping of parameter to value
        t_end : float
            s.
        **options
            Of `simulate`; ``law=`` in place of the loop's own, such as ``law.with_reference(...)``, and ``plant=`` a
            function of the machine that changes it, such as adding friction.
        """
        machine = self.machine(worst)
        change = options.pop("plant", None)
        machine = machine if change is None else change(machine)
        law = options.pop("law", self.law)
        q = machine.close(self.nominal.point.q)
        return simulate(machine, law, q, t_end=t_end, **options)

    def __str__(self) -> str:
        of = ", ".join(str(p) for p in self.model.parameters)
        repeated = ", ".join(f"{b.name} {b.size}" if b.size > 1 else b.name for b in self.blocks)
        off = f"{self.remainder:.2g} of the largest entries off loops of {self.checked} machines built anew"
        covered = ", which a block stands for" if self.blocks and self.blocks[-1].name == _REMAINDER else ""
        return "\n".join(
            [
                f"uncertain {self.nominal.name}, {len(self.A)} states" + (f", {self.dt:g} s a sample" * bool(self.dt)),
                f"  {of}",
                f"  blocks  {repeated}",
                f"  {off}{covered}",
            ]
        )


def uncertain_loop(
    model: UncertainModel,
    law: Any,
    *,
    delay: float | Mapping[str, float] | None = None,
    efforts: Mapping[str, Any] | None = None,
) -> UncertainLoop:
    """Closed loop of a law with a machine of uncertain parameters.

    Parameters
    ----------
    model : UncertainModel
        From `cmbcontrol.linear.uncertain_model`, at the configuration that the law holds.
    law : Controller
        Continuous or sampled. What it knows of the machine does not change with the parameters.
    delay : float or mapping of motor to float, optional
        As in `linearize_closed_loop`.
    efforts : mapping of motor to number, control.TransferFunction or control.StateSpace, optional
        Motors whose efforts are uncertain by factors 1 + W Delta, with a complex Delta of one at most: W is the largest
        relative error over frequency, a stable system in continuous time, or a number.

    Returns
    -------
    UncertainLoop

    Raises
    ------
    EquilibriumError
        Where the loop of a machine comes to no rest.
    InputError
        Where the law holds another configuration than that of the model, for a law that measures forces, and for
        blocks of dynamics in a model whose law is sampled: give `efforts`.

    Notes
    -----
    Loops of machines at corners of the intervals and at random values are built anew and compared. What they differ
    by, as where a law has no integral and rests elsewhere under another load, becomes a block of its own: a bound by
    samples, twice the largest.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants, trim
    >>> from cmbcontrol.controllers import PID
    >>> from cmbcontrol.linear import uncertain_model
    >>> plant = plants.five_bar()
    >>> point = trim(plant, plant.assemble(left=2.1, right=1.0))
    >>> model = uncertain_model(plant, point, {"left_upper_mass": (2.0, 6.0)}, coordinates=("left", "right"))
    >>> loop = uncertain_loop(model, PID(plant, Constant([2.1, 1.0]), kp=900.0, ki=300.0, kd=120.0, period=1e-3))
    >>> loop.robust_stability().certified
    True
    """
    _check.instance(model, UncertainModel, "model", "from uncertain_model")
    machine = model.machine({})
    made = as_controller(law, machine)
    if made.measures_force:
        raise InputError(f"{made.name} measures the constraint force, which uncertain loops do not know")
    if made.period is not None and any(b.kind == "complex" for b in model.blocks):
        raise InputError(
            f"{made.name} is sampled, and dynamics in blocks of the model are in continuous time; give "
            "uncertain_loop(..., efforts={motor: weight}) in place of with_input_uncertainty or with_delays"
        )
    if efforts and any(b.kind == "complex" for b in model.blocks):
        raise InputError("the model has dynamics in blocks of its own; give those of efforts in one of the two places")
    if model.nominal.inputs != tuple(f"{name}_effort" for name in machine.actuator_names):
        raise InputError("the inputs of the model must be the efforts of all motors, as they are by default")
    _require_reference(model, made)
    nominal = _loop(model, machine, made, delay)
    points = list(corners_and_others(len(model.parameters), _CORNERS, _INSIDE))
    anew = [_anew(model, made, delay, x) for x in points]
    scales, unit = scales_of(nominal)
    u = uncertainty_of(nominal, model)
    parts = _closed(nominal, u)
    left = [A - _at(parts, u.blocks, model, x)[: len(A), : len(A)] for A, x in zip(anew, points, strict=True)]
    off = np.array(left) * scales / scales[:, None] / unit
    remainder = float(np.abs(off).max())
    u = _with_efforts(u, nominal, efforts)
    if remainder > _NOTHING:
        u = _with_remainder(u, off, scales, unit)
    if not u.blocks:  # no parameter acts on this loop; a block that does nothing says so
        u = u._replace(
            blocks=(UncertainBlock("real", name=model.parameters[0].name),),
            B_w=np.zeros((len(nominal.A), 1)),
            C=np.zeros((1, len(nominal.A))),
            D_u=np.zeros((1, len(nominal.motors))),
            D_d=np.zeros((1, len(nominal.motors))),
            D_w=np.zeros((1, 1)),
            C_e=np.zeros((1, len(u.A_e))),
        )
    return UncertainLoop(nominal, model, made, u.blocks, *_closed(nominal, u), remainder, len(points), u)


def _loop(model: UncertainModel, machine: Plant, law: Any, delay: Any) -> ClosedLoop:
    """Loop of a machine near the configuration of the model."""
    point = model.family.point
    coordinates = model.nominal.states[: model.nominal.dof]
    return linearize_closed_loop(machine, law, machine.close(point.q), coordinates=coordinates, delay=delay)


def _require_reference(model: UncertainModel, law: Any) -> None:
    """The law must be told to hold the configuration of the model: there is no other one in it."""
    plant, names = model.family.point.plant, law.coordinates
    if law.reference is None or not names or not set(names) <= set(plant.position_names):
        return
    wanted = np.asarray(law.reference(0.0)[0], dtype=np.float64)
    held = np.array([model.nominal.point.q[plant.position_names.index(name)] for name in names])
    if wanted.shape == held.shape and np.abs(wanted - held).max(initial=0.0) > _THERE * max(plant.size, 1.0):
        pairs = ", ".join(f"{n} = {x:.6g}, not {y:.6g}" for n, x, y in zip(names, wanted, held, strict=True))
        raise InputError(
            f"{law.name} is to hold another configuration than that of the model ({pairs}): give it a reference there, "
            "law.with_reference(Constant(...))"
        )


def corners_and_others(count: int, corners: int, others: int) -> Iterator[Array]:
    """Numbers in [-1, 1] of parameters: all corners, or some of many, and random ones."""
    rng = np.random.default_rng(0)
    if 2**count <= corners:
        yield from map(np.array, product((-1.0, 1.0), repeat=count))
    else:
        yield from rng.choice([-1.0, 1.0], (corners, count))
    yield from rng.uniform(-1.0, 1.0, (others, count))


def _anew(model: UncertainModel, law: Any, delay: Any, x: Array) -> Array:
    """Matrix of the loop of a machine built anew."""
    try:
        return _loop(model, model.family.machine(x), law, delay).A
    except CmbError as error:
        where = ", ".join(f"{name} = {value:.6g}" for name, value in model.family.values(x).items())
        raise InputError(
            f"the law has no linear loop for all parameters in their intervals; at {where}: {error}"
        ) from error


def _closed(loop: ClosedLoop, u: Uncertainty) -> tuple[Array, Array, Array, Array]:
    """Matrices of the closed loop from w to z."""
    effort, n, k = loop._parts.effort, len(loop.A), len(u.A_e)
    A = np.block([[loop.A, np.zeros((n, k))], [u.B_e @ effort, u.A_e]])
    return A, np.vstack([u.B_w, np.zeros((k, u.B_w.shape[1]))]), np.hstack([u.C + u.D_u @ effort, u.C_e]), u.D_w


def _delta(blocks: Sequence[UncertainBlock], model: UncertainModel, x: Array) -> Array:
    """Delta (w, z) of numbers of the parameters, with further blocks at zero."""
    known = dict(zip((p.name for p in model.parameters), x, strict=True))
    Delta = np.zeros([sum(b.shape[k] for b in blocks) for k in (0, 1)])
    w = z = 0
    for b in blocks:
        if b.kind == "real":
            Delta[w : w + b.size, z : z + b.size] = known[b.name] * np.eye(b.size)
        w, z = w + b.shape[0], z + b.shape[1]
    return Delta


def _at(parts: tuple[Array, ...], blocks: Sequence[UncertainBlock], model: UncertainModel, x: Array) -> Array:
    """Matrix of the loop at numbers of the parameters."""
    A, B, C, D = parts
    Delta = _delta(blocks, model, x)
    return A + B @ Delta @ np.linalg.solve(np.eye(len(D)) - D @ Delta, C)


def _with_remainder(u: Uncertainty, off: Array, scales: Array, unit: float) -> Uncertainty:
    """Uncertainty with a block more for differences (samples, n, n) of the loop's matrix, in its units."""
    left, right = cover(off)
    left, right, (_z, _w), nu = unit * scales[:, None] * left, right / scales, u.D_w.shape, u.D_u.shape[1]
    none = np.zeros((len(right), nu))
    return u._replace(
        blocks=(*u.blocks, UncertainBlock("full", left.shape[1], len(right), _REMAINDER)),
        B_w=np.hstack([u.B_w, left]),
        C=np.vstack([u.C, right]),
        D_u=np.vstack([u.D_u, none]),
        D_d=np.vstack([u.D_d, none]),
        D_w=np.pad(u.D_w, [(0, len(right)), (0, left.shape[1])]),
        C_e=np.pad(u.C_e, [(0, len(right)), (0, 0)]),
    )


def _with_efforts(u: Uncertainty, loop: ClosedLoop, given: Mapping[str, Any] | None) -> Uncertainty:
    """Uncertainty with a complex number more for each motor whose efforts are uncertain: z = W u is added to u."""
    for name, weight in _check.mapping(given or {}, "efforts", "motors to weights").items():
        i = loop.motors.index(_check.one_of(name, loop.motors, "motor", "efforts"))
        A, B, C, D = weight_matrices(weight, name, loop.dt)
        on = np.eye(len(loop.motors))[[i]]
        (k, w), n = (len(u.A_e), u.B_w.shape[1]), len(A)
        late, one = np.zeros((k, n)), np.zeros((1, u.C.shape[1]))
        u = Uncertainty(
            (*u.blocks, UncertainBlock("complex", name=f"{name}_dynamics")),
            np.hstack([u.B_w, loop._parts.entry[:, [i]]]),
            np.vstack([u.C, one]),
            np.vstack([u.D_u, D @ on]),
            np.vstack([u.D_d, 0.0 * on]),
            # what is added to an effort is one: it passes where the effort passes, but for weights, which see the law
            np.block([[u.D_w, u.D_u[:, [i]]], [np.zeros((1, w + 1))]]),
            np.block([[u.A_e, late], [late.T, A]]),
            np.vstack([u.B_e, B @ on]),
            np.block([[u.C_e, np.zeros((len(u.C_e), n))], [np.zeros((1, k)), C]]),
        )
    return u

"""Functions of a machine that are traced: rate, forward dynamics, closing, terms, inverse and linear model.

Each is computed as the kernels of a run compute it, and has inputs x and outputs y, two arrays. All of them keep the
same independent rows, and return how far these are from being dependent: where that is little, the kernels choose rows
anew (see `kernels.motion`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.generated import CLEAR
from ..kernels.layout import LOADED, Model
from . import numbers
from .elimination import ConstrainedSolver, Factor, fewest_first, largest, smallest, sparse
from .graph import Graph
from .kernels import friction, reduction
from .machine import Parameters, TracedMachine, symbols
from .numbers import empty

__all__ = ["FUNCTIONS", "Function", "Tracing", "closeness", "inverse", "linear"]

Array = NDArray[Any]

# Of M_kk, what must be left of it when its turn comes; less says that M is not positive definite (as `split.cholesky`).
_POSITIVE = 1e-14

_VANISHING = 1e-18  # square of `kernels.generated.VANISHING`


class Function:
    """Traced function: a graph of expressions, its outputs, and the number of its inputs.

    Attributes
    ----------
    graph : Graph
    outputs : list
        Symbols and numbers.
    inputs : int
        Length of x.
    """

    def __init__(self, graph: Graph, inputs: int, outputs: Sequence[Any]) -> None:
        self.graph, self.inputs, self.outputs = graph, inputs, list(outputs)


class Tracing:
    """Machine that is traced at a sample configuration, with the rows to keep."""

    def __init__(
        self,
        model: Model,
        parameters: Parameters,
        rows: Sequence[int],
        sample: Array,
        graph: Graph | None = None,
        offset: int = 0,
    ) -> None:
        self.graph, self.rows = Graph() if graph is None else graph, rows
        self.clear: Any = CLEAR  # what laws solve is guarded: closeness above which it is trusted
        self.columns: list[list[int]] = []  # independent coordinates that laws have solved in
        self.margins: list[Any] | None = None  # where there is a list, guards of laws are put there: what must be > 0
        self.model = parameters.symbolic(self.graph, model, offset)
        self.nq, self.nv, self.nu = len(sample), len(model.damping), len(model.drives)
        self.sample = sample

    def inputs(self, *values: NDArray[np.float64]) -> list[Array]:
        """Inputs x as symbols, split into parts with these sample values."""
        made, at = symbols(self.graph, "x", np.concatenate(values)), 0
        parts = []
        for part in values:
            parts.append(made[at : at + len(part)])
            at += len(part)
        self.size = at
        return parts

    def scaled(self, values: Array) -> dict[int, Any]:
        """Entries of the kept rows, in metres, from an array with an entry for each row."""
        return sparse(self.model.scale[row] * values[row] for row in self.rows)

    def unscaled(self, lam: dict[int, Any]) -> Array:
        """Multipliers of all rows, from those of the kept rows in metres; all others are zero."""
        made = empty(len(self.model.rows))
        for i, row in enumerate(self.rows):
            made[row] = self.model.scale[row] * lam.get(i, 0.0)
        return made

    def solver(self, machine: TracedMachine, euclidean: bool = False, corrected: bool = False) -> ConstrainedSolver:
        """Solver for the kept rows, in the metric of M or in the Euclidean one."""
        n, M = machine.nv, None
        if euclidean:
            metric = Factor([{i: 1.0} for i in range(n)], list(range(n)))
        else:
            # M is that of a tree: from the leaves to the root nothing is filled in.
            M = [sparse(machine.M[i]) for i in range(n)]
            metric = Factor(M, list(range(n - 1, -1, -1)))
        rows = [self.scaled_row(machine.A[row], row) for row in self.rows]
        return ConstrainedSolver(metric, rows, M if corrected else None)

    def scaled_row(self, A: Array, row: int) -> dict[int, Any]:
        scale = self.model.scale[row]
        return {k: scale * x for k, x in sparse(A).items()}

    def residual(self, machine: TracedMachine) -> Any:
        """Largest closure error of all rows, metres."""
        return largest([abs(s * phi) for s, phi in zip(self.model.scale, machine.phi, strict=True)])

    def finished(self, *parts: Iterable[Any]) -> Function:
        return Function(self.graph, self.size, [x for part in parts for x in part])


def conditions(machine: TracedMachine, solver: ConstrainedSolver) -> tuple[Any, Any, Any]:
    """Smallest pivot and largest diagonal of S, and the smallest margin by which M is positive definite."""
    left = [d - _POSITIVE * machine.M[k, k] for k, d in enumerate(solver.metric.pivots)]
    return smallest(solver.schur.pivots), largest(solver.gradients), smallest(left)


def closeness(low: Any, high: Any, rows: int, reference: Any) -> Any:
    """Closeness to a singular configuration of rows, from `conditions`: 1 best, 0 where rows are dependent.

    As in `kernels.generated`: a single row is compared with `reference`, the size of a regular gradient, and so are
    all rows where their gradients vanish together.
    """
    if not rows:
        return 1.0
    size = reference * reference
    largest = size if rows == 1 else numbers.maximum(high, _VANISHING * size)
    return numbers.sqrt(numbers.maximum(low, 0.0) / largest)


def dense(x: dict[int, Any], n: int) -> Array:
    made = empty(n)
    for k, value in x.items():
        made[k] = value
    return made


def rate(at: Tracing, start: Array | None = None, drive: Callable | None = None, corrected: bool = False) -> Function:
    """(q, v, u) -> conditions (3,), change of v onto the constraints, dq/dt, dv/dt, power, dissipated power.

    With a drive, which has states c with values `start`: (q, v, u, t, c) -> the same, and dc/dt. The drive is a
    function (machine, t, c, u) -> efforts at the joints, dc/dt.

    Corrected, it is for states near singular configurations; see `ConstrainedSolver`.
    """
    given = [at.sample, np.linspace(0.3, 0.7, at.nv), np.ones(at.nu)]
    given += [] if drive is None else [np.zeros(1), start]
    q, v, u, *more = at.inputs(*given)
    machine = TracedMachine(at.model, q)
    machine.weigh()
    machine.drive()
    solver = at.solver(machine, corrected=corrected)
    velocity = {k: x for k, x in enumerate(v)}
    speeds = missing_rates(at, machine, solver.rows, velocity)
    change = dense(solver.least_change(speeds), at.nv)
    machine.move(v + change)
    rates: Sequence[Any] = ()
    if drive is not None:
        u, rates = drive(machine, *more, u)
    force = machine.B @ u if at.nu else empty(at.nv)
    target = {i: -x for i, x in at.scaled(machine.b).items()}
    vdot, lam, rubs = moved(at, machine, solver, sparse(force - machine.h), target)
    power = sum((f * x for f, x in zip(force, machine.v, strict=True)), 0.0)
    return at.finished(
        conditions(machine, solver),
        change,
        machine.position_rates(),
        vdot,
        (power, machine.dissipated() + rubs.power, machine.load_power(), machine.motion_power(lam)),
        rates,
    )


class Rubs(NamedTuple):
    """Friction in proportion to loads: its power, unit forces and slopes."""

    power: Any  # that it takes
    D: Array
    slopes: Array  # of the loads by the multipliers
    reply_lam: Array


def moved(
    at: Tracing, machine: TracedMachine, solver: ConstrainedSolver, f: dict[int, Any], target: dict[int, Any]
) -> tuple[Array, Array, Rubs]:
    """Acceleration, multipliers of all rows, and the friction in proportion to them; see `kernels.friction`."""
    found, multipliers = solver.solve(f, target)
    a, lam = dense(found, at.nv), at.unscaled(multipliers)
    D, elements = machine.unit_load_forces(), [e for e in at.model.elements if e.kind == LOADED]
    k, rows = len(D), len(lam)
    slopes, reply_lam = empty((k, rows)), empty((k, rows))
    if not k:
        return a, lam, Rubs(0.0, D, slopes, reply_lam)
    loads = [[getattr(e, name) for e in elements] for name in ("row", "rows", "side")]
    replies = []
    for j in range(k):
        reply, of_rows = solver.solve(sparse(-D[j]), {})
        replies.append(dense(reply, at.nv))
        reply_lam[j] = at.unscaled(of_rows)
    level, pivot, carried = empty(k), empty(k), empty(rows)
    missing = friction.load_levels(*loads, lam, reply_lam, level, pivot, empty((k, k + 1)), carried)
    at.graph.assume_less(missing, friction.UNSOLVED, trusted=True)  # else the kernels solve it
    for x in pivot:  # or say that there is no motion
        at.graph.assume_less(0.0, x)
    a = a + sum(c * reply for c, reply in zip(level, replies, strict=True))
    friction.load_slopes(*loads, carried, slopes)
    power = sum(c * sum(D[j] * machine.v) for j, c in enumerate(level))
    return a, carried, Rubs(power, D, slopes, reply_lam)


def missing_rates(
    at: Tracing, machine: TracedMachine, rows: Sequence[dict[int, Any]], velocity: dict[int, Any]
) -> dict[int, Any]:
    """Change that A v needs, of kept rows in metres: prescribed rates less A v."""
    wanted = at.scaled(machine.rates())
    return {i: wanted.get(i, 0.0) - sum((x * velocity[k] for k, x in row.items()), 0.0) for i, row in enumerate(rows)}


def forward(at: Tracing) -> Function:
    """(q, v, u) -> conditions (3,), acceleration, multipliers of all rows, at velocities that are not projected."""
    machine, solver, a, lam, _ = accelerated(at)
    return at.finished(conditions(machine, solver), a, lam)


def accelerated(at: Tracing) -> tuple[TracedMachine, ConstrainedSolver, Array, Array, Rubs]:
    """Machine under efforts, its solver, its acceleration, multipliers of all rows, and friction by loads."""
    q, v, u = at.inputs(at.sample, np.linspace(0.3, 0.7, at.nv), np.ones(at.nu))
    machine = TracedMachine(at.model, q)
    machine.weigh()
    machine.drive()
    machine.move(v)
    machine.u = u
    solver = at.solver(machine)
    force = machine.B @ u if at.nu else empty(at.nv)
    target = {i: -x for i, x in at.scaled(machine.b).items()}
    return machine, solver, *moved(at, machine, solver, sparse(force - machine.h), target)


def land(at: Tracing) -> Function:
    """q -> conditions (3,), residual, displacement, configuration after it: a Gauss-Newton step in the metric of M."""
    (q,) = at.inputs(at.sample)
    machine = TracedMachine(at.model, q)
    machine.weigh()
    solver = at.solver(machine)
    step = dense(solver.least_change({i: -x for i, x in at.scaled(machine.phi).items()}), at.nv)
    return at.finished(conditions(machine, solver), (at.residual(machine),), step, machine.moved(step))


def close(at: Tracing) -> Function:
    """q -> smallest pivot, largest diagonal, residual, configuration after a step in the Euclidean metric."""
    (q,) = at.inputs(at.sample)
    machine = TracedMachine(at.model, q)
    solver = at.solver(machine, euclidean=True)
    step = dense(solver.least_change({i: -x for i, x in at.scaled(machine.phi).items()}), at.nv)
    worst = smallest(solver.schur.pivots), largest(solver.gradients)
    return at.finished(worst, (at.residual(machine),), machine.moved(step))


def admissible(at: Tracing) -> Function:
    """(q, v) -> conditions (3,), and the nearest velocity, in the metric of M, that the constraints allow."""
    q, v = at.inputs(at.sample, np.linspace(0.3, 0.7, at.nv))
    machine = TracedMachine(at.model, q)
    machine.weigh()
    solver = at.solver(machine)
    velocity = {k: x for k, x in enumerate(v)}
    speeds = missing_rates(at, machine, solver.rows, velocity)
    return at.finished(conditions(machine, solver), v + dense(solver.least_change(speeds), at.nv))


def terms(at: Tracing) -> Function:
    """(q, v) -> M, h, phi, A, b, B, kinetic and potential energy."""
    q, v = at.inputs(at.sample, np.linspace(0.3, 0.7, at.nv))
    machine = TracedMachine(at.model, q)
    machine.weigh()
    machine.drive()
    machine.move(v)
    matrices = machine.M.ravel(), machine.h, machine.phi, machine.A.ravel(), machine.b, machine.B.ravel()
    return at.finished(*matrices, machine.energies())


def inverse(at: Tracing, weights: Sequence[Any], balance: float) -> Function:
    """(q, v, a) -> closeness, margin of actuation, smallest efforts u, multipliers of all rows; a is admissible.

    The efforts with the least u' W^-1 u, for a diagonal W, and the multipliers are found from

        B u - A' lam = M a + h,    u = W B' x,    A x = 0,

    which is a constrained system with the metric B W B'. A multiple of A'A added to it changes nothing, for A x = 0,
    and makes it positive definite where the motors reach all admissible motions, and nowhere else. So
    pivots vanish only where the machine cannot be controlled, whatever coordinates its motors are at.

    Parameters
    ----------
    at : Tracing
    weights : sequence
        Diagonal of W.
    balance : float
        The multiple. It changes nothing but rounding, of which there is little where both parts are of one size.
    """
    q, v, a = at.inputs(at.sample, np.linspace(0.3, 0.7, at.nv), np.ones(at.nv))
    machine = TracedMachine(at.model, q)
    machine.weigh()
    machine.drive()
    machine.move(v)
    rows = [at.scaled_row(machine.A[row], row) for row in at.rows]
    metric: list[dict[int, Any]] = [{} for _ in range(at.nv)]
    columns = [(w, sparse(column)) for w, column in zip(weights, machine.B.T, strict=True)]
    for weight, column in [*columns, *((balance, row) for row in rows)]:
        for i, x in column.items():
            for j, y in column.items():
                if i <= j:
                    metric[i][j] = metric[j][i] = metric[i].get(j, 0.0) + weight * x * y
    solver = ConstrainedSolver(Factor(metric, fewest_first([set(row) for row in metric])), rows)
    x, minus_lam = solver.solve(sparse(machine.M @ a + machine.h), {})
    u = [w * sum((y * x[k] for k, y in column.items()), 0.0) for w, column in columns]
    # of rows in this metric, the largest there are have 1 / balance on the diagonal of S
    near = numbers.sqrt(numbers.maximum(balance * smallest(solver.schur.pivots), 0.0)) if rows else 1.0
    left = [d / metric[k][k] for k, d in enumerate(solver.metric.pivots)]
    reached = numbers.sqrt(numbers.maximum(smallest(left), 0.0)) if left else 1.0
    lam = at.unscaled({i: -x for i, x in minus_lam.items()})
    return at.finished((near, reached), u, lam)


def linear(at: Tracing, R: Array, factor: float) -> Function:
    """(q, v, u) -> conditions (3,), independence, A, B, drift, K, N, G, acceleration, multipliers, of coordinates R.

    See `kernels.reduction`, also for `factor`; the velocities fulfil the constraints.
    """
    machine, solver, a, lam, rubs = accelerated(at)
    slopes = machine.slopes(a, lam, machine.u)
    p, R = len(R), R.astype(object)
    G, mu, N = empty((p, at.nv)), empty((p, len(at.model.rows))), empty((p, at.nv))
    for i in range(p):
        found = solver.solve(sparse(R[i]), {})
        G[i], mu[i] = dense(found[0], at.nv), at.unscaled(found[1])
    # R G' is a part of M^-1, as far as the constraints leave it: symmetric, and positive definite where the coordinates
    # are independent. What is left of one beside the others is compared with what it has of M^-1.
    square = Factor([sparse(row) for row in G @ R.T], list(range(p)))
    own = [sum((x * x * d for x, d in own_parts(solver, row)), 0.0) for row in R]
    independent = smallest([d / size for d, size in zip(square.pivots, own, strict=True)])
    K = empty((p, at.nv))
    for i in range(p):
        reduction.add_product(dense(square.solve({i: 1.0}), p), G, K[i])
        target = empty(len(at.model.rows))
        reduction.rate_target(at.model.scale, slopes, K[i], target)
        N[i] = dense(solver.least_change(sparse(target[row] for row in at.rows)), at.nv)
    rub(at, solver, rubs, G, mu)
    A, B, drift = empty((2 * p, 2 * p)), empty((2 * p, at.nu)), empty(2 * p)
    zero = empty((p, at.nv))
    rows = reduction.CoordinateRows(R, zero, zero, zero, np.ones(p, bool))
    reduction.assemble(at.model.links, slopes, machine.B, machine.v, a, rows, factor, K, N, G, mu, A, B, drift)
    found = A.ravel(), B.ravel(), drift, K.ravel(), N.ravel(), G.ravel(), a, lam
    return at.finished(conditions(machine, solver), (independent,), *found)


def rub(at: Tracing, solver: ConstrainedSolver, rubs: Rubs, G: Array, mu: Array) -> None:
    """Add friction in proportion to loads to G and mu, in place, as `reduction.rub`."""
    k, p = len(rubs.D), len(G)
    if not k:
        return
    unit_a, unit_lam = empty((k, at.nv)), empty((k, len(mu[0])))
    for j in range(k):
        target = {i: x for i, x in at.scaled(rubs.slopes[j]).items()}
        found, of_rows = solver.solve({}, target)
        unit_a[j], unit_lam[j] = dense(found, at.nv), at.unscaled(of_rows)
    friction.correct_rows(rubs.slopes, rubs.D, rubs.reply_lam, unit_a, unit_lam, empty((k, k + p)), empty(k), G, mu)


def own_parts(solver: ConstrainedSolver, row: Array) -> list[tuple[Any, Any]]:
    """Terms whose products add up to x M^-1 x' of a row x: pairs of an entry of L^-1 x' and its 1 / D."""
    return [(x, solver.metric.inverse[k]) for k, x in solver.metric.forward(sparse(row)).items()]


FUNCTIONS: dict[str, Callable[[Tracing], Function]] = {
    "rate": rate,
    "rate_near": partial(rate, corrected=True),
    "forward": forward,
    "land": land,
    "close": close,
    "admissible": admissible,
    "terms": terms,
}

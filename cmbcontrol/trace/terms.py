"""Equations of motion at a symbolic state, as a law that is traced gets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..kernels.layout import LOADED
from . import numbers
from .elimination import ConstrainedSolver, Factor, largest, smallest, sparse, symmetric
from .equations import USUAL, EquationsOfMotion, NullSpaceMotion
from .functions import Tracing, dense
from .kernels import forces
from .machine import TracedMachine
from .symbols import NotTraceable, Symbols

__all__ = ["TracedTerms"]

_T = TypeVar("_T")

# What must be left of a coordinate beside those that were taken before it, of its own part in the motions: it is taken
# as an independent one. Less where these are too few.
_LEFT = (0.3, 0.1, 0.03)

# What Jacobi's rotations may leave beside the diagonal, of the trace: a thousand times rounding.
_DIAGONAL = 1e-13

# Metres of gap a metre of motion: rows are compared with it where all are smaller, as levers of mechanisms are not.
_LEVER = 0.1


class TracedTerms(EquationsOfMotion):
    """Terms at a state in symbols, in place of `model.terms.Terms`, for a law that is traced.

    Laws solve in independent coordinates z = v[columns], from which all others follow: v = K z, and a = c + K z' with
    A K = 0, A c = -b. Each solution is guarded: where it would lose digits, a guard of the code fails.
    """

    absent: frozenset[str] = frozenset()
    row_names: tuple[str, ...] = ()
    force: Any = None
    friction: Any = None  # what solves for efforts or accelerations refuses friction in proportion to loads

    def __init__(self, at: Tracing, plant: Any, t: Any, q: Any, v: Any) -> None:
        self.at, self.plant, self.t = at, plant, t
        self.q, self.v = Symbols(q), Symbols(v)
        self._chart: IndependentCoordinates | None = None

    @classmethod
    def of_machine(cls, at: Tracing, t: Any, machine: TracedMachine) -> TracedTerms:
        """Terms at the state of a machine whose velocities are set already."""
        terms = cls(at, None, t, machine.q, machine.v)
        vars(terms).update(_machine=machine, _weighed=machine, _moved=machine, B=Symbols(machine.B))
        return terms

    # -- what a law reads ------------------------------------------------------------------------------------

    @cached_property
    def _machine(self) -> TracedMachine:
        return TracedMachine(self.at.model, self.q.view(np.ndarray))

    @cached_property
    def _weighed(self) -> TracedMachine:
        self._machine.weigh()
        return self._machine

    @cached_property
    def _moved(self) -> TracedMachine:
        self._weighed.move(self.v.view(np.ndarray))
        return self._machine

    @cached_property
    def M(self) -> Symbols:
        return Symbols(self._weighed.M)

    @cached_property
    def h(self) -> Symbols:
        return Symbols(self._moved.h)

    @cached_property
    def b(self) -> Symbols:
        return Symbols(self._moved.b)

    @cached_property
    def A(self) -> Symbols:
        return Symbols(self._machine.A)

    @cached_property
    def phi(self) -> Symbols:
        return Symbols(self._machine.phi)

    @cached_property
    def B(self) -> Symbols:
        self._machine.drive()
        return Symbols(self._machine.B)

    @property
    def rank(self) -> int:
        return len(self.at.rows)

    @property
    def dof(self) -> int:
        return len(self.v) - self.rank

    @property
    def row_scale(self) -> Symbols:
        return Symbols(self.at.model.scale)

    @property
    def unit_lengths(self) -> Symbols:
        return Symbols(self.at.model.unit_lengths)

    @cached_property
    def _plain(self) -> ConstrainedSolver:
        """Solver for the smallest x with A x = c, in the coordinates as they are."""
        n = len(self.v)
        plain = Factor([{i: 1.0} for i in range(n)], list(range(n)))
        solver = ConstrainedSolver(plain, [self.at.scaled_row(self._machine.A[row], row) for row in self.at.rows])
        sizes = solver.gradients
        self.require(solver.schur, [largest(sizes)] * len(sizes))
        return solver

    @cached_property
    def Cv(self) -> Symbols:
        """Smallest acceleration a with A a = -b, (nv,)."""
        target = {i: -x for i, x in self.at.scaled(self._moved.b).items()}
        return Symbols(dense(self._plain.least_change(target), len(self.v)))

    @property
    def kinetic(self) -> Any:
        return 0.5 * (self.v @ self.M @ self.v)

    @cached_property
    def potential(self) -> Any:
        machine = self._machine
        return forces.potential_energy(self.at.model, machine.q, machine.R, machine.p)

    @property
    def energy(self) -> Any:
        return self.kinetic + self.potential

    def of_independent_rows(self) -> TracedTerms:
        """Terms unchanged: generated code has independent rows only."""
        return self

    def with_force(self, force: Any) -> TracedTerms:
        """Terms with a measured constraint force A' lam (nv,)."""
        other = object.__new__(TracedTerms)
        vars(other).update(vars(self))
        other.force = force
        return other

    def with_bias(self, h: Any) -> TracedTerms:
        """Terms with other bias forces (nv,)."""
        other = object.__new__(TracedTerms)
        vars(other).update(vars(self))
        vars(other)["h"] = Symbols(np.asarray(h, object))
        return other

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"terms.{name} has no code; q, v, M, h, A, b, B, phi, P @ x and energy have")

    # -- what a law solves -----------------------------------------------------------------------------------

    def chart(self, wanted: Sequence[int] = ()) -> IndependentCoordinates:
        """Independent coordinates, made at the first call: wanted ones, or driven ones, where these are independent."""
        if self._chart is None:
            self._chart = IndependentCoordinates(self, wanted)
        return self._chart

    def only_acceleration(self, J: Any, target: Any, unit: float = 1.0) -> tuple[Symbols, float]:
        J, target = np.asarray(J, object), np.asarray(target, object)
        chart = self.chart(_unit_columns(J))
        if list(_unit_columns(J)) == chart.columns:
            return chart.acceleration(target), 1.0
        rest, unit_lengths = target - J @ chart.c, self.at.model.unit_lengths
        sizes = [sum((x * x / (unit_lengths[k] * unit_lengths[k]) for k, x in sparse(row).items()), 0.0) for row in J]
        return chart.acceleration(self._least(J @ chart.K, rest, [x * sum(chart.sizes, 0.0) for x in sizes])), 1.0

    def nearest_acceleration(self, J: Any, target: Any, free: NullSpaceMotion) -> tuple[Symbols, float]:
        chart, z = self.chart(), self._nearest_to(free)
        K = chart.K
        JK = np.asarray(J, object) @ K
        solver = ConstrainedSolver(chart.inertia, [sparse(row) for row in JK])
        self.require(solver.schur, [self._mobility_without_loops(row) for row in np.asarray(J, object)])
        rest = np.asarray(target, object) - np.asarray(J, object) @ chart.c - JK @ z
        return chart.acceleration(z + dense(solver.least_change(sparse(rest)), self.dof)), 1.0

    def _nearest_to(self, free: NullSpaceMotion) -> Any:
        """Independent accelerations z (dof,) of the admissible acceleration nearest to the one that is wanted."""
        if free.J is not None:
            raise NotTraceable(
                "a posture in some coordinates, or of a second task, takes singular values, for which there is no "
                "code; give posture=(reference, bandwidth) in all coordinates, or posture_damping="
            )
        chart, wanted = self.chart(), np.asarray(free.vdot, object)
        near = chart.inertia.solve(sparse(chart.K.T @ (self.M.view(np.ndarray) @ (wanted - chart.c))))
        return dense(near, self.dof)

    def least_squares_acceleration(
        self,
        J: Any,
        target: Any,
        free: NullSpaceMotion,
        *,
        gauss: bool = False,
        damped: float | None = None,
        unit: float = 1.0,
    ) -> Symbols:
        # squares of singular values are eigenvalues of the mobility J K (K'M K)^-1 K'J'
        if gauss or damped is None or len(J) > self.dof:
            raise NotTraceable(
                "consistent=, and tasks of more values than degrees of freedom, take singular values of Gauss' "
                "principle, for which there is no code; give as many values as there are degrees of freedom"
            )
        chart, J, z = self.chart(), np.asarray(J, object), self._nearest_to(free)
        JK, usual = J @ chart.K, USUAL / unit
        ways = np.array([dense(chart.inertia.solve(sparse(row)), self.dof) for row in JK], object)
        squares, U, left = symmetric(JK @ ways.T)
        largest_one, total = usual * usual * self._most, sum(squares, 0.0)
        for square in squares:
            largest_one = numbers.maximum(largest_one, square)
        if not isinstance(left, float):
            self.require_positive(_DIAGONAL * _DIAGONAL * total * total - left)
        rest = U.T @ (np.asarray(target, object) - J @ chart.c - JK @ z)
        share = [x / numbers.maximum(damped * damped * largest_one, s) for x, s in zip(rest, squares, strict=True)]
        return chart.acceleration(z + ways.T @ (U @ np.array(share, object)))

    @cached_property
    def _most(self) -> Any:
        """Square of the mobility of the coordinates, in metres, as `model.accelerations` has it."""
        chart, unit_lengths = self.chart(), self.at.model.unit_lengths
        ways = [(k, row @ dense(chart.inertia.solve(sparse(row)), self.dof)) for k, row in enumerate(chart.K)]
        return sum((unit_lengths[k] * unit_lengths[k] * way for k, way in ways), 0.0)

    def step_onto_loops(self, columns: Sequence[int]) -> Symbols:
        """Displacement that closes the loops to first order, with some independent coordinates held."""
        chart = self.chart(columns)
        if chart.columns != list(columns):
            raise NotTraceable("coordinates that do not determine the motion where the law is traced")
        made = np.zeros(len(self.v), object) + 0.0
        chart.fill(made, {i: -x for i, x in self.at.scaled(self._machine.phi).items()})
        return Symbols(made)

    def smallest_effort(self, vdot: Any, root: Any = None, nominal: Any = None, *, strict: bool = True) -> Symbols:
        chart, B = self.chart(), self._pushes(root)
        if B.shape[1] < self.dof:
            raise NotTraceable(f"{B.shape[1]} motors and {self.dof} degrees of freedom")
        self._require_no_loads()
        force = self.M.view(np.ndarray) @ np.asarray(vdot, object) + self.h.view(np.ndarray)
        if nominal is not None:
            force = force - self.B.view(np.ndarray) @ np.asarray(nominal, object)
        push = self._push(B)
        u = self._least(chart.K.T @ B, chart.K.T @ force, [push * size for size in chart.sizes])
        u = u if root is None else np.asarray(root, object) @ u
        return Symbols(u if nominal is None else u + np.asarray(nominal, object))

    def force_rows(self, S: Any) -> Symbols:
        scaled = [self.at.scaled(np.asarray(row, object)) for row in S]
        return Symbols(np.array([dense(self._plain.least_change(row), len(self.v)) for row in scaled], object))

    def effort_with_force(self, C: Any, f: Any, force: Any, root: Any = None) -> tuple[Symbols, bool]:
        self._require_no_loads()
        chart, C = self.chart(), np.asarray(C, object)
        B, unit_lengths = self._pushes(root), self.at.model.unit_lengths
        if B.shape[1] < self.dof + len(C):
            raise NotTraceable(f"{B.shape[1]} motors, {self.dof} degrees of freedom and {len(C)} forces")
        need = np.concatenate([chart.K.T @ np.asarray(f, object), np.asarray(force, object)])
        felt = [sum((x * x * unit_lengths[k] * unit_lengths[k] for k, x in sparse(row).items()), 0.0) for row in C]
        push = self._push(B)
        u = self._least(np.concatenate([chart.K.T @ B, C @ B]), need, [push * size for size in [*chart.sizes, *felt]])
        return Symbols(u if root is None else np.asarray(root, object) @ u), True

    def with_friction_of_loads(self, vdot: Any, effort: Callable[[Any, Any], Any], given: Any = None) -> TracedTerms:
        self._require_no_loads()
        return self

    def actuation(self, names: tuple[str, ...], metric: Any, epsilon: float = 0.0) -> TracedActuation:
        self._require_no_loads()
        if epsilon:
            raise NotTraceable("epsilon= takes singular values, for which there is no code; leave it out")
        return TracedActuation(self, *metric)

    def in_present_rows(self, S: Any, row_names: tuple[str, ...]) -> Any:
        return S

    def determines(self, S: Any) -> Any:
        if self.rank < len(self.at.model.rows):
            raise NotTraceable("redundant rows share the constraint force")
        return np.ones(len(S), dtype=bool)

    def _require_no_loads(self) -> None:
        """Refuse friction in proportion to loads, for which there are no symbols: no law may leave it out unnoticed."""
        if any(element.kind == LOADED for element in self.at.model.elements):
            raise NotTraceable(
                "friction in proportion to loads follows from the efforts of a law, for which there is no code; "
                "ElectricDrive(efficiency=...) has losses of gears with code"
            )

    def _pushes(self, root: Any) -> Any:
        """Joint forces of the motors, B, in the metric R R' of their efforts."""
        B = self.B.view(np.ndarray)
        return B if root is None else B @ np.asarray(root, object)

    def _push(self, B: Any) -> Any:
        """Square of the force of all motors together on a joint."""
        unit_lengths = self.at.model.unit_lengths
        return sum(
            (x * x / (unit_lengths[k] * unit_lengths[k]) for column in B.T for k, x in sparse(column).items()), 0.0
        )

    @cached_property
    def _gauss(self) -> ConstrainedSolver:
        """Solver for what is nearest in the metric of M, on the constraints."""
        solver = self.at.solver(self._weighed)
        self.require(solver.schur, [largest(solver.gradients)] * len(solver.gradients))
        return solver

    def nearest_step_onto_loops(self) -> Symbols:
        """Smallest displacement, in the metric of M, that closes the loops to first order."""
        open_by = {i: -x for i, x in self.at.scaled(self._machine.phi).items()}
        return Symbols(dense(self._gauss.least_change(open_by), len(self.v)))

    def admissible_velocity(self, v: Any) -> Symbols:
        """Nearest velocity that the loops allow, in the metric of M."""
        return self._less_forbidden(self._gauss, v, self.at.scaled(self._machine.rates()))

    def moving(self, t: Any, v: Any) -> TracedTerms:
        """Terms at the same configuration and another velocity."""
        terms = TracedTerms(self.at, self.plant, t, self.q, v)
        vars(terms)["_gauss"] = self._gauss
        return terms

    @property
    def P(self) -> Projector:
        """Projector on N(A), to be multiplied with a vector from the right."""
        return Projector(self)

    def _less_forbidden(self, solver: ConstrainedSolver, x: Any, rates: Mapping[int, Any] | None = None) -> Symbols:
        """Vector x changed to A x = `rates` (zero unless given), by the smallest change in the metric of a solver."""
        given, rates = np.asarray(x, object), {} if rates is None else rates
        along = [sum((y * given[k] for k, y in row.items()), 0.0) for row in solver.rows]
        change = {i: rates.get(i, 0.0) - s for i, s in enumerate(along)}
        return Symbols(given + dense(solver.least_change(change), len(given)))

    def determined_by(self, columns: Sequence[int]) -> bool:
        return True  # a guard of `motion_of` fails where they do not

    def motion_of(self, columns: Sequence[int], change: Any) -> Symbols:
        chart = self.chart(columns)
        if chart.columns == list(columns):
            return Symbols(chart.K @ np.asarray(change, object))
        S = chart.K[list(columns)]
        square = Factor([sparse(row) for row in S.T @ S], list(range(self.dof)))
        self.require(square, [sum((x * x for x in column), 0.0) for column in S.T])
        return Symbols(chart.K @ dense(square.solve(sparse(S.T @ np.asarray(change, object))), self.dof))

    def independence(self, mobility: Any, J: Any) -> float:
        return 1.0

    def acceleration(self, f: Any) -> Symbols:
        self._require_no_loads()
        if "_gauss" in vars(self):
            target = {i: -x for i, x in self.at.scaled(self._moved.b).items()}
            return Symbols(
                dense(
                    self._gauss.solve(sparse(np.asarray(f, object) - self.h.view(np.ndarray)), target)[0], len(self.v)
                )
            )
        chart = self.chart()
        need = np.asarray(f, object) - self.h.view(np.ndarray) - self.M.view(np.ndarray) @ chart.c
        return chart.acceleration(dense(chart.inertia.solve(sparse(chart.K.T @ need)), self.dof))

    def response(self, f: Any) -> Symbols:
        chart = self.chart()
        z = chart.inertia.solve(sparse(chart.K.T @ np.asarray(f, object)))
        return Symbols(chart.K @ dense(z, self.dof))

    def free_acceleration(self, f: Any) -> Symbols:
        return Symbols(dense(self._tree.solve(sparse(np.asarray(f, object))), len(self.v)))

    @cached_property
    def _tree(self) -> Factor:
        """Factor of M."""
        n = len(self.v)
        return Factor([sparse(row) for row in self.M.view(np.ndarray)], list(range(n - 1, -1, -1)))

    def _mobility_without_loops(self, row: Any) -> Any:
        """Mobility x M^-1 x' of a row x, without the loops."""
        parts = self._tree.forward(sparse(row))
        return sum((x * x * self._tree.inverse[k] for k, x in parts.items()), 0.0)

    def _least(self, X: Any, y: Any, sizes: Sequence[Any]) -> Any:
        """Smallest x with X x = y; rows are compared with these squares, which they have where nothing is lost."""
        rows = [sparse(row) for row in X]
        if all(row == {i: 1.0} for i, row in enumerate(rows)):
            return np.concatenate([y, np.zeros(X.shape[1] - len(rows), object) + 0.0])
        if not all(rows):
            raise NotTraceable("motors or coordinates that do not determine the motion")
        width = X.shape[1]
        plain = Factor([{i: 1.0} for i in range(width)], list(range(width)))
        solver = ConstrainedSolver(plain, rows)
        self.require(solver.schur, sizes)
        return dense(solver.least_change(sparse(y)), width)

    def require(self, factor: Factor, sizes: Sequence[Any]) -> None:
        """Add guards on an elimination: the rest of a row, its pivot, is no small part of the row."""
        clear = self.at.clear * self.at.clear
        left = [pivot - clear * size for pivot, size in zip(factor.pivots, sizes, strict=True)]
        decided = [x for x in left if isinstance(x, float)]
        self.require_positive(min(decided, default=1.0))
        self.require_positive(smallest([x for x in left if not isinstance(x, float)]))

    def assume_less(self, a: Any, b: Any) -> None:
        # where no other code takes over in other cases, as in exported code, the law cannot be traced
        if self.at.margins is not None:
            raise NotTraceable("cases that are left to Python")
        self.at.graph.assume_less(a, b)

    def at_first_sample(self, flag: Any) -> bool:
        self.assume_less(0.5, flag)
        self.at.graph.require_less(0.5, flag)
        return False

    def by_program(self, program: Callable[[], _T], regular: Callable[[], _T]) -> _T:
        return regular()

    def require_positive(self, x: Any) -> None:
        """Add a guard on a number, which is positive where all that follows can be trusted."""
        if not self.at.graph.scalar(x).value > 0.0:
            raise NotTraceable(
                "the motors or coordinates of the law do not determine the motion at this configuration as code needs "
                "it: they move by less than a fiftieth of what others do, as behind a gear or near a singular "
                "configuration; take coordinates before the gear, or start elsewhere"
            )
        if isinstance(x, float):
            return
        if self.at.margins is None:
            self.at.graph.require_less(0.0, x)
        else:
            self.at.margins.append(x)


class TracedActuation:
    """Admissible motions that the motors reach, as far as symbols have them; in place of `model.actuation.Actuation`.

    With N = L^-1 B, Q = N'N and S = K'B Q^-1 B'K, the squares of the cosines between the reach of the motors and the
    admissible motions are eigenvalues of (K'L L'K)^-1 S. The sum of their inverses is the trace of S^-1 K'L L'K, which
    guards that none is below a margin.
    """

    def __init__(self, terms: TracedTerms, L: Any, inverse: Any) -> None:
        chart, B = terms.chart(), terms.B.view(np.ndarray)
        self._terms, self._chart, self._motors = terms, chart, B.shape[1]
        if B.shape[1] < terms.dof:
            raise NotTraceable(f"{B.shape[1]} motors and {terms.dof} degrees of freedom")
        N, moved = np.asarray(inverse, object) @ B, np.asarray(L, object).T @ chart.K
        Q, self._W = N.T @ N, moved.T @ moved
        metric = Factor([sparse(row) for row in Q], list(range(len(Q))))
        terms.require(metric, [Q[i, i] for i in range(len(Q))])
        rows = [sparse(row) for row in chart.K.T @ B]
        if not all(rows):
            raise NotTraceable("a degree of freedom that no motor reaches")
        self._solver = ConstrainedSolver(metric, rows)

    def within(self, margin: float) -> bool:
        """Whether every motion is reached with this margin at least: yes, and elsewhere a guard of the code fails."""
        terms = self._terms
        inverses = [self._solver.multipliers({i: 1.0}) for i in range(terms.dof)]
        total = sum((x * self._W[k, i] for i, column in enumerate(inverses) for k, x in column.items()), 0.0)
        terms.require_positive(1.0 - numbers.maximum(margin * margin, terms.at.clear) * total)
        return True

    def effort(self, force: Any, margin: float = 0.0) -> Symbols:
        """Smallest motor efforts that move the machine as a joint force does, above the margin of `within`."""
        need = sparse(self._chart.K.T @ np.asarray(force, object))
        return Symbols(dense(self._solver.least_change(need), self._motors))

    def __getattr__(self, name: str) -> Any:
        raise NotTraceable(f"the {name} of the actuation takes singular values, for which there is no code")


class Projector:
    """Projector P = 1 - A+ A, defined by its product with a vector."""

    def __init__(self, terms: TracedTerms) -> None:
        self._terms = terms

    def __matmul__(self, x: Any) -> Symbols:
        return self._terms._less_forbidden(self._terms._plain, x)


class IndependentCoordinates:
    """Independent coordinates at a state, and the linear maps from which all others follow.

    Attributes
    ----------
    columns : list of int
    K, c : arrays of symbols, (nv, dof) and (nv,)
    """

    def __init__(self, terms: TracedTerms, wanted: Sequence[int]) -> None:
        at, machine = terms.at, terms._machine
        self.terms, n = terms, len(terms.v)
        self.columns = independent_columns(terms, wanted)
        at.columns.append(self.columns)
        self._others = [k for k in range(n) if k not in self.columns]
        place = {k: i for i, k in enumerate(self._others)}
        self._rows = [at.scaled_row(machine.A[row], row) for row in at.rows]
        unit_lengths = at.model.unit_lengths
        metric = Factor(
            [{i: unit_lengths[k] * unit_lengths[k]} for i, k in enumerate(self._others)], list(range(len(self._others)))
        )
        self._solver = ConstrainedSolver(
            metric, [{place[k]: x for k, x in row.items() if k in place} for row in self._rows]
        )
        # a row that the other coordinates hardly feel, and one that vanishes, are compared with all of the largest row
        sizes = [sum((x * x / (unit_lengths[k] * unit_lengths[k]) for k, x in row.items()), 0.0) for row in self._rows]
        terms.require(self._solver.schur, [numbers.maximum(largest(sizes), _LEVER * _LEVER)] * len(sizes))
        self.K = np.zeros((n, len(self.columns)), object) + 0.0
        for i, k in enumerate(self.columns):
            self.K[k, i] = 1.0
            self.fill(self.K[:, i], {j: -row[k] for j, row in enumerate(self._rows) if k in row})

    def fill(self, column: Any, rhs: dict[int, Any]) -> None:
        """Set the other coordinates in `column` to A x = rhs, where the independent ones are zero."""
        for i, x in self._solver.least_change(rhs).items():
            column[self._others[i]] = x

    @cached_property
    def c(self) -> Any:
        made = np.zeros(len(self.K), object) + 0.0
        at, b = self.terms.at, self.terms._moved.b
        self.fill(made, {i: -x for i, x in at.scaled(b).items()})
        return made

    @cached_property
    def sizes(self) -> list[Any]:
        """Squares of the lengths of the columns of K, in metres."""
        unit_lengths = self.terms.at.model.unit_lengths
        return [
            sum((x * x * unit_lengths[k] * unit_lengths[k] for k, x in sparse(column).items()), 0.0)
            for column in self.K.T
        ]

    @cached_property
    def inertia(self) -> Factor:
        """Factor of K'M K."""
        H = self.K.T @ self.terms.M.view(np.ndarray) @ self.K
        rows = [sparse(row) for row in H]
        factor = Factor(rows, list(range(len(rows))))
        self.terms.require(factor, [H[i, i] for i in range(len(rows))])
        return factor

    def acceleration(self, z: Any) -> Symbols:
        """Acceleration a = c + K z."""
        return Symbols(self.c + self.K @ z)


def _unit_columns(J: Any) -> list[int]:
    """Coordinates that the rows of J select; empty where a row is no plain coordinate."""
    rows = [sparse(row) for row in J]
    plain = all(len(row) == 1 and next(iter(row.values())) == 1.0 for row in rows)
    return [next(iter(row)) for row in rows] if plain else []


def independent_columns(terms: TracedTerms, wanted: Sequence[int]) -> list[int]:
    """Coordinates from which all others follow, at the sample: those wanted, driven ones, others, in this order."""
    n, dof = len(terms.v), terms.dof
    value = np.vectorize(lambda x: terms.at.graph.scalar(x).value, otypes=[float])
    if dof == 0:
        return []
    unit_lengths = value(terms.unit_lengths.view(np.ndarray))
    A = value(terms.A.view(np.ndarray))[list(terms.at.rows)].reshape(terms.rank, n)
    levers = A * value(terms.row_scale.view(np.ndarray))[list(terms.at.rows), None] / unit_lengths
    Z = np.linalg.svd(levers)[2][terms.rank :].T  # motions of a metre
    driven = [k for k in range(n) if any(not isinstance(x, float) or x != 0.0 for x in terms.B[k])]
    order = [*driven, *(k for k in range(n) if k not in driven)]
    taken: list[int] = []
    basis = np.empty((0, dof))
    # those wanted come first, also where their ways are short: where they fail, what wants them fails, too
    for candidates, share, least in [(wanted, 0.0, _LEFT[-1]), *((order, share, share * share) for share in _LEFT)]:
        for k in candidates:
            if k not in taken and len(taken) < dof:
                left = Z[k] - basis.T @ (basis @ Z[k])
                left -= basis.T @ (basis @ left)
                size = float(np.linalg.norm(left))
                if size > max(share * float(np.linalg.norm(Z[k])), least):
                    taken.append(k)
                    basis = np.vstack([basis, left / size])
    if len(taken) < dof:
        raise NotTraceable("no coordinates determine the motion where the law is traced")
    return taken if wanted and taken[: len(wanted)] == list(wanted) else sorted(taken)

"""A small convex program of fixed shape, solved in two ways: the compiled solver itself, and a model of it in cvxpy.

Both take the same numbers and the same solver, Clarabel, so that the slow, readable one judges the fast one.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SOLVERS", "ConvexProgram", "Costs", "DirectSolver", "ModelledSolver", "ProgramShape", "span"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Programs are small: accuracy is cheap. Where the first settings do not reach it, others do, mostly.
ACCURATE = 1e-11
ATTEMPTS: tuple[dict[str, Any], ...] = (
    {},
    {"equilibrate_enable": False},
    {"max_step_fraction": 0.9},
    {"static_regularization_constant": 1e-12},
    {"static_regularization_constant": 1e-8, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-8)},
)
SETTINGS = {
    **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12),
    **dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), 1e-6),
    **dict.fromkeys(("iterative_refinement_abstol", "iterative_refinement_reltol"), 1e-15),
    "iterative_refinement_max_iter": 30,
    "iterative_refinement_stop_ratio": 2.0,
    "static_regularization_constant": 1e-10,
    "presolve_enable": False,
    "max_threads": 1,
}


class ProgramShape(NamedTuple):
    """Sizes and bounds that all programs of one solver have in common."""

    efforts: int  # rows of L
    above: Mask  # (n,) unknowns with an upper bound
    below: Mask  # (n,) and with a lower one
    motion: int  # rows of R
    forces: int  # rows of F
    cones: tuple[int, ...]  # rows of each cone in G


class ConvexProgram(NamedTuple):
    """Numbers of a convex program with unknowns x (n,), r = R x, and slacks t on r = n and e on the forces.

    ::

        min  effort / 2 |L x - l|^2 + square (|r|^2 / 2 - n'r) + peak t + contact e - progress x_last
        s.t. lower <= x <= upper,  |r_i - n_i| <= span t (only with peak > 0),  F x + f + e >= 0,  t, e >= 0,
             each cone of G x + g, with e added to its first row: first row >= norm of the others
    """

    L: Array
    l: Array
    R: Array
    n: Array
    lower: Array
    upper: Array
    F: Array
    f: Array
    G: Array
    g: Array


class Costs(NamedTuple):
    """Costs of the terms that a program minimizes; see `ConvexProgram`."""

    effort: float = 0.0
    square: float = 0.0
    peak: float = 0.0
    contact: float = 0.0
    progress: float = 0.0


def span(n: Array) -> float:
    """Unit of the slack on the motion, which keeps it of the order of one: the largest of n, or 1."""
    return max(1.0, float(np.abs(n).max(initial=0.0)))


class _Solver:
    """Base class of solvers. They are copied and pickled as their shape: library objects belong to one process."""

    def __init__(self, shape: ProgramShape) -> None:
        self._shape = shape

    def __reduce__(self) -> tuple:
        return type(self), (self._shape,)


class DirectSolver(_Solver):
    """Solver that calls Clarabel itself: min y'P y / 2 + q'y with b - A y in a product of cones.

    A solver is set up for each program, since its scaling belongs to the numbers: no solution depends on the ones
    before it.
    """

    def __init__(self, shape: ProgramShape) -> None:
        import clarabel

        super().__init__(shape)
        self._solver = clarabel.DefaultSolver
        self._solved = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
        self._layouts = {bounded: _Layout(shape, bounded) for bounded in (False, True)}
        self._settings = [_settings(attempt) for attempt in ATTEMPTS]

    def __call__(self, program: ConvexProgram, costs: Costs) -> Array | None:
        """Solution x (n,) of a program, or None where the solver finds none."""
        layout = self._layouts[costs.peak > 0.0]
        P, q, A, b = layout.fill(program, costs)
        if not np.isfinite(A.data.sum() + b.sum() + q.sum() + P.data.sum()):
            return None
        best, x = np.inf, None
        for settings in self._settings:
            solution = self._solver(P, q, A, b, layout.cones, settings).solve()
            if solution.status not in self._solved:
                continue
            gap = abs(solution.obj_val - solution.obj_val_dual) / max(1.0, abs(solution.obj_val))
            if (error := gap + max(solution.r_prim, solution.r_dual)) < best:
                best, x = error, np.array(solution.x[: layout.n])
            if best <= ACCURATE:
                break
        return x


class _Layout:
    """Layout of P, q, A and b. The unknowns y are x, r, t if it counts, and e with contacts."""

    def __init__(self, shape: ProgramShape, bounded: bool) -> None:
        import clarabel
        from scipy.sparse import csc_array

        _, above, below, m, forces, cones = shape
        self.n, self._bounded, self._contacts = above.size, bounded, bool(forces or cones)
        self._above, self._below = np.flatnonzero(above), np.flatnonzero(below)
        columns = self.n + m + bounded + self._contacts
        sizes = (m, self._above.size, self._below.size, m * bounded, m * bounded, int(bounded))
        ends = np.cumsum([0, *sizes, forces, int(self._contacts), sum(cones)]).tolist()
        self._rows = tuple(slice(*ends[i : i + 2]) for i in range(len(ends) - 1))
        link, high, low, over, under, not_below, force, positive, cone = self._rows
        x, r, t, e = slice(0, self.n), slice(self.n, self.n + m), self.n + m, columns - 1
        A = np.zeros((ends[-1], columns))
        A[link, r] = -np.eye(m)
        A[high, x], A[low, x] = np.eye(self.n)[self._above], -np.eye(self.n)[self._below]
        if bounded:
            A[over, r], A[under, r] = np.eye(m), -np.eye(m)
            A[over, t] = A[under, t] = A[not_below, t] = -1.0
        if self._contacts:
            A[force, e] = A[positive, e] = -1.0
            A[cone.start + np.cumsum([0, *cones[:-1]], dtype=int)[: len(cones)], e] = -1.0
        pattern, P = A != 0.0, np.zeros((columns, columns), dtype=bool)
        for rows in (link, force, cone):
            pattern[rows, x] = True
        P[x, x], P[r, r] = np.triu(np.ones((self.n, self.n), dtype=bool)), np.eye(m, dtype=bool)
        self._template, self._x, self._r, self._t, self._e = A, x, r, t, e
        self._diagonal = np.arange(r.start, r.stop)
        self._A, self._P = _Pattern(csc_array(pattern.astype(float)), pattern), _Pattern(csc_array(P.astype(float)), P)
        self.cones = [clarabel.ZeroConeT(m)] if m else []
        self.cones += [clarabel.NonnegativeConeT(cone.start - m)] if cone.start > m else []
        self.cones += [clarabel.SecondOrderConeT(k) for k in cones]

    def fill(self, p: ConvexProgram, c: Costs) -> tuple[Any, Array, Any, Array]:
        """Matrices P, q, A and b of a program."""
        x, r = self._x, self._r
        link, high, low, over, under, _, force, _, cone = self._rows
        A, b = self._template.copy(), np.zeros(self._template.shape[0])
        P, q = np.zeros((A.shape[1], A.shape[1])), np.zeros(A.shape[1])
        A[link, x] = p.R
        b[high], b[low] = p.upper[self._above], -p.lower[self._below]
        P[x, x] = c.effort * (p.L.T @ p.L)
        P[self._diagonal, self._diagonal] = c.square
        q[x], q[r] = -c.effort * (p.l @ p.L), -c.square * p.n
        q[self.n - 1] -= c.progress
        if self._bounded:
            factor = 1.0 / span(p.n)
            A[over, r] *= factor
            A[under, r] *= factor
            b[over], b[under], q[self._t] = factor * p.n, -factor * p.n, c.peak
        if self._contacts:
            A[force, x], A[cone, x], b[force], b[cone], q[self._e] = -p.F, -p.G, p.f, p.g, c.contact
        return self._P(P), q, self._A(A), b


class _Pattern:
    """Maker of sparse matrices of one pattern; entries that happen to be zero are kept."""

    def __init__(self, matrix: Any, pattern: Mask) -> None:
        matrix.has_sorted_indices, matrix.has_canonical_format  # noqa: B018 - found once, and kept by all copies
        self._matrix, self._mask = matrix, np.ascontiguousarray(pattern.T)

    def __call__(self, dense: Array) -> Any:
        """Sparse matrix with the entries of a dense one, column by column."""
        matrix = object.__new__(type(self._matrix))  # a shallow copy: copy.copy takes five times as long
        vars(matrix).update(vars(self._matrix), data=dense.T[self._mask])
        return matrix


def _settings(attempt: dict[str, Any]) -> Any:
    """Settings of one attempt, in Clarabel's own type."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for name, value in {**SETTINGS, **attempt}.items():
        setattr(settings, name, value)
    return settings


class ModelledSolver(_Solver):
    """Solver by a model of the program in cvxpy: written down once, with parameters for all numbers (DPP).

    The parameters and the solution are part of the model, so threads take turns.
    """

    def __init__(self, shape: ProgramShape) -> None:
        import cvxpy as cp

        super().__init__(shape)
        self._turn = threading.Lock()
        efforts, above, below, m, forces, cones = shape
        n = above.size
        self._above, self._below = np.flatnonzero(above), np.flatnonzero(below)
        x, r, t, e = cp.Variable(n), cp.Variable(m), cp.Variable(nonneg=True), cp.Variable(nonneg=True)
        given = self._given = {
            "L": cp.Parameter((efforts, n)),
            "l": cp.Parameter(efforts),
            "square": cp.Parameter(nonneg=True),
            "slope": cp.Parameter(m),
            "peak": cp.Parameter(nonneg=True),
            "contact": cp.Parameter(nonneg=True),
            "progress": cp.Parameter(nonneg=True),
            "R": cp.Parameter((m, n)),
            "factor": cp.Parameter(nonneg=True),
            "allowance": cp.Parameter(nonneg=True),
            "n": cp.Parameter(m),
            "upper": cp.Parameter(self._above.size),
            "lower": cp.Parameter(self._below.size),
            "F": cp.Parameter((forces, n)),
            "f": cp.Parameter(forces),
            "G": cp.Parameter((sum(cones), n)),
            "g": cp.Parameter(sum(cones)),
        }
        cost = 0.5 * cp.sum_squares(given["L"] @ x - given["l"]) - given["progress"] * x[n - 1]
        cost += 0.5 * given["square"] * cp.sum_squares(r) - given["slope"] @ r + given["peak"] * t
        cost += given["contact"] * e
        rules = [r == given["R"] @ x, cp.abs(given["factor"] * r - given["n"]) <= t + given["allowance"]]
        if self._above.size:
            rules.append(x[self._above] <= given["upper"])
        if self._below.size:
            rules.append(x[self._below] >= given["lower"])
        if forces:
            rules.append(given["F"] @ x + given["f"] + e >= 0.0)
        value, first = given["G"] @ x + given["g"] if cones else None, 0
        for size in cones:
            rules.append(cp.SOC(value[first] + e, value[first + 1 : first + size]))
            first += size
        self._x, self._problem = x, cp.Problem(cp.Minimize(cost), rules)

    def __call__(self, program: ConvexProgram, costs: Costs) -> Array | None:
        """Solution x (n,) of a program, or None where the solver finds none."""
        p, c, root = program, costs, np.sqrt(costs.effort)
        factor = 1.0 / span(p.n)
        allowance, peak = (0.0, c.peak) if c.peak else (10.0, 1.0)  # loose, and t = 0, where it does not count
        values = {
            "L": root * p.L, "l": root * p.l, "square": c.square, "slope": c.square * p.n, "peak": peak,
            "contact": c.contact, "progress": c.progress, "R": p.R, "factor": factor, "allowance": allowance,
            "n": factor * p.n, "upper": p.upper[self._above], "lower": p.lower[self._below],
            "F": p.F, "f": p.f, "G": p.G, "g": p.g,
        }  # fmt: skip
        if not all(np.isfinite(value).all() for value in values.values()):
            return None
        with self._turn:
            return self._solution(values)

    def _solution(self, values: dict[str, Any]) -> Array | None:
        """Solution x (n,) with these values of the parameters, or None where the solver finds none."""
        import cvxpy as cp

        for name, value in values.items():
            if np.size(value):
                self._given[name].value = value
        x = None
        for attempt in ATTEMPTS:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that a solution may be inaccurate: the next attempt follows
                    self._problem.solve(solver=cp.CLARABEL, warm_start=False, **SETTINGS | attempt)
            except cp.error.SolverError:
                continue
            if self._problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) and np.isfinite(self._x.value).all():
                x = self._x.value
            if self._problem.status == cp.OPTIMAL:
                break
        return x


SOLVERS = {"direct": DirectSolver, "cvxpy": ModelledSolver}

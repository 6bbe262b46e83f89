"""Motor efforts of a static equilibrium: some are given, the others are chosen within the actuators' limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._tolerance import ROUNDING, UNREACHED, floored, null_space, pinv, rank
from ..errors import EquilibriumError, InputError
from ..kernels import linear_algebra
from ..model.multipliers import unique_multipliers
from ..model.plant import Plant
from ..model.terms import Terms
from ..model.units import effort_units, in_unit, row_force_units

__all__ = [
    "EffortValues",
    "Efforts",
    "least_distance",
    "motor_reach",
    "require_limits",
    "smallest_efforts",
    "static_efforts",
]

Array = NDArray[np.float64]
EffortValues = ArrayLike | Mapping[str, "float | tuple[float, float]"]

_EXACT = 1e-9  # of a limit, or of the largest force
_ROUNDING = 1e-12  # of the largest force: errors of the efforts and multipliers of a solution


@dataclass(frozen=True, eq=False)
class Efforts:
    """Choice of motor efforts: those that are given, and how the others are chosen.

    Attributes
    ----------
    value : ndarray, shape (nu,)
        Given values; for unknown efforts, the desired values (zero, or the preload).
    unknown : ndarray of bool, shape (nu,)
        Mask of the efforts to be computed, n of them.
    root : ndarray, shape (n, n)
        L: the unknown efforts are value + L x with the least x' x.
    low, high : ndarray, shape (nu,)
        Range of the efforts.
    rows : tuple of int
        Constraint rows whose multipliers are prescribed.
    row_low, row_high : ndarray
        Ranges of these multipliers; where both are the same, a value.
    """

    value: Array
    unknown: NDArray[np.bool_]
    root: Array
    low: Array
    high: Array
    rows: tuple[int, ...]
    row_low: Array
    row_high: Array

    @classmethod
    def of(
        cls,
        plant: Plant,
        u: EffortValues | float | None,
        preload: EffortValues | float | None,
        weight: ArrayLike | None,
    ) -> Efforts:
        """Make the efforts from the arguments of `trim`, checked."""
        value, unknown = _given(plant, u)
        require_limits(plant, np.where(unknown, 0.0, value))
        root = _metric(plant, weight, value, unknown)
        low, high, ranges = -plant.effort, plant.effort.copy(), {}
        if preload is not None:
            if not unknown.any():
                raise InputError(
                    f"all motor efforts of {plant.name!r} are given with u=, so that none is left for preload=; "
                    "leave out of u those that may be chosen"
                )
            ranges = _read_preload(plant, preload, value, unknown, low, high)
        row_low, row_high = np.array(list(ranges.values())).reshape(-1, 2).T
        return cls(value, unknown, root, low, high, tuple(ranges), row_low, row_high)


def _given(plant: Plant, u: EffortValues | float | None) -> tuple[Array, NDArray[np.bool_]]:
    """Given efforts, zero for the others, and the mask of the others."""
    if u is None:
        return np.zeros(plant.nu), np.ones(plant.nu, dtype=bool)
    if isinstance(u, Mapping):
        value, unknown = np.zeros(plant.nu), np.ones(plant.nu, dtype=bool)
        for key, x in u.items():
            _check.one_of(key, plant.actuator_names, "actuator", "u")
            k = plant.actuator_names.index(key)
            value[k], unknown[k] = _check.number(x, f"the effort of {key!r} in u"), False
        return value, unknown
    if _check.single(u):
        return np.full(plant.nu, _check.number(u, "u")), np.zeros(plant.nu, dtype=bool)
    return _check.vector(u, plant.nu, "u", plant.actuator_names).copy(), np.zeros(plant.nu, dtype=bool)


def _metric(plant: Plant, weight: ArrayLike | None, value: Array, unknown: NDArray[np.bool_]) -> Array:
    """Matrix L for the unknown efforts, where u' W^-1 u is least; moves `value` to where x = 0.

    With V = W^-1 and the others given, the least of u'V u without any balance is at
    -V_ff^-1 V_fg u_g, and V_ff = (L L')^-1.
    """
    n = int(unknown.sum())
    if weight is None:
        return np.eye(n)
    W = _check.numbers(weight, "weight")
    W = np.diag(_check.vector(W, plant.nu, "weight", plant.actuator_names)) if W.ndim == 1 else W
    W = _check.matrix(W, (plant.nu, plant.nu), "weight")
    try:
        if np.abs(W - W.T).max(initial=0.0) > 1e-9 * np.abs(W).max(initial=0.0):
            raise np.linalg.LinAlgError
        np.linalg.cholesky(W)
    except np.linalg.LinAlgError as error:
        raise InputError(f"weight must be symmetric and positive definite, got {W.tolist()}") from error
    V = np.linalg.inv(W)
    inside = np.linalg.inv(V[np.ix_(unknown, unknown)])
    value[unknown] = -inside @ V[np.ix_(unknown, ~unknown)] @ value[~unknown]
    return np.linalg.cholesky(0.5 * (inside + inside.T))


def _read_preload(
    plant: Plant, preload: EffortValues | float, value: Array, unknown: NDArray[np.bool_], low: Array, high: Array
) -> dict[int, tuple[float, float]]:
    """Read `preload` into the desired efforts and their ranges; returns ranges of multipliers by row."""
    if not isinstance(preload, Mapping):
        desired = np.full(plant.nu, _check.number(preload, "preload")) if _check.single(preload) else preload
        value[unknown] = _check.vector(desired, plant.nu, "preload", plant.actuator_names)[unknown]
        return {}
    ranges: dict[int, tuple[float, float]] = {}
    rows = _row_index(plant)
    for key, x in preload.items():
        is_motor = key in plant.actuator_names
        if is_motor and key in rows:
            raise InputError(
                f"{key!r} is the name of an actuator and of a constraint row of {plant.name!r}; rename one of them"
            )
        if not is_motor and key not in rows:
            raise InputError(
                _check.unknown(key, [*plant.actuator_names, *rows], "actuator or constraint row to preload")
            )
        if not is_motor:
            ranges[rows[key]] = _range(x, key)
            continue
        k = plant.actuator_names.index(key)
        if not unknown[k]:
            raise InputError(
                f"the effort of {key!r} is given with u=, so that it has no preload; name it in one of them"
            )
        if np.ndim(x):
            low[k], high[k] = np.maximum(low[k], _range(x, key)[0]), np.minimum(high[k], _range(x, key)[1])
            if low[k] > high[k]:
                raise EquilibriumError(
                    f"preload demands {x} of actuator {key!r}, whose effort limit is {plant.effort[k]:.4g} "
                    f"{effort_units(plant)[k]}. Raise the limit, or lower the preload."
                )
        else:
            value[k] = _check.number(x, f"the preload of {key!r}")
    return ranges


def _row_index(plant: Plant) -> dict[str, int]:
    """Indices of constraint rows by name, and by the name of the loop where it has one row."""
    rows = {loop: s.start for loop, s in plant.row_slices.items() if s.stop - s.start == 1}
    return rows | {name: i for i, name in enumerate(plant.row_names)}


def _range(x: ArrayLike, key: str) -> tuple[float, float]:
    """Range (low, high), from a number or from two, either of which may be infinite."""
    try:
        pair = np.broadcast_to(np.asarray(x, dtype=np.float64), 2) if np.size(x) in (1, 2) else np.array([np.nan])
    except (TypeError, ValueError):
        pair = np.array([np.nan])
    if np.isnan(pair).any() or not pair[0] <= pair[1] or pair[0] == np.inf or pair[1] == -np.inf:
        raise InputError(f"the preload of {key!r} must be a number or (low, high) with low <= high, got {x!r}")
    return float(pair[0]), float(pair[1])


def require_limits(plant: Plant, u: Array) -> None:
    """Raise an error for efforts beyond the limits of an actuator."""
    for k in np.flatnonzero(np.abs(u) > plant.effort * (1.0 + _EXACT)):
        raise EquilibriumError(_too_weak(plant, int(k), u[k]))


def _too_weak(plant: Plant, k: int, need: float) -> str:
    unit = effort_units(plant)[k]
    needs, has = in_unit(abs(need), unit), in_unit(plant.effort[k], unit)
    return (
        f"actuator {plant.actuator_names[k]!r} needs {needs} and has {has}. "
        "Raise its effort limit, or choose another configuration."
    )


# -- the choice -----------------------------------------------------------------------------------------


def smallest_efforts(terms: Terms, efforts: Efforts) -> Array:
    """Efforts with Z'B u = Z'h nearest to the desired ones, without regard to the limits.

    Where the motors cannot balance all forces, they balance the part they can.
    """
    u, unknown = efforts.value.copy(), efforts.unknown
    if unknown.any():
        motions = terms.unit_motions
        X, lengths, scale = motor_reach(motions, terms.B[:, unknown] @ efforts.root, terms.unit_lengths)
        need = motions.T @ (terms.h - terms.B @ u) / lengths
        u[unknown] += efforts.root @ (pinv(X, scale, UNREACHED) @ need)
    return u


def motor_reach(Z: Array, B: Array, unit_lengths: Array) -> tuple[Array, Array, float]:
    """Call `kernels.linear_algebra.motor_reach` with arrays of any order in memory."""
    return linear_algebra.motor_reach(np.ascontiguousarray(Z), np.ascontiguousarray(B), unit_lengths)


def static_efforts(plant: Plant, terms: Terms, efforts: Efforts) -> Array:
    """Efforts nearest to the desired ones, as `smallest_efforts`, but within limits and with prescribed multipliers.

    A problem of least distance in x, with u = value + L x for the unknown efforts.

    Raises
    ------
    EquilibriumError
        Where a limit is passed (it names the actuator), or a preload is not possible (it lists the possible values).
    ValueError
        Where a multiplier is prescribed that is not unique.
    """
    u = smallest_efforts(terms, efforts)
    if not efforts.rows and _within(efforts, u):
        return u
    _require_unique(plant, terms, efforts.rows)
    problem = _EffortProblem(plant, terms, efforts, u)
    x = problem.solve(efforts.low, efforts.high, efforts.row_low, efforts.row_high)
    if x is None:
        raise EquilibriumError(problem.reason())
    u = efforts.value.copy()
    u[efforts.unknown] += efforts.root @ x
    return np.clip(u, np.where(efforts.unknown, efforts.low, u), np.where(efforts.unknown, efforts.high, u))


def _within(efforts: Efforts, u: Array) -> bool:
    """Whether the unknown efforts are in their ranges."""
    return bool(np.all(~efforts.unknown | ((efforts.low <= u) & (u <= efforts.high))))


def _require_unique(plant: Plant, terms: Terms, rows: tuple[int, ...]) -> None:
    """Raise an error for prescribed multipliers that redundant rows share."""
    unique = unique_multipliers(terms.levers, terms.rank)
    shared = [plant.row_names[i] for i in rows if not unique[i]]
    if shared:
        alone = [n for n, single in zip(plant.row_names, unique, strict=True) if single]
        raise InputError(
            f"the multipliers of {', '.join(map(repr, shared))} are not unique, for rows of {plant.name!r} are "
            f"redundant; unique are: {', '.join(map(repr, alone)) or 'none'}. Close the loops without redundant rows "
            "to prescribe them."
        )


class _EffortProblem:
    """Unknown efforts and multipliers as linear functions of x."""

    def __init__(self, plant: Plant, terms: Terms, efforts: Efforts, u: Array) -> None:
        self.plant, self.efforts, self.u = plant, efforts, u
        L, unknown = efforts.root, efforts.unknown
        B = terms.B[:, unknown] @ L
        self.centre = efforts.value[unknown]
        self.root = L
        self.reach, _, self.scale = motor_reach(terms.unit_motions, B, terms.unit_lengths)
        self.need = self.reach @ np.linalg.solve(L, u[unknown] - self.centre)  # the part that the motors can balance
        share = terms.A_pinv.T[list(efforts.rows)]
        self.rows = share @ B
        self.row_centre = share @ (terms.B @ efforts.value - terms.h)
        # scale of a multiplier: a newton at the joints changes it by at most so much; and the largest force, N
        self.share = np.linalg.norm(share * terms.unit_lengths, axis=1)
        self.forces = float(
            (np.abs(terms.h) / terms.unit_lengths).max() + (np.abs(terms.B) @ np.abs(u) / terms.unit_lengths).max()
        )
        self.forces += terms.force_scale
        pushes = np.linalg.norm(terms.B[:, unknown] / terms.unit_lengths[:, None], axis=0)
        self.slack = _ROUNDING * self.forces / np.where(pushes > 0.0, pushes, 1.0)  # of the efforts

    def solve(self, low: Array, high: Array, row_low: Array, row_high: Array) -> Array | None:
        """Smallest x within these ranges; None if there is none."""
        exact = row_low == row_high
        E = np.concatenate([self.reach, self.rows[exact]])
        f = np.append(self.need, (row_low - self.row_centre)[exact])
        low, high = low[self.efforts.unknown] - self.centre, high[self.efforts.unknown] - self.centre
        bound = np.concatenate([self.root, -self.root, self.rows[~exact], -self.rows[~exact]])
        rest = np.concatenate(
            [low, -high, (row_low - self.row_centre)[~exact], (self.row_centre - row_high)[~exact]],
        )
        slack = np.concatenate([self.slack, self.slack, *2 * [_ROUNDING * self.forces * self.share[~exact]]])
        counts = np.isfinite(rest)
        size = np.append(np.ones(len(self.reach)), self.share[exact])
        return least_distance(
            E,
            f,
            bound[counts],
            (rest - slack)[counts],
            terms=size * self.scale,
            rounding=_ROUNDING * size * self.forces,
        )

    def reason(self) -> str:
        """Message why there is no solution: an actuator is too weak, or a preload is outside its possible range."""
        efforts, plant = self.efforts, self.plant
        free = np.full(len(efforts.rows), np.inf)
        if self.solve(-plant.effort, plant.effort, -free, free) is None:
            return _too_weak(plant, *self._most_loaded())
        units = effort_units(plant)
        demands = []
        for i, k in enumerate(np.flatnonzero(efforts.unknown)):
            if efforts.low[k] > -plant.effort[k] or efforts.high[k] < plant.effort[k]:
                demand = efforts.low[k], efforts.high[k]
                possible = self._reachable(self.root[i], self.centre[i])
                demands.append((plant.actuator_names[k], demand, possible, units[k]))
        forces = row_force_units(plant)
        for i, row in enumerate(efforts.rows):
            demand = efforts.row_low[i], efforts.row_high[i]
            possible = self._reachable(self.rows[i], self.row_centre[i], self.share[i] * self.scale)
            demands.append((plant.row_names[row], demand, possible, forces[row]))
        return _unreachable(plant, demands)

    def _bounds(self) -> list[tuple[float | None, float | None]]:
        return [(None, None)] * self.root.shape[0]

    def _reachable(self, slope: Array, centre: float, terms: float = 0.0) -> tuple[float, float]:
        """Range of centre + slope . x over all equilibria within the effort limits."""
        x0 = pinv(self.reach, self.scale, UNREACHED) @ self.need
        change = null_space(self.reach, self.scale, UNREACHED).T @ slope
        if np.linalg.norm(change) <= UNREACHED * floored(float(np.linalg.norm(slope)), terms, UNREACHED):
            return (centre + float(slope @ x0),) * 2
        limit = self.plant.effort[self.efforts.unknown]
        known = np.isfinite(limit)
        A = np.concatenate([self.root[known], -self.root[known]])
        b = np.concatenate([(limit - self.centre)[known], (limit + self.centre)[known]])
        return tuple(
            centre + sign * self._least(sign * slope, A, b, self.reach, self.need, self._bounds())[0]
            for sign in (1.0, -1.0)
        )

    def _least(self, cost: Array, A: Array, b: Array, E: Array, f: Array, bounds: list) -> tuple[float, Array | None]:
        """Least value of cost . x with A x <= b and E x = f, and x; minus infinity and None if there is none."""
        from scipy.optimize import linprog  # imported where used: scipy.optimize takes 0.2 s

        E, f = _independent(E, f, self.scale)
        solution = linprog(cost / np.abs(cost).max(), A_ub=A, b_ub=b, A_eq=E, b_eq=f, bounds=bounds)
        return (-np.inf, None) if solution.x is None else (float(cost @ solution.x), solution.x)

    def _most_loaded(self) -> tuple[int, float]:
        """Most loaded actuator and its effort, where the load is spread as evenly as possible."""
        index = np.flatnonzero(self.efforts.unknown & np.isfinite(self.plant.effort))
        part = self.root[np.isfinite(self.plant.effort[self.efforts.unknown])]
        centre = self.efforts.value[index]
        limit = -self.plant.effort[index, None]
        x = self._least(  # the least s with abs(u) <= s effort
            np.append(np.zeros(self.root.shape[0]), 1.0),
            np.block([[part, limit], [-part, limit]]),
            np.concatenate([-centre, centre]),
            np.column_stack([self.reach, np.zeros(len(self.reach))]),
            self.need,
            [*self._bounds(), (0.0, None)],
        )[1]
        best = self.u[index] if x is None else centre + part @ x[:-1]
        k = int(np.argmax(np.abs(best) / self.plant.effort[index]))
        return int(index[k]), float(best[k])


def _unreachable(plant: Plant, demands: list[tuple[str, tuple, tuple, str]]) -> str:
    """Message with demanded and possible values, each alone."""

    def text(low: float, high: float) -> str:
        same = high - low <= 1e-9 * max(abs(low), abs(high), 1e-300)
        return f"{low:.4g}" if same else f"from {low:.4g} to {high:.4g}"

    lines = []
    for name, demand, can, unit in demands:
        fixed = can[1] - can[0] <= 1e-9 * max(abs(can[0]), abs(can[1]))
        have = f"is {text(*can)} {unit} whatever the preload" if fixed else f"can be {text(*can)} {unit}"
        lines.append(f"{name!r} {have}, demanded is {text(*demand)}")
    together = " (each alone, not together)" if len(lines) > 1 else ""
    return (
        f"the preload of {plant.name!r} is not possible in static equilibrium: {'; '.join(lines)}{together}. "
        "Demand a possible value, or see preload_directions(plant, point)."
    )


def _independent(E: Array, f: Array, scale: float) -> tuple[Array, Array]:
    """Equations E x = f with orthonormal rows; the part of f outside the range of E is left out."""
    U, sigma, Vt = np.linalg.svd(E, full_matrices=False)
    r = rank(sigma, scale, UNREACHED)
    return Vt[:r], (U[:, :r].T @ f) / sigma[:r]


# -- least distance -------------------------------------------------------------------------------------


def least_distance(
    E: Array, f: Array, G: Array, g: Array, *, terms: Array | float = 0.0, rounding: Array | float = 0.0
) -> Array | None:
    """Smallest x with E x = f and G x >= g; None if there is none.

    x = x0 + N y with the smallest solution x0 of the equations and the smallest y with G N y >= g - G x0, by
    non-negative least squares (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).

    Rows of E compare by their own length, unless that is rounding of the `terms` that they are made of, one number a
    row; `rounding` is what f may be off by.
    """
    norms = np.maximum(np.linalg.norm(E, axis=1), ROUNDING / UNREACHED * np.broadcast_to(terms, f.shape))
    norms[norms == 0.0] = 1.0
    E, f = E / norms[:, None], f / norms
    x0 = pinv(E, 1.0, UNREACHED) @ f if f.size else np.zeros(G.shape[1])
    if (np.abs(E @ x0 - f) > _EXACT * np.abs(f).max(initial=0.0) + rounding / norms).any():
        return None
    N = null_space(E, 1.0, UNREACHED)
    A, b = G @ N, g - G @ x0
    if not np.any(b > 0.0):
        return x0
    sizes = np.linalg.norm(A, axis=1)
    fixed = sizes <= 1e-10 * np.linalg.norm(G, axis=1)  # independent of y: these rows hold or not
    if np.any(b[fixed] > 0.0) or N.shape[1] == 0:
        return None
    A, b = A[~fixed] / sizes[~fixed, None], b[~fixed] / sizes[~fixed]
    unit = float(b.max())  # then y is of order one
    from scipy.optimize import nnls  # imported where used: scipy.optimize takes 0.2 s

    system = np.concatenate([A.T, b[None] / unit])
    target = np.append(np.zeros(N.shape[1]), 1.0)
    r = system @ nnls(system, target)[0] - target
    return None if np.linalg.norm(r) < 1e-7 else x0 - unit * (N @ r[:-1]) / r[-1]

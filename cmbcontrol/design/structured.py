"""Gains of any structure against goals in the frequency domain, for many plants at once.

What is minimized is the largest of norms and growths of poles, each over its limit: H-infinity norms at all their
peaks, with exact derivatives by singular vectors, H2 norms by Lyapunov equations, poles by their eigenvectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DesignError, InputError
from ..linear.generalized_plant import GeneralizedPlant
from ..linear.norms import h2_norm, hinf_norm, largest_gain, largest_gains, response
from .minimax import Minimum, Values, minimize_largest

__all__ = ["STARTS", "MinimaxProblem", "MinimaxSolution", "Requirement", "Structure", "growth_rates"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
_Functions = tuple[Array, Array, NDArray[Any], Array]  # values, derivatives, kinds and places

_SHARE = 0.9  # of the largest value: functions above it take part in a step
_NEAR = 0.85  # of the largest value on the grid: plants above it are looked at more closely
_MOST = 40  # functions of a step
STARTS = 8  # by default; see tests/robustness/structures.py
_ROUND = 4  # starts beside the best point, before the best one is chosen anew: whatever the number of processes
_HOP = 0.3  # of the size of parameters: by which these starts differ from it
_LITTLE = 15  # steps, after which the better starts are told from the others
_AGAIN = 5  # searches from a minimum at which a peak was higher than the search had seen
_FILLED, _KEPT = 32, 30  # frequencies of a grid beside those of poles; of these, those of peaks that it had missed
# about a resonance, in units of its half width: of poles above the real axis, and of their conjugates
_ABOVE, _BELOW = np.array([-1.0, -0.3, 0.3, 1.0]), np.array([-2.0, 0.0, 0.6, 2.0])
_NARROWINGS = 4  # of the brackets of peaks, by these parts: heights are then right to 1e-6 of their bump
_PARTS = np.arange(1.0, 6.0) / 6.0
_APART = 0.2  # of logarithms of frequencies: functions on a plateau are so far apart
_STEEPEST = 1e100  # derivative: where poles meet they have none
_LARGE = 1e9  # condition of eigenvectors, above which equations are solved in their place
_DEFECTIVE = 1e-13  # smallest singular value of eigenvectors that counts as none
_HUGE = 1e75  # entries of a loop whose squares leave room for products: gains may grow without end


class Requirement(NamedTuple):
    """A norm of a closed plant, or the growth of its poles, that is to be below a limit.

    Attributes
    ----------
    name : str
    plant : GeneralizedPlant
    kind : {"hinf", "h2", "growth"}
        Growth: real parts of poles, 1/s; in sampled time of log(z)/dt.
    limit : float
        Limit > 0 of a norm; of a growth any number.
    case : int
        Which gain of the structure closes the plant.
    weight : float
        How often it counts, over its limit, beside others.
    """

    name: str
    plant: GeneralizedPlant
    kind: str
    limit: float = 1.0
    case: int = 0
    weight: float = 1.0


class Structure(Protocol):
    """Gains as functions of parameters theta (p,), without bounds."""

    @property
    def start(self) -> Array:
        """Parameters to begin with."""

    def gains(self, theta: Array) -> list[Array]:
        """Static gains K, by their index."""

    def derivatives(self, theta: Array) -> list[Array]:
        """Their derivatives, (p, rows, columns) each."""

    def drawn(self, rng: np.random.Generator) -> Array:
        """Random parameters to begin with."""


@dataclass(frozen=True, eq=False)
class MinimaxSolution:
    """Parameters that were found.

    Attributes
    ----------
    theta : ndarray, shape (p,)
    value : float
        Largest requirement over its limit, from norms computed anew.
    values : dict of str to float
        Each requirement over its limit.
    found : ndarray
        Values from all starts, increasing; inf where no stable loop was found.
    """

    theta: Array
    value: float
    values: dict[str, float]
    found: Array


class MinimaxProblem:
    """Requirements of plants that gains of one structure close.

    Parameters
    ----------
    requirements : sequence of Requirement
    structure : Structure
    """

    def __init__(self, requirements: Sequence[Requirement], structure: Structure) -> None:
        self.requirements, self.structure = tuple(requirements), structure
        plants: dict[int, GeneralizedPlant] = {}
        for one in self.requirements:
            if one.plant.D22.any():
                raise InputError(
                    f"{one.name}: controls reach the measurements at once (D22). Tune the gain N = K (1 - D22 K)^-1 "
                    "of the plant without D22; then K = N (1 + D22 N)^-1."
                )
            plants.setdefault(one.case, one.plant)
        self._plants = plants  # one of each index: all of an index have the same poles
        alike: dict[Any, list[int]] = {}
        for k, one in enumerate(self.requirements):
            shapes = tuple(x.shape for x in (one.plant.A, one.plant.B1, one.plant.C1, one.plant.B2, one.plant.C2))
            alike.setdefault((one.kind, shapes, one.plant.dt), []).append(k)
        self._groups = [_Group(self.requirements, members) for members in alike.values()]
        self._group_of = {k: group for group in self._groups for k in group.members}
        self.of_poles = all(one.kind == "growth" for one in self.requirements)

    # -- values and derivatives ----------------------------------------------------------------------------------

    def poles(self, theta: Array, bound: float = np.inf) -> Values | None:
        """Growth of the slowest poles of all plants."""
        K, dK = self.structure.gains(theta), self.structure.derivatives(theta)
        parts = [_growths(plant, K[i], dK[i], k) for k, (i, plant) in enumerate(self._plants.items())]
        if any(part is None for part in parts):
            return None
        return _sorted(parts, 0.0, additive=True)  # type: ignore[arg-type]

    def __call__(self, theta: Array, bound: float = np.inf) -> Values | None:
        """Requirements over their limits that are nearly largest; None where a loop is not stable.

        Where the largest is above a bound, its value alone may be returned, and not all of it.
        """
        K = self.structure.gains(theta)
        rough: list[tuple[_Group, _Loops, Array, Any]] = []
        for group in self._groups:
            found = group.rough(K)
            if found is None:
                return None
            rough.append((group, *found))
            highest = max(float(values.max()) for _, _, values, _ in rough)
            if highest > bound:
                return Values(np.array([highest]), np.zeros((1, len(theta))), np.zeros(1, dtype=np.int64), np.zeros(1))
        dK = self.structure.derivatives(theta)
        parts = [group.functions(loops, values, seen, highest, K, dK) for group, loops, values, seen in rough]
        return _sorted([part for part in parts if part is not None], _SHARE)

    def exact(self, theta: Array) -> dict[str, float]:
        """Each requirement over its limit, from norms computed anew."""
        K, found = self.structure.gains(theta), {}
        for one in self.requirements:
            closed = one.plant.closed(K[one.case])
            if one.kind == "growth":
                value = _over_limit(growth_rates(np.linalg.eigvals(closed[0]), one.plant.dt).max(), one.limit)
            elif one.kind == "h2":
                value = _h2_norm(*closed[:4], one.plant.dt) / one.limit
            else:
                value = hinf_norm(*closed[:3], one.plant.dt or None, closed[3]) / one.limit
            found[one.name] = one.weight * float(value)
        return found

    # -- minimization --------------------------------------------------------------------------------------------

    def solve(self, starts: int = STARTS, seed: int = 0, steps: int = 300, jobs: int = 1) -> MinimaxSolution:
        """Best of several local minima.

        Half of the starts are that of the structure and random ones, the others are beside the best point so far. Of
        each round a part goes on to the end after a few steps; where only poles count, all do.

        Parameters
        ----------
        starts, seed : int
        steps : int
            Most steps of a search.
        jobs : int
            Processes; the answer does not depend on it.

        Raises
        ------
        DesignError
            Where no stable loops are found.
        """
        rng = np.random.default_rng(seed)
        drawn = [self.structure.start, *(self.structure.drawn(rng) for _ in range((starts + 1) // 2 - 1))]
        ends: list[tuple[float, Array]] = []
        while len(ends) < starts:
            if ends:
                value, best = min(ends, key=lambda end: end[0])
                some = range(min(_ROUND, starts - len(ends)))
                drawn = [_beside(best, rng) if np.isfinite(value) else self.structure.drawn(rng) for _ in some]
            ends += self._searched(drawn, steps, jobs)
        found = np.sort([value for value, _ in ends])
        for value, theta in sorted(ends, key=lambda end: end[0]):
            if not np.isfinite(value):
                break
            theta = self._to_the_end(theta, steps)
            values = self.exact(theta)
            value = max(values.values())
            if np.isfinite(value):
                return MinimaxSolution(theta, value, values, found)
        raise DesignError(f"no gains were found that make all loops stable, from {starts} starts")

    def solve_from(self, theta: Array, steps: int = 300) -> MinimaxSolution:
        """Local minimum from parameters.

        Raises
        ------
        DesignError
            Where these lead to no stable loops.
        """
        begun, theta = self._from(theta, steps)
        if not np.isfinite(begun):
            raise DesignError("no gains were found that make all loops stable, from those of a part of them")
        found = self._to_the_end(theta, steps)
        values = self.exact(found)
        value = max(values.values())
        return MinimaxSolution(found, value, values, np.array([value]))

    def again(self, theta: Array, steps: int = 300) -> Array | None:
        """Local minimum from parameters; None where they make no stable loops."""
        return self._to_the_end(theta, steps) if self(theta) is not None else None

    def _searched(self, drawn: Sequence[Array], steps: int, jobs: int) -> list[tuple[float, Array]]:
        """Values and parameters that starts lead to: all of them for a little, the best of them until they settle."""
        little = steps if self.of_poles or len(drawn) == 1 else _LITTLE
        found = _each(self._from, drawn, little, jobs)
        if little < steps:
            some = sorted(range(len(found)), key=lambda k: found[k][0])[: max(2, len(found) // 3)]
            some = [k for k in some if np.isfinite(found[k][0])]
            for k, end in zip(some, _each(self._from, [found[k][1] for k in some], steps, jobs), strict=True):
                found[k] = end
        return found

    def _from(self, theta: Array, steps: int) -> tuple[float, Array]:
        """Local minimum from a start, which is made stable first; inf where that fails."""
        if self(theta) is None:
            enough = -1e-3 * min(self._unit(), 1.0)
            if self.poles(theta) is None:
                return np.inf, theta
            theta = minimize_largest(self.poles, theta, enough=enough).x
            if self(theta) is None:
                return np.inf, theta
        end = self._minimized(theta, steps)
        return end.value, end.x

    def _minimized(self, theta: Array, steps: int) -> Minimum:
        """Local minimum; of poles alone by many more steps, which cost little: about poles that meet they are short."""
        if self.of_poles:
            return minimize_largest(self, theta, steps=4 * steps, tolerance=1e-9)
        return minimize_largest(self, theta, steps=steps, rounds=1 if steps <= _LITTLE else 3)

    def _to_the_end(self, theta: Array, steps: int) -> Array:
        """Local minimum from stable loops, with no peak that is higher than the search has seen."""
        for _ in range(_AGAIN):
            end = self._minimized(theta, steps)
            theta = end.x
            if self._seen(theta, end.value):
                break
        return theta

    def _seen(self, theta: Array, value: float) -> bool:
        """Whether no requirement is larger than the search has seen; where one is, its peak is looked at now."""
        K, missed = self.structure.gains(theta), False
        for k, one in enumerate(self.requirements):
            if one.kind == "hinf":
                A, B, C, D = one.plant.closed(K[one.case])[:4]
                highest, where = largest_gain(response(A, B, C, D, one.plant.dt))
                if highest * one.weight / one.limit > value + 1e-6 * abs(value):
                    self._group_of[k].remember(where)
                    missed = True
        return not missed

    def _unit(self) -> float:
        """Unit of growths, 1/s."""
        sizes = [
            np.abs(np.linalg.eigvals(p.A)).max(initial=0.0) if not p.dt else 1.0 / p.dt for p in self._plants.values()
        ]
        return float(max(min(sizes), 1e-300))


def _beside(theta: Array, rng: np.random.Generator) -> Array:
    """Start beside parameters: each is changed by a part of its size, or of the mean of all."""
    size = np.maximum(np.abs(theta), np.abs(theta).mean())
    return theta + _HOP * size * rng.standard_normal(len(theta))


def _each(function: Any, drawn: Sequence[Array], steps: int, jobs: int) -> list[tuple[float, Array]]:
    """Results of searches from several starts, in processes where there are more than one."""
    if jobs == 1 or len(drawn) == 1:
        return [function(theta, steps) for theta in drawn]
    from joblib import Parallel, delayed

    return Parallel(n_jobs=jobs)(delayed(function)(theta, steps) for theta in drawn)


class _Loops(NamedTuple):
    """Closed loops of a group, and their modes.

    Attributes
    ----------
    A, B, C, D : ndarray
        Stacks of closed loops.
    B2, D12, C2, D21 : ndarray
        Ways of a change of the gain: from controls, and to measurements.
    values, V, Vi : ndarray
        Eigenvalues and their vectors.
    sound : ndarray of bool
        Whether products with these vectors are exact enough.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    B2: Array
    D12: Array
    C2: Array
    D21: Array
    values: Complex
    V: Complex
    Vi: Complex
    sound: NDArray[np.bool_]

    def responses(self, k: NDArray[np.int64], s: Complex) -> tuple[Complex, Complex, Complex]:
        """Of the loops k at one point of the complex plane each.

        From disturbances to performance, from controls to performance, and from disturbances to measurements.
        """
        n, m = self.A.shape[1], self.B.shape[2]
        finite = np.isfinite(s)
        shifted = np.where(finite, s, 0.0)[:, None, None] * np.eye(n) - self.A[k]
        right = np.concatenate([self.B[k], self.B2[k]], axis=2)
        both = np.linalg.solve(shifted, right.astype(complex)) * finite[:, None, None]
        X, Y = both[:, :, :m], both[:, :, m:]
        return self.C[k] @ X + self.D[k], self.C[k] @ Y + self.D12[k], self.C2[k] @ X + self.D21[k]


class _Group:
    """Requirements of one kind, with plants of one size, which are computed together."""

    def __init__(self, requirements: Sequence[Requirement], members: Sequence[int]) -> None:
        self.members = np.array(members)
        some = [requirements[k] for k in members]
        self.kind, self.dt, self._some = some[0].kind, some[0].plant.dt, some
        self._scale = np.array([one.weight / one.limit for one in some if one.kind != "growth"])
        self._index = [one.case for one in some]
        # plants that differ in their performance alone have their poles together
        poles = [(one.case, one.plant.A.tobytes(), one.plant.C2.tobytes()) for one in some]
        self._first = [poles.index(pole) for pole in poles]
        names = ("A", "B1", "B2", "C1", "C2", "D11", "D12", "D21")
        self._stacks = [np.array([getattr(one.plant, name) for one in some]) for name in names]
        self._near: list[float] = []  # where peaks were that the grid had missed

    def remember(self, omega: float) -> None:
        """Look at a frequency, too, from now on."""
        self._near = [*self._near[-_KEPT:], omega]

    def rough(self, K: Sequence[Array]) -> tuple[_Loops, Array, Any] | None:
        """Loops, values over their limits, of H-infinity norms from below, and what they are from.

        None where a loop is not stable.
        """
        loops = self._closed(np.array([K[i] for i in self._index]))
        if loops is None:
            return None
        growth = growth_rates(loops.values, self.dt)
        if not (growth < 0.0).all():
            return None
        if self.kind == "growth":
            values = [one.weight * _over_limit(g.max(), one.limit) for g, one in zip(growth, self._some, strict=True)]
            return loops, np.array(values), None
        if self.kind == "h2":
            value, G = _h2(loops, self.dt)
            return (loops, value * self._scale, G) if np.isfinite(value).all() else None
        seen = self._swept(loops)
        return loops, seen[1].max(axis=1) * self._scale, seen

    def _closed(self, gain: Array) -> _Loops | None:
        A, B1, B2, C1, C2, D11, D12, D21 = self._stacks
        into, out = B2 @ gain, D12 @ gain
        closed = A + into @ C2, B1 + into @ D21, C1 + out @ C2, D11 + out @ D21
        if not all(np.abs(X).max(initial=0.0) < _HUGE for X in closed):
            return None
        try:
            modes = self._modes_of(closed[0])
        except np.linalg.LinAlgError:  # eigenvalues have not converged
            return None
        return _Loops(*closed, B2, D12, C2, D21, *modes)

    def _modes_of(self, A: Array) -> tuple[Complex, Complex, Complex, NDArray[np.bool_]]:
        once, of = np.unique(self._first, return_inverse=True)
        if len(once) == len(A):
            return _modes(A)
        values, V, Vi, sound = _modes(A[once])
        return values[of], V[of], Vi[of], sound[of]

    def functions(
        self, loops: _Loops, values: Array, seen: Any, highest: float, K: Sequence[Array], dK: Sequence[Array]
    ) -> _Functions | None:
        """Values, derivatives, kinds and places of functions near the highest; None where there are none."""
        near = np.flatnonzero(values >= (_NEAR * highest if highest > 0.0 else highest - 0.1 * abs(highest)))
        if not near.size:
            return None
        if self.kind == "growth":
            return self._of_poles(near, K, dK)
        if self.kind == "h2":
            G, places = seen[near] * self._scale[near, None, None], np.zeros(len(near))
            return values[near], self._by_parameters(near, G, dK), self.members[near], places
        k, omega = self._peaks(loops, near, seen, highest)
        sizes, G, row, order = _singular_values(loops, k, _points(omega, self.dt))
        k, omega, scale = k[row], omega[row], self._scale[k[row]]
        places = np.log(np.clip(omega, 1e-9, 1e12)) + 100.0 * order
        return sizes * scale, self._by_parameters(k, G * scale[:, None, None], dK), self.members[k], places

    def _of_poles(self, near: NDArray[np.int64], K: Sequence[Array], dK: Sequence[Array]) -> _Functions | None:
        parts = []
        for j in near:
            one, i = self._some[j], self._index[j]
            found = _growths(one.plant, K[i], dK[i], int(self.members[j]))
            if found is None:
                return None
            values, gradients, kinds, places = found
            scale = one.weight / abs(one.limit) if one.limit else one.weight
            parts.append((one.weight * _over_limit(values, one.limit), gradients * scale, kinds, places))
        return _joined(parts)

    def _by_parameters(self, k: NDArray[np.int64], G: Array, dK: Sequence[Array]) -> Array:
        """Derivatives by the parameters, of those by the gains of the loops k."""
        case = np.array([self._index[j] for j in k])
        if all(dK[i] is dK[case[0]] for i in case):
            return np.tensordot(G, dK[case[0]], ([1, 2], [1, 2]))
        return np.array([np.tensordot(dK[i], g, 2) for i, g in zip(case, G, strict=True)])

    # -- peaks over frequency ------------------------------------------------------------------------------------

    def _swept(self, loops: _Loops) -> tuple[Array, Array, Complex]:
        """Frequencies (loops, points), increasing, largest singular values there, and residues of the responses."""
        count = len(loops.values)
        poles: NDArray[Any] = loops.values
        if self.dt:
            poles = np.log(np.where(np.abs(poles) > 1e-12, poles, 1e-12 + 0j)) / self.dt
        width, size = np.abs(poles.real), np.abs(poles)
        factors = np.where((poles.imag >= 0.0)[:, :, None], _ABOVE, _BELOW)
        about = np.maximum(np.abs(poles.imag)[:, :, None] + width[:, :, None] * factors, 0.0).reshape(count, -1)
        low, high = size.min(axis=1, initial=np.inf), size.max(axis=1, initial=0.0)
        high = np.where(high > 0.0, 10.0 * high, 1.0)
        low = np.clip(0.1 * low, 1e-12 * high, high)
        between = low[:, None] * (high / low)[:, None] ** np.linspace(0.0, 1.0, _FILLED)
        ends = [np.zeros((count, 1)), np.full((count, 1), np.inf), np.tile(self._near, (count, 1))]
        omega = np.sort(np.concatenate([about, between, *ends], axis=1), axis=1)
        # of each entry by each mode: (loops, p m, n)
        residues = (loops.C @ loops.V)[:, :, None, :] * _T(loops.Vi @ loops.B)[:, None, :, :]
        residues = residues.reshape(count, -1, loops.A.shape[1])
        return omega, self._sizes(loops, residues, np.arange(count), omega), residues

    def _sizes(self, loops: _Loops, residues: Complex, k: NDArray[np.int64], omega: Array) -> Array:
        """Largest singular values of the loops k at frequencies (rows, points)."""
        s = _points(omega, self.dt)
        found = residues[k] @ (1.0 / (s[:, None, :] - loops.values[k][:, :, None]))
        X = found.reshape(len(k), *loops.D.shape[1:], -1) + loops.D[k][:, :, :, None]
        for j in np.flatnonzero(~loops.sound[k]):
            X[j] = np.moveaxis(loops.responses(np.full(len(s[j]), k[j]), s[j])[0], 0, 2)
        return _largest(X)

    def _peaks(
        self, loops: _Loops, near: NDArray[np.int64], seen: tuple[Array, Array, Complex], highest: float
    ) -> tuple[NDArray[np.int64], Array]:
        """Loops and frequencies at which their responses are nearly largest: peaks, and what is beside them."""
        omega, sizes, residues = seen[0][near], seen[1][near], seen[2]
        padded = np.pad(sizes, ((0, 0), (1, 1)), constant_values=-1.0)
        high = sizes * self._scale[near, None] >= _NEAR * highest
        top = (sizes >= padded[:, :-2]) & (sizes > padded[:, 2:]) & high
        k, i = np.nonzero(top)
        at, size = omega[k, i], sizes[k, i]
        # brackets end at the next frequencies that differ: those of double poles and of pairs are there twice
        last = omega.shape[1] - 1
        each = np.arange(last + 1)
        with np.errstate(invalid="ignore"):
            new = np.pad(omega[:, 1:] > omega[:, :-1] * (1.0 + 1e-9), ((0, 0), (1, 1)), constant_values=True)
        first = np.maximum.accumulate(np.where(new[:, :-1], each, 0), axis=1)
        final = np.minimum.accumulate(np.where(new[:, 1:], each, last)[:, ::-1], axis=1)[:, ::-1]
        low, up = omega[k, np.maximum(first[k, i] - 1, 0)], omega[k, np.minimum(final[k, i] + 1, last)]
        inner, half = np.isfinite(at), len(_PARTS)
        up = np.where(np.isinf(up) & inner, 2.0 * at, up)
        for _ in range(_NARROWINGS):
            if not inner.any():
                break
            l, c, u = low[inner, None], at[inner, None], up[inner, None]
            points = np.concatenate([l, l + (c - l) * _PARTS, c, c + (u - c) * _PARTS, u], axis=1)
            looked = self._sizes(loops, residues, near[k[inner]], np.delete(points[:, 1:-1], half, axis=1))
            every = np.concatenate([looked[:, :half], size[inner, None], looked[:, half:]], axis=1)
            best = every.argmax(axis=1)
            row = np.arange(len(best))
            low[inner], at[inner], up[inner] = points[row, best], points[row, best + 1], points[row, best + 2]
            size[inner] = every[row, best]
        # on plateaus, some of the grid's points, too
        beside_k, beside_i = np.nonzero(high & ~top)
        beside = omega[beside_k, beside_i]
        with np.errstate(divide="ignore"):
            cell = np.floor(np.log(np.clip(beside, 1e-30, 1e30)) / _APART).astype(np.int64)
        _, some = np.unique(np.stack([beside_k, cell]), axis=1, return_index=True)
        some = some[: 2 * _MOST]
        every_k, every_at = np.concatenate([k, beside_k[some]]), np.concatenate([at, beside[some]])
        return near[every_k], every_at


def _over_limit(growth: Any, limit: float) -> Any:
    """Growth as a number that is 1 at its limit."""
    return 1.0 + (growth - limit) / abs(limit) if limit else 1.0 + growth


def growth_rates(values: NDArray[Any], dt: float) -> Array:
    """Growth rates of poles, 1/s."""
    if not dt:
        return values.real
    return np.log(np.maximum(np.abs(values), 1e-300)) / dt


def _growths(plant: GeneralizedPlant, K: Array, dK: Array, kind: int) -> _Functions | None:
    """Growth of the slowest poles, and their derivatives; None where the gain is too large for numbers."""
    from scipy.linalg import eig

    A = plant.A + plant.B2 @ K @ plant.C2
    if not np.abs(A).max(initial=0.0) < _HUGE:
        return None
    try:
        values, left, right = eig(A, left=True)
    except np.linalg.LinAlgError:  # it has not converged
        return None
    growth = growth_rates(values, plant.dt)
    unit = float(np.abs(values).max(initial=1e-300)) if not plant.dt else 1.0 / plant.dt
    near = growth >= growth.max() - max(0.1 * abs(growth.max()), 1e-9 * unit)
    some = np.flatnonzero(near & (values.imag >= 0.0))[:6]
    gradients = []
    for i in some:
        y, x = left[:, i].conj(), right[:, i]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # where poles meet; see `_sorted`
            rate = np.outer((y @ plant.B2) / (y @ x), plant.C2 @ x)
        if plant.dt:
            rate = rate / (values[i] * plant.dt)
        gradients.append(np.tensordot(dK, rate.real, 2))
    return growth[some], np.array(gradients), np.full(len(some), kind), values[some].imag / unit


def _h2_norm(A: Array, B: Array, C: Array, D: Array, dt: float) -> float:
    """H2 norm with the direct way; in continuous time there is none with it."""
    if not dt:
        return np.inf if D.any() else h2_norm(A, B, C)
    return float(np.hypot(h2_norm(A, B, C, dt), np.linalg.norm(D)))


def _modes(A: Array) -> tuple[Complex, Complex, Complex, NDArray[np.bool_]]:
    """Eigenvalues, their vectors V, the inverse of V, and whether products with them are exact enough.

    Vectors of repeated poles that have none of their own are moved apart.
    """
    values, V = (x.astype(complex) for x in np.linalg.eig(A))
    if not V.size:
        return values, V, V, np.ones(len(A), dtype=bool)
    try:
        Vi = np.linalg.inv(V)
    except np.linalg.LinAlgError:
        defective = np.linalg.svd(V, compute_uv=False)[:, -1] < _DEFECTIVE
        V[defective] += _DEFECTIVE * np.random.default_rng(0).standard_normal(V.shape[1:])
        Vi = np.linalg.inv(V)
    with np.errstate(over="ignore"):
        return values, V, Vi, np.linalg.norm(V, axis=(1, 2)) * np.linalg.norm(Vi, axis=(1, 2)) < _LARGE


def _points(omega: Array, dt: float) -> Complex:
    """Where frequencies are in the complex plane; in sampled time of s = 2/dt (z - 1)/(z + 1)."""
    if dt:
        half = 0.5j * dt * np.where(np.isfinite(omega), omega, 0.0)
        return np.where(np.isfinite(omega), (1.0 + half) / (1.0 - half), -1.0)
    return np.where(np.isfinite(omega), 1j * np.where(np.isfinite(omega), omega, 0.0), np.inf)


def _largest(X: Complex) -> Array:
    """Largest singular values (rows, points) of (rows, p, m, points), in closed form for two rows or columns."""
    p, m = X.shape[1:3]
    if min(p, m) == 0:
        return np.zeros((len(X), X.shape[3]))
    if min(p, m) == 1:
        return np.sqrt((X.real**2 + X.imag**2).sum(axis=(1, 2)))
    if min(p, m) == 2:
        a, b = (X[:, 0], X[:, 1]) if p == 2 else (X[:, :, 0], X[:, :, 1])
        aa, bb = (a.real**2 + a.imag**2).sum(axis=1), (b.real**2 + b.imag**2).sum(axis=1)
        ab = np.abs((a.conj() * b).sum(axis=1))
        return np.sqrt(0.5 * (aa + bb) + np.hypot(0.5 * (aa - bb), ab))
    return largest_gains(np.moveaxis(X, 3, 1).reshape(-1, p, m)).reshape(len(X), -1)


def _singular_values(
    loops: _Loops, k: NDArray[np.int64], s: Complex
) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.int64]]:
    """Largest singular values of loops at points, their derivatives by the gain Re (u* L)(R v), rows, and orders."""
    X, L, R = loops.responses(k, s)
    U, sizes, Vh = np.linalg.svd(X, full_matrices=False)
    row, j = np.nonzero(sizes[:, :3] >= _SHARE * sizes[:, :1])
    left = np.einsum("ki,kij->kj", U[row, :, j].conj(), L[row])
    right = np.einsum("kij,kj->ki", R[row], Vh[row, j].conj())
    return sizes[row, j], (left[:, :, None] * right[:, None, :]).real, row, j


def _h2(loops: _Loops, dt: float) -> tuple[Array, Array]:
    """H2 norms, and their derivatives by the gain; inf where a loop in continuous time has a direct way."""
    A, B, C, D = loops[:4]
    if not dt and D.any():
        return np.full(len(A), np.inf), np.zeros((len(A), loops.B2.shape[2], loops.C2.shape[1]))
    P, Q = _gramians(loops, B @ _T(B), dt, False), _gramians(loops, _T(C) @ C, dt, True)
    square = np.trace(C @ P @ _T(C), axis1=1, axis2=2) + (D**2).sum(axis=(1, 2))
    value = np.sqrt(np.maximum(square, 0.0))
    G = _T(loops.D12) @ (C @ P @ _T(loops.C2) + D @ _T(loops.D21))
    if dt:
        G = G + _T(loops.B2) @ Q @ (A @ P @ _T(loops.C2) + B @ _T(loops.D21))
    else:
        G = G + _T(loops.B2) @ Q @ (P @ _T(loops.C2) + B @ _T(loops.D21))
    return value, G / np.maximum(value, 1e-300)[:, None, None]


def _T(X: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(X, 1, 2)


def _gramians(loops: _Loops, X: Array, dt: float, observed: bool) -> Array:
    """Solutions of A P + P A' + X = 0, or A P A' - P + X = 0; of A' where observed."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    V, Vi = (_T(loops.Vi), _T(loops.V)) if observed else (loops.V, loops.Vi)
    a, b = loops.values[:, :, None], np.conj(loops.values[:, None, :])
    inner = (Vi @ X @ np.conj(_T(Vi))) / (1.0 - a * b if dt else -(a + b))
    P = (V @ inner @ np.conj(_T(V))).real
    for j in np.flatnonzero(~loops.sound):
        A = loops.A[j].T if observed else loops.A[j]
        P[j] = solve_discrete_lyapunov(A, X[j]) if dt else solve_continuous_lyapunov(A, -X[j])
    return P


def _joined(parts: Sequence[_Functions]) -> _Functions:
    values, gradients, kinds, places = (np.concatenate(x) for x in zip(*parts, strict=True))
    return values, gradients, kinds, places


def _sorted(parts: Sequence[_Functions], share: float, additive: bool = False) -> Values | None:
    """Functions of all parts that are nearly largest, the largest first."""
    values, gradients, kinds, places = _joined(parts)
    if not (np.isfinite(values).all() and (np.abs(gradients) < _STEEPEST).all()):
        return None
    highest = float(values.max())
    least = highest - 0.1 * abs(highest) if additive or highest <= 0.0 else share * highest
    order = np.argsort(-values)
    order = order[values[order] >= least][:_MOST]
    return Values(values[order], gradients[order], kinds[order], places[order])

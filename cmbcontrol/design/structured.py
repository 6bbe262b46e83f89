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

from ..errors import DesignError
from ..linear.generalized_plant import GeneralizedPlant
from ..linear.norms import Response, h2_norm, hinf_norm, largest_gain, response
from .minimax import Values, minimize_largest

__all__ = ["MinimaxProblem", "MinimaxSolution", "Requirement", "Structure", "growth_rates"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
_Functions = tuple[Array, Array, NDArray[Any], Array]  # values, derivatives, kinds and places

_SHARE = 0.9  # of the largest value: functions above it take part in a step
_NEAR = 0.9  # of the largest value on the grid: plants above it are looked at without gaps
_LEVELS = (1e-3, 1e-2, 0.1, 0.4, 1.0)  # of what lies between a share and the highest peak
_MOST = 40  # functions of a step
_AGAIN = 5  # searches from a minimum at which a peak was higher than the search had seen
_GRID, _KEPT = 60, 30  # frequencies at which all norms are bounded from below; of these, those of peaks before
_STEEPEST = 1e100  # derivative: where poles meet they have none


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
            plants.setdefault(one.case, one.plant)
        self._plants = plants  # one of each index: all of an index have the same poles
        alike: dict[Any, list[int]] = {}
        for k, one in enumerate(self.requirements):
            shapes = tuple(x.shape for x in (one.plant.A, one.plant.B1, one.plant.C1, one.plant.B2, one.plant.C2))
            alike.setdefault((one.kind, shapes, one.plant.dt), []).append(k)
        self._groups = [_Group(self.requirements, members) for members in alike.values()]
        self._group_of = {k: group for group in self._groups for k in group.members}

    # -- values and derivatives ----------------------------------------------------------------------------------

    def poles(self, theta: Array, bound: float = np.inf) -> Values | None:
        """Growth of the slowest poles of all plants."""
        K, dK = self.structure.gains(theta), self.structure.derivatives(theta)
        parts = [_growths(plant, K[i], dK[i], k) for k, (i, plant) in enumerate(self._plants.items())]
        return _sorted(parts, 0.0, additive=True)

    def __call__(self, theta: Array, bound: float = np.inf) -> Values | None:
        """Requirements over their limits that are nearly largest; None where a loop is not stable.

        Where the largest is above a bound, its value alone may be returned, and not all of it.
        """
        K = self.structure.gains(theta)
        rough = np.empty(len(self.requirements))
        for group in self._groups:
            found = group.lower_bounds(K)
            if found is None:
                return None
            rough[group.members] = found
        highest = float(rough.max())
        if highest > bound:
            return Values(np.array([highest]), np.zeros((1, len(theta))), np.zeros(1, dtype=np.int64), np.zeros(1))
        dK: list[Array] = self.structure.derivatives(theta)
        made: list[_Functions] = []
        for k in np.argsort(-rough):
            if made and rough[k] < _NEAR * highest:
                break
            one = self.requirements[k]
            part = self._part(int(k), one.plant.closed(K[one.case])[:4], K[one.case], dK[one.case])
            if part is None:
                return None
            highest = max(highest, float(part[0].max()))
            made.append(part)
        return _sorted(made, _SHARE)

    def _part(self, k: int, closed: tuple[Array, ...], K: Array, dK: Array) -> _Functions | None:
        """Values, derivatives, kinds and places of one requirement's functions."""
        one = self.requirements[k]
        if one.kind == "growth":
            values, gradients, kinds, places = _growths(one.plant, K, dK, k)
            scale = one.weight / abs(one.limit) if one.limit else one.weight
            return one.weight * _over_limit(values, one.limit), gradients * scale, kinds, places
        scale = one.weight / one.limit
        if one.kind == "h2":
            value, G = _h2(one.plant, closed)
            if not np.isfinite(value):
                return None
            return np.array([value * scale]), np.tensordot(dK, G, 2)[None] * scale, np.array([k]), np.zeros(1)
        omega, highest = _active(response(closed[0], closed[1], closed[2], closed[3], one.plant.dt))
        self._group_of[k].remember(float(omega[0]))
        values, G, places = _singular_values(one.plant, closed[:4], omega, highest)
        return values * scale, np.tensordot(G, dK, ([1, 2], [1, 2])) * scale, np.full(len(values), k), places

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

    def solve(self, starts: int = 4, seed: int = 0, steps: int = 300) -> MinimaxSolution:
        """Best of several local minima, the first from the start of the structure.

        Raises
        ------
        DesignError
            Where no stable loops are found.
        """
        rng = np.random.default_rng(seed)
        ends: list[tuple[float, Array]] = []
        for k in range(starts):
            theta = self.structure.start if k == 0 else self.structure.drawn(rng)
            end = self._from(theta, steps)
            if end is not None:
                ends.append(end)
        if not ends:
            raise DesignError(f"no gains were found that make all loops stable, from {starts} starts")
        for _, theta in sorted(ends, key=lambda end: end[0]):
            values = self.exact(theta)
            value = max(values.values())
            if np.isfinite(value):
                found = np.sort([end[0] for end in ends] + [np.inf] * (starts - len(ends)))
                return MinimaxSolution(theta, value, values, found)
        raise DesignError("gains that were found do not make all loops stable")

    def solve_from(self, theta: Array, steps: int = 300) -> MinimaxSolution:
        """Local minimum from parameters.

        Raises
        ------
        DesignError
            Where these lead to no stable loops.
        """
        found = self.again(theta, steps)
        if found is None:
            raise DesignError("no gains were found that make all loops stable, from those of a part of them")
        values = self.exact(found)
        value = max(values.values())
        return MinimaxSolution(found, value, values, np.array([value]))

    def again(self, theta: Array, steps: int = 300) -> Array | None:
        """Local minimum from parameters; None where they make no stable loops."""
        end = self._from(theta, steps)
        return None if end is None else end[1]

    def _from(self, theta: Array, steps: int) -> tuple[float, Array] | None:
        """Local minimum from a start, which is made stable first; None where that fails."""
        if self(theta) is None:
            begun = self.poles(theta)
            if begun is None:
                return None
            enough = -1e-3 * min(self._unit(), 1.0)
            theta = minimize_largest(self.poles, theta, steps=steps, enough=enough).x
            if self(theta) is None:
                return None
        for _ in range(_AGAIN):
            end = minimize_largest(self, theta, steps=steps)
            theta = end.x
            if self._seen(theta, end.value):
                break
        return end.value, theta

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


class _Group:
    """Requirements of one kind, with plants of one size: values of all of them together, of norms from below."""

    def __init__(self, requirements: Sequence[Requirement], members: Sequence[int]) -> None:
        self.members = np.array(members)
        some = [requirements[k] for k in members]
        self.kind, self.dt, self._some = some[0].kind, some[0].plant.dt, some
        self._limits, self._index = np.array([one.limit / one.weight for one in some]), [one.case for one in some]
        names = ("A", "B1", "B2", "C1", "C2", "D11", "D12", "D21")
        self._stacks = [np.array([getattr(one.plant, name) for one in some]) for name in names]
        self._near: list[float] = []  # where peaks were
        self._omega: Array | None = None

    def remember(self, omega: float) -> None:
        """Look at a frequency, too, now."""
        self._near = [*self._near[-_KEPT:], omega]

    def lower_bounds(self, K: Sequence[Array]) -> Array | None:
        """Values over their limits, of H-infinity norms on a grid; None where a loop is not stable."""
        A, B1, B2, C1, C2, D11, D12, D21 = self._stacks
        gain = np.array([K[i] for i in self._index])
        A, B, C, D = A + B2 @ gain @ C2, B1 + B2 @ (gain @ D21), C1 + (D12 @ gain) @ C2, D11 + D12 @ gain @ D21
        if self.kind == "h2":
            if not (growth_rates(np.linalg.eigvals(A), self.dt) < 0.0).all():
                return None
            return np.array([_h2_norm(*parts, self.dt) for parts in zip(A, B, C, D, strict=True)]) / self._limits
        values, V = np.linalg.eig(A)
        growth = growth_rates(values, self.dt)
        if not (growth < 0.0).all():
            return None
        if self.kind == "growth":
            return np.array([x.weight * _over_limit(g.max(), x.limit) for g, x in zip(growth, self._some, strict=True)])
        if self._omega is None:
            self._omega = self._grid(values)
        omega = np.concatenate([self._omega, self._near])
        finite, at = _points(omega, self.dt)
        try:
            left, right = C @ V, np.linalg.solve(V, B + 0j)
        except np.linalg.LinAlgError:  # of a double pole without a second vector
            return np.full(len(A), np.inf)
        rate = finite / (at[None, :] - values[:, :, None])  # (cases, states, frequencies)
        found = np.einsum("cpn,cnf,cnm->cfpm", left, rate, right, optimize=True) + D[:, None]
        if min(found.shape[2:]) == 1:
            return np.sqrt((np.abs(found) ** 2).sum(axis=(2, 3))).max(axis=1) / self._limits
        return np.linalg.svd(found, compute_uv=False)[:, :, 0].max(axis=1) / self._limits

    def _grid(self, values: NDArray[Any]) -> Array:
        """Frequencies that cover the poles, and what is below and above."""
        if self.dt:
            values = np.log(np.where(np.abs(values) > 1e-12, values, 1e-12)) / self.dt
        sizes: Array = np.abs(values[values != 0.0])
        if not sizes.size:
            return np.array([0.0, np.inf])
        low, high = 1e-2 * sizes.min(), 1e2 / self.dt if self.dt else 1e2 * sizes.max()
        return np.concatenate([[0.0], np.geomspace(low, high, _GRID), [np.inf]])


def _over_limit(growth: Any, limit: float) -> Any:
    """Growth as a number that is 1 at its limit."""
    return 1.0 + (growth - limit) / abs(limit) if limit else 1.0 + growth


def growth_rates(values: NDArray[Any], dt: float) -> Array:
    """Growth rates of poles, 1/s."""
    if not dt:
        return values.real
    return np.log(np.maximum(np.abs(values), 1e-300)) / dt


def _growths(plant: GeneralizedPlant, K: Array, dK: Array, kind: int) -> _Functions:
    """Growth of the slowest poles, and their derivatives."""
    from scipy.linalg import eig

    values, left, right = eig(plant.A + plant.B2 @ K @ plant.C2, left=True)
    growth = growth_rates(values, plant.dt)
    unit = float(np.abs(values).max(initial=1e-300)) if not plant.dt else 1.0 / plant.dt
    near = growth >= growth.max() - max(0.1 * abs(growth.max()), 1e-9 * unit)
    some = np.flatnonzero(near & (values.imag >= 0.0))[:6]
    gradients = []
    for i in some:
        y, x = left[:, i].conj(), right[:, i]
        rate = np.outer((y @ plant.B2) / (y @ x), plant.C2 @ x)
        if plant.dt:
            rate = rate / (values[i] * plant.dt)
        gradients.append(np.tensordot(dK, rate.real, 2))
    return growth[some], np.array(gradients), np.full(len(some), kind), values[some].imag / unit


def _active(X: Response) -> tuple[Array, float]:
    """Frequencies at which a response is nearly largest, the highest peak first, and its height.

    They are all peaks above a share, and the sides of all peaks at some levels: where a response is flat, as good ones
    are, it may not rise anywhere on the plateau. Peaks are those about poles: at the end others are asked for.
    """
    peaks, sizes = X.peaks(_SHARE)
    highest = float(sizes[0])
    sides = [X.crossings(highest * (1.0 - part * (1.0 - _SHARE))) for part in _LEVELS] if len(X.A) else []
    return np.concatenate([peaks[:1], np.unique(np.concatenate([peaks[1:], *sides]))]), highest


def _h2_norm(A: Array, B: Array, C: Array, D: Array, dt: float) -> float:
    """H2 norm with the direct way; in continuous time there is none with it."""
    if not dt:
        return np.inf if D.any() else h2_norm(A, B, C)
    return float(np.hypot(h2_norm(A, B, C, dt), np.linalg.norm(D)))


def _points(omega: Array, dt: float) -> tuple[NDArray[np.bool_], Complex]:
    """Which frequencies are finite, and where they are in the complex plane."""
    if dt:
        half = 0.5j * dt * np.where(np.isfinite(omega), omega, 0.0)
        return np.ones(len(omega), bool), np.where(np.isfinite(omega), (1.0 + half) / (1.0 - half), -1.0)
    finite = np.isfinite(omega)
    return finite, 1j * np.where(finite, omega, 0.0)


def _singular_values(
    plant: GeneralizedPlant, closed: tuple[Array, ...], omega: Array, highest: float
) -> tuple[Array, Array, Array]:
    """Singular values near the highest at some frequencies, and their derivatives by the gain: Re (u* L)(R v)."""
    A, B, C, D = closed
    finite, at = _points(omega, plant.dt)
    both = (
        np.linalg.solve(at[:, None, None] * np.eye(len(A)) - A, np.hstack([B, plant.B2]) + 0j) * finite[:, None, None]
    )
    X, Y = both[:, :, : B.shape[1]], both[:, :, B.shape[1] :]
    L, R = C @ Y + plant.D12, plant.C2 @ X + plant.D21
    U, sizes, Vh = np.linalg.svd(C @ X + D, full_matrices=False)
    f, j = np.nonzero(sizes[:, :3] >= _SHARE * highest * (1.0 - 1e-9))
    order = np.argsort(-sizes[f, j])[:_MOST]
    f, j = f[order], j[order]
    left, right = np.einsum("ki,kij->kj", U[f, :, j].conj(), L[f]), np.einsum("kij,kj->ki", R[f], Vh[f, j].conj())
    places = np.log(np.clip(omega[f], 1e-9, 1e12)) + 100.0 * j
    return sizes[f, j], (left[:, :, None] * right[:, None, :]).real, places


def _h2(plant: GeneralizedPlant, closed: tuple[Array, ...]) -> tuple[float, Array]:
    """H2 norm, and its derivative by the gain."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    A, B, C, D = closed
    if plant.dt:
        X, Q = solve_discrete_lyapunov(A, B @ B.T), solve_discrete_lyapunov(A.T, C.T @ C)
        square = float(np.trace(C @ X @ C.T) + np.trace(D @ D.T))
        G = (plant.B2.T @ Q @ A + plant.D12.T @ C) @ X @ plant.C2.T
        G += (plant.B2.T @ Q @ B + plant.D12.T @ D) @ plant.D21.T
    else:
        if D.any():
            return np.inf, np.zeros((plant.B2.shape[1], len(plant.C2)))
        X, Q = solve_continuous_lyapunov(A, -B @ B.T), solve_continuous_lyapunov(A.T, -C.T @ C)
        square = float(np.trace(C @ X @ C.T))
        G = (plant.B2.T @ Q + plant.D12.T @ C) @ X @ plant.C2.T + plant.B2.T @ Q @ B @ plant.D21.T
    if not square > 0.0:
        return 0.0, np.zeros_like(G)
    value = float(np.sqrt(square))
    return value, G / value


def _sorted(parts: Sequence[_Functions], share: float, additive: bool = False) -> Values | None:
    """Functions of all parts that are nearly largest, the largest first."""
    values, gradients, kinds, places = (np.concatenate(x) for x in zip(*parts, strict=True))
    if not (np.isfinite(values).all() and (np.abs(gradients) < _STEEPEST).all()):
        return None
    highest = float(values.max())
    least = highest - 0.1 * abs(highest) if additive or highest <= 0.0 else share * highest
    order = np.argsort(-values)
    order = order[values[order] >= least][:_MOST]
    return Values(values[order], gradients[order], kinds[order], places[order])

"""Robust stability and worst-case gain over all frequencies, proven without gaps between them.

Scalings that bound mu at one frequency bound it at others, too. How far, eigenvalues of a pencil tell: where
level^2 D_w - M^H D_z M - i (G M - M^H G^H) is singular. Frequencies are tried, each with its own scalings, until no
part of the axis is left. Real parameters make mu jump, but never upwards beside a frequency that is bounded. Source of
the test: Boyd, Balakrishnan, Kabamba, Mathematics of Control, Signals, and Systems 2 (1989), 207-219.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from .balancing import balanced, bilinear
from .mu import Array, BlockStructure, Complex, Scalings, UncertainBlock, least_level, lower_bound, mu, structure_of
from .sampled import frequencies

__all__ = ["RobustStability", "WorstCaseGain", "is_bounded", "robust_stability", "worst_case_gain"]

_MOST = 600  # frequencies that are tried; a few tens are usual
_COARSER = 100  # frequencies after which the tolerance is doubled, and the level raised: where mu is flat
_ROUNDING = 1e-10  # of the terms of a test matrix of size 1: eigenvalues below it prove nothing
_LOST = 1e75  # entries in units of scalings: products of larger ones overflow, and prove nothing
_LOOKS = 48  # frequencies at which a proof is looked at again
_LEAST = 1e-4  # of the norm of M, balanced: the least upper bound that is sought
_DOUBT = 1e-6  # relative: a lower bound so far above the upper one is no rounding
_PROOF = 1e-2  # relative: how far the bound at one frequency may be above its least value, in a proof of one level
_STARTS = 24  # of the search for worst perturbations
_DRAWN = 1e-4  # relative: bounds at frequencies that are asked for, above their least values
_INSIDE = 0.97  # of the size of the worst perturbation found: the box that branches are to prove


class _System(NamedTuple):
    """M(s) = C (s - A)^-1 B + D in continuous time; a sampled one after s = 2/dt (z - 1)/(z + 1)."""

    A: NDArray[Any]
    B: NDArray[Any]
    C: NDArray[Any]
    D: NDArray[Any]
    dt: float

    def respond(self, omega: Array) -> tuple[Complex, Complex]:
        """Responses (s, z, w) at frequencies, which may be infinite, and their slopes."""
        n = len(self.A)
        finite = np.isfinite(omega)
        s = 1j * np.where(finite, omega, 0.0)[:, None, None] * np.eye(n) - self.A
        X = np.linalg.solve(s, np.broadcast_to(self.B, (len(omega), *self.B.shape)))
        weight = finite[:, None, None]
        return self.C @ X * weight + self.D, -1j * self.C @ np.linalg.solve(s, X) * weight

    def fixed(self, omega: Array) -> tuple[Complex, None]:
        """Responses whose frequencies may not move."""
        return self.respond(omega)[0], None

    def at(self, omega: float) -> Complex:
        return self.respond(np.array([omega]))[0][0]

    def frequency(self, omega: float) -> float:
        """Frequency of the system as it was given, rad/s."""
        return float(2.0 / self.dt * np.arctan(0.5 * omega * self.dt)) if self.dt else float(omega)

    def place(self, omega: Array) -> Array:
        """Where frequencies of the system as it was given are, the other way round."""
        if not self.dt:
            return omega
        half = 0.5 * omega * self.dt
        return np.where(half < 0.5 * np.pi, 2.0 / self.dt * np.tan(half), np.inf)

    def growth(self) -> float:
        return float(np.linalg.eigvals(self.A).real.max(initial=-np.inf))

    def within(self, structure: BlockStructure, low: Array, high: Array) -> _System:
        """The same with Delta in units of a box: centre (low + high) / 2 is zero, and its ends are -1 and 1."""
        middle, half = (
            np.concatenate([np.full(b.size, x) for b, x in zip(structure.blocks, values, strict=True)])
            for values in (0.5 * (low + high), 0.5 * (high - low))
        )
        if not middle.any():
            return self._replace(B=self.B * half, D=self.D * half)
        middle = _spread(structure, 0.5 * (low + high))
        E = np.linalg.inv(np.eye(len(self.D)) - self.D @ middle)
        C, D = E @ self.C, E @ self.D
        A, B = self.A + self.B @ middle @ C, self.B + self.B @ middle @ D
        return self._replace(A=A, B=B * half, C=C, D=D * half)


def _spread(structure: BlockStructure, values: Array) -> Array:
    """Delta (w, z) of numbers; full blocks are zero."""
    Delta = np.zeros((structure.inputs, structure.outputs))
    for b, w, z, x in zip(structure.blocks, structure.w, structure.z, values, strict=True):
        if b.kind != "full":
            Delta[w, z] = x * np.eye(b.size)
    return Delta


def _system(system: Any) -> _System:
    """Matrices of a system of python-control, or of (A, B, C, D) or (A, B, C, D, dt)."""
    if all(hasattr(system, x) for x in "ABCD"):
        given = system.A, system.B, system.C, system.D, getattr(system, "dt", 0.0)
    else:
        given = tuple(system) if isinstance(system, (tuple, list)) else ()
        if len(given) not in (4, 5):
            raise InputError(
                "system must have matrices A, B, C, D, as control.ss(A, B, C, D) has, or be (A, B, C, D) or "
                f"(A, B, C, D, dt); got {_check.shown(system)}"
            )
    A, B, C, D = (np.atleast_2d(np.asarray(x, float)) for x in given[:4])
    dt = given[4] if len(given) > 4 else 0.0
    dt = 1.0 if dt is True else float(dt or 0.0)
    z, w = D.shape
    n = A.shape[0] if A.size else 0
    A, B, C = A.reshape(n, n), B.reshape(n, w), C.reshape(z, n)
    if not all(np.isfinite(x).all() for x in (A, B, C, D)):
        raise InputError("matrices of the system must be finite")
    if n and dt:
        if np.abs(np.linalg.eigvals(A)).max() >= 1.0:  # no stable one: its bilinear image may not exist
            return _System(np.eye(n), B, C, D, dt)
        A, B, C, D = bilinear(A, B, C, D, dt)
    if n:
        A, B, C = balanced(A, B, C)
    return _System(A, B, C, D, dt)


def _proven(system: _System, structure: BlockStructure, found: Scalings, level: Array) -> list[tuple[float, float]]:
    """Intervals of frequencies on which scalings prove the levels (w,) of all inputs."""
    L_w, L_z = np.linalg.cholesky(found.D_w), np.linalg.cholesky(found.D_z)
    feed = np.linalg.inv(L_w).conj().T / level
    A, B, D = system.A, system.B @ feed, L_z.conj().T @ system.D @ feed
    C = L_z.conj().T @ system.C
    G = np.linalg.solve(L_z, found.G.conj().T).conj().T
    G = np.linalg.solve(L_w, G) / level[:, None]
    if not max(np.abs(x).max(initial=0.0) for x in (B, C, D, G)) < _LOST:
        return []
    n, m = len(A), B.shape[1]
    GD = G @ D
    R = np.eye(m) - D.conj().T @ D - 1j * (GD - GD.conj().T)
    ends = grid = np.zeros(0)
    if n:
        poles = np.linalg.eigvals(A)
        ends = _crossings(A, B, C, -C.conj().T @ D + 1j * C.conj().T @ G.conj().T, R)
        spread = np.geomspace(0.1 * np.abs(poles).min(), 10.0 * np.abs(poles).max(), _LOOKS)
        grid = np.concatenate([np.abs(poles), np.abs(poles.imag), spread])
    ends = np.concatenate([[0.0], ends, [np.inf]])
    beyond = 2.0 * ends[-2] if ends[-2] else 1.0
    middle = 0.5 * (ends[:-1] + np.where(np.isfinite(ends[1:]), ends[1:], 2.0 * beyond))
    points = np.concatenate([ends, middle, grid])
    X = (_System(A, B, C, D, 0.0)).respond(points)[0]
    GX = G @ X
    F = np.eye(m) - X.conj().transpose(0, 2, 1) @ X - 1j * (GX - GX.conj().transpose(0, 2, 1))
    size = np.linalg.norm(X, axis=(1, 2))
    terms = 1.0 + size**2 + float(np.linalg.norm(G)) * size
    good = np.linalg.eigvalsh(F)[:, 0] > _ROUNDING * terms
    at_end, cell, at_grid = good[: len(ends)], good[len(ends) : 2 * len(ends) - 1].copy(), good[2 * len(ends) - 1 :]
    # a border that is only touched, or two that rounding has merged, lies between cells that are good
    for i in np.flatnonzero(~at_end[1:-1] & cell[:-1] & cell[1:]) + 1:
        cell[i - 1] = cell[i] = False
    cell[0] &= at_end[0]
    cell[-1] &= at_end[-1]
    cell[np.searchsorted(ends, grid[~at_grid], side="right") - 1] = False  # a crossing was lost in rounding
    parts: list[tuple[float, float]] = []
    for k in np.flatnonzero(cell):
        low, high = float(ends[k]), float(ends[k + 1])
        if parts and parts[-1][1] == low and at_end[k]:
            parts[-1] = (parts[-1][0], high)
        else:
            parts.append((low, high))
    return parts


def _crossings(A: Array, B: Complex, C: Complex, S: Complex, R: Complex) -> Array:
    """Frequencies > 0 at which R + N^H S + S^H N - N^H C^H C N, with N = (i omega - A)^-1 B, may be singular.

    They are eigenvalues of a pencil on the imaginary axis. Imaginary parts of all its eigenvalues are told: rounding
    moves double ones off the axis, and a few frequencies too many cost little.
    """
    from scipy.linalg import eigvals

    n, m = B.shape
    k = 1.0 / np.sqrt(np.maximum(1.0, np.abs(R).max(axis=1)))  # signals w in units in which R is 1 at most
    B, S, R = B * k, S * k, k[:, None] * R * k
    unit = np.sqrt(max(np.linalg.norm(C), np.sqrt(np.linalg.norm(S)), 1e-300) / max(np.linalg.norm(B), 1e-300))
    B, C, S = B * unit, C / unit, S / unit
    pencil = np.block([[A, np.zeros((n, n)), B], [-C.conj().T @ C, A.T, S], [S.conj().T, B.conj().T, R]])
    mass = np.diag([1.0] * n + [-1.0] * n + [0.0] * m)
    with np.errstate(all="ignore"):
        values = eigvals(pencil, mass, check_finite=False)
    found = np.unique(np.abs(values.imag[np.isfinite(values)]))
    return found[found > 0.0]


def _without(parts: list[tuple[float, float]], proven: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What is left of intervals."""
    for low, high in proven:
        left = []
        for a, b in parts:
            if high <= a or low >= b:
                left.append((a, b))
                continue
            left += [(a, low)] if a < low else []
            left += [(high, b)] if high < b else []
        parts = left
    return parts


class _Peak(NamedTuple):
    """Level that holds at all frequencies, the frequency that asks for it, and the frequencies that were tried."""

    level: float
    omega: float
    tried: Array
    bounds: Array
    complete: bool


def _sweep(
    system: _System,
    structure: BlockStructure,
    tolerance: float,
    own: tuple[int, ...] = (),
    only: float | None = None,
    known: tuple[float, float] = (0.0, np.nan),
) -> _Peak:
    """Least level that scalings prove at all frequencies; with `only`, whether they prove that one.

    `known` is a lower bound, and its frequency: where real numbers act, mu may be above zero at that one only.
    """
    poles = np.linalg.eigvals(system.A) if len(system.A) else np.zeros(0)
    first = np.unique([0.0, np.inf, *np.abs(poles), *np.abs(poles.imag)])
    rough = []
    for M in system.respond(first)[0]:
        t_w, t_z = structure.balance(M)
        rough.append(float(np.linalg.norm(t_z[:, None] * M / t_w, 2)))
    queue = list(first[np.argsort(rough)])
    scaled, rows = structure.channels(own) if own else (np.ones(structure.inputs, bool), None)
    if rows is not None:  # without uncertainty
        rough = [float(np.linalg.norm(M[np.ix_(rows, scaled)], 2)) for M in system.respond(first)[0]]
    # far below the sizes of M, as where only a real number acts, scalings are lost in rounding
    level, peak, left = only or _LEAST * max(rough) or 1e-300, float(queue[-1]), [(0.0, np.inf)]
    tried: list[float] = []
    bounds: list[float] = []

    near: list[Scalings] = []  # of the last frequency

    def bound_at(omega: float, enough: float = 0.0) -> tuple[float, Scalings]:
        found = least_level(system.at(omega), structure, 0.1 * tolerance, enough, own, near[-1] if near else None)
        if np.isfinite(found[0]):
            near[:] = [found[1]]
        tried.append(omega)
        bounds.append(found[0])
        return found

    def summit(omega: float, low: float, high: float) -> tuple[float, float]:
        """Largest bound near a frequency, and where it is."""
        from scipy.optimize import minimize_scalar

        best = len(tried) - 1
        if 0.0 < omega < np.inf:
            ends = np.log([max(low, omega / 3.0), min(high, omega * 3.0)])
            minimize_scalar(
                lambda x: -bound_at(float(np.exp(x)))[0],
                bounds=ends,
                method="bounded",
                options={"xatol": 1e-5, "maxiter": 10},
            )
            best += int(np.argmax(bounds[best:]))
        return bounds[best], tried[best]

    if known[0] > level:
        bound_at(known[1])
        bound, peak = summit(known[1], 0.0, np.inf)
        level = max(known[0], bound) * (1.0 + tolerance)
    patience = 2 * _COARSER
    while left and len(tried) < _MOST:
        if only is None and len(tried) >= patience:  # what is proven stays so at a higher level
            tolerance, patience = 2.0 * tolerance, patience + _COARSER
            level *= 1.0 + tolerance
        omega = None
        while queue and omega is None:
            x = float(queue.pop())
            omega = x if any(a <= x <= b for a, b in left) else None
        if omega is None:
            omega = _between(*left[-1])
        bound, scalings = bound_at(omega, level)
        if bound > level * (1.0 - 1e-3 * tolerance):
            if only is not None or not np.isfinite(bound):
                return _Peak(bound, omega, np.array(tried), np.array(bounds), False)
            tolerance *= 2.0 if len(tried) > _COARSER else 1.0
            low, high = next(x for x in left if x[0] <= omega <= x[1])
            bound, peak = summit(omega, low, high)
            level = bound * (1.0 + tolerance)
            scalings = bound_at(peak, level)[1]
        left = _without(left, _proven(system, structure, scalings, np.where(scaled, level, 1.0)))
    return _Peak(level if not left else np.inf, peak, np.array(tried), np.array(bounds), not left)


def _between(low: float, high: float) -> float:
    """Middle of an interval of frequencies: of wide ones on a logarithmic scale."""
    if not np.isfinite(high):
        return 4.0 * low if low else 1.0
    return float(np.sqrt(low * high)) if low > 0.1 * high else 0.5 * (low + high)


@dataclass(frozen=True)
class RobustStability:
    """Robust stability of an uncertain system.

    Attributes
    ----------
    stable : bool
        Whether it is stable without uncertainty.
    lower, upper : float
        Bounds of the largest mu over all frequencies; inf where the system is not stable.
    frequency : float
        Where `upper` is needed, rad/s.
    worst : dict
        Value of each block, by its name, of the smallest perturbation found that makes it unstable; of size 1 / lower.
    worst_frequency : float
        Frequency at which it is on the border of stability then, rad/s.
    frequencies, bounds : ndarray, shape (k,)
        Frequencies that were tried, increasing, rad/s, and bounds of mu there from above, as good as the proof needs
        them; `bounds_at` has the least ones.
    boxes : int
        Parts of the box of real parameters of which stability was proven one by one; 1 where it was at once.
    """

    stable: bool
    lower: float
    upper: float
    frequency: float
    worst: dict[str, Any]
    worst_frequency: float
    frequencies: Array
    bounds: Array
    boxes: int = 1
    _of: tuple[_System, BlockStructure] | None = field(default=None, repr=False, compare=False)

    @property
    def dt(self) -> float:
        """Sample time, s; 0 in continuous time, and where the system is not stable."""
        return self._of[0].dt if self._of else 0.0

    def bounds_at(self, omega: ArrayLike) -> Array:
        """Least bounds of mu from above, to 1e-4, at frequencies (k,), rad/s.

        Raises
        ------
        ValueError
            For frequencies below zero or, of a sampled system, above half of the sampling, and where the system is not
            stable without uncertainty.

        Examples
        --------
        >>> A, B, C = [[0.0, 1.0], [-1.0, -0.2]], [[0.0], [-1.0]], [[0.0, 1.0]]
        >>> found = robust_stability((A, B, C, [[0.0]]), [UncertainBlock("complex", name="damping")])
        >>> found.bounds_at([0.5, 1.0]).round(2)  # abs(s / (s^2 + 0.2 s + 1))
        array([0.66, 5.  ])
        """
        if self._of is None:
            raise InputError("the system is not stable even without uncertainty: it has no mu that tells anything")
        system, structure = self._of
        given = frequencies(omega)
        if system.dt and given.max() > np.pi / system.dt * (1.0 + 1e-9):
            raise InputError(
                f"omega: frequencies of a system with {system.dt:g} s a sample end at {np.pi / system.dt:.6g} rad/s, "
                f"got {given.max():.6g}"
            )
        return np.array([least_level(system.at(float(w)), structure, _DRAWN)[0] for w in system.place(given)])

    @property
    def certified(self) -> bool:
        """Whether it is proven to be stable for all perturbations up to the size 1."""
        return self.stable and self.upper < 1.0

    @property
    def margin(self) -> tuple[float, float]:
        """Size up to which all perturbations are allowed: proven, and at most."""
        return tuple(1.0 / x if x else np.inf for x in (self.upper, self.lower))  # type: ignore[return-value]

    def __str__(self) -> str:
        if not self.stable:
            return "not stable, even without uncertainty"
        lines = [
            "stable for all perturbations" if self.certified else "not proven to be stable for all perturbations",
            f"  margin between {self.margin[0]:.4g} and {self.margin[1]:.4g} of them: mu is largest, between "
            f"{self.lower:.4g} and {self.upper:.4g}, at {self.frequency:.4g} rad/s",
        ]
        if self.worst:
            lines.append(f"  on the border of stability at {self.worst_frequency:.4g} rad/s with")
            lines += [f"    {name} = {_text(x)}" for name, x in self.worst.items()]
        return "\n".join(lines)


def _text(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, (float, complex)) else f"a full matrix of size {np.linalg.norm(x, 2):.6g}"


def _named(structure: BlockStructure, values: Sequence[Any]) -> dict[str, Any]:
    return {b.name or f"delta_{i + 1}": x for i, (b, x) in enumerate(zip(structure.blocks, values, strict=False))}


def _destabilizing(
    system: _System, structure: BlockStructure, near: float, seed: int = 0
) -> tuple[float, tuple, float]:
    """Smallest perturbation found with a pole on the axis: with frequencies free, and at those of the largest bound."""
    poles = np.linalg.eigvals(system.A) if len(system.A) else np.zeros(0)
    scale = near if 0.0 < near < np.inf else float(np.abs(poles).max()) if len(poles) else 1.0
    spread = scale * np.geomspace(0.7, 1.4, _STARTS // 2)
    free = np.concatenate([spread, np.resize(np.abs(poles) if len(poles) else [scale], _STARTS // 2), [0.0] * 4])
    fixed = np.array([near if near >= 0.0 else scale] * (_STARTS // 2) + [0.0] * 4)
    found = [
        lower_bound(system.respond, structure, free, seed),
        lower_bound(system.fixed, structure, fixed, seed),
    ]
    return max(found, key=lambda x: x[0])


def robust_stability(
    system: Any, blocks: Sequence[UncertainBlock], tolerance: float = 1e-3, branches: int = 0
) -> RobustStability:
    """Stability of M(s) with w = Delta z for all perturbations Delta, proven at all frequencies.

    Parameters
    ----------
    system : control.StateSpace or tuple
        From w to z, with perturbations of size 1 as they are expected; or (A, B, C, D), or (A, B, C, D, dt).
    blocks : sequence of UncertainBlock
        In the order of w and z.
    tolerance : float
        Relative, of the upper bound.
    branches : int
        Parts into which the box of real parameters may be cut where the bounds are apart: mu may be well below its
        upper bound where all parameters are real. None by default.

    Raises
    ------
    ValueError
        For blocks that do not fit the system, and matrices that are none.

    Notes
    -----
    An upper bound is a proof; a frequency between others is never left out. See the head of this module.

    Examples
    --------
    >>> A, B, C = [[0.0, 1.0], [-1.0, -0.2]], [[0.0], [-1.0]], [[0.0, 1.0]]
    >>> print(robust_stability((A, B, C, [[0.0]]), [UncertainBlock("real", name="damping")]))
    not proven to be stable for all perturbations
      margin between 0.1998 and 0.2 of them: mu is largest, between 5 and 5.005, at 1 rad/s
      on the border of stability at 1 rad/s with
        damping = -0.2
    """
    tolerance = _check.positive(tolerance, "tolerance")
    branches = _check.count(branches, "branches", least=0)
    S = _system(system)
    structure = structure_of(blocks, S.D.shape[0], S.D.shape[1], "the system")
    nothing: Array = np.zeros(0)
    if S.growth() >= 0.0:
        return RobustStability(False, np.inf, np.inf, np.nan, {}, np.nan, nothing, nothing)
    first = _destabilizing(S, structure, np.nan)
    peak = _sweep(S, structure, tolerance, known=(first[0], first[2]))
    lower, values, omega = max(first, _destabilizing(S, structure, peak.omega), key=lambda x: x[0])
    upper, boxes = peak.level, 1
    if branches and upper > 1.05 * lower and any(b.kind == "real" for b in structure.blocks):
        for _ in range(3):  # once more where a smaller perturbation was found on the way
            size = _INSIDE / lower if lower else 2.0 / _INSIDE  # where none was found: twice what is expected
            proven, boxes, better = _branch(S, structure, size, branches)
            if proven:
                upper = 1.0 / size
            if not better or not better[0] > lower:
                break
            lower, values, omega = better
    if lower > upper * (1.0 + _DOUBT):  # a perturbation is a fact: then rounding has spoilt the proof
        upper = np.inf
    order = np.argsort(peak.tried)
    return RobustStability(
        True,
        lower,
        upper,
        S.frequency(peak.omega),
        _named(structure, values),
        S.frequency(omega),
        np.array([S.frequency(w) for w in peak.tried[order]]),
        peak.bounds[order],
        boxes,
        (S, structure),
    )


def _branch(
    system: _System, structure: BlockStructure, size: float, most: int
) -> tuple[bool, int, tuple[float, tuple, float] | None]:
    """Whether all perturbations up to a size are proven to be stable, in parts of the box of real parameters.

    Returns the number of parts as well, and a destabilizing perturbation where one of the parts has it.
    """
    real = np.array([b.kind == "real" for b in structure.blocks])
    parts, count = [(np.full(len(real), -size), np.full(len(real), size))], 0
    while parts:
        low, high = parts.pop()
        count += 1
        S = system.within(structure, low, high)
        if S.growth() >= 0.0:  # on the way from 0 to this centre a pole has crossed the axis
            return False, count, _on_the_way(system, structure, 0.5 * (low + high))
        if _sweep(S, structure, 1e-2, only=1.0).complete:
            continue
        if count + len(parts) >= most:
            return False, count, None
        side = np.where(real, high - low, 0.0)
        i = int(np.argmax(side))
        middle = 0.5 * (low[i] + high[i])
        for a, b in ((low[i], middle), (middle, high[i])):
            below, above = low.copy(), high.copy()
            below[i], above[i] = a, b
            parts.append((below, above))
    return True, count, None


def _on_the_way(system: _System, structure: BlockStructure, values: Array) -> tuple[float, tuple, float] | None:
    """The first point towards parameters (each block) at which a pole is on the axis."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        A = system.within(structure, middle * values, middle * values).A
        low, high = (low, middle) if np.linalg.eigvals(A).real.max() >= 0.0 else (middle, high)
    poles = np.linalg.eigvals(system.within(structure, high * values, high * values).A)
    size = high * float(np.abs(values).max())
    omega = float(abs(poles[np.argmax(poles.real)].imag))
    return 1.0 / size, tuple(float(high * x) for x in values), omega


@dataclass(frozen=True)
class WorstCaseGain:
    """Largest gain of an uncertain system over all perturbations up to the size 1.

    Attributes
    ----------
    lower, upper : float
        Bounds; `upper` is inf where the system is not proven to be stable for all of them.
    frequency : float
        Where `upper` is needed, rad/s.
    worst : dict
        Value of each block, by its name, for which the gain is `lower`.
    worst_frequency : float
        Frequency of this gain, rad/s.
    """

    lower: float
    upper: float
    frequency: float
    worst: dict[str, Any]
    worst_frequency: float

    def __str__(self) -> str:
        lines = [f"gain at most {self.upper:.5g}, at {self.frequency:.4g} rad/s"]
        if self.worst:
            lines.append(f"  {self.lower:.5g} at {self.worst_frequency:.4g} rad/s with")
            lines += [f"    {name} = {_text(x)}" for name, x in self.worst.items()]
        return "\n".join(lines)


def worst_case_gain(
    system: Any,
    blocks: Sequence[UncertainBlock],
    performance: Sequence[UncertainBlock] | None = None,
    tolerance: float = 1e-3,
) -> WorstCaseGain:
    """Largest gain from the last inputs to the last outputs of M(s) for all perturbations up to the size 1.

    Parameters
    ----------
    system : control.StateSpace or tuple
        From (w, d) to (z, e): uncertainty w = Delta z, disturbances d, errors e; see `robust_stability`.
    blocks : sequence of UncertainBlock
        Of the uncertainty.
    performance : sequence of UncertainBlock, optional
        From d to e: one full block by default, for the largest singular value. A complex number for each channel of
        S - 1/2, with the sensitivity S, makes the gain 1 over the disk margin: the worst one, of all loops at once.
    tolerance : float
        Relative, of the upper bound.

    Raises
    ------
    ValueError
        For blocks that do not fit the system.

    Examples
    --------
    >>> A, B, C = [[0.0, 1.0], [-1.0, -0.2]], [[0.0, 0.0], [-0.1, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> found = worst_case_gain((A, B, C, np.zeros((2, 2))), [UncertainBlock("real", name="damping")])
    >>> round(found.lower, 2), round(found.worst["damping"], 3)
    (10.01, -1.0)
    """
    tolerance = _check.positive(tolerance, "tolerance")
    S, structure, own = _with_performance(system, blocks, performance)
    if S.growth() >= 0.0:
        return WorstCaseGain(np.inf, np.inf, np.nan, {}, np.nan)
    peak = _sweep(S, structure, tolerance, own)
    if not np.isfinite(peak.level):
        return WorstCaseGain(0.0, np.inf, S.frequency(peak.omega), {}, np.nan)
    best: tuple[float, tuple, float] = (0.0, (), np.nan)
    gain = peak.level
    rows = structure.channels(own)[1]
    for seed in range(3):
        unit = np.where(rows, gain, 1.0)
        scaled = S._replace(C=S.C / unit[:, None], D=S.D / unit[:, None])
        for free in (False, True):
            starts = np.full(_STARTS, peak.omega if np.isfinite(peak.omega) or not free else 1.0)
            _, values, omega = lower_bound(scaled.respond if free else scaled.fixed, structure, starts, seed)
            if values:
                reached = _gain(S, structure, own, values, omega)
                best = max(best, reached, key=lambda x: x[0])
        gain = best[0] or gain
    return WorstCaseGain(best[0], peak.level, S.frequency(peak.omega), _named(structure, best[1]), S.frequency(best[2]))


def _with_performance(
    system: Any, blocks: Sequence[UncertainBlock], performance: Sequence[UncertainBlock] | None
) -> tuple[_System, BlockStructure, tuple[int, ...]]:
    """System, all blocks, and which of them are the performance."""
    S = _system(system)
    blocks = _check.sequence(blocks, "blocks", "UncertainBlock")
    z, w = S.D.shape
    if performance is None:
        used = np.sum([b.shape for b in blocks], axis=0) if blocks else np.zeros(2, int)
        if not (w > used[0] and z > used[1]):
            raise InputError(
                f"the system has {z} outputs and {w} inputs, and the blocks take {used[1]} and {used[0]} of them: "
                "none is left for the gain"
            )
        performance = [UncertainBlock("full", int(w - used[0]), int(z - used[1]), name="performance")]
    structure = structure_of([*blocks, *performance], z, w, "the system")
    own = tuple(range(len(blocks), len(structure.blocks)))
    return S, structure, own


def is_bounded(
    system: Any,
    blocks: Sequence[UncertainBlock],
    level: float | None = None,
    performance: Sequence[UncertainBlock] | None = None,
) -> bool:
    """Whether a gain is proven to be below a level for all perturbations up to the size 1; without one, stability.

    Faster than `worst_case_gain`, which looks for the least such level. Where it is False nothing is said.

    Examples
    --------
    >>> A, B, C = [[0.0, 1.0], [-1.0, -0.2]], [[0.0, 0.0], [-0.1, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> [is_bounded((A, B, C, np.zeros((2, 2))), [UncertainBlock("real")], level) for level in (9.9, 10.1)]
    [False, True]
    """
    own: tuple[int, ...] = ()
    if level is None:
        S = _system(system)
        structure = structure_of(blocks, S.D.shape[0], S.D.shape[1], "the system")
    else:
        S, structure, own = _with_performance(system, blocks, performance)
    only = 1.0 if level is None else _check.positive(level, "level")
    return S.growth() < 0.0 and _sweep(S, structure, _PROOF, own, only=only).complete


def _gain(
    system: _System, structure: BlockStructure, own: tuple[int, ...], values: Sequence[Any], omega: float
) -> tuple[float, tuple, float]:
    """Gain at a frequency with perturbations brought to the size 1 together, these, and the frequency."""
    kept = [x for i, x in enumerate(values) if i not in own]
    size = max((float(np.linalg.norm(np.atleast_2d(x), 2)) for x in kept), default=0.0) or 1.0
    kept = [x / size for x in kept]
    M = system.at(omega)
    p_w, p_z = structure.channels(own)
    Delta = structure.delta([*kept, *[0.0] * len(own)])[np.ix_(~p_w, ~p_z)]
    M11, M12, M21, M22 = (M[np.ix_(a, b)] for a in (~p_z, p_z) for b in (~p_w, p_w))
    F = M22 + M21 @ Delta @ np.linalg.solve(np.eye(len(M11)) - M11 @ Delta, M12)
    if len(own) == 1 and structure.blocks[own[0]].kind == "full":
        return float(np.linalg.norm(F, 2)), tuple(kept), omega
    return mu(F, [structure.blocks[i] for i in own]).lower, tuple(kept), omega

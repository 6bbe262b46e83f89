"""mu-synthesis: the least H-infinity norm between rational scalings, over controllers and scalings at once.

D-K iteration (Doyle, 1985) holds one of both fixed in turn. It comes to rest early: a controller of least norm makes
the norm equal at nearly all frequencies, and leaves next to nothing for the scalings to gain. Here a D step is where a
descent begins. For given scalings the least norm over all controllers is known without a controller, as the level at
which the spectral radius of X Y is its square, with X and Y from two Riccati equations (Glover, Doyle, Systems and
Control Letters 11 (1988), 167-172); its derivatives follow from two Lyapunov equations.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import InputError
from ..linear.mu import UncertainBlock, least_level, structure_of
from ..linear.norms import frequency_grid, response
from .full_order import Regular, balanced, least_norm, regular, ss
from .minimax import Values, minimize_largest
from .synthesis import Synthesis, finished, generalized, require_reachable

if TYPE_CHECKING:
    import control

__all__ = ["mu_synthesis"]

Array = NDArray[np.float64]
Matrices = tuple[Array, Array, Array, Array]  # A, B, C, D; complex where derivatives are asked for

_CENTRED = 1e-2  # relative: a level so far above mu leaves room for scalings in the middle of those that prove it
_INDEFINITE = 1e-7  # of the largest eigenvalue of a solution of a Riccati equation: what rounding may put below zero
_EXACT = 1e-9  # relative, to which a least level is found
_TRIES = 60  # levels that are tried
_NEAR = 0.5  # of the largest eigenvalue of X Y: others above it may take its place in a step
_WIDEST = 25.0  # logarithm of corners of a scaling, in the unit of frequency, at most
_DAMPED = 3.0  # logarithm of dampings of its pairs, at most
_STEPS, _SETTLED = 200, 1e-5  # of a descent, and its relative decrease over ten steps at which it ends
_NEARER = (0.0, 0.3, 0.6, 1.0)  # of the way to scalings that are 1: where descents may begin
_PATIENCE = 2  # designs that bring nothing, before the search ends
_AWAY = 1e-20  # imaginary: derivatives of what is analytic, without cancellation


def mu_synthesis(
    P: control.StateSpace,
    measurements: int,
    controls: int,
    blocks: Sequence[int],
    *,
    order: int = 4,
    iterations: int = 4,
    tolerance: float = 1e-2,
) -> Synthesis:
    """Controller u = +K y that is robust against structured uncertainty, by D-K iteration with a descent.

    The blocks of the uncertainty (and of the performance, as one more block) are full and complex, of unit size.

    Parameters
    ----------
    P, measurements, controls
        Generalized plant, as in `optimal_feedback`; w and z have the blocks in their order.
    blocks : sequence of int
        Sizes of the blocks, of as many inputs as outputs.
    order : int
        Order of the scaling of a block. The largest one needs none.
    iterations : int
        Most designs with scalings; it ends after two that are not better than the best one by the tolerance.
    tolerance : float
        Relative, to which each H-infinity norm is found.

    Returns
    -------
    Synthesis
        Its gamma is the H-infinity norm of the loop with rational scalings: an upper bound of mu at all frequencies,
        not only at those of a grid. The best of all iterations.

    Raises
    ------
    ActuationError, ValueError
        As `optimal_feedback`.

    Notes
    -----
    The first iteration starts from the scalings of the loop at many frequencies, others from random ones; all lower the
    least norm over all controllers by changing the scalings, to a local minimum. See the head of this module.

    Examples
    --------
    >>> import control
    >>> from cmbcontrol.design import optimal_feedback
    >>> P = control.ss([[-1]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 0.1], [0, 0.1, 0]])
    >>> found = mu_synthesis(P, 1, 1, [1, 1])
    >>> found.gamma <= 1.001 * optimal_feedback(P, 1, 1).gamma
    True
    """
    P = generalized(P, measurements, controls)
    for x in _check.sequence(blocks, "blocks", "sizes"):
        _check.count(x, "a size of blocks")
    sizes = P.ninputs - controls, P.noutputs - measurements
    if sizes != (sum(blocks), sum(blocks)):
        raise InputError(f"blocks {list(blocks)} need {sum(blocks)} inputs w and outputs z, got {sizes[0]}, {sizes[1]}")
    _check.count(order, "order", least=0)
    _check.count(iterations, "iterations")
    _check.positive(tolerance, "tolerance")
    require_reachable(P, measurements, controls)
    scaled = _ScaledPlant(regular(P, measurements, controls), blocks, order)
    first, scaled.shift = _designed(P, scaled, None, tolerance)
    best, starts, waited = first, _Starts(first.loop, scaled), 0
    for done in range(iterations if len(blocks) > 1 else 0):
        theta = starts.fitted() if done == 0 else starts.drawn()
        nearer = (theta + x * (starts.constant() - theta) for x in _NEARER)
        theta = next((x for x in nearer if scaled.begin(x)), theta)
        if scaled.begin(theta):
            theta = minimize_largest(scaled, theta, steps=_STEPS, tolerance=_SETTLED).x
        made, _ = _designed(P, scaled, theta, tolerance)
        waited = 0 if made.gamma < best.gamma * (1.0 - tolerance) else waited + 1
        best = min(best, made, key=lambda x: x.gamma)
        if waited == _PATIENCE:
            break
    if best is first:
        return first
    return replace(best, remarks=(*best.remarks, f"scalings of order {order}; without them {first.gamma:.6g}"))


def _designed(
    P: control.StateSpace, scaled: _ScaledPlant, theta: Array | None, tolerance: float
) -> tuple[Synthesis, float]:
    """Design of least norm with scalings, or without, and by how much it moved the poles."""
    K, shift, remarks = least_norm(scaled.plant if theta is None else scaled.regular(theta), tolerance)
    design = Synthesis(K, np.inf, "upper bound of mu", P, remarks, P, K)
    if theta is not None:
        design = replace(design, _scalings=scaled.scalings(theta))
    return finished(design, K, remarks), shift


class _ScaledPlant:
    """A plant between scalings D and D^-1; called with parameters, the least norm over all controllers.

    The scaling of a block is a gain, pairs (s^2 + b s + c) / (s^2 + q s + p), and one (s + z) / (s + r) where the order
    is odd, all of positive numbers, whose logarithms are the parameters: theta has a row of them for each block but the
    largest, whose scaling is 1. The units are those of the regular plant.
    """

    def __init__(self, plant: Regular, blocks: Sequence[int], order: int) -> None:
        self.plant, self.blocks, self.order = plant, tuple(blocks), order
        self.reference = int(np.argmax(blocks))
        self.k, self.m = len(plant.y), len(plant.u)
        x = plant.system
        self.shift = 0.0  # of the poles, to the right, as the design has to
        self.system = x.A, x.B, x.C, x.D
        self.guess = 1.0, 2.0  # a level, and by which power of it the spectral radius falls

    def of_signals(self, theta: Array) -> list[Matrices]:
        """Scaling of each signal of the blocks."""
        rows = theta.reshape(*theta.shape[:-1], len(self.blocks) - 1, -1)
        found = [_scaling(rows[..., i, :]) for i in range(len(self.blocks) - 1)]
        found.insert(self.reference, _constant(np.eye(1)))
        return [x for x, n in zip(found, self.blocks, strict=True) for _ in range(n)]

    def matrices(self, theta: Array) -> Matrices:
        """The plant with its scalings; theta may have a first axis, and then these have it, too."""
        A, B, C, D = self.system
        d = self.of_signals(theta)
        left = _parallel(*d, _constant(np.eye(len(C) - len(d))))
        right = _parallel(*(_inverse(x) for x in d), _constant(np.eye(B.shape[1] - len(d))))
        return _series(left, _series((A + self.shift * np.eye(len(A)), B, C, D), right))

    def regular(self, theta: Array) -> Regular:
        """The plant with its scalings, for a design."""
        return self.plant._replace(system=balanced(ss(*self.matrices(theta))))

    def scalings(self, theta: Array) -> tuple[control.StateSpace, control.StateSpace]:
        """Scalings D and D^-1 of all signals, in the units of the plant as it was given."""
        w = self.plant.frequency
        d = self.of_signals(theta)
        both = _parallel(*d), _parallel(*(_inverse(x) for x in d))
        left, right = (ss(w * A, w * B, C, D) for A, B, C, D in both)
        return left, right

    def __call__(self, theta: Array, bound: float = np.inf) -> Values | None:
        """Least norm over all controllers, and what may take its place in a step, with gradients by the parameters."""
        found = self._least(self.matrices(theta), bound)
        if found is None:
            return None
        level, solved = found
        if solved is None:
            return Values(np.array([level]), np.zeros((1, len(theta))), np.zeros(1, int), np.zeros(1))
        away = 1j * _AWAY * np.eye(len(theta) + 1)  # by each parameter, and by the level
        equations = _equations(self.matrices(theta + away[:, :-1]), self.k, self.m)
        by_X, by_Y = (e.residual(level + away[:, -1], X).imag / _AWAY for e, X in zip(equations, solved.X, strict=True))
        values, gradients = [], []
        near = np.flatnonzero(solved.eigenvalues > _NEAR * solved.eigenvalues[0])
        for i in near:
            value, y = solved.eigenvalues[i], solved.vectors[:, i]
            x = solved.X[1] @ y  # the left eigenvector of X Y
            along_X, along_Y = (
                e.adjoint(level, X, v) for e, X, v in zip(solved.equations, solved.X, (x, y), strict=True)
            )
            by = np.einsum("kij,ij->k", by_X, along_X) / value + np.einsum("kij,ij->k", by_Y, along_Y)
            by = by / (x @ y)  # of the logarithm of the eigenvalue
            power = 2.0 - level * by[-1]  # by which value / level^2 falls with the level
            values.append(level * (value / level**2) ** (1.0 / power))
            gradients.append(values[-1] / power * by[:-1])
            if i == 0:
                self.guess = level, power
        order = np.argsort(-np.array(values))
        places = near[order].astype(float)
        return Values(np.array(values)[order], np.array(gradients)[order], np.zeros(len(order), int), places)

    def begin(self, theta: Array) -> bool:
        """Whether there is a least norm at parameters from which a descent may begin."""
        found = None
        for _ in range(2):  # the second time from what the first one has found, as the descent will
            found = self(theta)
        return found is not None

    def _least(self, G: Matrices, bound: float) -> tuple[float, _Solved | None] | None:
        """Least level, and what is solved there; nothing is told of it where it is above the bound.

        None where the spectral radius is not what bounds it from below.
        """
        equations = _equations(G, self.k, self.m)
        low, high = 0.0, np.inf
        (level, power), before = self.guess, None
        level = min(level, bound)
        for _ in range(_TRIES):
            solved = _Solved.at(equations, level)
            aim = np.nan
            if solved is not None:
                here = np.log([level, max(float(solved.eigenvalues[0]), 1e-300) / level**2])
                if abs(here[1]) < _EXACT * power:
                    return level, solved
                if before is not None and (here[1] - before[1]) * (here[0] - before[0]) < 0.0:
                    power = -(here[1] - before[1]) / (here[0] - before[0])
                before = here
                aim = level * np.exp(np.clip(here[1] / power, -1.0, 1.0))
            if solved is None or here[1] > 0.0:
                low = level
                if level == bound:
                    return 2.0 * bound, None
            else:
                high = level
            if high - low < _EXACT * high:
                return None
            if not low < aim < high:
                aim = 2.0 * low if high == np.inf else 0.5 * high if low == 0.0 else np.sqrt(low * high)
            level = float(aim)
        return None


class _Equation(NamedTuple):
    """Riccati equation A'X + X A + C'C - S R^-1 S' = 0, S = X B + C'D, R = D'D - level^2 on the first inputs, w."""

    A: Array
    B: Array
    C: Array
    D: Array
    disturbances: int

    def weight(self, level: Any) -> Array:
        """R at a level, or at several."""
        unit = np.diag(np.arange(self.D.shape[-1]) < self.disturbances)
        return _turned(self.D) @ self.D - np.square(level)[..., None, None] * unit

    def residual(self, level: Any, X: Array) -> Array:
        """What is left of the equation; of complex data, derivatives are its imaginary part."""
        A, B, C, D = self[:4]
        S = X @ B + _turned(C) @ D
        return _turned(A) @ X + X @ A + _turned(C) @ C - S @ np.linalg.solve(self.weight(level), _turned(S))

    def adjoint(self, level: float, X: Array, v: Array) -> Array:
        """L with v' dX v = sum of L times the change of the residual."""
        from scipy.linalg import solve_continuous_lyapunov

        closed = self.A - self.B @ np.linalg.solve(self.weight(level), (X @ self.B + self.C.T @ self.D).T)
        with warnings.catch_warnings():  # of modes that hardly decay, where it need not be exact
            warnings.simplefilter("ignore")
            return solve_continuous_lyapunov(closed, -np.outer(v, v))


def _equations(G: Matrices, k: int, m: int) -> tuple[_Equation, _Equation]:
    """The equation of X, and that of Y, which is of the transposed plant."""
    A, B, C, D = G
    z, w = C.shape[-2] - k, B.shape[-1] - m
    Y = _turned(A), _turned(C), _turned(B[..., :w]), _turned(D[..., :w])
    return _Equation(A, B, C[..., :z, :], D[..., :z, :], w), _Equation(*Y, z)


def _turned(x: Array) -> Array:
    """Transposed matrices."""
    return np.swapaxes(x, -1, -2)


class _Solved(NamedTuple):
    """Stabilising solutions X and Y, eigenvalues of X Y, the largest first, and their vectors."""

    equations: tuple[_Equation, _Equation]
    X: tuple[Array, Array]
    eigenvalues: Array
    vectors: Array

    @classmethod
    def at(cls, equations: tuple[_Equation, _Equation], level: float) -> _Solved | None:
        """At a level; None where there are none that are positive."""
        from scipy.linalg import solve_continuous_are

        found = []
        for x in equations:
            try:
                with warnings.catch_warnings():  # near the level at which solutions end, where they are looked at
                    warnings.simplefilter("ignore")
                    X = solve_continuous_are(x.A, x.B, x.C.T @ x.C, x.weight(level), s=x.C.T @ x.D)
            except (np.linalg.LinAlgError, ValueError):  # no solution; a singular weight
                return None
            sizes = np.linalg.eigvalsh(X)
            if sizes[0] < -_INDEFINITE * sizes[-1]:
                return None
            found.append(X)
        values, vectors = np.linalg.eig(found[0] @ found[1])
        order = np.argsort(-values.real)
        return cls(equations, (found[0], found[1]), values.real[order], vectors[:, order].real)


# -- scalings ------------------------------------------------------------------------------------------------------


class _Starts:
    """Parameters to begin with, from the scalings of a loop.

    Each proves a level just above the largest mu and is in the middle of those that do. Corners are at frequencies
    between which they change.
    """

    def __init__(self, loop: control.StateSpace, scaled: _ScaledPlant) -> None:
        blocks, self.order, self.draw = scaled.blocks, scaled.order, np.random.default_rng(0)
        omega = frequency_grid(np.linalg.eigvals(loop.A))[1:-1]
        structure = structure_of([UncertainBlock("full", n) for n in blocks], sum(blocks), sum(blocks), "the loop")
        responses = response(loop.A, loop.B, loop.C, loop.D, 0.0)(omega)
        mu = np.array([least_level(M, structure, 0.1 * _CENTRED)[0] for M in responses])
        enough = (1.0 + _CENTRED) * mu.max()
        D = np.array([least_level(M, structure, 0.1 * _CENTRED, enough)[1].D_w.diagonal().real for M in responses])
        logs = 0.5 * np.log(D).T[np.cumsum([0, *blocks[:-1]])]
        self.targets = np.delete(logs - logs[scaled.reference], scaled.reference, axis=0)
        self.omega, self.weight = omega / scaled.plant.frequency, (mu / mu.max()) ** 2

    def fitted(self) -> Array:
        """Scalings that are near those of the loop where mu is near its peak."""
        from scipy.optimize import least_squares

        def misfit(x: Array, target: Array) -> Array:
            return self.weight * (_log_gain(x, 1j * self.omega) - target)

        starts = self.constant().reshape(len(self.targets), -1)
        found = [least_squares(misfit, x, args=(y,)).x for x, y in zip(starts, self.targets, strict=True)]
        return np.concatenate(found)

    def drawn(self) -> Array:
        """Random scalings with corners at such frequencies, and the gain of those of the loop."""
        found = []
        for target in self.targets:
            low, high = self._corners(target, np.array([0.05, 0.95]))
            n = self.order // 2
            row = self._row(self.draw.uniform(low, high, n), self.draw.uniform(low, high, self.order % 2))
            row[1:] += self.draw.uniform(-0.5, 0.5, len(row) - 1)
            row[0] = np.average(target, weights=self.weight)
            found.append(row)
        return np.concatenate(found)

    def constant(self) -> Array:
        """Scalings that are 1, with corners where those of the loop change."""
        found = []
        for target in self.targets:
            n = self.order // 2
            corners = self._corners(target, (np.arange(n) + 0.5) / max(n, 1))
            found.append(self._row(corners, self._corners(target, np.full(self.order % 2, 0.5))))
        return np.concatenate(found)

    def _corners(self, target: Array, shares: Array) -> Array:
        """Logarithms of the frequencies below which shares of all changes of a scaling are."""
        change = np.cumsum(np.abs(np.diff(target, prepend=target[0])) + 1e-9)
        return np.interp(shares * change[-1], change, np.log(self.omega))

    def _row(self, corners: Array, single: Array) -> Array:
        """Parameters of a scaling that is 1, with equal poles and zeros at corners."""
        pairs = np.stack([corners, 0.0 * corners, corners, 0.0 * corners], axis=1)
        return np.concatenate([[0.0], pairs.ravel(), np.repeat(single, 2)])


def _log_gain(x: Array, s: NDArray[Any]) -> Array:
    """Logarithm of the gain of a scaling."""
    pairs, single = _factors(x)
    gain = np.full(len(s), _bounded(x[0], _WIDEST))
    for b, c, q, p in pairs:
        gain = gain + np.log(np.abs(s * s + b * s + c)) - np.log(np.abs(s * s + q * s + p))
    for z, r in single:
        gain = gain + np.log(np.abs(s + z)) - np.log(np.abs(s + r))
    return gain


def _factors(x: Array) -> tuple[Array, Array]:
    """Coefficients b, c, q, p of pairs (..., pairs, 4), and z, r of one more where there is one (..., 0 or 1, 2)."""
    n, axes = (x.shape[-1] - 1) // 4 * 4, x.shape[:-1]
    logs = x[..., 1 : n + 1].reshape(*axes, -1, 2, 2)
    corner, damping = np.exp(_bounded(logs[..., 0], _WIDEST)), np.exp(_bounded(logs[..., 1], _DAMPED))
    pairs = np.stack([2.0 * damping * corner, corner**2], axis=-1).reshape(*axes, -1, 4)
    return pairs, np.exp(_bounded(x[..., n + 1 :], _WIDEST)).reshape(*axes, -1, 2)


def _bounded(x: Array, most: float) -> Array:
    """x where it is small, and at most of a size."""
    return most * np.tanh(x / most)


def _scaling(x: Array) -> Matrices:
    """System of a scaling."""
    pairs, single = _factors(x)
    one, none = np.ones(x.shape[:-1]), np.zeros(x.shape[:-1])
    found = _constant(np.exp(_bounded(x[..., :1], _WIDEST))[..., None])
    for b, c, q, p in np.moveaxis(pairs, (-2, -1), (0, 1)):
        w = np.sqrt(p)
        found = _series(
            (_filled([[none, w], [-w, -q]]), _filled([[none], [one]]), _filled([[(c - p) / w, b - q]]), np.eye(1)),
            found,
        )
    for z, r in np.moveaxis(single, (-2, -1), (0, 1)):
        found = _series((_filled([[-r]]), _filled([[one]]), _filled([[z - r]]), np.eye(1)), found)
    return found


def _filled(rows: list[list[Array]]) -> Array:
    """Matrices of entries with other axes."""
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _inverse(d: Matrices) -> Matrices:
    A, B, C, D = d
    return A - B @ C / D, B / D, -C / D, 1.0 / D


def _constant(D: Array) -> Matrices:
    axes, (p, m) = D.shape[:-2], D.shape[-2:]
    return np.zeros((*axes, 0, 0)), np.zeros((*axes, 0, m)), np.zeros((*axes, p, 0)), D


def _series(after: Matrices, before: Matrices) -> Matrices:
    """One system behind another."""
    (A, B, C, D), (E, F, G, H) = after, before
    BG = B @ G
    axes, n, k = np.broadcast_shapes(*(x.shape[:-2] for x in (A, E, BG))), A.shape[-1], E.shape[-1]
    both = np.zeros((*axes, k + n, k + n), np.result_type(A, E, BG))
    both[..., :k, :k], both[..., k:, :k], both[..., k:, k:] = E, BG, A
    return both, _stacked(F, B @ H, -2), _stacked(D @ G, C, -1), D @ H


def _stacked(a: Array, b: Array, axis: int) -> Array:
    """Matrices below, or beside, each other, of which one may have a first axis more."""
    axes = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.concatenate([np.broadcast_to(x, axes + x.shape[-2:]) for x in (a, b)], axis=axis)


def _parallel(*systems: Matrices) -> Matrices:
    """Systems side by side."""
    found = []
    for parts in zip(*systems, strict=True):
        ends = np.cumsum([(0, 0), *(x.shape[-2:] for x in parts)], axis=0)
        axes = np.broadcast_shapes(*(x.shape[:-2] for x in parts))
        whole = np.zeros((*axes, *ends[-1]), np.result_type(*parts))
        for x, (i, j), (p, q) in zip(parts, ends[:-1], ends[1:], strict=True):
            whole[..., i:p, j:q] = x
        found.append(whole)
    A, B, C, D = found
    return A, B, C, D

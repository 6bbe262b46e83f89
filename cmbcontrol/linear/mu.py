"""Structured singular value of a matrix: bounds from above by D-G scalings, from below by a perturbation that exists.

Signals of uncertainty: z = M w and w = Delta z, with Delta block diagonal. mu(M) is one over the smallest size of such
a Delta for which 1 - M Delta is singular, and 0 where there is none. Sources: Fan, Tits, Doyle, IEEE Transactions on
Automatic Control 36 (1991), 25-38 (the upper bound); Boyd, El Ghaoui, Linear Algebra and its Applications 188/189
(1993), 63-111 (the method of centres, by which it is minimised); Young, Doyle, IEEE Transactions on Automatic Control
35 (1990) (conditions of the lower bound).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError

__all__ = ["BlockStructure", "Mu", "Scalings", "UncertainBlock", "least_level", "lower_bound", "mu", "structure_of"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_EPS = float(np.finfo(float).eps)
_SINGULAR = 1e-9  # of 1 + |M Delta|: smallest singular value of 1 - M Delta, up to which Delta makes it singular
_NEARER = 0.1  # of the way from the bound of a centre to its level: the next level
_NOTHING = 1e-14  # of |M|^2: a bound of mu^2 below it is rounding
_USELESS = 1e-9  # of |M|: lower bounds below it are not followed
_ROOM = 2.0  # of the square of a level, over the least: more, and the centre is where G is lost in rounding
_STARTS = 24  # perturbations from which lower bounds are sought
_STEPS = 60


@dataclass(frozen=True)
class UncertainBlock:
    """One block of Delta: at most 1 in size (largest singular value).

    Parameters
    ----------
    kind : {"real", "complex", "full"}
        A real number or a complex one times the identity, or any complex matrix.
    size : int
        How often a number is repeated. Of a full block: its outputs, which are inputs of M.
    inputs : int, optional
        Inputs of a full block, which are outputs of M; as many as outputs by default.
    name : str
        Of the parameter, in results.

    Raises
    ------
    ValueError
        For a kind that there is not, sizes below 1, and repeated numbers with other inputs than outputs.

    Examples
    --------
    >>> UncertainBlock("full", 2, inputs=3).shape
    (2, 3)
    """

    kind: Literal["real", "complex", "full"]
    size: int = 1
    inputs: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _check.one_of(self.kind, ("real", "complex", "full"), "kind of an uncertain block")
        _check.count(self.size, "size of an uncertain block")
        _check.text(self.name, "name of an uncertain block")
        if self.inputs is not None:
            _check.count(self.inputs, "inputs of an uncertain block")
            if self.kind != "full" and self.inputs != self.size:
                raise InputError(
                    f"a {self.kind} number {self.size} times has {self.size} inputs, not {self.inputs}; "
                    'only blocks of the kind "full" may have others'
                )

    @property
    def shape(self) -> tuple[int, int]:
        """Outputs and inputs."""
        return self.size, self.size if self.inputs is None else self.inputs


class Scalings(NamedTuple):
    """D and G: level^2 D_w - M^H D_z M - i (G M - M^H G^H) > 0 proves that mu(M) < level.

    Attributes
    ----------
    D_w : ndarray, shape (w, w)
        Positive definite; commutes with each Delta.
    D_z : ndarray, shape (z, z)
        The same, of the other size for full blocks that are not square.
    G : ndarray, shape (w, z)
        Hermitian blocks at real numbers, zero elsewhere.
    """

    D_w: Complex
    D_z: Complex
    G: Complex


class BlockStructure:
    """Places of blocks in M, and bases of their scalings.

    Attributes
    ----------
    blocks : tuple of UncertainBlock
    w, z : list of slice
        Of each block: columns of M, and rows.
    D_w, D_z, G : ndarray, shape (k, w, w), (k, z, z) and (k, w, z)
        Scalings are sums of these with real factors; see `Scalings`.
    """

    def __init__(self, blocks: tuple[UncertainBlock, ...]) -> None:
        self.blocks = blocks
        ends = np.cumsum([(0, 0), *(b.shape for b in blocks)], axis=0)
        self.w, self.z = ([slice(a, b) for a, b in pairwise(x)] for x in ends.T)
        self.inputs, self.outputs = int(ends[-1, 0]), int(ends[-1, 1])
        parts: list[tuple[Complex, Complex, Complex]] = []
        for b, w, z in zip(blocks, self.w, self.z, strict=True):
            own = [np.eye(b.size)] if b.kind == "full" else _hermitian(b.size)
            for kind in ("D", "G") if b.kind == "real" else ("D",):
                for x in own:
                    D_w, D_z, G = (np.zeros(s, complex) for s in self._shapes())
                    if kind == "D":
                        D_w[w, w], D_z[z, z] = x, np.eye(b.shape[1]) if b.kind == "full" else x
                    else:
                        G[w, z] = x
                    parts.append((D_w, D_z, G))
        self.D_w, self.D_z, self.G = (np.array(x) for x in zip(*parts, strict=True))
        self.start = np.array([np.trace(x[0]).real / max(np.sum(x[0].real ** 2), 1.0) for x in parts])  # D = 1, G = 0
        self.start = np.where([np.count_nonzero(x[0] - np.diag(x[0].diagonal())) for x in parts], 0.0, self.start)

    def _shapes(self) -> tuple[tuple[int, int], ...]:
        return (self.inputs, self.inputs), (self.outputs, self.outputs), (self.inputs, self.outputs)

    def delta(self, values: Sequence[Any]) -> Complex:
        """Delta (w, z) of numbers and matrices, one of each block."""
        Delta = np.zeros((self.inputs, self.outputs), complex)
        for b, w, z, x in zip(self.blocks, self.w, self.z, values, strict=True):
            Delta[w, z] = x if b.kind == "full" else x * np.eye(b.size)
        return Delta

    def channels(self, chosen: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of w, and of z, belong to chosen blocks."""
        w, z = np.zeros(self.inputs, bool), np.zeros(self.outputs, bool)
        for i in chosen:
            w[self.w[i]], z[self.z[i]] = True, True
        return w, z

    def balance(self, M: Complex) -> tuple[Array, Array]:
        """Units of w and z, one of each channel that has its own, in which rows and columns of M are of like size."""

        def groups(k: int) -> NDArray[np.int64]:  # full blocks have one number, channels of scalars one each
            parts = [
                np.full(b.shape[k], i) if b.kind == "full" else -1 - np.arange(w.start, w.stop)
                for i, (b, w) in enumerate(zip(self.blocks, self.w, strict=True))
            ]
            return np.concatenate(parts)

        of_w, of_z = groups(0), groups(1)
        names = np.unique(of_w)
        N = np.array([[np.linalg.norm(M[np.ix_(of_z == i, of_w == j)]) for j in names] for i in names])
        N -= np.diag(N.diagonal())
        t = np.ones(len(names))
        for _ in range(20):
            for i in range(len(names)):
                row, column = np.linalg.norm(N[i]), np.linalg.norm(N[:, i])
                if row and column:
                    f = np.sqrt(column / row)
                    t[i], N[i], N[:, i] = t[i] * f, N[i] * f, N[:, i] / f
        t = t / np.exp(np.log(t).mean())
        return t[np.searchsorted(names, of_w)], t[np.searchsorted(names, of_z)]


def _hermitian(n: int) -> list[Complex]:
    """Basis of Hermitian matrices (n, n) over the real numbers, the diagonal ones first."""
    found = [np.diag(row).astype(complex) for row in np.eye(n)]
    for i in range(n):
        for j in range(i):
            for x in (1.0, 1j):
                E = np.zeros((n, n), complex)
                E[i, j], E[j, i] = x, np.conj(x)
                found.append(E)
    return found


@lru_cache(maxsize=64)
def _structure(blocks: tuple[UncertainBlock, ...]) -> BlockStructure:
    return BlockStructure(blocks)


def structure_of(blocks: Sequence[UncertainBlock], outputs: int, inputs: int, what: str = "M") -> BlockStructure:
    """BlockStructure of blocks that fit a matrix of so many outputs (rows) and inputs (columns).

    Raises
    ------
    ValueError
        Where they do not fit, or are none.
    """
    blocks = _check.sequence(blocks, "blocks", "UncertainBlock")
    for b in blocks:
        _check.instance(b, UncertainBlock, "each of the blocks")
    if not blocks:
        raise InputError('blocks are empty; give at least one, as UncertainBlock("real")')
    found = _structure(tuple(blocks))
    if (outputs, inputs) != (found.outputs, found.inputs):
        raise InputError(
            f"{what} has {outputs} outputs and {inputs} inputs, and the blocks have {found.outputs} inputs and "
            f"{found.inputs} outputs in all; outputs of {what} are inputs of the blocks, in their order"
        )
    return found


class _Program:
    """D-G scalings of one matrix: level^2 D_w - M^H D_z M - i (G M - M^H G^H) > 0, in units in which M is about 1.

    `own` are the blocks whose level is asked for where all others have the level 1; without it there is one level of
    all.
    """

    def __init__(self, M: Complex, structure: BlockStructure, own: tuple[int, ...] = ()) -> None:
        self.structure, self.own = structure, own
        self.t_w, self.t_z = structure.balance(M)
        M = self.t_z[:, None] * M / self.t_w
        self.units, self.scaled = np.ones(structure.outputs), np.ones(structure.inputs, bool)
        rows = np.ones(structure.outputs, bool)
        if own:
            self.scaled, rows = structure.channels(own)
        self.unit = float(np.linalg.norm(M[rows], 2)) or 1.0
        self.units[rows] = self.unit
        self.M = M / self.units[:, None]
        S = structure
        GM = S.G @ self.M
        self.A = self.M.conj().T @ S.D_z @ self.M + 1j * (GM - GM.conj().transpose(0, 2, 1))
        self.B = S.D_w * self.scaled
        self.E = S.D_w - self.B

    def bound(self, x: Array) -> float:
        """Square of the level, in units of M, that scalings prove; inf where they prove none."""
        S = self.structure
        try:
            L = np.linalg.cholesky(_sum(x, S.D_w))
            L_z = np.linalg.cholesky(_sum(x, S.D_z))
        except np.linalg.LinAlgError:
            return np.inf
        X = L_z.conj().T @ np.linalg.solve(L, self.M.conj().T).conj().T
        G = np.linalg.solve(L, np.linalg.solve(L_z, _sum(x, S.G).conj().T).conj().T)
        GX = G @ X
        A = X.conj().T @ X + 1j * (GX - GX.conj().T)
        # what sums of products lose, with room for the factors of Cholesky
        size = float(np.linalg.norm(X))
        lost = 10.0 * _EPS * len(A) * (size**2 + 2.0 * float(np.linalg.norm(G)) * size)
        if not self.own:
            return float(np.linalg.eigvalsh(A)[-1]) + lost
        s, r = self.scaled, ~self.scaled
        K = np.eye(int(r.sum())) * (1.0 - lost) - A[np.ix_(r, r)]
        try:
            T = np.linalg.solve(np.linalg.cholesky(K), A[np.ix_(r, s)])
        except np.linalg.LinAlgError:
            return np.inf
        more = lost * (1.0 + float(np.linalg.norm(T)) ** 2 / max(float(np.linalg.eigvalsh(K)[0]), _EPS))
        return float(np.linalg.eigvalsh(A[np.ix_(s, s)] + T.conj().T @ T)[-1]) + more

    def centre(self, x: Array, level: float) -> Array:
        """Analytic centre of the scalings that prove a level (its square): the farthest from all borders."""
        F_i, D_i = level * self.B + self.E - self.A, self.structure.D_w
        linear = np.einsum("kii->k", F_i).real + np.einsum("kii->k", D_i).real

        def barrier(x: Array) -> tuple[float, list[tuple[Complex, Complex]]]:
            value = float(linear @ x)
            factors: list[tuple[Any, Complex]] = []
            for basis in (F_i, D_i):
                L = np.linalg.cholesky(_sum(x, basis))
                value -= 2.0 * float(np.log(L.diagonal().real).sum())
                factors.append((L, basis))
            return value, factors

        value, factors = barrier(x)
        for _ in range(40):
            gradient, H = linear.copy(), np.zeros((len(x), len(x)))
            for L, basis in factors:
                inverse = np.linalg.inv(L)
                J = inverse @ basis @ inverse.conj().T
                gradient = gradient - np.einsum("kii->k", J).real
                J = J.reshape(len(J), -1)
                rows = np.hstack([J.real, J.imag])
                H = H + rows @ rows.T
            step = -np.linalg.solve(H + 1e-13 * np.trace(H) * np.eye(len(H)), gradient)
            decrement = -float(gradient @ step)
            if not decrement > 0.0:
                return x
            length = 1.0
            while length > 1e-6:
                try:
                    tried, factors = barrier(x + length * step)
                    if tried <= value - 0.1 * length * decrement or decrement < 1e-9:
                        break
                except np.linalg.LinAlgError:
                    pass
                length *= 0.5
            else:
                return x
            x, value = x + length * step, tried
            if decrement < 0.01:
                return x
        return x

    def beside(self, around: _Around) -> Array:
        """Scalings 1 and G, as they are known; of the blocks that are asked for, else, such as prove a level.

        Then with the part of G that proves the least one: where M is nearly real, G may be as large as one likes, and
        is lost in rounding.
        """
        S = self.structure
        norms = np.sum(np.abs(S.D_w) ** 2, axis=(1, 2)) + np.sum(np.abs(S.G) ** 2, axis=(1, 2))
        H = around.G / np.outer(self.t_w, self.t_z * self.units)
        D = np.einsum("kii,i->k", S.D_w, 1.0 / self.t_w**2).real / norms
        H = np.array([np.vdot(b, H).real for b in S.G]) / norms
        asked = np.einsum("kii->k", self.B).real > 0.0
        if around.whole:
            return np.asarray(np.where(asked, self.unit**2 * D, D) + H)
        D = np.where(asked, 0.0, D)
        size = float(np.abs(D).max(initial=0.0)) or 1.0
        tried = [
            D + share * H + size * own * np.where(asked, S.start, 0.0)
            for share in (0.0, *10.0 ** -np.arange(6.0, -1.0, -1.0))
            for own in 10.0 ** -np.arange(0.0, 16.0)
        ]
        return np.asarray(min(tried, key=self.bound))

    def scalings(self, x: Array) -> Scalings:
        """Scalings in the units of the matrix as it was given."""
        S = self.structure
        D_w, D_z, G = (_sum(x, basis) for basis in (S.D_w, S.D_z, S.G))
        w, z = self.t_w[:, None], self.t_z[:, None]
        if self.own:  # rows of M of these blocks, in their unit, are D_z in another one
            D_w = np.where(self.scaled, D_w / self.unit**2, D_w)
            D_z = D_z / self.units**2
        return Scalings(w * D_w * self.t_w, z * D_z * self.t_z, w * G * self.units * self.t_z)


def _sum(x: Array, basis: Complex) -> Complex:
    return np.tensordot(x, basis, 1)


def least_level(
    M: Complex,
    structure: BlockStructure,
    tolerance: float = 1e-6,
    enough: float = 0.0,
    own: tuple[int, ...] = (),
    near: Scalings | None = None,
) -> tuple[float, Scalings]:
    """Smallest level that D-G scalings prove, and those of its centre.

    Parameters
    ----------
    M : ndarray, shape (z, w)
    structure : BlockStructure
    tolerance : float
        Relative, of the level.
    enough : float
        A level at which it may stop: the scalings are then in the middle of those that prove it.
    own : tuple of int
        The blocks whose level is asked for, with 1 as that of all others: a worst-case gain. Inf where others have
        none.
    near : Scalings, optional
        Of a similar matrix, to begin with, for a worst-case gain.
    """
    m, around = structure.inputs, None
    if own:
        around = _near(M, structure, own, near) or _around_others(M, structure, own)
        if around is None:
            trivial = np.eye(m), np.eye(structure.outputs), np.zeros((m, structure.outputs))
            return np.inf, Scalings(*(x.astype(complex) for x in trivial))
        M = around.transformed(M)
    program = _Program(M, structure, own)
    x = structure.start.copy() if around is None else program.beside(around)
    target, best = (enough / program.unit) ** 2, program.bound(x)
    found, level, stuck = x, best * 1.5 if best > 0.0 else 1.0, 0
    for _ in range(200):
        x = program.centre(x, max(level, target))
        bound = program.bound(x)
        lowered = bound < best * (1.0 - 1e-9 * tolerance)
        if bound < best:
            found, best = x, bound
        gap = level - bound
        stuck = stuck + 1 if not lowered else 0
        if best <= max(target, 0.0) or best < _NOTHING or not (m + 1.0) * gap > tolerance * best:
            break
        level = bound + _NEARER * gap
    if around is not None and around.whole and stuck and best > target:  # no centre was found from there
        return least_level(M, structure, tolerance, enough, own)
    if best < target:
        found = program.centre(found, min(target, _ROOM * best) if own else target)
    scalings = program.scalings(found)
    return program.unit * float(np.sqrt(max(best, 0.0))), scalings if around is None else around.back(scalings)


class _Around(NamedTuple):
    """Scalings D_w = L_w L_w^H, D_z = L_z L_z^H and G of blocks, in whose units these are 1, 1 and L_w^-1 G L_z^-H.

    Repeated numbers of machines may need scalings that are far from diagonal: in these units they are not.
    """

    L_w: Complex
    L_z: Complex
    G: Complex
    whole: bool = False  # with scalings of the blocks that are asked for

    def transformed(self, M: Complex) -> Complex:
        return np.asarray(np.linalg.solve(self.L_w, (self.L_z.conj().T @ M).conj().T).conj().T)

    def back(self, found: Scalings) -> Scalings:
        w, z = self.L_w, self.L_z
        D_w, D_z, G = found
        return Scalings(w @ D_w @ w.conj().T, z @ D_z @ z.conj().T, w @ G @ z.conj().T)


def _near(M: Complex, structure: BlockStructure, own: tuple[int, ...], near: Scalings | None) -> _Around | None:
    """Scalings that are known, where they prove a level of this matrix, too."""
    if near is None:
        return None
    try:
        w: Any = np.linalg.cholesky(near.D_w)
        z: Any = np.linalg.cholesky(near.D_z)
    except np.linalg.LinAlgError:  # in the units of M rounding has taken what is small of them
        return None
    G: Any = np.linalg.solve(w, np.linalg.solve(z, near.G.conj().T).conj().T)
    found = _Around(w, z, G, whole=True)
    program = _Program(found.transformed(M), structure, own)
    return found if np.isfinite(program.bound(program.beside(found))) else None


def _around_others(M: Complex, structure: BlockStructure, own: tuple[int, ...]) -> _Around | None:
    """Scalings of the blocks that are not asked for which prove their level 1, and 1 of the others; None without."""
    keep_w, keep_z = (np.flatnonzero(~k) for k in structure.channels(own))
    L_w, L_z = np.eye(structure.inputs, dtype=complex), np.eye(structure.outputs, dtype=complex)
    G = np.zeros((structure.inputs, structure.outputs), complex)
    others = [b for i, b in enumerate(structure.blocks) if i not in own]
    if others:
        rest = structure_of(others, len(keep_z), len(keep_w))
        level, found = least_level(M[np.ix_(keep_z, keep_w)], rest, enough=1.0 - 1e-6)
        if not level < 1.0:
            return None
        w, z = np.linalg.cholesky(found.D_w), np.linalg.cholesky(found.D_z)
        L_w[np.ix_(keep_w, keep_w)], L_z[np.ix_(keep_z, keep_z)] = w, z
        G[np.ix_(keep_w, keep_z)] = np.linalg.solve(w, np.linalg.solve(z, found.G.conj().T).conj().T)
    return _Around(L_w, L_z, G)


class Mu(NamedTuple):
    """Bounds of the structured singular value of a matrix.

    Attributes
    ----------
    lower, upper : float
        Where mu is; both are proven. `lower` is 0 where no perturbation was found.
    values : tuple
        Of each block, its number or matrix in the perturbation that makes 1 - M Delta singular; empty without one.
    Delta : ndarray, shape (w, z)
        This perturbation, of size 1 / lower.
    scalings : Scalings
        What proves the upper bound.
    """

    lower: float
    upper: float
    values: tuple[Any, ...]
    Delta: Complex
    scalings: Scalings

    def __str__(self) -> str:
        return f"mu between {self.lower:.6g} and {self.upper:.6g}"


def mu(M: ArrayLike, blocks: Sequence[UncertainBlock]) -> Mu:
    """Structured singular value of a matrix, from below and from above.

    Parameters
    ----------
    M : array_like, shape (z, w)
        Real or complex.
    blocks : sequence of UncertainBlock
        In the order of the rows and columns of M.

    Raises
    ------
    ValueError
        For blocks that do not fit.

    Notes
    -----
    See Skogestad, Postlethwaite, Multivariable Feedback Control (2005), section 8.8, for the example.

    Examples
    --------
    >>> print(mu([[2.0, 2.0], [-1.0, -1.0]], [UncertainBlock("complex"), UncertainBlock("complex")]))
    mu between 3 and 3
    """
    M = np.atleast_2d(np.asarray(M, complex))
    if M.ndim != 2 or not np.isfinite(M).all():
        raise InputError(f"M must be a matrix of finite numbers; got the shape {M.shape}")
    structure = structure_of(blocks, *M.shape)
    upper, scalings = least_level(M, structure, 1e-9)
    lower, values, _ = lower_bound(
        lambda w: (np.broadcast_to(M, (len(w), *M.shape)), None), structure, np.zeros(_STARTS)
    )
    return Mu(lower, upper, values, structure.delta(values) if values else np.zeros(M.T.shape, complex), scalings)


Responding = Callable[[Array], tuple[Complex, "Complex | None"]]


def lower_bound(
    respond: Responding, structure: BlockStructure, omega: Array, seed: int = 0
) -> tuple[float, tuple[Any, ...], float]:
    """Largest 1/|Delta| found with 1 - M Delta singular, that perturbation, and its frequency; 0 where none is found.

    At each step an eigenvalue of M Delta is linear in Delta, y^H M dDelta x, and the smallest perturbation that brings
    it to 1 is known in closed form: the sum of all that the blocks may do is a zonotope (real numbers) with a disk
    (all others) in the complex plane, and its gauge is a maximum over directions. Fixed points are where the
    conditions of an extremum hold (Young, Doyle 1990).

    Parameters
    ----------
    respond : callable
        Frequencies (s,) -> matrices (s, z, w), and their slopes where frequencies may move, or None.
    structure : BlockStructure
    omega : ndarray, shape (s,)
        Frequencies of the starts, one each.
    seed : int
        Of the random perturbations to start with.
    """
    search = _Search(respond, structure, np.array(omega, float), np.random.default_rng(seed))
    for _ in range(_STEPS):
        search.step()
    for _ in range(8):
        search.polish()
    return search.best()


class _Search:
    """Perturbations Delta (s, w, z) on their way to the smallest ones that make 1 - M Delta singular."""

    def __init__(self, respond: Responding, structure: BlockStructure, omega: Array, rng: np.random.Generator) -> None:
        self.respond, self.structure, self.omega = respond, structure, omega
        self.real = np.array([b.kind == "real" for b in structure.blocks])
        self.Delta = np.array([structure.delta(_start(structure.blocks, k, rng)) for k in range(len(omega))])
        self.first, self.steps = True, 0

    def linearized(self) -> tuple[Complex, Complex, Complex, list[Any], Complex | None]:
        """The eigenvalues of M Delta nearest to 1, y^H x, factors of scalars, vectors, slopes by omega."""
        M, slope = self.respond(self.omega)
        self.smallest = _USELESS * np.linalg.norm(M, axis=(1, 2))
        self.smallest = np.where(self.smallest > 0.0, self.smallest, 1.0)
        loop = M @ self.Delta
        values, X = np.linalg.eig(loop)
        k = np.argmax(np.abs(values), 1) if self.first else np.argmin(np.abs(values - 1.0), 1)
        each = np.arange(len(k))
        value, x = values[each, k], X[each, :, k]
        others, Y = np.linalg.eig(loop.conj().transpose(0, 2, 1))
        y = Y[each, :, np.argmin(np.abs(others.conj() - value[:, None]), 1)]
        yM = np.einsum("sz,szw->sw", y.conj(), M)
        product = np.einsum("sz,sz->s", y.conj(), x)
        factors, vectors = np.zeros((len(k), len(self.real)), complex), []
        for i, (b, w, z) in enumerate(zip(self.structure.blocks, self.structure.w, self.structure.z, strict=True)):
            if b.kind == "full":
                left, right = np.linalg.norm(yM[:, w], axis=1), np.linalg.norm(x[:, z], axis=1)
                factors[:, i] = left * right
                unit = yM[:, w].conj()[:, :, None] * x[:, z].conj()[:, None, :]
                vectors.append(unit / np.maximum(left * right, 1e-300)[:, None, None])
            else:
                factors[:, i] = np.einsum("sk,sk->s", yM[:, w], x[:, z])
                vectors.append(np.eye(b.size)[None])
        by_omega = None
        if slope is not None:
            by_omega = np.einsum("sz,szw,swk,sk->s", y.conj(), slope, self.Delta, x)
        return value, product, factors, vectors, by_omega

    def step(self) -> None:
        """Smallest perturbations that bring the linearized eigenvalues to 1."""
        value, b, a, vectors, by_omega = self.linearized()
        self.steps += 1
        if self.first:  # eigenvalues of size 1 to begin with
            self.first = False
            self.Delta = self.Delta / np.maximum(np.abs(value), self.smallest)[:, None, None]
            return
        real, size = self.real, np.abs(a)
        disk = size[:, ~real].sum(axis=1)
        if by_omega is None:
            u = self._direction(a[:, real], disk, b)
        else:  # the frequency does all along its own direction
            u = 1j * by_omega / np.maximum(np.abs(by_omega), 1e-300)
        along = (u.conj()[:, None] * a[:, real]).real
        reach = np.abs(along).sum(axis=1) + disk
        t = (u.conj() * b).real / np.maximum(reach, 1e-300)
        u, along, t = np.where(t < 0.0, -u, u), np.where(t < 0.0, -1.0, 1.0)[:, None] * along, np.abs(t)
        numbers = np.zeros(a.shape, complex)
        numbers[:, real] = t[:, None] * np.sign(along)
        numbers[:, ~real] = (t * u)[:, None] * np.where(size[:, ~real] > 0.0, a[:, ~real].conj(), 1.0)
        numbers[:, ~real] /= np.where(size[:, ~real] > 0.0, size[:, ~real], 1.0)
        left = b - np.einsum("si,si->s", a, numbers)
        if by_omega is not None:
            moved = (by_omega.conj() * left).real / np.maximum(np.abs(by_omega) ** 2, 1e-300)
            self.omega = self.omega + np.clip(moved, -0.2 * self.omega, 0.2 * self.omega)
        elif real.any():  # the number that lies across takes what is left
            each = np.arange(len(t))
            i = np.flatnonzero(real)[np.argmin(np.abs(along) / np.maximum(size[:, real], 1e-300), 1)]
            across = (a[each, i].conj() * left).real / np.maximum(size[each, i] ** 2, 1e-300)
            numbers[each, i] = np.clip(numbers[each, i].real + across, -t, t)
        good = np.isfinite(t) & (t > 0.0) & (t * self.smallest < 1.0)
        new = self._assembled(numbers, vectors)
        if self.steps > _STEPS // 3:  # steps to and fro between two end in the middle
            new = 0.5 * (self.Delta + new)
        self.Delta = np.where(good[:, None, None], new, self.Delta)

    @staticmethod
    def _direction(a: Complex, disk: Array, b: Complex) -> Complex:
        """Directions in which b is farthest out, in units of the zonotope of a with a disk."""

        def out(angle: Array) -> Array:
            u = np.exp(-1j * angle)
            h = np.abs((u[:, :, None] * a[:, None, :]).real).sum(axis=2) + disk[:, None]
            return (u * b[:, None]).real / np.maximum(h, 1e-300)

        edges = np.angle(a) + 0.5 * np.pi
        grid = np.broadcast_to(np.linspace(0.0, 2.0 * np.pi, 33), (len(b), 33))
        angle = np.concatenate([edges, edges + np.pi, np.angle(b)[:, None], grid], axis=1)
        each, width = np.arange(len(b)), np.pi / 16.0
        for _ in range(6):
            best = angle[each, np.argmax(out(angle), 1)]
            angle = np.concatenate([best[:, None], best[:, None] + width * np.linspace(-1.0, 1.0, 11)], axis=1)
            width /= 5.0
        return np.exp(1j * angle[each, np.argmax(out(angle), 1)])

    def _assembled(self, numbers: Complex, vectors: list[Any]) -> Complex:
        Delta = np.zeros_like(self.Delta)
        for i, (w, z) in enumerate(zip(self.structure.w, self.structure.z, strict=True)):
            Delta[:, w, z] = numbers[:, i, None, None] * vectors[i]
        return Delta

    def polish(self) -> None:
        """Least changes that bring the eigenvalues to 1, by Newton's method."""
        value, b, a, vectors, by_omega = self.linearized()
        real = self.real
        rows = [a[:, real], a[:, ~real], 1j * a[:, ~real]]
        size = np.abs(self.Delta).max(axis=(1, 2))
        if by_omega is not None:
            rows.append((by_omega * np.maximum(self.omega, 1e-300) / np.maximum(size, 1e-300))[:, None])
        J = np.concatenate(rows, axis=1)
        J = np.stack([J.real, J.imag], axis=1)
        aim = b * (1.0 - value)
        with np.errstate(all="ignore"):  # where nothing is reached by any block, which is looked at below
            change = (np.linalg.pinv(J, rcond=1e-12) @ np.stack([aim.real, aim.imag], axis=1)[:, :, None])[:, :, 0]
        k, m = int(real.sum()), int((~real).sum())
        numbers = np.zeros(a.shape, complex)
        numbers[:, real] = change[:, :k]
        numbers[:, ~real] = change[:, k : k + m] + 1j * change[:, k + m : k + 2 * m]
        good = np.isfinite(change).all(axis=1) & (np.abs(change).max(axis=1, initial=0.0) < 0.5 * size)
        if by_omega is not None:
            self.omega = self.omega * np.where(good, 1.0 + change[:, -1] / np.maximum(size, 1e-300), 1.0)
        self.Delta = self.Delta + np.where(good[:, None, None], self._assembled(numbers, vectors), 0.0)

    def best(self) -> tuple[float, tuple[Any, ...], float]:
        """The smallest of those that make 1 - M Delta singular."""
        loop = self.respond(self.omega)[0] @ self.Delta
        norms = np.linalg.norm(loop, axis=(1, 2))
        least = np.linalg.svd(np.eye(loop.shape[1]) - loop, compute_uv=False)[:, -1]
        blocks = list(zip(self.structure.blocks, self.structure.w, self.structure.z, strict=True))
        sizes = np.max([np.linalg.norm(self.Delta[:, w, z], 2, axis=(1, 2)) for _, w, z in blocks], axis=0)
        sizes = np.where(least <= _SINGULAR * (1.0 + norms), sizes, np.inf)
        k = int(np.argmin(sizes))
        if not np.isfinite(sizes[k]) or not sizes[k] > 0.0:
            return 0.0, (), float("nan")
        values: list[Any] = []
        for b, w, z in blocks:
            x = self.Delta[k, w, z]
            values.append(x if b.kind == "full" else complex(x[0, 0]) if b.kind == "complex" else float(x[0, 0].real))
        return 1.0 / float(sizes[k]), tuple(values), float(self.omega[k])


def _start(blocks: tuple[UncertainBlock, ...], k: int, rng: np.random.Generator) -> list[Any]:
    """Values of the blocks to begin with, at most 1 in size: one block alone, numbers at their ends, or anywhere."""
    alone = [0.0] * len(blocks)
    if k % 4 == 3:
        i = k // 4 % len(blocks)
        alone[i] = _random(blocks[i], 1.0, rng)
        return alone
    return [_random(b, 1.0 if k % 4 < 2 else float(rng.random()), rng) for b in blocks]


def _random(block: UncertainBlock, size: float, rng: np.random.Generator) -> Any:
    """A random value of a block, of size 1; of a real number, of the size given."""
    if block.kind == "real":
        return size * float(rng.choice([-1.0, 1.0]))
    shape = block.shape if block.kind == "full" else (1, 1)
    u, v = (rng.standard_normal(k) + 1j * rng.standard_normal(k) for k in shape)
    x = np.outer(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
    return x if block.kind == "full" else complex(x[0, 0])

"""Moore-Penrose pseudoinverses by name: the five ways of de Falco, Pennestri and Vita (section 2), and three more.

All but "damped" and "filtered" satisfy the four Moore-Penrose conditions for any shape and any rank: A A+ and A+ A are
symmetric, A A+ A = A, A+ A A+ = A+. A tolerance decides the rank; what lies below it counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError
from ..model.terms import RANK_TOLERANCE

__all__ = [
    "PSEUDOINVERSES",
    "complete_orthogonal",
    "damped",
    "filtered",
    "gram_schmidt",
    "greville",
    "householder",
    "pseudoinverse",
    "svd",
    "varga",
]

Array = NDArray[np.float64]
Inverse = tuple[Array, int]
PSEUDOINVERSES: dict[str, Callable[..., Inverse]] = {}


def _registered(name: str) -> Callable[[Callable[..., Inverse]], Callable[..., Inverse]]:
    """Decorator that puts a method into the table, with the checks that all have in common.

    Input is checked and brought to entries of size 1, so that squares neither overflow nor underflow; the method
    itself sees a matrix that is not zero. Keywords of all: those of `pseudoinverse`.
    """

    def register(method: Callable[..., Inverse]) -> Callable[..., Inverse]:
        def checked(
            A: ArrayLike,
            *,
            tolerance: float | None = None,
            absolute: float = 0.0,
            cap: int | None = None,
            **options: Any,
        ) -> Inverse:
            A = _matrix(A)
            tolerance = RANK_TOLERANCE if tolerance is None else _tolerance(tolerance)
            cap = min(A.shape) if cap is None else min(cap, *A.shape)
            size = float(np.abs(A).max(initial=0.0))
            if absolute and size:
                tolerance = max(tolerance, _check.positive(absolute, "absolute") / float(np.linalg.norm(A, 2)))
            if size == 0.0 or cap <= 0 or tolerance >= 1.0:
                method(np.ones((1, 1)), 0.0, 1, **options)  # options are checked all the same
                return np.zeros(A.shape[::-1]), 0
            X, rank = method(A / size, tolerance, cap, **options)
            return X / size, rank

        common = list(signature(checked).parameters.values())[:-1]
        own = [x.replace(kind=Parameter.KEYWORD_ONLY) for x in list(signature(method).parameters.values())[3:]]
        checked = wraps(method)(checked)
        checked.__signature__ = Signature([*common, *own], return_annotation="Inverse")  # what help() shows
        PSEUDOINVERSES[name] = checked
        return checked

    return register


def pseudoinverse(
    A: ArrayLike,
    method: str = "svd",
    *,
    tolerance: float | None = None,
    absolute: float = 0.0,
    cap: int | None = None,
    **options: Any,
) -> Inverse:
    """Pseudoinverse of A by the method of your choice, and the rank that it found.

    Parameters
    ----------
    A : array_like, shape (m, n)
        Any shape, any rank, empty too. Rows in the same unit: the rank is a matter of their sizes.
    method : str
        One of `PSEUDOINVERSES`: "svd", "varga", "greville", "householder", "gram-schmidt", "complete-orthogonal",
        "damped", "filtered". De Falco, Pennestri and Vita (section 2) have the first five: "svd" (de Falco, eqs. 15 and
        16; Spencer, eq. 3.4), "varga" (de Falco, eqs. 17 and 18), "greville" (de Falco, eq. 19), and least squares
        solutions for the columns of the identity (de Falco, eqs. 11 to 14).
    tolerance : float, optional
        Size that counts as zero, relative to the largest singular value ("svd", "damped", "filtered"), the largest
        column ("varga", "householder", "gram-schmidt", "complete-orthogonal") or the largest row ("greville"); 1e-10
        unless given. These sizes differ by a factor of sqrt(n) or so: with a tolerance between the singular values of
        noise and the others all methods find the same rank.
    absolute : float
        Size that counts as zero in the units of A, in addition: Aghili's epsilon (eqs. 70 and 71). A single row that
        vanishes has nothing to be compared with.
    cap : int, optional
        Largest rank that is possible, where it is known.
    **options
        Options of the method: ``reorthogonalise`` of "gram-schmidt", ``damping`` of "damped", ``damping`` and
        ``threshold`` of "filtered".

    Returns
    -------
    A_plus : ndarray, shape (n, m)
    rank : int

    Raises
    ------
    ValueError
        Where A is not a finite matrix, or the method is unknown.

    Examples
    --------
    >>> A_plus, rank = pseudoinverse([[3.0, 4.0], [3.0, 4.0]], "greville")  # the same row twice
    >>> A_plus, rank
    (array([[0.06, 0.06],
           [0.08, 0.08]]), 1)
    """
    absolute = _check.positive(absolute, "absolute", zero=True)
    if cap is not None:
        cap = _check.count(cap, "cap", 0)
    return PSEUDOINVERSES[_check.one_of(method, PSEUDOINVERSES, "pseudoinverse", "method")](
        A, tolerance=tolerance, absolute=absolute, cap=cap, **options
    )


def _matrix(A: ArrayLike) -> Array:
    """Matrix A of finite floats, checked."""
    A = _check.numbers(A, "the matrix A", "a matrix of real numbers")
    if A.ndim != 2:
        raise InputError(f"a pseudoinverse is made of a matrix A (m, n), got an array of shape {A.shape}")
    finite = np.isfinite(A)
    if not finite.all():
        i, k = np.argwhere(~finite)[0]
        raise InputError(
            f"the matrix A must be finite, but {np.count_nonzero(~finite)} entries are not: [{i}, {k}] = {A[i, k]}"
        )
    return A


def _tolerance(tolerance: float) -> float:
    """Relative tolerance in [0, 1), checked."""
    tolerance = _check.positive(tolerance, "tolerance", zero=True)
    if tolerance >= 1.0:
        raise InputError(f"tolerance is relative to the largest singular value and must be below 1, got {tolerance}")
    return tolerance


def _rank(sizes: Array, tolerance: float, cap: int) -> int:
    """Number of sizes, largest first, that count as not zero."""
    return min(int(np.count_nonzero(sizes > tolerance * sizes[0])), cap)


@_registered("svd")
def svd(A: Array, tolerance: float, cap: int) -> Inverse:
    """Pseudoinverse A+ = V S+ U' by the singular value decomposition (de Falco, eqs. 15 and 16; Spencer, eq. 3.4).

    The other methods are judged by it: singular values show how near the matrix is to one of lower rank.

    Examples
    --------
    >>> svd([[2.0, 0.0, 0.0]])[0].ravel()
    array([0.5, 0. , 0. ])
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = _rank(s, tolerance, cap)
    return (Vt[:rank].T / s[:rank]) @ U[:, :rank].T, rank


def _pivoted_qr(A: Array, tolerance: float, cap: int) -> tuple[Array, Array, NDArray[np.intp], int]:
    """Factors of A[:, order] = Q R by Householder reflections with column pivoting; Q (m, rank), R (rank, n)."""
    from scipy.linalg import lapack  # the same as linalg.qr and solve_triangular at a fifth of the time

    factor, order, tau, _, _ = lapack.dgeqp3(A)
    rank = _rank(np.abs(np.diagonal(factor)), tolerance, cap)
    Q, _, _ = lapack.dorgqr(factor[:, :rank], tau[:rank])
    return Q, np.triu(factor[:rank]), order - 1, rank


def pivot_order(A: Array, tolerance: float, cap: int) -> tuple[NDArray[np.intp], int]:
    """Order of the columns, each the largest that is left, and the number of independent ones."""
    from scipy.linalg import lapack

    factor, order, *_ = lapack.dgeqp3(A)
    return order - 1, _rank(np.abs(np.diagonal(factor)), tolerance, cap)


def solve_triangular(R: Array, B: Array, *, lower: bool = False, transposed: bool = False) -> Array:
    """Solution R^-1 B, or R'^-1 B, for a triangular R."""
    from scipy.linalg import lapack

    return lapack.dtrtrs(R, B, lower=lower, trans=int(transposed))[0] if B.size else B


@_registered("varga")
def varga(A: Array, tolerance: float, cap: int) -> Inverse:
    """Varga's double QR (de Falco, eqs. 17 and 18): A = U G, G' = V' G2', so A+ = V' G2^-1 U'.

    Both factorizations are Householder's. The first one takes the largest column that is left at every step, without
    which the rows of G1 (of full rank) could not be found.

    Examples
    --------
    >>> varga([[3.0, 4.0], [3.0, 4.0]])[1]
    1
    """
    U, R, order, rank = _pivoted_qr(A, tolerance, cap)
    G1 = np.empty_like(R)
    G1[:, order] = R
    V, G2t = np.linalg.qr(G1.T)
    return V @ solve_triangular(G2t, U.T, transposed=True), rank


@_registered("greville")
def greville(A: Array, tolerance: float, cap: int) -> Inverse:
    """Greville's recursion over the rows (de Falco, eq. 19 and what follows).

    As printed, c_i is a small difference of large vectors where rows are nearly dependent, and the recursion divides
    by its square: measured, errors are then those of cond(A)^2. So c_i and d_i are cleared of the rows before a second
    time, and c_i once more of the c before it, which are orthogonal. Rows are taken in the order in which the largest
    is left (a permutation of rows permutes the columns of A+ and nothing else), so dependent rows come last; they are
    those of which less than the tolerance times the largest row is left. (The recursion asks for c_i = 0, which
    rounding does not give.)

    Examples
    --------
    >>> greville([[1.0, 0.0], [1.0, 1.0]])[0]
    array([[ 1.,  0.],
           [-1.,  1.]])
    """
    order, rank = pivot_order(A.T, tolerance, cap)
    rows = A[order]
    X, Q = np.zeros(A.shape), np.zeros((rank, A.shape[1]))  # columns of A+ as rows
    for i, a in enumerate(rows):
        before, inverse = rows[:i], X[:i]
        d = inverse @ a
        c = a - d @ before
        more = inverse @ c
        d += more
        if i < rank:
            c -= more @ before
            c -= (Q[:i] @ c) @ Q[:i]
            square = c @ c
            b = c / square
            Q[i] = c / math.sqrt(square)
        else:
            b = d @ inverse / (1.0 + d @ d)
        inverse -= d[:, None] * b
        X[i] = b
    out = np.empty(A.shape[::-1])
    out[:, order] = X.T
    return out, rank


@_registered("householder")
def householder(A: Array, tolerance: float, cap: int) -> Inverse:
    """Least squares solutions of A x = e_k (de Falco, section 2.2) by Householder's QR with column pivoting.

    The basic solution sets the columns that are left over to zero. Its part along N(A) is taken away, which makes it
    the smallest one; so the normal equations (de Falco, eqs. 12 and 14), singular or badly conditioned, need not be
    formed.

    Examples
    --------
    >>> householder([[1.0, 1.0]])[0].ravel()
    array([0.5, 0.5])
    """
    Q, R, order, rank = _pivoted_qr(A, tolerance, cap)
    X = np.zeros(A.shape[::-1])
    X[order[:rank]] = solve_triangular(R[:, :rank], Q.T)
    if rank < A.shape[1]:
        N = np.linalg.qr(_null_columns(R, order))[0]
        X -= N @ (N.T @ X)
    return X, rank


def _null_columns(R: Array, order: NDArray[np.intp]) -> Array:
    """Columns (n, n - rank) that span N(A), from A[:, order] = Q R."""
    rank, n = R.shape
    N = np.zeros((n, n - rank))
    N[order[:rank]] = -solve_triangular(R[:, :rank], R[:, rank:])
    N[order[rank:], np.arange(n - rank)] = 1.0
    return N


@_registered("gram-schmidt")
def gram_schmidt(A: Array, tolerance: float, cap: int, reorthogonalise: bool = True) -> Inverse:
    """Least squares solutions of A x = e_k (de Falco, section 2.2) by modified Gram-Schmidt with column pivoting.

    `reorthogonalise` clears every column a second time of those before it, after which Q is orthogonal to rounding
    ("twice is enough").

    Without it Q loses its orthogonality in proportion to cond(A), and the conditions suffer with its square: measured,
    A+ A is symmetric to 6e-5 only where cond(A) = 1e6, and not at all at 1e8. It is a third faster.

    Examples
    --------
    >>> gram_schmidt([[1.0, 1.0]])[0].ravel()
    array([0.5, 0.5])
    """
    order, rank = pivot_order(A, tolerance, cap)
    Q, R = _modified_gram_schmidt(A[:, order], rank, reorthogonalise)
    X = np.zeros(A.shape[::-1])
    X[order[:rank]] = solve_triangular(R[:, :rank], Q.T)
    if rank < A.shape[1]:
        N = _null_columns(R, order)
        N = _modified_gram_schmidt(N, N.shape[1], reorthogonalise)[0]
        X -= N @ (N.T @ X)
    return X, rank


def _modified_gram_schmidt(A: Array, rank: int, again: bool) -> tuple[Array, Array]:
    """Factors of A = Q R with Q (m, rank) and R (rank, n), from columns of which the first `rank` are independent."""
    W, n = A.T.copy(), A.shape[1]  # columns as rows: contiguous
    R = np.zeros((rank, n))
    for k in range(rank):
        q = W[k]
        if again:
            more = W[:k] @ q
            q -= more @ W[:k]
            R[:k, k] += more
        R[k, k] = norm = math.sqrt(q @ q)
        q /= norm
        rest = W[k + 1 :]
        r = R[k, k + 1 :] = rest @ q
        rest -= r[:, None] * q
    return W[:rank].T, R


@_registered("complete-orthogonal")
def complete_orthogonal(A: Array, tolerance: float, cap: int) -> Inverse:
    """Pseudoinverse P Z' [T^-1 0; 0 0] Q' from the complete orthogonal decomposition A P = Q [T 0; 0 0] Z.

    LAPACK's geqp3, tzrzf and ormrz, the parts of gelsy. Nearly as reliable as singular values at less cost.

    Examples
    --------
    >>> complete_orthogonal([[1.0, 1.0]])[0].ravel()
    array([0.5, 0.5])
    """
    from scipy.linalg import lapack

    Q, R, order, rank = _pivoted_qr(A, tolerance, cap)
    n = A.shape[1]
    X = np.zeros(A.shape[::-1], order="F")
    if rank == n:
        X[order] = solve_triangular(R, Q.T)
        return X, rank
    RZ, tau, _ = lapack.dtzrzf(R)
    X[:rank] = solve_triangular(np.triu(RZ[:, :rank]), Q.T)
    X, _ = lapack.dormrz(RZ, tau, X, trans="T")
    out = np.empty_like(X)
    out[order] = X
    return out, rank


@_registered("damped")
def damped(A: Array, tolerance: float, cap: int, damping: float = 1e-4) -> Inverse:
    """Damped least squares, A'(A A' + d^2 I)^-1: the x that makes |A x - y|^2 + d^2 |x|^2 smallest.

    No Moore-Penrose inverse: it tends to one as d goes to zero, with errors of (d / sigma)^2 along each singular
    direction. In return it never exceeds 1 / (2 d), and it is smooth across rank changes. `damping` is d over the
    largest singular value. Computed through singular values, so that A A' is not squared. The rank returned is that of
    A at the tolerance.

    Examples
    --------
    >>> damped([[1.0, 0.0], [0.0, 0.0]], damping=0.1)[0][0, 0].round(6)
    np.float64(0.990099)
    """
    d = _check.positive(damping, "damping", zero=True)
    return _filtered(A, tolerance, cap, lambda s: np.full_like(s, d * d))


@_registered("filtered")
def filtered(A: Array, tolerance: float, cap: int, damping: float = 1e-4, threshold: float = 1e-3) -> Inverse:
    """Numerically filtered inverse: damped only along the singular directions that are about to be lost.

    A direction with sigma below `threshold` (relative to the largest) is damped with
    d^2 = damping^2 (1 - (sigma / threshold)^2)^2, which grows smoothly from zero to its full value as sigma goes to
    zero. Where all of sigma are zero or above the threshold it is the pseudoinverse itself.

    Examples
    --------
    >>> filtered([[1.0, 0.0], [0.0, 0.5]])[0].tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    d = _check.positive(damping, "damping", zero=True)
    near = _check.positive(threshold, "threshold")
    return _filtered(A, tolerance, cap, lambda s: (d * np.clip(1.0 - (s / near) ** 2, 0.0, None)) ** 2)


def _filtered(A: Array, tolerance: float, cap: int, damping: Callable[[Array], Array]) -> Inverse:
    """Inverse V diag(s / (s^2 + damping)) U', where damping is a function of the singular values over the largest."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = _rank(s, tolerance, cap)
    relative = s[:rank] / s[0]
    gain = relative / (relative**2 + damping(relative)) / s[0]
    return (Vt[:rank].T * gain) @ U[:, :rank].T, rank

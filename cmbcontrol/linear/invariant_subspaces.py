"""Invariant subspaces of a matrix: of eigenvalues that count as one, and of those on one side of a border."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SLOW",
    "Decoupled",
    "Spectrum",
    "cleaned",
    "clusters",
    "decoupled",
    "invariant_subspaces",
    "mean_of",
    "spectrum",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SLOW = 1.0  # rad/s: what the accuracy of A is measured by where its entries vanish


class Spectrum(NamedTuple):
    """Eigenvalues with left and right eigenvectors, and what errors of the entries do to them.

    Attributes
    ----------
    values : ndarray, shape (n,)
    left, right : ndarray, shape (n, n)
        Eigenvectors, as columns.
    products : ndarray, shape (n,)
        w'v of both.
    shift : ndarray, shape (n,)
        Distance by which the errors move each eigenvalue, if it is simple.
    """

    values: Complex
    left: Complex
    right: Complex
    products: Complex
    shift: Array


def spectrum(A: Array, error: Array) -> Spectrum:
    """Eigenvalues of A; an error E of it moves a simple one by w'E v / w'v."""
    from scipy.linalg import eig

    values, left, right = eig(A, left=True, right=True)
    products = np.einsum("ki,ki->i", left.conj(), right)
    shift = np.einsum("ki,ki->i", np.abs(left), error @ np.abs(right)) / np.maximum(np.abs(products), 1e-300)
    return Spectrum(values, left, right, products, shift)


def clusters(found: Spectrum, tolerance: float) -> list[NDArray[np.bool_]]:
    """Eigenvalues that count as one, as masks (n,); of complex pairs the upper half.

    Those that lie closer than they are moved by an error of the given relative size: those that are repeated with all
    their eigenvectors (moved by about the tolerance), and defective ones (by its square root).
    """
    from scipy.sparse.csgraph import connected_components

    values = found.values
    reach = np.minimum(found.shift, tolerance ** (1.0 / 3.0) * (np.abs(values) + SLOW))
    near = np.abs(values[:, None] - values) <= np.minimum(reach[:, None], reach)
    count, label = connected_components(near, directed=False)
    masks = [label == i for i in range(count)]
    return [mask for mask in masks if not (values[mask].imag < 0.0).all()]


class Decoupled(NamedTuple):
    """A = X T Y + X_rest T_rest Y_rest with Y X = 1, Y X_rest = 0: some modes, and all others."""

    X: NDArray[Any]
    T: NDArray[Any]
    Y: NDArray[Any]
    X_rest: NDArray[Any]
    T_rest: NDArray[Any]
    Y_rest: NDArray[Any]


def decoupled(T: NDArray[Any], Q: NDArray[Any], m: int) -> Decoupled:
    """Invariant subspaces of A = Q T Q', a Schur form whose first m eigenvalues are those of one part.

    With T = [T1, C; 0, T2] and T1 R - R T2 = -C the bases are Q1 and Q2 + Q1 R.

    Examples
    --------
    >>> parts = decoupled(np.array([[1.0, 3.0], [0.0, 2.0]]), np.eye(2), 1)
    >>> parts.X_rest[:, 0], parts.Y[0]
    (array([3., 1.]), array([ 1., -3.]))
    """
    from scipy.linalg import solve_sylvester

    one, two = T[:m, :m], T[m:, m:]
    R = solve_sylvester(one, -two, -T[:m, m:]) if 0 < m < len(T) else np.zeros((m, len(T) - m))
    X, back = Q[:, :m], Q[:, m:].conj().T
    return Decoupled(X, one, X.conj().T - R @ back, Q[:, m:] + X @ R, two, back)


def invariant_subspaces(A: Array, values: Complex, members: NDArray[np.bool_]) -> Decoupled:
    """Invariant subspaces of A for some of its eigenvalues, and for all others, by the complex Schur form."""
    from scipy.linalg import lapack, schur
    from scipy.optimize import linear_sum_assignment

    T, Q = schur(A, output="complex")
    order = linear_sum_assignment(np.abs(values[:, None] - T.diagonal()))[1]
    select = np.zeros(len(A), dtype=np.int32)
    select[order[members]] = 1
    T, Q = lapack.ztrsen(select, T, Q, job="N")[:2]
    return decoupled(T, Q, int(members.sum()))


def mean_of(T: NDArray[Any]) -> complex:
    """Mean of the eigenvalues of a triangular matrix, which errors move less than each of them."""
    return complex(T.diagonal().mean())


def cleaned(value: complex, accuracy: float, tolerance: float) -> complex:
    """Eigenvalue, 1/s, without the parts that are rounding."""
    if abs(value) <= max(accuracy, np.sqrt(tolerance) * SLOW):
        return 0j
    real, imag = (0.0 if abs(x) <= accuracy else x for x in (value.real, value.imag))
    return complex(real, imag)

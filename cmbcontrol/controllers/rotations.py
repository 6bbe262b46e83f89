"""Rotation vectors phi: exp([phi]), its inverse, and the relation of their rates to angular velocities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels import spatial
from ..trace.graph import Scalar
from ..trace.kernels import spatial as traced
from ..trace.symbols import Symbols, where_less

__all__ = ["cross_matrix", "left_jacobian", "left_jacobian_rate", "rotation_matrix", "rotation_vector"]

Array = NDArray[np.float64]


def cross_matrix(a: Array) -> Array:
    """Matrix [a] (3, 3) with [a] b = a x b."""
    x, y, z = a
    made = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    return Symbols(made) if isinstance(a, Symbols) else np.array(made)


def rotation_matrix(phi: Array) -> Array:
    """Rotation matrix exp([phi]) of a rotation vector, rad.

    Examples
    --------
    >>> rotation_matrix(np.array([0.0, 0.0, np.pi / 2])).round(12)[:, 0]
    array([0., 1., 0.])
    """
    K = cross_matrix(phi)
    sine, cosine, _ = _sinc_terms(phi)
    return np.eye(3) + sine * K + cosine * (K @ K)


def rotation_vector(R: Array) -> Array:
    """Shortest rotation vector, rad, with exp([phi]) = R.

    Examples
    --------
    >>> rotation_vector(rotation_matrix(np.array([0.1, -0.2, 3.0]))).round(12)
    array([ 0.1, -0.2,  3. ])
    """
    a = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    a = 0.5 * (Symbols(a) if isinstance(R, Symbols) else np.array(a))  # axis times sine
    c = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    if isinstance(c, Scalar):
        s = np.sqrt(a @ a)
        c.graph.require_less(-0.9, c)
        return a * where_less(1e-8, s, np.arctan2(s, c) / s, 1.0)
    s = math.sqrt(a @ a)
    angle = math.atan2(s, c)
    if c > -0.9:
        return a * (angle / s) if s > 1e-8 else a
    # near half a turn the sine says little of the axis n; the symmetric part is c 1 + (1 - c) n n'
    N = 0.5 * (R + R.T) - c * np.eye(3)
    n = N[:, int(np.argmax(N.diagonal()))]
    return math.copysign(angle / math.sqrt(n @ n), n @ a) * n


def _sinc_terms(phi: Array) -> tuple:
    """Values of `kernels.spatial.sinc_terms` at the angle of a rotation vector."""
    a2 = phi @ phi
    if not isinstance(a2, Scalar):
        return spatial.sinc_terms(math.sqrt(a2))
    pairs = zip(traced.sinc_series(a2), traced.sinc_closed(np.sqrt(a2)), strict=True)
    return tuple(where_less(a2, spatial.SMALL, near, far) for near, far in pairs)


def left_jacobian(phi: Array) -> Array:
    """Left Jacobian J_l (3, 3), with the angular velocity omega = J_l(phi) phi' of exp([phi]).

    Examples
    --------
    >>> left_jacobian(np.zeros(3)).diagonal()
    array([1., 1., 1.])
    """
    K = cross_matrix(phi)
    _, s2, s3 = _sinc_terms(phi)
    return np.eye(3) + s2 * K + s3 * (K @ K)


def left_jacobian_rate(phi: Array, rate: Array) -> Array:
    """Rate d J_l / dt (3, 3) of the left Jacobian where phi changes at the given rate."""
    a2 = phi @ phi
    s1, s2, s3 = _sinc_terms(phi)
    far = where_less(a2, spatial.SMALL, 1.0, a2)
    # where differences cancel, their series
    d2 = -1.0 / 12.0 + a2 * (1.0 / 180.0 + a2 * (-1.0 / 6720.0 + a2 / 453600.0))
    d3 = -1.0 / 60.0 + a2 * (1.0 / 1260.0 + a2 * (-1.0 / 60480.0 + a2 / 4989600.0))
    d2 = where_less(a2, spatial.SMALL, d2, (s1 - 2.0 * s2) / far)
    d3 = where_less(a2, spatial.SMALL, d3, (s2 - 3.0 * s3) / far)
    K, L, along = cross_matrix(phi), cross_matrix(rate), phi @ rate
    return s2 * L + s3 * (K @ L + L @ K) + along * (d2 * K + d3 * (K @ K))

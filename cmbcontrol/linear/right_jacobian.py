"""Inverse right Jacobian of the exponential, joint by joint: how q [-] qbar changes with q.

With q = qbar [+] delta and q [+] eps = qbar [+] (delta + J_r^-1(delta) eps) to first order, where

    J_r^-1(delta) = ad / (1 - exp(-ad)) = 1 + ad/2 + ad^2/12 - ad^4/720 + ...,   ad = ad_delta.

On so(3), se(2) and se(3) the powers of ad end: ad (ad^2 + phi^2)^2 = 0 with the angle phi, so that
1 + ad/2 + c2 ad^2 + c4 ad^4 is the whole series. Joints whose motions commute have J_r = 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout import FREE, PLANAR, SPHERICAL
from ..model.mechanism import Mechanism
from ..model.plant import Plant

__all__ = ["GroupJoint", "angle_factor", "group_joints", "inverse_right_jacobian", "rate_gradient"]

Array = NDArray[np.float64]
GroupJoint = tuple[int, slice]

# a_k of (x/2) coth(x/2) = sum a_k x^(2k), from the Bernoulli numbers B_2k / (2k)!
_SERIES = (1.0, 1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600)
_C4 = [(k - 1) * a for k, a in enumerate(_SERIES)][:1:-1]  # of s^(k-2) from k = 2 on, the highest power first
_C2 = [(2 - k) * a for k, a in enumerate(_SERIES)][:1:-1]  # of s^(k-1)
_SMALL = 0.4  # rad; below it the series leaves 1e-17
_STEP = 1e-30  # of the complex differences, which have no rounding error


def group_joints(plant: Plant) -> tuple[GroupJoint, ...]:
    """Joints whose motions do not commute: their kind, and the places of their velocity coordinates."""
    if not isinstance(plant, Mechanism):
        return ()
    links = plant.arrays.links
    return tuple(
        (int(link["kind"]), slice(int(link["iv"]), int(link["iv"] + link["nv"])))
        for link in links
        if link["kind"] in (PLANAR, SPHERICAL, FREE)
    )


def inverse_right_jacobian(joints: tuple[GroupJoint, ...], delta: Array) -> Array:
    """Inverse right Jacobian J_r^-1(delta), shape (nv, nv)."""
    out = np.eye(delta.size)
    for kind, k in joints:
        out[k, k] = _block(kind, delta[k])
    return out


def rate_gradient(joints: tuple[GroupJoint, ...], delta: Array, v: Array) -> Array:
    """Gradient d(J_r^-1(delta) v)/d(delta) (nv, nv) at constant v, by complex steps: exact to rounding."""
    out = np.zeros((delta.size, delta.size))
    for kind, k in joints:
        d = delta[k]
        columns = [(_block(kind, d + 1j * _STEP * e) @ v[k]).imag / _STEP for e in np.eye(d.size)]
        out[k, k] = np.stack(columns, axis=1)
    return out


def angle_factor(joints: tuple[GroupJoint, ...], delta: Array) -> float:
    """Product of (1 + cos phi)/2 over the joints that turn: 1 at zero, 0 at half a turn, where logarithms end."""
    factor = 1.0
    for kind, k in joints:
        if kind != PLANAR:
            factor *= 0.5 * (1.0 + np.cos(min(float(np.linalg.norm(delta[k][:3])), np.pi)))
    return factor


def _block(kind: int, d: Array) -> Array:
    """Inverse right Jacobian J_r^-1 of one joint."""
    ad, s = _adjoint(kind, d)
    ad2 = ad @ ad
    c2, c4 = _coefficients(s)
    return np.eye(d.size) + 0.5 * ad + c2 * ad2 + c4 * (ad2 @ ad2)


def _adjoint(kind: int, d: Array) -> tuple[Array, float]:
    """Matrix ad_d, and minus the square of the angle."""
    if kind == PLANAR:  # (vx, vy, omega)
        x, y, w = d
        return np.array([[0.0, -w, y], [w, 0.0, -x], [0.0, 0.0, 0.0]]), -w * w
    turn = _cross(d[:3])
    s = -(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    if kind == SPHERICAL:
        return turn, s
    ad = np.zeros((6, 6), turn.dtype)
    ad[:3, :3] = ad[3:, 3:] = turn
    ad[3:, :3] = _cross(d[3:])
    return ad, s


def _cross(a: Array) -> Array:
    """Matrix of the cross product with a."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _coefficients(s: complex) -> tuple[complex, complex]:
    """Coefficients c2 and c4 from F(s) = (x/2) coth(x/2), s = x^2 = -phi^2, and F'(s).

    1 + c2 s + c4 s^2 takes the value and the slope of F at the double root s of the minimal polynomial.
    """
    if abs(s) < _SMALL**2:
        c2 = c4 = 0.0
        for a2, a4 in zip(_C2, _C4, strict=True):
            c2, c4 = c2 * s + a2, c4 * s + a4
        return _SERIES[1] + c2 * s, c4
    phi = np.sqrt(-s)
    tan, sin = np.tan(0.5 * phi), np.sin(0.5 * phi)
    F = 0.5 * phi / tan
    dF = -(0.5 / tan - 0.25 * phi / sin**2) / (2.0 * phi)
    return 2.0 * (F - 1.0) / s - dF, (dF * s - F + 1.0) / s**2

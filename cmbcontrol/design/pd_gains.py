"""Gains of u = kp e + kd de/dt for the double integrator e'' = -u, to which projected inverse dynamics leads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError

__all__ = ["pd_gains", "pd_gains_from_poles", "sampled_pd_gains"]

Array = NDArray[np.float64]


def pd_gains(bandwidth: ArrayLike, damping_ratio: ArrayLike = 1.0) -> tuple[Array, Array]:
    """Gains kp and kd of e'' + kd e' + kp e = 0 with a natural frequency and a damping ratio.

    Parameters
    ----------
    bandwidth : float or array_like, shape (k,)
        Natural frequency by coordinate, rad/s.
    damping_ratio : float or array_like, shape (k,)
        1 for two equal real poles.

    Returns
    -------
    kp, kd : ndarray, shape (k,)
        bandwidth^2 in 1/s2, and 2 damping_ratio bandwidth in 1/s, as `ProjectedInverseDynamics` takes them.

    Examples
    --------
    >>> pd_gains([10.0, 20.0], [1.0, 0.7])
    (array([100., 400.]), array([20., 28.]))
    """
    w, z = _rates(bandwidth, damping_ratio)
    return w**2, 2.0 * z * w


def pd_gains_from_poles(poles: ArrayLike | Sequence[ArrayLike]) -> tuple[Array, Array]:
    """Gains kp and kd of e'' + kd e' + kp e = 0 with given poles.

    Parameters
    ----------
    poles : array_like, shape (2,) or (k, 2)
        A pair of poles for each coordinate, 1/s: two real ones, or a complex one with its conjugate.

    Returns
    -------
    kp, kd : ndarray, shape (k,)

    Raises
    ------
    ValueError
        For pairs that are not conjugate, and poles that do not decay.

    Examples
    --------
    >>> pd_gains_from_poles([(-4.0, -10.0), (-3.0 + 4.0j, -3.0 - 4.0j)])
    (array([40., 25.]), array([14.,  6.]))
    """
    pairs = _pairs(poles)
    for pair in pairs:
        if not pair.real.max() < 0.0:
            raise InputError(f"the poles must decay, real part < 0, got {_listed(pair)} 1/s")
    return pairs.prod(axis=1).real, -pairs.sum(axis=1).real


def sampled_pd_gains(
    bandwidth: ArrayLike | None = None,
    damping_ratio: ArrayLike = 1.0,
    *,
    poles: ArrayLike | Sequence[ArrayLike] | None = None,
    period: float,
) -> tuple[Array, Array]:
    """Gains kp and kd for a sampled law that put the discrete poles at exp(pole * period), exactly.

    The error e(k) and its rate are measured at each sample and the acceleration -kp e - kd e' is held until the next:

        z^2 + (kp T^2 / 2 + kd T - 2) z + 1 + kp T^2 / 2 - kd T = 0.

    Parameters
    ----------
    bandwidth, damping_ratio : float or array_like, shape (k,), optional
        As in `pd_gains`.
    poles : array_like, shape (2,) or (k, 2), optional
        Poles 1/s, as in `pd_gains_from_poles`, in place of bandwidth.
    period : float
        Sample time T, s.

    Returns
    -------
    kp, kd : ndarray, shape (k,)
        Below those in continuous time, which are too large at long periods.

    Raises
    ------
    ValueError
        For poles that oscillate faster than the samples can show (imaginary part above pi / period).

    Examples
    --------
    >>> kp, kd = sampled_pd_gains(10.0, period=0.05)
    >>> kp.round(3), kd.round(3)
    (array([61.927]), array([14.191]))
    >>> np.roots([1.0, kp[0] * 0.05**2 / 2 + kd[0] * 0.05 - 2, 1 + kp[0] * 0.05**2 / 2 - kd[0] * 0.05]).round(4)
    array([0.6065, 0.6065])
    """
    T = _check.positive(period, "period")
    if (bandwidth is None) == (poles is None):
        raise InputTypeError("give either bandwidth (with damping_ratio) or poles")
    kp, kd = pd_gains(bandwidth, damping_ratio) if poles is None else pd_gains_from_poles(poles)
    roots = np.array([np.roots([1.0, d, p]) for p, d in zip(kp, kd, strict=True)]).astype(complex)
    if np.abs(roots.imag).max() >= np.pi / T:
        fast = np.abs(roots.imag).max()
        raise InputError(
            f"poles with an imaginary part of {fast:.4g} rad/s cannot be told apart from slower ones at a period "
            f"of {T:g} s (at most {np.pi / T:.4g} rad/s). Sample faster, or ask for slower or better damped poles."
        )
    z = np.exp(roots * T)
    total, product = z.sum(axis=1).real, z.prod(axis=1).real
    return (1.0 - total + product) / T**2, (3.0 - total - product) / (2.0 * T)


def _rates(bandwidth: ArrayLike, damping_ratio: ArrayLike) -> tuple[Array, Array]:
    """Natural frequencies and damping ratios (k,) of all coordinates, checked."""
    w = np.atleast_1d(_check.numbers(bandwidth, "bandwidth"))
    z = np.atleast_1d(_check.numbers(damping_ratio, "damping_ratio"))
    if w.ndim != 1 or z.ndim != 1 or (w.size != z.size and 1 not in (w.size, z.size)):
        raise InputError(f"bandwidth and damping_ratio have different sizes, {w.shape} and {z.shape}")
    w, z = np.broadcast_arrays(w, z)
    if not (np.isfinite(w).all() and w.min() > 0.0 and np.isfinite(z).all() and z.min() > 0.0):
        raise InputError(f"bandwidth and damping_ratio must be > 0, got {bandwidth} and {damping_ratio}")
    return w.astype(float), z.astype(float)


def _pairs(poles: ArrayLike | Sequence[ArrayLike]) -> NDArray[np.complex128]:
    """Pairs of poles (k, 2), each real or conjugate, checked."""
    given = np.asarray(poles)
    if given.dtype.kind not in "fiuc":
        raise InputTypeError(f"the poles must be numbers, real or in conjugate pairs, got {_check.shown(poles)}")
    pairs = np.atleast_2d(given.astype(complex))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"give two poles for each coordinate, an array (k, 2), got shape {np.shape(poles)}")
    if not np.isfinite(pairs).all():
        raise InputError(f"the poles must be finite, got {pairs.tolist()}")
    for pair in pairs:
        if abs(pair[0].imag + pair[1].imag) > 1e-9 * abs(pair).max() or (
            abs(pair[0].imag) > 1e-9 * abs(pair).max() and abs(pair[0].real - pair[1].real) > 1e-9 * abs(pair).max()
        ):
            raise InputError(f"the poles {_listed(pair)} of a coordinate are neither both real nor conjugate")
    return pairs


def _listed(pair: NDArray[np.complex128]) -> str:
    return " and ".join(f"{p.real:.6g}" if p.imag == 0.0 else f"{p:.6g}" for p in pair)

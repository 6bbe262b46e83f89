"""Describing functions: what a characteristic is to a sine, over the amplitude."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..characteristics import Characteristic
from ..errors import InputError, InputTypeError

__all__ = ["describing_function"]

_EXACT = 1e-13  # relative error that the quadrature aims at
_ACCEPTED = 1e-9  # of a jump that is not where the motion turns: bisection finds it to less


def describing_function(
    element: Characteristic | Callable[[float, float], float],
    amplitude: ArrayLike,
    omega: float = 1.0,
    *,
    centre: float = 0.0,
) -> NDArray[np.complex128]:
    """Describing function N of an element: the fundamental of its force over that of its displacement.

    Under x = centre + A sin(omega t), N = (b + i a)/A with b, a = 2/T times the integrals of force(x, dx/dt) times
    sin, cos. A loop with a linear rest G oscillates at about the amplitude and frequency of G N = -1; in the balance of
    a forced oscillator N stands as a complex stiffness (harmonic balance).

    Parameters
    ----------
    element : Characteristic or callable
        ``force(x, rate)``: of a characteristic, or a function, such as a saturation.
    amplitude : array_like
        A, m or rad, above zero.
    omega : float
        Frequency, rad/s; matters where the force depends on the rate.
    centre : float
        Displacement around which it moves, m or rad.

    Returns
    -------
    ndarray of complex
        N/m or N m/rad, one for each amplitude, in their shape.

    Raises
    ------
    ValueError
        For amplitudes that are not above zero, and a force whose integral is not found to 1e-9.

    References
    ----------
    A. Gelb and W. E. Vander Velde, Multiple-Input Describing Functions and Nonlinear System Design, McGraw-Hill, 1968,
    chapter 2.

    Examples
    --------
    Coulomb friction of 3 N has 4 F/(pi A), a quarter turn ahead of the displacement:

    >>> N = describing_function(lambda x, rate: 3.0 * np.sign(rate), [0.1, 0.2])
    >>> N.round(6), (4.0 * 3.0 / (np.pi * np.array([0.1, 0.2]))).round(6)
    (array([0.+38.197186j, 0.+19.098593j]), array([38.197186, 19.098593]))
    """
    if not isinstance(element, Characteristic) and not callable(element):
        raise InputTypeError(
            f"element must be a Characteristic, such as Friction(2.0), or a function (x, rate), got "
            f"{_check.shown(element)}"
        )
    force: Callable[[float, float], Any] = element.force if isinstance(element, Characteristic) else element
    if force is element:
        _check.takes(force, "element", ("x", "rate"))
    omega, centre = _check.positive(omega, "omega"), _check.number(centre, "centre")
    sizes = _check.numbers(amplitude, "amplitude")
    if not (np.isfinite(sizes).all() and (sizes > 0.0).all()):
        raise InputError(f"amplitudes must be finite and above zero, got {_check.shown(sizes.tolist())}")
    found = np.array([_fundamental(force, float(A), omega, centre) / A for A in sizes.ravel()], dtype=np.complex128)
    return found.reshape(sizes.shape)


def _fundamental(force: Callable[[float, float], Any], A: float, omega: float, centre: float) -> complex:
    """Fundamental of the force, in phase (real) and ahead by a quarter turn (imaginary)."""
    from scipy.integrate import quad_vec

    def both(angle: float) -> NDArray[np.float64]:
        sine, cosine = np.sin(angle), np.cos(angle)
        f = float(force(centre + A * sine, A * omega * cosine))
        return np.array([f * sine, f * cosine, abs(f)])

    total, error = np.zeros(3), 0.0
    turns = 0.5 * np.pi * np.arange(-1.0, 4.0)  # where rate or displacement change sign, as forces jump there
    for begin, end in pairwise(turns):
        part, left = quad_vec(both, begin, end, epsabs=1e-300, epsrel=_EXACT, limit=2000)[:2]
        total, error = total + part, error + left
    if not error <= _ACCEPTED * total[2]:
        raise InputError(
            f"the integral of the force over a period of amplitude {A:.6g} is known to {error:.2g} of {total[2]:.6g} "
            "only; is the force finite, and the same at each call?"
        )
    return complex(total[0], total[1]) / np.pi

"""Single channels of a linear model, from one input to one output: zeros, poles, gain, and the phase that follows.

Phase is not unwrapped from samples, which cannot say on which side an undamped pole is passed: it is the sum of the
angles of all zeros and poles, each continuous in frequency. Roots on the imaginary axis count as slightly damped, in
the left half-plane: a pole turns the phase by -180 degrees, a zero by +180. So a machine without friction with its
motor and its sensor on the same joint alternates between 0 and -180 degrees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

__all__ = ["Channel", "channel"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_ZERO = 1e-9  # of the largest possible product: what is less is rounding of an entry that is zero
_SLOW = 1e-5  # rad/s: roots below are at the origin, as modes are (sqrt of the accuracy of A)
_UNDAMPED = 1e-6  # damping ratio below which a root is on the imaginary axis
_SAME = 1e-7  # relative distance of a zero and a pole that cancel: double roots are no more accurate


@dataclass(frozen=True, eq=False)
class Channel:
    """Channel from one input to one output: ``gain * prod(s - zeros) / prod(s - poles)``.

    Attributes
    ----------
    zeros, poles : ndarray of complex
        1/s, without those that cancel.
    gain : float
        Factor of the highest powers; 0 where the input does not act on the output.
    """

    zeros: Complex
    poles: Complex
    gain: float

    def features(self) -> Array:
        """Frequencies of zeros and poles, rad/s, without those at the origin."""
        size = np.abs(np.concatenate([self.zeros, self.poles]))
        return np.unique(size[size > _SLOW])

    def resonances(self) -> Array:
        """Frequencies (rad/s) of undamped zeros and poles, where the phase steps."""
        roots = np.concatenate([self.zeros, self.poles])
        return np.unique(np.abs(roots[_undamped(roots)]))

    def phase(self, omega: Array) -> Array:
        """Phase over frequency (rad/s), rad, continuous except for steps at undamped zeros and poles.

        Towards low frequency it is 0 for a positive gain and -pi for a negative one, less pi/2 for each integrator; by
        whole turns between -3/2 pi and 1/2 pi.
        """
        at_rest, integrators = np.sign(self.gain), 0
        for roots, sign in ((self.zeros, -1), (self.poles, 1)):
            far = roots[np.abs(roots) > _SLOW]
            at_rest *= np.sign(np.prod(-far / np.abs(far)).real)
            integrators += sign * (roots.size - far.size)
        quarters = (0 if at_rest >= 0.0 else -2) - integrators
        quarters = quarters if -3 <= quarters <= 1 else -(-quarters % 4)
        angle = np.full(omega.shape, 0.5 * np.pi * quarters)
        for roots, sign in ((self.zeros, 1), (self.poles, -1)):
            for root in roots[np.abs(roots) > _SLOW]:
                angle += sign * _turn(omega, root)
        return angle


def channel(A: Array, b: Array, c: Array, d: float) -> Channel:
    """Channel of ``dx/dt = A x + b u, y = c x + d u``.

    Zeros are the poles of what is left when the input holds the output at zero. With r the order of the first
    derivative of the output that the input acts on, these are the eigenvalues of ``A - b c A^r / (c A^(r-1) b)`` in the
    null space of ``c, c A, ..., c A^(r-1)``. No zeros at
    infinity appear, as they do with a pencil.

    Examples
    --------
    >>> A = np.array([[0.0, 1.0], [-4.0, 0.0]])
    >>> found = channel(A, np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.0)
    >>> found.zeros.size, np.abs(found.poles), found.gain
    (0, array([2., 2.]), 1.0)
    """
    n = len(A)
    rows: list[Array] = []
    ahead, gain = c.astype(float), float(d)
    # largest possible values of d and of c A^k b, of which rounding is a small part
    bound = np.abs(c) / (np.linalg.norm(A, 2) or 1.0)
    while abs(gain) <= _ZERO * float(bound @ np.abs(b)) or gain == 0.0:
        if len(rows) == n:
            return Channel(np.zeros(0, complex), np.zeros(0, complex), 0.0)
        gain, bound = float(ahead @ b), bound @ np.abs(A) if rows else np.abs(c)
        rows.append(ahead)
        ahead = ahead @ A
    poles = np.linalg.eigvals(A).astype(complex)
    feedback = A - np.outer(b, ahead) / gain
    if rows:
        stacked = np.array([row / (np.abs(row).max() or 1.0) for row in rows])
        basis = null_space(stacked, rcond=1e-12)
        feedback = basis.T @ feedback @ basis
    zeros = np.linalg.eigvals(feedback).astype(complex) if feedback.size else np.zeros(0, complex)
    zeros, poles = _left(zeros, poles)
    return Channel(zeros, poles, gain)


def _left(zeros: Complex, poles: Complex) -> tuple[Complex, Complex]:
    """Zeros and poles without pairs that cancel: modes that the input does not move, or the output does not show."""
    kept, left = [], list(poles)
    for zero in zeros:
        distance = np.abs(np.array(left) - zero) if left else np.array([np.inf])
        k = int(np.argmin(distance))
        if distance[k] <= max(_SAME * abs(zero), 0.1 * _SLOW):
            del left[k]
        else:
            kept.append(zero)
    return np.array(kept, complex), np.array(left, complex)


def _undamped(roots: Complex) -> NDArray[np.bool_]:
    """Mask of the roots on the imaginary axis, without those at the origin."""
    size = np.abs(roots)
    return (size > _SLOW) & (np.abs(roots.real) <= _UNDAMPED * size)


def _turn(omega: Array, root: complex) -> Array:
    """Angle of ``(j omega - root) / (-root)``, rad; continuous, with a step of pi at an undamped root."""
    if abs(root.real) <= _UNDAMPED * abs(root):  # of the pair, the upper one turns
        return np.where(root.imag > 0.0, np.pi * (omega > abs(root)), 0.0)
    # the line j omega - root keeps to one side of the imaginary axis: both angles are without a jump there
    side = 1.0 if root.real < 0.0 else -1.0
    here, start = (np.arctan2(side * (w - root.imag), abs(root.real)) for w in (omega, 0.0))
    return here - start

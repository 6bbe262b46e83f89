"""Operations on spatial vectors ``[angular; linear]`` in world axes at the world origin, and on rotations."""

from __future__ import annotations

import numpy as np

from .._jit import kernel

__all__ = [
    "cross_force",
    "cross_motion",
    "dot6",
    "quaternion_matrix",
    "rotate",
    "rotate_back",
    "screw_at",
    "sinc_terms",
    "transform_point",
]


@kernel
def dot6(a, b):
    """Power of wrench `b` on twist `a`."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def cross_motion(V, S, out):
    """out += V x S, the rate of a twist `S` that is carried along by `V`."""
    out[0] += V[1] * S[2] - V[2] * S[1]
    out[1] += V[2] * S[0] - V[0] * S[2]
    out[2] += V[0] * S[1] - V[1] * S[0]
    out[3] += V[1] * S[5] - V[2] * S[4] + V[4] * S[2] - V[5] * S[1]
    out[4] += V[2] * S[3] - V[0] * S[5] + V[5] * S[0] - V[3] * S[2]
    out[5] += V[0] * S[4] - V[1] * S[3] + V[3] * S[1] - V[4] * S[0]


@kernel
def cross_force(V, F, out):
    """out += V x* F, the rate of a wrench `F` that is carried along by `V`."""
    out[0] += V[1] * F[2] - V[2] * F[1] + V[4] * F[5] - V[5] * F[4]
    out[1] += V[2] * F[0] - V[0] * F[2] + V[5] * F[3] - V[3] * F[5]
    out[2] += V[0] * F[1] - V[1] * F[0] + V[3] * F[4] - V[4] * F[3]
    out[3] += V[1] * F[5] - V[2] * F[4]
    out[4] += V[2] * F[3] - V[0] * F[5]
    out[5] += V[0] * F[4] - V[1] * F[3]


@kernel
def rotate(R, x, out):
    """out = R x."""
    for i in range(3):
        out[i] = R[i, 0] * x[0] + R[i, 1] * x[1] + R[i, 2] * x[2]


@kernel
def rotate_back(R, x, out):
    """out = R'x."""
    for i in range(3):
        out[i] = R[0, i] * x[0] + R[1, i] * x[1] + R[2, i] * x[2]


@kernel
def screw_at(p, direction, out):
    """out = [p x direction; direction]: a force along `direction` through the point `p`."""
    out[0] = p[1] * direction[2] - p[2] * direction[1]
    out[1] = p[2] * direction[0] - p[0] * direction[2]
    out[2] = p[0] * direction[1] - p[1] * direction[0]
    for i in range(3):
        out[3 + i] = direction[i]


@kernel
def transform_point(R, p, x, out):
    """out = p + R x."""
    for i in range(3):
        out[i] = p[i] + R[i, 0] * x[0] + R[i, 1] * x[1] + R[i, 2] * x[2]


@kernel
def quaternion_matrix(w, x, y, z, R):
    """Rotation matrix of the quaternion (w, x, y, z), which need not have length one."""
    n = w * w + x * x + y * y + z * z
    s = 2.0 / n if n > 0.0 else 0.0
    R[0, 0] = 1.0 - s * (y * y + z * z)
    R[0, 1] = s * (x * y - w * z)
    R[0, 2] = s * (x * z + w * y)
    R[1, 0] = s * (x * y + w * z)
    R[1, 1] = 1.0 - s * (x * x + z * z)
    R[1, 2] = s * (y * z - w * x)
    R[2, 0] = s * (x * z - w * y)
    R[2, 1] = s * (y * z + w * x)
    R[2, 2] = 1.0 - s * (x * x + y * y)


SMALL = 1e-2  # angles squared below which series are used


@kernel
def sinc_terms(angle):
    """sin(a)/a, (1 - cos a)/a^2 and (a - sin a)/a^3 of an angle a, accurate for tiny angles, too."""
    a2 = angle * angle
    if a2 < SMALL:
        return sinc_series(a2)
    return sinc_closed(angle)


@kernel
def sinc_series(a2):
    """The three functions of `sinc_terms` by series, where a^2 < `SMALL` and the closed forms cancel."""
    return (
        1.0 - a2 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0))),
        0.5 - a2 / 24.0 * (1.0 - a2 / 30.0 * (1.0 - a2 / 56.0 * (1.0 - a2 / 90.0))),
        1.0 / 6.0 - a2 / 120.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0 * (1.0 - a2 / 110.0))),
    )


@kernel
def sinc_closed(angle):
    """The three functions of `sinc_terms` in closed form, for angles that are not small."""
    half = np.sin(0.5 * angle)
    return np.sin(angle) / angle, 2.0 * half * half / (angle * angle), (angle - np.sin(angle)) / (angle * angle * angle)

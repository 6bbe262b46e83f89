"""Motion of a frame on one link as seen from a frame on another: pose, Jacobian and bias acceleration."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .arrays import copy
from .spatial import cross_motion, rotate_back
from .tree import bias_accelerations, joint_screws, twists

__all__ = ["frame_motion", "frame_pose"]


@kernel(allocates=True)
def frame_pose(R, p, link, rotation, origin):
    """Rotation (3, 3) and origin (3,) in the world of a frame that is given on a link; link -1 is the ground."""
    turned, moved = rotation.copy(), origin.copy()
    if link >= 0:
        for i in range(3):
            moved[i] = p[link, i]
            for j in range(3):
                moved[i] += R[link, i, j] * origin[j]
                turned[i, j] = 0.0
                for k in range(3):
                    turned[i, j] += R[link, i, k] * rotation[k, j]
    return turned, moved


@kernel
def cross_at(w, x, out):
    """out += w x x, the velocity at x that an angular velocity w adds."""
    out[0] += w[1] * x[2] - w[2] * x[1]
    out[1] += w[2] * x[0] - w[0] * x[2]
    out[2] += w[0] * x[1] - w[1] * x[0]


@kernel(allocates=True)
def frame_motion(links, R, p, v, side, link, rotation, origin, other, other_rotation, other_origin):
    """Pose, Jacobian and bias acceleration of a frame on `link`, seen from a frame on `other` and in its axes.

    Parameters
    ----------
    links, R, p : kernel links, and their poses
    v : ndarray, shape (nv,)
    side : ndarray, shape (nv,)
        1 for coordinates that move the first link, -1 for those that move the second one, 0 for both or none.

    Returns
    -------
    place, turn : ndarray, shape (3,) and (3, 3)
        Origin and rotation of the first frame.
    J : ndarray, shape (6, nv)
        J v is the velocity of the origin, and the angular velocity.
    bias : ndarray, shape (6,)
        (dJ/dt) v.
    """
    n, nv = links.shape[0], v.shape[0]
    S, V, A = np.zeros((nv, 6)), np.empty((n, 6)), np.empty((n, 6))
    joint_screws(links, R, p, S)
    twists(links, S, v, V)
    bias_accelerations(links, S, v, V, A)
    R_frame, x = frame_pose(R, p, link, rotation, origin)
    R_other, y = frame_pose(R, p, other, other_rotation, other_origin)
    # twist of the body and its rate, as seen from the other frame
    carried, twist, seen, rate = np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6)
    for c in range(6):
        if other >= 0:
            carried[c] = V[other, c]
            twist[c] -= V[other, c]
            rate[c] -= A[other, c]
        if link >= 0:
            twist[c] += V[link, c]
            rate[c] += A[link, c]
    cross_motion(carried, twist, seen)
    for c in range(6):
        rate[c] -= seen[c]
    # screws through x: the point's own velocity
    J, bias, at = np.empty((6, nv)), np.empty(6), np.empty(3)
    for k in range(nv):
        copy(S[k, 3:], at)
        cross_at(S[k, :3], x, at)
        rotate_back(R_other, side[k] * at, J[:3, k])
        rotate_back(R_other, side[k] * S[k, :3], J[3:, k])
    velocity = twist[3:].copy()
    cross_at(twist[:3], x, velocity)
    copy(rate[3:], at)
    cross_at(rate[:3], x, at)
    cross_at(twist[:3], velocity, at)
    rotate_back(R_other, at, bias[:3])
    rotate_back(R_other, rate[:3], bias[3:])
    place, turn = np.empty(3), np.empty((3, 3))
    rotate_back(R_other, x - y, place)
    for j in range(3):
        rotate_back(R_other, R_frame[:, j], turn[:, j])
    return place, turn, J, bias

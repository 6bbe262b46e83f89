"""Motion of the links at a state, and of frames and cut joints on them, to first order.

The vectors U, X, Y of a velocity coordinate, and what they are for, are derived in `cmbcontrol.kernels.derivatives`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.derivatives import link_motion
from ..model.elements import Frame, Joint
from ..model.mechanism import Mechanism

__all__ = ["LinkMotion", "frame_jacobian", "motion"]

Array = NDArray[np.float64]

_STILL = np.zeros(6)
_NO_GRAVITY = np.zeros(3)  # coordinates do not feel the acceleration that stands for it
_NO_GRAVITY.flags.writeable = False


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Screws and twists of the links, in world axes at the world origin, ``[angular; linear]``.

    Attributes
    ----------
    plant : Mechanism
    q, v : ndarray
    S : ndarray, shape (nv, 6)
        Joint screws.
    V, acc : ndarray, shape (links, 6)
        Twists of the links and their rates.
    U, X, Y : ndarray, shape (nv, 6)
    """

    plant: Mechanism
    q: Array
    v: Array
    S: Array
    V: Array
    acc: Array
    U: Array
    X: Array
    Y: Array

    def path(self, body: str) -> NDArray[np.bool_]:
        """Mask (nv,) of the coordinates that move a body."""
        links = self.plant.arrays.links
        mask, i = np.zeros(self.plant.nv, dtype=bool), self.plant.link_index(body)
        while i >= 0:
            mask[links[i]["iv"] : links[i]["iv"] + links[i]["nv"]] = True
            i = links[i]["parent"]
        return mask

    def twist(self, body: str) -> tuple[Array, Array]:
        """Twist of a body and its rate, (6,) each."""
        i = self.plant.link_index(body)
        return (self.V[i], self.acc[i]) if i >= 0 else (_STILL, _STILL)

    def joint_rows(self, joint: Joint) -> tuple[Array, Array, Array, Array]:
        """Rate of a cut revolute or prismatic joint's coordinate, J (nv,), with d(Jv)/dq, d(Ja + J'v)/dq and d(J'v)/dv.

        The rate is g . (V_b - V_a) with a unit torque about the axis, or a unit force along it, fixed on body a. The
        derivatives are those of a constraint row with g' = V_a x* g, see `cmbcontrol.kernels.derivatives`.
        """
        pose = self.plant.pose(self.q, joint.parent) @ joint.frame
        torque, force = (pose.R @ axis for axis in joint.effort_axes())  # type: ignore[union-attr]
        g = np.concatenate([torque + np.cross(pose.p, force), force])
        V, acc = self.twist(joint.parent)
        g1 = _cross_force(V, g)
        g2 = _cross_force(acc, g) + _cross_force(V, g1)
        side = self.path(joint.child).astype(float) - self.path(joint.parent)
        return (
            side * (self.S @ g),
            side * (self.S @ g1 + self.U @ g),
            side * (self.S @ g2 + 2.0 * self.U @ g1 + self.X @ g),
            side * (2.0 * self.S @ g1 + self.Y @ g),
        )


def motion(plant: Mechanism, q: Array, v: Array, a: Array) -> LinkMotion:
    """Twists and accelerations of all links at a state."""
    S, V, acc, U, X, Y = link_motion(plant.arrays._replace(gravity=_NO_GRAVITY), q, v, a)
    return LinkMotion(plant, q, v, S, V, acc, U, X, Y)


def frame_jacobian(motion: LinkMotion, body: str, frame: Frame) -> tuple[Array, Array]:
    """Jacobian J and d(J v)/dq of a frame on a body, (6, nv) each: angular velocity, then velocity of its origin."""
    x, (V, _) = (motion.plant.pose(motion.q, body) @ frame).p, motion.twist(body)
    J, J_q = np.zeros((6, motion.plant.nv)), np.zeros((6, motion.plant.nv))
    for k in np.flatnonzero(motion.path(body)):
        J[:3, k] = motion.S[k, :3]
        J[3:, k] = motion.S[k, 3:] + np.cross(motion.S[k, :3], x)
        # the twist changes by S_k x V + U_k, and the point moves, too
        change = _cross_motion(motion.S[k], V) + motion.U[k]
        J_q[:3, k] = change[:3]
        J_q[3:, k] = change[3:] + np.cross(change[:3], x) + np.cross(V[:3], J[3:, k])
    return J, J_q


def _cross_motion(V: Array, S: Array) -> Array:
    """Cross products V x S of twists."""
    w1, w2, w3, x1, x2, x3 = V.tolist()  # numpy's cross takes twenty times as long for one pair
    a1, a2, a3, b1, b2, b3 = S.tolist()
    return np.array(
        [
            w2 * a3 - w3 * a2,
            w3 * a1 - w1 * a3,
            w1 * a2 - w2 * a1,
            (w2 * b3 - w3 * b2) + (x2 * a3 - x3 * a2),
            (w3 * b1 - w1 * b3) + (x3 * a1 - x1 * a3),
            (w1 * b2 - w2 * b1) + (x1 * a2 - x2 * a1),
        ]
    )


def _cross_force(V: Array, g: Array) -> Array:
    """Cross products V x* g of a twist and wrenches."""
    return np.concatenate([np.cross(V[:3], g[:3]) + np.cross(V[3:], g[3:]), np.cross(V[:3], g[3:])])

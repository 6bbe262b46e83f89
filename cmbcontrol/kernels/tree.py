"""Kinematics of the tree: poses, joint screws, twists, and steps of positions.

Joints are Lie subgroups, so their screws are constant in the child link's frame and velocities
are body-fixed on the joint. Positions: one number for revolute, prismatic and helical joints,
(angle, travel) cylindrical, (x, y, theta) planar, quaternion (w, x, y, z) spherical, and
quaternion followed by position for free. Velocities: (omega, v) cylindrical, (vx, vy, omega)
planar, (wx, wy, wz) spherical, (wx, wy, wz, vx, vy, vz) free.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, scratch
from .layout import CYLINDRICAL, FREE, HELICAL, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from .spatial import cross_motion, quaternion_matrix, sinc_terms

__all__ = [
    "bias_accelerations",
    "joint_pose",
    "joint_screws",
    "link_poses",
    "local_difference",
    "normalize",
    "off_unit",
    "position_rates",
    "retract",
    "twists",
]


@kernel
def joint_pose(kind, pitch, q, iq, R, p):
    """Pose (R, p) of the child link in the joint frame."""
    for i in range(3):
        p[i] = 0.0
        for j in range(3):
            R[i, j] = 1.0 if i == j else 0.0
    if kind == REVOLUTE or kind == HELICAL or kind == CYLINDRICAL or kind == PLANAR:
        angle = q[iq + 2] if kind == PLANAR else q[iq]
        c, s = np.cos(angle), np.sin(angle)
        R[0, 0], R[0, 1], R[1, 0], R[1, 1] = c, -s, s, c
        if kind == HELICAL:
            p[2] = pitch * angle
        elif kind == CYLINDRICAL:
            p[2] = q[iq + 1]
        elif kind == PLANAR:
            p[0], p[1] = q[iq], q[iq + 1]
    elif kind == PRISMATIC:
        p[2] = q[iq]
    elif kind == SPHERICAL or kind == FREE:
        quaternion_matrix(q[iq], q[iq + 1], q[iq + 2], q[iq + 3], R)
        if kind == FREE:
            p[0], p[1], p[2] = q[iq + 4], q[iq + 5], q[iq + 6]


@kernel
def link_poses(links, q, R, p):
    """World pose of every link: R (links, 3, 3) and p (links, 3)."""
    Rj = scratch((3, 3))
    pj = scratch(3)
    Rf = scratch((3, 3))
    for i in range(links.shape[0]):
        link = links[i]
        parent = link.parent
        joint_pose(link.kind, link.pitch, q, link.iq, Rj, pj)
        # the joint frame in the world
        for r in range(3):
            if parent < 0:
                p[i, r] = link.p[r]
                for c in range(3):
                    Rf[r, c] = link.R[r, c]
            else:
                p[i, r] = p[parent, r]
                for k in range(3):
                    p[i, r] += R[parent, r, k] * link.p[k]
                for c in range(3):
                    Rf[r, c] = (
                        R[parent, r, 0] * link.R[0, c] + R[parent, r, 1] * link.R[1, c] + R[parent, r, 2] * link.R[2, c]
                    )
        for r in range(3):
            for c in range(3):
                R[i, r, c] = Rf[r, 0] * Rj[0, c] + Rf[r, 1] * Rj[1, c] + Rf[r, 2] * Rj[2, c]
            p[i, r] += Rf[r, 0] * pj[0] + Rf[r, 1] * pj[1] + Rf[r, 2] * pj[2]


@kernel
def set_rotation_screw(R, p, axis, S):
    """S = rotation about column `axis` of R through p."""
    x, y, z = R[0, axis], R[1, axis], R[2, axis]
    S[0], S[1], S[2] = x, y, z
    S[3] = p[1] * z - p[2] * y
    S[4] = p[2] * x - p[0] * z
    S[5] = p[0] * y - p[1] * x


@kernel
def set_translation_screw(R, axis, S):
    """S = translation along column `axis` of R."""
    for i in range(3):
        S[i] = 0.0
        S[3 + i] = R[i, axis]


@kernel
def joint_screws(links, R, p, S):
    """World screw of every velocity coordinate, S (nv, 6)."""
    for i in range(links.shape[0]):
        kind, k = links[i].kind, links[i].iv
        if kind == REVOLUTE or kind == HELICAL or kind == CYLINDRICAL:
            set_rotation_screw(R[i], p[i], 2, S[k])
            if kind == HELICAL:
                for c in range(3):
                    S[k, 3 + c] += links[i].pitch * R[i, c, 2]
            elif kind == CYLINDRICAL:
                set_translation_screw(R[i], 2, S[k + 1])
        elif kind == PRISMATIC:
            set_translation_screw(R[i], 2, S[k])
        elif kind == PLANAR:
            set_translation_screw(R[i], 0, S[k])
            set_translation_screw(R[i], 1, S[k + 1])
            set_rotation_screw(R[i], p[i], 2, S[k + 2])
        elif kind == SPHERICAL or kind == FREE:
            for axis in range(3):
                set_rotation_screw(R[i], p[i], axis, S[k + axis])
                if kind == FREE:
                    set_translation_screw(R[i], axis, S[k + 3 + axis])


@kernel
def twists(links, S, v, V):
    """Twist of every link, V (links, 6): V_b = sum of S_k v_k over the path to b."""
    for i in range(links.shape[0]):
        parent = links[i].parent
        for c in range(6):
            V[i, c] = 0.0 if parent < 0 else V[parent, c]
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            for c in range(6):
                V[i, c] += S[k, c] * v[k]


@kernel
def bias_accelerations(links, S, v, V, A):
    """Spatial acceleration of every link at zero joint acceleration, A (links, 6).

    With dS_k/dt = V_b x S_k the rate of V_b = V_parent + sum S_k v_k is
    A_parent + V_b x (V_b - V_parent) = A_parent + V_parent x (V_b - V_parent).
    """
    own = scratch(6)
    for i in range(links.shape[0]):
        parent = links[i].parent
        for c in range(6):
            A[i, c] = 0.0 if parent < 0 else A[parent, c]
        if parent >= 0:
            for c in range(6):
                own[c] = V[i, c] - V[parent, c]
            cross_motion(V[parent], own, A[i])


@kernel
def quaternion_rates(q, iq, v, iv, qdot):
    """Rate of a quaternion under the body-fixed angular velocity v: q (0, v) / 2."""
    w, x, y, z = q[iq], q[iq + 1], q[iq + 2], q[iq + 3]
    a, b, c = v[iv], v[iv + 1], v[iv + 2]
    qdot[iq] = 0.5 * (-x * a - y * b - z * c)
    qdot[iq + 1] = 0.5 * (w * a + y * c - z * b)
    qdot[iq + 2] = 0.5 * (w * b + z * a - x * c)
    qdot[iq + 3] = 0.5 * (w * c + x * b - y * a)


@kernel
def position_rates(links, q, v, qdot):
    """dq/dt from the velocity coordinates v."""
    R = scratch((3, 3))
    for i in range(links.shape[0]):
        kind, iq, iv = links[i].kind, links[i].iq, links[i].iv
        if kind == PLANAR:
            c, s = np.cos(q[iq + 2]), np.sin(q[iq + 2])
            qdot[iq] = c * v[iv] - s * v[iv + 1]
            qdot[iq + 1] = s * v[iv] + c * v[iv + 1]
            qdot[iq + 2] = v[iv + 2]
        elif kind == SPHERICAL:
            quaternion_rates(q, iq, v, iv, qdot)
        elif kind == FREE:
            quaternion_rates(q, iq, v, iv, qdot)
            quaternion_matrix(q[iq], q[iq + 1], q[iq + 2], q[iq + 3], R)
            for r in range(3):
                qdot[iq + 4 + r] = R[r, 0] * v[iv + 3] + R[r, 1] * v[iv + 4] + R[r, 2] * v[iv + 5]
        else:
            for k in range(links[i].nv):
                qdot[iq + k] = v[iv + k]


@kernel
def normalize(links, q):
    """Bring the quaternions in q back to length one, in place."""
    for i in range(links.shape[0]):
        if links[i].kind == SPHERICAL or links[i].kind == FREE:
            iq = links[i].iq
            n = np.sqrt(q[iq] ** 2 + q[iq + 1] ** 2 + q[iq + 2] ** 2 + q[iq + 3] ** 2)
            for k in range(4):
                q[iq + k] /= n


@kernel
def off_unit(links, q):
    """Largest deviation from one among the squared lengths of the quaternions in q."""
    worst = 0.0
    for i in range(links.shape[0]):
        if links[i].kind == SPHERICAL or links[i].kind == FREE:
            iq = links[i].iq
            n = q[iq] ** 2 + q[iq + 1] ** 2 + q[iq + 2] ** 2 + q[iq + 3] ** 2
            worst = max(worst, abs(n - 1.0))
    return worst


@kernel
def retract_rotation(q, iq, delta, iv, out):
    """out = q * exp(delta / 2), the quaternion turned by the body-fixed rotation vector delta."""
    a, b, c = 0.5 * delta[iv], 0.5 * delta[iv + 1], 0.5 * delta[iv + 2]
    angle = np.sqrt(a * a + b * b + c * c)
    s, _, _ = sinc_terms(angle)
    d, a, b, c = np.cos(angle), s * a, s * b, s * c
    w, x, y, z = q[iq], q[iq + 1], q[iq + 2], q[iq + 3]
    out[iq] = w * d - x * a - y * b - z * c
    out[iq + 1] = w * a + x * d + y * c - z * b
    out[iq + 2] = w * b - x * c + y * d + z * a
    out[iq + 3] = w * c + x * b - y * a + z * d


@kernel
def retract(links, q, delta, out):
    """out = q [+] delta: move every joint along its own (body-fixed) exponential, delta (nv,)."""
    R = scratch((3, 3))
    t = scratch(3)
    for i in range(links.shape[0]):
        kind, iq, iv = links[i].kind, links[i].iq, links[i].iv
        if kind == PLANAR:
            vx, vy, turn = delta[iv], delta[iv + 1], delta[iv + 2]
            s1, s2, _ = sinc_terms(turn)
            # exp of se(2): translation V(turn) (vx, vy), V = [s1, -s2 turn; s2 turn, s1]
            tx = s1 * vx - s2 * turn * vy
            ty = s2 * turn * vx + s1 * vy
            c, s = np.cos(q[iq + 2]), np.sin(q[iq + 2])
            out[iq] = q[iq] + c * tx - s * ty
            out[iq + 1] = q[iq + 1] + s * tx + c * ty
            out[iq + 2] = q[iq + 2] + turn
        elif kind == SPHERICAL:
            retract_rotation(q, iq, delta, iv, out)
        elif kind == FREE:
            quaternion_matrix(q[iq], q[iq + 1], q[iq + 2], q[iq + 3], R)
            ox, oy, oz = delta[iv], delta[iv + 1], delta[iv + 2]
            vx, vy, vz = delta[iv + 3], delta[iv + 4], delta[iv + 5]
            _, s2, s3 = sinc_terms(np.sqrt(ox * ox + oy * oy + oz * oz))
            # exp of se(3): translation v + s2 w x v + s3 w x (w x v)
            cx, cy, cz = oy * vz - oz * vy, oz * vx - ox * vz, ox * vy - oy * vx
            t[0] = vx + s2 * cx + s3 * (oy * cz - oz * cy)
            t[1] = vy + s2 * cy + s3 * (oz * cx - ox * cz)
            t[2] = vz + s2 * cz + s3 * (ox * cy - oy * cx)
            for r in range(3):
                out[iq + 4 + r] = q[iq + 4 + r] + R[r, 0] * t[0] + R[r, 1] * t[1] + R[r, 2] * t[2]
            retract_rotation(q, iq, delta, iv, out)
        else:
            for k in range(links[i].nv):
                out[iq + k] = q[iq + k] + delta[iv + k]


@kernel
def rotation_difference(q0, q1, iq, out, iv):
    """out = log(q0^-1 q1), the shorter body-fixed rotation vector from q0 to q1."""
    w0, x0, y0, z0 = q0[iq], q0[iq + 1], q0[iq + 2], q0[iq + 3]
    w1, x1, y1, z1 = q1[iq], q1[iq + 1], q1[iq + 2], q1[iq + 3]
    w = w0 * w1 + x0 * x1 + y0 * y1 + z0 * z1
    a = w0 * x1 - x0 * w1 - y0 * z1 + z0 * y1
    b = w0 * y1 + x0 * z1 - y0 * w1 - z0 * x1
    c = w0 * z1 - x0 * y1 + y0 * x1 - z0 * w1
    if w < 0.0:
        w, a, b, c = -w, -a, -b, -c
    n = np.sqrt(a * a + b * b + c * c)
    factor = 2.0 * np.arctan2(n, w) / n if n > 1e-9 else 2.0 / w
    out[iv], out[iv + 1], out[iv + 2] = factor * a, factor * b, factor * c


@kernel
def local_difference(links, q0, q1, out):
    """out (nv,) = the displacement for which q0 [+] out = q1, joint by joint."""
    R = scratch((3, 3))
    d = scratch(3)
    for i in range(links.shape[0]):
        kind, iq, iv = links[i].kind, links[i].iq, links[i].iv
        if kind == PLANAR:
            turn = q1[iq + 2] - q0[iq + 2]
            c, s = np.cos(q0[iq + 2]), np.sin(q0[iq + 2])
            dx, dy = q1[iq] - q0[iq], q1[iq + 1] - q0[iq + 1]
            tx, ty = c * dx + s * dy, -s * dx + c * dy
            s1, s2, _ = sinc_terms(turn)
            a, b = s1, s2 * turn
            n = a * a + b * b
            out[iv], out[iv + 1], out[iv + 2] = (a * tx + b * ty) / n, (-b * tx + a * ty) / n, turn
        elif kind == SPHERICAL:
            rotation_difference(q0, q1, iq, out, iv)
        elif kind == FREE:
            rotation_difference(q0, q1, iq, out, iv)
            quaternion_matrix(q0[iq], q0[iq + 1], q0[iq + 2], q0[iq + 3], R)
            for r in range(3):
                d[r] = 0.0
                for k in range(3):
                    d[r] += R[k, r] * (q1[iq + 4 + k] - q0[iq + 4 + k])
            ox, oy, oz = out[iv], out[iv + 1], out[iv + 2]
            angle = np.sqrt(ox * ox + oy * oy + oz * oz)
            s1, s2, _ = sinc_terms(angle)
            # inverse of the translation part: d - w x d / 2 + s w x (w x d)
            a2 = angle * angle
            if angle > 0.1:
                factor = (1.0 - 0.5 * s1 / s2) / a2
            else:
                factor = 1.0 / 12.0 + a2 / 720.0 * (1.0 + a2 / 42.0 * (1.0 + a2 / 40.0))
            cx, cy, cz = oy * d[2] - oz * d[1], oz * d[0] - ox * d[2], ox * d[1] - oy * d[0]
            out[iv + 3] = d[0] - 0.5 * cx + factor * (oy * cz - oz * cy)
            out[iv + 4] = d[1] - 0.5 * cy + factor * (oz * cx - ox * cz)
            out[iv + 5] = d[2] - 0.5 * cz + factor * (ox * cy - oy * cx)
        else:
            for k in range(links[i].nv):
                out[iv + k] = q1[iq + k] - q0[iq + k]

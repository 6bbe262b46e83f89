"""Inertia of the tree: Newton-Euler forces, mass matrix by composite rigid bodies, inertia of rotors.

The inertia of a link in world axes at the world origin is ten numbers,
``[m, m c (3), J_xx, J_xy, J_xz, J_yy, J_yz, J_zz]``; those of a composite body are their plain sum.
"""

from __future__ import annotations

from .._jit import kernel, scratch
from .spatial import cross_force, dot6

__all__ = ["add_armature", "composite_inertia", "inertia_times", "newton_euler", "world_inertias"]


@kernel
def world_inertias(links, R, p, I):
    """I (links, 10) = inertia of each link in world axes at the world origin."""
    W = scratch((3, 3))
    for i in range(links.shape[0]):
        link = links[i]
        m = link.mass
        # centre of mass in the world; J = R Jc R' + m (|c|^2 1 - c c')
        x = p[i, 0] + R[i, 0, 0] * link.com[0] + R[i, 0, 1] * link.com[1] + R[i, 0, 2] * link.com[2]
        y = p[i, 1] + R[i, 1, 0] * link.com[0] + R[i, 1, 1] * link.com[1] + R[i, 1, 2] * link.com[2]
        z = p[i, 2] + R[i, 2, 0] * link.com[0] + R[i, 2, 1] * link.com[1] + R[i, 2, 2] * link.com[2]
        for r in range(3):
            for c in range(3):
                W[r, c] = (
                    R[i, r, 0] * link.inertia[0, c] + R[i, r, 1] * link.inertia[1, c] + R[i, r, 2] * link.inertia[2, c]
                )
        I[i, 0] = m
        I[i, 1], I[i, 2], I[i, 3] = m * x, m * y, m * z
        k = 4
        for r in range(3):
            for c in range(r, 3):
                I[i, k] = W[r, 0] * R[i, c, 0] + W[r, 1] * R[i, c, 1] + W[r, 2] * R[i, c, 2]
                k += 1
        I[i, 4] += m * (y * y + z * z)
        I[i, 5] -= m * x * y
        I[i, 6] -= m * x * z
        I[i, 7] += m * (x * x + z * z)
        I[i, 8] -= m * y * z
        I[i, 9] += m * (x * x + y * y)


@kernel
def inertia_times(I, V, out):
    """out += I V: angular momentum J w + mc x v about the origin, linear momentum m v + w x mc."""
    m, x, y, z = I[0], I[1], I[2], I[3]
    out[0] += I[4] * V[0] + I[5] * V[1] + I[6] * V[2] + y * V[5] - z * V[4]
    out[1] += I[5] * V[0] + I[7] * V[1] + I[8] * V[2] + z * V[3] - x * V[5]
    out[2] += I[6] * V[0] + I[8] * V[1] + I[9] * V[2] + x * V[4] - y * V[3]
    out[3] += m * V[3] + V[1] * z - V[2] * y
    out[4] += m * V[4] + V[2] * x - V[0] * z
    out[5] += m * V[5] + V[0] * y - V[1] * x


@kernel
def newton_euler(links, I, S, V, A, gravity, W, tau):
    """Joint forces that give the links the accelerations A (Newton-Euler, gravity included).

    V, A (links, 6) are twists and accelerations, W (links, 6) is overwritten by the wrench that
    crosses each joint, tau (nv,) is the result: S_k' W_b.
    """
    a = scratch(6)
    momentum = scratch(6)
    n = links.shape[0]
    for i in range(n):
        for c in range(3):
            a[c] = A[i, c]
            a[3 + c] = A[i, 3 + c] - gravity[c]
            momentum[c], momentum[3 + c] = 0.0, 0.0
        for c in range(6):
            W[i, c] = 0.0
        inertia_times(I[i], V[i], momentum)
        inertia_times(I[i], a, W[i])
        cross_force(V[i], momentum, W[i])
    for i in range(n - 1, -1, -1):
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            tau[k] = dot6(S[k], W[i])
        parent = links[i].parent
        if parent >= 0:
            for c in range(6):
                W[parent, c] += W[i, c]


@kernel
def composite_inertia(links, I, S, M):
    """Mass matrix M (nv, nv) by composite rigid bodies; I (links, 10) becomes the composites.

    Entries of joints on different limbs are not written: M has to be zero there before.
    """
    F = scratch(6)
    for i in range(links.shape[0] - 1, -1, -1):
        parent = links[i].parent
        if parent >= 0:
            for c in range(10):
                I[parent, c] += I[i, c]
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            F[:] = 0.0
            inertia_times(I[i], S[k], F)
            for l in range(links[i].iv, k + 1):
                M[k, l] = dot6(S[l], F)
                M[l, k] = M[k, l]
            j = parent
            while j >= 0:
                for l in range(links[j].iv, links[j].iv + links[j].nv):
                    M[k, l] = dot6(S[l], F)
                    M[l, k] = M[k, l]
                j = links[j].parent


@kernel
def add_armature(armature, M):
    """M += the inertia of rotors that turn with the joints."""
    for k in range(armature.shape[0]):
        M[k, k] += armature[k]

"""Inertia: Newton-Euler, composite rigid bodies, articulated bodies.

The inertia of a link in world axes at the world origin is ten numbers,
``[m, m c (3), J_xx, J_xy, J_xz, J_yy, J_yz, J_zz]``; those of a composite body are their plain sum.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, scratch
from .spatial import cross_force, dot6

__all__ = ["articulated_body", "composite_inertia", "inertia_times", "newton_euler", "world_inertias"]


@kernel
def world_inertias(links, R, p, I):
    """I (links, 10): each link's inertia in world axes at the world origin."""
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
    """Mass matrix M (nv, nv) by composite rigid bodies; I (links, 10) becomes the composites."""
    F = scratch(6)
    M[:] = 0.0
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
def unpack_inertia(I, X):
    """X (6, 6) = the ten numbers of I as a spatial inertia [J, mc x; (mc x)', m 1]."""
    X[:] = 0.0
    X[0, 0], X[0, 1], X[0, 2] = I[4], I[5], I[6]
    X[1, 0], X[1, 1], X[1, 2] = I[5], I[7], I[8]
    X[2, 0], X[2, 1], X[2, 2] = I[6], I[8], I[9]
    X[0, 4], X[0, 5] = -I[3], I[2]
    X[1, 3], X[1, 5] = I[3], -I[1]
    X[2, 3], X[2, 4] = -I[2], I[1]
    for r in range(3):
        X[3 + r, 3 + r] = I[0]
        for c in range(3):
            X[3 + c, r] = X[r, 3 + c]


@kernel
def solve_small(D, B, n):
    """Solve D X = B in place for a symmetric positive definite D (n, n); False if it is not."""
    for i in range(n):
        for j in range(i + 1):
            s = D[i, j]
            for k in range(j):
                s -= D[i, k] * D[j, k]
            if i == j:
                if not s > 0.0:
                    return False
                D[i, i] = np.sqrt(s)
            else:
                D[i, j] = s / D[j, j]
    for c in range(B.shape[1]):
        for i in range(n):
            for k in range(i):
                B[i, c] -= D[i, k] * B[k, c]
            B[i, c] /= D[i, i]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                B[i, c] -= D[k, i] * B[k, c]
            B[i, c] /= D[i, i]
    return True


@kernel(allocates=True)
def articulated_body(links, I, S, V, A0, gravity, f, vdot):
    """Acceleration vdot (nv,) of the open tree under joint forces f (articulated bodies, O(n)).

    A0 (links, 6) are the bias accelerations, whose own part c_b = A0_b - A0_parent is all that is
    needed. Returns False where a joint has no inertia to move.
    """
    n = links.shape[0]
    X = np.empty((n, 6, 6))  # articulated inertia
    P = np.zeros((n, 6))  # its bias wrench
    U = np.empty((vdot.shape[0], 6))  # X S_k
    T = np.empty((vdot.shape[0], 7))  # D^-1 [U', f - S'p]
    D = scratch((6, 6))
    B = scratch((6, 7))
    momentum = scratch(6)
    own = scratch(6)
    A = np.empty((n, 6))
    for i in range(n):
        unpack_inertia(I[i], X[i])
        momentum[:] = 0.0
        inertia_times(I[i], V[i], momentum)
        cross_force(V[i], momentum, P[i])
    for i in range(n - 1, -1, -1):
        parent, iv, nv = links[i].parent, links[i].iv, links[i].nv
        for c in range(6):
            own[c] = A0[i, c] - (A0[parent, c] if parent >= 0 else 0.0)
        for k in range(iv, iv + nv):
            for r in range(6):
                U[k, r] = 0.0
                for c in range(6):
                    U[k, r] += X[i, r, c] * S[k, c]
        for k in range(nv):
            for l in range(nv):
                D[k, l] = dot6(S[iv + k], U[iv + l])
            for c in range(6):
                B[k, c] = U[iv + k, c]
            B[k, 6] = f[iv + k] - dot6(S[iv + k], P[i]) - dot6(U[iv + k], own)
        if not solve_small(D, B, nv):
            return False
        for k in range(nv):
            for c in range(7):
                T[iv + k, c] = B[k, c]
        if parent >= 0:
            for r in range(6):
                P[parent, r] += P[i, r]
                for c in range(6):
                    P[parent, r] += X[i, r, c] * own[c]
                    X[parent, r, c] += X[i, r, c]
                for k in range(iv, iv + nv):
                    P[parent, r] += U[k, r] * T[k, 6]
                    for c in range(6):
                        X[parent, r, c] -= U[k, r] * T[k, c]
    for i in range(n):
        parent, iv, nv = links[i].parent, links[i].iv, links[i].nv
        for c in range(6):
            if parent >= 0:
                A[i, c] = A[parent, c]
            else:
                A[i, c] = 0.0 if c < 3 else -gravity[c - 3]
        for k in range(iv, iv + nv):
            vdot[k] = T[k, 6]
            for c in range(6):
                vdot[k] -= T[k, c] * A[i, c]
        for c in range(6):
            A[i, c] += A0[i, c] - (A0[parent, c] if parent >= 0 else 0.0)
            for k in range(iv, iv + nv):
                A[i, c] += S[k, c] * vdot[k]
    return True

"""Centre of mass and momentum of some links as maps of the velocities, and their rates at constant velocities."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .inertia import inertia_times, world_inertias
from .spatial import cross_force
from .tree import bias_accelerations, joint_screws, twists

__all__ = ["centroidal_motion"]


@kernel(allocates=True)
def centroidal_motion(links, R, p, v):
    """Centre of mass of some links, and Jacobian and bias of the momentum about it, in world axes.

    Parameters
    ----------
    links, R, p : kernel links, and their poses
        Those that do not count are without mass and inertia.
    v : ndarray, shape (nv,)

    Returns
    -------
    mass : float
    centre : ndarray, shape (3,)
    J : ndarray, shape (6, nv)
        J v is the angular momentum about the centre, and the linear momentum.
    bias : ndarray, shape (6,)
        (dJ/dt) v.
    """
    n, nv = links.shape[0], v.shape[0]
    S, V, A, I = np.zeros((nv, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 10))
    joint_screws(links, R, p, S)
    twists(links, S, v, V)
    bias_accelerations(links, S, v, V, A)
    world_inertias(links, R, p, I)
    J, bias, momentum, rate = np.zeros((6, nv)), np.zeros(6), np.zeros(6), np.zeros(6)
    for i in range(n):  # before inertias are added up
        momentum[:] = 0.0
        inertia_times(I[i], V[i], momentum)
        inertia_times(I[i], A[i], rate)
        cross_force(V[i], momentum, rate)
    whole = np.zeros(10)
    for i in range(n - 1, -1, -1):
        parent = links[i].parent
        for c in range(10):
            if parent >= 0:
                I[parent, c] += I[i, c]
            else:
                whole[c] += I[i, c]
        for k in range(links[i].iv, links[i].iv + links[i].nv):
            momentum[:] = 0.0
            inertia_times(I[i], S[k], momentum)
            J[:, k] = momentum
    bias[:] = rate
    mass, centre = whole[0], np.zeros(3)
    for c in range(3):
        centre[c] = whole[1 + c] / mass
    # from the origin to the centre, which moves along the linear momentum: L - c x l, with the rate L' - c x l'
    x, y, z = centre[0], centre[1], centre[2]
    for k in range(nv):
        J[0, k] -= y * J[5, k] - z * J[4, k]
        J[1, k] -= z * J[3, k] - x * J[5, k]
        J[2, k] -= x * J[4, k] - y * J[3, k]
    bias[0] -= y * bias[5] - z * bias[4]
    bias[1] -= z * bias[3] - x * bias[5]
    bias[2] -= x * bias[4] - y * bias[3]
    return mass, centre, J, bias

"""Spencer's recursive linearization of closed chains, in plain numpy: the legible reference for the kernels.

One module, as long as the chapter that it follows: it is read beside the thesis, section by section.

E. L. Spencer, *Applications of the local state-space form of constrained mechanical systems in multibody
dynamics and robotics*, thesis, Iowa State University 2004, chapter 4 and appendices A and B. Link {i} has the
parent P_i, the children C_i and the subtree T_i; it moves as f_{P_i,i}(q_i) = M_i g_i(q_i) in SE(3), with the screw
S_i of its joint, its inertia I_i and its body-fixed velocity V_i = (angular, linear), all in the axes and at the
origin of {i}. ``Ad`` and ``ad`` are the 6 x 6 matrices of section A.1.4; his dual operators Ad* and ad* are their
transposes. Links are those of ``plant.arrays.links``: one a joint, two for a universal joint.

How this module differs from the thesis
---------------------------------------
*Joints with several axes.* All joints here are Lie subgroups, so S_i (6 x n_i) is constant in {i} and his dS_i/dt
is zero (section A.2.7). Positions move by q [+] delta, which is f_{P_i,i} exp(S_i delta_i): derivatives "with
respect to q" are with respect to delta. His identities hold column by column, but ad_{S_i}(S_i v_i) = 0 (section 4.3)
no longer does. So the motion that the joint itself adds is taken out: Ad_{f^-1} V_P stands where he has V_i,
and Ad_{f^-1} J_P where he has J_i.

*The bracket of the joints.* Along a motion d(delta)/dt = dv - ad_v delta, joint by joint (`joint_bracket`; zero for
joints with one axis and cylindrical ones), and second derivatives of the loops are not symmetric. The variation of
phi_dot = G v and phi_ddot = G a + G_dot v, compared with the rates of that of phi, G delta, for any delta(t), gives

    d(G v)/dq       = G_dot - G ad_v,
    d(G_dot v)/dv   = 2 G_dot - G ad_v,
    d(G a + G_dot v)/dq = G_ddot - 2 G_dot ad_v + G ad_v ad_v - G ad_a.

In his chapter K_dot is two things: the rate of K along the motion, and dv/dy. Here only the first is K_dot;
dv/dy is N, and da/dy, his K_ddot, is L (see `local_state_space`). For joints with one axis N = K_dot and L = K_ddot.

*Loops.* In place of virtual links, with constant matrices A and E in G = A J and (4.11), every row has a wrench gamma
on link b, in b's axes, with G = gamma' J_ab: J_ab is the Jacobian of b's velocity relative to a. The wrench depends
on the pose of b relative to a, and the product rule has its terms. Couplings are constant rows.

*Forces.* tau_NE holds inertia and weight, as his does. Motors, springs, dampers and joint friction are the external
forces tau(q, v) = B(q) u - ... of appendix B, which there depend on time only; their derivatives are added.

Misprints of the thesis
-----------------------
* Section 4.4.1, second rate of the Jacobians: the last two terms are - ad_{S v} Ad_{f^-1} J_P_dot - ad_{S v_dot} J_i
  (printed with v_dot and v_ddot).
* (B.5): K' is missing; A22 = -(K'MK)^-1 K'(dtau_NE/dv K + 2 M K_dot).
* Section 4.3 and A.3: the force of a link has ad*_{V_i} I_i V_i (printed ad* of the rate of V_i).
* Section A.1.4: the lower right block of Ad_G under the transpose that defines Ad*_G is R (printed R').
* Section A.1.3: the last term of the exponential's linear part is divided by the cube of |w| (printed: square).
* Section A.3.3: the rate K_dot y_v has a minus, as in (2.45).
* Section 4.4: where E is not the identity, the derivatives of K take the whole of [R_q; A J]^-1 [1; 0] on the right,
  not its rows K = E(...) alone, and dK/dy sums over the virtual coordinates too. Without virtual links this is moot.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError, ModelError
from ..kernels import layout
from ..model.mechanism import Mechanism

__all__ = [
    "Ad",
    "Constraints",
    "ExternalForces",
    "Jacobians",
    "LocalStateSpace",
    "NullSpace",
    "acceleration",
    "ad",
    "articulated_body",
    "composite_rigid_body",
    "constraints",
    "exponential",
    "external_forces",
    "jacobians",
    "joint_bracket",
    "local_state_space",
    "mass_matrix",
    "null_space",
    "tau_NE",
    "tau_NE_q",
    "tau_NE_v",
]

Array = NDArray[np.float64]

_INDEPENDENT = 1e-10  # smallest over largest singular value of [R; G]
_CONSISTENT = 1e-6  # largest residual of [R; G] X = [0; ...], relative to its terms


# -- SE(3) and se(3), section A.1 -------------------------------------------------------------------


def _skew(w: Array) -> Array:
    """Matrix [w] (3, 3) of the cross product with w."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _pose(R: Array, p: Array) -> Array:
    """Element (R, p) of SE(3) as a 4 x 4 matrix."""
    G = np.eye(4)
    G[:3, :3], G[:3, 3] = R, p
    return G


def _inverse(G: Array) -> Array:
    """Inverse G^-1 in SE(3)."""
    R, p = G[:3, :3], G[:3, 3]
    return _pose(R.T, -R.T @ p)


def exponential(g: ArrayLike) -> Array:
    """Exponential map se(3) -> SE(3), g (6,) to a 4 x 4 matrix (section A.1.3, with the misprint corrected).

    Examples
    --------
    >>> exponential([0.0, 0.0, np.pi, 0.0, 0.0, 2.0]).round(12)[:, 3]
    array([0., 0., 2., 1.])
    """
    g = _check.vector(g, 6, "an element of se(3)")
    W, v, angle = _skew(g[:3]), g[3:], float(np.linalg.norm(g[:3]))
    a = np.sinc(angle / np.pi)
    b = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    c = (1.0 - a) / angle**2 if angle > 0.0 else 1.0 / 6.0
    return _pose(np.eye(3) + a * W + b * W @ W, (np.eye(3) + b * W + c * W @ W) @ v)


def _quarters(a: Array | float, b: Array | float, c: Array | float, d: Array | float) -> Array:
    """Block matrix [[a, b], [c, d]] (6, 6); numpy's block takes ten times as long for it."""
    out = np.empty((6, 6))
    out[:3, :3], out[:3, 3:], out[3:, :3], out[3:, 3:] = a, b, c, d
    return out


def Ad(G: Array) -> Array:
    """Adjoint Ad_G (6, 6) of a 4 x 4 matrix G of SE(3); the dual Ad*_G is its transpose (section A.1.4).

    Examples
    --------
    >>> Ad(np.eye(4)).trace()
    np.float64(6.0)
    """
    R, p = G[:3, :3], G[:3, 3]
    return _quarters(R, 0.0, _skew(p) @ R, R)


def ad(g: Array) -> Array:
    """Matrix ad_g (6, 6) of the Lie bracket with g (6,); the dual ad*_g is its transpose (section A.1.4).

    Examples
    --------
    >>> ad(np.eye(6)[0]) @ np.eye(6)[1]
    array([0., 0., 1., 0., 0., 0.])
    """
    w = _skew(g[:3])
    return _quarters(w, 0.0, _skew(g[3:]), w)


def _dual(F: Array) -> Array:
    """Matrix with _dual(F) x = ad*_x F: the dual bracket as a function of its first argument."""
    f = _skew(F[3:])
    return _quarters(_skew(F[:3]), f, f, 0.0)


# -- description of the machine, section A.2 ----------------------------------------------------------


def _screws(link: np.void) -> Array:
    """Screws S_i (6, n_i) of a joint, in the axes of {i}; one-axis joints move about or along z (section A.2.3)."""
    e = np.eye(6)
    match int(link["kind"]):
        case layout.REVOLUTE:
            return e[:, [2]]
        case layout.PRISMATIC:
            return e[:, [5]]
        case layout.HELICAL:
            return e[:, [2]] + float(link["pitch"]) * e[:, [5]]
        case layout.CYLINDRICAL:
            return e[:, [2, 5]]
        case layout.PLANAR:
            return e[:, [3, 4, 2]]
        case layout.SPHERICAL:
            return e[:, :3]
        case layout.FREE:
            return e
    return e[:, :0]


def _joint_motion(link: np.void, S: Array, x: Array) -> Array:
    """Pose g_i(q_i) of {i} in the frame of its joint, at the joint's positions x."""
    match int(link["kind"]):
        case layout.PLANAR:  # translation, then rotation
            return exponential(S[:, :2] @ x[:2]) @ exponential(S[:, 2] * x[2])
        case layout.SPHERICAL | layout.FREE:
            W = _skew(x[1:4])
            turn = np.eye(3) + 2.0 * (x[0] * W + W @ W) / (x[:4] @ x[:4])
            return _pose(turn, x[4:] if x.size > 4 else np.zeros(3))
    return exponential(S @ x)  # the axes of a cylindrical joint commute


def _inertia(link: np.void) -> Array:
    """Inertia I_i (6, 6) of a link at the origin of {i} (section A.2.4)."""
    m, c = float(link["mass"]), _skew(link["com"])
    return np.block([[link["inertia"] - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


class _Tree:
    """Open chain at a configuration: pointers, screws and poses. The ground is link -1, the last of each array."""

    def __init__(self, plant: Mechanism, q: ArrayLike) -> None:
        if not isinstance(plant, Mechanism):
            raise InputTypeError(f"Spencer's recursions need the bodies of a Mechanism, got {type(plant).__name__}")
        known = {"loads": plant.loads, "force elements": plant.forces, "armature": plant.arrays.armature.any()}
        for part in (part for part, given in known.items() if given):
            raise InputError(f"Spencer's recursions know no {part}, which {plant.name!r} has; use plant.terms(q, v)")
        q = _check.vector(q, plant.nq, "q", plant.position_names)
        links = plant.arrays.links
        self.plant, self.q, self.nv = plant, q, plant.nv
        self.n = len(links)
        self.P = [int(link["parent"]) for link in links]
        self.own = [slice(int(link["iv"]), int(link["iv"] + link["nv"])) for link in links]
        self.S = [_screws(link) for link in links]
        self.I = [_inertia(link) for link in links]
        self.f = [
            _pose(link["R"], link["p"]) @ _joint_motion(link, S, q[link["iq"] : link["iq"] + link["nq"]])
            for link, S in zip(links, self.S, strict=True)
        ]
        self.Ad = [Ad(_inverse(f)) for f in self.f]  # Ad_{f_{P_i,i}^-1}

    @cached_property
    def poses(self) -> Array:
        """Poses f_{0,i} of the links and the ground (links + 1, 4, 4)."""
        T = np.tile(np.eye(4), (self.n + 1, 1, 1))
        for i in range(self.n):
            T[i] = T[self.P[i]] @ self.f[i]
        return T

    def zeros(self, *shape: int) -> Array:
        """Array of zeros with one entry for each link, and one for the ground."""
        return np.zeros((self.n + 1, *shape))


@overload
def _chain(plant: Mechanism, q: ArrayLike, *, v: ArrayLike | None) -> tuple[_Tree, Array]: ...
@overload
def _chain(
    plant: Mechanism, q: ArrayLike, *, v: ArrayLike | None, a: ArrayLike | None
) -> tuple[_Tree, Array, Array]: ...
@overload
def _chain(plant: Mechanism, q: ArrayLike, *, v: ArrayLike, tau: ArrayLike) -> tuple[_Tree, Array, Array]: ...
def _chain(plant: Mechanism, q: ArrayLike, **rates: Any) -> tuple[Any, ...]:
    """Tree of a plant at q, and v=, a=, ... as checked vectors (nv,), zero where None."""
    tree = _Tree(plant, q)
    return tree, *(
        np.zeros(tree.nv) if x is None else _check.vector(x, tree.nv, name, plant.velocity_names)
        for name, x in rates.items()
    )


def joint_bracket(plant: Mechanism, v: ArrayLike) -> Array:
    """Bracket ad_v (nv, nv) of the joints: S_i (ad_v x)_i = ad_{S_i v_i} S_i x_i, joint by joint.

    Parameters
    ----------
    plant : Mechanism
    v : array_like, shape (nv,)
        Velocities, body-fixed on each joint.

    Returns
    -------
    ad_v : ndarray, shape (nv, nv)
        Zero for joints with one axis, for cylindrical ones and for universal ones (two joints with one axis).

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> bool(joint_bracket(plant, np.ones(4)).any())
    False
    """
    tree, v = _chain(plant, plant.neutral(), v=v)
    out = np.zeros((tree.nv, tree.nv))
    for S, own in zip(tree.S, tree.own, strict=True):
        out[own, own] = np.linalg.pinv(S) @ ad(S @ v[own]) @ S
    return out


# -- Newton-Euler, sections 4.3 and A.3 -----------------------------------------------------------------


class _Motion(NamedTuple):
    """Result of the forward recursion: V_i, its rate, and both without the motion of joint i; (links + 1, 6) each."""

    V: Array
    V_dot: Array
    carried: Array  # Ad_{f^-1} V_P
    carried_dot: Array  # Ad_{f^-1} V_P_dot


def _forward(tree: _Tree, v: Array, a: Array, gravity: Array) -> _Motion:
    """Motion by V_i = Ad V_P + S_i v_i and its rate Ad V_P_dot + S_i a_i - ad_{S_i v_i} Ad V_P; the ground has -g."""
    V, V_dot, carried, carried_dot = (tree.zeros(6) for _ in range(4))
    V_dot[-1, 3:] = -gravity
    for i, (P, S, own) in enumerate(zip(tree.P, tree.S, tree.own, strict=True)):
        carried[i], carried_dot[i] = tree.Ad[i] @ V[P], tree.Ad[i] @ V_dot[P]
        V[i] = carried[i] + S @ v[own]
        V_dot[i] = carried_dot[i] + S @ a[own] - ad(S @ v[own]) @ V[i]
    return _Motion(V, V_dot, carried, carried_dot)


def _backward(tree: _Tree, move: _Motion) -> tuple[Array, Array]:
    """Forces F_i = sum Ad*_{f^-1} F_k + I_i V_i_dot - ad*_{V_i} I_i V_i, and tau_i = S_i' F_i."""
    F, tau = tree.zeros(6), np.zeros(tree.nv)
    for i in reversed(range(tree.n)):
        I, V = tree.I[i], move.V[i]
        F[i] += I @ move.V_dot[i] - ad(V).T @ I @ V
        F[tree.P[i]] += tree.Ad[i].T @ F[i]
        tau[tree.own[i]] = tree.S[i].T @ F[i]
    return F, tau


def tau_NE(plant: Mechanism, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Newton-Euler algorithm, tau_NE(q, v, a) = M(q) a - F(q, v): inertia and weight (Spencer, eq. 4.9, section A.3).

    Parameters
    ----------
    plant : Mechanism
    q, v, a : array_like, shape (nq,), (nv,) and (nv,)
        Positions, velocities and accelerations of the open chain.

    Returns
    -------
    tau : ndarray, shape (nv,)
        Joint forces, N or N m. Springs, friction and motors are in `external_forces`.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> tau_NE(plants.pendulum(), np.zeros(3), np.zeros(3), np.zeros(3)).round(3)
    array([0.  , 9.81, 0.  ])
    """
    tree, v, a = _chain(plant, q, v=v, a=a)
    return _backward(tree, _forward(tree, v, a, plant.gravity))[1]


def tau_NE_q(plant: Mechanism, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Derivative d tau_NE / dq (nv, nv), with respect to q [+] delta (Spencer, section 4.3, first algorithm).

    Where he has - ad_{S_j} V_j for the joint's own derivative, here is ad_{Ad V_P} S_j, all columns of the joint at
    once. For one axis both are the same.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> tau_NE_q(plants.five_bar(), np.zeros(4), np.ones(4), np.ones(4)).shape
    (4, 4)
    """
    tree, v, a = _chain(plant, q, v=v, a=a)
    move = _forward(tree, v, a, plant.gravity)
    F, _ = _backward(tree, move)
    V_q, V_dot_q, F_q = (tree.zeros(6, tree.nv) for _ in range(3))
    for i, (P, S, own) in enumerate(zip(tree.P, tree.S, tree.own, strict=True)):
        V_q[i], V_dot_q[i] = tree.Ad[i] @ V_q[P], tree.Ad[i] @ V_dot_q[P]
        V_q[i][:, own] += ad(move.carried[i]) @ S
        V_dot_q[i][:, own] += ad(move.carried_dot[i]) @ S
        V_dot_q[i] -= ad(S @ v[own]) @ V_q[i]
    out = np.zeros((tree.nv, tree.nv))
    for i in reversed(range(tree.n)):
        P, S, own = tree.P[i], tree.S[i], tree.own[i]
        F_q[i] += _force_derivative(tree.I[i], move.V[i], V_q[i], V_dot_q[i])
        F_q[P] += tree.Ad[i].T @ F_q[i]
        F_q[P][:, own] -= tree.Ad[i].T @ _dual(F[i]) @ S  # - Ad*_{f^-1} ad*_{S_i} F_i
        out[own] = S.T @ F_q[i]
    return out


def tau_NE_v(plant: Mechanism, q: ArrayLike, v: ArrayLike) -> Array:
    """Derivative d tau_NE / dv (nv, nv) (Spencer, section 4.3, second algorithm); it does not depend on a.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> bool(tau_NE_v(plants.five_bar(), np.ones(4), np.zeros(4)).any())
    False
    """
    tree, v = _chain(plant, q, v=v)
    move = _forward(tree, v, np.zeros(tree.nv), plant.gravity)
    V_v, V_dot_v, F_v = (tree.zeros(6, tree.nv) for _ in range(3))
    for i, (P, S, own) in enumerate(zip(tree.P, tree.S, tree.own, strict=True)):
        V_v[i], V_dot_v[i] = tree.Ad[i] @ V_v[P], tree.Ad[i] @ V_dot_v[P]
        V_v[i][:, own] += S
        V_dot_v[i][:, own] += ad(move.V[i]) @ S
        V_dot_v[i] -= ad(S @ v[own]) @ V_v[i]
    out = np.zeros((tree.nv, tree.nv))
    for i in reversed(range(tree.n)):
        F_v[i] += _force_derivative(tree.I[i], move.V[i], V_v[i], V_dot_v[i])
        F_v[tree.P[i]] += tree.Ad[i].T @ F_v[i]
        out[tree.own[i]] = tree.S[i].T @ F_v[i]
    return out


def _force_derivative(I: Array, V: Array, dV: Array, dV_dot: Array) -> Array:
    """Derivative of a link's force, I dV_dot - ad*_{dV} I V - ad*_V I dV, column by column."""
    return I @ dV_dot - _dual(I @ V) @ dV - ad(V).T @ I @ dV


def mass_matrix(plant: Mechanism, q: ArrayLike) -> Array:
    """Mass matrix M (nv, nv) from Newton-Euler: columns tau_NE(q, 0, e_i) without weight (Spencer, below eq. A.6).

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> mass_matrix(plants.pendulum(), np.zeros(3)).diagonal().round(3)
    array([1.   , 1.   , 0.083])
    """
    tree, rest = _chain(plant, q, v=None)
    columns = [_backward(tree, _forward(tree, rest, e, np.zeros(3)))[1] for e in np.eye(tree.nv)]
    return np.array(columns).reshape(tree.nv, tree.nv).T


def composite_rigid_body(plant: Mechanism, q: ArrayLike) -> Array:
    """Mass matrix M (nv, nv) by the Composite-Rigid-Body algorithm (Spencer, section A.3.4).

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> bool(np.allclose(composite_rigid_body(plant, np.ones(4)), mass_matrix(plant, np.ones(4))))
    True
    """
    tree = _Tree(plant, q)
    M, composite = np.zeros((tree.nv, tree.nv)), [*tree.I, np.zeros((6, 6))]
    for j in reversed(range(tree.n)):
        force, i = composite[j] @ tree.S[j], j  # I^c_j S_j, carried from {j} to each link below it
        M[tree.own[j], tree.own[j]] = tree.S[j].T @ force
        while tree.P[i] >= 0:
            force, i = tree.Ad[i].T @ force, tree.P[i]
            M[tree.own[i], tree.own[j]] = tree.S[i].T @ force
            M[tree.own[j], tree.own[i]] = force.T @ tree.S[i]
        composite[tree.P[j]] = composite[tree.P[j]] + tree.Ad[j].T @ composite[j] @ tree.Ad[j]
    return M


def articulated_body(plant: Mechanism, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
    """Acceleration (nv,) of the open chain under joint forces tau (nv,): Articulated-Body (Spencer, section A.3.4).

    The inverse of `tau_NE` in its last argument. Weight enters as an acceleration of the ground.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant, q, v = plants.pendulum(), np.ones(3), np.ones(3)
    >>> articulated_body(plant, q, v, tau_NE(plant, q, v, [1.0, 2.0, 3.0])).round(9)
    array([1., 2., 3.])
    """
    tree, v, tau = _chain(plant, q, v=v, tau=tau)
    move = _forward(tree, v, np.zeros(tree.nv), np.zeros(3))
    bias = [-ad(S @ v[own]) @ V for S, own, V in zip(tree.S, tree.own, move.V, strict=False)]  # a_i
    hat = [*tree.I, np.zeros((6, 6))]
    b = tree.zeros(6)
    z, D, left = tree.zeros(6), [np.zeros((0, 0))] * tree.n, np.zeros(tree.nv)
    for i in reversed(range(tree.n)):
        S, own, V = tree.S[i], tree.own[i], move.V[i]
        z[i] = hat[i] @ bias[i] + b[i] - ad(V).T @ tree.I[i] @ V
        D[i] = np.linalg.inv(S.T @ hat[i] @ S)
        left[own] = tau[own] - S.T @ z[i]
        gain, up = hat[i] @ S @ D[i], tree.Ad[i].T
        hat[tree.P[i]] = hat[tree.P[i]] + up @ (hat[i] - gain @ S.T @ hat[i]) @ up.T
        b[tree.P[i]] += up @ (z[i] + gain @ left[own])
    a, V_dot = np.zeros(tree.nv), tree.zeros(6)
    V_dot[-1, 3:] = -plant.gravity
    for i in range(tree.n):
        S, own = tree.S[i], tree.own[i]
        V_dot[i] = tree.Ad[i] @ V_dot[tree.P[i]]
        a[own] = D[i] @ (left[own] - S.T @ hat[i] @ V_dot[i])
        V_dot[i] += S @ a[own] + bias[i]
    return a


# -- body-fixed Jacobians, section 4.4.1 ------------------------------------------------------------------


class Jacobians(NamedTuple):
    """Body-fixed Jacobians of the links, V_i = J_i v, and their derivatives.

    Attributes
    ----------
    J : ndarray, shape (links, 6, nv)
    J_q : ndarray, shape (links, 6, nv, nv)
        dJ_i/dq_j is ``J_q[i, :, :, j]``, with respect to q [+] delta.
    J_dot, J_ddot : ndarray, shape (links, 6, nv)
        Rates along the motion v, and v with dv/dt = a.
    """

    J: Array
    J_q: Array
    J_dot: Array
    J_ddot: Array


def jacobians(plant: Mechanism, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> Jacobians:
    """Body-fixed Jacobians of all links with their derivatives (Spencer, section 4.4.1, eqs. A.1 to A.4).

    Parameters
    ----------
    plant : Mechanism
    q : array_like, shape (nq,)
    v, a : array_like, shape (nv,), optional
        Velocity and acceleration along which rates are taken; zero unless given.

    Returns
    -------
    Jacobians

    Notes
    -----
    The thesis prints the last two terms of J_i_ddot with the rate of v and its second rate. Differentiating
    J_i_dot = Ad_{f^-1} J_P_dot - ad_{S_i v_i} Ad_{f^-1} J_P once more gives

        J_i_ddot = Ad J_P_ddot - ad_{S v} J_i_dot - ad_{S v} Ad J_P_dot - ad_{S a} Ad J_P.

    Ad_{f^-1} J_P is J_i without the joint's own columns S_i, which his ad_{S_i} removes where there is one axis.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> jacobians(plants.five_bar(), np.zeros(4)).J.shape
    (4, 6, 4)
    """
    return _without_ground(_jacobians(*_chain(plant, q, v=v, a=a)))


def _without_ground(found: Jacobians) -> Jacobians:
    """Jacobians of the links, without the entry of the ground, which has none."""
    return Jacobians(*(x[:-1] for x in found))


def _jacobians(tree: _Tree, v: Array, a: Array) -> Jacobians:
    """Jacobians by the recursions of `jacobians`; the last entry of each array is the ground."""
    n = tree.nv
    J, J_dot, J_ddot, J_q = tree.zeros(6, n), tree.zeros(6, n), tree.zeros(6, n), tree.zeros(6, n, n)
    for i, (P, S, own) in enumerate(zip(tree.P, tree.S, tree.own, strict=True)):
        up, turn, turn_dot = tree.Ad[i], ad(S @ v[own]), ad(S @ a[own])
        carried, carried_dot = up @ J[P], up @ J_dot[P]
        J[i] = carried
        J[i][:, own] += S
        J_dot[i] = carried_dot - turn @ carried
        J_ddot[i] = up @ J_ddot[P] - turn @ J_dot[i] - turn @ carried_dot - turn_dot @ carried
        J_q[i] = np.einsum("ab,bkj->akj", up, J_q[P])
        for j, s in zip(range(own.start, own.stop), S.T, strict=True):
            J_q[i][:, :, j] -= ad(s) @ carried
    return Jacobians(J, J_q, J_dot, J_ddot)


# -- one link relative to another --------------------------------------------------------------------------


class _Pair(NamedTuple):
    """Link b relative to link a: pose, velocity V = J v in b's axes, its rate, and the Jacobian with derivatives."""

    f: Array  # f_{a,b}
    V: Array
    V_dot: Array
    J: Array
    J_q: Array
    J_dot: Array
    J_ddot: Array


def _pair(tree: _Tree, jac: Jacobians, a: int, b: int, v: Array, acc: Array) -> _Pair:
    """Pair of links: J = J_b - Ad_{f^-1} J_a, f = f_{a,b}, and (A.1): d(Ad_{f^-1} x) = -ad_V Ad_{f^-1} x + ..."""
    f = _inverse(tree.poses[a]) @ tree.poses[b]
    B = Ad(_inverse(f))
    base, base_dot = B @ jac.J[a], B @ jac.J_dot[a]
    J = jac.J[b] - base
    turn = ad(J @ v)
    J_dot = jac.J_dot[b] - base_dot + turn @ base
    V_dot = J_dot @ v + J @ acc
    J_ddot = jac.J_ddot[b] - B @ jac.J_ddot[a] + 2.0 * turn @ base_dot + (ad(V_dot) - turn @ turn) @ base
    J_q = jac.J_q[b] - np.einsum("cd,dkj->ckj", B, jac.J_q[a])
    for j in range(tree.nv):
        J_q[:, :, j] += ad(J[:, j]) @ base
    return _Pair(f, J @ v, V_dot, J, J_q, J_dot, J_ddot)


# -- loop rows: section A.3.2 with the rows of this package ------------------------------------------------
#
# A "jet" is an array whose first axis is (value, rate, second rate).


def _product(x: Array, y: Array) -> Array:
    """Jet of the product x y, x a scalar jet (Leibniz)."""
    return np.stack([x[0] * y[0], x[1] * y[0] + x[0] * y[1], x[2] * y[0] + 2.0 * x[1] * y[1] + x[0] * y[2]])


def _quotient(x: Array, y: Array) -> Array:
    """Jet of the quotient x / y, y a scalar jet."""
    z0 = x[0] / y[0]
    z1 = (x[1] - z0 * y[1]) / y[0]
    return np.stack([z0, z1, (x[2] - 2.0 * z1 * y[1] - z0 * y[2]) / y[0]])


def _direction(f: Array, V: Array, V_dot: Array, x: Array) -> Array:
    """Jet (3, 3) of a direction x fixed on link a, in the axes of b: dx/dt = x cross w."""
    x0 = f[:3, :3].T @ x
    x1 = np.cross(x0, V[:3])
    return np.stack([x0, x1, np.cross(x1, V[:3]) + np.cross(x0, V_dot[:3])])


def _span(f: Array, V: Array, V_dot: Array, pa: Array, pb: Array) -> Array:
    """Jet (3, 3) of the vector from a point pa of link a to a point pb of link b, in the axes of b."""
    r0 = f[:3, :3].T @ (f[:3, 3] - pa)
    r1 = V[3:] + np.cross(r0, V[:3])
    return np.stack([r0 + pb, r1, V_dot[3:] + np.cross(r1, V[:3]) + np.cross(r0, V_dot[:3])])


def _through(p: Array, force: Array) -> Array:
    """Jet (3, 6) of the wrench of a force through a point p of link b."""
    return np.hstack([np.cross(p, force), force])


def _row_wrench(row: np.void, f: Array, V: Array, V_dot: Array) -> Array:
    """Jet (3, 6) of the wrench gamma of a row: phi_dot = gamma . V, V = velocity of b relative to a in b's axes.

    The rows are those of `kernels.constraint_rows`, the wrenches and their rates written a second time:
    u . (p_b - p_a) has (p_b x u, u); u . w has (w x u, 0); a rod has (p_b x d, d) / L; a screw turns by the
    angle of w about u, from x, with the wrench (c w x y - s w x x) / (c^2 + s^2), c = x . w, s = y . w, y = u x x.
    """
    kind, w, pb = int(row["kind"]), np.array(row["w"]), np.array(row["pb"])
    u = _direction(f, V, V_dot, row["u"])
    if kind == layout.ROW_ALIGN:
        return np.hstack([np.cross(w, u), np.zeros((3, 3))])
    if kind == layout.ROW_DISTANCE:
        return _through(pb, _span(f, V, V_dot, row["pa"], pb)) / float(row["value"])
    gamma = _through(pb, u)
    if kind == layout.ROW_SCREW:
        x = _direction(f, V, V_dot, row["x"])
        y = _direction(f, V, V_dot, np.cross(row["u"], row["x"]))
        c, s = x @ w, y @ w
        turned = _product(c, np.cross(w, y)) - _product(s, np.cross(w, x))
        gamma[:, :3] -= float(row["value"]) * _quotient(turned, _product(c, c) + _product(s, s))
    return gamma


def _wrench_derivative(jet: Callable[..., Array], *args: object) -> Array:
    """Matrix Gamma (6, 6) of d gamma = Gamma V: its columns are the rates of gamma for V = e_k."""
    return np.stack([jet(*args, e, np.zeros(6))[1] for e in np.eye(6)], axis=1)


class Constraints(NamedTuple):
    """Constraint Jacobian G (this package's A), phi_dot = G v, and its derivatives.

    Attributes
    ----------
    G : ndarray, shape (rows, nv)
    G_q : ndarray, shape (rows, nv, nv)
        dG/dq_j is ``G_q[:, :, j]``, with respect to q [+] delta.
    G_dot, G_ddot : ndarray, shape (rows, nv)
        Rates along the motion v, and v with dv/dt = a.
    """

    G: Array
    G_q: Array
    G_dot: Array
    G_ddot: Array


def constraints(plant: Mechanism, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> Constraints:
    """Constraint Jacobian of all loops with its derivatives, from body-fixed Jacobians (Spencer, eq. A.9, section 4.4).

    Parameters
    ----------
    plant : Mechanism
    q : array_like, shape (nq,)
        Configuration, which need not close the loops.
    v, a : array_like, shape (nv,), optional
        Velocity and acceleration along which rates are taken; zero unless given.

    Returns
    -------
    Constraints

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> constraints(plants.five_bar(), np.zeros(4)).G_q.shape
    (2, 4, 4)
    """
    tree, v, a = _chain(plant, q, v=v, a=a)
    return _constraints(tree, _jacobians(tree, v, a), v, a)


def _constraints(tree: _Tree, jac: Jacobians, v: Array, a: Array) -> Constraints:
    """Constraints by G = gamma' J and the product rule, row by row."""
    n, rows = tree.nv, tree.plant.arrays.rows
    out = Constraints(*(np.zeros((len(rows), *s)) for s in ((n,), (n, n), (n,), (n,))))
    for i, row in enumerate(rows):
        if row["kind"] == layout.ROW_FORMULA:
            raise ModelError(
                f"the recursions of the paper know no cams and no wheels, such as row {tree.plant.row_names[i]!r}"
            )
        if row["kind"] == layout.ROW_COUPLING:
            out.G[i] = tree.plant.arrays.couplings_v[row["coupling"]]
            continue
        pair = _pair(tree, jac, int(row["a"]), int(row["b"]), v, a)
        gamma, rate, second = _row_wrench(row, pair.f, pair.V, pair.V_dot)
        Gamma = _wrench_derivative(_row_wrench, row, pair.f)
        out.G[i] = gamma @ pair.J
        out.G_q[i] = pair.J.T @ Gamma @ pair.J + np.einsum("c,ckj->kj", gamma, pair.J_q)
        out.G_dot[i] = rate @ pair.J + gamma @ pair.J_dot
        out.G_ddot[i] = second @ pair.J + 2.0 * rate @ pair.J_dot + gamma @ pair.J_ddot
    return out


# -- external forces, appendix B ----------------------------------------------------------------------------


class ExternalForces(NamedTuple):
    """External forces tau(q, v) = B(q) u - springs - dampers - joint friction, and their derivatives.

    Attributes
    ----------
    tau : ndarray, shape (nv,)
    tau_q, tau_v : ndarray, shape (nv, nv)
        Derivatives with respect to q [+] delta, and to v.
    B : ndarray, shape (nv, nu)
    """

    tau: Array
    tau_q: Array
    tau_v: Array
    B: Array


def external_forces(plant: Mechanism, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> ExternalForces:
    """Motors, springs, dampers and friction as the external forces tau of appendix B, with their derivatives.

    In the thesis tau depends on time only. Here d tau/dq and d tau/dv are subtracted wherever the derivatives of tau_NE
    stand: B depends on q where a motor acts across a cut joint.

    Parameters
    ----------
    plant : Mechanism
    q, v : array_like, shape (nq,) and (nv,)
    u : array_like, shape (nu,), optional
        Motor efforts; zero unless given.

    Returns
    -------
    ExternalForces

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> external_forces(plants.five_bar(), np.zeros(4), np.zeros(4), [1.0, 2.0]).tau
    array([1., 0., 2., 0.])
    """
    tree, v = _chain(plant, q, v=v)
    u = np.zeros(plant.nu) if u is None else _check.vector(u, plant.nu, "u", plant.actuator_names)
    return _external_forces(tree, _jacobians(tree, v, np.zeros(tree.nv)), v, u)


def _external_forces(tree: _Tree, jac: Jacobians, v: Array, u: Array) -> ExternalForces:
    """External forces as a sum over joint friction, springs and drives."""
    plant, n = tree.plant, tree.nv
    model, rest = plant.arrays, np.zeros(n)
    tau, tau_q, tau_v = -model.damping * v, np.zeros((n, n)), -np.diag(model.damping)
    for spring in model.springs:
        k, c = float(spring["stiffness"]), float(spring["damping"])
        if spring["kind"] == layout.SPRING_JOINT:
            i = int(spring["iv"])
            tau[i] -= k * (tree.q[spring["iq"]] - spring["rest"]) + c * v[i]
            tau_q[i, i] -= k
            tau_v[i, i] -= c
            continue
        pair = _pair(tree, jac, int(spring["a"]), int(spring["b"]), v, rest)
        gamma, Gamma, length = _spring_wrench(spring, pair.f)
        line, line_q = _carried_force(pair, gamma, Gamma)  # d length = line . delta
        tension = k * (length - spring["rest"]) + c * (line @ v)
        tau -= tension * line
        tau_q -= tension * line_q + np.outer(line, k * line + c * (v @ line_q))
        tau_v -= c * np.outer(line, line)
    B = np.zeros((n, plant.nu))
    for k, drive in enumerate(model.drives):
        gear = float(drive["gear"])
        if drive["iv"] >= 0:
            B[drive["iv"], k] = gear
            continue
        pair = _pair(tree, jac, int(drive["a"]), int(drive["b"]), v, rest)
        # a wrench fixed on link a, g, is Ad*_f g on link b; by the dual of (A.1) it turns as ad*_V Ad*_f g
        g = np.concatenate([drive["angular"] + np.cross(drive["pa"], drive["linear"]), drive["linear"]])
        gamma = Ad(pair.f).T @ g
        column, column_q = _carried_force(pair, gamma, _dual(gamma))
        B[:, k] = gear * column
        tau_q += gear * u[k] * column_q
    return ExternalForces(tau + B @ u, tau_q, tau_v, B)


def _spring_wrench(spring: np.void, f: Array) -> tuple[Array, Array, float]:
    """Wrench (6,) on link b of a unit force from pa to pb, its derivative (6, 6), and the length."""
    pa, pb, still = spring["pa"], np.array(spring["pb"]), np.zeros(6)

    def stretched(f: Array, V: Array, V_dot: Array) -> Array:
        return _through(pb, _span(f, V, V_dot, pa, pb))

    whole = stretched(f, still, still)[0]
    length = float(np.linalg.norm(whole[3:]))
    gamma = whole / length
    return gamma, (_wrench_derivative(stretched, f) - np.outer(gamma, gamma)) / length, length


def _carried_force(pair: _Pair, gamma: Array, Gamma: Array) -> tuple[Array, Array]:
    """Joint forces J' gamma (nv,) of a wrench between two links, and their derivative (nv, nv)."""
    return pair.J.T @ gamma, pair.J.T @ Gamma @ pair.J + np.einsum("c,ckj->kj", gamma, pair.J_q)


# -- K and its derivatives, section 4.4 ---------------------------------------------------------------------


class NullSpace(NamedTuple):
    """Basis K of the null space with [R; G] K = [1; 0], and its derivatives.

    Attributes
    ----------
    K : ndarray, shape (nv, p)
    K_q : ndarray, shape (nv, p, nv)
        dK/dq_j is ``K_q[:, :, j]``. Where rows are redundant on the manifold only, a step across it has no K: then only
        dK/dy = sum_j dK/dq_j K_j has a meaning.
    K_dot, K_ddot : ndarray, shape (nv, p)
        Rates along the motion v, and v with dv/dt = a.
    """

    K: Array
    K_q: Array
    K_dot: Array
    K_ddot: Array


def null_space(
    plant: Mechanism, q: ArrayLike, R: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> NullSpace:
    """Basis K of the null space, [R; G] K = [1; 0], with its derivatives (Spencer, eq. 4.11, section 4.4).

    Parameters
    ----------
    plant : Mechanism
    q : array_like, shape (nq,)
        Configuration, which closes the loops.
    R : array_like, shape (dof, nv)
        Independent velocities y_v = R v, constant along the motion.
    v, a : array_like, shape (nv,), optional
        Velocity and acceleration that the loops allow, for the rates; zero unless given.

    Returns
    -------
    NullSpace

    Raises
    ------
    ValueError
        Where R v does not determine v, and at singular configurations.

    Notes
    -----
    Redundant rows make [R; G] tall; the system stays consistent and is solved by least squares.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.plants.parallel_four_bar import configuration
    >>> null_space(plants.parallel_four_bar(), configuration(2.0, 0.5), np.eye(4)[:2]).K.round(12) + 0.0
    array([[ 1.,  0.], [ 0.,  1.], [ 1., -1.], [-1.,  1.]])
    """
    tree, v, a = _chain(plant, q, v=v, a=a)
    R = _independent(plant, R)
    con = _constraints(tree, _jacobians(tree, v, a), v, a)
    return _null_space(con, R, _solver(tree, R, con))


def _independent(plant: Mechanism, R: ArrayLike) -> Array:
    """Matrix R with nv columns, checked."""
    return _check.matrix(R, (len(np.atleast_2d(R)), plant.nv), "R")


def _solver(tree: _Tree, R: Array, con: Constraints) -> Array:
    """Inverse [R; G]^-1 (nv, p + rows) by least squares, rows in one unit; refuses dependent and singular ones."""
    (p, n), name = R.shape, tree.plant.name
    scale = np.concatenate([np.ones(p), tree.plant.row_scale])
    X = scale[:, None] * np.vstack([R, con.G])
    values = np.linalg.svd(X, compute_uv=False)
    found = int((values > _INDEPENDENT * values.max(initial=0.0)).sum())
    if found < n:
        raise InputError(
            f"{p} coordinates R v and the loops of {name!r} determine {found} of {n} velocities; "
            "give R (dof, nv) with plant.diagnose(q).dof rows, independent on the tangent space"
        )
    E = np.linalg.pinv(X, rcond=_INDEPENDENT) * scale
    K = E[:, :p]
    if not np.abs(R @ K - np.eye(p)).max(initial=0.0) < _CONSISTENT:
        raise InputError(
            f"the {p} coordinates R v of {name!r} are not independent: the loops couple them; "
            "give R (dof, nv) with plant.diagnose(q).dof rows"
        )
    wanted = np.einsum("rkj,jl,km->rlm", con.G_q, K, K)  # dG/dy K, which G (-dK/dy) must equal
    got = np.einsum("rk,ks,slm->rlm", con.G, E[:, p:], wanted)
    left, size = np.abs(got - wanted).max(initial=0.0), np.abs(wanted).max(initial=0.0)
    if not left <= _CONSISTENT * size + 1e-12 * values.max(initial=0.0):
        raise InputError(
            f"K has no derivative along the loops of {name!r} at q = {np.round(tree.q, 6).tolist()} (rows "
            f"contradict each other by {left:.3g} of {size:.3g}): the configuration is singular, or the loops are open "
            f"(by {tree.plant.closure_error(tree.q):.3g} m)"
        )
    return E


def _null_space(con: Constraints, R: Array, E: Array) -> NullSpace:
    """Basis K = E [1; 0] with dK = -E [0; dG] K, K_ddot = -E [0; G_ddot] K - 2 E [0; G_dot] K_dot."""
    p = len(R)
    K, E = E[:, :p], E[:, p:]
    K_q = -np.einsum("ar,rkj,kl->alj", E, con.G_q, K)
    K_dot = -E @ con.G_dot @ K
    return NullSpace(K, K_q, K_dot, -E @ (con.G_ddot @ K + 2.0 * con.G_dot @ K_dot))


# -- local state-space form, sections 2.4 and 4.2, appendix B --------------------------------------------------


class LocalStateSpace(NamedTuple):
    """Linearized local state-space form, in y = R (q [-] q0) and y_v = R v.

    Attributes
    ----------
    A : ndarray, shape (2 p, 2 p)
        [[A11, 1], [A21, A22]].
    B : ndarray, shape (2 p, nu)
    drift : ndarray, shape (2 p,)
        (R v, R a), the rates at the state itself.
    K, K_dot, K_ddot : ndarray, shape (nv, p)
        As in `NullSpace`, along the motion.
    N : ndarray, shape (nv, p)
        dv/dy at fixed y_v; K_dot for joints with one axis.
    L : ndarray, shape (nv, p)
        da/dy at fixed y_v and fixed rate of y_v; K_ddot for joints with one axis.
    G : ndarray, shape (p, nv)
        (K'MK)^-1 K': a generalized force f adds G f to the rate of y_v.
    a : ndarray, shape (nv,)
        Acceleration.
    """

    A: Array
    B: Array
    drift: Array
    K: Array
    K_dot: Array
    K_ddot: Array
    N: Array
    L: Array
    G: Array
    a: Array


def acceleration(plant: Mechanism, q: ArrayLike, v: ArrayLike, u: ArrayLike, R: ArrayLike) -> Array:
    """Acceleration (nv,) by the null space formulation (Spencer, eqs. 2.43b and 4.10b).

    (K'MK) dy_v/dt = K'(tau - tau_NE(q, v, K_dot y_v)), then a = K dy_v/dt + K_dot y_v.

    Parameters
    ----------
    plant, q, v, u, R
        As in `local_state_space`.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.plants.parallel_four_bar import configuration
    >>> plant = plants.parallel_four_bar()
    >>> a = acceleration(plant, configuration(2.0, 0.5), np.zeros(4), np.zeros(2), np.eye(4)[:2])
    >>> bool(np.isclose(a[2], a[0] - a[1]))
    True
    """
    tree, v = _chain(plant, q, v=v)
    u = _check.vector(u, plant.nu, "u", plant.actuator_names)
    R = _independent(plant, R)
    jac = _jacobians(tree, v, np.zeros(tree.nv))
    con = _constraints(tree, jac, v, np.zeros(tree.nv))
    return _acceleration(tree, v, R, _null_space(con, R, _solver(tree, R, con)), _external_forces(tree, jac, v, u).tau)


def _acceleration(tree: _Tree, v: Array, R: Array, null: NullSpace, tau: Array) -> Array:
    """Acceleration (nv,) by the formula of `acceleration`; refuses velocities that the loops forbid."""
    K, y_v = null.K, R @ v
    against = float(np.abs(K @ y_v - v).max(initial=0.0))
    if not against <= 1e-7 * max(float(np.abs(v).max(initial=0.0)), 1e-300):
        raise InputError(
            f"the velocity is not one that the loops of {tree.plant.name!r} allow (off by {against:.3g}); "
            "use plant.project_velocity(q, v)"
        )
    M = mass_matrix(tree.plant, tree.q)
    left = tau - tau_NE(tree.plant, tree.q, v, null.K_dot @ y_v)
    return K @ np.linalg.solve(K.T @ M @ K, K.T @ left) + null.K_dot @ y_v


def local_state_space(
    plant: Mechanism, q: ArrayLike, v: ArrayLike, u: ArrayLike, R: ArrayLike, *, moving: bool = False
) -> LocalStateSpace:
    """Linearized local state-space form at a state on the manifold (Spencer, section 4.2, eqs. B.1 to B.5).

    Parameters
    ----------
    plant : Mechanism
    q, v : array_like, shape (nq,) and (nv,)
        State on the manifold: loops closed, G v = 0. It need not be at rest.
    u : array_like, shape (nu,)
        Motor efforts.
    R : array_like, shape (dof, nv)
        Independent coordinates.
    moving : bool
        Deviations from the moving trajectory in place of a chart that stays at q0 = q; this changes A11 alone.

    Returns
    -------
    LocalStateSpace

    Raises
    ------
    ValueError
        For coordinates that are not independent, singular configurations, velocities that the loops forbid.

    Notes
    -----
    His formulas, with tau the external forces and sums over the columns of K understood in dK'/dy:

        A21 = -(K'MK)^-1 ([dK'/dy (tau_NE - tau)] + K'((dtau_NE - dtau)/dq K + (dtau_NE - dtau)/dv N + M L))
        A22 = -(K'MK)^-1 K'((dtau_NE - dtau)/dv K + M da/dy_v)

    He has N = K_dot, L = K_ddot and da/dy_v = 2 K_dot. With the bracket of joints with several axes:

    *N.* y_v = R v and G v = 0 hold in the neighbourhood, so [R; G] N = -[0; d(G v)/dq K], and with
    d(G v)/dq = G_dot - G ad_v, and [R; G]^-1 [0; G x] = (1 - K R) x,

        N = K_dot + (1 - K R) ad_v K.

    *L.* [R; G] a = [dy_v/dt; -G_dot v], differentiated at fixed dy_v/dt with dv = N dy; by the formulas on top of this
    module

        L = K_ddot - 2 K_dot R ad_v K + (1 - K R)(ad_a K + ad_v (N - ad_v K)).

    *da/dy_v.* The same with dv = K dy_v:

        da/dy_v = 2 K_dot + (1 - K R) ad_v K.

    *A11.* q = q0 [+] delta has d(delta)/dt = v - ad_v delta / 2 to first order, so that A11 = -R ad_v K / 2; a
    deviation from the moving trajectory has d(delta)/dt = dv - ad_v delta, so that A11 = -R ad_v K.

    For joints with one axis ad is zero, and all this is the thesis.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.plants.parallel_four_bar import configuration
    >>> plant = plants.parallel_four_bar()
    >>> small = local_state_space(plant, configuration(2.0, 0.5), [1.0, 0.0, 1.0, -1.0], [0.0, 0.0], np.eye(4)[:2])
    >>> small.A.shape, small.drift[:2]
    ((4, 4), array([1., 0.]))
    """
    tree, v = _chain(plant, q, v=v)
    u = _check.vector(u, plant.nu, "u", plant.actuator_names)
    R = _independent(plant, R)
    still = np.zeros(tree.nv)
    jac = _jacobians(tree, v, still)
    tau = _external_forces(tree, jac, v, u)
    con = _constraints(tree, jac, v, still)
    E = _solver(tree, R, con)
    a = _acceleration(tree, v, R, _null_space(con, R, E), tau.tau)
    # once more, now that the acceleration is known
    null = _null_space(_constraints(tree, _jacobians(tree, v, a), v, a), R, E)
    K, K_dot = null.K, null.K_dot
    N, L, a_yv = _tangents(null, R, joint_bracket(plant, v), joint_bracket(plant, a))

    M = mass_matrix(plant, tree.q)
    unbalanced = tau_NE(plant, tree.q, v, a) - tau.tau
    force_q = tau_NE_q(plant, tree.q, v, a) - tau.tau_q
    force_v = tau_NE_v(plant, tree.q, v) - tau.tau_v
    gain = np.linalg.solve(K.T @ M @ K, K.T)
    turned = np.einsum("klj,jm,k->lm", null.K_q, K, unbalanced)  # column m is dK'/dy_m (tau_NE - tau)
    A21 = -np.linalg.solve(K.T @ M @ K, turned) - gain @ (force_q @ K + force_v @ N + M @ L)
    A22 = -gain @ (force_v @ K + M @ a_yv)
    p = len(R)
    A11 = -(1.0 if moving else 0.5) * R @ joint_bracket(plant, v) @ K
    return LocalStateSpace(
        A=np.block([[A11, np.eye(p)], [A21, A22]]),
        B=np.vstack([np.zeros((p, plant.nu)), gain @ tau.B]),
        drift=np.concatenate([R @ v, R @ a]),
        K=K,
        K_dot=K_dot,
        K_ddot=null.K_ddot,
        N=N,
        L=L,
        G=gain,
        a=a,
    )


def _tangents(null: NullSpace, R: Array, ad_v: Array, ad_a: Array) -> tuple[Array, Array, Array]:
    """Derivatives N = dv/dy, L = da/dy and da/dy_v, from rates of K and brackets; derived in `local_state_space`."""
    K, turned = null.K, ad_v @ null.K
    across = np.eye(len(K)) - K @ R
    N = null.K_dot + across @ turned
    L = null.K_ddot - 2.0 * null.K_dot @ R @ turned + across @ (ad_a @ K + ad_v @ (N - turned))
    return N, L, 2.0 * null.K_dot + across @ turned

"""MuJoCo as a judge of machines that are read from its files, or written into some: coordinates matched by name."""

import numpy as np
import pytest

import cmbcontrol as cmb

mujoco = pytest.importorskip("mujoco")


def cross(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotation(quat):
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.asarray(quat, float))
    return R.reshape(3, 3)


class Judge:
    """A model of MuJoCo beside a machine with the same names of coordinates."""

    def __init__(self, model, plant, renamed=None):
        self.m, self.d, self.plant = model, mujoco.MjData(model), plant
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.renamed = renamed or {}

    def name(self, j):
        found = mujoco.mj_id2name(self.m, mujoco.mjtObj.mjOBJ_JOINT, j) or ""
        return self.renamed.get(found, found)

    def set(self, qpos, qvel):
        self.d.qpos[:], self.d.qvel[:] = qpos, qvel
        mujoco.mj_normalizeQuat(self.m, self.d.qpos)
        self.d.ctrl[:] = 0.0
        mujoco.mj_forward(self.m, self.d)

    def random(self, seed, reach=0.7):
        rng = np.random.default_rng(seed)
        qpos = self.m.qpos0.copy()
        mujoco.mj_integratePos(self.m, qpos, rng.uniform(-reach, reach, self.m.nv), 1.0)
        self.set(qpos, rng.uniform(-1.5, 1.5, self.m.nv))

    # -- positions -----------------------------------------------------------------------------------------------

    def values(self):
        """Coordinates of MuJoCo by the names that the machine has for them."""
        found = {}
        for j in range(self.m.njnt):
            a, n, kind = self.m.jnt_qposadr[j], self.name(j), self.m.jnt_type[j]
            if kind in (2, 3):
                found[n] = self.d.qpos[a]
                continue
            if kind == 0:
                found |= {f"{n}_{x}": self.d.qpos[a + i] for i, x in enumerate("xyz")}
                a += 3
            found |= {f"{n}_q{x}": self.d.qpos[a + i] for i, x in enumerate("wxyz")}
        return found

    def q(self):
        values = self.values()
        return np.array([values[n] for n in self.plant.position_names])

    def take(self, q, v=None):
        """Set MuJoCo to a configuration of the machine, whose slides of screws follow."""
        values = dict(zip(self.plant.position_names, q, strict=True))
        for x in self.plant.joints:
            if isinstance(x, cmb.Helical):
                values[f"{x.name}_travel"] = x.pitch * values[x.name]
        qpos = self.m.qpos0.copy()
        for j in range(self.m.njnt):
            a, n, kind = self.m.jnt_qposadr[j], self.name(j), self.m.jnt_type[j]
            if kind in (2, 3):
                qpos[a] = values[n]
                continue
            if kind == 0:
                qpos[a : a + 3] = [values[f"{n}_{x}"] for x in "xyz"]
                a += 3
            qpos[a : a + 4] = [values[f"{n}_q{x}"] for x in "wxyz"]
        self.set(qpos, np.zeros(self.m.nv))
        if v is not None:
            T, _ = self.map(q)
            self.set(qpos, self.inverse(T) @ v)

    def inverse(self, T):
        """v of MuJoCo of v of the machine: screws have a slide more, in proportion."""
        back = np.linalg.pinv(T)
        for x in self.plant.joints:
            if isinstance(x, cmb.Helical):
                back[self.dof(f"{x.name}_travel")] = x.pitch * back[self.dof(x.name)]
        return back

    def dof(self, name):
        return next(self.m.jnt_dofadr[j] for j in range(self.m.njnt) if self.name(j) == name)

    # -- velocities ----------------------------------------------------------------------------------------------

    def map(self, q, v=None):
        """T and the rate of T times qvel: v = T qvel."""
        m, T, rate = self.m, np.zeros((self.plant.nv, self.m.nv)), np.zeros(self.plant.nv)
        dofs = {self.name(j): m.jnt_dofadr[j] for j in range(m.njnt)}
        free = {self.name(j) for j in range(m.njnt) if m.jnt_type[j] == 0}
        qvel, i, k = self.d.qvel, 0, 0
        for x in self.plant.joints:
            nq, nv = len(x.position_names), len(x.velocity_names)
            own, n = q[k : k + nq], x.name
            if isinstance(x, cmb.Planar):
                a = own[2]
                R = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
                at = [dofs[f"{n}_x"], dofs[f"{n}_y"]]
                T[i : i + 2, at] = R
                T[i + 2, dofs[f"{n}_angle"]] = 1.0
                w = qvel[dofs[f"{n}_angle"]]
                rate[i : i + 2] = w * np.array([[0, 1], [-1, 0]]) @ R @ qvel[at]
            elif isinstance(x, cmb.Free):
                R = rotation(own[:4])
                turn = dofs[n] + (3 if n in free else 0) + np.arange(3)
                at = dofs[n] + np.arange(3) if n in free else [dofs[f"{n}_{c}"] for c in "xyz"]
                T[i : i + 3, turn] = np.eye(3)
                T[np.ix_(range(i + 3, i + 6), at)] = R.T
                rate[i + 3 : i + 6] = -np.cross(qvel[turn], R.T @ qvel[at])
            elif isinstance(x, cmb.Spherical):
                T[i : i + 3, dofs[n] + np.arange(3)] = np.eye(3)
            else:
                for c, name in enumerate(x.velocity_names):
                    T[i + c, dofs[name]] = 1.0
            i, k = i + nv, k + nq
        return T, rate

    # -- what is compared ----------------------------------------------------------------------------------------

    def mass(self):
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        return M

    def forces(self):
        """Bias less passive forces, and what the machine adds for dry friction."""
        rubbing = self.m.dof_frictionloss * np.tanh(self.d.qvel / 1e-3)
        return self.d.qfrc_bias - self.d.qfrc_passive + rubbing

    def rows(self):
        """Jacobian and residual of the equalities."""
        d, m = self.d, self.m
        J = np.zeros((d.nefc, m.nv))
        if mujoco.mj_isSparse(m):
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        else:
            J = d.efc_J[: d.nefc * m.nv].reshape(d.nefc, m.nv).copy()
        own = d.efc_type[: d.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        return J[own], d.efc_pos[: d.nefc][own]

    def errors(self):
        """Of M and of the forces, relative, at the state of now."""
        q = self.q()
        T, rate = self.map(q)
        terms = self.plant.terms(q, T @ self.d.qvel)
        back = self.inverse(T)
        M, h = back.T @ self.mass() @ back, back.T @ self.forces()
        mine = terms.h + terms.M @ rate
        scale = np.abs(np.abs(M) @ np.abs(self.d.qvel[:0].sum() + T @ self.d.qvel)).max() + np.abs(h).max()
        return np.abs(terms.M - M).max() / np.abs(M).max(), np.abs(mine - h).max() / (scale or 1.0)

    def row_error(self):
        """Of the projection onto the row space of the constraints; with the ranks."""
        T, _ = self.map(self.q())
        J, _ = self.rows()
        P, first = projection(J @ self.inverse(T), self.plant.size)
        Q, second = projection(self.plant.jacobian(self.q()), self.plant.size)
        return np.abs(P - Q).max(initial=0.0), first, second


def projection(A, size):
    """Onto the row space, and its dimension; rows below 1e-11 of the size of the machine are rounding."""
    norms = np.linalg.norm(A, axis=1)
    A = A[norms > 1e-11 * max(norms.max(initial=0.0), min(size, 1.0))]
    if not A.size:
        return np.zeros((A.shape[1],) * 2), 0
    _, s, V = np.linalg.svd(A / np.linalg.norm(A, axis=1, keepdims=True))
    rank = int((s > 1e-9 * s[0]).sum())
    return V[:rank].T @ V[:rank], rank

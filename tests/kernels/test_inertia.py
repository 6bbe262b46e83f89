"""Mass matrix and Newton-Euler: from energies, from Lagrange, and against Pinocchio."""

import numpy as np
import pytest

from cmbcontrol.kernels import constrained, layout
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import (
    JOINTS,
    LINEAR,
    kinematics,
    link_of,
    random_state,
    random_tree,
    rate_along,
    tree_parts,
    with_field,
)

TREES = range(6)
SEEDS = range(30)


def quiet(seed, bodies=9, kinds=JOINTS):
    """A tree without gravity."""
    return random_tree(seed, bodies, kinds, gravity=(0.0, 0.0, 0.0))


def close(actual, desired, rtol=1e-10):
    """Relative to the largest entry."""
    np.testing.assert_allclose(actual, desired, rtol=0.0, atol=rtol * max(1.0, np.abs(desired).max()))


# -- from the definitions -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", TREES)
def test_mass_matrix_is_symmetric_and_positive_definite(seed):
    plant = random_tree(seed, 9)
    M = plant.terms(*random_state(plant, seed)).M
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.parametrize("seed", TREES)
def test_kinetic_energy_is_that_of_the_bodies(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    V = kinematics(plant, q, v).V
    T = 0.0
    for body in plant.bodies:
        omega, v0 = V[link_of(plant, body.name)].reshape(2, 3)
        R = plant.pose(q, body.name).R
        speed = v0 + np.cross(omega, plant.point(q, body.name, body.com))
        T += 0.5 * body.mass * speed @ speed + 0.5 * omega @ R @ body.inertia @ R.T @ omega
    assert plant.terms(q, v).kinetic == pytest.approx(T, rel=1e-12)


@pytest.mark.parametrize("seed", TREES)
def test_potential_energy_of_gravity_is_that_of_the_bodies(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    U = -sum(b.mass * plant.gravity @ plant.point(q, b.name, b.com) for b in plant.bodies)
    assert plant.terms(q, v).potential == pytest.approx(U, rel=1e-12)


@pytest.mark.parametrize("seed", TREES)
def test_coriolis_forces_do_the_work_of_the_changing_mass_matrix(seed):
    plant = quiet(seed)
    q, v = random_state(plant, seed)
    rate = rate_along(plant, q, v, lambda x: 0.5 * v @ plant.terms(x, v).M @ v)
    assert v @ plant.terms(q, v).h == pytest.approx(rate, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("seed", TREES)
def test_newton_euler_is_lagrange_for_plain_coordinates(seed):
    plant = random_tree(seed, 5, LINEAR)
    q, v = random_state(plant, seed)
    momentum_rate = rate_along(plant, q, v, lambda x: plant.terms(x, v).M @ v)
    lagrangian = lambda x: (lambda t: t.kinetic - t.potential)(plant.terms(x, v))  # noqa: E731
    gradient = np.array([rate_along(plant, q, e, lagrangian) for e in np.eye(plant.nv)])
    close(plant.terms(q, v).h, momentum_rate - gradient, 1e-8)


def test_coriolis_forces_are_quadratic_in_velocity():
    plant = quiet(1)
    q, v = random_state(plant, 1)
    close(plant.terms(q, -2.0 * v).h, 4.0 * plant.terms(q, v).h, 1e-13)
    np.testing.assert_array_equal(plant.terms(q, 0.0 * v).h, 0.0)


def test_spinning_free_body_obeys_euler():
    plant = quiet(2, 1, (JOINTS[7],))
    body, joint = plant.bodies[0], plant.joints[0]
    q, v = random_state(plant, 2)
    R = joint.child_frame.R  # the joint's axes in the body's
    c = R.T @ (body.com - joint.child_frame.p)
    v[3:] = np.cross(c, v[:3])  # the centre of mass rests
    J, w = R.T @ body.inertia @ R, v[:3]
    alpha = np.linalg.solve(J, -np.cross(w, J @ w))
    vdot, _ = constrained.forward_dynamics(plant.arrays, q, v, np.zeros(0), 1e-10, constrained.new_work(plant.arrays))
    close(vdot[:3], alpha, 1e-12)


@pytest.mark.parametrize("seed", TREES)
def test_forward_dynamics_of_an_open_tree(seed):
    plant = random_tree(seed, 9)
    q, v = random_state(plant, seed)
    terms = plant.terms(q, v)
    vdot, rank = constrained.forward_dynamics(
        plant.arrays, q, v, np.zeros(0), 1e-10, constrained.new_work(plant.arrays)
    )
    assert rank == 0
    close(vdot, np.linalg.solve(terms.M, -terms.h))


# -- against Pinocchio --------------------------------------------------------------------------


class Judge:
    """The same tree in Pinocchio, built from the kernel's links."""

    def __init__(self, plant):
        pin = self.pin = pytest.importorskip("pinocchio")
        self.plant, self.model = plant, pin.Model()
        self.model.gravity = pin.Motion(np.array(plant.gravity), np.zeros(3))
        self.joint = {}  # link -> joint of Pinocchio
        for i, link in enumerate(plant.arrays.links):
            if link["parent"] < 0:
                self.add(i, 0, pin.SE3.Identity())
        self.data = self.model.createData()
        self.columns = np.empty(plant.nv, int)
        for i, j in self.joint.items():
            link, start = plant.arrays.links[i], self.model.joints[j].idx_v
            inner = (3, 4, 5, 0, 1, 2) if link["kind"] == layout.FREE else range(link["nv"])
            self.columns[link["iv"] : link["iv"] + link["nv"]] = [start + k for k in inner]
        rotors = np.zeros(plant.nv)
        rotors[self.columns] = plant.arrays.armature
        self.model.armature = rotors

    def kind(self, link):
        pin, kind = self.pin, link["kind"]
        if kind == layout.HELICAL:
            return pin.JointModelHZ(float(link["pitch"]))
        if kind == layout.CYLINDRICAL:
            both = pin.JointModelComposite()
            both.addJoint(pin.JointModelRZ())
            both.addJoint(pin.JointModelPZ())
            return both
        return {
            layout.REVOLUTE: pin.JointModelRZ,
            layout.PRISMATIC: pin.JointModelPZ,
            layout.PLANAR: pin.JointModelPlanar,
            layout.SPHERICAL: pin.JointModelSpherical,
            layout.FREE: pin.JointModelFreeFlyer,
        }[kind]()

    def add(self, i, parent, place):
        """Link i and all it carries, depth first; `place` is its parent link's frame in the joint `parent`."""
        pin, link = self.pin, self.plant.arrays.links[i]
        place = place * pin.SE3(np.array(link["R"]), np.array(link["p"]))
        if link["kind"] != layout.FIXED:
            parent = self.joint[i] = self.model.addJoint(parent, self.kind(link), place, f"link{i}")
            place = pin.SE3.Identity()
        own = pin.Inertia(float(link["mass"]), np.array(link["com"]), np.array(link["inertia"]))
        if parent:
            self.model.appendBodyToJoint(parent, own, place)
        for k, other in enumerate(self.plant.arrays.links):
            if other["parent"] == i:
                self.add(k, parent, place)

    def position(self, q):
        """Quaternions (x, y, z, w) after the position, planar joints with cosine and sine."""
        out = np.empty(self.model.nq)
        for i, j in self.joint.items():
            link, start = self.plant.arrays.links[i], self.model.joints[j].idx_q
            x = q[link["iq"] : link["iq"] + link["nq"]]
            if link["kind"] == layout.PLANAR:
                x = [x[0], x[1], np.cos(x[2]), np.sin(x[2])]
            elif link["kind"] in (layout.SPHERICAL, layout.FREE):
                x = [*x[4:], *x[1:4], x[0]]
            out[start : start + len(x)] = x
        return out

    def to_theirs(self, x):
        out = np.empty(self.plant.nv)
        out[self.columns] = x
        return out

    def mass_matrix(self, q):
        M = np.triu(self.pin.crba(self.model, self.data, self.position(q)))
        M = M + np.triu(M, 1).T
        return M[np.ix_(self.columns, self.columns)]

    def bias_force(self, q, v):
        return self.pin.nonLinearEffects(self.model, self.data, self.position(q), self.to_theirs(v))[self.columns]

    def acceleration(self, q, v, f):
        args = self.position(q), self.to_theirs(v), self.to_theirs(f)
        return self.pin.aba(self.model, self.data, *args)[self.columns]


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_agrees_on_mass_bias_forces_and_acceleration(seed):
    plant = random_tree(seed, 9)
    judge = Judge(plant)
    q, v = random_state(plant, seed)
    f = np.random.default_rng(seed).uniform(-5.0, 5.0, plant.nv)
    terms = plant.terms(q, v)
    close(terms.M, judge.mass_matrix(q))
    close(terms.h, judge.bias_force(q, v))
    close(np.linalg.solve(terms.M, f - terms.h), judge.acceleration(q, v, f))


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_agrees_on_rotors(seed):
    """With friction taken off, which Pinocchio's bias forces do not have."""
    parts = tree_parts(seed, 9, damped=True)
    joints = [with_field(joint, damping=0.0 * joint.damping) for joint in parts["joints"]]
    plant = Mechanism(**parts | {"joints": joints})
    judge = Judge(plant)
    q, v = random_state(plant, seed)
    assert plant.arrays.armature.any()
    close(plant.terms(q, v).M, judge.mass_matrix(q))
    close(
        constrained.forward_dynamics(plant.arrays, q, v, np.zeros(0), 1e-10, constrained.new_work(plant.arrays))[0],
        judge.acceleration(q, v, np.zeros(plant.nv)),
    )


@pytest.mark.parametrize("kind", [k for k in JOINTS if k.kinds != (layout.FIXED,)], ids=lambda k: k.__name__)
def test_pinocchio_agrees_on_a_chain_of_one_joint_type(kind):
    plant = random_tree(7, 3, (kind,))
    judge = Judge(plant)
    q, v = random_state(plant, 7)
    terms = plant.terms(q, v)
    close(terms.M, judge.mass_matrix(q))
    close(terms.h, judge.bias_force(q, v))

"""A tree and its twin in maximal coordinates (every body free, every joint a cut joint) move alike."""

import numpy as np
import pytest
from machines import (
    CUTS,
    JOINTS,
    actuators,
    closed_machine,
    kinematics,
    largest,
    link_accelerations,
    link_of,
    name_of,
    quaternion,
    random_state,
    springs,
    tree_parts,
)

from cmbcontrol.kernels import constrained
from cmbcontrol.model.elements import Free, PointSpring, Prismatic, Revolute
from cmbcontrol.model.mechanism import Mechanism


def drivable(parts, seed):
    """Actuators that exist in both worlds: a cut joint can be driven where it is revolute or prismatic."""
    names = [j.name for j in parts["joints"] if isinstance(j, (Revolute, Prismatic))]
    return [a for a in actuators(parts, seed) if a.joint in names]


def machine(seed, bodies, kinds):
    """A tree with point springs and actuators."""
    parts = tree_parts(seed, bodies, kinds)
    between = [s for s in springs(parts, seed) if isinstance(s, PointSpring)]
    return Mechanism(**parts, springs=between, actuators=drivable(parts, seed))


def maximal(plant):
    """The same machine with all joints cut."""
    return Mechanism(
        "maximal",
        plant.bodies,
        [Free(f"free_{b.name}", "ground", b.name) for b in plant.bodies],
        [*(j for j in plant.joints if not isinstance(j, Free)), *plant.loops],
        plant.springs,
        plant.actuators,
        plant.gravity,
    )


def maximal_state(plant, q, v):
    """Poses and body-fixed twists of the bodies."""
    V = kinematics(plant, q, v).V
    position, velocity = [], []
    for body in plant.bodies:
        here, (omega, v0) = plant.pose(q, body.name), V[link_of(plant, body.name)].reshape(2, 3)
        position += [*quaternion(here.R), *here.p]
        velocity += [*(here.R.T @ omega), *(here.R.T @ (v0 + np.cross(omega, here.p)))]
    return np.array(position), np.array(velocity)


def accelerations(plant, q, v, u):
    """Spatial acceleration of every body, and the rank of the loops."""
    vdot, rank = constrained.forward_dynamics(plant.arrays, q, v, u, 1e-10)
    a = link_accelerations(plant, q, v, vdot)
    return np.array([a[link_of(plant, b.name)] for b in plant.bodies]), rank


def compare(plant, q, v, seed):
    twin = maximal(plant)
    Q, V = maximal_state(plant, q, v)
    assert twin.closure_error(Q) < 1e-13
    assert largest(twin.jacobian(Q) @ V) < 1e-11
    assert twin.terms(Q, V).energy == pytest.approx(plant.terms(q, v).energy, rel=1e-12)
    u = np.random.default_rng(seed).uniform(-5.0, 5.0, plant.nu)
    expected, rank = accelerations(plant, q, v, u)
    actual, all_rows = accelerations(twin, Q, V, u)
    assert all_rows == 6 * len(plant.bodies) - plant.nv + rank
    np.testing.assert_allclose(actual, expected, atol=1e-9 * max(1.0, largest(expected)))


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_of_all_joint_types(seed):
    plant = machine(seed, 5, JOINTS)
    compare(plant, *random_state(plant, seed), seed)


@pytest.mark.parametrize("kind", CUTS, ids=name_of)
def test_chains_of_one_joint_type(kind):
    plant = machine(20, 3, (kind,))
    compare(plant, *random_state(plant, 20), 20)


@pytest.mark.parametrize("kinds", [(Revolute, Prismatic), CUTS[2:4], CUTS[4:6], CUTS[6:]], ids=lambda k: k[0].__name__)
def test_machines_with_loops(kinds):
    plant, q = closed_machine(3, kinds[:1], bodies=4)
    v = plant.project_velocity(q, random_state(plant, 3)[1])
    compare(plant, q, v, 3)

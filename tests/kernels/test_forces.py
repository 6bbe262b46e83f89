"""Springs, dampers, friction, drives: forces are gradients of energy, power is accounted for."""

import numpy as np
import pytest

from cmbcontrol.kernels import constrained, forces
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Distance,
    Frame,
    JointSpring,
    Point,
    PointSpring,
    Prismatic,
    Revolute,
    Universal,
)
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import (
    actuators,
    admissible_state,
    close_parts,
    closed_machine,
    direction,
    kinematics,
    largest,
    linear_coordinates,
    link_of,
    random_state,
    random_tree,
    rate_along,
    springs,
    tree_parts,
)

SEEDS = range(5)


def names_of(kinds):
    return "+".join(k.__name__ for k in kinds) or "tree"


def machine(seed, damping=True, bodies=6, loops=(), **more):
    """A random machine with springs, friction and actuators."""
    parts = tree_parts(seed, bodies, damped=damping)
    parts = {**parts, "springs": springs(parts, seed, damping), "actuators": actuators(parts, seed), **more}
    if loops:
        return close_parts(parts, seed, loops)
    return Mechanism(**parts)


def dissipated(plant, q, v):
    now = kinematics(plant, q, v)
    return forces.dissipated_power(plant.arrays, q, v, now.R, now.p, now.V)


@pytest.mark.parametrize("seed", SEEDS)
def test_static_forces_are_the_gradient_of_potential_energy(seed):
    plant = machine(seed)
    q, _ = random_state(plant, seed)
    rest = np.zeros(plant.nv)
    gradient = [rate_along(plant, q, e, lambda x: plant.terms(x, rest).potential) for e in np.eye(plant.nv)]
    np.testing.assert_allclose(plant.terms(q, rest).h, gradient, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_potential_energy_is_that_of_gravity_and_springs(seed):
    plant = machine(seed)
    q, _ = random_state(plant, seed)
    U = -sum(b.mass * plant.gravity @ plant.point(q, b.name, b.com) for b in plant.bodies)
    for s in plant.springs:
        if isinstance(s, JointSpring):
            stretch = q[plant.position_names.index(s.joint)] - s.rest
        else:
            stretch = np.linalg.norm(plant.point(q, s.b, s.point_b) - plant.point(q, s.a, s.point_a)) - s.rest
        U += 0.5 * s.stiffness * stretch**2
    assert plant.terms(q, np.zeros(plant.nv)).potential == pytest.approx(U, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_dissipated_power_is_the_power_of_the_damping_forces(seed):
    damped, ideal = machine(seed), machine(seed, damping=False)
    q, v = random_state(damped, seed)
    friction = damped.terms(q, v).h - ideal.terms(q, v).h
    assert dissipated(damped, q, v) == pytest.approx(v @ friction, rel=1e-11)
    assert dissipated(damped, q, v) > 0.1
    assert dissipated(ideal, q, v) == 0.0


def test_friction_of_each_joint_coordinate():
    plant = machine(2)
    plant = Mechanism("friction", plant.bodies, plant.joints, gravity=(0, 0, 0))
    q, v = random_state(plant, 2)
    ideal = random_tree(2, 6, gravity=(0, 0, 0))
    damping = np.concatenate([j.damping for j in plant.joints])
    assert damping.min() > 0.0
    np.testing.assert_allclose(plant.terms(q, v).h - ideal.terms(q, v).h, damping * v, atol=1e-12)


def test_point_damper_pulls_along_its_line_with_its_rate():
    seed = 4
    parts = tree_parts(seed, 4)
    a, b = "body1", "body3"
    pa, pb = np.random.default_rng(0).uniform(-0.5, 0.5, (2, 3))
    damper = PointSpring("damper", a, b, pa, pb, damping=3.0)
    plant, ideal = Mechanism(**parts, springs=[damper]), Mechanism(**parts)
    q, v = random_state(plant, seed)

    def length(x):
        return np.linalg.norm(plant.point(x, b, pb) - plant.point(x, a, pa))

    rate = rate_along(plant, q, v, length)
    gradient = np.array([rate_along(plant, q, e, length) for e in np.eye(plant.nv)])
    np.testing.assert_allclose(plant.terms(q, v).h - ideal.terms(q, v).h, 3.0 * rate * gradient, atol=1e-8)
    assert dissipated(plant, q, v) == pytest.approx(3.0 * rate**2, rel=1e-8)


def test_point_spring_of_no_length_has_no_direction_and_no_force():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    spring = PointSpring("spring", "ground", "rod", stiffness=5.0, rest=0.3)
    plant = Mechanism("rod", [rod], [Revolute("pivot", "ground", "rod")], springs=[spring], gravity=(0, 0, 0))
    terms = plant.terms(np.array([0.4]), np.array([1.0]))
    np.testing.assert_array_equal(terms.h, 0.0)
    assert terms.potential == pytest.approx(0.5 * 5.0 * 0.3**2, rel=1e-14)


@pytest.mark.parametrize("loops", [(), (Revolute,), (Universal, Point), (Distance, Coupling)], ids=names_of)
@pytest.mark.parametrize("seed", SEEDS)
def test_energy_changes_by_actuators_and_friction_alone(seed, loops):
    """d(T + U)/dt along the constrained acceleration = v'Bu - dissipated."""
    plant, q = machine(seed, loops=loops) if loops else (machine(seed), None)
    q = random_state(plant, seed)[0] if q is None else q
    q, v = admissible_state(plant, q, seed)
    u = np.random.default_rng(seed).uniform(-5.0, 5.0, plant.nu)
    vdot, _ = constrained.forward_dynamics(plant.arrays, q, v, u, 1e-10, constrained.new_work(plant.arrays))
    vdot = np.ascontiguousarray(vdot)

    def energy(h):
        return plant.terms(plant.integrate(q, h * v), v + h * vdot).energy

    h = 1e-4 / max(1.0, largest(v), np.sqrt(largest(vdot)))
    rate = (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h)
    power = v @ plant.terms(q, v).B @ u - dissipated(plant, q, v)
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-6)
    assert abs(power) > 1e-2 or plant.terms(q, v).dof == 0


def test_drives_on_tree_coordinates():
    plant = machine(1)
    B = plant.terms(*random_state(plant, 1)).B
    assert plant.nu >= 4
    for k, actuator in enumerate(plant.actuators):
        expected = np.zeros(plant.nv)
        expected[plant.index(actuator.joint)] = actuator.gear
        np.testing.assert_array_equal(B[:, k], expected)


def cut_coordinate(plant, q, cut):
    """Angle or travel of a cut joint, from the configurations of its bodies."""
    a = plant.pose(q, cut.parent) @ cut.frame
    b = plant.pose(q, cut.child) @ cut.child_frame
    moved = a.inverse() @ b
    if isinstance(cut, Prismatic):
        return moved.p @ cut.axis
    across = np.cross(cut.axis, direction(np.random.default_rng(0)))
    turned = moved.R @ across
    return np.arctan2(turned @ np.cross(cut.axis, across), turned @ across)


@pytest.mark.parametrize("kind", [Revolute, Prismatic], ids=lambda k: k.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_an_actuator_on_a_cut_joint_has_the_power_of_its_coordinate(kind, seed):
    plant, q = closed_machine(seed, (kind,))
    cut = plant.loops[0]
    plant = Mechanism(
        "driven", plant.bodies, plant.joints, [cut], actuators=[Actuator(cut.name, gear=-1.7)], gravity=plant.gravity
    )
    q, v = admissible_state(plant, q, seed)
    rate = rate_along(plant, q, v, lambda x: cut_coordinate(plant, x, cut))
    assert abs(rate) > 1e-3
    assert plant.terms(q, v).B[:, 0] @ v == pytest.approx(-1.7 * rate, abs=1e-8)


@pytest.mark.parametrize("kind", [Revolute, Prismatic], ids=lambda k: k.__name__)
def test_an_actuator_on_a_cut_joint_acts_at_the_frame_on_its_parent(kind):
    """Also along velocities that the loop forbids, where the point of action counts."""
    plant, q = closed_machine(2, (kind,))
    cut = plant.loops[0]
    plant = Mechanism("driven", plant.bodies, plant.joints, [cut], actuators=[Actuator(cut.name)])
    v = np.random.default_rng(0).uniform(-1.0, 1.0, plant.nv)
    V = np.vstack([kinematics(plant, q, v).V, np.zeros(6)])  # the last one is the ground
    w = V[link_of(plant, cut.child)] - V[link_of(plant, cut.parent)]
    here = plant.pose(q, cut.parent) @ cut.frame
    axis = here.R @ cut.axis
    rate = axis @ (w[:3] if kind is Revolute else w[3:] + np.cross(w[:3], here.p))
    assert plant.terms(q, v).B[:, 0] @ v == pytest.approx(rate, rel=1e-12)


def test_springs_only_pull_on_what_lies_between_their_ends():
    """A spring between two bodies leaves the joints that both hang on alone."""
    bodies = [Body.planar(n, 1.0, 0.5, 0.1) for n in "abc"]
    joints = [
        Revolute("trunk", "ground", "a"),
        Revolute("left", "a", "b", frame=Frame((1, 0, 0))),
        Revolute("right", "a", "c", frame=Frame((0, 1, 0))),
    ]
    spring = PointSpring("spring", "b", "c", (1, 0, 0), (1, 0, 0), stiffness=4.0, rest=0.1)
    plant = Mechanism("fork", bodies, joints, springs=[spring], gravity=(0, 0, 0))
    h = plant.terms(np.array([0.3, 0.7, -0.4]), np.zeros(3)).h
    assert h[0] == pytest.approx(0.0, abs=1e-15)
    assert min(abs(h[1]), abs(h[2])) > 0.1


def test_names_of_drivable_coordinates():
    parts = tree_parts(0, 9)
    names = linear_coordinates(parts)
    assert len(names) == 1 + 1 + 1 + 2 + 2
    assert Mechanism(**parts, actuators=[Actuator(n) for n in names]).actuator_names == tuple(names)

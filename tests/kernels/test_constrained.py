"""Constrained dynamics: projections, accelerations; every machine against its twin in maximal coordinates."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.errors import AssemblyError
from cmbcontrol.kernels import constrained, tree
from cmbcontrol.model.elements import (
    GROUND,
    Actuator,
    Body,
    Bushing,
    Free,
    Point,
    PointSpring,
    Prismatic,
    Revolute,
    Weld,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.model.terms import RANK_TOLERANCE
from cmbcontrol.plants.five_bar import five_bar
from tests.fixtures import (
    CUTS,
    JOINTS,
    actuators,
    closed_at_random,
    closed_machine,
    every_closure,
    frame,
    kinematics,
    largest,
    link_of,
    name_of,
    quaternion,
    random_state,
    springs,
    tree_parts,
)

twice = pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])


def reframed(plant, seed):
    """The same machine with other axes and origins on every body, and another world.

    Coordinates keep their meaning; only descriptions change.
    """
    rng = np.random.default_rng([seed, 6])
    to = {name: frame(rng).inverse() for name in [GROUND, *(b.name for b in plant.bodies)]}

    def point(body, x):
        return to[body].p + to[body].R @ x

    def moved_body(b):
        R = to[b.name].R
        return Body(b.name, b.mass, point(b.name, b.com), R @ b.inertia @ R.T)

    def moved(part):
        new = {}
        if hasattr(part, "child"):
            new = {"frame": to[part.parent] @ part.frame, "child_frame": to[part.child] @ part.child_frame}
        elif isinstance(part, (Weld, Bushing)):
            new = {"frame_a": to[part.a] @ part.frame_a, "frame_b": to[part.b] @ part.frame_b}
        elif hasattr(part, "point_a"):
            new = {"point_a": point(part.a, part.point_a), "point_b": point(part.b, part.point_b)}
            new |= {key: to[part.a].R @ getattr(part, key) for key in ("axis", "normal") if hasattr(part, key)}
        return dataclasses.replace(part, **new)

    def moved_load(load):
        new = {"frame": to[load.body] @ load.frame}
        if load.axes == "world":
            new |= {key: to[GROUND].R @ getattr(load, key) for key in ("force", "moment")}
        return dataclasses.replace(load, **new)

    return Mechanism(
        plant.name,
        [moved_body(b) for b in plant.bodies],
        [moved(j) for j in plant.joints],
        [moved(loop) for loop in plant.loops],
        [moved(s) for s in plant.springs],
        plant.actuators,
        to[GROUND].R @ plant.gravity,
        loads=[moved_load(load) for load in plant.loads],
        forces=[moved(force) for force in plant.forces],
    )


def link_accelerations(plant, q, v, vdot):
    """Spatial acceleration of every link at the world origin."""
    now = kinematics(plant, q, v)
    rate = np.empty_like(now.V)
    tree.twists(plant.arrays.links, now.S, vdot, rate)
    return rate + now.A0


def acceleration(plant, q, v, u):
    return constrained.forward_dynamics(plant.arrays, q, v, u, 1e-10, constrained.new_work(plant.arrays))


def efforts(plant):
    return np.random.default_rng(1).uniform(-5.0, 5.0, plant.nu)


# -- projections ----------------------------------------------------------------------------------


@every_closure
@twice
@pytest.mark.parametrize("metric", ["mass", "euclidean"])
def test_velocity_projection(closure, twice, metric):
    plant, q, _ = closed_at_random(closure, twice)
    rng = np.random.default_rng(3)
    v = rng.standard_normal(plant.nv)
    w = plant.project_velocity(q, v, metric=metric)
    terms = plant.terms(q, w)
    assert largest(terms.A @ w) < 1e-12
    np.testing.assert_allclose(plant.project_velocity(q, w, metric=metric), w, atol=1e-13 * max(1.0, largest(w)))
    # what was removed is orthogonal to every admissible velocity, in the metric
    metric_matrix = terms.M if metric == "mass" else np.eye(plant.nv)
    assert largest(terms.Z.T @ metric_matrix @ (v - w)) < 1e-12


def test_projection_leaves_its_argument_alone():
    plant, q, _ = closed_at_random((1, (Revolute,)))
    v, before = np.ones(plant.nv), q.copy()
    plant.project_velocity(q, v)
    plant.close(q)
    plant.integrate(q, v)
    np.testing.assert_array_equal(v, 1.0)
    np.testing.assert_array_equal(q, before)


@every_closure
@twice
@pytest.mark.parametrize("metric", ["mass", "euclidean"])
def test_close_reaches_rounding(closure, twice, metric):
    plant, q, _ = closed_at_random(closure, twice)
    away = plant.integrate(q, 0.02 * np.random.default_rng(4).standard_normal(plant.nv))
    near = plant.close(away, metric=metric)
    reach = 1.0 + largest(plant.link_poses(near)[1])
    assert plant.closure_error(near) <= 1e-14 * reach
    assert largest(plant.difference(away, near)) < 0.5


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
def test_close_moves_to_the_nearest_pose(closure):
    """The displacement is orthogonal to what the loops leave free, to first order in its size."""
    plant = five_bar(closure=closure)
    q = plant.assemble(left=2.1, right=1.0)
    away = plant.integrate(q, 1e-5 * np.array([1.0, -2.0, 0.5, 1.5]))
    near = plant.close(away)
    d, terms = plant.difference(away, near), plant.terms(near, np.zeros(4))
    assert largest(terms.Z.T @ terms.M @ d) < 1e-9
    assert 1e-7 < largest(d) < 1e-4


def test_close_of_a_closed_pose_does_not_move_it():
    plant = five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    np.testing.assert_array_equal(plant.close(q), q)


def test_close_far_from_the_manifold_says_which_loop_stays_open():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    far = Point("far", "ground", "rod", (5.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    plant = Mechanism("out of reach", [rod], [Revolute("pivot", "ground", "rod")], [far])
    with pytest.raises(AssemblyError, match="'far' stays open by 4"):
        plant.close(np.array([0.3]))


# -- acceleration -----------------------------------------------------------------------------------


def null_space_acceleration(t, f):
    """c + Z (Z'MZ)^-1 Z'(f - h - M c), with numpy's singular value decomposition."""
    c = -np.linalg.pinv(t.A, rcond=1e-9) @ t.b if t.A.size else np.zeros(len(t.v))
    _, s, Vt = np.linalg.svd(t.A) if t.A.size else (None, np.zeros(0), np.eye(len(t.v)))
    Z = Vt[np.count_nonzero(s > 1e-9 * s.max(initial=0.0)) :].T
    return c + Z @ np.linalg.solve(Z.T @ t.M @ Z, Z.T @ (f - t.h - t.M @ c))


@every_closure
@twice
def test_acceleration_is_the_null_space_form(closure, twice):
    plant, q, v = closed_at_random(closure, twice)
    u, t = efforts(plant), plant.terms(q, v)
    vdot, rank = acceleration(plant, q, v, u)
    expected = null_space_acceleration(t, t.B @ u)
    assert rank == t.rank
    np.testing.assert_allclose(vdot, expected, atol=1e-9 * max(1.0, largest(expected)))
    np.testing.assert_allclose(t.A @ vdot, -t.b, atol=1e-10 * max(1.0, largest(t.b)))


@every_closure
def test_acceleration_does_not_change_when_loops_are_written_twice(closure):
    plant, q, v = closed_at_random(closure)
    double, _, _ = closed_at_random(closure, twice=True)
    u = efforts(plant)
    once, both = acceleration(plant, q, v, u)[0], acceleration(double, q, v, u)[0]
    np.testing.assert_allclose(both, once, atol=1e-9 * max(1.0, largest(once)))


@every_closure
@twice
def test_constraint_forces_do_no_work(closure, twice):
    plant, q, v = closed_at_random(closure, twice)
    u, t = efforts(plant), plant.terms(q, v)
    vdot, _ = acceleration(plant, q, v, u)
    power = v @ t.B @ u
    assert v @ (t.M @ vdot + t.h) == pytest.approx(power, abs=1e-9 * max(1.0, largest(t.h), abs(power)))


@every_closure
def test_constraint_forces_lie_in_the_span_of_the_gradients(closure):
    plant, q, v = closed_at_random(closure, twice=True)
    u, t = efforts(plant), plant.terms(q, v)
    force = t.B @ u - t.h - t.M @ acceleration(plant, q, v, u)[0]
    assert largest(t.P @ force) < 1e-9 * max(1.0, largest(force))


@pytest.mark.parametrize(
    ("cut", "closure"), [("tip", "line"), ("tip", "point"), ("tip", "revolute"), ("right", "revolute")]
)
def test_five_bars_move_the_same_however_they_are_closed(closure, cut):
    """Angles of the driven links, with the same motor torques; elbows follow."""
    reference, plant = five_bar(), five_bar(cut=cut, closure=closure)
    q = q0 = reference.assemble(left=2.1, right=1.0)
    if cut == "right":  # the same configuration in other joint angles
        lower, upper = q0[2], q0[2] + q0[3]
        q = np.array([q0[0], q0[1], upper - q0[0] - q0[1], lower - upper])
    assert plant.closure_error(q) < 1e-14
    u, rest = np.array([3.0, -5.0]), np.zeros(4)
    expected, _ = acceleration(reference, q0, rest, u)
    vdot, rank = acceleration(plant, q, rest, u)
    assert rank == 2
    np.testing.assert_allclose(vdot[:2], expected[:2], atol=1e-11)


@every_closure
@twice
def test_nothing_depends_on_the_frames_in_which_bodies_are_described(closure, twice):
    plant, q, v = closed_at_random(closure, twice)
    other, u = reframed(plant, 1), efforts(plant)
    t, o = plant.terms(q, v), other.terms(q, v)
    assert other.closure_error(q) < 1e-13
    assert o.rank == t.rank
    np.testing.assert_allclose(o.M, t.M, atol=1e-12)
    np.testing.assert_allclose(o.h, t.h, atol=1e-11)
    np.testing.assert_allclose(o.P, t.P, atol=1e-11)
    np.testing.assert_allclose(o.B, t.B, atol=1e-13)
    expected = acceleration(plant, q, v, u)[0]
    np.testing.assert_allclose(acceleration(other, q, v, u)[0], expected, atol=1e-9 * max(1.0, largest(expected)))


@pytest.mark.parametrize("seed", range(5))
def test_planar_machine_in_a_tilted_plane(seed):
    """Redundant rows are then rounding errors, not zeros; a singular configuration is no less singular."""
    flat = five_bar(closure="revolute")
    plant = reframed(flat, seed)
    q = plant.close(flat.assemble(left=2.1, right=1.0))
    found = plant.diagnose(q)
    assert (found.rank, found.generic_rank, found.dof, found.redundant) == (2, 2, 2, {"tip": 3})
    assert found.conditioning == pytest.approx(flat.diagnose(q).conditioning, rel=0.2)
    v, u = plant.project_velocity(q, np.ones(4)), np.array([3.0, -5.0])
    np.testing.assert_allclose(v, flat.project_velocity(q, np.ones(4)), atol=1e-12)
    np.testing.assert_allclose(acceleration(plant, q, v, u)[0], acceleration(flat, q, v, u)[0], atol=1e-9)
    found = plant.diagnose(np.array([np.pi, -np.pi, 0.0, np.pi]))
    assert (found.singular, found.rank, found.generic_rank) == (True, 1, 2)


def test_fully_locked_machine_does_not_move():
    plant, q = closed_machine(1, (Weld, Weld, Weld), bodies=2, kinds=(Revolute, Prismatic))
    vdot, rank = acceleration(plant, q, np.zeros(2), np.zeros(0))
    assert rank == 2
    np.testing.assert_allclose(vdot, 0.0, atol=1e-12)


def test_actuator_on_a_locked_coordinate_does_nothing():
    plant, q = closed_machine(
        3, (Weld,), bodies=2, kinds=(Revolute,), actuators=[Actuator("joint0"), Actuator("joint1")]
    )
    t = plant.terms(q, np.zeros(2))
    vdot, _ = acceleration(plant, q, np.zeros(2), np.array([100.0, 0.0]))
    expected = null_space_acceleration(t, t.B @ [100.0, 0.0])
    np.testing.assert_allclose(vdot, expected, atol=1e-9)


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
    """Configurations and body-fixed twists of the bodies."""
    V = kinematics(plant, q, v).V
    position, velocity = [], []
    for body in plant.bodies:
        here, (omega, v0) = plant.pose(q, body.name), V[link_of(plant, body.name)].reshape(2, 3)
        position += [*quaternion(here.R), *here.p]
        velocity += [*(here.R.T @ omega), *(here.R.T @ (v0 + np.cross(omega, here.p)))]
    return np.array(position), np.array(velocity)


def accelerations(plant, q, v, u):
    """Spatial acceleration of every body, and the rank of the loops."""
    vdot, rank = constrained.forward_dynamics(plant.arrays, q, v, u, 1e-10, constrained.new_work(plant.arrays))
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


# -- what rows carry ---------------------------------------------------------------------------------------------

SHARED = {
    "five_bar": (plants.five_bar, {"left": 2.1, "right": 1.0}),
    "bricard": (plants.bricard, {}),
    "n_four_bar": (lambda: plants.n_four_bar(4), {}),
    "parallelogram": (plants.parallelogram, {"link1_angle": 1.0}),
    "stewart": (plants.stewart, {}),
}


@pytest.mark.parametrize("name", SHARED)
def test_smallest_multipliers(name):
    """Against the pseudoinverse: M vdot + A' lam = B u - h."""
    made, values = SHARED[name]
    plant, rng = made(), np.random.default_rng(3)
    q = plant.assemble(**values)
    for _ in range(5):
        v = plant.project_velocity(q, rng.standard_normal(plant.nv))
        u = rng.standard_normal(plant.nu)
        terms, work = plant.terms(q, v), constrained.new_work(plant.arrays)
        lam, vdot = np.empty(len(plant.row_names)), np.empty(plant.nv)
        rank = constrained.carried(plant.arrays, q, v, u, RANK_TOLERANCE, plant.nv, work, np.zeros(len(lam)), lam)
        again = constrained.acceleration(plant.arrays, q, v, u, RANK_TOLERANCE, plant.nv, work, vdot)
        assert rank == again == terms.rank
        force = terms.B @ u - terms.h - terms.M @ vdot
        wanted = np.linalg.pinv(terms.A.T, rcond=1e-9) @ force
        np.testing.assert_allclose(lam, wanted, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(terms.A.T @ lam, force, atol=1e-9 * np.abs(wanted).max())


def test_motion_of_rows():
    plant = plants.bricard()
    q = plant.integrate(plant.assemble(), 0.1 * np.ones(plant.nv))  # open
    v, rate, work = np.linspace(-1.0, 1.0, plant.nv), np.empty(len(plant.row_names)), constrained.new_work(plant.arrays)
    constrained.row_motion(plant.arrays, q, v, work, rate)
    np.testing.assert_allclose(work.phi, plant.residual(q), atol=1e-15)
    np.testing.assert_allclose(rate, plant.jacobian(q) @ v, atol=1e-14)

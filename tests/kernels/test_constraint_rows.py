"""Loop rows: A is the exact derivative of the residual, b its rate; wrenches do no work on their joint's motion."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol.model.elements import (
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    Frame,
    Free,
    Helical,
    Planar,
    Point,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import (
    CUTS,
    LOOPS,
    ROWS,
    admissible_state,
    body,
    closed_machine,
    direction,
    joint_motion,
    largest,
    loop_at,
    name_of,
    quaternion,
    random_state,
    random_tree,
    rate_along,
)

SEEDS = range(4)
every_loop = pytest.mark.parametrize("kind", LOOPS, ids=name_of)
every_cut = pytest.mark.parametrize("kind", CUTS, ids=name_of)


def two_free_bodies(seed, kind, ends=("body0", "body1"), **more):
    """Two bodies that only the loop holds together, and a configuration where it is closed."""
    rng = np.random.default_rng([seed, 7])
    if kind is Coupling:
        parts = {"bodies": [body(rng, "body0"), body(rng, "body1")]}
        parts["joints"] = [Revolute("one", "ground", "body0"), Revolute("two", "body0", "body1")]
    else:
        parts = {"bodies": [body(rng, "body0"), body(rng, "body1")]}
        parts["joints"] = [Free("one", "ground", "body0"), Free("two", "ground", "body1")]
    plant = Mechanism("two bodies", **parts)
    q, _ = random_state(plant, seed)
    return Mechanism("two bodies", **parts, loops=[loop_at(plant, q, kind, rng, ends=ends)]), q


@every_loop
@pytest.mark.parametrize("seed", SEEDS)
def test_loops_are_closed_where_they_were_built(kind, seed):
    plant, q = closed_machine(seed, (kind,))
    assert plant.closure_error(q) < 2e-15 * (1.0 + largest(plant.link_poses(q)[1]))
    assert len(plant.row_names) == ROWS[kind]
    assert plant.jacobian(q).shape == (ROWS[kind], plant.nv)


@every_loop
@pytest.mark.parametrize("off", [0.0, 0.3], ids=["closed", "open"])
@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_is_the_rate_of_the_residual(kind, off, seed):
    plant, q = closed_machine(seed, (kind,))
    _, v = random_state(plant, seed)
    q = plant.integrate(q, off * np.random.default_rng(seed).standard_normal(plant.nv))
    assert (plant.closure_error(q) > 1e-3) == (off > 0.0)
    np.testing.assert_allclose(plant.jacobian(q) @ v, rate_along(plant, q, v, plant.residual), atol=3e-9)


@every_loop
@pytest.mark.parametrize("off", [0.0, 0.3], ids=["closed", "open"])
@pytest.mark.parametrize("seed", SEEDS)
def test_bias_is_the_rate_of_the_jacobian(kind, off, seed):
    plant, q = closed_machine(seed, (kind,))
    _, v = random_state(plant, seed)
    q = plant.integrate(q, off * np.random.default_rng(seed).standard_normal(plant.nv))
    rate = rate_along(plant, q, v, lambda x: plant.jacobian(x) @ v)
    np.testing.assert_allclose(plant.terms(q, v).b, rate, atol=3e-8)


@every_loop
@pytest.mark.parametrize("ends", [("body0", "body1"), ("body1", "body0"), ("ground", "body1"), ("body0", "ground")])
def test_rows_are_independent_between_free_bodies(kind, ends):
    plant, q = two_free_bodies(1, kind, ends)
    terms = plant.terms(q, np.zeros(plant.nv))
    assert terms.rank == ROWS[kind]
    assert np.linalg.matrix_rank(terms.A) == ROWS[kind]
    assert plant.generic_rank(q) == ROWS[kind]
    assert set(plant.diagnose(q).redundant.values()) == {0}


@every_cut
@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_joint_stays_closed_along_its_own_motion(kind, seed):
    plant, _ = two_free_bodies(seed, kind)
    joint, rng = plant.loops[0], np.random.default_rng(seed)
    base, _ = random_state(plant, seed + 50)
    for _ in range(5):
        x = rng.uniform(-3.0, 3.0, len(kind.velocity_suffixes))
        b = plant.pose(base, "body0") @ joint.frame @ joint_motion(joint, x) @ joint.child_frame.inverse()
        assert plant.closure_error(place(plant, base, b)) < 5e-15


def place(plant, q, pose):
    """q with body1 (on its free joint) at a pose."""
    q = q.copy()
    q[7:] = [*quaternion(pose.R), *pose.p]
    return q


@every_cut
@pytest.mark.parametrize("seed", SEEDS)
def test_the_wrenches_of_a_cut_joint_do_no_work_on_its_motion(kind, seed):
    plant, q = two_free_bodies(seed, kind)
    joint, rng, h = plant.loops[0], np.random.default_rng(seed), 1e-5
    here, n = plant.pose(q, "body0") @ joint.frame, len(kind.velocity_suffixes)

    def moved(x):
        return place(plant, q, here @ joint_motion(joint, x) @ joint.child_frame.inverse())

    x = rng.uniform(0.5, 2.0, n)
    A = plant.jacobian(moved(x))
    for e in h * np.eye(n):
        v = plant.difference(moved(x - e), moved(x + e)) / (2.0 * h)
        assert largest(v) > 0.01  # it does move
        assert largest(A @ v) < 1e-9
    assert largest(A @ rng.standard_normal(plant.nv)) > 1e-3


def measure(kind, seed=3):
    """A closure between free bodies off its manifold: the configurations of a and b, the loop, and its residual."""
    plant, q = two_free_bodies(seed, kind)
    q, _ = random_state(plant, seed + 20)
    return plant.pose(q, "body0"), plant.pose(q, "body1"), plant.loops[0], plant.residual(q)


def test_point_residual_is_the_gap_in_the_axes_of_a():
    a, b, loop, phi = measure(Point)
    gap = b.p + b.R @ loop.point_b - a.p - a.R @ loop.point_a
    np.testing.assert_allclose(phi, a.R.T @ gap, atol=1e-14)


def test_line_and_plane_residuals_are_distances():
    a, b, loop, phi = measure(PointOnLine)
    gap = a.R.T @ (b.p + b.R @ loop.point_b - a.p - a.R @ loop.point_a)
    assert np.linalg.norm(phi) == pytest.approx(np.linalg.norm(np.cross(loop.axis, gap)), rel=1e-12)
    a, b, loop, phi = measure(PointOnPlane)
    gap = a.R.T @ (b.p + b.R @ loop.point_b - a.p - a.R @ loop.point_a)
    assert phi[0] == pytest.approx(loop.normal @ gap, rel=1e-12)


def test_distance_residual_is_to_first_order_the_stretch_of_the_rod():
    a, b, loop, phi = measure(Distance)
    length = np.linalg.norm(b.p + b.R @ loop.point_b - a.p - a.R @ loop.point_a)
    assert phi[0] == pytest.approx((length**2 - loop.length**2) / (2.0 * loop.length), rel=1e-12)


def test_weld_and_cut_fixed_joint_are_the_same():
    plant, q = two_free_bodies(5, Weld)
    weld = plant.loops[0]
    fixed = Fixed("loop", weld.a, weld.b, frame=weld.frame_a, child_frame=weld.frame_b)
    other = Mechanism("two bodies", plant.bodies, plant.joints, [fixed])
    q, _ = random_state(plant, 9)
    np.testing.assert_array_equal(plant.residual(q), other.residual(q))
    np.testing.assert_array_equal(plant.jacobian(q), other.jacobian(q))


def test_coupling_residual_and_rows():
    gears = Coupling("gears", {"one": 2.0, "two": -3.0}, offset=0.5)
    plant, _ = two_free_bodies(5, Coupling)
    plant = Mechanism("two bodies", plant.bodies, plant.joints, [gears])
    q = np.array([0.4, 0.7])
    assert plant.residual(q)[0] == pytest.approx(2.0 * 0.4 - 3.0 * 0.7 - 0.5, abs=1e-15)
    np.testing.assert_array_equal(plant.jacobian(q), [[2.0, -3.0]])


def test_cut_screw_may_stand_many_turns_away():
    plant, q = two_free_bodies(2, Helical)
    joint = plant.loops[0]
    for turns in (-7, 3, 40):
        x = np.array([0.3 + 2.0 * np.pi * turns])
        b = plant.pose(q, "body0") @ joint.frame @ joint_motion(joint, x) @ joint.child_frame.inverse()
        assert plant.closure_error(place(plant, q, b)) < 1e-13


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (Revolute, "x y z tilt_x tilt_y"),
        (Prismatic, "x y tilt_x tilt_y twist"),
        (Cylindrical, "x y tilt_x tilt_y"),
        (Helical, "x y tilt_x tilt_y screw"),
        (Planar, "z tilt_x tilt_y"),
        (Spherical, "x y z"),
        (Universal, "x y z cross"),
        (Fixed, "x y z tilt_x tilt_y twist"),
        (Weld, "x y z tilt_x tilt_y twist"),
        (Point, "x y z"),
        (PointOnLine, "x y"),
        (PointOnPlane, "normal"),
        (Distance, "length"),
    ],
    ids=name_of,
)
def test_rows_have_names_and_units(kind, rows):
    plant, _ = two_free_bodies(1, kind)
    assert plant.row_names == tuple(f"loop_{r}" for r in rows.split())
    angular = ("tilt_x", "tilt_y", "twist", "cross")
    assert plant.row_units == tuple("rad" if r in angular else "m" for r in rows.split())


@pytest.mark.parametrize("kind", [k for k in LOOPS if k is not Coupling], ids=name_of)
def test_rows_do_not_depend_on_the_common_path_to_the_ground(kind):
    """What both ends share cannot change a geometric loop."""
    plant = random_tree(3, 3, (Free, Revolute, Prismatic))
    chain = [
        Free("trunk", "ground", "body0"),
        Revolute("left", "body0", "body1", axis=(1, 2, 3), frame=Frame((0.3, 0, 0))),
        Prismatic("right", "body0", "body2", axis=(1, 0, 1)),
    ]
    plant = Mechanism("fork", plant.bodies, chain)
    q, _ = random_state(plant, 4)
    loop = loop_at(plant, q, kind, np.random.default_rng(4), ends=("body1", "body2"))
    plant = Mechanism("fork", plant.bodies, chain, [loop])
    assert largest(plant.jacobian(q)[:, :6]) < 1e-14
    moved = plant.integrate(q, np.concatenate([np.full(6, 0.7), np.zeros(2)]))
    assert plant.closure_error(moved) < 1e-14


@pytest.mark.parametrize("seed", SEEDS)
@every_cut
def test_a_tree_joint_satisfies_the_rows_of_its_own_cut(kind, seed):
    """The same joint as a tree joint and as a loop: redundant everywhere, in position, velocity and bias."""
    plant = random_tree(seed, 2, (Spherical, kind))
    joint = next(j for j in plant.joints if type(j) is kind)
    extra = dataclasses.replace(joint, name="cut")
    plant = Mechanism("twice", plant.bodies, plant.joints, [extra])
    q, v = random_state(plant, seed)
    terms = plant.terms(q, v)
    assert largest(terms.phi) < 2e-15
    assert largest(terms.A) < 1e-14
    assert largest(terms.b) < 1e-13


def test_admissible_velocities_keep_loops_closed_to_second_order():
    plant, q = closed_machine(2, (Point, Distance))
    q, v = admissible_state(plant, q, 2)
    for h in (1e-3, 1e-4):
        assert plant.closure_error(plant.integrate(q, h * v)) < 20.0 * h**2


def test_row_axes_may_be_given_in_any_length():
    rng = np.random.default_rng(0)
    axis = direction(rng)
    assert np.linalg.norm(PointOnLine("line", "a", "b", axis=7.0 * axis).axis) == pytest.approx(1.0, abs=1e-15)
    assert np.linalg.norm(PointOnPlane("plane", "a", "b", normal=7.0 * axis).normal) == pytest.approx(1.0, abs=1e-15)

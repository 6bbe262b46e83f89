"""Split of the constraints: projections, null space, pseudoinverse, and the constrained acceleration."""

import numpy as np
import pytest
from machines import (
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
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
    actuators,
    admissible_state,
    closed_machine,
    largest,
    reframed,
    springs,
    tree_parts,
)

from cmbcontrol.errors import AssemblyError
from cmbcontrol.kernels import constrained, split
from cmbcontrol.model.elements import Actuator, Body, Frame, Free
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar

CLOSURES = [  # seed of the tree, kinds of loops; all rows count
    (0, ()),
    (1, (Revolute,)),
    (2, (Prismatic, Distance)),
    (3, (Helical, PointOnPlane)),
    (4, (Cylindrical, Coupling)),
    (1, (Universal, PointOnLine)),
    (3, (Planar, Spherical)),
    (7, (Point, Distance, Coupling)),
    (8, (Weld,)),
    (9, (Fixed,)),
]
twice = pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])


def closure_name(closure):
    return "+".join(kind.__name__ for kind in closure[1]) or "tree"


machines = pytest.mark.parametrize("closure", CLOSURES, ids=closure_name)


def machine(closure, twice=False, forces=True):
    """A closed random tree at a closed configuration with an admissible velocity."""
    seed, kinds = closure
    more = {}
    if forces:
        parts = tree_parts(seed, 6)
        more = {"springs": springs(parts, seed), "actuators": actuators(parts, seed)}
    plant, q = closed_machine(seed, kinds, twice=twice, **more)
    return plant, *admissible_state(plant, q, seed)


def acceleration(plant, q, v, u):
    return constrained.forward_dynamics(plant.arrays, q, v, u, 1e-10)


def efforts(plant):
    return np.random.default_rng(1).uniform(-5.0, 5.0, plant.nu)


# -- projections ----------------------------------------------------------------------------------


@machines
@twice
@pytest.mark.parametrize("metric", ["mass", "euclidean"])
def test_velocity_projection(closure, twice, metric):
    plant, q, _ = machine(closure, twice)
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
    plant, q, _ = machine((1, (Revolute,)))
    v, before = np.ones(plant.nv), q.copy()
    plant.project_velocity(q, v)
    plant.close(q)
    plant.integrate(q, v)
    np.testing.assert_array_equal(v, 1.0)
    np.testing.assert_array_equal(q, before)


@machines
@twice
@pytest.mark.parametrize("metric", ["mass", "euclidean"])
def test_close_reaches_rounding(closure, twice, metric):
    plant, q, _ = machine(closure, twice)
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


# -- the record of a state --------------------------------------------------------------------------


@machines
@twice
def test_null_space_and_projector(closure, twice):
    plant, q, v = machine(closure, twice)
    t = plant.terms(q, v)
    assert t.rank == np.linalg.matrix_rank(t.A * plant.row_scale[:, None], 1e-9) if t.A.size else t.rank == 0
    assert t.rank == len(plant.row_names) // (2 if twice else 1)
    assert t.dof == plant.nv - t.rank
    assert t.Z.shape == (plant.nv, t.dof)
    np.testing.assert_allclose(t.Z.T @ t.Z, np.eye(t.dof), atol=1e-13)
    np.testing.assert_array_equal(t.P, t.P.T)
    np.testing.assert_allclose(t.P @ t.P, t.P, atol=1e-13)
    np.testing.assert_allclose(t.P, t.Z @ t.Z.T, atol=1e-15)
    np.testing.assert_allclose(t.A @ t.P, 0.0, atol=1e-12)
    np.testing.assert_allclose(t.P @ v, v, atol=1e-12 * max(1.0, largest(v)))


@machines
@twice
def test_pseudoinverse_satisfies_moore_penrose(closure, twice):
    plant, q, v = machine(closure, twice)
    t = plant.terms(q, v)
    A, X = t.A, t.A_pinv
    assert X.shape == (plant.nv, len(plant.row_names))
    size = max(1.0, largest(A)) * max(1.0, largest(X))
    np.testing.assert_allclose(A @ X @ A, A, atol=1e-12 * size)
    np.testing.assert_allclose(X @ A @ X, X, atol=1e-12 * size * max(1.0, largest(X)))
    np.testing.assert_allclose(A @ X, (A @ X).T, atol=1e-12 * size)
    np.testing.assert_allclose(X @ A, (X @ A).T, atol=1e-12 * size)
    np.testing.assert_allclose(np.eye(plant.nv) - X @ A, t.P, atol=1e-12 * size)
    np.testing.assert_allclose(t.Cv, -np.linalg.pinv(A, rcond=1e-9) @ t.b, atol=1e-10 * max(1.0, largest(t.Cv)))


@machines
def test_writing_a_loop_twice_changes_no_rank(closure):
    plant, q, v = machine(closure)
    double, _, _ = machine(closure, twice=True)
    once, both = plant.terms(q, v), double.terms(q, v)
    assert both.rank == once.rank
    assert len(double.row_names) == 2 * len(plant.row_names)
    np.testing.assert_allclose(both.P, once.P, atol=1e-11)


@pytest.mark.parametrize("metres", [1e-3, 1.0, 1e3])
def test_rank_does_not_depend_on_the_unit_of_length(metres):
    """The five-bar in kilometres, metres and millimetres, closed by five rows of which two count."""
    bodies = [Body.planar(n, 1.0, 0.5 * metres, 0.1 * metres**2) for n in ("a", "b", "c", "d")]
    end, tip = Frame((metres, 0, 0)), Frame((1.5 * metres, 0, 0))
    joints = [
        Revolute("left", "ground", "a"),
        Revolute("elbow_left", "a", "b", frame=end),
        Revolute("right", "ground", "c", frame=end),
        Revolute("elbow_right", "c", "d", frame=end),
    ]
    plant = Mechanism("sized", bodies, joints, [Revolute("tip", "b", "d", frame=tip, child_frame=tip)])
    q = plant.assemble(left=2.1, right=1.0)
    terms = plant.terms(q, np.zeros(4))
    assert terms.rank == 2
    assert terms.conditioning == pytest.approx(five_bar().diagnose(q).conditioning, rel=0.5)


def test_conditioning_does_not_depend_on_the_unit_of_length():
    """A radian counts as the size of the machine, so that turns compare with travels."""
    found = []
    for metres in (1e-3, 1.0, 1e3):
        body = Body("body", 1.0, (0.2 * metres, 0.0, 0.1 * metres), metres**2 * np.array([0.1, 0.2, 0.25]))
        weld = Weld("weld", "ground", "body", Frame((metres, 0, 0)), Frame((0, metres, 0)))
        plant = Mechanism("sized", [body], [Free("free", "ground", "body")], [weld])
        q = plant.assemble()
        assert set(plant.row_scale) == {1.0, plant.size}
        found.append(plant.diagnose(q).conditioning)
    np.testing.assert_allclose(found, found[1], rtol=1e-9)
    assert found[1] > 0.05


def factored(G):
    """Rank and pivots of the rows of G, at a tolerance of 1e-10."""
    G = np.array(G, dtype=float)
    rows = split.new_rows(*G.shape)
    rows.G[:] = G
    return split.factor_rows(rows, 1e-10, 0.0, G.shape[1]), rows.pivots


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_a_small_independent_part_is_found_among_duplicates(angle):
    """Rounding leaves duplicates with more than (1e-9)^2 of their squared length: it must not hide the true row."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 7))
    b -= a * (a @ b) / (a @ a)
    rank, pivots = factored([a, 3.0 * a, a / 3.0, a + angle * b, 0.7 * a, -a, 1.1 * a])
    assert rank == 2
    assert pivots[1] == pytest.approx(angle * np.linalg.norm(b), rel=1e-5)
    assert factored([a, 3.0 * a, a / 3.0, 0.7 * a])[0] == 1


def test_rank_is_capped():
    rows = split.new_rows(3, 3)
    rows.G[:] = np.eye(3)
    assert split.factor_rows(rows, 1e-10, 0.0, 2) == 2


# -- acceleration -----------------------------------------------------------------------------------


def null_space_acceleration(t, f):
    """c + Z (Z'MZ)^-1 Z'(f - h - M c), with numpy's singular value decomposition."""
    c = -np.linalg.pinv(t.A, rcond=1e-9) @ t.b if t.A.size else np.zeros(len(t.v))
    _, s, Vt = np.linalg.svd(t.A) if t.A.size else (None, np.zeros(0), np.eye(len(t.v)))
    Z = Vt[np.count_nonzero(s > 1e-9 * s.max(initial=0.0)) :].T
    return c + Z @ np.linalg.solve(Z.T @ t.M @ Z, Z.T @ (f - t.h - t.M @ c))


@machines
@twice
def test_acceleration_is_the_null_space_form(closure, twice):
    plant, q, v = machine(closure, twice)
    u, t = efforts(plant), plant.terms(q, v)
    vdot, rank = acceleration(plant, q, v, u)
    expected = null_space_acceleration(t, t.B @ u)
    assert rank == t.rank
    np.testing.assert_allclose(vdot, expected, atol=1e-9 * max(1.0, largest(expected)))
    np.testing.assert_allclose(t.A @ vdot, -t.b, atol=1e-10 * max(1.0, largest(t.b)))


@machines
def test_acceleration_does_not_change_when_loops_are_written_twice(closure):
    plant, q, v = machine(closure)
    double, _, _ = machine(closure, twice=True)
    u = efforts(plant)
    once, both = acceleration(plant, q, v, u)[0], acceleration(double, q, v, u)[0]
    np.testing.assert_allclose(both, once, atol=1e-9 * max(1.0, largest(once)))


@machines
@twice
def test_constraint_forces_do_no_work(closure, twice):
    plant, q, v = machine(closure, twice)
    u, t = efforts(plant), plant.terms(q, v)
    vdot, _ = acceleration(plant, q, v, u)
    power = v @ t.B @ u
    assert v @ (t.M @ vdot + t.h) == pytest.approx(power, abs=1e-9 * max(1.0, largest(t.h), abs(power)))


@machines
def test_constraint_forces_lie_in_the_span_of_the_gradients(closure):
    plant, q, v = machine(closure, twice=True)
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
    if cut == "right":  # the same pose in other joint angles
        lower, upper = q0[2], q0[2] + q0[3]
        q = np.array([q0[0], q0[1], upper - q0[0] - q0[1], lower - upper])
    assert plant.closure_error(q) < 1e-14
    u, rest = np.array([3.0, -5.0]), np.zeros(4)
    expected, _ = acceleration(reference, q0, rest, u)
    vdot, rank = acceleration(plant, q, rest, u)
    assert rank == 2
    np.testing.assert_allclose(vdot[:2], expected[:2], atol=1e-11)


@machines
@twice
def test_nothing_depends_on_the_frames_in_which_bodies_are_described(closure, twice):
    plant, q, v = machine(closure, twice)
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


def test_nothing_to_split_without_loops():
    plant, q, v = machine((0, ()))
    t = plant.terms(q, v)
    assert (t.rank, t.dof, t.conditioning) == (0, plant.nv, 1.0)
    assert t.A.shape == (0, plant.nv)
    assert t.A_pinv.shape == (plant.nv, 0)
    np.testing.assert_allclose(t.P, np.eye(plant.nv), atol=1e-15)
    np.testing.assert_array_equal(t.Cv, 0.0)

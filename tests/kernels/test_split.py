"""Split of the constraint gradients: rank, null space, pseudoinverse, conditioning."""

import numpy as np
import pytest

from cmbcontrol import forward_dynamics
from cmbcontrol.kernels import constrained, split
from cmbcontrol.model.elements import Body, Frame, Free, Revolute, Weld
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar
from cmbcontrol.plants.n_four_bar import configuration, n_four_bar
from tests.fixtures import closed_at_random, every_closure, largest

twice = pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])


# -- the record of a state --------------------------------------------------------------------------


@every_closure
@twice
def test_null_space_and_projector(closure, twice):
    plant, q, v = closed_at_random(closure, twice)
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


@every_closure
@twice
def test_pseudoinverse_satisfies_moore_penrose(closure, twice):
    plant, q, v = closed_at_random(closure, twice)
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


@every_closure
def test_writing_a_loop_twice_changes_no_rank(closure):
    plant, q, v = closed_at_random(closure)
    double, _, _ = closed_at_random(closure, twice=True)
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
    split.take_rows(G, rows)
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
    split.take_rows(np.eye(3), rows)
    assert split.factor_rows(rows, 1e-10, 0.0, 2) == 2


# -- acceleration -----------------------------------------------------------------------------------


def test_nothing_to_split_without_loops():
    plant, q, v = closed_at_random((0, ()))
    t = plant.terms(q, v)
    assert (t.rank, t.dof, t.conditioning) == (0, plant.nv, 1.0)
    assert t.A.shape == (0, plant.nv)
    assert t.A_pinv.shape == (plant.nv, 0)
    np.testing.assert_allclose(t.P, np.eye(plant.nv), atol=1e-15)
    np.testing.assert_array_equal(t.Cv, 0.0)


# -- large machines -----------------------------------------------------------------------------------


def random_band(rng, rows, n):
    """Rows of neighbouring columns, some of which vanish or come twice, in any order."""
    G = np.zeros((rows, n))
    for i in range(rows):
        begin = int(rng.integers(0, n - 4))
        G[i, begin : begin + int(rng.integers(1, 5))] = rng.standard_normal()
    G[rng.integers(rows, size=rows // 4)] = G[rng.integers(rows)]
    G[rng.integers(rows, size=rows // 6)] = 0.0
    return G


@pytest.mark.parametrize("seed", range(40))
def test_bands_are_split_as_dense_rows_are(seed):
    """Against singular values: rank, the smallest solution and multipliers."""
    rng = np.random.default_rng(seed)
    count, n = int(rng.integers(2, 25)), int(rng.integers(6, 40))
    G = random_band(rng, count, n)
    rows = split.new_rows(count, n)
    split.take_rows(G, rows)
    rank = split.factor_rows(rows, 1e-10, 0.0, n)
    s = np.linalg.svd(G, compute_uv=False)
    assert rank == np.count_nonzero(s > 1e-9 * s.max())
    assert len(set(rows.order[:rank])) == rank
    assert set(rows.order) == set(range(count))
    x = rng.standard_normal(n)
    z = np.zeros(n)
    split.solve_head(rows, rank, G @ x, z)
    split.to_space(rows, rank, z)
    np.testing.assert_allclose(
        z, np.linalg.pinv(G, rcond=1e-10) @ G @ x, atol=1e-11 * max(1.0, largest(x)) / s[rank - 1]
    )
    lam = np.zeros(count)
    head = G.T @ rng.standard_normal(count)
    along = head.copy()
    split.to_head(rows, rank, head)
    np.testing.assert_allclose(head[rank:], 0.0, atol=1e-12 * largest(along))
    split.solve_multipliers(rows, rank, head, lam)
    np.testing.assert_allclose(G.T @ lam, along, atol=1e-10 * largest(along))


@pytest.mark.parametrize("angle", [0.0, np.pi, 1.0], ids=["flat", "flat, with rounding", "regular"])
def test_what_is_touched_grows_with_the_number_of_loops(angle):
    """Entries of rows and reflectors, and of the factor of M, a loop: as many in a chain of 200 as in one of 100."""
    entries = []
    for n in (100, 200):
        plant = n_four_bar(n)
        work = constrained.new_work(plant.arrays)
        rank = constrained.update_position(plant.arrays, configuration(n, angle), work, 1e-10, plant.nv)
        assert rank == (n if angle != 1.0 else 2 * n)
        of_pivots = work.rows.order[:rank]
        spans = work.rows.end[of_pivots] - work.rows.begin[of_pivots]
        heads = np.arange(rank) - np.minimum(work.rows.first[of_pivots], np.arange(rank))
        entries.append((spans.sum() + heads.sum() + (np.arange(plant.nv) - work.root.first).sum()) / n)
    assert entries[1] < 1.2 * entries[0] < 1.2 * 100.0


def test_modes_of_a_machine_have_scratch_of_their_own():
    """A machine without some of its rows may not use that of the whole."""
    whole = n_four_bar(6)
    q = configuration(6, 0.0)  # singular, so that kernels evaluate
    v = np.zeros(whole.nv)
    forward_dynamics(whole, q, v)
    some = whole.without("top2", "top5")
    for plant in (some, whole, some):
        t = plant.terms(q, v)
        expected = t.Z @ np.linalg.solve(t.Z.T @ t.M @ t.Z, -t.Z.T @ t.h)
        assert forward_dynamics(plant, q, v) == pytest.approx(expected, abs=1e-9)

"""Formulations: one physics by all names, what each is said to be, and runs with them."""

import importlib
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import acceleration, constrained_motion, forward_dynamics
from cmbcontrol.errors import ModelError, RedundantRowsError, SimulationError, Status
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation, constraint_inertia
from cmbcontrol.papers.methods import settings
from cmbcontrol.papers.pseudoinverse import PSEUDOINVERSES, damped, svd
from cmbcontrol.plants.parallel_four_bar import configuration as parallel_configuration
from tests import fixtures
from tests.fixtures import apart, closed_state
from tests.seeds import many

FIVE_BAR = dict(left=2.1, right=1.0)


class TestFormulations:
    @pytest.mark.parametrize("name", sorted(FORMULATIONS))
    @pytest.mark.parametrize("closure", ["line", "revolute"])
    def test_all_agree(self, name, closure):
        plant = plants.five_bar(closure=closure)
        q, v = closed_state(plant, **FIVE_BAR)
        u = np.array([3.0, -5.0])
        reference = cmb.forward_dynamics(plants.five_bar(), q, v, u)
        inverse = "svd" if closure == "revolute" and name in ("lagrange", "augmented") else None  # redundant rows
        found = cmb.forward_dynamics(plant, q, v, u, formulation=NamedFormulation(name, pseudoinverse=inverse))
        assert found == pytest.approx(reference, abs=1e-10)

    def test_gamma_is_free(self):
        plant = plants.five_bar()
        terms = plant.terms(*closed_state(plant, **FIVE_BAR))
        f = np.arange(4.0)
        for gamma in (0.1, 1.0, 30.0):
            found = acceleration(terms, f, formulation=NamedFormulation("aghili-gamma", gamma=gamma))
            assert found == pytest.approx(acceleration(terms, f), abs=1e-9)

    def test_constraint_inertia_matrices(self):
        """Aghili: M_c is positive definite (Theorem 2), M_c' symmetric too (Proposition 1), M_c'' invertible."""
        plant = plants.five_bar()
        terms = plant.terms(*closed_state(plant, **FIVE_BAR))
        Mc = constraint_inertia(terms)
        assert np.linalg.eigvalsh(Mc + Mc.T).min() > 0.0
        assert terms.v @ Mc @ terms.v == pytest.approx(2.0 * terms.kinetic)  # Remark 3
        symmetric = constraint_inertia(terms, "aghili-symmetric")
        assert np.allclose(symmetric, symmetric.T) and np.linalg.eigvalsh(symmetric).min() > 0.0
        assert abs(np.linalg.det(constraint_inertia(terms, "aghili-gamma", 2.0))) > 1e-3

    def test_unknown_formulation(self):
        plant = plants.five_bar()
        with pytest.raises(ValueError, match="did you mean 'aghili'"):
            cmb.forward_dynamics(plant, *closed_state(plant, **FIVE_BAR), formulation=NamedFormulation("agili"))

    def test_unknown_option(self):
        plant = plants.five_bar()
        with pytest.raises(TypeError):
            cmb.forward_dynamics(
                plant, *closed_state(plant, **FIVE_BAR), formulation=NamedFormulation("aghili", gamma=1.0)
            )


EXACT = tuple(name for name in PSEUDOINVERSES if name not in ("damped", "filtered"))
FULL_RANK = ("lagrange", "augmented")
NULL_SPACE = tuple(name for name in FORMULATIONS if name.startswith("null-space"))
AGHILI = ("aghili", "aghili-symmetric", "aghili-gamma")
WITH_INVERSE = tuple(name for name in FORMULATIONS if name != "gauss")
EVERY_NAME = pytest.mark.parametrize("name", FORMULATIONS)


def state(plant, seed=0, **joints):
    """Terms at a configuration with closed loops and a random admissible velocity, and a random force."""
    rng = np.random.default_rng([seed, 9])
    q = plant.assemble(**joints)
    return plant.terms(q, plant.project_velocity(q, rng.standard_normal(plant.nv))), rng.standard_normal(plant.nv)


def five_bar(closure="line", seed=0, **joints):
    return state(plants.five_bar(closure=closure), seed, **{"left": 2.1, "right": 1.0, **joints})


def free(terms, f):
    """The acceleration without loops."""
    return np.linalg.solve(terms.M, f - terms.h)


def differences(found, expected, terms, f):
    """Of acceleration and constraint force, relative to those that act."""
    size = np.abs(expected.vdot).max() + np.abs(free(terms, f)).max()
    force = np.abs(expected.force).max() + np.abs(f - terms.h).max()
    return np.abs(found.vdot - expected.vdot).max() / size, np.abs(found.force - expected.force).max() / force


# -- agreement ----------------------------------------------------------------------------------------------------


def random_machine(seed):
    """A machine with two loops, one of which is written twice; at a regular state."""
    rng = np.random.default_rng([seed, 8])
    kinds = [fixtures.LOOPS[i] for i in rng.integers(0, len(fixtures.LOOPS), 2)]
    plant, q = fixtures.closed_machine(seed, kinds, bodies=5, twice=True)
    terms = plant.terms(*fixtures.admissible_state(plant, q, seed))
    return terms, rng.standard_normal(plant.nv)


def check_agreement(seeds, pairs):
    """All pairs (formulation, pseudoinverse) against the default; those that need full rank refuse."""
    regular = 0
    for seed in seeds:
        terms, f = random_machine(seed)
        assert terms.rank < terms.b.size
        # nearer to a singular configuration, forces are large and rounding with them
        tolerance = 1e-10 if terms.conditioning > 5e-3 else 1e-8
        regular += tolerance == 1e-10
        expected = constrained_motion(terms, f)
        for name, inverse in pairs:
            if name in FULL_RANK and inverse is None:
                with pytest.raises(RedundantRowsError, match="redundant"):
                    acceleration(terms, f, formulation=NamedFormulation(name))
                continue
            found = constrained_motion(terms, f, formulation=NamedFormulation(name, pseudoinverse=inverse))
            assert max(differences(found, expected, terms, f)) < tolerance, (seed, name, inverse)
            assert found.rank == terms.rank, (seed, name, inverse)
            assert found.multipliers == pytest.approx(expected.multipliers, rel=1e-6, abs=1e-7)
    return regular


@pytest.mark.nojit_slow
def test_all_formulations_agree_on_random_machines_with_redundant_rows():
    """Each name with a pseudoinverse of its own turn: all pairs come by."""
    pairs = [(name, inverse) for name in WITH_INVERSE for inverse in (None, *EXACT)]
    for seed in range(30):
        chosen = [*[(name, None) for name in WITH_INVERSE], *pairs[seed % 7 :: 7]]
        check_agreement([seed], chosen)


@pytest.mark.slow
def test_all_formulations_and_pseudoinverses_agree_on_random_machines():
    """All pairs on each; the first thirty have theirs in turns, above, and 64 is near a singular configuration."""
    pairs = [(name, inverse) for name in WITH_INVERSE for inverse in (None, *EXACT)]
    count = many(40)
    assert check_agreement(range(30, 30 + count), pairs) >= 0.975 * count


@pytest.mark.parametrize("plant_name", plants.catalogue)
def test_on_the_plants_of_the_catalogue(plant_name):
    rng = np.random.default_rng(3)
    plant, q, v = plants.catalogue[plant_name].start()
    terms = plant.terms(q, plant.project_velocity(q, v + rng.standard_normal(plant.nv)))
    f = rng.standard_normal(plant.nv)
    expected = constrained_motion(terms, f)
    for name in WITH_INVERSE:
        inverse = "complete-orthogonal" if name in FULL_RANK and terms.rank < terms.b.size else None
        found = constrained_motion(terms, f, formulation=NamedFormulation(name, pseudoinverse=inverse))
        assert max(differences(found, expected, terms, f)) < 1e-10, name
        left = terms.A @ found.vdot + terms.b
        assert np.abs(left).max(initial=0.0) < 1e-9 * (1.0 + np.abs(terms.b).max(initial=0.0)), name


@EVERY_NAME
def test_motion_is_complete(name):
    """M vdot + h = f - F, F = A' lam, no power of F, and A vdot + b = 0; with rows in units of their own."""
    terms, f = five_bar()
    scale = np.array([3.0, 0.2])
    scale.setflags(write=False)  # as plants hand it over, and kernels know it
    terms = replace(terms, row_scale=scale)
    vdot, force, lam, conditioning, rank = constrained_motion(terms, f, formulation=NamedFormulation(name))
    assert terms.M @ vdot + terms.h == pytest.approx(f - force, abs=1e-12)
    assert terms.A.T @ lam == pytest.approx(force, abs=1e-10)
    assert force @ terms.v == pytest.approx(0.0, abs=1e-10)
    assert terms.A @ vdot == pytest.approx(-terms.b, abs=1e-10)
    assert conditioning >= 1.0 and rank == 2
    assert NamedFormulation(name).acceleration(terms, f) == pytest.approx(vdot, abs=1e-14)


@pytest.mark.parametrize("name", WITH_INVERSE)
def test_smallest_multipliers_where_rows_are_redundant(name):
    terms, f = five_bar("revolute")
    found = constrained_motion(terms, f, formulation=NamedFormulation(name, pseudoinverse="svd"))
    assert found.multipliers == pytest.approx(np.linalg.pinv(terms.A.T, rcond=1e-10) @ found.force, abs=1e-10)


@EVERY_NAME
def test_without_loops_and_without_freedom(name):
    tree = fixtures.random_tree(3, kinds=fixtures.LINEAR)
    terms = tree.terms(*fixtures.random_state(tree, 3))
    f = np.ones(tree.nv)
    found = constrained_motion(terms, f, formulation=NamedFormulation(name))
    assert found.vdot == pytest.approx(free(terms, f), rel=1e-10)
    assert found.rank == 0 and found.multipliers.size == 0 and np.abs(found.force).max() < 1e-10
    held = FunctionPlant(
        "held",
        ("x", "y"),
        M=lambda q: np.diag([2.0, 3.0]),
        h=lambda q, v: [1.0, 2.0],
        Phi=lambda q: q,
        A=lambda q: np.eye(2),
        Adot_v=lambda q, v: [0.0, 0.0],
    )
    found = constrained_motion(held.terms([0.0, 0.0], [0.0, 0.0]), [5.0, 5.0], formulation=NamedFormulation(name))
    assert found.vdot == pytest.approx([0.0, 0.0], abs=1e-14) and found.force == pytest.approx([4.0, 3.0])


@EVERY_NAME
def test_units_of_coordinates_do_not_matter(name):
    """The same machine with its second coordinate in thousandths."""
    terms, f = five_bar()
    T = np.diag([1.0, 1e-3, 1.0, 1.0])  # v = T w
    other = replace(terms, M=T @ terms.M @ T, h=T @ terms.h, A=terms.A @ T, v=np.linalg.solve(T, terms.v))
    found = T @ acceleration(other, T @ f, formulation=NamedFormulation(name))
    assert found == pytest.approx(acceleration(terms, f), abs=1e-7)


@pytest.mark.parametrize("name", ["gauss", "augmented", "udwadia-kalaba"])
def test_conditioning_that_does_not_depend_on_units_of_coordinates(name):
    """D = A M^-1/2 and the equilibrated matrix (20) do not; P, which adds squares of coordinates, does."""
    terms, f = five_bar()
    T = np.diag([1.0, 1e-3, 7.0, 1.0])
    other = replace(terms, M=T @ terms.M @ T, h=T @ terms.h, A=terms.A @ T)
    before, after = (constrained_motion(t, f, formulation=NamedFormulation(name)).conditioning for t in (terms, other))
    assert after == pytest.approx(before, rel=1e-6)
    assert constrained_motion(other, f, formulation=NamedFormulation("aghili")).conditioning > 1e3


# -- Baumgarte ----------------------------------------------------------------------------------------------------


@EVERY_NAME
def test_baumgarte(name):
    """A vdot + b = -2 alpha phi' - beta^2 phi (de Falco, eq. 30), off the manifold; rows twice must agree."""
    for closure in ("line", "revolute"):
        terms, f = five_bar(closure)
        if closure == "revolute" and name in FULL_RANK:
            continue
        q = terms.q + 1e-3 * np.arange(4.0)
        off = plants.five_bar(closure=closure).terms(q, terms.v + 0.1)
        alpha, beta = 5.0, 20.0
        wanted = -off.b - 2.0 * alpha * off.A @ off.v - beta**2 * off.phi
        assert np.abs(wanted + off.b).max() > 0.1
        vdot = acceleration(off, f, formulation=NamedFormulation(name), baumgarte=(alpha, beta))
        assert off.A @ vdot == pytest.approx(wanted, abs=1e-9)
        assert NamedFormulation(name).acceleration(off, f, wanted) == pytest.approx(vdot, abs=1e-12)
        assert constrained_motion(
            off, f, formulation=NamedFormulation(name), baumgarte=(alpha, beta)
        ).vdot == pytest.approx(vdot)


# -- facts about each ---------------------------------------------------------------------------------------------


class TestAghili:
    def test_positive_definite_matrices(self):
        """Theorem 2, proposition 1, remark 3; M_c' has the spectrum of two blocks."""
        terms, _ = five_bar("revolute")
        Mc = constraint_inertia(terms)
        assert np.linalg.eigvalsh(Mc + Mc.T).min() > 0.0
        assert terms.v @ Mc @ terms.v == pytest.approx(2.0 * terms.kinetic)
        symmetric, P = constraint_inertia(terms, "aghili-symmetric"), terms.P
        assert np.array_equal(symmetric, symmetric.T) or np.allclose(symmetric, symmetric.T, atol=1e-15)
        assert np.linalg.eigvalsh(symmetric).min() > 0.0
        assert P @ symmetric == pytest.approx(symmetric @ P, abs=1e-14)
        cond = np.linalg.cond(symmetric)
        assert cond <= np.linalg.cond(terms.M) * (1.0 + 1e-12)  # eigenvalues of the blocks lie between those of M

    @pytest.mark.parametrize("seed", range(4))
    def test_best_gamma(self, seed):
        """The condition number of M_c'' is least there, and its logarithm a convex function of log(gamma)."""
        terms, f = five_bar("revolute", seed, left=1.7 + 0.2 * seed)

        def condition(gamma):
            return constrained_motion(terms, f, formulation=NamedFormulation("aghili-gamma", gamma=gamma)).conditioning

        best = condition("best")
        grid = np.geomspace(1e-3, 1e3, 601)
        over = np.array([condition(g) for g in grid])
        assert best <= over.min() * (1.0 + 1e-6) and best > 0.98 * over.min()
        assert best <= condition(None)
        assert np.diff(np.log(over), 2).min() > -1e-9
        assert np.linalg.cond(constraint_inertia(terms, "aghili-gamma", "best")) == pytest.approx(best)

    def test_interval_of_gamma_where_force_and_motion_are_decoupled(self):
        """Where M leaves N(A) alone (proposition 3), all gamma between the eigenvalues of Z'MZ are best."""
        bead = FunctionPlant(
            "decoupled",
            ("x", "y", "z"),
            M=lambda q: np.diag([1.0, 4.0, 9.0]),
            h=lambda q, v: [0.0, 0.0, 9.0],
            Phi=lambda q: [q[2]],
            A=lambda q: [[0.0, 0.0, 1.0]],
            Adot_v=lambda q, v: [0.0],
        )
        terms = bead.terms(np.zeros(3), np.zeros(3))

        def condition(gamma):
            return np.linalg.cond(constraint_inertia(terms, "aghili-gamma", gamma))

        assert [condition(g) for g in (1.0, 2.0, 4.0)] == pytest.approx([4.0] * 3)
        assert condition(None) == pytest.approx(9.0) and condition(0.5) == pytest.approx(8.0)
        assert condition("best") == pytest.approx(4.0)

    @pytest.mark.parametrize("q1", [0.3, 1.1, 2.4])
    def test_slider_crank_in_closed_form(self, q1):
        """(70) and (71); their two cases are exchanged in print."""
        m, l = 2.0, 0.7
        plant = plants.slider_crank(mass=m, length=l)
        terms = plant.terms([q1, -2.0 * q1], [1.0, -2.0])
        assert pytest.approx(np.array([[0.2, -0.4], [-0.4, 0.8]]), abs=1e-12) == terms.P
        c2, ml2 = math.cos(-2.0 * q1), m * l * l
        upper = ml2 * np.array([[1.0, (1.0 + c2) / 5.0], [0.0, (3.0 - 2.0 * c2) / 5.0]])
        found = constraint_inertia(terms, "aghili-gamma", ml2)
        projected = terms.P @ terms.M + ml2 * (np.eye(2) - terms.P)
        assert found == pytest.approx(projected, abs=1e-13)
        assert np.linalg.det(found) == pytest.approx(ml2**2 * (3.0 - 2.0 * c2) / 5.0)
        assert found == pytest.approx(upper, abs=1e-12)
        assert terms.Cv == pytest.approx([0.0, 0.0], abs=1e-12)  # C = 0 on the manifold

    @pytest.mark.parametrize("name", AGHILI)
    def test_slider_crank_beyond_the_threshold(self, name):
        """Where |c1| < eps / (l sqrt 5) the constraint is dropped, and M_c = M."""
        plant, eps = plants.slider_crank(), 1e-3
        way = NamedFormulation(name, pseudoinverse=partial(svd, absolute=eps))
        f = np.array([1.0, -0.5])
        for factor, rank in ((0.9, 0), (1.1, 1)):
            q1 = math.pi / 2 - math.asin(factor * eps / math.sqrt(5.0))
            terms = plant.terms([q1, -2.0 * q1], [0.0, 0.0])
            found = way.motion(terms, f)
            assert found.rank == rank
            expected = free(terms, f) if rank == 0 else acceleration(terms, f)
            assert found.vdot == pytest.approx(expected, rel=1e-9)
            if rank == 0 and name != "aghili-gamma":
                assert found.conditioning == pytest.approx(np.linalg.cond(terms.M))


class TestNullSpace:
    @pytest.mark.parametrize("name", NULL_SPACE)
    @pytest.mark.parametrize("inverse", EXACT)
    def test_pseudoinverse_gives_c(self, name, inverse):
        terms, f = five_bar("revolute")
        found = acceleration(terms, f, formulation=NamedFormulation(name, pseudoinverse=inverse))
        assert found == pytest.approx(acceleration(terms, f), abs=1e-10)

    def test_a_basis_of_the_user(self):
        """Spencer's section 2.4.1: K is constant on the parallel four-bar."""
        plant = plants.parallel_four_bar()
        terms = plant.terms(parallel_configuration(2.0, 0.5), np.array([1.0, -2.0, 3.0, -3.0]))
        f = np.array([1.0, 2.0, -1.0, 0.5])
        K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
        asked = []
        way = NamedFormulation("null-space", basis=lambda t: asked.append(t) or K)
        assert way.acceleration(terms, f) == pytest.approx(acceleration(terms, f), abs=1e-10)
        assert asked[0].q is terms.q
        partitioned = constrained_motion(terms, f, formulation=NamedFormulation("null-space-partitioning"))
        assert partitioned.vdot == pytest.approx(acceleration(terms, f), abs=1e-10)

    @pytest.mark.parametrize(
        ("K", "words"),
        [
            (np.ones((4, 3)), r"must have shape \(4, 2\)"),
            (np.ones((4, 2)), "2 independent columns"),
            (np.eye(4)[:, :2], r"A K = 0, but \w+ gives"),
        ],
    )
    def test_a_bad_basis(self, K, words):
        terms, f = five_bar()
        with pytest.raises(ValueError, match=words):
            acceleration(terms, f, formulation=NamedFormulation("null-space", basis=lambda terms: K))

    @pytest.mark.nojit_slow
    @pytest.mark.parametrize("name", ["null-space-differentiable", "null-space-partitioning"])
    def test_coordinates_are_kept_from_pose_to_pose(self, name):
        """R stays the same, also where a fresh choice would be another one, until it is worn."""
        plant = plants.five_bar(closure="revolute")
        f = np.array([1.0, 0.0, -1.0, 2.0])
        way, renewed, fresh = NamedFormulation(name), 0, 0
        assert not way.bound and way.at(five_bar()[0]).bound
        for left in np.linspace(2.6, 0.9, 60):
            terms, _ = state(plant, left=float(left), right=1.0)
            if way.bound:
                assert way.acceleration(terms, f) == pytest.approx(acceleration(terms, f), rel=1e-9)
            now = way.at(terms)
            renewed += way.bound and now is not way
            chosen = NamedFormulation(name).at(terms)
            fresh += not np.allclose(chosen._kept.R, now._kept.R)
            way = now
            assert way.acceleration(terms, f) == pytest.approx(acceleration(terms, f), rel=1e-9)
        assert renewed <= 3 and (fresh > 20 or name == "null-space-partitioning")

    @pytest.mark.parametrize("name", ["null-space-differentiable", "null-space-partitioning"])
    def test_worn_coordinates_are_renewed(self, name):
        """On a circle, x is a coordinate at the top, and none at the side."""
        plant = plants.particle_on_circle()

        def at(angle):
            q = plant.close(np.array([math.cos(angle), math.sin(angle)]))
            return plant.terms(q, np.zeros(2))

        top = NamedFormulation(name).at(at(math.pi / 2))
        assert top.at(at(math.pi / 4)) is top
        side = top.at(at(0.01))
        assert side is not top and abs(side._kept.R[0, 1]) > 0.9 > 0.1 > abs(top._kept.R[0, 1])

    def test_differentiable_basis_has_the_rate_that_its_formula_says(self):
        """K(q) y_v moves with c = K' y_v (Spencer, 2.45): by differences along a motion."""
        plant = plants.five_bar()
        terms, _ = five_bar()
        kept = NamedFormulation("null-space-differentiable").at(terms)._kept
        y_v = kept.R @ terms.v

        def velocity(t):
            q = plant.close(plant.integrate(terms.q, t * terms.v))
            A = plant.jacobian(q)
            return np.linalg.solve(np.vstack([kept.R, A]), np.concatenate([y_v, np.zeros(len(A))]))

        rate = (velocity(1e-5) - velocity(-1e-5)) / 2e-5
        stack = np.vstack([kept.R, terms.A])
        assert rate == pytest.approx(np.linalg.solve(stack, np.concatenate([np.zeros(2), -terms.b])), abs=1e-6)


class TestUdwadiaKalaba:
    def test_any_root_of_the_mass_matrix_gives_the_same(self):
        """Eqs. 25 to 29 with the symmetric root."""
        terms, f = five_bar("revolute")
        w, V = np.linalg.eigh(terms.M)
        root = V @ np.diag(w**-0.5) @ V.T
        D = terms.A @ root
        expected = free(terms, f) + root @ np.linalg.pinv(D, rcond=1e-10) @ (-terms.b - terms.A @ free(terms, f))
        assert acceleration(terms, f, formulation=NamedFormulation("udwadia-kalaba")) == pytest.approx(
            expected, abs=1e-10
        )


class TestSingularPose:
    """The five-bar with both upper links in line with each other: a row is lost, and b need not be in R(A)."""

    @staticmethod
    def pose():
        plant = plants.five_bar()
        q = np.array([np.pi, -np.pi, 0.0, np.pi])  # absolute link angles (pi, 0, 0, pi), the thesis' section 3.2
        return plant, q

    @EVERY_NAME
    def test_who_stands_it(self, name):
        plant, q = self.pose()
        terms, f = plant.terms(q, np.zeros(4)), np.ones(4)
        assert (terms.rank, terms.b.size) == (1, 2)
        if name in FULL_RANK:
            with pytest.raises(RedundantRowsError, match="1 of the 2 constraint rows"):
                acceleration(terms, f, formulation=NamedFormulation(name))
            found = acceleration(terms, f, formulation=NamedFormulation(name, pseudoinverse="svd"))
        else:
            found = acceleration(terms, f, formulation=NamedFormulation(name))
        assert found == pytest.approx(acceleration(terms, f), abs=1e-9)

    @pytest.mark.parametrize("distance", [1e-3, 1e-5])
    def test_conditioning_near_it(self, distance):
        """A M^-1 A' has the square of the condition number of D; the null space forms divide by A alone."""
        plant, q = self.pose()
        q = plant.close(q + distance * np.array([1.0, -0.5, -1.0, 0.7]))
        terms, f = plant.terms(q, np.zeros(4)), np.ones(4)
        of = {
            name: constrained_motion(terms, f, formulation=NamedFormulation(name)).conditioning for name in FORMULATIONS
        }
        assert of["lagrange"] == pytest.approx(of["udwadia-kalaba"] ** 2, rel=1e-3)
        assert of["gauss"] == of["udwadia-kalaba"] > 0.05 / distance
        assert max(of[name] for name in AGHILI) < 1e3


# -- tolerance, objects, errors -----------------------------------------------------------------------------------


@EVERY_NAME
def test_rank_tolerance(name):
    """Rows that are nearly the same count as one, or as two."""
    nearly = FunctionPlant(
        "nearly twice",
        ("x", "y", "z"),
        M=lambda q: np.diag([1.0, 2.0, 3.0]),
        h=lambda q, v: [0.0, 0.0, 1.0],
        Phi=lambda q: [q[2], q[2] + 1e-5 * q[1]],
        A=lambda q: [[0.0, 0.0, 1.0], [0.0, 1e-5, 1.0]],
        Adot_v=lambda q, v: [0.0, 0.0],
    )
    terms, f = nearly.terms(np.zeros(3), np.zeros(3)), [1.0, 1.0, 1.0]
    for inverse in (None,) if name == "gauss" else (None, "svd"):
        both = constrained_motion(terms, f, formulation=NamedFormulation(name, pseudoinverse=inverse))
        assert both.rank == 2 and both.vdot == pytest.approx([1.0, 0.0, 0.0], abs=1e-5)
        if inverse is None and name in FULL_RANK:
            with pytest.raises(RedundantRowsError):
                acceleration(terms, f, formulation=NamedFormulation(name, rank_tolerance=1e-3))
            continue
        one = constrained_motion(
            terms, f, formulation=NamedFormulation(name, pseudoinverse=inverse, rank_tolerance=1e-3)
        )
        assert one.rank == 1 and one.vdot == pytest.approx([1.0, 0.5, 0.0], abs=1e-4)


def test_tolerance_below_that_of_the_terms():
    terms = FunctionPlant(
        "hardly",
        ("x", "y"),
        M=lambda q: np.eye(2),
        h=lambda q, v: [0.0, 0.0],
        Phi=lambda q: [q[1], q[1] + 1e-11 * q[0]],
        A=lambda q: [[0.0, 1.0], [1e-11, 1.0]],
        Adot_v=lambda q, v: [0.0, 0.0],
    ).terms(np.zeros(2), np.zeros(2))
    for name in ("gauss", "null-space", "aghili", "udwadia-kalaba"):
        ranks = [
            constrained_motion(terms, [1.0, 1.0], formulation=NamedFormulation(name, rank_tolerance=x)).rank
            for x in (None, 1e-13)
        ]
        assert ranks == [1, 2], name


def test_damped_inverses_are_near():
    terms, f = five_bar("revolute")
    for name in WITH_INVERSE:
        for inverse in ("damped", "filtered", partial(damped, damping=1e-6)):
            found = constrained_motion(terms, f, formulation=NamedFormulation(name, pseudoinverse=inverse))
            assert found.vdot == pytest.approx(acceleration(terms, f), rel=1e-4, abs=1e-4), (name, inverse)


def test_objects_are_values():
    way = NamedFormulation("aghili-gamma", gamma=2.0)
    assert way == NamedFormulation("aghili-gamma", gamma=2.0) != NamedFormulation("aghili-gamma")
    assert hash(way) == hash(NamedFormulation("aghili-gamma", gamma=2.0)) and "gamma=2.0" in repr(way)
    with pytest.raises(AttributeError):
        way.gamma = 3.0
    terms, f = five_bar()
    assert way.at(terms) is way
    expected = acceleration(terms, f, formulation=NamedFormulation("aghili-gamma", gamma=2.0))
    assert np.array_equal(acceleration(terms, f, formulation=way), expected)
    plant = plants.five_bar()
    found = forward_dynamics(plant, terms.q, terms.v, formulation=way)
    assert found == pytest.approx(forward_dynamics(plant, terms.q, terms.v), abs=1e-10)
    found = forward_dynamics(plant, terms.q, terms.v, formulation=NamedFormulation("lagrange"), baumgarte=(1.0, 1.0))
    assert found == pytest.approx(forward_dynamics(plant, terms.q, terms.v), abs=1e-10)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"name": "agili"}, ValueError, "did you mean 'aghili'"),
        ({"name": "gauss", "pseudoinverse": "svd"}, TypeError, "makes no pseudoinverse"),
        ({"name": "aghili", "pseudoinverse": "svdd"}, ValueError, "did you mean 'svd'"),
        ({"name": "aghili", "gamma": 1.0}, TypeError, "belongs to 'aghili-gamma'"),
        ({"name": "aghili-gamma", "gamma": -1.0}, ValueError, "gamma must be > 0"),
        ({"name": "aghili-gamma", "gamma": "least"}, ValueError, "'best'"),
        ({"name": "null-space-svd", "basis": lambda t: t.Z}, TypeError, "belongs to 'null-space'"),
        ({"name": "null-space", "basis": np.eye(2)}, TypeError, "a function terms -> K"),
        ({"name": "lagrange", "rank_tolerance": 2.0}, ValueError, "below 1"),
        ({"name": "lagrange", "rank_tolerance": 0.0}, ValueError, "rank_tolerance must be > 0"),
        ({"name": "lagrange", "damping": 1.0}, TypeError, "damping"),
    ],
)
def test_errors_in_words(options, error, words):
    with pytest.raises(error, match=words):
        NamedFormulation(**options)


def test_errors_of_calls():
    terms, f = five_bar()
    with pytest.raises(TypeError, match="has its pseudoinverse and rank_tolerance itself"):
        settings(formulation=NamedFormulation("aghili"), pseudoinverse="svd")
    with pytest.raises(TypeError, match=r"formulation must be a Formulation, such as .*NamedFormulation"):
        acceleration(terms, f, formulation="aghili")
    with pytest.raises(ValueError, match=r"target must have shape \(2,\)"):
        NamedFormulation("lagrange").acceleration(terms, f, np.zeros(3))
    with pytest.raises(ValueError, match=r"baumgarte must have shape \(2,\)"):
        acceleration(terms, f, baumgarte=(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="must be >= 0"):
        acceleration(terms, f, baumgarte=(-1.0, 2.0))
    with pytest.raises(ValueError, match="f must be finite"):
        acceleration(terms, np.full(4, np.nan), formulation=NamedFormulation("aghili"))
    with pytest.raises(ModelError, match="not positive definite"):
        acceleration(replace(terms, rank=-1), f, formulation=NamedFormulation("aghili"))
    zero = np.zeros_like(terms.M)
    with pytest.raises(ModelError, match="meets a singular matrix"):
        acceleration(replace(terms, M=zero), f, formulation=NamedFormulation("null-space"))
    more, _ = five_bar("revolute")
    with pytest.raises(RedundantRowsError, match=r"3 of the 5 .*pseudoinverse='svd'") as caught:
        acceleration(more, f, formulation=NamedFormulation("lagrange"))
    assert isinstance(caught.value, ModelError)


T_END = 0.5


# -- formulations -----------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize("formulation", [name for name in FORMULATIONS if name not in ("lagrange", "augmented")])
def test_formulations_run_alike_with_redundant_rows(formulation):
    plant = plants.parallelogram()
    start = importlib.import_module("cmbcontrol.plants.parallelogram").start(plant)
    way = {"t_end": 0.2, "rtol": 1e-9, "atol": 1e-9}
    reference = cmb.simulate(plant, None, *start, **settings(**way))
    run = cmb.simulate(plant, None, *start, **settings(formulation=formulation, **way))
    assert apart(run, reference) < 1e-10
    assert run.data.attrs["formulation"] == formulation
    assert run.data.attrs["evaluations"] == reference.data.attrs["evaluations"]


@pytest.mark.nojit_slow
def test_a_pseudoinverse_makes_lagrange_stand_redundant_rows():
    plant = plants.five_bar(closure="revolute")
    q0 = plant.assemble(left=2.1, right=1.0)
    with pytest.raises(RedundantRowsError, match="pseudoinverse='svd'"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(formulation="lagrange"))
    run = cmb.simulate(plant, q0=q0, t_end=0.1, **settings(pseudoinverse="complete-orthogonal", formulation="lagrange"))
    assert apart(run, cmb.simulate(plant, q0=q0, t_end=0.1)) < 1e-9


@pytest.mark.nojit_slow
def test_a_run_ends_in_words_where_its_formulation_does():
    """Spencer's second example comes to a singular configuration at 0.65 s, where rows are redundant so."""
    plant = plants.five_bar()
    q0 = importlib.import_module("cmbcontrol.plants.five_bar").configuration(plant, "second")
    way = NamedFormulation("lagrange", rank_tolerance=1e-2)
    with pytest.raises(SimulationError) as caught:
        cmb.simulate(plant, q0=q0, t_end=0.7, **settings(step=2e-3, method="rk4", formulation=way))
    assert caught.value.partial.status is Status.FORMULATION
    assert "redundant" in str(caught.value) and 0.62 < caught.value.partial.time[-1] < 0.66


@pytest.mark.nojit_slow
def test_options_of_formulations_are_checked(free_five_bar):
    plant, q0, _ = free_five_bar
    with pytest.raises(ValueError, match="udwadia-kalaba"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(formulation="udwadia"))
    with pytest.raises(TypeError, match="makes no pseudoinverse"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(pseudoinverse="svd"))
    with pytest.raises(TypeError, match="has its pseudoinverse"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(pseudoinverse="svd", formulation=NamedFormulation("aghili")))
    with pytest.raises(TypeError, match="is a formulation itself"):
        cmb.simulate(plant, q0=q0, t_end=0.1, **settings(formulation="aghili", method="radau"))


# -- stabilisations ---------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_a_run_tells_what_its_formulation_says():
    """Forces and conditioning are its own; multipliers of Lagrange's form belong to the same force."""
    plant = plants.five_bar()
    q0 = importlib.import_module("cmbcontrol.plants.five_bar").configuration(plant, "second")
    way = {"t_end": 0.6, "output_times": 0.1}
    plain = cmb.simulate(plant, q0=q0, **settings(**way))
    run = cmb.simulate(plant, q0=q0, **settings(formulation="lagrange", **way))
    assert "formulation_conditioning" not in plain.data
    assert np.allclose(run.constraint_force, plain.constraint_force, rtol=1e-6, atol=1e-6)
    assert np.allclose(run.multipliers, plain.multipliers, rtol=1e-6, atol=1e-6)
    terms = plant.terms(run.q.values[-1], run.v.values[-1])
    assert run.formulation_conditioning.values[-1] == pytest.approx(
        np.linalg.cond(terms.A @ np.linalg.solve(terms.M, terms.A.T)), rel=1e-6
    )
    assert run.formulation_conditioning.values[-1] > 10.0 * run.formulation_conditioning.values[0]

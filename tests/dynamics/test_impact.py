"""Velocity jumps against closed forms, energy and momentum, twins, and a quadratic program."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.impact import impact, jump, supporting
from cmbcontrol.errors import ModelError
from cmbcontrol.model.elements import Body, Distance, Free, Planar, Point, PointOnPlane, Revolute, Spherical, Weld
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import closed_machine, largest

KINDS = [(Revolute,), (Point, Distance), (Weld, Spherical)]


def struck(seed, kinds=KINDS[1], twice=False):
    """A random machine at a closed configuration, with a velocity that the loops do not allow."""
    plant, q = closed_machine(seed, kinds, twice=twice)
    return plant, q, np.random.default_rng(seed).uniform(-1.5, 1.5, plant.nv)


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_energy_falls_by_that_of_the_removed_velocity(seed, kinds):
    plant, q, v = struck(seed, kinds)
    hit, terms = impact(plant, q, v), plant.terms(q, v)
    removed, after = v - hit.v, plant.terms(q, hit.v)
    assert hit.loss > 1e-3
    assert terms.kinetic - after.kinetic == pytest.approx(hit.loss, abs=1e-12 * terms.kinetic)
    assert 0.5 * removed @ terms.M @ removed == pytest.approx(hit.loss, abs=1e-12 * terms.kinetic)
    assert hit.v == pytest.approx(plant.project_velocity(q, v), abs=1e-12)
    assert largest(terms.A @ hit.v) < 1e-12


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_restitution_turns_the_removed_velocity_round(e):
    plant, q, v = struck(4)
    hit, plastic, terms = impact(plant, q, v, e), impact(plant, q, v), plant.terms(q, v)
    assert terms.A @ hit.v == pytest.approx(-e * terms.A @ v, abs=1e-12)
    assert hit.v == pytest.approx(plastic.v - e * (v - plastic.v), abs=1e-12)
    assert hit.loss == pytest.approx((1.0 - e**2) * plastic.loss, abs=1e-12 * terms.kinetic)


def test_momentum_changes_by_the_impulse_alone():
    plant, q, v = struck(5)
    terms, hit = plant.terms(q, v), impact(plant, q, v, 0.4)
    assert terms.M @ (v - hit.v) == pytest.approx(hit.impulse, abs=1e-12)
    assert terms.A.T @ hit.multipliers == pytest.approx(hit.impulse, abs=1e-12)
    assert largest(terms.Z.T @ terms.M @ (v - hit.v)) < 1e-12
    # along what the loops allow, nothing happens
    free = impact(plant, q, hit.v if largest(terms.A @ hit.v) < 1e-12 else plant.project_velocity(q, v), 0.4)
    assert free.loss == pytest.approx(0.0, abs=1e-13) and largest(free.impulse) < 1e-12


def test_redundant_rows_change_nothing_but_the_multipliers():
    one, q, v = struck(6)
    two, q2, _ = struck(6, twice=True)
    assert q2 == pytest.approx(q, abs=0.0)
    single, double = impact(one, q, v, 0.5), impact(two, q, v, 0.5)
    assert double.v == pytest.approx(single.v, abs=1e-10)
    assert double.impulse == pytest.approx(single.impulse, abs=1e-10)
    assert double.loss == pytest.approx(single.loss, abs=1e-10)
    half = np.tile(0.5 * single.multipliers, 2)  # the smallest ones are shared
    assert double.multipliers == pytest.approx(half, abs=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_rod_that_falls_on_one_end(e):
    """A level rod falls at v on one end: impulse (1 + e) m v / 4, and it turns with 1.5 (1 + e) v / length."""
    mass, length, speed = 3.0, 0.8, 2.0
    table = PointOnPlane("table", "ground", "rod", normal=(0, 1, 0))
    plant = Mechanism("rod", [Body.rod("rod", mass, length)], [Planar("rod", "ground", "rod")], [table])
    # coordinates are those of the end
    hit = impact(plant, np.zeros(3), [0.0, -speed, 0.0], {"table": e})
    pushed = (1.0 + e) * mass * speed / 4.0
    spin = -1.5 * (1.0 + e) * speed / length
    assert hit.multipliers == pytest.approx([-pushed], rel=1e-12)
    assert hit.v == pytest.approx([0.0, e * speed, spin], rel=1e-12, abs=1e-13)
    centre = hit.v[1] + 0.5 * length * spin
    kinetic = 0.5 * mass * centre**2 + mass * length**2 / 24.0 * spin**2
    assert hit.loss == pytest.approx(0.5 * mass * speed**2 - kinetic, rel=1e-12)


def test_a_row_by_row_restitution():
    ball = Body("ball", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    plant = Mechanism("ball", [ball], [Planar("ball", "ground", "ball")], [Point("wall", "ground", "ball")])
    hit = impact(plant, np.zeros(3), [1.0, -2.0, 0.0], {"wall": [0.0, 0.5, 0.0]})
    assert hit.v == pytest.approx([0.0, 1.0, 0.0], abs=1e-14) and hit.loss == pytest.approx(0.5 + 1.5, rel=1e-12)


def test_functions_and_bodies_agree():
    plant = plants.particle_on_circle(mass=2.0, radius=0.5)
    hit = impact(plant, [0.3, 0.4], [1.0, 2.0])
    normal = np.array([0.6, 0.8])
    speed = normal @ [1.0, 2.0]
    assert hit.v == pytest.approx(np.array([1.0, 2.0]) - speed * normal, abs=1e-14)
    assert hit.loss == pytest.approx(0.5 * 2.0 * speed**2, rel=1e-13)


@pytest.mark.parametrize(
    ("restitution", "error", "words"),
    [
        (1.5, ValueError, "from 0 to 1"),
        (-0.1, ValueError, "from 0 to 1"),
        (float("nan"), ValueError, "from 0 to 1"),
        ({"tp": 0.5}, ValueError, "did you mean 'tip'"),
        ({"tip": [0.1, 0.2, 0.3]}, ValueError, "one number, or 2"),
    ],
)
def test_refuses(restitution, error, words):
    plant = plants.five_bar()
    with pytest.raises(error, match=words):
        impact(plant, plant.assemble(left=2.1, right=1.0), np.ones(4), restitution)


def box(corners=4, seed=0):
    """A plate that is free in space, with contacts on the ground under random points of it."""
    rng = np.random.default_rng(seed)
    body = Body("plate", 2.0, rng.uniform(-0.2, 0.2, 3), (0.03, 0.05, 0.07))
    loops = [
        PointOnPlane(f"c{i}", "ground", "plate", point_b=(*rng.uniform(-0.5, 0.5, 2), 0.0)) for i in range(corners)
    ]
    return Mechanism("plate", [body], [Free("plate", "ground", "plate")], loops)


def after_contacts(plant, q, v, e=0.0):
    """The velocity after inelastic (or not) contact of all one-row loops at once."""
    terms = plant.terms(q, v)
    back = e * np.maximum(-(terms.A @ v), 0.0)

    def solve(states):
        rows = np.flatnonzero([state == "closed" for state in states])
        hit = jump(terms, rows, v, back[rows])
        margin = terms.A @ hit.v - back + 1e-10
        margin[rows] = -hit.multipliers + 1e-10
        return hit, margin, tuple("open" if state == "closed" else "closed" for state in states)

    return supporting([("closed", "open")] * len(back), solve)


@pytest.mark.parametrize("seed", range(6))
def test_several_contacts_solve_the_quadratic_program(seed):
    """min (v+ - v)' M (v+ - v) with n v+ >= 0, by an interior point solver."""
    cp = pytest.importorskip("cvxpy")
    plant = box(corners=5, seed=seed)
    q, v = plant.neutral(), np.random.default_rng([seed, 1]).uniform(-1.0, 1.0, 6)
    _, hit = after_contacts(plant, q, v)
    terms = plant.terms(q, v)
    x = cp.Variable(6)
    L = np.linalg.cholesky(terms.M)
    cp.Problem(cp.Minimize(cp.sum_squares(L.T @ (x - v))), [terms.A @ x >= 0.0]).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    assert hit.v == pytest.approx(x.value, abs=1e-5)
    assert terms.M @ (v - hit.v) == pytest.approx(hit.impulse, abs=1e-12)
    assert np.all(hit.multipliers <= 1e-10) and np.all(terms.A @ hit.v >= -1e-9)


def test_contacts_of_seeds_do_not_all_agree():
    """The judge above sees contacts that take part, and contacts that do not."""
    sizes = {
        after_contacts(box(5, seed), box(5, seed).neutral(), np.random.default_rng([seed, 1]).uniform(-1, 1, 6))[
            0
        ].count("closed")
        for seed in range(6)
    }
    assert len(sizes) > 1


def test_states_that_are_not_allowed_are_not_taken_and_too_many_are_refused():
    """What must fit is found by the hints, by looking at all combinations, or not at all."""
    seen = []

    def one_way(wanted):
        def solve(states):
            seen.append(states)
            margin = np.array([1.0 if a == b else -1.0 for a, b in zip(states, wanted, strict=True)])
            return "".join(states), margin, tuple("z" for _ in states)  # a hint that no one may take

        return solve

    assert supporting([("a", "b"), ("a", "b", "c")], one_way("bc")) == (("b", "c"), "bc")
    assert len(seen) == len(set(seen)) <= 6
    assert supporting([("a", "b")], one_way("c")) is None
    assert supporting([], lambda states: ("nothing", np.zeros(0), ())) == ((), "nothing")
    with pytest.raises(ModelError, match="13 contacts"):
        supporting([("a", "b")] * 13, one_way("b" * 13))


def test_the_state_given_is_not_touched():
    plant, q, v = struck(1)
    before = q.copy(), v.copy()
    impact(plant, q, v)
    assert np.array_equal(q, before[0]) and np.array_equal(v, before[1])

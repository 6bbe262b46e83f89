"""Where the loops close near a guess: the nearest configuration, never half a turn off, in any unit."""

import dataclasses
import warnings

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.errors import BranchWarning
from cmbcontrol.model import closing
from cmbcontrol.model.elements import (
    Body,
    Coupling,
    Distance,
    Fixed,
    Frame,
    Free,
    Planar,
    Point,
    PointOnLine,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    Weld,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar
from tests.fixtures import LOOPS, closed_machine, name_of, nudge

PAIRS = [(kind,) for kind in LOOPS] + [(Revolute, Distance), (Universal, PointOnLine), (Point, Planar)]


def names_of(kinds):
    return "+".join(k.__name__ for k in kinds)


@pytest.mark.parametrize("kinds", PAIRS, ids=names_of)
@pytest.mark.parametrize("seed", range(3))
def test_random_machines_close_from_a_guess_nearby(kinds, seed):
    plant, q = closed_machine(seed, kinds)
    guess = nudge(plant, q, 0.05)
    assert plant.closure_error(guess) > 1e-3
    found = plant.assemble(guess=guess)
    assert plant.closure_error(found) < 1e-12
    assert np.abs(plant.difference(guess, found)).max() < 1.0


# -- axes that point the wrong way ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Revolute, Prismatic, Planar, Fixed], ids=name_of)
def test_a_cut_joint_with_its_axis_reversed_is_no_assembly(kind):
    """The rows vanish there, but the joint would have to be taken apart and turned over."""
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    cut = kind("cut", "ground", "body")
    plant = Mechanism("turned over", [body], [Spherical("ball", "ground", "body")], [cut])
    over = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about x
    assert plant.closure_error(over) < 1e-15
    q = plant.assemble(guess=over)
    assert plant.closure_error(q) < 1e-12
    assert plant.pose(q, "body").R[2, 2] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", [Prismatic, Fixed], ids=name_of)
def test_a_cut_joint_without_rotation_is_not_assembled_half_a_turn_off(kind):
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    plant = Mechanism("turned", [body], [Spherical("ball", "ground", "body")], [kind("cut", "ground", "body")])
    half_turn = np.array([0.0, 0.0, 0.0, 1.0])
    assert plant.closure_error(half_turn) < 1e-15
    np.testing.assert_allclose(plant.pose(plant.assemble(guess=half_turn), "body").R, np.eye(3), atol=1e-9)


def test_a_weld_is_not_assembled_half_a_turn_off():
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    plant = Mechanism("welded", [body], [Free("free", "ground", "body")], [Weld("weld", "ground", "body")])
    for half_turn in np.eye(4)[1:]:
        q = plant.assemble(guess=np.concatenate([half_turn, np.zeros(3)]))
        np.testing.assert_allclose(plant.pose(q, "body").R, np.eye(3), atol=1e-9)


# -- near a guess -----------------------------------------------------------------------------------


def lengths(plant):
    return np.array([1.0 if unit == "rad/s" else plant.size for unit in plant.velocity_units])


def distance(plant, q0, q1):
    """Largest change, rad or sizes of the machine."""
    return float(np.abs(plant.difference(q0, q1) / lengths(plant)).max())


def near(plant, q, off, seed):
    """A guess from which a closed configuration is at most `off` away."""
    return plant.integrate(q, off * lengths(plant) * np.random.default_rng(seed).uniform(-1.0, 1.0, plant.nv))


def turned_five_bar():
    """In a plane that is turned in space, with a hand; three of five rows are redundant."""
    place = Frame.turned((1, 2, 3), 0.7)
    bodies = [Body.rod(n, 1.0, L) for n, L in (("a", 1.0), ("b", 1.5), ("c", 1.0), ("d", 1.5), ("hand", 0.5))]
    joints = [
        Revolute("a", "ground", "a", frame=place),
        Revolute("b", "a", "b", frame=Frame((1, 0, 0))),
        Revolute("c", "ground", "c", frame=place @ Frame((1, 0, 0))),
        Revolute("d", "c", "d", frame=Frame((1, 0, 0))),
        Revolute("hand", "b", "hand", frame=Frame((1.5, 0, 0))),
    ]
    tip = Revolute("tip", "b", "d", frame=Frame((1.5, 0, 0)), child_frame=Frame((1.5, 0, 0)))
    return Mechanism("turned", bodies, joints, [tip])


REDUNDANT = {
    **{f"five-bar {c}": lambda c=c: (five_bar(closure=c), [2.1, -1.29, 1.0, 1.31]) for c in ("line", "revolute")},
    "loader": lambda: (p := plants.loader(closure="revolute"), plants.catalogue["loader"].initial(p)[0]),
    "bricard": lambda: (p := plants.bricard(), plants.catalogue["bricard"].initial(p)[0]),
    "delta": lambda: (p := plants.delta(), plants.catalogue["delta"].initial(p)[0]),
    "turned": lambda: (turned_five_bar(), [2.1, -1.29, 1.0, 1.31, 0.2]),
}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("machine", REDUNDANT.values(), ids=REDUNDANT)
def test_assembly_stays_near_the_guess(machine):
    """Gradients of redundant rows are rounding: no step follows them."""
    plant, q = machine()
    q = plant.close(q)
    for seed in range(10):
        guess = near(plant, q, 0.05, seed)
        found = plant.assemble(guess=guess)
        assert plant.closure_error(found) < 1e-14 * plant.size
        assert distance(plant, guess, found) < 0.08


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kinds", [(Weld,), (Revolute,), (Universal,), (Weld, Revolute)], ids=names_of)
@pytest.mark.parametrize("seed", range(3))
def test_chains_close_from_any_guess(kinds, seed):
    """From 0.05 to 1 rad (or sizes) off, and from the neutral configuration; products of axes alone would not."""
    tree = (Revolute, Revolute, Prismatic, Universal, Revolute, Spherical)
    plant, q = closed_machine(seed, kinds, bodies=7 if len(kinds) == 1 else 12, kinds=tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BranchWarning)  # 1 rad away, another branch may be nearer
        for off in (0.05, 0.3, 1.0):
            guess = near(plant, q, off, seed)
            found = plant.assemble(guess=guess)
            assert plant.closure_error(found) < 1e-14 * plant.length_scale(found)
            assert off > 0.3 or distance(plant, guess, found) < 3.0 * off
        assert plant.closure_error(plant.assemble()) < 1e-12


def test_from_far_the_nearest_pose_is_found():
    """The way to the guess is perpendicular to the closed configurations."""
    plant = five_bar()
    for guess in ([-2.0, 0.0, -1.0, 0.0], [1.0, -2.0, 2.0, 2.0], [3.0, -1.5, 1.0, 1.0]):
        found = plant.assemble(guess=guess)
        way = np.array(guess) - found
        assert np.linalg.norm(way) > 0.3
        assert np.linalg.norm(plant.terms(found, np.zeros(4)).Z.T @ way) < 0.011 * np.linalg.norm(way)


@pytest.mark.nojit_slow
def test_close_finds_the_nearest_pose_where_full_steps_fail():
    plant, q = closed_machine(
        3, (Weld,), bodies=7, kinds=(Revolute, Revolute, Prismatic, Universal, Revolute, Spherical)
    )
    for seed in range(10):
        guess = near(plant, q, 0.5, seed)
        found = plant.close(guess)
        assert plant.closure_error(found) < 1e-13 * plant.size
        M = plant.terms(guess, np.zeros(plant.nv)).M
        way, known = plant.difference(guess, found), plant.difference(guess, q)
        assert way @ M @ way < 1.5 * (known @ M @ known)


def test_what_is_closed_stays():
    plant = five_bar()
    q = plant.close([2.1, -1.3, 1.0, 1.3])
    np.testing.assert_array_equal(plant.close(q), q)


def test_travels_may_be_long():
    """A free body is welded to a place a thousand sizes away."""
    bodies = [Body("a", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)), Body("b", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))]
    joints = [Free("free", "ground", "a"), Revolute("hinge", "a", "b", frame=Frame((1, 0, 0)))]
    place = Frame.turned((1, 2, 3), 2.0, (1000.0, 300.0, 0.0))
    plant = Mechanism("far", bodies, joints, [Weld("weld", "ground", "b", place, Frame((0.7, 0, 0)))])
    q = plant.assemble()
    assert plant.length_scale(q) > 1000.0
    assert plant.closure_error(q) < 1e-12


# -- units --------------------------------------------------------------------------------------------


def scaled_four_bar(k, away=0.0):
    """Lengths times k, in a plane turned in space, `away` from the world's origin."""
    place = Frame.turned((1, 2, 3), 0.7, k * np.array([0.3, 0.2, 0.1]) + away)
    bodies = [
        Body(n, 1.0, (0.5 * L * k, 0, 0), np.array([0.01, 0.1 * L, 0.1 * L]) * k * k)
        for n, L in (("a", 1.0), ("b", 2.0), ("c", 1.5))
    ]
    joints = [
        Revolute("a", "ground", "a", frame=place),
        Revolute("b", "a", "b", frame=Frame((k, 0, 0))),
        Revolute("c", "b", "c", frame=Frame((2 * k, 0, 0))),
    ]
    pin = Revolute("d", "ground", "c", frame=place @ Frame((1.8 * k, 0, 0)), child_frame=Frame((1.5 * k, 0, 0)))
    return Mechanism("four-bar", bodies, joints, [pin], gravity=(0, -9.81 * k, 0))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("k", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_machines_close_in_any_unit(k):
    plant, unit = scaled_four_bar(k), scaled_four_bar(1.0)
    for a in np.linspace(0.4, 2.4, 7):
        q = plant.assemble(a=a)
        assert plant.closure_error(q) < 2e-15 * plant.size
        np.testing.assert_allclose(q, unit.assemble(a=a), atol=1e-12)
    guess = plant.integrate(q, [0.03, -0.02, 0.04])
    np.testing.assert_allclose(plant.close(guess), unit.close(guess), atol=1e-12)


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("k", "away"), [(1.0, 1e3), (1e-3, 10.0), (1.0, 1e6)])
def test_far_from_the_origin_what_rounding_leaves_counts_as_closed(k, away):
    plant = scaled_four_bar(k, away)
    q = plant.assemble(a=1.0)
    assert plant.closure_error(q) < 2e-15 * plant.length_scale(q)
    np.testing.assert_allclose(q, scaled_four_bar(k).assemble(a=1.0), atol=1e-13 * away / k)
    assert plant.closure_error(plant.close(q + 0.01)) < 2e-15 * plant.length_scale(q)


def test_the_size_of_a_machine_is_never_rounding():
    place = Frame.turned((1, 2, 3), 0.7, (0.3, 0.2, 0.1))
    inertia = (0.1, 0.15, 0.2)
    com = (place @ place.inverse() @ place).p  # the joint, but for rounding
    noisy = Mechanism("ball", [Body("a", 1.0, com, inertia)], [Spherical("s", "ground", "a", child_frame=place)])
    assert noisy.size == pytest.approx(np.sqrt(0.2))  # radius of gyration
    bodies = [Body("a", 1.0), Body("b", 1.0)]
    joints = [Prismatic("x", "ground", "a"), Prismatic("y", "ground", "b", axis=(1, 0, 0))]
    assert Mechanism("rod", bodies, joints, [Distance("rod", "a", "b", length=1e-3)]).size == 1e-3
    assert Mechanism("sliders", bodies, joints, [Coupling("gear", {"x": 1.0, "y": 2.0})]).size == 1.0
    apart = [joints[0], dataclasses.replace(joints[1], frame=Frame((0.02, 0, 0)))]
    assert Mechanism("apart", bodies, apart, [Coupling("gear", {"x": 1.0, "y": 2.0})]).size == 0.02


@pytest.mark.parametrize("damping", [1e-2, 1e-8, 1e-14])
def test_sparse_steps_are_those_of_singular_values(damping):
    """Of a banded matrix with rows that are given twice; and the way along its null space."""
    rng = np.random.default_rng(0)
    J = np.triu(np.tril(rng.standard_normal((40, 60)), 3))
    J = np.vstack([J, J[:5]])
    r = J @ rng.standard_normal(60)
    step = closing._damped_sparse(J, r, damping)
    bound = np.sqrt(np.abs(J).sum(axis=0).max() * np.abs(J).sum(axis=1).max())
    expected = -np.linalg.solve(J.T @ J + max(damping, 1e-9) * bound**2 * np.eye(60), J.T @ r)
    if damping > 1e-9:  # else the normal equations have lost the digits, and the smallest step is the limit
        np.testing.assert_allclose(step, expected, atol=1e-11)
    else:
        np.testing.assert_allclose(step, -np.linalg.pinv(J) @ r, atol=1e-4 * np.abs(step).max())


def test_the_way_along_loops_by_sparse_steps_is_that_by_singular_values(monkeypatch):
    rng = np.random.default_rng(1)
    J, way = rng.standard_normal((20, 30)), rng.standard_normal(30)
    along = closing._along(J, way)
    assert np.abs(J @ along).max() < 1e-12 and np.abs(along).max() > 0.1
    monkeypatch.setattr(closing, "_LARGE", 10)
    np.testing.assert_allclose(closing._along(J, way), along, atol=1e-9)

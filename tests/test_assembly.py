"""Closing the loops from joint values: branches by guess, limits, mirrored axes, random machines."""

import numpy as np
import pytest
from machines import (
    LINEAR,
    LOOPS,
    close_parts,
    closed_machine,
    name_of,
    tree_parts,
)

from cmbcontrol.errors import AssemblyError
from cmbcontrol.model.elements import (
    Body,
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

PAIRS = [(kind,) for kind in LOOPS] + [(Revolute, Distance), (Universal, PointOnLine), (Point, Planar)]


def names_of(kinds):
    return "+".join(k.__name__ for k in kinds)


def nudge(plant, q, size, seed=0):
    return plant.integrate(q, size * np.random.default_rng(seed).standard_normal(plant.nv))


@pytest.mark.parametrize("kinds", PAIRS, ids=names_of)
@pytest.mark.parametrize("seed", range(3))
def test_random_machines_close_from_a_guess_nearby(kinds, seed):
    plant, q = closed_machine(seed, kinds)
    guess = nudge(plant, q, 0.05)
    assert plant.open_loop(guess) > 1e-3
    found = plant.assemble(guess)
    assert plant.open_loop(found) < 1e-12
    assert np.abs(plant.difference(guess, found)).max() < 1.0


@pytest.mark.parametrize("seed", range(4))
def test_joint_values_are_held(seed):
    plant, q = close_parts(tree_parts(seed, 6), seed, (Spherical,))
    held = {
        n: q[plant.position_names.index(n)] for j in plant.joints if isinstance(j, LINEAR) for n in j.position_names
    }
    name = sorted(held)[seed % len(held)]
    found = plant.assemble(nudge(plant, q, 0.05), **{name: held[name] + 0.01})
    assert plant.open_loop(found) < 1e-12
    assert found[plant.position_names.index(name)] == pytest.approx(held[name] + 0.01, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_loops_written_twice_close_as_well(seed):
    plant, q = closed_machine(seed, (Revolute, Distance), twice=True)
    assert plant.open_loop(plant.assemble(nudge(plant, q, 0.05))) < 1e-12


def test_assembly_starts_from_the_neutral_pose_and_repeats_itself():
    plant = five_bar()
    np.testing.assert_array_equal(plant.assemble(left=2.1, right=1.0), plant.assemble(left=2.1, right=1.0))


def test_a_closed_guess_is_returned():
    plant = five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    np.testing.assert_allclose(plant.assemble(q), q, atol=1e-12)
    np.testing.assert_allclose(plant.assemble(dict(zip(plant.position_names, q, strict=True))), q, atol=1e-12)


# -- branches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
@pytest.mark.parametrize("side", [1.0, -1.0], ids=["tip above", "tip below"])
def test_the_guess_picks_the_branch_of_the_five_bar(closure, side):
    plant = five_bar(closure=closure)
    left, right = 2.1, 1.0
    a = np.array([np.cos(left), np.sin(left)])
    b = np.array([1.0 + np.cos(right), np.sin(right)])
    across = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
    tip = 0.5 * (a + b) + side * np.sqrt(1.5**2 - 0.25 * (b - a) @ (b - a)) * across
    angle = [np.arctan2(*(tip - x)[::-1]) - x0 for x, x0 in ((a, left), (b, right))]
    guess = {"elbow_left": angle[0] + 0.3, "elbow_right": angle[1] - 0.3}
    q = plant.assemble(guess, left=left, right=right)
    np.testing.assert_allclose(plant.point(q, "left_upper", (1.5, 0, 0))[:2], tip, atol=1e-12)
    np.testing.assert_allclose(q[[0, 2]], [left, right], atol=1e-14)


def slider(limits=None):
    """A crank of length 1 and a rod of length 2; the slider may be left or right of the crank."""
    bodies = [Body.planar("crank", 1.0, 0.5, 0.1), Body.planar("rod", 1.0, 1.0, 0.3), Body("slide", 1.0)]
    joints = [
        Revolute("crank", "ground", "crank"),
        Revolute("knee", "crank", "rod", frame=Frame((1, 0, 0))),
        Prismatic("slide", "ground", "slide", axis=(1, 0, 0), limits=limits),
    ]
    return Mechanism("slider", bodies, joints, [Point("pin", "rod", "slide", (2, 0, 0))])


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["right", "left"])
def test_limits_pick_the_branch(side):
    expected = np.cos(0.7) + side * np.sqrt(4.0 - np.sin(0.7) ** 2)
    limits = (0.0, 5.0) if side > 0.0 else (-5.0, 0.0)
    assert slider(limits).assemble(crank=0.7)[2] == pytest.approx(expected, abs=1e-12)
    assert slider().assemble({"slide": 2.0 * side, "knee": 0.0 if side > 0.0 else 2.0}, crank=0.7)[2] == pytest.approx(
        expected, abs=1e-12
    )


def test_no_branch_within_the_limits():
    with pytest.raises(AssemblyError, match="slide"):
        slider((0.5, 1.0)).assemble(crank=0.7)


def test_all_joint_values_given():
    plant = slider()
    q = plant.assemble(crank=0.7)
    names = plant.position_names
    np.testing.assert_array_equal(plant.assemble(**dict(zip(names, q, strict=True))), q)
    with pytest.raises(AssemblyError, match="'pin' open by"):
        plant.assemble(crank=0.7, knee=0.1, slide=2.0)


def test_a_machine_without_loops_is_assembled_at_once():
    plant = Mechanism("tree", [Body.planar("rod", 1.0, 0.5, 0.1)], [Revolute("pivot", "ground", "rod")])
    np.testing.assert_array_equal(plant.assemble(pivot=0.4), [0.4])
    np.testing.assert_array_equal(plant.assemble(), [0.0])


# -- axes that point the wrong way ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Revolute, Prismatic, Planar, Fixed], ids=name_of)
def test_a_cut_joint_with_its_axis_reversed_is_no_assembly(kind):
    """The rows vanish there, but the joint would have to be taken apart and turned over."""
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    cut = kind("cut", "ground", "body")
    plant = Mechanism("turned over", [body], [Spherical("ball", "ground", "body")], [cut])
    over = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about x
    assert plant.open_loop(over) < 1e-15
    q = plant.assemble(over)
    assert plant.open_loop(q) < 1e-12
    assert plant.pose(q, "body").R[2, 2] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", [Prismatic, Fixed], ids=name_of)
def test_a_cut_joint_without_rotation_is_not_assembled_half_a_turn_off(kind):
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    plant = Mechanism("turned", [body], [Spherical("ball", "ground", "body")], [kind("cut", "ground", "body")])
    half_turn = np.array([0.0, 0.0, 0.0, 1.0])
    assert plant.open_loop(half_turn) < 1e-15
    np.testing.assert_allclose(plant.pose(plant.assemble(half_turn), "body").R, np.eye(3), atol=1e-9)


def test_a_weld_is_not_assembled_half_a_turn_off():
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    plant = Mechanism("welded", [body], [Free("free", "ground", "body")], [Weld("weld", "ground", "body")])
    for half_turn in np.eye(4)[1:]:
        q = plant.assemble(np.concatenate([half_turn, np.zeros(3)]))
        np.testing.assert_allclose(plant.pose(q, "body").R, np.eye(3), atol=1e-9)


def test_the_message_says_when_only_the_reversed_axis_closes():
    """A planar arm whose tip pin is mounted upside down."""
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    over = Frame.turned((1, 0, 0), np.pi, (1, 0, 0))
    pin = Revolute("pin", "ground", "rod", frame=Frame((1, 0, 0)), child_frame=over)
    plant = Mechanism("upside down", [rod], [Revolute("pivot", "ground", "rod")], [pin])
    with pytest.raises(AssemblyError, match=r"'pin' closes only with its axes reversed.*guess") as caught:
        plant.assemble()
    assert caught.value.residuals["pin"] < 1e-12

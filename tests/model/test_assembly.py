"""Closing the loops from joint values: branches, limits, and what is told where they do not close."""

import numpy as np
import pytest

from cmbcontrol.errors import AssemblyError, BranchWarning
from cmbcontrol.model.elements import (
    Body,
    Coupling,
    Distance,
    Frame,
    Free,
    Planar,
    Point,
    PointOnPlane,
    Revolute,
    Spherical,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import five_bar
from cmbcontrol.plants.n_four_bar import n_four_bar
from tests.fixtures import (
    LINEAR,
    close_parts,
    closed_machine,
    crank_and_slider,
    nudge,
    refuses,
    rod_driven_leg,
    tree_parts,
)

NAN, INF = float("nan"), float("inf")


def test_assembly_of_unknown_joints():
    plant = five_bar()
    refuses(lambda: plant.assemble(lefft=1.0), "'lefft'", "did you mean 'left'", kind=ValueError)
    refuses(lambda: plant.assemble(guess={"rihgt": 1.0}), "'rihgt'", "did you mean 'right'", kind=ValueError)
    refuses(lambda: plant.assemble(left=NAN), "'left'", kind=ValueError)
    refuses(lambda: plant.assemble(left="up"), "'left'", kind=TypeError)
    refuses(lambda: plant.assemble(guess=np.zeros(3)), "(4,)", kind=ValueError)


def test_assembly_out_of_reach_says_by_how_much_each_loop_stays_open():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    far = Point("far", "ground", "rod", (5.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    near = PointOnPlane("near", "ground", "rod")
    plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod")], [near, far])
    error = refuses(lambda: plant.assemble(), "'far' open by 4.000e+00 m", kind=AssemblyError)
    assert "'near'" not in str(error)
    assert error.residuals["near"] < 1e-12
    assert error.residuals["far"] == pytest.approx(4.0, rel=1e-6)
    np.testing.assert_allclose(np.cos(error.q), 1.0, atol=1e-6)  # stretched towards the target
    error = refuses(lambda: plant.assemble(pivot=np.pi), "pivot = 3.14159", "6.000e+00", kind=AssemblyError)
    assert error.q[0] == np.pi


def test_assembly_beyond_the_limits_names_the_joint():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    up = Point("up", "ground", "rod", (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    for limits, text in (((-0.5, 0.5), "[-0.5, 0.5]"), ((2.0, 3.0), "[2, 3]")):
        plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod", limits=limits)], [up])
        refuses(plant.assemble, "pivot = 1.5708", text, "limits", kind=AssemblyError)
    plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod", limits=(-0.5, 0.5))])
    refuses(lambda: plant.assemble(pivot=0.7), "pivot = 0.7", "[-0.5, 0.5]", "limits", kind=AssemblyError)


@pytest.mark.parametrize("seed", range(4))
def test_joint_values_are_held(seed):
    plant, q = close_parts(tree_parts(seed, 6), seed, (Spherical,))
    held = {
        n: q[plant.position_names.index(n)] for j in plant.joints if isinstance(j, LINEAR) for n in j.position_names
    }
    name = sorted(held)[seed % len(held)]
    found = plant.assemble(guess=nudge(plant, q, 0.05), **{name: held[name] + 0.01})
    assert plant.closure_error(found) < 1e-12
    assert found[plant.position_names.index(name)] == pytest.approx(held[name] + 0.01, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_loops_written_twice_close_as_well(seed):
    plant, q = closed_machine(seed, (Revolute, Distance), twice=True)
    assert plant.closure_error(plant.assemble(guess=nudge(plant, q, 0.05))) < 1e-12


def test_assembly_starts_from_the_neutral_pose_and_repeats_itself():
    plant = five_bar()
    np.testing.assert_array_equal(plant.assemble(left=2.1, right=1.0), plant.assemble(left=2.1, right=1.0))


def test_a_closed_guess_is_returned():
    plant = five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    np.testing.assert_allclose(plant.assemble(guess=q), q, atol=1e-12)
    np.testing.assert_allclose(plant.assemble(guess=dict(zip(plant.position_names, q, strict=True))), q, atol=1e-12)


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
    q = plant.assemble(guess=guess, left=left, right=right)
    np.testing.assert_allclose(plant.point(q, "left_upper", (1.5, 0, 0))[:2], tip, atol=1e-12)
    np.testing.assert_allclose(q[[0, 2]], [left, right], atol=1e-14)


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["right", "left"])
def test_limits_pick_the_branch(side):
    expected = np.cos(0.7) + side * np.sqrt(4.0 - np.sin(0.7) ** 2)
    limits = (0.0, 5.0) if side > 0.0 else (-5.0, 0.0)
    assert crank_and_slider(limits).assemble(crank=0.7)[2] == pytest.approx(expected, abs=1e-12)
    assert crank_and_slider().assemble(guess={"slide": 2.0 * side, "knee": 0.0 if side > 0.0 else 2.0}, crank=0.7)[
        2
    ] == pytest.approx(expected, abs=1e-12)


def test_no_branch_within_the_limits():
    with pytest.raises(AssemblyError, match="slide"):
        crank_and_slider((0.5, 1.0)).assemble(crank=0.7)


def test_all_joint_values_given():
    plant = crank_and_slider()
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


def test_the_message_says_when_only_the_reversed_axis_closes():
    """A planar arm whose tip pin is mounted upside down."""
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    over = Frame.turned((1, 0, 0), np.pi, (1, 0, 0))
    pin = Revolute("pin", "ground", "rod", frame=Frame((1, 0, 0)), child_frame=over)
    plant = Mechanism("upside down", [rod], [Revolute("pivot", "ground", "rod")], [pin])
    with pytest.raises(AssemblyError, match=r"'pin' closes only with its axes reversed.*guess") as caught:
        plant.assemble()
    assert caught.value.residuals["pin"] < 1e-12


# -- near a guess -----------------------------------------------------------------------------------


def test_a_far_answer_warns():
    """The crank cannot pass the end of the rod's reach on this side: only the other side is within the limits."""
    guess = {"crank": 0.7, "knee": -1.0, "slide": 2.6}
    limited = crank_and_slider((-5.0, 2.0))
    with pytest.warns(BranchWarning, match=r"'slider' were closed .* from the guess .* predicts"):
        q = limited.assemble(guess=guess, crank=0.7)
    assert q[2] < 0.0
    free = crank_and_slider()
    assert free.assemble(guess=guess, crank=0.7)[2] == pytest.approx(
        np.cos(0.7) + np.sqrt(4.0 - np.sin(0.7) ** 2)
    )  # no warning


def test_a_guess_has_a_name_so_that_joint_values_are_not_taken_for_it():
    with pytest.raises(TypeError, match="positional"):
        five_bar().assemble({"left": 2.1})


def test_values_outside_their_limits_are_said_first_with_the_unit_they_seem_to_have():
    plant = crank_and_slider(limits=(0.5, 2.9))
    error = refuses(lambda: plant.assemble(slide=2400.0), "Hold fewer joints", kind=AssemblyError)
    assert str(error).startswith("slide = 2400 m is outside [0.5, 2.9] m. Lengths are in metres: is slide given in mm?")
    error = refuses(lambda: plant.assemble(slide=4.0), "slide = 4 m is outside", kind=AssemblyError)
    assert " mm" not in str(error)
    joint = Revolute("pivot", "ground", "rod", limits=(-0.9, 1.1))
    turning = Mechanism("robot", [Body.planar("rod", 1.0, 0.5, 0.1)], [joint])
    refuses(lambda: turning.assemble(pivot=30.0), "pivot = 30 rad is outside", "radians", kind=AssemblyError)
    assert "radians" not in str(refuses(lambda: turning.assemble(pivot=1.3), "1.3 rad is", kind=AssemblyError))


def test_loops_that_are_open_by_next_to_nothing_beside_the_others_are_not_listed():
    bars = [Body.planar(name, 1.0, 0.5, 0.1) for name in ("one", "two")]
    joints = [Revolute(f"{bar.name}_pivot", "ground", bar.name) for bar in bars]
    far, near = ((2.0, 0.0, 0.0), (1.0 + 5e-8, 0.0, 0.0))
    ends = [Point("far", "ground", "one", far, (1, 0, 0)), Point("near", "ground", "two", near, (1, 0, 0))]
    error = refuses(Mechanism("m", bars, joints, ends).assemble, "'far' open by 1.000e+00 m", kind=AssemblyError)
    assert "'near'" not in str(error) and error.residuals["near"] == pytest.approx(5e-8, rel=1e-3)


def arms(base):
    """Two arms of two links of length 1 that hold each other, on pivots at some distance."""
    bodies = [Body.planar(name, 1.0, 0.5, 0.1) for name in ("a", "b", "c", "d")]
    out, away = Frame((1.0, 0.0, 0.0)), Frame((base, 0.0, 0.0))
    joints = [Revolute("left", "ground", "a"), Revolute("left_elbow", "a", "b", frame=out)]
    joints += [Revolute("right", "ground", "c", frame=away), Revolute("right_elbow", "c", "d", frame=out)]
    return Mechanism("arms", bodies, joints, [Point("tip", "b", "d", (1, 0, 0), (1, 0, 0))])


def test_held_values_that_depend_on_each_other_and_all_but_agree():
    plant = crank_and_slider()
    slide = float(plant.assemble(guess={"slide": 3.0}, crank=0.7)[2]) + 1e-9
    words = ("crank and slide depend on each other", f"slide = {slide:.12g}", "Hold one fewer")
    refuses(lambda: plant.assemble(crank=0.7, slide=slide), *words, kind=AssemblyError)


def test_held_values_out_of_reach_by_next_to_nothing_do_not_depend_on_each_other():
    error = refuses(lambda: arms(4.0 + 1e-9).assemble(left=0.0, right=np.pi), "'tip' open by", kind=AssemblyError)
    assert "depend" not in str(error)


# -- guesses that name some coordinates ---------------------------------------------------------------

SOME = {"hip": -0.6, "knee": 1.2, "motor": 1.2, "ankle_1": -0.6}
MORE = {"krod": -1.2, "ankle_l": -0.6, "ankle_r": -0.6, "rod_l_1": 0.6, "rod_r_1": 0.6}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("guess", [SOME, SOME | MORE], ids=["some", "all"])
def test_a_far_branch_is_told_whatever_the_guess_names(guess):
    """Its four-bar allows the knee 1.065 rad at most, and the height takes 1.17: there is nothing near the guess."""
    with pytest.warns(BranchWarning, match="another branch"):
        rod_driven_leg().assemble(height=0.70, guess=guess)


def test_what_a_guess_does_not_name_is_where_the_loops_close_best():
    """By the law of cosines: two arms whose elbows are given reach each other in two ways, and only so."""
    plant = five_bar()
    elbows = {"elbow_left": -1.29, "elbow_right": 1.31}
    q = plant.assemble(guess=elbows | {"left": 2.1})
    np.testing.assert_allclose(q[[1, 3]], list(elbows.values()), atol=0.02)
    assert q[0] == pytest.approx(2.1, abs=0.02)
    tip = np.exp(1j * q[0]) + 1.5 * np.exp(1j * (q[0] + q[1]))
    assert abs(1.0 + np.exp(1j * q[2]) + 1.5 * np.exp(1j * (q[2] + q[3])) - tip) < 1e-12


# -- floating bases -----------------------------------------------------------------------------------


def rocking_leg(base):
    """Two links of length 1 whose end is on the ground at the origin, on a base that floats."""
    bodies = [Body(name, 1.0, (0.5, 0, 0), (0.1, 0.2, 0.3)) for name in ("upper", "lower")]
    joints = [base("base", "ground", "upper"), Revolute("knee", "upper", "lower", frame=Frame((1, 0, 0)))]
    return Mechanism("leg", bodies, joints, [Point("foot", "ground", "lower", (0, 0, 0), (1, 0, 0))])


@pytest.mark.parametrize(
    ("base", "held"),
    [
        (Planar, {"base_y": 0.7}),
        (Planar, {"base_x": 0.3, "base_y": -0.7}),
        (Planar, {"base_angle": 0.7}),
        (Free, {"base_z": 0.7}),
        (Free, {"base_x": 0.2, "base_z": 0.7}),
    ],
)
def test_places_of_a_floating_base_are_held(base, held):
    plant = rocking_leg(base)
    q = plant.assemble(**held)
    assert [q[plant.position_names.index(name)] for name in held] == list(held.values())
    hip, knee = plant.pose(q, "upper").p, plant.pose(q, "lower").p
    assert np.linalg.norm(knee - hip) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(knee) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(plant.point(q, "lower", (1, 0, 0))) < 1e-12


def test_places_of_a_base_out_of_reach_tell_by_how_much():
    """2.7 m up, with legs of 2 m: what is held and the foot share what is missing."""
    error = refuses(lambda: rocking_leg(Planar).assemble(base_y=2.7), "held places missed by", kind=AssemblyError)
    assert "3.500e-01 m" in str(error)
    refuses(lambda: rocking_leg(Free).assemble(base_qw=0.7), "'base_qw'", "quaternion", "guess=", kind=ValueError)


# -- branches within limits ---------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [-1, 1, 3])
def test_a_branch_within_limits_is_found_whole_turns_away(turns):
    """The neutral configuration and the guess are outside of the limits, by turns of a pin."""
    low, high = 2.0 * np.pi * turns - 1.5, 2.0 * np.pi * turns + 1.5
    free = crank_and_slider()
    pins = [Revolute("crank", "ground", "crank"), *free.joints[1:]]
    pins[1] = Revolute("knee", "crank", "rod", frame=Frame((1, 0, 0)), limits=(low, high))
    plant = free.with_parts(joints=pins)
    q, own = plant.assemble(crank=0.7), free.assemble(crank=0.7, guess={"slide": 2.6, "knee": -1.0})
    np.testing.assert_allclose(q - own, [0.0, 2.0 * np.pi * turns, 0.0], atol=1e-11)


# -- large machines, and messages ---------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize("n", [40, 100, pytest.param(200, marks=pytest.mark.slow)])
def test_long_chains_of_loops_close(n):
    """From flat, one loop after the other: all bars as the first one, and couplers level."""
    q = n_four_bar(n).assemble(bar0=1.0)
    np.testing.assert_allclose(q[::2], 1.0, atol=1e-12)
    np.testing.assert_allclose(q[1::2], -1.0, atol=1e-12)


def test_of_many_open_loops_three_are_named():
    plant = n_four_bar(12)
    places = {f"bar{i}": 1.0 + 0.3 * i for i in range(13)}
    error = refuses(lambda: plant.assemble(**places), "open by", " and 9 more", kind=AssemblyError)
    assert len(error.residuals) == 12 and str(error).count("open by") == 3


def test_constraints_that_contradict_one_another_are_named():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    ends = [Point("heel", "ground", "rod", (1, 0, 0), (1, 0, 0)), Point("toe", "ground", "rod", (0, 1, 0), (1, 0, 0))]
    plant = Mechanism("robot", [rod], [Revolute("pivot", "ground", "rod")], ends)
    refuses(plant.assemble, "'heel' and 'toe' contradict one another", kind=AssemblyError)


def test_angles_of_many_turns_are_asked_for_their_unit():
    refuses(
        lambda: crank_and_slider().assemble(crank=60.0, slide=1.0), "is crank given in degrees?", kind=AssemblyError
    )
    error = refuses(lambda: crank_and_slider().assemble(crank=0.7, slide=1.0), "'pin' open by", kind=AssemblyError)
    assert "degrees" not in str(error)


def test_couplings_of_angles_are_open_by_an_angle():
    belt = five_bar().with_loops(Coupling("belt", {"left": 1.0, "right": 2.0}))
    refuses(lambda: belt.assemble(left=2.1, right=1.0), "'belt' open by 4.100e+00 rad", kind=AssemblyError)

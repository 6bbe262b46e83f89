"""Closing the loops: from joint values, near a guess, at and near singular configurations, in any units; limits."""

import dataclasses
import warnings

import mpmath
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

from cmbcontrol import plants, simulate
from cmbcontrol.errors import AssemblyError, BranchWarning
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
    assert plant.closure_error(guess) > 1e-3
    found = plant.assemble(guess)
    assert plant.closure_error(found) < 1e-12
    assert np.abs(plant.difference(guess, found)).max() < 1.0


@pytest.mark.parametrize("seed", range(4))
def test_joint_values_are_held(seed):
    plant, q = close_parts(tree_parts(seed, 6), seed, (Spherical,))
    held = {
        n: q[plant.position_names.index(n)] for j in plant.joints if isinstance(j, LINEAR) for n in j.position_names
    }
    name = sorted(held)[seed % len(held)]
    found = plant.assemble(nudge(plant, q, 0.05), **{name: held[name] + 0.01})
    assert plant.closure_error(found) < 1e-12
    assert found[plant.position_names.index(name)] == pytest.approx(held[name] + 0.01, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_loops_written_twice_close_as_well(seed):
    plant, q = closed_machine(seed, (Revolute, Distance), twice=True)
    assert plant.closure_error(plant.assemble(nudge(plant, q, 0.05))) < 1e-12


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
    assert plant.closure_error(over) < 1e-15
    q = plant.assemble(over)
    assert plant.closure_error(q) < 1e-12
    assert plant.pose(q, "body").R[2, 2] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", [Prismatic, Fixed], ids=name_of)
def test_a_cut_joint_without_rotation_is_not_assembled_half_a_turn_off(kind):
    body = Body("body", 1.0, inertia=(1.0, 1.0, 1.0))
    plant = Mechanism("turned", [body], [Spherical("ball", "ground", "body")], [kind("cut", "ground", "body")])
    half_turn = np.array([0.0, 0.0, 0.0, 1.0])
    assert plant.closure_error(half_turn) < 1e-15
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


# -- near a guess -----------------------------------------------------------------------------------


def lengths(plant):
    return np.array([1.0 if unit == "rad/s" else plant.size for unit in plant.velocity_units])


def distance(plant, q0, q1):
    """Largest change, rad or sizes of the machine."""
    return float(np.abs(plant.difference(q0, q1) / lengths(plant)).max())


def near(plant, q, off, seed):
    """A guess from which a closed pose is at most `off` away."""
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
        found = plant.assemble(guess)
        assert plant.closure_error(found) < 1e-14 * plant.size
        assert distance(plant, guess, found) < 0.08


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kinds", [(Weld,), (Revolute,), (Universal,), (Weld, Revolute)], ids=names_of)
@pytest.mark.parametrize("seed", range(3))
def test_chains_close_from_any_guess(kinds, seed):
    """From 0.05 to 1 rad (or sizes) off, and from the neutral pose; products of axes alone would not."""
    tree = (Revolute, Revolute, Prismatic, Universal, Revolute, Spherical)
    plant, q = closed_machine(seed, kinds, bodies=7 if len(kinds) == 1 else 12, kinds=tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BranchWarning)  # 1 rad away, another branch may be nearer
        for off in (0.05, 0.3, 1.0):
            guess = near(plant, q, off, seed)
            found = plant.assemble(guess)
            assert plant.closure_error(found) < 1e-14 * plant.extent(found)
            assert off > 0.3 or distance(plant, guess, found) < 3.0 * off
        assert plant.closure_error(plant.assemble()) < 1e-12


def test_from_far_the_nearest_pose_is_found():
    """The way to the guess is perpendicular to the closed poses."""
    plant = five_bar()
    for guess in ([-2.0, 0.0, -1.0, 0.0], [1.0, -2.0, 2.0, 2.0], [3.0, -1.5, 1.0, 1.0]):
        found = plant.assemble(guess)
        way = np.array(guess) - found
        assert np.linalg.norm(way) > 0.3
        assert np.linalg.norm(plant.terms(found, np.zeros(4)).Z.T @ way) < 0.011 * np.linalg.norm(way)


def test_a_far_answer_warns():
    """The crank cannot pass the end of the rod's reach on this side: only the other side is within the limits."""
    guess = {"crank": 0.7, "knee": -1.0, "slide": 2.6}
    limited = slider((-5.0, 2.0))
    with pytest.warns(BranchWarning, match=r"'slider' were closed .* from the guess .* predicts"):
        q = limited.assemble(guess, crank=0.7)
    assert q[2] < 0.0
    free = slider()
    assert free.assemble(guess, crank=0.7)[2] == pytest.approx(2.66, abs=0.01)  # no warning


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
    assert plant.extent(q) > 1000.0
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
    assert plant.closure_error(q) < 2e-15 * plant.extent(q)
    np.testing.assert_allclose(q, scaled_four_bar(k).assemble(a=1.0), atol=1e-13 * away / k)
    assert plant.closure_error(plant.close(q + 0.01)) < 2e-15 * plant.extent(q)


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


# -- at and near singular configurations -------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_assembly_lands_on_the_singular_pose_it_is_asked_for():
    for plant, held, flat in (
        (plants.five_bar(), {"left": np.pi, "right": 0.0}, np.pi),
        (plants.n_four_bar(1), {"bar0": np.pi}, np.pi),
        (plants.n_four_bar(3), {"bar0": np.pi}, np.pi),
        (plants.slider_crank(), {"q1": 0.5 * np.pi}, 0.5 * np.pi),
    ):
        q = plant.assemble(**held)
        assert np.abs(q - flat * np.round(q / flat)).max() < 1e-15
        if plant.nv < 5:
            assert simulate(plant, q0=q, t_end=0.05).max_energy_error < 1e-8 * plant.force_scale * plant.size


def exact_elbows(left, right, near_elbows):
    """Elbow angles of the five-bar that are nearest to some, to 40 digits."""
    with mpmath.workdps(40):
        L, R = mpmath.mpf(left), mpmath.mpf(right)
        a, b = (mpmath.cos(L), mpmath.sin(L)), (1 + mpmath.cos(R), mpmath.sin(R))
        dx, dy = b[0] - a[0], b[1] - a[1]
        ways = []
        for side in (1, -1):
            h = side * mpmath.sqrt(mpmath.mpf(2.25) / (dx * dx + dy * dy) - mpmath.mpf(0.25))
            tip = a[0] + dx / 2 - h * dy, a[1] + dy / 2 + h * dx
            elbows = [mpmath.atan2(tip[1] - x[1], tip[0] - x[0]) - x0 for x, x0 in ((a, L), (b, R))]
            ways.append(
                max(abs(mpmath.sin((mpmath.mpf(q) - e) / 2)) * 2 for q, e in zip(near_elbows, elbows, strict=True))
            )
        return float(min(ways))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("off", [1e-15, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_assembly_beside_a_singular_pose_has_all_digits(off):
    """The residual alone would leave errors of 1e-16 / off: 5e-8 at 1e-8."""
    plant = plants.five_bar()
    for dl, dr in ((off, -off), (off, off), (off, -0.5 * off), (off, 0.0)):
        q = plant.assemble(left=np.pi - dl, right=-dr)
        assert (q[0], q[2]) == (np.pi - dl, -dr)
        assert exact_elbows(q[0], q[2], q[[1, 3]]) < (1e-15 if off < 1e-3 else 1e-13)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("off", [1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4])
def test_close_beside_a_singular_pose_has_all_digits(off):
    plant = plants.five_bar()
    singular = plant.assemble(left=np.pi, right=0.0)
    for seed in range(3):
        guess = singular + off * np.random.default_rng(seed).uniform(-1.0, 1.0, 4)
        q = plant.close(guess)
        assert np.abs(q - guess).max() < 2.0 * off
        assert exact_elbows(q[0], q[2], q[[1, 3]]) < 3e-15
        assert simulate(plant, q0=q, t_end=0.05).max_energy_error < 1e-8 * plant.force_scale * plant.size


def test_a_turning_point_is_met_exactly():
    """The slider at its farthest: the loops are regular, but what is held does not tell the crank to first order."""
    plant = slider()
    q = plant.assemble({"crank": 0.3, "knee": -0.2}, slide=3.0)
    np.testing.assert_allclose(q, [0.0, 0.0, 3.0], rtol=0.0, atol=1e-15)
    assert plant.diagnose(q).rank == 2
    q = plant.assemble({"crank": 0.3, "knee": -0.5}, slide=3.0 - 1e-8)
    assert q[0] == pytest.approx(np.sqrt(2e-8 / 1.5), rel=1e-6)  # cos(crank) + 2 cos(rod) with 2 sin(rod) = sin(crank)
    with pytest.raises(AssemblyError, match="'pin' open by"):
        plant.assemble(slide=3.0 + 1e-3)


def test_values_beside_those_of_a_singular_pose_are_kept():
    plant = plants.n_four_bar(1)
    q = plant.assemble(bar0=np.pi - 1e-6)
    assert q[0] == np.pi - 1e-6
    assert np.abs(np.sin(q)).max() < 1.1e-6
    assert plant.terms(q, np.zeros(3)).conditioning > 1e-7

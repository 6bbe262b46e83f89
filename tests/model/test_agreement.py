"""Machines whose redundant rows agree to the digits of their numbers only."""

import pickle
import warnings

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Coupling, Frame, Mechanism, Point, Revolute, Spherical, plants
from cmbcontrol.errors import PrecisionWarning
from cmbcontrol.formats import read_sdf
from cmbcontrol.model.agreement import Agreement, left_as_they_are
from tests.fixtures import four_bar_sdf

from ..robustness import machines


def four_bar(gap=0.0, tilt=0.0, loops=None, **more):
    bodies = [Body.rod(name, 1.0, length) for name, length in (("crank", 0.2), ("coupler", 0.6), ("rocker", 0.4))]
    axis = (np.sin(tilt), 0.0, np.cos(tilt))
    joints = [
        Revolute("crank", "ground", "crank"),
        Revolute("knee", "crank", "coupler", frame=Frame((0.2, 0, 0))),
        Revolute("rocker", "ground", "rocker", axis=axis, frame=Frame((0.5, 0, 0))),
    ]
    if loops is None:
        loops = [
            Point("pin_front", "coupler", "rocker", (0.6, 0, 0.02), (0.4, 0, 0.02)),
            Point("pin_back", "coupler", "rocker", (0.6, 0, -0.02), (0.4 + gap, 0, -0.02)),
        ]
    return Mechanism("four-bar", bodies, joints, loops, gravity=(0, -9.81, 0), **more)


def ball():
    return [Spherical("pin", "coupler", "rocker", frame=Frame((0.6, 0, 0)), child_frame=Frame((0.4, 0, 0)))]


def end(plant):
    q = plant.assemble(crank=1.0, guess={"rocker": 1.5})
    assert plant.diagnose(q).dof == 1
    return cmb.simulate(plant, q0=q, t_end=1.0).q.values[-1]


EXACT = np.array([-2.29945216, 3.17721192, 2.24544042])  # of the planar four-bar, with two rows in place of six


def test_the_reference_has_no_redundant_row():
    pin = cmb.PointOnLine("pin", "coupler", "rocker", (0.6, 0, 0), (0.4, 0, 0), (0, 0, 1))
    np.testing.assert_allclose(end(four_bar(loops=[pin])), EXACT, atol=1e-7)


@pytest.mark.parametrize("gap", [1e-12, 1e-10])
def test_a_closure_that_is_given_twice_to_many_digits(gap):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(end(four_bar(gap)), EXACT, atol=1e-7)


@pytest.mark.parametrize("gap", [1e-8, 1e-4])
def test_a_closure_that_is_given_twice_to_few_digits(gap):
    with pytest.warns(PrecisionWarning, match=r"'four-bar': redundant rows agree to 'pin_.*precision=0"):
        plant = four_bar(gap)
    np.testing.assert_allclose(end(plant), EXACT, atol=20.0 * gap + 1e-7)
    found = plant.agreement
    assert set(found.open) == {"pin_front", "pin_back"} and 0.1 * gap < max(found.open.values()) < gap
    assert 0.1 * gap < found.shift < gap and found.gap > 1e3 and found.rank == 2
    q = plant.assemble(crank=1.0, guess={"rocker": 1.5})
    assert str(found) in str(plant.diagnose(q)) and str(found) in str(plant)
    assert plant.closure_error(q) < 1e-14


@pytest.mark.parametrize("tilt", [1e-10, 1e-6])
def test_an_axis_that_is_not_parallel(tilt):
    np.testing.assert_allclose(end(four_bar(tilt=tilt, loops=ball(), precision=1e-6)), EXACT, atol=20.0 * tilt + 1e-7)


@pytest.mark.slow
def test_what_is_stated_is_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert four_bar(1e-6, precision=1e-6).agreement.changes
        assert four_bar(1e-6, precision=0.0).agreement is None
    with pytest.warns(PrecisionWarning, match=r"all but agree.*With precision="):
        left = four_bar(1e-4, precision=1e-9)
    assert not left.agreement.changes
    assert left.loops[1].point_b[0] == 0.4 + 1e-4
    with pytest.raises(ValueError, match="precision must be >= 0"):
        four_bar(precision=-1.0)
    with left_as_they_are():
        assert four_bar(1e-6).agreement is None


def test_nothing_is_kept_of_the_other_numbers():
    """Also where a motion is prescribed, and is no part of what is looked at."""
    for loops in (None, [*four_bar().loops, cmb.JointMotion("drive", "crank")]):
        with pytest.warns(PrecisionWarning):
            plant = four_bar(1e-6) if loops is None else four_bar(1e-6, loops=[*loops[:1], moved_pin(1e-6), *loops[2:]])
        anew = plant.with_parts(precision=0.0)
        known, built = cmb.dynamics.parameters(plant), cmb.dynamics.parameters(anew)
        assert {name: number.value for name, number in known.items()} == {n: x.value for n, x in built.items()}
        assert plant._positional is plant


def moved_pin(gap):
    return Point("pin_back", "coupler", "rocker", (0.6, 0, -0.02), (0.4 + gap, 0, -0.02))


def test_numbers_that_are_meant_are_another_machine():
    """Of two holes that are a centimetre apart only one can have the pin: nothing moves, and nothing is changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant = four_bar(0.01)
    assert plant.agreement is None
    with pytest.raises(cmb.errors.AssemblyError):
        plant.assemble(crank=1.0)


def axis(t, p):
    return np.array([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)])


def wrist(digits, loop):
    """A spherical four-bar; hinges are on their axes, 0.1 m from the centre."""
    axes = [axis(0.0, 0.0), axis(0.6, 0.2), axis(1.0, 1.1), axis(0.8, 1.9)]
    bodies = [Body(n, 1.0, 0.2 * (axes[i] + axes[i + 1]) / 2, (0.01, 0.01, 0.01)) for i, n in enumerate("abc")]

    def hinge(name, parent, child, i):
        at = Frame(np.round(0.1 * axes[i], digits))
        return Revolute(name, parent, child, axis=np.round(axes[i], digits), frame=at, child_frame=at)

    joints = [hinge("A", "ground", "a", 0), hinge("B", "a", "b", 1), hinge("C", "b", "c", 2)]
    point = np.round(0.3 * axes[3], digits)
    closure = hinge("D", "ground", "c", 3) if loop == "hinge" else Point("D", "ground", "c", point, point)
    return Mechanism("wrist", bodies, joints, [closure], precision=10.0 ** (1 - digits))


@pytest.mark.parametrize("loop", ["hinge", "point"])
@pytest.mark.parametrize("digits", [12, 10, 8, 7, 6, 5])
@pytest.mark.first(1)
def test_axes_that_meet_in_a_point(loop, digits):
    ends = []
    for plant in (wrist(16, loop), wrist(digits, loop)):
        q = plant.assemble(A=0.2)
        assert plant.diagnose(q).dof == 1
        run = cmb.simulate(plant, q0=q, t_end=0.5)
        assert np.abs(run.q.values[-1] - q).max() > 2.0
        ends.append(run.q.values[-1])
    np.testing.assert_allclose(ends[1], ends[0], atol=100.0 * 10.0**-digits + 1e-9)


def test_a_ratio_that_has_four_digits():
    """Three shafts in a ring of gears, whose ratios are to have the product one."""
    bodies = [Body(n, 1.0, inertia=(0.01,) * 3) for n in "abc"]
    joints = [Revolute(n, "ground", n, frame=Frame((x, 0, 0))) for x, n in enumerate("abc")]
    gears = [Coupling("ab", {"a": 1.0, "b": 3.0}), Coupling("bc", {"b": 1.0, "c": 7.0}),
             Coupling("ca", {"c": 1.0, "a": -0.0476})]  # fmt: skip
    with pytest.warns(PrecisionWarning, match="axes and ratios"):
        plant = Mechanism("ring", bodies, joints, gears)
    assert plant.diagnose(plant.neutral()).dof == 1
    ab, bc, ca = (list(gear.coefficients.values()) for gear in plant.loops)
    assert ab[1] / ab[0] * bc[1] / bc[0] * ca[1] / ca[0] == pytest.approx(-1.0, abs=1e-12)


def test_a_file_with_few_digits_is_a_remark_and_no_warning(tmp_path):
    """A four-bar whose ground hinges have turns of 1.57081, which are nearly right angles."""
    (tmp_path / "m.sdf").write_text(four_bar_sdf("1.57081"))
    read = read_sdf(tmp_path / "m.sdf")
    assert any(remark.kind == "changed" and remark.part == "numbers" for remark in read.remarks)
    plant = read.machine
    assert plant.diagnose(plant.assemble()).dof == 1


def test_copies_are_exact_and_stay_as_they_are(tmp_path):
    plant = four_bar(1e-7, precision=1e-7)
    plant.save(tmp_path / "four-bar.yaml")
    others = (pickle.loads(pickle.dumps(plant)), plant.with_parts(), Mechanism.load(tmp_path / "four-bar.yaml"))
    for other in others:
        assert other.agreement is None and other.precision == plant.precision
        for a, b in zip(plant.arrays, other.arrays, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("name", sorted(plants.catalogue))
def test_machines_that_agree_keep_every_bit(name):
    plant = plants.catalogue[name].start()[0]
    if isinstance(plant, Mechanism):
        unchanged(plant)


@pytest.mark.parametrize("seed", range(45))
@pytest.mark.first(20)
def test_random_machines_that_agree_keep_every_bit(seed):
    unchanged(machines.build(machines.machine(seed)))


def unchanged(plant):
    assert plant.agreement is None
    for a, b in zip(plant.arrays, plant.with_parts(precision=0.0).arrays, strict=True):
        assert np.array_equal(a, b)


def test_in_words():
    told = Agreement(2, {"pin": 1e-6, "tip": 2e-6}, 1e5, 1e-6, 0.0, {"pin_point_a_x": 1e-6})
    assert str(told).startswith("redundant rows agree to 'tip' by 2e-06 m, 'pin' by 1e-06 m; numbers were changed")

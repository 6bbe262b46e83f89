"""Root loci: closed forms, branches that meet and cross, crossings of the border, what make may return."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import linearize, plants, root_locus, trim
from cmbcontrol.model.elements import Body, JointSpring, Prismatic, Revolute
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration

G = 9.81


def oscillator(c, k=4.0):
    return np.array([[0.0, 1.0], [-k, -c]])


@pytest.fixture(scope="module")
def arm():
    plant = plants.five_bar()
    return linearize(plant, trim(plant, configuration(plant)), coordinates=("left", "right"))


# -- branches -------------------------------------------------------------------------------------------


def test_damped_oscillator_along_its_circle():
    """On a circle of radius sqrt k up to critical damping, then along the real axis."""
    given = np.linspace(0.5, 6.0, 12)
    locus = root_locus(oscillator, given, parameter="damping", unit="1/s")
    c = locus.values
    np.testing.assert_array_equal(c[locus.given.values], given)
    assert (np.diff(c) > 0.0).all()
    values = locus.eigenvalue.values
    for row, p in zip(values, c, strict=True):
        s = np.sqrt(p**2 / 4 - 4 + 0j)
        np.testing.assert_allclose(np.sort_complex(row), np.sort_complex([-p / 2 - s, -p / 2 + s]), atol=1e-6)
    np.testing.assert_allclose(locus.damping.values, np.outer(np.minimum(c / 4, 1.0), [1, 1]), atol=1e-9)
    # each branch is continuous: near the place where they meet the values are dense
    assert np.abs(np.diff(values, axis=0)).max() < 0.9
    assert locus.stable.all() and not locus.crossing_value.size


def test_branches_that_cross_go_straight_on():
    locus = root_locus(lambda p: np.diag([p, 1.0 - p, 2.0 * p - 0.3]), np.linspace(0.0, 1.0, 8))
    p = locus.values
    ends = {tuple(np.round(branch[[0, -1]].real, 9)) for branch in locus.eigenvalue.values.T}
    assert ends == {(0.0, 1.0), (1.0, 0.0), (-0.3, 1.7)}
    for branch in locus.eigenvalue.values.T:
        slope = np.diff(branch.real) / np.diff(p)
        np.testing.assert_allclose(slope, slope[0], atol=1e-6)


def test_branches_that_veer_are_told_apart():
    """Two eigenvalues that come within 0.002, between values a tenth apart: they turn, they do not cross."""
    locus = root_locus(lambda p: np.array([[p, 0.001], [0.001, -p]]), np.linspace(-1.0, 1.0, 21) + 0.03)
    values = locus.eigenvalue.values.real
    p = locus.values[:, None]
    np.testing.assert_allclose(values, np.sqrt(p**2 + 1e-6) * np.sign(values[0]), rtol=1e-9)
    assert len(p) > 25
    coarse = root_locus(lambda p: np.array([[p, 0.001], [0.001, -p]]), np.linspace(-1.0, 1.0, 21) + 0.03, refine=False)
    assert len(coarse.values) == 21


def test_equal_branches_cost_nothing():
    """Two machines of one kind: eigenvalues repeated everywhere."""
    calls = []

    def make(c):
        calls.append(c)
        return np.kron(np.eye(2), oscillator(c))

    locus = root_locus(make, np.linspace(0.5, 1.5, 5))
    assert len(calls) == 5 and len(locus.branch) == 4


def test_falling_values_are_followed_too():
    locus = root_locus(oscillator, [3.0, 1.0, -1.0])
    assert (np.diff(locus.values) < 0.0).all()
    assert locus.crossing_value.values == pytest.approx([0.0], abs=1e-9)
    assert locus.crossing_direction.values == [1]


# -- crossings --------------------------------------------------------------------------------------------


def test_crossing_of_the_imaginary_axis():
    locus = root_locus(lambda c: oscillator(c - np.pi / 3), np.linspace(0.0, 3.0, 7), parameter="c", unit="1/s")
    assert locus.crossing_value.values == pytest.approx([np.pi / 3], rel=1e-10)
    assert locus.crossing_frequency.values == pytest.approx([2.0], rel=1e-9)
    assert locus.crossing_direction.values == [-1]
    table = str(locus)
    assert "1.04719755" in table and "inwards" in table and "0 +- 2j" in table
    assert repr(locus) == f"<RootLocus over 'c': {len(locus.values)} values, 2 branches, 1 crossings>"
    with pytest.raises(AttributeError, match="a root locus has no 'colour'"):
        _ = locus.colour


@pytest.mark.parametrize("values", [[-1.0, 1.0], [-1.0, 0.0, 1.0], [1.0, 0.25, -0.5]])
def test_crossing_of_a_real_eigenvalue(values):
    locus = root_locus(lambda p: [[p, 1.0], [0.0, -3.0]], values)
    assert locus.crossing_value.values == pytest.approx([0.0], abs=1e-9)
    assert locus.crossing_eigenvalue.values == pytest.approx([0.0], abs=1e-9)


def test_leaving_the_axis():
    """Undamped, the eigenvalues lie on the axis until the stiffness vanishes, and then leave it both ways."""
    locus = root_locus(lambda k: oscillator(0.0, k - 0.2), np.linspace(1.0, -1.0, 9))
    np.testing.assert_allclose(locus.crossing_value, [0.2, 0.2], atol=1e-8)
    assert sorted(locus.crossing_direction.values) == [-1, 1]
    damped = root_locus(lambda c: oscillator(max(c, 0.0)), [-1.0, -0.4, 0.3, 1.0])
    assert damped.crossing_value.values == pytest.approx([0.0], abs=1e-8)


@pytest.mark.parametrize("ratio", [0.3, 0.7])
def test_crossing_of_a_damping_line(ratio):
    locus = root_locus(oscillator, np.linspace(0.1, 3.9, 9), ratio=ratio)
    assert locus.crossing_value.values == pytest.approx([4.0 * ratio], rel=1e-9)
    assert f"line of damping ratio {ratio}" in str(locus)
    np.testing.assert_array_equal(locus.stable, locus.values > 4.0 * ratio)


def test_unit_circle_of_a_sampled_law(arm):
    """Velocity feedback through a hold: the largest gain by hand, and by Jury's criterion for one axis."""
    period = 0.1
    make = lambda k: np.array([[1.0 - period * k]])  # noqa: E731  # dx/dt = -k x(k T)
    locus = root_locus(make, [5.0, 12.0, 25.0], period=period)
    assert locus.crossing_value.values == pytest.approx([20.0], rel=1e-9)
    assert locus.crossing_frequency.values == pytest.approx([np.pi / period], rel=1e-9)
    assert "unit circle" in str(locus)
    # x'' = u, u = -(x + b v): z^2 + (T^2/2 + b T - 2) z + 1 + T^2/2 - b T, stable for T/2 < b < 2/T
    rates = root_locus(
        lambda b: [[1 - period**2 / 2, period - b * period**2 / 2], [-period, 1 - b * period]],
        np.linspace(0.01, 30.0, 40),
        period=period,
    )
    np.testing.assert_allclose(rates.crossing_value, [period / 2, 2 / period], rtol=1e-8)
    assert list(rates.crossing_direction.values) == [-1, 1]


def test_states_in_sampled_time_know_their_period(arm):
    ct = pytest.importorskip("control")
    system, gain = arm.sampled(0.02, 0.02), ct.lqr(arm.to_ss(), 1e3 * np.eye(4), 0.01 * np.eye(2))[0]
    gain = np.hstack([gain, np.zeros((2, 2))])

    def make(factor):
        return ct.ss(system.A - factor * system.B @ gain, system.B, system.C, 0, 0.02)

    locus = root_locus(make, np.linspace(0.05, 4.0, 20), parameter="gain")
    assert locus.data.attrs["period"] == 0.02
    for value in locus.crossing_value.values:
        largest = np.abs(np.linalg.eigvals(make(value).A))
        assert np.abs(largest - 1.0).min() < 1e-10
    inside = [np.abs(np.linalg.eigvals(make(p).A)).max() < 1.0 for p in locus.values]
    np.testing.assert_array_equal(locus.stable, inside)
    assert 0 < sum(inside) < len(inside)


# -- parameters of machines ------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
def test_spring_that_holds_a_rod_upright():
    """On a cut joint, it falls where the stiffness is below m g l / 2."""
    bodies = [Body("slide_x"), Body("slide_y"), Body.rod("rod", 1.0, 1.0)]
    joints = [
        Prismatic("x", "ground", "slide_x", axis=(1, 0, 0)),
        Prismatic("y", "slide_x", "slide_y", axis=(0, 1, 0)),
        Revolute("turn", "slide_y", "rod"),
    ]

    def make(stiffness):
        spring = JointSpring("spring", "turn", stiffness, np.pi / 2)
        hinge = Revolute("hinge", "ground", "rod")
        plant = Mechanism("rod", bodies, joints, [hinge], [spring], gravity=(0, -G, 0))
        return linearize(plant, trim(plant, [0.0, 0.0, np.pi / 2], u=0.0), coordinates=("turn",))

    locus = root_locus(make, np.linspace(2.0, 8.0, 7), parameter="stiffness", unit="N m/rad")
    np.testing.assert_allclose(locus.crossing_value, G / 2.0, rtol=1e-9)
    assert locus.data["crossing_value"].attrs["units"] == "N m/rad"


# -- what is refused ----------------------------------------------------------------------------------------


def test_what_make_may_not_return():
    for bad, error, message in (
        (lambda p: "matrix", TypeError, "LinearModel, a control.StateSpace or a square matrix, got str at gain = 1"),
        (lambda p: np.ones((2, 3)), ValueError, r"square matrices, got shape \(2, 3\) at gain = 1"),
        (lambda p: [[np.nan]], ValueError, "not finite at gain = 1"),
        (lambda p: np.eye(1 if p < 1.5 else 2), ValueError, "2 eigenvalues at gain = 2 and 1 before"),
    ):
        with pytest.raises(error, match=message):
            root_locus(bad, [1.0, 2.0], parameter="gain")
    with pytest.raises(TypeError, match="make must be a function"):
        root_locus(np.eye(2), [1.0, 2.0])
    for values in ([1.0], [1.0, 1.0], [0.0, 2.0, 1.0]):
        with pytest.raises(ValueError, match="values must rise or fall"):
            root_locus(oscillator, values)
    with pytest.raises(ValueError, match="values must be finite"):
        root_locus(oscillator, [0.0, np.nan])
    for ratio in (-0.1, 1.0):
        with pytest.raises(ValueError, match="damping ratio from 0 to below 1"):
            root_locus(oscillator, [1.0, 2.0], ratio=ratio)


def test_sample_times_must_agree(arm):
    ct = pytest.importorskip("control")
    with pytest.raises(ValueError, match=r"sample time of 0\.2 s at parameter = 0\.2 and 0\.1 s before"):
        root_locus(lambda p: arm.sampled(p), [0.1, 0.2])
    unknown = ct.ss([[0.5]], [[1.0]], [[1.0]], 0, True)
    with pytest.raises(ValueError, match="without a sample time; give period="):
        root_locus(lambda p: unknown, [0.1, 0.2])
    assert root_locus(lambda p: unknown, [0.1, 0.2], period=0.1).data.attrs["period"] == 0.1
    moved = root_locus(lambda p: dataclasses.replace(arm, A=arm.A - p * np.eye(4)), [0.0, 5.0])
    assert len(moved.crossing_value) == 2

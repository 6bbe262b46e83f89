"""Linear models of closed machines against outside judges: exact reductions, SymPy, Pinocchio, MuJoCo."""

from pathlib import Path

import numpy as np
import pytest

import cmbcontrol as cmb
from tests.fixtures import matched

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2])
    from benchmarks import judges_linear
    from benchmarks.rivals import planar


NAMES = ("pendulum", "parallelogram", "four_bar", "slider_crank", "five_bar")
CUTS = (("four_bar", "ground"), ("five_bar", "ground"))


def machine(name, *cut):
    return getattr(planar, name)(*cut)


def exact(machine):
    return np.linalg.eigvals(planar.exact(machine, planar.equilibrium(machine))[0])


def judge(name):
    """The module of a tool, or skip."""
    module = judges_linear.import_module(f"benchmarks.rivals.linear_{name}")
    if not module.available():
        pytest.skip(f"{name} is not installed")
    return module


# -- exact reductions, without any tool ------------------------------------------------------------------


def test_yardstick_by_textbook():
    """A rod on a pivot, 3 g/(2 L); three equal rods, 6 g/(5 L)."""
    assert exact(planar.pendulum(2.3, 0.7)).imag.max() == pytest.approx(np.sqrt(1.5 * 9.81 / 0.7), rel=1e-12)
    assert exact(planar.parallelogram()).imag.max() == pytest.approx(np.sqrt(1.2 * 9.81), rel=1e-12)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_yardstick_does_not_depend_on_the_cut(name):
    assert matched(exact(machine(name)), exact(machine(name, "ground"))) < 1e-11


def test_yardstick_force_is_the_slope_of_the_potential():
    five = planar.five_bar()
    q, step = np.array([0.3, -0.8, 1.1, 0.4]), 1e-2
    slope = [
        sum(w * s * planar.potential(five, q + s * k * step * e) for k, w in planar.ORDER_8 for s in (1, -1)) / step
        for e in np.eye(4)
    ]
    assert np.abs(slope - planar.static_force(five, q)).max() < 1e-10


@pytest.mark.parametrize("closure", ["line", "revolute"])
@pytest.mark.parametrize("of", [*((name,) for name in NAMES), *CUTS], ids=" ".join)
def test_linearize_has_the_exact_poles(of, closure):
    """Equilibrium by our trim, poles by `linearize`, for every cut and with redundant rows."""
    made = machine(*of)
    model = judges_linear.linear_model(made, closure)
    assert np.abs(model.point.q - planar.equilibrium(made)).max() < 1e-11
    assert matched(exact(made), model.poles()) < 1e-11


@pytest.mark.parametrize("name", ["pendulum", "four_bar", "slider_crank", "five_bar"])
def test_the_stiffness_of_the_constraint_forces_counts(name):
    """Without it the poles are elsewhere: for a rod on a cut joint, at zero."""
    made = machine(name)
    wrong = judges_linear.without_constraint_stiffness(made, planar.equilibrium(made))
    assert matched(exact(made), wrong) > 0.05
    if name == "pendulum":
        assert np.abs(wrong).max() < 1e-12


# -- SymPy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("pendulum", "by_kane"),
        pytest.param("four_bar", "by_kane", marks=pytest.mark.slow),
        pytest.param("four_bar", "by_lagrange", marks=pytest.mark.slow),
        ("slider_crank", "by_kane"),
        pytest.param("five_bar", "by_kane", marks=pytest.mark.slow),
        pytest.param("five_bar", "by_lagrange", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_sympy_agrees(name, method):
    """Symbolic equations with dependent coordinates, linearized at the configuration that our trim finds."""
    sympy, made = judge("sympy"), machine(name)
    model = judges_linear.linear_model(made)
    q = model.point.q
    A = getattr(sympy, method)(made, q, planar.independent(made, q))
    assert matched(np.linalg.eigvals(A), model.poles()) < 1e-9


def test_a_loop_written_twice():
    """SymPy refuses it; here it changes nothing."""
    sympy, made = judge("sympy"), machine("four_bar")
    q = planar.equilibrium(made)
    with pytest.raises(ValueError, match="equal number of dependent coordinates and configuration constraints"):
        sympy.by_kane(made, q, planar.independent(made, q), twice=True)
    twice = made._replace(loops=made.loops * 2)
    assert matched(exact(made), judges_linear.linear_model(twice).poles()) < 1e-11


# -- Pinocchio and MuJoCo ----------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [*((name,) for name in NAMES), *CUTS], ids=" ".join)
def test_differences_of_pinocchio_agree(of):
    """Its constrained forward dynamics, differenced along the closed loops."""
    pinocchio, made = judge("pinocchio"), machine(*of)
    model = judges_linear.linear_model(made)
    A = pinocchio.by_differences(pinocchio.Closed(made), model.point.q)
    assert matched(np.linalg.eigvals(A), model.poles()) < 1e-8


@pytest.mark.parametrize("of", [("pendulum",), *CUTS], ids=" ".join)
def test_derivatives_of_pinocchio_agree_where_a_loop_ends_on_the_ground(of):
    """Analytic ones: the poles of the machine, and zeros. Between two moving bodies they are wrong in 4.1."""
    pinocchio, made = judge("pinocchio"), machine(*of)
    model = judges_linear.linear_model(made)
    closed = pinocchio.Closed(made)
    T = planar.tangent(made, model.point.q, y := planar.independent(made, model.point.q))
    in_q, in_v = (x[y] @ T for x in closed.derivatives(model.point.q))
    n = len(y)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [in_q, in_v]])
    assert matched(np.linalg.eigvals(A), model.poles()) < 1e-9


@pytest.mark.parametrize("of", [("pendulum",), ("slider_crank",), ("five_bar", "ground")], ids=" ".join)
def test_mujoco_has_our_poles_among_others(of):
    """Its loops are soft: poles of the solver besides, and 1e-3 rad/s off with the loops as stiff as they go."""
    mujoco, made = judge("mujoco"), machine(*of)
    model = judges_linear.linear_model(made)
    found = mujoco.poles(made, model.point.q)["mjd_transitionFD, stiff solref"]
    mine, others = judges_linear.matched(model.poles(), found)
    assert np.abs(mine - model.poles()).max() < 1e-3
    assert len(others) == 2 * len(model.coordinates) - len(model.states) and others.real.max() < -1e3


def test_plant_of_the_judges_is_the_machine():
    """Mass matrix and weights of the plant are those of the yardstick, away from the equilibrium."""
    made = machine("five_bar", "ground")
    plant = judges_linear.plant_of(made)
    q = np.array([0.2, -0.6, 0.9, 1.4])
    terms = plant.terms(q, np.zeros(4))
    assert isinstance(plant, cmb.Mechanism)
    assert np.abs(terms.M - planar.mass_matrix(made, q)).max() < 1e-13
    assert np.abs(terms.h - planar.static_force(made, q)).max() < 1e-12

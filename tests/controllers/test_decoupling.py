"""Coupling of motion and constraint force, and the constraint forces that motors can set."""

import math
from functools import cache

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, FunctionPlant, Mechanism, plants
from cmbcontrol.controllers.decoupling import (
    cross_coupling,
    is_decoupled,
    reachable_forces,
    surplus_efforts,
)
from cmbcontrol.errors import ActuationError
from cmbcontrol.plants.two_arms import configuration


def rail(inertia, units=("m", "m"), size=1.0, row_units=("m",)):
    """A cart that slides along x; the rail holds y."""
    return FunctionPlant(
        "cart",
        ("x", "y"),
        M=lambda q: inertia,
        h=lambda q, v: [0.0, 0.0],
        Phi=lambda q: [q[1]],
        A=lambda q: [[0.0, 1.0]],
        Adot_v=lambda q, v: [0.0],
        actuators=("x", "y"),
        units=units,
        row_units=row_units,
        rows=("rail",),
        size=size,
    )


def driven(plant, *motors, loops=None):
    """The same machine with motors on these joints, on all unless given."""
    names = motors or plant.velocity_names
    return Mechanism(
        plant.name,
        plant.bodies,
        plant.joints,
        plant.loops if loops is None else loops,
        actuators=[Actuator(n) if isinstance(n, str) else n for n in names],
        gravity=plant.gravity,
    )


def twice(plant):
    """The loop, written a second time under another name."""
    from dataclasses import replace

    return (*plant.loops, *(replace(loop, name=f"{loop.name}_again") for loop in plant.loops))


def state(plant, seed=0):
    """A configuration with closed loops, and an admissible velocity."""
    rng = np.random.default_rng(seed)
    q = configuration(plant, 0.05, 0.55, 0.1) if plant.name == "two-arms" else plant.assemble()
    if plant.name == "five-bar":
        q = plant.assemble(left=2.1, right=1.0)
    return q, plant.project_velocity(q, rng.standard_normal(plant.nv))


MACHINES = {
    "particle": lambda: plants.particle_on_circle(mass=2.0, radius=0.5),
    "five-bar": lambda: driven(plants.five_bar()),
    "two-arms": plants.two_arms,
    "stewart": plants.stewart,
}
machine = cache(lambda name: MACHINES[name]())


@pytest.mark.parametrize("name", MACHINES)
def test_the_constraint_force_is_equation_32_with_this_mu(name):
    plant = machine(name)
    q, v = state(plant)
    terms = plant.terms(q, v)
    u = np.random.default_rng(1).standard_normal(plant.nu)
    found = cross_coupling(terms)
    f, P = terms.B @ u, terms.P
    C_c_v = terms.M @ terms.Cv
    F = (np.eye(plant.nv) - P) @ (f - terms.h) - found.mu @ (P @ (f - terms.h) + C_c_v)
    np.testing.assert_allclose(F, cmb.constraint_force(plant, q, v, u).force, atol=1e-9 * np.abs(F).max())
    np.testing.assert_allclose(found.potent, found.mu @ P, atol=1e-12 * (1.0 + np.abs(found.mu).max()))
    assert found.size == pytest.approx(np.linalg.norm(found.mu @ P, 2), abs=1e-12)


def test_the_size_is_what_a_potent_force_of_one_newton_loads_the_loops_with_at_most():
    plant = machine("five-bar")
    q, _ = state(plant)
    terms = plant.terms(q, np.zeros(4))
    rest = cmb.constraint_force(plant, q, np.zeros(4)).force
    loads = [
        np.linalg.norm(cmb.constraint_force(plant, q, np.zeros(4), terms.Z @ [math.cos(a), math.sin(a)]).force - rest)
        for a in np.linspace(0.0, math.pi, 721)
    ]
    assert max(loads) == pytest.approx(is_decoupled(plant, q).coupling, rel=1e-5)


def test_proposition_3_in_closed_form():
    assert is_decoupled(rail(np.diag([2.0, 5.0])), [0.3, 0.0])
    assert is_decoupled(machine("particle"), [0.3, 0.4]).coupling == 0.0
    found = is_decoupled(rail(np.array([[2.0, 0.5], [0.5, 3.0]])), [0.3, 0.0])
    assert not found and found.coupling == pytest.approx(0.25)  # M_yx / M_xx
    assert (found.driving, found.loaded, found.row) == ("x", "y", "rail")
    assert found.gain == pytest.approx(-0.25)
    assert "0.25" in str(found) and "'x'" in str(found)
    assert is_decoupled(rail(np.array([[2.0, 0.5], [0.5, 3.0]])), [0.3, 0.0], tolerance=0.3)


def test_units_do_not_decide():
    in_metres = rail(np.array([[2.0, 0.5], [0.5, 3.0]]), ("rad", "m"), size=0.5)
    mm = np.diag([1.0, 1e-3])
    in_millimetres = rail(1e6 * mm @ in_metres.terms([0.0, 0.0], [0.0, 0.0]).M @ mm, ("rad", "m"), size=500.0)
    sizes = [is_decoupled(plant, [0.0, 0.0]).coupling for plant in (in_metres, in_millimetres)]
    assert sizes[0] == pytest.approx(0.5 / 2.0 * 0.5)
    assert sizes[1] == pytest.approx(sizes[0], rel=1e-12)


def test_the_metric_says_which_forces_are_potent():
    plant = machine("five-bar")
    q, _ = state(plant)
    assert is_decoupled(plant, q, metric=plant.terms(q, np.zeros(4)).M, tolerance=1e-12)
    assert is_decoupled(plant, q, metric=[3.0] * 4).coupling == pytest.approx(is_decoupled(plant, q).coupling)
    assert is_decoupled(plant, q, metric=[1.0, 2.0, 1.0, 2.0]).coupling != pytest.approx(
        is_decoupled(plant, q).coupling
    )
    with pytest.raises(ValueError, match="positive definite"):
        is_decoupled(plant, q, metric=[-1.0, 1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="tolerance"):
        is_decoupled(plant, q, tolerance=-1.0)


def test_the_strongest_pair_is_found_where_rows_are_redundant():
    plant = machine("two-arms")
    q, _ = state(plant)
    found, planar = is_decoupled(plant, q), is_decoupled(plants.two_arms("planar"), q)
    assert found.coupling == pytest.approx(planar.coupling) and found.driving == planar.driving
    assert found.row in ("grasp_x", "grasp_y", "grasp_twist")


@pytest.mark.parametrize(
    ("make", "dimension", "rank"),
    [
        (plants.five_bar, 0, 2),
        (lambda: driven(plants.five_bar(), "left", "right", "elbow_left"), 1, 2),
        (lambda: driven(plants.five_bar(), "left", "right", Actuator("left", name="helper", gear=100.0)), 0, 2),
        (lambda: driven(plants.five_bar()), 2, 2),
        (plants.two_arms, 3, 3),
        (plants.stewart, 0, 15),
        (MACHINES["particle"], 1, 1),
    ],
)
def test_forces_that_motors_can_set(make, dimension, rank):
    plant = make()
    q, v = state(plant)
    found = reachable_forces(plant, q)
    assert (found.dimension, found.rank, found.complete) == (dimension, rank, dimension == rank)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(dimension), atol=1e-12)
    before = cmb.constraint_force(plant, q, v)
    for effort, change, lam in zip(found.efforts.T, found.basis.T, found.multipliers.T, strict=True):
        after = cmb.constraint_force(plant, q, v, 7.0 * effort)
        np.testing.assert_allclose(after.force - before.force, 7.0 * change, atol=1e-9)
        np.testing.assert_allclose(after.acceleration, before.acceleration, atol=1e-9)
        np.testing.assert_allclose(after.multipliers - before.multipliers, 7.0 * lam, atol=1e-8)


def test_the_verdict_on_rows_and_loops():
    five_bar = plants.five_bar()
    q, _ = state(five_bar)
    assert set(reachable_forces(five_bar, q).rows.values()) == {"fixed"}
    one = reachable_forces(driven(five_bar, "left", "right", "elbow_left"), q)
    assert one.rows == {"tip_x": "shared", "tip_y": "shared"} and one.loops == {"tip": "shared"}
    all_four = reachable_forces(driven(five_bar), q)
    assert all_four.rows == {"tip_x": "independent", "tip_y": "independent"}
    doubled = reachable_forces(driven(five_bar, loops=twice(five_bar)), q)
    assert doubled.dimension == 2 and set(doubled.rows.values()) == {"undetermined"}
    np.testing.assert_allclose(doubled.basis @ doubled.basis.T, all_four.basis @ all_four.basis.T, atol=1e-12)
    weld = reachable_forces(machine("two-arms"), state(machine("two-arms"))[0])
    assert weld.rows["grasp_x"] == "independent" and weld.rows["grasp_z"] == "undetermined"
    assert weld.loops == {"grasp": "independent"}
    text = str(weld)
    assert "3 of 3" in text and "grasp_twist" in text and "undetermined" in text


def test_a_loop_of_which_only_a_part_is_set():
    """Two rails side by side: the motor across one of them loads it alone."""
    plant = FunctionPlant(
        "block",
        ("x", "y", "z"),
        M=lambda q: np.eye(3),
        h=lambda q, v: np.zeros(3),
        Phi=lambda q: q[1:],
        A=lambda q: [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        Adot_v=lambda q, v: np.zeros(2),
        actuators=("x", "y"),
        rows={"rail": ("rail_y", "rail_z")},
        units=("m", "m", "m"),
    )
    found = reachable_forces(plant, np.zeros(3))
    assert found.rows == {"rail_y": "independent", "rail_z": "fixed"} and found.loops == {"rail": "partly"}


def test_a_combination_of_multipliers_may_be_unique_where_none_is():
    plant = driven(plants.five_bar(), loops=twice(plants.five_bar()))
    q, _ = state(plant)
    terms = plant.terms(q, np.zeros(4))
    S = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 2.0]])
    assert terms.determines(S).tolist() == [False, True, False, True]


def test_efforts_that_do_not_move_the_machine():
    plant = machine("two-arms")
    q, v = state(plant)
    terms = plant.terms(q, v)
    W = np.diag(plant.effort**2)
    root = np.linalg.cholesky(W)
    u, N = surplus_efforts(terms, terms.Z @ [1.0, 2.0, 3.0], root)
    np.testing.assert_allclose(terms.Z.T @ terms.B @ u, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(terms.Z.T @ terms.B @ N, 0.0, atol=1e-10)
    np.testing.assert_allclose(N.T @ np.linalg.solve(W, u), 0.0, atol=1e-12)  # u is the smallest
    np.testing.assert_allclose(N.T @ np.linalg.solve(W, N), np.eye(3), atol=1e-12)
    weak = driven(plants.five_bar(), "left")
    with pytest.raises(ActuationError, match="reach 1 of 2 degrees of freedom"):
        surplus_efforts(weak.terms(state(weak)[0], np.zeros(4)), np.ones(4))

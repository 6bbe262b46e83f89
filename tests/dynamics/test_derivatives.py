"""Derivatives at states with velocity: against differences, for all joints and loops."""

import dataclasses
import itertools

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.derivatives import acceleration_derivatives, derivatives, inverse_dynamics_derivatives
from cmbcontrol.linear.reduced import reduced_model
from cmbcontrol.model.elements import Free, PointSpring
from cmbcontrol.model.mechanism import Mechanism
from tests import fixtures
from tests.fixtures import (
    NonlinearForm,
    busy_machine,
    driven_state,
    jacobian,
    largest,
    mixed_coordinates,
    relative_error,
    slope,
    sprung_machine,
)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(3))
def test_stiffness_and_damping_agree_with_differences(seed):
    plant, rng = busy_machine(seed), np.random.default_rng([seed, 12])
    q, _ = fixtures.random_state(plant, seed + 100)  # anywhere: the loops need not be closed
    lam, u = rng.standard_normal(len(plant.row_names)), rng.standard_normal(plant.nu)
    rest = np.zeros(plant.nv)

    def static(delta):
        terms = plant.terms(plant.integrate(q, delta), rest)
        return terms.h + terms.A.T @ lam - terms.B @ u

    here = derivatives(plant, q, rest, u, a=rest, lam=lam)
    assert largest(here.force_q - jacobian(static, plant.nv, 1e-2)) < 1e-10 * largest(here.force_q)
    D = jacobian(lambda v: plant.terms(q, v).h, plant.nv, 1e-2)
    assert largest(D - here.force_v) < 1e-10 * largest(D)


def test_stiffness_of_several_axes_is_not_symmetric_by_its_own_bracket():
    """Of a body on a free joint: K - K' is the torque that turns with the axes, (S_l x S_k) . F."""
    plant = Mechanism("body", [fixtures.body(np.random.default_rng(0), "body")], [Free("joint", "ground", "body")])
    q, _ = fixtures.random_state(plant, 3)
    K = derivatives(plant, q, np.zeros(6), a=np.zeros(6)).force_q
    assert largest(K - K.T) > 0.1
    h = plant.terms(q, np.zeros(6)).h
    # in the body's axes [S_l, S_k] has the structure constants of se(3)
    brackets = np.zeros((6, 6))
    for k, l in itertools.product(range(6), repeat=2):
        brackets[k, l] = fixtures.cross_motion(np.eye(6)[l], np.eye(6)[k]) @ h
    assert largest(K - K.T - brackets) < 1e-12


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(5))
def test_every_derivative_off_the_manifold(seed):
    """M a + h + A'lam - B u, A v and A a + b, as functions of q and v, anywhere."""
    plant = busy_machine(seed)
    rng = np.random.default_rng([seed, 10])
    q, v = fixtures.random_state(plant, seed + 100)
    a, lam, u = (rng.standard_normal(n) for n in (plant.nv, len(plant.row_names), plant.nu))
    here = derivatives(plant, q, v, u, a=a, lam=lam)

    def balance(q, v):
        terms = plant.terms(q, v)
        return terms.M @ a + terms.h + terms.A.T @ lam - terms.B @ u, terms.A @ v, terms.A @ a + terms.b

    n = plant.nv
    for i, found in enumerate((here.force_q, here.rate_q, here.accel_q)):
        held = (lambda d: plant.terms(plant.integrate(q, d), v).A @ v) if i == 1 else None  # v held in A v
        truth = jacobian(held or (lambda d, i=i: balance(plant.integrate(q, d), v)[i]), n)
        assert relative_error(found, truth) < 1e-9
    for i, found in ((0, here.force_v), (2, here.accel_v)):
        assert relative_error(found, jacobian(lambda dv, i=i: balance(q, v + dv)[i], n)) < 1e-9


def test_gravity_and_ground_accelerate_alike():
    """The rows do not feel gravity, nor do their derivatives."""
    plant = busy_machine(3)
    q, v = fixtures.random_state(plant, 7)
    a = np.random.default_rng(0).standard_normal(plant.nv)
    floating = plant.with_parts(gravity=(0.0, 0.0, 0.0))
    with_weight, without = (derivatives(p, q, v, a=a, lam=np.zeros(len(p.row_names))) for p in (plant, floating))
    assert relative_error(with_weight.accel_q, without.accel_q) < 1e-12
    assert relative_error(with_weight.force_v, without.force_v) < 1e-13
    assert relative_error(with_weight.force_q, without.force_q) > 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_inverse_dynamics_of_trees(seed):
    plant = fixtures.random_tree(seed, bodies=7)
    q, v = fixtures.random_state(plant, seed)
    a = np.random.default_rng(seed).standard_normal(plant.nv)
    found = inverse_dynamics_derivatives(plant, q, v, a)

    def tau(q, v, a):
        terms = plant.terms(q, v)
        return terms.M @ a + terms.h

    assert relative_error(found.tau, tau(q, v, a)) < 1e-14
    assert relative_error(found.tau_q, jacobian(lambda d: tau(plant.integrate(q, d), v, a), plant.nv)) < 1e-9
    assert relative_error(found.tau_v, jacobian(lambda d: tau(q, v + d, a), plant.nv)) < 1e-9
    assert relative_error(found.tau_a, jacobian(lambda d: tau(q, v, a + d), plant.nv)) < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(8))
def test_accelerations_and_constraint_forces(seed):
    """Along the manifold: acceleration, A'lam, and the multipliers that are unique."""
    kinds = [fixtures.LOOPS[(seed + i) % len(fixtures.LOOPS)] for i in (0, 5)]
    plant, q = sprung_machine(seed, kinds)
    q, v, u = driven_state(plant, q, seed)
    R = mixed_coordinates(plant, q)
    form, found, here = (
        NonlinearForm(plant, q, u, R),
        acceleration_derivatives(plant, q, v, u),
        derivatives(plant, q, v, u),
    )
    red = reduced_model(plant, q, v, u, R)
    y, y_v = np.random.default_rng(seed).uniform(-1.0, 1.0, (2, len(R)))
    delta, dv = red.K @ y, red.K @ y_v + red.N @ y
    start = R @ v

    def along(s, i):
        return form.force(s * y, start + s * y_v)[i]

    without = derivatives(plant, q, v, u, a=here.a, lam=np.zeros_like(here.lam))
    turn = (here.force_q - without.force_q) @ delta  # d(A')/dq lam
    lam = found.lam_q @ delta + found.lam_v @ dv
    truth = slope(lambda s: along(s, 0), 2e-3)
    assert relative_error(here.A.T @ lam + turn, truth) < 1e-7
    if form.force(np.zeros(len(R)), start)[2].all():
        assert relative_error(lam, slope(lambda s: along(s, 1), 2e-3)) < 1e-7
    if len(plant.actuator_names):
        du = np.random.default_rng(1).standard_normal(plant.nu)
        truth = slope(lambda s: form.force(np.zeros(len(R)), start, s * du)[0])
        assert relative_error(here.A.T @ found.lam_u @ du, truth) < 1e-8


def test_functions_agree_with_the_mechanism():
    """The same machine given by functions, differentiated by differences."""
    machine = plants.five_bar()

    def at(q, v=None):
        return machine.terms(q, np.zeros(4) if v is None else v)

    from cmbcontrol import FunctionPlant

    twin = FunctionPlant(
        "twin",
        machine.velocity_names,
        M=lambda q: at(q).M,
        h=lambda q, v: at(q, v).h,
        Phi=lambda q: at(q).phi,
        A=lambda q: at(q).A,
        Adot_v=lambda q, v: at(q, v).b,
        B=at(machine.neutral()).B,
        actuators=machine.actuator_names,
    )
    q, v, u = driven_state(machine, machine.assemble(left=2.1, right=1.0), 0)
    R = np.eye(4)[[0, 2]]
    a, b = reduced_model(machine, q, v, u, R), reduced_model(twin, q, v, u, R)
    for key in ("A", "B", "drift", "K", "N", "G"):
        assert relative_error(getattr(b, key), getattr(a, key)) < 1e-9, key


def test_refusals():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    with pytest.raises(ValueError, match=r"has 2 degrees of freedom at q = .*; R has 1 rows"):
        reduced_model(plant, q, np.zeros(4), np.zeros(2), np.eye(4)[[0]])
    with pytest.raises(ValueError, match="coordinates R of 'five-bar' are dependent"):
        reduced_model(plant, q, np.zeros(4), np.zeros(2), np.eye(4)[[0, 0]])
    with pytest.raises(ValueError, match="R must have shape"):
        reduced_model(plant, q, np.zeros(4), np.zeros(2), np.eye(3)[[0, 1]])
    with pytest.raises(ValueError, match=r"lam must have shape \(2,\)"):
        derivatives(plant, q, np.zeros(4), lam=[0.0])
    slack = dataclasses.replace(PointSpring("soft", "ground", "left_lower"), stiffness=3.0, rest=0.1)
    parts = {key: getattr(plant, key) for key in ("bodies", "joints", "loops", "actuators", "gravity")}
    with pytest.raises(ValueError, match="has a point spring length zero"):
        derivatives(Mechanism("slack", **parts, springs=[slack]), q, np.zeros(4))

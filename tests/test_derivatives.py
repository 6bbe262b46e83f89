"""Derivatives at states with velocity: against differences, for all joints and loops; redundant rows change nothing."""

import dataclasses

import machines
import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.derivatives import acceleration_derivatives, derivatives, inverse_dynamics_derivatives
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.kernels.reduction import add_joint_bracket
from cmbcontrol.linear.reduced import MOVING, CoordinateRows, Reduced, bracket, constant_rows, reduce, reduced_model
from cmbcontrol.model.elements import Actuator, Free, Planar, PointSpring, Spherical
from cmbcontrol.model.mechanism import Mechanism

WEIGHTS = ((1, 0.8), (2, -0.2), (3, 4 / 105), (4, -1 / 280))  # central differences of order 8


def slope(function, step=1e-2):
    """Derivative of a function of one number at zero."""
    return sum(w / step * (function(i * step) - function(-i * step)) for i, w in WEIGHTS)


def jacobian(function, n, step=1e-2):
    return np.stack([slope(lambda s, e=e: function(s * e), step) for e in np.eye(n)], axis=1)


def error(found, truth):
    """Largest deviation, relative to the largest entry."""
    return np.abs(found - truth).max(initial=0.0) / max(np.abs(truth).max(initial=0.0), 1e-300)


def busy_machine(seed):
    """All joints, all loops, springs, dampers, friction, and drives, also across cut joints; the loops are open."""
    parts = machines.tree_parts(seed, bodies=9, damped=True)
    plant = Mechanism(**parts)
    rng = np.random.default_rng([seed, 9])
    q, _ = machines.random_state(plant, seed)
    loops = [machines.loop_at(plant, q, kind, rng, f"loop{i}") for i, kind in enumerate(machines.LOOPS)]
    drives = [*machines.actuators(parts, seed), Actuator("loop0", gear=1.7), Actuator("loop1", gear=-0.4)]
    springs = [*machines.springs(parts, seed), PointSpring("soft", "ground", "body8", stiffness=3.0)]
    return Mechanism(**parts, loops=loops, springs=springs, actuators=drives)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(8))
def test_every_derivative_off_the_manifold(seed):
    """M a + h + A'lam - B u, A v and A a + b, as functions of q and v, anywhere."""
    plant = busy_machine(seed)
    rng = np.random.default_rng([seed, 10])
    q, v = machines.random_state(plant, seed + 100)
    a, lam, u = (rng.standard_normal(n) for n in (plant.nv, len(plant.row_names), plant.nu))
    here = derivatives(plant, q, v, u, a=a, lam=lam)

    def balance(q, v):
        terms = plant.terms(q, v)
        return terms.M @ a + terms.h + terms.A.T @ lam - terms.B @ u, terms.A @ v, terms.A @ a + terms.b

    n = plant.nv
    for i, found in enumerate((here.force_q, here.rate_q, here.accel_q)):
        held = (lambda d: plant.terms(plant.integrate(q, d), v).A @ v) if i == 1 else None  # v held in A v
        truth = jacobian(held or (lambda d, i=i: balance(plant.integrate(q, d), v)[i]), n)
        assert error(found, truth) < 1e-9
    for i, found in ((0, here.force_v), (2, here.accel_v)):
        assert error(found, jacobian(lambda dv, i=i: balance(q, v + dv)[i], n)) < 1e-9


def test_gravity_and_ground_accelerate_alike():
    """The rows do not feel gravity, nor do their derivatives."""
    plant = busy_machine(3)
    q, v = machines.random_state(plant, 7)
    a = np.random.default_rng(0).standard_normal(plant.nv)
    parts = ("bodies", "joints", "loops", "springs", "actuators")
    floating = Mechanism(plant.name, **{key: getattr(plant, key) for key in parts}, gravity=(0.0, 0.0, 0.0))
    with_weight, without = (derivatives(p, q, v, a=a, lam=np.zeros(len(p.row_names))) for p in (plant, floating))
    assert error(with_weight.accel_q, without.accel_q) < 1e-12
    assert error(with_weight.force_v, without.force_v) < 1e-13
    assert error(with_weight.force_q, without.force_q) > 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_inverse_dynamics_of_trees(seed):
    plant = machines.random_tree(seed, bodies=7)
    q, v = machines.random_state(plant, seed)
    a = np.random.default_rng(seed).standard_normal(plant.nv)
    found = inverse_dynamics_derivatives(plant, q, v, a)

    def tau(q, v, a):
        terms = plant.terms(q, v)
        return terms.M @ a + terms.h

    assert error(found.tau, tau(q, v, a)) < 1e-14
    assert error(found.tau_q, jacobian(lambda d: tau(plant.integrate(q, d), v, a), plant.nv)) < 1e-9
    assert error(found.tau_v, jacobian(lambda d: tau(q, v + d, a), plant.nv)) < 1e-9
    assert error(found.tau_a, jacobian(lambda d: tau(q, v, a + d), plant.nv)) < 1e-9


# -- on the manifold --------------------------------------------------------------------------------------


class LocalForm:
    """The nonlinear motion in y = R (q [-] q0), y_v = R v, by Newton's method: what the derivatives must match."""

    def __init__(self, plant, q0, u, R):
        self.plant, self.q0, self.u, self.R = plant, q0, u, R

    def state(self, y, y_v):
        plant, q = self.plant, self.q0
        for _ in range(30):
            phi = plant.row_scale * plant.residual(q)
            left = np.concatenate([y - self.R @ plant.difference(self.q0, q), -phi])
            # R (q [-] q0) by q: the right Jacobian's inverse is near one, so Newton's method converges anyway
            A = plant.row_scale[:, None] * plant.jacobian(q)
            dq = np.linalg.lstsq(np.concatenate([self.R, A]), left, rcond=1e-9)[0]
            q = plant.integrate(q, dq)
            if np.abs(dq).max() < 1e-15:
                break
        A = plant.row_scale[:, None] * plant.jacobian(q)
        v = np.linalg.lstsq(np.concatenate([self.R, A]), np.append(y_v, np.zeros(len(A))), rcond=1e-9)[0]
        return q, v

    def rate(self, y, y_v, du=0.0):
        q, v = self.state(y, y_v)
        dy = slope(lambda s: self.R @ self.plant.difference(self.q0, self.plant.integrate(q, s * v)), 1e-3)
        return np.concatenate([dy, self.R @ forward_dynamics(self.plant, q, v, self.u + du)])

    def force(self, y, y_v, du=0.0):
        q, v = self.state(y, y_v)
        found = constraint_force(self.plant, q, v, self.u + du)
        return found.force, found.multipliers, found.unique


def independent(plant, q):
    """Rows of R: coordinates that span the admissible velocities well, mixed."""
    Z = plant.terms(q, np.zeros(plant.nv)).Z
    rng = np.random.default_rng(4)
    return np.ascontiguousarray((Z + 0.2 * rng.standard_normal(Z.shape)).T)


def driven(plant, q, seed):
    """A state with velocity and efforts."""
    rng = np.random.default_rng([seed, 11])
    q, v = machines.admissible_state(plant, q, seed)
    return q, v, rng.uniform(-1.0, 1.0, plant.nu)


def closed_machine(seed, kinds, twice=False):
    parts = machines.tree_parts(seed, bodies=6, damped=True)
    more = {"springs": machines.springs(parts, seed), "actuators": machines.actuators(parts, seed)}
    return machines.close_parts(parts, seed, kinds, twice=twice, **more)


ALL_LOOPS = [(kind,) for kind in machines.LOOPS]
SPATIAL = [0, 1, 2]


def check_local_form(plant, q, v, u, R):
    found = reduced_model(plant, q, v, u, R)
    form, p, n = LocalForm(plant, q, u, R), len(R), plant.nu
    y_v = R @ v
    step = 2e-3
    A = jacobian(lambda x: form.rate(x[:p], y_v + x[p:]), 2 * p, step)
    assert error(found.A, A) < 1e-7
    assert error(found.B, jacobian(lambda du: form.rate(np.zeros(p), y_v, du), n)) < 1e-9
    assert error(found.drift, form.rate(np.zeros(p), y_v)) < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kinds", ALL_LOOPS, ids=lambda kinds: kinds[0].__name__)
def test_local_state_space_form_of_every_loop(kinds):
    for seed in (0, 1):
        plant, q = closed_machine(seed, kinds)
        q, v, u = driven(plant, q, seed)
        check_local_form(plant, q, v, u, independent(plant, q))


@pytest.mark.parametrize("name", ["five-bar", "andrews", "bricard", "slider-crank", "n-four-bar"])
def test_local_state_space_form_of_ready_made_plants(name):
    plant, q, _ = plants.catalogue[name].start()
    q, v, u = driven(plant, q, 0)
    check_local_form(plant, q, v, u, independent(plant, q))


def reduced_by_matrices(plant, here, rows, factor):
    """The formulas at the head of `kernels.reduction`, in matrices."""
    R, p = rows.R, len(rows.R)
    K = here.Z @ np.linalg.inv(R @ here.Z)
    N = -here.A_plus @ (here.rate_q @ K)
    N -= K @ (R @ N + rows.rate_q @ K)

    def slope_of_rates(delta, dv):
        force = -here.force_q @ delta - here.force_v @ dv
        da = here.acceleration(force, here.accel_q @ delta + here.accel_v @ dv)
        return R @ da + rows.accel_q @ delta + rows.accel_v @ dv

    A, G = np.zeros((2 * p, 2 * p)), R @ here.Z @ here.Z.T
    A[:p, p:] = np.eye(p)
    A[:p, :p] = factor * np.where(rows.constant[:, None], R @ bracket(plant, here.v, K), 0.0)
    A[p:, :p], A[p:, p:] = slope_of_rates(K, N), slope_of_rates(np.zeros_like(K), K)
    B = np.concatenate([np.zeros_like(G @ here.B), G @ here.B])
    drift = np.concatenate([R @ here.v, R @ here.a + 0.5 * rows.accel_v @ here.v])
    return Reduced(A, B, drift, K, N, G, here.a, here.lam, here.rank)


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_turn_with_the_configuration(seed):
    """The coordinates of cut joints: against the formulas in matrices."""
    plant, q = closed_machine(seed, [machines.LOOPS[seed % len(machines.LOOPS)]])
    q, v, u = driven(plant, q, seed)
    here, R = derivatives(plant, q, v, u), independent(plant, q)
    rng = np.random.default_rng([seed, 11])
    turning = rng.random(len(R)) < 0.5
    slopes = turning[:, None] * rng.standard_normal((3, *R.shape))
    rows = CoordinateRows(R, *slopes, ~turning)
    for factor in (MOVING, -0.5):
        found, truth = reduce(plant, here, rows, factor), reduced_by_matrices(plant, here, rows, factor)
        for key in ("A", "B", "drift", "K", "N", "G"):
            assert error(getattr(found, key), getattr(truth, key)) < 1e-9, key


@pytest.mark.parametrize("seed", range(6))
def test_kernel_and_matrices_agree(seed):
    """The compiled reduction of a mechanism and of `Derivatives`, and the formulas in matrices."""
    kinds = [machines.LOOPS[i] for i in np.random.default_rng(seed).permutation(len(machines.LOOPS))[:2]]
    plant, q = closed_machine(seed, kinds, twice=seed % 2 == 1)
    q, v, u = driven(plant, q, seed)
    R = independent(plant, q)
    for moving in (False, True):
        quick = reduced_model(plant, q, v, u, R, moving=moving)
        args = plant, derivatives(plant, q, v, u), constant_rows(R), MOVING if moving else -0.5
        for slow in (reduce(*args), reduced_by_matrices(*args)):
            for key in ("A", "B", "drift", "K", "N", "G", "a"):
                assert error(getattr(quick, key), getattr(slow, key)) < 1e-9, key
    p = len(R)
    assert error(R @ quick.K, np.eye(p)) < 1e-12
    assert np.abs(plant.jacobian(q) @ quick.K).max(initial=0.0) < 1e-11 * np.abs(quick.K).max()
    assert np.abs(R @ quick.N).max(initial=0.0) < 1e-9 * max(np.abs(quick.N).max(), 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_duplicated_rows_change_nothing(seed):
    kind = machines.LOOPS[seed % len(machines.LOOPS)]
    (once, q), (twice, _) = (closed_machine(seed, (kind,), twice=twice) for twice in (False, True))
    q, v, u = driven(once, q, seed)
    R = independent(once, q)
    a, b = (reduced_model(plant, q, v, u, R) for plant in (once, twice))
    for key in ("A", "B", "drift", "K", "N", "a"):
        assert error(getattr(a, key), getattr(b, key)) < 1e-9, key
    a, b = (acceleration_derivatives(plant, q, v, u) for plant in (once, twice))
    here = derivatives(once, q, v, u)
    delta = here.Z  # a_q and a_v hold on the manifold
    dv = -here.A_plus @ here.rate_q @ delta
    for one, two in ((a.a_q @ delta + a.a_v @ dv, b.a_q @ delta + b.a_v @ dv), (a.a_v @ delta, b.a_v @ delta)):
        assert error(one, two) < 1e-9
    assert error(a.a_u, b.a_u) < 1e-9
    rows = len(once.row_names)  # the smallest multipliers share equally
    assert error(b.lam_u[:rows], 0.5 * a.lam_u) < 1e-9 or kind.__name__ in ("Universal",)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(8))
def test_accelerations_and_constraint_forces(seed):
    """Along the manifold: acceleration, A'lam, and the multipliers that are unique."""
    kinds = [machines.LOOPS[(seed + i) % len(machines.LOOPS)] for i in (0, 5)]
    plant, q = closed_machine(seed, kinds)
    q, v, u = driven(plant, q, seed)
    R = independent(plant, q)
    form, found, here = LocalForm(plant, q, u, R), acceleration_derivatives(plant, q, v, u), derivatives(plant, q, v, u)
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
    assert error(here.A.T @ lam + turn, truth) < 1e-7
    if form.force(np.zeros(len(R)), start)[2].all():
        assert error(lam, slope(lambda s: along(s, 1), 2e-3)) < 1e-7
    if len(plant.actuator_names):
        du = np.random.default_rng(1).standard_normal(plant.nu)
        truth = slope(lambda s: form.force(np.zeros(len(R)), start, s * du)[0])
        assert error(here.A.T @ found.lam_u @ du, truth) < 1e-8


@pytest.mark.parametrize("kind", [Planar, Spherical, Free])
def test_brackets(kind):
    """ad_v x is the commutator of small motions v and x: q [+] v [+] x less q [+] x [+] v."""
    rng = np.random.default_rng(2)
    body = machines.body(rng, "body")
    plant = Mechanism("body", [body], [machines.joint(rng, kind, "joint", "ground", "body")])
    q = machines.random_state(plant, 0)[0]
    v, x = rng.standard_normal((2, plant.nv))

    def commutator(s):
        there = plant.integrate(plant.integrate(q, s * v), s * x)
        return plant.difference(plant.integrate(plant.integrate(q, s * x), s * v), there)

    truth = (commutator(1e-3) + commutator(-1e-3)) / 2e-6
    assert error(bracket(plant, v, x[:, None])[:, 0], truth) < 1e-5
    out = np.zeros(plant.nv)
    add_joint_bracket(plant.arrays.links, v, v, 1.0, out)
    assert np.abs(out).max() < 1e-15


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
    q, v, u = driven(machine, machine.assemble(left=2.1, right=1.0), 0)
    R = np.eye(4)[[0, 2]]
    a, b = reduced_model(machine, q, v, u, R), reduced_model(twin, q, v, u, R)
    for key in ("A", "B", "drift", "K", "N", "G"):
        assert error(getattr(b, key), getattr(a, key)) < 1e-9, key


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

"""Spencer's recursions: every derivative against differences of order 8, and the local state-space form three ways."""

import dataclasses
import functools

import numpy as np
import pytest

from cmbcontrol import linearize, plants, trim
from cmbcontrol.dynamics.derivatives import acceleration_derivatives, derivatives, inverse_dynamics_derivatives
from cmbcontrol.errors import ModelError
from cmbcontrol.linear.reduced import reduced_model
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Coupling,
    Distance,
    Free,
    JointSpring,
    PointSpring,
    Prismatic,
    Revolute,
    Spherical,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.papers import recursions
from cmbcontrol.plants.five_bar import configuration
from cmbcontrol.plants.parallel_four_bar import configuration as parallel_configuration
from tests import fixtures
from tests.fixtures import ORDER_8, jacobian, largest

SECOND = ((1, 8 / 5), (2, -1 / 5), (3, 8 / 315), (4, -1 / 560))
STEP = 1e-2


def rates(function, step=STEP):
    """First and second derivative of function(t) at zero, of order 8."""
    at = {k: np.asarray(function(k * step)) for k in range(-4, 5)}
    first = sum(w * (at[k] - at[-k]) for k, w in ORDER_8) / step
    second = (sum(w * (at[k] + at[-k]) for k, w in SECOND) - 205 / 72 * at[0]) / step**2
    return first, second


def close_to(found, expected, tolerance=1e-10):
    """Relative to the largest entry."""
    assert np.shape(found) == np.shape(expected)
    assert largest(found - expected) <= tolerance * largest(expected)


def brackets(plant, *rates_):
    return [recursions.joint_bracket(plant, x) for x in rates_]


# -- machines -----------------------------------------------------------------------------------------


def without_rotors(joints):
    """The thesis knows none, and no loads."""
    return [fixtures.with_field(joint, armature=0.0 * joint.armature) for joint in joints]


@functools.cache
def busy(seed):
    """All joints, all loops, springs, dampers, and drives of every kind; at a state off the manifold."""
    torque = Actuator("torque", gear=0.8, bodies=("body8", "body3"), axis=(1, 2, 3))
    brake = Actuator("brake", bodies=("ground", "body8"), axis=(3, 2, 1))
    plant, rng = fixtures.busy_machine(seed, torque, brake, damping=0.7), np.random.default_rng([seed, 13])
    plant = plant.with_parts(joints=without_rotors(plant.joints), loads=(), forces=())
    q, v = fixtures.random_state(plant, seed + 100)
    return plant, q, v, rng.standard_normal(plant.nv), rng.standard_normal(plant.nu)


def moving(plant, q, v, a):
    """A motion of the open chain that has velocity v and acceleration a at t = 0."""
    return lambda t: plant.integrate(q, t * v + 0.5 * t * t * a)


SEEDS = pytest.mark.parametrize("seed", range(3))


# -- SE(3) ----------------------------------------------------------------------------------------------


def test_adjoints_are_what_their_definitions_say():
    rng = np.random.default_rng(0)
    g, h, k = rng.standard_normal((3, 6))
    G = recursions.exponential(rng.standard_normal(6))

    def hat(x):
        return np.block([[fixtures.skew(x[:3]), x[3:, None]], [np.zeros((1, 4))]])

    close_to(hat(recursions.Ad(G) @ g), G @ hat(g) @ np.linalg.inv(G), 1e-14)
    close_to(hat(recursions.ad(g) @ h), hat(g) @ hat(h) - hat(h) @ hat(g), 1e-14)
    close_to(recursions.Ad(G) @ recursions.ad(g) @ h, recursions.ad(recursions.Ad(G) @ g) @ recursions.Ad(G) @ h, 1e-14)
    ad = recursions.ad
    assert largest(ad(g) @ ad(h) @ k + ad(k) @ ad(g) @ h + ad(h) @ ad(k) @ g) < 1e-13  # Jacobi


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 1.0, 3.0])
def test_exponential_is_that_of_matrices(size):
    """Section A.1.3 with the cube of |w|, which the thesis prints as the square."""
    from scipy.linalg import expm

    g = np.array([0.6, -0.48, 0.64, 1.0, 2.0, 3.0]) * np.array([size] * 3 + [1.0] * 3)
    hat = np.block([[fixtures.skew(g[:3]), g[3:, None]], [np.zeros((1, 4))]])
    close_to(recursions.exponential(g), expm(hat), 1e-14)


# -- Newton-Euler ---------------------------------------------------------------------------------------------


@SEEDS
def test_newton_euler_and_forces_give_the_equations_of_motion(seed):
    plant, q, v, a, u = busy(seed)
    terms = plant.terms(q, v)
    forces = recursions.external_forces(plant, q, v, u)
    close_to(recursions.tau_NE(plant, q, v, a) - forces.tau, terms.M @ a + terms.h - terms.B @ u, 1e-12)
    close_to(forces.B, terms.B, 1e-13)
    close_to(recursions.mass_matrix(plant, q), terms.M, 1e-13)
    close_to(recursions.composite_rigid_body(plant, q), terms.M, 1e-13)


@SEEDS
def test_articulated_body_inverts_newton_euler(seed):
    plant, q, v, a, _ = busy(seed)
    close_to(recursions.articulated_body(plant, q, v, recursions.tau_NE(plant, q, v, a)), a, 1e-11)


@SEEDS
def test_derivatives_of_newton_euler(seed):
    plant, q, v, a, _ = busy(seed)
    in_q = jacobian(lambda d: recursions.tau_NE(plant, plant.integrate(q, d), v, a), plant.nv)
    close_to(recursions.tau_NE_q(plant, q, v, a), in_q)
    close_to(recursions.tau_NE_v(plant, q, v), jacobian(lambda d: recursions.tau_NE(plant, q, v + d, a), plant.nv))


@pytest.mark.nojit_slow
@SEEDS
def test_derivatives_of_external_forces(seed):
    plant, q, v, _, u = busy(seed)
    forces, rest = recursions.external_forces(plant, q, v, u), np.zeros(plant.nv)

    def tau(q, v):
        terms = plant.terms(q, v)
        return terms.B @ u - terms.h + recursions.tau_NE(plant, q, v, rest)

    close_to(forces.tau_q, jacobian(lambda d: tau(plant.integrate(q, d), v), plant.nv, 4e-3))
    close_to(forces.tau_v, jacobian(lambda d: tau(q, v + d), plant.nv))
    assert largest(forces.tau_q - recursions.external_forces(plant, q, v).tau_q) > 0.1  # B moves with q


# -- body-fixed Jacobians ---------------------------------------------------------------------------------------


def bodies_along(plant, q0, q1):
    """Configurations of all links at q1 relative to those at q0, f_{0,i}(q0)^-1 f_{0,i}(q1), as 4 x 4 matrices."""
    (R0, p0), (R1, p1) = plant.link_poses(q0), plant.link_poses(q1)
    out = np.tile(np.eye(4), (len(R0), 1, 1))
    out[:, :3, :3] = np.einsum("nba,nbc->nac", R0, R1)
    out[:, :3, 3] = np.einsum("nba,nb->na", R0, p1 - p0)
    return out


@SEEDS
def test_jacobians_are_the_body_fixed_velocities_of_the_links(seed):
    plant, q, v, a, _ = busy(seed)
    motion = moving(plant, q, v, a)
    first, second = rates(lambda t: bodies_along(plant, q, motion(t)))
    jac = recursions.jacobians(plant, q, v, a)
    V, V_dot = jac.J @ v, jac.J_dot @ v + jac.J @ a

    def vee(X):
        return np.concatenate([X[:, [2, 0, 1], [1, 2, 0]], X[:, :3, 3]], axis=1)

    close_to(V, vee(first))
    close_to(V_dot, vee(second - first @ first))  # f'' = f [V_dot] + f [V][V]


@SEEDS
def test_derivatives_of_jacobians(seed):
    plant, q, v, a, _ = busy(seed)
    jac = recursions.jacobians(plant, q, v, a)
    motion = moving(plant, q, v, a)
    first, second = rates(lambda t: recursions.jacobians(plant, motion(t)).J)
    close_to(jac.J_dot, first)
    close_to(jac.J_ddot, second, 1e-9)
    close_to(jac.J_q, jacobian(lambda d: recursions.jacobians(plant, plant.integrate(q, d)).J, plant.nv))
    close_to(jac.J_q @ v, jac.J_dot, 1e-13)


# -- constraints ---------------------------------------------------------------------------------------------------


@SEEDS
def test_constraint_jacobian_and_bias(seed):
    plant, q, v, _, _ = busy(seed)
    terms, con = plant.terms(q, v), recursions.constraints(plant, q, v)
    close_to(con.G, terms.A, 1e-12)
    close_to(con.G_dot @ v, terms.b, 1e-11)


@pytest.mark.nojit_slow
@SEEDS
def test_derivatives_of_constraints(seed):
    """All kinds of rows, at a configuration where no loop is closed."""
    plant, q, v, a, _ = busy(seed)
    con = recursions.constraints(plant, q, v, a)
    motion = moving(plant, q, v, a)
    step = 4e-3
    first, second = rates(lambda t: plant.jacobian(motion(t)), step)
    in_q = jacobian(lambda d: plant.jacobian(plant.integrate(q, d)), plant.nv, step)
    for name, rows in plant.row_slices.items():
        size = largest(con.G[rows])
        assert largest(con.G_dot[rows] - first[rows]) < 1e-9 * size, name
        assert largest(con.G_ddot[rows] - second[rows]) < 1e-7 * size, name
        assert largest(con.G_q[rows] - in_q[rows]) < 1e-9 * size, name


@pytest.mark.nojit_slow
@SEEDS
def test_second_derivatives_of_loops_differ_by_the_bracket(seed):
    """The three identities on top of the module, against differences of phi_dot and phi_ddot."""
    plant, q, v, a, _ = busy(seed)
    con = recursions.constraints(plant, q, v, a)
    ad_v, ad_a = brackets(plant, v, a)

    def second_rate(q, v):
        terms = plant.terms(q, v)
        return terms.A @ a + terms.b

    close_to(np.einsum("rkj,k->rj", con.G_q, v), con.G_dot - con.G @ ad_v, 1e-12)
    in_v = jacobian(lambda d: plant.terms(q, v + d).b, plant.nv)
    close_to(2.0 * con.G_dot - con.G @ ad_v, in_v)
    in_q = jacobian(lambda d: second_rate(plant.integrate(q, d), v), plant.nv, 4e-3)
    close_to(con.G_ddot - 2.0 * con.G_dot @ ad_v + con.G @ (ad_v @ ad_v - ad_a), in_q, 1e-9)
    assert largest(con.G @ ad_v) > 0.1


def test_bracket_of_the_joints_is_what_a_moving_chart_adds():
    """Along a motion d(delta)/dt = dv - ad_v delta, by differences in time and in delta."""
    plant, q, v, _, _ = busy(0)
    dv = np.random.default_rng(0).standard_normal(plant.nv)

    def apart(t):
        def deviation(s):
            other = plant.integrate(q, s[0] * dv)
            return plant.difference(plant.integrate(q, t * v), plant.integrate(other, t * (v + s[0] * dv)))

        return jacobian(deviation, 1)[:, 0]

    (ad_v,) = brackets(plant, v)
    close_to(rates(apart)[0], dv - ad_v @ dv, 1e-9)


# -- closed machines -------------------------------------------------------------------------------------------------


CLOSED = [  # seeds whose loops leave their ends some freedom to move
    (20, (fixtures.Revolute,), (fixtures.Revolute, fixtures.Spherical)),
    (21, (fixtures.Distance, fixtures.Point), (fixtures.Free, fixtures.Planar)),
    (22, (fixtures.Cylindrical,), (fixtures.Universal, fixtures.Cylindrical, fixtures.Revolute)),
    (33, (fixtures.Helical, fixtures.Distance), (fixtures.Spherical, fixtures.Prismatic, fixtures.Helical)),
    (24, (fixtures.Universal, fixtures.PointOnPlane), (fixtures.Spherical, fixtures.Planar, fixtures.Prismatic)),
    (25, (fixtures.Planar, fixtures.Coupling), (fixtures.Revolute, fixtures.Spherical, fixtures.Cylindrical)),
    (36, (fixtures.PointOnLine, fixtures.Prismatic), (fixtures.Free, fixtures.Spherical)),
    (27, (fixtures.Spherical, fixtures.Distance), fixtures.JOINTS),
    (28, (fixtures.Weld,), (fixtures.Free, fixtures.Planar, fixtures.Helical)),
    (29, (fixtures.Fixed, fixtures.Coupling), (fixtures.Spherical, fixtures.Free, fixtures.Cylindrical)),
]
LINEAR_ONLY = [
    (40, (fixtures.Revolute,), fixtures.LINEAR, 8),
    (41, (fixtures.Spherical, fixtures.Distance), (fixtures.Revolute, fixtures.Prismatic), 7),
    (42, (fixtures.Helical, fixtures.Coupling), fixtures.LINEAR, 7),
]


class Case:
    """A closed machine at a state on the manifold, with efforts and coordinates."""

    def __init__(self, plant, q, v, effort=1.0, seed=0):
        self.plant, self.q = plant, plant.close(q)
        self.v = plant.project_velocity(self.q, v)
        rng = np.random.default_rng([seed, 7])
        self.u = effort * rng.uniform(-1.0, 1.0, plant.nu)
        Z = plant.terms(self.q, self.v).Z  # any mixture that is not far from the best one
        turned = np.linalg.qr(rng.standard_normal((Z.shape[1],) * 2))[0]
        self.R = turned @ (Z.T + 0.05 * rng.standard_normal(Z.T.shape))

    @property
    def state(self):
        return self.plant, self.q, self.v, self.u, self.R


@functools.cache
def random_case(seed, loop_kinds, kinds, bodies=5):
    parts = fixtures.tree_parts(seed, bodies, kinds, damped=True)
    parts["joints"] = without_rotors(parts["joints"])
    more = {"springs": fixtures.springs(parts, seed), "actuators": fixtures.actuators(parts, seed)}
    plant, q = fixtures.close_parts(parts, seed, loop_kinds, **more)
    return Case(plant, q, np.random.default_rng([seed, 2]).uniform(-1.5, 1.5, plant.nv), seed=seed)


def across_cut(plant, **more):
    """The same machine with friction, and with its springs, drives or loops replaced."""
    joints = [dataclasses.replace(j, damping=0.3 + 0.1 * i) for i, j in enumerate(plant.joints)]
    parts = {"loops": plant.loops, "springs": plant.springs, "actuators": plant.actuators, **more}
    return Mechanism(plant.name, plant.bodies, joints, gravity=plant.gravity, **parts)


@functools.cache
def five_bar(cut, closure):
    plant = plants.five_bar(cut, closure)
    springs = [
        JointSpring("torsion", "left", 7.0, 0.4, 0.2),
        PointSpring("strut", "left_lower", "right_upper", (0.8, 0.1, 0), (0.5, 0, 0), 30.0, 0.5, 2.0),
    ]
    drives = list(plant.actuators)
    if cut == "right" and closure == "revolute":
        drives += [Actuator("right", "across", gear=0.7)]  # on the cut joint itself
    plant = across_cut(plant, springs=springs, actuators=drives)
    return Case(plant, configuration(plant), np.array([1.0, -2.0, 0.5, 1.5]))


@functools.cache
def known(name):
    plant, q, _ = plants.catalogue[name].start()
    if name == "bricard":  # away from the cube, where all angles are special
        terms = plant.terms(q, np.zeros(plant.nv))
        q = plant.close(plant.integrate(q, 0.3 * terms.Z[:, 0]))
    return Case(plant, q, 2.0 * np.ones(plant.nv), effort=0.02 if name == "andrews" else 1.0)


NAMED = {
    "five-bar-tip-line": lambda: five_bar("tip", "line"),
    "five-bar-right-revolute": lambda: five_bar("right", "revolute"),
    "five-bar-tip-point": lambda: five_bar("tip", "point"),
    "andrews": lambda: known("andrews"),
    "bricard": lambda: known("bricard"),
    "n-four-bar": lambda: known("n-four-bar"),
    **{f"random{i}": functools.partial(random_case, *case) for i, case in enumerate(CLOSED)},
    **{f"linear{i}": functools.partial(random_case, *case) for i, case in enumerate(LINEAR_ONLY)},
}
CASES = pytest.mark.parametrize("name", NAMED)


def map_at(plant, q, R):
    """K by least squares on the compiled Jacobian."""
    X = np.concatenate([R, plant.jacobian(q)])
    return np.linalg.lstsq(X, np.eye(*X[:, : len(R)].shape), rcond=1e-9)[0]


class Chart:
    """The motion in y = R (q [-] q0), y_v = R v, from `plant.terms` alone; Newton's method closes the loops."""

    def __init__(self, case):
        self.plant, self.q0, self.v0, self.u, self.R = case.state

    def configuration(self, y):
        plant, q = self.plant, self.q0
        for _ in range(30):
            left = np.concatenate([self.R @ plant.difference(self.q0, q) - y, plant.residual(q)])
            step = np.linalg.lstsq(np.concatenate([self.R, plant.jacobian(q)]), -left, rcond=1e-9)[0]
            q = plant.integrate(q, step)
            if largest(step) < 1e-15:
                break
        assert largest(step) < 1e-13
        return q

    def velocity(self, q, y_v):
        A = self.plant.jacobian(q)
        right = np.concatenate([y_v, np.zeros(len(A))])
        return np.linalg.lstsq(np.concatenate([self.R, A]), right, rcond=1e-9)[0]

    def rates(self, y, y_v, u):
        """d(y, y_v)/dt: the chart's own rate by differences in time, the acceleration by the KKT matrix."""
        plant, q = self.plant, self.configuration(y)
        v = self.velocity(q, y_v)
        move = jacobian(lambda t: self.R @ plant.difference(self.q0, plant.integrate(q, t[0] * v)), 1)[:, 0]
        return np.concatenate([move, self.R @ kkt_acceleration(plant.terms(q, v), u)])


def kkt_acceleration(terms, u):
    return kkt_solve(terms, terms.B @ u - terms.h, -terms.b)[0]


def kkt_solve(terms, force, rows):
    """x and lam of M x + A' lam = force, A x = rows."""
    n, m = len(terms.M), len(terms.A)
    matrix = np.block([[terms.M, terms.A.T], [terms.A, np.zeros((m, m))]])
    found = np.linalg.lstsq(matrix, np.concatenate([force, rows]), rcond=1e-12)[0]
    return found[:n], found[n:]


# -- K and its derivatives ---------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@CASES
def test_null_space_and_its_rates_along_the_motion(name):
    case = NAMED[name]()
    plant, q, v, u, R = case.state
    a = kkt_acceleration(plant.terms(q, v), u)
    null = recursions.null_space(plant, q, R, v, a)
    assert largest(R @ null.K - np.eye(len(R))) < 1e-12
    assert largest(plant.jacobian(q) @ null.K) < 1e-12 * largest(null.K) * largest(plant.jacobian(q))
    chart = Chart(case)

    def along(t):
        return map_at(plant, chart.configuration(R @ (t * v + 0.5 * t * t * a)), R)

    first, second = rates(along, min(3e-3, 0.03 / np.sqrt(largest(a))))
    assert largest(null.K_dot - first) < 1e-10 * (1.0 + largest(first))
    assert largest(null.K_ddot - second) < 1e-8 * (1.0 + largest(second))


@pytest.mark.nojit_slow
@CASES
def test_null_space_along_the_manifold(name):
    """dK/dy = sum_j dK/dq_j K_j has a meaning with redundant rows, too."""
    case = NAMED[name]()
    plant, q, _, _, R = case.state
    null, chart = recursions.null_space(plant, q, R), Chart(case)
    found = np.einsum("klj,jm->klm", null.K_q, null.K)
    expected = jacobian(lambda y: map_at(plant, chart.configuration(y), R), len(R), 2e-3)
    assert largest(found - expected) < 1e-10 * (1.0 + largest(expected))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ["random0", "random3", "random5", "random7", "linear2", "andrews"])
def test_null_space_in_all_directions(name):
    """Without redundant rows, K is a function of all configurations."""
    plant, q, _, _, R = NAMED[name]().state
    assert plant.terms(q, np.zeros(plant.nv)).rank == len(plant.row_names)

    expected = jacobian(lambda d: map_at(plant, plant.integrate(q, d), R), plant.nv, 2e-3)
    close_to(recursions.null_space(plant, q, R).K_q, expected, 1e-9)


def test_map_of_the_parallel_four_bar_is_constant():
    """Spencer, section 2.4.1; so its velocity does not couple its axes either."""
    plant = plants.parallel_four_bar()
    q, v = parallel_configuration(2.0, 0.5), np.array([1.0, -2.0, 3.0, -3.0])
    null = recursions.null_space(plant, q, np.eye(4)[:2], v, np.array([0.3, 0.1, 0.2, -0.2]))
    assert largest(null.K - np.array([[1, 0], [0, 1], [1, -1], [-1, 1]])) < 1e-14
    assert largest(null.K_dot) < 1e-13
    assert largest(null.K_ddot) < 1e-12


# -- local state-space form ---------------------------------------------------------------------------------------


@CASES
def test_acceleration_of_the_null_space_formulation(name):
    plant, q, v, u, R = NAMED[name]().state
    close_to(recursions.acceleration(plant, q, v, u, R), kkt_acceleration(plant.terms(q, v), u), 1e-10)


@pytest.mark.nojit_slow
@CASES
def test_local_state_space_agrees_with_differences_of_the_nonlinear_one(name):
    case = NAMED[name]()
    plant, q, v, u, R = case.state
    small, chart, p = recursions.local_state_space(plant, q, v, u, R), Chart(case), len(R)
    y_v, zero = R @ v, np.zeros(p)
    close_to(small.drift, chart.rates(zero, y_v, u), 1e-11)
    in_y = jacobian(lambda y: chart.rates(y, y_v, u), p, 2e-3)
    in_rate = jacobian(lambda d: chart.rates(zero, y_v + d, u), p, 10.0)  # quadratic: the larger, the less rounding
    close_to(small.A[:, :p], in_y, 1e-9)
    close_to(small.A[:, p:], in_rate)
    if plant.nu:
        close_to(small.B, jacobian(lambda d: chart.rates(zero, y_v, u + d), plant.nu, 1.0))


def by_kkt(case, a):
    """A, B, K, N by the KKT matrix: a small route of its own, from `plant.terms` and its differences."""
    plant, q, v, u, R = case.state
    terms, n, p = plant.terms(q, v), plant.nv, len(R)
    _, lam = kkt_solve(terms, terms.B @ u - terms.h, -terms.b)
    step = 4e-3

    def balance(q, v):
        t = plant.terms(q, v)
        return np.concatenate([t.M @ a + t.h + t.A.T @ lam - t.B @ u, t.A @ a + t.b, t.A @ v])

    m = len(terms.A)
    in_q = jacobian(lambda d: balance(plant.integrate(q, d), v), n, step)
    in_v = jacobian(lambda d: balance(q, v + d), n)
    X = np.concatenate([R, terms.A])
    solve = functools.partial(np.linalg.lstsq, rcond=1e-12)
    K = solve(X, np.eye(p + m, p))[0]
    N = solve(X, -np.concatenate([np.zeros((p, p)), in_q[n + m :] @ K]))[0]
    a_q = [kkt_solve(terms, -f[:n], -f[n : n + m])[0] for f in (in_q[: n + m] @ K + in_v[: n + m] @ N).T]
    a_v = [kkt_solve(terms, -f[:n], -f[n : n + m])[0] for f in (in_v[: n + m] @ K).T]
    a_u = [kkt_solve(terms, f, np.zeros(m))[0] for f in terms.B.T]
    return K, N, R @ np.array(a_q).T, R @ np.array(a_v).T, R @ np.array(a_u).reshape(-1, n).T


@pytest.mark.nojit_slow
@CASES
def test_local_state_space_agrees_with_the_kkt_route(name):
    case = NAMED[name]()
    small, p = recursions.local_state_space(*case.state), len(case.R)
    K, N, A21, A22, B = by_kkt(case, small.a)
    close_to(small.K, K, 1e-11)
    assert largest(small.N - N) < 1e-9 * (largest(K) + largest(N))
    size = largest(A21) + largest(A22)
    assert largest(small.A[p:, :p] - A21) < 1e-9 * size
    assert largest(small.A[p:, p:] - A22) < 1e-9 * size
    assert largest(small.B[p:] - B) < 1e-10 * max(largest(B), 1e-3)


@pytest.mark.parametrize("name", ["five-bar-tip-line", "andrews", *(f"linear{i}" for i in range(len(LINEAR_ONLY)))])
def test_joints_with_one_axis_give_the_formulas_of_the_thesis(name):
    """Section 4.2 and appendix B as they are printed there (with K' in B.5)."""
    plant, q, v, u, R = NAMED[name]().state
    small = recursions.local_state_space(plant, q, v, u, R)
    null = recursions.null_space(plant, q, R, v, small.a)
    K, p = null.K, len(R)
    close_to(small.N, null.K_dot, 1e-14)
    close_to(small.L, null.K_ddot, 1e-14)
    M, tau = recursions.mass_matrix(plant, q), recursions.external_forces(plant, q, v, u)
    left = recursions.tau_NE(plant, q, v, small.a) - tau.tau
    in_q = recursions.tau_NE_q(plant, q, v, small.a) - tau.tau_q
    in_v = recursions.tau_NE_v(plant, q, v) - tau.tau_v
    K_y = [sum(null.K_q[:, :, j] * K[j, i] for j in range(plant.nv)) for i in range(p)]
    bracket = np.stack([K_yi.T @ left for K_yi in K_y], axis=1)
    inverse = -np.linalg.inv(K.T @ M @ K)
    A21 = inverse @ (bracket + K.T @ (in_q @ K + in_v @ null.K_dot + M @ null.K_ddot))
    A22 = inverse @ K.T @ (in_v @ K + 2.0 * M @ null.K_dot)
    assert largest(small.A[:p, :p]) == 0.0
    close_to(small.A[p:, :p], A21, 1e-11)
    close_to(small.A[p:, p:], A22, 1e-11)


def test_brackets_matter_where_joints_have_several_axes():
    """Else the extra terms would not be tested: his formulas alone are far off."""
    for name in ("random0", "random1", "random7"):
        plant, q, v, u, R = NAMED[name]().state
        small = recursions.local_state_space(plant, q, v, u, R)
        assert largest(small.N - small.K_dot) > 1e-2
        assert largest(small.L - small.K_ddot) > 1e-2
        assert largest(small.A[: len(R), : len(R)]) > 1e-2


def test_moving_chart_changes_the_upper_left_block_alone():
    plant, q, v, u, R = NAMED["random7"]().state
    fixed = recursions.local_state_space(plant, q, v, u, R)
    moved = recursions.local_state_space(plant, q, v, u, R, moving=True)
    p, difference = len(R), moved.A - fixed.A
    close_to(difference[:p, :p], fixed.A[:p, :p], 1e-14)
    difference[:p, :p] = 0.0
    assert largest(difference) == 0.0


@pytest.mark.parametrize("name", ["five-bar-tip-line", "andrews", "random1", "random5", "random7", "linear2"])
def test_rows_written_twice_change_nothing(name):
    plant, q, v, u, R = NAMED[name]().state
    loops = [*plant.loops, *map(fixtures.again, plant.loops)]
    parts = (plant.bodies, plant.joints, loops, plant.springs, plant.actuators, plant.gravity)
    once = recursions.local_state_space(plant, q, v, u, R)
    twice = recursions.local_state_space(Mechanism("twice", *parts), q, v, u, R)
    for a, b in zip(once, twice, strict=True):
        assert largest(a - b) < 1e-10 * max(largest(a), 1.0)


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
@pytest.mark.parametrize("cut", ["tip", "right"])
def test_the_five_bar_does_not_depend_on_where_it_is_cut(cut, closure):
    """In the angles of the left arm and of the right elbow, which all cuts have."""

    def small(cut, closure):
        plant = plants.five_bar(cut, closure)
        R = np.zeros((2, 4))
        R[0, plant.index("left")] = R[1, plant.index("elbow_left")] = 1.0
        q = configuration(plant, "asymmetric")
        terms = plant.terms(q, np.zeros(4))
        v = terms.Z @ np.linalg.solve(R @ terms.Z, [1.0, -2.0])
        return recursions.local_state_space(plant, q, v, [3.0, -1.0], R)

    first, here = small("tip", "line"), small(cut, closure)
    close_to(here.A, first.A, 1e-11)
    close_to(here.B, first.B, 1e-12)
    close_to(here.drift, first.drift, 1e-12)


# -- the compiled derivatives ------------------------------------------------------------------------------------------


def parts_by_spencer(plant, q, v, a, u, lam):
    """force_q, force_v, rate_q, accel_q, accel_v of `dynamics.derivatives`, from the recursions."""
    con, forces = recursions.constraints(plant, q, v, a), recursions.external_forces(plant, q, v, u)
    ad_v, ad_a = brackets(plant, v, a)
    return {
        "force_q": recursions.tau_NE_q(plant, q, v, a) - forces.tau_q + np.einsum("rkj,r->kj", con.G_q, lam),
        "force_v": recursions.tau_NE_v(plant, q, v) - forces.tau_v,
        "rate_q": con.G_dot - con.G @ ad_v,
        "accel_q": con.G_ddot - 2.0 * con.G_dot @ ad_v + con.G @ (ad_v @ ad_v - ad_a),
        "accel_v": 2.0 * con.G_dot - con.G @ ad_v,
    }


@SEEDS
def test_compiled_derivatives_off_the_manifold(seed):
    """All joints, rows, springs and drives at once, with accelerations and multipliers that nothing ties together."""
    plant, q, v, a, u = busy(seed)
    lam = np.random.default_rng(seed).standard_normal(len(plant.row_names))
    found = derivatives(plant, q, v, u, a=a, lam=lam)
    for name, expected in parts_by_spencer(plant, q, v, a, u, lam).items():
        close_to(getattr(found, name), expected, 1e-12)


@CASES
def test_compiled_derivatives_on_the_manifold(name):
    plant, q, v, u, _ = NAMED[name]().state
    found = derivatives(plant, q, v, u)
    for key, expected in parts_by_spencer(plant, q, v, found.a, u, found.lam).items():
        assert largest(getattr(found, key) - expected) < 1e-12 * (1.0 + largest(expected)), key


@SEEDS
def test_compiled_inverse_dynamics(seed):
    plant, q, v, a, _ = busy(seed)
    found, forces = inverse_dynamics_derivatives(plant, q, v, a), recursions.external_forces(plant, q, v)
    close_to(found.tau, recursions.tau_NE(plant, q, v, a) - forces.tau, 1e-12)
    close_to(found.tau_q, recursions.tau_NE_q(plant, q, v, a) - forces.tau_q, 1e-12)
    close_to(found.tau_v, recursions.tau_NE_v(plant, q, v) - forces.tau_v, 1e-12)
    close_to(found.tau_a, recursions.mass_matrix(plant, q), 1e-13)


@CASES
@pytest.mark.parametrize("moving", [False, True], ids=["fixed", "moving"])
def test_compiled_local_state_space(name, moving):
    """The recursions of chapter 4 and the KKT route of the kernels agree to rounding."""
    state = NAMED[name]().state
    found, expected = (f(*state, moving=moving) for f in (reduced_model, recursions.local_state_space))
    for key in ("A", "B", "drift", "K", "G", "a"):
        a, b = getattr(found, key), getattr(expected, key)
        assert largest(a - b) < 1e-12 * max(largest(b), 1e-3), key
    assert largest(found.N - expected.N) < 1e-12 * (1.0 + largest(expected.N))


@pytest.mark.parametrize("name", sorted(set(plants.catalogue) - {"particle", "slider-crank", "valve-train"}))
def test_compiled_local_state_space_of_ready_made_plants(name):
    """At their starts, pushed off with a velocity that the loops allow; two have no bodies, and one has a cam."""
    plant, q, _ = plants.catalogue[name].start()
    plant = plant.with_parts(loads=()) if plant.loads else plant  # which the thesis does not know
    case = Case(plant, q, np.random.default_rng(5).uniform(-1.0, 1.0, plant.nv))
    found, expected = reduced_model(*case.state), recursions.local_state_space(*case.state)
    for key in ("A", "B", "drift", "K", "a"):
        a, b = getattr(found, key), getattr(expected, key)
        assert largest(a - b) < 1e-11 * max(largest(b), 1e-3), key


def test_cams_are_refused():
    plant, q, _ = plants.catalogue["valve-train"].start()
    with pytest.raises(ModelError, match=r"no cams.*'cam'"):
        recursions.constraints(plant, q)


@CASES
def test_compiled_acceleration_derivatives(name):
    """Along the manifold a = K dy_v/dt + K_dot y_v changes with y by K A21 + L."""
    plant, q, v, u, R = NAMED[name]().state
    small, found, p = recursions.local_state_space(plant, q, v, u, R), acceleration_derivatives(plant, q, v, u), len(R)
    in_y = found.a_q @ small.K + found.a_v @ small.N
    size = largest(in_y) + largest(small.L)
    assert largest(in_y - (small.K @ small.A[p:, :p] + small.L)) < 1e-11 * size
    assert largest(found.a_u - small.K @ small.B[p:]) < 1e-11 * max(largest(found.a_u), 1e-3)


# -- known answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["revolute", "line", "point"])
def test_pendulum_on_a_cut_joint(closure):
    """angle'' = -3 g/(2 L) cos(angle), whatever its velocity."""
    plant = plants.pendulum(1.3, 0.7, closure)
    q = plant.assemble(angle=0.4)
    v = plant.project_velocity(q, [0.0, 0.0, 5.0])
    small = recursions.local_state_space(plant, q, v, [0.0], np.eye(3)[2:])
    w2 = 1.5 * 9.81 / 0.7
    assert small.drift == pytest.approx([v[2], -w2 * np.cos(0.4)], abs=1e-12)
    close_to(small.A, np.array([[0, 1], [w2 * np.sin(0.4), 0]]), 1e-12)


def test_particle_on_a_circle_in_one_of_its_coordinates():
    """x'' = -x x'^2/z^2 + g x z/rho^2 with z^2 = rho^2 - x^2: N, L and both blocks do not vanish."""
    rho, g = 2.0, 9.81
    point = Body("bead", 0.8, (0, 0, 0), (0, 0, 0))
    slides = [Prismatic("x", "ground", "slide", axis=(1, 0, 0)), Prismatic("z", "slide", "bead", axis=(0, 0, 1))]
    rod = Distance("rod", "ground", "bead", (0, 0, 0), (0, 0, 0), rho)
    plant = Mechanism("particle", [Body("slide"), point], slides, [rod], gravity=(0, 0, -g))
    x, x_dot = 1.2, 0.7
    z = np.sqrt(rho**2 - x**2)
    v = np.array([x_dot, -x * x_dot / z])
    small = recursions.local_state_space(plant, [x, z], v, [], np.eye(2)[:1])
    z4 = z**4
    A21 = -(x_dot**2) * (rho**2 + x**2) / z4 + g * (z - x * x / z) / rho**2
    assert small.drift == pytest.approx([x_dot, -x * x_dot**2 / z**2 + g * x * z / rho**2], rel=1e-12)
    close_to(small.A, np.array([[0, 1], [A21, -2 * x * x_dot / z**2]]), 1e-12)
    assert small.K[1] == pytest.approx([-x / z], rel=1e-13)
    assert small.N[1] == pytest.approx([-x_dot * rho**2 / z**3], rel=1e-12)


def test_free_body_turns_by_eulers_equations():
    """I w' = -w x I w to first order, and A11 = -[w]/2: the chart of a body that turns."""
    I, w = np.diag([1.0, 2.0, 2.5]), np.array([0.4, -1.0, 2.0])
    joint = Free("joint", "ground", "body")
    plant = Mechanism("body", [Body("body", 3.0, (0, 0, 0), I)], [joint], gravity=(0, 0, 0))
    q, _ = fixtures.random_state(plant, 1)
    V = np.concatenate([w, [0.3, 0.2, 0.1]])
    small = recursions.local_state_space(plant, q, V, [], np.eye(6))
    spin = fixtures.skew(w)
    expected = -np.linalg.solve(I, spin @ I - fixtures.skew(I @ w))
    close_to(small.A[6:9, 6:9], expected, 1e-14)
    close_to(small.A[:3, :3], -0.5 * spin, 1e-14)
    close_to(small.A[:6, :6], -0.5 * recursions.ad(V), 1e-14)
    assert largest(small.A[6:, :6]) < 1e-14  # nothing depends on where it is
    assert largest(small.L) < 1e-14


def test_ball_joint_with_a_heavy_arm_in_the_plane_is_a_pendulum():
    """A spherical joint that turns about one axis: the equations across it are those of a conical pendulum."""
    I, m, L = np.diag([0.02, 0.5, 0.5]), 2.0, 0.6
    arm = Body("arm", m, (L, 0, 0), I)
    plant = Mechanism("ball", [arm], [Spherical("ball", "ground", "arm")], gravity=(9.81, 0, 0))
    q, rate = plant.neutral(), 1.5  # hangs along x, and spins about it
    small = recursions.local_state_space(plant, q, [rate, 0, 0], [], np.eye(3))
    J, J0 = 0.5 + m * L**2, 0.02
    gyro = (J - J0) / J * rate  # J w_y' = (J - J0) w_x w_z
    A22 = np.array([[0, 0, 0], [0, 0, gyro], [0, -gyro, 0]])
    stiff = m * 9.81 * L / J
    close_to(small.A[3:, 3:], A22, 1e-14)
    close_to(small.A[3:, :3], np.diag([0.0, -stiff, -stiff]), 1e-13)


@pytest.mark.parametrize("name", ["andrews", "five-bar", "random"])
def test_equilibria_agree_with_linearize(name):
    if name == "random":
        case = NAMED["random7"]()
        stays = [PointSpring(f"stay{i}", "ground", f"body{i}", (0, 0, i), (0.1, 0, 0), 40.0, 0.5) for i in range(5)]
        plant = across_cut(case.plant, springs=[*case.plant.springs, *stays])
        q = case.q
    elif name == "andrews":
        plant, q, _ = plants.catalogue[name].start()
    else:
        plant = five_bar("right", "revolute").plant
        q = configuration(plant)
    point = trim(plant, q, free="all", u=np.linspace(-0.3, 0.3, plant.nu))
    model = linearize(plant, point)
    R = np.eye(plant.nv)[[plant.index(n) for n in model.states[: model.dof]]]
    small = recursions.local_state_space(plant, point.q, point.v, point.u, R)
    close_to(small.A, model.A, 1e-9)
    close_to(small.B, model.B, 1e-11)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_coordinates_that_do_not_fit():
    plant, q, v, u, _ = five_bar("tip", "line").state
    with pytest.raises(ValueError, match="determine 3 of 4 velocities"):
        recursions.null_space(plant, q, np.eye(4)[:1])
    with pytest.raises(ValueError, match="not independent: the loops couple them"):
        recursions.null_space(plant, q, np.eye(4)[:3])
    with pytest.raises(ValueError, match="determine 3 of 4"):
        recursions.local_state_space(plant, q, v, u, np.eye(4)[[0, 0]])
    with pytest.raises(ValueError, match="R must have shape"):
        recursions.null_space(plant, q, np.eye(3)[:2])


def test_singular_pose_has_no_local_form():
    plant = plants.five_bar()
    q = configuration(plant, "singular")
    terms = plant.terms(q, np.zeros(4))
    with pytest.raises(ValueError, match="the configuration is singular"):
        recursions.local_state_space(plant, q, np.zeros(4), np.zeros(2), terms.Z.T)


def test_velocities_that_the_loops_forbid():
    plant, q, _, u, R = five_bar("tip", "line").state
    with pytest.raises(ValueError, match=r"project_velocity"):
        recursions.local_state_space(plant, q, np.ones(4), u, R)


def test_plants_without_bodies():
    with pytest.raises(TypeError, match="need the bodies of a Mechanism, got FunctionPlant"):
        recursions.jacobians(plants.catalogue["particle"].start()[0], [1.0, 0.0])


def test_machines_without_loops_or_freedom():
    tree = fixtures.random_tree(3)
    q, v = fixtures.random_state(tree, 3)
    small = recursions.local_state_space(tree, q, v, [], np.eye(tree.nv))
    assert largest(small.K - np.eye(tree.nv)) < 1e-14
    held = Mechanism(
        "held",
        [Body.rod("rod", 1.0, 1.0)],
        [Revolute("hinge", "ground", "rod")],
        [Coupling("stop", {"hinge": 1.0}, 0.3)],
    )
    small = recursions.local_state_space(held, [0.3], [0.0], [], np.zeros((0, 1)))
    assert small.A.shape == (0, 0)
    assert small.a == pytest.approx([0.0], abs=1e-15)

"""Linear models: stiffness against differences, textbook frequencies, Spencer's theorems, python-control."""

import dataclasses
import itertools
import re

import machines
import numpy as np
import pytest
from machines import largest

from cmbcontrol import LinearModel, OperatingPoint, linearize, load_linear, plants, trim
from cmbcontrol.controllers import Controller
from cmbcontrol.dynamics.derivatives import derivatives
from cmbcontrol.errors import AssemblyError, EquilibriumError, SingularConfigurationError
from cmbcontrol.kernels import constrained
from cmbcontrol.linear import underlying_ode
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Distance,
    Fixed,
    Frame,
    Free,
    JointSpring,
    Planar,
    Point,
    PointSpring,
    Prismatic,
    Revolute,
)
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.model.terms import RANK_TOLERANCE
from cmbcontrol.plants.five_bar import pose
from cmbcontrol.plants.n_four_bar import pose as four_bars
from cmbcontrol.plants.parallel_four_bar import pose as parallel_pose

ORDER_8 = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def derivative(function, n, step):
    """Jacobian of function(x) at zero, x in R^n, by central differences of order 8."""
    columns = []
    for e in np.eye(n):
        columns.append(sum(w * (function(k * step * e) - function(-k * step * e)) for k, w in ORDER_8) / step)
    return np.array(columns).T


def same_eigenvalues(a, b):
    """Largest distance between two sets of eigenvalues, matched greedily."""
    a, b, worst = list(a), list(b), 0.0
    assert len(a) == len(b)
    for x in a:
        k = int(np.argmin(np.abs(np.array(b) - x)))
        worst = max(worst, abs(b.pop(k) - x))
    return worst


# -- stiffness and damping, all joints and loops ------------------------------------------------------


def busy_machine(seed):
    """All joints, all loops, springs, and drives, also across cut joints."""
    parts = machines.tree_parts(seed, bodies=9, damped=True)
    plant = Mechanism(**parts)
    rng = np.random.default_rng([seed, 9])
    q, _ = machines.random_state(plant, seed)
    loops = [machines.loop_at(plant, q, kind, rng, f"loop{i}") for i, kind in enumerate(machines.LOOPS)]
    drives = [*machines.actuators(parts, seed), Actuator("loop0", gear=1.7), Actuator("loop1", gear=-0.4)]
    springs = [*machines.springs(parts, seed), PointSpring("soft", "ground", "body8", stiffness=3.0)]
    return Mechanism(**parts, loops=loops, springs=springs, actuators=drives), rng


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(6))
def test_stiffness_and_damping_agree_with_differences(seed):
    plant, rng = busy_machine(seed)
    q, _ = machines.random_state(plant, seed + 100)  # anywhere: the loops need not be closed
    lam, u = rng.standard_normal(len(plant.row_names)), rng.standard_normal(plant.nu)
    rest = np.zeros(plant.nv)

    def static(delta):
        terms = plant.terms(plant.integrate(q, delta), rest)
        return terms.h + terms.A.T @ lam - terms.B @ u

    here = derivatives(plant, q, rest, u, a=rest, lam=lam)
    assert largest(here.force_q - derivative(static, plant.nv, 1e-2)) < 1e-10 * largest(here.force_q)
    D = derivative(lambda v: plant.terms(q, v).h, plant.nv, 1e-2)
    assert largest(D - here.force_v) < 1e-10 * largest(D)


def test_stiffness_of_several_axes_is_not_symmetric_by_its_own_bracket():
    """Of a body on a free joint: K - K' is the torque that turns with the axes, (S_l x S_k) . F."""
    plant = Mechanism("body", [machines.body(np.random.default_rng(0), "body")], [Free("joint", "ground", "body")])
    q, _ = machines.random_state(plant, 3)
    K = derivatives(plant, q, np.zeros(6), a=np.zeros(6)).force_q
    assert largest(K - K.T) > 0.1
    h = plant.terms(q, np.zeros(6)).h
    # in the body's axes [S_l, S_k] has the structure constants of se(3)
    brackets = np.zeros((6, 6))
    for k, l in itertools.product(range(6), repeat=2):
        brackets[k, l] = machines.cross_motion(np.eye(6)[l], np.eye(6)[k]) @ h
    assert largest(K - K.T - brackets) < 1e-12


# -- textbook frequencies ------------------------------------------------------------------------------


def frequencies(model):
    return np.array([mode.frequency for mode in model.damping()])


@pytest.mark.parametrize("closure", ["revolute", "line", "point"])
@pytest.mark.parametrize(("mass", "length"), [(1.0, 1.0), (3.7, 0.42)])
def test_rod_on_a_cut_joint_is_a_physical_pendulum(closure, mass, length):
    """The stiffness is that of the constraint force alone: without it, the frequency is zero."""
    plant = plants.pendulum(mass, length, closure)
    point = trim(plant, plant.assemble(angle=-0.5 * np.pi))
    model = linearize(plant, point, coordinates=("angle",))
    truth = np.sqrt(1.5 * 9.81 / length)
    assert abs(model.poles()[1] - 1j * truth) < 1e-10 * truth
    here = derivatives(plant, point.q, point.v, point.u)
    without = derivatives(plant, point.q, point.v, point.u, a=here.a, lam=0.0 * here.lam)
    assert largest(without.force_q) < 1e-12  # all of the stiffness is d(A'lam)/dq
    upright = linearize(plant, trim(plant, plant.assemble(angle=0.5 * np.pi)))
    assert abs(upright.poles()[1] - truth) < 1e-10 * truth


@pytest.mark.parametrize("carrier", [Planar, Free])
def test_body_carried_by_several_axes_and_held_by_a_cut_revolute(carrier):
    """m g l / (I + m l^2), with the joints' frames turned away from everything."""
    mass, arm, inertia, g = 2.3, 0.7, np.array([0.21, 0.34, 0.43]), 9.81
    rng = np.random.default_rng(1)
    body = Body("body", mass, (arm, 0.0, 0.0), inertia)
    turned = machines.frame(rng) if carrier is Free else Frame((0.3, 0.1, 0.0))
    joints = [carrier("carrier", "ground", "body", child_frame=turned)]
    hinge = Revolute("hinge", "ground", "body", frame=Frame((0.4, -0.2, 0.0)))
    plant = Mechanism("pendulum", [body], joints, [hinge], gravity=(0.0, -g, 0.0), actuators=[Actuator("hinge")])
    hanging = Frame.turned((0, 0, 1), -0.5 * np.pi, (0.4, -0.2, 0.0)) @ turned
    if carrier is Planar:
        q = np.array([*hanging.p[:2], np.arctan2(hanging.R[1, 0], hanging.R[0, 0])])
    else:
        q = plant.close(np.concatenate([quaternion(hanging.R), hanging.p]))
    point = trim(plant, q)
    assert largest(point.u) < 1e-9
    truth = np.sqrt(mass * g * arm / (inertia[2] + mass * arm**2))
    model = linearize(plant, point)
    assert frequencies(model) == pytest.approx([truth], rel=1e-10)
    by_hinge = linearize(plant, point, coordinates=("hinge",), outputs=("hinge", "hinge_rate"))
    assert by_hinge.B[1, 0] == pytest.approx(1.0 / (inertia[2] + mass * arm**2), rel=1e-10)
    assert largest(by_hinge.C - np.eye(2)) < 1e-12


def quaternion(R):
    """(w, x, y, z) of a rotation matrix away from half turns."""
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w))])


def point_mass(length=0.8):
    """A point mass on three slides, held by a rod: a spherical pendulum."""
    bodies = [Body("a"), Body("b"), Body("mass", 1.9)]
    joints = [
        Prismatic(name, parent, child, axis=axis)
        for name, parent, child, axis in zip("xyz", ("ground", "a", "b"), ("a", "b", "mass"), np.eye(3), strict=True)
    ]
    return Mechanism("point mass", bodies, joints, [Distance("rod", "ground", "mass", length=length)])


def test_point_mass_on_a_rod():
    plant = point_mass()
    point = trim(plant, plant.assemble(guess={"z": -0.8}, x=0.0, y=0.0))
    assert point.lam == pytest.approx([-1.9 * 9.81], rel=1e-12) or point.lam == pytest.approx([1.9 * 9.81], rel=1e-12)
    model = linearize(plant, point)
    assert model.states == ("x", "y", "x_rate", "y_rate")
    assert frequencies(model) == pytest.approx([np.sqrt(9.81 / 0.8)] * 2, rel=1e-10)


def test_particle_given_by_functions():
    plant = plants.particle_on_circle(mass=1.3, radius=0.6)
    model = linearize(plant, trim(plant, [0.0, -0.6], u=0.0), coordinates=("q1",), outputs=("q2", "circle"))
    assert frequencies(model) == pytest.approx([np.sqrt(9.81 / 0.6)], rel=1e-10)
    assert largest(model.C) < 1e-9  # height and rod force are stationary
    assert model.D[1] == pytest.approx([0.0, -1.0], abs=1e-10)  # a push outwards, taken by the circle


def test_slider_crank_by_functions_equals_its_mechanism():
    """Aghili's slider-crank from functions, and from bodies with a cut point on a line."""
    functions = plants.slider_crank()
    links = [Body("crank", 1.0, (1.0, 0.0, 0.0)), Body("rod", 1.0, (1.0, 0.0, 0.0))]
    joints = [Revolute("q1", "ground", "crank"), Revolute("q2", "crank", "rod", frame=Frame((1.0, 0.0, 0.0)))]
    line = machines.PointOnPlane("slider", "ground", "rod", point_b=(1.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0))
    drive = [Actuator("q1")]
    mechanism = Mechanism("slider-crank", links, joints, [line], actuators=drive, gravity=(0.0, -9.81, 0.0))
    both = [
        linearize(p, trim(p, [0.6, -1.2]), coordinates=("q1",), outputs=("q2", "loop_force"))
        for p in (functions, mechanism)
    ]
    for a, b in zip(*([m.A, m.B, m.C, m.D] for m in both), strict=True):
        assert largest(a - b) < 1e-9 * (1.0 + largest(a))


@pytest.mark.parametrize("n", [1, 2, 10])
def test_row_of_four_bars_hangs_as_its_exact_reduction(n):
    """IFToMM A02: I theta'' = -G g cos(theta), I = (n + 1)/3 + n, G = (n + 1)/2 + n, at theta = -pi/2."""
    plant = plants.n_four_bar(n)
    model = linearize(plant, trim(plant, four_bars(n, -0.5 * np.pi), u=0.0), coordinates=("bar0",))
    inertia, weight = (n + 1) / 3 + n, (n + 1) / 2 + n
    assert frequencies(model) == pytest.approx([np.sqrt(weight * 9.81 / inertia)], rel=1e-10)
    with pytest.raises(SingularConfigurationError, match="configuration"):  # flat, motors off, gravity across
        flat = Mechanism("flat", plant.bodies, plant.joints, plant.loops, gravity=(0.0, 0.0, -9.81))
        linearize(flat, trim(flat, four_bars(n, 0.0)))


def test_map_of_the_parallel_four_bar_is_constant():
    """Spencer 2.4.1: K = [1 0; 0 1; 1 -1; -1 1] at every pose."""
    plant = plants.parallel_four_bar()
    for angles in ((2.0, 0.5), (1.0, -0.7)):
        model = linearize(plant, trim(plant, parallel_pose(*angles)), coordinates=("q1", "q2"))
        assert largest(model.K - [[1, 0], [0, 1], [1, -1], [-1, 1]]) < 1e-12


# -- the five-bar against the nonlinear equations --------------------------------------------------------


class Reduced(Controller):
    """The motion in independent coordinates y = R (q - q0), solved by Newton's method; nothing from `linear`."""

    def __init__(self, plant, q0, R):
        self.plant, self.q0, self.R = plant, q0, R

    def configuration(self, y):
        plant, q = self.plant, self.q0.copy()
        for _ in range(30):
            left = np.concatenate([self.R @ plant.difference(self.q0, q) - y, plant.residual(q)])
            columns = []
            for e in np.eye(plant.nv):  # R d(q - q0)/dq is not R where a joint has several axes
                near = [self.R @ plant.difference(self.q0, plant.integrate(q, s * 1e-4 * e)) for s in (1, -1)]
                columns.append((near[0] - near[1]) / 2e-4)
            matrix = np.concatenate([np.array(columns).T, plant.jacobian(q)])
            step = np.linalg.lstsq(matrix, -left, rcond=1e-9)[0]
            q = plant.integrate(q, step)
            if largest(step) < 1e-15:
                break
        assert plant.closure_error(q) < 1e-12
        return q

    def velocity(self, q, rate):
        A = self.plant.jacobian(q)
        right = np.concatenate([rate, np.zeros(len(A))])
        return np.linalg.lstsq(np.concatenate([self.R, A]), right, rcond=1e-9)[0]

    def acceleration(self, y, rate, u):
        q = self.configuration(y)
        v = self.velocity(q, rate)
        return q, v, constrained.forward_dynamics(self.plant.arrays, q, v, u, RANK_TOLERANCE)[0]

    def effort(self, y, rate, u):
        return self.R @ self.acceleration(y, rate, u)[2]

    def multipliers(self, y, rate, u):
        q, v, a = self.acceleration(y, rate, u)
        terms = self.plant.terms(q, v)
        return terms.A_pinv.T @ (terms.B @ u - terms.h - terms.M @ a)


def by_differences(plant, point, R, function, step=2e-2):
    """Derivatives of function(y, dy/dt, u) by differences."""
    n, y = len(R), np.zeros(len(R))
    in_y = derivative(lambda d: function(d, y, point.u), n, step)
    in_rate = derivative(lambda d: function(y, d, point.u), n, step)
    in_u = derivative(lambda d: function(y, y, point.u + d), plant.nu, step)
    return in_y, in_rate, in_u


def damped_five_bar(cut="tip", closure="line"):
    """With friction, a torsion spring and a damped spring between the arms."""
    plain = plants.five_bar(cut, closure)
    joints = [dataclasses.replace(j, damping=0.3 + 0.1 * i) for i, j in enumerate(plain.joints)]
    springs = [
        JointSpring("torsion", "left", 7.0, 0.4, 0.2),
        PointSpring("strut", "left_lower", "right_upper", (0.8, 0.1, 0), (0.5, 0, 0), 30.0, 0.5, 2.0),
    ]
    gravity = (0.0, -9.81, 0.0)
    return Mechanism("five-bar", plain.bodies, joints, plain.loops, springs, plain.actuators, gravity=gravity)


@pytest.mark.parametrize("make", [plants.five_bar, damped_five_bar])
@pytest.mark.parametrize(("cut", "closure"), [("tip", "line"), ("right", "revolute")])
def test_five_bar_agrees_with_high_order_differences(make, cut, closure):
    plant = make(cut, closure)
    point = trim(plant, pose(plant, "open"))
    names = ("left", "elbow_right")
    R = np.eye(plant.nv)[[plant.index(n) for n in names]]
    loop = plant.loops[0].name
    outputs = ("elbow_left", "elbow_left_rate", f"{loop}_x", f"{loop}_y")
    model = linearize(plant, point, coordinates=names, outputs=outputs)
    reduced = Reduced(plant, point.q, R)
    in_y, in_rate, in_u = by_differences(plant, point, R, reduced)
    scale = largest(in_y)
    assert largest(model.A[:2] - np.eye(4)[2:]) == 0.0
    assert largest(model.A[2:, :2] - in_y) < 1e-8 * scale
    assert largest(model.A[2:, 2:] - in_rate) < 1e-8 * scale
    assert largest(model.B[2:] - in_u) < 1e-8
    assert (largest(model.A[2:, 2:]) > 0.01) == (make is damped_five_bar)
    # outputs: a dependent joint, its rate, and the multipliers
    k = plant.index("elbow_left")
    joint = derivative(lambda y: reduced.configuration(y)[[k]], 2, 2e-2)
    assert largest(model.C[0, :2] - joint) < 1e-8
    assert largest(model.C[1, 2:] - joint) < 1e-8
    in_y, in_rate, in_u = by_differences(plant, point, R, lambda *x: reduced.multipliers(*x)[:2])
    assert largest(model.C[2:] - np.concatenate([in_y, in_rate], axis=1)) < 1e-8 * largest(in_y)
    assert largest(model.D[2:] - in_u) < 1e-8
    assert model.output_units[2:] == ("N", "N")


# -- Spencer's theorems -------------------------------------------------------------------------------------


def five_bars():
    """The same machine, cut and closed in every way, and with its loop written twice; at its hanging pose."""
    for cut, closure, twice in itertools.product(("tip", "right"), ("line", "point", "revolute"), (False, True)):
        plant = plants.five_bar(cut, closure)
        if twice:
            loops = [*plant.loops, *map(machines.again, plant.loops)]
            more = {"actuators": plant.actuators, "gravity": plant.gravity}
            plant = Mechanism("twice", plant.bodies, plant.joints, loops, **more)
        yield plant, trim(plant, pose(plant, "asymmetric"), free="all", u=0.0)


def test_eigenvalues_depend_on_neither_coordinates_nor_cut():
    """Spencer's theorem 4.1.1; in the same coordinates the models are the same."""
    reference = None
    for plant, point in five_bars():
        model = linearize(plant, point, coordinates=("left", "elbow_left"))
        reference = reference or model
        truth = reference.poles()
        assert same_eigenvalues(model.poles(), truth) < 1e-9
        assert largest(model.A - reference.A) < 1e-9 * largest(reference.A)
        assert largest(model.B[:, 0] - reference.B[:, 0]) < 1e-9
        assert same_eigenvalues(linearize(plant, point).poles(), truth) < 1e-9
        for pair in itertools.combinations(plant.velocity_names, 2):
            assert same_eigenvalues(linearize(plant, point, coordinates=pair).poles(), truth) < 1e-9
        for seed in range(3):
            R = np.random.default_rng(seed).standard_normal((2, plant.nv))
            assert same_eigenvalues(linearize(plant, point, coordinates=R).poles(), truth) < 1e-9


def test_held_pose_of_the_five_bar_does_not_depend_on_the_cut():
    """With both motors; where the loop is cut at the right support, `right` is a cut joint, and its motor a wrench."""
    models = []
    for cut, closure in (("tip", "line"), ("tip", "point"), ("tip", "revolute"), ("right", "revolute")):
        plant = plants.five_bar(cut, closure)
        point = trim(plant, pose(plant, "open"))
        outputs = ("right", "right_rate", "left", "elbow_left")
        models.append(linearize(plant, point, coordinates=("left", "right"), outputs=outputs))
    for model in models[1:]:
        for key in "ABCD":
            a, b = getattr(model, key), getattr(models[0], key)
            assert largest(a - b) < 1e-9 * max(1.0, largest(b))
        assert model.output_units == models[0].output_units
        assert model.input_units == ("N m", "N m")


def test_underlying_ode_has_the_same_eigenvalues_and_zeros():
    """Spencer's theorem 4.1.2, with several projectors, redundant rows included."""
    for plant in (plants.five_bar(), plants.five_bar("right", "revolute"), damped_five_bar()):
        point = trim(plant, pose(plant, "open"))
        truth = np.concatenate([linearize(plant, point).poles(), np.zeros(2 * plant.nv - 4)])
        for coordinates in (None, plant.velocity_names[:2], plant.velocity_names[1:3]):
            A = underlying_ode(plant, point, coordinates=coordinates)
            assert np.linalg.matrix_rank(A, tol=1e-8) == 4
            assert same_eigenvalues(np.linalg.eigvals(A), truth) < 1e-8


def test_underlying_ode_is_the_derivative_of_the_acceleration_along_the_manifold():
    plant = damped_five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    A = underlying_ode(plant, point)
    P = plant.terms(point.q, np.zeros(4)).P
    rng = np.random.default_rng(0)
    for _ in range(3):
        dq, dv = P @ rng.standard_normal(4), P @ rng.standard_normal(4)

        def f(s, dq=dq, dv=dv):
            q = plant.close(plant.integrate(point.q, s[0] * dq))
            v = plant.project_velocity(q, s[0] * dv)
            return np.concatenate([v, constrained.forward_dynamics(plant.arrays, q, v, point.u, RANK_TOLERANCE)[0]])

        assert largest(derivative(f, 1, 2e-2)[:, 0] - A @ np.concatenate([dq, dv])) < 1e-8


def test_the_choice_of_redundant_multipliers_does_not_matter():
    plant = plants.five_bar("tip", "revolute")
    plant = Mechanism(
        "twice", plant.bodies, plant.joints, [*plant.loops, *map(machines.again, plant.loops)],
        actuators=plant.actuators, gravity=plant.gravity,
    )  # fmt: skip
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    A = plant.jacobian(point.q)
    assert largest(A.T @ point.lam) > 1.0
    model = linearize(plant, point, coordinates=("left", "right"))
    null = np.eye(len(A)) - A @ np.linalg.pinv(A, rcond=1e-9)
    for seed in range(3):
        other = dataclasses.replace(point, lam=point.lam + null @ np.random.default_rng(seed).uniform(-50, 50, len(A)))
        moved = linearize(plant, other, coordinates=("left", "right"))
        assert largest(moved.A - model.A) < 1e-9 * largest(model.A)
        assert largest(moved.B - model.B) < 1e-12


# -- closed machines of all kinds -----------------------------------------------------------------------------

CLOSED = [
    ((machines.Revolute,), (machines.Revolute, machines.Spherical)),
    ((machines.Distance, machines.Point), (machines.Free, machines.Planar)),
    ((machines.Cylindrical,), (machines.Universal, machines.Cylindrical, machines.Revolute)),
    ((machines.Helical, machines.Distance), (machines.Spherical, machines.Prismatic, machines.Helical)),
    ((machines.Universal, machines.PointOnPlane), (machines.Spherical, machines.Planar, machines.Prismatic)),
    ((machines.Planar, machines.Coupling), (machines.Revolute, machines.Spherical, machines.Cylindrical)),
    ((machines.PointOnLine, machines.Prismatic), (machines.Free, machines.Spherical)),
    ((machines.Spherical, machines.Distance), machines.JOINTS),
]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("case", range(len(CLOSED)))
def test_random_closed_machines_agree_with_differences(case, twice):
    """Equilibria of spring-held machines with multi-axis joints, against the nonlinear motion."""
    loop_kinds, kinds = CLOSED[case]
    seed = case + 20
    parts = machines.tree_parts(seed, 5, kinds, damped=True)
    springs = machines.springs(parts, seed)
    springs += [PointSpring(f"stay{i}", "ground", f"body{i}", (0, 0, i), (0.1, 0, 0), 40.0, 0.5, 1.0) for i in range(5)]
    drives = machines.actuators(parts, seed)
    plant, q = machines.close_parts(parts, seed, loop_kinds, twice, springs=springs, actuators=drives)
    point = trim(plant, q, free="all", u=np.linspace(-0.5, 0.5, plant.nu))
    assert largest(plant.jacobian(point.q).T @ point.lam) > 1e-2
    model = linearize(plant, point)
    names = model.states[: model.dof]
    R = np.eye(plant.nv)[[plant.index(n) for n in names]]
    in_y, in_rate, in_u = by_differences(plant, point, R, Reduced(plant, point.q, R), step=4e-3)
    scale = largest(in_y)
    assert largest(model.A[model.dof :, : model.dof] - in_y) < 1e-8 * scale
    assert largest(model.A[model.dof :, model.dof :] - in_rate) < 1e-8 * scale
    assert largest(model.B[model.dof :] - in_u) < 1e-8 * scale


def test_bricard_agrees_with_differences():
    """Six hinges in a ring, movable though six rows and six joints leave no degree of freedom by count."""
    plant, q, _ = plants.catalogue["bricard"].start()
    point = trim(plant, q, free="all", u=0.0, stable=True)
    model = linearize(plant, point)
    assert model.dof == 1
    R = np.eye(plant.nv)[[plant.index(model.states[0])]]
    in_y, _, in_u = by_differences(plant, point, R, Reduced(plant, point.q, R))
    assert model.A[1, 0] == pytest.approx(in_y[0, 0], rel=1e-8)
    assert model.B[1] == pytest.approx(in_u[0], rel=1e-8)


# -- what comes out ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    plant = plants.five_bar()
    return plant, trim(plant, plant.assemble(left=2.1, right=1.0))


@pytest.fixture(scope="module")
def hanging():
    plant = damped_five_bar()
    return plant, trim(plant, plant.assemble(left=-1.3, right=-1.9), free="all", u=0.0)


def test_names_units_and_selection(arm):
    plant, point = arm
    model = linearize(plant, point, coordinates=("right", "left"), inputs=("right",), outputs=("left_rate", "tip_y"))
    assert model.states == ("right", "left", "right_rate", "left_rate")
    assert model.state_units == ("rad", "rad", "rad/s", "rad/s")
    assert (model.inputs, model.input_units) == (("right_effort",), ("N m",))
    assert (model.outputs, model.output_units) == (("left_rate", "tip_y"), ("rad/s", "N"))
    assert (model.B.shape, model.C.shape, model.D.shape) == ((4, 1), (2, 4), (2, 1))
    assert model.K.shape == (4, 2)
    assert largest(plant.jacobian(point.q) @ model.K) < 1e-12
    assert linearize(plant, point, coordinates=("right", "left")).outputs == ("right", "left")
    assert linearize(plant, point, outputs="tip_force").outputs == ("tip_x", "tip_y")
    matrix = linearize(plant, point, coordinates=[[1, 0, 1, 0], [1, 0, -1, 0]], outputs=("y1", "y2_rate", "left"))
    assert matrix.states == ("y1", "y2", "y1_rate", "y2_rate")
    assert matrix.C[2, :2] == pytest.approx([0.5, 0.5])
    table = str(model)
    assert "right [rad]" in table
    assert "tip_y [N]" in table
    assert str(point).count("\n") == 8


def test_python_control(hanging):
    ct = pytest.importorskip("control")
    import matplotlib

    matplotlib.use("Agg")
    plant, point = hanging
    model = linearize(plant, point, coordinates=("left", "right"), outputs=("left", "right", "loop_force"))
    sys = model.to_ss()
    assert isinstance(sys, ct.StateSpace)
    assert sys.name == "five-bar"
    assert sys.state_labels == ["left", "right", "left_rate", "right_rate"]
    assert sys.input_labels == ["left_effort", "right_effort"]
    assert sys.output_labels == ["left", "right", "tip_x", "tip_y"]
    assert same_eigenvalues(sys.poles(), model.poles()) < 1e-12
    assert np.linalg.matrix_rank(ct.ctrb(sys.A, sys.B)) == 4
    frequency, ratio, _ = ct.damp(sys, doprint=False)
    for mode in model.damping():
        k = np.argmin(np.abs(frequency - mode.frequency))
        assert (frequency[k], ratio[k]) == pytest.approx((mode.frequency, mode.damping), rel=1e-9)
    gain, _, closed = ct.lqr(sys, np.eye(4), np.eye(2))
    assert gain.shape == (2, 4)
    assert closed.real.max() < 0.0
    response = model.frequency_response([0.1, 1.0, 10.0])
    exact = model.C @ np.linalg.solve(1j * np.eye(4) - model.A, model.B) + model.D
    assert largest(response.frdata[:, :, 1] - exact) < 1e-12
    assert ct.bode_plot(sys[0, 0]).figure is not None
    matplotlib.pyplot.close("all")
    assert linearize(plant, point, inputs=()).to_ss().ninputs == 0


def test_modes(hanging):
    plant, point = hanging
    model = linearize(plant, point)
    modes = model.damping()
    assert len(modes) == 2
    for mode in modes:
        assert 0.0 < mode.damping < 1.0
        assert np.abs(mode.shape).max() == pytest.approx(1.0)
        assert largest(plant.jacobian(point.q) @ mode.shape) < 1e-12
        # K and D of the whole machine, on the shape: a root of its quadratic
        here, s = derivatives(plant, point.q, point.v, point.u), mode.eigenvalue
        pencil = s * s * here.M + s * here.force_v + here.force_q
        assert largest(here.Z.T @ pencil @ mode.shape) < 1e-10


@pytest.mark.parametrize("suffix", [".json", ".mat"])
def test_save_and_load(hanging, suffix, tmp_path):
    plant, point = hanging
    for keys in ({"outputs": ("left", "left_rate", "tip_force")}, {"inputs": ("left",), "outputs": ("left",)}):
        model = linearize(plant, point, **keys)
        loaded = load_linear(model.save(tmp_path / f"model{suffix}"), plant)
        for field in dataclasses.fields(LinearModel):
            a, b = getattr(model, field.name), getattr(loaded, field.name)
            if isinstance(a, np.ndarray):
                assert a.shape == b.shape
                assert np.array_equal(a, b)
            elif field.name != "point":
                assert a == b
        assert np.array_equal(loaded.point.q, point.q)
        assert np.array_equal(loaded.point.lam, point.lam)
        assert loaded.point.residuals == point.residuals
        again = linearize(plant, loaded.point, **keys)
        assert np.array_equal(again.A, model.A)
    assert "operating point" in str(load_linear(tmp_path / f"model{suffix}").point)


def test_files_of_other_kinds(hanging, tmp_path):
    model = linearize(*hanging)
    with pytest.raises(ValueError, match=r"\.mat or \.json"):
        model.save(tmp_path / "model.txt")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match="holds no linear model"):
        load_linear(tmp_path / "other.json")


def test_machine_without_loops_or_freedom():
    rod = Body.rod("rod", 1.0, 1.0)
    free = Mechanism("free", [rod], [Revolute("pivot", "ground", "rod", axis=(0, 1, 0))])
    model = linearize(free, trim(free, [0.5 * np.pi]))
    assert frequencies(model) == pytest.approx([np.sqrt(1.5 * 9.81)], rel=1e-12)
    stuck = Mechanism("stuck", [rod], [Revolute("pivot", "ground", "rod")], [Fixed("lock", "ground", "rod")])
    point = trim(stuck, [0.0])
    assert linearize(stuck, point).states == ()


# -- what is refused ------------------------------------------------------------------------------------------


def test_away_from_equilibrium(arm):
    plant, point = arm
    falling = OperatingPoint.at(plant, point.q)
    with pytest.raises(EquilibriumError, match=r"not in equilibrium .*'left' -?\d.* N m.*trim"):
        linearize(plant, falling)
    moving = dataclasses.replace(point, v=plant.project_velocity(point.q, np.ones(4)))
    with pytest.raises(EquilibriumError, match="moves: 'left'"):
        linearize(plant, moving)
    with pytest.raises(AssemblyError, match="'tip' open by"):
        linearize(plant, dataclasses.replace(point, q=point.q + 1e-3))
    with pytest.raises(TypeError, match="OperatingPoint, from trim"):
        linearize(plant, point.q)
    wrong = dataclasses.replace(point, lam=point.lam * 1.01)
    with pytest.raises(EquilibriumError):
        linearize(plant, wrong)


def test_dependent_coordinates():
    """A parallelogram's cranks turn alike: they cannot both be independent of a third."""
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    with pytest.raises(ValueError, match=r"not independent .*conditioning .*choose 'left'|choose 'elbow"):
        linearize(plant, point, coordinates=[[1, 0, 0, 0], [1, 0, 0, 0]])
    A = plant.jacobian(point.q)
    with pytest.raises(ValueError, match="not independent"):
        linearize(plant, point, coordinates=A[:2])
    with pytest.raises(ValueError, match=r"2 degrees of freedom at this .*, got 1 coordinates, 'left'; choose"):
        linearize(plant, point, coordinates=("left",))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"coordinates": ("left", "rigth")}, "no coordinate 'rigth'; did you mean 'right'"),
        ({"inputs": ("lefft",)}, "no actuator or other input 'lefft'; did you mean 'left'"),
        ({"inputs": ("left", "left")}, "input 'left_effort' is named 2 times"),
        ({"outputs": ("tip_z",)}, "no output 'tip_z'; did you mean"),
        ({"outputs": ("left", "left")}, "output 'left' is named 2 times"),
        ({"outputs": ("left_rates",)}, "did you mean 'left_rate'"),
        ({"coordinates": [[1.0, 0.0]]}, "coordinates must have shape"),
        ({"coordinates": [[1.0, 0.0, np.nan, 0.0]] * 2}, "must be finite"),
    ],
)
def test_unknown_names(arm, keys, message):
    with pytest.raises(ValueError, match=message):
        linearize(*arm, **keys)


def test_multipliers_that_are_not_unique():
    plant = plants.five_bar(closure="revolute")
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    assert linearize(plant, point, outputs=("tip_x", "tip_y")).outputs == ("tip_x", "tip_y")
    with pytest.raises(ValueError, match=r"'tip_z', 'tip_tilt_x', 'tip_tilt_y' are not unique.*'tip_x', 'tip_y'"):
        linearize(plant, point, outputs=("loop_force",))


@pytest.mark.parametrize("closure", ["line", "revolute"])
def test_singular_pose_has_no_linear_model(closure):
    plain = plants.five_bar(closure=closure)
    plant = Mechanism("weightless", plain.bodies, plain.joints, plain.loops, gravity=(0, 0, 0))
    q = pose(plain, "singular")
    assert plant.diagnose(q).singular
    with pytest.raises(SingularConfigurationError, match="singular configuration"):
        linearize(plant, OperatingPoint.at(plant, q))
    regular = plant.assemble(left=2.1, right=1.0)
    assert linearize(plant, OperatingPoint.at(plant, regular)).dof == 2


def test_point_spring_of_length_zero():
    bodies = [Body("a"), Body("b", 1.0)]
    joints = [Prismatic("x", "ground", "a", axis=(1, 0, 0)), Prismatic("y", "a", "b", axis=(0, 1, 0))]
    for rest, fine in ((0.0, True), (0.1, False)):
        springs = [PointSpring("spring", "ground", "b", stiffness=4.0, rest=rest)]
        plant = Mechanism("mass", bodies, joints, springs=springs, gravity=(0, 0, 0))
        if fine:
            assert frequencies(linearize(plant, trim(plant, [0, 0]))) == pytest.approx([2.0, 2.0])
        else:
            with pytest.raises(ValueError, match=re.escape("point spring length zero")):
                trim(plant, [0, 0])


def test_twin_of_the_point_closure():
    """A point closure of a floating body equals the tree with a ball joint: eigenvalues and inputs."""
    rng = np.random.default_rng(5)
    body = machines.body(rng, "body")
    stay = PointSpring("stay", "ground", "body", (0.3, 0.2, 0.9), (0.2, 0.1, 0.0), 25.0, 0.4, 0.3)
    tree = Mechanism("tree", [body], [machines.Spherical("ball", "ground", "body")], springs=[stay])
    cut = Mechanism("cut", [body], [Free("float", "ground", "body")], [Point("ball", "ground", "body")], [stay])
    at_tree = trim(tree, tree.neutral(), free="all", u=0.0)
    q = np.concatenate([at_tree.q, np.zeros(3)])
    models = [linearize(tree, at_tree), linearize(cut, trim(cut, q))]
    assert same_eigenvalues(*(m.poles() for m in models)) < 1e-9
